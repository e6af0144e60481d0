"""Data to learn from: loaders for well-known real sets, and made-up ones whose law is known.

``load(name)`` finds a set in a folder of CSV files, in scikit-learn, or on OpenML, checks that it
is the set it claims to be, and hands it out; ``names()`` lists what there is. ``make_elliptical``
draws classes of elliptical shape, ``make_cells`` worlds whose best rule is known exactly.

Examples
--------
>>> from bayesrule import datasets
>>> iris = datasets.load("iris")
>>> iris.X.shape
(150, 4)
>>> iris.classes
('setosa', 'versicolor', 'virginica')
"""

from __future__ import annotations

from typing import Any

from bayesrule.datasets.elliptical import EllipticalRows, make_elliptical
from bayesrule.datasets.loading import Dataset, load, names

#: Names that need compiled loops, and are imported when they are first used.
_WORLDS = ("CellWorld", "SmoothWorld", "make_cells")

__all__ = [
    "CellWorld",
    "Dataset",
    "EllipticalRows",
    "SmoothWorld",
    "load",
    "make_cells",
    "make_elliptical",
    "names",
]


def __getattr__(name: str) -> Any:
    if name not in _WORLDS:
        raise AttributeError(f"module 'bayesrule.datasets' has no attribute {name!r}")
    from bayesrule.datasets import worlds

    return getattr(worlds, name)
