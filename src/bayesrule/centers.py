"""Profiles around centres: the cells of k-means, and fuzzy groups around the same centres."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bayesrule.around import Around, check_around
from bayesrule.cmeans import check_fuzziness
from bayesrule.memberships import Memberships
from bayesrule.metrics import METRICS, SUPERVISED, Metric, learn_metric
from bayesrule.partitions import FuzzyCentres, NearestCentre
from bayesrule.profiles import Profiles
from bayesrule.tables import Table

#: What a refused fuzziness is told.
HARD = "KMeansProfiles; 'auto' and lists to choose from are for profiles inside Profiled"


class KMeansProfiles(Profiles):
    """The cells of k-means: each row belongs to its nearest centre.

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of centres T. Inside :class:`Profiled`, "auto" or a list to choose from leaves it to
        cross-validated gain.
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

    ``u_t(x) = 1 / sum_j (|x - c_t| / |x - c_j|)^(2 / (m - 1))``

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of centres T. Inside :class:`Profiled`, "auto" or a list to choose from leaves it to
        cross-validated gain.
    fuzziness : float > 1, "auto" or list of floats
        m. Near 1 the memberships are those of :class:`KMeansProfiles`; large ones are all 1 / T.
        "auto" or a list is chosen from as ``n_profiles`` is.
    centers : {"kmeans", "fcm"} or array of shape (T, D)
        Centres of k-means, as in the paper; of fuzzy c-means; or your own, in the units of X. A
        column of categories takes a number for each of them, the root of a half for its own.
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
        fuzziness: Any = 1.3,
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

    @property
    def fuzziness_comes_last(self) -> bool:
        return not (isinstance(self.centers, str) and self.centers == "fcm")

    def learn(self, table: Table, memberships: Memberships) -> FuzzyCentres:
        check_fuzziness(self.fuzziness, "FuzzyProfiles", HARD)
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
        given = np.asarray(self.centers)
        try:
            centres = given.astype(np.float64)
        except (TypeError, ValueError):
            centres = np.empty(0)
        if centres.ndim != 2 or centres.shape[1] != table.n_columns or len(centres) == 0:
            what = "text" if given.dtype.kind in "OUS" else f"the shape {given.shape}"
            of = f"X has {table.n_columns} columns"
            advice = f"Give one row of {table.n_columns} numbers per centre"
            if table.layout is not None:  # categories are written as numbers
                of = (
                    f"the {len(table.layout.names)} columns of X are {table.n_columns} numbers of "
                    f"each row: {table.layout.coordinates}"
                )
                advice += ", in this order, or let centers='kmeans' find them"
            raise ValueError(f"FuzzyProfiles(centers=...) has {what}, but {of}. {advice}.")
        if not np.isfinite(centres).all():
            raise ValueError("FuzzyProfiles(centers=...) holds NaN or infinity.")
        if self.metric == "raw":
            # Nothing of the rows is in it, so that parts with these centres count alike and merge.
            metric = Metric(centres.mean(axis=0), np.ones(table.n_columns))
        else:
            metric = learn_metric(self.metric, table, memberships)
        return np.ascontiguousarray(metric(centres).T), metric
