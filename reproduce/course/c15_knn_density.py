"""
The density k / (N V), and why to be careful with it
====================================================

Around x, the ball that holds the k nearest points has the volume V. The estimate follows the
density, but it is spiky, has tails that fall like 1 / V, and does not integrate to one. More
points and more neighbours help: k must grow, and k / N must go to zero.
"""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import multivariate_normal, norm

from bayesrule import DensityEstimate, Neighbors
from bayesrule.notices import BayesRuleWarning

warnings.simplefilter("ignore", BayesRuleWarning)  # it says what this page shows
rng = np.random.default_rng(0)
line = np.linspace(-4, 8, 1201)[:, None]
truth = 0.5 * norm.pdf(line, 0, 1) + 0.5 * norm.pdf(line, 4, 0.7)
fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, (n, k) in zip(axes, ((100, 3), (100, 15), (5000, 200)), strict=True):
    side = rng.random(n) < 0.5
    points = np.where(side, rng.normal(0, 1, n), rng.normal(4, 0.7, n))[:, None]
    estimate = DensityEstimate(Neighbors(k)).fit(points)
    found = np.exp(estimate.score_samples(line))
    ax.plot(line, found, color="#0072b2", lw=1)
    ax.plot(line, truth, "k:", lw=1)
    ax.set(title=f"N = {n}, k = {k}", ylim=(0, 0.8))
    wide = np.linspace(-1000, 1000, 2_000_001)[:, None]
    mass = np.exp(estimate.score_samples(wide[::20])).sum() * 0.02
    print(f"N = {n:4}, k = {k:3}: integral from -1000 to 1000 is {mass:.3f}, and still growing")

# %%
# In two dimensions: half of the points around (0, 5), half around (5, 0).

first = multivariate_normal([0, 5], [[1, 1], [1, 2]])
second = multivariate_normal([5, 0], [[1, -1], [-1, 4]])
x, y = np.meshgrid(np.linspace(-5, 10, 121), np.linspace(-7, 11, 121))
grid = np.c_[x.ravel(), y.ravel()]
truth = 0.5 * first.pdf(grid) + 0.5 * second.pdf(grid)
levels = np.quantile(truth[truth > 1e-4], [0.3, 0.6, 0.8, 0.95])
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharex=True, sharey=True)
for ax, (n, k) in zip(axes, ((None, None), (1000, 100), (200, 10)), strict=True):
    values = truth
    if n is not None:
        points = np.r_[first.rvs(n // 2, rng), second.rvs(n // 2, rng)]
        values = np.exp(DensityEstimate(Neighbors(k)).fit(points).score_samples(grid))
        ax.plot(*points.T, ".", color="#bbbbbb", ms=2, zorder=0)
    ax.contour(x, y, values.reshape(x.shape), levels, colors="#0072b2", linewidths=1)
    ax.set_title("theory" if n is None else f"N = {n}, k = {k}")
plt.show()
