"""Loops over rows of quantised cells: levels, linear addresses, counts."""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled

#: Up to so many boundaries it is faster to look at all of them.
FEW = 16


@compiled
def level_of(x, boundaries, first, last):
    """How many of the increasing ``boundaries[first:last]`` are at most x.

    Without branches: on which side of a boundary a value lies is what a processor cannot guess.
    """
    level = 0
    if last - first <= FEW:
        for b in range(first, last):
            level += x >= boundaries[b]
        return level
    low = first
    n = last - first
    while n > 1:
        half = n >> 1
        low = low + half if boundaries[low + half - 1] <= x else low
        n -= half
    return low - first + (1 if boundaries[low] <= x else 0)


@compiled
def add_addresses(values, boundaries, offset, strides, missing_level, out):
    """Add the part of each numeric column to the linear address of each row.

    The boundaries of column j are ``boundaries[offset[j]:offset[j + 1]]``. A missing value is at
    ``missing_level[j]``; where that is negative the row has no cell, and its address becomes so
    negative that no other column can make it positive again. Returns how many rows have none.
    """
    lost = 0
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        address = out[i]
        for j in range(n_columns):
            x = np.float64(values[i, j])
            level = level_of(x, boundaries, offset[j], offset[j + 1])
            if x != x:
                level = missing_level[j]
                if level < 0:
                    address = -(1 << 62)
            address += level * strides[j]
        lost += address < 0
        out[i] = address
    return lost


#: Rows whose addresses stay in a core's nearest cache while one column after the other is added.
STRIP = 2048


@compiled
def add_columns(columns, start, stop, boundaries, offset, strides, missing_level, out):
    """Add columns ``start`` to ``stop`` of a (D, n) block, as :func:`add_addresses` does for rows.

    Returns how many rows have no cell.
    """
    lost = 0
    nowhere = np.int64(-(1 << 62))
    for since in range(start, stop, STRIP):
        until = min(since + STRIP, stop)
        part = out[since - start : until - start]
        for j in range(columns.shape[0]):
            cuts = boundaries[offset[j] : offset[j + 1]]
            add_column(columns[j, since:until], cuts, strides[j], missing_level[j], nowhere, part)
        for i in range(part.size):
            lost += part[i] < 0
    return lost


@compiled
def count_columns(columns, start, stop, boundaries, offset, strides, rows, codes, weights, counts):
    """Add the weight of each membership to the count of its class and cell.

    The cells are those of columns ``start`` to ``stop`` of a (D, n) block, fewer than 2^30;
    ``rows`` ascend and count from ``start``. Rows with a missing value count nowhere. Addresses
    are short and never leave the nearest cache: an array of those of all rows would come page by
    page from the system, which takes longer than to work them out.
    """
    addresses = np.empty(STRIP, np.int32)
    nowhere = np.int32(-(1 << 30))
    done = 0
    for since in range(start, stop, STRIP):
        until = min(since + STRIP, stop)
        part = addresses[: until - since]
        part[:] = 0
        for j in range(columns.shape[0]):
            cuts = boundaries[offset[j] : offset[j + 1]]
            add_column(columns[j, since:until], cuts, np.int32(strides[j]), -1, nowhere, part)
        begin = done
        done += np.searchsorted(rows[begin:], until - start)
        first = since - start
        for e in range(begin, done):
            place = np.uint64(e)
            address = part[np.uint64(rows[place] - first)]
            if address >= 0:
                counts[np.uint64(codes[place]), np.uint64(address)] += weights[place]


@compiled
def add_column(values, boundaries, stride, missing_level, nowhere, out):
    """Add the part of one contiguous column; ``nowhere`` outweighs all other columns.

    With few boundaries they are taken one at a time: the processor then does several rows at once.
    """
    n_rows = values.size
    if boundaries.size <= FEW:
        for boundary in boundaries:
            for i in range(n_rows):
                out[i] += stride if values[i] >= boundary else 0
    else:
        for i in range(n_rows):
            out[i] += level_of(values[i], boundaries, 0, boundaries.size) * stride
    gaps = 0
    for i in range(n_rows):
        gaps += values[i] != values[i]
    if gaps:
        for i in range(n_rows):
            if values[i] != values[i]:
                out[i] = nowhere if missing_level < 0 else out[i] + missing_level * stride


@compiled
def add_codes(codes, places, strides, out):
    """Add the part of each coded column; ``places[j, c]`` is the level of code c, -1 for none.

    The last place of a column is that of the code -1. Returns how many rows have no cell.
    """
    lost = 0
    last = places.shape[1] - 1
    for i in range(codes.shape[0]):
        address = out[i]
        for j in range(codes.shape[1]):
            code = codes[i, j]
            level = places[j, last if code < 0 else code]
            if level < 0:
                address = -(1 << 62)
            address += level * strides[j]
        lost += address < 0
        out[i] = address
    return lost


@compiled
def take_rows(table, addresses, out):
    """Row ``addresses[i]`` of the table for each i."""
    for i in range(addresses.size):
        a = addresses[i]
        for k in range(table.shape[1]):
            out[i, k] = table[a, k]


@compiled
def count_rows(values, rows, codes, weights, boundaries, offset, strides, missing_level, counts):
    """Add the weight of each membership to the count of its class and its row's cell.

    Arguments as for :func:`add_addresses`; rows without a cell are left out.
    """
    last = -1
    address = np.int64(-1)
    nowhere = np.int64(-(1 << 62))
    for e in range(rows.size):
        i = rows[e]
        if i != last:
            last = i
            address = np.int64(0)
            for j in range(values.shape[1]):
                x = np.float64(values[i, j])
                level = level_of(x, boundaries, offset[j], offset[j + 1])
                if x != x:
                    level = missing_level[j]
                    if level < 0:
                        address = nowhere
                address += level * strides[j]
        if address >= 0:
            counts[codes[e], address] += weights[e]
