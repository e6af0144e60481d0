"""Where a decision between two classes changes, to the last bit of their log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule import decide

#: Numbers on either side of a change that are looked at one by one: rounding may make an answer
#: go to and fro there.
NEARBY = 64
#: Changes that are told to the last bit. Of more, as hundreds of decisions of nearly equal worth
#: have, those are left out that rounding alone makes and unmakes.
MOST_CHANGES = 256


def best_at(
    differences: Any, pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray
) -> np.ndarray:
    """Python's decision for log-odds of the second class of a pair over the first."""
    differences = np.asarray(differences, dtype=float)
    rows = np.full((differences.size, len(priors)), -np.inf)
    rows[:, pair[1]] = differences.ravel()
    rows[:, pair[0]] = 0.0
    even = np.zeros(len(priors))
    even[list(pair)] = 1.0
    best = decide.best_decisions(rows, even, gain)[0].astype(float)
    return best.reshape(differences.shape)


def changes_of_two(
    pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray
) -> tuple[float, list[tuple[float, float]]]:
    """The decision at the lowest log-odds, and each (log-odds from which on, decision) after it.

    Every two decisions are worth the same at one log-odds at most. Between these marks nothing
    changes, but for rounding: changes are found by bisection, and what is near a change is looked
    at number by number.
    """
    marks = _crossings(gain[pair[0]], gain[pair[1]])
    points = np.unique(np.concatenate([marks, (marks[1:] + marks[:-1]) / 2]))
    while True:
        answers = best_at(points, pair, priors, gain)
        at = np.flatnonzero(answers[:-1] != answers[1:])
        low, high = _ordered(points[at]), _ordered(points[at + 1])
        wide = high - low > 1
        if not wide.any():
            break
        before, low, high = answers[at][wide], low[wide], high[wide]
        while (high - low > 1).any():
            middle = low + (high - low) // 2
            same = best_at(_numbers(middle), pair, priors, gain) == before
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        points = np.unique(np.concatenate([points, _near(high)]))
    if len(at) > MOST_CHANGES:
        # Of what goes to and fro within a few units of the last digit, the end is kept.
        at = at[np.append(np.diff(_ordered(points[at])) > NEARBY, True)]
    return float(answers[0]), [(float(points[i]), float(answers[i])) for i in at + 1]


def _crossings(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Log-odds at which two decisions are worth the same, and ends beyond all of them."""
    with np.errstate(all="ignore"):
        odds = (first[:, None] - first) / (second - second[:, None])
        found = np.log(odds[np.isfinite(odds) & (odds > 0)])
    return np.unique(np.concatenate([[-2000.0, -745.2, 0.0, 745.2, 2000.0], found]))


def _near(places: np.ndarray) -> np.ndarray:
    """Numbers right beside some others, which are told by their places."""
    return _numbers((places[:, None] + np.arange(-NEARBY, NEARBY + 1)).ravel())


def _ordered(values: np.ndarray) -> np.ndarray:
    """The place of each number among all numbers."""
    bits = np.asarray(values, dtype=np.float64).view(np.int64)
    places: np.ndarray = np.where(bits >= 0, bits, -(bits & np.int64(2**63 - 1)))
    return places


def _numbers(places: np.ndarray) -> np.ndarray:
    """The numbers at some places among all numbers."""
    size = np.where(places >= 0, places, -places).astype(np.int64).view(np.float64)
    return np.where(places >= 0, size, -size)
