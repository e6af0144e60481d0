"""Worlds of known optimum: against sums over rows and numerical integrals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from bayesrule import BayesClassifier, Cells, datasets


class Best:
    """The best rule there is."""

    def __init__(self, world):
        self.world = world

    def predict(self, X):
        return (self.world.densities(X) * self.world.priors @ self.world.gain).argmax(axis=1)


@pytest.mark.parametrize("smooth", [False, True])
def test_no_rule_beats_the_optimum_and_the_best_one_reaches_it(smooth):
    world = datasets.make_cells(10, (2, 3, 4), seed=3, smooth=smooth, mixing=0.5)
    found, error = world.estimated_gain(Best(world), 200_000)
    assert found == pytest.approx(world.optimal_gain, abs=4 * error)
    own = Cells(boundaries=[np.linspace(0, 1, 8)[1:-1]] * 3)
    X, y = world.draw(50_000, 9)
    clf = BayesClassifier(own, priors=world.priors, gain=world.gain).fit(X, y)
    assert world.gain_of(clf) < world.optimal_gain
    found, error = world.estimated_gain(clf, 200_000)
    assert found == pytest.approx(world.gain_of(clf), abs=4 * error)


def test_the_true_boundaries_reach_the_optimum_of_hidden_cells():
    world = datasets.make_cells(200_000, (3, 4), seed=1, decimals=5)
    assert np.abs(world.X * 1e5 - np.rint(world.X * 1e5)).max() < 1e-6
    own = Cells(boundaries=world.boundaries)
    clf = BayesClassifier(own, priors=world.priors, gain=world.gain).fit(world.X, world.y)
    assert world.gain_of(clf) == pytest.approx(world.optimal_gain, rel=1e-9)


def test_the_smooth_optimum_is_its_integral():
    world = datasets.make_cells(10, (3,), seed=4, smooth=True)

    def best(x):
        joint = world.priors * world.densities(np.array([[x]]))[0]
        return (joint @ world.gain).max()

    expected, _ = quad(best, 0, 1, limit=400, points=np.linspace(0, 1, 41))
    assert world.optimal_gain == pytest.approx(expected, abs=1e-6)
    for k in (0, 1):
        mass, _ = quad(lambda x, k=k: world.densities(np.array([[x]]))[0, k], 0, 1)
        assert mass == pytest.approx(1.0)
    plane = datasets.make_cells(10, (1, 2), seed=4, smooth=True)
    mass, _ = dblquad(lambda x, y: plane.densities(np.array([[x, y]]))[0, 1], 0, 0.3, 0, 0.6)
    edges = [np.array([0.0, 0.6, 1.0]), np.array([0.0, 0.3, 1.0])]
    assert plane._box_masses(edges, np.array([0]))[0, 1] == pytest.approx(mass)


@pytest.mark.parametrize("smooth", [False, True])
def test_rows_follow_their_density(smooth):
    world = datasets.make_cells(60_000, (3, 2), seed=6, smooth=smooth)
    for k in (0, 1):
        inside = (world.X[world.y == k] < [0.4, 0.7]).all(axis=1).mean()
        edges = world._box_grid([np.array([0.4]), np.array([0.7])])
        shape = [len(e) - 1 for e in edges]
        masses = world._box_masses(edges, np.arange(np.prod(shape)))[:, k].reshape(shape)
        below = [np.searchsorted(e, at) for e, at in zip(edges, (0.4, 0.7), strict=True)]
        assert inside == pytest.approx(masses[: below[0], : below[1]].sum(), abs=0.01)
    np.testing.assert_allclose(np.bincount(world.y) / 60_000, world.shares, atol=0.01)


def test_what_is_no_world_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        datasets.make_cells(10, (2,), priors=[0.2, 0.3, 0.5], gain=np.eye(3), smooth=True)
    with pytest.raises(ValueError, match="not of 3 classes"):
        datasets.make_cells(10, (2,), priors=[0.2, 0.3, 0.5])
