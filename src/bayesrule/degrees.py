"""Degrees of freedom of Students, settled by likelihood together with the scale of each scatter.

    log t_v  =  log Γ((v + m)/2) - log Γ(v/2) - m/2 log(v c) - (v + m)/2 log(1 + t / (v c)) + ...

Degrees and scale c pull on one another more than on anything else, so one Newton step moves both.
"""

from __future__ import annotations

import numpy as np
from scipy.special import psi, zeta

from bayesrule.kernels import elliptical as loops

#: Bounds of fitted degrees of freedom; at the upper one the law is Gaussian to six digits.
LEAST, MOST = 0.5, 1e6
#: Where the search begins.
FIRST = 4.0


#: Newton steps on the same distances at most, and the change after which more are idle.
STEPS, IDLE = 4, 1e-4

#: Squared distances of the rows of a group over m columns: (t, weights, m), piece by piece.
Measured = list[tuple[np.ndarray, np.ndarray, int]]


def better_degrees(
    groups: list[Measured], dof: float, *, fitted: bool = True
) -> tuple[float, np.ndarray]:
    """Degrees of freedom that groups share, and what to multiply each group's scatter by.

    They are those of the greatest likelihood, up to a few Newton steps, for scatters that stay as
    they are but for their sizes. Degrees that are not to be fitted stay, and sizes move alone.
    """
    scales = np.ones(len(groups))
    for _ in range(STEPS):
        better, by = _newton(groups, dof, scales, fitted)
        moved = max(abs(1.0 / better - 1.0 / dof), float(np.abs(by - 1.0).max()))
        dof, scales = better, scales * by
        if moved < IDLE:
            break
    return dof, scales


def _newton(
    groups: list[Measured], dof: float, scales: np.ndarray, fitted: bool
) -> tuple[float, np.ndarray]:
    """One step of both."""
    # The derivative of psi is zeta(2, .), which is much faster to call than polygamma.
    of_dof, of_dof_twice = 0.0, 0.0
    at, bent = float(psi(0.5 * dof)), float(zeta(2.0, 0.5 * dof))
    slope, bend, cross = np.zeros((3, len(groups)))
    for g, (t, weights, m) in ((g, piece) for g, group in enumerate(groups) for piece in group):
        half = 0.5 * (dof + m)
        sums = np.zeros(4)
        loops.dof_sums(t, weights, dof, scales[g], sums)
        total, logs, b, spread = sums
        first = 0.5 * (float(psi(half)) - at) - 0.5 * m / dof
        second = 0.25 * (float(zeta(2.0, half)) - bent) + 0.5 * m / dof**2
        of_dof += total * first - 0.5 * logs + half * b / dof
        of_dof_twice += total * second + 0.5 * b / dof - 0.5 * m * b / dof**2
        of_dof_twice -= half * spread / dof**2
        slope[g] += half * b - 0.5 * m * total
        bend[g] -= half * spread
        cross[g] += 0.5 * b - half * spread / dof
    bend = np.minimum(bend, -1e-300)
    if not fitted:
        return dof, np.exp(np.minimum(np.maximum(-slope / bend, -1.0), 1.0))
    # In s = 1/v a Gaussian is at s = 0, where the likelihood is smooth.
    down, curve = -(dof**2) * of_dof, dof**4 * of_dof_twice + 2.0 * dof**3 * of_dof
    mixed = -(dof**2) * cross
    down -= float(np.sum(mixed * slope / bend))
    curve -= float(np.sum(mixed**2 / bend))
    s = 1.0 / dof
    wanted = s - down / curve if curve < 0 else s * (2.0 if down > 0 else 0.5)
    # Eight times more or less at most, but straight to the Gaussian where the step says so.
    least = s / 8.0 if wanted > 0 else 0.0
    wanted = min(max(wanted, least, 1.0 / MOST), 8.0 * s, 1.0 / LEAST)
    steps = -(slope + mixed * (wanted - s)) / bend
    return 1.0 / wanted, np.exp(np.minimum(np.maximum(steps, -1.0), 1.0))
