"""scikit-learn's own checks with no expected failure, and its tools around our classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from densities import DENSITIES
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import BayesClassifier, FromClassifier, Gaussian, Minimax, recipes, with_action

CLASSIFIERS = [BayesClassifier(listed.density) for listed in DENSITIES if listed.sklearn_checks]
# Gains with a further decision are left out, since decisions then are objects that scikit-learn's
# checks cannot compare, and so are randomised rules, whose decisions are not the argmax.
CLASSIFIERS += [
    BayesClassifier(),
    BayesClassifier(priors="uniform"),
    BayesClassifier(priors=Minimax()),
    BayesClassifier(Gaussian("diag"), priors=Minimax(on="gain")),
    BayesClassifier(FromClassifier(LogisticRegression()), priors=Minimax()),
]


@parametrize_with_checks(CLASSIFIERS)
def test_check(estimator, check):  # type: ignore[no-untyped-def]
    check(estimator)


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_pipeline_is_the_steps_by_hand(iris):
    X, y = iris
    pipe = make_pipeline(StandardScaler(), recipes.qda()).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    by_hand = recipes.qda().fit(Z, y)
    np.testing.assert_array_equal(pipe.predict_proba(X), by_hand.predict_proba(Z))
    np.testing.assert_array_equal(pipe.predict(X), by_hand.predict(Z))


def test_pipeline_hands_frames_on(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipe = make_pipeline(StandardScaler(), recipes.lda()).set_output(transform="pandas")
    pipe.fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == list("abcd")
    plain = make_pipeline(StandardScaler(), recipes.lda()).fit(X, y)
    np.testing.assert_array_equal(pipe.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        pipe.predict(frame.rename(columns={"d": "e"}))


def test_grid_search_over_a_setting_of_the_density():
    # Sixteen rows per class to fit, ten columns: a shrunken covariance predicts far better.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 10)) + 0.5 * y[:, None]
    search = GridSearchCV(recipes.qda(), {"density__shrinkage": [None, 0.2, 0.5, 1.0]}, cv=5)
    search.fit(X, y)
    assert search.best_params_["density__shrinkage"] is not None
    best = recipes.qda(shrinkage=search.best_params_["density__shrinkage"])
    assert search.best_score_ == np.mean(cross_val_score(best, X, y, cv=5))


def test_grid_search_over_the_density_itself():
    # Equal means and unequal covariances: only a covariance per class can tell them apart.
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (150, 2)), rng.normal(0, 6, (150, 2))]
    y = np.repeat(["near", "wide"], 150)
    densities = [Gaussian("tied"), Gaussian("full"), FromClassifier(LogisticRegression())]
    search = GridSearchCV(BayesClassifier(), {"density": densities}, cv=3).fit(X, y)
    assert search.best_params_["density"].get_params() == Gaussian("full").get_params()
    assert search.predict(X[:1]).dtype.kind == "U"


def test_search_over_priors_and_gain(iris):
    X, y = iris
    grid = {
        "priors": ["empirical", "uniform", Minimax()],
        "gain": [None, with_action(None, "?", 2)],
    }
    search = GridSearchCV(recipes.lda(), grid, cv=3).fit(X, y)
    scores = np.array(search.cv_results_["mean_test_score"])
    always_refused = np.array([p["gain"] is not None for p in search.cv_results_["params"]])
    # An action that is worth more than being right is always taken, and is never the true class.
    assert (scores[always_refused] == 0).all()
    assert (scores[~always_refused] > 0.9).all()


def test_cross_validation_with_a_further_decision(iris):
    X, y = iris
    clf = recipes.lda(gain=with_action(None, "ask", 0.9))
    decided = cross_val_predict(clf, X, y, cv=5)
    assert decided.dtype == object
    assert set(decided) == {"setosa", "versicolor", "virginica", "ask"}
    scores = cross_val_score(clf, X, y, cv=5)
    assert np.mean(scores) == pytest.approx(np.mean(decided == y), abs=1e-12)
    assert 0.5 < np.mean(scores) < np.mean(cross_val_score(recipes.lda(), X, y, cv=5))


def test_parallel_runs_agree(iris):
    X, y = iris
    one = cross_val_score(recipes.qda(), X, y, cv=4, n_jobs=1)
    two = cross_val_score(recipes.qda(), X, y, cv=4, n_jobs=2)
    np.testing.assert_array_equal(one, two)
    fitted = recipes.gaussian_nb().fit(X, y)
    rows = np.array_split(X, 5)
    parts = Parallel(n_jobs=2)(delayed(fitted.predict_proba)(part) for part in rows)
    np.testing.assert_allclose(np.concatenate(parts), fitted.predict_proba(X), rtol=1e-12)


def test_calibration_around_ours():
    # Every column twice: naive Bayes counts all evidence double and is far too sure of itself.
    X, y = load_breast_cancer(return_X_y=True)
    X = np.repeat(X, 2, axis=1)
    fit, new = np.arange(0, len(y), 2), np.arange(1, len(y), 2)

    def brier(model):
        return np.mean((model.fit(X[fit], y[fit]).predict_proba(X[new])[:, 1] - y[new]) ** 2)

    ours, sklearns = recipes.gaussian_nb(), GaussianNB()
    calibrated = brier(CalibratedClassifierCV(ours))
    assert calibrated < brier(ours)
    assert calibrated == pytest.approx(brier(CalibratedClassifierCV(sklearns)), abs=0.01)


def test_frozen_classifier_is_not_refitted(iris):
    X, y = iris
    fitted = recipes.qda().fit(X, y)
    frozen = FrozenEstimator(fitted)
    frozen.fit(X[:3], y[:3])
    np.testing.assert_array_equal(frozen.predict_proba(X), fitted.predict_proba(X))
    again = BayesClassifier(FromClassifier(frozen)).fit(X, y)
    # Its priors were counted on these rows, so dividing them out and in again changes nothing.
    np.testing.assert_allclose(again.predict_proba(X), fitted.predict_proba(X), atol=1e-12)


def test_ensembles_of_ours(iris):
    X, y = iris
    vote = VotingClassifier([("a", recipes.lda()), ("b", recipes.qda())], voting="soft").fit(X, y)
    mean = (recipes.lda().fit(X, y).predict_proba(X) + recipes.qda().fit(X, y).predict_proba(X)) / 2
    np.testing.assert_allclose(vote.predict_proba(X), mean, atol=1e-12)
    stack = StackingClassifier([("a", recipes.lda()), ("b", recipes.gaussian_nb())]).fit(X, y)
    assert stack.score(X, y) > 0.9
    assert AdaBoostClassifier(recipes.gaussian_nb(), n_estimators=5).fit(X, y).score(X, y) > 0.9


def test_clone_forgets_and_keeps_settings(iris):
    X, y = iris
    clf = BayesClassifier(
        Gaussian("diag", 0.1), {"setosa": 0.2, "versicolor": 0.3, "virginica": 0.5}
    )
    copy = clone(clf.fit(X, y))
    assert not hasattr(copy, "classes_")
    assert repr(copy) == repr(clf)
    np.testing.assert_array_equal(copy.fit(X, y).predict_proba(X), clf.predict_proba(X))


def test_set_params_reaches_in_and_waits_for_fit(iris):
    X, y = iris
    clf = BayesClassifier(Gaussian()).fit(X, y)
    before = clf.predict_proba(X)
    clf.set_params(density__covariance="diag", priors="uniform")
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    clf.fit(X, y)
    expected = recipes.gaussian_nb(priors="uniform").fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    with pytest.raises(ValueError, match="Invalid parameter"):
        clf.set_params(density__width=3)
    minimax = BayesClassifier(priors=Minimax()).set_params(priors__on="gain")
    assert minimax.priors.on == "gain"


def test_gains_of_rows_are_routed_through_a_pipeline(iris):
    X, y = iris
    rng = np.random.default_rng(0)
    gains = rng.normal(size=(len(X), 3, 3))
    Z = StandardScaler().fit_transform(X)
    expected = recipes.lda().fit(Z, y).predict(Z, gain=gains)
    with config_context(enable_metadata_routing=True):
        last = recipes.lda().set_predict_request(gain=True)
        pipe = Pipeline([("scale", StandardScaler()), ("decide", last)]).fit(X, y)
        np.testing.assert_array_equal(pipe.predict(X, gain=gains), expected)
        silent = Pipeline([("scale", StandardScaler()), ("decide", recipes.lda())]).fit(X, y)
        with pytest.raises(ValueError, match="gain"):
            silent.predict(X, gain=gains)


def test_weights_are_routed_through_a_search(iris):
    X, y = iris
    weights = np.arange(len(y)) % 3
    with config_context(enable_metadata_routing=True):
        clf = recipes.qda().set_fit_request(sample_weight=True)
        clf.set_score_request(sample_weight=True)
        search = GridSearchCV(clf, {"density__shrinkage": [0.1]}, cv=3)
        search.fit(X, y, sample_weight=weights)
    expected = recipes.qda(shrinkage=0.1).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(search.predict_proba(X), expected.predict_proba(X))
