"""Laws of hard inputs: each is answered, and rightly, or refused by an error that names why.

Which of the two is told beforehand. Refusing good data breaks a law as much as a wrong answer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse
from sklearn.utils import get_tags

from bayesrule.cases import Case, assert_close, assert_valid, require_that
from bayesrule.classifier import BayesClassifier
from bayesrule.tables import column_names

#: How far numbers may be off that went through another order of memory.
ROUNDING = 1e-7


def _refused(what: str, ask: Callable[[], Any], *words: str) -> None:
    """Assert that something is refused, by an error that says one of some words."""
    try:
        ask()
    except (ValueError, TypeError) as error:
        said = str(error)
        require_that(len(said) > 15, f"{what}: the error says too little: {said!r}")
        named = not words or any(word in said for word in words)
        require_that(named, f"{what}: the error says none of {words}: {said}")
        return
    raise AssertionError(f"{what} was taken without a word")


def _measures(case: Case) -> bool:
    """Whether the rows are numbers of any size, not some few values."""
    return case.numeric and case.support is None


def _answered_or_refused(
    what: str, ask: Callable[[], BayesClassifier], X: Any
) -> np.ndarray | None:
    """Posteriors of the rows, or None where an error told that the data are out of range."""
    try:
        return assert_valid(ask(), X, what)
    except ValueError as error:
        told = ("overflow", "underflow", "too large", "too small", "too far", "range", "infs or")
        require_that(any(word in str(error) for word in told), f"{what}: {error}")
        return None


# ---------------------------------------------------------------------- refused


def nothing_is_refused(case: Case) -> None:
    """No rows, or no columns, are refused in fitting and in deciding."""
    clf = case.fit()
    none, no_labels = case.rows(np.arange(0))
    _refused("fitting no rows", lambda: case.fit(none, no_labels))
    _refused("deciding no rows", lambda: clf.predict(none))
    if case.numeric:
        _refused("fitting no columns", lambda: case.fit(case.X[:, :0]))
        _refused("deciding no columns", lambda: clf.predict(case.X[:, :0]))


def infinities_are_refused(case: Case) -> None:
    """An infinity is refused wherever it is, by an error that names it and its column."""
    clf = case.fit()
    if not case.numeric or clf.density_.read(case.X, clf).raw is not None:
        return  # who leaves reading X to others may find out what they make of it
    n, n_columns = case.X.shape
    for i, j, value in ((0, 0, np.inf), (n // 2, n_columns - 1, -np.inf), (n - 1, 0, np.inf)):
        for dtype in (np.float64, np.float32):
            X = case.X.astype(dtype)
            X[i, j] = abs(value) if case.positive else value
            what = f"{X[i, j]} in row {i}, column {j}"
            words = f"infinity in column {j}", f"infinity in column 'x{j}'"
            _refused(f"fitting {what}", partial(case.fit, X), *words)
            _refused(f"deciding {what}", partial(clf.predict, X), *words)


def gaps_are_taken_or_refused_anywhere(case: Case) -> None:
    """A missing value is taken in every place, or refused in every place by its column's name."""
    clf = case.fit()
    if not case.numeric or clf.density_.read(case.X, clf).raw is not None:
        return
    accepted = get_tags(clf).input_tags.allow_nan
    n, n_columns = case.X.shape
    whole = clf.predict_proba(case.X)
    for j in range(n_columns):
        for i in (0, n - 1):
            X = case.X.copy()
            X[i, j] = np.nan
            what = f"NaN in row {i}, column {j}"
            if not accepted:
                words = f"NaN in column {j}", f"NaN in column 'x{j}'"
                _refused(f"fitting {what}", partial(case.fit, X), *words)
                _refused(f"deciding {what}", partial(clf.predict, X), *words)
                continue
            # A gap speaks of its own row alone.
            others = np.arange(n) != i
            got = assert_valid(clf, X, what)
            assert_close(got[others], whole[others], ROUNDING, what)
        X = case.X.copy()
        X[:, j] = np.nan
        if accepted:
            assert_valid(clf, X, f"column {j} missing from all rows")
        X[::2, j] = case.X[::2, j]
        if accepted:
            try:
                assert_valid(case.fit(X), X, f"column {j} missing from every other row")
            except ValueError as error:  # to learn from gaps may take more than to decide them
                require_that("NaN" in str(error) or "missing" in str(error), str(error))


