"""How models bear noise: a line per model over the level of noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.displays import style
from bayesrule.robustness import RobustnessCurve, robustness_curve

#: So that lines can be told apart without colours.
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


@dataclass(eq=False, repr=False)
class RobustnessDisplay:
    """Mean scores over the level of noise, with intervals as bands.

    Bands are wide where folds differ, though all models see the same folds: whether one model is
    ahead of another is what ``curve.paired()`` tells.

    Parameters
    ----------
    curve : RobustnessCurve

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    curve: RobustnessCurve

    @classmethod
    def from_curve(cls, curve: RobustnessCurve, **kwargs: Any) -> RobustnessDisplay:
        """Draw what :func:`bayesrule.robustness_curve` found."""
        return cls(curve).plot(**kwargs)

    @classmethod
    def from_estimators(cls, estimators: Any, X: Any, y: Any, **settings: Any) -> RobustnessDisplay:
        """Score models as :func:`bayesrule.robustness_curve` does, and draw the result."""
        return cls.from_curve(robustness_curve(estimators, X, y, **settings))

    def plot(
        self, ax: Any = None, *, confidence: float | None = 0.95, legend: bool = True
    ) -> RobustnessDisplay:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        confidence : float or None, default=0.95
            Of the bands; None draws none.
        legend : bool
        """
        curve = self.curve
        self.figure_, self.ax_ = style.canvas(ax, (6.4, 4.0))
        # Of several noises that rise together the first one is the axis.
        at = curve.levels[:, 0]
        banded = confidence is not None and curve.scores[0, 0].size > 1
        limits = curve.intervals(confidence) if banded and confidence is not None else None
        handles = []
        for m, means in enumerate(curve.means):
            colour, dash = style.hue(m), DASHES[(m // len(style.HUES) + m) % len(DASHES)]
            look = {"color": colour, "linestyle": dash, "marker": style.marker(m)}
            edge = {"markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.6}
            handles += self.ax_.plot(at, means, linewidth=1.8, zorder=3, **look, **edge)
            if limits is not None:
                self.ax_.fill_between(at, *limits[m].T, color=colour, alpha=0.1, linewidth=0)
        # Bands may leave the picture: it is about the lines.
        low, high = float(curve.means.min()), float(curve.means.max())
        room = 0.25 * (high - low) if high > low else 0.05
        self.ax_.set_ylim(low - room, high + room)
        self.ax_.grid(axis="y", color=style.FAINT, linewidth=0.7)
        self.ax_.set_axisbelow(True)
        self.ax_.set_xticks(at, [style.number(value) for value in at])
        self.ax_.set_xlabel("\n".join(self._axis()))
        self.ax_.set_ylabel(curve.scoring)
        if legend:
            names = [style.written(name) for name in curve.names]
            style.legend_beside(self.ax_, handles, names, "model")
        self.handles_ = handles
        return self

    def _axis(self) -> list[str]:
        """What rises along the axis: the first noise, and what rises beside it."""
        curve = self.curve
        of = {"train": "training rows", "test": "new rows", "both": "all rows"}
        lines = [
            f"{meaning} ({of[place]})"
            for meaning, place in zip(curve.meanings, curve.places, strict=True)
        ]
        for i, line in enumerate(lines[1:], start=1):
            level = curve.levels[:, i]
            same = np.array_equal(level, curve.levels[:, 0])
            span = "" if same else f", {style.number(level.min())} to {style.number(level.max())}"
            lines[i] = f"and {line}{span}"
        return lines
