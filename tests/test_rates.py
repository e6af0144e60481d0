"""Poisson, exponential, gamma and log-normal classes against scipy, and their own promises."""

from __future__ import annotations

import math
import warnings
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import digamma, gammaln

from bayesrule import Gaussian
from bayesrule.classifier import BayesClassifier
from bayesrule.conjugate import NormalInverseWishart
from bayesrule.notices import (
    BayesRuleWarning,
    FewRowsWarning,
    FractionalCountsWarning,
    SingularScatterWarning,
)
from bayesrule.positive import Gamma, LogNormal, gamma_shape
from bayesrule.rates import Exponential, GammaPrior, Poisson

PRIOR = GammaPrior(2.5, 0.7)
COUNTS = [Poisson(), Poisson(None), Poisson(PRIOR), Poisson(estimate="predictive")]
WAITS = [Exponential(), Exponential(PRIOR), Exponential(estimate="predictive")]
POSITIVE = [Gamma(), LogNormal(), LogNormal("unbiased"), LogNormal("predictive")]
EVERY = [*COUNTS, *WAITS, *POSITIVE]


def rows_of(density, n=90, seed=0):
    """Rows that suit a density, in three classes of uneven size."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3]))
    mean = np.array([[1.0, 4.0, 2.0], [2.0, 1.0, 2.5], [6.0, 3.0, 0.6]])[y]
    return (rng.poisson(mean) * 1.0 if density.whole else rng.gamma(2.0, mean)), y


def log_density(density, X, y, rows=None):
    """Log-densities (n, K) of rows under classes fitted to X."""
    return BayesClassifier(density).fit(X, y).log_density(X if rows is None else rows)


def sum_over_columns(logpdf, X, y, rows):
    """The same from a scipy law, given the values of a class and column."""
    parts = [[logpdf(X[y == k, j], rows[:, j]) for j in range(X.shape[1])] for k in np.unique(y)]
    return np.sum(parts, axis=1).T


# ---------------------------------------------------------------------- scipy's laws

LAWS_OF_SCIPY = {
    "poisson": (Poisson(None), lambda v, x: stats.poisson.logpmf(x, v.mean())),
    "half a count more": (
        Poisson(),
        lambda v, x: stats.poisson.logpmf(x, (v.sum() + 0.5) / len(v)),
    ),
    "poisson of a prior": (
        Poisson(PRIOR),
        lambda v, x: stats.poisson.logpmf(x, (v.sum() + 1.5) / (len(v) + 0.7)),
    ),
    "negative binomial": (
        Poisson(PRIOR, estimate="predictive"),
        lambda v, x: stats.nbinom.logpmf(x, v.sum() + 2.5, 1 - 1 / (len(v) + 0.7 + 1)),
    ),
    "exponential": (Exponential(), lambda v, x: stats.expon.logpdf(x, scale=v.mean())),
    "exponential of a prior": (
        Exponential(PRIOR),
        lambda v, x: stats.expon.logpdf(x, scale=(v.sum() + 0.7) / (len(v) + 1.5)),
    ),
    "lomax": (
        Exponential(PRIOR, estimate="predictive"),
        lambda v, x: stats.lomax.logpdf(x, len(v) + 2.5, scale=v.sum() + 0.7),
    ),
    "gamma": (Gamma(), lambda v, x: stats.gamma.logpdf(x, *stats.gamma.fit(v, floc=0))),
    "log-normal": (
        LogNormal(),
        lambda v, x: stats.lognorm.logpdf(x, *stats.lognorm.fit(v, floc=0)),
    ),
    "unbiased log-normal": (
        LogNormal("unbiased"),
        lambda v, x: stats.lognorm.logpdf(x, np.log(v).std(ddof=1), 0, np.exp(np.log(v).mean())),
    ),
}


@pytest.mark.parametrize("name", LAWS_OF_SCIPY)
def test_log_densities_are_those_of_scipy(name):
    density, logpdf = LAWS_OF_SCIPY[name]
    X, y = rows_of(density)
    rows = np.concatenate([X, 40 * X])
    expected = sum_over_columns(logpdf, X, y, rows)
    np.testing.assert_allclose(log_density(density, X, y, rows), expected, rtol=1e-9, atol=1e-9)


def test_log_student_is_the_predictive_law_of_logarithms():
    X, y = rows_of(LogNormal())
    prior = NormalInverseWishart()
    of_logs = log_density(Gaussian("diag", estimate="predictive", prior=prior), np.log(X), y)
    got = log_density(LogNormal("predictive", prior), X, y)
    np.testing.assert_allclose(got, of_logs - np.log(X).sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize(
    "density", [Poisson(PRIOR, "predictive"), Exponential(PRIOR, "predictive")]
)
def test_predictive_laws_average_over_the_rate(density):
    values = np.array([[3.0], [0.0], [4.0]])
    count = density.whole
    posterior = stats.gamma(2.5 + (7 if count else 3), scale=1 / (0.7 + (3 if count else 7)))
    law = stats.poisson.pmf if count else lambda x, rate: rate * math.exp(-rate * x)
    for x in (0.0, 2.0, 9.0):
        mean, _ = integrate.quad(lambda r, x=x: law(x, r) * posterior.pdf(r), 0, 60, epsabs=1e-13)
        got = np.exp(log_density(density, values, [0, 0, 0], [[x]]))
        np.testing.assert_allclose(got, mean, rtol=1e-8)


@pytest.mark.parametrize("total", [3.0, 40.0, 1e6, 1e13])
def test_negative_binomial_keeps_its_digits_for_any_number_of_events(total):
    # gamma(shape + 7) / gamma(shape) is a product of seven factors, with nothing to cancel.
    shape = total + 1.0
    rise = math.fsum(math.log((shape + i) / (2 * (i + 1))) for i in range(7))
    got = log_density(Poisson(None, "predictive"), [[total]], [0], [[7.0]])
    np.testing.assert_allclose(got, rise - shape * math.log(2), rtol=1e-13)
    prior = GammaPrior(shape, 1000.0)
    X, y = [[3.0, np.nan], [4.0, 1.0], [np.nan, np.nan]], [0, 0, 1]
    got = log_density(Poisson(prior, "predictive"), X, y, [[7.0, np.nan]])[0, 1]
    rise = math.fsum(math.log((shape + i) / (1001 * (i + 1))) for i in range(7))
    np.testing.assert_allclose(got, rise - shape * math.log1p(1e-3), rtol=1e-12)


@pytest.mark.parametrize("spread", [1e-9, 1e-6, 1e-4, 1e-2])
def test_gamma_shape_keeps_its_digits_for_any_spread(spread):
    values = 3e5 * np.array([1 - spread, 1 + spread])
    low, high = (Decimal(float(v)) for v in values)
    with localcontext() as context:
        context.prec = 60
        gap = float(((low + high) / 2).ln() - (low.ln() + high.ln()) / 2)
    clf = BayesClassifier(Gamma()).fit(values[:, None], [0, 0])
    # log a - digamma(a) = gap, its asymptotic series turned round.
    expected = 1 / (2 * gap) + 1 / 6 - gap / 18
    np.testing.assert_allclose(clf.log_density_.shape, expected, rtol=1e-6)


@pytest.mark.parametrize("shape", [1e-3, 0.2, 1.0, 7.0, 15.9, 16.1, 1e4])
def test_gamma_shape_solves_its_equation(shape):
    gap = np.array([math.log(shape) - digamma(shape)])
    np.testing.assert_allclose(gamma_shape(gap), shape, rtol=1e-8)


# ---------------------------------------------------------------------- mass, gaps and units


@pytest.mark.parametrize("density", COUNTS, ids=repr)
def test_probabilities_of_counts_sum_to_one(density):
    X, y = rows_of(density)
    every = np.arange(400.0)[:, None]
    mass = np.exp(log_density(density, X[:, :1], y, every)).sum(axis=0)
    np.testing.assert_allclose(mass, 1.0, rtol=1e-10)


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize("density", [*WAITS, *POSITIVE], ids=repr)
def test_densities_integrate_to_one(density, with_zeros):
    X, y = rows_of(density)
    X = X[:, :1]
    zeros = with_zeros and density in POSITIVE
    if zeros:
        X[::7] = 0.0
    clf = BayesClassifier(density).fit(X, y)
    for k in range(3):
        # Over log x, where even a heavy tail ends soon.
        mass, _ = integrate.quad(
            lambda u, k=k: math.exp(clf.log_density([[math.exp(u)]])[0, k] + u), -60, 60, limit=200
        )
        mass += math.exp(clf.log_density([[0.0]])[0, k]) if zeros else 0.0
        assert mass == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("density", EVERY, ids=repr)
def test_terms_sum_to_the_log_density_and_gaps_add_nothing(density):
    X, y = rows_of(density)
    X[::5, 1] = np.nan
    if density in POSITIVE:
        X[1::6, 2] = 0.0
    clf = BayesClassifier(density).fit(X, y)
    law, table = clf.log_density_, clf.density_.read(X, clf)
    assert law.factors
    terms = law.terms(table)
    np.testing.assert_allclose(terms.sum(axis=2), law(table), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(terms[::5, :, 1], 0.0)
    # Each column has its own count: its law is that of the rows where it has a value.
    there = ~np.isnan(X[:, 1])
    alone = log_density(density, X[there, 1:2], y[there])
    np.testing.assert_allclose(terms[there, :, 1], alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("density", [Exponential(), Exponential(None, "predictive"), *POSITIVE])
def test_a_change_of_units_is_its_jacobian(density, scale):
    X, y = rows_of(density)
    if density in POSITIVE:
        X[::9, 0] = 0.0
    widths = (X > 0).sum(axis=1, keepdims=True)
    if density not in POSITIVE:
        widths[:] = X.shape[1]
    moved = log_density(density, X * scale, y) + widths * math.log(scale)
    np.testing.assert_allclose(moved, log_density(density, X, y), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
@pytest.mark.parametrize("density", [Poisson(), Exponential(), Gamma(), LogNormal()], ids=repr)
def test_other_types_and_orders_of_numbers(density, dtype):
    X, y = rows_of(Poisson())
    expected = log_density(density, X, y)
    np.testing.assert_allclose(log_density(density, X.astype(dtype), y), expected, rtol=1e-12)
    np.testing.assert_array_equal(log_density(density, np.asfortranarray(X), y), expected)


# ---------------------------------------------------------------------- zeros


@pytest.mark.parametrize("density", [Gamma(), LogNormal()], ids=repr)
def test_zeros_are_an_event_of_their_own(density):
    X = np.array([[0.0], [0.0], [1.0], [2.0], [3.0], [5.0], [4.0], [0.0]])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    got = log_density(density, X, y, [[0.0], [2.5]])
    overall = 3.5 / 9
    share = np.array([(2 + overall) / 5, (1 + overall) / 5])
    np.testing.assert_allclose(got[0], np.log(share))
    plain = log_density(density, X[X[:, 0] > 0], y[X[:, 0] > 0], [[2.5]])[0]
    np.testing.assert_allclose(got[1], np.log(1 - share) + plain)


@pytest.mark.parametrize("density", [Gamma(), LogNormal()], ids=repr)
def test_a_zero_where_none_was_seen_says_nothing(density):
    X, y = rows_of(density)
    rows = X.copy()
    rows[:, 1] = 0.0
    gaps = X.copy()
    gaps[:, 1] = np.nan
    clf = BayesClassifier(density).fit(X, y)
    np.testing.assert_array_equal(clf.log_density(rows), clf.log_density(gaps))


# ---------------------------------------------------------------------- too little, too much


def test_rates_of_classes_without_an_event():
    X, y = [[0.0], [0.0], [3.0], [5.0]], [0, 0, 1, 1]
    assert BayesClassifier(Poisson()).fit(X, y).log_density_.rate.ravel().tolist() == [0.25, 4.25]
    strict = log_density(Poisson(None), X, y, [[0.0], [1.0]])
    assert strict[:, 0].tolist() == [0.0, -np.inf]
    with pytest.warns(SingularScatterWarning, match=r"classes \(numbers \[0\]"):
        clf = BayesClassifier(Exponential()).fit(X, y)
    # Half the mean of all, 2, over two rows.
    np.testing.assert_allclose(clf.log_density_.rate.ravel(), [2.0, 0.25])


@pytest.mark.parametrize("density", EVERY, ids=repr)
def test_a_class_without_values_in_a_column_does_as_all_classes_do(density):
    X, y = rows_of(density)
    X[y == 1, 0] = np.nan
    X[y == 2] = np.nan
    clf = BayesClassifier(density)
    scale_is_told = getattr(density, "prior", None) is PRIOR
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    named = [w for w in caught if w.category is FewRowsWarning]
    if density not in POSITIVE or density.get_params().get("estimate") != "predictive":
        assert len(named) == (0 if scale_is_told else 1)
    terms = clf.log_density_.terms(clf.density_.read(X, clf))
    assert np.isfinite(terms).all()
    assert np.isfinite(clf.predict_proba(rows_of(density)[0])).all()


def test_a_gap_is_filled_by_the_mean_of_all_classes():
    X = np.array([[1.0], [3.0], [8.0], [np.nan]])
    with pytest.warns(FewRowsWarning, match=r"columns \[0\]"):
        clf = BayesClassifier(Exponential()).fit(X, [0, 0, 1, 2])
    np.testing.assert_allclose(clf.log_density_.rate.ravel(), [1 / 2, 1 / 8, 1 / 4])


def test_gamma_borrows_spread():
    X, y = rows_of(Gamma())
    told = BayesClassifier(Gamma()).fit(X[y == 0], y[y == 0]).log_density_
    for values, kind in ([[6.0] * 3], FewRowsWarning), ([[6.0] * 3] * 4, SingularScatterWarning):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = BayesClassifier(Gamma()).fit(
                np.concatenate([X[y == 0], values]), [0] * (y == 0).sum() + [1] * len(values)
            )
        assert [w.category for w in caught] == [kind]
        law = clf.log_density_
        np.testing.assert_allclose(law.mean[1], 6.0)
        # The spread within classes: of the first, diluted by rows that have none.
        gap, n = np.log(told.shape) - digamma(told.shape), (y == 0).sum()
        within = gap[0] * n / (n + len(values))
        np.testing.assert_allclose(np.log(law.shape[1]) - digamma(law.shape[1]), within, rtol=1e-8)
        np.testing.assert_allclose(law.shape[0], told.shape[0])


@pytest.mark.parametrize("density", EVERY, ids=repr)
def test_a_constant_column_changes_nothing(density):
    X, y = rows_of(density)
    constant = np.column_stack([X, np.full(len(X), 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        terms = BayesClassifier(density).fit(constant, y)
        last = terms.log_density_.terms(terms.density_.read(constant, terms))[:, :, 3]
    # Posteriors of a prior differ a little, for classes of more rows are surer of the constant.
    assert np.ptp(last, axis=1).max() < (0.2 if density.get_params().get("prior") is None else 0.5)


@pytest.mark.parametrize("density", EVERY, ids=repr)
def test_extreme_numbers_give_no_nan(density):
    extreme = np.array([[5e-324, 1e-310, 1e-300, 1.0, 1e8, 1e300, 1.7e308]]).T
    extreme = np.floor(extreme) if density.whole else extreme
    X, y = rows_of(density)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        warnings.simplefilter("error", RuntimeWarning)
        for fitted, labels in (
            (X[:, :1], y),
            (extreme, [0, 0, 0, 1, 1, 1, 1]),
            (extreme[::-1], [0, 0, 1, 1, 2, 2, 2]),
        ):
            clf = BayesClassifier(density).fit(fitted, labels)
            rows = np.concatenate([extreme, X[:, :1]])
            values = clf.log_density(rows)
            assert (values < np.inf).all(), "NaN or plus infinity"
            assert np.isfinite(clf.predict_proba(rows)).all()


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("density", EVERY, ids=repr)
def test_negative_values_are_refused_by_the_name_of_their_column(density):
    X, y = rows_of(density)
    frame = pd.DataFrame(X, columns=["age", "visits", "cost"])
    bad = frame.copy()
    bad.loc[[3, 8], "visits"] = -1.0
    clf = BayesClassifier(density)
    match = r"Negative values in data.*'visits' \(2 rows\)"
    with pytest.raises(ValueError, match=match):
        clf.fit(bad, y)
    assert not hasattr(clf, "classes_")
    clf.fit(frame, y)
    with pytest.raises(ValueError, match=match):
        clf.predict(bad)


def test_fractions_are_no_counts():
    X, y = rows_of(Poisson())
    half = pd.DataFrame(X, columns=["age", "visits", "cost"])
    half.loc[:4, "cost"] += 0.5
    half.loc[7, "age"] = np.nan
    match = r"fractions in column 'cost' \(5 rows\).*Gamma or Exponential"
    with pytest.warns(FractionalCountsWarning, match=match):
        clf = BayesClassifier(Poisson()).fit(half, y)
    with pytest.warns(FractionalCountsWarning, match=match):
        got = clf.log_density(half)
    # The probabilities of counts, continued by the gamma function.
    rate, x = clf.log_density_.rate, half.to_numpy()[0]
    expected = (x * np.log(rate) - rate - gammaln(x + 1)).sum(axis=1)
    np.testing.assert_allclose(got[0], expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesClassifier(Poisson()).fit(X, y)


@pytest.mark.parametrize(
    ("density", "match"),
    [
        (Poisson(estimate="ml"), r"Poisson\(estimate='ml'\).*'map' or 'predictive'"),
        (Exponential(prior=2.0), r"Exponential\(prior=2.0\).*GammaPrior"),
        (LogNormal("mean"), "estimate='mean'"),
    ],
)
def test_unknown_settings_are_refused(density, match):
    with pytest.raises(ValueError, match=match):
        BayesClassifier(density).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(("shape", "rate"), [(0.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (1.0, np.inf)])
def test_priors_that_are_no_laws_are_refused(shape, rate):
    with pytest.raises(ValueError, match="GammaPrior"):
        GammaPrior(shape, rate)
