"""Sums of bumps: the weight of all points seen from each query, every bump of unit width.

    unbounded kernels    sum_i w_i exp(shift - E_i) / F_i,    E the exponent, F a factor from 1 up
    bounded kernels      sum_i w_i V_i

Points lie in leaves, boxes of a few hundred near each other. A leaf is passed over where its best
possible point would add less than ``SHARE`` of an even share of the sum so far, so that all that
is left out together is below ``SHARE`` of the sum; of bounded kernels nothing is left out.
"""

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled

#: Largest share of a sum that may be left out.
SHARE = 1e-7

#: Queries that meet a leaf while it is in the cache.
GROUP = 32

#: Below this a sum is taken again, relative to its largest term.
TINY = 1e-200

# Shapes of kernels. Gaussian, Laplace and logistic ones never end.
GAUSSIAN, LAPLACE, LOGISTIC = 0, 1, 2
SQUARE, TRIANGLE, EPANECHNIKOV, BIWEIGHT, TRIWEIGHT, TRICUBE, COSINE = 3, 4, 5, 6, 7, 8, 9


@compiled(reassociate=True)
def fast_exp(x):
    """exp(x) for x <= 0, to 5e-10 of itself; below -700 as at -700.

    Seven terms after taking out the power of two: no call, no branch, so that loops over points
    fit vector registers.
    """
    x = max(x, -700.0)
    power = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - power * 0.6931471805599453
    series = (
        1.0
        + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r / 5040)))) * (r * r)
        + (r + 0.5 * r * r)
    )
    return series * np.int64((np.int64(power) + 1023) << 52).view(np.float64)


@compiled(reassociate=True)
def times_heights(shape, u, n, factor):
    """Multiply by the heights of a bounded kernel at distances u >= 0, one at its centre.

    A loop for each shape, without a branch within, so that all of them fit vector registers.
    """
    if shape == SQUARE:
        for i in range(n):
            factor[i] *= 1.0 if u[i] <= 0.5 else 0.0
    elif shape == TRIANGLE:
        for i in range(n):
            factor[i] *= max(1.0 - u[i], 0.0)
    elif shape == EPANECHNIKOV:
        for i in range(n):
            factor[i] *= max(1.0 - u[i], 0.0) * (1.0 + u[i])
    elif shape == BIWEIGHT:
        for i in range(n):
            parabola = max(1.0 - u[i], 0.0) * (1.0 + u[i])
            factor[i] *= parabola * parabola
    elif shape == TRIWEIGHT:
        for i in range(n):
            parabola = max(1.0 - u[i], 0.0) * (1.0 + u[i])
            factor[i] *= parabola * parabola * parabola
    elif shape == TRICUBE:
        for i in range(n):
            cubic = max(1.0 - u[i] * u[i] * u[i], 0.0)
            factor[i] *= cubic * cubic * cubic
    else:
        # The cosine of a quarter turn u is the sine of the rest y of it: its series to y^15.
        for i in range(n):
            y = 0.5 * math.pi * max(1.0 - u[i], 0.0)
            z = y * y
            series = 1.0 - z / 156.0 * (1.0 - z / 210.0)
            series = 1.0 - z / 72.0 * (1.0 - z / 110.0 * series)
            factor[i] *= y * (1.0 - z / 6.0 * (1.0 - z / 20.0 * (1.0 - z / 42.0 * series)))


@compiled(reassociate=True)
def fill_gaussian(query, points, narrow, start, stop, level):
    """Exponents of a leaf's points: half their squared distances."""
    for i in range(stop - start):
        level[i] = 0.0
    for j in range(points.shape[0]):
        x = query[j]
        column = points[j]
        for i in range(stop - start):
            apart = x - column[start + i]
            level[i] += 0.5 * apart * apart
    if narrow.size:
        for i in range(stop - start):
            level[i] *= narrow[start + i] * narrow[start + i]


@compiled(reassociate=True)
def fill(shape, product, query, points, narrow, start, stop, level, factor):
    """Exponents and factors of a leaf's points, or heights (in ``factor``) of bounded kernels."""
    n = stop - start
    for i in range(n):
        level[i] = 0.0
        factor[i] = 1.0
    if product and shape > LOGISTIC:
        for j in range(points.shape[0]):
            x = query[j]
            column = points[j]
            for i in range(n):
                level[i] = abs(x - column[start + i])
            if narrow.size:
                for i in range(n):
                    level[i] *= narrow[start + i]
            times_heights(shape, level, n, factor)
        return
    for j in range(points.shape[0]):
        x = query[j]
        column = points[j]
        if not product:
            for i in range(n):
                apart = x - column[start + i]
                level[i] += apart * apart
        elif shape == LAPLACE:
            for i in range(n):
                level[i] += abs(x - column[start + i])
        else:
            for i in range(n):
                u = abs(x - column[start + i])
                if narrow.size:
                    u *= narrow[start + i]
                rise = 1.0 + fast_exp(-u)
                level[i] += u
                factor[i] *= rise * rise
    if not product:
        for i in range(n):
            level[i] = math.sqrt(level[i])
    if narrow.size and (not product or shape == LAPLACE):
        for i in range(n):
            level[i] *= narrow[start + i]
    if shape > LOGISTIC:
        times_heights(shape, level, n, factor)
    elif shape == LOGISTIC and not product:
        for i in range(n):
            rise = 1.0 + fast_exp(-level[i])
            factor[i] = rise * rise


