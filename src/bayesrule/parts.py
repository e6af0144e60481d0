"""Rows in parts: what a part is, how its rows come, and what is wrong with a file.

Whatever has too many rows for memory (files, collections of many machines) is cut into *parts*, by
what it holds only, never by who will read it. Results for the same parts are therefore the same
bits on any number of threads, processes or machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from bayesrule.memberships import Memberships

#: What reading foreign bytes may raise: files that are not there, damaged, or of another form.
FAILURES = (OSError, ValueError, TypeError, pa.ArrowException)


class BadFileError(ValueError):
    """A file cannot be read, is damaged, or does not hold what the others hold.

    Attributes
    ----------
    path : str
    problem : str
    """

    def __init__(self, path: str, problem: str):
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class MixedColumnError(BadFileError):
    """A column of a text file holds, further down, what its first rows did not show.

    Attributes
    ----------
    column : str
    wider : str or None
        Name of a type that may hold all of it.
    """

    def __init__(self, path: str, problem: str, column: str, wider: str | None):
        super().__init__(path, problem)
        self.args = path, problem, column, wider  # what workers elsewhere make it of again
        self.column = column
        self.wider = wider


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Turn whatever a file makes fail into an error that names it."""
    try:
        yield
    except BadFileError:
        raise
    except FAILURES as error:
        if isinstance(error, (MemoryError, pa.ArrowMemoryError)):
            raise
        said = str(error) or type(error).__name__
        raise BadFileError(path, said) from error


def wants_skipping(on_bad_file: str) -> bool:
    """Whether bad files are left out; they stop the work otherwise."""
    if on_bad_file not in ("raise", "skip"):
        raise ValueError(f"on_bad_file={on_bad_file!r} is not known; use 'raise' or 'skip'.")
    return on_bad_file == "skip"


@dataclass(frozen=True)
class Part:
    """Some rows of a file.

    Attributes
    ----------
    id : int
        Its place among all parts: statistics are added in this order.
    path : str
    groups : (int, int) or None
        Row groups or record batches, from one up to another; None is the whole file.
    n_rows : int or None
        How many rows it has, where the file tells.
    n_bytes : int
        Its share of the file, for the progress bar.
    stamp : str
        What changes when the rows do, such as the time of the last change.
    rows : object or None
        The rows themselves, or what Dask computes them from, where there is no file.
    """

    id: int
    path: str
    groups: tuple[int, int] | None
    n_rows: int | None
    n_bytes: int
    stamp: str = ""
    rows: Any = None

    def __str__(self) -> str:
        if self.groups is None:
            return self.path
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[1] - 1}"


#: Some rows: X, who belongs to which class, and weights or None.
Chunk = tuple[Any, Memberships, Any]


class Reader(Protocol):
    """How the chunks of a part are read, wherever that is done."""

    def __call__(self, part: Part, tick: Callable[[int], None]) -> Iterator[Chunk]: ...


@dataclass(frozen=True)
class Source:
    """Parts of the rows and how to read them.

    Attributes
    ----------
    parts : list of Part
    read : Reader
    row_bytes : int
        What a row takes in memory, roughly.
    one_each : bool
        Whether each row counts as one.
    skipped : list of Skipped
        Files that were left out before any row was read.
    asked : str
        What is read of each part: columns and their types, target and weight.
    """

    parts: list[Part]
    read: Reader
    row_bytes: int
    one_each: bool
    skipped: list[Skipped]
    asked: str = ""

    def share_of(self, n_rows: int) -> float:
        """A share of the rows that is almost surely more than ``n_rows``; 1 where none is known."""
        rows = [part.n_rows or 0 for part in self.parts]
        if min(rows) == 0 or sum(rows) <= n_rows:
            return 1.0
        return min(1.0, (n_rows + 8 * n_rows**0.5 + 64) / sum(rows))


@dataclass(frozen=True)
class Skipped:
    """A file, or a part of one, that was left out.

    Attributes
    ----------
    path : str
    groups : (int, int) or None
        The row groups or record batches; None is the whole file.
    n_rows : int or None
        Rows that are lost, where the file tells.
    problem : str
    """

    path: str
    groups: tuple[int, int] | None
    n_rows: int | None
    problem: str


@dataclass(frozen=True)
class FilesRead:
    """What was done with files.

    Attributes
    ----------
    n_files, n_parts, n_rows : int
        Files and parts that were used, and their rows.
    passes : tuple of str
        What each pass over the files was for.
    skipped : tuple of Skipped
        Files, or parts of them, that were left out: path, row groups, rows lost, and why.
    """

    n_files: int
    n_parts: int
    n_rows: int
    passes: tuple[str, ...]
    skipped: tuple[Skipped, ...]

    @classmethod
    def of(
        cls, parts: list[Part], n_rows: int, passes: Iterable[str], skipped: Iterable[Skipped]
    ) -> FilesRead:
        """What was done with parts, some of which may have been left out."""
        skipped = tuple(skipped)
        out = {(lost.path, lost.groups) for lost in skipped}
        kept = [part.path for part in parts if (part.path, part.groups) not in out]
        return cls(len(set(kept)), len(kept), n_rows, tuple(passes), skipped)
