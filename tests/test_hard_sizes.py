"""Many classes, many columns, labels of any kind: answered rightly, or refused with a way out."""

from __future__ import annotations

import re
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from densities import DENSITIES, FIRST, Listed
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    Columns,
    Elliptical,
    FromClassifier,
    FuzzyProfiles,
    Gaussian,
    Histogram,
    Kernel,
    KMeansProfiles,
    Multinomial,
    Neighbors,
    Profiled,
)
from bayesrule.cases import assert_valid
from bayesrule.positive import Gamma, LogNormal
from bayesrule.rates import Exponential, Poisson

pytestmark = pytest.mark.filterwarnings("ignore")

#: Densities of plain numbers.
NUMERIC = [listed for listed in DENSITIES if "X" not in listed.claims]


def named(listed: list[Listed]) -> Any:
    """The densities of a list, by their names."""
    return [pytest.param(one.density, id=one.name) for one in listed]


def fitted_or_refused(density: Any, X: Any, y: Any, told: str) -> BayesClassifier | None:
    """A classifier, or None where it was refused by a message that tells what is wanted."""
    clf, said = BayesClassifier(clone(density)), ""
    try:
        return clf.fit(X, y)
    except (ValueError, MemoryError) as error:
        said = str(error)
    assert re.search(told, said), said
    return None


# ---------------------------------------------------------------------- sizes


@pytest.mark.slow
@pytest.mark.parametrize("density", named(NUMERIC))
def test_two_hundred_classes(density: Any) -> None:
    rng = np.random.default_rng(0)
    centres = rng.uniform(-40.0, 40.0, (200, 3))
    y = rng.permutation(np.repeat(np.arange(200), 6))
    X = centres[y] + rng.normal(size=(1200, 3))
    # Too few cells or profiles for so many classes may be refused, by the name of the setting.
    clf = fitted_or_refused(density, X, y, "max_cells|n_profiles")
    if clf is None:
        return
    posterior = assert_valid(clf, X, "two hundred classes")
    assert posterior.shape == (1200, 200)
    # Twice what chance decides rightly: two profiles can tell no more than two classes.
    assert (clf.predict(X) == y).sum() >= 12


