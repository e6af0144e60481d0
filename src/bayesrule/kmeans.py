"""k-means: centres that minimise the sum over rows of w |x - c|^2 to the nearest centre.

Each start draws rows that lie far apart as first centres (greedy k-means++) and moves the centres
to the means of their cells until no row changes its cell. A start is one compiled call: searches
over settings and forests make thousands of starts on few rows each, where calls from the
interpreter would take nearly all of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesrule.kernels import centres as loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.kernels.profiles import LANES
from bayesrule.progress import progress

#: Moves of the centres of one start at most.
MOST_MOVES = 300
#: A start ends where the squares of all moves add up to this share of a column's mean variance.
STILL = 1e-4
#: Rows x columns x centres below which starts are over before threads have begun.
SMALL = 1 << 20


@dataclass(frozen=True)
class CellsFound:
    """Where the best start ended.

    Attributes
    ----------
    centres : ndarray of shape (T, D)
    labels : ndarray of shape (n,)
        The nearest centre of each row.
    inertia : float
        Sum of weighted squared distances to the nearest centres.
    """

    centres: np.ndarray
    labels: np.ndarray
    inertia: float


def kmeans(
    values: np.ndarray, weights: np.ndarray, n_centres: int, n_init: int, seed: int
) -> CellsFound:
    """The best of several starts, with equal bits on any number of threads.

    ``values`` are distinct rows, more than ``n_centres``, and ``weights`` are positive.

    References
    ----------
    Arthur, Vassilvitskii: k-means++: the advantages of careful seeding, SODA 2007.
    """
    shares = weights / weights.sum()
    shift = shares @ (values - values[0]) + values[0]
    n_rows, n_columns = values.shape
    rows = np.empty((n_columns, -(-n_rows // LANES) * LANES))
    rows[:, :n_rows] = (values - shift).T
    rows[:, n_rows:] = rows[:, n_rows - 1 : n_rows]
    masses = np.zeros(rows.shape[1])
    masses[:n_rows] = weights
    least = STILL * float((rows[:, :n_rows] ** 2 @ shares).mean())
    trials = 2 + int(np.log(n_centres))
    draws = np.random.RandomState(seed).random_sample((n_init, n_centres, trials))

    def start(number: int, _: int) -> CellsFound:
        first = np.empty(n_centres, np.int64)
        loops.spread_starts(rows, masses, draws[number], first)
        centres = np.ascontiguousarray(rows[:, first].T)
        labels, apart = np.empty(n_rows, np.int32), np.empty(n_rows)
        inertia = loops.settle_centres(rows, masses, centres, MOST_MOVES, least, labels, apart)
        return CellsFound(centres, labels, inertia)

    found = []
    with progress("k-means", n_init) as meter:
        if n_rows * n_columns * n_centres < SMALL:
            found = [start(number, number + 1) for number in range(n_init)]
        else:
            for one in map_blocks(start, n_init, 1):
                found.append(one)
                meter.advance()
    best = min(found, key=lambda one: one.inertia)
    return CellsFound(best.centres + shift, best.labels, best.inertia)
