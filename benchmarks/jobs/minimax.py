"""Minimax priors: cutting planes beside the whole problem as one linear programme.

Over atoms a[i, k], the probability of atom i under class k, and losses L[k, d],

    maximise over priors   sum_i min_d sum_k priors[k] a[i, k] L[k, d]

which, with a variable t_i below each of the terms of the minimum, is linear.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from bayesrule import Minimax
from benchmarks.agreement import OPTIMUM_TOLERANCE
from benchmarks.contest import Contest
from benchmarks.data import probabilities
from benchmarks.jobs import job


def zero_one_programme(atoms: np.ndarray) -> dict[str, Any]:
    """The linear programme for zero-one losses, as arguments of ``linprog``."""
    n, n_classes = atoms.shape
    losses = 1.0 - np.eye(n_classes)
    below = sparse.vstack(
        [
            sparse.hstack([sparse.csr_array(-atoms * losses[:, d]), sparse.eye_array(n)])
            for d in range(n_classes)
        ],
        format="csr",
    )
    return {
        "c": np.r_[np.zeros(n_classes), -np.ones(n)],
        "A_ub": below,
        "b_ub": np.zeros(n_classes * n),
        "A_eq": np.r_[np.ones(n_classes), np.zeros(n)][None],
        "b_eq": [1.0],
        "bounds": [(0.0, 1.0)] * n_classes + [(None, None)] * n,
    }


def optima_differ(ours: Any, theirs: Any) -> str:
    """Both ended, and their largest values are the same."""
    if theirs.status != 0:
        return f"the programme was not solved: {theirs.message}"
    if ours.gap > OPTIMUM_TOLERANCE:
        return f"our optimum is certain to {ours.gap:.2g} only"
    if abs(ours.value + theirs.fun) > OPTIMUM_TOLERANCE:
        return f"optima {ours.value:.9g} and {-theirs.fun:.9g}"
    return ""


#: Atoms times classes up to which the simplex method ends in reasonable time.
LARGEST_SIMPLEX = 40_000


def solve(n_classes: int, n: int) -> Contest:
    """Zero-one losses over n atoms."""
    atoms = probabilities(n, n_classes)
    atoms /= atoms.sum(axis=0)
    # Its matrices are made beforehand: the peer is charged for solving alone.
    whole = partial(linprog, **zero_one_programme(atoms))
    peers = {"linprog, interior point": partial(whole, method="highs-ipm")}
    if n * n_classes <= LARGEST_SIMPLEX:
        peers["linprog, simplex"] = partial(whole, method="highs-ds")
    ours = partial(Minimax().solve, atoms, np.eye(n_classes), np.arange(n_classes))
    return Contest(ours, optima_differ, peers)


job("minimax priors, K=3", sizes=(1000, 10_000, 100_000), quick=(10_000,), tiny=100)(
    partial(solve, 3)
)
job("minimax priors, K=20", sizes=(200, 2000), tiny=50)(partial(solve, 20))
