"""Rows that jobs share, from fixed seeds."""

from __future__ import annotations

import numpy as np


def gaussian_classes(
    n: int, n_columns: int, n_classes: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of overlapping Gaussian classes whose columns are correlated, and integer labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    # Classes about three standard deviations apart, however many columns there are.
    means = rng.normal(0.0, 2.0 / np.sqrt(n_columns), (n_classes, n_columns))
    spread = rng.uniform(0.7, 1.4, (n_classes, n_columns))
    X = rng.normal(size=(n, n_columns))
    X[:, 1:] += 0.3 * X[:, :-1]
    X *= spread[y]
    X += means[y]
    return X, y


def probabilities(n: int, n_classes: int, seed: int = 0) -> np.ndarray:
    """Rows of posteriors of classes that overlap."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes))
    scores[np.arange(n), rng.integers(n_classes, size=n)] += rng.uniform(0.5, 3.0, n)
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)
