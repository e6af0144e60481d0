"""Finding and opening files: paths, patterns and folders here, addresses elsewhere by fsspec."""

from __future__ import annotations

import glob
import os
from typing import Any

import pyarrow as pa
import pyarrow.fs

from bayesrule.parts import BadFileError

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
        return sorted(file for file in inside if known_suffix(file) and not _hidden(file, path))
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]  # what is not there is told when it is opened
    return sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f))


def _hidden(file: str, folder: str) -> bool:
    """Marks and unfinished files that writers leave behind."""
    inside = os.path.relpath(file, folder).split(os.sep)
    return any(name.startswith(("_", ".")) for name in inside)


def known_suffix(path: str) -> bool:
    """Whether a file's name tells its format."""
    try:
        format_of(path)
    except BadFileError:
        return False
    return True


def _remote_files(path: str) -> list[str]:
    filesystem, inside = elsewhere(path)
    names = filesystem.glob(inside) if glob.has_magic(inside) else [inside]
    if filesystem.isdir(inside):
        names = [name for name in filesystem.find(inside) if known_suffix(name)]
    return sorted(filesystem.unstrip_protocol(name) for name in names)


def elsewhere(path: str) -> tuple[Any, str]:
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


def compression_of(path: str) -> str | None:
    """How a text file is compressed, as its name tells."""
    ending = next((c for c in COMPRESSED if path.lower().endswith(c)), None)
    return None if ending is None else ending[1:].replace("gz", "gzip")


def separator_of(path: str) -> str:
    """What is between the values of a text file, as its name tells."""
    return "\t" if ".tsv" in os.path.basename(path).lower() else ","


def opened(path: str) -> Any:
    """A file that can be read at any place."""
    if "://" in path:
        filesystem, inside = elsewhere(path)
        handler = pa.fs.PyFileSystem(pa.fs.FSSpecHandler(filesystem))
        return handler.open_input_file(inside)
    return pa.OSFile(path, "rb")


def stamp_of(path: str) -> str:
    """What changes when a file does."""
    if "://" in path:
        filesystem, inside = elsewhere(path)
        return str(filesystem.ukey(inside))
    return str(os.stat(path).st_mtime_ns)
