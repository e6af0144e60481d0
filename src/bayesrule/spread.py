"""The same work on many parts: by threads, processes or machines, added up in one fixed order.

    part -> state                 a pure function, wherever it runs
    state + state                 in the order of the parts, whoever is done first

The sums form a binary tree over the parts in their order, so the result has the same bits on one
worker or a hundred, and rounding grows with the logarithm of the number of parts. Every result
carries its part's number and rows, and is counted exactly once or the work fails.
"""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from bayesrule.kernels.blocks import one_thread, thread_count
from bayesrule.notices import NoWorkersWarning

#: Results that may wait for an earlier one, for each worker.
AHEAD = 3

#: Seconds without a result after which it is asked whether a cluster has workers.
PATIENCE = 20.0


class LostRowsError(RuntimeError):
    """Some part did not arrive exactly once, so the sums would be wrong."""


class LostExecutorError(RuntimeError):
    """The executor that did the work is gone."""


class Part(Protocol):
    """What work is cut into."""

    @property
    def id(self) -> int: ...

    @property
    def n_rows(self) -> int | None: ...

    @property
    def n_bytes(self) -> int: ...


class Outcome(Protocol):
    """What the work on a part gives."""

    @property
    def id(self) -> int: ...

    @property
    def n_rows(self) -> int: ...


State = TypeVar("State")
Given = TypeVar("Given", bound=Part)
Found = TypeVar("Found", bound=Outcome)


@dataclass(frozen=True)
class Tree(Generic[State]):
    """A sum of states in their order, as sums of 1, 2, 4, ... of them.

    Examples
    --------
    >>> tree = Tree()
    >>> for letter in "abcdefg":
    ...     tree = tree.push(letter, str.__add__)
    >>> tree.sums, tree.total(str.__add__)
    (((2, 'abcd'), (1, 'ef'), (0, 'g')), 'abcdefg')
    """

    sums: tuple[tuple[int, State], ...] = ()

    def push(self, state: State, add: Callable[[State, State], State]) -> Tree[State]:
        """The sum with one more state at its end."""
        sums, level = list(self.sums), 0
        while sums and sums[-1][0] == level:
            state, level = add(sums.pop()[1], state), level + 1
        return Tree((*sums, (level, state)))

    def total(self, add: Callable[[State, State], State]) -> State | None:
        """The sum of all; None where there is none."""
        if not self.sums:
            return None
        *others, (_, total) = self.sums
        for _, state in reversed(others):
            total = add(state, total)
        return total


@dataclass(frozen=True)
class Workers:
    """Who does the work.

    Attributes
    ----------
    submit : callable
        Takes a function and its arguments, gives a future.
    count : int
    here : bool
        Whether they are threads of this process, which can tell how far they are.
    result : callable
        Takes a part and its future, waits, and gives what the work on the part gave.
    """

    submit: Callable[..., Any]
    count: int
    here: bool
    result: Callable[[Any, Any], Any] = lambda part, future: future.result()


@contextmanager
def workers(executor: Any, n_parts: int) -> Iterator[Workers | None]:
    """Those who do the work; None where this thread does it alone."""
    if is_dask_client(executor):
        count = max(1, sum(executor.nthreads().values()))
        wait = partial(_from_dask, executor)
        yield Workers(partial(_to_dask, executor), count, False, wait)
        return
    if isinstance(executor, Executor):
        count = getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        yield Workers(executor.submit, count, isinstance(executor, ThreadPoolExecutor))
        return
    count = thread_count() if executor is None else executor
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise TypeError(
            f"executor={executor!r} cannot be used. Give a number of threads, an executor of "
            "concurrent.futures, or a Dask Client; None uses all cores."
        )
    if min(count, n_parts) <= 1:  # a fit that goes on may have no part left
        yield None
        return
    with ThreadPoolExecutor(min(count, n_parts)) as pool:
        yield Workers(pool.submit, count, True)


def _to_dask(client: Any, alone: Callable[..., Any], work: Any, item: Any) -> Any:
    """Hand work to Dask; rows that it must compute first stay where it computes them."""
    rows = getattr(item, "rows", None)
    if rows is None:
        return client.submit(alone, work, item, pure=False)
    bare = replace(item, rows=None)
    return client.submit(_with_rows, alone, work, bare, client.compute(rows), pure=False)


