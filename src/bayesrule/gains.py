"""What decisions are worth: one row per true class, one column per decision.

A loss is a negative gain. A decision that is no class (abstain, refer, approve) is a column like
any other, with its price. Every form a user may write a gain in ends in :func:`resolve_gain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class NamedActions:
    """A bare gain (None or an array, one column per class) with further, named decisions."""

    base: Any
    actions: tuple[tuple[Any, Any], ...]


def loss(matrix: Any) -> Any:
    """Return the gain of a loss: its negative, in the same form.

    Examples
    --------
    >>> loss([[0, 2], [3, 0]])
    array([[-0., -2.],
           [-3., -0.]])
    >>> loss({"ill": {"treat": 0, "wait": 9}})
    {'ill': {'treat': 0, 'wait': -9}}
    """
    if matrix is None:
        raise ValueError("loss(None) has no meaning: give the losses, or gain=None for 1 if right.")
    if isinstance(matrix, NamedActions):
        actions = ((name, _negative(value)) for name, value in matrix.actions)
        return NamedActions(loss(matrix.base), tuple(actions))
    if _is_frame(matrix) and not hasattr(matrix, "iloc"):
        matrix = _frame_rows(matrix)
    if isinstance(matrix, Mapping):
        return {true: _negative(_row(true, row)) for true, row in matrix.items()}
    if _is_frame(matrix):
        return -matrix
    try:
        return -np.asarray(matrix, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"A loss must hold numbers, one row per class: {error}.") from None


def _negative(value: Any) -> Any:
    """The negative of a number, a list of them, or a dict of them."""
    if isinstance(value, Mapping):
        return {key: -number for key, number in value.items()}
    return -value if np.ndim(value) == 0 else [-number for number in value]


def _is_frame(value: Any) -> bool:
    """Whether a value has named columns."""
    return hasattr(value, "columns") or hasattr(value, "column_names")


def _row(true: Any, row: Any) -> Mapping[Any, Any]:
    """One class's gains, which must be named by decision."""
    if not isinstance(row, Mapping):
        raise ValueError(
            f"gain[{true!r}] is {row!r}; expected a dict {{decision: gain}}. "
            "Gains without names go in an array, one row per class."
        )
    return row


def with_action(gain: Any, name: Any, value: Any) -> Any:
    """Add a decision to a gain.

    Parameters
    ----------
    gain : None, array, DataFrame or nested dict
        The gain to start from; None is one for the right class and zero otherwise.
    name : label
        What the new decision is called, for example "refer".
    value : float, sequence of K floats, or dict {class: float}
        What it is worth, whatever the class or for each class.

    Examples
    --------
    >>> with_action({"ill": {"treat": 5}, "well": {"treat": -1}}, "refer", -0.5)
    {'ill': {'treat': 5, 'refer': -0.5}, 'well': {'treat': -1, 'refer': -0.5}}
    """
    if isinstance(gain, Mapping):
        if any(name in row for row in gain.values()):
            raise ValueError(f"The gain already has a decision {name!r}; give the new one a name.")
        prices = _prices(value, list(gain))
        return {
            true: {**row, name: price}
            for (true, row), price in zip(gain.items(), prices, strict=True)
        }
    if hasattr(gain, "assign") and hasattr(gain, "index"):
        if name in gain.columns:
            raise ValueError(f"The gain already has a decision {name!r}; give the new one a name.")
        return gain.assign(**{name: _prices(value, list(gain.index))})
    if isinstance(gain, NamedActions):
        return NamedActions(gain.base, (*gain.actions, (name, value)))
    return NamedActions(gain, ((name, value),))


def _prices(value: Any, classes: list[Any]) -> list[float]:
    """Price of an action for each class."""
    if isinstance(value, Mapping):
        lacking = [c for c in classes if c not in value]
        if lacking:
            raise ValueError(
                f"The action's value names no price for class {lacking[0]!r}; "
                f"it needs one for each of {classes}."
            )
        prices = [value[c] for c in classes]
    elif np.ndim(value) == 0:
        prices = [value] * len(classes)
    else:
        prices = list(value)
    if len(prices) != len(classes):
        raise ValueError(
            f"The action has {len(prices)} values for {len(classes)} classes; "
            "give one number, or one per class."
        )
    try:
        return [float(price) for price in prices]
    except (TypeError, ValueError):
        raise ValueError(
            f"The action's value {value!r} must be a number, or one per class."
        ) from None


