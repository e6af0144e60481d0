"""Sums of Gaussian bumps of unit width on a line, in a time that does not grow with their number.

The line is cut into cells of half a width. Around the centre c of a cell, with v = x - c and
y_i = x_i - c,

    sum_i w_i exp(-(x - x_i)^2 / 2)   =   exp(-v^2 / 2) sum_k c_k v^k,
    c_k   =   sum_i w_i exp(-y_i^2 / 2) y_i^k / k!

and the c_k are gathered from the moments of the cells nearby, not from the points. All
terms are the points' own, so the sum keeps its digits however small it is (a Fourier transform on
a grid would not): within 1e-7 of itself up to four widths from the nearest point, where cells end.
"""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled

#: Width of a cell.
CELL = 0.5
#: Terms of an expansion.
TERMS = 12
#: Cells on each side of a point that have an expansion, and from which points are gathered.
NEAR, REACH = 8, 18


@compiled
def cell_moments(points, weights):
    """Numbers of the cells that hold points (which are sorted), and moments about their centres."""
    cells = np.floor(points / CELL).astype(np.int64)
    n_cells = 1
    for i in range(1, cells.size):
        n_cells += cells[i] != cells[i - 1]
    numbers = np.empty(n_cells, np.int64)
    moments = np.zeros((n_cells, TERMS))
    c = -1
    for i in range(cells.size):
        if c < 0 or cells[i] != numbers[c]:
            c += 1
            numbers[c] = cells[i]
        t = points[i] - (cells[i] + 0.5) * CELL
        power = weights[i] * math.exp(-0.5 * t * t)
        for m in range(TERMS):
            moments[c, m] += power
            power *= t
    return numbers, moments


@compiled
def near_cells(numbers):
    """Numbers of all cells within ``NEAR`` of one that holds points."""
    count = 0
    last = numbers[0] - NEAR - 1
    for turn in range(2):
        if turn == 1:
            found = np.empty(count, np.int64)
            count = 0
            last = numbers[0] - NEAR - 1
        for c in range(numbers.size):
            for number in range(max(last + 1, numbers[c] - NEAR), numbers[c] + NEAR + 1):
                if turn == 1:
                    found[count] = number
                count += 1
                last = number
    return found


@compiled
def expansions(numbers, moments, targets):
    """Coefficients of the expansion in each target cell, shape (n_targets, TERMS)."""
    inverse = np.empty(TERMS)
    inverse[0] = 1.0
    for k in range(1, TERMS):
        inverse[k] = inverse[k - 1] / k
    out = np.zeros((targets.size, TERMS))
    shifted = np.empty(TERMS)
    powers = np.empty(TERMS)
    begin = 0
    for target in range(targets.size):
        while numbers[begin] < targets[target] - REACH:
            begin += 1
        c = begin
        while c < numbers.size and numbers[c] <= targets[target] + REACH:
            apart = (numbers[c] - targets[target]) * CELL
            powers[0] = 1.0
            for k in range(1, TERMS):
                powers[k] = powers[k - 1] * apart / k
            # (v - apart)^m / m! in powers of v, then times exp(v apart).
            for k in range(TERMS):
                total = 0.0
                sign = 1.0
                for m in range(k, TERMS):
                    total += sign * moments[c, m] * powers[m - k]
                    sign = -sign
                shifted[k] = total * inverse[k]
            scale = math.exp(-0.5 * apart * apart)
            for k in range(TERMS):
                total = 0.0
                for m in range(k + 1):
                    total += shifted[m] * powers[k - m]
                out[target, k] += scale * total
            c += 1
    return out


@compiled
def sums_on_cells(queries, targets, coefficients, out):
    """Sums at the queries; NaN where a query lies in no target cell."""
    first, last = targets[0], targets[-1]
    dense = last - first == targets.size - 1
    for q in range(queries.size):
        out[q] = np.nan
        place = math.floor(queries[q] / CELL)
        if not first <= place <= last:
            continue
        number = np.int64(place)
        c = number - first
        if not dense:
            c = np.searchsorted(targets, number)
            if targets[c] != number:
                continue
        v = queries[q] - (number + 0.5) * CELL
        total = coefficients[c, TERMS - 1]
        for k in range(TERMS - 2, -1, -1):
            total = total * v + coefficients[c, k]
        out[q] = total * math.exp(-0.5 * v * v)
