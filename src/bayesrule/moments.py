"""From rows to moments: weights, means and second moments of each class, block by block."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from bayesrule.kernels import gaussian as loops
from bayesrule.kernels.blocks import BLOCK_BYTES, block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.stats import Moments, Sample, Several
from bayesrule.tables import Table

#: Up to so many columns one compiled pass is faster than a product of matrices.
NARROW = 32


def point_near(table: Table) -> np.ndarray:
    """A point near the data that means can be told relative to: the median of some rows.

    One row alone might be an outlier, and cost all means their last digits.
    """
    assert table.numbers is not None
    step = -(-len(table) // 99)
    some = np.asarray(table.numbers[::step], dtype=np.float64)
    ranked = np.sort(some, axis=0)  # missing values come last
    if not table.missing:
        return ranked[(len(ranked) - 1) // 2]
    known = np.sum(~np.isnan(some), axis=0)
    point = ranked[np.maximum(known - 1, 0) // 2, np.arange(table.n_columns)]
    return np.where(known > 0, point, 0.0)


def moments_by_column(table: Table, memberships: Memberships) -> Moments:
    """Moments per column, each with its own weight if values are missing."""
    work = partial(_diagonal_moments, table, memberships, point_near(table))
    # One pass that keeps nothing of the rows: long blocks save merging.
    size = block_rows(table.n_columns, bytes_per_block=8 * BLOCK_BYTES)
    return reduce(add, map_blocks(work, len(table), size))


def _diagonal_moments(
    table: Table, memberships: Memberships, shift: np.ndarray, start: int, stop: int
) -> Moments:
    """Moments per column of one block, each column with its own weight if values are missing."""
    block = table.block(start, stop)
    loop = loops.sums_about_first_seen if table.missing else loops.sums_about_first
    entries = memberships.entries(start, stop)
    weight, first, total, squares = loop(block.numbers, *entries, memberships.n_classes)
    weight = weight if table.missing else np.repeat(weight[:, None], table.n_columns, axis=1)
    some = np.where(weight > 0, weight, 1.0)
    mean = np.where(weight > 0, first - shift + total / some, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        # Squares of numbers beyond 1e154 are infinite, and are refused where they are settled.
        second = np.maximum(squares - total * (total / some), 0.0)
    return Moments("diagonal", shift, weight, mean, second)


def moments_by_pair(table: Table, memberships: Memberships, *, tied: bool) -> Several:
    """Moments per pair of columns of the complete rows, and the incomplete rows themselves."""
    shift = point_near(table)
    work = partial(_full_moments, table, memberships, shift, tied)
    total: Moments | None = None
    kept: list[Sample] = []
    size = block_rows(table.n_columns, bytes_per_block=4 * BLOCK_BYTES)
    for moments, incomplete in map_blocks(work, len(table), size):
        total = moments if total is None else total + moments
        kept.append(incomplete)
    return Several((total, Sample.joined(kept)))


def _full_moments(
    table: Table,
    memberships: Memberships,
    shift: np.ndarray,
    tied: bool,
    start: int,
    stop: int,
) -> tuple[Moments, Sample]:
    """Moments of the complete rows of one block, and its incomplete rows."""
    assert table.numbers is not None
    values = table.numbers[start:stop]  # read once, so a frame's columns are not copied together
    rows, codes, weights = memberships.entries(start, stop)
    kept = Sample(np.empty((0, values.shape[1])), codes[:0], weights[:0])
    if table.missing:
        gaps: np.ndarray = np.any(np.isnan(values), axis=1)
        gaps = gaps[rows]
        kept = Sample(values[rows[gaps]].astype(np.float64), codes[gaps], weights[gaps])
        rows, codes, weights = rows[~gaps], codes[~gaps], weights[~gaps]
    n_columns, n_classes = values.shape[1], memberships.n_classes
    if n_columns > NARROW:
        return _wide_moments(values, rows, codes, weights, n_classes, shift, tied), kept
    weight, first, mean, second = loops.scatter_of_classes(
        values, rows, codes, weights, n_classes, tied
    )
    mean = np.where(weight[:, None] > 0, first - shift + mean, 0.0)
    kind: Any = "tied" if tied else "full"
    return Moments(kind, shift, weight, mean, second[0] if tied else second), kept


def _wide_moments(
    values: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    shift: np.ndarray,
    tied: bool,
) -> Moments:
    """Moments of complete rows by products of matrices, which pay where there are many columns."""
    n_columns = values.shape[1]
    values = np.asarray(values, np.float64)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(n_classes + 1))
    weight = np.bincount(codes, weights, n_classes)
    rows, weights = rows[order], weights[order]
    equal = not (weights != 1.0).any()
    # One room for all classes: fetching fresh memory for each takes longer than filling it.
    room = np.empty((int(np.diff(edges).max(initial=0)), n_columns))
    mean = np.zeros((n_classes, n_columns))
    second = np.zeros((n_columns, n_columns) if tied else (n_classes, n_columns, n_columns))
    for k in np.flatnonzero(weight > 0):
        mine = slice(edges[k], edges[k + 1])
        # Squares about a row of the class are of the size of its variance, wherever it lies.
        first = values[rows[edges[k]]]
        deviations = room[: edges[k + 1] - edges[k]]
        # The mode only spares a copy: no place is out of bounds.
        values.take(rows[mine], axis=0, out=deviations, mode="clip")
        deviations -= first
        centre = weights[mine] @ deviations / weight[k]
        mean[k] = first - shift + centre
        deviations -= centre
        if not equal:
            deviations *= np.sqrt(weights[mine])[:, None]
        scatter = deviations.T @ deviations
        if tied:
            second += scatter
        else:
            second[k] = scatter
    return Moments("tied" if tied else "full", shift, weight, mean, second)
