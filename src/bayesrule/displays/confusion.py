"""How often each class meets each decision."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.displays import style
from bayesrule.displays.sources import codes_of, memberships_in
from bayesrule.gains import decision_classes
from bayesrule.memberships import read_target
from bayesrule.priors import given_priors
from bayesrule.valuation import listed

#: Room between the decisions that are classes and the others, in widths of a cell.
GAP = 0.3


@dataclass(eq=False, repr=False)
class ConfusionDisplay:
    """The joint P(true class, decision): a row per class, a column per decision.

    Make one with :meth:`from_evaluation`, :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    confusion : ndarray of shape (K, A)
        Joint probabilities; they sum to one.
    classes : ndarray of shape (K,)
    decisions : ndarray of shape (A,)

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    text_ : ndarray of shape (K, A)
        The numbers as matplotlib texts.
    """

    confusion: np.ndarray
    classes: np.ndarray
    decisions: np.ndarray

    @classmethod
    def from_evaluation(cls, evaluation: Any, *, ax: Any = None, **kwargs: Any) -> ConfusionDisplay:
        """Draw the joint confusion of an :class:`~bayesrule.Evaluation`."""
        display = cls(
            np.asarray(evaluation.confusion, dtype=float),
            np.asarray(evaluation.classes),
            np.asarray(evaluation.decisions),
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        priors: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConfusionDisplay:
        """Evaluate a fitted rule on rows with known classes and draw the joint confusion.

        Parameters
        ----------
        estimator : fitted BayesClassifier
        X : array or frame of shape (n, D)
        y : array of n labels
        priors : None, array of shape (K,) or dict
            Chances of the classes where the rule will be used; None: those of the rule.
        sample_weight : array of n numbers, default=None
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.
        """
        from bayesrule.evaluation import evaluate

        evaluation = evaluate(estimator, X, y, priors=priors, sample_weight=sample_weight)
        return cls.from_evaluation(evaluation, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_decided: Any,
        *,
        classes: Any = None,
        decisions: Any = None,
        priors: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConfusionDisplay:
        """Count decisions per class and draw their joint probabilities.

        Parameters
        ----------
        y_true : array of n labels, or (n, K) soft labels
        y_decided : array of n decisions
        classes : array of shape (K,), default=None
            By default those in ``y_true``.
        decisions : array of shape (A,), default=None
            By default the classes, then other decisions as they first appear.
        priors : None, "uniform", array of shape (K,) or dict
            Chances of the classes to count with; None: their shares of the rows.
        sample_weight : array of n numbers, default=None
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule.displays import ConfusionDisplay
        >>> display = ConfusionDisplay.from_predictions(
        ...     ["ill", "ill", "well", "well"],
        ...     ["ill", "refer", "well", "refer"],
        ...     priors={"ill": 0.1, "well": 0.9},
        ... )
        >>> display.decisions.tolist(), display.confusion
        (['ill', 'well', 'refer'], array([[0.05, 0. , 0.05],
               [0. , 0.45, 0.45]]))
        """
        labels = read_target(y_true).classes if classes is None else np.unique(classes)
        decided = listed(y_decided)
        if decisions is None:
            found = dict.fromkeys(decided)
            everyone = [*labels.tolist(), *(d for d in found if d not in labels.tolist())]
        else:
            everyone = listed(decisions)
        names = np.empty(len(everyone), dtype=object)
        names[:] = everyone
        known = memberships_in(labels, y_true, len(decided), sample_weight)
        totals = known.totals()
        prior = given_priors("empirical" if priors is None else priors, totals, labels)
        bad = np.flatnonzero((totals == 0) & (prior > 0))
        if len(bad):
            raise ValueError(
                f"No row (of positive weight) has class {labels.tolist()[bad[0]]!r}, whose "
                f"prior is {prior[bad[0]]:.3g}: nothing tells how it would be decided."
            )
        rows, codes, weights = known.entries()
        counts = np.zeros((len(labels), len(names)))
        np.add.at(counts, (codes, codes_of(decided, names)[rows]), weights)
        rates = counts / np.where(totals > 0, totals, 1.0)[:, None]
        return cls(prior[:, None] * rates, labels, names).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, per: int = 1000, totals: bool = True, **kwargs: Any
    ) -> ConfusionDisplay:
        """Draw the table.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        per : int
            Number of cases that the counts are out of; 100 shows percent.
        totals : bool
            Whether to write the sums of rows and columns beside the table.
        **kwargs
            Passed to ``ax.text``, which writes the numbers.
        """
        n_classes, n_decisions = self.confusion.shape
        cell = 0.85 if n_decisions <= 5 else 0.62
        size = (2.2 + cell * n_decisions, 1.7 + 0.72 * cell * n_classes)
        self.figure_, self.ax_ = style.canvas(ax, size)
        where = decision_classes(self.decisions, self.classes)
        aside = (where < 0) if (where >= 0).any() else np.zeros(n_decisions, dtype=bool)
        # Classes in one order along both sides, whatever the order of the gain's columns.
        order = np.argsort(np.where(where >= 0, where, n_classes), kind="stable")
        left = np.empty(n_decisions)
        left[order] = np.arange(n_decisions) + GAP * aside[order]
        self._draw_cells(left, where, aside, per, kwargs)
        self._draw_frame(left, per)
        if totals:
            self._draw_totals(left, per)
        return self

    def _draw_cells(
        self, left: np.ndarray, where: np.ndarray, aside: np.ndarray, per: int, kwargs: Any
    ) -> None:
        """Cells as strong as the square root of their share, which keeps rare errors visible."""
        from matplotlib.patches import Rectangle

        strength = np.sqrt(self.confusion / max(self.confusion.max(), 1e-300))
        self.text_ = np.empty(self.confusion.shape, dtype=object)
        for (k, d), share in np.ndenumerate(self.confusion):
            at = float(left[d])
            right = where[d] == k
            hue = style.hue(0)
            if aside[d]:
                hue = style.ASIDE
            elif (where >= 0).any() and not right:
                hue = style.hue(1)
            fill = style.tint(hue, strength[k, d])
            self.ax_.add_patch(
                Rectangle((at, k), 1, 1, facecolor=fill, edgecolor="white", linewidth=1.5)
            )
            if right:
                self.ax_.add_patch(
                    Rectangle(
                        (at + 0.03, k + 0.03),
                        0.94,
                        0.94,
                        facecolor="none",
                        edgecolor=style.shade(style.hue(0), 0.35),
                        linewidth=1.6,
                    )
                )
            ink = style.readable_on(fill) if share > 0 else style.NOTHING
            look = {"ha": "center", "va": "center", "color": ink, **kwargs}
            self.text_[k, d] = self.ax_.text(at + 0.5, k + 0.5, counted(share, per), **look)

    def _draw_frame(self, left: np.ndarray, per: int) -> None:
        """Names of classes and decisions, and what the numbers are."""
        ax = self.ax_
        style.tidy(ax, sides=())
        n_classes = len(self.classes)
        ax.set(
            xlim=(-0.02, left.max() + 1.02),
            ylim=(n_classes + 0.02, -0.02),
            xlabel="decision",
            ylabel="true class",
            yticks=np.arange(n_classes) + 0.5,
            xticks=left + 0.5,
        )
        ax.tick_params(length=0)
        ax.set_yticklabels([style.written(c, 22, 2) for c in self.classes])
        room = 11 if len(self.decisions) <= 5 else 8  # letters as wide as a cell
        wraps = [textwrap.wrap(str(d), room, break_long_words=False) for d in self.decisions]
        if any(len(lines) > 2 or max(map(len, lines), default=0) > room for lines in wraps):
            names = [style.written(d, 28, 2) for d in self.decisions]
            ax.set_xticklabels(names, rotation=35, ha="right", rotation_mode="anchor")
        else:
            ax.set_xticklabels([style.written(d, room, 2) for d in self.decisions])
        title = "percent of all cases" if per == 100 else f"of {per:,} cases"
        ax.set_title(title, loc="left", fontsize="medium", color=style.INK, pad=18)

    def _draw_totals(self, left: np.ndarray, per: int) -> None:
        """Sums of the rows, which are the priors, and of the columns."""
        look = {"color": style.QUIET, "fontsize": "small", "clip_on": False}
        for k, total in enumerate(self.confusion.sum(axis=1)):
            self.ax_.text(
                left.max() + 1.12, k + 0.5, counted(total, per), ha="left", va="center", **look
            )
        for d, total in enumerate(self.confusion.sum(axis=0)):
            self.ax_.text(
                left[d] + 0.5, -0.08, counted(total, per), ha="center", va="bottom", **look
            )


def counted(share: float, per: int) -> str:
    """A share as cases out of ``per``: whole numbers, with a digit more where they are small."""
    cases = share * per
    if cases == 0:
        return "0"
    if cases < 0.05:
        return "<0.1"
    return f"{cases:.1f}" if cases < 9.95 else f"{cases:,.0f}"
