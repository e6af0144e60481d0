"""Loops of profiles: distances to centres, memberships, and what is summed over them.

Rows go by 64: the memberships of so many live in a buffer while their class table or their answers
are added up, so that n x T memberships are never stored. Rows lie side by side in it, since loops
over 64 of them fill vector registers whatever the number of centres is.
"""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled

#: 2 / ln 2 / (2 i + 1): log2 m = s * sum of these * s^2i, with s = (m - 1) / (m + 1).
L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, L10 = (2 / np.log(2) / (2 * i + 1) for i in range(11))
#: (ln 2)^i / i!, the series of 2^f.
E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13 = np.cumprod(
    np.log(2) / np.arange(1, 14)
).tolist()

#: The bits of sqrt(1/2): a number is m * 2^e with m from sqrt(1/2) to sqrt(2).
HALF_ROOT = np.int64(np.array([np.sqrt(0.5)]).view(np.int64)[0])
#: Powers of two below this are zero to a sum that is at least one.
LEAST_POWER = -1000.0

#: Rows that go together; loops over fewer are unrolled, and fill no vector registers.
LANES = 64


@compiled
def load_rows(values, rows, first, lanes):
    """Rows ``rows[first]`` and after as columns of ``lanes`` (D, LANES), the last one repeated."""
    for r in range(LANES):
        i = rows[min(first + r, rows.size - 1)]
        for j in range(lanes.shape[0]):
            lanes[j, r] = values[i, j]


@compiled
def squared_distances(lanes, columns, out):
    """Squared distances (T, LANES) of rows to centres, whose columns are ``columns`` (D, T)."""
    for t in range(out.shape[0]):
        for r in range(LANES):
            out[t, r] = 0.0
        for j in range(columns.shape[0]):
            centre = columns[j, t]
            for r in range(LANES):
                apart = lanes[j, r] - centre
                out[t, r] += apart * apart


@compiled
def powers(base, exponent, whole, bits):
    """``base ** exponent`` in place for numbers from 0 to 1; ``bits`` is the same memory as int64.

    Equal to the library's to some 1e-14, but in loops that fit vector registers.
    """
    for t in range(base.size):
        e = (bits[t] - HALF_ROOT) >> 52
        bits[t] -= e << 52
        whole[t] = e
    for t in range(base.size):
        m = base[t]
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        tail = L7 + z * (L8 + z * (L9 + z * L10))
        log2 = s * (L0 + z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * tail)))))))
        y = exponent * (np.float64(whole[t]) + log2)
        y = y if y > LEAST_POWER else LEAST_POWER
        n = np.floor(y + 0.5)
        f = y - n
        tail = E7 + f * (E8 + f * (E9 + f * (E10 + f * (E11 + f * (E12 + f * E13)))))
        base[t] = 1.0 + f * (E1 + f * (E2 + f * (E3 + f * (E4 + f * (E5 + f * (E6 + f * tail))))))
        whole[t] = np.int64(n)
    for t in range(base.size):
        bits[t] += whole[t] << 52


@compiled
def relative_weights(distance, exponent, nearest, total, whole):
    """Turn squared distances into (d_min / d_t)^(2 exponent); also d_min^2, and sums of these.

    Relative to the nearest centre nothing overflows. On a centre, the centres there share the row.
    """
    n_centres = distance.shape[0]
    for r in range(LANES):
        nearest[r] = np.inf
        total[r] = 0.0
    for t in range(n_centres):
        for r in range(LANES):
            nearest[r] = min(nearest[r], distance[t, r])
    for t in range(n_centres):
        for r in range(LANES):
            # One for the nearest, also where it is no distance at all.
            ratio = nearest[r] / distance[t, r]
            distance[t, r] = 1.0 if distance[t, r] == nearest[r] else ratio
    if exponent != 1.0:
        flat = distance.reshape(distance.size)
        powers(flat, exponent, whole, flat.view(np.int64))
    for r in range(LANES):
        if nearest[r] == 0.0:
            for t in range(n_centres):
                distance[t, r] = 1.0 if distance[t, r] == 1.0 else 0.0
    for t in range(n_centres):
        for r in range(LANES):
            total[r] += distance[t, r]


@compiled
def nearest_centres(values, columns, out):
    """Place of the nearest centre of each row, the first of equals."""
    rows = np.arange(values.shape[0])
    lanes = np.empty((values.shape[1], LANES))
    distance = np.empty((columns.shape[1], LANES))
    least = np.empty(LANES)
    best = np.empty(LANES, np.int64)
    for first in range(0, rows.size, LANES):
        load_rows(values, rows, first, lanes)
        squared_distances(lanes, columns, distance)
        for r in range(LANES):
            least[r] = distance[0, r]
            best[r] = 0
        for t in range(1, distance.shape[0]):
            for r in range(LANES):
                nearer = distance[t, r] < least[r]
                best[r] = t if nearer else best[r]
                least[r] = distance[t, r] if nearer else least[r]
        for r in range(min(LANES, rows.size - first)):
            out[first + r] = best[r]


