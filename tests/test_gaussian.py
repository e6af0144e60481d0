"""Gaussian densities against scikit-learn, scipy, closed forms and a slow EM written here."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from bayesrule import BayesClassifier, Gaussian, recipes
from bayesrule.notices import BayesRuleWarning, SingularScatterWarning

COVARIANCES = ("full", "tied", "diag", "spherical")
CLASSES = (0, 1, 2)


@pytest.fixture(params=["iris", "wine", "random"])
def data(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    if request.param == "random":
        rng = np.random.default_rng(1)
        y = rng.integers(0, 3, 400)
        return rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)) + y[:, None], y
    X, y = {"iris": load_iris, "wine": load_wine}[request.param](return_X_y=True)
    # The same data in like units: inverses of ill-conditioned matrices agree to fewer digits.
    return X / X.std(axis=0), y


def toy(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping classes of equal size in three columns."""
    rng = np.random.default_rng(seed)
    y = np.repeat(CLASSES, n // 3)
    mixing = np.array([[1.0, 0.5, 0.2], [0.0, 1.0, -0.4], [0.0, 0.0, 0.8]])
    return rng.normal(size=(n, 3)) @ mixing + y[:, None], y


def fit(covariance: str, X: np.ndarray, y: np.ndarray, **settings: object) -> BayesClassifier:
    weights = settings.pop("sample_weight", None)
    return BayesClassifier(Gaussian(covariance, **settings)).fit(X, y, weights)  # type: ignore[arg-type]


def covariances(clf: BayesClassifier, n_columns: int = 3) -> np.ndarray:
    """Covariance of each class, whatever form it is kept in."""
    settled = clf.log_density_
    if hasattr(settled, "variance"):
        return np.array([np.diag(v) for v in settled.variance])
    return np.broadcast_to(settled.covariance, (len(settled.mean), n_columns, n_columns))


# ---------------------------------------------------------------------- scikit-learn


def assert_same_model(ours: BayesClassifier, theirs, X: np.ndarray, y: np.ndarray) -> None:
    ours, theirs = ours.fit(X, y), theirs.fit(X, y)
    rng = np.random.default_rng(0)
    new = X + 0.3 * rng.normal(size=X.shape)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


def test_gaussian_nb(data):
    assert_same_model(recipes.gaussian_nb(), GaussianNB(var_smoothing=0), *data)


def test_gaussian_nb_with_weights_and_priors(data):
    X, y = data
    weights = np.random.default_rng(0).gamma(1.0, size=len(y))
    priors = [0.5, 0.3, 0.2]
    ours = recipes.gaussian_nb(priors=priors).fit(X, y, weights)
    theirs = GaussianNB(priors=priors, var_smoothing=0).fit(X, y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_lda_lsqr(data):
    assert_same_model(recipes.lda(), LinearDiscriminantAnalysis(solver="lsqr"), *data)


def test_lda_lsqr_shrunk(data):
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3)
    assert_same_model(recipes.lda(shrinkage=0.3), theirs, *data)


def test_lda_svd(data):
    assert_same_model(recipes.lda(), LinearDiscriminantAnalysis(solver="svd"), *data)


def test_qda_svd(data):
    assert_same_model(recipes.qda(), QuadraticDiscriminantAnalysis(solver="svd"), *data)


def test_qda_eigen(data):
    assert_same_model(recipes.qda(), QuadraticDiscriminantAnalysis(solver="eigen"), *data)


def test_qda_eigen_shrunk(data):
    theirs = QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.4)
    assert_same_model(recipes.qda(shrinkage=0.4), theirs, *data)


