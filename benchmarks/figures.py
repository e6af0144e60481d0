"""Figures that are no contest between calls: what starting costs, files, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Figure:
    """One measured number, with the quartiles of its rounds.

    Parameters
    ----------
    what : str
    median, low, high : float
    unit : str
    goal : float or None
    most : bool
        Whether the goal is the largest number that will do, and not the smallest.
    why : str
        Where the time goes, should the goal not be reached.
    """

    what: str
    median: float
    low: float
    high: float
    unit: str = "x"
    goal: float | None = None
    most: bool = False
    why: str = ""

    @classmethod
    def of(cls, what: str, rounds: Sequence[float] | np.ndarray, unit: str = "x", **more: object):  # type: ignore[no-untyped-def]
        """The figure of several rounds."""
        low, median, high = np.quantile(np.asarray(rounds, np.float64), [0.25, 0.5, 0.75])
        return cls(what, float(median), float(low), float(high), unit, **more)

    @property
    def verdict(self) -> str:
        """ "ok" or "short" of the goal, or nothing where there is none."""
        if self.goal is None:
            return ""
        return (
            "ok"
            if (self.median <= self.goal if self.most else self.median >= self.goal)
            else "short"
        )

    @property
    def goal_in_words(self) -> str:
        """The goal and on which side of it the number should be."""
        if self.goal is None:
            return ""
        return f"{'≤' if self.most else '≥'} {self.goal:.3g} {self.unit}".replace(" x", "x")
