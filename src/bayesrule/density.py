"""What a density is: three verbs.

A *density* says how likely a row is under each class, up to a term common to the row. Writing one
takes three functions:

- ``prepare(table, memberships, rule)`` learns what must be known before counting (centres,
  boundaries, a vocabulary) and returns it as a *prepared* density. A density that needs nothing
  is its own prepared density, which is the default.
- ``tally(table, memberships)`` turns rows into a statistic that adds up (:mod:`bayesrule.stats`).
- ``settle(stats)`` turns the statistic into a :class:`LogDensity`, a frozen callable
  ``table -> (n, K)``. Everything that is not a count happens here: smoothing, ridges, shrinkage.

Since only ``tally`` sees rows and its results add up, fitting at once, in chunks, on many files or
on many machines is one code path.
"""

from __future__ import annotations

import numbers
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from bayesrule.memberships import Memberships
from bayesrule.tables import Table, read_numbers


@dataclass(frozen=True)
class Rule:
    """The numbers of a decision rule: priors (K,) and gains (K, A), a row per true class."""

    priors: np.ndarray
    gain: np.ndarray


class LogDensity(ABC):
    """A settled density: a frozen callable from a table of n rows to (n, K) log-densities."""

    #: Rows the callable likes to see at once; 0 lets the caller cut blocks that fit the cache,
    #: None asks for all rows in one call.
    block_rows: ClassVar[int | None] = 0
    #: Whether a missing or infinite number, taken for one that is there, always gives an answer
    #: that is not finite. Then finite answers vouch for the rows, and nobody need look at them.
    vouches: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, table: Table) -> np.ndarray:
        """Log-density of each row under each class, up to a term common to the row."""

    @property
    def factors(self) -> bool:
        """Whether the log-density is a sum over columns, which :meth:`terms` gives one by one."""
        return False

    @property
    def features(self) -> list[str] | None:
        """Names of the terms, where the log-density knows them better than the table."""
        return None

    @property
    def sources(self) -> list[tuple[str, ...]] | None:
        """Columns that each term is of, where terms have names of their own and are of columns."""
        return None

    def terms(self, table: Table) -> np.ndarray:
        """Log-density of each column alone, shape (n, K, D); they sum to the log-density."""
        raise TypeError(f"{type(self).__name__} does not factor over the columns.")

    @property
    def lookup(self) -> np.ndarray | None:
        """Log-densities (M, K) that rows are told by their :meth:`places`; None where not so.

        What is then computed once for each of the M need not be computed for every row.
        """
        return None

    def places(self, table: Table) -> np.ndarray | None:
        """Place of each row's log-densities in ``lookup``; None where some row has none there."""
        return None

    def atoms(self) -> np.ndarray | None:
        """Log-densities of the finitely many values a row can take, where counts alone tell them.

        Minimax priors then need no rows. None says that rows are needed.
        """
        return None


class Prepared(Protocol):
    """A density that has learned what it needs before counting. Frozen; never cloned.

    It may also have ``read_by_block``, which reads like ``read`` but may leave the search for
    missing values to :func:`bayesrule.settling.block_values`.
    """

    def read(self, X: Any, estimator: Any) -> Table:
        """Check X and read it as it was read when this was prepared."""
        ...

    def tally(self, table: Table, memberships: Memberships) -> Any:
        """Statistic of some rows, weights folded in."""
        ...

    def settle(self, stats: Any) -> LogDensity:
        """Log-density that the statistic supports."""
        ...


class Density(BaseEstimator, ABC):
    """Settings of a density. Subclasses are final."""

    #: Whether the log-densities are those of normalised densities, so that log p(x) has a meaning.
    normalised: ClassVar[bool] = True
    #: Whether fitted rows look more likely than new ones (kernels, neighbours, deep trees). Risks
    #: are then estimated out of fold.
    memorises: ClassVar[bool] = False
    #: Whether ``prepare`` learns from the rows, or only checks settings. Files that are larger than
    #: memory are read once more where it does, to draw it a sample.
    learns: ClassVar[bool] = True
    #: Whether ``prepare`` tunes something for the rule it is given.
    uses_rule: ClassVar[bool] = False
    #: Whether counts alone give the atoms of the settled log-density.
    atoms_from_counts: ClassVar[bool] = False
    #: Whether a row may have missing values.
    accept_missing: ClassVar[bool] = False

    def read(self, X: Any, estimator: Any) -> Table:
        """Check X and read what this density needs of it."""
        return read_numbers(X, accept_missing=self.accept_missing, estimator=estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Prepared:
        """Learn what must be known before counting; nothing, unless overridden."""
        return self

    def require(self, name: str, *allowed: Any, between: tuple[float, float] | None = None) -> None:
        """Refuse a setting that is neither one of ``allowed`` nor a number ``between`` two."""
        require_setting(self, name, *allowed, between=between)

    def describe_input(self, tags: Any) -> Any:
        """Tell scikit-learn, through its tags, which X this density takes."""
        tags.input_tags.allow_nan = self.accept_missing
        return tags


def require_setting(
    owner: Any, name: str, *allowed: Any, between: tuple[float, float] | None = None
) -> None:
    """Refuse a setting of ``owner`` that is neither ``allowed`` nor a number ``between`` two."""
    value = getattr(owner, name)
    flag = isinstance(value, (bool, np.bool_))
    plain = isinstance(value, (str, numbers.Number, type(None), np.bool_))
    good = plain and any(value == a and flag == isinstance(a, bool) for a in allowed)
    if isinstance(value, numbers.Real) and not flag and between is not None:
        good = good or between[0] <= float(value) <= between[1]
    if not good:
        known = [repr(a) for a in allowed]
        if between is not None:
            known.append(f"a number from {between[0]:g} to {between[1]:g}")
        raise ValueError(
            f"{type(owner).__name__}({name}={value!r}) is not known; use {' or '.join(known)}."
        )


def memory_budget() -> int:
    """Bytes one model may take: ``BAYESRULE_MEMORY_GB``, or half of the machine's memory."""
    setting = os.environ.get("BAYESRULE_MEMORY_GB")
    if setting:
        return int(float(setting) * 2**30)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not told on this system
        return 4 * 2**30


def check_memory(n_bytes: int, what: str, advice: str) -> None:
    """Refuse, before any work, what would not fit the budget."""
    budget = memory_budget()
    if n_bytes > budget:
        raise MemoryError(
            f"{what} need {n_bytes / 2**30:.1f} GiB, more than the budget of {budget / 2**30:.1f} "
            f"GiB. {advice} BAYESRULE_MEMORY_GB sets another budget."
        )


def same_state(one: Any, other: Any) -> bool:
    """Whether two prepared densities hold the same settings and learned values.

    Statistics may be added only if they were counted in the same way. Objects of other packages
    are the same only if they are one object.
    """
    if one is other:
        return True
    if isinstance(one, numbers.Number) and isinstance(other, numbers.Number):
        return bool(one == other)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool(np.all(one == other))
    if is_dataclass(one):
        compared = [f.name for f in fields(one) if f.compare]
        return all(same_state(getattr(one, name), getattr(other, name)) for name in compared)
    if isinstance(one, Density):
        return same_state(one.get_params(deep=False), other.get_params(deep=False))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_state(one[k], other[k]) for k in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same_state, one, other))
    return isinstance(one, str) and one == other
