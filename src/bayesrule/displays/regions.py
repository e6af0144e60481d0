"""Where each decision is taken, over two features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.ndimage import distance_transform_edt

from bayesrule.displays import style
from bayesrule.displays.slices import Slices
from bayesrule.displays.sources import chosen_estimator, codes_of, final_rule, true_codes

FILL = 0.28
BORDER = "#5a5a5a"
#: Markers with thin arms need more room to be seen.
LARGER = {"P": 1.5, "X": 1.4, "*": 2.0, "D": 0.9}
#: Shares of the density in view that its contours hold.
CONTOURS = (0.5, 0.8, 0.95)


@dataclass(eq=False, repr=False)
class DecisionRegionDisplay:
    """Decision regions over two features, extra actions among them.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (n0, n1)
        The grid: values of the first and the second feature.
    decided : ndarray of shape (n0, n1)
        Place of the decision at each point of the grid among ``decisions``.
    decisions : ndarray of shape (A,)
    classes : ndarray of shape (K,)
    feature_names : pair of labels
    gains : ndarray of shape (n0, n1, A), default=None
        Expected gains on the grid; boundaries are then drawn smoothly, between its points.
    points : ndarray of shape (n, 2), default=None
        Rows to draw.
    point_classes : ndarray of shape (n,), default=None
        Place of each row's true class.
    held : dict {feature: value}
        Where the other features are held.
    log_marginal : ndarray of shape (n0, n1), default=None
        log p(x) on the grid, drawn as contours.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    xx0: np.ndarray
    xx1: np.ndarray
    decided: np.ndarray
    decisions: np.ndarray
    classes: np.ndarray
    feature_names: tuple[Any, Any]
    gains: np.ndarray | None = None
    points: np.ndarray | None = None
    point_classes: np.ndarray | None = None
    held: dict[Any, Any] = field(default_factory=dict)
    log_marginal: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: tuple[Any, Any] = (0, 1),
        at: Any = None,
        grid_resolution: int = 200,
        density: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> DecisionRegionDisplay:
        """Compute the regions of a fitted rule and draw them.

        Parameters
        ----------
        estimator : fitted BayesClassifier, or a pipeline or search that ends in one
        X : array or frame of shape (n, D)
            Rows that set the range, and are drawn where ``y`` is given.
        y : array of n labels, default=None
            True classes of the rows.
        features : pair of names or places
            The features that span the picture.
        at : None, sequence of D values, or dict {feature: value}
            Where the other features are held; by default at their medians.
        grid_resolution : int
            Points of the grid in each direction.
        density : bool
            Whether to draw contours of p(x) that hold 50, 80 and 95 % of it in view.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import BayesClassifier, with_action
        >>> from bayesrule.displays import DecisionRegionDisplay
        >>> X, y = [[0, 0], [1, 2], [2, 1], [5, 6], [6, 4], [7, 7]], [0, 0, 0, 1, 1, 1]
        >>> clf = BayesClassifier(gain=with_action(None, "refer", 0.9)).fit(X, y)
        >>> display = DecisionRegionDisplay.from_estimator(clf, X, y)
        >>> display.decisions[display.decided[0, 0]], display.decided.shape
        (0, (200, 200))
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution must be at least 2, but is {grid_resolution}.")
        if density and (estimator is not rule or not hasattr(rule, "log_marginal")):
            raise ValueError(
                "density=True needs a normalised density that sees X itself: a foreign "
                "classifier's is known only up to a term common to the classes, and a pipeline's "
                "is one of other features. Leave density=False."
            )
        slices = Slices(X, at, getattr(estimator, "feature_names_in_", None))
        chosen = tuple(features)
        if len(chosen) != 2:
            raise ValueError(f"features must name two features, but names {len(chosen)}.")
        i, j = slices.place(chosen[0]), slices.place(chosen[1])
        if i == j:
            raise ValueError(f"features names {chosen[0]!r} twice; give two different features.")
        xx0, xx1 = np.meshgrid(
            *(np.linspace(*slices.span(f), grid_resolution) for f in (i, j)), indexing="ij"
        )
        grid = slices.rows({i: xx0.ravel(), j: xx1.ravel()})
        decided = codes_of(estimator.predict(grid), rule.decisions_)
        gains = np.asarray(estimator.predict_proba(grid)) @ rule.gain_
        return cls(
            xx0=xx0,
            xx1=xx1,
            decided=decided.reshape(xx0.shape),
            decisions=rule.decisions_,
            classes=rule.classes_,
            feature_names=(slices.labels[i], slices.labels[j]),
            gains=gains.reshape(*xx0.shape, -1),
            points=None if y is None else np.column_stack([slices.column(i), slices.column(j)]),
            point_classes=None if y is None else true_codes(rule.classes_, y, X),
            held=slices.held((i, j)),
            log_marginal=rule.log_marginal(grid).reshape(xx0.shape) if density else None,
        ).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, max_points: int = 1000, legend: bool = True, **kwargs: Any
    ) -> DecisionRegionDisplay:
        """Draw the regions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_points : int
            At most this many rows are drawn, evenly picked, so that regions stay visible.
        legend : bool
        **kwargs
            Passed to ``ax.scatter``, which draws the rows.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.2, 4.8))
        self._draw_regions()
        if self.log_marginal is not None:
            self._draw_density()
        if self.points is not None and self.point_classes is not None:
            self._draw_points(max_points, kwargs)
        self.ax_.set(
            xlim=(self.xx0[0, 0], self.xx0[-1, 0]),
            ylim=(self.xx1[0, 0], self.xx1[0, -1]),
            xlabel=style.written(self.feature_names[0], 60, 1),
            ylabel=style.written(self.feature_names[1], 60, 1),
        )
        if self.held:
            self.ax_.set_title(self._where_held(), loc="left", fontsize="small", color=style.QUIET)
        self._name_regions()
        if legend:
            self._add_legend()
        return self

    def _draw_regions(self) -> None:
        """Fill each region with its tint and outline it."""
        from matplotlib.colors import ListedColormap

        colours = style.decision_colours(self.decisions, self.classes)
        n = len(colours)
        self.ax_.pcolormesh(
            self.xx0,
            self.xx1,
            self.decided,
            cmap=ListedColormap([style.tint(c, FILL) for c in colours]),
            vmin=-0.5,
            vmax=n - 0.5,
            shading="nearest",
            rasterized=True,
            zorder=0,
        )
        margins = self._margins()
        present = np.unique(self.decided)
        for d in present if len(present) > 1 else []:
            where = (self.xx0, self.xx1, margins[d])
            fill = style.tint(colours[d], FILL)
            self.ax_.contourf(*where, levels=[0, np.inf], colors=[fill], zorder=0.5)
            self.ax_.contour(*where, levels=[0], colors=BORDER, linewidths=0.9, zorder=1)

    def _margins(self) -> np.ndarray:
        """How far each decision is ahead of the best other one; positive inside its region.

        Without gains, or where decisions are drawn at random, plus and minus one.
        """
        n = len(self.decisions)
        inside = np.where(self.decided == np.arange(n)[:, None, None], 1.0, -1.0)
        if self.gains is None:
            return inside
        gains = np.moveaxis(self.gains, -1, 0)
        margins = np.array(
            [gains[d] - np.delete(gains, d, axis=0).max(axis=0, initial=-np.inf) for d in range(n)]
        )
        if ((margins > 0) & (inside < 0)).any():
            return inside
        return margins

    def _draw_density(self) -> None:
        """Contours of p(x) that hold stated shares of it in view."""
        from matplotlib.patheffects import withStroke

        assert self.log_marginal is not None
        relative = self.log_marginal - self.log_marginal.max()
        falling = np.sort(relative.ravel())[::-1]
        mass = np.cumsum(np.exp(falling))
        held = [falling[np.searchsorted(mass, share * mass[-1])] for share in CONTOURS]
        levels = np.unique(held)
        names = {
            level: f"{share:.0%}".replace("%", " %")
            for level, share in zip(held, CONTOURS, strict=True)
        }
        lines = self.ax_.contour(
            self.xx0, self.xx1, relative, levels=levels, colors=style.INK, linewidths=0.7, zorder=2
        )
        lines.set_linestyle((0, (5, 3)))
        halo = [withStroke(linewidth=2, foreground="white")]
        for text in self.ax_.clabel(lines, fmt=names, fontsize="x-small", inline_spacing=2):
            text.set(path_effects=halo, zorder=4)

    def _draw_points(self, max_points: int, kwargs: dict[str, Any]) -> None:
        """Rows, by marker and colour of their true class."""
        assert self.points is not None
        assert self.point_classes is not None
        n = len(self.points)
        shown = np.unique(np.linspace(0, n - 1, min(n, max_points)).astype(int))
        points, codes = self.points[shown], self.point_classes[shown]
        colours = style.class_colours(self.classes, self.decisions)
        look = {"edgecolors": "white", "linewidths": 0.5, "alpha": 0.9, "zorder": 3}
        for k in np.unique(codes):
            marker = style.marker(k)
            own = {"color": colours[k], "marker": marker, "s": 22 * LARGER.get(marker, 1.0)}
            self.ax_.scatter(*points[codes == k].T, **{**own, **look, **kwargs})

    def _where_held(self) -> str:
        """Where the other features are held, in one line."""
        if len(self.held) > 3:
            return f"{len(self.held)} other features held fixed"
        return "at " + ", ".join(
            f"{style.written(name, 24, 1)} = {_number(value)}" for name, value in self.held.items()
        )

    def _name_regions(self) -> None:
        """Write each decision where its region has most room, if it has enough."""
        colours = style.decision_colours(self.decisions, self.classes)
        inches = self.ax_.get_position().size * self.ax_.figure.get_size_inches()
        cells = 72.0 * inches / np.array(self.decided.shape)
        free = np.ones(self.decided.shape, dtype=bool)
        if self.points is not None:
            free[self._cells_of(self.points)] = False
        for d in np.unique(self.decided):
            label = style.written(self.decisions[d], 16, 2)
            parts = label.split("\n")
            half = np.array([3.4 * max(map(len, parts)) + 3, 6.0 * len(parts) + 3])
            # Measured in sizes of the text, room is the distance to the nearest thing in the way.
            inside = np.pad(free & (self.decided == d), 1)
            room = distance_transform_edt(inside, sampling=cells / half)[1:-1, 1:-1]
            if room.max() >= 1.2:
                at = np.unravel_index(room.argmax(), room.shape)
                self.ax_.text(
                    self.xx0[at],
                    self.xx1[at],
                    label,
                    ha="center",
                    va="center",
                    color=style.shade(colours[d], 0.35),
                    weight="bold",
                    zorder=4,
                )

    def _cells_of(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Grid cells that hold the points."""
        points = points[np.isfinite(points).all(axis=1)]
        low = np.array([self.xx0[0, 0], self.xx1[0, 0]])
        high = np.array([self.xx0[-1, -1], self.xx1[-1, -1]])
        steps = np.array(self.decided.shape) - 1
        cells = np.rint((points - low) / (high - low) * steps).astype(int)
        cells = cells[((cells >= 0) & (cells <= steps)).all(axis=1)]
        return cells[:, 0], cells[:, 1]

    def _add_legend(self) -> None:
        """Regions by their tint and points by their marker, together where both have one name."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        fills = style.decision_colours(self.decisions, self.classes)
        inks = style.class_colours(self.classes, self.decisions)
        keys = style.class_keys(self.classes, self.decisions)
        keys = [key for key in keys if key[1] >= 0 or self.points is not None]
        handles = []
        for _, d, k in keys:
            parts: list[Any] = []
            if d >= 0:
                fill = style.tint(fills[d], FILL)
                parts.append(Patch(facecolor=fill, edgecolor=BORDER, linewidth=0.9))
            if k >= 0 and self.points is not None:
                sign = Line2D([], [], linestyle="none", marker=style.marker(k), color=inks[k])
                sign.set(markersize=7, markeredgecolor="white", markeredgewidth=0.5)
                parts.append(sign)
            handles.append(tuple(parts))
        title = "area: decision" + ("" if self.points is None else "\npoint: true class")
        style.legend_beside(self.ax_, handles, [style.written(key[0]) for key in keys], title)


def _number(value: Any) -> str:
    """A held value, briefly."""
    return (
        f"{value:.3g}" if isinstance(value, (float, np.floating)) else style.written(value, 16, 1)
    )
