"""The display of robust distances shows what it says."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from bayesrule import BayesClassifier, Gaussian, recipes
from bayesrule.displays import OutlyingnessDisplay

matplotlib.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b$"], 150)
    X = rng.normal(size=(300, 3)) + (y == "b$")[:, None] * 2.0
    X[:6] *= 40.0
    frame = pd.DataFrame(X, columns=list("pqr"), index=[f"case {i}" for i in range(300)])
    return recipes.femda().fit(frame, y), frame, y


def test_points_are_distances_from_the_own_class_in_order(fitted):
    clf, X, y = fitted
    display = OutlyingnessDisplay.from_estimator(clf, X, y)
    own = clf.outlyingness(X)[np.arange(300), (y == "b$").astype(int)]
    np.testing.assert_array_equal(display.distances, own)
    for k, label in enumerate(("a", "b$")):
        line = display.ax_.lines[k]
        np.testing.assert_array_equal(line.get_ydata(), np.sort(own[y == label]))
        chance = chi2.cdf(np.asarray(line.get_xdata()) ** 2, 3)
        np.testing.assert_allclose(chance, (np.arange(150) + 0.5) / 150)
        beyond = np.mean(own[y == label] > np.sqrt(chi2.ppf(0.975, 3)))
        assert display.beyond_[k] == pytest.approx(beyond)
        assert f"({beyond:.1%} beyond)" in line.get_label()
    assert display.beyond_[0] >= 6 / 150
    display.figure_.canvas.draw()


def test_the_farthest_rows_are_named(fitted):
    clf, X, y = fitted
    display = OutlyingnessDisplay.from_estimator(clf, X, y, names="index")
    named = {text.get_text() for text in display.ax_.texts}
    farthest = np.argsort(-display.distances)[:6]
    assert {f"case {i}" for i in farthest} <= named
    assert {f"case {i}" for i in range(6)} <= named
    heights = sorted(text.get_position()[1] for text in display.ax_.texts)
    low, high = display.ax_.get_ylim()
    apart = np.diff(np.log(heights)) / np.log(high / low)
    assert apart.min() > 0.04
    display.figure_.canvas.draw()


def test_others_are_refused(fitted):
    clf, X, y = fitted
    with pytest.raises(TypeError, match="no outlyingness"):
        OutlyingnessDisplay.from_estimator(BayesClassifier(Gaussian()).fit(X, y), X, y)
    with pytest.raises(ValueError, match="'c', which was not fitted"):
        OutlyingnessDisplay.from_estimator(clf, X, np.where(y == "a", "c", y))
    with pytest.raises(ValueError, match="Soft labels"):
        OutlyingnessDisplay.from_estimator(clf, X, np.full((300, 2), 0.5))
