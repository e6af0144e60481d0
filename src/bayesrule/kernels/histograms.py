"""Loops over bins: counting values, adding up logarithms, and the best blocks of sorted values."""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.cells import level_of
from bayesrule.kernels.compiler import compiled


@compiled
def count_levels(values, edges, offset, rows, codes, weights, counts):
    """Add the weight of each membership to its class and bin, column by column.

    Column j has the edges ``edges[offset[j]:offset[j + 1]]`` and one bin more than edges, the
    outer ones open; its bins begin at ``offset[j] + j``. Missing values count nowhere.
    """
    for e in range(rows.size):
        i = rows[e]
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x == x:
                level = level_of(x, edges, offset[j], offset[j + 1])
                counts[codes[e], offset[j] + j + level] += weights[e]


@compiled
def add_levels(values, edges, offset, table, out):
    """Add ``table[bin]``, a row of K numbers, of each column's bin to each row of ``out``.

    Beyond the edges at a distance d, with r the distance of the outer edges, log(r / (r + d)^2)
    is added too: the density of a tail of mass one. Missing values add nothing.
    """
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x != x:
                continue
            first, last = offset[j], offset[j + 1]
            level = level_of(x, edges, first, last)
            tail = 0.0
            if level == 0 or level == last - first:
                beyond = edges[first] - x if level == 0 else x - edges[last - 1]
                reach = edges[last - 1] - edges[first]
                tail = math.log(reach) - 2.0 * math.log(reach + max(beyond, 0.0))
            b = first + j + level
            for k in range(table.shape[1]):
                out[i, k] += table[b, k] + tail


@compiled
def count_even(values, codes, weights, low, span, counts):
    """Weights of the classes in even bins over [low, low + span]; ``counts`` is (K, M)."""
    n_bins = counts.shape[1]
    scale = n_bins / span
    for i in range(values.size):
        b = min(int((values[i] - low) * scale), n_bins - 1)
        counts[codes[i], b] += weights[i]


@compiled
def best_blocks(weights, edges, price):
    """Where the blocks of largest likelihood begin, ``price`` taken off for each block.

    ``weights`` (n, K) of sorted cells between the ``edges``; the likelihood of a block of length T
    that holds N_k of class k is the sum of N_k log(N_k / T). Dynamic programming over the last
    block's beginning (Scargle and others, 2013).
    """
    n, n_classes = weights.shape
    total = np.zeros((n + 1, n_classes))
    for i in range(n):
        for k in range(n_classes):
            total[i + 1, k] = total[i, k] + weights[i, k]
    best = np.zeros(n + 1)
    begin = np.zeros(n + 1, np.int64)
    for stop in range(1, n + 1):
        top = -math.inf
        for start in range(stop):
            log_length = math.log(edges[stop] - edges[start])
            score = best[start] - price
            for k in range(n_classes):
                held = total[stop, k] - total[start, k]
                if held > 0.0:
                    score += held * (math.log(held) - log_length)
            if score > top:
                top = score
                begin[stop] = start
        best[stop] = top
    n_blocks = 0
    at = n
    while at > 0:
        at = begin[at]
        n_blocks += 1
    starts = np.empty(n_blocks, np.int64)
    at = n
    for b in range(n_blocks - 1, -1, -1):
        at = begin[at]
        starts[b] = at
    return starts
