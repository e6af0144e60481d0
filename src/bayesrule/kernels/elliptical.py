"""Loops of the elliptical laws: sweeps over the rows that settle a location and a scatter.

With S = C C' and z = C^-1 (x - m), t = z'z, one sweep gathers

    A = sum w u(t) z z' / W        d = sum w v(t) z / sum w v(t)

which are the identity and zero where location and scatter have settled. Rows may be known up to a
blur only: (x - m)(x - m)' is then more by it, and t by its trace in units of the scatter. Rows lie
in tiles, the values of a column side by side, so that all inner loops fit vector registers.
"""
# A little longer than most files here: one sweep and all that it calls.

from __future__ import annotations

import math

import numpy as np

from bayesrule.kernels.compiler import compiled
from bayesrule.kernels.triangles import cholesky, in_units, lower_solve, triangle_times

#: Rows of one tile.
TILE = 64

#: Weights of the rows by their squared distance t: (v + m) / (v + t); m / t; min(1, k / t). Only
#: the last settles the size of the scatter, too.
STUDENT, TYLER, HUBER = 0, 1, 2

#: A squared distance below this share of the median counts as that share: for the scatter only
#: where a row is at the location up to rounding, for the location where one row would hold it.
#: Of few rows each holds more, and more is needed.
AT_LOCATION = 1e-10
NEAR_LOCATION = 1e-6

#: Changes of less than this, in units of the scatter, come back by the share that is foretold.
NEAR = 0.5


@compiled
def fill_tiles(rows, weights, codes, starts, shift, tiles, tile_weights):
    """Put rows into the tiles of their class; ``starts`` is the first tile of each."""
    filled = np.zeros(starts.size, np.int64)
    n_columns = rows.shape[1]
    for i in range(rows.shape[0]):
        k = codes[i]
        b = starts[k] + filled[k] // TILE
        f = filled[k] % TILE
        filled[k] += 1
        tile_weights[b, f] = weights[i]
        for j in range(n_columns):
            tiles[b, j, f] = rows[i, j] - shift[j]


@compiled(reassociate=True)
def whiten_tile(tile, location, inverse, beyond, z, t):
    """z = C^-1 (x - m) of one tile, and its squared lengths, each longer by ``beyond``."""
    n_columns = tile.shape[0]
    deviation = np.empty_like(z)
    for f in range(TILE):
        t[f] = beyond
    for j in range(n_columns):
        centre = location[j]
        for f in range(TILE):
            deviation[j, f] = tile[j, f] - centre
        own = inverse[j, j]
        for f in range(TILE):
            z[j, f] = own * deviation[j, f]
        for i in range(j):
            by = inverse[j, i]
            for f in range(TILE):
                z[j, f] += by * deviation[i, f]
        for f in range(TILE):
            t[f] += z[j, f] * z[j, f]


@compiled(reassociate=True)
def row_weights(t, weights, kind, m, parameter, paper, near, middle, beyond, u, v, slopes):
    """Weights of rows for the scatter (u) and the location (v), times their own weight.

    ``paper`` lets Tyler's locations weigh by 1 / t, not 1 / sqrt(t); ``near`` is the share of the
    median that t is floored at for them. ``beyond`` is how much of t is the blur's. ``slopes``
    gathers -u't^2 and -2v't, less what comes from the blur, which tell how far a step falls short.
    """
    for f in range(t.size):
        w = weights[f]
        d = t[f]
        own = max(d - beyond, 0.0) / d if beyond > 0.0 else 1.0
        if kind == STUDENT:
            x = (parameter + m) / (parameter + d)
            b = own * d / (parameter + d)
            u[f] = w * x
            v[f] = w * x
            slopes[0] += w * (parameter + m) * b * b
            slopes[1] += w * 2.0 * x * b
        elif kind == TYLER:
            far = max(d, AT_LOCATION * middle)
            u[f] = w * m / far
            slopes[0] += w * m * own * own
            away = max(d, near * middle)
            v[f] = w / away if paper else w / math.sqrt(away)
            if d >= away:
                slopes[1] += v[f] * own * (2.0 if paper else 1.0)
        elif d > parameter:
            x = parameter / d
            u[f] = w * x
            v[f] = w * math.sqrt(x)
            slopes[0] += w * parameter * own * own
            slopes[1] += w * own * math.sqrt(x)
        else:
            u[f] = w
            v[f] = w


@compiled(reassociate=True)
def add_tile(z, u, v, scatter, first, pull):
    """Add a tile to the lower half of sum u z z', to sum u z and to sum v z."""
    n_columns = z.shape[0]
    scaled = np.empty(TILE)
    for j in range(n_columns):
        total = 0.0
        pulled = 0.0
        for f in range(TILE):
            scaled[f] = u[f] * z[j, f]
            total += scaled[f]
            pulled += v[f] * z[j, f]
        first[j] += total
        pull[j] += pulled
        for i in range(j + 1):
            total = 0.0
            for f in range(TILE):
                total += scaled[f] * z[i, f]
            scatter[j, i] += total


