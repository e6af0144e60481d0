"""Rows however far out: what most rows tell decides, not where the others lie."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayesrule import BayesClassifier, Elliptical
from bayesrule.far import FAR, most_where_far, of_most
from bayesrule.notices import FarRowsWarning
from bayesrule.stats import Sample

CLASSES = np.repeat([0, 1], 40)


def two_classes(m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    means = np.stack([np.zeros(m), np.full(m, 3.0)])
    return np.concatenate([rng.normal(mean, 1.0, (40, m)) for mean in means]), means


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("scatter", ["student", "tyler", "huber"])
@pytest.mark.parametrize("m", [2, 5])
def test_rows_farther_and_farther_out_change_nothing(scatter: str, m: int, tied: bool) -> None:
    clean, means = two_classes(m)
    test = np.random.default_rng(1).normal(means[CLASSES], 1.0)
    truth = np.argmin(((test[:, None] - means) ** 2).sum(axis=2), axis=1)
    for columns in ([0], list(range(m))):
        for far in (1e5, 1e7, 1e9, 1e11):
            X = clean.copy()
            X[:2, columns] = far
            clf = BayesClassifier(Elliptical(scatter, tied=tied)).fit(X, CLASSES)
            assert np.abs(clf.log_density_.location - means).max() < 1.0
            assert np.mean(clf.predict(test) == truth) > 0.9
            assert np.isfinite(clf.predict_proba(test)).all()


def test_a_cluster_of_a_seventh_is_no_part_of_the_most_likely_student() -> None:
    rng = np.random.default_rng(38)
    X = rng.normal(size=(600, 5))
    X[300:] += 4.0
    X[:45] = 1e7
    clf = BayesClassifier(Elliptical("student")).fit(X, np.repeat([0, 1], 300))
    assert np.abs(clf.log_density_.location[0]).max() < 0.5
    assert clf.log_density_.dof[0] < 2.0


def test_medians_and_deviations_are_numpys() -> None:
    X, _ = two_classes(3)
    X[5, 1] = np.nan
    weight = np.array([[40.0, 39.0, 40.0], [40.0, 40.0, 40.0]])
    most = of_most(Sample(X, CLASSES, np.ones(80)), weight)
    for k in range(2):
        mine = X[np.equal(CLASSES, k)]
        median = np.nanquantile(mine, 0.5, axis=0, method="inverted_cdf")
        apart = np.nanquantile(np.abs(mine - median), 0.5, axis=0, method="inverted_cdf")
        np.testing.assert_array_equal(most.median[k], median)
        np.testing.assert_allclose(most.variance[k], (1.482602218505602 * apart) ** 2)


def test_far_rows_are_told_from_none_in_any_units() -> None:
    X, _ = two_classes(2)
    units = np.array([1e-12, 1e12])
    sample = Sample(X * units, CLASSES, np.ones(80))
    weight = np.full((2, 2), 40.0)
    most = of_most(sample, weight)
    assert most_where_far(sample, weight, 0.9 * FAR * most.typical) is None
    found = most_where_far(sample, weight, 1.1 * FAR * most.typical)
    assert found is not None
    np.testing.assert_array_equal(found.typical, most.typical)


@pytest.mark.parametrize(
    ("scatter", "share"), [("huber", 0.05), ("huber", 0.2), ("tyler", 0.25), ("student", 0.25)]
)
def test_rows_together_far_out_are_told_of_where_they_are_followed(
    scatter: str, share: float
) -> None:
    # With five columns, no weights bear a sixth of such rows, and Huber's bear a tenth.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[: int(300 * share)] = rng.normal(500.0, 0.1, (int(300 * share), 5))
    y = np.zeros(300)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = BayesClassifier(Elliptical(scatter)).fit(X, y)
    followed = np.abs(clf.log_density_.location).max() > 5.0
    assert followed == (share > 0.1)
    assert [w.category for w in caught] == [FarRowsWarning] * int(followed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = BayesClassifier(Elliptical("mcd")).fit(X, y)
    assert np.abs(clf.log_density_.location).max() < 0.3


@pytest.mark.parametrize("scatter", ["huber", "tyler", "student"])
def test_heavy_tails_are_no_rows_that_were_followed(scatter: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) / np.sqrt(rng.chisquare(1.0, (300, 1)))  # Cauchy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesClassifier(Elliptical(scatter)).fit(X, np.zeros(300))
