"""Profiles around centres: the cells of k-means, and fuzzy groups around the same centres."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from bayesrule.cmeans import best_centres, check_fuzziness
from bayesrule.keys import distinct_ranks, merged_rows, row_keys
from bayesrule.memberships import Memberships
from bayesrule.metrics import METRICS, SUPERVISED, Metric, learn_metric
from bayesrule.notices import FewRowsWarning, LearnedOnSampleWarning
from bayesrule.partitions import FuzzyCentres, NearestCentre
from bayesrule.profiles import Profiles
from bayesrule.tables import Table

#: Rows per profile that centres are learned from: more move them by less than their own error.
ROWS_PER_PROFILE = 100
#: As many rows are always used: they cost nothing.
FEW_ROWS = 20_000


@dataclass(frozen=True)
class Around:
    """How centres are looked for.

    Attributes
    ----------
    n_profiles : int
    metric : str
    per_class : bool
    n_init : int
    sample_rows : int, None or "auto"
    random_state : int
    fuzziness : float or None
        m of the centres of fuzzy c-means; None for those of k-means.
    """

    n_profiles: int
    metric: str
    per_class: bool
    n_init: int
    sample_rows: Any
    random_state: int
    fuzziness: float | None = None

    def find(self, table: Table, memberships: Memberships) -> tuple[np.ndarray, Metric]:
        """The centres (D, T) as the metric sees them, and the metric."""
        table, memberships = self._sampled(table, memberships)
        metric = learn_metric(self.metric, table, memberships)
        values = np.ascontiguousarray(metric(np.asarray(table.numbers, np.float64)))
        rows, codes, weights = memberships.entries()
        ranks = distinct_ranks(np.asarray(table.numbers))
        if not self.per_class:
            of_row = np.bincount(rows, weights, len(values))
            groups = [(np.arange(len(values)), of_row, self.n_profiles)]
        else:
            shares = _dealt(self.n_profiles, memberships.totals())
            groups = [
                (rows[codes == k], weights[codes == k], shares[k]) for k in np.flatnonzero(shares)
            ]
        found = [self._centres(values[i], ranks[i], w, n) for i, w, n in groups]
        centres = np.vstack(found)
        wanted = sum(n for _, _, n in groups)
        if len(centres) < wanted:
            where = " (in each class)" if self.per_class else ""
            warnings.warn(
                f"n_profiles={self.n_profiles} is more than the distinct rows{where}: "
                f"{len(centres)} profiles are used.",
                FewRowsWarning,
                stacklevel=4,
            )
        return np.ascontiguousarray(centres.T), metric

    def _sampled(self, table: Table, memberships: Memberships) -> tuple[Table, Memberships]:
        """The rows that centres are learned from, chosen by their values and not by their order."""
        most = self.sample_rows
        if most == "auto":
            most = max(FEW_ROWS, ROWS_PER_PROFILE * self.n_profiles)
        if most is None or len(table) <= most:
            return table, memberships
        chosen = np.sort(np.argpartition(row_keys(table, self.random_state), most)[:most])
        warnings.warn(
            f"The {self.n_profiles} centres were learned from {most} of {len(table)} rows; all "
            "rows are counted. sample_rows=None learns them from all.",
            LearnedOnSampleWarning,
            stacklevel=5,
        )
        return table.take(chosen), memberships.take(chosen)

    def _centres(
        self, values: np.ndarray, ranks: np.ndarray, weights: np.ndarray, n_centres: int
    ) -> np.ndarray:
        """Centres of some rows: as many as wanted, or all distinct rows if there are fewer."""
        values, weights = merged_rows(values, weights, ranks)
        if len(values) <= n_centres:
            return values
        if self.fuzziness is not None:
            return best_centres(
                values, weights, n_centres, self.fuzziness, self.n_init, self.random_state
            ).centres
        model = KMeans(n_centres, n_init=self.n_init, random_state=self.random_state)
        with warnings.catch_warnings(), threadpool_limits(1, "openmp"):
            # Its threads add up in the order in which they end: one gives equal bits each time.
            warnings.simplefilter("ignore", ConvergenceWarning)  # of rows that nearly coincide
            model.fit(values, sample_weight=weights)
        return model.cluster_centers_


def _dealt(n_profiles: int, totals: np.ndarray) -> np.ndarray:
    """Profiles dealt out to the classes in equal numbers, the first ones in order of weight."""
    there = np.flatnonzero(totals > 0)
    order = there[np.argsort(-totals[there], kind="stable")]
    shares = np.zeros(len(totals), int)
    shares[order] = n_profiles // len(order)
    shares[order[: n_profiles % len(order)]] += 1
    shares[order] = np.maximum(shares[order], 1)
    return shares


def check_around(profiles: Any) -> None:
    """Refuse settings that centres cannot be looked for with."""
    name = type(profiles).__name__
    for setting, least in (("n_profiles", 1), ("n_init", 1), ("random_state", 0)):
        value = getattr(profiles, setting)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or int(value) < least:
            hint = ""
            if setting == "n_profiles":
                hint = ", or 'auto' inside Profiled, which chooses it by cross-validated gain"
            raise ValueError(
                f"{name}({setting}={value!r}): expected a whole number from {least} on{hint}."
            )
    if not isinstance(profiles.metric, str) or profiles.metric not in METRICS:
        raise ValueError(f"{name}(metric={profiles.metric!r}) is not known; use one of {METRICS}.")
    rows = profiles.sample_rows
    whole = isinstance(rows, Integral) and not isinstance(rows, bool) and int(rows) >= 1
    if not (rows is None or whole or (isinstance(rows, str) and rows == "auto")):
        raise ValueError(f"{name}(sample_rows={rows!r}): expected a whole number, None or 'auto'.")
    if not isinstance(profiles.per_class, (bool, np.bool_)):
        raise ValueError(f"{name}(per_class={profiles.per_class!r}): expected True or False.")


class KMeansProfiles(Profiles):
    """The cells of k-means: each row belongs to its nearest centre.

    Parameters
    ----------
    n_profiles : int or "auto"
        Number of centres T. Inside :class:`Profiled`, "auto" chooses it by cross-validated gain.
    metric : {"raw", "standardised", "within", "lda"}
        How far apart rows are: the columns as they are, in units of their standard deviations,
        along axes of unit covariance within the classes, or along the discriminant axes.
    per_class : bool
        Whether the centres are learned class by class, T / K for each.
    n_init : int
        Starts of k-means; the one of least inertia is kept.
    sample_rows : int, None or "auto"
        Most rows that centres are learned from, chosen by their values; all rows are counted.
        "auto" is the larger of 20,000 and 100 T, None is all.
    random_state : int, default=0

    Attributes
    ----------
    partition_ : NearestCentre
        What was learned: the centres and the metric.

    Examples
    --------
    >>> from bayesrule import KMeansProfiles
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> KMeansProfiles(2).fit(X).membership(X).sum(axis=0)
    array([2., 2.])
    """

    hard: ClassVar[bool] = True

    def __init__(
        self,
        n_profiles: Any = 20,
        metric: str = "raw",
        per_class: bool = False,
        n_init: int = 4,
        sample_rows: Any = "auto",
        random_state: int = 0,
    ):
        self.n_profiles = n_profiles
        self.metric = metric
        self.per_class = per_class
        self.n_init = n_init
        self.sample_rows = sample_rows
        self.random_state = random_state

    @property
    def needs_classes(self) -> bool:
        return bool(self.per_class) or self.metric in SUPERVISED

    def learn(self, table: Table, memberships: Memberships) -> NearestCentre:
        check_around(self)
        around = Around(
            int(self.n_profiles),
            self.metric,
            bool(self.per_class),
            int(self.n_init),
            self.sample_rows,
            int(self.random_state),
        )
        return NearestCentre(*around.find(table, memberships))


class FuzzyProfiles(Profiles):
    """Memberships that fall with the distance to each centre.

    u_t(x) = 1 / sum_j (|x - c_t| / |x - c_j|)^(2 / (m - 1))

    Parameters
    ----------
    n_profiles : int or "auto"
        Number of centres T. Inside :class:`Profiled`, "auto" chooses it by cross-validated gain.
    fuzziness : float > 1
        m. Near 1 the memberships are those of :class:`KMeansProfiles`; large ones are all 1 / T.
    centers : {"kmeans", "fcm"} or array of shape (T, D)
        Centres of k-means, as in the paper; of fuzzy c-means; or your own, in the units of X.
    metric : {"raw", "standardised", "within", "lda"}
        As in :class:`KMeansProfiles`.
    per_class, n_init, sample_rows, random_state
        As in :class:`KMeansProfiles`; they do not matter for centres of your own.

    Attributes
    ----------
    partition_ : FuzzyCentres
        What was learned: the centres and the metric.

    References
    ----------
    Equation (10) of Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under
    covariate and label noise, SUM 2024.

    Examples
    --------
    >>> from bayesrule import FuzzyProfiles
    >>> profiles = FuzzyProfiles(fuzziness=2, centers=[[0.0], [4.0]]).fit([[0.0], [1.0], [4.0]])
    >>> profiles.membership([[1.0], [4.0]])
    array([[0.9, 0.1],
           [0. , 1. ]])
    """

    def __init__(
        self,
        n_profiles: Any = 20,
        fuzziness: float = 1.3,
        centers: Any = "kmeans",
        metric: str = "raw",
        per_class: bool = False,
        n_init: int = 4,
        sample_rows: Any = "auto",
        random_state: int = 0,
    ):
        self.n_profiles = n_profiles
        self.fuzziness = fuzziness
        self.centers = centers
        self.metric = metric
        self.per_class = per_class
        self.n_init = n_init
        self.sample_rows = sample_rows
        self.random_state = random_state

    @property
    def needs_classes(self) -> bool:
        own = not isinstance(self.centers, str)
        return self.metric in SUPERVISED or (bool(self.per_class) and not own)

    def learn(self, table: Table, memberships: Memberships) -> FuzzyCentres:
        check_fuzziness(self.fuzziness, "FuzzyProfiles", "KMeansProfiles")
        fuzziness = float(self.fuzziness)
        if not isinstance(self.centers, str):
            return FuzzyCentres(*self._own_centres(table, memberships), fuzziness)
        if self.centers not in ("kmeans", "fcm"):
            raise ValueError(
                f"FuzzyProfiles(centers={self.centers!r}) is not known; use 'kmeans', 'fcm' or an "
                "array of centres, one per row."
            )
        check_around(self)
        around = Around(
            int(self.n_profiles),
            self.metric,
            bool(self.per_class),
            int(self.n_init),
            self.sample_rows,
            int(self.random_state),
            fuzziness if self.centers == "fcm" else None,
        )
        return FuzzyCentres(*around.find(table, memberships), fuzziness)

    def _own_centres(self, table: Table, memberships: Memberships) -> tuple[np.ndarray, Metric]:
        """The user's centres, as the metric sees them."""
        if not isinstance(self.metric, str) or self.metric not in METRICS:
            raise ValueError(
                f"FuzzyProfiles(metric={self.metric!r}) is not known; use one of {METRICS}."
            )
        centres = np.asarray(self.centers, np.float64)
        if centres.ndim != 2 or centres.shape[1] != table.n_columns or len(centres) == 0:
            raise ValueError(
                f"FuzzyProfiles(centers=...) has the shape {centres.shape}, but X has "
                f"{table.n_columns} columns: give one row of {table.n_columns} numbers per centre."
            )
        if not np.isfinite(centres).all():
            raise ValueError("FuzzyProfiles(centers=...) holds NaN or infinity.")
        metric = learn_metric(self.metric, table, memberships)
        return np.ascontiguousarray(metric(centres).T), metric
