"""Blocks of columns: what each column becomes, and what happens when it is not what it was."""

from __future__ import annotations

import datetime
import pickle
import tracemalloc
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import bayesrule
from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    Columns,
    FromClassifier,
    Gaussian,
    Kernel,
    columns,
)
from bayesrule.notices import KeptTuningWarning
from bayesrule.rates import Poisson
from bayesrule.whole import Whole

# What is doubtful about classes with few or equal values is tested with the densities.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::bayesrule.notices.{name}Warning")
    for name in ("FewRows", "SingularScatter", "PreparedOnChunk")
]

RNG = np.random.default_rng(0)
N = 60
Y = np.array(["no", "yes"])[np.arange(N) % 2]
SHIFT = np.arange(N) % 2
DATA = {
    "age": RNG.normal(40 + 5 * SHIFT, 9).tolist(),
    "visits": RNG.poisson(2 + SHIFT).tolist(),
    "member": (RNG.random(N) < 0.3 + 0.4 * SHIFT).tolist(),
    "town": RNG.choice(["Oslo", "Rome", "Bern"], N).tolist(),
    "note": [f"a rather long remark, number {i}" for i in range(N)],
}
#: The same with gaps.
GAPS = {
    name: [None if (7 * i + j) % 11 == 0 else value for i, value in enumerate(column)]
    for j, (name, column) in enumerate(DATA.items())
}
KINDS = {
    "age": "numbers",
    "visits": "counts",
    "member": "flags",
    "town": "categories",
    "note": "texts",
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def fitted(X, y=Y, **settings):
    return BayesClassifier(Columns(**settings)).fit(X, y)


def kinds(clf):
    return {name: kind for name, kind, _ in clf.density_.columns_}


# ---------------------------------------------------------------------- columns by type


@frames
def test_each_column_gets_a_density_by_its_type(frame):
    clf = fitted(frame(DATA))
    assert kinds(clf) == KINDS
    assert clf.density_.columns_ == [
        ("age", "numbers", "Gaussian(covariance='diag')"),
        ("visits", "counts", "Poisson()"),
        ("member", "flags", "Bernoulli(threshold=None)"),
        ("town", "categories", "Categorical()"),
        ("note", "texts", "Words()"),
    ]
    lines = repr(clf.density_).splitlines()
    assert lines[0] == "age     numbers     Gaussian(covariance='diag')"
    assert [line.split()[0] for line in lines] == list(DATA)


FORMS = {
    "pandas": lambda data: pd.DataFrame(data),
    "pandas nullable": lambda data: pd.DataFrame(data).astype(
        {"visits": "Int64", "member": "boolean", "town": "string[pyarrow]"}
    ),
    "pandas python text": lambda data: pd.DataFrame(data).astype({"town": "string[python]"}),
    "pandas of arrow": lambda data: pd.DataFrame(data).convert_dtypes(dtype_backend="pyarrow"),
    "pandas category": lambda data: pd.DataFrame(data).astype({"town": "category"}),
    "pandas objects": lambda data: pd.DataFrame(data).astype(object),
    "pandas by number": lambda data: pd.DataFrame(list(zip(*data.values(), strict=True))),
    "polars": lambda data: pl.DataFrame(data),
    "polars enum": lambda data: pl.DataFrame(data).with_columns(
        pl.col("town").cast(pl.Enum(["Wien", "Rome", "Oslo", "Bern"]))
    ),
    "polars categorical": lambda data: pl.DataFrame(data).with_columns(
        pl.col("town").cast(pl.Categorical)
    ),
    "polars narrow": lambda data: pl.DataFrame(data).with_columns(pl.col("visits").cast(pl.UInt8)),
    "polars decimal": lambda data: pl.DataFrame(data).with_columns(
        pl.col("visits").cast(pl.Decimal(10, 2))
    ),
    "arrow": lambda data: pa.table(data),
    "arrow views": lambda data: pa.table(
        {
            name: pa.array(column, pa.string_view()) if name in ("town", "note") else column
            for name, column in data.items()
        }
    ),
    "arrow dictionary": lambda data: pa.table(
        {
            name: pa.array(column).dictionary_encode() if name == "town" else column
            for name, column in data.items()
        }
    ),
    "objects": lambda data: np.array(list(zip(*data.values(), strict=True)), dtype=object),
    "lists": lambda data: [list(row) for row in zip(*data.values(), strict=True)],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", [DATA, GAPS], ids=["whole", "gaps"])
def test_every_form_of_the_same_rows_gives_the_same_model(form, data):
    X = FORMS[form](data)
    clf = fitted(X)
    assert list(kinds(clf).values()) == list(KINDS.values())
    expected = fitted(pd.DataFrame(data)).predict_proba(pd.DataFrame(data))
    np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-9)


def test_the_density_is_the_sum_over_blocks_fitted_apart():
    X = pd.DataFrame(GAPS)
    clf = fitted(X, columns={"note": "drop"})
    apart = {
        "age": Gaussian("diag"),
        "visits": Whole(),
        "member": Bernoulli(threshold=None),
        "town": Categorical(),
    }
    total = 0.0
    for name, density in apart.items():
        # The one column that is not numeric to scikit-learn's reader of a single block.
        column = X[[name]].astype("boolean") if name == "member" else X[[name]]
        total = total + BayesClassifier(density).fit(column, Y).log_density(column)
    np.testing.assert_allclose(clf.log_density(X), total, rtol=1e-12)


@frames
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1] * 30, "categories"),
        ([0.0, 1.0] * 30, "categories"),
        ([0] * 60, "counts"),
        ([3, 7] * 30, "counts"),
        ([3.0, 7.0] * 30, "counts"),
        ([3.0, 7.5] * 30, "numbers"),
        ([-1, 5] * 30, "numbers"),
        ([None, 3] * 30, "counts"),
        ([float("nan")] * 60, "numbers"),
        ([None] * 60, "categories"),
        (["short", "words"] * 30, "categories"),
        (["a long sentence that is said again and again"] * 60, "categories"),
        ([f"S{i}" for i in range(60)], "categories"),
        ([f"sentence number {i} is long enough" for i in range(60)], "texts"),
        ([None, Decimal("2.5")] * 30, "numbers"),
    ],
    ids=lambda value: f"{value[0]}-{value[1]}" if isinstance(value, list) else value,
)
def test_what_a_column_is_taken_for(frame, values, kind):
    X = frame({"x": values, "other": DATA["age"]})
    clf = fitted(X)
    assert kinds(clf)["x"] == kind
    assert np.isfinite(clf.predict_proba(X)).all()


