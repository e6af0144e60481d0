"""What decisions that were made turned out to be worth: truth, decisions, gains, priors lined up.

    expected gain   =   sum over classes k of   prior[k] * (mean gain of the rows of class k)

Class-conditional means times *stated* priors: the class shares of the rows at hand are an accident
of how they were collected, the priors say where the decisions will be used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, column_or_1d

from bayesrule.memberships import Memberships, encode_labels, places, read_target
from bayesrule.pricing import one_if_right, own_gain, own_priors, own_rule, price, stated_priors


@dataclass(frozen=True)
class Valuation:
    """Decisions and what they gained, row by row and class by class.

    Attributes
    ----------
    classes : ndarray of shape (K,)
    decisions : ndarray of shape (A,)
        Names of the decisions that the gain prices.
    priors : ndarray of shape (K,)
        Stated priors, zero for classes without rows.
    gain : ndarray of shape (K, A)
        Where gains differ from row to row, their mean over the rows of each class.
    counts : ndarray of shape (K, A)
        Weight of the rows of each class that were given each decision.
    rows, codes, weights, gained : ndarrays of one length
        One entry per row, several for a row with soft labels: the row, its class, its weight and
        what its decision gained.
    limits : ndarray of shape (K, 2)
        Lowest and highest gain of each class, over the decisions that can be made.
    class_gains, class_risks : ndarrays of shape (K,)
        Mean gain and mean regret of each class; NaN for a class without rows.
    n_rows : int
        Rows of positive weight.
    squares : ndarray of shape (K,) or None
        Sum of the squared weights of the rows of each class, where an entry stands for many rows.
    """

    classes: np.ndarray
    decisions: np.ndarray
    priors: np.ndarray
    gain: np.ndarray
    counts: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    gained: np.ndarray
    limits: np.ndarray
    class_gains: np.ndarray
    class_risks: np.ndarray
    n_rows: int
    squares: np.ndarray | None = None

    @property
    def expected_gain(self) -> float:
        """Mean gains of the classes, weighted with the stated priors."""
        there = self.priors > 0
        return float(self.priors[there] @ self.class_gains[there])

    def entry_shares(self) -> np.ndarray:
        """What each entry counts under the stated priors; they sum to one."""
        totals = self.counts.sum(axis=1)
        per_weight = self.priors / np.where(totals > 0, totals, 1.0)
        return self.weights * per_weight[self.codes]


def read_truth(y: Any, sample_weight: Any, known: np.ndarray) -> Memberships:
    """Memberships of the rows among the known classes and those that only y has."""
    found = read_target(y)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, np.empty(len(found)), dtype=np.float64, ensure_non_negative=True
        )
    classes = union_with(known, found.classes)
    spread = found.among(classes, places(found.classes, classes))
    return Memberships(classes, spread.codes, spread.degrees, weights)


def union_with(known: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Sorted labels of a fit and of rows to judge it by, of which some must be known."""
    new = found[places(found, known) < 0]
    if len(new) == 0:
        return known
    if len(new) == len(found) and len(known):
        raise ValueError(
            f"No class of y, {found.tolist()}, is among the known classes {known.tolist()}. "
            "Give y the labels that were fitted."
        )
    return encode_labels(np.concatenate([known, new]))[0]


def listed(decided: Any) -> list[Any]:
    """Decisions as plain Python values; an array of a mixed list would make text of them all."""
    if isinstance(decided, (list, tuple)):
        return [d.item() if isinstance(d, np.generic) else d for d in decided]
    return column_or_1d(decided).tolist()


def value(
    truth: Memberships,
    decided: Any,
    gains: np.ndarray,
    decisions: np.ndarray,
    priors: Any,
    possible: np.ndarray,
) -> Valuation:
    """Value decisions that were made.

    Parameters
    ----------
    truth : Memberships
    decided : array of n decisions
    gains : ndarray of shape (1, K, A) or (n, K, A)
    decisions : ndarray of shape (A,)
    priors : any form of stated priors
    possible : ndarray
        Decisions that can be made, among them those that were not.
    """
    made = listed(decided)
    check_consistent_length(made, np.empty(len(truth)))
    column = {name: d for d, name in enumerate(decisions.tolist())}
    chosen = _columns_of(made, column)
    rows, codes, weights = truth.entries()
    if truth.weights is not None:
        counted = weights > 0
        rows, codes, weights = rows[counted], codes[counted], weights[counted]
    n_rows = len(truth) if truth.weights is None else int((truth.weights > 0).sum())
    entries = rows, codes, chosen[rows], weights
    return _valued(truth.classes, entries, n_rows, gains, decisions, priors, possible)


