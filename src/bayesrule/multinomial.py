"""The multinomial density of rows of counts, with its Dirichlet-multinomial form.

    log p(x | k)  =  sum over j of  x_j log theta_kj  +  log (n! / prod x_j!)
    theta_kj      =  (N_kj + alpha) / (N_k + alpha D)

The multinomial coefficient is common to the classes and left out, as is the chance of the length
n of a row, which the counts given their sum say nothing about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.counts import read_counts
from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule, check_memory
from bayesrule.kernels import counts as loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.memberships import Memberships
from bayesrule.stats import Sums
from bayesrule.tables import Table

#: Rows of one block: enough that the interpreter's share of the time vanishes.
BLOCK_ROWS = 4096


class Multinomial(Density):
    """Counts whose shares differ between the classes: words of a text, items of a basket.

    Parameters
    ----------
    alpha : float >= 0
        What is added to every count. With 0, a column that a class never showed rules the class
        out, and one that no class showed says nothing.
    estimate : {"smoothed", "predictive"}
        Decide with the smoothed shares; or average over all shares that the counts leave possible,
        under a symmetric Dirichlet prior of ``alpha``. The latter knows that a word which came once
        will come again, and is less sure of itself where a class has few counts.

    Notes
    -----
    X is sparse of any format, an array or a frame; compressed rows are not copied. Fractions, such
    as tf-idf weights, are taken as they are. A row that counts nothing has the same density under
    all classes. A missing count is refused: it leaves the length of the row unknown.

    log p(x) is not offered, since the length of a row has no density here.

    References
    ----------
    Madsen, Kauchak, Elkan: Modeling word burstiness using the Dirichlet distribution, ICML 2005.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Multinomial
    >>> X, y = [[3, 0, 1], [2, 1, 0], [0, 4, 1], [1, 3, 2]], ["pets", "pets", "cars", "cars"]
    >>> BayesClassifier(Multinomial()).fit(X, y).predict_proba([[2, 1, 0]]).round(3)
    array([[0.139, 0.861]])
    """

    normalised: ClassVar[bool] = False

    learns: ClassVar[bool] = False

    def __init__(self, alpha: float = 1.0, estimate: str = "smoothed"):
        self.alpha = alpha
        self.estimate = estimate

    def read(self, X: Any, estimator: Any) -> Table:
        """Check the counts."""
        return read_counts(X, estimator, distinct=self.estimate == "predictive")

    def describe_input(self, tags: Any) -> Any:
        """Counts, sparse or dense."""
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # Classes that differ in the sum of a row, not in its shares, look the same.
        tags.classifier_tags.poor_score = True
        return tags

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Multinomial:
        """Check the settings; there is nothing to learn before counting."""
        require_smoothing(self)
        check_memory(
            32 * memberships.n_classes * table.n_columns,
            f"Counts of {table.n_columns} columns in {memberships.n_classes} classes",
            "Use fewer columns.",
        )
        return self

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weighted counts of each column in each class."""
        return count_columns(table, memberships)

    def settle(self, stats: Sums) -> LogDensity:
        """Log-densities from the counts and alpha."""
        return settle_counts(stats.weight, stats.sums, self.alpha, self.estimate)


def require_smoothing(density: Density) -> None:
    """Check ``alpha`` and ``estimate``, wherever they are settings."""
    density.require("alpha", between=(0.0, np.inf))
    density.require("estimate", "smoothed", "predictive")
    alpha, estimate = getattr(density, "alpha", 0.0), getattr(density, "estimate", "")
    if not (alpha < np.inf and (alpha > 0 or estimate == "smoothed")):
        raise ValueError(
            f"{type(density).__name__}(alpha={alpha!r}, estimate={estimate!r}): alpha must be "
            "finite, and a Dirichlet prior needs alpha > 0. Use a small one, such as 0.01."
        )


