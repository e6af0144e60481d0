"""
Regions of the nearest neighbours
=================================

Three classes that no line separates, on the left with several modes and on the right concentric;
five neighbours vote, by Euclidean distance.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import recipes
from bayesrule.displays import DecisionRegionDisplay

rng = np.random.default_rng(2)
blobs = np.array([[0, 0], [4, 4], [4, 0], [0, 4], [2, 2], [6, 2]], float)
of_class = np.array([0, 0, 1, 1, 2, 2])
which = rng.integers(0, 6, 300)
multimodal = rng.normal(blobs[which], 0.6), of_class[which]

y = np.repeat([0, 1, 2], 100)
angle, radius = rng.uniform(0, 2 * np.pi, 300), rng.normal(1.5 + 1.8 * y, 0.45)
concentric = np.c_[radius * np.cos(angle), radius * np.sin(angle)], y

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for ax, (X, labels), title in zip(
    axes, (multimodal, concentric), ("several modes", "concentric"), strict=True
):
    clf = recipes.knn(5).fit(X, labels)
    DecisionRegionDisplay.from_estimator(clf, X, labels, ax=ax, legend=False)
    ax.set(title=title, xlabel="", ylabel="")
    print(f"{title:14} {clf.score(X, labels):.3f} of the fitted points right")
plt.show()
