"""The validated X: read once, whatever it came as, and handed to densities in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from bayesrule.kernels.checks import zero_if_finite
from bayesrule.side_by_side import columns_of, is_table_of_numbers


@dataclass(frozen=True)
class Coded:
    """Columns of categories, told by small integers.

    Parameters
    ----------
    codes : integer ndarray of shape (n, C)
    categories : tuple of C ndarrays, or None
        The labels that the codes of each column stand for; a code of -1 is a missing value. None
        says that the codes are the categories themselves, as the user wrote them.
    found : dict
        What a reader has found out about the categories, by the reader's ``id``. Blocks of rows
        share it, so that many labels are looked up once and not in every block.
    """

    codes: np.ndarray
    categories: tuple[np.ndarray, ...] | None = None
    found: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Table:
    """Rows that were checked; the one field that a density reads is filled.

    Parameters
    ----------
    numbers : ndarray of shape (n, D) or None
        The rows as float64 or float32, in whatever memory order they came: blocks are made
        contiguous when they are asked for, so a column-ordered frame is never copied whole.
    raw : object or None
        The user's own X, for densities that read it themselves.
    missing : bool
        Whether any value is missing.
    names : tuple of str or None
        The frame's column names, for messages.
    coded : Coded or None
        Columns of categories.
    counts : sparse array of shape (n, D) or None
        Counts in compressed rows.
    parts : tuple of Table
        Blocks of columns of the same rows, each for a density of its own.
    layout : object or None
        Which columns went into which part, and for which density.
    unseen : callable or None
        Where nobody looked for missing values yet: says that there are some, or raises where they
        may not be.
    """

    numbers: np.ndarray | None = None
    raw: Any = field(default=None, repr=False)
    missing: bool = False
    names: tuple[str, ...] | None = None
    coded: Coded | None = None
    counts: Any = None
    parts: tuple[Table, ...] = ()
    layout: Any = None
    unseen: Callable[[], bool] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        if self.parts:
            return len(self.parts[0])
        rows = self._array()
        return _num_samples(self.raw) if rows is None else int(rows.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, as far as they are known."""
        if self.parts:
            return sum(part.n_columns for part in self.parts)
        rows = self._array()
        return 1 if rows is None else int(rows.shape[1])

    def _array(self) -> Any:
        """The field that holds the rows, where it is an array."""
        if self.coded is not None:
            return self.coded.codes
        return self.counts if self.numbers is None else self.numbers

    def block(self, start: int, stop: int) -> Table:
        """Rows ``start`` to ``stop``, contiguous; the table itself where that is all of it."""
        copied = self.raw is not None or self.counts is not None
        if copied and start == 0 and stop >= len(self):
            return self
        return self._pick(slice(start, stop))

    def take(self, rows: np.ndarray) -> Table:
        """Some rows, in the given order."""
        return self._pick(rows)

    def looked(self) -> Table:
        """The same rows, now that somebody looks for what is missing or infinite."""
        if self.unseen is None:
            return self
        assert self.numbers is not None
        return replace(self, missing=not _finite(self.numbers) and self.unseen(), unseen=None)

    def _pick(self, rows: Any) -> Table:
        """Rows by a slice or an array of places, in every field."""

        def of(values: Any) -> Any:
            return None if values is None else np.ascontiguousarray(values[rows])

        raw = self.raw
        if raw is not None:
            raw = picked(raw, np.arange(len(self))[rows])
        return replace(
            self,
            numbers=of(self.numbers),
            raw=raw,
            coded=None if self.coded is None else replace(self.coded, codes=of(self.coded.codes)),
            counts=None if self.counts is None else self.counts[rows],
            parts=tuple(part._pick(rows) for part in self.parts),
        )


def picked(raw: Any, places: np.ndarray) -> Any:
    """Some rows of X in the user's own form."""
    return _safe_indexing(_indexable(raw), places)


def _indexable(raw: Any) -> Any:
    """X in a form whose rows can be picked: not every sparse format or array-like allows it."""
    if scipy.sparse.issparse(raw):
        return raw.tocsr()
    if hasattr(raw, "__array__") and not hasattr(raw, "__getitem__"):
        return np.asarray(raw)
    return raw


def column_names(X: Any) -> tuple[str, ...] | None:
    """Column names of a frame, None for anything else."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None else tuple(str(name) for name in names)


def as_read(X: Any) -> Any:
    """X, unless it is of a kind whose names, rows or gaps other readers would not see."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError("X is a lazy frame, whose rows are not there yet: collect it, X.collect().")
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            "X is a Dask collection. fit_files(X, y) learns from its partitions, "
            "X.map_partitions(clf.predict) decides them; X.compute() brings it into memory."
        )
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([X])
    if isinstance(X, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(X), np.nan, X.data.astype(np.float64))
    return X


def unnamed_columns(X: Any) -> list[Any] | None:
    """Column labels of a frame whose labels are no text; scikit-learn compares only text."""
    if not (hasattr(X, "columns") and hasattr(X, "iloc")):
        return None
    labels = list(X.columns)
    return None if all(isinstance(label, str) for label in labels) else labels


