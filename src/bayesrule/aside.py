"""Files that are there whole or not at all: written next to their place, then moved into it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO


def write_aside(path: str | os.PathLike[str], write: Callable[[BinaryIO], Any]) -> None:
    """Write a new file next to the old one, which it replaces when it is whole.

    Whatever fails (the disk is full, the power goes), the old file stays as it was and nothing else
    is left behind. ``path`` may be an address that fsspec opens, such as s3://.
    """
    name = os.fsdecode(path)
    with _named(name):
        if "://" in name:
            _write_elsewhere(name, write)
        else:
            _write_here(name, write)


def _write_here(path: str, write: Callable[[BinaryIO], Any]) -> None:
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {folder!r} to write into; make it first.")
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target!r} is a folder; name a file in it.")
    aside = os.path.join(folder, f".{secrets.token_hex(8)}.part")
    try:
        with open(aside, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(target, aside)
        os.replace(aside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(aside)
        raise


def _write_elsewhere(address: str, write: Callable[[BinaryIO], Any]) -> None:
    """The same in a store of fsspec; whether moving is one step is for the store to say."""
    from bayesrule.paths import elsewhere

    store, target = elsewhere(address)
    aside = f"{target.rpartition('/')[0]}/.{secrets.token_hex(8)}.part"
    try:
        with store.open(aside, "wb") as file:
            write(file)
        store.mv(aside, target)
    except BaseException:
        with suppress(OSError):
            store.rm(aside)
        raise


def _is_aside(name: str | bytes | int) -> bool:
    """Whether a name is that of an unfinished file, which says nothing to who asked for another."""
    base = os.path.basename(os.fsdecode(name)) if isinstance(name, (str, bytes)) else ""
    return base.startswith(".") and base.endswith(".part")


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Let an error of the disk say which file could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and (error.filename is None or _is_aside(error.filename)):
            error.filename, error.filename2 = path, None
        elif path not in str(error):
            error.args = (f"{path} could not be written: {error}",)
        raise
