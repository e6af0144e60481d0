"""The nearest of weighted points, by whichever library finds them fastest in so many columns.

A k-d tree (scipy's) halves space where there are few columns; where there are many, no tree passes
anything over, and all distances are taken block by block as matrix products (scikit-learn's). Both
only propose candidates: distances are then measured anew, and more candidates are asked for until
all that tie with the last neighbour are among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import NearestNeighbors

from bayesrule.kernels import neighbors as loops

#: Columns up to which a tree is faster than all distances.
TREE_COLUMNS = 15
#: Columns up to which a tree of few points is.
TREE_FEW_COLUMNS = 30
#: Points that count as few.
FEW = 20_000
#: Points of a leaf: more are passed over faster where they lie together in memory.
LEAF = 24
#: Candidates beyond k, whose order rounding may have changed.
MARGIN = 4
#: Candidates of one block of queries.
PER_BLOCK = 1 << 20
#: Powers of the metrics whose distances are measured anew, as compiled loops know them.
POWERS = {"euclidean": 2, "manhattan": 1, "chebyshev": 0}

_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True)
class Nearby:
    """Candidates of some queries, sorted by distance, and how far the neighbours reach.

    Attributes
    ----------
    queries : slice or ndarray
        Which of the queries.
    found : ndarray of shape (m, c)
        Places of the candidates.
    distance : ndarray of shape (m, c)
    reach : ndarray of shape (m,)
        Distance of the last neighbour: within it lies the weight that was asked for.
    """

    queries: Any
    found: np.ndarray
    distance: np.ndarray
    reach: np.ndarray


@dataclass(frozen=True)
class Finder:
    """Points that can be searched.

    Attributes
    ----------
    points : ndarray of shape (n, D)
    weights : ndarray of shape (n,)
    metric : str or function
        "euclidean", "manhattan", "chebyshev", or what scikit-learn knows as a metric.
    """

    points: np.ndarray
    weights: np.ndarray
    metric: Any

    def __getstate__(self) -> dict[str, Any]:
        # A tree is quickly built again, and not every format can keep one.
        return {"points": self.points, "weights": self.weights, "metric": self.metric}

    @property
    def power(self) -> int | None:
        """The metric as compiled loops know it; None where they do not."""
        return POWERS.get(self.metric) if isinstance(self.metric, str) else None

    @property
    def by_tree(self) -> bool:
        """Whether a tree is faster than all distances."""
        n, n_columns = self.points.shape
        most = TREE_FEW_COLUMNS if n <= FEW or self.metric != "euclidean" else TREE_COLUMNS
        return self.power is not None and n_columns <= most

    @cached_property
    def tree(self) -> Any:
        """What finds the candidates."""
        if self.by_tree:
            return cKDTree(self.points, LEAF, balanced_tree=False, compact_nodes=False)
        return NearestNeighbors(algorithm="brute", metric=self.metric).fit(self.points)

    @cached_property
    def largest(self) -> float:
        """Largest squared norm: searches by matrix products err by a share of it."""
        return float(np.einsum("ij,ij->i", self.points, self.points).max())

    @property
    def leaf_order(self) -> np.ndarray | None:
        """An order of the points in which those of a leaf follow each other; None without a tree.

        A tree of few points fits the cache whatever their order.
        """
        if not self.by_tree or len(self.points) <= FEW:
            return None
        order: np.ndarray = self.tree.indices
        return order

    def ready(self) -> Finder:
        """The same with all that a search needs, so that threads need not build it."""
        _ = self.tree, self.largest
        return self

    def nearest(self, queries: np.ndarray, k: float, own: np.ndarray = _NOBODY) -> Iterator[Nearby]:
        """Neighbours of a total weight k of every query, in parts of bounded memory.

        ``own`` tells for each query the place of a point that it does not see, or is empty.
        """
        n = len(self.points)
        usual = float(np.median(self.weights)) if n else 1.0
        first = int(min(np.ceil(k / max(usual, k / n)), n)) + 1 + len(own[:1])
        waiting = [(self._visited(queries), first + (0 if self.by_tree else MARGIN))]
        while waiting:
            which, n_found = waiting.pop()
            n_found = min(n_found, n)
            size = max(PER_BLOCK // n_found, 1)
            unsure = []
            for start in range(0, len(which), size):
                some = which[start : start + size]
                part = self._candidates(queries[some], n_found, k, own[some] if own.size else own)
                sure = ~np.isnan(part.reach)
                if sure.all():
                    yield Nearby(some, part.found, part.distance, part.reach)
                    continue
                unsure.append(some[~sure])
                if sure.any():
                    parts = (part.found[sure], part.distance[sure], part.reach[sure])
                    yield Nearby(some[sure], *parts)
            if unsure and n_found == n:
                raise ValueError(f"The metric {self.metric!r} gives distances that are no numbers.")
            if unsure:
                waiting.append((np.concatenate(unsure), 2 * n_found + 8))

    def _visited(self, queries: np.ndarray) -> np.ndarray:
        """The order in which queries are asked: near ones, which meet the same leaves, together."""
        n, n_columns = queries.shape
        if n < 2 or not self.by_tree or len(self.points) <= FEW:
            return np.arange(n)
        bits = max(min(16, 62 // n_columns), 1)
        codes = np.empty(n, np.int64)
        loops.interleaved(queries[:, :62], queries.min(axis=0), queries.max(axis=0), bits, codes)
        return np.argsort(codes, kind="stable")

    def _candidates(self, queries: np.ndarray, n_found: int, k: float, own: np.ndarray) -> Nearby:
        """The nearest points of some queries; their reach is NaN where they are too few."""
        m, n = len(queries), len(self.points)
        distance = np.empty((m, n_found))
        if n_found == n:
            found = np.tile(np.arange(n), (m, 1))
            slack = np.zeros(m)
            if self.power is None:
                distance[:] = np.concatenate(
                    list(pairwise_distances_chunked(queries, self.points, metric=self.metric))
                )
        elif self.by_tree:
            p = {2: 2.0, 1: 1.0, 0: np.inf}[POWERS[self.metric]]
            _, found = self.tree.query(queries, np.arange(1, n_found + 1), p=p)
            slack = np.zeros(m)
        else:
            distance, found = self.tree.kneighbors(queries, n_found)
            norms = np.einsum("ij,ij->i", queries, queries)
            slack = 1e-13 * (norms + self.largest) if self.metric == "euclidean" else np.zeros(m)
        found = np.ascontiguousarray(found, np.int64)
        if self.power is None:
            order = np.argsort(distance, axis=1, kind="stable")
            distance = np.take_along_axis(distance, order, axis=1)
            found = np.take_along_axis(found, order, axis=1)
        else:
            loops.measure(np.ascontiguousarray(queries), self.points, self.power, found, distance)
        reach = np.empty(m)
        loops.reaches(found, distance, own, self.weights, k, slack, n_found == n, reach)
        return Nearby(slice(None), found, distance, reach)
