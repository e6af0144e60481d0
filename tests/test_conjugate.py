"""MAP and predictive Gaussians against closed forms, quadrature, scipy and simulation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.linalg import block_diag
from scipy.special import gammaln
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import BayesClassifier, Gaussian
from bayesrule.conjugate import MeanPrior, NormalInverseWishart
from bayesrule.gaussian_laws import log_student_constant
from bayesrule.settling import log_densities
from bayesrule.tables import Table
from bayesrule.testing import LAWS, check_density, empty_classes_stay_empty

COVARIANCES = ("full", "tied", "diag", "spherical")


@pytest.fixture(autouse=True)
def no_warnings():
    """Priors are there so that few rows need no excuse: every warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def fitted(X: Any, y: Any, covariance: str, estimate: str, prior: Any = None, w: Any = None) -> Any:
    density = Gaussian(covariance, estimate=estimate, prior=prior)
    return BayesClassifier(density, priors="uniform").fit(X, y, sample_weight=w)


def three_classes(sizes: tuple[int, ...] = (6, 4, 9), n_columns: int = 3, seed: int = 0) -> Any:
    """Rows of correlated columns, and where to ask for densities."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    mixing = rng.normal(size=(n_columns, n_columns))
    X = rng.normal(size=(len(y), n_columns)) @ mixing + rng.normal(size=(len(sizes), n_columns))[y]
    return X, y, 2.0 * rng.normal(size=(7, n_columns))


# ------------------------------------------------------------------ prior on the mean


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_map_of_the_mean_is_the_formula_of_the_course(covariance):
    X, y, T = three_classes()
    m, v, r = 0.3, 1.7, 0.6
    settled = fitted(X, y, covariance, "map", MeanPrior(m, v, r))
    for k in range(3):
        n, mean = np.sum(y == k), X[y == k].mean(axis=0)
        expected = n * v / (n * v + r) * mean + r / (n * v + r) * m
        law = stats.multivariate_normal(expected, r * np.eye(3))
        np.testing.assert_allclose(settled.log_density(T)[:, k], law.logpdf(T), rtol=1e-10)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_predictive_of_known_variance_is_the_formula_of_the_course(covariance):
    X, y, T = three_classes()
    m, v, r = np.array([0.3, -1.0, 2.0]), 1.7, 0.6
    settled = fitted(X, y, covariance, "predictive", MeanPrior(m, v, r))
    for k in range(3):
        n, mean = np.sum(y == k), X[y == k].mean(axis=0)
        expected = n * v / (n * v + r) * mean + r / (n * v + r) * m
        law = stats.multivariate_normal(expected, (r + v * r / (n * v + r)) * np.eye(3))
        np.testing.assert_allclose(settled.log_density(T)[:, k], law.logpdf(T), rtol=1e-10)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_matrices_are_those_of_a_joint_gaussian(covariance):
    # Rows and their mean are jointly Gaussian, and conditioning them needs no conjugacy.
    X, y, T = three_classes()
    rng = np.random.default_rng(5)
    root = rng.normal(size=(2, 3, 3))
    variance = root[0][:, :2] @ root[0][:, :2].T  # of rank two
    noise = root[1] @ root[1].T + 0.2 * np.eye(3)
    m = rng.normal(size=(3, 3))
    prior = MeanPrior(m, variance, noise)
    plugged = fitted(X, y, covariance, "map", prior).log_density(T)
    averaged = fitted(X, y, covariance, "predictive", prior).log_density(T)
    for k in range(3):
        rows = X[y == k]
        n = len(rows)
        joint = np.kron(np.ones((n, n)), variance) + block_diag(*[noise] * n)
        cross = np.kron(np.ones((1, n)), variance)
        gain = cross @ np.linalg.inv(joint)
        mean = m[k] + gain @ (rows - m[k]).ravel()
        left = variance - gain @ cross.T
        for got, matrix in ((plugged, noise), (averaged, noise + left)):
            law = stats.multivariate_normal(mean, matrix)
            np.testing.assert_allclose(got[:, k], law.logpdf(T), rtol=1e-8)


def test_predictive_of_known_variance_is_the_average_over_the_posterior():
    x, m, v, r = np.array([0.2, 1.4, 0.9]), -0.5, 0.8, 1.3
    settled = fitted(x[:, None], [0] * 3, "diag", "predictive", MeanPrior(m, v, r))

    def posterior(mu: float) -> float:
        likelihood = np.prod(stats.norm.pdf(x, mu, np.sqrt(r)))
        return float(likelihood * stats.norm.pdf(mu, m, np.sqrt(v)))

    evidence = quad(posterior, -12, 12, epsabs=0, epsrel=1e-12)[0]
    for t in (-2.0, 0.0, 3.5):
        average = quad(
            lambda mu, t=t: posterior(mu) * stats.norm.pdf(t, mu, np.sqrt(r)),
            *(-12, 12),
            epsabs=0,
            epsrel=1e-12,
        )[0]
        expected = np.log(average / evidence)
        np.testing.assert_allclose(settled.log_density([[t]]), [[expected]], atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_limits_of_the_prior_on_the_mean(covariance):
    X, y, _ = three_classes()
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    loose = fitted(X, y, covariance, "map", MeanPrior(5.0, 1e14, 1.0)).log_density_
    np.testing.assert_allclose(loose.mean, means, atol=1e-12)
    flat = fitted(X, y, "diag", "predictive", MeanPrior(5.0, 1e14, 1.0)).log_density_
    np.testing.assert_allclose(flat.variance[:, 0], 1 + 1 / np.bincount(y), rtol=1e-10)
    dogmatic = fitted(X, y, covariance, "predictive", MeanPrior(5.0, 0.0, 1.0)).log_density_
    np.testing.assert_allclose(dogmatic.mean, 5.0, atol=1e-12)


@pytest.mark.parametrize("estimate", ["map", "predictive"])
def test_a_class_without_rows_has_what_the_prior_says(estimate):
    prior = MeanPrior([[0.0], [4.0]], 2.0, 1.0)
    model = BayesClassifier(Gaussian("diag", estimate=estimate, prior=prior), priors="uniform")
    model.partial_fit([[0.1], [-0.3]], [0, 0], classes=[0, 1])
    expected = stats.norm.logpdf([3.0], 4.0, np.sqrt(1.0 if estimate == "map" else 3.0))
    np.testing.assert_allclose(model.log_density([[3.0]])[:, 1], expected, rtol=1e-12)
    assert model.predict([[3.5]]).tolist() == [1]


# ------------------------------------------------------------------ unknown mean and covariance


def wishart(rows: np.ndarray, m: Any, w: float, P: np.ndarray, v: float) -> tuple[Any, ...]:
    """Posterior after one row after the other, each by the textbook's update."""
    for row in rows:
        apart = row - m
        P = P + w / (w + 1) * np.outer(apart, apart)
        m, w, v = (w * m + row) / (w + 1), w + 1, v + 1
    return m, w, P, v


