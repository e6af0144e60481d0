"""Arrow tables of numbers as blocks of columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayesrule import BayesClassifier, Columns, Gaussian, Histogram, Pooled
from bayesrule.side_by_side import columns_of, is_table_of_numbers, laid_in_order


def table_of(dtype, n=50, chunks=1):
    """Three columns of numbers, in so many chunks."""
    rng = np.random.default_rng(0)
    parts = [
        pa.table({name: (10 * rng.normal(size=n)).astype(dtype) for name in "abc"})
        for _ in range(chunks)
    ]
    return pa.concat_tables(parts)


def as_numpy(table):
    return np.array([column.to_numpy() for column in table.itercolumns()])


@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint64])
def test_columns_are_what_they_were(dtype, chunks):
    table = table_of(dtype, chunks=chunks)
    assert is_table_of_numbers(table)
    expected = np.float32 if dtype is np.float32 else np.float64
    for some in (table, table.slice(7, 30), table.select(["c", "a"]), laid_in_order(table)):
        found = columns_of(some)
        assert found.dtype == expected
        np.testing.assert_array_equal(found, as_numpy(some).astype(expected))


def test_what_lies_in_order_is_not_copied():
    table = table_of(np.float32, chunks=2)
    laid = laid_in_order(table)
    assert laid.schema == table.schema
    assert laid.equals(table)
    whole = columns_of(laid)
    for some, mine in (
        (laid.select([0, 1]), whole[:2]),
        (laid.select([1, 2]), whole[1:]),
        (laid.select([2]), whole[2:]),
    ):
        found = columns_of(some)
        assert np.shares_memory(found, mine)
        np.testing.assert_array_equal(found, mine)
    # Not in order, or not in one piece.
    for some in (laid.select([1, 0]), laid.select([0, 2]), laid.slice(1)):
        found = columns_of(some)
        assert not np.shares_memory(found, whole)
        np.testing.assert_array_equal(found, as_numpy(some))


def test_gaps_become_nan():
    table = pa.table({"a": pa.array([1.0, None, 3.0]), "b": pa.array([4.0, 5.0, 6.0])})
    assert laid_in_order(table) is table
    np.testing.assert_array_equal(columns_of(table), [[1.0, np.nan, 3.0], [4.0, 5.0, 6.0]])


def test_what_is_no_table_of_numbers():
    assert not is_table_of_numbers(np.ones((3, 2)))
    assert not is_table_of_numbers(pd.DataFrame({"a": [1.0]}))
    assert not is_table_of_numbers(pa.table({"a": ["x"]}))
    assert not is_table_of_numbers(pa.table({"a": [True]}))
    assert not is_table_of_numbers(pa.table({"a": pa.array([], pa.float64())}))
    twice = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    assert not is_table_of_numbers(twice)


@pytest.mark.parametrize(
    "density",
    [
        Pooled([(["a", "b"], Histogram([0.0, 5.0], joint=True)), Gaussian()]),
        Pooled([(["c"], Gaussian("diag")), (["b", "a"], Gaussian())]),
        Columns({("a", "c"): Gaussian()}, numbers=Gaussian("diag")),
    ],
    ids=["over one another", "apart", "columns"],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_of_an_arrow_table_are_those_of_another_frame(density, dtype):
    table = table_of(dtype, n=90)
    y = np.repeat([0, 1, 2], 30)
    frame = table.to_pandas()
    by_arrow = BayesClassifier(density).fit(table, y).partial_fit(table, y)
    by_pandas = BayesClassifier(density).fit(frame, y).partial_fit(frame, y)
    np.testing.assert_allclose(
        by_arrow.predict_proba(table), by_pandas.predict_proba(frame), rtol=1e-9, atol=1e-12
    )
    with pytest.raises(ValueError, match="feature"):
        by_arrow.predict(table.rename_columns(["a", "b", "d"]))
    with pytest.raises(ValueError, match="feature"):
        by_arrow.predict(table.select(["a", "b"]))
