"""Loops of profiles: distances to centres, memberships, and what is summed over them.

A row's memberships live in a buffer of T numbers while its class table or its answer is added up,
so that n x T memberships are never stored.
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


@compiled
def squared_distances(x, columns, out):
    """Squared distance of a row to each centre; ``columns`` (D, T) are the centres' columns.

    The loop over centres is the inner one: it has no sum, so that it fits vector registers.
    """
    out[:] = 0.0
    for j in range(columns.shape[0]):
        value = np.float64(x[j])
        for t in range(out.size):
            apart = value - columns[j, t]
            out[t] += apart * apart


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
def relative_weights(distance, exponent, ratio, whole, bits):
    """(d_min / d_t)^(2 exponent) in ``ratio``, from squared distances, and their sum.

    Relative to the nearest centre nothing overflows. On a centre, the centres there share the row.
    """
    nearest = np.inf
    for t in range(distance.size):
        nearest = min(nearest, distance[t])
    total = 0.0
    if nearest == 0.0:
        for t in range(distance.size):
            ratio[t] = 1.0 if distance[t] == 0.0 else 0.0
            total += ratio[t]
        return total
    for t in range(distance.size):
        ratio[t] = nearest / distance[t]
    if exponent != 1.0:
        powers(ratio, exponent, whole, bits)
    for t in range(distance.size):
        total += ratio[t]
    return total


@compiled
def nearest_centres(values, columns, out):
    """Place of the nearest centre of each row, the first of equals."""
    distance = np.empty(columns.shape[1])
    for i in range(values.shape[0]):
        squared_distances(values[i], columns, distance)
        best = 0
        for t in range(1, distance.size):
            if distance[t] < distance[best]:
                best = t
        out[i] = best


@compiled
def fuzzy_memberships(values, columns, exponent, out):
    """Memberships of each row."""
    distance = np.empty(columns.shape[1])
    whole = np.empty(distance.size, np.int64)
    weights = np.empty(distance.size)
    bits = weights.view(np.int64)
    for i in range(values.shape[0]):
        squared_distances(values[i], columns, distance)
        total = relative_weights(distance, exponent, weights, whole, bits)
        for t in range(distance.size):
            out[i, t] = weights[t] / total


@compiled
def gather_fuzzy(values, columns, exponent, rows, classes, row_weights, table):
    """Add the memberships of each entry, times its weight, to its class's row of the table."""
    distance = np.empty(columns.shape[1])
    whole = np.empty(distance.size, np.int64)
    weights = np.empty(distance.size)
    bits = weights.view(np.int64)
    total = 1.0
    last = -1
    for e in range(rows.size):
        i = rows[e]
        if i != last:  # the entries of a row of soft labels follow one another
            squared_distances(values[i], columns, distance)
            total = relative_weights(distance, exponent, weights, whole, bits)
            last = i
        k = classes[e]
        share = row_weights[e] / total
        for t in range(distance.size):
            table[k, t] += share * weights[t]


@compiled(reassociate=True)
def mean_over(weights, values):
    """Sum of weights times values."""
    total = 0.0
    for t in range(weights.size):
        total += weights[t] * values[t]
    return total


@compiled
def mix_fuzzy(values, columns, exponent, table, out):
    """Mean of each class's row of the table under each row's memberships."""
    distance = np.empty(columns.shape[1])
    whole = np.empty(distance.size, np.int64)
    weights = np.empty(distance.size)
    bits = weights.view(np.int64)
    for i in range(values.shape[0]):
        squared_distances(values[i], columns, distance)
        total = relative_weights(distance, exponent, weights, whole, bits)
        for k in range(table.shape[0]):
            out[i, k] = mean_over(weights, table[k]) / total


@compiled
def sums_of_fuzzy_centres(values, columns, fuzziness, row_weights, sums, masses):
    """One pass of fuzzy c-means: sums of u^m x (T, D) and of u^m (T,); returns the objective.

    With r_t = d_min^2 / d_t^2 and w_t = r_t^(1 / (m - 1)), memberships are w_t / W, W the sum of w.
    Then u_t^m = w_t r_t / W^m and sum_t u_t^m d_t^2 = d_min^2 W^(1 - m): one power per membership.
    """
    n_columns = values.shape[1]
    exponent = 1.0 / (fuzziness - 1.0)
    distance = np.empty(columns.shape[1])
    whole = np.empty(distance.size, np.int64)
    weights = np.empty(distance.size)
    bits = weights.view(np.int64)
    objective = 0.0
    for i in range(values.shape[0]):
        squared_distances(values[i], columns, distance)
        total = relative_weights(distance, exponent, weights, whole, bits)
        nearest = np.inf
        for t in range(distance.size):
            nearest = min(nearest, distance[t])
        objective += row_weights[i] * nearest * total ** (1.0 - fuzziness)
        scale = row_weights[i] / total**fuzziness
        for t in range(distance.size):
            mass = scale * weights[t]
            if nearest > 0.0:
                mass *= nearest / distance[t]
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
