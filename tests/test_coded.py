"""Categories of any frame, array and type become the same small integers."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesrule import BayesClassifier, Categorical
from bayesrule.coded import read_categories

TOWNS = ["Oslo", "Rome", None, "Oslo", "Bern", None, "Rome"]


def decoded(table):
    """The categories of each column as they were written; None where missing."""
    coded = table.coded
    return [
        [None if c < 0 else labels[c] for c in codes]
        for codes, labels in zip(coded.codes.T, coded.categories, strict=True)
    ]


FORMS = {
    "pandas text": lambda: pd.DataFrame({"t": TOWNS}),
    "pandas objects": lambda: pd.DataFrame({"t": pd.Series(TOWNS, dtype=object)}),
    "pandas category": lambda: pd.DataFrame({"t": pd.Categorical(TOWNS)}),
    "pandas spare categories": lambda: pd.DataFrame(
        {"t": pd.Categorical(TOWNS, categories=["Wien", "Rome", "Oslo", "Bern"])}
    ),
    "pandas arrow": lambda: pd.DataFrame({"t": pd.Series(TOWNS, dtype="string[pyarrow]")}),
    "polars text": lambda: pl.DataFrame({"t": TOWNS}),
    "polars categorical": lambda: pl.DataFrame({"t": TOWNS}, schema={"t": pl.Categorical}),
    "polars enum": lambda: pl.DataFrame(
        {"t": TOWNS}, schema={"t": pl.Enum(["Wien", "Rome", "Oslo", "Bern"])}
    ),
    "arrow text": lambda: pa.table({"t": TOWNS}),
    "arrow large text": lambda: pa.table({"t": pa.array(TOWNS, pa.large_string())}),
    "arrow dictionary": lambda: pa.table({"t": pa.array(TOWNS).dictionary_encode()}),
    "arrow unsigned dictionary": lambda: pa.table(
        {"t": pa.array(TOWNS).cast(pa.dictionary(pa.uint32(), pa.string()))}
    ),
    "arrow chunks of their own dictionaries": lambda: pa.table(
        {
            "t": pa.chunked_array(
                [pa.array(part).dictionary_encode() for part in (TOWNS[:3], TOWNS[3:])]
            )
        }
    ),
    "objects": lambda: np.array(TOWNS, dtype=object)[:, None],
    "lists": lambda: [[town] for town in TOWNS],
}


@pytest.mark.parametrize("form", FORMS)
def test_text_of_every_form(form):
    table = read_categories(FORMS[form]())
    assert decoded(table) == [TOWNS]
    assert table.missing
    assert table.coded.codes.dtype == np.int32


@pytest.mark.parametrize("form", FORMS)
def test_a_model_reads_every_form_alike(form):
    X = FORMS[form]()
    y = [0, 1, 0, 0, 1, 1, 0]
    clf = BayesClassifier(Categorical()).fit(X, y)
    expected = BayesClassifier(Categorical()).fit(FORMS["lists"](), y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(FORMS["lists"]()))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, None, -1, 3], dtype="Int64"),
        pd.Series([3.0, np.nan, -1.0, 3.0]),
        pd.Series([3, None, -1, 3], dtype="int8[pyarrow]"),
        pd.Series(pd.Categorical([3, None, -1, 3])),
        pl.Series([3, None, -1, 3]),
        pl.Series([3.0, float("nan"), -1.0, 3.0]),
    ],
)
def test_numbers_with_gaps(column):
    frame = pd.DataFrame({"n": column}) if isinstance(column, pd.Series) else pl.DataFrame(column)
    assert decoded(read_categories(frame)) == [[3, None, -1, 3]]


def test_booleans_and_dates():
    day = datetime.date(2024, 2, 29)
    table = read_categories(pa.table({"b": [True, None, False], "d": [day, None, day]}))
    flags, days = decoded(table)
    assert flags == [True, None, False]
    assert days[0] == np.datetime64(day)
    assert days[1] is None


def test_integers_are_not_copied():
    for dtype in (np.int8, np.int32, np.int64, np.uint16):
        X = np.array([[1, 2], [3, 4]], dtype)
        table = read_categories(X)
        assert table.coded.categories is None
        assert np.shares_memory(table.coded.codes, X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (pd.DataFrame({"a": [1, 2], "b": [1, "x"]}), (TypeError, ValueError), "."),
        (np.array([[1, "x"], ["y", "x"]], dtype=object), TypeError, "column 0 of X mixes"),
        (pl.DataFrame({"a": [[1], [2]]}), TypeError, "column 'a' of X holds .*list"),
        (np.array([[1.0, np.inf]]), ValueError, "infinity in column 1"),
        (pl.DataFrame({"a": []}), ValueError, "0 sample"),
    ],
)
def test_what_is_no_category_is_refused_by_name(X, error, message):
    with pytest.raises(error, match=message):
        read_categories(X)
