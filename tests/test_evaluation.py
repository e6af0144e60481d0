"""Figures of decisions: against scikit-learn, closed forms, simulation, and laws of gains."""

from __future__ import annotations

import builtins
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    confusion_matrix,
    log_loss,
    recall_score,
)
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule.classifier import BayesClassifier
from bayesrule.evaluation import evaluate, expected_gain_score, expected_gain_scorer
from bayesrule.gains import regret, with_action
from bayesrule.intervals import mean_limits, mixture_limits
from bayesrule.notices import AbsentClassWarning
from bayesrule.reliability import reliability

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
LABELS = NAMES[SPECIES]

#: Gains in which a further decision, which is no class, is sometimes best.
REFER = with_action({n: {m: 1.0 if m == n else -9.0 for m in NAMES} for n in NAMES}, "refer", 0.5)


def rows_of(counts, classes, decisions):
    """True classes and decisions, one row per unit of a table of counts."""
    k, d = np.indices(np.shape(counts)).reshape(2, -1)
    times = np.ravel(counts)
    y = np.repeat(np.asarray(classes)[k], times)
    return y, np.repeat(np.asarray(decisions, dtype=object)[d], times)


def judge(counts, classes, decisions, **settings):
    """Evaluate a table of counts of given decisions."""
    y, made = rows_of(counts, classes, decisions)
    clf = DummyClassifier().fit(np.zeros((len(classes), 1)), classes)
    return evaluate(clf, np.zeros((len(y), 1)), y, decisions=made, **settings)


# ---------------------------------------------------------------- closed forms


def test_printed_confusion_of_unequal_row_sums_earns_less_than_its_priors_promise():
    # Rows sum to .501 and .499, the stated priors are .4 and .6:
    # raw     .4699 - .0311 - 2 (.0043) + 3 (.4947)                             = 1.9143
    # stated  .4 (.4699 - .0311) / .501 + .6 (3 (.4947) - 2 (.0043)) / .499      = 2.1245
    counts = [[4699, 311], [43, 4947]]
    gain = [[1, -1], [-2, 3]]
    figures = judge(counts, [0, 1], [0, 1], priors=[0.4, 0.6], gain=gain)
    assert figures.raw_expected_gain == pytest.approx(1.9143)
    assert figures.expected_gain == pytest.approx(0.4 * 0.4388 / 0.501 + 0.6 * 1.4755 / 0.499)
    assert figures.expected_gain == pytest.approx(2.1245, abs=5e-5)
    assert figures.confusion.sum(axis=1) == pytest.approx([0.4, 0.6])
    assert figures.raw_confusion == pytest.approx(np.array(counts) / 10_000)
    y, made = rows_of(counts, [0, 1], [0, 1])
    assert expected_gain_score(y, made, gain=gain) == pytest.approx(1.9143)
    assert expected_gain_score(y, made, gain=gain, priors={1: 0.6, 0: 0.4}) == pytest.approx(
        figures.expected_gain
    )


def test_every_figure_of_a_small_table_by_hand():
    # ill: 6 treated, 2 sent on, 2 left alone; well: 1 treated, 4 sent on, 15 left alone.
    gain = {
        "ill": {"treat": 5, "wait": -20, "refer": 3},
        "well": {"treat": -2, "wait": 1, "refer": 0},
    }
    figures = judge(
        [[6, 2, 2], [1, 15, 4]],
        ["ill", "well"],
        ["treat", "wait", "refer"],
        gain=gain,
        priors={"ill": 0.25, "well": 0.75},
    )
    assert figures.class_gains == pytest.approx([(30 - 40 + 6) / 10, (-2 + 15) / 20])
    assert figures.class_risks == pytest.approx([(2 * 25 + 2 * 2) / 10, (3 + 4) / 20])
    assert figures.expected_gain == pytest.approx(0.25 * -0.4 + 0.75 * 0.65)
    assert figures.raw_expected_gain == pytest.approx((-4 + 13) / 30)
    assert figures.shares == pytest.approx(
        {
            "treat": 0.25 * 0.6 + 0.75 * 0.05,
            "wait": 0.25 * 0.2 + 0.75 * 0.75,
            "refer": 0.25 * 0.2 + 0.75 * 0.2,
        }
    )
    assert figures.confusion == pytest.approx(
        np.array([[0.15, 0.05, 0.05], [0.0375, 0.5625, 0.15]])
    )
    assert np.isnan(figures.accuracy)  # no decision is a class
    assert figures.n == 30


