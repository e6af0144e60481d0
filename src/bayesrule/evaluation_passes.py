"""Evaluating over parts of the rows: count the classes, then what is decided about them.

Every figure of an evaluation comes from sums over the rows. What a row counts under the stated
priors depends on the weight of its class, so that a first pass, over labels and weights alone,
has to find that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from bayesrule.classifier import BayesClassifier, warn_no_support
from bayesrule.evaluation import Evaluation, check_confidence, figures_of
from bayesrule.holdings import Wanted, plan
from bayesrule.memberships import Memberships, joined, places
from bayesrule.parts import Part, Source, naming
from bayesrule.passes import Meter
from bayesrule.paths import find_files
from bayesrule.pricing import array_dimensions, own_gain, own_priors, price, stated_priors
from bayesrule.progress import progress
from bayesrule.reliability import Believed
from bayesrule.seen import decided, seen_by, wanted_by
from bayesrule.spread import Outcome, Tree, in_order
from bayesrule.stats import spread_rows
from bayesrule.stream import ReadFiles, with_settled_types
from bayesrule.valuation import union_with, value_counts

Tick = Callable[[int], None]


def evaluate_files(
    clf: BayesClassifier,
    paths: Any,
    target: Any,
    weight: str | None = None,
    priors: Any = None,
    gain: Any = None,
    *,
    confidence: float = 0.95,
    types: Any = None,
    executor: Any = None,
) -> Evaluation:
    """Evaluate a fitted classifier on files of any size, in memory that does not grow with them.

    The figures are those of :func:`evaluate` on all rows at once: counts to the last bit, gains
    and intervals to rounding.

    Parameters
    ----------
    clf : fitted BayesClassifier
    paths : str, path, or list of them
        Files, patterns, folders or addresses, as :meth:`BayesClassifier.fit_files` takes them, with
        the features of the fit; other columns may be there too.
    target : str, or list of str
        The column of the classes, or those of soft labels.
    weight : str, default=None
        The column of the weights.
    priors, gain, confidence
        As for :func:`evaluate`; gains do not differ from row to row.
    types : dict {column: type}, default=None
        Types of columns of CSV files, where the first rows mislead.
    executor : int, concurrent.futures.Executor or dask.distributed.Client, default=None
        Who does the work; None is a thread for each core.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from bayesrule import BayesClassifier, evaluate_files
    >>> rows = pd.DataFrame({"x": [1.0, 2.0, 7.0, 9.0], "class": ["a", "a", "b", "b"]})
    >>> clf = BayesClassifier().fit(rows[["x"]], rows["class"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows[:2].to_parquet(os.path.join(folder, "monday.parquet"))
    ...     rows[2:].to_parquet(os.path.join(folder, "tuesday.parquet"))
    ...     figures = evaluate_files(clf, folder, target="class")
    >>> figures.n, figures.accuracy
    (4, 1.0)
    """
    check_confidence(confidence)
    check_is_fitted(clf)
    if array_dimensions(gain) == 3:
        raise ValueError(
            "gain has three dimensions, gains that differ from row to row: the rows of files have "
            "none. Give one gain for all rows."
        )

    def judge(types: Any) -> Evaluation:
        source = source_seen_by(clf, paths, target, weight, types)
        return _evaluated(clf, source, priors, gain, confidence, executor)

    return with_settled_types(judge, types)


def source_seen_by(
    clf: BayesClassifier, paths: Any, target: Any, weight: str | None, types: Any = None
) -> Source:
    """The parts of files, with the columns that a classifier was fitted to, labels and weights."""
    files = find_files(paths)
    choose = partial(wanted_by, clf, target=target, weight=weight, types=types)
    with progress("Looking into files", total=len(files)) as meter:
        chosen, parts, skipped = plan(files, choose, False, meter.advance)
    one_each = weight is None and isinstance(target, str)
    return Source(parts, ReadFiles(chosen), chosen.row_bytes, one_each, skipped, str(chosen))


def _evaluated(
    clf: BayesClassifier,
    source: Source,
    priors: Any,
    gain: Any,
    confidence: float,
    executor: Any,
) -> Evaluation:
    n_bytes = sum(part.n_bytes for part in source.parts)
    with progress("Evaluating", total=2 * n_bytes) as bar:
        meter = Meter(bar)
        count = Labels(labels_alone(source.read))
        found, _ = added_up(count, source, executor, meter, "Counting classes")
        classes = union_with(clf.classes_, found.classes.classes)
        totals = spread_rows(
            found.classes.totals(), places(found.classes.classes, classes), len(classes)
        )
        if gain is None:
            gains, names = own_gain(clf, classes)
        else:
            gains, names = price(gain, classes, clf.decisions_, found.n_rows)
        stated = own_priors(clf, classes) if priors is None else priors
        chances = stated_priors(stated, totals, classes)
        shares = chances / np.where(totals > 0, totals, 1.0)
        work = Decide(clf, source.read, classes, shares)
        made, _ = added_up(work, source, executor, meter, "Deciding")
    warn_no_support(made.lost, made.n_rows)
    judged = value_counts(
        classes, made.counts, made.squares, made.n_counted, gains[0], names, chances, clf.decisions_
    )
    return figures_of(judged, made.believed, confidence)


State = TypeVar("State", bound=Outcome)


def added_up(
    work: Callable[[Part, Tick], State],
    source: Source,
    executor: Any,
    meter: Meter,
    what: str,
    add: Callable[[State, State], State] = operator.add,
) -> tuple[State, list[int]]:
    """The sum over all parts in their order, and the rows of each part."""
    tree: Tree[State] = Tree()
    rows = []
    for _, found in in_order(work, source.parts, executor, meter.tick):
        tree = tree.push(found, add)
        rows.append(found.n_rows)
        meter.rows(found.n_rows, what)
    total = tree.total(add)
    assert total is not None  # there are parts
    return total, rows


def labels_alone(read: Any) -> ReadFiles:
    """Read target and weights without the features."""
    wanted: Wanted = read.wanted
    several = wanted.target if isinstance(wanted.target, tuple) else (wanted.target,)
    names = {*several, wanted.weight}
    return ReadFiles(
        replace(
            wanted, schema=pa.schema([f for f in wanted.schema if f.name in names]), features=()
        )
    )


@dataclass(frozen=True)
class Labelled:
    """Weight of each class in some parts."""

    id: int
    n_rows: int
    classes: Memberships

    def __add__(self, other: Labelled) -> Labelled:
        both = joined([self.classes, other.classes])
        return Labelled(self.id, self.n_rows + other.n_rows, both.tallied())


@dataclass(frozen=True)
class Labels:
    """Count the classes of a part."""

    read: ReadFiles

    def __call__(self, part: Part, tick: Tick = lambda n_bytes: None) -> Labelled:
        total: Labelled | None = None
        for _, found, weights in self.read(part, tick):
            counted = found.weighted(weights).tallied()
            more = Labelled(part.id, len(found), counted)
            total = more if total is None else total + more
        assert total is not None  # a part without rows is an error
        return total


@dataclass(frozen=True)
class Decided:
    """What was decided about the rows of some parts.

    Attributes
    ----------
    id, n_rows : int
    n_counted, lost : int
        Rows of positive weight, and rows that no class supports.
    counts : ndarray of shape (K, A)
        Weight of the rows of each class that were given each decision.
    squares : ndarray of shape (K,)
        Sum of their squared weights.
    believed : Believed
    """

    id: int
    n_rows: int
    n_counted: int
    lost: int
    counts: np.ndarray
    squares: np.ndarray
    believed: Believed

    def __add__(self, other: Decided) -> Decided:
        sums = ("n_rows", "n_counted", "lost", "counts", "squares", "believed")
        return Decided(self.id, *(getattr(self, name) + getattr(other, name) for name in sums))


@dataclass(frozen=True)
class Decide:
    """Decide the rows of a part and count the decisions.

    Attributes
    ----------
    clf : BayesClassifier
    read : ReadFiles
    classes : ndarray of shape (K,)
        Those of the classifier and of the rows.
    shares : ndarray of shape (K,)
        What a unit of weight of each class counts under the stated priors.
    """

    clf: BayesClassifier
    read: Any
    classes: np.ndarray
    shares: np.ndarray

    def __call__(self, part: Part, tick: Tick = lambda n_bytes: None) -> Decided:
        total: Decided | None = None
        for X, found, weights in self.read(part, tick):
            with naming(str(part)):
                more = self._decided(part.id, X, found.weighted(weights))
            total = more if total is None else total + more
        assert total is not None  # a part without rows is an error
        return total

    def _decided(self, id: int, X: pa.Table, found: Memberships) -> Decided:
        """That of the rows of a chunk."""
        clf, n_classes = self.clf, len(self.classes)
        best, posteriors, lost = decided(clf, clf._read(seen_by(clf, X), clf.density_))
        posteriors = spread_rows(posteriors.T, places(clf.classes_, self.classes), n_classes).T
        found = found.among(self.classes, places(found.classes, self.classes))
        rows, codes, weights = found.entries()
        shape = n_classes, len(clf.decisions_)
        cells = codes.astype(np.intp) * shape[1] + best[rows]
        shares = weights * self.shares[codes]
        counted = shares > 0
        return Decided(
            id,
            len(found),
            len(found) if found.weights is None else int((found.weights > 0).sum()),
            lost,
            np.bincount(cells, weights, shape[0] * shape[1]).reshape(shape),
            np.bincount(codes, weights**2, n_classes),
            Believed.of(posteriors[rows[counted]], codes[counted], shares[counted]),
        )
