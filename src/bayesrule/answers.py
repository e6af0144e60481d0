"""Decisions for files of any size: read chunk by chunk, decided, and written beside what is kept.

One file is written in the order of the rows, by this process; a folder gets a file for each part
of the rows, by whoever works on it. Either is there whole or not at all.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from bayesrule import decide
from bayesrule.aside import write_aside
from bayesrule.classifier import BayesClassifier, warn_no_support
from bayesrule.holdings import Wanted, plan
from bayesrule.parts import BadFileError, FilesRead, Part, Skipped, naming
from bayesrule.paths import find_files, known_suffix
from bayesrule.progress import progress
from bayesrule.seen import decided, seen_by, wanted_by
from bayesrule.spread import handed_out, in_order, workers
from bayesrule.stream import chunks, with_settled_types
from bayesrule.writing import table_writer

Tick = Callable[[int], None]


@dataclass(frozen=True)
class Answer:
    """What is written of a table: the kept columns, then the answers.

    Attributes
    ----------
    clf : BayesClassifier
    features : tuple of str
    kept : tuple of pyarrow.Field
    posteriors, gains : bool
        Whether they are written beside the decision.
    """

    clf: BayesClassifier
    features: tuple[str, ...]
    kept: tuple[pa.Field, ...]
    posteriors: bool
    gains: bool

    @property
    def schema(self) -> pa.Schema:
        """Columns of what is written."""
        labels = [("decision", _labels(self.clf.decisions_).type)]
        if self.posteriors:
            labels += [(f"probability_{label}", pa.float64()) for label in self.clf.classes_]
        if self.gains:
            labels += [(f"gain_{label}", pa.float64()) for label in self.clf.decisions_]
        return pa.schema([*self.kept, *(pa.field(*label) for label in labels)])

    def read(self, rows: pa.Table) -> Any:
        """The features of some rows, checked and read as the classifier was taught."""
        return self.clf._read(seen_by(self.clf, rows.select(self.features)), self.clf.density_)

    def __call__(self, rows: pa.Table) -> tuple[pa.Table, int]:
        """The answers to some rows, and how many of them no class supports."""
        clf = self.clf
        best, posterior, lost = decided(clf, self.read(rows))
        columns: list[Any] = [_labels(clf.decisions_).take(pa.array(best))]
        if self.posteriors:
            columns += list(posterior.T)
        if self.gains:
            columns += list(decide.expected_gains(posterior, clf.gain_).T)
        kept = [rows[field.name].cast(field.type) for field in self.kept]
        return pa.table([*kept, *map(pa.array, columns)], schema=self.schema), lost


def _labels(labels: np.ndarray) -> pa.Array:
    """Labels as one Arrow type; those of several kinds become text."""
    values = labels.tolist()
    if len({type(value) for value in values}) > 1:
        values = [str(value) for value in values]
    return pa.array(values)


@dataclass(frozen=True)
class Written:
    """What became of a part."""

    id: int
    n_rows: int
    lost: int = 0
    skipped: Skipped | None = None


@dataclass(frozen=True)
class Deciding:
    """How parts of files become files of answers."""

    answer: Answer
    wanted: Wanted
    skip: bool

    def sound(self, part: Part, tick: Tick) -> Skipped | None:
        """Why a part has to be left out, told before any of its rows is written."""
        if not self.skip:
            return None
        try:
            for rows in chunks(part, self.wanted, tick):
                with naming(str(part)):
                    self.answer.read(rows)
        except BadFileError as error:
            return Skipped(part.path, part.groups, part.n_rows, error.problem)
        return None

    def piece(self, item: tuple[Part, pa.Table]) -> tuple[pa.Table, int]:
        """The answers to some rows of a part."""
        part, rows = item
        with naming(str(part)):
            return self.answer(rows)

    def to_folder(self, folder: str, part: Part, tick: Tick = lambda n_bytes: None) -> Written:
        """Write a file for one part: a pure function but for that file."""
        lost = self.sound(part, tick)
        if lost is not None:
            return Written(part.id, 0, skipped=lost)
        pieces = ((part, rows) for rows in chunks(part, self.wanted, tick))
        return _write(
            os.path.join(folder, f"part-{part.id:05}.parquet"),
            self.answer.schema,
            map(self.piece, pieces),
            part.id,
        )

    def to_file(self, out: str, parts: list[Part], executor: Any, tick: Tick) -> list[Written]:
        """Write one file for all parts; reading and writing are done here, deciding elsewhere."""
        skipped = []

        def rows() -> Iterator[tuple[Part, pa.Table]]:
            for part in parts:
                bad = self.sound(part, tick)
                if bad is None:
                    yield from ((part, table) for table in chunks(part, self.wanted, tick))
                else:
                    skipped.append(Written(part.id, 0, skipped=bad))
            if len(skipped) == len(parts):
                raise nothing_left([written.skipped for written in skipped])

        with workers(executor, 2) as crew:
            if crew is None:
                return [_write(out, self.answer.schema, map(self.piece, rows())), *skipped]
            with closing(handed_out(crew, self.piece, rows())) as results:
                pieces = (crew.result(part, future) for (part, _), future in results)
                return [_write(out, self.answer.schema, pieces), *skipped]


def nothing_left(skipped: Sequence[Any]) -> BadFileError:
    """The error where every file had to be left out."""
    first = skipped[0]
    return BadFileError(first.path, f"{first.problem} (and none of the files could be read)")


def _write(
    out: str, schema: pa.Schema, pieces: Iterable[tuple[pa.Table, int]], id: int = 0
) -> Written:
    """Write answers to a file as they come."""
    total = np.zeros(2, np.int64)

    def write(file: Any) -> None:
        with table_writer(out, file, schema) as writer:
            for table, lost in pieces:
                writer.write_table(table)
                total[:] += len(table), lost

    write_aside(out, write)
    return Written(id, int(total[0]), int(total[1]))


# ---------------------------------------------------------------------- the whole


def predict_files(
    clf: BayesClassifier,
    paths: Any,
    out: Any,
    keep: Any = None,
    columns: Any = None,
    posteriors: bool = True,
    gains: bool = True,
    types: Any = None,
    executor: Any = None,
    skip: bool = False,
) -> FilesRead:
    """Decide the rows of files into a file or a folder."""
    clf._ready()
    out = os.fspath(out)
    files = find_files(paths)
    if os.path.realpath(out) in {os.path.realpath(path) for path in files}:
        raise ValueError(f"{out} is one of the files that are read. Write into another one.")
    asked = clf, files, out, keep, columns, posteriors, gains, executor, skip
    return with_settled_types(partial(_decide, *asked), types)


def _decide(
    clf: BayesClassifier,
    files: list[str],
    out: str,
    keep: Any,
    columns: Any,
    posteriors: bool,
    gains: bool,
    executor: Any,
    skip: bool,
    types: Any,
) -> FilesRead:
    """Decide the rows of files, some of whose columns are of stated types."""
    choose = partial(wanted_by, clf, columns=columns, keep=keep, types=types)
    with progress("Looking into files", total=len(files)) as meter:
        chosen, parts, skipped = plan(files, choose, skip, meter.advance)
    kept = chosen.schema if keep is None else [chosen.schema.field(name) for name in keep]
    answer = Answer(
        clf,
        chosen.features,
        tuple(map(_plain, kept)),
        posteriors,
        gains,
    )
    names = answer.schema.names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"{twice[0]!r} is the name of a column that is kept and of one with answers. Say which "
            "columns to keep: keep=[...]."
        )
    deciding = Deciding(answer, chosen, skip)
    n_bytes = sum(part.n_bytes for part in parts)
    with progress("Deciding", total=n_bytes * (1 + skip)) as bar:
        if known_suffix(out):
            written = deciding.to_file(out, parts, executor, bar.advance)
        else:
            written = _to_new_folder(deciding, out, parts, executor, bar.advance)
    n_rows, lost = (sum(getattr(part, name) for part in written) for name in ("n_rows", "lost"))
    warn_no_support(lost, n_rows)
    skipped += [part.skipped for part in written if part.skipped is not None]
    return FilesRead.of(parts, n_rows, (f"decided {n_rows} rows",), skipped)


def _to_new_folder(
    deciding: Deciding, out: str, parts: list[Part], executor: Any, tick: Tick
) -> list[Written]:
    """A folder of files that gets its name when it is whole."""
    if "://" in out:
        raise ValueError(f"{out!r}: a folder is written on disks only. Name a .parquet file.")
    if os.path.exists(out) and (not os.path.isdir(out) or os.listdir(out)):
        raise FileExistsError(f"{out!r} is there already. Name a new folder, or a .parquet file.")
    target = os.path.realpath(out)
    aside = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    try:
        os.mkdir(aside)
        work = partial(deciding.to_folder, aside)
        written = [found for _, found in in_order(work, parts, executor, tick)]
        if not any(found.skipped is None for found in written):
            raise nothing_left([found.skipped for found in written])
        os.replace(aside, target)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if isinstance(error, OSError):  # let it name the folder that was asked for
            error.filename = str(error.filename or target).replace(aside, target)
        raise
    return written


def _plain(field: pa.Field) -> pa.Field:
    """A column as it is written: values themselves, no codes, which differ from file to file."""
    kind = field.type
    return field.with_type(kind.value_type) if pa.types.is_dictionary(kind) else field
