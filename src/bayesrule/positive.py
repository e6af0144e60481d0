"""Positive numbers: gamma and log-normal laws, columns independent given the class.

    gamma        p(x | k) = a^a x^(a-1) exp(-a x / m) / (Γ(a) m^a),   shape a, mean m
    log-normal   p(x | k) = N(log x | m, s^2) / x

Neither has a density at zero, yet zeros are common where nothing fell, was bought or was measured.
They are an event of their own: a class has zeros with the probability p it showed them with, and
other values have 1 - p times the density above (Aitchison's delta laws).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

from bayesrule.covariances import FLOOR
from bayesrule.density import LogDensity, Rule
from bayesrule.gaussian import Gaussian
from bayesrule.kernels import rates as loops
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.nonnegative import (
    TINY,
    ColumnByColumn,
    Nonnegative,
    over_classes,
    warn_few_rows,
    warn_singular,
)
from bayesrule.stats import Moments, Several, Sums
from bayesrule.tables import Table

#: Sums that went beyond the largest number count as the largest.
HUGE = float(np.finfo(np.float64).max)

#: A variance of logarithms below this is the rounding of equal numbers.
EQUAL = 1e-28

#: Below this variance of logarithms its half is nearer to log(mean) - mean(log) than the
#: difference of two rounded numbers.
NARROW = 1e-9


def logarithms(values: np.ndarray) -> Table:
    """Logarithms as a table of their own; zeros have none and become gaps."""
    with np.errstate(divide="ignore"):
        logs = np.log(values, dtype=np.float64)
    logs[values == 0] = np.nan
    return Table(logs, missing=bool(np.isnan(logs).any()))


def tally_positive(table: Table, memberships: Memberships, of_logs: Gaussian) -> Several:
    """Sums of the values, and moments of the logarithms of those above zero."""

    def work(start: int, stop: int) -> Several:
        values = table.block(start, stop).numbers
        assert values is not None
        entries = memberships.entries(start, stop)
        sums = Sums(*loops.sums_of_values(values, *entries, memberships.n_classes))
        here = memberships.take(np.arange(start, stop))
        return Several((sums, of_logs.tally(logarithms(values), here)))

    return reduce(add, map_blocks(work, len(table), block_rows(table.n_columns)))


def zero_shares(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """log p and log(1 - p), shape (K, D), p the share of zeros; both zero where there were none.

    One row more, with the share over all classes, keeps p from being 0 or 1.
    """
    weight, zeros = sums.sums[:, 0], sums.sums[:, 2]
    some = zeros.sum(axis=0) > 0
    overall = (zeros.sum(axis=0) + 0.5) / (weight.sum(axis=0) + 1.0)
    share = (zeros + overall) / (weight + 1.0)
    return np.where(some, np.log(share), 0.0), np.where(some, np.log1p(-share), 0.0)


class Gamma(Nonnegative):
    """Independent positive numbers with gamma laws, fitted by maximum likelihood.

    The mean is the mean of the class, and the shape a solves log a - digamma(a) = log(mean) -
    mean(log).

    Notes
    -----
    A missing value is left out, which marginalises it exactly. Negative values are refused. Zeros
    have the probability that the class showed them with, nudged by one row with the share over
    all classes; a zero in a column where no class had one says nothing, as if it were missing. A
    class whose values are all equal, or that has one, borrows the spread within all classes, with
    a warning.

    References
    ----------
    Minka: Estimating a gamma distribution, 2002.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Gamma
    >>> X, y = [[1.0], [2.0], [4.0], [8.0], [9.0], [10.0]], ["wide"] * 3 + ["narrow"] * 3
    >>> clf = BayesClassifier(Gamma()).fit(X, y)
    >>> clf.log_density_.shape.round(2).ravel().tolist(), clf.predict([[7.0], [16.0]]).tolist()
    ([120.91, 3.4], ['narrow', 'wide'])
    """

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Sums of the values, and moments of their logarithms."""
        return tally_positive(table, memberships, Gaussian("diag"))

    def settle(self, stats: Several) -> LogDensity:
        """Means and shapes, the shapes borrowed where a class says nothing of its spread."""
        sums, logs = stats.parts
        seen: np.ndarray = sums.weight > 0
        weight, total = logs.weight, np.minimum(sums.sums[:, 1], HUGE)
        pooled = np.clip(over_classes(total, weight, otherwise=1.0), TINY, HUGE)
        some = np.where(weight > 0, weight, 1.0)
        mean = np.clip(np.where(weight > 0, total / some, pooled), TINY, HUGE)
        variance = logs.second / some
        gap = np.log(mean) - (logs.mean + logs.shift)
        # It is above zero unless the sum went beyond the largest number.
        gap = np.maximum(np.where(variance < NARROW, 0.5 * variance, gap), 0.5 * EQUAL)
        within = over_classes(weight * gap, weight)
        between = weight * (np.log(pooled) - np.log(mean))
        overall = within + np.maximum(over_classes(between, weight), 0.0)
        few = weight <= 1
        flat = (variance <= np.maximum(EQUAL, FLOOR * overall)) & ~few
        told = seen[:, None] & (overall > EQUAL)
        warn_few_rows(few & told)
        warn_singular(flat & told, "equal")
        # A column that never varies tells nothing; any spread keeps it harmless.
        borrowed = np.where(within > FLOOR * overall, within, overall)
        borrowed = np.where(overall > EQUAL, borrowed, 1.0)
        shape = gamma_shape(np.where(few | flat, borrowed, gap))
        return GammaLaw(shape, mean, *zero_shares(sums), seen)