@compiled
def sweep(
    tiles,
    weights,
    tile_class,
    location,
    inverse,
    blur,
    kind,
    parameter,
    paper,
    near,
    middle,
    out,
    sums,
):
    """One pass over the rows of the classes that share a scatter.

    ``sums`` is (scatter (m, m), first (g, m), pull (g, m), mass of u (g,), of v (g,), slopes (2,)).
    """
    scatter, first, pull, mass_u, mass_v, slopes = sums
    m = tiles.shape[1]
    for j in range(m):
        for i in range(m):
            scatter[j, i] = 0.0
    for k in range(mass_u.size):
        mass_u[k] = 0.0
        mass_v[k] = 0.0
        for j in range(m):
            first[k, j] = 0.0
            pull[k, j] = 0.0
    slopes[0] = 0.0
    slopes[1] = 0.0
    z = np.empty((m, TILE))
    u, v = np.empty(TILE), np.empty(TILE)
    around, beyond = in_units(inverse, blur)
    for b in range(tiles.shape[0]):
        k = tile_class[b]
        whiten_tile(tiles[b], location[k], inverse, beyond, z, out[b])
        row_weights(
            out[b], weights[b], kind, m, parameter, paper, near, middle, beyond, u, v, slopes
        )
        add_tile(z, u, v, scatter, first[k], pull[k])
        for f in range(TILE):
            mass_u[k] += u[f]
            mass_v[k] += v[f]
    for j in range(m):
        for i in range(j):
            scatter[i, j] = scatter[j, i]
    if beyond > 0.0:
        mass = total_of(mass_u)
        for j in range(m):
            for i in range(m):
                scatter[j, i] += mass * around[j, i]


@compiled
def measure(tiles, tile_class, location, inverse, blur, out):
    """Squared distances alone."""
    z = np.empty((tiles.shape[1], TILE))
    _, beyond = in_units(inverse, blur)
    for b in range(tiles.shape[0]):
        whiten_tile(tiles[b], location[tile_class[b]], inverse, beyond, z, out[b])


@compiled
def total_of(values):
    """Sum of an array, in its order."""
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def advance(sums, total, location, factor, inverse, kind, share, target, held, middle, pace):
    """Move location and scatter by what a sweep found; how far they were from settled.

    Plain steps fall short by a known share: for rows of an elliptical law a change E of the scatter
    comes back as a (2 E + tr(E) I), a = mean(-u't^2) / (m (m + 2)), and one of the location as
    b = mean(-2v't) / (m mean v) of itself. Eager steps are longer by as much.

    ``share`` of the scatter is replaced by the diagonal ``target``, made as large as it.
    ``pace`` is how far it was at best so far, and whether steps may be eager, which ends where they
    do not bring it closer. From afar they would leap to and fro over where it settles. NaN says
    that some direction has lost all its spread.
    """
    eager = pace[1] > 0.0 and pace[0] < NEAR
    scatter, first, pull, mass_u, mass_v, slopes = sums
    m = scatter.shape[0]
    found = np.empty((m, m))
    for j in range(m):
        for i in range(m):
            found[j, i] = scatter[j, i] / total
    furthest = 0.0
    if not held:
        b = slopes[1] / (m * total_of(mass_v))
        longer = 1.0 / (1.0 - b) if eager and b < 0.7 else 1.0
        step = np.empty(m)
        for k in range(location.shape[0]):
            if mass_v[k] <= 0.0:
                continue
            length = 0.0
            for j in range(m):
                step[j] = pull[k, j] / mass_v[k]
                length += step[j] * step[j]
            furthest = max(furthest, math.sqrt(length / middle))
            for j in range(m):
                step[j] *= longer
            # The scatter about where the location moves to.
            for j in range(m):
                for i in range(m):
                    found[j, i] += (
                        mass_u[k] * step[j] * step[i]
                        - step[j] * first[k, i]
                        - first[k, j] * step[i]
                    ) / total
            for j in range(m):
                for i in range(j + 1):
                    location[k, j] += factor[j, i] * step[i]
    if share > 0.0:
        raw = np.empty((m, m))
        triangle_times(factor, found, raw)
        size = 0.0
        for j in range(m):
            own = 0.0
            for i in range(j + 1):
                own += raw[j, i] * factor[j, i]
            size += own / target[j]
        whitened, _ = in_units(inverse, target)
        for j in range(m):
            for i in range(m):
                found[j, i] = (1.0 - share) * found[j, i] + share * size / m * whitened[j, i]
    trace = 0.0
    for j in range(m):
        trace += found[j, j]
    mean = trace / m
    if not 0.0 < mean < math.inf:
        return math.nan
    a = (1.0 - share) * slopes[0] / (total * m * (m + 2.0))
    shape = 1.0 / (1.0 - 2.0 * a) if eager and a < 0.35 else 1.0
    grown = mean
    free = kind != HUBER  # the size stays as it is
    if free:
        grown = 1.0
    elif eager and a * (m + 2.0) < 0.999:
        grown = min(max(1.0 + (mean - 1.0) / (1.0 - a * (m + 2.0)), 0.5), 2.0)
    if not free:
        furthest = max(furthest, abs(mean - 1.0))
    # By a norm that no rotation changes, so that affine maps end at the same sweep.
    off = 0.0
    for j in range(m):
        for i in range(m):
            found[j, i] /= mean
            off += (found[j, i] - (1.0 if i == j else 0.0)) ** 2
    off = math.sqrt(off)
    furthest = max(furthest, off)
    if off * shape < 0.5 or shape == 1.0:
        for j in range(m):
            for i in range(m):
                found[j, i] *= shape
            found[j, j] += 1.0 - shape
    for j in range(m):
        for i in range(m):
            found[j, i] *= grown
    onward = cholesky(found)
    if math.isnan(onward[0, 0]):
        return math.nan
    triangle_times(factor, onward, found)
    for j in range(m):
        for i in range(m):
            factor[j, i] = found[j, i]
    lower_solve(onward, inverse)
    if furthest > 2.0 * pace[0]:
        pace[1] = 0.0
    pace[0] = min(pace[0], furthest)
    return furthest


