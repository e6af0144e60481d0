"""Conjugate priors of the Gaussian: what is known before the rows, and what is known after them.

A prior turns the moments of the classes into a settled density in two ways. ``mode`` plugs in the
most probable parameters; ``predictive`` averages over them all,

    p(x | rows) = ∫ p(x | parameters) p(parameters | rows) d parameters,

which knows how little a few rows tell. Both need the moments only, so that updating row by row,
chunk by chunk or at once is the same. A class without rows has what a stated prior says of it, and
no density under a prior that was made up from the rows of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator

from bayesrule.covariances import (
    centre_of_columns,
    invertible,
    typical_variances,
    weight_of_columns,
)
from bayesrule.density import LogDensity
from bayesrule.gaussian_laws import (
    BesideConstants,
    DiagonalGaussian,
    DiagonalStudent,
    FullGaussian,
    FullStudent,
    SphericalStudent,
)
from bayesrule.stated import refuse_up_to, stated_centres, stated_spread
from bayesrule.stats import Moments


# Dataclasses for their fields, by which parts of a fit are compared before they are merged.
@dataclass(repr=False, eq=False)
class MeanPrior(BaseEstimator):
    """A Gaussian prior on the mean of each class; the noise about the mean is known.

    With x | mu ~ N(mu, R) and mu ~ N(m, V), n rows of mean a leave mu ~ N(mu_n, V_n),

        G = n V (n V + R)^-1,    mu_n = m + G (a - m),    V_n = V - G V.

    ``Gaussian(estimate="map")`` is N(mu_n, R), and ``estimate="predictive"`` is N(mu_n, R + V_n).
    A class without rows has n = 0.

    Parameters
    ----------
    mean : float or array of shape (D,) or (K, D)
        m: shared by the classes, or one row per class in ``classes_`` order.
    variance : float or array of shape (D,) or (D, D)
        V: how far class means are from m. Zero says that m is the mean, whatever the rows.
    noise_variance : float or array of shape (D,) or (D, D)
        R: how far rows are from their class's mean. Matrices go with full and tied covariances,
        which are the same thing here, and numbers alone with spherical ones.

    References
    ----------
    Murphy: Conjugate Bayesian analysis of the Gaussian distribution, 2007.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Gaussian, MeanPrior
    >>> prior = MeanPrior(mean=0.0, variance=0.9, noise_variance=0.9)
    >>> density = Gaussian("diag", estimate="predictive", prior=prior)
    >>> settled = BayesClassifier(density).fit([[0.6], [1.0], [0.8]], [0, 0, 0]).log_density_
    >>> print(settled.mean, settled.variance)
    [[0.6]] [[1.125]]
    """

    mean: Any
    variance: Any
    noise_variance: Any

    def check(self, covariance: str, n_columns: int) -> None:
        """Refuse values of the wrong shape or sign."""
        stated_centres(self, n_columns)
        shape = covariance, n_columns
        stated_spread(self, "variance", *shape, zero=True)
        stated_spread(self, "noise_variance", *shape)

    def mode(self, moments: Moments, covariance: str) -> LogDensity:
        """Gaussian about the most probable mean."""
        mean, _, noise = self._posterior(moments, covariance)
        every = np.ones(len(mean), bool)
        if moments.kind == "diagonal":
            return DiagonalGaussian(mean, np.broadcast_to(noise, mean.shape).copy(), every)
        return FullGaussian.from_moments(mean, noise[None], every)

    def plug_in(self, moments: Moments, covariance: str) -> tuple[np.ndarray, np.ndarray]:
        """Most probable means and covariances, as many of these as the moments tell apart."""
        mean, _, noise = self._posterior(moments, covariance)
        return mean, np.broadcast_to(
            noise, (1 if covariance == "tied" else len(mean), *noise.shape)
        )

    def predictive(self, moments: Moments, covariance: str) -> LogDensity:
        """Gaussian whose variance is the noise and what is not known of the mean."""
        mean, variance, noise = self._posterior(moments, covariance)
        law = DiagonalGaussian if moments.kind == "diagonal" else FullGaussian.from_moments
        return law(mean, variance + noise, np.ones(len(mean), bool))

    def _posterior(
        self, moments: Moments, covariance: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and variance of each class's mean, and the noise."""
        n_classes, n_columns = moments.mean.shape
        centre = stated_centres(self, n_columns, n_classes) - moments.shift
        variance = stated_spread(self, "variance", covariance, n_columns, zero=True)
        noise = stated_spread(self, "noise_variance", covariance, n_columns)
        weight = weight_of_columns(moments)
        apart = moments.mean - centre
        if moments.kind == "diagonal":
            total = weight * variance + noise
            mean = moments.shift + centre + weight * variance / total * apart
            return mean, variance * (noise / total), noise
        # On the axes U that both matrices share, U' R U = 1 and U' V U = diag(known), the columns
        # part, and each is as above.
        known, axes = eigh(variance, noise)
        known = np.maximum(known, 0.0)
        total = weight * known + 1.0
        back = noise @ axes
        mean = moments.shift + centre + (weight * known / total * (apart @ axes)) @ back.T
        return mean, (back * (known / total)[:, None, :]) @ back.T, noise


