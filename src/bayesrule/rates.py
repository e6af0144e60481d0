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

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesrule.decide import log_of
from bayesrule.density import LogDensity, Rule
from bayesrule.kernels import rates as loops
from bayesrule.memberships import Memberships
from bayesrule.nonnegative import (
    TINY,
    ColumnByColumn,
    Nonnegative,
    over_classes,
    tally_values,
    warn_few_rows,
    warn_singular,
)
from bayesrule.stats import Sums
from bayesrule.tables import Table


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


def check_settings(density: Poisson | Exponential) -> None:
    """Refuse settings that are not known."""
    density.require("estimate", "map", "predictive")
    if not (density.prior is None or isinstance(density.prior, GammaPrior)):
        raise ValueError(
            f"{type(density).__name__}(prior={density.prior!r}) is not known; use None or a "
            "GammaPrior(shape, rate)."
        )


def evidence(prior: GammaPrior, stats: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, sum and pooled mean of the values, the gaps filled if need be.

    A class without any value in a column has the prior to go by. Where that says nothing of the
    scale, the class counts as one row at the mean of all classes.
    """
    weight, total = stats.sums[:, 0], stats.sums[:, 1]
    pooled = over_classes(total, weight)
    if prior.rate > 0:
        return weight, total, pooled
    empty = weight == 0
    warn_few_rows(empty & (stats.weight > 0)[:, None] & (weight.sum(axis=0) > 0))
    return np.where(empty, 1.0, weight), np.where(empty, pooled, total), pooled


class Poisson(Nonnegative):
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
    >>> from bayesrule import BayesClassifier, Poisson
    >>> clf = BayesClassifier(Poisson()).fit([[0], [1], [4], [7]], ["calm", "calm", "busy", "busy"])
    >>> clf.log_density_.rate.ravel().tolist(), clf.predict([[2], [3]]).tolist()
    ([5.75, 0.75], ['calm', 'busy'])
    """

    whole: ClassVar[bool] = True

    def __init__(self, prior: GammaPrior | None = GammaPrior(1.5, 0.0), estimate: str = "map"):
        self.prior = prior
        self.estimate = estimate

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Poisson:
        """Check the settings; there is nothing to learn before counting."""
        check_settings(self)
        return self

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weights and sums of the values of each class and column."""
        return tally_values(table, memberships)

    def settle(self, stats: Sums) -> LogDensity:
        """Rates, or the gamma laws that they have given the rows."""
        prior = FLAT if self.prior is None else self.prior
        weight, total, _ = evidence(prior, stats)
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


class Exponential(Nonnegative):
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
    >>> from bayesrule import BayesClassifier, Exponential
    >>> clf = BayesClassifier(Exponential()).fit([[1], [3], [10], [30]], [0, 0, 1, 1])
    >>> clf.log_density_.rate.ravel().tolist(), clf.predict([[4], [9]]).tolist()
    ([0.5, 0.05], [0, 1])
    """

    def __init__(self, prior: GammaPrior | None = None, estimate: str = "map"):
        self.prior = prior
        self.estimate = estimate

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Exponential:
        """Check the settings; there is nothing to learn before counting."""
        check_settings(self)
        return self

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weights and sums of the values of each class and column."""
        return tally_values(table, memberships)

    def settle(self, stats: Sums) -> LogDensity:
        """Rates, or the gamma laws that they have given the rows."""
        prior = FLAT if self.prior is None else self.prior
        weight, total, pooled = evidence(prior, stats)
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
