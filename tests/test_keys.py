"""Keys of rows: by value alone, evenly spread, whatever the rows came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from bayesrule.keys import row_keys
from bayesrule.tables import Table, read_numbers, read_raw

NAMES = ["height", "weight", "age"]


def keys(X: Any, seed: int = 0) -> np.ndarray:
    return row_keys(read_numbers(X, accept_missing=True), seed)


@given(st.permutations(range(12)), st.integers(0, 2**32 - 1))
def test_a_key_depends_on_the_values_of_the_row_alone(order, seed):
    X = np.random.default_rng(1).normal(size=(12, 3))
    X[3] = X[7]
    plain = keys(X, seed)
    np.testing.assert_array_equal(keys(X[list(order)], seed), plain[list(order)])
    np.testing.assert_array_equal(np.concatenate([keys(row[None], seed) for row in X]), plain)
    assert plain[3] == plain[7]
    assert len(set(plain)) == 11
    np.testing.assert_array_equal(keys(np.asfortranarray(X), seed), plain)


def test_keys_are_spread_evenly_and_change_with_the_seed():
    X = np.arange(20_000.0)[:, None]
    for seed in (0, 1):
        share = np.bincount((keys(X, seed) * 10).astype(int), minlength=10) / 20_000
        np.testing.assert_allclose(share, 0.1, atol=0.01)
    assert abs(np.corrcoef(keys(X, 0), keys(X, 1))[0, 1]) < 0.03
    assert abs(np.corrcoef(keys(X, 0)[:-1], keys(X, 0)[1:])[0, 1]) < 0.03


def test_zeros_of_either_sign_are_one_value():
    assert keys([[0.0, 1.0]]) == keys([[-0.0, 1.0]])
    assert keys([[0.0, 1.0]]) != keys([[1.0, 0.0]])
    single = np.array([[0.5, 2.0]], np.float32)
    assert keys(single) == keys(single.astype(float))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda X: X,
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
        scipy.sparse.csr_array,
        scipy.sparse.csc_array,
        lambda X: pd.DataFrame({"text": [str(row) for row in X.tolist()], "size": X[:, 0]}),
        lambda X: [str(row) for row in X.tolist()],
    ],
    ids=["array", "pandas", "polars", "pyarrow", "csr", "csc", "mixed", "texts"],
)
def test_keys_of_rows_that_others_read(wrap):
    X = np.random.default_rng(1).normal(size=(12, 3)).round(1)
    X[3] = X[7]
    X[5] = 0.0
    table: Table = read_raw(wrap(X))
    plain = row_keys(table, 0)
    assert plain.shape == (12,)
    assert ((plain >= 0) & (plain < 1)).all()
    assert plain[3] == plain[7]
    assert len(set(plain)) == 11
    order = np.random.default_rng(0).permutation(12)
    np.testing.assert_array_equal(row_keys(table.take(order), 0), plain[order])


def test_equal_values_have_equal_keys_in_whatever_form():
    X = np.random.default_rng(2).normal(size=(20, 3))
    expected = keys(X)
    for form in (X, pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)):
        np.testing.assert_array_equal(row_keys(read_raw(form), 0), expected)
    sparse = row_keys(read_raw(scipy.sparse.csr_array(X)), 0)
    np.testing.assert_array_equal(row_keys(read_raw(scipy.sparse.csc_array(X)), 0), sparse)
