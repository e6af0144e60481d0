"""Loops of the diagonal laws: moments and log-densities in one pass over memory."""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def sums_about_first(values, rows, codes, weights, n_classes):
    """Weight, first row, and sums of (x - first) and (x - first)^2 per class.

    The first row of a class lies within the class, so the squares that are summed are of the
    size of the variance, whatever the distance from zero. Three loops over a row, through a
    buffer, take two thirds of the time of one: each needs few registers and no more than two of
    the arrays that the compiler must prove apart.
    """
    n_columns = values.shape[1]
    weight = np.zeros(n_classes)
    first = np.zeros((n_classes, n_columns))
    total = np.zeros((n_classes, n_columns))
    squares = np.zeros((n_classes, n_columns))
    deviation = np.empty(n_columns)
    for e in range(rows.size):
        i = rows[e]
        k = codes[e]
        w = weights[e]
        if weight[k] == 0.0:
            for j in range(n_columns):
                first[k, j] = values[i, j]
        weight[k] += w
        for j in range(n_columns):
            deviation[j] = values[i, j] - first[k, j]
        for j in range(n_columns):
            total[k, j] += w * deviation[j]
        for j in range(n_columns):
            squares[k, j] += w * deviation[j] * deviation[j]
    return weight, first, total, squares


@compiled
def sums_about_first_seen(values, rows, codes, weights, n_classes):
    """The same with missing values: every column keeps its own weight and first value."""
    n_columns = values.shape[1]
    weight = np.zeros((n_classes, n_columns))
    first = np.zeros((n_classes, n_columns))
    total = np.zeros((n_classes, n_columns))
    squares = np.zeros((n_classes, n_columns))
    for e in range(rows.size):
        i = rows[e]
        k = codes[e]
        w = weights[e]
        for j in range(n_columns):
            value = values[i, j]
            if math.isnan(value):
                continue
            if weight[k, j] == 0.0:
                first[k, j] = value
            weight[k, j] += w
            deviation = value - first[k, j]
            total[k, j] += w * deviation
            squares[k, j] += w * deviation * deviation
    return weight, first, total, squares


#: Rows of a class that are gathered before they are added up, column by column.
GATHERED = 256
#: Rows, at least, among which those of a class are looked for: few enough for a core's cache.
NEAR = 8192


@compiled
def scatter_of_classes(values, rows, codes, weights, n_classes, shared):
    """Weight, first row, mean less that row, and scatter about the mean, of each class.

    Rows are gathered class by class, and each gathering is centred about its own mean before it is
    added to those before, so no digits are lost wherever the data lie. One scatter is kept for all
    classes if it is ``shared``. Places are unsigned: signed ones might count from the end, and
    looking into that for every value takes as long as all the rest.
    """
    n_columns = values.shape[1]
    uneven = 0
    for e in range(weights.size):
        uneven += weights[e] != 1.0
    even = uneven == 0
    near = max(NEAR, GATHERED * n_classes)
    order = np.empty(min(near, rows.size), np.uint32)
    gathered = np.empty((n_columns, GATHERED))
    gathered_weights = np.ones(GATHERED)
    weight = np.zeros(n_classes)
    seen = np.zeros(n_classes, np.bool_)
    first = np.zeros((n_classes, n_columns))
    mean = np.zeros((n_classes, n_columns))
    second = np.zeros((1 if shared else n_classes, n_columns, n_columns))
    for since in range(0, rows.size, near):
        begin = by_class(codes, since, min(since + near, rows.size), n_classes, order)
        for k in range(n_classes):
            if begin[k] < begin[k + 1] and not seen[k]:
                seen[k] = True
                for j in range(n_columns):
                    first[k, j] = values[rows[order[begin[k]]], j]
            for start in range(begin[k], begin[k + 1], GATHERED):
                some = order[start : min(start + GATHERED, begin[k + 1])]
                if not even:
                    for f in range(some.size):
                        gathered_weights[f] = weights[np.uint64(some[f])]
                for f in range(some.size):
                    some[f] = rows[np.uint64(some[f])]
                for j in range(n_columns):
                    column, out, origin = values[:, j], gathered[j], first[k, j]
                    for f in range(some.size):
                        out[f] = column[np.uint64(some[f])] - origin
                weight[k] = add_gathered(
                    gathered,
                    gathered_weights,
                    some.size,
                    even,
                    weight[k],
                    mean[k],
                    second[0 if shared else k],
                )
    for scatter in second:
        for j in range(n_columns):
            for i in range(j):
                scatter[i, j] = scatter[j, i]
    return weight, first, mean, second


