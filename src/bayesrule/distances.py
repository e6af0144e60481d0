"""Squared distances of rows from the classes, in units of their scatters, and their logarithms.

Squares of numbers beyond 1e154 are infinite; their logarithms are not, and are found from the
largest deviation of the row and what is left when it is divided by that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Squared distance from which a tied covariance is scored class by class: a difference of such
#: squares would be wrong in the ninth digit.
FAR_OUT = 1e6


def squared_distances(values: np.ndarray, mean: np.ndarray, whitening: np.ndarray) -> np.ndarray:
    """Squared length of (x - m) @ W, shape (n, K): a matrix product per class, or one if shared."""
    with np.errstate(over="ignore", invalid="ignore"):
        out = _squared_distances(values, mean, whitening)
    if not out.max(initial=0.0) < np.inf:
        out[np.isnan(out)] = np.inf  # two infinities of opposite signs are far out, too
    return out


def log_squares(values: np.ndarray, mean: np.ndarray, whitening: np.ndarray) -> np.ndarray:
    """Logarithms of squared distances that may be beyond the largest number, shape (n, K)."""
    out = np.empty((len(values), len(mean)))
    last = len(whitening) - 1
    for k in range(len(mean)):
        apart = 0.5 * values - 0.5 * mean[k]
        apart[np.isnan(apart)] = 0.0  # a missing value is no distance away
        largest = np.abs(apart).max(axis=1, initial=0.0)
        white = (apart / np.where(largest > 0, largest, 1.0)[:, None]) @ whitening[min(k, last)]
        with np.errstate(divide="ignore"):
            log_length = np.log(largest) + np.log(2.0)
            out[:, k] = 2.0 * log_length + np.log(np.einsum("ij,ij->i", white, white))
    return out


def log_of_squares(
    squares: np.ndarray, log_of_far: Callable[[np.ndarray], np.ndarray], log: Any = np.log1p
) -> np.ndarray:
    """``log`` of squares (n, K), in place; where one has overflown, what ``log_of_far`` says.

    It is given the places of such rows.
    """
    far = np.empty(0, np.intp)
    if not squares.max(initial=0.0) < np.inf:
        far = np.flatnonzero((squares == np.inf).any(axis=1))
    log(squares, out=squares)
    if len(far):
        squares[far] = np.where(np.isinf(squares[far]), log_of_far(far), squares[far])
    return squares


def _squared_distances(values: np.ndarray, mean: np.ndarray, whitening: np.ndarray) -> np.ndarray:
    """The same, NaN where infinities were subtracted."""
    out = np.empty((len(values), len(mean)))
    if len(whitening) == 1:
        # About the mean of the means, squares are small enough to be told apart by a product ...
        centre = mean.mean(axis=0)
        white, centres = (values - centre) @ whitening[0], (mean - centre) @ whitening[0]
        lengths = np.einsum("ij,ij->i", centres, centres)
        squares = np.einsum("ij,ij->i", white, white)
        # ... unless some mean or row is so far out that their difference would lose its digits.
        if max(lengths.max(), squares.max(initial=0.0)) < FAR_OUT:
            np.matmul(white, -2.0 * centres.T, out=out)
            out += lengths
            out += squares[:, None]
            return out
    last = len(whitening) - 1
    for k in range(len(mean)):
        white = (values - mean[k]) @ whitening[min(k, last)]
        out[:, k] = np.einsum("ij,ij->i", white, white)
    return out
