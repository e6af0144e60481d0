"""Far rows: what most rows of the classes tell of places and spreads, wherever a few others lie.

Variances are as large as the farthest rows make them. Robust scatters begin at them, and are pulled
towards them where rows are few; both are to be told from most rows where some lie far out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesrule.kernels import elliptical as loops
from bayesrule.stats import Sample

#: Variances so many times those of most rows tell of far rows: in these units outliers lie ten
#: standard deviations away, all of them, or a few of them farther.
FAR = 100.0
#: Rows that are looked at to see whether there are far ones.
LOOKED_AT = 1000
#: Squared median deviation of a standard Gaussian.
GAUSSIAN = 0.6744897501960817**2


@dataclass(frozen=True)
class Most:
    """Medians of classes and columns, and the variances that deviations from them amount to.

    Attributes
    ----------
    median, variance : ndarray of shape (K, m)
        Zero where a class has no values.
    typical : ndarray of shape (m,)
        Variances within the classes.
    overall : ndarray of shape (m,)
        Variances over the classes.
    """

    median: np.ndarray
    variance: np.ndarray
    typical: np.ndarray
    overall: np.ndarray


def of_most(sample: Sample, weight: np.ndarray) -> Most:
    """Medians and variances of most rows; ``weight`` is that of each class and column."""
    median, variance = np.zeros(weight.shape), np.zeros(weight.shape)
    for k in np.unique(sample.codes):
        mine = sample.codes == k
        rows, masses = sample.rows[mine], sample.weights[mine]
        for j in range(weight.shape[1]):
            there = ~np.isnan(rows[:, j])
            values = np.asarray(rows[there, j], np.float64)
            if len(values):
                median[k, j] = loops.middle_of(values, masses[there])
                apart = np.abs(values - median[k, j])
                variance[k, j] = loops.middle_of(apart, masses[there]) ** 2 / GAUSSIAN
    total = weight.sum(axis=0)
    share = weight / np.where(total > 0, total, 1.0)
    typical = (share * variance).sum(axis=0)
    between = (share * (median - (share * median).sum(axis=0)) ** 2).sum(axis=0)
    return Most(median, variance, typical, typical + between)


def most_where_far(sample: Sample, weight: np.ndarray, typical: np.ndarray) -> Most | None:
    """What most rows tell, where others lie so far out that the variances do not tell it."""
    step = -(-len(sample.rows) // LOOKED_AT)
    if step > 1:
        some = Sample(sample.rows[::step], sample.codes[::step], sample.weights[::step])
        if not _far(of_most(some, weight), typical).any():
            return None
    most = of_most(sample, weight)
    return most if _far(most, typical).any() else None


def _far(most: Most, typical: np.ndarray) -> np.ndarray:
    """Columns whose variances are those of far rows; where most values are equal, none is told."""
    return np.asarray((most.typical > 0) & (typical > FAR * most.typical))
