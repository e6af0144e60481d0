"""Displays show what they say: arrays against direct computation, text as it is written."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import (
    BayesClassifier,
    DensityEstimate,
    FromClassifier,
    Gaussian,
    Histogram,
    Kernel,
    Minimax,
    Neighbors,
    displays,
    evaluate,
    recipes,
    with_action,
)
from bayesrule.displays import (
    ClassDensityDisplay,
    ConfusionDisplay,
    DecisionRegionDisplay,
    DensityContourDisplay,
    DensityCurveDisplay,
    GainCurveDisplay,
    style,
)
from bayesrule.displays.slices import Slices
from bayesrule.notices import NoMassWarning

matplotlib.use("agg")
import matplotlib.pyplot as plt

COSTS = {"malignant": {"malignant": 0, "benign": -20}, "benign": {"malignant": -2, "benign": 0}}
#: Read as a formula, this could not be drawn at all.
TROUBLE = r"costs $\frac{ and $"


@pytest.fixture(autouse=True)
def no_open_figures() -> Any:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def screening() -> tuple[BayesClassifier, pd.DataFrame, np.ndarray]:
    """A rule for breast cancer with a third decision, and rows that it was not fitted on."""
    data = load_breast_cancer(as_frame=True)
    X = data.data[["mean radius", "mean texture", "mean concave points"]]
    y = np.array(["malignant", "benign"])[data.target]
    clf = BayesClassifier(Gaussian("full"), gain=with_action(COSTS, "refer", -0.5))
    return clf.fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    data = load_iris()
    return data.data, data.target_names[data.target]


def texts(display: Any) -> list[str]:
    """All text in the picture, as it is drawn: a dollar sign that starts no formula is escaped."""
    found = [t.get_text() for t in display.figure_.findobj(matplotlib.text.Text)]
    return [" ".join(t.split()).replace(r"\$", "$") for t in found if t]


def judged(clf: Any, X: Any, y: Any, priors: Any, gain: Any, weights: Any = None) -> float:
    """Expected gain of decisions under stated priors, straight from the definition."""
    weights = np.ones(len(y)) if weights is None else weights
    column = {d: i for i, d in enumerate(clf.decisions_.tolist())}
    earned = np.array([column[d] for d in clf.predict(X).tolist()])
    total = 0.0
    for k, label in enumerate(clf.classes_):
        mine = y == label
        total += priors[k] * np.average(gain[k, earned[mine]], weights=weights[mine])
    return total


# ------------------------------------------------------------------ gain curves


@pytest.mark.parametrize("weighted", [False, True])
def test_curve_of_an_entry_is_that_of_rules_made_anew(screening: Any, weighted: bool) -> None:
    clf, X, y = screening
    weights = np.random.default_rng(0).uniform(0, 3, len(y)) if weighted else None
    display = GainCurveDisplay.from_estimator(
        clf, X, y, entry=("malignant", "benign"), values=[-60, -20, -3, 0.5], sample_weight=weights
    )
    k = clf.classes_.tolist().index("malignant")
    d = clf.decisions_.tolist().index("benign")
    for i, value in enumerate(display.values):
        gain = clf.gain_.copy()
        gain[k, d] = value
        named = pd.DataFrame(gain, clf.classes_, clf.decisions_)
        anew = clf.with_rule(gain=named)
        assert display.adapted[i] == pytest.approx(judged(anew, X, y, clf.priors_, gain, weights))
        assert display.fixed[i] == pytest.approx(judged(clf, X, y, clf.priors_, gain, weights))
        assert display.constants[i] == pytest.approx(clf.priors_ @ gain)


@pytest.mark.parametrize("label", ["setosa", "virginica"])
def test_curve_of_a_prior_keeps_the_proportions_of_the_others(iris: Any, label: str) -> None:
    X, y = iris
    clf = recipes.qda(priors=[0.2, 0.5, 0.3]).fit(X[:, :2], y)
    display = GainCurveDisplay.from_estimator(
        clf, X[:, :2], y, prior_of=label, values=[0, 0.25, 0.7, 1]
    )
    k = clf.classes_.tolist().index(label)
    for i, value in enumerate(display.values):
        priors = clf.priors_ * (1 - value) / (1 - clf.priors_[k])
        priors[k] = value
        anew = clf.with_rule(priors=priors)
        assert display.adapted[i] == pytest.approx(judged(anew, X[:, :2], y, priors, clf.gain_))
        assert display.fixed[i] == pytest.approx(judged(clf, X[:, :2], y, priors, clf.gain_))
        decided = anew.predict(X[:, :2])
        shares = [
            sum(priors[j] * np.mean(decided[y == c] == d) for j, c in enumerate(clf.classes_))
            for d in clf.decisions_
        ]
        assert display.shares[i] == pytest.approx(shares)


def test_the_fitted_value_is_on_both_curves_and_is_what_evaluate_says(screening: Any) -> None:
    clf, X, y = screening
    expected = evaluate(clf, X, y).expected_gain
    for what in ({"entry": ("malignant", "benign")}, {"prior_of": "benign"}):
        display = GainCurveDisplay.from_estimator(clf, X, y, **what)
        at = np.flatnonzero(display.values == display.fitted)
        assert len(at) == 1
        for curve in (display.fitted_gain, display.adapted[at[0]], display.fixed[at[0]]):
            assert curve == pytest.approx(expected)
        assert display.shares.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("what", [{"entry": ("b", "a")}, {"prior_of": "c"}])
def test_nothing_beats_the_rule_that_adapts_where_its_model_is_the_truth(
    seed: int, what: dict[str, Any]
) -> None:
    """Rows that are spread exactly as the densities say leave nothing to gain by other rules."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, size=(6, 3))  # atoms by classes
    atom, k = np.nonzero(counts)
    repeats = counts[atom, k]
    log_density = np.log(counts / counts.sum(axis=0))[np.repeat(atom, repeats)]
    y = np.array(["a", "b", "c"])[np.repeat(k, repeats)]
    gain = with_action(2 * np.eye(3) + rng.normal(size=(3, 3)), "pass", 0.5)
    priors = rng.dirichlet(np.full(3, 5.0))
    display = GainCurveDisplay.from_predictions(
        y, log_density=log_density, gain=gain, priors=priors, **what
    )
    assert (display.adapted >= display.fixed - 1e-12).all()
    assert (display.adapted[:, None] >= display.constants - 1e-12).all()
    assert np.ptp(display.shares, axis=0).max() > 0  # the rule did adapt


