"""scikit-learn's own checks over a grid of the settings of every density: thousands of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    CellProfiles,
    Cells,
    Columns,
    Elliptical,
    ForestProfiles,
    FuzzyProfiles,
    Gaussian,
    Histogram,
    Kernel,
    KMeansProfiles,
    Minimax,
    MixtureProfiles,
    Multinomial,
    Neighbors,
    Pooled,
    Profiled,
    TreeProfiles,
)
from bayesrule.positive import Gamma, LogNormal
from bayesrule.rates import Exponential, Poisson

pytestmark = pytest.mark.slow


def every(kind: Any, **settings: Any) -> Iterator[Any]:
    """One object of a kind for each combination of settings."""
    for values in product(*settings.values()):
        yield kind(**dict(zip(settings, values, strict=True)))


def densities() -> Iterator[Any]:
    """Every density under many settings, with as many parts as the checks' three classes need."""
    four = ("full", "tied", "diag", "spherical")
    metrics = ("raw", "standardised", "within", "lda")
    yield from every(
        Gaussian,
        covariance=four,
        shrinkage=(None, 0.0, 1.0, "auto"),
        estimate=("ml", "unbiased"),
        missing=("em", "raise"),
    )
    yield from every(Gaussian, covariance=four, estimate=("map", "predictive"))
    yield from every(
        Elliptical,
        scatter=("tyler", "student", "huber", "sample"),
        rule=(None, "femda", "gqda"),
        tied=(False, True),
        shrinkage=("auto", 0.5),
    )
    yield from every(Elliptical, scatter=("student",), dof=("shared", 1.0, 30.0))
    yield from every(Categorical, alpha=(0.1, 10.0))
    yield from every(Bernoulli, alpha=(0.1, 0.5, 2.0, 9.0))
    yield from every(Multinomial, alpha=(0.1, 3.0), estimate=("smoothed", "predictive"))
    yield from every(Poisson, estimate=("map", "predictive"))
    yield from every(Exponential, estimate=("map", "predictive"))
    yield Gamma()
    yield from every(LogNormal, estimate=("ml", "unbiased", "map", "predictive"))
    yield from every(
        Histogram,
        bins=("sturges", "doane", "scott", "freedman-diaconis", "knuth", "blocks"),
        joint=(False, True),
        smoothing=(0.0, 1.0),
    )
    # Jointly, so many bins in each of thirty columns make more cells than there are addresses.
    yield from every(Histogram, bins=(2, 9), smoothing=(0.0, 1.0))
    yield from every(
        Kernel,
        kernel=("gaussian", "epanechnikov", "triangle", "laplace"),
        bandwidth=("normal", "scott", "silverman", "cv_likelihood", "nearest", 0.7),
        product=(True, False),
        joint=(True, False),
    )
    yield from every(Kernel, adaptive=(True,), shared=(False, True), bandwidth=("scott", "gain"))
    yield from every(
        Neighbors,
        k=(1, 5, "cv"),
        metric=("euclidean", "manhattan", "chebyshev", "standardised", "within", "lda"),
        weights=("uniform", "distance"),
        smoothing=(0.0, 0.5),
    )
    yield from every(Neighbors, k=(1, 3), edited=(True,))
    yield from every(Neighbors, k=(1,), edited=(False, True), condensed=(True,))
    yield from every(
        Cells,
        max_cells=(40, 200),
        boundaries=("optimized", "equal", "uniform"),
        smoothing=(0, 2, "auto"),
        validation=(None, 0.5),
    )
    for profiles in (
        *every(KMeansProfiles, n_profiles=(12, 20), metric=metrics, per_class=(False, True)),
        *every(FuzzyProfiles, n_profiles=(12, 20), fuzziness=(1.05, 3.0), metric=metrics),
        *every(MixtureProfiles, n_profiles=(2, 5), covariance=("full", "diag")),
        *every(TreeProfiles, n_profiles=(2, 30)),
        *every(ForestProfiles, n_partitions=(2,), n_profiles=(3, "root")),
        *every(CellProfiles, max_cells=(6, 100), boundaries=("equal", "uniform")),
    ):
        yield Profiled(profiles)
    yield from every(Columns, numbers=(None, Gaussian("full"), Histogram(), Kernel(), Neighbors(3)))
    yield from every(Pooled, members=([Gaussian(), Histogram()],), weights=(None, [1, 0]))


CLASSIFIERS = [BayesClassifier(density) for density in densities()]
CLASSIFIERS += [
    BayesClassifier(density, priors, gain)
    for density in (Gaussian("tied"), Histogram(), Neighbors(), Cells(50))
    for priors in ("uniform", Minimax(), Minimax(on="gain"))
    for gain in (None,)
]


@parametrize_with_checks(CLASSIFIERS)
def test_check(estimator, check):  # type: ignore[no-untyped-def]
    check(estimator)