def test_one_far_value_leaves_other_classes_alone():
    X, y = toy()
    X, y = np.r_[[[1e6, 1e6, 1e6]], X], np.r_[0, y]
    ours = recipes.gaussian_nb().fit(X, y)
    theirs = GaussianNB(var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(ours.log_density_.variance, theirs.var_, rtol=1e-9)


# ---------------------------------------------------------------------- scipy


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("estimate", ["ml", "unbiased"])
def test_log_density_is_scipys(covariance, estimate):
    X, y = toy()
    clf = fit(covariance, X, y, estimate=estimate)
    used = int(estimate == "unbiased")
    scatters = [np.cov(X[y == k].T, bias=True) * 20 for k in CLASSES]
    expected = {
        "full": [s / (20 - used) for s in scatters],
        "tied": [sum(scatters) / (60 - 3 * used)] * 3,
        "diag": [np.diag(np.diag(s)) / (20 - used) for s in scatters],
        "spherical": [np.eye(3) * np.trace(s) / (3 * (20 - used)) for s in scatters],
    }[covariance]
    laws = [multivariate_normal(X[y == k].mean(axis=0), expected[k]) for k in CLASSES]
    new = X[::7] * 2.0
    log_density = np.column_stack([law.logpdf(new) for law in laws])
    np.testing.assert_allclose(clf.log_density(new), log_density, rtol=1e-11, atol=1e-11)
    marginal = np.log(sum(np.exp(log_density[:, k]) / 3 for k in CLASSES))
    np.testing.assert_allclose(clf.log_marginal(new), marginal, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_missing_values_leave_scipys_marginal(covariance):
    X, y = toy()
    clf = fit(covariance, X, y)
    mean, covariance_of = clf.log_density_.mean, covariances(clf)
    patterns = list(product([False, True], repeat=3))
    rows = np.array([np.where(absent, np.nan, X[3 * i]) for i, absent in enumerate(patterns)])
    got = clf.log_density(rows)
    for i, absent in enumerate(patterns):
        there = np.flatnonzero(~np.array(absent))
        for k in CLASSES:
            expected = 0.0
            if len(there):
                block = covariance_of[k][np.ix_(there, there)]
                expected = multivariate_normal(mean[k][there], block).logpdf(rows[i, there])
            assert got[i, k] == pytest.approx(expected, rel=1e-11, abs=1e-11)
    # A row of which nothing is known keeps the priors.
    assert clf.predict_proba(rows[-1:])[0] == pytest.approx(clf.priors_, abs=1e-12)


def test_blocks_of_many_rows_and_patterns_agree_with_single_rows():
    rng = np.random.default_rng(0)
    X, y = toy()
    new = rng.normal(size=(5000, 3))
    new[rng.random(new.shape) < 0.3] = np.nan
    clf = fit("full", X, y)
    whole = clf.log_density(new)
    for i in range(0, 5000, 499):
        np.testing.assert_allclose(whole[i], clf.log_density(new[i : i + 1])[0], rtol=1e-12)


@pytest.mark.parametrize("far", [1e2, 1e5, 1e7])
def test_tied_classes_far_apart_keep_their_digits(far):
    rng = np.random.default_rng(0)
    y = np.repeat(CLASSES, 50)
    X = rng.normal(size=(150, 2)) + np.array([0.0, 1.0, far])[y][:, None]
    clf = fit("tied", X, y)
    settled = clf.log_density_
    near = X[:100]
    expected = np.column_stack(
        [multivariate_normal(settled.mean[k], settled.covariance[0]).logpdf(near) for k in (0, 1)]
    )
    np.testing.assert_allclose(clf.log_density(near)[:, :2], expected, rtol=1e-8, atol=1e-8)


def test_tied_rule_is_linear_however_far_the_row():
    X, y = toy()
    clf = fit("tied", X, y)
    settled = clf.log_density_
    # The sign of a linear discriminant along a direction does not depend on the distance.
    direction = np.linalg.solve(settled.covariance[0], settled.mean[2] - settled.mean[0])
    for distance in (1e3, 1e6, 1e9):
        assert clf.predict(distance * direction[None]).tolist() == [2]
        assert clf.predict(-distance * direction[None]).tolist() == [0]


@pytest.mark.parametrize("seed", range(60))
def test_whole_way_from_rows_to_decisions(seed):
    """Weights, chunks, merges, priors, gains and gaps together, against a slow rule by hand."""
    rng = np.random.default_rng(seed)
    n_classes, n_columns = rng.integers(1, 5), rng.integers(1, 5)
    n = n_classes * (n_columns + 3) + rng.integers(0, 60)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    X += rng.normal(size=(n_classes, n_columns))[y] * rng.choice([0.1, 1.0, 10.0])
    w = rng.gamma(2.0, size=n) if seed % 3 else rng.integers(1, 4, n).astype(float)
    covariance, estimate = COVARIANCES[seed % 4], ("ml", "unbiased")[seed % 2]
    shrinkage = (None, 0.2, 1.0)[seed % 3]
    gain = rng.normal(size=(n_classes, n_classes + seed % 3))
    priors = rng.dirichlet(np.ones(n_classes))

    def part(rows: np.ndarray) -> BayesClassifier:
        density = Gaussian(covariance, shrinkage, estimate)
        clf = BayesClassifier(density, priors, gain)
        return clf.partial_fit(X[rows], y[rows], classes=range(n_classes), sample_weight=w[rows])

    first, second, third = (part(rows) for rows in np.array_split(rng.permutation(n), 3))
    clf = second.merge(third).merge(first)

    weight = np.array([w[y == k].sum() for k in range(n_classes)])
    mean = np.array([np.average(X[y == k], axis=0, weights=w[y == k]) for k in range(n_classes)])
    spread = X - mean[y]
    scatter = np.array(
        [(w[y == k, None] * spread[y == k]).T @ spread[y == k] for k in range(n_classes)]
    )
    used = seed % 2
    if covariance == "tied":
        matrices = np.array([scatter.sum(axis=0) / (weight.sum() - n_classes * used)] * n_classes)
    else:
        matrices = scatter / (weight - used)[:, None, None]
    trace = np.trace(matrices, axis1=1, axis2=2)[:, None, None] / n_columns * np.eye(n_columns)
    if covariance == "diag":
        matrices = matrices * np.eye(n_columns)
    elif covariance == "spherical":
        matrices = trace
    if shrinkage is not None:
        matrices = (1 - shrinkage) * matrices + shrinkage * trace

    new = X[:10] + rng.normal(size=(10, n_columns))
    if seed % 4 < 2:
        new[rng.random(new.shape) < 0.3] = np.nan
    log_density = np.zeros((10, n_classes))
    for i, row in enumerate(new):
        there = np.flatnonzero(~np.isnan(row))
        for k in range(n_classes if len(there) else 0):
            law = multivariate_normal(mean[k, there], matrices[k][np.ix_(there, there)])
            log_density[i, k] = law.logpdf(row[there])
    np.testing.assert_allclose(clf.log_density(new), log_density, rtol=1e-8, atol=1e-8)
    joint = np.exp(log_density - log_density.max(axis=1, keepdims=True)) * priors
    expected = joint / joint.sum(axis=1, keepdims=True) @ gain
    np.testing.assert_allclose(clf.expected_gains(new), expected, atol=1e-8)
    top = np.sort(expected, axis=1)
    clear = np.full(10, True) if gain.shape[1] == 1 else top[:, -1] - top[:, -2] > 1e-7
    decided = [clf.decisions_.tolist().index(decision) for decision in clf.predict(new)]
    np.testing.assert_array_equal(np.array(decided)[clear], expected.argmax(axis=1)[clear])


# ---------------------------------------------------------------------- digits


def exact_variance(values: np.ndarray) -> float:
    """Variance in rational arithmetic."""
    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / len(exact))


@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
@pytest.mark.parametrize("order", ["sorted by class", "drifting", "mixed"])
def test_chunks_far_from_zero_keep_their_digits(covariance, order):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = 1e8 + 5.0 * y + rng.normal(size=2000)
    if order == "sorted by class":
        X, y = X[np.argsort(y)], np.sort(y)
    elif order == "drifting":
        X, y = np.sort(X), y[np.argsort(X)]
    X = X[:, None]
    clf = BayesClassifier(Gaussian(covariance))
    for start in range(0, 2000, 64):
        clf.partial_fit(X[start : start + 64], y[start : start + 64])
    got = covariances(clf, 1)[:, 0, 0]
    expected = np.array([exact_variance(X[y == k, 0]) for k in (0, 1)])
    if covariance == "tied":
        expected = np.full(2, expected @ np.bincount(y) / len(y))
    np.testing.assert_allclose(got, expected, rtol=1e-10)
    whole = BayesClassifier(Gaussian(covariance)).fit(X, y)
    # The numbers themselves are known to 1e-8 standard deviations.
    np.testing.assert_allclose(clf.log_density(X), whole.log_density(X), rtol=1e-7, atol=1e-7)


def test_chunks_are_fit_where_gaussian_nb_drifts():
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 3000))
    X = 1e8 + 0.01 * np.arange(3000)[:, None] + rng.normal(size=(3000, 2))
    ours, theirs = recipes.gaussian_nb(), GaussianNB(var_smoothing=0)
    for start in range(0, 3000, 50):
        chunk = slice(start, start + 50)
        ours.partial_fit(X[chunk], y[chunk])
        theirs.partial_fit(X[chunk], y[chunk], classes=CLASSES)
    expected = np.array([[exact_variance(X[y == k, j]) for j in (0, 1)] for k in CLASSES])
    drift = np.abs(theirs.var_ / expected - 1).max()
    ours_off = np.abs(ours.log_density_.variance / expected - 1).max()
    assert ours_off < 1e-12
    assert ours_off < drift


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("far", [1e3, 1e9])
def test_order_of_rows_costs_no_digits(covariance, far):
    # The first row is what moments are told relative to; it may be an outlier of another class.
    X, y = toy()
    X, y = np.r_[np.full((1, 3), far), X], np.r_[0, y]
    first = fit(covariance, X, y).log_density(X[1:])
    last = fit(covariance, X[::-1], y[::-1]).log_density(X[1:])
    expected = fit(covariance, X[1:], y[1:]).log_density(X[1:])
    np.testing.assert_allclose(first, last, rtol=1e-9, atol=1e-9)
    if covariance != "tied":
        np.testing.assert_allclose(first[:, 1:], expected[:, 1:], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_single_precision_rows_are_taken_as_they_are(covariance):
    X, y = toy()
    X = (X + 1000).astype(np.float32)
    single = fit(covariance, X, y).predict_proba(X)
    double = fit(covariance, X.astype(float), y).predict_proba(X.astype(float))
    np.testing.assert_allclose(single, double, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [5, 40])
def test_covariances_of_few_and_many_columns_are_numpys(n_columns, kind, weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 4000)
    X = (rng.normal(size=(4000, n_columns)) + 100.0 + y[:, None]).astype(kind)
    weights = rng.integers(0, 4, 4000) if weighted else np.ones(4000, int)
    expected = [
        np.cov(X[y == k].astype(float).T, ddof=0, fweights=weights[y == k]) for k in CLASSES
    ]
    found = fit("full", X, y, sample_weight=weights)
    np.testing.assert_allclose(covariances(found, n_columns), expected, rtol=1e-9, atol=1e-10)
    share = np.bincount(y, weights) / weights.sum()
    tied = fit("tied", X, y, sample_weight=weights)
    np.testing.assert_allclose(
        covariances(tied, n_columns)[0],
        np.tensordot(share, expected, 1),
        rtol=1e-9,
        atol=1e-10,
    )


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_units_of_columns_may_differ_widely(covariance):
    if covariance == "spherical":
        pytest.skip("one variance for all columns knows their units")
    X, y = toy()
    units = np.array([1e8, 1.0, 1e-8])
    plain = fit(covariance, X, y).predict_proba(X)
    scaled = fit(covariance, X * units, y).predict_proba(X * units)
    np.testing.assert_allclose(scaled, plain, atol=1e-9)


# ---------------------------------------------------------------------- weights


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("factor", [1e-6, 1 / 60, 1e6])
def test_common_factor_of_weights_changes_nothing(covariance, factor):
    X, y = toy()
    weights = np.random.default_rng(0).gamma(2.0, size=60)
    plain = fit(covariance, X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BayesRuleWarning)
        scaled = fit(covariance, X, y, sample_weight=factor * weights)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_soft_labels_are_weights_of_rows_in_each_class(covariance):
    X, _ = toy()
    degrees = np.random.default_rng(0).dirichlet(np.ones(3), size=60)
    soft = fit(covariance, X, degrees)
    rows, codes = np.repeat(np.arange(60), 3), np.tile(CLASSES, 60)
    hard = fit(covariance, X[rows], codes, sample_weight=degrees.ravel())
    np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(soft.class_count_, degrees.sum(axis=0), rtol=1e-12)


# ---------------------------------------------------------------------- shrinkage


def test_shrinkage_of_variances_towards_their_mean():
    X, y = toy()
    clf = fit("diag", X, y, shrinkage=0.25)
    raw = np.array([X[y == k].var(axis=0) for k in CLASSES])
    expected = 0.75 * raw + 0.25 * raw.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.log_density_.variance, expected, rtol=1e-12)
    np.testing.assert_allclose(
        fit("diag", X, y, shrinkage=1.0).log_density_.variance,
        fit("spherical", X, y).log_density_.variance,
        rtol=1e-12,
    )


