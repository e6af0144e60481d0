"""Run the grid: ``python -m benchmarks [pattern] [--quick] [--threads N]``."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

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
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every library")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table as a page")
    options = parser.parse_args(arguments)
    try:
        re.compile(options.pattern)
    except re.error as error:
        parser.error(f"the pattern {options.pattern!r} is no regular expression: {error}")
    for path in (options.json, options.markdown):
        if path is not None and not path.parent.is_dir():
            parser.error(f"there is no folder {path.parent} to write {path.name} into")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if answers differ, 2 if no job matches."""
    options = read_arguments(arguments)
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(options.threads)
    # An edited kernel leaves compiled code of its callers behind, and that would be timed. In an
    # empty folder everything is compiled anew, which is also what the first calls should show.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("NUMBA_CACHE_DIR", folder)
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
    from benchmarks.contest import compete
    from benchmarks.jobs import JOBS
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
    with console.status("") as status:
        for job in chosen:
            for n in job.quick if options.quick else job.sizes:
                status.update(f"{job.name}, n = {n:,}")
                results += compete(job, n, QUICK if options.quick else FULL)
    console.print(report.terminal_table(results))
    for line in report.differences(results):
        console.print(line, style="bold red", markup=False, soft_wrap=True)
    console.print(*report.LEGEND, sep="\n", style="dim", markup=False)
    for path, write in ((options.json, report.as_json), (options.markdown, report.markdown)):
        if path is not None:
            path.write_text(write(results, facts, command), encoding="utf-8")
    return 1 if report.differences(results) else 0


if __name__ == "__main__":
    sys.exit(main())
