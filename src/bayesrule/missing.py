"""Rows with missing values: their patterns, and the EM that completes Gaussian moments by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from bayesrule.notices import NotConvergedWarning
from bayesrule.stats import Moments, Sample

MAX_ITERATIONS = 500
TOLERANCE = 1e-9


def missing_patterns(values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (columns that are there, rows) for every pattern of missing values."""
    present = ~np.isnan(values)
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    edges = np.searchsorted(which.ravel()[order], np.arange(len(patterns) + 1))
    for p, pattern in enumerate(patterns):
        yield np.flatnonzero(pattern), order[edges[p] : edges[p + 1]]


def complete_by_em(
    moments: Moments,
    incomplete: Sample,
    plug_in: Callable[[Moments], tuple[np.ndarray, np.ndarray]] | None = None,
) -> Moments:
    """Moments that maximise the likelihood of complete and incomplete rows together.

    With ``plug_in``, which tells the most probable means and covariances from moments under a
    prior, they maximise the posterior instead.

    The complete rows enter by their moments alone. Each incomplete row is replaced, in turn, by
    its expectation given its own values, with the conditional covariance added to the second
    moment (Dempster, Laird and Rubin 1977; Little and Rubin, Statistical Analysis with Missing
    Data). A row without any value says nothing and is left out.
    """
    tied = moments.kind == "tied"
    values = incomplete.rows - moments.shift
    some = ~np.isnan(values).all(axis=1)
    values, codes, weights = values[some], incomplete.codes[some], incomplete.weights[some]
    if len(values) == 0:
        return moments
    n_classes = len(moments.mean)
    weight = moments.weight + np.bincount(codes, weights, n_classes)
    patterns = list(missing_patterns(values))
    mean, covariance = _start(moments, values, codes, weights)
    unit = np.sqrt(np.mean([np.diag(c) for c in covariance], axis=0))
    unit = np.where(unit > 0, unit, 1.0)
    for _ in range(MAX_ITERATIONS):
        # In units of each column's deviation, so that a pseudo-inverse can tell zero from small.
        filled, extra = _expect(
            values / unit, codes, weights, patterns, mean / unit, covariance / np.outer(unit, unit)
        )
        filled, extra = filled * unit, extra * np.outer(unit, unit)
        after = moments.weight[:, None] * moments.mean
        np.add.at(after, codes, weights[:, None] * filled)
        after /= np.where(weight > 0, weight, 1.0)[:, None]
        second = moments.second + extra
        apart = moments.mean - after
        between = moments.weight[:, None] * apart
        spread = filled - after[codes]
        if tied:
            second = second + between.T @ apart + (spread * weights[:, None]).T @ spread
            covariances = (second / weight.sum())[None]
        else:
            second = second + between[:, :, None] * apart[:, None, :]
            for k in np.unique(codes):
                mine = spread[codes == k]
                second[k] += (mine * weights[codes == k, None]).T @ mine
            covariances = second / np.where(weight > 0, weight, 1.0)[:, None, None]
        completed = Moments(moments.kind, moments.shift, weight, after, second)
        if plug_in is not None:
            located, covariances = plug_in(completed)
            after = located - moments.shift
        moved = max(
            np.abs((after - mean) / unit).max(),
            np.abs((covariances - covariance) / np.outer(unit, unit)).max(),
        )
        mean, covariance = after, covariances
        if moved <= TOLERANCE:
            break
    else:
        warnings.warn(
            f"The EM over {len(values)} rows with missing values had not converged after "
            f"{MAX_ITERATIONS} iterations (last change {moved:.2g} standard deviations).",
            NotConvergedWarning,
            stacklevel=2,
        )
    return completed


def _start(
    moments: Moments, values: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means of what each column has, and diagonal covariances over all classes together."""
    n_classes, n_columns = moments.mean.shape
    there = ~np.isnan(values)
    zeroed = np.where(there, values, 0.0)
    known = np.zeros((n_classes, n_columns)) + moments.weight[:, None]
    np.add.at(known, codes, weights[:, None] * there)
    total = moments.weight[:, None] * moments.mean
    np.add.at(total, codes, weights[:, None] * zeroed)
    overall = total.sum(axis=0) / np.where(known.sum(axis=0) > 0, known.sum(axis=0), 1.0)
    mean = np.where(known > 0, total / np.where(known > 0, known, 1.0), overall)
    diagonal = (
        np.diag(moments.second) if moments.kind == "tied" else np.einsum("kjj->j", moments.second)
    ) + (moments.weight[:, None] * (moments.mean - mean) ** 2).sum(axis=0)
    squares = np.where(there, weights[:, None] * (values - mean[codes]) ** 2, 0.0).sum(axis=0)
    variance = (diagonal + squares) / np.where(known.sum(axis=0) > 0, known.sum(axis=0), 1.0)
    variance = np.where(variance > 0, variance, 1.0)
    n_scatters = 1 if moments.kind == "tied" else n_classes
    return mean, np.tile(np.diag(variance), (n_scatters, 1, 1))


def _expect(
    values: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    patterns: list[tuple[np.ndarray, np.ndarray]],
    mean: np.ndarray,
    covariance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows completed by their conditional means, and the conditional covariances summed."""
    n_columns = values.shape[1]
    tied = len(covariance) == 1
    filled = values.copy()
    extra = np.zeros_like(covariance)
    for there, rows in patterns:
        absent = np.setdiff1d(np.arange(n_columns), there)
        for k in np.unique(codes[rows]):
            mine = rows[codes[rows] == k]
            matrix = covariance[0 if tied else k]
            # A pseudo-inverse: a class with few rows has a singular covariance on the way.
            slope = matrix[absent[:, None], there] @ np.linalg.pinv(
                matrix[there[:, None], there], hermitian=True
            )
            filled[mine[:, None], absent] = (
                mean[k, absent] + (values[mine[:, None], there] - mean[k, there]) @ slope.T
            )
            rest = matrix[absent[:, None], absent] - slope @ matrix[there[:, None], absent]
            extra[0 if tied else k][absent[:, None], absent] += weights[mine].sum() * rest
    return filled, extra[0] if tied else extra
