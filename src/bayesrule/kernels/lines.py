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

from bayesrule.kernels.bumps import SHARE, fast_exp
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
def transfers():
    """What a cell adds to the expansion in a cell nearby: ``[d, m, k]``.

    With u the distance from the centre of the cell itself and v that from the centre of the other,
    ``apart`` from it, the moment m adds u^m / m! exp(-u^2 / 2), and u = v - apart: written in
    powers of v it is exp(-v^2 / 2) sum_k [d, m, k] v^k.
    """
    out = np.zeros((2 * REACH + 1, TERMS, TERMS))
    inverse = np.ones(TERMS)
    powers = np.ones(TERMS)
    shifted = np.empty(TERMS)
    for k in range(1, TERMS):
        inverse[k] = inverse[k - 1] / k
    for d in range(2 * REACH + 1):
        apart = (d - REACH) * CELL
        scale = math.exp(-0.5 * apart * apart)
        for k in range(1, TERMS):
            powers[k] = powers[k - 1] * apart / k
        for m in range(TERMS):
            # (v - apart)^m / m!, then times exp(v apart).
            sign = 1.0
            for k in range(m, -1, -1):
                shifted[k] = sign * powers[m - k] * inverse[k]
                sign = -sign
            for k in range(TERMS):
                for j in range(min(k, m) + 1):
                    out[d, m, k] += scale * shifted[j] * powers[k - j]
    return out


@compiled(reassociate=True)
def expansions(numbers, moments, targets):
    """Coefficients of the expansion in each target cell, shape (n_targets, TERMS)."""
    out = np.zeros((targets.size, TERMS))
    matrices = transfers()
    begin = 0
    for target in range(targets.size):
        row = out[target]
        while numbers[begin] < targets[target] - REACH:
            begin += 1
        c = begin
        while c < numbers.size and numbers[c] <= targets[target] + REACH:
            matrix = matrices[numbers[c] - targets[target] + REACH]
            for m in range(TERMS):
                moment = moments[c, m]
                for k in range(TERMS):
                    row[k] += moment * matrix[m, k]
            c += 1
    return out


@compiled
def cell_index(targets):
    """Place of each cell among the targets, -1 in gaps; empty where gaps are too wide for a list.

    Cells are otherwise looked up by bisection, which takes longer than the sum itself.
    """
    span = targets[-1] - targets[0] + 1
    if span > 16 * targets.size:
        return np.empty(0, np.int64)
    index = np.full(span, -1)
    for c in range(targets.size):
        index[targets[c] - targets[0]] = c
    return index


@compiled
def sums_on_cells(queries, weights, targets, index, coefficients, out):
    """Sums at the queries, NaN where one lies in no target cell.

    ``weights`` are what the queries themselves add, and are taken off, or are none. Where little is
    left then, its digits went too, and the answer is NaN as well.
    """
    first, last = targets[0], targets[-1]
    for q in range(queries.size):
        out[q] = np.nan
        number = np.floor(queries[q] / CELL)
        if not first <= number <= last:
            continue
        if index.size:
            c = index[np.int64(number) - first]
            if c < 0:
                continue
        else:
            c = np.searchsorted(targets, np.int64(number))
            if targets[c] != number:
                continue
        v = queries[q] - (number + 0.5) * CELL
        row = coefficients[c]
        # Even and odd powers apart: two short chains of products instead of a long one.
        square = v * v
        even, odd = row[TERMS - 2], row[TERMS - 1]
        for k in range(TERMS - 4, -1, -2):
            even = even * square + row[k]
            odd = odd * square + row[k + 1]
        total = (even + v * odd) * fast_exp(-0.5 * square)
        if weights.size:
            others = total - weights[q]
            if others >= 1e-4 * total:
                out[q] = others
        else:
            out[q] = total


@compiled
def log_sums_outward(queries, own, points, weights, all_weight, log_sums):
    """Logarithms of the sums, point by point from the nearest on, as long as points add to them.

    ``points`` are sorted; ``own`` is the place of a point that a query does not see, or none. What
    is left out is less than ``SHARE`` of a sum.
    """
    n = points.size
    for q in range(queries.size):
        x = queries[q]
        hidden = own[q] if own.size else -1
        above = np.searchsorted(points, x)
        below = above - 1
        if below == hidden:
            below -= 1
        if above < n and above == hidden:
            above += 1
        if below < 0 and above >= n:
            log_sums[q] = -math.inf
            continue
        nearest = below
        if below < 0 or (above < n and points[above] - x < x - points[below]):
            nearest = above
        near = points[nearest]
        total = 0.0
        for turn in range(2):
            step = 1 if (turn == 0) == (nearest >= above) else -1
            i = above if step == 1 else below
            while 0 <= i < n:
                if i != hidden:
                    # As a product, the difference of two squares keeps its digits.
                    further = 0.5 * (near - points[i]) * ((x - points[i]) + (x - near))
                    height = fast_exp(-max(further, 0.0))
                    total += weights[i] * height
                    if 2.0 * all_weight * height < SHARE * total:
                        break
                i += step
        log_sums[q] = math.log(total) - 0.5 * (x - near) ** 2
