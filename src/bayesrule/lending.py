"""Classes without any value in a block of columns: nothing may be concluded from that block.

A density gives no chance to a class that has no rows. In a block of several, a class may have
rows, and yet every value of the block may be missing in them. All that is known of it there is
how the others are, so it does as they do on average:

    p_b(x | k)   =   mean over the classes j with values of   p_b(x | j)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bayesrule.density import LogDensity
from bayesrule.tables import Table


def _seen(law: LogDensity) -> np.ndarray | None:
    """Classes that a law has a density for; None where it does not tell."""
    found: np.ndarray | None = getattr(law, "seen", None)
    return found


def classes_seen(laws: tuple[LogDensity, ...]) -> np.ndarray | None:
    """Classes that any of the laws of a row's blocks has seen; None where no law tells."""
    told = [seen for seen in map(_seen, laws) if seen is not None]
    return np.any(told, axis=0) if told else None


def lent(laws: tuple[LogDensity, ...]) -> tuple[LogDensity, ...]:
    """Laws of the blocks of a row, lent to the classes that only other blocks have seen."""
    everyone = classes_seen(laws)

    def lend(law: LogDensity) -> LogDensity:
        seen = _seen(law)
        if seen is None or everyone is None or (seen == everyone).all():
            return law
        return LentLaw(law, seen, everyone & ~seen)

    return tuple(map(lend, laws))


@dataclass(frozen=True)
class LentLaw(LogDensity):
    """A law of which some classes that it has not seen borrow.

    Attributes
    ----------
    law : LogDensity
    lenders, borrowers : bool ndarray of shape (K,)
    """

    law: LogDensity
    lenders: np.ndarray
    borrowers: np.ndarray

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density here."""
        return self.lenders | self.borrowers

    @property
    def factors(self) -> bool:
        return self.law.factors

    @property
    def features(self) -> list[str] | None:
        return self.law.features

    @property
    def sources(self) -> list[tuple[str, ...]] | None:
        return self.law.sources

    def __call__(self, table: Table) -> np.ndarray:
        if self.law.factors:  # the mean is taken column by column
            out: np.ndarray = self.terms(table).sum(axis=2)
            return out
        return self._lend(self.law(table))

    def terms(self, table: Table) -> np.ndarray:
        return self._lend(self.law.terms(table))

    def _lend(self, values: np.ndarray) -> np.ndarray:
        """Give the borrowers, along the second axis, the mean density of the lenders."""
        out = values.copy()
        if not self.lenders.any():  # the block is all gaps, and says nothing
            out[:, self.borrowers] = 0.0
            return out
        lenders = values[:, self.lenders]
        mean = logsumexp(lenders, axis=1, keepdims=True) - np.log(lenders.shape[1])
        out[:, self.borrowers] = mean
        return out
