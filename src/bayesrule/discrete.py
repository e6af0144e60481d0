"""Densities of categories and of zero-one values; columns are independent given the class.

    P(category c | k) = (n_kc + alpha) / (n_k + alpha C)

with C the number of categories seen in any class. It is also the Dirichlet-multinomial predictive
probability of the next category, so smoothing and the Bayesian answer are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.coded import DIRECT_RANGE, is_text, read_categories
from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.kernels import discrete as loops
from bayesrule.kernels.blocks import BLOCK_BYTES, block_rows, map_blocks
from bayesrule.memberships import Memberships, places
from bayesrule.stats import Counts, Sums
from bayesrule.tables import Coded, Table, refuse


class Categorical(Density):
    """Independent categories: text, integers, booleans, or any few distinct numbers.

    Parameters
    ----------
    alpha : float >= 0
        What is added to every count. With 0, a category that a class never showed rules the class
        out.

    Notes
    -----
    A missing value is left out, which marginalises it exactly; a class without any value in a
    column does there as all classes together. A category that no class has shown gets the smoothed
    probability of an unseen one, alpha / (n_k + alpha C); with alpha = 0 it says nothing.
    Categories that appear in later chunks are added.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Categorical
    >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    >>> clf = BayesClassifier(Categorical()).fit(X, ["apple", "apple", "bean", "bean"])
    >>> clf.predict_proba([["green", "round"]]).round(3)
    array([[0.4, 0.6]])
    """

    accept_missing: ClassVar[bool] = True
    learns: ClassVar[bool] = False

    def __init__(self, alpha: float = 1.0):
        self.alpha = alpha

    def read(self, X: Any, estimator: Any) -> Table:
        """Code the categories."""
        return read_categories(X, estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Categorical:
        """Check the setting; there is nothing to learn before counting."""
        self.require("alpha", between=(0.0, np.inf))
        return self

    def describe_input(self, tags: Any) -> Any:
        """Categories, with gaps."""
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def tally(self, table: Table, memberships: Memberships) -> Counts:
        """Weight of each category of each column in each class."""
        assert table.coded is not None
        coded = _within_reach(table.coded)
        if coded.categories is None:
            low, high = loops.column_ranges(coded.codes)
            width = high - low + 1
        else:
            width = np.array([len(c) for c in coded.categories])
            low = np.zeros(len(width), np.int64)
        offset = np.concatenate([[0], np.cumsum(width)])

        def work(start: int, stop: int) -> np.ndarray:
            counts = np.zeros((offset[-1], memberships.n_classes))
            codes = np.ascontiguousarray(coded.codes[start:stop])
            loops.count_codes(codes, *memberships.entries(start, stop), low, offset, counts)
            return counts

        size = block_rows(table.n_columns, bytes_per_block=8 * BLOCK_BYTES)
        # A block adds a whole table of counts: it must read more cells than that has.
        size = max(size, offset[-1] * memberships.n_classes // max(1, table.n_columns))
        total = reduce(add, map_blocks(work, len(table), size))
        categories, counts = [], []
        for j, (a, b) in enumerate(pairwise(offset)):
            mine = np.ascontiguousarray(total[a:b].T)
            if coded.categories is None:
                seen = np.flatnonzero(np.any(mine, axis=0))
                labels = low[j] + seen
            else:
                seen = np.argsort(coded.categories[j], kind="stable")
                seen = seen[np.any(mine, axis=0)[seen]]
                labels = coded.categories[j][seen]
            categories.append(labels)
            counts.append(mine[:, seen])
        return Counts(tuple(categories), tuple(counts))

    def settle(self, stats: Counts) -> LogDensity:
        """Smoothed log-probabilities of the categories, and of those unseen."""
        known, unseen = [], []
        rows = np.zeros(len(stats.counts[0]))
        for counts in stats.counts:
            total = counts.sum(axis=1)
            rows = np.maximum(rows, total)
            # Of a column that a class has no value in, all that is known is how it is elsewhere.
            blank = total == 0
            counts = np.where(blank[:, None], counts.sum(axis=0), counts)
            below = counts.sum(axis=1) + self.alpha * counts.shape[1]
            below = np.where(below > 0, below, 1.0)  # no value in any class: no category either
            known.append(log_of((counts + self.alpha) / below[:, None]))
            silent = self.alpha == 0 or counts.shape[1] == 0
            unseen.append(np.zeros(len(below)) if silent else log_of(self.alpha / below))
        return CategoricalLaw(stats.categories, tuple(known), tuple(unseen), rows > 0)


def _within_reach(coded: Coded) -> Coded:
    """Codes that a table of counts can be addressed by: integers of a wide range are ranked."""
    codes = coded.codes
    if coded.categories is not None or codes.dtype.itemsize <= 2:
        return coded
    low, high = loops.column_ranges(np.ascontiguousarray(codes))
    if ((high - low) < max(DIRECT_RANGE, len(codes))).all():
        return coded
    return _ranked(codes)


def _ranked(codes: np.ndarray) -> Coded:
    """Whole numbers coded by their rank."""
    ranked = [np.unique(column, return_inverse=True) for column in codes.T]
    return Coded(
        np.column_stack([rank.astype(np.int32) for _, rank in ranked]),
        tuple(labels for labels, _ in ranked),
    )


@dataclass(frozen=True)
class CategoricalLaw(LogDensity):
    """Settled probabilities of categories.

    Attributes
    ----------
    categories : tuple of D ndarrays
    log_probability : tuple of D ndarrays of shape (K, C)
    log_unseen : tuple of D ndarrays of shape (K,)
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    categories: tuple[np.ndarray, ...]
    log_probability: tuple[np.ndarray, ...]
    log_unseen: tuple[np.ndarray, ...]
    seen: np.ndarray

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        codes, low, width, offset, lookup = self._addressed(table)
        out = np.empty((len(table), len(self.seen)))
        loops.add_log_probabilities(codes, low, width, offset, lookup, out)
        if not self.seen.all():
            out[:, ~self.seen] = -np.inf
        return out

    def terms(self, table: Table) -> np.ndarray:
        codes, low, width, offset, lookup = self._addressed(table)
        place = codes.astype(np.int64) - low
        place = np.where((place >= 0) & (place < width), place, width) + offset
        out = np.ascontiguousarray(lookup[place].swapaxes(1, 2))
        out[:, ~self.seen] = -np.inf
        return out

    def _addressed(self, table: Table) -> tuple[np.ndarray, ...]:
        """Codes of a table and the log-probabilities that they address."""
        coded = table.coded
        assert coded is not None
        if coded.categories is None and self._by_value is not None:
            return coded.codes, *self._by_value
        if coded.categories is None:
            coded = _ranked(coded.codes)
        assert coded.categories is not None
        if id(self) not in coded.found:
            # The law stays beside its tables, or another could come to have its id.
            coded.found[id(self)] = self, self._by_label(coded.categories, table.names)
        return coded.codes, *coded.found[id(self)][1]

    def _by_label(
        self, categories: tuple[np.ndarray, ...], names: tuple[str, ...] | None
    ) -> tuple[np.ndarray, ...]:
        """The table that codes of these categories address."""
        parts = []
        for j, labels in enumerate(categories):
            if (
                len(labels)
                and len(self.categories[j])
                and is_text(labels) != is_text(self.categories[j])
            ):
                name = j if names is None else repr(names[j])
                now, then = ("text", "numbers")[:: 1 if is_text(labels) else -1]
                raise ValueError(
                    f"Column {name} of X holds {now}, but held {then} when it was fitted. "
                    "Convert it to what it was."
                )
            # The place of an unseen category, -1, is that of the last row.
            known = np.vstack([self.log_probability[j].T, self.log_unseen[j]])
            found = known[places(labels, self.categories[j])]
            parts.append(np.vstack([found, np.zeros(len(self.seen))]))
        return _stacked(parts, np.zeros(len(parts), np.int64))

    @cached_property
    def _by_value(self) -> tuple[np.ndarray, ...] | None:
        """The table that whole numbers address by themselves; None where it would be too large."""
        low, parts = [], []
        for labels, known, unseen in zip(
            self.categories, self.log_probability, self.log_unseen, strict=True
        ):
            if is_text(labels) or (labels != np.floor(labels)).any():
                return None
            first, last = (int(labels[0]), int(labels[-1])) if len(labels) else (0, -1)
            if last - first >= DIRECT_RANGE:
                return None
            part = np.repeat(unseen[None], last - first + 2, axis=0)
            part[labels.astype(np.int64) - first] = known.T
            low.append(first)
            parts.append(part)
        return _stacked(parts, np.array(low))


