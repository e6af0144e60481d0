"""The grid. A new line of it is one call of :func:`job`, in any file of this folder.

    @job("poisson: fit", sizes=(10_000, 1_000_000), quick=(10_000,), goals={1_000_000: 5.0})
    def poisson_fit(n: int) -> Contest:
        X, y = ...                                    # from a fixed seed
        return Contest(ours=..., peers={"their name": ...}, differ=...)

Only public calls count, so that the checks of the input are part of the time. Peers get the
settings under which both sides define the same thing, and are otherwise left at their defaults.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module

from benchmarks.contest import Contest, Job

#: All jobs, in the order in which they run.
JOBS: list[Job] = []


def job(
    name: str,
    *,
    sizes: tuple[int, ...],
    quick: tuple[int, ...] = (),
    goals: Mapping[int, float] | None = None,
    tiny: int = 500,
) -> Callable[[Callable[[int], Contest]], Callable[[int], Contest]]:
    """Enter what makes a contest into the grid; ``quick`` is the smallest size if left out."""

    def enter(make: Callable[[int], Contest]) -> Callable[[int], Contest]:
        JOBS.append(Job(name, make, sizes, quick or sizes[:1], goals or {}, tiny))
        return make

    return enter


for _module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
    import_module(f"{__name__}.{_module.name}")