def odd_labels(values):
    """Categories that only pandas has, of the values 0 to 3."""
    bands = pd.cut(values, [-1, 0, 1, 2, 3])
    dates = pd.period_range("2024-01", periods=4, freq="M").take(values)
    return {
        "intervals": bands,
        "intervals without order": bands.as_unordered(),
        "periods": pd.Categorical(dates),
        "pairs": pd.Categorical([("a", int(v)) for v in values]),
        "several types": pd.Categorical([("none", 1, 2.5, "many")[v] for v in values]),
    }


@pytest.mark.parametrize("kind", odd_labels(np.arange(4)))
def test_categories_of_any_labels_are_categories(kind):
    values = RNG.integers(0, 4, N)
    X = pd.DataFrame({"x": odd_labels(values)[kind]})
    X.loc[3, "x"] = None
    plain = pd.DataFrame({"x": [None if i == 3 else f"label {v}" for i, v in enumerate(values)]})
    expected = fitted(plain).predict_proba(plain)
    for clf in (fitted(X), BayesClassifier(Categorical()).fit(X, Y)):
        np.testing.assert_allclose(clf.predict_proba(X), expected, rtol=1e-12)
    assert kinds(fitted(X)) == {"x": "categories"}
    late = BayesClassifier(Columns()).partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    np.testing.assert_allclose(late.predict_proba(X), expected, rtol=1e-12)


