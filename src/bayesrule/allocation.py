"""How many levels each feature gets: the best product under the memory limit.

    maximise   sum_j v_j(L_j)      over levels with   prod_j (L_j + extra_j)  <=  max_cells

with v_j(L) what L levels of feature j are worth, the others as they are: one run of the dynamic
programme over a feature's boundaries gives all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def best_levels(
    curves: Sequence[np.ndarray], limit: int, extra: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Levels of highest total worth whose product is at most the limit; fewer on ties.

    Parameters
    ----------
    curves : sequence of D arrays
        ``curves[j][L - 1]`` is what L levels of feature j are worth.
    limit : int
        Most cells.
    extra : sequence of D ints, default=None
        Levels that a feature has besides, such as one for missing values.

    Notes
    -----
    What is left of the limit after some features is one of the numbers limit // m, of which there
    are at most 2 sqrt(limit); the best worth of the features that follow is kept for each.

    Examples
    --------
    >>> best_levels([[0.0, 5.0, 5.5], [0.0, 1.0, 4.0]], 6)
    (2, 3)
    >>> best_levels([[0.0, 5.0, 5.5], [0.0, 0.0, 0.0]], 6)
    (3, 1)
    """
    extra = [0] * len(curves) if extra is None else list(extra)
    least = 1
    for more in extra:
        least *= 1 + more
    if least > limit:
        raise ValueError(
            f"One level of each feature already makes {least} cells, but the limit is {limit}."
        )
    left = _quotients(limit)
    place = {int(value): i for i, value in enumerate(left)}
    worth = np.zeros(len(left))
    chosen: list[np.ndarray] = []
    for curve, more in zip(reversed(curves), reversed(extra), strict=True):
        found, levels = np.full(len(left), -np.inf), np.zeros(len(left), np.int64)
        for n, value in enumerate(np.asarray(curve, np.float64), start=1):
            after = left // (n + more)
            fits = after > 0
            where = np.array([place[int(v)] for v in after[fits]], np.int64)
            total = np.full(len(left), -np.inf)
            total[fits] = worth[where] + value
            better = total > found
            found[better], levels[better] = total[better], n
        worth = found
        chosen.append(levels)
    answer, rest = [], limit
    for levels, more in zip(reversed(chosen), extra, strict=True):
        n = int(levels[place[rest]])
        answer.append(n)
        rest //= n + more
    return tuple(answer)


def _quotients(limit: int) -> np.ndarray:
    """All values of limit // m for m >= 1, ascending."""
    small = np.arange(1, int(np.sqrt(limit)) + 1)
    return np.unique(np.concatenate([small, limit // small]))