PRIOR = {"mean": [0.5, -0.2, 1.0], "mean_weight": 0.7, "degrees": 4.5}
MATRIX = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 1.5]])


@pytest.mark.parametrize("estimate", ["map", "predictive"])
def test_full_is_scipys_student_about_the_row_by_row_posterior(estimate):
    X, y, T = three_classes()
    model = fitted(X, y, "full", estimate, NormalInverseWishart(**PRIOR, scatter=MATRIX))
    for k in range(3):
        m, w, P, v = wishart(X[y == k], np.array(PRIOR["mean"]), 0.7, MATRIX, 4.5)
        law: Any = stats.multivariate_t(m, P * (w + 1) / (w * (v - 2)), df=v - 2)
        if estimate == "map":
            law = stats.multivariate_normal(m, P / (v + 5))
        np.testing.assert_allclose(model.log_density(T)[:, k], law.logpdf(T), rtol=1e-9)


def test_map_maximises_the_posterior_density():
    X, y, _ = three_classes()
    settled = fitted(X, y, "full", "map", NormalInverseWishart(**PRIOR, scatter=MATRIX))
    tied = fitted(X, y, "tied", "map", NormalInverseWishart(**PRIOR, scatter=MATRIX))
    prior_mean, rng = np.array(PRIOR["mean"]), np.random.default_rng(1)

    def log_posterior(means: np.ndarray, S: np.ndarray, classes: Any) -> float:
        if np.linalg.eigvalsh(S)[0] <= 0:
            return -np.inf
        total = stats.invwishart.logpdf(S, 4.5, MATRIX)
        for mean, k in zip(means, classes, strict=True):
            total += stats.multivariate_normal(prior_mean, S / 0.7).logpdf(mean)
            total += stats.multivariate_normal(mean, S).logpdf(X[y == k]).sum()
        return float(total)

    for law, classes, k in ((settled.log_density_, [1], 1), (tied.log_density_, [0, 1, 2], 0)):
        means, S = law.mean[classes], law.covariance[k]
        best = log_posterior(means, S, classes)
        for scale in (1e-2, 1e-3):
            for _ in range(30):
                change = scale * rng.normal(size=(3, 3))
                moved = means + scale * rng.normal(size=means.shape)
                assert log_posterior(moved, S + change + change.T, classes) < best
        for factor in (0.97, 1.03):
            assert log_posterior(means, factor * S, classes) < best


def test_tied_is_the_full_one_with_every_class_in_the_scatter():
    X, y, T = three_classes()
    model = fitted(X, y, "tied", "predictive", NormalInverseWishart(**PRIOR, scatter=MATRIX))
    parts = [wishart(X[y == k], np.array(PRIOR["mean"]), 0.7, 0 * MATRIX, 0.0) for k in range(3)]
    P, v = MATRIX + sum(part[2] for part in parts), 4.5 + len(X)
    for k, (m, w, _, _) in enumerate(parts):
        law = stats.multivariate_t(m, P * (w + 1) / (w * (v - 2)), df=v - 2)
        np.testing.assert_allclose(model.log_density(T)[:, k], law.logpdf(T), rtol=1e-9)


