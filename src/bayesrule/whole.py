"""Whole numbers: Poisson or Gaussian, whichever finds the first rows likelier, column by column."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesrule.density import Density, LogDensity, Rule
from bayesrule.gaussian import Gaussian
from bayesrule.memberships import Memberships
from bayesrule.rates import Poisson
from bayesrule.stats import Several
from bayesrule.tables import Table, read_numbers

#: Log-likelihood below which a value counts no further when laws are compared: one value that a
#: class never shows must not decide for a whole column.
WORST = -1e3


class Whole(Density):
    """A Poisson or a Gaussian law per class for each column of whole numbers.

    Visits and accidents are Poisson, ages and years are not. Which it is, is chosen once for each
    column by the likelihood of the rows that ``prepare`` sees.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Whole
    >>> rng = np.random.default_rng(0)
    >>> X = np.c_[rng.poisson(2.0, 200), rng.normal(1950, 10, 200).round()]
    >>> BayesClassifier(Whole()).fit(X, rng.integers(0, 2, 200)).density_.laws
    ('Poisson()', "Gaussian(covariance='diag')")
    """

    accept_missing: ClassVar[bool] = True

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedWhole:
        """Compare the laws on the rows."""
        assert table.numbers is not None
        known = np.nan_to_num(table.numbers, nan=0.0)
        whole = np.all((known >= 0) & (known == np.floor(known)), axis=0)
        rows, codes, weights = memberships.entries()
        likelihood = np.full((2, table.n_columns), -np.inf)
        for law, density in enumerate((Poisson(), Gaussian("diag"))):
            columns = np.flatnonzero(whole) if law == 0 else np.arange(table.n_columns)
            if len(columns) == 0:
                continue
            part = narrow(table, columns)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is doubtful is said once, when it is fitted
                settled = density.settle(density.tally(part, memberships))
            terms = settled.terms(part)[rows, codes]
            likelihood[law, columns] = weights @ np.maximum(terms, WORST)
        return FittedWhole(likelihood[0] > likelihood[1])


def narrow(table: Table, columns: np.ndarray) -> Table:
    """Some columns of a table of numbers."""
    assert table.numbers is not None
    names = None if table.names is None else tuple(table.names[j] for j in columns)
    return Table(table.numbers[:, columns], missing=table.missing, names=names)


@dataclass(frozen=True)
class FittedWhole:
    """Which columns are Poisson; the others are Gaussian.

    Attributes
    ----------
    poisson : bool ndarray of shape (D,)
    """

    poisson: np.ndarray

    @property
    def laws(self) -> tuple[str, ...]:
        """The density of each column."""
        names = (repr(Gaussian("diag")), repr(Poisson()))
        return tuple(names[int(chosen)] for chosen in self.poisson)

    @property
    def _split(self) -> list[tuple[Density, np.ndarray]]:
        """Densities and the places of their columns."""
        pairs = ((Poisson(), self.poisson), (Gaussian("diag"), ~self.poisson))
        return [(density, np.flatnonzero(which)) for density, which in pairs if which.any()]

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers, with gaps."""
        return read_numbers(X, accept_missing=True, estimator=estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Statistics of both kinds of columns."""
        return Several(
            tuple(d.tally(narrow(table, columns), memberships) for d, columns in self._split)
        )

    def settle(self, stats: Several) -> LogDensity:
        """Both laws."""
        split = self._split
        laws = tuple(d.settle(part) for (d, _), part in zip(split, stats.parts, strict=True))
        return SplitLaw(laws, tuple(columns for _, columns in split))


@dataclass(frozen=True)
class SplitLaw(LogDensity):
    """Laws that share the columns of one table among them.

    Attributes
    ----------
    laws : tuple of LogDensity
    columns : tuple of ndarray
        Places of each law's columns.
    """

    laws: tuple[LogDensity, ...]
    columns: tuple[np.ndarray, ...]

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        parts = [
            law(narrow(table, columns))
            for law, columns in zip(self.laws, self.columns, strict=True)
        ]
        return np.sum(parts, axis=0)

    def terms(self, table: Table) -> np.ndarray:
        parts = [
            law.terms(narrow(table, columns))
            for law, columns in zip(self.laws, self.columns, strict=True)
        ]
        order = np.argsort(np.concatenate(self.columns))
        return np.concatenate(parts, axis=2)[:, :, order]
