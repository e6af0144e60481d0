"""Files as parts of rows: chunks of bounded size, with the classes and weights beside them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from bayesrule.holdings import (
    NO_UTF8,
    Holding,
    QuotedError,
    Wanted,
    choose_columns,
    csv_reader,
    kind_of_type,
    plan,
)
from bayesrule.memberships import Memberships, encode_labels, read_target
from bayesrule.notices import MixedColumnWarning
from bayesrule.parts import BadFileError, Chunk, MixedColumnError, Part, Source, naming
from bayesrule.paths import find_files, format_of, opened
from bayesrule.progress import progress


def chunks(
    part: Part, wanted: Wanted, tick: Callable[[int], None] = lambda n_bytes: None
) -> Iterator[pa.Table]:
    """The rows of a part in tables of bounded size, with the wanted columns in their order.

    ``tick`` is told how many bytes of the file were used up.
    """
    with naming(str(part)), opened(part.path) as file:
        used, n_rows, chunk_rows = 0, 0, wanted.chunk_rows
        for batch in _batches(part, wanted, file):
            size = batch.num_rows
            slices = [batch.slice(start, chunk_rows) for start in range(0, size, chunk_rows)]
            del batch
            while slices:
                yield slices.pop(0)
            n_rows += size
            if part.n_rows:
                now = part.n_bytes * n_rows // part.n_rows
            else:
                now = part.n_bytes if file.closed else min(file.tell(), part.n_bytes)
            tick(now - used)
            used = now
        if part.n_rows is not None and n_rows != part.n_rows:
            raise BadFileError(str(part), f"gave {n_rows} rows, but says it has {part.n_rows}")
        if n_rows == 0:
            raise BadFileError(str(part), "has no rows")


def _batches(part: Part, wanted: Wanted, file: Any) -> Iterator[pa.Table]:
    """Rows as they come from the file."""
    names = wanted.schema.names
    match format_of(part.path), part.groups:
        case "parquet", (start, stop):
            reader = pa.parquet.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
            groups = range(start, stop)
            for batch in reader.iter_batches(wanted.chunk_rows, groups, names, use_threads=False):
                yield pa.Table.from_batches([batch]).select(names)
        case "arrow", (start, stop):
            reader = pa.ipc.open_file(file)
            for i in range(start, stop):
                batch = pa.Table.from_batches([reader.get_batch(i)]).select(names)
                batch.validate()
                yield batch
        case _:
            batches = _csv_batches(part.path, wanted, file)
            try:
                yield from _gathered(batches, wanted.chunk_rows)
            except pa.ArrowInvalid as error:
                raise _explained(error, part.path, wanted) from error


def _gathered(batches: Iterator[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Batches that fit a core's cache when they are parsed, as tables of just so many rows.

    What is learned from a first table then depends on the rows, and not on how they were parsed.
    """
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        while n_waiting >= n_rows:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, n_rows)
            waiting = table.slice(n_rows).to_batches()
            n_waiting -= n_rows
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def _csv_batches(path: str, wanted: Wanted, file: Any) -> Iterator[pa.RecordBatch]:
    """Rows of a CSV file: line by line, and with more care from where there are quotes.

    A quoted value may have several lines. To look out for them takes a fifth of the time, and
    without quotes there are none.
    """
    types = {field.name: field.type for field in wanted.schema}
    n_rows = 0
    with suppress(QuotedError), csv_reader(path, file, types, lines=True) as reader:
        for batch in reader:
            yield batch
            n_rows += batch.num_rows
        return
    with opened(path) as again, csv_reader(path, again, types) as reader:
        for batch in reader:
            known = min(n_rows, batch.num_rows)
            n_rows -= known
            if known < batch.num_rows:
                yield batch.slice(known)


Done = TypeVar("Done")


def _explained(error: Exception, path: str, wanted: Wanted) -> Exception:
    """An error of the reader of text files in the words of who wrote the file."""
    found = re.search(
        r"In CSV column #(\d+): (.*?)CSV conversion error to (\w+).*?: (.*)", str(error)
    )
    if found is None:
        return error
    with opened(path) as file, csv_reader(path, file, None) as reader:
        column = reader.schema.names[int(found[1])]
    row, kind, why = found[2].rstrip(": ").lower(), found[3], found[4]
    where = f"column {column!r}" + (f", {row}," if row else "")
    if "UTF8" in why:
        return MixedColumnError(path, f"{where} {NO_UTF8}", column, None)
    value = why.removeprefix("invalid value ")
    wider = _wider(str(wanted.schema.field(column).type), value, column == wanted.target)
    said = f"holds {value}, which is {WORDS.get(kind, 'no ' + kind)}"
    return MixedColumnError(path, f"{where} {said}", column, wider)


