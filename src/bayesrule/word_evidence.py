"""What tells classes of texts apart: the weight of evidence of each word.

    ratio_kw   =  log theta_kw - log sum over j != k of  prior_j theta_jw / sum of these priors
    often_kw   =  mean number of times that w comes in a text of class k
    weight_kw  =  often_kw * ratio_kw

The ratio is what one occurrence adds to the log-odds of the class; the weight is what the word
adds to them, on the average, in a text of that class. Both are smoothed as the classifier is, so a
word seen once weighs little, however one-sided it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesrule.decide import log_of


@dataclass(frozen=True)
class WordEvidence:
    """Evidence of each word for each class, in nats.

    Attributes
    ----------
    words : ndarray of shape (V,)
    classes : ndarray of shape (K,)
    ratio : ndarray of shape (K, V)
        Log-likelihood ratio of one occurrence, against the other classes mixed by their priors.
    often : ndarray of shape (K, V)
        Mean number of occurrences in a text of the class.
    """

    words: np.ndarray
    classes: np.ndarray
    ratio: np.ndarray
    often: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """Mean evidence in a text of the class, shape (K, V)."""
        return self.often * self.ratio


def word_evidence(clf: Any, column: Any = None) -> WordEvidence:
    """Evidence of each word for each class against the others.

    Parameters
    ----------
    clf : fitted BayesClassifier over ``Words`` or ``Multinomial``, or a pipeline that ends in one
    column : name, default=None
        The text column, where ``Columns`` holds several.
    """
    rule = clf[-1] if hasattr(clf, "named_steps") else clf
    check_is_fitted(rule)
    law = _law_of_words(rule.log_density_, column)
    log_share = law.log_share
    n_classes = len(log_share)
    if law.seen.sum() < 2:
        raise ValueError("There is evidence only where there are at least two classes with rows.")
    # A share of zero (alpha = 0) would weigh without limit: it counts as half of the smallest.
    finite = np.isfinite(log_share)
    floored = np.where(finite, log_share, np.min(log_share, initial=0.0, where=finite) - np.log(2))
    priors = np.where(law.seen, rule.priors_, 0.0)
    ratio = np.zeros_like(log_share)
    for k in np.flatnonzero(law.seen):
        others = np.flatnonzero(law.seen & (np.arange(n_classes) != k))
        shares = priors[others] if priors[others].any() else np.ones(len(others))
        mixture = (shares / shares.sum()) @ np.exp(floored[others])
        ratio[k] = floored[k] - log_of(mixture)
    often = law.lengths[:, None] * np.exp(log_share)
    return WordEvidence(_names(clf, rule, law), rule.classes_, ratio, often)


def top_words(clf: Any, n: int = 10, column: Any = None) -> dict[Any, list[tuple[str, float]]]:
    """The words that speak most for each class, with their weights of evidence.

    Parameters
    ----------
    clf : fitted BayesClassifier over ``Words`` or ``Multinomial``, or a pipeline that ends in one
    n : int
        At most so many words per class.
    column : name, default=None
        The text column, where ``Columns`` holds several.

    Returns
    -------
    dict {class: list of (word, weight)}
        By falling weight: the mean evidence, in nats, that the word gives for the class in a text
        of that class. See :mod:`bayesrule.word_evidence` for the formula.

    Examples
    --------
    >>> from bayesrule import recipes, top_words
    >>> X = ["free cash now", "free prize", "see you now", "see him"]
    >>> clf = recipes.text_bayes(ngram_range=(1, 1)).fit(X, ["spam", "spam", "ham", "ham"])
    >>> [(word, round(weight, 2)) for word, weight in top_words(clf, 1)["spam"]]
    [('free', 0.69)]
    """
    evidence = word_evidence(clf, column)
    tops = {}
    for label, weight in zip(evidence.classes.tolist(), evidence.weight, strict=True):
        order = np.argsort(-weight, kind="stable")[:n]
        tops[label] = [
            (str(evidence.words[j]), float(weight[j])) for j in order.tolist() if weight[j] > 0
        ]
    return tops


def _law_of_words(law: Any, column: Any) -> Any:
    """The settled density of words, alone or among columns."""
    if hasattr(law, "laws"):
        found = {
            names[0]: inner
            for inner, names in zip(law.laws, law.names, strict=True)
            if hasattr(inner, "log_share")
        }
        if column is None and len(found) == 1:
            return next(iter(found.values()))
        if column in found:
            return found[column]
        raise ValueError(
            f"column={column!r} names no column whose words are counted; there are {list(found)}."
        )
    if not hasattr(law, "log_share"):
        raise TypeError(
            f"{type(law).__name__} counts no words. Words speak in a classifier over Words or "
            "Multinomial, such as recipes.text_bayes()."
        )
    return law


def _names(clf: Any, rule: Any, law: Any) -> np.ndarray:
    """Words, from the density, from the vectoriser before it, or from the columns of X."""
    words = getattr(law, "words", None)
    if words is None and clf is not rule and len(clf) > 1:
        words = clf[:-1].get_feature_names_out()
    if words is None:
        words = getattr(rule, "feature_names_in_", None)
    if words is None or len(words) != law.log_share.shape[1]:
        words = [f"x{j}" for j in range(law.log_share.shape[1])]
    return np.asarray(words, dtype=object)
