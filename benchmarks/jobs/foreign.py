"""What a foreign classifier costs on top of itself: the ratio is 1 where it costs nothing."""

from __future__ import annotations

from functools import partial

from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from bayesrule import BayesClassifier, FromClassifier
from benchmarks.agreement import probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job


@job(
    "FromClassifier, m=20, K=3: predict_proba",
    sizes=(1, 100, 10_000, 1_000_000),
    quick=(1, 100, 10_000),
)
def wrapped(n: int) -> Contest:
    """Posteriors of the wrapped classifier beside those of the classifier itself."""
    rows, labels = gaussian_classes(2000, 20, 3)
    X, _ = gaussian_classes(n, 20, 3, seed=1)
    inner = LogisticRegression().fit(rows, labels)
    outer = BayesClassifier(FromClassifier(FrozenEstimator(inner))).fit(rows, labels)
    return Contest(
        partial(outer.predict_proba, X),
        probabilities_differ,
        {"LogisticRegression alone": partial(inner.predict_proba, X)},
    )
