"""The one estimator: a density per class, priors, a gain matrix, the decision of highest gain.

    gain of decision d at x   =   sum over classes k of   gain[k, d] * P(k | x)
    P(k | x)                  ∝   prior[k] * density(x | k)
    decide(x)                 =   the d of highest gain

``fit`` reads X and y once, lets the density prepare, tallies the rows into a statistic, and
settles it into a log-density; then the priors are solved and the rule is ready. A chunk, a file,
a worker or a second model enters at the tally and leaves at a plus sign.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from bayesrule import decide
from bayesrule.density import Density, LogDensity, Rule, same_state
from bayesrule.gains import decision_classes, resolve_gain, row_gains
from bayesrule.gaussian import Gaussian
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships, encode_labels, places, read_target
from bayesrule.notices import KeptTuningWarning, NoSupportWarning, PreparedOnChunkWarning
from bayesrule.priors import Minimax, Shifted, given_priors
from bayesrule.stats import spread_rows
from bayesrule.tables import Table

#: "Leave it as it is", where None has a meaning of its own.
KEEP: Any = type("Keep", (), {"__repr__": lambda self: "KEEP"})()

#: Rows that minimax priors are solved over at most; more change them by less than their error.
MINIMAX_ROWS = 100_000

NEEDS_ROWS = (
    "Minimax priors are solved over rows, which neither partial_fit nor merge keeps. Fit with other "
    "priors, then use with_rule(priors=Minimax(...), X=X)."
)

#: What fitting adds to the settings.
FITTED = (
    "classes_",
    "class_count_",
    "density_",
    "stats_",
    "n_features_in_",
    "feature_names_in_",
    "_fitted_density",
    "_settled",
    "_closed_classes",
)

#: Parts of the out-of-fold log-densities of a density that remembers its rows.
FOLDS = 5


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


def _is_normalised(clf: BayesClassifier) -> bool:
    density = clf._density()
    if not density.normalised:
        raise AttributeError(
            f"log p(x) has no meaning for {type(density).__name__}: its log-densities are known "
            "only up to a term common to the classes."
        )
    return True


def _keeps_enough(clf: BayesClassifier) -> bool:
    if isinstance(clf.priors, Minimax) and not clf._density().atoms_from_counts:
        raise AttributeError(NEEDS_ROWS)
    return True


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """Decide by highest expected gain.

    Parameters
    ----------
    density : Density, default=None
        What each class looks like; None is ``Gaussian()``. See :mod:`bayesrule.density`.
    priors : "empirical", "uniform", array of shape (K,), dict, Minimax or Shifted
        Chances of the classes where the rule will be used.
    gain : None, array of shape (K, A), DataFrame, or dict {true: {decision: gain}}
        What each decision is worth given each true class: one row per class in ``classes_`` order,
        one column per decision. None is 1 for the right class and 0 otherwise. In a bare array the
        first K columns are the classes and further ones are extra actions. Ties go to the first
        column.
    random_state : int, default=0
        Seed of what is random: folds and draws of a randomised rule.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    decisions_ : ndarray of shape (A,)
        Names of the decisions.
    priors_ : ndarray of shape (K,)
    gain_ : ndarray of shape (K, A)
    class_count_ : ndarray of shape (K,)
        Training weight of each class.
    density_ : prepared density
        It carries what was learned before counting.
    stats_ : statistics
        All that was kept of the rows.
    log_density_ : LogDensity
        The settled density, with its means, covariances or tables as attributes.
    prior_solution_ : MinimaxSolution, ShiftedSolution or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had names

    Examples
    --------
    The best decision need not be the most probable class:

    >>> from bayesrule import BayesClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]], ["well"] * 3 + ["ill"] * 3
    >>> gain = {"ill": {"ill": 0, "well": -20}, "well": {"ill": -1, "well": 0}}
    >>> clf = BayesClassifier(gain=gain).fit(X, y)
    >>> clf.predict_proba([[3.6]]).round(2), clf.predict([[3.6]]).tolist()
    (array([[0.13, 0.87]]), ['ill'])
    """

    def __init__(
        self,
        density: Density | None = None,
        priors: Any = "empirical",
        gain: Any = None,
        random_state: int = 0,
    ):
        self.density = density
        self.priors = priors
        self.gain = gain
        self.random_state = random_state

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BayesClassifier:
        """Learn from rows.

        Parameters
        ----------
        X : array or frame of shape (n, D)
        y : array of n labels, or an (n, K) array or frame of soft labels whose rows sum to one
        sample_weight : array of n numbers, default=None
            A weight of 3 counts as the row three times, 0 as its absence.
        """
        fresh = self._forgetful()
        rows = fresh._add(X, y, sample_weight)
        fresh._settled = fresh._settle(rows, trained_on_rows=True)
        self.__dict__ = fresh.__dict__
        return self

    @available_if(_keeps_enough)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> BayesClassifier:
        """Add the statistics of a chunk of rows; nothing else is computed until it is needed.

        ``classes`` may list all classes at the first call; a label that is not in it is then an
        error. Without it, classes are added as they appear.
        """
        fresh = self._copy()
        fresh._add(X, y, sample_weight, classes, whole=False)
        fresh._settled = None
        self.__dict__ = fresh.__dict__
        return self

    def merge(self, other: BayesClassifier) -> BayesClassifier:
        """Return a new classifier with the added statistics; neither part is touched.

        The parts must have counted the same features in the same way. The settings, priors and
        gain of the result are those of this classifier.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        self._refuse_to_merge(other)
        merged = self._copy()
        classes = _union(self.classes_, other.classes_)
        mine, theirs = places(self.classes_, classes), places(other.classes_, classes)
        n = len(classes)
        merged.classes_ = classes
        merged.class_count_ = spread_rows(self.class_count_, mine, n) + spread_rows(
            other.class_count_, theirs, n
        )
        merged.stats_ = self.stats_.spread(mine, n) + other.stats_.spread(theirs, n)
        merged._settled = None
        return merged

    def _refuse_to_merge(self, other: BayesClassifier) -> None:
        """Say why statistics that were counted differently cannot be added."""
        names = (getattr(part, "feature_names_in_", None) for part in (self, other))
        if self.n_features_in_ != other.n_features_in_ or not same_state(*map(_as_list, names)):
            raise ValueError(
                f"Cannot merge: one part has {self.n_features_in_} features "
                f"{_as_list(getattr(self, 'feature_names_in_', None))}, the other "
                f"{other.n_features_in_} {_as_list(getattr(other, 'feature_names_in_', None))}. "
                "Fit both on the same features in the same order."
            )
        if not same_state(self.density_, other.density_):
            raise ValueError(
                f"Cannot merge: the parts counted differently ({self.density_} and "
                f"{other.density_}, or what each learned before counting). Give both the same "
                "settings and let them share one prepared density: fit one part on the first rows, "
                "copy it, and go on with partial_fit."
            )
        if self.classes_.dtype.kind != other.classes_.dtype.kind:
            raise ValueError(
                f"Cannot merge: the classes {self.classes_.tolist()} and "
                f"{other.classes_.tolist()} are labels of different types."
            )

    def with_rule(
        self, *, priors: Any = KEEP, gain: Any = KEEP, X: Any = None, y: Any = None
    ) -> BayesClassifier:
        """Return the same fitted density under a new rule; this classifier is not touched.

        ``X`` (and ``y``, which is optional) are the rows that ``Minimax`` priors are solved over,
        best rows that were not fitted. Only the solved priors are kept.
        """
        settled = self._ready()
        if self._fitted_density.uses_rule:
            warnings.warn(
                f"{type(self._fitted_density).__name__} was tuned for the rule it was fitted with, "
                "and keeps that tuning under the new one. Fit again to tune it anew.",
                KeptTuningWarning,
                stacklevel=2,
            )
        other = self._copy()
        if gain is not KEEP:
            other.gain = gain
        rows = None
        if X is not None:
            table = other._read(X)
            rows = table, self._known_memberships(y, len(table))
        if priors is not KEEP:
            other.priors = priors
        elif settled.solution is not None and rows is None:
            # Solved priors stay as they are where the rows to solve them anew are not at hand.
            other.priors = settled.rule.priors
        other._settled = other._settle(rows, settled.log_density)
        return other

    def _known_memberships(self, y: Any, n_rows: int) -> Memberships | None:
        """Memberships of rows in the fitted classes; None where labels were not given."""
        if y is None:
            return None
        found = read_target(y)
        where = places(found.classes, self.classes_)
        if (where < 0).any():
            raise ValueError(
                f"y has class {found.classes[where < 0][0]!r}, which was not fitted; the classes "
                f"are {self.classes_.tolist()}."
            )
        if len(found) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(found)}.")
        return found.among(self.classes_, where)

    def _density(self) -> Density:
        """The density of the settings."""
        return Gaussian() if self.density is None else self.density

    def _copy(self) -> BayesClassifier:
        """The same classifier in another object; nothing in it is changed in place."""
        other: BayesClassifier = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def _forgetful(self) -> BayesClassifier:
        """The same settings without anything fitted."""
        other = self._copy()
        for name in FITTED:
            other.__dict__.pop(name, None)
        return other

    def _read(self, X: Any, *, first: bool = False) -> Table:
        """Check X against the density's needs and, after the first time, against its features."""
        table = self._fitted_density.read(X, self)
        validate_data(self, X, reset=first, skip_check_array=True)
        return table

    def _add(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, whole: bool = True
    ) -> tuple[Table, Memberships]:
        """Read rows once and add their statistic to what is there."""
        first = "stats_" not in self.__dict__
        if first:
            self._fitted_density = clone(self._density())
        found = read_target(y)
        table = self._read(X, first=first)
        check_consistent_length(np.empty(len(table)), np.empty(len(found)))
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, np.empty(len(table)), dtype=np.float64, ensure_non_negative=True
            )
            there = weights > 0
            if not there.any():
                raise ValueError("sample_weight is zero for every row; some rows must count.")
            found = Memberships(found.classes, found.codes, found.degrees, weights)
            if not there.all():
                table, found = table.take(np.flatnonzero(there)), found.take(there)
        known = self._known_classes(found.classes, classes, first)
        memberships = found.among(known, places(found.classes, known))
        counts = memberships.totals()
        if first:
            rule = self._rule_to_prepare_for(counts, known)
            self.density_ = self._fitted_density.prepare(table, memberships, rule)
            if not whole and self.density_ is not self._fitted_density:
                warnings.warn(
                    f"{type(self._fitted_density).__name__} learned from the first chunk "
                    f"({len(table)} rows) what it must know before counting, and keeps it. Let "
                    "the first chunk be a fair sample of all rows.",
                    PreparedOnChunkWarning,
                    stacklevel=3,
                )
        stats = self.density_.tally(table, memberships)
        if not first:
            where = places(self.classes_, known)
            counts = spread_rows(self.class_count_, where, len(known)) + counts
            stats = self.stats_.spread(where, len(known)) + stats
        self.classes_, self.class_count_, self.stats_ = known, counts, stats
        return table, memberships

    def _known_classes(self, found: np.ndarray, stated: Any, first: bool) -> np.ndarray:
        """All classes so far; an error for a label outside those that were stated."""
        if stated is not None:
            labels, _ = encode_labels(stated)
            if not first and not np.array_equal(labels, self.classes_):
                raise ValueError(
                    f"classes={labels.tolist()} is not the list of the first call, "
                    f"{self.classes_.tolist()}. Leave it out to add classes as they appear."
                )
            self._closed_classes = True
        else:
            labels = found if first else self.classes_
            self._closed_classes = self.__dict__.get("_closed_classes", False) and not first
        new = found[places(found, labels) < 0]
        if len(new) and self._closed_classes:
            raise ValueError(
                f"y has the label {new[0]!r}, which is not in classes={labels.tolist()}."
            )
        return _union(labels, new) if len(new) else labels

    def _rule_to_prepare_for(self, counts: np.ndarray, classes: np.ndarray) -> Rule:
        """The rule as far as it is known before rows were counted; settings are checked here."""
        priors = self.priors
        if isinstance(priors, (Minimax, Shifted)):
            if isinstance(priors, Minimax):
                priors.bounds(classes)
            priors = "empirical"
        return Rule(given_priors(priors, counts, classes), resolve_gain(self.gain, classes)[0])

    # ------------------------------------------------------------------ settling

    def _ready(self) -> Settled:
        """What was settled, settling it first where statistics were added since."""
        check_is_fitted(self)
        settled = self._settled
        if settled is None:
            settled = self._settled = self._settle()
        return settled

    def _settle(
        self,
        rows: tuple[Table, Memberships | None] | None = None,
        log_density: LogDensity | None = None,
        trained_on_rows: bool = False,
    ) -> Settled:
        """Turn statistics into a log-density, and settings into a rule."""
        if log_density is None:
            log_density = self.density_.settle(self.stats_)
        gain, decisions = resolve_gain(self.gain, self.classes_)
        solution = None
        if isinstance(self.priors, Minimax):
            solution = self._solve_minimax(log_density, rows, gain, trained_on_rows)
        elif isinstance(self.priors, Shifted):
            table = self._read(self.priors.X_new)
            solution = self.priors.solve(
                _log_densities(log_density, table), self._shares(), self.classes_
            )
        priors = (
            given_priors(self.priors, self.class_count_, self.classes_)
            if solution is None
            else solution.priors
        )
        randomised = isinstance(self.priors, Minimax) and self.priors.randomised
        where = decision_classes(decisions, self.classes_)
        return Settled(log_density, Rule(priors, gain), decisions, where, solution, randomised)

    def _shares(self) -> np.ndarray:
        """Class shares of the training weight."""
        return self.class_count_ / self.class_count_.sum()

    def _solve_minimax(
        self,
        log_density: LogDensity,
        rows: tuple[Table, Memberships | None] | None,
        gain: np.ndarray,
        trained_on_rows: bool,
    ) -> Any:
        """Minimax priors over the atoms of the density, or over rows as atoms.

        A row's mass under class k is its posterior under the training priors, r_ik / sum_i r_ik:
        the model's risks. One-hot labels would find the rule that knows every label.
        """
        values = log_density.atoms()
        if values is not None:
            masses = np.exp(values)
        elif rows is None:
            raise ValueError(NEEDS_ROWS)
        else:
            table, memberships = rows
            if len(table) > MINIMAX_ROWS:
                keys = table.row_keys(self.random_state)
                chosen = np.sort(np.argpartition(keys, MINIMAX_ROWS)[:MINIMAX_ROWS])
                table = table.take(chosen)
                memberships = None if memberships is None else memberships.take(chosen)
            if memberships is not None and trained_on_rows and self._fitted_density.memorises:
                values = self._out_of_fold(table, memberships)
            else:
                values = _log_densities(log_density, table)
            masses, _, _ = decide.posterior(values, self._shares())
            if memberships is not None and memberships.weights is not None:
                masses = masses * memberships.weights[:, None]
        totals = masses.sum(axis=0)
        return self.priors.solve(
            masses / np.where(totals > 0, totals, 1.0), gain, self.classes_
        )

    def _out_of_fold(self, table: Table, memberships: Memberships) -> np.ndarray:
        """Log-densities of each row by a density that did not see it; equal rows stay together."""
        fold = (table.row_keys(self.random_state) * FOLDS).astype(int)
        values = np.full((len(table), memberships.n_classes), -np.inf)
        for f in range(FOLDS):
            out = np.flatnonzero(fold == f)
            if len(out) == 0:
                continue
            kept = np.flatnonzero(fold != f)
            if len(kept) == 0:
                kept = out  # all rows are equal: there is nothing to hold out
            part, members = table.take(kept), memberships.take(kept)
            rule = self._rule_to_prepare_for(members.totals(), memberships.classes)
            prepared = clone(self._fitted_density).prepare(part, members, rule)
            settled = prepared.settle(prepared.tally(part, members))
            values[out] = _log_densities(settled, table.take(out))
        return values

    # ------------------------------------------------------------------ deciding

    def predict(self, X: Any, gain: Any = None) -> np.ndarray:
        """Decide: the decision of highest expected gain for each row.

        Parameters
        ----------
        X : array or frame of shape (n, D)
        gain : array of shape (n, K, A), default=None
            Gains that differ from row to row, for the same classes and decisions.

        Returns
        -------
        ndarray of shape (n,)
            Labels in their own dtype; of dtype object if some decision is no class.
        """
        return self._ready().decisions[self._decide(X, gain)]

    def _decide(self, X: Any, gain: Any = None) -> np.ndarray:
        """Place of the best decision of each row, in one pass over blocks of rows."""
        settled = self._ready()
        table = self._read(X)
        priors, gain_matrix = settled.rule.priors, settled.rule.gain
        gains = gain_matrix[None]
        if gain is not None:
            gains = row_gains(gain, len(table), gain_matrix.shape)
        draws = self._draws(table) if settled.randomised else None
        best = np.empty(len(table), np.intp)

        def work(start: int, stop: int) -> int:
            values = settled.log_density(table.block(start, stop))
            per_row = gains if gain is None else gains[start:stop]
            if draws is None:
                best[start:stop], lost = decide.best_decisions(values, priors, per_row)
                return lost
            lost = 0
            for j in np.unique(draws[start:stop]):
                mine = np.flatnonzero(draws[start:stop] == j)
                best[start + mine], n = decide.best_decisions(
                    values[mine],
                    settled.solution.mixture_priors[j],
                    per_row if gain is None else per_row[mine],
                )
                lost += n
            return lost

        _warn_no_support(sum(_over_blocks(work, settled.log_density, table)), len(table))
        return best

    def _draws(self, table: Table) -> np.ndarray:
        """Which rule of the randomised minimax rule each row is given, by the row's own values."""
        edges = np.cumsum(self._ready().solution.mixture)
        keys = table.row_keys(self.random_state)
        return np.minimum(np.searchsorted(edges, keys, side="right"), len(edges) - 1)

    def _posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Posteriors and log p(x) of all rows."""
        settled = self._ready()
        table = self._read(X)
        priors = settled.rule.priors
        posterior = np.empty((len(table), len(priors)))
        log_marginal = np.empty(len(table))

        def work(start: int, stop: int) -> int:
            values = settled.log_density(table.block(start, stop))
            posterior[start:stop], log_marginal[start:stop], lost = decide.posterior(values, priors)
            return lost

        _warn_no_support(sum(_over_blocks(work, settled.log_density, table)), len(table))
        return posterior, log_marginal

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posteriors P(k | x), shape (n, K), columns in ``classes_`` order."""
        return self._posterior(X)[0]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the posteriors, exact also where a posterior underflows to zero."""
        settled = self._ready()
        joint = self.log_density(X) + decide.log_of(settled.rule.priors)
        top = joint.max(axis=1, keepdims=True)
        lost = ~np.isfinite(top[:, 0])
        if lost.any():
            joint[lost] = decide.log_of(decide.posterior(joint[lost], settled.rule.priors)[0])
            top[lost] = 0.0
        return joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))

    def expected_gains(self, X: Any) -> np.ndarray:
        """Expected gain of every decision, shape (n, A), columns in ``decisions_`` order."""
        return decide.expected_gains(self.predict_proba(X), self.gain_)

    def decision_proba(self, X: Any) -> np.ndarray:
        """A score per decision, shape (n, A), that sums to one and has the order of the gains.

        With regrets R[k, d] = max_a gain[k, a] - gain[k, d] and r_d = sum_k P(k | x) R[k, d], it is
        (S - r_d) / ((A - 1) S), S the sum of r; equal for all where S is zero. It ignores constants
        added to the gains of a class, and their scale. A score is at most 1 / (A - 1), so more
        decisions make it flatter; with two classes and zero-one gains it is the posterior.

        References
        ----------
        Equation (6) of Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under
        covariate and label noise, SUM 2024.
        """
        return decide.decision_scores(self.predict_proba(X), self.gain_)

    def log_density(self, X: Any) -> np.ndarray:
        """Log-density of each row under each class, shape (n, K), up to a term common to a row."""
        log_density = self._ready().log_density
        return _log_densities(log_density, self._read(X))

    @available_if(_is_normalised)
    def log_marginal(self, X: Any) -> np.ndarray:
        """log p(x) = log sum_k prior[k] density(x | k): how likely the row is at all."""
        return self._posterior(X)[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose decision is the true class; a decision that is no class is a miss."""
        found = read_target(y)
        best = self._decide(X)
        check_consistent_length(best, np.empty(len(found)))
        decided = self._ready().decided_class[best]
        where = places(found.classes, self.classes_)
        if found.degrees is None:
            hits = (where[found.codes] == decided) & (decided >= 0)
        else:
            truth = np.zeros((len(found), len(self.classes_) + 1))
            truth[:, where] = found.degrees
            truth[:, -1] = 0.0  # decisions that are no class, and classes never fitted
            hits = truth[np.arange(len(found)), decided]
        return float(np.average(hits, weights=sample_weight))

    # ------------------------------------------------------------------ fitted attributes

    @property
    def decisions_(self) -> np.ndarray:
        """Names of the decisions, in the order of the columns of ``gain_``."""
        return self._ready().decisions

    @property
    def priors_(self) -> np.ndarray:
        """Priors of the rule, in ``classes_`` order."""
        return self._ready().rule.priors

    @property
    def gain_(self) -> np.ndarray:
        """Gain matrix of the rule: a row per class, a column per decision."""
        return self._ready().rule.gain

    @property
    def log_density_(self) -> LogDensity:
        """The settled log-density."""
        return self._ready().log_density

    @property
    def prior_solution_(self) -> Any:
        """How the priors were found, where they were solved for; else None."""
        return self._ready().solution

    def __sklearn_tags__(self) -> Any:
        return self._density().describe_input(super().__sklearn_tags__())


def _over_blocks(work: Any, log_density: LogDensity, table: Table) -> Any:
    """Run ``work(start, stop)`` over blocks of the size the log-density likes."""
    size = log_density.block_rows
    return map_blocks(work, len(table), block_rows(table.n_columns) if size == 0 else size)


def _log_densities(log_density: LogDensity, table: Table) -> np.ndarray:
    """Log-densities of all rows, block by block."""
    parts = _over_blocks(lambda a, b: log_density(table.block(a, b)), log_density, table)
    return np.concatenate(list(parts))


def _union(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sorted labels of both, in a dtype that holds them."""
    return encode_labels(np.concatenate([one, other]))[0]


def _as_list(values: Any) -> Any:
    """An array or None as something that prints well and compares by value."""
    return None if values is None else list(values)


def _warn_no_support(lost: int, n_rows: int) -> None:
    if lost:
        warnings.warn(
            f"{lost} of {n_rows} rows have zero density under every class with a prior; their "
            "posteriors are the priors. Check their units, or use a density with heavier tails.",
            NoSupportWarning,
            stacklevel=3,
        )
