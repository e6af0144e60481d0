"""Worlds whose best rule is known exactly, to judge how near a fitted rule comes to it.

In a world of hidden cells, rows of class k are spread evenly over each cell of a hidden grid:

    p(x | k)   =   t_kc / v_c                      x in cell c of volume v_c
    optimum    =   sum_c max_d sum_k prior_k t_kc gain[k, d]

In a smooth world the features are independent given the class, each with a density that waves about
one, so that the log-likelihood ratio is a sum whose law is a convolution.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from scipy.signal import fftconvolve

from bayesrule.addresses import cell_addresses, levels_at

#: Narrowest hidden level, as a share of what equal levels would have.
NARROWEST = 0.12
#: How strongly smooth densities wave about one.
HEIGHT = 0.9
#: Points on which a smooth density is summed, and steps of its log-likelihood ratio.
POINTS, STEPS = 1 << 18, 1 << 16
#: Boxes whose decisions are asked for at a time.
BATCH = 1 << 16


@dataclass(frozen=True)
class World(ABC):
    """Rows of a world, and what is known of it.

    Attributes
    ----------
    X : ndarray of shape (n, D), in [0, 1)
    y : integer ndarray of shape (n,)
    priors : ndarray of shape (K,)
        Chances of the classes where rules are used; the classes of the rows have ``shares``.
    gain : ndarray of shape (K, A)
    shares : ndarray of shape (K,)
    """

    X: np.ndarray
    y: np.ndarray
    priors: np.ndarray
    gain: np.ndarray
    shares: np.ndarray

    @property
    @abstractmethod
    def optimal_gain(self) -> float:
        """Expected gain of the best of all rules."""

    @abstractmethod
    def densities(self, X: np.ndarray) -> np.ndarray:
        """p(x | k) of rows, shape (n, K)."""

    @abstractmethod
    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """More rows, and their classes."""

    @abstractmethod
    def _box_grid(self, boundaries: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Edges on each feature between which all densities of a box are known."""

    @abstractmethod
    def _box_masses(self, edges: list[np.ndarray], addresses: np.ndarray) -> np.ndarray:
        """P(box | k) of boxes by their addresses, shape (n, K)."""

    def gain_of(self, rule: Any, boundaries: Sequence[np.ndarray] | None = None) -> float:
        """Exact expected gain of a rule that decides alike within cells.

        Parameters
        ----------
        rule : fitted classifier
            Its decisions are the columns of the world's gain: those of ``rule.decisions_`` in their
            order, or else their places.
        boundaries : sequence of D increasing arrays, default=None
            Boundaries between which the rule decides alike; None takes those it was fitted with,
            ``rule.density_.boundaries_``.
        """
        cuts = rule.density_.boundaries_ if boundaries is None else boundaries
        edges = self._box_grid(cuts)
        middles = [0.5 * (e[1:] + e[:-1]) for e in edges]
        shape = [len(m) for m in middles]
        total = 0.0
        for start in range(0, prod(shape), BATCH):
            addresses = np.arange(start, min(start + BATCH, prod(shape)))
            levels = levels_at(addresses, shape)
            at = np.column_stack([m[level] for m, level in zip(middles, levels.T, strict=True)])
            decided = _decided(rule, at)
            worth = self.priors * self._box_masses(edges, addresses)
            total += float(np.sum(worth * self.gain.T[decided]))
        return total

    def estimated_gain(self, rule: Any, n: int = 1_000_000, seed: int = 1) -> tuple[float, float]:
        """Expected gain of any rule on n new rows, and its standard error.

        Each row counts with the chances of its classes, not with the one that was drawn.
        """
        X, _ = self.draw(n, seed)
        joint = self.densities(X)
        worth = self.priors * joint / (joint @ self.shares)[:, None]
        decided = _decided(rule, X)
        gains = np.sum(worth * self.gain.T[decided], axis=1)
        return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(n))


def _decided(rule: Any, X: np.ndarray) -> np.ndarray:
    """Places of a rule's decisions about some rows."""
    decided = np.asarray(rule.predict(X))
    names = getattr(rule, "decisions_", None)
    if names is None:
        return decided.astype(np.intp)
    place = {name: i for i, name in enumerate(names.tolist())}
    return np.fromiter(map(place.__getitem__, decided.tolist()), np.intp, len(decided))


