"""What decisions are valued at: gains lined up with decisions by name, and stated priors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesrule.gains import as_labels, resolve_gain, row_gains
from bayesrule.memberships import places
from bayesrule.notices import AbsentClassWarning
from bayesrule.priors import given_priors
from bayesrule.stats import spread_rows


def array_dimensions(gain: Any) -> int:
    """Dimensions of a gain that is a bare array; 0 for None and for one that names its columns."""
    if hasattr(gain, "columns") or hasattr(gain, "column_names"):
        return 0
    try:
        return np.ndim(gain)
    except ValueError as error:
        raise ValueError(f"gain must hold numbers, one row per class: {error}.") from None


def price(
    gain: Any, classes: np.ndarray, decisions: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Gains as (1, K, A), or (n, K, A) where they differ from row to row, and their A names.

    An array names nothing. The columns of one gain for all rows are the classes, then the
    ``decisions`` that are none (or simply these, where no decision is a class); those of gains per
    row are the ``decisions``, as in ``predict``.
    """
    n_dimensions = array_dimensions(gain)
    if n_dimensions == 3:
        names = decisions.tolist()
        if np.shape(gain)[2] != len(names):
            names = _column_names(classes, decisions) or names
        return row_gains(gain, n_rows, (len(classes), len(names))), _as_array(names)
    if n_dimensions == 2:
        gain = _named(gain, classes, decisions)
    matrix, resolved = resolve_gain(gain, classes)
    return matrix[None], resolved


def one_if_right(classes: np.ndarray, made: list[Any]) -> dict[Any, dict[Any, float]]:
    """The gain that is one for the right class and zero for any other decision, class or not."""
    names = dict.fromkeys([*classes.tolist(), *made])
    return {true: {name: float(name == true) for name in names} for true in classes.tolist()}


def _as_array(names: list[Any]) -> np.ndarray:
    """Names as an array of objects, whatever they are."""
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _column_names(classes: np.ndarray, decisions: np.ndarray) -> list[Any] | None:
    """What the columns of a bare array mean; None where two readings are possible.

    First the classes, then the decisions that are none; the decisions in their own order where none
    is a class.
    """
    labels, made = classes.tolist(), decisions.tolist()
    among = [d for d in made if d in labels]
    if not among and made:
        return made
    in_order = among == [c for c in labels if c in among] and among == made[: len(among)]
    return [*labels, *made[len(among) :]] if in_order else None


def _named(gain: Any, classes: np.ndarray, decisions: np.ndarray) -> dict[Any, dict[Any, float]]:
    """Give the rows and columns of a bare array their names."""
    names = _column_names(classes, decisions)
    matrix = np.asarray(gain)
    labels = classes.tolist()
    if names is None:
        raise ValueError(
            f"The columns of an array as gain can be read in two ways here: as the classes {labels}"
            f" or as the decisions {decisions.tolist()}. Name them, with a DataFrame or a nested "
            "dict {true: {decision: gain}}."
        )
    if names == labels:  # extra actions that are never taken need no name
        names = [*names, *(f"action_{i + 1}" for i in range(matrix.shape[1] - len(names)))]
    if matrix.shape != (len(labels), len(names)):
        raise ValueError(
            f"gain has shape {matrix.shape}; expected {(len(labels), len(names))}: a row for each "
            f"of the classes {labels} and a column for each of the decisions {names}. Name rows "
            "and columns (a DataFrame or nested dict) for other decisions or classes."
        )
    return {c: dict(zip(names, row, strict=True)) for c, row in zip(labels, matrix, strict=True)}


def stated_priors(priors: Any, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Priors in any form, None for the class shares; those of absent classes go to the others.

    A dict may name classes that neither the classifier nor the rows know: a fold may lack a rare
    class.
    """
    labels = classes.tolist()
    named = as_labels(list(priors), classes) if isinstance(priors, Mapping) else []
    unknown = [c for c in named if c not in labels]
    everyone = _as_array([*labels, *unknown])
    weight = np.concatenate([counts, np.zeros(len(unknown))])
    values = given_priors("empirical" if priors is None else priors, weight, everyone)
    absent = (values > 0) & (weight == 0)
    if absent.any():
        total = values[~absent].sum()
        if total <= 0:
            raise ValueError(
                f"No row belongs to a class with a prior: the rows are of "
                f"{everyone[weight > 0].tolist()}, the priors {values.tolist()} of "
                f"{everyone.tolist()}."
            )
        warnings.warn(
            f"Classes {everyone[absent].tolist()} have a prior of {1 - total:.3g} together, but no "
            "row shows how they are decided. They are left out and the other priors scaled up: "
            "evaluate with rows of every class.",
            AbsentClassWarning,
            stacklevel=4,
        )
        values = np.where(absent, 0.0, values) / total
    return values[: len(labels)]


def deciding_estimator(estimator: Any) -> Any:
    """The fitted estimator that decides in a search."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator


def own_rule(estimator: Any) -> Any:
    """The BayesClassifier that decides in a pipeline, a search or a frozen estimator, or None."""
    estimator = deciding_estimator(estimator)
    while hasattr(estimator, "steps"):
        estimator = deciding_estimator(estimator.steps[-1][1])
    has_rule = all(hasattr(estimator, name) for name in ("gain_", "priors_", "decisions_"))
    return estimator if has_rule else None


def own_gain(rule: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gain of a rule, with rows for classes that only its setting names, not the fit."""
    if len(classes) == len(rule.classes_):
        return rule.gain_[None], rule.decisions_
    try:
        matrix, names = resolve_gain(rule.gain, classes)
    except ValueError as error:
        raise ValueError(
            f"y has classes that were not fitted ({rule.classes_.tolist()} were), and the "
            f"classifier's gain does not price them: {error} State gain= for all classes, by name."
        ) from error
    return matrix[None], names


def own_priors(rule: Any, classes: np.ndarray) -> np.ndarray:
    """The priors of a rule in a longer list of classes; a class that was not fitted has none."""
    new = classes[places(classes, rule.classes_) < 0].tolist()
    if new:
        warnings.warn(
            f"y has rows of {new}, which were not fitted: they count for nothing under the "
            "classifier's own priors. State priors= to count them.",
            AbsentClassWarning,
            stacklevel=4,
        )
    return spread_rows(rule.priors_, places(rule.classes_, classes), len(classes))