def test_a_decision_that_is_no_class_is_a_miss_in_the_accuracy():
    counts = [[7, 1, 2], [3, 16, 1]]
    figures = judge(counts, [0, 1], [0, 1, "refer"], priors=[0.5, 0.5])
    assert figures.accuracy == pytest.approx(0.5 * 0.7 + 0.5 * 0.8)
    assert figures.raw_accuracy == pytest.approx(23 / 30)
    assert figures.expected_gain == pytest.approx(figures.accuracy)  # one if right, else zero
    assert figures.shares["refer"] == pytest.approx(0.5 * 0.2 + 0.5 * 0.05)


# ---------------------------------------------------------------- against scikit-learn


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_the_shares_as_priors_the_figures_are_those_of_scikit_learn(n_classes, weighted):
    kept = np.isin(SPECIES, [0, 1, 2][-n_classes:])
    X, y = IRIS[kept, 1:2], LABELS[kept]
    w = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else None
    clf = LogisticRegression().fit(X, y)
    figures = evaluate(clf, X, y, sample_weight=w)
    decided, proba = clf.predict(X), clf.predict_proba(X)
    total = len(y) if w is None else w.sum()
    assert figures.counts == pytest.approx(confusion_matrix(y, decided, sample_weight=w))
    assert figures.confusion == pytest.approx(figures.counts / total)
    assert figures.accuracy == pytest.approx(accuracy_score(y, decided, sample_weight=w))
    assert figures.expected_gain == pytest.approx(figures.accuracy)
    assert figures.brier == pytest.approx(
        brier_score_loss(y, proba, sample_weight=w, labels=clf.classes_)
        if n_classes > 2
        else brier_score_loss(y, proba[:, 1], sample_weight=w, pos_label=clf.classes_[1])
    )
    assert figures.log_loss == pytest.approx(log_loss(y, proba, sample_weight=w))
    assert figures.n == (len(y) if w is None else (w > 0).sum())


def test_under_uniform_priors_accuracy_is_the_mean_recall_and_brier_is_reweighted():
    X, y = IRIS[:130, :1], LABELS[:130]
    clf = GaussianNB().fit(X, y)
    figures = evaluate(clf, X, y, priors="uniform")
    assert figures.accuracy == pytest.approx(recall_score(y, clf.predict(X), average="macro"))
    w = 1.0 / np.array([np.sum(y == label) for label in y])
    proba = clf.predict_proba(X)
    assert figures.brier == pytest.approx(brier_score_loss(y, proba, sample_weight=w))
    assert figures.log_loss == pytest.approx(log_loss(y, proba, sample_weight=w))


def test_reliability_has_the_quantile_bins_of_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    happened = rng.random(1000) < p**2
    table = reliability(p, happened, np.full(1000, 0.001))
    observed, predicted = calibration_curve(happened, p, n_bins=10, strategy="quantile")
    assert table.weight == pytest.approx(np.full(10, 0.1), abs=0.002)
    assert table.predicted == pytest.approx(predicted, abs=0.002)
    assert table.observed == pytest.approx(observed, abs=0.02)


def test_calibration_averages_back_to_the_priors_and_the_mean_posteriors():
    clf = GaussianNB().fit(IRIS, LABELS)
    priors = np.array([0.2, 0.5, 0.3])
    figures = evaluate(clf, IRIS, LABELS, priors=priors)
    proba = clf.predict_proba(IRIS)
    for k, label in enumerate(NAMES):
        table = figures.calibration[label]
        assert table.weight @ table.observed == pytest.approx(priors[k])
        mean = sum(priors[j] * proba[SPECIES.astype(int) == j, k].mean() for j in range(3))
        assert table.weight @ table.predicted == pytest.approx(mean)
        assert table.weight.sum() == pytest.approx(1)
        assert (np.diff(table.predicted) > 0).all()


def test_a_classifier_without_posteriors_has_no_scores_of_them():
    figures = evaluate(RidgeClassifier().fit(IRIS, LABELS), IRIS, LABELS)
    assert figures.calibration == {}
    assert np.isnan([figures.brier, figures.log_loss]).all()
    assert "Brier" not in str(figures)


# ---------------------------------------------------------------- the interval


