"""A fitted rule as a program of a few expressions: what every language writes.

    decision   =   the place of the decision, an expression of the columns of X
    chances    =   P(k | x) of each class

With two classes the decision depends on the difference of two numbers alone, so it is told by the
exact numbers where it changes; they are found by bisection in Python's own answers, and no
exponential has to agree to the last bit elsewhere. Where a row can only fall into finitely many
cells, their decisions are Python's own too. Otherwise the gains themselves are compared, in the
order in which Python compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import bayesrule.exporting.formulas_gaussian
import bayesrule.exporting.formulas_profiles  # noqa: F401  (both add to the laws that are known)
from bayesrule import decide
from bayesrule.classifier import BayesClassifier
from bayesrule.exporting.arithmetic import (
    IMPOSSIBLE,
    CannotExportError,
    Choice,
    Column,
    Compared,
    Expression,
    Level,
    Lookup,
    Number,
    Row,
    Shared,
    entry_of,
    exp,
    extreme,
    first_extreme,
    total,
)
from bayesrule.exporting.formulas import read
from bayesrule.exporting.gathering import Gathering
from bayesrule.summary import plain_values

#: Numbers on either side of a change that are looked at one by one: rounding may make an answer
#: go to and fro there.
NEARBY = 64
#: Changes of the decision that are told one after the other; more are searched in halves.
FEW_CHANGES = 3


@dataclass(frozen=True)
class Program:
    """A rule as expressions.

    Attributes
    ----------
    columns : tuple of Column
        The columns that are looked at, by their places in X.
    n_columns : int
        How many X has.
    classes, decisions : tuple of str
    decision_labels : list
        The decisions as they are.
    priors, gain : ndarray
    decision : Expression
        The place of the decision.
    chances : tuple of Expression
        The posterior of each class.
    law : object
        The settled log-density.
    """

    columns: tuple[Column, ...]
    n_columns: int
    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    decision_labels: list[Any]
    priors: np.ndarray
    gain: np.ndarray
    decision: Expression
    chances: tuple[Expression, ...]
    law: Any


def program_of(clf: BayesClassifier, *, gaps: bool = True) -> Program:
    """The program of a fitted rule."""
    settled = clf._ready()
    if settled.randomised:
        raise CannotExportError(
            "This rule draws its decisions at random, which other programs would do differently. "
            "Export with_rule(priors=clf.priors_), which does not."
        )
    if not hasattr(clf, "n_features_in_"):
        raise CannotExportError(
            "This model reads texts or objects without columns, which cannot leave Python."
        )
    n_columns = int(clf.n_features_in_)
    names = [str(n) for n in getattr(clf, "feature_names_in_", map("x{}".format, range(n_columns)))]
    row = Row(tuple(entry_of(Column(j, name, whole=not gaps)) for j, name in enumerate(names)))
    scores = read(clf.density_, settled.log_density, row)
    priors, gain = settled.rule.priors, settled.rule.gain
    labels = settled.decisions.tolist()
    decision, chances = _decided([*scores], priors, gain)
    found = Gathering()
    for expression in (decision, *chances):
        expression.write(found)
    columns = tuple(found.columns[j] for j in sorted(found.columns))
    return Program(
        columns,
        n_columns,
        tuple(str(label) for label in clf.classes_.tolist()),
        tuple(str(label) for label in labels),
        plain_values(np.asarray(labels, dtype=object)),
        priors,
        gain,
        decision,
        chances,
        settled.log_density,
    )


def _decided(
    scores: list[Expression | None], priors: np.ndarray, gain: np.ndarray
) -> tuple[Expression, tuple[Expression, ...]]:
    """The decision, and the chances of the classes."""
    atoms = [None if score is None else score.atom for score in scores]
    known = [atom for atom in atoms if atom is not None]
    if len(known) == len(scores) and all(a[0] is known[0][0] for a in known):
        return _by_atoms(*known[0], priors, gain)
    none = np.full((1, len(priors)), -np.inf)
    lost = Number(float(decide.best_decisions(none, priors, gain)[0][0]))
    living = [k for k, score in enumerate(scores) if score is not None and priors[k] > 0]
    if not living:
        return lost, tuple(Number(float(p)) for p in priors)
    joint = {k: Shared(_with_prior(scores[k], priors[k])) for k in living}
    top = Shared(extreme(list(joint.values()), ">"))
    supported = Compared(">", top, Number(IMPOSSIBLE))
    weights = {k: Shared(exp(joint[k] - top)) for k in living}
    whole = Shared(1.0 / Shared(total(list(weights.values()))))
    shares = {k: Shared(weights[k] * whole) for k in living}
    if len(living) == 1:
        best: Expression = Number(_best_at(0.0, (living[0], living[0]), priors, gain))
    elif len(living) == 2:
        a, b = living
        best = _by_difference(Shared(joint[b] - joint[a]), (a, b), priors, gain)
    else:
        # Rows of no gain are added too, as Python adds them: with zeros, to the same sum.
        gains = [
            total([shares[k] * float(gain[k, d]) for k in living]) for d in range(gain.shape[1])
        ]
        best = first_extreme(gains, ">")
    chances = tuple(
        Choice(supported, shares[k] if k in shares else Number(0.0), Number(float(p)))
        for k, p in enumerate(priors)
    )
    return Choice(supported, best, lost), chances


def _with_prior(score: Expression | None, prior: float) -> Expression:
    assert score is not None
    return score + float(np.log(prior))


def _by_atoms(
    table: np.ndarray, place: Expression, priors: np.ndarray, gain: np.ndarray
) -> tuple[Expression, tuple[Expression, ...]]:
    """Decisions and chances of the cells that a row can fall into."""
    values = np.where(table <= IMPOSSIBLE, -np.inf, table)
    best, _ = decide.best_decisions(values, priors, gain)
    posterior, _, _ = decide.posterior(values, priors)
    decisions = best.astype(float)[:, None]
    return Lookup(decisions, place), tuple(Lookup(posterior, place, k) for k in range(len(priors)))


def _by_difference(
    difference: Expression, pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray
) -> Expression:
    """The decision by the log-odds of two classes: one number against where Python changes."""
    first, changes = changes_of_two(pair, priors, gain)
    if len(changes) > FEW_CHANGES:
        places = np.array([first, *(decision for _, decision in changes)])
        return Lookup(places[:, None], Level(difference, tuple(at for at, _ in changes)))
    found: Expression = Number(first if not changes else changes[-1][1])
    befores = [first, *(decision for _, decision in changes[:-1])]
    for (at, _), before in zip(reversed(changes), reversed(befores), strict=False):
        found = Choice(Compared("<", difference, Number(at)), Number(before), found)
    return found


def _best_at(differences: Any, pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray) -> Any:
    """Python's decision for log-odds of the second class of a pair over the first."""
    differences = np.asarray(differences, dtype=float)
    rows = np.full((differences.size, len(priors)), -np.inf)
    rows[:, pair[1]] = differences.ravel()
    rows[:, pair[0]] = 0.0
    even = np.zeros(len(priors))
    even[list(pair)] = 1.0
    best = decide.best_decisions(rows, even, gain)[0].astype(float)
    return best if differences.ndim else float(best[0])


