"""Words in texts against scikit-learn's vectorisers, laws of counting them, and their pictures."""

from __future__ import annotations

import pickle
import warnings
from contextlib import contextmanager
from copy import deepcopy
from itertools import pairwise
from typing import Any

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from bayesrule import BayesClassifier, datasets, recipes
from bayesrule import texts as counting
from bayesrule.columns import Columns
from bayesrule.displays import WordCloudDisplay
from bayesrule.gaussian import Gaussian
from bayesrule.multinomial import Multinomial
from bayesrule.notices import PreparedOnChunkWarning
from bayesrule.progress import progress
from bayesrule.word_evidence import top_words, word_evidence
from bayesrule.words import TOKEN, Words

TEXTS = [
    "Win cash now! Cash prizes, cash!",
    "FREE prize: call £100 now",
    "are you home? don't call now",
    "I'm at home now, see you",
    "see you at lunch, naïve café",
    "win lunch",
]
LABELS = np.array(["spam", "spam", "ham", "ham", "ham", "spam"])
NEW = ["cash for lunch", "don't see the prize!", "zzz unheard-of", ""]


def single(binary: bool = False, **settings: Any) -> Words:
    """Words one by one, each as often as it comes."""
    return Words(ngram_range=(1, 1), binary=binary, **settings)


