"""Recipes are plain compositions: each is the classifier one would write by hand."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from bayesrule import BayesClassifier, Elliptical, Gaussian, Minimax, recipes

X = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([0, 1, 2], 20)[:, None]
Y = np.repeat(["a", "b", "c"], 20)


@pytest.mark.parametrize(
    ("recipe", "density"),
    [
        (recipes.gaussian_nb(), Gaussian("diag")),
        (recipes.lda(), Gaussian("tied")),
        (recipes.lda(0.2), Gaussian("tied", 0.2)),
        (recipes.lda(shrinkage="auto"), Gaussian("tied", "auto")),
        (recipes.qda(), Gaussian("full")),
        (recipes.qda("auto"), Gaussian("full", "auto")),
        (recipes.femda(tied=True), Elliptical("tyler", tied=True)),
        (recipes.t_qda(4.0), Elliptical("student", dof=4.0)),
        (recipes.gqda(1.2), Elliptical("sample", "gqda", threshold=1.2)),
        (recipes.rgqda(), Elliptical("mcd", "gqda")),
    ],
    ids=repr,
)
def test_recipe_is_the_composition_by_hand(recipe, density):
    by_hand = BayesClassifier(density).fit(X, Y)
    np.testing.assert_array_equal(recipe.fit(X, Y).predict_proba(X), by_hand.predict_proba(X))


@pytest.mark.parametrize(
    "recipe",
    [
        r
        for _, r in inspect.getmembers(recipes, inspect.isfunction)
        if r.__module__ == recipes.__name__
    ],
)
def test_every_recipe_hands_its_rule_on(recipe):
    chosen = "priors" in inspect.signature(recipe).parameters
    clf = recipe(**({"priors": "uniform"} if chosen else {}), gain=[[1, 0], [0, 5]])
    assert isinstance(clf, BayesClassifier)
    assert clf.gain == [[1, 0], [0, 5]]
    assert repr(clone(clf)) == repr(clf)
    if chosen:
        assert clf.priors == "uniform"
        assert recipe().priors == "empirical"
    else:
        assert isinstance(clf.priors, Minimax)
    assert recipe().gain is None
    # Two calls share nothing that one could change under the other.
    assert recipe().density is not recipe().density
    assert recipe.__doc__
    assert ">>>" in recipe.__doc__