@dataclass(frozen=True)
class CellWorld(World):
    """A world of hidden cells.

    Attributes
    ----------
    boundaries : tuple of D ndarrays
    table : ndarray of shape (K, C)
        P(cell | k), cells by their addresses.
    decimals : int or None
        To how many decimals the features are known.
    """

    boundaries: tuple[np.ndarray, ...]
    table: np.ndarray
    decimals: int | None = None

    @property
    def shape(self) -> list[int]:
        """Hidden levels of each feature."""
        return [len(b) + 1 for b in self.boundaries]

    @cached_property
    def _edges(self) -> list[np.ndarray]:
        return [np.concatenate([[0.0], b, [1.0]]) for b in self.boundaries]

    @property
    def optimal_gain(self) -> float:
        joint = self.priors[:, None] * self.table
        return float((joint.T @ self.gain).max(axis=1).sum())

    def _volumes(self, edges: list[np.ndarray], addresses: np.ndarray) -> np.ndarray:
        levels = levels_at(addresses, [len(e) - 1 for e in edges])
        widths = [np.diff(e)[level] for e, level in zip(edges, levels.T, strict=True)]
        volumes: np.ndarray = np.prod(widths, axis=0)
        return volumes

    def densities(self, X: np.ndarray) -> np.ndarray:
        volumes = self._volumes(self._edges, np.arange(prod(self.shape)))
        return (self.table / volumes).T[cell_addresses(X, self.boundaries)]

    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(n, (self.shares[:, None] * self.table).ravel())
        n_cells = self.table.shape[1]
        drawn = np.repeat(np.arange(self.table.size), counts)
        rng.shuffle(drawn)
        y, cells = np.divmod(drawn, n_cells)
        X = np.empty((n, len(self.boundaries)))
        rest = cells
        for j in range(len(self.boundaries) - 1, -1, -1):
            rest, level = np.divmod(rest, self.shape[j])
            edges = self._edges[j]
            X[:, j] = edges[level] + rng.random(n) * np.diff(edges)[level]
        if self.decimals is not None:
            # Cut off, not rounded: no value may cross into the next cell.
            scale = 10.0**self.decimals
            np.floor(X * scale + 1e-7, out=X)
            X /= scale
        return X, y

    def _box_grid(self, boundaries: Sequence[np.ndarray]) -> list[np.ndarray]:
        found = []
        for mine, theirs in zip(self._edges, boundaries, strict=True):
            inside = np.asarray(theirs, float)
            if self.decimals is not None:
                # All that matters of a boundary is between which two values it lies.
                scale = 10.0**self.decimals
                inside = np.unique(np.ceil(inside * scale - 1e-6) / scale)
            found.append(np.union1d(mine, inside[(inside > 0.0) & (inside < 1.0)]))
        return found

    def _box_masses(self, edges: list[np.ndarray], addresses: np.ndarray) -> np.ndarray:
        levels = levels_at(addresses, [len(e) - 1 for e in edges])
        middles = [0.5 * (e[1:] + e[:-1])[lev] for e, lev in zip(edges, levels.T, strict=True)]
        return self.densities(np.column_stack(middles)) * self._volumes(edges, addresses)[:, None]


@dataclass(frozen=True)
class SmoothWorld(World):
    """A world of two classes whose features wave: 1 ± h cos(pi (m x + s)) on each feature.

    Attributes
    ----------
    waves : ndarray of shape (D,)
        Half waves m of each feature, whole numbers.
    shifts : ndarray of shape (D,)
    """

    waves: np.ndarray
    shifts: np.ndarray

    def _wave(self, j: int, x: np.ndarray) -> np.ndarray:
        """Densities (2, ...) of one feature."""
        swing = HEIGHT * np.cos(np.pi * (self.waves[j] * x + self.shifts[j]))
        level = self._level[j]
        return np.array([(1.0 + swing) / level[0], (1.0 - swing) / level[1]])

    @cached_property
    def _level(self) -> np.ndarray:
        """Integrals (D, 2) over the feature, of no more than odd numbers of half waves."""
        whole = np.pi * self.waves
        area = HEIGHT * (np.sin(whole + np.pi * self.shifts) - np.sin(np.pi * self.shifts)) / whole
        return np.column_stack([1.0 + area, 1.0 - area])

    def _below(self, j: int, x: np.ndarray) -> np.ndarray:
        """Probabilities (2, n) of a value below x, on one feature."""
        whole, start = np.pi * self.waves[j], np.pi * self.shifts[j]
        area = HEIGHT * (np.sin(whole * x + start) - np.sin(start)) / whole
        return np.array([(x + area) / self._level[j, 0], (x - area) / self._level[j, 1]])

    @cached_property
    def _optimum(self) -> float:
        """Over the law of the log-likelihood ratio, class by class."""
        points = (np.arange(POINTS) + 0.5) / POINTS
        reach = 1.05 * sum(np.abs(self._ratio(j, points)).max() for j in range(len(self.waves)))
        step = 2.0 * reach / STEPS
        laws: list[Any] = [None, None]
        for j in range(len(self.waves)):
            ratio, densities = self._ratio(j, points) / step, self._wave(j, points) / POINTS
            low = int(np.floor(ratio.min()))
            below = np.floor(ratio).astype(int)
            beyond = ratio - below
            for k in (0, 1):
                size = int(below.max()) - low + 2
                # Shared between two steps so that its mean stays.
                mass = np.bincount(below - low, densities[k] * (1.0 - beyond), size)
                mass += np.bincount(below - low + 1, densities[k] * beyond, size)
                laws[k] = mass if laws[k] is None else np.maximum(fftconvolve(laws[k], mass), 0.0)
        joint = self.priors[:, None] * np.array(laws)
        return float((joint.T @ self.gain).max(axis=1).sum())

    def _ratio(self, j: int, x: np.ndarray) -> np.ndarray:
        one, other = self._wave(j, x)
        ratio: np.ndarray = np.log(other / one)
        return ratio

    @property
    def optimal_gain(self) -> float:
        return self._optimum

    def densities(self, X: np.ndarray) -> np.ndarray:
        parts = [self._wave(j, column) for j, column in enumerate(X.T)]
        together: np.ndarray = np.prod(parts, axis=0).T
        return together

    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < self.shares[1]).astype(np.int64)
        points = np.linspace(0.0, 1.0, POINTS + 1)
        X = np.empty((n, len(self.waves)))
        for j in range(len(self.waves)):
            below = self._below(j, points)
            share = rng.random(n)
            for k in (0, 1):
                X[y == k, j] = np.interp(share[y == k], below[k], points)
        return X, y

    def _box_grid(self, boundaries: Sequence[np.ndarray]) -> list[np.ndarray]:
        inner = [np.asarray(b, float) for b in boundaries]
        return [np.concatenate([[0.0], b[(b > 0.0) & (b < 1.0)], [1.0]]) for b in inner]

    def _box_masses(self, edges: list[np.ndarray], addresses: np.ndarray) -> np.ndarray:
        levels = levels_at(addresses, [len(e) - 1 for e in edges])
        masses = np.ones((2, len(addresses)))
        for j, level in enumerate(levels.T):
            masses *= np.diff(self._below(j, edges[j]), axis=1)[:, level]
        return masses.T


