"""TylerScatter and StudentScatter: scikit-learn's checks, and the values of the references."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_t
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import StudentScatter, TylerScatter
from bayesrule.notices import NotConvergedWarning, SingularScatterWarning

REFERENCES = json.loads(
    (Path(__file__).parent / "references" / "robust_scatters.json").read_text(encoding="utf-8")
)


@pytest.mark.filterwarnings("ignore:No scatter exists")
@pytest.mark.filterwarnings("ignore:Location and scatter had not settled")
@parametrize_with_checks([TylerScatter(), StudentScatter(), StudentScatter(3.0, None)])
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: f"{np.shape(case['rows'])}")
def test_values_are_those_of_general_optimisers(case):
    X = np.array(case["rows"])
    tyler = TylerScatter(tol=1e-12, max_iter=2000).fit(X)
    np.testing.assert_allclose(tyler.covariance_, case["tyler"]["scatter"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(tyler.location_, case["tyler"]["location"], rtol=1e-6)
    student = StudentScatter(tol=1e-12, max_iter=2000).fit(X)
    expected = case["student"][-1]
    np.testing.assert_allclose(student.scatter_, expected["scatter"], rtol=1e-5, atol=1e-6)
    assert student.dof_ == pytest.approx(expected["dof"], rel=1e-5)


def rows(n=400, m=4, dof=5.0, seed=0):
    rng = np.random.default_rng(seed)
    return multivariate_t(np.arange(m), np.eye(m) + 0.5, dof, seed=rng).rvs(n)


def test_distances_and_precision():
    X = rows()
    for found in (TylerScatter().fit(X), StudentScatter().fit(X)):
        np.testing.assert_allclose(found.get_precision() @ found.covariance_, np.eye(4), atol=1e-9)
        apart = X - found.location_
        expected = np.einsum("ij,jk,ik->i", apart, np.linalg.inv(found.covariance_), apart)
        np.testing.assert_allclose(found.mahalanobis(X), expected, rtol=1e-9)
        assert found.row_weights_.mean() == pytest.approx(1.0)


def test_many_degrees_of_freedom_give_the_covariance():
    X = rows()
    expected = EmpiricalCovariance().fit(X).covariance_
    np.testing.assert_allclose(StudentScatter(1e6).fit(X).covariance_, expected, rtol=1e-3)


def test_a_known_location_stays_where_it_is():
    X = rows()
    found = TylerScatter(location=np.arange(4.0)).fit(X)
    np.testing.assert_array_equal(found.location_, np.arange(4.0))
    apart = X - np.arange(4.0)
    scaled = np.arange(4.0) + np.random.default_rng(1).uniform(0.1, 10.0, (400, 1)) * apart
    settings = {"location": np.arange(4.0), "tol": 1e-14, "max_iter": 2000}
    one, other = (TylerScatter(**settings).fit(some).covariance_ for some in (X, scaled))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_weights_are_repeats_and_gaps_are_completed():
    X = rows(100)
    weights = np.random.default_rng(0).integers(0, 3, 100)
    for make in (TylerScatter, StudentScatter):
        by_weight = make().fit(X, sample_weight=weights)
        by_hand = make().fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(by_weight.covariance_, by_hand.covariance_, rtol=1e-8)
        assert (by_weight.row_weights_[weights == 0] == 0).all()
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    assert np.isfinite(StudentScatter().fit(gaps).covariance_).all()
    with pytest.raises(ValueError, match="NaN"):
        TylerScatter().fit(gaps)


def test_doubtful_results_warn():
    X = rows(30, 4)
    with pytest.warns(SingularScatterWarning, match="No scatter exists"):
        TylerScatter().fit(X[:4])
    with pytest.warns(NotConvergedWarning, match="after 1 sweeps"):
        StudentScatter(max_iter=1).fit(rows())


@pytest.mark.parametrize(
    "estimator",
    [
        TylerScatter(shrinkage=2.0),
        TylerScatter(location_weights="t"),
        TylerScatter(max_iter=0),
        StudentScatter(dof="free"),
        StudentScatter(tol=True),
    ],
    ids=repr,
)
def test_settings_are_checked(estimator):
    with pytest.raises(ValueError, match="is not known"):
        estimator.fit(rows())
