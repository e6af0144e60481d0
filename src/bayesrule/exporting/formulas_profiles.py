"""What profiles compute, told as arithmetic: the nearest centre, and memberships around centres."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from bayesrule.addresses import strides
from bayesrule.decide import log_of
from bayesrule.density import LogDensity
from bayesrule.encoding import SIDE, Encoding
from bayesrule.exporting.arithmetic import (
    NOTHING,
    CannotExportError,
    Choice,
    Compared,
    Expression,
    Level,
    Lookup,
    Number,
    Shared,
)
from bayesrule.exporting.formulas import Scores, formulas, read
from bayesrule.exporting.rows import Entry, Row
from bayesrule.exporting.terms import (
    exp,
    extreme,
    first_extreme,
    increasing,
    log,
    power,
    total,
)
from bayesrule.grids import GridCells
from bayesrule.metrics import Metric
from bayesrule.mixtures import Components
from bayesrule.partitions import FuzzyCentres, HardPartition, Joined, NearestCentre
from bayesrule.profiled import FittedProfiles, ProfiledLaw
from bayesrule.trees import Leaves


@read.register
def _profiles(prepared: FittedProfiles, law: LogDensity, row: Row) -> Scores:
    row = row.reading(gaps=False)
    return formulas(law, row if prepared.encoding is None else _encoded(prepared.encoding, row))


def _encoded(encoding: Encoding, row: Row) -> Row:
    """Categories as the columns between which distances are taken."""
    entries: list[Entry] = []
    for j, labels in enumerate(encoding.categories):
        if labels is None:
            entries.append(row.entries[j])
            continue
        code = row.narrow([j]).categories([labels]).entries[0].value
        for c in range(len(labels)):
            here = Compared("=", code, Number(float(c)))
            entries.append(Entry(Choice(here, Number(float(SIDE)), Number(0.0))))
    return Row(tuple(entries))


@formulas.register
def _profiled(law: ProfiledLaw, row: Row) -> Scores:
    if law.partition.hard:
        place = Shared(profile(law.partition, row))
        table = np.maximum(log_of(law.ratio.T), NOTHING)
        scores: list[Expression] = [Lookup(table, place, k) for k in range(len(law.seen))]
    else:
        means = [Shared(mean) for mean in mixed(law.partition, row, law.ratio)]
        scores = [
            Choice(Compared(">", mean, Number(0.0)), log(mean), Number(NOTHING)) for mean in means
        ]
    return [score if known else None for score, known in zip(scores, law.seen, strict=True)]


@singledispatch
def profile(partition: Any, row: Row) -> Expression:
    """The place of the profile of a row, where profiles do not overlap."""
    raise CannotExportError(
        f"Profiles of the kind {type(partition).__name__} have no form outside of Python yet."
    )


@singledispatch
def mixed(partition: Any, row: Row, values: np.ndarray) -> list[Expression]:
    """Means of ``values`` (K, T) under the memberships of a row."""
    raise CannotExportError(
        f"Profiles of the kind {type(partition).__name__} have no form outside of Python yet."
    )


@mixed.register
def _hard(partition: HardPartition, row: Row, values: np.ndarray) -> list[Expression]:
    place = Shared(profile(partition, row))
    return [Lookup(np.ascontiguousarray(values.T), place, k) for k in range(len(values))]


@mixed.register
def _joined(partition: Joined, row: Row, values: np.ndarray) -> list[Expression]:
    ends = np.cumsum([part.n_profiles for part in partition.parts])
    parts = [
        mixed(part, row, share)
        for part, share in zip(partition.parts, np.split(values, ends[:-1], axis=1), strict=True)
    ]
    return [total(list(terms)) / float(len(parts)) for terms in zip(*parts, strict=True)]


@profile.register
def _nearest(partition: NearestCentre, row: Row) -> Expression:
    return first_extreme(_distances(partition.columns, partition.metric, row), "<")


@profile.register
def _grid(partition: GridCells, row: Row) -> Expression:
    steps = strides([len(cuts) + 1 for cuts in partition.boundaries])
    return total(
        [
            Level(entry.value, increasing(cuts)) * float(step)
            for entry, cuts, step in zip(row.entries, partition.boundaries, steps, strict=True)
        ]
    )


@profile.register
def _leaves(partition: Leaves, row: Row) -> Expression:
    values = [Shared(part) for part in _mapped(partition.metric, row)]

    def at(node: int) -> Expression:
        j = int(partition.feature[node])
        below, above = int(partition.below[node]), int(partition.above[node])
        if j < 0:
            return Number(float(below))
        higher = Compared(">", values[j], Number(float(partition.threshold[node])))
        return Choice(higher, at(above), at(below))

    return at(0)


@mixed.register
def _components(partition: Components, row: Row, values: np.ndarray) -> list[Expression]:
    seen = [Shared(part) for part in _mapped(partition.metric, row)]
    joint: list[Expression] = []
    for mean, white, weight in zip(
        partition.means, partition.whitening, partition.weights, strict=True
    ):
        apart = [Shared(x - float(m)) for x, m in zip(seen, mean, strict=True)]
        lengths = white if white.ndim == 1 else np.diag(white)
        columns = np.diag(white) if white.ndim == 1 else white
        parts = [
            Shared(total([apart[i] * float(column[i]) for i in np.flatnonzero(column)]))
            for column in columns.T
        ]
        constant = float(np.log(np.abs(lengths)).sum() + log_of(weight))
        joint.append(Shared(constant - 0.5 * total([part * part for part in parts])))
    top = Shared(extreme(joint, ">"))
    degrees = [Shared(exp(score - top)) for score in joint]
    return _mean(degrees, values)


@mixed.register
def _fuzzy(partition: FuzzyCentres, row: Row, values: np.ndarray) -> list[Expression]:
    distances = [Shared(d) for d in _distances(partition.columns, partition.metric, row)]
    nearest = Shared(extreme(distances, "<"))
    on_centre = Compared("=", nearest, Number(0.0))
    weights: list[Expression] = []
    for distance in distances:
        same = Choice(Compared("=", distance, Number(0.0)), Number(1.0), Number(0.0))
        share = Shared(Choice(on_centre, same, nearest / distance))
        weights.append(Shared(power(share, partition._exponent)))
    return _mean(weights, values)


def _mean(weights: Sequence[Expression], values: np.ndarray) -> list[Expression]:
    """Means of ``values`` (K, T) under weights."""
    whole = Shared(total(weights))
    return [
        total([weight * float(v) for weight, v in zip(weights, row_of_class, strict=True)]) / whole
        for row_of_class in values
    ]


def _distances(columns: np.ndarray, metric: Metric, row: Row) -> list[Expression]:
    """Squared distances to the centres, whose coordinates are ``columns`` (D, T)."""
    seen = [Shared(part) for part in _mapped(metric, row)]
    found = []
    for centre in columns.T:
        apart = [Shared(x - float(c)) for x, c in zip(seen, centre, strict=True)]
        found.append(total([part * part for part in apart]))
    return found


def _mapped(metric: Metric, row: Row) -> list[Expression]:
    """The row as the metric sees it."""
    apart = [
        Shared(entry.value - float(s)) for entry, s in zip(row.entries, metric.shift, strict=True)
    ]
    if metric.matrix.ndim == 1:
        return [part * float(m) for part, m in zip(apart, metric.matrix, strict=True)]
    return [
        total([part * float(m) for part, m in zip(apart, column, strict=True)])
        for column in metric.matrix.T
    ]
