"""What each feature of one row says for a class against another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy.special import expit, logit

from bayesrule.decide import log_of
from bayesrule.displays import style
from bayesrule.displays.sources import as_rule_sees, chosen_estimator, final_rule, place_of
from bayesrule.tables import column_names

#: Probabilities that the upper axis may name, besides those as far on the other side of one half.
NAMED = (0.5, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 0.75, 0.6, 0.55)
#: Height of a bar, in rows.
BAR = 0.62


@dataclass(eq=False, repr=False)
class ContributionDisplay:
    """Weights of evidence of one row's features: from the prior to the posterior, bar by bar.

    Each bar begins where the one above ends, so that their ends are the running log odds. The
    upper axis tells them as probabilities of the class, given that it is one of the two.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    features : list of str
        Features with their values; of the words of a text, those that it has.
    weights : ndarray of shape (F,)
        log p(x_f | class) - log p(x_f | other class); infinite where a value rules one out.
    log_prior_odds, log_posterior_odds : float
    probability : float
        Posterior of the class among all classes.
    label, against : label
        The class and the other class.
    colours : tuple of two str

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : list of matplotlib rectangles
        Prior, features, the other features where there are any, and posterior.
    """

    features: list[str]
    weights: np.ndarray
    log_prior_odds: float
    log_posterior_odds: float
    probability: float
    label: Any
    against: Any
    colours: tuple[str, str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        row: int = 0,
        label: Any = None,
        against: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ContributionDisplay:
        """Weigh the features of one row by a fitted rule and draw them.

        Parameters
        ----------
        estimator : fitted BayesClassifier, or a search or pipeline that ends in one
            Its density must factor over features or blocks of them.
        X : array or frame of shape (n, D), or n texts
        row : int
            Which row of X.
        label : label, default=None
            The class that evidence is for; the most probable one by default.
        against : label, default=None
            The class that it is against; by default the most probable of the others. With several
            classes, evidence for one against the rest together is no sum over features.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import BayesClassifier, Categorical
        >>> from bayesrule.displays import ContributionDisplay
        >>> X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
        >>> clf = BayesClassifier(Categorical()).fit(X, ["apple", "apple", "bean", "bean"])
        >>> display = ContributionDisplay.from_estimator(clf, [["green", "long"]])
        >>> display.features, display.weights.round(2)
        (['x0 = green', 'x1 = long'], array([1.1 , 0.41]))
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        one = _one_row(as_rule_sees(estimator, X), row)
        terms = rule.contributions(one)[0]
        posterior = rule.predict_proba(one)[0]
        classes = rule.classes_
        if len(classes) < 2:
            raise ValueError("There is only one class, so there is nothing to weigh.")
        ranked = np.argsort(-posterior, kind="stable")
        stated = [None if c is None else place_of(c, classes, "class") for c in (label, against)]
        free = [k for k in ranked.tolist() if k not in stated]
        k, other = (free.pop(0) if place is None else place for place in stated)
        if k == other:
            raise ValueError(f"label and against are both {label!r}; choose two classes.")
        with np.errstate(invalid="ignore"):
            weights = terms[k] - terms[other]
            prior, after = (log_of(p[k]) - log_of(p[other]) for p in (rule.priors_, posterior))
        # A value that rules out both classes tells nothing between them.
        weights = np.where(np.isnan(weights), 0.0, weights)
        features, is_word = _described(rule.contribution_names_, rule.log_density_, one)
        there = np.flatnonzero(~is_word | (weights != 0))
        with np.errstate(invalid="ignore"):
            total = prior + weights.sum()
        colours = style.class_colours(classes, rule.decisions_)
        display = cls(
            [features[f] for f in there],
            weights[there],
            float(prior),
            float(after if np.isnan(total) else total),
            float(posterior[k]),
            classes.tolist()[k],
            classes.tolist()[other],
            (colours[k], colours[other]),
        )
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, top: int = 10, **kwargs: Any) -> ContributionDisplay:
        """Draw the bars, the weightiest feature first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        top : int
            How many features get a bar of their own; the others share one.
        **kwargs
            Passed to ``ax.barh``.
        """
        if top < 1:
            raise ValueError(f"top={top!r} must be at least 1.")
        order = np.argsort(-np.abs(self.weights), kind="stable")
        shown, rest = order[:top], order[top:]
        if len(rest) == 1:  # a bar for "1 other" takes as much room as its own
            shown, rest = order, rest[:0]
        endless = np.isinf(self.weights[shown])
        names = ["prior", *(self.features[f] for f in shown[~endless])]
        steps = [self.log_prior_odds, *self.weights[shown[~endless]]]
        if len(rest):
            names.append(f"{len(rest):,} other features")
            steps.append(float(self.weights[rest].sum()))
        # After a value that rules a class out, nothing else would move the total.
        names += [self.features[f] for f in shown[endless]]
        steps += [*self.weights[shown[endless]]]
        self.figure_, self.ax_ = style.canvas(ax, (7.6, 1.7 + 0.34 * (len(names) + 1)))
        low, high = self._limits(np.array(steps))
        self.bars_: list[Any] = []
        start, last = 0.0, len(names) + 0.35
        tops = [*range(1, len(names)), last]
        for y, (step, below) in enumerate(zip(steps, tops, strict=True)):
            stop = float(np.clip(start + step, low, high))
            self._draw_bar(y, start, stop, step, 0.45 if y == 0 else 0.75, kwargs)
            joint = [y + BAR / 2, below - BAR / 2]
            self.ax_.plot([stop, stop], joint, color=style.QUIET, linewidth=0.8, zorder=1)
            start = stop
        stop = float(np.clip(self.log_posterior_odds, low, high))
        self._draw_bar(last, 0.0, stop, self.log_posterior_odds, 1.0, kwargs)
        self._draw_frame([*names, "posterior"], last, low, high)
        return self

    def _limits(self, steps: np.ndarray) -> tuple[float, float]:
        """The range of the running total, with room for numbers at both sides."""
        ends = np.cumsum(np.where(np.isfinite(steps), steps, 0.0))
        points = np.array([0.0, *ends, *steps[np.isinf(steps)], self.log_posterior_odds])
        finite = points[np.isfinite(points)]
        low, high = float(finite.min()), float(finite.max())
        width = max(high - low, 1.0)
        low -= 0.16 * width * (1 + bool((points == -np.inf).any()))
        high += 0.16 * width * (1 + bool((points == np.inf).any()))
        return low, high

    def _draw_bar(
        self, y: float, start: float, stop: float, weight: float, strength: float, kwargs: Any
    ) -> None:
        """One bar with its number beyond its end."""
        from matplotlib.patheffects import withStroke

        hue = self.colours[0] if weight > 0 else self.colours[1]
        look = {"height": BAR, "color": style.tint(hue, strength), "zorder": 2, **kwargs}
        self.bars_ += self.ax_.barh(y, stop - start, left=start, **look)
        ahead = weight >= 0
        inside = np.isinf(weight)  # such a bar ends at the edge
        number = self.ax_.annotate(
            signed(weight),
            (stop, y),
            xytext=(4 if ahead != inside else -4, 0),
            textcoords="offset points",
            ha="left" if ahead != inside else "right",
            va="center",
            fontsize="small",
            fontweight="bold" if strength == 1.0 else "normal",
            color=style.readable_on(style.tint(hue, strength)) if inside else style.INK,
            zorder=4,
        )
        if not inside:  # lines that cross the number stay away from it
            number.set_path_effects([withStroke(linewidth=2.5, foreground="white")])

    def _draw_frame(self, names: list[str], last: float, low: float, high: float) -> None:
        """Names of the rows, both axes, and which side speaks for which class."""
        ax = self.ax_
        style.tidy(ax, sides=("bottom",))
        ax.axvline(0.0, color=style.INK, linewidth=0.9, zorder=3)
        ax.axhline(last - 0.68, color=style.FAINT, linewidth=0.9, zorder=0)
        places = [*range(len(names) - 1), last]
        ax.set(xlim=(low, high), ylim=(last + 0.6, -0.65), yticks=places)
        ax.set_yticklabels([style.written(name, 40, 1) for name in names])
        ax.tick_params(axis="y", length=0)
        for tick, name in zip(ax.get_yticklabels(), names, strict=True):
            tick.set_color(style.INK if name != "prior" else style.QUIET)
        ax.get_yticklabels()[-1].set_fontweight("bold")
        one, other = (style.quoted(c, 22) for c in (self.label, self.against))
        ax.set_xlabel(f"log odds of {one} against {other}", color=style.INK)
        upper = ax.secondary_xaxis("top")
        marks = named_probabilities(low, high)
        upper.set_xticks(logit(marks), [in_percent(p) for p in marks])
        upper.tick_params(color=style.FAINT, labelcolor=style.QUIET, labelsize="small")
        upper.spines["top"].set_color(style.FAINT)
        for mark in logit(marks):
            ax.axvline(mark, color=style.FAINT, linewidth=0.6, zorder=0)
        share = in_percent(self.probability)
        if min(self.probability, 1 - self.probability) < 5e-6 and np.isfinite(
            self.log_posterior_odds
        ):
            share = "over 99.999%" if self.probability > 0.5 else "under 0.001%"
        ax.set_title(
            f"{one} with probability {share}",
            loc="left", pad=42, fontsize="medium", color=style.INK,
        )  # fmt: skip
        for x, side, colour, text in (
            (1.0, "right", self.colours[0], f"for {one} →"),
            (0.0, "left", self.colours[1], f"← for {other}"),
        ):
            ax.annotate(
                text, (x, 1.0), xycoords="axes fraction", xytext=(0, 21),
                textcoords="offset points", ha=side, va="bottom", fontsize="small",
                color=style.shade(colour, 0.15), annotation_clip=False,
            )  # fmt: skip