@pytest.mark.slow
@pytest.mark.parametrize("density", named([one for one in NUMERIC if one.name in FIRST]))
def test_two_thousand_columns(density: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    # Robust scatters take sweeps of a time that grows with the cube of the columns.
    n_columns = 200 if isinstance(density, Elliptical) else 2000
    X = rng.normal(size=(60, n_columns)) + (0.5 * y[:, None] - 0.5)
    clf = fitted_or_refused(density, X, y, ".{40}")
    if clf is None:
        return
    assert_valid(clf, X, "two thousand columns")


#: Laws of counts, and of other positive numbers.
COUNTS: list[Any] = [Bernoulli(), Multinomial(), Poisson(), Categorical()]
SIZES: list[Any] = [
    Gaussian("diag"),
    Gaussian("spherical"),
    Exponential(),
    Gamma(),
    LogNormal(),
    Histogram(),
    Kernel(joint=False),
    Columns(),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "whole"), [*product(COUNTS, [True]), *product(SIZES, [False])], ids=str
)
def test_a_hundred_thousand_columns(density: Any, whole: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(12) % 2
    # One class is larger in every other column, so that shares tell the classes, too.
    mean = np.where((np.arange(100_000) + y[:, None]) % 2 == 0, 1.0, 3.0)
    draw = rng.poisson if whole else partial(rng.gamma, 2.0)
    X = draw(mean).astype(float)
    clf = BayesClassifier(clone(density)).fit(X, y)
    assert_valid(clf, X, "a hundred thousand columns")
    assert (clf.predict(draw(mean).astype(float)) == y).all()


def test_one_column_and_one_row_of_each_class() -> None:
    for listed in NUMERIC:
        if listed.name not in FIRST or "own" in listed.name:
            continue
        X, y = np.array([[0.0], [5.0], [9.0]]), np.array(["a", "b", "c"])
        clf = fitted_or_refused(listed.density, X, y, ".{30}")
        if clf is not None:
            assert_valid(clf, X, listed.name)


# ---------------------------------------------------------------------- labels

X3 = np.concatenate([np.random.default_rng(k).normal(3.0 * k, 1.0, (12, 2)) for k in range(3)])
PLACES = np.repeat([0, 1, 2], 12)
LONG = "x" * 100_000
LABELS: dict[str, Any] = {
    "booleans": np.array([False, True, True]),
    "words like gaps": np.array(["None", "nan", "null"]),
    "words like gaps, as objects": np.array(["", "NA", "nan"], object),
    "long words": np.array([LONG, LONG + "y", "x"]),
    "words of any script": np.array(["naïve", "素朴", "🙂‍↔️"]),
    "words with odd ends": np.array(["a", "a ", " a"]),
    "small numbers": np.array([-128, 0, 127], np.int8),
    "large numbers": np.array([0, 2**63, 2**64 - 1], np.uint64),
    "half numbers": np.array([-1.0, 0.0, 2.0], np.float16),
    "bytes": np.array([b"a", b"b", b"\xff"]),
    "days": np.array(["2024-01-01", "2024-02-01", "2025-01-01"], "datetime64[D]"),
}
HOLDERS: dict[str, Any] = {
    "an array": lambda y: y,
    "a list": lambda y: y.tolist(),
    "read-only": lambda y: _frozen(y),
    "every other": lambda y: np.repeat(y, 2)[::2],
    "a series": pd.Series,
    "categories": lambda y: pd.Series(y).astype("category"),
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "an Arrow series": lambda y: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.Series,
    "Arrow": lambda y: pa.chunked_array([pa.array(y.tolist())]),
}
DECIDING = [
    Gaussian("tied"),
    Neighbors(3),
    Profiled(KMeansProfiles(6)),
    Profiled(FuzzyProfiles(6)),
    FromClassifier(LogisticRegression()),
]


def _frozen(y: np.ndarray) -> np.ndarray:
    y = y.copy()
    y.setflags(write=False)
    return y


@pytest.mark.parametrize("density", DECIDING, ids=lambda density: type(density).__name__)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_come_back(density: Any, kind: str) -> None:
    labels = LABELS[kind]
    if kind == "bytes" and isinstance(density, FromClassifier):
        pytest.skip("scikit-learn's own classifiers refuse labels that are bytes")
    plain = BayesClassifier(clone(density)).fit(X3, np.unique(labels)[_ranks(labels)[PLACES]])
    y = labels[PLACES]
    clf = BayesClassifier(clone(density)).fit(X3, y)
    decided = clf.predict(X3)
    assert decided.dtype == labels.dtype
    assert set(decided.tolist()) <= set(labels.tolist())
    np.testing.assert_array_equal(clf.predict_proba(X3), plain.predict_proba(X3))
    assert clf.score(X3, y) > 0.5


def _ranks(labels: np.ndarray) -> np.ndarray:
    ranks: np.ndarray = np.unique(labels, return_inverse=True)[1]
    return ranks


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", ["booleans", "words of any script", "small numbers"])
def test_labels_in_anything_are_the_same(holder: str, kind: str) -> None:
    y = LABELS[kind][PLACES]
    expected = BayesClassifier().fit(X3, y)
    held = HOLDERS[holder](y)
    clf = BayesClassifier().fit(X3, held)
    np.testing.assert_array_equal(clf.log_density(X3), expected.log_density(X3))
    assert clf.predict(X3).tolist() == expected.predict(X3).tolist()
    assert clf.score(X3, held) == expected.score(X3, y)


@pytest.mark.parametrize(
    "y",
    [
        [None, *"ab" * 17, "a"],
        [np.nan, *[0.0, 1.0] * 17, 1.0],
        pd.Series([pd.NA, *[1, 2] * 17, 1], dtype="Int64"),
        pd.Series(["a", None, *"ab" * 17], dtype="string"),
        pd.Series(["a", None, *"ab" * 17]).astype("category"),
        pl.Series(["a", None, *"ab" * 17]),
        pa.chunked_array([pa.array(["a", None, *"ab" * 17])]),
        pd.Series([pd.NaT, *pd.to_datetime(["2024-01-01", "2025-01-01"] * 17), pd.NaT]),
        [1, "a"] * 18,
        [1 + 1j, 2] * 18,
        [0.5, 1.25] * 18,
        [[1], [2]] * 18,
        np.zeros((36, 2, 2)),
        np.arange(35),
        [],
        None,
        "a" * 36,
    ],
    ids=lambda y: f"{type(y).__name__}-{str(y)[:30]}".encode("ascii", "replace").decode(),
)
def test_labels_that_are_none_are_refused(y: Any) -> None:
    clf = BayesClassifier()
    if isinstance(y, list) and y == [[1], [2]] * 18:
        with pytest.warns(Warning, match="column-vector"):  # a column of labels is meant
            clf.fit(X3, y)
        return
    with pytest.raises((ValueError, TypeError), match=r"y\b|label|sample"):
        clf.fit(X3, y)
    assert not hasattr(clf, "classes_")


# ---------------------------------------------------------------------- categories


def test_categories_in_any_frame_are_the_same() -> None:
    rng = np.random.default_rng(0)
    towns = rng.choice(["Bern", "Oslo", "Rome"], 60)
    y = (towns == "Oslo") ^ (rng.random(60) < 0.2)
    frame = pd.DataFrame({"town": towns, "size": rng.normal(size=60)})
    expected = BayesClassifier(Columns()).fit(frame, y).predict_proba(frame)
    polars = pl.DataFrame({"town": towns, "size": frame["size"].to_numpy()})
    levels = sorted(set(towns.tolist()))
    forms = {
        "pandas categories": frame.astype({"town": "category"}),
        "ordered categories": frame.assign(
            town=pd.Categorical(towns, [*levels, "Nowhere"], ordered=True)
        ),
        "pandas text": frame.astype({"town": "string"}),
        "Arrow text": frame.convert_dtypes(dtype_backend="pyarrow"),
        "polars text": polars,
        "polars categories": polars.with_columns(pl.col("town").cast(pl.Categorical)),
        "polars levels": polars.with_columns(pl.col("town").cast(pl.Enum([*levels, "Nowhere"]))),
        "an Arrow table": pa.Table.from_pandas(frame),
        "an Arrow dictionary": pa.table(
            {"town": pa.array(towns.tolist()).dictionary_encode(), "size": frame["size"].to_numpy()}
        ),
    }
    for what, X in forms.items():
        clf = BayesClassifier(Columns()).fit(X, y)
        np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-12, err_msg=what)
        # A model decides rows in any of the forms.
        np.testing.assert_allclose(
            clf.predict_proba(frame), expected, rtol=1e-12, err_msg=f"{what}, then pandas"
        )


@pytest.mark.parametrize("which", ["town", "size"])
def test_each_column_may_be_missing_or_unseen(which: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    town = np.array(["Bern", "Oslo"])[(y + (rng.random(60) < 0.3)) % 2]
    frame = pd.DataFrame({"town": town, "size": rng.normal(size=60) + y})
    clf = BayesClassifier(Columns()).fit(frame, y)
    alone = BayesClassifier(Columns()).fit(frame.drop(columns=which), y)
    # Integrating a column out leaves the others to speak.
    gaps = frame.assign(**{which: pd.Series([None] * 60, dtype=frame[which].dtype)})
    np.testing.assert_allclose(
        clf.predict_proba(gaps), alone.predict_proba(frame.drop(columns=which)), rtol=1e-12
    )
    with pytest.raises(ValueError, match=which):
        clf.predict(frame.drop(columns=which))
    unseen = frame.assign(town="Rome", size=1e6)
    assert_valid(clf, unseen, "values never seen")
