"""Categories as small integers, from arrays and frames of any kind, without object arrays."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse
from sklearn.utils import check_array

from bayesrule.tables import Coded, Table, column_names

#: Integers that span more than this (and more than the rows) are told apart by sorting.
DIRECT_RANGE = 1 << 16


def read_categories(X: Any, estimator: Any = None) -> Table:
    """Check X and code each column; integers stay as they are, in place."""
    if scipy.sparse.issparse(X):
        raise TypeError("Sparse data was passed, but categories need dense columns: X.toarray().")
    names = column_names(X)
    if names is not None:
        frame = with_plain_labels(nw.from_native(X))
        if len(frame) == 0 or len(names) == 0:
            check_array(X, input_name="X", estimator=estimator)  # raises: nothing to learn from
        columns = frame.iter_columns()
        return _table(
            [_encode(column.to_arrow(), _called(j, names)) for j, column in enumerate(columns)],
            names,
        )
    values = X
    if not hasattr(X, "dtype"):
        values = np.asarray(X)
        if values.dtype.kind in "US":  # numpy would write the numbers of a mixed list as text
            values = np.asarray(X, dtype=object)
    values = check_array(
        values, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X"
    )
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.dtype.kind in "bi" or (values.dtype.kind == "u" and values.dtype.itemsize < 8):
        return Table(coded=Coded(values.view(np.int8) if values.dtype.kind == "b" else values))
    return _table([_encode(column, _called(j, None)) for j, column in enumerate(values.T)], None)


def with_plain_labels(frame: Any) -> Any:
    """The frame with categories that Arrow has no type for (only pandas has them) told as text.

    Such are the intervals of ``pandas.cut``, periods, and labels of several types.
    """
    if not frame.implementation.is_pandas():
        return frame
    pandas, changed = nw.get_native_namespace(frame), []
    for name, dtype in frame.schema.items():
        if dtype not in (nw.Categorical, nw.Enum):  # the latter where they have an order
            continue
        series = nw.to_native(frame.get_column(name))
        labels = series.cat.categories
        kind = pandas.api.types.infer_dtype(labels)
        if kind in ("interval", "period") or kind.startswith("mixed"):
            texts = [str(label) for label in labels]
            if len(set(texts)) < len(texts):
                raise TypeError(
                    f"The categories of column {name!r} of X are of several types, and not all "
                    "differ when written as text. Convert them to text, or to numbers."
                )
            told = series.cat.rename_categories(texts)
            changed.append(nw.from_native(told, series_only=True))
    return frame.with_columns(changed) if changed else frame


def _called(j: int, names: tuple[str, ...] | None) -> str:
    return f"column {j}" if names is None else f"column {names[j]!r}"


def _table(columns: list[tuple[np.ndarray, np.ndarray]], names: tuple[str, ...] | None) -> Table:
    """A table of coded columns."""
    codes = np.column_stack([codes for codes, _ in columns])
    coded = Coded(codes, tuple(categories for _, categories in columns))
    return Table(coded=coded, missing=bool((codes < 0).any()), names=names)


def _encode(column: Any, called: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes of one column, -1 for missing, and its categories."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f" and np.isinf(column).any():
        raise ValueError(f"Input X contains infinity in {called}, which is no category.")
    try:
        array = column if hasattr(column, "combine_chunks") else pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise TypeError(
            f"Categories argument must be all of one kind, string or number, but {called} of X "
            "mixes them. Write them as text, or split the column."
        ) from None
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # no chunk at all, or several that stay apart
            array = pa.concat_arrays(array.chunks)
    if pa.types.is_floating(array.type):
        array = array.fill_null(float("nan"))
        array = pa.array(array.to_numpy(zero_copy_only=False), from_pandas=True)
    if pa.types.is_nested(array.type):
        raise TypeError(
            f"Categories argument must be all of one kind, string or number, but {called} of X "
            f"holds {array.type}."
        )
    if not pa.types.is_dictionary(array.type):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:
            raise TypeError(
                f"There are no categories in {called} of X, which holds {array.type}. Convert it "
                "to text or numbers."
            ) from None
    labels = array.dictionary
    if pa.types.is_null(labels.type):
        labels = pa.array([], type=pa.float64())
    # Polars and arrow count in unsigned integers, which have no room for a -1.
    codes = array.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, np.asarray(labels.to_numpy(zero_copy_only=False))


def is_text(categories: np.ndarray) -> bool:
    """Whether categories are text; numbers and booleans are not."""
    return categories.dtype.kind in "OUS"
