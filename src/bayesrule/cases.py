"""What the laws of densities are tried on, and how answers are compared.

A law is a function of a :class:`Case`; see :mod:`bayesrule.testing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags

from bayesrule import decide
from bayesrule.classifier import BayesClassifier
from bayesrule.density import Density
from bayesrule.memberships import Memberships, read_target
from bayesrule.settling import log_densities
from bayesrule.tables import Table


@dataclass(frozen=True)
class Case:
    """A density, the data it is tried on, and what is claimed of it; see :func:`check_density`."""

    density: Density
    X: Any
    y: np.ndarray
    tolerance: float = 1e-9
    equivariant: tuple[str, ...] = ("shift", "scale")
    support: Any = None
    storable: bool = True
    smooth: bool = True

    def fit(self, X: Any = None, y: Any = None, **settings: Any) -> BayesClassifier:
        """A classifier with this density, fitted on the given rows or on those of the case."""
        weights = settings.pop("sample_weight", None)
        clf = BayesClassifier(clone(self.density), **settings)
        return clf.fit(self.X if X is None else X, self.y if y is None else y, weights)

    def rows(self, places: Any) -> tuple[Any, np.ndarray]:
        """Some rows and their labels."""
        places = np.asarray(places)
        return _safe_indexing(self.X, places), self.y[places]

    def parts(self) -> list[np.ndarray]:
        """Places of the rows in four uneven parts; the last class is in the last part alone."""
        order = np.argsort(self.y, kind="stable")
        last = np.flatnonzero(self.y[order] == self.y.max())[0]
        cuts = sorted({1 + last // 5, last // 2, last})
        return np.split(order, cuts)

    @property
    def numeric(self) -> bool:
        """Whether X is an array of real numbers."""
        return isinstance(self.X, np.ndarray) and self.X.dtype.kind == "f"

    @property
    def positive(self) -> bool:
        """Whether X may hold no negative numbers."""
        return bool(get_tags(BayesClassifier(self.density)).input_tags.positive_only)

    @property
    def learns_nothing(self) -> bool:
        """Whether nothing is learned before counting, so that all laws hold outright."""
        learned = self.fit()._learned
        return learned.prepared is learned.density

    def counted(self) -> tuple[Any, Table, Memberships]:
        """The prepared density, the rows as it reads them, and y."""
        clf = self.fit()
        return clf.density_, clf.density_.read(self.X, clf), read_target(self.y)


def toy_rows(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ninety rows of three classes with overlapping, correlated columns."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [40, 30, 20])
    mixing = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.0, 0.0, 0.7]])
    X = rng.normal(size=(len(y), 3)) @ mixing + np.array([[0, 0, 0], [1.5, 0, 1], [0, 2, -1]])[y]
    order = rng.permutation(len(y))
    return X[order], y[order]


def require_that(condition: Any, message: str) -> None:
    """Raise an AssertionError unless the condition holds; unlike assert, also under python -O."""
    if not condition:
        raise AssertionError(message)


def assert_close(got: Any, expected: Any, tolerance: float, what: str) -> None:
    """Assert that two arrays are equal up to rounding."""
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=what)


def assert_same_bits(got: Any, expected: Any, what: str) -> None:
    """Assert that two arrays are equal to the last bit."""
    np.testing.assert_array_equal(got, expected, err_msg=what)


def relative(log_density: np.ndarray) -> np.ndarray:
    """Log-densities less a term common to the row: what is defined for every density."""
    uniform = np.full(log_density.shape[1], 1.0 / log_density.shape[1])
    _, top, _ = decide.posterior(log_density, uniform)
    with np.errstate(invalid="ignore"):  # a row that no class has a density for
        return np.where(np.isfinite(log_density), log_density - top[:, None], -np.inf)


def settled_relative(prepared: Any, stats: Any, table: Table) -> np.ndarray:
    """Relative log-densities of the rows of a table, from a statistic."""
    return relative(log_densities(prepared.settle(stats), table))


def assert_valid(clf: BayesClassifier, X: Any, what: str) -> np.ndarray:
    """Posteriors, after asserting that they are distributions and that a class is decided."""
    # Where no class has a density the posteriors are the priors, which would hide a NaN.
    require_that(not np.isnan(clf.log_density(X)).any(), f"{what}: a log-density is NaN")
    posterior = clf.predict_proba(X)
    require_that(np.isfinite(posterior).all(), f"{what}: a posterior is not finite")
    require_that((posterior >= 0).all(), f"{what}: a posterior is negative")
    assert_close(posterior.sum(axis=1), 1.0, 1e-9, f"{what}: posteriors do not sum to one")
    require_that(
        np.isin(clf.predict(X), clf.classes_).all(), f"{what}: an unknown class was decided"
    )
    return posterior