def test_a_weight_of_three_is_the_row_three_times_and_zero_its_absence(screening: Any) -> None:
    clf, X, y = screening
    weights = np.tile([0, 1, 3], len(y))[: len(y)]
    rows = np.repeat(np.arange(len(y)), weights)
    what = {"prior_of": "malignant", "values": np.linspace(0, 1, 11)}
    one = GainCurveDisplay.from_estimator(clf, X, y, sample_weight=weights, **what)
    other = GainCurveDisplay.from_estimator(clf, X.iloc[rows], y[rows], **what)
    for name in ("adapted", "fixed", "shares", "flips"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


def test_decisions_flip_where_bayes_rule_says() -> None:
    """Log-odds r for "yes" without priors: "yes" wins from prior 1 / (1 + exp(r)) on."""
    odds = np.array([2.0, -1.0])
    display = GainCurveDisplay.from_predictions(
        ["yes", "no"], log_density=np.column_stack([[0.0, 0.0], odds]), prior_of="yes"
    )
    # The first row turns to "yes" first, which brings "yes" into use; the last one ends "no".
    assert display.flips == pytest.approx(np.sort(1 / (1 + np.exp(odds))), abs=1e-9)


def test_posteriors_and_log_densities_tell_the_same(screening: Any) -> None:
    clf, X, y = screening
    what = {"entry": ("benign", "malignant"), "values": [-3, -2, -1]}
    rule = {"gain": clf.gain, "priors": clf.priors_}
    displays = [
        GainCurveDisplay.from_estimator(clf, X, y, **what),
        GainCurveDisplay.from_predictions(y, clf.predict_proba(X), **rule, **what),
        GainCurveDisplay.from_predictions(y, log_density=clf.log_density(X), **rule, **what),
    ]
    for other in displays[1:]:
        assert other.adapted == pytest.approx(displays[0].adapted)
        assert other.fixed == pytest.approx(displays[0].fixed)


def test_the_fixed_rule_of_a_randomised_minimax_is_what_it_predicts() -> None:
    X = np.random.default_rng(0).normal(size=(400, 1))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=400) > 1).astype(int)
    clf = BayesClassifier(Gaussian("tied"), priors=Minimax(randomised=True)).fit(X, y)
    display = GainCurveDisplay.from_estimator(clf, X, y, prior_of=1)
    assert display.fitted_gain == pytest.approx(judged(clf, X, y, clf.priors_, clf.gain_))


