"""Statistics add up: counts exactly, moments to rounding, in any order and grouping."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesrule.stats import Moments, Sample, Several, Sums


def rows(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes and weights."""
    rng = np.random.default_rng(seed)
    X = 1e6 + rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    return X, rng.integers(0, 3, n), rng.integers(0, 5, n).astype(float)


def moments(kind: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> Moments:
    """Two-pass moments, about a shift of their own."""
    shift = X[0] if len(X) else np.zeros(3)
    weight = np.bincount(y, w, 3)
    mean = np.zeros((3, 3))
    scatter = np.zeros((3, 3, 3))
    for k in np.flatnonzero(weight):
        mine = y == k
        mean[k] = w[mine] @ (X[mine] - shift) / weight[k]
        spread = X[mine] - shift - mean[k]
        scatter[k] = (w[mine, None] * spread).T @ spread
    second = {
        "full": scatter,
        "tied": scatter.sum(axis=0),
        "diagonal": np.einsum("kjj->kj", scatter),
    }
    return Moments(kind, shift, weight, mean, second[kind])


def same_moments(one: Moments, other: Moments) -> None:
    np.testing.assert_array_equal(one.weight, other.weight)
    there = one.weight > 0
    np.testing.assert_allclose(
        (one.mean + one.shift)[there], (other.mean + other.shift)[there], rtol=1e-14
    )
    np.testing.assert_allclose(one.second, other.second, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("kind", ["full", "tied", "diagonal"])
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_moments_of_parts_add_up_in_any_order(kind, seed, cuts):
    X, y, w = rows(seed)
    parts = [
        moments(kind, *(part[i] for part in (X, y, w)))
        for i in np.split(np.arange(40), sorted(cuts))
    ]
    whole = moments(kind, X, y, w)
    same_moments(reduce(add, parts), whole)
    same_moments(reduce(add, parts[::-1]), whole)
    order = np.random.default_rng(seed).permutation(len(parts))
    middle = len(parts) // 2
    left = [parts[i] for i in order[:middle]]
    right = [parts[i] for i in order[middle:]]
    same_moments(reduce(add, [*left, reduce(add, right)]), whole)


def test_the_same_parts_in_the_same_order_give_the_same_bits():
    X, y, w = rows(0)
    one, other = (
        reduce(add, [moments("full", X[i : i + 7], y[i : i + 7], w[i : i + 7]) for i in (0, 7, 14)])
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.second, other.second)
    np.testing.assert_array_equal(one.mean, other.mean)


def test_an_empty_side_brings_nothing_in():
    X, y, w = rows(1)
    whole = moments("full", X, y, w)
    empty = Moments("full", X.mean(axis=0), np.zeros(3), np.zeros((3, 3)), 0 * whole.second)
    for total in (whole + empty, empty + whole):
        np.testing.assert_array_equal(total.second, whole.second)
        np.testing.assert_allclose(total.mean + total.shift, whole.mean + whole.shift, rtol=1e-12)


def test_integer_counts_are_exact_in_any_order():
    rng = np.random.default_rng(0)
    parts = [
        Sums(rng.integers(0, 100, 3).astype(float), rng.integers(0, 100, (3, 5)).astype(float))
        for _ in range(20)
    ]
    total, reverse = reduce(add, parts), reduce(add, parts[::-1])
    np.testing.assert_array_equal(total.sums, reverse.sums)
    np.testing.assert_array_equal(total.sums, sum(part.sums for part in parts))
    np.testing.assert_array_equal(total.weight, sum(part.weight for part in parts))


def test_a_sample_does_not_depend_on_how_it_arrived():
    X, y, w = rows(2)
    X[3] = X[5]
    whole = Sample(X, y, w).sorted()
    order = np.random.default_rng(0).permutation(40)
    parts = [Sample(X[i], y[i], w[i]) for i in np.array_split(order, 6)]
    total = reduce(add, parts).sorted()
    np.testing.assert_array_equal(total.rows, whole.rows)
    np.testing.assert_array_equal(total.codes, whole.codes)
    np.testing.assert_array_equal(total.weights, whole.weights)


def test_spreading_to_more_classes_moves_each_class_to_its_place():
    X, y, w = rows(3)
    where = np.array([1, 2, 4])
    for kind in ("full", "tied", "diagonal"):
        plain = moments(kind, X, y, w)
        wide = plain.spread(where, 5)
        assert wide.weight.tolist() == [0, plain.weight[0], plain.weight[1], 0, plain.weight[2]]
        np.testing.assert_array_equal(wide.mean[where], plain.mean)
        second = wide.second if kind == "tied" else wide.second[where]
        np.testing.assert_array_equal(second, plain.second)
    sums = Sums(np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2)).spread(where, 5)
    assert sums.weight.tolist() == [0, 1, 2, 0, 3]
    assert sums.sums.tolist() == [[0, 0], [0, 1], [2, 3], [0, 0], [4, 5]]
    sample = Sample(X, y, w).spread(where, 5)
    np.testing.assert_array_equal(sample.codes, where[y])
    several = Several((sums, sample)).spread(np.arange(5), 5)
    np.testing.assert_array_equal(several.parts[0].sums, sums.sums)


def test_several_statistics_add_side_by_side():
    one = Several((Sums(np.ones(2), np.ones((2, 1))), Sums(np.zeros(2), np.ones((2, 3)))))
    total = one + one
    assert total.parts[0].weight.tolist() == [2, 2]
    assert total.parts[1].sums.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_adding_leaves_both_parts_as_they_were():
    X, y, w = rows(4)
    a, b = moments("full", X[:20], y[:20], w[:20]), moments("full", X[20:], y[20:], w[20:])
    before = [np.copy(field) for field in (a.mean, a.second, b.mean, b.second)]
    a + b
    for old, new in zip(before, (a.mean, a.second, b.mean, b.second), strict=True):
        np.testing.assert_array_equal(old, new)
