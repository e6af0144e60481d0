"""What files hold: looked up before a row is read, checked for agreement, and cut into parts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bayesrule.parts import BadFileError, Part, Skipped, naming
from bayesrule.paths import compression_of, format_of, known_suffix, opened, separator_of, stamp_of

#: Rows of a part, where a file can be cut: some tenths of a second of work.
PART_ROWS = 1 << 20

#: Bytes of one chunk in memory, and rows of it at most.
CHUNK_BYTES = 1 << 25
CHUNK_ROWS = 1 << 17

#: What a text takes, roughly.
TEXT_BYTES = 64

#: Bytes of text that are parsed at once.
CSV_BLOCK = 1 << 20

#: What a CSV file may write for a missing value.
MISSING = ["", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "<NA>"]


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


@dataclass(frozen=True)
class Holding:
    """What a file says of itself."""

    path: str
    schema: pa.Schema
    n_bytes: int
    group_rows: tuple[int, ...] | None = None
    stamp: str = ""


def look_into(path: str) -> Holding:
    """Read the columns, and the numbers of rows where the file tells, without reading rows."""
    with naming(path), opened(path) as file:
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
        names = held.schema.names  # which may be no text at all
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise BadFileError(path, f"has several columns named {twice[0]!r}")
    return replace(held, stamp=stamp_of(path))


def index_columns(schema: pa.Schema) -> list[str]:
    """Columns that pandas wrote to keep its index: names of rows, which say nothing of them."""
    told = (schema.metadata or {}).get(b"pandas")
    if told is None:
        return []
    # A range is kept as a record, and takes no column.
    kept = json.loads(told).get("index_columns", [])
    return [name for name in kept if isinstance(name, str) and name in schema.names]


def _csv_schema(path: str, file: Any) -> pa.Schema:
    """Types of the columns by the first rows; dates and the like are text."""
    refuse_no_text(path, file)
    try:
        with csv_reader(path, file, None) as reader:
            schema, names = reader.schema, reader.schema.names
    except UnicodeDecodeError:
        raise BadFileError(path, f"its header {NO_UTF8}") from None
    other = next((sign for sign in ";|\t" if sign in names[0]), None)
    if len(names) == 1 and other is not None:
        raise BadFileError(
            path,
            f"has one column, {names[0][:60]!r}. Values must have commas between them, not "
            f"{other!r}, and decimals a point; tabs may be there in a file that is named .tsv",
        )
    plain = ("nothing", "numbers", "text", "bool")
    return pa.schema(
        [f if kind_of_type(f.type) in plain else f.with_type(pa.string()) for f in schema]
    )


#: What files of other kinds begin with, and what to say of one that is named as if it were text.
NO_TEXT = {
    b"PK\x03\x04": "is no text, but a zip archive, as model files and spreadsheets are",
    b"PAR1": "is no text, but a Parquet file: let its name end in .parquet",
    b"ARROW1": "is no text, but an Arrow file: let its name end in .arrow",
    b"\x1f\x8b": "is no text, but compressed: let its name end in .csv.gz",
    b"\xff\xfe": "is UTF-16 text. Convert it, for example with iconv -f utf-16 -t utf-8",
    b"\xfe\xff": "is UTF-16 text. Convert it, for example with iconv -f utf-16 -t utf-8",
}

NO_UTF8 = (
    "holds bytes that are no UTF-8 text. Convert the file, for example with "
    "iconv -f latin1 -t utf-8"
)


def refuse_no_text(path: str, file: Any) -> None:
    """An error for what is no text, whatever its name says."""
    first = file.read(8)
    file.seek(0)
    for begin, problem in NO_TEXT.items():
        if first.startswith(begin) and compression_of(path) is None:
            raise BadFileError(path, problem)


class QuotedError(ValueError):
    """There is a quote in a file, and behind it a line need not be a row."""


class _Unquoted(io.RawIOBase):
    """A text file as far as there is no quote in it."""

    def __init__(self, file: Any):
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, n_bytes: int = -1) -> bytes:
        some: bytes = self._file.read(n_bytes)
        if b'"' in some:
            raise QuotedError
        return some


def csv_reader(
    path: str, file: Any, types: Mapping[str, pa.DataType] | None, lines: bool = False
) -> Any:
    """Batches of a CSV file: all columns as the first rows show them, or those with ``types``.

    ``lines`` saves the look-out for values of several lines; the reader then stops at a quote,
    without which there can be none.
    """
    compression = compression_of(path)
    if compression is not None:
        file, lines = pa.CompressedInputStream(file, compression), False  # unpacking takes longer
    if lines:
        file = pa.PythonFile(_Unquoted(file), mode="r")
    wanted = {} if types is None else {"column_types": types, "include_columns": list(types)}
    return pa.csv.open_csv(
        file,
        pa.csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK),
        pa.csv.ParseOptions(delimiter=separator_of(path), newlines_in_values=not lines),
        pa.csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            **wanted,
        ),
    )


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
        if before == "nothing" != after or (
            pa.types.is_integer(field.type) and pa.types.is_floating(now)
        ):
            schema = schema.set(i, field.with_type(now))
        elif before in ("text", "bool") and format_of(held.path) == "csv":
            continue  # all that is written can be read as text, and 0 and 1 as false and true
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
        yield Part(first_id, held.path, None, None, held.n_bytes, held.stamp)
        return
    total = sum(held.group_rows)
    start, rows = 0, 0
    for stop, more in enumerate(held.group_rows, start=1):
        rows += more
        if rows >= PART_ROWS or (stop == len(held.group_rows) and rows):
            share = held.n_bytes * rows // total
            yield Part(first_id, held.path, (start, stop), rows, share, held.stamp)
            first_id, start, rows = first_id + 1, stop, 0


def choose_columns(
    held: Holding,
    columns: Iterable[str] | None,
    target: str | list[str] | None,
    weight: str | None,
    types: Mapping[str, Any] | None = None,
    also: Iterable[str] = (),
) -> Wanted:
    """Features, target, weight and what else is wanted among the columns of the first file."""
    schema = held.schema
    several = None if target is None or isinstance(target, str) else tuple(target)
    apart = [target] if isinstance(target, str) else list(several or ())
    apart += [] if weight is None else [weight]
    if columns is None:
        others = {*apart, *index_columns(schema)}
        columns = [name for name in schema.names if name not in others]
    features = list(columns)
    if not features:
        raise ValueError("No column is left to learn from.")
    also = list(also)
    for names in ([*features, *apart], also):
        for name in names:
            if name not in schema.names:
                raise ValueError(
                    f"There is no column {name!r}; the first file has {schema.names[:20]}"
                )
            if names.count(name) > 1:
                raise ValueError(f"Column {name!r} is asked for twice, or as feature and target.")
    names = list(dict.fromkeys([*also, *features, *apart]))
    if weight is not None and kind_of_type(schema.field(weight).type) != "numbers":
        raise ValueError(f"weight={weight!r} holds {schema.field(weight).type}, not numbers.")
    fields = [schema.field(name) for name in names]
    is_csv = known_suffix(held.path) and format_of(held.path) == "csv"
    for i, field in enumerate(fields):
        if types and field.name in types:
            fields[i] = field.with_type(_as_type(types[field.name]))
        elif is_csv and field.name in features and pa.types.is_integer(field.type):
            fields[i] = field.with_type(pa.float64())  # later rows may have decimals
    known = several if several is not None else target
    return Wanted(pa.schema(fields), tuple(features), known, weight)  # type: ignore[arg-type]


def _as_type(name: Any) -> pa.DataType:
    return name if isinstance(name, pa.DataType) else pa.type_for_alias(str(name))
