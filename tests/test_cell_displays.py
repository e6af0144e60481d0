"""Pictures of cells: what they show is what there is."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from bayesrule import BayesClassifier, datasets, recipes
from bayesrule.displays import CellBoundariesDisplay, DecisionRegionDisplay, MemoryGainDisplay

mpl.use("agg")
WORLD = datasets.make_cells(6000, (3, 1, 4), seed=2, mixing=0.2)


@pytest.fixture(scope="module")
def clf():
    rule = recipes.quantized(60, priors=WORLD.priors, gain=WORLD.gain)
    return rule.fit(WORLD.X, WORLD.y)


def test_histograms_are_numpys_and_boundaries_those_of_the_rule(clf):
    display = CellBoundariesDisplay.from_estimator(clf, WORLD.X, WORLD.y)
    assert display.feature_names == ["feature 0", "feature 2"]  # the other one has no boundary
    for j, at in enumerate((0, 2)):
        np.testing.assert_array_equal(display.boundaries[j], clf.density_.boundaries_[at])
        for k in (0, 1):
            values = WORLD.X[WORLD.y == k, at]
            expected, _ = np.histogram(values, display.edges[j], density=True)
            np.testing.assert_allclose(display.heights[j][k], expected)
        drawn = [line.get_xdata()[0] for line in display.axes_[j].lines]
        assert set(display.boundaries[j]) <= set(drawn)
    chosen = CellBoundariesDisplay.from_estimator(clf, WORLD.X, WORLD.y, features=[1])
    assert len(chosen.axes_) == 1
    assert chosen.axes_[0].get_title(loc="left") == "one level"
    with pytest.raises(ValueError, match="features names 9"):
        CellBoundariesDisplay.from_estimator(clf, WORLD.X, WORLD.y, features=[9])
    plain = BayesClassifier().fit(WORLD.X, WORLD.y)
    with pytest.raises(TypeError, match="has no boundaries"):
        CellBoundariesDisplay.from_estimator(plain, WORLD.X, WORLD.y)


def test_categories_are_named_and_far_values_do_not_squeeze_the_rest():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": rng.choice(["a", "b"], 2000), "size": rng.random(2000)})
    X.loc[0, "size"] = 1e9
    y = (X["town"] == "a") ^ (X["size"] > 0.6)
    rule = recipes.quantized(20).fit(X, y)
    display = CellBoundariesDisplay.from_estimator(rule, X, y)
    assert [t.get_text() for t in display.axes_[0].get_xticklabels()] == ["a", "b"]
    assert display.edges[1][-1] < 2
    np.testing.assert_allclose((display.heights[1] * np.diff(display.edges[1])).sum(axis=1), 1.0)


def test_decision_maps_follow_the_cells(clf):
    at = DecisionRegionDisplay.from_estimator(clf, WORLD.X, features=(0, 2), grid_resolution=40)
    held = np.median(WORLD.X[:, 1])
    rows = np.column_stack([at.xx0.ravel(), np.full(at.xx0.size, held), at.xx1.ravel()])
    np.testing.assert_array_equal(at.decisions[at.decided].ravel(), clf.predict(rows))


def test_memory_buys_gain():
    halves = WORLD.X[:3000], WORLD.y[:3000], WORLD.X[3000:], WORLD.y[3000:]
    rule = recipes.quantized(24, priors=WORLD.priors, gain=WORLD.gain)
    display = MemoryGainDisplay.from_estimator(rule, *halves, best=WORLD.optimal_gain)
    assert display.limits.tolist() == [4, 8, 16, 24]
    assert (display.cells <= display.limits).all()
    assert display.gains[-1] > display.gains[0] + 0.04
    assert (display.intervals[:, 0] <= display.gains).all()
    with pytest.raises(TypeError, match="Cells"):
        MemoryGainDisplay.from_estimator(BayesClassifier(), *halves)
