"""Minimax priors over profiles: against a fine grid, on rows, in a box, over mixed columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesrule import Minimax, loss, recipes
from bayesrule.minimax import LEAST


def rows(seed: int = 0, n: int = 200, d: int = 3, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(k, d))[y], y


def risk(priors: np.ndarray, p: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """V(prior) of a table p (K, T): the best decision of every profile."""
    return np.einsum("gk,kt,kd->gtd", priors, p, losses).min(axis=2).sum(axis=1)


@pytest.mark.parametrize(
    "losses", [1.0 - np.eye(3), np.array([[0, 2.0, 5], [1, 0, 1], [9, 3, 0]])], ids=["01", "costs"]
)
def test_minimax_priors_are_those_of_a_fine_grid(losses):
    X, y = rows(n=400)
    clf = recipes.dmc(n_profiles=8, gain=loss(losses), randomised=True).fit(X, y)
    p = clf.log_density_.table
    grid = np.array([[a, b, 300 - a - b] for a in range(301) for b in range(301 - a)]) / 300
    values = risk(grid, p, losses)
    solution = clf.prior_solution_
    assert solution.value >= values.max() - 1e-9
    assert solution.value == pytest.approx(values.max(), abs=0.02 * losses.max())
    assert solution.value == pytest.approx(risk(solution.priors[None], p, losses)[0], abs=1e-12)
    inside = solution.priors > 10 * LEAST
    risks = solution.randomised_class_risks
    assert np.ptp(risks[inside]) < 1e-6
    assert (risks <= solution.value + 1e-6 * losses.max()).all()


def test_the_randomised_rule_keeps_its_promise_on_rows():
    X, y = rows(n=3000, d=2)
    clf = recipes.dmc(n_profiles=10, randomised=True).fit(X, y)
    found = [np.mean(clf.predict(X[y == k]) != k) for k in range(3)]
    np.testing.assert_allclose(found, clf.prior_solution_.randomised_class_risks, atol=0.04)


def test_boxes_bound_the_priors_and_impossible_ones_are_refused():
    X, y = rows(n=400)
    box = {0: (0.5, 0.6), 1: (0.0, 0.1)}
    clf = recipes.dmc(box, 8).fit(X, y)
    assert 0.5 - 1e-12 <= clf.priors_[0] <= 0.6 + 1e-12
    assert clf.priors_[1] <= 0.1 + 1e-12
    free = recipes.dmc(n_profiles=8).fit(X, y)
    assert clf.prior_solution_.value <= free.prior_solution_.value + 1e-12
    with pytest.raises(ValueError, match="No priors fit the box"):
        recipes.dmc({0: (0.7, 1.0), 1: (0.6, 1.0)}, 8).fit(X, y)


def test_soft_minimax_is_over_rows_with_the_models_masses():
    X, y = rows(n=300)
    clf = recipes.dmc(n_profiles=6, fuzziness=1.5).fit(X, y)
    r = recipes.spdbc(6, 1.5).fit(X, y).predict_proba(X)
    atoms = r / r.sum(axis=0)
    expected = Minimax().solve(atoms, np.eye(3), np.arange(3))
    np.testing.assert_allclose(clf.priors_, expected.priors, atol=1e-9)
    assert clf.prior_solution_.value > 0
    # A minimax rule needs its rows again for another gain, and with_rule takes them.
    other = clf.with_rule(gain=loss([[0, 5, 5], [1, 0, 1], [1, 1, 0]]), priors=Minimax(), X=X)
    assert np.abs(other.priors_ - clf.priors_).max() > 0.01


def people(n: int = 240) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Mixed columns, their classes, and the columns as numbers at the right distances."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, n)
    towns = np.array(["Oslo", "Rome", "Wien"])
    town = towns[(y + rng.integers(0, 2, n)) % 3]
    data = {"age": rng.normal(4.0 * y, 3.0).round(1), "town": town, "member": rng.random(n) < 0.5}
    # Two rows of different towns are a squared distance of one apart.
    dummies = (town[:, None] == towns) * np.sqrt(0.5)
    return data, y, np.column_stack([data["age"], dummies, data["member"]]).astype(float)


@pytest.mark.parametrize("settings", [{}, {"fuzziness": 1.6}, {"box": {0: (0.5, 0.8)}}], ids=str)
def test_minimax_over_mixed_columns_is_that_over_their_numbers(settings):
    data, y, numbers = people()
    frames = [pd.DataFrame(data), pl.DataFrame(data), pa.table(data)]
    frames.append(pd.DataFrame(data).astype({"town": "category"}))
    peer = recipes.dmc(n_profiles=9, **settings).fit(numbers, y)
    for frame in frames:
        clf = recipes.dmc(n_profiles=9, **settings).fit(frame, y)
        np.testing.assert_allclose(clf.priors_, peer.priors_, atol=1e-9)
        np.testing.assert_allclose(clf.predict_proba(frame), peer.predict_proba(numbers))
        assert clf.prior_solution_.value == pytest.approx(peer.prior_solution_.value)
    new = pd.DataFrame({"age": [3.0, 4.0], "town": ["Paris", "Rome"], "member": [True, False]})
    assert np.isfinite(clf.predict_proba(new.astype({"town": "category"}))).all()
    with pytest.raises(ValueError, match=r"NaN.*'town'"):
        recipes.dmc().fit(pd.DataFrame({"age": [1.0, 2.0], "town": ["Rome", None]}), [0, 1])


def test_minimax_over_mixed_columns_keeps_its_promise_on_rows():
    data, y, _ = people(3000)
    frame = pd.DataFrame(data)
    clf = recipes.dmc(n_profiles=15, metric="standardised", randomised=True).fit(frame, y)
    risks = clf.prior_solution_.randomised_class_risks
    inside = clf.priors_ > 10 * LEAST
    assert np.ptp(risks[inside]) < 1e-6
    found = [np.mean(clf.predict(frame[y == k]) != k) for k in range(3)]
    np.testing.assert_allclose(found, risks, atol=0.05)
    # Hard profiles need no rows to find new priors; soft ones are given them.
    again = clf.with_rule(priors=Minimax({0: (0.6, 1.0)}))
    assert again.priors_[0] >= 0.6 - 1e-9
    soft = recipes.dmc(n_profiles=15, fuzziness=1.5, metric="standardised").fit(frame, y)
    again = soft.with_rule(priors=Minimax({0: (0.6, 1.0)}), X=frame)
    assert again.priors_[0] >= 0.6 - 1e-9