def covered(rng, class_rows, priors, gain, rates, n_times, weigh):
    """Share of simulated evaluations whose interval holds the true expected gain."""
    truth = priors @ (rates * gain).sum(axis=1)
    hits = 0
    for _ in range(n_times):
        means, limits = [], []
        for k, n in enumerate(class_rows):
            gains = gain[k][rng.choice(gain.shape[1], n, p=rates[k])]
            w = rng.exponential(size=n) if weigh else np.ones(n)
            means.append(np.average(gains, weights=w))
            limits.append(mean_limits(gains, w, gain[k].min(), gain[k].max(), 0.95))
        low, high = mixture_limits(priors, np.array(means), np.array(limits))
        hits += low - 1e-9 <= truth <= high + 1e-9
    return hits / n_times


def test_the_interval_covers_for_few_rows_rare_errors_and_large_costs():
    rng = np.random.default_rng(0)
    found = []
    for n_classes, n_decisions in [(2, 2), (3, 3), (5, 4)]:
        for n in (10, 60, 1000):
            for error in (0.002, 0.02, 0.2, 0.6):
                for cost in (1.0, 100.0):
                    gain = -rng.uniform(0.3, 1, (n_classes, n_decisions))
                    gain[-1] *= cost
                    rates = rng.dirichlet(np.ones(n_decisions - 1), n_classes) * error
                    right = np.arange(n_classes) % n_decisions
                    rates = np.array(
                        [np.insert(r, d, 1 - error) for r, d in zip(rates, right, strict=True)]
                    )
                    gain[np.arange(n_classes), right] = 0.0
                    class_rows = np.maximum(10, n * rng.uniform(0.1, 1, n_classes)).astype(int)
                    priors = rng.dirichlet(np.full(n_classes, 2.0))
                    weigh = bool(rng.integers(2))
                    found.append(covered(rng, class_rows, priors, gain, rates, 300, weigh))
    assert 0.93 < np.mean(found) < 0.985
    # A cell of true coverage .94 falls below .89 in one of 2000 simulations of 300 evaluations.
    assert min(found) > 0.89


def test_the_interval_covers_where_gains_differ_from_row_to_row():
    # Frauds of very unequal amounts, of which a tenth is let through.
    rng = np.random.default_rng(1)
    clf = DummyClassifier().fit(np.zeros((2, 1)), ["fine", "fraud"])
    y = np.repeat(["fine", "fraud"], [300, 100])
    truth = 0.1 * -0.1 * np.exp(0.5)
    hits = 0
    for _ in range(200):
        gain = np.zeros((400, 2, 2))
        gain[:, 1, 0] = -rng.lognormal(0, 1, 400)
        made = np.where((y == "fraud") & (rng.random(400) > 0.1), "fraud", "fine")
        low, high = evaluate(
            clf, np.zeros((400, 1)), y, decisions=made, gain=gain, priors=[0.9, 0.1]
        ).interval
        hits += low <= truth <= high
    assert hits > 0.92 * 200


def test_limits_of_one_error_rate_lie_between_the_bayesian_bootstrap_and_the_exact_ones():
    # Clopper and Pearson add a whole unseen row, the Bayesian bootstrap none.
    for errors, n in [(0, 20), (1, 20), (3, 50), (25, 50), (200, 2000)]:
        gains = -np.repeat([1.0, 0.0], [errors, n - errors])
        low, high = mean_limits(gains, np.ones(n), -1.0, 0.0, 0.95)
        exact = beta.ppf(0.975, errors + 1, n - errors), beta.ppf(0.025, errors, n - errors + 1)
        bootstrap = beta.ppf(0.975, errors, n - errors), beta.ppf(0.025, errors, n - errors)
        slack = 0.02 * exact[0]  # three moments stand for the beta law
        if errors:
            assert bootstrap[0] - slack < -low < exact[0] + slack
            assert exact[1] - slack < -high < bootstrap[1] + slack
        else:
            assert 0.5 * exact[0] < -low < exact[0]
            assert high == 0


def test_many_rows_give_the_normal_interval_of_a_stratified_mean():
    counts = np.array([[5000, 3000, 2000], [1000, 5000, 4000]])
    gain = np.array([[1.0, 0.0, -1.0], [-2.0, 3.0, 1.0]])
    priors = np.array([0.3, 0.7])
    y, made = rows_of(counts, [0, 1], [0, 1, "refer"])
    named = {k: dict(zip([0, 1, "refer"], gain[k], strict=True)) for k in (0, 1)}
    clf = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    figures = evaluate(clf, np.zeros((len(y), 1)), y, decisions=made, gain=named, priors=priors)
    rates = counts / 10_000
    variance = (rates * gain**2).sum(axis=1) - (rates * gain).sum(axis=1) ** 2
    half = 1.959964 * np.sqrt((priors**2 * variance / 10_000).sum())
    assert figures.interval == pytest.approx(
        (figures.expected_gain - half, figures.expected_gain + half), abs=0.03 * half
    )


