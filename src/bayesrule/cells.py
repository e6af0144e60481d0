"""Quantised cells under a memory limit: a table of counts as a density.

    p(cell | k)   =   n_kc / N_k                        or smoothed, see bayesrule.smoothing

Each feature is cut into levels by boundaries, a cell is a level on each feature, and all that is
kept of the rows is how many of each class are in each cell: ``max_cells`` numbers per class. All
the art is in the boundaries. They are learned before counting, with the decision in view, and
shared by the classes, so that counts add up.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.addresses import flattened, strides
from bayesrule.cell_plans import learned_boundaries
from bayesrule.cells_law import CellsLaw
from bayesrule.density import Density, Rule
from bayesrule.encoding import Encoding
from bayesrule.kernels import cells as loops
from bayesrule.kernels.blocks import map_blocks
from bayesrule.memberships import Memberships
from bayesrule.notices import FewRowsWarning
from bayesrule.ranked import read_ranked
from bayesrule.smoothing import Smoothing, smoothed_counts
from bayesrule.stats import Sums
from bayesrule.stopwatch import Stage
from bayesrule.tables import Table

#: Rows that are counted in one call, at least.
BLOCK = 1 << 16


class Cells(Density):
    """A decision table: features cut into levels, and the classes counted in every cell.

    Parameters
    ----------
    max_cells : int
        The memory limit: cells at most.
    levels : None, "entropy", or a list of D ints
        Levels of each feature. None lets the rows tell (features that tell nothing get one);
        "entropy" shares the limit out by the features' entropies, as the paper does.
    boundaries : {"optimized", "paper", "equal", "uniform"} or a list of D increasing arrays
        "optimized" places all boundaries of a feature jointly and exactly, feature after feature
        until none moves. "paper" is the paper's procedure: random moves that are kept where they
        improve the gain, then a check of moves in order. "equal" gives the levels of a feature
        equal shares of the rows, "uniform" equal widths. The last three need ``levels``; None is
        "entropy" there.
    smoothing : int or "auto"
        k > 0 replaces each count by that of the nearest cells that hold k rows of the class
        together, over their volume. "auto" takes the k, 0 among them, of the highest gain on counts
        that were set aside.
    volumes : {"true", "equal"}
        The volumes of cells that smoothing goes by; those of outer cells end with the rows.
    objective : {"brier", "gain"}
        What optimised boundaries and levels are chosen for: the Brier score of the posteriors under
        the priors of the rule, or the expected gain of its decisions. The Brier score is steadier.
    fine_levels : int, default=None
        Even levels of the fine quantisation that entropies are taken of; None is a tenth of the
        number of rows.
    rounding : {"floor", "ceil"}
        How levels by entropy become whole numbers; "ceil" may exceed the limit.
    validation : None, number between 0 and 1, or rows
        What boundaries are judged by. None judges each row by all others of its cell. A number is
        the share of the rows in the one of two parts that judge each other; rows, as places or as a
        mask, are that part. "paper" decides by the other part and judges by this one; None is half.
    time_limit : number, default=None
        Seconds after which the search ends with the best so far, as it does on Ctrl-C.
    warm_start : fitted density or list of D arrays, default=None
        Boundaries to go on from: ``clf.density_`` of an earlier fit.
    random_state : int
        Seed of samples and random moves.

    Notes
    -----
    A column of categories is cells as it is. A missing value is a level of its own in a feature
    that had some when it was fitted; elsewhere, and in place of an unknown category, the cells of
    all levels are summed. In a cell that no row was in, the posterior is the prior.

    References
    ----------
    Panda, Garg: Discrete Bayes Decision Rule Machine Learning Project.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Cells
    >>> X = np.random.default_rng(0).random((2000, 3))
    >>> y = ((X[:, 0] > 0.3) ^ (X[:, 1] > 0.6)).astype(int)
    >>> clf = BayesClassifier(Cells(max_cells=100)).fit(X, y)
    >>> clf.density_.levels_, [cuts.round(2).tolist() for cuts in clf.density_.boundaries_]
    ((2, 2, 1), [[0.3], [0.6], []])
    """

    normalised: ClassVar[bool] = False
    accept_missing: ClassVar[bool] = True
    atoms_from_counts: ClassVar[bool] = True

    def __init__(
        self,
        max_cells: int = 10_000,
        levels: Any = None,
        boundaries: Any = "optimized",
        smoothing: Any = 0,
        volumes: str = "true",
        objective: str = "brier",
        fine_levels: int | None = None,
        rounding: str = "floor",
        validation: Any = None,
        time_limit: float | None = None,
        warm_start: Any = None,
        random_state: int = 0,
    ):
        self.max_cells = max_cells
        self.levels = levels
        self.boundaries = boundaries
        self.smoothing = smoothing
        self.volumes = volumes
        self.objective = objective
        self.fine_levels = fine_levels
        self.rounding = rounding
        self.validation = validation
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.random_state = random_state

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether anything is chosen for the decision."""
        by_rule = isinstance(self.boundaries, str) and self.boundaries in ("optimized", "paper")
        return by_rule or (isinstance(self.smoothing, str) and self.smoothing == "auto")

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers with gaps, and categories by their ranks."""
        return read_ranked(X, estimator)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedCells:
        """Find levels and boundaries."""
        boundaries, gaps, watch = learned_boundaries(self, table, memberships, rule)
        smoothing = Smoothing.of(self, table, rule)
        return FittedCells(boundaries, gaps, table.layout, smoothing, tuple(watch.stages))


@dataclass(frozen=True)
class FittedCells:
    """Boundaries that were learned.

    Attributes
    ----------
    boundaries_ : tuple of D increasing ndarrays
        A boundary belongs to the level above it. Categories are told by their ranks.
    gaps : tuple of D bools
        Features with a level of their own for missing values.
    encoding : Encoding or None
        The categories of each column, where there are any.
    smoothing : Smoothing or None
        How counts are smoothed.
    history_ : tuple of Stage
        What the search found, and when.
    """

    boundaries_: tuple[np.ndarray, ...]
    gaps: tuple[bool, ...]
    encoding: Encoding | None = None
    smoothing: Smoothing | None = None
    # How long a search took is no part of what it found: models merge without it.
    history_: tuple[Stage, ...] = field(default=(), compare=False)

    @property
    def levels_(self) -> tuple[int, ...]:
        """Levels of each feature, one for missing values included."""
        pairs = zip(self.boundaries_, self.gaps, strict=True)
        return tuple(len(cuts) + 1 + gap for cuts, gap in pairs)

    @property
    def n_cells_(self) -> int:
        """Cells of the table."""
        return prod(self.levels_)

    def read(self, X: Any, estimator: Any) -> Table:
        """Read X as it was read when the boundaries were learned."""
        return read_ranked(X, estimator, self.encoding, fitted=True)

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Weight of each class, and of each cell in it."""
        assert table.numbers is not None
        totals = memberships.totals()
        flat, offset = flattened(self.boundaries_)
        steps = strides(self.levels_)
        level_of_gap = np.array(
            [n - 1 if gap else -1 for n, gap in zip(self.levels_, self.gaps, strict=True)]
        )

        def work(start: int, stop: int) -> np.ndarray:
            counts = np.zeros((len(totals), self.n_cells_))
            values = table.block(start, stop).numbers
            rows, codes, weights = memberships.entries(start, stop)
            loops.count_rows(
                values, rows, codes, weights, flat, offset, steps, level_of_gap, counts
            )
            return counts

        size = max(BLOCK, 4 * self.n_cells_)
        return Sums(totals, reduce(add, map_blocks(work, len(table), size)))

    def settle(self, stats: Sums) -> CellsLaw:
        """Shares of the cells in each class."""
        lost = float(stats.weight.sum() - stats.sums.sum())
        if lost > 1e-9 * stats.weight.sum():
            warnings.warn(
                f"Rows of weight {lost:g} have missing values or unknown categories in columns "
                "that had none when the boundaries were learned, and were not counted. Fit again "
                "on rows that have some.",
                FewRowsWarning,
                stacklevel=2,
            )
        counts, k = stats.sums, 0
        if self.smoothing is not None:
            counts, k = smoothed_counts(counts, self.smoothing, self.boundaries_, self.gaps)
        return CellsLaw.of(self.boundaries_, self.gaps, counts, stats.weight > 0, k)
