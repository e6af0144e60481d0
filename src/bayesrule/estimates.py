"""Location and scatter of every class, robust or not: from rows to what the laws are made of.

Classes begin at mean and covariance, regularised where rows are few (:mod:`bayesrule.groups`), and
settle by weighting rows anew in every sweep (:mod:`bayesrule.ellipses`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import chi2

from bayesrule.covariances import (
    ROUNDING,
    centre_of_columns,
    spread_over_classes,
    typical_variances,
)
from bayesrule.degrees import FIRST
from bayesrule.ellipses import Ellipses, Layout, Weighting
from bayesrule.far import FAR, Most, most_where_far
from bayesrule.gaps import Gaps
from bayesrule.groups import Group
from bayesrule.kernels import elliptical as loops
from bayesrule.kernels import gaussian as moment_loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.layouts import laid_out
from bayesrule.magnitudes import refuse_beyond_squares
from bayesrule.moments import point_near
from bayesrule.progress import progress
from bayesrule.stats import Moments, Sample
from bayesrule.students import settle_students
from bayesrule.subsets import settle_by_subset
from bayesrule.tables import Table
from bayesrule.ties import without_heavy_points

#: Weights add up to the same but for rounding, whether a row weighs three or is there three times.
A_ROUNDING_LESS = 1.0 - 1e-9
#: Rows per column below which a scatter is pulled towards a diagonal without being asked.
FEW = 10
#: Share of Gaussian rows that Huber's weights leave as they are.
HUBER_SHARE = 0.9
#: Numbers in the rows from which classes are settled on several threads.
MANY = 1 << 16


@dataclass(frozen=True)
class Wanted:
    """How location and scatter are to be told.

    Attributes
    ----------
    scatter : {"sample", "student", "tyler", "huber", "mcd"}
    tied : bool
        One scatter for all classes.
    shrinkage : None, float or "auto"
    dof : "fitted", "shared" or float
    paper : bool
        Whether Tyler's locations weigh by 1 / t.
    max_iter : int
    tol : float
    held : ndarray of shape (K, m) or None
        Locations that are known.
    """

    scatter: str = "tyler"
    tied: bool = False
    shrinkage: Any = "auto"
    dof: Any = "fitted"
    paper: bool = False
    max_iter: int = 200
    tol: float = 1e-8
    held: np.ndarray | None = None


@dataclass(frozen=True)
class Estimates:
    """What was told of the classes; one scatter serves all of them where it is tied.

    Attributes
    ----------
    location : ndarray of shape (K, m)
    scatter : ndarray of shape (K or 1, m, m)
    dof : ndarray of shape (K,)
        NaN where none were settled.
    middle : ndarray of shape (K,)
        Weighted median of the squared distances of the rows of each class.
    shrinkage : ndarray of shape (K,)
        Share of each scatter that was replaced by a diagonal.
    iterations : ndarray of int of shape (K,)
    row_weights : ndarray of shape (n,)
        Weight of each row in its class's scatter, relative to the mean of the class.
    seen, lone, repaired, unsettled, moved : bool ndarray of shape (K,)
        Classes that have rows; whose rows say nothing of their spread; whose scatter did not
        exist; whose iteration did not end; whose scatter followed rows far out.
    """

    location: np.ndarray
    scatter: np.ndarray
    dof: np.ndarray
    middle: np.ndarray
    shrinkage: np.ndarray
    iterations: np.ndarray
    row_weights: np.ndarray
    seen: np.ndarray
    lone: np.ndarray
    repaired: np.ndarray
    unsettled: np.ndarray
    moved: np.ndarray


def estimate(sample: Sample, n_classes: int, wanted: Wanted) -> Estimates:
    """Settle location and scatter of every class from complete rows."""
    refuse_beyond_squares(sample.rows)
    whole = sample
    if wanted.scatter != "sample":
        sample = without_heavy_points(sample, n_classes)
    rows = sample.rows
    m = rows.shape[1]
    moments = _moments(sample, n_classes)
    seen = moments.weight.sum(axis=1) > 0
    _, overall = spread_over_classes(moments)
    typical = np.where(overall > 0, typical_variances(moments), 1.0)
    most = None
    if wanted.scatter != "sample":
        most = most_where_far(sample, moments.weight, typical)
    if most is not None:
        told = most.typical > 0
        typical = np.where(told, np.minimum(typical, most.typical), typical)
        overall = np.where(told, np.minimum(overall, most.overall), overall)
    gaps = np.isnan(rows).any()
    layout = (Gaps.of if gaps else laid_out)(sample, n_classes, moments.shift)
    groups = _groups(layout, moments, typical, overall, seen, wanted, most)
    together = [group for group in groups if not group.lone]
    shares = wanted.scatter == "student" and wanted.dof == "shared"
    bundles = [together] if shares else [[group] for group in together]

    def work(a: int, b: int) -> None:
        for bundle in bundles[a:b]:
            _settle(bundle, wanted)

    with progress("robust scatters", len(bundles)) as meter:
        for _ in map_blocks(work, len(bundles), 1 if rows.size >= MANY else None):
            meter.advance()
    found = _collected(groups, sample, n_classes, m, moments.shift, seen, wanted)
    if sample is not whole:
        found = replace(found, row_weights=_with_left_out(found.row_weights, sample, whole))
    return found


def _moments(sample: Sample, n_classes: int) -> Moments:
    """Weight, mean and spread of each class and column, about a point near the rows."""
    rows = sample.rows
    gaps = bool(np.isnan(rows).any())
    shift = point_near(Table(rows, missing=gaps))
    loop = moment_loops.sums_about_first_seen if gaps else moment_loops.sums_about_first
    weight, first, total, squares = loop(
        rows, np.arange(len(rows)), sample.codes, sample.weights, n_classes
    )
    weight = weight if gaps else np.repeat(weight[:, None], rows.shape[1], axis=1)
    some = np.where(weight > 0, weight, 1.0)
    mean = np.where(weight > 0, first - shift + total / some, 0.0)
    second = np.maximum(squares - total * (total / some), 0.0)
    return Moments("diagonal", shift, weight, mean, second)


def _groups(
    layout: Layout,
    moments: Moments,
    typical: np.ndarray,
    overall: np.ndarray,
    seen: np.ndarray,
    wanted: Wanted,
    most: Most | None,
) -> list[Group]:
    """The classes that share a scatter, or each class by itself."""
    # Of a column that a class has no value in, all that is known is how it is elsewhere.
    start = np.where(moments.weight > 0, moments.mean, centre_of_columns(moments))
    if wanted.held is not None:
        start = wanted.held - moments.shift
    second = moments.second
    if wanted.tied:
        groups = [(np.arange(len(seen)), layout, second.sum(axis=0), moments.weight.sum(axis=0))]
    else:
        groups = [
            (np.array([k]), layout.part(int(k)), second[k], moments.weight[k])
            for k in np.flatnonzero(seen)
        ]
    found = []
    for classes, part, squares, weight in groups:
        spread = squares / np.where(weight > 0, weight, 1.0)
        spread = np.where(spread > ROUNDING * overall, spread, 0.0)
        group = Group(classes, part, start[classes], spread, typical)
        if wanted.scatter == "tyler":
            group.grain = 0.0  # without a size, it does not shrink into a point
        group.lone = not (spread > 0).any()
        if most is not None:
            share = moments.weight[classes] / np.where(weight > 0, weight, 1.0)
            near = (share * most.variance[classes]).sum(axis=0)
            if (near > 0).all():
                middle = most.median[classes] - moments.shift
                group.near = (middle if wanted.held is None else start[classes], near)
        found.append(group)
    return found


def _settle(groups: list[Group], wanted: Wanted) -> None:
    """Settle groups, which share their degrees of freedom where there are several."""
    for group in groups:
        _begin(group, wanted)
    m = len(groups[0].typical) if groups else 0
    match wanted.scatter:
        case "student":
            fixed = None if isinstance(wanted.dof, str) else float(wanted.dof)
            held = wanted.held is not None
            settle_students(groups, fixed, held, wanted.max_iter, wanted.tol)
            return
        case "tyler":
            weighting = Weighting(loops.TYLER)
        case "huber":
            cut = float(chi2.ppf(HUBER_SHARE, m))
            # Gaussian rows then have their covariance as the scatter.
            size = float(chi2.cdf(cut, m + 2)) + cut * (1.0 - HUBER_SHARE) / m
            weighting = Weighting(loops.HUBER, cut / size)
        case "mcd":
            for group in groups:
                settle_by_subset(group)
            return
        case _:
            return
    for group in groups:
        if wanted.scatter == "tyler":
            near = location_floor(group.total / len(group.classes), wanted.paper)
            weighting = replace(weighting, paper=wanted.paper, near=near)
        _sweep(group, weighting, wanted)
        if wanted.scatter == "huber":
            group.ellipses.rescale(1.0 / size)


def location_floor(total: float, paper: bool) -> float:
    """Share of its median that t is floored at for locations of so many rows.

    A row at the location then weighs a fifth of what as many others at the median distance do, or
    a hundred of them at most, where it weighs by 1 / t, and a third where it weighs by 1 / sqrt(t):
    with less of a floor one row holds the location of few. A median is often at a row, too, and as
    good as another estimate, but for distances from it, which begin at zero.
    """
    if paper:
        return min(1.0, 0.01 + 5.0 / total)
    return min(1.0, max((3.0 / total) ** 2, loops.NEAR_LOCATION))


def _sweep(group: Group, weighting: Weighting, wanted: Wanted) -> None:
    """Sweep until a group has settled; once more, regularised, where there is no scatter."""
    for _ in range(2):
        done, furthest = group.layout.settle(
            group.ellipses,
            weighting,
            group.pull,
            wanted.held is not None,
            wanted.max_iter,
            wanted.tol,
        )
        group.sweeps += done
        group.settled = furthest <= wanted.tol
        if not np.isnan(furthest):
            return
        group.regularise()


def _begin(group: Group, wanted: Wanted) -> None:
    """Mean and covariance, pulled towards the diagonal as much as is wanted or needed."""
    share = wanted.shrinkage
    if share == "auto":
        few = group.total < A_ROUNDING_LESS * FEW * len(group.typical) and len(group.typical) > 1
        share = group.automatic_share() if few else 0.0
    fewer = A_ROUNDING_LESS * group.total <= len(group.typical)
    fine = group.begin(0.0 if share is None else float(share))
    if group.near is not None:
        # From afar, a scatter that holds the far rows, too, is met first.
        group.begin_near(*group.near)
        group.repaired = fewer and wanted.shrinkage == "auto"
    elif not fine:
        group.regularise()
    elif fewer and wanted.shrinkage == "auto":
        group.repaired = True


def _collected(
    groups: list[Group],
    sample: Sample,
    n_classes: int,
    m: int,
    shift: np.ndarray,
    seen: np.ndarray,
    wanted: Wanted,
) -> Estimates:
    """What the groups came to, class by class."""
    location = np.zeros((n_classes, m))
    scatter = np.tile(np.eye(m), (1 if wanted.tied else n_classes, 1, 1))
    dof, middle = np.full(n_classes, np.nan), np.ones(n_classes)
    shrinkage, iterations = np.zeros(n_classes), np.zeros(n_classes, np.int64)
    flags = {name: np.zeros(n_classes, bool) for name in ("lone", "repaired", "settled", "moved")}
    row_weights = np.ones(len(sample.rows))
    rows_of = np.argsort(sample.codes, kind="stable")
    edges = np.searchsorted(sample.codes[rows_of], np.arange(n_classes + 1))
    for group in groups:
        if group.lone:
            unit = np.sqrt(group.typical)
            group.begin(1.0)
            group.ellipses = Ellipses(group.start, np.diag(unit), np.diag(1.0 / unit), float(m))
        group.layout.measure(group.ellipses, group.pull)
        group.moved = _followed_far_rows(group, wanted)
        where = 0 if wanted.tied else int(group.classes[0])
        scatter[where] = group.ellipses.scatter
        location[group.classes] = group.ellipses.location + shift
        distances = group.layout.by_class(group.layout.on_full_scale())
        masses = group.layout.by_class(group.layout.weights)
        upto = 0
        for k, t, w in zip(group.classes, distances, masses, strict=True):
            upto += len(t)
            if not len(t):
                continue
            middle[k] = loops.middle_of(t, w)
            mine = rows_of[edges[k] : edges[k + 1]]
            kept = None if group.kept is None else group.kept[upto - len(t) : upto]
            row_weights[mine] = _relative_weights(t, w, group, wanted, middle[k], m, kept)
        dof[group.classes] = group.dof
        shrinkage[group.classes] = 1.0 if group.lone else group.pull.share
        iterations[group.classes] = group.sweeps
        for name, flag in flags.items():
            flag[group.classes] = getattr(group, name)
    if wanted.scatter == "student" and np.isnan(dof).any():
        told = dof[np.isfinite(dof)]
        # A class that says nothing of its tails has those of the others.
        dof = np.where(np.isnan(dof), np.median(told) if len(told) else FIRST, dof)
    return Estimates(
        np.where(seen[:, None], location if wanted.held is None else wanted.held, 0.0),
        scatter,
        dof,
        np.where(middle > 0, middle, 1.0),
        shrinkage,
        iterations,
        row_weights,
        seen,
        flags["lone"] & seen,
        flags["repaired"] & seen,
        ~flags["settled"] & seen,
        flags["moved"] & seen,
    )


def _followed_far_rows(group: Group, wanted: Wanted) -> bool:
    """Whether a measured scatter is as large as the farthest rows, not as most of them, make it."""
    if group.near is None or group.lone:
        return False
    variances = np.diag(group.ellipses.scatter)
    if wanted.scatter == "tyler":
        middle = loops.middle_of(group.layout.out.ravel(), group.layout.weights.ravel())
        variances = variances * middle / chi2.ppf(0.5, len(variances))
    return bool(np.any(variances > FAR * group.near[1]))


def _with_left_out(row_weights: np.ndarray, left: Sample, whole: Sample) -> np.ndarray:
    """Weights relative to the mean of all rows of a class, where some are left out of points."""
    counted = row_weights * left.weights / whole.weights
    masses = np.bincount(whole.codes, whole.weights)
    means = np.bincount(whole.codes, counted * whole.weights) / np.where(masses > 0, masses, 1.0)
    return np.asarray(counted / np.where(means > 0, means, 1.0)[whole.codes])


def _relative_weights(
    t: np.ndarray,
    masses: np.ndarray,
    group: Group,
    wanted: Wanted,
    middle: float,
    m: int,
    kept: np.ndarray | None,
) -> np.ndarray:
    """Weights of rows in the scatter, relative to the mean of their class."""
    if group.lone:
        return np.ones(len(t))
    match wanted.scatter:
        case "student":
            u = (group.dof + m) / (group.dof + t)
        case "tyler":
            u = m / np.maximum(t, max(loops.AT_LOCATION * middle, np.finfo(float).tiny))
        case "huber":
            cut = float(chi2.ppf(HUBER_SHARE, m))
            u = cut / np.maximum(t, cut)
        case "mcd":
            u = np.ones(len(t)) if kept is None else kept
        case _:
            return np.ones(len(t))
    mean = float(masses @ u) / float(masses.sum())
    return np.asarray(u / mean) if mean > 0 else np.ones(len(t))
