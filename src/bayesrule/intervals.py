"""Confidence limits for an expected gain that is a mixture of class means.

    G = sum over classes k of   prior[k] * (mean gain of the rows of class k)

Errors that matter are rare and dear, so the usual normal interval fails where it is needed most:
ten faultless rows give it no width at all. Two steps mend that.

1. Within a class, the observed gains are given random (Dirichlet) weights. Before the lower limit
   is read off, three quarters of a row with the worst gain a decision of the class can have are
   added; before the upper limit, as much with the best gain. A class without errors thus keeps the
   chance of some. A whole row would be the exact binomial limits, which cover too often, and none
   the Bayesian bootstrap, which collapses; three quarters was the least that left no cell of a
   simulation far below its level.
2. Across classes, the distances from mean to limit are squared, weighted by the squared priors and
   added, for each side apart, so that skewness survives.

References
----------
Rubin: The Bayesian bootstrap, Annals of Statistics 9(1), 1981.
Zou, Donner: Construction of confidence limits about effect measures, Statistics in Medicine 27,
2008.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri

#: Weight, in rows, of the worst and of the best gain that was perhaps not seen.
UNSEEN_ROWS = 0.75


def mixture_limits(
    priors: np.ndarray, means: np.ndarray, limits: np.ndarray
) -> tuple[float, float]:
    """Limits for sum_k prior_k mean_k, from independent limits (K, 2) for each mean.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_limits(np.array([0.5, 0.5]), np.zeros(2), np.array([[-6.0, 1.0], [-8.0, 0.0]]))
    (-5.0, 0.5)
    """
    centre = float(priors @ means)
    below = np.linalg.norm(priors * (means - limits[:, 0]))
    above = np.linalg.norm(priors * (limits[:, 1] - means))
    return centre - float(below), centre + float(above)


def mean_limits(
    gains: np.ndarray,
    weights: np.ndarray,
    worst: float,
    best: float,
    confidence: float,
    squares: float | None = None,
) -> tuple[float, float]:
    """Limits for the mean gain of one class, from the weighted gains of its rows.

    Weights count by their effective sample size, (sum of weights)^2 / (sum of their squares). Rows
    of one gain may be told together; ``squares`` is then the sum of the squares of their weights.

    Examples
    --------
    Twenty rows without an error, where one would cost 100:

    >>> import numpy as np
    >>> low, high = mean_limits(np.zeros(20), np.ones(20), -100.0, 0.0, 0.95)
    >>> round(low, 1), high
    (-14.3, 0.0)
    """
    total = weights.sum()
    rows = weights * (total / ((weights**2).sum() if squares is None else squares))
    mean = float(gains @ weights) / total
    tail = 0.5 * (1.0 - confidence)
    low = _quantile(tail, gains, rows, worst)
    high = _quantile(1.0 - tail, gains, rows, best)
    return max(min(low, mean), worst), min(max(high, mean), best)


def _quantile(level: float, gains: np.ndarray, rows: np.ndarray, unseen: float) -> float:
    """Quantile of the mean gain under Dirichlet weights, by its first three moments.

    A Pearson type III law with these moments is a gamma law where errors are rare and a normal law
    where they are many.
    """
    total = rows.sum() + UNSEEN_ROWS
    mean = (gains @ rows + UNSEEN_ROWS * unseen) / total
    apart, unseen_apart = gains - mean, unseen - mean
    second = (apart**2 @ rows + UNSEEN_ROWS * unseen_apart**2) / total
    third = (apart**3 @ rows + UNSEEN_ROWS * unseen_apart**3) / total
    if second <= 0:
        return float(mean)
    spread = np.sqrt(second / (total + 1.0))
    skewness = 2.0 * third / ((total + 1.0) * (total + 2.0)) / spread**3
    return float(mean + spread * _standard_quantile(level, skewness))


def _standard_quantile(level: float, skewness: float) -> float:
    """Quantile of the Pearson type III law of mean zero and variance one."""
    if abs(skewness) < 1e-4:  # beyond, the gamma law loses digits and hardly differs
        return float(ndtri(level))
    shape = 4.0 / skewness**2
    if skewness > 0:
        return float((gammaincinv(shape, level) - shape) / np.sqrt(shape))
    return float((shape - gammaincinv(shape, 1.0 - level)) / np.sqrt(shape))
