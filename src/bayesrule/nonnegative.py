"""Numbers of zero or more, and laws that take one column at a time.

What the laws of counts, waiting times and positive numbers share: how X is read, how its columns
are summed, how a product over columns is settled, and what is said where a class has too little.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.density import Density, LogDensity
from bayesrule.kernels import rates as loops
from bayesrule.kernels.blocks import BLOCK_BYTES, block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.notices import (
    FewRowsWarning,
    FractionalCountsWarning,
    SingularScatterWarning,
)
from bayesrule.stats import Sums
from bayesrule.tables import Table, name_columns

#: Rates and means are kept between this and its inverse, so that logarithms stay finite.
TINY = 1e-300


class Nonnegative(Density):
    """A density of numbers of zero or more, with gaps."""

    accept_missing: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    #: Whether the numbers should be whole.
    whole: ClassVar[bool] = False

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers of zero or more; fractions draw a warning where they should be whole."""
        table = super().read(X, estimator)
        numbers = table.numbers
        assert numbers is not None
        if not numbers.flags.forc:
            numbers = np.ascontiguousarray(numbers)
        negatives, fractions = loops.negatives_and_fractions(numbers.ravel(order="K"))
        law = type(self).__name__
        if negatives:
            where = name_columns((numbers < 0).sum(axis=0), table.names)
            raise ValueError(
                f"Negative values in data: {law} takes numbers of zero or more, but X is below "
                f"zero in {where}. Replace them by NaN if they stand for something unknown, or "
                "give these columns a density on the whole line, such as Gaussian."
            )
        if self.whole and fractions:
            parts = ~np.isnan(numbers) & (np.floor(numbers) != numbers)
            warnings.warn(
                f"{law} is a law of whole counts, but X has fractions in "
                f"{name_columns(parts.sum(axis=0), table.names)}. Posteriors still weigh them by "
                "their size, but log p(x) has lost its meaning. Use Gamma or Exponential for "
                "measurements, or round what should be counts.",
                FractionalCountsWarning,
                stacklevel=2,
            )
        return table

    def describe_input(self, tags: Any) -> Any:
        """Numbers of zero or more, with gaps."""
        tags.input_tags.positive_only = True
        return super().describe_input(tags)


class ColumnByColumn(LogDensity):
    """A settled law that is a product over columns; subclasses add one column at a time."""

    seen: np.ndarray

    @abstractmethod
    def add_column(self, x: np.ndarray, j: int, out: np.ndarray) -> None:
        """Add the log-densities of the values ``x`` of column j to ``out`` (n, K)."""

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.seen)))
        for j in range(table.n_columns):
            self.add_column(table.numbers[:, j], j, out)
        out[:, ~self.seen] = -np.inf
        return out

    def terms(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        out = np.zeros((len(table), len(self.seen), table.n_columns))
        for j in range(table.n_columns):
            self.add_column(table.numbers[:, j], j, out[:, :, j])
        out[:, ~self.seen] = -np.inf
        return out


def tally_values(table: Table, memberships: Memberships) -> Sums:
    """Weight of each class; per column the weight of its values, their sum, and that of zeros."""

    def work(start: int, stop: int) -> Sums:
        values = table.block(start, stop).numbers
        entries = memberships.entries(start, stop)
        return Sums(*loops.sums_of_values(values, *entries, memberships.n_classes))

    size = block_rows(table.n_columns, bytes_per_block=8 * BLOCK_BYTES)
    return reduce(add, map_blocks(work, len(table), size))


def over_classes(total: np.ndarray, weight: np.ndarray, otherwise: float = 0.0) -> np.ndarray:
    """Mean of each column over all classes."""
    below = weight.sum(axis=0)
    return np.where(below > 0, total.sum(axis=0) / np.where(below > 0, below, 1.0), otherwise)


def warn_few_rows(lacking: np.ndarray) -> None:
    """Say which classes have too few values in which columns, told by an array (K, D)."""
    if lacking.any():
        warnings.warn(
            f"{_places(lacking)} have too few values to tell what is needed, and borrow from all "
            "classes. Give them more rows.",
            FewRowsWarning,
            stacklevel=2,
        )


def warn_singular(flat: np.ndarray, cause: str) -> None:
    """Say which classes have only values that no law fits in which columns (K, D)."""
    if flat.any():
        warnings.warn(
            f"Singular: {_places(flat)} have values that are all {cause}, and were regularised. "
            "Drop such columns, add rows, or use a density for categories.",
            SingularScatterWarning,
            stacklevel=2,
        )


def _places(which: np.ndarray) -> str:
    """The first few classes and columns that an array (K, D) marks."""
    classes, columns = np.flatnonzero(which.any(axis=1)), np.flatnonzero(which.any(axis=0))
    return (
        f"{len(classes)} of the classes (numbers {classes[:5].tolist()} in classes_ order; "
        f"columns {columns[:5].tolist()}{' and more' if len(columns) > 5 else ''})"
    )
