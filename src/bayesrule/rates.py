"""Counts and waiting times: Poisson and exponential laws, columns independent given the class.

    Poisson      P(x | k) = rate^x exp(-rate) / x!
    exponential  p(x | k) = rate exp(-rate x)

Both have one rate per class and column, and for both a gamma law of the rate stays a gamma law
after the rows have been seen:

    rate | rows  ~  Gamma(shape + sum of x, rate + n)      for counts
    rate | rows  ~  Gamma(shape + n, rate + sum of x)      for waiting times

Its mode is the MAP estimate; averaging over it gives the predictive laws, the negative binomial
and the Lomax law. Without a prior the mode is the maximum-likelihood estimate.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.kernels import rates as loops
from bayesrule.kernels.blocks import BLOCK_BYTES, block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.notices import BayesRuleWarning, FewRowsWarning, SingularScatterWarning
from bayesrule.stats import Sums
from bayesrule.tables import Table, _columns, read_numbers

#: Rates and means are kept between this and its inverse, so that logarithms stay finite.
TINY = 1e-300


class FractionalCountsWarning(BayesRuleWarning):
    """Values that are not whole were given to a law of counts."""


@dataclass(frozen=True)
class GammaPrior:
    """A gamma law of a rate: as if ``shape`` events had been seen over an exposure of ``rate``.

    Parameters
    ----------
    shape : float > 0
    rate : float >= 0
        With 0 the law is improper, and only what the rows say sets the scale.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        if not (0 < self.shape < np.inf and 0 <= self.rate < np.inf):
            raise ValueError(
                f"GammaPrior(shape={self.shape!r}, rate={self.rate!r}) is no law of a rate; use a "
                "finite shape above zero and a finite rate of zero or more."
            )


#: What having no prior amounts to: a mode where the likelihood has it.
FLAT = GammaPrior(1.0, 0.0)


class ColumnByColumn(LogDensity):
    """A settled law that is a product over columns; subclasses add one column at a time."""

    seen: np.ndarray

    @abstractmethod
    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        """Add the log-densities of the values ``x`` of column j to ``out`` (n, K)."""

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.seen)))
        for j in range(table.n_columns):
            self.add_column(table.numbers[:, j], j, out)
        out[:, ~self.seen] = -np.inf
        return out

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.seen), table.n_columns))
        for j in range(table.n_columns):
            self.add_column(table.numbers[:, j], j, out[:, :, j])
        out[:, ~self.seen] = -np.inf
        return out


def read_nonnegative(X: Any, estimator: Any, law: str, *, whole: bool = False) -> Table:
    """Read numbers of zero or more; warn of fractions where they should be ``whole``."""
    table = read_numbers(X, accept_missing=True, estimator=estimator)
    numbers = table.numbers
    assert numbers is not None
    flat = numbers.ravel(order="K") if numbers.flags.forc else np.ascontiguousarray(numbers).ravel()
    negatives, fractions = loops.negatives_and_fractions(flat)
    if negatives:
        where = _columns((numbers < 0).sum(axis=0), table.names)
        raise ValueError(
            f"Negative values in data: {law} takes numbers of zero or more, but X is below zero in "
            f"{where}. Replace them by NaN if they stand for something unknown, or give these "
            "columns a density on the whole line, such as Gaussian."
        )
    if whole and fractions:
        where = _columns((np.floor(numbers) != numbers).sum(axis=0), table.names)
        warnings.warn(
            f"{law} is a law of whole counts, but X has fractions in {where}. Posteriors still "
            "weigh them by their size, but log p(x) has lost its meaning. Use Gamma or "
            "Exponential for measurements, or round what should be counts.",
            FractionalCountsWarning,
            stacklevel=2,
        )
    return table


def tally_values(table: Table, memberships: Memberships) -> Sums:
    """Weight of each class; per column the weight of its values, their sum, and that of zeros."""

    def work(start: int, stop: int) -> Sums:
        values = table.block(start, stop).numbers
        entries = memberships.entries(start, stop)
        return Sums(*loops.sums_of_values(values, *entries, memberships.n_classes))

    size = block_rows(table.n_columns, bytes_per_block=8 * BLOCK_BYTES)
    return reduce(add, map_blocks(work, len(table), size))


