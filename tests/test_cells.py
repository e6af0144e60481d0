"""Cells: against worlds whose best rule is known, and bad input."""

from __future__ import annotations

import signal

import numpy as np
import pandas as pd
import pytest

from bayesrule import BayesClassifier, Cells, datasets, load, save
from bayesrule.notices import FewRowsWarning, NotConvergedWarning
from bayesrule.stopwatch import Stopwatch

WORLD = datasets.make_cells(30_000, (3, 1, 4), seed=2, mixing=0.2)


def fitted(world=WORLD, **settings) -> BayesClassifier:
    clf = BayesClassifier(Cells(**settings), priors=world.priors, gain=world.gain)
    return clf.fit(world.X, world.y)


# ---------------------------------------------------------------------- finding


@pytest.mark.parametrize("objective", ["brier", "gain"])
@pytest.mark.parametrize("validation", [None, 0.5])
def test_hidden_cells_are_found(objective, validation):
    clf = fitted(max_cells=50, objective=objective, validation=validation)
    assert WORLD.gain_of(clf) >= 0.99 * WORLD.optimal_gain
    if objective == "brier":  # decisions hardly tell where posteriors are alike
        for found, hidden in zip(clf.density_.boundaries_, WORLD.boundaries, strict=True):
            np.testing.assert_allclose(found, hidden, atol=0.01)


def test_levels_go_where_they_tell_something():
    levels = fitted(max_cells=1000).density_.levels_
    assert levels == (3, 1, 4)  # more room is not used up
    tight = fitted(max_cells=6)
    assert tight.density_.levels_[1] == 1
    assert tight.density_.n_cells_ <= 6
    assert WORLD.gain_of(tight) < WORLD.gain_of(fitted(max_cells=12))


def test_given_levels_are_kept_and_boundaries_exact():
    clf = fitted(levels=[3, 2, 4])
    assert clf.density_.levels_ == (3, 2, 4)
    stages = clf.density_.history_
    assert stages[-1].cells == 24
    assert [s.seconds for s in stages] == sorted(s.seconds for s in stages)


def test_optimised_beats_what_needs_no_search():
    gains = {
        how: WORLD.gain_of(fitted(levels=[3, 1, 4], boundaries=how))
        for how in ("optimized", "equal", "uniform")
    }
    assert gains["optimized"] > max(gains["equal"], gains["uniform"]) + 0.05


def test_more_rows_than_the_sample_settle_the_boundaries():
    world = datasets.make_cells(250_000, (2, 3), seed=5)
    clf = fitted(world, max_cells=20)
    assert clf.density_.history_[-1].what == "all rows"
    assert clf.density_.history_[-1].rows == 250_000
    # Where posteriors differ, boundaries are exact to a few rows.
    assert abs(clf.density_.boundaries_[0] - world.boundaries[0]) < 1e-4
    assert world.gain_of(clf) >= 0.999 * world.optimal_gain


def test_entropy_shares_the_limit_as_the_paper_does():
    world = datasets.make_cells(5000, (2,) * 5, seed=0)
    clf = fitted(world, levels="entropy", boundaries="equal")
    assert clf.density_.levels_ == (6,) * 5
    more = fitted(world, levels="entropy", boundaries="equal", rounding="ceil")
    assert more.density_.levels_ == (7,) * 5


def test_a_far_threshold():
    # Class 1 is rare and dear: the rule needs cells where it has a few per cent.
    rng = np.random.default_rng(0)
    X = rng.random((40_000, 2))
    chance = np.where(X[:, 0] < 0.37, 0.002, np.where(X[:, 1] < 0.21, 0.004, 0.04))
    y = (rng.random(len(X)) < chance).astype(int)
    gain = [[0.0, -1.0], [-50.0, 0.0]]
    treated = {}
    for objective in ("brier", "gain"):
        clf = BayesClassifier(Cells(20, objective=objective), gain=gain).fit(X, y)
        treated[objective] = float(np.sum(clf.predict(X) != (chance > 0.02)))
    # Two boundaries decide; the objective that sees the threshold places them at least as well.
    assert treated["gain"] < 0.03 * len(X)
    assert treated["gain"] <= treated["brier"] + 0.005 * len(X)


def test_extra_actions_and_several_classes():
    world = datasets.make_cells(
        20_000,
        (3, 3),
        seed=1,
        priors=[0.2, 0.3, 0.5],
        gain=[[1, 0, 0, 0.6], [0, 1, 0, 0.6], [0, 0, 1, 0.6]],
        mixing=0.5,
    )
    clf = fitted(world, max_cells=9, objective="gain")
    assert clf.decisions_.shape == (4,)
    assert world.gain_of(clf) >= 0.98 * world.optimal_gain


# ---------------------------------------------------------------------- all kinds of data


