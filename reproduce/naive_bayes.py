"""Naive Bayes on real tables of mixed columns: what was tried, and what came of it.

Five-fold, stratified, shuffled; missing cells are left missing where nothing else is said. Prints
accuracy, log loss, and how far predicted chances are from what comes true, beside the figures that
were to be reached; and why plain naive Bayes falls short on the mushrooms.

    python -m reproduce naive_bayes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_score

from bayesrule import (
    BayesClassifier,
    Categorical,
    FromClassifier,
    Gaussian,
    Histogram,
    Kernel,
    datasets,
    evaluate,
)
from bayesrule.recipes import kernel_bayes, naive_bayes
from bayesrule.reliability import Reliability
from reproduce.page import Page

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)

#: Makes an unfitted rule of the rows that it will be fitted on.
Recipe = Callable[[Any, np.ndarray], BayesClassifier]


def always(rule: BayesClassifier) -> Recipe:
    """The same rule whatever the rows."""
    return lambda X, y: clone(rule)


def by_value(*names: str) -> dict[str, Categorical]:
    """Numbers as categories: the share of each value in each class."""
    return {name: Categorical() for name in names}


def dropped(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "drop")


#: Hardly smoothed: what a class never showed all but rules it out.
SHARP = Categorical(1e-6)


def few_columns(X: Any, y: np.ndarray) -> BayesClassifier:
    """Naive Bayes on the columns that help it: added one by one, judged on the given rows alone."""
    inner = StratifiedKFold(3, shuffle=True, random_state=0)
    chosen: list[str] = []
    best = -np.inf
    while len(chosen) < X.shape[1]:
        left = [name for name in X.columns if name not in chosen]
        scores = [log_likelihood(BayesClassifier(SHARP), X[[*chosen, n]], y, inner) for n in left]
        if max(scores) <= best:
            break
        best = max(scores)
        chosen.append(left[int(np.argmax(scores))])
    rest = dropped(*(name for name in X.columns if name not in chosen))
    return naive_bayes(rest, categories=SHARP)


def log_likelihood(clf: BayesClassifier, X: Any, y: np.ndarray, folds: Any) -> float:
    """Mean log-probability of the true classes, out of fold."""
    return float(cross_val_score(clf, X, y, cv=folds, scoring="neg_log_loss").mean())


#: Columns of Adult that say again what others say: years of school, and being a husband or wife;
#: and a sampling weight, which says nothing.
AGAIN = dropped("education_num", "relationship", "fnlwgt")
SUMS = ("capital_gain", "capital_loss")
CHOSEN = {**by_value(*SUMS, "age", "hours_per_week"), **AGAIN}
SMOOTH = {**by_value(*SUMS), **AGAIN}
KERNEL, HISTOGRAM = Kernel(joint=False), Histogram(joint=False)

TRIED: dict[str, dict[str, Recipe]] = {
    "mushroom": {
        "naive_bayes(), which is Categorical(1)": always(naive_bayes()),
        "Categorical(alpha=0.1)": always(BayesClassifier(Categorical(0.1))),
        "Categorical(alpha=1e-3)": always(BayesClassifier(Categorical(1e-3))),
        "Categorical(alpha=1e-6)": always(BayesClassifier(SHARP)),
        "the same on columns chosen in every fold": few_columns,
    },
    "adult": {
        "naive_bayes()": always(naive_bayes()),
        "all numbers Gaussian": always(naive_bayes(counts=Gaussian("diag"))),
        "all numbers with kernels": always(kernel_bayes()),
        "all numbers in histograms": always(naive_bayes(counts=HISTOGRAM, numbers=HISTOGRAM)),
        "all numbers by value": always(naive_bayes(counts=Categorical(), numbers=Categorical())),
        "sums by value": always(naive_bayes(by_value(*SUMS))),
        "sums by value, others with kernels": always(naive_bayes(by_value(*SUMS), counts=KERNEL)),
        "without repeated columns": always(naive_bayes(AGAIN)),
        "without them, numbers by value": always(naive_bayes(CHOSEN)),
        "without them, sums by value, kernels": always(naive_bayes(SMOOTH, counts=KERNEL)),
        "the same, calibrated by isotonic steps": always(
            BayesClassifier(
                FromClassifier(
                    CalibratedClassifierCV(
                        naive_bayes(SMOOTH, counts=KERNEL), method="isotonic", cv=5
                    )
                )
            )
        ),
    },
}

#: Accuracies to reach: of plain naive Bayes, and of a density put together from the pieces.
STATED = {"mushroom": (0.953, 0.995), "adult": (0.827, 0.84)}


def folds(recipe: Recipe, X: Any, y: np.ndarray) -> Iterator[Any]:
    """Evaluations of the folds."""
    for fit, test in FOLDS.split(X, y):
        fitted = recipe(X.iloc[fit], y[fit]).fit(X.iloc[fit], y[fit])
        yield evaluate(fitted, X.iloc[test], y[test])


def tell_why(X: Any, y: np.ndarray) -> None:
    """What outvotes the odour of the mushrooms that plain naive Bayes is wrong about."""
    wrong, evidence, odour = [], [], list(X.columns).index("odor")
    for fit, test in FOLDS.split(X, y):
        clf = naive_bayes().fit(X.iloc[fit], y[fit])
        edible, poisonous = np.searchsorted(clf.classes_, ["edible", "poisonous"])
        terms = clf.contributions(X.iloc[test])
        evidence.append(terms[:, poisonous] - terms[:, edible])
        wrong.append(clf.predict(X.iloc[test]) != y[test])
    order = np.concatenate([test for _, test in FOLDS.split(X, y)])
    X, y = X.iloc[order], y[order]
    missed = np.concatenate(wrong)
    safe = set(X["odor"][y == "edible"])
    tainted = missed & (y == "poisonous") & ~X["odor"].isin(safe).to_numpy()
    terms = np.concatenate(evidence)[tainted]
    print(
        f"\n  Plain naive Bayes is wrong about {missed.sum()} mushrooms. It takes "
        f"{(missed & (y == 'poisonous')).sum()} poisonous ones for\n  edible; {tainted.sum()} of "
        f"them smell as no edible one does. The odour adds {terms[:, odour].mean():+.1f} to their "
        f"log odds,\n  the other {terms.shape[1] - 1} columns, which say much the same things "
        f"several times over, {np.delete(terms, odour, axis=1).sum(axis=1).mean():+.1f}.\n  "
        "Hardly smoothed, the odour rules edible out; on fewer columns, less is said twice."
    )


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


def tried(title: str, recipe: Recipe, X: Any, y: np.ndarray) -> tuple[tuple[float, ...], Any]:
    """Print the figures of a rule; return them with the calibration in the first fold."""
    found = list(folds(recipe, X, y))
    label = found[0].classes.tolist()[-1]
    figures = (
        float(np.mean([part.accuracy for part in found])),
        float(np.mean([part.log_loss for part in found])),
        float(np.mean([error(part.calibration[label]) for part in found])),
    )
    print("  {:<40}{:9.4f}{:10.4f}{:19.4f}".format(title, *figures), flush=True)
    return figures, found[0].calibration[label]


TITLE = "Naive Bayes on real tables: what was tried, and what came of it"


def fill(page: Page, full: bool) -> None:
    """There is no shorter form."""
    page.text(
        "Five folds, stratified and shuffled; missing cells are left missing. Stated are the "
        "figures that plain naive Bayes is known to reach, and those to reach with densities of "
        "one's choice."
    )
    page.transcript(show)


def show() -> None:
    """Print a table for each set."""
    for name, recipes in TRIED.items():
        try:
            data = datasets.load(name, frame="pandas")
        except FileNotFoundError as missing:
            print(f"{name}: left out. {missing}")
            continue
        print(f"\n{name}: {len(data.y):,} rows, {int(data.X.isna().sum().sum()):,} missing cells")
        print(f"  {'':<40}{'accuracy':>9}{'log loss':>10}{'calibration error':>19}")
        plain, *_ = recipes
        figures: dict[str, tuple[float, ...]] = {}
        if name == "mushroom":
            gaps_told = data.X.astype(object).fillna("?")
            title = "naive_bayes(), a gap being a category"
            figures[title], _ = tried(title, recipes[plain], gaps_told, data.y)
            plain = title
        last = []
        for title, recipe in recipes.items():
            figures[title], table = tried(title, recipe, data.X, data.y)
            last.append((title, table))
        best = max(figures, key=lambda title: figures[title][0])
        for what, goal, title in zip(("plain", "best"), STATED[name], (plain, best), strict=True):
            print(f"  {what:<6} stated {goal:.3f}, found {figures[title][0]:.4f}: {title}")
        if name == "mushroom":
            tell_why(data.X, data.y)
        else:
            for title, table in (last[0], *last[-2:]):
                show_calibration(title, table)