def value_counts(
    classes: np.ndarray,
    counts: np.ndarray,
    squares: np.ndarray,
    n_rows: int,
    gain: np.ndarray,
    decisions: np.ndarray,
    priors: Any,
    made: np.ndarray,
) -> Valuation:
    """Value decisions that were counted where their rows were: one entry for each cell.

    Parameters
    ----------
    classes : ndarray of shape (K,)
    counts : ndarray of shape (K, M)
        Weight of the rows of each class that were given each of the decisions ``made``.
    squares : ndarray of shape (K,)
        Sum of the squared weights of the rows of each class.
    n_rows : int
        Rows of positive weight.
    gain : ndarray of shape (K, A)
    decisions : ndarray of shape (A,)
    priors : any form of stated priors
    made : ndarray of shape (M,)
        Decisions that can be made.
    """
    codes, places = np.nonzero(counts)
    column = {name: d for d, name in enumerate(decisions.tolist())}
    names = [made.tolist()[place] for place in places]
    weights = counts[codes, places]
    chosen = _columns_of(names, column, weights)
    entries = np.zeros(len(codes), np.intp), codes, chosen, weights
    found = _valued(classes, entries, n_rows, gain[None], decisions, priors, made)
    return replace(found, squares=squares)


def _valued(
    classes: np.ndarray,
    entries: tuple[np.ndarray, ...],
    n_rows: int,
    gains: np.ndarray,
    decisions: np.ndarray,
    priors: Any,
    possible: np.ndarray,
) -> Valuation:
    """Value entries (row, class, place of its decision, weight)."""
    rows, codes, chosen, weights = entries
    shape = gains.shape[1:]
    cells = codes.astype(np.intp) * shape[1] + chosen
    counts = np.bincount(cells, weights, shape[0] * shape[1]).reshape(shape)
    totals = counts.sum(axis=1)
    per_row = rows if len(gains) > 1 else np.zeros(len(rows), np.intp)
    gained = gains[per_row, codes, chosen]
    able = set(possible.tolist())
    can = counts.any(axis=0) | np.array([name in able for name in decisions.tolist()])
    if len(gains) == 1:
        gain, reach = gains[0], gains[0][:, can]
        limits = np.column_stack([reach.min(axis=1), reach.max(axis=1)])
        # Of counts, which are whole; to add up the gains of many rows would cost digits.
        earned, lost = counts * gain, counts * (gain.max(axis=1, keepdims=True) - gain)
        class_gains, class_risks = (_means(sums.sum(axis=1), totals) for sums in (earned, lost))
    else:
        gain, limits = _summary(gains, can, rows, codes, weights)
        regrets = gains.max(axis=2)[per_row, codes] - gained
        class_gains, class_risks = (
            _means(np.bincount(codes, values * weights, len(totals)), totals)
            for values in (gained, regrets)
        )
    return Valuation(
        classes=classes,
        decisions=decisions,
        priors=stated_priors(priors, totals, classes),
        gain=gain,
        counts=counts,
        rows=rows,
        codes=codes,
        weights=weights,
        gained=gained,
        limits=limits,
        class_gains=class_gains,
        class_risks=class_risks,
        n_rows=n_rows,
    )


def _columns_of(
    made: list[Any], column: dict[Any, int], weights: np.ndarray | None = None
) -> np.ndarray:
    """Column of each decision in the gain; an error for a decision without a price."""
    chosen = np.fromiter((column.get(d, -1) for d in made), np.intp, len(made))
    unpriced = chosen < 0
    if unpriced.any():
        rows = np.ones(len(made)) if weights is None else weights
        raise ValueError(
            f"The gain has no price for decision {made[unpriced.argmax()]!r}, which was made in "
            f"{rows[unpriced].sum():.10g} of {rows.sum():.10g} rows; it prices {list(column)}. Add "
            "a column of that name, in a DataFrame or nested dict."
        )
    return chosen


def _means(sums: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Weighted mean of each class; NaN for a class without rows."""
    return np.divide(sums, totals, out=np.full(len(totals), np.nan), where=totals > 0)


def _summary(
    gains: np.ndarray, can: np.ndarray, rows: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean gain matrix, and lowest and highest gain of what can be decided, for each class.

    They are taken over the rows of the class, and over all rows for a class that has none.
    """
    mean = gains.mean(axis=0)
    limits = np.empty((len(mean), 2))
    for k in range(len(mean)):
        mine = np.flatnonzero(codes == k)
        own = gains[rows[mine], k] if len(mine) else gains[:, k]
        limits[k] = own[:, can].min(), own[:, can].max()
        if len(mine):
            mean[k] = np.average(own, axis=0, weights=weights[mine])
    return mean, limits


def value_classifier(
    clf: Any, truth: Memberships, decided: Any, priors: Any, gain: Any
) -> Valuation:
    """Value decisions of a classifier; None for priors and gain are those of its own rule."""
    rule = own_rule(clf)
    classes, n_rows = truth.classes, len(truth)
    decisions = clf.classes_ if rule is None else rule.decisions_
    if gain is None and rule is None:
        gains, names = price(one_if_right(classes, listed(decided)), classes, classes, n_rows)
    elif gain is None:
        gains, names = own_gain(rule, classes)
    else:
        gains, names = price(gain, classes, decisions, n_rows)
    if priors is None and rule is not None:
        priors = own_priors(rule, classes)
    return value(truth, decided, gains, names, priors, decisions)
