"""Densities alone: against scipy, numerical integrals and scikit-learn's own checks."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import gaussian_kde, kstest, norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesrule import DensityEstimate, Gaussian, Histogram, Kernel, Neighbors, Profiled
from bayesrule.notices import NoMassWarning, SingularScatterWarning
from bayesrule.shapes import SHAPES

RNG = np.random.default_rng(23)


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@parametrize_with_checks(
    [
        DensityEstimate(),
        DensityEstimate(Kernel("epanechnikov", "scott", product=False)),
        DensityEstimate(Kernel("biweight", "nearest", joint=False)),
        DensityEstimate(Histogram()),
        DensityEstimate(Histogram("doane", joint=True)),
        DensityEstimate(Neighbors(3)),
    ]
)
def test_check(estimator, check):
    check(estimator)


def test_the_course_s_exercise():
    X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    estimate = DensityEstimate(Kernel("square", 4)).fit(X)
    found = np.exp(estimate.score_samples([[3.0], [10.0], [15.0]]))
    np.testing.assert_allclose(found, [0.075, 0.025, 0.125])
    assert estimate.bandwidth_.tolist() == [4.0]
    # Four of ten windows lie below 9, and one of those about 12 to 17 begins at 10.
    assert estimate.integrate(-np.inf, 9.0) == pytest.approx(0.4)
    assert estimate.cdf(11.0) == pytest.approx(0.4 + 0.1 * 0.25)


@pytest.mark.parametrize("weights", [None, "some"])
def test_scores_are_those_of_scikit_learn(weights):
    X = RNG.normal(size=(200, 2))
    w = None if weights is None else RNG.integers(0, 4, 200).astype(float)
    ours = DensityEstimate(Kernel(bandwidth=0.4)).fit(X, sample_weight=w)
    peer = KernelDensity(bandwidth=0.4, rtol=1e-10).fit(
        X[w > 0] if w is not None else X, sample_weight=None if w is None else w[w > 0]
    )
    new = RNG.normal(size=(30, 2))
    np.testing.assert_allclose(ours.score_samples(new), peer.score_samples(new), atol=1e-6)
    assert ours.score(new) == pytest.approx(peer.score(new) / 30, abs=1e-6)


def test_a_search_chooses_the_bandwidth():
    X = RNG.normal(size=(300, 1))
    grid = {"density__bandwidth": [0.01, 0.3, 5.0]}
    search = GridSearchCV(DensityEstimate(Kernel()), grid, cv=3).fit(X)
    assert search.best_params_["density__bandwidth"] == 0.3


# ---------------------------------------------------------------------- integrals


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_distribution_functions_are_integrals(name, adaptive):
    X = np.concatenate([RNG.normal(size=20), [6.0, 6.0, 7.0]])[:, None]
    w = RNG.integers(1, 4, 23).astype(float)
    estimate = DensityEstimate(Kernel(name, 0.8, adaptive=adaptive)).fit(X, sample_weight=w)

    for a, b in ((-1.0, 0.5), (0.2, 6.5), (5.0, 9.0)):
        middles = a + (b - a) * (np.arange(40_000) + 0.5) / 40_000
        mass = np.exp(estimate.score_samples(middles[:, None])).mean() * (b - a)
        wanted = pytest.approx(mass, abs=3e-4 if name == "square" else 1e-7)
        assert estimate.integrate(a, b) == wanted
        assert estimate.integrate(b, a) == -estimate.integrate(a, b)
    assert estimate.integrate(-np.inf, np.inf) == 1.0
    np.testing.assert_array_equal(estimate.cdf([-np.inf, np.inf]), [0.0, 1.0])


def test_integrals_are_scipy_s_and_keep_their_digits_far_out():
    X = RNG.normal(size=400)
    estimate = DensityEstimate(Kernel(bandwidth="scott")).fit(X[:, None])
    peer = gaussian_kde(X)
    assert estimate.integrate(0.3, 1.7) == pytest.approx(peer.integrate_box_1d(0.3, 1.7), rel=1e-9)
    h = estimate.bandwidth_[0]
    far = X.max() + 12 * h
    expected = norm.sf(far, X, h).mean()
    assert 0 < expected < 1e-30
    assert estimate.integrate(far, np.inf) == pytest.approx(expected, rel=1e-9)
    low = X.min() - 12 * h
    assert estimate.cdf(low) == pytest.approx(norm.cdf(low, X, h).mean(), rel=1e-9)
    assert estimate.integrate(-np.inf, low) == estimate.cdf(low)


@pytest.mark.parametrize("joint", [False, True])
def test_histograms_integrate_over_their_bins_and_tails(joint):
    X = RNG.uniform(0, 4, (60, 1))
    density = Histogram([np.array([0.0, 1.0, 2.0, 4.0])], joint=joint, smoothing=3.0)
    estimate = DensityEstimate(density).fit(X)
    share = (X[:, 0] < 1).sum()
    assert estimate.integrate(0.0, 1.0) == pytest.approx((share + 3 * 0.5 * 0.25) / 63)
    for a, b in ((-7.0, -1.0), (5.0, 9.0), (0.3, 3.2)):
        mass, _ = quad(
            lambda x: float(np.exp(estimate.score_samples([[x]]))[0]), a, b, points=[1, 2]
        )
        assert estimate.integrate(a, b) == pytest.approx(mass, rel=1e-6)
    assert estimate.integrate(1e12, np.inf) == pytest.approx(3 * 0.25 / 63 * 4 / 1e12, rel=1e-6)


# ---------------------------------------------------------------------- draws


@pytest.mark.parametrize(
    "density",
    [
        Kernel("biweight", 0.5),
        Kernel(adaptive=True),
        Kernel("triangle", joint=False),
        Histogram(),
        Histogram(joint=True),
    ],
    ids=str,
)
def test_draws_follow_the_distribution(density):
    X = np.concatenate([RNG.normal(size=300), 5 + 0.3 * RNG.normal(size=100)])[:, None]
    estimate = DensityEstimate(density).fit(X)
    draws = estimate.sample(4000)
    assert draws.shape == (4000, 1)
    assert kstest(draws[:, 0], estimate.cdf).pvalue > 1e-3
    np.testing.assert_array_equal(draws, estimate.sample(4000))
    rng = np.random.default_rng(1)
    assert (estimate.sample(3, rng) != estimate.sample(3, rng)).all()


def test_draws_of_a_matrix_have_its_covariance():
    X = RNG.multivariate_normal([0, 0], [[2.0, 1.5], [1.5, 2.0]], 500)
    estimate = DensityEstimate(Kernel(product=False)).fit(X)
    expected = np.cov(X.T, bias=True) + estimate.bandwidth_
    np.testing.assert_allclose(np.cov(estimate.sample(40_000).T), expected, rtol=0.05)


# ---------------------------------------------------------------------- neighbours


def test_neighbours_are_k_over_n_v_and_say_that_this_has_no_mass():
    X = RNG.normal(size=(200, 1))
    with pytest.warns(NoMassWarning, match="does not integrate to one"):
        estimate = DensityEstimate(Neighbors(20)).fit(X)
    queries = np.linspace(-2, 2, 9)
    reach = np.sort(np.abs(queries[:, None] - X[:, 0]), axis=1)[:, 19]
    found = np.exp(estimate.score_samples(queries[:, None]))
    np.testing.assert_allclose(found, 20 / (200 * 2 * reach))
    # The mass between R and 2 R does not fall with R, so that all of it is infinite.
    far = np.geomspace(1e4, 1e8, 5)
    heights = np.exp(estimate.score_samples(far[:, None])) * far
    np.testing.assert_allclose(heights, 20 / 400, rtol=1e-3)
    assert not hasattr(estimate, "sample")
    assert not hasattr(estimate, "cdf")
    assert estimate.score_samples(np.zeros((2, 1))).shape == (2,)


def test_coinciding_rows_have_an_infinite_neighbour_density():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    with pytest.warns(NoMassWarning):
        estimate = DensityEstimate(Neighbors(5)).fit(X)
    assert estimate.score_samples([[0.0]])[0] == np.inf
    assert np.isfinite(estimate.score_samples([[0.5]])[0])


# ---------------------------------------------------------------------- edges of the case


def test_other_densities_have_scores_too():
    X = RNG.normal(2.0, 3.0, size=(100, 1))
    estimate = DensityEstimate(Gaussian()).fit(X)
    expected = norm(X.mean(), X.std()).logpdf([0.0, 4.0])
    np.testing.assert_allclose(estimate.score_samples([[0.0], [4.0]]), expected, rtol=1e-9)
    assert not hasattr(estimate, "cdf")


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (Kernel(bandwidth="gain"), "between classes"),
        (Neighbors("cv"), "between classes"),
        (Profiled(), "no density"),
        (Kernel(bandwidth=0), "above zero"),
    ],
    ids=str,
)
def test_what_is_no_density_alone_is_refused(density, message):
    estimate = DensityEstimate(density)
    with pytest.raises(ValueError, match=message):
        estimate.fit(RNG.normal(size=(40, 1)))
    assert not hasattr(estimate, "n_features_in_")
    with pytest.raises(TypeError, match="must be a density"):
        DensityEstimate("kernel").fit(RNG.normal(size=(40, 1)))


def test_equal_rows_and_one_row_say_that_the_width_means_nothing():
    for X in (np.full((9, 1), 3.0), np.array([[3.0]])):
        with pytest.warns(SingularScatterWarning, match="does not vary"):
            estimate = DensityEstimate(Kernel()).fit(X)
        assert np.isfinite(estimate.score_samples(X)).all()
        given = DensityEstimate(Kernel(bandwidth=0.5)).fit(X)
        assert given.score_samples([[3.0]])[0] == pytest.approx(norm(3, 0.5).logpdf(3))


def test_far_values_heavy_ties_and_weights_of_zero():
    X = np.append(np.round(RNG.normal(size=2000), 1), 1e9)[:, None]
    for name in ("normal", "silverman", "cv_likelihood", "cv_squares", "sj", "isj", "nearest"):
        estimate = DensityEstimate(Kernel(bandwidth=name)).fit(X)
        assert estimate.bandwidth_[0] > 0
        assert np.isfinite(estimate.score_samples([[0.0], [1e9], [5e8]])).all()
    w = np.ones(2001)
    w[-1] = 0.0
    gone = DensityEstimate(Kernel()).fit(X, sample_weight=w)
    np.testing.assert_array_equal(gone.bandwidth_, DensityEstimate(Kernel()).fit(X[:-1]).bandwidth_)
    with pytest.raises(ValueError, match="weight"):
        DensityEstimate().fit(X, sample_weight=np.zeros(2001))


def test_frames_columns_and_wrong_questions():
    X = pd.DataFrame(RNG.normal(size=(50, 2)), columns=["a", "b"])
    estimate = DensityEstimate().fit(X)
    assert estimate.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="one column"):
        estimate.cdf(0.0)
    one = clone(estimate).fit(X[["a"]])
    with pytest.raises(ValueError, match="NaN"):
        one.cdf(np.nan)
    for n in (0, 1.5, "many"):
        with pytest.raises(ValueError, match="n_samples"):
            one.sample(n)
    one.fit(X[["a"]].to_numpy())
    assert not hasattr(one, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert one.score(X[["a"]].to_numpy()) < 0


def test_gaps_are_integrated_over_where_the_kernel_allows_it():
    X = RNG.normal(size=(80, 2))
    both, one = (
        DensityEstimate(Kernel(bandwidth=0.5)).fit(X),
        DensityEstimate(Kernel(bandwidth=0.5)).fit(X[:, [0]]),
    )
    np.testing.assert_allclose(
        both.score_samples([[0.3, np.nan]]), one.score_samples([[0.3]]), rtol=1e-6
    )
    with pytest.raises(ValueError, match="NaN"):
        DensityEstimate(Kernel("biweight", product=False)).fit(X).score_samples([[0.3, np.nan]])