def test_soft_labels_count_by_their_degrees(screening: Any) -> None:
    clf, X, y = screening
    degrees = pd.DataFrame({"malignant": y == "malignant", "benign": y == "benign"}, dtype=float)
    what = {"prior_of": "benign", "values": [0.1, 0.9]}
    hard = GainCurveDisplay.from_estimator(clf, X, y, **what)
    soft = GainCurveDisplay.from_estimator(clf, X, degrees, **what)
    assert soft.adapted == pytest.approx(hard.adapted)


def test_curves_reach_into_pipelines_and_searches(iris: Any) -> None:
    X, y = iris
    pipe = make_pipeline(StandardScaler(), recipes.lda()).fit(X, y)
    grid = {"bayesclassifier__density__shrinkage": [None]}
    search = GridSearchCV(make_pipeline(StandardScaler(), recipes.lda()), grid, cv=2).fit(X, y)
    what = {"prior_of": "setosa", "values": [0.2, 0.6]}
    plain = GainCurveDisplay.from_estimator(recipes.lda().fit(X, y), X, y, **what)
    for estimator in (pipe, search):
        display = GainCurveDisplay.from_estimator(estimator, X, y, **what)
        assert display.adapted == pytest.approx(plain.adapted)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({}, "Say what moves"),
        ({"entry": ("a", "b"), "prior_of": "a"}, "Say what moves"),
        ({"entry": "ab"}, r"pair \(true class, decision\)"),
        ({"entry": ("x", "a")}, "'x' is no class"),
        ({"entry": ("a", "x")}, "'x' is no decision"),
        ({"prior_of": "x"}, "'x' is no class"),
        ({"prior_of": "a", "values": [0.5, 1.5]}, "between 0 and 1"),
        ({"prior_of": "a", "values": [0.5]}, "at least two different numbers"),
        ({"prior_of": "a", "sample_weight": [1, 1]}, "4 finite numbers"),
        ({"prior_of": "a", "sample_weight": [1, 1, 0, 0]}, "class 'b'"),
        ({"prior_of": "a", "classes": ["b", "a"]}, "sorted and distinct"),
        ({"prior_of": "a", "classes": ["a", "b", "c"]}, "one column for each"),
        ({"prior_of": "a", "log_density": np.zeros((4, 2))}, "not both"),
    ],
)
def test_curves_say_what_is_wrong(what: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GainCurveDisplay.from_predictions(["a", "a", "b", "b"], np.full((4, 2), 0.5), **what)


def test_a_class_without_rows_or_name_is_refused(screening: Any) -> None:
    clf, X, y = screening
    only = y == "malignant"
    with pytest.raises(ValueError, match="class 'benign', whose prior"):
        GainCurveDisplay.from_estimator(clf, X[only], y[only], prior_of="malignant")
    with pytest.raises(ValueError, match="'healthy', which is not among"):
        GainCurveDisplay.from_estimator(clf, X, np.full(len(y), "healthy"), prior_of="malignant")
    other = LogisticRegression(max_iter=10_000).fit(X, y)
    with pytest.raises(TypeError, match="FromClassifier"):
        GainCurveDisplay.from_estimator(other, X, y, prior_of="malignant")


# ------------------------------------------------------------------ decision regions


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "pyarrow"])
def test_regions_are_what_the_rule_predicts_on_the_grid(iris: Any, kind: str) -> None:
    X, y = iris
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1] * 7)
    table = {
        "numpy": lambda: X,
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame(X, schema=names),
        "pyarrow": lambda: pa.Table.from_pandas(frame, preserve_index=False),
    }[kind]()
    clf = BayesClassifier(Gaussian("full"), gain=with_action(None, "ask", 0.9)).fit(table, y)
    features = (2, 0) if kind == "numpy" else ("c", "a")
    display = DecisionRegionDisplay.from_estimator(
        clf, table, y, features=features, grid_resolution=30
    )
    rows = np.tile(np.median(X, axis=0), (900, 1))
    rows[:, 2], rows[:, 0] = display.xx0.ravel(), display.xx1.ravel()
    grid = rows if kind == "numpy" else pd.DataFrame(rows, columns=names)
    assert display.decisions[display.decided.ravel()].tolist() == clf.predict(grid).tolist()
    assert len(np.unique(display.decided)) == 4  # three species and the question
    assert display.xx0[0, 0] < X[:, 2].min() < X[:, 2].max() < display.xx0[-1, 0]
    assert list(display.held.values()) == pytest.approx(np.median(X, axis=0)[[1, 3]].tolist())


def test_smooth_boundaries_lie_where_the_grid_says(screening: Any) -> None:
    clf, X, _ = screening
    display = DecisionRegionDisplay.from_estimator(clf, X, grid_resolution=40)
    ahead = display._margins().argmax(axis=0)
    assert (ahead == display.decided).all()


