"""What a long fit has done so far, in a file, so that a run that was killed can go on.

The file is a zip archive of JSON and arrays like a model file: reading it runs no code. It is
rewritten as parts are done, as often as costs a tenth of the time at most, each time aside and
renamed, and it goes away when the fit is over. The sums in it are those of the uninterrupted fit,
so going on gives the same bits.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from bayesrule.archive import Archive, write_archive
from bayesrule.aside import write_aside
from bayesrule.codec import Decoder, Encoder
from bayesrule.density import Density, Prepared, Rule, same_state
from bayesrule.drawing import Drawn
from bayesrule.known import Known
from bayesrule.memberships import Memberships
from bayesrule.parts import Skipped, Source
from bayesrule.stored import STORED, check_statistics
from bayesrule.strict_json import parse_document, write_document

FORMAT = "bayesrule checkpoint"

#: Writing takes one part in so many of the time at most.
SHARE = 10


@dataclass(frozen=True)
class Stand:
    """How far a fit has come.

    Attributes
    ----------
    parts : tuple of tuple
        What tells the parts of the rows from others.
    stage : {"draw", "count"}
    done : int
        Parts that this stage is done with.
    n_rows : int
    sums : tuple of (int, state)
        The tree of what they gave.
    lost : tuple of Skipped
    drawn : Drawn or None
        The whole sample, once it is drawn.
    rule : Rule or None
        What the density was prepared for.
    prepared : Prepared or None
        What it learned, where that is not the density itself.
    """

    parts: tuple[Any, ...]
    stage: str = "draw"
    done: int = 0
    n_rows: int = 0
    sums: tuple[Any, ...] = ()
    lost: tuple[Skipped, ...] = ()
    drawn: Drawn | None = None
    rule: Rule | None = None
    prepared: Any = None


#: The types of a checkpoint.
KEPT = {
    **STORED,
    **{kind.__name__: Known(kind) for kind in (Stand, Drawn, Skipped, Memberships)},
}


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one of another fit."""