def test_kinds_of_numbers_ties_outliers_and_constants():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 4, 20_000)
    y = (level >= 2).astype(int) ^ (rng.random(20_000) < 0.05)
    X = np.column_stack([level, np.full(20_000, 7), rng.integers(0, 2, 20_000)])
    for rows in (X, X.astype(np.float32), X.astype(np.uint8), np.asfortranarray(X * 1e5)):
        clf = BayesClassifier(Cells(max_cells=16)).fit(rows, y)
        assert clf.density_.levels_ == (2, 1, 1)
        assert clf.score(rows, y) > 0.94
    wild = X.astype(float)
    wild[0, 2] = 1e300
    wild[1, 2] = -1e300
    assert BayesClassifier(Cells(max_cells=16)).fit(wild, y).density_.levels_[0] == 2


def test_missing_values_are_a_level_and_unknown_ones_are_summed():
    rng = np.random.default_rng(0)
    X = rng.random((6000, 2))
    gone = rng.random(6000) < 0.3
    y = np.where(gone, rng.random(6000) < 0.9, X[:, 0] > 0.5).astype(int)
    X[gone, 0] = np.nan
    clf = BayesClassifier(Cells(max_cells=12)).fit(X, y)
    assert clf.density_.gaps == (True, False)
    assert clf.density_.levels_ == (3, 1)
    assert clf.predict([[np.nan, 0.5], [0.2, 0.5], [0.8, 0.5]]).tolist() == [1, 0, 1]
    # No value was missing in the second feature, so that its levels are summed.
    own = Cells(boundaries=[[0.5], [0.25, 0.5]])
    known = BayesClassifier(own).fit(X[~gone], y[~gone])
    table = known.log_density_.shares.reshape(2, 3, 2)
    got = np.exp(known.log_density([[0.2, np.nan], [np.nan, 0.3]]))
    np.testing.assert_allclose(got[0], table[0].sum(axis=0))
    np.testing.assert_allclose(got[1], table[:, 1].sum(axis=0))
    np.testing.assert_allclose(known.predict_proba([[np.nan, np.nan]])[0], known.priors_)
    with pytest.warns(FewRowsWarning, match="not counted"):
        known.partial_fit(X[gone][:10], y[gone][:10]).predict(X[:1])


def test_categories_are_cells_as_they_are(tmp_path):
    rng = np.random.default_rng(0)
    town = rng.choice(["north", "south", "west"], 4000)
    size = rng.random(4000)
    y = np.where(town == "west", size > 0.7, (size > 0.4) & (town == "north")).astype(int)
    X = pd.DataFrame({"town": town, "size": size})
    clf = BayesClassifier(Cells(max_cells=40)).fit(X, y)
    assert clf.density_.levels_[0] == 3
    assert clf.score(X, y) > 0.99
    np.testing.assert_allclose(clf.density_.boundaries_[1], [0.4, 0.7], atol=0.01)
    # A category that was not there says nothing.
    unknown = pd.DataFrame({"town": ["east", None], "size": [0.5, 0.5]})
    answers = clf.predict_proba(unknown)
    np.testing.assert_allclose(answers[0], answers[1])
    save(clf, tmp_path / "cells.bayes")
    np.testing.assert_array_equal(load(tmp_path / "cells.bayes").predict(X), clf.predict(X))
    with pytest.raises(ValueError, match=r"3 cells at least. Give max_cells=3"):
        BayesClassifier(Cells(max_cells=2)).fit(X, y)


def test_files_give_the_counts_of_all_rows(tmp_path):
    frame = pd.DataFrame(WORLD.X, columns=list("abc")).assign(y=WORLD.y)
    for i in range(3):
        frame[i::3].to_parquet(tmp_path / f"{i}.parquet")
    cells = Cells(max_cells=50)
    clf = BayesClassifier(cells, priors=WORLD.priors, gain=WORLD.gain)
    clf.fit_files(tmp_path, target="y", sample=8000)
    assert clf.stats_.sums.sum() == 30_000
    assert WORLD.gain_of(clf) >= 0.97 * WORLD.optimal_gain


def test_models_of_shared_boundaries_merge():
    whole = fitted(max_cells=50)
    own = Cells(boundaries=whole.density_.boundaries_)
    thirds = np.split(np.arange(30_000), 3)
    parts = [BayesClassifier(own).fit(WORLD.X[rows], WORLD.y[rows]) for rows in thirds]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    np.testing.assert_array_equal(merged.stats_.sums, whole.stats_.sums)
    with pytest.raises(ValueError, match="Cannot merge"):
        parts[0].merge(fitted(max_cells=3))


def test_ten_thousand_cells_of_two_classes_take_less_than_64_kilobytes(tmp_path):
    world = datasets.make_cells(400_000, (2, 2, 2, 2), seed=0)
    own = Cells(boundaries=[np.linspace(0, 1, 11)[1:-1]] * 4)
    clf = BayesClassifier(own, priors=world.priors, gain=world.gain).fit(world.X, world.y)
    assert clf.density_.n_cells_ == 10_000
    save(clf, tmp_path / "cells.bayes")
    assert (tmp_path / "cells.bayes").stat().st_size < 64 * 1024
    np.testing.assert_array_equal(load(tmp_path / "cells.bayes").stats_.sums, clf.stats_.sums)


