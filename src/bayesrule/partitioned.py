"""Collections of Dask as parts of rows: every partition, or block of rows, is one part.

What computes them is Dask: the client that is given or is there, and its schedulers else. A
partition stays on the machine where it was computed, and only what it adds is sent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bayesrule.holdings import Holding, Wanted, choose_columns
from bayesrule.memberships import read_target
from bayesrule.parts import Chunk, Part, Source, naming
from bayesrule.stream import as_chunk


def is_collection(rows: Any) -> bool:
    """Whether rows are a collection of Dask, told without importing Dask."""
    return hasattr(rows, "__dask_graph__") and hasattr(rows, "compute")


def default_client() -> Any:
    """The Dask client that is there, None without one."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.default_client()
    except ValueError:
        return None


@dataclass(frozen=True)
class ReadPartitions:
    """How workers read the partitions of a frame whose columns have names."""

    wanted: Wanted

    def __call__(self, part: Part, tick: Callable[[int], None]) -> Iterator[Chunk]:
        with naming(str(part)):
            table = _arrow(_computed(part)).select(self.wanted.schema.names)
        for start in range(0, len(table), self.wanted.chunk_rows):
            with naming(str(part)):
                chunk = as_chunk(table.slice(start, self.wanted.chunk_rows), self.wanted)
            yield chunk
        tick(part.n_bytes)


@dataclass(frozen=True)
class ReadBlocks:
    """How workers read blocks of X, y and weights that lie side by side."""

    chunk_rows: int

    def __call__(self, part: Part, tick: Callable[[int], None]) -> Iterator[Chunk]:
        with naming(str(part)):
            X, y, weights = _computed(part)
            if len({len(X), len(y), len(X if weights is None else weights)}) > 1:
                raise ValueError("its X, y and weights have different numbers of rows")
            X = _arrow(X) if hasattr(X, "columns") else np.asarray(X)
        for start in range(0, len(X), self.chunk_rows):
            some = slice(start, start + self.chunk_rows)
            with naming(str(part)):
                found = read_target(y[some])
            yield X[some], found, None if weights is None else np.asarray(weights[some])
        tick(part.n_bytes)


def _computed(part: Part) -> Any:
    """The rows of a part, which Dask may have computed already."""
    return part.rows.compute() if is_collection(part.rows) else part.rows


def _arrow(frame: Any) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def source_of_collection(
    rows: Any, target: Any, weight: Any = None, columns: Any = None, types: Any = None
) -> Source:
    """The parts of a Dask frame with its target among the columns, or of X, y and weights."""
    if types is not None:
        raise ValueError("types= is for CSV files; a Dask collection knows its types.")
    if not is_collection(target):
        return _named_columns(rows, target, weight, columns)
    if columns is not None and hasattr(rows, "columns"):
        rows = rows[list(columns)]
    elif columns is not None:
        raise ValueError("columns= names columns of a frame, but X is an array.")
    if weight is not None and not is_collection(weight):
        raise TypeError(f"weight={weight!r} must be a Dask collection where target is one.")
    beside = [rows, target] if weight is None else [rows, target, weight]
    blocks = [_blocks(one, rows) for one in beside]
    if len({len(block) for block in blocks}) > 1:
        raise ValueError(
            f"X, y and weights have {[len(block) for block in blocks]} partitions. Give them the "
            "same: y.rechunk, or repartition."
        )
    from dask.delayed import delayed

    together = delayed(_three, pure=True)
    parts = [together(*block) for block in zip(*blocks, strict=True)]
    n_columns = rows.shape[1]
    read = ReadBlocks(max(256, min(1 << 17, (1 << 25) // (8 * n_columns))))
    one_each = weight is None and len(target.shape) == 1
    asked = f"{type(rows).__name__} {n_columns} {getattr(rows, 'dtype', '')}"
    return Source(_parts(rows, parts, "block"), read, 8 * n_columns, one_each, [], asked)


def _named_columns(rows: Any, target: Any, weight: Any, columns: Any) -> Source:
    """The partitions of a frame."""
    if not hasattr(rows, "to_delayed") or not hasattr(rows, "columns"):
        raise TypeError(
            f"target={target!r} names a column, but {type(rows).__name__} has no names. Give a "
            "Dask array of labels as target, or a Dask frame."
        )
    meta = pa.Schema.from_pandas(rows._meta, preserve_index=False)
    wanted = choose_columns(Holding("the Dask frame", meta, 0), columns, target, weight)
    rows = rows[wanted.schema.names]
    one_each = weight is None and isinstance(target, str)
    parts = _parts(rows, rows.to_delayed(), "partition")
    return Source(parts, ReadPartitions(wanted), wanted.row_bytes, one_each, [], str(wanted))


def _blocks(beside: Any, rows: Any) -> list[Any]:
    """Partitions, or blocks of whole rows that are cut as those of X are."""
    if not hasattr(beside, "to_delayed"):
        raise TypeError(f"{type(beside).__name__} is no Dask array, frame or series.")
    if hasattr(beside, "rechunk"):
        cut: dict[int, Any] = dict.fromkeys(range(1, beside.ndim), -1)
        sizes = getattr(rows, "chunks", [()])[0]
        if len(beside) == len(rows) if sizes and not np.isnan(sum(sizes)) else False:
            cut[0] = sizes
        beside = beside.rechunk(cut)
    return list(np.asarray(beside.to_delayed(), dtype=object).ravel())


def _three(X: Any, y: Any, weights: Any = None) -> tuple[Any, Any, Any]:
    return X, y, weights


def _parts(rows: Any, delayed: list[Any], what: str) -> list[Part]:
    """One part for each piece; how many rows it has is known of some arrays only."""
    sizes = rows.chunks[0] if hasattr(rows, "chunks") else [np.nan] * len(delayed)
    parts = []
    for i, (piece, n) in enumerate(zip(delayed, sizes, strict=True)):
        n_rows = None if np.isnan(n) else int(n)
        name = f"{what} {i} of the Dask collection"
        parts.append(Part(i, name, None, n_rows, 1, str(piece.key), piece))
    return parts
