"""`load`: find a set, check it, hand it out."""

from __future__ import annotations

import difflib
import http.client
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

from bayesrule.datasets import sources
from bayesrule.datasets.catalogue import CATALOGUE
from bayesrule.datasets.facts import Facts, Label
from bayesrule.datasets.verification import differences

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

FRAMES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set for classification.

    Attributes
    ----------
    X : DataFrame or Table
        The features, one named column each. Whole numbers without a gap are int64, other numbers
        float64, categories and texts strings; a missing cell is missing (NaN or null).
    y : numpy.ndarray of shape (n,)
        The class labels, as str; the ring counts of ``abalone`` are int.
    name : str
        What `load` was asked for.
    classes : tuple
        The distinct labels in sorted order, as a classifier's ``classes_``.
    description : str
        Source and licence, in one line.
    source : str
        Where this copy came from: a file, scikit-learn, or OpenML.
    """

    X: Any
    y: np.ndarray
    name: str
    classes: tuple[Label, ...]
    description: str
    source: str

    def __repr__(self) -> str:
        """Return name, shape and source: the rows themselves would fill the screen."""
        rows, columns = self.X.shape
        return (
            f"Dataset({self.name!r}: {rows} rows, {columns} features, "
            f"{len(self.classes)} classes, from {self.source})"
        )


def names() -> list[str]:
    """Return the names that `load` knows.

    Examples
    --------
    >>> from bayesrule import datasets
    >>> "satimage" in datasets.names()
    True
    """
    return list(CATALOGUE)


@overload
def load(
    name: str,
    *,
    frame: Literal["pandas", "polars", "pyarrow"] | None = ...,
    return_X_y: Literal[False] = ...,
    download_if_missing: bool = ...,
) -> Dataset: ...


@overload
def load(
    name: str,
    *,
    frame: Literal["pandas", "polars", "pyarrow"] | None = ...,
    return_X_y: Literal[True],
    download_if_missing: bool = ...,
) -> tuple[Any, np.ndarray]: ...


def load(
    name: str,
    *,
    frame: Literal["pandas", "polars", "pyarrow"] | None = None,
    return_X_y: bool = False,
    download_if_missing: bool = True,
) -> Dataset | tuple[Any, np.ndarray]:
    """Load a real data set and check that it is complete.

    The set is looked for, in this order, as ``<name>.csv`` or ``<name>.csv.gz`` in the folder that
    the environment variable ``BAYESRULE_DATA`` names, then in ``../shared/data`` beside a source
    checkout or the current folder; in scikit-learn, which ships iris, wine and breast_cancer_wdbc;
    and on OpenML, through scikit-learn's ``fetch_openml``, which downloads once and keeps the file
    in scikit-learn's data home. Wherever it was found, its columns, rows, class counts, missing
    cells and a checksum of its values must agree with what is known of the set.

    A CSV file has a header row, the class label in the column ``target``, and an empty cell where
    a value is missing.

    Parameters
    ----------
    name : str
        One of `names`.
    frame : {"pandas", "polars", "pyarrow"} or None, default=None
        What ``X`` is. None means pandas where it is installed, and a pyarrow Table elsewhere.
    return_X_y : bool, default=False
        Return the pair ``(X, y)`` only.
    download_if_missing : bool, default=True
        If False, never try OpenML.

    Returns
    -------
    Dataset or (X, y)
        The order of the rows is the source's for a CSV file and for scikit-learn; OpenML's copy of
        a few sets (glass, adult) has the same rows in another order.

    Raises
    ------
    ValueError
        The name is unknown, or what was found is not the set: nothing of it is handed out.
    FileNotFoundError
        The set is nowhere to be found; the message says where to put it.

    Examples
    --------
    >>> from bayesrule import datasets
    >>> X, y = datasets.load("wine", return_X_y=True)
    >>> X.shape, str(y[0])
    ((178, 13), 'cultivar_1')
    """
    facts = _facts(name)
    kind = _frame_kind(frame)
    raw = _find(name, facts, download_if_missing)
    X = _frame(raw.table.select(list(facts.columns)), kind)
    y = _label_array(raw)
    if return_X_y:
        return X, y
    return Dataset(
        X=X,
        y=y,
        name=name,
        classes=facts.classes,
        description=f"{facts.source}; {facts.licence}",
        source=raw.origin,
    )


def _facts(name: str) -> Facts:
    """Look the name up; an unknown one is answered with the nearest and the whole list."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    wanted = str(name).lower().replace("-", "_").replace(" ", "_")
    nearest = [known for known in CATALOGUE if wanted and (wanted in known or known in wanted)]
    nearest = nearest or difflib.get_close_matches(wanted, CATALOGUE, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(f"name={name!r} is no data set of ours.{hint} There are: {', '.join(names())}")


def _find(name: str, facts: Facts, download: bool) -> sources.Raw:
    """Try the sources in turn; the first that has the set must have it right."""
    path = sources.local_file(name)
    if path is not None:
        return _checked(sources.from_csv(path, facts), name, facts, "Replace it by a whole copy.")
    if facts.shipped is not None:
        return _checked(sources.from_sklearn(facts), name, facts, "Give it as a CSV file instead.")
    if facts.derived is not None:
        parent = facts.derived.parent
        try:
            raw = _find(parent, CATALOGUE[parent], download)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"the data set {name!r} was not found, nor what it can be made of: {error}"
            ) from error
        return _checked(sources.from_parent(raw, facts), name, facts, "")
    if facts.openml is None:
        raise FileNotFoundError(
            f"the data set {name!r} was not found, and cannot be downloaded: {facts.no_openml}. "
            f"{_instructions(name, facts)}"
        )
    if not download:
        raise FileNotFoundError(
            f"the data set {name!r} was not found, and download_if_missing=False forbids to fetch "
            f"it from OpenML. {_instructions(name, facts)}"
        )
    try:
        bunch = sources.fetch(facts.openml.data_id)
    # Beside network errors (OSError, HTTPException), scikit-learn raises ValueError for a wrong
    # checksum or an unknown id, and EOFError for a cached file that was cut off.
    except (OSError, http.client.HTTPException, ValueError, EOFError) as error:
        raise FileNotFoundError(
            f"the data set {name!r} was not found on this machine, and OpenML data set "
            f"{facts.openml.data_id} could not be fetched ({type(error).__name__}: {error}). "
            f"{_instructions(name, facts)}"
        ) from error
    raw = sources.from_openml(bunch, facts)
    return _checked(raw, name, facts, _instructions(name, facts))


