"""Expressions as SQL, and the stages that they are worked out in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bayesrule.exporting.arithmetic import Column, Language, Shared

#: What is shared is written out again where it is no longer than this.
SHORT = 80
#: Terms of a sum that stand in one line: programs limit how deep an expression may be.
TERMS = 64
#: Rows of a table that may stand in a CASE; larger ones are joined.
CASES = 12


def number(value: float) -> str:
    """A number that every program reads to the last bit.

    SQLite rounds some texts of many digits wrongly: beyond 15 digits a number is written as an
    exact quotient of whole numbers and powers of two.
    """
    value = float(value)
    if value == 0.0:
        return "0e0"
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.replace("-", "").replace(".", "").strip("0"))
    if digits <= 15 and abs(int(exponent or 0)) <= 15 and 1e-15 < abs(value) < 1e15:
        found = text if exponent else f"{text.removesuffix('.0')}e0"
    else:
        return f"({_quotient(value)})"
    return f"({found})" if value < 0 else found


def _quotient(value: float) -> str:
    """A number as a whole number times or over powers of two."""
    mantissa, exponent = math.frexp(value)
    whole, exponent = int(mantissa * 2**53), exponent - 53
    while whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    assert Fraction(value) == Fraction(whole) * Fraction(2) ** exponent
    text = f"CAST({whole} AS DOUBLE PRECISION)"
    sign, left = ("*" if exponent > 0 else "/"), abs(exponent)
    while left:
        step = min(left, 62)
        text += f" {sign} {2**step}"
        left -= step
    return text


@dataclass(frozen=True)
class Piece:
    """A part of an expression: its text, the stage it can stand in, the columns it needs."""

    text: str
    stage: int = 1
    needs: frozenset[str] = frozenset()


def joined(pieces: Sequence[Piece], text: str) -> Piece:
    """A text made of pieces."""
    needs = frozenset().union(*(piece.needs for piece in pieces))
    return Piece(text, max([1, *(piece.stage for piece in pieces)]), needs)


@dataclass
class Stage:
    """Columns that one common table expression makes, each from those before."""

    made: list[tuple[str, str]] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)


class SqlText(Language[Piece]):
    """Expressions as SQL; what is shared becomes a column of a stage."""

    def __init__(self, prefix: str, n_kept: int):
        self.prefix = prefix
        self.tables: list[str] = []
        self._stages: list[Stage] = []
        self._count = 0
        self._known: dict[int, Piece] = {}
        self._held: list[Any] = []
        self._tables: dict[bytes, str] = {}
        self._joins: dict[tuple[str, str], tuple[str, int]] = {}
        self._looked: dict[tuple[str, int], Piece] = {}
        self._written: dict[str, Piece] = {}

    # ------------------------------------------------------------------ stages

    def _at(self, stage: int) -> Stage:
        while len(self._stages) < stage:
            self._stages.append(Stage())
        return self._stages[stage - 1]

    def named(self, piece: Piece) -> Piece:
        """A piece as a column of its own."""
        known = self._written.get(piece.text)
        if known is None:
            stage = self._at(piece.stage)
            name = f"b{self._count}"
            self._count += 1
            stage.made.append((name, piece.text))
            stage.needs |= piece.needs
            known = Piece(name, piece.stage + 1, frozenset([name]))
            self._written[piece.text] = known
        return known

    def stages(self, wanted: set[str]) -> list[tuple[list[str], list[str], list[str]]]:
        """Of each stage the columns carried on, those made, and the tables joined."""
        found = []
        for stage in reversed(self._stages):
            names = {name for name, _ in stage.made}
            carried = sorted(wanted - names)
            made = [f"{text} AS {name}" for name, text in stage.made]
            found.append((carried, made, stage.joins))
            wanted = {*carried, *stage.needs}
        return found[::-1]

    # ------------------------------------------------------------------ the language

    def number(self, value: float) -> Piece:
        return Piece(number(value))

    def value(self, column: Column) -> Piece:
        return Piece(f"v{column.place}", 1, frozenset([f"v{column.place}"]))

    def there(self, column: Column) -> Piece:
        return Piece(f"v{column.place} IS NOT NULL", 1, frozenset([f"v{column.place}"]))

    def sum(self, terms: list[Piece]) -> Piece:
        begun: list[Piece] = []
        for term in terms:
            if len(begun) == TERMS:
                begun = [self.named(self._plus(begun))]
            begun.append(term)
        return self._plus(begun)

    def _plus(self, terms: list[Piece]) -> Piece:
        return joined(terms, "(" + " + ".join(term.text for term in terms) + ")")

    def operation(self, sign: str, left: Piece, right: Piece) -> Piece:
        return joined([left, right], f"({left.text} {sign} {right.text})")

    def call(self, name: str, arguments: list[Piece]) -> Piece:
        if name == "log1p":
            z = arguments[0] if len(arguments[0].text) <= SHORT else self.named(arguments[0])
            one = f"(1e0 + {z.text})"
            # Kahan's: the error of 1 + z is made in the quotient too, and cancels.
            text = (
                f"CASE WHEN {one} = 1e0 THEN {z.text} "
                f"ELSE LN({one}) * ({z.text} / ({one} - 1e0)) END"
            )
            return joined([z], text)
        word = {"log": "LN", "exp": "EXP", "sqrt": "SQRT", "power": "POWER"}[name]
        inner = ", ".join(argument.text for argument in arguments)
        return joined(arguments, f"{word}({inner})")

    def lookup(self, table: np.ndarray, column: int, place: Piece) -> Piece:
        if len(table) <= CASES:
            at = self._short(place)
            cases = " ".join(
                f"WHEN {i} THEN {number(float(v))}" for i, v in enumerate(table[:, column])
            )
            return joined([at], f"CAST(CASE {at.text} {cases} END AS DOUBLE PRECISION)")
        at = self.named(place) if not place.text.startswith("b") else place
        name = self._table(table)
        key = (at.text, name)
        if key not in self._joins:
            alias = f"j{len(self._joins)}"
            self._joins[key] = alias, at.stage
            stage = self._at(at.stage)
            stage.joins.append(f"{name} AS {alias} ON {alias}.place = s.{at.text}")
            stage.needs.add(at.text)
        alias, stage_of = self._joins[key]
        text = f"COALESCE({alias}.c{column}, {number(self._commonest(table)[column])})"
        looked = self._looked.get((alias, column))
        if looked is None:
            looked = self._looked[alias, column] = self.named(Piece(text, stage_of, at.needs))
        return looked

    def level(self, of: Piece, edges: tuple[float, ...]) -> Piece:
        at = self._short(of)
        return joined([at], self._search(at.text, edges, 0, len(edges)))

    def _search(self, x: str, edges: tuple[float, ...], low: int, high: int) -> str:
        """A search in halves for how many edges are at most x."""
        if low == high:
            return str(low)
        middle = (low + high) // 2
        less, more = self._search(x, edges, low, middle), self._search(x, edges, middle + 1, high)
        return f"CASE WHEN {x} < {number(edges[middle])} THEN {less} ELSE {more} END"

    def choice(self, test: Piece, yes: Piece, no: Piece) -> Piece:
        text = f"CASE WHEN {test.text} THEN {yes.text} ELSE {no.text} END"
        return joined([test, yes, no], text)

    def compared(self, sign: str, left: Piece, right: Piece) -> Piece:
        return joined([left, right], f"{left.text} {sign} {right.text}")

    def all(self, tests: list[Piece]) -> Piece:
        return joined(tests, "(" + " AND ".join(test.text for test in tests) + ")")

    def shared(self, expression: Shared) -> Piece:
        known = self._known.get(id(expression))
        if known is None:
            known = self._known[id(expression)] = self._short(expression.of.write(self))
            self._held.append(expression)
        return known

    def _short(self, piece: Piece) -> Piece:
        """A piece that may stand in several places."""
        plain = len(piece.text) <= SHORT and "CASE" not in piece.text
        return piece if plain else self.named(piece)

    # ------------------------------------------------------------------ tables

    def _commonest(self, table: np.ndarray) -> np.ndarray:
        """The row that occurs most often, which is left out of the table."""
        rows, counts = np.unique(table, axis=0, return_counts=True)
        found: np.ndarray = rows[counts.argmax()]
        return found

    def _table(self, table: np.ndarray) -> str:
        """The name of a table of constants."""
        key = np.ascontiguousarray(table).tobytes() + bytes(str(table.shape), "ascii")
        if key not in self._tables:
            name = self._tables[key] = f"{self.prefix}t{len(self._tables)}"
            common = self._commonest(table)
            rows = [
                f"({i}, {', '.join(number(float(v)) for v in row)})"
                for i, row in enumerate(table)
                if i == 0 or (row != common).any()
            ]
            columns = ", ".join(f"c{c}" for c in range(table.shape[1]))
            lines = ",\n    ".join(rows)
            self.tables.append(f"{name} (place, {columns}) AS MATERIALIZED (\n  VALUES {lines}\n)")
        return self._tables[key]
