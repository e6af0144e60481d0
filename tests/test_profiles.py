"""Profiles alone: transformers with memberships that sum to one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.covariance import empirical_covariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import (
    BayesClassifier,
    CellProfiles,
    ForestProfiles,
    FuzzyProfiles,
    KMeansProfiles,
    MixtureProfiles,
    Profiled,
    TreeProfiles,
)
from bayesrule.memberships import read_target
from bayesrule.metrics import METRICS, RIDGE, learn_metric
from bayesrule.notices import LearnedOnSampleWarning
from bayesrule.tables import Table

PROFILES = [
    KMeansProfiles(3),
    KMeansProfiles(4, "within", per_class=True),
    FuzzyProfiles(3),
    FuzzyProfiles(3, 1.5, metric="lda"),
    MixtureProfiles(3),
    TreeProfiles(4),
    CellProfiles(20),
    ForestProfiles(3, 4),
]


def test_centres_of_ones_own_beside_categories_are_told_what_they_are_made_of():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "town": ["a", "b", "c", "a"]})
    y = [0, 0, 1, 1]
    for wrong in (np.zeros((2, 2)), [[1.0, "a"], [2.0, "b"]]):
        clf = BayesClassifier(Profiled(FuzzyProfiles(centers=wrong)))
        with pytest.raises(
            ValueError, match=r"the 2 columns of X are 4 numbers.*3 for 'town' \('a'"
        ):
            clf.fit(X, y)
    side = 0.5**0.5
    centres = np.array([[1.0, side, 0.0, 0.0], [4.0, 0.0, 0.0, side]])
    clf = BayesClassifier(Profiled(FuzzyProfiles(centers=centres))).fit(X, y)
    assert clf.predict(X.iloc[[0, 2]]).tolist() == [0, 1]


@parametrize_with_checks(PROFILES)
def test_check(estimator, check):  # type: ignore[no-untyped-def]
    check(estimator)


def blobs(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    mixing = rng.normal(size=(4, 4))
    return (rng.normal(size=(n, 4)) + 4.0 * np.eye(3, 4)[y]) @ mixing, y


def test_cells_are_those_of_kmeans():
    X, _ = blobs()
    peer = KMeans(3, n_init=10, random_state=1).fit(X)
    ours = KMeansProfiles(3, n_init=10).fit(X)
    centres = ours.partition_.columns.T + ours.partition_.metric.shift
    apart = ((X[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(ours.predict(X), apart.argmin(axis=1))
    assert apart.min(axis=1).sum() == pytest.approx(peer.inertia_, rel=1e-3)
    assert adjusted_rand_score(peer.labels_, ours.predict(X)) > 0.95


def test_profiles_are_features_for_others():
    X, y = blobs()
    pipe = make_pipeline(StandardScaler(), FuzzyProfiles(9, 1.5), LogisticRegression(C=100))
    assert pipe.fit(X, y).score(X, y) > 0.9
    names = pipe[1].get_feature_names_out()
    assert names[:2].tolist() == ["fuzzyprofiles0", "fuzzyprofiles1"]
    assert len(names) == 9


@pytest.mark.parametrize("kind", METRICS)
def test_metrics_are_what_they_say(kind):
    X, y = blobs()
    Z = learn_metric(kind, Table(X), read_target(y))(X)
    if kind == "raw":
        np.testing.assert_allclose(Z - Z[0], X - X[0], atol=1e-12)
    elif kind == "standardised":
        np.testing.assert_allclose(Z, StandardScaler().fit_transform(X), atol=1e-10)
    else:
        W = StandardScaler().fit_transform(X)
        within = sum(np.mean(y == k) * empirical_covariance(W[y == k]) for k in range(3))
        ridged = (1 - RIDGE) * within + RIDGE * np.trace(within) / 4 * np.eye(4)
        # Squared distances are those of Mahalanobis, in all directions or along the axes.
        apart = W[:50, None] - W[None, :50]
        squares = np.einsum("ijk,kl,ijl->ij", apart, np.linalg.inv(ridged), apart)
        ours = ((Z[:50, None] - Z[None, :50]) ** 2).sum(axis=2)
        if kind == "within":
            np.testing.assert_allclose(ours, squares, rtol=1e-8, atol=1e-8)
        else:
            assert Z.shape == (300, 2)
            assert (ours <= squares + 1e-8).all()
            theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=RIDGE).fit(W, y)
            A, B = Z - Z.mean(axis=0), theirs.transform(W)[:, :2]
            fitted = B @ np.linalg.lstsq(B, A, rcond=None)[0]
            assert np.abs(A - fitted).max() < 0.05 * np.abs(A).max()


def test_a_constant_column_tells_nothing():
    X, y = blobs()
    constant = np.column_stack([X, np.full(len(X), 1e8 + 0.1)])
    for kind in ("standardised", "within", "lda"):
        plain = KMeansProfiles(5, kind).fit(X, y).membership(X)
        np.testing.assert_array_equal(
            KMeansProfiles(5, kind).fit(constant, y).membership(constant), plain
        )


@pytest.mark.parametrize("kind", ["within", "lda"])
def test_classes_that_tell_nothing_leave_standard_units(kind):
    X, _ = blobs()
    plain = FuzzyProfiles(4, metric="standardised").fit(X)
    one = FuzzyProfiles(4, metric=kind).fit(X, ["a"] * len(X))
    np.testing.assert_array_equal(one.membership(X), plain.membership(X))
    # A row for each class says nothing of the spread within them.
    few = FuzzyProfiles(2, metric=kind).fit(X[:3], ["a", "b", "c"])
    plain = FuzzyProfiles(2, metric="standardised").fit(X[:3])
    np.testing.assert_array_equal(few.membership(X), plain.membership(X))


def test_centres_per_class_are_dealt_out_evenly():
    X, y = blobs()
    profiles = KMeansProfiles(7, per_class=True).fit(X, y)
    counts = [len(np.unique(profiles.predict(X[y == k]))) for k in range(3)]
    assert profiles.partition_.n_profiles == 7
    assert min(counts) >= 2


def test_weights_are_repetitions_and_order_does_not_matter():
    X, y = blobs(120)
    weights = np.tile([1, 3, 0, 2], 30)
    for profiles in (KMeansProfiles(6), FuzzyProfiles(6, metric="within", per_class=True)):
        weighted = profiles.fit(X, y, weights).membership(X)
        repeated = np.repeat(np.arange(120), weights)[::-1]
        again = profiles.fit(X[repeated], y[repeated]).membership(X)
        np.testing.assert_allclose(again, weighted, atol=1e-9)


def test_many_rows_are_learned_from_a_sample_which_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    with pytest.warns(LearnedOnSampleWarning, match="500 of 3000 rows"):
        sampled = KMeansProfiles(4, sample_rows=500).fit(X)
    shuffled = rng.permutation(3000)
    with pytest.warns(LearnedOnSampleWarning):
        again = KMeansProfiles(4, sample_rows=500).fit(X[shuffled])
    np.testing.assert_array_equal(sampled.predict(X), again.predict(X))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(LearnedOnSampleWarning):
        clf = BayesClassifier(Profiled(KMeansProfiles(4, sample_rows=500))).fit(X, y)
    assert clf.stats_.weight.sum() == 3000


def test_labels_are_asked_for_where_they_are_needed():
    X, _ = blobs()
    with pytest.raises(ValueError, match="requires y"):
        KMeansProfiles(4, "lda").fit(X)
    assert KMeansProfiles(4).fit(X).membership(X).shape == (300, 4)
