"""Linear addresses against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesrule.addresses import cell_addresses, count_cells, cuts_for, levels_at, linear_addresses


@given(st.lists(st.integers(1, 7), min_size=1, max_size=5))
def test_addresses_are_numpys_and_lead_back(shape):
    every = np.arange(int(np.prod(shape)))
    levels = np.column_stack(np.unravel_index(every, shape))
    np.testing.assert_array_equal(linear_addresses(levels, shape), every)
    np.testing.assert_array_equal(levels_at(every, shape), levels)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(0, 2**32 - 1))
def test_cells_of_numbers_are_those_of_searchsorted(sizes, seed):
    # Few and many boundaries take different ways; values on a boundary belong above it.
    rng = np.random.default_rng(seed)
    cuts = [np.sort(rng.choice(100, n, replace=False)).astype(float) for n in sizes]
    X = rng.integers(-5, 105, (50, len(sizes))) / rng.choice([1.0, 2.0])
    levels = [np.searchsorted(c, x, side="right") for c, x in zip(cuts, X.T, strict=True)]
    expected = np.ravel_multi_index(levels, [n + 1 for n in sizes])
    for rows in (X, X.astype(np.float32), np.asfortranarray(X)):
        np.testing.assert_array_equal(cell_addresses(rows, cuts), expected)
    X[::3, -1] = np.nan
    for rows in (X, np.asfortranarray(X)):
        got = cell_addresses(rows, cuts)
        assert (got[::3] == -1).all()
        assert (got[1::3] == expected[1::3]).all()


def test_what_is_no_cell_is_refused():
    with pytest.raises(ValueError, match="outside"):
        linear_addresses([[0, 3]], (2, 3))
    with pytest.raises(ValueError, match=r"expected \(n, 2\)"):
        linear_addresses([[0, 1, 2]], (2, 3))
    with pytest.raises(ValueError, match="from 0 to 5"):
        levels_at([6], (2, 3))
    with pytest.raises(ValueError, match="more than"):
        linear_addresses([[0] * 5], [10**10] * 5)
    with pytest.raises(ValueError, match="boundaries of 1"):
        cell_addresses(np.zeros((3, 2)), [np.zeros(1)])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_cells_are_counted_as_their_addresses_say(order, kind):
    rng = np.random.default_rng(0)
    n = 5000  # several strips, the last one short
    cuts = [np.array([-1.0, 0.1, 0.7]), np.array([0.3]), np.sort(rng.normal(size=20))]
    values = rng.normal(size=(n, 3)).astype(kind)
    values[::7, 0] = kind(0.1)  # which float32 keeps above 0.1
    values[3::7, 1] = np.nextafter(kind(0.3), kind(-1))
    values[5::11, 2] = np.nan
    values[6::11, 0], values[7::11, 1] = np.inf, -np.inf
    values = np.asarray(values, order=order)
    degrees = np.where(rng.random((n, 4)) < 0.5, rng.integers(1, 9, (n, 4)), 0).astype(float)
    rows, codes = np.nonzero(degrees[1000:4500])
    entries = rows, codes.astype(np.int32), degrees[1000:4500][rows, codes]
    counts = np.zeros((4, 4 * 2 * 21))
    count_cells(values, cuts, 1000, 4500, entries, counts)
    wide = values.astype(np.float64)
    levels = [np.searchsorted(c, wide[:, j], side="right") for j, c in enumerate(cuts)]
    cell = np.ravel_multi_index([np.where(np.isnan(wide[:, 2]), 0, v) for v in levels], (4, 2, 21))
    cell = np.where(np.isnan(wide[:, 2]), -1, cell)
    np.testing.assert_array_equal(cell_addresses(values, cuts), cell)
    told = np.zeros_like(counts)
    whole = cell[1000:4500][rows] >= 0
    np.add.at(told, (codes[whole], cell[1000:4500][rows[whole]]), entries[2][whole])
    np.testing.assert_array_equal(counts, told)


@pytest.mark.parametrize("cut", [0.1, -0.1, 1 / 3, 1e39, -1e39, 1e-46, -1e-46, 16777217.0, 2.0])
def test_a_cut_in_float32_parts_the_same_numbers(cut):
    (found,) = cuts_for(np.empty(0, np.float32), np.array([cut]))
    near = np.float32(np.clip(cut, -3e38, 3e38))
    inf = np.float32(np.inf)
    around = [-inf, np.nextafter(near, -inf), near, np.nextafter(near, inf), np.float32(0), inf]
    around = np.array(around, np.float32)
    np.testing.assert_array_equal(around >= found, around.astype(np.float64) >= cut)
