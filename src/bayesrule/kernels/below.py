"""Distribution functions of bumps on a line, and the weight of many bumps below a place."""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.bumps import (
    BIWEIGHT,
    COSINE,
    EPANECHNIKOV,
    GAUSSIAN,
    LAPLACE,
    LOGISTIC,
    SQUARE,
    TRIANGLE,
    TRIWEIGHT,
)
from bayesrule.kernels.compiler import compiled

#: Distances beyond which all but 1e-17 of a bump lies on one side.
GAUSSIAN_SIDE, EXPONENTIAL_SIDE = 8.6, 40.0


@compiled
def lower_side(shape, a):
    """Share of a bump of unit width that lies beyond a distance a >= 0 on one side."""
    if shape == GAUSSIAN:
        return 0.5 * math.erfc(a * math.sqrt(0.5))
    if shape == LAPLACE:
        return 0.5 * math.exp(-a)
    if shape == LOGISTIC:
        return math.exp(-a) / (1.0 + math.exp(-a))
    if shape == SQUARE:
        return max(0.5 - a, 0.0)
    # In powers of the distance from the end, so that small shares keep their digits.
    t = max(1.0 - a, 0.0)
    if shape == TRIANGLE:
        return 0.5 * t * t
    if shape == EPANECHNIKOV:
        return 0.25 * t * t * (3.0 - t)
    if shape == BIWEIGHT:
        return t**3 * (10.0 - t * (7.5 - 1.5 * t)) / 8.0
    if shape == TRIWEIGHT:
        return t**4 * (35.0 - t * (42.0 - t * (17.5 - 2.5 * t))) / 16.0
    if shape == COSINE:
        return math.sin(0.25 * math.pi * t) ** 2
    # Tricube.
    a = min(a, 1.0)
    return max(0.5 - 70.0 / 81.0 * a * (1.0 - 0.75 * a**3 + 3.0 / 7.0 * a**6 - 0.1 * a**9), 0.0)


@compiled
def below_place(shape, z):
    """Share of a bump of unit width about zero that lies below z."""
    return lower_side(shape, -z) if z < 0.0 else 1.0 - lower_side(shape, z)


@compiled
def below_places(shape, places, out):
    """The same for an array of places."""
    for i in range(places.size):
        out[i] = below_place(shape, places[i])


@compiled
def sums_below(shape, reach, queries, points, weights, narrow, out):
    """Weight of all bumps below each query.

    ``points`` are sorted; ``reach`` is where a bump ends, ``narrow`` one over the width of each
    bump, or none. Points whose bumps lie below are added up beforehand, and those above are looked
    at as long as they add a digit.
    """
    side = reach
    if shape == GAUSSIAN:
        side = GAUSSIAN_SIDE
    elif math.isinf(reach):
        side = EXPONENTIAL_SIDE
    whole = np.zeros(points.size + 1)
    for i in range(points.size):
        whole[i + 1] = whole[i] + weights[i]
    everything = whole[points.size]
    for q in range(queries.size):
        x = queries[q]
        total = 0.0
        if narrow.size:
            for i in range(points.size):
                total += weights[i] * below_place(shape, (x - points[i]) * narrow[i])
        else:
            first = np.searchsorted(points, x - side)
            total = whole[first]
            for i in range(first, points.size):
                share = below_place(shape, x - points[i])
                total += weights[i] * share
                if points[i] > x and share * everything <= 1e-17 * total:
                    break
        out[q] = total
