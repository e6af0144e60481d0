"""A rule on paper: what decisions are worth, when which one is best, what each class looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any

import numpy as np

from bayesrule import decide
from bayesrule.addresses import levels_at
from bayesrule.cells_law import CellsLaw
from bayesrule.columns import ColumnsLaw
from bayesrule.discrete import BernoulliLaw, CategoricalLaw
from bayesrule.exporting.changes import changes_of_two
from bayesrule.exporting.program import Program
from bayesrule.gaussian_laws import BesideConstants, DiagonalGaussian, FullGaussian
from bayesrule.grids import GridCells
from bayesrule.histogram_laws import HistogramColumnsLaw
from bayesrule.partitions import NearestCentre
from bayesrule.plain_text import harmless
from bayesrule.profiled import ProfiledLaw
from bayesrule.whole import SplitLaw

#: Rows of a table that someone would read on paper.
MOST_ROWS = 500
#: Characters that Markdown could take for something else.
SPECIAL = frozenset("\\`*_{}[]()#+-.!|~>=:$@^")


@dataclass(frozen=True)
class Section:
    """A table with a title and a word about it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def plain(text: object) -> str:
    """A name as text that Markdown shows as it is: escaped, and on one line."""
    shown = harmless(text).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in SPECIAL else c for c in shown) or "&nbsp;"