def oracle_share(covariance: np.ndarray, n_rows: int) -> float:
    """Equation (23) of Chen, Wiesel, Eldar and Hero (2010)."""
    p = len(covariance)
    square_trace, trace_square = np.trace(covariance @ covariance), np.trace(covariance) ** 2
    above = (1 - 2 / p) * square_trace + trace_square
    return min(1.0, above / ((n_rows + 1 - 2 / p) * (square_trace - trace_square / p)))


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_shrinkage_chosen_by_the_oracle_formula(covariance):
    X, y = toy(n=90)
    unit = X.std(axis=0)
    scatters = [np.cov((X[y == k] / unit).T, bias=True) for k in CLASSES]
    within = np.diag(sum(scatters))  # as variances within the classes differ among columns
    groups = {"full": [(s, 30) for s in scatters], "tied": [(sum(scatters) / 3, 90)]}[covariance]
    got = fit(covariance, X, y, shrinkage="auto").log_density_.covariance
    for k, (scatter, n_rows) in enumerate(groups):
        share = oracle_share(scatter, n_rows)
        assert 0 < share < 1
        target = np.mean(np.diag(scatter) / within) * np.diag(within)
        shrunk = (1 - share) * scatter + share * target
        np.testing.assert_allclose(got[k], shrunk * np.outer(unit, unit), rtol=1e-9)


