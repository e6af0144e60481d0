"""What others build on a classifier: each tool of scikit-learn and beyond is used once for real.

A tool that only does not fail proves little, so each is held to something that must be true.
"""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from densities import DENSITIES, Listed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import bayesrule
from bayesrule import (
    BayesClassifier,
    DensityEstimate,
    FromClassifier,
    FuzzyCMeans,
    Gaussian,
    Histogram,
    Kernel,
    MeanPrior,
    Minimax,
    Neighbors,
    NormalInverseWishart,
    Poisson,
    Shifted,
    StudentScatter,
    TylerScatter,
    expected_gain_scorer,
    recipes,
    with_action,
)
from bayesrule.notices import BayesRuleWarning
from bayesrule.testing import toy_rows

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
COSTLY = [[1, -1, -1], [-4, 2, -1], [-1, -1, 1]]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


# ---------------------------------------------------------------------- pipelines and columns


def test_a_pipeline_decides_as_its_parts_do():
    pipeline = make_pipeline(StandardScaler(), recipes.qda(gain=COSTLY)).fit(X, NAMES)
    scaled = StandardScaler().fit_transform(X)
    by_hand = recipes.qda(gain=COSTLY).fit(scaled, NAMES)
    assert_array_equal(pipeline.predict(X), by_hand.predict(scaled))
    assert_array_equal(pipeline.predict_proba(X), by_hand.predict_proba(scaled))
    assert_array_equal(pipeline.classes_, by_hand.classes_)
    assert_allclose(pipeline.predict_proba(X), recipes.qda().fit(X, NAMES).predict_proba(X))


def test_names_of_the_columns_travel_through_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), BayesClassifier(Gaussian("diag")))
    pipeline.set_output(transform="pandas").fit(X, Y)
    clf = pipeline[-1]
    assert clf.feature_names_in_.tolist() == X.columns.tolist()
    assert clf.contribution_names_ == X.columns.tolist()
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(X.rename(columns=str.upper))
    for output in ("polars", "pandas"):
        again = clone(pipeline).set_output(transform=output).fit(X, Y)
        assert_array_equal(again.predict(X), pipeline.predict(X))


def mixed_rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame(
        {
            "size": rng.normal(2.0 * y, 1.0),
            "town": np.array(["A", "B", "C"])[(y + rng.integers(0, 2, 300)) % 3],
            "useless": rng.normal(size=300),
        }
    )
    return frame, y


@pytest.mark.parametrize("sparse", [False, True])
def test_a_column_transformer_may_stand_in_front(sparse):
    frame, y = mixed_rows()
    front = make_column_transformer(
        (StandardScaler(), ["size", "useless"]),
        (OneHotEncoder(sparse_output=sparse), ["town"]),
        sparse_threshold=0,
    )
    model = make_pipeline(front, recipes.qda(shrinkage="auto")).fit(frame, y)
    assert model.score(frame, y) > 0.8
    by_hand = recipes.qda(shrinkage="auto").fit(front.fit_transform(frame), y)
    assert_array_equal(model.predict(frame), by_hand.predict(front.transform(frame)))


def test_what_a_column_transformer_passes_through_keeps_its_types():
    frame, y = mixed_rows()
    front = ColumnTransformer(
        [("kept", "passthrough", ["size", "town"])], verbose_feature_names_out=False
    ).set_output(transform="pandas")
    model = make_pipeline(front, recipes.naive_bayes()).fit(frame, y)
    by_hand = recipes.naive_bayes().fit(frame[["size", "town"]], y)
    assert_array_equal(model.predict_proba(frame), by_hand.predict_proba(frame[["size", "town"]]))


