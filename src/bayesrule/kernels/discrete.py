"""Loops over categories and zero-one values: count, and add up log-probabilities."""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def column_ranges(codes):
    """Smallest and largest code of each column."""
    n_columns = codes.shape[1]
    low = np.empty(n_columns, np.int64)
    high = np.empty(n_columns, np.int64)
    for j in range(n_columns):
        low[j] = high[j] = codes[0, j]
    for i in range(1, codes.shape[0]):
        for j in range(n_columns):
            code = np.int64(codes[i, j])
            low[j] = min(low[j], code)
            high[j] = max(high[j], code)
    return low, high


@compiled
def count_codes(codes, rows, classes, weights, low, offset, counts):
    """Add the weight of each entry to its cell of every column; codes below ``low`` are missing."""
    for e in range(rows.size):
        i = rows[e]
        k = classes[e]
        w = weights[e]
        for j in range(codes.shape[1]):
            code = np.int64(codes[i, j]) - low[j]
            if code >= 0:
                counts[offset[j] + code, k] += w


@compiled
def add_log_probabilities(codes, low, width, offset, table, out):
    """Sum the rows of ``table`` that the codes point at.

    Column j owns rows ``offset[j] .. offset[j] + width[j]``; the last of them is for codes outside
    its range: an unsigned difference is large for those below, so one minimum serves both ends.
    Two classes at a time keep their sums in registers.
    """
    n_rows, n_columns = codes.shape
    n_classes = table.shape[1]
    for i in range(n_rows):
        for k in range(0, n_classes - 1, 2):
            first = 0.0
            second = 0.0
            for j in range(n_columns):
                code = np.uint64(np.int64(codes[i, j]) - low[j])
                row = offset[j] + np.int64(min(code, np.uint64(width[j])))
                first += table[row, k]
                second += table[row, k + 1]
            out[i, k] = first
            out[i, k + 1] = second
        if n_classes % 2 == 1:
            last = 0.0
            for j in range(n_columns):
                code = np.uint64(np.int64(codes[i, j]) - low[j])
                last += table[offset[j] + np.int64(min(code, np.uint64(width[j]))), n_classes - 1]
            out[i, n_classes - 1] = last


@compiled
def count_ones(values, threshold, rows, classes, weights, n_classes):
    """Weights of the values that are there, and of those above the threshold."""
    n_columns = values.shape[1]
    weight = np.zeros((n_classes, n_columns))
    ones = np.zeros((n_classes, n_columns))
    for e in range(rows.size):
        i = rows[e]
        k = classes[e]
        w = weights[e]
        for j in range(n_columns):
            value = values[i, j]
            if not math.isnan(value):
                weight[k, j] += w
                if value > threshold:
                    ones[k, j] += w
    return weight, ones


@compiled
def add_bernoulli(values, threshold, log_one, log_zero, out):
    """Sum log P(one) or log P(zero) over the columns that have a value."""
    for i in range(values.shape[0]):
        for k in range(log_one.shape[0]):
            log_density = 0.0
            for j in range(values.shape[1]):
                value = values[i, j]
                if not math.isnan(value):
                    log_density += log_one[k, j] if value > threshold else log_zero[k, j]
            out[i, k] = log_density
