"""How the expected gain moves with one entry of the gain, or with the prior of one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule import decide
from bayesrule.displays import style
from bayesrule.displays.sources import (
    as_rule_sees,
    chosen_estimator,
    codes_of,
    final_rule,
    memberships_in,
)
from bayesrule.displays.sweeps import Sample, Sweep, curve
from bayesrule.gains import resolve_gain
from bayesrule.memberships import read_target
from bayesrule.priors import given_priors


@dataclass(eq=False, repr=False)
class GainCurveDisplay:
    """Expected gain against one entry of the gain, or against the prior of one class.

    Each rule is judged by the rates P(decision | class) it has on the given rows, under the priors
    and the gain of each point of the curve:

        sum over classes k of   prior[k] * sum over decisions d of   P(d | k) * gain[k, d]

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    values : ndarray of shape (m,)
        Values of the entry, or of the prior.
    adapted : ndarray of shape (m,)
        Expected gain of the rule that is made anew for each value (``with_rule``).
    fixed : ndarray of shape (m,)
        Expected gain of the rule as it was fitted.
    constants : ndarray of shape (m, A)
        Expected gain of taking one decision always.
    shares : ndarray of shape (m, A)
        Share of each decision of the rule that adapts.
    flips : ndarray of shape (f,)
        Values at which a decision comes into use or goes out of it.
    fitted : float
        Value of the entry, or of the prior, in the fitted rule.
    fitted_gain : float
        Expected gain of the fitted rule at that value.
    decisions : ndarray of shape (A,)
    classes : ndarray of shape (K,)
    entry : pair (true class, decision), default=None
        The entry that moves.
    prior_of : label, default=None
        The class whose prior moves.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    band_ax_ : matplotlib Axes or None
        The band of shares.
    """

    values: np.ndarray
    adapted: np.ndarray
    fixed: np.ndarray
    constants: np.ndarray
    shares: np.ndarray
    flips: np.ndarray
    fitted: float
    fitted_gain: float
    decisions: np.ndarray
    classes: np.ndarray
    entry: tuple[Any, Any] | None = None
    prior_of: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        entry: tuple[Any, Any] | None = None,
        prior_of: Any = None,
        values: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> GainCurveDisplay:
        """Judge a fitted rule on rows with known classes and draw the curve.

        Parameters
        ----------
        estimator : fitted BayesClassifier, or a pipeline or search that ends in one
        X : array or frame of shape (n, D)
            Best rows that were not fitted.
        y : array of n labels, or (n, K) soft labels
        entry : pair (true class, decision), default=None
            The entry of the gain that moves. Give this or ``prior_of``.
        prior_of : label, default=None
            The class whose prior moves; the others keep their proportions.
        values : array of numbers, default=None
            By default 101 of them: priors from 0 to 1, or gains on both sides of the fitted one.
        sample_weight : array of n numbers, default=None
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import BayesClassifier
        >>> from bayesrule.displays import GainCurveDisplay
        >>> X, y = [[0.0], [1.0], [2.0], [2.5], [3.5], [4.5]], ["no"] * 3 + ["yes"] * 3
        >>> clf = BayesClassifier().fit(X, y)
        >>> display = GainCurveDisplay.from_estimator(clf, X, y, prior_of="yes")
        >>> display.fitted, display.fitted_gain == clf.score(X, y)
        (0.5, True)
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        rows = as_rule_sees(estimator, X)
        sample = Sample(rule.log_density(rows), rule.classes_, y, sample_weight)
        decided = codes_of(rule.predict(rows), rule.decisions_)
        sweep = Sweep(rule.priors_, rule.gain_, rule.decisions_, rule.classes_, entry, prior_of)
        return cls(**curve(sample, decided, sweep, values)).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any = None,
        *,
        log_density: Any = None,
        classes: Any = None,
        gain: Any = None,
        priors: Any = "empirical",
        entry: tuple[Any, Any] | None = None,
        prior_of: Any = None,
        values: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> GainCurveDisplay:
        """Judge the rule that posteriors or log-densities give, and draw the curve.

        Parameters
        ----------
        y_true : array of n labels, or (n, K) soft labels
        y_proba : array of shape (n, K), default=None
            Posteriors that hold under ``priors``. Give these or ``log_density``.
        log_density : array of shape (n, K), default=None
            Log-densities of the classes, up to a term common to a row.
        classes : array of shape (K,), default=None
            Labels of the columns; by default those in ``y_true``, sorted.
        gain : as in :class:`~bayesrule.BayesClassifier`
        priors : "empirical", "uniform", array of shape (K,) or dict
            Priors of the fitted rule; "empirical" are the class shares of ``y_true``.
        entry, prior_of, values, sample_weight, ax, **kwargs
            As in :meth:`from_estimator`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule.displays import GainCurveDisplay
        >>> proba = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]
        >>> display = GainCurveDisplay.from_predictions(
        ...     ["a", "b", "a", "b"], proba, entry=("b", "a"), values=[-2, -1, 0]
        ... )
        >>> display.fixed
        array([0. , 0.25, 0.5 ])
        """
        if (y_proba is None) == (log_density is None):
            raise ValueError("Give either y_proba or log_density, and not both.")
        labels = read_target(y_true).classes if classes is None else np.asarray(classes)
        if len(labels) > 1 and (labels[1:] <= labels[:-1]).any():
            raise ValueError(
                f"classes must be sorted and distinct, but are {labels.tolist()}. Sort them, and "
                "the columns of the probabilities with them."
            )
        columns = np.asarray(y_proba if log_density is None else log_density, dtype=float)
        if columns.ndim != 2 or columns.shape[1] != len(labels):
            raise ValueError(
                f"{'y_proba' if log_density is None else 'log_density'} has shape "
                f"{columns.shape}; expected one column for each of the classes {labels.tolist()}."
            )
        known = memberships_in(labels, y_true, len(columns), sample_weight)
        prior = given_priors(priors, known.totals(), labels)
        if log_density is None:
            columns = _log_ratio(columns, prior)
        matrix, decisions = resolve_gain(gain, labels)
        sample = Sample(columns, labels, y_true, sample_weight)
        decided, _ = decide.best_decisions(columns, prior, matrix)
        sweep = Sweep(prior, matrix, decisions, labels, entry, prior_of)
        return cls(**curve(sample, decided, sweep, values)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, shares: bool = True, **kwargs: Any) -> GainCurveDisplay:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        shares : bool
            Whether to draw the band of shares above the curve.
        **kwargs
            Passed to ``ax.plot``, which draws the curve of the rule that adapts.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.2, 4.6))
        ax = self.ax_
        colours = style.decision_colours(self.decisions, self.classes)
        low, high = self._limits()
        ends: list[tuple[float, str, Any]] = []
        for d in self._worthwhile():
            line = self.constants[:, d]
            ax.plot(self.values, line, color=colours[d], linewidth=1, linestyle=(0, (4, 2)))
            if low <= line[-1] <= high:
                label = "always " + style.written(self.decisions[d], 18)
                ends.append((line[-1], label, style.shade(colours[d], 0.2)))
        ax.plot(self.values, self.fixed, color=style.QUIET, linewidth=1.6)
        look = {"color": style.INK, "linewidth": 2.2, **kwargs}
        ax.plot(self.values, self.adapted, **look)
        ends.append((self.fixed[-1], "rule as fitted", style.QUIET))
        ends.append((self.adapted[-1], "rule that adapts", look["color"]))
        if self.values[0] <= self.fitted <= self.values[-1]:
            ax.axvline(self.fitted, color=style.FAINT, linewidth=1, zorder=0)
            ax.plot(self.fitted, self.fitted_gain, "o", color=style.INK, markersize=6, zorder=4)
            ax.annotate(
                f"fitted: {style.number(self.fitted)}",
                (self.fitted, 0.0),
                xytext=(4, 5),  # clear of the axis, which its background would hide
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                fontsize="small",
                color=style.QUIET,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8},
            )
        ax.set(
            xlim=(self.values[0], self.values[-1]),
            ylim=(low, high),
            xlabel=self._moving(),
            ylabel="expected gain per case",
        )
        self._label_ends(ends)
        self.band_ax_ = self._draw_shares(colours) if shares else None
        return self

    def _moving(self) -> str:
        """What the horizontal axis is."""
        if self.entry is None:
            return f"prior of {style.quoted(self.prior_of)}"
        true, decision = self.entry
        parts = f"gain of deciding {style.quoted(decision)}", f"where {style.quoted(true)} is true"
        return (" " if len("".join(parts)) <= 70 else "\n").join(parts)

    def _worthwhile(self) -> list[int]:
        """Constant decisions to draw: all of a few, else those that are the best one somewhere."""
        n = self.constants.shape[1]
        if n <= 4:
            return list(range(n))
        return np.unique(self.constants.argmax(axis=1)).tolist()

    def _limits(self) -> tuple[float, float]:
        """Heights to show: the two rules and the best constant decision, with a margin."""
        heights = np.concatenate([self.adapted, self.fixed, self.constants.max(axis=1)])
        low, high = float(heights.min()), float(heights.max())
        margin = 0.06 * (high - low) or 0.5
        return low - margin, high + margin

    def _label_ends(self, ends: list[tuple[float, str, Any]]) -> None:
        """Name the lines at their right ends, moved apart where they would overlap."""
        ax = self.ax_
        low, high = ax.get_ylim()
        inches = ax.get_position().height * ax.figure.get_size_inches()[1]
        line = 0.17 / inches * (high - low)
        sizes = np.array([line * (1 + label.count("\n")) for _, label, _ in ends])
        heights = style.spread(np.array([at for at, _, _ in ends]), sizes, low, high)
        for height, (_, label, colour) in zip(heights, ends, strict=True):
            ax.annotate(
                label,
                (1.0, height),
                xytext=(5, 0),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                va="center",
                fontsize="small",
                color=colour,
                annotation_clip=False,
            )

    def _draw_shares(self, colours: list[str]) -> Any:
        """A thin band of the shares of decisions above the curve, with its legend."""
        from matplotlib.patches import Patch

        band = self.ax_.inset_axes([0.0, 1.05, 1.0, 0.1], sharex=self.ax_)
        style.tidy(band, sides=())
        band.set(yticks=[], ylim=(0, 1))
        band.tick_params(labelbottom=False, bottom=False)
        tints = [style.tint(c, 0.6) for c in colours]
        band.stackplot(self.values, self.shares.T, colors=tints, linewidth=0)
        # Near an end of the axis nearly every sweep of a prior flips: to one class, or without it.
        low, high = self.values[[0, -1]]
        inside = np.minimum(self.flips - low, high - self.flips) > 0.005 * (high - low)
        flips = self.flips[inside]
        caret = {"marker": 6, "markersize": 4, "color": style.QUIET, "linestyle": "none"}
        band.plot(flips, np.full(len(flips), -0.06), clip_on=False, **caret)
        used = np.flatnonzero(self.shares.max(axis=0) > 0)
        names = [style.written(self.decisions[d], 24, 1) for d in used]
        widths = [len(name) + 5 for name in names]  # in letters, with the patch and the gap
        per_row = len(used) if sum(widths) <= 90 else max(1, 90 // max(widths))
        band.legend(
            [Patch(color=tints[d], linewidth=0) for d in used],
            names,
            title="shares of decisions as the rule adapts"
            + (" (▴ where one comes into use or drops out)" if len(flips) else ""),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=per_row,
            frameon=False,
            alignment="left",
            borderaxespad=0.2,
            borderpad=0,
            fontsize="small",
            title_fontsize="small",
            handlelength=1.2,
            columnspacing=1.2,
        )
        return band


def _log_ratio(proba: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Log-densities up to a row's term: log posterior minus log prior; nothing without a prior."""
    if not np.isfinite(proba).all() or (proba < 0).any():
        raise ValueError("y_proba must be finite and not negative.")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(proba) - np.log(priors)
    return np.where(priors > 0, ratio, -np.inf)
