"""Any X as a frame of typed columns: what a column holds, and which kind of density suits it."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import scipy.sparse
from sklearn.utils import check_array

from bayesrule.coded import with_plain_labels

#: A text column is prose, not categories, where more than this share of its values differ ...
DISTINCT = 0.5
#: ... and they are at least this long on average.
LONG = 20.0
#: As many values show of most columns of measurements that they are not whole.
FIRST = 1000

#: What a column holds where all its values are missing: any kind may come later.
NOTHING = "nothing"


def as_frame(X: Any, estimator: Any) -> tuple[Any, tuple[str, ...]]:
    """Any X as a narwhals frame with text names; arrays get the names scikit-learn shows."""
    if scipy.sparse.issparse(X):
        raise TypeError("Sparse data was passed, but mixed columns need a frame: X.toarray().")
    if hasattr(X, "collect") and hasattr(X, "columns"):
        raise TypeError("X is a lazy frame, whose rows are not known yet. Collect it: X.collect().")
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        frame = nw.from_native(X, eager_only=True)
        if frame.shape[0] == 0 or frame.shape[1] == 0:
            check_array(np.empty(frame.shape), estimator=estimator, input_name="X")
        return _settled(frame), tuple(str(name) for name in frame.columns)
    values = X if hasattr(X, "dtype") else np.asarray(X)
    if values.dtype.kind in "US":
        values = np.asarray(X, dtype=object)
    values = check_array(
        values, dtype=None, ensure_all_finite=False, estimator=estimator, input_name="X"
    )
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    if values.dtype.kind == "O":
        columns = [
            settle_objects(column, name) for column, name in zip(values.T, names, strict=True)
        ]
    else:
        columns = [np.ascontiguousarray(column) for column in values.T]
    return nw.from_native(pa.table(dict(zip(names, columns, strict=True)))), names


def _settled(frame: Any) -> Any:
    """The frame with objects and odd labels (which only pandas has) and decimals as plain types."""
    frame, changed = with_plain_labels(frame), []
    for name, dtype in frame.schema.items():
        if dtype == nw.Decimal:
            changed.append(frame.get_column(name).cast(nw.Float64))
        elif dtype == nw.String and _is_view(frame.get_column(name)):
            changed.append(frame.get_column(name).cast(nw.String))
        elif (
            dtype == nw.Object
            and frame.implementation.is_pandas()
            and not _empty(frame.get_column(name))
        ):
            series = nw.to_native(frame.get_column(name))
            pandas = nw.get_native_namespace(frame)
            array = pandas.arrays.ArrowExtensionArray(
                pa.chunked_array([settle_objects(series.to_numpy(), name)])
            )
            settled = pandas.Series(array, index=series.index, name=name)
            changed.append(nw.from_native(settled, series_only=True))
    return frame.with_columns(changed) if changed else frame


def _is_view(column: Any) -> bool:
    """Whether text is laid out as views, which few functions of Arrow can read."""
    return column.implementation.is_pyarrow() and nw.to_native(column).type == pa.string_view()


def settle_objects(column: np.ndarray, name: Any) -> pa.Array:
    """A column of objects as an array of the one kind that they are."""
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        try:
            # Numbers of several types; text that looks like numbers stays text.
            if any(isinstance(value, (str, bytes)) for value in column.tolist()):
                raise TypeError
            return pa.array(column.astype(np.float64), from_pandas=True)
        except (TypeError, ValueError):
            kinds = sorted({type(value).__name__ for value in column.tolist()})
            raise TypeError(
                f"Column {name!r} of X mixes values of the types {', '.join(kinds)}, but each "
                "argument must be all string or all number. Convert it to one of them."
            ) from None
    return array.cast(pa.float64()) if pa.types.is_decimal(array.type) else array


def _empty(column: Any) -> bool:
    """Whether all values are missing."""
    if column.dtype.is_float():
        return bool(np.isnan(column.to_numpy()).all())
    return bool(column.null_count() == len(column))


def held(column: Any) -> str:
    """What a column holds, as far as it matters to whoever reads it later."""
    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return "numbers"
    if _empty(column):
        return NOTHING
    if dtype in (nw.Categorical, nw.Enum):
        values = getattr(column.to_arrow().type, "value_type", pa.string())
        return "numbers" if pa.types.is_primitive(values) else "text"
    return "text" if dtype == nw.String else str(dtype)


def check_held(column: Any, name: str, before: str) -> None:
    """Refuse a column that holds something else than it did; gaps may be of any type."""
    now = held(column)
    if now != before and NOTHING not in (now, before) and not _empty(column):
        raise ValueError(
            f"Column {name!r} of X holds {now}, but held {before} when it was fitted. Convert it "
            "to what it was."
        )


def kind_of(column: Any, name: str) -> str:
    """Which kind of density suits a column."""
    dtype = column.dtype
    if dtype == nw.Boolean:
        return "flags"
    if dtype.is_numeric():
        largest = _largest_count(column)
        if largest == 1:  # yes and no, and of whatever else may come later, how often it came
            return "categories"
        return "numbers" if largest is None else "counts"
    if dtype in (nw.Categorical, nw.Enum) or _empty(column):
        return "categories"
    if dtype == nw.String:
        values = column.drop_nulls()
        # Lengths first: they take one pass, telling values apart takes a table of them.
        long = values.str.len_chars().mean() >= LONG
        return "texts" if long and values.n_unique() > DISTINCT * len(values) else "categories"
    raise ValueError(
        f"Column {name!r} of X holds {dtype}, for which there is no density by type. Convert it "
        "to a number or text, or leave it out: columns={" + repr(name) + ": 'drop'}."
    )


def _largest_count(column: Any) -> float | None:
    """The largest value where all are whole and none is negative, else None."""
    if column.dtype.is_float():
        values = column.to_numpy()
        # The first few tell most columns of measurements, without reading all rows.
        if np.isnan(values).all() or not (_whole(values[:FIRST]) and _whole(values)):
            return None
        return float(np.nanmax(values))
    values = column.drop_nulls()
    return float(values.max()) if len(values) and values.min() >= 0 else None


def _whole(values: np.ndarray) -> bool:
    """Whether values are whole numbers from zero on, gaps aside."""
    good = np.isnan(values) | ((values >= 0) & (values == np.floor(values)) & (values < np.inf))
    return bool(good.all())
