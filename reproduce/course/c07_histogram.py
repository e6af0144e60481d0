"""
A histogram depends on where it starts, and how wide its bins are
=================================================================

The same sixty points, with bins of one width and four origins: the number of peaks changes, though
the points do not. Below, four widths; rules such as Freedman and Diaconis's choose one from the
points. Dotted: the law that they were drawn from.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import DensityEstimate, Histogram

rng = np.random.default_rng(5)
points = np.r_[rng.normal(0, 1, 36), rng.normal(4.2, 0.8, 24)][:, None]
grid = np.linspace(-4, 8, 2401)[:, None]

fig, axes = plt.subplots(2, 4, figsize=(11, 5), layout="constrained", sharex=True, sharey="row")
for ax, origin in zip(axes[0], (0.0, 0.4, 0.8, 1.2), strict=True):
    estimate = DensityEstimate(Histogram(width=1.6, origin=origin, smoothing=0)).fit(points)
    ax.fill_between(grid[:, 0], np.exp(estimate.score_samples(grid)), color="#56b4e9", lw=0)
    ax.set_title(f"width 1.6, origin {origin}", fontsize=10)
for ax, settings in zip(
    axes[1],
    ({"width": 0.25}, {"width": 0.8}, {"width": 3.0}, {"bins": "freedman-diaconis"}),
    strict=True,
):
    estimate = DensityEstimate(Histogram(**settings, smoothing=0)).fit(points)
    ax.fill_between(grid[:, 0], np.exp(estimate.score_samples(grid)), color="#e69f00", lw=0)
    name, value = next(iter(settings.items()))
    ax.set_title(f"width {value}" if name == "width" else "Freedman and Diaconis", fontsize=10)
truth = 0.6 * norm.pdf(grid, 0, 1) + 0.4 * norm.pdf(grid, 4.2, 0.8)
for ax in axes.ravel():
    ax.plot(grid, truth, color="#333333", lw=1, ls=":")
    ax.plot(points[:, 0], np.zeros(60), "|", color="#333333", ms=8)
print("within -4 and 8 each integrates to", round(float(estimate.integrate(-4, 8)), 6))
plt.show()
