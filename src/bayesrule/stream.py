"""Files in parts of bounded size: what they hold is checked first, then read chunk by chunk.

Files are cut into *parts* (a few row groups of a Parquet file, a few record batches of an Arrow
file, or a whole CSV file) by what is in them only, never by who will read them. Results for the
same files are therefore the same bits on any number of threads, processes or machines.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.fs
import pyarrow.ipc
import pyarrow.parquet

from bayesrule.memberships import Memberships, encode_labels, read_target
from bayesrule.progress import progress

#: Rows of a part, where a file can be cut: some tenths of a second of work.
PART_ROWS = 1 << 20

#: Bytes of one chunk in memory, and rows of it at most.
CHUNK_BYTES = 1 << 25
CHUNK_ROWS = 1 << 17

#: What a text takes, roughly.
TEXT_BYTES = 64

#: Bytes of text that are parsed at once.
CSV_BLOCK = 1 << 22

#: What a CSV file may write for a missing value.
MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "<NA>"]

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "csv",
}
COMPRESSED = (".gz", ".bz2", ".zst")

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
    """

    id: int
    path: str
    groups: tuple[int, int] | None
    n_rows: int | None
    n_bytes: int

    def __str__(self) -> str:
        if self.groups is None:
            return self.path
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[1] - 1}"


