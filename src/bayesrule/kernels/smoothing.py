"""The loop of k-smoothing: the nearest cells of each cell, until they hold k rows."""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled

#: A ball that is sure to hold more than so many times k rows is drawn again, smaller.
PLENTY = 3.0
#: Bounds of the radius nearer to each other than this are not worth another try.
NEAR = 1.1


@compiled
def neighbourhoods(
    counts, k, volumes, nearest, distance, offset, steps, shape, start, stop, heights
):
    """Count over volume of the nearest cells that hold k rows, for cells from start to stop.

    ``nearest`` lists the levels of feature j by their distance from level l at
    ``offset[j] + l * shape[j]``, ``distance`` their squared distances. The cells of a ball are
    listed by walking each feature outwards until it leaves the ball; the nearest of them are then
    picked without sorting. The radius is corrected until the ball holds k rows and not many more;
    the next cell begins with the one that served this one.
    """
    n_columns = shape.size
    found = np.empty(64)
    where = np.empty(64, np.int64)
    level = np.empty(n_columns, np.int64)
    farthest = 0.0
    for j in range(n_columns):
        far = 0.0
        for i in range(offset[j], offset[j + 1]):
            far = max(far, distance[i])
        farthest += far
    least = farthest
    for i in range(distance.size):
        if 0.0 < distance[i] < least:
            least = distance[i]
    radius = least
    for m in range(start, stop):
        if counts[m] >= k:
            heights[m] = counts[m] / volumes[m]
            continue
        for j in range(n_columns):
            level[j] = offset[j] + ((m // steps[j]) % shape[j]) * shape[j]
        too_small, enough = 0.0, np.inf
        while True:
            most = np.inf if enough <= NEAR * too_small else PLENTY * k
            n, held, found, where = _ball(
                counts, nearest, distance, level, steps, shape, radius, most, found, where
            )
            if held >= k:
                if held <= most:
                    break
                enough = radius
                radius *= max((k / held) ** (2.0 / n_columns), 0.25)
                if radius <= NEAR * too_small:
                    radius = np.sqrt(too_small * enough)
            elif radius > farthest:
                break
            else:
                too_small = radius
                wanted = (1.3 * k / held) ** (2.0 / n_columns) if held > 0.0 else 2.0
                radius = max(radius * min(max(wanted, 1.1), 3.0), least)
                # Once there is a ball that is too large, every try halves what lies between.
                if radius >= enough:
                    radius = np.sqrt(too_small * enough)
                if enough <= NEAR * too_small:
                    radius = enough
        heights[m], reach = _nearest_k(counts, volumes, k, found, where, n)
        radius = max(1.15 * reach, least)


@compiled
def _ball(counts, nearest, distance, level, steps, shape, radius, most, found, where):
    """Cells within a squared radius, and the rows they hold; broken off beyond ``most`` rows."""
    n_columns = shape.size
    last = n_columns - 1
    place = np.zeros(n_columns, np.int64)
    partial = np.zeros(n_columns + 1)
    address = np.zeros(n_columns + 1, np.int64)
    n, held, depth = 0, 0.0, 0
    while depth >= 0:
        row = level[depth]
        if depth == last:
            base, so_far = address[last], partial[last]
            if n + shape[last] > found.size:
                more = np.empty(2 * found.size + shape[last])
                there = np.empty(more.size, np.int64)
                for i in range(n):
                    more[i], there[i] = found[i], where[i]
                found, where = more, there
            for i in range(row, row + shape[last]):
                square = so_far + distance[i]
                if square > radius:
                    break
                a = base + nearest[i]
                found[n], where[n] = square, a
                held += counts[a]
                n += 1
            if held > most:
                break
            depth -= 1
            continue
        i = place[depth]
        if i == shape[depth] or partial[depth] + distance[row + i] > radius:
            depth -= 1
            continue
        place[depth] = i + 1
        partial[depth + 1] = partial[depth] + distance[row + i]
        address[depth + 1] = address[depth] + nearest[row + i] * steps[depth]
        depth += 1
        place[depth] = 0
    return n, held, found, where


@compiled
def _nearest_k(counts, volumes, k, found, where, n):
    """Rows over volume of the first n cells, by distance and address, that hold k rows.

    A pivot parts the cells into nearer and farther ones; the side that the k-th row is on is
    parted again. Returns the squared distance of the last cell too.
    """
    held, volume = 0.0, 0.0
    low, high = 0, n
    reach = 0.0
    while low < high:
        middle = (low + high) // 2
        pivot, at = found[middle], where[middle]
        found[middle], where[middle] = found[high - 1], where[high - 1]
        found[high - 1], where[high - 1] = pivot, at
        split, nearer, room = low, 0.0, 0.0
        for i in range(low, high - 1):
            if found[i] < pivot or (found[i] == pivot and where[i] < at):
                square, a = found[i], where[i]
                found[i], where[i] = found[split], where[split]
                found[split], where[split] = square, a
                nearer += counts[a]
                room += volumes[a]
                split += 1
        found[high - 1], where[high - 1] = found[split], where[split]
        found[split], where[split] = pivot, at
        if held + nearer >= k:
            high = split
            continue
        held += nearer + counts[at]
        volume += room + volumes[at]
        reach = pivot
        if held >= k:
            break
        low = split + 1
    return held / volume, reach
