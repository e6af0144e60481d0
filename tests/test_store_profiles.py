"""Model files of profiles of every kind: answers keep their bits, and learning goes on."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from bayesrule import (
    BayesClassifier,
    CellProfiles,
    ForestProfiles,
    FuzzyProfiles,
    KMeansProfiles,
    Minimax,
    MixtureProfiles,
    Profiled,
    TreeProfiles,
    load,
    recipes,
    save,
)
from bayesrule.notices import BayesRuleWarning

OWN = [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [-1.0, 3.0, 0.5]]
PROFILES = {
    "kmeans": KMeansProfiles(7),
    "kmeans-standardised-per-class": KMeansProfiles(7, "standardised", per_class=True),
    "kmeans-lda": KMeansProfiles(5, "lda"),
    "fuzzy": FuzzyProfiles(6, 1.4),
    "fuzzy-within": FuzzyProfiles(6, 1.4, metric="within", per_class=True),
    "fuzzy-cmeans": FuzzyProfiles(5, 1.7, "fcm"),
    "fuzzy-own": FuzzyProfiles(fuzziness=1.2, centers=OWN),
    "mixture-full": MixtureProfiles(4),
    "mixture-tied": MixtureProfiles(4, "tied"),
    "mixture-diag-raw-per-class": MixtureProfiles(4, "diag", "raw", per_class=True),
    "mixture-spherical": MixtureProfiles(4, "spherical"),
    "tree": TreeProfiles(6),
    "tree-stump": TreeProfiles(1),
    "cells": CellProfiles(60),
    "cells-uniform": CellProfiles(60, 2, "uniform"),
    "cells-own": CellProfiles(boundaries=[[0.0], [0.5, 1.5], []]),
    "forest": ForestProfiles(3, 5),
    "forest-raw": ForestProfiles(2, "root", metrics=["raw"], per_class=False),
    "chosen": FuzzyProfiles([3, 6], "auto", n_init=1),
    "chosen-tree": TreeProfiles("auto"),
}


def rows(n: int = 150) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    place = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + place[:, None]
    return X, np.array(["low", "mid", "top"])[place], rng.integers(0, 4, n).astype(float)


def answers(clf: BayesClassifier, X: Any) -> list[np.ndarray]:
    return [clf.predict(X), clf.predict_proba(X), clf.decision_proba(X), clf.log_density(X)]


def there_and_back(clf: BayesClassifier, folder: Path) -> BayesClassifier:
    save(clf, folder / "model.bayes")
    return load(folder / "model.bayes")


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize("name", PROFILES)
def test_profiles_keep_their_bits_and_go_on(name, tmp_path):
    X, y, weights = rows()
    new = np.random.default_rng(5).normal(1.0, 3.0, (60, 3))
    clf = BayesClassifier(Profiled(clone(PROFILES[name]))).fit(X[:100], y[:100], weights[:100])
    stored = there_and_back(clf, tmp_path)
    assert type(stored.density_.partition) is type(clf.density_.partition)
    for was, now in zip(answers(clf, new), answers(stored, new), strict=True):
        np.testing.assert_array_equal(now, was)
    changed = [one.with_rule(priors="uniform").predict_proba(new) for one in (clf, stored)]
    np.testing.assert_array_equal(*changed)
    # More rows, and models that share the profiles, are added as if nothing had been stored.
    merged = clf.merge(stored).stats_.sums
    np.testing.assert_array_equal(merged, 2.0 * clf.stats_.sums)
    for one in (clf, stored):
        one.partial_fit(X[100:], y[100:], sample_weight=weights[100:])
    for was, now in zip(answers(clf, new), answers(stored, new), strict=True):
        np.testing.assert_array_equal(now, was)


@pytest.mark.parametrize(
    "clf",
    [
        BayesClassifier(Profiled(FuzzyProfiles(6), "paper"), [0.6, 0.3, 0.1]),
        BayesClassifier(Profiled(KMeansProfiles([4, 8]), folds=3, repeats=2)),
        recipes.dmc(n_profiles=6),
        recipes.dmc({"low": (0.1, 0.2)}, 6, 1.5, "standardised"),
        recipes.dmc(n_profiles=6, fuzziness=1.5, randomised=True),
    ],
    ids=["paper", "chosen", "dmc", "dmc-soft-box", "dmc-randomised"],
)
def test_rules_over_profiles_keep_their_bits(clf, tmp_path):
    X, y, _ = rows()
    clf.fit(X, y)
    stored = there_and_back(clf, tmp_path)
    for was, now in zip(answers(clf, X), answers(stored, X), strict=True):
        np.testing.assert_array_equal(now, was)
    np.testing.assert_array_equal(stored.priors_, clf.priors_)
    assert str(stored.get_params()) == str(clf.get_params())


def mixed(n: int = 160) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    town = np.array(["Oslo", "Rome", "Wien"])[(2 * rng.random(n) + y).astype(int)]
    frame = pd.DataFrame({"age": rng.normal(40 + 8 * y, 10).round(1), "town": town})
    return frame.assign(member=rng.random(n) < 0.3 + 0.4 * y), y


@pytest.mark.parametrize(
    "profiles",
    [
        KMeansProfiles(6, "standardised"),
        FuzzyProfiles(6, 1.5, metric="standardised", per_class=True),
        MixtureProfiles(3, "diag"),
        TreeProfiles(6),
        ForestProfiles(2, 4),
    ],
    ids=lambda profiles: type(profiles).__name__,
)
def test_mixed_columns_keep_their_bits(profiles, tmp_path):
    X, y = mixed()
    clf = BayesClassifier(Profiled(profiles)).fit(X, y)
    stored = there_and_back(clf, tmp_path)
    new = pd.DataFrame({"age": [35.0, 70.0], "town": ["Rome", "Paris"], "member": [True, False]})
    for was, now in zip(answers(clf, new), answers(stored, new), strict=True):
        np.testing.assert_array_equal(now, was)
    assert stored.feature_names_in_.tolist() == ["age", "town", "member"]
    with pytest.raises(ValueError, match="town"):
        stored.predict(new.assign(town=[1.0, 2.0]))


def test_minimax_over_mixed_columns_keeps_its_bits(tmp_path):
    X, y = mixed()
    for clf in (recipes.dmc(n_profiles=6), recipes.dmc(None, 6, 1.5, "standardised", True)):
        stored = there_and_back(clf.fit(X, y), tmp_path)
        np.testing.assert_array_equal(stored.predict(X), clf.predict(X))
        again = [one.with_rule(priors=Minimax({1: (0, 0.3)}), X=X) for one in (clf, stored)]
        np.testing.assert_array_equal(again[0].priors_, again[1].priors_)


@pytest.mark.parametrize(
    "clusterer", [KMeans(4, random_state=0), GaussianMixture(3, random_state=0)]
)
def test_clusterers_of_others_are_refused_and_pickled(clusterer, tmp_path):
    X, y, _ = rows()
    clf = BayesClassifier(Profiled(clusterer)).fit(X, y)
    with pytest.raises((TypeError, ValueError), match=r"skops|joblib"):
        save(clf, tmp_path / "model.bayes")
    assert not list(tmp_path.iterdir())
    joblib.dump(clf, tmp_path / "model.joblib")
    stored = joblib.load(tmp_path / "model.joblib")
    for was, now in zip(answers(clf, X), answers(stored, X), strict=True):
        np.testing.assert_array_equal(now, was)


@pytest.mark.parametrize("name", [name for name in PROFILES if not name.startswith("chosen")])
def test_profiles_alone_can_be_pickled(name):
    X, y, _ = rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        profiles = clone(PROFILES[name]).fit(X, y)
    again = pickle.loads(pickle.dumps(profiles))
    np.testing.assert_array_equal(again.membership(X), profiles.membership(X))
