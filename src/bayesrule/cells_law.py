"""Settled cells: shares of a class in each cell, looked up by the address of a row's cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesrule.addresses import flattened, strides
from bayesrule.decide import log_of
from bayesrule.density import LogDensity
from bayesrule.kernels import cells as loops
from bayesrule.tables import Table


@dataclass(frozen=True)
class CellsLaw(LogDensity):
    """Log-densities of the cells.

    Attributes
    ----------
    boundaries : tuple of D ndarrays
    gaps : tuple of D bools
        Features with a level for missing values.
    shares : ndarray of shape (C, K)
        P(cell | k).
    seen : bool ndarray of shape (K,)
        Classes that have a density.
    k : int
        The k of the smoothing; 0 is none.
    """

    boundaries: tuple[np.ndarray, ...]
    gaps: tuple[bool, ...]
    shares: np.ndarray
    seen: np.ndarray
    k: int = 0

    @classmethod
    def of(
        cls,
        boundaries: tuple[np.ndarray, ...],
        gaps: tuple[bool, ...],
        counts: np.ndarray,
        seen: np.ndarray,
        k: int,
    ) -> CellsLaw:
        """Shares of counts (K, C)."""
        totals = counts.sum(axis=1)
        # A class with rows but none in a cell does as all rows together do.
        counts = np.where((totals > 0)[:, None], counts, counts.sum(axis=0))
        totals = counts.sum(axis=1)
        shares = counts / np.where(totals > 0, totals, 1.0)[:, None]
        return cls(boundaries, gaps, np.ascontiguousarray(shares.T), seen, k)

    @property
    def shape(self) -> list[int]:
        """Levels of each feature."""
        return [len(b) + 1 + gap for b, gap in zip(self.boundaries, self.gaps, strict=True)]

    @cached_property
    def lookup(self) -> np.ndarray:
        """Log-densities (C, K) of rows by their cell; equal ones where no row of any class was."""
        return self._logs(self.shares)

    def _logs(self, shares: np.ndarray) -> np.ndarray:
        empty = ~shares[:, self.seen].any(axis=1)
        logs = log_of(shares)
        logs[empty] = 0.0
        logs[:, ~self.seen] = -np.inf
        return logs

    def places(self, table: Table) -> np.ndarray | None:
        """The cell of each row; None where some row has none."""
        cells = self._addresses(table)
        return None if cells is None or (len(cells) and cells.min() < 0) else cells

    def _addresses(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        flat, offset = self._flat
        cells = np.zeros(len(table), np.int64)
        loops.add_addresses(
            np.ascontiguousarray(table.numbers),
            flat,
            offset,
            self._steps,
            self._level_of_gap,
            cells,
        )
        return cells

    @cached_property
    def _flat(self) -> tuple[np.ndarray, np.ndarray]:
        return flattened(self.boundaries)

    @cached_property
    def _steps(self) -> np.ndarray:
        return strides(self.shape)

    @cached_property
    def _level_of_gap(self) -> np.ndarray:
        """The level of a missing value on each feature, -1 where there is none."""
        return np.where(self.gaps, np.array(self.shape) - 1, -1)

    def __call__(self, table: Table) -> np.ndarray:
        cells = self._addresses(table)
        out = np.empty((len(table), len(self.seen)))
        lost = np.flatnonzero(cells < 0)
        cells[lost] = 0
        loops.take_rows(self.lookup, cells, out)
        if len(lost):
            assert table.numbers is not None
            out[lost] = self._marginal(np.asarray(table.numbers)[lost])
        return out

    def _marginal(self, rows: np.ndarray) -> np.ndarray:
        """Log-densities of rows with missing values: cells of all levels summed."""
        # Features of one level tell nothing, whether a value is there or not.
        told = np.flatnonzero(np.array(self.shape) > 1)
        unknown = np.isnan(rows[:, told]) & ~np.array(self.gaps)[told]
        patterns, which = np.unique(unknown, axis=0, return_inverse=True)
        table = self.shares.reshape(*np.array(self.shape)[told], -1)
        out = np.empty((len(rows), len(self.seen)))
        for p, pattern in enumerate(patterns):
            mine = np.flatnonzero(which.ravel() == p)
            kept = told[~pattern]
            summed = table.sum(axis=tuple(np.flatnonzero(pattern)))
            logs = self._logs(summed.reshape(-1, len(self.seen)))
            part = CellsLaw(
                _of(self.boundaries, kept), _of(self.gaps, kept), np.exp(logs), self.seen, self.k
            )
            cells = np.zeros(len(mine), np.int64)
            if len(kept):
                loops.add_addresses(
                    np.ascontiguousarray(rows[np.ix_(mine, kept)]),
                    *part._flat,
                    part._steps,
                    part._level_of_gap,
                    cells,
                )
            out[mine] = logs[cells]
        return out

    def atoms(self) -> np.ndarray | None:
        logs = log_of(self.shares)
        logs[:, ~self.seen] = -np.inf
        return logs


def _of(values: Sequence, places: np.ndarray) -> tuple:  # type: ignore[type-arg]
    return tuple(values[j] for j in places)
