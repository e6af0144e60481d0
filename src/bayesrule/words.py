"""Texts as bags of words: a multinomial over a vocabulary that grows with the rows.

    log p(text | k)  =  sum over words w of  n_w log theta_kw
    theta_kw         =  (N_kw + alpha) / (N_k + alpha V)

Counts are kept by word, so that a word first seen in the last file counts as if it had been known
from the start. What is rare is left out when the counts are settled, not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from bayesrule.density import Density, LogDensity, Rule, check_memory
from bayesrule.memberships import Memberships
from bayesrule.multinomial import (
    CompoundLaw,
    MultinomialLaw,
    count_columns,
    require_smoothing,
    settle_counts,
)
from bayesrule.stats import Sums
from bayesrule.tables import Table
from bayesrule.texts import FixedColumns, Vocabulary, new_words, once, read_texts
from bayesrule.word_counts import WordCounts

#: Words, also with apostrophes inside, and every other sign by itself: prices and exclamation
#: marks tell as much as words do.
TOKEN = r"(?u)\w+(?:['’]\w+)*|[^\w\s]"


class Words(Density):
    """The words of a text column, independent given the class.

    Parameters
    ----------
    alpha : float >= 0
        What is added to the count of every word in every class.
    ngram_range : pair of int
        Shortest and longest run of words that is counted.
    binary : bool
        Whether a word counts once per text, however often it comes.
    min_df : int or float
        Words in fewer texts (a number), or in a smaller share of them (a fraction), are left out.
    max_features : int, default=None
        At most so many words are kept, the commonest.
    estimate : {"smoothed", "predictive"}
        As in :class:`~bayesrule.multinomial.Multinomial`.
    vectorizer : vectoriser, default=None
        What makes counts of texts. ``ngram_range``, ``binary``, ``min_df`` and ``max_features`` are
        then stated there. None is scikit-learn's ``CountVectorizer``: lower case; words, also with
        apostrophes inside; every other sign by itself.

    Notes
    -----
    X is a list, array or series of texts, or a frame with one column of them. A missing text is
    left out, which marginalises it exactly, and so is a word that no class has shown.

    With a plain ``CountVectorizer`` the vocabulary grows: chunks and merged models know the words
    of all rows. A ``HashingVectorizer(alternate_sign=False)``, one with a ``vocabulary=``, and a
    fitted one inside scikit-learn's ``FrozenEstimator`` have fixed columns from the start; any
    other transformer is fitted on the rows of ``fit`` or on the first chunk.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Words
    >>> X = ["win cash now!", "free cash prize!", "see you at lunch", "are you home now?"]
    >>> clf = BayesClassifier(Words()).fit(X, ["spam", "spam", "ham", "ham"])
    >>> clf.predict(["Cash for you!", "lunch?"]).tolist()
    ['spam', 'ham']
    """

    normalised: ClassVar[bool] = False
    accept_missing: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        ngram_range: tuple[int, int] = (1, 2),
        binary: bool = True,
        min_df: float = 1,
        max_features: int | None = None,
        estimate: str = "smoothed",
        vectorizer: Any = None,
    ):
        self.alpha = alpha
        self.ngram_range = ngram_range
        self.binary = binary
        self.min_df = min_df
        self.max_features = max_features
        self.estimate = estimate
        self.vectorizer = vectorizer

    def read(self, X: Any, estimator: Any) -> Table:
        """Check that X is one column of texts."""
        return read_texts(X)

    def describe_input(self, tags: Any) -> Any:
        """Texts."""
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = True
        return tags

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Only a vectoriser that must be fitted does."""
        return self.vectorizer is not None and _learns(self.vectorizer)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Words | FittedWords:
        """Check the settings, and fit a vectoriser that must be fitted."""
        require_smoothing(self)
        counting = self._counting()
        needed = ("fit", "transform", "get_params", "__sklearn_tags__")
        if isinstance(counting, type) or not all(hasattr(counting, name) for name in needed):
            raise TypeError(
                f"Words(vectorizer={counting!r}) is no vectoriser. Use one that scikit-learn can "
                "clone and fit, such as CountVectorizer()."
            )
        if getattr(counting, "alternate_sign", False):
            raise ValueError(
                "HashingVectorizer(alternate_sign=True) makes negative counts, of which there is "
                "no density. Use HashingVectorizer(alternate_sign=False)."
            )
        if _grows(counting):
            counting._validate_params()
            counting._validate_ngram_range()
        elif _learns(counting):
            return FittedWords(self, clone(counting).fit(_present(table)))
        return self

    def _counting(self) -> Any:
        """The vectoriser of the settings."""
        if self.vectorizer is None:
            return CountVectorizer(
                token_pattern=TOKEN,
                ngram_range=self.ngram_range,
                binary=self.binary,
                min_df=self.min_df,
                max_features=self.max_features,
            )
        stated = self.get_params(deep=False)
        for name, default in type(self)().get_params(deep=False).items():
            if name not in ("alpha", "estimate", "vectorizer") and stated[name] != default:
                raise ValueError(
                    f"Words({name}={stated[name]!r}) does nothing where a vectorizer is given. "
                    f"State it there: {type(self.vectorizer).__name__}({name}=...)."
                )
        return self.vectorizer

    def tally(self, table: Table, memberships: Memberships) -> WordCounts | Sums:
        """Weighted counts of every word in each class, and how many texts have it."""
        counting = self._counting()
        if not _grows(counting):
            return FittedWords(self, clone(counting)).tally(table, memberships)
        words, counted = new_words(counting.build_analyzer(), table.raw)
        check_memory(
            24 * memberships.n_classes * len(words),
            f"Counts of {len(words)} words in {memberships.n_classes} classes",
            "Use shorter runs of words (ngram_range), or a HashingVectorizer.",
        )
        if counting.binary:
            counted = once(counted)
        sums = count_columns(counted, memberships)
        rows, _, weights = memberships.entries()
        weight = np.bincount(rows, weights, len(table))
        counts = counted.counts
        per_entry = np.repeat(weight, np.diff(counts.indptr))
        there = np.array([text is not None for text in table.raw])
        return WordCounts(
            words,
            sums.weight,
            sums.sums,
            np.bincount(counts.indices, per_entry, len(words)),
            float(weight[there].sum()),
        )

    def settle(self, stats: WordCounts | Sums) -> LogDensity:
        """Shares of the words that are kept."""
        counting = self._counting()
        if isinstance(stats, Sums):
            return FittedWords(self, clone(counting)).settle(stats)
        kept = stats.kept(counting.min_df, counting.max_df, counting.max_features)
        law = settle_counts(stats.weight, stats.counts[:, kept], self.alpha, self.estimate)
        return WordsLaw(law, Vocabulary(counting, stats.words[kept]))


