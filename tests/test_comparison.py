"""Comparing models: the figures are those of evaluating out-of-fold decisions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from bayesrule import compare, expected_gain_score, recipes

IRIS = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
GAIN = {0: {0: 20, 1: -100, "refer": 15}, 1: {0: -20, 1: 0, "refer": -3}}


def test_the_gain_is_that_of_the_out_of_fold_decisions():
    X, y = CANCER
    models = {"lda": recipes.lda(gain=GAIN), "nb": recipes.gaussian_nb(gain=GAIN)}
    found = compare(models, X, y, cv=4, random_state=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    for row in found.models:
        decided = cross_val_predict(models[row.name], X, y, cv=folds)
        assert row.expected_gain == pytest.approx(expected_gain_score(y, decided, gain=GAIN))
        assert row.interval[0] < row.expected_gain < row.interval[1]
        assert row.accuracy == pytest.approx(np.mean(decided == y))
    best, other = found.models
    assert best.behind == 0
    assert best.expected_gain >= other.expected_gain
    assert other.behind == pytest.approx(best.expected_gain - other.expected_gain)


def test_stated_priors_weigh_the_classes():
    X, y = CANCER
    models = {"lda": recipes.lda(gain=GAIN)}
    priors = {0: 0.01, 1: 0.99}
    found = compare(models, X, y, priors=priors).models[0]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    decided = cross_val_predict(models["lda"], X, y, cv=folds)
    expected = expected_gain_score(y, decided, gain=GAIN, priors=priors)
    assert found.expected_gain == pytest.approx(expected)


def test_the_difference_of_two_models_is_taken_row_by_row():
    # Two models that err alike differ by little, however uncertain either gain is.
    X, y = CANCER
    models = {"a": recipes.lda(), "b": recipes.lda(shrinkage=1e-6)}
    behind = compare(models, X, y).models[1]
    assert behind.behind == 0.0
    assert np.diff(behind.behind_interval) < np.diff(behind.interval)


def test_the_interval_of_a_difference_holds_its_level():
    # Bounded differences of known mean: the t interval of scipy is the outside reference.
    X, y = CANCER
    models = {"lda": recipes.lda(), "tree": DecisionTreeClassifier(random_state=0)}
    found = compare(models, X, y, random_state=1)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    right = [cross_val_predict(models[row.name], X, y, cv=folds) == y for row in found.models]
    difference = right[0].astype(float) - right[1]
    low, high = stats.t.interval(0.95, len(y) - 1, difference.mean(), stats.sem(difference))
    assert found.models[1].behind_interval == pytest.approx((low, high), abs=0.006)


def test_repeats_average_over_new_deals_of_the_folds():
    X, y = IRIS
    model = {"tree": DecisionTreeClassifier(random_state=0)}
    one = [compare(model, X, y, random_state=seed).models[0].expected_gain for seed in range(3)]
    many = compare(model, X, y, repeats=3)
    assert many.models[0].expected_gain == pytest.approx(np.mean(one))
    assert many.repeats == 3
    assert many.folds == 5
    assert many.n == 150


def test_it_prints_and_exports():
    X, y = IRIS
    found = compare({"lda": recipes.lda(), "qda": recipes.qda()}, X, y)
    assert "5-fold" in str(found)
    assert "best" in str(found)
    assert [m["name"] for m in found.to_dict()["models"]] == list(found.to_frame().index)


def test_decisions_that_are_no_classes_have_no_accuracy_to_show():
    X, y = IRIS
    gain = {k: {"keep": float(k == 1), "send back": float(k != 1)} for k in range(3)}
    found = compare({"lda": recipes.lda(gain=gain)}, X, y)
    assert np.isnan(found.models[0].accuracy)
    assert "accuracy" not in str(found)
    assert "nan" not in str(found)
    assert "accuracy" in str(compare({"lda": recipes.lda()}, X, y))


def test_weights_are_repeats():
    X, y = IRIS
    order = np.argsort(np.random.default_rng(0).random(len(y)))
    weights = np.where(np.arange(len(y)) % 2, 2.0, 1.0)
    splits = [(order[:100], order[100:]), (order[50:], order[:50])]
    model = {"nb": recipes.gaussian_nb()}
    whole = np.repeat(np.arange(len(y)), weights.astype(int))
    repeated = [
        tuple(np.flatnonzero(np.isin(whole, part)) for part in split)
        for split in (splits[0], (order[:100], order[50:100]), (order[50:], order[:50]))
    ]
    cover = [splits[0], (order[:100], order[50:100]), splits[1]]
    one = compare(model, X, y, sample_weight=weights, cv=cover).models[0]
    two = compare(model, X[whole], y[whole], cv=repeated).models[0]
    assert one.expected_gain == pytest.approx(two.expected_gain)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": {}}, "models"),
        ({"cv": 1}, "folds"),
        ({"cv": 60}, "rarest class has 50"),
        ({"repeats": 0}, "repeats"),
        ({"confidence": 1.0}, "confidence"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    X, y = IRIS
    settings = {"models": {"lda": recipes.lda()}, **changes}
    with pytest.raises(ValueError, match=message):
        compare(settings.pop("models"), X, y, **settings)


def test_gains_in_different_currencies_are_refused():
    X, y = CANCER
    models = {"a": recipes.lda(gain=GAIN), "b": recipes.lda()}
    with pytest.raises(ValueError, match="different gains"):
        compare(models, X, y)
    assert compare(models, X, y, gain=GAIN).models[0].name in models


def test_soft_labels_are_refused():
    X, y = IRIS
    with pytest.raises(ValueError, match="one label per row"):
        compare({"lda": recipes.lda()}, X, np.eye(3)[y])


def test_an_error_names_the_model_that_made_it():
    X, y = IRIS
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 50 == 0, np.nan, X)
    models = {"takes gaps": recipes.gaussian_nb(), "takes none": recipes.knn()}
    with pytest.raises(ValueError, match="NaN") as told:
        compare(models, gaps, y)
    assert told.value.__notes__ == ["That was the model 'takes none'."]


def test_the_picture_shows_gains_intervals_and_who_is_clearly_behind():
    plt = pytest.importorskip("matplotlib.pyplot")
    from bayesrule.displays import ComparisonDisplay

    X, y = CANCER
    models = {"lda $1$": recipes.lda(), "nothing": DecisionTreeClassifier(max_depth=1)}
    display = ComparisonDisplay.from_estimators(models, X, y)
    left, right = display.axes_
    assert [text.get_text() for text in left.get_yticklabels()] == [r"lda \$1\$", "nothing"]
    for row, model in enumerate(display.comparison.models):
        interval, point = left.lines[2 * row : 2 * row + 2]
        assert tuple(interval.get_xdata()) == model.interval
        assert point.get_xdata()[0] == model.expected_gain
    colours = [right.lines[2 * row].get_color() for row in range(2)]
    assert colours[0] != colours[1]
    plt.close(display.figure_)
