"""
The likelihood of a mean, for twelve points
===========================================

Points drawn from a Gaussian of mean 3 and variance 1. The likelihood of a candidate mean is the
product of the densities of all points, its logarithm their sum: what makes the one narrow and the
other a parabola about the sample mean.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import BayesClassifier, Gaussian

rng = np.random.default_rng(1)
points = rng.normal(3.0, 1.0, 48)
means = np.linspace(0.0, 6.0, 601)

fig, (above, below) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
for n, colour in ((3, "#56b4e9"), (12, "#0072b2"), (48, "#332288")):
    log_likelihood = norm.logpdf(points[:n, None], means).sum(axis=0)
    above.plot(means, np.exp(log_likelihood - log_likelihood.max()), color=colour, label=f"N = {n}")
    if n == 12:
        below.plot(means, log_likelihood, color=colour)
        best = means[log_likelihood.argmax()]
        below.axvline(best, color="#999999", lw=1)
above.plot(points[:12], np.zeros(12), "|", color="#d55e00", ms=14)
above.set(ylabel="likelihood, highest is 1")
below.set(xlabel="mean", ylabel="log-likelihood, N = 12")
above.legend(frameon=False)

learned = BayesClassifier(Gaussian("diag")).fit(points[:12, None], np.zeros(12))
print(f"highest on the grid at {best:.2f}; the sample mean is {points[:12].mean():.4f}")
print(f"what the library learns: {learned.log_density_.mean[0, 0]:.4f}")
plt.show()
