"""Boundaries placed exactly: block-coordinate dynamic programming, from coarse to fine.

The worth of a table of cells is a sum over cells, so with the boundaries of all other features
fixed it is a sum over the stretches between the boundaries of one feature:

    W(b_1 < ... < b_m)   =   w(b_0, b_1) + w(b_1, b_2) + ... + w(b_m, b_{m+1})

A dynamic programme over pairs of candidates places all m of them jointly and optimally, for every m
at once. Features take turns until nothing moves. The first candidates are some equal shares of a
sample; then windows about the boundaries are cut finer and finer, up to every gap between two
values of all rows. Rows that no window holds are counted once and never looked at again.

A stretch is worth minus the Brier score (or the gain) of its rows, each judged by the other rows of
its cell, or by those of the other half of a split: resubstitution would want every cell smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from bayesrule.addresses import flattened, strides
from bayesrule.boundaries import equal_gaps
from bayesrule.density import Rule
from bayesrule.kernels import search as loops
from bayesrule.kernels.blocks import map_blocks

#: Multiply-adds that the table of one feature may take, which bounds the number of its bins.
WORK = 3e7
FEWEST_BINS, MOST_BINS = 24, 256
#: Bits of the whole numbers that counts are weighed by: their sums stay exact in float64.
BITS = 40
#: Worths that differ by less than this share of the largest are equal.
TIE = 1e-12


@dataclass(frozen=True)
class Score:
    """What a stretch of cells is worth.

    Attributes
    ----------
    kind : int
        One of the kinds of :mod:`bayesrule.kernels.search`.
    weight : ndarray of shape (P,)
        Worth of a row of each plane: prior over rows, as whole numbers.
    priors : ndarray of shape (K,)
    gain : ndarray of shape (K, A)
    total : float
        Weight of all rows, which worths are divided by to be told.
    rows : float
        How many rows there are.
    """

    kind: int
    weight: np.ndarray
    priors: np.ndarray
    gain: np.ndarray
    total: float
    rows: float

    @classmethod
    def of(cls, objective: str, totals: np.ndarray, rule: Rule, halves: bool) -> Score:
        """The score of rows whose planes weigh ``totals``."""
        priors = np.tile(rule.priors, 2 if halves else 1)
        share = np.divide(priors, totals, out=np.zeros(len(totals)), where=totals > 0)
        brier = objective == "brier"
        if halves:
            kind = loops.SPLIT_BRIER if brier else loops.SPLIT_GAIN
        else:
            kind = loops.LEFT_OUT_BRIER if brier else loops.LEFT_OUT_GAIN
        weight = np.rint(share * 2.0**BITS)
        gain = np.ascontiguousarray(rule.gain, np.float64)
        known = np.asarray(rule.priors, np.float64)
        return cls(kind, weight, known, gain, float(weight @ totals), float(totals.sum()))

    def of_sample(self, totals: np.ndarray) -> Score:
        """The same score of some rows, whose planes weigh ``totals``."""
        halves = len(self.weight) > len(self.priors)
        brier = self.kind in (loops.LEFT_OUT_BRIER, loops.SPLIT_BRIER)
        rule = Rule(self.priors, self.gain)
        return Score.of("brier" if brier else "gain", totals, rule, halves)

    def price(self, worth: float, others: int) -> float:
        """What a boundary must be worth where it cuts through so many cells of the other features.

        Judging rows by others pays for the shares that are estimated, but not for the choice among
        n places: the best of them is worth more than none even where nothing is to be found. With
        cells whose losses vary by v it exceeds the mean by some 2 sqrt(c v^2 log n) + 2 v log n,
        the law of a maximum of chi-squares.
        """
        if self.total <= 0:
            return 0.0
        log_n = np.log(max(self.rows, 2.0))
        largest = float(self.weight.max())
        if self.kind in (loops.LEFT_OUT_GAIN, loops.SPLIT_GAIN):
            stake = float((self.gain.max(axis=1) - self.gain.min(axis=1)).max())
            return largest * stake * log_n
        most = 1.0 - 1.0 / max(2, int(np.count_nonzero(self.priors)))
        mean = min(most, max(0.0, -self.told(worth)))
        return float(largest * 2.0 * (np.sqrt(others * mean * most * log_n) + most * log_n))

    def told(self, worth: float) -> float:
        """A worth per row: a mean gain, or minus a mean Brier score."""
        return worth / self.total if self.total > 0 else 0.0


@dataclass(frozen=True)
class Rows:
    """Rows of numbers with the plane (class, and half of a split) and the weight of each."""

    values: np.ndarray
    planes: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.planes)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """Values, and the row, plane and weight of each membership."""
        span = slice(start, stop)
        return self.values[span], np.arange(stop - start), self.planes[span], self.weights[span]

    def take(self, places: np.ndarray) -> Rows:
        return Rows(self.values[places], self.planes[places], self.weights[places])


@dataclass(frozen=True)
class Grid:
    """Rows in the bins between candidates, and what is already settled.

    Attributes
    ----------
    cuts : tuple of D increasing ndarrays
        Candidates.
    free : tuple of D bools
        Features whose boundaries are sought; of the others every candidate is a boundary.
    gaps : tuple of D bools
        Features with missing values, which have a level of their own, the last.
    codes : uint16 ndarray of shape (n, D)
        Bins of the rows.
    planes, weights : ndarray of shape (n,)
    score : Score
    base : ndarray of shape (P, T_1 * ... * T_D) or None
        Counts of settled rows by their levels.
    home : tuple of D int ndarrays or None
        A bin of each feature that lies in each of its levels, for the settled rows.
    """

    cuts: tuple[np.ndarray, ...]
    free: tuple[bool, ...]
    gaps: tuple[bool, ...]
    codes: np.ndarray
    planes: np.ndarray
    weights: np.ndarray
    score: Score
    base: np.ndarray | None = None
    home: tuple[np.ndarray, ...] | None = None

    @classmethod
    def of(cls, rows: Rows, cuts: Sequence[np.ndarray], *rest: Any, **settled: Any) -> Grid:
        """Rows put into bins."""
        codes = np.empty(rows.values.shape, np.uint16)
        flat, offset = flattened(cuts)

        def work(start: int, stop: int) -> None:
            loops.code_values(rows.values[start:stop], flat, offset, codes[start:stop])

        for _ in map_blocks(work, len(rows), 1 << 15):
            pass
        free, gaps, score = rest
        return cls(tuple(cuts), free, gaps, codes, rows.planes, rows.weights, score, **settled)

    def levels(self, chosen: Sequence[np.ndarray]) -> list[int]:
        """Levels of each feature, that of missing values included."""
        return [len(places) + 1 + gap for places, gap in zip(chosen, self.gaps, strict=True)]

    def stretches(
        self,
        chosen: Sequence[np.ndarray],
        j: int,
        ranges: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, float]:
        """Worth (B + 1, B + 1) of all stretches of bins of feature j, and of its missing values.

        Where cuts have ``ranges`` (first and last places) only the stretches they need.
        """
        shape = self.levels(chosen)
        others = shape[:j] + shape[j + 1 :]
        steps = np.insert(strides(others), j, 0) if others else np.zeros(1, np.int64)
        n_bins = len(self.cuts[j]) + 1
        part = np.zeros((len(shape), max(map(len, self.cuts)) + 2), np.int64)
        for i, places in enumerate(chosen):
            bins = np.arange(len(self.cuts[i]) + 1)
            part[i, : len(bins)] = np.searchsorted(places, bins, side="right") * steps[i]
            part[i, len(bins)] = (shape[i] - 1) * steps[i]  # where values are missing
        table = np.zeros((n_bins + self.gaps[j], len(self.score.weight), prod(others)))
        loops.count_bins(self.codes, self.planes, self.weights, part, j, table)
        if self.base is not None and self.home is not None:
            # The addresses before, of and after feature j: numpy's arrays have few axes.
            apart = self.base.reshape(-1, prod(shape[:j]), shape[j], prod(shape[j + 1 :]))
            settled = np.moveaxis(apart, 2, 0).reshape(shape[j], *table.shape[1:])
            np.add.at(table, self.home[j], settled)
        below = np.zeros((n_bins + 1, *table.shape[1:]))
        np.cumsum(table[:n_bins], axis=0, out=below[1:])
        worth = self._worth(below, _needed(n_bins, ranges))
        if not self.gaps[j]:
            return worth, 0.0
        alone = np.stack([np.zeros_like(table[0]), table[n_bins]])
        return worth, float(self._worth(alone, np.ones((2, 2), bool))[0, 1])

    def _worth(self, below: np.ndarray, needed: np.ndarray) -> np.ndarray:
        """Worth of stretches, found by several threads."""
        worth = np.full(needed.shape, -np.inf)
        score = self.score

        def work(start: int, stop: int) -> None:
            rest = (score.weight, score.priors, score.gain, needed, start, stop, worth)
            loops.segment_values(below, score.kind, *rest)

        for _ in map_blocks(work, len(needed) - 1, max(1, len(needed) // 16)):
            pass
        return worth


def _needed(n_bins: int, ranges: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
    """Which stretches lie between two places that cuts can be at, or an end."""
    if ranges is None:
        return np.ones((n_bins + 1, n_bins + 1), bool)
    needed = np.zeros((n_bins + 1, n_bins + 1), bool)
    firsts = [0, *ranges[0].tolist(), n_bins]
    lasts = [0, *ranges[1].tolist(), n_bins]
    for n in range(len(firsts) - 1):
        needed[firsts[n] : lasts[n] + 1, firsts[n + 1] : lasts[n + 1] + 1] = True
    return needed


@dataclass(frozen=True)
class Placed:
    """The best cuts of each number.

    Attributes
    ----------
    value : ndarray of shape (n_cuts + 1,)
        The best sum of stretches with 0, 1, ..., ``n_cuts`` cuts.
    choice : int ndarray of shape (n_cuts + 1, B + 1)
        Place of the cut before each place.
    """

    value: np.ndarray
    choice: np.ndarray

    def cuts(self, n: int) -> np.ndarray:
        """Places of the best n cuts."""
        places, at = np.empty(n, np.int64), self.choice.shape[1] - 1
        for cut in range(n, 0, -1):
            at = places[cut - 1] = self.choice[cut, at]
        return places


def best_cuts(
    worth: np.ndarray, n_cuts: int, ranges: tuple[np.ndarray, np.ndarray] | None = None
) -> Placed:
    """Cuts between bins that make the sum of the stretches' worths greatest."""
    n_bins = len(worth) - 1
    first, last = ranges or (np.ones(n_cuts, np.int64), np.full(n_cuts, n_bins - 1))
    value = np.empty(n_cuts + 1)
    choice = np.zeros((n_cuts + 1, n_bins + 1), np.int64)
    finite = worth[np.isfinite(worth)]
    # Sums of the same losses in another order differ by rounding: such are ties.
    tie = TIE * float(np.abs(finite).max(initial=0.0))
    loops.place_cuts(worth, first, last, tie, value, choice)
    return Placed(value, choice)


def equal_cuts(grid: Grid, j: int, n_levels: int) -> np.ndarray:
    """Places of cuts between levels of nearly equal shares."""
    n_bins = len(grid.cuts[j]) + 1
    counts = np.bincount(grid.codes[:, j], grid.weights, n_bins + 1)[:n_bins]
    return equal_gaps(counts, n_levels) + 1


def bins_for(n_planes: int, n_cells: float) -> int:
    """How many bins a feature may have where the other features make so many cells."""
    return int(np.clip(np.sqrt(WORK / (n_planes * n_cells)), FEWEST_BINS, MOST_BINS))
