"""Profiles as a density: the equations of the paper, Bayes' rule, hard cases."""

from __future__ import annotations

import tracemalloc
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bayesrule import (
    BayesClassifier,
    FuzzyProfiles,
    KMeansProfiles,
    Profiled,
    evaluate,
    loss,
    recipes,
)
from bayesrule.notices import FewRowsWarning, PreparedOnChunkWarning


def rows(seed: int = 0, n: int = 200, d: int = 3, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(k, d))[y], y


def fuzzy(X: np.ndarray, centres: np.ndarray, m: float) -> np.ndarray:
    """Equation (10), as it is written."""
    apart = cdist(X, centres)
    return 1.0 / ((apart[:, :, None] / apart[:, None, :]) ** (2 / (m - 1))).sum(axis=2)


def paper_posterior(U: np.ndarray, y: np.ndarray, V: np.ndarray, priors: np.ndarray) -> np.ndarray:
    """Equations (2) or (11), then (12) under zero-one losses; U of the training rows, V of new."""
    p = np.array([U[y == k].mean(axis=0) for k in range(len(priors))])
    posterior = priors[:, None] * p / (priors @ p)
    return V @ posterior.T


def test_example_1_of_the_paper():
    # Profile 6 holds 4 of 30 rows of class 1 and 5 of 20 rows of class 2.
    X = np.repeat([0.0, 10.0, 0.0, 10.0], [26, 4, 15, 5])[:, None]
    y = np.repeat([1, 2], [30, 20])
    clf = recipes.dbc(2, gain=loss([[0, 2], [3, 0]])).fit(X, y)
    risks = -clf.expected_gains([[10.0]])[0]
    assert risks == pytest.approx([5 / 3, 8 / 9], abs=1e-12)
    score = clf.decision_proba([[10.0]])[0]
    assert [Fraction(s).limit_denominator(100) for s in score] == [
        Fraction(8, 23),
        Fraction(15, 23),
    ]
    assert clf.predict([[10.0]]) == 2


@pytest.mark.parametrize("m", [1.1, 1.3, 1.5, 2.0, 3.7])
def test_soft_posteriors_are_equations_10_to_12(m):
    X, y = rows()
    new, _ = rows(1)
    clf = recipes.spdbc(7, m).fit(X, y)
    partition = clf.density_.partition
    centres = partition.columns.T + partition.metric.shift
    U, V = fuzzy(X, centres, m), fuzzy(new, centres, m)
    expected = paper_posterior(U, y, V, np.bincount(y) / len(y))
    np.testing.assert_allclose(clf.predict_proba(new), expected, rtol=1e-9, atol=1e-12)


def test_hard_posteriors_are_equations_2_to_5():
    X, y = rows()
    new, _ = rows(1)
    clf = recipes.dbc(7).fit(X, y)
    partition = clf.density_.partition
    centres = partition.columns.T + partition.metric.shift
    U, V = (np.eye(7)[cdist(A, centres).argmin(axis=1)] for A in (X, new))
    for priors in (np.bincount(y) / len(y), np.array([0.7, 0.2, 0.1])):
        expected = paper_posterior(U, y, V, priors)
        got = clf.with_rule(priors=priors).predict_proba(new)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_decision_scores_of_more_classes_keep_the_order_and_flatten():
    # With zero-one losses (6) is (K - 2 + P) / (K - 1)^2, not the posterior, for K > 2.
    X, y = rows()
    clf = recipes.spdbc(6).fit(X, y)
    posterior = clf.predict_proba(X)
    np.testing.assert_allclose(clf.decision_proba(X), (1 + posterior) / 4, atol=1e-12)


