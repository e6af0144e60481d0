"""Complete rows laid out for sweeping: in tiles for compiled loops, or in blocks for products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from bayesrule.ellipses import Ellipses, Layout, Pull, Weighting, class_by_class, in_turns
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
        return cls(*class_by_class(sample, n_classes, shift))

    def part(self, k: int) -> Blocks:
        a, b = self._edges[k : k + 2]
        return Blocks(self._rows[a:b], self.weights[a:b], np.array([0, b - a]))

    def measure(self, ellipses: Ellipses, pull: Pull) -> None:
        beyond = np.trace(ellipses.whitened(pull.blur))
        for k, a, b in self._spans():
            z = (self._rows[a:b] - ellipses.location[k]) @ ellipses.inverse.T
            np.einsum("ij,ij->i", z, z, out=self.out[a:b])
        self.out += beyond

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

    def _sweep(self, ellipses: Ellipses, weighting: Weighting, pull: Pull) -> None:
        """Gather what one pass over the rows tells."""
        around = ellipses.whitened(pull.blur)
        beyond = float(np.trace(around))
        m = self._rows.shape[1]
        for one in self.sums:
            one[:] = 0.0
        scatter, first, pulls, mass_u, mass_v, slopes = self.sums
        for k, a, b in self._spans():
            z = (self._rows[a:b] - ellipses.location[k]) @ ellipses.inverse.T
            t = self.out[a:b]
            np.einsum("ij,ij->i", z, z, out=t)
            t += beyond
            u, v = np.empty(b - a), np.empty(b - a)
            loops.row_weights(
                t,
                self.weights[a:b],
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

    def by_class(self, values: np.ndarray) -> list[np.ndarray]:
        return [values[a:b] for a, b in pairwise(self._edges)]

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes = np.repeat(np.arange(len(self._edges) - 1), np.diff(self._edges))
        return self._rows, self.weights, codes


def laid_out(sample: Sample, n_classes: int, shift: np.ndarray) -> Layout:
    """Rows in the layout that is faster for their number of columns."""
    narrow = sample.rows.shape[1] <= NARROW
    return (Tiles if narrow else Blocks).of(sample, n_classes, shift)
