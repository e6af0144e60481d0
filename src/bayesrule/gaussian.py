"""Gaussian densities: full, tied, diagonal and spherical covariances.

    log N(x | m, S) = -1/2 [ (x - m)' S^-1 (x - m) + log det S + D log 2 pi ]

The statistic is the weight, mean and centred second moment of each class; rows with missing values
that do not factor are kept beside it and enter by EM. All that is estimated, shrunk or repaired
happens in ``settle``.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bayesrule.conjugate import NormalInverseWishart
from bayesrule.covariances import (
    FLOOR,
    ROUNDING,
    centre_of_columns,
    invertible,
    second_of_columns,
    shrunk,
    spread_over_classes,
    typical_variances,
)
from bayesrule.density import Density, LogDensity, check_memory
from bayesrule.gaussian_laws import DiagonalGaussian, FullGaussian
from bayesrule.memberships import Memberships
from bayesrule.missing import complete_by_em
from bayesrule.moments import moments_by_column, moments_by_pair
from bayesrule.notices import FewRowsWarning, SingularScatterWarning
from bayesrule.stats import Moments, Several
from bayesrule.tables import Table, read_numbers


class Gaussian(Density):
    """A Gaussian per class.

    Parameters
    ----------
    covariance : {"full", "tied", "diag", "spherical"}
        A covariance per class; one for all classes; a variance per class and column; a variance
        per class.
    shrinkage : None, float in [0, 1], or "auto"
        Share of the covariance that is replaced by a multiple of the identity (float), or, with
        "auto", by the diagonal of the variances within the classes, made as large, so that classes
        of few rows borrow from the others; the share is chosen by oracle approximating shrinkage of
        the correlations. A class whose covariance is singular is repaired as by "auto", with a
        warning.
    estimate : {"ml", "unbiased", "map", "predictive"}
        How the parameters are told from the rows. "ml" divides the second moment by n,
        "unbiased" by n - 1 (n - K where tied). "map" takes the most probable parameters given
        the rows and a prior. "predictive" averages over all parameters that the rows leave
        likely: no plug-in, no ridge, and the right answer for classes of few rows.
    prior : None, MeanPrior or NormalInverseWishart
        For "map" and "predictive"; None is ``NormalInverseWishart()``, whose predictive is a
        Student. Neither goes with ``shrinkage``, which priors replace.
    missing : {"em", "raise"}
        What full and tied covariances do with missing values in the rows of ``fit``: keep those
        rows and complete them by EM, or refuse them everywhere. Diagonal and spherical ones use
        what each column has. Rows to be decided on are marginalised exactly by all.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Gaussian
    >>> X, y = [[1.0, 2.0], [2.0, 1.0], [8.0, 9.0], [9.0, 8.0]], ["low", "low", "high", "high"]
    >>> BayesClassifier(Gaussian("diag")).fit(X, y).predict([[2.0, 2.0]]).tolist()
    ['low']
    """

    learns: ClassVar[bool] = False

    def __init__(
        self,
        covariance: str = "full",
        shrinkage: float | str | None = None,
        estimate: str = "ml",
        prior: Any = None,
        missing: str = "em",
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.estimate = estimate
        self.prior = prior
        self.missing = missing

    @property
    def accept_missing(self) -> bool:  # type: ignore[override]
        """Rows may have missing values unless they were refused."""
        return self.missing != "raise"

    def read_by_block(self, X: Any, estimator: Any) -> Table:
        """X in which nobody looked for missing values yet."""
        return read_numbers(
            X, accept_missing=self.accept_missing, estimator=estimator, by_block=True
        )

    def prepare(self, table: Table, memberships: Memberships, rule: Any) -> Gaussian:
        """Check the settings; there is nothing to learn before counting."""
        self.require("covariance", "full", "tied", "diag", "spherical")
        self.require("estimate", "ml", "unbiased", "map", "predictive")
        self.require("missing", "em", "raise")
        self.require("shrinkage", None, "auto", between=(0.0, 1.0))
        self._check_prior(table.n_columns)
        if self.covariance in ("full", "tied"):
            scatters = memberships.n_classes if self.covariance == "full" else 1
            check_memory(
                16 * scatters * table.n_columns**2,
                f"{scatters} full scatters of {table.n_columns} features",
                "Use covariance='tied' or 'diag', or fewer features.",
            )
        return self

    def _check_prior(self, n_columns: int) -> None:
        """Refuse settings that would go unused, and priors that do not fit the columns."""
        if self.estimate in ("ml", "unbiased"):
            if self.prior is not None:
                raise ValueError(
                    f"Gaussian(estimate={self.estimate!r}) uses no prior, but prior={self.prior} "
                    "was given. Use estimate='map' or 'predictive' with it."
                )
            return
        if self.shrinkage is not None:
            raise ValueError(
                f"Gaussian(estimate={self.estimate!r}) has a prior, which does what shrinkage="
                f"{self.shrinkage!r} would do. Set shrinkage=None, or estimate='ml'."
            )
        prior = self._prior()
        if isinstance(prior, type) or not hasattr(prior, "predictive"):
            raise TypeError(
                f"Gaussian(prior={prior!r}) is no prior: use MeanPrior(mean, variance, "
                "noise_variance) or NormalInverseWishart()."
            )
        prior.check(self.covariance, n_columns)

    def _prior(self) -> Any:
        """The prior of the settings."""
        return NormalInverseWishart() if self.prior is None else self.prior

    def _plug_in(self) -> Any:
        """How EM is to tell means and covariances from moments: by the prior, or as they are."""
        if self.estimate in ("ml", "unbiased"):
            return None
        return partial(self._prior().plug_in, covariance=self.covariance)

    def tally(self, table: Table, memberships: Memberships) -> Moments | Several:
        """Moments of each class; where columns do not factor, incomplete rows are kept beside."""
        if self.covariance in ("diag", "spherical"):
            return moments_by_column(table, memberships)
        return moments_by_pair(table, memberships, tied=self.covariance == "tied")

    def settle(self, stats: Moments | Several) -> LogDensity:
        """Means and covariances: given the prior, or shrunk and repaired where they must be."""
        if isinstance(stats, Moments):
            moments = stats
        else:
            moments, incomplete = stats.parts
            if len(incomplete.rows):
                moments = complete_by_em(moments, incomplete.sorted(), self._plug_in())
        _refuse_overflow(moments)
        match self.estimate:
            case "map":
                return self._prior().mode(moments, self.covariance)
            case "predictive":
                return self._prior().predictive(moments, self.covariance)
        if moments.kind == "diagonal":
            return _settle_diagonal(moments, self)
        return _settle_full(moments, self)


def _refuse_overflow(moments: Moments) -> None:
    """Squares near the largest or smallest numbers leave no digits for a variance."""
    squares = second_of_columns(moments)
    furthest = np.abs(moments.mean).max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        lost = ~((squares < 1e280) & (furthest**2 < 1e280)) | ((squares > 0) & (squares < 1e-280))
    # Squares that all vanished look like a constant column, but its means do not.
    lost |= (squares == 0) & (furthest < 1e-140) & (np.ptp(moments.mean, axis=0) > 0)
    if lost.any():
        columns = np.flatnonzero(lost)[:5].tolist()
        raise ValueError(
            f"The squares of column {columns[0]} of X overflow or vanish (columns {columns} of all "
            "those that do): multiply it by a power of ten, since the scale of a column does not "
            "matter to the decisions."
        )


def _degrees(weight: np.ndarray, settings: Gaussian, used: int = 1) -> np.ndarray:
    """What second moments are divided by; not positive where there are too few rows."""
    return weight - used if settings.estimate == "unbiased" else weight


def _settle_diagonal(moments: Moments, settings: Gaussian) -> DiagonalGaussian:
    """Variances per class and column, repaired where a class says nothing of its spread."""
    weight = moments.weight
    seen: np.ndarray = np.sum(weight, axis=1) > 0
    _, overall = spread_over_classes(moments)
    typical = typical_variances(moments)
    if settings.covariance == "spherical":
        shape = weight.shape
        total = np.broadcast_to(moments.second.sum(axis=1, keepdims=True), shape)
        degrees = np.maximum(_degrees(weight, settings), 0.0).sum(axis=1, keepdims=True)
        degrees = np.broadcast_to(degrees, shape)
        overall, typical = np.full(shape[1], overall.mean()), np.full(shape[1], typical.mean())
    else:
        total, degrees = moments.second, _degrees(weight, settings)
    variance = np.divide(total, degrees, out=np.zeros(weight.shape), where=degrees > 0)
    flat = variance <= ROUNDING * overall
    lone = flat.all(axis=1) & seen & (overall > 0).any()
    if lone.any():
        _warn_few_rows(np.flatnonzero(lone))
    share = settings.shrinkage
    if share is not None and share != "auto":  # "auto" shrinks towards a diagonal, as this is
        mean = variance.mean(axis=1, keepdims=True)
        variance = (1 - float(share)) * variance + float(share) * mean
        flat = variance <= ROUNDING * overall
    narrow = flat & (seen & ~lone)[:, None] & (overall > 0) & (weight > 0)
    if narrow.any():
        _warn_singular(np.flatnonzero(narrow.any(axis=1)), "a constant column")
    # A column that never varies tells nothing; any variance keeps it harmless.
    variance = np.where(flat, np.where(overall > 0, FLOOR * typical, 1.0), variance)
    variance = np.where(lone[:, None] & (typical > 0), typical, variance)
    # Of a column that a class has no value in, all that is known is how it is elsewhere.
    blank = (weight == 0) & seen[:, None]
    mean = np.where(blank, centre_of_columns(moments), moments.mean)
    variance = np.where(blank & (overall > 0), overall, variance)
    return DiagonalGaussian(mean + moments.shift, variance, seen)


def _settle_full(moments: Moments, settings: Gaussian) -> FullGaussian:
    """Covariances and their whitening, repaired where they cannot be inverted."""
    tied = moments.kind == "tied"
    seen = moments.weight > 0
    within, overall = spread_over_classes(moments)
    varies = np.flatnonzero(overall > 0)
    block = np.ix_(varies, varies)
    scale = np.sqrt(overall[varies])
    # A column that never varies tells nothing; any variance keeps it harmless.
    spread = np.where(overall > 0, typical_variances(moments), 1.0)
    floor = np.where(overall > 0, FLOOR * spread, 1.0)
    usual = np.where(within > FLOOR * overall, within, spread)[varies]
    if tied:
        counts = np.array([moments.weight.sum()])
        degrees = _degrees(counts, settings, int(seen.sum()))
        seconds = moments.second[None]
    else:
        counts, degrees, seconds = (
            moments.weight,
            _degrees(moments.weight, settings),
            moments.second,
        )
    covariances = np.empty(seconds.shape)
    lone, repaired = [], []
    for k, (count, degree, second) in enumerate(zip(counts, degrees, seconds, strict=True)):
        raw = second / degree if degree > 0 else np.zeros_like(second)
        flat = np.diag(raw) <= ROUNDING * overall
        if flat.all():
            covariances[k] = np.diag(spread)
            if count > 0 and (overall > 0).any():
                lone.append(k)
            continue
        raw[flat] = raw[:, flat] = 0.0
        covariances[k] = raw
        covariances[k][block] = shrunk(raw[block], settings.shrinkage, count, scale, usual)
        still = np.flatnonzero(np.diag(covariances[k]) <= ROUNDING * overall)
        covariances[k][still, still] = floor[still]
        if not invertible(covariances[k]):
            covariances[k][block] = shrunk(raw[block], "auto", count, scale, usual)
        elif not (overall[still] > 0).any():
            continue
        repaired.append(k)
    if lone:
        _warn_few_rows(np.array(lone))
    if repaired:
        _warn_singular(
            np.array(repaired), "fewer rows than features, or constant or dependent columns", tied
        )
    return FullGaussian.from_moments(moments.mean + moments.shift, covariances, seen)


def _warn_few_rows(classes: np.ndarray) -> None:
    warnings.warn(
        f"{len(classes)} of the classes (numbers {classes[:5].tolist()} in classes_ order) have "
        "too few rows to tell their spread; they borrow that of all classes. Give them more rows.",
        FewRowsWarning,
        stacklevel=2,
    )


def _warn_singular(classes: np.ndarray, cause: str, tied: bool = False) -> None:
    of = f"the scatter of classes {classes[:5].tolist()} (in classes_ order)"
    warnings.warn(
        f"Singular: {'the shared scatter' if tied else of} has {cause}, and was regularised. "
        "Drop such columns, add rows, or choose shrinkage='auto' or a simpler covariance.",
        SingularScatterWarning,
        stacklevel=2,
    )
