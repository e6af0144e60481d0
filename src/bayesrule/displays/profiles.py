"""Profiles over two features: their borders, what is decided there, and how rows belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.displays import style
from bayesrule.displays.regions import DecisionRegionDisplay
from bayesrule.displays.slices import Slices
from bayesrule.displays.sources import as_rule_sees, chosen_estimator, final_rule, place_of
from bayesrule.settling import over_blocks

KINDS = ("profiles", "posterior", "membership")
#: Levels of a surface between zero and one.
LEVELS = np.linspace(0.0, 1.0, 21)


@dataclass(eq=False, repr=False)
class ProfileDisplay:
    """Borders of profiles over two features, with decisions, posteriors or one membership below.

    Hard profiles decide alike within a border, so that the line between two decisions must follow
    borders; soft ones may draw it through a profile. Make one with :meth:`from_estimator`, or
    several beside each other with :meth:`side_by_side`.

    Parameters
    ----------
    regions : DecisionRegionDisplay
        The decisions over the same features, and the rows.
    codes : ndarray of shape (S, n0, n1)
        The profile that each point of the grid belongs to most, in each of S partitions.
    posterior : ndarray of shape (n0, n1)
        P(class | x) of the class that is shown.
    membership : ndarray of shape (n0, n1)
        Membership in the profile that is shown.
    lead : ndarray of shape (n0, n1)
        How far it is ahead of the greatest other membership; the profile's border is at zero.
    shown_class : label
    profile : int
    kind : {"profiles", "posterior", "membership"}
        What lies below the borders.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    regions: DecisionRegionDisplay
    codes: np.ndarray
    posterior: np.ndarray
    membership: np.ndarray
    lead: np.ndarray
    shown_class: Any
    profile: int
    kind: str = "profiles"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        kind: str = "profiles",
        features: tuple[Any, Any] = (0, 1),
        at: Any = None,
        shown_class: Any = None,
        profile: int | None = None,
        grid_resolution: int = 200,
        ax: Any = None,
        **kwargs: Any,
    ) -> ProfileDisplay:
        """Compute profiles of a fitted rule over two features and draw them.

        Parameters
        ----------
        estimator : fitted BayesClassifier over Profiled, or a pipeline that ends in one
        X : array or frame of shape (n, D)
            Rows that set the range, and are drawn where ``y`` is given.
        y : array of n labels, default=None
        kind : {"profiles", "posterior", "membership"}
        features, at, grid_resolution
            As in :meth:`DecisionRegionDisplay.from_estimator`.
        shown_class : label, default=None
            The class of the posterior; None is the last one.
        profile : int, default=None
            The profile of the membership; None is the one in the middle of the picture.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from bayesrule import recipes
        >>> from bayesrule.displays import ProfileDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = ProfileDisplay.from_estimator(recipes.dbc(6).fit(X[:, 2:], y), X[:, 2:], y)
        >>> len(set(display.codes.ravel().tolist()))
        6
        """
        _check_kind(kind)
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        partition = getattr(rule.density_, "partition", None)
        if partition is None:
            raise TypeError(
                "ProfileDisplay needs a rule whose density is made of profiles, Profiled(...), but "
                f"this one is {type(rule.density).__name__}. DecisionRegionDisplay draws any rule."
            )
        plt = style.pyplot()
        hidden = plt.figure()  # the regions are drawn anew by ``plot``
        regions = DecisionRegionDisplay.from_estimator(
            estimator,
            X,
            y,
            features=features,
            at=at,
            grid_resolution=grid_resolution,
            ax=hidden.add_subplot(),
        )
        plt.close(hidden)
        slices = Slices(X, at, getattr(estimator, "feature_names_in_", None))
        i, j = (slices.place(feature) for feature in features)
        shape = regions.xx0.shape
        grid = slices.rows({i: regions.xx0.ravel(), j: regions.xx1.ravel()})
        table = rule._read(as_rule_sees(estimator, grid), rule.density_)
        degrees = [_memberships(part, table).reshape(*shape, -1) for part in partition.pieces]
        codes = np.stack([of_part.argmax(axis=2) for of_part in degrees])
        if profile is None:
            profile = int(codes[0][shape[0] // 2, shape[1] // 2])
        if not 0 <= profile < partition.pieces[0].n_profiles:
            raise ValueError(
                f"profile={profile!r}: there are {partition.pieces[0].n_profiles}, counted from 0."
            )
        shown = rule.classes_.tolist()[-1] if shown_class is None else shown_class
        posterior = estimator.predict_proba(grid)[:, place_of(shown, rule.classes_, "class")]
        return cls(
            regions,
            codes,
            np.asarray(posterior).reshape(shape),
            degrees[0][:, :, profile],
            _lead(degrees[0], profile),
            shown,
            profile,
            kind,
        ).plot(ax, **kwargs)

    @classmethod
    def side_by_side(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any = None,
        *,
        kinds: tuple[str, ...] = KINDS,
        **settings: Any,
    ) -> list[list[ProfileDisplay]]:
        """A column for each rule and a row for each kind of picture, on one figure.

        Regions bear the names of their decisions, and so do rows, in the same colours: there is no
        legend beside them.

        Returns
        -------
        list of lists of ProfileDisplay
            Rows of the figure. The figure is ``displays[0][0].figure_``.
        """
        if not estimators or not kinds:
            raise ValueError("side_by_side needs at least one rule and one kind of picture.")
        for kind in kinds:
            _check_kind(kind)
        plt = style.pyplot()
        size = (4.3 * len(estimators) + 0.6, 3.7 * len(kinds))
        _, axes = plt.subplots(
            len(kinds), len(estimators), figsize=size, squeeze=False, layout="constrained"
        )
        rows: list[list[ProfileDisplay]] = [[] for _ in kinds]
        for column, (name, estimator) in enumerate(estimators.items()):
            first = None
            for row, kind in enumerate(kinds):
                ax = axes[row, column]
                last = column == len(estimators) - 1
                if first is None:
                    display = first = cls.from_estimator(
                        estimator, X, y, kind=kind, ax=ax, legend=False, bar=last, **settings
                    )
                else:
                    display = cls(**{**first._shown(), "kind": kind})
                    display.plot(ax, legend=False, bar=last)
                rows[row].append(display)
                if row == 0:
                    ax.set_title(style.written(name), loc="left", weight="bold")
                if column:
                    ax.set_ylabel("")
                if row < len(kinds) - 1:
                    ax.set_xlabel("")
        return rows

    def _shown(self) -> dict[str, Any]:
        names = ("regions", "codes", "posterior", "membership", "lead", "shown_class", "profile")
        return {name: getattr(self, name) for name in names}

    def plot(
        self, ax: Any = None, *, legend: bool = True, bar: bool = True, max_points: int = 1000
    ) -> ProfileDisplay:
        """Draw the surface, the borders, the line between decisions, and the rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        legend : bool
            Whether decisions and classes are named beside the picture of the profiles.
        bar : bool
            Whether a bar tells the colours of a surface.
        max_points : int
            At most this many rows are drawn.
        """
        self.figure_, self.ax_ = style.canvas(ax, (7.0, 4.6))
        regions = self.regions
        x, y = regions.xx0, regions.xx1
        if self.kind == "profiles":
            regions.plot(self.ax_, legend=legend, max_points=max_points)
        else:
            self._draw_surface(bar)
            regions.ax_ = self.ax_
            if regions.points is not None:
                regions._draw_points(max_points, {"alpha": 0.55, "s": 12})
        several = len(self.codes) > 1
        for codes in self.codes:
            for t in np.unique(codes):
                self.ax_.contour(
                    x,
                    y,
                    (codes == t).astype(float),
                    levels=[0.5],
                    colors="#8a8a8a",
                    linewidths=0.35 if several else 0.7,
                    zorder=2,
                )
        if self.kind == "membership":
            self.ax_.contour(
                x, y, self.lead, levels=[0.0], colors=style.INK, linewidths=1.8, zorder=3
            )
        else:
            self._draw_boundary()
        self.ax_.set(
            xlim=(x[0, 0], x[-1, 0]),
            ylim=(y[0, 0], y[0, -1]),
            xlabel=style.written(regions.feature_names[0], 60, 1),
            ylabel=style.written(regions.feature_names[1], 60, 1),
        )
        return self

    def _draw_boundary(self) -> None:
        """The line between decisions."""
        margins = self.regions._margins()
        for d in np.unique(self.regions.decided):
            self.ax_.contour(
                self.regions.xx0,
                self.regions.xx1,
                margins[d],
                levels=[0.0],
                colors="#6a1b8a",
                linewidths=1.8,
                zorder=2.5,
            )

    def _draw_surface(self, bar: bool) -> None:
        """The posterior, in the colour of its class, or a membership."""
        from matplotlib.colors import LinearSegmentedColormap

        regions = self.regions
        if self.kind == "posterior":
            k = regions.classes.tolist().index(self.shown_class)
            colour = style.class_colours(regions.classes, regions.decisions)[k]
            values, title = self.posterior, f"P({style.written(self.shown_class, 20, 1)} | x)"
        else:
            # No class has this colour.
            colour = style.hue(max(6, len(regions.classes), len(regions.decisions)))
            values, title = self.membership, "membership in the outlined profile"
        ends: Any = ["#ffffff", style.tint(colour, 0.9)]
        ramp = LinearSegmentedColormap.from_list("ramp", ends)
        drawn = self.ax_.contourf(
            regions.xx0, regions.xx1, values, levels=LEVELS, cmap=ramp, zorder=0
        )
        if bar:
            scale = self.figure_.colorbar(drawn, ax=self.ax_, ticks=[0, 0.25, 0.5, 0.75, 1])
            scale.set_label(title)
            scale.outline.set_visible(False)


def _lead(degrees: np.ndarray, profile: int) -> np.ndarray:
    """How far the membership in a profile is ahead of the greatest other."""
    others = np.delete(degrees, profile, axis=2)
    lead: np.ndarray = degrees[:, :, profile] - others.max(axis=2, initial=0.0)
    return lead


def _memberships(partition: Any, table: Any) -> np.ndarray:
    """Memberships of all rows, block by block."""

    def work(start: int, stop: int) -> np.ndarray:
        found: np.ndarray = partition.membership(table.block(start, stop))
        return found

    return np.concatenate(list(over_blocks(work, partition, table)))


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known; use one of {KINDS}.")