def test_classes_of_few_rows_borrow_from_the_others():
    # Columns of very different spreads, alike in all classes; two rows show none of it.
    rng = np.random.default_rng(0)
    spread = 10.0 ** np.arange(-3.0, 4.0)
    y = np.repeat([0, 1], [200, 4])
    X = (rng.normal(size=(204, 7)) + 2.0 * y[:, None]) * spread
    clf = fit("full", X, y, shrinkage="auto")
    told = np.diag(clf.log_density_.covariance[1]) / spread**2
    raw = X[y == 1].var(axis=0) / spread**2
    assert raw.max() > 5.0 * raw.min()
    assert told.max() < 3.0 * told.min()
    new = (rng.normal(size=(400, 7)) + 2.0 * np.repeat([0, 1], 200)[:, None]) * spread
    assert clf.with_rule(priors="uniform").score(new, np.repeat([0, 1], 200)) > 0.95


def test_a_constant_column_leaves_shrinkage_as_it_is():
    X, y = toy(n=90)
    flat = np.column_stack([X, np.full(90, 7.0)])
    for share in ("auto", 0.3):
        one = fit("full", X, y, shrinkage=share).predict_proba(X)
        np.testing.assert_allclose(fit("full", flat, y, shrinkage=share).predict_proba(flat), one)


