"""How far posteriors can be believed: reliability tables, Brier score and log loss.

Every row counts its share under the stated priors, so the figures are those of the place where the
rule will be used, whatever the class shares of the rows at hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bins of a reliability table at most.
BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was predicted for a class, and how often it came true; one entry per bin.

    The bins have about equal weight, so that a rare class gets as many as a common one. Rows with
    one and the same prediction are never parted.

    Attributes
    ----------
    predicted : ndarray
        Mean posterior of the class.
    observed : ndarray
        Frequency of the class.
    weight : ndarray
        Share of the rows under the stated priors; sums to one.
    """

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray


def reliability(posterior: np.ndarray, happened: np.ndarray, shares: np.ndarray) -> Reliability:
    """Reliability of the posteriors of one class.

    Examples
    --------
    >>> import numpy as np
    >>> table = reliability(np.array([0.2, 0.2, 0.9]), np.array([0, 1, 1]), np.full(3, 1 / 3))
    >>> table.predicted, table.observed
    (array([0.2, 0.9]), array([0.5, 1. ]))
    """
    # Rounding must not part what is one prediction, say a chance of one and of one less a bit.
    values, where = np.unique(np.round(posterior, 12), return_inverse=True)
    weight = np.bincount(where, shares)
    middle = np.cumsum(weight) - 0.5 * weight
    bins = np.minimum((BINS * middle / weight.sum()).astype(int), BINS - 1)
    total = np.bincount(bins, weight)
    predicted = np.bincount(bins, weight * values)
    observed = np.bincount(bins[where], shares * happened)
    used = total > 0
    return Reliability(
        predicted=predicted[used] / total[used],
        observed=observed[used] / total[used],
        weight=total[used] / total.sum(),
    )


def brier_score(posteriors: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> float:
    """Mean squared distance between posterior and truth, halved for two classes.

    As in scikit-learn: for two classes it is the squared error of one posterior, for more the sum
    of the squared errors of all.
    """
    truth = np.zeros_like(posteriors)
    truth[np.arange(len(codes)), codes] = 1.0
    distance = float(shares @ ((posteriors - truth) ** 2).sum(axis=1))
    return distance / 2.0 if posteriors.shape[1] == 2 else distance


def log_loss(posteriors: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> float:
    """Mean of -log P(true class | x), posteriors below the machine precision raised to it."""
    smallest = np.finfo(posteriors.dtype).eps
    of_truth = posteriors[np.arange(len(codes)), codes]
    return float(-(shares @ np.log(np.clip(of_truth, smallest, 1.0 - smallest))))
