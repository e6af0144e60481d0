"""Curves of scores under noise: as by hand, paired, and the same on any number of cores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bayesrule import ScaleNoise, recipes, robustness_curve
from bayesrule.noise import FeatureNoise, LabelNoise

X, Y = load_iris(return_X_y=True)
MODELS = {"one": KNeighborsClassifier(1), "many": KNeighborsClassifier(25)}


class Counting(DecisionTreeClassifier):
    """Remembers how often it was fitted."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


def test_without_noise_it_is_cross_validation():
    curve = robustness_curve(MODELS, X, Y, levels=[0.0], repeats=2, random_state=5)
    for m, model in enumerate(MODELS.values()):
        for r in range(2):
            folds = StratifiedKFold(5, shuffle=True, random_state=5 + r)
            expected = cross_val_score(model, X, Y, cv=folds)
            np.testing.assert_allclose(curve.scores[m, 0, r], expected)


def test_noise_in_training_rows_is_what_one_would_put_in_by_hand():
    curve = robustness_curve(MODELS, X, Y, levels=[0.0, 0.3], random_state=2)
    model = MODELS["one"]
    folds = StratifiedKFold(5, shuffle=True, random_state=2).split(X, Y)
    for f, (train, test) in enumerate(folds):
        rng = np.random.default_rng([2, 0, f, 0, False])
        _, noisy = LabelNoise().disturb(X[train], Y[train], 0.3, rng, np.arange(3))
        expected = clone(model).fit(X[train], noisy).score(X[test], Y[test])
        assert curve.scores[0, 1, 0, f] == pytest.approx(expected)
    assert curve.means[0, 1] < curve.means[0, 0] - 0.1
    # One neighbour believes every wrong label, many outvote them.
    assert curve.means[1, 1] > curve.means[0, 1] + 0.1


def test_noise_in_new_rows_fits_once_per_fold():
    Counting.fits = 0
    curve = robustness_curve(Counting(), X, Y, noise="features", cv=4)
    assert Counting.fits == 4
    assert curve.places == ("test",)
    assert curve.means[0, -1] < curve.means[0, 0]
    Counting.fits = 0
    robustness_curve(Counting(), X, Y, noise="features", where="both", cv=4, levels=[0, 0.1, 0.1])
    assert Counting.fits == 8


def test_several_noises_at_once_are_all_put_in():
    noises = ["labels", FeatureNoise(), ScaleNoise(3)]
    curve = robustness_curve(MODELS, X, Y, noise=noises, where=["train", "test", "train"])
    assert curve.levels.shape == (6, 3)
    both = robustness_curve(MODELS, X, Y, noise=noises, levels=[(0.2, 0, 0), (0.2, 0.5, 0)])
    alone = robustness_curve(MODELS, X, Y, noise="labels", levels=[0.2])
    np.testing.assert_array_equal(both.scores[:, 0], alone.scores[:, 0])
    assert both.means[1, 1] < both.means[1, 0] - 0.05


def test_any_number_of_processes_gives_the_same_scores():
    settings = {"levels": [0, 0.2], "cv": 2}
    one = robustness_curve(MODELS, X, Y, n_jobs=1, **settings)
    two = robustness_curve(MODELS, X, Y, n_jobs=2, **settings)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_differences_are_paired_and_corrected_for_shared_training_rows():
    curve = robustness_curve(MODELS, X, Y, levels=[0.25], cv=5, repeats=4)
    table = curve.paired("one")
    ahead = (curve.scores[1, 0] - curve.scores[0, 0]).ravel()
    assert table["ahead"].item() == pytest.approx(ahead.mean())
    error = np.sqrt((1 / 20 + 0.25) * ahead.var(ddof=1))
    assert table["p_value"].item() == pytest.approx(
        2 * stats.t.sf(abs(ahead.mean() / error), 19), rel=1e-9
    )
    low, high = stats.t.interval(0.95, 19, ahead.mean(), error)
    assert (table["low"].item(), table["high"].item()) == pytest.approx((low, high))
    same = {"a": MODELS["one"], "b": MODELS["one"]}
    assert robustness_curve(same, X, Y, levels=[0.1]).paired()["p_value"].item() == 1.0
    with pytest.raises(ValueError, match="none of the models"):
        curve.paired("three")


def test_chance_rarely_looks_like_a_difference():
    # Two coins are equally good: at most about one in twenty tests may find otherwise.
    rng = np.random.default_rng(0)
    found = 0
    for i in range(40):
        noise = rng.normal(size=(80, 2))
        labels = rng.integers(0, 2, 80)
        coins = {
            "a": DummyClassifier(strategy="uniform", random_state=i),
            "b": DummyClassifier(strategy="uniform", random_state=1000 + i),
        }
        curve = robustness_curve(coins, noise, labels, levels=[0.0], repeats=2)
        found += curve.paired()["p_value"].item() < 0.05
    assert found <= 6


def test_frames_names_and_scorers():
    frame = load_iris(as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    models = {"naive": recipes.gaussian_nb(), "tree": DecisionTreeClassifier(random_state=0)}
    curve = robustness_curve(models, frame.data, names, noise="scale", cv=3, scoring="f1_macro")
    assert curve.scoring == "f1_macro"
    assert curve.to_frame().shape == (2 * 6 * 3, 5)
    text = str(curve)
    assert "naive" in text
    assert "share of rows blown up (train)" in text


def test_what_cannot_be_is_refused():
    for settings, message in (
        ({"noise": "music"}, "noise='music'"),
        ({"noise": []}, "names no noise"),
        ({"where": "inside"}, "where='inside'"),
        ({"levels": []}, "levels="),
        ({"levels": [-1.0]}, "levels="),
        ({"levels": [(0.1, 0.2)]}, "each of the 1 noises"),
        ({"repeats": 0}, "repeats=0"),
    ):
        with pytest.raises(ValueError, match=message):
            robustness_curve(MODELS, X, Y, **settings)
    with pytest.raises(ValueError, match="estimators="):
        robustness_curve({}, X, Y)


def test_a_single_fold_tells_no_chance():
    split = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    curve = robustness_curve(MODELS, X, Y, levels=[0.0], cv=split)
    found = curve.paired()
    assert found["ahead"].notna().all()
    assert found[["low", "high", "p_value"]].isna().all(axis=None)


def test_splits_that_end_are_dealt_again_in_each_repeat():
    splits = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    levels = {"levels": [0.0, 0.2], "repeats": 2}
    once = robustness_curve(MODELS, X, Y, cv=(split for split in splits), **levels)
    np.testing.assert_array_equal(
        once.scores, robustness_curve(MODELS, X, Y, cv=splits, **levels).scores
    )


def test_rows_without_labels_and_several_scores_are_refused_before_anything_is_fitted():
    fits = Counting.fits
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        robustness_curve(Counting(), X, Y[:-1])
    for scoring in (["accuracy", "f1_macro"], {"a": "accuracy"}, 3):
        with pytest.raises(ValueError, match="expected one score"):
            robustness_curve(Counting(), X, Y, scoring=scoring)
    assert Counting.fits == fits


def test_a_score_of_ones_own_is_called_by_its_name():
    def share_right(model, X, y):
        return float((model.predict(X) == y).mean())

    own = robustness_curve(MODELS, X, Y, levels=[0.0], scoring=share_right)
    assert own.scoring == "share_right"
    usual = robustness_curve(MODELS, X, Y, levels=[0.0])
    np.testing.assert_array_equal(own.scores, usual.scores)
