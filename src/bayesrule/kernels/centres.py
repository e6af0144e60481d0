"""Loops of k-means: first centres that lie far apart, and moves until no row changes its cell.

Rows stand side by side as columns of ``rows`` (D, N). The first n are rows; copies of the last one
without weight fill up the last ``LANES``, since loops over so many fill vector registers.
"""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.cells import level_of
from bayesrule.kernels.compiler import compiled
from bayesrule.kernels.profiles import LANES


@compiled
def nearer_with(rows, weights, centre, closest, nearer):
    """Squared distances to the closest centre, were one of the rows a centre; and their sum."""
    left = np.zeros(LANES)
    distance = np.empty(LANES)
    for first in range(0, rows.shape[1], LANES):
        for r in range(LANES):
            distance[r] = 0.0
        for j in range(rows.shape[0]):
            lane = rows[j, first : first + LANES]
            value = rows[j, centre]
            for r in range(LANES):
                step = lane[r] - value
                distance[r] += step * step
        before, after = closest[first : first + LANES], nearer[first : first + LANES]
        shares = weights[first : first + LANES]
        for r in range(LANES):
            after[r] = min(before[r], distance[r])
            left[r] += shares[r] * after[r]
    total = 0.0
    for r in range(LANES):
        total += left[r]
    return total


@compiled
def spread_starts(rows, weights, draws, out):
    """Rows to begin at, drawn in proportion to their squared distance from those drawn before.

    ``draws`` (T, L) are uniform: of L candidates the one that leaves the least distance is taken.
    """
    # All in plain loops: whole-array expressions would take seconds to compile.
    n = weights.size
    closest, mass = np.empty(n), np.empty(n)
    nearer, best = np.empty(n), np.empty(n)
    for i in range(n):
        closest[i] = np.inf
    for c in range(out.size):
        held = 0.0
        for i in range(n):
            held += weights[i] * closest[i] if c > 0 else weights[i]
            mass[i] = held
        least = np.inf
        for candidate in range(draws.shape[1] if c > 0 else 1):
            drawn = level_of(draws[c, candidate] * held, mass, 0, n)
            drawn = min(drawn, n - 1)
            left = nearer_with(rows, weights, drawn, closest, nearer)
            if left < least:
                least = left
                out[c] = drawn
                best, nearer = nearer, best
        for i in range(n):
            closest[i] = best[i]


@compiled
def nearest_cells(rows, centres, place, apart):
    """Nearest centre of each row, the first of equals, and the squared distance to it.

    Returns how many rows were elsewhere before.
    """
    moved = 0
    lanes = np.empty((centres.shape[1], LANES))
    distance, least = np.empty(LANES), np.empty(LANES)
    best = np.empty(LANES, np.int64)
    for first in range(0, rows.shape[1], LANES):
        for j in range(centres.shape[1]):
            for r in range(LANES):
                lanes[j, r] = rows[j, first + r]
        for r in range(LANES):
            least[r] = np.inf
            best[r] = 0
        for t in range(centres.shape[0]):
            for r in range(LANES):
                distance[r] = 0.0
            for j in range(centres.shape[1]):
                centre = centres[t, j]
                for r in range(LANES):
                    step = lanes[j, r] - centre
                    distance[r] += step * step
            for r in range(LANES):
                nearer = distance[r] < least[r]
                best[r] = t if nearer else best[r]
                least[r] = distance[r] if nearer else least[r]
        for r in range(min(LANES, place.size - first)):
            moved += place[first + r] != best[r]
            place[first + r] = best[r]
            apart[first + r] = least[r]
    return moved


@compiled
def fill_empty_cells(place, apart, members):
    """Give each cell without rows the row that lies farthest from its own centre."""
    for t in range(members.size):
        if members[t] > 0:
            continue
        farthest = -1
        for i in range(place.size):
            if members[place[i]] > 1 and (farthest < 0 or apart[i] > apart[farthest]):
                farthest = i
        if farthest >= 0:
            members[place[farthest]] -= 1
            members[t] = 1
            place[farthest] = t
            apart[farthest] = 0.0


@compiled
def settle_centres(rows, weights, centres, most, least, place, apart):
    """Move centres (T, D) to the means of their cells, up to ``most`` times, in place.

    It ends where no row changes its cell, or where the squares of all moves add up to no more than
    ``least``. Returns the sum of weighted squared distances to the centres.
    """
    place[:] = -1
    moves = np.inf
    for _ in range(most):
        if nearest_cells(rows, centres, place, apart) == 0:
            break
        members = np.zeros(centres.shape[0], np.int64)
        for i in range(place.size):
            members[place[i]] += 1
        fill_empty_cells(place, apart, members)
        masses = np.zeros(centres.shape[0])
        sums = np.zeros(centres.shape)
        for i in range(place.size):
            masses[place[i]] += weights[i]
        for j in range(centres.shape[1]):
            for i in range(place.size):
                sums[place[i], j] += weights[i] * rows[j, i]
        moves = 0.0
        for t in range(centres.shape[0]):
            for j in range(centres.shape[1]):
                value = sums[t, j] / masses[t] if members[t] > 0 else centres[t, j]
                moves += (value - centres[t, j]) ** 2
                centres[t, j] = value
        if moves <= least:
            break
    nearest_cells(rows, centres, place, apart)
    inertia = 0.0
    for i in range(place.size):
        inertia += weights[i] * apart[i]
    return inertia