def test_diagonal_is_a_product_of_scipys_students():
    X, y, T = three_classes()
    scatter = np.array([2.0, 1.0, 1.5])
    prior = NormalInverseWishart(**PRIOR, scatter=scatter)
    averaged = fitted(X, y, "diag", "predictive", prior)
    plugged = fitted(X, y, "diag", "map", prior)
    for k in range(3):
        m, w, P, v = wishart(X[y == k], np.array(PRIOR["mean"]), 0.7, np.diag(scatter), 4.5)
        scale = np.sqrt(np.diag(P) / v * (1 + 1 / w))
        columns = stats.t.logpdf(T, v, m, scale)
        np.testing.assert_allclose(averaged.log_density(T)[:, k], columns.sum(axis=1), rtol=1e-10)
        terms = averaged.log_density_.terms(Table(T))
        np.testing.assert_allclose(terms[:, k], columns, rtol=1e-10)
        columns = stats.norm.logpdf(T, m, np.sqrt(np.diag(P) / (v + 3)))
        np.testing.assert_allclose(plugged.log_density(T)[:, k], columns.sum(axis=1), rtol=1e-10)


def test_spherical_is_a_student_of_one_variance():
    X, y, T = three_classes()
    prior = NormalInverseWishart(**PRIOR, scatter=2.5)
    averaged = fitted(X, y, "spherical", "predictive", prior)
    plugged = fitted(X, y, "spherical", "map", prior)
    for k in range(3):
        m, w, P, v = wishart(X[y == k], np.array(PRIOR["mean"]), 0.7, np.zeros((3, 3)), 0.0)
        P, v = 2.5 + np.trace(P), 4.5 + 3 * v
        law: Any = stats.multivariate_t(m, P / v * (1 + 1 / w) * np.eye(3), df=v)
        np.testing.assert_allclose(averaged.log_density(T)[:, k], law.logpdf(T), rtol=1e-9)
        law = stats.multivariate_normal(m, P / (v + 5) * np.eye(3))
        np.testing.assert_allclose(plugged.log_density(T)[:, k], law.logpdf(T), rtol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_predictive_of_one_column_is_the_average_over_the_posterior(covariance):
    # One column and one class: all four covariances are the same variance.
    x, m, w, P, v = np.array([0.2, 1.4, 0.9]), -0.5, 0.6, 1.1, 3.0
    prior = NormalInverseWishart(m, w, P, v)
    model = fitted(x[:, None], [0] * 3, covariance, "predictive", prior)

    def weighed(log_variance: float, t: float | None) -> float:
        """Prior of the variance times the density of the rows (and of t) given it alone."""
        s = np.exp(log_variance)
        rows = x if t is None else np.append(x, t)
        # The unknown mean, shared by the rows, correlates them.
        matrix = s * (np.eye(len(rows)) + 1 / w)
        value = stats.multivariate_normal(np.full(len(rows), m), matrix).pdf(rows)
        return float(value * stats.invgamma.pdf(s, v / 2, scale=P / 2) * s)

    settings = {"epsabs": 0, "epsrel": 1e-11, "limit": 200}
    evidence = quad(weighed, -12, 25, args=(None,), **settings)[0]
    for t in (-2.0, 0.7, 6.0):
        expected = np.log(quad(weighed, -12, 25, args=(t,), **settings)[0] / evidence)
        np.testing.assert_allclose(model.log_density([[t]]), [[expected]], atol=1e-8)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("estimate", ["map", "predictive"])
def test_many_rows_outweigh_the_prior(covariance, estimate):
    # The distance to the plug-in shrinks as one over the number of rows.
    X, y, T = three_classes((2_000, 3_000, 4_000))
    ml = fitted(X, y, covariance, "ml").log_density(T)
    gap = np.abs(fitted(X, y, covariance, estimate).log_density(T) - ml).max()
    X, y = np.tile(X, (100, 1)), np.tile(y, 100)
    closer = np.abs(fitted(X, y, covariance, estimate).log_density(T) - ml).max()
    assert 0 < closer < 0.012 * gap < 0.12


def test_a_weak_prior_leaves_the_predictive_of_the_rows_alone():
    # About the mean of the rows, with (1 + 1/n) times their second moment as its scale.
    X, y, T = three_classes()
    prior = NormalInverseWishart(0.0, 1e-12, 1e-12, 2.0 + 1e-12)
    model = fitted(X, y, "full", "predictive", prior)
    for k in range(3):
        rows = X[y == k]
        n, mean = len(rows), rows.mean(axis=0)
        scale = (rows - mean).T @ (rows - mean) * (1 + 1 / n) / n
        law = stats.multivariate_t(mean, scale, df=n)
        np.testing.assert_allclose(model.log_density(T)[:, k], law.logpdf(T), rtol=1e-6)


def test_a_class_without_rows_has_the_prior_predictive():
    X, y, T = three_classes()
    prior = NormalInverseWishart(**PRIOR, scatter=MATRIX)
    model = BayesClassifier(Gaussian(estimate="predictive", prior=prior), priors="uniform")
    model.partial_fit(X, y, classes=[0, 1, 2, 3])
    law = stats.multivariate_t(PRIOR["mean"], MATRIX * (1.7 / 0.7) / 2.5, df=2.5)
    np.testing.assert_allclose(model.log_density(T)[:, 3], law.logpdf(T), rtol=1e-9)


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_prior_made_from_the_other_rows_knows_nothing_of_a_class_without(covariance, estimate):
    X, y, T = three_classes()
    X[:, 2] = 1.0
    for prior in (None, NormalInverseWishart(mean=0.0), NormalInverseWishart(scatter=1.0)):
        density = Gaussian(covariance, estimate=estimate, prior=prior)
        model = BayesClassifier(density, priors="uniform").partial_fit(X, y, classes=[0, 1, 2, 3])
        alone = fitted(X, y, covariance, estimate, prior)
        for asked in (T, np.where(np.arange(3) == 1, np.nan, T)):
            assert (model.log_density(asked)[:, 3] == -np.inf).all()
            expected = alone.log_density(asked)
            np.testing.assert_allclose(model.log_density(asked)[:, :3], expected, rtol=1e-12)


# ------------------------------------------------------------------ defaults and few rows


def test_default_prior_is_what_is_told():
    X, y, T = three_classes()
    mean = X.mean(axis=0)
    within = sum((X[y == k].var(axis=0) * np.sum(y == k)) for k in range(3)) / (len(X) - 3)
    assert (within < X.var(axis=0)).all()
    for covariance, degrees, scatter in (
        ("full", 5.0, 5.0 * within),
        ("tied", 5.0, 5.0 * within),
        ("diag", 3.0, 3.0 * within),
        ("spherical", 3.0, 3.0 * within.mean()),
    ):
        stated = NormalInverseWishart(mean, 0.01, scatter, degrees)
        np.testing.assert_allclose(
            fitted(X, y, covariance, "predictive").log_density(T),
            fitted(X, y, covariance, "predictive", stated).log_density(T),
            rtol=1e-10,
        )


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_one_row_per_class_decides_sensibly(load, covariance, estimate):
    X, y = load(return_X_y=True)
    first = np.array([np.flatnonzero(y == k)[0] for k in range(3)])
    model = fitted(X[first], y[first], covariance, estimate)
    assert np.isfinite(model.log_density(X)).all()
    assert model.score(X, y) > (0.6 if load is load_iris else 0.5)
    assert model.score(X[first], y[first]) == 1.0


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_three_rows_per_class_are_enough_for_the_predictive(load):
    # Three rows in 4 and 13 columns: a covariance of rank two.
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(0)
    scores, losses = [], []
    for _ in range(20):
        some = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:3] for k in range(3)])
        rest = np.setdiff1d(np.arange(len(y)), some)
        models = [fitted(X[some], y[some], "full", "predictive")]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            models.append(fitted(X[some], y[some], "full", "ml"))
        scores.append([model.score(X[rest], y[rest]) for model in models])
        right = [model.predict_log_proba(X[rest])[range(len(rest)), y[rest]] for model in models]
        losses.append([-values.mean() for values in right])
    accuracy, loss = np.mean(scores, axis=0), np.mean(losses, axis=0)
    assert accuracy[0] > 0.88
    assert accuracy[0] >= accuracy[1]
    # The plug-in decides nearly as well, but does not know how little it knows.
    assert loss[0] < 0.6 * loss[1]


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0], [1.0, 2.0]],
        [[1.0, 2.0], [1.0, 3.0]],
        [[0.0, 0.0], [1.0, 1.0]],
        [[np.nan, 2.0], [1.0, np.nan]],
        [[np.nan, 2.0], [np.nan, 3.0]],
    ],
    ids=["one row", "twice", "constant column", "dependent", "gaps", "no column"],
)
def test_hardly_any_rows_need_no_excuse(X, covariance, estimate):
    for y in ([0] * len(X), list(range(len(X)))):
        model = fitted(X, y, covariance, estimate)
        T = [[1.0, 2.0], [-3.0, 9.0], [np.nan, 2.5], [1.0, np.nan], [np.nan, np.nan]]
        assert np.isfinite(model.log_density(T)).all()
        np.testing.assert_allclose(model.predict_proba(T).sum(axis=1), 1.0)


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
def test_columns_that_never_vary_tell_no_class_from_another(covariance, estimate):
    X, y, T = three_classes()
    wider = np.insert(X, 1, 7.0, axis=1)
    asked = np.insert(T, 1, np.linspace(5, 9, len(T)), axis=1)
    without = fitted(X, y, covariance, estimate).predict_log_proba(T)
    beside = fitted(wider, y, covariance, estimate)
    np.testing.assert_allclose(beside.predict_log_proba(asked), without, atol=1e-10)
    asked[2, 1] = asked[3, 0] = np.nan
    T[3, 0] = np.nan
    without = fitted(X, y, covariance, estimate).predict_log_proba(T)
    np.testing.assert_allclose(beside.predict_log_proba(asked), without, atol=1e-10)


