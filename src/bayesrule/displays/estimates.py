"""Densities estimated by themselves: curves along one column, level sets over two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesrule.displays import style
from bayesrule.displays.slices import Slices
from bayesrule.displays.sources import increasing

#: Rows whose single bumps can be told from each other.
MOST_BUMPS = 60
#: Shares of the density in view that the level sets hold.
SHARES = (0.25, 0.5, 0.75, 0.95)


@dataclass(eq=False, repr=False)
class DensityCurveDisplay:
    """Estimated densities of one column, with the rows below them.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Values of the column.
    log_density : ndarray of shape (m, E)
        Log-density of each of E estimates.
    labels : sequence of E labels
    points : ndarray of shape (n,)
        The rows.
    feature_name : label
    bumps : ndarray of shape (m, B), default=None
        The share of each distinct row in the density of the one estimate.
    truth : ndarray of shape (m,), default=None
        The density that the rows were drawn from.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of E matplotlib lines
    """

    values: np.ndarray
    log_density: np.ndarray
    labels: list[Any]
    points: np.ndarray
    feature_name: Any
    bumps: np.ndarray | None = None
    truth: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        values: Any = None,
        bumps: bool = False,
        truth: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> DensityCurveDisplay:
        """Compute the densities of fitted estimates along their column and draw them.

        Parameters
        ----------
        estimator : fitted DensityEstimate, or dict {label: fitted DensityEstimate}
        X : array or frame of shape (n, 1)
            Rows, which are drawn and set the range.
        values : array of increasing numbers, default=None
            Where to compute the densities; by default at 2000 values over the range of X.
        bumps : bool
            Whether to draw the bump of every row, whose sum a kernel density is.
        truth : function of an array, default=None
            The density that the rows were drawn from, where it is known.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import DensityEstimate, Kernel
        >>> from bayesrule.displays import DensityCurveDisplay
        >>> X = [[4.0], [5.0], [5.0], [6.0], [12.0], [14.0], [15.0], [15.0], [16.0], [17.0]]
        >>> estimate = DensityEstimate(Kernel("triangle", bandwidth=2)).fit(X)
        >>> display = DensityCurveDisplay.from_estimator(estimate, X, bumps=True)
        >>> display.bumps.shape
        (2000, 8)
        """
        estimates = dict(estimator) if isinstance(estimator, Mapping) else {"estimate": estimator}
        slices = Slices(X, None, None)
        if len(slices.labels) != 1:
            raise ValueError(
                f"A curve is of one column, and X has {len(slices.labels)}; for two there is "
                "DensityContourDisplay."
            )
        values = np.linspace(*slices.span(0, 0.2), 2000) if values is None else increasing(values)
        rows = slices.rows({0: values})
        for each in estimates.values():
            check_is_fitted(each)
        parts = None
        if bumps:
            if len(estimates) > 1:
                raise ValueError("Bumps are drawn of one estimate; give one, or bumps=False.")
            parts = _bumps(next(iter(estimates.values())), values)
        return cls(
            values=values,
            log_density=np.column_stack([each.score_samples(rows) for each in estimates.values()]),
            labels=list(estimates),
            points=slices.column(0),
            feature_name=slices.labels[0],
            bumps=parts,
            truth=None if truth is None else np.asarray(truth(values), float),
        ).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, legend: bool = True, max_points: int = 400, **kwargs: Any
    ) -> DensityCurveDisplay:
        """Draw the densities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        legend : bool
            Whether to name the curves, where there are several.
        max_points : int
            At most this many rows are drawn, evenly picked.
        **kwargs
            Passed to ``ax.plot``, which draws the curves.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.2, 4.2))
        ax = self.ax_
        handles = []
        if self.bumps is not None:
            faint = style.tint(style.hue(0), 0.55)
            for bump in self.bumps.T:
                ax.plot(self.values, bump, color=faint, linewidth=0.9, zorder=1.5)
        if self.truth is not None:
            look = {"color": style.QUIET, "linewidth": 1.2, "linestyle": (0, (5, 3))}
            handles += ax.plot(self.values, self.truth, label="true density", **look)
        heights = np.exp(self.log_density)
        self.lines_ = []
        for e, label in enumerate(self.labels):
            own = {"color": style.hue(e), "linewidth": 1.8, "label": style.written(label)}
            self.lines_ += ax.plot(self.values, heights[:, e], **{**own, **kwargs})
        handles += self.lines_
        self._frame(heights)
        self._draw_rug(max_points)
        if legend and len(handles) > 1:
            ax.legend(handles=handles, frameon=False)
        return self

    def _frame(self, heights: np.ndarray) -> None:
        """Axes that show the curves as far as they are finite, but for the tips of spikes."""
        drawn = heights if self.truth is None else np.column_stack([heights, self.truth])
        drawn = drawn[np.isfinite(drawn)]
        # k / (n V) has no bound: what is above nearly all of the curves is cut.
        top = min(drawn.max(), 3.0 * np.quantile(drawn, 0.98)) if len(drawn) else 1.0
        self.ax_.set(
            xlim=(self.values[0], self.values[-1]),
            ylim=(-0.06 * top, 1.06 * top),
            xlabel=style.written(self.feature_name, 60, 1),
            ylabel="density",
        )
        self.ax_.axhline(0.0, color=style.FAINT, linewidth=0.8, zorder=0)

    def _draw_rug(self, max_points: int) -> None:
        """A stroke below the curves for every row; rows of one value lie side by side in ink."""
        known = np.sort(self.points[np.isfinite(self.points)])
        shown = np.unique(np.linspace(0, len(known) - 1, min(len(known), max_points)).astype(int))
        bottom = self.ax_.get_ylim()[0]
        strength = float(np.clip(30.0 / len(shown), 0.25, 0.9))
        self.ax_.vlines(
            known[shown], 0.85 * bottom, 0.15 * bottom, color=style.INK, alpha=strength, linewidth=1
        )


