"""Profiles that are the components of a Gaussian mixture, shared by all classes.

    u_t(x)   =   w_t N(x | m_t, S_t) / sum over j of w_j N(x | m_j, S_j)

The mixture is fitted by expectation and maximisation in turns, rows counting by their weights.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesrule import decide
from bayesrule.around import Around, check_around, check_whole
from bayesrule.covariances import whiten
from bayesrule.density import require_setting
from bayesrule.kernels.blocks import block_rows
from bayesrule.kmeans import kmeans
from bayesrule.memberships import Memberships
from bayesrule.metrics import SUPERVISED, Metric
from bayesrule.notices import NotConvergedWarning
from bayesrule.partitions import SoftPartition
from bayesrule.profiles import Profiles
from bayesrule.progress import Meter, progress
from bayesrule.tables import Table

COVARIANCES = ("full", "tied", "diag", "spherical")
#: A component keeps this weight at least, so that its mean exists.
LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class Components(SoftPartition):
    """Components of a Gaussian mixture.

    Attributes
    ----------
    weights : ndarray of shape (T,)
    means : ndarray of shape (T, E)
        As the metric sees them.
    whitening : ndarray of shape (T, E, E) or (T, E)
        Maps that make a component's covariance the identity: triangular, or one per column.
    metric : Metric
    """

    weights: np.ndarray
    means: np.ndarray
    whitening: np.ndarray
    metric: Metric

    @property
    def n_profiles(self) -> int:
        return len(self.weights)

    @property
    def n_columns(self) -> int:
        return len(self.metric.shift)

    @property
    def block_rows(self) -> int:  # type: ignore[override]
        """Blocks whose memberships fit the cache."""
        return block_rows(max(self.n_columns, self.n_profiles))

    def membership(self, table: Table) -> np.ndarray:
        values = self.metric(np.asarray(table.numbers, np.float64))
        return decide.posterior(self.log_densities(values), self.weights)[0]

    def log_densities(self, values: np.ndarray) -> np.ndarray:
        """log N(x | m_t, S_t) less its constant, shape (n, T)."""
        out = np.empty((len(values), self.n_profiles))
        for t, (mean, white) in enumerate(zip(self.means, self.whitening, strict=True)):
            apart = values - mean
            apart = apart * white if white.ndim == 1 else apart @ white
            lengths = white if white.ndim == 1 else np.diag(white)
            out[:, t] = np.log(np.abs(lengths)).sum() - 0.5 * np.einsum("ij,ij->i", apart, apart)
        return out


@dataclass(frozen=True)
class Mixing:
    """How a mixture is fitted to rows.

    Attributes
    ----------
    covariance : str
    ridge : float
        Added to all variances, as a share of the mean variance of the rows.
    max_rounds : int
    tol : float
        The least gain of the mean log-density in one round.
    """

    covariance: str
    ridge: float
    max_rounds: int
    tol: float

    def fit(
        self, values: np.ndarray, weights: np.ndarray, n: int, n_init: int, seed: int, meter: Meter
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, means and whitening of n components, from the cells of k-means on."""
        nearest = np.arange(len(values))
        if len(values) > n:
            nearest = kmeans(values, weights, n, n_init, seed).labels
        centred = values - weights @ values / weights.sum()
        scale = float(weights @ (centred**2).mean(axis=1) / weights.sum())
        floor = self.ridge * (scale if scale > 0 else 1.0)
        degrees = np.eye(n)[nearest]
        nothing = Metric(np.zeros(values.shape[1]), np.ones(values.shape[1]))
        before = -np.inf
        for _ in range(self.max_rounds):
            found = self._components(values, weights, degrees, floor)
            densities = Components(*found, nothing).log_densities(values)
            degrees, top, _ = decide.posterior(densities, found[0])
            now = float(weights @ top / weights.sum())
            meter.advance()
            if now - before < self.tol:
                return found
            before = now
        warnings.warn(
            f"The mixture of {n} components stopped after {self.max_rounds} rounds while it still "
            "grew likelier; raise max_rounds or tol.",
            NotConvergedWarning,
            stacklevel=4,
        )
        return found

    def _components(
        self, values: np.ndarray, weights: np.ndarray, degrees: np.ndarray, floor: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The likeliest components of rows that belong to them by degrees."""
        degrees = weights[:, None] * degrees
        mass = degrees.sum(axis=0)
        held = np.maximum(mass, LEAST_WEIGHT * weights.sum())
        means = degrees.T @ values / held[:, None]
        shares = mass / mass.sum()
        n_columns = values.shape[1]
        if self.covariance in ("diag", "spherical"):
            second = np.empty_like(means)
            for t, mean in enumerate(means):
                second[t] = degrees[:, t] @ (values - mean) ** 2 / held[t]
            if self.covariance == "spherical":
                second[:] = second.mean(axis=1, keepdims=True)
            return shares, means, 1.0 / np.sqrt(second + floor)
        scatter = np.empty((len(means), n_columns, n_columns))
        for t, mean in enumerate(means):
            apart = values - mean
            scatter[t] = (degrees[:, t, None] * apart).T @ apart / held[t]
        if self.covariance == "tied":
            scatter[:] = np.tensordot(shares, scatter, 1)
        return shares, means, whiten(scatter + floor * np.eye(n_columns))[0]


class MixtureProfiles(Profiles):
    """Components of a Gaussian mixture, to which rows belong by their posteriors.

    u_t(x) = w_t N(x | m_t, S_t) / sum_j w_j N(x | m_j, S_j)

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of components T. Inside :class:`Profiled`, "auto" chooses it by cross-validated gain.
    covariance : {"full", "tied", "diag", "spherical"}
        A covariance for each component, one for all, variances only, or one variance each.
    metric, per_class, n_init, sample_rows, random_state
        As in :class:`KMeansProfiles`; k-means is where the fit starts.
    ridge : float >= 0
        Added to all variances, as a share of the rows' mean variance: components of few rows would
        shrink to them.
    max_rounds : int
        Rounds of expectation and maximisation at most.
    tol : float
        The fit ends where a round adds less than this to the mean log-density.

    Attributes
    ----------
    partition_ : Components
        What was learned: weights, means and covariances, and the metric.

    References
    ----------
    Dempster, Laird, Rubin: Maximum likelihood from incomplete data via the EM algorithm, JRSS B 39,
    1977.

    Examples
    --------
    >>> from bayesrule import MixtureProfiles
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]
    >>> MixtureProfiles(2).fit(X).membership([[1.0], [5.0], [9.0]]).round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    hard: ClassVar[bool] = False

    def __init__(
        self,
        n_profiles: Any = 20,
        covariance: str = "full",
        metric: str = "standardised",
        per_class: bool = False,
        ridge: float = 1e-3,
        max_rounds: int = 100,
        tol: float = 1e-3,
        n_init: int = 1,
        sample_rows: Any = "auto",
        random_state: int = 0,
    ):
        self.n_profiles = n_profiles
        self.covariance = covariance
        self.metric = metric
        self.per_class = per_class
        self.ridge = ridge
        self.max_rounds = max_rounds
        self.tol = tol
        self.n_init = n_init
        self.sample_rows = sample_rows
        self.random_state = random_state

    @property
    def needs_classes(self) -> bool:
        return bool(self.per_class) or self.metric in SUPERVISED

    def learn(self, table: Table, memberships: Memberships) -> Components:
        check_around(self)
        check_whole(self, max_rounds=1)
        require_setting(self, "covariance", *COVARIANCES)
        require_setting(self, "ridge", between=(0.0, 1e6))
        require_setting(self, "tol", between=(0.0, 1e6))
        around = Around(
            int(self.n_profiles),
            self.metric,
            bool(self.per_class),
            int(self.n_init),
            self.sample_rows,
            int(self.random_state),
        )
        metric, groups = around.groups(table, memberships)
        # Rows that all coincide have no variance of their own; rounding needs some.
        mixing = Mixing(
            self.covariance, max(float(self.ridge), 1e-12), int(self.max_rounds), float(self.tol)
        )
        with progress("mixture", len(groups) * int(self.max_rounds)) as meter:
            found = [
                mixing.fit(values, weights, n, around.n_init, around.random_state, meter)
                for values, weights, n in groups
            ]
        mass = np.array([weights.sum() for _, weights, _ in groups])
        shares = [share * part[0] for share, part in zip(mass / mass.sum(), found, strict=True)]
        return Components(
            np.concatenate(shares),
            np.vstack([means for _, means, _ in found]),
            np.concatenate([whitening for _, _, whitening in found]),
            metric,
        )
