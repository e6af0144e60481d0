"""What each class looks like along one feature, and what is decided there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from bayesrule.displays import style
from bayesrule.displays.slices import Slices
from bayesrule.displays.sources import (
    change_points,
    chosen_estimator,
    codes_of,
    final_rule,
    increasing,
    true_codes,
)

#: Strength of the colours of the band of decisions.
BAND = 0.6


@dataclass(eq=False, repr=False)
class ClassDensityDisplay:
    """Class-conditional densities along one feature, with the decisions below.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Values of the feature.
    log_density : ndarray of shape (m, K)
        log p(x | k) along the line on which the other features are held.
    boundaries : ndarray of shape (b,)
        Where the decision changes.
    interval_decisions : ndarray of shape (b + 1,)
        Place of the decision between them among ``decisions``.
    priors : ndarray of shape (K,)
    decisions : ndarray of shape (A,)
    classes : ndarray of shape (K,)
    feature_name : label
    held : dict {feature: value}
        Where the other features are held. With none, ``log_density`` is the density of the feature.
    weighted : bool
        Whether to draw prior times density.
    points, point_classes : ndarray of shape (n,), default=None
        The feature's value and the place of the true class, of each row.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    band_ax_ : matplotlib Axes
        The band of decisions.
    lines_ : list of K matplotlib lines
    """

    values: np.ndarray
    log_density: np.ndarray
    boundaries: np.ndarray
    interval_decisions: np.ndarray
    priors: np.ndarray
    decisions: np.ndarray
    classes: np.ndarray
    feature_name: Any
    held: dict[Any, Any] = field(default_factory=dict)
    weighted: bool = False
    points: np.ndarray | None = None
    point_classes: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        feature: Any = 0,
        at: Any = None,
        weighted: bool = False,
        values: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ClassDensityDisplay:
        """Compute the densities of a fitted rule along a feature and draw them.

        Parameters
        ----------
        estimator : fitted BayesClassifier, or a search that ends in one
            Its density must be normalised.
        X : array or frame of shape (n, D)
            Rows that set the range, and are drawn where ``y`` is given.
        y : array of n labels, default=None
            True classes of the rows.
        feature : name or place
        at : None, sequence of D values, or dict {feature: value}
            Where the other features are held; by default at their medians.
        weighted : bool
            Whether to draw prior times density: where these cross, the most probable class changes.
        values : array of numbers, default=None
            Values of the feature, for example whole numbers where it counts; the decision then
            changes midway between two of them. By default 400 over the range of X, and changes
            are sought between them.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        The boundary between two equal bells lies half-way:

        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import recipes
        >>> from bayesrule.displays import ClassDensityDisplay
        >>> X, y = [[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]], [0, 0, 0, 1, 1, 1]
        >>> display = ClassDensityDisplay.from_estimator(recipes.lda().fit(X, y), X, y)
        >>> display.boundaries.round(6)
        array([4.])
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        if estimator is not rule or not hasattr(rule, "log_marginal"):
            raise ValueError(
                "Densities can be drawn where they are normalised and see X itself. A foreign "
                "classifier's are known only up to a term common to the classes, and a "
                "pipeline's are those of other features: give the last step, and X transformed."
            )
        slices = Slices(X, at, getattr(rule, "feature_names_in_", None))
        j = slices.place(feature)
        stated = values is not None
        values = increasing(values) if stated else np.linspace(*slices.span(j), 400)

        def decided(points: np.ndarray) -> np.ndarray:
            return codes_of(rule.predict(slices.rows({j: points})), rule.decisions_)

        along = decided(values)
        changes = np.flatnonzero(along[1:] != along[:-1])
        return cls(
            values=values,
            log_density=rule.log_density(slices.rows({j: values})),
            boundaries=(
                0.5 * (values[changes] + values[changes + 1])
                if stated
                else change_points(decided, values, along)
            ),
            interval_decisions=along[np.append(0, changes + 1)],
            priors=rule.priors_,
            decisions=rule.decisions_,
            classes=rule.classes_,
            feature_name=slices.labels[j],
            held=slices.held((j,)),
            weighted=weighted,
            points=None if y is None else slices.column(j),
            point_classes=None if y is None else true_codes(rule.classes_, y, X),
        ).plot(ax, **kwargs)

    def curves(self) -> np.ndarray:
        """What is drawn, shape (m, K).

        With one feature its density in each class, p(x | k), or p(x, k) where ``weighted``. With
        others held, that given the others: p(x | others, k), or p(x, k | others). These are the
        densities along the line divided by their area over the range shown (by the area of all
        classes together, where weighted), for a density in many features has no height that can be
        read, and may be too small for a number.
        """
        if not self.held:
            curves = np.exp(self.log_density)
            return curves * self.priors if self.weighted else curves
        heights = self.log_density
        if self.weighted:
            with np.errstate(divide="ignore"):
                heights = heights + np.log(self.priors)
        top = heights.max(axis=None if self.weighted else 0)
        curves = np.exp(heights - np.where(np.isfinite(top), top, 0.0))
        area = trapezoid(curves, self.values, axis=0)
        area = area.sum() if self.weighted else area
        return curves / np.where(area > 0, area, 1.0)

    def plot(
        self, ax: Any = None, *, data: bool = True, legend: bool = True, **kwargs: Any
    ) -> ClassDensityDisplay:
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        data : bool
            Whether to draw the rows: a histogram per class where the model has one feature (only
            then rows are spread as the curves are) and few classes; else a rug.
        legend : bool
        **kwargs
            Passed to ``ax.plot``, which draws the curves.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.2, 4.2))
        ax = self.ax_
        colours = style.class_colours(self.classes, self.decisions)
        curves = self.curves()
        self.lines_ = []
        for k, colour in enumerate(colours):
            look = {"color": colour, "linewidth": 1.8, "label": style.written(self.classes[k])}
            self.lines_ += ax.plot(self.values, curves[:, k], **{**look, **kwargs})
        ax.set(
            xlim=(self.values[0], self.values[-1]),
            ylabel="prior × density" if self.weighted else "density",
        )
        if data and self.points is not None and self.point_classes is not None:
            if self.held or len(self.classes) > 4:
                self._draw_rug(colours, float(curves.max()))
            else:
                self._draw_histograms(colours)
        ax.set_ylim(bottom=0)
        if self.held:
            others = f"{len(self.held)} other feature{'s' if len(self.held) > 1 else ''}"
            text = f"given {others}, held fixed"
            ax.set_title(text, loc="left", fontsize="small", color=style.QUIET)
        self._draw_band()
        if legend:
            self._add_legend()
        return self

    def _draw_histograms(self, colours: list[str]) -> None:
        """A histogram per class with the curve's area: one, or the prior."""
        assert self.points is not None
        assert self.point_classes is not None
        finite = self.points[np.isfinite(self.points)]
        edges = np.histogram_bin_edges(finite, bins=int(np.clip(2 * len(finite) ** 0.4, 5, 60)))
        for k, colour in enumerate(colours):
            mine = self.points[self.point_classes == k]
            counts, _ = np.histogram(mine, edges)
            if counts.sum() == 0:
                continue
            heights = counts / counts.sum() / np.diff(edges)
            heights = heights * self.priors[k] if self.weighted else heights
            self.ax_.stairs(heights, edges, fill=True, color=colour, alpha=0.18, zorder=0.5)

    def _draw_rug(self, colours: list[str], highest: float, max_points: int = 400) -> None:
        """A short stroke per row above the curves, one line of strokes per class."""
        assert self.points is not None
        assert self.point_classes is not None
        share = 0.03
        self.ax_.set_ylim(top=1.02 * highest / (0.97 - share * len(colours)))
        for k, colour in enumerate(colours):
            mine = self.points[self.point_classes == k]
            if len(mine) > max_points:
                mine = mine[np.linspace(0, len(mine) - 1, max_points).astype(int)]
            low = 1.0 - share * (k + 1)
            self.ax_.vlines(
                mine,
                low,
                low + 0.8 * share,
                transform=self.ax_.get_xaxis_transform(),
                color=colour,
                alpha=0.5,
                linewidth=0.6,
            )

    def _draw_band(self) -> None:
        """The decision in each interval, as a band under the curves."""
        ax = self.ax_
        self.band_ax_ = band = ax.inset_axes([0.0, -0.11, 1.0, 0.07], sharex=ax)
        style.tidy(band, sides=("bottom",))
        ax.tick_params(labelbottom=False, bottom=False)
        band.set(yticks=[], ylim=(0, 1), xlabel=style.written(self.feature_name, 60, 1))
        colours = style.decision_colours(self.decisions, self.classes)
        edges = np.concatenate([self.values[:1], self.boundaries, self.values[-1:]])
        for d, low, high in zip(self.interval_decisions, edges[:-1], edges[1:], strict=True):
            band.axvspan(low, high, color=style.tint(colours[d], BAND), linewidth=0)
        for at in self.boundaries:
            ax.axvline(at, color=style.FAINT, linewidth=0.8, zorder=0)

    def _add_legend(self) -> None:
        """Curves by their line and stretches of the band by their tint."""
        from matplotlib.patches import Patch

        fills = style.decision_colours(self.decisions, self.classes)
        taken = set(self.interval_decisions.tolist())
        keys = style.class_keys(self.classes, self.decisions)
        keys = sorted((key for key in keys if key[2] >= 0), key=lambda key: key[2]) + [
            key for key in keys if key[2] < 0 and key[1] in taken
        ]
        handles = [
            self.lines_[k] if k >= 0 else Patch(color=style.tint(fills[d], BAND), linewidth=0)
            for _, d, k in keys
        ]
        labels = [style.written(key[0]) for key in keys]
        style.legend_beside(self.ax_, handles, labels, "curve: class\nband: decision")
