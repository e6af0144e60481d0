"""Categories: counted and looked up, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import CategoricalNB

from bayesrule import BayesClassifier, Categorical
from benchmarks.agreement import decisions_differ, fits_differ
from benchmarks.contest import Contest
from benchmarks.jobs import job

SIZES = (10_000, 1_000_000)


def categories(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Twenty columns of ten categories that lean with the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 10, (n, 20))
    return np.where(rng.random((n, 20)) < 0.2, (X + y[:, None]) % 10, X), y


@job("categories, m=20, 10 values: fit", sizes=SIZES, goals={1_000_000: 10.0})
def fit(n: int) -> Contest:
    """Count categories per class."""
    X, y = categories(n)
    peers = {"CategoricalNB": lambda: CategoricalNB(min_categories=10).fit(X, y)}
    ours = BayesClassifier(Categorical())
    return Contest(lambda: ours.fit(X, y), fits_differ(X[:1000]), peers, n_bytes=8 * n * 21)


@job("categories, m=20, 10 values: predict", sizes=SIZES, goals={1_000_000: 10.0})
def decide(n: int) -> Contest:
    """Add up log-probabilities and decide."""
    training = categories(10_000)
    ours, peer = BayesClassifier(Categorical()).fit(*training), CategoricalNB().fit(*training)
    X, _ = categories(n, seed=1)
    differ = decisions_differ(X, peer)
    peers = {"CategoricalNB": lambda: peer.predict(X)}
    return Contest(lambda: ours.predict(X), differ, peers, n_bytes=8 * n * 21)
