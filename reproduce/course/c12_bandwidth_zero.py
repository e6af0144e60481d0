"""
Why the likelihood alone gives bandwidth zero
=============================================

The likelihood of the points under an estimate made of the same points grows without end as h goes
to zero: every point sits under its own spike. Leaving each point out when it is foretold gives a
maximum where one would want it.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import DensityEstimate, Kernel

rng = np.random.default_rng(3)
points = rng.normal(0, 1, 80)[:, None]
widths = np.geomspace(0.003, 3, 60)
own, left_out = [], []
for h in widths:
    estimate = DensityEstimate(Kernel(bandwidth=h)).fit(points)
    density = np.exp(estimate.score_samples(points))
    own.append(np.log(density).mean())
    # n p(x) is the sum of n bumps, one of them the point's own, of height K(0) / h.
    others = (80 * density - norm.pdf(0) / h) / 79
    left_out.append(np.log(np.maximum(others, 1e-300)).mean())
chosen = DensityEstimate(Kernel(bandwidth="cv_likelihood")).fit(points).bandwidth_[0]
best = widths[np.argmax(left_out)]
print(f"leave-one-out is best at h = {best:.3f} of those tried; 'cv_likelihood' finds {chosen:.3f}")

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.semilogx(widths, own, color="#d55e00", label="of the points that made it")
ax.semilogx(widths, left_out, color="#0072b2", label="of each point by the others")
ax.axvline(chosen, color="#0072b2", lw=0.8, ls=":")
ax.text(1.05 * chosen, -3.8, "chosen", color="#0072b2")
ax.set(xlabel="bandwidth h", ylabel="mean log-likelihood", ylim=(-4, 1))
ax.legend(frameon=False)
plt.show()
