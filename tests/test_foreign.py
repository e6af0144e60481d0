"""Any scikit-learn classifier as a density: which priors are divided out, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayesrule import BayesClassifier, FromClassifier, Gaussian, Minimax
from bayesrule.notices import BayesRuleWarning, PreparedOnChunkWarning, PriorsWarning

TRUTH = np.array([0.9, 0.1])


def two_normals(
    n: int, priors: Any = TRUTH, seed: int = 0, apart: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """N(0, 1) against N(apart, 1) in one column, in unequal shares."""
    rng = np.random.default_rng(seed)
    y = rng.choice(2, size=n, p=priors)
    return rng.normal(size=(n, 1)) + apart * y[:, None], y


def exact_posterior(x: np.ndarray, priors: Any, apart: float = 2.0) -> np.ndarray:
    """P(1 | x) for those two normals."""
    odds = priors[1] / priors[0] * np.exp(apart * x[:, 0] - apart**2 / 2)
    return odds / (1 + odds)


GRID = np.linspace(-1, 3, 21)[:, None]


# ---------------------------------------------------------------------- priors divided out


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(C=1e4),
        LogisticRegression(C=1e4, class_weight="balanced"),
        LogisticRegression(C=1e4, class_weight={0: 1.0, 1: 20.0}),
        LogisticRegression(C=1e4, class_weight={1: 0.1}),
        make_pipeline(StandardScaler(), LogisticRegression(C=1e4, class_weight="balanced")),
        GridSearchCV(LogisticRegression(class_weight="balanced"), {"C": [1e3, 1e4]}, cv=2),
        FixedThresholdClassifier(LogisticRegression(C=1e4, class_weight="balanced"), threshold=0.9),
        CalibratedClassifierCV(LogisticRegression(C=1e4, class_weight="balanced"), cv=2),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
        GaussianNB(priors=[0.2, 0.8]),
        BayesClassifier(Gaussian("tied")),
        BayesClassifier(Gaussian("tied"), priors="uniform"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_priors_of_training_are_divided_out(estimator, weighted):
    X, y = two_normals(20_000)
    weights = None
    if weighted:
        weightless = (LinearDiscriminantAnalysis, GridSearchCV, FixedThresholdClassifier)
        if isinstance(estimator, weightless):
            pytest.skip("takes no weights")
        # Weights move the class shares that the model is trained with, from 10 % to 30 %.
        weights = np.where(y == 1, 4.0, 1.0) * np.random.default_rng(1).integers(1, 3, len(y))
    clf = BayesClassifier(FromClassifier(estimator), priors="uniform").fit(X, y, weights)
    # A calibrated posterior is a step towards the truth, not quite it.
    rough = isinstance(estimator, CalibratedClassifierCV)
    expected = exact_posterior(GRID, [0.5, 0.5])
    np.testing.assert_allclose(
        clf.predict_proba(GRID)[:, 1], expected, atol=0.06 if rough else 0.03
    )


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 7.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_trained_priors_are_exactly_those_of_the_weights(class_weight, weighted):
    X, y = two_normals(2_000)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    if not weighted:
        weights[:] = 1.0
    model = LogisticRegression(class_weight=class_weight, tol=1e-10)
    clf = BayesClassifier(FromClassifier(model)).fit(X, y, weights if weighted else None)
    trained = clf.density_.trained_priors
    if class_weight == "balanced":
        total = np.bincount(y, weights)
        by_rows = total / np.bincount(y)
        # scikit-learn's estimators balance either the rows or their weights.
        assert np.allclose(trained, 0.5) or np.allclose(trained, by_rows / by_rows.sum())
    else:
        mass = np.bincount(y, weights) * [2.0, 7.0]
        np.testing.assert_allclose(trained, mass / mass.sum(), rtol=1e-12)
    # At its optimum an unpenalised intercept makes the weighted mean posterior these very shares.
    inner = clf.density_.model
    per_class = np.array([1.0, 1.0])
    if class_weight != "balanced":
        per_class = np.array([2.0, 7.0])
    else:
        per_class = trained / (np.bincount(y, weights) / weights.sum())
    mean = np.average(inner.predict_proba(X), axis=0, weights=weights * per_class[y])
    np.testing.assert_allclose(mean, trained, atol=1e-5)


def test_posteriors_come_back_under_the_priors_of_training():
    X, y = two_normals(500)
    for estimator in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)):
        clf = BayesClassifier(FromClassifier(estimator)).fit(X, y)
        alone = estimator.fit(X, y)
        np.testing.assert_allclose(clf.predict_proba(GRID), alone.predict_proba(GRID), atol=1e-12)
        np.testing.assert_array_equal(clf.predict(GRID), alone.predict(GRID))


def test_trained_priors_may_be_stated():
    # Trained on a balanced sample of rows; used on rows of other shares.
    X, y = two_normals(20_000, priors=[0.5, 0.5])
    frozen = FrozenEstimator(LogisticRegression(C=1e4).fit(X, y))
    new, truth = two_normals(5_000, priors=TRUTH, seed=1)
    for stated in ([0.5, 0.5], {0: 0.5, 1: 0.5}):
        clf = BayesClassifier(FromClassifier(frozen, trained_priors=stated)).fit(new, truth)
        np.testing.assert_allclose(clf.density_.trained_priors, 0.5)
        got = clf.predict_proba(GRID)[:, 1]
        np.testing.assert_allclose(got, exact_posterior(GRID, TRUTH), atol=0.03)
    with pytest.warns(PriorsWarning, match="trained_priors"):
        BayesClassifier(FromClassifier(frozen)).fit(new, truth)


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(LogisticRegression(class_weight="balanced"), 3),
        VotingClassifier([("a", LogisticRegression(class_weight="balanced"))], voting="soft"),
        VotingClassifier([("a", LinearDiscriminantAnalysis(priors=[0.5, 0.5]))], voting="soft"),
    ],
    ids=repr,
)
def test_priors_that_cannot_be_told_are_warned_of(estimator):
    # So far apart that the mean posterior says nothing of the priors.
    X, y = two_normals(1_000, apart=6.0)
    with pytest.warns(PriorsWarning, match="trained_priors"):
        BayesClassifier(FromClassifier(estimator)).fit(X, y)


def test_no_warning_where_nothing_is_in_doubt():
    X, y = two_normals(1_000)
    estimators = [
        LogisticRegression(),
        LogisticRegression(class_weight="balanced"),
        GaussianNB(priors=[0.5, 0.5]),
        HistGradientBoostingClassifier(max_iter=20),
        make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
        CalibratedClassifierCV(LogisticRegression(class_weight="balanced")),
    ]
    for estimator in estimators:
        with warnings.catch_warnings():
            warnings.simplefilter("error", BayesRuleWarning)
            BayesClassifier(FromClassifier(estimator)).fit(X, y)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 5}])
def test_forests_weigh_classes_too(class_weight):
    X, y = two_normals(20_000)
    forest = RandomForestClassifier(
        30, min_samples_leaf=200, class_weight=class_weight, random_state=0
    )
    clf = BayesClassifier(FromClassifier(forest), priors="uniform").fit(X, y)
    plain = RandomForestClassifier(30, min_samples_leaf=200, random_state=0)
    other = BayesClassifier(FromClassifier(plain), priors="uniform").fit(X, y)
    apart = np.abs(clf.predict_proba(GRID) - other.predict_proba(GRID)).mean()
    assert apart < 0.06


# ---------------------------------------------------------------------- classes


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=2000),
        HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_costs_and_abstention_for_any_number_of_classes(n_classes, estimator):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < n_classes] / 16, y[y < n_classes]
    names = np.array(["nought", "one", "two", "three", "four", *"56789"])
    fit, new = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    gain = np.column_stack([np.eye(n_classes), np.full(n_classes, 0.95)])
    clf = BayesClassifier(FromClassifier(estimator), gain=gain).fit(X[fit], names[y[fit]])
    alone = estimator.fit(X[fit], names[y[fit]])
    np.testing.assert_array_equal(clf.classes_, alone.classes_)
    posterior = alone.predict_proba(X[new])
    np.testing.assert_allclose(clf.predict_proba(X[new]), posterior, atol=1e-9)
    expected = np.where(
        posterior.max(axis=1) >= 0.95, alone.predict(X[new]).astype(object), "action_1"
    )
    clear = np.abs(posterior.max(axis=1) - 0.95) > 1e-9
    np.testing.assert_array_equal(clf.predict(X[new])[clear], expected[clear])
    assert 0 < (expected == "action_1").mean() < 1
    assert clf.expected_gains(X[new]).max(axis=1).min() >= 0.95 - 1e-12


def test_minimax_works_around_a_foreign_classifier():
    X, y = two_normals(2_000)
    clf = BayesClassifier(FromClassifier(LogisticRegression()), Minimax()).fit(X, y)
    # Two normals of one variance: equal risks at the middle, P(N(0, 1) > 1) = 0.159.
    threshold = GRID[np.flatnonzero(np.diff(clf.predict(GRID)))][:, 0]
    assert threshold == pytest.approx([1.0], abs=0.25)
    assert clf.prior_solution_.value == pytest.approx(0.159, abs=0.03)


def test_class_announced_and_never_seen():
    X, y = two_normals(500)
    with pytest.warns(PreparedOnChunkWarning):
        clf = BayesClassifier(FromClassifier(LogisticRegression())).partial_fit(
            X, y, classes=[0, 1, 2]
        )
    alone = LogisticRegression().fit(X, y).predict_proba(GRID)
    np.testing.assert_allclose(clf.predict_proba(GRID), np.pad(alone, ((0, 0), (0, 1))), atol=1e-12)


def test_class_that_the_first_chunk_did_not_have():
    X, y = two_normals(600)
    clf = BayesClassifier(FromClassifier(LogisticRegression()))
    with pytest.warns(PreparedOnChunkWarning, match="first chunk"):
        clf.partial_fit(X[:500], y[:500])
    clf.partial_fit(X[500:], np.full(100, 7))
    assert clf.classes_.tolist() == [0, 1, 7]
    assert clf.class_count_.tolist() == [*np.bincount(y[:500]), 100]
    # The model knows nothing of class 7, so no row looks like it.
    assert (clf.predict_proba(GRID)[:, 2] == 0).all()


@pytest.mark.parametrize("classes", [[0, 1, 2], None])
def test_frozen_model_whose_class_has_no_rows_here(classes):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    X = rng.normal(size=(300, 1)) + 2.0 * y[:, None]
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    few = X[:200], y[:200]
    if classes is None:
        # Then it is no class at all, and its posterior is left out.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PriorsWarning)
            clf = BayesClassifier(FromClassifier(frozen), priors="uniform").fit(*few)
        assert clf.predict_proba(X).shape == (300, 2)
        ratio = frozen.predict_proba(X)[:, 1] / frozen.predict_proba(X)[:, 0]
        odds = clf.predict_proba(X)[:, 1] / clf.predict_proba(X)[:, 0]
        np.testing.assert_allclose(odds, ratio, rtol=1e-9)
        return
    unstated = BayesClassifier(FromClassifier(frozen))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        with pytest.raises(ValueError, match="trained_priors"):
            unstated.partial_fit(*few, classes=classes)
    stated = FromClassifier(frozen, trained_priors=[1 / 3, 1 / 3, 1 / 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        clf = BayesClassifier(stated, priors="uniform").partial_fit(*few, classes=classes)
    np.testing.assert_allclose(clf.log_density(X) - np.log(frozen.predict_proba(X)), np.log(3))


def test_classes_that_the_model_does_not_know():
    X, y = two_normals(300)
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="trained on"):
        BayesClassifier(FromClassifier(frozen)).fit(X, y + 5)
    with pytest.raises(ValueError, match="trained on"):
        BayesClassifier(FromClassifier(frozen)).fit(X, y.astype(str))


def test_frozen_model_is_used_as_it_is():
    X, y = two_normals(300)
    inner = LogisticRegression().fit(X, y)
    clf = BayesClassifier(FromClassifier(FrozenEstimator(inner))).fit(X[:200], y[:200])
    assert clf.density_.model.estimator is inner
    assert not clf.density.memorises
    with pytest.raises(ValueError, match="not fitted"):
        BayesClassifier(FromClassifier(FrozenEstimator(LogisticRegression()))).fit(X, y)


def test_estimator_of_the_user_is_not_touched():
    X, y = two_normals(300)
    mine = LogisticRegression()
    BayesClassifier(FromClassifier(mine)).fit(X, y)
    assert not hasattr(mine, "coef_")


# ---------------------------------------------------------------------- weights and soft labels


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = two_normals(400)
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    pipe = make_pipeline(StandardScaler(with_mean=False, with_std=False), LogisticRegression())
    clf = BayesClassifier(FromClassifier(pipe)).fit(X, y, weights)
    expected = LogisticRegression().fit(X, y, weights)
    np.testing.assert_allclose(clf.predict_proba(GRID), expected.predict_proba(GRID), atol=1e-6)


def test_soft_labels_are_weighted_rows():
    X, _ = two_normals(400)
    degrees = np.clip(exact_posterior(X, TRUTH), 0.05, 0.95)
    Y = np.column_stack([1 - degrees, degrees])
    clf = BayesClassifier(FromClassifier(LogisticRegression(tol=1e-8))).fit(X, Y)
    rows, codes = np.repeat(np.arange(400), 2), np.tile([0, 1], 400)
    expected = LogisticRegression(tol=1e-8).fit(X[rows], codes, Y.ravel())
    np.testing.assert_allclose(clf.predict_proba(GRID), expected.predict_proba(GRID), atol=1e-6)
    np.testing.assert_allclose(clf.density_.trained_priors, Y.mean(axis=0), rtol=1e-9)


def test_estimator_without_weights_says_so():
    X, y = two_normals(100)
    neighbours = BayesClassifier(FromClassifier(KNeighborsClassifier()))
    with pytest.raises(TypeError, match=r"KNeighborsClassifier.*sample_weight"):
        neighbours.fit(X, y, np.ones(100))
    with pytest.raises(TypeError, match=r"KNeighborsClassifier.*sample_weight"):
        neighbours.fit(X, np.eye(2)[y])
    assert neighbours.fit(X, y).score(X, y) > 0.8


# ---------------------------------------------------------------------- what X may be


def test_sparse_rows_and_texts_go_through():
    X, y = two_normals(300)
    plain = BayesClassifier(FromClassifier(LogisticRegression())).fit(X, y)
    for kind in (scipy.sparse.csr_array, scipy.sparse.coo_array, scipy.sparse.csc_matrix):
        clf = BayesClassifier(FromClassifier(LogisticRegression()), Minimax()).fit(kind(X), y)
        got = clf.with_rule(priors="empirical").predict_proba(kind(GRID))
        np.testing.assert_allclose(got, plain.predict_proba(GRID), atol=1e-6)
    texts = [f"{word} thing number {i}" for i in range(20) for word in ("nice good", "awful bad")]
    words = make_pipeline(TfidfVectorizer(), LogisticRegression())
    for priors in ("uniform", Minimax()):
        clf = BayesClassifier(FromClassifier(words), priors).fit(texts, ["+", "-"] * 20)
        assert clf.predict(["nice good", "awful bad"]).tolist() == ["+", "-"]
    assert clf.score(texts, ["+", "-"] * 20) == 1.0
    weights = np.arange(40)
    clf = BayesClassifier(FromClassifier(words)).fit(texts, ["+", "-"] * 20, weights)
    assert clf.class_count_.tolist() == [weights[::2].sum(), weights[1::2].sum()]


def test_models_of_texts_merge():
    texts, y = ["good", "bad"] * 20, ["+", "-"] * 20
    words = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, y)
    part = BayesClassifier(FromClassifier(FrozenEstimator(words))).fit(texts, y)
    merged = part.merge(part)
    assert merged.class_count_.tolist() == [40, 40]
    np.testing.assert_array_equal(merged.predict_proba(texts), part.predict_proba(texts))


def test_only_one_prepared_density_merges():
    X, y = two_normals(300)
    one, other = (BayesClassifier(FromClassifier(LogisticRegression())).fit(X, y) for _ in "ab")
    with pytest.raises(ValueError, match="prepared density"):
        one.merge(other)


@pytest.mark.parametrize(
    ("estimator", "error", "named"),
    [
        (SVC(), TypeError, "SVC has no predict_proba.*CalibratedClassifierCV"),
        (LinearRegression(), TypeError, "LinearRegression"),
        (StandardScaler(), TypeError, "StandardScaler"),
        (LogisticRegression, TypeError, "LogisticRegression"),
        (None, TypeError, "classifier"),
        ("logistic", TypeError, "classifier"),
    ],
    ids=str,
)
def test_what_is_no_probabilistic_classifier_is_refused(estimator, error, named):
    X, y = two_normals(50)
    with pytest.raises(error, match=named):
        BayesClassifier(FromClassifier(estimator)).fit(X, y)


def test_a_margin_becomes_a_density_by_calibration():
    X, y = two_normals(2_000)
    svc = CalibratedClassifierCV(SVC(kernel="linear"), cv=3)
    clf = BayesClassifier(FromClassifier(svc), priors="uniform").fit(X, y)
    expected = exact_posterior(GRID, [0.5, 0.5])
    np.testing.assert_allclose(clf.predict_proba(GRID)[:, 1], expected, atol=0.08)


@pytest.mark.parametrize(
    ("trained", "named"),
    [
        ([0.5, 0.3, 0.2], r"\(3,\)"),
        ([0.9, 0.9], "sum to 1.8"),
        ([0.0, 1.0], "class 0|trained_priors"),
        ({0: 0.5, 2: 0.5}, "class 2"),
    ],
    ids=str,
)
def test_nonsense_trained_priors_are_named(trained, named):
    X, y = two_normals(100)
    with pytest.raises(ValueError, match=named):
        BayesClassifier(FromClassifier(LogisticRegression(), trained)).fit(X, y)


def test_posteriors_of_zero_and_one_do_not_break():
    X, y = two_normals(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorsWarning)
        clf = BayesClassifier(FromClassifier(DecisionTreeClassifier()), [0.5, 0.5]).fit(X, y)
    posterior = clf.predict_proba(X)
    assert np.isfinite(posterior).all()
    np.testing.assert_array_equal(posterior.argmax(axis=1), y)
    assert np.isfinite(clf.with_rule(priors=Minimax(), X=X).priors_).all()
