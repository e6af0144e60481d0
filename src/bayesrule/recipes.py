"""Named compositions: functions that return a :class:`BayesClassifier`.

There is no class per method. A recipe's density is a parameter like any other, so a search can
tune ``density__shrinkage`` or try another density altogether.
"""

from __future__ import annotations

from typing import Any

from bayesrule.classifier import BayesClassifier
from bayesrule.gaussian import Gaussian


def gaussian_nb(priors: Any = "empirical", gain: Any = None) -> BayesClassifier:
    """Gaussian naive Bayes: a variance per class and column.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> recipes.gaussian_nb().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[0.4]])
    array([0])
    """
    return BayesClassifier(Gaussian("diag"), priors, gain)


def lda(
    shrinkage: float | str | None = None, priors: Any = "empirical", gain: Any = None
) -> BayesClassifier:
    """Linear discriminant analysis: one covariance for all classes.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 6.0], [6.0, 5.0], [6.0, 6.0]]
    >>> recipes.lda().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 1.0]])
    array([0])
    """
    return BayesClassifier(Gaussian("tied", shrinkage), priors, gain)


def qda(
    shrinkage: float | str | None = None, priors: Any = "empirical", gain: Any = None
) -> BayesClassifier:
    """Quadratic discriminant analysis: a covariance per class.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 6.0], [6.0, 5.0], [6.0, 6.0]]
    >>> recipes.qda().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 1.0]])
    array([0])
    """
    return BayesClassifier(Gaussian("full", shrinkage), priors, gain)
