"""Locations and scatters that settle by weighting rows: one engine for all M-estimators.

    location  =  sum w v(t) x / sum w v(t)        scatter  =  sum w u(t) (x - m)(x - m)' / W
    t         =  (x - m)' S^-1 (x - m)

Classes that share a scatter are settled together, each about its own location.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayesrule.covariances import SINGULAR
from bayesrule.kernels import elliptical as loops
from bayesrule.kernels.blocks import block_rows
from bayesrule.stats import Sample

#: Up to so many columns compiled sweeps are faster than products of matrices.
NARROW = 40

#: Sweeps between two looks at what has become of the scatter.
STRETCH = 25

#: A scatter that so many sweeps have not brought nearer than this is none: those that exist come
#: nearer by at least a twentieth in each.
PATIENCE, LOST = 100, 1e-3


@dataclass(frozen=True)
class Weighting:
    """How rows are weighted by their squared distance t.

    Attributes
    ----------
    kind : int
        One of the codes of :mod:`bayesrule.kernels.elliptical`.
    parameter : float
        Degrees of freedom, or the t from which Huber's weights fall.
    paper : float
        0 lets Tyler's locations weigh by 1 / sqrt(t); above that they weigh by 1 / t, with t
        floored at this share of its median.
    """

    kind: int
    parameter: float = 0.0
    paper: float = 0.0


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

    @property
    def sound(self) -> bool:
        """Whether no column is, up to rounding, a combination of those before it."""
        own = np.diag(self.factor) ** 2
        total = (self.factor**2).sum(axis=1)
        return bool(np.isfinite(total).all() and (own > SINGULAR * total).all())


@dataclass(frozen=True)
class Pull:
    """What the scatter is pulled towards: a share of it is replaced by a diagonal as large."""

    share: float
    target: np.ndarray


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
    def measure(self, ellipses: Ellipses) -> None:
        """Squared distances of all rows."""

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
            if lost(ellipses, done, furthest):
                return done, float("nan")
        return done, furthest


def lost(ellipses: Ellipses, done: int, furthest: float) -> bool:
    """Whether so many sweeps show that there is no scatter to settle at."""
    return not ellipses.sound or not furthest <= (np.inf if done < PATIENCE else LOST)


def in_turns(
    layout: Layout,
    sweep: Callable[[Ellipses, Weighting], None],
    ellipses: Ellipses,
    weighting: Weighting,
    pull: Pull,
    held: bool,
    max_iter: int,
    tolerance: float,
) -> tuple[int, float]:
    """What ``Layout.run`` does where sweeps are not compiled: gather, then move the ellipses."""
    total, pace = float(layout.weights.sum()), loops.first_pace()
    for done in range(max_iter):
        if weighting.kind == loops.TYLER and done:
            ellipses.middle = loops.middle_of(layout.out, layout.weights)
        try:
            sweep(ellipses, weighting)
        except np.linalg.LinAlgError:
            return done + 1, float("nan")
        furthest = loops.advance(
            layout.sums,
            total,
            ellipses.location,
            ellipses.factor,
            ellipses.inverse,
            weighting.kind,
            pull.share,
            pull.target,
            held,
            ellipses.middle,
            pace,
        )
        if not furthest > tolerance:
            break
    return done + 1, furthest


class Tiles(Layout):
    """Rows in tiles of columns, for compiled sweeps."""

    def __init__(
        self, tiles: np.ndarray, weights: np.ndarray, edges: np.ndarray, counts: np.ndarray
    ):
        self._tiles = tiles
        self._edges = edges
        self._counts = counts
        self._classes = np.repeat(np.arange(len(counts)), np.diff(edges))
        self.weights = weights
        self.out = np.zeros_like(weights)
        self.sums = loops.no_sums(len(counts), tiles.shape[1])

    @classmethod
    def of(cls, sample: Sample, n_classes: int, shift: np.ndarray) -> Tiles:
        """Lay out rows."""
        counts = np.bincount(sample.codes, minlength=n_classes)
        edges = np.concatenate([[0], np.cumsum(-(-counts // loops.TILE))])
        tiles = np.zeros((int(edges[-1]), sample.rows.shape[1], loops.TILE))
        weights = np.zeros((len(tiles), loops.TILE))
        rows = np.ascontiguousarray(sample.rows)
        loops.fill_tiles(rows, sample.weights, sample.codes, edges[:-1], shift, tiles, weights)
        return cls(tiles, weights, edges, counts)

    def part(self, k: int) -> Tiles:
        a, b = self._edges[k : k + 2]
        edges = np.array([0, b - a])
        return Tiles(self._tiles[a:b], self.weights[a:b], edges, self._counts[k : k + 1])

    def measure(self, ellipses: Ellipses) -> None:
        loops.measure(self._tiles, self._classes, ellipses.location, ellipses.inverse, self.out)

    def run(
        self,
        ellipses: Ellipses,
        weighting: Weighting,
        pull: Pull,
        held: bool,
        max_iter: int,
        tolerance: float,
    ) -> tuple[int, float]:
        done, furthest, ellipses.middle = loops.settle_tiles(
            self._tiles,
            self.weights,
            self._classes,
            ellipses.location,
            ellipses.factor,
            ellipses.inverse,
            weighting.kind,
            weighting.parameter,
            weighting.paper,
            pull.share,
            pull.target,
            held,
            ellipses.middle,
            max_iter,
            tolerance,
            self.out,
            self.sums,
        )
        return done, furthest

    def by_class(self, values: np.ndarray) -> list[np.ndarray]:
        pairs = zip(pairwise(self._edges), self._counts, strict=True)
        return [values[a:b].ravel()[:n] for (a, b), n in pairs]

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = self._tiles.transpose(0, 2, 1).reshape(-1, self._tiles.shape[1])
        pairs = list(zip(self._edges[:-1] * loops.TILE, self._counts, strict=True))
        there = np.concatenate([np.arange(a, a + n) for a, n in pairs])
        codes = np.repeat(np.arange(len(self._counts)), self._counts)
        return rows[there], self.weights.ravel()[there], codes


class Blocks(Layout):
    """Rows class by class, for sweeps by products of matrices, which pay for many columns."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray, edges: np.ndarray):
        self._rows = rows
        self._edges = edges
        self.weights = weights
        self.out = np.zeros(len(rows))
        self.sums = loops.no_sums(len(edges) - 1, rows.shape[1])

    @classmethod
    def of(cls, sample: Sample, n_classes: int, shift: np.ndarray) -> Blocks:
        """Lay out rows."""
        order = np.argsort(sample.codes, kind="stable")
        edges = np.searchsorted(sample.codes[order], np.arange(n_classes + 1))
        return cls(sample.rows[order] - shift, sample.weights[order], edges)

    def part(self, k: int) -> Blocks:
        a, b = self._edges[k : k + 2]
        return Blocks(self._rows[a:b], self.weights[a:b], np.array([0, b - a]))

    def measure(self, ellipses: Ellipses) -> None:
        for k, a, b in self._spans():
            z = (self._rows[a:b] - ellipses.location[k]) @ ellipses.inverse.T
            np.einsum("ij,ij->i", z, z, out=self.out[a:b])

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Blocks of rows of one class: (class, first row, last row)."""
        size = block_rows(self._rows.shape[1])
        for k, (begin, end) in enumerate(pairwise(self._edges.tolist())):
            for a in range(begin, end, size):
                yield k, a, min(a + size, end)

    def run(
        self,
        ellipses: Ellipses,
        weighting: Weighting,
        pull: Pull,
        held: bool,
        max_iter: int,
        tolerance: float,
    ) -> tuple[int, float]:
        return in_turns(self, self._sweep, ellipses, weighting, pull, held, max_iter, tolerance)

    def _sweep(self, ellipses: Ellipses, weighting: Weighting) -> None:
        """Gather what one pass over the rows tells."""
        m = self._rows.shape[1]
        for one in self.sums:
            one[:] = 0.0
        scatter, first, pulls, mass_u, mass_v, slopes = self.sums
        for k, a, b in self._spans():
            z = (self._rows[a:b] - ellipses.location[k]) @ ellipses.inverse.T
            t = self.out[a:b]
            np.einsum("ij,ij->i", z, z, out=t)
            u, v = np.empty(b - a), np.empty(b - a)
            loops.row_weights(
                t,
                self.weights[a:b],
                weighting.kind,
                m,
                weighting.parameter,
                weighting.paper,
                ellipses.middle,
                u,
                v,
                slopes,
            )
            first[k] += u @ z
            pulls[k] += v @ z
            mass_u[k] += u.sum()
            mass_v[k] += v.sum()
            z *= np.sqrt(u)[:, None]
            scatter += z.T @ z

    def by_class(self, values: np.ndarray) -> list[np.ndarray]:
        return [values[a:b] for a, b in pairwise(self._edges)]

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes = np.repeat(np.arange(len(self._edges) - 1), np.diff(self._edges))
        return self._rows, self.weights, codes


def laid_out(sample: Sample, n_classes: int, shift: np.ndarray) -> Layout:
    """Rows in the layout that is faster for their number of columns."""
    narrow = sample.rows.shape[1] <= NARROW
    return (Tiles if narrow else Blocks).of(sample, n_classes, shift)
