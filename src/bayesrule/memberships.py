"""Who belongs to which class, and by how much: labels, soft labels and weights behind one face.

Densities never see labels. They ask for *entries* (row, class, weight): one per row for hard
labels, one per positive degree for soft labels, fuzzy degrees or the responsibilities of an EM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from bayesrule.kernels.labels import count_codes, rank_small_range, value_range


@dataclass(frozen=True)
class Memberships:
    """Memberships of n rows in K classes.

    Parameters
    ----------
    classes : ndarray of shape (K,)
        The classes' labels, sorted. Only a density around a foreign model needs to know them.
    codes : ndarray of shape (n,) or None
        Class of each row; None where ``degrees`` are given.
    degrees : ndarray of shape (n, K) or None
        Degree of membership of each row in each class.
    weights : ndarray of shape (n,) or None
        Weight of each row; None means one for all.
    """

    classes: np.ndarray
    codes: np.ndarray | None
    degrees: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def __len__(self) -> int:
        return len(self.codes if self.degrees is None else self.degrees)  # type: ignore[arg-type]

    def entries(self, start: int = 0, stop: int | None = None) -> tuple[np.ndarray, ...]:
        """Rows (counted from ``start``), classes and weights of all memberships in a block."""
        stop = len(self) if stop is None else stop
        n_rows = stop - start
        weights = _ones(n_rows) if self.weights is None else self.weights[start:stop]
        if self.degrees is None:
            assert self.codes is not None
            return _count(n_rows), self.codes[start:stop], weights
        degrees = self.degrees[start:stop]
        rows, codes = np.nonzero(degrees)
        return rows, codes.astype(np.int32), degrees[rows, codes] * weights[rows]

    def totals(self) -> np.ndarray:
        """Total weight of each class."""
        return self._totals

    @cached_property
    def _totals(self) -> np.ndarray:
        """Counted once: settings, densities and the record of the rows all ask for them."""
        if self.codes is not None and self.weights is None:
            totals: np.ndarray = count_codes(self.codes, self.n_classes)
        else:
            _, codes, weights = self.entries()
            totals = np.bincount(codes, weights, self.n_classes)
        totals.setflags(write=False)
        return totals

    def weighted(self, weights: np.ndarray | None) -> Memberships:
        """The same with weights."""
        return replace(self, weights=weights)

    def tallied(self) -> Memberships:
        """One row per class, with the weight of all its rows."""
        codes = np.arange(self.n_classes, dtype=np.int32)
        return Memberships(self.classes, codes, None, self.totals())

    def take(self, rows: np.ndarray) -> Memberships:
        """The memberships of some rows."""
        parts = (self.codes, self.degrees, self.weights)
        return Memberships(self.classes, *(None if p is None else p[rows] for p in parts))

    def among(self, classes: np.ndarray, where: np.ndarray) -> Memberships:
        """The same memberships with class k called ``where[k]`` in a longer list of classes."""
        if len(classes) == self.n_classes:  # nothing moves
            return Memberships(classes, self.codes, self.degrees, self.weights)
        codes = None if self.codes is None else where.astype(np.int32)[self.codes]
        degrees = self.degrees
        if degrees is not None:
            wider = np.zeros((len(degrees), len(classes)))
            wider[:, where] = degrees
            degrees = wider
        return Memberships(classes, codes, degrees, self.weights)


def joined(parts: list[Memberships]) -> Memberships:
    """The memberships of the rows of several parts, one after the other."""
    classes = reduce(union, (part.classes for part in parts))
    same = [part.among(classes, places(part.classes, classes)) for part in parts]
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate(
            [_ones(len(part)) if part.weights is None else part.weights for part in same]
        )
    if all(part.degrees is None for part in same):
        codes = np.concatenate([part.codes for part in same])
        return Memberships(classes, codes, None, weights)
    degrees = [
        np.eye(len(classes))[part.codes] if part.degrees is None else part.degrees for part in same
    ]
    return Memberships(classes, None, np.concatenate(degrees), weights)


_COUNT = np.arange(1 << 16)
_ONES = np.ones(1 << 16)


def _count(n: int) -> np.ndarray:
    """0 .. n - 1, made once for blocks: making it anew costs as much as reading the rows."""
    return _COUNT[:n] if n <= len(_COUNT) else np.arange(n)


def _ones(n: int) -> np.ndarray:
    """n ones, made once for blocks."""
    return _ONES[:n] if n <= len(_ONES) else np.ones(n)


def encode_labels(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct labels in their own dtype, and each label's place among them.

    Integers and booleans, by far the most common, take two passes without sorting.

    Examples
    --------
    >>> encode_labels([30, 10, 30])
    (array([10, 30]), array([1, 0, 1], dtype=int32))
    """
    labels = as_labels(labels)
    # Unsigned numbers of eight bytes do not fit signed ones.
    if labels.size and labels.dtype.kind in "biu" and labels.dtype.str[1:] != "u8":
        integers = labels.view(np.int8) if labels.dtype.kind == "b" else labels
        if labels.dtype.itemsize == 1:  # there are few at most, whichever there are
            low, high = np.iinfo(integers.dtype).min, np.iinfo(integers.dtype).max
        else:
            low, high = (int(v) for v in value_range(integers))
        if high - low < max(1 << 16, labels.size):
            distinct, codes = rank_small_range(integers, low, high - low + 1)
            return distinct.astype(labels.dtype), codes
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Input y contains NaN or infinity in {np.sum(~np.isfinite(labels))} of "
            f"{labels.size} rows. Every row needs a class: drop those rows or label them."
        )
    if labels.dtype.kind in "OmM":
        missing = sum(map(_is_missing, labels.tolist()))
        if labels.dtype.kind in "mM":
            missing = int(np.isnat(labels).sum())
        if missing:
            raise ValueError(
                f"Input y contains NaN or None in {missing} of {labels.size} rows. "
                "Every row needs a class: drop those rows or label them."
            )
    try:
        if labels.dtype.kind in "OU":
            distinct, codes = _encode_text(labels)
        else:
            distinct, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            f"y mixes labels of types {', '.join(kinds)}, which have no order. "
            "Give all labels one type, for example y.astype(str)."
        ) from None
    return distinct, codes.astype(np.int32)


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or NA; NA does not even say whether it is equal."""
    return label is None or type(label).__name__ == "NAType" or bool(label != label)


def _encode_text(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same by hashing: only the distinct labels are sorted, not every row."""
    seen: dict[Any, int] = {}
    codes = np.fromiter(
        (seen.setdefault(label, len(seen)) for label in labels.tolist()), np.int32, len(labels)
    )
    found = np.empty(len(seen), dtype=labels.dtype)
    found[:] = list(seen)
    distinct, rank = np.unique(found, return_inverse=True)
    return distinct, rank[codes]


