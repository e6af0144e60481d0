"""Equal rows: what a point holds of a class beyond what a scatter can bear is left out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesrule import BayesClassifier, Elliptical
from bayesrule.estimates import Wanted, estimate
from bayesrule.notices import BayesRuleWarning
from bayesrule.stats import Sample
from bayesrule.ties import most_held, without_heavy_points

ROBUST = ["tyler", "student", "huber", "mcd"]


def two_classes(n: int, m: int, seed: int, world: int = 0) -> tuple[np.ndarray, np.ndarray]:
    known = np.random.default_rng(world)
    maps = known.normal(size=(2, m, m)) / np.sqrt(m) + 0.5 * np.eye(m)
    X = np.random.default_rng(seed).normal(size=(2, n, m)) @ maps
    X[1] += 1.2 * known.normal(size=m)
    return X.reshape(-1, m), np.repeat([0, 1], n)


def sample_of(X: np.ndarray, weights: np.ndarray | None = None) -> Sample:
    ones = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    return Sample(np.asarray(X, float), np.zeros(len(X), np.int32), ones)


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.sampled_from([0.05, 0.125, 0.25, 1 / 3, 0.5]),
)
def test_points_are_cut_no_more_than_they_must(held: list[int], share: float) -> None:
    weight = np.array(held, float)
    level = most_held(weight, share)
    left = np.minimum(weight, level)
    if level > np.median(weight):
        assert left.max() <= share * left.sum() * (1 + 1e-12)
    if level < weight.max():
        # Any higher, and a point would hold more than its share, or none is an exception.
        higher = np.minimum(weight, level * 1.001)
        assert higher.max() > share * higher.sum()


def test_rows_without_heavy_points_stay_as_they_are() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:3] = X[0]
    one = sample_of(X)
    assert without_heavy_points(one, 1) is one
    few = sample_of([[0.0], [1.0], [2.0]])  # a third each
    assert without_heavy_points(few, 1) is few


def test_a_point_counts_the_same_by_weight_and_by_repeats() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[30, 2] = -0.0
    weights = np.ones(60)
    weights[[7, 30]] = 40.0, 25.0
    times = np.repeat(np.arange(60), weights.astype(int))
    repeated = X[times]
    repeated[times == 30, 2] = np.tile([0.0, -0.0], 13)[:25]  # equal, too
    by_weight = without_heavy_points(sample_of(X, weights), 1).weights
    by_repeats = without_heavy_points(sample_of(repeated), 1).weights
    np.testing.assert_allclose(np.bincount(times, by_repeats), by_weight)
    assert by_weight.max() == pytest.approx(by_weight.sum() / 16)


def test_incomplete_rows_are_no_points() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] = [1.0, np.nan]
    one = sample_of(X)
    assert without_heavy_points(one, 1) is one


@pytest.mark.parametrize("scatter", ROBUST)
@pytest.mark.parametrize("share", [0.3, 0.6])
@pytest.mark.parametrize("shrinkage", ["auto", None, 0.1])
def test_repeats_of_a_row_cost_next_to_nothing(
    scatter: str, share: float, shrinkage: float | str | None
) -> None:
    lost = []
    for world in range(3):
        X, y = two_classes(150, 5, 1, world)
        many = X.copy()
        many[: int(150 * share)] = X[0]
        clf = BayesClassifier(Elliptical(scatter, shrinkage=shrinkage), priors="uniform")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesRuleWarning)
            scores = [clf.fit(rows, y).score(*two_classes(2000, 5, 2, world)) for rows in (X, many)]
        lost.append(scores[0] - scores[1])
    assert np.mean(lost) < 0.03


@pytest.mark.parametrize("scatter", ROBUST)
def test_estimates_of_rows_with_heavy_points_follow_affine_maps(scatter: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X[:80] = X[0]
    A, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = estimate(sample_of(X), 1, Wanted(scatter))
        moved = estimate(sample_of(X @ A.T + shift), 1, Wanted(scatter))
    back = A @ plain.scatter[0] @ A.T
    got = moved.scatter[0]
    if scatter == "tyler":
        back, got = back / np.trace(back), got / np.trace(got)
    np.testing.assert_allclose(got, back, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(moved.location[0], A @ plain.location[0] + shift, atol=1e-9)


def test_row_weights_tell_what_was_left_out() -> None:
    X, y = two_classes(100, 4, 0)
    once = BayesClassifier(Elliptical("tyler")).fit(X, y).log_density_.row_weights
    X[:50] = X[0]
    found = BayesClassifier(Elliptical("tyler")).fit(X, y).log_density_.row_weights
    # The point counts for a sixteenth of what is left, as 3.3 rows do, not for fifty.
    assert found[:50].max() < 0.25 * once[0]
    np.testing.assert_allclose([found[y == k].mean() for k in (0, 1)], 1.0)
