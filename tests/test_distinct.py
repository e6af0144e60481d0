"""Distinct rows: against numpy's own sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from bayesrule.distinct import Points, sort_rows

VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, np.nan])


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=VALUES))
@settings(max_examples=150, deadline=None)
def test_rows_are_sorted_as_numpy_sorts_them(rows):
    found, starts, order = sort_rows(rows)
    expected = np.lexsort((rows + 0.0).T[::-1])
    if rows.shape[1] > 1:
        np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(found, rows[order])
    np.testing.assert_array_equal(found, rows[expected])
    whole = rows[~np.isnan(rows).any(axis=1)]
    assert len(starts) == len(np.unique(whole, axis=0)) + len(rows) - len(whole)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_weights_of_equal_rows_are_added_up(pairs):
    values, weights = np.array(pairs, float).T
    for w in (weights, np.full(len(values), 2.0)):
        points = Points.of(values[:, None], w)
        expected, place = np.unique(values, return_inverse=True)
        np.testing.assert_array_equal(points.rows[:, 0], expected)
        np.testing.assert_array_equal(points.weights, np.bincount(place, w))
        assert points.total == w.sum()
