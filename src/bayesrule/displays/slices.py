"""Lines and planes through the space of features, as tables of the kind that X is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np


class Slices:
    """Tables in which some features move and the others are held at a point.

    Parameters
    ----------
    X : array or frame of shape (n, D)
        It tells the features' names, the kind of table to make, and where to hold the others.
    at : None, sequence of D values, or dict {feature: value}
        Where features that do not move are held; those not named, at their median (or, where they
        are no numbers, at their commonest value).
    names : sequence of D labels, default=None
        What an array's features are called; a frame says it itself.
    """

    def __init__(self, X: Any, at: Any = None, names: Any = None):
        self.frame = None
        if hasattr(X, "columns") or hasattr(X, "column_names"):
            self.frame = nw.from_native(X, eager_only=True)
            self.labels: list[Any] = list(self.frame.columns)
            self.n_rows = len(self.frame)
        else:
            self.array = np.asarray(X)
            if self.array.ndim != 2 or self.array.dtype.kind not in "biuf":
                raise ValueError(
                    "X must be a frame, or a dense array of numbers with two dimensions; got "
                    f"{type(X).__name__} of shape {self.array.shape} and dtype {self.array.dtype}."
                )
            self.n_rows, n_columns = self.array.shape
            self.labels = [f"feature {j}" for j in range(n_columns)]
            if names is not None and len(names) == n_columns:
                self.labels = list(names)
        if self.n_rows == 0:
            raise ValueError("X has no rows; the display needs some to know the features' ranges.")
        self.at = self._read_point(at)

    def place(self, feature: Any) -> int:
        """Place of a feature that is given by name or by place."""
        if feature in self.labels:
            return self.labels.index(feature)
        if isinstance(feature, (int, np.integer)) and 0 <= feature < len(self.labels):
            return int(feature)
        shown = ", ".join(repr(name) for name in self.labels[:8])
        more = f" and {len(self.labels) - 8} more" if len(self.labels) > 8 else ""
        raise ValueError(
            f"There is no feature {feature!r}: give a place from 0 to {len(self.labels) - 1}, or "
            f"one of {shown}{more}."
        )

    def column(self, j: int) -> np.ndarray:
        """Values of a feature that must be numbers."""
        values = self._values(j)
        if values.dtype.kind not in "biuf":
            raise ValueError(
                f"Feature {self.labels[j]!r} holds no numbers ({values.dtype}), so it has no axis; "
                "choose a numeric feature."
            )
        values = values.astype(float)
        if not np.isfinite(values).any():
            raise ValueError(f"Feature {self.labels[j]!r} has no finite value in X.")
        return values

    def span(self, j: int, margin: float = 0.05) -> tuple[float, float]:
        """Range of a feature with a margin; of width one, at least, where it is constant."""
        values = self.column(j)
        values = values[np.isfinite(values)]
        low, high = float(values.min()), float(values.max())
        width = high - low
        # A width lost in rounding is no width: a grid over it would hold equal points.
        if width <= 1e-9 * max(abs(low), abs(high)):
            return low - 0.5 * max(1.0, abs(low)), high + 0.5 * max(1.0, abs(high))
        return low - margin * width, high + margin * width

    def held(self, moved: Sequence[int]) -> dict[Any, Any]:
        """Names and values of the features that do not move."""
        return {name: self._held_value(j) for j, name in enumerate(self.labels) if j not in moved}

    def rows(self, moved: Mapping[int, np.ndarray]) -> Any:
        """A table in which feature j takes the values ``moved[j]`` and the others are held."""
        n = len(next(iter(moved.values())))
        if self.frame is None:
            table = np.empty((n, len(self.labels)))
            for j in range(len(self.labels)):
                table[:, j] = moved[j] if j in moved else self._held_value(j)
            return table
        table = self.frame[np.zeros(n, dtype=np.intp).tolist()]
        backend = nw.get_native_namespace(self.frame)
        columns = []
        for j, name in enumerate(self.labels):
            if j in moved:
                column = nw.new_series(name, np.ascontiguousarray(moved[j]), backend=backend)
            elif self._is_numeric(j):
                column = nw.new_series(name, np.full(n, self._held_value(j)), backend=backend)
            else:
                column = self.frame[name][[self._row_of(j)] * n]
            columns.append(column)
        return table.with_columns(*columns).to_native()

    def _read_point(self, at: Any) -> dict[int, Any]:
        """The stated values by place of the feature."""
        if at is None:
            return {}
        if isinstance(at, Mapping):
            return {self.place(feature): value for feature, value in at.items()}
        values = list(at)
        if len(values) != len(self.labels):
            raise ValueError(
                f"at has {len(values)} values for {len(self.labels)} features; give one for each, "
                "or a dict {feature: value} of some."
            )
        return dict(enumerate(values))

    def _values(self, j: int) -> np.ndarray:
        if self.frame is None:
            return self.array[:, j]
        return np.asarray(self.frame[self.labels[j]].to_numpy())

    def _is_numeric(self, j: int) -> bool:
        return self._values(j).dtype.kind in "iuf"

    def _held_value(self, j: int) -> Any:
        """Where feature j is held. Whole numbers stay whole: a count of 2.5 may mean nothing."""
        values = self._values(j)
        if not self._is_numeric(j) and values.dtype.kind != "b":
            return self.at[j] if j in self.at else _commonest(values)
        if j in self.at:
            return self.at[j]
        if values.dtype.kind in "iub":
            return np.sort(values)[(len(values) - 1) // 2]
        return float(np.nanmedian(values))

    def _row_of(self, j: int) -> int:
        """A row in which a feature that is no number has the value it is held at."""
        value = self._held_value(j)
        rows = np.flatnonzero([v == value for v in self._values(j).tolist()])
        if len(rows) == 0:
            raise ValueError(
                f"at holds {self.labels[j]!r} at {value!r}, which no row of X has; choose a value "
                "that occurs."
            )
        return int(rows[0])


def _commonest(values: np.ndarray) -> Any:
    """The value that occurs most often, the first of them in a tie."""
    return Counter(values.tolist()).most_common(1)[0][0]
