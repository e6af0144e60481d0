"""The scorer of expected gain wherever scikit-learn takes a scorer, and per-row gains in it."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import (
    accuracy_score,
    make_scorer,
)
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule.classifier import BayesClassifier
from bayesrule.evaluation import evaluate, expected_gain_score, expected_gain_scorer
from bayesrule.gains import with_action
from bayesrule.notices import AbsentClassWarning

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LABELS = NAMES[SPECIES]

#: Gains in which a further decision, which is no class, is sometimes best.
REFER = with_action({n: {m: 1.0 if m == n else -9.0 for m in NAMES} for n in NAMES}, "refer", 0.5)


def test_cross_validation_scores_each_fold_by_the_estimators_own_rule():
    X = IRIS[:, :2]
    clf = BayesClassifier(priors=[0.2, 0.3, 0.5], gain=REFER)
    folds = StratifiedKFold(4)
    scores = cross_val_score(clf, X, LABELS, scoring=expected_gain_scorer(), cv=folds)
    for (train, test), score in zip(folds.split(X, LABELS), scores, strict=True):
        fitted = clone(clf).fit(X[train], LABELS[train])
        assert score == pytest.approx(evaluate(fitted, X[test], LABELS[test]).expected_gain)
        assert score == pytest.approx(
            expected_gain_score(
                LABELS[test], fitted.predict(X[test]), gain=REFER, priors=[0.2, 0.3, 0.5]
            )
        )


def test_a_search_finds_what_earns_most_also_in_a_pipeline_and_in_parallel():
    X, y = load_breast_cancer(return_X_y=True)
    gain = {0: {0: 0, 1: -50}, 1: {0: -1, 1: 0}}
    model = make_pipeline(StandardScaler(), BayesClassifier())
    search = GridSearchCV(
        model,
        {"bayesclassifier__gain": [None, gain]},
        scoring=expected_gain_scorer(gain=gain, priors=[0.3, 0.7]),
        cv=3,
        n_jobs=2,
    ).fit(X[:, :4], y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[1] > scores[0]
    assert search.best_params_["bayesclassifier__gain"] == gain
    own = cross_val_score(search.best_estimator_, X[:, :4], y, scoring=expected_gain_scorer())
    assert np.isfinite(own).all()


def test_scorers_clone_pickle_and_share_a_table_with_others():
    scorer = expected_gain_scorer(gain=REFER, priors="uniform")
    clf = BayesClassifier(gain=REFER).fit(IRIS[:, :2], LABELS)
    expected = scorer(clf, IRIS[:, :2], LABELS)
    assert pickle.loads(pickle.dumps(scorer))(clf, IRIS[:, :2], LABELS) == expected
    assert clone(scorer, safe=False)(clf, IRIS[:, :2], LABELS) == expected
    assert repr(expected_gain_scorer(priors="uniform")) == "expected_gain_scorer(priors='uniform')"
    search = GridSearchCV(clf, {"random_state": [0]}, scoring=scorer)
    assert clone(search).fit(IRIS[:, :2], LABELS).best_score_ > 0
    many = cross_validate(
        GaussianNB(), IRIS, LABELS, scoring={"gain": expected_gain_scorer(), "hits": "accuracy"}
    )
    assert many["test_gain"] == pytest.approx(many["test_hits"])


def test_weights_reach_the_scorer():
    w = np.random.default_rng(0).integers(1, 9, 150).astype(float)
    clf = GaussianNB().fit(IRIS[:, :1], LABELS)
    weighted = expected_gain_scorer()(clf, IRIS[:, :1], LABELS, sample_weight=w)
    assert weighted == pytest.approx(clf.score(IRIS[:, :1], LABELS, sample_weight=w))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a search warns when a scorer takes no weights
        search = GridSearchCV(GaussianNB(), {}, scoring=expected_gain_scorer(), cv=3)
        search.fit(IRIS[:, :1], LABELS, sample_weight=w)
    accuracy = GridSearchCV(GaussianNB(), {}, scoring=make_scorer(accuracy_score), cv=3)
    accuracy.fit(IRIS[:, :1], LABELS, sample_weight=w)
    assert search.best_score_ == pytest.approx(accuracy.best_score_)


def test_a_threshold_tuned_by_the_scorer_beats_the_plain_one_on_what_it_was_tuned_for():
    X, y = load_breast_cancer(return_X_y=True)
    gain = {0: {0: 0, 1: -50}, 1: {0: -1, 1: 0}}
    scorer = expected_gain_scorer(gain=gain)
    plain = GaussianNB().fit(X[:, :4], y)
    tuned = TunedThresholdClassifierCV(GaussianNB(), scoring=scorer, cv=3).fit(X[:, :4], y)
    assert scorer(tuned, X[:, :4], y) > scorer(plain, X[:, :4], y)


def test_folds_that_lack_a_class_have_finite_scores():
    y = np.array(["common"] * 30 + ["rare"] * 3 + ["other"] * 30)
    X = (
        np.random.default_rng(0).normal(size=(63, 2))
        + np.unique(y, return_inverse=True)[1][:, None]
    )
    labels = ["common", "other", "rare"]
    gain = {k: {d: float(k == d) for d in labels} for k in labels}
    named = expected_gain_scorer(gain=gain, priors={"common": 0.5, "other": 0.4, "rare": 0.1})
    plain = expected_gain_scorer()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AbsentClassWarning)
        for scorer in (named, plain):
            for clf in (GaussianNB(), BayesClassifier(gain=gain), BayesClassifier()):
                # Whole classes are left out of training or of testing here.
                folds = [
                    (np.r_[0:30, 33:63], np.r_[0:63]),
                    (np.r_[0:63], np.r_[0:30]),
                    (np.r_[0:30, 33:63], np.r_[5:25, 40:60]),
                ]
                scores = cross_val_score(clf, X, y, scoring=scorer, cv=folds, error_score="raise")
                assert np.isfinite(scores).all()


# ---------------------------------------------------------------- metadata routing


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def routed(clf, **requests):
    """Scores of folds, and what each fold's rows gain when decided with or without their gains."""
    X = IRIS[:, :2]
    gain = np.random.default_rng(0).exponential(size=(150, 3, 1)) * np.eye(3)
    weight = np.random.default_rng(1).integers(1, 5, 150).astype(float)
    scorer = expected_gain_scorer(priors="empirical").set_score_request(
        gain=True, sample_weight=True
    )
    folds = StratifiedKFold(3)
    params = {"gain": gain, "sample_weight": weight}
    scores = cross_validate(
        clf, X, LABELS, scoring=scorer, cv=folds, params=params, error_score="raise"
    )
    seeing, blind = [], []
    for train, test in folds.split(X, LABELS):
        fitted = BayesClassifier().fit(X[train], LABELS[train])
        for scored, made in (
            (seeing, fitted.predict(X[test], gain=gain[test])),
            (blind, fitted.predict(X[test])),
        ):
            got = gain[test, SPECIES[test], np.searchsorted(NAMES, made)]
            scored.append(np.average(got, weights=weight[test]))
    assert seeing != blind
    return scores["test_score"], seeing, blind


