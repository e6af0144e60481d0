"""Which rows a robust fit distrusts: distances against those that Gaussian rows would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.utils.validation import check_consistent_length

from bayesrule.displays import style
from bayesrule.memberships import places, read_target

#: Share of Gaussian rows that lie within the line.
INNER = 0.975
#: Rows that are named at most.
NAMED = 8


@dataclass(eq=False, repr=False)
class OutlyingnessDisplay:
    """Robust distances of the rows of each class from it, in order.

    Gaussian rows lie along the diagonal. A class whose points leave it slowly has heavy tails;
    points that leave it at once are outliers. The share of rows beyond the dotted line, within
    which 97.5 % of Gaussian rows lie, stands in the legend.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        ``outlyingness`` of each row from its own class.
    codes : ndarray of shape (n,)
        Class of each row.
    classes : ndarray of shape (K,)
    n_columns : int
    names : list of str or None
        What to call the farthest rows; None leaves them unnamed.

    Attributes
    ----------
    limit_ : float
        Distance of the dotted line.
    beyond_ : ndarray of shape (K,)
        Share of the rows of each class beyond it; NaN without rows.
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import recipes
    >>> from bayesrule.displays import OutlyingnessDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:10] *= 20.0
    >>> clf = recipes.femda().fit(X, np.arange(200) % 2)
    >>> display = OutlyingnessDisplay.from_estimator(clf, X, np.arange(200) % 2)
    >>> bool((display.beyond_ >= 0.05).all())
    True
    """

    distances: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    n_columns: int
    names: list[str] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, names: Any = None, **kwargs: Any
    ) -> OutlyingnessDisplay:
        """Measure rows from their own class, and draw.

        Parameters
        ----------
        estimator : BayesClassifier with an elliptical density
        X, y : rows and labels
        names : "index" or n names, default=None
            What to call the farthest rows; "index" takes the index of a pandas frame, or numbers.
        **kwargs
            Go to :meth:`plot`.
        """
        if not hasattr(estimator, "outlyingness"):
            raise TypeError(
                f"{type(estimator).__name__} has no outlyingness. Fit a robust discriminant, such "
                "as recipes.femda()."
            )
        found = read_target(y)
        if found.codes is None:
            raise ValueError("Soft labels y name no class that a row could be measured from.")
        where = places(found.classes, estimator.classes_)
        if (where < 0).any():
            raise ValueError(
                f"y has class {found.classes[where < 0].tolist()[0]!r}, which was not fitted; the "
                f"classes are {estimator.classes_.tolist()}."
            )
        measured = estimator.outlyingness(X)
        check_consistent_length(measured, found.codes)
        codes = where[found.codes]
        if isinstance(names, str):
            index = getattr(X, "index", None)
            names = list(range(len(measured)) if index is None else index)
        named = None if names is None else [str(name) for name in names]
        distances = measured[np.arange(len(codes)), codes]
        display = cls(distances, codes, estimator.classes_, estimator.n_features_in_, named)
        return display.plot(**kwargs)

    def plot(self, ax: Any = None, *, legend: bool = True) -> OutlyingnessDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        legend : bool
        """
        self.figure_, self.ax_ = style.canvas(ax, (6.8, 4.4))
        ax = self.ax_
        self.limit_ = float(np.sqrt(chi2.ppf(INNER, self.n_columns)))
        self.beyond_ = np.full(len(self.classes), np.nan)
        colours = style.class_colours(self.classes, self.classes)
        expected_of, places_of = {}, {}
        for k in range(len(self.classes)):
            mine = np.flatnonzero(self.codes == k)
            if not len(mine):
                continue
            order = mine[np.argsort(self.distances[mine], kind="stable")]
            chance = (np.arange(len(order)) + 0.5) / len(order)
            expected = np.sqrt(chi2.ppf(chance, self.n_columns))
            expected_of[k], places_of[k] = expected, order
            self.beyond_[k] = np.mean(self.distances[mine] > self.limit_)
            ax.plot(
                expected,
                self.distances[order],
                linestyle="none",
                marker=style.marker(k),
                markersize=4.5,
                markerfacecolor=style.tint(colours[k], 0.6),
                markeredgecolor=colours[k],
                markeredgewidth=0.6,
                label=f"{style.written(self.classes[k])}  ({self.beyond_[k]:.1%} beyond)",
            )
        self._frame(ax, expected_of)
        if self.names is not None:
            self._name_farthest(ax, expected_of, places_of)
        if legend:
            handles, labels = ax.get_legend_handles_labels()
            style.legend_beside(ax, handles, labels, "class")
        return self

    def _frame(self, ax: Any, expected_of: dict[int, np.ndarray]) -> None:
        """Axes on a logarithmic scale, the diagonal and the limit."""
        seen = self.distances[self.distances > 0]
        low = min([seen.min(initial=self.limit_), *[e[0] for e in expected_of.values()]])
        high = max([seen.max(initial=self.limit_), *[e[-1] for e in expected_of.values()]])
        ax.set_xscale("log")
        ax.set_yscale("log")
        ends = [max(low, 1e-3 * self.limit_) / 1.1, high * 1.15]
        right = max([self.limit_, *[e[-1] for e in expected_of.values()]]) * 1.1
        ax.plot([ends[0], right], [ends[0], right], color=style.QUIET, linewidth=0.9, zorder=0)
        ax.axhline(self.limit_, color=style.INK, linewidth=0.9, linestyle=":", zorder=0)
        ax.set_xlim(ends[0], right)
        ax.set_ylim(*ends)
        _plain_ticks(ax.xaxis, ends[0], right)
        _plain_ticks(ax.yaxis, *ends)
        ax.set_xlabel("distance that a Gaussian row of this rank would have")
        ax.set_ylabel("robust distance from the own class")

    def _name_farthest(
        self, ax: Any, expected_of: dict[int, np.ndarray], places_of: dict[int, np.ndarray]
    ) -> None:
        """Names left of the farthest rows, as far as they lie beyond the limit."""
        assert self.names is not None
        rows = np.concatenate(list(places_of.values()))
        at = np.concatenate([expected_of[k] for k in places_of])
        far = np.argsort(-self.distances[rows], kind="stable")[:NAMED]
        far = far[self.distances[rows[far]] > self.limit_]
        if not len(far):
            return
        low, high = np.log10(ax.get_ylim())
        heights = np.log10(self.distances[rows[far]])
        line = 0.045 * (high - low)
        beside = style.spread(heights, np.full(len(far), line), low, high)
        x = float(at[far].min()) * 0.9
        for i, y in zip(far, beside, strict=True):
            ax.annotate(
                style.written(self.names[rows[i]], 16, 1),
                (at[i], self.distances[rows[i]]),
                xytext=(x, 10.0**y),
                ha="right",
                va="center",
                fontsize="x-small",
                color=style.INK,
                arrowprops={"arrowstyle": "-", "color": style.FAINT, "shrinkB": 3.0},
                zorder=0,
            )


def _plain_ticks(axis: Any, low: float, high: float) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, written out; every third where there are many."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(powers) <= 4 else (1.0,)
    ticks = [step * 10.0**power for power in powers for step in steps]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
