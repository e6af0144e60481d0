"""Fuzzy c-means: a minimum of its objective, whatever the units, weights and order."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import BayesClassifier, FuzzyCMeans, FuzzyProfiles, Profiled
from bayesrule.notices import NotConvergedWarning


@parametrize_with_checks([FuzzyCMeans(3), FuzzyCMeans(2, 1.2)])
def test_check(estimator, check):  # type: ignore[no-untyped-def]
    check(estimator)


def blobs(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[y], y


def objective(centres: np.ndarray, X: np.ndarray, m: float) -> float:
    """(8a) with the best memberships (8b), as they are written."""
    apart = cdist(X, centres)
    U = 1.0 / ((apart[:, :, None] / apart[:, None, :]) ** (2 / (m - 1))).sum(axis=2)
    return float((U**m * apart**2).sum())


@pytest.mark.parametrize("m", [1.2, 2.0, 3.5])
def test_no_other_centres_have_a_smaller_objective(m):
    X, _ = blobs()
    model = FuzzyCMeans(3, m, tol=1e-10).fit(X)
    assert model.objective_ == pytest.approx(objective(model.cluster_centers_, X, m), rel=1e-9)
    peer = minimize(
        lambda c: objective(c.reshape(3, 2), X, m), model.cluster_centers_.ravel(), tol=1e-10
    )
    assert model.objective_ <= peer.fun * (1 + 1e-9)
    np.testing.assert_allclose(peer.x.reshape(3, 2), model.cluster_centers_, atol=1e-4)


def test_near_one_it_is_kmeans():
    X, _ = blobs()
    hard = KMeans(3, n_init=5, random_state=0).fit(X)
    soft = FuzzyCMeans(3, 1.01).fit(X)
    assert adjusted_rand_score(hard.labels_, soft.labels_) > 0.97
    assert soft.objective_ == pytest.approx(hard.inertia_, rel=0.01)
    np.testing.assert_array_equal(soft.predict(X), soft.membership(X).argmax(axis=1))


def test_more_starts_are_never_worse():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2)) + 4 * rng.integers(0, 4, (300, 2))
    one, many = (FuzzyCMeans(16, 1.3, n_init=n).fit(X) for n in (1, 8))
    assert many.objective_ <= one.objective_
    assert 1 <= many.n_iter_ <= 300


def test_weights_are_repetitions():
    X, _ = blobs(90)
    weights = np.tile([1, 3, 0], 30)
    by_weight = FuzzyCMeans(3, tol=1e-9).fit(X, sample_weight=weights)
    by_hand = FuzzyCMeans(3, tol=1e-9).fit(np.repeat(X, weights, axis=0))
    order = [c[:, 0].argsort() for c in (by_weight.cluster_centers_, by_hand.cluster_centers_)]
    np.testing.assert_allclose(
        by_weight.cluster_centers_[order[0]], by_hand.cluster_centers_[order[1]], atol=1e-6
    )
    assert by_weight.objective_ == pytest.approx(by_hand.objective_, rel=1e-9)


def test_far_from_zero_and_in_any_unit():
    X, _ = blobs()
    plain = FuzzyCMeans(3).fit(X)
    for scale, shift in ((1e6, 0), (1e-6, 0), (1, 1e6)):
        moved = FuzzyCMeans(3).fit(X * scale + shift)
        np.testing.assert_allclose(
            (moved.cluster_centers_ - shift) / scale, plain.cluster_centers_, rtol=1e-6, atol=1e-6
        )


def test_memory_does_not_grow_with_the_centres():
    X = np.random.default_rng(0).normal(size=(100_000, 3))
    settings = {"n_init": 1, "max_iter": 2, "tol": 0.0}
    peaks = []
    for n_clusters in (2, 100):
        with pytest.warns(NotConvergedWarning, match="2 iterations"):
            FuzzyCMeans(2, **settings).fit(X[:1000])  # compiled
        tracemalloc.start()
        with pytest.warns(NotConvergedWarning):
            model = FuzzyCMeans(n_clusters, **settings).fit(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert model.cluster_centers_.shape == (n_clusters, 3)
    # 100,000 x 100 memberships alone would be 80 MB.
    assert peaks[1] < peaks[0] + 20e6


def test_centres_coincide_where_rows_are_few():
    X = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0)
    model = FuzzyCMeans(5).fit(X)
    assert model.objective_ == pytest.approx(0.0, abs=1e-20)
    np.testing.assert_allclose(model.membership(X).sum(axis=1), 1.0)


def test_settings_are_checked():
    X, _ = blobs()
    for settings, message in (
        ({"fuzziness": 1.0}, "above 1"),
        ({"n_clusters": 0}, r"n_clusters=0\): expected a whole number from 1"),
        ({"n_clusters": 500}, "fewer rows than clusters"),
        ({"tol": -1}, "tol=-1"),
    ):
        with pytest.raises(ValueError, match=message):
            FuzzyCMeans(**settings).fit(X)


def test_its_centres_serve_profiles():
    X, y = blobs()
    clf = BayesClassifier(Profiled(FuzzyProfiles(3, 2.0, centers="fcm"))).fit(X, y)
    assert clf.score(X, y) > 0.95
    partition = clf.density_.partition
    centres = partition.columns.T + partition.metric.shift
    expected = FuzzyCMeans(3).fit(X).cluster_centers_
    np.testing.assert_allclose(
        centres[centres[:, 0].argsort()], expected[expected[:, 0].argsort()], atol=1e-3
    )
