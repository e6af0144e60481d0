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
import re
import sys
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
    why: str = "",
) -> Callable[[Callable[[int], Contest]], Callable[[int], Contest]]:
    """Enter what makes a contest into the grid.

    Left out, ``quick`` are the sizes that have a goal, or the smallest one. The section is the
    beginning of what the file's docstring says.
    """

    def enter(make: Callable[[int], Contest]) -> Callable[[int], Contest]:
        shown = quick or tuple(goals or ()) or sizes[:1]
        home = sys.modules[getattr(make, "func", make).__module__]
        section = re.split(r"[:,.]", home.__doc__ or "")[0]
        JOBS.append(Job(name, make, sizes, shown, goals or {}, tiny, why, section))
        return make

    return enter


for _module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
    import_module(f"{__name__}.{_module.name}")
