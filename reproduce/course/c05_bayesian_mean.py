"""
Learning a mean, one point after the other
==========================================

The points come from a Gaussian of mean 0.8 and known variance 0.9; the prior of the mean is a
Gaussian about 0 with variance 0.9. As N grows, the law of the mean moves to the truth and becomes
narrow.

Taken one point at a time, each posterior being the prior of the next, it ends where taking all
points at once does. The most probable mean is (1 - a) m + a times the sample mean, a = N / (N + 1)
here; the predictive law adds the doubt about the mean to the known variance.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import BayesClassifier, Gaussian, MeanPrior

NOISE, PRIOR = 0.9, MeanPrior(mean=0.0, variance=0.9, noise_variance=0.9)
rng = np.random.default_rng(4)
points = rng.normal(0.8, np.sqrt(NOISE), 50)


def posterior(prior: MeanPrior, rows: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the law of the mean; the predictive variance is the noise on top."""
    density = Gaussian("diag", estimate="predictive", prior=prior)
    law = BayesClassifier(density).fit(rows[:, None], np.zeros(len(rows))).log_density_
    return float(law.mean[0, 0]), float(law.variance[0, 0]) - NOISE


grid = np.linspace(-2, 3, 500)
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(grid, norm.pdf(grid, 0, np.sqrt(0.9)), color="#999999", label="N = 0, the prior")
for n, colour in ((1, "#56b4e9"), (5, "#0072b2"), (20, "#332288"), (50, "#882255")):
    mean, variance = posterior(PRIOR, points[:n])
    ax.plot(grid, norm.pdf(grid, mean, np.sqrt(variance)), color=colour, label=f"N = {n}")
    print(
        f"N = {n:2}: mean {mean:.4f}, weight of the data {n / (n + 1):.3f}, variance {variance:.4f}"
    )
ax.axvline(0.8, color="#d55e00", lw=1)
top = ax.get_ylim()[1]
ax.annotate("truth", (0.8, top), (4, -10), textcoords="offset points", color="#d55e00")
ax.set(xlabel="mean", ylabel="density of the mean")
ax.legend(frameon=False)

step_mean, step_variance = 0.0, 0.9
for point in points:
    step_mean, step_variance = posterior(
        MeanPrior(step_mean, step_variance, NOISE), np.array([point])
    )
print(f"point by point: mean {step_mean:.10f}, variance {step_variance:.10f}")
print("all at once:    mean {:.10f}, variance {:.10f}".format(*posterior(PRIOR, points)))

# %%
# Three estimates of the law of x from the first three points: plug-in (ML), most probable (MAP) and
# predictive. The last is the widest: it knows that it does not know the mean.

few = points[:3]
mean, variance = posterior(PRIOR, few)
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, centre, spread, colour in (
    ("ML", few.mean(), NOISE, "#999999"),
    ("MAP", mean, NOISE, "#0072b2"),
    ("predictive", mean, NOISE + variance, "#d55e00"),
):
    ax.plot(grid, norm.pdf(grid, centre, np.sqrt(spread)), color=colour, label=name)
ax.plot(grid, norm.pdf(grid, 0.8, np.sqrt(NOISE)), color="k", ls=":", label="truth")
ax.set(xlabel="x", ylabel="density")
ax.legend(frameon=False)
plt.show()
