"""Several models on the same rows: cross-validated expected gain, and who is behind by how much.

All models decide the same rows, so the difference between two of them is known far better than
either gain: it is taken row by row, and has an interval of its own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing

from bayesrule.evaluation import accuracy_of, gain_interval
from bayesrule.memberships import read_target
from bayesrule.progress import progress
from bayesrule.summary import aligned, in_column, plain_values
from bayesrule.valuation import Valuation, read_truth, value_classifier


@dataclass(frozen=True)
class Compared:
    """Cross-validated figures of one model.

    Attributes
    ----------
    name : str
    expected_gain : float
    interval : tuple of two floats
    accuracy : float
        Share of the rows, weighted to the stated priors, whose decision is the true class.
    behind : float
        Expected gain less than the best model's; zero for the best.
    behind_interval : tuple of two floats
        Limits of that difference, row by row.
    seconds : float
        Mean time of one fit and one prediction of a fold.
    """

    name: str
    expected_gain: float
    interval: tuple[float, float]
    accuracy: float
    behind: float
    behind_interval: tuple[float, float]
    seconds: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models in the order of their expected gain, the best first.

    Attributes
    ----------
    models : tuple of Compared
    n : int
        Rows.
    folds, repeats : int
    confidence : float
    """

    models: tuple[Compared, ...]
    n: int
    folds: int
    repeats: int
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain Python values, ready for JSON."""
        plain: dict[str, Any] = {
            name: plain_values(getattr(self, name)) for name in ("n", "folds", "repeats")
        }
        plain["confidence"] = self.confidence
        plain["models"] = [
            {name: plain_values(figure) for name, figure in vars(model).items()}
            for model in self.models
        ]
        return plain

    def to_frame(self) -> Any:
        """One row per model, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame([vars(model) for model in self.models]).set_index("name")

    def __str__(self) -> str:
        level = f"{100 * self.confidence:g} %"
        money = in_column([m.expected_gain for m in self.models])
        low = in_column([m.interval[0] for m in self.models])
        high = in_column([m.interval[1] for m in self.models])
        # Decisions that are no classes are neither right nor wrong.
        judged = not all(np.isnan(model.accuracy) for model in self.models)
        header = ["model", "expected gain", f"{level} interval", "behind", level]
        table = [[*header, *(["accuracy"] if judged else []), "s"]]
        for model, gain, lower, upper in zip(self.models, money, low, high, strict=True):
            behind = f"{model.behind_interval[0]:.4g} to {model.behind_interval[1]:.4g}"
            best = model is self.models[0]
            table.append(
                [
                    model.name,
                    gain,
                    f"{lower} to {upper}",
                    "best" if best else f"{model.behind:.4g}",
                    "" if best else behind,
                    *([f"{model.accuracy:.4f}"] if judged else []),
                    f"{model.seconds:.2g}",
                ]
            )
        folds = f"{self.repeats} x {self.folds}" if self.repeats > 1 else f"{self.folds}"
        title = f"Comparison on {self.n:,} rows, {folds}-fold cross-validation"
        return "\n".join([title, *aligned(table)])

    __repr__ = __str__


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    gain: Any = None,
    priors: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    repeats: int = 1,
    random_state: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """Compare models by the expected gain of their decisions about rows they were not fitted on.

    Parameters
    ----------
    models : dict {name: classifier}
        Ours or scikit-learn's. They are cloned, never fitted themselves.
    X : array or frame of shape (n, D)
    y : array of n labels
    gain : None, array, DataFrame or nested dict
        What decisions are worth. None is the models' own gain, which must then be the same.
    priors : None, "uniform", array of shape (K,) or dict
        Chances of the classes where the decisions will be made; None is the class shares of ``y``.
    sample_weight : array of n numbers, default=None
        Counts in the fits of those models that take it by that name, and in the figures.
    cv : int or splitter, default=5
        A number of folds is stratified and shuffled.
    repeats : int, default=1
        How often to deal the folds anew. A row's gain is its mean over the repeats.
    random_state : int, default=0
    confidence : float, default=0.95

    Returns
    -------
    Comparison

    Notes
    -----
    The intervals take the rows as a random sample and the models of the folds as given; they do not
    know how much another training set would have changed a model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bayesrule import compare, recipes
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"lda": recipes.lda(), "tree": DecisionTreeClassifier(random_state=0)}
    >>> [model.name for model in compare(models, X, y).models]
    ['lda', 'tree']
    """
    if not isinstance(models, Mapping) or not models:
        raise ValueError(f"models={models!r} must be a dict {{name: classifier}} of one at least.")
    if not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats={repeats!r} must be a whole number from 1 on.")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, for example 0.95.")
    found = read_target(y)
    if found.codes is None:
        raise ValueError("compare needs one label per row in y: soft labels cannot be stratified.")
    labels = found.classes[found.codes]
    gained: dict[str, list[Valuation]] = {name: [] for name in models}
    seconds = dict.fromkeys(models, 0.0)
    n_splits = 0
    with progress("Comparing") as meter:
        for repeat in range(repeats):
            splits = list(_splitter(cv, found.codes, random_state + repeat).split(labels, labels))
            n_splits = len(splits)
            meter.total = repeats * n_splits * len(models)
            decided = {name: np.empty(len(labels), dtype=object) for name in models}
            fitted = {}
            for train, test in splits:
                for name, model in models.items():
                    since = time.perf_counter()
                    try:
                        fitted[name] = _fitted(model, X, labels, sample_weight, train)
                        made = fitted[name].predict(_safe_indexing(X, test))
                    except Exception as error:
                        # What the data lack for one model, others may do without.
                        error.add_note(f"That was the model {name!r}.")
                        raise
                    decided[name][test] = np.asarray(made, dtype=object)
                    seconds[name] += time.perf_counter() - since
                    meter.advance(note=name)
            for name, clf in fitted.items():
                truth = read_truth(labels, sample_weight, clf.classes_)
                stated = "empirical" if priors is None else priors
                gained[name].append(
                    value_classifier(clf, truth, decided[name].tolist(), stated, gain)
                )
    means = {name: _mean(rounds) for name, rounds in gained.items()}
    _check_alike(means)
    best = max(means, key=lambda name: means[name].expected_gain)
    rows = [
        _figures(name, judged, means[best], seconds[name] / (repeats * n_splits), confidence)
        for name, judged in means.items()
    ]
    rows.sort(key=lambda row: -row.expected_gain)
    return Comparison(tuple(rows), len(labels), n_splits, repeats, confidence)


