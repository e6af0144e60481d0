"""Work in a process of its own, so that no job inherits the memory that another left behind.

Where an array is put, and whether its pages must be fetched from the system first, depends on what
was allocated before; small calls differ by a factor of four for that alone.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def apart(work: Callable[[], Answer]) -> Answer:
    """What ``work`` answers or raises in a copy of this process; here where none can be made."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return work()
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)

    def send() -> None:
        told: tuple[Any, BaseException | None]
        try:
            told = work(), None
        except BaseException as error:
            told = None, error
        sender.send(told)

    child = fork.Process(target=send)
    with warnings.catch_warnings():
        # The threads that a fork does not copy only draw a progress bar.
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        child.start()
    sender.close()
    try:
        answer, error = receiver.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f"the process of a job ended with code {child.exitcode}") from None
    child.join()
    if error is not None:
        raise error
    return answer
