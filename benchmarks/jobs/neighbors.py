"""Nearest neighbours: what a fitted rule answers, beside bare searches that count votes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from bayesrule import BayesClassifier, Neighbors
from benchmarks.agreement import probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job

K, CLASSES = 10, 3


def votes(search: Callable[[], Any], labels: np.ndarray) -> np.ndarray:
    """Shares of the classes among the neighbours that a search finds."""
    found = np.asarray(search(), np.int64)
    return (labels[found][:, :, None] == np.arange(CLASSES)).mean(axis=1)


def answers(n_columns: int, n_queries: int, n: int) -> Contest:
    """Posteriors of queries among n rows."""
    X, y = gaussian_classes(n, n_columns, CLASSES)
    queries, _ = gaussian_classes(min(n_queries, n), n_columns, CLASSES, seed=1)
    ours = BayesClassifier(Neighbors(K)).fit(X, y)
    peers = {}
    if n_columns < 16:  # beyond, a tree looks at every row, and at its own nodes
        tree = cKDTree(X)
        peers["scipy's k-d tree"] = lambda: tree.query(queries, K)[1]
        if find_spec("pykdtree"):
            from pykdtree.kdtree import KDTree

            other = KDTree(X)
            peers["pykdtree"] = lambda: other.query(queries, K)[1]
    else:
        brute = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X)
        peers["scikit-learn, products"] = lambda: brute.kneighbors(queries, return_distance=False)
    counted = {name: partial(votes, search, y) for name, search in peers.items()}
    return Contest(lambda: ours.predict_proba(queries), probabilities_differ, counted)


# Within 1.2 of the time of the best search there is.
for columns, asked in ((2, 50_000), (8, 5000), (32, 500)):
    job(
        f"{K} nearest of n, m={columns}: {asked:,} posteriors",
        sizes=(10_000, 1_000_000),
        goals={1_000_000: 1 / 1.2},
        tiny=2000,
    )(partial(answers, columns, asked))
