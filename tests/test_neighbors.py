"""Nearest neighbours: against scikit-learn, brute force, closed forms and definitions."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import beta
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from bayesrule import BayesClassifier, Minimax, Neighbors, load, recipes, save
from bayesrule.nearest import Finder
from bayesrule.notices import FewRowsWarning
from bayesrule.tables import Table

RNG = np.random.default_rng(17)


def classes(n: int = 200, n_columns: int = 3, n_classes: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, n_columns)) + y[:, None], y


# ---------------------------------------------------------------------- references


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("n_columns", [2, 40])
def test_posteriors_are_scikit_learn_s(metric, weights, n_columns):
    X, y = classes(400, n_columns)
    queries = RNG.normal(size=(80, n_columns))
    ours = BayesClassifier(Neighbors(7, metric, weights)).fit(X, y)
    peer = KNeighborsClassifier(7, metric=metric, weights=weights, algorithm="brute").fit(X, y)
    np.testing.assert_allclose(
        ours.predict_proba(queries), peer.predict_proba(queries), rtol=1e-6, atol=1e-12
    )


def test_functions_as_weights_and_metric():
    X, y = classes()
    queries = RNG.normal(size=(30, 3))

    def fading(distance):
        return np.exp(-distance)

    def city(one, other):
        return float(np.abs(one - other).sum())

    ours = BayesClassifier(Neighbors(5, city, fading)).fit(X, y)
    peer = KNeighborsClassifier(5, metric="manhattan", weights=fading).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(queries), peer.predict_proba(queries))
    with pytest.raises(ValueError, match="finite numbers"):
        BayesClassifier(Neighbors(5, weights=np.log)).fit(X, y).predict(queries)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_feature_weights_are_those_of_the_course(metric):
    X, y = classes()
    queries, W = RNG.normal(size=(40, 3)), np.array([4.0, 0.25, 0.0])
    # sqrt(sum_d W_d (x_d - y_d)^2), and the like of the other metrics.
    scale = np.sqrt(W) if metric == "euclidean" else W
    ours = BayesClassifier(Neighbors(5, metric, feature_weights=W)).fit(X, y)
    plain = BayesClassifier(Neighbors(5, metric)).fit(X * scale, y)
    np.testing.assert_array_equal(ours.predict_proba(queries), plain.predict_proba(queries * scale))


def test_standardised_and_within():
    X, y = classes()
    X = X * [1.0, 100.0, 0.01]
    ours = BayesClassifier(Neighbors(5, "standardised")).fit(X, y)
    plain = BayesClassifier(Neighbors(5)).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(
        ours.predict_proba(X), plain.predict_proba(X / X.std(axis=0)), atol=1e-12
    )
    within = BayesClassifier(Neighbors(5, "within")).fit(X, y)
    assert within.density_.metric.matrix.shape == (3, 3)
    # Neighbours by the covariance within the classes do not see the columns' units.
    other = BayesClassifier(Neighbors(5, "within")).fit(X * [7.0, 1e-3, 30.0], y)
    np.testing.assert_allclose(
        other.predict_proba(X * [7.0, 1e-3, 30.0]), within.predict_proba(X), atol=1e-9
    )


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "standardised"])
def test_the_density_is_k_over_n_and_the_ball_s_volume(metric, n_columns):
    X = RNG.normal(size=(300, n_columns)) * np.arange(1, n_columns + 1)
    queries = RNG.normal(size=(20, n_columns))
    clf = BayesClassifier(Neighbors(9, metric)).fit(X, np.zeros(300))
    unit = {"manhattan": 2**n_columns / math.factorial(n_columns), "chebyshev": 2**n_columns}
    ball = unit.get(metric, [2.0, math.pi, 4 / 3 * math.pi][n_columns - 1])
    scale = X.std(axis=0) if metric == "standardised" else np.ones(n_columns)
    name = "cityblock" if metric == "manhattan" else metric
    name = "euclidean" if metric == "standardised" else name
    reach = np.sort(cdist(queries / scale, X / scale, name), axis=1)[:, 8]
    expected = 9 / 300 / (ball * reach**n_columns * scale.prod())
    found = np.exp(clf.log_density_.absolute_log_density(Table(queries)))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_density_without_volume_is_refused():
    X, y = classes()
    law = BayesClassifier(Neighbors(3, "cosine")).fit(X, y).log_density_
    with pytest.raises(ValueError, match="no volume"):
        law.absolute_log_density(Table(X))


# ---------------------------------------------------------------------- priors, weights, ties


def test_priors_are_priced_by_class_sizes():
    X, y = classes(300)
    y[:150] = 0
    priors = np.array([0.2, 0.5, 0.3])
    queries = RNG.normal(size=(50, 3)) + 1
    clf = BayesClassifier(Neighbors(11), priors=priors).fit(X, y)
    found = NearestNeighbors(n_neighbors=11).fit(X).kneighbors(queries, return_distance=False)
    votes = np.eye(3)[y[found]].sum(axis=1)
    expected = priors * votes / np.bincount(y)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(queries), expected, atol=1e-12)
    # Under the classes' own shares it is the plain vote.
    plain = BayesClassifier(Neighbors(11)).fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(queries), votes / 11, atol=1e-12)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=4, max_size=30),
    st.floats(0.3, 40),
    st.integers(0, 2**16),
)
@settings(max_examples=60, deadline=None)
def test_ties_do_not_see_the_order_of_the_rows(rows, k, seed):
    rng = np.random.default_rng(seed)
    X = np.array(rows, float)
    y, weights = np.arange(len(X)) % 2, rng.integers(1, 4, len(X)).astype(float)
    queries = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 0.5], [9.0, 9.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        first = BayesClassifier(Neighbors(k)).fit(X, y, weights).predict_proba(queries)
        order = rng.permutation(len(X))
        again = BayesClassifier(Neighbors(k)).fit(X[order], y[order], weights[order])
    np.testing.assert_array_equal(again.predict_proba(queries), first)
    # By hand: all closer rows, and of the tied ones the share that fills up k.
    total, k = weights.sum(), min(k, weights.sum())
    for query, found in zip(queries, first, strict=True):
        squares = ((X - query) ** 2).sum(axis=1)
        votes, left = np.zeros(2), k
        for level in np.unique(squares):
            tied = squares == level
            share = min(left / weights[tied].sum(), 1.0)
            votes += share * np.bincount(y[tied], weights[tied], 2)
            left -= share * weights[tied].sum()
            if left <= 1e-9:
                break
        np.testing.assert_allclose(found, votes / votes.sum(), atol=1e-9)
    assert total >= k


def test_a_weight_of_three_is_three_rows():
    X, y = classes(60)
    weights = RNG.integers(0, 4, 60)
    by_weight = BayesClassifier(Neighbors(8)).fit(X, y, weights)
    rows = np.repeat(np.arange(60), weights)
    peer = KNeighborsClassifier(8).fit(X[rows], y[rows])
    queries = RNG.normal(size=(40, 3)) + 1
    found = by_weight.predict_proba(queries)
    # scikit-learn cuts tied copies of one row somewhere; where it need not, both agree.
    near = NearestNeighbors(n_neighbors=9).fit(X[rows]).kneighbors(queries)[0]
    clear = near[:, 8] > near[:, 7] + 1e-12
    assert clear.sum() > 8
    np.testing.assert_allclose(found[clear], peer.predict_proba(queries)[clear], atol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_columns", [2, 25])
def test_thousands_of_ties_are_all_found(metric, n_columns):
    X = RNG.integers(0, 2, (3000, n_columns)).astype(float) + 1.0
    y = RNG.integers(0, 2, 3000)
    clf = BayesClassifier(Neighbors(5, metric)).fit(X, y)
    queries = X[:20]
    name = "euclidean" if metric == "euclidean" else "cosine"
    distance = cdist(queries, X, name)
    for found, row in zip(clf.predict_proba(queries), distance, strict=True):
        limit = np.sort(row)[4]
        closer, tied = row < limit - 1e-9, np.abs(row - limit) <= 1e-9
        share = (5 - closer.sum()) / tied.sum()
        votes = np.bincount(y[closer], minlength=2) + share * np.bincount(y[tied], minlength=2)
        np.testing.assert_allclose(found, votes / 5, atol=1e-9)


@pytest.mark.parametrize("n_columns", [3, 40])
def test_far_from_zero_and_on_one_line(n_columns):
    # Products of such numbers, by which distances are found fast, have lost what tells them apart.
    X = 1e6 + 1e-3 * RNG.normal(size=(500, n_columns))
    finder = Finder(X - X[0], np.ones(500), "euclidean").ready()
    squares = cdist(X[:50] - X[0], X - X[0])
    for near in finder.nearest(X[:50] - X[0], 4.0):
        expected = np.sort(squares[near.queries], axis=1)[:, 3]
        np.testing.assert_allclose(near.reach, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_many_rows_are_found_whatever_their_order_in_memory(metric):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(30_000, 2)), 3)
    y, weights = rng.integers(0, 3, 30_000), rng.integers(0, 3, 30_000).astype(float)
    queries = np.concatenate([rng.normal(size=(500, 2)), [[1e9, 0.0], [0.0, -1e9]]])
    clf = BayesClassifier(Neighbors(7, metric, "distance")).fit(X, y, weights)
    found = clf.predict_proba(queries)
    rows = np.repeat(np.arange(len(X)), weights.astype(int))
    peer = KNeighborsClassifier(60, metric=metric).fit(X[rows], y[rows])
    distance, near = peer.kneighbors(queries)
    for i in range(len(queries)):
        limit = distance[i, 6] * (1 + 1e-10)
        assert limit < distance[i, -1] or i >= 500  # all ties are among the sixty
        closer = distance[i] < limit * (1 - 2e-10)
        tied = (distance[i] <= limit) & ~closer
        share = np.where(closer, 1.0, tied * (7 - closer.sum()) / max(tied.sum(), 1))
        votes = np.bincount(y[rows[near[i]]], share / np.maximum(distance[i], 1e-300), 3)
        if i < 500 and distance[i, 0] > 0:
            np.testing.assert_allclose(found[i], votes / votes.sum(), atol=1e-9)
    order = rng.permutation(len(X))
    again = BayesClassifier(Neighbors(7, metric, "distance")).fit(
        X[order], y[order], weights[order]
    )
    np.testing.assert_array_equal(again.predict_proba(queries), found)
    back = clf.predict_proba(queries[::-1])[::-1]
    np.testing.assert_array_equal(back, found)


# ---------------------------------------------------------------------- choosing k


def test_k_is_the_best_left_out_one():
    X, y = classes(250, 2, 2, seed=3)
    numbers = [1, 3, 9, 27, 81]
    chosen = BayesClassifier(Neighbors(numbers)).fit(X, y).density_.k
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)
    scores, errors, likelihoods = [], [], []
    for k in numbers:
        share = np.eye(2)[y[near[:, :k]]].mean(axis=1)
        values = share / np.bincount(y) * np.bincount(y) / 250
        right = values.argmax(axis=1) == y
        scores.append(right.mean())
        errors.append(right.std() / np.sqrt(250))
        true = share[np.arange(250), y]
        likelihoods.append(np.maximum(np.log(np.maximum(true, 1e-300)), -30.0).mean())
    best = int(np.argmax(scores))
    equal = np.array(scores) >= scores[best] - 0.5 * errors[best]
    assert chosen == numbers[int(np.argmax(np.where(equal, likelihoods, -np.inf)))]


def test_k_follows_the_gain():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 400), rng.normal(1.5, 1, 40)])[:, None]
    y = np.repeat(["common", "rare"], [400, 40])
    gain = {"common": {"common": 0, "rare": -1}, "rare": {"common": -40, "rare": 0}}
    clf = BayesClassifier(Neighbors("cv"), gain=gain).fit(X, y)
    new = np.concatenate([rng.normal(0, 1, 4000), rng.normal(1.5, 1, 400)])[:, None]
    truth = np.repeat(["common", "rare"], [4000, 400])

    def earned(model):
        return np.mean([gain[t][d] for t, d in zip(truth, model.predict(new), strict=True)])

    one = BayesClassifier(Neighbors(1), gain=gain).fit(X, y)
    assert earned(clf) > earned(one)
    assert clf.density_.k > 5


# ---------------------------------------------------------------------- thinning


def overlapping(seed: int = 0, n: int = 300):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y


def test_wilson_drops_what_the_others_outvote():
    X, y = overlapping()
    law = BayesClassifier(Neighbors(3, edited=True)).fit(X, y).log_density_
    distance = cdist(X, X)
    np.fill_diagonal(distance, np.inf)
    votes = np.eye(2)[y[np.argsort(distance, axis=1)[:, :3]]].sum(axis=1)
    kept = votes.argmax(axis=1) == y
    assert law.thinning.kept == kept.sum()
    np.testing.assert_array_equal(law.thinning.kept_by_class, np.bincount(y[kept]))
    expected = np.unique(X[kept], axis=0)
    np.testing.assert_array_equal(law.around.rows, expected)


def test_editing_helps_the_single_neighbour():
    X, y = overlapping(1, 1000)
    new, truth = overlapping(2, 4000)
    full = BayesClassifier(Neighbors(1)).fit(X, y)
    edited = BayesClassifier(Neighbors(1, edited=True)).fit(X, y)
    assert edited.score(new, truth) > full.score(new, truth) + 0.02
    report = edited.log_density_.thinning
    assert report.accuracy_kept > report.accuracy + 0.02


def test_hart_keeps_the_decisions_on_what_was_fitted():
    X, y = overlapping(3)
    clf = BayesClassifier(Neighbors(1, condensed=True)).fit(X, y)
    assert clf.score(X, y) == 1.0
    assert clf.log_density_.thinning.kept < 0.6 * len(X)
    # Edited classes do not overlap, and a few rows bound them.
    both = BayesClassifier(Neighbors(1, edited=True, condensed=True)).fit(X, y)
    edited = BayesClassifier(Neighbors(1, edited=True)).fit(X, y)
    assert both.log_density_.thinning.kept < 0.1 * len(X)
    rows = edited.log_density_.around.rows
    np.testing.assert_array_equal(both.predict(rows), edited.predict(rows))


def test_condensing_may_move_the_boundary():
    # The course hopes that it stays; between kept rows that lie apart it does not.
    X, y = overlapping(4)
    grid = np.column_stack([g.ravel() for g in np.meshgrid(*[np.linspace(-3, 5, 60)] * 2)])
    full = BayesClassifier(Neighbors(1)).fit(X, y).predict(grid)
    few = BayesClassifier(Neighbors(1, condensed=True)).fit(X, y).predict(grid)
    assert 0.0 < np.mean(full != few) < 0.2


def test_thinning_does_not_see_the_order_of_the_rows():
    X, y = overlapping(5)
    order = RNG.permutation(len(X))
    for settings_ in ({"edited": True}, {"condensed": True}):
        one = BayesClassifier(Neighbors(1, **settings_)).fit(X, y).log_density_.around
        other = BayesClassifier(Neighbors(1, **settings_)).fit(X[order], y[order])
        np.testing.assert_array_equal(other.log_density_.around.rows, one.rows)


def test_class_sizes_are_those_before_rows_were_dropped():
    X, y = overlapping(6)
    clf = BayesClassifier(Neighbors(1, condensed=True)).fit(X[:220], y[:220])
    np.testing.assert_array_equal(clf.log_density_.around.totals, [150, 70])
    np.testing.assert_allclose(clf.priors_, [150 / 220, 70 / 220])
    # A neighbour's vote then counts as much as any other's.
    assert set(np.unique(clf.predict_proba(X))) == {0.0, 1.0}


def test_a_class_that_editing_would_drop_stays():
    X = np.concatenate([RNG.normal(size=(40, 2)), [[0.0, 0.0]]])
    y = np.append(np.zeros(40, int), 1)
    with pytest.warns(FewRowsWarning, match="would drop every row of 1 of 2"):
        law = BayesClassifier(Neighbors(3, edited=True)).fit(X, y).log_density_
    assert law.thinning.kept_by_class[1] == 1


# ---------------------------------------------------------------------- how sure


def test_intervals_count_the_votes():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    y = np.repeat([0, 1], 4)
    clf = BayesClassifier(Neighbors(4)).fit(X, y)
    bounds = clf.posterior_interval([[0.15]], level=0.9)[0]
    assert bounds[1, 0] == 0.0
    assert bounds[0, 1] == 1.0
    # No vote among four: the posterior is zero, but the bound is not.
    assert bounds[1, 1] == pytest.approx(beta.ppf(0.95, 0.5, 4.5))
    assert bounds[0, 0] == pytest.approx(beta.ppf(0.05, 4.5, 0.5))
    more = BayesClassifier(Neighbors(40)).fit(np.repeat(X, 10, axis=0), np.repeat(y, 10))
    assert more.posterior_interval([[0.15]])[0, 1, 1] < 0.1
    with pytest.raises(ValueError, match="between 0 and 1"):
        clf.posterior_interval(X, level=2)
    with pytest.raises(AttributeError, match="posterior_interval"):
        _ = recipes.lda().fit(X, y).posterior_interval


def test_intervals_hold_the_posterior_and_its_price():
    X, y = classes(200)
    clf = BayesClassifier(Neighbors(9, weights="distance"), priors=[0.6, 0.3, 0.1]).fit(X, y)
    queries = RNG.normal(size=(60, 3))
    bounds, posterior = clf.posterior_interval(queries), clf.predict_proba(queries)
    assert (bounds[..., 0] <= posterior + 1e-12).all()
    assert (bounds[..., 1] >= posterior - 1e-12).all()
    narrow = clf.posterior_interval(queries, 0.5)
    assert (narrow[..., 1] <= bounds[..., 1] + 1e-12).all()


# ---------------------------------------------------------------------- edges of the case


def test_hard_cases():
    one = BayesClassifier(Neighbors(1)).fit([[3.0, 1.0]], ["a"])
    assert one.predict([[0.0, 0.0]]).tolist() == ["a"]
    X, y = np.full((6, 2), 2.0), np.array([0, 0, 0, 0, 1, 1])
    equal = BayesClassifier(Neighbors(3)).fit(X, y)
    np.testing.assert_allclose(equal.predict_proba(X[:1]), [[4 / 6, 2 / 6]])
    far = BayesClassifier(Neighbors(2)).fit([[0.0], [1.0], [1e9]], [0, 0, 1])
    assert far.predict([[2e9], [0.4]]).tolist() == [0, 0]
    with pytest.warns(FewRowsWarning, match="k=50 neighbours, but the rows have a weight of 3"):
        BayesClassifier(Neighbors(50)).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="NaN in column 1"):
        BayesClassifier(Neighbors(1)).fit([[0.0, np.nan], [1.0, 2.0]], [0, 1])
    constant = np.column_stack([RNG.normal(size=30), np.full(30, 7.0)])
    for metric in ("euclidean", "standardised", "within"):
        clf = BayesClassifier(Neighbors(3, metric)).fit(constant, np.repeat([0, 1], 15))
        assert np.isfinite(clf.predict_proba(constant)).all()


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (Neighbors(0), "above zero"),
        (Neighbors("many"), "'cv'"),
        (Neighbors([3, -1]), "above zero"),
        (Neighbors(True), "above zero"),
        (Neighbors(metric="near"), "is not known"),
        (Neighbors(weights="far"), "is not known"),
        (Neighbors(feature_weights=[1.0]), "one for each column"),
        (Neighbors(feature_weights=[0.0, 0.0]), "not all zero"),
        (Neighbors(metric="lda", feature_weights=[1.0, 2.0]), "goes with"),
        (Neighbors(metric="cosine", condensed=True), "measures all distances"),
        (Neighbors(edited=1.5), "edited"),
        (Neighbors(smoothing=-1.0), "smoothing"),
    ],
    ids=repr,
)
def test_settings_that_cannot_be_are_refused(density, message):
    with pytest.raises(ValueError, match=message):
        BayesClassifier(density).fit(RNG.normal(size=(20, 2)), np.repeat([0, 1], 10))


def test_smoothing_leaves_no_class_impossible():
    X, y = classes(60)
    clf = BayesClassifier(Neighbors(3, smoothing=1.0)).fit(X, y)
    posterior = clf.predict_proba(X)
    votes = BayesClassifier(Neighbors(3)).fit(X, y).predict_proba(X) * 3
    np.testing.assert_allclose(posterior, (votes + np.bincount(y) / 60) / 4, atol=1e-12)


def test_recipes_files_and_minimax(tmp_path):
    X, y = classes(150)
    for clf in (recipes.knn(), recipes.nearest_neighbor(edited=True, condensed=True)):
        clf.fit(X, y)
        save(clf, tmp_path / "model.bayes")
        again = load(tmp_path / "model.bayes")
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    with pytest.raises((TypeError, ValueError)):
        save(BayesClassifier(Neighbors(3, weights=np.exp)).fit(X, y), tmp_path / "other.bayes")
    clf = BayesClassifier(Neighbors(15), priors=Minimax()).fit(X, y)
    assert clf.priors_.sum() == pytest.approx(1.0)


def test_memory_does_not_grow_with_rows_times_queries():
    import tracemalloc

    X, y = classes(20_000, 3)
    clf = BayesClassifier(Neighbors(5)).fit(X, y)
    clf.predict(X[:10])
    tracemalloc.start()
    clf.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # all distances would take 3.2e9


def test_k_may_be_larger_than_a_class():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [1.2], [1.3], [1.4], [5.0]])
    y = np.repeat([0, 1], [2, 6])
    clf = BayesClassifier(Neighbors(5), priors=[0.5, 0.5]).fit(X, y)
    # All two rows of the class, and three of the other six: 1 / 1 beside 3 / 6.
    np.testing.assert_allclose(clf.predict_proba([[0.05]]), [[2 / 3, 1 / 3]])
    # None of the two: its posterior is zero, but not what the votes allow.
    assert clf.predict_proba([[4.0]])[0, 0] == 0.0
    assert clf.posterior_interval([[4.0]])[0, 0, 1] > 0.1