# ---------------------------------------------------------------------- searches


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV])
def test_searches_find_the_best_density(search):
    settings = {"density": [Gaussian("diag"), Gaussian("full"), Histogram(3), Neighbors(5)]}
    more = {"n_iter": 4, "random_state": 0} if search is RandomizedSearchCV else {}
    scorer = expected_gain_scorer()
    found = search(
        recipes.qda(gain=COSTLY), settings, scoring=scorer, cv=FOLDS, error_score="raise", **more
    ).fit(X, NAMES)
    scores = found.cv_results_["mean_test_score"]
    rounds = found.cv_results_.get("iter", np.zeros(len(scores)))
    assert found.best_score_ == scores[rounds == max(rounds)].max()
    assert isinstance(found.best_estimator_, BayesClassifier)
    assert_array_equal(found.predict(X), found.best_estimator_.predict(X))
    if search is GridSearchCV:
        by_hand = [
            cross_validate(
                BayesClassifier(density, gain=COSTLY), X, NAMES, cv=FOLDS, scoring=scorer
            )["test_score"].mean()
            for density in settings["density"]
        ]
        assert_allclose(found.cv_results_["mean_test_score"], by_hand)


def test_searches_reach_into_densities_in_pipelines():
    pipeline = make_pipeline(StandardScaler(), BayesClassifier(Kernel()))
    grid = {"bayesclassifier__density__bandwidth": [0.02, 0.3, 30.0]}
    search = GridSearchCV(pipeline, grid, scoring="neg_log_loss", cv=FOLDS).fit(X, Y)
    assert search.best_params_ == {"bayesclassifier__density__bandwidth": 0.3}


# ---------------------------------------------------------------------- wrappers


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_calibration_mends_posteriors_that_are_too_sure(method):
    X, y = load_breast_cancer(return_X_y=True)
    plain = recipes.gaussian_nb().fit(X[::2], y[::2])
    calibrated = CalibratedClassifierCV(recipes.gaussian_nb(), method=method, cv=3)
    calibrated.fit(X[::2], y[::2])
    before = log_loss(y[1::2], plain.predict_proba(X[1::2]))
    assert log_loss(y[1::2], calibrated.predict_proba(X[1::2])) < 0.7 * before
    frozen = CalibratedClassifierCV(FrozenEstimator(plain), method=method).fit(X[::2], y[::2])
    assert log_loss(y[1::2], frozen.predict_proba(X[1::2])) < 0.7 * before
    assert_array_equal(
        plain.predict_proba(X), recipes.gaussian_nb().fit(X[::2], y[::2]).predict_proba(X)
    )


def test_a_frozen_classifier_stays_as_it_is():
    fitted = recipes.qda(gain=COSTLY).fit(X, NAMES)
    frozen = clone(FrozenEstimator(fitted)).fit(X, NAMES[::-1])
    assert_array_equal(frozen.predict(X), fitted.predict(X))


def test_stacking_and_voting_use_the_posteriors():
    X, y = load_breast_cancer(return_X_y=True)
    members = [("qda", recipes.qda(0.1)), ("knn", recipes.knn(15)), ("log", recipes.parzen())]
    stack = StackingClassifier(members, LogisticRegression(max_iter=500), cv=3)
    stack.fit(X[::2], y[::2])
    assert stack.transform(X).shape == (len(X), 3)  # one posterior of two for each member
    fitted = recipes.qda(0.1).fit(X[::2], y[::2])
    assert_array_equal(stack.transform(X)[:, 0], fitted.predict_proba(X)[:, 1])
    assert stack.score(X[1::2], y[1::2]) > 0.9
    vote = VotingClassifier(members, voting="soft", weights=[1, 2, 1]).fit(X[::2], y[::2])
    mean = np.average([m.predict_proba(X) for m in vote.estimators_], axis=0, weights=[1, 2, 1])
    assert_allclose(vote.predict_proba(X), mean)
    hard = VotingClassifier(members).fit(X[::2], y[::2])
    majority = np.mean([m.predict(X) for m in hard.estimators_], axis=0) > 0.5
    assert_array_equal(hard.predict(X), majority)


