"""Bandwidths in the data's own units, for one class of distinct weighted points.

A rule gives the width of a Gaussian bump for every column,

    normal      (4 / (D + 2))^(1 / (D + 4)) s n^(-1 / (D + 4)),   1.06 s n^(-1/5) for one column
    scott       s n^(-1 / (D + 4))
    silverman   0.85 of normal, with s the smaller of standard deviation and IQR / 1.34:
                0.9 min(s, IQR / 1.34) n^(-1/5) for one column

and the others choose a multiple of Silverman's by the rows themselves. A kernel of another
shape gets the width that smooths as much (:meth:`bayesrule.shapes.Shape.width_beside_gaussian`).
Equal rows count as n does, by their weight, and are left out together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree

from bayesrule.bump_sum import BumpSum
from bayesrule.distinct import Points
from bayesrule.keys import row_keys
from bayesrule.notices import NotConvergedWarning
from bayesrule.plug_in import botev, quartile_range, sheather_jones
from bayesrule.progress import progress
from bayesrule.shapes import SHAPES
from bayesrule.tables import Table

RULES = ("normal", "scott", "silverman")
SEARCHES = ("cv_likelihood", "cv_squares", "nearest")
ON_A_LINE = ("sj", "isj")
#: All names of bandwidths that the rows of a class alone decide.
NAMES = (*RULES, *SEARCHES, *ON_A_LINE)

#: Multiples of Silverman's rule among which cross-validation seeks.
LEAST, MOST = 0.03, 3.0
#: Points whose left-out density is asked for, where that takes all pairs.
ASKED = 4000

_NO_FACTORS = np.empty(0)


def normal_factor(n: float, n_columns: int) -> float:
    """What the spread is multiplied by under the normal rule."""
    power = 1.0 / (n_columns + 4)
    return float((4.0 / (n_columns + 2)) ** power * max(n, 1.0) ** -power)


def rule_factor(name: str, n: float, n_columns: int) -> float:
    """What the spread is multiplied by under a rule."""
    if name == "scott":
        return float(max(n, 1.0) ** (-1.0 / (n_columns + 4)))
    factor = normal_factor(n, n_columns)
    # 0.9 beside 1.06, Silverman's margin for skewed and two-humped classes.
    return factor * 0.9 / normal_factor(1.0, 1) if name == "silverman" else factor


def moments(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance, divided by n - 1 where n is above one."""
    weights = points.weights
    mean = np.average(points.rows, axis=0, weights=weights)
    apart = points.rows - mean
    return mean, (apart * weights[:, None]).T @ apart / max(points.total - 1.0, 1.0)


def quartile_spread(points: Points) -> np.ndarray:
    """Interquartile ranges over 1.34, Silverman's number: about one for a standard normal law."""
    return np.array([quartile_range(x, points.weights) / 1.34 for x in points.rows.T])


def smaller_spread(points: Points, spread: np.ndarray) -> np.ndarray:
    """The smaller of standard deviation and quartile spread; ties may make the latter zero."""
    quartiles = quartile_spread(points)
    return np.where(quartiles > 0, np.minimum(spread, quartiles), spread)


def multiple(name: str, points: Points, width: np.ndarray) -> float:
    """The multiple of ``width``, a rule's for a Gaussian, that a search settles on."""
    if len(points.rows) < 3:
        return 1.0
    if name in ON_A_LINE:
        select = botev if name == "isj" else sheather_jones
        found = select(points.rows[:, 0], points.weights)
        if found is None:
            warnings.warn(
                f'The bandwidth "{name}" has no solution for these rows (few distinct values); the '
                "rule of Silverman is used. 'cv_likelihood' always has one.",
                NotConvergedWarning,
                stacklevel=2,
            )
            return 1.0
        return found / float(np.sqrt(width[0, 0]) if width.ndim == 2 else width[0])
    if name == "nearest":
        unit = BumpSum(SHAPES["gaussian"], True, points, width, _NO_FACTORS).places(points.rows)
        k = max(round(np.sqrt(len(unit))), 1)
        distances = cKDTree(unit).query(unit, [min(k + 1, len(unit))])[0][:, 0]
        # In D columns a standard normal point is sqrt(D) from its centre.
        order = np.argsort(distances)
        middle = np.searchsorted(np.cumsum(points.weights[order]), 0.5 * points.total)
        return float(distances[order[middle]] / np.sqrt(unit.shape[1]))
    return best_multiple(partial(left_out_score, name, points, width), points.rows.shape[1])


