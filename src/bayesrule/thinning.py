"""Fewer rows to search: Wilson's editing, which separates, and Hart's condensing, which shortens.

Neither looks at the order of the rows: editing judges all of them by all others at once, and
condensing begins with those that are nearest to a row of another class.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from bayesrule.kernels import neighbors as loops
from bayesrule.keys import distinct_ranks
from bayesrule.nearest import Finder
from bayesrule.neighborhood import Neighborhood
from bayesrule.notices import FewRowsWarning
from bayesrule.progress import progress

#: Neighbours that judge a row at least: a single one would drop every row beside a wrong one.
JUDGES = 3
#: Rows that accuracies are told from at most.
ASKED = 20_000


@dataclass(frozen=True)
class Thinned:
    """What is left of the rows, and what it costs.

    Attributes
    ----------
    rows, kept : int
        Distinct rows before, and those that were kept.
    kept_by_class : ndarray of shape (K,)
        Weight that was kept of each class.
    accuracy, accuracy_kept : float
        Share of the rows before that their neighbours' votes get right, each row left out in turn:
        among all rows, and among those that were kept.
    """

    rows: int
    kept: int
    kept_by_class: np.ndarray
    accuracy: float
    accuracy_kept: float


def thinned_rows(
    around: Neighborhood, k: float, edited: bool, condensed: bool
) -> tuple[Neighborhood, Thinned]:
    """The rows that are kept, and a report."""
    few = around
    if edited:
        few = _edited(few, max(k, JUDGES))
    if condensed:
        few = _condensed(few)
    kept_by_class = np.bincount(few.codes, few.shares, len(few.totals))
    report = Thinned(
        len(around),
        len(few),
        kept_by_class,
        _accuracy(around, around, k),
        _accuracy(around, few, k),
    )
    return few, report


def _winners(around: Neighborhood, votes: np.ndarray) -> np.ndarray:
    """Which classes have the most votes of a row, shape (m, K); several where they tie."""
    top = votes.max(axis=1, keepdims=True)
    winners: np.ndarray = (votes >= top * (1.0 - 1e-9)) & (votes > 0)
    return winners


def _votes_of_others(around: Neighborhood, asked: np.ndarray, k: float, what: str) -> np.ndarray:
    """Votes about rows by the others."""
    with progress(what, len(asked)) as meter:
        return around.left_out_votes(asked, [k], "uniform", meter.advance)[0]


def _edited(around: Neighborhood, k: float) -> Neighborhood:
    """Without the memberships that the other rows outvote."""
    if len(around) < 2:
        return around
    everyone = np.arange(len(around))
    winners = _winners(around, _votes_of_others(around, everyone, k, "editing"))
    entries = around.entries_of(everyone)
    kept = winners[entries.rows, entries.codes]
    weight = np.bincount(entries.codes[kept], entries.weights[kept], len(around.totals))
    gone = (around.totals > 0) & (weight == 0)
    if gone.any():
        warnings.warn(
            f"Editing would drop every row of {int(gone.sum())} of {len(gone)} classes, which the "
            "others outvote everywhere; their rows are kept.",
            FewRowsWarning,
            stacklevel=2,
        )
        kept |= gone[entries.codes]
    return around.only(kept)


def _condensed(around: Neighborhood) -> Neighborhood:
    """The rows that Hart's rule keeps."""
    points = around.points.points
    power = around.points.power
    votes = np.zeros((len(points), len(around.totals)))
    entries = around.entries_of(np.arange(len(points)))
    votes[entries.rows, entries.codes] = entries.weights
    labels = votes.argmax(axis=1)  # the heaviest class of a row that belongs to several
    order = np.argsort(_to_another_class(around, labels), kind="stable")
    nearest, by = np.full(len(points), np.inf), np.full(len(points), -1)
    kept = np.zeros(len(points), dtype=bool)
    with progress("condensing") as meter:
        added = 1
        while added:
            begin, added = 0, 0
            while begin < len(order):
                stretch = points, labels, order, power, nearest, by, kept, begin, 64
                begin, new = loops.condense(*stretch)
                added += new
                meter.advance(new, f"{int(kept.sum())} rows kept")
    chosen: np.ndarray = kept[entries.rows]
    return around.only(chosen)


def _to_another_class(around: Neighborhood, labels: np.ndarray) -> np.ndarray:
    """Distance of each row to the nearest of another class."""
    points, metric = around.points.points, around.metric
    out = np.full(len(points), np.inf)
    for label in np.unique(labels):
        mine = labels == label
        if mine.all():
            continue
        others = Finder(points[~mine], np.ones(np.count_nonzero(~mine)), metric)
        for near in others.nearest(points[mine], 1.0):
            out[np.flatnonzero(mine)[near.queries]] = near.reach
    return out


def _accuracy(around: Neighborhood, few: Neighborhood, k: float) -> float:
    """Share of the rows that the votes of ``few`` get right, each row left out in turn."""
    if len(around) < 2:
        return float("nan")
    asked = around.some_places(ASKED)
    entries = around.entries_of(asked)
    own = _places_among(few.rows, around.rows[asked])
    votes = np.zeros((len(asked), len(few.totals)))
    rest = float(few.weights.sum() - few.weights.max())
    if rest > 0:
        votes, _, _ = few.votes(few.places(around.rows[asked]), min(k, rest), "uniform", own)
    winners = _winners(few, votes)
    right = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
    return float(np.average(right[entries.rows, entries.codes], weights=entries.weights))


def _places_among(rows: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Place of each asked row among distinct rows; -1 where it is none of them."""
    ranks = distinct_ranks(np.concatenate([rows, asked]))
    place = np.full(int(ranks.max()) + 1, -1)
    place[ranks[: len(rows)]] = np.arange(len(rows))
    return place[ranks[len(rows) :]]
