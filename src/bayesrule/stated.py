"""Means and variances that a user states: their shapes and signs, checked in one place.

``owner`` is the object that has the setting, for messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule.covariances import invertible


def _array(owner: Any, name: str, value: Any) -> np.ndarray:
    """A setting as finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise ValueError(f"{type(owner).__name__}({name}={value!r}) must hold finite numbers.")
    return array


def stated_centres(owner: Any, n_columns: int, n_classes: int | None = None) -> np.ndarray:
    """Prior means, one row per class; any number of rows goes while the classes may still grow."""
    array = _array(owner, "mean", owner.mean)
    rows = n_classes
    if rows is None:
        rows = len(array) if array.ndim == 2 else 1
    if array.shape not in ((), (n_columns,), (rows, n_columns)):
        classes = "K" if n_classes is None else n_classes
        raise ValueError(
            f"{type(owner).__name__}(mean=...) has shape {array.shape}; use a number, shape "
            f"({n_columns},) with one per column, or ({classes}, {n_columns}) with a row per class."
        )
    return np.broadcast_to(array, (rows, n_columns))


def stated_spread(
    owner: Any, name: str, covariance: str, n_columns: int, *, zero: bool = False
) -> np.ndarray:
    """A setting of variances: a matrix where covariances are, else one number per column."""
    array = _array(owner, name, getattr(owner, name))
    matrices = covariance in ("full", "tied")
    shapes: list[tuple[int, ...]] = [()]
    if covariance != "spherical":
        shapes.append((n_columns,))
    if matrices:
        shapes.append((n_columns, n_columns))
    told = f"{type(owner).__name__}({name}=...)"
    if array.shape not in shapes:
        allowed = ["a number", *(f"shape {shape}" for shape in shapes[1:])]
        raise ValueError(
            f"{told} has shape {array.shape}; with covariance={covariance!r} and {n_columns} "
            f"columns use {' or '.join(allowed)}."
        )
    if array.ndim < 2:
        if (array < 0).any() or (not zero and (array == 0).any()):
            raise ValueError(
                f"{told} must be {'at least zero' if zero else 'positive'}; the least is "
                f"{array.min():g}."
            )
        array = np.broadcast_to(array, (n_columns,))
        return np.diag(array) if matrices else array
    asymmetric = np.abs(array - array.T).max(initial=0.0) > 1e-8 * np.abs(array).max(initial=0.0)
    if asymmetric or not (_semidefinite(array) if zero else invertible(array)):
        raise ValueError(
            f"{told} must be symmetric and positive {'semi-' if zero else ''}definite."
        )
    return 0.5 * (array + array.T)


def _semidefinite(matrix: np.ndarray) -> bool:
    """Whether no direction has a negative variance, up to rounding."""
    values = np.linalg.eigvalsh(matrix)
    return bool(values[0] >= -1e-10 * max(values[-1], 0.0))


def refuse_up_to(owner: Any, name: str, least: float, cause: str) -> None:
    """Refuse a setting that is not one finite number above ``least``."""
    array = _array(owner, name, getattr(owner, name))
    if array.ndim or not array > least:
        raise ValueError(
            f"{type(owner).__name__}({name}={getattr(owner, name)!r}) must be a number above "
            f"{least:g}. {cause}"
        )
