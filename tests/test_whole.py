"""Whole numbers: each column gets the law under which its rows are likelier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesrule import BayesClassifier, Gaussian, Whole
from bayesrule.rates import Poisson

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 400)
FRAME = pd.DataFrame(
    {
        "visits": RNG.poisson(1.0 + 2.0 * Y),
        "year": RNG.normal(1950 + 5 * Y, 10).round(),
        "accidents": RNG.poisson(0.3, 400),
    }
)
LAWS = ("Poisson()", "Gaussian(covariance='diag')", "Poisson()")


def test_the_likelier_law_is_chosen_for_each_column():
    clf = BayesClassifier(Whole()).fit(FRAME, Y)
    assert clf.density_.laws == LAWS
    likelihood = np.zeros((2, 3))
    for k in (0, 1):
        rows = FRAME[k == Y].to_numpy()
        likelihood[0] += stats.poisson.logpmf(rows, (rows.sum(0) + 0.5) / len(rows)).sum(0)
        likelihood[1] += stats.norm.logpdf(rows, rows.mean(0), rows.std(0)).sum(0)
    np.testing.assert_array_equal(likelihood[0] > likelihood[1], clf.density_.poisson)


def test_the_columns_add_up_as_if_fitted_apart():
    clf = BayesClassifier(Whole()).fit(FRAME, Y)
    parts = [
        BayesClassifier(density).fit(FRAME[names], Y).log_density(FRAME[names])
        for density, names in (
            (Poisson(), ["visits", "accidents"]),
            (Gaussian("diag"), ["year"]),
        )
    ]
    np.testing.assert_allclose(clf.log_density(FRAME), sum(parts), rtol=1e-12)
    terms = clf.log_density_.terms(clf.density_.read(FRAME, clf))
    np.testing.assert_allclose(terms.sum(axis=2), clf.log_density(FRAME), rtol=1e-12)
    alone = BayesClassifier(Gaussian("diag")).fit(FRAME[["year"]], Y).log_density(FRAME[["year"]])
    np.testing.assert_allclose(terms[:, :, 1], alone, rtol=1e-12)


def test_many_rows_are_judged_by_a_sample_and_counted_in_full():
    n = 120_000
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2  # a sample of every second row would see one class only
    X = np.c_[rng.poisson(1.0 + y), rng.integers(20, 80, n) + 5 * y].astype(float)
    clf = BayesClassifier(Whole()).fit(X, y)
    assert clf.density_.laws == LAWS[:2]
    assert clf.stats_.parts[0].weight.tolist() == [n / 2, n / 2]
    X[n - 1, 0] = 0.5  # one fraction, and it is no column of counts
    assert BayesClassifier(Whole()).fit(X, y).density_.laws == LAWS[1:2] * 2


def test_counts_must_stay_counts():
    clf = BayesClassifier(Whole()).fit(FRAME, Y)
    below = FRAME.assign(accidents=-FRAME["accidents"])
    n_below = (below["accidents"] < 0).sum()
    for call in (lambda: clf.predict(below), lambda: clf.partial_fit(below, Y)):
        with pytest.raises(ValueError, match=rf"negative .* 'accidents' \({n_below} rows\)"):
            call()
    earlier = FRAME.assign(year=-FRAME["year"])
    assert len(clf.predict(earlier)) == len(FRAME)  # years before Christ are years


def test_missing_counts_are_left_out():
    gappy = FRAME.astype(float)
    gappy.loc[::5, "visits"] = np.nan
    clf = BayesClassifier(Whole()).fit(gappy, Y)
    assert clf.density_.laws == LAWS
    row = FRAME[:1].astype(float).assign(visits=np.nan, year=np.nan)
    there = gappy["visits"].notna()
    rates = [gappy["visits"][there & (k == Y)] for k in (0, 1)]
    np.testing.assert_allclose(
        clf.log_density_.laws[0].rate[:, 0], [(r.sum() + 0.5) / len(r) for r in rates]
    )
    rate = [(FRAME["accidents"][k == Y].sum() + 0.5) / (k == Y).sum() for k in (0, 1)]
    expected = stats.poisson.logpmf(row["accidents"].iloc[0], rate)
    np.testing.assert_allclose(clf.log_density(row)[0], expected, rtol=1e-9)


def test_a_class_with_gaps_only_in_one_kind_of_column_is_not_ruled_out():
    frame = pd.concat([FRAME, FRAME[:30].assign(year=np.nan)]).astype(float)
    y = np.r_[Y, np.full(30, 2)]
    clf = BayesClassifier(Whole()).fit(frame, y)
    density = clf.log_density(FRAME)
    assert np.isfinite(density).all()
    without = clf.log_density(FRAME.astype(float).assign(year=np.nan))
    year = np.exp(density - without)
    np.testing.assert_allclose(year[:, 2], year[:, :2].mean(axis=1), rtol=1e-9)