def test_faultless_rows_leave_room_for_errors_that_were_not_seen():
    counts = [[20, 0], [0, 400]]
    gain = [[0, -100], [-1, 0]]
    low, high = judge(counts, [0, 1], [0, 1], gain=gain, priors=[0.5, 0.5]).interval
    assert high == 0
    assert -0.5 * 100 * beta.ppf(0.975, 1, 20) < low < -0.5 * 100 * 1.5 / 20


def test_an_error_that_the_classifier_cannot_make_leaves_no_room_for_it():
    dear = {0: {0: 0, 1: -1, "destroy": -1e6}, 1: {0: -1, 1: 0, "destroy": -1e6}}
    low, _ = judge([[20, 0], [0, 20]], [0, 1], [0, 1], gain=dear).interval
    assert low > -1


def test_higher_confidence_is_wider_and_weights_that_differ_are_fewer_rows():
    counts = [[30, 10], [5, 55]]
    widths = [
        np.ptp(judge(counts, [0, 1], [0, 1], confidence=c).interval) for c in (0.5, 0.9, 0.99)
    ]
    assert widths == sorted(widths)
    equal, doubled, unequal = (
        judge(counts, [0, 1], [0, 1], priors="uniform", sample_weight=w)
        for w in (None, np.full(100, 2.0), np.where(np.arange(100) % 5 == 0, 9.0, 1.0))
    )
    assert equal.interval == pytest.approx(doubled.interval)
    assert np.ptp(unequal.interval) > 1.2 * np.ptp(equal.interval)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_outside_zero_and_one_is_refused(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        judge([[1, 0], [0, 1]], [0, 1], [0, 1], confidence=confidence)


# ---------------------------------------------------------------- laws

TABLES = st.integers(2, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 9), min_size=k, max_size=k).filter(any), min_size=k, max_size=k
    )
)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(counts, seed):
    """A gain and priors for a table of counts, and the figures under them."""
    rng = np.random.default_rng(seed)
    k = len(counts)
    gain, priors = rng.normal(0, 10, (k, k)), rng.dirichlet(np.ones(k))
    figures = judge(counts, range(k), range(k), gain=gain, priors=priors)
    return rng, gain, priors, figures


@settings(max_examples=30)
@given(TABLES, SEEDS)
def test_figures_hang_together(counts, seed):
    _, gain, priors, figures = drawn(counts, seed)
    low, high = figures.interval
    assert low <= figures.expected_gain <= high
    assert (figures.confusion * gain).sum() == pytest.approx(figures.expected_gain)
    assert (figures.raw_confusion * gain).sum() == pytest.approx(figures.raw_expected_gain)
    assert (figures.confusion * regret(gain)).sum(axis=1) == pytest.approx(
        priors * figures.class_risks
    )
    assert figures.class_gains + figures.class_risks == pytest.approx(gain.max(axis=1))
    assert sum(figures.shares.values()) == pytest.approx(1)


@settings(max_examples=30)
@given(TABLES, SEEDS, st.floats(0.01, 100))
def test_scaled_gains_scale_the_figures(counts, seed, factor):
    _, gain, priors, figures = drawn(counts, seed)
    k = range(len(counts))
    scaled = judge(counts, k, k, gain=factor * gain, priors=priors)
    assert scaled.expected_gain == pytest.approx(factor * figures.expected_gain)
    assert scaled.interval == pytest.approx(tuple(factor * v for v in figures.interval))
    assert scaled.class_risks == pytest.approx(factor * figures.class_risks)
    assert scaled.accuracy == figures.accuracy


@settings(max_examples=30)
@given(TABLES, SEEDS)
def test_constants_added_to_the_gains_of_classes_shift_the_gain_and_leave_the_risks(counts, seed):
    rng, gain, priors, figures = drawn(counts, seed)
    added = rng.normal(0, 10, len(counts))
    k = range(len(counts))
    shifted = judge(counts, k, k, gain=gain + added[:, None], priors=priors)
    shift = priors @ added
    assert shifted.expected_gain == pytest.approx(figures.expected_gain + shift)
    assert shifted.interval == pytest.approx(tuple(v + shift for v in figures.interval))
    assert shifted.class_risks == pytest.approx(figures.class_risks, abs=1e-9)


