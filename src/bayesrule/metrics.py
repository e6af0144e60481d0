"""How far apart rows are: a linear map of the columns, learned before distances are taken.

=================  ===============================================================================
``"raw"``          the columns as they are
``"standardised"`` each column in units of its standard deviation; a column of categories counts
                   like one column
``"within"``       axes along which the classes themselves have unit covariance (Mahalanobis)
``"lda"``          the discriminant axes of the classes, in the same units
=================  ===============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.magnitudes import binary_unit
from bayesrule.memberships import Memberships
from bayesrule.tables import Table

METRICS = ("raw", "standardised", "within", "lda")
#: Metrics that are learned from the classes of the rows.
SUPERVISED = ("within", "lda")
#: Share of the identity in the correlations within the classes: their smallest eigenvalues are
#: noise, and rows would be told apart by nothing else.
RIDGE = 0.05


@dataclass(frozen=True)
class Metric:
    """Rows less ``shift``, times ``matrix``: a vector scales the columns, a table mixes them.

    Attributes
    ----------
    shift : ndarray of shape (D,)
    matrix : ndarray of shape (D,) or (D, E)
    """

    shift: np.ndarray
    matrix: np.ndarray

    def __call__(self, rows: Any) -> np.ndarray:
        """The rows, mapped; Euclidean distances between them are the metric."""
        moved: np.ndarray = rows - self.shift
        if self.matrix.ndim == 1:
            moved *= self.matrix
            return moved
        mapped: np.ndarray = moved @ self.matrix
        return mapped


def learn_metric(kind: str, table: Table, memberships: Memberships) -> Metric:
    """The metric of a kind, from rows and their classes."""
    values = np.asarray(table.numbers, np.float64)
    n_columns = values.shape[1]
    rows, codes, weights = memberships.entries()
    of_row = np.bincount(rows, weights, len(values))
    if kind == "raw":  # any place amid the rows will do
        shift = of_row @ values / of_row.sum()
        unit = binary_unit(np.abs(values - shift).max())
        return _checked(Metric(shift, np.full(n_columns, float(unit))))
    shift = of_row @ (values - values[0]) / of_row.sum() + values[0]
    centred = values - shift
    units = binary_unit(np.abs(centred).max(axis=0))
    centred *= units
    variance = of_row @ centred**2 / of_row.sum()
    # Rounding leaves a constant column a tiny variance: it tells nothing.
    variance[variance <= (1e-12 * np.abs(shift * units)) ** 2] = 0.0
    if table.layout is not None:  # the dummies of a column of categories share one unit
        variance = np.bincount(table.layout.sources, variance)[table.layout.sources]
    scale = np.divide(1.0, np.sqrt(variance), out=np.zeros(n_columns), where=variance > 0)
    if kind == "standardised":
        return _checked(Metric(shift, scale * units))
    matrix = _discriminant(centred * scale, rows, codes, weights, memberships, kind == "lda")
    scale *= units
    return _checked(Metric(shift, scale if matrix is None else scale[:, None] * matrix))


def _checked(metric: Metric) -> Metric:
    """The metric, unless it is beyond what floats can hold."""
    if not (np.isfinite(metric.shift).all() and np.isfinite(metric.matrix).all()):
        raise ValueError(
            "Input X has numbers that are too large, or too small, for distances between rows: "
            "their differences overflow or underflow. Multiply its columns by a power of ten."
        )
    return metric


def _discriminant(
    centred: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    memberships: Memberships,
    between: bool,
) -> np.ndarray | None:
    """The map to unit covariance within the classes, and on to the axes that tell them apart.

    None where there is nothing to learn it from: one class, or no more rows than classes.
    """
    totals = memberships.totals()
    there = totals > 0
    if there.sum() < 2 or len(centred) <= there.sum():
        return None
    means = np.zeros((memberships.n_classes, centred.shape[1]))
    np.add.at(means, codes, weights[:, None] * centred[rows])
    means[there] /= totals[there, None]
    apart = centred[rows] - means[codes]
    scatter = (weights[:, None] * apart).T @ apart / totals.sum()
    level = np.trace(scatter) / max(np.count_nonzero(centred.any(axis=0)), 1)
    scatter = (1.0 - RIDGE) * scatter + RIDGE * (level if level > 0 else 1.0) * np.eye(len(scatter))
    lengths, axes = np.linalg.eigh(scatter)
    whitened: np.ndarray = axes / np.sqrt(lengths)
    if not between:
        return whitened
    spread = np.sqrt(totals[there] / totals.sum())[:, None] * (means[there] @ whitened)
    _, _, directions = np.linalg.svd(spread, full_matrices=False)
    found: np.ndarray = whitened @ directions[: there.sum() - 1].T
    return found