def test_the_law_beside_a_constant_column_is_normalised():
    X, y = np.array([[0.0, 3.0], [1.0, 3.0], [1.5, 3.0]]), [0, 0, 0]
    model = fitted(X, y, "full", "predictive")
    grid = np.linspace(-12, 12, 2001)
    alone = np.exp(model.log_density(np.column_stack([np.full(2001, np.nan), grid + 3])))
    assert np.trapezoid(alone[:, 0], grid) == pytest.approx(1.0, abs=1e-9)


# ------------------------------------------------------------------ missing values


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_missing_values_at_predict_leave_scipys_marginal(covariance):
    X, y, T = three_classes()
    prior = NormalInverseWishart(**PRIOR, scatter=1.2)
    model = fitted(X, y, covariance, "predictive", prior)
    kept = [0, 2]
    T[:, 1] = np.nan
    rows = [X[y == k] for k in range(3)]
    start = np.array(PRIOR["mean"])
    pooled = sum(wishart(r, start, 0.7, np.zeros((3, 3)), 0.0)[2] for r in rows)
    for k in range(3):
        m, w, P, v = wishart(rows[k], start, 0.7, np.zeros((3, 3)), 0.0)
        match covariance:
            case "full":
                P, v = P + 1.2 * np.eye(3), v + 2.5
            case "tied":
                P, v = pooled + 1.2 * np.eye(3), len(X) + 2.5
            case "diag":
                scale = np.sqrt((np.diag(P) + 1.2) / (v + 4.5) * (1 + 1 / w))
                expected = stats.t.logpdf(T, v + 4.5, m, scale)[:, kept].sum(axis=1)
                np.testing.assert_allclose(model.log_density(T)[:, k], expected, rtol=1e-10)
                continue
            case "spherical":
                P, v = (np.trace(P) + 1.2) * np.eye(3), 3 * v + 4.5
        scale = (P * (1 + 1 / w) / v)[np.ix_(kept, kept)]
        law = stats.multivariate_t(m[kept], scale, df=v)
        np.testing.assert_allclose(model.log_density(T)[:, k], law.logpdf(T[:, kept]), rtol=1e-9)


