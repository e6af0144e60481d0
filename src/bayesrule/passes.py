"""Fitting in passes over parts of the rows: draw a sample to prepare with, then count them all.

A density that learns before it counts (the types of columns, boundaries, centres, a vocabulary)
prepares on a sample, which takes a pass of its own; then one pass counts. A sample of all rows
gives what ``fit`` gives.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from bayesrule.checkpoint import Checkpoint
from bayesrule.classifier import BayesClassifier
from bayesrule.density import Density, Prepared, Rule
from bayesrule.drawing import Draw, Drawn, first_chunk, sample_size, together
from bayesrule.learned import Learned, classes_with, present
from bayesrule.memberships import encode_labels, places
from bayesrule.minimax import Minimax
from bayesrule.partitioned import default_client, is_collection, source_of_collection
from bayesrule.parts import (
    BadFileError,
    FilesRead,
    Part,
    Reader,
    Skipped,
    Source,
    naming,
    wants_skipping,
)
from bayesrule.progress import progress
from bayesrule.spread import LostRowsError, Tree, in_order
from bayesrule.stream import source_of_files, with_settled_types


@dataclass(frozen=True)
class Counted:
    """What one part adds; the prepared density stays where it was."""

    id: int
    n_rows: int
    learned: Learned | None = None
    skipped: Skipped | None = None


@dataclass(frozen=True)
class Count:
    """Count the rows of a part: a pure function from a part to what it adds."""

    read: Reader
    density: Density
    prepared: Prepared
    classes: np.ndarray | None
    skip: bool

    def __call__(self, part: Part, tick: Callable[[int], None] = lambda n_bytes: None) -> Counted:
        try:
            return self._count(part, tick)
        except BadFileError as error:
            if not self.skip:
                raise
            lost = Skipped(part.path, part.groups, part.n_rows, error.problem)
            return Counted(part.id, 0, skipped=lost)

    def _count(self, part: Part, tick: Callable[[int], None]) -> Counted:
        total: Learned | None = None
        n_rows = 0
        for X, found, weights in self.read(part, tick):
            with naming(str(part)):
                n_rows += len(found)
                table = self.prepared.read(X, None)
                table, found = present(table, found, weights, some=True)
                if len(table) == 0:
                    continue
                known, closed = classes_with(found.classes, self.classes, None)
                found = found.among(known, places(found.classes, known))
                more = Learned.of(self.density, self.prepared, table, found, closed)
            total = more if total is None else total.merge(more)
            del X, table, found  # the next rows take their place in the memory that is near
        return Counted(part.id, n_rows, None if total is None else bare(total))


class Meter:
    """One bar over all passes: share of the bytes, rows, and rows per second."""

    def __init__(self, bar: Any):
        self._bar = bar
        self._since = time.monotonic()
        self._rows = 0
        self._said = ""

    def tick(self, n_bytes: int) -> None:
        """So many bytes are done."""
        self._bar.advance(n_bytes, self._said)

    def rows(self, more: int, what: str) -> None:
        """So many rows are done."""
        self._rows += more
        rate = self._rows / max(time.monotonic() - self._since, 1e-9)
        self._said = f"{what}: {self._rows:,} rows, {rate:,.0f} rows/s"


def fit_files(
    clf: BayesClassifier,
    paths: Any,
    target: Any,
    weight: str | None,
    columns: Any,
    classes: Any,
    types: Any,
    executor: Any,
    sample: int | None,
    on_bad_file: str,
    checkpoint: Any = None,
) -> BayesClassifier:
    """A classifier fitted to files."""
    skip = wants_skipping(on_bad_file)
    if is_collection(paths):
        if skip:
            raise ValueError("on_bad_file='skip' is for files: a Dask collection has none.")
        source = source_of_collection(paths, target, weight, columns, types)
        executor = default_client() if executor is None else executor
        return fit_parts(clf, source, classes, executor, sample, skip, checkpoint)

    def fit(types: Any) -> BayesClassifier:
        source = source_of_files(paths, target, weight, columns, types, skip)
        return fit_parts(clf, source, classes, executor, sample, skip, checkpoint)

    # A checkpoint is of one reading of the files.
    return fit(types) if checkpoint is not None else with_settled_types(fit, types)


def fit_parts(
    clf: BayesClassifier,
    source: Source,
    classes: Any = None,
    executor: Any = None,
    sample: int | None = None,
    skip: bool = False,
    checkpoint: Any = None,
) -> BayesClassifier:
    """A classifier fitted to the rows of all parts, however many there are."""
    fresh = clf._copy(forget=True)
    density = clone(clf._density())
    stated = None if classes is None else encode_labels(classes)[0]
    learns = density.learns and type(density).prepare is not Density.prepare
    over_rows = isinstance(clf.priors, Minimax) and not density.atoms_from_counts
    passes: list[str] = []
    n_bytes = sum(part.n_bytes for part in source.parts)
    sampled = learns or over_rows
    size = sample_size(sample, source)
    reads = partial(density.read, estimator=fresh)
    chunk, table = first_chunk(source, skip, (lambda X: None) if sampled else reads)
    fresh._check_features(chunk[0], first=True)
    n_features = getattr(fresh, "n_features_in_", 0)
    asked = (stated, sampled, size if sampled else 0, skip, source.asked)
    kept = Checkpoint(checkpoint, density, source, n_features, asked)
    with kept.kept(), progress("Fitting", total=n_bytes * (1 + sampled)) as bar:
        meter = Meter(bar)
        if sampled:
            draw = Draw(source.read, size, source.share_of(size), stated, skip)
            drawn = _draw(draw, source, executor, meter, kept)
            _, overall = drawn.rows()
            table, chunk = drawn.read(source.parts, skip, reads)
            purpose = "to prepare with" if learns else "for the priors"
            passes.append(f"drew {len(chunk[1])} of {drawn.n_rows} rows {purpose}")
        assert table is not None
        found = chunk[1]
        if sampled:  # else nothing is learned from these rows, which may all weigh nothing
            table, found = present(table, *chunk[1:])
        known = classes_with(found.classes, stated, None)[0]
        if learns:
            known = overall.classes
            rule = fresh._wanted().before_counting(overall.totals(), known)
        else:  # it looks at no rule, and not all classes may be known
            rule = Rule(np.full(len(known), 1 / len(known)), np.eye(len(known)))
        found = found.among(known, places(found.classes, known))
        prepared = kept.prepared_for(rule)
        if prepared is None:
            prepared = density.prepare(table, found, rule)
            kept.begin_counting(prepared, rule, drawn if sampled else None)
        count = Count(source.read, density, prepared, stated, skip)
        learned, n_rows, lost = _count(count, source, executor, meter, kept)
        passes.append(f"counted {n_rows} rows")
        fresh._learned = learned
        rows = None
        if over_rows:
            rows = table, found.among(learned.classes, places(found.classes, learned.classes))
        fresh._settled = fresh._settle(rows, trained_on_rows=True)
    skipped = (*source.skipped, *lost)
    fresh.files_ = FilesRead.of(source.parts, n_rows, passes, skipped)
    return fresh


def _draw(draw: Draw, source: Source, executor: Any, meter: Meter, kept: Checkpoint) -> Drawn:
    """A sample of all parts."""
    stand = kept.stand
    meter.tick(sum(part.n_bytes for part in source.parts[: kept.done("draw")]))
    if stand.drawn is not None:
        return stand.drawn
    tree: Tree[Drawn] = Tree(stand.sums)
    add = partial(together, size=draw.size)
    done = stand.done
    for _, found in in_order(draw, source.parts[done:], executor, meter.tick):
        tree = tree.push(found, add)
        done += 1
        kept.note(done=done, sums=tree.sums)
        meter.rows(found.n_rows, "Drawing a sample")
    drawn = tree.total(add)
    assert drawn is not None  # there are parts
    return drawn


def _count(
    count: Count, source: Source, executor: Any, meter: Meter, kept: Checkpoint
) -> tuple[Learned, int, list[Skipped]]:
    """The statistics of all parts, added in their order."""
    stand = kept.stand
    done, n_rows, lost = stand.done, stand.n_rows, list(stand.lost)
    meter.tick(sum(part.n_bytes for part in source.parts[:done]))

    def add(one: Learned, other: Learned) -> Learned:
        return bare(whole(one).merge(whole(other)))

    def whole(learned: Learned) -> Learned:
        return replace(learned, density=count.density, prepared=count.prepared)

    tree: Tree[Learned] = Tree(stand.sums)
    for part, found in in_order(count, source.parts[done:], executor, meter.tick):
        if found.skipped is not None:
            lost.append(found.skipped)
        elif found.learned is not None:
            if source.one_each and found.learned.class_count.sum() != found.n_rows:
                raise LostRowsError(
                    f"{part} has {found.n_rows} rows, of which {found.learned.class_count.sum():g} "
                    "were counted; nothing was fitted."
                )
            tree = tree.push(found.learned, add)
        n_rows += found.n_rows
        done += 1
        kept.note(done=done, n_rows=n_rows, sums=tree.sums, lost=tuple(lost))
        meter.rows(found.n_rows, "Counting")
    learned = tree.total(add)
    if learned is None:
        raise ValueError(
            f"No row with a weight above zero could be read from the files; {len(lost)} were "
            f"skipped: {'; '.join(f'{s.path} ({s.problem})' for s in lost[:3])}"
        )
    return whole(learned), n_rows, lost


def bare(learned: Learned) -> Learned:
    """What was counted, without the prepared density, which stays where it was made."""
    return replace(learned, density=None, prepared=None)  # type: ignore[arg-type]
