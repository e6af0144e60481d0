"""Integer labels to class codes without sorting."""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled
def value_range(values: np.ndarray) -> tuple[int, int]:
    """Smallest and largest value."""
    low = values[0]
    high = values[0]
    for i in range(values.size):
        low = min(low, values[i])
        high = max(high, values[i])
    return low, high


@compiled
def rank_small_range(values: np.ndarray, low: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values in order, and each value's rank, for values in ``low .. low + width - 1``."""
    rank = np.zeros(width, np.int32)
    for i in range(values.size):
        rank[np.uint64(values[i] - low)] = 1
    n_distinct = 0
    for v in range(width):
        n_distinct += rank[v]
    distinct = np.empty(n_distinct, np.int64)
    seen = 0
    for v in range(width):
        if rank[v]:
            distinct[seen] = v + low
            rank[v] = seen
            seen += 1
    codes = np.empty(values.size, np.int32)
    for i in range(values.size):
        codes[i] = rank[np.uint64(values[i] - low)]
    return distinct, codes


@compiled
def count_codes(codes, n_classes):
    """How often each code occurs.

    Four counts take turns: the next row of a class need not wait until this one is written.
    """
    counts = np.zeros((4, n_classes), np.int64)
    for i in range(codes.size):
        counts[i & 3, np.uint64(codes[i])] += 1
    total = np.empty(n_classes)
    for k in range(n_classes):  # a sum along an axis would take seconds to compile
        total[k] = counts[0, k] + counts[1, k] + counts[2, k] + counts[3, k]
    return total
