"""How long a search may take, and what it has found on the way."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stage:
    """What a stage of a search found.

    Attributes
    ----------
    what : str
    rows : int
        Rows it looked at.
    cells : int
        Cells of the rule.
    worth : float
        The objective per row: minus the Brier score, or the gain.
    seconds : float
        Since the start of the search.
    tried : int
        Single moves that were tried so far, in a search that makes such.
    """

    what: str
    rows: int
    cells: int
    worth: float
    seconds: float
    tried: int = 0


@dataclass
class Stopwatch:
    """The time since the start, the limit, and the stages so far.

    Parameters
    ----------
    limit : float or None
        Seconds; None is no limit.
    meter : Meter or None
        A progress bar.
    """

    limit: float | None = None
    meter: Any = None
    stages: list[Stage] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    stopped: bool = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    @property
    def over(self) -> bool:
        """Whether to end with what there is; asked after every step of the search."""
        if self.meter is not None:
            self.meter.advance(1.0, self.stages[-1].what if self.stages else "")
        if self.limit is not None and self.seconds >= self.limit:
            self.stopped = True
        return self.stopped

    def note(self, what: str, rows: int, cells: int, worth: float, tried: int = 0) -> None:
        """A stage has ended."""
        self.stages.append(Stage(what, rows, cells, worth, self.seconds, tried))