@compiled
def fuzzy_memberships(values, columns, exponent, out):
    """Memberships of each row."""
    rows = np.arange(values.shape[0])
    lanes = np.empty((values.shape[1], LANES))
    weights = np.empty((columns.shape[1], LANES))
    whole = np.empty(weights.size, np.int64)
    nearest = np.empty(LANES)
    total = np.empty(LANES)
    for first in range(0, rows.size, LANES):
        load_rows(values, rows, first, lanes)
        squared_distances(lanes, columns, weights)
        relative_weights(weights, exponent, nearest, total, whole)
        for r in range(min(LANES, rows.size - first)):
            for t in range(weights.shape[0]):
                out[first + r, t] = weights[t, r] / total[r]


@compiled
def gather_fuzzy(values, columns, exponent, rows, classes, row_weights, table):
    """Add the memberships of each entry, times its weight, to its class's row of the table.

    Entries are in the order of their rows: those of a row of soft labels follow one another.
    """
    n_centres = columns.shape[1]
    distinct = np.empty(rows.size, np.int64)
    n_distinct = 0
    for e in range(rows.size):
        if e == 0 or rows[e] != rows[e - 1]:
            distinct[n_distinct] = rows[e]
            n_distinct += 1
    distinct = distinct[:n_distinct]
    lanes = np.empty((values.shape[1], LANES))
    weights = np.empty((n_centres, LANES))
    whole = np.empty(weights.size, np.int64)
    nearest = np.empty(LANES)
    total = np.empty(LANES)
    e = 0
    for first in range(0, n_distinct, LANES):
        load_rows(values, distinct, first, lanes)
        squared_distances(lanes, columns, weights)
        relative_weights(weights, exponent, nearest, total, whole)
        for r in range(min(LANES, n_distinct - first)):
            while e < rows.size and rows[e] == distinct[first + r]:
                k = classes[e]
                share = row_weights[e] / total[r]
                for t in range(n_centres):
                    table[k, t] += share * weights[t, r]
                e += 1


@compiled
def mix_fuzzy(values, columns, exponent, table, out):
    """Mean of each class's row of the table under each row's memberships."""
    rows = np.arange(values.shape[0])
    lanes = np.empty((values.shape[1], LANES))
    weights = np.empty((columns.shape[1], LANES))
    whole = np.empty(weights.size, np.int64)
    nearest = np.empty(LANES)
    total = np.empty(LANES)
    mean = np.empty(LANES)
    for first in range(0, rows.size, LANES):
        load_rows(values, rows, first, lanes)
        squared_distances(lanes, columns, weights)
        relative_weights(weights, exponent, nearest, total, whole)
        for k in range(table.shape[0]):
            for r in range(LANES):
                mean[r] = 0.0
            for t in range(weights.shape[0]):
                height = table[k, t]
                for r in range(LANES):
                    mean[r] += height * weights[t, r]
            for r in range(min(LANES, rows.size - first)):
                out[first + r, k] = mean[r] / total[r]


@compiled
def sums_of_fuzzy_centres(values, columns, fuzziness, row_weights, sums, masses):
    """One pass of fuzzy c-means: sums of u^m x (T, D) and of u^m (T,); returns the objective.

    With r_t = d_min^2 / d_t^2 and w_t = r_t^(1 / (m - 1)), memberships are w_t / W, W the sum of w.
    Then u_t^m = w_t r_t / W^m and sum_t u_t^m d_t^2 = d_min^2 W^(1 - m): one power per membership.
    """
    rows = np.arange(values.shape[0])
    n_columns = values.shape[1]
    exponent = 1.0 / (fuzziness - 1.0)
    lanes = np.empty((n_columns, LANES))
    distance = np.empty((columns.shape[1], LANES))
    weights = np.empty((columns.shape[1], LANES))
    whole = np.empty(weights.size, np.int64)
    nearest = np.empty(LANES)
    total = np.empty(LANES)
    objective = 0.0
    for first in range(0, rows.size, LANES):
        load_rows(values, rows, first, lanes)
        squared_distances(lanes, columns, distance)
        for t in range(weights.shape[0]):
            for r in range(LANES):
                weights[t, r] = distance[t, r]
        relative_weights(weights, exponent, nearest, total, whole)
        for r in range(min(LANES, rows.size - first)):
            i = first + r
            objective += row_weights[i] * nearest[r] * total[r] ** (1.0 - fuzziness)
            scale = row_weights[i] / total[r] ** fuzziness
            for t in range(weights.shape[0]):
                mass = scale * weights[t, r]
                if nearest[r] > 0.0:
                    mass *= nearest[r] / distance[t, r]
                if mass == 0.0:
                    continue
                masses[t] += mass
                for j in range(n_columns):
                    sums[t, j] += mass * values[i, j]
    return objective


@compiled
def leaves_of_rows(values, feature, threshold, below, above, out):
    """Leaf of each row; a node without a feature is one, whose place is in ``below``."""
    for i in range(values.shape[0]):
        node = 0
        while feature[node] >= 0:
            low = values[i, feature[node]] <= threshold[node]
            node = below[node] if low else above[node]
        out[i] = below[node]
