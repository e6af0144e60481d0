"""Models side by side: expected gain, and how far each is behind the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.comparison import Compared, Comparison, compare
from bayesrule.displays import style


@dataclass(eq=False, repr=False)
class ComparisonDisplay:
    """A row per model, the best on top: its gain with the interval, and what it lacks to the best.

    The right half answers whether a difference is one: models whose interval there reaches zero
    cannot be told from the best by these rows.

    Parameters
    ----------
    comparison : Comparison

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    """

    comparison: Comparison

    @classmethod
    def from_comparison(cls, comparison: Comparison, **kwargs: Any) -> ComparisonDisplay:
        """Draw what :func:`bayesrule.compare` found."""
        return cls(comparison).plot(**kwargs)

    @classmethod
    def from_estimators(
        cls, models: Mapping[str, Any], X: Any, y: Any, **settings: Any
    ) -> ComparisonDisplay:
        """Compare models as :func:`bayesrule.compare` does, and draw the result."""
        return cls.from_comparison(compare(models, X, y, **settings))

    def plot(self, axes: Any = None) -> ComparisonDisplay:
        """Draw on a new figure, or on two axes side by side."""
        models = self.comparison.models
        if axes is None:
            plt = style.pyplot()
            size = (8.0, 1.3 + 0.42 * len(models))
            _, axes = plt.subplots(1, 2, sharey=True, figsize=size, layout="constrained")
        left, right = axes
        self.axes_, self.figure_ = np.asarray(axes, dtype=object), left.figure
        for ax in axes:
            style.tidy(ax, ("bottom",))
            ax.tick_params(left=False)
        self._points(left, [(m.expected_gain, m.interval) for m in models])
        self._points(right, [(m.behind, m.behind_interval) for m in models])
        right.axvline(0.0, color=style.QUIET, linewidth=0.8, zorder=0)
        left.set_yticks(range(len(models)), [style.written(m.name, 28) for m in models])
        left.set_ylim(len(models) - 0.5, -0.5)
        level = f"{100 * self.comparison.confidence:g} %"
        left.set_xlabel(f"expected gain, {level} interval")
        right.set_xlabel("less than the best, row by row (grey: clearly behind)")
        return self

    def _points(self, ax: Any, figures: list[tuple[float, tuple[float, float]]]) -> None:
        """A point and an interval in each row; what is clearly behind the best is paler."""
        for row, (value, (low, high)) in enumerate(figures):
            colour = style.hue(0) if not self._clearly_behind(row) else style.QUIET
            ax.plot([low, high], [row, row], color=colour, linewidth=2.0, solid_capstyle="butt")
            ax.plot([value], [row], "o", color=colour, markersize=6.0)

    def _clearly_behind(self, row: int) -> bool:
        model: Compared = self.comparison.models[row]
        return model.behind_interval[0] > 0.0
