"""Settled elliptical densities: one distance, four ways to make it a score.

    log f_k(x)  =  -1/2 [ h(t_k) + c log det S_k ],      t_k = (x - m_k)' S_k^-1 (x - m_k)

with h(t) = t and c = 1 (QDA), h(t) = t and c fitted (GQDA), h(t) = m log t and c = 1 (FEMDA), or
the logarithm of a Student. Only the first and the last are normalised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from bayesrule.covariances import LOG_2PI, whiten
from bayesrule.density import LogDensity
from bayesrule.distances import log_of_squares, log_squares, squared_distances
from bayesrule.gaussian_laws import log_student_constant
from bayesrule.kernels.elliptical import AT_LOCATION
from bayesrule.missing import missing_patterns
from bayesrule.tables import Table


@dataclass(frozen=True)
class EllipticalLaw(LogDensity):
    """Settled elliptical classes.

    Attributes
    ----------
    rule : {"gaussian", "gqda", "femda", "student"}
    location : ndarray of shape (K, D)
    scatter : ndarray of shape (K, D, D), or (1, D, D) where it is tied
        Zero in columns that never vary.
    dof : ndarray of shape (K,)
        Degrees of freedom; NaN where there are none.
    threshold : float
        What the log-determinants are multiplied by: 1, but for GQDA.
    shrinkage : ndarray of shape (K,)
        Share of each scatter that was replaced by a diagonal.
    iterations : ndarray of int of shape (K,)
        Sweeps over the rows until each class had settled.
    row_weights : ndarray of shape (n,)
        What each training row counted in its class's scatter, relative to the mean of the class:
        a row the fit distrusts is near 0. In the order of the rows that were fitted, without those
        of weight zero.
    middle : ndarray of shape (K,)
        Median squared distance of the training rows of each class.
    seen : bool ndarray of shape (K,)
        Classes that have a density.
    varying : ndarray of int
        Columns that vary at all. The others tell no class from another.
    """

    rule: str
    location: np.ndarray
    scatter: np.ndarray
    dof: np.ndarray
    threshold: float
    shrinkage: np.ndarray
    iterations: np.ndarray
    row_weights: np.ndarray
    middle: np.ndarray
    seen: np.ndarray
    varying: np.ndarray
    factored: tuple[np.ndarray, np.ndarray] | None = None

    def ready(self) -> EllipticalLaw:
        """The same with the scatters factored once."""
        return replace(
            self, factored=_factored(self.scatter[:, self.varying[:, None], self.varying])
        )

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        assert self.factored is not None
        values = table.numbers
        if self._all_vary and not table.missing:
            out = self._scored(values, self.varying, self.factored)
        else:
            out = np.empty((len(values), len(self.location)))
            for columns, rows in self._patterns(values, table.missing):
                mine = values[rows[:, None], columns]
                scored = self._scored(mine, columns, self._factors(columns))
                out[rows] = scored + self._constant(values[rows])
        if not self.seen.all():
            out[:, ~self.seen] = -np.inf
        return out

    @property
    def half_log_det(self) -> np.ndarray:
        """Half the logarithm of the determinant of each scatter."""
        assert self.factored is not None
        return self.factored[1]

    def halved(self, table: Table) -> np.ndarray:
        """-t / 2 of complete rows."""
        assert table.numbers is not None
        assert self.factored is not None
        values = table.numbers if self._all_vary else table.numbers[:, self.varying]
        return -0.5 * self._squares(values, self.varying, self.factored)

    @property
    def _all_vary(self) -> bool:
        return len(self.varying) == self.location.shape[1]

    def _patterns(
        self, values: np.ndarray, missing: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Columns that are there and vary, for the rows that share them."""
        if not missing:
            yield self.varying, np.arange(len(values))
            return
        for columns, rows in missing_patterns(values):
            yield np.intersect1d(columns, self.varying), rows

    def _factors(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whitening and half log-determinants of a margin."""
        if self.factored is not None and len(columns) == len(self.varying):
            return self.factored
        return _factored(self.scatter[:, columns[:, None], columns])

    def _squares(
        self, values: np.ndarray, columns: np.ndarray, factored: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Squared distances of rows, shape (n, K)."""
        return squared_distances(values, self._locations(columns), factored[0])

    def _locations(self, columns: np.ndarray) -> np.ndarray:
        """Locations in some of the columns."""
        everything = len(columns) == self.location.shape[1]
        return self.location if everything else self.location[:, columns]

    def _scored(
        self, values: np.ndarray, columns: np.ndarray, factored: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Scores of rows that have m columns."""
        whitening, half_log_det = factored
        m, t = len(columns), self._squares(values, columns, factored)

        def log_of_far(rows: np.ndarray) -> np.ndarray:
            return log_squares(values[rows], self._locations(columns), whitening)

        match self.rule:
            case "femda":
                # A row at the location of a class would be infinitely likely there.
                np.maximum(t, AT_LOCATION * self.middle, out=t)
                log_of_squares(t, log_of_far, np.log)
                t *= -0.5 * m
                t -= half_log_det
            case "student":
                # Expanding a square, as one matrix product does, may leave it below zero.
                np.maximum(t, 0.0, out=t)
                t /= self.dof
                log_of_squares(t, lambda rows: log_of_far(rows) - np.log(self.dof))
                t *= -0.5 * (self.dof + m)
                t += log_student_constant(self.dof, m) - half_log_det
            case "gaussian":
                t *= -0.5
                t -= half_log_det + 0.5 * m * LOG_2PI
            case _:
                t *= -0.5
                t -= self.threshold * half_log_det
        return t

    def _constant(self, values: np.ndarray) -> np.ndarray:
        """Columns that never vary: one unit Gaussian around what they are serves all classes."""
        rest = np.setdiff1d(np.arange(self.location.shape[1]), self.varying)
        if len(rest) == 0:
            return np.zeros((1, 1))
        k = int(np.flatnonzero(self.seen)[0]) if self.seen.any() else 0
        terms = -0.5 * (LOG_2PI + (values[:, rest] - self.location[k, rest]) ** 2)
        terms[np.isnan(terms)] = 0.0
        return np.asarray(terms.sum(axis=1, keepdims=True))

    def outlyingness(self, table: Table) -> np.ndarray:
        """Distance of each row from each class, shape (n, K), on the scale of Gaussian rows.

        It is sqrt(t_k), in units in which half of the training rows of class k are as near as half
        of the rows of a standard Gaussian of as many columns would be.
        """
        assert table.numbers is not None
        values, full = table.numbers, len(self.varying)
        unit = chi2.ppf(0.5, max(full, 1)) / self.middle
        out = np.empty((len(values), len(self.location)))
        for columns, rows in self._patterns(values, table.missing):
            mine = values[rows[:, None], columns]
            t = np.maximum(self._squares(mine, columns, self._factors(columns)), 0.0)
            # Of a margin: the chance to be as far, read on the scale of all columns.
            t *= unit
            if len(columns) < full:
                chance = chi2.sf(t, len(columns)) if len(columns) else np.full(t.shape, 0.5)
                t = chi2.isf(chance, full)
            out[rows] = np.sqrt(t)
        out[:, ~self.seen] = np.nan
        return out


def _factored(scatter: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whitening matrices, and half the logarithms of the determinants."""
    whitening, log_constant = whiten(scatter)
    return whitening, -log_constant - 0.5 * scatter.shape[-1] * LOG_2PI
