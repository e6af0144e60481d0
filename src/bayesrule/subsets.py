"""The minimum covariance determinant: the mean and covariance of the densest half of the rows.

Subsets are drawn by a fixed seed from the rows in the order of their robust distances, an order
that no affine map of the columns and no order of arrival changes. Each is improved by taking, again
and again, the half of the rows that is nearest by its own mean and covariance (Rousseeuw and Van
Driessen 1999); the best half then tells which rows are no outliers, and those are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import chi2

from bayesrule.ellipses import Pull, Weighting
from bayesrule.groups import Group
from bayesrule.kernels import elliptical as loops
from bayesrule.progress import progress

#: Subsets that are drawn, and how many of them are improved to the end.
DRAWN, KEPT = 60, 4
#: Rows that subsets are drawn from at most.
DRAWN_FROM = 1000
#: Share of Gaussian rows that count as no outliers.
INNER = 0.975
#: Improvements at most; each lowers the determinant.
MOST_STEPS = 100


@dataclass(frozen=True)
class White:
    """Rows in the coordinates in which their covariance is the identity.

    Attributes
    ----------
    rows : ndarray of shape (n, m)
    weights : ndarray of shape (n,)
    codes : ndarray of shape (n,)
        Class of each row, for a scatter of several classes.
    n_classes : int
    pull : Pull
    target, blur : ndarray of shape (m, m)
        What the scatter is pulled towards, and what rows are known up to, in these coordinates.
    """

    rows: np.ndarray
    weights: np.ndarray
    codes: np.ndarray
    n_classes: int
    pull: Pull
    target: np.ndarray
    blur: np.ndarray

    @property
    def half(self) -> float:
        """Weight of the rows that are kept."""
        total = float(self.weights.sum())
        return min(0.5 * (total + self.rows.shape[1] + 1), total)

    def of(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means of the classes and their scatter, from what is kept of each row's weight."""
        weight = np.bincount(self.codes, kept, self.n_classes)
        location = np.zeros((self.n_classes, self.rows.shape[1]))
        np.add.at(location, self.codes, kept[:, None] * self.rows)
        location /= np.where(weight > 0, weight, 1.0)[:, None]
        apart = (self.rows - location[self.codes]) * np.sqrt(kept)[:, None]
        scatter = apart.T @ apart / kept.sum() + self.blur
        share = self.pull.share
        if share > 0.0:
            size = np.trace(np.linalg.solve(self.target, scatter)) / len(scatter)
            scatter = (1.0 - share) * scatter + share * size * self.target
        return location, scatter

    def distances(self, location: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, float]:
        """Squared distances of all rows, and the log-determinant; raises where there is none."""
        factor = np.linalg.cholesky(scatter)
        z = solve_triangular(factor, (self.rows - location[self.codes]).T, lower=True)
        return np.einsum("ij,ij->j", z, z), 2.0 * float(np.log(np.diag(factor)).sum())

    def nearest(self, t: np.ndarray) -> np.ndarray:
        """What is kept of each row's weight if the nearest half is."""
        order = np.argsort(t, kind="stable")
        before = np.cumsum(self.weights[order]) - self.weights[order]
        kept = np.zeros(len(t))
        kept[order] = np.clip(self.half - before, 0.0, self.weights[order])
        return kept

    def improved(self, kept: np.ndarray, steps: int) -> tuple[float, np.ndarray]:
        """The log-determinant after so many improvements, and what is then kept."""
        last = np.inf
        for _ in range(steps):
            t, size = self.distances(*self.of(kept))
            if not size < last - 1e-12:
                break
            last = size
            kept = self.nearest(t)
        return last, kept

    def thinned(self, t: np.ndarray) -> White:
        """Rows at even steps of weight in the order of t; a row that is met twice weighs two."""
        order = np.argsort(t, kind="stable")
        upto = np.cumsum(self.weights[order])
        # Halves, of the weight and of the steps, must not be decided by rounding.
        steps = min(DRAWN_FROM, max(1, round(float(upto[-1]) - 1e-6)))
        at = np.searchsorted(upto, (np.arange(steps) + 0.5 - 1e-6) / steps * upto[-1])
        found, counts = np.unique(at, return_counts=True)
        mine = order[np.minimum(found, len(order) - 1)]
        few = (self.rows[mine], counts.astype(float), self.codes[mine])
        return White(*few, self.n_classes, self.pull, self.target, self.blur)


