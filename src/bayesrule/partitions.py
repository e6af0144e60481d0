"""Partitions of the rows into profiles, as they were learned: frozen, and told by arrays.

A partition says how much a row belongs to each of T profiles. What a density needs of it are two
sums that never hold n x T memberships: the table of a block of rows, and the mean of a table under
the memberships of each row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesrule.cmeans import check_fuzziness
from bayesrule.kernels import profiles as loops
from bayesrule.metrics import Metric
from bayesrule.tables import Table

#: Rows, classes and weights of the memberships in classes of some rows.
Entries = tuple[np.ndarray, ...]


class Partition(ABC):
    """Memberships of rows in ``n_profiles`` profiles; they sum to one."""

    #: Whether a row belongs to one profile alone.
    hard: ClassVar[bool] = False
    #: Rows it likes to see at once, as in :class:`~bayesrule.density.LogDensity`.
    block_rows: ClassVar[int | None] = 0

    @property
    @abstractmethod
    def n_profiles(self) -> int:
        """How many profiles there are."""

    @property
    @abstractmethod
    def n_columns(self) -> int | None:
        """How many columns of numbers it reads; None where it does not know."""

    @property
    def pieces(self) -> tuple[Any, ...]:
        """The partitions it is made of: itself, unless it joins several."""
        return (self,)

    @abstractmethod
    def membership(self, table: Table) -> np.ndarray:
        """Memberships of each row, shape (n, T)."""

    @abstractmethod
    def gather(self, table: Table, entries: Entries, n_classes: int) -> np.ndarray:
        """Weight of each profile in each class, shape (K, T)."""

    @abstractmethod
    def mix(self, table: Table, values: np.ndarray) -> np.ndarray:
        """Mean of ``values`` (K, T) under the memberships of each row, shape (n, K)."""


class HardPartition(Partition):
    """A partition into cells that do not overlap."""

    hard: ClassVar[bool] = True

    @abstractmethod
    def codes(self, table: Table) -> np.ndarray:
        """The profile of each row."""

    def membership(self, table: Table) -> np.ndarray:
        degrees = np.zeros((len(table), self.n_profiles))
        degrees[np.arange(len(table)), self.codes(table)] = 1.0
        return degrees

    def gather(self, table: Table, entries: Entries, n_classes: int) -> np.ndarray:
        rows, classes, weights = entries
        cells = classes.astype(np.int64) * self.n_profiles + self.codes(table)[rows]
        counts = np.bincount(cells, weights, n_classes * self.n_profiles)
        return counts.reshape(n_classes, self.n_profiles)

    def mix(self, table: Table, values: np.ndarray) -> np.ndarray:
        picked: np.ndarray = np.ascontiguousarray(values.T)[self.codes(table)]
        return picked


class SoftPartition(Partition):
    """A partition whose memberships are computed by others, block by block."""

    def gather(self, table: Table, entries: Entries, n_classes: int) -> np.ndarray:
        rows, classes, weights = entries
        degrees = self.membership(table)
        counts = np.zeros((n_classes, self.n_profiles))
        for k in np.unique(classes):
            mine = classes == k
            counts[k] = weights[mine] @ degrees[rows[mine]]
        return counts

    def mix(self, table: Table, values: np.ndarray) -> np.ndarray:
        mixed: np.ndarray = self.membership(table) @ values.T
        return mixed


@dataclass(frozen=True)
class NearestCentre(HardPartition):
    """Each row belongs to its nearest centre: equation (3) with the cells of k-means.

    Attributes
    ----------
    columns : ndarray of shape (D, T)
        The centres, column by column, as the metric sees them.
    metric : Metric
    """

    columns: np.ndarray
    metric: Metric

    @property
    def n_profiles(self) -> int:
        return int(self.columns.shape[1])

    @property
    def n_columns(self) -> int:
        return len(self.metric.shift)

    def codes(self, table: Table) -> np.ndarray:
        out = np.empty(len(table), np.int32)
        loops.nearest_centres(self.metric(table.numbers), self.columns, out)
        return out


@dataclass(frozen=True)
class FuzzyCentres(Partition):
    """Memberships that fall with the distance to the centres: equation (10).

    u_t(x) = 1 / sum_j (|x - c_t| / |x - c_j|)^(2 / (m - 1))

    Attributes
    ----------
    columns : ndarray of shape (D, T)
        The centres, column by column, as the metric sees them.
    metric : Metric
    fuzziness : float
        m > 1.
    """

    columns: np.ndarray
    metric: Metric
    fuzziness: float

    @property
    def n_profiles(self) -> int:
        return int(self.columns.shape[1])

    @property
    def n_columns(self) -> int:
        return len(self.metric.shift)

    def at_fuzziness(self, fuzziness: float) -> FuzzyCentres:
        """The same centres, and memberships of another fuzziness."""
        check_fuzziness(fuzziness, "FuzzyCentres", "NearestCentre")
        return replace(self, fuzziness=float(fuzziness))

    @property
    def _exponent(self) -> float:
        """Of a squared distance."""
        return 1.0 / (float(self.fuzziness) - 1.0)

    def membership(self, table: Table) -> np.ndarray:
        out = np.empty((len(table), self.n_profiles))
        rows = self.metric(table.numbers)
        loops.fuzzy_memberships(rows, self.columns, self._exponent, out)
        return out

    def gather(self, table: Table, entries: Entries, n_classes: int) -> np.ndarray:
        out = np.zeros((n_classes, self.n_profiles))
        rows = self.metric(table.numbers)
        loops.gather_fuzzy(rows, self.columns, self._exponent, *entries, out)
        return out

    def mix(self, table: Table, values: np.ndarray) -> np.ndarray:
        out = np.empty((len(table), len(values)))
        rows = self.metric(table.numbers)
        loops.mix_fuzzy(rows, self.columns, self._exponent, np.ascontiguousarray(values), out)
        return out


@dataclass(frozen=True)
class Joined(Partition):
    """Several partitions of the same rows, each with an equal share of every membership.

    Attributes
    ----------
    parts : tuple of Partition
    """

    parts: tuple[Any, ...]

    @property
    def n_profiles(self) -> int:
        return sum(part.n_profiles for part in self.parts)

    @property
    def n_columns(self) -> int | None:
        found: int | None = self.parts[0].n_columns
        return found

    @property
    def pieces(self) -> tuple[Any, ...]:
        return self.parts

    def at_fuzziness(self, fuzziness: float) -> Joined:
        """The same partitions, each at another fuzziness."""
        return Joined(tuple(part.at_fuzziness(fuzziness) for part in self.parts))

    @property
    def block_rows(self) -> int | None:  # type: ignore[override]
        """What suits all parts: those that want all rows at once get them."""
        sizes = [part.block_rows for part in self.parts]
        if None in sizes:
            return None
        return min((size for size in sizes if size), default=0)

    def membership(self, table: Table) -> np.ndarray:
        return np.hstack([part.membership(table) for part in self.parts]) / len(self.parts)

    def gather(self, table: Table, entries: Entries, n_classes: int) -> np.ndarray:
        found = [part.gather(table, entries, n_classes) for part in self.parts]
        return np.hstack(found) / len(self.parts)

    def mix(self, table: Table, values: np.ndarray) -> np.ndarray:
        ends = np.cumsum([part.n_profiles for part in self.parts])
        shares = np.split(values, ends[:-1], axis=1)
        total = np.zeros((len(table), len(values)))
        for part, share in zip(self.parts, shares, strict=True):
            total += part.mix(table, share)
        return total / len(self.parts)
