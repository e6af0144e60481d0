"""Rows around a query: distinct rows with their classes, and what they say of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesrule.decide import log_of
from bayesrule.distinct import sort_rows
from bayesrule.kernels import neighbors as loops
from bayesrule.keys import row_keys
from bayesrule.magnitudes import binary_unit
from bayesrule.metrics import Metric
from bayesrule.nearest import POWERS, Finder
from bayesrule.stats import Sample
from bayesrule.tables import Table

#: Places are told up to this, in each column.
FAR = 1e150

_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True)
class Entries:
    """Who some rows belong to: places of the rows among those asked for, classes and weights."""

    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Neighborhood:
    """Distinct rows that can be searched, and whom they belong to.

    Attributes
    ----------
    rows : ndarray of shape (m, D)
        Distinct rows in the user's units, sorted, or in the order of a search.
    starts : ndarray of shape (m + 1,)
        Row i has the memberships ``starts[i]`` to ``starts[i + 1]``.
    codes, shares : ndarray
        Class and weight of each membership.
    totals : ndarray of shape (K,)
        Weight n_k of each class, before any rows were dropped.
    mapping : Metric or None
        The map after which distances are the metric.
    scale : ndarray of shape (D,) or None
        What columns are multiplied by after that.
    metric : str or function
    centre : ndarray of shape (D,)
        A point amid the rows, from which places are told without loss of digits.
    unit : float
        A power of two that places are multiplied by where squared distances overflowed otherwise,
        or vanished.
    """

    rows: np.ndarray
    starts: np.ndarray
    codes: np.ndarray
    shares: np.ndarray
    totals: np.ndarray
    mapping: Metric | None
    scale: np.ndarray | None
    metric: Any
    centre: np.ndarray
    unit: float = 1.0

    @staticmethod
    def of(
        sample: Sample, totals: np.ndarray, mapping: Metric | None, scale: Any, metric: Any
    ) -> Neighborhood:
        """Distinct rows of a sample; a row's weights in one class are added up."""
        rows, first, order = sort_rows(sample.rows)
        place = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
        pair = place * len(totals) + sample.codes[order]
        pairs, inverse = np.unique(pair, return_inverse=True)
        shares = np.bincount(inverse, sample.weights[order], len(pairs))
        codes = (pairs % len(totals)).astype(np.int64)
        starts = np.searchsorted(pairs // len(totals), np.arange(len(first) + 1))
        rows = rows[first]
        memberships = starts, codes, shares, totals
        found = Neighborhood(rows, *memberships, mapping, scale, metric, rows[len(rows) // 2])
        if not found.measured:
            return found
        size = np.abs(found.mapped(rows)).max()
        if not np.isfinite(size):
            raise ValueError(
                "Input X has numbers that are too large for distances between rows: they overflow. "
                "Divide its columns by a power of ten."
            )
        return replace(found, unit=float(binary_unit(size)))

    @property
    def measured(self) -> bool:
        """Whether distances are taken here, between places, and not by another library."""
        return isinstance(self.metric, str) and self.metric in POWERS

    def mapped(self, rows: np.ndarray) -> np.ndarray:
        """Rows where distances, in the user's units, are the metric."""
        rows = np.asarray(rows, np.float64)
        if self.mapping is not None:
            rows = self.mapping(rows)
        elif self.measured:
            with np.errstate(over="ignore"):  # infinitely far is as good
                rows = rows - self.centre
        return np.ascontiguousarray(rows if self.scale is None else rows * self.scale)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Rows where distances are the metric."""
        found = self.mapped(rows)
        if not self.measured:
            return found
        if self.unit != 1.0:
            found = found * self.unit
        # From so far away all rows are equally far, and squares of more would overflow.
        clipped: np.ndarray = np.clip(found, -FAR, FAR)
        return clipped

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each distinct row."""
        return np.add.reduceat(self.shares, self.starts[:-1])

    @cached_property
    def points(self) -> Finder:
        """The distinct rows, ready to be searched."""
        return Finder(self.places(self.rows), self.weights, self.metric)

    def __len__(self) -> int:
        return len(self.rows)

    def ready(self) -> Neighborhood:
        """The same with its search structure built, and near rows near each other in memory.

        Rows that a query meets then come with one another into the processor's cache, which halves
        the time of a search among millions.
        """
        order = self.points.leaf_order
        if order is None:
            self.points.ready()
            return self
        entries = self.entries_of(order)
        starts = np.searchsorted(entries.rows, np.arange(len(order) + 1))
        found = replace(
            self, rows=self.rows[order], starts=starts, codes=entries.codes, shares=entries.weights
        )
        found.points.ready()
        return found

    def only(self, kept: np.ndarray) -> Neighborhood:
        """Some of the memberships, and the rows that have any."""
        place = np.repeat(np.arange(len(self.rows)), np.diff(self.starts))[kept]
        rows, first = np.unique(place, return_index=True)
        return replace(
            self,
            rows=self.rows[rows],
            starts=np.append(first, len(place)),
            codes=self.codes[kept],
            shares=self.shares[kept],
        )

    def some_places(self, most: int) -> np.ndarray:
        """Places of the rows, or of as many as ``most`` of them, chosen by their values."""
        n = len(self.rows)
        if n <= most:
            return np.arange(n)
        return np.sort(np.argpartition(row_keys(Table(self.rows), 0), most)[:most])

    def entries_of(self, places: np.ndarray) -> Entries:
        """Memberships of some rows."""
        counts = np.diff(self.starts)[places]
        rows = np.repeat(np.arange(len(places)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        entries = self.starts[places][rows] + within
        return Entries(rows, self.codes[entries], self.shares[entries])

    def votes(
        self, queries: np.ndarray, k: float, weighting: Any, own: np.ndarray = _NOBODY
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Votes (n, K), sums of squared votes (n,), and distances of the last neighbours (n,)."""
        votes = np.zeros((len(queries), len(self.totals)))
        squares, reach = np.zeros(len(queries)), np.zeros(len(queries))
        for near in self.points.nearest(queries, k, own):
            mine = own[near.queries] if own.size else own
            part, part_squares = self._count(near, near.reach, k, weighting, mine)
            votes[near.queries], squares[near.queries] = part, part_squares
            reach[near.queries] = near.reach / self.unit
        return votes, squares, reach

    def left_out_votes(
        self,
        asked: np.ndarray,
        numbers: list[float],
        weighting: Any,
        advance: Callable[[float], None],
    ) -> list[np.ndarray]:
        """Votes (m, K) of the others about some of the rows, for several k by one search."""
        queries = self.points.points[asked]
        out = [np.zeros((len(asked), len(self.totals))) for _ in numbers]
        rest = float(self.weights.sum()) - float(self.weights[asked].max())
        numbers = [min(k, rest) for k in numbers]
        for start in range(0, len(asked), 1024):
            own = asked[start : start + 1024]
            block = queries[start : start + 1024]
            for near in self.points.nearest(block, max(numbers), own):
                mine = own[near.queries]
                for k, votes in zip(numbers, out, strict=True):
                    reach = np.empty(len(near.reach))
                    loops.reaches(
                        near.found,
                        near.distance,
                        mine,
                        self.points.weights,
                        k,
                        np.zeros(len(mine)),
                        True,
                        reach,
                    )
                    votes[start + near.queries] = self._count(near, reach, k, weighting, mine)[0]
            advance(len(own))
        return out

    def _count(
        self, near: Any, reach: np.ndarray, k: float, weighting: Any, own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Votes of neighbours that were found."""
        factor = np.empty((0, 0))
        if callable(weighting):
            factor = np.asarray(weighting(near.distance / self.unit), np.float64)
            fine = factor.shape == near.distance.shape and (factor >= 0).all()
            if not (fine and np.isfinite(factor).all()):
                raise ValueError(
                    "Neighbors(weights=...) is a function that must give, for an array of "
                    "distances, an array of its shape of finite numbers from zero up."
                )
        elif weighting == "distance":
            factor = _one_over(near.distance, near.found, own)
        votes = np.zeros((len(reach), len(self.totals)))
        squares = np.zeros(len(reach))
        found = near.found, near.distance, factor, own
        memberships = self.starts, self.codes, self.shares
        loops.count_votes(*found, *memberships, k, reach, votes, squares)
        return votes, squares

    def log_density(self, votes: np.ndarray, smoothing: float) -> np.ndarray:
        """Logarithms of k_k / n_k, up to a term common to a row."""
        seen = self.totals > 0
        if smoothing:
            votes = votes + smoothing * self.totals / self.totals.sum()
        values = log_of(votes) - np.log(np.where(seen, self.totals, 1.0))
        values[:, ~seen] = -np.inf
        return values


def _one_over(distance: np.ndarray, found: np.ndarray, own: np.ndarray) -> np.ndarray:
    """One over the distances, relative to the least; where that is zero only rows there count."""
    seen = distance if not own.size else np.where(found == own[:, None], np.inf, distance)
    least = seen.min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = least / distance
    factor = np.where(least == 0, (distance == 0).astype(float), factor)
    found_factor: np.ndarray = np.where(np.isfinite(factor), factor, 0.0)
    return found_factor
