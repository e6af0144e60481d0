"""The discrete Bayesian classifier, hard and soft: any profiles as a density.

    p_kt    =   mean over the rows of class k of   u_t(x_i)             equations (2) and (11)
    f_k(x)  =   sum over profiles t of   u_t(x) * p_kt / p_t,   p_t = sum_k share_k p_kt

with ``u_t(x)`` the membership of x in profile t and ``share_k`` the class shares of the training
rows. Under these shares as priors, ``prior_k f_k(x)`` is the posterior (5) and (12) of Chen, Gilet,
Quost, Destercke (SUM 2024); under other priors it obeys Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from bayesrule.around import check_whole
from bayesrule.centers import KMeansProfiles
from bayesrule.clusterers import as_profiles
from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.encoding import Encoding, read_profiled
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.profile_tuning import asked_settings, best_settings
from bayesrule.stats import Sums
from bayesrule.tables import Table


class Profiled(Density):
    """Profiles as a density: DBC where they are hard, SPDBC where they are soft.

    Parameters
    ----------
    profiles : Profiles, default=None
        :class:`KMeansProfiles`, :class:`FuzzyProfiles`, :class:`MixtureProfiles`,
        :class:`TreeProfiles`, :class:`CellProfiles`, :class:`ForestProfiles`, or a clusterer of
        scikit-learn with ``predict_proba`` or ``predict``. None is ``KMeansProfiles()``, which
        must be written out for a search over ``density__profiles__n_profiles`` and the like. Where
        ``n_profiles`` or ``fuzziness`` is "auto", or a list of values, it is the one that decides
        best on rows left out in turn; "auto" tries 5, 10, 20, ..., 160 profiles and a fuzziness of
        1.1, 1.3, 1.6 and 2.
    reading : {"density", "paper"}
        What the posterior is under other priors than the training shares. "density" follows Bayes'
        rule. "paper" puts the priors into the sum of equation (12) as its letter says,
        sum_t u_t(x) prior_k p_kt / sum_j prior_j p_jt, so that they are fixed when the model is
        fitted; it is for reproductions. Where profiles are hard the two agree.
    folds : int, default=5
        Parts that the rows are dealt into where settings of the profiles are chosen.
    repeats : int, default=1
        How often the rows are dealt anew for that.

    Notes
    -----
    In a profile that no row of any class belongs to, the posterior is the prior.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, KMeansProfiles, Profiled
    >>> X, y = [[0.0], [1.0], [1.2], [9.0], [9.1], [8.0]], [0, 0, 1, 1, 1, 1]
    >>> clf = BayesClassifier(Profiled(KMeansProfiles(2))).fit(X, y)
    >>> clf.predict_proba([[0.5], [9.5]]).round(3)
    array([[0.667, 0.333],
           [0.   , 1.   ]])

    Settings that are chosen by cross-validated gain:

    >>> from sklearn.datasets import load_iris
    >>> from bayesrule import FuzzyProfiles
    >>> profiles = FuzzyProfiles(n_profiles=[5, 10, 20], fuzziness="auto")
    >>> clf = BayesClassifier(Profiled(profiles, folds=10)).fit(*load_iris(return_X_y=True))
    >>> chosen = clf.density_.partition
    >>> chosen.n_profiles, chosen.fuzziness
    (10, 1.3)
    """

    normalised: ClassVar[bool] = False

    def __init__(
        self, profiles: Any = None, reading: str = "density", folds: int = 5, repeats: int = 1
    ):
        self.profiles = profiles
        self.reading = reading
        self.folds = folds
        self.repeats = repeats

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether priors are fixed, or settings chosen, when the model is fitted."""
        return self.reading == "paper" or bool(asked_settings(self.profiles))

    @property
    def atoms_from_counts(self) -> bool:  # type: ignore[override]
        """Whether the profiles are hard, so that minimax priors need no rows."""
        return bool(getattr(self._profiles(), "hard", False))

    def _profiles(self) -> Any:
        """The profiles of the settings."""
        return as_profiles(KMeansProfiles() if self.profiles is None else self.profiles)

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers, and categories as numbers."""
        return read_profiled(X, estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedProfiles:
        """Learn the profiles."""
        self.require("reading", "density", "paper")
        check_whole(self, folds=2, repeats=1)
        profiles = self._profiles()
        if asked_settings(profiles):
            chosen = best_settings(self, profiles, table, memberships, rule)
            profiles = clone(profiles).set_params(**chosen)
        return self.around(profiles.learn(table, memberships), table, memberships, rule)

    def around(
        self, partition: Any, table: Table, memberships: Memberships, rule: Rule
    ) -> FittedProfiles:
        """Profiles that were learned from some rows, with what the reading fixes."""
        shares = memberships.totals()
        if self.reading == "paper" and not np.allclose(rule.priors, shares / shares.sum()):
            return FittedProfiles(partition, table.layout, rule.priors)
        return FittedProfiles(partition, table.layout)


@dataclass(frozen=True)
class FittedProfiles:
    """Profiles that were learned.

    Attributes
    ----------
    partition : Partition
    encoding : Encoding or None
        How categories are written as numbers, where there are any.
    priors : ndarray of shape (K,) or None
        Priors inside the sum over profiles; None for the training shares.
    """

    partition: Any
    encoding: Encoding | None = None
    priors: np.ndarray | None = None

    def read(self, X: Any, estimator: Any) -> Table:
        """Read X as it was read when the profiles were learned."""
        return read_profiled(X, estimator, self.encoding, fitted=True)

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weight of each class, and of each profile in it."""
        n_classes = memberships.n_classes

        def work(start: int, stop: int) -> np.ndarray:
            entries = memberships.entries(start, stop)
            counts: np.ndarray = self.partition.gather(table.block(start, stop), entries, n_classes)
            return counts

        size = self.partition.block_rows
        size = block_rows(table.n_columns) if size == 0 else size
        return Sums(memberships.totals(), reduce(add, map_blocks(work, len(table), size)))

    def settle(self, stats: Sums) -> LogDensity:
        """Profiles of each class over those of all."""
        priors = stats.weight / stats.weight.sum() if self.priors is None else self.priors
        if len(priors) != len(stats.weight):
            raise ValueError(
                f"reading='paper' has fixed the priors of {len(priors)} classes, but there are "
                f"{len(stats.weight)} now. Name all classes to the first partial_fit."
            )
        seen = stats.weight > 0
        table = stats.sums / np.where(seen, stats.weight, 1.0)[:, None]
        whole = priors @ table
        ratio = np.divide(table, whole, out=np.ones_like(table), where=whole > 0)
        return ProfiledLaw(self.partition, table, ratio, seen)


@dataclass(frozen=True)
class ProfiledLaw(LogDensity):
    """Settled profiles.

    Attributes
    ----------
    partition : Partition
    table : ndarray of shape (K, T)
        p_kt, the chance of each profile given the class.
    ratio : ndarray of shape (K, T)
        p_kt / p_t.
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    partition: Any
    table: np.ndarray
    ratio: np.ndarray
    seen: np.ndarray

    @property
    def block_rows(self) -> int | None:  # type: ignore[override]
        size: int | None = self.partition.block_rows
        return size

    def __call__(self, table: Table) -> np.ndarray:
        values = log_of(self.partition.mix(table, self.ratio))
        values[:, ~self.seen] = -np.inf
        return values

    def atoms(self) -> np.ndarray | None:
        return log_of(self.table.T) if self.partition.hard else None
