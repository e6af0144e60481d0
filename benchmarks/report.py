"""Results as a table for the terminal and as JSON, and how numbers are written."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from threadpoolctl import threadpool_info

from benchmarks.agreement import OPTIMUM_TOLERANCE, PROBABILITY_TOLERANCE
from benchmarks.contest import Result
from benchmarks.figures import Figure

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
    "peak MB",
)
LEFT = ("job", "beside", "")
#: What ours stands on, and others that take part where they are installed.
OURS = ("bayesrule", "numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow")
PEERS = ("statsmodels", "KDEpy", "pykdtree", "scikit-fuzzy", "polars", "duckdb")
MODULES = {"scikit-fuzzy": "skfuzzy"}
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
            for name in (*OURS, *PEERS)
            if name in OURS or find_spec(MODULES.get(name, name))
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
    peaks = (megabytes(result.ours_megabytes), megabytes(result.peer_megabytes))
    return (
        result.job,
        f"{result.n:,}",
        time_in_words(result.ours_seconds),
        time_in_words(result.peer_seconds),
        result.peer,
        "" if ratio is None else ratio_in_words(ratio.median),
        "" if ratio is None else f"{ratio_in_words(ratio.low)}-{ratio_in_words(ratio.high)}",
        "" if result.goal is None else ratio_in_words(result.goal),
        result.verdict,
        " / ".join(peak for peak in peaks if peak),
    )


def time_in_words(seconds: float | None) -> str:
    """Seconds in the unit that suits them."""
    if seconds is None:
        return ""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def ratio_in_words(value: float) -> str:
    """A ratio to as many digits as it is worth."""
    return f"{value:.0f}x" if value >= 100 else f"{value:.2g}x" if value < 1 else f"{value:.3g}x"


def megabytes(value: float | None) -> str:
    """Megabytes, with a digit after the point where they are few."""
    return "" if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def size_in_words(value: float, unit: str) -> str:
    """A number and its unit."""
    return ratio_in_words(value) if unit == "x" else f"{value:.3g} {unit}"


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


def as_json(
    results: Sequence[Result],
    figures: Mapping[str, Sequence[Figure]],
    facts: dict[str, str],
    command: str,
) -> str:
    """All figures, unrounded."""
    rows: list[dict[str, Any]] = [asdict(r) | {"verdict": r.verdict} for r in results]
    others = {
        title: [asdict(f) | {"verdict": f.verdict} for f in some] for title, some in figures.items()
    }
    whole = {"command": command, "machine": facts, "results": rows, "figures": others}
    return json.dumps(whole, indent=1) + "\n"
