"""What displays read from estimators and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from bayesrule.memberships import Memberships, places, read_target
from bayesrule.pricing import deciding_estimator
from bayesrule.valuation import listed


def chosen_estimator(estimator: Any) -> Any:
    """The estimator that a search refitted, or the estimator itself."""
    estimator = deciding_estimator(estimator)
    check_is_fitted(estimator)
    return estimator


def final_rule(estimator: Any) -> Any:
    """The fitted rule: the estimator itself, or the last step of a pipeline."""
    rule = estimator[-1] if hasattr(estimator, "named_steps") else estimator
    if not hasattr(rule, "log_density"):
        raise TypeError(
            f"The display needs a fitted BayesClassifier, or a pipeline that ends in one, but got "
            f"{type(rule).__name__}. BayesClassifier(FromClassifier(...)) makes a rule of any "
            "scikit-learn classifier."
        )
    check_is_fitted(rule)
    return rule


def as_rule_sees(estimator: Any, X: Any) -> Any:
    """X after the steps of a pipeline that come before the rule."""
    if hasattr(estimator, "named_steps") and len(estimator) > 1:
        return estimator[:-1].transform(X)
    return X


def place_of(label: Any, labels: np.ndarray, kind: str) -> int:
    """Place of a class or decision among its likes."""
    known = labels.tolist()
    if label not in known:
        raise ValueError(f"{label!r} is no {kind}; choose one of {known}.")
    return known.index(label)


def codes_of(answers: Any, labels: np.ndarray) -> np.ndarray:
    """Place of each answer among the labels, which need not have an order."""
    known = {label: i for i, label in enumerate(labels.tolist())}
    answers = listed(answers)
    missing = [a for a in answers if a not in known]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(answers)} answers are not among {labels.tolist()}, "
            f"for example {missing[0]!r}."
        )
    return np.array([known[a] for a in answers], dtype=np.intp)


def increasing(values: Any) -> np.ndarray:
    """Values that a user states for an axis, sorted."""
    numbers = np.unique(np.asarray(values, dtype=float))
    if len(numbers) < 2 or not np.isfinite(numbers).all():
        raise ValueError(
            f"values must hold at least two different numbers, all finite; got {len(numbers)}."
        )
    return numbers


def memberships_in(classes: np.ndarray, y: Any, n_rows: int, sample_weight: Any) -> Memberships:
    """True classes of the rows, as hard or soft labels, among the given classes."""
    found = read_target(y)
    if len(found) != n_rows:
        raise ValueError(f"There are {n_rows} rows, but y has {len(found)}.")
    known = among_known(found, classes)
    if sample_weight is None:
        return known
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"sample_weight must hold {n_rows} finite numbers, none negative; it has shape "
            f"{weights.shape}."
        )
    return Memberships(known.classes, known.codes, known.degrees, weights)


def among_known(found: Memberships, classes: np.ndarray) -> Memberships:
    """Memberships in the given classes, which must be all there are."""
    where = places(found.classes, classes)
    if (where < 0).any():
        stranger = found.classes.tolist()[int(np.argmax(where < 0))]
        raise ValueError(
            f"y has class {stranger!r}, which is not among the classes {classes.tolist()}."
        )
    return found.among(classes, where)


def true_codes(classes: np.ndarray, y: Any, X: Any) -> np.ndarray:
    """Class of each row; the likeliest one where labels are soft."""
    known = memberships_in(classes, y, _num_samples(X), None)
    if known.degrees is not None:
        return known.degrees.argmax(axis=1)
    assert known.codes is not None
    return known.codes


def change_points(
    label_of: Callable[[np.ndarray], np.ndarray], points: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Where labels change between neighbouring points, found by halving to the last few bits."""
    where = np.flatnonzero(labels[1:] != labels[:-1])
    low, high, before = points[where], points[where + 1], labels[where]
    for _ in range(45 if len(where) else 0):
        middle = 0.5 * (low + high)
        same = np.asarray(label_of(middle) == before, dtype=bool)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)
