"""The page on quantised cells: its small parts, run as they stand."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from bayesrule import datasets
from reproduce import quantizer
from reproduce.page import Page

mpl.use("agg")


def written(folder, part, *arguments) -> str:
    page = Page(folder, "quantizer", quantizer.TITLE, full=False)
    part(page, *arguments)
    return page.write().read_text(encoding="utf-8")


def test_the_table_by_hand_and_the_gain_under_the_stated_priors(tmp_path):
    text = written(tmp_path, quantizer.by_hand)
    assert "Expected gain 1.50." in text
    assert [line.split("|")[4].strip() for line in text.splitlines() if "cell " in line[:8]] == [
        "0",
        "1",
        "1",
    ]
    assert "the same rule earns 2.1245" in " ".join(
        written(tmp_path, quantizer.differences).split()
    )


def test_one_full_count_is_the_gain_of_the_rule_it_learns():
    world = datasets.make_cells(40_000, (3, 2), seed=1)
    half = len(world.y) // 2
    gain = quantizer.count_once(world, world.boundaries, world.X, world.y, half)
    clf, _ = quantizer.fitted(world, world.X[:half], world.y[:half], boundaries=world.boundaries)
    joint = quantizer.confusion(clf, world.X[half:], world.y[half:])
    assert gain == pytest.approx(quantizer.gains_of(joint, world)[0])


def test_the_experiment_runs_from_entropies_to_pictures(tmp_path):
    text = written(tmp_path, quantizer.paper, 12_000)
    assert "levels [6, 6, 6, 6, 6] (rounded up they would be [7, 7, 7, 7, 7], 16,807" in text
    rows = [line for line in text.splitlines() if line.startswith("| exact search |")]
    assert len(rows) == 2  # boundaries, and figures
    assert 0.5 < float(rows[1].split("|")[5]) < 1.0
    assert len(list((tmp_path / "images").iterdir())) == 2
    assert np.isclose(quantizer.PRINTED.sum(), 1.0)