@settings(max_examples=30)
@given(TABLES, SEEDS)
def test_the_order_of_classes_and_decisions_does_not_matter(counts, seed):
    rng, gain, priors, figures = drawn(counts, seed)
    counts = np.array(counts)
    p = rng.permutation(len(counts))
    k = range(len(counts))
    other = judge(counts[p][:, p], k, k, gain=gain[p][:, p], priors=priors[p])
    assert other.expected_gain == pytest.approx(figures.expected_gain)
    assert other.interval == pytest.approx(figures.interval)
    assert other.class_risks == pytest.approx(figures.class_risks[p])
    assert other.confusion == pytest.approx(figures.confusion[p][:, p])
    assert list(other.shares.values()) == pytest.approx(
        [figures.shares[int(d)] for d in p], abs=1e-12
    )


@settings(max_examples=30)
@given(TABLES, SEEDS)
def test_a_weight_of_three_is_the_row_three_times_and_of_zero_its_absence(counts, seed):
    rng, gain, priors, _ = drawn(counts, seed)
    y, made = rows_of(counts, range(len(counts)), range(len(counts)))
    times = rng.integers(0, 4, len(y))
    times[np.unique(y, return_index=True)[1]] = 3  # keep a row of every class
    once = expected_gain_score(y, made, gain=gain, priors=priors, sample_weight=times)
    often = expected_gain_score(
        np.repeat(y, times), np.repeat(made, times), gain=gain, priors=priors
    )
    assert once == pytest.approx(often)


# ---------------------------------------------------------------- whose gains, whose priors


def test_a_rule_is_judged_by_its_own_gains_and_priors_unless_others_are_stated():
    clf = BayesClassifier(priors=[0.2, 0.3, 0.5], gain=REFER).fit(IRIS[:, :2], LABELS)
    own = evaluate(clf, IRIS[:, :2], LABELS)
    assert own.priors == pytest.approx(clf.priors_)
    assert own.gain == pytest.approx(clf.gain_)
    assert own.decisions.tolist() == clf.decisions_.tolist() == [*NAMES, "refer"]
    assert 0.05 < own.shares["refer"] < 0.95
    stated = evaluate(clf, IRIS[:, :2], LABELS, priors="uniform", gain=np.eye(3, 4))
    assert stated.counts == pytest.approx(own.counts)  # the same decisions, valued otherwise
    assert stated.priors == pytest.approx(np.full(3, 1 / 3))
    assert stated.expected_gain == pytest.approx(stated.accuracy)
    table = pd.DataFrame(REFER).T.iloc[::-1, ::-1]  # rows and columns in another order
    again = evaluate(clf, IRIS[:, :2], LABELS, gain=table, priors=dict.fromkeys(NAMES[::-1], 1 / 3))
    assert again.expected_gain == pytest.approx(
        evaluate(clf, IRIS[:, :2], LABELS, priors="uniform").expected_gain
    )


def test_classifiers_of_scikit_learn_are_judged_by_the_same_figures():
    # LinearDiscriminantAnalysis has priors_ of its own; without a gain it is no rule of ours.
    clf = LinearDiscriminantAnalysis(priors=[0.8, 0.1, 0.1]).fit(IRIS[:, :2], LABELS)
    plain = evaluate(clf, IRIS[:, :2], LABELS)
    assert plain.priors == pytest.approx(np.full(3, 1 / 3))
    assert plain.accuracy == pytest.approx(clf.score(IRIS[:, :2], LABELS))
    priced = evaluate(clf, IRIS[:, :2], LABELS, gain=REFER)
    assert priced.decisions.tolist() == [*NAMES, "refer"]
    assert priced.shares["refer"] == 0
    bare = with_action(np.where(np.eye(3) > 0, 1.0, -9.0), "refer", 0.5)
    assert evaluate(clf, IRIS[:, :2], LABELS, gain=bare).expected_gain == pytest.approx(
        priced.expected_gain
    )


