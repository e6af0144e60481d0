"""What the reproduction of FEMDA measures is what the method is known to do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from bayesrule import datasets, recipes
from reproduce import femda

#: Accuracies that an independent program found, 20 repeats: QDA, GQDA, t-QDA, FEMDA.
KNOWN = {
    "Gaussian (not in the paper)": (75.4, 75.9, 76.5, 76.4),
    "0 - 1, per class": (65.0, 67.0, 76.7, 76.2),
    "0 - 1, per point": (57.0, 67.0, 76.3, 76.2),
    "1 - 0, per point": (23.0, 49.0, 84.9, 84.9),
    "½ - ½, per point": (30.0, 49.0, 80.7, 80.7),
}
#: Medians on clean rows to reach, and how little 60 % of moved rows may take.
GOALS = {"ionosphere": 91.5, "ecoli": 84.0, "breast_cancer_wisconsin_original": 95.0}


def needs(*names):
    for name in names:
        try:
            datasets.load(name)
        except FileNotFoundError as missing:
            pytest.skip(str(missing))


def test_shapes_of_each_point_leave_t_qda_and_femda_level_and_spoil_qda():
    found = femda.simulated(1, 5000, "1 - 0, per point", {}, False)
    assert abs(found["FEMDA"] - found["t-QDA"])[0] < 0.6
    assert found["QDA"][0] < found["FEMDA"][0] - 30


def test_rows_that_are_moved_cost_nothing():
    noise = {"contamination": 0.25, "scale": 8.0}
    scenario = "Gaussian (not in the paper)"
    clean, moved = (femda.simulated(1, 5000, scenario, what, False) for what in ({}, noise))
    for name in ("t-QDA", "FEMDA"):
        assert abs(moved[name] - clean[name])[0] < 0.8
    assert moved["QDA"][0] < clean["QDA"][0] - 15


def test_the_equation_as_it_stands_ends_on_a_row_where_the_default_does_not():
    draws = [np.random.default_rng(seed).normal(size=(30, 2)) for seed in range(10)]
    assert all(map(femda.raw_equation_ends_on_a_row, draws))
    for X in draws:
        law = recipes.femda(shrinkage=None).fit(X, np.zeros(30)).log_density_
        # Near the mean of rows without outliers, whichever row is nearest to it.
        assert np.abs(law.location[0] - X.mean(axis=0)).max() < 0.5


def test_students_do_not_shrink_onto_rows_that_integers_repeat():
    needs("breast_cancer_wisconsin_original")
    X, y = femda.rows_of("breast_cancer_wisconsin_original")
    for split in (1, 11, 28, 59):  # where most benign rows lie in a plane or are equal
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=split)
        clf = recipes.t_qda().fit(X[train], y[train])
        assert clf.score(X[test], y[test]) > 0.94
        assert clf.log_density_.dof.min() > 1.0


def test_real_rows():
    needs("ionosphere")
    found = femda.real("ionosphere", {"FEMDA": recipes.femda()}, [0.0, 0.6], 5)["FEMDA"]
    clean, moved = np.median(found, axis=1)
    assert clean > 89.0
    assert moved > clean - 3.0


@pytest.mark.slow
@pytest.mark.parametrize("scenario", KNOWN)
def test_simulation_is_that_of_an_independent_program(scenario):
    found = femda.simulated(20, 20_000, scenario, {}, False)
    means = [values.mean() for values in found.values()]
    np.testing.assert_allclose(means[2:], KNOWN[scenario][2:], atol=0.4)
    # Rules that are not robust vary with the few rows that are farthest out.
    np.testing.assert_allclose(means[:2], KNOWN[scenario][:2], atol=6.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", GOALS)
def test_real_rows_bear_three_fifths_of_moved_rows(name):
    needs(name)
    found = femda.real(name, {"FEMDA": recipes.femda()}, [0.0, 0.6], 100)["FEMDA"]
    clean, moved = np.median(found, axis=1)
    assert clean >= GOALS[name]
    assert moved >= clean - 2.0
