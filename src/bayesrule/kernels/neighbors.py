"""Loops over neighbours that were found: their distances to the last digit, their votes, thinning.

Search structures and matrix products round distances in ways that depend on the order of the rows.
Distances are therefore taken anew, column by column, so that equal ones are equal.
"""

from __future__ import annotations

import math

from bayesrule.kernels.compiler import compiled

#: Distances that differ by less than this share of themselves are ties.
TIE = 1e-10


@compiled
def apart(ones, a, others, b, power):
    """Distance of row a of one array and row b of another: power 1, 2, or 0 for the largest.

    Rows are named by their places, since cutting them out would take longer than the distance.
    """
    total = 0.0
    if power == 2:
        for j in range(ones.shape[1]):
            difference = ones[a, j] - others[b, j]
            total += difference * difference
        return math.sqrt(total)
    for j in range(ones.shape[1]):
        difference = abs(ones[a, j] - others[b, j])
        total = total + difference if power == 1 else max(total, difference)
    return total


@compiled
def interleaved(rows, low, high, bits, codes):
    """Places on a curve through all cells of a grid (Morton's), on which near rows mostly are near.

    Each column is cut into 2^bits cells, whose numbers are interleaved bit by bit.
    """
    n_columns = rows.shape[1]
    cells = 2.0**bits
    for i in range(rows.shape[0]):
        code = 0
        for j in range(n_columns):
            span = high[j] - low[j]
            if not span > 0.0:
                continue
            cell = int(min((rows[i, j] - low[j]) / span * cells, cells - 1.0))
            for b in range(bits):
                code |= ((cell >> b) & 1) << (b * n_columns + j)
        codes[i] = code


@compiled
def measure(queries, points, power, found, distance):
    """Distances to the points ``found`` (m, c), and both in the order of the distance."""
    for q in range(queries.shape[0]):
        for c in range(found.shape[1]):
            i = found[q, c]
            d = apart(queries, q, points, i, power)
            at = c
            while at > 0 and distance[q, at - 1] > d:
                distance[q, at] = distance[q, at - 1]
                found[q, at] = found[q, at - 1]
                at -= 1
            distance[q, at] = d
            found[q, at] = i


@compiled
def reaches(found, distance, own, weights, k, slack, complete, reach):
    """Distance within which a weight of k lies; NaN where more candidates are needed to tell.

    ``own`` is the place of a point that a query does not see, or none; ``weights`` those of the
    points; candidates closer than the last one by less than ``slack`` may not be all there are,
    unless they are ``complete``.
    """
    n_found = found.shape[1]
    for q in range(found.shape[0]):
        total = 0.0
        reach[q] = distance[q, n_found - 1] if complete else math.nan
        for c in range(n_found):
            if own.size and found[q, c] == own[q]:
                continue
            total += weights[found[q, c]]
            if total >= k * (1.0 - 1e-12):
                d = distance[q, c]
                last = distance[q, n_found - 1]
                # As squares, in which searches by matrix products err.
                sure = last * last * (1.0 - 4.0 * TIE) - d * d > slack[q] and last > d
                if complete or sure:
                    reach[q] = d
                break


@compiled
def count_votes(found, distance, factor, own, starts, codes, weights, k, reach, votes, squares):
    """Votes of the classes among the weight k nearest; ties share what is left of k.

    ``factor`` (m, c) is what a neighbour at its distance counts, or none where all count one.
    Point i has the memberships ``starts[i]`` to ``starts[i + 1]``. ``squares`` adds up weight times
    the factor's square.
    """
    plain = factor.size == 0
    for q in range(found.shape[0]):
        limit = reach[q]
        closer = 0.0
        tied = 0.0
        for c in range(found.shape[1]):
            i = found[q, c]
            if (own.size and i == own[q]) or distance[q, c] > limit * (1.0 + TIE):
                continue
            total = 0.0
            for e in range(starts[i], starts[i + 1]):
                total += weights[e]
            if distance[q, c] < limit * (1.0 - TIE):
                closer += total
            else:
                tied += total
        share = min((k - closer) / tied, 1.0) if tied > 0.0 else 0.0
        for c in range(found.shape[1]):
            i = found[q, c]
            if own.size and i == own[q]:
                continue
            if distance[q, c] > limit * (1.0 + TIE):
                break
            times = 1.0 if plain else factor[q, c]
            part = 1.0 if distance[q, c] < limit * (1.0 - TIE) else share
            for e in range(starts[i], starts[i + 1]):
                votes[q, codes[e]] += weights[e] * part * times
                squares[q] += weights[e] * part * times * times


@compiled
def condense(points, labels, order, power, nearest, by, kept, begin, most):
    """One stretch of Hart's pass: keep each point that the kept ones would get wrong.

    ``nearest`` and ``by`` hold of every point the distance to the nearest kept one and its place;
    of equally near ones the first in ``points`` counts. Returns how far in ``order`` the stretch
    came and how many points it kept, at most ``most``.
    """
    added = 0
    for at in range(begin, order.size):
        i = order[at]
        if kept[i] or (by[i] >= 0 and labels[by[i]] == labels[i]):
            continue
        kept[i] = True
        added += 1
        for other in range(points.shape[0]):
            d = apart(points, i, points, other, power)
            if d < nearest[other] or (d == nearest[other] and i < by[other]):
                nearest[other] = d
                by[other] = i
        if added == most:
            return at + 1, added
    return order.size, added