@dataclass(frozen=True)
class Wanted:
    """What is read of every file.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns, as the first file has them.
    features : tuple of str
    target : str, tuple of str or None
    weight : str or None
    """

    schema: pa.Schema
    features: tuple[str, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None

    @property
    def row_bytes(self) -> int:
        """What a row takes in memory, roughly."""
        return sum(_width(field.type) for field in self.schema)

    @property
    def chunk_rows(self) -> int:
        """Rows that take a bounded amount of memory, however many columns there are."""
        return max(256, min(CHUNK_ROWS, CHUNK_BYTES // self.row_bytes))


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
    """

    parts: list[Part]
    read: Reader
    row_bytes: int
    one_each: bool
    skipped: list[Skipped]

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


def _width(kind: pa.DataType) -> int:
    """Bytes that a value takes in memory, roughly; numbers may become float64."""
    fixed = pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    return 8 if fixed else TEXT_BYTES


def kind_of_type(kind: pa.DataType) -> str:
    """What a column holds, as far as files must agree on it."""
    types = pa.types
    if types.is_dictionary(kind):
        return kind_of_type(kind.value_type)
    if types.is_null(kind):
        return "nothing"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind)


# ---------------------------------------------------------------------- finding files


def find_files(paths: Any) -> list[str]:
    """All files that paths, patterns and folders name, in order; none twice."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ValueError("No files were given: paths is empty.")
    found: list[str] = []
    for path in [os.fspath(path) for path in given]:
        some = _remote_files(path) if "://" in path else _local_files(path)
        if not some:
            raise FileNotFoundError(
                f"No file matches {path!r}. Give files, folders, or patterns such as data/*.parquet"
            )
        found += some
    distinct = list(dict.fromkeys(found))
    if len(distinct) < len(found):
        twice = next(path for i, path in enumerate(found) if path in found[:i])
        raise ValueError(f"{twice} is named twice: its rows would count twice.")
    return distinct


def _local_files(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = (os.path.join(folder, f) for folder, _, names in os.walk(path) for f in names)
        return sorted(file for file in inside if _known_suffix(file) and not _hidden(file, path))
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]  # what is not there is told when it is opened
    return sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f))


def _hidden(file: str, folder: str) -> bool:
    """Marks and unfinished files that writers leave behind."""
    inside = os.path.relpath(file, folder).split(os.sep)
    return any(name.startswith(("_", ".")) for name in inside)


def _known_suffix(path: str) -> bool:
    try:
        format_of(path)
    except BadFileError:
        return False
    return True


def _remote_files(path: str) -> list[str]:
    filesystem, inside = _fsspec(path)
    names = filesystem.glob(inside) if glob.has_magic(inside) else [inside]
    if filesystem.isdir(inside):
        names = [name for name in filesystem.find(inside) if _known_suffix(name)]
    return sorted(filesystem.unstrip_protocol(name) for name in names)


def _fsspec(path: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise ImportError(
            f"Reading {path!r} needs fsspec: pip install 'bayesrule[files]', and the package of "
            "the store (s3fs, gcsfs, adlfs)."
        ) from None
    filesystem, inside = url_to_fs(path)
    return filesystem, inside


def format_of(path: str) -> str:
    """The format that a file's name tells."""
    stem = path.lower()
    for ending in COMPRESSED:
        stem = stem.removesuffix(ending)
    found = SUFFIXES.get(os.path.splitext(stem)[1])
    if found is None or (found != "csv" and stem != path.lower()):
        raise BadFileError(
            path,
            f"its name tells no known format. Known are {', '.join(SUFFIXES)}, and CSV files "
            f"compressed as {', '.join(COMPRESSED)}",
        )
    return found


def _opened(path: str) -> Any:
    """A file that can be read at any place."""
    if "://" in path:
        filesystem, inside = _fsspec(path)
        handler = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(filesystem))
        return handler.open_input_file(inside)
    return pa.OSFile(path, "rb")


# ---------------------------------------------------------------------- what a file holds


@dataclass(frozen=True)
class Holding:
    """What a file says of itself."""

    path: str
    schema: pa.Schema
    n_bytes: int
    group_rows: tuple[int, ...] | None = None


def look_into(path: str) -> Holding:
    """Read the columns, and the numbers of rows where the file tells, without reading rows."""
    with naming(path), _opened(path) as file:
        size = file.size()
        if size == 0:
            raise BadFileError(path, "is empty")
        match format_of(path):
            case "parquet":
                meta = pa.parquet.read_metadata(file)
                rows = tuple(meta.row_group(i).num_rows for i in range(meta.num_row_groups))
                held = Holding(path, meta.schema.to_arrow_schema(), size, rows)
            case "arrow":
                schema = pa.ipc.open_file(file).schema
                # One column tells the rows without reading the others.
                first = pa.ipc.IpcReadOptions(included_fields=[0], use_threads=False)
                reader = pa.ipc.open_file(file, options=first)
                batches = range(reader.num_record_batches)
                rows = tuple(reader.get_batch(i).num_rows for i in batches)
                held = Holding(path, schema, size, rows)
            case _:
                held = Holding(path, _csv_schema(path, file), size)
        if held.group_rows is not None and sum(held.group_rows) == 0:
            raise BadFileError(path, "has no rows")
    names = held.schema.names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise BadFileError(path, f"has several columns named {twice[0]!r}")
    return held


def _csv_schema(path: str, file: Any) -> pa.Schema:
    """Types of the columns by the first rows; dates and the like are text."""
    with _csv_reader(path, file, None) as reader:
        schema = reader.schema
    plain = ("nothing", "numbers", "text", "bool")
    return pa.schema(
        [f if kind_of_type(f.type) in plain else f.with_type(pa.string()) for f in schema]
    )


def _csv_reader(path: str, file: Any, types: Mapping[str, pa.DataType] | None) -> Any:
    """Batches of a CSV file: all columns as the first rows show them, or those with ``types``."""
    compression = next((c for c in COMPRESSED if path.lower().endswith(c)), None)
    if compression is not None:
        file = pa.CompressedInputStream(file, compression[1:].replace("gz", "gzip"))
    tabs = ".tsv" in os.path.basename(path).lower()
    wanted = {} if types is None else {"column_types": types, "include_columns": list(types)}
    return pa.csv.open_csv(
        file,
        pa.csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK if types else CSV_BLOCK // 4),
        pa.csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        pa.csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            **wanted,
        ),
    )


# ---------------------------------------------------------------------- planning


def plan(
    paths: list[str],
    wanted: Callable[[Holding], Wanted],
    skip: bool,
    looked: Callable[[], None] = lambda: None,
) -> tuple[Wanted, list[Part], list[Skipped]]:
    """Look into every file, check that all hold what is wanted, and cut them into parts.

    ``wanted`` chooses among the columns of the first file that can be read.
    """
    columns: Wanted | None = None
    parts: list[Part] = []
    skipped: list[Skipped] = []
    for path in paths:
        try:
            held = look_into(path)
            if columns is None:
                columns = wanted(held)
            columns = _agreed(columns, held)
        except BadFileError as error:
            if not skip:
                raise
            skipped.append(Skipped(path, None, None, error.problem))
        else:
            parts += _cut(held, len(parts))
        looked()
    if columns is None or not parts:
        raise BadFileError(paths[0], f"none of {len(paths)} files could be read ({skipped[0]})")
    return columns, parts, skipped


