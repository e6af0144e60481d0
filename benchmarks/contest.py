"""What is compared, and the one rule: no agreement, no ratio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.timing import Call, Pace, Ratio, take_turns, with_peak


@dataclass(frozen=True)
class Contest:
    """Calls that should give one answer, their data made and their models fitted where needed.

    Parameters
    ----------
    ours : callable without arguments
    differ : callable (our answer, a peer's answer) -> str
        What is wrong, in words; empty where the answers agree.
    peers : {name: callable without arguments}
    parts : {name: whole number}
        Peers that would take minutes do one part of so many, and their seconds count so often. It
        must be work that grows as the part does, such as rows that are answered one by one.
    by_hand : tuple of str
        Peers that are nobody's program, but the best that we could write of whole arrays; they
        are shown, and the goal is not about them.
    n_bytes, flops : int
        What no method can do without: bytes of rows to read and of answers to write, and additions
        and multiplications. They tell how far the machine's own limit is.
    """

    ours: Call
    differ: Callable[[Any, Any], str]
    peers: Mapping[str, Call]
    parts: Mapping[str, int] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()
    n_bytes: int = 0
    flops: int = 0

    def label(self, name: str) -> str:
        """What the table calls a peer."""
        return f"{name}, of 1 / {self.parts[name]}" if name in self.parts else name


@dataclass(frozen=True)
class Job:
    """One line of the grid: a contest for every size.

    Parameters
    ----------
    name : str
    make : callable (n) -> Contest
        Makes the data from a fixed seed.
    sizes : tuple of int
        The n of the whole run.
    quick : tuple of int
        The n of ``--quick``, which is what the page shows.
    goals : {n: ratio}
        The ratio to reach where one was set.
    tiny : int
        An n at which the tests check that the answers agree.
    why : str
        Where the time goes, for the page, should a goal not be reached.
    section : str
        What the jobs of its file are about.
    """

    name: str
    make: Callable[[int], Contest]
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    goals: Mapping[int, float] = field(default_factory=dict)
    tiny: int = 500
    why: str = ""
    section: str = ""


@dataclass(frozen=True)
class Result:
    """One row of the table: ours beside one peer, at one size. Times are medians in seconds."""

    job: str
    n: int
    peer: str
    difference: str = ""
    ratio: Ratio | None = None
    goal: float | None = None
    rounds: int = 0
    ours_seconds: float | None = None
    peer_seconds: float | None = None
    ours_megabytes: float | None = None
    peer_megabytes: float | None = None
    n_bytes: int = 0
    flops: int = 0

    @property
    def verdict(self) -> str:
        """ "differ", "ok" or "short" of the goal, or nothing where there is no goal."""
        if self.difference:
            return "differ"
        if self.goal is None or self.ratio is None:
            return ""
        return "ok" if self.ratio.median >= self.goal else "short"


def compete(
    job: Job,
    n: int,
    pace: Pace,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Result]:
    """Check that all answers agree, then time those that do; a row for each peer.

    The first calls, which may compile, serve the check and are not timed; those of the peers tell
    their memory too.
    """
    contest = job.make(n)
    ours = contest.ours()
    differences, peaks = {}, {}
    for name, call in contest.peers.items():
        theirs, peaks[name] = with_peak(call)
        differences[name] = contest.differ(ours, theirs)
        del theirs
    del ours
    for name, difference in differences.items():
        if difference:
            yield Result(job.name, n, contest.label(name), difference)
    agreed = {name: call for name, call in contest.peers.items() if not differences[name]}
    if not agreed:
        return
    # Numbered, so that no peer's name can be mistaken for ours.
    calls = dict(enumerate([contest.ours, *agreed.values()]))
    seconds = take_turns(calls, pace, clock)
    _, peak = with_peak(contest.ours)
    for i, name in enumerate(agreed, start=1):
        theirs = seconds[i] * contest.parts.get(name, 1)
        yield Result(
            job.name,
            n,
            contest.label(name),
            ratio=Ratio.of(theirs, seconds[0]),
            goal=None if name in contest.by_hand else job.goals.get(n),
            rounds=len(seconds[0]),
            ours_seconds=float(np.median(seconds[0])),
            peer_seconds=float(np.median(theirs)),
            ours_megabytes=peak,
            peer_megabytes=peaks[name],
            n_bytes=contest.n_bytes,
            flops=contest.flops,
        )
