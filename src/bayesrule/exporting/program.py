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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import bayesrule.exporting.formulas_cells
import bayesrule.exporting.formulas_gaussian
import bayesrule.exporting.formulas_profiles  # noqa: F401  (they add to the laws that are known)
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
    Shared,
)
from bayesrule.exporting.changes import best_at, changes_of_two
from bayesrule.exporting.formulas import read
from bayesrule.exporting.gathering import Gathering
from bayesrule.exporting.rows import Row, entry_of
from bayesrule.exporting.terms import (
    exp,
    extreme,
    first_extreme,
    total,
)
from bayesrule.summary import plain_values

#: How many times as long a program must be to have a shorter one for rows without gaps beside it.
MUCH = 2
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
    whole : Program or None
        A shorter program for rows without gaps, where there may be gaps and it is much shorter.
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
    whole: Program | None = None

    def size(self) -> int:
        """Operations that a decision and the chances take."""
        found = Gathering()
        for expression in (self.decision, *self.chances):
            expression.write(found)
        return found.size


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
    program = Program(
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
    if not gaps or not any(column.gaps for column in columns):
        return program
    whole = program_of(clf, gaps=False)
    return replace(program, whole=whole) if MUCH * whole.size() < program.size() else program


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
        best: Expression = Number(best_at([0.0], (living[0], living[0]), priors, gain)[0])
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