def _agreed(columns: Wanted, held: Holding) -> Wanted:
    """Check a file against what is wanted; a column that was empty so far gets its type."""
    schema = columns.schema
    for i, field in enumerate(schema):
        place = held.schema.get_field_index(field.name)
        if place < 0:
            raise BadFileError(
                held.path, f"has no column {field.name!r}; it has {held.schema.names[:20]}"
            )
        now = held.schema.field(place).type
        before, after = kind_of_type(field.type), kind_of_type(now)
        if before == "nothing" != after:
            schema = schema.set(i, field.with_type(now))
        elif before == "text" and format_of(held.path) == "csv":
            continue  # whatever is written can be read as text
        elif after not in (before, "nothing"):
            raise BadFileError(
                held.path,
                f"column {field.name!r} holds {after} ({now}), but {before} ({field.type}) in the "
                "files before",
            )
    return replace(columns, schema=schema)


def _cut(held: Holding, first_id: int) -> Iterator[Part]:
    """Parts of a file: as few row groups as make up ``PART_ROWS``."""
    if held.group_rows is None:
        yield Part(first_id, held.path, None, None, held.n_bytes)
        return
    total = sum(held.group_rows)
    start, rows = 0, 0
    for stop, more in enumerate(held.group_rows, start=1):
        rows += more
        if rows >= PART_ROWS or (stop == len(held.group_rows) and rows):
            yield Part(first_id, held.path, (start, stop), rows, held.n_bytes * rows // total)
            first_id, start, rows = first_id + 1, stop, 0


def choose_columns(
    held: Holding,
    columns: Iterable[str] | None,
    target: str | list[str] | None,
    weight: str | None,
    types: Mapping[str, Any] | None = None,
) -> Wanted:
    """Features, target and weight among the columns of the first file."""
    schema = held.schema
    several = None if target is None or isinstance(target, str) else tuple(target)
    apart = [target] if isinstance(target, str) else list(several or ())
    apart += [] if weight is None else [weight]
    features = [c for c in schema.names if c not in apart] if columns is None else list(columns)
    names = [*features, *apart]
    for name in names:
        if name not in schema.names:
            raise ValueError(f"There is no column {name!r}; the first file has {schema.names[:20]}")
        if names.count(name) > 1:
            raise ValueError(f"Column {name!r} is asked for twice, or is both feature and target.")
    if not features:
        raise ValueError("No column is left to learn from.")
    if weight is not None and kind_of_type(schema.field(weight).type) != "numbers":
        raise ValueError(f"weight={weight!r} holds {schema.field(weight).type}, not numbers.")
    fields = [schema.field(name) for name in names]
    is_csv = format_of(held.path) == "csv"
    for i, field in enumerate(fields):
        if types and field.name in types:
            fields[i] = field.with_type(_as_type(types[field.name]))
        elif is_csv and field.name in features and pa.types.is_integer(field.type):
            fields[i] = field.with_type(pa.float64())  # later rows may have decimals
    known = several if several is not None else target
    return Wanted(pa.schema(fields), tuple(features), known, weight)  # type: ignore[arg-type]


def _as_type(name: Any) -> pa.DataType:
    return name if isinstance(name, pa.DataType) else pa.type_for_alias(str(name))


# ---------------------------------------------------------------------- reading


def chunks(
    part: Part, wanted: Wanted, tick: Callable[[int], None] = lambda n_bytes: None
) -> Iterator[pa.Table]:
    """The rows of a part in tables of bounded size, with the wanted columns in their order.

    ``tick`` is told how many bytes of the file were used up.
    """
    with naming(str(part)), _opened(part.path) as file:
        used, n_rows = 0, 0
        for batch in _batches(part, wanted, file):
            for start in range(0, batch.num_rows, wanted.chunk_rows):
                yield batch.slice(start, wanted.chunk_rows)
            n_rows += batch.num_rows
            if part.n_rows:
                now = part.n_bytes * n_rows // part.n_rows
            else:
                now = min(file.tell(), part.n_bytes)
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
            types = {field.name: field.type for field in wanted.schema}
            with _csv_reader(part.path, file, types) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])


@dataclass(frozen=True)
class ReadFiles:
    """How workers read the parts of files."""

    wanted: Wanted

    def __call__(self, part: Part, tick: Callable[[int], None]) -> Iterator[Chunk]:
        wanted = self.wanted
        for table in chunks(part, wanted, tick):
            with naming(str(part)):
                found = _target(table, wanted.target)
                weights = None if wanted.weight is None else table[wanted.weight].to_numpy()
            yield table.select(wanted.features), found, weights


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
    return Source(parts, ReadFiles(chosen), chosen.row_bytes, one_each, skipped)
