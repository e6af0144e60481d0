"""The one list of densities that every law and every check of scikit-learn is applied to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture

from bayesrule import (
    Bernoulli,
    Categorical,
    CellProfiles,
    Cells,
    Columns,
    Elliptical,
    ForestProfiles,
    FromClassifier,
    FuzzyProfiles,
    Gaussian,
    Histogram,
    Kernel,
    KMeansProfiles,
    MixtureProfiles,
    Multinomial,
    Neighbors,
    Pooled,
    Profiled,
    TreeProfiles,
    Words,
)
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


def _kernel(name: str, density: Kernel, *equivariant: str) -> Listed:
    """Searches for a bandwidth end a little apart where numbers are rounded otherwise."""
    changes = equivariant or ("shift", "scale")
    return Listed(name, density, {"equivariant": changes, "tolerance": 1e-7})


def _histogram(name: str, density: Histogram) -> Listed:
    return Listed(name, density, {"smooth": False})


def _elliptical(scatter: str, *equivariant: str, **settings: Any) -> Listed:
    words = [scatter, *(f"{value}" for value in settings.values())]
    # Iterations end a little apart where numbers are rounded otherwise.
    claims = {"equivariant": equivariant or ("shift", "scale"), "tolerance": 1e-7}
    return Listed("elliptical-" + "-".join(words), Elliptical(scatter, **settings), claims)


def _cells(name: str, density: Cells) -> Listed:
    # scikit-learn's checks make data of any number of columns.
    checks = not isinstance(density.levels, list)
    # A split by what rows hold is another one when they are shifted.
    claims = {} if density.validation is None else {"equivariant": ()}
    return Listed(name, density, claims, sklearn_checks=checks)


def _labels(seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.permutation(np.repeat([0, 1, 2], [40, 30, 20]))


def _categories(name: str, density: Density, *, text: bool) -> Listed:
    """Two columns of three categories, and all nine rows there can be."""
    rng, y = _labels()
    X = (rng.integers(0, 3, (len(y), 2)) + (rng.random((len(y), 2)) < 0.4) * y[:, None]) % 3
    support = np.array([[a, b] for a in range(3) for b in range(3)])
    if text:
        words = np.array(["low", "middle", "high"])
        X, support = pd.DataFrame(words[X], columns=["a", "b"]), pd.DataFrame(words[support])
        support.columns = X.columns
    return Listed(name, density, {"X": X, "y": y, "equivariant": (), "support": support})


def _flags(name: str, density: Bernoulli) -> Listed:
    rng, y = _labels()
    X = (rng.random((len(y), 2)) < 0.2 + 0.25 * y[:, None]).astype(float)
    support = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    claims = {"X": X, "y": y, "equivariant": (), "support": support}
    # scikit-learn's checks hand any numbers to a classifier: without a threshold they are refused.
    return Listed(name, density, claims, sklearn_checks=density.threshold is not None)


def _word_counts(name: str, density: Multinomial, *, sparse: bool) -> Listed:
    """Baskets of three items whose shares lean with the class."""
    rng, y = _labels()
    share = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])[y]
    X = rng.poisson(6.0 * share).astype(float)
    counts = scipy.sparse.csr_array(X) if sparse else X
    return Listed(name, density, {"X": counts, "y": y, "equivariant": ()})


def _texts(name: str, density: Words) -> Listed:
    """Short texts, one of them missing, whose words lean with the class."""
    rng, y = _labels()
    words = np.array(["tea", "milk", "bread", "jam", "salt"])
    share = np.array([[5, 2, 1, 1, 1], [1, 5, 2, 1, 1], [1, 1, 1, 5, 2]]) / 10
    X = np.array([" ".join(rng.choice(words, rng.integers(1, 7), p=share[k])) for k in y], object)
    X[3] = None
    return Listed(name, density, {"X": X, "y": y, "equivariant": ()})


def _mixed(name: str, density: Columns | Pooled) -> Listed:
    rng, y = _labels()
    X = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0),
            "visits": rng.poisson(1.0 + y),
            "member": rng.random(len(y)) < 0.2 + 0.25 * y,
            "town": np.array(["A", "B", "C"])[(y + rng.integers(0, 2, len(y))) % 3],
        }
    )
    # scikit-learn's checks make data of their own, without the columns that are named here.
    checks = isinstance(density, Columns) and density.columns is None
    return Listed(name, density, {"X": X, "y": y, "equivariant": ()}, sklearn_checks=checks)


def _profiled(name: str, profiles: Any, **settings: Any) -> Listed:
    # Centres of the user's own know the units of the columns, and how many there are.
    free = isinstance(getattr(profiles, "centers", ""), str)
    claims: dict[str, Any] = {} if free else {"equivariant": ()}
    density = Profiled(profiles, **settings)
    return Listed("profiled-" + name, density, claims, sklearn_checks=free)


def _profiled_foreign(name: str, estimator: Any) -> Listed:
    # Clusterers know the units of the columns, and the order of the rows.
    claims = {"equivariant": (), "storable": False}
    return Listed("profiled-" + name, Profiled(estimator), claims, sklearn_checks=False)


def _profiled_mixed(name: str, profiles: Any) -> Listed:
    rng, y = _labels()
    X = pd.DataFrame(
        {
            "size": rng.normal(y, 1.0),
            "town": np.array(["A", "B", "C"])[(y + rng.integers(0, 2, len(y))) % 3],
            "member": rng.random(len(y)) < 0.2 + 0.25 * y,
        }
    )
    return Listed("profiled-" + name, Profiled(profiles), {"X": X, "y": y, "equivariant": ()})


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
    _categories("categorical", Categorical(), text=False),
    _categories("categorical-text", Categorical(0.5), text=True),
    _flags("bernoulli", Bernoulli()),
    _flags("bernoulli-strict", Bernoulli(0.5, threshold=None)),
    _word_counts("multinomial", Multinomial(), sparse=False),
    _word_counts("multinomial-sparse", Multinomial(0.1), sparse=True),
    _word_counts("multinomial-predictive", Multinomial(estimate="predictive"), sparse=False),
    _texts("words", Words()),
    _texts("words-predictive", Words(0.5, (1, 1), binary=False, estimate="predictive")),
    _mixed("columns", Columns()),
    _mixed("columns-block", Columns({("size", "visits"): Gaussian("full"), "member": "drop"})),
    _elliptical("tyler"),
    _elliptical("tyler", tied=True),
    _elliptical("tyler", rule="gqda", shrinkage=None),
    _elliptical("student"),
    _elliptical("student", dof="shared", shrinkage=0.2),
    _elliptical("student", dof=3.0, tied=True),
    _elliptical("sample"),
    _elliptical("huber", rule="gqda"),
    _elliptical("mcd"),
    Listed("pooled", Pooled([Gaussian(), ([0], Histogram(3, joint=True))]), {"smooth": False}),
    _mixed("pooled-mixed", Pooled([Columns(), (["town", "visits"], Categorical())], [3, 1])),
    _nonnegative("poisson", Poisson()),
    _nonnegative("poisson-ml", Poisson(prior=None)),
    _nonnegative("poisson-predictive", Poisson(estimate="predictive")),
    _nonnegative("exponential", Exponential()),
    _nonnegative("exponential-predictive", Exponential(estimate="predictive")),
    _nonnegative("gamma", Gamma()),
    _nonnegative("log-normal", LogNormal()),
    _nonnegative("log-normal-unbiased", LogNormal("unbiased")),
    _nonnegative("log-normal-predictive", LogNormal("predictive")),
    _profiled("kmeans", KMeansProfiles(12)),
    _profiled("kmeans-per-class", KMeansProfiles(6, "standardised", per_class=True)),
    _profiled("fuzzy", FuzzyProfiles(6)),
    _profiled("fuzzy-paper", FuzzyProfiles(6, 2.0), reading="paper"),
    _profiled("fuzzy-own", FuzzyProfiles(fuzziness=1.5, centers=[[0.0] * 3, [1.0] * 3])),
    _profiled("fuzzy-within", FuzzyProfiles(6, 1.5, metric="within", per_class=True)),
    _profiled("fuzzy-lda", FuzzyProfiles(12, 1.1, metric="lda", per_class=True)),
    _profiled("fuzzy-cmeans", FuzzyProfiles(6, 1.5, centers="fcm")),
    _profiled("mixture", MixtureProfiles(4)),
    _profiled("mixture-diag", MixtureProfiles(6, "diag", "raw", per_class=True)),
    _profiled("tree", TreeProfiles(8)),
    _profiled("cells", CellProfiles(40)),
    _profiled("cells-entropy", CellProfiles(60, "entropy", "uniform")),
    _profiled("forest", ForestProfiles(3, 4)),
    _profiled_foreign("clusterer", KMeans(5, n_init=1, random_state=0)),
    _profiled_foreign("mixture-sklearn", GaussianMixture(2, random_state=0)),
    _profiled_mixed("tree-mixed", TreeProfiles(8)),
    _profiled_mixed("fuzzy-mixed", FuzzyProfiles(6, metric="standardised")),
    _histogram("histogram", Histogram()),
    _histogram("histogram-joint", Histogram("doane", joint=True)),
    _histogram("histogram-blocks", Histogram("blocks", smoothing=0.5)),
    _cells("cells", Cells()),
    _cells("cells-gain", Cells(30, objective="gain", validation=0.5)),
    _cells("cells-equal", Cells(60, boundaries="equal")),
    _cells("cells-smooth", Cells(40, smoothing=3, random_state=1)),
    _cells("cells-auto", Cells(200, boundaries="uniform", smoothing="auto")),
    _cells("cells-own", Cells(levels=[2, 3, 1], validation=0.4)),
    Listed("neighbors", Neighbors(), {}),
    Listed("neighbors-distance", Neighbors(7, "manhattan", "distance", smoothing=1.0), {}),
    Listed("neighbors-cv", Neighbors("cv", "standardised"), {}),
    Listed("neighbors-thinned", Neighbors(1, "within", edited=True, condensed=True), {}),
    _kernel("kernel", Kernel()),
    _kernel("kernel-full", Kernel(product=False)),
    _kernel("kernel-columns", Kernel("cosine", "isj", joint=False)),
    _kernel("kernel-likelihood", Kernel("biweight", "cv_likelihood", adaptive=True)),
    _kernel("kernel-squares", Kernel("logistic", "cv_squares", shared=True)),
    _kernel("kernel-nearest", Kernel("laplace", "nearest")),
    _kernel("kernel-gain", Kernel("laplace", "gain")),
    _kernel("kernel-gain-columns", Kernel("triweight", "gain", joint=False)),
    # A radial square: the integrals of the laws are too coarse for the edges of products.
    _kernel("kernel-square", Kernel("square", 1.5, product=False), "shift"),
]


def _kind(listed: Listed) -> tuple[str, str]:
    inner = getattr(listed.density, "profiles", getattr(listed.density, "estimator", None))
    return type(listed.density).__name__, type(inner).__name__


#: Names of the first density of each kind: what costs much is tried by default on these alone.
FIRST = tuple({_kind(listed): listed.name for listed in reversed(DENSITIES)}.values())


def every_density(**kwargs: Any) -> Any:
    """Run a test for every density of the list."""
    return pytest.mark.parametrize(
        "listed", DENSITIES, ids=[listed.name for listed in DENSITIES], **kwargs
    )
