"""Loops of the search for boundaries: bins of rows, tables of one feature, cuts placed jointly.

Rows are told by bins, the stretches between neighbouring candidates for boundaries. For one feature
the table ``T[bin, plane, cell]`` counts rows by their bin on it, their class (and, where rows are
split, their part), and the cell that all other features put them in. Cumulated over bins, the
counts of any stretch are a difference of two rows of the table.
"""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.cells import level_of
from bayesrule.kernels.compiler import compiled

#: What a stretch of bins is worth: see :func:`segment_values`.
LEFT_OUT_BRIER, LEFT_OUT_GAIN, SPLIT_BRIER, SPLIT_GAIN = range(4)


@compiled
def code_values(values, cuts, offset, out):
    """Bin of each value among the candidates of its column; missing ones come after the last."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x != x:
                out[i, j] = offset[j + 1] - offset[j] + 1
            else:
                out[i, j] = level_of(x, cuts, offset[j], offset[j + 1])


@compiled
def sort_out(values, rows, planes, weights, edges, offset, level_after, strides, base, moving):
    """Count the rows whose cell is settled, and list the others.

    Edges come in pairs, the ends of windows in which boundaries are still sought; behind e edges of
    column j the level is ``level_after[offset[j] + j + e]`` where e is even, and a missing value's
    is the last there. Returns how many are listed in ``moving``.
    """
    n_moving = 0
    for e in range(rows.size):
        i = rows[e]
        address = np.int64(0)
        settled = True
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x != x:
                place = offset[j + 1] - offset[j] + 1
            else:
                place = level_of(x, edges, offset[j], offset[j + 1])
                if place & 1:
                    settled = False
                    break
            address += level_after[offset[j] + 2 * j + place] * strides[j]
        if settled:
            base[planes[e], address] += weights[e]
        else:
            moving[n_moving] = e
            n_moving += 1
    return n_moving


@compiled
def count_bins(codes, planes, weights, part, j, table):
    """Add rows to the table of feature j; ``part[i, bin]`` is feature i's part of the cell."""
    n_columns = codes.shape[1]
    for e in range(codes.shape[0]):
        cell = np.int64(0)
        for i in range(n_columns):
            cell += part[i, codes[e, i]]
        table[codes[e, j], planes[e], cell] += weights[e]


@compiled(reassociate=True)
def _two_left_out(low, high, weight, priors):
    """Brier score of two classes, each row judged by the others: minus the sum of its losses."""
    loss = 0.0
    for c in range(low.shape[1]):
        a = weight[0] * (high[0, c] - low[0, c])
        b = weight[1] * (high[1, c] - low[1, c])
        without_a = max(a - weight[0], 0.0) + b
        without_b = max(b - weight[1], 0.0) + a
        miss_a = b / without_a if without_a > 0.0 else priors[1]
        miss_b = a / without_b if without_b > 0.0 else priors[0]
        loss += a * miss_a * miss_a + b * miss_b * miss_b
    return -2.0 * loss


@compiled
def _left_out(low, high, weight, priors):
    """The same for any number of classes."""
    n_classes = weight.size
    loss = 0.0
    for c in range(low.shape[1]):
        total, squares = 0.0, 0.0
        for k in range(n_classes):
            a = weight[k] * (high[k, c] - low[k, c])
            total += a
            squares += a * a
        if total <= 0.0:
            continue
        for k in range(n_classes):
            a = weight[k] * (high[k, c] - low[k, c])
            if a <= 0.0:
                continue
            mine = max(a - weight[k], 0.0)
            rest = total - a + mine
            if rest > 0.0:
                wrong = (rest - mine) * (rest - mine) + squares - a * a
                loss += a * wrong / (rest * rest)
            else:
                loss += a * ((1.0 - priors[k]) ** 2 - priors[k] ** 2)
                for i in range(n_classes):
                    loss += a * priors[i] * priors[i]
    return -loss


@compiled
def _left_out_gain(low, high, weight, priors, gain):
    """Gain of each row under the decision that the others of its cell would take."""
    n_classes, n_decisions = gain.shape
    total = 0.0
    for c in range(low.shape[1]):
        for k in range(n_classes):
            a = weight[k] * (high[k, c] - low[k, c])
            if a <= 0.0:
                continue
            best, at, some = -np.inf, 0, False
            for d in range(n_decisions):
                worth = 0.0
                for i in range(n_classes):
                    mass = weight[i] * (high[i, c] - low[i, c])
                    if i == k:
                        mass = max(mass - weight[k], 0.0)
                    some = some or mass > 0.0
                    worth += mass * gain[i, d]
                if worth > best:
                    best, at = worth, d
            if not some:
                at = _best_by_priors(priors, gain)
            total += a * gain[k, at]
    return total


