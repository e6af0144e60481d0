"""Settled Gaussian and Student densities.

    log N(x | m, S)    = -1/2 [ d(x) + log det S + D log 2 pi ],     d(x) = (x - m)' S^-1 (x - m)
    log t_v(x | m, S)  = log Γ((v + D)/2) - log Γ(v/2) - 1/2 [ log det S + D log v pi ]
                         - (v + D)/2 log(1 + d(x)/v)

A missing value is marginalised exactly by leaving out its entries of m, S and D: marginals of a
Gaussian are Gaussian, those of a multivariate Student are Student with the same v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from bayesrule.covariances import LOG_2PI, whiten
from bayesrule.density import LogDensity
from bayesrule.distances import log_of_squares, log_squares, squared_distances
from bayesrule.kernels import gaussian as loops
from bayesrule.missing import missing_patterns
from bayesrule.tables import Table


@dataclass(frozen=True)
class DiagonalGaussian(LogDensity):
    """A settled diagonal Gaussian.

    Attributes
    ----------
    mean, variance : ndarray of shape (K, D)
    seen : ndarray of shape (K,)
        Classes that have a density.
    """

    vouches: ClassVar[bool] = True

    mean: np.ndarray
    variance: np.ndarray
    seen: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.empty((len(table), len(self.mean)))
        log_norm = -0.5 * (LOG_2PI + np.log(self.variance))
        if table.missing:
            loop, norm = loops.log_density_marginal, log_norm
        else:
            loop, norm = loops.log_density_complete, log_norm.sum(axis=1)
        loop(table.numbers, self.mean, 0.5 / self.variance, norm, out)
        return _unseen_to_minus_infinity(out, self.seen)

    @property
    def factors(self) -> bool:
        """The columns are independent given the class."""
        return True

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        squares = (table.numbers[:, None, :] - self.mean) ** 2 / self.variance
        terms = -0.5 * (LOG_2PI + np.log(self.variance) + squares)
        return _unseen_to_minus_infinity(_zero_if_missing(terms), self.seen)


@dataclass(frozen=True)
class DiagonalStudent(LogDensity):
    """A settled product of univariate Students.

    Attributes
    ----------
    location, scale, dof : ndarray of shape (K, D)
        Degrees of freedom per column, for columns may have different numbers of values.
    seen : ndarray of shape (K,)
        Classes that have a density.
    """

    location: np.ndarray
    scale: np.ndarray
    dof: np.ndarray
    seen: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.empty((len(table), len(self.location)))
        loops.log_density_student(table.numbers, self.location, *self._constants(), out)
        return _unseen_to_minus_infinity(out, self.seen)

    def _constants(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """1 / (scale sqrt(dof)), the power of 1 + z^2, and the logarithm of the peak."""
        log_norm = log_student_constant(self.dof, 1) - np.log(self.scale)
        return 1.0 / (self.scale * np.sqrt(self.dof)), 0.5 * (self.dof + 1.0), log_norm

    @property
    def factors(self) -> bool:
        """The columns are independent given the class."""
        return True

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        inverse, power, log_norm = self._constants()
        apart = np.abs(table.numbers[:, None, :] - self.location)
        with np.errstate(over="ignore", divide="ignore"):
            z = apart * inverse
            far = 2.0 * (np.log(apart) + np.log(inverse))
            grown = np.where(z < 1e50, np.log1p(z * z), far)
        terms = _zero_if_missing(log_norm - power * grown)
        return _unseen_to_minus_infinity(terms, self.seen)


@dataclass(frozen=True)
class SphericalStudent(LogDensity):
    """A settled multivariate Student with a diagonal scale: its columns share one variance.

    Attributes
    ----------
    location, scale : ndarray of shape (K, D)
    dof, seen : ndarray of shape (K,)
    """

    location: np.ndarray
    scale: np.ndarray
    dof: np.ndarray
    seen: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        n_columns = table.n_columns
        out = np.empty((len(table), len(self.location)))
        precision, log_scale = self.scale**-2.0, np.log(self.scale)
        if not table.missing:
            none = np.zeros(len(self.dof))
            loops.log_density_complete(table.numbers, self.location, precision, none, out)
            n_present, half_log_det = n_columns, log_scale.sum(axis=1)
        else:
            loops.log_density_marginal(
                table.numbers, self.location, precision, np.zeros_like(log_scale), out
            )
            present = ~np.isnan(table.numbers)
            n_present, half_log_det = present.sum(axis=1)[:, None], present @ log_scale.T
        values = table.numbers
        grown = log_of_squares(-out / self.dof, lambda far: self._far(values[far]))
        out = _student(grown, self.dof, n_present, half_log_det)
        return _unseen_to_minus_infinity(out, self.seen)

    def _far(self, values: np.ndarray) -> np.ndarray:
        """Logarithms of squared distances over the degrees of freedom, of rows far out."""
        white = np.stack([np.diag(1.0 / scale) for scale in self.scale])
        return log_squares(values, self.location, white) - np.log(self.dof)


@dataclass(frozen=True)
class FullGaussian(LogDensity):
    """A settled Gaussian with covariances.

    Attributes
    ----------
    mean : ndarray of shape (K, D)
    covariance : ndarray of shape (K or 1, D, D)
    whitening : ndarray of shape (K or 1, D, D)
        W with (x - m) @ W of identity covariance.
    log_constant : ndarray of shape (K or 1,)
    seen : ndarray of shape (K,)
    """

    vouches: ClassVar[bool] = True

    mean: np.ndarray
    covariance: np.ndarray
    whitening: np.ndarray
    log_constant: np.ndarray
    seen: np.ndarray

    @classmethod
    def from_moments(
        cls, mean: np.ndarray, covariance: np.ndarray, seen: np.ndarray
    ) -> FullGaussian:
        """Factor the covariances once."""
        whitening, log_constant = whiten(covariance)
        return cls(mean, covariance, whitening, log_constant, seen)

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        if not table.missing:
            out = self._of(table.numbers, self.mean, self.whitening, self.log_constant)
            return _unseen_to_minus_infinity(out, self.seen)
        out = np.empty((len(table), len(self.mean)))
        for columns, rows in missing_patterns(table.numbers):
            factored = whiten(self.covariance[:, columns[:, None], columns])
            values = table.numbers[rows[:, None], columns]
            out[rows] = self._of(values, self.mean[:, columns], *factored)
        return _unseen_to_minus_infinity(out, self.seen)

    @staticmethod
    def _of(
        values: np.ndarray, mean: np.ndarray, whitening: np.ndarray, log_constant: np.ndarray
    ) -> np.ndarray:
        """Log-densities of complete rows."""
        out = squared_distances(values, mean, whitening)
        out *= -0.5
        out += log_constant
        return out


@dataclass(frozen=True)
class FullStudent(LogDensity):
    """A settled multivariate Student; the scale matrix of class k is stretch[k] * scatter[k].

    Attributes
    ----------
    location : ndarray of shape (K, D)
    scatter, whitening : ndarray of shape (K or 1, D, D)
        W with W' scatter W the identity.
    half_log_det : ndarray of shape (K or 1,)
        Half the logarithm of the determinant of each scatter.
    stretch, dof, seen : ndarray of shape (K,)
    """

    location: np.ndarray
    scatter: np.ndarray
    whitening: np.ndarray
    half_log_det: np.ndarray
    stretch: np.ndarray
    dof: np.ndarray
    seen: np.ndarray

    @classmethod
    def from_scatter(
        cls,
        location: np.ndarray,
        scatter: np.ndarray,
        stretch: np.ndarray,
        dof: np.ndarray,
        seen: np.ndarray,
    ) -> FullStudent:
        """Factor the scatters once."""
        return cls(location, scatter, *_factored(scatter), stretch, dof, seen)

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        if not table.missing:
            out = self._of(table.numbers, self.location, self.whitening, self.half_log_det)
            return _unseen_to_minus_infinity(out, self.seen)
        out = np.empty((len(table), len(self.location)))
        for columns, rows in missing_patterns(table.numbers):
            factored = _factored(self.scatter[:, columns[:, None], columns])
            values = table.numbers[rows[:, None], columns]
            out[rows] = self._of(values, self.location[:, columns], *factored)
        return _unseen_to_minus_infinity(out, self.seen)

    def _of(
        self,
        values: np.ndarray,
        location: np.ndarray,
        whitening: np.ndarray,
        half_log_det: np.ndarray,
    ) -> np.ndarray:
        """Log-densities of complete rows."""
        n_columns = values.shape[1]
        distances = squared_distances(values, location, whitening)
        over = self.stretch * self.dof
        # Expanding a square, as one matrix product does, may leave it a rounding below zero.
        grown = log_of_squares(
            np.maximum(distances / over, 0.0),
            lambda far: log_squares(values[far], location, whitening) - np.log(over),
        )
        half_log_det = half_log_det + 0.5 * n_columns * np.log(self.stretch)
        return _student(grown, self.dof, n_columns, half_log_det)


@dataclass(frozen=True)
class BesideConstants(LogDensity):
    """A law of the columns that vary, beside columns that never did.

    Those tell no class from another: one unit Gaussian around the constant serves all classes.

    Attributes
    ----------
    law : LogDensity
        Of the varying columns alone.
    varying, constant : ndarray of int
        Places of the columns of either kind.
    value : ndarray
        What each constant column is.
    """

    law: LogDensity
    varying: np.ndarray
    constant: np.ndarray
    value: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        rest = np.ascontiguousarray(table.numbers[:, self.varying])
        missing = table.missing and bool(np.isnan(rest).any())
        squares = (table.numbers[:, self.constant] - self.value) ** 2
        common = _zero_if_missing(-0.5 * (LOG_2PI + squares)).sum(axis=1)
        return self.law(replace(table, numbers=rest, missing=missing)) + common[:, None]


def log_student_constant(dof: np.ndarray, n_columns: Any) -> np.ndarray:
    """log of Γ((v + D)/2) / (Γ(v/2) (v pi)^(D/2)), to rounding for any v.

    The two logarithms of gamma are large and close where v is large. There Stirling's series of
    both, subtracted by hand, leaves D/2 log(v pi) to cancel: the rest tends to the Gaussian's.
    """
    half, extra = np.broadcast_arrays(0.5 * np.asarray(dof), 0.5 * np.asarray(n_columns))
    large = np.maximum(half, 20.0)
    stirling = (large + extra - 0.5) * np.log1p(extra / large) - extra * (1.0 + LOG_2PI)
    stirling += _stirling_rest(large + extra) - _stirling_rest(large)
    small = np.minimum(half, 20.0)
    direct = gammaln(small + extra) - gammaln(small) - extra * np.log(2.0 * np.pi * small)
    return np.where(half < 20.0, direct, stirling)


def _stirling_rest(z: np.ndarray) -> np.ndarray:
    """log Γ(z) - (z - 1/2) log z + z - log(2 pi)/2, to rounding from z = 20 on."""
    inverse = 1.0 / (z * z)
    series = 1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))
    return np.asarray(series / z)


def _student(
    grown: np.ndarray, dof: np.ndarray, n_columns: Any, half_log_det: np.ndarray
) -> np.ndarray:
    """Log-density of a multivariate Student from log(1 + d / dof), shape (n, K)."""
    log_constant = log_student_constant(dof, n_columns) - half_log_det
    return np.asarray(log_constant - 0.5 * (dof + n_columns) * grown)


def _factored(scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whitening matrices, and half the logarithms of the determinants."""
    whitening, log_constant = whiten(scatter)
    return whitening, -log_constant - 0.5 * scatter.shape[-1] * LOG_2PI


def _zero_if_missing(terms: np.ndarray) -> np.ndarray:
    """A missing value is integrated out of its term, which leaves a factor of one."""
    terms[np.isnan(terms)] = 0.0
    return terms


def _unseen_to_minus_infinity(out: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """A class that nothing is known of has no density."""
    if not seen.all():
        out[:, ~seen] = -np.inf
    return out
