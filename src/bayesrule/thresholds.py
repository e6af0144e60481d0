"""GQDA's threshold: the c of -1/2 [t_k + c log det S_k] under which most rows are decided rightly.

A row of class y is decided rightly while, for every other class j,

    c (h_j - h_y)  >=  (log prior_j - t_j / 2) - (log prior_y - t_y / 2),      h = 1/2 log det S

so each row is right between two values of c. Sorting the ends of all those stretches finds the
best c exactly, in O(n K + n log n).
"""

from __future__ import annotations

import numpy as np

#: Shares of rows that differ by less than this are the same but for rounding.
ROUNDING = 1e-9


def stretches(
    scores: np.ndarray, half_log_det: np.ndarray, log_priors: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest c under which each row is decided rightly; least > greatest if none.

    Parameters
    ----------
    scores : ndarray of shape (n, K)
        -t / 2.
    half_log_det, log_priors : ndarray of shape (K,)
    codes : ndarray of shape (n,)
    """
    n = len(codes)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    sizes = np.broadcast_to(half_log_det, log_priors.shape)
    places = np.arange(n)
    own = scores[places, codes] + log_priors[codes]
    for j in range(len(log_priors)):
        if log_priors[j] == -np.inf:  # never decided
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            needed = scores[:, j] + log_priors[j] - own
            grows = sizes[j] - sizes[codes]
            end = needed / grows
        np.maximum(low, end, out=low, where=grows > 0)
        np.minimum(high, end, out=high, where=grows < 0)
        # Where c makes no difference, the row is right or wrong whatever it is.
        low[(grows == 0) & (codes != j) & ~(needed <= 0)] = np.inf
    low[own == -np.inf] = np.inf
    return low, high


def best_threshold(
    scores: np.ndarray,
    half_log_det: np.ndarray,
    log_priors: np.ndarray,
    codes: np.ndarray,
    masses: np.ndarray,
    bounds: tuple[float, float] = (0.0, np.inf),
) -> float:
    """The threshold within bounds under which rows of the greatest mass are decided rightly.

    Of all that are as good, the one nearest to 1; beside an end, the middle of its stretch.

    Parameters
    ----------
    scores, half_log_det, log_priors, codes
        As in :func:`stretches`.
    masses : ndarray of shape (n,)
        What each row counts.
    bounds : (float, float)

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-1.0, -3.0], [-2.5, -2.0], [-0.2, -2.0]])
    >>> codes = np.array([0, 0, 1])
    >>> best_threshold(scores, np.array([1.0, 2.0]), np.log([0.5, 0.5]), codes, np.ones(3))
    1.0
    >>> best_threshold(scores, np.array([2.0, 1.0]), np.log([0.5, 0.5]), codes, np.ones(3))
    1.9
    """
    least, most = bounds
    low, high = stretches(scores, half_log_det, log_priors, codes)
    low, high = np.maximum(low, least), np.minimum(high, most)
    some = (low < high) & (masses > 0)
    usual = float(np.clip(1.0, least, most))
    if not some.any():
        return usual
    ends = np.concatenate([low[some], high[some], [least, most]])
    steps = np.concatenate([masses[some], -masses[some], [0.0, 0.0]])
    order = np.argsort(ends, kind="stable")
    ends, right = ends[order], np.cumsum(steps[order])
    # Equal ends count together: what is right between one end and the next.
    last = np.flatnonzero(np.append(ends[1:] > ends[:-1], False))
    begin, end, right = ends[last], ends[last + 1], right[last]
    good = right >= right.max() - ROUNDING * masses.sum()
    begin, end = begin[good], end[good]
    if np.any((begin <= usual) & (usual <= end)):
        return usual
    above, below = begin[begin > usual], end[end < usual]
    nearest_above = above.min(initial=np.inf)
    nearest_below = below.max(initial=-np.inf)
    if nearest_above - usual <= usual - nearest_below:
        a, b = nearest_above, float(end[begin == nearest_above][0])
        return float(0.5 * (a + min(b, 2.0 * a)))
    return float(0.5 * (float(begin[end == nearest_below][0]) + nearest_below))
