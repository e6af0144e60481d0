"""Naive Bayes on real tables of mixed columns: what was tried, and what came of it.

Five-fold, stratified, shuffled; missing cells are left missing. Prints accuracy, log loss, and how
far predicted chances are from what comes true.

    python reproduce/naive_bayes.py
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from bayesrule import BayesClassifier, Categorical, FromClassifier, Gaussian, datasets, evaluate
from bayesrule.recipes import naive_bayes
from bayesrule.reliability import Reliability

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def by_value(*names: str) -> dict[str, Categorical]:
    """Numbers as categories: the share of each value in each class."""
    return {name: Categorical() for name in names}


def dropped(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "drop")


#: Columns of Adult that say again what others say: years of school, and being a husband or wife;
#: and a sampling weight, which says nothing.
AGAIN = dropped("education_num", "relationship", "fnlwgt")
SUMS = ("capital_gain", "capital_loss")
CHOSEN = {**by_value(*SUMS, "age", "hours_per_week"), **AGAIN}

TRIED: dict[str, dict[str, BayesClassifier]] = {
    "mushroom": {
        "naive_bayes(), which is Categorical(1)": naive_bayes(),
        "Categorical(alpha=0.1)": BayesClassifier(Categorical(0.1)),
        "Categorical(alpha=1e-3)": BayesClassifier(Categorical(1e-3)),
        "Categorical(alpha=1e-6)": BayesClassifier(Categorical(1e-6)),
    },
    "adult": {
        "naive_bayes()": naive_bayes(),
        "all numbers Gaussian": naive_bayes(counts=Gaussian("diag")),
        "sums by value": naive_bayes(by_value(*SUMS)),
        "all numbers by value": naive_bayes(counts=Categorical(), numbers=Categorical()),
        "without repeated columns": naive_bayes(AGAIN),
        "both": naive_bayes(CHOSEN),
        "both, calibrated by isotonic steps": BayesClassifier(
            FromClassifier(CalibratedClassifierCV(naive_bayes(CHOSEN), method="isotonic", cv=5))
        ),
    },
}


def folds(clf: BayesClassifier, data: Any) -> Iterator[Any]:
    """Evaluations of the folds."""
    for fit, test in FOLDS.split(data.X, data.y):
        fitted = clone(clf).fit(data.X.iloc[fit], data.y[fit])
        yield evaluate(fitted, data.X.iloc[test], data.y[test])


def error(table: Reliability) -> float:
    """Mean distance between predicted and observed."""
    return float(np.average(np.abs(table.predicted - table.observed), weights=table.weight))


def show_calibration(name: str, table: Reliability) -> None:
    """What was predicted beside what came true."""
    print(f"\n  {name}: one fold, rows in ten bins")
    for label, values in (("predicted", table.predicted), ("observed", table.observed)):
        bins = np.array_split(np.arange(len(values)), min(10, len(values)))
        means = [np.average(values[b], weights=table.weight[b]) for b in bins]
        print(f"    {label:<10}" + "".join(f"{mean:7.3f}" for mean in means))


def main() -> int:
    for name, rules in TRIED.items():
        try:
            data = datasets.load(name, frame="pandas")
        except FileNotFoundError as missing:
            print(f"{name}: left out. {missing}")
            continue
        print(f"\n{name}: {len(data.y):,} rows, {int(data.X.isna().sum().sum()):,} missing cells")
        print(f"  {'':<40}{'accuracy':>9}{'log loss':>10}{'calibration error':>19}")
        last = []
        for title, clf in rules.items():
            found = list(folds(clf, data))
            label = found[0].classes.tolist()[-1]
            figures = (
                np.mean([part.accuracy for part in found]),
                np.mean([part.log_loss for part in found]),
                np.mean([error(part.calibration[label]) for part in found]),
            )
            print("  {:<40}{:9.4f}{:10.4f}{:19.4f}".format(title, *figures), flush=True)
            last.append((title, found[0].calibration[label]))
        if name == "adult":
            for title, table in (last[0], *last[-2:]):
                show_calibration(title, table)
    return 0


if __name__ == "__main__":
    # Columns that are constant in a class are no surprise here.
    warnings.filterwarnings("ignore", category=UserWarning, module="bayesrule")
    sys.exit(main())
