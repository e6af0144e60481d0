"""Tables into files, of the format that the file's name tells."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bayesrule.paths import compression_of, format_of, separator_of


def table_writer(out: str, file: Any, schema: pa.Schema) -> Any:
    """A writer of the format that a file's name tells."""
    match format_of(out):
        case "parquet":
            return pa.parquet.ParquetWriter(file, schema)
        case "arrow":
            return pa.ipc.new_file(file, schema)
        case _:
            options = pa.csv.WriteOptions(delimiter=separator_of(out))
            make = partial(pa.csv.CSVWriter, schema=schema, write_options=options)
            codec = compression_of(out)
            if codec is None:
                return make(file)
            return _Compressed(pa.CompressedOutputStream(_StaysOpen(file), codec), make)


class _StaysOpen(io.RawIOBase):
    """A file that its writer does not close."""

    def __init__(self, file: Any):
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return int(self._file.write(data))


class _Compressed:
    """A writer into a compressed stream, whose end belongs to the file."""

    def __init__(self, stream: Any, make: Callable[[Any], Any]):
        self._stream, self._writer = stream, make(stream)

    def __enter__(self) -> Any:
        return self._writer

    def __exit__(self, *raised: Any) -> None:
        self._writer.close()
        self._stream.close()