def test_labels_that_only_their_type_tells_apart_are_refused():
    X = pd.DataFrame({"x": pd.Categorical([1, "1"] * 30)})
    for density in (Columns(), Categorical()):
        with pytest.raises(TypeError, match="column 'x' of X are of several types"):
            BayesClassifier(density).fit(X, Y)


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_that_are_numbers_may_come_as_numbers(ordered):
    values = RNG.integers(1, 4, N)
    X = pd.DataFrame({"x": pd.Categorical(values, ordered=ordered)})
    clf = fitted(X)
    np.testing.assert_array_equal(
        clf.predict_proba(pd.DataFrame({"x": values})), clf.predict_proba(X)
    )
    with pytest.raises(ValueError, match="'x' of X holds text, but held numbers"):
        clf.predict(pd.DataFrame({"x": ["1"] * N}))


def test_columns_that_say_nothing_change_nothing():
    X = pd.DataFrame(DATA)
    plain = fitted(X).predict_proba(X)
    for empty in ([None] * N, [np.nan] * N, [7] * N, [7.5] * N, ["same"] * N, [True] * N, [0] * N):
        more = X.assign(empty=empty)
        np.testing.assert_allclose(fitted(more).predict_proba(more), plain, rtol=1e-12)


# ---------------------------------------------------------------------- memory

ROWS = 100_000
LARGE = {
    "numbers": lambda rng, y: rng.normal(y),
    "counts": lambda rng, y: rng.poisson(3 + y),
    "counts with gaps": lambda rng, y: pd.array(
        np.where(rng.random(len(y)) < 0.1, None, rng.poisson(3 + y)), dtype="Int32"
    ),
    "flags": lambda rng, y: rng.random(len(y)) < 0.3 + 0.3 * y,
    "flags with gaps": lambda rng, y: pd.array(
        np.where(rng.random(len(y)) < 0.1, None, rng.random(len(y)) < 0.5), dtype="boolean"
    ),
    "text": lambda rng, y: pd.array(rng.choice(["Oslo", "Rome", "Bern"], len(y)), dtype="str"),
    "categories": lambda rng, y: pd.Categorical(rng.choice(["Oslo", "Rome", "Bern"], len(y))),
}
LIBRARIES = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
}


def arrays_in(value):
    """All arrays of a table and its parts."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays_in(part)
    elif hasattr(value, "__dataclass_fields__"):
        for field in value.__dataclass_fields__:
            yield from arrays_in(getattr(value, field))


def recorded(method, answers):
    """A method that keeps its answers."""

    def call(self, *args):
        answers.append(method(self, *args))
        return answers[-1]

    return call


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", [*LARGE, "mixed"])
def test_no_frame_becomes_objects_on_its_way(kind, library, monkeypatch):
    """A cell as an object takes a pointer, and 24 bytes or more behind it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    drawn = [kind] * 7 if kind != "mixed" else list(LARGE)
    X = LIBRARIES[library](
        pd.DataFrame({f"x{j}": LARGE[name](rng, y) for j, name in enumerate(drawn)})
    )
    read, tallied = [], []
    for owner, name, seen in (
        (Columns, "read", read),
        (columns.FittedColumns, "read", read),
        (columns.FittedColumns, "tally", tallied),
    ):
        monkeypatch.setattr(owner, name, recorded(getattr(owner, name), seen))
    BayesClassifier(Columns()).fit(X[:100], y[:100])  # what is imported and compiled stays
    read.clear(), tallied.clear()
    tracemalloc.start()
    clf = BayesClassifier(Columns()).fit(X, y)
    fitting = tracemalloc.get_traced_memory()[1]
    table = read.pop()
    tracemalloc.reset_peak()
    clf.predict(X)
    deciding = tracemalloc.get_traced_memory()[1]  # the table of the fit is still held
    tracemalloc.stop()
    assert (len(read), len(tallied)) == (1, 1)  # all rows once for the fit, once for decisions
    long = [array for array in arrays_in(table) if len(array) == ROWS]
    assert sum(array.shape[1] for array in long) == 7
    assert all(array.dtype != object for array in long)
    assert max(fitting, deciding) < 32 * 7 * ROWS


# ---------------------------------------------------------------------- columns by choice


