"""The distinct rows of a sample, sorted, with their weights added up.

Whatever is computed from them does not depend on the order of the rows, on how they were merged,
or on whether a row came three times or with a weight of three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.stats import Sample, Several, Sums
from bayesrule.tables import Table


@dataclass(frozen=True)
class Points:
    """Distinct points of one class.

    Attributes
    ----------
    rows : ndarray of shape (n, D)
        Sorted by the first column, then by the second, and so on.
    weights : ndarray of shape (n,)
    """

    rows: np.ndarray
    weights: np.ndarray

    @cached_property
    def total(self) -> float:
        """Weight of all points: how many rows there were."""
        return float(self.weights.sum())

    def column(self, j: int) -> Points:
        """The distinct values of one column; gaps are left out."""
        values = self.rows[:, j]
        known = ~np.isnan(values)
        return Points.of(values[known, None], self.weights[known])

    @staticmethod
    def of(rows: np.ndarray, weights: np.ndarray) -> Points:
        """Distinct rows of an array."""
        if rows.shape[1] == 1 and len(weights) and (weights == weights[0]).all():
            # Sorting numbers takes a fraction of the time of finding their order.
            values = np.sort(np.asarray(rows[:, 0], np.float64) + 0.0)
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
            counts = np.diff(np.append(starts, len(values)))
            return Points(values[starts, None], counts * weights[0])
        rows, starts, order = sort_rows(rows)
        if len(starts) == len(order):
            return Points(rows, weights[order])
        return Points(rows[starts], np.add.reduceat(weights[order], starts))


def sort_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sorted rows in float64, the places where another row begins, and the order."""
    # Adding zero makes -0.0 and 0.0, which are equal, one.
    rows = np.asarray(rows, np.float64) + 0.0
    order = _lexicographic(rows)
    rows = rows[order]
    new = np.ones(len(rows), dtype=bool)
    if len(rows):
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows, np.flatnonzero(new), order


def _lexicographic(rows: np.ndarray) -> np.ndarray:
    """Order of rows by the first column, equal ones by the second, and so on.

    A further column sorts only the rows that are equal so far, which are few where it matters.
    """
    if rows.shape[1] == 1:
        return np.argsort(rows[:, 0])
    order = np.argsort(rows[:, 0], kind="stable")
    group = np.zeros(len(rows), np.int64)  # of places: rows that are equal so far
    tied = np.arange(len(rows))  # places of rows that have an equal
    for j in range(rows.shape[1]):
        if j > 0:
            within = np.lexsort((rows[order[tied], j], group[tied]))
            order[tied] = order[tied[within]]
        values = rows[order[tied], j]
        groups = group[tied]
        gap = np.isnan(values)
        same = (values[1:] == values[:-1]) | (gap[1:] & gap[:-1])
        same &= groups[1:] == groups[:-1]
        if not same.any():
            break
        group[tied] = np.cumsum(np.append(True, ~same))
        tied = tied[np.append(same, False) | np.append(False, same)]
    return order


def points_by_class(sample: Sample, n_classes: int) -> list[Points]:
    """Distinct points of every class."""
    order = np.argsort(sample.codes, kind="stable")
    edges = np.searchsorted(sample.codes[order], np.arange(n_classes + 1))
    return [
        Points.of(sample.rows[mine], sample.weights[mine])
        for mine in (order[a:b] for a, b in pairwise(edges))
    ]


def gathered(table: Table, memberships: Memberships) -> Several:
    """The statistic of densities that keep their rows: the weights of the classes, and the rows."""
    work = partial(_rows, table, memberships)
    parts = list(map_blocks(work, len(table), block_rows(table.n_columns)))
    weight = reduce(add, (part.weight for part, _ in parts))
    sample = Sample.joined([rows for _, rows in parts])
    return Several((Sums(weight, weight[:, None]), sample))


def _rows(table: Table, memberships: Memberships, start: int, stop: int) -> tuple[Any, Sample]:
    """Class weights and rows of one block."""
    values = table.block(start, stop).numbers
    assert values is not None
    rows, codes, weights = memberships.entries(start, stop)
    weight = np.bincount(codes, weights, memberships.n_classes)
    part = Sample(values[rows], np.array(codes), np.array(weights, np.float64))
    return Sums(weight, weight[:, None]), part