@pytest.mark.parametrize("prior", [MeanPrior(0.2, 1.5, 0.8), NormalInverseWishart(0.1, 0.5, 2, 3)])
@pytest.mark.parametrize("estimate", ["map", "predictive"])
def test_columns_of_a_diagonal_density_use_the_values_they_have(prior, estimate):
    X, y, T = three_classes()
    X[::3, 0] = X[1::4, 2] = np.nan
    model = fitted(X, y, "diag", estimate, prior)
    alone = 0.0
    for j in range(3):
        there = ~np.isnan(X[:, j])
        column = fitted(X[there][:, [j]], y[there], "diag", estimate, prior)
        alone = alone + column.log_density(T[:, [j]])
    np.testing.assert_allclose(model.log_density(T), alone, rtol=1e-10)


def test_spherical_counts_values():
    X, y, T = three_classes()
    X[::3, 0] = X[1::4, 2] = np.nan
    model = fitted(X, y, "spherical", "predictive", NormalInverseWishart(0.1, 0.5, 2.0, 3.0))
    for k in range(3):
        rows = X[y == k]
        n, mean = np.sum(~np.isnan(rows), axis=0), np.nanmean(rows, axis=0)
        squares = np.nansum((rows - mean) ** 2) + np.sum(0.5 * n / (0.5 + n) * (mean - 0.1) ** 2)
        v = 3.0 + n.sum()
        scale = (2.0 + squares) / v * (1 + 1 / (0.5 + n))
        law = stats.multivariate_t((0.05 + n * mean) / (0.5 + n), np.diag(scale), df=v)
        np.testing.assert_allclose(model.log_density(T)[:, k], law.logpdf(T), rtol=1e-9)