def densest_half(white: White, t: np.ndarray) -> np.ndarray:
    """What is kept of each row's weight by the subset of the least determinant.

    Parameters
    ----------
    white : White
    t : ndarray of shape (n,)
        Robust squared distances, whose order the subsets are drawn in.
    """
    few = white.thinned(t)  # in the order of t
    # As many rows as a location of each class and a scatter need.
    drawn = few.rows.shape[1] + len(np.unique(white.codes))
    draws = np.random.default_rng(0).random((DRAWN, drawn))
    upto = np.cumsum(few.weights)
    starts = [white.nearest(t)]
    found: list[tuple[float, np.ndarray, np.ndarray]] = []
    with progress("minimum covariance determinant", DRAWN) as meter:
        for draw in draws:
            meter.advance()
            at = np.minimum(np.searchsorted(upto, draw * upto[-1]), len(upto) - 1)
            kept = np.bincount(at, minlength=len(upto)).astype(float)
            location, scatter = few.of(kept)
            try:
                # A subset of few rows may lie in a plane: a little of the whole opens it.
                scatter[np.diag_indices_from(scatter)] += 1e-6
                nearest = few.nearest(few.distances(location, scatter)[0])
                size, kept = few.improved(nearest, 2)
                found.append((size, *few.of(kept)))
            except np.linalg.LinAlgError:
                continue
    found.sort(key=lambda one: one[0])
    starts += [white.nearest(white.distances(*one[1:])[0]) for one in found[:KEPT]]
    improved = [white.improved(start, MOST_STEPS) for start in starts]
    return min(improved, key=lambda one: one[0])[1]


def settle_by_subset(group: Group) -> None:
    """Move a group's ellipses to the minimum covariance determinant."""
    for _ in range(2):
        try:
            _move(group)
            return
        except np.linalg.LinAlgError:
            # More than half of the rows lie in a subspace.
            group.regularise()
    group.settled = False


def _move(group: Group) -> None:
    """Find the densest half, and from it the rows that are no outliers."""
    start, layout = group.ellipses, group.layout
    rows, weights, codes = layout.flat()
    white_rows = (rows - start.location[codes]) @ start.inverse.T
    target = start.whitened(group.typical)
    blur = start.whitened(group.pull.blur)
    white = White(white_rows, weights, codes, len(group.classes), group.pull, target, blur)
    m = rows.shape[1]
    probe = start.copy()
    layout.settle(probe, Weighting(loops.TYLER), group.pull, False, 50, 1e-9)
    layout.measure(probe if probe.sound else start, group.pull)
    t = np.concatenate(layout.by_class(layout.out))
    kept = densest_half(white, t)
    location, scatter = white.of(kept)
    t, _ = white.distances(location, scatter)
    t /= _size(white.half / float(weights.sum()), m)
    inner = np.where(t <= chi2.ppf(INNER, m), weights, 0.0)
    group.kept = (inner > 0).astype(float)
    location, scatter = white.of(inner)
    scatter *= _size(INNER, m)
    factor = np.linalg.cholesky(scatter)
    start.location += location @ start.factor.T
    start.factor = start.factor @ factor
    start.inverse = solve_triangular(factor, start.inverse, lower=True)


def _size(share: float, m: int) -> float:
    """What the covariance of the inner share of Gaussian rows is to be multiplied by."""
    if share >= 1.0:
        return 1.0
    return float(share / chi2.cdf(chi2.ppf(share, m), m + 2))
