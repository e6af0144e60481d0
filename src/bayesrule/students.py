"""Student EM: locations and scatters in sweeps, sizes and degrees of freedom in between."""

from __future__ import annotations

import numpy as np

from bayesrule.degrees import FIRST, better_degrees
from bayesrule.ellipses import Weighting, crowded, lost
from bayesrule.groups import Group
from bayesrule.kernels import elliptical as loops

#: Sweeps between two looks at sizes and degrees of freedom.
TURN = 2

#: Sweeps between two looks at whether rows in a subspace draw a scatter to it.
LOOK = 50


def settle_students(
    groups: list[Group], fixed: float | None, held: bool, max_iter: int, tol: float
) -> None:
    """Settle groups that share their degrees of freedom, which are fitted unless they are fixed."""
    first = FIRST if fixed is None else fixed
    dof, done, look, settled = first, 0, LOOK, not groups
    while done < max_iter and not settled:
        furthest, sweeps = _swept(groups, dof, held, tol)
        done += sweeps
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            measured = [group.layout.measured() for group in groups]
            better, scales = better_degrees(measured, dof, fitted=fixed is None)
        at_risk = [group for group in groups if not group.regularised]
        gone: list[Group] = []
        if not (np.isfinite(furthest) and np.isfinite(better) and np.isfinite(scales).all()):
            gone = [g for g in at_risk if lost(g.ellipses, g.sweeps, furthest)] or at_risk
            if not gone:
                break
        else:
            for g, group in enumerate(groups):
                group.ellipses.rescale(float(scales[g]))
            # In 1 / dof, as the law depends on it: a thousand degrees are as good as two thousand.
            moved = max(abs(1.0 / better - 1.0 / dof), float(np.abs(scales - 1.0).max()))
            dof = better
            settled = max(furthest, moved) <= tol
            if settled or done >= min(look, max_iter):
                look += LOOK
                law = Weighting(loops.STUDENT, dof)
                gone = [g for g in at_risk if crowded(g.layout, g.ellipses, law, g.pull)]
        if gone:
            # No scatter exists: begin again, pulled towards a diagonal.
            for group in gone:
                group.regularise()
            dof, done, look, settled = first, 0, LOOK, False
    for group in groups:
        group.settled, group.dof = settled, dof


def _swept(groups: list[Group], dof: float, held: bool, tol: float) -> tuple[float, int]:
    """Sweep each group a few times: how far it was from settled at most, and how many times.

    Sizes stay as they are. NaN says that a group has no scatter, and was not regularised yet.
    """
    weighting = Weighting(loops.STUDENT, dof)
    furthest, sweeps = 0.0, 0
    for group in groups:
        swept, apart = group.layout.run(group.ellipses, weighting, group.pull, held, TURN, tol)
        group.sweeps += swept
        if not group.regularised and lost(group.ellipses, group.sweeps, apart):
            return np.nan, sweeps
        group.layout.measure(group.ellipses, group.pull)
        furthest, sweeps = max(furthest, apart), max(sweeps, swept)
    return furthest, sweeps
