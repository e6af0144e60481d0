"""
Parzen's window by hand
=======================

Ten numbers, a window of width 4: how many lie within 2 of x, divided by 10 times 4? The course
computes p(3) = 3/40 and p(15) = 5/40. At 10 it counts one number, 12, which lies exactly on the
rim of the window and is counted, hence p(10) = 1/40.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import DensityEstimate, Kernel

numbers = np.array([4, 5, 5, 6, 12, 14, 15, 15, 16, 17.0])
estimate = DensityEstimate(Kernel("square", bandwidth=4)).fit(numbers[:, None])
for x, expected in ((3, 0.075), (10, 0.025), (15, 0.125)):
    found = np.exp(estimate.score_samples([[float(x)]])[0])
    print(f"p({x}) = {found:.3f}   course: {expected}")

grid = np.linspace(0, 21, 2101)[:, None]
smooth = DensityEstimate(Kernel("gaussian", bandwidth=1.15)).fit(numbers[:, None])
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(grid, np.exp(estimate.score_samples(grid)), color="#0072b2", label="square, h = 4")
ax.plot(grid, np.exp(smooth.score_samples(grid)), color="#d55e00", label="Gaussian, as smooth")
values, counts = np.unique(numbers, return_counts=True)
for value, count in zip(values, counts, strict=True):
    ax.plot([value] * count, -0.006 * np.arange(1, count + 1), "o", color="#333333", ms=4)
for x in (3, 10, 15):
    ax.axvline(x, color="#bbbbbb", lw=0.8, zorder=0)
ax.set(xlabel="x", ylabel="density", ylim=(None, 0.16))
ax.legend(frameon=False, loc="upper left", ncols=2)
plt.show()
