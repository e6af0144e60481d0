"""The paper's search: random moves of single boundaries, then a check of moves in order.

A move of a boundary is kept where it improves the gain, on the judging half of the rows, of the
decisions by the learning half. After ``PATIENCE`` moves in a row without an improvement every
boundary is tried at ``POINTS`` even places; an improvement there goes back to the random moves, and
a check without one ends the search.

The paper counts all rows anew for every move. Here a move takes only the rows between the old and
the new place to another cell, and only the two slices beside the boundary are decided anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.addresses import flattened, strides
from bayesrule.boundary_search import Rows, Score
from bayesrule.kernels import cells as cell_loops
from bayesrule.kernels import moves as loops
from bayesrule.stopwatch import Stopwatch
from bayesrule.zooming import Features

PATIENCE = 100
POINTS = 11


@dataclass
class Moves:
    """Boundaries, the cells of all rows under them, and their gain; moved in place."""

    rows: Rows
    boundaries: list[np.ndarray]
    features: Features
    score: Score
    tried: int = 0

    def __post_init__(self) -> None:
        values = self.rows.values
        shape = self.features.levels(self.boundaries)
        self.shape, self.steps = shape, strides(shape)
        gap_level = np.where(self.features.gaps, np.array(shape) - 1, -1)
        flat, offset = flattened(self.boundaries)
        self.addresses = np.zeros(len(values), np.int64)
        block = np.ascontiguousarray(values)
        cell_loops.add_addresses(block, flat, offset, self.steps, gap_level, self.addresses)
        self.table = np.zeros((int(np.prod(shape)), len(self.score.weight)))
        np.add.at(self.table, (self.addresses, self.rows.planes), self.rows.weights)
        # Missing values come last, and no boundary reaches them.
        self.columns = [np.ascontiguousarray(column) for column in values.T]
        self.orders = [np.argsort(column).astype(np.int32) for column in self.columns]
        self.known = [int(np.sum(~np.isnan(column))) for column in self.columns]
        self.ends = [
            (column[order[0]], column[order[known - 1]]) if known else (0.0, 0.0)
            for column, order, known in zip(self.columns, self.orders, self.known, strict=True)
        ]
        self.by_priors = int(np.argmax(self.score.priors @ self.score.gain))
        self.gain = self._gain(0, 0, shape[0] - 1)

    def _gain(self, j: int, first: int, last: int) -> float:
        score = self.score
        gain: float = loops.gain_of_slices(
            self.table,
            score.weight,
            score.gain,
            self.by_priors,
            first,
            last,
            self.steps[j],
            self.shape[j],
        )
        return gain

    def reach(self, j: int, at: int) -> tuple[float, float]:
        """Half way to the boundaries before and after, or to the ends of the rows."""
        cuts = self.boundaries[j]
        before = cuts[at - 1] if at else self.ends[j][0]
        after = cuts[at + 1] if at + 1 < len(cuts) else self.ends[j][1]
        return 0.5 * (before + cuts[at]), 0.5 * (cuts[at] + after)

    def try_at(self, j: int, at: int, place: float) -> bool:
        """Move a boundary, and back where that is no improvement."""
        self.tried += 1
        before = self._gain(j, at, at + 1)
        was, now = (
            loops.rows_below(self.columns[j], self.orders[j], self.known[j], value)
            for value in (self.boundaries[j][at], place)
        )
        self._shift(j, was, now)
        gain = self.gain + (self._gain(j, at, at + 1) - before)
        if gain > self.gain:
            self.gain = gain
            self.boundaries[j][at] = place
            return True
        self._shift(j, now, was)
        return False

    def _shift(self, j: int, was: int, now: int) -> None:
        """Rows that a boundary passes go down a level where it rises, and up where it falls."""
        step = -self.steps[j] if now > was else self.steps[j]
        loops.shift_rows(
            self.orders[j],
            min(was, now),
            max(was, now),
            step,
            self.addresses,
            self.rows.planes,
            self.rows.weights,
            self.table,
        )


def perturbed_boundaries(
    rows: Rows,
    start: Sequence[np.ndarray],
    features: Features,
    score: Score,
    watch: Stopwatch,
    seed: int,
) -> list[np.ndarray]:
    """Boundaries after random moves and checks, until a check finds nothing."""
    moves = Moves(rows, [np.array(cuts, np.float64) for cuts in start], features, score)
    rng = np.random.default_rng(seed)
    movable = [j for j, free in enumerate(features.free) if free and len(moves.boundaries[j])]
    n_cells = len(moves.table)

    def note(what: str) -> None:
        watch.note(what, len(rows), n_cells, score.told(2.0 * moves.gain), moves.tried)

    note("start")
    while movable and not watch.over:
        _random_moves(moves, movable, rng, watch)
        note("random moves")
        improved = _checked(moves, movable, watch)
        note("check")
        if not improved:
            break
    return moves.boundaries


def _random_moves(
    moves: Moves, movable: list[int], rng: np.random.Generator, watch: Stopwatch
) -> None:
    """Moves of random boundaries to random places, until none was an improvement for long."""
    failures = 0
    while failures < PATIENCE and not watch.over:
        j = movable[rng.integers(len(movable))]
        at = int(rng.integers(len(moves.boundaries[j])))
        failures = 0 if moves.try_at(j, at, rng.uniform(*moves.reach(j, at))) else failures + 1


def _checked(moves: Moves, movable: list[int], watch: Stopwatch) -> bool:
    """Even places for every boundary in order; whether one of the first to improve did."""
    for j in movable:
        for at in range(len(moves.boundaries[j])):
            tries: Any = np.linspace(*moves.reach(j, at), POINTS)
            improved = [moves.try_at(j, at, place) for place in tries]
            if any(improved):
                return True
            if watch.over:
                return False
    return False