@pytest.mark.parametrize(
    "wrap",
    [
        lambda clf: make_pipeline(StandardScaler(), clf),
        lambda clf: GridSearchCV(clf, {"random_state": [0]}, cv=2),
        lambda clf: GridSearchCV(make_pipeline(StandardScaler(), clf), {}, cv=2),
        lambda clf: make_pipeline(StandardScaler(), GridSearchCV(clf, {}, cv=2)),
    ],
)
def test_a_rule_is_found_at_the_end_of_pipelines_and_searches(wrap):
    clf = BayesClassifier(priors=[0.2, 0.3, 0.5], gain=REFER)
    fitted = wrap(clf).fit(IRIS[:, :2], LABELS)
    figures = evaluate(fitted, IRIS[:, :2], LABELS)
    expected = evaluate(clf.fit(IRIS[:, :2], LABELS), IRIS[:, :2], LABELS)
    assert figures.expected_gain == pytest.approx(expected.expected_gain)
    assert figures.priors == pytest.approx([0.2, 0.3, 0.5])


def test_a_frozen_rule_keeps_its_gains():
    clf = FrozenEstimator(BayesClassifier(gain=REFER).fit(IRIS[:, :2], LABELS))
    assert "refer" in evaluate(clf, IRIS[:, :2], LABELS).shares


def test_decisions_need_not_be_classes():
    gain = {"good": {"approve": 1, "decline": 0}, "bad": {"approve": -5, "decline": 0}}
    rng = np.random.default_rng(0)
    y = np.repeat(["good", "bad"], 100)
    X = rng.normal(size=(200, 1)) + (y == "good")[:, None]
    clf = BayesClassifier(gain=gain).fit(X, y)
    figures = evaluate(clf, X, y, priors={"good": 0.9, "bad": 0.1})
    approved = clf.predict(X) == "approve"
    expected = 0.9 * approved[y == "good"].mean() - 0.1 * 5 * approved[y == "bad"].mean()
    assert figures.expected_gain == pytest.approx(expected)
    assert np.isnan(figures.accuracy)
    # No decision is a class, so the columns of an array can only be the decisions.
    bare = evaluate(clf, X, y, priors=[0.1, 0.9], gain=[[-5, 0], [1, 0]])
    assert bare.expected_gain == pytest.approx(expected)
    assert cross_val_score(clf, X, y, scoring=expected_gain_scorer()).shape == (5,)


def test_an_array_whose_columns_could_be_read_in_two_ways_is_refused():
    gain = {"ill": {"well": -20, "ill": 0}, "well": {"well": 0, "ill": -1}}
    clf = BayesClassifier(gain=gain).fit([[0.0], [1.0], [2.0], [3.0]], ["well", "ill"] * 2)
    assert clf.decisions_.tolist() == ["well", "ill"]
    with pytest.raises(ValueError, match=r"two ways.*Name them"):
        evaluate(clf, [[0.0], [1.0]], ["well", "ill"], gain=[[0, -20], [-1, 0]])
    assert evaluate(clf, [[0.0], [1.0]], ["well", "ill"], gain=gain).n == 2


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (np.eye(2), r"shape \(2, 2\).*expected \(3, 4\)"),
        (np.eye(3), r"shape \(3, 3\).*expected \(3, 4\)"),
        (np.zeros((7, 3, 4)), r"\(7, 3, 4\).*expected \(150, 3, 4\)"),
        ([[1, 0], [1]], "must hold numbers"),
        (
            {n: dict.fromkeys(NAMES, 1.0) for n in NAMES},
            r"no price for decision 'refer'.*\d+ of 150",
        ),
        ({n: dict.fromkeys(NAMES, 1.0) for n in NAMES[:2]}, "no row for class 'virginica'"),
    ],
)
def test_gains_that_do_not_fit_say_what_is_wrong(gain, message):
    clf = BayesClassifier(gain=REFER).fit(IRIS[:, :2], LABELS)
    with pytest.raises(ValueError, match=message):
        evaluate(clf, IRIS[:, :2], LABELS, gain=gain)


@pytest.mark.parametrize(
    "priors", [[0.5, 0.5], [0.5, 0.6, -0.1], [1, 1, 1], {"setosa": 1.0}, "odd"]
)
def test_nonsense_priors_are_refused(priors):
    clf = GaussianNB().fit(IRIS, LABELS)
    with pytest.raises(ValueError, match="priors"):
        evaluate(clf, IRIS, LABELS, priors=priors)


def test_labels_of_another_kind_and_unfitted_models_are_refused():
    clf = GaussianNB().fit(IRIS, LABELS)
    with pytest.raises(ValueError, match=r"No class of y.*is among the known classes"):
        evaluate(clf, IRIS, SPECIES)
    for unfitted in (BayesClassifier(), GaussianNB(), make_pipeline(BayesClassifier())):
        with pytest.raises(NotFittedError):
            evaluate(unfitted, IRIS, LABELS)
    with pytest.raises(ValueError, match="at least one non-zero"):
        evaluate(clf, IRIS, LABELS, sample_weight=np.zeros(150))


