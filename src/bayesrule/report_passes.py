"""A page about files of any size: only the rows that it may show are ever held."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesrule.classifier import BayesClassifier
from bayesrule.decision_report import Cases, DecisionReport, Settings, page_of, shown_rule
from bayesrule.displays.sources import among_known
from bayesrule.drawing import Draw, Drawn, sample_size, together
from bayesrule.evaluation_passes import added_up, source_seen_by
from bayesrule.parts import Source
from bayesrule.passes import Meter
from bayesrule.progress import progress
from bayesrule.seen import seen_by
from bayesrule.stream import with_settled_types


def report_files(
    clf: BayesClassifier,
    paths: Any,
    target: str,
    weight: str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    sample: int = 4000,
    include_features: bool = False,
    offer: str | None = "refer",
    confidence: float = 0.95,
    seed: int = 0,
    types: Any = None,
    executor: Any = None,
) -> DecisionReport:
    """Make the page of :func:`report` about files of any size.

    One pass finds the rows that the page shows: of each class those whose random numbers, which
    depend on the seed and on where a row stands, are the smallest. No other row is kept.

    Parameters
    ----------
    clf : fitted BayesClassifier
    paths : str, path, or list of them
        Files, patterns, folders or addresses, as :meth:`BayesClassifier.fit_files` takes them, with
        the features of the fit; other columns may be there too.
    target : str
        The column of the classes.
    weight : str, default=None
        The column of the weights.
    path, title, sample, include_features, offer, confidence, seed
        As for :func:`report`.
    types : dict {column: type}, default=None
        Types of columns of CSV files, where the first rows mislead.
    executor : int, concurrent.futures.Executor or dask.distributed.Client, default=None
        Who does the work; None is a thread for each core.

    Returns
    -------
    DecisionReport

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from bayesrule import BayesClassifier, report_files
    >>> rows = pd.DataFrame({"x": [1.0, 2.0, 7.0, 9.0], "class": ["a", "a", "b", "b"]})
    >>> clf = BayesClassifier().fit(rows[["x"]], rows["class"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows.to_parquet(os.path.join(folder, "cases.parquet"))
    ...     page = report_files(clf, folder, target="class", sample=2)
    >>> len(page.rows)
    2
    """
    check_is_fitted(clf)
    settings = Settings(title, sample, include_features, offer, confidence, seed)
    shown_rule(clf, settings)

    def make(types: Any) -> DecisionReport:
        source = source_seen_by(clf, paths, target, weight, types)
        return page_of(clf, _cases(clf, source, sample, seed, executor), settings)

    page = with_settled_types(make, types)
    if path is not None:
        page.save(path)
    return page


def _cases(clf: BayesClassifier, source: Source, size: int, seed: int, executor: Any) -> Cases:
    """So many rows of each class at most."""
    drawn, n_rows = rows_drawn(source, size, seed, executor, each_class=True)
    (X, found, weights), _ = drawn.rows()
    starts = np.concatenate([[0], np.cumsum(n_rows)])
    truth = among_known(found.weighted(weights), clf.classes_)
    places = starts[drawn.places[:, 0]] + drawn.places[:, 1]
    return Cases(seen_by(clf, X), truth, places, drawn.keys, drawn.n_rows)


def some_rows(
    clf: BayesClassifier, paths: Any, target: str, weight: str | None = None, seed: int = 0
) -> Any:
    """As many rows as take little memory, for priors that are solved over rows."""

    def draw(types: Any) -> Any:
        source = source_seen_by(clf, paths, target, weight, types)
        drawn, _ = rows_drawn(source, sample_size(None, source), seed)
        return seen_by(clf, drawn.rows()[0][0])

    return with_settled_types(draw, None)


def rows_drawn(
    source: Source, size: int, seed: int, executor: Any = None, each_class: bool = False
) -> tuple[Drawn, list[int]]:
    """A sample of all rows, or of each class, and how many rows each part has."""
    share = 1.0 if each_class else source.share_of(size)
    draw = Draw(source.read, size, share, None, False, each_class, seed)
    with progress("Drawing", total=sum(part.n_bytes for part in source.parts)) as bar:
        add = partial(together, size=size, each_class=each_class)
        return added_up(draw, source, executor, Meter(bar), "Drawing rows", add)
