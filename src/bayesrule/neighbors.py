"""Nearest neighbours: each class by its share of the rows around a query.

    p(x | k)   =   k_k / (n_k V)          P(k | x)   ∝   prior_k * k_k / n_k

The ball around x that holds a weight of k rows has the volume V, common to the classes, and k_k of
them are of class k, which has n_k rows in all. Rows at the distance of the last neighbour share
what is left of k in proportion to their weights, so that no order of rows decides.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesrule.density import Density, LogDensity, Rule
from bayesrule.distinct import gathered
from bayesrule.gain_tuning import judged, most_earning
from bayesrule.memberships import Memberships
from bayesrule.metrics import Metric, learn_metric
from bayesrule.nearest import POWERS
from bayesrule.neighborhood import Neighborhood
from bayesrule.neighbors_law import NeighborsLaw
from bayesrule.notices import FewRowsWarning
from bayesrule.progress import progress
from bayesrule.stats import Several
from bayesrule.tables import Table, read_numbers
from bayesrule.thinning import Thinned, thinned_rows

#: Metrics that are learned from the rows, after which distances are Euclidean.
LEARNED = ("standardised", "within", "lda")
#: Metrics of scikit-learn by name, beside those and the ones of ``POWERS``.
OTHERS = ("braycurtis", "canberra", "correlation", "cosine", "hamming")
#: Numbers of neighbours among which ``k="cv"`` chooses, as far as there are rows.
CANDIDATES = (1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 21, 26, 32, 40, 50, 65, 80, 100)


class Neighbors(Density):
    """The k nearest neighbours as a density per class.

    Parameters
    ----------
    k : number, "cv", or a list of numbers
        Weight of the neighbours that vote: a row of weight 3 counts as three. "cv" chooses among
        1 to 100, a list among its numbers, by the gain of the decisions on rows left out in turn,
        all in one search.
    metric : str or function
        "euclidean", "manhattan" or "chebyshev" on the columns as they are; "standardised" in units
        of their deviations, "within" by the covariance within the classes, or "lda" along their
        discriminant axes (Euclidean, learned from the rows); "cosine", "correlation", "canberra",
        "braycurtis" or "hamming"; or a function of two rows.
    weights : {"uniform", "distance"} or function
        What a neighbour's vote counts: one, one over its distance, or what a function of an array
        of distances gives.
    feature_weights : D numbers, default=None
        Weights W_d of the columns in the distance, sqrt(sum_d W_d (x_d - y_d)^2) or its like.
    edited : bool
        Whether to drop, as Wilson does, the rows that the others around them outvote; k nearest
        others vote, at least three.
    condensed : bool
        Whether to keep only rows that the other kept ones would get wrong, as Hart does, so that
        the single nearest neighbour decides as before on every row that was fitted. Decision
        boundaries may still move.
    smoothing : number
        Weight of neighbours added to every neighbourhood, of all classes in proportion to n_k, so
        that no class is impossible.

    Notes
    -----
    Rows are searched with scipy's k-d tree in few columns and with scikit-learn's matrix products
    in many. The n_k of a thinned set are those before rows were dropped: priors then mean what they
    meant, and under priors in proportion to the classes the neighbours' votes decide. As an
    estimate of the density itself, k / (n V) has tails so heavy that it does not integrate to one,
    and it is infinite where k rows coincide.

    References
    ----------
    Fix, Hodges: Discriminatory analysis, 1951. Cover, Hart: Nearest neighbor pattern
    classification, 1967. Wilson: Asymptotic properties of nearest neighbor rules using edited data,
    1972. Hart: The condensed nearest neighbor rule, 1968.

    Examples
    --------
    Two of the three nearest are of class "b", but "a" has only half as many rows:

    >>> from bayesrule import BayesClassifier, Neighbors
    >>> X, y = [[0.0], [1.0], [1.5], [2.0], [7.0], [8.0]], ["a", "a", "b", "b", "b", "b"]
    >>> clf = BayesClassifier(Neighbors(3), priors="uniform").fit(X, y)
    >>> clf.predict_proba([[1.4]]).round(3)
    array([[0.5, 0.5]])
    """

    memorises: ClassVar[bool] = True
    normalised: ClassVar[bool] = False

    def __init__(
        self,
        k: Any = 5,
        metric: Any = "euclidean",
        weights: Any = "uniform",
        feature_weights: Any = None,
        edited: bool = False,
        condensed: bool = False,
        smoothing: float = 0.0,
    ):
        self.k = k
        self.metric = metric
        self.weights = weights
        self.feature_weights = feature_weights
        self.edited = edited
        self.condensed = condensed
        self.smoothing = smoothing

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether k is chosen for the decisions."""
        return not isinstance(self.k, numbers.Real)

    def check(self, n_columns: int) -> None:
        """Refuse settings that cannot be."""
        for k in self.candidates:
            plain = isinstance(k, numbers.Real) and not isinstance(k, bool)
            if not (plain and 0 < float(k) < np.inf):
                raise ValueError(
                    f"Neighbors(k={self.k!r}) must be a number above zero, a list of such numbers, "
                    "or 'cv'."
                )
        for name in ("edited", "condensed"):
            self.require(name, True, False)
        self.require("smoothing", between=(0.0, 1e6))
        if not callable(self.weights):
            self.require("weights", "uniform", "distance")
        if not callable(self.metric):
            self.require("metric", *POWERS, *LEARNED, *OTHERS)
        if self.condensed and self.metric not in (*POWERS, *LEARNED):
            raise ValueError(
                f"Neighbors(condensed=True) measures all distances anew, which it can do for "
                f"{', '.join(map(repr, (*POWERS, *LEARNED)))}, not for {self.metric!r}."
            )
        self._check_feature_weights(n_columns)

    def _check_feature_weights(self, n_columns: int) -> None:
        if self.feature_weights is None:
            return
        if callable(self.metric) or self.metric not in (*POWERS, "standardised"):
            known = ", ".join(map(repr, POWERS))
            raise ValueError(
                f"Neighbors(feature_weights=...) goes with the metrics {known} and 'standardised', "
                f"not with {self.metric!r}."
            )
        try:
            given = np.asarray(self.feature_weights, np.float64)
        except (TypeError, ValueError):
            given = np.array(np.nan)
        fine = given.shape == (n_columns,) and np.isfinite(given).all() and (given >= 0).all()
        if not fine or not given.any():
            raise ValueError(
                f"Neighbors(feature_weights={self.feature_weights!r}) must be {n_columns} finite "
                "numbers from zero up, one for each column of X, and not all zero."
            )

    @property
    def candidates(self) -> tuple[Any, ...]:
        """Numbers of neighbours to choose from."""
        if isinstance(self.k, str):
            return CANDIDATES if self.k == "cv" else (self.k,)
        return tuple(self.k) if isinstance(self.k, (list, tuple, np.ndarray)) else (self.k,)

    def prepare(
        self, table: Table, memberships: Memberships, rule: Rule
    ) -> Neighbors | FittedNeighbors:
        """Check the settings; learn the metric, and choose k, where that is asked for."""
        self.check(table.n_columns)
        learned = self.metric in LEARNED if isinstance(self.metric, str) else False
        if not learned and not self.uses_rule:
            return self
        metric = learn_metric(self.metric, table, memberships) if learned else None
        fitted = FittedNeighbors(self, metric, 1.0 if self.uses_rule else float(self.k))
        if not self.uses_rule:
            return fitted
        return replace(fitted, k=best_k(fitted, fitted.tally(table, memberships), rule))

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return gathered(table, memberships)

    def settle(self, stats: Several) -> LogDensity:
        """The rows, ready to be searched."""
        return FittedNeighbors(self, None, float(self.k)).settle(stats)