def _stacked(parts: list[np.ndarray], low: np.ndarray) -> tuple[np.ndarray, ...]:
    """Tables of several columns as one, with where each begins; their last rows are extra."""
    width = np.array([len(part) - 1 for part in parts])
    offset = np.concatenate([[0], np.cumsum(width + 1)[:-1]])
    return low, width, offset, np.ascontiguousarray(np.concatenate(parts))


class Bernoulli(Density):
    """Independent zero-one values.

    Parameters
    ----------
    alpha : float >= 0
        What is added to the count of ones and to the count of zeros: P(1 | k) =
        (ones_k + alpha) / (n_k + 2 alpha).
    threshold : float or None
        Values above it are ones. None takes zeros and ones (or booleans) only.

    Notes
    -----
    A missing value is left out, which marginalises it exactly.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Bernoulli
    >>> clf = BayesClassifier(Bernoulli()).fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1])
    >>> clf.predict_proba([[1, 1]]).round(2)
    array([[0.75, 0.25]])
    """

    accept_missing: ClassVar[bool] = True
    learns: ClassVar[bool] = False

    def __init__(self, alpha: float = 1.0, threshold: float | None = 0.0):
        self.alpha = alpha
        self.threshold = threshold

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Bernoulli:
        """Check the settings; there is nothing to learn before counting."""
        self.require("alpha", between=(0.0, np.inf))
        self.require("threshold", None, between=(-np.inf, np.inf))
        return self

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers, which must be zeros and ones where there is no threshold."""
        table = super().read(X, estimator)
        if self.threshold is None:
            assert table.numbers is not None
            other = ~((table.numbers == 0) | (table.numbers == 1) | np.isnan(table.numbers))
            refuse(other, table, "values other than 0 and 1", "Give Bernoulli a threshold")
        return table

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weights of the values that are there, and of the ones."""

        def work(start: int, stop: int) -> Sums:
            values = table.block(start, stop).numbers
            entries = memberships.entries(start, stop)
            return Sums(*loops.count_ones(values, self._cut, *entries, memberships.n_classes))

        size = block_rows(table.n_columns, bytes_per_block=8 * BLOCK_BYTES)
        return reduce(add, map_blocks(work, len(table), size))

    @property
    def _cut(self) -> float:
        """Values above it are ones."""
        return 0.5 if self.threshold is None else float(self.threshold)

    def settle(self, stats: Sums) -> LogDensity:
        """Smoothed log-probabilities of ones and zeros."""
        # Of a column that a class has no value in, all that is known is how it is elsewhere.
        blank = stats.weight == 0
        weight = np.where(blank, stats.weight.sum(axis=0), stats.weight)
        ones = np.where(blank, stats.sums.sum(axis=0), stats.sums)
        below = weight + 2 * self.alpha
        nothing = below == 0
        below = np.where(nothing, 1.0, below)
        one = np.where(nothing, 0.5, (ones + self.alpha) / below)
        zero = np.where(nothing, 0.5, (weight - ones + self.alpha) / below)
        seen: np.ndarray = np.sum(stats.weight, axis=1) > 0
        return BernoulliLaw(log_of(one), log_of(zero), self._cut, seen)


@dataclass(frozen=True)
class BernoulliLaw(LogDensity):
    """Settled probabilities of ones.

    Attributes
    ----------
    log_one, log_zero : ndarray of shape (K, D)
    threshold : float
    seen : ndarray of shape (K,)
    """

    log_one: np.ndarray
    log_zero: np.ndarray
    threshold: float
    seen: np.ndarray

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        out = np.empty((len(table), len(self.seen)))
        loops.add_bernoulli(table.numbers, self.threshold, self.log_one, self.log_zero, out)
        out[:, ~self.seen] = -np.inf
        return out

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        values = table.numbers[:, None, :]
        out = np.where(values > self.threshold, self.log_one, self.log_zero)
        out = np.where(np.isnan(values), 0.0, out)
        out[:, ~self.seen] = -np.inf
        return out