def test_rules_that_draw_lots_are_shown_as_they_decide() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    clf = BayesClassifier(Gaussian("tied"), priors=Minimax(randomised=True)).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(clf, X, y, grid_resolution=50)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert display.decided.ravel().tolist() == clf.predict(grid).tolist()
    assert (display._margins().argmax(axis=0) == display.decided).all()


def test_other_features_are_held_where_one_says(iris: Any) -> None:
    X, y = iris
    clf = recipes.qda().fit(X, y)
    named = DecisionRegionDisplay.from_estimator(clf, X, at={3: 1.5}, grid_resolution=10)
    whole = DecisionRegionDisplay.from_estimator(
        clf, X, at=[0, 0, np.median(X[:, 2]), 1.5], grid_resolution=10
    )
    assert (named.decided == whole.decided).all()
    assert named.held["feature 3"] == 1.5
    assert any("feature 3 = 1.5" in text for text in texts(named))


def test_a_constant_feature_still_has_an_axis() -> None:
    X = np.array([[5.0, 0.0], [5.0, 1.0], [5.0, 8.0], [5.0, 9.0]])
    clf = BayesClassifier(Gaussian("tied", shrinkage=0.5)).fit(X, [0, 0, 1, 1])
    display = DecisionRegionDisplay.from_estimator(clf, X, [0, 0, 1, 1], grid_resolution=20)
    assert display.xx0[0, 0] < 5 < display.xx0[-1, 0]
    assert np.unique(display.decided).tolist() == [0, 1]


def test_contours_hold_the_stated_share_of_a_known_density() -> None:
    """A bell in two features has the share s within log p of its top minus -log(1 - s)."""
    X = np.random.default_rng(0).normal(size=(5000, 2))
    clf = BayesClassifier(Gaussian("full")).fit(X, np.zeros(len(X)))
    display = DecisionRegionDisplay.from_estimator(clf, X, density=True)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    assert display.log_marginal.ravel() == pytest.approx(clf.log_marginal(grid))
    lines = [c for c in display.ax_.collections if getattr(c, "labelTexts", None)]
    levels = np.sort(lines[0].levels)[::-1]
    assert levels == pytest.approx(np.log1p(-np.array([0.5, 0.8, 0.95])), abs=0.03)


def test_regions_reach_into_pipelines(iris: Any) -> None:
    X, y = iris
    pipe = make_pipeline(PCA(2), recipes.qda()).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(pipe, X, y, features=(2, 3), grid_resolution=15)
    rows = np.tile(np.median(X, axis=0), (225, 1))
    rows[:, 2], rows[:, 3] = display.xx0.ravel(), display.xx1.ravel()
    assert display.decisions[display.decided.ravel()].tolist() == pipe.predict(rows).tolist()


def test_all_decisions_are_named_and_all_classes_marked(screening: Any) -> None:
    clf, X, y = screening
    display = DecisionRegionDisplay.from_estimator(clf, X, y, grid_resolution=20)
    legend = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert legend == ["malignant", "benign", "refer"]
    drawn = sum(len(c.get_offsets()) for c in display.ax_.collections if len(c.get_offsets()) > 1)
    assert drawn == len(y)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("mean radius", "mean texture")


def test_at_most_so_many_points_are_drawn(screening: Any) -> None:
    clf, X, y = screening
    display = DecisionRegionDisplay.from_estimator(clf, X, y, grid_resolution=5, max_points=50)
    drawn = sum(len(c.get_offsets()) for c in display.ax_.collections if len(c.get_offsets()) > 1)
    assert drawn == 50


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"features": (0, 9)}, "no feature 9"),
        ({"features": ("mean radius", "weight")}, "no feature 'weight'"),
        ({"features": (1, 1)}, "twice"),
        ({"features": (0,)}, "two features"),
        ({"grid_resolution": 1}, "at least 2"),
        ({"at": [1.0]}, "1 values for 3 features"),
        ({"at": {"weight": 1.0}}, "no feature 'weight'"),
    ],
)
def test_regions_say_what_is_wrong(screening: Any, what: dict[str, Any], message: str) -> None:
    clf, X, y = screening
    with pytest.raises(ValueError, match=message):
        DecisionRegionDisplay.from_estimator(clf, X, y, **what)


def test_densities_of_foreign_classifiers_are_refused(iris: Any) -> None:
    X, y = iris
    clf = BayesClassifier(FromClassifier(LogisticRegression(max_iter=1000))).fit(X, y)
    DecisionRegionDisplay.from_estimator(clf, X, y, grid_resolution=5)
    with pytest.raises(ValueError, match="known only up to a term"):
        DecisionRegionDisplay.from_estimator(clf, X, y, density=True)
    with pytest.raises(ValueError, match="known only up to a term"):
        ClassDensityDisplay.from_estimator(clf, X, y)