@pytest.mark.parametrize("kind", [MeanPrior, NormalInverseWishart])
def test_map_of_incomplete_rows_maximises_the_posterior_of_what_is_there(kind):
    X, _, _ = three_classes((30,))
    rng = np.random.default_rng(2)
    X[rng.random(X.shape) < 0.3] = np.nan
    m = np.array(PRIOR["mean"])
    prior = kind(m, MATRIX, 2 * MATRIX) if kind is MeanPrior else kind(m, 0.7, MATRIX, 4.5)

    def log_posterior(mean: np.ndarray, S: np.ndarray) -> float:
        if np.linalg.eigvalsh(S)[0] <= 0:
            return -np.inf
        if kind is MeanPrior:
            total = stats.multivariate_normal(m, MATRIX).logpdf(mean)
        else:
            total = stats.invwishart.logpdf(S, 4.5, MATRIX)
            total += stats.multivariate_normal(m, S / 0.7).logpdf(mean)
        for row in X:
            j = np.flatnonzero(~np.isnan(row))
            if len(j):
                total += stats.multivariate_normal(mean[j], S[np.ix_(j, j)]).logpdf(row[j])
        return float(total)

    for covariance in ("full", "tied"):
        law = fitted(X, [0] * 30, covariance, "map", prior).log_density_
        mean, S = law.mean[0], law.covariance[0]
        best = log_posterior(mean, S)
        for scale in (0.05, 0.005):
            for _ in range(20):
                change = 0.0 if kind is MeanPrior else scale * rng.normal(size=(3, 3))
                moved = mean + scale * rng.normal(size=3)
                assert log_posterior(moved, S + change + np.transpose(change)) < best


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_few_rows_with_gaps_need_no_excuse(covariance, estimate):
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    some = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:5] for k in range(3)])
    X[rng.random(X.shape) < 0.15] = np.nan
    X = np.insert(X, 3, np.where(rng.random(len(X)) < 0.2, np.nan, 7.0), axis=1)
    model = fitted(X[some], y[some], covariance, estimate)
    assert model.score(X, y) > (0.6 if covariance == "spherical" else 0.8)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_terms_add_up_to_the_log_density(covariance):
    X, y, T = three_classes()
    T[0, 1] = T[3, 2] = np.nan
    for estimate in ("ml", "map", "predictive"):
        model = BayesClassifier(Gaussian(covariance, estimate=estimate), priors="uniform")
        law = model.partial_fit(X, y, classes=[0, 1, 2, 3]).log_density_
        table = Table(T, missing=True)
        if not law.factors:
            assert covariance in ("full", "tied") or estimate == "predictive"
            with pytest.raises(TypeError, match="does not factor"):
                law.terms(table)
            continue
        terms = law.terms(table)
        assert terms.shape == (7, 4, 3)
        assert (terms[0, :3, 1] == 0).all()
        np.testing.assert_allclose(terms.sum(axis=2), log_densities(law, table), rtol=1e-12)


# ------------------------------------------------------------------ numbers


def test_the_constant_of_the_student_keeps_its_digits():
    # gamma((v + 1)/2) / gamma(v/2) by its product for whole numbers, in logarithms.
    for v in (1, 2, 7, 39, 40, 41, 300):
        for d in (1, 2, 5, 40):
            expected = gammaln((v + d) / 2) - gammaln(v / 2) - d / 2 * np.log(v * np.pi)
            np.testing.assert_allclose(log_student_constant(v, d), expected, atol=2e-12)
    # Even numbers of columns: gamma(a + m) / gamma(a) = a (a + 1) ... (a + m - 1).
    for v in (1e3, 1e6, 1e12):
        steps = np.log1p(2 * np.arange(3) / v).sum()
        expected = steps - 3 * np.log(2 * np.pi)
        np.testing.assert_allclose(log_student_constant(v, 6), expected, rtol=1e-14)


def test_students_reach_far_and_near():
    prior = NormalInverseWishart(0.0, 1.0, 1.0, 2.0)
    model = fitted([[0.0]], [0], "diag", "predictive", prior)
    scale = np.sqrt(1 / 3 * 1.5)  # one row at the prior mean: w = 2, v = 3, P = 1
    t = np.array([0.0, 1e-9, 1.0, 1e30, 1e120, 1e200])
    z = np.log(t[3:]) - np.log(scale * np.sqrt(3))
    peak = stats.t.logpdf(0.0, 3, 0.0, scale)
    expected = np.append(stats.t.logpdf(t[:3], 3, 0.0, scale), peak - 4 * z)
    np.testing.assert_allclose(model.log_density(t[:, None])[:, 0], expected, rtol=1e-13)
    terms = model.log_density_.terms(Table(t[:, None]))[:, 0, 0]
    np.testing.assert_allclose(terms, expected, rtol=1e-13)


def test_many_columns_far_out_do_not_overflow():
    X, y, _ = three_classes(n_columns=40)
    model = fitted(X, y, "diag", "predictive")
    law = model.log_density_
    far = np.full((2, 40), [[1e40], [-1e170]])
    expected = stats.t.logpdf(far[:1, None], law.dof, law.location, law.scale).sum(axis=2)
    np.testing.assert_allclose(model.log_density(far)[:1], expected, rtol=1e-12)
    assert np.isfinite(model.log_density(far)).all()


# ------------------------------------------------------------------ adding up


