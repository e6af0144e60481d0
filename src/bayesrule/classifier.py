"""The one estimator: a density per class, priors, a gain matrix, the decision of highest gain.

    gain of decision d at x   =   sum over classes k of   gain[k, d] * P(k | x)
    P(k | x)                  ∝   prior[k] * density(x | k)
    decide(x)                 =   the d of highest gain

``fit`` reads X and y once, lets the density prepare, tallies the rows into a statistic, and
settles it into a log-density; then the priors are solved and the rule is ready. A chunk, a file,
a worker or a second model enters at the tally and leaves at a plus sign.
"""
# Longer than most files here: it is the public face, and more than half of it is documentation.

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_features,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from bayesrule import decide
from bayesrule.density import Density, LogDensity
from bayesrule.gains import row_gains
from bayesrule.gaussian import Gaussian
from bayesrule.keys import row_keys
from bayesrule.learned import Learned, classes_with, present
from bayesrule.memberships import Memberships, places, read_target
from bayesrule.minimax import Minimax
from bayesrule.notices import (
    KeptTuningWarning,
    NoClassDecidedWarning,
    NoSupportWarning,
    PreparedOnChunkWarning,
)
from bayesrule.settling import (
    NEEDS_ROWS,
    Rows,
    Settled,
    Wanted,
    block_values,
    log_densities,
    over_blocks,
)
from bayesrule.tables import Table, as_read, unnamed_columns

#: "Leave it as it is", where None has a meaning of its own.
KEEP: Any = type("Keep", (), {"__repr__": lambda self: "KEEP"})()


def _is_normalised(clf: BayesClassifier) -> bool:
    density = clf._density()
    if not density.normalised:
        raise AttributeError(
            f"log p(x) has no meaning for {type(density).__name__}: its log-densities are known "
            "only up to a term common to the classes."
        )
    return True


def _tells_intervals(clf: BayesClassifier) -> bool:
    if not hasattr(clf._ready().log_density, "posterior_interval"):
        raise AttributeError(
            "Only neighbours tell how sure a posterior is: they are few, and can be counted."
        )
    return True


def _measures_distances(clf: BayesClassifier) -> bool:
    if not hasattr(clf._ready().log_density, "outlyingness"):
        raise AttributeError(
            f"{type(clf._density()).__name__} has no robust distances; Elliptical() has."
        )
    return True


def _lookup(settled: Settled, table: Table) -> np.ndarray | None:
    """Log-densities that all rows share; None where there are none, or more than rows.

    Rows without support are counted one by one: a lookup has none.
    """
    lookup = settled.log_density.lookup
    if lookup is None or len(lookup) > len(table):
        return None
    supported = (np.isfinite(lookup) & (settled.rule.priors > 0)).any(axis=1).all()
    return lookup if supported else None


def _keeps_enough(clf: BayesClassifier) -> bool:
    if isinstance(clf.priors, Minimax) and not clf._density().atoms_from_counts:
        raise AttributeError(NEEDS_ROWS)
    return True


#: What fitting adds to the settings.
FITTED = ("_learned", "_settled", "_columns_in", "n_features_in_", "feature_names_in_", "files_")