def test_new_priors_obey_bayes_and_the_papers_letter_does_not():
    X, y = rows()
    shares, priors = np.bincount(y) / len(y), np.array([0.8, 0.1, 0.1])
    clf = recipes.spdbc(6, 1.5).fit(X, y)
    odds = clf.with_rule(priors=priors).predict_proba(X) / clf.predict_proba(X)
    expected = priors / shares
    # The ratio of the posteriors scales by the ratio of the priors.
    np.testing.assert_allclose(odds[:, 0] / odds[:, 1], expected[0] / expected[1], rtol=1e-9)
    literal = BayesClassifier(Profiled(FuzzyProfiles(6, 1.5), reading="paper"), priors).fit(X, y)
    partition = clf.density_.partition
    U = fuzzy(X, partition.columns.T + partition.metric.shift, 1.5)
    by_letter = paper_posterior(U, y, U, priors)
    np.testing.assert_allclose(literal.predict_proba(X), by_letter, atol=1e-12)
    assert (
        np.abs(literal.predict_proba(X) - clf.with_rule(priors=priors).predict_proba(X)).max()
        > 0.01
    )
    same = BayesClassifier(Profiled(FuzzyProfiles(6, 1.5), reading="paper")).fit(X, y)
    np.testing.assert_array_equal(same.predict_proba(X), clf.predict_proba(X))


def test_paper_reading_says_what_fixes_its_priors():
    X, y = rows()
    clf = BayesClassifier(Profiled(FuzzyProfiles(4), "paper"), "uniform")
    clf.partial_fit(X[y < 2], y[y < 2])
    with pytest.raises(ValueError, match="Name all classes"):
        clf.partial_fit(X, y).predict(X)
    with pytest.raises(ValueError, match=r"reading='literal'.*'density' or 'paper'"):
        BayesClassifier(Profiled(reading="literal")).fit(X, y)


def test_an_empty_profile_gives_the_priors():
    # All rows are on centres, so that no other profile has any of them.
    X, y = [[0.0], [0.0], [5.0], [5.0]], [0, 0, 1, 1]
    profiles = FuzzyProfiles(fuzziness=1.0 + 1e-9, centers=[[0.0], [5.0], [100.0]])
    clf = BayesClassifier(Profiled(profiles), [0.3, 0.7]).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the row is supported: it has no say, that is all
        posterior = clf.predict_proba([[99.0], [0.0], [5.0], [52.5]])
    # Half way between an empty profile and one of class 1, f is 0.5 * 1 + 0.5 * [0, 2].
    np.testing.assert_allclose(posterior, [[0.3, 0.7], [1, 0], [0, 1], [0.125, 0.875]], atol=1e-12)
    np.testing.assert_allclose(clf.log_density([[99.0]]), 0.0, atol=1e-12)
    # There too a class that has no rows at all takes no part.
    clf = clone(clf).set_params(priors=[0.2, 0.3, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreparedOnChunkWarning)
        clf.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(clf.predict_proba([[99.0]]), [[0.4, 0.6, 0.0]])


@pytest.mark.parametrize("m", [np.nextafter(1.0, 2.0), 1.0 + 1e-9, 1.001, 50.0, 1e12])
def test_fuzziness_at_its_ends(m):
    X, y = rows(n=60)
    hard = KMeansProfiles(5).fit(X).membership(X)
    with np.errstate(all="raise"):
        soft = FuzzyProfiles(5, m).fit(X).membership(X)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-12)
    if m < 1.0001:
        np.testing.assert_allclose(soft, hard, atol=1e-6)
    elif m > 100:
        np.testing.assert_allclose(soft, 0.2, atol=1e-6)
    clf = recipes.spdbc(5, m).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()


def test_a_class_that_misses_a_profile_has_no_density_there_and_harms_no_other():
    X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3]]
    y = ["a", "a", "b", "b", "b", "c", "c"]
    clf = BayesClassifier(Profiled(KMeansProfiles(2))).fit(X, y)
    np.testing.assert_allclose(
        clf.predict_proba([[0.0], [5.0]]), [[2 / 3, 1 / 3, 0], [0, 0.5, 0.5]]
    )
    np.testing.assert_array_equal(
        np.isneginf(clf.log_density([[0.0], [5.0]])), [[0, 0, 1], [1, 0, 0]]
    )
    # A class without any rows takes no part, whatever its prior.
    clf = BayesClassifier(Profiled(FuzzyProfiles(2, 1.5)), {"a": 0.2, "b": 0.2, "c": 0.6})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PreparedOnChunkWarning)
        clf.partial_fit(X[:5], y[:5], classes=["a", "b", "c"])
    posterior = clf.predict_proba([[0.0], [5.0], [2.5]])
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    np.testing.assert_array_equal(posterior[:, 2], 0.0)