def _bumps(estimate: Any, values: np.ndarray) -> np.ndarray:
    """What each distinct row adds to a kernel density, shape (m, B)."""
    bumps: Any = getattr(estimate.log_density_, "first", None)
    if not hasattr(bumps, "alone"):
        raise ValueError(
            "Only Kernel, with joint=True, is a sum of bumps: leave bumps=False for others."
        )
    n = len(bumps.points.rows)
    if n > MOST_BUMPS:
        raise ValueError(
            f"There are {n} distinct rows, too many to tell their bumps apart: draw at most "
            f"{MOST_BUMPS}, or leave bumps=False."
        )
    shares = bumps.points.weights / bumps.points.total
    return np.column_stack(
        [
            share * np.exp(bumps.alone(i).log_density(values[:, None]))
            for i, share in enumerate(shares)
        ]
    )


@dataclass(eq=False, repr=False)
class DensityContourDisplay:
    """Level sets of an estimated density over two columns.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (n0, n1)
        The grid: values of the first and the second column.
    log_density : ndarray of shape (n0, n1)
    points : ndarray of shape (n, 2)
        The rows.
    feature_names : pair of labels

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    levels_ : ndarray
        Log-densities of the level sets, which hold 95, 75, 50 and 25 % of the density in view.
    """

    xx0: np.ndarray
    xx1: np.ndarray
    log_density: np.ndarray
    points: np.ndarray
    feature_names: tuple[Any, Any]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, grid_resolution: int = 200, ax: Any = None, **kwargs: Any
    ) -> DensityContourDisplay:
        """Compute the density of a fitted estimate on a grid and draw its level sets.

        Parameters
        ----------
        estimator : fitted DensityEstimate
        X : array or frame of shape (n, 2)
            Rows, which are drawn and set the range.
        grid_resolution : int
            Points of the grid in each direction.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib, numpy as np
        >>> matplotlib.use("agg")
        >>> from bayesrule import DensityEstimate, Kernel
        >>> from bayesrule.displays import DensityContourDisplay
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> estimate = DensityEstimate(Kernel()).fit(X)
        >>> display = DensityContourDisplay.from_estimator(estimate, X)
        >>> len(display.levels_)
        4
        """
        check_is_fitted(estimator)
        if grid_resolution < 2:
            raise ValueError(f"grid_resolution must be at least 2, but is {grid_resolution}.")
        slices = Slices(X, None, None)
        if len(slices.labels) != 2:
            raise ValueError(
                f"Level sets are drawn over two columns, and X has {len(slices.labels)}; for one "
                "there is DensityCurveDisplay."
            )
        axes = [np.linspace(*slices.span(j, 0.1), grid_resolution) for j in (0, 1)]
        xx0, xx1 = np.meshgrid(*axes, indexing="ij")
        found = estimator.score_samples(slices.rows({0: xx0.ravel(), 1: xx1.ravel()}))
        return cls(
            xx0=xx0,
            xx1=xx1,
            log_density=found.reshape(xx0.shape),
            points=np.column_stack([slices.column(0), slices.column(1)]),
            feature_names=(slices.labels[0], slices.labels[1]),
        ).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, max_points: int = 1000, **kwargs: Any
    ) -> DensityContourDisplay:
        """Draw the level sets.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_points : int
            At most this many rows are drawn, evenly picked.
        **kwargs
            Passed to ``ax.scatter``, which draws the rows.
        """
        self.figure_, self.ax_ = style.canvas(ax, (5.6, 4.8))
        finite = self.log_density[np.isfinite(self.log_density)]
        relative = self.log_density - (finite.max() if len(finite) else 0.0)
        # A grid may hit a row at which the density has no bound; its share of the plane is nil.
        relative = np.minimum(relative, 0.0)
        falling = np.sort(relative.ravel())[::-1]
        mass = np.cumsum(np.exp(falling))
        held = [falling[np.searchsorted(mass, share * mass[-1])] for share in SHARES]
        levels = np.unique(held)
        self.levels_ = levels + (finite.max() if len(finite) else 0.0)
        self._fill(relative, levels)
        known = self.points[np.isfinite(self.points).all(axis=1)]
        shown = np.unique(np.linspace(0, len(known) - 1, min(len(known), max_points)).astype(int))
        look = {"s": 8, "color": style.INK, "alpha": 0.45, "linewidths": 0, "zorder": 3}
        self.ax_.scatter(*known[shown].T, **{**look, **kwargs})
        self.ax_.set(
            xlim=(self.xx0[0, 0], self.xx0[-1, 0]),
            ylim=(self.xx1[0, 0], self.xx1[0, -1]),
            xlabel=style.written(self.feature_names[0], 60, 1),
            ylabel=style.written(self.feature_names[1], 60, 1),
        )
        return self

    def _fill(self, relative: np.ndarray, levels: np.ndarray) -> None:
        """Tints that grow with the density, and outlines that name what they hold."""
        from matplotlib.patheffects import withStroke

        where = self.xx0, self.xx1, relative
        tints = [style.tint(style.hue(0), 0.12 + 0.13 * i) for i in range(len(levels))]
        self.ax_.contourf(*where, levels=[*levels, np.inf], colors=tints, zorder=0)
        lines = self.ax_.contour(
            *where, levels=levels, colors=style.hue(0), linewidths=0.9, linestyles="solid", zorder=2
        )
        shares = SHARES[::-1][-len(levels) :]
        names = {
            level: f"{share:.0%}".replace("%", " %")
            for level, share in zip(levels, shares, strict=True)
        }
        halo = [withStroke(linewidth=2, foreground="white")]
        for text in self.ax_.clabel(lines, fmt=names, fontsize="x-small", inline_spacing=2):
            text.set(path_effects=halo, zorder=4)