def changes_of_two(
    pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray
) -> tuple[float, list[tuple[float, float]]]:
    """The decision at the lowest log-odds, and each (log-odds from which on, decision) after it."""
    slopes = gain[pair[1]] - gain[pair[0]]
    with np.errstate(all="ignore"):
        # Where two decisions gain the same: gain_a + odds gain_b equal for both.
        apart = gain[pair[0]][:, None] - gain[pair[0]]
        odds = -apart / (gain[pair[1]][:, None] - gain[pair[1]])
        crossings = np.log(odds[np.isfinite(odds) & (odds > 0)])
    assert len(slopes)
    marks = np.unique(np.concatenate([[-2000.0, -745.2, 0.0, 745.2, 2000.0], crossings]))
    between = np.concatenate([marks, (marks[1:] + marks[:-1]) / 2])
    near = (marks[:, None] + np.spacing(marks)[:, None] * np.arange(-NEARBY, NEARBY + 1)).ravel()
    points = np.unique(np.concatenate([between, near]))
    answers = _best_at(points, pair, priors, gain)
    changes: list[tuple[float, float]] = []
    for i in np.flatnonzero(np.diff(answers)):
        changes += _changes_between(points[i], points[i + 1], pair, priors, gain)
    merged: list[tuple[float, float]] = []
    last = float(answers[0])
    for at, decision in changes:
        if decision != last:
            merged.append((at, decision))
            last = decision
    return float(answers[0]), merged


def _changes_between(
    low: float, high: float, pair: tuple[int, int], priors: np.ndarray, gain: np.ndarray
) -> list[tuple[float, float]]:
    """Where the decision changes between two log-odds of different decisions."""
    before = _best_at(low, pair, priors, gain)
    below, above = _ordered(low), _ordered(high)
    while above - below > 1:
        middle = (below + above) // 2
        if _best_at(_number(middle), pair, priors, gain) == before:
            below = middle
        else:
            above = middle
    window = range(max(above - NEARBY, _ordered(low)), min(above + NEARBY, _ordered(high)) + 1)
    points = np.array([_number(i) for i in window])
    answers = _best_at(points, pair, priors, gain)
    found = []
    for (_, was), (at, now) in pairwise(zip(points, answers, strict=True)):
        if was != now:
            found.append((float(at), float(now)))
    end = _best_at(high, pair, priors, gain)
    if answers[-1] != end and window[-1] < _ordered(high):
        found += _changes_between(float(points[-1]), high, pair, priors, gain)
    return found


def _ordered(value: float) -> int:
    """A number's place among all numbers."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _number(place: int) -> float:
    """The number at a place among all numbers."""
    bits = place if place >= 0 else (-place) | (1 << 63)
    return float(np.uint64(bits).view(np.float64))
