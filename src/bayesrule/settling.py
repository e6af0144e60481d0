"""From statistics and settings to all that deciding needs: a log-density and a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from bayesrule import decide
from bayesrule.density import LogDensity, Rule
from bayesrule.gains import decision_classes, resolve_gain
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.keys import folds_by_key, row_keys
from bayesrule.learned import Learned
from bayesrule.memberships import Memberships
from bayesrule.minimax import Minimax, MinimaxSolution
from bayesrule.priors import Shifted, given_priors
from bayesrule.tables import Table

Result = TypeVar("Result")

#: Rows, and who belongs to which class where that is known.
Rows = tuple[Table, Memberships | None]

#: Rows that minimax priors are solved over at most; more change them by less than their error.
MINIMAX_ROWS = 100_000

#: Parts of the out-of-fold log-densities of a density that remembers its rows.
FOLDS = 5

NEEDS_ROWS = (
    "Minimax priors are solved over rows, which a fitted rule does not keep, nor do partial_fit "
    "and merge. Fit with other priors, then give it rows: with_rule(priors=Minimax(...), X=X)."
)


@dataclass(frozen=True)
class Settled:
    """All that deciding needs, published in one assignment so that threads can share a model.

    Attributes
    ----------
    log_density : LogDensity
    rule : Rule
    decisions : ndarray of shape (A,)
        Names of the decisions, the columns of the gain.
    decided_class : ndarray of shape (A,)
        Place of each decision among the classes; -1 where it is no class.
    solution : MinimaxSolution, ShiftedSolution or None
        How the priors were found, where they were solved for.
    randomised : bool
        Whether decisions are drawn from the mixture of the solution's rules.
    """

    log_density: LogDensity
    rule: Rule
    decisions: np.ndarray
    decided_class: np.ndarray
    solution: Any = None
    randomised: bool = False


@dataclass(frozen=True)
class Wanted:
    """The rule as the user wrote it."""

    priors: Any
    gain: Any
    seed: int

    def before_counting(self, counts: np.ndarray, classes: np.ndarray) -> Rule:
        """The rule as far as it is known before a density is settled; settings are checked here."""
        priors = self.priors
        if isinstance(priors, Minimax):
            priors.bounds(classes)
        elif isinstance(priors, Shifted):
            priors.check()
        if isinstance(priors, (Minimax, Shifted)):
            priors = "empirical"
        return Rule(given_priors(priors, counts, classes), resolve_gain(self.gain, classes)[0])

    def settle(
        self,
        learned: Learned,
        log_density: LogDensity,
        rows: Rows | None,
        read: Callable[[Any], Table],
        trained_on_rows: bool = False,
    ) -> Settled:
        """Solve for the priors where that is asked for, and put the rule together."""
        classes = learned.classes
        gain, decisions = resolve_gain(self.gain, classes)
        solution: Any = None
        if isinstance(self.priors, Minimax):
            solution = self._minimax(learned, log_density, rows, gain, trained_on_rows)
        elif isinstance(self.priors, Shifted):
            self.priors.check()
            values = log_densities(log_density, read(self.priors.X_new))
            solution = self.priors.solve(values, learned.shares, classes)
        return Settled(
            log_density,
            Rule(
                given_priors(self.priors, learned.class_count, classes)
                if solution is None
                else solution.priors,
                gain,
            ),
            decisions,
            decision_classes(decisions, classes),
            solution,
            isinstance(self.priors, Minimax) and self.priors.randomised,
        )

    def _minimax(
        self,
        learned: Learned,
        log_density: LogDensity,
        rows: Rows | None,
        gain: np.ndarray,
        trained_on_rows: bool,
    ) -> MinimaxSolution:
        """Minimax priors over the atoms of the density, or over rows as atoms."""
        fresh = None
        if trained_on_rows and learned.density.memorises:
            fresh = partial(self._out_of_fold, learned)
        atoms = atoms_of(log_density, rows, learned.shares, self.seed, fresh)
        solution: MinimaxSolution = self.priors.solve(atoms, gain, learned.classes)
        return solution

    def _out_of_fold(self, learned: Learned, table: Table, memberships: Memberships) -> np.ndarray:
        """Log-densities of each row by a density that did not see it; equal rows stay together."""
        fold = folds_by_key(row_keys(table, self.seed), memberships, FOLDS)
        values = np.full((len(table), memberships.n_classes), -np.inf)
        for f in range(max(int(fold.max()), 0) + 1):
            # Rows of no fold are in every training part: a class must not vanish from one.
            out, kept = np.flatnonzero((fold == f) | (fold < 0)), np.flatnonzero(fold != f)
            part, members = table.take(kept), memberships.take(kept)
            rule = self.before_counting(members.totals(), memberships.classes)
            prepared = clone(learned.density).prepare(part, members, rule)
            settled = prepared.settle(prepared.tally(part, members))
            values[out] = log_densities(settled, table.take(out))
        return values


def atoms_of(
    log_density: LogDensity,
    rows: Rows | None,
    shares: np.ndarray,
    seed: int,
    fresh: Callable[[Table, Memberships], np.ndarray] | None = None,
) -> np.ndarray:
    """Probability of each atom under each class, shape (n, K): those of the density, or rows.

    A row's mass under class k is its posterior under the training priors, r_ik / sum_i r_ik: the
    model's risks. One-hot labels would find the rule that knows every label. ``fresh`` gives the
    log-densities of rows that the density has learned by heart.
    """
    values = log_density.atoms()
    if values is not None:
        masses = np.exp(values)
    elif rows is None:
        raise ValueError(NEEDS_ROWS)
    else:
        table, memberships = thinned(*rows, seed)
        if memberships is not None and fresh is not None:
            values = fresh(table, memberships)
        else:
            values = log_densities(log_density, table)
        masses, _, _ = decide.posterior(values, shares)
        if memberships is not None and memberships.weights is not None:
            masses = masses * memberships.weights[:, None]
    totals = masses.sum(axis=0)
    return masses / np.where(totals > 0, totals, 1.0)


def thinned(table: Table, memberships: Memberships | None, seed: int) -> Rows:
    """At most ``MINIMAX_ROWS`` rows, chosen by their values and not by their order."""
    if len(table) <= MINIMAX_ROWS:
        return table, memberships
    chosen = np.sort(np.argpartition(row_keys(table, seed), MINIMAX_ROWS)[:MINIMAX_ROWS])
    return table.take(chosen), None if memberships is None else memberships.take(chosen)


def over_blocks(
    work: Callable[[int, int], Result], log_density: LogDensity, table: Table
) -> Iterator[Result]:
    """Run ``work(start, stop)`` over blocks of the size the log-density likes."""
    size = log_density.block_rows
    return map_blocks(work, len(table), block_rows(table.n_columns) if size == 0 else size)


def block_values(log_density: LogDensity, table: Table, start: int, stop: int) -> np.ndarray:
    """Log-densities of a block; where nobody looked for missing values yet, the answers do.

    A search of its own would fetch every number from memory once more.
    """
    block = table.block(start, stop)
    if block.unseen is not None and log_density.vouches:
        with np.errstate(invalid="ignore", over="ignore"):
            values = log_density(block)
        if np.isfinite(values).all():
            return values
    return log_density(block.looked())


def log_densities(log_density: LogDensity, table: Table) -> np.ndarray:
    """Log-densities of all rows, block by block."""
    parts = over_blocks(lambda a, b: block_values(log_density, table, a, b), log_density, table)
    return np.concatenate(list(parts))
