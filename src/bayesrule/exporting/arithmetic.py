"""The arithmetic of a rule as expressions, which other languages can write down.

A settled law that can leave Python tells its log-densities as expressions of a row's values:

    >>> x = Value(Column(0, "age"))
    >>> score = 2.0 * x - 1.0

A :class:`Language` (SQL, C, JSON, ONNX) knows how to write each kind of expression. So a law says
once what it computes, whatever the number of languages, and a language is written once, whatever
the number of laws. Python's own loops add in the same order as the expressions wherever the order
of a sum is part of the answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

Written = TypeVar("Written")

#: What stands for log 0 where infinities cannot be written; sums of a few are no larger.
NOTHING = -1e300
#: Log-densities below this are those of values that a class cannot show.
IMPOSSIBLE = -1e299


class CannotExportError(TypeError):
    """A model, or a part of one, that has no form in the language asked for."""


@dataclass(frozen=True)
class Column:
    """A column of X, and what Python refuses in it.

    Attributes
    ----------
    place : int
        Among the columns of X.
    name : str
    form : str
        "number"; "flag", a boolean; "text" or "label", a category told by text or by a number.
    labels : tuple
        The categories, whose places are what the arithmetic sees; -1 is any other.
    gaps : bool
        Whether a value may be missing.
    least : float or None
        The lowest value that is accepted.
    only : tuple of floats
        The values that are accepted; all, where there are none.
    whole : bool
        Whether gaps are refused even where the law would integrate them out.
    """

    place: int
    name: str
    form: str = "number"
    labels: tuple[Any, ...] = ()
    gaps: bool = False
    least: float | None = None
    only: tuple[float, ...] = ()
    whole: bool = False


class Expression(ABC):
    """A number that depends on a row. Subclasses are final; each tells a language what it is."""

    @abstractmethod
    def write(self, language: Language[Written]) -> Written:
        """This expression in a language."""

    @property
    def atom(self) -> tuple[np.ndarray, Expression] | None:
        """The table and the place of a number that is looked up; None for any other."""
        return None

    def __add__(self, other: Any) -> Expression:
        return Sum((self, as_expression(other)))

    def __radd__(self, other: Any) -> Expression:
        return Sum((as_expression(other), self))

    def __sub__(self, other: Any) -> Expression:
        return Operation("-", self, as_expression(other))

    def __rsub__(self, other: Any) -> Expression:
        return Operation("-", as_expression(other), self)

    def __mul__(self, other: Any) -> Expression:
        return Operation("*", self, as_expression(other))

    def __rmul__(self, other: Any) -> Expression:
        return Operation("*", as_expression(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return Operation("/", self, as_expression(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return Operation("/", as_expression(other), self)


def as_expression(value: Any) -> Expression:
    """An expression as it is, a number as one that does not depend on the row."""
    return value if isinstance(value, Expression) else Number(float(value))


@dataclass(frozen=True, eq=False)
class Number(Expression):
    """A constant; minus infinity is written as a very low number."""

    value: float

    def write(self, language: Language[Written]) -> Written:
        return language.number(max(self.value, NOTHING))


@dataclass(frozen=True, eq=False)
class Value(Expression):
    """The value of a column: a number, or the place of a category."""

    column: Column

    def write(self, language: Language[Written]) -> Written:
        return language.value(self.column)


@dataclass(frozen=True, eq=False)
class Sum(Expression):
    """Terms added from the first to the last."""

    terms: tuple[Expression, ...]

    def write(self, language: Language[Written]) -> Written:
        return language.sum([term.write(language) for term in self.terms])


@dataclass(frozen=True, eq=False)
class Operation(Expression):
    """One of - * / between two numbers."""

    sign: str
    left: Expression
    right: Expression

    def write(self, language: Language[Written]) -> Written:
        return language.operation(self.sign, self.left.write(language), self.right.write(language))


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A function of one number, or "power" of two: log, exp, sqrt, log1p."""

    name: str
    arguments: tuple[Expression, ...]

    def write(self, language: Language[Written]) -> Written:
        return language.call(self.name, [part.write(language) for part in self.arguments])


@dataclass(frozen=True, eq=False)
class Lookup(Expression):
    """The number in a row of a table, ``table[place, column]``."""

    table: np.ndarray
    place: Expression
    column: int = 0

    @property
    def atom(self) -> tuple[np.ndarray, Expression] | None:
        return self.table, self.place

    def write(self, language: Language[Written]) -> Written:
        return language.lookup(self.table, self.column, self.place.write(language))


@dataclass(frozen=True, eq=False)
class Level(Expression):
    """How many of some increasing edges are at most the number."""

    of: Expression
    edges: tuple[float, ...]

    def write(self, language: Language[Written]) -> Written:
        return language.level(self.of.write(language), self.edges)


@dataclass(frozen=True, eq=False)
class Choice(Expression):
    """One number where a test holds, another where it does not. Only the one chosen must exist."""

    test: Test
    yes: Expression
    no: Expression

    def write(self, language: Language[Written]) -> Written:
        return language.choice(
            self.test.write(language), self.yes.write(language), self.no.write(language)
        )


