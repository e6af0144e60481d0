"""What a classifier has learned: a prepared density and statistics, in one frozen record.

Rows are added by ``record.add(...)`` and records of other rows by ``record.merge(...)``; both
return a new record, so that whoever holds the old one is not disturbed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from bayesrule.density import Density, Prepared, Rule, same_state
from bayesrule.memberships import Memberships, encode_labels, places, union
from bayesrule.stats import spread_rows
from bayesrule.tables import Table


@dataclass(frozen=True)
class Learned:
    """Statistics of the rows so far.

    Attributes
    ----------
    density : Density
        The settings that the rows were read with.
    prepared : Prepared
        The density with what it learned before counting.
    classes : ndarray of shape (K,)
        Sorted labels.
    class_count : ndarray of shape (K,)
        Total weight of each class.
    stats : statistics
    closed : bool
        Whether the classes were stated, so that another label is an error.
    """

    density: Density
    prepared: Prepared
    classes: np.ndarray
    class_count: np.ndarray
    stats: Any
    closed: bool = False

    @classmethod
    def begin(
        cls, density: Density, table: Table, memberships: Memberships, rule: Rule, closed: bool
    ) -> Learned:
        """Prepare the density on the first rows and count them."""
        prepared = density.prepare(table, memberships, rule)
        return cls.of(density, prepared, table, memberships, closed)

    @classmethod
    def of(
        cls,
        density: Density,
        prepared: Prepared,
        table: Table,
        memberships: Memberships,
        closed: bool = False,
    ) -> Learned:
        """The record of some rows alone."""
        stats = prepared.tally(table, memberships)
        return cls(density, prepared, memberships.classes, memberships.totals(), stats, closed)

    def add(self, table: Table, memberships: Memberships) -> Learned:
        """The record with more rows; their classes hold all those known so far."""
        known = self.among(memberships.classes)
        return replace(
            known,
            class_count=known.class_count + memberships.totals(),
            stats=known.stats + self.prepared.tally(table, memberships),
        )

    def merge(self, other: Learned) -> Learned:
        """The record of the rows of both, where both counted in the same way."""
        if not same_state(self.prepared, other.prepared):
            raise ValueError(
                f"Cannot merge: the parts counted differently ({self.density} and {other.density}, "
                "or what each learned before counting). Give both the same settings and one "
                "prepared density: fit one on the first rows, copy it, go on with partial_fit."
            )
        classes = union(self.classes, other.classes)
        mine, theirs = self.among(classes), other.among(classes)
        return replace(
            mine,
            class_count=mine.class_count + theirs.class_count,
            stats=mine.stats + theirs.stats,
            closed=self.closed and other.closed,
        )

    def among(self, classes: np.ndarray) -> Learned:
        """The same record with a longer list of classes."""
        if len(classes) == len(self.classes):
            return self
        where = places(self.classes, classes)
        return replace(
            self,
            classes=classes,
            class_count=spread_rows(self.class_count, where, len(classes)),
            stats=self.stats.spread(where, len(classes)),
        )

    @property
    def shares(self) -> np.ndarray:
        """Class shares of the training weight."""
        shares: np.ndarray = self.class_count / self.class_count.sum()
        return shares


def present(
    table: Table, found: Memberships, sample_weight: Any, some: bool = False
) -> tuple[Table, Memberships]:
    """Rows with their weights, checked; those of weight zero count as absent.

    All may be absent where these are only ``some`` of the rows.
    """
    if sample_weight is None:
        return table, found
    try:
        weights = _check_sample_weight(
            sample_weight,
            np.empty(len(table)),
            dtype=np.float64,
            ensure_non_negative=True,
            allow_all_zero_weights=some,
        )
    except (TypeError, ValueError) as error:
        if "eight" in str(error):
            raise
        raise ValueError(f"sample_weight holds no numbers: {error}.") from error
    found = Memberships(found.classes, found.codes, found.degrees, weights)
    there = np.flatnonzero(weights)
    if len(there) < len(table):
        table, found = table.take(there), found.take(there)
    return table, found


def classes_with(found: np.ndarray, stated: Any, before: Learned | None) -> tuple[np.ndarray, bool]:
    """All classes after a chunk with the labels ``found``, and whether the list is closed."""
    closed = stated is not None or (before is not None and before.closed)
    labels = found if before is None else before.classes
    if stated is not None:
        labels, _ = encode_labels(stated)
        if before is not None and not np.array_equal(labels, before.classes):
            raise ValueError(
                f"classes={labels.tolist()} is not the list so far, {before.classes.tolist()}. "
                "Leave it out to add classes as they appear."
            )
    together = union(labels, found)
    new = found[places(found, labels) < 0]
    if len(new) and closed:
        raise ValueError(
            f"y has the label {new.tolist()[0]!r}, which is not in classes={labels.tolist()}."
        )
    return (together if len(new) else labels), closed
