"""From the bandwidth a user wrote to the widths of the bumps of every class."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from bayesrule.bandwidths import (
    RULES,
    best_multiple,
    left_out_score,
    moments,
    multiple,
    rule_factor,
    smaller_spread,
)
from bayesrule.distinct import Points
from bayesrule.magnitudes import refuse_beyond_squares
from bayesrule.notices import FewRowsWarning, SingularScatterWarning

if TYPE_CHECKING:
    from bayesrule.kernel import Kernel

#: A spread below this share of the column's largest number is the rounding of equal numbers.
ROUNDING = 1e-13
#: Least eigenvalue of a correlation that a matrix of bandwidths may have.
THINNEST = 1e-8


def class_widths(
    settings: Kernel, points: list[Points], factor: float, column: int | None = None
) -> list[np.ndarray | None]:
    """Width of each class: (D,), or a matrix (D, D) in squared units; None without points.

    ``factor`` multiplies a bandwidth that was tuned before; ``column`` is the place of a column
    that stands alone.
    """
    n_columns = points[0].rows.shape[1]
    there = [k for k, some in enumerate(points) if len(some.rows)]
    out: list[np.ndarray | None] = [None] * len(points)
    if not there:
        return out
    if not isinstance(settings.bandwidth, str):
        given = np.asarray(settings.bandwidth, np.float64)
        if given.ndim == 1 and column is not None:
            given = given[column]
        width = given.copy() if given.ndim == 2 else np.full(n_columns, given)
        return [width if k in there else None for k in range(len(points))]
    some = [points[k] for k in there]
    radial = not settings.product and n_columns > 1
    name = settings.bandwidth
    rule = name if name in RULES else "silverman"
    refuse_beyond_squares(np.concatenate([p.rows for p in some]), column or 0)
    bases = _rule_widths(some, rule, shared=settings.shared, radial=radial)
    if name in RULES:
        factors = np.ones(len(some))
    elif name == "gain":
        factors = np.full(len(some), factor)
    else:
        factors = _multiples(name, some, bases, shared=settings.shared)
    shape_factor = settings.shape.width_beside_gaussian(n_columns, not radial)
    for k, base, times in zip(there, bases, factors * shape_factor, strict=True):
        out[k] = base * times * (times if base.ndim == 2 else 1.0)
    return out


def _multiples(
    name: str, points: list[Points], bases: list[np.ndarray], *, shared: bool
) -> np.ndarray:
    """What each class's rule is multiplied by, or one number for all."""
    if not shared:
        return np.array([multiple(name, p, b) for p, b in zip(points, bases, strict=True)])
    totals = np.array([p.total for p in points])
    if name.startswith("cv_"):
        able = [i for i, p in enumerate(points) if len(p.rows) > 2]

        def score(times: float) -> float:
            found = [left_out_score(name, points[i], bases[i], times) for i in able]
            return float(np.average(found, weights=totals[able]))

        return np.full(len(points), best_multiple(score, bases[0].shape[0]) if able else 1.0)
    each = [multiple(name, p, b) for p, b in zip(points, bases, strict=True)]
    return np.full(len(points), np.exp(np.average(np.log(each), weights=totals)))


def _rule_widths(
    points: list[Points], rule: str, *, shared: bool, radial: bool
) -> list[np.ndarray]:
    """Widths of Gaussian bumps by a rule."""
    totals = np.array([p.total for p in points])
    told = [moments(p) for p in points]
    spreads = _spreads(points, told, rule)
    pooled = np.sqrt(np.average(spreads**2, axis=0, weights=totals))
    sizes = np.full(len(points), np.exp(np.average(np.log(totals), weights=totals)))
    if shared:
        spreads = np.tile(pooled, (len(points), 1))
    else:
        sizes = totals
    factors = [rule_factor(rule, n, spreads.shape[1]) for n in sizes]
    widths = [s * f for s, f in zip(spreads, factors, strict=True)]
    if not radial:
        return widths
    covariances = np.array([covariance for _, covariance in told])
    if shared:
        covariances[:] = np.average(covariances, axis=0, weights=totals)
    return [
        width[:, None] * _correlation(covariance) * width
        for width, covariance in zip(widths, covariances, strict=True)
    ]


def _spreads(
    points: list[Points], told: list[tuple[np.ndarray, np.ndarray]], rule: str
) -> np.ndarray:
    """Spread of each class in each column, borrowed where it is zero."""
    totals = np.array([p.total for p in points])
    spreads = np.array([np.sqrt(np.diag(covariance)) for _, covariance in told])
    size = np.max([np.abs(p.rows).max(axis=0) for p in points], axis=0)
    flat = spreads <= ROUNDING * size
    spreads[flat] = 0.0
    if rule == "silverman":
        spreads = np.array([smaller_spread(p, s) for p, s in zip(points, spreads, strict=True)])
    means = np.array([mean for mean, _ in told])
    within = np.sqrt(np.average(spreads**2, axis=0, weights=totals * 1.0))
    overall = np.average(means, axis=0, weights=totals)
    between = np.sqrt(np.average((means - overall) ** 2, axis=0, weights=totals))
    # Where nothing varies anywhere, any width is as harmless as another.
    borrowed = np.where(within > 0, within, np.where(between > ROUNDING * size, between, 1.0))
    lone = np.array([len(p.rows) == 1 for p in points])
    told_apart = within + between > ROUNDING * size
    _warn(flat & told_apart, lone)
    _warn_equal(~told_apart, len(points))
    return np.where(flat, borrowed, spreads)


def _warn_equal(equal: np.ndarray, n_classes: int) -> None:
    """Say that a width means nothing, where it is the answer: beside other classes it harms none.

    All of them get the same one there.
    """
    if n_classes == 1 and equal.any():
        warnings.warn(
            f"Column {int(np.flatnonzero(equal)[0])} of X does not vary, so that no bandwidth can "
            "be told from it; one of its own units is used. Give a number.",
            SingularScatterWarning,
            stacklevel=2,
        )


def _warn(flat: np.ndarray, lone: np.ndarray) -> None:
    """Say what was borrowed."""
    if flat[lone].any():
        warnings.warn(
            f"{int(lone.sum())} of {len(lone)} classes have one distinct row, too few for a "
            "bandwidth of their own; they borrow the spread within the others.",
            FewRowsWarning,
            stacklevel=2,
        )
    if flat[~lone].any():
        warnings.warn(
            f"{int(flat[~lone].sum())} of {flat[~lone].size} columns do not vary within their "
            "class; their bandwidth is told from the spread within the others.",
            SingularScatterWarning,
            stacklevel=2,
        )


def _correlation(covariance: np.ndarray) -> np.ndarray:
    """The correlation, drawn towards none as far as it must be to be inverted."""
    deviations = np.sqrt(np.diag(covariance))
    some = np.where(deviations > 0, deviations, 1.0)
    correlation = covariance / some[:, None] / some
    np.fill_diagonal(correlation, 1.0)
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least >= THINNEST:
        return correlation
    share = min((THINNEST - least) / (1.0 - least) + 0.01, 1.0)
    warnings.warn(
        "The correlation of a class cannot be inverted, so 1% or more of it was replaced by that "
        "of independent columns. Use product=True, or fewer columns.",
        SingularScatterWarning,
        stacklevel=2,
    )
    return (1.0 - share) * correlation + share * np.eye(len(correlation))
