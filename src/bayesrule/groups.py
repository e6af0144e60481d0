"""Classes that share a scatter, from their covariance to where a robust scatter settles.

A scatter that the rows do not determine (fewer rows than columns, too many of them in a subspace)
is pulled towards a diagonal: (1 - r) F + r tau D, with D the variances within the classes and tau
the mean of F in their units. Its weight r is that of Chen, Wiesel and Hero (2011). Rows are then
known up to a blur only, so that a scatter exists however many of them are equal: ties come from
rounding, and say nothing of how narrow a class is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayesrule.covariances import LEAST_SHARE
from bayesrule.ellipses import EQUAL, Ellipses, Layout, Pull, Weighting
from bayesrule.kernels import elliptical as loops

#: Variances that rows are known up to where they determine no scatter, as shares of those within
#: the classes: a tenth of a standard deviation.
BLUR = 0.01


@dataclass
class Group:
    """Classes that share a scatter, while it settles."""

    classes: np.ndarray
    layout: Layout
    start: np.ndarray
    spread: np.ndarray
    typical: np.ndarray
    #: What rows are known up to where they determine no scatter, as a share of ``typical``.
    grain: float = BLUR
    pull: Pull = field(init=False)
    ellipses: Ellipses = field(init=False)
    dof: float = np.nan
    sweeps: int = 0
    lone: bool = False
    repaired: bool = False
    #: Whether it was begun again, because the rows determine no scatter.
    regularised: bool = False
    settled: bool = True
    moved: bool = False
    kept: np.ndarray | None = None
    #: Medians, and variances of most rows, where there are rows far out.
    near: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return float(self.layout.weights.sum())

    def begin(self, share: float) -> bool:
        """Mean and covariance of the rows; False where the covariance cannot be inverted."""
        self._unfold(share, np.where(self.spread > 0, self.spread, self.typical))
        _, furthest = self.layout.run(self.ellipses, EQUAL, self.pull, True, 1, 0.0)
        # A column that varies by rounding alone would look as sound as any other.
        varies = share > 0 or bool((self.spread > 0).all())
        return bool(varies and np.isfinite(furthest) and self.ellipses.sound)

    def _unfold(self, share: float, variances: np.ndarray) -> None:
        """Start with these variances, columns apart."""
        blur = self.grain if self.regularised else 0.0
        self.pull = Pull(share, self.typical, blur * self.typical)
        unit = np.sqrt(variances)
        sides = np.diag(unit), np.diag(1.0 / unit)
        self.ellipses = Ellipses(self.start.copy(), *sides, float(len(unit)))

    def automatic_share(self) -> float:
        """Oracle weight of the pull, told from the directions of the rows (their unit vectors)."""
        m, n = len(self.typical), self.total
        if m == 1:
            return 1.0
        # With all of the scatter on its diagonal, sweeps move the location alone.
        self._unfold(1.0, self.typical)
        self.layout.run(self.ellipses, Weighting(loops.TYLER), self.pull, False, 3, 0.0)
        squares = float(np.sum((self.layout.sums[0] / n) ** 2))
        above = m * m + (1 - 2 / m) * squares
        below = m * m - n * m - 2 * n + (n + 1 + 2 * (n - 1) / m) * squares
        return 1.0 if below <= above else max(above / below, LEAST_SHARE)

    def begin_near(self, start: np.ndarray, variances: np.ndarray) -> None:
        """Begin at what most rows tell, pulled as before."""
        self.start = start
        self._unfold(self.pull.share, variances)

    def regularise(self) -> None:
        """Begin again, pulled towards the diagonal, with rows that are known up to a blur."""
        wanted = self.pull.share
        share = max(self.automatic_share(), wanted)
        self.repaired = self.regularised = True
        if not self.begin(share):
            self.begin(1.0)
        if self.near is not None:
            self.begin_near(*self.near)
