"""k-smoothing against brute force, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesrule import BayesClassifier, Cells, load, save
from bayesrule.smoothing import candidates, smooth


def by_brute_force(counts, k, squares, volumes):
    """Equations (16) to (20), every distance computed and every cell sorted."""
    shape = [len(s) for s in squares]
    levels = np.column_stack(np.unravel_index(np.arange(len(volumes)), shape))
    smoothed = np.zeros_like(counts)
    for own, out in zip(counts, smoothed, strict=True):
        for m in range(len(volumes)):
            apart = 0.0
            for j, s in enumerate(squares):
                apart = apart + s[levels[m, j], levels[:, j]]
            order = np.lexsort((np.arange(len(volumes)), apart))
            held = np.cumsum(own[order])
            enough = min(int(np.searchsorted(held, k)), len(order) - 1)
            out[m] = held[enough] / volumes[order[: enough + 1]].sum() * volumes[m]
        out *= own.sum() / out.sum() if out.sum() > 0 else 0.0
    return smoothed


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.integers(1, 60),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_smoothing_is_brute_force(shape, k, even, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.2, 1.0, 5.0]), (2, int(np.prod(shape)))).astype(float)
    # Even levels have many equal distances, which addresses must break.
    middles = [np.arange(n) / n if even else np.sort(rng.random(n)) for n in shape]
    squares = [(m[:, None] - m) ** 2 for m in middles]
    volumes = np.ones(counts.shape[1]) if even else rng.random(counts.shape[1]) + 0.1
    expected = by_brute_force(counts, k, squares, volumes)
    np.testing.assert_allclose(smooth(counts, k, squares, volumes), expected, rtol=1e-12)


@pytest.mark.parametrize("crowd", [1e3, 1e6])
def test_a_crowded_neighbour_is_reached_and_left(crowd):
    # Balls about an empty cell hold too few rows, or, one step further, far too many.
    counts = np.zeros((1, 25))
    counts[0, [6, 12]] = 1.0, crowd
    middle = np.array([0.0, 0.3, 0.301, 0.6, 1.0])
    squares = [(middle[:, None] - middle) ** 2] * 2
    volumes = np.full(25, 0.04)
    for k in (1, 2, 50, 900):
        expected = by_brute_force(counts, k, squares, volumes)
        np.testing.assert_allclose(smooth(counts, k, squares, volumes), expected, rtol=1e-12)


def test_without_k_counts_stay():
    counts = np.arange(6.0).reshape(2, 3)
    assert smooth(counts, 0, [np.zeros((3, 3))], np.ones(3)) is counts


def test_by_hand():
    # Levels [0, 2), [2, 3), [3, 4]: centres .25, .625, .875 of the range, volumes .5, .25, .25.
    X = np.array([[0.0], [1.0], [1.5], [3.5], [4.0], [2.5]])
    y = np.array([0, 0, 0, 0, 0, 1])
    clf = BayesClassifier(Cells(boundaries=[[2.0, 3.0]], smoothing=3)).fit(X, y)
    # Class 0 counts 3, 0, 2. With k = 3 the middle takes in the last, then the first, and so does
    # the last: 5 rows over 1. Class 1 has fewer rows than k: it is flat.
    heights = np.array([3 / 0.5, 5 / 1.0, 5 / 1.0]) * [0.5, 0.25, 0.25]
    np.testing.assert_allclose(clf.log_density_.shares[:, 0], heights / heights.sum())
    np.testing.assert_allclose(clf.log_density_.shares[:, 1], [0.5, 0.25, 0.25])
    equal = BayesClassifier(Cells(boundaries=[[2.0, 3.0]], smoothing=3, volumes="equal")).fit(X, y)
    heights = np.array([3 / 1, 5 / 3, 5 / 3])
    np.testing.assert_allclose(equal.log_density_.shares[:, 0], heights / heights.sum())


def test_the_papers_candidates():
    # With the cells really used, a third of the rows gives the k that are printed.
    assert [candidates(3.29e6, 7776)[j] for j in range(5)] == [0, 21, 42, 63, 84]
    assert candidates(100, 7776) == [0, 1, 2, 3, 4]


def test_auto_helps_where_cells_outnumber_rows_and_keeps_off_where_they_do_not():
    rng = np.random.default_rng(0)
    X = rng.random((40_000, 2))
    p = 1 / (1 + np.exp(-12 * (X[:, 0] + X[:, 1] - 1)))
    y = (rng.random(len(X)) < p).astype(int)
    fine, coarse = ([np.linspace(0, 1, n + 1)[1:-1]] * 2 for n in (60, 8))
    few = slice(0, 800)

    def law(boundaries, rows):
        cells = Cells(boundaries=boundaries, smoothing="auto")
        return BayesClassifier(cells).fit(X[rows], y[rows])

    sparse = law(fine, few)
    assert sparse.log_density_.k > 0
    plain = BayesClassifier(Cells(boundaries=fine)).fit(X[few], y[few])
    assert sparse.score(X[20_000:], y[20_000:]) > plain.score(X[20_000:], y[20_000:]) + 0.05
    # A checkerboard, whose neighbours tell nothing.
    board = (np.floor(X * 8).sum(axis=1) % 2).astype(int)
    clf = BayesClassifier(Cells(boundaries=coarse, smoothing="auto")).fit(X, board)
    assert clf.log_density_.k == 0


def test_categories_are_apart_and_missing_values_too(tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"town": ["a", "a", "b", "c", "c", "c"], "size": [1, 2, np.nan, 4, 5, 6.0]})
    y = [0, 1, 0, 1, 1, 0]
    clf = BayesClassifier(Cells(boundaries=[[], [3.0]], smoothing=2)).fit(X, y)
    assert clf.density_.levels_ == (3, 3)
    np.testing.assert_allclose(clf.log_density_.shares.sum(axis=0), 1.0)
    save(clf, tmp_path / "cells.bayes")
    copy = load(tmp_path / "cells.bayes")
    np.testing.assert_array_equal(copy.predict_proba(X), clf.predict_proba(X))


def test_what_is_no_smoothing_is_refused():
    for bad in (-1, 1.5, "much", True, None):
        with pytest.raises(ValueError, match="smoothing"):
            BayesClassifier(Cells(smoothing=bad)).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("far", [1e9, 1e160, 1.7e308])
def test_boundaries_far_from_the_rows_end_soon(far):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 1)), np.arange(60) % 2
    for rows, cuts in ((X, [-far, 0.5, far]), (far * (X - 0.5) * 2, [-0.5 * far, 0.0])):
        clf = BayesClassifier(Cells(boundaries=[cuts], smoothing=5)).fit(rows, y)
        assert np.isfinite(clf.log_density(rows)).all()
