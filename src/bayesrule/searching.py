"""The whole search for boundaries: levels and coarse places on a sample, then exact places.

1. On a sample, candidates of equal shares. Features take turns; each turn places all boundaries of
   one feature. The curves of worth against the number of levels then tell how the limit is best
   shared out among the features, and the turns begin again, until neither helps.
2. Windows about the boundaries, on the sample and then on all rows, down to single gaps.
3. Once more with the exact boundaries among the candidates: levels that only made up for coarse
   places are given back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from bayesrule.allocation import best_levels
from bayesrule.boundaries import equal_gaps, gaps_between
from bayesrule.boundary_search import (
    Grid,
    Placed,
    Rows,
    Score,
    best_cuts,
    bins_for,
    equal_cuts,
)
from bayesrule.stopwatch import Stopwatch
from bayesrule.zooming import TURNS, Features, take_turns, zoom

#: Rows on which levels are shared out and boundaries found roughly.
SAMPLE = 200_000
#: Rows whose values make the first candidates.
CANDIDATE_ROWS = 50_000
#: How often levels are shared out anew, and windows over all rows are drawn anew, at most.
ROUNDS, PASSES = 8, 4
#: Rows of the sample on each side of a boundary between which it is sought among all rows.
NEAR = 100
#: Shares of a worth that are not worth a change: of the order of the rounding of its sum.
NOTHING = 1e-10


@dataclass(frozen=True)
class Plan:
    """What a search may do.

    Attributes
    ----------
    features : Features
    max_cells : int
    levels : tuple of D ints or None
        Numbers of levels where they are given; None lets the rows tell.
    start : sequence of D arrays or None
        Boundaries to go on from.
    """

    features: Features
    max_cells: int
    levels: tuple[int, ...] | None
    start: Sequence[np.ndarray] | None
    fixed: tuple[np.ndarray | None, ...]


def optimal_boundaries(
    supply: Any, sample: Rows, plan: Plan, score: Score, sample_score: Score, watch: Stopwatch
) -> list[np.ndarray]:
    """Boundaries of every feature for all rows, of which the sample is a part."""
    found = on_sample(sample, plan, sample_score, watch)
    if len(supply) > len(sample) and not watch.over:
        columns = [np.sort(sample.values[:, j]) for j in range(sample.values.shape[1])]
        low, high = _near(columns, found, NEAR)
        found = _settled(supply, found, low, high, plan, score, watch)
    return found


def on_sample(sample: Rows, plan: Plan, score: Score, watch: Stopwatch) -> list[np.ndarray]:
    """Levels and boundaries for the rows of a sample."""
    columns = [_candidate_values(sample, j, plan) for j in range(sample.values.shape[1])]
    found = plan.start
    best: tuple[float, list[np.ndarray]] = (-np.inf, [])
    for again in range(ROUNDS):
        grid = _coarse(sample, columns, found, plan, score)
        chosen = _first_cuts(grid, found, plan)
        before = list(chosen)
        if plan.levels is None:
            share_out(grid, chosen, plan, watch)
        else:
            take_turns(grid, chosen, _anywhere(grid, chosen), watch)
        found = [cuts[places - 1] for cuts, places in zip(grid.cuts, chosen, strict=True)]
        if again and all(map(np.array_equal, before, chosen)):
            return best[1]
        if watch.over:
            return found
        low, high = _beside(grid, chosen)
        found, worth, _ = zoom(sample, found, low, high, plan.features, score, watch)
        told = score.told(worth)
        watch.note(f"sample, round {again + 1}", len(sample), _cells(plan, found), told)
        net = net_worth(score, worth, plan.features.levels(found)) if plan.levels is None else worth
        if net <= best[0] + NOTHING * abs(best[0]):
            return best[1]
        best = net, found
        if watch.over:
            break
    return best[1]


def share_out(grid: Grid, chosen: list[np.ndarray], plan: Plan, watch: Stopwatch) -> None:
    """Levels and cuts, in place: turns and new shares until neither helps."""
    worth, placed = _turns_with_levels(grid, chosen, plan, watch)
    best = net_worth(grid.score, worth, grid.levels(chosen))
    extra = [int(gap) for gap in grid.gaps]
    for _ in range(ROUNDS):
        if watch.over:
            break
        prices = _prices(grid.score, worth, grid.levels(chosen))
        curves = [
            _only(len(places) + 1)
            if found is None
            else found.value - price * np.arange(len(found.value))
            for places, found, price in zip(chosen, placed, prices, strict=True)
        ]
        levels = best_levels(curves, plan.max_cells, extra)
        if all(n == len(c) + 1 for n, c in zip(levels, chosen, strict=True)):
            break
        other = [
            places if found is None else found.cuts(n - 1)
            for places, found, n in zip(chosen, placed, levels, strict=True)
        ]
        worth, placed = _turns_with_levels(grid, other, plan, watch)
        net = net_worth(grid.score, worth, grid.levels(other))
        if net <= best + NOTHING * abs(best):
            break
        best = net
        chosen[:] = other


def _prices(score: Score, worth: float, shape: Sequence[int]) -> list[float]:
    """What a boundary of each feature must be worth."""
    return [score.price(worth, prod(shape) // n) for n in shape]


def net_worth(score: Score, worth: float, shape: Sequence[int]) -> float:
    """What cells are worth, less the prices of their boundaries."""
    prices = _prices(score, worth, shape)
    return worth - sum(p * (n - 1) for p, n in zip(prices, shape, strict=True))


def _only(n_levels: int) -> np.ndarray:
    """The curve of a feature whose levels are given: any other number is out of the question."""
    curve = np.full(n_levels, -np.inf)
    curve[-1] = 0.0
    return curve


def _turns_with_levels(
    grid: Grid, chosen: list[np.ndarray], plan: Plan, watch: Stopwatch
) -> tuple[float, list[Placed | None]]:
    """Turns in which a feature may also take as many levels as the others leave room for.

    Returns what the cuts are worth and, for each feature, the best cuts of every number, the other
    features as they are in the end.
    """
    worth, rested = -np.inf, 0
    curves: list[Placed | None] = [None] * len(chosen)
    movable = [j for j, free in enumerate(grid.free) if free and len(grid.cuts[j])]
    if not movable:
        return take_turns(grid, chosen, _anywhere(grid, chosen), watch), curves
    for turn in range(TURNS * len(movable)):
        j = movable[turn % len(movable)]
        values, missing = grid.stretches(chosen, j)
        placed = best_cuts(values, min(len(grid.cuts[j]), plan.max_cells - 1))
        shape = grid.levels(chosen)
        as_many = float(placed.value[min(len(chosen[j]), len(placed.value) - 1)]) + missing
        price = grid.score.price(max(worth, as_many), prod(shape) // shape[j])
        cost = price * np.arange(len(placed.value))
        net = (placed.value - cost)[: _room(grid, chosen, j, plan)] + missing
        # The fewest levels of those that are worth most.
        n = int(np.argmax(net >= net.max() - NOTHING * abs(net.max())))
        places, now = placed.cuts(n), worth - price * len(chosen[j])
        moved = net[n] > now + NOTHING * abs(net[n]) and not np.array_equal(places, chosen[j])
        if moved:
            chosen[j] = places
            worth = float(net[n] + cost[n])
        else:
            worth = max(worth, as_many)
        curves[j] = placed
        rested = 0 if moved else rested + 1
        if rested >= len(movable) or watch.over:
            break
    return worth, curves


def _room(grid: Grid, chosen: Sequence[np.ndarray], j: int, plan: Plan) -> int:
    """Levels that the limit allows a feature, the others as they are."""
    shape = grid.levels(chosen)
    others = prod(shape[:j] + shape[j + 1 :])
    return max(1, min(len(grid.cuts[j]) + 1, plan.max_cells // others - grid.gaps[j]))


def _first_cuts(grid: Grid, found: Sequence[np.ndarray] | None, plan: Plan) -> list[np.ndarray]:
    """The boundaries found before, else levels of equal shares: as many as the limit allows."""
    if found is not None:
        return [
            np.unique(np.searchsorted(cuts, b, side="right"))
            for cuts, b in zip(grid.cuts, found, strict=True)
        ]
    chosen = [
        np.arange(1, len(cuts) + 1) if not free else np.empty(0, np.int64)
        for cuts, free in zip(grid.cuts, grid.free, strict=True)
    ]
    movable = [j for j, free in enumerate(grid.free) if free and len(grid.cuts[j])]
    if plan.levels is not None:
        for j in movable:
            chosen[j] = equal_cuts(grid, j, plan.levels[j])
        return chosen
    room = plan.max_cells / prod(grid.levels(chosen))
    n_levels = int(room ** (1.0 / max(1, len(movable))) + 1e-9)
    for j in movable:
        if n_levels >= 2:
            chosen[j] = equal_cuts(grid, j, n_levels)
            if prod(grid.levels(chosen)) > plan.max_cells:  # levels of missing values
                chosen[j] = np.empty(0, np.int64)
    return chosen


def _anywhere(grid: Grid, chosen: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ranges of cuts that can be at any place."""
    ranges = []
    for cuts, places, free in zip(grid.cuts, chosen, grid.free, strict=True):
        n = len(places)
        spread = (np.arange(1, n + 1), len(cuts) - np.arange(n)[::-1])
        ranges.append(spread if free else (places, places))
    return ranges