def _checked(raw: sources.Raw, name: str, facts: Facts, remedy: str) -> sources.Raw:
    """Pass on what is right; otherwise say what differs and hand nothing out."""
    wrong = differences(raw.table, raw.labels, facts)
    if wrong:
        raise ValueError(
            f"{raw.origin} is not the data set {name!r}: {'; '.join(wrong)}. Nothing was loaded. "
            f"{remedy}".rstrip()
        )
    return raw


def _instructions(name: str, facts: Facts) -> str:
    """Say where to put which file."""
    shown = ", ".join(facts.columns[:4])
    more = f", ... ({len(facts.columns)} features)" if len(facts.columns) > 4 else ""
    return (
        f"Put {name}.csv (a header row {shown}{more} and {sources.TARGET}; {facts.rows} rows; "
        f"source: {facts.source}) into a folder, and set the environment variable "
        f"{sources.VARIABLE} to that folder."
    )


def _frame_kind(frame: str | None) -> str:
    """Settle which kind of frame to hand out, before anything is read or downloaded."""
    if frame is None:
        return "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    if frame not in FRAMES:
        raise ValueError(f"frame must be one of {', '.join(map(repr, FRAMES))} or None: {frame!r}")
    if importlib.util.find_spec(frame) is None:
        raise ImportError(f"frame={frame!r} needs {frame}, which is not installed: choose another")
    return frame


def _frame(table: pa.Table, kind: str) -> Any:
    """Turn the checked Arrow table into the asked-for kind of frame."""
    table = _whole_numbers(table)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _whole_numbers(table: pa.Table) -> pa.Table:
    """Make columns of whole numbers int64 unless a cell is missing, whatever the source was."""
    import numpy as np
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        column = table.column(position)
        if pa.types.is_floating(field.type) and column.null_count == 0:
            values = column.to_numpy()
            if np.array_equal(values, np.trunc(values)):
                table = table.set_column(position, field.name, pa.array(values.astype(np.int64)))
    return table


def _label_array(raw: sources.Raw) -> np.ndarray:
    """Return the labels as one array of str or int64."""
    import numpy as np

    return np.array(raw.labels)
