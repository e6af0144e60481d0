"""Quantised cells: the search beside the paper's way of it, decisions, and k-smoothing.

Worlds have hidden cells, 6 levels on each of five features. The paper counts all rows anew for
every move of a boundary: what one such evaluation costs is measured here; how many there are,
``Cells(boundaries="paper")`` counts, which makes the very same moves by increments.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import KDTree

from bayesrule import BayesClassifier, Cells, datasets
from bayesrule.smoothing import smooth
from benchmarks.contest import Contest
from benchmarks.jobs import job

LEVELS = (6,) * 5
MILLION = 1_000_000
#: The share of the best possible gain that a rule must reach before its time counts.
ENOUGH = {100_000: 0.98, MILLION: 0.998, 10 * MILLION: 0.9995}


def gain_by_counting(world: Any, boundaries: Any) -> float:
    """One evaluation as the paper does it, in whole arrays: learn on a half, judge on the other."""
    levels = [
        np.searchsorted(b, x, side="right") for b, x in zip(boundaries, world.X.T, strict=True)
    ]
    shape = [len(b) + 1 for b in boundaries]
    cells = np.ravel_multi_index(levels, shape)
    half = len(cells) // 2
    n_cells = int(np.prod(shape))
    tables = [
        np.array([np.bincount(c[y == k], minlength=n_cells) for k in (0, 1)], float)
        for c, y in ((cells[:half], world.y[:half]), (cells[half:], world.y[half:]))
    ]
    learned, judged = (t / t.sum(axis=1, keepdims=True) * world.priors[:, None] for t in tables)
    return float((judged.T * world.gain.T[(learned.T @ world.gain).argmax(axis=1)]).sum())


def as_good(world: Any, n: int) -> Any:
    """The rule of the search must be near the best one; a peer's single gain cannot be."""

    def differ(ours: Any, theirs: Any) -> str:
        share = world.gain_of(ours) / world.optimal_gain
        if share < ENOUGH.get(n, 0.5):
            return f"the rule earns {share:.5f} of the best possible"
        return "" if theirs <= 1.05 * world.optimal_gain else "the peer earns more than is possible"

    return differ


@job(
    "cells, 5 features: whole search beside one evaluation by counting",
    sizes=(100_000, MILLION, 10 * MILLION),
    goals={10 * MILLION: 1 / 12},
    tiny=20_000,
)
def search(n: int) -> Contest:
    world = datasets.make_cells(n, LEVELS)
    clf = BayesClassifier(Cells(), priors=world.priors, gain=world.gain)
    start = [np.arange(1, size) / size for size in LEVELS]
    return Contest(
        partial(clf.fit, world.X, world.y),
        as_good(world, n),
        {"numpy, one evaluation": partial(gain_by_counting, world, start)},
    )


@job("cells, 5 features: predict", sizes=(MILLION, 10 * MILLION), quick=(MILLION,), tiny=20_000)
def predict(n: int) -> Contest:
    world = datasets.make_cells(n, LEVELS)
    clf = BayesClassifier(Cells(levels=LEVELS), priors=world.priors, gain=world.gain)
    clf.fit(world.X[:200_000], world.y[:200_000])
    boundaries, law = clf.density_.boundaries_, clf.log_density_
    table = clf.decisions_[(np.exp(law.lookup) * clf.priors_ @ clf.gain_).argmax(axis=1)]
    shape = [len(b) + 1 for b in boundaries]

    def by_numpy() -> np.ndarray:
        pairs = zip(boundaries, world.X.T, strict=True)
        levels = [np.searchsorted(b, x, side="right") for b, x in pairs]
        return table[np.ravel_multi_index(levels, shape)]

    def differ(ours: np.ndarray, theirs: np.ndarray) -> str:
        wrong = int((ours != theirs).sum())
        return f"{wrong} of {len(ours)} decisions differ" if wrong else ""

    read = world.X.nbytes + 8 * n
    return Contest(partial(clf.predict, world.X), differ, {"numpy": by_numpy}, n_bytes=read)


def by_tree(
    counts: np.ndarray, k: float, squares: list[np.ndarray], volumes: np.ndarray, middles: Any
) -> np.ndarray:
    """k-smoothing with a k-d tree, which is asked for ever more neighbours of the cells left."""
    points = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(len(volumes), -1)
    tree = KDTree(points)
    smoothed = np.zeros_like(counts)
    for own, out in zip(counts, smoothed, strict=True):
        left, n_near = np.arange(len(own)), 8
        while len(left):
            n_near = min(n_near, len(own))
            _, near = tree.query(points[left], n_near)
            near = near.reshape(len(left), -1)
            held = np.cumsum(own[near], axis=1)
            done = (held[:, -1] >= k) | (n_near == len(own))
            last = np.minimum((held < k).sum(axis=1), n_near - 1)
            rows = np.arange(len(left))
            room = np.cumsum(volumes[near], axis=1)[rows, last]
            out[left[done]] = (held[rows, last] / room * volumes[left])[done]
            left, n_near = left[~done], 2 * n_near
        out *= own.sum() / out.sum()
    return smoothed


@job(
    "k-smoothing of cells, 5 features, K=2, k=20",
    sizes=(7776, 100_000),
    quick=(7776,),
    tiny=1000,
)
def smoothing(n: int) -> Contest:
    levels = max(2, round(n ** (1 / 5)))
    rng = np.random.default_rng(0)
    middles = [np.sort(rng.random(levels)) for _ in range(5)]
    squares = [(m[:, None] - m) ** 2 for m in middles]
    volumes = rng.random(levels**5) + 0.1
    counts = rng.poisson(5.0 * rng.random((2, levels**5))).astype(float)

    def differ(ours: np.ndarray, theirs: np.ndarray) -> str:
        apart = float(np.abs(ours - theirs).max() / theirs.max())
        return "" if apart < 1e-9 else f"smoothed counts differ by up to {apart:.2g}"

    return Contest(
        partial(smooth, counts, 20.0, squares, volumes),
        differ,
        {"scipy's k-d tree": partial(by_tree, counts, 20.0, squares, volumes, middles)},
    )
