"""Displays of profiles and of robustness: what is drawn is what was computed."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_iris

from bayesrule import recipes, robustness_curve
from bayesrule.displays import RobustnessDisplay

matplotlib.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def no_open_figures() -> Any:
    yield
    plt.close("all")


def test_robustness_lines_are_the_means_of_the_curve():
    X, y = load_iris(return_X_y=True)
    models = {"near": recipes.knn(3), "naive": recipes.gaussian_nb()}
    curve = robustness_curve(models, X, y, noise=["labels", "features"], cv=3)
    display = RobustnessDisplay.from_curve(curve)
    for handle, means in zip(display.handles_, curve.means, strict=True):
        np.testing.assert_array_equal(handle.get_ydata(), means)
        np.testing.assert_array_equal(handle.get_xdata(), curve.levels[:, 0])
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["near", "naive"]
    label = display.ax_.get_xlabel()
    assert "wrong labels (training rows)" in label
    assert "(new rows), 0 to 0.5" in label
    assert len(display.ax_.collections) == 2
    bare = RobustnessDisplay(curve).plot(confidence=None, legend=False)
    assert len(bare.ax_.collections) == 0
    assert bare.ax_.get_legend() is None
