"""Model files that are kept for ever, each with rows and the answers that it gave.

A file that was written once must be read by every version to come, and answer as it did. Those in
``tests/golden`` are therefore never written again: ``python tests/golden.py`` makes the ones that
are missing, and touches no other.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from densities import DENSITIES

from bayesrule import (
    BayesClassifier,
    Gaussian,
    Minimax,
    Poisson,
    Shifted,
    load,
    save,
    with_action,
)
from bayesrule.conjugate import MeanPrior, NormalInverseWishart
from bayesrule.rates import GammaPrior
from bayesrule.testing import toy_rows

FOLDER = Path(__file__).parent / "golden"

#: Densities of the list that have a file: at least one for each type that files may hold.
NAMES = (
    "gaussian-full-auto",
    "gaussian-tied",
    "gaussian-diag",
    "gaussian-spherical-predictive",
    "categorical",
    "categorical-text",
    "bernoulli",
    "multinomial-sparse",
    "words",
    "columns",
    "columns-block",
    "elliptical-tyler",
    "elliptical-student-shared-0.2",
    "elliptical-huber-gqda",
    "elliptical-mcd",
    "pooled",
    "poisson",
    "exponential",
    "gamma",
    "log-normal",
    "profiled-kmeans",
    "profiled-fuzzy-lda",
    "profiled-mixture",
    "profiled-mixture-diag",
    "profiled-tree",
    "profiled-tree-mixed",
    "profiled-cells",
    "profiled-forest",
    "histogram",
    "histogram-joint",
    "cells-gain",
    "cells-smooth",
    "neighbors-cv",
    "neighbors-thinned",
    "kernel",
    "kernel-gain-columns",
)

#: Rows that each model is asked about.
ASKED = 8

Made = Callable[[], tuple[BayesClassifier, Any]]


def _of_density(name: str) -> Made:
    (listed,) = (listed for listed in DENSITIES if listed.name == name)

    def make() -> tuple[BayesClassifier, Any]:
        X, y = (listed.claims["X"], listed.claims["y"]) if "X" in listed.claims else toy_rows()
        # The first rows are asked about, and the classes' names take their turns.
        names = np.array(["ash", "birch", "cedar"])
        return BayesClassifier(listed.density).fit(X[:60], names[y[:60]]), X[60 : 60 + ASKED]

    return make


def _minimax() -> tuple[BayesClassifier, Any]:
    X, y = toy_rows()
    clf = BayesClassifier(Gaussian("diag"), Minimax(randomised=True), random_state=3)
    return clf.fit(X[:60], y[:60] > 0), X[60 : 60 + ASKED]


def _shifted() -> tuple[BayesClassifier, Any]:
    X, y = toy_rows()
    clf = BayesClassifier(Gaussian("tied"), Shifted(X[60:])).fit(X[:60], y[:60] * 2.0)
    return clf, X[60 : 60 + ASKED]


def _actions() -> tuple[BayesClassifier, Any]:
    X, y = toy_rows()
    prior = NormalInverseWishart(mean_weight=2.0)
    gain = with_action(with_action(None, "refer", 0.7), "wait", {0: 0.6, 1: 0.5, 2: 0.4})
    clf = BayesClassifier(Gaussian(estimate="map", prior=prior), "uniform", gain)
    return clf.fit(X[:60], y[:60]), X[60 : 60 + ASKED]


def _named() -> tuple[BayesClassifier, Any]:
    X, y = toy_rows()
    rows = pd.DataFrame(X, columns=list("abc"))
    density = Gaussian("diag", estimate="map", prior=MeanPrior(np.array([0.0, 1.0, 2.0]), 1.0, 2.0))
    gain = {k: {"go": float(k == 1), "stay": 0.25 * (k + 2)} for k in (-1, 0, 1)}
    clf = BayesClassifier(density, {-1: 0.5, 0: 0.2, 1: 0.3}, gain)
    return clf.fit(rows[:60], y[:60] - 1), rows[60 : 60 + ASKED]


def _gamma_prior() -> tuple[BayesClassifier, Any]:
    X = np.floor(np.abs(3.0 * toy_rows()[0]))
    clf = BayesClassifier(Poisson(GammaPrior(2.0, 0.5), "predictive"))
    return clf.fit(X[:60], toy_rows()[1][:60].astype(np.float32)), X[60 : 60 + ASKED]


#: How each file was made.
MADE: dict[str, Made] = {name: _of_density(name) for name in NAMES} | {
    "rule-minimax": _minimax,
    "rule-shifted": _shifted,
    "rule-actions": _actions,
    "rule-named": _named,
    "prior-gamma": _gamma_prior,
}


def rows_as_json(X: Any) -> dict[str, Any]:
    """Rows as plain lists."""
    if hasattr(X, "columns"):
        return {"frame": {str(name): X[name].tolist() for name in X.columns}}
    if scipy.sparse.issparse(X):
        return {"sparse": X.toarray().tolist()}
    return {"texts" if X.dtype == object else "array": X.tolist()}


def rows_of_json(content: dict[str, Any]) -> Any:
    """The rows again."""
    ((form, values),) = content.items()
    if form == "frame":
        return pd.DataFrame(values)
    if form == "sparse":
        return scipy.sparse.csr_array(np.array(values))
    return np.array(values, object if form == "texts" else None)


def answers(clf: BayesClassifier, X: Any) -> dict[str, Any]:
    """What a model says of rows, as plain lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "predict": clf.predict(X).tolist(),
            "predict_proba": clf.predict_proba(X).tolist(),
            "log_density": clf.log_density(X).tolist(),
            "expected_gains": clf.expected_gains(X).tolist(),
        }


def kept() -> Iterator[Path]:
    """All model files that are kept."""
    yield from sorted(FOLDER.glob("*.bayes"))


def make(name: str, folder: Path = FOLDER) -> bool:
    """Make a file and its answers unless one of them is there; tell whether it was made."""
    model, told = folder / f"{name}.bayes", folder / f"{name}.json"
    if model.exists() or told.exists():
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf, X = MADE[name]()
        save(clf, model)
    # Of the file as it is read: what a later version must say again.
    content = {"rows": rows_as_json(X), **answers(load(model), X)}
    with told.open("x", encoding="utf-8") as file:
        json.dump(content, file)
        file.write("\n")
    return True


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for wanted in MADE:
        sys.stdout.write(f"made {wanted}\n" if make(wanted) else "")