def weights_are_checked(case: Case) -> None:
    """Weights that are none are refused; very large and very small ones are taken."""
    n = len(case.y)
    for what, weights in {
        "a negative weight": np.where(np.arange(n) == 3, -1.0, 1.0),
        "a weight of NaN": np.where(np.arange(n) == 3, np.nan, 1.0),
        "an infinite weight": np.where(np.arange(n) == 3, np.inf, 1.0),
        "too few weights": np.ones(n - 1),
        "a table of weights": np.ones((n, 2)),
        "weights that are words": np.full(n, "heavy"),
        "no weight at all": np.zeros(n),
    }.items():
        _refused(what, partial(case.fit, sample_weight=weights), "eight")
    for size in (1e-9, 1e9, 1e15):
        what = f"weights of {size:g}"
        _answered_or_refused(what, partial(case.fit, sample_weight=np.full(n, size)), case.X)


def columns_are_told_by_name(case: Case) -> None:
    """Columns that are missing, new, renamed or moved are refused, never taken for others."""
    frame = _as_pandas(case.X)
    if frame is None or frame.shape[1] < 2:
        return
    first, second = frame.columns[:2]
    clf = case.fit(frame)
    for what, other in {
        "a missing column": frame.drop(columns=second),
        "a column more": frame.assign(further=frame[first]),
        "a renamed column": frame.rename(columns={second: "renamed"}),
        "columns in another order": frame[list(frame.columns)[::-1]],
        "a column twice": frame[[first, *frame.columns[:-1]]],
    }.items():
        _refused(what, partial(clf.predict, other), "feature", "olumn")
    if isinstance(case.X, np.ndarray) and case.X.ndim == 2:
        plain = case.fit()
        for what, other in {
            "a column less": case.X[:, 1:],
            "a column more": np.column_stack([case.X, case.X[:, :1]]),
            "a row alone": case.X[0],
        }.items():
            _refused(what, partial(plain.predict, other), "feature", "olumn", "2D", "dimension")


# ---------------------------------------------------------------------- answered


def _as_pandas(X: Any) -> Any:
    """X as a pandas frame with text names, None where it is no table."""
    try:
        import pandas as pd
    except ImportError:
        return None
    if column_names(X) is not None:
        return nw.from_native(X).to_pandas()
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return pd.DataFrame(X, columns=[f"column_{j}" for j in range(X.shape[1])])
    return None


def _forms(X: Any, folder: str) -> Iterator[tuple[str, Any]]:
    """The same rows in other containers."""
    if scipy.sparse.issparse(X):
        yield "sparse columns", X.tocsc()
        yield "sparse entries", scipy.sparse.coo_array(X)
        yield "sparse matrix", scipy.sparse.csr_matrix(X)
        yield "sparse integers", X.astype(np.int32)
        return
    if isinstance(X, np.ndarray) and X.dtype.kind in "if":
        yield "column order", np.asfortranarray(X)
        spread = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
        spread[::2, ::2] = X
        yield "every other row and column", spread[::2, ::2]
        yield "rows from the end", X[::-1].copy()[::-1]
        frozen = X.copy()
        frozen.setflags(write=False)
        yield "read-only", frozen
        mapped = np.memmap(Path(folder) / "rows", X.dtype, "w+", shape=X.shape)
        mapped[:] = X
        yield "memory-mapped", mapped
        yield "lists", X.tolist()
        yield "objects", X.astype(object)
        yield "other byte order", X.astype(X.dtype.newbyteorder())
    if isinstance(X, np.ndarray) and X.ndim == 1:
        yield "a list", X.tolist()
        yield "an Arrow column", pa.table({"text": pa.array(X.tolist())})
        yield "a column of objects", X[:, None]
    frame = _as_pandas(X)
    if frame is None:
        return
    yield "a pandas frame", frame
    yield "nullable columns", frame.convert_dtypes()
    yield "Arrow columns", frame.convert_dtypes(dtype_backend="pyarrow")
    yield "an Arrow table", pa.Table.from_pandas(frame, preserve_index=False)
    yield "a polars frame", nw.from_native(frame).lazy("polars").collect().to_native()


def containers_agree(case: Case) -> None:
    """The same rows give the same answers whatever holds them, and are not changed."""
    expected = case.fit().predict_proba(case.X)
    tolerance = max(ROUNDING, case.tolerance)
    with tempfile.TemporaryDirectory() as folder:
        for what, X in _forms(case.X, folder):
            before = repr(X)
            got = case.fit(X).predict_proba(X)
            assert_close(got, expected, tolerance, what)
            require_that(repr(X) == before, f"{what} were changed")


