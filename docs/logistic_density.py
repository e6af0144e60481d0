"""Independent logistic laws: a whole density, in one short file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesrule.covariances import typical_variances
from bayesrule.density import Density, LogDensity
from bayesrule.magnitudes import refuse_beyond_squares
from bayesrule.memberships import Memberships
from bayesrule.moments import moments_by_column
from bayesrule.stats import Moments
from bayesrule.tables import Table


class Logistic(Density):
    """A logistic law per class and column."""

    learns: ClassVar[bool] = False

    def tally(self, table: Table, memberships: Memberships) -> Moments:
        """Weight, mean and second moment of each class and column."""
        refuse_beyond_squares(table.numbers)  # clearer than an infinite variance
        return moments_by_column(table, memberships)

    def settle(self, stats: Moments) -> LogDensity:
        """Locations and scales; what does not vary borrows a spread."""
        typical = typical_variances(stats)
        typical = np.where(typical > 0, typical, 1.0)
        variance = stats.second / np.maximum(stats.weight, 1.0)
        variance = np.where(variance > 1e-12 * typical, variance, typical)
        scale = np.sqrt(3.0 * variance) / np.pi
        return LogisticLaw(stats.mean + stats.shift, scale, stats.weight[:, 0] > 0)


@dataclass(frozen=True)
class LogisticLaw(LogDensity):
    """Locations and scales, shape (K, D); classes without rows have no density."""

    location: np.ndarray
    scale: np.ndarray
    seen: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        out = np.full((len(table), len(self.seen)), -np.inf)
        for k in np.flatnonzero(self.seen):
            z = np.abs(table.numbers - self.location[k]) / self.scale[k]
            out[:, k] = -(z + 2.0 * np.log1p(np.exp(-z)) + np.log(self.scale[k])).sum(axis=1)
        return out
