"""Boundaries of quantised features that need no search, and how many levels each feature gets.

    H_j   =   - sum_b p_b log2 p_b + (m - 1) / (2 N ln 2)        entropy of feature j, in bits
    L_j   =   floor(M ^ (H_j / sum_i H_i))                       its levels under a limit of M cells

with p_b the shares of the bins of a fine quantisation and m the number of those that are not empty
(Miller's correction). A feature of L levels has L - 1 boundaries; a boundary belongs to the level
above it, and the outer levels are open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def entropy(counts: Any) -> float:
    """Entropy in bits of the law that counts were drawn from, corrected for its bias.

    Parameters
    ----------
    counts : array of numbers >= 0

    References
    ----------
    Miller: Note on the bias of information estimates, 1955. Panda, Garg: Discrete Bayes Decision
    Rule, equation (11), which prints the number of empty bins for that of the others.

    Examples
    --------
    >>> round(entropy([500, 250, 250]), 4)
    1.5014
    """
    counts = np.asarray(counts, np.float64).ravel()
    counts = counts[counts > 0]
    total = counts.sum()
    if total == 0:
        return 0.0
    shares = counts / total
    return float(-(shares @ np.log2(shares)) + (len(counts) - 1) / (2 * total * np.log(2)))


def levels_by_entropy(
    entropies: Any, max_cells: float, *, rounding: str = "floor"
) -> tuple[int, ...]:
    """Numbers of levels in proportion, on a logarithmic scale, to the features' entropies.

    Rounded down, their product is at most ``max_cells``; rounded up ("ceil") it may be more.

    Examples
    --------
    >>> levels_by_entropy([3.0, 3.0, 3.0, 3.0, 3.0], 10_000)
    (6, 6, 6, 6, 6)
    """
    bits = np.maximum(np.asarray(entropies, np.float64), 0.0)
    if not bits.any():
        return (1,) * len(bits)
    levels = float(max_cells) ** (bits / bits.sum())
    # 7776 ** (1 / 5) is a little less than 6.
    near = np.rint(levels)
    exact = np.abs(levels - near) <= 1e-9 * near
    rounded = np.where(exact, near, np.floor(levels) if rounding == "floor" else np.ceil(levels))
    return tuple(int(n) for n in np.maximum(rounded, 1))


def equal_probability_boundaries(values: Any, n_levels: int, weights: Any = None) -> np.ndarray:
    """Boundaries between levels that hold equal shares of the values, as nearly as ties allow.

    They lie half way between neighbouring values. Where many values are equal there may be fewer
    levels than were asked for. Missing values (NaN) are left out.

    Parameters
    ----------
    values : array of n numbers
    n_levels : int
    weights : array of n numbers >= 0, default=None

    Examples
    --------
    >>> equal_probability_boundaries([1, 2, 3, 4, 5, 6], 3)
    array([2.5, 4.5])
    >>> equal_probability_boundaries([0, 0, 0, 0, 0, 7], 3)
    array([3.5])
    """
    values = np.asarray(values, np.float64).ravel()
    mass = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64).ravel()
    there = ~np.isnan(values) & (mass > 0)
    distinct, place = np.unique(values[there], return_inverse=True)
    counts = np.bincount(place, mass[there], len(distinct))
    return gaps_between(distinct)[equal_gaps(counts, n_levels)]


def equal_gaps(counts: np.ndarray, n_levels: int) -> np.ndarray:
    """Which gaps between neighbouring bins come nearest to equal shares; each gap once."""
    below = np.cumsum(counts)[:-1]
    if n_levels <= 1 or not len(below):
        return np.empty(0, np.int64)
    inside = np.flatnonzero((below > 0) & (below < counts.sum()))
    targets = np.arange(1, n_levels) * (counts.sum() / n_levels)
    if not len(inside):
        return inside
    above = np.clip(np.searchsorted(below[inside], targets), 1, max(len(inside) - 1, 1))
    above = np.minimum(above, len(inside) - 1)
    under = np.maximum(above - 1, 0)
    nearer = targets - below[inside][under] <= below[inside][above] - targets
    return np.unique(inside[np.where(nearer, under, above)])


def gaps_between(distinct: np.ndarray) -> np.ndarray:
    """A boundary in each gap between neighbouring values: half way, where rounding allows."""
    low, high = distinct[:-1], distinct[1:]
    middle = low * 0.5 + high * 0.5
    # Neighbouring floats have none between them.
    return np.where((middle > low) & (middle <= high), middle, high)


def uniform_boundaries(low: float, high: float, n_levels: int) -> np.ndarray:
    """Boundaries of levels of equal width between two numbers.

    Examples
    --------
    >>> uniform_boundaries(0.0, 1.0, 4)
    array([0.25, 0.5 , 0.75])
    """
    shares = np.arange(1, n_levels) / n_levels
    return np.unique(low * (1 - shares) + high * shares) if high > low else np.empty(0)


def checked_boundaries(given: Any, n_features: int) -> tuple[np.ndarray, ...]:
    """Boundaries as the user gave them: an increasing list of finite numbers for each feature."""
    if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
        raise ValueError(
            f"boundaries={given!r} is not known; use 'optimized', 'paper', 'equal', 'uniform', or "
            "a list with the increasing boundaries of each feature."
        )
    if len(given) != n_features:
        raise ValueError(
            f"boundaries has {len(given)} lists for {n_features} features; give one for each, "
            "empty where a feature should have one level."
        )
    checked = []
    for j, values in enumerate(given):
        array = np.atleast_1d(np.asarray(values, np.float64))
        if array.ndim != 1 or not np.isfinite(array).all() or (np.diff(array) <= 0).any():
            raise ValueError(
                f"boundaries[{j}]={values!r} must be finite numbers, each greater than the one "
                "before it."
            )
        checked.append(array)
    return tuple(checked)
