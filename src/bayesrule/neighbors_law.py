"""Settled nearest neighbours: votes, densities, and how sure they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import beta

from bayesrule.decide import log_of
from bayesrule.density import LogDensity
from bayesrule.nearest import POWERS
from bayesrule.neighborhood import Neighborhood
from bayesrule.shapes import log_ball
from bayesrule.tables import Table


@dataclass(frozen=True)
class NeighborsLaw(LogDensity):
    """Settled nearest neighbours.

    Attributes
    ----------
    around : Neighborhood
        Its ``rows`` are the distinct rows that were kept.
    k : float
    weighting : "uniform", "distance" or function
    smoothing : float
    thinning : Thinned or None
        What editing and condensing did.
    """

    around: Neighborhood
    k: float
    weighting: Any
    smoothing: float
    thinning: Any = None

    @property
    def block_rows(self) -> int | None:  # type: ignore[override]
        """Blocks for threads where a tree is searched; matrix products use all threads at once."""
        return 0 if self.around.points.by_tree else None

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density."""
        return self.around.totals > 0

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        queries = self.around.places(table.numbers)
        votes, _, _ = self.around.votes(queries, self.k, self.weighting)
        return self.around.log_density(votes, self.smoothing)

    def absolute_log_density(self, table: Table) -> np.ndarray:
        """Logarithms of the densities k_k / (n_k V), shape (n, K); infinite where V is zero."""
        assert table.numbers is not None
        votes, _, reach = self.around.votes(self.around.places(table.numbers), self.k, "uniform")
        n_columns = self.around.rows.shape[1]
        log_volume = n_columns * log_of(reach) + self.log_unit_ball()
        return self.around.log_density(votes, 0.0) - log_volume[:, None]

    def log_unit_ball(self) -> float:
        """Logarithm of the volume, in the user's units, of a ball of radius one."""
        around = self.around
        d = around.rows.shape[1]
        power = POWERS.get(around.metric) if isinstance(around.metric, str) else None
        matrix = np.ones(d) if around.mapping is None else around.mapping.matrix
        if power is None or (matrix.ndim == 2 and matrix.shape[0] != matrix.shape[1]):
            raise ValueError(
                f"A ball of the metric {around.metric!r} has no volume that is known; use "
                "'euclidean', 'manhattan', 'chebyshev', 'standardised' or 'within'."
            )
        shrunk = np.log(np.abs(matrix)).sum() if matrix.ndim == 1 else np.linalg.slogdet(matrix)[1]
        if around.scale is not None:
            shrunk = shrunk + log_of(around.scale).sum()
        unit = d * math.log(2.0)
        if power == 2:
            unit = log_ball(d)
        elif power == 1:
            unit -= float(gammaln(d + 1.0))
        return float(unit - shrunk)

    def posterior_interval(self, table: Table, priors: np.ndarray, level: float) -> np.ndarray:
        """Lower and upper bounds (n, K, 2) of the posteriors; see the classifier's method."""
        assert table.numbers is not None
        queries = self.around.places(table.numbers)
        votes, squares, _ = self.around.votes(queries, self.k, self.weighting)
        totals = self.around.totals
        worth = np.where(totals > 0, priors / np.where(totals > 0, totals, 1.0), 0.0)
        whole = votes.sum(axis=1, keepdims=True)
        share = votes / np.where(whole > 0, whole, 1.0)
        # As many equal votes as would tell as much.
        n = np.where(squares > 0, whole[:, 0] ** 2 / np.where(squares > 0, squares, 1.0), 0.0)[
            :, None
        ]
        tail = 0.5 * (1.0 - level)
        low = beta.ppf(tail, share * n + 0.5, (1.0 - share) * n + 0.5)
        high = beta.ppf(1.0 - tail, share * n + 0.5, (1.0 - share) * n + 0.5)
        low, high = np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)
        # What a vote for any other class is worth, there or, where there is none, on the whole.
        others = (share @ worth)[:, None] - share * worth
        beyond = 1.0 - share
        usual = worth @ totals - worth * totals
        rest = totals.sum() - totals
        usual = np.divide(usual, rest, out=np.zeros_like(usual), where=rest > 0)
        other = np.where(beyond > 1e-12, others / np.where(beyond > 1e-12, beyond, 1.0), usual)
        bounds = np.stack([low, high], axis=2)
        mine = worth[:, None] * bounds
        both = mine + other[:, :, None] * (1.0 - bounds)
        found: np.ndarray = np.divide(mine, both, out=np.zeros_like(mine), where=both > 0)
        return found
