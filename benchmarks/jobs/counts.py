"""Counts of words, given as such and made of texts, beside scikit-learn's multinomial."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from bayesrule import BayesClassifier, Multinomial, Words
from benchmarks.agreement import decisions_differ, fits_differ
from benchmarks.contest import Contest
from benchmarks.jobs import job

SIZES = (5_000, 100_000)
TEXTS = (2_000, 20_000)
#: Of 68 words some 60 are different.
N_CLASSES, N_WORDS, LENGTH = 20, 30_000, 68

#: Rows that models are fitted on where only what they answer is timed.
TRAINING_ROWS = 5_000


def words_of_rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words row by row, where each row ends, and its class.

    The r-th word comes in proportion to 1/r (Zipf's law), the first about as often as "the".
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLASSES, size=n)
    lengths = rng.poisson(LENGTH, n)
    rank = np.exp(np.log(N_WORDS) * rng.random(lengths.sum())) - 1.0
    # A third of the words are the class's own: the common ones of all, moved along.
    moved = np.where(rng.random(len(rank)) < 0.3, 97 * np.repeat(y, lengths), 0)
    return (rank.astype(np.int64) + moved) % N_WORDS, np.cumsum(lengths), y


def counted(n: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Rows of counts, some 60 of them a row, and integer labels."""
    words, ends, y = words_of_rows(n, seed)
    parts = (
        np.ones(len(words)),
        words.astype(np.int32),
        np.concatenate([[0], ends]).astype(np.int32),
    )
    X = scipy.sparse.csr_array(parts, shape=(n, N_WORDS))
    X.sum_duplicates()
    return X, y


def texts(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """The same as texts."""
    words, ends, y = words_of_rows(n, seed)
    rows = np.split(np.char.add("w", words.astype(str)), ends[:-1])
    return [" ".join(row) for row in rows], y


@job("counts, 30,000 words, K=20, 60 a row: fit", sizes=SIZES, goals={100_000: 2.0})
def fit(n: int) -> Contest:
    """Sum the counts of each class."""
    X, y = counted(n)
    ours = BayesClassifier(Multinomial())
    peers = {"MultinomialNB": lambda: MultinomialNB().fit(X, y)}
    read = X.data.nbytes + X.indices.nbytes
    return Contest(lambda: ours.fit(X, y), fits_differ(X[:1000]), peers, n_bytes=read)


@job("counts, 30,000 words, K=20, 60 a row: predict", sizes=SIZES, goals={100_000: 1.5})
def decide(n: int) -> Contest:
    """Weigh the counts and decide."""
    training = counted(TRAINING_ROWS)
    ours, peer = BayesClassifier(Multinomial()).fit(*training), MultinomialNB().fit(*training)
    X, _ = counted(n, seed=1)
    peers = {"MultinomialNB": lambda: peer.predict(X)}
    return Contest(
        lambda: ours.predict(X),
        decisions_differ(X, peer),
        peers,
        n_bytes=X.data.nbytes + X.indices.nbytes,
        flops=2 * N_CLASSES * X.nnz,
    )


def same_counts(ours: BayesClassifier, theirs: tuple[CountVectorizer, Any]) -> str:
    """All classes together have the counts that the vectoriser makes."""
    vectorizer, matrix = theirs
    if ours.stats_.words.tolist() != vectorizer.get_feature_names_out().tolist():
        return "the words differ"
    same = np.array_equal(ours.stats_.counts.sum(axis=0), np.asarray(matrix.sum(axis=0)).ravel())
    return "" if same else "the counts of words differ"


def vectorised(X: list[str]) -> tuple[CountVectorizer, Any]:
    """What no reader of texts can do without."""
    vectorizer = CountVectorizer()
    return vectorizer, vectorizer.fit_transform(X)


@job("texts, 68 words each, K=20: fit", sizes=TEXTS, goals={20_000: 1.0})
def fit_texts(n: int) -> Contest:
    """Split texts, count their words; a vectoriser alone is as fast as this can be."""
    X, y = texts(n)
    ours = BayesClassifier(Words(vectorizer=CountVectorizer()))
    peers = {"CountVectorizer alone": lambda: vectorised(X)}
    return Contest(lambda: ours.fit(X, y), same_counts, peers)


@job("texts, 68 words each, K=20: predict", sizes=TEXTS, goals={20_000: 0.9})
def decide_texts(n: int) -> Contest:
    """Split texts, weigh their words and decide."""
    training = texts(TRAINING_ROWS)
    ours = BayesClassifier(Words(vectorizer=CountVectorizer())).fit(*training)
    peer = make_pipeline(CountVectorizer(), MultinomialNB()).fit(*training)
    X, _ = texts(n, seed=1)
    rows = np.array(X, dtype=object)
    peers = {"CountVectorizer, MultinomialNB": lambda: peer.predict(X)}
    return Contest(lambda: ours.predict(X), decisions_differ(rows, peer), peers)
