"""The one estimator: deciding, adding rows, merging, new rules, and what may not go wrong."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import bayesrule
from bayesrule import (
    BayesClassifier,
    Categorical,
    FromClassifier,
    Gaussian,
    Minimax,
    evaluate,
    recipes,
    with_action,
)
from bayesrule.notices import NoClassDecidedWarning, NoSupportWarning

ABC = np.array(["a", "b", "c"])
COVARIANCES = ("full", "tied", "diag", "spherical")


def toy(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes in two columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], ABC[y]


# ---------------------------------------------------------------------- deciding


def test_best_decision_is_not_the_most_probable_class():
    # Means -1 and 1, both of variance 1: P(ill | x) = 1 / (1 + exp(2 x)) under equal priors.
    X = np.array([[-2.0], [0.0], [0.0], [2.0]])
    y = np.array(["ill", "ill", "well", "well"])
    clf = BayesClassifier(Gaussian("tied"), priors={"ill": 0.5, "well": 0.5})
    clf.set_params(gain={"ill": {"ill": 0, "well": -20}, "well": {"ill": -1, "well": 0}}).fit(X, y)
    posterior = 1 / (1 + np.exp(2.0))
    np.testing.assert_allclose(clf.predict_proba([[1.0]]), [[posterior, 1 - posterior]], rtol=1e-12)
    # Expected gains: -P(well) = -0.88 for ill, -20 P(ill) = -2.38 for well.
    np.testing.assert_allclose(
        clf.expected_gains([[1.0]]), [[posterior - 1, -20 * posterior]], rtol=1e-12
    )
    assert clf.predict([[1.0]]).tolist() == ["ill"]
    assert clf.with_rule(gain=None).predict([[1.0]]).tolist() == ["well"]
    # The decision turns where 20 P(ill) = P(well): exp(2 x) = 20.
    turn = np.log(20) / 2
    assert clf.predict([[turn - 1e-9], [turn + 1e-9]]).tolist() == ["ill", "well"]


def test_example_1_of_the_paper():
    # Profile 6 holds 4 of the 30 rows of class 1 and 5 of the 20 rows of class 2.
    X = np.repeat([6, 1, 6, 1], [4, 26, 5, 15])[:, None]
    y = np.repeat([1, 1, 2, 2], [4, 26, 5, 15])
    clf = BayesClassifier(Categorical(alpha=0.0), gain=[[0, -2], [-3, 0]]).fit(X, y)
    np.testing.assert_allclose(clf.decision_proba([[6]]), [[8 / 23, 15 / 23]], rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba([[6]]), [[4 / 9, 5 / 9]], rtol=1e-12)
    np.testing.assert_allclose(clf.expected_gains([[6]]), [[-5 / 3, -8 / 9]], rtol=1e-12)
    assert clf.predict([[6]]).tolist() == [2]


def test_all_answers_hang_together():
    X, y = toy()
    gain = with_action(-np.array([[0.0, 1, 5], [2, 0, 1], [8, 3, 0]]), "ask", -0.8)
    clf = BayesClassifier(Gaussian("diag"), [0.5, 0.3, 0.2], gain).fit(X, y)
    posterior = clf.predict_proba(X)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(clf.expected_gains(X), posterior @ clf.gain_, atol=1e-12)
    best = clf.expected_gains(X).argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(X), clf.decisions_[best])
    np.testing.assert_array_equal(clf.decision_proba(X).argmax(axis=1), best)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), posterior, rtol=1e-12)
    joint = np.exp(clf.log_density(X)) * clf.priors_
    np.testing.assert_allclose(np.exp(clf.log_marginal(X)), joint.sum(axis=1), rtol=1e-10)
    assert clf.decisions_.tolist() == ["a", "b", "c", "ask"]
    assert {"ask", "c"} <= set(clf.predict(X))


@pytest.mark.parametrize("labels", [[False, True], [False, True, 2], [0, 1, 2]])
def test_booleans_among_objects_are_labels(labels):
    # They come so from a frame whose column had gaps once.
    X, y = toy()
    _, codes = np.unique(y, return_inverse=True)
    codes = np.minimum(codes, len(labels) - 1)
    mine = np.array(labels, dtype=object)[codes]
    clf, by_code = BayesClassifier().fit(X, mine), BayesClassifier().fit(X, codes)
    assert clf.classes_.tolist() == labels
    assert [type(label) for label in clf.classes_] == [type(label) for label in labels]
    assert clf.score(X, mine) == by_code.score(X, codes) > 0.5
    assert evaluate(clf, X, mine).accuracy == pytest.approx(clf.score(X, mine))
    gain = {true: {label: float(label == true) for label in labels} for true in labels}
    named = BayesClassifier(gain=gain, priors=dict.fromkeys(labels, 1 / len(labels)))
    assert named.fit(X, mine).decisions_.tolist() == labels
    assert named.score(X, mine) > 0.5


@pytest.mark.parametrize("unit", ["D", "s", "us"])
def test_dates_are_labels(unit):
    X, y = toy()
    dates = np.array(["2019-01-01", "2020-01-01", "2021-01-01"], f"M8[{unit}]")
    when = dates[np.unique(y, return_inverse=True)[1]]
    clf = BayesClassifier(priors=dict(zip(dates, [0.2, 0.3, 0.5], strict=True))).fit(X, when)
    np.testing.assert_array_equal(clf.priors_, [0.2, 0.3, 0.5])
    assert clf.predict(X).dtype == when.dtype
    refer = BayesClassifier(gain=with_action(None, "refer", 0.9)).fit(X, when)
    assert set(refer.predict(X)) <= {*dates.tolist(), "refer"}


def test_decisions_have_the_dtype_of_the_labels_unless_one_is_no_class():
    X, y = toy()
    assert BayesClassifier().fit(X, y).predict(X).dtype == y.dtype
    refer = BayesClassifier(gain=with_action(None, "refer", 0.9)).fit(X, y)
    assert refer.predict(X).dtype == object
    only = {label: {"a": float(label == "a"), "b": float(label == "b")} for label in ABC}
    two = BayesClassifier(gain=only).fit(X, y)
    assert two.predict(X).dtype == y.dtype
    assert set(two.predict(X)) == {"a", "b"}
    lend = {label: {"lend": i - 1.0, "decline": 0.0} for i, label in enumerate(ABC)}
    lending = BayesClassifier(gain=lend).fit(X, y)
    assert lending.predict(X).dtype == object
    assert set(lending.predict(X)) == {"lend", "decline"}


def test_gains_of_rows():
    X, y = toy()
    clf = BayesClassifier().fit(X, y)
    gains = np.random.default_rng(0).normal(size=(len(X), 3, 3))
    alone = [clf.with_rule(gain=g).predict(X[i : i + 1])[0] for i, g in enumerate(gains)]
    assert clf.predict(X, gain=gains).tolist() == alone
    same = np.broadcast_to(clf.gain_, gains.shape)
    np.testing.assert_array_equal(clf.predict(X, gain=same), clf.predict(X))


@pytest.mark.parametrize(
    ("gain", "named"),
    [
        (np.eye(3), r"\(3, 3\).*\(120, 3, 3\)"),
        (np.zeros((119, 3, 3)), r"\(119, 3, 3\)"),
        (np.zeros((120, 3, 4)), r"\(120, 3, 4\)"),
        (np.where(np.arange(120)[:, None, None] == 7, np.nan, np.zeros((120, 3, 3))), "row 7"),
        ("x", "gain"),
    ],
    ids=["matrix", "rows", "decisions", "nan", "text"],
)
def test_nonsense_gains_of_rows_are_named(gain, named):
    X, y = toy()
    with pytest.raises(ValueError, match=named):
        BayesClassifier().fit(X, y).predict(X, gain=gain)


def test_far_rows_keep_their_log_posterior():
    X, y = toy()
    clf = BayesClassifier(Gaussian("tied")).fit(X, y)
    far = np.array([[60.0, 60.0]])
    # exp underflows, its logarithm does not: differences of log-densities are exact.
    joint = clf.log_density(far) + np.log(clf.priors_)
    expected = joint - joint.max()
    np.testing.assert_allclose(clf.predict_log_proba(far), expected, rtol=1e-9, atol=1e-12)
    assert clf.predict_log_proba(far).min() < -50


def test_rows_without_support_get_the_priors_and_a_warning():
    # Class 0 has never shown a 1 in the second column, nor class 1 a 0 in the first.
    clf = BayesClassifier(Categorical(alpha=0.0), priors=[0.3, 0.7]).fit([[0, 0], [1, 1]], [0, 1])
    for ask in (clf.predict_proba, clf.predict, clf.expected_gains):
        with pytest.warns(NoSupportWarning, match="1 of 2 rows"):
            ask([[0, 1], [1, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSupportWarning)
        got = clf.predict_proba([[0, 1]])
        np.testing.assert_allclose(got, [[0.3, 0.7]], rtol=1e-12)
        got = clf.predict_log_proba([[0, 1]])
        np.testing.assert_allclose(got, np.log([[0.3, 0.7]]), rtol=1e-12)


def test_score_counts_class_decisions_against_labels():
    X, y = toy()
    weights = np.random.default_rng(0).gamma(1.0, size=len(y))
    clf = BayesClassifier(gain=with_action(None, "ask", 0.6)).fit(X, y)
    hits = clf.predict(X) == y
    assert clf.score(X, y) == pytest.approx(hits.mean())
    assert clf.score(X, y, weights) == pytest.approx(np.average(hits, weights=weights))
    # A class that was not fitted is never decided for; if all are, the labels must be others.
    half = np.where(np.arange(len(y)) % 2, y, "never fitted")
    assert clf.score(X, half) == pytest.approx(np.mean(hits & (half == y)))
    with pytest.raises(ValueError, match="never fitted"):
        clf.score(X, np.full(len(y), "never fitted"))
    degrees = pd.DataFrame(np.random.default_rng(0).dirichlet(np.ones(3), len(y)), columns=ABC)
    decided = clf.predict(X)
    expected = [degrees.loc[i, d] if d in ABC else 0.0 for i, d in enumerate(decided)]
    assert clf.score(X, degrees) == pytest.approx(np.mean(expected))


def test_a_score_that_no_fit_can_change_says_so():
    X, y = toy()
    gain = {"a": {"go": 1, "stop": 0}, "b": {"go": -2, "stop": 0}, "c": {"go": 0, "stop": 1}}
    clf = BayesClassifier(gain=gain).fit(X, y)
    with pytest.warns(NoClassDecidedWarning, match="expected_gain_scorer"):
        assert clf.score(X, y) == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.with_rule(gain={true: {**row, "a": 0} for true, row in gain.items()}).score(X, y)


def test_nothing_is_known_before_fit():
    X, _ = toy()
    clf = BayesClassifier()
    for name in ("classes_", "decisions_", "priors_", "gain_", "density_", "stats_"):
        assert not hasattr(clf, name)
        with pytest.raises(NotFittedError):
            getattr(clf, name)
    for method in (clf.predict, clf.predict_proba, clf.log_density, clf.expected_gains):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        clf.with_rule(priors="uniform")


@pytest.mark.parametrize(
    "density", [LogisticRegression(), "gaussian", Gaussian, LogisticRegression, 3], ids=repr
)
def test_what_is_no_density_is_refused(density):
    X, y = toy()
    with pytest.raises(TypeError, match=r"density.*FromClassifier"):
        BayesClassifier(density).fit(X, y)
    assert repr(BayesClassifier(density))


# ---------------------------------------------------------------------- adding rows


@settings(max_examples=30)
@given(st.lists(st.integers(0, 119), max_size=8), st.sampled_from(COVARIANCES), st.randoms())
def test_chunks_are_fit(cuts, covariance, random):
    X, y = toy()
    order = list(range(120))
    random.shuffle(order)
    clf = BayesClassifier(Gaussian(covariance))
    for part in np.split(np.array(order), sorted(cuts)):
        if len(part):
            clf.partial_fit(X[part], y[part])
    whole = BayesClassifier(Gaussian(covariance)).fit(X, y)
    np.testing.assert_allclose(clf.log_density(X), whole.log_density(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(clf.class_count_, whole.class_count_)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), min_size=120, max_size=120), st.sampled_from(COVARIANCES))
def test_weights_are_repeated_rows(weights, covariance):
    X, y = toy()
    weights = np.array(weights)
    weights[:12] += 1  # some rows of each class
    rows = np.repeat(np.arange(120), weights)
    by_weight = BayesClassifier(Gaussian(covariance)).fit(X, y, weights)
    by_hand = BayesClassifier(Gaussian(covariance)).fit(X[rows], y[rows])
    np.testing.assert_allclose(by_weight.predict_proba(X), by_hand.predict_proba(X), atol=1e-9)


@settings(max_examples=20)
@given(st.permutations(range(3)), st.sampled_from(COVARIANCES), st.integers(0, 99))
def test_the_order_of_the_classes_is_a_matter_of_names(order, covariance, seed):
    X, _ = toy(seed=seed)
    code, order = np.arange(120) % 3, np.array(order)
    gain = np.random.default_rng(seed).normal(size=(3, 3))
    plain = BayesClassifier(Gaussian(covariance), [0.5, 0.3, 0.2], gain).fit(X, code)
    priors, renamed_gain = np.empty(3), np.empty((3, 3))
    priors[order] = [0.5, 0.3, 0.2]
    renamed_gain[np.ix_(order, order)] = gain
    renamed = BayesClassifier(Gaussian(covariance), priors, renamed_gain).fit(X, order[code])
    np.testing.assert_allclose(
        renamed.predict_proba(X)[:, order], plain.predict_proba(X), atol=1e-12
    )
    expected = np.sort(plain.expected_gains(X), axis=1)
    clear = expected[:, -1] - expected[:, -2] > 1e-9
    np.testing.assert_array_equal(renamed.predict(X)[clear], order[plain.predict(X)][clear])


@settings(max_examples=25)
@given(st.lists(st.integers(0, 5), min_size=120, max_size=120), st.sampled_from(COVARIANCES))
def test_merging_parts_is_fitting_all(part_of, covariance):
    X, y = toy()
    part_of = np.array(part_of)
    parts = [
        BayesClassifier(Gaussian(covariance)).partial_fit(X[part_of == p], y[part_of == p])
        for p in np.unique(part_of)
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = part.merge(merged)
    whole = BayesClassifier(Gaussian(covariance)).fit(X, y)
    np.testing.assert_allclose(merged.log_density(X), whole.log_density(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(merged.classes_, whole.classes_)


def test_a_class_first_seen_in_the_last_chunk():
    X, y = toy()
    last = y == "b"
    clf = BayesClassifier().partial_fit(X[~last], y[~last])
    assert clf.classes_.tolist() == ["a", "c"]
    clf.partial_fit(X[last], y[last])
    whole = BayesClassifier().fit(X, y)
    assert clf.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(clf.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_stated_classes_are_a_promise():
    X, y = toy()
    clf = BayesClassifier().partial_fit(X[y != "b"], y[y != "b"], classes=["c", "b", "a"])
    assert clf.classes_.tolist() == ["a", "b", "c"]
    assert clf.class_count_.tolist() == [40, 0, 40]
    with pytest.raises(ValueError, match="'d'"):
        clf.partial_fit(X[:1], ["d"])
    with pytest.raises(ValueError, match="classes="):
        clf.partial_fit(X[:1], ["a"], classes=["a", "b"])
    clf.partial_fit(X[y == "b"], y[y == "b"], classes=["a", "b", "c"])
    np.testing.assert_allclose(
        clf.predict_proba(X), BayesClassifier().fit(X, y).predict_proba(X), atol=1e-12
    )
    for classes, named in (
        (["a", "b"], "'c'"),
        ([], "'a'|empty"),
        ("abc", "classes"),
        (3, "classes"),
    ):
        with pytest.raises((ValueError, TypeError), match=named):
            BayesClassifier().partial_fit(X, y, classes=classes)


@pytest.mark.parametrize(
    ("first", "second"),
    [([0, 1], ["0", "1"]), (["0", "1"], [0, 1]), ([0, 1], [False, True]), ([False, True], [0, 1])],
    ids=str,
)
def test_labels_of_another_kind_are_never_mixed_in(first, second):
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    one, other = np.repeat(first, 2), np.repeat(second, 2)
    clf = BayesClassifier(Gaussian("diag")).fit(X, one)
    before = pickle.dumps(clf)
    with pytest.raises((ValueError, TypeError), match=r"label|class"):
        clf.partial_fit(X, other)
    with pytest.raises((ValueError, TypeError), match=r"label|class"):
        clf.merge(BayesClassifier(Gaussian("diag")).fit(X, other))
    with pytest.raises((ValueError, TypeError), match=r"label|class"):
        BayesClassifier(Gaussian("diag")).partial_fit(X, one, classes=second)
    assert pickle.dumps(clf) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array(["a", "b"]), np.array(["a", "b"], object)),
        (np.array(["a", "b"]), np.array(["a", "longer"])),
        (np.array([0, 1], np.uint8), np.array([0, 1])),
        (np.array([0, 1]), np.array([0.0, 1.0])),
    ],
    ids=["object", "length", "uint", "float"],
)
def test_labels_that_mean_the_same_merge(first, second):
    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    one, other = (
        BayesClassifier(Gaussian("diag")).fit(X, np.repeat(y, 2)) for y in (first, second)
    )
    expected = sorted({*first.tolist(), *second.tolist()})
    assert one.merge(other).classes_.tolist() == expected
    assert other.merge(one).classes_.tolist() == expected
    grown = BayesClassifier(Gaussian("diag")).fit(X, np.repeat(first, 2))
    grown.partial_fit(X, np.repeat(second, 2))
    np.testing.assert_allclose(
        grown.predict_proba(X), one.merge(other).predict_proba(X), atol=1e-12
    )


def test_what_cannot_be_merged():
    X, y = toy()
    frame = pd.DataFrame(X, columns=["u", "v"])
    clf = BayesClassifier(Gaussian("diag")).fit(X, y)
    for other, error, named in (
        (BayesClassifier(Gaussian("full")).fit(X, y), ValueError, "counted differently"),
        (BayesClassifier(Gaussian("diag", 0.1)).fit(X, y), ValueError, "counted differently"),
        (BayesClassifier(Gaussian("diag")).fit(X[:, :1], y), ValueError, "features"),
        (BayesClassifier(Gaussian("diag")).fit(frame, y), ValueError, "features"),
        (BayesClassifier(Gaussian("diag")), NotFittedError, "not fitted"),
        (LogisticRegression().fit(X, y), TypeError, "BayesClassifier"),
    ):
        before = pickle.dumps(clf)
        with pytest.raises(error, match=named):
            clf.merge(other)
        assert pickle.dumps(clf) == before


def test_merging_keeps_the_rule_of_the_first():
    X, y = toy()
    one = BayesClassifier(priors="uniform", gain=-(1 - np.eye(3))).fit(X[:60], y[:60])
    other = BayesClassifier(priors=[0.2, 0.3, 0.5]).fit(X[60:], y[60:])
    merged = one.merge(other)
    np.testing.assert_allclose(merged.priors_, 1 / 3)
    np.testing.assert_array_equal(merged.gain_, -(1 - np.eye(3)))
    assert other.priors_.tolist() == [0.2, 0.3, 0.5]


# ---------------------------------------------------------------------- new rules


def test_a_new_rule_does_not_touch_the_old_classifier():
    X, y = toy()
    clf = BayesClassifier(Gaussian("diag")).fit(X, y)
    before = pickle.dumps(clf)
    other = clf.with_rule(priors="uniform", gain=with_action(None, "ask", 0.5))
    assert pickle.dumps(clf) == before
    assert other.density_ is clf.density_
    assert other.stats_ is clf.stats_
    assert other.log_density_ is clf.log_density_
    np.testing.assert_array_equal(other.log_density(X), clf.log_density(X))
    fitted = BayesClassifier(Gaussian("diag"), "uniform", with_action(None, "ask", 0.5)).fit(X, y)
    np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(clf.with_rule().predict_proba(X), clf.predict_proba(X))


def test_solved_priors_stay_when_only_the_gain_changes():
    X, y = toy()
    solved = BayesClassifier(priors=Minimax()).fit(X, y)
    other = solved.with_rule(gain=2 * np.eye(3))
    np.testing.assert_array_equal(other.priors_, solved.priors_)
    with pytest.raises(ValueError, match="not fitted"):
        solved.with_rule(priors=Minimax(), X=X, y=np.full(120, "z"))


def test_a_new_rule_can_be_fitted_on():
    X, y = toy()
    clf = BayesClassifier(Gaussian("diag")).fit(X[:60], y[:60]).with_rule(priors="uniform")
    clf.partial_fit(X[60:], y[60:])
    expected = BayesClassifier(Gaussian("diag"), "uniform").fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(X), expected.predict_proba(X), atol=1e-12)


# ---------------------------------------------------------------------- bad input leaves no trace


X, Y = toy()
BAD: dict[str, Callable[[BayesClassifier], Any]] = {
    "infinite X": lambda c: c.fit(np.where(X > 3, np.inf, X), Y),
    "X of text": lambda c: c.fit([["a", "b"]] * 120, Y),
    "no rows": lambda c: c.fit(X[:0], Y[:0]),
    "flat X": lambda c: c.fit(X[:, 0], Y),
    "too few labels": lambda c: c.fit(X, Y[:-1]),
    "labels missing": lambda c: c.fit(X, None),
    "fractions as labels": lambda c: c.fit(X, X[:, 0]),
    "weights of another length": lambda c: c.fit(X, Y, np.ones(3)),
    "negative weights": lambda c: c.fit(X, Y, -np.ones(120)),
    "weights that are no numbers": lambda c: c.fit(X, Y, np.full(120, np.nan)),
    "no weight at all": lambda c: c.fit(X, Y, np.zeros(120)),
    "unknown priors": lambda c: c.set_params(priors="x").fit(X, Y),
    "priors of another class": lambda c: c.set_params(priors={"z": 1.0}).fit(X, Y),
    "gain of another shape": lambda c: c.set_params(gain=[[1, 0], [0, 1]]).fit(X, Y),
    "impossible box": lambda c: c.set_params(priors=Minimax([[0, 0.1]] * 3)).fit(X, Y),
    "unknown setting": lambda c: c.set_params(density=Gaussian("x")).fit(X, Y),
    "more columns": lambda c: c.partial_fit(np.c_[X, X], Y),
    "infinite chunk": lambda c: c.partial_fit(np.where(X > 3, np.inf, X), Y),
    "chunk of other labels": lambda c: c.partial_fit(X, np.arange(120) % 3),
    "chunk without labels": lambda c: c.partial_fit(X, None),
    "rule of another shape": lambda c: c.with_rule(gain=np.eye(2)),
    "rows of another shape": lambda c: c.with_rule(priors=Minimax(), X=X[:, :1]),
    "question of another shape": lambda c: c.predict(X[:, :1]),
}


@pytest.mark.parametrize("mistake", BAD)
def test_a_mistake_leaves_a_fitted_classifier_as_it_was(mistake):
    clf = BayesClassifier(Gaussian("diag")).fit(X, Y)
    learned = {k: v for k, v in clf.__dict__.items() if k not in clf.get_params(deep=False)}
    before = clf.predict_proba(X)
    with pytest.raises((ValueError, TypeError)) as caught:
        BAD[mistake](clf)
    assert len(str(caught.value)) > 20
    after = {k: v for k, v in clf.__dict__.items() if k not in clf.get_params(deep=False)}
    assert after.keys() == learned.keys()
    assert all(after[k] is learned[k] for k in learned)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


@pytest.mark.parametrize("mistake", [m for m in BAD if "chunk" not in m or "infinite" in m])
def test_a_mistake_leaves_an_unfitted_classifier_unfitted(mistake):
    clf = BayesClassifier(Gaussian("diag"))
    if mistake == "more columns":
        pytest.skip("no mistake in a first chunk")
    with pytest.raises((ValueError, TypeError)):
        BAD[mistake](clf)
    assert set(clf.__dict__) == set(clf.get_params(deep=False))
    assert not hasattr(clf, "classes_")


# ---------------------------------------------------------------------- arrays as they come


@pytest.mark.parametrize("density", [Gaussian(c) for c in COVARIANCES], ids=repr)
def test_arrays_are_taken_as_they_come_and_left_as_they_were(density):
    X, y = toy()
    X = X.astype(np.float32).astype(float)
    weights = np.linspace(0, 2, 120)
    expected = BayesClassifier(density).fit(X, y, weights).predict_proba(X)
    wide = np.zeros((120, 7))
    wide[:, 1::3] = X
    frozen = X.copy()
    frozen.setflags(write=False)
    forms = {
        "read-only": frozen,
        "by columns": np.asfortranarray(X),
        "strided": wide[:, 1::3],
        "backwards": X[::-1][::-1],
        "single precision": X.astype(np.float32),
        "other byte order": X.astype(">f8"),
        "list": X.tolist(),
    }
    for name, form in forms.items():
        kept = np.array(form, copy=True)
        clf = BayesClassifier(density).fit(form, y, weights)
        got = clf.predict_proba(form)
        np.testing.assert_allclose(got, expected, atol=1e-12, err_msg=name)
        clf.predict(form)
        clf.with_rule(priors=Minimax(), X=form)
        np.testing.assert_array_equal(np.array(form), kept, err_msg=name)
    np.testing.assert_array_equal(weights, np.linspace(0, 2, 120))


def test_results_are_the_callers_own():
    X, y = toy()
    clf = BayesClassifier(Gaussian("diag")).fit(X, y)
    first = clf.predict_proba(X)
    first[:] = 7.0
    clf.log_density(X)[:] = 7.0
    clf.expected_gains(X)[:] = 7.0
    assert clf.predict_proba(X).max() <= 1.0


@pytest.mark.parametrize("settled", [False, True])
def test_pickle_before_and_after_settling(settled):
    X, y = toy()
    clf = BayesClassifier(Gaussian("full"), gain=with_action(None, "ask", 0.5)).partial_fit(X, y)
    if settled:
        clf.predict(X)
    copy = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(copy.predict(X), clf.predict(X))
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))


# ---------------------------------------------------------------------- threads and processes


@pytest.mark.parametrize("density", [Gaussian("full"), Gaussian("diag")], ids=repr)
def test_eight_threads_share_a_model_that_settles_late(density):
    X, y = toy(3000)
    expected = BayesClassifier(density, "uniform").fit(X, y).predict_proba(X)
    for _ in range(5):
        clf = BayesClassifier(density, "uniform").partial_fit(X, y)
        start = Barrier(8)

        def ask(clf: BayesClassifier, start: Barrier) -> np.ndarray:
            start.wait()
            return clf.predict_proba(X)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, [clf] * 8, [start] * 8))
        for answer in answers:
            np.testing.assert_array_equal(answer, answers[0])
            np.testing.assert_allclose(answer, expected, atol=1e-12)


def test_eight_threads_fit_models_of_their_own():
    X, y = toy(3000)
    expected = recipes.qda().fit(X, y).predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(lambda _: recipes.qda().fit(X, y).predict_proba(X), range(16)):
            np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_started_after_a_fit(method, tmp_path):
    script = tmp_path / "started.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import multiprocessing
            import numpy as np
            from bayesrule import recipes

            def ask(task):
                clf, X, y = task
                again = type(clf)(clf.density).fit(X, y)
                return clf.predict_proba(X), again.predict_proba(X)

            if __name__ == "__main__":
                rng = np.random.default_rng(0)
                y = np.arange(300_000) % 2
                X = rng.normal(size=(300_000, 2)) + y[:, None]
                for recipe in (recipes.gaussian_nb, recipes.qda):
                    clf = recipe().fit(X, y)  # on a pool of threads, which a fork does not copy
                    here = clf.predict_proba(X)
                    with multiprocessing.get_context({method!r}).Pool(2) as pool:
                        for there, again in pool.map(ask, [(clf, X, y)] * 2):
                            assert np.array_equal(here, there)
                            assert np.array_equal(here, again)
                print("equal")
            """
        )
    )
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**_environment(), "BAYESRULE_NUM_THREADS": "4"},
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["equal"]


def _environment() -> dict[str, str]:
    """The environment of this process, with the package where this process found it."""
    assert bayesrule.__file__ is not None
    source = str(Path(bayesrule.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source}


@pytest.mark.parametrize("density", [Gaussian("diag"), Gaussian("full")], ids=repr)
def test_any_number_of_threads_gives_the_same_bits(density, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(600_000) % 3
    X = rng.normal(size=(600_000, 2)).astype(np.float32) + y[:, None]
    answers = []
    for threads in ("1", "2", "3", "4"):
        monkeypatch.setenv("BAYESRULE_NUM_THREADS", threads)
        clf = BayesClassifier(density).fit(X, y)
        answers.append((clf.log_density(X), clf.predict(X)))
    for log_density, decided in answers[1:]:
        np.testing.assert_array_equal(log_density, answers[0][0])
        np.testing.assert_array_equal(decided, answers[0][1])


def test_foreign_density_has_no_log_marginal():
    X, y = toy()
    clf = BayesClassifier(FromClassifier(LogisticRegression())).fit(X, y)
    assert not hasattr(clf, "log_marginal")
    with pytest.raises(AttributeError):
        _ = clf.log_marginal
