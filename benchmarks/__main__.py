"""Run the grid: ``python -m benchmarks [pattern] [--quick] [--threads N]``."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cache import compiled_here

if TYPE_CHECKING:
    from benchmarks.figures import Figure

#: What tells each library how many threads to start; all are read when numpy or numba is imported.
THREAD_VARIABLES = (
    "BAYESRULE_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def positive(text: str) -> int:
    """A number of threads."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time bayesrule beside others that give the same answer.",
    )
    parser.add_argument("pattern", nargs="?", default="", help="jobs whose name matches this")
    parser.add_argument("--quick", action="store_true", help="one or two sizes a job, few rounds")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every library")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write all as a page, with what starting, files and threads cost: minutes more",
    )
    parser.add_argument(
        "--rows", type=float, default=20e6, help="rows of the files that the page tells of"
    )
    options = parser.parse_args(arguments)
    try:
        re.compile(options.pattern)
    except re.error as error:
        parser.error(f"the pattern {options.pattern!r} is no regular expression: {error}")
    for path in (options.json, options.page):
        if path is not None and not path.parent.is_dir():
            parser.error(f"there is no folder {path.parent} to write {path.name} into")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if answers differ, 2 if no job matches."""
    options = read_arguments(arguments)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(options.threads)
    # An edited loop leaves compiled code of its callers behind, and that would be timed.
    os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled_here(Path(__file__).parents[1])))
    return run(
        options,
        shlex.join(
            ["python", "-m", "benchmarks", *(sys.argv[1:] if arguments is None else arguments)]
        ),
    )


def run(options: argparse.Namespace, command: str) -> int:
    """Compete, print, write; numpy is imported here, after the threads were set."""
    from rich.console import Console

    from benchmarks import report
    from benchmarks.apart import apart
    from benchmarks.contest import compete
    from benchmarks.jobs import JOBS
    from benchmarks.limits import Limits
    from benchmarks.page import page
    from benchmarks.timing import FULL, QUICK

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    chosen = [job for job in JOBS if re.search(options.pattern, job.name, re.IGNORECASE)]
    if not chosen:
        names = "\n  ".join(job.name for job in JOBS)
        console.print(
            f"No job matches {options.pattern!r}. There are:\n  {names}",
            markup=False,
            soft_wrap=True,
        )
        return 2
    facts = report.machine(options.threads)
    results = []
    # Where there is one thread, its own clock does not see who else is computing.
    clock = time.process_time if options.threads == 1 else time.perf_counter
    with console.status("") as status:
        for job in chosen:
            for n in job.quick if options.quick else job.sizes:
                status.update(f"{job.name}, n = {n:,}")
                since = time.perf_counter()
                pace = QUICK if options.quick else FULL
                results += apart(lambda job=job, n=n, pace=pace: list(compete(job, n, pace, clock)))
                took = time.perf_counter() - since
                console.print(f"{job.name}, n = {n:,}: {took:.1f} s", style="dim", markup=False)
    console.print(report.terminal_table(results))
    for line in report.differences(results):
        console.print(line, style="bold red", markup=False, soft_wrap=True)
    console.print(*report.LEGEND, sep="\n", style="dim", markup=False)
    figures: dict[str, list[Figure]] = {}
    if options.page is not None:
        limits = Limits.measured()
        for title, measure in others(options).items():
            since = time.perf_counter()
            with console.status(title):
                figures[title] = measure()
            console.print(f"{title}: {time.perf_counter() - since:.1f} s", style="dim")
        text = page(results, chosen, figures, facts, limits, command)
        options.page.write_text(text, encoding="utf-8")
    if options.json is not None:
        text = report.as_json(results, figures, facts, command)
        options.json.write_text(text, encoding="utf-8")
    return 1 if report.differences(results) else 0


def others(options: argparse.Namespace) -> dict[str, Callable[[], list[Figure]]]:
    """How to measure what no contest of calls tells, by the headings of the page."""
    from benchmarks import files, starting, threads

    rows = int(options.rows)
    return {
        "Starting": partial(starting.figures, at_once=os.cpu_count() or 1),
        "Files": partial(files.figures, rows, rows // 4, rounds=3),
        "Threads": threads.figures,
    }


if __name__ == "__main__":
    sys.exit(main())
