"""Labels of any kind, soft labels and weights: one reading of y for all densities."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayesrule import BayesClassifier, Gaussian
from bayesrule.memberships import Memberships, encode_labels, places, read_target

NAMES = ["ash", "beech", "cedar", "dogwood", "elm"]


# ---------------------------------------------------------------------- encoding


integers = st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">i8", "?"])


@given(st.data(), integers)
def test_encoding_is_numpys_unique(data, dtype):
    labels = data.draw(arrays(np.dtype(dtype), st.integers(1, 50)))
    distinct, codes = encode_labels(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes, inverse)
    np.testing.assert_array_equal(distinct[codes], labels)
    assert distinct.dtype == expected.dtype.newbyteorder("=")


@given(arrays(np.dtype("U3"), st.integers(1, 50)))
def test_encoding_of_text(labels):
    distinct, codes = encode_labels(labels)
    np.testing.assert_array_equal(distinct[codes], labels)
    assert (np.diff(np.unique(distinct, return_inverse=True)[1]) > 0).all()


def test_encoding_at_the_ends_of_the_integers():
    for labels in (
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([2**63 - 1, 2**63 - 2]),
        np.array([0, 2**64 - 1], np.uint64),
        np.array([-128, 127, -128], np.int8),
    ):
        distinct, codes = encode_labels(labels)
        np.testing.assert_array_equal(distinct[codes], labels)
        assert distinct.dtype == labels.dtype


def test_encoding_of_strided_and_read_only_labels():
    labels = np.arange(20) % 3
    labels.setflags(write=False)
    distinct, codes = encode_labels(labels[::2])
    np.testing.assert_array_equal(distinct[codes], labels[::2])


def test_places_of_names():
    among = np.array([2, 5, 9])
    assert places(np.array([9, 2, 3]), among).tolist() == [2, 0, -1]
    assert places(np.array([10, -1]), among).tolist() == [-1, -1]
    assert places(np.array(["5"]), among).tolist() == [-1]
    assert places(np.array([5.0, 5.5]), among).tolist() == [1, -1]
    assert places(np.array([1, 2]), among[:0]).tolist() == [-1, -1]
    assert places(np.array(["aa", "b"]), np.array(["a", "b"])).tolist() == [-1, 1]


# ---------------------------------------------------------------------- orders of labels


@pytest.fixture(scope="module")
def five() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    code = rng.integers(0, 5, 300)
    return rng.normal(size=(300, 2)) + 1.5 * np.column_stack([code, code % 2]), code


@pytest.mark.parametrize(
    "labels",
    [np.arange(5), np.array([-7, 3, 4, 100, 1000]), np.array(NAMES), np.arange(5) / 2 + 0.0],
    ids=["int", "sparse int", "str", "float"],
)
def test_all_120_orders_of_five_labels(five, labels):
    X, code = five
    if labels.dtype.kind == "f":
        labels = labels * 2.0  # whole numbers, as floats that name classes are
    plain = BayesClassifier(Gaussian("diag"), gain=None).fit(X, labels[code])
    posterior, decided = plain.predict_proba(X[:40]), plain.predict(X[:40])
    for order in permutations(range(5)):
        order = np.array(order)
        clf = BayesClassifier(Gaussian("diag")).fit(X, labels[order][code])
        # Class j of the plain model is now called labels[order[j]].
        got = clf.predict_proba(X[:40])[:, order]
        np.testing.assert_allclose(got, posterior, rtol=1e-12)
        np.testing.assert_array_equal(
            clf.predict(X[:40]), labels[order][np.searchsorted(labels, decided)]
        )
        assert clf.predict(X[:1]).dtype == labels.dtype


def test_both_orders_of_two_booleans(five):
    X, code = five
    truth = code > 2
    clf = BayesClassifier(Gaussian("diag")).fit(X, truth)
    other = BayesClassifier(Gaussian("diag")).fit(X, ~truth)
    np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X)[:, ::-1])
    np.testing.assert_array_equal(other.predict(X), ~clf.predict(X))
    assert clf.predict(X).dtype == bool


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_a_hundred_shuffles_of_the_rows(five, covariance):
    X, code = five
    rng = np.random.default_rng(1)
    expected = BayesClassifier(Gaussian(covariance)).fit(X, code).predict_proba(X)
    for _ in range(100):
        order = rng.permutation(300)
        clf = BayesClassifier(Gaussian(covariance)).fit(X[order], code[order])
        np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2], np.uint8),
        np.array([3, 1, 2], np.int16),
        np.array([3, 1, 2], ">i8"),
        np.array([3.0, 1.0, 2.0]),
        np.array(["c", "a", "b"]),
        np.array(["c", "a", "b"], object),
        np.array([b"c", b"a", b"b"]),
        np.array(["2021-03", "2021-01", "2021-02"], "M8[D]"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_dtype(labels):
    X = np.arange(9.0)[:, None]
    y = np.repeat(labels, 3)
    clf = BayesClassifier(Gaussian("diag")).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), y)
    assert clf.predict(X).dtype == labels.dtype.newbyteorder("=")
    np.testing.assert_array_equal(clf.classes_, np.sort(labels))
    assert clf.score(X, y) == 1.0


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        pd.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="string"),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
        pl.Series,
        pa.array,
        lambda y: pa.chunked_array([y[:4], y[4:]]),
    ],
)
def test_labels_may_come_in_any_container(wrap):
    X = np.arange(9.0)[:, None]
    y = ["c"] * 3 + ["a"] * 3 + ["b"] * 3
    clf = BayesClassifier(Gaussian("diag")).fit(X, wrap(y))
    assert clf.predict(X).tolist() == y
    assert clf.score(X, wrap(y)) == 1.0


# ---------------------------------------------------------------------- nonsense labels


@pytest.mark.parametrize(
    ("y", "named"),
    [
        (None, "y"),
        ([0.5, 1.5, 2.5], "continuous"),
        ([0.0, np.nan, 1.0], "NaN.*1 of 3|1 of 3"),
        ([0.0, np.inf, 1.0], "infinity.*1 of 3|1 of 3"),
        (np.array(["a", None, "b"], object), "None in 1 of 3"),
        (pd.Series([1, None, 2], dtype="Int64"), "1 of 3"),
        (pd.Series(["a", None, "b"]), "1 of 3"),
        (pl.Series(["a", None, "b"]), "1 of 3"),
        (pa.array([1, None, 2]), "1 of 3"),
        (np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[D]"), "NaT|NaN|missing"),
        (np.array(["a", 1, "b"], object), "int.*str|str.*int"),
        (["a", 1, "b"], "int.*str|str.*int|types"),
        (np.array([1j, 2j, 3j]), "[Cc]omplex"),
        ([[1], [2], [3, 4]], "inhomogeneous|shape|1D|lengths"),
        (np.ones((3, 2, 2)), "dim 3"),
        (["a", "b"], r"\[3, 2\]|3.*2|2.*3"),
    ],
    ids=str,
)
def test_nonsense_labels_are_named(y, named):
    with pytest.raises((ValueError, TypeError), match=named):
        BayesClassifier(Gaussian("diag")).fit(np.arange(3.0)[:, None], y)


def test_column_of_labels_is_taken_with_a_warning():
    X = np.arange(6.0)[:, None]
    y = np.repeat([0, 1], 3)
    plain = BayesClassifier(Gaussian("diag")).fit(X, y).predict_proba(X)
    for column in (y[:, None], pd.DataFrame({"y": y}), pl.DataFrame({"y": y}), pa.table({"y": y})):
        with pytest.warns(UserWarning, match="1d array"):
            clf = BayesClassifier(Gaussian("diag")).fit(X, column)
        np.testing.assert_array_equal(clf.predict_proba(X), plain)


# ---------------------------------------------------------------------- soft labels


DEGREES = [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("frame", "classes"),
    [
        (DEGREES, [0, 1]),
        (np.array(DEGREES, np.float32), [0, 1]),
        (pd.DataFrame(DEGREES, columns=["yes", "no"]), ["no", "yes"]),
        (pd.DataFrame(DEGREES, columns=[7, 3]), [3, 7]),
        (pl.DataFrame(DEGREES, schema=["yes", "no"], orient="row"), ["no", "yes"]),
        (pa.table({"yes": [0.9, 0.5, 0.0], "no": [0.1, 0.5, 1.0]}), ["no", "yes"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_soft_labels_are_read_by_column(frame, classes):
    found = read_target(frame)
    assert found.classes.tolist() == classes
    names = getattr(frame, "column_names", getattr(frame, "columns", [0, 1]))
    order = [list(names).index(name) for name in classes]
    np.testing.assert_allclose(found.degrees, np.array(DEGREES)[:, order], rtol=1e-6)
    np.testing.assert_allclose(found.totals(), np.sum(DEGREES, axis=0)[order], rtol=1e-6)


@pytest.mark.parametrize(
    ("y", "named"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "1 of 2.*row 0 sums to 0.9"),
        ([[1, 1], [1, 0]], "sums to 2"),
        ([[1.5, -0.5], [1, 0]], "1 of 2 rows are not"),
        ([[np.inf, 0], [1, 0]], "1 of 2 rows are not"),
        ([[np.nan, 0], [1, 0]], "1 of 2 rows are not"),
        (pd.DataFrame([[0.5, 0.5], [1, 0]], columns=["a", "a"]), "'a'|same name"),
        (pd.DataFrame([[0.5, 0.5], [1, 0]], columns=["a", 1]), "int.*str|str.*int|types"),
        (pd.DataFrame([["x", "y"], ["z", "w"]], columns=["a", "b"]), "number|float"),
    ],
    ids=str,
)
def test_nonsense_soft_labels_are_named(y, named):
    with pytest.raises((ValueError, TypeError), match=named):
        read_target(y)


def test_entries_of_soft_labels_are_their_positive_degrees():
    found = Memberships(np.arange(2), None, np.array(DEGREES), np.array([1.0, 2.0, 4.0]))
    rows, codes, weights = found.entries()
    assert rows.tolist() == [0, 0, 1, 1, 2]
    assert codes.tolist() == [0, 1, 0, 1, 1]
    np.testing.assert_allclose(weights, [0.9, 0.1, 1.0, 1.0, 4.0])
    rows, codes, weights = found.entries(1, 3)
    assert rows.tolist() == [0, 0, 1]
    np.testing.assert_allclose(weights, [1.0, 1.0, 4.0])


def test_entries_of_many_rows_are_whole():
    n = (1 << 16) + 3
    codes = np.arange(n, dtype=np.int32) % 3
    found = Memberships(np.arange(3), codes)
    rows, got, weights = found.entries()
    np.testing.assert_array_equal(rows, np.arange(n))
    np.testing.assert_array_equal(got, codes)
    assert weights.sum() == n


def test_soft_labels_of_a_class_never_meant_leave_it_empty():
    X = np.arange(6.0)[:, None]
    Y = pd.DataFrame(np.eye(3)[[0, 0, 0, 1, 1, 1]], columns=["a", "b", "never"])
    clf = BayesClassifier(Gaussian("diag")).fit(X, Y)
    assert clf.class_count_.tolist() == [3, 3, 0]
    assert (clf.predict_proba(X)[:, 2] == 0).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.uint32, np.int32, np.uint64])
def test_integers_of_every_size_are_told_apart(dtype):
    labels = np.array([3, 0, np.iinfo(dtype).max, 3, 7, np.iinfo(dtype).max], dtype)
    distinct, codes = encode_labels(labels)
    expected, places = np.unique(labels, return_inverse=True)
    assert distinct.dtype == dtype
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes, places)
    few = labels[labels < 100]
    distinct, codes = encode_labels(few)
    np.testing.assert_array_equal(distinct[codes], few)
