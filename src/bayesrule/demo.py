"""The main job on real data: breast cancer screening with unequal costs and a way to refer.

A missed cancer costs far more than a needless biopsy, and a doubtful case can be referred to a
specialist at a price. Three models are fitted; each decides once by its most probable class and
once by highest expected gain. Run it with ``python -m bayesrule.demo [folder]``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

#: What each decision is worth, in hundreds of euros.
GAIN = {
    "malignant": {"malignant": 20, "benign": -100},
    "benign": {"malignant": -20, "benign": 0},
}

#: A specialist finds out, a little later and at a price.
REFER = {"malignant": 15, "benign": -3}

REPEATS, FOLDS = 3, 5


def gain_matrix() -> dict[str, dict[str, float]]:
    """The gain with its third decision."""
    from bayesrule import with_action

    gain: dict[str, dict[str, float]] = with_action(GAIN, "refer", REFER)
    return gain


def models() -> dict[str, Any]:
    """Three classifiers under the same gain: ours, and two of scikit-learn's."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bayesrule import BayesClassifier, FromClassifier, Gaussian

    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    boosting = HistGradientBoostingClassifier(random_state=0)
    gain = gain_matrix()
    return {
        "Gaussian": BayesClassifier(Gaussian("tied"), gain=gain),
        "Logistic": BayesClassifier(FromClassifier(logistic), gain=gain),
        "Boosting": BayesClassifier(FromClassifier(boosting), gain=gain),
    }


def out_of_fold_decisions(
    X: Any, y: np.ndarray, progress: Any
) -> dict[tuple[str, str], np.ndarray]:
    """Decisions about rows that were not fitted, by model and rule, one column per repeat."""
    from sklearn.model_selection import StratifiedKFold
    from threadpoolctl import threadpool_limits

    decided: dict[tuple[str, str], np.ndarray] = {}
    # Hundreds of tiny trees: threads that wait for each other would take most of the time, and on
    # a machine with other work ten times as much.
    with threadpool_limits(1, user_api="openmp"):
        for repeat in range(REPEATS):
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
            for train, test in folds.split(X, y):
                for name, clf in models().items():
                    clf.fit(X[train], y[train])
                    rules = {"highest gain": clf, "most probable": clf.with_rule(gain=None)}
                    for rule, model in rules.items():
                        table = decided.setdefault(
                            (name, rule), np.empty((len(y), REPEATS), dtype=object)
                        )
                        table[test, repeat] = model.predict(X[test])
                progress()
    return decided


def gains_with_limits(y: np.ndarray, decisions: np.ndarray) -> tuple[float, float, float]:
    """Expected gain per case and its 95 % limits; a row's gain is its mean over the repeats."""
    from bayesrule.intervals import mean_limits, mixture_limits

    gain = gain_matrix()
    worth = np.array([[gain[t][d] for d in row] for t, row in zip(y, decisions, strict=True)])
    per_row = worth.mean(axis=1)
    classes = np.unique(y)
    priors = np.array([np.mean(y == k) for k in classes])
    means = np.array([per_row[y == k].mean() for k in classes])
    limits = np.array(
        [
            mean_limits(
                per_row[y == k],
                np.ones(int(np.sum(y == k))),
                min(gain[k].values()),
                max(gain[k].values()),
                0.95,
            )
            for k in classes
        ]
    )
    low, high = mixture_limits(priors, means, limits)
    return float(priors @ means), low, high


