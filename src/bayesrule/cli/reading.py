"""Files that commands read and write."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayesrule.cli.asking import Complaint, nearest

#: Files of more bytes than this are read in parts: their rows may take ten times as much memory.
WHOLE_BYTES = 1 << 28


def check_there(path: str | Path) -> Path:
    """The path of a file that exists; a complaint with the likeliest name otherwise."""
    path = Path(path)
    if path.exists():
        return path
    try:
        near = [other.name for other in path.parent.iterdir()]
    except OSError:
        near = []
    close = difflib.get_close_matches(path.name, near, n=1, cutoff=0.6)
    hint = f" Did you mean {str(path.with_name(close[0]))!r}?" if close else ""
    raise Complaint(f"There is no file {str(path)!r}.{hint}")


def files_of(paths: Sequence[str]) -> list[str]:
    """All files that paths, patterns, folders and addresses name; a complaint where one is none."""
    from bayesrule.paths import find_files

    for path in paths:
        if "://" not in path and not glob.has_magic(path):
            check_there(path)
    try:
        return find_files(list(paths))
    except (FileNotFoundError, ValueError) as error:
        raise Complaint(str(error)) from None


def is_whole(files: Sequence[str]) -> bool:
    """Whether files are read whole: one alone, here, and not large."""
    here = len(files) == 1 and "://" not in files[0]
    return here and os.path.getsize(files[0]) <= WHOLE_BYTES


def read_rows(path: str | Path) -> Any:
    """All rows of a file, as an Arrow table."""
    path = str(check_there(path))
    import pyarrow as pa

    from bayesrule.paths import format_of, separator_of

    kind = format_of(path)
    try:
        if kind == "csv":
            from pyarrow import csv

            return csv.read_csv(
                path,
                parse_options=csv.ParseOptions(
                    delimiter=separator_of(path), newlines_in_values=True
                ),
                convert_options=csv.ConvertOptions(strings_can_be_null=True),
            )
        if kind == "parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        from pyarrow import feather

        return feather.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def check_columns(
    names: Sequence[str], path: str | Path, target: str, weight: str | None = None
) -> None:
    """A complaint with the likeliest name where a column that was asked for is not there."""
    for name, option in ((target, "--target"), (weight, "--weight")):
        if name is not None and name not in names:
            raise Complaint(f"{option} {name!r} is no column of {path}: {nearest(name, names)}")


def read_labelled(path: str | Path, target: str, weight: str | None = None) -> Any:
    """Features, labels and weights of a file."""
    from bayesrule.holdings import index_columns

    rows = read_rows(path)
    check_columns(rows.column_names, path, target, weight)
    labels = rows[target]
    if labels.null_count:
        raise ValueError(f"Column {target!r} of {path} has no label in {labels.null_count} rows.")
    weights = None if weight is None else rows[weight].to_numpy()
    apart = {target, weight, *index_columns(rows.schema)}
    X = rows.select([name for name in rows.column_names if name not in apart])
    return X, labels.to_numpy(), weights


def write_rows(rows: Any, path: Path) -> None:
    """Write an Arrow table as the ending of the name says."""
    from bayesrule.aside import write_aside

    if path.suffix == ".csv":
        from pyarrow import csv

        write_aside(path, lambda file: csv.write_csv(rows, file))
    elif path.suffix == ".parquet":
        from pyarrow import parquet

        write_aside(path, lambda file: parquet.write_table(rows, file))
    else:
        raise Complaint(f"{str(path)!r} must end in .csv or .parquet.")
