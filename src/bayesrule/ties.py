"""Equal rows: a point that holds much of a class counts for no more than a scatter can bear.

Densities have no points that hold a share of the rows. Where rows do, the scatters that follow them
lose what lies across such points: Tyler's does not exist if one holds more than a share of 1 / m,
Students shrink into it, and the densest half of the rows is the point. What it holds beyond a
quarter of that share is left out of robust scatters, however the equal rows came: several, or one
of weight.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from bayesrule.distinct import sort_rows
from bayesrule.stats import Sample


def without_heavy_points(sample: Sample, n_classes: int) -> Sample:
    """The rows with less weight where a point holds more than 1 / (4 m) of its class.

    Rows with gaps are no points.
    """
    share = 0.25 / sample.rows.shape[1]
    order = np.argsort(sample.codes, kind="stable")
    edges = np.searchsorted(sample.codes[order], np.arange(n_classes + 1))
    weights = sample.weights.copy()
    heavy = False
    for a, b in pairwise(edges):
        mine = order[a:b]
        mine = mine[~np.isnan(sample.rows[mine]).any(axis=1)]
        point = _points(sample.rows[mine])
        held = np.bincount(point, weights[mine])
        most = most_held(held, share)
        if (held > most).any():
            heavy = True
            weights[mine] *= np.minimum(1.0, most / held)[point]
    return replace(sample, weights=weights) if heavy else sample


def _points(rows: np.ndarray) -> np.ndarray:
    """A number for each row, the same for equal ones."""
    n = len(rows)
    if len(np.unique(rows[:, 0])) == n:
        return np.arange(n)
    _, starts, order = sort_rows(rows)
    point = np.empty(n, np.int64)
    point[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))
    return point


def most_held(held: np.ndarray, share: float) -> float:
    """The weight to cut points to, so that none holds more than a share of what is left.

    At least the median over the points: of few points each holds much, and none is heavy.

    Examples
    --------
    >>> import numpy as np
    >>> most_held(np.array([6.0, 1.0, 1.0, 1.0, 1.0]), 1 / 3)
    2.0
    """
    if not len(held):
        return 0.0
    ordered = np.sort(held)
    # Cut to a level c, the i heaviest hold i c, the others what they did: c <= share * all.
    upto = np.cumsum(ordered)[::-1]
    others = np.append(upto[1:], 0.0)  # weight of all points below the i heaviest
    cut = np.arange(1, len(held) + 1)
    level = np.divide(
        share * others, 1.0 - share * cut, out=np.full(len(held), np.inf), where=share * cut < 1.0
    )
    level = np.minimum(level, ordered[::-1])
    below = np.append(ordered[::-1][1:], 0.0)
    return float(max(level[level >= below][0], np.median(held)))