def _splitter(cv: Any, codes: np.ndarray, seed: int) -> Any:
    """Stratified folds dealt with a seed, or the user's own splitter."""
    if not isinstance(cv, int):
        return check_cv(cv, codes, classifier=True)
    rarest = int(np.bincount(codes).min())
    if cv < 2 or rarest < cv:
        raise ValueError(
            f"cv={cv} folds need at least 2 folds and a row of every class in each, but the "
            f"rarest class has {rarest} rows. Use cv={max(rarest, 2)} or fewer, or leave rare "
            "classes out."
        )
    return StratifiedKFold(cv, shuffle=True, random_state=seed)


def _fitted(model: Any, X: Any, labels: np.ndarray, sample_weight: Any, train: np.ndarray) -> Any:
    """A clone fitted on some rows."""
    given = {}
    if sample_weight is not None:
        given["sample_weight"] = np.asarray(sample_weight)[train]
    return clone(model).fit(_safe_indexing(X, train), labels[train], **given)


def _mean(rounds: list[Valuation]) -> Valuation:
    """One valuation whose gains are the means over the repeats."""
    parts = ("gained", "counts", "class_gains", "class_risks")
    means = {part: np.mean([getattr(r, part) for r in rounds], axis=0) for part in parts}
    return replace(rounds[0], **means)


def _check_alike(means: dict[str, Valuation]) -> None:
    """Refuse to compare gains in different currencies."""
    (first, one), *others = means.items()
    for name, other in others:
        mine = dict(zip(one.decisions.tolist(), one.gain.T.tolist(), strict=True))
        theirs = dict(zip(other.decisions.tolist(), other.gain.T.tolist(), strict=True))
        if any(mine[d] != theirs[d] for d in mine.keys() & theirs.keys()):
            raise ValueError(
                f"The models {first!r} and {name!r} have different gains. State gain=, at which "
                "the decisions of all are valued."
            )


def _figures(
    name: str, judged: Valuation, best: Valuation, seconds: float, confidence: float
) -> Compared:
    """Figures of one model beside the best one."""
    there = best.class_gains - judged.class_gains
    reach = best.limits[:, ::-1] - judged.limits  # best at its highest against this at its lowest
    difference = replace(
        judged,
        gained=best.gained - judged.gained,
        class_gains=there,
        limits=np.column_stack([reach.min(axis=1), reach.max(axis=1)]),
    )
    confusion = judged.priors[:, None] * judged.counts
    confusion /= np.maximum(judged.counts.sum(axis=1), 1e-300)[:, None]
    return Compared(
        name,
        judged.expected_gain,
        gain_interval(judged, confidence),
        accuracy_of(confusion, judged.decisions, judged.classes),
        best.expected_gain - judged.expected_gain,
        (0.0, 0.0) if judged is best else gain_interval(difference, confidence),
        seconds,
    )
