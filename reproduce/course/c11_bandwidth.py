"""
Bandwidth: too small, too large
===============================

The estimate is a sum of bumps, one on each point. Narrow bumps follow every point, wide ones hide
what is there. The rules look at the spread of the points; the searches ask how well each point is
foretold by the others.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import DensityEstimate, Kernel

rng = np.random.default_rng(1)
points = np.r_[rng.normal(-1.5, 0.5, 40), rng.normal(1.5, 0.9, 60)][:, None]
grid = np.linspace(-4.5, 5.5, 1001)[:, None]
truth = 0.4 * norm.pdf(grid, -1.5, 0.5) + 0.6 * norm.pdf(grid, 1.5, 0.9)

fig, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained", sharey=True)
for ax, h in zip(axes, (0.06, 0.35, 2.0), strict=True):
    estimate = DensityEstimate(Kernel(bandwidth=h)).fit(points)
    if h > 0.2:  # the bumps that make the sum
        for x in points[::8, 0]:
            ax.plot(grid, norm.pdf(grid, x, h) / 100, color="#cccccc", lw=0.7)
    ax.plot(grid, np.exp(estimate.score_samples(grid)), color="#0072b2")
    ax.plot(grid, truth, "k:", lw=1)
    ax.set_title(f"h = {h}")
for name in ("normal", "silverman", "scott", "cv_likelihood", "cv_squares", "sj", "isj"):
    estimate = DensityEstimate(Kernel(bandwidth=name)).fit(points)
    error = np.trapezoid((np.exp(estimate.score_samples(grid)) - truth[:, 0]) ** 2, grid[:, 0])
    print(f"{name:14} h = {estimate.bandwidth_[0]:.3f}, integrated squared error {error:.5f}")
plt.show()
