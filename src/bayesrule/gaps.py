"""Rows with missing values, laid out for sweeping: the E-step of Student's EM.

What a row lacks is replaced by what its own values foretell, and the scatter that is left around
that is added. The weight of a row is told from the columns it has, whose margin is elliptical too
(Liu and Rubin, ML estimation of the t distribution using EM and its extensions, 1995).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from bayesrule.ellipses import Ellipses, Pull, Weighting
from bayesrule.kernels import elliptical as loops
from bayesrule.layouts import ByClass
from bayesrule.missing import missing_patterns


class Gaps(ByClass):
    """Rows with the columns they have."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray, edges: np.ndarray):
        # A row without any value says nothing.
        super().__init__(rows, np.where(np.isnan(rows).all(axis=1), 0.0, weights), edges)
        self._patterns = [(there, mine) for there, mine in missing_patterns(rows)]

    def measure(self, ellipses: Ellipses, pull: Pull) -> None:
        scatter = ellipses.scatter
        for there, mine in self._patterns:
            if len(there):
                self._distances(ellipses.location, scatter, pull.blur, there, mine)

    def _distances(
        self,
        location: np.ndarray,
        scatter: np.ndarray,
        blur: np.ndarray,
        there: np.ndarray,
        mine: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Deviations of rows of one pattern in the columns they have, the factor there, the blur's
        part of their squared distances."""
        apart = self._rows[mine[:, None], there] - location[self._codes[mine][:, None], there]
        factor = np.linalg.cholesky(scatter[there[:, None], there])
        z = solve_triangular(factor, apart.T, lower=True)
        beyond = float(blur[there] @ np.diag(cho_solve((factor, True), np.eye(len(there)))))
        self.out[mine] = np.einsum("ij,ij->j", z, z) + beyond
        return apart, factor, beyond

    def _sweep(self, ellipses: Ellipses, weighting: Weighting, pull: Pull) -> None:
        """Complete the rows of each pattern and gather what they tell."""
        for one in self.sums:
            one[:] = 0.0
        scatter, first, pulls, mass_u, mass_v, slopes = self.sums
        g, m = ellipses.location.shape
        whole, white = ellipses.scatter, ellipses.inverse
        for there, mine in self._patterns:
            if not len(there):
                continue
            apart, factor, beyond = self._distances(
                ellipses.location, whole, pull.blur, there, mine
            )
            u, v = np.empty(len(mine)), np.empty(len(mine))
            w = self.weights[mine]
            loops.row_weights(
                self.out[mine],
                w,
                weighting.kind,
                len(there),
                weighting.parameter,
                weighting.paper,
                weighting.near,
                ellipses.middle,
                beyond,
                u,
                v,
                slopes,
            )
            filled = np.zeros((len(mine), m))
            filled[:, there] = apart
            wide = np.zeros((m, len(there)))
            wide[there, np.arange(len(there))] = np.sqrt(pull.blur[there])
            absent = np.setdiff1d(np.arange(m), there)
            if len(absent):
                half = solve_triangular(factor, whole[there[:, None], absent], lower=True)
                slope = solve_triangular(factor, half, lower=True, trans=1)
                filled[:, absent] = apart @ slope
                wide[absent] = (slope * np.sqrt(pull.blur[there])[:, None]).T
                rest = whole[absent[:, None], absent] - half.T @ half
                left = white[:, absent]
                scatter += w.sum() * (left @ rest @ left.T)
            z = filled @ white.T
            scatter += (z * u[:, None]).T @ z
            if beyond > 0.0:
                wide = white @ wide
                scatter += u.sum() * (wide @ wide.T)
            codes = self._codes[mine]
            np.add.at(first, codes, u[:, None] * z)
            np.add.at(pulls, codes, v[:, None] * z)
            mass_u += np.bincount(codes, u, g)
            mass_v += np.bincount(codes, v, g)

    def measured(self) -> list[tuple[np.ndarray, np.ndarray, int]]:
        return [(self.out[mine], self.weights[mine], len(there)) for there, mine in self._patterns]

    def on_full_scale(self) -> np.ndarray:
        n_there = (~np.isnan(self._rows)).sum(axis=1)
        return self.out * (self._rows.shape[1] / np.maximum(n_there, 1))
