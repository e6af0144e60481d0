"""Statistics that add up: all a density keeps of its rows.

A statistic is a frozen record with two operations. ``a + b`` is the statistic of the rows of both
parts; ``spread(where, n_classes)`` rewrites it for a longer list of classes, so that a class first
seen in the last file finds its place. Merging is commutative and associative: counts exactly,
moments to rounding, and bitwise when the same parts are merged in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

Self = TypeVar("Self", bound="Stats")


class Stats(Protocol):
    """What every statistic can do."""

    def __add__(self: Self, other: Self) -> Self:
        """Return the statistic of the rows of both parts."""
        ...

    def spread(self: Self, where: np.ndarray, n_classes: int) -> Self:
        """Return the same statistic with class k at place ``where[k]`` of ``n_classes``."""
        ...


def spread_rows(values: np.ndarray, where: np.ndarray, n_classes: int) -> np.ndarray:
    """Move the rows of a class-by-class array to their places in a longer list of classes."""
    wider = np.zeros((n_classes, *values.shape[1:]), values.dtype)
    wider[where] = values
    return wider


@dataclass(frozen=True)
class Sums:
    """Weighted counts and sums per class.

    Parameters
    ----------
    weight : ndarray of shape (K,)
        Total weight of each class.
    sums : ndarray of shape (K, ...)
        Whatever adds up: counts of cells or categories, sums of columns.

    Examples
    --------
    >>> import numpy as np
    >>> part = Sums(np.array([2.0, 1.0]), np.array([[1.0, 1.0], [0.0, 1.0]]))
    >>> (part + part).weight
    array([4., 2.])
    """

    weight: np.ndarray
    sums: np.ndarray

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.weight + other.weight, self.sums + other.sums)

    def spread(self, where: np.ndarray, n_classes: int) -> Sums:
        return Sums(*(spread_rows(getattr(self, f.name), where, n_classes) for f in fields(self)))


@dataclass(frozen=True)
class Counts:
    """Weighted counts of categories, keyed by the category.

    A category that only one part has seen finds its place among those of the other, so that what
    first appears in the last file counts as if it had been known from the start.

    Parameters
    ----------
    categories : tuple of ndarray
        Sorted categories of each column.
    counts : tuple of ndarray of shape (K, C)
        Weight of each category of a column in each class.

    Examples
    --------
    >>> import numpy as np
    >>> one = Counts((np.array(["a", "c"]),), (np.array([[1.0, 2.0]]),))
    >>> two = Counts((np.array(["b", "c"]),), (np.array([[4.0, 8.0]]),))
    >>> (one + two).categories[0].tolist(), (one + two).counts[0].tolist()
    (['a', 'b', 'c'], [[1.0, 4.0, 10.0]])
    """

    categories: tuple[np.ndarray, ...]
    counts: tuple[np.ndarray, ...]

    def __add__(self, other: Counts) -> Counts:
        known, sums = [], []
        for j, (a, b, mine, yours) in enumerate(
            zip(self.categories, other.categories, self.counts, other.counts, strict=True)
        ):
            if len(a) and len(b) and (a.dtype.kind in "OUS") != (b.dtype.kind in "OUS"):
                raise ValueError(
                    f"The categories of column {j} are text in one part of the rows and numbers in "
                    f"another (such as {a[0]!r} and {b[0]!r}). Convert all rows to one of them."
                )
            both = np.unique(np.concatenate([a, b]))
            total = np.zeros((len(mine), len(both)))
            total[:, np.searchsorted(both, a)] += mine
            total[:, np.searchsorted(both, b)] += yours
            known.append(both)
            sums.append(total)
        return Counts(tuple(known), tuple(sums))

    def spread(self, where: np.ndarray, n_classes: int) -> Counts:
        return Counts(self.categories, tuple(spread_rows(c, where, n_classes) for c in self.counts))


@dataclass(frozen=True)
class Moments:
    """Weight, mean and centred second moment per class.

    The mean is kept relative to ``shift``, a point near the data, and the second moment about the
    class's own mean. Raw power sums would lose every digit of the variance of data far from zero
    (mean 1e8, standard deviation 1); these lose none, in any order of merging.

    Parameters
    ----------
    kind : {"diagonal", "full", "tied"}
        Second moments per column, per pair of columns, or per pair of columns summed over classes.
    shift : ndarray of shape (D,)
    weight : ndarray of shape (K,), or (K, D) where columns may have missing values
    mean : ndarray of shape (K, D)
        Class means minus ``shift``; zero where there is no weight.
    second : ndarray of shape (K, D), (K, D, D) or (D, D)
    """

    kind: Literal["diagonal", "full", "tied"]
    shift: np.ndarray
    weight: np.ndarray
    mean: np.ndarray
    second: np.ndarray

    def __add__(self, other: Moments) -> Moments:
        theirs = other.mean + (other.shift - self.shift)
        weight = self.weight + other.weight
        shape = (-1, 1) if weight.ndim == 1 else weight.shape
        mine, yours, both = (w.reshape(shape) for w in (self.weight, other.weight, weight))
        some = np.where(both > 0, both, 1.0)
        # An empty side must not bring in its meaningless mean.
        mean = np.where(
            mine == 0,
            np.where(yours == 0, 0.0, theirs),
            np.where(yours == 0, self.mean, (mine * self.mean + yours * theirs) / some),
        )
        apart = np.sqrt(mine * (yours / some)) * (theirs - self.mean)
        match self.kind:
            case "diagonal":
                between = apart * apart
            case "full":
                between = apart[:, :, None] * apart[:, None, :]
            case "tied":
                between = apart.T @ apart
        return Moments(self.kind, self.shift, weight, mean, self.second + other.second + between)

    def spread(self, where: np.ndarray, n_classes: int) -> Moments:
        second = self.second
        if self.kind != "tied":
            second = spread_rows(second, where, n_classes)
        return Moments(
            self.kind,
            self.shift,
            spread_rows(self.weight, where, n_classes),
            spread_rows(self.mean, where, n_classes),
            second,
        )


@dataclass(frozen=True)
class Sample:
    """Rows themselves with their classes and weights, merged by concatenation.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
    codes : ndarray of shape (n,)
        Class of each row; a row that belongs to several classes is there several times.
    weights : ndarray of shape (n,)
    """

    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray

    def __add__(self, other: Sample) -> Sample:
        return Sample.joined([self, other])

    @staticmethod
    def joined(parts: list[Sample]) -> Sample:
        """Many samples as one, copied once."""
        return Sample(
            *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Sample))
        )

    def spread(self, where: np.ndarray, n_classes: int) -> Sample:
        return Sample(self.rows, where[self.codes].astype(self.codes.dtype), self.weights)

    def sorted(self) -> Sample:
        """The same rows in an order that does not depend on how they arrived."""
        order = np.lexsort((*self.rows.T, self.weights, self.codes))
        return Sample(self.rows[order], self.codes[order], self.weights[order])


@dataclass(frozen=True)
class Several:
    """Several statistics of the same rows, added side by side."""

    parts: tuple[Any, ...]

    def __add__(self, other: Several) -> Several:
        return Several(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def spread(self, where: np.ndarray, n_classes: int) -> Several:
        return Several(tuple(part.spread(where, n_classes) for part in self.parts))
