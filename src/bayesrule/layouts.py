"""Complete rows laid out for sweeping: in tiles for compiled loops, or in blocks for products."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import Self

import numpy as np

from bayesrule.ellipses import Ellipses, Layout, Pull, Weighting
from bayesrule.kernels import elliptical as loops
from bayesrule.kernels.blocks import block_rows
from bayesrule.stats import Sample

#: Up to so many columns compiled sweeps are faster than products of matrices.
NARROW = 40


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

    def measure(self, ellipses: Ellipses, pull: Pull) -> None:
        loops.measure(
            self._tiles,
            self._classes,
            ellipses.location,
            ellipses.inverse,
            pull.blur,
            self.out,
        )

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
            weighting.near,
            pull.share,
            pull.target,
            pull.blur,
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


class ByClass(Layout):
    """Rows in the order of their classes, swept by numpy."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray, edges: np.ndarray):
        self._rows = rows
        self._edges = edges
        self._codes = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        self.weights = weights
        self.out = np.zeros(len(rows))
        self.sums = loops.no_sums(len(edges) - 1, rows.shape[1])

    @classmethod
    def of(cls, sample: Sample, n_classes: int, shift: np.ndarray) -> Self:
        """Lay out rows."""
        order = np.argsort(sample.codes, kind="stable")
        edges = np.searchsorted(sample.codes[order], np.arange(n_classes + 1))
        return cls(sample.rows[order] - shift, sample.weights[order], edges)

    def part(self, k: int) -> Self:
        a, b = self._edges[k : k + 2]
        return type(self)(self._rows[a:b], self.weights[a:b], np.array([0, b - a]))

    @abstractmethod
    def _sweep(self, ellipses: Ellipses, weighting: Weighting, pull: Pull) -> None:
        """Gather what one pass over the rows tells."""

    def run(
        self,
        ellipses: Ellipses,
        weighting: Weighting,
        pull: Pull,
        held: bool,
        max_iter: int,
        tolerance: float,
    ) -> tuple[int, float]:
        total, pace = float(self.weights.sum()), loops.first_pace()
        for done in range(max_iter):
            if weighting.kind == loops.TYLER and done:
                ellipses.middle = loops.middle_of(self.out, self.weights)
            try:
                self._sweep(ellipses, weighting, pull)
            except np.linalg.LinAlgError:
                return done + 1, float("nan")
            furthest = loops.advance(
                self.sums,
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

    def by_class(self, values: np.ndarray) -> list[np.ndarray]:
        return [values[a:b] for a, b in pairwise(self._edges)]

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._rows, self.weights, self._codes


class Blocks(ByClass):
    """Complete rows, swept by products of matrices, which pay for many columns."""

    def measure(self, ellipses: Ellipses, pull: Pull) -> None:
        for _ in self._whitened(ellipses, np.trace(ellipses.whitened(pull.blur))):
            pass

    def _whitened(
        self, ellipses: Ellipses, beyond: float
    ) -> Iterator[tuple[int, slice, np.ndarray]]:
        """Blocks of rows of one class, whitened and measured: the class, which rows, z."""
        size = block_rows(self._rows.shape[1])
        for k, (begin, end) in enumerate(pairwise(self._edges.tolist())):
            for a in range(begin, end, size):
                mine = slice(a, min(a + size, end))
                z = (self._rows[mine] - ellipses.location[k]) @ ellipses.inverse.T
                np.einsum("ij,ij->i", z, z, out=self.out[mine])
                self.out[mine] += beyond
                yield k, mine, z

    def _sweep(self, ellipses: Ellipses, weighting: Weighting, pull: Pull) -> None:
        around = ellipses.whitened(pull.blur)
        beyond = float(np.trace(around))
        m = self._rows.shape[1]
        for one in self.sums:
            one[:] = 0.0
        scatter, first, pulls, mass_u, mass_v, slopes = self.sums
        for k, mine, z in self._whitened(ellipses, beyond):
            u, v = np.empty(len(z)), np.empty(len(z))
            loops.row_weights(
                self.out[mine],
                self.weights[mine],
                weighting.kind,
                m,
                weighting.parameter,
                weighting.paper,
                weighting.near,
                ellipses.middle,
                beyond,
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
        if beyond > 0.0:
            scatter += mass_u.sum() * around


def laid_out(sample: Sample, n_classes: int, shift: np.ndarray) -> Layout:
    """Rows in the layout that is faster for their number of columns."""
    narrow = sample.rows.shape[1] <= NARROW
    return (Tiles if narrow else Blocks).of(sample, n_classes, shift)
