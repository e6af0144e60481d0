"""Seconds of calls that take turns, and the memory a call needs.

A machine speeds up and slows down by the minute. Calls that take turns meet the same weather, so
the ratio of their medians holds still where each time by itself does not.
"""

from __future__ import annotations

import ctypes
import gc
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

Call = Callable[[], Any]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Pace:
    """When enough rounds were timed.

    Parameters
    ----------
    seconds : float
        Rounds go on for about this long.
    least, most : int
        Rounds at least and at most, however long they take.
    """

    seconds: float
    least: int
    most: int


FULL = Pace(seconds=5.0, least=5, most=1000)
QUICK = Pace(seconds=0.6, least=3, most=300)


def take_turns(
    calls: Mapping[Key, Call], pace: Pace, clock: Callable[[], float] = time.perf_counter
) -> dict[Key, np.ndarray]:
    """Seconds of each call in each round; a round runs every call once, in order.

    Answers are dropped outside the timed span, and the garbage collector, which would charge one
    call for what others left behind, waits.
    """
    seconds: dict[Key, list[float]] = {name: [] for name in calls}
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        opened = clock()
        for done in range(pace.most):
            if done >= pace.least and clock() - opened >= pace.seconds:
                break
            for name, call in calls.items():
                start = clock()
                answer = call()
                seconds[name].append(clock() - start)
                del answer
    finally:
        if collecting:
            gc.enable()
    return {name: np.array(values) for name, values in seconds.items()}


@dataclass(frozen=True)
class Ratio:
    """How many times as long the peer takes: of the medians, and quartiles over rounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, peer: np.ndarray, ours: np.ndarray) -> Ratio:
        """Compare seconds that were taken in the same rounds."""
        low, high = np.quantile(peer / ours, [0.25, 0.75])
        return cls(float(np.median(peer) / np.median(ours)), float(low), float(high))


def with_peak(call: Call) -> tuple[Any, float | None]:
    """A call's answer, and the megabytes it adds at its highest, the answer included.

    Asking the kernel counts what compiled code allocates too, which Python's own tracing never
    sees; where there is no Linux to ask, it is None. Memory freed earlier is given back first, or
    the call could reuse it unseen.
    """
    gc.collect()
    before = _resident_from_now_on()
    answer = call()
    if before is None:
        return answer, None
    peak = kilobytes(Path("/proc/self/status").read_text(), "VmHWM")
    return answer, max(peak - before, 0.0) / 1024


def _resident_from_now_on() -> float | None:
    """Kilobytes held now, with the high-water mark set back to them."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return kilobytes(Path("/proc/self/status").read_text(), "VmRSS")
    except (OSError, AttributeError, LookupError):
        return None


def kilobytes(status: str, field: str) -> float:
    """One figure of the kernel's report on this process."""
    found = re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)
    if found is None:
        raise LookupError(field)
    return float(found[1])
