"""A kernel density of one class: a bump at every point.

    p(x) = 1 / W  sum_i w_i |A| / l_i^D  K(A (x - x_i) / l_i)

W is the weight of all points, A divides by the bandwidth (a number per column, or the inverse root
of the matrix H), and l_i is a factor for each bump, one unless the bandwidth adapts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from bayesrule.distinct import Points
from bayesrule.kernels import below, bumps, lines
from bayesrule.kernels.blocks import map_blocks
from bayesrule.shapes import Shape

#: Points of one leaf: as many as are worth one look at their box.
LEAF = 256
#: From as many points on, sums on a line are taken by expansions where there are few cells.
MANY = 1024

#: Places whose squares may overflow.
BEYOND = 1e150

_NONE = np.empty(0)
_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True)
class BumpSum:
    """A settled kernel density; made by :func:`bump_sum`.

    Attributes
    ----------
    shape : Shape
    product : bool
    points : Points
        Distinct points in the user's units, sorted.
    width : ndarray of shape (D,) or (D, D)
        Bandwidths, or the matrix H in squared units.
    local : ndarray of shape (n,), or empty
        Factor of the bandwidth at each point.
    """

    shape: Shape
    product: bool
    points: Points
    width: np.ndarray
    local: np.ndarray

    @cached_property
    def centre(self) -> np.ndarray:
        """A point amid the others, from which places are told without loss of digits."""
        rows = self.points.rows
        return rows[len(rows) // 2]

    @cached_property
    def inverse(self) -> np.ndarray:
        """What differences are divided by: a number per column, or a triangular matrix."""
        if self.width.ndim == 1:
            return 1.0 / self.width
        return np.linalg.inv(np.linalg.cholesky(self.width))

    @cached_property
    def log_height(self) -> float:
        """Logarithm of the density of a bump of weight one at its centre, per profile."""
        n_columns = self.points.rows.shape[1]
        if self.width.ndim == 1:
            log_shrunk = -float(np.log(self.width).sum())
        else:
            log_shrunk = -0.5 * float(np.linalg.slogdet(self.width)[1])
        return log_shrunk - self.shape.log_volume(n_columns, self.product)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Rows in units of the bandwidth, about the centre."""
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.asarray(rows, np.float64) - self.centre
            if self.inverse.ndim == 1:
                return apart * self.inverse
            places = apart @ self.inverse.T
        # Beyond the largest number; two infinities of opposite signs would make none of it.
        places[np.isnan(places)] = np.inf
        return places

    @cached_property
    def line(self) -> np.ndarray:
        """Places of the points of a single column."""
        return np.ascontiguousarray(self.places(self.points.rows)[:, 0])

    @cached_property
    def leaves(self) -> tuple[np.ndarray, ...]:
        """Order of the points, their places (D, n), weights, narrowness, and boxes of leaves."""
        places = self.places(self.points.rows)
        order, starts = cut_in_leaves(places)
        places = places[order]
        low = np.minimum.reduceat(places, starts[:-1])
        high = np.maximum.reduceat(places, starts[:-1])
        weights = self.points.weights[order]
        narrow, widest = _NONE, np.ones(len(low))
        if self.local.size:
            narrow = 1.0 / self.local[order]
            weights = weights * narrow ** places.shape[1]
            widest = np.minimum.reduceat(narrow, starts[:-1])
        columns = tuple(np.ascontiguousarray(a.T) for a in (places, low, high))
        return order, columns[0], weights, narrow, starts, columns[1], columns[2], widest

    @cached_property
    def cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Expansions on the cells of a line, where they are few for the points there are."""
        rows = self.points.rows
        one = rows.shape[1] == 1 and self.shape.name == "gaussian" and not self.local.size
        if not one or len(rows) < MANY:
            return None
        if not abs(self.line[[0, -1]]).max() < 2.0**52:
            return None
        numbers, moments = lines.cell_moments(self.line, self.points.weights)
        if 2 * len(numbers) > len(rows):
            return None
        targets = lines.near_cells(numbers)
        # An expansion costs as much as thousands of bumps, and as much memory as a dozen points.
        if len(targets) > min(2 * len(rows), len(rows) ** 2 // 5000):
            return None
        return targets, lines.cell_index(targets), lines.expansions(numbers, moments, targets)

    def ready(self) -> BumpSum:
        """The same with all that sums need worked out, so that threads need not."""
        if self.cells is None:
            _ = self.leaves
        return self

    def log_sums(self, places: np.ndarray, own: np.ndarray = _NOBODY) -> np.ndarray:
        """Logarithms of the sums over the bumps, point by point or leaf by leaf."""
        order, points, weights, narrow, starts, low, high, widest = self.leaves
        if own.size:
            where = np.empty(len(order), np.int64)
            where[order] = np.arange(len(order))
            own = where[own]
        out = np.empty(len(places))
        bumps.bump_sums(
            self.shape.code,
            self.product or points.shape[0] == 1,
            np.ascontiguousarray(places),
            own,
            points,
            weights,
            narrow,
            starts,
            low,
            high,
            widest,
            out,
        )
        if not self.product and self.shape.falls_linearly:
            self._far_out(np.asarray(places), out)
        return out

    def _far_out(self, places: np.ndarray, log_sums: np.ndarray) -> None:
        """Where squares of places overflow: all points are as far away as the centre."""
        largest = np.abs(places).max(axis=1, initial=0.0)
        far = np.flatnonzero((largest > BEYOND) & (largest < np.inf))
        if len(far):
            _, _, weights, narrow, *_ = self.leaves
            some = places[far] / largest[far, None]
            distance = largest[far] * np.sqrt(np.einsum("ij,ij->i", some, some))
            widest = narrow.min() if narrow.size else 1.0
            mine = weights[narrow == widest] if narrow.size else weights
            log_sums[far] = np.log(mine.sum()) - widest * distance

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        """Log-density at each row."""
        constant = self.log_height - math.log(self.points.total)
        places = self.places(rows)
        if self.cells is None:
            return self.log_sums(places) + constant
        out = self.on_cells(places, _NONE)
        beyond = np.flatnonzero(np.isnan(out))
        if len(beyond):
            out[beyond] = self.outward(places[beyond], _NOBODY)
        out += constant
        return out

    def on_cells(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Logarithms of the sums by the expansions, NaN where they do not reach."""
        assert self.cells is not None
        out = np.empty(len(places))
        queries = np.ascontiguousarray(places[:, 0])
        lines.sums_on_cells(queries, np.ascontiguousarray(weights), *self.cells, out)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(out, out=out)

    def outward(self, places: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Logarithms of the sums on a line where expansions do not reach."""
        out = np.empty(len(places))
        queries = np.ascontiguousarray(places[:, 0])
        points = self.line, self.points.weights, self.points.total
        lines.log_sums_outward(queries, own, *points, out)
        return out

    def left_out(self, which: np.ndarray | None = None) -> np.ndarray:
        """Log-density at points by all the other points; the weight of a point goes with it."""
        rows, weights = self.points.rows, self.points.weights
        if which is not None:
            rows, weights = rows[which], weights[which]
        places = self.places(rows)
        own = np.arange(len(rows)) if which is None else which
        if self.cells is None:
            sums = self.log_sums(places, own)
        else:
            sums = self.on_cells(places, weights)
            lonely = np.flatnonzero(np.isnan(sums))
            if len(lonely):
                sums[lonely] = self.outward(places[lonely], own[lonely])
        rest = self.points.total - weights
        some = np.where(rest > 0, rest, 1.0)
        return np.where(rest > 0, sums + self.log_height - np.log(some), -np.inf)

    def marginal(self, columns: np.ndarray) -> BumpSum:
        """The density of some of the columns: of a product or a Gaussian, a sum of bumps too."""
        width = self.width[columns] if self.width.ndim == 1 else self.width[columns][:, columns]
        points = Points(self.points.rows[:, columns], self.points.weights)
        return BumpSum(self.shape, self.product, points, width, self.local)

    def distribution(self, values: np.ndarray, above: bool = False) -> np.ndarray:
        """Probability of a value at or below each value, or above it, on a line."""
        with np.errstate(over="ignore"):  # infinitely far out is as good
            places = self.places(np.asarray(values, np.float64)[:, None])[:, 0]
        points, weights, narrow = self.line, self.points.weights, 1.0 / self.local
        if above:  # bumps are symmetric: what lies above is what lies below in the mirror
            places, points = -places, -points[::-1]
            weights, narrow = weights[::-1], narrow[::-1]
        sides = np.ascontiguousarray(points), np.ascontiguousarray(weights)

        def work(start: int, stop: int) -> np.ndarray:
            out = np.empty(stop - start)
            some = np.ascontiguousarray(places[start:stop])
            below.sums_below(self.shape.code, self.shape.reach, some, *sides, narrow, out)
            return out

        return np.concatenate([_NONE, *map_blocks(work, len(places), 1024)]) / self.points.total

    def alone(self, i: int) -> BumpSum:
        """The bump of one point."""
        point = Points(self.points.rows[[i]], self.points.weights[[i]])
        return BumpSum(
            self.shape,
            self.product,
            point,
            self.width,
            self.local[[i]] if self.local.size else _NONE,
        )

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of rows: of a point, then of a place in its bump."""
        rows, weights = self.points.rows, self.points.weights
        chosen = rng.choice(len(rows), n, p=weights / weights.sum())
        moves = self.shape.draw(n, rows.shape[1], self.product, rng)
        if self.local.size:
            moves = moves * self.local[chosen, None]
        if self.width.ndim == 1:
            return rows[chosen] + moves * self.width
        return rows[chosen] + moves @ np.linalg.cholesky(self.width).T

    def adapted(self) -> BumpSum:
        """The same with bumps that are wide where points are sparse (Abramson's square-root law).

        The factor at a point is (p(x_i) / g)^(-1/2), p the density as it is and g its geometric
        mean over the points.
        """
        log_density = self.log_density(self.points.rows)
        centred = log_density - np.average(log_density, weights=self.points.weights)
        local = np.exp(-0.5 * centred)
        return BumpSum(self.shape, self.product, self.points, self.width, local)


def cut_in_leaves(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of the points in which near ones follow each other, and where each leaf begins."""
    n = len(places)
    if places.shape[1] == 1 or n <= LEAF:
        return np.arange(n), np.append(np.arange(0, n, LEAF), n)
    tree = cKDTree(places, leafsize=LEAF)
    starts, waiting = [], [tree.tree]
    while waiting:
        node = waiting.pop()
        if node.split_dim == -1:
            starts.append(node.start_idx)
        else:
            waiting += [node.lesser, node.greater]
    return tree.indices, np.array([*sorted(starts), n])
