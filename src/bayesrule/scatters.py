"""Robust locations and scatters by themselves, in the style of scikit-learn's covariances."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayesrule.covariances import whiten
from bayesrule.degrees import LEAST, MOST
from bayesrule.distances import squared_distances
from bayesrule.estimates import Estimates, Wanted, estimate
from bayesrule.notices import FarRowsWarning, NotConvergedWarning, SingularScatterWarning
from bayesrule.stats import Sample
from bayesrule.tables import as_read, read_numbers


class _Reader(BaseEstimator):
    """What both estimators share: reading rows, settling one class, measuring distances."""

    def _fit(self, X: Any, sample_weight: Any, wanted: Wanted, *, missing: bool) -> Estimates:
        rows = self._read(X, reset=True, missing=missing)
        weights = _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
        some = weights > 0
        if not some.any():
            raise ValueError("All weights of the rows are zero: nothing is left to learn from.")
        codes = np.zeros(int(some.sum()), np.int32)
        found = estimate(Sample(rows[some], codes, weights[some]), 1, wanted)
        if found.lone[0] or found.repaired[0]:
            warnings.warn(
                f"No scatter exists for {len(codes)} rows of {rows.shape[1]} columns (fewer rows "
                "than columns, or too many of them in a subspace: constant, dependent or mostly "
                "equal columns), and it was regularised. Add rows or drop such columns.",
                SingularScatterWarning,
                stacklevel=3,
            )
        if found.moved[0]:
            warnings.warn(
                "Location and scatter followed rows far out: of rows that lie there together, they "
                "bear less than a share of 1 / (columns + 1). Look at them; the minimum covariance "
                "determinant bears nearly half.",
                FarRowsWarning,
                stacklevel=3,
            )
        if found.unsettled[0]:
            warnings.warn(
                f"Location and scatter had not settled after {wanted.max_iter} sweeps. Raise "
                "max_iter or tol, or set shrinkage='auto'.",
                NotConvergedWarning,
                stacklevel=3,
            )
        self.location_ = found.location[0]
        self.shrinkage_ = float(found.shrinkage[0])
        self.n_iter_ = max(int(found.iterations[0]), 1)
        self.row_weights_ = np.zeros(len(rows))
        self.row_weights_[some] = found.row_weights
        return found

    def _read(self, X: Any, *, reset: bool = False, missing: bool = False) -> np.ndarray:
        X = as_read(X)
        numbers = read_numbers(X, accept_missing=missing, estimator=self).numbers
        validate_data(self, X, reset=reset, skip_check_array=True)
        return np.ascontiguousarray(numbers, np.float64)

    def _check(self, name: str, low: float, high: float, *words: Any) -> None:
        value = getattr(self, name)
        number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
        fine = low <= float(value) <= high if number else any(value is w for w in words)
        if not fine and not (isinstance(value, str) and value in words):
            known = " or ".join([*map(repr, words), f"a number from {low:g} to {high:g}"])
            raise ValueError(f"{type(self).__name__}({name}={value!r}) is not known; use {known}.")

    def get_precision(self) -> np.ndarray:
        """Inverse of ``covariance_``, shape (m, m)."""
        check_is_fitted(self)
        whitening, _ = whiten(self.covariance_[None])
        return np.asarray(whitening[0] @ whitening[0].T)

    def mahalanobis(self, X: Any) -> np.ndarray:
        """Squared distances ``(x - location_)' covariance_^-1 (x - location_)``, shape (n,)."""
        check_is_fitted(self)
        whitening, _ = whiten(self.covariance_[None])
        return squared_distances(self._read(X), self.location_[None], whitening)[:, 0]