@compiled
def by_class(codes, start, stop, n_classes, order):
    """Put the entries from ``start`` to ``stop`` in order of their classes; where each begins."""
    begin = np.zeros(n_classes + 1, np.int64)
    for e in range(start, stop):
        begin[np.uint64(codes[e]) + np.uint64(1)] += 1
    for k in range(n_classes):
        begin[k + 1] += begin[k]
    at = np.empty(n_classes, np.int64)
    for k in range(n_classes):
        at[k] = begin[k]
    for e in range(start, stop):
        mine = np.uint64(codes[e])
        order[np.uint64(at[mine])] = e
        at[mine] += 1
    return begin


@compiled(reassociate=True)
def add_gathered(columns, weights, n_rows, even, weight, mean, scatter):
    """Add rows to a mean and to the lower half of a scatter about it; returns the new weight.

    ``even`` rows weigh one each.
    """
    more = 0.0
    for f in range(n_rows):
        more += weights[f]
    if more <= 0.0:
        return weight
    n_columns = columns.shape[0]
    apart = np.empty(n_columns)
    between = weight * more / (weight + more)
    for j in range(n_columns):
        total = 0.0
        for f in range(n_rows):
            total += weights[f] * columns[j, f]
        centre = total / more
        apart[j] = centre - mean[j]
        mean[j] += apart[j] * more / (weight + more)
        for f in range(n_rows):
            columns[j, f] -= centre
    weighted = columns if even else np.empty((2, n_rows))
    for j in range(0, n_columns, 2):
        # Two columns by two: each number that is read serves two products.
        last = min(j + 1, n_columns - 1)
        if not even:
            for f in range(n_rows):
                weighted[0, f] = weights[f] * columns[j, f]
                weighted[1, f] = weights[f] * columns[last, f]
        one, other = (weighted[j], weighted[last]) if even else (weighted[0], weighted[1])
        for i in range(0, j + 1, 2):
            next = min(i + 1, n_columns - 1)
            a = b = c = d = 0.0
            for f in range(n_rows):
                a += one[f] * columns[i, f]
                b += one[f] * columns[next, f]
                c += other[f] * columns[i, f]
                d += other[f] * columns[next, f]
            scatter[j, i] += a + between * apart[j] * apart[i]
            if next > i and next <= j:
                scatter[j, next] += b + between * apart[j] * apart[next]
            if last > j:
                scatter[last, i] += c + between * apart[last] * apart[i]
                if next > i:
                    scatter[last, next] += d + between * apart[last] * apart[next]
    return weight + more


@compiled(reassociate=True)
def log_density_complete(values, mean, half_precision, log_constant, out):
    """log N(x | mean, diagonal) for rows without missing values."""
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        for k in range(mean.shape[0]):
            distance = 0.0
            for j in range(n_columns):
                deviation = values[i, j] - mean[k, j]
                distance += deviation * deviation * half_precision[k, j]
            out[i, k] = log_constant[k] - distance


@compiled
def log_density_marginal(values, mean, half_precision, log_norm, out):
    """The same where a missing value is left out of the product, which marginalises it exactly."""
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        for k in range(mean.shape[0]):
            log_density = 0.0
            for j in range(n_columns):
                value = values[i, j]
                if not math.isnan(value):
                    deviation = value - mean[k, j]
                    log_density += log_norm[k, j] - deviation * deviation * half_precision[k, j]
            out[i, k] = log_density


@compiled
def log_density_student(values, location, inverse_scale, power, log_norm, out):
    """Sum over columns of log_norm - power * log(1 + z^2), z = (x - location) * inverse_scale.

    Missing values are left out. Columns of equal power share one logarithm: ``grown`` is the
    product of their 1 + z^2, less one, built without the one so that small z keep their digits.
    """
    n_columns = values.shape[1]
    for i in range(values.shape[0]):
        for k in range(location.shape[0]):
            log_density = 0.0
            grown = 0.0
            held = 0.0
            for j in range(n_columns):
                value = values[i, j]
                if math.isnan(value):
                    continue
                z = (value - location[k, j]) * inverse_scale[k, j]
                square = z * z
                log_density += log_norm[k, j]
                if power[k, j] != held or grown > 1e100:
                    log_density -= held * math.log1p(grown)
                    grown = 0.0
                    held = power[k, j]
                if square < 1e100:
                    grown += square + grown * square
                else:  # the square may have overflown, and z itself
                    apart = math.log(abs(value - location[k, j])) + math.log(inverse_scale[k, j])
                    log_density -= 2.0 * held * apart
            out[i, k] = log_density - held * math.log1p(grown)