def best_multiple(
    score: Callable[[float], float], n_columns: int, what: str = "bandwidth"
) -> float:
    """The multiple of highest score: the best of a grid, then the best between its neighbours."""
    grid = np.geomspace(LEAST, MOST, 30 if n_columns == 1 else 12)
    with progress(f"choosing the {what}", len(grid) + 10) as meter:

        def loss(log_multiple: float) -> float:
            found = -score(float(np.exp(log_multiple)))
            meter.advance()
            return found if np.isfinite(found) else 1e300

        logs = np.log(grid)
        losses = np.array([loss(x) for x in logs])
        best = int(np.argmin(losses))
        ends = logs[max(best - 1, 0)], logs[min(best + 1, len(logs) - 1)]
        found = minimize_scalar(loss, bounds=ends, method="bounded", options={"maxiter": 10})
    return float(np.exp(found.x)) if found.fun < losses[best] else float(grid[best])


def asked_points(points: Points, n_columns: int) -> np.ndarray:
    """Places of the points whose density is asked for, chosen by their values where many."""
    n = len(points.rows)
    if n_columns == 1 or n <= ASKED:
        return np.arange(n)
    return np.sort(np.argpartition(row_keys(Table(points.rows), 0), ASKED)[:ASKED])


def left_out_score(name: str, points: Points, width: np.ndarray, factor: float) -> float:
    """How well Gaussian bumps of ``factor`` times the width foretell each point from the others.

    Of likelihood, the mean log-density; of squares, twice the mean density less the integral of
    the squared density, which is minus the integrated squared error up to a constant.
    """
    scaled = width * (factor if width.ndim == 1 else factor * factor)
    gaussian = SHAPES["gaussian"]
    bumps = BumpSum(gaussian, True, points, scaled, _NO_FACTORS)
    asked = asked_points(points, points.rows.shape[1])
    everyone = len(asked) == len(points.rows)
    weights = points.weights if everyone else points.weights[asked]
    others = bumps.left_out(None if everyone else asked)
    if name == "cv_likelihood":
        return float(np.average(others, weights=weights))
    wider = scaled * (np.sqrt(2.0) if width.ndim == 1 else 2.0)
    rows = points.rows if everyone else points.rows[asked]
    pairs = BumpSum(gaussian, True, points, wider, _NO_FACTORS).log_density(rows)
    # Relative to the rule's height, so that no density overflows.
    height = BumpSum(gaussian, True, points, width, _NO_FACTORS).log_height
    gained = 2.0 * np.exp(others - height) - np.exp(pairs - height)
    return float(np.average(gained, weights=weights))


def check_given(bandwidth: Any, owner: str, n_columns: int, *, radial: bool) -> None:
    """Refuse numbers that are no bandwidth."""
    try:
        given = np.asarray(bandwidth, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    fits = given.shape in ((), (n_columns,), (n_columns, n_columns))
    if given.ndim == 2 and fits:
        matrix = radial and np.allclose(given, given.T) and np.isfinite(given).all()
        if not (matrix and np.linalg.eigvalsh(given).min() > 0):
            raise ValueError(
                f"{owner}(bandwidth=...) is a matrix H of squared units: it must be symmetric and "
                f"positive definite, of {n_columns} columns, and goes with product=False."
            )
    elif not fits or not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(
            f"{owner}(bandwidth={bandwidth!r}) must be above zero and finite: a bump without width "
            f"has no density. Give a number, {n_columns} numbers (one per column), or one of "
            f"{', '.join(map(repr, NAMES))}."
        )
