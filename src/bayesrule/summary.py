"""An evaluation in words and figures: a table to read, plain values to store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bayesrule.evaluation import Evaluation

#: Decisions beyond which a printed confusion would not fit a screen.
WIDEST_TABLE = 12


def plain_values(values: Any) -> Any:
    """Numbers and labels as plain Python values: arrays as lists, NaN as None."""
    if isinstance(values, (np.ndarray, tuple)):
        return [plain_values(value) for value in values]
    if isinstance(values, np.generic):
        values = values.item()
    if isinstance(values, float) and np.isnan(values):
        return None
    return values if isinstance(values, (str, int, float)) else str(values)


def text_names(labels: np.ndarray) -> list[str]:
    """Labels as text; in quotes where two would else look alike, as 1 and "1" do."""
    names = [str(label) for label in labels.tolist()]
    return names if len(set(names)) == len(names) else [repr(label) for label in labels.tolist()]


def summary(figures: Evaluation) -> str:
    """A few aligned lines: gain with its interval, accuracy, confusion, what each class risks."""
    gains = [figures.expected_gain, *figures.interval, figures.raw_expected_gain]
    best, low, high, raw = in_column([*gains, *figures.class_gains, *figures.class_risks])[:4]
    lines = [
        ["", "stated priors", f"{100 * figures.confidence:g} % interval", "shares of the rows"],
        ["expected gain", best, f"{low} to {high}", raw],
    ]
    if not np.isnan(figures.accuracy):
        lines.append(["accuracy", f"{figures.accuracy:.4f}", "", f"{figures.raw_accuracy:.4f}"])
    if figures.calibration:
        lines.append(["Brier score", f"{figures.brier:.4f}", "", ""])
        lines.append(["log loss", f"{figures.log_loss:.4f}", "", ""])
    title = f"Evaluation of {figures.n:,} row{'' if figures.n == 1 else 's'}"
    return "\n".join([title, *aligned(lines), "", *aligned(_class_table(figures))])


def _class_table(figures: Evaluation) -> list[list[str]]:
    """The joint confusion with what is known of each class beside it, the shares below."""
    shown = len(figures.decisions) <= WIDEST_TABLE
    names = text_names(figures.decisions) if shown else []
    header = ["P(true, decision)" if shown else "class", *names]
    n_classes = len(figures.classes)
    money = in_column([*figures.class_gains, *figures.class_risks])
    table = [[*header, "prior", "rows", "gain", "regret"]]
    for k, label in enumerate(text_names(figures.classes)):
        cells = [f"{p:.4f}" for p in figures.confusion[k]] if shown else []
        rows = f"{figures.counts[k].sum():.6g}"
        beside = [f"{figures.priors[k]:.4f}", rows, money[k], money[n_classes + k]]
        table.append([label, *cells, *beside])
    if shown:
        table.append(["share", *(f"{p:.4f}" for p in figures.shares.values()), "", "", "", ""])
    return table


def in_column(values: list[float]) -> list[str]:
    """Numbers with as many decimals as the largest of them leaves room for."""
    finite = np.abs([v for v in values if np.isfinite(v)])
    digits = int(np.floor(np.log10(finite.max()))) if finite.size and finite.max() >= 1 else 0
    return [f"{v:.{max(0, 4 - digits)}f}" for v in values]


def aligned(table: list[list[str]]) -> list[str]:
    """Rows of a table with the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            [f"  {row[0]:<{widths[0]}}"]
            + [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in table
    ]
