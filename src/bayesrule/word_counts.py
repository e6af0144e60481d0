"""Counts of words that add up whatever words each part has seen."""

from __future__ import annotations

import numbers
from dataclasses import dataclass

import numpy as np

from bayesrule.stats import spread_rows


@dataclass(frozen=True)
class WordCounts:
    """Weighted counts of words per class, keyed by the word.

    Parameters
    ----------
    words : object ndarray of V texts, sorted
    weight : ndarray of shape (K,)
        Total weight of each class.
    counts : ndarray of shape (K, V)
        Weight of each word in each class.
    documents : ndarray of shape (V,)
        Weight of the texts that have each word.
    texts : float
        Weight of the rows whose text is not missing.

    Examples
    --------
    >>> import numpy as np
    >>> def part(words, count):
    ...     one = np.ones(len(words))
    ...     return WordCounts(np.array(words, object), np.ones(1), count * one[None], one, 1.0)
    >>> both = part(["a", "c"], 1) + part(["b", "c"], 5)
    >>> both.words.tolist(), both.counts.tolist()
    (['a', 'b', 'c'], [[1.0, 5.0, 6.0]])
    """

    words: np.ndarray
    weight: np.ndarray
    counts: np.ndarray
    documents: np.ndarray
    texts: float

    def __add__(self, other: WordCounts) -> WordCounts:
        # Two sorted runs, which sorting merges in one pass.
        both = sorted([*self.words.tolist(), *other.words.tolist()])
        place = {word: j for j, word in enumerate(dict.fromkeys(both))}
        words = np.empty(len(place), object)
        words[:] = list(place)
        counts = np.zeros((len(self.counts), len(words)))
        documents = np.zeros(len(words))
        for part in (self, other):
            where = np.array([place[word] for word in part.words.tolist()], np.intp)
            counts[:, where] += part.counts
            documents[where] += part.documents
        weight = self.weight + other.weight
        return WordCounts(words, weight, counts, documents, self.texts + other.texts)

    def spread(self, where: np.ndarray, n_classes: int) -> WordCounts:
        return WordCounts(
            self.words,
            spread_rows(self.weight, where, n_classes),
            spread_rows(self.counts, where, n_classes),
            self.documents,
            self.texts,
        )

    def kept(self, min_df: float, max_df: float, max_features: int | None) -> np.ndarray:
        """Places of the words within the limits, which are numbers of texts or shares of them."""
        least, most = (
            limit if isinstance(limit, numbers.Integral) else limit * self.texts
            for limit in (min_df, max_df)
        )
        kept = np.flatnonzero(
            (self.documents > 0) & (self.documents >= least) & (self.documents <= most)
        )
        if max_features is not None and len(kept) > max_features:
            # The first in the alphabet where words are equally common.
            common = np.argsort(-self.counts.sum(axis=0)[kept], kind="stable")
            kept = np.sort(kept[common[:max_features]])
        return kept
