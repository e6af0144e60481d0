"""Clusterers of scikit-learn as profiles."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import Birch, KMeans, MeanShift, MiniBatchKMeans
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import BayesClassifier, FuzzyCMeans, Profiled


def rows(seed: int = 0, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + np.array([[0, 0], [3, 1], [0, 4]])[y], y


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(4, random_state=0),
        MiniBatchKMeans(4, random_state=0),
        Birch(n_clusters=4),
        MeanShift(bandwidth=2.0),
        make_pipeline(StandardScaler(), KMeans(4, random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_hard_posteriors_are_the_class_shares_of_the_clusters(clusterer):
    X, y = rows()
    clf = BayesClassifier(Profiled(clusterer)).fit(X, y)
    label = clf.density_.partition.model.predict(X)
    expected = np.array(
        [np.bincount(y[label == t], minlength=3) / (label == t).sum() for t in label]
    )
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(4, random_state=0),
        BayesianGaussianMixture(n_components=4, random_state=0, max_iter=500),
        FuzzyCMeans(4, 1.5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_soft_posteriors_are_equation_12(model):
    X, y = rows()
    clf = BayesClassifier(Profiled(model)).fit(X, y)
    U = clf.density_.partition.model.predict_proba(X)
    p = np.array([U[y == k].mean(axis=0) for k in range(3)])
    joint = p * (np.bincount(y) / len(y))[:, None]
    expected = U @ (joint / joint.sum(axis=0)).T
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-10)


class Threes(BaseEstimator):
    """Predicts a label that no training row had, far away."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 100.0, -1, (X[:, 0] > 1.5).astype(int))


def test_rows_of_a_cluster_that_was_never_seen_get_the_priors():
    X, y = rows()
    clf = BayesClassifier(Profiled(Threes()), [0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba([[1e6, 0.0]]), [[0.2, 0.3, 0.5]])


def test_weights_reach_the_clusterer_or_are_refused():
    X, y = rows()
    weights = np.tile([1.0, 2.0, 5.0], 50)
    for model in (KMeans(4, random_state=0), make_pipeline(StandardScaler(), KMeans(4))):
        BayesClassifier(Profiled(model)).fit(X, y, weights)
    fitted = BayesClassifier(Profiled(KMeans(4, random_state=0))).fit(X, y, weights)
    peer = KMeans(4, random_state=0).fit(X, sample_weight=weights)
    found = fitted.density_.partition.model.cluster_centers_
    np.testing.assert_allclose(found, peer.cluster_centers_)
    with pytest.raises(TypeError, match=r"GaussianMixture takes no sample_weight.*MixtureProfiles"):
        BayesClassifier(Profiled(GaussianMixture(3))).fit(X, y, weights)


def test_a_fitted_clusterer_is_kept_and_a_search_reaches_its_settings():
    X, y = rows()
    fitted = KMeans(3, random_state=0).fit(X)
    clf = BayesClassifier(Profiled(FrozenEstimator(fitted))).fit(X[:60], y[:60])
    np.testing.assert_array_equal(clf.density_.partition.model.predict(X), fitted.predict(X))
    search = GridSearchCV(
        BayesClassifier(Profiled(KMeans(2, random_state=0))),
        {"density__profiles__n_clusters": [1, 6]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_ == {"density__profiles__n_clusters": 6}


def test_what_is_no_clusterer_is_refused():
    X, y = rows()
    for wrong, message in (
        (LogisticRegression(), "FromClassifier"),
        (KMeans, "profiles must be"),
        (StandardScaler(), "profiles must be"),
        ("kmeans", "profiles must be"),
    ):
        with pytest.raises(TypeError, match=message):
            BayesClassifier(Profiled(wrong)).fit(X, y)
