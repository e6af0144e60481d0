"""Texts in, counts of words out: reading a column of text, and counting what it holds."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from bayesrule.counts import read_counts
from bayesrule.progress import progress
from bayesrule.tables import Table, column_names

#: Texts between two moves of the progress bar.
AT_ONCE = 1024

#: Splits a text into its words.
Analyse = Callable[[str], Iterable[str]]


def read_texts(X: Any) -> Table:
    """Check that X is one column of texts and keep it as an array of objects; None is missing.

    Parameters
    ----------
    X : list, array or series of texts, or a frame or array with one column of them
    """
    if isinstance(X, (str, bytes)):
        raise TypeError("X is a single text; give a list of texts, such as [text].")
    if scipy.sparse.issparse(X):
        raise TypeError("Sparse data was passed, but words are counted in texts: use Multinomial.")
    names = column_names(X)
    values = _column(X, names)
    called = f"column {names[0]!r} of X" if names else "X"
    if not values:
        raise ValueError(
            f"Found array with 0 sample(s) in {called} while a minimum of 1 is required."
        )
    absent = []
    if not set(map(type, values)) <= {str, bytes, np.str_}:
        absent = [i for i, value in enumerate(values) if _is_missing(value)]
        for i in absent:
            values[i] = None
        others = [i for i, v in enumerate(values) if not isinstance(v, (str, bytes, type(None)))]
        if others:
            raise TypeError(
                f"Words are counted in texts, but {called} holds {len(others)} values that are "
                f"none, first {_shown(values[others[0]])} in row {others[0]}. Convert them to "
                "text, or give None where a text is missing."
            )
    texts = np.empty(len(values), object)
    texts[:] = values
    return Table(raw=texts, missing=bool(absent), names=names)


def _column(X: Any, names: tuple[str, ...] | None) -> list[Any]:
    """The one column of X as a list."""
    if names is not None:
        if len(names) != 1:
            raise ValueError(
                f"Words are counted in one column of text, but X has {len(names)}: "
                f"{', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}. Give one, "
                "or use Columns, which has a density for each."
            )
        column: list[Any] = nw.from_native(X, eager_only=True)[:, 0].to_list()
        return column
    shape = getattr(X, "shape", (0,))
    if len(shape) == 0 or (len(shape) > 1 and shape[1:] != (1,)):
        raise ValueError(f"Words are counted in one column of text, but X has the shape {shape}.")
    if len(shape) == 2:
        X = X[:, 0]
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(X, name):
            return list(getattr(X, name)())
    values = list(X)
    if values and all(isinstance(v, (list, tuple)) and len(v) == 1 for v in values):
        return [v[0] for v in values]
    return values


def _is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, or pandas' own."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _shown(value: Any) -> str:
    """A value and its type, briefly."""
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:40] + '...'} ({type(value).__name__})"


def new_words(analyse: Analyse, texts: Sequence[str | None]) -> tuple[np.ndarray, Table]:
    """The words of some texts, sorted, and how often each text has each of them."""
    found: defaultdict[str, int] = defaultdict()
    found.default_factory = found.__len__
    columns, ends = array("q"), array("q", [0])
    with progress("counting words", len(texts)) as meter:
        for start in range(0, len(texts), AT_ONCE):
            some = texts[start : start + AT_ONCE]
            for text in some:
                if text is not None:
                    columns.extend([found[word] for word in analyse(text)])
                ends.append(len(columns))
            meter.advance(len(some))
    words = np.empty(len(found), object)
    words[:] = sorted(found)
    rank = np.empty(len(found), np.int64)
    rank[[found[word] for word in words]] = np.arange(len(words))
    return words, _counted(rank[_integers(columns)], _integers(ends), len(words))


def _integers(values: array[int]) -> np.ndarray:
    """A growing array as one of numpy, in the same memory."""
    return np.frombuffer(values, np.int64) if len(values) else np.empty(0, np.int64)


def _counted(columns: np.ndarray, ends: np.ndarray, n_words: int) -> Table:
    """Counts from the column of every single word, text by text."""
    counts = scipy.sparse.csr_array(
        (np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, n_words)
    )
    counts.sum_duplicates()
    return Table(counts=counts)


def once(table: Table) -> Table:
    """The same table with every word counted once per text."""
    counts = table.counts.copy()
    counts.data[:] = 1.0
    return Table(counts=counts)


@dataclass(frozen=True)
class Vocabulary:
    """Counts the words that are known; others say nothing.

    Attributes
    ----------
    vectorizer : CountVectorizer
        It splits texts into words.
    words : object ndarray of text, sorted
    """

    vectorizer: Any
    words: np.ndarray

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: j for j, word in enumerate(self.words.tolist())}

    def __call__(self, texts: Sequence[str | None]) -> Table:
        analyse, place_of = self.vectorizer.build_analyzer(), self._places.get
        columns, ends = array("q"), array("q", [0])
        for text in texts:
            if text is not None:
                columns.extend([j for j in map(place_of, analyse(text)) if j is not None])
            ends.append(len(columns))
        counted = _counted(_integers(columns), _integers(ends), len(self.words))
        return once(counted) if self.vectorizer.binary else counted


@dataclass(frozen=True)
class FixedColumns:
    """Counts what a vectoriser with fixed columns makes of texts.

    Attributes
    ----------
    vectorizer : transformer from texts to counts
    """

    vectorizer: Any

    @property
    def words(self) -> np.ndarray | None:
        """What the columns stand for, where the vectoriser knows."""
        if not hasattr(self.vectorizer, "get_feature_names_out"):
            return None
        return np.asarray(self.vectorizer.get_feature_names_out(), dtype=object)

    def __call__(self, texts: Sequence[str | None]) -> Table:
        there = np.array([text is not None for text in texts])
        filled = ["" if text is None else text for text in texts]
        made = scipy.sparse.csr_array(self.vectorizer.transform(filled))
        counts = read_counts(made, distinct=True).counts
        if not there.all():
            # Not every vectoriser makes nothing of an empty text.
            lengths = np.diff(counts.indptr)
            kept = np.repeat(there, lengths)
            ends = np.concatenate([[0], np.cumsum(np.where(there, lengths, 0))])
            counts = scipy.sparse.csr_array(
                (counts.data[kept], counts.indices[kept], ends), shape=counts.shape
            )
        return Table(counts=counts)
