"""Edges of bins on a line, from the values of the classes.

All classes share the edges. A rule that gives a width is asked for each class, and the geometric
mean of the widths is taken, weighted by the classes; rules that weigh numbers of bins or blocks by
a likelihood add up that of the classes. With one class they are the rules as they were published.

=======================  ==========================================================================
``"sturges"``            range / (1 + log2 n)
``"doane"``              range / (1 + log2 n + log2(1 + |g| / s_g)), g the skewness
``"scott"``              (24 sqrt(pi) / n)^(1/3) s
``"freedman-diaconis"``  2 IQR n^(-1/3); Scott's where half of the values are equal
``"knuth"``              the number of even bins of highest posterior (Knuth, 2006)
``"blocks"``             Bayesian blocks of any widths (Scargle and others, 2013)
=======================  ==========================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayesrule.addresses import MOST_CELLS
from bayesrule.distinct import Points
from bayesrule.kernels import histograms as loops
from bayesrule.magnitudes import binary_unit
from bayesrule.notices import FewRowsWarning
from bayesrule.plug_in import quartile_range

#: Even bins of one column at most: more are a sign of values far from all others.
MOST = 10_000
#: Cells that Bayesian blocks are made of at most: the time grows with their square.
FINEST = 2048
#: Chance of a needless boundary between Bayesian blocks.
FALSE_ALARM = 0.05
#: Bins that Knuth's rule goes up to.
MOST_EVEN = 1000


def spread_about(values: np.ndarray, weights: np.ndarray, power: int) -> float:
    """Central moment."""
    n = weights.sum()
    return float(weights @ (values - weights @ values / n) ** power / n)


def _sturges(values: np.ndarray, weights: np.ndarray) -> float:
    return float((values[-1] - values[0]) / (1.0 + np.log2(weights.sum())))


def _doane(values: np.ndarray, weights: np.ndarray) -> float:
    n, deviation = weights.sum(), np.sqrt(spread_about(values, weights, 2))
    if n <= 2 or deviation == 0:
        return _sturges(values, weights)
    skewness = spread_about(values, weights, 3) / deviation**3
    error = np.sqrt(6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0)))
    n_bins = 1.0 + np.log2(n) + np.log2(1.0 + abs(skewness) / error)
    return float((values[-1] - values[0]) / n_bins)


def _scott(values: np.ndarray, weights: np.ndarray) -> float:
    deviation = np.sqrt(spread_about(values, weights, 2))
    return float((24.0 * np.sqrt(np.pi) / weights.sum()) ** (1.0 / 3.0) * deviation)


def _freedman_diaconis(values: np.ndarray, weights: np.ndarray) -> float:
    found = 2.0 * quartile_range(values, weights) * weights.sum() ** (-1.0 / 3.0)
    return float(found) if found > 0 else _scott(values, weights)


#: Values that differ by less than this share of themselves differ by rounding.
ROUNDING = 1e-13
#: Heights of bins, and their products, are told down to this range.
NARROWEST = 1e-290
#: Rules whose width falls with a power of n.
POWERS = ("scott", "freedman-diaconis", "fd")
WIDTHS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "sturges": _sturges,
    "doane": _doane,
    "scott": _scott,
    "freedman-diaconis": _freedman_diaconis,
    "fd": _freedman_diaconis,
}
#: All names of rules; "fd" is numpy's name.
RULES = (*WIDTHS, "knuth", "blocks")


def edges_of_column(
    bins: Any,
    points: list[Points],
    width: float | None,
    origin: float | None,
    name: str,
    n_columns: int = 1,
) -> np.ndarray:
    """Increasing edges that all values lie between, unless they are too far out.

    ``bins`` is a number of bins, the name of a rule, or the edges themselves; ``points`` are the
    distinct values of each class, ``name`` what messages call the column, and ``n_columns`` how
    many columns the cells have.
    """
    if not isinstance(bins, str) and np.ndim(bins) == 1:
        return np.asarray(bins, np.float64)
    some = [of_class for of_class in points if len(of_class.rows)]
    if not some:
        return np.array([-0.5, 0.5])
    low = min(float(of_class.rows[0, 0]) for of_class in some)
    high = max(float(of_class.rows[-1, 0]) for of_class in some)
    if ROUNDING * max(abs(low), abs(high)) < high - low < NARROWEST:
        raise ValueError(
            f"{name} of X spreads over {high - low:.2g} only, too small a range to be cut into "
            "bins. Multiply it by a power of ten, which moves no decision."
        )
    if high - low < NARROWEST or high - low <= ROUNDING * max(abs(low), abs(high)):
        half = max(0.5, 1e-9 * abs(low))
        return np.array([low - half, high + half])
    if width is None:
        if bins == "blocks":
            return _blocks(some)
        if not isinstance(bins, str):
            width = (high - low) / int(bins)
        elif bins == "knuth":
            width = (high - low) / _knuth(some, low, high - low)
        else:
            width = _mean_width(bins, some, high - low, n_columns)
            if origin is None:
                width = (high - low) / np.ceil((high - low) / width)
    return _even(low, high, width, low if origin is None else origin, some, name)


def _mean_width(name: str, points: list[Points], span: float, n_columns: int) -> float:
    """Geometric mean of the classes' widths; classes that do not vary have none.

    Widths that fall with n^(-1/3) on a line fall with n^(-1 / (D + 2)) in D columns.
    """
    slower = 1.0 / 3.0 - 1.0 / (n_columns + 2.0) if name in POWERS else 0.0
    rule, unit = WIDTHS[name], float(binary_unit(span))
    found = [
        (rule(p.rows[:, 0] * unit, p.weights) / unit * p.total**slower, p.total) for p in points
    ]
    told = [(width, n) for width, n in found if np.isfinite(width) and width > 0]
    if not told:
        return span
    logs, totals = np.log([width for width, _ in told]), [n for _, n in told]
    return min(float(np.exp(np.average(logs, weights=totals))), span)


def _even(
    low: float, high: float, width: float, origin: float, points: list[Points], name: str
) -> np.ndarray:
    """Edges at whole multiples of the width from the origin."""
    if (high - low) / width <= MOST:
        # What rounding alone puts beyond an edge must not open another bin.
        first = np.floor((low - origin) / width + 1e-9)
        last = np.ceil((high - origin) / width - 1e-9)
        edges = origin + width * np.arange(first, max(last, first + 1.0) + 1.0)
    else:
        values, weights = together(points)
        middle = values[np.searchsorted(np.cumsum(weights), 0.5 * weights.sum())]
        start = middle - np.fmod(middle - origin, width)
        edges = start + width * np.arange(-(MOST // 2), MOST // 2 + 1.0)
        beyond = weights @ ((values < edges[0]) | (values > edges[-1]))
        warnings.warn(
            f"{name} of X would need more than {MOST} bins of width {width:.3g}; there are bins "
            f"about the median, and a weight of {beyond:g} lies beyond them, in the tails. Drop "
            "values that are far from all others, or give fewer bins.",
            FewRowsWarning,
            stacklevel=2,
        )
    edges = np.unique(edges)
    if edges[-1] <= high <= edges[-1] + 1e-6 * width:
        edges[-1] = np.nextafter(high, np.inf)  # the last bin holds its right edge
    return edges if len(edges) > 1 else np.array([low, np.nextafter(high, np.inf)])


def coarsened(edges: list[np.ndarray], chosen: list[int]) -> list[np.ndarray]:
    """Edges of which every other one is left out, where the cells had no addresses otherwise.

    Only columns whose edges a rule has ``chosen`` are touched, the one of most bins first.
    """
    edges = list(edges)
    while prod(len(e) + 1 for e in edges) >= MOST_CELLS and chosen:
        j = max(chosen, key=lambda j: len(edges[j]))
        if len(edges[j]) == 2:
            break
        edges[j] = np.unique(np.append(edges[j][:-1:2], edges[j][-1]))
    return edges


def together(points: list[Points]) -> tuple[np.ndarray, np.ndarray]:
    """Sorted values of all classes and their weights."""
    values = np.concatenate([p.rows[:, 0] for p in points])
    order = np.argsort(values, kind="stable")
    return values[order], np.concatenate([p.weights for p in points])[order]


def _knuth(points: list[Points], low: float, span: float) -> int:
    """The number of bins of highest posterior; a grid of numbers, then all around the best."""
    values = np.concatenate([p.rows[:, 0] for p in points])
    weights = np.concatenate([p.weights for p in points])
    codes = np.repeat(np.arange(len(points)), [len(p.rows) for p in points])
    totals = np.array([p.total for p in points])
    # More bins than distinct values would follow how numbers were rounded.
    most = int(min(MOST_EVEN, len(np.unique(values))))

    def score(n_bins: int) -> float:
        counts = np.zeros((len(points), n_bins))
        loops.count_even(values, codes, weights, low, span, counts)
        constant = gammaln(0.5 * n_bins) - n_bins * gammaln(0.5) - gammaln(totals + 0.5 * n_bins)
        chosen = totals * np.log(n_bins) + constant
        return float(chosen.sum() + gammaln(counts + 0.5).sum())

    tried = np.unique(np.round(np.geomspace(1, most, 120)).astype(int))
    scores = [score(int(m)) for m in tried]
    best = int(np.argmax(scores))
    low_end, high_end = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    near = range(int(low_end), int(high_end) + 1)
    return max(near, key=lambda m: (score(m), -m))


def _blocks(points: list[Points]) -> np.ndarray:
    """Bayesian blocks; of many distinct values, of cells that hold equally many."""
    pooled, _ = together(points)
    values = np.unique(pooled)
    cells = np.arange(len(values))
    if len(values) > FINEST:
        cells = np.unique(np.linspace(0, len(values), FINEST, endpoint=False).astype(int))
    middles = 0.5 * (values[cells[1:] - 1] + values[cells[1:]])
    edges = np.concatenate([values[:1], middles, values[-1:]])
    weights = np.zeros((len(cells), len(points)))
    for k, of_class in enumerate(points):
        where = np.searchsorted(values, of_class.rows[:, 0])
        where = np.searchsorted(cells, where, side="right") - 1
        weights[:, k] = np.bincount(where, of_class.weights, len(cells))
    totals = weights.sum(axis=0)
    price = float(np.sum(4.0 - np.log(73.53 * FALSE_ALARM * np.maximum(totals, 1.0) ** -0.478)))
    starts = loops.best_blocks(weights, edges, price)
    return np.append(edges[starts], np.nextafter(values[-1], np.inf))