def count_columns(table: Table, memberships: Memberships) -> Sums:
    """Weighted counts of each column in each class, in one pass over what is not zero."""
    counts = table.counts
    n_classes, n_columns = memberships.n_classes, table.n_columns

    def work(start: int, stop: int) -> np.ndarray:
        sums = np.zeros((n_classes, n_columns))
        entries = memberships.entries(start, stop)
        loops.class_sums(counts.data, counts.indices, counts.indptr, start, *entries, sums)
        return sums

    # A block adds a whole table of sums: it must count many more entries than the table has.
    n_blocks = max(1, min(64, counts.nnz // (8 * n_classes * max(1, n_columns))))
    size = -(-len(table) // n_blocks)
    return Sums(memberships.totals(), reduce(add, map_blocks(work, len(table), size)))


def settle_counts(
    weight: np.ndarray, sums: np.ndarray, alpha: float, estimate: str
) -> MultinomialLaw | CompoundLaw:
    """The law that counts per class and their smoothing give."""
    pseudo = sums + alpha
    totals = pseudo.sum(axis=1)
    lengths = sums.sum(axis=1) / np.where(weight > 0, weight, 1.0)
    if estimate == "predictive":
        return CompoundLaw(_table(pseudo), totals, lengths, weight > 0)
    log_share = log_of(pseudo)
    log_share -= log_of(np.where(totals > 0, totals, 1.0))[:, None]
    if alpha == 0:
        log_share[:, ~sums.any(axis=0)] = 0.0  # seen in no class: it says nothing
    return MultinomialLaw(_table(log_share), lengths, weight > 0)


def _table(values: np.ndarray) -> np.ndarray:
    """The transpose of a (K, D) array, padded with zeros and placed as the loops like it."""
    n_classes, n_columns = values.shape
    width = loops.lanes(n_classes)
    memory = np.zeros(n_columns * width + loops.LINE // 8)
    start = -memory.ctypes.data % loops.LINE // 8  # at the beginning of a cache line
    table = memory[start : start + n_columns * width].reshape(n_columns, width)
    table[:, :n_classes] = values.T
    return table


def _over_rows(
    loop: Callable[..., None], table: Table, constants: tuple[np.ndarray, ...], seen: np.ndarray
) -> np.ndarray:
    """Run a loop over blocks of rows; a class without rows has no density."""
    counts = table.counts
    out = np.empty((len(table), len(seen)))

    def work(start: int, stop: int) -> None:
        loop(counts.data, counts.indices, counts.indptr, start, *constants, out[start:stop])

    for _ in map_blocks(work, len(table), BLOCK_ROWS):
        pass
    if not seen.all():
        out[:, ~seen] = -np.inf
    return out


@dataclass(frozen=True)
class MultinomialLaw(LogDensity):
    """A settled multinomial.

    Attributes
    ----------
    table : ndarray of shape (D, K or more)
        Log-shares, the classes of a column side by side.
    lengths : ndarray of shape (K,)
        Mean sum of a row of each class.
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    #: Blocks are cut here: a block of a sparse array is a copy, and parts of its memory are not.
    block_rows: ClassVar[int | None] = None

    table: np.ndarray
    lengths: np.ndarray
    seen: np.ndarray

    @property
    def log_share(self) -> np.ndarray:
        """Log-share of each column in the counts of each class, shape (K, D)."""
        return self.table[:, : len(self.seen)].T

    @property
    def factors(self) -> bool:
        return True

    def __call__(self, table: Table) -> np.ndarray:
        loop = loops.weighted_logs_of_two if len(self.seen) == 2 else loops.weighted_logs
        return _over_rows(loop, table, (self.table,), self.seen)

    def terms(self, table: Table) -> np.ndarray:
        """Count times log-share of each column; dense, so ask for it in blocks of rows."""
        shape = (len(table), len(self.seen), len(self.table))
        check_memory(
            16 * int(np.prod(shape)),
            f"The terms of {shape[0]} rows, {shape[1]} classes and {shape[2]} columns",
            "Ask for fewer rows at once.",
        )
        counts = table.counts.toarray()[:, None, :]
        with np.errstate(invalid="ignore"):
            terms = np.where(counts > 0, counts * self.log_share, 0.0)
        terms[:, ~self.seen] = -np.inf
        return terms


@dataclass(frozen=True)
class CompoundLaw(LogDensity):
    """A settled Dirichlet-multinomial: shares are averaged over, and so do not factor.

    Attributes
    ----------
    table : ndarray of shape (D, K or more)
        Counts plus alpha, the classes of a column side by side.
    totals : ndarray of shape (K,)
        Their sums.
    lengths : ndarray of shape (K,)
        Mean sum of a row of each class.
    seen : ndarray of shape (K,)
        Classes with rows; the others have no density.
    """

    block_rows: ClassVar[int | None] = None

    table: np.ndarray
    totals: np.ndarray
    lengths: np.ndarray
    seen: np.ndarray

    @property
    def log_share(self) -> np.ndarray:
        """Log of the mean share of each column in the counts of each class, shape (K, D)."""
        shares: np.ndarray = self.table[:, : len(self.seen)].T / self.totals[:, None]
        return log_of(shares)

    def __call__(self, table: Table) -> np.ndarray:
        constants = (self.table, log_of(self.table), self.totals)
        out = _over_rows(loops.compound_logs, table, constants, self.seen)
        lost = np.isnan(out).any(axis=1).sum()
        if lost:
            raise ValueError(
                f"Input X has counts that are too large: of {lost} rows the factorials overflow, "
                "even as logarithms. Divide the counts of such rows, or leave those rows out."
            )
        return out
