"""Whole numbers: Poisson or Gaussian, whichever finds the first rows likelier, column by column."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.density import Density, LogDensity, Rule
from bayesrule.gaussian import Gaussian
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.lending import classes_seen, lent
from bayesrule.memberships import Memberships
from bayesrule.rates import Poisson
from bayesrule.stats import Several
from bayesrule.tables import Table, read_numbers, refuse

#: Log-likelihood below which a value counts no further when laws are compared: one value that a
#: class never shows must not decide for a whole column.
WORST = -1e3
#: As many rows, drawn at random, tell a Poisson law from a Gaussian one.
ROWS = 50_000


class Whole(Density):
    """A Poisson or a Gaussian law per class for each column of whole numbers.

    Visits and accidents are Poisson, ages and years are not. Which it is, is chosen once for each
    column by the likelihood of the rows that ``prepare`` sees, or of a sample of them. A column
    that was found to be Poisson takes no negative values later.

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
        counts = ~np.array([_negative(x).any() or _fractional(x).any() for x in table.numbers.T])
        if len(table) > ROWS:
            drawn = np.random.default_rng(0).choice(len(table), ROWS, replace=False)
            table, memberships = table.take(drawn), memberships.take(drawn)
        likelihood = np.full((2, table.n_columns), -np.inf)
        for law, density in enumerate((Poisson(), Gaussian("diag"))):
            columns = np.flatnonzero(counts) if law == 0 else np.arange(table.n_columns)
            if len(columns) == 0:
                continue
            part = narrow(table, columns)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is doubtful is said once, when it is fitted
                settled = density.settle(density.tally(part, memberships))
            likelihood[law, columns] = _log_likelihood(settled, part, memberships)
        return FittedWhole(likelihood[0] > likelihood[1])


def _log_likelihood(law: LogDensity, table: Table, memberships: Memberships) -> np.ndarray:
    """Log-likelihood of each column, the log-density of a value being ``WORST`` at worst."""

    def work(start: int, stop: int) -> np.ndarray:
        rows, codes, weights = memberships.entries(start, stop)
        terms = law.terms(table.block(start, stop))[rows, codes]
        total: np.ndarray = weights @ np.maximum(terms, WORST)
        return total

    size = block_rows(memberships.n_classes * table.n_columns)
    return reduce(add, map_blocks(work, len(table), size))


def _negative(x: np.ndarray) -> np.ndarray:
    """Which values are below zero; gaps are not."""
    return x < 0


def _fractional(x: np.ndarray) -> np.ndarray:
    """Which values are not whole; gaps are."""
    fractional: np.ndarray = ~np.isnan(x) & (np.floor(x) != x)
    return fractional


def narrow(table: Table, columns: np.ndarray) -> Table:
    """Some columns of a table of numbers."""
    assert table.numbers is not None
    if len(columns) == table.n_columns:
        return table
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
        """Numbers, with gaps; counts must still be counts."""
        table = read_numbers(X, accept_missing=True, estimator=estimator)
        assert table.numbers is not None
        if self.poisson.any():
            part = narrow(table, np.flatnonzero(self.poisson))
            assert part.numbers is not None
            refuse(
                _negative(part.numbers),
                part,
                "negative values",
                "These columns were counts when they were fitted, with a Poisson law: replace what "
                "stands for something unknown by NaN, or give them another density from the "
                "start, such as Gaussian",
            )
        return table

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """Statistics of both kinds of columns."""
        return Several(
            tuple(d.tally(narrow(table, columns), memberships) for d, columns in self._split)
        )

    def settle(self, stats: Several) -> LogDensity:
        """Both laws."""
        split = self._split
        laws = tuple(d.settle(part) for (d, _), part in zip(split, stats.parts, strict=True))
        return SplitLaw(lent(laws), tuple(columns for _, columns in split))


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
    def seen(self) -> np.ndarray | None:
        """Classes that have a density; None where no law tells."""
        return classes_seen(self.laws)

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
