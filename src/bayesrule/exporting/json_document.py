"""A rule as one JSON document: a program that an interpreter of fifty lines can run.

``program.schema.json`` beside this file describes the document for machines. In words:

- ``columns`` are read first. ``form`` says how: "number"; "flag" and "label", a number that is
  turned into its place among ``labels``; "text" likewise. A value that is not among the labels has
  the place -1. A row is refused (it has no decision) if a value is infinite, is missing where
  ``gaps`` is false, is below ``least``, or is not among ``only`` where that lists any.
- ``steps`` are worked out one after the other; each has a name.
- ``decision`` is the place of the decision among ``decisions``; ``chances`` are the posteriors.

An expression is a number, the name of a step, or one of::

    {"column": 3}                                  the value of the column at that place of X
    {"+": [e, ...]}                                a sum, added from the first to the last
    {"-": [e, e]} {"*": [e, e]} {"/": [e, e]}
    {"log": [e]} {"exp": [e]} {"sqrt": [e]} {"log1p": [e]} {"power": [e, e]}
    {"table": "t0", "place": e, "column": 1}       tables["t0"][place][column]
    {"level": e, "edges": [...]}                   how many of the increasing edges are at most e
    {"if": test, "then": e, "else": e}             only the one that is chosen need exist

and a test is ``{"<": [e, e]}``, ``{">": [e, e]}``, ``{"=": [e, e]}``, ``{"there": 3}`` (the column
has a value) or ``{"all": [test, ...]}``. Comparisons with a missing value do not hold.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from bayesrule.exporting.arithmetic import Column, Language, Shared
from bayesrule.exporting.program import Program

#: Of the form of the document; a change that old readers would misread makes it larger.
VERSION = 1


def document(program: Program) -> dict[str, Any]:
    """The program as plain values."""
    text = Plain()
    decision = program.decision.write(text)
    chances = [chance.write(text) for chance in program.chances]
    return {
        "format": "bayesrule program",
        "version": VERSION,
        "columns": [
            {
                "place": column.place,
                "name": column.name,
                "form": column.form,
                "labels": list(column.labels),
                "gaps": column.gaps,
                "least": column.least,
                "only": list(column.only),
            }
            for column in program.columns
        ],
        "classes": list(program.classes),
        "decisions": list(program.decisions),
        "priors": program.priors.tolist(),
        "gain": program.gain.tolist(),
        "tables": text.tables,
        "steps": text.steps,
        "decision": decision,
        "chances": chances,
    }


def json_text(program: Program) -> str:
    """The document as text; whatever is not plain ASCII is escaped."""
    return json.dumps(document(program), allow_nan=False, indent=1) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    text = files("bayesrule.exporting").joinpath("program.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


class Plain(Language[Any]):
    """Expressions as plain values."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.tables: dict[str, list[list[float]]] = {}
        self._names: dict[int, tuple[str, Shared]] = {}
        self._tables: dict[int, tuple[str, np.ndarray]] = {}

    def number(self, value: float) -> Any:
        return value

    def value(self, column: Column) -> Any:
        return {"column": column.place}

    def there(self, column: Column) -> Any:
        return {"there": column.place}

    def sum(self, terms: list[Any]) -> Any:
        return {"+": terms}

    def operation(self, sign: str, left: Any, right: Any) -> Any:
        return {sign: [left, right]}

    def call(self, name: str, arguments: list[Any]) -> Any:
        return {name: arguments}

    def lookup(self, table: np.ndarray, column: int, place: Any) -> Any:
        if id(table) not in self._tables:
            name = f"t{len(self._tables)}"
            self._tables[id(table)] = name, table
            self.tables[name] = table.tolist()
        return {"table": self._tables[id(table)][0], "place": place, "column": column}

    def level(self, of: Any, edges: tuple[float, ...]) -> Any:
        return {"level": of, "edges": list(edges)}

    def choice(self, test: Any, yes: Any, no: Any) -> Any:
        return {"if": test, "then": yes, "else": no}

    def shared(self, expression: Shared) -> Any:
        if id(expression) not in self._names:
            written = expression.of.write(self)
            name = f"b{len(self.steps)}"
            self.steps.append({"name": name, "is": written})
            self._names[id(expression)] = name, expression
        return self._names[id(expression)][0]

    def compared(self, sign: str, left: Any, right: Any) -> Any:
        return {sign: [left, right]}

    def all(self, tests: list[Any]) -> Any:
        return {"all": tests}