def test_one_class_against_the_others():
    rest = OneVsRestClassifier(BayesClassifier(Gaussian("diag"))).fit(X, NAMES)
    scores = np.column_stack(
        [
            recipes.gaussian_nb().fit(X, name == NAMES).predict_proba(X)[:, 1]
            for name in rest.classes_
        ]
    )
    assert_allclose(rest.predict_proba(X), scores / scores.sum(axis=1, keepdims=True))
    several = OneVsRestClassifier(recipes.qda()).fit(X, np.eye(3, dtype=int)[Y])
    assert several.predict(X).shape == (150, 3)
    assert OneVsOneClassifier(recipes.qda()).fit(X, NAMES).score(X, NAMES) > 0.95
    both = MultiOutputClassifier(recipes.qda()).fit(X, np.c_[Y, Y > 0])
    assert_array_equal(both.predict(X)[:, 0], recipes.qda().fit(X, Y).predict(X))


def test_other_wrappers():
    bag = BaggingClassifier(recipes.lda(), 5, random_state=0).fit(X, NAMES)
    assert bag.score(X, NAMES) > 0.95
    few = np.where(np.arange(150) % 5, -1, Y)
    assert SelfTrainingClassifier(recipes.lda()).fit(X, few).score(X, Y) > 0.93
    chosen = SequentialFeatureSelector(recipes.lda(), n_features_to_select=2, cv=FOLDS).fit(X, Y)
    assert "petal width (cm)" in chosen.get_feature_names_out()
    tuned = TunedThresholdClassifierCV(recipes.lda(), scoring="f1", cv=FOLDS).fit(X, Y == 1)
    assert 0 < tuned.best_threshold_ < 1


# ---------------------------------------------------------------------- cross-validation, pictures


def test_cross_validation_and_curves():
    proba = cross_val_predict(recipes.qda(), X, NAMES, cv=FOLDS, method="predict_proba")
    log_proba = cross_val_predict(recipes.qda(), X, NAMES, cv=FOLDS, method="predict_log_proba")
    assert_allclose(np.exp(log_proba), proba, rtol=1e-9)
    for train, test in FOLDS.split(X, NAMES):
        by_hand = recipes.qda().fit(X.iloc[train], NAMES[train]).predict_proba(X.iloc[test])
        assert_array_equal(proba[test], by_hand)
    referring = with_action(np.eye(3), "refer", 0.9)
    decided = cross_val_predict(recipes.qda(gain=referring), X, NAMES, cv=FOLDS)
    assert set(decided) == {*NAMES, "refer"}
    sizes, train, test = learning_curve(
        recipes.qda(0.1),
        X,
        NAMES,
        cv=FOLDS,
        train_sizes=[15, 60, 100],
        shuffle=True,
        random_state=0,
        exploit_incremental_learning=False,
        error_score="raise",
    )
    assert sizes.tolist() == [15, 60, 100]
    assert test[-1].mean() > 0.9
    incremental = learning_curve(
        recipes.qda(0.1),
        X,
        NAMES,
        cv=FOLDS,
        train_sizes=[15, 60, 100],
        shuffle=True,
        random_state=0,
        exploit_incremental_learning=True,
        error_score="raise",
    )
    assert_array_equal(incremental[2], test)
    _, scores = validation_curve(
        BayesClassifier(Gaussian("full")),
        X,
        Y,
        cv=FOLDS,
        param_name="density__shrinkage",
        param_range=[0.0, 0.9],
    )
    assert scores[0].mean() > scores[1].mean()


def test_importance_and_displays():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    frame, y = mixed_rows()
    model = recipes.naive_bayes().fit(frame, y)
    found = permutation_importance(model, frame, y, n_repeats=5, random_state=0)
    importance = dict(zip(frame.columns, found.importances_mean, strict=True))
    assert importance["size"] > 0.1 > 0.02 > importance["useless"]
    drawn = PartialDependenceDisplay.from_estimator(
        model, frame, ["size", "town"], categorical_features=["town"]
    )
    curve = drawn.pd_results[0]["average"][0]
    assert curve[-1] > 0.5 > curve[0]
    expected = [
        model.predict_proba(frame.assign(size=value))[:, 1].mean()
        for value in drawn.pd_results[0]["grid_values"][0]
    ]
    assert_allclose(curve, expected)
    two = recipes.qda(gain=COSTLY).fit(X.iloc[:, 2:], NAMES)
    for method in ("predict", "predict_proba", "auto"):
        shown = DecisionBoundaryDisplay.from_estimator(two, X.iloc[:, 2:], response_method=method)
    points = np.c_[shown.xx0.ravel(), shown.xx1.ravel()]
    grid = pd.DataFrame(points, columns=X.columns[2:])
    assert_allclose(
        np.asarray(shown.response).reshape(len(grid), -1),
        two.predict_proba(grid).reshape(len(grid), -1),
    )
    pyplot.close("all")
    dependence = partial_dependence(two, X.iloc[:, 2:], [0], response_method="predict_proba")
    assert_allclose(dependence["average"].sum(axis=0), 1.0)


