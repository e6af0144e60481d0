"""From log-densities to posteriors and decisions, over one block of rows.

The exponential in the middle is numpy's, which uses vector registers where a compiled loop calls
the scalar one; a block is small enough to stay in cache between the three steps. Posteriors and
decisions come from the same numbers, so a decision is always the first largest of the very gains
that ``expected_gains`` reports.
"""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def relative_to_top(log_density, priors, log_priors, relative, top_of_row):
    """Write log prior + log-density minus their largest; return the rows without support.

    A row without support, all of whose joint densities are zero, gets the priors: the data said
    nothing.
    """
    n_rows, n_classes = log_density.shape
    unsupported = 0
    for i in range(n_rows):
        top = -math.inf
        for k in range(n_classes):
            # A class without a prior stays out, even where its density is infinite.
            joint = log_density[i, k] + log_priors[k] if priors[k] > 0.0 else -math.inf
            relative[i, k] = joint
            top = max(top, joint)
        top_of_row[i] = top
        if top == -math.inf:
            unsupported += 1
            for k in range(n_classes):
                relative[i, k] = log_priors[k]
        elif top == math.inf:
            # Infinite densities (atoms of probability) share; their difference would be NaN.
            for k in range(n_classes):
                relative[i, k] = 0.0 if relative[i, k] == math.inf else -math.inf
        else:
            for k in range(n_classes):
                relative[i, k] -= top
    return unsupported


@compiled
def top_classes(log_density, log_priors, best):
    """Most probable class of each row, or -1; returns the number of rows left with -1.

    With a gain of one for the right class this is the decision, without any exponential. Classes
    nearly as probable as the top one, and rows without support, are left to the full computation,
    so that the answer is the same to the last bit.
    """
    n_rows, n_classes = log_density.shape
    undecided = 0
    for i in range(n_rows):
        top = log_density[i, 0] + log_priors[0]
        second = -math.inf
        first = 0
        for k in range(1, n_classes):
            joint = log_density[i, k] + log_priors[k]
            # Selections, not branches: which class is on top is what a processor cannot guess.
            better = joint > top
            lower = top if better else joint
            first = k if better else first
            top = joint if better else top
            second = lower if lower > second else second
        # An infinite density of a class without a prior makes a NaN, and that is no clear case.
        clear = (top - second > 1e-9) & (top < math.inf)
        best[i] = first if clear else -1
        undecided += not clear
    return undecided


@compiled
def normalise(weights, total):
    """Divide each row by its sum, in place, and write the sums."""
    n_rows, n_classes = weights.shape
    for i in range(n_rows):
        value = 0.0
        for k in range(n_classes):
            value += weights[i, k]
        total[i] = value
        share = 1.0 / value
        for k in range(n_classes):
            weights[i, k] *= share


@compiled
def expected_gains(posterior, gains, expected):
    """Expected gains of a block; ``gains`` is (1, K, A) or one matrix per row."""
    per_row = gains.shape[0] > 1
    for i in range(posterior.shape[0]):
        g = i if per_row else 0
        for d in range(gains.shape[2]):
            value = 0.0
            for k in range(posterior.shape[1]):
                value += posterior[i, k] * gains[g, k, d]
            expected[i, d] = value


@compiled
def best_decisions(weights, gains, best):
    """First decision of highest expected gain of each row of unnormalised posteriors."""
    n_rows, n_classes = weights.shape
    per_row = gains.shape[0] > 1
    posterior = np.empty(n_classes)
    for i in range(n_rows):
        total = 0.0
        for k in range(n_classes):
            total += weights[i, k]
        share = 1.0 / total
        for k in range(n_classes):
            posterior[k] = weights[i, k] * share
        g = i if per_row else 0
        first = 0
        highest = -math.inf
        for d in range(gains.shape[2]):
            value = 0.0
            for k in range(n_classes):
                value += posterior[k] * gains[g, k, d]
            # Selections, not branches: which decision wins is what a processor cannot guess.
            better = value > highest
            first = d if better else first
            highest = value if better else highest
        best[i] = first
