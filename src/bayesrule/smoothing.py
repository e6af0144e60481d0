"""k-smoothing of cells: each count replaced by that of its neighbourhood of k rows.

    b_m   =   sum of t_i over the nearest cells i to m, as many as first hold k rows
    V_m   =   sum of their volumes v_i
    p_m   =   a (b_m / V_m) v_m,          a such that all sum to one

for each class by itself: equations (16) to (20) of Panda and Garg. Cells are near each other as
their centres are, in units of each feature's range; equally near ones are taken in the order of
their addresses. Outer cells end with the rows. Two different categories, or a missing value and any
other, are as far apart as the ends of a range, and their volumes are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.addresses import strides
from bayesrule.decide import best_decisions, log_of
from bayesrule.density import Rule
from bayesrule.kernels import smoothing as loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.tables import Table

#: The paper's candidates are j N / (20 M) for j up to this.
MOST_STEPS = 4
#: The narrowest a level may be, in units of the range: no rows may lie in it.
NARROWEST = 1e-9
#: The farthest a boundary may be, in units of the range: its square must not overflow.
FARTHEST = 1e6
#: Squared distances are told in such steps.
STEP = 2.0**-24


@dataclass(frozen=True)
class Smoothing:
    """How counts are smoothed.

    Attributes
    ----------
    k : int
        Rows of a neighbourhood; 0 to choose it.
    low, high : ndarray of shape (D,)
        Ends of the features' ranges.
    even : bool
        Whether all cells count as equally large.
    ordered : tuple of D bools
        Whether levels of a feature are near each other: not so between categories.
    priors, gain : ndarray or None
        The rule that k is chosen for.
    seed : int
        Of the split of the counts.
    """

    k: int
    low: np.ndarray
    high: np.ndarray
    even: bool
    ordered: tuple[bool, ...]
    priors: np.ndarray | None = None
    gain: np.ndarray | None = None
    seed: int = 0

    @classmethod
    def of(cls, settings: Any, table: Table, rule: Rule) -> Smoothing | None:
        """The smoothing of the settings; None where there is none."""
        auto = isinstance(settings.smoothing, str)
        if not auto and settings.smoothing == 0:
            return None
        assert table.numbers is not None
        labels = [None] * table.n_columns if table.layout is None else table.layout.categories
        known = [column[~np.isnan(column)] for column in table.numbers.T]
        ends = np.array([(c.min(), c.max()) if len(c) else (0.0, 0.0) for c in known], np.float64)
        return cls(
            0 if auto else int(settings.smoothing),
            np.ascontiguousarray(ends[:, 0]),
            np.ascontiguousarray(ends[:, 1]),
            settings.volumes == "equal",
            tuple(label is None for label in labels),
            rule.priors if auto else None,
            rule.gain if auto else None,
            int(settings.random_state),
        )

    def geometry(
        self, boundaries: Sequence[np.ndarray], gaps: Sequence[bool]
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Squared distances between the levels of each feature, and volumes of the cells."""
        squares, volumes = [], np.ones(1)
        for j, (cuts, gap) in enumerate(zip(boundaries, gaps, strict=True)):
            n = len(cuts) + 1
            apart, width = 1.0 - np.eye(n + gap), np.ones(n + gap)
            if self.ordered[j]:
                edges = np.concatenate([[self.low[j]], cuts, [self.high[j]]])
                # By halves: a range may overflow.
                span = 0.5 * self.high[j] - 0.5 * self.low[j]
                edges = (0.5 * edges - 0.5 * self.low[j]) / (span or 0.5)
                # Boundaries of the user's own may lie beyond the rows, and however far.
                edges = np.clip(edges, -FARTHEST, FARTHEST)
                edges[0], edges[-1] = edges[:2].min(), edges[-2:].max()
                middle = 0.5 * (edges[1:] + edges[:-1])
                apart[:n, :n] = (middle[:, None] - middle) ** 2
                # Whole steps, and at least one: rounding neither makes nor breaks ties.
                apart = np.maximum(np.rint(apart / STEP), 1.0 - np.eye(n + gap)) * STEP
                width[:n] = np.maximum(np.diff(edges), NARROWEST)
            squares.append(apart)
            volumes = np.multiply.outer(volumes, width).ravel()
        return squares, np.ones_like(volumes) if self.even else volumes


