"""Pictures of quantised cells: boundaries on what the features hold, and what memory buys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesrule.displays import style
from bayesrule.displays.sources import as_rule_sees, chosen_estimator, final_rule, memberships_in
from bayesrule.evaluation import evaluate
from bayesrule.progress import progress

#: Bins of a histogram, and shares of the rows beyond its ends, which are drawn in the outer bins.
BINS, BEYOND = 60, 0.01
COLUMNS = 3


@dataclass(eq=False, repr=False)
class CellBoundariesDisplay:
    """Boundaries of cells on the class-conditional histograms of the features.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    edges : list of D ndarrays of shape (B_j + 1,)
        Bins of the histograms.
    heights : list of D ndarrays of shape (K, B_j)
        P(bin | class) over the bin's width.
    boundaries : list of D ndarrays
    classes : ndarray of shape (K,)
    feature_names : list of D labels
    categories : list of D (list of labels or None)
        What the whole numbers of a feature of categories stand for.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    """

    edges: list[np.ndarray]
    heights: list[np.ndarray]
    boundaries: list[np.ndarray]
    classes: np.ndarray
    feature_names: list[Any]
    categories: list[Any]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> CellBoundariesDisplay:
        """Count the rows of each class along each feature and draw them.

        Parameters
        ----------
        estimator : fitted BayesClassifier with :class:`~bayesrule.Cells`, or a pipeline or search
            that ends in one
        X, y : rows and their labels
        features : sequence of names or places, default=None
            Features to draw; None is those that have boundaries.
        sample_weight : array of n numbers, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import datasets, recipes
        >>> from bayesrule.displays import CellBoundariesDisplay
        >>> world = datasets.make_cells(2000, (2, 3), seed=1)
        >>> clf = recipes.quantized(20).fit(world.X, world.y)
        >>> display = CellBoundariesDisplay.from_estimator(clf, world.X, world.y)
        >>> [len(cuts) for cuts in display.boundaries]
        [1, 2]
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        fitted = rule.density_
        if not hasattr(fitted, "boundaries_"):
            raise TypeError(f"{type(fitted).__name__} has no boundaries; Cells() has.")
        seen = as_rule_sees(estimator, X)
        table = fitted.read(seen, rule)
        known = memberships_in(rule.classes_, y, len(table), sample_weight)
        rows, codes, weights = known.entries()
        names = getattr(rule, "feature_names_in_", [f"feature {j}" for j in range(table.n_columns)])
        names = list(names)
        labels = [None] * len(names) if fitted.encoding is None else fitted.encoding.categories
        shown = [j for j, cuts in enumerate(fitted.boundaries_) if len(cuts)] or [0]
        if features is not None:
            shown = [_place(feature, names) for feature in features]
        edges, heights = [], []
        for j in shown:
            values = np.asarray(table.numbers[:, j], np.float64)[rows]
            there = ~np.isnan(values)
            edges.append(_bins(values[there], labels[j]))
            inside = np.clip(values[there], edges[-1][0], edges[-1][-1])
            counts = [
                np.histogram(inside[mine], edges[-1], weights=weights[there][mine])[0]
                for mine in (codes[there] == k for k in range(len(rule.classes_)))
            ]
            totals = np.maximum(known.totals(), 1e-300)[:, None]
            heights.append(np.array(counts) / totals / np.diff(edges[-1]))
        return cls(
            edges,
            heights,
            [fitted.boundaries_[j] for j in shown],
            rule.classes_,
            [names[j] for j in shown],
            [labels[j] for j in shown],
        ).plot(**kwargs)

    def plot(self, axes: Any = None, *, legend: bool = True) -> CellBoundariesDisplay:
        """Draw a histogram for each feature.

        Parameters
        ----------
        axes : array of D matplotlib Axes, default=None
        legend : bool
        """
        n = len(self.edges)
        if axes is None:
            n_columns = min(n, COLUMNS)
            n_rows = -(-n // n_columns)
            size = 3.1 * n_columns + 1.1, 2.1 * n_rows + 0.4
            _, grid = style.pyplot().subplots(
                n_rows, n_columns, figsize=size, layout="constrained", squeeze=False
            )
            axes = grid.ravel()
            for ax in axes[n:]:
                ax.set_visible(False)
        self.axes_ = np.atleast_1d(np.asarray(axes, dtype=object))[:n]
        self.figure_ = self.axes_[0].figure
        colours = style.class_colours(self.classes, self.classes)
        for j, ax in enumerate(self.axes_):
            style.tidy(ax, ("bottom",))
            for k, colour in enumerate(colours):
                look = {"color": colour, "linewidth": 1.3}
                ax.stairs(self.heights[j][k], self.edges[j], fill=True, color=colour, alpha=0.16)
                ax.stairs(self.heights[j][k], self.edges[j], baseline=None, **look)
            for cut in self.boundaries[j]:
                ax.axvline(cut, color=style.INK, linewidth=0.9, linestyle=(0, (4, 2)), zorder=3)
            low, high = self.edges[j][[0, -1]]
            ax.set(xlim=(low, high), yticks=[], ylim=(0, None))
            ax.set_xlabel(style.written(self.feature_names[j], 40, 1))
            n_levels = len(self.boundaries[j]) + 1
            said = f"{n_levels} levels" if n_levels > 1 else "one level"
            ax.set_title(said, loc="left", fontsize="small", color=style.QUIET)
            if self.categories[j] is not None:
                names = [style.written(label, 12, 2) for label in self.categories[j]]
                ax.set_xticks(range(len(names)), names)
        if legend:
            self._add_legend(colours)
        return self

    def _add_legend(self, colours: list[str]) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = [Patch(facecolor=style.tint(c, 0.35), edgecolor=c) for c in colours]
        handles.append(Line2D([], [], color=style.INK, linewidth=0.9, linestyle=(0, (4, 2))))
        labels = [style.written(label) for label in self.classes.tolist()] + ["boundary"]
        last = self.axes_[min(len(self.axes_), COLUMNS) - 1]
        style.legend_beside(last, handles, labels, "Density of class")


def _place(feature: Any, names: list[Any]) -> int:
    if feature in names:
        return names.index(feature)
    if isinstance(feature, (int, np.integer)) and -len(names) <= feature < len(names):
        return int(feature) % len(names)
    raise ValueError(f"features names {feature!r}, which X does not have; it has {names}.")


def _bins(values: np.ndarray, labels: Any) -> np.ndarray:
    """Even bins over all but the farthest values; one for each category."""
    if labels is not None:
        return np.arange(len(labels) + 1) - 0.5
    low, high = (0.0, 1.0) if not len(values) else np.quantile(values, [BEYOND, 1 - BEYOND])
    if not high > low:
        low, high = low - 0.5, high + 0.5
    span = values.max(initial=low) - values.min(initial=high)
    if span < 1.5 * (high - low):  # nothing is far out: show all
        low, high = values.min(initial=low), values.max(initial=high)
    return np.linspace(low, high, BINS + 1)


@dataclass(eq=False, repr=False)
class MemoryGainDisplay:
    """Expected gain against the memory limit: how much does each doubling of the cells buy?

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    limits : int ndarray of shape (M,)
        Limits that were tried.
    cells : int ndarray of shape (M,)
        Cells that were used under each.
    gains : ndarray of shape (M,)
        Expected gain of the rule.
    intervals : ndarray of shape (M, 2)
        Confidence interval of each.
    best : float, default=None
        The best possible gain, where it is known.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    limits: np.ndarray
    cells: np.ndarray
    gains: np.ndarray
    intervals: np.ndarray
    best: float | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        limits: Sequence[int] | None = None,
        best: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MemoryGainDisplay:
        """Fit the rule under each limit and draw what it earns on other rows.

        Parameters
        ----------
        estimator : BayesClassifier with :class:`~bayesrule.Cells`
            Fitted or not; copies of it are fitted.
        X, y : rows to fit to
        X_test, y_test : rows to judge by
        limits : sequence of ints, default=None
            Memory limits; None doubles them from 4 up to the limit of the estimator.
        best : float, default=None
            The best possible gain, drawn as a line.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to ``ax.plot``.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import datasets, recipes
        >>> from bayesrule.displays import MemoryGainDisplay
        >>> world = datasets.make_cells(4000, (2, 3), seed=1)
        >>> halves = world.X[:2000], world.y[:2000], world.X[2000:], world.y[2000:]
        >>> display = MemoryGainDisplay.from_estimator(recipes.quantized(16), *halves)
        >>> display.limits.tolist(), display.cells.tolist()
        ([4, 8, 16], [3, 6, 6])
        """
        density: Any = getattr(estimator, "density", None)
        if not hasattr(density, "max_cells"):
            raise TypeError("The display needs a BayesClassifier with Cells().")
        top = int(density.max_cells)
        doubled = [2**i for i in range(2, top.bit_length()) if 2**i < top]
        tried = np.array(sorted({*doubled, top} if limits is None else map(int, limits)))
        cells, gains, intervals = [], [], []
        with progress("Fitting under memory limits", total=len(tried)) as meter:
            for limit in tried:
                rule = clone(estimator).set_params(density__max_cells=int(limit)).fit(X, y)
                found = evaluate(rule, X_test, y_test)
                cells.append(rule.density_.n_cells_)
                gains.append(found.expected_gain)
                intervals.append(found.interval)
                meter.advance(1, f"{limit} cells")
        return cls(tried, np.array(cells), np.array(gains), np.array(intervals), best).plot(
            ax, **kwargs
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> MemoryGainDisplay:
        """Draw the gains against the limits, with what each doubling adds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to ``ax.plot``.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.2, 4.2))
        colour = style.hue(0)
        low, high = self.intervals.T
        self.ax_.fill_between(self.limits, low, high, color=style.tint(colour, 0.25), linewidth=0)
        look = {"color": colour, "marker": "o", "markersize": 5, "linewidth": 1.8, **kwargs}
        self.ax_.plot(self.limits, self.gains, **look)
        if self.best is not None:
            self.ax_.axhline(self.best, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
            self.ax_.annotate(
                f"best possible {style.number(self.best)}",
                (self.limits[0], self.best),
                xytext=(0, 4),
                textcoords="offset points",
                color=style.QUIET,
                fontsize="small",
            )
        self.ax_.set_xscale("log", base=2)
        shown = self.limits[:: max(1, len(self.limits) // 8)]
        self.ax_.set_xticks(shown, [f"{limit:,}" for limit in shown])
        self.ax_.minorticks_off()
        self.ax_.set_xlabel("memory limit (cells)")
        self.ax_.set_ylabel("expected gain")
        self._name_steps()
        return self

    def _name_steps(self) -> None:
        """Write how many cells were used under each limit, where room was left."""
        for limit, cells, gain in zip(self.limits, self.cells, self.gains, strict=True):
            if cells < limit / 2:
                self.ax_.annotate(
                    f"uses {cells:,}",
                    (limit, gain),
                    xytext=(0, -13),
                    textcoords="offset points",
                    ha="center",
                    color=style.QUIET,
                    fontsize="x-small",
                )
