"""Pooled posteriors are those of soft voting, whatever columns the members read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score

from bayesrule import (
    BayesClassifier,
    Categorical,
    Columns,
    Gaussian,
    Histogram,
    Minimax,
    Neighbors,
    Pooled,
)

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [60, 90, 50])
X = RNG.normal(size=(200, 3)) + np.repeat([0.0, 1.0, 2.5], [60, 90, 50])[:, None]
FRAME = pd.DataFrame(X, columns=["u", "v", "w"]).assign(
    town=np.where(RNG.random(200) < 0.3, "A", Y)
)
MEMBERS = [Gaussian("tied"), Histogram(4), Neighbors(15)]


@pytest.mark.parametrize("weights", [None, [3.0, 0.5, 1.0], [0, 1, 1]])
def test_it_is_soft_voting(weights):
    alone = [(str(i), BayesClassifier(density)) for i, density in enumerate(MEMBERS)]
    vote = VotingClassifier(alone, voting="soft", weights=weights).fit(X, Y)
    pooled = BayesClassifier(Pooled(MEMBERS, weights)).fit(X, Y)
    np.testing.assert_allclose(pooled.predict_proba(X), vote.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("columns", [["u", "w"], [0, 2], ("u", -2)])
def test_members_may_read_the_same_columns_or_others(columns):
    members = [(columns, Histogram(3, joint=True)), (["town"], Categorical()), Columns()]
    pooled = BayesClassifier(Pooled(members)).fit(FRAME, Y)
    alone = [
        BayesClassifier(Histogram(3, joint=True)).fit(FRAME[["u", "w"]], Y),
        BayesClassifier(Categorical()).fit(FRAME[["town"]], Y),
        BayesClassifier(Columns()).fit(FRAME, Y),
    ]
    rows = [FRAME[["u", "w"]], FRAME[["town"]], FRAME]
    mean = np.mean([m.predict_proba(r) for m, r in zip(alone, rows, strict=True)], axis=0)
    np.testing.assert_allclose(pooled.predict_proba(FRAME), mean, rtol=1e-9)


def test_other_priors_obey_bayes_rule():
    pooled = BayesClassifier(Pooled(MEMBERS)).fit(X, Y)
    odds = pooled.predict_proba(X) / pooled.priors_
    odds *= [0.7, 0.2, 0.1]
    given = pooled.with_rule(priors=[0.7, 0.2, 0.1]).predict_proba(X)
    np.testing.assert_allclose(given, odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)
    assert BayesClassifier(Pooled(MEMBERS), priors=Minimax()).fit(X, Y).priors_.sum() == 1.0


def test_who_supports_no_class_votes_with_the_priors():
    bare = Histogram(bins=[0.0, 1.0, 2.0], smoothing=0)
    pooled = BayesClassifier(Pooled([bare, Gaussian("diag")])).fit(X[:, :1], Y)
    far = np.array([[1e4]])  # beyond all bins with rows, and only the Gaussian tells
    bare_alone = BayesClassifier(Histogram(bins=[-50.0, 50.0], smoothing=0)).fit(X[:, :1], Y)
    assert np.isneginf(bare_alone.log_density(far)).all()
    pooled = BayesClassifier(Pooled([bare_alone.density, Gaussian("diag")])).fit(X[:, :1], Y)
    alone = BayesClassifier(Gaussian("diag")).fit(X[:, :1], Y)
    expected = (alone.predict_proba(far) + alone.priors_) / 2
    np.testing.assert_allclose(pooled.predict_proba(far), expected, rtol=1e-9)


def test_what_the_members_are_is_what_it_is():
    edges = Histogram(bins=[0.5, 1.5])
    assert not Pooled([Gaussian(), edges]).learns
    assert Pooled([Gaussian(), Histogram(3)]).learns
    assert Pooled([Neighbors(3), Gaussian()]).memorises
    assert Pooled([Gaussian(), (["u"], edges)]).accept_missing
    assert not Pooled([Gaussian(missing="raise"), edges]).accept_missing


@pytest.mark.parametrize(
    ("members", "weights", "message"),
    [
        (Gaussian(), None, "must be a list"),
        ([], None, "no member"),
        ([Gaussian(), "gaussian"], None, "the member 'gaussian'"),
        ([(["q"], Gaussian())], None, "'q'"),
        ([([], Gaussian())], None, "no column"),
        ([([0, 0], Gaussian())], None, "one twice"),
        ([Gaussian()], [1, 2], "weights="),
        ([Gaussian(), Gaussian()], [1, -1], "weights="),
        ([Gaussian(), Gaussian()], [0, 0], "weights="),
        ([Gaussian(), Gaussian()], "ab", "weights="),
    ],
)
def test_wrong_settings(members, weights, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BayesClassifier(Pooled(members, weights)).fit(X, Y)


def test_searches_reach_into_the_members():
    pooled = Pooled([Gaussian("tied"), (["u"], Neighbors(15))])
    params = BayesClassifier(pooled).get_params()
    assert params["density__members__1__k"] == 15
    assert params["density__members__0"] is pooled.members[0]
    grid = {
        "density__members__0__shrinkage": [None, 0.5],
        "density__members__1": [Histogram(3), Neighbors(60)],
        "density__weights": [[1, 2]],
    }
    search = GridSearchCV(BayesClassifier(pooled), grid, cv=2).fit(FRAME[["u", "v"]], Y)
    assert len(search.cv_results_["params"]) == 4
    for chosen, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        given = [
            Gaussian("tied", chosen["density__members__0__shrinkage"]),
            (["u"], chosen["density__members__1"]),
        ]
        by_hand = cross_val_score(
            BayesClassifier(Pooled(given, [1, 2])), FRAME[["u", "v"]], Y, cv=2
        )
        np.testing.assert_array_equal(np.mean(by_hand), score)
    # The user's own list and densities stay as they were.
    assert pooled.members[0].shrinkage is None
    assert pooled.members[1][1].k == 15
    with pytest.raises(ValueError, match=r"members__2.*lists \['0', '1'\]"):
        pooled.set_params(members__2__k=3)


def test_a_member_that_is_tuned_for_the_rule_makes_the_pool_one():
    assert not Pooled(MEMBERS).uses_rule
    assert Pooled([Gaussian(), (["u"], Neighbors("cv"))]).uses_rule
