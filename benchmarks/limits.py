"""What this machine can do at most: read, write, multiply. Every job is held against that."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.contest import Result

#: Bytes that no cache holds, and sides of a matrix whose product is all arithmetic.
LARGE, SIDE = 1 << 28, 1024


@dataclass(frozen=True)
class Limits:
    """Bytes and operations a second on one thread."""

    bytes_per_second: float
    flops_per_second: float

    @classmethod
    def measured(cls, rounds: int = 5) -> Limits:
        """The best of some rounds: a sum over a large array, a product of matrices."""
        values = np.ones(LARGE // 8)
        matrix = np.ones((SIDE, SIDE))
        read = min(_seconds(values.sum) for _ in range(rounds))
        product = min(_seconds(lambda: matrix @ matrix) for _ in range(rounds))
        return cls(values.nbytes / read, 2.0 * SIDE**3 / product)

    def seconds(self, result: Result) -> float:
        """The least that the work of a job can take here; 0 where it was not stated."""
        return max(result.n_bytes / self.bytes_per_second, result.flops / self.flops_per_second)

    def share(self, result: Result) -> float | None:
        """How much of the limit a job reaches."""
        if not result.ours_seconds or not (result.n_bytes or result.flops):
            return None
        return self.seconds(result) / result.ours_seconds

    def __str__(self) -> str:
        return (
            f"reads {self.bytes_per_second / 1e9:.1f} GB/s, multiplies matrices at "
            f"{self.flops_per_second / 1e9:.0f} Gflop/s, on one thread"
        )


def _seconds(call) -> float:  # type: ignore[no-untyped-def]
    start = time.process_time()
    call()
    return time.process_time() - start
