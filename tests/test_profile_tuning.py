"""The number of profiles, chosen by what decisions on left-out rows gain."""

from __future__ import annotations

import numpy as np
import pytest

from bayesrule import (
    BayesClassifier,
    FuzzyProfiles,
    KMeansProfiles,
    Profiled,
    TreeProfiles,
    recipes,
)
from bayesrule.notices import KeptTuningWarning
from bayesrule.profile_tuning import CANDIDATES
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
    scores = [recipes.spdbc(n).fit(X, y).score(new, truth) for n in CANDIDATES]
    assert auto >= max(scores) - 0.02
    assert auto > min(scores) + 0.1


def test_gains_are_part_of_the_choice_and_are_kept():
    X, y = chequers(300, 2)
    clf = BayesClassifier(Profiled(TreeProfiles("auto"))).fit(X, y)
    with pytest.warns(KeptTuningWarning):
        clf.with_rule(priors=[0.5, 0.5])


def test_few_rows_leave_the_fewest_profiles():
    assert chosen(Profiled(KMeansProfiles("auto", n_init=1)), *chequers(9, 2)) <= 5


def test_alone_the_number_must_be_stated():
    X, _ = chequers(30, 2)
    with pytest.raises(ValueError, match=r"'auto' inside Profiled"):
        KMeansProfiles("auto").fit(X)


def test_a_chosen_number_obeys_the_laws():
    laws = [
        chunks_add_up,
        labels_are_names,
        inputs_stay,
        posteriors_follow_bayes,
        files_are_equal,
        hard_data_are_answered,
    ]
    check_density(Profiled(FuzzyProfiles("auto", n_init=1)), laws=laws)