def random_texts(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Texts of words that some classes use more than others; some are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    lexicon = np.array([f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u")])
    shares = rng.dirichlet(np.full(len(lexicon), 0.3), 3)
    texts = np.array(
        [" ".join(rng.choice(lexicon, rng.poisson(6), p=shares[k])) for k in y], object
    )
    texts[rng.random(n) < 0.1] = None
    return texts, y


# ---------------------------------------------------------------------- outside references


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("binary", [True, False])
def test_is_a_vectoriser_and_scikit_learns_multinomial(binary, ngram_range):
    clf = BayesClassifier(Words(0.5, ngram_range, binary)).fit(TEXTS, LABELS)
    vectorizer = CountVectorizer(token_pattern=TOKEN, ngram_range=ngram_range, binary=binary)
    pipe = make_pipeline(vectorizer, MultinomialNB(alpha=0.5)).fit(TEXTS, LABELS)
    assert clf.log_density_.words.tolist() == vectorizer.get_feature_names_out().tolist()
    for texts in (TEXTS, NEW):
        np.testing.assert_allclose(
            clf.predict_log_proba(texts), pipe.predict_log_proba(texts), rtol=1e-9, atol=1e-12
        )


@settings(max_examples=50)
@given(
    st.lists(st.text(max_size=30), min_size=2, max_size=12).filter(
        lambda texts: any(any(sign.isalnum() for sign in text) for text in texts)
    )
)
def test_any_text_is_counted_as_scikit_learn_counts_it(texts):
    y = np.arange(len(texts)) % 2
    vectorizer = CountVectorizer(token_pattern=TOKEN)
    pipe = make_pipeline(vectorizer, MultinomialNB()).fit(texts, y)
    clf = BayesClassifier(single()).fit(texts, y)
    np.testing.assert_allclose(clf.predict_proba(texts), pipe.predict_proba(texts), atol=1e-9)


def test_default_words_by_hand():
    clf = BayesClassifier(Words()).fit(["Don't pay £5!!"], [0])
    assert clf.log_density_.words.tolist() == sorted(
        ["don't", "pay", "£", "5", "!", "don't pay", "pay £", "£ 5", "5 !", "! !"]
    )
    # Each once, though "!" comes twice.
    np.testing.assert_array_equal(clf.stats_.counts, np.ones((1, 10)))


def test_posterior_by_hand():
    # Words a, b, c: class 0 has (2, 1, 0), class 1 has (0, 1, 1); alpha = 1.
    clf = BayesClassifier(single(), priors="uniform").fit(["a a b", "b c"], [0, 1])
    p = (3 / 6) * (2 / 6), (1 / 5) * (2 / 5)
    np.testing.assert_allclose(clf.predict_proba(["a b"]), [np.array(p) / sum(p)], rtol=1e-12)
    # d was never seen: it says nothing.
    np.testing.assert_array_equal(clf.predict_proba(["a d b d"]), clf.predict_proba(["a b"]))


def test_predictive_over_words_is_that_over_their_counts():
    counts = CountVectorizer(token_pattern=TOKEN).fit(TEXTS)
    X = counts.transform(TEXTS)
    ours = BayesClassifier(single(estimate="predictive")).fit(TEXTS, LABELS)
    theirs = BayesClassifier(Multinomial(estimate="predictive")).fit(X, LABELS)
    np.testing.assert_array_equal(ours.log_density(TEXTS), theirs.log_density(X))
    assert not ours.log_density_.factors


# ---------------------------------------------------------------------- what X may be

FORMS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda texts: np.array(texts, object),
    "column of objects": lambda texts: np.array(texts, object)[:, None],
    "lists of one": lambda texts: [[text] for text in texts],
    "pandas series": pd.Series,
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas frame": lambda texts: pd.DataFrame({"text": texts}),
    "pandas text": lambda texts: pd.DataFrame({"text": pd.array(texts, dtype="string")}),
    "pandas objects": lambda texts: pd.DataFrame({"text": np.array(texts, object)}),
    "polars series": pl.Series,
    "polars frame": lambda texts: pl.DataFrame({"text": texts}),
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda texts: pa.chunked_array([texts[:2], texts[2:]]),
    "pyarrow table": lambda texts: pa.table({"text": texts}),
}


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_the_same_texts(form, gap):
    texts = [None if gap and i == 4 else text for i, text in enumerate(TEXTS)]
    X = FORMS[form](texts)
    clf = BayesClassifier(Words()).fit(X, LABELS)
    expected = BayesClassifier(Words()).fit(texts, LABELS).predict_proba(texts)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    for other in ("list", "pandas series", "pandas frame", "pyarrow table"):
        np.testing.assert_array_equal(clf.predict_proba(FORMS[other](texts)), expected)
    twice = clf.partial_fit(X, LABELS)
    np.testing.assert_array_equal(twice.class_count_, [6, 6])


def test_numpy_text_and_bytes():
    expected = BayesClassifier(Words()).fit(TEXTS, LABELS).predict_proba(TEXTS)
    for X in (np.array(TEXTS), [text.encode() for text in TEXTS], [np.str_(t) for t in TEXTS]):
        np.testing.assert_array_equal(
            BayesClassifier(Words()).fit(X, LABELS).predict_proba(X), expected
        )


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("one text", TypeError, r"single text; give a list.*\[text\]"),
        ([], ValueError, "0 sample"),
        (pd.DataFrame({"text": []}), ValueError, "column 'text'"),
        ([1.5, 2.5], TypeError, r"2 values that are none, first 1.5 \(float\) in row 0"),
        (pd.DataFrame({"t": ["a", 3]}), TypeError, r"column 't' of X .* first 3 \(int\) in row 1"),
        (["a", ["b", "c"]], TypeError, r"\['b', 'c'\] \(list\) in row 1"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), ValueError, r"X has 2: 'a', 'b'.*Columns"),
        (np.array([["a", "b"]], object), ValueError, r"shape \(1, 2\)"),
        (sp.eye_array(2), TypeError, "Multinomial"),
        (np.array("a"), ValueError, r"shape \(\)"),
    ],
)
def test_what_is_no_column_of_texts(X, error, message):
    with pytest.raises(error, match=message):
        BayesClassifier(Words()).fit(X, [0, 1])
    clf = BayesClassifier(Words()).fit(["a", "b"], [0, 1])
    with pytest.raises(error, match=message):
        clf.predict(X)


def test_number_of_texts_must_be_that_of_labels():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BayesClassifier(Words()).fit(TEXTS, LABELS[:-1])


