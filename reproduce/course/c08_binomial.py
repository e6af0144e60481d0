"""
Why k / N: the binomial law
===========================

Of N points, k fall into a region of probability P. The share k / N is right on average, its
variance is P (1 - P) / N, and as N grows its law gathers around P. Divided by the volume of the
region it estimates the density there.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binom

from bayesrule import DensityEstimate, Histogram

P = 0.3
rng = np.random.default_rng(0)
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for n, colour in ((10, "#56b4e9"), (50, "#0072b2"), (400, "#332288")):
    k = np.arange(n + 1)
    ax.plot(k / n, n * binom.pmf(k, n, P), ".-", color=colour, label=f"N = {n}", ms=3, lw=1)
    # The region is [0, 0.3), the law uniform on [0, 1]: a histogram with an edge at 0.3.
    shares = [
        np.exp(
            DensityEstimate(Histogram(bins=[0.0, P, 1.0], smoothing=0))
            .fit(rng.random((n, 1)))
            .score_samples([[0.1]])[0]
        )
        * P
        for _ in range(300)
    ]
    print(
        f"N = {n:3}: mean of k / N {np.mean(shares):.4f} (P = {P}), "
        f"variance {np.var(shares):.5f} (P (1 - P) / N = {P * (1 - P) / n:.5f})"
    )
ax.axvline(P, color="#d55e00", lw=1)
ax.text(P + 0.04, 16, f"P = {P}", color="#d55e00")
ax.set(xlabel="k / N", ylabel="N times the probability of k", xlim=(0, 1))
ax.legend(frameon=False)
plt.show()