def first_pace() -> np.ndarray:
    """What ``advance`` knows before its first step."""
    return np.array([math.inf, 1.0])


def no_sums(g: int, m: int) -> tuple[np.ndarray, ...]:
    """Room for what a sweep gathers about g classes and m columns."""
    return (
        np.zeros((m, m)),
        np.zeros((g, m)),
        np.zeros((g, m)),
        np.zeros(g),
        np.zeros(g),
        np.zeros(2),
    )


@compiled
def middle_of(t, weights):
    """Weighted median: the least t with at least half of the weight at or below it."""
    low, high = 0, t.size
    values, masses = np.empty(high), np.empty(high)
    for i in range(high):
        values[i], masses[i] = t[i], weights[i]
    # A little less: exactly one half is not to be missed by a rounding.
    half = (0.5 - 1e-10) * total_of(masses)
    below = 0.0
    while high - low > 1:
        a, b, c = values[low], values[(low + high) // 2], values[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        # Three parts: less than the pivot, equal to it, more.
        i, j, k = low, low, high
        less, equal = 0.0, 0.0
        while j < k:
            if values[j] < pivot:
                values[i], values[j] = values[j], values[i]
                masses[i], masses[j] = masses[j], masses[i]
                less += masses[i]
                i += 1
                j += 1
            elif values[j] > pivot:
                k -= 1
                values[k], values[j] = values[j], values[k]
                masses[k], masses[j] = masses[j], masses[k]
            else:
                equal += masses[j]
                j += 1
        if below + less >= half and i > low:
            high = i
        elif below + less + equal >= half or k == high:
            return pivot
        else:
            below += less + equal
            low = k
    return values[low]


@compiled
def dof_sums(t, weights, dof, scale, sums):
    """Sums over rows of w, w log(1 + t/v), w b and w b (1 - b), with b = t / (v + t).

    Squared distances are divided by ``scale`` first.
    """
    for i in range(t.size):
        w = weights[i]
        if w > 0.0:
            d = t[i] / scale
            b = d / (dof + d)
            sums[0] += w
            sums[1] += w * math.log1p(d / dof)
            sums[2] += w * b
            sums[3] += w * b * (1.0 - b)


@compiled
def settle_tiles(
    tiles,
    weights,
    tile_class,
    location,
    factor,
    inverse,
    kind,
    parameter,
    paper,
    near,
    share,
    target,
    blur,
    held,
    middle,
    max_iter,
    tolerance,
    out,
    sums,
):
    """Sweep until location and scatter have settled: (sweeps, last distance, median of t)."""
    pace = np.ones(2)  # the first pace
    pace[0] = math.inf
    flat, masses = out.reshape(out.size), weights.reshape(weights.size)
    total = total_of(masses)
    furthest = math.inf
    for done in range(max_iter):
        sweep(
            tiles,
            weights,
            tile_class,
            location,
            inverse,
            blur,
            kind,
            parameter,
            paper,
            near,
            middle,
            out,
            sums,
        )
        if kind == TYLER and done < 6:
            middle = middle_of(flat, masses)
        furthest = advance(
            sums, total, location, factor, inverse, kind, share, target, held, middle, pace
        )
        if not furthest > tolerance:  # settled, or broken
            return done + 1, furthest, middle
    return max_iter, furthest, middle
