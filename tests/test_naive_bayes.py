"""Naive Bayes as it is used: contributions, their picture, and real tables."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    Columns,
    Gaussian,
    datasets,
    evaluate,
    recipes,
)
from bayesrule.displays import ContributionDisplay
from bayesrule.displays.contributions import in_percent, named_probabilities, signed
from bayesrule.rates import Poisson

mpl.use("agg")

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [40, 50, 30])
K = np.repeat([0, 1, 2], [40, 50, 30])
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(K, 1.0),
        "width": RNG.normal(-K, 2.0),
        "visits": RNG.poisson(2.0 + K),
        "member": pd.array(RNG.random(120) < 0.2 + 0.2 * K, dtype="boolean"),
        "town": np.array(["Oslo", "Rome", "Bern"], dtype=object)[(K + RNG.integers(0, 2, 120)) % 3],
    }
)
GAPS = FRAME.mask(RNG.random(FRAME.shape) < 0.15)
FULL = {("size", "width"): Gaussian("full")}

MODELS = {
    "by type": (recipes.naive_bayes(), GAPS),
    "full block": (recipes.naive_bayes(FULL), GAPS),
    "full block, given priors": (recipes.naive_bayes(FULL, priors=[0.2, 0.3, 0.5]), GAPS),
    "categorical": (BayesClassifier(Categorical()), GAPS[["town", "member"]]),
    "bernoulli": (BayesClassifier(Bernoulli()), GAPS[["size", "width"]]),
    "gaussian": (BayesClassifier(Gaussian("diag")), GAPS[["size", "width"]]),
    "predictive": (
        BayesClassifier(Gaussian("diag", estimate="predictive")),
        GAPS[["size", "width"]],
    ),
    "poisson": (BayesClassifier(Poisson()), GAPS[["visits"]].astype(float)),
}


@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_what_the_row_says(name):
    clf, X = MODELS[name]
    clf.fit(X, Y)
    terms = clf.contributions(X)
    assert terms.shape == (len(X), 3, len(clf.contribution_names_))
    posterior = np.log(clf.predict_proba(X))
    prior = np.log(clf.priors_)
    for k in range(3):
        for other in range(3):
            evidence = (terms[:, k] - terms[:, other]).sum(axis=1)
            odds = posterior[:, k] - posterior[:, other] - prior[k] + prior[other]
            np.testing.assert_allclose(evidence, odds, rtol=1e-9, atol=1e-9)
    # Weighted by what is believed before the feature is seen, a likelihood ratio is one.
    np.testing.assert_allclose((np.exp(terms) * clf.priors_[:, None]).sum(axis=1), 1.0)
    if set(clf.contribution_names_) <= set(X.columns):
        gaps = X[clf.contribution_names_].isna().to_numpy()
        np.testing.assert_allclose(terms.swapaxes(1, 2)[gaps], 0.0, atol=1e-12)
        assert gaps.any()


def test_a_block_has_one_term_and_its_own_name():
    clf = recipes.naive_bayes(FULL).fit(FRAME, Y)
    assert clf.contribution_names_ == ["size & width", "visits", "member", "town"]
    pair = BayesClassifier(Gaussian("full")).fit(FRAME[["size", "width"]], Y)
    density = pair.log_density(FRAME[["size", "width"]])
    terms = clf.contributions(FRAME)[:, :, 0]
    np.testing.assert_allclose(terms - terms[:, :1], density - density[:, :1], atol=1e-9)
    notes = FRAME.assign(note=[f"a long note that has the number {i}" for i in range(120)])
    text = recipes.naive_bayes().fit(notes, Y)
    assert text.density_.columns_[-1][:2] == ("note", "texts")
    assert text.contribution_names_[-1] == "note"
    array = BayesClassifier(Categorical()).fit([["u", 1], ["v", 2]], [0, 1])
    assert array.contribution_names_ == ["x0", "x1"]


def test_a_zero_rules_out_and_strangers_say_nothing():
    X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    clf = BayesClassifier(Categorical(alpha=0)).fit(X, ["apple", "apple", "bean", "bean"])
    terms = clf.contributions([["green", "round"], ["blue", "long"]])
    assert not np.isnan(terms).any()
    np.testing.assert_array_equal(terms[0], [[-np.inf, np.log(2)], [np.log(2), -np.inf]])
    np.testing.assert_array_equal(terms[1, :, 0], [0, 0])
    smooth = BayesClassifier(Categorical(1.0)).fit(X[:3], ["apple", "apple", "bean"])
    blue = smooth.contributions([["blue", "long"]])[0, :, 0]
    # alpha / (n + alpha C): rarer in the class that has shown more.
    np.testing.assert_allclose(blue[0] - blue[1], np.log((1 / 4) / (1 / 3)))


@pytest.mark.parametrize("density", [Gaussian("full"), Gaussian("tied")])
def test_densities_that_do_not_factor_say_why(density):
    clf = BayesClassifier(density).fit(FRAME[["size", "width"]], Y)
    assert not hasattr(clf, "contributions")
    with pytest.raises(AttributeError) as caught:
        clf.contributions(FRAME[["size", "width"]])
    assert "does not factor" in str(caught.value.__cause__ or caught.value)


# ---------------------------------------------------------------------- the picture


def drawn(display):
    """(name, start, length) of every bar."""
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    bars = [(bar.get_x(), bar.get_width()) for bar in display.bars_]
    return [(name, *bar) for name, bar in zip(names, bars, strict=True)]


def test_bars_lead_from_the_prior_to_the_posterior():
    clf = recipes.naive_bayes(FULL).fit(FRAME, Y)
    display = ContributionDisplay.from_estimator(clf, GAPS, row=7, label="c", against="a")
    bars = drawn(display)
    assert [name for name, _, _ in bars][0 :: len(bars) - 1] == ["prior", "posterior"]
    assert bars[0][1:] == pytest.approx((0, np.log(30 / 40)))
    for (_, start, length), (_, after, _) in pairwise(bars[:-1]):
        assert after == pytest.approx(start + length)
    odds = np.diff(np.log(clf.predict_proba(GAPS[7:8]))[0, [0, 2]])[0]
    assert bars[-1][1:] == pytest.approx((0, odds))
    assert bars[-2][1] + bars[-2][2] == pytest.approx(odds)
    terms = clf.contributions(GAPS[7:8])[0]
    np.testing.assert_allclose(display.weights, terms[2] - terms[0])
    weights = np.abs([length for _, _, length in bars[1:-1]])
    assert (np.diff(weights) <= 1e-12).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_labels_tell_the_values(frame):
    X = FRAME[["size", "visits", "town"]].copy()
    X.loc[0, ["size", "town"]] = [-1.25, "$x_1$"]
    X.loc[1, "town"] = None
    clf = recipes.naive_bayes({("size", "visits"): Gaussian()}).fit(frame(X), Y)
    visits = X["visits"].iloc[0]
    first = ContributionDisplay.from_estimator(clf, frame(X), row=0)
    assert sorted(first.features) == [f"size & visits = −1.25, {visits}", "town = $x_1$"]
    assert [tick.get_text() for tick in first.ax_.get_yticklabels()].count(r"town = \$x_1\$") == 1
    first.figure_.canvas.draw()
    last = ContributionDisplay.from_estimator(clf, frame(X), row=-119)
    assert "town missing" in last.features
    assert last.weights[last.features.index("town missing")] == pytest.approx(0, abs=1e-12)


def test_features_of_little_weight_share_a_bar():
    clf = recipes.naive_bayes().fit(FRAME, Y)
    display = ContributionDisplay.from_estimator(clf, FRAME, top=2)
    names = [name for name, _, _ in drawn(display)]
    assert names[3:] == ["3 other features", "posterior"]
    rest = np.sort(np.abs(display.weights))[:3]
    assert abs(drawn(display)[3][2]) <= rest.sum() + 1e-12
    # A bar for one other feature would take the room of the feature itself.
    assert len(drawn(display.plot(top=4))) == 7
    with pytest.raises(ValueError, match="top=0"):
        display.plot(top=0)


@pytest.mark.filterwarnings("ignore::bayesrule.notices.NoSupportWarning")
def test_what_is_ruled_out_comes_last_and_reaches_the_edge():
    X = [["red", "round"], ["red", "long"], ["green", "long"], ["green", "long"]]
    clf = BayesClassifier(Categorical(alpha=0)).fit(X, ["apple", "apple", "bean", "bean"])
    display = ContributionDisplay.from_estimator(clf, [["red", "long"]])
    assert [name for name, _, _ in drawn(display)] == [
        "prior",
        "x1 = long",
        "x0 = red",
        "posterior",
    ]
    assert display.log_posterior_odds == np.inf
    assert drawn(display)[2][1] + drawn(display)[2][2] == pytest.approx(display.ax_.get_xlim()[1])
    both = ContributionDisplay.from_estimator(clf, [["green", "round"]])
    assert sorted(both.weights) == [-np.inf, np.inf]
    assert both.log_posterior_odds == 0  # no class is left, so the priors stand
    both.figure_.canvas.draw()


def test_words_of_a_text_are_its_features():
    texts = ["win cash now!", "free cash prize!", "see you at lunch", "are you home now?"]
    clf = recipes.text_bayes(ngram_range=(1, 1)).fit(texts, ["spam", "spam", "ham", "ham"])
    display = ContributionDisplay.from_estimator(clf, ["cash for lunch"])
    assert sorted(display.features) == ["“cash”", "“lunch”"]
    assert "1 other features" not in [name for name, _, _ in drawn(display)]


def test_a_word_is_no_column_though_it_has_its_name():
    texts = pd.DataFrame({"text": ["text me", "see you", "a text", "you there"]})
    clf = recipes.text_bayes(ngram_range=(1, 1)).fit(texts, ["a", "b", "a", "b"])
    display = ContributionDisplay.from_estimator(clf, texts, row=2)
    assert sorted(display.features) == ["“a”", "“text”"]
    both = recipes.naive_bayes().fit(texts.assign(size=[1.5, 2.0, 1.0, 3.0]), ["a", "b", "a", "b"])
    shown = ContributionDisplay.from_estimator(both, texts.assign(size=1.25), row=2)
    assert sorted(shown.features) == ["size = 1.25", "text = a text"]


def test_names_with_an_ampersand_are_columns():
    X = FRAME.rename(columns={"size": "R & D", "width": "R", "visits": "D"})
    blocks = {("R & D", "R"): Gaussian("full"), ("member", "town"): Columns()}
    clf = recipes.naive_bayes(blocks).fit(X, Y)
    assert clf.contribution_names_ == ["R & D & R", "member", "town", "D"]
    display = ContributionDisplay.from_estimator(clf, X)
    first = [f"{X[name].iloc[0]:.5g}".replace("-", "−") for name in ("R & D", "R")]
    assert f"R & D & R = {', '.join(first)}" in display.features
    assert f"town = {X['town'].iloc[0]}" in display.features


def test_colours_and_sides_belong_to_the_classes():
    clf = recipes.naive_bayes().fit(FRAME, Y)
    one = ContributionDisplay.from_estimator(clf, FRAME, label="a", against="b")
    other = ContributionDisplay.from_estimator(clf, FRAME, label="b", against="a")
    assert one.colours == other.colours[::-1]
    np.testing.assert_allclose(one.weights, -other.weights)
    default = ContributionDisplay.from_estimator(clf, FRAME)
    ranked = clf.classes_[np.argsort(-clf.predict_proba(FRAME[:1])[0])]
    assert [default.label, default.against] == ranked[:2].tolist()
    given = ContributionDisplay.from_estimator(clf, FRAME, against=ranked[0])
    assert given.label == ranked[1]


def test_pipelines_and_searches_are_looked_into():
    X = FRAME[["size", "width"]].to_numpy()
    pipe = make_pipeline(StandardScaler(), recipes.gaussian_nb())
    search = GridSearchCV(pipe, {"bayesclassifier__priors": ["uniform"]}, cv=2).fit(X, Y)
    display = ContributionDisplay.from_estimator(search, X, row=3)
    assert len(display.features) == 2
    assert display.probability == pytest.approx(search.predict_proba(X[3:4]).max())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"row": 120}, "row=120 .* 120 rows"),
        ({"label": "z"}, "'z' is no class"),
        ({"label": "a", "against": "a"}, "both 'a'"),
    ],
)
def test_what_cannot_be_drawn_is_said(settings, message):
    clf = recipes.naive_bayes().fit(FRAME, Y)
    with pytest.raises(ValueError, match=message):
        ContributionDisplay.from_estimator(clf, FRAME, **settings)


def test_numbers_are_written_as_briefly_as_they_can_be():
    assert [signed(w) for w in (1.234, -0.5, 0.001, 1234.5, -np.inf, 2e10)] == [
        "+1.23", "−0.50", "0", "+1,234", "−∞", "+2.0e+10",
    ]  # fmt: skip
    probabilities = (0.5, 0.9, 0.999, 0.01, 1e-4, 1 - 1e-9, 1e-9, 1.0, 0.0)
    assert [in_percent(p) for p in probabilities] == [
        "50%", "90%", "99.9%", "1%", "0.01%", "1 − 10⁻⁹", "10⁻⁹", "100%", "0%",
    ]  # fmt: skip
    marks = named_probabilities(-5.0, 3.0)
    assert {0.5, 0.9} <= set(marks)
    assert (np.diff(marks) > 0).all()
    assert len(named_probabilities(40.0, 41.0)) == 1


# ---------------------------------------------------------------------- real tables


def calibration_error(clf, X, y):
    """Mean distance between what is predicted for the last class and how often it comes true."""
    table = evaluate(clf, X, y).calibration[clf.classes_[-1]]
    return np.average(np.abs(table.predicted - table.observed), weights=table.weight)


def accuracy(clf, data):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(clf, data.X, data.y, cv=folds).mean()


@pytest.fixture
def mushroom(data_dir):
    return datasets.load("mushroom", frame="pandas")


@pytest.fixture
def adult(data_dir):
    return datasets.load("adult")


def test_mushrooms_that_smell_are_poisonous_without_exception(mushroom):
    # Of some odours every mushroom is poisonous. A count added to each category allows edible
    # ones of them, and enough of the other 21 columns, which depend on each other and are yet
    # counted as independent, then outvote the odour. Hardly smoothed, it rules edible out.
    laplace = accuracy(BayesClassifier(Categorical(alpha=1.0)), mushroom)
    exact = accuracy(BayesClassifier(Categorical(alpha=1e-6)), mushroom)
    assert laplace == pytest.approx(0.957, abs=0.001)
    assert exact >= 0.995
    # With a gap as a category of its own it is the plain naive Bayes of the books.
    told = mushroom.X.astype(object).fillna("?")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    plain = cross_val_score(recipes.naive_bayes(), told, mushroom.y, cv=folds).mean()
    assert plain == pytest.approx(0.953, abs=0.001)


def test_incomes_with_gaps_and_a_density_of_choice(adult):
    # Gains are zero for most, and few sums are common among the others; incomes rise with age and
    # then fall. Shares of single values follow both, a Gaussian follows neither.
    # What repeats another column (years of school; being a husband) would count twice.
    by_value = dict.fromkeys(("capital_gain", "capital_loss", "age", "hours_per_week"))
    chosen = {name: Categorical() for name in by_value}
    chosen |= dict.fromkeys(("education_num", "fnlwgt", "relationship"), "drop")
    plain, better = recipes.naive_bayes(), recipes.naive_bayes(chosen)
    assert accuracy(plain, adult) >= 0.827
    assert accuracy(better, adult) >= 0.848
    half = np.arange(len(adult.y)) % 2 == 0
    X = adult.X if hasattr(adult.X, "iloc") else pd.DataFrame(adult.X)
    assert X.isna().any().any()
    errors = []
    for clf in (plain, better):
        clf.fit(X[half], adult.y[half])
        errors.append(calibration_error(clf, X[~half], adult.y[~half]))
    assert errors[1] < errors[0]
    assert errors[1] < 0.06
