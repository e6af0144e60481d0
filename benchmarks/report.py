"""Results as a table for the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from threadpoolctl import threadpool_info

from benchmarks.agreement import OPTIMUM_TOLERANCE, PROBABILITY_TOLERANCE
from benchmarks.contest import Result

COLUMNS = (
    "job",
    "n",
    "ours",
    "peer",
    "beside",
    "ratio",
    "quartiles",
    "goal",
    "",
    "first call",
    "peak MB",
)
LEFT = ("job", "beside", "")
COLOURS = {"ok": "green", "short": "yellow", "differ": "bold red"}

LEGEND = (
    "n: rows (atoms of the minimax problem); m columns, K classes; float64 and integer labels "
    "where nothing else is said.",
    "ratio: median time of the peer over median time of ours, in rounds in which both take turns; "
    "above 1, ours is faster.",
    "quartiles: of the ratios of the single rounds. The jobs A/A run a peer beside itself: what "
    "they stray from 1 is the noise of the machine.",
    "A ratio is given only where both answers agree: decisions equal up to ties, probabilities to "
    f"{PROBABILITY_TOLERANCE:.0e}, optima to {OPTIMUM_TOLERANCE:.0e}. All calls are public ones, "
    "checks of the input included.",
    "of 1 / p: the peer was timed on one part of p of the work, and its seconds multiplied by p.",
    "first call: ours, timed apart, with compilation where this run had not needed that loop "
    "before.",
    "peak MB, ours / peer: resident memory that a call adds at its highest, its answer included; "
    "from a run of its own.",
)


def machine(threads: int) -> dict[str, str]:
    """What the numbers depend on besides the code."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "threads": str(threads),
        "versions": ", ".join(
            f"{name} {_version(name)}"
            for name in ("bayesrule", "numpy", "scipy", "scikit-learn", "numba", "pandas")
        ),
        "linear algebra": ", ".join(
            sorted(
                {
                    f"{pool['internal_api']} {pool['version']} (threads: {pool['num_threads']})"
                    for pool in threadpool_info()
                    if pool["user_api"] == "blas"
                }
            )
        ),
    }
    if hasattr(os, "getloadavg"):
        # More than the threads of this run: somebody else was computing too.
        facts["load, last minute"] = f"{os.getloadavg()[0]:.1f}"
    return facts


def _processor() -> str:
    """The model of the processor."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # run from the sources without an install
        return "(not installed)"


def cells(result: Result) -> tuple[str, ...]:
    """One row of the table, a string for each of ``COLUMNS``."""
    ratio = result.ratio
    peaks = (_megabytes(result.ours_megabytes), _megabytes(result.peer_megabytes))
    return (
        result.job,
        f"{result.n:,}",
        _time(result.ours_seconds),
        _time(result.peer_seconds),
        result.peer,
        "" if ratio is None else _ratio(ratio.median),
        "" if ratio is None else f"{_ratio(ratio.low)}-{_ratio(ratio.high)}",
        "" if result.goal is None else _ratio(result.goal),
        result.verdict,
        _time(result.ours_first_call),
        " / ".join(peak for peak in peaks if peak),
    )


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _ratio(value: float) -> str:
    return f"{value:.0f}x" if value >= 100 else f"{value:.2g}x" if value < 1 else f"{value:.3g}x"


def _megabytes(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def differences(results: Sequence[Result]) -> list[str]:
    """A sentence for each peer whose answer was another."""
    return [f"{r.job}, n = {r.n:,}, {r.peer}: {r.difference}" for r in results if r.difference]


def terminal_table(results: Sequence[Result]) -> Table:
    """The table in colours."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in LEFT else "right", no_wrap=name != "job")
    before = None
    for result in results:
        # A job is named once; its other sizes and peers stand below.
        shown = ("" if result.job == before else result.job, *cells(result)[1:])
        before = result.job
        style = COLOURS.get(result.verdict, "")
        table.add_row(
            *(Text(s, style if c == "" else "") for c, s in zip(COLUMNS, shown, strict=True))
        )
    return table


def markdown(results: Sequence[Result], facts: dict[str, str], command: str) -> str:
    """The page that is kept beside the code."""
    lines = ["# Speed beside scikit-learn and scipy", "", f"Written by `{command}`.", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += ["", f"| {' | '.join(COLUMNS)} |"]
    lines += [f"|{'|'.join(':--' if name in LEFT else '--:' for name in COLUMNS)}|"]
    for result in results:
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells(result))} |"]
    if wrong := differences(results):
        lines += ["", "**Answers that differ:**", "", *(f"- {line}" for line in wrong)]
    lines += ["", *(f"- {line}" for line in LEGEND), ""]
    return "\n".join(lines)


def as_json(results: Sequence[Result], facts: dict[str, str], command: str) -> str:
    """All figures, unrounded."""
    rows: list[dict[str, Any]] = [asdict(r) | {"verdict": r.verdict} for r in results]
    return json.dumps({"command": command, "machine": facts, "results": rows}, indent=1) + "\n"