def signed(weight: float) -> str:
    """A weight with its sign, of the width of the other."""
    if np.isinf(weight):
        return "+∞" if weight > 0 else "−∞"
    if abs(weight) >= 1e6:
        return f"{weight:+.1e}".replace("-", "−")
    text = f"{weight:+.2f}" if abs(weight) < 99.5 else f"{weight:+,.0f}"
    return "0" if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def in_percent(probability: float) -> str:
    """A probability in percent; as many digits as it takes to differ from 0 and 100."""
    if probability in (0.0, 1.0):
        return f"{100 * probability:.0f}%"
    far = min(probability, 1.0 - probability)
    if far < 0.5e-5:
        power = str(round(np.log10(max(far, 1e-300)))).replace("-", "").translate(RAISED)
        return f"10⁻{power}" if probability < 0.5 else f"1 − 10⁻{power}"
    digits = max(0, int(np.ceil(-np.log10(far) - 2 - 1e-9)))
    return f"{100 * probability:.{digits}f}%"


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def named_probabilities(low: float, high: float) -> np.ndarray:
    """Probabilities with log odds in the range, far enough apart for their labels."""
    found: list[float] = []
    for p in NAMED:
        for mark in {p, 1.0 - p}:
            at = float(logit(mark))
            clear = all(abs(at - logit(q)) > 0.11 * (high - low) for q in found)
            if low < at < high and clear:
                found.append(mark)
    if not found:  # far from one half
        found = [float(expit(0.5 * (low + high)))]
    return np.sort(found)