# ---------------------------------------------------------------- absent classes


def test_the_prior_of_a_class_without_rows_goes_to_the_others_with_a_warning():
    clf = BayesClassifier(priors=[0.2, 0.3, 0.5]).fit(IRIS, LABELS)
    present = SPECIES < 2
    with pytest.warns(AbsentClassWarning, match=r"virginica.*prior of 0\.5"):
        figures = evaluate(clf, IRIS[present], LABELS[present])
    assert figures.priors == pytest.approx([0.4, 0.6, 0])
    assert figures.confusion.sum() == pytest.approx(1)
    assert np.isnan(figures.class_risks[2])
    assert np.isfinite([figures.expected_gain, *figures.interval, figures.brier]).all()
    with pytest.raises(ValueError, match="No row belongs to a class with a prior"):
        evaluate(clf, IRIS[present], LABELS[present], priors=[0, 0, 1])


def test_a_class_never_fitted_counts_when_its_prior_is_stated():
    known = SPECIES < 2
    clf = BayesClassifier().fit(IRIS[known], LABELS[known])
    with pytest.warns(AbsentClassWarning, match=r"virginica.*not fitted"):
        figures = evaluate(clf, IRIS, LABELS)
    assert figures.expected_gain == pytest.approx(clf.score(IRIS[known], LABELS[known]))
    stated = evaluate(clf, IRIS, LABELS, priors="empirical")
    assert stated.accuracy == pytest.approx(clf.score(IRIS, LABELS))
    assert stated.class_gains[2] == 0
    assert np.isfinite(stated.log_loss)
    plain = evaluate(GaussianNB().fit(IRIS[known], LABELS[known]), IRIS, LABELS)
    assert plain.accuracy == pytest.approx(2 / 3, abs=0.01)


def test_named_priors_and_gains_suit_rows_that_lack_a_class():
    y, made = ["a", "b", "b"], ["a", "b", "a"]
    gain = {k: {d: float(k == d) for d in "abc"} for k in "abc"}
    with pytest.warns(AbsentClassWarning, match="'c'"):
        score = expected_gain_score(y, made, gain=gain, priors={"a": 0.2, "b": 0.3, "c": 0.5})
    assert score == pytest.approx(0.4 * 1 + 0.6 * 0.5)
    bare = expected_gain_score(y, made, gain=np.eye(3), classes=["a", "b", "c"])
    assert bare == pytest.approx(2 / 3)


# ---------------------------------------------------------------- gains of each row


def test_gains_of_each_row_are_averaged_within_classes():
    rng = np.random.default_rng(0)
    y, made = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    gain = rng.normal(size=(60, 2, 2))
    priors = [0.3, 0.7]
    got = gain[np.arange(60), y, made]
    lost = gain[np.arange(60), y].max(axis=1) - got
    clf = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    figures = evaluate(clf, np.zeros((60, 1)), y, gain=gain, priors=priors, decisions=made)
    for k in (0, 1):
        assert figures.class_gains[k] == pytest.approx(got[y == k].mean())
        assert figures.class_risks[k] == pytest.approx(lost[y == k].mean())
        assert figures.gain[k] == pytest.approx(gain[y == k, k].mean(axis=0))
    assert figures.expected_gain == pytest.approx(
        0.3 * got[y == 0].mean() + 0.7 * got[y == 1].mean()
    )
    assert expected_gain_score(y, made, gain=gain) == pytest.approx(got.mean())
    same = np.tile([[1.0, -2.0], [-3.0, 4.0]], (60, 1, 1))
    repeated = evaluate(clf, np.zeros((60, 1)), y, gain=same, priors=priors, decisions=made)
    once = evaluate(clf, np.zeros((60, 1)), y, gain=same[0], priors=priors, decisions=made)
    assert repeated.expected_gain == pytest.approx(once.expected_gain)
    assert repeated.interval == pytest.approx(once.interval)
    assert repeated.gain == pytest.approx(once.gain)