def smoothed_counts(
    counts: np.ndarray,
    smoothing: Smoothing,
    boundaries: Sequence[np.ndarray],
    gaps: Sequence[bool],
) -> tuple[np.ndarray, int]:
    """Counts (K, C) after smoothing, each class with the weight it had, and the k used."""
    geometry = smoothing.geometry(boundaries, gaps)
    k = smoothing.k
    if smoothing.priors is not None and smoothing.gain is not None:
        k = _chosen(counts, smoothing, geometry)
    return smooth(counts, k, *geometry), k


def smooth(
    counts: np.ndarray, k: float, squares: Sequence[np.ndarray], volumes: np.ndarray
) -> np.ndarray:
    """k-smoothing of the counts (K, C) of cells.

    Parameters
    ----------
    counts : float array of shape (K, C)
    k : number of rows; 0 leaves the counts as they are
    squares : sequence of D arrays of shape (L_j, L_j)
        Squared distances between the levels of each feature.
    volumes : array of shape (C,)

    Examples
    --------
    Of three equal cells in a row, the empty one takes in its nearer neighbour:

    >>> import numpy as np
    >>> apart = np.subtract.outer([0.0, 0.4, 1.0], [0.0, 0.4, 1.0]) ** 2
    >>> smooth(np.array([[6.0, 0.0, 2.0]]), 1, [apart], np.ones(3)).round(3)
    array([[4.364, 2.182, 1.455]])
    """
    if k <= 0:
        return counts
    shape = [len(s) for s in squares]
    # Levels of each feature in order of their distance from each of its levels.
    order = [np.argsort(s, axis=1, kind="stable") for s in squares]
    nearest = np.concatenate([o.ravel() for o in order])
    distance = np.concatenate(
        [np.take_along_axis(s, o, axis=1).ravel() for s, o in zip(squares, order, strict=True)]
    )
    offset = np.concatenate([[0], np.cumsum([n * n for n in shape])])
    steps, levels = strides(shape), np.array(shape)
    smoothed = np.zeros_like(counts)
    for own, mine in zip(counts, smoothed, strict=True):
        total = own.sum()
        if total <= 0:
            continue
        heights = np.full(len(own), total / volumes.sum())
        if total >= k:

            def work(start: int, stop: int, own: Any = own, heights: Any = heights) -> None:
                loops.neighbourhoods(
                    own, k, volumes, nearest, distance, offset, steps, levels, start, stop, heights
                )

            for _ in map_blocks(work, len(own), max(256, len(own) // 32)):
                pass
        mine[:] = heights * volumes
        mine *= total / mine.sum()
    return smoothed


def candidates(n_rows: float, n_cells: int) -> list[int]:
    """0 and the paper's k = j N / (20 M); where that is below one row, j rows.

    Examples
    --------
    >>> candidates(3_333_333, 7776)
    [0, 21, 42, 64, 85]
    """
    return [max(j, int(j * n_rows / (20 * n_cells))) if j else 0 for j in range(MOST_STEPS + 1)]


def _chosen(
    counts: np.ndarray, smoothing: Smoothing, geometry: tuple[list[np.ndarray], np.ndarray]
) -> int:
    """The k of the highest gain on counts that were set aside, at the size of all of them.

    Each row goes to one half or the other by a coin; the halves judge each other.
    """
    whole = np.floor(counts).astype(np.int64)
    # Each class by coins of its own, so that no class depends on which others there are.
    coins = [np.random.default_rng(smoothing.seed).binomial(row, 0.5) for row in whole]
    half = np.array(coins) + 0.5 * (counts - whole)
    parts = half, counts - half
    n_cells = counts.shape[1]
    gains = []
    for step in range(MOST_STEPS + 1):
        gain = 0.0
        for learn, judge in (parts, parts[::-1]):
            k = candidates(learn.sum(), n_cells)[step]
            gain += _gain(smooth(learn, k, *geometry), judge, smoothing)
        gains.append(gain)
    return candidates(counts.sum(), n_cells)[int(np.argmax(gains))]


def _gain(learn: np.ndarray, judge: np.ndarray, smoothing: Smoothing) -> float:
    """Expected gain, under the stated priors, of the decisions by some counts on others."""
    assert smoothing.priors is not None
    assert smoothing.gain is not None
    shares = [part / np.maximum(part.sum(axis=1, keepdims=True), 1e-300) for part in (learn, judge)]
    logs = np.where(shares[0].any(axis=0), log_of(shares[0]), 0.0)
    decided, _ = best_decisions(np.ascontiguousarray(logs.T), smoothing.priors, smoothing.gain)
    worth = (smoothing.priors[:, None] * shares[1]).T * smoothing.gain.T[decided]
    return float(worth.sum())
