"""Rows as laws see them: numbers that may be missing, and the columns that they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesrule.exporting.arithmetic import (
    Call,
    CannotExportError,
    Choice,
    Column,
    Compared,
    Expression,
    Number,
    Shared,
    Test,
    There,
    Value,
    as_expression,
)


@dataclass(frozen=True, eq=False)
class Entry:
    """One number of a row as a law sees it.

    Attributes
    ----------
    value : Expression
    there : Test or None
        Whether there is a value; None where there always is.
    column : Column or None
        The column that it is, where it is one.
    """

    value: Expression
    there: Test | None = None
    column: Column | None = None

    def unless_missing(self, yes: Expression, no: Any = 0.0) -> Expression:
        """A number where there is a value, another where there is none."""
        return yes if self.there is None else Choice(self.there, yes, as_expression(no))

    def logarithm(self) -> Entry:
        """The logarithm of a number from zero on; that of zero is missing."""
        above = Compared(">", self.value, Number(0.0))
        log = Shared(Choice(above, Call("log", (self.value,)), Number(0.0)))
        return Entry(log, above)


@dataclass(frozen=True, eq=False)
class Row:
    """The numbers of a row, as a law sees them."""

    entries: tuple[Entry, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def narrow(self, places: Iterable[int]) -> Row:
        """Some of the columns."""
        return Row(tuple(self.entries[int(j)] for j in places))

    @property
    def complete(self) -> bool:
        """Whether no value can be missing."""
        return all(entry.there is None for entry in self.entries)

    def reading(self, **changes: Any) -> Row:
        """The same columns with other marks: gaps, least, only, form, labels."""
        columns = [replace(self._column(j), **changes) for j in range(len(self))]
        return Row(tuple(entry_of(replace(c, gaps=c.gaps and not c.whole)) for c in columns))

    def categories(self, labels: Sequence[np.ndarray]) -> Row:
        """The columns as places of categories."""
        found = []
        for j, known in enumerate(labels):
            column = self._column(j)
            form, told = label_form(known, column)
            found.append(entry_of(replace(column, form=form, labels=told)))
        return Row(tuple(found))

    def _column(self, j: int) -> Column:
        column = self.entries[j].column
        if column is None:
            raise CannotExportError("A number that is worked out from others has no column.")
        return column


def entry_of(column: Column) -> Entry:
    """A column as an entry of a row."""
    return Entry(Value(column), There(column) if column.gaps else None, column)


def label_form(labels: np.ndarray, column: Column) -> tuple[str, tuple[Any, ...]]:
    """How categories are told: as flags, numbers or text."""
    plain = tuple(labels.tolist())
    if column.form == "flag" or labels.dtype.kind == "b":
        return "flag", tuple(float(label) for label in plain)
    if labels.dtype.kind in "iuf":
        if any(abs(label) > 2**53 for label in plain):
            raise CannotExportError(
                f"Column {column.name!r} has categories beyond 2^53, which other programs would "
                "round. Write them as text and fit again."
            )
        return "label", tuple(float(label) for label in plain)
    if not all(isinstance(label, str) for label in plain):
        raise CannotExportError(
            f"Column {column.name!r} has categories that are neither text nor numbers, such as "
            f"{next(label for label in plain if not isinstance(label, str))!r}. Write them as text."
        )
    return "text", plain
