"""Leaves of trees as profiles, beside scikit-learn's own trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from bayesrule import BayesClassifier, Minimax, Profiled, TreeProfiles
from bayesrule.soundness import check_leaves


def test_a_tree_of_leaves_decides_as_scikit_learns_tree():
    X, y = load_breast_cancer(return_X_y=True)
    clf = BayesClassifier(Profiled(TreeProfiles(8, min_share=0.02))).fit(X, y)
    metric = clf.density_.partition.metric
    peer = DecisionTreeClassifier(
        max_leaf_nodes=8, min_weight_fraction_leaf=0.02, random_state=0
    ).fit(metric(X), y)
    # Equally good splits may be taken in another order; what a tree earns is the same.
    leaves = clf.density_.partition.n_profiles
    assert leaves == peer.get_n_leaves()
    assert clf.score(X, y) == pytest.approx(peer.score(metric(X), y), abs=0.01)
    same = (clf.predict(X) == peer.predict(metric(X))).mean()
    assert same > 0.97


def test_posteriors_are_the_class_shares_of_the_leaves():
    X, y = load_iris(return_X_y=True)
    clf = BayesClassifier(Profiled(TreeProfiles(6))).fit(X, y)
    leaf = TreeProfiles(6).fit(X, y).predict(X)
    expected = np.array([np.bincount(y[leaf == t], minlength=3) / (leaf == t).sum() for t in leaf])
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-12)


def test_leaves_are_no_smaller_than_their_least_share():
    X, y = load_iris(return_X_y=True)
    for share in (0.0, 0.05, 0.3):
        U = TreeProfiles(30, share).fit(X, y).membership(X)
        assert U.sum(axis=0).min() >= max(share * 150, 1) - 1e-9


def test_neither_order_nor_repetition_of_rows_matters():
    X, y = load_iris(return_X_y=True)
    weights = np.tile([2, 1, 0], 50)
    repeated = np.random.default_rng(0).permutation(np.repeat(np.arange(150), weights))
    one = TreeProfiles(9).fit(X, y, weights).partition_
    other = TreeProfiles(9).fit(X[repeated], y[repeated]).partition_
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_allclose(one.threshold, other.threshold, atol=1e-6)


def test_one_leaf_and_one_class_are_one_profile():
    X, y = load_iris(return_X_y=True)
    assert TreeProfiles(1).fit(X, y).partition_.n_profiles == 1
    assert TreeProfiles(5).fit(X, np.zeros(150)).partition_.n_profiles == 1


def test_far_from_zero_splits_are_found_all_the_same():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    y = (X[:, 0] > 0.5).astype(int)
    # Single precision knows no digits of these numbers.
    assert (TreeProfiles(2).fit(X + 1e9, y).predict(X + 1e9) == y).mean() > 0.99


def test_minimax_over_leaves_needs_no_rows():
    X, y = load_iris(return_X_y=True)
    clf = BayesClassifier(Profiled(TreeProfiles(4, 0.1)), Minimax(randomised=True))
    clf.partial_fit(X, y)
    risks = clf.prior_solution_.randomised_class_risks
    inside = clf.priors_ > 1e-5
    assert np.ptp(risks[inside]) < 1e-6


def test_damaged_trees_are_refused():
    X, y = load_iris(return_X_y=True)
    fine = TreeProfiles(4).fit(X, y).partition_
    check_leaves(fine)
    inner = int(np.flatnonzero(fine.feature >= 0)[0])
    circle, column = fine.below.copy(), fine.feature.copy()
    circle[inner], column[inner] = inner, 4
    profile = np.where(fine.feature < 0, 0, fine.below)
    for damaged, message in (
        (replace(fine, below=circle), "circles"),
        (replace(fine, feature=column), "column that is not there"),
        (replace(fine, below=profile), r"circles|no profile"),
    ):
        with pytest.raises(ValueError, match=message):
            check_leaves(damaged)