@frames
def test_densities_by_name_by_place_and_by_block(frame):
    X = frame(DATA)
    clf = fitted(
        X,
        columns={
            ("age", 1): Gaussian("full"),
            -1: "drop",
            np.int64(3): Categorical(0.5),
        },
    )
    assert clf.density_.columns_ == [
        ("age", "given", "Gaussian()"),
        ("visits", "given", "Gaussian()"),
        ("town", "given", "Categorical(alpha=0.5)"),
        ("member", "flags", "Bernoulli(threshold=None)"),
    ]
    pair = pd.DataFrame(DATA)[["age", "visits"]]
    block = BayesClassifier(Gaussian("full")).fit(pair, Y).log_density(pair)
    np.testing.assert_allclose(
        clf.log_density_.laws[0](clf.density_.read(X, clf).parts[0]), block, rtol=1e-12
    )


def test_densities_by_type():
    X = pd.DataFrame(DATA)
    clf = fitted(X, numbers=Gaussian("tied"), counts=Poisson(prior=None), texts=Categorical())
    assert [law for _, _, law in clf.density_.columns_] == [
        "Gaussian(covariance='tied')",
        "Poisson(prior=None)",
        "Bernoulli(threshold=None)",
        "Categorical()",
        "Categorical()",
    ]


def test_columns_named_by_numbers_and_columns_of_an_array():
    X = np.c_[DATA["age"], DATA["visits"]]
    for Z in (X, pd.DataFrame(X)):
        clf = fitted(Z, columns={1: Poisson()})
        assert [kind for _, kind, _ in clf.density_.columns_] == ["given", "numbers"]
    assert clf.density_.columns_[0][0] == "1"
    assert fitted(X, columns={"x1": Poisson()}).density_.columns_[0][0] == "x1"


def test_any_density_may_serve_a_block():
    from sklearn.linear_model import LogisticRegression

    X = pd.DataFrame(DATA)
    inner = Columns({"visits": "drop"})
    pair = ("age", "visits")
    names = {"age & visits": FromClassifier(LogisticRegression()), "age": inner}
    for name, density in names.items():
        clf = fitted(X, columns={pair: density, "note": "drop"})
        assert clf.contribution_names_ == [name, "member", "town"]
        alone = BayesClassifier(density).fit(X[[*pair]], Y).log_density(X[[*pair]])
        rest = fitted(X.drop(columns=[*pair, "note"])).log_density(X.drop(columns=[*pair, "note"]))
        np.testing.assert_allclose(clf.log_density(X), alone + rest, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"columns": {"agee": Gaussian()}}, ValueError, r"'agee', which X does not have.*'age'"),
        ({"columns": {5: Gaussian()}}, ValueError, "columns names 5"),
        ({"columns": {True: Gaussian()}}, ValueError, "columns names True"),
        ({"columns": {1.0: Gaussian()}}, ValueError, r"columns names 1\.0"),
        ({"columns": {"age": Gaussian(), ("visits", 0): Gaussian()}}, ValueError, "'age' .*twice"),
        ({"columns": {("age", "age"): Gaussian()}}, ValueError, "'age' .*twice"),
        ({"columns": {"age": "drop", 0: Gaussian()}}, ValueError, "'age' .*twice"),
        ({"columns": {(): Gaussian()}}, ValueError, "block of no columns"),
        ({"columns": {"age": "Gaussian"}}, TypeError, "columns\\['age'\\] is 'Gaussian'"),
        ({"columns": {"age": Gaussian}}, TypeError, "columns\\['age'\\]"),
        ({"columns": [("age", Gaussian())]}, TypeError, "is no dict"),
        ({"columns": {tuple(DATA): "drop"}}, ValueError, "all were dropped"),
        ({"numbers": "diag"}, TypeError, "numbers='diag' is no density"),
        ({"texts": Categorical}, TypeError, "texts=.* is no density"),
        ({"columns": {"town": Gaussian()}}, ValueError, "'town' of X holds text, which Gaussian"),
        ({"columns": {("age", "town"): Gaussian()}}, ValueError, "'town' of X holds text"),
        ({"columns": {"town": Poisson()}}, ValueError, "'town' of X holds text, which Poisson"),
        ({"categories": Bernoulli()}, ValueError, "'town' of X holds text, which Bernoulli"),
    ],
)
@frames
def test_settings_that_make_no_sense_are_refused(frame, settings, error, message):
    with pytest.raises(error, match=message):
        fitted(frame(DATA), **settings)


