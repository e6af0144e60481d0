"""Several densities of the same rows: their posteriors are averaged.

    P(k | x)   =   sum over members i of   w_i P_i(k | x),      P_i(k | x)  ∝  t_k p_i(x | k)

t are the shares of the classes among the rows of the fit. Members may read different columns, or
the same ones: each speaks for itself, and no column counts twice as it would in a product. As a
density this is

    f_k(x)   =   sum_i w_i P_i(k | x) / t_k

so other priors enter by Bayes' rule. All statistics are counted in one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from bayesrule.column_blocks import place_of, read_blocks
from bayesrule.columns import Block, FittedColumns
from bayesrule.composed import Composed
from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.frames import as_frame, held
from bayesrule.lending import lent
from bayesrule.memberships import Memberships
from bayesrule.stats import Several, Sums
from bayesrule.tables import Table


class Pooled(Composed):
    """The mean posterior of several densities: soft voting, or the linear opinion pool.

    Parameters
    ----------
    members : list of densities, or of pairs (columns, density)
        A density alone reads all columns; in a pair, those that are listed by name or place.
        Searches reach them by their places: ``members__0``, ``members__0__shrinkage``.
    weights : list of numbers, default=None
        What each member's posterior counts; None lets all count the same.

    References
    ----------
    M. Stone: The opinion pool. Annals of Mathematical Statistics 32, 1961.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Gaussian, Histogram, Pooled
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 2.5], [7.0, 9.0], [8.0, 8.0], [9.0, 8.5]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> corners = Histogram(bins=[5.0, 5.5], joint=True)
    >>> members = [Gaussian("tied"), ([0], corners)]
    >>> clf = BayesClassifier(Pooled(members)).fit(X, y)
    >>> posteriors = [
    ...     BayesClassifier(Gaussian("tied")).fit(X, y).predict_proba([[4.0, 4.0]]),
    ...     BayesClassifier(corners).fit([row[:1] for row in X], y).predict_proba([[4.0]]),
    ... ]
    >>> (clf.predict_proba([[4.0, 4.0]]) - sum(posteriors) / 2).round(12).tolist()
    [[0.0, 0.0]]
    """

    normalised: ClassVar[bool] = False
    listing: ClassVar[str] = "members"

    def __init__(self, members: Sequence[Any], weights: Sequence[float] | None = None):
        self.members = members
        self.weights = weights

    def listed(self) -> dict[str, Any]:
        """The members' densities, by their places."""
        if isinstance(self.members, (str, Density)) or not hasattr(self.members, "__len__"):
            return {}
        return {
            str(i): member[1] if _is_pair(member) else member
            for i, member in enumerate(self.members)
        }

    def relisted(self, changed: dict[str, Any]) -> list[Any]:
        """The same members with other densities for some."""
        return [
            (member[0], changed.get(str(i), member[1]))
            if _is_pair(member)
            else changed.get(str(i), member)
            for i, member in enumerate(self.members)
        ]

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Whether any member does."""
        return any(density.learns for density in self.possible())

    @property
    def accept_missing(self) -> bool:  # type: ignore[override]
        """Whether all members do."""
        return all(density.accept_missing for density in self.possible())

    def read(self, X: Any, estimator: Any) -> Table:
        """Read each member's columns as that member does."""
        frame, names = as_frame(X, estimator)
        blocks = self._blocks(frame, names)
        return read_blocks(frame, names, blocks, [block.density for block in blocks], estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedPooled:
        """Prepare every member."""
        pairs = zip(table.layout, table.parts, strict=True)
        prepared = tuple(block.density.prepare(part, memberships, rule) for block, part in pairs)
        return FittedPooled(FittedColumns(table.layout, prepared), self._shares())

    def _shares(self) -> np.ndarray:
        """Weights that sum to one."""
        n = len(self.members)
        try:
            weights = np.ones(n) if self.weights is None else np.asarray(self.weights, np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        fine = weights.shape == (n,) and np.isfinite(weights).all() and (weights >= 0).all()
        if not fine or weights.sum() == 0:
            raise ValueError(
                f"Pooled(weights={self.weights!r}) must be {n} numbers from zero up, one for each "
                "member and not all zero; None gives all the same."
            )
        shares: np.ndarray = weights / weights.sum()
        return shares

    def _blocks(self, frame: Any, names: tuple[str, ...]) -> tuple[Block, ...]:
        """The columns of each member."""
        if isinstance(self.members, (str, Density)) or not hasattr(self.members, "__len__"):
            raise TypeError(f"Pooled(members={self.members!r}) must be a list of densities.")
        if not len(self.members):
            raise ValueError("Pooled(members=[]) has no member to ask.")
        self._shares()
        blocks = []
        for member in self.members:
            columns, density = member if _is_pair(member) else (range(len(names)), member)
            if not isinstance(density, Density):
                raise TypeError(
                    f"Pooled has the member {member!r}; expected a density such as Gaussian(), or "
                    "a pair (columns, density)."
                )
            listed = [columns] if isinstance(columns, str) or np.ndim(columns) == 0 else columns
            places = tuple(place_of(column, names) for column in listed)
            if not places or len(set(places)) < len(places):
                raise ValueError(f"Pooled has the member {member!r}: no column, or one twice.")
            blocks.append(
                Block(
                    "given",
                    places,
                    tuple(names[j] for j in places),
                    tuple(held(frame[:, j]) for j in places),
                    clone(density),
                )
            )
        return tuple(blocks)


def _is_pair(member: Any) -> bool:
    """Whether a member says which columns are its own."""
    return isinstance(member, (tuple, list)) and len(member) == 2


@dataclass(frozen=True)
class FittedPooled:
    """Members that are ready to count.

    Attributes
    ----------
    columns : FittedColumns
        The members and their columns.
    weights : ndarray of shape (n_members,)
    """

    columns: FittedColumns
    weights: np.ndarray

    def read(self, X: Any, estimator: Any) -> Table:
        """Read X as it was read when this was prepared."""
        return self.columns.read(X, estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Weights of the classes, and the statistics of every member."""
        totals = memberships.totals()
        members = self.columns.tally(table, memberships)
        return Several((Sums(totals, totals[:, None]), members))

    def settle(self, stats: Several) -> LogDensity:
        """Log-densities of the members, and the shares under which they vote."""
        sums, members = stats.parts
        pairs = zip(self.columns.prepared, members.parts, strict=True)
        laws = tuple(prepared.settle(part) for prepared, part in pairs)
        return PooledLaw(lent(laws), self.weights, sums.weight / sums.weight.sum())


@dataclass(frozen=True)
class PooledLaw(LogDensity):
    """The logarithm of the mean posterior over the shares of the classes.

    Attributes
    ----------
    laws : tuple of LogDensity
    weights : ndarray of shape (n_members,)
    shares : ndarray of shape (K,)
        The priors of the members' posteriors.
    """

    laws: tuple[LogDensity, ...]
    weights: np.ndarray
    shares: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density."""
        return self.shares > 0

    def posteriors(self, table: Table) -> list[np.ndarray]:
        """Log-posteriors (n, K) of each member under the shares; NaN where it supports no class."""
        found = []
        for law, part in zip(self.laws, table.parts, strict=True):
            joint = law(part) + log_of(self.shares)
            with np.errstate(invalid="ignore"):
                found.append(joint - logsumexp(joint, axis=1, keepdims=True))
        return found

    def __call__(self, table: Table) -> np.ndarray:
        total = np.full((len(table), len(self.shares)), -np.inf)
        lost = np.ones(len(table), bool)
        priors = log_of(self.shares)
        for posterior, weight in zip(self.posteriors(table), self.weights, strict=True):
            if weight == 0:
                continue
            silent = np.isnan(posterior).any(axis=1)
            lost &= silent
            posterior[silent] = priors  # who knows nothing votes with the priors
            total = np.logaddexp(total, posterior + np.log(weight))
        total[lost] = -np.inf
        out: np.ndarray = np.where(self.seen, total - np.where(self.seen, priors, 0.0), -np.inf)
        return out