# ---------------------------------------------------------------------- missing texts


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT, np.float32("nan")])
def test_missing_text_counts_for_its_class_alone(nothing):
    some = BayesClassifier(Words()).fit(TEXTS, LABELS)
    more = BayesClassifier(Words()).fit([*TEXTS, nothing, nothing], [*LABELS, "ham", "spam"])
    np.testing.assert_array_equal(more.class_count_, some.class_count_ + 1)
    np.testing.assert_array_equal(more.stats_.counts, some.stats_.counts)
    assert more.stats_.texts == some.stats_.texts == len(TEXTS)
    np.testing.assert_array_equal(more.log_density(NEW), some.log_density(NEW))
    # Marginalised: the density of a row that tells nothing is one.
    np.testing.assert_array_equal(more.log_density([nothing, "cash"])[0], [0.0, 0.0])
    np.testing.assert_allclose(more.predict_proba([nothing]), [more.priors_])


def test_all_texts_missing_or_empty():
    for texts in ([None, None], ["", " "], [None, ""]):
        clf = BayesClassifier(Words()).fit(texts, [0, 1])
        np.testing.assert_array_equal(clf.predict_proba(["any", None]), [[0.5, 0.5]] * 2)
        # Words that come later count.
        clf.partial_fit(["x", "y"], [0, 1])
        assert clf.predict(["x", "y"]).tolist() == [0, 1]


# ---------------------------------------------------------------------- counts add up


def _same(one: BayesClassifier, other: BayesClassifier, texts: Any) -> None:
    """Equal statistics and answers, to the last bit."""
    assert one.stats_.words.tolist() == other.stats_.words.tolist()
    for name in ("weight", "counts", "documents", "texts"):
        np.testing.assert_array_equal(getattr(one.stats_, name), getattr(other.stats_, name))
    np.testing.assert_array_equal(one.predict_proba(texts), other.predict_proba(texts))


@pytest.mark.parametrize("density", [Words(), Words(min_df=3), Words(max_features=40), single()])
def test_chunks_and_merges_are_equal_bits(density):
    texts, y = random_texts(200)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    whole = BayesClassifier(density).fit(texts, y, weights)
    order = np.argsort(y, kind="stable")  # the last class, and its words, come in the last chunk
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chunked = BayesClassifier(density)
        parts = []
        for chunk in np.split(order, [1, 2, 40, 130]):
            chunked.partial_fit(texts[chunk], y[chunk], sample_weight=weights[chunk])
            parts.append(BayesClassifier(density).fit(texts[chunk], y[chunk], weights[chunk]))
    a, b, c, d, e = parts
    before = pickle.dumps(a)
    for other in (
        chunked,
        a.merge(b).merge(c).merge(d).merge(e),
        e.merge(d.merge(c)).merge(b.merge(a)),
    ):
        _same(other, whole, texts)
    assert pickle.dumps(a) == before


def test_long_counting_says_how_far_it_is(monkeypatch):
    meters = []

    @contextmanager
    def watched(what, total):
        with progress(what, total) as meter:
            meters.append(meter)
            yield meter

    monkeypatch.setattr(counting, "progress", watched)
    monkeypatch.setattr(counting, "AT_ONCE", 4)
    clf = BayesClassifier(Words()).fit(TEXTS, LABELS)
    assert [(meter.total, meter.done) for meter in meters] == [(len(TEXTS), len(TEXTS))]
    monkeypatch.undo()
    _same(clf, BayesClassifier(Words()).fit(TEXTS, LABELS), TEXTS)


def test_weights_are_repeats_and_zeros_are_absence():
    texts, y = random_texts(120)
    weights = np.tile([1, 3, 0, 2], 30)
    repeated = np.repeat(np.arange(120), weights)
    for density in (Words(), Words(min_df=4), Words(min_df=0.05), Words(max_features=25)):
        _same(
            BayesClassifier(density).fit(texts, y, weights),
            BayesClassifier(density).fit(texts[repeated], y[repeated]),
            texts,
        )


def test_order_of_rows_and_names_of_classes_change_nothing():
    texts, y = random_texts(120)
    plain = BayesClassifier(Words()).fit(texts, y)
    order = np.random.default_rng(0).permutation(120)
    _same(BayesClassifier(Words()).fit(texts[order], y[order]), plain, texts)
    renamed = BayesClassifier(Words()).fit(texts, np.array([2, 0, 1])[y])
    np.testing.assert_allclose(
        renamed.predict_proba(texts)[:, [2, 0, 1]], plain.predict_proba(texts), rtol=1e-12
    )


