"""Number and fuzziness of profiles, chosen by what decisions on left-out rows gain."""

from __future__ import annotations

import numpy as np
import pytest

from bayesrule import (
    BayesClassifier,
    ForestProfiles,
    FuzzyProfiles,
    KMeansProfiles,
    Profiled,
    TreeProfiles,
    recipes,
)
from bayesrule.gain_tuning import most_earning
from bayesrule.keys import folds_by_key, row_keys
from bayesrule.memberships import read_target
from bayesrule.notices import KeptTuningWarning
from bayesrule.profile_tuning import CANDIDATES
from bayesrule.tables import Table
from bayesrule.testing import (
    check_density,
    chunks_add_up,
    files_are_equal,
    hard_data_are_answered,
    inputs_stay,
    labels_are_names,
    posteriors_follow_bayes,
)


def chequers(n: int, squares: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A board whose two classes alternate: too few profiles see nothing of it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, squares, (n, 2))
    return X, (X.astype(int).sum(axis=1) % 2).astype(int)


def chosen(density: Profiled, X: np.ndarray, y: np.ndarray) -> int:
    return BayesClassifier(density).fit(X, y).density_.partition.n_profiles


def test_many_profiles_where_classes_alternate_and_few_where_they_do_not():
    X, y = chequers(2000, 4)
    assert chosen(Profiled(KMeansProfiles("auto", n_init=1)), X, y) >= 80
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(400, 2)) + 2.0 * y[:400, None]
    noisy = np.where(rng.random(400) < 0.3, 1 - y[:400], y[:400])
    assert chosen(Profiled(FuzzyProfiles("auto", 1.2, n_init=1)), plain, noisy) <= 20


def test_the_choice_earns_more_than_the_wrong_numbers():
    X, y = chequers(1500, 3)
    new, truth = chequers(1500, 3, seed=1)
    auto = recipes.spdbc("auto").fit(X, y).score(new, truth)
    scores = [recipes.spdbc(n).fit(X, y).score(new, truth) for n in CANDIDATES["n_profiles"]]
    assert auto >= max(scores) - 0.02
    assert auto > min(scores) + 0.1


def test_gains_are_part_of_the_choice_and_are_kept():
    X, y = chequers(300, 2)
    clf = BayesClassifier(Profiled(TreeProfiles("auto"))).fit(X, y)
    with pytest.warns(KeptTuningWarning):
        clf.with_rule(priors=[0.5, 0.5])


def searched_plainly(kind, numbers, values, X, y, folds, repeats):
    """The choice by a fit for every setting, repeat and fold."""
    shares = np.bincount(y) / len(y)
    trials = [(n, m) for n in numbers for m in values]
    found = np.zeros((len(trials), 3))
    members = read_target(y)
    for repeat in range(repeats):
        fold = folds_by_key(row_keys(Table(X), repeat), members, folds)
        for at, (n, m) in enumerate(trials):
            right, logs = np.zeros(len(y)), np.zeros(len(y))
            for f in range(folds):
                kept, out = fold != f, fold == f
                density = Profiled(kind(n, m))
                clf = BayesClassifier(density, priors=shares).fit(X[kept], y[kept])
                right[out] = clf.predict(X[out]) == y[out]
                chance = clf.predict_proba(X[out])[np.arange(out.sum()), y[out]]
                logs[out] = np.log(np.maximum(chance, np.exp(-30.0)))
            spread = sum(shares[k] * right[y == k].var() for k in range(len(shares))) / len(y)
            found[at] += np.array([right.mean(), np.sqrt(spread), logs.mean()]) / repeats
    return trials[most_earning(found)]


@pytest.mark.parametrize("centers", ["kmeans", "fcm"])
def test_the_choice_is_that_of_a_fit_for_every_setting_and_fold(centers):
    rng = np.random.default_rng(4)
    y = np.arange(160) % 2
    X = rng.normal(size=(160, 2)) * [1.0, 3.0] + 1.2 * y[:, None]
    numbers, values = [3, 9, 16], [2.5, 1.3, 1.6]

    def kind(n, m):
        return FuzzyProfiles(n, m, centers, n_init=1)

    settled = set()
    for folds, repeats in ((4, 1), (3, 2)):
        plain = searched_plainly(kind, numbers, values, X, y, folds, repeats)
        density = Profiled(kind(numbers, values), folds=folds, repeats=repeats)
        partition = BayesClassifier(density, priors=[0.5, 0.5]).fit(X, y).density_.partition
        assert (partition.n_profiles, partition.fuzziness) == plain
        settled.add(plain)
    assert settled != {(numbers[0], values[0])}  # the first is what no search would give too


