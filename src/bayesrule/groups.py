"""Classes that share a scatter, from their covariance to where a robust scatter settles.

A scatter that the rows do not determine (fewer rows than columns, too many of them in a subspace)
is pulled towards a diagonal: (1 - r) F + r tau D, with D the variances within the classes and tau
the mean of F in their units. Its weight r is that of Chen, Wiesel and Hero (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayesrule.ellipses import EQUAL, Ellipses, Layout, Pull, Weighting
from bayesrule.kernels import elliptical as loops

#: Least size of a scatter, as a share of the variances. One point that holds most of the rows would
#: have Students as narrow as the numbers allow.
LEAST_SIZE = 1e-6
#: Least share of an automatic pull: enough to make any scatter invertible.
LEAST_PULL = 1e-6


@dataclass
class Group:
    """Classes that share a scatter, while it settles."""

    classes: np.ndarray
    layout: Layout
    start: np.ndarray
    spread: np.ndarray
    typical: np.ndarray
    pull: Pull = field(init=False)
    ellipses: Ellipses = field(init=False)
    dof: float = np.nan
    sweeps: int = 0
    lone: bool = False
    repaired: bool = False
    settled: bool = True
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
        self.pull = Pull(share, self.typical)
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
        return 1.0 if below <= above else max(above / below, LEAST_PULL)

    def begin_near(self, start: np.ndarray, variances: np.ndarray) -> None:
        """Begin at what most rows tell, pulled as before."""
        self.start = start
        self._unfold(self.pull.share, variances)

    def regularise(self) -> None:
        """Begin again, pulled towards the diagonal."""
        self.repaired = True
        wanted = self.pull.share
        if not self.begin(max(self.automatic_share(), wanted)):
            self.begin(1.0)

    def hold_up(self) -> bool:
        """Keep the scatter from shrinking into a point; whether it did."""
        size = float(np.mean((self.ellipses.factor**2).sum(axis=1) / self.typical))
        if size >= LEAST_SIZE:
            return False
        self.repaired = True
        self.ellipses.rescale(LEAST_SIZE / max(size, np.finfo(float).tiny))
        return True
