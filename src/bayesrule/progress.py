"""One progress bar for whatever takes long: it shows itself after two seconds, on a terminal only.

What runs in a pipe, a log file or a worker stays quiet, and so does what is soon over.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Seconds of silence before the bar appears.
PATIENCE = 2.0


class Meter:
    """What long work reports to. Any thread may call it.

    Parameters
    ----------
    what : str
        The work, in a word or two.
    total : float or None
        How much there is to do; None where nobody knows.
    """

    def __init__(self, what: str, total: float | None = None):
        self.what = what
        self.total = total
        self.done = 0.0
        self._since = time.monotonic()
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None
        self._shown = _wanted()

    def advance(self, amount: float = 1.0, note: str = "") -> None:
        """Say that so much more is done, and, where that helps, what is being done."""
        with self._lock:
            self.done += amount
            if not self._shown:
                return
            if self._bar is None and time.monotonic() - self._since >= PATIENCE:
                self._open()
            if self._bar is not None:
                self._bar.update(self._task, completed=self.done, note=note)

    def _open(self) -> None:
        from rich.console import Console
        from rich.errors import LiveError
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False)]
        if self.total is None:
            columns.insert(0, SpinnerColumn())
        else:
            columns += [BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
        note = TextColumn("{task.fields[note]}", style="dim", markup=False)
        screen = Console(stderr=True, force_terminal=True)
        bar = Progress(*columns, note, console=screen, transient=True)
        try:
            bar.start()
        except LiveError:  # somebody else's display is on the screen: leave it alone
            self._shown = False
            return
        self._task = bar.add_task(self.what, total=self.total, note="")
        self._bar = bar

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._shown = False
            if self._bar is not None:
                self._bar.stop()
                self._bar = None


def _wanted() -> bool:
    """Whether somebody watches: ``BAYESRULE_PROGRESS`` (0 or 1) says so, else the terminal."""
    setting = os.environ.get("BAYESRULE_PROGRESS", "")
    if setting in ("0", "1"):
        return setting == "1"
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress(what: str, total: float | None = None) -> Iterator[Meter]:
    """Show how far some work is, should it take long.

    Examples
    --------
    >>> with progress("adding up", total=3) as meter:
    ...     for i in range(3):
    ...         meter.advance()
    >>> meter.done
    3.0
    """
    meter = Meter(what, total)
    try:
        yield meter
    finally:
        meter.close()
