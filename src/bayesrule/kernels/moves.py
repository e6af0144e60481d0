"""Loops of a search that moves one boundary at a time: rows of a slab change cells, and back."""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def rows_below(values, order, n_known, boundary):
    """How many of the rows in ``order`` (of ascending values) have a value below a boundary."""
    low, high = 0, n_known
    while low < high:
        middle = (low + high) // 2
        if values[order[middle]] < boundary:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def shift_rows(order, start, stop, step, addresses, planes, weights, table):
    """Move the rows from start to stop of an order by a step of the address."""
    for place in range(start, stop):
        i = order[place]
        a = addresses[i]
        table[a, planes[i]] -= weights[i]
        addresses[i] = a + step
        table[a + step, planes[i]] += weights[i]


@compiled
def gain_of_slices(table, weight, gain, by_priors, first, last, stride, n_levels):
    """Gain of the judging half in the cells of levels first to last of one feature.

    Each cell takes the decision that its learning half gains most by; an empty one, the decision
    ``by_priors``.
    """
    n_classes, n_decisions = gain.shape
    total = 0.0
    block = stride * n_levels
    for outer in range(0, table.shape[0], block):
        for c in range(outer + first * stride, outer + (last + 1) * stride):
            best, at, some = -np.inf, 0, False
            for d in range(n_decisions):
                worth = 0.0
                for k in range(n_classes):
                    mass = weight[k] * table[c, k]
                    some = some or mass > 0.0
                    worth += mass * gain[k, d]
                if worth > best:
                    best, at = worth, d
            if not some:
                at = by_priors
            for k in range(n_classes):
                total += weight[n_classes + k] * table[c, n_classes + k] * gain[k, at]
    return total
