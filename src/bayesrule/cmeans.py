"""Fuzzy c-means: centres that minimise the sum over rows and centres of u^m |x - c|^2.

Memberships and centres take turns, each the best for the other. One pass over the rows does both,
so that n x T memberships are never stored.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import reduce
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bayesrule.kernels import profiles as loops
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.keys import distinct_ranks, merged_rows
from bayesrule.notices import NotConvergedWarning
from bayesrule.progress import Meter, progress
from bayesrule.tables import as_read, read_numbers


@dataclass(frozen=True)
class Found:
    """Where the iteration ended.

    Attributes
    ----------
    centres : ndarray of shape (T, D)
    objective : float
    n_iter : int
    converged : bool
    """

    centres: np.ndarray
    objective: float
    n_iter: int
    converged: bool


def best_centres(
    values: np.ndarray,
    weights: np.ndarray,
    n_centres: int,
    fuzziness: float,
    n_init: int,
    seed: int,
    max_iter: int = 300,
    tol: float = 1e-5,
) -> Found:
    """The best of several starts; each begins at centres that k-means++ draws."""
    shift = weights @ (values - values[0]) / weights.sum() + values[0]
    centred = values - shift
    scale = float(weights @ (centred**2).sum(axis=1) / weights.sum())
    starts = np.random.RandomState(seed).randint(0, 2**31 - 1, n_init)
    found: list[Found] = []
    with progress("fuzzy c-means", n_init * max_iter) as meter:
        for i, start in enumerate(starts):
            # Where there are no more distinct rows than centres, some centres coincide.
            first = np.resize(centred, (n_centres, centred.shape[1]))
            if n_centres < len(values):
                first, _ = kmeans_plusplus(
                    centred, n_centres, sample_weight=weights, random_state=int(start)
                )
            least = tol**2 * scale
            found.append(_descend(centred, weights, first, fuzziness, max_iter, least, meter))
            meter.advance((i + 1) * max_iter - meter.done)
    best = min(found, key=lambda run: run.objective)
    if not best.converged:
        warnings.warn(
            f"Fuzzy c-means stopped after {max_iter} iterations with centres still moving; raise "
            "max_iter or tol.",
            NotConvergedWarning,
            stacklevel=3,
        )
    return Found(best.centres + shift, best.objective, best.n_iter, best.converged)


def _descend(
    values: np.ndarray,
    weights: np.ndarray,
    centres: np.ndarray,
    fuzziness: float,
    max_iter: int,
    least: float,
    meter: Meter,
) -> Found:
    """Iterate from some centres until none moves by more than the root of ``least``."""
    size = block_rows(values.shape[1])
    for n_iter in range(1, max_iter + 1):
        columns = np.ascontiguousarray(centres.T)

        def work(a: int, b: int, columns: np.ndarray = columns) -> tuple[Any, ...]:
            sums, masses = np.zeros(columns.shape[::-1]), np.zeros(columns.shape[1])
            rows = np.ascontiguousarray(values[a:b])
            value = loops.sums_of_fuzzy_centres(
                rows, columns, fuzziness, weights[a:b], sums, masses
            )
            return sums, masses, value

        parts = map_blocks(work, len(values), size)
        sums, masses, objective = reduce(
            lambda one, other: tuple(x + y for x, y in zip(one, other, strict=True)), parts
        )
        moved = np.where(
            masses[:, None] > 0, sums / np.where(masses > 0, masses, 1.0)[:, None], centres
        )
        apart = ((moved - centres) ** 2).sum(axis=1).max()
        centres = moved
        meter.advance()
        if apart <= least:
            return Found(centres, float(objective), n_iter, True)
    return Found(centres, float(objective), max_iter, False)


class FuzzyCMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Fuzzy c-means clustering.

    Minimises ``J = sum_i w_i sum_t u_t(x_i)^m |x_i - c_t|^2`` over centres c and memberships u.

    Parameters
    ----------
    n_clusters : int
    fuzziness : float > 1
        m: near 1 it is k-means, large values make all memberships equal.
    n_init : int
        Starts, each from centres that k-means++ draws; the one of least J is kept.
    max_iter : int
        Iterations of one start.
    tol : float
        A start ends where no centre moves by more than this many standard deviations of the rows.
    random_state : int, default=0

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (T, D)
    labels_ : ndarray of shape (n,)
        The cluster each row belongs to most.
    objective_ : float
        J.
    n_iter_ : int
    n_features_in_ : int

    References
    ----------
    Bezdek, Ehrlich, Full: FCM: the fuzzy c-means clustering algorithm, Computers & Geosciences
    10, 1984.

    Examples
    --------
    >>> from bayesrule import FuzzyCMeans
    >>> model = FuzzyCMeans(2).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> model.membership([[0.5], [5.0]]).max(axis=1).round(2)
    array([1. , 0.5])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        fuzziness: float = 2.0,
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: int = 0,
    ):
        self.n_clusters = n_clusters
        self.fuzziness = fuzziness
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FuzzyCMeans:
        """Find the centres; ``y`` is ignored."""
        self._check_settings()
        values = self._read(X, reset=True)
        weights = _check_sample_weight(
            sample_weight, values, dtype=np.float64, ensure_non_negative=True
        )
        some = weights > 0
        if self.n_clusters > some.sum():
            raise ValueError(
                f"n_samples={some.sum()} should be >= n_clusters={self.n_clusters}: there are "
                "fewer rows than clusters."
            )
        found = best_centres(
            *merged_rows(values[some], weights[some], distinct_ranks(values[some])),
            int(self.n_clusters),
            float(self.fuzziness),
            int(self.n_init),
            int(self.random_state),
            int(self.max_iter),
            float(self.tol),
        )
        self.cluster_centers_ = found.centres
        self.objective_ = found.objective
        self.n_iter_ = found.n_iter
        self.labels_ = self._nearest(values)
        return self

    def _check_settings(self) -> None:
        for name, least in (("n_clusters", 1), ("n_init", 1), ("max_iter", 1), ("random_state", 0)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
                raise ValueError(
                    f"FuzzyCMeans({name}={value!r}): expected a whole number from {least} on."
                )
        check_fuzziness(self.fuzziness, "FuzzyCMeans", "sklearn.cluster.KMeans")
        if not isinstance(self.tol, Real) or not 0 <= float(self.tol) < np.inf:
            raise ValueError(f"FuzzyCMeans(tol={self.tol!r}): expected a number from 0 on.")

    def _read(self, X: Any, *, reset: bool = False) -> np.ndarray:
        X = as_read(X)
        numbers = read_numbers(X, accept_missing=False, estimator=self).numbers
        validate_data(self, X, reset=reset, skip_check_array=True)
        return np.ascontiguousarray(numbers, np.float64)

    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.cluster_centers_.T)

    def _nearest(self, values: np.ndarray) -> np.ndarray:
        labels = np.empty(len(values), np.int32)
        columns = self._columns()

        def work(a: int, b: int) -> None:
            loops.nearest_centres(values[a:b], columns, labels[a:b])

        for _ in map_blocks(work, len(values), block_rows(values.shape[1])):
            pass
        return labels

    def predict(self, X: Any) -> np.ndarray:
        """The cluster each row belongs to most: that of the nearest centre."""
        check_is_fitted(self)
        return self._nearest(self._read(X))

    def membership(self, X: Any) -> np.ndarray:
        """How much each row belongs to each cluster, shape (n, T); rows sum to one."""
        check_is_fitted(self)
        values = self._read(X)
        degrees = np.empty((len(values), len(self.cluster_centers_)))
        columns, exponent = self._columns(), 1.0 / (float(self.fuzziness) - 1.0)

        def work(a: int, b: int) -> None:
            loops.fuzzy_memberships(values[a:b], columns, exponent, degrees[a:b])

        for _ in map_blocks(work, len(values), block_rows(values.shape[1])):
            pass
        return degrees

    def predict_proba(self, X: Any) -> np.ndarray:
        """The same as ``membership``, for those who look for that name."""
        return self.membership(X)

    def transform(self, X: Any) -> np.ndarray:
        """The same as ``membership``, for pipelines."""
        return self.membership(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def check_fuzziness(value: Any, owner: str, hard: str) -> None:
    """m must be a number above one."""
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not number or not 1.0 < float(value) < np.inf:
        raise ValueError(
            f"{owner}(fuzziness={value!r}): expected a number above 1. Hard memberships, the limit "
            f"at 1, are those of {hard}."
        )