# ---------------------------------------------------------------------- weights on their way


def test_weights_and_gains_are_routed():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(X)).astype(float)
    gains = rng.normal(size=(len(X), 3, 3))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = recipes.qda().set_fit_request(sample_weight=True).set_predict_request(gain=True)
        clf.set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
        pipeline.fit(X, Y, sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        by_hand = recipes.qda().fit(scaled, Y, weights)
        assert_array_equal(pipeline.predict_proba(X), by_hand.predict_proba(scaled))
        assert_array_equal(pipeline.predict(X, gain=gains), by_hand.predict(scaled, gain=gains))
        assert pipeline.score(X, Y, sample_weight=weights) == by_hand.score(scaled, Y, weights)
        grid = {"bayesclassifier__density__shrinkage": [0.0, 0.5]}
        search = GridSearchCV(pipeline, grid, cv=FOLDS, error_score="raise")
        search.fit(X, Y, sample_weight=weights)
        scores = []
        for train, test in FOLDS.split(X, Y):
            part = clone(pipeline).fit(X.iloc[train], Y.iloc[train], sample_weight=weights[train])
            scores.append(part.score(X.iloc[test], Y.iloc[test], sample_weight=weights[test]))
        assert_allclose(search.cv_results_["mean_test_score"][0], np.mean(scores))


# ---------------------------------------------------------------------- explainers


def test_shapley_values_are_contributions():
    """Log-odds of naive Bayes add up over the columns, so Shapley's shares are those very terms."""
    shap = pytest.importorskip("shap")
    two = Y < 2
    rows, y = X[two], Y[two]
    clf = BayesClassifier(Histogram(4)).fit(rows, y)

    def log_odds(x):
        log_proba = clf.predict_log_proba(pd.DataFrame(x, columns=X.columns))
        return log_proba[:, 1] - log_proba[:, 0]

    background = rows.iloc[::4].to_numpy()
    explained = shap.Explainer(log_odds, background, algorithm="exact")(rows.iloc[:6].to_numpy())
    evidence = clf.contributions(rows.iloc[:6])
    usual = clf.contributions(rows.iloc[::4]).mean(axis=0)
    expected = (evidence[:, 1] - evidence[:, 0]) - (usual[1] - usual[0])
    assert_allclose(explained.values, expected, atol=1e-6)


@pytest.mark.parametrize("frames", [False, True])
def test_explainers_may_ask_for_posteriors(frames):
    shap = pytest.importorskip("shap")
    rows = X if frames else X.to_numpy()
    clf = recipes.spdbc(8).fit(rows, Y)
    background = rows[::15]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # explainers hand on arrays without names
        explainer = shap.KernelExplainer(clf.predict_proba, background, seed=0)
        found = np.asarray(explainer.shap_values(rows[:3], silent=True))
    assert_allclose(
        explainer.expected_value + found.sum(axis=1), clf.predict_proba(rows[:3]), atol=1e-6
    )


# ---------------------------------------------------------------------- keeping


def fitted(listed: Listed) -> tuple[BayesClassifier, object]:
    rows, labels = listed.claims.get("X"), listed.claims.get("y")
    if rows is None:
        rows, labels = toy_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        return BayesClassifier(listed.density).fit(rows, labels), rows


def models() -> dict[str, tuple[object, object]]:
    """Fitted models of every kind, and rows to ask them about."""
    found: dict[str, tuple[object, object]] = {listed.name: fitted(listed) for listed in DENSITIES}
    rows, y = toy_rows()
    constant = np.c_[rows, np.ones(len(rows))]
    rules = {
        "minimax": BayesClassifier(priors=Minimax(randomised=True)),
        "shifted": BayesClassifier(priors=Shifted(rows)),
        "actions": BayesClassifier(gain=with_action(np.eye(3), "refer", 0.6)),
        "prior of both": BayesClassifier(
            Gaussian(estimate="predictive", prior=NormalInverseWishart())
        ),
        "prior of the mean": BayesClassifier(
            Gaussian("diag", estimate="map", prior=MeanPrior(0.0, 1.0, 1.0))
        ),
        "frozen": BayesClassifier(FromClassifier(FrozenEstimator(recipes.lda().fit(rows, y)))),
    }
    for name, clf in rules.items():
        found[name] = clf.fit(rows, y), rows
    map_beside = BayesClassifier(Gaussian("full", estimate="map")).fit(constant, y)
    found["beside a constant"] = map_beside, constant
    for estimator in (FuzzyCMeans(3), TylerScatter(), StudentScatter(), DensityEstimate()):
        found[type(estimator).__name__] = estimator.fit(rows), rows
    for name, recipe in inspect.getmembers(recipes, inspect.isfunction):
        if recipe.__module__ == recipes.__name__ and name != "text_bayes":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", BayesRuleWarning)
                found[f"recipe {name}"] = recipe().fit(rows, y), rows
    counts = np.abs(rows).round()
    mixed = recipes.naive_bayes(columns={(0, 1): Kernel(), 2: Poisson()})
    found["columns of two kinds"] = mixed.fit(counts, y), counts
    return found


@pytest.fixture(scope="module")
def kept_models() -> dict[str, tuple[object, object]]:
    return models()


def answers(model, rows) -> np.ndarray:
    """What a model says of some rows."""
    for method in ("predict_proba", "transform", "score_samples", "mahalanobis"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(rows))
    raise AssertionError(f"{model} says nothing")


def joblib_copy(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def cloudpickle_copy(model):
    return pickle.loads(pytest.importorskip("cloudpickle").dumps(model))


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "oldest pickle": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "joblib": joblib_copy,
    "cloudpickle": cloudpickle_copy,
}


@pytest.mark.parametrize("way", COPIES)
def test_copies_give_the_same_bits(way, kept_models):
    for name, (model, rows) in kept_models.items():
        copied = COPIES[way](model)
        assert_array_equal(answers(copied, rows), answers(model, rows), err_msg=name)
        assert repr(copied) == repr(model), name


def test_skops_keeps_every_model_given_the_types_to_trust(kept_models):
    skops_io = pytest.importorskip("skops.io")
    trusted = bayesrule.trusted_types()
    assert len(set(trusted)) == len(trusted)
    needed = set()
    for name, (model, rows) in kept_models.items():
        kept = skops_io.dumps(model)
        unknown = set(skops_io.get_untrusted_types(data=kept))
        others = {kind for kind in unknown if kind.startswith("sklearn.")}
        needed |= unknown - others
        loaded = skops_io.loads(kept, trusted=[*trusted, *others])
        assert_array_equal(answers(loaded, rows), answers(model, rows), err_msg=name)
        assert repr(loaded) == repr(model), name
    assert needed - set(trusted) == set()  # it suffices
    assert set(trusted) - needed == set()  # and no less would


def test_a_model_from_skops_can_be_fitted_on_and_ruled_anew():
    skops_io = pytest.importorskip("skops.io")
    clf = BayesClassifier(Gaussian("full")).fit(X, NAMES)
    loaded = skops_io.loads(skops_io.dumps(clf), trusted=bayesrule.trusted_types())
    for model in (clf, loaded):
        model.partial_fit(X[:30], NAMES[:30])
    assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(
        loaded.with_rule(gain=COSTLY).predict(X), clf.with_rule(gain=COSTLY).predict(X)
    )
