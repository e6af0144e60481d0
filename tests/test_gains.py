"""Gains in every form a user may write them, and what may not change a decision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayesrule import BayesClassifier, Gaussian, Minimax, loss, with_action
from bayesrule.gains import regret, resolve_gain

ILL_WELL = np.array(["ill", "well"])
#: Treat or wait: rows are the true classes.
MATRIX = [[0.0, -20.0], [-1.0, 0.0]]
NESTED = {"ill": {"ill": 0, "well": -20}, "well": {"ill": -1, "well": 0}}


def test_every_form_is_the_same_gain():
    columns = {"ill": [0, -1], "well": [-20, 0]}
    forms = [
        MATRIX,
        np.array(MATRIX),
        NESTED,
        {"well": NESTED["well"], "ill": NESTED["ill"]},
        pd.DataFrame(MATRIX, index=["ill", "well"], columns=["ill", "well"]),
        pd.DataFrame(MATRIX, index=["ill", "well"], columns=["ill", "well"]).iloc[::-1],
        pl.DataFrame({"true": ["ill", "well"], **columns}),
        pl.DataFrame({"true": ["well", "ill"], "ill": [-1, 0], "well": [0, -20]}),
        pa.table({"true": ["ill", "well"], **columns}),
        loss(-np.array(MATRIX)),
    ]
    for form in forms:
        matrix, decisions = resolve_gain(form, ILL_WELL)
        np.testing.assert_array_equal(matrix, MATRIX)
        assert decisions.tolist() == ["ill", "well"]
        assert decisions.dtype == ILL_WELL.dtype


def test_none_is_one_for_the_right_class():
    matrix, decisions = resolve_gain(None, np.array([3, 5, 8]))
    np.testing.assert_array_equal(matrix, np.eye(3))
    assert decisions.tolist() == [3, 5, 8]


def test_decisions_need_not_be_classes():
    gain = {"good": {"approve": 5, "decline": 0}, "bad": {"approve": -20, "decline": 1}}
    matrix, decisions = resolve_gain(gain, np.array(["bad", "good"]))
    np.testing.assert_array_equal(matrix, [[-20, 1], [5, 0]])
    assert decisions.tolist() == ["approve", "decline"]
    assert decisions.dtype == object


def test_further_columns_of_an_array_are_actions():
    matrix, decisions = resolve_gain(np.arange(8.0).reshape(2, 4), ILL_WELL)
    assert decisions.tolist() == ["ill", "well", "action_1", "action_2"]
    np.testing.assert_array_equal(matrix, np.arange(8.0).reshape(2, 4))


def test_columns_in_another_order_are_lined_up_by_name():
    gain = {true: dict(reversed(row.items())) for true, row in NESTED.items()}
    matrix, decisions = resolve_gain(gain, ILL_WELL)
    assert matrix[0, decisions.tolist().index("well")] == -20
    assert matrix[1, decisions.tolist().index("ill")] == -1


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [-1.0, 2.0], ["0", "1"]])
def test_labels_read_from_a_file_are_found(labels):
    # A file can only write labels as text.
    gain = {
        str(true): {str(label): i - k for i, label in enumerate(labels)}
        for k, true in enumerate(labels)
    }
    matrix, decisions = resolve_gain(gain, np.array(labels))
    np.testing.assert_array_equal(matrix, [[0, 1], [-1, 0]])
    assert decisions.tolist() == labels
    assert decisions.dtype == np.array(labels).dtype


def test_row_of_a_class_that_was_not_seen_is_left_out():
    gain = {**NESTED, "rare": {"ill": -1, "well": -1}}
    np.testing.assert_array_equal(resolve_gain(gain, ILL_WELL)[0], MATRIX)


def test_the_matrix_is_a_copy_that_cannot_be_written():
    mine = np.array(MATRIX)
    matrix, _ = resolve_gain(mine, ILL_WELL)
    assert not np.shares_memory(matrix, mine)
    with pytest.raises(ValueError, match="read-only"):
        matrix[0, 0] = 1.0
    mine[0, 0] = 99.0  # the user's own array stays writable


# ---------------------------------------------------------------------- loss, with_action, regret


@pytest.mark.parametrize(
    "form",
    [
        MATRIX,
        np.array(MATRIX, int),
        NESTED,
        pd.DataFrame(MATRIX, index=["ill", "well"], columns=["ill", "well"]),
        pl.DataFrame({"true": ["ill", "well"], "ill": [0.0, -1.0], "well": [-20.0, 0.0]}),
        pa.table({"true": ["ill", "well"], "ill": [0.0, -1.0], "well": [-20.0, 0.0]}),
        with_action(MATRIX, "refer", -2.0),
        with_action(with_action(MATRIX, "refer", -2.0), "retest", {"ill": -3, "well": -1}),
    ],
    ids=lambda form: type(form).__name__,
)
def test_a_loss_is_a_negative_gain(form):
    gain, names = resolve_gain(form, ILL_WELL)
    negative, same = resolve_gain(loss(form), ILL_WELL)
    np.testing.assert_array_equal(negative, -gain)
    assert same.tolist() == names.tolist()
    np.testing.assert_array_equal(resolve_gain(loss(loss(form)), ILL_WELL)[0], gain)


@pytest.mark.parametrize("value", [None, "x", [["a", "b"]]])
def test_a_loss_of_nothing_is_an_error(value):
    with pytest.raises((ValueError, TypeError), match="loss"):
        loss(value)


@pytest.mark.parametrize(
    "form",
    [
        None,
        np.eye(2),
        {"ill": {"ill": 1, "well": 0}, "well": {"ill": 0, "well": 1}},
        pd.DataFrame(np.eye(2), index=["ill", "well"], columns=["ill", "well"]),
        pl.DataFrame({"true": ["ill", "well"], "ill": [1, 0], "well": [0, 1]}),
        pa.table({"true": ["ill", "well"], "ill": [1, 0], "well": [0, 1]}),
    ],
    ids=lambda form: type(form).__name__,
)
@pytest.mark.parametrize("value", [[0.25, 0.75], {"well": 0.75, "ill": 0.25}, 0.5])
def test_an_action_is_a_further_column(form, value):
    before = str(form)
    matrix, decisions = resolve_gain(with_action(form, "refer", value), ILL_WELL)
    assert decisions.tolist() == ["ill", "well", "refer"]
    np.testing.assert_array_equal(matrix[:, :2], np.eye(2))
    assert matrix[:, 2].tolist() == ([0.5, 0.5] if value == 0.5 else [0.25, 0.75])
    assert str(form) == before


@pytest.mark.parametrize(
    ("value", "named"),
    [([1, 2, 3], "3 values"), ({"ill": 1}, "'well'"), ("free", "'free' must be a number")],
)
def test_an_action_with_a_wrong_price(value, named):
    with pytest.raises(ValueError, match=named):
        resolve_gain(with_action(None, "refer", value), ILL_WELL)
    with pytest.raises(ValueError, match=named):
        resolve_gain(with_action(NESTED, "refer", value), ILL_WELL)


@pytest.mark.parametrize("form", [None, MATRIX, NESTED, with_action(None, "refer", 1)])
@pytest.mark.parametrize("name", ["refer", "ill"])
def test_an_action_with_the_name_of_another(form, name):
    with pytest.raises(ValueError, match=name):
        resolve_gain(with_action(with_action(form, "refer", 0.1), name, 0.2), ILL_WELL)


def test_regret_is_what_the_best_decision_would_have_added():
    np.testing.assert_array_equal(
        regret(np.array([[3.0, -5.0, 1.0], [-2.0, -2.0, -2.0]])), [[0, 8, 2], [0, 0, 0]]
    )


# ---------------------------------------------------------------------- nonsense


@pytest.mark.parametrize(
    ("gain", "named"),
    [
        ([[1, 0]], r"\(1, 2\)"),
        ([[1], [0]], r"\(2, 1\)"),
        (np.ones((2, 2, 2)), "three|3"),
        (5, "two dimensions"),
        ("x", "numbers"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        ([[1, np.nan], [0, 1]], "gain.*'ill'.*'well'.*nan"),
        ([[1, -np.inf], [0, 1]], "inf"),
        (np.eye(2) * 1j, "complex|real|numbers"),
        (np.ones((2, 0)), r"\(2, 0\)"),
        ({"ill": {"ill": 1, "well": 0}}, "'well'"),
        ({"ill": {"ill": 1}, "well": {"well": 1}}, "'ill'.*'well'|'well'.*'ill'"),
        ({"ill": {}, "well": {}}, "decision"),
        ({"ill": 1, "well": 2}, "'ill'"),
        ({"ill": [1, 2], "well": [3, 4]}, "'ill'"),
        ({"ill": {"ill": "much", "well": 0}, "well": {"ill": 0, "well": 1}}, "'much'"),
        ({"sick": {"ill": 1, "well": 0}, "well": {"ill": 0, "well": 1}}, "'ill'.*'sick'"),
        (pd.DataFrame(np.eye(2), index=["ill", "ill"], columns=["ill", "well"]), "two rows"),
        (pd.DataFrame(np.eye(2), index=["ill", "well"], columns=["ill", "ill"]), "two|twice"),
        (pl.DataFrame({"true": ["ill", "ill"], "ill": [1, 0], "well": [0, 1]}), "two rows"),
        (pl.LazyFrame({"true": ["ill", "well"], "ill": [1, 0], "well": [0, 1]}), "lazy.*collect"),
    ],
    ids=str,
)
def test_nonsense_is_named(gain, named):
    with pytest.raises(ValueError, match=named):
        resolve_gain(gain, ILL_WELL)


# ---------------------------------------------------------------------- what decides nothing


@pytest.fixture(scope="module")
def fitted() -> tuple[np.ndarray, BayesClassifier]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 2)) + 1.2 * y[:, None]
    return X, BayesClassifier(Gaussian("diag")).fit(X, y)


matrices = st.integers(3, 5).flatmap(
    lambda a: arrays(float, (3, a), elements=st.integers(-20, 20).map(float))
)
constants = arrays(float, (3, 1), elements=st.integers(-50, 50).map(float))


def same_but_for_ties(one: BayesClassifier, other: BayesClassifier, X: np.ndarray) -> bool:
    """Whether both decide the same on every row whose best decision is clear."""
    expected = np.sort(one.expected_gains(X), axis=1)
    clear = expected[:, -1] - expected[:, -2] > 1e-6
    return bool((one.predict(X) == other.predict(X))[clear].all())


@settings(max_examples=30)
@given(gain=matrices, constant=constants, scale=st.floats(0.01, 100))
def test_constants_of_a_class_and_scale_decide_nothing_under_fixed_priors(
    fitted, gain, constant, scale
):
    X, clf = fitted
    plain = clf.with_rule(gain=gain)
    assert same_but_for_ties(plain, clf.with_rule(gain=gain + constant), X)
    assert same_but_for_ties(plain, clf.with_rule(gain=scale * gain), X)
    np.testing.assert_array_equal(plain.predict(X), clf.with_rule(gain=loss(-gain)).predict(X))


@settings(max_examples=15)
@given(gain=matrices, constant=constants, scale=st.floats(0.01, 100))
def test_constants_of_a_class_and_scale_decide_nothing_under_minimax_regret(
    fitted, gain, constant, scale
):
    X, clf = fitted
    plain = clf.with_rule(gain=gain, priors=Minimax(), X=X)
    # Integers leave the regrets equal to the last bit, and so the priors.
    moved = clf.with_rule(gain=gain + constant, priors=Minimax(), X=X)
    np.testing.assert_array_equal(moved.priors_, plain.priors_)
    assert same_but_for_ties(plain, moved, X)
    scaled = clf.with_rule(gain=scale * gain, priors=Minimax(), X=X)
    value, other = plain.prior_solution_.value, scaled.prior_solution_.value
    assert other == pytest.approx(scale * value, rel=1e-6, abs=1e-9 * scale)


def test_a_constant_moves_minimax_priors_on_the_bare_gain(fitted):
    X, clf = fitted
    moved = np.eye(3) + np.array([[2.0], [0.0], [0.0]])
    on_gain = [
        clf.with_rule(gain=g, priors=Minimax(on="gain"), X=X).priors_ for g in (np.eye(3), moved)
    ]
    on_regret = [clf.with_rule(gain=g, priors=Minimax(), X=X).priors_ for g in (np.eye(3), moved)]
    assert np.abs(on_gain[0] - on_gain[1]).max() > 0.05
    np.testing.assert_array_equal(on_regret[0], on_regret[1])