def test_soft_labels_share_a_text():
    soft = BayesClassifier(single()).fit(["a b", "b c"], [[0.25, 0.75], [1.0, 0.0]])
    np.testing.assert_allclose(soft.stats_.counts, [[0.25, 1.25, 1.0], [0.75, 0.75, 0.0]])
    np.testing.assert_allclose(soft.stats_.documents, [1.0, 2.0, 1.0])


def test_copies_go_their_own_way():
    clf = BayesClassifier(Words()).fit(TEXTS, LABELS)
    before = clf.predict_proba(NEW)
    for copy in (pickle.loads(pickle.dumps(clf)), deepcopy(clf)):
        np.testing.assert_array_equal(copy.predict_proba(NEW), before)
        copy.partial_fit(["cash at home"], ["ham"])
        assert (copy.predict_proba(NEW[:1]) != before[:1]).any()
    np.testing.assert_array_equal(clf.predict_proba(NEW), before)


# ---------------------------------------------------------------------- which words are kept


@pytest.mark.parametrize(
    "limits",
    [
        {"min_df": 2},
        {"min_df": 0.3},
        {"max_df": 2},
        {"max_df": 0.4},
        {"min_df": 2, "max_df": 0.6},
        {"stop_words": "english"},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"lowercase": False, "strip_accents": "unicode", "binary": True},
        {"tokenizer": str.split, "token_pattern": None},
    ],
    ids=str,
)
def test_limits_are_those_of_a_count_vectorizer_also_in_chunks(limits):
    vectorizer = CountVectorizer(**limits)
    pipe = make_pipeline(vectorizer, MultinomialNB()).fit(TEXTS, LABELS)
    clf = BayesClassifier(Words(vectorizer=CountVectorizer(**limits)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.partial_fit(TEXTS[:1], LABELS[:1])
        clf.partial_fit(TEXTS[1:], LABELS[1:])
    assert clf.log_density_.words.tolist() == vectorizer.get_feature_names_out().tolist()
    np.testing.assert_allclose(clf.predict_proba(NEW), pipe.predict_proba(NEW), rtol=1e-9)


def test_most_frequent_words_are_kept():
    clf = BayesClassifier(single(max_features=2)).fit(["a a a b b c c", "d"], [0, 1])
    assert clf.log_density_.words.tolist() == ["a", "b"]  # of b and c, the first
    clf.partial_fit(["c d d d d"], [1])
    assert clf.log_density_.words.tolist() == ["a", "d"]  # of a and c, the first
    assert clf.stats_.words.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "bad",
    [{"min_df": -1}, {"min_df": 1.5}, {"ngram_range": (2, 1)}, {"max_features": 0}, {"alpha": -1}],
    ids=str,
)
def test_bad_settings(bad):
    with pytest.raises(ValueError, match=next(iter(bad)).split("_")[0]):
        BayesClassifier(Words(**bad)).fit(TEXTS, LABELS)


# ---------------------------------------------------------------------- other vectorisers


@pytest.mark.parametrize("vectorizer", [3, "tfidf", CountVectorizer, len])
def test_what_is_no_vectorizer_is_refused(vectorizer):
    with pytest.raises(TypeError, match=r"no vectoriser.*such as CountVectorizer\(\)"):
        BayesClassifier(Words(vectorizer=vectorizer)).fit(TEXTS, LABELS)


def test_hashing_vectorizer_learns_nothing_before_counting():
    hashing = HashingVectorizer(n_features=64, alternate_sign=False)
    clf = BayesClassifier(Words(0.1, vectorizer=hashing))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.partial_fit(TEXTS[:2], LABELS[:2]).partial_fit(TEXTS[2:], LABELS[2:])
    pipe = make_pipeline(hashing, MultinomialNB(alpha=0.1)).fit(TEXTS, LABELS)
    np.testing.assert_allclose(clf.predict_proba(NEW), pipe.predict_proba(NEW), rtol=1e-9)
    np.testing.assert_array_equal(clf.log_density([None]), [[0.0, 0.0]])
    with pytest.raises(ValueError, match="alternate_sign=False"):
        BayesClassifier(Words(vectorizer=HashingVectorizer())).fit(TEXTS, LABELS)


def test_weighting_vectorizer_is_learned_on_the_rows_of_fit():
    pipe = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(TEXTS, LABELS)
    words = Words(vectorizer=TfidfVectorizer())
    clf = BayesClassifier(words).fit(TEXTS, LABELS)
    np.testing.assert_allclose(clf.predict_proba(NEW), pipe.predict_proba(NEW), rtol=1e-9)
    assert set(top_words(clf)) == {"ham", "spam"}
    with pytest.warns(PreparedOnChunkWarning, match="Words learned from the first chunk"):
        BayesClassifier(words).partial_fit(TEXTS, LABELS)
    # Missing texts are left out, also where the vectoriser would make something of "".
    counted = make_pipeline(CountVectorizer(analyzer=lambda text: ["always", *text.split()]))
    clf = BayesClassifier(Words(vectorizer=counted)).fit([*TEXTS, None], [*LABELS, "ham"])
    np.testing.assert_array_equal(clf.log_density([None]), [[0.0, 0.0]])
    assert (clf.log_density([""]) < 0).all()
    with pytest.raises(ValueError, match="All texts are missing"):
        BayesClassifier(words).fit([None, None], [0, 1])


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(vocabulary=["cash", "home", "lunch"]),
        FrozenEstimator(CountVectorizer().fit(TEXTS[:2])),
        FrozenEstimator(make_pipeline(TfidfVectorizer()).fit(TEXTS[2:])),
    ],
    ids=["vocabulary", "fitted", "fitted pipeline"],
)
def test_columns_that_are_known_from_the_start(vectorizer):
    X = vectorizer.transform(TEXTS)
    expected = MultinomialNB().fit(X, LABELS).predict_proba(vectorizer.transform(NEW))
    clf = BayesClassifier(Words(vectorizer=vectorizer))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.partial_fit(TEXTS[:3], LABELS[:3]).partial_fit(TEXTS[3:], LABELS[3:])
    np.testing.assert_allclose(clf.predict_proba(NEW), expected, rtol=1e-9)


