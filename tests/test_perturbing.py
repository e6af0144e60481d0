"""The paper's search: its increments against counting anew."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayesrule import BayesClassifier, Cells, datasets
from bayesrule.boundary_search import Rows, Score
from bayesrule.density import Rule
from bayesrule.perturbing import PATIENCE, Moves
from bayesrule.zooming import Features


def gain_anew(rows, boundaries, rule):
    """Mean gain of the second half decided by the first, every row counted."""
    levels = [
        np.where(np.isnan(x), 99, np.searchsorted(b, x, side="right"))
        for b, x in zip(boundaries, rows.values.T, strict=True)
    ]
    _, cells = np.unique(np.column_stack(levels), axis=0, return_inverse=True)
    table = np.zeros((cells.max() + 1, 4))
    np.add.at(table, (cells.ravel(), rows.planes), rows.weights)
    table /= table.sum(axis=0)
    learned = np.where(table[:, :2].any(axis=1, keepdims=True), table[:, :2], 1.0)
    decided = (learned * rule.priors @ rule.gain).argmax(axis=1)
    return float((table[:, 2:] * rule.priors * rule.gain.T[decided]).sum())


@pytest.mark.parametrize("gap", [False, True])
def test_increments_are_counting_anew(gap):
    rng = np.random.default_rng(0)
    values = np.round(rng.random((500, 3)), 2)
    if gap:
        values[rng.random(500) < 0.1, 1] = np.nan
    rows = Rows(values, rng.integers(0, 4, 500).astype(np.int32), rng.integers(1, 4, 500) * 1.0)
    rule = Rule(np.array([0.4, 0.6]), np.array([[1.0, -1.0], [-2.0, 3.0]]))
    totals = np.bincount(rows.planes, rows.weights)
    score = Score.of("gain", totals, rule, True)
    cuts = [np.array([0.3, 0.7]), np.array([0.5]), np.array([0.2, 0.4, 0.8])]
    moves = Moves(rows, cuts, Features((True,) * 3, (False, gap, False)), score)
    kept = 0
    for _ in range(200):
        j = int(rng.integers(3))
        at = int(rng.integers(len(moves.boundaries[j])))
        before = moves.gain
        improved = moves.try_at(j, at, rng.uniform(*moves.reach(j, at)))
        assert improved == (moves.gain > before)
        kept += improved
        assert score.told(2 * moves.gain) == pytest.approx(
            gain_anew(rows, moves.boundaries, rule), abs=1e-9
        )
    assert 0 < kept < 200
    assert all((np.diff(b) > 0).all() for b in moves.boundaries)
    assert (moves.table >= 0).all()
    # Whole weights and gains: a thousand increments leave no trace.
    assert moves.gain == moves._gain(0, 0, moves.shape[0] - 1)


def test_it_improves_on_equal_shares_and_stops_by_itself():
    world = datasets.make_cells(20_000, (3, 3), seed=3, mixing=0.2)

    def fit(boundaries):
        cells = Cells(levels=[3, 3], boundaries=boundaries)
        return BayesClassifier(cells, priors=world.priors, gain=world.gain).fit(world.X, world.y)

    paper = fit("paper")
    history = paper.density_.history_
    assert [stage.what for stage in history[:3]] == ["start", "random moves", "check"]
    worth = [stage.worth for stage in history]
    assert worth == sorted(worth)
    # The last check tried every boundary at every place, and found nothing.
    assert history[-1].tried - history[-2].tried == 4 * 11
    assert history[1].tried >= PATIENCE
    assert history[-1].worth == history[-2].worth
    assert world.gain_of(paper) > world.gain_of(fit("equal"))
    assert world.gain_of(fit("optimized")) >= world.gain_of(paper)


def test_levels_come_by_entropy_and_categories_stay():
    rng = np.random.default_rng(0)
    town, size = rng.choice(["a", "b", "c"], 2000), rng.random(2000)
    y = ((size > 0.2) ^ (town == "b")).astype(int)
    X = pd.DataFrame({"town": town, "size": size})
    clf = BayesClassifier(Cells(12, boundaries="paper")).fit(X, y)
    assert clf.density_.levels_ == (3, 4)
    assert clf.density_.boundaries_[0].tolist() == [0.5, 1.5]
    assert clf.score(X, y) > 0.97