def numbers_of_any_type_agree(case: Case) -> None:
    """Whole numbers are the same whatever type holds them, as far as it can."""
    if not case.numeric:
        return
    whole = np.clip(np.rint(10.0 * case.X), -100, 100) if _measures(case) else case.X
    whole = np.abs(whole) + 1.0 if case.positive else whole
    expected = case.fit(whole).predict_proba(whole)
    tolerance = max(ROUNDING, case.tolerance)
    types = ["int8", "int64", "float16", "object"]
    for name in types:
        X = whole.astype(name)
        assert_close(case.fit(X).predict_proba(X), expected, tolerance, name)
    flags = np.greater(case.X, np.median(case.X, axis=0))
    unsigned = flags.astype(np.uint64)
    expected = case.fit(flags.astype(float)).predict_proba(flags.astype(float))
    for what, X in {"flags": flags, "unsigned numbers": unsigned}.items():
        assert_close(case.fit(X).predict_proba(X), expected, tolerance, what)


def extremes_are_right_or_refused(case: Case) -> None:
    """Numbers near the ends of what floats hold change no decision, or are refused clearly."""
    if not _measures(case):
        return
    size = float(np.abs(case.X).max())
    plain = case.fit().predict_proba(case.X)
    for scale in (1e300 / size, 1e160 / size, 1e-160 / size, 1e-300 / size):
        what = f"numbers of the size {scale * size:g}"
        X = case.X * scale
        got = _answered_or_refused(what, partial(case.fit, X), X)
        if got is not None and "scale" in case.equivariant:
            assert_close(got, plain, max(1e-6, case.tolerance), what)
    for what, scales in {
        "a huge column": [1e300, 1.0, 1.0],
        "a tiny column": [1e-300, 1.0, 1.0],
        "a column of denormals": [1e-310, 1.0, 1.0],
        "a huge and a tiny column": [1e160, 1e-160, 1.0],
    }.items():
        X = case.X * (np.array(scales[: case.X.shape[1]]) / size)
        _answered_or_refused(what, partial(case.fit, X), X)


def far_rows_are_answered(case: Case) -> None:
    """Rows far from all that were fitted get posteriors that are some, or are refused clearly."""
    if not _measures(case):
        return
    clf = case.fit()
    for value in (1e18, 1e100, 1e200, 1.7e308, 5e-324):
        for j in range(case.X.shape[1]):
            X = case.X[:4].copy()
            X[:, j] = value
            _answered_or_refused(f"column {j} of {value:g}", lambda: clf, X)
            if not case.positive:
                _answered_or_refused(f"column {j} of {-value:g}", lambda: clf, -X)
        _answered_or_refused(f"all of {value:g}", lambda: clf, np.full_like(case.X[:2], value))


def shapes_are_answered(case: Case) -> None:
    """More columns than rows, and columns that follow from others, are answered or refused."""
    if not case.numeric:
        return
    rng = np.random.default_rng(0)
    _, places = np.unique(case.y, return_index=True)
    few = np.sort(np.concatenate([places, rng.choice(len(case.y), 12, replace=False)]))
    X, y = case.rows(few)
    wide = np.tile(X, (1, 8)) * rng.uniform(0.5, 1.5, (len(X), 8 * X.shape[1]))
    follows = np.column_stack([case.X, case.X.sum(axis=1), -2.0 * case.X[:, 0]])
    if case.positive:
        follows = np.abs(follows)
    for what, rows, labels in (
        ("more columns than rows", wide, y),
        ("columns that follow from others", follows, case.y),
        ("one column", case.X[:, :1], case.y),
    ):
        try:
            clf = case.fit(rows, labels)
        except ValueError as error:
            require_that(len(str(error)) > 20, f"{what}: the error says too little: {error}")
            continue
        assert_valid(clf, rows, what)


HARD: tuple[Callable[[Case], None], ...] = (
    nothing_is_refused,
    infinities_are_refused,
    gaps_are_taken_or_refused_anywhere,
    weights_are_checked,
    columns_are_told_by_name,
    containers_agree,
    numbers_of_any_type_agree,
    extremes_are_right_or_refused,
    far_rows_are_answered,
    shapes_are_answered,
)