def _factors(clf: BayesClassifier) -> bool:
    if not clf._ready().log_density.factors:
        raise AttributeError(
            f"{type(clf._density()).__name__} does not factor over the features, so no feature has "
            "a contribution of its own. Use a density of independent columns, or Columns()."
        )
    return True


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """Decide by highest expected gain.

    Parameters
    ----------
    density : Density, default=None
        What each class looks like; None is ``Gaussian()``, which must be written out for a search
        over ``density__shrinkage`` and the like. See :mod:`bayesrule.density`.
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
    >>> clf.predict_proba([[4.2]]).round(2), clf.predict([[4.2]]).tolist()
    (array([[0.1, 0.9]]), ['ill'])
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

    _learned: Learned
    _settled: Settled | None
    _columns_in: list[Any] | None
    n_features_in_: int

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
        fresh = self._copy(forget=True)
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
        table, _ = fresh._add(X, y, sample_weight, classes)
        learned = fresh._learned
        if "_learned" not in self.__dict__ and learned.prepared is not learned.density:
            warnings.warn(
                f"{type(learned.density).__name__} learned from the first chunk ({len(table)} "
                "rows) what it must know before counting, and keeps it. Let the first chunk be a "
                "fair sample of all rows.",
                PreparedOnChunkWarning,
                stacklevel=2,
            )
        fresh._settled = None
        self.__dict__ = fresh.__dict__
        return self

    def fit_files(
        self,
        paths: Any,
        target: Any,
        weight: str | None = None,
        columns: Any = None,
        *,
        classes: Any = None,
        types: Any = None,
        executor: Any = None,
        sample: int | None = None,
        on_bad_file: str = "raise",
        checkpoint: Any = None,
    ) -> BayesClassifier:
        """Learn from files of any size, in memory that does not grow with their rows.

        Counts are those that ``fit`` finds on all rows at once, to the last bit, and moments agree
        to rounding. Classes and categories may first appear in the last file. Densities that learn
        before they count (``Columns``, which tells types; boundaries, centres, vocabularies) do so
        on a sample of all files, which takes one pass more; ``files_`` says what was done.

        Parameters
        ----------
        paths : str, path, or list of them
            Parquet, Arrow (Feather) and CSV files, the latter also as .gz, .bz2 or .zst; patterns
            such as ``data/*.parquet``; folders; addresses that fsspec opens, such as s3://. Or a
            Dask frame or array, each of whose partitions is a part of the rows.
        target : str, or list of str
            The column of the classes, or those of soft labels. Beside a Dask array or frame also
            labels, as a Dask array or series.
        weight : str, default=None
            The column of the weights; a Dask array where target is one.
        columns : list of str, default=None
            The features; None takes all other columns.
        classes : list, default=None
            All classes; a label that is not in it is then an error.
        types : dict {column: type}, default=None
            Types of columns of CSV files, such as "string", where the first rows mislead.
        executor : int, concurrent.futures.Executor or dask.distributed.Client, default=None
            Who does the work: so many threads (None: one for each core), or the workers of an
            executor. The result has the same bits whoever does it. None lets a Dask collection be
            worked on by the client that is there.
        sample : int, default=None
            Rows to draw where the density learns before it counts; None is as many as take
            64 MB, at most a million.
        on_bad_file : {"raise", "skip"}
            What to do with files that cannot be read or hold something else: stop with an error
            that names the file, or leave them out and list them in ``files_.skipped``.
        checkpoint : str or path, default=None
            A file that keeps what was done while the fit lasts. Should the run be killed, the same
            call goes on from there and gives the same bits.

        Examples
        --------
        >>> import os, tempfile
        >>> import pandas as pd
        >>> from bayesrule import BayesClassifier
        >>> rows = pd.DataFrame({"x": [1.0, 2.0, 7.0, 9.0], "class": ["a", "a", "b", "b"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows[:2].to_parquet(os.path.join(folder, "monday.parquet"))
        ...     rows[2:].to_parquet(os.path.join(folder, "tuesday.parquet"))
        ...     clf = BayesClassifier().fit_files(folder, target="class")
        >>> clf.files_.n_files, clf.files_.passes, clf.classes_.tolist()
        (2, ('counted 4 rows',), ['a', 'b'])
        """
        from bayesrule.passes import fit_files

        fresh = fit_files(
            self,
            paths,
            target,
            weight,
            columns,
            classes,
            types,
            executor,
            sample,
            on_bad_file,
            checkpoint,
        )
        self.__dict__ = fresh.__dict__
        return self

    def predict_files(
        self,
        paths: Any,
        out: Any,
        keep: Any = None,
        *,
        columns: Any = None,
        posteriors: bool = True,
        gains: bool = True,
        types: Any = None,
        executor: Any = None,
        on_bad_file: str = "raise",
    ) -> Any:
        """Decide rows of files of any size, and write the answers beside the columns to keep.

        The answers are ``decision``, ``probability_<class>`` for each class and ``gain_<decision>``
        for each decision: what ``predict``, ``predict_proba`` and ``expected_gains`` give. Rows
        stay in their order. ``out`` is there whole or not at all, whatever goes wrong.

        Parameters
        ----------
        paths : str, path, or list of them
            What to read, as for :meth:`fit_files`.
        out : str or path
            A .parquet, .arrow, .csv or .csv.gz file, or an address that fsspec opens. A name
            without such an ending is a new folder, which gets a Parquet file for each part of the
            rows, written by whoever works on it.
        keep : list of str, default=None
            Columns to write beside the answers; None keeps all, [] none.
        columns : list of str, default=None
            The features, for a classifier that was fitted without names.
        posteriors, gains : bool, default=True
            Whether to write them beside the decision.
        types, executor, on_bad_file
            As for :meth:`fit_files`. Before a part is decided, "skip" reads it once more to see
            whether it is sound.

        Returns
        -------
        FilesRead
            Files and rows that were decided, and what was skipped.

        Examples
        --------
        >>> import os, tempfile
        >>> import pandas as pd
        >>> from bayesrule import BayesClassifier
        >>> clf = BayesClassifier().fit(pd.DataFrame({"x": [1.0, 2.0, 7.0, 9.0]}), [0, 0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows, out = (os.path.join(folder, name) for name in ("rows.csv", "out.csv"))
        ...     pd.DataFrame({"case": [7, 8], "x": [1.5, 8.0]}).to_csv(rows, index=False)
        ...     done = clf.predict_files(rows, out, keep=["case"], gains=False)
        ...     print(pd.read_csv(out).round(2).to_string(index=False))
         case  decision  probability_0  probability_1
            7         0            1.0            0.0
            8         1            0.0            1.0
        """
        from bayesrule.answers import predict_files
        from bayesrule.parts import wants_skipping

        skip = wants_skipping(on_bad_file)
        return predict_files(
            self, paths, out, keep, columns, posteriors, gains, types, executor, skip
        )

    def merge(self, other: BayesClassifier) -> BayesClassifier:
        """Return a new classifier with the added statistics; neither part is touched.

        The parts must have counted the same features in the same way. The settings, priors and
        gain of the result are those of this classifier.
        """
        if not isinstance(other, BayesClassifier):
            raise TypeError(f"Only a BayesClassifier can be merged in, not {other!r}.")
        features = []
        for part in (self, other):
            check_is_fitted(part)
            names = getattr(part, "feature_names_in_", None)
            named = part._columns_in if names is None else names.tolist()
            features.append((getattr(part, "n_features_in_", None), named))
        if features[0] != features[1]:
            raise ValueError(
                f"Cannot merge: one part has the features {features[0]}, the other {features[1]}. "
                "Fit both on the same features in the same order."
            )
        merged = self._copy()
        merged._learned = self._learned.merge(other._learned)
        merged._settled = None
        return merged

    def with_rule(
        self, *, priors: Any = KEEP, gain: Any = KEEP, X: Any = None, y: Any = None
    ) -> BayesClassifier:
        """Return the same fitted density under a new rule; this classifier is not touched.

        ``X`` (and ``y``, which is optional) are the rows that ``Minimax`` priors are solved over,
        best rows that were not fitted. Only the solved priors are kept. Without rows, priors that
        were solved for the gain before stay as they are, with a warning.
        """
        settled = self._ready()
        density = self._learned.density
        if density.uses_rule:
            warnings.warn(
                f"{type(density).__name__} was tuned for the rule it was fitted with, and keeps "
                "that tuning under the new one. Fit again to tune it anew.",
                KeptTuningWarning,
                stacklevel=2,
            )
        other = self._copy()
        if gain is not KEEP:
            other.gain = gain
        rows = None
        if X is not None:
            table = other._read(X, self._learned.prepared)
            rows = table, self._known_memberships(y, len(table))
        if priors is not KEEP:
            other.priors = priors
        elif settled.solution is not None and rows is None:
            # Solved priors stay as they are where the rows to solve them anew are not at hand.
            other.priors = settled.rule.priors
            if isinstance(self.priors, Minimax):
                warnings.warn(
                    "The minimax priors were solved for the gain before, and are kept. Give "
                    "with_rule rows (X=) to solve them for the new one.",
                    KeptTuningWarning,
                    stacklevel=2,
                )
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
                f"y has class {found.classes[where < 0].tolist()[0]!r}, which was not fitted; the "
                f"classes are {self.classes_.tolist()}."
            )
        check_consistent_length(np.empty(n_rows), np.empty(len(found)))
        return found.among(self.classes_, where)

    def _density(self) -> Density:
        """The density of the settings."""
        if self.density is None:
            return Gaussian()
        if not isinstance(self.density, Density):
            raise TypeError(
                f"density must be a density such as Gaussian(), but is {self.density!r}. Wrap a "
                "scikit-learn classifier: FromClassifier(...)."
            )
        return self.density

    def _copy(self, *, forget: bool = False) -> BayesClassifier:
        """The same classifier in another object, with or without what was fitted.

        Methods that learn work on a copy and publish it whole, so that bad input cannot leave a
        half-fitted object.
        """
        other: BayesClassifier = object.__new__(type(self))
        left_out = FITTED if forget else ()
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k not in left_out})
        return other

    def _read(self, X: Any, reader: Any, *, first: bool = False) -> Table:
        """Check X against the density's needs and, after the first time, against its features."""
        return self._read_by(reader.read, X, first)

    def _read_by_block(self, X: Any) -> Table:
        """The same for ``block_values`` alone, which makes a pass over the rows less of it."""
        reader = self._learned.prepared
        return self._read_by(getattr(reader, "read_by_block", reader.read), X, False)

    def _read_by(self, read: Callable[[Any, Any], Table], X: Any, first: bool) -> Table:
        X = as_read(X)
        table = read(X, self)
        self._check_features(X, first=first)
        return table

    def _check_features(self, X: Any, *, first: bool) -> None:
        """Remember the names and the number of the features, or compare them with the first."""
        if first or not self._is_bare_column(X):
            validate_data(self, X, reset=first, skip_check_array=True)
        names = unnamed_columns(X)
        if first:
            self._columns_in = names
        elif names is not None and self._columns_in is not None and names != self._columns_in:
            raise ValueError(
                f"The columns of X are {names[:10]}, but were {self._columns_in[:10]} when it was "
                "fitted. Put them in the same order."
            )

    def _is_bare_column(self, X: Any) -> bool:
        """Whether X is a list or series where the density takes one: the only column, unnamed."""
        try:
            _num_features(X)
        except TypeError:
            one: bool = self.__sklearn_tags__().input_tags.one_d_array
            return one
        return False

    def _add(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> tuple[Table, Memberships]:
        """Read rows once and add their statistic to what is there."""
        before: Learned | None = self.__dict__.get("_learned")
        density = clone(self._density()) if before is None else before.density
        found = read_target(y)
        reader = density if before is None else before.prepared
        table = self._read(X, reader, first=before is None)
        check_consistent_length(np.empty(len(table)), np.empty(len(found)))
        table, found = present(table, found, sample_weight)
        known, closed = classes_with(found.classes, classes, before)
        memberships = found.among(known, places(found.classes, known))
        if before is None:
            rule = self._wanted().before_counting(memberships.totals(), known)
            self._learned = Learned.begin(density, table, memberships, rule, closed)
        else:
            self._learned = before.add(table, memberships)
        return table, memberships

    def _wanted(self) -> Wanted:
        """The rule of the settings."""
        if not isinstance(self.random_state, Integral) or isinstance(self.random_state, bool):
            raise ValueError(
                f"random_state={self.random_state!r} must be a whole number: decisions about a row "
                "may not change from call to call."
            )
        return Wanted(self.priors, self.gain, self.random_state)

    def _settle(
        self,
        rows: Rows | None = None,
        log_density: LogDensity | None = None,
        trained_on_rows: bool = False,
    ) -> Settled:
        """Turn statistics into a log-density, and settings into a rule."""
        learned = self._learned
        if log_density is None:
            log_density = learned.prepared.settle(learned.stats)
        read = partial(self._read, reader=learned.prepared)
        return self._wanted().settle(learned, log_density, rows, read, trained_on_rows)

    def _ready(self) -> Settled:
        """What was settled, settling it first where statistics were added since."""
        check_is_fitted(self)
        settled = self._settled
        if settled is None:
            settled = self._settled = self._settle()
        return settled

    def __sklearn_is_fitted__(self) -> bool:
        return "_learned" in self.__dict__

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
        return self._decide(X, self._ready().decisions, gain)

    def _decide(self, X: Any, answers: np.ndarray, gain: Any = None) -> np.ndarray:
        """The answer to the best decision of each row, in one pass over blocks of rows."""
        settled = self._ready()
        table = self._read_by_block(X)
        gain_matrix = settled.rule.gain
        gains = gain_matrix[None]
        if gain is not None:
            gains = row_gains(gain, len(table), gain_matrix.shape)
        draws = self._draws(table)
        answered = np.empty(len(table), answers.dtype)
        known = None
        if gain is None and draws is None and (lookup := _lookup(settled, table)) is not None:
            known = answers[self._best(lookup, gains, None)[0]]

        def work(start: int, stop: int) -> int:
            if known is not None:
                places = settled.log_density.places(table.block(start, stop).looked())
                if places is not None:
                    np.take(known, places, out=answered[start:stop], mode="clip")
                    return 0
            values = block_values(settled.log_density, table, start, stop)
            best, lost = self._best(
                values,
                gains if gain is None else gains[start:stop],
                None if draws is None else draws[start:stop],
            )
            answered[start:stop] = answers[best]
            return lost

        warn_no_support(sum(over_blocks(work, settled.log_density, table)), len(table))
        return answered

    def _best(
        self, values: np.ndarray, gains: np.ndarray, draws: np.ndarray | None
    ) -> tuple[np.ndarray, int]:
        """Place of the best decision of some rows, and how many have no support."""
        settled = self._ready()
        if draws is None:
            return decide.best_decisions(values, settled.rule.priors, gains)
        best, lost = np.empty(len(values), np.intp), 0
        for j in np.unique(draws):
            mine = np.flatnonzero(draws == j)
            best[mine], n = decide.best_decisions(
                values[mine],
                settled.solution.mixture_priors[j],
                gains if len(gains) == 1 else gains[mine],
            )
            lost += n
        return best, lost

    def _draws(self, table: Table) -> np.ndarray | None:
        """Which rule of a randomised minimax rule each row is given, by the row's own values."""
        settled = self._ready()
        if not settled.randomised:
            return None
        edges = np.cumsum(settled.solution.mixture)
        keys = row_keys(table, self.random_state)
        return np.minimum(np.searchsorted(edges, keys, side="right"), len(edges) - 1)

    def _posterior(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Posteriors and log p(x) of all rows."""
        settled = self._ready()
        table = self._read_by_block(X)
        priors = settled.rule.priors
        posterior = np.empty((len(table), len(priors)))
        log_marginal = np.empty(len(table))
        known = None
        if (lookup := _lookup(settled, table)) is not None:
            known = decide.posterior(lookup, priors)

        def work(start: int, stop: int) -> int:
            if known is not None:
                places = settled.log_density.places(table.block(start, stop).looked())
                if places is not None:
                    np.take(known[0], places, axis=0, out=posterior[start:stop], mode="clip")
                    np.take(known[1], places, out=log_marginal[start:stop], mode="clip")
                    return 0
            values = block_values(settled.log_density, table, start, stop)
            posterior[start:stop], log_marginal[start:stop], lost = decide.posterior(values, priors)
            return lost

        warn_no_support(sum(over_blocks(work, settled.log_density, table)), len(table))
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
        return log_densities(log_density, self._read_by_block(X))

    @available_if(_is_normalised)
    def log_marginal(self, X: Any) -> np.ndarray:
        """log p(x) = log sum_k prior[k] density(x | k): how likely the row is at all."""
        return self._posterior(X)[1]

    @available_if(_tells_intervals)
    def posterior_interval(self, X: Any, level: float = 0.95) -> np.ndarray:
        """Bounds of the posteriors, shape (n, K, 2), that the few rows behind them allow.

        For each class they are those of the chance that a neighbour is of that class (the interval
        of Jeffreys, on as many votes as there are neighbours), priced by priors and class sizes. A
        class without a neighbour has the posterior zero, but not an upper bound of zero.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level={level!r} must lie between 0 and 1, such as 0.95.")
        settled = self._ready()
        table = self._read(X, self._learned.prepared)
        law: Any = settled.log_density

        def work(start: int, stop: int) -> np.ndarray:
            bounds: np.ndarray = law.posterior_interval(
                table.block(start, stop), settled.rule.priors, level
            )
            return bounds

        return np.concatenate(list(over_blocks(work, law, table)))

    @available_if(_measures_distances)
    def outlyingness(self, X: Any) -> np.ndarray:
        """Robust distance of each row from each class, shape (n, K), on the scale of Gaussian rows.

        Half of the training rows of a class are as near to it as half of the rows of a standard
        Gaussian of as many columns would be: beyond ``sqrt(chi2.ppf(0.975, D))`` lie the farthest
        2.5 % of Gaussian rows, and outliers. NaN for a class without rows.
        """
        settled = self._ready()
        table = self._read(X, self._learned.prepared)
        law: Any = settled.log_density

        def work(start: int, stop: int) -> np.ndarray:
            distances: np.ndarray = law.outlyingness(table.block(start, stop))
            return distances

        return np.concatenate(list(over_blocks(work, law, table)))

    @available_if(_factors)
    def contributions(self, X: Any) -> np.ndarray:
        """Weight of evidence of each feature for each class, shape (n, K, F).

        For feature f and class k it is log p(x_f | k) - log p(x_f), with p(x_f) the mixture of the
        classes under the priors. The difference between two classes, summed over the features, is
        their log posterior odds less their log prior odds, exactly. Names of the features are in
        ``contribution_names_``.
        """
        settled = self._ready()
        log_priors = decide.log_of(settled.rule.priors)[:, None]
        table = self._read(X, self._learned.prepared)

        def work(start: int, stop: int) -> np.ndarray:
            terms = settled.log_density.terms(table.block(start, stop))
            joint = terms + log_priors
            top = joint.max(axis=1, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            marginal = top + decide.log_of(np.exp(joint - top).sum(axis=1, keepdims=True))
            # A value that no class shows is no evidence for any.
            return terms - np.where(np.isfinite(marginal), marginal, 0.0)

        return np.concatenate(list(over_blocks(work, settled.log_density, table)))

    @property
    def contribution_names_(self) -> list[str]:
        """Names of the features of ``contributions``."""
        names = self._ready().log_density.features
        if names is None:
            n_features = self.n_features_in_
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(n_features)])
        return [str(name) for name in names]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows whose decision is the true class; a decision that is no class is a miss."""
        found = read_target(y)
        if (self._ready().decided_class < 0).all():
            warnings.warn(
                f"No decision of {self.decisions_.tolist()} is a class, so every row is a miss and "
                "the score is zero, whatever is fitted. Use scoring=expected_gain_scorer().",
                NoClassDecidedWarning,
                stacklevel=2,
            )
        decided = self._decide(X, self._ready().decided_class)
        check_consistent_length(decided, np.empty(len(found)))
        where = places(found.classes, self.classes_)
        if (where < 0).all():
            raise ValueError(
                f"No class of y, {found.classes[:10].tolist()}, is among those that were fitted, "
                f"{self.classes_[:10].tolist()}. Give y the labels of the fit."
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, decided, dtype=np.float64, ensure_non_negative=True
            )
        if found.degrees is None:
            hits = (where[found.codes] == decided) & (decided >= 0)
        else:
            truth = np.zeros((len(found), len(self.classes_) + 1))
            truth[:, where] = found.degrees
            truth[:, -1] = 0.0  # decisions that are no class, and classes never fitted
            hits = truth[np.arange(len(found)), decided]
        return float(np.average(hits, weights=weights))

    # ------------------------------------------------------------------ fitted attributes

    @property
    def classes_(self) -> np.ndarray:
        """Sorted class labels."""
        check_is_fitted(self)
        return self._learned.classes

    @property
    def class_count_(self) -> np.ndarray:
        """Training weight of each class."""
        check_is_fitted(self)
        return self._learned.class_count

    @property
    def density_(self) -> Any:
        """The prepared density, carrying what was learned before counting."""
        check_is_fitted(self)
        return self._learned.prepared

    @property
    def stats_(self) -> Any:
        """All that was kept of the rows."""
        check_is_fitted(self)
        return self._learned.stats

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


def warn_no_support(lost: int, n_rows: int) -> None:
    """Say that some rows are far from all that was seen."""
    if lost:
        warnings.warn(
            f"{lost} of {n_rows} rows have zero density under every class with a prior; their "
            "posteriors are the priors. Check their units, or use a density with heavier tails.",
            NoSupportWarning,
            stacklevel=3,
        )
