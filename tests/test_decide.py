"""The rule as pure functions: posteriors, expected gains, best decisions, scores."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import logsumexp

from bayesrule import decide

logs = st.floats(-700, 700)
gains = st.floats(-100, 100)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log-densities of a few rows, priors and gains, for two to five classes."""
    n_rows, n_classes = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    n_decisions = draw(st.integers(1, 6))
    shares = draw(arrays(float, n_classes, elements=st.floats(0.01, 1)))
    return (
        draw(arrays(float, (n_rows, n_classes), elements=logs)),
        shares / shares.sum(),
        draw(arrays(float, (n_classes, n_decisions), elements=gains)),
    )


@given(problems())
def test_posterior_is_scipys(problem):
    log_density, priors, _ = problem
    posterior, log_marginal, lost = decide.posterior(log_density, priors)
    joint = log_density + np.log(priors)
    expected = logsumexp(joint, axis=1)
    np.testing.assert_allclose(log_marginal, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(posterior, np.exp(joint - expected[:, None]), rtol=1e-9, atol=1e-300)
    assert lost == 0


@given(problems(), st.floats(-1e6, 1e6))
def test_a_term_common_to_the_row_changes_nothing(problem, term):
    log_density, priors, _ = problem
    plain = decide.posterior(log_density, priors)[0]
    moved = decide.posterior(log_density + term, priors)[0]
    np.testing.assert_allclose(moved, plain, atol=1e-7)


@given(problems())
def test_best_decision_is_the_first_of_the_highest_expected_gain(problem):
    log_density, priors, gain = problem
    posterior, _, _ = decide.posterior(log_density, priors)
    expected = decide.expected_gains(posterior, gain)
    np.testing.assert_allclose(expected, posterior @ gain, rtol=1e-12, atol=1e-12)
    best, _ = decide.best_decisions(log_density, priors, gain)
    # From the very numbers that are reported, so exactly the first of the largest.
    np.testing.assert_array_equal(best, expected.argmax(axis=1))


@given(problems())
def test_one_for_the_right_class_decides_for_the_most_probable(problem):
    log_density, priors, _ = problem
    one = np.eye(len(priors))
    best, _ = decide.best_decisions(log_density, priors, one)
    posterior, _, _ = decide.posterior(log_density, priors)
    np.testing.assert_array_equal(best, posterior.argmax(axis=1))
    # The shortcut for this gain says what the full computation says of twice the gain.
    np.testing.assert_array_equal(best, decide.best_decisions(log_density, priors, 2 * one)[0])


def test_ties_go_to_the_first_column():
    log_density, priors = np.zeros((1, 3)), np.full(3, 1 / 3)
    assert decide.best_decisions(log_density, priors, np.eye(3))[0].tolist() == [0]
    assert decide.best_decisions(log_density, priors, np.eye(3)[:, ::-1])[0].tolist() == [0]
    assert decide.best_decisions(log_density, priors, np.zeros((3, 4)))[0].tolist() == [0]
    refer = np.column_stack([np.eye(3), np.full(3, 1 / 3)])
    assert decide.best_decisions(log_density, priors, refer)[0].tolist() == [0]


def test_gains_of_rows_are_used_row_by_row():
    rng = np.random.default_rng(0)
    log_density, priors = rng.normal(size=(50, 3)), np.array([0.2, 0.3, 0.5])
    per_row = rng.normal(size=(50, 3, 4))
    best, _ = decide.best_decisions(log_density, priors, per_row)
    alone = [
        decide.best_decisions(log_density[i : i + 1], priors, per_row[i])[0][0] for i in range(50)
    ]
    assert best.tolist() == alone
    posterior = decide.posterior(log_density, priors)[0]
    np.testing.assert_allclose(
        decide.expected_gains(posterior, per_row), np.einsum("ik,ikd->id", posterior, per_row)
    )


def test_rows_without_support_get_the_priors():
    log_density = np.array([[-np.inf, -np.inf], [-1.0, -np.inf], [-np.inf, np.inf]])
    priors = np.array([0.3, 0.7])
    posterior, log_marginal, lost = decide.posterior(log_density, priors)
    assert posterior.tolist() == [[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]]
    assert lost == 1
    assert log_marginal[0] == -np.inf
    best, lost = decide.best_decisions(log_density, priors, np.eye(2))
    assert best.tolist() == [1, 0, 1]
    assert lost == 1


def test_a_class_without_prior_stays_out():
    log_density = np.array([[5.0, 1.0], [np.inf, 1.0], [1.0, -np.inf]])
    posterior, _, lost = decide.posterior(log_density, np.array([0.0, 1.0]))
    assert posterior.tolist() == [[0.0, 1.0]] * 3
    assert lost == 1
    best, _ = decide.best_decisions(log_density, np.array([0.0, 1.0]), np.eye(2))
    assert best.tolist() == [1, 1, 1]


def test_infinite_densities_share():
    posterior, _, lost = decide.posterior(np.array([[np.inf, np.inf, 3.0]]), np.full(3, 1 / 3))
    assert posterior.tolist() == [[0.5, 0.5, 0.0]]
    assert lost == 0


# ---------------------------------------------------------------------- scores of decisions


def test_example_1_of_the_paper():
    # Priors 30/50 and 20/50, densities 4/30 and 5/20, losses 2 and 3: posteriors 4/9 and 5/9.
    log_density = np.log([[4 / 30, 5 / 20]])
    posterior, _, _ = decide.posterior(log_density, np.array([0.6, 0.4]))
    np.testing.assert_allclose(posterior, [[4 / 9, 5 / 9]], rtol=1e-15)
    gain = -np.array([[0.0, 2.0], [3.0, 0.0]])
    scores = decide.decision_scores(posterior, gain)
    np.testing.assert_allclose(scores, [[8 / 23, 15 / 23]], rtol=1e-14)
    # The less probable loss decides: the second class here, also by expected loss 8/9 < 5/3.
    np.testing.assert_allclose(-posterior @ gain, [[5 / 3, 8 / 9]], rtol=1e-14)
    assert decide.best_decisions(log_density, np.array([0.6, 0.4]), gain)[0].tolist() == [1]


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_scores_of_zero_one_gains(n_classes):
    posterior = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=20)
    expected = (n_classes - 2 + posterior) / (n_classes - 1) ** 2
    got = decide.decision_scores(posterior, np.eye(n_classes))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    if n_classes == 2:
        np.testing.assert_allclose(got, posterior, rtol=1e-12)