class TylerScatter(_Reader):
    """Tyler's scatter, with the median of Hettmansperger and Randles as its location.

    The scatter S of trace m solves S = m / n sum_i x_i x_i' / (x_i' S^-1 x_i) for rows x_i less
    their location. It does not depend on how far out each row is, only on where it points to.

    Parameters
    ----------
    shrinkage : "auto", None or float in [0, 1]
        Share that is replaced by the diagonal of the variances, made as large; "auto" chooses it
        where there are fewer rows than ten times the columns or no scatter exists.
    location : array of shape (m,), default=None
        The location, where it is known; None settles it.
    location_weights : {"1/sqrt(t)", "1/t"}
        How rows weigh in the location.
    max_iter : int
    tol : float
        Settled is a scatter that a sweep changes by less than this share.

    Attributes
    ----------
    location_ : ndarray of shape (m,)
    covariance_ : ndarray of shape (m, m)
        The scatter, of trace m.
    row_weights_ : ndarray of shape (n,)
        What each row counted, relative to the mean.
    shrinkage_ : float
        Share that was replaced.
    n_iter_ : int
    n_features_in_ : int

    References
    ----------
    Tyler: A distribution-free M-estimator of multivariate scatter, 1987. Hettmansperger, Randles:
    A practical affine equivariant multivariate median, 2002. Chen, Wiesel, Hero: Robust shrinkage
    estimation of high-dimensional covariance matrices, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import TylerScatter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) @ np.linalg.cholesky([[1.0, 0.6], [0.6, 1.0]]).T
    >>> X *= np.exp(rng.normal(0.0, 3.0, (5000, 1)))  # each row has a scale of its own
    >>> TylerScatter(location=[0.0, 0.0]).fit(X).covariance_.round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    def __init__(
        self,
        shrinkage: float | str | None = "auto",
        location: Any = None,
        location_weights: str = "1/sqrt(t)",
        max_iter: int = 200,
        tol: float = 1e-8,
    ):
        self.shrinkage = shrinkage
        self.location = location
        self.location_weights = location_weights
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TylerScatter:
        """Settle location and scatter; ``y`` is ignored."""
        self._check("shrinkage", 0.0, 1.0, "auto", None)
        self._check("max_iter", 1, 1_000_000)
        self._check("tol", 1e-15, 0.1)
        if self.location_weights not in ("1/sqrt(t)", "1/t"):
            raise ValueError(
                f"TylerScatter(location_weights={self.location_weights!r}) is not known; use "
                "'1/sqrt(t)' or '1/t'."
            )
        held = None if self.location is None else np.asarray(self.location, np.float64)[None]
        wanted = Wanted(
            "tyler",
            shrinkage=self.shrinkage,
            paper=self.location_weights == "1/t",
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            held=held,
        )
        found = self._fit(X, sample_weight, wanted, missing=False)
        scatter = found.scatter[0]
        self.covariance_ = scatter * (len(scatter) / np.trace(scatter))
        return self


class StudentScatter(_Reader):
    """Location and scatter of the most likely multivariate Student, by EM.

    Rows weigh (v + m) / (v + t), with t their squared distance and v the degrees of freedom.

    Parameters
    ----------
    dof : "fitted" or number
        Degrees of freedom, fitted or given; 1 is the Cauchy law.
    shrinkage : "auto", None or float in [0, 1]
        As in :class:`TylerScatter`.
    max_iter : int
    tol : float
        Settled is a scatter that a sweep changes by less than this share.

    Attributes
    ----------
    location_ : ndarray of shape (m,)
    scatter_ : ndarray of shape (m, m)
        The scatter of the Student.
    covariance_ : ndarray of shape (m, m)
        Its covariance, ``scatter_ v / (v - 2)``; where v <= 2, which has none, the scatter.
    dof_ : float
    row_weights_ : ndarray of shape (n,)
        What each row counted, relative to the mean.
    shrinkage_ : float
        Share that was replaced.
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    Rows may have missing values, which EM completes; rows to be measured may not.

    References
    ----------
    Liu, Rubin: ML estimation of the t distribution using EM and its extensions, ECM and ECME,
    Statistica Sinica 5, 1995.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import StudentScatter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5000, 2)) * np.sqrt(5.0 / rng.chisquare(5.0, (5000, 1)))
    >>> found = StudentScatter().fit(X)
    >>> round(found.dof_), np.diag(found.scatter_).round(1)
    (5, array([1., 1.]))
    """

    def __init__(
        self,
        dof: float | str = "fitted",
        shrinkage: float | str | None = "auto",
        max_iter: int = 200,
        tol: float = 1e-8,
    ):
        self.dof = dof
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StudentScatter:
        """Settle location, scatter and degrees of freedom; ``y`` is ignored."""
        self._check("dof", LEAST, MOST, "fitted")
        self._check("shrinkage", 0.0, 1.0, "auto", None)
        self._check("max_iter", 1, 1_000_000)
        self._check("tol", 1e-15, 0.1)
        wanted = Wanted(
            "student",
            shrinkage=self.shrinkage,
            dof=self.dof,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )
        found = self._fit(X, sample_weight, wanted, missing=True)
        self.scatter_ = found.scatter[0]
        self.dof_ = float(found.dof[0])
        wide = self.dof_ / (self.dof_ - 2.0) if self.dof_ > 2.0 else 1.0
        self.covariance_ = self.scatter_ * wide
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
