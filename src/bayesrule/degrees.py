"""Degrees of freedom of Students, settled by likelihood together with the scale of each scatter.

    log t_v  =  log Γ((v + m)/2) - log Γ(v/2) - m/2 log(v c) - (v + m)/2 log(1 + t / (v c)) + ...

Degrees and scale c pull on one another more than on anything else, so one Newton step moves both.
"""

from __future__ import annotations

import numpy as np
from scipy.special import polygamma, psi

from bayesrule.kernels import elliptical as loops

#: Bounds of fitted degrees of freedom; at the upper one the law is Gaussian to six digits.
LEAST, MOST = 0.5, 1e6
#: Where the search begins.
FIRST = 4.0


def better_degrees(
    groups: list[list[tuple[np.ndarray, np.ndarray, int]]], dof: float
) -> tuple[float, np.ndarray]:
    """A Newton step of the degrees of freedom that groups share, and of the scale of each group.

    Parameters
    ----------
    groups : list of lists of (t, weights, m)
        Squared distances of the rows of each group over m columns.
    dof : float

    Returns
    -------
    dof : float
    scales : ndarray
        What to multiply the scatter of each group by.
    """
    of_dof, of_dof_twice = 0.0, 0.0
    slope, bend, cross = np.zeros((3, len(groups)))
    for g, (t, weights, m) in ((g, piece) for g, group in enumerate(groups) for piece in group):
        half = 0.5 * (dof + m)
        sums = np.zeros(4)
        loops.dof_sums(t, weights, dof, sums)
        total, logs, b, spread = sums
        first = 0.5 * float(psi(half) - psi(0.5 * dof)) - 0.5 * m / dof
        second = 0.25 * float(polygamma(1, half) - polygamma(1, 0.5 * dof)) + 0.5 * m / dof**2
        of_dof += total * first - 0.5 * logs + half * b / dof
        of_dof_twice += total * second + 0.5 * b / dof - 0.5 * m * b / dof**2
        of_dof_twice -= half * spread / dof**2
        slope[g] += half * b - 0.5 * m * total
        bend[g] -= half * spread
        cross[g] += 0.5 * b - half * spread / dof
    bend = np.minimum(bend, -1e-300)
    # In s = 1/v a Gaussian is at s = 0, where the likelihood is smooth.
    down, curve = -(dof**2) * of_dof, dof**4 * of_dof_twice + 2.0 * dof**3 * of_dof
    mixed = -(dof**2) * cross
    down -= float(np.sum(mixed * slope / bend))
    curve -= float(np.sum(mixed**2 / bend))
    s = 1.0 / dof
    wanted = s - down / curve if curve < 0 else s * (2.0 if down > 0 else 0.5)
    wanted = float(np.clip(wanted, max(s / 8.0, 1.0 / MOST) if wanted > 0 else 1.0 / MOST, 8.0 * s))
    wanted = float(np.clip(wanted, 1.0 / MOST, 1.0 / LEAST))
    steps = -(slope + mixed * (wanted - s)) / bend
    return 1.0 / wanted, np.exp(np.clip(steps, -1.0, 1.0))