@dataclass(frozen=True)
class _Posterior:
    """What the rows leave of a normal-inverse-Wishart prior.

    Attributes
    ----------
    location : ndarray of shape (K, D)
    stretch : ndarray of shape (K, D), or (K, 1) where the columns share it
        1 + 1 / w_n, by which not knowing the mean widens the predictive.
    scatter : ndarray of shape (K, D), (K, 1), (K, D, D) or (1, D, D)
        P_n: per column, for all columns, per pair, per pair for all classes.
    degrees : ndarray of the shape of ``scatter``, up to matrices
    peak : int
        What the mode of the covariance adds to the degrees: from the inverse Wishart itself
        the size of its matrix and one, from each mean that shares the covariance one.
    seen : ndarray of shape (K,)
        Classes that have a density.
    """

    location: np.ndarray
    stretch: np.ndarray
    scatter: np.ndarray
    degrees: np.ndarray
    peak: int
    seen: np.ndarray

    @property
    def mode(self) -> np.ndarray:
        """Most probable variances or covariances."""
        degrees = self.degrees + self.peak
        return self.scatter / (degrees if degrees.ndim == 2 else degrees[:, None, None])


@dataclass(repr=False, eq=False)
class NormalInverseWishart(BaseEstimator):
    """Prior on the mean and the covariance of each class.

    S ~ inverse Wishart(degrees v, scatter P) and mu | S ~ N(m, S / w). After n rows of mean a and
    scatter C about it,

        w_n = w + n,  v_n = v + n,  mu_n = m + n/w_n (a - m),  P_n = P + C + n w/w_n (a - m)(a - m)'

    and the predictive is a multivariate Student, the mode (of mean and covariance together) a
    Gaussian, both about mu_n:

    =========== =================================================== ==========================
    covariance  predictive: degrees of freedom, scale matrix        mode: covariance
    =========== =================================================== ==========================
    full        v_n - D + 1,  P_n (1 + 1/w_n) / (v_n - D + 1)       P_n / (v_n + D + 2)
    tied        the same, P_n and v_n with the rows of all classes  P_n / (v_n + D + 1 + K)
    diag        v_n,  P_n (1 + 1/w_n) / v_n  in each column         P_n / (v_n + 3)
    spherical   v_n,  1 P_n (1 + 1/w_n) / v_n                       P_n / (v_n + D + 2)
    =========== =================================================== ==========================

    In a diagonal covariance each variance is scaled inverse chi-squared, with P_n and v_n of its
    own column's values; its predictive is a product of univariate Students. In a spherical one P_n
    adds up C and (a - m)^2 over the columns, v_n the numbers of values. K counts classes with rows.

    Parameters
    ----------
    mean : None, float or array of shape (D,) or (K, D)
        m. None takes the mean of all rows.
    mean_weight : float
        w: how many rows the prior mean is worth.
    scatter : None, float or array of shape (D,) or (D, D)
        P. None takes ``degrees`` times the variance within classes, per column (spherical: their
        mean): unbiased, and at most the variance over all rows, which serves where no class has
        two rows. The covariance's inverse is then expected to be that of these variances. Columns
        that never vary are set aside: they tell no class from another.
    degrees : None or float
        v: how many rows the prior scatter is worth. None is D + 2 for full and tied covariances
        and 3 for a single variance: the least whole numbers with which covariances have a mean.

    Notes
    -----
    Given all of m, P and v, the prior does not depend on the rows. By default it looks at their
    overall means and variances, never at a class by itself. A class without rows then has no
    density; with m and P given it has what they say of it.

    References
    ----------
    Murphy: Conjugate Bayesian analysis of the Gaussian distribution, 2007.
    Gelman et al.: Bayesian Data Analysis, 3rd edition 2013, sections 3.3 and 3.6.
    Geisser: Posterior odds for multivariate normal classifications, JRSS B 26, 1964 (tied).

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Gaussian
    >>> X, y = [[1.0, 2.0], [2.0, 2.5], [8.0, 9.0]], ["low", "low", "high"]
    >>> BayesClassifier(Gaussian(estimate="predictive")).fit(X, y).predict([[7.0, 9.0]]).tolist()
    ['high']
    """

    mean: Any = None
    mean_weight: float = 0.01
    scatter: Any = None
    degrees: Any = None

    def check(self, covariance: str, n_columns: int) -> None:
        """Refuse values of the wrong shape or sign."""
        if self.mean is not None:
            stated_centres(self, n_columns)
        if self.scatter is not None:
            stated_spread(self, "scatter", covariance, n_columns)
        refuse_up_to(self, "mean_weight", 0.0, "The prior mean of a class without rows needs it.")
        if self.degrees is not None:
            least = n_columns - 1.0 if covariance in ("full", "tied") else 0.0
            cause = (
                f"With {n_columns} columns and covariance={covariance!r} there is no prior else."
            )
            refuse_up_to(self, "degrees", least, cause)

    def mode(self, moments: Moments, covariance: str) -> LogDensity:
        """Gaussian with the most probable mean and covariance."""
        if moments.kind == "diagonal":
            after = self._columns(moments, covariance)
            variance = np.broadcast_to(after.mode, after.location.shape).copy()
            return DiagonalGaussian(after.location, variance, after.seen)
        if (constant := self._constant(moments)).any():
            return self._beside(constant, moments, covariance, "mode")
        after = self._matrices(moments, covariance)
        return FullGaussian.from_moments(after.location, after.mode, after.seen)

    def plug_in(self, moments: Moments, covariance: str) -> tuple[np.ndarray, np.ndarray]:
        """Most probable means and covariances, as many of these as the moments tell apart."""
        after = self._matrices(moments, covariance)
        varies = ~self._constant(moments)
        return after.location, after.mode * np.outer(varies, varies)

    def predictive(self, moments: Moments, covariance: str) -> LogDensity:
        """Student that averages over mean and covariance."""
        n_classes, n_columns = moments.mean.shape
        if moments.kind == "diagonal":
            after = self._columns(moments, covariance)
            scale = np.sqrt(after.scatter / after.degrees * after.stretch)
            if covariance == "diag":
                return DiagonalStudent(after.location, scale, after.degrees, after.seen)
            return SphericalStudent(after.location, scale, after.degrees[:, 0], after.seen)
        if (constant := self._constant(moments)).any():
            return self._beside(constant, moments, covariance, "predictive")
        after = self._matrices(moments, covariance)
        dof = np.broadcast_to(after.degrees - n_columns + 1.0, n_classes).copy()
        return FullStudent.from_scatter(
            after.location, after.scatter, after.stretch[:, 0] / dof, dof, after.seen
        )

    def _columns(self, moments: Moments, covariance: str) -> _Posterior:
        """Posterior of variances, per column or shared by the columns."""
        spherical = covariance == "spherical"
        weight = moments.weight
        constant = self._constant(moments)
        if constant.all() if spherical else constant.any():
            # Without rows of theirs, constant columns look the same in every class.
            weight = np.where(constant, 0.0, weight)
        location, stretch, pull, apart = self._means(moments, weight)
        degrees = self._degrees(1)
        scatter = self._scatter(moments, covariance, degrees)
        rows = moments.second + pull * apart**2
        if spherical:
            rows, weight = rows.sum(axis=1, keepdims=True), weight.sum(axis=1, keepdims=True)
        peak = 2 + (moments.mean.shape[1] if spherical else 1)
        seen = self._seen(moments)
        return _Posterior(location, stretch, scatter + rows, degrees + weight, peak, seen)

    def _matrices(self, moments: Moments, covariance: str) -> _Posterior:
        """Posterior of covariances, per class or shared by the classes."""
        n_columns = moments.mean.shape[1]
        tied = covariance == "tied"
        weight = moments.weight[:, None]
        location, stretch, pull, apart = self._means(moments, weight)
        degrees = self._degrees(n_columns)
        rows = moments.second
        if tied:
            rows = (rows + (pull * apart).T @ apart)[None]
        else:
            rows = rows + (pull * apart)[:, :, None] * apart[:, None, :]
        scatter = self._scatter(moments, covariance, degrees) + rows
        if self.scatter is not None:
            self._refuse_singular(scatter)
        counts = moments.weight.sum(keepdims=True) if tied else moments.weight
        means = int((moments.weight > 0).sum()) if tied else 1
        peak, seen = n_columns + 1 + means, self._seen(moments)
        return _Posterior(location, stretch, scatter, degrees + counts, peak, seen)

    def _means(self, moments: Moments, weight: np.ndarray) -> tuple[np.ndarray, ...]:
        """Posterior locations, their stretch, and by how much and how far prior means pull."""
        if self.mean is None:
            centre = np.broadcast_to(centre_of_columns(moments), moments.mean.shape)
        else:
            n_classes, n_columns = moments.mean.shape
            centre = stated_centres(self, n_columns, n_classes) - moments.shift
        total = self.mean_weight + weight
        share = weight / total
        apart = moments.mean - centre
        location = moments.shift + centre + share * apart
        return location, 1.0 + 1.0 / total, self.mean_weight * share, apart

    def _seen(self, moments: Moments) -> np.ndarray:
        """Classes with rows; all of them where the prior is the user's own."""
        stated = self.mean is not None and self.scatter is not None
        weight = moments.weight
        return ((weight if weight.ndim == 1 else weight.sum(axis=1)) > 0) | stated

    def _degrees(self, size: int) -> float:
        """Degrees of freedom of a prior on matrices of this size."""
        return size + 2.0 if self.degrees is None else float(self.degrees)

    def _scatter(self, moments: Moments, covariance: str, degrees: float) -> np.ndarray:
        """Prior scatter: a matrix, or numbers that go with the columns."""
        n_columns = moments.mean.shape[1]
        if self.scatter is not None:
            given = stated_spread(self, "scatter", covariance, n_columns)
            return given[:1] if covariance == "spherical" else given
        variance = typical_variances(moments)
        if covariance == "spherical":
            variance = variance.mean(keepdims=True)
        variance = degrees * np.where(variance > 0, variance, 1.0)
        return variance if moments.kind == "diagonal" else np.diag(variance)

    def _constant(self, moments: Moments) -> np.ndarray:
        """Columns that never vary and of which the prior says nothing either."""
        variance = typical_variances(moments)
        return (variance <= 0) & (self.scatter is None)

    def _beside(
        self, constant: np.ndarray, moments: Moments, covariance: str, estimate: str
    ) -> LogDensity:
        """The law of the other columns, beside the constant ones."""
        varying, rest = np.flatnonzero(~constant), np.flatnonzero(constant)
        mean = self.mean
        if mean is not None:
            mean = stated_centres(self, len(constant), len(moments.mean))[:, varying]
        # Blocks of an inverse Wishart matrix have as many degrees less as they lack columns.
        degrees = None if self.degrees is None else self.degrees - len(rest)
        prior = NormalInverseWishart(mean, self.mean_weight, None, degrees)
        some = Moments(
            moments.kind,
            moments.shift[varying],
            moments.weight,
            moments.mean[:, varying],
            moments.second[..., varying[:, None], varying],
        )
        value = (moments.shift + centre_of_columns(moments))[rest]
        return BesideConstants(getattr(prior, estimate)(some, covariance), varying, rest, value)

    def _refuse_singular(self, scatters: np.ndarray) -> None:
        """A scatter that vanishes beside dependent columns leaves nothing to invert."""
        singular = [k for k, scatter in enumerate(scatters) if not invertible(scatter)]
        if singular:
            raise ValueError(
                f"NormalInverseWishart(scatter={self.scatter!r}) is too small beside the rows: "
                f"their scatter is singular, and stays so with it (matrices {singular[:5]} in "
                "classes_ order). Give a larger one, or None for one of the size of the rows."
            )
