"""The validated X: frames of every kind, names of columns, errors that name them, blocks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression

from bayesrule import BayesClassifier, FromClassifier, Gaussian, Minimax
from bayesrule.density import Density
from bayesrule.tables import Table, read_numbers, read_raw

NAMES = ["height", "weight", "age"]
FRAMES = {
    "pandas": lambda values, names: pd.DataFrame(values, columns=names),
    "polars": lambda values, names: pl.DataFrame(values, schema=names, orient="row"),
    "pyarrow": lambda values, names: pa.table({name: values[:, j] for j, name in enumerate(names)}),
}
DENSITIES = {"gaussian": Gaussian("diag"), "foreign": FromClassifier(LogisticRegression())}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Any:
    return FRAMES[request.param]


@pytest.fixture(params=DENSITIES)
def density(request: pytest.FixtureRequest) -> Density:
    return DENSITIES[request.param]


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 3)) * [10, 1, 30] + y[:, None] * [5, -1, 20], y


# ---------------------------------------------------------------------- frames


def test_every_frame_gives_the_same_answers(frame, density, rows):
    X, y = rows
    clf = BayesClassifier(density).fit(frame(X, NAMES), y)
    assert clf.feature_names_in_.tolist() == NAMES
    assert clf.n_features_in_ == 3
    expected = BayesClassifier(density).fit(X, y).predict_proba(X)
    for other in FRAMES.values():
        np.testing.assert_array_equal(clf.predict_proba(other(X, NAMES)), expected)
    weights = np.arange(90) % 4
    weighted = BayesClassifier(density).fit(frame(X, NAMES), y, weights)
    by_array = BayesClassifier(density).fit(X, y, weights)
    np.testing.assert_array_equal(
        weighted.predict_proba(frame(X, NAMES)), by_array.predict_proba(X)
    )
    solved = BayesClassifier(density, Minimax()).fit(frame(X, NAMES), y)
    np.testing.assert_allclose(
        solved.priors_, BayesClassifier(density, Minimax()).fit(X, y).priors_, atol=1e-6
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda X: (X, ["height", "weight", "years"]), "years"),
        (lambda X: (X[:, [1, 0, 2]], ["weight", "height", "age"]), "order"),
        (lambda X: (X[:, :2], ["height", "weight"]), "age"),
        (lambda X: (np.c_[X, X[:, 0]], [*NAMES, "shoe"]), "shoe"),
    ],
    ids=["renamed", "permuted", "missing", "extra"],
)
def test_other_columns_are_never_silently_wrong(frame, density, rows, change, named):
    X, y = rows
    clf = BayesClassifier(density).fit(frame(X, NAMES), y)
    other = frame(*change(X))
    for use in (
        clf.predict,
        clf.predict_proba,
        clf.log_density,
        lambda other: clf.partial_fit(other, y),
        lambda other: clf.with_rule(priors=Minimax(), X=other),
    ):
        with pytest.raises(ValueError, match=named):
            use(other)


def test_arrays_of_another_width_are_refused(density, rows):
    X, y = rows
    clf = BayesClassifier(density).fit(X, y)
    for other in (X[:, :2], np.c_[X, X]):
        with pytest.raises(ValueError, match=f"{other.shape[1]} features"):
            clf.predict(other)


def test_names_that_come_or_go_are_told(frame, density, rows):
    X, y = rows
    with pytest.warns(UserWarning, match="feature names"):
        BayesClassifier(density).fit(frame(X, NAMES), y).predict(X)
    with pytest.warns(UserWarning, match="feature names"):
        BayesClassifier(density).fit(X, y).predict(frame(X, NAMES))


def test_columns_without_text_for_names_must_keep_their_order(density, rows):
    X, y = rows
    clf = BayesClassifier(density).fit(pd.DataFrame(X), y)
    with pytest.raises(ValueError, match=r"\[2, 1, 0\]"):
        clf.predict(pd.DataFrame(X[:, ::-1], columns=[2, 1, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(clf.predict(pd.DataFrame(X)), clf.predict(X))


def test_an_index_is_no_data(density, rows):
    X, y = rows
    plain = BayesClassifier(density).fit(pd.DataFrame(X, columns=NAMES), y)
    rng = np.random.default_rng(0)
    shuffled = pd.DataFrame(X, columns=NAMES, index=rng.permutation(90))
    other = BayesClassifier(density).fit(shuffled, pd.Series(y, index=rng.permutation(90)))
    np.testing.assert_array_equal(other.predict_proba(shuffled), plain.predict_proba(shuffled))


@pytest.mark.parametrize("density", [Gaussian("full"), Gaussian("diag")], ids=repr)
def test_missing_values_of_every_frame_are_missing(density, rows):
    X, y = rows
    gaps = X.copy()
    gaps[5, 1] = gaps[7, 2] = np.nan
    columns = {
        name: [None if np.isnan(v) else v for v in gaps[:, j]] for j, name in enumerate(NAMES)
    }
    nullable = pd.DataFrame(columns).astype("Float64")
    expected = BayesClassifier(density).fit(gaps, y).predict_proba(gaps)
    for form in (pd.DataFrame(columns), nullable, pl.DataFrame(columns), pa.table(columns)):
        got = BayesClassifier(density).fit(form, y).predict_proba(form)
        np.testing.assert_array_equal(got, expected)


def test_whole_numbers_and_booleans_are_numbers(rows):
    X, y = rows
    mixed = pd.DataFrame({"a": X[:, 0].round().astype(int), "b": X[:, 1] > 0, "c": X[:, 2]})
    expected = BayesClassifier(Gaussian("diag")).fit(mixed.to_numpy(float), y)
    clf = BayesClassifier(Gaussian("diag")).fit(mixed, y)
    np.testing.assert_array_equal(
        clf.predict_proba(mixed), expected.predict_proba(mixed.to_numpy(float))
    )


# ---------------------------------------------------------------------- errors that name columns


def test_infinite_values_are_named(frame, rows):
    X, y = rows
    bad = X.copy()
    bad[:3, 1] = np.inf
    bad[4, 2] = -np.inf
    with pytest.raises(ValueError, match=r"infinity in columns 'weight' \(3 rows\), 'age' \(1 row"):
        BayesClassifier().fit(frame(bad, NAMES), y)
    with pytest.raises(ValueError, match=r"infinity in columns 1 \(3 rows\), 2 \(1 rows\)"):
        BayesClassifier().fit(bad, y)


@pytest.mark.parametrize(("covariance", "order"), [("diag", "C"), ("diag", "F"), ("full", "C")])
def test_every_block_is_looked_at(rows, covariance, order):
    """Answers vouch for their rows: no block may be forgotten, no gap miscounted."""
    X, y = rows
    n = 140_000  # three blocks
    many = np.asarray(X[np.arange(n) % 90], order=order)
    clf = BayesClassifier(Gaussian(covariance, missing="raise")).fit(X, y)
    able = BayesClassifier(Gaussian(covariance)).fit(X, y)
    expected = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(many)[:90], expected)
    places = [0, 65_536, n - 1]
    for value, named in ((np.nan, "NaN"), (np.inf, "infinity")):
        for place in places:
            bad = many.copy(order="K")
            bad[[place, 7], 1] = value
            count = len({place, 7})
            for answer in (clf.predict, clf.predict_proba, clf.log_density, clf.score):
                given = (bad, y[np.arange(n) % 90]) if answer == clf.score else (bad,)
                with pytest.raises(ValueError, match=rf"{named} in column 1 \({count} rows\)"):
                    answer(*given)
    bad = many.copy(order="K")
    bad[places, 1] = np.nan
    answers = able.predict_proba(bad)
    np.testing.assert_allclose(answers[places], able.predict_proba(bad[places]), rtol=1e-12)
    whole = np.setdiff1d(np.arange(n), places)
    np.testing.assert_allclose(
        answers[whole], able.predict_proba(many)[whole], rtol=1e-9, atol=1e-15
    )
    bad[5, 2] = -np.inf
    with pytest.raises(ValueError, match=r"infinity in column 2 \(1 rows\)"):
        able.predict(bad)


@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("units", [1.0, 1e-120, 1e120])
def test_who_vouches_for_rows_answers_no_gap_with_a_number(rows, covariance, units):
    X, y = rows
    law = BayesClassifier(Gaussian(covariance)).fit(X * units, y).log_density_
    assert law.vouches
    for value in (np.nan, np.inf, -np.inf):
        for column in range(3):
            bad = X[:4] * units
            bad[2, column] = value
            with np.errstate(all="ignore"):
                answers = law(Table(bad))
            assert np.isfinite(answers[[0, 1, 3]]).all()
            assert not np.isfinite(answers[2]).any()


def test_many_bad_columns_are_counted():
    bad = np.full((4, 9), np.nan)
    with pytest.raises(ValueError, match="and 4 more"):
        read_numbers(bad, accept_missing=False)


@pytest.mark.parametrize("kind", ["M8[us]", "M8[ms]", "m8[ms]"])
def test_times_are_no_numbers_whatever_their_unit(frame, kind):
    """Read as numbers, the same dates in other units would be other rows."""
    values = np.array([[1, 2], [3, 4], [5, 7]]).astype(kind)
    with pytest.raises(TypeError, match=r"holds times \([a-z]+64.*days since"):
        BayesClassifier(Gaussian()).fit(values, [0, 1, 1])
    X = frame(values, ["seen", "gone"])
    with pytest.raises(ValueError, match=r"no numbers in columns 'seen' \(D[a-z]+\), 'gone'"):
        BayesClassifier(Gaussian("diag")).fit(X, [0, 1, 1])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_that_hold_no_numbers_are_named(library):
    seen = np.array(["2020-01-01", "2021-01-01"], "M8[us]")
    X = library({"age": [30.0, 50.0], "sex": ["f", "m"], "seen": seen})
    with pytest.raises(ValueError, match=r"columns 'sex' \(String\), 'seen' \(Datetime\).*Columns"):
        BayesClassifier().fit(X, [0, 1])


@pytest.mark.parametrize(
    ("X", "error", "named"),
    [
        ([["a", "b"]], ValueError, "'a'"),
        (pd.DataFrame({"u": ["x"], "v": [1.0]}), ValueError, "'u'"),
        ([1.0, 2.0], ValueError, "2D array"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        (np.zeros((0, 2)), ValueError, "0 sample"),
        (np.zeros((2, 0)), ValueError, "0 feature"),
        (np.array([[1j]]), ValueError, "[Cc]omplex"),
        (scipy.sparse.csr_array(np.eye(2)), TypeError, "[Ss]parse.*toarray"),
        (None, ValueError, "2D array"),
    ],
    ids=str,
)
def test_nonsense_rows_are_refused(X, error, named):
    with pytest.raises(error, match=named):
        read_numbers(X, accept_missing=True)


def test_nonsense_rows_for_a_foreign_model():
    for X, named in (([], "0 sample"), (np.zeros((0, 3)), "0 sample"), (np.zeros(3), "2D array")):
        with pytest.raises(ValueError, match=named):
            read_raw(X)


# ---------------------------------------------------------------------- blocks


def test_numbers_are_not_copied():
    for X in (np.ones((50, 3)), np.ones((50, 3), order="F"), np.ones((50, 3), np.float32)):
        table = read_numbers(X, accept_missing=True)
        assert table.numbers is not None
        assert np.shares_memory(table.numbers, X)


def test_blocks_and_picks_are_rows_of_the_table():
    X = np.arange(30.0).reshape(10, 3)
    for form in (X, np.asfortranarray(X)):
        table = read_numbers(form, accept_missing=True)
        block = table.block(2, 6)
        assert block.numbers is not None
        assert block.numbers.flags.c_contiguous
        np.testing.assert_array_equal(block.numbers, X[2:6])
        np.testing.assert_array_equal(table.take(np.array([5, 1])).numbers, X[[5, 1]])
        assert len(block) == 4
        assert block.n_columns == 3
    raw = read_raw(["a", "b", "c"])
    assert len(raw) == 3
    assert list(raw.take(np.array([2, 0])).raw) == ["c", "a"]
    assert raw.block(0, 3) is raw
