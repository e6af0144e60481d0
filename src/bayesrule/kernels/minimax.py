"""The loops behind minimax priors and shifted priors: sums over atoms (rows)."""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def best_response(atoms, priors, loss):
    """Class risks of the rule that is best under ``priors``.

    ``atoms[i, k]`` is the probability of atom i under class k (columns sum to one). The rule takes,
    at each atom, the first decision of smallest prior-weighted loss.
    """
    n_classes, n_decisions = loss.shape
    risks = np.zeros(n_classes)
    for i in range(atoms.shape[0]):
        best = 0
        smallest = np.inf
        for d in range(n_decisions):
            value = 0.0
            for k in range(n_classes):
                value += priors[k] * atoms[i, k] * loss[k, d]
            if value < smallest:
                smallest = value
                best = d
        for k in range(n_classes):
            risks[k] += atoms[i, k] * loss[k, best]
    return risks


@compiled
def expected_shares(likelihood, priors):
    """Mean posterior of the rows under ``priors``: one step of the EM for shifted priors."""
    n_rows, n_classes = likelihood.shape
    shares = np.zeros(n_classes)
    for i in range(n_rows):
        total = 0.0
        for k in range(n_classes):
            total += priors[k] * likelihood[i, k]
        for k in range(n_classes):
            shares[k] += priors[k] * likelihood[i, k] / total
    return shares / n_rows