def test_on_a_centre_the_limit_is_shared_among_those_that_coincide():
    profiles = FuzzyProfiles(fuzziness=1.7, centers=[[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    profiles.fit([[0.0, 0.0], [1.0, 1.0]])
    U = profiles.membership([[0.0, 0.0], [3.0, 4.0], [1e-9, 0.0]])
    np.testing.assert_allclose(U, [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]], atol=1e-12)


def test_more_profiles_than_distinct_rows_are_capped_and_said_so():
    X, y = np.repeat([[0.0], [1.0], [5.0]], 4, axis=0), [0, 0, 1, 1] * 3
    for recipe in (recipes.spdbc, recipes.dbc):
        with pytest.warns(FewRowsWarning, match=r"n_profiles=20 .* 3 profiles"):
            clf = recipe(20).fit(X, y)
        assert clf.density_.partition.n_profiles == 3
        np.testing.assert_allclose(clf.predict_proba([[5.0]]), [[0.5, 0.5]])
    with pytest.warns(FewRowsWarning, match=r"in each class\): 6 profiles"):
        profiles = FuzzyProfiles(20, per_class=True).fit(X, y)
    np.testing.assert_allclose(profiles.membership([[5.0]]), [[0, 0, 0.5, 0, 0, 0.5]], atol=1e-12)


def test_one_class_is_all_there_is():
    X, _ = rows()
    for clf in (recipes.dbc(4), recipes.spdbc(4), recipes.dmc(n_profiles=4)):
        assert (clf.fit(X, ["a"] * len(X)).predict(X) == "a").all()
        np.testing.assert_array_equal(clf.predict_proba(X + 9.0), 1.0)


def test_own_centres_and_settings_are_checked():
    X, y = rows()
    for profiles, message in (
        (FuzzyProfiles(centers=[[0.0, 1.0]]), r"shape \(1, 2\), but X has 3 columns"),
        (FuzzyProfiles(centers=[[0.0, 1.0, np.nan]]), "NaN or infinity"),
        (FuzzyProfiles(centers="median"), "'kmeans', 'fcm' or an array"),
        (FuzzyProfiles(fuzziness=1.0), "above 1"),
        (FuzzyProfiles(metric="cosine"), "metric='cosine'"),
        (KMeansProfiles(0), r"n_profiles=0\): expected a whole number from 1"),
        (KMeansProfiles(2.5), "n_profiles=2.5"),
        (KMeansProfiles(4, per_class="yes"), "per_class='yes'"),
        (KMeansProfiles(4, sample_rows=0), "sample_rows=0"),
        (KMeansProfiles(4, random_state=None), "random_state=None"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesClassifier(Profiled(profiles)).fit(X, y)
    for profiles in ("kmeans", KMeansProfiles):
        with pytest.raises(TypeError, match="profiles must be profiles such as"):
            BayesClassifier(Profiled(profiles)).fit(X, y)


# ---------------------------------------------------------------------- merging


def test_models_merge_when_they_share_centres_and_refuse_when_they_do_not():
    X, y = rows()
    centres = [[0.0] * 3, [1.0] * 3, [-1.0] * 3]
    shared = BayesClassifier(Profiled(FuzzyProfiles(fuzziness=1.4, centers=centres, metric="raw")))
    first = clone(shared).fit(X, y)
    a = clone(shared).partial_fit(X[:120], y[:120])
    b = clone(a).partial_fit(X[:120], y[:120])
    assert a.merge(b).class_count_.sum() == 240
    import copy

    rest = copy.deepcopy(a).partial_fit(X[120:], y[120:])
    np.testing.assert_allclose(rest.density_.settle(rest.stats_).table.sum(axis=1), 1.0)
    one, other = recipes.spdbc(5).fit(X[:100], y[:100]), recipes.spdbc(5).fit(X[100:], y[100:])
    with pytest.raises(ValueError, match="counted differently"):
        one.merge(other)
    assert first.density_.partition.n_profiles == 3


def test_parts_that_were_fitted_apart_around_the_same_centres_are_the_whole():
    X, y = rows()
    clf = BayesClassifier(Profiled(FuzzyProfiles(centers=[[0.0] * 3, [1.0] * 3, [-1.0] * 3])))
    whole = clone(clf).fit(X, y)
    merged = clone(clf).fit(X[:100], y[:100]).merge(clone(clf).fit(X[100:], y[100:]))
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    # Units that were learned from different rows are different units.
    clf.set_params(density__profiles__metric="standardised")
    with pytest.raises(ValueError, match="counted differently"):
        clone(clf).fit(X[:100], y[:100]).merge(clone(clf).fit(X[100:], y[100:]))


# ---------------------------------------------------------------------- what users bring


def test_mixed_columns_from_any_frame():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    data = {
        "age": rng.normal(40, 10, 200).round(1),
        "town": np.array(["Oslo", "Rome", "Wien"])[(rng.random(200) * 2 + y).astype(int)],
    }
    frames = [pd.DataFrame(data), pl.DataFrame(data), pa.table(data)]
    frames.append(pd.DataFrame(data).astype({"town": "category"}))
    clf = BayesClassifier(Profiled(FuzzyProfiles(8, 1.5, metric="standardised")))
    answers = [clone(clf).fit(X, y).predict_proba(X) for X in frames]
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-12)
    numbers = clone(clf).fit(frames[0][["age"]], y)
    assert evaluate(clone(clf).fit(frames[0], y), frames[0], y).accuracy > numbers.score(
        frames[0][["age"]], y
    )
    fitted = clone(clf).fit(frames[0], y)
    new = pd.DataFrame({"age": [40.0], "town": ["Paris"]})
    assert np.isfinite(fitted.predict_proba(new)).all()
    with pytest.raises(ValueError, match="'town'"):
        fitted.predict(
            pd.DataFrame({"age": [40.0], "town": [None]}, dtype=object).astype({"town": "string"})
        )
    with pytest.raises(ValueError, match=r"feature|columns"):
        fitted.predict(frames[0][["town", "age"]])
    with pytest.raises(ValueError, match=r"NaN.*'age'"):
        fitted.predict(pd.DataFrame({"age": [np.nan], "town": ["Rome"]}))


def test_a_search_reaches_the_profiles():
    X, y = rows()
    grid = {"density__profiles__n_profiles": [2, 10], "density__profiles__fuzziness": [1.2, 2.0]}
    search = GridSearchCV(recipes.spdbc(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.4


def test_memory_does_not_grow_with_the_profiles():
    X, y = rows(n=60_000)
    peaks = []
    for n_profiles in (4, 200):
        centres = np.random.default_rng(1).normal(size=(n_profiles, 3))
        clf = BayesClassifier(Profiled(FuzzyProfiles(fuzziness=1.3, centers=centres)))
        clone(clf).fit(X[:500], y[:500]).predict(X[:500])  # compiled
        tracemalloc.start()
        clf.fit(X, y).predict_proba(X)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 60,000 x 200 memberships alone would be 96 MB.
    assert peaks[1] < peaks[0] + 5e6


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 130])
def test_rows_are_answered_alike_in_company_and_alone(n_rows):
    # Loops take 64 rows at a time, whatever there are.
    X, y = rows(n=130)
    for clf in (recipes.spdbc(7, 1.4), recipes.dbc(7)):
        clf.fit(X, y)
        whole = clf.predict_proba(X)
        np.testing.assert_array_equal(clf.predict_proba(X[:n_rows]), whole[:n_rows])
        alone = np.vstack([clf.predict_proba(X[i : i + 1]) for i in range(0, n_rows, 9)])
        np.testing.assert_array_equal(alone, whole[:n_rows:9])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4), st.floats(1.05, 5.0))
def test_densities_average_to_one_over_the_training_shares(seed, n_profiles, n_classes, m):
    # sum_k share_k f_k(x) = sum_t u_t(x) = 1, whatever the table.
    X, y = rows(seed, n=30, d=2, k=n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        clf = recipes.spdbc(n_profiles, m).fit(X, y)
    density = np.exp(clf.log_density(X))
    shares = clf.class_count_ / clf.class_count_.sum()
    np.testing.assert_allclose(density @ shares, 1.0, atol=1e-9)