def _candidate_values(sample: Rows, j: int, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values of a feature and their weights, of some rows."""
    step = max(1, len(sample) // CANDIDATE_ROWS)
    values, weights = sample.values[::step, j], sample.weights[::step]
    there = ~np.isnan(values)
    distinct, place = np.unique(values[there], return_inverse=True)
    return distinct.astype(np.float64), np.bincount(place, weights[there], len(distinct))


def _coarse(
    sample: Rows,
    columns: Sequence[tuple[np.ndarray, np.ndarray]],
    found: Sequence[np.ndarray] | None,
    plan: Plan,
    score: Score,
) -> Grid:
    """The sample between candidates of equal shares, and the boundaries found so far."""
    n_features = len(columns)
    cells = plan.max_cells ** (1.0 - 1.0 / n_features)
    n_bins = bins_for(max(1, int(np.count_nonzero(score.weight))), cells)
    cuts = []
    for j, (distinct, counts) in enumerate(columns):
        given = plan.fixed[j]
        if given is not None:
            cuts.append(given)
            continue
        wanted = n_bins if plan.levels is None else max(n_bins, 2 * plan.levels[j])
        gaps = gaps_between(distinct)[equal_gaps(counts, wanted)]
        if found is not None:
            gaps = np.union1d(gaps, found[j])
        cuts.append(gaps)
    return Grid.of(sample, cuts, plan.features.free, plan.features.gaps, score)


def _beside(grid: Grid, chosen: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Windows that reach to the candidates beyond the next ones, or to the ends of the line."""
    low, high = [], []
    for cuts, places, free in zip(grid.cuts, chosen, grid.free, strict=True):
        padded = np.concatenate([[-np.inf] * 2, cuts, [np.inf] * 2]) if free else cuts
        at = places + 1 if free else places - 1
        low.append(padded[at - 2] if free else padded[at])
        high.append(padded[at + 2] if free else padded[at])
    return low, high


def _near(
    columns: Sequence[np.ndarray], boundaries: Sequence[np.ndarray], reach: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Values so many rows of a sorted sample away from the boundaries."""
    low, high = [], []
    for values, cuts in zip(columns, boundaries, strict=True):
        known = values[~np.isnan(values)]
        at = np.searchsorted(known, cuts)
        padded = np.concatenate([[-np.inf], known, [np.inf]])
        low.append(np.minimum(padded[np.maximum(at - reach, 0)], cuts))
        high.append(np.maximum(padded[np.minimum(at + reach, len(known)) + 1], cuts))
    return low, high


def _settled(
    supply: Any,
    boundaries: list[np.ndarray],
    low: list[np.ndarray],
    high: list[np.ndarray],
    plan: Plan,
    score: Score,
    watch: Stopwatch,
) -> list[np.ndarray]:
    """Windows over all rows, drawn anew about boundaries that came to their ends."""
    for _ in range(PASSES):
        found, worth, hit = zoom(supply, boundaries, low, high, plan.features, score, watch)
        watch.note("all rows", len(supply), _cells(plan, found), score.told(worth))
        if watch.over or not any(h.any() for h in hit):
            return found
        low = [b - (c - a) / 2 for a, b, c in zip(low, found, high, strict=True)]
        high = [2 * b - a for a, b in zip(low, found, strict=True)]
        boundaries = found
    return boundaries


def _cells(plan: Plan, boundaries: Sequence[np.ndarray]) -> int:
    return prod(plan.features.levels(boundaries))
