"""The validated X: read once, whatever it came as, and handed to densities in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from bayesrule.kernels.checks import zero_if_finite


@dataclass(frozen=True)
class Table:
    """Rows that were checked.

    Parameters
    ----------
    numbers : ndarray of shape (n, D) or None
        The rows as float64 or float32, in whatever memory order they came: blocks are made
        contiguous when they are asked for, so a column-ordered frame is never copied whole.
    raw : object or None
        The user's own X, for densities that read it themselves.
    missing : bool
        Whether any number is NaN.
    names : tuple of str or None
        The frame's column names, for messages.
    """

    numbers: np.ndarray | None = None
    raw: Any = field(default=None, repr=False)
    missing: bool = False
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return _num_samples(self.raw) if self.numbers is None else len(self.numbers)

    @property
    def n_columns(self) -> int:
        """Number of columns of the block of numbers."""
        return 1 if self.numbers is None else self.numbers.shape[1]

    def block(self, start: int, stop: int) -> Table:
        """Rows ``start`` to ``stop``, contiguous; the table itself where that is all of it."""
        if self.numbers is None:
            whole = start == 0 and stop >= len(self)
            return self if whole else self.take(np.arange(start, stop))
        numbers = np.ascontiguousarray(self.numbers[start:stop])
        return Table(numbers, None, self.missing, self.names)

    def take(self, rows: np.ndarray) -> Table:
        """Some rows, in the given order."""
        if self.numbers is None:
            return Table(raw=_safe_indexing(_indexable(self.raw), rows), names=self.names)
        return Table(self.numbers[rows], None, self.missing, self.names)

    def row_keys(self, seed: int) -> np.ndarray:
        """A number in [0, 1) per row that depends on the row's values and the seed only.

        Equal rows get equal keys, so splits keep them together and random choices do not depend on
        the order or the chunking of the rows. Rows that are no numbers are keyed by their place.
        """
        if self.numbers is None:
            return np.random.default_rng(seed).random(len(self))
        keys = np.full(len(self), seed, np.uint64)
        for j in range(self.n_columns):
            # Adding zero makes -0.0 and 0.0, which are equal, one.
            column = np.asarray(self.numbers[:, j], np.float64) + 0.0
            keys = _mix(keys ^ column.view(np.uint64))
        return (keys >> np.uint64(11)) * 2.0**-53


def _mix(keys: np.ndarray) -> np.ndarray:
    """Spread every bit of 64-bit keys over all bits (two multiply-and-shift rounds)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


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


def read_numbers(X: Any, *, accept_missing: bool, estimator: Any = None) -> Table:
    """Check a numeric X: two-dimensional, real, not empty, finite up to missing values."""
    if scipy.sparse.issparse(X):
        raise TypeError(
            "Sparse data was passed, but this density needs a dense block of numbers. "
            "Use X.toarray() where memory allows, or a density for sparse counts."
        )
    numbers = check_array(
        X,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=1,
        estimator=estimator,
        input_name="X",
    )
    names = column_names(X)
    missing = False
    flat = numbers.ravel(order="K") if numbers.flags.forc else np.ascontiguousarray(numbers).ravel()
    if zero_if_finite(flat) != 0.0:
        missing = _explain_not_finite(numbers, names, accept_missing)
    return Table(numbers, None, missing, names)


def _explain_not_finite(
    numbers: np.ndarray, names: tuple[str, ...] | None, accept_missing: bool
) -> bool:
    """Raise for infinities and unwanted NaN, naming the columns; else say there are gaps."""
    infinite = np.isinf(numbers).sum(axis=0)
    if infinite.any():
        raise ValueError(
            f"Input X contains infinity in {_columns(infinite, names)}. "
            "Replace it by a finite value, or by NaN where the value is unknown."
        )
    absent = np.isnan(numbers).sum(axis=0)
    if not accept_missing:
        raise ValueError(
            f"Input X contains NaN in {_columns(absent, names)}, and this density takes no missing "
            "values. Impute them, drop those rows, or use a density that marginalises them."
        )
    return True


def _columns(counts: np.ndarray, names: tuple[str, ...] | None) -> str:
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