def make_cells(
    n: int,
    levels: Sequence[int] = (6, 6, 6, 6, 6),
    seed: int = 0,
    *,
    priors: Any = (0.4, 0.6),
    gain: Any = ((1.0, -1.0), (-2.0, 3.0)),
    shares: Any = None,
    mixing: float = 0.05,
    decimals: int | None = None,
    smooth: bool = False,
) -> CellWorld | SmoothWorld:
    """Rows of a random world whose best rule is known.

    Parameters
    ----------
    n : int
    levels : sequence of D ints
        Hidden levels of the features; unequal ones, such as (3, 4, 6, 9, 12), are a test of how
        levels are shared out. In a smooth world, half waves of the features.
    seed : int
    priors : K numbers that sum to one
        Chances of the classes where rules are used.
    gain : array of shape (K, A)
    shares : K numbers that sum to one, default=None
        Chances of the classes in the rows; None is equal ones.
    mixing : float > 0
        How mixed the classes are within the hidden cells: the parameter of the Dirichlet law that
        their shares are drawn from. The default leaves the best rule wrong in 3 to 4 % of the rows.
    decimals : int, default=None
        To how many decimals the features are known.
    smooth : bool
        Whether densities wave smoothly; of two classes.

    Examples
    --------
    >>> from bayesrule import datasets
    >>> world = datasets.make_cells(1000, (2, 3), seed=1)
    >>> world.X.shape, [len(b) for b in world.boundaries]
    ((1000, 2), [1, 2])
    >>> 0.0 < world.optimal_gain <= 0.4 * 1 + 0.6 * 3
    True
    """
    rng = np.random.default_rng([7, seed])
    priors, gain = np.asarray(priors, float), np.asarray(gain, float)
    n_classes = len(priors)
    shares = np.full(n_classes, 1.0 / n_classes) if shares is None else np.asarray(shares, float)
    nobody = np.empty((0, len(levels))), np.empty(0, np.int64)
    known = (*nobody, priors, gain, shares)
    if gain.shape[0] != n_classes or shares.shape != priors.shape:
        raise ValueError(
            f"gain {gain.shape} and shares {shares.shape} are not of {n_classes} classes."
        )
    world: CellWorld | SmoothWorld
    if smooth:
        if n_classes != 2:
            raise ValueError(f"A smooth world has two classes, not {n_classes}.")
        world = SmoothWorld(*known, np.asarray(levels, float), rng.random(len(levels)) * 2.0)
    else:
        boundaries = tuple(_cuts(rng, int(size), decimals) for size in levels)
        edges = [np.concatenate([[0.0], b, [1.0]]) for b in boundaries]
        volumes = np.ones(1)
        for e in edges:
            volumes = np.multiply.outer(volumes, np.diff(e)).ravel()
        mixed = rng.dirichlet(np.full(n_classes, mixing), len(volumes)).T * volumes
        table = mixed / mixed.sum(axis=1, keepdims=True)
        world = CellWorld(*known, boundaries, table, decimals)
    X, y = world.draw(n, seed)
    return replace(world, X=X, y=y)


def _cuts(rng: np.random.Generator, n_levels: int, decimals: int | None) -> np.ndarray:
    """Random boundaries in (0, 1), none too near to another."""
    widths = NARROWEST / n_levels + (1.0 - NARROWEST) * rng.dirichlet(np.ones(n_levels))
    cuts: np.ndarray = np.cumsum(widths)[:-1]
    return cuts if decimals is None else np.round(cuts, decimals)
