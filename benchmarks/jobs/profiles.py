"""Soft profiles around given centres, beside the same formulas in numpy and scikit-fuzzy.

Both sides get the centres, so that no search for them is timed: what is left is the table of the
profiles (fit) and the mean over it (predict_proba). The peers store n x T memberships, or T x T
ratios of distances for each row where they follow equation (10) to the letter.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bayesrule import BayesClassifier, FuzzyProfiles, KMeansProfiles, Profiled
from benchmarks.agreement import fits_differ, probabilities_differ
from benchmarks.contest import Contest
from benchmarks.data import gaussian_classes
from benchmarks.jobs import job

N_COLUMNS, N_CLASSES, FUZZINESS = 10, 3, 1.3
TRAINING_ROWS, PROBE_ROWS = 10_000, 2000

#: Memberships beyond which scikit-fuzzy's five copies of them would not fit most machines, and
#: ratios of distances beyond which equation (10) to the letter takes minutes.
MOST_STORED, MOST_RATIOS = 40_000_000, 500_000_000


#: No public program computes equation (10) so; the goal is about those that there are.
BY_HAND = ("numpy, factored",)


class Factored:
    """Equations (10) to (12) with whole arrays, one power for each membership."""

    def __init__(self, centres: np.ndarray):
        self.centres = centres

    def memberships(self, X: np.ndarray) -> np.ndarray:
        weights = cdist(X, self.centres)
        weights **= -2.0 / (FUZZINESS - 1.0)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def fit(self, X: np.ndarray, y: np.ndarray) -> Factored:
        classes = np.eye(N_CLASSES)[y]
        table = classes.T @ self.memberships(X)
        self.posterior = table / table.sum(axis=0)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.memberships(X) @ self.posterior.T
        return found


class AsPrinted(Factored):
    """Equation (10) as it is printed: a ratio for every two centres, some rows at a time."""

    def memberships(self, X: np.ndarray) -> np.ndarray:
        degrees = np.empty((len(X), len(self.centres)))
        size = max(1, 800_000 // len(self.centres) ** 2)
        for start in range(0, len(X), size):
            apart = cdist(X[start : start + size], self.centres)
            ratios = apart[:, :, None] / apart[:, None, :]
            degrees[start : start + size] = 1.0 / (ratios ** (2.0 / (FUZZINESS - 1.0))).sum(axis=2)
        return degrees


class ByScikitFuzzy(Factored):
    """The same with scikit-fuzzy's memberships, in the one round that fixed centres need."""

    def memberships(self, X: np.ndarray) -> np.ndarray:
        from skfuzzy.cluster import cmeans_predict

        start = np.ones((len(self.centres), len(X)))
        found = cmeans_predict(X.T, self.centres, FUZZINESS, error=0.0, maxiter=1, init=start)
        degrees: np.ndarray = found[0].T
        return degrees


def contest(call: str, n_profiles: int, n: int) -> Contest:
    """Fit, or predict_proba, around centres of k-means."""
    X, y = gaussian_classes(max(n, PROBE_ROWS), N_COLUMNS, N_CLASSES)
    rows, codes = gaussian_classes(TRAINING_ROWS, N_COLUMNS, N_CLASSES)
    learned = KMeansProfiles(n_profiles, n_init=1).fit(rows).partition_
    centres = learned.columns.T + learned.metric.shift
    ours = BayesClassifier(Profiled(FuzzyProfiles(fuzziness=FUZZINESS, centers=centres)))
    peers: dict[str, Any] = {
        "numpy, factored": Factored(centres),
        "numpy, as printed": AsPrinted(centres),
    }
    if _has_scikit_fuzzy():
        peers["scikit-fuzzy"] = ByScikitFuzzy(centres)
    work = {"numpy, as printed": n_profiles**2 * n / MOST_RATIOS}
    work["scikit-fuzzy"] = n_profiles * n / MOST_STORED
    if call == "fit":
        calls = {
            name: partial(peer.fit, X[:n], y[:n])
            for name, peer in peers.items()
            if work.get(name, 0.0) <= 1.0
        }
        differ = fits_differ(X[:PROBE_ROWS])
        return Contest(partial(ours.fit, X[:n], y[:n]), differ, calls, by_hand=BY_HAND)
    ours.fit(rows, codes)
    parts = {
        name: int(np.ceil(share)) for name, share in work.items() if name in peers and share > 1.0
    }
    calls = {
        name: partial(peer.fit(rows, codes).predict_proba, X[: n // parts.get(name, 1)])
        for name, peer in peers.items()
    }
    answer = partial(ours.predict_proba, X[:n])
    return Contest(answer, _parts_differ, calls, parts, by_hand=BY_HAND)


def _parts_differ(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Probabilities of the rows that the peer was asked for."""
    return probabilities_differ(ours[: len(theirs)], theirs)


def _has_scikit_fuzzy() -> bool:
    try:
        import skfuzzy  # noqa: F401
    except ImportError:
        return False
    return True


for _n_profiles in (20, 200):
    for _call in ("fit", "predict_proba"):
        job(
            f"soft profiles, T={_n_profiles}: {_call}",
            sizes=(100_000, 1_000_000),
            goals={1_000_000: 8.0},
        )(partial(contest, _call, _n_profiles))
