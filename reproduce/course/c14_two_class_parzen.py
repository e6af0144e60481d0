"""
No single bandwidth is ideal
============================

Two classes, isotropic Gaussian kernels, decisions of the most probable class. With h = 0.5 the
regions follow single points; with h = 2 they are smooth and miss what is narrow. Kernels that are
wide where points are sparse, and a bandwidth for each class chosen by what it decides, do better
than either.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import BayesClassifier, Kernel
from bayesrule.displays import DecisionRegionDisplay


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One wide ring-like class, and one that is dense in the middle and has an outpost."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.normal(6.0, 1.2, n)
    ring = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    middle = rng.normal(0, 1.4, (n - n // 5, 2))
    outpost = rng.normal([6.0, 5.0], 0.5, (n // 5, 2))
    return np.r_[ring, middle, outpost], np.repeat(["ring", "middle"], n)


X, y = draw(60, 0)
X_new, y_new = draw(5000, 1)
settings = {
    "h = 0.5": Kernel(bandwidth=0.5),
    "h = 2": Kernel(bandwidth=2.0),
    "by gain": Kernel(bandwidth="gain"),
    "by gain, adaptive": Kernel(bandwidth="gain", adaptive=True),
}
fig, axes = plt.subplots(2, 2, figsize=(8.5, 8), layout="constrained", sharex=True, sharey=True)
for ax, (name, density) in zip(axes.ravel(), settings.items(), strict=True):
    clf = BayesClassifier(density).fit(X, y)
    DecisionRegionDisplay.from_estimator(clf, X, y, ax=ax, legend=False)
    accuracy = clf.score(X_new, y_new)
    ax.set(xlabel="", ylabel="")
    ax.set_title(f"{name}: {accuracy:.3f} of new points right")
    print(f"{name:18} fitted points {clf.score(X, y):.3f}, new points {accuracy:.3f}")
plt.show()