def test_settings_beside_a_vectorizer_are_refused():
    with pytest.raises(ValueError, match=r"min_df=2.*CountVectorizer\(min_df=\.\.\.\)"):
        BayesClassifier(Words(min_df=2, vectorizer=CountVectorizer())).fit(TEXTS, LABELS)


def test_search_over_settings():
    texts, y = random_texts(150)
    grid = {"density__alpha": [0.1, 100.0], "density__ngram_range": [(1, 1), (1, 2)]}
    search = GridSearchCV(recipes.text_bayes(), grid, cv=3).fit(texts, y)
    assert search.best_params_["density__alpha"] == 0.1
    assert search.best_score_ > 0.6


# ---------------------------------------------------------------------- among other columns


def test_a_text_column_beside_numbers():
    frame = pd.DataFrame({"size": [1.0, 2.0, 5.0, 6.0, 7.0, 1.5], "text": TEXTS})
    columns = Columns({"text": Words()})
    clf = BayesClassifier(columns).fit(frame, LABELS)
    text = BayesClassifier(Words()).fit(TEXTS, LABELS)
    size = BayesClassifier(Gaussian("diag")).fit(frame[["size"]], LABELS)
    np.testing.assert_allclose(
        clf.log_density(frame), text.log_density(TEXTS) + size.log_density(frame[["size"]])
    )
    assert top_words(clf) == top_words(text)
    assert top_words(clf, column="text") == top_words(text)
    with pytest.raises(ValueError, match=r"'size'.*\['text'\]"):
        top_words(clf, column="size")


# ---------------------------------------------------------------------- contributions