PRIORS = {
    "full": MeanPrior([0.1, 0.2, 0.3], MATRIX, MATRIX[::-1, ::-1]),
    "tied": MeanPrior(0.0, 2.0, MATRIX),
    "diag": MeanPrior(0.0, [1.0, 2.0, 3.0], 0.5),
    "spherical": MeanPrior(0.0, 2.0, 0.5),
}


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("default", [True, False])
def test_recursive_is_batch(covariance, estimate, default):
    X, y, T = three_classes()
    prior = None if default else PRIORS[covariance]
    whole = fitted(X, y, covariance, estimate, prior).log_density(T)
    density = Gaussian(covariance, estimate=estimate, prior=prior)
    model = BayesClassifier(density, priors="uniform")
    for i in np.random.default_rng(3).permutation(len(X)):
        model.partial_fit(X[[i]], y[[i]])
    np.testing.assert_allclose(model.log_density(T), whole, rtol=1e-9)
    halves = [BayesClassifier(density, priors="uniform").fit(X[i::2], y[i::2]) for i in (0, 1)]
    np.testing.assert_allclose(halves[0].merge(halves[1]).log_density(T), whole, rtol=1e-9)
    with pytest.raises(ValueError, match="counted differently"):
        halves[0].merge(fitted(X, y, covariance, estimate, MeanPrior(0.0, 1.0, 3.0)))


def test_each_posterior_is_the_next_prior():
    x, T = np.array([[0.4], [1.9], [-0.3]]), [[0.0], [2.0]]
    prior, noise = MeanPrior(0.1, 2.0, 0.7), 0.7
    for row in x:
        settled = fitted([row], [0], "diag", "predictive", prior).log_density_
        prior = MeanPrior(settled.mean[0], settled.variance[0] - noise, noise)
    batch = fitted(x, [0] * 3, "diag", "predictive", MeanPrior(0.1, 2.0, 0.7))
    # Class 0 has no rows of its own: nothing but the prior that was handed on.
    last = fitted([[0.0]], [[0.0, 1.0]], "diag", "predictive", prior)
    np.testing.assert_allclose(last.log_density(T)[:, 0], batch.log_density(T)[:, 0], rtol=1e-10)


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_weight_is_so_many_rows(covariance, estimate):
    X, y, T = three_classes()
    w = np.arange(len(X)) % 4
    repeated = fitted(np.repeat(X, w, axis=0), np.repeat(y, w), covariance, estimate)
    weighted = fitted(X, y, covariance, estimate, w=w.astype(float))
    np.testing.assert_allclose(weighted.log_density(T), repeated.log_density(T), rtol=1e-9)


@pytest.mark.parametrize("estimate", ["map", "predictive"])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_default_prior_knows_no_units(covariance, estimate):
    X, y, T = three_classes()
    scale = 1e3 if covariance == "spherical" else np.array([1e-6, 1.0, 1e5])
    shift = np.array([-3.0, 1e3, 1e7])
    before = fitted(X, y, covariance, estimate).predict_log_proba(T)
    after = fitted(X * scale + shift, y, covariance, estimate).predict_log_proba(T * scale + shift)
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)


def test_stated_prior_turns_with_the_rows():
    X, y, T = three_classes()
    turn = np.random.default_rng(8).normal(size=(3, 3))
    m = np.array(PRIOR["mean"])
    for covariance in ("full", "tied"):
        for one, other in (
            (
                NormalInverseWishart(m, 0.7, MATRIX, 4.5),
                NormalInverseWishart(m @ turn, 0.7, turn.T @ MATRIX @ turn, 4.5),
            ),
            (
                MeanPrior(m, MATRIX, np.eye(3)),
                MeanPrior(m @ turn, turn.T @ MATRIX @ turn, turn.T @ turn),
            ),
        ):
            before = fitted(X, y, covariance, "predictive", one).predict_log_proba(T)
            after = fitted(X @ turn, y, covariance, "predictive", other)
            np.testing.assert_allclose(after.predict_log_proba(T @ turn), before, atol=1e-8)


# ------------------------------------------------------------------ by simulation


def test_ml_variance_is_biased_by_one_row_in_n():
    rng = np.random.default_rng(0)
    n, repeats, sigma2 = 5, 20_000, 4.0
    X = rng.normal(1.0, 2.0, size=(n, repeats))  # every column is another sample
    ml = fitted(X, [0] * n, "diag", "ml").log_density_.variance
    unbiased = fitted(X, [0] * n, "diag", "unbiased").log_density_.variance
    # The mean over the samples has a standard error of sigma2 sqrt(2 / (n - 1) / repeats) = .02.
    assert ml.mean() == pytest.approx((n - 1) / n * sigma2, abs=0.08)
    assert unbiased.mean() == pytest.approx(sigma2, abs=0.1)
    np.testing.assert_allclose(ml, unbiased * (n - 1) / n, rtol=1e-12)


