"""Profiles that are the cells of a grid: every column cut into levels, every combination a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from bayesrule.addresses import cell_addresses
from bayesrule.around import check_whole
from bayesrule.boundaries import (
    checked_boundaries,
    entropy,
    equal_probability_boundaries,
    levels_by_entropy,
    uniform_boundaries,
)
from bayesrule.density import check_memory
from bayesrule.keys import row_keys
from bayesrule.memberships import Memberships
from bayesrule.partitions import HardPartition
from bayesrule.profiles import Profiles
from bayesrule.progress import progress
from bayesrule.tables import Table

#: Levels of the fine quantisation that entropies are taken of.
FINE = 256
#: Levels that one column may get where the classes choose them.
MOST_LEVELS = 64
#: Rows that tell what a level is worth; the boundaries themselves come from all rows.
ENOUGH_ROWS = 20_000


@dataclass(frozen=True)
class GridCells(HardPartition):
    """Cells of a grid, by their linear addresses.

    Attributes
    ----------
    boundaries : tuple of D increasing arrays
        A boundary belongs to the level above it.
    """

    boundaries: tuple[np.ndarray, ...]

    @property
    def n_profiles(self) -> int:
        return prod(len(cuts) + 1 for cuts in self.boundaries)

    @property
    def n_columns(self) -> int:
        return len(self.boundaries)

    def codes(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        return cell_addresses(table.numbers, self.boundaries)


class CellProfiles(Profiles):
    """Cells of a grid over all columns.

    Parameters
    ----------
    max_cells : int
        Most cells there may be.
    levels : {"classes", "entropy"}, int, or sequence of D ints
        Levels of each column. "classes" gives a further level to the column in which it tells most
        about the classes, for its price in cells, while any tells something: columns that tell
        nothing get one, and so do those that tell something only beside others. "entropy" goes by
        the columns' own entropies, whatever they tell.
    boundaries : {"equal", "uniform"} or sequence of D increasing lists
        Levels of equal probability, of equal width, or your own boundaries; ``levels`` does not
        matter for these.

    Attributes
    ----------
    partition_ : GridCells
        The boundaries.

    Notes
    -----
    Boundaries that are searched for, so that decisions gain most, are those of ``Cells``.

    Examples
    --------
    >>> from bayesrule import CellProfiles
    >>> profiles = CellProfiles(levels=2).fit([[0.0, 0.0], [1.0, 5.0], [2.0, 6.0], [3.0, 9.0]])
    >>> [cuts.tolist() for cuts in profiles.partition_.boundaries]
    [[1.5], [5.5]]
    >>> profiles.predict([[0.0, 9.0], [9.0, 0.0]])
    array([1, 2])
    """

    hard: ClassVar[bool] = True

    def __init__(self, max_cells: int = 1000, levels: Any = "classes", boundaries: Any = "equal"):
        self.max_cells = max_cells
        self.levels = levels
        self.boundaries = boundaries

    @property
    def needs_classes(self) -> bool:
        chosen = isinstance(self.levels, str) and self.levels == "classes"
        return chosen and isinstance(self.boundaries, str)

    def learn(self, table: Table, memberships: Memberships) -> GridCells:
        check_whole(self, max_cells=1)
        values = np.asarray(table.numbers, np.float64)
        rows, _, weights = memberships.entries()
        of_row = np.bincount(rows, weights, len(values))
        if isinstance(self.boundaries, str) and self.boundaries in ("equal", "uniform"):
            columns = list(values.T)
            levels = self._stated_levels(columns, of_row)
            if levels is None:
                levels = self._telling_levels(*_some(table, memberships))
            cuts = [self._cut(column, n, of_row) for column, n in zip(columns, levels, strict=True)]
        else:
            cuts = list(checked_boundaries(self.boundaries, values.shape[1]))
        n_cells = prod(len(found) + 1 for found in cuts)
        if n_cells > self.max_cells:
            raise ValueError(
                f"CellProfiles makes {n_cells} cells of levels {[len(c) + 1 for c in cuts]}, more "
                f"than max_cells={self.max_cells}. Give fewer levels, or allow more cells."
            )
        check_memory(8 * n_cells * memberships.n_classes, f"{n_cells} cells", "Allow fewer cells.")
        return GridCells(tuple(np.ascontiguousarray(found) for found in cuts))

    def _cut(self, column: np.ndarray, n_levels: int, weights: np.ndarray) -> np.ndarray:
        """Boundaries between some levels of a column."""
        if self.boundaries == "equal":
            return equal_probability_boundaries(column, n_levels, weights)
        return uniform_boundaries(float(column.min()), float(column.max()), n_levels)

    def _stated_levels(self, columns: list[np.ndarray], weights: np.ndarray) -> Any:
        """Levels that need no classes; None where the classes choose them."""
        levels, n_columns = self.levels, len(columns)
        if isinstance(levels, str):
            if levels == "classes":
                return None
            if levels == "entropy":
                bits = [
                    entropy(np.bincount(_level_of(column, FINE), weights, FINE))
                    for column in columns
                ]
                return levels_by_entropy(bits, int(self.max_cells))
        if isinstance(levels, Integral) and not isinstance(levels, bool):
            levels = [levels] * n_columns
        listed = isinstance(levels, (Sequence, np.ndarray)) and not isinstance(levels, str)
        whole = listed and all(isinstance(n, (int, np.integer)) and n >= 1 for n in levels)
        if not whole or len(levels) != n_columns:
            raise ValueError(
                f"CellProfiles(levels={self.levels!r}) is not known; use 'classes', 'entropy', a "
                f"whole number from 1 on, or one for each of the {n_columns} columns."
            )
        return [int(n) for n in levels]

    def _telling_levels(self, table: Table, memberships: Memberships) -> list[int]:
        """Levels by what they tell about the classes, for their price on a logarithmic scale."""
        columns = list(np.asarray(table.numbers, np.float64).T)
        rows, codes, weights = memberships.entries()
        of_row = np.bincount(rows, weights, len(table))
        most = min(int(self.max_cells), MOST_LEVELS)
        steps = [n for n in range(1, most + 1) if n < 9 or n % 4 == 0 or n == most]
        n_classes = int(codes.max()) + 1
        told = np.zeros((len(columns), len(steps)))
        with progress("levels of the columns", told.size) as meter:
            for j, column in enumerate(columns):
                for s, n_levels in enumerate(steps):
                    cuts = self._cut(column, n_levels, of_row)
                    cells = np.searchsorted(cuts, column, side="right")[rows] * n_classes + codes
                    joint = np.bincount(cells, weights, (len(cuts) + 1) * n_classes)
                    told[j, s] = _information(joint.reshape(-1, n_classes))
                    meter.advance()
        # Of equally telling numbers of levels the fewest are best, and no more may tell less.
        at = [0] * len(columns)
        while True:
            cells = prod(steps[s] for s in at)
            best, step = 0.0, None
            for j, s in enumerate(at):
                for further in range(s + 1, len(steps)):
                    if cells // steps[s] * steps[further] > self.max_cells:
                        break
                    price = np.log(steps[further] / steps[s])
                    worth = (told[j, further] - told[j, s]) / price
                    if worth > best:
                        best, step = worth, (j, further)
            if step is None:
                return [steps[s] for s in at]
            at[step[0]] = step[1]


def _some(table: Table, memberships: Memberships) -> tuple[Table, Memberships]:
    """All rows, or as many as tell what a level is worth, chosen by their values."""
    if len(table) <= ENOUGH_ROWS:
        return table, memberships
    chosen = np.sort(np.argpartition(row_keys(table, 0), ENOUGH_ROWS)[:ENOUGH_ROWS])
    return table.take(chosen), memberships.take(chosen)


def _level_of(column: np.ndarray, n_levels: int) -> np.ndarray:
    """Level of each value among levels of equal width."""
    cuts = uniform_boundaries(float(column.min()), float(column.max()), n_levels)
    return np.searchsorted(cuts, column, side="right")


def _information(joint: np.ndarray) -> float:
    """Bits that levels tell about the classes, less what chance alone would seem to tell.

    Of N rows of independent levels and classes, 2 N ln 2 times the information is chi-squared: its
    mean is taken off by the entropies' correction, and two of its standard deviations here.
    """
    levels, classes = joint.sum(axis=1), joint.sum(axis=0)
    freedom = (np.count_nonzero(levels) - 1) * (np.count_nonzero(classes) - 1)
    chance = 2.0 * np.sqrt(2.0 * freedom) / (2.0 * joint.sum() * np.log(2.0))
    return entropy(classes) + entropy(levels) - entropy(joint) - chance
