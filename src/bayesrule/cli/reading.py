"""Files that commands read and write."""

from __future__ import annotations

import difflib
import glob
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bayesrule.cli.asking import Complaint, nearest

#: What the rows may take in memory, roughly, where a command needs all of them at once: work on
#: them takes several times as much.
MOST_BYTES = 1 << 30


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


def load_model(path: str | Path) -> Any:
    """The classifier of a model file."""
    from bayesrule import load

    return load(check_there(path))


def files_of(paths: Sequence[str]) -> list[str]:
    """All files that paths, patterns, folders and addresses name; a complaint where one is none."""
    from bayesrule.paths import find_files

    for path in paths:
        if "://" not in path and not glob.has_magic(path):
            check_there(path)
        if path.endswith(".bayes"):
            raise Complaint(f"{path!r} is named like a model file, but data are expected.")
    try:
        return find_files(list(paths))
    except (FileNotFoundError, ValueError) as error:
        raise Complaint(str(error)) from None


def labelled_files(paths: Sequence[str], target: str, weight: str | None = None) -> list[str]:
    """The same, where the first of them has the columns that were asked for."""
    files = files_of(paths)
    check_columns(files[0], [("--target", target), *([("--weight", weight)] if weight else [])])
    return files


def check_columns(file: str, asked: Iterable[tuple[str, str]]) -> None:
    """A complaint with the likeliest name where an option names a column that is not there."""
    from bayesrule.holdings import look_into

    names = look_into(file).schema.names
    for option, name in asked:
        if name not in names:
            raise Complaint(f"{option} {name!r} is no column of {file}: {nearest(name, names)}")


def read_labelled(
    paths: Sequence[str], target: str, weight: str | None, sample: int | None, seed: int
) -> tuple[Any, Any, Any, str]:
    """Features, labels and weights of all rows, or of a sample, and a word on what they are of."""
    from bayesrule.report_passes import rows_drawn
    from bayesrule.stream import source_of_files, with_settled_types

    if sample is not None and sample < 1:
        raise Complaint(f"--sample {sample} is no number of rows: 1 or more.")
    files = labelled_files(paths, target, weight)

    def read(types: Any) -> Any:
        source = source_of_files(files, target, weight, types=types)
        if sample is None:
            _check_size(source)
        size = sum(part.n_bytes for part in source.parts) if sample is None else sample
        return rows_drawn(source, size, seed)[0]

    drawn = with_settled_types(read, None)
    (X, found, weights), _ = drawn.rows()
    told = f"{len(found):,} of {drawn.n_rows:,} rows, drawn at random" if sample else ""
    return X, found.classes[found.codes], weights, told


def _check_size(source: Any) -> None:
    """Refuse to read more at once than most machines have memory for."""
    rows = [part.n_rows for part in source.parts]
    text = sum(part.n_bytes for part in source.parts if part.n_rows is None)
    n_bytes = text + source.row_bytes * sum(n for n in rows if n is not None)
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"The rows would take about {n_bytes / 1e9:.1f} GB, and cross-validation needs all of "
            "them at once. Add --sample 100000, or as many as you like, for so many rows drawn at "
            "random."
        )


def read_rows(path: str | Path) -> Any:
    """All rows of a file, as an Arrow table of features."""
    import pyarrow as pa

    from bayesrule.holdings import choose_columns, plan
    from bayesrule.stream import chunks, with_settled_types

    path = str(check_there(path))

    def read(types: Any) -> Any:
        def wanted(held: Any) -> Any:
            return choose_columns(held, None, None, None, types)

        chosen, parts, _ = plan([path], wanted, skip=False)
        return pa.concat_tables(table for part in parts for table in chunks(part, chosen))

    return with_settled_types(read, None)


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
