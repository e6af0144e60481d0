"""What cells compute, told as arithmetic: levels, an address, and a table to look it up in.

A missing value sums the cells of all levels of its column. These sums are cells of their own in
the table that leaves Python: each column that may lack its value gets one level more.
"""

from __future__ import annotations

from math import prod

import numpy as np

from bayesrule.addresses import levels_at, strides
from bayesrule.cells import FittedCells
from bayesrule.cells_law import CellsLaw
from bayesrule.exporting.arithmetic import (
    NOTHING,
    All,
    CannotExportError,
    Compared,
    Expression,
    Level,
    Lookup,
    Number,
    Shared,
)
from bayesrule.exporting.formulas import Scores, formulas, read
from bayesrule.exporting.rows import Entry, Row
from bayesrule.exporting.terms import increasing, total
from bayesrule.tables import Table

#: Cells of a table that can be written out, those of missing values included.
MOST_CELLS = 100_000


@read.register
def _cells(prepared: FittedCells, law: CellsLaw, row: Row) -> Scores:
    row = row.reading(gaps=True)
    if prepared.encoding is None:
        return formulas(law, row)
    entries = []
    for j, (entry, labels) in enumerate(
        zip(row.entries, prepared.encoding.categories, strict=True)
    ):
        entries.append(entry if labels is None else _rank(row.narrow([j]).categories([labels])))
    return formulas(law, Row(tuple(entries)))


def _rank(row: Row) -> Entry:
    """A category by its rank; one that was not there before counts as missing."""
    (entry,) = row.entries
    known = Compared(">", entry.value, Number(-0.5))
    there = known if entry.there is None else All((entry.there, known))
    return Entry(entry.value, there, entry.column)


@formulas.register
def _law(law: CellsLaw, row: Row) -> Scores:
    told = [
        _representatives(cuts, gap or (entry.there is not None and len(cuts) > 0))
        for entry, cuts, gap in zip(row.entries, law.boundaries, law.gaps, strict=True)
    ]
    shape = [len(values) for values in told]
    n_cells = prod(shape)
    if n_cells > MOST_CELLS:
        raise CannotExportError(
            f"The table of {prod(law.shape):,} cells has {n_cells:,} with those of missing values, "
            f"more than the {MOST_CELLS:,} that can be written out. Set gaps=False to refuse rows "
            "with missing values, or fit fewer cells."
        )
    levels = levels_at(np.arange(n_cells), shape)
    rows = np.column_stack([values[levels[:, j]] for j, values in enumerate(told)])
    logs = law(Table(rows, missing=bool(np.isnan(rows).any())))
    table = np.maximum(logs, NOTHING)
    parts: list[Expression] = []
    for entry, cuts, n_levels, step in zip(
        row.entries, law.boundaries, shape, strides(shape), strict=True
    ):
        if n_levels > 1:
            level = Level(entry.value, increasing(cuts))
            parts.append(entry.unless_missing(level, n_levels - 1.0) * float(step))
    place = Shared(total(parts))
    return [Lookup(table, place, k) if known else None for k, known in enumerate(law.seen)]


def _representatives(cuts: np.ndarray, gaps: bool) -> np.ndarray:
    """A value of each level, a missing one for the last where there may be gaps."""
    lowest = [np.nextafter(cuts[0], -np.inf)] if len(cuts) else [0.0]
    return np.array([*lowest, *cuts, *([np.nan] if gaps else [])])