def _one_row(X: Any, row: int) -> Any:
    """One row of X, as X of one row."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if not -n_rows <= row < n_rows:
        raise ValueError(f"row={row} is not there: X has {n_rows} rows.")
    row %= n_rows
    if column_names(X) is not None:
        return nw.to_native(nw.from_native(X, eager_only=True)[[row]])
    return X[row : row + 1]


def _described(names: list[str], law: Any, one: Any) -> tuple[list[str], np.ndarray]:
    """Features with their values, "town = Paris", and which of them are no columns but words."""
    sources = [(name,) for name in names] if law.sources is None else law.sources
    if law.features is not None and law.sources is None:
        return [f"“{name}”" for name in names], np.ones(len(names), bool)
    known = column_names(one)
    if known is not None:
        frame = nw.from_native(one, eager_only=True)
        values = {name: frame[:, j].to_list()[0] for j, name in enumerate(known)}
    else:
        cells = one.toarray()[0] if hasattr(one, "toarray") else list(one[0])
        labels = names if len(names) == len(cells) else [f"x{j}" for j in range(len(cells))]
        values = dict(zip(labels, cells, strict=True))
    described = []
    for name, columns in zip(names, sources, strict=True):
        texts = [_value(values[column]) for column in columns]
        if all(text is None for text in texts):
            described.append(f"{name} missing")
        else:
            shown = ", ".join("missing" if text is None else text for text in texts)
            described.append(f"{name} = {shown}")
    return described, np.zeros(len(names), bool)


def _value(value: Any) -> str | None:
    """A value in a few letters; None where it is missing."""
    if value is None or value != value or str(value) == "<NA>":
        return None
    if isinstance(value, (float, np.floating)):
        return f"{value:.5g}".replace("-", "−")
    return str(value)
