"""Counts in compressed rows, from sparse matrices of any format, arrays and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from bayesrule.kernels import counts as loops
from bayesrule.kernels.labels import value_range
from bayesrule.tables import Table, column_names, name_columns

#: Types that are counted as they are; others become float64.
KEPT = (np.float64, np.float32, np.int64, np.int32)

UNKNOWN_LENGTH = (
    "A missing count leaves the length of its row unknown, so it cannot be marginalised. Fill it, "
    "or drop those rows."
)


def read_counts(X: Any, estimator: Any = None, *, distinct: bool = False) -> Table:
    """Check X and read it as counts: finite, none negative, none missing.

    Parameters
    ----------
    X : sparse matrix or array of any format, array or frame of shape (n, D)
        Compressed rows are not copied.
    estimator : estimator, default=None
        For messages.
    distinct : bool
        Whether entries of the same cell are added up, for densities that are not linear in them.
    """
    names = column_names(X)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=list(KEPT),
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )
    counts = X if scipy.sparse.issparse(X) else _compressed(X)
    _check_places(counts)
    counts = _refuse_no_counts(counts, names)
    if distinct and not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    return Table(counts=counts, names=names)


def _compressed(values: np.ndarray) -> Any:
    """An array as compressed rows: two passes, and no index per cell in between."""
    ends = np.cumsum(loops.count_stored(values))
    indptr = np.concatenate([[0], ends])
    width = np.int32 if max(ends[-1], values.shape[1]) < 2**31 else np.int64
    data, indices = np.empty(ends[-1], values.dtype), np.empty(ends[-1], width)
    loops.store_rows(values, indptr, data, indices)
    return scipy.sparse.csr_array((data, indices, indptr.astype(width)), shape=values.shape)


def _check_places(counts: Any) -> None:
    """Refuse columns that do not exist: compiled loops would read and write outside the table."""
    steps = np.diff(counts.indptr)
    sound = counts.indptr[0] == 0 and (steps >= 0).all() and counts.nnz <= len(counts.indices)
    if sound and counts.nnz:
        # Seen as unsigned, a negative place is a large one.
        unsigned = counts.indices.view(f"u{counts.indices.dtype.itemsize}")
        sound = value_range(unsigned)[1] < counts.shape[1]
    if not sound:
        raise ValueError(
            "The sparse X is malformed: it names columns that do not exist, or its rows do not "
            "follow each other. X.check_format() tells more."
        )


def _refuse_no_counts(counts: Any, names: tuple[str, ...] | None) -> Any:
    """Refuse what is no count, naming the columns; return the counts without stored zeros."""
    data = counts.data[: counts.nnz]
    if not len(data):
        return counts
    # Bits grow with the value from zero to infinity; with a sign or as NaN they are larger still.
    unsigned = data.view(f"u{data.dtype.itemsize}")
    least, largest = (int(v) for v in value_range(unsigned))
    limit = {
        "f8": 0x7FF << 52,
        "f4": 0xFF << 23,
        "i8": 1 << 63,
        "i4": 1 << 31,
    }[data.dtype.str[1:]]
    if largest >= limit:
        for what, bad, advice in (
            ("Input X contains NaN in", np.isnan(data), UNKNOWN_LENGTH),
            ("Input X contains infinity in", np.isinf(data), "Replace it by a finite count."),
            ("Negative values in data passed as X, in", data < 0, "Counts are zero or more."),
        ):
            if bad.any():
                raise ValueError(f"{what} {_named(counts, bad, names)}. {advice}")
    if least == 0 or largest >= limit:  # only a negative zero is left of the latter
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


def _named(counts: Any, which: np.ndarray, names: tuple[str, ...] | None) -> str:
    """The columns of some entries, with their numbers of rows."""
    columns = counts.indices[: counts.nnz][which]
    return name_columns(np.bincount(columns, minlength=counts.shape[1]), names)