def test_the_same_centres_serve_every_fuzziness(monkeypatch):
    from bayesrule import around

    calls, search = [], around.kmeans
    monkeypatch.setattr(around, "kmeans", lambda *given: calls.append(given[2]) or search(*given))
    X, y = chequers(200, 2)
    density = Profiled(FuzzyProfiles([4, 8], [1.1, 1.3, 1.5, 2.0], n_init=1), folds=3, repeats=2)
    BayesClassifier(density).fit(X, y)
    assert sorted(calls[:-1]) == [4] * 6 + [8] * 6


def test_the_chosen_fuzziness_earns_more_than_the_wrong_ones():
    X, y = chequers(600, 3)
    new, truth = chequers(1500, 3, seed=1)
    rng = np.random.default_rng(1)
    noisy = np.where(rng.random(600) < 0.3, 1 - y, y)
    values = [1.01, 1.2, 1.5, 12.0]
    scores = [recipes.spdbc(60, m).fit(X, noisy).score(new, truth) for m in values]
    auto = recipes.spdbc(60, values).fit(X, noisy).score(new, truth)
    assert auto >= max(scores) - 0.02
    assert auto > min(scores) + 0.1


def test_a_forest_is_chosen_as_a_whole():
    X, y = chequers(200, 2)
    profiles = ForestProfiles(3, [4, 12], "auto", metrics=["standardised"])
    parts = BayesClassifier(Profiled(profiles)).fit(X, y).density_.partition.parts
    assert len({part.fuzziness for part in parts}) == 1
    assert parts[0].fuzziness in CANDIDATES["fuzziness"]
    assert {part.n_profiles for part in parts} <= {4, 12}


def test_recipes_choose_from_lists():
    X, y = chequers(200, 2)
    for clf in (recipes.spdbc([3, 6], [1.1, 1.7]), recipes.dmc(None, [3, 6], [1.1, 1.7])):
        partition = clf.fit(X, y).density_.partition
        assert partition.n_profiles in (3, 6)
        assert partition.fuzziness in (1.1, 1.7)
    assert recipes.dbc([3, 6]).fit(X, y).density_.partition.n_profiles in (3, 6)


@pytest.mark.parametrize(
    ("density", "told"),
    [
        (Profiled(KMeansProfiles([])), r"n_profiles=\[\]\): the list"),
        (Profiled(KMeansProfiles([5, 0])), "n_profiles=0"),
        (Profiled(FuzzyProfiles(5, [1.2, 1.0])), "fuzziness=1.0"),
        (Profiled(FuzzyProfiles(5, "soft")), "fuzziness='soft'"),
        (Profiled(KMeansProfiles("auto"), folds=1), "folds=1"),
        (Profiled(KMeansProfiles("auto"), repeats=0), "repeats=0"),
    ],
)
def test_settings_of_the_choice_are_checked(density, told):
    with pytest.raises(ValueError, match=told):
        BayesClassifier(density).fit(*chequers(60, 2))


def test_few_rows_leave_the_fewest_profiles():
    assert chosen(Profiled(KMeansProfiles("auto", n_init=1)), *chequers(9, 2)) <= 5


def test_alone_the_number_must_be_stated():
    X, _ = chequers(30, 2)
    with pytest.raises(ValueError, match=r"'auto' inside Profiled"):
        KMeansProfiles("auto").fit(X)
    with pytest.raises(ValueError, match="inside Profiled"):
        FuzzyProfiles(fuzziness="auto").fit(X)


def test_what_is_chosen_obeys_the_laws():
    laws = [
        chunks_add_up,
        labels_are_names,
        inputs_stay,
        posteriors_follow_bayes,
        files_are_equal,
        hard_data_are_answered,
    ]
    check_density(Profiled(FuzzyProfiles("auto", "auto", n_init=1)), laws=laws)
