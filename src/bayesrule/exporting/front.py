"""One door to all the forms that a rule can take outside of Python."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bayesrule.aside import write_aside
from bayesrule.classifier import BayesClassifier
from bayesrule.exporting.arithmetic import CannotExportError
from bayesrule.exporting.c_header import c_header
from bayesrule.exporting.json_document import json_text
from bayesrule.exporting.markdown import markdown
from bayesrule.exporting.onnx_graph import onnx_bytes
from bayesrule.exporting.program import Program, program_of
from bayesrule.exporting.sql import select

#: What writes each form, and the ending of its files.
FORMS: dict[str, tuple[Callable[..., str | bytes], str]] = {
    "sql": (select, ".sql"),
    "c": (c_header, ".h"),
    "json": (json_text, ".json"),
    "markdown": (markdown, ".md"),
    "onnx": (onnx_bytes, ".onnx"),
}
#: Operations that a program may have: compilers and databases take minutes over more.
MOST_OPERATIONS = 200_000
#: Calls within calls that writing an expression may take.
DEEPEST = 20_000


def export(
    clf: BayesClassifier,
    form: str | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    gaps: bool = True,
    **settings: Any,
) -> str | bytes:
    """Write a fitted rule in another language, where it decides as it does here.

    Naive Bayes over columns of any kind, Gaussian families, histograms and profiles can leave
    Python; what cannot says so before anything is written.

    Parameters
    ----------
    clf : fitted BayesClassifier
    form : {"sql", "c", "json", "markdown", "onnx"} or None
        ``"sql"``: one SELECT for DuckDB, PostgreSQL and SQLite. ``"c"``: a C99 header without
        dependencies. ``"json"``: a documented program (:mod:`bayesrule.exporting.json_document`).
        ``"markdown"``: the decision table on paper. ``"onnx"``: a graph of plain operators
        (:mod:`bayesrule.exporting.onnx_graph`). None goes by the ending of ``path``: .sql, .h,
        .json, .md or .onnx.
    path : str or path, default=None
        Where to write it.
    gaps : bool, default=True
        Whether rows with missing values are decided, where the density can integrate them out.
        Without, they are refused, which keeps correlated Gaussians short.
    **settings
        Of the form. ``"sql"``: ``table``, ``schema``, ``keep`` (columns to show beside the
        decision), ``decision`` (its column's name) and ``booleans`` (columns that the table holds
        as BOOLEAN and the model reads as numbers). ``"c"``: ``name``, which its functions begin
        with. ``"markdown"``: ``title``. ``"onnx"``: ``dtype``, "float64" or "float32".

    Returns
    -------
    str, or bytes of an ONNX file

    Notes
    -----
    Decisions are Python's, except where the expected gains of two decisions are equal to within
    the rounding of their sums (a few units in the fifteenth digit): there the last bit decides,
    and programs round differently. Cells and hard profiles have no such rounding. In ONNX with
    "float32" rows and sums have seven digits: a value within them of a boundary may fall beyond it.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, CellProfiles, Profiled, export
    >>> X, y = [[0.0], [1.0], [1.2], [9.0], [9.1], [8.0]], ["low"] * 3 + ["high"] * 3
    >>> clf = BayesClassifier(Profiled(CellProfiles(boundaries=[[5.0]]))).fit(X, y)
    >>> print(export(clf, "markdown").partition("## Decision table")[2].strip())
    | x0        | chance of high | chance of low | decide |
    | --------- | -------------: | ------------: | ------ |
    | below 5   |            0 % |         100 % | low    |
    | 5 or more |          100 % |           0 % | high   |
    """
    if not isinstance(clf, BayesClassifier):
        raise TypeError(
            f"export needs a fitted BayesClassifier, but got {type(clf).__name__}. Of a pipeline "
            "give the last step, and do what comes before it where the rule will run."
        )
    chosen = form_of(form, path)
    for name in settings:
        known = settings_of(chosen)
        if name not in known:
            told = f"; there are {', '.join(known)}" if known else ", nor any other"
            raise TypeError(f"export has no setting {name!r} for {chosen!r}{told}.")
    with _room_for_deep_expressions():
        program = program_of(clf, gaps=gaps)
        _check_size(program)
        text = FORMS[chosen][0](program, **settings)
    if path is not None:
        data = text if isinstance(text, bytes) else text.encode()
        write_aside(path, lambda file: file.write(data))
    return text


@contextmanager
def _room_for_deep_expressions() -> Iterator[None]:
    """A factorisation of thirty columns is an expression some thousand calls deep."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def form_of(form: str | None, path: str | os.PathLike[str] | None) -> str:
    """The form that is asked for, or told by the ending of a path."""
    if form is None and path is not None:
        ending = Path(path).suffix.lower()
        for name, (_, known) in FORMS.items():
            if ending == known:
                return name
    if form not in FORMS:
        endings = ", ".join(f"{name} ({ending})" for name, (_, ending) in FORMS.items())
        shown = f"form={form!r}" if form is not None else f"The ending of {str(path)!r}"
        raise ValueError(f"{shown} is not known; there are {endings}.")
    return form


def settings_of(form: str) -> list[str]:
    """Names of the settings of a form."""
    return list(inspect.signature(FORMS[form][0]).parameters)[1:]


def _check_size(program: Program) -> None:
    """Refuse programs that nothing would compile."""
    size = program.size()
    if size > MOST_OPERATIONS:
        raise CannotExportError(
            f"The rule takes {size:,} operations a row, more than the {MOST_OPERATIONS:,} "
            "that can be written out. Use fewer columns, profiles or classes, or a diagonal "
            "covariance."
        )
