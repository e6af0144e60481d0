"""From log-densities to posteriors and decisions, row by row, without temporaries.

All loops share :func:`posterior_row` and :func:`gain_row`, so a decision is always the first
largest of the very gains that ``expected_gains`` reports.
"""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def posterior_row(log_density, priors, log_priors, posterior):
    """Write P(k | x); return log p(x), or -inf where no class with a prior supports the row.

    A row without support gets the priors: the data said nothing.
    """
    top = -math.inf
    for k in range(priors.size):
        if priors[k] > 0.0:
            joint = log_density[k] + log_priors[k]
            posterior[k] = joint
            if joint > top:
                top = joint
    if top == -math.inf:
        for k in range(priors.size):
            posterior[k] = priors[k]
        return -math.inf
    total = 0.0
    for k in range(priors.size):
        if priors[k] > 0.0:
            # Equal infinities (an atom of probability) share; their difference would be NaN.
            posterior[k] = 1.0 if posterior[k] == top else math.exp(posterior[k] - top)
            total += posterior[k]
        else:
            posterior[k] = 0.0
    for k in range(priors.size):
        posterior[k] /= total
    return top + math.log(total)


@compiled
def gain_row(posterior, gain, expected):
    """Write sum_k P(k | x) gain[k, d] for every decision d."""
    for d in range(gain.shape[1]):
        value = 0.0
        for k in range(posterior.size):
            # A class that is ruled out must not turn a large gain into a rounding error.
            if posterior[k] > 0.0:
                value += posterior[k] * gain[k, d]
        expected[d] = value


@compiled
def posteriors(log_density, priors, log_priors, posterior, log_marginal):
    """Posteriors and log p(x) of a block; returns the number of rows without support."""
    unsupported = 0
    for i in range(log_density.shape[0]):
        log_marginal[i] = posterior_row(log_density[i], priors, log_priors, posterior[i])
        unsupported += log_marginal[i] == -math.inf
    return unsupported


@compiled
def expected_gains(posterior, gains, expected):
    """Expected gains of a block; ``gains`` is (1, K, A) or one matrix per row."""
    for i in range(posterior.shape[0]):
        gain_row(posterior[i], gains[i if gains.shape[0] > 1 else 0], expected[i])


@compiled
def best_decisions(log_density, priors, log_priors, gains, best):
    """First decision of highest expected gain per row; returns the rows without support."""
    posterior = np.empty(priors.size)
    expected = np.empty(gains.shape[2])
    unsupported = 0
    for i in range(log_density.shape[0]):
        log_marginal = posterior_row(log_density[i], priors, log_priors, posterior)
        unsupported += log_marginal == -math.inf
        gain_row(posterior, gains[i if gains.shape[0] > 1 else 0], expected)
        top = 0
        for d in range(1, expected.size):
            if expected[d] > expected[top]:
                top = d
        best[i] = top
    return unsupported
