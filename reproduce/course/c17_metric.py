"""
Neighbours see noise as well as they see information
====================================================

Three classes along the first axis; the second is white noise. In the right scale five neighbours
do well. Multiply the noise by 100, and distance is nothing but noise. Standardised columns repair
that; weights on the features, and axes learned from the classes, do better still.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import BayesClassifier, Neighbors
from bayesrule.displays import DecisionRegionDisplay


def draw(n: int, seed: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Class along the first axis, noise of some scale along the second."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.c_[rng.normal(3.0 * y, 0.9), scale * rng.normal(0, 1, n)], y


tried = {
    "noise as it is": (1.0, Neighbors(5)),
    "noise times 100": (100.0, Neighbors(5)),
    "times 100, standardised": (100.0, Neighbors(5, "standardised")),
    "times 100, weights 1 and 0": (100.0, Neighbors(5, feature_weights=[1.0, 0.0])),
    "times 100, axes of the classes": (100.0, Neighbors(5, "lda")),
}
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
panels = iter(axes)
for name, (scale, density) in tried.items():
    X, y = draw(150, 0, scale)
    clf = BayesClassifier(density).fit(X, y)
    accuracy = clf.score(*draw(5000, 1, scale))
    print(f"{name:32} {accuracy:.3f} of new points right")
    if name in ("noise as it is", "noise times 100", "times 100, standardised"):
        ax = next(panels)
        DecisionRegionDisplay.from_estimator(clf, X, y, ax=ax, legend=False)
        ax.set(title=f"{name}: {accuracy:.2f} right", xlabel="information", ylabel="noise")
plt.show()
