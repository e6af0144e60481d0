"""Mixtures as profiles, beside scikit-learn's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from bayesrule import MixtureProfiles
from bayesrule.mixtures import COVARIANCES, Mixing
from bayesrule.notices import NotConvergedWarning
from bayesrule.progress import progress
from bayesrule.soundness import check_components


def blobs(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    mixing = np.array([[1.0, 0.6], [0.0, 0.8]])
    return rng.normal(size=(n, 2)) @ mixing + np.array([[0, 0], [3, 1], [0, 4]])[y], y


def covariances_of(part: object) -> np.ndarray:
    white = part.whitening  # type: ignore[attr-defined]
    if white.ndim == 2:
        white = np.array([np.diag(w) for w in white])
    return np.linalg.inv(white @ white.transpose(0, 2, 1))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_fit_is_that_of_scikit_learn(covariance):
    X, _ = blobs()
    ours = MixtureProfiles(3, covariance, "raw", ridge=1e-9, tol=1e-10, max_rounds=2000).fit(X)
    peer = GaussianMixture(3, covariance_type=covariance, tol=1e-10, max_iter=2000, random_state=0)
    peer.fit(X)
    part = ours.partition_
    order = np.argsort(part.means[:, 0] + part.metric.shift[0])
    theirs = np.argsort(peer.means_[:, 0])
    found = part.means[order] + part.metric.shift
    np.testing.assert_allclose(found, peer.means_[theirs], atol=2e-3)
    np.testing.assert_allclose(part.weights[order], peer.weights_[theirs], atol=1e-3)
    np.testing.assert_allclose(
        ours.membership(X)[:, order], peer.predict_proba(X)[:, theirs], atol=5e-3
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_memberships_are_posteriors_of_the_components(covariance):
    X, y = blobs()
    profiles = MixtureProfiles(5, covariance, "within").fit(X, y)
    part = profiles.partition_
    Z = part.metric(X)
    joint = np.column_stack(
        [
            w * multivariate_normal(m, S).pdf(Z)
            for w, m, S in zip(part.weights, part.means, covariances_of(part), strict=True)
        ]
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(profiles.membership(X), expected, atol=1e-9)


def test_far_from_all_components_memberships_are_still_shares():
    X, _ = blobs()
    U = MixtureProfiles(4).fit(X).membership([[1e9, -1e9], [1e150, 0.0]])
    np.testing.assert_allclose(U.sum(axis=1), 1.0)


def test_one_round_is_the_weighted_maximum_and_likelihood_only_grows():
    X, _ = blobs(60)
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 5, 60).astype(float)
    U = rng.dirichlet(np.ones(2), 60)
    mixing = Mixing("full", 0.0, 1, 0.0)
    shares, means, white = mixing._components(X, weights, U, 0.0)
    for t in range(2):
        mean = np.average(X, axis=0, weights=weights * U[:, t])
        covariance = np.cov(X.T, aweights=weights * U[:, t], ddof=0)
        np.testing.assert_allclose(means[t], mean)
        np.testing.assert_allclose(np.linalg.inv(white[t] @ white[t].T), covariance, rtol=1e-9)
        assert shares[t] == pytest.approx(weights @ U[:, t] / weights.sum())
    grown = []
    for rounds in (1, 3, 10, 40):
        with progress("test") as meter, pytest.warns(NotConvergedWarning):
            w, m, W = Mixing("full", 1e-6, rounds, -np.inf).fit(X, weights, 3, 1, 0, meter)
        density = sum(
            w[t] * multivariate_normal(m[t], np.linalg.inv(W[t] @ W[t].T)).pdf(X) for t in range(3)
        )
        grown.append(weights @ np.log(density))
    assert grown == sorted(grown)


def test_weights_are_repetitions():
    X, y = blobs(90)
    weights = np.tile([1, 3, 0], 30)
    profiles = MixtureProfiles(4, per_class=True)
    by_weight = profiles.fit(X, y, weights).membership(X)
    repeated = np.repeat(np.arange(90), weights)
    by_hand = profiles.fit(X[repeated], y[repeated]).membership(X)
    np.testing.assert_allclose(by_weight, by_hand, atol=1e-8)


def test_components_of_each_class_have_the_weight_of_the_class():
    X, y = blobs()
    part = MixtureProfiles(6, per_class=True).fit(X, y).partition_
    shares = np.bincount(y) / len(y)
    assert sorted(part.weights.reshape(3, 2).sum(axis=1)) == pytest.approx(sorted(shares))


def test_settings_are_checked():
    X, _ = blobs(30)
    for settings, message in (
        ({"covariance": "banded"}, "covariance='banded'"),
        ({"ridge": -1.0}, "ridge=-1.0"),
        ({"max_rounds": 0}, "max_rounds=0"),
        ({"metric": "cosine"}, "metric='cosine'"),
    ):
        with pytest.raises(ValueError, match=message):
            MixtureProfiles(2, **settings).fit(X)


def test_damaged_components_are_refused():
    X, _ = blobs(60)
    fine = MixtureProfiles(2).fit(X).partition_
    check_components(fine)
    for damaged, message in (
        (replace(fine, weights=np.array([0.5, 0.6])), "sum to one"),
        (replace(fine, means=fine.means[:, :1]), "shape"),
        (replace(fine, whitening=-fine.whitening), "no covariance"),
        (replace(fine, metric=None), "no metric"),
    ):
        with pytest.raises(ValueError, match=message):
            check_components(damaged)