@frames
@pytest.mark.parametrize(
    "value",
    [datetime.datetime(2024, 2, 29), datetime.date(2024, 2, 29), datetime.timedelta(3), [1, 2]],
    ids=lambda v: type(v).__name__,
)
def test_types_without_a_density_are_refused_by_name(frame, value):
    X = frame({**DATA, "when": [value] * N})
    with pytest.raises(ValueError, match=r"Column 'when' of X holds .*columns={'when': 'drop'}"):
        fitted(X)
    assert "when" not in kinds(fitted(X, columns={"when": "drop"}))


def test_a_density_for_numbers_takes_no_dates_and_categories_no_periods():
    X = pd.DataFrame({"age": DATA["age"], "when": pd.Timestamp("2024-02-29")})
    with pytest.raises(ValueError, match=r"no numbers in column 'when' \(Datetime\)"):
        fitted(X, columns={"when": Gaussian()})
    X["when"] = pd.period_range("2024", periods=N, freq="D")
    with pytest.raises(ValueError, match=r"'when' of X holds .*Categorical.* not read"):
        fitted(X, columns={"when": Categorical()})


def test_what_is_no_table_is_refused():
    X = pd.DataFrame(DATA)
    with pytest.raises(TypeError, match=r"X.collect\(\)"):
        fitted(pl.DataFrame(DATA).lazy())
    with pytest.raises(ValueError, match="'age'"):
        fitted(pd.concat([X, X[["age"]]], axis=1))
    with pytest.raises(TypeError, match=r"'mix' of X mixes values of the types int, str"):
        fitted(X.assign(mix=pd.Series([1, "a"] * 30, dtype=object)))
    with pytest.raises(TypeError, match=r"'x1' of X mixes values of the types int, str"):
        fitted(np.array([[1, 2], [3, "a"]], dtype=object), [0, 1])
    for gone in (np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"infinity in column 'age' \(60 rows\)"):
            fitted(X.assign(age=gone))
    with pytest.raises(ValueError, match=r"'accidents' \(60 rows\)"):
        fitted(X.assign(accidents=-1), columns={"accidents": Poisson()})


# ---------------------------------------------------------------------- other columns later

CHANGES = {
    "age": (["x"] * N, "'age' of X holds text, but held numbers"),
    "visits": (["3"] * N, "'visits' of X holds text, but held numbers"),
    "member": (["x"] * N, "'member' of X holds text, but held numbers"),
    "town": ([1] * N, "'town' of X holds numbers, but held text"),
    "note": ([2.5] * N, "'note' of X holds numbers, but held text"),
    "a date": ([datetime.date(2024, 2, 29)] * N, "'age' of X holds Date, but held numbers"),
    "a count below zero": ([-1] * N, r"negative values in column 'visits' \(60 rows\)"),
    "a flag of two": ([2] * N, r"other than 0 and 1 in column 'member' \(60 rows\)"),
    "infinity": ([float("inf")] * N, r"infinity in column 'age' \(60 rows\)"),
}
WHERE = {
    "a date": "age",
    "a count below zero": "visits",
    "a flag of two": "member",
    "infinity": "age",
}


@frames
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("given", [False, True], ids=["by type", "given"])
def test_a_column_that_changed_is_named(frame, change, given):
    columns = {"age": Gaussian(), "visits": Poisson(), "member": Bernoulli(threshold=None)}
    clf = fitted(frame(DATA), columns=columns if given else None)
    before = clf.predict_proba(frame(DATA))
    values, message = CHANGES[change]
    X = frame({**DATA, WHERE.get(change, change): values})
    if given and change == "a count below zero":
        message = r"below zero in column 'visits' \(60 rows\)"
    with pytest.raises(ValueError, match=message):
        clf.predict(X)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X, Y)
    np.testing.assert_array_equal(clf.predict_proba(frame(DATA)), before)


