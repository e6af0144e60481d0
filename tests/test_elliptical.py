"""Elliptical densities against independent programs, closed forms, and the laws they must obey."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.stats import chi2, multivariate_t
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from bayesrule import BayesClassifier, Elliptical, Gaussian
from bayesrule.ellipses import Pull
from bayesrule.estimates import Wanted, estimate
from bayesrule.notices import (
    BayesRuleWarning,
    FewRowsWarning,
    KeptTuningWarning,
    NotConvergedWarning,
    SingularScatterWarning,
)
from bayesrule.stats import Sample
from bayesrule.subsets import White, densest_half

REFERENCES = json.loads(
    (Path(__file__).parent / "references" / "robust_scatters.json").read_text(encoding="utf-8")
)
TIGHT = {"tol": 1e-13, "max_iter": 2000}


def heavy(n=300, m=4, seed=0, dof=3.0):
    """Heavy-tailed, correlated rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m))
    return X * np.sqrt(dof / rng.chisquare(dof, (n, 1))) + rng.normal(size=m)


def classes(n=240, m=3, n_classes=3, seed=0):
    """Heavy-tailed classes apart from one another."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = np.empty((n, m))
    for k in range(n_classes):
        mine = y == k
        X[mine] = heavy(mine.sum(), m, seed + k) + 2.0 * k
    return X, y


def law(X, y=None, scatter="tyler", **settings):
    """The settled law of some rows, without a word."""
    y = np.zeros(len(X), int) if y is None else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        return BayesClassifier(Elliptical(scatter, **settings)).fit(X, y).log_density_


def squares(X, location, scatter):
    apart = X - location
    return np.einsum("ij,jk,ik->i", apart, np.linalg.inv(scatter), apart)


def shape(scatter):
    return scatter / np.trace(scatter)


# ---------------------------------------------------------------------- outside references


@pytest.mark.parametrize("case", REFERENCES, ids=lambda case: f"{np.shape(case['rows'])}")
def test_scatters_are_those_of_general_optimisers(case):
    X = np.array(case["rows"])
    tyler = law(X, scatter="tyler", **TIGHT)
    np.testing.assert_allclose(tyler.scatter[0], case["tyler"]["scatter"], rtol=1e-6, atol=1e-9)

    np.testing.assert_allclose(tyler.location[0], case["tyler"]["location"], rtol=1e-6)
    for expected, dof in zip(case["student"], (1.0, 4.0, "fitted"), strict=True):
        student = law(X, scatter="student", dof=dof, **TIGHT)
        np.testing.assert_allclose(student.location[0], expected["location"], rtol=1e-6)
        np.testing.assert_allclose(student.scatter[0], expected["scatter"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(student.dof, expected["dof"], rtol=1e-5)


def test_location_by_the_paper_solves_its_equation():
    X = heavy(400, 5)
    found = law(X, location_weights="1/t", **TIGHT)
    apart = X - found.location[0]
    t = squares(X, found.location[0], found.scatter[0])
    near = np.maximum(t, (0.01 + 5 / 400) * np.median(t))
    np.testing.assert_allclose((apart / near[:, None]).sum(axis=0), 0.0, atol=1e-8)
    share = 5 * (apart / t[:, None]).T @ apart / len(X)
    np.testing.assert_allclose(shape(share), shape(found.scatter[0]), atol=1e-9)


def test_hubers_scatter_solves_its_equation_and_is_the_covariance_of_gaussians():
    X = heavy(500, 4, dof=2.0)
    found = law(X, scatter="huber", **TIGHT)
    apart = X - found.location[0]
    t = squares(X, found.location[0], found.scatter[0])
    cut = chi2.ppf(0.9, 4)
    size = chi2.cdf(cut, 6) + cut * 0.1 / 4
    u = np.minimum(1.0, cut / t) / size
    np.testing.assert_allclose(
        (apart * u[:, None]).T @ apart / len(X), found.scatter[0], rtol=1e-8, atol=1e-8
    )
    v = np.minimum(1.0, np.sqrt(cut / t))
    np.testing.assert_allclose(v @ apart, 0.0, atol=1e-7)
    many = np.random.default_rng(0).normal(size=(200_000, 3))
    np.testing.assert_allclose(law(many, scatter="huber").scatter[0], np.eye(3), atol=0.02)


def test_sample_scatter_is_qda():
    X, y = classes()
    ours = BayesClassifier(Elliptical("sample", shrinkage=None)).fit(X, y)
    np.testing.assert_allclose(
        ours.log_density(X), BayesClassifier(Gaussian()).fit(X, y).log_density(X), atol=1e-9
    )
    tied = BayesClassifier(Elliptical("sample", tied=True)).fit(X, y)
    np.testing.assert_allclose(
        tied.log_density(X), BayesClassifier(Gaussian("tied")).fit(X, y).log_density(X), atol=1e-9
    )


def test_student_scores_have_their_constants():
    X, y = classes()
    clf = BayesClassifier(Elliptical("student")).fit(X, y)
    found = clf.log_density_
    assert np.ptp(found.dof) > 0.1
    expected = np.column_stack(
        [
            multivariate_t(loc, scatter, dof).logpdf(X)
            for loc, scatter, dof in zip(found.location, found.scatter, found.dof, strict=True)
        ]
    )
    np.testing.assert_allclose(clf.log_density(X), expected, atol=1e-9)


def test_femda_decides_by_the_papers_proposition():
    X, y = classes()
    clf = BayesClassifier(Elliptical("tyler"), priors="uniform").fit(X, y)
    found = clf.log_density_
    np.testing.assert_allclose(np.trace(found.scatter, axis1=1, axis2=2), 3.0)
    pairs = zip(found.location, found.scatter, strict=True)
    t = np.column_stack([squares(X, m, S) for m, S in pairs])
    paper = np.log(t) + np.linalg.slogdet(found.scatter)[1] / 3
    np.testing.assert_array_equal(clf.predict(X), paper.argmin(axis=1))


# ---------------------------------------------------------------------- laws of scatters


@pytest.mark.parametrize("scatter", ["tyler", "student", "sample", "huber", "mcd"])
@pytest.mark.parametrize("tied", [False, True])
def test_estimates_follow_affine_maps(scatter, tied):
    X, y = classes(300, 4)
    rng = np.random.default_rng(1)
    for A in (1e-3 * np.eye(4), np.diag([1e5, 1.0, 1e-5, 3.0]), rng.normal(size=(4, 4))):
        shift = A @ rng.normal(size=4)
        plain = law(X, y, scatter, tied=tied)
        moved = law(X @ A.T + shift, y, scatter, tied=tied)
        unit = np.sqrt(np.diag(A @ plain.scatter[0] @ A.T))
        back = np.array([A @ S @ A.T for S in plain.scatter]) / np.outer(unit, unit)
        got = moved.scatter / np.outer(unit, unit)
        if scatter == "tyler":
            back, got = (s / np.trace(s, axis1=1, axis2=2)[:, None, None] for s in (back, got))
        np.testing.assert_allclose(got, back, rtol=1e-10, atol=1e-10)
        expected = plain.location @ A.T + shift
        np.testing.assert_allclose(moved.location / unit, expected / unit, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(moved.row_weights, plain.row_weights, rtol=1e-7)


def test_scaling_each_rows_distance_leaves_tylers_scatter_given_the_location():
    rng = np.random.default_rng(0)
    X = heavy(200, 5)
    centre = np.median(X, axis=0)
    scaled = centre + np.exp(rng.normal(0.0, 2.0, (200, 1))) * (X - centre)
    codes, ones = np.zeros(200, np.int32), np.ones(200)
    wanted = Wanted(held=centre[None], tol=1e-14, max_iter=3000)
    one, two = (estimate(Sample(rows, codes, ones), 1, wanted) for rows in (X, scaled))
    np.testing.assert_array_equal(one.location[0], centre)
    np.testing.assert_allclose(shape(two.scatter[0]), shape(one.scatter[0]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scatter", ["tyler", "student", "huber", "sample", "mcd"])
def test_weights_are_repeats(scatter):
    X, y = classes(150, 3)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    by_weight = BayesClassifier(Elliptical(scatter, "gqda")).fit(X, y, weights)
    repeated = np.repeat(np.arange(len(y)), weights)
    by_hand = BayesClassifier(Elliptical(scatter, "gqda")).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(by_weight.log_density(X), by_hand.log_density(X), rtol=1e-7)
    each = by_weight.log_density_.row_weights
    np.testing.assert_allclose(
        np.repeat(each, weights[weights > 0]), by_hand.log_density_.row_weights, rtol=1e-6
    )


# In one column weights of 1 / t lead nowhere: each row is a solution, and the iteration says so.
@pytest.mark.filterwarnings("ignore:Location and scatter of class")
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("paper", ["1/sqrt(t)", "1/t"])
def test_few_columns(m, paper):
    X, y = classes(200, m, 2)
    clf = BayesClassifier(Elliptical("tyler", location_weights=paper)).fit(X, y)
    assert clf.score(X, y) > 0.6
    if m == 1 and paper == "1/sqrt(t)":
        # The equation of the location is that of the median.
        middle = [np.median(X[y == k]) for k in (0, 1)]
        spread = [np.diff(np.quantile(X[y == k], [0.45, 0.55]))[0] for k in (0, 1)]
        assert (np.abs(clf.log_density_.location[:, 0] - middle) < spread).all()


def test_the_floor_of_t_lets_no_row_hold_the_location():
    held = 0
    for draw in range(100):
        X = np.random.default_rng((2, 30, draw)).normal(size=(30, 2))
        found = law(X)
        v = 1.0 / np.sqrt(squares(X, found.location[0], found.scatter[0]))
        held += v.max() > 0.5 * v.sum()
    assert held <= 3


def test_wide_and_narrow_sweeps_settle_alike():
    from bayesrule import layouts

    X, y = classes(300, 6, 2)
    X[y == 1] = np.round(X[y == 1])
    X[(y == 1) & (np.arange(300) % 20 > 1), 2] = 0.0  # which no scatter can bear
    narrow = [law(X, y, s) for s in ("tyler", "student", "huber")]
    before = layouts.NARROW
    try:
        layouts.NARROW = 0
        wide = [law(X, y, s) for s in ("tyler", "student", "huber")]
    finally:
        layouts.NARROW = before
    for one, other in zip(narrow, wide, strict=True):
        np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.location, other.location, rtol=1e-7, atol=1e-9)


def test_far_rows_are_distrusted():
    X = heavy(200, 3, dof=30.0)
    X[:10] = X[:10] * 50.0 + 20.0
    for scatter in ("tyler", "student", "huber", "mcd"):
        weights = law(X, scatter=scatter).row_weights
        assert weights[:10].max() < 0.2
        assert weights.mean() == pytest.approx(1.0)
    assert (law(X, scatter="sample").row_weights == 1.0).all()


# ---------------------------------------------------------------------- degrees of freedom


def test_shared_and_fitted_degrees_are_most_likely():
    X, y = classes(400, 3, 2)

    def likelihood(dof):
        return law(X, y, "student", dof=dof, shrinkage=None)

    def total(found, of):
        parts = [
            multivariate_t(found.location[k], found.scatter[k], found.dof[k]).logpdf(X[y == k])
            for k in of
        ]
        return sum(part.sum() for part in parts)

    shared = law(X, y, "student", dof="shared", tol=1e-11, max_iter=2000)
    assert shared.dof[0] == shared.dof[1]
    best = total(shared, (0, 1))
    for factor in (0.9, 1.1):
        assert total(likelihood(float(shared.dof[0]) * factor), (0, 1)) < best
    fitted = law(X, y, "student")
    for k in (0, 1):
        for factor in (0.9, 1.1):
            other = total(likelihood(float(fitted.dof[k]) * factor), (k,))
            assert other < total(fitted, (k,))


def test_gaussian_rows_have_many_degrees_of_freedom():
    X = np.random.default_rng(3).uniform(-1, 1, (2000, 3))  # lighter than Gaussian
    assert law(X, scatter="student").dof[0] == pytest.approx(1e6)
    assert law(heavy(5000, 3, dof=5.0), scatter="student").dof[0] == pytest.approx(5.0, rel=0.15)


def test_student_em_maximises_the_likelihood_of_incomplete_rows():
    X = heavy(200, 3, dof=4.0)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[5] = np.nan
    clf = BayesClassifier(Elliptical("student", shrinkage=None, tol=1e-11, max_iter=5000))
    found = clf.fit(X, np.zeros(200)).log_density_

    def loss(location, scatter, dof):
        total = 0.0
        for row in X:
            there = ~np.isnan(row)
            if there.any():
                margin = multivariate_t(location[there], scatter[np.ix_(there, there)], dof)
                total -= margin.logpdf(row[there])
        return total

    location, scatter, dof = found.location[0], found.scatter[0], float(found.dof[0])
    least = loss(location, scatter, dof)
    for step in (1e-3, -1e-3):
        assert loss(location, scatter, dof * (1 + step)) >= least
        for j in range(3):
            at = np.eye(3)[j] * step
            assert loss(location + at, scatter, dof) >= least
            for i in range(j + 1):
                change = np.zeros((3, 3))
                change[i, j] = change[j, i] = step
                assert loss(location, scatter + change, dof) >= least
    np.testing.assert_allclose(clf.log_density(X).sum(), -least, rtol=1e-9)


def test_a_constant_column_with_gaps_tells_nothing():
    X, y = classes()
    flat = np.column_stack([X, np.full(len(y), 7.0)])
    flat[::3, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = BayesClassifier(Elliptical("student")).fit(flat, y)
    plain = BayesClassifier(Elliptical("student")).fit(X, y)
    np.testing.assert_allclose(clf.predict_proba(flat), plain.predict_proba(X), atol=1e-9)
    assert (clf.log_density_.location[:, 3] == 7.0).all()


def test_other_scatters_learn_from_complete_rows():
    X, y = classes()
    gaps = X.copy()
    gaps[:20, 1] = np.nan
    with pytest.warns(FewRowsWarning, match="20 of 240 rows.*scatter='student'"):
        clf = BayesClassifier(Elliptical("tyler"), priors="uniform").fit(gaps, y)
    rest = BayesClassifier(Elliptical("tyler"), priors="uniform").fit(X[20:], y[20:])
    np.testing.assert_array_equal(clf.log_density(X), rest.log_density(X))
    with pytest.raises(ValueError, match="Every row of X has a missing value"):
        BayesClassifier(Elliptical("tyler")).fit(gaps[:20], y[:20])


@pytest.mark.parametrize("rule", ["femda", "gqda", "gaussian", "student"])
def test_margins_of_a_missing_value(rule):
    X, y = classes(m=3)
    clf = BayesClassifier(Elliptical("student", rule)).fit(X, y)
    found = clf.log_density_
    gaps = X.copy()
    gaps[:, 1] = np.nan
    kept = [0, 2]
    t = np.column_stack(
        [
            np.einsum(
                "ij,jk,ik->i", d := X[:, kept] - m[kept], np.linalg.inv(S[np.ix_(kept, kept)]), d
            )
            for m, S in zip(found.location, found.scatter, strict=True)
        ]
    )
    size = np.linalg.slogdet(found.scatter[:, [[0], [2]], [[0, 2]]])[1]
    expected = {
        "femda": -np.log(t) - size / 2,
        "gqda": -t / 2 - found.threshold * size / 2,
        "gaussian": -t / 2 - size / 2 - np.log(2 * np.pi),
        "student": None,
    }[rule]
    if expected is None:
        expected = np.column_stack(
            [
                multivariate_t(m[kept], S[np.ix_(kept, kept)], v).logpdf(X[:, kept])
                for m, S, v in zip(found.location, found.scatter, found.dof, strict=True)
            ]
        )
    np.testing.assert_allclose(clf.log_density(gaps), expected, atol=1e-9)


# ---------------------------------------------------------------------- densest half


def test_densest_half_is_that_of_all_subsets():
    rng = np.random.default_rng(0)
    none = Pull(0.0, np.ones(2), np.zeros(2))
    for _ in range(5):
        X = rng.normal(size=(13, 2)) * rng.choice([1.0, 6.0], (13, 1))
        codes = np.zeros(13, int)
        white = White(X, np.ones(13), codes, 1, none, np.eye(2), np.zeros((2, 2)))
        h = int(white.half)
        found = densest_half(white, (X**2).sum(axis=1))
        assert found.sum() == white.half
        best = min(
            np.linalg.det(np.cov(X[list(some)].T, bias=True))
            for some in itertools.combinations(range(13), h)
        )
        got = np.linalg.det(np.cov(X.T, aweights=found, bias=True))
        assert got <= best * (1.0 + 1e-9)


def test_densest_half_sees_through_a_cluster_of_a_third():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:90] = rng.normal(0.0, 0.5, (90, 3)) + 10.0
    found = law(X, scatter="mcd")
    assert np.abs(found.location[0]).max() < 0.25
    assert found.row_weights[:90].max() == 0.0
    kept = found.row_weights > 0
    np.testing.assert_allclose(found.location[0], X[kept].mean(axis=0))
    np.testing.assert_allclose(
        shape(found.scatter[0]), shape(np.cov(X[kept].T)), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(found.scatter[0], np.eye(3), atol=0.35)


# ---------------------------------------------------------------------- few rows and hard rows


def test_few_rows_are_pulled_as_chen_wiesel_and_hero_say():
    X = heavy(25, 6)
    codes, ones = np.zeros(25, np.int32), np.ones(25)
    found = estimate(Sample(X, codes, ones), 1, Wanted(tol=1e-13, max_iter=1000))
    spread = np.diag(X.var(axis=0, ddof=1))
    share = found.shrinkage[0]
    assert 0 < share < 1
    # The share by the published formula, from unit vectors about the median in those units.
    location, unit = X.mean(axis=0), np.sqrt(np.diag(spread))
    for _ in range(3):
        z = (X - location) / unit
        lengths = np.linalg.norm(z, axis=1)
        plain = (z / lengths[:, None]).sum(axis=0) / (1 / lengths).sum()
        R = 6 / 25 * (z / lengths[:, None]).T @ (z / lengths[:, None])
        location = location + unit * plain / (1 - 1 / 6)
    R2 = np.sum(R**2)
    expected = (36 + (1 - 2 / 6) * R2) / ((36 - 25 * 6 - 50) + (26 + 2 * 24 / 6) * R2)
    assert share == pytest.approx(expected, rel=1e-3)
    apart = X - found.location[0]
    t = squares(X, found.location[0], found.scatter[0])
    F = (apart / t[:, None]).T @ apart
    target = np.trace(np.linalg.solve(spread, F)) / 6 * spread
    mixed = (1 - share) * F + share * target
    np.testing.assert_allclose(shape(mixed), shape(found.scatter[0]), atol=1e-8)


@pytest.mark.parametrize("scatter", ["tyler", "student", "sample", "huber", "mcd"])
def test_fewer_rows_than_columns_are_regularised_with_a_warning(scatter):
    rng = np.random.default_rng(0)
    m, per_class = 50, 40
    A = [rng.normal(size=(m, m)) / 7 + np.diag(rng.uniform(0.2, 2.0, m)) for _ in range(3)]
    means = rng.normal(size=(3, m))

    def draw(n):
        y = np.repeat(np.arange(3), n)
        X = np.concatenate(
            [rng.normal(size=(n, m)) @ a + mu for a, mu in zip(A, means, strict=True)]
        )
        return X * 1.0, y

    (X, y), (X_new, y_new) = draw(per_class), draw(400)
    clf = BayesClassifier(Elliptical(scatter))
    with pytest.warns(SingularScatterWarning, match="fewer rows than columns"):
        clf.fit(X, y)
    assert clf.score(X_new, y_new) > 0.8
    assert (clf.log_density_.shrinkage > 0).all()


@pytest.mark.parametrize("scatter", ["tyler", "student", "sample", "huber", "mcd"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    "hard",
    [
        "lone class",
        "constant column",
        "constant in a class",
        "equal columns",
        "duplicates",
        "subspace",
        "at the location",
        "all the same",
        "one column",
        "one row",
    ],
)
def test_hard_rows_are_answered(scatter, tied, hard):
    X, y = classes(120, 3)
    match hard:
        case "lone class":
            y = np.where(np.arange(120) == 0, 2, y % 2)
        case "constant column":
            X[:, 1] = 0.1
        case "constant in a class":
            X[y == 1, 1] = 0.1
        case "equal columns":
            X = np.column_stack([X, X[:, 0]])
        case "duplicates":
            X[:36] = X[0]
            y[:36] = y[0]
        case "subspace":
            X[np.arange(120) % 10 > 0, 2] = 5.0
        case "at the location":
            X = np.concatenate([X, [np.median(X[y == 0], axis=0)] * 3])
            y = np.append(y, [0, 0, 0])
        case "all the same":
            X[:] = X[0]
        case "one column":
            X = X[:, :1]
        case "one row":
            X, y = X[:1], y[:1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        clf = BayesClassifier(Elliptical(scatter, tied=tied)).fit(X, y)
        posterior = clf.predict_proba(X)
    assert np.isfinite(clf.log_density(X)).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    if hard not in ("all the same", "one row"):
        assert clf.score(X, y) > 0.5


def test_a_column_that_varies_by_rounding_alone_is_constant():
    X, y = classes(300, 3)
    mine = np.flatnonzero(y == 1)
    X[mine, 1] = 0.48 + np.where(mine % 2, 1e-17, 6e-17)
    assert np.ptp(X[mine, 1]) > 0
    with pytest.warns(SingularScatterWarning, match="class 1 "):
        BayesClassifier(Elliptical()).fit(X, y)


def test_doubtful_steps_warn_once_each():
    X, y = classes(120, 3)
    with pytest.warns(FewRowsWarning, match="class 2 .*all the same"):
        BayesClassifier(Elliptical()).fit(X, np.where(np.arange(120) == 0, 2, y % 2))
    X[y == 1, 1] = 0.1
    with pytest.warns(SingularScatterWarning, match="class 1 .*regularised"):
        BayesClassifier(Elliptical()).fit(X, y)
    X, y = classes(120, 3)
    for scatter in ("tyler", "student", "huber"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            BayesClassifier(Elliptical(scatter, max_iter=2, shrinkage=None)).fit(X, y)
        assert [w.category for w in caught] == [NotConvergedWarning]
        assert "Raise max_iter" in str(caught[0].message)


def test_nothing_is_pulled_where_rows_are_many():
    X, y = classes(600, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scatter in ("tyler", "student", "huber", "sample", "mcd"):
            clf = BayesClassifier(Elliptical(scatter)).fit(X, y)
            assert (clf.log_density_.shrinkage == 0.0).all()


def test_contamination_by_scale_costs_next_to_nothing():
    rng = np.random.default_rng(0)
    X, y = classes(3000, 5)
    X_new, y_new = classes(3000, 5, seed=0)
    far = rng.random(len(y)) < 0.25
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    X[far] = means[far] + 8.0 * (X[far] - means[far])
    for scatter in ("tyler", "student"):
        clean = BayesClassifier(Elliptical(scatter)).fit(X_new, y_new).score(X_new, y_new)
        assert BayesClassifier(Elliptical(scatter)).fit(X, y).score(X_new, y_new) > clean - 0.02


@pytest.mark.parametrize("scatter", ["student", "huber"])
def test_where_no_scatter_exists_rows_are_known_up_to_a_blur(scatter):
    X, y = classes(400, 3, 2)
    mine = np.flatnonzero(y == 1)
    X[mine[np.arange(len(mine)) % 20 > 0], 2] = 5.0  # more than a Student of any dof can bear
    with pytest.warns(SingularScatterWarning, match="class 1 .*subspace"):
        found = BayesClassifier(Elliptical(scatter, **TIGHT)).fit(X, y).log_density_
    spread = sum((X[y == k] - X[y == k].mean(axis=0)).T ** 2 @ np.ones(200) for k in (0, 1)) / 398
    share, apart = found.shrinkage[1], X[mine] - found.location[1]
    blur = 0.01 * np.diag(spread)
    S = found.scatter[1]
    t = squares(X[mine], found.location[1], S) + np.trace(np.linalg.solve(S, blur))
    if scatter == "student":
        u = (found.dof[1] + 3) / (found.dof[1] + t)
    else:
        cut = chi2.ppf(0.9, 3)
        u = np.minimum(1.0, cut / t) / (chi2.cdf(cut, 5) + cut * 0.1 / 3)
    F = ((apart * u[:, None]).T @ apart + u.sum() * blur) / len(mine)
    pulled = (1 - share) * F + share * np.mean(np.diag(F) / spread) * np.diag(spread)
    np.testing.assert_allclose(shape(pulled), shape(S), rtol=1e-6, atol=1e-9)
    assert found.iterations[1] < 2000
    if scatter == "student":  # whose size is the most likely one

        def likelihood(size):
            v = found.dof[1]
            return -1.5 * np.log(size) - (v + 3) / 2 * np.mean(np.log1p(t / size / v))

        assert likelihood(1.0) > max(likelihood(0.99), likelihood(1.01))


@pytest.mark.parametrize("scatter", ["student", "tyler"])
@pytest.mark.parametrize("share", [0.6, 0.7, 0.73, 0.8, 0.97])
def test_a_subspace_is_seen_to_hold_too_many_rows(scatter, share):
    # A Student of 4 degrees bears 6 / 7 of them in a plane, Tyler's scatter 2 / 3.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[: int(300 * share), 2] = 0.0
    bearable = 6 / 7 if scatter == "student" else 2 / 3
    one = Sample(X @ rng.normal(size=(3, 3)), np.zeros(300, np.int32), np.ones(300))
    found = estimate(one, 1, Wanted(scatter, dof=4.0, max_iter=500))
    assert found.repaired[0] == (share > bearable)
    assert not found.unsettled[0]


def test_rows_without_gaps_are_swept_alike_beside_rows_of_gaps():
    X, y = classes(300, 3, 2)
    X[(y == 1) & (np.arange(300) % 20 > 1), 2] = 0.0
    plain = law(X, y, "student", **TIGHT)
    gaps = np.concatenate([X, np.full((1, 3), np.nan)])
    beside = law(gaps, np.append(y, 1), "student", **TIGHT)
    assert plain.shrinkage[1] > 0
    np.testing.assert_allclose(beside.scatter, plain.scatter, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(beside.dof, plain.dof, rtol=1e-5)


# ---------------------------------------------------------------------- outlyingness


def test_outlyingness_is_on_the_scale_of_gaussian_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3)) @ rng.normal(size=(3, 3))
    for scatter in ("tyler", "student", "huber", "mcd"):
        clf = BayesClassifier(Elliptical(scatter)).fit(X, np.zeros(len(X)))
        out = clf.outlyingness(X)
        assert out.shape == (len(X), 1)
        assert stats.kstest(out[:, 0] ** 2, chi2(3).cdf).statistic < 0.02
        gaps = X.copy()
        gaps[:, 0] = np.nan
        assert stats.kstest(clf.outlyingness(gaps)[:, 0] ** 2, chi2(3).cdf).statistic < 0.02
    assert not hasattr(BayesClassifier().fit(X[:50], np.arange(50) % 2), "outlyingness")


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scatter": "cauchy"}, "scatter='cauchy'"),
        ({"rule": "qda"}, "rule='qda'"),
        ({"shrinkage": 1.5}, "shrinkage=1.5"),
        ({"dof": 0.0}, "dof=0.0"),
        ({"location_weights": "t"}, "location_weights='t'"),
        ({"threshold": -1.0}, "threshold=-1.0"),
        ({"threshold": (2.0, 1.0)}, r"threshold=\(2.0, 1.0\)"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"rule": "student"}, "no degrees of freedom"),
    ],
)
def test_settings_are_checked(settings, message):
    X, y = classes(30)
    with pytest.raises(ValueError, match=message):
        BayesClassifier(Elliptical(**settings)).fit(X, y)


def test_threshold_is_kept_by_another_rule_and_searched_under_class_shares_after_a_new_class():
    X, y = classes(200, 3, 2)
    clf = BayesClassifier(Elliptical("sample", "gqda"), priors=[0.9, 0.1]).fit(X, y)
    with pytest.warns(KeptTuningWarning):
        other = clf.with_rule(priors="uniform")
    assert other.log_density_.threshold == clf.log_density_.threshold
    grown = BayesClassifier(Elliptical("sample", "gqda"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        grown.partial_fit(X, y)
    grown.partial_fit(X + 9.0, np.full(len(y), 5))
    with pytest.warns(KeptTuningWarning, match="stated for 2 classes, but 3"):
        grown.predict(X)


def test_qda_of_scikit_learn_is_gqda_with_the_threshold_one():
    X, y = classes(400, 4)
    ours = BayesClassifier(Elliptical("sample", "gqda", threshold=1.0)).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    # They divide by n - 1.
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.99


@pytest.mark.parametrize("scatter", ["student", "tyler", "huber"])
@pytest.mark.parametrize("far", [1e2, 1e3, 1e5])
def test_one_row_however_far_out_changes_little(scatter: str, far: float) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(4.0, 1.0, (40, 2))])
    X[0] = far
    clf = BayesClassifier(Elliptical(scatter)).fit(X, np.repeat(["low", "high"], 40))
    assert np.abs(clf.log_density_.location[1]).max() < 0.5
    assert clf.predict([[0.5, 0.5], [3.5, 3.5]]).tolist() == ["low", "high"]