def _wider(now: str, value: str, labels: bool) -> str | None:
    """A type for a column that holds a value which its first rows do not show.

    Zeros and ones may turn out to be a way to write false and true; text holds anything.
    """
    match now:
        case "null":
            return "int64" if labels else "double"
        case "int64":
            return "double"
        case "double":
            return "bool" if value.strip("'").lower() in ("true", "false") else "string"
        case "bool":
            return "string"
    return None


#: What a value is that is none of a type, in plain words.
WORDS = {
    "double": "no number",
    "int64": "no whole number",
    "bool": "neither true nor false",
    "null": "no gap",
}


def with_settled_types(
    work: Callable[[Mapping[str, Any] | None], Done], types: Mapping[str, Any] | None
) -> Done:
    """Do work on files; where a text column is not what its first rows show, begin anew.

    So a column is read as the same type, however far into a file the value is that settles it.
    """
    settled = dict(types or {})
    while True:
        try:
            return work(settled or None)
        except MixedColumnError as error:
            if error.wider is None or error.column in (types or {}):
                raise
            settled[error.column] = error.wider
            if error.wider == "string":
                warnings.warn(
                    f"{error}, as its first rows are: the column is read as text. Mend the file "
                    "if that is wrong.",
                    MixedColumnWarning,
                    stacklevel=3,
                )


@dataclass(frozen=True)
class ReadFiles:
    """How workers read the parts of files."""

    wanted: Wanted

    def __call__(self, part: Part, tick: Callable[[int], None]) -> Iterator[Chunk]:
        for table in chunks(part, self.wanted, tick):
            with naming(str(part)):
                chunk = as_chunk(table, self.wanted)
            del table  # else its memory waits for the next one, which then comes from far away
            yield chunk
            del chunk


def as_chunk(table: pa.Table, wanted: Wanted) -> Chunk:
    """X, the classes and the weights among the columns of a table."""
    found = _target(table, wanted.target)
    weights = None if wanted.weight is None else _weights(table, wanted.weight)
    return table.select(wanted.features), found, weights


def _weights(table: pa.Table, name: str) -> np.ndarray:
    """The weights of some rows."""
    weights = np.asarray(table[name].to_numpy(), np.float64)
    wrong = int((~(np.isfinite(weights) & (weights >= 0))).sum())
    if wrong:
        raise ValueError(
            f"the weight {name!r} is negative, missing or infinite in {wrong} of {len(weights)} "
            "rows. Weights are numbers from zero up; zero leaves a row out."
        )
    return weights


def _target(table: pa.Table, target: str | tuple[str, ...] | None) -> Memberships:
    """Who belongs to which class; text is told apart without making an object of each row."""
    assert target is not None
    if isinstance(target, tuple):
        return read_target(table.select(target))
    column = table[target]
    if kind_of_type(column.type) != "text":
        return read_target(column.to_numpy())
    if column.null_count:
        raise ValueError(
            f"the target {target!r} is missing in {column.null_count} of {len(column)} rows. Every "
            "row needs a class: drop those rows or label them."
        )
    coded = column.dictionary_encode().combine_chunks()
    codes = coded.indices.to_numpy()
    labels = np.array(coded.dictionary.to_pylist(), dtype=object)
    there = np.flatnonzero(np.bincount(codes, minlength=len(labels)))
    classes, rank = encode_labels(labels[there])
    places = np.zeros(len(labels), np.int32)
    places[there] = rank
    return Memberships(classes, places[codes])


def source_of_files(
    paths: Any,
    target: str | list[str],
    weight: str | None = None,
    columns: Iterable[str] | None = None,
    types: Mapping[str, Any] | None = None,
    skip: bool = False,
) -> Source:
    """Look into files and cut them into parts."""
    files = find_files(paths)

    def wanted(held: Holding) -> Wanted:
        return choose_columns(held, columns, target, weight, types)

    with progress("Looking into files", total=len(files)) as meter:
        chosen, parts, skipped = plan(files, wanted, skip, meter.advance)
    one_each = weight is None and isinstance(target, str)
    return Source(parts, ReadFiles(chosen), chosen.row_bytes, one_each, skipped, str(chosen))
