"""
The variance that maximum likelihood finds is too small
=======================================================

Its expectation is (N - 1) / N times the true one, because the mean it is taken about was fitted to
the same points. The bias goes as N grows; dividing by N - 1 removes it.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import BayesClassifier, Gaussian

SIZES, REPEATS = [2, 3, 5, 10, 20, 50], 4000
rng = np.random.default_rng(0)
found = {"ml": [], "unbiased": []}
for n in SIZES:
    # Every repetition is a class of its own, so one fit learns all variances.
    X, y = rng.normal(size=(REPEATS * n, 1)), np.repeat(np.arange(REPEATS), n)
    for estimate, means in found.items():
        law = BayesClassifier(Gaussian("diag", estimate=estimate)).fit(X, y).log_density_
        means.append(law.variance.mean())

for n, ml, unbiased in zip(SIZES, found["ml"], found["unbiased"], strict=True):
    print(f"N = {n:2}: ML {ml:.3f}, expected {(n - 1) / n:.3f}; unbiased {unbiased:.3f}")

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
grid = np.linspace(2, 50, 200)
ax.plot(grid, (grid - 1) / grid, color="#999999", lw=1, label="(N - 1) / N")
ax.plot(SIZES, found["ml"], "o", color="#0072b2", label="maximum likelihood")
ax.plot(SIZES, found["unbiased"], "s", color="#d55e00", label="divided by N - 1")
ax.set(xlabel="points N", ylabel="mean of the estimated variance", ylim=(0.4, 1.1))
ax.legend(frameon=False, loc="lower right")
plt.show()