def as_labels(labels: Any) -> np.ndarray:
    """Labels as a one-dimensional array in this machine's byte order.

    numpy would write the numbers of a list that mixes text and numbers as text; such a list stays
    as it is, for :func:`encode_labels` to refuse.
    """
    array = np.atleast_1d(np.asarray(labels))
    written = array.dtype.kind in "US" and not hasattr(labels, "dtype")
    if written and not all(isinstance(label, (str, bytes)) for label in labels):
        array = np.array(list(labels), dtype=object)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def label_kind(labels: np.ndarray) -> str:
    """What labels are: labels of different kinds never name the same classes."""
    kind = labels.dtype.kind
    if kind == "O" and len(labels):
        kinds = {
            label_kind(np.asarray([label])) if not isinstance(label, str) else "text"
            for label in labels.tolist()
        }
        return kinds.pop() if len(kinds) == 1 else "mixed objects"
    return {"b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers", "U": "text"}.get(
        kind, str(labels.dtype)
    )


def union(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sorted labels of both, each sorted and distinct, which must be of one kind."""
    if one.dtype == other.dtype and one.dtype.kind != "O" and np.array_equal(one, other):
        return one  # as with most parts of the rows
    if label_kind(one) != label_kind(other):
        raise ValueError(
            f"The labels {one.tolist()} are {label_kind(one)}, but {other.tolist()} are "
            f"{label_kind(other)}, so they cannot name the same classes. Convert one of them."
        )
    return encode_labels(np.concatenate([one, other]))[0]


def places(names: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Place of each name in the sorted array ``among``; -1 where it is not there."""
    if len(among) == 0:
        return np.full(len(names), -1)
    try:
        found = np.minimum(np.searchsorted(among, names), len(among) - 1)
        same = np.asarray(among[found] == names, dtype=bool)
    except TypeError:  # labels of another type are simply not there
        return np.full(len(names), -1)
    return np.where(same, found, -1)


def read_target(y: Any) -> Memberships:
    """Memberships told by what a user calls y: labels, or an (n, K) table of soft labels."""
    if y is None:
        raise ValueError(
            "This BayesClassifier estimator requires y to be passed, but the target y is None."
        )
    if not hasattr(y, "shape"):
        y = as_labels(y)
    if len(y.shape) == 2 and y.shape[1] > 1:
        return _read_soft_labels(y)
    if len(y.shape) == 2 and not hasattr(y, "reshape"):
        y = np.asarray(y)
    if len(y.shape) == 1 and hasattr(y, "to_numpy"):
        y = y.to_numpy()  # a nullable column keeps its type, where numpy would make it float
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain else column_or_1d(y, warn=True)
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers, not class labels.")
    finite = labels.dtype.kind == "f" and np.isfinite(labels).all()
    if finite and type_of_target(labels).startswith("continuous"):
        raise ValueError(
            "Unknown label type: continuous. y holds fractions, which name no classes. "
            "Give class labels, or use a regressor for a continuous target."
        )
    classes, codes = encode_labels(labels)
    return Memberships(classes, codes)


def _read_soft_labels(y: Any) -> Memberships:
    """Soft labels: one column per class, rows that sum to one."""
    names = getattr(y, "columns", None)
    names = getattr(y, "column_names", names)  # pyarrow calls them so
    degrees = np.ascontiguousarray(y, dtype=np.float64)
    classes = np.arange(degrees.shape[1]) if names is None else as_labels(list(names))
    n_wrong = np.sum(~((degrees >= 0) & np.isfinite(degrees)).all(axis=1))
    if n_wrong:
        raise ValueError(
            "Soft labels y must be finite and not negative: one column per class, each row a "
            f"distribution. {n_wrong} of {len(degrees)} rows are not."
        )
    sums = degrees.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 1e-6)
    if wrong.size:
        raise ValueError(
            f"Each row of the soft labels y must sum to 1, but {wrong.size} of {len(sums)} rows do "
            f"not (row {wrong[0]} sums to {sums[wrong[0]]:.6g}). Divide each row by its sum, and "
            "give what a row counts as sample_weight. Several labels per row are not supported."
        )
    distinct, order = encode_labels(classes)
    if len(distinct) < len(classes):
        raise ValueError("Soft labels y have two columns of the same name; each names one class.")
    order = np.argsort(order, kind="stable")
    return Memberships(classes[order], None, np.ascontiguousarray(degrees[:, order]))