def test_terms_are_those_of_the_words():
    clf = BayesClassifier(Words()).fit(TEXTS, LABELS)
    law, table = clf.log_density_, clf.density_.read([*NEW, None], clf)
    terms = law.terms(table)
    assert terms.shape == (5, 2, len(law.words)) == (5, 2, len(law.features))
    np.testing.assert_allclose(terms.sum(axis=2), clf.log_density([*NEW, None]), rtol=1e-12)
    assert set(law.words[terms[0].any(axis=0)]) == {"cash", "lunch"}


def test_contributions_of_words_sum_to_the_log_odds():
    clf = BayesClassifier(Words()).fit(TEXTS, LABELS)
    contributions = clf.contributions(NEW)
    log_odds = np.diff(clf.predict_log_proba(NEW) - np.log(clf.priors_))[:, 0]
    np.testing.assert_allclose(np.diff(contributions.sum(axis=2))[:, 0], log_odds, atol=1e-12)
    named = dict(zip(clf.contribution_names_, contributions[0, 1], strict=True))
    assert named["cash"] > 0  # for spam, which comes after ham
    assert named["home"] == 0


# ---------------------------------------------------------------------- what tells classes apart


def test_evidence_by_hand():
    # Shares with alpha = 1: a has (2, 1) of 3 words, b has (1, 2), c has (1, 1) of 2.
    clf = BayesClassifier(single(), priors=[0.5, 0.3, 0.2]).fit(["x", "y", ""], list("abc"))
    evidence = word_evidence(clf)
    assert evidence.words.tolist() == ["x", "y"]
    others = (0.3 * np.array([1 / 3, 2 / 3]) + 0.2 * np.array([1 / 2, 1 / 2])) / 0.5
    np.testing.assert_allclose(evidence.ratio[0], np.log(np.array([2 / 3, 1 / 3]) / others))
    np.testing.assert_allclose(evidence.often, [[2 / 3, 1 / 3], [1 / 3, 2 / 3], [0, 0]])
    np.testing.assert_allclose(evidence.weight, evidence.often * evidence.ratio)
    (word, weight), *rest = top_words(clf)["a"]
    assert (word, rest) == ("x", [])
    assert weight == pytest.approx(2 / 3 * np.log((2 / 3) / others[0]))


def test_ratio_is_what_one_word_adds_to_the_log_odds():
    texts, y = random_texts(200)
    clf = BayesClassifier(Words(), priors=[0.2, 0.5, 0.3]).fit(texts, y)
    evidence = word_evidence(clf)
    # A run of two words brings its parts along.
    alone = [j for j, word in enumerate(evidence.words) if " " not in word][:20]
    posterior = clf.predict_proba([None, *evidence.words[alone]])
    log_odds = np.log(posterior / (1 - posterior))
    np.testing.assert_allclose(log_odds[1:] - log_odds[0], evidence.ratio.T[alone], atol=1e-9)


def test_rare_words_do_not_win():
    # "once" is spam's alone, but came once; "cash" is nine times as common in spam.
    texts = ["cash"] * 90 + ["once"] + ["home"] * 90 + ["cash"] * 10
    clf = BayesClassifier(single()).fit(texts, [1] * 91 + [0] * 100)
    top = dict(top_words(clf)[1])
    assert list(top) == ["cash", "once"]
    assert top["cash"] > 50 * top["once"]


def test_evidence_without_smoothing_is_finite():
    clf = BayesClassifier(single(alpha=0.0)).fit(["a b", "b c"], [0, 1])
    top = top_words(clf)
    assert top[0][0][0] == "a"
    assert np.isfinite([weight for words in top.values() for _, weight in words]).all()


def test_evidence_of_counts_and_pipelines():
    vectorizer = CountVectorizer(token_pattern=TOKEN, ngram_range=(1, 2), binary=True)
    pipe = make_pipeline(vectorizer, BayesClassifier(Multinomial())).fit(TEXTS, LABELS)
    expected = top_words(BayesClassifier(Words()).fit(TEXTS, LABELS))
    assert top_words(pipe) == expected
    frame = pd.DataFrame({"cats": [3, 0], "dogs": [0, 2]})
    assert top_words(BayesClassifier(Multinomial()).fit(frame, list("cd")))["d"][0][0] == "dogs"
    bare = BayesClassifier(Multinomial()).fit(frame.to_numpy(), list("cd"))
    assert top_words(bare)["d"][0][0] == "x1"


