"""Numbers so large or so small that floats cannot hold their squares.

What does not depend on the units of the columns is worked out in other units, powers of two, so
that no digit changes. What is told in squared units of the data has none that floats can hold, and
is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule.tables import name_columns

#: Sizes whose squares, and sums of many, are as exact as any.
LEAST, LARGEST = 1e-140, 1e140


def binary_unit(size: Any) -> np.ndarray:
    """The power of two that brings a size to about one; one itself where squares hold anyway.

    Examples
    --------
    >>> binary_unit([0.0, 3.5, 2.0**600, 2.0**-700]) == [1.0, 1.0, 2.0**-601, 2.0**699]
    array([ True,  True,  True,  True])
    """
    size = np.asarray(size, np.float64)
    extreme = (size > LARGEST) | ((size > 0.0) & (size < LEAST))
    exponent = np.clip(np.where(extreme, -np.frexp(size)[1], 0), -1000, 1000)
    unit: np.ndarray = np.ldexp(1.0, exponent)
    return unit


def refuse_beyond_squares(rows: np.ndarray, first: int = 0) -> None:
    """Raise where the square of a column's spread is beyond what floats can hold.

    ``first`` is the place of the first column, where the others were left out.
    """
    if not len(rows):
        return
    gaps = np.isnan(rows)
    # By halves: the difference itself may overflow.
    low = np.where(gaps, np.inf, 0.5 * rows).min(axis=0)
    high = np.where(gaps, -np.inf, 0.5 * rows).max(axis=0)
    spread = np.where(high > low, high - low, 0.0)
    for bad, what in ((spread > LARGEST, "large"), ((spread > 0) & (spread < LEAST), "small")):
        if bad.any():
            raise ValueError(
                f"Input X spreads over {2.0 * spread[bad][0]:.2g} in "
                f"{name_columns(np.append(np.zeros(first, int), bad * len(rows)), None)}, which is "
                f"too {what}: floats cannot hold its square. Multiply such columns by a power of "
                "ten, which moves no decision."
            )