def test_predictive_is_calibrated_where_the_prior_is_true():
    # Means and variances drawn from the prior, four rows each: the predictive distribution
    # function of a fifth row is then uniform, that of the plug-in is not.
    rng = np.random.default_rng(1)
    repeats, n, w, v, P = 4_000, 4, 0.5, 3.0, 2.0
    variance = stats.invgamma.rvs(v / 2, scale=P / 2, size=repeats, random_state=rng)
    mean = rng.normal(1.0, np.sqrt(variance / w))
    rows = rng.normal(mean, np.sqrt(variance), size=(n + 1, repeats))
    prior = NormalInverseWishart(1.0, w, P, v)
    law = fitted(rows[:n], [0] * n, "diag", "predictive", prior).log_density_
    ranks = stats.t.cdf(rows[n], law.dof[0], law.location[0], law.scale[0])
    assert stats.kstest(ranks, "uniform").pvalue > 0.01
    plug = fitted(rows[:n], [0] * n, "diag", "ml").log_density_
    ranks = stats.norm.cdf(rows[n], plug.mean[0], np.sqrt(plug.variance[0]))
    assert stats.kstest(ranks, "uniform").pvalue < 1e-6


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": MeanPrior(0.0, 1.0, 1.0)}, "uses no prior"),
        ({"estimate": "unbiased", "prior": NormalInverseWishart()}, "uses no prior"),
        ({"estimate": "map", "shrinkage": "auto"}, "shrinkage"),
        ({"estimate": "predictive", "shrinkage": 0.1}, "shrinkage"),
        ({"estimate": "bayes"}, "estimate='bayes'"),
        ({"estimate": "map", "prior": "flat"}, "is no prior"),
        ({"estimate": "map", "prior": NormalInverseWishart}, "is no prior"),
        ({"estimate": "map", "prior": MeanPrior([0.0, 1.0], 1.0, 1.0)}, r"mean=.*shape \(2,\)"),
        ({"estimate": "map", "prior": MeanPrior(np.zeros((2, 3)), 1.0, 1.0)}, r"\(3, 3\)"),
        ({"estimate": "map", "prior": MeanPrior("no", 1.0, 1.0)}, "mean='no'.*finite"),
        ({"estimate": "map", "prior": MeanPrior(0.0, np.nan, 1.0)}, "variance=nan.*finite"),
        ({"estimate": "map", "prior": MeanPrior(0.0, -1.0, 1.0)}, "variance=.*at least zero"),
        ({"estimate": "map", "prior": MeanPrior(0.0, 1.0, 0.0)}, "noise_variance=.*positive"),
        (
            {"estimate": "map", "prior": MeanPrior(0.0, 1.0, np.ones((3, 3)))},
            "noise_variance=.*positive definite",
        ),
        (
            {"estimate": "map", "prior": MeanPrior(0.0, np.triu(np.ones((3, 3))), 1.0)},
            "variance=.*symmetric",
        ),
        (
            {"covariance": "diag", "estimate": "map", "prior": MeanPrior(0.0, MATRIX, 1.0)},
            r"variance=.*shape \(3, 3\); with covariance='diag'",
        ),
        (
            {"covariance": "spherical", "estimate": "map", "prior": MeanPrior(0, [1, 2, 3], 1)},
            r"variance=.*use a number",
        ),
        ({"estimate": "map", "prior": NormalInverseWishart(degrees=2.0)}, "degrees=2.0.*above 2"),
        (
            {"covariance": "diag", "estimate": "map", "prior": NormalInverseWishart(degrees=0.0)},
            "degrees=0.0.*above 0",
        ),
        ({"estimate": "map", "prior": NormalInverseWishart(mean_weight=0.0)}, "mean_weight=0.0"),
        ({"estimate": "map", "prior": NormalInverseWishart(scatter=0.0)}, "scatter=.*positive"),
        ({"estimate": "map", "prior": NormalInverseWishart(scatter=[1.0])}, "scatter=.*shape"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, message):
    X, y, _ = three_classes()
    with pytest.raises((ValueError, TypeError), match=message):
        BayesClassifier(Gaussian(**settings)).fit(X, y)


def test_a_scatter_that_vanishes_beside_dependent_columns_is_refused():
    X, y, _ = three_classes()
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.raises(ValueError, match="too small beside the rows"):
        fitted(X, y, "full", "predictive", NormalInverseWishart(scatter=1e-30))
    fitted(X, y, "full", "predictive")


@pytest.mark.parametrize("law", [law for law in LAWS if law is not empty_classes_stay_empty])
@pytest.mark.parametrize("prior", [MeanPrior(0.5, 2.0, 0.7), NormalInverseWishart(0.5, 2, 1.5, 6)])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_stated_priors_obey_the_laws(covariance, prior, law):
    # But the one that stated priors are there to break, and none about units, which they know.
    for estimate in ("map", "predictive"):
        density = Gaussian(covariance, estimate=estimate, prior=prior)
        check_density(density, equivariant=(), laws=[law])


@parametrize_with_checks(
    [
        BayesClassifier(Gaussian("full", estimate="predictive")),
        BayesClassifier(Gaussian("diag", estimate="predictive")),
    ]
)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)