@dataclass(frozen=True, eq=False)
class Shared(Expression):
    """A number that is used more than once, or that is worth a line of its own."""

    of: Expression

    @property
    def atom(self) -> tuple[np.ndarray, Expression] | None:
        return self.of.atom

    def write(self, language: Language[Written]) -> Written:
        return language.shared(self)


class Test(ABC):
    """A question about a row. Comparisons with a missing value do not hold."""

    __test__ = False  # for pytest, which takes it for one of its own

    @abstractmethod
    def write(self, language: Language[Written]) -> Written:
        """This test in a language."""


@dataclass(frozen=True, eq=False)
class Compared(Test):
    """One of < > = between two numbers."""

    sign: str
    left: Expression
    right: Expression

    def write(self, language: Language[Written]) -> Written:
        return language.compared(self.sign, self.left.write(language), self.right.write(language))


@dataclass(frozen=True, eq=False)
class There(Test):
    """Whether a column has a value."""

    column: Column

    def write(self, language: Language[Written]) -> Written:
        return language.there(self.column)


@dataclass(frozen=True, eq=False)
class All(Test):
    """Whether several tests hold."""

    tests: tuple[Test, ...]

    def write(self, language: Language[Written]) -> Written:
        return language.all([test.write(language) for test in self.tests])


class Language(ABC, Generic[Written]):
    """How each kind of expression is written."""

    @abstractmethod
    def number(self, value: float) -> Written: ...

    @abstractmethod
    def value(self, column: Column) -> Written: ...

    @abstractmethod
    def sum(self, terms: list[Written]) -> Written: ...

    @abstractmethod
    def operation(self, sign: str, left: Written, right: Written) -> Written: ...

    @abstractmethod
    def call(self, name: str, arguments: list[Written]) -> Written: ...

    @abstractmethod
    def lookup(self, table: np.ndarray, column: int, place: Written) -> Written: ...

    @abstractmethod
    def level(self, of: Written, edges: tuple[float, ...]) -> Written: ...

    @abstractmethod
    def choice(self, test: Written, yes: Written, no: Written) -> Written: ...

    @abstractmethod
    def shared(self, expression: Shared) -> Written: ...

    @abstractmethod
    def compared(self, sign: str, left: Written, right: Written) -> Written: ...

    @abstractmethod
    def there(self, column: Column) -> Written: ...

    @abstractmethod
    def all(self, tests: list[Written]) -> Written: ...


# ---------------------------------------------------------------------- rows as laws see them


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


# ---------------------------------------------------------------------- expressions in common use


def total(terms: Sequence[Expression]) -> Expression:
    """A sum, from the first term to the last."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms) if terms else (Number(0.0),))


def log(of: Expression) -> Expression:
    """The natural logarithm of a number above zero."""
    return Call("log", (of,))


def log1p(of: Expression) -> Expression:
    """log(1 + z), also where z is small."""
    return Call("log1p", (of,))


def exp(of: Expression) -> Expression:
    """The exponential; zero far below zero, where some programs would raise an error."""
    of = Shared(of)
    return Choice(Compared("<", of, Number(-600.0)), Number(0.0), Call("exp", (of,)))


def power(of: Expression, exponent: float) -> Expression:
    """A number from 0 to 1 to a power above zero, likewise."""
    if exponent == 1.0:
        return of
    of = Shared(of)
    least = Number(float(np.exp(-600.0 / exponent)))
    raised = Call("power", (of, Number(exponent)))
    return Choice(Compared("<", of, least), Number(0.0), raised)


def _tournament(
    parts: Sequence[tuple[Expression, ...]],
    winner: Callable[[tuple[Expression, ...], tuple[Expression, ...]], tuple[Expression, ...]],
) -> tuple[Expression, ...]:
    """The best of several, told in pairs; the left one of a pair is the earlier one."""
    parts = list(parts)
    while len(parts) > 1:
        left_over = parts[len(parts) - len(parts) % 2 :]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [winner(left, right) for left, right in pairs] + left_over
    return parts[0]


def extreme(numbers: Sequence[Expression], sign: str) -> Expression:
    """The largest (">") or smallest ("<") of several numbers."""

    def winner(left: tuple[Expression, ...], right: tuple[Expression, ...]) -> Any:
        better = Compared(sign, right[0], left[0])
        return (Shared(Choice(better, right[0], left[0])),)

    return _tournament([(number,) for number in numbers], winner)[0]


def first_extreme(numbers: Sequence[Expression], sign: str) -> Expression:
    """The place of the first largest or smallest of several numbers."""

    def winner(left: tuple[Expression, ...], right: tuple[Expression, ...]) -> Any:
        better = Compared(sign, right[0], left[0])
        return (
            Shared(Choice(better, right[0], left[0])),
            Shared(Choice(better, right[1], left[1])),
        )

    shared = [(Shared(number), Number(float(t))) for t, number in enumerate(numbers)]
    return _tournament(shared, winner)[1]


def polynomial(x: Expression, coefficients: Sequence[float]) -> Expression:
    """The first coefficient and, by Horner's rule, powers of x times the others."""
    found: Expression = Number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = coefficient + x * found
    return found


def increasing(edges: np.ndarray) -> tuple[float, ...]:
    """Edges as plain numbers; they must increase."""
    plain = tuple(float(edge) for edge in edges)
    assert all(a < b for a, b in pairwise(plain))
    return plain