def _with_rows(alone: Callable[..., Any], work: Any, item: Any, rows: Any) -> Any:
    return alone(work, replace(item, rows=rows))


def _from_dask(client: Any, part: Any, future: Any) -> Any:
    """Wait for a result of Dask, and say so where nobody is left to work on it."""
    warned = False
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.status == "error":
                return future.result()  # the work itself ran out of time, or out of something else
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            raise LostExecutorError(
                f"{part}: every worker that took it died ({error}). Most often memory ran out: "
                "give workers more of it or fewer threads, or write smaller row groups. With "
                "checkpoint= the work goes on where it was."
            ) from error
        if not warned and not client.nthreads():
            warned = True
            warnings.warn(
                f"The cluster of {client!r} has no workers left, and the work waits for new ones. "
                "Start some, or interrupt it; with checkpoint= it goes on where it was.",
                NoWorkersWarning,
                stacklevel=2,
            )


def is_dask_client(executor: Any) -> bool:
    """Whether it is a client of a Dask cluster, told without importing Dask."""
    home = type(executor).__module__.partition(".")[0]
    return home == "distributed" and hasattr(executor, "submit") and hasattr(executor, "nthreads")


def in_order(
    work: Callable[..., Found],
    parts: Sequence[Given],
    executor: Any = None,
    tick: Callable[[int], None] = lambda n_bytes: None,
) -> Iterator[tuple[Given, Found]]:
    """Yield each part with its result, in the order of the parts.

    Results that are early wait; work is handed out only so far ahead that few have to. ``work``
    takes a part and, in this process, a function to tell how many bytes of it are done.
    """
    counted = RowsCounted(parts)
    with workers(executor, len(parts)) as crew:
        if crew is None:
            for part in parts:
                # One thread, if that was asked for; one part may well use all of them.
                with one_thread() if executor == 1 else nullcontext():
                    found = work(part, tick)
                counted.check(part, found)
                yield part, found
        else:
            told = (tick,) if crew.here else ()
            results = handed_out(crew, work, parts, *told)
            with losing(executor, counted), closing(results):
                for part, future in results:
                    found = crew.result(part, future)
                    counted.check(part, found)
                    if not crew.here:
                        tick(part.n_bytes)
                    yield part, found
    counted.finish()


def handed_out(
    crew: Workers, work: Callable[..., Any], items: Iterable[Any], *told: Any
) -> Generator[tuple[Any, Any], None, None]:
    """Yield each item with the future of the work on it, in order, and few ahead of the reader."""
    waiting: deque[tuple[Any, Any]] = deque()
    try:
        for item in items:
            waiting.append((item, crew.submit(_alone, work, item, *told)))
            if len(waiting) > AHEAD * crew.count:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        for _, future in waiting:
            future.cancel()


def _alone(work: Callable[..., Found], part: Any, *told: Any) -> Found:
    """Work on a part in one thread: the other parts keep the other cores busy."""
    with one_thread():
        return work(part, *told)


@contextmanager
def losing(executor: Any, counted: RowsCounted) -> Iterator[None]:
    """Say what to do where the executor is gone."""
    try:
        yield
    except (BrokenExecutor, CancelledError) as error:
        raise LostExecutorError(
            f"The executor {executor!r} was lost after {counted.n_parts} of {counted.planned} "
            f"parts ({type(error).__name__}: {error}). Start another one and call again; with "
            "checkpoint= the work goes on where it was."
        ) from error


class RowsCounted:
    """Whether every part came exactly once, with the rows it was said to have."""

    def __init__(self, parts: Sequence[Part]):
        self.planned = len(parts)
        self.n_parts = 0
        self.n_rows = 0
        self._ids: set[int] = set()

    def check(self, part: Part, found: Outcome) -> None:
        """Take in one result."""
        if found.id != part.id or found.id in self._ids:
            raise LostRowsError(
                f"Part {part.id} was handed out, but the result of part {found.id} came back. The "
                "executor mixed them up; nothing was fitted."
            )
        self._ids.add(found.id)
        self.n_parts += 1
        self.n_rows += found.n_rows

    def finish(self) -> None:
        """All must have come."""
        if self.n_parts != self.planned:
            raise LostRowsError(
                f"{self.n_parts} of {self.planned} parts arrived. The executor lost the others; "
                "nothing was fitted."
            )
