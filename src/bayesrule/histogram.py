"""Histograms: the rows of each bin over its volume, per class.

    p(x | k)   =   (n_kb + a q_b) / (N_k + a)  *  s_b(x),        b the bin that x lies in

N_k is the weight of class k and n_kb that of its rows in bin b, s_b the density within a bin: one
over its volume. The outer bins are open; there, at a distance d from the edges, which are r apart,
s_b(x) = r / (r + d)^2, of mass one. ``smoothing`` a adds as much as a rows that are spread by q:
half evenly between the edges, a quarter over each tail. With a = 0 this is the textbook's
histogram, zero wherever no row was.

Edges are learned before counting and shared by the classes, so that counts add up.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import prod
from operator import add
from typing import Any, ClassVar

import numpy as np

from bayesrule.addresses import cell_addresses, count_cells, flattened, strides
from bayesrule.bins import RULES, coarsened, edges_of_column
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.distinct import Points
from bayesrule.histogram_laws import HistogramLaw, settled_columns
from bayesrule.kernels import histograms as loops
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships
from bayesrule.notices import FewRowsWarning
from bayesrule.stats import Counts, Several, Sums
from bayesrule.tables import Table, read_numbers

#: Up to so many cells a joint histogram keeps all of them: counts of many parts then add up fast.
DENSE_CELLS = 1 << 14


class Histogram(Density):
    """A histogram per class: of each column, or of all columns jointly.

    Parameters
    ----------
    bins : int, rule, edges, or a list of D of these
        How many bins a column has; the rule that finds their width, "sturges", "doane", "scott",
        "freedman-diaconis" (or "fd") or "knuth"; "blocks" for Bayesian blocks of unequal widths; or
        increasing edges. A list has an entry for each column.
    width : number or D numbers, default=None
        The width of the bins, in place of ``bins``.
    origin : number or D numbers, default=None
        Where an edge is to lie; None puts one at the smallest value.
    joint : bool
        False multiplies the histograms of the columns, independent given the class. True counts
        the cells of all columns together; only cells that hold rows are kept.
    smoothing : number
        How many rows' weight is spread thinly over the whole line, so that no value is impossible.

    Notes
    -----
    Missing values are integrated over; a joint histogram learns from complete rows only. Rows that
    come later and lie beyond the edges are counted in the open bins at both ends.

    References
    ----------
    Freedman, Diaconis: On the histogram as a density estimator, 1981. Knuth: Optimal data-based
    binning for histograms, 2006. Scargle, Norris, Jackson, Chiang: Bayesian blocks, ApJ 764, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Histogram
    >>> X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    >>> textbook = Histogram(width=4, origin=0, smoothing=0)
    >>> clf = BayesClassifier(textbook).fit(X, np.zeros(10))
    >>> np.exp(clf.log_density([[3.0], [7.0], [10.0], [15.0]])).ravel().round(3).tolist()
    [0.0, 0.1, 0.0, 0.1]
    """

    accept_missing: ClassVar[bool] = True

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Whether any edges are to be found in the rows."""
        n_columns = len(self.bins) if hasattr(self.bins, "__len__") else 1
        return any(map(_is_learned, _per_column(self.bins, n_columns)))

    def __init__(
        self,
        bins: Any = "freedman-diaconis",
        width: Any = None,
        origin: Any = None,
        joint: bool = False,
        smoothing: float = 1.0,
    ):
        self.bins = bins
        self.width = width
        self.origin = origin
        self.joint = joint
        self.smoothing = smoothing

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedHistogram:
        """Find the edges."""
        n_columns = table.n_columns
        self.require("joint", True, False)
        self.require("smoothing", between=(0.0, 1e6))
        bins = _per_column(self.bins, n_columns)
        for entry in bins:
            _check_bins(entry)
        width = _numbers(self.width, "width", n_columns, least=0.0)
        origin = _numbers(self.origin, "origin", n_columns)
        assert table.numbers is not None
        edges = []
        for j in range(n_columns):
            told = _points_of_classes(table, memberships, j) if _is_learned(bins[j]) else []
            name = f"Column {j if table.names is None else repr(table.names[j])}"
            together = n_columns if self.joint else 1
            edges.append(edges_of_column(bins[j], told, width[j], origin[j], name, together))
        if self.joint:
            chosen = [j for j in range(n_columns) if isinstance(bins[j], str) and width[j] is None]
            edges = coarsened(edges, chosen)
            strides([len(e) + 1 for e in edges])  # refuses more cells than addresses
        return FittedHistogram(tuple(edges), bool(self.joint), float(self.smoothing))


def _points_of_classes(table: Table, memberships: Memberships, j: int) -> list[Points]:
    """Distinct values of one column in each class, without gaps."""
    assert table.numbers is not None
    rows, codes, weights = memberships.entries()
    column = np.asarray(table.numbers[:, j], np.float64)[rows]
    known = np.flatnonzero(~np.isnan(column))
    order = known[np.argsort(codes[known], kind="stable")]
    cuts = np.searchsorted(codes[order], np.arange(memberships.n_classes + 1))
    classes = [order[a:b] for a, b in pairwise(cuts)]
    return [Points.of(column[mine, None], weights[mine]) for mine in classes]


def _is_learned(entry: Any) -> bool:
    """Whether edges are to be found in the rows: by a rule, or as many as a number says."""
    return isinstance(entry, str) or np.ndim(entry) == 0