# ------------------------------------------------------------------ lines through features


def test_tables_keep_their_kinds_of_columns() -> None:
    X = pd.DataFrame(
        {
            "size": [1.0, 2.0, 4.0],
            "rooms": np.array([1, 2, 4], dtype=np.int32),
            "town": pd.Categorical(["Ulm", "Köln", "Köln"]),
            "new": [True, False, False],
        },
        index=[9, 9, 3],
    )
    rows = Slices(X).rows({0: np.array([7.0, 8.0])})
    assert rows["size"].tolist() == [7.0, 8.0]
    assert rows["rooms"].tolist() == [2, 2]
    assert rows["rooms"].dtype == np.int32
    assert rows["town"].tolist() == ["Köln", "Köln"]
    assert rows["town"].dtype == X["town"].dtype
    assert rows["new"].tolist() == [False, False]
    assert Slices(X, at={"town": "Ulm"}).rows({0: np.zeros(1)})["town"].tolist() == ["Ulm"]
    with pytest.raises(ValueError, match="'Bonn', which no row of X has"):
        Slices(X, at={"town": "Bonn"}).rows({0: np.zeros(1)})
    with pytest.raises(ValueError, match="'town' holds no numbers"):
        Slices(X).span(2)


# ------------------------------------------------------------------ class densities


def test_densities_of_one_feature_are_the_fitted_bells(iris: Any) -> None:
    X, y = iris
    clf = recipes.gaussian_nb(priors=[0.5, 0.3, 0.2]).fit(X[:, [0]], y)
    plain = ClassDensityDisplay.from_estimator(clf, X[:, [0]], y)
    weighted = ClassDensityDisplay.from_estimator(clf, X[:, [0]], y, weighted=True)
    for k, label in enumerate(clf.classes_):
        mine = X[y == label, 0]
        bell = norm(mine.mean(), mine.std()).pdf(plain.values)
        assert plain.lines_[k].get_ydata() == pytest.approx(bell, rel=1e-6)
        assert weighted.lines_[k].get_ydata() == pytest.approx(clf.priors_[k] * bell, rel=1e-6)


def test_decisions_change_where_weighted_bells_cross() -> None:
    """Equal variances s: at the mid-point plus s / distance times the log of the prior ratio."""
    X = np.concatenate([np.linspace(-2, 2, 50), np.linspace(3, 7, 50)])[:, None]
    y = np.repeat(["low", "high"], 50)
    clf = recipes.lda(priors={"low": 0.8, "high": 0.2}).fit(X, y)
    display = ClassDensityDisplay.from_estimator(clf, X, y)
    variance = X[:50].var()
    assert display.boundaries == pytest.approx([2.5 + variance / 5 * np.log(4)], abs=1e-9)
    assert display.decisions[display.interval_decisions].tolist() == ["low", "high"]


def test_intervals_are_what_the_rule_predicts(screening: Any) -> None:
    clf, X, y = screening
    display = ClassDensityDisplay.from_estimator(clf, X, y, feature="mean concave points")
    edges = np.concatenate([display.values[:1], display.boundaries, display.values[-1:]])
    rows = pd.DataFrame(np.tile(X.median(), (len(edges) - 1, 1)), columns=X.columns)
    rows["mean concave points"] = 0.5 * (edges[1:] + edges[:-1])
    assert clf.predict(rows).tolist() == display.decisions[display.interval_decisions].tolist()
    assert len(display.boundaries) > 0


def test_with_others_held_the_curves_are_conditional_densities(iris: Any) -> None:
    X, y = iris
    clf = recipes.qda(priors=[0.2, 0.3, 0.5]).fit(X, y)
    point = [5.8, 3.0, 4.0, 1.2]
    weighted = ClassDensityDisplay.from_estimator(clf, X, y, feature=2, at=point, weighted=True)
    plain = ClassDensityDisplay.from_estimator(clf, X, y, feature=2, at=point)
    rows = np.tile(point, (len(plain.values), 1))
    rows[:, 2] = plain.values
    joint = np.column_stack(
        [
            p * multivariate_normal(Z.mean(axis=0), np.cov(Z.T, bias=True)).pdf(rows)
            for p, Z in zip(clf.priors_, (X[y == c] for c in clf.classes_), strict=True)
        ]
    )
    area = trapezoid(joint, plain.values, axis=0)
    assert plain.curves() == pytest.approx(joint / area, rel=1e-6)
    assert weighted.curves() == pytest.approx(joint / area.sum(), rel=1e-6, abs=1e-12)