def draw(X: Any, y: np.ndarray, names: list[str], folder: Path) -> list[Path]:
    """Three pictures of the fitted rule."""
    from bayesrule import BayesClassifier, Gaussian, evaluate
    from bayesrule.displays import ConfusionDisplay, DecisionRegionDisplay, GainCurveDisplay
    from bayesrule.displays.style import pyplot

    plt = pyplot()
    plt.switch_backend("Agg")
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    clf = models()["Gaussian"].fit(X[train], y[train])
    pictures = []

    def keep(display: Any, name: str) -> None:
        path = folder / name
        display.figure_.savefig(path, dpi=150, bbox_inches="tight")
        plt.close(display.figure_)
        pictures.append(path)

    two = [names.index("mean concave points"), names.index("worst perimeter")]
    small = BayesClassifier(Gaussian("full"), gain=gain_matrix()).fit(_frame(X, names, two), y)
    keep(DecisionRegionDisplay.from_estimator(small, _frame(X, names, two), y), "regions.png")
    keep(
        GainCurveDisplay.from_estimator(clf, X[test], y[test], prior_of="malignant"),
        "gain_by_prevalence.png",
    )
    figures = evaluate(clf, X[test], y[test])
    keep(ConfusionDisplay.from_evaluation(figures), "confusion.png")
    return pictures


def _frame(X: Any, names: list[str], columns: list[int]) -> Any:
    """Some columns with their names, in a frame that needs no further library."""
    import pyarrow as pa

    return pa.table({names[j]: X[:, j] for j in columns})


def main(folder: str | Path = "demo") -> None:
    """Fit, compare, print, draw and save."""
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
    from sklearn.datasets import load_breast_cancer

    from bayesrule import load, save
    from bayesrule.notices import BayesRuleWarning

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    data = load_breast_cancer()
    X, names = data.data, [str(name) for name in data.feature_names]
    y = data.target_names[data.target]
    gain = gain_matrix()
    console.print(
        f"[bold]Breast cancer screening[/bold]: {len(y)} cases, {X.shape[1]} measurements, "
        f"{np.mean(y == 'malignant'):.0%} malignant.\n"
        "Worth of each decision, in hundreds of euros:"
    )
    worth = Table("true \\ decision", *gain["benign"])
    for true, row in gain.items():
        worth.add_row(true, *(f"{value:+.0f}" for value in row.values()))
    console.print(worth)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        with Progress(console=console, transient=True) as bar:
            job = bar.add_task("Cross-validating three models", total=REPEATS * FOLDS)
            decided = out_of_fold_decisions(X, y, lambda: bar.advance(job))
    table = Table(
        "model",
        "decides by",
        title=f"Gain per 100 cases, {REPEATS} x {FOLDS}-fold cross-validation",
        caption="missed: cancers called benign; needless: benign cases treated; all per 100 cases",
    )
    for heading in ("gain [95 %]", "missed", "needless", "referred"):
        table.add_column(heading, justify="right", no_wrap=True)
    results = {key: gains_with_limits(y, rows) for key, rows in decided.items()}
    best = max(results, key=lambda key: results[key][0])
    for (name, rule), (value, low, high) in results.items():
        rows = decided[name, rule]
        ill = (y == "malignant")[:, None]
        per_100 = 100.0 / rows.size
        table.add_row(
            name,
            rule,
            f"{100 * value:.0f} [{100 * low:.0f}, {100 * high:.0f}]",
            f"{per_100 * np.sum(ill & (rows == 'benign')):.2f}",
            f"{per_100 * np.sum(~ill & (rows == 'malignant')):.2f}",
            f"{per_100 * np.sum(rows == 'refer'):.1f}",
            style="bold green" if (name, rule) == best else None,
        )
    console.print(table)

    clf = models()["Gaussian"].fit(X, y)
    path = folder / "screening.bayes"
    save(clf, path)
    same = np.array_equal(load(path).predict_proba(X), clf.predict_proba(X))
    console.print(
        f"Model file: {path} ({path.stat().st_size / 1024:.0f} KiB), "
        f"{'read back with equal bits' if same else 'READ BACK DIFFERENTLY'}."
    )
    try:
        pictures = draw(X, y, names, folder)
    except ImportError as error:
        console.print(f"No pictures: {error}")
    else:
        console.print("Pictures: " + ", ".join(str(picture) for picture in pictures) + ".")


if __name__ == "__main__":
    main(*sys.argv[1:2])
