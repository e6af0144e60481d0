"""What commands print: tables for people, JSON for machines; options that several share."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayesrule.plain_text import harmless

#: Options that mean the same wherever they appear.
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]
Output = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Target = Annotated[str, Parameter(help="The column that holds the true class.")]
Weight = Annotated[str | None, Parameter(help="A column of weights: 3 counts as the row thrice.")]
Gain = Annotated[
    str | None,
    Parameter(
        help="What each decision is worth: true:decision=number,..., JSON, or a .csv or .json file."
    ),
]
Priors = Annotated[
    str | None,
    Parameter(
        help="empirical, uniform, minimax, minimax:class=low..high, class=chance,..., JSON or a "
        ".json file, shifted:FILE for the chances in new rows."
    ),
]
Settings = Annotated[
    list[str] | None,
    Parameter(
        name="--set", negative="", help="A setting of the model, name=value; may be repeated."
    ),
]
Data = Annotated[list[str], Parameter(negative="")]
Sample = Annotated[
    int | None,
    Parameter(help="Work on so many rows, drawn at random, where there are more."),
]
Seed = Annotated[int, Parameter(help="Seed of whatever is random.")]


def say(text: str) -> None:
    """Lines of output."""
    print("\n".join(map(harmless, text.split("\n"))))


def print_json(value: Any) -> None:
    """One JSON document."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table: ruled on a terminal, aligned text in a pipe."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    numbers = [all(_is_number(row[j]) for row in rows) for j in range(len(header))]
    if console.is_terminal:
        ruled = Table(box=None, pad_edge=False, header_style="bold")
        for name, right in zip(header, numbers, strict=True):
            ruled.add_column(Text(harmless(name)), justify="right" if right else "left")
        for row in rows:
            ruled.add_row(*(Text(harmless(cell)) for cell in row))
        console.print(ruled)
        return
    lines = [
        [harmless(name) for name in header],
        *([harmless(cell) for cell in row] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, numbers, strict=True)
        print("  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in cells).rstrip())


def _is_number(value: Any) -> bool:
    try:
        float(str(value).replace(",", ""))
    except ValueError:
        return False
    return True
