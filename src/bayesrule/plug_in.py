"""Plug-in bandwidths on a line: the equation whose root is the bandwidth of least squared error.

Both estimate how rough the density is, by bumps whose own width depends on the answer. Points far
beyond the bulk, where no common bandwidth could serve them, do not take part.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

#: Cells of the grid that points are shared out to.
CELLS = 1 << 13
#: Distinct values whose pairs are few enough to be taken one by one.
FEW = 100
#: Quartile ranges from the median beyond which points are left aside.
BEYOND = 30.0
#: A bandwidth below this share of the usual gap between neighbouring values would follow gaps.
OF_GAP = 0.25


def quartile_range(values: np.ndarray, weights: np.ndarray) -> float:
    """Distance between the quartiles of the repeated values, as numpy defines quantiles."""
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    at = np.array([0.25, 0.75]) * max(ends[-1] - 1.0, 0.0)
    below = np.minimum(np.searchsorted(ends, np.floor(at), side="right"), len(values) - 1)
    above = np.minimum(np.searchsorted(ends, np.ceil(at), side="right"), len(values) - 1)
    low, high = values[order[below]], values[order[above]]
    quartiles = low + (at - np.floor(at)) * (high - low)
    return float(quartiles[1] - quartiles[0])


def bulk(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted values, and their weights, without those far beyond the others."""
    middle = values[np.searchsorted(np.cumsum(weights), 0.5 * weights.sum())]
    reach = BEYOND * quartile_range(values, weights)
    if reach == 0.0:
        return values, weights
    near = np.abs(values - middle) <= reach
    return values[near], weights[near]


def not_below_gaps(width: float, values: np.ndarray) -> float:
    """The bandwidth, or a quarter of the usual gap where values are rounded to few."""
    return max(width, OF_GAP * float(np.median(np.diff(values))))


def shared_out(values: np.ndarray, weights: np.ndarray, margin: float) -> tuple[np.ndarray, float]:
    """Shares of the weight on a grid, each value between its two neighbours; and its length."""
    span = values[-1] - values[0]
    low, length = values[0] - margin * span, (1.0 + 2.0 * margin) * span
    at = (values - low) / length * (CELLS - 1)
    left = np.minimum(at.astype(np.int64), CELLS - 2)
    part = at - left
    grid = np.bincount(left, weights * (1.0 - part), CELLS)
    grid += np.bincount(left + 1, weights * part, CELLS)
    return grid / weights.sum(), length


def botev(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Improved Sheather-Jones bandwidth of Botev, Grotowski and Kroese (2010); None if none.

    The values are sorted and distinct, and n is their number, as in the authors' program: counted
    with repetitions, rounded values would be followed down to their gaps. The diffusion t that
    solves t = f(t), with f the plug-in chain of roughness estimates from the seventh derivative
    down, gives the bandwidth sqrt(t).
    """
    values, weights = bulk(values, weights)
    if len(values) < 3:
        return None
    n = float(len(values))
    grid, length = shared_out(values, weights, 0.5)
    squares = np.arange(1.0, CELLS) ** 2
    energy = (dct(grid)[1:] / 2.0) ** 2

    def roughness(order: int, t: float) -> float:
        decay = squares**order * energy * np.exp(-squares * np.pi**2 * t)
        return float(2.0 * np.pi ** (2 * order) * decay.sum())

    def miss(t: float) -> float:
        f = roughness(7, t)
        for order in range(6, 1, -1):
            odd = np.prod(np.arange(1.0, 2 * order, 2)) / np.sqrt(2.0 * np.pi)
            constant = (1.0 + 0.5 ** (order + 0.5)) / 3.0
            f = roughness(order, (2.0 * constant * odd / (n * f)) ** (2.0 / (3.0 + 2.0 * order)))
        return float(t - (2.0 * n * np.sqrt(np.pi) * f) ** -0.4)

    with np.errstate(all="ignore"):
        t = _first_root(miss, np.geomspace(1e-12, 0.1, 60))
    return None if t is None else not_below_gaps(float(np.sqrt(t) * length), values)


def sheather_jones(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Bandwidth of Sheather and Jones (1991), solving the equation; None where it has no root.

    The values are sorted and distinct. Pairs of values are counted by their distance on a grid.
    """
    values, weights = bulk(values, weights)
    if len(values) < 3:
        return None
    n = weights.sum()
    mean = weights @ values / n
    scale = float(np.sqrt(weights @ (values - mean) ** 2 / max(n - 1.0, 1.0)))
    quartiles = quartile_range(values, weights) / 1.349
    if quartiles > 0:
        scale = min(scale, quartiles)
    if len(values) <= FEW:
        distances = np.abs(values[:, None] - values).ravel()
        order = np.argsort(distances, kind="stable")
        distances, pairs = distances[order], (weights[:, None] * weights).ravel()[order]
    else:
        grid, length = shared_out(values, weights, 0.0)
        spectrum = np.abs(np.fft.rfft(grid * n, 2 * CELLS)) ** 2
        pairs = np.fft.irfft(spectrum)[:CELLS].clip(0.0)
        pairs[1:] *= 2.0
        distances = np.arange(CELLS) * length / (CELLS - 1)

    def derivative(width: float, polynomial: Callable[[np.ndarray], np.ndarray]) -> float:
        """Sum over pairs of a derivative of the Gaussian, which soon is nothing."""
        near = np.searchsorted(distances, 12.0 * width)
        d = (distances[:near] / width) ** 2
        total = pairs[:near] @ (np.exp(-0.5 * d) * polynomial(d))
        return float(total / (n * (n - 1.0) * np.sqrt(2.0 * np.pi)))

    def fourth(width: float) -> float:
        return derivative(width, lambda d: d * d - 6.0 * d + 3.0) / width**5

    def sixth(width: float) -> float:
        return derivative(width, lambda d: d**3 - 15.0 * d * d + 45.0 * d - 15.0) / width**7

    with np.errstate(all="ignore"):
        ratio = fourth(1.24 * scale * n ** (-1.0 / 7)) / -sixth(1.23 * scale * n ** (-1.0 / 9))
        if not ratio > 0:
            return None
        factor = 1.357 * ratio ** (1.0 / 7)

        def miss(width: float) -> float:
            rough = fourth(factor * width ** (5.0 / 7))
            return float((1.0 / (2.0 * np.sqrt(np.pi) * n * rough)) ** 0.2 - width)

        most = 1.144 * scale * n**-0.2
        width = _first_root(miss, most * np.geomspace(2.0, 0.01, 40))
    return None if width is None else not_below_gaps(width, values)


def _first_root(function: Callable[[float], float], grid: np.ndarray) -> float | None:
    """The root between the first two points of the grid where the sign changes."""
    before = None
    for x in grid:
        value = function(float(x))
        if before is not None and np.isfinite(value) and before[1] * value <= 0:
            return float(brentq(function, before[0], float(x), rtol=1e-10))
        before = (float(x), value) if np.isfinite(value) else None
    return None
