"""Linear addresses of quantised cells, and back.

A cell is a level on each of D features. Its address counts the cells row by row, the last feature
fastest, as numpy counts the entries of an array of shape (L_1, ..., L_D):

    address = (...(l_1 L_2 + l_2) L_3 + ...) L_D + l_D

The level of a value is the number of boundaries that are at most the value, so a boundary belongs
to the bin above it and the outer bins are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from bayesrule.kernels import cells as loops
from bayesrule.kernels.blocks import block_rows, map_blocks

#: An array of cells has fewer entries than this.
MOST_CELLS = 1 << 48


def strides(shape: Sequence[int]) -> np.ndarray:
    """By how much the address grows with each feature's level."""
    if prod(int(n) for n in shape) >= MOST_CELLS:
        raise ValueError(f"Levels {list(shape)} make more than {MOST_CELLS:.0e} cells.")
    steps = np.cumprod(np.asarray([1, *shape[:0:-1]], np.int64))[::-1]
    return np.ascontiguousarray(steps)


def linear_addresses(levels: Any, shape: Sequence[int]) -> np.ndarray:
    """Address of each row of levels.

    Parameters
    ----------
    levels : integer array of shape (n, D)
    shape : sequence of D ints
        Numbers of levels.

    Examples
    --------
    >>> linear_addresses([[0, 0], [1, 2]], (2, 3))
    array([0, 5])
    """
    levels = np.asarray(levels)
    if levels.ndim != 2 or levels.shape[1] != len(shape):
        raise ValueError(f"levels has shape {levels.shape}; expected (n, {len(shape)}).")
    if len(levels) and ((levels < 0) | (levels >= np.asarray(shape))).any():
        raise ValueError(f"levels has a level outside of 0 to {[n - 1 for n in shape]}.")
    addresses: np.ndarray = levels.astype(np.int64) @ strides(shape)
    return addresses


def levels_at(addresses: Any, shape: Sequence[int]) -> np.ndarray:
    """Levels, shape (n, D), of cells by their addresses.

    Examples
    --------
    >>> levels_at([0, 5], (2, 3)).tolist()
    [[0, 0], [1, 2]]
    """
    addresses = np.asarray(addresses, np.int64)
    if len(addresses) and not 0 <= addresses.min() <= addresses.max() < prod(shape):
        raise ValueError(f"addresses must be from 0 to {prod(shape) - 1}.")
    return (addresses[:, None] // strides(shape)) % np.asarray(shape, np.int64)


def flattened(boundaries: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Boundaries of all features one after the other, and where each feature's begin."""
    offset = np.concatenate([[0], np.cumsum([len(b) for b in boundaries])]).astype(np.int64)
    return np.concatenate([*boundaries, np.empty(0)]).astype(np.float64), offset


def cuts_for(values: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """Boundaries to compare values with: for float32, the least float32 that is not below each.

    The same values are at or above them, and twice as many are compared at once.
    """
    if values.dtype != np.float32:
        return boundaries
    with np.errstate(over="ignore"):
        cuts = boundaries.astype(np.float32)
    lower = cuts.astype(np.float64) < boundaries
    cuts[lower] = np.nextafter(cuts[lower], np.float32(np.inf))
    return cuts


def count_cells(
    values: np.ndarray,
    boundaries: Sequence[np.ndarray],
    start: int,
    stop: int,
    entries: tuple[np.ndarray, ...],
    counts: np.ndarray,
) -> None:
    """Add the weights of memberships to the counts (K, C) of their classes and cells.

    Parameters
    ----------
    values : float array of shape (n, D)
        Of which rows ``start`` to ``stop`` are counted, but for those with a missing value.
    boundaries : sequence of D increasing arrays
    entries : (rows, codes, weights)
        Memberships; rows ascend and count from ``start``.
    counts : array of shape (K, C)
    """
    flat, offset = flattened(boundaries)
    steps = strides([len(b) + 1 for b in boundaries])
    if _by_column(values):
        cuts = cuts_for(values, flat)
        loops.count_columns(values.T, start, stop, cuts, offset, steps, *entries, counts)
    else:
        block, none = np.ascontiguousarray(values[start:stop]), np.full(len(boundaries), -1)
        loops.count_rows(block, *entries, flat, offset, steps, none, counts)


def _by_column(values: np.ndarray) -> bool:
    """Whether each column is in one piece, as frames have them."""
    return values.flags.f_contiguous and values.shape[1] > 1


def cell_addresses(values: np.ndarray, boundaries: Sequence[np.ndarray]) -> np.ndarray:
    """Address of the cell of each row of numbers; -1 where a value is missing.

    Parameters
    ----------
    values : float array of shape (n, D)
    boundaries : sequence of D increasing arrays
        Feature j has ``len(boundaries[j]) + 1`` levels.

    Examples
    --------
    >>> import numpy as np
    >>> cuts = [np.array([0.5]), np.array([1.0, 2.0])]
    >>> cell_addresses(np.array([[0.1, 0.0], [0.5, 2.5], [0.2, np.nan]]), cuts)
    array([ 0,  5, -1])
    """
    if values.shape[1] != len(boundaries):
        raise ValueError(f"There are boundaries of {len(boundaries)} features for {values.shape}.")
    flat, offset = flattened(boundaries)
    steps = strides([len(b) + 1 for b in boundaries])
    none = np.full(len(boundaries), -1)
    addresses = np.zeros(len(values), np.int64)

    by_column = _by_column(values)
    cuts = cuts_for(values, flat) if by_column else flat

    def work(start: int, stop: int) -> None:
        out = addresses[start:stop]
        if by_column:
            lost = loops.add_columns(values.T, start, stop, cuts, offset, steps, none, out)
        else:
            block = np.ascontiguousarray(values[start:stop])
            lost = loops.add_addresses(block, flat, offset, steps, none, out)
        if lost:
            np.maximum(out, -1, out=out)

    for _ in map_blocks(work, len(values), block_rows(values.shape[1])):
        pass
    return addresses