def _per_column(bins: Any, n_columns: int) -> list[Any]:
    """What each column is to be cut by: whole numbers are counts, other numbers are edges."""
    if isinstance(bins, str) or not hasattr(bins, "__len__"):
        return [bins] * n_columns
    entries = list(bins)
    flat = all(not isinstance(entry, str) and np.ndim(entry) == 0 for entry in entries)
    if flat and not all(_whole(entry) for entry in entries):
        return [np.asarray(entries, np.float64)] * n_columns
    if len(entries) == n_columns:
        return entries
    raise ValueError(
        f"Histogram(bins=...) lists {len(entries)} columns, but X has {n_columns}. Give one entry "
        "for each column, or one for all; edges are told from counts by their decimal point."
    )


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_bins(entry: Any) -> None:
    """Refuse what is no number of bins, no rule, and no edges."""
    if isinstance(entry, str) and entry in RULES:
        return
    if _whole(entry) and entry >= 1:
        return
    if not isinstance(entry, str) and np.ndim(entry) == 1 and len(entry) > 1:
        edges = np.asarray(entry, np.float64)
        if np.isfinite(edges).all() and (np.diff(edges) > 0).all():
            return
    raise ValueError(
        f"Histogram(bins={entry!r}) is not known; use a number of bins from 1 up, increasing "
        f"finite edges, or one of {', '.join(map(repr, RULES))}."
    )


def _numbers(value: Any, name: str, n_columns: int, least: float = -np.inf) -> list[Any]:
    """One number for each column, or None."""
    if value is None:
        return [None] * n_columns
    try:
        given = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    fits = given.shape in ((), (n_columns,))
    if not (fits and np.isfinite(given).all() and (given > least).all()):
        above = "" if least == -np.inf else f" above {least:g}"
        raise ValueError(
            f"Histogram({name}={value!r}) must be a finite number{above}, or {n_columns} of them, "
            "one for each column."
        )
    spread: list[float] = np.broadcast_to(given, n_columns).tolist()
    return spread


@dataclass(frozen=True)
class FittedHistogram:
    """Edges that were learned.

    Attributes
    ----------
    edges : tuple of D increasing ndarrays
        Column j has ``len(edges[j]) + 1`` bins, the first and the last open.
    joint : bool
    smoothing : float
    """

    edges: tuple[np.ndarray, ...]
    joint: bool
    smoothing: float

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers, with gaps."""
        return read_numbers(X, accept_missing=True, estimator=estimator)

    @property
    def n_bins(self) -> list[int]:
        """Bins of each column, the open ones included."""
        return [len(edges) + 1 for edges in self.edges]

    @property
    def dense(self) -> bool:
        """Whether the weights of all cells are kept, and not only of those that hold rows."""
        return self.joint and prod(self.n_bins) <= DENSE_CELLS

    def tally(self, table: Table, memberships: Memberships) -> Sums | Several:
        """Weights of the bins of every column, or of the cells of all columns together."""
        totals = memberships.totals()
        assert table.numbers is not None
        size = block_rows(table.n_columns)
        if self.dense:
            counts = np.zeros((len(totals), prod(self.n_bins)))
            for start in range(0, len(table), size):
                stop = min(start + size, len(table))
                entries = memberships.entries(start, stop)
                count_cells(table.numbers, self.edges, start, stop, entries, counts)
            return Sums(totals, counts)
        work: Any = self._cells if self.joint else self._bins

        def block(start: int, stop: int) -> Any:
            values = table.block(start, stop).numbers
            return work(values, *memberships.entries(start, stop), len(totals))

        found = reduce(add, map_blocks(block, len(table), size))
        return (
            Several((Sums(totals, totals[:, None]), found)) if self.joint else Sums(totals, found)
        )

    def _bins(self, values: Any, rows: Any, codes: Any, weights: Any, n_classes: int) -> np.ndarray:
        """Weights (K, B) of all bins, those of one column after the other."""
        counts = np.zeros((n_classes, sum(self.n_bins)))
        flat, offset = flattened(self.edges)
        loops.count_levels(values, flat, offset, rows, codes, np.ascontiguousarray(weights), counts)
        return counts

    def _cells(self, values: Any, rows: Any, codes: Any, weights: Any, n_classes: int) -> Counts:
        """Weights of the cells that hold complete rows, by their addresses."""
        addresses = cell_addresses(values, self.edges)[rows]
        whole = addresses >= 0
        cells, place = np.unique(addresses[whole], return_inverse=True)
        counts = np.zeros((n_classes, len(cells)))
        np.add.at(counts, (codes[whole], place), weights[whole])
        return Counts((cells,), (counts,))

    def settle(self, stats: Any) -> LogDensity:
        """Shares of the bins."""
        if not self.joint:
            return settled_columns(self.edges, self.smoothing, stats)
        sums = stats if self.dense else stats.parts[0]
        if self.dense:
            addresses = np.flatnonzero(sums.sums.any(axis=0))
            counts = sums.sums[:, addresses]
        else:
            addresses, counts = stats.parts[1].categories[0], stats.parts[1].counts[0]
        if not len(addresses):
            raise ValueError(
                "Every row of X has a missing value (NaN), and a joint histogram learns from "
                "complete rows only: impute them, or set joint=False."
            )
        lost = float(sums.weight.sum() - counts.sum())
        if lost > 1e-9 * sums.weight.sum():
            warnings.warn(
                f"Rows of weight {lost:g} have missing values; a joint histogram learns from "
                "complete rows only. Impute them, or set joint=False.",
                FewRowsWarning,
                stacklevel=2,
            )
        return HistogramLaw(self.edges, addresses, counts, self.smoothing)