def test_densities_too_small_for_a_number_are_drawn() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 900)), rng.normal(3, 1, size=(50, 900))])
    clf = recipes.gaussian_nb().fit(X, np.repeat([0, 1], 50))
    display = ClassDensityDisplay.from_estimator(clf, X)
    assert (np.exp(display.log_density) == 0).all()
    assert trapezoid(display.curves(), display.values, axis=0) == pytest.approx(1.0)


def test_histograms_have_the_area_of_the_curves(iris: Any) -> None:
    X, y = iris
    clf = recipes.qda(priors=[0.5, 0.3, 0.2]).fit(X[:, [0]], y)
    display = ClassDensityDisplay.from_estimator(clf, X[:, [0]], y, weighted=True)
    steps = [p.get_data() for p in display.ax_.findobj(matplotlib.patches.StepPatch)]
    areas = [np.sum(values * np.diff(edges)) for values, edges, _ in steps]
    assert areas == pytest.approx(clf.priors_)


def test_stated_values_are_kept_and_changes_lie_midway() -> None:
    X, y = np.array([[0], [1], [2], [7], [8], [9]]), [0, 0, 0, 1, 1, 1]
    clf = recipes.lda().fit(X, y)
    display = ClassDensityDisplay.from_estimator(clf, X, y, values=np.arange(10))
    assert display.values.tolist() == list(range(10))
    assert display.boundaries.tolist() == [4.5]


# ------------------------------------------------------------------ confusion


def test_confusion_is_rates_times_priors() -> None:
    y = ["ill"] * 4 + ["well"] * 5
    decided = ["ill", "ill", "ill", "refer", "well", "well", "well", "ill", "refer"]
    display = ConfusionDisplay.from_predictions(y, decided, priors={"ill": 0.2, "well": 0.8})
    assert display.decisions.tolist() == ["ill", "well", "refer"]
    expected = [[0.2 * 3 / 4, 0, 0.2 / 4], [0.8 / 5, 0.8 * 3 / 5, 0.8 / 5]]
    assert display.confusion == pytest.approx(np.array(expected))
    shown = [[cell.get_text() for cell in row] for row in display.text_]
    assert shown == [["150", "0", "50"], ["160", "480", "160"]]
    assert "of 1,000 cases" in texts(display)
    raw = ConfusionDisplay.from_predictions(y, decided, per=100)
    assert raw.confusion[0] == pytest.approx([3 / 9, 0, 1 / 9])
    assert raw.text_[0, 0].get_text() == "33"
    assert "percent of all cases" in texts(raw)


def test_confusion_is_that_of_the_evaluation(screening: Any) -> None:
    clf, X, y = screening
    priors = {"malignant": 0.02, "benign": 0.98}
    evaluation = evaluate(clf, X, y, priors=priors)
    displays = [
        ConfusionDisplay.from_evaluation(evaluation),
        ConfusionDisplay.from_estimator(clf, X, y, priors=priors),
        ConfusionDisplay.from_predictions(
            y, clf.predict(X), priors=priors, decisions=clf.decisions_
        ),
    ]
    for display in displays:
        assert display.confusion == pytest.approx(evaluation.confusion)
        assert display.decisions.tolist() == ["malignant", "benign", "refer"]


def test_integer_labels_and_a_named_action_keep_their_kinds() -> None:
    display = ConfusionDisplay.from_predictions(
        [0, 1, 1], [0, "ask", 1], sample_weight=[2.0, 1.0, 1.0]
    )
    assert display.decisions.tolist() == [0, 1, "ask"]
    assert display.confusion == pytest.approx(np.array([[0.5, 0, 0], [0, 0.25, 0.25]]))
    with pytest.raises(ValueError, match=r"1 of 3 answers .* 'ask'"):
        ConfusionDisplay.from_predictions([0, 1, 1], [0, "ask", 1], decisions=[0, 1])
    with pytest.raises(ValueError, match="has class 2, whose prior"):
        ConfusionDisplay.from_predictions([0, 1, 1], [0, 1, 1], classes=[0, 1, 2], priors="uniform")


