"""Data to learn from: loaders for well-known real sets, and made-up classes of elliptical shape.

``load(name)`` finds a set in a folder of CSV files, in scikit-learn, or on OpenML, checks that it
is the set it claims to be, and hands it out; ``names()`` lists what there is.

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

from bayesrule.datasets.elliptical import EllipticalRows, make_elliptical
from bayesrule.datasets.loading import Dataset, load, names

__all__ = ["Dataset", "EllipticalRows", "load", "make_elliptical", "names"]