def gamma_shape(gap: np.ndarray) -> np.ndarray:
    """Shape a with log a - digamma(a) = gap, by Newton's method on 1/a.

    >>> print(gamma_shape(np.array([np.euler_gamma])))
    [1.]
    """
    # Within 1.5 percent everywhere.
    shape = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(6):
        miss, slope = _log_less_digamma(shape)
        shape = 1.0 / (1.0 / shape + (miss - gap) / (shape**2 * slope))
    return shape


def _log_less_digamma(shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log a - digamma(a) and its derivative; series where the two are equal in most digits."""
    r = 1.0 / np.maximum(shape, loops.LARGE)
    square = r * r
    series = r * (0.5 + r * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240))))
    slope = -square * (0.5 + r * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30))))
    near = np.minimum(shape, loops.LARGE)
    small = shape < loops.LARGE
    return (
        np.where(small, np.log(near) - digamma(near), series),
        np.where(small, 1.0 / near - polygamma(1, near), slope),
    )


@dataclass(frozen=True)
class GammaLaw(ColumnByColumn):
    """Settled gamma laws.

    Attributes
    ----------
    shape, mean : ndarray of shape (K, D)
    log_zero, log_positive : ndarray of shape (K, D)
        Log-probabilities of a zero and of a value above zero.
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    shape: np.ndarray
    mean: np.ndarray
    log_zero: np.ndarray
    log_positive: np.ndarray
    seen: np.ndarray

    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        shape, mean = self.shape[:, j].copy(), self.mean[:, j].copy()
        constant = loops.gamma_constants(shape) + self.log_positive[:, j]
        log_zero = self.log_zero[:, j].copy()
        loops.add_gamma(x, shape, mean, np.log(mean), constant, log_zero, out)


class LogNormal(Nonnegative):
    """Independent positive numbers whose logarithms are Gaussian.

    Parameters
    ----------
    estimate : {"ml", "unbiased", "map", "predictive"}
        How mean and variance of the logarithms are told, as in :class:`~bayesrule.Gaussian`.
    prior : None or a prior of the Gaussian
        Of the mean and variance of the logarithms, for "map" and "predictive".

    Notes
    -----
    A missing value is left out, which marginalises it exactly. Negative values are refused. Zeros
    have the probability that the class showed them with, nudged by one row with the share over
    all classes; a zero in a column where no class had one says nothing, as if it were missing.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, LogNormal
    >>> X, y = [[1.0], [4.0], [25.0], [100.0]], ["low", "low", "high", "high"]
    >>> BayesClassifier(LogNormal()).fit(X, y).predict([[9.0], [11.0]]).tolist()
    ['low', 'high']
    """

    def __init__(self, estimate: str = "ml", prior: Any = None):
        self.estimate = estimate
        self.prior = prior

    def _of_logs(self) -> Gaussian:
        """The density of the logarithms."""
        return Gaussian("diag", estimate=self.estimate, prior=self.prior)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> LogNormal:
        """Check the settings; there is nothing to learn before counting."""
        self._of_logs().prepare(table, memberships, rule)
        return self

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Sums of the values, and moments of their logarithms."""
        return tally_positive(table, memberships, self._of_logs())

    def settle(self, stats: Several) -> LogDensity:
        """The Gaussian of the logarithms, and the shares of zeros."""
        sums, logs = stats.parts
        seen: np.ndarray = sums.weight > 0
        law = self._of_logs().settle(_with_gaps_filled(logs, seen))
        return LogNormalLaw(law, *zero_shares(sums), seen)


def _with_gaps_filled(logs: Moments, seen: np.ndarray) -> Moments:
    """Moments where a class with rows but no value in a column is next to nothing at the mean."""
    gaps = (logs.weight == 0) & seen[:, None]
    centre = over_classes(logs.weight * logs.mean, logs.weight)
    weight, mean = np.where(gaps, TINY, logs.weight), np.where(gaps, centre, logs.mean)
    return Moments(logs.kind, logs.shift, weight, mean, logs.second)


@dataclass(frozen=True)
class LogNormalLaw(LogDensity):
    """A settled law of logarithms, told of the numbers themselves.

    Attributes
    ----------
    of_logs : LogDensity
    log_zero, log_positive : ndarray of shape (K, D)
        Log-probabilities of a zero and of a value above zero.
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    of_logs: LogDensity
    log_zero: np.ndarray
    log_positive: np.ndarray
    seen: np.ndarray

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        logs = logarithms(table.numbers)
        assert logs.numbers is not None
        out = self.of_logs(logs) - np.nansum(logs.numbers, axis=1, keepdims=True)
        if self.log_zero.any():
            out += (table.numbers == 0).astype(float) @ self.log_zero.T
            out += (table.numbers > 0).astype(float) @ self.log_positive.T
        out[:, ~self.seen] = -np.inf
        return out

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        logs, values = logarithms(table.numbers), table.numbers[:, None, :]
        assert logs.numbers is not None
        out = self.of_logs.terms(logs) - np.nan_to_num(logs.numbers)[:, None, :]
        out += np.where(values == 0, self.log_zero, 0.0)
        out += np.where(values > 0, self.log_positive, 0.0)
        out[:, ~self.seen] = -np.inf
        return out