@frames
def test_columns_that_are_missing_new_renamed_or_moved_are_named(frame):
    clf = fitted(frame(DATA))
    changed = {
        "now missing:\n- age": {k: v for k, v in DATA.items() if k != "age"},
        "unseen at fit time:\n- more": {**DATA, "more": DATA["age"]},
        "- Age\n.*now missing:\n- age": {("Age" if k == "age" else k): v for k, v in DATA.items()},
        "same order": dict(reversed(DATA.items())),
    }
    for message, data in changed.items():
        with pytest.raises(ValueError, match=f"(?s){message}"):
            clf.predict(frame(data))


@frames
def test_other_types_of_the_same_values_are_read_alike(frame):
    clf = fitted(frame(DATA))
    expected = clf.predict_proba(frame(DATA))
    for change in (
        {"member": [int(value) for value in DATA["member"]]},
        {"visits": [float(value) for value in DATA["visits"]]},
    ):
        np.testing.assert_allclose(clf.predict_proba(frame({**DATA, **change})), expected)


@frames
@pytest.mark.parametrize("gap", [None, float("nan")], ids=["none", "nan"])
def test_a_column_may_be_all_missing_later(frame, gap):
    clf = fitted(frame(DATA))
    for name in DATA:
        X = frame({**DATA, name: [gap] * N})
        rest = fitted(frame(DATA), columns={name: "drop"})
        np.testing.assert_allclose(clf.predict_proba(X), rest.predict_proba(frame(DATA)))
    nothing = frame({name: [gap] * N for name in DATA})
    np.testing.assert_allclose(clf.predict_proba(nothing), [clf.priors_] * N)


@frames
@pytest.mark.parametrize("values", [["Oslo", "Rome"] * 30, [1, 2] * 30], ids=["text", "numbers"])
def test_a_column_without_values_at_first_takes_what_comes(frame, values):
    empty = frame({"late": [None] * N, "age": DATA["age"]})
    later = frame({"late": values, "age": DATA["age"]})
    clf = BayesClassifier(Columns()).partial_fit(empty, Y).partial_fit(later, Y)
    by_hand = BayesClassifier(Columns({"late": Categorical()})).fit(later, Y)
    for mine, theirs in zip(
        clf.stats_.parts[0].counts, by_hand.stats_.parts[0].counts, strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)
    other = [3, 4] * 30 if isinstance(values[0], str) else ["a", "b"] * 30
    with pytest.raises(ValueError, match="are text in one part"):
        clf.partial_fit(frame({"late": other, "age": DATA["age"]}), Y)


# ---------------------------------------------------------------------- classes with gaps


def test_a_class_with_gaps_only_in_a_block_does_there_as_the_classes_on_average():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], [30, 50, 20])
    X = pd.DataFrame(
        {
            "size": rng.normal(np.repeat([0.0, 2.0, 1.0], [30, 50, 20]), 1.0),
            "u": rng.normal(size=100) + 0.1,
            "v": rng.normal(size=100),
            "town": rng.choice(["Oslo", "Rome"], 100),
            "flag": rng.random(100) < 0.3,
        }
    )
    full = ("u", "v")
    columns = {full: Gaussian("full")}
    gappy = X.astype({"flag": "boolean", "town": object})
    for block in (["town"], ["flag"], [*full]):
        gaps = gappy.copy()
        gaps.loc[y == "c", block] = None
        clf = fitted(gaps, y, columns=columns)
        density = clf.log_density(gappy)
        assert np.isfinite(density).all()
        hidden = gappy.copy()
        hidden[block] = None
        share = np.exp(density - clf.log_density(hidden))
        np.testing.assert_allclose(share[:, 2], share[:, :2].mean(axis=1), rtol=1e-9)
        # A class that is without rows stays without a density.
        fourth = BayesClassifier(Columns(columns)).partial_fit(
            gaps, y, classes=["a", "b", "c", "d"]
        )
        np.testing.assert_array_equal(
            np.isfinite(fourth.log_density(X)), [[True] * 3 + [False]] * 100
        )
        np.testing.assert_allclose(fourth.predict_proba(gappy)[:, :3], clf.predict_proba(gappy))
        terms = clf.contributions(gappy).sum(axis=2) + np.log(clf.priors_)
        expected = np.log(clf.predict_proba(gappy))
        np.testing.assert_allclose(
            terms - terms[:, :1], expected - expected[:, :1], rtol=1e-9, atol=1e-9
        )