@compiled(reassociate=True)
def add_up(level, factor, weights, start, stop, shift, plain):
    """Sum of w exp(shift - level) / factor; ``plain`` where all factors are one."""
    total = 0.0
    if plain:
        for i in range(stop - start):
            total += weights[start + i] * fast_exp(shift - level[i])
    else:
        for i in range(stop - start):
            total += weights[start + i] * fast_exp(shift - level[i]) / factor[i]
    return total


@compiled(reassociate=True)
def add_up_heights(factor, weights, start, stop):
    """Sum of w times height."""
    total = 0.0
    for i in range(stop - start):
        total += weights[start + i] * factor[i]
    return total


@compiled(reassociate=True)
def least(level, start, stop):
    """Smallest exponent."""
    best = level[0]
    for i in range(1, stop - start):
        best = min(best, level[i])
    return best


@compiled(reassociate=True)
def bounds(shape, product, query, low, high, widest, out):
    """For each leaf the smallest exponent that any of its points can have."""
    n_leaves = low.shape[1]
    for b in range(n_leaves):
        out[b] = 0.0
    for j in range(low.shape[0]):
        x = query[j]
        for b in range(n_leaves):
            gap = max(max(low[j, b] - x, x - high[j, b]), 0.0)
            if product and shape != GAUSSIAN:
                if shape <= LOGISTIC:
                    out[b] += gap
                else:
                    out[b] = max(out[b], gap)
            else:
                out[b] += gap * gap
    for b in range(n_leaves):
        if shape == GAUSSIAN:
            out[b] *= 0.5 * widest[b] * widest[b]
        else:
            out[b] = (out[b] if product else math.sqrt(out[b])) * widest[b]


@compiled
def bump_sums(
    shape, product, queries, own, points, weights, narrow, starts, low, high, widest, log_sum
):
    """Logarithms of the sums at the queries.

    ``queries`` (m, D); ``own`` the place of a point that a query does not see, or none; ``points``
    (D, n); ``narrow`` one over the width of each bump, or none; leaf b holds the points
    ``starts[b]`` to ``starts[b + 1]``, in the box ``low[:, b]`` to ``high[:, b]``, and no bump
    wider than one over ``widest[b]``.
    """
    n_queries = queries.shape[0]
    n_leaves = low.shape[1]
    size = 0
    for b in range(n_leaves):
        size = max(size, starts[b + 1] - starts[b])
    level = np.empty(size)
    factor = np.empty(size)
    floor = np.empty((GROUP, n_leaves))
    total = np.empty(GROUP)
    first = np.empty(GROUP, np.int64)
    unbounded = shape <= LOGISTIC
    plain = shape != LOGISTIC
    all_weight = 0.0
    for i in range(weights.size):
        all_weight += weights[i]
    reach = 0.5 if shape == SQUARE else 1.0
    for opened in range(0, n_queries, GROUP):
        members = min(GROUP, n_queries - opened)
        for g in range(members):
            bounds(shape, product, queries[opened + g], low, high, widest, floor[g])
            first[g] = -1
            total[g] = 0.0
            if unbounded:
                nearest = 0
                for b in range(1, n_leaves):
                    if floor[g, b] < floor[g, nearest]:
                        nearest = b
                first[g] = nearest
        for turn in range(2):
            for b in range(n_leaves):
                start, stop = starts[b], starts[b + 1]
                for g in range(members):
                    if (first[g] == b) != (turn == 0):
                        continue
                    if unbounded:
                        best = math.exp(-floor[g, b]) * all_weight
                        if turn == 1 and best < SHARE * total[g]:
                            continue
                    elif floor[g, b] > reach:
                        continue
                    query = queries[opened + g]
                    if shape == GAUSSIAN:
                        fill_gaussian(query, points, narrow, start, stop, level)
                    else:
                        fill(shape, product, query, points, narrow, start, stop, level, factor)
                    if own.size:
                        hidden = own[opened + g] - start
                        if 0 <= hidden < stop - start:
                            level[hidden] = math.inf
                            if not unbounded:
                                factor[hidden] = 0.0
                    if unbounded:
                        total[g] += add_up(level, factor, weights, start, stop, 0.0, plain)
                    else:
                        total[g] += add_up_heights(factor, weights, start, stop)
        for g in range(members):
            if total[g] > TINY or not unbounded:
                log_sum[opened + g] = math.log(total[g]) if total[g] > 0.0 else -math.inf
                continue
            # Far out: find the nearest point, then add up relative to it.
            query = queries[opened + g]
            hidden = own[opened + g] if own.size else -1
            shift = math.inf
            far = 0.0
            for turn in range(2):
                for step in range(n_leaves):
                    b = (first[g] + step) % n_leaves
                    start, stop = starts[b], starts[b + 1]
                    # Numbers this large may be rounded by more than fifty.
                    if floor[g, b] > (shift if turn == 0 else shift + 50.0 + 1e-9 * shift):
                        continue
                    if shape == GAUSSIAN:
                        fill_gaussian(query, points, narrow, start, stop, level)
                    else:
                        fill(shape, product, query, points, narrow, start, stop, level, factor)
                    if 0 <= hidden - start < stop - start:
                        level[hidden - start] = math.inf
                    if turn == 0:
                        shift = min(shift, least(level, start, stop))
                    else:
                        far += add_up(level, factor, weights, start, stop, shift, plain)
            log_sum[opened + g] = math.log(far) - shift if shift < math.inf else -math.inf
