"""Gaussian classes: naive Bayes, quadratic and linear discriminants, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from bayesrule import BayesClassifier, Gaussian
from benchmarks.agreement import decisions_differ, fits_differ, probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job

CALLS = ("fit", "predict", "predict_proba")

#: Rows that models are fitted on where only what they answer is timed.
TRAINING_ROWS = 10_000

#: Rows on which two fits are compared.
PROBE_ROWS = 2000


def named(labels: np.ndarray) -> np.ndarray:
    """Labels as strings."""
    return np.char.add("class ", labels.astype(str))


def as_frame(X: np.ndarray) -> pd.DataFrame:
    """A frame that keeps each column together, as one read from a file does."""
    return pd.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})


def classifiers(
    call: str,
    ours: Callable[[], Any],
    peers: Mapping[str, Callable[[], Any]],
    n_columns: int,
    n_classes: int,
    n: int,
    *,
    rows_as: Callable[[np.ndarray], Any] = np.asarray,
    labels_as: Callable[[np.ndarray], Any] = np.asarray,
) -> Contest:
    """One method of our classifier and of its peers on the same rows."""
    numbers, codes = gaussian_classes(max(n, PROBE_ROWS), n_columns, n_classes)
    # Products of the columns of a row, and their sums, half of them as they are symmetric.
    covariance = ours().density.covariance
    tied = covariance == "tied"
    scatter = 4 * n_columns if covariance == "diag" else n_columns * (n_columns + 1)
    X, y = rows_as(numbers[:n]), labels_as(codes[:n])
    if call == "fit":
        return Contest(
            partial(ours().fit, X, y),
            fits_differ(rows_as(numbers[:PROBE_ROWS])),
            {name: partial(make().fit, X, y) for name, make in peers.items()},
            n_bytes=8 * n * (n_columns + 1),
            flops=scatter * n,
        )
    training = gaussian_classes(TRAINING_ROWS, n_columns, n_classes)
    rows, labels = rows_as(training[0]), labels_as(training[1])
    mine = ours().fit(rows, labels)
    # Peers differ in how they fit; what they do afterwards is the same.
    name, make = next(iter(peers.items()))
    theirs = make().fit(rows, labels)
    differ = decisions_differ(X, theirs) if call == "predict" else probabilities_differ
    return Contest(
        partial(getattr(mine, call), X),
        differ,
        {name: partial(getattr(theirs, call), X)},
        n_bytes=8 * n * (n_columns + (1 if call == "predict" else n_classes)),
        flops=(1 if tied else n_classes) * scatter * n,
    )


# Variances without the smoothing that scikit-learn adds: both sides then mean the same.
NAIVE = (
    partial(BayesClassifier, Gaussian("diag")),
    {"GaussianNB": partial(GaussianNB, var_smoothing=0.0)},
)
QUADRATIC = (
    partial(BayesClassifier, Gaussian("full")),
    {
        "QDA": QuadraticDiscriminantAnalysis,
        "QDA (eigen)": partial(QuadraticDiscriminantAnalysis, solver="eigen"),
    },
)
LINEAR = (
    partial(BayesClassifier, Gaussian("tied")),
    {
        "LDA": LinearDiscriminantAnalysis,
        "LDA (lsqr)": partial(LinearDiscriminantAnalysis, solver="lsqr"),
    },
)

TWO_PASSES = (
    "The rows pass through memory twice, to look for missing or infinite values before anything is "
    "added, and to add up; each pass is bound by memory."
)
MILLION, MANY, SOME = 1_000_000, 100_000, 10_000

for call in CALLS:
    for n_classes in (2, 5):
        job(
            f"naive Bayes, m=20, K={n_classes}: {call}",
            sizes=(SOME, MANY, MILLION),
            goals={} if call == "predict_proba" else {MILLION: 15.0},
            why=TWO_PASSES if call == "fit" else "",
        )(partial(classifiers, call, *NAIVE, 20, n_classes))
for call in CALLS[:2]:
    job(f"naive Bayes, m=20, K=5, string labels: {call}", sizes=(MANY, MILLION))(
        partial(classifiers, call, *NAIVE, 20, 5, labels_as=named)
    )
for call in CALLS[:2]:
    job(f"naive Bayes, m=20, K=5, pandas frame: {call}", sizes=(MANY, MILLION))(
        partial(classifiers, call, *NAIVE, 20, 5, rows_as=as_frame)
    )
for n_columns in (10, 100):
    for call in CALLS:
        job(
            f"full covariance, m={n_columns}, K=3: {call}",
            sizes=(SOME, MANY),
            goals={SOME: 1.0, MANY: 1.0},
            tiny=1000,
        )(partial(classifiers, call, *QUADRATIC, n_columns, 3))
for call in CALLS:
    job(f"tied covariance, m=20, K=5: {call}", sizes=(SOME, MANY))(
        partial(classifiers, call, *LINEAR, 20, 5)
    )
for call in CALLS[1:]:
    job(f"small call, naive Bayes, m=20, K=2: {call}", sizes=(1, 100), quick=(1, 100))(
        partial(classifiers, call, *NAIVE, 20, 2)
    )
job("small call, naive Bayes, m=20, K=2: fit", sizes=(100,))(
    partial(classifiers, "fit", *NAIVE, 20, 2)
)
