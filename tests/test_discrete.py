"""Categories and zero-one values: closed forms, scikit-learn, gaps, and strangers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import BernoulliNB, CategoricalNB

from bayesrule import BayesClassifier, Bernoulli, Categorical, discrete, recipes
from bayesrule.memberships import places
from bayesrule.stats import Counts

# Mitchell, Machine Learning (1997), table 3.2: outlook, temperature, humidity, wind, played.
TENNIS = pd.DataFrame(
    [
        line.split()
        for line in """
        sunny hot high weak no
        sunny hot high strong no
        overcast hot high weak yes
        rain mild high weak yes
        rain cool normal weak yes
        rain cool normal strong no
        overcast cool normal strong yes
        sunny mild high weak no
        sunny cool normal weak yes
        rain mild normal weak yes
        sunny mild normal strong yes
        overcast mild high strong yes
        overcast hot normal weak yes
        rain mild high strong no
        """.strip().splitlines()
    ],
    columns=["outlook", "temperature", "humidity", "wind", "played"],
)
DAYS, PLAYED = TENNIS.iloc[:, :4], TENNIS["played"]
NEW_DAY = pd.DataFrame([["sunny", "cool", "high", "strong"]], columns=DAYS.columns)


def probability(clf, column, category):
    """P(category | class), read off one column with all others missing."""
    row = pd.DataFrame([[category if name == column else None for name in DAYS]])
    row.columns = DAYS.columns
    return np.exp(clf.log_density(row.astype(object))[0])


def test_play_tennis_as_worked_by_hand():
    clf = BayesClassifier(Categorical(alpha=0)).fit(DAYS, PLAYED)
    yes = 9 / 14 * 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9
    no = 5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5
    np.testing.assert_allclose(clf.predict_proba(NEW_DAY)[0], [no / (no + yes), yes / (no + yes)])
    assert clf.predict_proba(NEW_DAY)[0, 0] == pytest.approx(0.795, abs=5e-4)
    assert clf.predict(NEW_DAY) == ["no"]
    np.testing.assert_allclose(probability(clf, "outlook", "overcast"), [0, 4 / 9])


def test_laplace_takes_play_tennis_off_zero():
    clf = BayesClassifier(Categorical(alpha=1)).fit(DAYS, PLAYED)
    np.testing.assert_allclose(probability(clf, "outlook", "overcast"), [1 / 8, 5 / 12])
    # No class has seen snow: alpha / (n + alpha C) with three categories.
    np.testing.assert_allclose(probability(clf, "outlook", "snow"), [1 / 8, 1 / 12])


def test_without_smoothing_a_stranger_says_nothing_and_a_zero_rules_out():
    clf = BayesClassifier(Categorical(alpha=0)).fit(DAYS, PLAYED)
    np.testing.assert_array_equal(probability(clf, "outlook", "snow"), [1, 1])
    overcast = NEW_DAY.assign(outlook="overcast")
    np.testing.assert_array_equal(clf.predict_proba(overcast), [[0, 1]])


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_categories_agree_with_scikit_learn(alpha, n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 300)
    X = (rng.integers(0, 4, (300, 5)) + (rng.random((300, 5)) < 0.5) * y[:, None]) % 6
    n_categories = X.max(axis=0) + 1
    assert all(len(np.unique(x)) == n for x, n in zip(X.T, n_categories, strict=True))
    weights = rng.random(300)
    theirs = CategoricalNB(alpha=alpha, min_categories=n_categories).fit(X, y, weights)
    ours = BayesClassifier(Categorical(alpha)).fit(X, y, weights)
    joint = ours.log_density(X) + np.log(ours.priors_)
    np.testing.assert_allclose(joint, theirs.predict_joint_log_proba(X), rtol=0, atol=1e-9)
    as_text = pd.DataFrame(X).astype(str)
    from_text = BayesClassifier(Categorical(alpha)).fit(as_text, y, weights)
    np.testing.assert_allclose(from_text.log_density(as_text), ours.log_density(X), atol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_flags_agree_with_scikit_learn(threshold):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.random((200, 6)) * (rng.random((200, 6)) < 0.3 + 0.2 * y[:, None])
    theirs = BernoulliNB(alpha=0.7, binarize=threshold).fit(X, y)
    ours = BayesClassifier(Bernoulli(0.7, threshold)).fit(X, y)
    joint = ours.log_density(X) + np.log(ours.priors_)
    np.testing.assert_allclose(joint, theirs.predict_joint_log_proba(X), rtol=0, atol=1e-9)


def test_a_missing_value_is_summed_out():
    clf = BayesClassifier(Categorical(0.5)).fit(DAYS, PLAYED)
    known = [NEW_DAY.assign(outlook=value) for value in ("sunny", "overcast", "rain")]
    summed = sum(np.exp(clf.log_density(row)) for row in known)
    missing = NEW_DAY.assign(outlook=None)
    np.testing.assert_allclose(np.exp(clf.log_density(missing)), summed, rtol=1e-12)
    flags = BayesClassifier(Bernoulli()).fit([[0, 1], [1, 1], [1, 0], [0, 0]], [0, 0, 1, 1])
    both = np.exp(flags.log_density([[0, 1.0]])) + np.exp(flags.log_density([[1, 1.0]]))
    np.testing.assert_allclose(np.exp(flags.log_density([[np.nan, 1.0]])), both, rtol=1e-12)


def test_gaps_at_fit_count_for_no_category():
    gappy = BayesClassifier(Categorical()).fit([["a"], ["a"], [None], ["b"]], [0, 0, 0, 1])
    whole = BayesClassifier(Categorical()).fit([["a"], ["a"], ["b"]], [0, 0, 1])
    np.testing.assert_allclose(gappy.log_density([["a"]]), whole.log_density([["a"]]))


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 1.0])
def test_a_class_without_values_in_a_column_does_as_all_classes_together(alpha):
    X = [["a", "u"], ["a", "v"], ["b", "u"], [None, "u"], [None, "v"]]
    clf = BayesClassifier(Categorical(alpha)).fit(X, [0, 0, 1, 2, 2])
    density = np.exp(clf.log_density([["a", None]]))[0]
    np.testing.assert_allclose(density[2], (2 + alpha) / (3 + 2 * alpha))
    flags = [[1, 0], [1, 1], [0, 0], [np.nan, 0], [np.nan, 1]]
    clf = BayesClassifier(Bernoulli(alpha)).fit(flags, [0, 0, 1, 2, 2])
    np.testing.assert_allclose(np.exp(clf.log_density([[1, np.nan]]))[0, 2], density[2])


def test_a_class_without_rows_has_no_density():
    X = [["a"], ["b"]]
    clf = BayesClassifier(Categorical()).partial_fit(X, ["s", "t"], classes=["r", "s", "t"])
    np.testing.assert_array_equal(np.isfinite(clf.log_density(X)), [[False, True, True]] * 2)
    np.testing.assert_array_equal(clf.predict_proba(X)[:, 0], 0)


def test_chunks_count_bit_for_bit_like_one_fit_with_categories_that_come_late():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": np.sort(rng.choice(list("pqrst"), 90)), "b": rng.integers(-4, 4, 90)})
    y, weights = rng.integers(0, 3, 90), rng.integers(1, 4, 90)
    whole = BayesClassifier(Categorical()).fit(X, y, weights)
    chunked = BayesClassifier(Categorical())
    for rows in (slice(0, 1), slice(1, 20), slice(20, 21), slice(21, 90)):
        chunked.partial_fit(X[rows], y[rows], sample_weight=weights[rows])
    halves = [
        BayesClassifier(Categorical()).fit(X[part], y[part], weights[part])
        for part in (slice(45), slice(45, 90))
    ]
    for other in (chunked, halves[0].merge(halves[1]), halves[1].merge(halves[0])):
        for one, two in zip(whole.stats_.categories, other.stats_.categories, strict=True):
            assert one.tolist() == two.tolist()
        for one, two in zip(whole.stats_.counts, other.stats_.counts, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(whole.predict_proba(X), other.predict_proba(X))


def test_text_and_numbers_do_not_add_up():
    part = Counts((np.array([0]), np.array(["a"], object)), (np.ones((1, 1)), np.ones((1, 1))))
    other = Counts((np.array([0]), np.array([5])), (np.ones((1, 1)), np.ones((1, 1))))
    with pytest.raises(ValueError, match=r"column 1 are text in one part .* numbers in another"):
        part + other
    clf = BayesClassifier(Categorical()).partial_fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match="column 0 are text"):
        clf.partial_fit([[1], [2]], [0, 1])
    assert clf.predict([["a"]]) == [0]  # what failed has changed nothing
    with pytest.raises(ValueError, match=r"Column 0 of X holds numbers, but held text"):
        clf.predict([[1]])


def test_numbers_of_any_width_name_the_same_categories():
    X = np.array([[-3, 200], [5, 7], [5, 200], [-3, 7], [100_000_000, 7]])
    y = [0, 1, 1, 0, 1]
    clf = BayesClassifier(Categorical()).fit(X, y)
    expected = clf.predict_proba(X)
    for other in (X.astype(float), X.astype(object), pd.DataFrame(X), X[::-1][::-1]):
        np.testing.assert_allclose(clf.predict_proba(np.asarray(other)), expected)
        same = BayesClassifier(Categorical()).fit(other, y).predict_proba(other)
        np.testing.assert_allclose(same, expected)


@pytest.mark.parametrize(("density", "name"), [(Categorical, "alpha"), (Bernoulli, "alpha")])
@pytest.mark.parametrize("value", [-1.0, np.nan, "one", True])
def test_smoothing_that_makes_no_sense_is_refused(density, name, value):
    with pytest.raises(ValueError, match=rf"{density.__name__}\({name}="):
        BayesClassifier(density(**{name: value})).fit([[0], [1]], [0, 1])


def test_a_column_without_any_value_says_nothing():
    X = np.array([["a", None], ["b", None], ["a", None]], dtype=object)
    with_it, without = (BayesClassifier(Categorical()).fit(Z, [0, 1, 1]) for Z in (X, X[:, :1]))
    np.testing.assert_allclose(with_it.predict_proba(X), without.predict_proba(X[:, :1]))
    late = np.array([["a", "new"]], dtype=object)
    np.testing.assert_allclose(with_it.predict_proba(late), without.predict_proba(late[:, :1]))


def test_labels_are_looked_up_once_and_not_in_every_block(monkeypatch):
    """With as many labels as rows, looking in every block would take time that grows as n^2."""
    looked = []

    def counted(names, among):
        looked.append(len(names))
        return places(names, among)

    monkeypatch.setattr(discrete, "places", counted)
    monkeypatch.setenv("BAYESRULE_NUM_THREADS", "1")
    n = 3 * 2**16
    X = pd.DataFrame({"id": np.arange(n).astype(str), "flag": np.arange(n) % 2})
    y = np.arange(n) % 3
    clf = BayesClassifier(Categorical()).fit(X[: n // 2], y[: n // 2])
    mixed = recipes.naive_bayes().fit(X[: n // 2], y[: n // 2])
    for model in (clf, mixed):
        looked.clear()
        together = model.predict_proba(X)
        assert looked == [n, 2]
        for part in (slice(0, 1000), slice(n - 1000, n)):  # apart, they have labels of their own
            np.testing.assert_array_equal(model.predict_proba(X[part]), together[part])
