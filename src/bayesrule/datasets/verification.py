"""Is this really the set it claims to be? Counts, missing cells and one checksum.

The checksum of a set with columns j = 1..d and classes k = 1..K (in sorted order) is

    sum over j and k of  j * k * s_jk,

where s_jk is the sum of column j over the rows of class k or, when the column is text, the number
of distinct texts there plus the number of their characters over all rows. It does not depend on
the order of the rows, and notices swapped columns, labels moved between rows, rescaled, rounded or
filled-in values.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from bayesrule.datasets.facts import Facts, Label

# The sums are exact before one rounding, so equal cells give equal checksums; the slack is for
# decimal texts that were written by another program.
RELATIVE_SLACK = 1e-12


def differences(table: pa.Table, labels: Sequence[Label | None], facts: Facts) -> list[str]:
    """List in words what differs from the catalogue; an empty list means it is the set."""
    import pyarrow.compute as pc

    wrong_columns = _wrong_columns(table.column_names, facts.columns)
    if wrong_columns:
        return wrong_columns
    found = []
    if table.num_rows != facts.rows:
        found.append(f"{table.num_rows} rows instead of {facts.rows}")
    counts = Counter(labels)
    true_counts: Counter[Label | None] = Counter(facts.counts)
    for label in sorted({*counts, *true_counts}, key=str):
        if counts[label] != true_counts[label]:
            found.append(
                f"class {label!r} has {counts[label]} rows instead of {true_counts[label]}"
            )
    for column in facts.columns:
        # A file may spell a number "nan", which Arrow reads as a value of its own.
        missing = pc.sum(table[column].is_null(nan_is_null=True)).as_py()
        expected = facts.missing.get(column, 0)
        if missing != expected:
            found.append(f"column {column!r} has {missing} missing cells instead of {expected}")
    if not found:
        value = checksum(table, labels, facts)
        if not math.isclose(value, facts.checksum, rel_tol=RELATIVE_SLACK):
            found.append(
                f"all counts are right but some values are not (checksum {value!r} instead of "
                f"{facts.checksum!r})"
            )
    return found


def checksum(table: pa.Table, labels: Sequence[Label | None], facts: Facts) -> float:
    """Sum every cell, weighted by the numbers of its column and of its row's class."""
    import numpy as np

    order: dict[Label | None, int] = {label: k for k, label in enumerate(facts.classes)}
    codes = np.array([order[label] for label in labels])
    terms: list[float] = []
    for j, name in enumerate(facts.columns, start=1):
        if name in facts.text:
            values = np.array(table[name].to_pylist(), dtype=object)
            for k in range(len(order)):
                texts = [text for text in values[codes == k] if text is not None]
                size = len(set(texts)) + sum(map(len, texts))
                terms.append(float(j * (k + 1) * size))
        else:
            numbers = table[name].to_numpy()
            weighted = j * (codes + 1) * numbers
            terms.extend(weighted[~np.isnan(numbers)].tolist())
    return math.fsum(terms)


def _wrong_columns(found: Sequence[str], expected: Sequence[str]) -> list[str]:
    """Say which feature columns are missing, unknown or repeated."""
    if sorted(found) == sorted(expected):
        return []
    said = [f"{len(found)} features instead of {len(expected)}"]
    for word, names in (
        ("missing", [name for name in expected if name not in found]),
        ("unexpected", [name for name in found if name not in expected]),
        ("repeated", [name for name, times in Counter(found).items() if times > 1]),
    ):
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            said.append(f"{word} columns {', '.join(map(repr, names[:5]))}{more}")
    return said
