"""Settled histograms: heights of the bins, densities of the tails, draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesrule.addresses import cell_addresses, flattened, levels_at, strides
from bayesrule.decide import log_of
from bayesrule.density import LogDensity
from bayesrule.kernels import histograms as loops
from bayesrule.stats import Sums
from bayesrule.tables import Table


def masses(edges: np.ndarray) -> np.ndarray:
    """How the smoothing is spread over the bins: half of it between the edges."""
    inner = 0.5 * np.diff(edges) / (edges[-1] - edges[0])
    return np.concatenate([[0.25], inner, [0.25]])


def log_volumes(edges: np.ndarray) -> np.ndarray:
    """Logarithms of the widths of the bins; zero for the open ones, which are not flat."""
    return np.concatenate([[0.0], np.log(np.diff(edges)), [0.0]])


def settled_columns(
    all_edges: tuple[np.ndarray, ...], smoothing: float, stats: Sums
) -> HistogramColumnsLaw:
    """Shares of each column's bins, over its own weight."""
    seen = stats.weight > 0
    tables = []
    start = 0
    for edges in all_edges:
        counts = stats.sums[:, start : start + len(edges) + 1]
        start += len(edges) + 1
        total = counts.sum(axis=1, keepdims=True)
        # A class with rows but no value here does as all rows together do.
        counts = np.where(total > 0, counts, counts.sum(axis=0))
        total = counts.sum(axis=1, keepdims=True)
        a = smoothing if total.max() > 0 else 1.0
        shares = (counts + a * masses(edges)) / (total + a)
        log_heights = log_of(shares) - log_volumes(edges)
        log_heights[~seen] = -np.inf
        tables.append(np.ascontiguousarray(log_heights.T))
    return HistogramColumnsLaw(all_edges, tuple(tables), seen)


@dataclass(frozen=True)
class HistogramColumnsLaw(LogDensity):
    """Settled histograms of single columns, independent given the class.

    Attributes
    ----------
    edges : tuple of D ndarrays
    log_heights : tuple of D ndarrays of shape (B_j, K)
        Logarithms of the densities of the bins; of the open ones, of their masses.
    seen : bool ndarray of shape (K,)
    """

    edges: tuple[np.ndarray, ...]
    log_heights: tuple[np.ndarray, ...]
    seen: np.ndarray

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.seen)))
        flat, offset = flattened(self.edges)
        loops.add_levels(table.numbers, flat, offset, np.concatenate(self.log_heights), out)
        return out

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.edges), len(self.seen)))
        for j, (edges, heights) in enumerate(zip(self.edges, self.log_heights, strict=True)):
            values = np.ascontiguousarray(table.numbers[:, [j]])
            part = np.zeros((len(table), len(self.seen)))
            loops.add_levels(values, edges, np.array([0, len(edges)]), heights, part)
            out[:, j] = part
        return np.moveaxis(out, 1, 2)

    def bin_masses(self, column: int = 0) -> np.ndarray:
        """Probabilities (B, K) of the bins of a column, the open ones included."""
        return np.exp(self.log_heights[column] + log_volumes(self.edges[column])[:, None])

    def distribution(self, values: np.ndarray, above: bool = False) -> np.ndarray:
        """Probability of a value of the first column at or below each value, or above it.

        In the first class, as all that is asked of a density alone.
        """
        edges, mass = self.edges[0], self.bin_masses()[:, 0]
        return _mass_below(edges, mass, np.asarray(values, np.float64), above)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of rows of the first class."""
        columns = []
        for j, edges in enumerate(self.edges):
            mass = self.bin_masses(j)[:, 0]
            levels = rng.choice(len(mass), n, p=mass / mass.sum())
            columns.append(_within(edges, levels, rng.random(n)))
        return np.column_stack(columns)


def _mass_below(edges: np.ndarray, mass: np.ndarray, values: np.ndarray, above: bool) -> np.ndarray:
    """Mass of a histogram's bins at or below each value; mirrored, what lies above."""
    if above:
        edges, mass, values = -edges[::-1], mass[::-1], -values
    reach = edges[-1] - edges[0]
    before, beyond = np.maximum(edges[0] - values, 0.0), np.maximum(values - edges[-1], 0.0)
    inside = np.interp(values, edges, np.cumsum(mass[:-1]))
    # The share of a tail that lies beyond a distance d from the edges is reach / (reach + d).
    found: np.ndarray = np.where(
        before > 0,
        mass[0] * reach / (reach + before),
        inside + mass[-1] * beyond / (reach + beyond),
    )
    return found