def test_evidence_needs_words_and_two_classes():
    with pytest.raises(TypeError, match="counts no words"):
        top_words(recipes.gaussian_nb().fit([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]))
    with pytest.raises(ValueError, match="at least two classes"):
        top_words(BayesClassifier(Words()).fit(["a"], [0]))


# ---------------------------------------------------------------------- the cloud


def _letters(display: WordCloudDisplay) -> list[np.ndarray]:
    """Boxes of the letters of each word drawn: (left, bottom, right, top)."""
    return [
        np.array([[*p.min(axis=0), *p.max(axis=0)] for p in patch.get_path().to_polygons()])
        for patch in display.ax_.patches
    ]


def _overlap(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether any box of one word meets any box of another."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    return bool((low < high).all(axis=2).any())


@pytest.fixture
def cloud() -> Any:
    rng = np.random.default_rng(0)
    made = [
        "$100",
        "I$love$you",
        "$x_1^2$",
        "\\alpha",
        "naïve",
        "größe",
        "λόγος",
        "привет",
        "100 %",
    ]
    words = np.array(made + [f"word{i}" * (1 + i % 3) for i in range(20)], object)
    weights = np.sort(rng.pareto(1.5, len(words)) + 0.2)[::-1]
    yield WordCloudDisplay(words, weights, rng.integers(0, 3, len(words)), np.array(list("abc")))
    plt.close("all")


def test_no_word_covers_another(cloud):
    letters = _letters(cloud.plot())
    assert len(letters) == len(cloud.words)
    pairs = [(i, j) for i in range(len(letters)) for j in range(i)]
    assert not any(_overlap(letters[i], letters[j]) for i, j in pairs)
    # The check can fail: the same words on one spot do overlap.
    assert _overlap(letters[0], letters[0])


def test_every_word_is_in_view_and_as_large_as_its_evidence(cloud):
    cloud.plot()
    (left, right), (low, high) = cloud.ax_.get_xlim(), cloud.ax_.get_ylim()
    boxes = cloud.boxes_
    assert (boxes[:, :2] >= (left, low)).all()
    assert (boxes[:, 2:] <= (right, high)).all()
    same = WordCloudDisplay(
        np.array(["word", "word", "word"], object), [9.0, 4.0, 1.0], [0, 0, 0], cloud.classes
    ).plot()
    size = np.diff(same.boxes_.reshape(3, 2, 2), axis=1)[:, 0]
    np.testing.assert_allclose(size / size[2], np.sqrt([[9, 9], [4, 4], [1, 1]]), rtol=1e-6)


def test_the_picture_is_always_the_same(cloud):
    first = cloud.plot().boxes_
    np.testing.assert_array_equal(cloud.plot().boxes_, first)


def test_signs_are_drawn_as_they_are(cloud):
    # A formula would draw neither its dollars nor its caret, and could fail to parse.
    figure = cloud.plot().figure_
    figure.canvas.draw()
    one = WordCloudDisplay(np.array(["$x_1^2$"], object), [1.0], [0], cloud.classes).plot()
    assert len(_letters(one)[0]) >= len("$x_1^2$")


def test_classes_have_their_colours_and_their_sides():
    clf = recipes.text_bayes().fit(TEXTS, LABELS)
    display = WordCloudDisplay.from_estimator(clf, n_words=12)
    colours = [tuple(patch.get_facecolor()) for patch in display.ax_.patches]
    ham = [c for c, k in zip(colours, display.word_classes, strict=True) if k == 0]
    spam = [c for c, k in zip(colours, display.word_classes, strict=True) if k == 1]
    assert ham
    assert spam
    assert all(c[2] > c[0] for c in ham)  # blue
    assert all(c[0] > c[2] for c in spam)  # vermilion
    middle = display.boxes_[:, ::2].mean(axis=1)
    codes = np.asarray(display.word_classes)
    assert middle[codes == 0].mean() < middle[codes == 1].mean()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["ham", "spam"]
    plt.close("all")


def test_which_words_are_shown():
    clf = recipes.text_bayes().fit(TEXTS, LABELS)
    display = WordCloudDisplay.from_estimator(clf, n_words=100)
    assert (np.diff(display.weights) <= 0).all()
    assert not set(display.words) & {"!", "?", ",", "now !"}
    assert "£" in display.words
    all_signs = WordCloudDisplay.from_estimator(clf, n_words=1000, signs=True)
    assert {"!", "£", "£ 100"} <= set(all_signs.words)
    expected = dict(top_words(clf, 1000)["spam"])
    for word, weight, code in zip(
        display.words, display.weights, display.word_classes, strict=True
    ):
        if code == 1:
            assert weight == pytest.approx(expected[word])
    few = WordCloudDisplay.from_estimator(clf, n_words=4)
    assert np.bincount(few.word_classes).tolist() == [2, 2]
    plt.close("all")


def test_cloud_in_given_axes_of_any_shape(cloud):
    figure, axes = plt.subplots(1, 2, figsize=(5, 8))
    assert cloud.plot(axes[0], legend=False).ax_ is axes[0]
    assert cloud.figure_ is figure
    assert not np.isnan(cloud.boxes_).any()
    assert axes[0].get_legend() is None
    tall = np.ptp(axes[0].get_ylim()) / np.ptp(axes[0].get_xlim())
    assert tall > 1.2


def test_cloud_of_none_one_and_the_longest():
    for words in ([], ["one"], ["a" * 5000, "b"]):
        words = np.array(words, object)
        display = WordCloudDisplay(words, np.ones(len(words)), [0] * len(words), np.array(["k"]))
        display.plot()
        assert len(display.ax_.patches) == len(words)
    with pytest.raises(ValueError, match="positive"):
        WordCloudDisplay(np.array(["a"], object), [-1.0], [0], np.array(["k"])).plot()
    plt.close("all")


def test_cloud_through_searches_and_pipelines():
    search = GridSearchCV(recipes.text_bayes(), {"density__alpha": [1.0]}, cv=2).fit(TEXTS, LABELS)
    vectorizer = CountVectorizer(token_pattern=TOKEN, ngram_range=(1, 2), binary=True)
    pipe = make_pipeline(vectorizer, BayesClassifier(Multinomial())).fit(TEXTS, LABELS)
    one, two = (WordCloudDisplay.from_estimator(model) for model in (search, pipe))
    assert one.words.tolist() == two.words.tolist()
    plt.close("all")


# ---------------------------------------------------------------------- real messages


def test_spam_is_told_from_ham(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESRULE_DATA", str(data_dir))
    X, y = datasets.load("sms_spam", return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    decided = cross_val_predict(recipes.text_bayes(), X, y, cv=folds)
    assert np.mean(decided == y) >= 0.987
    # Losing a message costs fifty times as much as reading an advertisement.
    gain = {"ham": {"ham": 0, "spam": -50}, "spam": {"ham": -1, "spam": 0}}
    careful = cross_val_predict(recipes.text_bayes(gain=gain), X, y, cv=folds)
    lost = np.sum((y == "ham") & (careful == "spam"))
    assert lost / np.sum(y == "ham") < 1 / 2000
    assert np.mean(careful[y == "spam"] == "spam") > 0.9


def test_chunks_of_real_messages_are_one_fit(data_dir, monkeypatch):
    monkeypatch.setenv("BAYESRULE_DATA", str(data_dir))
    X, y = datasets.load("sms_spam", return_X_y=True, frame="pandas")
    whole = recipes.text_bayes().fit(X, y)
    chunked = recipes.text_bayes()
    for start, stop in pairwise([0, 10, 2000, len(y)]):
        chunked.partial_fit(X.iloc[start:stop], y[start:stop])
    _same(chunked, whole, X)
    tops = top_words(whole, 5)
    assert {"£", "claim", "txt"} <= {word for word, _ in tops["spam"]}
    assert "i" in {word for word, _ in tops["ham"]}