def test_decisions_by_lookup_are_those_row_by_row():
    clf = fitted(max_cells=50)
    many = np.resize(WORLD.X, (70_000, 3))
    gains = clf.expected_gains(many)
    np.testing.assert_array_equal(clf.predict(many), gains.argmax(axis=1))
    alone = np.concatenate([clf.predict_proba(row[None]) for row in many[:200]])
    np.testing.assert_allclose(clf.predict_proba(many)[:200], alone, rtol=1e-12)
    # A class that no row was seen of has no support anywhere.
    few = BayesClassifier(Cells(4), priors=[0.0, 0.0, 1.0])
    few.partial_fit(WORLD.X[:500], WORLD.y[:500], classes=[0, 1, 2])
    with pytest.warns(UserWarning, match="500"):
        few.predict(WORLD.X[:500])


# ---------------------------------------------------------------------- stopping and going on


def test_a_time_limit_keeps_the_best_and_warm_start_goes_on():
    with pytest.warns(NotConvergedWarning, match="warm_start"):
        early = fitted(max_cells=50, time_limit=1e-4)
    whole = fitted(max_cells=50)
    assert WORLD.gain_of(early) < WORLD.gain_of(whole)
    on = fitted(max_cells=50, warm_start=early.density_)
    assert WORLD.gain_of(on) >= 0.999 * WORLD.gain_of(whole)
    again = fitted(max_cells=50, warm_start=whole.density_)
    for one, other in zip(again.density_.boundaries_, whole.density_.boundaries_, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="warm_start make"):
        fitted(max_cells=6, warm_start=whole.density_)


def test_an_interrupt_ends_the_search_with_what_there_is(monkeypatch):
    world = datasets.make_cells(100_000, (6,) * 5, seed=0)
    before = signal.getsignal(signal.SIGINT)
    assert before is signal.default_int_handler
    note = Stopwatch.note

    def interrupted(watch, *stage):
        note(watch, *stage)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Stopwatch, "note", interrupted)
    with pytest.warns(NotConvergedWarning, match="stopped"):
        clf = fitted(world)
    assert len(clf.density_.history_) == 1
    assert world.gain_of(clf) > 0.9 * world.optimal_gain
    assert signal.getsignal(signal.SIGINT) is before


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_cells": 0}, "max_cells=0"),
        ({"max_cells": 2.5}, "whole number"),
        ({"max_cells": 1}, "2 classes"),
        ({"boundaries": "best"}, "'optimized'"),
        ({"boundaries": [[0.5], [], [2.0, 1.0]]}, r"boundaries\[2\]"),
        ({"boundaries": [[0.5], []]}, "2 lists for 3"),
        ({"boundaries": [np.linspace(0, 1, 99)] * 3}, "1000000 cells, more than"),
        ({"levels": [2, 2]}, "3 whole numbers"),
        ({"levels": [2, 0, 2]}, "from 1 up"),
        ({"levels": [100, 100, 100]}, "makes 1000000 cells"),
        ({"levels": "many"}, "levels='many'"),
        ({"objective": "accuracy"}, "objective"),
        ({"volumes": 3}, "volumes"),
        ({"validation": 1.5}, "between 0 and 1"),
        ({"validation": [30_001]}, "row 30001"),
        ({"validation": np.zeros(3, bool)}, "mask of 30000"),
        ({"validation": WORLD.y == 1}, "only in one"),
        ({"time_limit": 0}, "time_limit"),
        ({"fine_levels": 0.5, "levels": "entropy"}, "fine_levels"),
        ({"rounding": "up"}, "rounding"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        fitted(**settings)


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="infinity"):
        BayesClassifier(Cells()).fit([[0.0], [np.inf]], [0, 1])


def test_one_distinct_value_and_fewer_rows_than_cells():
    one = BayesClassifier(Cells()).fit(np.ones((10, 2)), [0, 1] * 5)
    assert one.density_.n_cells_ == 1
    np.testing.assert_allclose(one.predict_proba([[1.0, 1.0]]), [[0.5, 0.5]])
    few = BayesClassifier(Cells(boundaries=[np.arange(50) + 0.5])).fit([[0.0], [49.0]], [0, 1])
    assert few.predict([[0.2], [49.2]]).tolist() == [0, 1]
    np.testing.assert_allclose(few.predict_proba([[20.0]]), [[0.5, 0.5]])  # where no row was


def test_validation_rows_of_the_users_own():
    places = np.arange(0, 30_000, 3)
    mask = np.isin(np.arange(30_000), places)
    one, other = (fitted(max_cells=50, validation=v) for v in (places, mask))
    for a, b in zip(one.density_.boundaries_, other.density_.boundaries_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_any_number_of_features_may_tell_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((2000, 200))
    y = ((X[:, 5] > 0.3) ^ (X[:, 150] > 0.6)).astype(int)
    clf = BayesClassifier(Cells()).fit(X, y)
    assert np.flatnonzero(np.array(clf.density_.levels_) > 1).tolist() == [5, 150]
    told = X.copy()
    told[:, np.setdiff1d(np.arange(200), [5, 150])] = np.nan
    np.testing.assert_array_equal(clf.predict_proba(told), clf.predict_proba(X))
