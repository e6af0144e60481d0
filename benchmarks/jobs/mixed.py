"""Naive Bayes on a frame of mixed columns, beside scikit-learn's densities put together by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder

from bayesrule import BayesClassifier, Gaussian, recipes
from benchmarks.agreement import decisions_differ, fits_differ
from benchmarks.contest import Contest
from benchmarks.jobs import job

SIZES = (10_000, 100_000, 1_000_000)
N_TOWNS = 30

#: Rows that models are fitted on where only what they answer is timed.
TRAINING_ROWS = 10_000


def mixed(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Twenty columns, numbers, counts, flags, text and categories, that lean with the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    towns = np.array([f"town {i}" for i in range(N_TOWNS)], dtype=object)
    columns: dict[str, object] = {}
    for j in range(5):
        columns[f"number {j}"] = rng.normal(y, 2.0)
    for j in range(5):
        columns[f"count {j}"] = rng.poisson(3 + y)
    for j in range(4):
        columns[f"flag {j}"] = rng.random(n) < 0.3 + 0.3 * y
    for j in range(3):
        place = np.where(rng.random(n) < 0.2, 5 * y, rng.integers(0, N_TOWNS, n))
        columns[f"town {j}"] = pd.Series(towns[place], dtype="str")
    for j in range(3):
        columns[f"band {j}"] = pd.Categorical.from_codes(
            (rng.integers(0, 4, n) + y) % 5, list("abcde")
        )
    return pd.DataFrame(columns), y


class ByHand:
    """A density of scikit-learn's for each type of column, their log-likelihoods added up."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> ByHand:
        self.encoder = OrdinalEncoder()
        numbers, flags, codes = self._split(X, self.encoder.fit_transform)
        self.parts = [
            GaussianNB(var_smoothing=0.0).fit(numbers, y),
            BernoulliNB().fit(flags, y),
            CategoricalNB(min_categories=[len(c) for c in self.encoder.categories_]).fit(codes, y),
        ]
        self.classes_ = self.parts[0].classes_
        return self

    def _split(
        self, X: pd.DataFrame, encode: Callable[[pd.DataFrame], np.ndarray]
    ) -> tuple[np.ndarray, ...]:
        """Numbers, flags and codes."""
        text = X.select_dtypes(["str", "category"])
        return (
            X.select_dtypes("number").to_numpy(),
            X.select_dtypes("bool").to_numpy(),
            encode(text),
        )

    def _joint(self, X: pd.DataFrame) -> np.ndarray:
        """Log-likelihoods and one log-prior; each part brings the same."""
        blocks = self._split(X, self.encoder.transform)
        joint = sum(
            part.predict_joint_log_proba(block)
            for part, block in zip(self.parts, blocks, strict=True)
        )
        return joint - (len(self.parts) - 1) * np.log(self.parts[0].class_prior_)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self.classes_[self._joint(X).argmax(axis=1)]

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        joint = self._joint(X)
        likelihood = np.exp(joint - joint.max(axis=1, keepdims=True))
        return likelihood / likelihood.sum(axis=1, keepdims=True)


def ours_like_theirs() -> BayesClassifier:
    """Naive Bayes with Gaussian counts: scikit-learn has no Poisson law."""
    return recipes.naive_bayes(counts=Gaussian("diag"))


@job("mixed frame, m=20: fit", sizes=SIZES, quick=SIZES[1:2])
def fit(n: int) -> Contest:
    """Tell the types of the columns and fit all of them in one pass."""
    X, y = mixed(n)
    peers = {"scikit-learn's by hand": lambda: ByHand().fit(X, y)}
    ours = ours_like_theirs()
    return Contest(lambda: ours.fit(X, y), fits_differ(X.iloc[:1000]), peers)


@job("mixed frame, m=20: predict", sizes=SIZES, quick=SIZES[1:2])
def decide(n: int) -> Contest:
    """Add up the blocks and decide."""
    training = mixed(TRAINING_ROWS)
    ours, peer = ours_like_theirs().fit(*training), ByHand().fit(*training)
    X, _ = mixed(n, seed=1)
    peers = {"scikit-learn's by hand": lambda: peer.predict(X)}
    return Contest(lambda: ours.predict(X), decisions_differ(X, peer), peers)
