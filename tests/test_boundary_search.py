"""Exact placement of boundaries: against every other placement."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesrule.allocation import best_levels
from bayesrule.boundary_search import Grid, Rows, Score, best_cuts
from bayesrule.density import Rule

RULE = Rule(np.array([0.4, 0.6]), np.array([[1.0, -1.0], [-2.0, 3.0]]))


def worth_by_rows(objective, rule, levels, planes, n_classes, halves) -> float:
    """What cells are worth, row by row: each judged by the others, or by the other half."""
    planes = np.asarray(planes)
    classes, half = planes % n_classes, planes // n_classes
    totals = np.bincount(planes, minlength=n_classes * (1 + halves)).astype(float)
    total = 0.0
    for i, k in enumerate(classes):
        others = (levels == levels[i]).all(axis=1)
        if halves:
            others &= half != half[i]
        else:
            others[i] = False
        mass = np.zeros(n_classes)
        for o in np.flatnonzero(others):
            mass[classes[o]] += rule.priors[classes[o]] / totals[planes[o]]
        chance = mass / mass.sum() if mass.sum() > 0 else rule.priors
        if objective == "brier":
            value = -((chance - np.eye(n_classes)[k]) ** 2).sum()
        else:
            value = rule.gain[k, np.argmax(chance @ rule.gain)]
        total += rule.priors[k] / totals[planes[i]] * value
    return total


def a_grid(seed, n, shape, n_classes, objective, halves, gap):
    """Rows in few bins, and the places of the first cuts."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 10, (n, len(shape))).astype(float)
    if gap:
        values[rng.random(n) < 0.2, 0] = np.nan
    planes = rng.integers(0, n_classes * (1 + halves), n).astype(np.int32)
    priors = rng.dirichlet(np.ones(n_classes))
    # Whole gains, as counts are: no decision is a matter of rounding.
    rule = Rule(priors, rng.integers(-9, 9, (n_classes, n_classes + 1)).astype(float))
    totals = np.bincount(planes, minlength=n_classes * (1 + halves)).astype(float)
    score = Score.of(objective, totals, rule, halves)
    cuts = [np.sort(rng.choice(9, n_bins - 1, replace=False)) + 0.5 for n_bins in shape]
    rows = Rows(values, planes, np.ones(n))
    free, gaps = (True,) * len(shape), (gap,) + (False,) * (len(shape) - 1)
    grid = Grid.of(rows, cuts, free, gaps, score)
    chosen = [1 + np.sort(rng.choice(len(c), min(1, len(c)), replace=False)) for c in cuts]
    return grid, rows, chosen, rule


def levels_of(rows, grid, chosen):
    found = [
        np.where(np.isnan(x), -1, np.searchsorted(c[places - 1], x, side="right"))
        for x, c, places in zip(rows.values.T, grid.cuts, chosen, strict=True)
    ]
    return np.column_stack(found)


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(2, 6), min_size=1, max_size=3),
    st.integers(2, 3),
    st.sampled_from(["brier", "gain"]),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_no_other_cuts_are_worth_more(seed, shape, n_classes, objective, halves, gap):
    grid, rows, chosen, rule = a_grid(seed, 25, shape, n_classes, objective, halves, gap)
    values, missing = grid.stretches(chosen, 0)
    placed = best_cuts(values, len(grid.cuts[0]))
    for n in range(len(grid.cuts[0]) + 1):
        told = {}
        for places in itertools.combinations(range(1, len(grid.cuts[0]) + 1), n):
            trial = [np.array(places, int), *chosen[1:]]
            at = levels_of(rows, grid, trial)
            told[places] = worth_by_rows(objective, rule, at, rows.planes, n_classes, halves)
        best = max(told.values())
        scale = 2.0**40
        assert (placed.value[n] + missing) / scale == pytest.approx(best, abs=1e-9)
        assert told[tuple(placed.cuts(n).tolist())] == pytest.approx(best, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_levels_are_the_best_of_all_products(seed, limit, n_features):
    rng = np.random.default_rng(seed)
    curves = [rng.integers(0, 6, rng.integers(1, 7)).astype(float) for _ in range(n_features)]
    extra = rng.integers(0, 2, n_features).tolist()
    every = [
        levels
        for levels in itertools.product(*(range(1, len(c) + 1) for c in curves))
        if np.prod([n + e for n, e in zip(levels, extra, strict=True)]) <= limit
    ]
    if not every:
        with pytest.raises(ValueError, match="already makes"):
            best_levels(curves, limit, extra)
        return

    def worth(levels):
        return sum(c[n - 1] for c, n in zip(curves, levels, strict=True))

    found = best_levels(curves, limit, extra)
    assert found in every
    assert worth(found) == max(map(worth, every))


def test_a_plateau_is_cut_in_its_middle():
    # Bins 1 to 3 are empty: a cut anywhere beside them parts the same rows.
    codes = np.array([[0]] * 20 + [[4]] * 20, np.uint16)
    planes = np.repeat([0, 1], 20).astype(np.int32)
    score = Score.of("brier", np.array([20.0, 20.0]), RULE, False)
    cuts = (np.array([1.0, 2.0, 3.0, 4.0]),)
    grid = Grid(cuts, (True,), (False,), codes, planes, np.ones(40), score)
    values, _ = grid.stretches([np.array([1])], 0)
    assert best_cuts(values, 1).cuts(1).tolist() == [2]


def test_counts_are_whole_and_weights_repeat_rows():
    grid, rows, chosen, _ = a_grid(3, 40, [5, 4], 2, "gain", False, False)
    twice = Rows(np.concatenate([rows.values] * 2), np.concatenate([rows.planes] * 2), np.ones(80))
    heavy = Rows(rows.values, rows.planes, np.full(40, 2.0))
    score = Score.of("gain", np.bincount(twice.planes).astype(float), RULE, False)
    parts = [Grid.of(r, grid.cuts, grid.free, grid.gaps, score) for r in (twice, heavy)]
    one, other = (part.stretches(chosen, 0)[0] for part in parts)
    np.testing.assert_array_equal(one, other)
    # Whole weights times whole gains: sums have no rounding to drift by.
    finite = one[np.isfinite(one)]
    np.testing.assert_array_equal(finite, np.rint(finite))