def over_classes(total: np.ndarray, weight: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """Mean of each column over all classes."""
    below = weight.sum(axis=0)
    return np.where(below > 0, total.sum(axis=0) / np.where(below > 0, below, 1.0), otherwise)


def warn_few_rows(lacking: np.ndarray) -> None:
    """Say which classes (K, D) cannot tell what they should."""
    if lacking.any():
        classes = np.flatnonzero(lacking.any(axis=1))
        warnings.warn(
            f"{len(classes)} of the classes (numbers {classes[:5].tolist()} in classes_ order) "
            f"have too few values in {_columns(lacking.sum(axis=0), None).split(' (')[0]}; they "
            "borrow from all classes. Give them more rows.",
            FewRowsWarning,
            stacklevel=2,
        )


def warn_singular(flat: np.ndarray, cause: str) -> None:
    """Say which classes (K, D) have values that no law of the family can fit."""
    if flat.any():
        classes = np.flatnonzero(flat.any(axis=1))
        warnings.warn(
            f"Singular: {len(classes)} of the classes (numbers {classes[:5].tolist()} in classes_ "
            f"order) have a column whose values are all {cause}, and were regularised. Drop such "
            "columns, add rows, or use a density for categories.",
            SingularScatterWarning,
            stacklevel=2,
        )


class _Rates(Density):
    """What the laws of one rate share: their settings and their statistic."""

    accept_missing: ClassVar[bool] = True

    prior: GammaPrior | None
    estimate: str

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Density:
        """Check the settings; there is nothing to learn before counting."""
        self.require("estimate", "map", "predictive")
        if not (self.prior is None or isinstance(self.prior, GammaPrior)):
            raise ValueError(
                f"{type(self).__name__}(prior={self.prior!r}) is not known; use None or a "
                "GammaPrior(shape, rate)."
            )
        return self

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weights and sums of the values of each class and column."""
        return tally_values(table, memberships)

    def describe_input(self, tags: Any) -> Any:
        """Numbers of zero or more, with gaps."""
        tags.input_tags.positive_only = True
        return super().describe_input(tags)

    def _evidence(self, stats: Sums) -> tuple[GammaPrior, np.ndarray, np.ndarray, np.ndarray]:
        """The prior, and weights, sums and pooled means of the values; gaps are filled if need be.

        A class without any value in a column has the prior to go by. Where that says nothing of
        the scale, the class counts as one row at the mean of all classes.
        """
        prior = FLAT if self.prior is None else self.prior
        weight, total = stats.sums[:, 0], stats.sums[:, 1]
        pooled = over_classes(total, weight)
        if prior.rate == 0:
            empty = weight == 0
            warn_few_rows(empty & (stats.weight > 0)[:, None] & (weight.sum(axis=0) > 0))
            weight, total = np.where(empty, 1.0, weight), np.where(empty, pooled, total)
        return prior, weight, total, pooled


class Poisson(_Rates):
    """Independent counts.

    Parameters
    ----------
    prior : GammaPrior or None
        Law of each rate before any row. The default adds half a count to each class, so that a
        class that never showed an event still allows for one: rate = (sum of x + 1/2) / n. None
        is maximum likelihood, sum of x / n, where a rate may be zero.
    estimate : {"map", "predictive"}
        Use the most probable rate, or average over all rates by their probability given the rows,
        which makes the counts negative binomial and is honest about classes with few rows.

    Notes
    -----
    A missing value is left out, which marginalises it exactly. Negative values are refused;
    fractions draw a warning and enter by x log rate - rate.

    Examples
    --------
    >>> from bayesrule import BayesClassifier
    >>> from bayesrule.rates import Poisson
    >>> clf = BayesClassifier(Poisson()).fit([[0], [1], [4], [7]], ["calm", "calm", "busy", "busy"])
    >>> clf.log_density_.rate.ravel().tolist(), clf.predict([[2], [3]]).tolist()
    ([5.75, 0.75], ['calm', 'busy'])
    """

    def __init__(self, prior: GammaPrior | None = GammaPrior(1.5, 0.0), estimate: str = "map"):
        self.prior = prior
        self.estimate = estimate

    def read(self, X: Any, estimator: Any) -> Table:
        """Whole numbers of zero or more."""
        return read_nonnegative(X, estimator, "Poisson", whole=True)

    def settle(self, stats: Sums) -> LogDensity:
        """Rates, or the gamma laws that they have given the rows."""
        prior, weight, total, _ = self._evidence(stats)
        shape, rate = prior.shape + total, prior.rate + weight
        if self.estimate == "predictive":
            return NegativeBinomialLaw(shape, rate, stats.weight > 0)
        return PoissonLaw(np.maximum(shape - 1.0, 0.0) / rate, stats.weight > 0)


@dataclass(frozen=True)
class PoissonLaw(ColumnByColumn):
    """Settled rates (K, D); classes with rows are ``seen``, the others have no density."""

    rate: np.ndarray
    seen: np.ndarray

    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        rate = self.rate[:, j].copy()
        loops.add_poisson(x, rate, log_of(rate), out)


@dataclass(frozen=True)
class NegativeBinomialLaw(ColumnByColumn):
    """Counts whose rates have gamma laws of ``shape`` and ``rate`` (K, D)."""

    shape: np.ndarray
    rate: np.ndarray
    seen: np.ndarray

    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        loops.add_negative_binomial(x, self.shape[:, j].copy(), self.rate[:, j].copy(), out)


class Exponential(_Rates):
    """Independent waiting times: positive numbers that have no typical size.

    Parameters
    ----------
    prior : GammaPrior or None
        Law of each rate before any row; its ``rate`` is in the units of the column. None is
        maximum likelihood, n / sum of x.
    estimate : {"map", "predictive"}
        Use the most probable rate, or average over all rates by their probability given the rows,
        which gives a Lomax law, with a heavier tail the fewer the rows.

    Notes
    -----
    A missing value is left out, which marginalises it exactly. Negative values are refused. A
    class whose values are all zero would have an infinite rate; half the mean of all classes is
    added to its sum, with a warning.

    Examples
    --------
    >>> from bayesrule import BayesClassifier
    >>> from bayesrule.rates import Exponential
    >>> clf = BayesClassifier(Exponential()).fit([[1], [3], [10], [30]], [0, 0, 1, 1])
    >>> clf.log_density_.rate.ravel().tolist(), clf.predict([[4], [9]]).tolist()
    ([0.5, 0.05], [0, 1])
    """

    def __init__(self, prior: GammaPrior | None = None, estimate: str = "map"):
        self.prior = prior
        self.estimate = estimate

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers of zero or more."""
        return read_nonnegative(X, estimator, "Exponential")

    def settle(self, stats: Sums) -> LogDensity:
        """Rates, or the gamma laws that they have given the rows."""
        prior, weight, total, pooled = self._evidence(stats)
        shape, rate = prior.shape + weight, prior.rate + total
        flat = rate == 0
        warn_singular(flat & (stats.weight > 0)[:, None] & (pooled > 0), "zero")
        rate = np.where(flat, np.where(pooled > 0, 0.5 * pooled, weight), rate)
        rate = np.clip(rate, TINY, 1 / TINY)
        if self.estimate == "predictive":
            return LomaxLaw(shape, rate, stats.weight > 0)
        # Where so little was seen that the mode is at zero, which is no rate, the mean stands in.
        events = np.where(shape > 1, shape - 1.0, shape)
        return ExponentialLaw(np.clip(events / rate, TINY, 1 / TINY), stats.weight > 0)


@dataclass(frozen=True)
class ExponentialLaw(ColumnByColumn):
    """Settled rates (K, D); classes with rows are ``seen``, the others have no density."""

    rate: np.ndarray
    seen: np.ndarray

    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        rate = self.rate[:, j].copy()
        loops.add_exponential(x, rate, np.log(rate), out)


@dataclass(frozen=True)
class LomaxLaw(ColumnByColumn):
    """Waiting times whose rates have gamma laws of ``shape`` and rate ``scale`` (K, D)."""

    shape: np.ndarray
    scale: np.ndarray
    seen: np.ndarray

    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        shape, scale = self.shape[:, j].copy(), self.scale[:, j].copy()
        loops.add_lomax(x, shape, scale, np.log(shape) - np.log(scale), out)
