"""Kernels, histograms and neighbours on the course's examples and on real sets, beside others.

Every rule is tuned by cross-validation on training rows only, over the same grid as its peer. Takes
some minutes.

    python -m reproduce kernels
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KernelDensity, KNeighborsClassifier

from bayesrule import (
    BayesClassifier,
    DensityEstimate,
    Histogram,
    Kernel,
    Neighbors,
    datasets,
    evaluate,
    recipes,
)
from reproduce.page import Page

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


class PeerKernels(ClassifierMixin, BaseEstimator):
    """scikit-learn's kernel density per class, and its decision."""

    def __init__(self, bandwidth: float = 1.0):
        self.bandwidth = bandwidth

    def fit(self, X: Any, y: Any) -> PeerKernels:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.log_priors_ = np.log(counts / len(y))
        make = KernelDensity(bandwidth=self.bandwidth, rtol=1e-4)
        self.densities_ = [clone(make).fit(X[y == label]) for label in self.classes_]
        return self

    def predict(self, X: Any) -> np.ndarray:
        scores = [density.score_samples(X) for density in self.densities_]
        return self.classes_[(np.array(scores).T + self.log_priors_).argmax(axis=1)]


NEIGHBOURS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 21, 30, 42, 60]


def rivals(widths: list[float], folds: Any = FOLDS) -> dict[str, Any]:
    """Rules and their grids; ours hold their peer's grid, and what the peer has not."""
    return {
        "KernelDensity per class": GridSearchCV(PeerKernels(), {"bandwidth": widths}, cv=folds),
        "Kernel": GridSearchCV(
            BayesClassifier(Kernel()),
            [
                {"density__bandwidth": widths, "density__adaptive": [False, True]},
                {"density__bandwidth": ["silverman", "cv_likelihood"]},
            ],
            cv=folds,
        ),
        "KNeighborsClassifier": GridSearchCV(
            KNeighborsClassifier(),
            {"n_neighbors": NEIGHBOURS, "weights": ["uniform", "distance"]},
            cv=folds,
        ),
        "Neighbors": GridSearchCV(
            BayesClassifier(Neighbors()),
            {"density__k": NEIGHBOURS, "density__weights": ["uniform", "distance"]},
            cv=folds,
        ),
        "Neighbors, more metrics": GridSearchCV(
            BayesClassifier(Neighbors()),
            {
                "density__k": [NEIGHBOURS],  # one of them, by rows left out, in one search
                "density__weights": ["uniform", "distance"],
                "density__metric": ["euclidean", "standardised", "within", "lda"],
            },
            cv=folds,
        ),
    }


def told(search: Any) -> str:
    """What a search chose; of a list, what the rule itself chose of it."""
    chosen = {name.removeprefix("density__"): v for name, v in search.best_params_.items()}
    if isinstance(chosen.get("k"), list):
        chosen["k"] = search.best_estimator_.density_.k
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in chosen.items()
    )


# ---------------------------------------------------------------------- the course


def exercise() -> None:
    """p(3), p(10) and p(15) by windows of width four."""
    X = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])[:, None]
    found = DensityEstimate(Kernel("square", 4)).fit(X).score_samples([[3.0], [10.0], [15.0]])
    print("the exercise: p(3), p(10), p(15) =", *np.exp(found).round(6))


#: Two classes that no single bandwidth suits: weight, mean and deviation of round Gaussians.
WORLD = {
    "circle": [(0.6, (0.0, 0.0), 0.35), (0.4, (3.0, 3.0), 1.5)],
    "cross": [(0.6, (0.9, 0.9), 0.35), (0.4, (-2.0, 2.5), 1.5)],
}


def density_of(label: str, X: np.ndarray) -> np.ndarray:
    """The true density of a class."""
    parts = [w * multivariate_normal(m, s**2).pdf(X) for w, m, s in WORLD[label]]
    return np.sum(parts, axis=0)


def drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both classes, equally many."""
    rng = np.random.default_rng(seed)
    rows = []
    for parts in WORLD.values():
        which = rng.choice(len(parts), n // 2, p=[w for w, _, _ in parts])
        means = np.array([m for _, m, _ in parts])[which]
        spread = np.array([s for _, _, s in parts])[which, None]
        rows.append(means + spread * rng.normal(size=(n // 2, 2)))
    return np.concatenate(rows), np.repeat(list(WORLD), n // 2)


def two_classes(figure: str | None) -> None:
    """The course's picture: h = 0.5 and 2, and bandwidths that are chosen."""
    print("\ntwo classes of 100 rows, dense in one place and sparse in another; means of 20 draws")
    rules: dict[str, Any] = {
        "h = 0.5": recipes.parzen(0.5),
        "h = 2": recipes.parzen(2.0),
        "bandwidth='gain'": recipes.parzen("gain"),
        "bandwidth='gain', adaptive": recipes.parzen("gain", adaptive=True),
        **rivals(np.geomspace(0.1, 3.0, 12).tolist(), StratifiedKFold(5)),
    }
    X_new, y_new = drawn(20_000, 1000)
    best = np.where(density_of("circle", X_new) >= density_of("cross", X_new), *WORLD)
    scores = {
        name: [clone(rule).fit(*drawn(200, seed)).score(X_new, y_new) for seed in range(20)]
        for name, rule in rules.items()
    }
    for name, found in scores.items():
        print(f"  {name:<28} {np.mean(found):.4f} ± {np.std(found) / np.sqrt(20):.4f}", flush=True)
    print(f"  {'the true densities':<28} {np.mean(best == y_new):.4f}")
    if figure:
        draw(figure)


