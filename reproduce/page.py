"""A page of tables and pictures that a reproduction writes: Markdown, with what made it."""

from __future__ import annotations

import contextlib
import io
import os
import platform
import re
import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent
from typing import Any

import joblib

import bayesrule

#: Packages whose versions can move a figure.
NAMED = ("numpy", "scipy", "scikit-learn", "numba")


class Page:
    """A Markdown file and its pictures, filled from top to bottom.

    Parameters
    ----------
    folder : Path
        Where the page and its folder ``images`` are written.
    name : str
        Of the file, without its ending.
    title : str
    full : bool
        Whether this is the run that the documentation keeps.
    store : Path, default=None
        Where results of long parts are stored, so that a run can be resumed; None stores nothing.
    """

    def __init__(self, folder: Path, name: str, title: str, full: bool, store: Path | None = None):
        self.folder, self.name, self.title, self.full = folder, name, title, full
        self._store = store
        self._resumed = False
        self._parts: list[str] = []
        self._pictures = 0
        self._since = _processor_seconds()

    def heading(self, text: str) -> None:
        """A heading below the title."""
        self._parts.append(f"## {text}")
        print(f"\n{text}", flush=True)

    def text(self, markdown: str) -> None:
        """A paragraph, or several."""
        self._parts.append(dedent(markdown).strip())
        print(self._parts[-1], flush=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A table: numbers right, names left."""
        cells = [[_cell(value) for value in row] for row in rows]
        right = [all(_is_number(row[j]) for row in rows) for j in range(len(header))]
        lines = [
            "| " + " | ".join(map(_cell, header)) + " |",
            "|" + "|".join("---:" if r else "---" for r in right) + "|",
            *("| " + " | ".join(row) + " |" for row in cells),
        ]
        self._parts.append("\n".join(lines))
        widths = [max(map(len, column)) for column in zip(map(_cell, header), *cells, strict=True)]
        for row in [[_cell(name) for name in header], *cells]:
            padded = (
                c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)
            )
            print("  " + "  ".join(padded).rstrip(), flush=True)

    def picture(self, figure: Any, alt: str) -> None:
        """A picture and what it shows, in words."""
        figure.savefig(self._next_picture(alt), dpi=90)

    def keep(self, path: str, alt: str) -> None:
        """A picture that was drawn already."""
        shutil.copyfile(path, self._next_picture(alt))

    def _next_picture(self, alt: str) -> Path:
        """Where the next picture goes, which is named on the page."""
        self._pictures += 1
        path = self.folder / "images" / f"{self.name}-{self._pictures}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._parts.append(f"![{alt}](images/{path.name})")
        return path

    def transcript(self, work: Callable[[], Any], name: str | None = None) -> None:
        """What a function prints, as it prints it; under a name it is stored."""

        def said() -> str:
            lines = io.StringIO()
            with contextlib.redirect_stdout(lines):
                work()
            return lines.getvalue().strip("\n")

        found = said() if name is None else self.stored(name, said)
        self.text(f"```text\n{found}\n```")

    def stored(self, name: str, work: Callable[[], Any]) -> Any:
        """What some work gives: from the store where it is there, and into it else."""
        if self._store is None:
            return work()
        path = self._store / f"{name}.joblib"
        if path.exists():
            self._resumed = True
            return joblib.load(path)
        found = work()
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        joblib.dump(found, part)
        part.replace(path)
        return found

    def write(self) -> Path:
        """Write the file; what made it stands at its end."""
        minutes = (_processor_seconds() - self._since) / 60
        spent = "in several runs" if self._resumed else f"in {minutes:.1f} processor minutes"
        packages = ", ".join(f"{name} {version(name)}" for name in NAMED)
        made = (
            f"Made by `python -m reproduce {self.name}{' --full' if self.full else ''}` {spent} on "
            f"{os.cpu_count()} cores ({platform.machine()}), Python "
            f"{platform.python_version()}, bayesrule {bayesrule.__version__}, {packages}. Seeds "
            "are fixed in the scripts."
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}.md"
        body = "\n\n".join([f"# {self.title}", *self._parts, f"---\n\n{made}"])
        path.write_text(body + "\n", encoding="utf-8")
        return path


def _processor_seconds() -> float:
    """What this process and its children have used: the clock also tells how busy others were."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _is_number(value: Any) -> bool:
    """Whether a cell holds a number or nothing, also one that was written out."""
    if isinstance(value, str):
        return re.fullmatch(r"(?:[-+−]?[\d,.]+(?: ?%)?)?", value) is not None
    return value is None or isinstance(value, (int, float))


def _cell(value: Any) -> str:
    """What a cell shows; text cannot end it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value).replace("|", "\\|").replace("\n", " ")