def short(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"


def chance(value: float) -> str:
    """A chance in percent; never 0 % for what may happen, nor 100 % for what may not."""
    percent = 100.0 * value
    if 0 < percent < 0.1:
        return "&lt;0.1 %"
    if 99.9 < percent < 100:
        return "&gt;99.9 %"
    return f"{percent:.3g} %"


def markdown(program: Program, title: str = "Decision rule") -> str:
    """The rule as a text to print."""
    sections = [_worth(program), *_by_chance(program), *described(program.law, program)]
    blocks = [f"# {plain(title)}", _sentence(program)]
    for section in sections:
        blocks += [f"## {section.title}", *([section.note] if section.note else [])]
        if len(section.rows) > MOST_ROWS:
            blocks.append(
                f"The first {MOST_ROWS} of {len(section.rows)} rows; the others are in the same "
                "rule written as JSON, SQL or C."
            )
        if section.rows:
            blocks.append(table(section.header, section.rows[:MOST_ROWS]))
    return "\n\n".join(blocks) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already, aligned so that it reads as text too."""
    lines = [list(header), *map(list, rows)]
    widths = [max(3, *(len(line[j]) for line in lines)) for j in range(len(header))]
    left = [not all(_is_figure(row[j]) for row in rows) for j in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            c.ljust(w) if first else c.rjust(w)
            for c, w, first in zip(cells, widths, left, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    rule = [
        ("-" * w) if first else ("-" * (w - 1) + ":") for w, first in zip(widths, left, strict=True)
    ]
    return "\n".join([line(header), "| " + " | ".join(rule) + " |", *map(line, rows)])


def _is_figure(cell: str) -> bool:
    return bool(cell) and (cell[0].isdigit() or cell[0] in "-&" or cell == "…")


def _sentence(program: Program) -> str:
    names = ", ".join(plain(name) for name in program.decisions)
    n = len(program.columns)
    return (
        f"Decides among {names}, by {n} column{'' if n == 1 else 's'}: the decision of highest "
        "expected gain, the first of equals."
    )


def _worth(program: Program) -> Section:
    """Gains and priors."""
    header = ["If it is", *(plain(name) for name in program.decisions), "expected share"]
    rows = [
        [plain(name), *(short(g) for g in gains), chance(prior)]
        for name, gains, prior in zip(program.classes, program.gain, program.priors, strict=True)
    ]
    return Section("What each decision is worth", header, rows)


def _by_chance(program: Program) -> list[Section]:
    """With two classes: from which chance on which decision is best."""
    living = np.flatnonzero(program.priors > 0)
    if len(program.classes) != 2 or len(living) != 2:
        return []
    first, changes = changes_of_two((0, 1), program.priors, program.gain)
    ends = [1.0 / (1.0 + np.exp(-at)) for at, _ in changes]
    decisions = [first, *(decision for _, decision in changes)]
    name = plain(program.classes[1])
    rows = [
        [
            chance(low) if low else "0 %",
            chance(high) if high < 1 else "100 %",
            plain(program.decisions[int(d)]),
        ]
        for low, high, d in zip([0.0, *ends], [*ends, 1.0], decisions, strict=True)
    ]
    return [
        Section("When which decision is best", [f"chance of {name} from", "up to", "decide"], rows)
    ]


# ---------------------------------------------------------------------- what each class looks like


@singledispatch
def described(law: Any, program: Program, names: Sequence[str] | None = None) -> list[Section]:
    """Tables of a law: whatever it holds a number of for each class and column."""
    names = _names(program, names)
    shape = (len(program.classes), len(names))
    found = []
    for field in fields(law) if is_dataclass(law) else ():
        value = getattr(law, field.name)
        if isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind == "f":
            word = field.name.replace("_", " ")
            found.append(_of_columns(f"{word.capitalize()} of each column", names, value, program))
    return found


def _names(program: Program, names: Sequence[str] | None) -> Sequence[str]:
    if names is not None:
        return names
    known = {column.place: column.name for column in program.columns}
    return [known.get(j, f"column {j}") for j in range(program.n_columns)]


def _of_columns(title: str, names: Sequence[str], values: np.ndarray, program: Program) -> Section:
    """A row for each column, and a number for each class."""
    header = ["column", *(plain(name) for name in program.classes)]
    rows = [
        [plain(name), *(short(v) for v in column)]
        for name, column in zip(names, values.T, strict=True)
    ]
    return Section(title, header, rows)


@described.register
def _columns(
    law: ColumnsLaw, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    pairs = zip(law.laws, law.names, strict=True)
    return [section for part, mine in pairs for section in described(part, program, mine)]


@described.register
def _split(law: SplitLaw, program: Program, names: Sequence[str] | None = None) -> list[Section]:
    names = _names(program, names)
    pairs = zip(law.laws, law.columns, strict=True)
    return [s for part, at in pairs for s in described(part, program, [names[j] for j in at])]


@described.register
def _beside(
    law: BesideConstants, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    names = _names(program, names)
    return described(law.law, program, [names[j] for j in law.varying])


@described.register
def _diagonal(
    law: DiagonalGaussian, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    return [_gaussian(law.mean, np.sqrt(law.variance), _names(program, names), program)]


@described.register
def _full(law: FullGaussian, program: Program, names: Sequence[str] | None = None) -> list[Section]:
    names = _names(program, names)
    deviation = np.sqrt(np.einsum("kjj->kj", law.covariance))
    shown = np.broadcast_to(deviation, law.mean.shape)
    found = [_gaussian(law.mean, shown, names, program)]
    for k, matrix in enumerate(law.covariance):
        scale = np.sqrt(np.diag(matrix))
        of = "all classes" if len(law.covariance) == 1 else plain(program.classes[k])
        rows = [
            [plain(name), *(f"{v:.2f}" for v in row)]
            for name, row in zip(names, matrix / np.outer(scale, scale), strict=True)
        ]
        found.append(Section(f"Correlations within {of}", ["", *map(plain, names)], rows))
    return found


def _gaussian(
    mean: np.ndarray, deviation: np.ndarray, names: Sequence[str], program: Program
) -> Section:
    header = ["column", *(plain(name) for name in program.classes)]
    rows = [
        [plain(name), *(f"{short(m)} ± {short(s)}" for m, s in zip(ms, ss, strict=True))]
        for name, ms, ss in zip(names, mean.T, deviation.T, strict=True)
    ]
    return Section("Mean and standard deviation of each column", header, rows)


@described.register
def _categorical(
    law: CategoricalLaw, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    found = []
    for name, labels, known, unseen in zip(
        _names(program, names), law.categories, law.log_probability, law.log_unseen, strict=True
    ):
        rows = [
            [plain(label), *(chance(p) for p in np.exp(column))]
            for label, column in zip(labels.tolist(), known.T, strict=True)
        ]
        if (unseen < 0).any():
            rows.append(["any other", *(chance(p) for p in np.exp(unseen))])
        header = ["category", *(plain(label) for label in program.classes)]
        found.append(Section(f"How often each category of {plain(name)} is seen", header, rows))
    return found


@described.register
def _bernoulli(
    law: BernoulliLaw, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    header = ["column", *(plain(name) for name in program.classes)]
    rows = [
        [plain(name), *(chance(p) for p in np.exp(column))]
        for name, column in zip(_names(program, names), law.log_one.T, strict=True)
    ]
    return [Section(f"How often each column is above {short(law.threshold)}", header, rows)]


@described.register
def _histogram(
    law: HistogramColumnsLaw, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    found = []
    for j, (name, edges) in enumerate(zip(_names(program, names), law.edges, strict=True)):
        ends = ["…", *map(short, edges), "…"]
        rows = [
            [ends[b], ends[b + 1], *(chance(p) for p in mass)]
            for b, mass in enumerate(law.bin_masses(j))
        ]
        header = ["from", "up to", *(plain(label) for label in program.classes)]
        found.append(Section(f"How often {plain(name)} is seen where", header, rows))
    return found


@described.register
def _profiled(
    law: ProfiledLaw, program: Program, names: Sequence[str] | None = None
) -> list[Section]:
    atoms = program.decision.atom
    header, cells = regions(law.partition, _names(program, names))
    if atoms is None or names is not None:
        table_of = [
            [*cell, *(chance(p) for p in shares)]
            for cell, shares in zip(cells, law.table.T, strict=True)
        ]
        header = [*header, *(plain(name) for name in program.classes)]
        return [Section("How often each profile is seen", header, table_of)]
    chances = [expression.atom for expression in program.chances]
    rows = [
        [
            *cell,
            *(chance(c[0][t, k]) for k, c in enumerate(chances) if c is not None),
            plain(program.decisions[int(atoms[0][t, 0])]),
        ]
        for t, cell in enumerate(cells)
    ]
    header = [*header, *(f"chance of {plain(name)}" for name in program.classes), "decide"]
    return [Section("Decision table", header, rows)]


@described.register
def _cells(law: CellsLaw, program: Program, names: Sequence[str] | None = None) -> list[Section]:
    shown = _names(program, names)
    known = {column.name: column.labels for column in program.columns}
    told = [
        [*_ranges_of(cuts, known.get(name, ())), *(["missing"] if gap else [])]
        for name, cuts, gap in zip(shown, law.boundaries, law.gaps, strict=True)
    ]
    levels = levels_at(np.arange(len(law.shares)), [len(ranges) for ranges in told])
    apart = [j for j, ranges in enumerate(told) if len(ranges) > 1]
    cells = [[told[j][row[j]] for j in apart] for row in levels]
    header = [plain(shown[j]) for j in apart]
    if names is not None:
        rows = [
            [*cell, *(chance(p) for p in shares)]
            for cell, shares in zip(cells, law.shares, strict=True)
        ]
        header += [plain(name) for name in program.classes]
        return [Section("How often each cell is seen", header, rows)]
    best, _ = decide.best_decisions(law.lookup, program.priors, program.gain)
    posterior, _, _ = decide.posterior(law.lookup, program.priors)
    rows = [
        [*cell, *(chance(p) for p in chances), plain(program.decisions[d])]
        for cell, chances, d in zip(cells, posterior, best, strict=True)
    ]
    header += [*(f"chance of {plain(name)}" for name in program.classes), "decide"]
    return [Section("Decision table", header, rows)]


def _ranges_of(cuts: np.ndarray, labels: Sequence[Any]) -> list[str]:
    """The levels between boundaries; of a category, which is cut by its rank, the labels."""
    if not labels or len(cuts) == 0:
        return _ranges(cuts)
    level = np.searchsorted(cuts, np.arange(len(labels)), side="right")
    groups = [[label for label, at in zip(labels, level, strict=True) if at == n] for n in
              range(len(cuts) + 1)]  # fmt: skip
    return [", ".join(plain(label) for label in group) or "none" for group in groups]


@singledispatch
def regions(partition: Any, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Columns of text that tell one profile from another, and a row of them for each."""
    return ["profile"], [[str(t)] for t in range(partition.n_profiles)]


@regions.register
def _centres(partition: NearestCentre, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    metric, columns = partition.metric, partition.columns
    if metric.matrix.ndim != 1 or len(names) != len(columns):
        return ["profile"], [[str(t)] for t in range(partition.n_profiles)]
    scale = np.where(metric.matrix == 0, 1.0, metric.matrix)
    centres = columns / scale[:, None] + metric.shift[:, None]
    return [f"nearest to {plain(name)}" for name in names], [
        [short(v) for v in centre] for centre in centres.T
    ]


@regions.register
def _grid(partition: GridCells, names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    told = [_ranges(cuts) for cuts in partition.boundaries]
    shown = [j for j, ranges in enumerate(told) if len(ranges) > 1]
    levels = levels_at(np.arange(partition.n_profiles), [len(ranges) for ranges in told])
    header = [plain(names[j]) for j in shown]
    return header, [[told[j][row[j]] for j in shown] for row in levels]


def _ranges(cuts: np.ndarray) -> list[str]:
    """The levels between boundaries, each of which belongs to the level above it."""
    if len(cuts) == 0:
        return ["any"]
    inner = [f"{short(a)} to {short(b)}" for a, b in pairwise(cuts)]
    return [f"below {short(cuts[0])}", *inner, f"{short(cuts[-1])} or more"]
