"""What an expression is made of: the columns it reads, and how much work it is."""

from __future__ import annotations

import numpy as np

from bayesrule.exporting.arithmetic import Column, Language, Shared


class Gathering(Language[None]):
    """A language that writes nothing and notes what it sees.

    Attributes
    ----------
    columns : dict {place: Column}
    size : int
        Operations.
    functions : set of str
    """

    def __init__(self) -> None:
        self.columns: dict[int, Column] = {}
        self.size = 0
        self.functions: set[str] = set()
        self._seen: dict[int, Shared] = {}

    def number(self, value: float) -> None:
        """Numbers are free."""

    def value(self, column: Column) -> None:
        self.columns[column.place] = column

    def there(self, column: Column) -> None:
        self.columns[column.place] = column

    def sum(self, terms: list[None]) -> None:
        self.size += len(terms)

    def operation(self, sign: str, left: None, right: None) -> None:
        self.size += 1

    def call(self, name: str, arguments: list[None]) -> None:
        self.size += 1
        self.functions.add(name)

    def lookup(self, table: np.ndarray, column: int, place: None) -> None:
        self.size += 1

    def level(self, of: None, edges: tuple[float, ...]) -> None:
        self.size += len(edges)

    def choice(self, test: None, yes: None, no: None) -> None:
        self.size += 1

    def compared(self, sign: str, left: None, right: None) -> None:
        self.size += 1

    def all(self, tests: list[None]) -> None:
        self.size += len(tests)

    def shared(self, expression: Shared) -> None:
        if id(expression) not in self._seen:
            self._seen[id(expression)] = expression  # held, so that no other gets its place
            expression.of.write(self)