@dataclass(frozen=True)
class FittedNeighbors:
    """Neighbours whose metric was learned, or whose number was chosen.

    Attributes
    ----------
    density : Neighbors
    metric : Metric or None
    k : float
    """

    density: Neighbors
    metric: Metric | None
    k: float

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers without gaps."""
        return read_numbers(X, accept_missing=False, estimator=estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return gathered(table, memberships)

    def neighborhood(self, stats: Several) -> Neighborhood:
        """The distinct rows, mapped so that their distances are the metric."""
        sums, sample = stats.parts
        settings = self.density
        power = POWERS.get(settings.metric, 2) if isinstance(settings.metric, str) else 2
        scale = settings.feature_weights
        if scale is not None:
            scale = np.asarray(scale, np.float64)
            scale = np.sqrt(scale) if power == 2 else scale
        metric = settings.metric
        if isinstance(metric, str) and metric in LEARNED:
            metric = "euclidean"
        return Neighborhood.of(sample, sums.weight, self.metric, scale, metric)

    def settle(self, stats: Several) -> LogDensity:
        """The rows, thinned where that is asked for."""
        around = self.neighborhood(stats)
        settings = self.density
        report: Thinned | None = None
        if settings.edited or settings.condensed:
            around, report = thinned_rows(around, self.k, settings.edited, settings.condensed)
        total = float(around.weights.sum())
        if self.k > total * (1.0 + 1e-9):
            warnings.warn(
                f"Neighbors asks for k={self.k:g} neighbours, but the rows have a weight of "
                f"{total:g} in all: all of them are neighbours of every query.",
                FewRowsWarning,
                stacklevel=2,
            )
        weighting: str | Callable[..., Any] = settings.weights
        smoothing = float(settings.smoothing)
        return NeighborsLaw(around.ready(), min(self.k, total), weighting, smoothing, report)


#: Rows left out in turn at most to choose k; more would not change the choice.
ASKED = 20_000


def best_k(fitted: FittedNeighbors, stats: Several, rule: Rule) -> float:
    """The number of neighbours of the highest expected gain on rows left out in turn.

    All copies of a row are left out together. One search finds the neighbours for all numbers.
    """
    around = fitted.neighborhood(stats)
    total = float(around.weights.sum())
    numbers_ = sorted({float(k) for k in fitted.density.candidates})
    able = [k for k in numbers_ if k <= max(0.5 * total, numbers_[0])]
    if len(able) == 1 or len(around) < 2:
        return able[0]
    asked = around.some_places(ASKED)
    entries = around.entries_of(asked)
    found = np.zeros((len(able), 3))
    with progress("choosing the number of neighbours", len(asked)) as meter:
        votes = around.left_out_votes(asked, able, fitted.density.weights, meter.advance)
    for i, of_k in enumerate(votes):
        values = around.log_density(of_k, float(fitted.density.smoothing))
        by_class = [entries.codes == c for c in range(len(around.totals))]
        parts = [values[entries.rows[mine]] for mine in by_class]
        weights = [entries.weights[mine] for mine in by_class]
        found[i] = judged(parts, weights, around.totals, rule)
    return able[most_earning(found)]
