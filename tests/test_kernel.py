"""Kernel densities: against scipy, statsmodels, scikit-learn, closed forms and brute force."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

from bayesrule import (
    BayesClassifier,
    Columns,
    DensityEstimate,
    Gaussian,
    Kernel,
    load,
    recipes,
    save,
)
from bayesrule.bump_sum import BumpSum
from bayesrule.distinct import Points
from bayesrule.notices import BayesRuleWarning, FewRowsWarning, SingularScatterWarning
from bayesrule.shapes import SHAPES

RNG = np.random.default_rng(5)
NO_FACTORS = np.empty(0)


def log_density(density: Kernel, X: np.ndarray, queries: np.ndarray, weights=None) -> np.ndarray:
    """Of one class."""
    clf = BayesClassifier(density).fit(X, np.zeros(len(X)), weights)
    return clf.log_density(queries)[:, 0]


# ---------------------------------------------------------------------- references


def test_the_course_s_windows():
    X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    found = np.exp(log_density(Kernel("square", 4), X, np.array([[3.0], [10.0], [15.0]])))
    np.testing.assert_allclose(found, [0.075, 0.025, 0.125])


#: scikit-learn's names, and its bandwidth for our width of one.
PEERS = {
    "gaussian": ("gaussian", 1.0),
    "square": ("tophat", 0.5),
    "epanechnikov": ("epanechnikov", 1.0),
    "laplace": ("exponential", 1.0),
    "triangle": ("linear", 1.0),
    "cosine": ("cosine", 1.0),
}


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("name", PEERS)
def test_radial_kernels_are_scikit_learn_s(name, n_columns):
    X, queries = RNG.normal(size=(300, n_columns)), RNG.normal(size=(50, n_columns))
    weights = RNG.integers(1, 4, 300).astype(float)
    theirs, factor = PEERS[name]
    peer = KernelDensity(kernel=theirs, bandwidth=0.9 * factor, rtol=1e-12)
    expected = np.exp(peer.fit(X, sample_weight=weights).score_samples(queries))
    found = np.exp(log_density(Kernel(name, 0.9, product=False), X, queries, weights))
    if name == "cosine" and n_columns == 2:
        # scikit-learn's has another volume there, and does not integrate to one.
        expected *= found.sum() / expected.sum()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("product", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_two_columns_integrate_to_one(name, product):
    points = Points.of(np.array([[0.0, 0.0], [0.7, 0.2]]), np.array([1.0, 2.0]))
    bumps = BumpSum(SHAPES[name], product, points, np.array([0.5, 0.4]), NO_FACTORS)
    reach = 1.5 if np.isfinite(SHAPES[name].reach) else 20.0
    n = 601 if reach < 2 else 1601
    axis = (np.arange(n) + 0.5) / n * 2 * reach - reach
    grid = np.column_stack([a.ravel() for a in np.meshgrid(axis, axis)])
    mass = np.exp(bumps.log_density(grid)).sum() * (axis[1] - axis[0]) ** 2
    assert mass == pytest.approx(1.0, abs=0.02 if name == "square" else 1e-3)


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_full_gaussian_is_scipy_s(rule, n_columns):
    X = RNG.normal(size=(200, n_columns)) @ RNG.normal(size=(n_columns, n_columns))
    queries = X[:40] + 0.1
    peer = gaussian_kde(X.T, bw_method="scott" if rule == "scott" else "silverman")
    # What scipy calls by Silverman's name is the normal rule.
    ours = Kernel(bandwidth="scott" if rule == "scott" else "normal", product=False)
    np.testing.assert_allclose(log_density(ours, X, queries), peer.logpdf(queries.T), atol=1e-6)


def test_matrix_is_in_squared_units():
    X = RNG.normal(size=(100, 2))
    H = np.array([[0.5, 0.2], [0.2, 0.3]])
    apart = X[:, None] - X
    squares = np.einsum("abi,ij,abj->ab", apart, np.linalg.inv(H), apart)
    expected = np.exp(-0.5 * squares).mean(axis=1) / (2 * np.pi * np.sqrt(np.linalg.det(H)))
    found = np.exp(log_density(Kernel(bandwidth=H, product=False), X, X))
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def brute_force(shape, product, X, weights, widths, local, queries):
    """The definition, pair by pair."""
    out = []
    for x in queries:
        u = (x - X) / widths / local[:, None]
        if product:
            heights = shape.profile(np.abs(u)).prod(axis=1)
        else:
            heights = shape.profile(np.linalg.norm(u, axis=1))
        bumps = heights / np.prod(widths) / local ** X.shape[1]
        out.append(weights @ bumps / weights.sum())
    return np.array(out) / np.exp(shape.log_volume(X.shape[1], product))


@pytest.mark.parametrize(("product", "adaptive"), list(itertools.product([True, False], repeat=2)))
@pytest.mark.parametrize("name", SHAPES)
def test_every_kernel_is_its_definition(name, product, adaptive):
    shape = SHAPES[name]
    X = RNG.normal(size=(700, 2))  # three leaves
    weights, widths = RNG.integers(1, 5, 700).astype(float), np.array([0.3, 0.5])
    points = Points.of(X, weights)
    local = RNG.uniform(0.5, 2.0, 700) if adaptive else NO_FACTORS
    bumps = BumpSum(shape, product, points, widths, local)
    queries = np.concatenate([RNG.normal(size=(40, 2)), [[30.0, -20.0], [1e9, 0.0]]])
    ones = local if adaptive else np.ones(700)
    with np.errstate(divide="ignore"):
        expected = np.log(
            brute_force(shape, product, points.rows, points.weights, widths, ones, queries)
        )
    found = bumps.log_density(queries)
    told = np.isfinite(expected)
    np.testing.assert_allclose(found[told], expected[told], atol=2e-7)
    if math.isinf(shape.reach):  # a bump that never ends has a density everywhere
        assert np.isfinite(found).all()
    else:
        assert (found[~told] == -np.inf).all()


@pytest.mark.parametrize("name", SHAPES)
def test_kernels_integrate_and_draw_what_they_say(name):
    shape = SHAPES[name]
    volume = math.exp(shape.log_volume(1, True))
    end = min(shape.reach, 60.0)
    for z in (-0.9, -0.3, 0.2, 0.45):
        mass, _ = quad(
            lambda u: float(shape.profile(np.array(abs(u)))), max(-end, -60), z, limit=300
        )
        assert shape.distribution(np.array([z]))[0] == pytest.approx(mass / volume, abs=1e-6)
    rng = np.random.default_rng(0)
    for n_columns, product in ((1, True), (3, True), (3, False)):
        draws = shape.draw(100_000, n_columns, product, rng)
        np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=0.03)
        np.testing.assert_allclose(draws.var(axis=0), shape.variance(n_columns, product), rtol=0.03)


def test_canonical_widths():
    # Marron and Nolan (1988): 1.7188 for the parabola, 2.0362, 2.3122, 1.3510 for |u| <= 1.
    gauss = 0.7764
    for name, delta in (
        ("epanechnikov", 1.7188),
        ("biweight", 2.0362),
        ("triweight", 2.3122),
        ("square", 2 * 1.3510),
    ):
        assert SHAPES[name].width_beside_gaussian(1, True) == pytest.approx(delta / gauss, rel=1e-3)


# ---------------------------------------------------------------------- exact and fast


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_many_points_are_summed_exactly_also_far_out(n_columns):
    rng = np.random.default_rng(n_columns)
    X = np.concatenate([rng.normal(size=(3000, n_columns)), 40 + rng.normal(size=(50, n_columns))])
    queries = np.concatenate([X[::100], 8 + rng.normal(size=(40, n_columns)), X[:3] + 100.0])
    width = 0.2
    squares = ((queries[:, None] - X) ** 2).sum(axis=2) / (2 * width**2)
    least = squares.min(axis=1)
    expected = np.log(np.exp(least[:, None] - squares).mean(axis=1)) - least
    expected -= n_columns * math.log(width * math.sqrt(2 * math.pi))
    assert expected.min() < -1000
    found = log_density(Kernel(bandwidth=width), X, queries)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_expansions_on_a_line_are_the_sum():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=20_000), 9 + 0.1 * rng.normal(size=500), [1e9]])[:, None]
    bumps = BumpSum(
        SHAPES["gaussian"], True, Points.of(X, np.ones(len(X))), np.array([0.05]), NO_FACTORS
    )
    assert bumps.cells is not None
    queries = np.concatenate([np.linspace(-7, 12, 2001), [1e9 - 0.1, 5e8, -1e12]])[:, None]
    by_point = bumps.log_sums(bumps.places(queries))
    constant = bumps.log_height - math.log(len(X))
    np.testing.assert_allclose(bumps.log_density(queries), by_point + constant, atol=1e-6)
    by_point = bumps.log_sums(bumps.places(bumps.points.rows), np.arange(len(X)))
    constant = bumps.log_height - math.log(len(X) - 1)
    np.testing.assert_allclose(bumps.left_out(), by_point + constant, atol=1e-6)


@pytest.mark.parametrize("shape", ["gaussian", "epanechnikov", "logistic"])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_left_out_is_a_fit_without_the_point(shape, n_columns):
    X = RNG.normal(size=(300, n_columns))
    points = Points.of(X, RNG.integers(1, 4, 300).astype(float))
    width = np.full(n_columns, 0.8)
    found = BumpSum(SHAPES[shape], True, points, width, NO_FACTORS).left_out()
    for i in (0, 7, 150, 299):
        others = Points(np.delete(points.rows, i, 0), np.delete(points.weights, i))
        bumps = BumpSum(SHAPES[shape], True, others, width, NO_FACTORS)
        assert found[i] == pytest.approx(bumps.log_density(points.rows[i : i + 1])[0], abs=1e-6)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30),
    st.floats(1e-2, 1e2),
    st.sampled_from(sorted(SHAPES)),
)
@settings(max_examples=60, deadline=None)
def test_distribution_functions_rise_from_zero_to_one(values, width, name):
    points = Points.of(np.array(values)[:, None], np.ones(len(values)))
    bumps = BumpSum(SHAPES[name], True, points, np.array([width]), NO_FACTORS)
    far = 100.0 * width
    at = np.array([min(values) - far, *sorted(values), max(values) + far])
    shares = bumps.distribution(at)
    assert (np.diff(shares) >= -1e-12).all()
    assert shares[0] == pytest.approx(0.0, abs=1e-6)
    assert shares[-1] == pytest.approx(1.0, abs=1e-6)


# ---------------------------------------------------------------------- as a density


def test_adaptive_bumps_are_abramson_s():
    X = RNG.gamma(1.0, 1.0, size=(200, 1))
    pilot = np.exp(log_density(Kernel(bandwidth=0.3), X, X))
    local = 0.3 * np.sqrt(np.exp(np.log(pilot).mean()) / pilot)
    queries = np.linspace(-1, 8, 50)
    z = (queries[:, None] - X[:, 0]) / local
    expected = (np.exp(-0.5 * z**2) / local / math.sqrt(2 * math.pi)).mean(axis=1)
    found = np.exp(log_density(Kernel(bandwidth=0.3, adaptive=True), X, queries[:, None]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_independent_columns_are_products_of_single_ones():
    X, y = RNG.normal(size=(80, 3)), RNG.integers(0, 2, 80)
    X[3, 1] = np.nan
    clf = BayesClassifier(Kernel("biweight", 2.0, joint=False)).fit(X, y)
    parts = 0.0
    for j in range(3):
        known = ~np.isnan(X[:, j])
        one = BayesClassifier(Kernel("biweight", 2.0)).fit(X[known][:, [j]], y[known])
        parts = parts + one.log_density(X[:10, [j]] * 0.5)
    filled = np.nan_to_num(X[:10] * 0.5, nan=0.0)
    gone = one.log_density(filled[:, [2]])  # any: compared without the row that has a gap
    assert gone.shape == (10, 2)
    rows = np.delete(np.arange(10), 3)
    np.testing.assert_allclose(clf.log_density(X[rows] * 0.5), parts[rows], atol=1e-9)
    assert clf.contributions(X[:4]).shape == (4, 2, 3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "laplace"])
@pytest.mark.parametrize("bandwidth", ["silverman", "cv_likelihood", "gain"])
def test_gaps_in_the_only_column_are_rows_that_are_not_there(bandwidth, kernel):
    y = np.arange(90) % 2
    X = RNG.normal(y, 1.0)[:, None]
    X[::7] = np.nan
    there = ~np.isnan(X[:, 0])
    density, queries = Kernel(kernel, bandwidth), np.array([[-1.0], [0.5], [2.0], [np.nan]])
    gaps = BayesClassifier(density, "uniform").fit(X, y)
    whole = BayesClassifier(density, "uniform").fit(X[there], y[there])
    np.testing.assert_allclose(gaps.log_density(queries), whole.log_density(queries), rtol=1e-12)
    # A class that has none does as all rows together do; a column that has none says nothing.
    X[y == 1] = np.nan
    one = BayesClassifier(Kernel(), "uniform").fit(X, y)
    np.testing.assert_allclose(one.predict_proba(queries), 0.5)
    none = BayesClassifier(Columns({0: Kernel()})).fit(np.c_[X * np.nan, RNG.normal(size=90)], y)
    np.testing.assert_allclose(
        none.log_density([[0.5, 1.0]]), none.log_density([[-9.0, 1.0]]), rtol=1e-12
    )


def test_gaps_in_a_joint_fit_are_said():
    X, y = RNG.normal(size=(30, 2)), np.repeat([0, 1], 15)
    X[2, 0] = np.nan
    with pytest.warns(FewRowsWarning, match="1 of 30 distinct rows"):
        clf = BayesClassifier(Kernel()).fit(X, y)
    whole = np.delete(np.arange(30), 2)
    expected = BayesClassifier(Kernel()).fit(X[whole], y[whole]).log_density(X[5:9])
    np.testing.assert_allclose(clf.log_density(X[5:9]), expected)
    with pytest.raises(ValueError, match="Every row"):
        BayesClassifier(Kernel()).fit(np.full((4, 2), np.nan), [0, 0, 1, 1])


def test_lone_and_flat_classes_borrow_and_say_so():
    X, y = RNG.normal(size=(40, 2)), np.repeat([0, 1], 20)
    lone = y.copy()
    lone[0] = 2
    with pytest.warns(FewRowsWarning, match="one distinct row"):
        clf = BayesClassifier(Kernel()).fit(X, lone)
    assert (clf.log_density_.bandwidths[2] > 0).all()
    flat = X.copy()
    flat[y == 1, 0] = 3.0
    with pytest.warns(SingularScatterWarning, match="do not vary"):
        assert np.isfinite(BayesClassifier(Kernel()).fit(flat, y).predict_proba(flat)).all()


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (Kernel(bandwidth=0), "above zero"),
        (Kernel(bandwidth=-1.0), "above zero"),
        (Kernel(bandwidth=np.nan), "above zero"),
        (Kernel(bandwidth=[1.0, 2.0, 3.0]), "one per column"),
        (Kernel(bandwidth=np.eye(2)), "product=False"),
        (Kernel(bandwidth=-np.eye(2), product=False), "positive definite"),
        (Kernel(bandwidth="sj"), "single columns"),
        (Kernel(bandwidth="best"), "is not known"),
        (Kernel("gauss"), "is not known"),
        (Kernel(adaptive="yes"), "is not known"),
    ],
    ids=repr,
)
def test_settings_that_cannot_be_are_refused(density, message):
    with pytest.raises(ValueError, match=message):
        BayesClassifier(density).fit(RNG.normal(size=(20, 2)), np.repeat([0, 1], 10))


def test_gain_chooses_by_the_rule_it_is_given():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(0, 1, 300), rng.normal(0, 6, 300)])[:, None]
    y = np.repeat(["near", "far"], 300)
    costly = {"near": {"near": 0, "far": -1}, "far": {"near": -30, "far": 0}}
    plain = BayesClassifier(Kernel(bandwidth="gain")).fit(X, y)
    dear = BayesClassifier(Kernel(bandwidth="gain"), gain=costly).fit(X, y)
    rng = np.random.default_rng(4)
    new = np.concatenate([rng.normal(0, 1, 5000), rng.normal(0, 6, 5000)])[:, None]
    truth = np.repeat(["near", "far"], 5000)

    def earned(clf):
        return np.mean([costly[t][d] for t, d in zip(truth, clf.predict(new), strict=True)])

    assert earned(dear) > earned(plain)
    narrow = BayesClassifier(Kernel(bandwidth=0.01), gain=costly).fit(X, y)
    assert earned(dear) > earned(narrow)
    assert plain.score(new, truth) > 0.75


def test_recipes_and_columns(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    y = np.repeat(["edge", "middle"], 100)
    size = np.where(y == "edge", 5 * np.sign(rng.normal(size=200)), 0.0) + rng.normal(size=200)
    X = pd.DataFrame({"size": size, "kind": rng.choice(["a", "b"], 200)})
    clf = recipes.kernel_bayes().fit(X, y)
    bells = BayesClassifier(Columns(numbers=Gaussian("diag"))).fit(X, y)
    assert clf.score(X, y) > bells.score(X, y)
    save(clf, tmp_path / "model.bayes")
    np.testing.assert_array_equal(
        load(tmp_path / "model.bayes").predict_proba(X), clf.predict_proba(X)
    )
    parzen = recipes.parzen().fit(X[["size"]], y)
    assert parzen.score(X[["size"]], y) > 0.95


# ---------------------------------------------------------------------- edges of the case


def test_far_tails_have_a_density():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    for kernel, width in (("gaussian", 0.1), ("logistic", 0.05), ("laplace", 0.05)):
        estimate = DensityEstimate(Kernel(kernel, width)).fit(X)
        top = X.max()
        far = np.array([top + d for d in (0.5, 1.1, 3.0, 30.0, 1e6)])
        shape = SHAPES[kernel]
        found = estimate.score_samples(far[:, None])
        assert np.isfinite(found).all()
        assert (np.diff(found) < 0).all()
        near = shape.profile((far[:3, None] - X[:, 0]) / width).mean(axis=1)
        expected = np.log(near) - math.log(width) - shape.log_volume(1, True)
        told = near > 1e-300
        assert expected[told].min() < -58
        np.testing.assert_allclose(found[:3][told], expected[told], rtol=1e-6)


def test_memory_does_not_grow_with_points_times_queries():
    import tracemalloc

    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(20_000, 3)), rng.normal(size=(20_000, 3))
    for density in (Kernel("epanechnikov", 0.1), Kernel("biweight", 0.1, adaptive=True)):
        estimate = DensityEstimate(density).fit(X)
        estimate.score_samples(queries[:10])
        tracemalloc.start()
        estimate.score_samples(queries)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6  # all pairs would take 3.2e9


def test_constant_columns_and_one_far_row():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=60), np.full(60, 7.0)])
    X[0, 0] = 1e9
    y = np.repeat([0, 1], 30)
    for density in (
        Kernel(),
        Kernel("biweight", "silverman"),
        Kernel(bandwidth="cv_likelihood"),
        Kernel(bandwidth="gain"),
        Kernel(bandwidth="sj", joint=False),
        Kernel(bandwidth="silverman", product=False),
        Kernel(adaptive=True),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesRuleWarning)
            clf = BayesClassifier(density).fit(X, y)
            assert np.isfinite(clf.predict_proba(X)).all()


def test_a_row_without_weight_is_as_if_it_were_not_there():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    weights = rng.integers(0, 2, 40).astype(float)
    weights[:2], weights[20:22] = 1.0, 1.0
    for bandwidth in ("normal", "cv_likelihood", "gain"):
        clf = BayesClassifier(Kernel(bandwidth=bandwidth)).fit(X, y, weights)
        fewer = BayesClassifier(Kernel(bandwidth=bandwidth)).fit(X[weights > 0], y[weights > 0])
        np.testing.assert_allclose(clf.predict_proba(X), fewer.predict_proba(X), atol=1e-12)
