"""Locations and scatters that settle by weighting rows: one engine for all M-estimators.

    location  =  sum w v(t) x / sum w v(t)        scatter  =  sum w u(t) (x - m)(x - m)' / W
    t         =  (x - m)' S^-1 (x - m)

Classes that share a scatter are settled together, each about its own location.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bayesrule.covariances import SINGULAR
from bayesrule.kernels import elliptical as loops

#: Sweeps between two looks at what has become of the scatter.
STRETCH = 25

#: A scatter that so many sweeps have not brought nearer than this is none: those that exist come
#: nearer by at least a twentieth in each.
PATIENCE, LOST = 100, 1e-3

#: A scatter whose conditional variances are all more than this share of the variances has lost no
#: direction; one that has less is looked at: rows lie in a subspace if they are as near to it, in
#: standard deviations of the scatter across it, or nearer than numbers tell. Of others few are.
NARROWED, WITHIN, ROUNDED = 1e-4, 0.05, 1e-13


@dataclass(frozen=True)
class Weighting:
    """How rows are weighted by their squared distance t.

    Attributes
    ----------
    kind : int
        One of the codes of :mod:`bayesrule.kernels.elliptical`.
    parameter : float
        Degrees of freedom, or the t from which Huber's weights fall.
    paper : bool
        Whether Tyler's locations weigh by 1 / t, not by 1 / sqrt(t).
    near : float
        Share of its median that t is floored at for them.
    """

    kind: int
    parameter: float = 0.0
    paper: bool = False
    near: float = loops.NEAR_LOCATION

    def bearable(self, m: int) -> np.ndarray:
        """Shares of the rows that subspaces of m - 1, m - 2, ... 0 dimensions may hold at most.

        Where one holds more there is no scatter: with the weight u(t) of a row times t at most s,
        1 - (m - r) / s in r dimensions (Kent and Tyler, Redescending M-estimates of multivariate
        location and scatter, 1991). Tyler's leaves rows at the location out.
        """
        lost = np.arange(1, m + 1)
        match self.kind:
            case loops.STUDENT:
                return 1.0 - lost / (self.parameter + m)
            case loops.TYLER:
                return np.where(lost < m, 1.0 - lost / m, 1.0)
            case _:
                return 1.0 - lost / self.parameter


#: Every row counts the same: mean and covariance.
EQUAL = Weighting(loops.HUBER, np.inf)


@dataclass
class Ellipses:
    """Locations and the scatter they share, on their way to where they settle.

    Attributes
    ----------
    location : ndarray of shape (g, m)
        Less the ``shift`` of the rows.
    factor, inverse : ndarray of shape (m, m)
        Lower Cholesky factor of the scatter, and its inverse.
    middle : float
        Median of t.
    """

    location: np.ndarray
    factor: np.ndarray
    inverse: np.ndarray
    middle: float

    def copy(self) -> Ellipses:
        """The same, to be moved apart."""
        return Ellipses(self.location.copy(), self.factor.copy(), self.inverse.copy(), self.middle)

    def rescale(self, by: float) -> None:
        """Multiply the scatter by a number."""
        self.factor *= np.sqrt(by)
        self.inverse /= np.sqrt(by)
        self.middle /= by

    @property
    def scatter(self) -> np.ndarray:
        """The scatter."""
        return np.asarray(self.factor @ self.factor.T)

    def whitened(self, variances: np.ndarray) -> np.ndarray:
        """Variances of independent columns in units of the scatter, C^-1 diag(v) C^-T."""
        return np.asarray((self.inverse * variances) @ self.inverse.T)

    @property
    def sound(self) -> bool:
        """Whether no column is, up to rounding, a combination of those before it."""
        own = np.diag(self.factor) ** 2
        total = (self.factor**2).sum(axis=1)
        return bool(np.isfinite(total).all() and (own > SINGULAR * total).all())


@dataclass(frozen=True)
class Pull:
    """How a scatter is regularised.

    Attributes
    ----------
    share : float
        Share of it that is replaced by a diagonal as large.
    target : ndarray of shape (m,)
        That diagonal.
    blur : ndarray of shape (m,)
        Variances that each row is known up to: to its (x - m)(x - m)' their diagonal is added.
    """

    share: float
    target: np.ndarray
    blur: np.ndarray


class Layout(ABC):
    """Rows of classes that share a scatter, laid out for sweeping.

    Attributes
    ----------
    weights : ndarray
        Of the rows, of any shape; zero where there is no row.
    out : ndarray
        Squared distances at the last sweep, of the same shape.
    sums : tuple of ndarray
        What the last sweep gathered.
    """

    weights: np.ndarray
    out: np.ndarray
    sums: tuple[np.ndarray, ...]

    @abstractmethod
    def part(self, k: int) -> Layout:
        """The rows of one class alone."""

    @abstractmethod
    def measure(self, ellipses: Ellipses, pull: Pull) -> None:
        """Squared distances of all rows, blurred as the pull says."""

    @abstractmethod
    def run(
        self,
        ellipses: Ellipses,
        weighting: Weighting,
        pull: Pull,
        held: bool,
        max_iter: int,
        tolerance: float,
    ) -> tuple[int, float]:
        """Move the ellipses by at most so many sweeps; how many, and how far they last were."""

    @abstractmethod
    def by_class(self, values: np.ndarray) -> list[np.ndarray]:
        """What belongs to the rows of each class, from an array of the shape of ``weights``."""

    @abstractmethod
    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows less the shift, their weights and their classes, class by class."""

    def measured(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """Squared distances, weights and number of columns of rows that have as many."""
        return [(self.out.ravel(), self.weights.ravel(), len(self.sums[0]))]

    def on_full_scale(self) -> np.ndarray:
        """Squared distances as if every row had all columns."""
        return self.out

    def settle(
        self,
        ellipses: Ellipses,
        weighting: Weighting,
        pull: Pull,
        held: bool = False,
        max_iter: int = 200,
        tolerance: float = 1e-8,
    ) -> tuple[int, float]:
        """Move the ellipses until they have settled; the sweeps, and how far they last were.

        NaN where the rows do not determine a scatter: some direction then loses its spread, by
        about the same share in every sweep.
        """
        done, furthest = 0, np.inf
        while done < max_iter and furthest > tolerance:
            more = min(STRETCH, max_iter - done)
            swept, furthest = self.run(ellipses, weighting, pull, held, more, tolerance)
            done += swept
            if lost(ellipses, done, furthest) or crowded(self, ellipses, weighting, pull):
                return done, float("nan")
        return done, furthest


def lost(ellipses: Ellipses, done: int, furthest: float) -> bool:
    """Whether so many sweeps show that there is no scatter to settle at."""
    return not ellipses.sound or not furthest <= (np.inf if done < PATIENCE else LOST)


def crowded(layout: Layout, ellipses: Ellipses, weighting: Weighting, pull: Pull) -> bool:
    """Whether a subspace that the scatter narrows to holds more rows than any scatter can bear.

    Near the share that is bearable, it may take thousands of sweeps until nothing is left of it.
    What is pulled keeps all directions, but may still shrink into a point.
    """
    if pull.blur.any():
        return False
    factor, target = ellipses.factor, pull.target
    size = 1.0
    if weighting.kind == loops.TYLER:
        size = float(np.mean((factor**2).sum(axis=1) / target))
    if np.min(np.diag(factor) ** 2 / target) > NARROWED * size:
        return False
    unit = np.sqrt(target)
    sizes, axes = np.linalg.eigh(ellipses.scatter / np.outer(unit, unit))
    rows, weights, codes = layout.flat()
    apart = rows / unit @ axes
    rounding = ROUNDED * np.fmax.reduce(np.abs(apart), axis=None, initial=0.0)
    for k in range(len(ellipses.location)):
        mine = codes == k
        for j in range(len(unit)):
            there = mine & ~np.isnan(apart[:, j])
            if there.any():
                apart[mine, j] -= loops.middle_of(apart[there, j], weights[there])
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.abs(apart) / np.sqrt(np.maximum(sizes, 0.0))
    inside = np.logical_and.accumulate((away <= WITHIN) | (np.abs(apart) <= rounding), axis=1)
    shares = weights @ inside / weights.sum()
    limits = weighting.bearable(len(unit))
    if pull.share > 0:
        limits[:-1] = 1.0
    return bool(np.any(shares > limits))
