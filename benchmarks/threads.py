"""What the threads that calls start by default bring: never a loss, whatever the size."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from bayesrule import BayesClassifier, Cells, Gaussian, Kernel
from bayesrule.kernels.blocks import thread_count
from benchmarks.data import gaussian_classes
from benchmarks.figures import Figure
from benchmarks.timing import Pace, take_turns

#: The least of the speed on one thread that all threads may give: noise aside, no loss.
LEAST = 0.9
WHY = (
    "Threads share the bandwidth of the memory, and where other programs keep the cores busy they "
    "wait for one another."
)
PACE = Pace(seconds=0.4, least=5, most=200)


def calls() -> dict[str, Callable[[], Any]]:
    """Calls of several sizes."""
    found: dict[str, Callable[[], Any]] = {}
    for name, make, sizes in (
        ("naive Bayes", partial(Gaussian, "diag"), (1000, 100_000, 1_000_000)),
        ("full covariance", partial(Gaussian, "full"), (1000, 100_000)),
        ("cells", partial(Cells, 1000, boundaries="equal"), (100_000,)),
        ("kernel", Kernel, (1000, 10_000)),
    ):
        for n in sizes:
            X, y = gaussian_classes(n, 5 if name == "kernel" else 20 if name != "cells" else 6, 3)
            clf = BayesClassifier(make()).fit(X, y)
            if name != "kernel":
                found[f"{name}, {n:,} rows: fit"] = partial(clf.fit, X, y)
            found[f"{name}, {n:,} rows: predict"] = partial(
                clf.predict, X[:10_000] if name == "kernel" else X
            )
    return found


def figures() -> list[Figure]:
    """How many times as fast as on one thread; nothing where there is one only."""
    os.environ.pop("BAYESRULE_NUM_THREADS", None)
    os.environ.pop("OMP_NUM_THREADS", None)
    n_threads = thread_count()
    if n_threads == 1:
        return []
    found = []
    for name, call in calls().items():

        def on(n: int, call: Callable[[], Any] = call) -> None:
            if n == 1:
                os.environ["BAYESRULE_NUM_THREADS"] = "1"
            else:  # as by default
                os.environ.pop("BAYESRULE_NUM_THREADS", None)
            call()

        turns = {n: partial(on, n) for n in (1, n_threads)}
        turns[n_threads]()
        seconds = take_turns(turns, PACE)
        ratios = seconds[1] / seconds[n_threads]
        found.append(Figure.of(f"{name}, {n_threads} threads", ratios, goal=LEAST, why=WHY))
    os.environ.pop("BAYESRULE_NUM_THREADS", None)
    return found
