"""The demonstration: how it spends its time (what it prints is held to the README)."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info

from bayesrule import BayesClassifier, FromClassifier, demo


class Witness(HistGradientBoostingClassifier):
    """Boosting that notes how many threads it was grown on."""

    threads: list[int] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        found = [pool for pool in threadpool_info() if pool["user_api"] == "openmp"]
        self.threads.extend(pool["num_threads"] for pool in found)
        return super().fit(X, y, sample_weight)


def test_small_trees_are_grown_on_one_thread(monkeypatch):
    clf = BayesClassifier(FromClassifier(Witness(max_iter=1)), gain=demo.gain_matrix())
    monkeypatch.setattr(demo, "models", lambda: {"Boosting": clf})
    rng = np.random.default_rng(0)
    y = np.repeat(["malignant", "benign"], 30)
    demo.out_of_fold_decisions(rng.normal(size=(60, 2)), y, lambda: None)
    assert set(Witness.threads) == {1}