def test_right_cells_are_outlined_and_other_decisions_set_apart() -> None:
    evaluation = SimpleNamespace(
        confusion=np.array([[0.1, 0.4, 0.05], [0.02, 0.03, 0.4]]),
        classes=np.array(["a", "b"]),
        decisions=np.array(["ask", "a", "b"], dtype=object),
        priors=np.array([0.55, 0.45]),
    )
    display = ConfusionDisplay.from_evaluation(evaluation)
    outlines = [p for p in display.ax_.patches if not p.get_fill() or p.get_facecolor()[3] == 0]
    assert len(outlines) == 2
    at = {
        t.get_text(): x
        for t, x in zip(display.ax_.get_xticklabels(), display.ax_.get_xticks(), strict=True)
    }
    assert at["b"] - at["a"] == pytest.approx(1.0)
    corners = sorted((p.get_x() + 0.5 * p.get_width(), p.get_y()) for p in outlines)
    assert [int(x) for x, _ in corners] == [int(y) for _, y in corners] == [0, 1]
    assert at["ask"] - at["b"] > 1.1
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "b"]


def test_numbers_can_be_read_on_every_cell() -> None:
    """Contrast by the web's rules is at least 4.5 wherever a number says something."""
    shares = np.linspace(0, 1, 60).reshape(6, 10) ** 2
    display = ConfusionDisplay(shares / shares.sum(), np.arange(6), np.arange(10)).plot()
    fills = [p for p in display.ax_.patches if p.get_facecolor()[3] == 1]
    assert len(fills) == 60
    for fill, cell, share in zip(fills, display.text_.ravel(), shares.ravel(), strict=True):
        if share > 0:
            ink = matplotlib.colors.to_rgb(cell.get_color())
            light, dark = sorted(
                [style.luminance(fill.get_facecolor()[:3]), style.luminance(ink)], reverse=True
            )
            assert (light + 0.05) / (dark + 0.05) >= 4.5


# ------------------------------------------------------------------ what all share


def every_display(clf: Any, X: Any, y: Any, **kwargs: Any) -> list[Any]:
    label = clf.classes_[0]
    decided = {"decisions": clf.decisions_}
    return [
        GainCurveDisplay.from_estimator(clf, X, y, prior_of=label, **kwargs),
        GainCurveDisplay.from_estimator(clf, X, y, entry=(label, clf.decisions_[1]), **kwargs),
        DecisionRegionDisplay.from_estimator(clf, X, y, grid_resolution=25, **kwargs),
        ClassDensityDisplay.from_estimator(clf, X, y, **kwargs),
        ConfusionDisplay.from_predictions(y, clf.predict(X), **decided, **kwargs),
    ]


def test_text_from_data_is_no_formula(iris: Any) -> None:
    X, y = iris
    frame = pd.DataFrame(X[:, :2], columns=[TROUBLE, "x_1"])
    y = np.where(y == "setosa", TROUBLE, "_plain")
    gain = with_action(None, "pay $5 or $6", 0.8)
    clf = BayesClassifier(Gaussian("full"), gain=gain).fit(frame, y)
    for display in every_display(clf, frame, y):
        display.figure_.canvas.draw()
        shown = texts(display)
        assert any(TROUBLE in text for text in shown)
        assert any("_plain" in text for text in shown)


def test_ten_classes_with_long_names_of_any_script() -> None:
    rng = np.random.default_rng(0)
    names = [f"{i} Überweisung an die Fachärztin für Радиология, bitte bald" for i in range(10)]
    X = np.concatenate([rng.normal([3 * i, (i * 7) % 10], 1.0, (20, 2)) for i in range(10)])
    y = np.repeat(names, 20)
    clf = recipes.lda(gain=with_action(None, "weiß nicht", 0.9)).fit(X, y)
    for display in every_display(clf, X, y):
        display.figure_.canvas.draw()
        longest = max(len(line) for text in texts(display) for line in text.splitlines())
        assert longest < 130
    colours = style.decision_colours(clf.decisions_, clf.classes_)
    assert len(set(colours)) == 11


def test_displays_draw_on_the_axes_they_are_given(screening: Any) -> None:
    clf, X, y = screening
    for display in every_display(clf, X, y):
        _, ax = plt.subplots()
        assert display.plot(ax) is display
        assert display.ax_ is ax
        assert display.figure_ is ax.figure


def test_a_decision_has_one_colour_and_a_class_that_of_its_decision() -> None:
    classes = np.array(["a", "b", "c"])
    decisions = np.array(["ask", "c", "a", "wait"], dtype=object)
    colours = dict(zip(decisions, style.decision_colours(decisions, classes), strict=True))
    own = dict(zip(classes, style.class_colours(classes, decisions), strict=True))
    assert (colours["a"], colours["c"]) == (own["a"], own["c"])
    assert len({*colours.values(), *own.values()}) == 5
    many = [style.hue(i) for i in range(30)]
    assert len(set(many)) == 30
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in many)