def test_more_columns_than_rows_needs_shrinkage():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X, new = rng.normal(size=(2, 30, 40)) + 0.8 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shrunk = fit("full", X, y, shrinkage="auto")
    assert shrunk.score(new, y) > 0.9
    with pytest.warns(SingularScatterWarning, match="rows"):
        repaired = fit("full", X, y)
    assert repaired.score(new, y) > 0.9


# ---------------------------------------------------------------------- hard data


def test_rows_equal_within_a_class_borrow_the_spread():
    X = np.array([[0.0], [0.0], [0.0], [4.0], [5.0], [6.0]])
    y = np.repeat([0, 1], 3)
    with pytest.warns(BayesRuleWarning):
        clf = fit("diag", X, y)
    assert clf.predict([[0.1], [5.1]]).tolist() == [0, 1]
    assert np.isfinite(clf.log_density([[0.1]])).all()


@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8])
def test_constant_column_tells_nothing(covariance, value):
    X, y = toy()
    plain = fit(covariance, X, y).predict_proba(X)
    with_constant = np.column_stack([X, np.full(60, value)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularScatterWarning)
        got = fit(covariance, with_constant, y).predict_proba(with_constant)
    np.testing.assert_allclose(got, plain, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_repeated_column_is_repaired_with_a_warning(covariance):
    X, y = toy()
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(SingularScatterWarning, match="dependent columns"):
        clf = fit(covariance, twice, y)
    assert clf.score(twice, y) > fit(covariance, X, y).score(X, y) - 0.1


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_class_of_one_row_is_answered(covariance):
    X, y = toy()
    X, y = np.r_[X, [[30.0, -30.0, 30.0]]], np.r_[y, 3]
    with pytest.warns(BayesRuleWarning) if covariance != "tied" else warnings.catch_warnings():
        clf = fit(covariance, X, y)
    assert clf.predict([[30.0, -30.0, 29.0]]).tolist() == [3]
    assert clf.score(X[:-1], y[:-1]) > 0.5


@pytest.mark.parametrize("scale", [1e160, 1e-145, 1e-170])
def test_numbers_whose_squares_are_lost_are_refused(scale):
    X, y = toy()
    X[:, 1] *= scale
    for covariance in COVARIANCES:
        with pytest.raises(ValueError, match="column 1 of X overflow or vanish"):
            fit(covariance, X, y)


# ---------------------------------------------------------------------- missing values in fit


@pytest.mark.parametrize("covariance", ["diag", "spherical"])
def test_columns_that_factor_use_what_they_have(covariance):
    X, y = toy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    clf = fit(covariance, X, y)
    mean = np.array([np.nanmean(X[y == k], axis=0) for k in CLASSES])
    variance = np.array([np.nanvar(X[y == k], axis=0) for k in CLASSES])
    if covariance == "spherical":
        squares = [(X[y == k] - mean[k]) ** 2 for k in CLASSES]
        variance = np.repeat([[np.nansum(s) / np.isfinite(s).sum()] for s in squares], 3, axis=1)
    np.testing.assert_allclose(clf.log_density_.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(clf.log_density_.variance, variance, rtol=1e-12)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_class_without_a_value_in_a_column_does_not_ask_the_row_order(covariance):
    X, y = toy()
    X[y == 1, 2] = np.nan
    new = toy(seed=1)[0]
    order = np.random.default_rng(0).permutation(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        one, other = fit(covariance, X, y), fit(covariance, X[order], y[order])
    np.testing.assert_allclose(one.predict_proba(new), other.predict_proba(new), atol=1e-8)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_rows_without_any_value_say_nothing(covariance):
    X, y = toy()
    more = np.r_[X, np.full((3, 3), np.nan)], np.r_[y, 0, 1, 2]
    np.testing.assert_allclose(
        fit(covariance, *more).log_density(X), fit(covariance, X, y).log_density(X), rtol=1e-10
    )


def test_monotone_pattern_has_a_closed_form():
    # The second column is missing in some rows: regress it on the first (Anderson 1957).
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ np.array([[1.0, 0.8], [0.0, 0.5]]) + [3.0, -1.0]
    X[60:, 1] = np.nan
    clf = fit("full", X, np.zeros(80, int))
    a, b = X[:60].T
    slope = np.cov(a, b, bias=True)[0, 1] / a.var()
    rest = b.var() - slope**2 * a.var()
    mean, variance = X[:, 0].mean(), X[:, 0].var()
    expected_mean = [mean, b.mean() + slope * (mean - a.mean())]
    expected = [[variance, slope * variance], [slope * variance, rest + slope**2 * variance]]
    np.testing.assert_allclose(clf.log_density_.mean[0], expected_mean, rtol=1e-7)
    np.testing.assert_allclose(clf.log_density_.covariance[0], expected, rtol=1e-7)


def slow_em(
    X: np.ndarray, y: np.ndarray, w: np.ndarray, tied: bool
) -> tuple[np.ndarray, np.ndarray]:
    """EM for Gaussian rows with gaps, one row at a time (Little and Rubin)."""
    n_columns = X.shape[1]
    mean = np.array([np.nanmean(X[y == k], axis=0) for k in CLASSES])
    cov = np.array([np.diag(np.nanvar(X, axis=0)) for _ in CLASSES])
    for _ in range(2000):
        filled, extra = np.empty_like(X), np.zeros((len(X), n_columns, n_columns))
        for i, (row, k) in enumerate(zip(X, y, strict=True)):
            gone, there = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
            slope = cov[k][np.ix_(gone, there)] @ np.linalg.inv(cov[k][np.ix_(there, there)])
            filled[i, there] = row[there]
            filled[i, gone] = mean[k, gone] + slope @ (row[there] - mean[k, there])
            extra[i][np.ix_(gone, gone)] = (
                cov[k][np.ix_(gone, gone)] - slope @ cov[k][np.ix_(there, gone)]
            )
        new_mean = np.array(
            [np.average(filled[y == k], axis=0, weights=w[y == k]) for k in CLASSES]
        )
        spread = filled - new_mean[y]
        scatter = w[:, None, None] * (spread[:, :, None] * spread[:, None, :] + extra)
        new_cov = np.array([scatter[y == k].sum(axis=0) / w[y == k].sum() for k in CLASSES])
        if tied:
            new_cov[:] = scatter.sum(axis=0) / w.sum()
        moved = max(np.abs(new_mean - mean).max(), np.abs(new_cov - cov).max())
        mean, cov = new_mean, new_cov
        if moved < 1e-11:
            break
    return mean, cov


@pytest.mark.parametrize("covariance", ["full", "tied"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaps_are_completed_by_em(covariance, weighted):
    rng = np.random.default_rng(3)
    X, y = toy(seed=3)
    gaps = rng.random(X.shape) < 0.15
    gaps[gaps.all(axis=1)] = False
    X[gaps] = np.nan
    weights = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
    clf = fit(covariance, X, y, sample_weight=weights)
    mean, cov = slow_em(X, y, weights, covariance == "tied")
    np.testing.assert_allclose(clf.log_density_.mean, mean, atol=1e-6)
    np.testing.assert_allclose(covariances(clf), cov, atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_gaps_may_come_in_any_chunk(covariance):
    rng = np.random.default_rng(4)
    X, y = toy(seed=4)
    X[rng.random(X.shape) < 0.1] = np.nan
    whole = fit(covariance, X, y)
    for order in (np.arange(60), rng.permutation(60)):
        clf = BayesClassifier(Gaussian(covariance))
        for part in np.array_split(order, 5):
            clf.partial_fit(X[part], y[part])
        np.testing.assert_allclose(
            clf.log_density(np.nan_to_num(X)), whole.log_density(np.nan_to_num(X)), atol=1e-7
        )


def test_em_makes_the_likelihood_of_what_is_there_largest():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    gaps = rng.random(X.shape) < 0.25
    gaps[gaps.all(axis=1)] = False
    X[gaps] = np.nan
    settled = fit("full", X, np.zeros(40, int)).log_density_

    def log_likelihood(mean: np.ndarray, covariance: np.ndarray) -> float:
        total = 0.0
        for row in X:
            there = np.flatnonzero(~np.isnan(row))
            block = covariance[np.ix_(there, there)]
            total += multivariate_normal(mean[there], block).logpdf(row[there])
        return total

    mean, covariance = settled.mean[0], settled.covariance[0]
    best = log_likelihood(mean, covariance)
    for _ in range(30):
        step = 0.02 * rng.normal(size=(3, 3))
        assert log_likelihood(mean + 0.02 * rng.normal(size=3), covariance) < best
        assert log_likelihood(mean, (np.eye(3) + step) @ covariance @ (np.eye(3) + step).T) < best


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_em_does_not_care_for_the_units_of_the_columns(covariance):
    X, y = toy(seed=6, n=300)
    X[np.random.default_rng(6).random(X.shape) < 0.1] = np.nan
    units = np.array([1e6, 1.0, 1e-6])
    plain, scaled = fit(covariance, X, y), fit(covariance, X * units, y)
    np.testing.assert_allclose(scaled.predict_proba(X * units), plain.predict_proba(X), atol=1e-6)


def test_missing_values_are_refused_on_request():
    X, y = toy()
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    gaps = frame.copy()
    gaps.loc[3, "height"] = np.nan
    for covariance in COVARIANCES:
        with pytest.raises(ValueError, match=r"NaN in column 'height' \(1 rows\)"):
            fit(covariance, gaps, y, missing="raise")
        clf = fit(covariance, frame, y, missing="raise")
        with pytest.raises(ValueError, match="'height'"):
            clf.predict(gaps)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"covariance": "diagonal"}, "covariance='diagonal'"),
        ({"estimate": "mle"}, "estimate='mle'"),
        ({"missing": "drop"}, "missing='drop'"),
        ({"shrinkage": 1.5}, "shrinkage=1.5"),
        ({"shrinkage": -0.1}, "shrinkage=-0.1"),
        ({"shrinkage": np.nan}, "shrinkage=nan"),
        ({"shrinkage": "ledoit"}, "shrinkage='ledoit'"),
        ({"shrinkage": True}, "shrinkage=True"),
    ],
)
def test_unknown_settings_are_named(settings, named):
    X, y = toy()
    with pytest.raises(ValueError, match="Gaussian") as caught:
        BayesClassifier(Gaussian(**settings)).fit(X, y)
    assert named in str(caught.value)
    assert "use" in str(caught.value)


@pytest.mark.parametrize("share", [np.float32(0.25), np.float64(0.25)])
def test_numpy_numbers_are_numbers(share):
    X, y = toy()
    np.testing.assert_array_equal(
        fit("full", X, y, shrinkage=share).predict_proba(X),
        fit("full", X, y, shrinkage=0.25).predict_proba(X),
    )


def test_a_model_beyond_the_memory_budget_is_refused_first(monkeypatch):
    monkeypatch.setenv("BAYESRULE_MEMORY_GB", "0.001")
    X = np.zeros((20, 200))
    with pytest.raises(MemoryError, match="20 full scatters of 200 features"):
        fit("full", X, np.arange(20))
    monkeypatch.setenv("BAYESRULE_MEMORY_GB", "1")
    X = np.random.default_rng(0).normal(size=(20, 3))
    fit("tied", X, np.repeat([0, 1], 10))


def test_threshold_of_two_gaussians_moves_with_the_priors():
    # Equal variances s^2: the threshold is (a + b)/2 + s^2/(b - a) log(prior_a / prior_b).
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (500, 1)), rng.normal(3, 1, (500, 1))]
    clf = fit("tied", X, np.repeat([0, 1], 500))
    (a,), (b,) = clf.log_density_.mean
    variance = clf.log_density_.covariance[0, 0, 0]
    for prior in (0.02, 0.3, 0.5, 0.9):
        threshold = (a + b) / 2 + variance / (b - a) * np.log(prior / (1 - prior))
        moved = clf.with_rule(priors=[prior, 1 - prior])
        assert moved.predict([[threshold - 1e-9], [threshold + 1e-9]]).tolist() == [0, 1]
        assert moved.predict_proba([[threshold]])[0] == pytest.approx([0.5, 0.5], abs=1e-9)


def test_unequal_variances_have_two_thresholds():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (500, 1)), rng.normal(1, 3, (500, 1))]
    clf = fit("full", X, np.repeat([0, 1], 500)).with_rule(priors=[0.5, 0.5])
    (a,), (b,) = clf.log_density_.mean
    va, vb = clf.log_density_.covariance[:, 0, 0]
    # log N(x | a, va) = log N(x | b, vb) is a quadratic in x.
    roots = np.roots(
        [1 / vb - 1 / va, 2 * (a / va - b / vb), b**2 / vb - a**2 / va + np.log(vb / va)]
    )
    low, high = np.sort(roots.real)
    inside = np.array([[low - 1e-6], [low + 1e-6], [high - 1e-6], [high + 1e-6]])
    assert clf.predict(inside).tolist() == [1, 0, 0, 1]
    assert norm(a, va**0.5).pdf(low) == pytest.approx(norm(b, vb**0.5).pdf(low), rel=1e-9)
