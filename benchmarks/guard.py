"""Has anything become slower? ``python -m benchmarks.guard [pattern] [--store]``.

Every job of the grid runs at one size, in a process of its own, beside one other program, which is
the yardstick: a machine that is busy, or another one, slows both. What counts is the ratio of
processor times on one thread, of medians over rounds in which both take turns, held against the
ratio that was stored. A job fails if it is more than 1.3 times as slow as then, and is so again
whenever it is measured anew, with ever more rounds: noise passes, a slower loop stays.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.__main__ import THREAD_VARIABLES
from benchmarks.apart import apart
from benchmarks.cache import compiled_here

if TYPE_CHECKING:
    from benchmarks.contest import Job

BASELINE = Path(__file__).with_name("baseline.json")
#: How many times as slow as stored fails, and how often a job is measured before it does.
SLOWER, ATTEMPTS = 1.3, 4
#: Jobs are guarded at the largest size at which one round of both sides is over in so many seconds:
#: where there are few rows, a slower loop hides behind what Python takes.
LONGEST = 0.5


@dataclass(frozen=True)
class Stored:
    """What a job was when the baseline was made."""

    n: int
    peer: str
    ratio: float


@dataclass(frozen=True)
class Finding:
    """A job held against the baseline."""

    job: str
    stored: Stored
    ratios: tuple[float, ...]
    difference: str = ""

    @property
    def slower(self) -> float:
        """How many times as slow as stored, at best."""
        return self.stored.ratio / max(self.ratios) if self.ratios else float("inf")

    @property
    def failed(self) -> bool:
        return bool(self.difference) or self.slower > SLOWER


def ratio_of(
    job: Job, n: int, peer: str, attempt: int, clock: Callable[[], float]
) -> tuple[float, str]:
    """The ratio beside one peer, or in words how the answers differ."""
    from benchmarks.contest import compete
    from benchmarks.timing import Pace

    def make(n: int) -> Any:
        contest = job.make(n)
        return replace(contest, peers={peer: contest.peers[peer]})

    pace = Pace(seconds=0.4 * 2**attempt, least=5 + 2 * attempt, most=2000)
    (result,) = apart(lambda: list(compete(replace(job, make=make), n, pace, clock)))
    return (0.0, result.difference) if result.ratio is None else (result.ratio.median, "")


def hold(
    jobs: Sequence[Job], baseline: dict[str, Stored], clock: Callable[[], float]
) -> Iterator[Finding]:
    """Measure jobs, and those that seem slower again."""
    for job in jobs:
        stored = baseline[job.name]
        ratios: list[float] = []
        for attempt in range(ATTEMPTS):
            ratio, difference = ratio_of(job, stored.n, stored.peer, attempt, clock)
            ratios += [] if difference else [ratio]
            finding = Finding(job.name, stored, tuple(ratios), difference)
            if difference or not finding.failed:
                break
        yield finding


def measured(jobs: Sequence[Job], clock: Callable[[], float]) -> Iterator[tuple[str, Stored]]:
    """A baseline: the fastest peer at the size that suits, and the middle of three ratios."""
    from benchmarks.contest import compete
    from benchmarks.timing import Pace

    for job in jobs:
        n, peer = job.sizes[0], ""
        for size in job.sizes:
            rows = apart(lambda n=size, job=job: list(compete(job, n, Pace(0.0, 1, 1), clock)))
            fastest = min((r for r in rows if r.ratio), key=lambda r: r.peer_seconds or 0.0)
            name = fastest.peer.partition(", of 1 /")[0]
            parts = int(fastest.peer.partition(", of 1 /")[2] or 1)
            a_round = (fastest.ours_seconds or 0.0) + (fastest.peer_seconds or 0.0) / parts
            if peer and a_round > LONGEST:
                break
            n, peer = size, name
        ratios = sorted(ratio_of(job, n, peer, 0, clock)[0] for _ in range(3))
        yield job.name, Stored(n, peer, float(f"{ratios[1]:.4g}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the grid against the baseline; 1 if anything is slower."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard", description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="jobs whose name matches this")
    parser.add_argument("--store", action="store_true", help="measure a new baseline")
    parser.add_argument("--baseline", type=Path, default=BASELINE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = "1"
    os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_here(Path(__file__).parents[1])))
    from benchmarks import report
    from benchmarks.jobs import JOBS

    jobs = [
        job
        for job in JOBS
        if re.search(options.pattern, job.name, re.IGNORECASE) and not job.name.startswith("A/A")
    ]
    facts = report.machine(1)
    here = {key: facts[key] for key in ("processor", "versions")}
    whole = {}
    if options.baseline.exists():
        whole = json.loads(options.baseline.read_text(encoding="utf-8"))
    stored = {name: Stored(**row) for name, row in whole.get("jobs", {}).items()}
    if options.store:
        for name, row in measured(jobs, time.process_time):
            stored[name] = row
            print(f"{name}, n = {row.n:,}: {row.ratio:.3g}x of {row.peer}", flush=True)
        kept = {job.name: vars(stored[job.name]) for job in JOBS if job.name in stored}
        text = json.dumps({"machine": here, "jobs": kept}, indent=1) + "\n"
        options.baseline.write_text(text, encoding="utf-8")
        return 0
    guarded = [job for job in jobs if job.name in stored]
    if not guarded:
        print("No job of this name is in the baseline: --store measures one.")
        return 2
    failed = []
    for finding in hold(guarded, stored, time.process_time):
        said = finding.difference or f"{1 / finding.slower:.2f} of the stored speed"
        tried = f", measured {len(finding.ratios)} times" if len(finding.ratios) > 1 else ""
        mark = "FAILED " if finding.failed else ""
        print(f"{mark}{finding.job}, n = {finding.stored.n:,}: {said}{tried}", flush=True)
        failed += [finding] if finding.failed else []
    for key, value in whole["machine"].items():
        if value != here[key]:
            print(
                f"The baseline is of another {key}, which moves ratios: {value}; here {here[key]}"
            )
    for job in jobs:
        if job.name not in stored:
            print(f"Not in the baseline yet: {job.name}; --store measures it.")
    print(f"{len(guarded) - len(failed)} of {len(guarded)} jobs are as fast as they were.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