def test_labels_move_apart_no_more_than_they_must() -> None:
    sizes = np.full(3, 2.0)
    assert style.spread(np.array([1.0, 5.0, 9.0]), sizes, 0, 10).tolist() == [1, 5, 9]
    assert style.spread(np.array([5.0, 5.0, 5.0]), sizes, 0, 10) == pytest.approx([3, 5, 7])
    at = style.spread(np.array([9.9, 9.8, 0.0]), sizes, 0, 10)
    assert at == pytest.approx([9, 7, 1])


def test_without_matplotlib_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "bayesrule\[plots\]"'):
        ConfusionDisplay.from_predictions([0, 1], [0, 1])


def test_every_display_is_public() -> None:
    found = {
        name
        for module in pkgutil.iter_modules(displays.__path__)
        for name, value in vars(
            importlib.import_module(f"{displays.__name__}.{module.name}")
        ).items()
        if name.endswith("Display") and isinstance(value, type)
    }
    assert found == set(displays.__all__)


def test_displays_can_be_imported_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
        if name.startswith("bayesrule.displays"):
            monkeypatch.delitem(sys.modules, name)
    assert importlib.import_module("bayesrule.displays").__all__


# ------------------------------------------------------------------ densities alone


def test_curves_are_the_scores_and_bumps_add_up_to_them() -> None:
    X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    for density in (Kernel("square", 4), Kernel(bandwidth=1.0, adaptive=True)):
        estimate = DensityEstimate(density).fit(X)
        display = DensityCurveDisplay.from_estimator(estimate, X, bumps=True, truth=norm(10, 5).pdf)
        heights = np.exp(estimate.score_samples(display.values[:, None]))
        np.testing.assert_allclose(display.lines_[0].get_ydata(), heights)
        assert display.bumps is not None
        assert display.bumps.shape == (2000, 8)
        np.testing.assert_allclose(display.bumps.sum(axis=1), heights, atol=1e-9)
        assert len(display.ax_.lines) >= 10
        np.testing.assert_allclose(display.truth, norm(10, 5).pdf(display.values))


def test_curves_of_several_estimates_are_named() -> None:
    X = pd.DataFrame({"size": np.random.default_rng(0).normal(size=500)})
    estimates = {f"{k} bins": DensityEstimate(Histogram(k)).fit(X) for k in (3, 30)}
    estimates[TROUBLE] = DensityEstimate(Kernel()).fit(X)
    display = DensityCurveDisplay.from_estimator(estimates, X, values=np.linspace(-1, 1, 50))
    assert display.log_density.shape == (50, 3)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[:2] == ["3 bins", "30 bins"]
    assert display.ax_.get_xlabel() == "size"
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match="one estimate"):
        DensityCurveDisplay.from_estimator(estimates, X, bumps=True)
    with pytest.raises(ValueError, match="sum of bumps"):
        DensityCurveDisplay.from_estimator(estimates["3 bins"], X, bumps=True)
    with pytest.raises(ValueError, match="500 distinct rows"):
        DensityCurveDisplay.from_estimator(estimates[TROUBLE], X, bumps=True)


def test_spikes_without_bound_leave_the_rest_in_view() -> None:
    X = np.random.default_rng(1).normal(size=(60, 1))
    with pytest.warns(NoMassWarning):
        estimate = DensityEstimate(Neighbors(1)).fit(X)
    display = DensityCurveDisplay.from_estimator(estimate, X, values=np.sort(X[:, 0]))
    assert np.isfinite(display.ax_.get_ylim()).all()
    display.figure_.canvas.draw()


def test_level_sets_hold_their_shares() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20_000, 2)) * [1.0, 3.0], columns=["a", "b"])
    estimate = DensityEstimate(Gaussian()).fit(X)
    display = DensityContourDisplay.from_estimator(estimate, X)
    # Of a Gaussian in the plane, the set of p(x) > p(0) exp(-t) holds the share 1 - exp(-t).
    top = estimate.score_samples(X[:1] * 0)[0]
    np.testing.assert_allclose(
        1 - np.exp(display.levels_ - top), [0.95, 0.75, 0.5, 0.25], atol=0.02
    )
    assert display.ax_.get_ylabel() == "b"
    display.figure_.canvas.draw()
    with pytest.raises(ValueError, match="two columns"):
        DensityContourDisplay.from_estimator(estimate, X[["a"]])
    with pytest.raises(ValueError, match="one column"):
        DensityCurveDisplay.from_estimator(estimate, X)
    with pytest.raises(ValueError, match="grid_resolution"):
        DensityContourDisplay.from_estimator(estimate, X, grid_resolution=1)
