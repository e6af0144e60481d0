"""Expected gains along a sweep of one entry of the gain, or of the prior of one class.

A rule is known by its rates P(decision | class) on some rows. Rates times priors are the joint
probabilities under any priors, so that nothing is fitted again along a sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule import decide
from bayesrule.displays.sources import change_points, increasing, memberships_in, place_of


class Sample:
    """Rows with known classes, each class weighing one in all."""

    def __init__(self, log_density: np.ndarray, classes: np.ndarray, y: Any, sample_weight: Any):
        known = memberships_in(classes, y, len(log_density), sample_weight)
        self.log_density = np.ascontiguousarray(log_density, dtype=float)
        self.rows, self.codes, weights = known.entries()
        self.totals = known.totals()
        self.weights = weights / np.where(self.totals > 0, self.totals, 1.0)[self.codes]
        self.classes = classes

    def rates(self, decided: np.ndarray, n_decisions: int) -> np.ndarray:
        """P(decision | class), shape (K, A)."""
        n_classes = len(self.classes)
        cells = self.codes * n_decisions + decided[self.rows]
        counts = np.bincount(cells, self.weights, n_classes * n_decisions)
        return counts.reshape(n_classes, n_decisions)


class Sweep:
    """The priors and the gain at each value of what moves."""

    def __init__(
        self,
        priors: np.ndarray,
        gain: np.ndarray,
        decisions: np.ndarray,
        classes: np.ndarray,
        entry: Any,
        prior_of: Any,
    ):
        if (entry is None) == (prior_of is None):
            raise ValueError(
                "Say what moves: entry=(true class, decision) or prior_of=class, and not both."
            )
        self.priors, self.gain, self.decisions, self.classes = priors, gain, decisions, classes
        self.prior_of, self.entry = prior_of, None
        if entry is None:
            self.k = place_of(prior_of, classes, "class")
            if len(classes) < 2:
                raise ValueError("There is only one class, so its prior cannot move.")
            self.fitted = float(priors[self.k])
            return
        if not isinstance(entry, tuple) or len(entry) != 2:
            raise ValueError(f"entry must be a pair (true class, decision), but is {entry!r}.")
        self.entry = entry
        self.k = place_of(entry[0], classes, "class")
        self.d = place_of(entry[1], decisions, "decision")
        self.fitted = float(gain[self.k, self.d])

    def at(self, value: float) -> tuple[np.ndarray, np.ndarray]:
        """Priors and gain where what moves has this value."""
        if self.entry is not None:
            gain = self.gain.copy()
            gain[self.k, self.d] = value
            return self.priors, gain
        others = np.delete(self.priors, self.k)
        total = others.sum()
        # Others without any prior have no proportions to keep: they share equally.
        others = others / total if total > 0 else np.full(len(others), 1 / max(len(others), 1))
        return np.insert(others * (1.0 - value), self.k, value), self.gain

    def values(self, values: Any) -> np.ndarray:
        """The values to compute, in order; by default a range round the fitted one."""
        if values is None:
            low, high = (0.0, 1.0) if self.entry is None else self._range()
            return np.union1d(np.linspace(low, high, 101), [self.fitted])
        numbers = increasing(values)
        if self.entry is None and (numbers[0] < 0 or numbers[-1] > 1):
            raise ValueError(
                f"values are priors here and must lie between 0 and 1, but reach from "
                f"{numbers[0]:g} to {numbers[-1]:g}."
            )
        return numbers

    def _range(self) -> tuple[float, float]:
        """As far to each side as the best other decision for the class is away."""
        others = np.delete(self.gain[self.k], self.d)
        width = abs(self.fitted - others.max()) if len(others) else 0.0
        width = width or float(np.ptp(self.gain)) or 1.0
        return self.fitted - width, self.fitted + width


def curve(sample: Sample, decided: np.ndarray, sweep: Sweep, values: Any) -> dict[str, Any]:
    """All arrays of the display."""
    points = sweep.values(values)
    _refuse_unseen(sample, sweep, points)
    n = len(sweep.decisions)

    def rates_at(value: float) -> np.ndarray:
        best, _ = decide.best_decisions(sample.log_density, *sweep.at(value))
        return sample.rates(best, n)

    def used(numbers: np.ndarray) -> np.ndarray:
        return np.array([_used(sweep.at(v)[0] @ rates_at(v)) for v in numbers], dtype=object)

    kept = sample.rates(decided, n)
    adapted, fixed, constants, shares = [], [], [], []
    for value in points:
        priors, gain = sweep.at(value)
        rates = rates_at(value)
        adapted.append(priors @ (rates * gain).sum(axis=1))
        fixed.append(priors @ (kept * gain).sum(axis=1))
        constants.append(priors @ gain)
        shares.append(priors @ rates)
    sets = np.array([_used(row) for row in shares], dtype=object)
    return {
        "values": points,
        "adapted": np.array(adapted),
        "fixed": np.array(fixed),
        "constants": np.array(constants),
        "shares": np.array(shares),
        "flips": change_points(used, points, sets),
        "fitted": sweep.fitted,
        "fitted_gain": float(sweep.priors @ (kept * sweep.gain).sum(axis=1)),
        "decisions": sweep.decisions,
        "classes": sweep.classes,
        "entry": sweep.entry,
        "prior_of": sweep.prior_of,
    }


def _used(shares: np.ndarray) -> int:
    """The set of decisions in use, as the bits of one number."""
    return sum(1 << d for d in np.flatnonzero(shares > 0).tolist())


def _refuse_unseen(sample: Sample, sweep: Sweep, points: np.ndarray) -> None:
    """A class with a prior needs rows: without them its rates are unknown."""
    highest = np.maximum(sweep.priors, np.max([sweep.at(v)[0] for v in points[[0, -1]]], axis=0))
    bad = np.flatnonzero((sample.totals == 0) & (highest > 0))
    if len(bad):
        raise ValueError(
            f"No row (of positive weight) has class {sample.classes.tolist()[bad[0]]!r}, "
            f"whose prior is up to {highest[bad[0]]:.3g}: nothing tells how it would be decided. "
            "Give rows of every class, or priors of zero."
        )
