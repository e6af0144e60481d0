"""Loops over counts in compressed rows: sums per class, and log-densities from tables of words.

Tables have a row per column of X and its classes side by side, where there are many padded with
zeros so that a row of the table is a few whole cache lines. Loops run over slices of a row and
unsigned columns, which the compiler need not check for counting from the end: up to three times as
fast. That columns exist was checked when X was read.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import uint64

from bayesrule.kernels.compiler import compiled

#: Bytes of a cache line.
LINE = 64


def lanes(n_classes: int) -> int:
    """Width of a table for so many classes: a multiple of eight where that saves cache lines."""
    return n_classes if n_classes < 16 else -(-n_classes // 8) * 8


@compiled
def class_sums(data, indices, indptr, first, rows, codes, weights, sums):
    """Add weighted rows to the sums of their classes; ``rows`` are counted from ``first``."""
    for e in range(rows.size):
        i = first + rows[e]
        weight = weights[e]
        mine = sums[codes[e]]
        counts = data[indptr[i] : indptr[i + 1]]
        columns = indices[indptr[i] : indptr[i + 1]]
        for p in range(counts.size):
            mine[uint64(columns[p])] += weight * counts[p]


@compiled
def weighted_logs(data, indices, indptr, first, table, out):
    """Sum of count times table row over the counts of each row, from row ``first`` on.

    Four counts at a time: the sums are then loaded and stored a quarter as often, and the four
    rows of the table and their counts still fit the registers. Padding is left out of the sums.
    """
    sums = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        for k in range(sums.size):
            sums[k] = 0.0
        x = data[indptr[first + i] : indptr[first + i + 1]]
        j = indices[indptr[first + i] : indptr[first + i + 1]]
        p = 0
        while p + 4 <= x.size:
            a, b, c, d = x[p], x[p + 1], x[p + 2], x[p + 3]
            ja, jb, jc, jd = uint64(j[p]), uint64(j[p + 1]), uint64(j[p + 2]), uint64(j[p + 3])
            for k in range(sums.size):
                sums[k] += (a * table[ja, k] + b * table[jb, k]) + (
                    c * table[jc, k] + d * table[jd, k]
                )
            p += 4
        while p < x.size:
            a, ja = x[p], uint64(j[p])
            for k in range(sums.size):
                sums[k] += a * table[ja, k]
            p += 1
        for k in range(sums.size):
            out[i, k] = sums[k]


@compiled
def weighted_logs_of_two(data, indices, indptr, first, table, out):
    """The same for two classes, whose sums stay in registers."""
    for i in range(out.shape[0]):
        x = data[indptr[first + i] : indptr[first + i + 1]]
        columns = indices[indptr[first + i] : indptr[first + i + 1]]
        a = 0.0
        b = 0.0
        for p in range(x.size):
            j = uint64(columns[p])
            a += x[p] * table[j, 0]
            b += x[p] * table[j, 1]
        out[i, 0] = a
        out[i, 1] = b


@compiled
def stirling_difference(start, steps):
    """log Γ(start + steps) - log Γ(start) for start >= 32.

    The difference of two log Γ would lose its digits where both are large; here the terms of
    Stirling's series are subtracted one by one.
    """
    end = start + steps
    a, b = 1.0 / start, 1.0 / end
    return (
        steps * math.log(start)
        + (end - 0.5) * math.log1p(steps / start)
        - steps
        + (b - a) / 12.0
        - (b**3 - a**3) / 360.0
        + (b**5 - a**5) / 1260.0
    )


@compiled
def log_rising(start, steps):
    """log Γ(start + steps) - log Γ(start) for start > 0.

    For whole steps it is the log of start (start + 1) ... (start + steps - 1). Factors are
    multiplied until the series holds.
    """
    product = 1.0
    while steps >= 1.0 and (start < 32.0 or steps < 4.0):
        product *= start
        start += 1.0
        steps -= 1.0
    while 0.0 < steps < 1.0 and start < 32.0:
        product *= start / (start + steps)
        start += 1.0
    result = math.log(product)
    if steps > 0.0:
        result += stirling_difference(start, steps)
    return result


@compiled
def compound_logs(data, indices, indptr, first, table, log_table, totals, out):
    """log Γ(A) / Γ(n + A) times the product of Γ(x_j + a_j) / Γ(a_j), from row ``first`` on."""
    n_classes = totals.size
    for i in range(out.shape[0]):
        counts = data[indptr[first + i] : indptr[first + i + 1]]
        columns = indices[indptr[first + i] : indptr[first + i + 1]]
        length = 0.0
        for k in range(n_classes):
            out[i, k] = 0.0
        for p in range(counts.size):
            x = float(counts[p])
            j = uint64(columns[p])
            length += x
            if x == 1.0:
                for k in range(n_classes):
                    out[i, k] += log_table[j, k]
            else:
                for k in range(n_classes):
                    out[i, k] += log_rising(table[j, k], x)
        for k in range(n_classes):
            out[i, k] -= log_rising(totals[k], length)


@compiled
def count_stored(values):
    """Number of values other than zero in each row."""
    stored = np.zeros(values.shape[0], np.int64)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            stored[i] += values[i, j] != 0
    return stored


@compiled
def store_rows(values, indptr, data, indices):
    """Write the values other than zero, row by row, with their columns."""
    for i in range(values.shape[0]):
        p = indptr[i]
        for j in range(values.shape[1]):
            if values[i, j] != 0:
                data[p] = values[i, j]
                indices[p] = j
                p += 1
