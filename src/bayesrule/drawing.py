"""A sample of the rows of many parts, without replacement, whoever reads which part.

Each row gets a random number by its place (part and row), and those with the smallest numbers are
the sample: the same rows however the work is shared out. Numbers by a row's *values* would draw
either all or none of equal rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from bayesrule.keys import mixed
from bayesrule.learned import classes_with
from bayesrule.memberships import Memberships, joined, places
from bayesrule.parts import FAILURES, BadFileError, Chunk, Part, Reader, Source, naming
from bayesrule.tables import Table

#: Rows of a sample at most, and bytes that it may take.
SAMPLE_ROWS = 1_000_000
SAMPLE_BYTES = 1 << 26


def sample_size(stated: int | None, source: Source) -> int:
    """How many rows to draw: as stated, or as many as take little memory."""
    if stated is None:
        return max(1000, min(SAMPLE_ROWS, SAMPLE_BYTES // source.row_bytes))
    if isinstance(stated, bool) or not isinstance(stated, int) or stated < 1:
        raise ValueError(f"sample={stated!r} must be a number of rows, 1 or more.")
    return stated


def first_chunk(
    source: Source, skip: bool, read: Callable[[Any], Table | None]
) -> tuple[Chunk, Table | None]:
    """Some rows of the first part that can be read, and what ``read`` makes of their X."""
    for part in source.parts:
        try:
            for chunk in source.read(part, lambda n_bytes: None):
                with naming(str(part)):
                    return chunk, read(chunk[0])
        except BadFileError:
            if not skip:
                raise
    raise BadFileError(source.parts[0].path, "no part of the files could be read")


@dataclass(frozen=True)
class Drawn:
    """Rows drawn from some parts: those with the smallest keys.

    Attributes
    ----------
    id, n_rows : int
    keys : ndarray of shape (n,)
        Random numbers that depend on the place of a row only.
    places : ndarray of shape (n, 2)
        Part and row, which give the order of the files back.
    chunk : Chunk or None
    classes : Memberships or None
        The weight of each class over all rows, drawn or not; None where there is no row.
    """

    id: int
    n_rows: int
    keys: np.ndarray
    places: np.ndarray
    chunk: Chunk | None
    classes: Memberships | None

    def rows(self) -> tuple[Chunk, Memberships]:
        """The sample, and the weight of each class over all rows."""
        if self.chunk is None or self.classes is None:
            raise ValueError("No row with a weight above zero could be read.")
        return self.chunk, self.classes

    def read(
        self, parts: list[Part], skip: bool, read: Callable[[Any], Table]
    ) -> tuple[Table, Chunk]:
        """The sample as ``read`` reads it; where it cannot, the part at fault is named or left."""
        chunk, _ = self.rows()
        try:
            return read(chunk[0]), chunk
        except FAILURES:
            bad = []
            for id in np.unique(self.places[:, 0]):
                mine = np.flatnonzero(self.places[:, 0] == id)
                try:
                    with naming(str(parts[id])):
                        read(_rows_of(chunk, mine)[0])
                except BadFileError:
                    if not skip:
                        raise
                    bad.append(id)
            left = np.flatnonzero(~np.isin(self.places[:, 0], bad))
            if not bad or not len(left):
                raise
            chunk = _rows_of(chunk, left)
            return read(chunk[0]), chunk

    def thinned(self, size: int, each_class: bool = False) -> Drawn:
        """The ``size`` rows of smallest keys, in the order of the files; or so many of each class.

        Some of each class leave fewer of all.
        """
        if len(self.keys) <= size or self.chunk is None:
            return self
        if each_class:
            rows, codes, _ = self.chunk[1].entries()
            of_class = (rows[codes == k] for k in range(self.chunk[1].n_classes))
            chosen = np.unique(np.concatenate([least(self.keys, k, size) for k in of_class]))
        else:
            chosen = np.sort(least(self.keys, np.arange(len(self.keys)), size))
        return replace(
            self,
            keys=self.keys[chosen],
            places=self.places[chosen],
            chunk=_rows_of(self.chunk, chosen),
        )


def least(keys: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    """Those of some rows that have the smallest keys."""
    return rows if len(rows) <= size else rows[np.argpartition(keys[rows], size)[:size]]


def keys_of(part: int, rows: np.ndarray, seed: int = 0) -> np.ndarray:
    """A random number for each row of a part, by its place alone."""
    start = np.array([part + 1], np.uint64) + mixed(np.array([seed % 2**64], np.uint64))
    keys: np.ndarray = mixed(rows.astype(np.uint64) + mixed(start))
    return keys


@dataclass(frozen=True)
class Draw:
    """Draw rows of a part at random, without replacement: so many, or so many of each class."""

    read: Reader
    size: int
    share: float
    classes: np.ndarray | None
    skip: bool
    each_class: bool = False
    seed: int = 0

    def __call__(self, part: Part, tick: Callable[[int], None] = lambda n_bytes: None) -> Drawn:
        try:
            return self._draw(part, tick)
        except BadFileError:
            if not self.skip:
                raise
            return _nothing(part.id)  # counting meets it again, and says so

    def _draw(self, part: Part, tick: Callable[[int], None]) -> Drawn:
        limit = np.uint64(min(int(self.share * 2.0**64), 2**64 - 1))
        total, n_rows = _nothing(part.id), 0
        for X, found, weights in self.read(part, tick):
            with naming(str(part)):
                rows = np.arange(n_rows, n_rows + len(found))
                n_rows += len(found)
                keys = keys_of(part.id, rows, self.seed)
                there = np.ones(len(rows), bool) if weights is None else np.asarray(weights) != 0
                known = classes_with(found.classes, self.classes, None)[0]
                found = found.among(known, places(found.classes, known))
                counted = found.weighted(weights).tallied()
                chosen = np.flatnonzero(there & (keys <= limit))
                place = np.column_stack([np.full(len(chosen), part.id), rows[chosen]])
                chunk = _rows_of((X, found, weights), chosen) if len(chosen) else None
                more = Drawn(part.id, 0, keys[chosen], place, chunk, counted)
            total = together(total, more, self.size, self.each_class)
        return replace(total, n_rows=n_rows)


def _nothing(id: int) -> Drawn:
    return Drawn(id, 0, np.empty(0, np.uint64), np.empty((0, 2), np.int64), None, None)


def together(one: Drawn, other: Drawn, size: int, each_class: bool = False) -> Drawn:
    """The sample of the rows of both."""
    chunks = [drawn.chunk for drawn in (one, other) if drawn.chunk is not None]
    classes = [drawn.classes for drawn in (one, other) if drawn.classes is not None]
    both = Drawn(
        one.id,
        one.n_rows + other.n_rows,
        np.concatenate([one.keys, other.keys]),
        np.concatenate([one.places, other.places]),
        _stacked(chunks) if chunks else None,
        joined(classes).tallied() if classes else None,
    )
    return both.thinned(size, each_class)


def _rows_of(chunk: Chunk, rows: np.ndarray) -> Chunk:
    X, found, weights = chunk
    picked = X.take(rows) if isinstance(X, pa.Table) else X[rows]
    return picked, found.take(rows), None if weights is None else np.asarray(weights)[rows]


def _stacked(chunks: list[Chunk]) -> Chunk:
    """Chunks one below the other."""
    Xs, founds, weights = zip(*chunks, strict=True)
    if isinstance(Xs[0], pa.Table):
        X = pa.concat_tables(Xs, promote_options="permissive")
    else:
        X = np.concatenate(Xs)
    weight = None if weights[0] is None else np.concatenate(weights)
    return X, joined(list(founds)), weight