def read_numbers(
    X: Any, *, accept_missing: bool, estimator: Any = None, by_block: bool = False
) -> Table:
    """Check a numeric X: two-dimensional, real, not empty, finite up to missing values.

    ``by_block`` leaves the last to who decides on blocks of the table: finite answers vouch for
    them, and large data pass through memory once.
    """
    if scipy.sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed, but this density needs a dense block of numbers. "
            "Use X.toarray() where memory allows, or a density for sparse counts."
        )
    numbers = columns_of(X).T if is_table_of_numbers(X) else None
    if numbers is None:
        _refuse_times(X)
    names = column_names(X)
    if numbers is None:
        try:
            numbers = check_array(
                X,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=1,
                estimator=estimator,
                input_name="X",
            )
        except (TypeError, ValueError) as error:
            if names is not None:
                _name_other_columns(X, error)
            raise
    look = partial(_explain_not_finite, numbers, names, accept_missing)
    if by_block:
        return Table(numbers, names=names, unseen=look)
    return Table(numbers, missing=not _finite(numbers) and look(), names=names)


def _finite(numbers: np.ndarray) -> bool:
    """Whether no number is missing or infinite."""
    flat = numbers.ravel(order="K") if numbers.flags.forc else np.ascontiguousarray(numbers).ravel()
    return bool(zero_if_finite(flat) == 0.0)


def _refuse_times(X: Any) -> None:
    """Refuse dates, times and durations: as numbers they change with the unit they are kept in."""
    if column_names(X) is None:
        kind = getattr(getattr(X, "dtype", None), "kind", "")
        if kind in ("m", "M"):
            raise TypeError(
                f"X holds times ({X.dtype}), but this density needs numbers. Convert them to one, "
                "such as days since some date."
            )
        return
    # All libraries name their types alike, and asking by way of another is slow for single rows.
    dtypes = X.dtypes if hasattr(X, "dtypes") else getattr(getattr(X, "schema", 0), "types", ())
    if any(str(dtype).lower().startswith(("date", "time", "duration")) for dtype in dtypes):
        _name_other_columns(X)


def _brief(dtype: Any) -> str:
    """A type of column without its details."""
    return str(dtype).partition("(")[0]


def _name_other_columns(X: Any, error: Exception | None = None) -> None:
    """Raise if some columns of a frame hold no numbers, naming them and what they hold."""
    columns = nw.from_native(X, eager_only=True).iter_columns()
    others = [
        f"{column.name!r} ({_brief(column.dtype)})" for column in columns if not _converts(column)
    ]
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise ValueError(
            f"Input X holds no numbers in column{'s' if len(others) > 1 else ''} "
            f"{', '.join(others[:5])}{more}, but this density needs numbers. Convert or drop such "
            "columns, or use Columns(), which takes columns of any types: "
            "recipes.naive_bayes()."
        ) from error


def _converts(column: Any) -> bool:
    """Whether a column of a frame holds numbers, or what can be read as such."""
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return True
    if column.dtype.is_temporal():
        return False
    try:
        column.to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def refuse(bad: np.ndarray, table: Table, what: str, advice: str) -> None:
    """Raise if any value is ``bad``, naming the columns, their numbers of rows, and the way out."""
    counts = bad.sum(axis=0)
    if counts.any():
        raise ValueError(f"Input X has {what} in {name_columns(counts, table.names)}. {advice}.")


def _explain_not_finite(
    numbers: np.ndarray, names: tuple[str, ...] | None, accept_missing: bool
) -> bool:
    """Raise for infinities and unwanted NaN, naming the columns; else say there are gaps."""
    infinite = np.isinf(numbers).sum(axis=0)
    if infinite.any():
        raise ValueError(
            f"Input X contains infinity in {name_columns(infinite, names)}. "
            "Replace it by a finite value, or by NaN where the value is unknown."
        )
    absent = np.isnan(numbers).sum(axis=0)
    if not accept_missing:
        raise ValueError(
            f"Input X contains NaN in {name_columns(absent, names)}, and this density takes no "
            "missing values. Impute them, drop those rows, or use a density that marginalises them."
        )
    return True


def name_columns(counts: np.ndarray, names: tuple[str, ...] | None) -> str:
    """Name the first few columns that have something to report, with their numbers of rows."""
    which = np.flatnonzero(counts)
    shown = ", ".join(
        f"{j if names is None else repr(names[j])} ({counts[j]} rows)" for j in which[:5]
    )
    more = f" and {len(which) - 5} more" if len(which) > 5 else ""
    return f"column{'s' if len(which) > 1 else ''} {shown}{more}"


def read_raw(X: Any) -> Table:
    """Keep X as it is for a density that reads it itself; count its rows."""
    if getattr(X, "ndim", 0) == 1 and getattr(X, "dtype", np.dtype(object)).kind in "biuf":
        check_array(X, input_name="X")  # raises: one row or one column?
    if _num_samples(X) == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={getattr(X, 'shape', (0,))}) while a minimum "
            "of 1 is required."
        )
    return Table(raw=X, names=column_names(X))
