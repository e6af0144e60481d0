"""Minimax priors in pictures: V over all priors of two or three classes, and risks side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.displays import style
from bayesrule.displays.sources import as_rule_sees, chosen_estimator, final_rule
from bayesrule.kernels.minimax import best_response
from bayesrule.minimax import Minimax, MinimaxSolution
from bayesrule.prior_comparison import PriorComparison, compare_priors, model_atoms

#: Atoms that a picture is drawn from at most: its lines are no finer.
DRAWN_ATOMS = 5000
#: Height of a triangle of unit side.
HEIGHT = np.sqrt(0.75)


@dataclass(eq=False, repr=False)
class PriorValueDisplay:
    """V(prior), the smallest expected loss of any rule, with its maximum marked.

    Over two classes V is a curve; the rule that was best for the training shares is a straight line
    that touches it there, and the randomised minimax rule a line through the maximum, level where
    the box leaves the prior free. Over three classes V is a map of the triangle of all priors.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    priors : ndarray of shape (m, K)
        Grid of priors.
    values : ndarray of shape (m,)
        V at each of them.
    solution : MinimaxSolution
        Where V is largest, within the box.
    bounds : ndarray of shape (K, 2)
        The box.
    shares : ndarray of shape (K,)
        Class shares of training.
    share_risks : ndarray of shape (K,)
        Class risks of the rule for these shares.
    classes : ndarray of shape (K,)

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    priors: np.ndarray
    values: np.ndarray
    solution: MinimaxSolution
    bounds: np.ndarray
    shares: np.ndarray
    share_risks: np.ndarray
    classes: np.ndarray

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        box: Any = None,
        on: str | None = None,
        grid_resolution: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PriorValueDisplay:
        """Compute V of a fitted rule's density and gain, and draw it.

        Parameters
        ----------
        estimator : fitted BayesClassifier of two or three classes, or a pipeline that ends in one
        X : array or frame, default=None
            Rows that the risks are taken over, where counts alone do not give them.
        box, on
            As in :class:`bayesrule.Minimax`. None is what the rule's own Minimax priors say, and no
            box and "regret" for a rule with other priors; ``box={}`` is no box in any case.
        grid_resolution : int, default=None
            Steps from one end of a prior to the other; None is 400 for two classes, 60 for three.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bayesrule import recipes
        >>> from bayesrule.displays import PriorValueDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> display = PriorValueDisplay.from_estimator(recipes.dbc(15).fit(X, y))
        >>> bool(display.solution.value >= display.values.max() - 1e-9)
        True
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        n_classes = len(rule.classes_)
        if n_classes not in (2, 3):
            raise ValueError(
                f"V(prior) is drawn for two or three classes, but there are {n_classes}. "
                "compare_priors tells the minimax prior and its risks for any number."
            )
        steps = grid_resolution or (400 if n_classes == 2 else 60)
        if steps < 2:
            raise ValueError(f"grid_resolution must be at least 2, but is {grid_resolution}.")
        rows = None if X is None else as_rule_sees(estimator, X)
        own = rule.priors if isinstance(rule.priors, Minimax) else Minimax()
        minimax = Minimax(own.box if box is None else box, on or own.on)
        atoms, losses, gain = model_atoms(rule, rows, minimax.on)
        solution = minimax.solve(atoms, gain, rule.classes_)
        drawn = atoms
        if len(atoms) > DRAWN_ATOMS:
            chosen = np.random.default_rng(0).choice(len(atoms), DRAWN_ATOMS, replace=False)
            drawn = atoms[chosen] / atoms[chosen].sum(axis=0)
        priors = _grid(n_classes, steps)
        values = np.array([p @ best_response(drawn, p, losses) for p in priors])
        shares = rule._learned.shares
        return cls(
            priors,
            values,
            solution,
            minimax.bounds(rule.classes_),
            shares,
            best_response(atoms, shares, losses),
            rule.classes_,
        ).plot(ax, **kwargs)

    def plot(self, ax: Any = None) -> PriorValueDisplay:
        """Draw the curve, or the map, on new or given axes."""
        if len(self.classes) == 2:
            self.figure_, self.ax_ = style.canvas(ax, (6.4, 4.2))
            self._draw_curve()
        else:
            self.figure_, self.ax_ = style.canvas(ax, (6.2, 5.0))
            self._draw_triangle()
        return self

    def _draw_curve(self) -> None:
        ax, at = self.ax_, self.priors[:, 1]
        low, high = self.bounds[1]
        low, high = max(low, 1.0 - self.bounds[0, 1]), min(high, 1.0 - self.bounds[0, 0])
        if (low, high) != (0.0, 1.0):
            ax.axvspan(low, high, color=style.FAINT, alpha=0.5, linewidth=0, zorder=0)
        blue, red, green = style.hue(0), style.hue(1), style.hue(2)
        lines = ax.plot(at, self.values, color=blue, linewidth=2.2, zorder=3)
        names = ["V, the best rule for each prior"]
        fixed, levelled = self.share_risks, self.solution.randomised_class_risks
        for risks, colour, dash, name in (
            (fixed, red, (0, (5, 2)), "rule for the training shares"),
            (levelled, green, (0, (1.5, 1.5)), "randomised minimax rule"),
        ):
            lines += ax.plot(at, self.priors @ risks, color=colour, linestyle=dash, linewidth=1.8)
            names.append(name)
        share, best = float(self.shares[1]), float(self.solution.priors[1])
        touch = float(self.shares @ fixed)
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.8, "zorder": 4, "ls": "none"}
        lines += ax.plot(share, touch, "o", color=red, markersize=7, **edge)
        lines += ax.plot(best, self.solution.value, "*", color=style.INK, markersize=14, **edge)
        within = "minimax prior" + (" in the shaded box" if (low, high) != (0.0, 1.0) else "")
        names += [f"training shares ({share:.2f})", f"{within} ({best:.2f})"]
        top = 1.15 * max(self.values.max(), self.solution.value, fixed.max(), levelled.max())
        ax.set(xlim=(0, 1), ylim=(0, top if top > 0 else 1.0))
        ax.set_xlabel(f"prior of {style.quoted(self.classes[1])}")
        ax.set_ylabel("expected loss by the model")
        style.legend_beside(ax, lines, names, "")

    def _draw_triangle(self) -> None:
        ax, points = self.ax_, _corners_of(self.priors)
        filled = ax.tricontourf(*points.T, self.values, levels=14, cmap="Blues")
        ax.tricontour(*points.T, self.values, levels=14, colors="white", linewidths=0.5)
        bar = self.figure_.colorbar(filled, ax=ax, shrink=0.75, pad=0.12)
        bar.set_label("V, the expected loss of the best rule")
        bar.outline.set_visible(False)
        frame = _corners_of(np.eye(3)[[0, 1, 2, 0]])
        ax.plot(*frame.T, color=style.QUIET, linewidth=1.0)
        boxed = bool((self.bounds != [0.0, 1.0]).any())
        within = "minimax prior" + (" in the dashed box" if boxed else "")
        polygon = _box_polygon(self.bounds)
        if len(polygon):
            inside = _corners_of(np.vstack([polygon, polygon[:1]]))
            ax.plot(*inside.T, color=style.INK, linewidth=1.2, linestyle=(0, (4, 2)))
        marks = []
        for where, sign, colour, size in (
            (self.shares, "o", style.hue(1), 8),
            (self.solution.priors, "*", style.INK, 15),
        ):
            at = _corners_of(where[None])[0]
            marks += ax.plot(*at, sign, color=colour, markersize=size, markeredgecolor="white")
        names = [
            f"{name}\n({', '.join(f'{p:.2f}' for p in where)})"
            for name, where in (
                ("training shares", self.shares),
                (within, self.solution.priors),
            )
        ]
        ax.legend(marks, names, loc="upper left", frameon=False, bbox_to_anchor=(-0.12, 1.06))
        for k, (x, y) in enumerate(_corners_of(np.eye(3))):
            low = y < 0.5 * HEIGHT
            text = f"all {style.written(self.classes[k], 18, 1)}"
            ax.annotate(
                text,
                (x, y),
                (0, -8 if low else 6),
                textcoords="offset points",
                ha="center",
                va="top" if low else "bottom",
            )
        ax.set(xlim=(-0.08, 1.08), ylim=(-0.1, HEIGHT + 0.08), aspect="equal")
        ax.axis("off")


@dataclass(eq=False, repr=False)
class PriorComparisonDisplay:
    """Class risks of several rules, a row each: observed ones filled, the model's hollow.

    Parameters
    ----------
    comparison : PriorComparison

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    """

    comparison: PriorComparison

    @classmethod
    def from_comparison(cls, comparison: PriorComparison, **kwargs: Any) -> PriorComparisonDisplay:
        """Draw what :func:`bayesrule.compare_priors` found."""
        return cls(comparison).plot(**kwargs)

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any, **settings: Any) -> PriorComparisonDisplay:
        """Compare priors as :func:`bayesrule.compare_priors` does, and draw the result."""
        return cls.from_comparison(compare_priors(clf, X, y, **settings))

    def plot(self, axes: Any = None) -> PriorComparisonDisplay:
        """Draw on a new figure, or on two axes side by side: priors, and class risks."""
        found = self.comparison
        if axes is None:
            plt = style.pyplot()
            size = (9.0, 1.5 + 0.5 * len(found.rules))
            shape = {"width_ratios": [1, 1.6]}
            _, axes = plt.subplots(
                1, 2, sharey=True, figsize=size, layout="constrained", gridspec_kw=shape
            )
        left, right = axes
        self.axes_, self.figure_ = np.asarray(axes, dtype=object), left.figure
        for ax in axes:
            style.tidy(ax, ("bottom",))
            ax.tick_params(left=False)
        rows = np.arange(len(found.rules))
        handles, start = [], np.zeros(len(rows))
        for k in range(len(found.classes)):
            colour = style.hue(k)
            width = np.array([rule.priors[k] for rule in found.rules])
            left.barh(rows, width, left=start, height=0.55, color=style.tint(colour, 0.75))
            start += width
            for part, face in (("model_risks", "white"), ("risks", colour)):
                at = np.array([getattr(rule, part)[k] for rule in found.rules])
                look: dict[str, Any] = {"markersize": 8 if face == "white" else 7}
                look |= {"markerfacecolor": face, "markeredgecolor": colour}
                look |= {"markeredgewidth": 1.4, "linestyle": "none"}
                handles += right.plot(at, rows, marker=style.marker(k), zorder=3, **look)
        for row, rule in enumerate(found.rules):
            span = np.nanmin(rule.risks), np.nanmax(rule.risks)
            right.plot(span, (row, row), color=style.FAINT, linewidth=4, zorder=1)
        left.set_yticks(rows, [style.written(rule.name, 28) for rule in found.rules])
        left.set_ylim(len(rows) - 0.5, -0.5)
        left.set(xlim=(0, 1), xlabel="prior that the rule is best for")
        right.set_xlim(left=0.0 if right.get_xlim()[0] >= -0.05 else None)
        right.set_xlabel("loss given each class\n(filled: observed, hollow: by the model)")
        names = [style.written(label) for label in found.classes.tolist()]
        style.legend_beside(right, handles[1::2], names, "true class")
        return self


def _grid(n_classes: int, steps: int) -> np.ndarray:
    """Priors on a regular grid."""
    if n_classes == 2:
        second = np.linspace(0.0, 1.0, steps + 1)
        return np.column_stack([1.0 - second, second])
    whole = [(a, b, steps - a - b) for a in range(steps + 1) for b in range(steps + 1 - a)]
    return np.array(whole) / steps


def _corners_of(priors: np.ndarray) -> np.ndarray:
    """Places in the triangle: the first class left, the second right, the third on top."""
    return priors @ np.array([[0.0, 0.0], [1.0, 0.0], [0.5, HEIGHT]])


def _box_polygon(bounds: np.ndarray) -> np.ndarray:
    """Corners, in order, of what a box leaves of the triangle; none where it leaves all or none."""
    if np.array_equal(bounds, np.tile([0.0, 1.0], (3, 1))):
        return np.empty((0, 3))
    corners = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for a in bounds[j]:
            for b in bounds[k]:
                point = np.zeros(3)
                point[[i, j, k]] = 1.0 - a - b, a, b
                if ((point >= bounds[:, 0] - 1e-9) & (point <= bounds[:, 1] + 1e-9)).all():
                    corners.append(point)
    if not corners:
        return np.empty((0, 3))
    places = _corners_of(np.array(corners))
    angle = np.arctan2(*(places - places.mean(axis=0)).T[::-1])
    return np.array(corners)[np.argsort(angle)]
