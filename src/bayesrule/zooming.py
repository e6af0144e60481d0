"""Windows about boundaries, cut finer and finer until every gap between two values was a candidate.

Rows outside of all windows have a settled cell: one pass counts them, and what remains to be moved
between cells are the few rows inside. Each round cuts the windows into candidates of equal shares,
places all boundaries of a feature jointly, and draws the windows closer about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from bayesrule.addresses import flattened, strides
from bayesrule.boundaries import equal_gaps, gaps_between
from bayesrule.boundary_search import Grid, Rows, Score, best_cuts
from bayesrule.kernels import search as loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.stopwatch import Stopwatch

#: Candidates in a window, and how many to each side of the best one the next window reaches.
IN_WINDOW, REACH = 20, 2
#: Rows that are looked at in one call.
BLOCK = 1 << 16
#: How often features take turns at most; they rest after two or three turns.
TURNS = 30
#: Shares of a worth that are rounding.
ROUNDING = 1e-13


class Supply(Protocol):
    """Rows that are read block by block."""

    def __len__(self) -> int: ...

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """Values, and the row, plane and weight of each membership."""
        ...


@dataclass(frozen=True)
class Features:
    """What is fixed about the features.

    Attributes
    ----------
    free : tuple of D bools
        Whether boundaries are sought.
    gaps : tuple of D bools
        Whether missing values have a level of their own.
    """

    free: tuple[bool, ...]
    gaps: tuple[bool, ...]

    def levels(self, boundaries: Sequence[np.ndarray]) -> list[int]:
        """Levels of each feature, that of missing values included."""
        return [len(b) + 1 + gap for b, gap in zip(boundaries, self.gaps, strict=True)]


@dataclass(frozen=True)
class Windows:
    """Where the boundaries of one feature are sought: intervals that do not meet.

    Attributes
    ----------
    low, high : ndarray of shape (I,)
    holds : int ndarray of shape (I,)
        How many boundaries are in each.
    """

    low: np.ndarray
    high: np.ndarray
    holds: np.ndarray

    @classmethod
    def about(cls, low: np.ndarray, high: np.ndarray) -> Windows:
        """One for each boundary; those that meet are one."""
        lows: list[float] = []
        highs: list[float] = []
        holds: list[int] = []
        for a, b in zip(low.tolist(), high.tolist(), strict=True):
            if lows and a <= highs[-1]:
                highs[-1] = max(highs[-1], b)
                holds[-1] += 1
            else:
                lows.append(a)
                highs.append(b)
                holds.append(1)
        return cls(np.array(lows), np.array(highs), np.array(holds, np.int64))

    @property
    def edges(self) -> np.ndarray:
        """Both ends of every interval."""
        return np.column_stack([self.low, self.high]).ravel()

    def level_after(self, gap: bool) -> np.ndarray:
        """Level of a value behind so many edges; of a missing value, the last."""
        behind = np.concatenate([[0], np.cumsum(self.holds)])
        # Behind an odd number of edges a value is inside, and its level is not settled.
        levels = np.repeat(behind, 2)[: 2 * len(self.holds) + 1]
        return np.append(levels, behind[-1] + gap)


def sorted_out(
    supply: Any, windows: Sequence[Windows], features: Features, score: Score
) -> tuple[np.ndarray, Rows]:
    """Counts of the rows whose cell is settled, by plane and cell, and the other rows."""
    edges, offset = flattened([w.edges for w in windows])
    after = np.concatenate(
        [w.level_after(gap) for w, gap in zip(windows, features.gaps, strict=True)]
    )
    shape = [int(w.holds.sum()) + 1 + gap for w, gap in zip(windows, features.gaps, strict=True)]
    steps = strides(shape)
    base = np.zeros((len(score.weight), prod(shape)))

    def work(start: int, stop: int) -> tuple[np.ndarray, ...]:
        values, rows, planes, weights = supply.block(start, stop)
        counts = np.zeros_like(base)
        moving = np.empty(len(rows), np.int64)
        n = loops.sort_out(
            values, rows, planes, weights, edges, offset, after, steps, counts, moving
        )
        moving = moving[:n]
        return counts, values[rows[moving]], planes[moving], weights[moving]

    parts = []
    for counts, *rest in map_blocks(work, len(supply), max(BLOCK, 8 * base.size)):
        base += counts
        parts.append(rest)
    together = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return base, Rows(*together)


def zoom(
    supply: Any,
    boundaries: Sequence[np.ndarray],
    low: Sequence[np.ndarray],
    high: Sequence[np.ndarray],
    features: Features,
    score: Score,
    watch: Stopwatch,
) -> tuple[list[np.ndarray], float, list[np.ndarray]]:
    """Boundaries placed within low and high, what they are worth, and which of them hit an end."""
    found = [np.asarray(b, np.float64) for b in boundaries]
    hit = [np.zeros(len(b), bool) for b in found]
    windows = [
        Windows.about(a, b) if free else Windows.about(c, c)
        for a, b, c, free in zip(low, high, found, features.free, strict=True)
    ]
    base, moving = sorted_out(supply, windows, features, score)
    while True:
        candidates = [
            Candidates.of(moving.values[:, j], moving.weights, w, b, free)
            for j, (w, b, free) in enumerate(zip(windows, found, features.free, strict=True))
        ]
        grid = Grid.of(
            moving,
            [c.cuts for c in candidates],
            features.free,
            features.gaps,
            score,
            base=base,
            home=tuple(c.home(gap) for c, gap in zip(candidates, features.gaps, strict=True)),
        )
        chosen = [c.chosen for c in candidates]
        ranges = [c.ranges for c in candidates]
        worth = take_turns(grid, chosen, ranges, watch)
        found = [c.cuts[places - 1] for c, places in zip(candidates, chosen, strict=True)]
        for j, (first, last) in enumerate(ranges):
            if features.free[j]:
                hit[j] |= (chosen[j] == first) | (chosen[j] == last)
        if watch.over or all(c.complete for c in candidates):
            return found, worth, hit
        windows = [
            Windows.about(*c.about(places)) for c, places in zip(candidates, chosen, strict=True)
        ]
        more, moving = sorted_out(moving, windows, features, score)
        base = base + more


def take_turns(
    grid: Grid,
    chosen: list[np.ndarray],
    ranges: Sequence[tuple[np.ndarray, np.ndarray]],
    watch: Stopwatch,
) -> float:
    """Move the cuts of one feature after the other, in place, until none moves; their worth."""
    worth, rested = -np.inf, 0
    movable = [j for j, free in enumerate(grid.free) if free and len(chosen[j])]
    if not movable:
        values, missing = grid.stretches(chosen, 0, (chosen[0], chosen[0]))
        return float(best_cuts(values, len(chosen[0]), (chosen[0], chosen[0])).value[-1]) + missing
    for turn in range(TURNS * len(movable)):
        j = movable[turn % len(movable)]
        values, missing = grid.stretches(chosen, j, ranges[j])
        placed = best_cuts(values, len(chosen[j]), ranges[j])
        places, total = placed.cuts(len(chosen[j])), float(placed.value[-1]) + missing
        # Sums over another feature's stretches differ by rounding.
        better = total > worth + ROUNDING * abs(total)
        moved = better and not np.array_equal(places, chosen[j])
        worth = max(worth, total)
        if moved:
            chosen[j] = places
        rested = 0 if moved else rested + 1
        if rested >= len(movable) or watch.over:
            break
    return worth


@dataclass(frozen=True)
class Candidates:
    """Candidates for the boundaries of one feature.

    Attributes
    ----------
    cuts : increasing ndarray
    chosen : int ndarray
        Places of the present boundaries; place p is that of ``cuts[p - 1]``.
    ranges : two int ndarrays
        First and last place of each boundary.
    windows : Windows
    first : int ndarray
        How many candidates lie before each window.
    complete : bool
        Whether no gap between two values was left out.
    """

    cuts: np.ndarray
    chosen: np.ndarray
    ranges: tuple[np.ndarray, np.ndarray]
    windows: Windows
    first: np.ndarray
    complete: bool

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        weights: np.ndarray,
        windows: Windows,
        boundaries: np.ndarray,
        free: bool,
    ) -> Candidates:
        """Gaps between the values in each window, of equal shares where there are many."""
        if not free:
            places = np.arange(1, len(boundaries) + 1)
            before = np.arange(len(boundaries))
            return cls(boundaries, places, (places, places), windows, before, True)
        cuts: list[np.ndarray] = []
        firsts: list[int] = []
        chosen, lows, highs = [], [], []
        n, start, complete = 0, 0, True
        for low, high, holds in zip(windows.low, windows.high, windows.holds, strict=True):
            mine = boundaries[start : start + holds]
            start += holds
            inside = (values >= low) & (values < high)
            distinct, place = np.unique(values[inside], return_inverse=True)
            counts = np.bincount(place, weights[inside], len(distinct))
            ends = np.concatenate([[low], gaps_between(distinct), [high]])
            gap = np.minimum(np.searchsorted(distinct, mine), len(ends) - 1)
            picked = np.arange(len(ends))
            if len(ends) > IN_WINDOW * holds:
                complete = False
                picked = 1 + equal_gaps(counts, IN_WINDOW * holds)
                picked = np.unique(np.concatenate([[0, len(ends) - 1], picked, gap]))
            picked = picked[np.isfinite(ends[picked])]  # nothing lies beyond
            firsts.append(n)
            at = _apart(np.searchsorted(picked, gap), len(picked))
            chosen.append(n + 1 + at)
            # Each boundary leaves room for those before and after it.
            lows.append(n + 1 + np.arange(holds))
            highs.append(n + len(picked) - np.arange(holds)[::-1])
            cuts.append(ends[picked])
            n += len(picked)
        none = np.empty(0, np.int64)
        at, first, last = (np.concatenate([none, *parts]) for parts in (chosen, lows, highs))
        together = np.concatenate([np.empty(0), *cuts])
        return cls(together, at, (first, last), windows, np.array(firsts, np.int64), complete)

    def home(self, gap: bool) -> np.ndarray:
        """A bin in each level, for rows outside of the windows; of missing values, the last."""
        homes = np.zeros(int(self.windows.holds.sum()) + 1, np.int64)
        behind = np.cumsum(self.windows.holds)
        if len(behind):
            homes[behind] = np.append(self.first[1:], len(self.cuts))
        return np.append(homes, len(self.cuts) + 1) if gap else homes

    def about(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of windows about the chosen places, within the present ones."""
        if self.complete and np.array_equal(self.ranges[0], self.ranges[1]):
            return self.cuts, self.cuts
        which = np.repeat(np.arange(len(self.first)), self.windows.holds)
        first = self.first[which]
        last = np.append(self.first[1:], len(self.cuts))[which] - 1
        low = np.maximum(places - 1 - REACH, first)
        high = np.minimum(places - 1 + REACH, last)
        return self.cuts[low], self.cuts[high]


def _apart(places: np.ndarray, n: int) -> np.ndarray:
    """Places made different, where boundaries had come to lie in one gap."""
    found = places.copy()
    for i in range(1, len(found)):
        found[i] = max(found[i], found[i - 1] + 1)
    for i in range(len(found) - 1, -1, -1):
        found[i] = min(found[i], n - (len(found) - i))
    return found