def test_a_block_of_gaps_alone_says_nothing():
    X = pd.DataFrame({"age": DATA["age"], "gone": [None] * N})
    alone = fitted(X[["age"]])
    np.testing.assert_allclose(fitted(X).predict_proba(X), alone.predict_proba(X[["age"]]))


def test_one_row_per_class():
    X = pd.DataFrame(GAPS).iloc[[1, 2]]
    clf = fitted(X, Y[1:3])
    proba = clf.predict_proba(pd.DataFrame(GAPS))
    assert np.isfinite(proba).all()
    np.testing.assert_array_equal(clf.predict(X), Y[1:3])


# ---------------------------------------------------------------------- life of a model


def states(clf):
    """All numbers of the statistics of a model, in order."""
    found = []

    def walk(value):
        if isinstance(value, np.ndarray):
            found.append(repr(value.tolist()))  # as text, gaps are equal
        elif isinstance(value, tuple):
            for part in value:
                walk(part)
        elif hasattr(value, "__dataclass_fields__"):
            for field in value.__dataclass_fields__:
                walk(getattr(value, field))

    walk(clf.stats_)
    return found


COUNTED = {name: DATA[name] for name in ("visits", "member", "town", "note")}


def test_chunks_count_bit_for_bit_like_one_fit():
    X = pd.DataFrame(COUNTED)
    density = Columns(counts=Poisson())
    whole = BayesClassifier(density).fit(X, Y)
    for sizes in ([0, 30, 31, 60], [0, 45, 50, 60]):
        chunked = BayesClassifier(density)
        for start, stop in pairwise(sizes):
            chunked.partial_fit(X[start:stop], Y[start:stop])
        assert states(chunked) == states(whole)
        np.testing.assert_array_equal(chunked.predict_proba(X), whole.predict_proba(X))


def test_parts_of_one_preparation_merge():
    X = pd.DataFrame(COUNTED)
    first = BayesClassifier(Columns(counts=Poisson())).partial_fit(X[:40], Y[:40])
    one, other = clone_fitted(first), clone_fitted(first)
    one.partial_fit(X[40:50], Y[40:50])
    other.partial_fit(X[50:], Y[50:])
    together = clone_fitted(first)
    for rows in (slice(40, 50), slice(0, 40), slice(50, 60)):
        together.partial_fit(X[rows], Y[rows])
    assert states(one.merge(other)) == states(together)
    with pytest.raises(ValueError, match="counted differently"):
        one.merge(fitted(X, columns={"visits": Gaussian()}))


def clone_fitted(clf):
    return pickle.loads(pickle.dumps(clf))


def test_copies_and_files_are_the_same_model(tmp_path):
    X = pd.DataFrame(GAPS)
    columns = {("age", "visits"): Gaussian("full"), "note": "drop"}
    for density in (Columns(columns), Columns({"note": "drop"})):
        clf = BayesClassifier(density).fit(X, Y)
        bayesrule.save(clf, tmp_path / "model.bayes")
        for copy in (clone_fitted(clf), bayesrule.load(tmp_path / "model.bayes")):
            np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))
            assert repr(copy.density_) == repr(clf.density_)
            assert states(copy.partial_fit(X, Y)) == states(clone_fitted(clf).partial_fit(X, Y))
            with pytest.raises(ValueError, match="'town' of X holds numbers, but held text"):
                copy.predict(X.assign(town=1))


def test_a_file_keeps_a_column_that_was_all_missing(tmp_path):
    X = pd.DataFrame({"age": DATA["age"], "late": [None] * N})
    clf = fitted(X)
    bayesrule.save(clf, tmp_path / "model.bayes")
    np.testing.assert_array_equal(
        bayesrule.load(tmp_path / "model.bayes").predict_proba(X), clf.predict_proba(X)
    )


