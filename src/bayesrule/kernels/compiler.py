"""The one decorator behind every compiled loop.

``parallel=True`` is left out on purpose: numba's thread layers die after a fork and under foreign
threads. Kernels release the interpreter lock instead, and blocks of rows go to an ordinary thread
pool. ``error_model="numpy"`` lets a division by zero give infinity, as numpy users expect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core.registry import CPUDispatcher


class Loop(CPUDispatcher):
    """A compiled loop that takes arrays that may not be written to for what they are otherwise.

    Numbers from a file mapped into memory, from Arrow, pandas or another process are read-only,
    and numba would compile every loop anew for them, which takes seconds. Loops write only to
    arrays that their callers made for that, so it is safe to lend them the memory as it is.
    """

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        """Asked where no compiled variant fits; answers with what is to be called instead."""
        if any(_is_locked(a) for a in arguments):
            return lambda *again: self(*(_unlocked(a) if _is_locked(a) else a for a in again))
        return super()._compile_for_args(*arguments, **named)  # type: ignore[misc]


class _Lent:
    """Memory of an array, which it keeps alive, under another description."""

    def __init__(self, array: np.ndarray, description: dict[str, Any]):
        self.array = array
        self.__array_interface__ = description


def _is_locked(argument: Any) -> bool:
    return isinstance(argument, np.ndarray) and not argument.flags.writeable


def _unlocked(array: np.ndarray) -> np.ndarray:
    """The same memory without the mark that says it may not be written to."""
    description = dict(array.__array_interface__)
    description["data"] = (description["data"][0], False)
    return np.asarray(_Lent(array, description))


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
            loop = numba.njit(cache=True, **options)(python_function)
        except RuntimeError:
            # A read-only install without a home folder has nowhere to cache: it must still import.
            loop = numba.njit(cache=False, **options)(python_function)
        if isinstance(loop, CPUDispatcher):  # not where compilation is switched off
            loop.__class__ = Loop
        return loop

    return decorate if function is None else decorate(function)
