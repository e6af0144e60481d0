"""The one decorator behind every compiled loop.

``parallel=True`` is left out on purpose: numba's thread layers die after a fork and under foreign
threads. Kernels release the interpreter lock instead, and blocks of rows go to an ordinary thread
pool. ``error_model="numpy"`` lets a division by zero give infinity, as numpy users expect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any] | None = None, *, reassociate: bool = False) -> Any:
    """Compile a loop at its first call, cached on disk where some cache folder can be written.

    ``reassociate`` lets the compiler reorder sums, which is what makes a reduction over columns
    fit vector registers. It is off where the order of a sum is part of the answer.
    """

    def decorate(python_function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {
            "nogil": True,
            "error_model": "numpy",
            "fastmath": {"reassoc", "contract"} if reassociate else False,
        }
        try:
            return numba.njit(cache=True, **options)(python_function)
        except RuntimeError:
            # A read-only install without a home folder has nowhere to cache: it must still import.
            return numba.njit(cache=False, **options)(python_function)

    return decorate if function is None else decorate(function)