def test_settings_are_cloned_and_not_touched():
    town = Categorical(0.5)
    columns = {"town": town, "note": "drop"}
    clf = BayesClassifier(Columns(columns, numbers=Gaussian("tied")))
    copy = clone(clf)
    assert repr(copy) == repr(clf)
    assert copy.density.columns is not columns
    copy.fit(pd.DataFrame(DATA), Y)
    assert columns == {"town": town, "note": "drop"}
    assert copy.density_.blocks[0].density is not town


def test_searches_reach_into_the_columns():
    X = pd.DataFrame(DATA)
    clf = BayesClassifier(Columns(numbers=Gaussian("diag"), categories=Categorical()))
    grid = {
        "density__categories__alpha": [0.1, 10.0],
        "density__numbers__covariance": ["diag", "tied"],
    }
    search = GridSearchCV(clf, grid, cv=3).fit(X, Y)
    best = search.best_estimator_.density_.blocks
    by_kind = {block.kind: block.density for block in best}
    assert by_kind["categories"].alpha == search.best_params_["density__categories__alpha"]
    assert by_kind["numbers"].covariance == search.best_params_["density__numbers__covariance"]
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 4
    assert np.isfinite(scores).all()


def test_searches_reach_columns_that_were_chosen():
    X = pd.DataFrame(DATA)
    block = ("age", "visits")
    density = Columns({"town": Categorical(), block: Gaussian("full"), "note": "drop"})
    params = BayesClassifier(density).get_params()
    path = f"density__columns__{block[0]} & {block[1]}"
    assert params[path] is density.columns[block]
    assert params[f"{path}__covariance"] == "full"
    assert params["density__columns__note"] == "drop"
    grid = {"density__columns__town__alpha": [0.1, 10.0], path: ["drop", Gaussian("tied")]}
    search = GridSearchCV(BayesClassifier(density), grid, cv=3).fit(X, Y)
    for chosen, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        alpha = chosen["density__columns__town__alpha"]
        given = {"town": Categorical(alpha), block: chosen[path], "note": "drop"}
        by_hand = cross_val_score(BayesClassifier(Columns(given)), X, Y, cv=3)
        assert np.mean(by_hand) == score
    assert density.columns[block].covariance == "full"
    # Densities are changed in place, as scikit-learn does, once they are one's own.
    own = clone(density).set_params(columns__town__alpha=3.0, numbers=Gaussian("diag"))
    assert (own.columns["town"].alpha, density.columns["town"].alpha) == (3.0, 1.0)
    for wrong in ("columns__village", "columns__note__alpha", "columns__town__beta"):
        with pytest.raises(ValueError, match="Invalid parameter"):
            clone(density).set_params(**{wrong: 1})


def test_names_of_columns_may_look_like_paths():
    density = Columns({"a": Categorical(), "a__alpha": Categorical(), "numbers": Gaussian("diag")})
    density.set_params(columns__a__alpha__alpha=5.0, columns__numbers__covariance="tied")
    assert (density.columns["a"].alpha, density.columns["a__alpha"].alpha) == (1.0, 5.0)
    assert density.columns["numbers"].covariance == "tied"
    assert density.numbers is None


@pytest.mark.parametrize("place", ["chosen", "by type"])
def test_a_column_that_is_tuned_for_the_rule_says_so(place):
    X = pd.DataFrame(DATA)
    density = Columns(numbers=Kernel(bandwidth="gain"))
    if place == "chosen":
        numbers = "age"
        density = Columns({numbers: Kernel(bandwidth="gain")})
    assert density.uses_rule
    assert not Columns(numbers=Kernel()).uses_rule
    clf = BayesClassifier(density).fit(X, Y)
    with pytest.warns(KeptTuningWarning, match="tuned for the rule"):
        clf.with_rule(priors="uniform")


def test_log_marginal_is_hidden_where_a_chosen_density_is_not_normalised():
    assert hasattr(fitted(pd.DataFrame(DATA)[["age", "town"]]), "log_marginal")
    foreign = Columns(numbers=FromClassifier(None))
    assert not foreign.normalised
