"""The forest of partitions: a mean of posteriors, and a density like any other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_score

from bayesrule import BayesClassifier, ForestProfiles, FuzzyProfiles, Profiled, recipes
from bayesrule.notices import FewRowsWarning


def test_posteriors_are_the_mean_of_those_of_the_partitions():
    X, y = load_iris(return_X_y=True)
    clf = BayesClassifier(Profiled(ForestProfiles(5, 7))).fit(X, y)
    alone = [
        BayesClassifier(
            Profiled(FuzzyProfiles(7, 1.3, metric=metric, per_class=True, n_init=1, random_state=s))
        ).fit(X, y)
        for metric, s in ForestProfiles(5, 7)._plan()
    ]
    expected = np.mean([one.predict_proba(X) for one in alone], axis=0)
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-12)
    # Under other priors it follows Bayes' rule, which a mean of posteriors does not.
    priors = np.array([0.7, 0.2, 0.1])
    odds = clf.predict_proba(X) * priors * 3
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.with_rule(priors=priors).predict_proba(X), expected, atol=1e-12)


def test_metrics_take_turns_and_seeds_differ():
    plan = ForestProfiles(6, metrics=("raw", "lda"))._plan()
    assert [metric for metric, _ in plan] == ["raw", "lda"] * 3
    assert len({seed for _, seed in plan}) == 6
    assert plan == ForestProfiles(6, metrics=("raw", "lda"))._plan()
    assert plan != ForestProfiles(6, metrics=("raw", "lda"), random_state=1)._plan()


def test_profiles_grow_with_the_root_of_the_rows():
    X, y = load_iris(return_X_y=True)
    parts = ForestProfiles(2).fit(X, y).partition_.parts
    assert [part.n_profiles for part in parts] == [18, 18]
    parts = ForestProfiles(1).fit(X, y, np.full(150, 4.0)).partition_.parts
    assert parts[0].n_profiles == 37
    many = np.arange(30_000.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"metrics": ["raw"], "per_class": False, "sample_rows": 2000}
        parts = ForestProfiles(1, **settings).fit(many).partition_.parts
    assert parts[0].n_profiles == 200


def test_a_forest_is_better_than_one_partition_on_wine():
    X, y = load_wine(return_X_y=True)
    alone = cross_val_score(recipes.spdbc(18, 1.3, "standardised"), X, y).mean()
    assert cross_val_score(recipes.spdbc_forest(), X, y).mean() >= alone


def test_what_partitions_have_to_say_is_said_once():
    X, y = np.repeat([[0.0], [1.0], [5.0], [7.0]], 3, axis=0), [0, 0, 1] * 4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recipes.spdbc_forest(8, 20).fit(X, y)
    told = [w for w in caught if issubclass(w.category, FewRowsWarning)]
    assert len(told) == 1
    assert "partitions of the forest" in str(told[0].message)


def test_settings_are_checked():
    X, y = load_iris(return_X_y=True)
    for settings, message in (
        ({"n_partitions": 0}, "n_partitions=0"),
        ({"n_profiles": "many"}, "n_profiles='many'"),
        ({"metrics": "lda"}, "metrics='lda'"),
        ({"metrics": ["cosine"]}, "metrics="),
        ({"metrics": 3, "per_class": False}, "metrics=3"),
        ({"fuzziness": 1.0}, "above 1"),
        ({"per_class": 2}, "per_class=2"),
    ):
        with pytest.raises(ValueError, match=message):
            ForestProfiles(**{"n_partitions": 2, **settings}).fit(X, y)
