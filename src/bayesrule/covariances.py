"""Covariances: how they are shrunk, when they count as singular, and how they are factored."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from bayesrule.stats import Moments

LOG_2PI = float(np.log(2.0 * np.pi))

#: A conditional variance below this share of the variance counts as zero.
SINGULAR = 1e-10

#: A class's variance below this share of that over all classes is rounding, and counts as zero.
ROUNDING = 1e-20

#: Least share of an automatic target: enough to make any covariance invertible.
LEAST_SHARE = 1e-6

#: Smallest variance of a column within a class, as a share of its variance over all classes.
FLOOR = 1e-9


def spread_over_classes(moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Variance of each column within classes and over all rows."""
    weight = weight_of_columns(moments)
    total = weight.sum(axis=0)
    total = np.where(total > 0, total, 1.0)
    second = second_of_columns(moments)
    between = (weight * (moments.mean - centre_of_columns(moments)) ** 2).sum(axis=0)
    return second / total, (second + between) / total


def weight_of_columns(moments: Moments) -> np.ndarray:
    """Weight of each class and column, shape (K, D)."""
    weight = moments.weight
    return np.broadcast_to(weight if weight.ndim == 2 else weight[:, None], moments.mean.shape)


def second_of_columns(moments: Moments) -> np.ndarray:
    """Second moment of each column about the class means, summed over classes."""
    match moments.kind:
        case "diagonal":
            return moments.second.sum(axis=0)
        case "full":
            return np.einsum("kjj->j", moments.second)
        case "tied":
            return np.diag(moments.second)


def centre_of_columns(moments: Moments) -> np.ndarray:
    """Mean of each column over all rows, relative to the shift."""
    weight = weight_of_columns(moments)
    total = weight.sum(axis=0)
    centre: np.ndarray = (weight * moments.mean).sum(axis=0) / np.where(total > 0, total, 1.0)
    return centre


def typical_variances(moments: Moments) -> np.ndarray:
    """Variance that a class may be expected to have in each column: unbiased, within classes.

    At most that over all rows, which stands in where no class has two rows; zero for columns that
    never vary.
    """
    within, overall = spread_over_classes(moments)
    freedom = np.maximum(weight_of_columns(moments) - 1.0, 0.0).sum(axis=0)
    second = second_of_columns(moments)
    unbiased = np.divide(second, freedom, out=overall.copy(), where=freedom > 0)
    return np.where(within > FLOOR * overall, np.minimum(unbiased, overall), overall)


def invertible(covariance: np.ndarray) -> bool:
    """Whether no column is, up to rounding, a combination of those before it."""
    variance = np.diag(covariance)
    if not (variance > 0).all():
        return False
    scale = np.sqrt(variance)
    try:
        factor = np.linalg.cholesky(covariance / np.outer(scale, scale))
    except np.linalg.LinAlgError:
        return False
    return bool((np.diag(factor) ** 2 > SINGULAR).all())


def shrunk(
    covariance: np.ndarray, share: Any, count: float, scale: np.ndarray, usual: np.ndarray
) -> np.ndarray:
    """Shrink towards the mean variance (float) or the usual variances, made as large (auto).

    An automatic share is told in units of ``scale``.
    """
    if share is None:
        return covariance
    if share == "auto":
        share = max(oracle_share(covariance / np.outer(scale, scale), count), LEAST_SHARE)
    else:
        usual = np.ones(len(covariance))
    size = np.mean(np.diag(covariance) / usual)
    return (1 - share) * covariance + share * size * np.diag(usual)


def oracle_share(covariance: np.ndarray, count: float) -> float:
    """Oracle approximating shrinkage (Chen, Wiesel, Eldar and Hero 2010): it needs no rows."""
    n_columns = len(covariance)
    if count <= 1:
        return 1.0
    squares, square = float(np.sum(covariance**2)), float(np.trace(covariance)) ** 2
    above = (1 - 2 / n_columns) * squares + square
    below = (count + 1 - 2 / n_columns) * (squares - square / n_columns)
    return 1.0 if below <= above else above / below


def whiten(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse transposed Cholesky factors, and the constants of the log-densities."""
    n_columns = covariance.shape[-1]
    identity = np.eye(n_columns)
    whitening = np.empty_like(covariance)
    log_constant = np.empty(len(covariance))
    for k, matrix in enumerate(covariance):
        # Factoring the correlations keeps columns of very different units apart.
        scale = np.sqrt(np.diag(matrix))
        factor = np.linalg.cholesky(matrix / np.outer(scale, scale))
        inverse = solve_triangular(factor, identity, lower=True) if n_columns else identity
        whitening[k] = inverse.T / scale[:, None]
        log_det = np.sum(np.log(np.diag(factor))) + np.sum(np.log(scale))
        log_constant[k] = -log_det - 0.5 * n_columns * LOG_2PI
    return whitening, log_constant