def test_decisions_already_made_are_valued_in_place_of_the_classifiers():
    X = IRIS[:, :2]
    clf = BayesClassifier().fit(X, LABELS)
    gain = np.random.default_rng(0).exponential(size=(150, 3, 1)) * np.eye(3)
    seeing = clf.predict(X, gain=gain)
    figures = evaluate(clf, X, LABELS, gain=gain, decisions=seeing)
    assert figures.counts == pytest.approx(confusion_matrix(LABELS, seeing))
    assert figures.expected_gain == pytest.approx(
        gain[np.arange(150), SPECIES, np.searchsorted(NAMES, seeing)].mean()
    )
    blind = evaluate(clf, X, LABELS, gain=gain)
    assert blind.counts == pytest.approx(confusion_matrix(LABELS, clf.predict(X)))
    assert (blind.counts != figures.counts).any()


# ---------------------------------------------------------------- reading the figures


def test_soft_labels_count_by_degrees():
    degrees = pd.DataFrame({"a": [1.0, 0.25], "b": [0.0, 0.75]})
    assert expected_gain_score(degrees, ["a", "b"]) == pytest.approx((1 + 0.75) / 2)
    assert expected_gain_score(degrees, ["b", "a"], priors="uniform") == pytest.approx(
        0.5 * 0.25 / 1.25
    )


@pytest.mark.parametrize(
    ("classes", "decisions"),
    [
        ([0, 1], [0, 1, "refer"]),
        ([1, 2], [1, 2, "1"]),
        ([False, True], [False, True, "ask"]),
        (["no", "yes"], ["no", "yes", 0]),
        ([0.0, 1.0], [0.0, 1.0, "refer"]),
    ],
)
def test_labels_of_every_kind_print_and_go_through_json(classes, decisions):
    gain = {k: {d: float(k == d) for d in decisions} for k in classes}
    figures = judge([[5, 1, 2], [1, 6, 0]], classes, decisions, gain=gain)
    stored = json.loads(json.dumps(figures.to_dict(), allow_nan=False))
    assert stored["decisions"] == decisions
    assert stored["classes"] == classes
    assert stored["confusion"] == figures.confusion.tolist()
    assert len(stored["shares"]) == 3
    assert sum(stored["shares"].values()) == pytest.approx(1)
    assert stored["interval"] == list(figures.interval)
    assert len(stored["calibration"]) == 2
    assert figures.shares[decisions[2]] == pytest.approx(2 / 15)
    assert all(str(label) in str(figures) for label in [*classes, *decisions])
    frame = figures.to_frame()
    assert frame.loc[classes[0], decisions[2]] == pytest.approx(2 / 15)
    assert (frame.index.name, frame.columns.name) == ("true", "decision")


def test_a_list_of_mixed_decisions_keeps_their_types():
    gain = {0: {0: 1, 1: 0, "refer": 0.5}, 1: {0: 0, 1: 1, "refer": 0.5}}
    assert expected_gain_score([0, 1, 1], [0, "refer", np.int64(1)], gain=gain) == pytest.approx(
        2.5 / 3
    )


def test_missing_figures_are_null_in_json():
    clf = BayesClassifier().fit(IRIS, LABELS)
    with pytest.warns(AbsentClassWarning):
        figures = evaluate(clf, IRIS[:100], LABELS[:100])
    assert json.loads(json.dumps(figures.to_dict(), allow_nan=False))["class_risks"][2] is None


def test_the_printed_table_is_aligned_and_says_the_figures():
    gain = {k: {d: -100.0 * (k != d) for d in NAMES} for k in NAMES}
    clf = BayesClassifier(priors="uniform").fit(IRIS[:, :1], LABELS)
    figures = evaluate(clf, IRIS[:, :1], LABELS, gain=gain)
    text = str(figures)
    assert repr(figures) == text
    assert "150 rows" in text
    assert "95 % interval" in text
    assert f"{figures.expected_gain:.3f}" in text
    assert f"{figures.interval[0]:.3f} to {figures.interval[1]:.3f}" in text
    table = text.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table[1:]] == [*NAMES, "share"]
    assert len({len(line) for line in table[:-1]}) == 1
    assert max(map(len, text.splitlines())) < 100


def test_very_many_classes_print_without_the_confusion():
    y = np.repeat(np.arange(30), 2)
    figures = judge(2 * np.eye(30, dtype=int), np.arange(30), np.arange(30))
    assert len(y) == figures.n
    assert max(map(len, str(figures).splitlines())) < 80
    assert len(str(figures).splitlines()) > 30


def test_to_frame_without_pandas_says_what_to_do(monkeypatch):
    figures = judge([[1, 0], [0, 1]], [0, 1], [0, 1])
    real = builtins.__import__

    def without_pandas(name, *rest, **named):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match=r"needs pandas.*confusion"):
        figures.to_frame()
