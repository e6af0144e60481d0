"""The multinomial against scikit-learn, scipy and sums by hand."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import dirichlet_multinomial, multinomial
from sklearn.naive_bayes import MultinomialNB

from bayesrule import BayesClassifier
from bayesrule.counts import read_counts
from bayesrule.kernels.counts import log_rising
from bayesrule.memberships import read_target
from bayesrule.multinomial import Multinomial, count_columns
from bayesrule.notices import NoSupportWarning


def documents(
    n: int = 300, n_columns: int = 40, n_classes: int = 3, seed: int = 0
) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of counts, most of them zero, whose shares differ between the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    shares = rng.dirichlet(np.full(n_columns, 0.3), n_classes)
    X = np.array([rng.multinomial(rng.poisson(12), shares[k]) for k in y])
    return sp.csr_array(X), y


def shares_of(X: Any, y: np.ndarray, alpha: float) -> np.ndarray:
    """Smoothed shares by their formula."""
    counts = np.array([X.toarray()[y == k].sum(axis=0) for k in np.unique(y)]) + alpha
    return counts / counts.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------------- outside references


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9, 21])
def test_agrees_with_scikit_learn(alpha, n_classes):
    X, y = documents(n_classes=n_classes)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    for weight in (None, weights):
        ours = BayesClassifier(Multinomial(alpha)).fit(X, y, weight)
        theirs = MultinomialNB(alpha=alpha).fit(X, y, weight)
        np.testing.assert_allclose(
            ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9
        )
        joint = ours.log_density(X) + np.log(ours.priors_)
        np.testing.assert_allclose(joint, theirs.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_agrees_with_scikit_learn_on_any_counts(seed):
    rng = np.random.default_rng(seed)
    n, n_columns, n_classes = rng.integers(1, 30), rng.integers(1, 25), rng.integers(1, 12)
    X = sp.random_array((n, n_columns), density=rng.random(), rng=rng, format="csr")
    X.data *= 10
    y = rng.integers(n_classes, size=n)
    ours = BayesClassifier(Multinomial(0.3)).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, MultinomialNB(alpha=0.3).fit(X, y).predict_proba(X), atol=1e-9)


def test_is_scipys_density_up_to_a_term_of_the_row():
    X, y = documents()
    rows = X.toarray()
    ours = BayesClassifier(Multinomial(0.5)).fit(X, y).log_density(X)
    theirs = np.column_stack(
        [multinomial.logpmf(rows, rows.sum(axis=1), share) for share in shares_of(X, y, 0.5)]
    )
    apart = ours - theirs
    np.testing.assert_allclose(apart, np.broadcast_to(apart[:, :1], apart.shape), atol=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
def test_predictive_is_scipys_dirichlet_multinomial(alpha):
    X, y = documents(n_columns=12)
    rows = X.toarray()
    ours = BayesClassifier(Multinomial(alpha, "predictive")).fit(X, y).log_density(X)
    counts = np.array([rows[y == k].sum(axis=0) for k in range(3)])
    theirs = np.column_stack(
        [dirichlet_multinomial.logpmf(rows, alpha + c, rows.sum(axis=1)) for c in counts]
    )
    apart = ours - theirs
    np.testing.assert_allclose(apart, np.broadcast_to(apart[:, :1], apart.shape), atol=1e-9)


def test_predictive_of_one_count_is_the_smoothed_share():
    X, y = documents()
    one = sp.eye_array(X.shape[1], format="csr")
    smoothed = BayesClassifier(Multinomial(0.7)).fit(X, y).log_density(one)
    predictive = BayesClassifier(Multinomial(0.7, "predictive")).fit(X, y).log_density(one)
    np.testing.assert_allclose(predictive, smoothed, rtol=1e-12)


def test_predictive_learns_within_the_row_by_hand():
    # Class a showed (2, 1): alpha = 1 makes (3, 2) of 5. The row (2, 1) is 3/5 4/6 2/7.
    X, y = [[2, 1], [0, 4]], ["a", "b"]
    got = BayesClassifier(Multinomial(1.0, "predictive")).fit(X, y).log_density([[2, 1]])
    a = Fraction(3, 5) * Fraction(4, 6) * Fraction(2, 7)
    b = Fraction(1, 6) * Fraction(2, 7) * Fraction(5, 8)
    np.testing.assert_allclose(np.exp(got), [[float(a), float(b)]], rtol=1e-13)


def test_posterior_by_hand():
    # theta_a = (3, 1) / 4 and theta_b = (1, 2) / 3 with alpha = 1.
    X, y = [[2, 0], [0, 1]], ["a", "b"]
    got = BayesClassifier(Multinomial()).fit(X, y).predict_proba([[1, 2]])
    a, b = Fraction(3, 4) * Fraction(1, 4) ** 2, Fraction(1, 3) * Fraction(2, 3) ** 2
    np.testing.assert_allclose(got, [[float(a / (a + b)), float(b / (a + b))]], rtol=1e-12)


# ---------------------------------------------------------------------- log Γ, kept exact


@given(st.floats(1e-3, 1e12), st.integers(0, 3000))
def test_rising_factorial_is_the_sum_of_logs(start, steps):
    exact = math.fsum(math.log(start + i) for i in range(steps))
    assert log_rising(start, float(steps)) == pytest.approx(exact, rel=1e-13, abs=1e-13)


@given(st.floats(1e-3, 300), st.floats(0, 50))
def test_rising_factorial_of_fractions_is_a_difference_of_log_gammas(start, steps):
    expected = gammaln(start + steps) - gammaln(start)
    assert log_rising(start, steps) == pytest.approx(expected, rel=1e-11, abs=1e-11)


# ---------------------------------------------------------------------- no smoothing


def test_without_smoothing_an_unseen_word_rules_a_class_out():
    # Words: both classes, only a, only b, none.
    X, y = [[2, 1, 0, 0], [1, 0, 3, 0]], ["a", "b"]
    clf = BayesClassifier(Multinomial(alpha=0.0)).fit(X, y)
    got = clf.log_density([[1, 0, 0, 0], [1, 2, 0, 0], [0, 0, 1, 5], [0, 0, 0, 9]])
    np.testing.assert_allclose(got[0], np.log([2 / 3, 1 / 4]), rtol=1e-12)
    np.testing.assert_allclose(got[1], [np.log(2 / 27), -np.inf], rtol=1e-12)
    np.testing.assert_allclose(got[2], [-np.inf, np.log(3 / 4)], rtol=1e-12)
    np.testing.assert_array_equal(got[3], [0.0, 0.0])
    with pytest.warns(NoSupportWarning):
        np.testing.assert_array_equal(clf.predict_proba([[0, 1, 1, 0]]), [[0.5, 0.5]])


def test_without_smoothing_stored_zeros_are_no_counts():
    X = sp.csr_array(([1.0, 0.0, 2.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    clf = BayesClassifier(Multinomial(alpha=0.0)).fit(X, [0, 1])
    np.testing.assert_array_equal(clf.log_density(X), [[0.0, -np.inf], [-np.inf, 0.0]])
    many = sp.csr_array((np.zeros(30), np.tile(np.arange(2), 15), [0, 30]), shape=(1, 2))
    np.testing.assert_array_equal(clf.log_density(many), [[0.0, 0.0]])


def test_class_that_counted_nothing():
    X, y = [[0, 0], [1, 2]], ["empty", "full"]
    smoothed = BayesClassifier(Multinomial()).fit(X, y)
    np.testing.assert_allclose(smoothed.log_density([[1, 0]])[0, 0], np.log(0.5), rtol=1e-12)
    bare = BayesClassifier(Multinomial(alpha=0.0)).fit(X, y)
    np.testing.assert_allclose(
        bare.log_density([[1, 0], [0, 0]]), [[-np.inf, np.log(1 / 3)], [0, 0]]
    )


# ---------------------------------------------------------------------- what X may be


def _duplicated(X: sp.csr_array) -> sp.csr_array:
    """Every entry in two halves, last column first."""
    entries = X.tocoo()
    order = np.lexsort((-entries.col, entries.row))
    data = np.repeat(entries.data[order] / 2, 2)
    indptr = np.concatenate([[0], 2 * np.cumsum(np.bincount(entries.row, minlength=X.shape[0]))])
    return sp.csr_array((data, np.repeat(entries.col[order], 2), indptr), shape=X.shape)


def _wide_places(X: sp.csr_array) -> sp.csr_array:
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return wide


FORMS = {
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "dok": sp.dok_array,
    "bsr": sp.bsr_array,
    "entries in halves": _duplicated,
    "64-bit places": _wide_places,
    "float32": lambda X: X.astype(np.float32),
    "int32": lambda X: X.astype(np.int32),
    "uint8": lambda X: X.astype(np.uint8),
    "float16": lambda X: X.toarray().astype(np.float16),
    "array": lambda X: X.toarray(),
    "array of columns": lambda X: np.asfortranarray(X.toarray()),
    "every second row": lambda X: np.repeat(X.toarray(), 2, axis=0)[::2],
    "lists": lambda X: X.toarray().tolist(),
    "objects": lambda X: X.toarray().astype(object),
    "pandas": lambda X: pd.DataFrame(X.toarray()),
    "pandas nullable": lambda X: pd.DataFrame(X.toarray()).astype("Int64"),
    "polars": lambda X: pl.DataFrame(X.toarray()),
    "pyarrow": lambda X: pa.table({f"w{j}": column for j, column in enumerate(X.toarray().T)}),
}


@pytest.mark.parametrize("estimate", ["smoothed", "predictive"])
@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_the_same_counts(form, estimate):
    X, y = documents(60, 9)
    expected = BayesClassifier(Multinomial(0.5, estimate)).fit(X, y).log_density(X)
    other = FORMS[form](X)
    clf = BayesClassifier(Multinomial(0.5, estimate)).fit(other, y)
    np.testing.assert_allclose(clf.log_density(other), expected, rtol=1e-12)


def test_compressed_rows_are_not_copied():
    X, _ = documents()
    for dtype in (np.float64, np.float32, np.int64, np.int32):
        for wide in (X.astype(dtype), _wide_places(X.astype(dtype))):
            read = read_counts(wide).counts
            assert np.shares_memory(read.data, wide.data)
            assert np.shares_memory(read.indices, wide.indices)
            assert read.indices.dtype == wide.indices.dtype


def test_input_is_left_as_it_is():
    X = _duplicated(documents()[0])
    X.data[:7] = 0.0
    before = X.copy()
    X.data.setflags(write=False)
    y = np.arange(X.shape[0]) % 2
    BayesClassifier(Multinomial(estimate="predictive")).fit(X, y).predict(X)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, r"Negative values in data passed as X, in column 2 \(2 rows\)"),
        (np.nan, r"contains NaN in column 2 \(2 rows\).*length of its row"),
        (np.inf, r"contains infinity in column 2 \(2 rows\)"),
        (-np.inf, r"contains infinity in column 2 \(2 rows\)"),
    ],
)
def test_what_is_no_count_is_refused_by_column(value, message, sparse):
    rows = np.ones((4, 3))
    rows[[1, 3], 2] = value
    clf = BayesClassifier(Multinomial()).fit(np.ones((4, 3)), [0, 1, 0, 1])
    for dtype in (np.float64, np.float32):
        X = sp.csr_array(rows.astype(dtype)) if sparse else rows.astype(dtype)
        with pytest.raises(ValueError, match=message):
            clf.predict(X)
        with pytest.raises(ValueError, match=message):
            BayesClassifier(Multinomial()).fit(X, [0, 1, 0, 1])


def test_negative_integers_and_named_columns():
    with pytest.raises(ValueError, match=r"Negative values.*column 'visits' \(1 rows\)"):
        BayesClassifier(Multinomial()).fit(pd.DataFrame({"age": [1, 2], "visits": [3, -4]}), [0, 1])
    for dtype in (np.int64, np.int32):
        with pytest.raises(ValueError, match=r"column 1 \(1 rows\)"):
            BayesClassifier(Multinomial()).fit(np.array([[1, -2], [3, 4]], dtype), [0, 1])
    absent = pd.DataFrame({"age": pd.array([1, None], "Int64"), "visits": [3, 4]})
    with pytest.raises(ValueError, match=r"NaN in column 'age'"):
        BayesClassifier(Multinomial()).fit(absent, [0, 1])


def test_negative_zero_is_zero():
    clf = BayesClassifier(Multinomial(alpha=0.0)).fit([[1.0, -0.0], [0.0, 1.0]], [0, 1])
    np.testing.assert_array_equal(clf.log_density([[1.0, -0.0]]), [[0.0, -np.inf]])
    sparse = sp.csr_array((np.array([1.0, -0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    np.testing.assert_array_equal(clf.log_density(sparse), [[0.0, -np.inf]])


@pytest.mark.parametrize(
    "fault", ["column too large", "column negative", "rows go back", "too few"]
)
def test_malformed_sparse_rows_are_refused(fault):
    X, y = documents(20, 5)
    X.indices, X.indptr = X.indices.copy(), X.indptr.copy()
    if fault == "column too large":
        X.indices[3] = 5
    elif fault == "column negative":
        X.indices[3] = -1
    elif fault == "rows go back":
        X.indptr[4] = X.indptr[-1]
    else:
        X.indptr[-1] += 50
    with pytest.raises(ValueError, match="sparse X is malformed"):
        BayesClassifier(Multinomial()).fit(X, y)


def test_other_columns_at_predict_are_refused():
    X, y = documents()
    clf = BayesClassifier(Multinomial()).fit(X, y)
    with pytest.raises(ValueError, match="39 features"):
        clf.predict(X[:, :-1])
    with pytest.raises(ValueError, match="41 features"):
        clf.predict(sp.hstack([X, X[:, :1]]).tocsr())


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "1", None, True])
def test_alpha_must_be_a_number_from_zero_on(alpha):
    with pytest.raises(ValueError, match="alpha"):
        BayesClassifier(Multinomial(alpha)).fit([[1, 0], [0, 1]], [0, 1])


def test_other_settings():
    with pytest.raises(ValueError, match="'smoothed' or 'predictive'"):
        BayesClassifier(Multinomial(estimate="map")).fit([[1, 0], [0, 1]], [0, 1])
    with pytest.raises(ValueError, match="alpha > 0"):
        BayesClassifier(Multinomial(0.0, "predictive")).fit([[1, 0], [0, 1]], [0, 1])
    assert not hasattr(BayesClassifier(Multinomial()).fit([[1, 0], [0, 1]], [0, 1]), "log_marginal")


# ---------------------------------------------------------------------- counting


@pytest.mark.parametrize("threads", ["1", "3"])
def test_counts_are_sums_by_class(monkeypatch, threads):
    monkeypatch.setenv("BAYESRULE_NUM_THREADS", threads)
    X, y = documents(5000, 3, 2)  # few columns: it is counted in many blocks
    stats = count_columns(read_counts(X), read_target(y))
    rows = X.toarray()
    np.testing.assert_array_equal(stats.sums, [rows[y == k].sum(axis=0) for k in range(2)])
    np.testing.assert_array_equal(stats.weight, np.bincount(y))


def test_chunks_and_merges_are_equal_bits():
    X, y = documents(1000, 30)
    weights = np.random.default_rng(0).integers(1, 9, len(y)).astype(float)
    whole = BayesClassifier(Multinomial()).fit(X, y, weights)
    parts = np.array_split(np.random.default_rng(1).permutation(len(y)), 7)
    chunked = BayesClassifier(Multinomial())
    merged = None
    for part in parts:
        chunked.partial_fit(X[part], y[part], sample_weight=weights[part])
        one = BayesClassifier(Multinomial()).fit(X[part], y[part], weights[part])
        merged = one if merged is None else one.merge(merged)
    for other in (chunked, merged):
        np.testing.assert_array_equal(other.stats_.sums, whole.stats_.sums)
        np.testing.assert_array_equal(other.predict_proba(X), whole.predict_proba(X))


def test_class_without_rows_has_no_density():
    X, y = documents()
    clf = BayesClassifier(Multinomial(), priors="uniform")
    clf.partial_fit(X, y, classes=[0, 1, 2, 3])
    assert (clf.log_density(X)[:, 3] == -np.inf).all()
    np.testing.assert_allclose(
        clf.log_density(X)[:, :3], BayesClassifier(Multinomial()).fit(X, y).log_density(X)
    )


def test_row_that_counts_nothing_gets_the_priors():
    X, y = documents()
    nothing = sp.csr_array((2, X.shape[1]))
    for estimate in ("smoothed", "predictive"):
        clf = BayesClassifier(Multinomial(estimate=estimate)).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_allclose(clf.predict_proba(nothing), [clf.priors_] * 2, rtol=1e-12)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    X, y = documents(300, 20)
    many = sp.vstack([X] * 100).tocsr()
    clf = BayesClassifier(Multinomial()).fit(X, y)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BAYESRULE_NUM_THREADS", threads)
        answers.append(clf.log_density(many))
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(answers[0][:300], clf.log_density(X))


# ---------------------------------------------------------------------- contributions


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_terms_sum_to_the_log_density(alpha):
    X, y = documents(50, 9)
    law = BayesClassifier(Multinomial(alpha)).fit(X, y).log_density_
    assert law.factors
    table = read_counts(X)
    terms = law.terms(table)
    assert terms.shape == (50, 3, 9)
    np.testing.assert_allclose(terms.sum(axis=2), law(table), rtol=1e-12)
    assert (terms[np.broadcast_to((X.toarray() == 0)[:, None, :], terms.shape)] == 0).all()


def test_terms_that_would_not_fit_are_refused_before_any_work(monkeypatch):
    X, y = documents()
    law = BayesClassifier(Multinomial()).fit(X, y).log_density_
    monkeypatch.setenv("BAYESRULE_MEMORY_GB", "0.00001")
    with pytest.raises(MemoryError, match="fewer rows"):
        law.terms(read_counts(X))


def test_predictive_does_not_factor():
    X, y = documents(50, 9)
    law = BayesClassifier(Multinomial(estimate="predictive")).fit(X, y).log_density_
    assert not law.factors
    with pytest.raises(TypeError, match="does not factor"):
        law.terms(read_counts(X))