def by_hand(posterior: list[Fraction], gain: list[list[int]]) -> list[Fraction]:
    """Equation (6) through regrets, in rational arithmetic."""
    n_decisions = len(gain[0])
    risk = [
        sum(p * (max(row) - row[d]) for p, row in zip(posterior, gain, strict=True))
        for d in range(n_decisions)
    ]
    total = sum(risk)
    return [(total - r) / ((n_decisions - 1) * total) for r in risk]


def test_scores_by_hand_with_a_further_decision():
    posterior = [Fraction(1, 4), Fraction(3, 4)]
    gain = [[3, -5, 1], [-2, 4, 1]]
    got = decide.decision_scores(np.array([posterior], float), np.array(gain, float))[0]
    np.testing.assert_allclose(got, [float(p) for p in by_hand(posterior, gain)], rtol=1e-14)


@given(
    st.integers(0, 2**32 - 1),
    arrays(float, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.integers(-9, 9)),
    st.floats(0.01, 100),
)
def test_scores_keep_the_order_and_ignore_what_decides_nothing(seed, gain, scale):
    n_classes, n_decisions = gain.shape
    posterior = np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=3)
    scores = decide.decision_scores(posterior, gain)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0, atol=1e-12)
    assert (scores >= -1e-15).all()
    assert (scores <= 1 / (n_decisions - 1) + 1e-12).all()
    order = np.argsort(decide.expected_gains(posterior, gain), axis=1)
    assert (np.diff(np.take_along_axis(scores, order, axis=1), axis=1) >= -1e-9).all()
    constants = np.arange(1.0, n_classes + 1)[:, None]
    other = decide.decision_scores(posterior, scale * (gain + constants))
    np.testing.assert_allclose(other, scores, atol=1e-9)


def test_scores_where_nothing_is_at_stake():
    posterior = np.array([[0.2, 0.8]])
    assert decide.decision_scores(posterior, np.ones((2, 4))).tolist() == [[0.25] * 4]
    assert decide.decision_scores(posterior, np.array([[3.0], [-1.0]])).tolist() == [[1.0]]
    # Certain of a class whose gains are all equal.
    equal = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert decide.decision_scores(np.array([[1.0, 0.0]]), equal).tolist() == [[0.5, 0.5]]


def test_a_dominated_decision_flattens_the_scores():
    posterior = np.array([[0.2, 0.8]])
    two = decide.decision_scores(posterior, np.eye(2))
    three = decide.decision_scores(posterior, np.column_stack([np.eye(2), [-9.0, -9.0]]))
    assert two[0, 1] > three[0, 1] > three[0, 0] > three[0, 2]
