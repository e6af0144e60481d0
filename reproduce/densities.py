"""Which density when: all families on all real sets, beside strong classifiers of scikit-learn.

Stratified five-fold cross-validation, the same folds for all. Nothing is tuned on the test part:
recipes run as they come, and so do the peers. Sets that a family cannot take (text for a Gaussian)
are left blank.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import datasets, recipes
from bayesrule.displays.style import pyplot
from bayesrule.progress import progress
from reproduce.page import Page

TITLE = "Which density when: results on the real data sets"

#: Sets of numbers; categories among them become columns of zeros and ones.
NUMERIC = (
    "iris", "wine", "breast_cancer_wdbc", "breast_cancer_wisconsin_original", "pima_diabetes",
    "heart_cleveland", "raisin", "zoo", "glass", "dermatology", "ionosphere", "ecoli",
    "abalone_5class", "framingham", "spambase", "satimage",
)  # fmt: skip
#: Tables with categories or gaps, which only some take as they are.
MIXED = ("mushroom", "adult")
SMALL = 1000

OURS: dict[str, Any] = {
    "Gaussian naive Bayes": recipes.gaussian_nb(),
    "naive Bayes by type": recipes.naive_bayes(),
    "LDA": recipes.lda("auto"),
    "QDA": recipes.qda("auto"),
    "t-QDA": recipes.t_qda(),
    "FEMDA": recipes.femda(),
    "kernels": recipes.kernel_bayes(),
    "neighbours": recipes.knn("cv"),
    "cells": recipes.quantized(),
    "soft profiles": recipes.spdbc(),
    "forest of profiles": recipes.spdbc_forest(),
}
PEERS: dict[str, Any] = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "random forest": RandomForestClassifier(random_state=0),
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
}
#: Takes tables as they are; boosting takes them too, once categories are columns.
BY_TYPE = "naive Bayes by type"
FOR_MIXED = (BY_TYPE, "gradient boosting")


def rows_of(name: str) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """A set as it is, and its complete rows as numbers."""
    data = datasets.load(name, frame="pandas")
    X, y = data.X, data.y
    if name not in MIXED:
        whole = ~X.isna().any(axis=1).to_numpy()
        X, y = X[whole].reset_index(drop=True), y[whole]
    return X, pd.get_dummies(X, dtype=float), y


def judged(model: Any, X: Any, y: np.ndarray) -> tuple[float, float]:
    """Accuracy and log loss out of fold."""
    scores = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = clone(model).fit(X.iloc[train], y[train])
        chances = np.clip(fitted.predict_proba(X.iloc[test]), 1e-15, 1.0)
        right = np.mean(fitted.predict(X.iloc[test]) == y[test])
        loss = log_loss(y[test], chances / chances.sum(1)[:, None], labels=fitted.classes_)
        scores.append((right, loss))
    accuracy, loss = np.mean(scores, axis=0)
    return float(accuracy), float(loss)


def judged_on(name: str, full: bool) -> dict[str, tuple[float, float]]:
    """Accuracy and log loss of each model that can take a set."""
    table, numbers, y = rows_of(name)
    if not full and len(y) > SMALL:
        part = np.random.default_rng(0).permutation(len(y))[:SMALL]
        table, numbers, y = table.iloc[part], numbers.iloc[part], y[part]
    # Classes of fewer rows than folds cannot be in every part.
    labels, counts = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[counts >= 5])
    table, numbers, y = table[kept], numbers[kept], y[kept]
    models = {**OURS, **PEERS}
    taken = FOR_MIXED if name in MIXED else tuple(models)
    return {m: judged(models[m], table if m == BY_TYPE else numbers, y) for m in taken}


def fill(page: Page, full: bool) -> None:
    """Fit all families to all sets."""
    names = [*NUMERIC, *MIXED]
    accuracy = pd.DataFrame(np.nan, names, [*OURS, *PEERS])
    loss = accuracy.copy()
    with progress("fitting", total=len(names)) as meter:
        for name in names:
            meter.advance(note=name)
            found = page.stored(name, partial(judged_on, name, full))
            for model, figures in found.items():
                accuracy.loc[name, model], loss.loc[name, model] = figures
    page.text(
        f"Five folds of {'all rows' if full else f'at most {SMALL:,} rows'}, the same for all; "
        "recipes and peers as they come. Classes of fewer than five rows are left out, and, but "
        "for naive Bayes by type, rows with gaps and columns of text."
    )
    page.picture(heatmap(accuracy), "Accuracy of each family on each set, as a table of colours.")
    page.heading("On the whole")
    page.text(
        "Over the sets of numbers: the mean accuracy, how far behind the best of each set on "
        "average and at most, and how often within a point of it."
    )
    both = accuracy.drop(index=list(MIXED))
    behind = both.rsub(both.max(axis=1), axis=0)
    page.table(
        ["", "mean accuracy", "mean behind the best", "furthest behind", "best or within .01"],
        [
            [m, float(both[m].mean()), float(behind[m].mean()), float(behind[m].max()),
             f"{int((behind[m] <= 0.01).sum())} of {len(both)}"]
            for m in both.mean().sort_values(ascending=False).index
        ],
    )  # fmt: skip
    page.heading("Accuracy")
    as_table(page, accuracy)
    page.heading("Log loss")
    page.text("How good the probabilities are: the mean of -log P(true class). Lower is better.")
    as_table(page, loss)


def as_table(page: Page, figures: pd.DataFrame) -> None:
    """A row for each set."""
    rows = [
        [name, *(None if np.isnan(v) else float(v) for v in values)]
        for name, values in zip(figures.index, figures.to_numpy(), strict=True)
    ]
    page.table(["", *figures.columns], rows)


def heatmap(accuracy: pd.DataFrame) -> Any:
    """Figures on the colour of how far each is behind the best of its row."""
    behind = accuracy.rsub(accuracy.max(axis=1), axis=0)
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(11, 7.5), layout="constrained")
    ax.imshow(behind, cmap="YlOrBr", vmin=0, vmax=0.25, aspect="auto")
    for i, row in enumerate(accuracy.to_numpy()):
        best = np.nanmax(row)
        for j, value in enumerate(row):
            if not np.isnan(value):
                dark = best - value > 0.17
                ax.text(
                    j, i, f"{100 * value:.1f}", ha="center", va="center", fontsize=8.5,
                    color="white" if dark else "#222222",
                    weight="bold" if best - value <= 0.01 else None,
                )  # fmt: skip
    ax.set_xticks(range(accuracy.shape[1]), accuracy.columns, rotation=40, ha="right")
    ax.set_yticks(range(accuracy.shape[0]), [name.replace("_", " ") for name in accuracy.index])
    ax.axvline(len(OURS) - 0.5, color="#333333", lw=1.5)
    ax.set_title("accuracy in %; bold: within one point of the best; darker: further behind",
                 fontsize=10, loc="left")  # fmt: skip
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return figure