def _grows(counting: Any) -> bool:
    """Whether words are added as they appear: subclasses may weight by what they have fitted."""
    return type(counting) is CountVectorizer and counting.vocabulary is None


def _learns(counting: Any) -> bool:
    """Whether a vectoriser must be fitted before its columns are known."""
    if isinstance(counting, FrozenEstimator):
        check_is_fitted(counting)
        return False
    fixed = type(counting) is CountVectorizer and counting.vocabulary is not None
    return not fixed and get_tags(counting).requires_fit


def _present(table: Table) -> list[str]:
    """The texts that are there."""
    texts = [text for text in table.raw if text is not None]
    if not texts:
        raise ValueError("All texts are missing, so the vectorizer has nothing to learn from.")
    return texts


@dataclass(frozen=True)
class FittedWords:
    """Words with a vectoriser of fixed columns.

    Attributes
    ----------
    settings : Words
    vectorizer : fitted transformer
    """

    settings: Words
    vectorizer: Any

    @property
    def _count(self) -> FixedColumns:
        return FixedColumns(self.vectorizer)

    def read(self, X: Any, estimator: Any) -> Table:
        """Check that X is one column of texts."""
        return read_texts(X)

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weighted counts of every column in each class."""
        return count_columns(self._count(table.raw), memberships)

    def settle(self, stats: Sums) -> LogDensity:
        """Shares of the columns."""
        settings = self.settings
        law = settle_counts(stats.weight, stats.sums, settings.alpha, settings.estimate)
        return WordsLaw(law, self._count)


@dataclass(frozen=True)
class WordsLaw(LogDensity):
    """A multinomial over what texts hold.

    Attributes
    ----------
    law : MultinomialLaw or CompoundLaw
        Over the columns.
    count : Vocabulary or FixedColumns
        Makes columns of texts.
    """

    #: Few enough that the single words of a block take little memory.
    block_rows: ClassVar[int | None] = 8192

    law: MultinomialLaw | CompoundLaw
    count: Vocabulary | FixedColumns

    @property
    def words(self) -> np.ndarray | None:
        """The words, sorted; None where columns have no names."""
        return self.count.words

    @property
    def log_share(self) -> np.ndarray:
        """Log-share of each word in the words of each class, shape (K, V)."""
        return self.law.log_share

    @property
    def lengths(self) -> np.ndarray:
        """Mean number of words in a text of each class."""
        return self.law.lengths

    @property
    def seen(self) -> np.ndarray:
        """Classes with rows."""
        return self.law.seen

    @property
    def features(self) -> list[str]:
        """Names of the terms."""
        n_words = len(self.law.table)
        return [f"word {j}" for j in range(n_words)] if self.words is None else [*self.words]

    @property
    def factors(self) -> bool:
        return self.law.factors

    def __call__(self, table: Table) -> np.ndarray:
        return self.law(self.count(table.raw))

    def terms(self, table: Table) -> np.ndarray:
        """Log-density of each word, (n, K, V): dense, so ask for it in blocks of rows."""
        return self.law.terms(self.count(table.raw))
