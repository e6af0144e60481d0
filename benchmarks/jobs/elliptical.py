"""Robust discriminants beside scikit-learn's plain quadratic one, on rows where both mean the same.

A peer that is not robust does less: the goal is how much longer robustness may take. A ratio of
1/4 says that a robust fit takes four times as long as a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from bayesrule import BayesClassifier, Elliptical, recipes
from benchmarks.agreement import probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job

#: Share of decisions that a robust fit on Gaussian rows may take otherwise: sampling error.
APART = 0.1


def nearly_agree(X: np.ndarray) -> Callable[[Any, Any], str]:
    """Two fitted models decide nearly all rows alike."""

    def differ(ours: Any, theirs: Any) -> str:
        apart = float(np.mean(ours.predict(X) != theirs.predict(X)))
        return "" if apart <= APART else f"{apart:.0%} of the decisions differ"

    return differ


def decisions_nearly_agree(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Nearly all decisions are alike."""
    apart = float(np.mean(ours != theirs))
    return "" if apart <= APART else f"{apart:.0%} of the decisions differ"


def beside_qda(make: Callable[[], Any], call: str, m: int, n_classes: int, n: int) -> Contest:
    """A robust rule beside scikit-learn's QDA."""
    X, y = gaussian_classes(n, m, n_classes)
    ours, theirs = make(), QuadraticDiscriminantAnalysis()
    if call == "fit":
        peers = {"QDA (not robust)": partial(theirs.fit, X, y)}
        return Contest(partial(ours.fit, X, y), nearly_agree(X), peers)
    ours.fit(X, y)
    theirs.fit(X, y)
    peers = {"QDA (not robust)": partial(theirs.predict, X)}
    return Contest(partial(ours.predict, X), decisions_nearly_agree, peers)


def femda_beside_t_qda(n: int) -> Contest:
    """FEMDA's fit beside t-QDA's."""
    X, y = gaussian_classes(n, 10, 5)
    peers = {"t-QDA": partial(recipes.t_qda().fit, X, y)}
    return Contest(partial(recipes.femda().fit, X, y), nearly_agree(X), peers)


def equal_weights(n: int) -> Contest:
    """The engine of the robust laws beside the moments, where every row weighs the same."""
    X, y = gaussian_classes(n, 10, 5)
    density = Elliptical("sample", shrinkage=None)
    peers = {"Gaussian()": partial(recipes.qda().fit, X, y)}

    def differ(ours: Any, theirs: Any) -> str:
        return probabilities_differ(ours.predict_proba(X), theirs.predict_proba(X))

    return Contest(partial(BayesClassifier(density).fit, X, y), differ, peers)


SWEEPS = (
    "A plain fit goes over the rows once. A robust one whitens, weighs and adds them up again, "
    "sweep after sweep, until the weights settle."
)
SHAPES = ((5000, 10, 5), (50_000, 20, 5), (2000, 100, 3))
for n, m, n_classes in SHAPES:
    tiny = max(30 * m, 1000)
    for name, make, slower in (
        ("FEMDA", recipes.femda, 4.0),
        ("t-QDA", recipes.t_qda, 8.0),
    ):
        job(
            f"{name}, m={m}, K={n_classes}: fit",
            sizes=(n,),
            goals={n: 1 / slower},
            tiny=tiny,
            why=SWEEPS,
        )(partial(beside_qda, make, "fit", m, n_classes))
        job(f"{name}, m={m}, K={n_classes}: predict", sizes=(n,), goals={n: 1 / 1.2}, tiny=tiny)(
            partial(beside_qda, make, "predict", m, n_classes)
        )
job("FEMDA and t-QDA, m=10, K=5: fit", sizes=(5000, 100_000), tiny=1000)(femda_beside_t_qda)
job("elliptical, equal weights, m=10, K=5: fit", sizes=(5000, 100_000), tiny=1000)(equal_weights)
