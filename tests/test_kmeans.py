"""k-means: as good as scikit-learn's, and the best there is where all cells can be tried."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.cluster import KMeans

from bayesrule.kernels import centres as loops
from bayesrule.kmeans import SMALL, kmeans


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 4, (n, 1))


def test_the_best_of_all_divisions_is_found():
    rng = np.random.default_rng(0)
    for _ in range(2):
        X, w = rng.normal(size=(8, 2)), rng.integers(1, 5, 8).astype(float)
        least = np.inf
        for division in product(range(3), repeat=7):
            place = np.array([0, *division])
            value = 0.0
            for t in range(3):
                mine = place == t
                if mine.any():
                    centre = w[mine] @ X[mine] / w[mine].sum()
                    value += w[mine] @ ((X[mine] - centre) ** 2).sum(axis=1)
            least = min(least, value)
        assert kmeans(X, w, 3, 40, 0).inertia == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("n_centres", [3, 30])
def test_a_start_is_as_good_as_one_of_scikit_learn_on_the_mean(n_centres):
    X = rows(300, 5)
    ours = [kmeans(X, np.ones(300), n_centres, 1, seed).inertia for seed in range(25)]
    theirs = [KMeans(n_centres, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(25)]
    error = np.sqrt((np.var(ours) + np.var(theirs)) / 25)
    assert np.mean(ours) < np.mean(theirs) + 3.0 * error + 1e-9


def test_rows_are_in_their_nearest_cells_and_centres_are_their_means():
    X, w = rows(500, 3), np.random.default_rng(1).uniform(0.5, 2.0, 500)
    found = kmeans(X, w, 12, 3, 0)
    apart = ((X[:, None] - found.centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(found.labels, apart.argmin(axis=1))
    assert found.inertia == pytest.approx(w @ apart.min(axis=1))
    means = [w[found.labels == t] @ X[found.labels == t] for t in range(12)]
    masses = np.bincount(found.labels, w)
    # The last moves may have been too small to count.
    np.testing.assert_allclose(means / masses[:, None], found.centres, atol=0.01 * X.std())


def test_weights_are_repetitions():
    X, w = rows(60, 2), np.random.default_rng(0).integers(1, 4, 60)
    best = min(kmeans(X, w.astype(float), 4, 1, s).inertia for s in range(30))
    peer = KMeans(4, n_init=30, random_state=0).fit(np.repeat(X, w, axis=0))
    assert best == pytest.approx(peer.inertia_, rel=1e-6)


def test_more_starts_are_never_worse_and_seeds_repeat():
    X, w = rows(200, 4), np.ones(200)
    inertias = [kmeans(X, w, 25, n_init, 3).inertia for n_init in (1, 2, 5, 12)]
    assert inertias == sorted(inertias, reverse=True)
    assert inertias[0] > inertias[-1]
    np.testing.assert_array_equal(kmeans(X, w, 25, 2, 3).labels, kmeans(X, w, 25, 2, 3).labels)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    X = rows(9_000, 6)
    assert len(X) * 6 * 20 > SMALL
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BAYESRULE_NUM_THREADS", threads)
        found.append(kmeans(X, np.ones(len(X)), 20, 6, 0).centres)
    np.testing.assert_array_equal(*found)


def test_far_from_zero_cells_are_the_same():
    X = np.round(rows(150, 3), 3)
    near, far = (kmeans(X + shift, np.ones(150), 8, 2, 0) for shift in (0.0, 2.0**20))
    np.testing.assert_array_equal(near.labels, far.labels)
    np.testing.assert_allclose(far.centres - 2.0**20, near.centres, atol=1e-6)


def test_first_centres_are_different_rows_that_weigh_something():
    X = np.ascontiguousarray(rows(64, 2).T)
    weights = np.where(np.arange(64) % 3 == 0, 0.0, 1.0)
    draws, first = np.random.default_rng(0).random((40, 3)), np.empty(40, np.int64)
    loops.spread_starts(X, weights, draws, first)
    assert len(np.unique(first)) == 40
    assert (weights[first] > 0).all()


def test_a_cell_that_runs_empty_takes_the_row_that_lies_farthest_off():
    X = np.zeros((1, 64))
    X[0, :5] = [0.0, 1.0, 2.0, 10.0, 11.0]
    weights = (np.arange(64) < 5).astype(float)
    centres = np.array([[0.0], [900.0], [901.0]])
    place, apart = np.empty(5, np.int32), np.empty(5)
    inertia = loops.settle_centres(X, weights, centres, 100, 0.0, place, apart)
    np.testing.assert_array_equal(place, [0, 0, 0, 2, 1])
    assert inertia == pytest.approx(2.0)
