"""
Kernels in several dimensions: products and radial ones
=======================================================

Sixty correlated points. A product of two kernels has a width for each axis, and smears what lies
aslant; a radial kernel with a full matrix H turns with the points. H is in squared units, and the
Gaussian needs the power D / 2 in its constant.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import DensityEstimate, Kernel

rng = np.random.default_rng(0)
points = rng.normal(size=(60, 2)) @ np.array([[1.6, 1.4], [0.0, 0.5]])
x, y = np.meshgrid(np.linspace(-6, 6, 161), np.linspace(-6, 6, 161))
grid = np.c_[x.ravel(), y.ravel()]
settings = {
    "product, one width": Kernel("epanechnikov", bandwidth=1.5),
    "product, a width per axis": Kernel("epanechnikov", bandwidth=[1.6, 1.3]),
    "radial, H = 0.6 I": Kernel("gaussian", bandwidth=0.6 * np.eye(2), product=False),
    "radial, H like the points": Kernel("gaussian", bandwidth="scott", product=False),
}
fig, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharex=True, sharey=True)
for ax, (name, density) in zip(axes, settings.items(), strict=True):
    estimate = DensityEstimate(density).fit(points)
    values = np.exp(estimate.score_samples(grid)).reshape(x.shape)
    ax.contourf(x, y, values, 8, cmap="Blues")
    ax.plot(*points.T, ".", color="#333333", ms=2)
    ax.set_title(name, fontsize=10)
    mass = values.sum() * (12 / 160) ** 2
    print(f"{name:28} mass on the grid {mass:.4f}")
plt.show()
