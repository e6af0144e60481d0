"""Histograms: against numpy, closed forms and exhaustive search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gammaln

from bayesrule import BayesClassifier, Columns, Histogram, load, save
from bayesrule.notices import FewRowsWarning

RNG = np.random.default_rng(11)


def fitted(density: Histogram, X: np.ndarray, weights=None) -> BayesClassifier:
    """Of one class."""
    return BayesClassifier(density).fit(X, np.zeros(len(X)), weights)


def edges(bins, values, weights=None, **settings) -> np.ndarray:
    values = np.asarray(values, float)[:, None]
    return fitted(Histogram(bins, **settings), values, weights).density_.edges[0]


# ---------------------------------------------------------------------- rules


@pytest.mark.parametrize("rule", ["sturges", "doane", "scott", "fd", 7])
@pytest.mark.parametrize("law", ["normal", "exponential", "uniform"])
def test_edges_are_numpy_s(rule, law):
    values = getattr(RNG, law)(size=500)
    np.testing.assert_allclose(edges(rule, values), np.histogram_bin_edges(values, rule))


@pytest.mark.parametrize("rule", ["sturges", "doane", "scott", "fd", "knuth", "blocks"])
def test_weights_are_repetitions(rule):
    values, weights = RNG.normal(size=60), RNG.integers(1, 5, 60)
    by_weight = edges(rule, values, weights)
    np.testing.assert_allclose(by_weight, edges(rule, np.repeat(values, weights)))


def knuth_posterior(values: np.ndarray, n_bins: int) -> float:
    """Equation (31) of Knuth (2006)."""
    counts, _ = np.histogram(values, n_bins)
    n, m = len(values), n_bins
    constant = n * np.log(m) + gammaln(m / 2) - m * gammaln(0.5) - gammaln(n + m / 2)
    return float(constant + gammaln(counts + 0.5).sum())


def test_knuth_is_the_best_number_of_bins():
    values = np.concatenate([RNG.normal(size=300), RNG.normal(6, 0.5, 200)])
    found = len(edges("knuth", values)) - 1
    scores = [knuth_posterior(values, m) for m in range(1, 201)]
    assert found == 1 + int(np.argmax(scores))


def test_blocks_are_the_best_of_all_cuts():
    values = np.sort(np.concatenate([RNG.uniform(0, 1, 4), RNG.uniform(0.45, 0.5, 8)]))
    cells = np.concatenate([values[:1], 0.5 * (values[1:] + values[:-1]), values[-1:]])
    n = len(values)
    price = 4.0 - np.log(73.53 * 0.05 * n**-0.478)
    best, found = -np.inf, None
    for size in range(n):
        for cuts in itertools.combinations(range(1, n), size):
            chosen = [0, *cuts, n]
            held = np.diff(chosen)
            score = (held * np.log(held / np.diff(cells[chosen]))).sum() - price * len(held)
            if score > best:
                best, found = score, cells[chosen]
    np.testing.assert_allclose(edges("blocks", values), found)


def test_blocks_find_a_change_and_nothing_in_a_flat_law():
    flat = np.random.default_rng(0).uniform(size=1000)
    assert len(edges("blocks", flat)) == 2
    step = np.concatenate([flat, np.random.default_rng(1).uniform(0.7, 0.8, 1000)])
    found = edges("blocks", step)
    assert len(found) == 4
    np.testing.assert_allclose(found[1:3], [0.7, 0.8], atol=0.01)
    # Cells of many values each find the same change.
    many = np.concatenate([np.random.default_rng(2).uniform(size=20_000), step])
    assert any(abs(found - 0.7) < 0.01 for found in edges("blocks", many))


def test_classes_share_the_edges_of_their_own_widths():
    X = np.concatenate([RNG.normal(0, 1, 500), RNG.normal(1000, 1, 500)])[:, None]
    y = np.repeat([0, 1], 500)
    widths = [np.diff(edges("scott", X[y == k, 0]))[0] for k in (0, 1)]
    with np.errstate(all="raise"):
        found = np.diff(BayesClassifier(Histogram("scott")).fit(X, y).density_.edges[0])
    # The rule's own widths, before each class's range was cut evenly.
    assert found.max() == pytest.approx(np.sqrt(np.prod(widths)), rel=0.1)


def test_width_and_origin():
    found = edges("fd", [0.3, 1.0, 2.6], width=0.5, origin=0.25)
    np.testing.assert_allclose(found, [0.25, 0.75, 1.25, 1.75, 2.25, 2.75])
    found = edges(4, [1.0, 3.0, 5.0], origin=0.5)
    np.testing.assert_allclose(found, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    two = Histogram(["fd", [0.0, 1.0, 4.0]], width=None)
    clf = fitted(two, np.column_stack([RNG.normal(size=30), RNG.uniform(0, 4, 30)]))
    np.testing.assert_array_equal(clf.density_.edges[1], [0.0, 1.0, 4.0])
    both = [np.array([0.0, 1.0]), np.array([0.0, 1.0, 4.0])]
    clf = fitted(Histogram(both), np.column_stack([RNG.normal(size=30), RNG.uniform(0, 4, 30)]))
    assert clf.density_.n_bins == [3, 4]


# ---------------------------------------------------------------------- densities


def test_heights_are_numpy_s():
    values = RNG.gamma(2.0, 1.0, 400)
    heights, at = np.histogram(values, "fd", density=True)
    clf = fitted(Histogram("fd", smoothing=0), values[:, None])
    middles = 0.5 * (at[1:] + at[:-1])
    found = np.exp(clf.log_density(middles[:, None]))[:, 0]
    np.testing.assert_allclose(found, heights, rtol=1e-12)
    # Both ends belong to a bin, and nothing lies beyond.
    ends = np.exp(clf.log_density([[values.min()], [values.max()]]))[:, 0]
    np.testing.assert_allclose(ends, heights[[0, -1]], rtol=1e-12)
    assert clf.log_density([[values.min() - 1e-9], [values.max() + 1e-9]]).max() == -np.inf


def test_joint_heights_are_numpy_s():
    X = RNG.normal(size=(300, 2))
    heights, a, b = np.histogram2d(*X.T, bins=[4, 6], density=True)
    clf = fitted(Histogram([4, 6], joint=True, smoothing=0), X)
    middles = [0.5 * (e[1:] + e[:-1]) for e in (a, b)]
    grid = np.column_stack([g.ravel() for g in np.meshgrid(*middles, indexing="ij")])
    found = np.exp(clf.log_density(grid))[:, 0].reshape(heights.shape)
    np.testing.assert_allclose(found, heights, rtol=1e-12)


@pytest.mark.parametrize("joint", [False, True])
def test_smoothing_is_rows_spread_thinly(joint):
    X = RNG.uniform(0, 1, (50, 1))
    cuts = np.array([0.0, 0.5, 1.0])
    clf = fitted(Histogram([cuts], joint=joint, smoothing=2.0), X)
    n = np.histogram(X, cuts)[0]
    expected = [(n[0] + 0.5) / 52 / 0.5, (n[1] + 0.5) / 52 / 0.5, 2 * 0.25 / 52 * 1 / (1 + 3) ** 2]
    found = np.exp(clf.log_density([[0.2], [0.7], [4.0]]))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.sampled_from(["sturges", "doane", "scott", "fd", "knuth", "blocks", 3]),
    st.sampled_from([0.0, 1.0]),
)
@settings(max_examples=80, deadline=None)
def test_all_mass_is_somewhere(values, rule, smoothing):
    X = np.array(values)[:, None]
    law = fitted(Histogram(rule, smoothing=smoothing), X).log_density_
    assert law.bin_masses().sum() == pytest.approx(1.0)
    below = law.distribution(np.array([-1e300, *sorted(values), 1e300]))
    assert (np.diff(below) >= -1e-12).all()
    assert below[[0, -1]] == pytest.approx([0.0, 1.0], abs=1e-9)


def test_the_tails_integrate_to_their_mass():
    clf = fitted(Histogram(3, smoothing=5.0), RNG.uniform(2, 4, (20, 1)))
    last = clf.density_.edges[0][-1]
    mass, _ = quad(lambda x: float(np.exp(clf.log_density([[x]]))[0, 0]), last, np.inf)
    assert mass == pytest.approx(5.0 * 0.25 / 25, rel=1e-6)
    assert 1.0 - clf.log_density_.distribution(np.array([last]))[0] == pytest.approx(mass, rel=1e-6)


def test_draws_follow_the_density():
    X = np.column_stack([RNG.normal(size=500), RNG.exponential(size=500)])
    for joint in (False, True):
        law = fitted(Histogram(8, joint=joint, smoothing=0), X).log_density_
        draws = law.draw(20_000, np.random.default_rng(0))
        for j in range(2):
            expected, cuts = np.histogram(X[:, j], 8)
            counted = np.histogram(draws[:, j], cuts)[0]
            np.testing.assert_allclose(counted / 20_000, expected / 500, atol=0.015)


# ---------------------------------------------------------------------- edges of the case


def test_a_missing_value_in_a_joint_histogram_is_summed_over():
    X, y = RNG.normal(size=(200, 2)), RNG.integers(0, 2, 200)
    both = BayesClassifier(Histogram(5, joint=True)).fit(X, y)
    one = BayesClassifier(Histogram([both.density_.edges[0]], joint=True)).fit(X[:, [0]], y)
    rows = np.column_stack([X[:20, 0], np.full(20, np.nan)])
    np.testing.assert_allclose(both.log_density(rows), one.log_density(rows[:, [0]]))
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.warns(FewRowsWarning, match="complete rows"):
        BayesClassifier(Histogram(5, joint=True)).fit(gaps, y)
    with pytest.raises(ValueError, match="Every row"):
        BayesClassifier(Histogram(5, joint=True)).fit(np.full((4, 1), np.nan), [0, 0, 1, 1])


def test_a_far_value_does_not_make_a_billion_bins():
    values = np.append(RNG.normal(size=1000), 1e9)
    with pytest.warns(FewRowsWarning, match="in the tails"):
        clf = fitted(Histogram("fd"), values[:, None])
    assert clf.density_.n_bins[0] <= 10_003
    found = np.exp(clf.log_density([[0.0], [1e9]]))[:, 0]
    assert found[0] == pytest.approx(0.4, abs=0.1)
    assert 0.0 < found[1] < 1e-6
    mass = clf.log_density_.bin_masses()[-1, 0]
    assert mass == pytest.approx(1 / 1001, rel=0.5)


def test_equal_values_one_row_and_ties():
    for values in (np.full(9, 3.0), np.array([3.0]), np.full(5, 1e18)):
        for rule in ("fd", "knuth", "blocks", 5):
            found = fitted(Histogram(rule), values[:, None])
            assert np.isfinite(found.log_density(values[:, None])).all()
    ties = np.repeat([1.0, 2.0, 3.0], [80, 10, 10])
    for rule in ("fd", "scott", "knuth", "blocks"):
        cuts = edges(rule, ties)
        assert 2 <= len(cuts) <= 60


def test_later_rows_beyond_the_edges_are_counted():
    X = RNG.uniform(0, 1, (40, 1))
    clf = BayesClassifier(Histogram(4, smoothing=0)).fit(X, np.zeros(40))
    clf.partial_fit([[1.5], [-2.0], [7.0]], [0, 0, 0])
    mass = clf.log_density_.bin_masses()[:, 0]
    np.testing.assert_allclose(mass[[0, -1]], [1 / 43, 2 / 43])
    assert mass.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (Histogram("best"), "is not known"),
        (Histogram(0), "is not known"),
        (Histogram(2.5), "is not known"),
        (Histogram([3, 4, 5]), "lists 3 columns"),
        (Histogram(["fd", "fd", "fd"]), "lists 3 columns"),
        (Histogram([[1.0, 0.0], 3]), "is not known"),
        (Histogram(width=0), "above 0"),
        (Histogram(width="wide"), "finite number"),
        (Histogram(origin=[1.0, 2.0, 3.0]), "2 of them"),
        (Histogram(smoothing=-1), "smoothing"),
        (Histogram(joint="yes"), "joint"),
    ],
    ids=repr,
)
def test_settings_that_cannot_be_are_refused(density, message):
    with pytest.raises(ValueError, match=message):
        BayesClassifier(density).fit(RNG.normal(size=(20, 2)), np.repeat([0, 1], 10))


def test_joint_cells_are_coarsened_or_refused():
    X, y = RNG.normal(size=(100, 12)), [0, 1] * 50
    clf = BayesClassifier(Histogram("sturges", joint=True)).fit(X, y)
    assert np.prod([float(n) for n in clf.density_.n_bins]) < 2**48
    assert np.isfinite(clf.log_density(X)).all()
    with pytest.raises(ValueError, match="cells"):
        BayesClassifier(Histogram(100, joint=True)).fit(RNG.normal(size=(20, 9)), [0, 1] * 10)


def test_columns_of_a_mixed_table(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    y = np.repeat(["edge", "middle"], 100)
    size = np.where(y == "edge", 5 * np.sign(rng.normal(size=200)), 0.0) + rng.normal(size=200)
    X = pd.DataFrame({"size": size, "kind": rng.choice(["a", "b"], 200)})
    clf = BayesClassifier(Columns(numbers=Histogram("blocks"))).fit(X, y)
    assert clf.score(X, y) > 0.9
    save(clf, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert clf.contributions(X[:4]).shape == (4, 2, 2)


def test_all_cells_or_those_with_rows_say_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    X[::50, 1] = np.nan
    soft = rng.dirichlet([1.0, 2.0], 500)
    weights = rng.integers(0, 4, 500)
    density = Histogram(bins=4, joint=True)
    with pytest.warns(FewRowsWarning, match="missing"):
        dense = BayesClassifier(density).fit(X, soft, weights)
    assert dense.density_.dense
    monkeypatch.setattr("bayesrule.histogram.DENSE_CELLS", 0)
    with pytest.warns(FewRowsWarning, match="missing"):
        few = BayesClassifier(density).fit(X, soft, weights)
    assert not few.density_.dense
    np.testing.assert_allclose(dense.log_density(X), few.log_density(X), rtol=1e-12)


def test_edges_that_are_given_are_not_learned():
    edges = [0.0, 0.5, 1.0]
    assert not Histogram(bins=edges).learns
    assert not Histogram(bins=[edges, edges]).learns
    for bins in (3, [3, 4], "scott", [edges, 3], [edges, "fd"]):
        assert Histogram(bins=bins).learns