class Checkpoint:
    """The file of one fit; without a path, nothing is kept.

    Parameters
    ----------
    path : str, path or None
    density : Density
    source : Source
    n_features : int
        Zero for texts.
    asked : tuple
        All else that the sums depend on.
    """

    def __init__(
        self,
        path: Any,
        density: Density,
        source: Source,
        n_features: int,
        asked: tuple[Any, ...],
    ):
        self.path = "" if path is None else os.fsdecode(path)
        self.stand = Stand(tuple((p.path, p.groups, p.n_rows, p.stamp) for p in source.parts))
        if not self.path:
            return
        self._density, self._n_features = density, n_features
        self._job = _job(density, (*asked, n_features))
        self._written = self.stand
        self._free_at = 0.0
        if os.path.realpath(self.path) in {os.path.realpath(part.path) for part in source.parts}:
            raise ValueError(
                f"checkpoint={self.path!r} is one of the files that are read. Name a new one."
            )
        if os.path.exists(self.path):
            self.stand = self._written = self._read()

    def done(self, stage: str) -> int:
        """Parts that a stage was done with when the fit began."""
        if self.stand.stage == stage:
            return self.stand.done
        return len(self.stand.parts) if stage == "draw" else 0

    def prepared_for(self, rule: Rule) -> Prepared | None:
        """The prepared density, where the fit has come so far."""
        stand = self.stand
        if stand.stage == "draw":
            return None
        if self._density.uses_rule and not same_state(stand.rule, rule):
            raise CheckpointError(self._other())
        return self._density if stand.prepared is None else stand.prepared

    def begin_counting(self, prepared: Prepared, rule: Rule, drawn: Drawn | None) -> None:
        """Keep what counting needs; no part is counted so far."""
        if self.path:
            learned = None if prepared is self._density else prepared
            parts = self.stand.parts
            self.stand = Stand(parts, "count", drawn=drawn, rule=rule, prepared=learned)
            self.write()

    def note(self, **changes: Any) -> None:
        """Keep how far the fit has come, if that was not done just now."""
        if not self.path:
            return
        self.stand = replace(self.stand, **changes)
        if time.monotonic() >= self._free_at:
            self.write()

    @contextmanager
    def kept(self) -> Iterator[Checkpoint]:
        """Write down where the work was when it fails; forget it when it is done."""
        try:
            yield self
        except BaseException:
            if self.path:
                self.write()
            raise
        if self.path:
            with suppress(FileNotFoundError):
                os.unlink(self.path)

    def write(self) -> None:
        """Write the file, unless it says the same already."""
        if self.stand is self._written:
            return
        since = time.monotonic()
        stand = replace(self.stand, sums=tuple((k, _packed(s)) for k, s in self.stand.sums))
        stand = replace(stand, drawn=_packed(stand.drawn))
        encoder = Encoder(KEPT)
        content = {"format": FORMAT, "fit": self._job}
        document = write_document({**content, "stand": encoder.encode(stand, "the checkpoint")})
        write_aside(self.path, lambda file: write_archive(file, document, encoder.arrays))
        self._written = self.stand
        now = time.monotonic()
        self._free_at = now + (SHARE - 1) * (now - since)

    def _read(self) -> Stand:
        """How far the fit has come, as its file says."""
        try:
            with open(self.path, "rb") as file:
                archive = Archive(file, os.fstat(file.fileno()).st_size)
                top = parse_document(archive.document())
                if not isinstance(top, dict) or top.get("format") != FORMAT:
                    raise ValueError("it does not say that it is one")
                other = top["fit"] != self._job
                stand = None
                if not other:
                    stand = Decoder(KEPT, archive.array, archive.n_arrays).decode(top["stand"])
                    stand = self._sound(stand)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise CheckpointError(
                f"{self.path!r} is no checkpoint, or damaged: {error}. Delete it to start anew."
            ) from error
        if stand is None or not _same_parts(stand, self.stand.parts):
            raise CheckpointError(self._other())
        return stand

    def _other(self) -> str:
        return (
            f"{self.path!r} is the checkpoint of another fit: of other settings, by another "
            "version, or of files that have changed since. Delete it to start anew, or name "
            "another."
        )

    def _sound(self, stand: Any) -> Stand:
        """The stand, its sums checked like those of a model file."""
        if not isinstance(stand, Stand) or stand.stage not in ("draw", "count"):
            raise ValueError("it does not say how far the fit has come")
        sums = tuple((int(level), _unpacked(state)) for level, state in stand.sums)
        if stand.stage == "count":
            prepared = self._density if stand.prepared is None else stand.prepared
            for _, state in sums:
                whole = replace(state, density=self._density, prepared=prepared)
                check_statistics(whole, self._n_features)
        return replace(stand, sums=sums, drawn=_unpacked(stand.drawn))


def _job(density: Density, asked: tuple[Any, ...]) -> str:
    """A number for all that the sums depend on, but for the files."""
    with suppress(PackageNotFoundError):  # a new version may count in another order
        asked = (*asked, version("bayesrule"))
    encoder = Encoder(KEPT)
    try:
        content = encoder.encode([density, *asked], "the fit")
    except TypeError as error:
        raise TypeError(f"checkpoint= cannot keep {density}: {error}") from None
    said = write_document({"fit": content})
    return hashlib.sha256(b"".join([said, *(a.tobytes() for a in encoder.arrays)])).hexdigest()


def _same_parts(stand: Stand, now: tuple[Any, ...]) -> bool:
    """Whether the parts are those of the stand; those that are yet to be read may have changed."""
    read = stand.done if stand.drawn is None else len(now)
    if [part[:3] for part in stand.parts] != [part[:3] for part in now]:
        return False
    return all(was == part for was, part in zip(stand.parts[:read], now[:read], strict=True))


def _packed(state: Any) -> Any:
    """A state as plain arrays: a sample may hold rows of any type."""
    if not isinstance(state, Drawn) or state.chunk is None:
        return state
    X, *others = state.chunk
    if not isinstance(X, pa.Table):
        return state
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, X.schema) as writer:
        writer.write_table(X)
    return replace(state, chunk=(np.frombuffer(sink.getvalue(), np.uint8), *others))


def _unpacked(state: Any) -> Any:
    """A state from plain arrays."""
    if not isinstance(state, Drawn) or state.chunk is None:
        return state
    X, *others = state.chunk
    if X.dtype != np.uint8 or X.ndim != 1:
        return state
    with pa.ipc.open_stream(pa.py_buffer(X)) as reader:
        return replace(state, chunk=(reader.read_all(), *others))