def resolve_gain(gain: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the (K, A) matrix of a gain in any form, and the names of its A decisions.

    The names have the dtype of the classes, or are objects where a decision is no class.
    """
    matrix, decisions = _named_matrix(gain, classes)
    if matrix.shape[1] == 0:
        raise ValueError("The gain has no decision; it needs at least one column.")
    if not np.isfinite(matrix).all():
        k, d = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"gain[{classes.tolist()[k]!r}, {decisions[d]!r}] is {matrix[k, d]}, not finite. "
            "Use a large negative number for a decision that must not be taken."
        )
    if len(set(decisions)) < len(decisions):
        raise ValueError(f"The gain has two decisions of one name: {decisions}.")
    matrix.setflags(write=False)
    objects = np.empty(len(decisions), dtype=object)
    objects[:] = decisions
    where = decision_classes(objects, classes)
    return matrix, objects if (where < 0).any() else classes[where]


def decision_classes(decisions: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Place of each decision among the classes; -1 for a decision that is no class."""
    known = {name_key(label): k for k, label in enumerate(classes.tolist())}
    where = [known.get(name_key(decision), -1) for decision in decisions.tolist()]
    return np.array(where, dtype=np.intp)


def name_key(name: Any) -> tuple[bool, Any]:
    """What tells names apart: 1 and True are equal, but different labels."""
    return isinstance(name, (bool, np.bool_)), name


def _named_matrix(gain: Any, classes: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """The matrix with rows in the order of the classes, and the names of its columns."""
    names = classes.tolist()
    if gain is None:
        return np.eye(len(names)), names
    if isinstance(gain, Mapping):
        return _from_rows(gain, classes)
    if isinstance(gain, NamedActions):
        matrix, decisions = _named_matrix(gain.base, classes)
        for name, value in gain.actions:
            matrix = np.column_stack([matrix, _prices(value, names)])
            decisions = [*decisions, name]
        return matrix, decisions
    if _is_frame(gain):
        return _from_rows(_frame_rows(gain), classes)
    return _from_array(gain, names)


def _from_array(gain: Any, names: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """A bare array: a row per class; first a column per class, then extra actions."""
    try:
        matrix = np.array(gain)
        if matrix.dtype.kind == "c":
            raise TypeError("they are complex")
        matrix = matrix.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"gain must hold numbers, one row per class: {error}.") from None
    if matrix.ndim != 2:
        raise ValueError(
            f"gain must have two dimensions, (classes, decisions), but has {matrix.ndim}. "
            "Gains that differ from row to row, of shape (n, K, A), go to predict(X, gain=...)."
        )
    if len(matrix) != len(names) or matrix.shape[1] < len(names):
        raise ValueError(
            f"gain has shape {matrix.shape}, but there are {len(names)} classes {names}: it needs "
            "one row per class, and one column per class before any extra action. "
            "Name rows and columns (a DataFrame or nested dict) for other decisions; give "
            "partial_fit classes= if its first chunk lacks some."
        )
    extra = [f"action_{i + 1}" for i in range(matrix.shape[1] - len(names))]
    return matrix, [*names, *extra]


def _frame_rows(frame: Any) -> dict[Any, dict[Any, float]]:
    """A frame as {true class: {decision: gain}}.

    pandas names the classes in the index. Frames without an index (polars, pyarrow) name them in
    their first column.
    """
    if hasattr(frame, "index") and hasattr(frame, "iloc"):
        if not frame.index.is_unique:
            raise ValueError("The gain has two rows for one class in its index.")
        if not frame.columns.is_unique:
            raise ValueError(f"The gain has two decisions of one name: {list(frame.columns)}.")
        return {true: dict(row) for true, row in frame.to_dict(orient="index").items()}
    if hasattr(frame, "collect"):
        raise ValueError("The gain is a lazy frame, whose numbers are not there: gain.collect().")
    columns = frame.to_pydict() if hasattr(frame, "to_pydict") else frame.to_dict(as_series=False)
    (_, classes), *decisions = columns.items()
    if len(set(classes)) < len(classes):
        raise ValueError("The gain has two rows for one class in its first column.")
    return {
        true: {decision: values[i] for decision, values in decisions}
        for i, true in enumerate(classes)
    }


def _from_rows(rows: Mapping[Any, Any], classes: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Line named rows and columns up with the classes.

    A row for a class that was not seen is left out: a fold may lack a rare class. A class
    without a row is an error, which catches misspelt names too.
    """
    row_names = as_labels(list(rows), classes)
    named = [_row(true, row) for true, row in rows.items()]
    if len(set(row_names)) < len(row_names):
        raise ValueError(f"The gain names one class twice: {list(rows)}.")
    pairs = zip(row_names, named, strict=True)
    by_class = {name_key(name): row for name, row in pairs}
    lacking = [c for c in classes.tolist() if name_key(c) not in by_class]
    if lacking:
        raise ValueError(
            f"gain has no row for class {lacking[0]!r}: its rows are {list(rows)}, the classes "
            f"{classes.tolist()}. Each class needs a row of gains, one per decision."
            f"{renumbered(classes)}"
        )
    decisions: list[Any] = list(dict.fromkeys(d for row in by_class.values() for d in row))
    matrix = np.empty((len(classes), len(decisions)))
    for k, true in enumerate(classes.tolist()):
        for d, decision in enumerate(decisions):
            value = by_class[name_key(true)].get(decision)
            if value is None:
                raise ValueError(
                    f"gain has no entry for true class {true!r} and decision {decision!r}; "
                    "every decision needs a value for every class."
                )
            try:
                matrix[k, d] = value
            except (TypeError, ValueError):
                raise ValueError(
                    f"gain[{true!r}][{decision!r}] is {value!r}, which is not a number."
                ) from None
    return matrix, as_labels(decisions, classes)


def renumbered(classes: np.ndarray) -> str:
    """A hint for classes 0 .. K - 1, which may be others in disguise."""
    if classes.dtype.kind not in "iuf" or not np.array_equal(classes, np.arange(len(classes))):
        return ""
    return (
        " If y held other labels: scikit-learn's calibrators, voting, stacking and bagging, and "
        "cross_val_predict(method='predict_proba'), number the classes before they fit. Give gain "
        "and priors as arrays there, in the order of the sorted labels."
    )


def as_labels(names: list[Any], classes: np.ndarray) -> list[Any]:
    """Names as class labels where they are, also those that a file could only write as text."""
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    labels = classes.tolist()
    if any(name in labels for name in names):
        return names
    written = {str(label): label for label in labels}
    if len(written) == len(labels) and any(name in written for name in names):
        return [written.get(name, name) for name in names]
    return names


def regret(gain: np.ndarray) -> np.ndarray:
    """Best gain for the class minus the gain: what each decision loses, never negative."""
    return gain.max(axis=1, keepdims=True) - gain


def row_gains(gain: Any, n_rows: int, shape: tuple[int, int]) -> np.ndarray:
    """Check gains that differ from row to row: an array of shape (n, K, A)."""
    try:
        gains = np.ascontiguousarray(gain, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"gain must hold numbers in an array of shape {(n_rows, *shape)}, a matrix per row: "
            f"{error}."
        ) from None
    if gains.shape != (n_rows, *shape):
        raise ValueError(
            f"Per-row gains have shape {gains.shape}; expected {(n_rows, *shape)}: rows, classes, "
            "decisions of this classifier. One gain for all rows goes to with_rule(gain=...)."
        )
    if not np.isfinite(gains).all():
        bad = int(np.flatnonzero(~np.isfinite(gains).all(axis=(1, 2)))[0])
        raise ValueError(f"Per-row gains must be finite; those of row {bad} are not.")
    return gains
