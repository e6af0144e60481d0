"""A density by itself: the law of rows without classes.

Any density that a classifier takes per class can be asked for that of all rows: histograms,
kernels, neighbours, and the parametric families beside them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from bayesrule.classifier import BayesClassifier
from bayesrule.density import Density, LogDensity
from bayesrule.kernel import Kernel
from bayesrule.notices import NoMassWarning
from bayesrule.settling import over_blocks


def _offers(name: str, what: str) -> Any:
    """Whether the settled law can do something that only some laws can."""

    def check(estimate: DensityEstimate) -> bool:
        if not hasattr(estimate.log_density_, name):
            density = type(estimate._classifier.density).__name__
            raise AttributeError(f"{density} has no {what}: kernels and histograms have.")
        return True

    return available_if(check)


class DensityEstimate(DensityMixin, BaseEstimator):
    """The density of rows, estimated by themselves.

    Parameters
    ----------
    density : Density, default=None
        :class:`Kernel`, :class:`Histogram`, :class:`Neighbors`, or any other density that is
        normalised; None is ``Kernel()``, which must be written out for a search over
        ``density__bandwidth`` and the like.

    Attributes
    ----------
    density_ : prepared density
        It carries what was learned before counting, such as the edges of bins.
    log_density_ : LogDensity
        The settled density.
    bandwidth_ : ndarray
        Of kernels: a number for each column, or the matrix H.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had names

    Notes
    -----
    With :class:`Neighbors` the density at x is k / (n V), V the volume of the ball around x that
    holds k rows. Its tails are so heavy that it does not integrate to one, which ``fit`` warns of;
    and it is infinite where k rows coincide.

    Bandwidths and numbers of neighbours that are chosen for a decision rule ("gain", "cv") need
    classes, and are refused here.

    References
    ----------
    Silverman: Density Estimation for Statistics and Data Analysis, 1986.

    Examples
    --------
    Windows of width 4 around ten numbers:

    >>> import numpy as np
    >>> from bayesrule import DensityEstimate, Kernel
    >>> X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    >>> estimate = DensityEstimate(Kernel("square", bandwidth=4)).fit(X)
    >>> np.exp(estimate.score_samples([[3.0], [10.0], [15.0]])).round(3)
    array([0.075, 0.025, 0.125])
    >>> estimate.integrate(0.0, 9.0).round(3), estimate.sample(2).shape
    (np.float64(0.4), (2, 1))
    """

    def __init__(self, density: Density | None = None):
        self.density = density

    _classifier: BayesClassifier
    n_features_in_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> DensityEstimate:
        """Learn from rows.

        Parameters
        ----------
        X : array or frame of shape (n, D)
        y : ignored
        sample_weight : array of n numbers, default=None
            A weight of 3 counts as the row three times, 0 as its absence.
        """
        density = self._density()
        if density.uses_rule:
            raise ValueError(
                f"{density!r} tunes itself for the decisions between classes, and a density alone "
                "has none. Give a bandwidth by name, such as 'cv_likelihood', or a number."
            )
        # One class of all rows: their labels are as many as the rows, and all the same.
        labels = np.zeros(max(_num_samples(X), 1), np.int64)
        classifier = BayesClassifier(density).fit(X, labels, sample_weight)
        if not (density.normalised or hasattr(classifier.log_density_, "absolute_log_density")):
            raise ValueError(
                f"{type(density).__name__} tells classes apart, but its log-densities are known "
                "only up to a term common to them: by itself it is no density. Use Kernel, "
                "Histogram, Neighbors or Gaussian."
            )
        if not density.normalised:
            warnings.warn(
                "k / (n V) does not integrate to one: far out it falls as slowly as the ball "
                "grows. Use it near the rows, or use Kernel.",
                NoMassWarning,
                stacklevel=2,
            )
        self._classifier = classifier
        self.__dict__.pop("feature_names_in_", None)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(classifier, name):
                setattr(self, name, getattr(classifier, name))
        return self

    def _density(self) -> Density:
        """The density of the settings."""
        density = Kernel() if self.density is None else self.density
        if not isinstance(density, Density):
            raise TypeError(f"density must be a density such as Kernel(), but is {density!r}.")
        return density

    def __sklearn_tags__(self) -> Any:
        return self._density().describe_input(super().__sklearn_tags__())

    @property
    def density_(self) -> Any:
        """The prepared density."""
        check_is_fitted(self)
        return self._classifier.density_

    @property
    def log_density_(self) -> Any:
        """The settled density."""
        check_is_fitted(self)
        return self._classifier.log_density_

    @property
    def bandwidth_(self) -> np.ndarray:
        """Bandwidth that kernels were given or found: a number for each column, or a matrix."""
        bandwidth: np.ndarray = self.log_density_.bandwidths[0]
        return bandwidth

    def score_samples(self, X: Any) -> np.ndarray:
        """Logarithm of the density at each row, shape (n,)."""
        law: LogDensity = self.log_density_
        heights: Any = getattr(law, "absolute_log_density", law)
        table = self._classifier._read(X, self._classifier._learned.prepared)

        def work(start: int, stop: int) -> np.ndarray:
            found: np.ndarray = heights(table.block(start, stop))[:, 0]
            return found

        return np.concatenate(list(over_blocks(work, law, table)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean log-density of rows, by which searches choose."""
        found = self.score_samples(X)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, found, dtype=np.float64, ensure_non_negative=True
            )
        return float(np.average(found, weights=weights))

    @_offers("draw", "draws")
    def sample(self, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draws of new rows, shape (n_samples, D).

        ``random_state`` is a seed, or a generator of numpy's whose draws go on from call to call.
        """
        if not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
            raise ValueError(f"n_samples={n_samples!r} must be a whole number from 1 up.")
        drawn: np.ndarray = self.log_density_.draw(
            int(n_samples), np.random.default_rng(random_state)
        )
        return drawn

    @_offers("distribution", "distribution function")
    def cdf(self, x: Any) -> np.ndarray:
        """Probability of a value at or below each x, of a density of one column.

        Parameters
        ----------
        x : number or array
        """
        return self._shares(x, above=False)

    @_offers("distribution", "distribution function")
    def integrate(self, a: Any, b: Any) -> np.ndarray:
        """Probability of a value between a and b, of a density of one column.

        It keeps its digits where both lie far out. From b below a it is negative.

        Parameters
        ----------
        a, b : number or array
        """
        a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
        below = self._shares(b, above=False) - self._shares(a, above=False)
        right = np.minimum(a, b) > self._middle()
        if not right.any():
            return np.asarray(below)[()]
        above = self._shares(a, above=True) - self._shares(b, above=True)
        return np.where(right, above, below)[()]

    def _middle(self) -> float:
        """A value from which on what lies above is the smaller part."""
        draws = self.log_density_.draw(101, np.random.default_rng(0))
        return float(np.median(draws))

    def _shares(self, x: Any, *, above: bool) -> np.ndarray:
        """Probability of a value at or below each x, or above it."""
        if self.n_features_in_ != 1:
            raise ValueError(
                f"Distribution functions are of one column, and this density has "
                f"{self.n_features_in_}. Fit one of a single column."
            )
        values = np.asarray(x, np.float64)
        if np.isnan(values).any():
            raise ValueError("A probability was asked for at NaN: give numbers.")
        # An infinite place has no distance to the points; the largest number has nothing beyond.
        largest = np.finfo(np.float64).max
        shares = self.log_density_.distribution(np.clip(values.ravel(), -largest, largest), above)
        found = np.where(
            np.isinf(values), (values > 0) != above, np.reshape(shares, values.shape)
        ).astype(np.float64)
        return found[()]
