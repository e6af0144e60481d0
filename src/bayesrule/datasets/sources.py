"""Where a set can come from: a CSV file, scikit-learn, another set, or OpenML.

Every source gives the same thing, a `Raw`: the features as an Arrow table whose columns are
float64 or text, and the labels as Python objects in our spelling. Whether they are right is for
`bayesrule.datasets.verification` to say.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

    from bayesrule.datasets.facts import Facts, Label

VARIABLE = "BAYESRULE_DATA"
TARGET = "target"


@dataclass(frozen=True)
class Raw:
    """Features and labels as a source gave them, and where that was."""

    table: pa.Table
    labels: Sequence[Label | None]
    origin: str


def local_file(name: str) -> Path | None:
    """Return the first of the data folders' ``name.csv`` or ``name.csv.gz``, if there is one."""
    for folder in folders():
        for ending in (".csv", ".csv.gz"):
            path = folder / f"{name}{ending}"
            if path.is_file():
                return path
    return None


def folders() -> list[Path]:
    """Return the folders to look in: the variable's, the source checkout's, the current one's."""
    found = []
    chosen = os.environ.get(VARIABLE)
    if chosen:
        folder = Path(chosen).expanduser()
        if not folder.is_dir():
            raise NotADirectoryError(
                f"the environment variable {VARIABLE} names {chosen!r}, which is not a folder: "
                f"set it to the folder that holds the CSV files, or unset it"
            )
        found.append(folder)
    checkout = _checkout()
    if checkout is not None:
        found.append(checkout.parent / "shared" / "data")
    found.append(Path.cwd().parent / "shared" / "data")
    return found


def _checkout() -> Path | None:
    """Return the root of the source checkout the package runs from; None once installed."""
    package = Path(__file__).resolve().parents[1]
    root = package.parents[1]
    if package.parent.name == "src" and (root / "pyproject.toml").is_file():
        return root
    return None


def from_csv(path: Path, facts: Facts) -> Raw:
    """Read a CSV file: a header row, the label in ``target``, an empty cell is a missing value."""
    import pyarrow as pa
    from pyarrow import csv

    types = {name: pa.float64() for name in facts.columns}
    types |= dict.fromkeys((*facts.text, TARGET), pa.string())
    try:
        table = csv.read_csv(
            str(path),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            # Types are given, and only an empty cell is missing: guessing would turn the texts
            # "NA", "null" or "true" into something else.
            convert_options=csv.ConvertOptions(
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"the file {path} cannot be read: {error}. Replace it by a whole copy."
        ) from error
    if table.column_names.count(TARGET) != 1:
        raise ValueError(
            f"the file {path} needs one column {TARGET!r} with the label; its columns are "
            f"{', '.join(map(repr, table.column_names))}"
        )
    labels = [_label(text, facts) for text in table[TARGET].to_pylist()]
    return Raw(table.drop_columns([TARGET]), labels, f"the file {path}")


def from_sklearn(facts: Facts) -> Raw:
    """Take a set that scikit-learn ships; needs neither a folder nor the network."""
    import sklearn.datasets

    assert facts.shipped is not None
    bunch = getattr(sklearn.datasets, facts.shipped.loader)()
    labels = [facts.shipped.labels[code] for code in bunch.target]
    table = _table(list(bunch.data.T), facts.columns)
    return Raw(table, labels, f"scikit-learn's {facts.shipped.loader}")


def from_parent(parent: Raw, facts: Facts) -> Raw:
    """Take another set's features with its labels grouped anew."""
    assert facts.derived is not None
    regroup = facts.derived.regroup
    return Raw(parent.table, [regroup(label) for label in parent.labels], parent.origin)


def fetch(data_id: int) -> Any:
    """Download a data set of OpenML; scikit-learn keeps the file, so it happens once."""
    from sklearn.datasets import fetch_openml

    # This parser needs no pandas, and keeps the spelling of categories that look like numbers.
    # One quick second try: who is offline should learn so soon.
    return fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5)


def from_openml(bunch: Any, facts: Facts) -> Raw:
    """Translate the columns, cells and labels of what `fetch` gave to ours."""
    assert facts.openml is not None
    theirs = tuple(bunch.feature_names)
    # OpenML's names differ from ours, its order of columns does not; the checksum would tell.
    names = facts.columns if len(theirs) == len(facts.columns) else theirs
    categories = bunch.categories or {}
    columns = [
        values if their not in categories else _decoded(values, categories[their], our, facts)
        for their, our, values in zip(theirs, names, bunch.data.T, strict=True)
    ]
    target = () if bunch.target is None else bunch.target
    labels = [_label(facts.openml.label(_bare(value)), facts) for value in target]
    return Raw(_table(columns, names), labels, f"OpenML data set {facts.openml.data_id}")


def _decoded(
    codes: np.ndarray, categories: Sequence[str], name: str, facts: Facts
) -> list[str | float | None]:
    """Return a coded column of OpenML as ours is: texts or numbers, None where missing."""
    assert facts.openml is not None
    values: list[str | float] = [facts.openml.cell(_bare(text)) for text in categories]
    if name not in facts.text:
        try:
            values = [float(text) for text in values]
        except ValueError as error:
            raise ValueError(
                f"OpenML data set {facts.openml.data_id} has texts in column {name!r}, where "
                f"numbers were expected: {', '.join(map(repr, categories[:5]))}"
            ) from error
    return [None if code != code else values[int(code)] for code in codes]  # NaN is not itself


def _table(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> pa.Table:
    """Build an Arrow table; NaN becomes null, the one spelling of missing from here on."""
    import pyarrow as pa

    return pa.table([pa.array(column, from_pandas=True) for column in columns], names=names)


def _bare(value: Any) -> str:
    """Return a category's text; some OpenML files keep the quotes of the ARFF format in it."""
    return f"{value:g}" if isinstance(value, float) else str(value).strip(" '\"")


def _label(text: str | None, facts: Facts) -> Label | None:
    """Return the label in the type of this set; what cannot be one stays for the check to find."""
    if text is None or not facts.integer_labels:
        return text
    try:
        return int(text)
    except ValueError:
        return text
