"""Database programs that exported queries are run on, where they are found."""

from __future__ import annotations

import contextlib
import csv
import getpass
import io
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayesrule.exporting.sql import identifier

#: What stands for NULL in what PostgreSQL prints.
NULL = "<no value>"
TYPES = {"d": "DOUBLE PRECISION", "t": "TEXT", "i": "BIGINT", "b": "BOOLEAN"}


def kind_of(column: Any) -> str:
    """Letter of the type of an Arrow column."""
    if pa.types.is_boolean(column.type):
        return "b"
    if pa.types.is_integer(column.type):
        return "i"
    return "d" if pa.types.is_floating(column.type) else "t"


def created(table: str, rows: pa.Table) -> str:
    """CREATE TABLE for some rows."""
    columns = (f"{identifier(name)} {TYPES[kind_of(rows[name])]}" for name in rows.column_names)
    return f"CREATE TABLE {identifier(table)} ({', '.join(columns)})"


class DuckDB:
    """DuckDB within this process."""

    def __init__(self) -> None:
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
        self.connection = duckdb.connect(config={"threads": 2})

    def load(self, table: str, rows: pa.Table) -> None:
        self.connection.execute(created(table, rows))
        self.connection.register("arrow_rows", rows)
        self.connection.execute(f"INSERT INTO {identifier(table)} SELECT * FROM arrow_rows")
        self.connection.unregister("arrow_rows")

    def run(self, query: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def close(self) -> None:
        self.connection.close()


class SQLite:
    """SQLite within this process."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        try:
            self.connection.execute("SELECT EXP(1.0), LN(2.0), POWER(2.0, 0.5)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without mathematical functions")

    def load(self, table: str, rows: pa.Table) -> None:
        self.connection.execute(created(table, rows))
        marks = ", ".join("?" * rows.num_columns)
        columns = [column.to_pylist() for column in rows.itercolumns()]
        self.connection.executemany(
            f"INSERT INTO {identifier(table)} VALUES ({marks})", zip(*columns, strict=True)
        )

    def run(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(query).fetchall()

    def close(self) -> None:
        self.connection.close()


class PostgreSQL:
    """A server of its own, in a folder of its own, that only this user can talk to."""

    def __init__(self) -> None:
        self.programs = found_programs()
        if self.programs is None:
            pytest.skip("no PostgreSQL server was found")
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        # The server refuses to run as root; the package's own user is there for it.
        self.user = "postgres" if root else getpass.getuser()
        self.prefix = ["runuser", "-u", self.user, "--"] if root else []
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        try:
            if root:
                shutil.chown(self.folder, self.user)
            data = str(self.folder / "data")
            self._call("initdb", "-D", data, "-A", "trust", "-U", "me", "-E", "UTF8", "--no-locale")
            options = f"-c listen_addresses='' -c fsync=off -k {self.folder}"
            log = str(self.folder / "log")
            self._call("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start")
        except (OSError, subprocess.CalledProcessError, LookupError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            pytest.skip(f"PostgreSQL could not be started: {error}")

    def _call(self, program: str, *arguments: str, text: str | None = None) -> str:
        command = [*self.prefix, str(self.programs / program), *arguments]
        data = None if text is None else text.encode()  # as bytes, lest ends of lines are changed
        done = subprocess.run(
            command, input=data, capture_output=True, check=False, cwd="/", timeout=300
        )
        out, err = done.stdout.decode(), done.stderr.decode(errors="replace")
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, out, err)
        return out

    def _psql(self, text: str) -> str:
        where = ["-h", str(self.folder), "-U", "me", "-d", "postgres"]
        try:
            return self._call("psql", *where, "-q", "-X", "-v", "ON_ERROR_STOP=1", text=text)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(error.stderr[:2000]) from None

    def load(self, table: str, rows: pa.Table) -> None:
        columns = [column.to_pylist() for column in rows.itercolumns()]
        lines = [",".join(map(_quoted, row)) for row in zip(*columns, strict=True)]
        path = self.folder / "rows.csv"
        path.write_bytes("\n".join([*lines, ""]).encode())
        path.chmod(0o644)
        self._psql(f"{created(table, rows)};\nCOPY {identifier(table)} FROM '{path}' (FORMAT csv);")

    def run(self, query: str) -> list[tuple[Any, ...]]:
        inner = query.rstrip().rstrip(";")
        out = self._psql(f"COPY ({inner}) TO STDOUT (FORMAT csv, NULL '{NULL}');")
        rows = csv.reader(io.StringIO(out, newline=""))
        return [tuple(None if cell == NULL else cell for cell in row) for row in rows]

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._call("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


def _quoted(value: Any) -> str:
    """A value in a CSV file, where nothing at all is NULL and "" is an empty text."""
    if value is None:
        return ""
    return '"' + (repr(value) if isinstance(value, float) else str(value)).replace('"', '""') + '"'


def found_programs() -> Path | None:
    """The folder of PostgreSQL's programs."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    known = shutil.which("pg_ctl")
    for place in [*places, *([Path(known).parent] if known else [])]:
        if all((place / name).exists() for name in ("initdb", "pg_ctl", "psql")):
            return place
    return None


ENGINES = (DuckDB, SQLite, PostgreSQL)


def decided(engine: Any, query: str, table: str, rows: pa.Table) -> np.ndarray:
    """Decisions as text, in the order of the rows; their column "row" numbers them."""
    engine.load(table, rows)
    found = np.full(len(rows), None, dtype=object)
    for row, decision in engine.run(query):
        found[int(row)] = None if decision is None else str(decision)
    return found