def _within(edges: np.ndarray, levels: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Values in given bins of a column, at given shares of their mass."""
    reach = edges[-1] - edges[0]
    beyond = reach * shares / np.maximum(1.0 - shares, 1e-300)
    inner = np.clip(levels - 1, 0, len(edges) - 2)
    values = edges[inner] + shares * np.diff(edges)[inner]
    values = np.where(levels == 0, edges[0] - beyond, values)
    found: np.ndarray = np.where(levels == len(edges), edges[-1] + beyond, values)
    return found


@dataclass(frozen=True)
class HistogramLaw(LogDensity):
    """A settled joint histogram.

    Attributes
    ----------
    edges : tuple of D ndarrays
    addresses : ndarray of shape (C,)
        Cells that hold rows, sorted.
    counts : ndarray of shape (K, C)
        Their weights.
    smoothing : float
    """

    edges: tuple[np.ndarray, ...]
    addresses: np.ndarray
    counts: np.ndarray
    smoothing: float

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density."""
        return self.counts.sum(axis=1) > 0

    @property
    def shape(self) -> list[int]:
        """Bins of each column."""
        return [len(edges) + 1 for edges in self.edges]

    def marginal(self, columns: np.ndarray) -> HistogramLaw:
        """The histogram of some of the columns."""
        levels = levels_at(self.addresses, self.shape)[:, columns]
        steps = strides([self.shape[j] for j in columns])
        addresses, place = np.unique(levels @ steps, return_inverse=True)
        counts = np.zeros((len(self.counts), len(addresses)))
        for mine, theirs in zip(counts, self.counts, strict=True):
            mine[:] = np.bincount(place, theirs, len(addresses))
        edges = tuple(self.edges[j] for j in columns)
        return HistogramLaw(edges, addresses, counts, self.smoothing)

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        rows = table.numbers
        if not table.missing:
            return self._complete(rows)
        known = ~np.isnan(rows)
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        out = np.zeros((len(rows), len(self.counts)))
        for p, pattern in enumerate(patterns):
            columns, mine = np.flatnonzero(pattern), np.flatnonzero(which.ravel() == p)
            if len(columns):
                part = np.ascontiguousarray(rows[mine][:, columns])
                out[mine] = self.marginal(columns)._complete(part)
        out[:, ~self.seen] = -np.inf
        return out

    def _complete(self, rows: np.ndarray) -> np.ndarray:
        """Log-densities of rows without gaps."""
        flat, offset = flattened(self.edges)
        shapes = np.concatenate([-log_volumes(edges) for edges in self.edges])
        thin = shapes + np.concatenate([np.log(masses(edges)) for edges in self.edges])
        sums = np.zeros((len(rows), 2))
        loops.add_levels(rows, flat, offset, np.column_stack([shapes, thin]), sums)
        cells = cell_addresses(rows, self.edges)
        place = np.minimum(np.searchsorted(self.addresses, cells), len(self.addresses) - 1)
        held = np.where((self.addresses[place] == cells)[:, None], self.counts.T[place], 0.0)
        totals = self.counts.sum(axis=1)
        with np.errstate(divide="ignore"):
            counted = np.log(held) + sums[:, :1]
            spread = np.log(self.smoothing) + sums[:, 1:]
        out: np.ndarray = np.logaddexp(counted, spread) - np.log(
            np.where(self.seen, totals + self.smoothing, 1.0)
        )
        out[:, ~self.seen] = -np.inf
        return out

    def distribution(self, values: np.ndarray, above: bool = False) -> np.ndarray:
        """Probability of a value of the first column at or below each value, or above it."""
        edges = self.edges[0]
        counts, total = self.counts[0], self.counts[0].sum()
        held = np.bincount(levels_at(self.addresses, self.shape)[:, 0], counts, self.shape[0])
        mass = (held + self.smoothing * masses(edges)) / (total + self.smoothing)
        return _mass_below(edges, mass, np.asarray(values, np.float64), above)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of rows of the first class."""
        counts = self.counts[0]
        share = self.smoothing / (counts.sum() + self.smoothing)
        cells = self.addresses[rng.choice(len(counts), n, p=counts / counts.sum())]
        levels = levels_at(cells, self.shape)
        thin = rng.random(n) < share
        columns = []
        for j, edges in enumerate(self.edges):
            spread = rng.choice(len(edges) + 1, n, p=masses(edges))
            columns.append(_within(edges, np.where(thin, spread, levels[:, j]), rng.random(n)))
        return np.column_stack(columns)
