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
from dataclasses import dataclass
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