@compiled
def _best_by_priors(priors, gain):
    """The decision about a row of which nothing is known."""
    best, at = -np.inf, 0
    for d in range(gain.shape[1]):
        worth = 0.0
        for i in range(gain.shape[0]):
            worth += priors[i] * gain[i, d]
        if worth > best:
            best, at = worth, d
    return at


@compiled
def _split(low, high, weight, priors):
    """Brier score of each half of the rows, judged by the other."""
    n_classes = priors.size
    loss = 0.0
    for c in range(low.shape[1]):
        for half in range(2):
            learn, judge = half * n_classes, (1 - half) * n_classes
            total, squares = 0.0, 0.0
            for k in range(n_classes):
                a = weight[learn + k] * (high[learn + k, c] - low[learn + k, c])
                total += a
                squares += a * a
            if total > 0.0:
                squares /= total * total
            else:
                for k in range(n_classes):
                    squares += priors[k] * priors[k]
            for k in range(n_classes):
                b = weight[judge + k] * (high[judge + k, c] - low[judge + k, c])
                if b > 0.0:
                    share = priors[k]
                    if total > 0.0:
                        share = weight[learn + k] * (high[learn + k, c] - low[learn + k, c]) / total
                    loss += b * (1.0 - 2.0 * share + squares)
    return -loss


@compiled
def _split_gain(low, high, weight, priors, gain):
    """Gain of each half of the rows, decided by the other."""
    n_classes, n_decisions = gain.shape
    gained = 0.0
    for c in range(low.shape[1]):
        for half in range(2):
            learn, judge = half * n_classes, (1 - half) * n_classes
            best, at, some = -np.inf, 0, False
            for d in range(n_decisions):
                worth = 0.0
                for k in range(n_classes):
                    mass = weight[learn + k] * (high[learn + k, c] - low[learn + k, c])
                    some = some or mass > 0.0
                    worth += mass * gain[k, d]
                if worth > best:
                    best, at = worth, d
            if not some:
                at = _best_by_priors(priors, gain)
            for k in range(n_classes):
                mass = weight[judge + k] * (high[judge + k, c] - low[judge + k, c])
                gained += mass * gain[k, at]
    return gained


@compiled
def segment_values(below, kind, weight, priors, gain, needed, start, stop, out):
    """Worth of the stretches of bins from q to r that are needed, for start <= q < stop.

    ``below[r]`` are the counts, by plane and cell, of all bins before r. A count is worth its
    plane's ``weight``, a whole number where counts are, so that gains are exact.
    """
    for q in range(start, stop):
        low = below[q]
        for r in range(q + 1, below.shape[0]):
            if not needed[q, r]:
                continue
            high = below[r]
            if kind == LEFT_OUT_BRIER:
                if weight.size == 2:
                    out[q, r] = _two_left_out(low, high, weight, priors)
                else:
                    out[q, r] = _left_out(low, high, weight, priors)
            elif kind == LEFT_OUT_GAIN:
                out[q, r] = _left_out_gain(low, high, weight, priors, gain)
            elif kind == SPLIT_BRIER:
                out[q, r] = _split(low, high, weight, priors)
            else:
                out[q, r] = _split_gain(low, high, weight, priors, gain)


@compiled
def place_cuts(worth, first, last, tie, value, choice):
    """Best cuts of each number, by dynamic programming over stretches of bins.

    Cut l lies at a place from ``first[l]`` to ``last[l]``, after the cut before it. ``value[l]`` is
    the best sum of the stretches with l cuts, and ``choice[l, p]`` the place of the cut before
    place p where that is cut l (the end, of the best l cuts). Sums that differ by no more than
    ``tie`` are a plateau, of which the middle is taken.
    """
    n_bins = worth.shape[0] - 1
    best = np.empty(n_bins + 1)
    found = np.empty(n_bins + 1)
    best[0] = best[n_bins] = -np.inf
    value[0] = worth[0, n_bins]
    for place in range(1, n_bins):
        best[place] = worth[0, place]
    for n in range(1, value.size):
        low, high = first[n - 1], last[n - 1]
        value[n], choice[n, n_bins] = _best_before(best, worth, low, high, n_bins, tie)
        if n + 1 == value.size:
            break
        for place in range(n_bins + 1):
            found[place] = -np.inf
        for place in range(first[n], last[n] + 1):
            found[place], choice[n, place] = _best_before(
                best, worth, low, min(high, place - 1), place, tie
            )
        for place in range(n_bins + 1):
            best[place] = found[place]


@compiled
def _best_before(best, worth, low, high, place, tie):
    """Best last cut from low to high before a place; in the middle of the first plateau."""
    top, at, until = -np.inf, low, low
    for q in range(low, high + 1):
        total = best[q] + worth[q, place]
        if total > top + tie:
            top, at, until = total, q, q
        elif total >= top - tie and until == q - 1:
            until = q
    return top, (at + until) // 2
