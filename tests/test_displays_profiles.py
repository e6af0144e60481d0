"""Displays of profiles, priors and robustness: what is drawn is what was computed."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import (
    BayesClassifier,
    CellProfiles,
    ForestProfiles,
    FuzzyProfiles,
    Minimax,
    MixtureProfiles,
    Profiled,
    TreeProfiles,
    compare_priors,
    loss,
    recipes,
    robustness_curve,
)
from bayesrule.displays import (
    PriorComparisonDisplay,
    PriorValueDisplay,
    ProfileDisplay,
    RobustnessDisplay,
)

matplotlib.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def no_open_figures() -> Any:
    yield
    plt.close("all")


def test_robustness_lines_are_the_means_of_the_curve():
    X, y = load_iris(return_X_y=True)
    models = {"near": recipes.knn(3), "naive": recipes.gaussian_nb()}
    curve = robustness_curve(models, X, y, noise=["labels", "features"], cv=3)
    display = RobustnessDisplay.from_curve(curve)
    for handle, means in zip(display.handles_, curve.means, strict=True):
        np.testing.assert_array_equal(handle.get_ydata(), means)
        np.testing.assert_array_equal(handle.get_xdata(), curve.levels[:, 0])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["near", "naive"]
    label = display.ax_.get_xlabel()
    assert "wrong labels (training rows)" in label
    assert "(new rows), 0 to 0.5" in label
    assert len(display.ax_.collections) == 2
    bare = RobustnessDisplay(curve).plot(confidence=None, legend=False)
    assert len(bare.ax_.collections) == 0
    assert bare.ax_.get_legend() is None


def two_classes(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - n // 3, n // 3])
    return rng.normal(size=(n, 2)) + 2.0 * y[:, None], y


def test_v_of_two_classes_is_below_both_lines_and_touches_them():
    X, y = two_classes()
    clf = recipes.dbc(8, gain=loss([[0, 3], [1, 0]])).fit(X, y)
    display = PriorValueDisplay.from_estimator(clf, box={1: (0.1, 0.3)})
    curve, fixed, level, share, best = display.ax_.get_lines()
    at, values = curve.get_data()
    for line in (fixed, level):
        assert (line.get_ydata() >= values - 1e-9).all()
    assert share.get_ydata()[0] == pytest.approx(
        np.interp(share.get_xdata()[0], at, values), abs=2e-3
    )
    assert 0.1 <= best.get_xdata()[0] <= 0.3 + 1e-9
    inside = (at >= 0.1) & (at <= 0.3)
    assert best.get_ydata()[0] == pytest.approx(values[inside].max(), abs=5e-3)
    free = PriorValueDisplay.from_estimator(clf)
    assert free.solution.value == pytest.approx(free.values.max(), abs=5e-3)
    line = free.ax_.get_lines()[2].get_ydata()
    assert np.ptp(line) < 1e-6  # the randomised rule risks the same whatever the prior


def test_v_is_drawn_in_the_box_of_the_rules_own_priors():
    X, y = two_classes()
    gain = loss([[0, 3], [1, 0]])
    clf = recipes.dbc(8, gain=gain, priors=Minimax({1: (0.1, 0.3)})).fit(X, y)
    display = PriorValueDisplay.from_estimator(clf)
    assert display.bounds.tolist() == [[0.0, 1.0], [0.1, 0.3]]
    np.testing.assert_allclose(display.solution.priors, clf.priors_, atol=1e-6)
    (box,) = display.ax_.patches  # shaded, and so said
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((0.1, 0.3))
    named = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any("minimax prior in the shaded box" in name for name in named)
    free = PriorValueDisplay.from_estimator(clf, box={})
    assert free.bounds.tolist() == [[0.0, 1.0]] * 2
    assert free.solution.value >= display.solution.value
    by_gain = recipes.dbc(8, gain=gain, priors=Minimax(on="gain")).fit(X, y)
    drawn = PriorValueDisplay.from_estimator(by_gain).solution.priors
    np.testing.assert_allclose(drawn, by_gain.priors_, atol=1e-6)


def test_v_of_three_classes_has_its_maximum_in_the_box():
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]
    clf = recipes.spdbc(10, 1.5).fit(X, y)
    display = PriorValueDisplay.from_estimator(
        clf, X, box={1: (0, 0.2), 2: (0.1, 0.5)}, grid_resolution=20
    )
    assert display.solution.priors[1] <= 0.2 + 1e-9
    inside = (
        (display.priors >= display.bounds[:, 0]) & (display.priors <= display.bounds[:, 1])
    ).all(axis=1)
    assert display.solution.value >= display.values[inside].max() - 1e-6
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["all 0", "all 1", "all 2"]
    four = recipes.dbc(4).fit(X, np.arange(150) % 4)
    with pytest.raises(ValueError, match="two or three classes, but there are 4"):
        PriorValueDisplay.from_estimator(four)
    with pytest.raises(ValueError, match="over rows"):
        PriorValueDisplay.from_estimator(clf)


def test_class_risks_are_drawn_where_they_are():
    X, y = two_classes()
    found = compare_priors(recipes.dbc(8).fit(X, y), X, y)
    display = PriorComparisonDisplay.from_comparison(found)
    right = display.axes_[1]
    drawn = [line.get_xdata() for line in right.get_lines()]
    expected = [
        [getattr(rule, part)[k] for rule in found.rules]
        for k in (0, 1)
        for part in ("model_risks", "risks")
    ]
    for one, other in zip(drawn, expected, strict=False):
        np.testing.assert_array_equal(one, other)
    names = [label.get_text() for label in display.axes_[0].get_yticklabels()]
    assert names == [rule.name for rule in found.rules]


def test_profiles_on_the_grid_are_those_of_the_partition():
    X, y = two_classes()
    hard, soft = recipes.dbc(6).fit(X, y), recipes.spdbc(6, 1.8).fit(X, y)
    shown = ProfileDisplay.side_by_side({"hard": hard, "soft": soft}, X, y, grid_resolution=40)
    assert [len(row) for row in shown] == [2, 2, 2]
    for display, clf in zip(shown[1], (hard, soft), strict=True):
        grid = np.column_stack([display.regions.xx0.ravel(), display.regions.xx1.ravel()])
        np.testing.assert_allclose(display.posterior.ravel(), clf.predict_proba(grid)[:, 1])
        U = clf.density_.partition.membership(clf.density_.read(grid, clf))
        np.testing.assert_array_equal(display.codes[0].ravel(), U.argmax(axis=1))
        np.testing.assert_allclose(display.membership.ravel(), U[:, display.profile])
    assert set(np.unique(shown[2][0].membership)) == {0.0, 1.0}
    # Hard decisions are the same all over a profile, soft ones need not be.
    codes, decided = shown[0][0].codes[0], shown[0][0].regions.decided
    assert all(len(np.unique(decided[codes == t])) == 1 for t in np.unique(codes))
    soft_codes, soft_decided = shown[0][1].codes[0], shown[0][1].regions.decided
    assert any(len(np.unique(soft_decided[soft_codes == t])) > 1 for t in np.unique(soft_codes))


def grid_of(display: ProfileDisplay) -> np.ndarray:
    return np.column_stack([display.regions.xx0.ravel(), display.regions.xx1.ravel()])


@pytest.mark.parametrize(
    "profiles",
    [
        FuzzyProfiles(5, 1.5, "fcm", "standardised"),
        MixtureProfiles(4),
        TreeProfiles(5),
        CellProfiles(12),
        ForestProfiles(3, 4),
    ],
    ids=lambda profiles: type(profiles).__name__,
)
def test_membership_surfaces_are_those_of_the_profiles_alone(profiles):
    X, y = two_classes()
    clf = BayesClassifier(Profiled(profiles)).fit(X, y)
    display = ProfileDisplay.from_estimator(clf, X, y, kind="membership", grid_resolution=25)
    alone = profiles.fit(X, y).membership(grid_of(display))
    pieces = getattr(profiles.partition_, "parts", [profiles.partition_])
    first = len(pieces) * alone[:, : pieces[0].n_profiles]  # of a forest, its first partition
    np.testing.assert_allclose(display.membership.ravel(), first[:, display.profile], atol=1e-12)
    others = np.delete(first, display.profile, axis=1).max(axis=1)
    np.testing.assert_allclose(display.lead.ravel(), first[:, display.profile] - others, atol=1e-12)
    assert display.codes[0][12, 12] == display.profile  # the one in the middle of the picture
    last = first.shape[1] - 1
    other = ProfileDisplay.from_estimator(
        clf, X, kind="membership", profile=last, grid_resolution=25
    )
    np.testing.assert_allclose(other.membership.ravel(), first[:, last], atol=1e-12)


def test_memberships_of_a_foreign_clusterer_are_its_own():
    X, y = two_classes()
    clf = BayesClassifier(Profiled(GaussianMixture(3, random_state=0))).fit(X, y)
    display = ProfileDisplay.from_estimator(clf, X, kind="membership", grid_resolution=15)
    expected = GaussianMixture(3, random_state=0).fit(X).predict_proba(grid_of(display))
    np.testing.assert_allclose(display.membership.ravel(), expected[:, display.profile])


def test_surfaces_through_a_pipeline_and_mixed_columns():
    X, y = two_classes()
    pipe = make_pipeline(StandardScaler(), recipes.spdbc(5, 1.6)).fit(X * [1.0, 50.0], y)
    display = ProfileDisplay.from_estimator(pipe, X * [1.0, 50.0], grid_resolution=15)
    alone = FuzzyProfiles(5, 1.6).fit(StandardScaler().fit_transform(X))
    # k-means sees rows that differ by rounding alone, and finds the same centres.
    seen = StandardScaler().fit(X * [1.0, 50.0]).transform(grid_of(display))
    expected = alone.membership(seen)[:, display.profile]
    np.testing.assert_allclose(display.membership.ravel(), expected, atol=1e-6)

    frame = pd.DataFrame(X, columns=["height", "width"])
    frame["town"] = np.where(np.arange(len(y)) % 3 == 0, "Rome", "Oslo")
    clf = recipes.spdbc(6, 1.5, "standardised").fit(frame, y)
    for at, town in ((None, "Oslo"), ({"town": "Rome"}, "Rome")):
        display = ProfileDisplay.from_estimator(
            clf, frame, y, kind="posterior", features=("width", "height"), at=at, grid_resolution=9
        )
        width, height = grid_of(display).T
        asked = pd.DataFrame({"height": height, "width": width, "town": town})
        np.testing.assert_allclose(display.posterior.ravel(), clf.predict_proba(asked)[:, 1])
        assert display.ax_.get_xlabel() == "width"


def test_pictures_stand_side_by_side_with_one_scale_for_each_row():
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:]
    models = {"hard": recipes.dbc(7).fit(X, y), "soft": recipes.spdbc(7, 1.8).fit(X, y)}
    shown = ProfileDisplay.side_by_side(models, X, y, grid_resolution=30)
    assert [[display.kind for display in row] for row in shown] == [
        [kind] * 2 for kind in ("profiles", "posterior", "membership")
    ]
    figure = shown[0][0].figure_
    assert all(display.figure_ is figure for row in shown for display in row)
    titles = [[display.ax_.get_title(loc="left") for display in row] for row in shown]
    assert titles == [["hard", "soft"], ["", ""], ["", ""]]
    scales = [ax.get_ylabel() for ax in figure.axes if ax.get_label() == "<colorbar>"]
    assert scales == ["P(2 | x)", "membership in the outlined profile"]
    for row in shown:
        assert [bool(display.ax_.get_ylabel()) for display in row] == [True, False]
    assert [bool(row[0].ax_.get_xlabel()) for row in shown] == [False, False, True]
    # The surface that is drawn: darker where the membership is higher, in no class's colour.
    for display, values in ((shown[1][1], "posterior"), (shown[2][1], "membership")):
        surface = next(c for c in display.ax_.collections if c.get_array() is not None)
        np.testing.assert_allclose(surface.levels, np.linspace(0, 1, 21))
        drawn = np.array(surface.zmax), getattr(display, values).max()
        np.testing.assert_allclose(*drawn)
    with pytest.raises(ValueError, match="at least one rule"):
        ProfileDisplay.side_by_side({}, X, y)
    with pytest.raises(ValueError, match="kind='relief'"):
        ProfileDisplay.side_by_side(models, X, y, kinds=("relief",))


def test_a_forest_draws_the_borders_of_all_its_partitions():
    X, y = two_classes()
    clf = recipes.spdbc_forest(3, 4).fit(X, y)
    display = ProfileDisplay.from_estimator(clf, X, y, kind="posterior", grid_resolution=30)
    assert display.codes.shape == (3, 30, 30)
    assert display.shown_class == 1


def test_what_has_no_profiles_is_refused():
    X, y = two_classes()
    with pytest.raises(TypeError, match=r"Profiled.*DecisionRegionDisplay"):
        ProfileDisplay.from_estimator(recipes.qda().fit(X, y), X)
    clf = recipes.dbc(4).fit(X, y)
    for settings, message in (
        ({"kind": "sculpture"}, "kind='sculpture'"),
        ({"profile": 4}, "profile=4: there are 4"),
        ({"shown_class": "x"}, "is no class"),
    ):
        with pytest.raises(ValueError, match=message):
            ProfileDisplay.from_estimator(clf, X, grid_resolution=10, **settings)
