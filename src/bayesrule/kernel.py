"""Kernel densities: a bump at every row.

    p(x | k)   =   1 / W_k  sum over the rows i of class k of   w_i |H|^(-1/2) K(H^(-1/2) (x - x_i))

The statistic is the rows themselves. The bandwidth H is settled from them, per class or for all
classes together; only one that is tuned for the decision rule is learned before.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesrule.bandwidths import NAMES, check_given
from bayesrule.bump_sum import BumpSum
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.distinct import Points, gathered, points_by_class
from bayesrule.gain_tuning import best_for_rule
from bayesrule.memberships import Memberships
from bayesrule.notices import FewRowsWarning
from bayesrule.shapes import SHAPES, Shape, find_shape
from bayesrule.stats import Several
from bayesrule.tables import Table, read_numbers
from bayesrule.widths import class_widths


class Kernel(Density):
    """A kernel density per class.

    Parameters
    ----------
    kernel : {"gaussian", "epanechnikov", "biweight", "triweight", "tricube", "triangle", \
"square", "cosine", "logistic", "laplace"}
        The bump. With u = (x - x_i) / h, "square" (Parzen's window) is 1 where ``|u| <= 1/2``, so
        that h is its full width; "triangle", "epanechnikov" (also "bartlett"), "biweight",
        "triweight", "tricube" and "cosine" end at ``|u| = 1``.
    bandwidth : number, D numbers, matrix, or name
        h in the units of the data; one for every column; or, with ``product=False``, the matrix H
        in squared units. Names let the rows of the class decide: the rules "normal" (1.06 s
        n^(-1/5) for one column), "scott" and "silverman"; "cv_likelihood" and "cv_squares", which
        foretell each row from the others; "nearest", the distance to near rows; for single columns
        "sj" and "isj" (Sheather and Jones; Botev, Grotowski and Kroese). "gain" takes the multiple
        of Silverman's rule that decides best, rows left out in turn, under the priors and gains of
        ``fit``. A kernel of another shape gets the width that smooths as much as the Gaussian.
    product : bool
        True multiplies a kernel in every column, each with a width of its own. False is one
        radial kernel, whose matrix H has, with a named bandwidth, the shape of the covariance.
    adaptive : bool
        Whether bumps are wide where rows are sparse, by Abramson's square-root law.
    shared : bool
        Whether one bandwidth is settled for all classes together.
    joint : bool
        False takes the columns as independent given the class, each with a density of its own.

    Notes
    -----
    Missing values of rows to be decided on are integrated over where the kernel allows it: it is a
    product or Gaussian, or ``joint=False``. Of rows to learn from, joint densities take the
    complete ones, with a warning, and ``joint=False`` takes what each column has. A class that
    does not vary in a column, or has one row, borrows the spread within the other classes, with a
    warning. Sums are exact to 1e-7 of themselves, however small.

    Cross-validation leaves out all copies of a value at once, so that copies cannot foretell each
    other; values rounded to few get a wider bump from it than they need, and "sj" does not mind.

    References
    ----------
    Silverman: Density Estimation for Statistics and Data Analysis, 1986. Wand, Jones: Kernel
    Smoothing, 1995.

    Examples
    --------
    The windows of width 4 around ten numbers:

    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Kernel
    >>> X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    >>> clf = BayesClassifier(Kernel("square", bandwidth=4)).fit(X, np.zeros(10))
    >>> np.exp(clf.log_density([[3.0], [10.0], [15.0]])).ravel().round(3).tolist()
    [0.075, 0.025, 0.125]
    """

    memorises: ClassVar[bool] = True

    def __init__(
        self,
        kernel: str = "gaussian",
        bandwidth: Any = "normal",
        product: bool = True,
        adaptive: bool = False,
        shared: bool = False,
        joint: bool = True,
    ):
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.product = product
        self.adaptive = adaptive
        self.shared = shared
        self.joint = joint

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether the bandwidth is tuned for the decisions."""
        return isinstance(self.bandwidth, str) and self.bandwidth == "gain"

    @property
    def accept_missing(self) -> bool:  # type: ignore[override]
        """Whether columns of a row can be integrated out."""
        return bool(not self.joint or self.product or self.kernel == "gaussian")

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers, with gaps where they can be integrated out, as those of a lone column can."""
        table = read_numbers(X, accept_missing=True, estimator=estimator)
        if table.missing and not self.accept_missing and table.n_columns > 1:
            read_numbers(X, accept_missing=False, estimator=estimator)  # raises, naming the columns
        return table

    @property
    def shape(self) -> Shape:
        """The bump."""
        return find_shape(self.kernel)

    def check(self, n_columns: int) -> None:
        """Refuse settings that cannot be."""
        self.require("kernel", *SHAPES, "bartlett")
        for name in ("product", "adaptive", "shared", "joint"):
            self.require(name, True, False)
        if isinstance(self.bandwidth, str):
            self.require("bandwidth", *NAMES, "gain")
            if self.bandwidth in ("sj", "isj") and self.joint and n_columns > 1:
                raise ValueError(
                    f"Kernel(bandwidth={self.bandwidth!r}) is defined for single columns, and X "
                    f"has {n_columns}. Set joint=False, or use 'cv_likelihood' or 'cv_squares'."
                )
            return
        check_given(self.bandwidth, "Kernel", n_columns, radial=not self.product and self.joint)

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> Kernel | TunedKernel:
        """Check the settings; tune the bandwidth where that is asked for."""
        self.check(table.n_columns)
        if not self.uses_rule:
            return self
        sample = self.tally(table, memberships).parts[1]
        points = self.told_by(points_by_class(sample, memberships.n_classes))
        return TunedKernel(self, best_for_rule(self, points, rule))

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return gathered(table, memberships)

    def settle(self, stats: Several) -> LogDensity:
        """Bandwidths, and bumps ready to be added up."""
        return self.settled(stats, 1.0)

    def settled(self, stats: Several, factor: float) -> LogDensity:
        """The same with a multiple of the bandwidth that was tuned before."""
        sums, sample = stats.parts
        points = points_by_class(sample, len(sums.weight))
        # With gaps in the only column it does as one of several: there is none to be joint with.
        lone = sample.rows.shape[1] == 1 and bool(np.isnan(sample.rows).any())
        if self.joint and not lone:
            return KernelLaw(tuple(self.bumps(self.told_by(points), factor)))
        columns = []
        for j in range(sample.rows.shape[1]):
            of_column = [some.column(j) for some in points]
            everyone = Points.of(
                np.concatenate([some.rows for some in of_column]),
                np.concatenate([some.weights for some in of_column]),
            )
            # A class with rows but no value here does as all rows together do.
            filled = [
                everyone if len(all_.rows) and not len(mine.rows) else mine
                for all_, mine in zip(points, of_column, strict=True)
            ]
            columns.append(tuple(self.bumps(filled, factor, j)))
        return KernelColumnsLaw(tuple(columns), np.array([len(p.rows) > 0 for p in points]))

    def told_by(self, points: list[Points]) -> list[Points]:
        """The points that bumps are put on: those without gaps, where bumps are joint."""
        if not self.joint:
            return points
        whole = [~np.isnan(some.rows).any(axis=1) for some in points]
        lost = sum(int((~complete).sum()) for complete in whole)
        if not lost:
            return points
        if points[0].rows.shape[1] == 1:
            return _kept(points, whole)
        if not any(complete.any() for complete in whole):
            raise ValueError(
                "Every row of X has a missing value (NaN), and a joint kernel density learns from "
                "complete rows only: impute them, or set joint=False."
            )
        warnings.warn(
            f"{lost} of {sum(map(len, whole))} distinct rows have missing values; a joint kernel "
            "density learns from complete rows only. Impute them, or set joint=False.",
            FewRowsWarning,
            stacklevel=2,
        )
        return _kept(points, whole)

    def bumps(
        self, points: list[Points], factor: float, column: int | None = None
    ) -> list[BumpSum | None]:
        """The density of each class, None where it has no points."""
        widths = class_widths(self, points, factor, column)
        product = self.product or points[0].rows.shape[1] == 1
        found: list[BumpSum | None] = []
        for some, width in zip(points, widths, strict=True):
            if width is None:
                found.append(None)
                continue
            bumps = BumpSum(self.shape, product, some, width, np.empty(0))
            found.append((bumps.adapted() if self.adaptive else bumps).ready())
        return found


def _kept(points: list[Points], which: list[np.ndarray]) -> list[Points]:
    """Some of the points of each class."""
    return [
        Points(some.rows[mine], some.weights[mine])
        for some, mine in zip(points, which, strict=True)
    ]


@dataclass(frozen=True)
class TunedKernel:
    """A kernel density whose bandwidth was tuned for a decision rule.

    Attributes
    ----------
    density : Kernel
    factor : float
        The multiple of Silverman's rule.
    """

    density: Kernel
    factor: float

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers."""
        return self.density.read(X, estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return self.density.tally(table, memberships)

    def settle(self, stats: Several) -> LogDensity:
        """Bumps of the tuned width."""
        return self.density.settled(stats, self.factor)


#: Bumps that one block of queries is about to meet: a few hundredths of a second.
PER_BLOCK = 1 << 26


def rows_per_block(bumps: list[BumpSum]) -> int:
    """Rows to be asked for at once: blocks are for threads, and each costs a little by itself."""
    pairs = sum(some.points.rows.size for some in bumps if some.cells is None)
    return int(np.clip(PER_BLOCK // max(pairs, 1), 256, 1 << 15))


@dataclass(frozen=True)
class KernelLaw(LogDensity):
    """Settled kernel densities of whole rows.

    Attributes
    ----------
    bumps : tuple of BumpSum, None for a class without rows
        Their ``width`` is the bandwidth, ``points`` the distinct rows.
    """

    bumps: tuple[BumpSum | None, ...]

    @property
    def block_rows(self) -> int:  # type: ignore[override]
        return rows_per_block([some for some in self.bumps if some is not None])

    @property
    def seen(self) -> np.ndarray:
        """Classes that have a density."""
        return np.array([some is not None for some in self.bumps])

    @property
    def bandwidths(self) -> list[np.ndarray | None]:
        """The bandwidth of each class: D numbers, or the matrix H."""
        return [None if some is None else some.width for some in self.bumps]

    @property
    def first(self) -> BumpSum:
        """The density of the first class."""
        assert self.bumps[0] is not None
        return self.bumps[0]

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of rows of the first class."""
        return self.first.draw(n, rng)

    def distribution(self, values: np.ndarray, above: bool = False) -> np.ndarray:
        """Probability of a value at or below each value, or above it, in the first class."""
        return self.first.distribution(values, above)

    def __call__(self, table: Table) -> np.ndarray:
        assert table.numbers is not None
        rows = np.asarray(table.numbers, np.float64)
        out = np.full((len(rows), len(self.bumps)), -np.inf)
        patterns, which = np.ones((1, rows.shape[1]), dtype=bool), np.empty(0, np.intp)
        if table.missing:
            patterns, which = np.unique(~np.isnan(rows), axis=0, return_inverse=True)
        for p, pattern in enumerate(patterns):
            columns = np.flatnonzero(pattern)
            mine: Any = np.flatnonzero(which.ravel() == p) if table.missing else slice(None)
            for k, bumps in enumerate(self.bumps):
                if bumps is None:
                    continue
                if len(columns) == 0:
                    out[mine, k] = 0.0
                elif len(columns) == rows.shape[1]:
                    out[mine, k] = bumps.log_density(rows[mine])
                else:
                    out[mine, k] = bumps.marginal(columns).log_density(rows[mine][:, columns])
        return out


@dataclass(frozen=True)
class KernelColumnsLaw(LogDensity):
    """Settled kernel densities of single columns, independent given the class.

    Attributes
    ----------
    columns : tuple of tuples of BumpSum
        Of each column those of the classes.
    seen : bool ndarray of shape (K,)
        Classes that have a density.
    """

    columns: tuple[tuple[BumpSum | None, ...], ...]
    seen: np.ndarray

    @property
    def block_rows(self) -> int:  # type: ignore[override]
        return rows_per_block([b for column in self.columns for b in column if b is not None])

    @property
    def factors(self) -> bool:
        return True

    @property
    def bandwidths(self) -> list[np.ndarray | None]:
        """The bandwidth of each class in every column; NaN in one where nothing was known."""
        nothing = np.full(1, np.nan)
        told = [
            np.concatenate([nothing if some is None else some.width for some in of_class])
            for of_class in zip(*self.columns, strict=True)
        ]
        return [width if seen else None for width, seen in zip(told, self.seen, strict=True)]

    @property
    def first(self) -> list[BumpSum]:
        """The densities of the columns in the first class, of those that have one."""
        return [column[0] for column in self.columns if column[0] is not None]

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of rows of the first class."""
        return np.column_stack([bumps.draw(n, rng) for bumps in self.first])

    def distribution(self, values: np.ndarray, above: bool = False) -> np.ndarray:
        """Probability of a value at or below each value, or above it, in the first class."""
        return self.first[0].distribution(values, above)

    def __call__(self, table: Table) -> np.ndarray:
        out = np.zeros((len(table), len(self.seen)))
        for j in range(len(self.columns)):
            out += self._term(table, j)
        return out

    def terms(self, table: Table) -> np.ndarray:
        return np.stack([self._term(table, j) for j in range(len(self.columns))], axis=2)

    def _term(self, table: Table, j: int) -> np.ndarray:
        """Log-densities of one column; a gap says nothing."""
        assert table.numbers is not None
        values = np.asarray(table.numbers[:, j], np.float64)
        known: Any = np.flatnonzero(~np.isnan(values)) if table.missing else slice(None)
        out = np.zeros((len(values), len(self.seen)))
        for k, bumps in enumerate(self.columns[j]):
            if not self.seen[k]:
                out[:, k] = -math.inf
            elif bumps is not None:
                out[known, k] = bumps.log_density(values[known, None])
        return out
