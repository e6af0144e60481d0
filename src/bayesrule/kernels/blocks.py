"""Fixed blocks of rows, one after the other or on a thread pool.

The cut depends on the shape of the data only, never on the number of threads, and results come
back in the order of the blocks. That is all it takes for equal bits on any machine load.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

#: Bytes of one block of float64 rows: small enough for a core's cache, large enough that the
#: interpreter's share of the time vanishes.
BLOCK_BYTES = 1 << 21

#: Seconds of work on one thread from which a pool is started unless a number of threads was asked
#: for: below, starting threads and waking them on a busy machine costs more than they bring.
WORTH = 0.02


#: What holds for the current thread only.
_here = threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let blocks run one after the other in this thread, where other threads do as much."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        yield
    finally:
        _here.alone = before


def block_rows(n_columns: int, *, bytes_per_block: int = BLOCK_BYTES) -> int:
    """How many rows of ``n_columns`` float64 make one block."""
    return max(256, min(1 << 16, bytes_per_block // (8 * max(1, n_columns))))


def thread_count() -> int:
    """How many threads a job may use: ``BAYESRULE_NUM_THREADS``, ``OMP_NUM_THREADS``, or all cores.

    joblib and Dask set ``OMP_NUM_THREADS`` in their workers, so nested jobs do not oversubscribe.
    """
    asked = _asked("BAYESRULE_NUM_THREADS") or _asked("OMP_NUM_THREADS")
    if asked:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _asked(variable: str) -> int:
    """The number of threads that a variable of the environment asks for; 0 where it does not."""
    setting = os.environ.get(variable, "")
    return int(setting) if setting.isdigit() else 0


def map_blocks(
    work: Callable[[int, int], Result], n_rows: int, rows_per_block: int | None
) -> Iterator[Result]:
    """Yield ``work(start, stop)`` for every block, in order; ``None`` means one block of all rows.

    A pool is made per call and only when there are at least two blocks for each thread: threads
    kept alive would be dead after a fork, and small jobs are over before a pool has started. How
    long the first block takes tells whether the others are worth one, unless
    ``BAYESRULE_NUM_THREADS`` says that they are.
    """
    size = n_rows if rows_per_block is None else rows_per_block
    spans = [(start, min(start + size, n_rows)) for start in range(0, n_rows, max(1, size))]
    threads = min(thread_count(), len(spans) // 2)
    alone = threads <= 1 or getattr(_here, "alone", False)
    if not alone and not _asked("BAYESRULE_NUM_THREADS"):
        since = time.perf_counter()
        first = work(*spans.pop(0))
        alone = (time.perf_counter() - since) * len(spans) < WORTH
        yield first
    if alone:
        for start, stop in spans:
            yield work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        # A short queue keeps finished results from piling up when merging is the slower part.
        waiting: deque[Future[Result]] = deque()
        for start, stop in spans:
            waiting.append(pool.submit(work, start, stop))
            if len(waiting) > 4 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
