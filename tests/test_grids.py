"""Cells of a grid as profiles."""

from __future__ import annotations

import numpy as np
import pytest

from bayesrule import BayesClassifier, CellProfiles, Profiled
from bayesrule.grids import GridCells
from bayesrule.soundness import check_grid_cells


def grid_world(n: int = 4000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The class depends on which of 4 x 2 cells of the first two columns a row is in."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    cell = 2 * (X[:, 0] * 4).astype(int) + (X[:, 1] * 2).astype(int)
    return X, (rng.uniform(size=n) < np.array([0.9, 0.6, 0.2, 0.1, 0.8, 0.5, 0.3, 0.0])[cell]) * 1


def test_cells_are_products_of_levels():
    X, y = grid_world(500)
    own = [[0.25, 0.5], [0.5], [], [0.9]]
    profiles = CellProfiles(boundaries=own).fit(X, y)
    levels = [np.digitize(X[:, j], cuts) for j, cuts in enumerate(own)]
    expected = np.ravel_multi_index(levels, (3, 2, 1, 2))
    np.testing.assert_array_equal(profiles.predict(X), expected)
    assert profiles.membership(X).shape == (500, 12)


def test_posteriors_are_shares_in_the_cells_and_priors_where_there_are_none():
    X, y = grid_world(500)
    clf = BayesClassifier(Profiled(CellProfiles(levels=[2, 2, 1, 1]))).fit(X, y)
    cell = clf.density_.partition.codes(clf.density_.read(X, clf))
    for c in range(4):
        shares = np.bincount(y[cell == c], minlength=2) / (cell == c).sum()
        np.testing.assert_allclose(clf.predict_proba(X[cell == c])[0], shares)
    empty = BayesClassifier(Profiled(CellProfiles(boundaries=[[9.0], [], [], []])), [0.3, 0.7])
    np.testing.assert_allclose(
        empty.fit(X, y).predict_proba([[10.0, 0, 0, 0]]), [[0.3, 0.7]], atol=1e-12
    )


def test_levels_go_to_the_columns_that_tell_the_classes():
    X, y = grid_world()
    cuts = CellProfiles(64).fit(X, y).partition_.boundaries
    levels = [len(c) + 1 for c in cuts]
    assert levels[0] >= 4
    assert levels[1] >= 2
    assert levels[2:] == [1, 1]
    assert np.prod(levels) <= 64
    by_entropy = CellProfiles(64, "entropy").fit(X).partition_.boundaries
    assert [len(c) + 1 for c in by_entropy] == [2, 2, 2, 2]


def test_levels_are_equally_probable_or_equally_wide():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(1000, 1))
    equal = CellProfiles(levels=5).fit(X)
    assert np.ptp(equal.membership(X).sum(axis=0)) <= 1
    uniform = CellProfiles(levels=5, boundaries="uniform").fit(X).partition_.boundaries[0]
    np.testing.assert_allclose(uniform, np.linspace(X.min(), X.max(), 6)[1:-1])


def test_weights_are_repetitions():
    X, y = grid_world(300)
    weights = np.tile([1, 3, 0], 100)
    repeated = np.repeat(np.arange(300), weights)
    one = CellProfiles(30).fit(X, y, weights).partition_.boundaries
    other = CellProfiles(30).fit(X[repeated], y[repeated]).partition_.boundaries
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_too_many_cells_and_odd_settings_are_refused():
    X, y = grid_world(50)
    for profiles, message in (
        (CellProfiles(100, levels=5), r"625 cells .* more than max_cells=100"),
        (CellProfiles(levels="many"), "'classes', 'entropy'"),
        (CellProfiles(levels=[2, 2]), "each of the 4 columns"),
        (CellProfiles(levels=0), "whole number from 1"),
        (CellProfiles(0), "max_cells=0"),
        (CellProfiles(boundaries=[[1.0, 0.0], [], [], []]), "greater than the one before"),
        (CellProfiles(boundaries="odd"), "boundaries='odd'"),
    ):
        with pytest.raises(ValueError, match=message):
            profiles.fit(X, y)


def test_damaged_grids_are_refused():
    check_grid_cells(GridCells((np.array([0.0, 1.0]), np.empty(0))))
    for cuts, message in (
        ((), "no boundaries"),
        ((np.array([1.0, 0.0]),), "do not increase"),
        ((np.array([np.nan]),), "cannot be"),
        ((np.arange(1e4),) * 4, "too many cells"),
    ):
        with pytest.raises(ValueError, match=message):
            check_grid_cells(GridCells(cuts))
