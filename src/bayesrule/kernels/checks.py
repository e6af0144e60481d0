"""One pass over the numbers: is anything missing or infinite?"""

from __future__ import annotations

import numpy as np

from bayesrule.kernels.compiler import compiled


@compiled(reassociate=True)
def zero_if_finite(values: np.ndarray) -> float:
    """Sum of ``0 * value``: zero if all values are finite, NaN if any is not.

    A comparison per value would stop the loop from using vector registers; this runs at the speed
    of the memory.
    """
    total = 0.0
    for i in range(values.size):
        total += values[i] * 0.0
    return total
