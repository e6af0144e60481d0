"""A rule as one SELECT that DuckDB, PostgreSQL and SQLite read alike.

Every number that is used more than once is a column of a common table expression, and the next
one builds on it. Names of columns and of the table are quoted identifiers, and always written with
the table they belong to (SQLite would take a misspelt one for a text); labels and categories are
text literals. No name of a model stands anywhere else, not even in a comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bayesrule.exporting.arithmetic import CannotExportError, Column
from bayesrule.exporting.program import Program
from bayesrule.exporting.sql_text import TERMS, SqlText, number

#: Columns side by side that every program takes.
WIDEST = 1500
#: Infinite numbers are beyond this.
LARGEST = "1.79e308"


def identifier(name: str) -> str:
    """A name as a quoted identifier."""
    _check_text(name)
    if not name:
        raise CannotExportError("A column or table without a name cannot be named in SQL.")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a literal."""
    _check_text(text)
    return "'" + text.replace("'", "''") + "'"


def _check_text(text: str) -> None:
    if "\0" in text:
        raise CannotExportError(f"The name {text[:40]!r} holds a zero, which no SQL text may.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CannotExportError(f"The name {text[:40]!r} is no valid Unicode text.") from None


def select(
    program: Program,
    table: str = "cases",
    *,
    schema: str | None = None,
    keep: Sequence[str] | None = None,
    decision: str = "decision",
    booleans: Sequence[str] = (),
) -> str:
    """The text of the SELECT.

    Parameters
    ----------
    program : Program
    table : str
        The table or view that holds the rows.
    schema : str or None
        Where it is.
    keep : sequence of str or None
        Columns to show beside the decision; None shows those that the model was fitted on.
    decision : str
        Name of the column with the decision.
    booleans : sequence of str
        Columns that the model reads as numbers and the table holds as BOOLEAN, which PostgreSQL
        turns into numbers only where it is told to.
    """
    columns = tuple(
        replace(c, form="flag") if c.name in booleans and c.form != "text" else c
        for c in program.columns
    )
    names = [column.name for column in columns] if keep is None else list(keep)
    if decision in names:
        raise ValueError(
            f"The table's column {decision!r} and that of the decisions would have one name: name "
            "the columns to keep, or the decision, otherwise."
        )
    where = identifier(table) if schema is None else f"{identifier(schema)}.{identifier(table)}"
    prefix = "rule_" if not table.lower().startswith("rule_") else "bayesrule_"
    text = SqlText(prefix, len(names))
    place = text.named(program.decision.write(text))
    refused = any(_refusals(column) for column in columns)
    labels = _labels(program)
    stages = text.stages({place.text, *(["refused"] if refused else [])})
    first = ", ".join(
        [
            *(f"t.{identifier(name)} AS k{i}" for i, name in enumerate(names)),
            *(f"{_value(column)} AS v{column.place}" for column in columns),
            *([f"{_refused(columns)} AS refused"] if refused else []),
        ]
    )
    kept = [f"k{i}" for i in range(len(names))]
    parts = [f"{prefix}0 AS MATERIALIZED (\n  SELECT {first}\n  FROM {where} AS t\n)"]
    for s, (carried, made, joins) in enumerate(stages, 1):
        if len(kept) + len(carried) + len(made) > WIDEST:
            raise CannotExportError(
                f"The query would have {len(kept) + len(carried) + len(made):,} columns side by "
                f"side, more than the {WIDEST:,} that databases take. Set gaps=False to refuse "
                "rows with missing values, keep fewer columns, or fit fewer."
            )
        carry = [f"s.{name}" for name in (*kept, *carried)]
        lines = ",\n    ".join([", ".join(carry), *made] if carry else made)
        joined = "".join(f"\n  LEFT JOIN {join}" for join in joins)
        parts.append(
            f"{prefix}{s} AS MATERIALIZED (\n  SELECT {lines}\n"
            f"  FROM {prefix}{s - 1} AS s{joined}\n)"
        )
    answer = f"CASE s.{place.text} {labels} END"
    if refused:
        answer = f"CASE WHEN s.refused = 0 THEN {answer} END"
    shown = [f"s.k{i} AS {identifier(name)}" for i, name in enumerate(names)]
    body = ",\n".join([*text.tables, *parts])
    final = ",\n  ".join(
        [*([", ".join(shown)] if shown else []), f"{answer} AS {identifier(decision)}"]
    )
    return f"{OPENING}WITH\n{body}\nSELECT {final}\nFROM {prefix}{len(stages)} AS s\n"


OPENING = """\
-- Decisions of highest expected gain, written by bayesrule for DuckDB, PostgreSQL and SQLite
-- (3.35 or newer, with its mathematical functions). A missing value is NULL. The decision is NULL
-- where Python would refuse the row: a value is infinite, or missing, negative or of another kind
-- where that is not allowed. Numbers of many digits are written as exact quotients, because not
-- every program reads long decimal fractions to the last bit.
"""


def _raw(column: Column) -> str:
    """A column as it is in the table."""
    return f"t.{identifier(column.name)}"


def _double(column: Column) -> str:
    """A column as a number."""
    if column.form == "flag":
        raw = _raw(column)
        return f"CASE WHEN {raw} THEN 1e0 WHEN NOT {raw} THEN 0e0 END"
    return f"CAST({_raw(column)} AS DOUBLE PRECISION)"


def _value(column: Column) -> str:
    """What the arithmetic sees of a column; NULL where there is nothing that it may see."""
    if column.form == "text":
        cases = " ".join(f"WHEN {literal(label)} THEN {c}" for c, label in enumerate(column.labels))
        known = f"CASE {_raw(column)} {cases} ELSE -1 END" if column.labels else "-1"
        return f"CASE WHEN {_raw(column)} IS NOT NULL THEN {known} END"
    x = _double(column)
    if column.form == "flag" and not column.labels:
        return x
    # A number less itself is zero, unless it is infinite or NaN.
    tests = [] if column.form == "flag" else [f"{x} - {x} = 0"]
    if column.least is not None:
        tests.append(f"{x} >= {number(column.least)}")
    if column.form == "number":
        return f"CASE WHEN {' AND '.join(tests)} THEN {x} END"
    cases = " ".join(f"WHEN {number(label)} THEN {c}" for c, label in enumerate(column.labels))
    known = f"CASE {x} {cases} ELSE -1 END" if column.labels else "-1"
    here = " AND ".join(tests) if tests else f"{_raw(column)} IS NOT NULL"
    return f"CASE WHEN {here} THEN {known} END"


def _refusals(column: Column) -> list[str]:
    """Tests that Python would refuse a row on."""
    tests = []
    if column.form in ("number", "label"):
        x = _double(column)
        tests += [f"{x} < -{LARGEST}", f"-{x} < -{LARGEST}"]
        if column.least is not None:
            tests.append(f"{x} < {number(column.least)}")
        if column.only:
            finite = f"{x} - {x} = 0"
            tests.append(
                f"({finite} AND {' AND '.join(f'{x} <> {number(v)}' for v in column.only)})"
            )
        if not column.gaps:
            tests.append(f"{x} IS NULL OR NOT {x} - {x} = 0")
    elif not column.gaps:
        tests.append(f"{_raw(column)} IS NULL")
    return tests


def _refused(columns: Sequence[Column]) -> str:
    """1 where a row is refused, else 0."""
    tests = [f"({test})" for column in columns for test in _refusals(column)]
    # Sums of a few, since programs limit how deep an expression may be.
    groups = [" OR ".join(tests[i : i + TERMS]) for i in range(0, len(tests), TERMS)]
    return " + ".join(f"CASE WHEN {group} THEN 1 ELSE 0 END" for group in groups)


def _labels(program: Program) -> str:
    """WHEN place THEN label, for each decision."""
    numbers = all(
        isinstance(label, (int, float)) and not isinstance(label, bool)
        for label in program.decision_labels
    )

    def written(label: Any, name: str) -> str:
        if not numbers:
            return literal(name)
        return str(label) if isinstance(label, int) else number(label)

    pairs = zip(program.decision_labels, program.decisions, strict=True)
    return " ".join(f"WHEN {d} THEN {written(*pair)}" for d, pair in enumerate(pairs))
