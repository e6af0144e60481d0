"""Rows around a query: distinct rows with their classes, and what they say of the query."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta

from bayesrule.decide import log_of
from bayesrule.density import LogDensity
from bayesrule.distinct import sort_rows
from bayesrule.kernels import neighbors as loops
from bayesrule.keys import row_keys
from bayesrule.metrics import Metric
from bayesrule.nearest import POWERS, Finder
from bayesrule.shapes import log_ball
from bayesrule.stats import Sample
from bayesrule.tables import Table

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
        Distinct rows in the user's units, sorted.
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
    """

    rows: np.ndarray
    starts: np.ndarray
    codes: np.ndarray
    shares: np.ndarray
    totals: np.ndarray
    mapping: Metric | None
    scale: np.ndarray | None
    metric: Any

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
        return Neighborhood(rows[first], starts, codes, shares, totals, mapping, scale, metric)

    @cached_property
    def centre(self) -> np.ndarray:
        """A point amid the rows, from which places are told without loss of digits."""
        return self.rows[len(self.rows) // 2]

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Rows where distances are the metric."""
        rows = np.asarray(rows, np.float64)
        if self.mapping is not None:
            rows = self.mapping(rows)
        elif isinstance(self.metric, str) and self.metric in POWERS:
            rows = rows - self.centre
        return np.ascontiguousarray(rows if self.scale is None else rows * self.scale)

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
        """The same with its search structure built."""
        self.points.ready()
        return self

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
            reach[near.queries] = near.reach
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
            factor = np.asarray(weighting(near.distance), np.float64)
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


@dataclass(frozen=True)
class NeighborsLaw(LogDensity):
    """Settled nearest neighbours.

    Attributes
    ----------
    around : Neighborhood
        Its ``rows`` are the distinct rows that were kept.
    k : float
    weighting : "uniform", "distance" or function
    smoothing : float
    thinning : Thinned or None
        What editing and condensing did.
    """

    around: Neighborhood
    k: float
    weighting: Any
    smoothing: float
    thinning: Any = None

    @property
    def block_rows(self) -> int | None:  # type: ignore[override]
        """Blocks for threads where a tree is searched; matrix products use all threads at once."""
        return 0 if self.around.points.by_tree else None

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density."""
        return self.around.totals > 0

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        queries = self.around.places(table.numbers)
        votes, _, _ = self.around.votes(queries, self.k, self.weighting)
        return self.around.log_density(votes, self.smoothing)

    def absolute_log_density(self, table: Table) -> np.ndarray:
        """Logarithms of the densities k_k / (n_k V), shape (n, K); infinite where V is zero."""
        assert table.numbers is not None
        votes, _, reach = self.around.votes(self.around.places(table.numbers), self.k, "uniform")
        n_columns = self.around.rows.shape[1]
        log_volume = n_columns * log_of(reach) + self.log_unit_ball()
        return self.around.log_density(votes, 0.0) - log_volume[:, None]

    def log_unit_ball(self) -> float:
        """Logarithm of the volume, in the user's units, of a ball of radius one."""
        around = self.around
        d = around.rows.shape[1]
        power = POWERS.get(around.metric) if isinstance(around.metric, str) else None
        matrix = np.ones(d) if around.mapping is None else around.mapping.matrix
        if power is None or (matrix.ndim == 2 and matrix.shape[0] != matrix.shape[1]):
            raise ValueError(
                f"A ball of the metric {around.metric!r} has no volume that is known; use "
                "'euclidean', 'manhattan', 'chebyshev', 'standardised' or 'within'."
            )
        shrunk = np.log(np.abs(matrix)).sum() if matrix.ndim == 1 else np.linalg.slogdet(matrix)[1]
        if around.scale is not None:
            shrunk = shrunk + log_of(around.scale).sum()
        unit = d * math.log(2.0)
        if power == 2:
            unit = log_ball(d)
        elif power == 1:
            unit -= float(gammaln(d + 1.0))
        return float(unit - shrunk)

    def posterior_interval(self, table: Table, priors: np.ndarray, level: float) -> np.ndarray:
        """Lower and upper bounds (n, K, 2) of the posteriors; see the classifier's method."""
        assert table.numbers is not None
        queries = self.around.places(table.numbers)
        votes, squares, _ = self.around.votes(queries, self.k, self.weighting)
        totals = self.around.totals
        worth = np.where(totals > 0, priors / np.where(totals > 0, totals, 1.0), 0.0)
        whole = votes.sum(axis=1, keepdims=True)
        share = votes / np.where(whole > 0, whole, 1.0)
        # As many equal votes as would tell as much.
        n = np.where(squares > 0, whole[:, 0] ** 2 / np.where(squares > 0, squares, 1.0), 0.0)[
            :, None
        ]
        tail = 0.5 * (1.0 - level)
        low = beta.ppf(tail, share * n + 0.5, (1.0 - share) * n + 0.5)
        high = beta.ppf(1.0 - tail, share * n + 0.5, (1.0 - share) * n + 0.5)
        low, high = np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)
        # What a vote for any other class is worth, there or, where there is none, on the whole.
        others = (share @ worth)[:, None] - share * worth
        beyond = 1.0 - share
        usual = worth @ totals - worth * totals
        rest = totals.sum() - totals
        usual = np.divide(usual, rest, out=np.zeros_like(usual), where=rest > 0)
        other = np.where(beyond > 1e-12, others / np.where(beyond > 1e-12, beyond, 1.0), usual)
        bounds = np.stack([low, high], axis=2)
        mine = worth[:, None] * bounds
        both = mine + other[:, :, None] * (1.0 - bounds)
        found: np.ndarray = np.divide(mine, both, out=np.zeros_like(mine), where=both > 0)
        return found
