"""The rule itself, as pure functions of arrays.

gain of decision d at x   =   sum over classes k of   gain[k, d] * P(k | x)
P(k | x)                  ∝   prior[k] * density(x | k)
decide(x)                 =   the first d of highest gain
"""

from __future__ import annotations

import numpy as np

from bayesrule.gains import regret
from bayesrule.kernels import decide as loops


def log_of(priors: np.ndarray) -> np.ndarray:
    """Logarithm with log 0 = -inf and no warning."""
    with np.errstate(divide="ignore"):
        return np.log(priors)


def posterior(log_density: np.ndarray, priors: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """P(k | x), log p(x), and how many rows no class with a prior supports.

    Only differences along a row of ``log_density`` matter for the posterior. A row without support
    gets the priors.

    Examples
    --------
    >>> import numpy as np
    >>> P, _, _ = posterior(np.log([[0.2, 0.6]]), np.array([0.75, 0.25]))
    >>> P.round(3)
    array([[0.5, 0.5]])
    """
    weights, top, unsupported = _unnormalised(log_density, priors)
    total = np.empty(len(weights))
    loops.normalise(weights, total)
    return weights, top + np.log(total), unsupported


def _unnormalised(
    log_density: np.ndarray, priors: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Joint densities relative to the largest of the row, its logarithm, rows without support."""
    log_density = np.ascontiguousarray(log_density, dtype=np.float64)
    relative = np.empty_like(log_density)
    top = np.empty(len(log_density))
    unsupported = loops.relative_to_top(log_density, priors, log_of(priors), relative, top)
    with np.errstate(under="ignore"):
        return np.exp(relative, out=relative), top, unsupported


def expected_gains(probabilities: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Expected gain of every decision; ``gains`` is (K, A), or (n, K, A) for gains per row."""
    gains = np.ascontiguousarray(gains if gains.ndim == 3 else gains[None])
    expected = np.empty((len(probabilities), gains.shape[2]))
    loops.expected_gains(np.ascontiguousarray(probabilities), gains, expected)
    return expected


def best_decisions(
    log_density: np.ndarray, priors: np.ndarray, gains: np.ndarray
) -> tuple[np.ndarray, int]:
    """Place of the first decision of highest expected gain, and the rows without support."""
    gains = np.ascontiguousarray(gains if gains.ndim == 3 else gains[None])
    log_density = np.ascontiguousarray(log_density, dtype=np.float64)
    best = np.empty(len(log_density), np.intp)
    if len(gains) == 1 and _one_if_right(gains[0]):
        if not loops.top_classes(log_density, log_of(priors), best):
            return best, 0
        rest = np.flatnonzero(best < 0)
        best[rest], unsupported = _by_gains(log_density[rest], priors, gains)
        return best, unsupported
    return _by_gains(log_density, priors, gains)


def _one_if_right(gain: np.ndarray) -> bool:
    """Whether the gain is one for the right class and zero otherwise."""
    return gain.shape[0] == gain.shape[1] and np.array_equal(gain, np.eye(len(gain)))


def _by_gains(
    log_density: np.ndarray, priors: np.ndarray, gains: np.ndarray
) -> tuple[np.ndarray, int]:
    """First decision of highest expected gain, from the gains themselves."""
    weights, _, unsupported = _unnormalised(log_density, priors)
    best = np.empty(len(weights), np.intp)
    loops.best_decisions(weights, gains, best)
    return best, unsupported


def decision_scores(probabilities: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """A score per decision that sums to one and keeps the order of expected gains.

    With regrets R[k, d] = max_a gain[k, a] - gain[k, d] and r_d = sum_k P_k R[k, d], the score is
    p_d = (S - r_d) / ((A - 1) S), S the sum of r: equation (6) of Chen et al. (SUM 2024), made
    well defined for any gain. It is at most 1 / (A - 1), and a dominated extra column changes it.

    Examples
    --------
    >>> import numpy as np
    >>> decision_scores(np.array([[4 / 9, 5 / 9]]), np.array([[0, -2], [-3, 0]])) * 23
    array([[ 8., 15.]])
    """
    n_decisions = gain.shape[1]
    if n_decisions == 1:
        return np.ones((len(probabilities), 1))
    risk = expected_gains(probabilities, regret(gain))
    total = risk.sum(axis=1, keepdims=True)
    return np.divide(
        total - risk,
        (n_decisions - 1) * total,
        out=np.full_like(risk, 1.0 / n_decisions),
        where=total > 0,
    )
