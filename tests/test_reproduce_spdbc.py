"""The page of the paper's experiment is filled, and shows on iris what is known of it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayesrule import RobustnessCurve, datasets
from reproduce import spdbc
from reproduce.page import Page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_iris_comes_out_as_known(tmp_path, monkeypatch):
    one = dict([*spdbc.peers().items()][-1:])  # boosting alone would take minutes
    monkeypatch.setattr(spdbc, "peers", lambda: one)
    try:
        datasets.load("iris")
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    page = Page(tmp_path, "spdbc", spdbc.TITLE, False)
    spdbc.experiment(page, 2, ["iris"])
    spdbc.otherwise(page, 1, ["iris"])
    spdbc.chosen(page, 1, 1, ["iris"])
    spdbc.forests(page, 1, 1, ["iris"], ["iris"])
    text = page.write().read_text()
    rows = [line for line in text.splitlines() if line.startswith("| **mean**")]
    figures = np.array(re.findall(r"(0\.\d+)", rows[0]), float).reshape(3, 4)
    np.testing.assert_allclose(figures[:, :2], figures[:, 2:], atol=0.04)
    apart = np.array(re.findall(r"([+-]0\.\d+)/([+-]0\.\d+)", text), float)
    assert apart.shape == (6 * 3, 2)  # six protocols, three conditions
    assert np.abs(apart).max() < 0.1
    figures = np.array(re.findall(r"(0\.\d+)", rows[1]), float).reshape(3, 4)
    np.testing.assert_allclose(figures[:, :2], figures[:, 2:], atol=0.07)
    # The forest alone, and as the first of the models that stand beside it.
    forests = [line for line in text.splitlines() if line.startswith("| forest of partitions")]
    assert len(forests) == 3
    assert len(set(forests)) == 1
    assert sorted(path.name for path in tmp_path.glob("images/*.png")) == ["spdbc-1.png"]


def curve(scores):
    """Two models without noise, with noise of features, and with wrong labels."""
    levels = np.array([[0.0, 0.0], [0.0, 0.5], [0.25, 0.0]])
    means = ("labels", "features")
    scores = np.repeat(np.array(scores, float)[:, :, None, None], 5, axis=3)
    return RobustnessCurve(("hard", "soft"), levels, scores, means, ("train", "test"), 0.25, "")


def test_tables_stand_in_the_order_of_their_titles(tmp_path):
    page = Page(tmp_path, "spdbc", spdbc.TITLE, False)
    # Clean, features, labels: what the curve gives; clean, labels, features: what tables show.
    known = np.array(spdbc.KNOWN["iris"])
    exact = {"iris": curve(known.T[:, [0, 2, 1]])}
    spdbc.beside_known(page, exact)
    spdbc.side_by_side(page, exact)
    text = page.write().read_text()
    assert "0.000 at most, 0.000 on the mean" in text
    assert "| iris | 0.962/0.967 (0.962/0.967) | 0.931/0.951 (0.931/0.951) |" in text
    assert "| hard | 0.962/0.931/0.830 | 0.9620/0.9310/0.8300 |" in text


def test_numbers_and_fuzziness_are_chosen_inside():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + y[:, None]
    models = spdbc.tuned(2)
    for model in models.values():
        density = model.fit(X, y).density
        assert (density.folds, density.repeats, density.profiles.n_init) == (10, 2, 1)
        assert model.density_.partition.n_profiles in (10, 15, 20, 30)
    assert models["soft"].density_.partition.fuzziness in (1.1, 1.3, 1.5)


def test_deals_differ_and_add_up(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    monkeypatch.setattr(spdbc, "rows_of", lambda name: (X, y))
    page = Page(tmp_path, "spdbc", spdbc.TITLE, False, tmp_path / "store")
    models = {"forest": spdbc.recipes.dbc(4)}
    two, three = (spdbc.at_ends(page, "some", models, "set", n) for n in (2, 3))
    assert three.scores.shape == (1, 3, 3, 5)
    np.testing.assert_array_equal(three.scores[:, :, :2], two.scores)
    assert (three.scores[:, :, 0] != three.scores[:, :, 1]).any()
    assert len(list((tmp_path / "store").iterdir())) == 3


def test_sets_that_are_absent_are_named(tmp_path):
    page = Page(tmp_path, "spdbc", spdbc.TITLE, False)

    def measure(name):
        if name == "zoo":
            raise FileNotFoundError("no zoo here")
        return name

    assert spdbc.measured(page, measure, ["iris", "zoo"]) == {"iris": "iris"}
    assert "zoo was left out: no zoo here" in page.write().read_text()
    with pytest.raises(FileNotFoundError, match="no zoo here"):
        spdbc.measured(page, measure, ["zoo"])