def draw(path: str) -> None:
    """The regions of narrow, wide and chosen bumps, one beside the other."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from bayesrule.displays import DecisionRegionDisplay

    X, y = drawn(200, 0)
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained", sharey=True)
    shown = {
        "h = 0.5": recipes.parzen(0.5),
        "h = 2": recipes.parzen(2.0),
        "chosen by the gain, adaptive": recipes.parzen("gain", adaptive=True),
    }
    for ax, (name, rule) in zip(axes, shown.items(), strict=True):
        display = DecisionRegionDisplay.from_estimator(
            rule.fit(X, y), X, y, ax=ax, legend=ax is axes[-1]
        )
        display.ax_.set_title(name, loc="left")
    figure.savefig(path, dpi=110)


# ---------------------------------------------------------------------- real sets


def satimage() -> None:
    """The fixed split: 4,435 rows to learn from, 2,000 to be judged by."""
    data = datasets.load("satimage", frame="pandas")
    X, y = data.X.to_numpy(float), np.asarray(data.y)
    train, test = slice(0, 4435), slice(4435, None)
    print("\nsatimage, 4,435 rows to learn from and 2,000 to be judged by")
    print(f"  {'':<26} {'folds':>7} {'test':>7}  chosen")
    widths = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0]
    for name, search in rivals(widths).items():
        search.fit(X[train], y[train])
        score = search.score(X[test], y[test])
        print(f"  {name:<26} {search.best_score_:7.4f} {score:7.4f}  {told(search)}", flush=True)
    print("\n  thinned rows, the nearest of them decides; three others judge a row in editing")
    for thinning in (
        {},
        {"edited": True},
        {"condensed": True},
        {"edited": True, "condensed": True},
    ):
        rule = BayesClassifier(Neighbors(1, **thinning)).fit(X[train], y[train])
        report = rule.log_density_.thinning
        kept = 4435 if report is None else report.kept
        name = " and ".join(thinning) or "all"
        print(f"    {name:<22} {kept:5} rows, test {rule.score(X[test], y[test]):.4f}", flush=True)


def abalone() -> None:
    """Five groups of rings; an outer round of folds judges what the inner one chose."""
    data = datasets.load("abalone_5class", frame="pandas")
    X, y = data.X.select_dtypes("number").to_numpy(float), np.asarray(data.y)
    print("\nabalone in five classes, its numbers; ten outer folds, five within")
    widths = np.geomspace(0.01, 0.3, 10).tolist()
    outer = StratifiedKFold(10, shuffle=True, random_state=1)
    for name, search in rivals(widths).items():
        scores = [
            clone(search).fit(X[fit], y[fit]).score(X[test], y[test])
            for fit, test in outer.split(X, y)
        ]
        error = np.std(scores) / np.sqrt(len(scores))
        print(f"  {name:<26} {np.mean(scores):.4f} ± {error:.4f}", flush=True)


SETS = [
    "iris",
    "wine",
    "breast_cancer_wdbc",
    "pima_diabetes",
    "heart_cleveland",
    "raisin",
    "glass",
    "ionosphere",
    "ecoli",
    "breast_cancer_wisconsin_original",
    "abalone_5class",
    "framingham",
    "spambase",
    "satimage",
    "adult",
]
#: What numeric columns get in naive Bayes, whole numbers too.
COLUMNS: dict[str, Callable[[], Any]] = {
    "by default": lambda: None,
    "Kernel, silverman": lambda: Kernel(bandwidth="silverman", joint=False),
    "Kernel, sj": lambda: Kernel(bandwidth="sj", joint=False),
    "Histogram, doane": lambda: Histogram("doane"),
    "Histogram, fd": lambda: Histogram("fd"),
    "Histogram, blocks": lambda: Histogram("blocks"),
}


def naive() -> None:
    """Naive Bayes with bells, kernels and histograms: accuracy and log loss."""
    print("\nnaive Bayes, five folds: accuracy, and mean log loss")
    print("  " + " " * 33 + "".join(f"{name:>20}" for name in COLUMNS))
    totals = []
    for name in SETS:
        data = datasets.load(name, frame="pandas")
        X, y = data.X, np.asarray(data.y)
        if len(y) > 15_000:
            some = np.random.default_rng(0).permutation(len(y))[:15_000]
            X, y = X.iloc[some], y[some]
        found = []
        for make in COLUMNS.values():
            rule = recipes.naive_bayes(numbers=make(), counts=make())
            parts = [
                evaluate(clone(rule).fit(X.iloc[fit], y[fit]), X.iloc[test], y[test])
                for fit, test in FOLDS.split(X, y)
            ]
            figures = [(part.accuracy, part.log_loss) for part in parts]
            found.append(np.mean(figures, axis=0))
        totals.append(found)
        cells = "".join(f"{accuracy:12.3f} {loss:7.3f}" for accuracy, loss in found)
        print(f"  {name:<33}{cells}", flush=True)
    cells = "".join(f"{accuracy:12.3f} {loss:7.3f}" for accuracy, loss in np.mean(totals, axis=0))
    print(f"  {'mean':<33}{cells}")


TITLE = "Kernels, histograms and neighbours, tuned likewise beside others"


REAL = {
    "Satellite images": satimage,
    "Rings of abalones": abalone,
    "Naive Bayes with bells, kernels and histograms": naive,
}


def fill(page: Page, full: bool) -> None:
    """The course's examples; the real sets too where there is time."""
    page.text(
        "Every rule is tuned by cross-validation on training rows only, over the same grid as its "
        "peer in scikit-learn."
    )
    page.heading("The course's examples")
    page.transcript(exercise)
    with tempfile.TemporaryDirectory() as folder:
        drawn = os.path.join(folder, "two_classes.png")
        page.transcript(partial(two_classes, drawn))
        page.keep(drawn, "Two classes, and the regions that kernels and neighbours decide.")
    for title, part in REAL.items() if full else ():
        page.heading(title)
        page.transcript(part, part.__name__)
