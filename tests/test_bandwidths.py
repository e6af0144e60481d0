"""Bandwidths by rule and by search: against R, KDEpy, and the definitions worked out by hand."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from bayesrule import BayesClassifier, DensityEstimate, Kernel
from bayesrule.bandwidths import left_out_score
from bayesrule.distinct import Points
from bayesrule.notices import BayesRuleWarning

REFERENCES = Path(__file__).parent / "references"


def table(name: str) -> dict[str, dict[str, str]]:
    """Rows of a stored table, by the name of the set."""
    with (REFERENCES / name).open() as file:
        next(file)  # who wrote it
        return {line["set"]: line for line in csv.DictReader(file)}


R = table("bandwidths.csv")
KDEPY = table("kdepy_isj.csv")


def bandwidth(name, values, weights=None, **settings) -> float:
    X = np.asarray(values, float)[:, None]
    return DensityEstimate(Kernel(bandwidth=name, **settings)).fit(X, None, weights).bandwidth_[0]


def values_of(name: str) -> np.ndarray:
    return np.array(R[name]["values"].split(), float)


# ---------------------------------------------------------------------- other programs


@pytest.mark.parametrize("name", R)
def test_silverman_and_sheather_jones_are_r_s(name):
    values = values_of(name)
    assert bandwidth("silverman", values) == pytest.approx(float(R[name]["nrd0"]), rel=1e-6)
    assert bandwidth("sj", values) == pytest.approx(float(R[name]["sj"]), rel=1e-4)


@pytest.mark.parametrize("name", ["skewed", "two_humps"])
def test_cross_validated_squares_are_r_s_where_no_values_are_tied(name):
    # R divides the sum over pairs by n^2 and not by n (n - 1): they part by about 1 / n.
    found = bandwidth("cv_squares", values_of(name))
    assert found == pytest.approx(float(R[name]["ucv"]), rel=0.05)


@pytest.mark.parametrize("name", KDEPY)
def test_the_improved_rule_is_kdepy_s(name):
    expected = float(KDEPY[name]["isj"]) * float(KDEPY[name]["grid_over_range"])
    assert bandwidth("isj", values_of(name)) == pytest.approx(expected, rel=0.03)


# ---------------------------------------------------------------------- definitions


def left_out_by_hand(values, h):
    """Density at each value by the others, Gaussian bumps."""
    z = (values[:, None] - values) / h
    bumps = np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / h
    np.fill_diagonal(bumps, 0.0)
    return bumps.sum(axis=1) / (len(values) - 1)


def test_cross_validation_finds_the_best_of_its_definition():
    values = np.random.default_rng(0).normal(size=120) ** 3
    spread = bandwidth("silverman", values)

    def likelihood(log_h):
        return -np.log(left_out_by_hand(values, math.exp(log_h))).mean()

    def squares(log_h):
        h = math.exp(log_h)
        z = (values[:, None] - values) / h
        roughness = np.exp(-0.25 * z * z).mean() / (2 * math.sqrt(math.pi) * h)
        return roughness - 2 * left_out_by_hand(values, h).mean()

    for name, loss in (("cv_likelihood", likelihood), ("cv_squares", squares)):
        grid = np.log(spread * np.geomspace(0.03, 3, 200))
        start = grid[np.argmin([loss(x) for x in grid])]
        best = minimize_scalar(loss, bounds=(start - 0.1, start + 0.1), method="bounded")
        found = bandwidth(name, values)
        assert loss(math.log(found)) <= best.fun + 1e-4 * abs(best.fun)


def test_squares_estimate_the_integrated_squared_error():
    # Up to the integral of the squared true density: of many draws, so that the mean shows it.
    rng = np.random.default_rng(1)
    scores, errors = [], []
    for _ in range(60):
        values = np.sort(rng.normal(size=200))
        points = Points.of(values[:, None], np.ones(200))
        at = []
        for h in (0.1, 0.4):
            score = left_out_score("cv_squares", points, np.array([h]), 1.0)
            at.append(-score / (math.sqrt(2 * math.pi) * h))

            def error(x, h=h, values=values):
                p = np.exp(-0.5 * ((x - values) / h) ** 2).mean() / math.sqrt(2 * math.pi) / h
                return (p - math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)) ** 2

            at.append(quad(error, -5, 5, limit=200)[0])
        scores.append(at[0] - at[2])
        errors.append(at[1] - at[3])
    margin = 4 * np.std(np.subtract(scores, errors)) / math.sqrt(60)
    assert np.mean(scores) == pytest.approx(np.mean(errors), abs=margin)
    assert margin < 0.5 * abs(np.mean(errors))


@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_rules_are_their_formulas(n_columns):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, n_columns)) * np.arange(1, n_columns + 1) * 1e-3
    s, D = X.std(axis=0, ddof=1), n_columns
    expected = {
        "scott": s * 80 ** (-1 / (D + 4)),
        "normal": (4 / (D + 2)) ** (1 / (D + 4)) * s * 80 ** (-1 / (D + 4)),
    }
    for name, width in expected.items():
        found = DensityEstimate(Kernel(bandwidth=name)).fit(X).bandwidth_
        np.testing.assert_allclose(found, width)
        # A matrix has the covariance's shape, in squared units.
        whole = DensityEstimate(Kernel(bandwidth=name, product=False)).fit(X).bandwidth_
        if D > 1:
            factor = (width / s)[0]
            np.testing.assert_allclose(whole, np.cov(X.T) * factor**2)
    assert expected["normal"][0] / s[0] == pytest.approx(1.06 * 80**-0.2, rel=1e-3) or D > 1


def test_the_distance_to_near_points_by_hand():
    values = np.random.default_rng(3).normal(size=100)
    near = np.sort(np.abs(values[:, None] - values), axis=1)[:, 10]  # the point itself is first
    assert bandwidth("nearest", values) == pytest.approx(np.sort(near)[49], rel=1e-9)


@pytest.mark.parametrize("name", ["normal", "silverman", "cv_likelihood", "cv_squares", "sj"])
def test_a_kernel_of_another_shape_smooths_as_much(name):
    values = np.random.default_rng(4).normal(size=300)
    ratio = bandwidth(name, values, kernel="square") / bandwidth(name, values)
    assert ratio == pytest.approx(2 * 1.3510 / 0.7764, rel=1e-3)


# ---------------------------------------------------------------------- which rows they see

SELECTORS = ["normal", "scott", "silverman", "cv_likelihood", "cv_squares", "nearest", "sj", "isj"]


@pytest.mark.parametrize("name", SELECTORS)
def test_bandwidths_go_with_the_units(name):
    values = np.random.default_rng(5).gamma(2.0, size=150)
    one = bandwidth(name, values)
    assert bandwidth(name, 1e6 * values) == pytest.approx(1e6 * one, rel=1e-3)
    assert bandwidth(name, 1e-6 * values + 5.0) == pytest.approx(1e-6 * one, rel=1e-2)


@pytest.mark.parametrize("name", SELECTORS)
def test_weights_are_repetitions_and_none_is_absence(name):
    rng = np.random.default_rng(6)
    values, weights = rng.normal(size=80), rng.integers(0, 4, 80).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    found = bandwidth(name, values, weights)
    assert found == pytest.approx(bandwidth(name, repeated), rel=1e-9)


@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0.0, 1.0], [50, 50]),
        np.repeat([0.0, 1.0, 2.0], [1, 98, 1]),
        np.round(np.random.default_rng(7).normal(size=500)),
        np.repeat(np.random.default_rng(8).normal(size=30), 20),
        np.append(np.random.default_rng(9).normal(size=200), 1e9),
        np.array([1.0, 2.0]),
        np.full(7, 4.0),
        np.array([4.0]),
    ],
    ids=["two", "mostly one", "whole", "copies", "far", "pair", "equal", "one row"],
)
def test_no_selector_returns_nothing(name, values):
    width = bandwidth(name, values)
    assert math.isfinite(width)
    gaps = np.diff(np.unique(values))
    if len(gaps):
        # As narrow, bumps would leave nothing between one value and the next.
        assert width > 1e-3 * np.median(gaps)


def test_classes_share_a_bandwidth_or_have_their_own():
    rng = np.random.default_rng(10)
    X = np.concatenate([rng.normal(0, 1, 200), rng.normal(9, 5, 50)])[:, None]
    y = np.repeat([0, 1], [200, 50])
    for name in SELECTORS:
        own = BayesClassifier(Kernel(bandwidth=name)).fit(X, y).log_density_.bandwidths
        assert own[1][0] > 2 * own[0][0]
        shared = BayesClassifier(Kernel(bandwidth=name, shared=True)).fit(X, y)
        one, other = shared.log_density_.bandwidths
        np.testing.assert_allclose(one, other)
        np.testing.assert_allclose(own[0], bandwidth(name, X[:200, 0]))


def test_a_search_says_that_it_had_no_solution():
    with pytest.warns(BayesRuleWarning, match="no solution"):
        bandwidth("isj", [0.0, 1.0, 2.0])
