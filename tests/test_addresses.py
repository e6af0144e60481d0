"""Linear addresses against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesrule.addresses import cell_addresses, levels_at, linear_addresses


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
