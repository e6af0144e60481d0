"""The one list of densities that every law and every check of scikit-learn is applied to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from bayesrule import FromClassifier, Gaussian
from bayesrule.density import Density
from bayesrule.positive import Gamma, LogNormal
from bayesrule.rates import Exponential, Poisson


@dataclass(frozen=True)
class Listed:
    """A density and what may be asked of it.

    ``sklearn_checks`` is False where scikit-learn's checks do not hold for the inner estimator
    itself; ``claims`` go to ``check_density``.
    """

    name: str
    density: Density
    claims: dict[str, Any]
    sklearn_checks: bool = True


def _gaussian(covariance: str, **settings: Any) -> Listed:
    words = [covariance, *(str(value) for value in settings.values())]
    return Listed("gaussian-" + "-".join(words), Gaussian(covariance, **settings), {})


def _foreign(name: str, estimator: Any, tolerance: float, **marks: bool) -> Listed:
    # Penalties and splits know the units of the columns.
    claims = {"tolerance": tolerance, "equivariant": (), "storable": False}
    return Listed(name, FromClassifier(estimator), claims, **marks)


def _nonnegative(name: str, density: Density) -> Listed:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [40, 30, 20]))
    mean = np.array([[1.0, 4.0, 2.0], [2.0, 1.0, 2.5], [6.0, 3.0, 0.6]])[y]
    if isinstance(density, Poisson):
        return Listed(name, density, {"X": rng.poisson(mean), "y": y, "equivariant": ()})
    # A frame: where X is an array, the laws that integrate go below zero too.
    X = pd.DataFrame(rng.gamma(2.0, mean), columns=list("abc"))
    return Listed(name, density, {"X": X, "y": y, "equivariant": ("scale",)})


DENSITIES = [
    _gaussian(covariance, **settings)
    for covariance in ("full", "tied", "diag", "spherical")
    for settings in (
        {},
        {"shrinkage": 0.3},
        {"shrinkage": "auto"},
        {"estimate": "unbiased"},
        {"estimate": "map"},
        {"estimate": "predictive"},
        {"missing": "raise"},
    )
] + [
    # The tolerance of the optimiser, which ends where the gradient is small.
    _foreign("logistic", LogisticRegression(tol=1e-9, max_iter=1000), 1e-4),
    _foreign("boosting", HistGradientBoostingClassifier(max_iter=5), 1e-6),
    # Its folds go by the number of rows, so a weight cannot stand for repeated rows.
    _foreign(
        "calibrated",
        CalibratedClassifierCV(LogisticRegression(tol=1e-9, max_iter=1000), cv=3),
        1e-4,
        sklearn_checks=False,
    ),
    _nonnegative("poisson", Poisson()),
    _nonnegative("poisson-ml", Poisson(prior=None)),
    _nonnegative("poisson-predictive", Poisson(estimate="predictive")),
    _nonnegative("exponential", Exponential()),
    _nonnegative("exponential-predictive", Exponential(estimate="predictive")),
    _nonnegative("gamma", Gamma()),
    _nonnegative("log-normal", LogNormal()),
    _nonnegative("log-normal-unbiased", LogNormal("unbiased")),
    _nonnegative("log-normal-predictive", LogNormal("predictive")),
]


def every_density(**kwargs: Any) -> Any:
    """Run a test for every density of the list."""
    return pytest.mark.parametrize(
        "listed", DENSITIES, ids=[listed.name for listed in DENSITIES], **kwargs
    )
