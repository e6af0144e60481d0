"""Named compositions: functions that return a :class:`BayesClassifier`.

There is no class per method. A recipe's density is a parameter like any other, so a search can
tune ``density__shrinkage`` or try another density altogether.
"""

from __future__ import annotations

from typing import Any

from bayesrule.classifier import BayesClassifier
from bayesrule.columns import Columns
from bayesrule.gaussian import Gaussian
from bayesrule.words import Words


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


def naive_bayes(
    columns: Any = None, priors: Any = "empirical", gain: Any = None, **by_type: Any
) -> BayesClassifier:
    """Naive Bayes for tables of mixed columns: a density for each column by its type.

    Parameters
    ----------
    columns : dict {column or tuple of columns: Density}, default=None
        Densities of your choice; the other columns get theirs by type.
    priors, gain
        As in :class:`BayesClassifier`.
    **by_type
        ``numbers``, ``counts``, ``flags``, ``categories`` or ``texts``: what columns of a type get.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesrule import recipes
    >>> X = pd.DataFrame({"age": [30.5, 41.0, 65.2, 70.1], "town": ["A", "B", "B", None]})
    >>> recipes.naive_bayes().fit(X, ["no", "no", "yes", "yes"]).predict(X[:1])
    array(['no'], dtype='<U3')
    """
    return BayesClassifier(Columns(columns, **by_type), priors, gain)


def text_bayes(
    alpha: float = 1.0,
    ngram_range: tuple[int, int] = (1, 2),
    binary: bool = True,
    min_df: float = 1,
    vectorizer: Any = None,
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Naive Bayes on texts: single words and pairs, each counted once per text.

    ``word_evidence.top_words`` tells what it goes by, and ``displays.WordCloudDisplay`` shows it.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> texts = ["win cash now!", "free cash prize!", "see you at lunch", "are you home now?"]
    >>> clf = recipes.text_bayes().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> clf.predict(["cash prize inside", "you home?"]).tolist()
    ['spam', 'ham']
    """
    density = Words(alpha, ngram_range, binary, min_df, vectorizer=vectorizer)
    return BayesClassifier(density, priors, gain)
