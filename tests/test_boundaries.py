"""Boundaries without a search and entropies, against scipy, numpy and the paper's own figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from bayesrule.boundaries import (
    checked_boundaries,
    entropy,
    equal_probability_boundaries,
    levels_by_entropy,
    uniform_boundaries,
)


def test_entropy_is_scipys_with_millers_correction():
    counts = np.array([7, 0, 1, 12, 0, 3])
    correction = (4 - 1) / (2 * counts.sum() * np.log(2))
    assert entropy(counts) == pytest.approx(scipy_entropy(counts, base=2) + correction)
    assert entropy([5]) == entropy([0, 0]) == 0.0


def test_entropy_is_nearly_unbiased_where_the_plain_one_is_not():
    rng = np.random.default_rng(0)
    draws = rng.multinomial(100, np.full(32, 1 / 32), size=500)
    plain = np.mean([scipy_entropy(draw, base=2) for draw in draws])
    assert abs(np.mean([entropy(draw) for draw in draws]) - 5.0) < 0.2 * abs(plain - 5.0)


def test_levels_of_the_paper():
    # Five features of equal entropy under 10,000 cells; rounded up they would be 16,807.
    assert levels_by_entropy([13.2] * 5, 10_000) == (6,) * 5
    assert levels_by_entropy([13.2] * 5, 10_000, rounding="ceil") == (7,) * 5
    # An exact root must not be lost to rounding.
    assert levels_by_entropy([1.0] * 5, 7776) == (6,) * 5
    assert levels_by_entropy([0.0, 3.0, 1.0], 256) == (1, 64, 4)
    assert levels_by_entropy([0.0, 0.0], 256) == (1, 1)


@given(st.lists(st.floats(0, 20), min_size=1, max_size=8), st.integers(1, 10**6))
def test_levels_stay_under_the_limit(entropies, max_cells):
    assert np.prod(levels_by_entropy(entropies, max_cells), dtype=float) <= max_cells * (1 + 1e-8)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=60), st.integers(1, 8))
def test_no_other_gap_is_nearer_to_an_equal_share(values, n_levels):
    values = np.array(values, float)
    found = equal_probability_boundaries(values, n_levels)
    distinct = np.unique(values)
    gaps = (distinct[:-1] + distinct[1:]) / 2
    below = np.array([(values < gap).mean() for gap in gaps])
    assert np.isin(found, gaps).all()
    assert (np.diff(found) > 0).all()
    for share in np.arange(1, n_levels) / n_levels if len(gaps) else ():
        mine = np.abs((values[:, None] < found).mean(axis=0) - share).min()
        assert mine <= np.abs(below - share).min() + 1e-12


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=30))
def test_a_weight_repeats_a_value(pairs):
    values, weights = np.array(pairs, float).T
    repeated = np.repeat(values, weights.astype(int))
    np.testing.assert_array_equal(
        equal_probability_boundaries(values, 3, weights), equal_probability_boundaries(repeated, 3)
    )


def test_continuous_values_are_shared_out_evenly():
    values = np.random.default_rng(0).normal(size=1000)
    cuts = equal_probability_boundaries(np.append(values, np.nan), 8)
    np.testing.assert_array_equal(np.bincount(np.searchsorted(cuts, values)), np.full(8, 125))


def test_uniform_boundaries_are_linspace():
    np.testing.assert_allclose(uniform_boundaries(-1.0, 3.0, 7), np.linspace(-1, 3, 8)[1:-1])
    assert len(uniform_boundaries(2.0, 2.0, 5)) == len(uniform_boundaries(0.0, 1.0, 1)) == 0


def test_boundaries_of_the_user_are_checked():
    good = checked_boundaries([[0.5], [], (1, 2)], 3)
    assert [cuts.tolist() for cuts in good] == [[0.5], [], [1.0, 2.0]]
    for bad, words in (
        ([[1.0]], "1 lists for 2 features"),
        ([[1.0, 1.0], []], r"boundaries\[0\]"),
        ([[], [2.0, 1.0]], r"boundaries\[1\]"),
        ([[], [np.nan]], "finite"),
        ("equl", "'optimized'"),
    ):
        with pytest.raises(ValueError, match=words):
            checked_boundaries(bad, 2)