@pytest.mark.usefixtures("routing")
def test_gains_and_weights_of_each_row_reach_the_scorer_and_the_decisions():
    clf = BayesClassifier().set_fit_request(sample_weight=False)
    scores, seeing, _ = routed(clf)
    assert scores == pytest.approx(seeing)


@pytest.mark.usefixtures("routing")
def test_a_classifier_that_declines_gains_is_still_valued_by_them():
    clf = BayesClassifier().set_fit_request(sample_weight=False).set_predict_request(gain=False)
    scores, _, blind = routed(clf)
    assert scores == pytest.approx(blind)


@pytest.mark.usefixtures("routing")
def test_a_pipeline_lets_gains_through_when_its_last_step_asks_for_them():
    clf = BayesClassifier().set_fit_request(sample_weight=False)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    asking = make_pipeline(scaler, clone(clf).set_predict_request(gain=True))
    scores, seeing, _ = routed(asking)
    assert scores == pytest.approx(seeing)
    declining = make_pipeline(scaler, clone(clf).set_predict_request(gain=False))
    scores, _, blind = routed(declining)
    assert scores == pytest.approx(blind)
    with pytest.raises(UnsetMetadataPassedError, match="gain"):
        routed(make_pipeline(scaler, clf))


@pytest.mark.usefixtures("routing")
def test_gains_of_each_row_value_classifiers_that_know_of_none():
    rng = np.random.default_rng(0)
    gain = rng.exponential(size=(150, 3, 1)) * np.eye(3)
    scorer = expected_gain_scorer().set_score_request(gain=True)
    clf = GaussianNB().fit(IRIS[:, :2], LABELS)
    made = np.searchsorted(NAMES, clf.predict(IRIS[:, :2]))
    assert scorer(clf, IRIS[:, :2], LABELS, gain=gain) == pytest.approx(
        gain[np.arange(150), SPECIES, made].mean()
    )
    search = GridSearchCV(clf, {"var_smoothing": [1e-9, 1e-2]}, scoring=scorer, cv=3)
    assert np.isfinite(search.fit(IRIS[:, :2], LABELS, gain=gain).best_score_)


@pytest.mark.usefixtures("routing")
def test_gains_that_were_not_asked_for_are_an_error():
    with pytest.raises(UnsetMetadataPassedError, match="gain"):
        cross_validate(
            GaussianNB(),
            IRIS,
            LABELS,
            scoring=expected_gain_scorer(),
            params={"gain": np.zeros((150, 3, 3))},
        )
