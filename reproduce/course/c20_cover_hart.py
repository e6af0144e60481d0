"""
Cover and Hart: at most twice the best error
============================================

With ever more points, the error of the single nearest neighbour tends to E[2 p (1 - p)], p the
chance of the likelier class: at least the error of the best rule, e, and at most 2 e (1 - e). Two
Gaussians of which everything is known show all four.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import recipes

rng = np.random.default_rng(0)
SIZES = [10, 30, 100, 300, 1000, 3000, 10_000]


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes."""
    y = rng.integers(0, 2, n)
    return rng.normal(2.0 * y, 1.0, n)[:, None], y


X_new, y_new = draw(40_000)
posterior = norm.pdf(X_new[:, 0], 2) / (norm.pdf(X_new[:, 0], 2) + norm.pdf(X_new[:, 0], 0))
best = norm.cdf(-1.0)
limit = np.mean(2 * posterior * (1 - posterior))
bound = 2 * best * (1 - best)
errors = [
    np.mean([1 - recipes.nearest_neighbor().fit(*draw(n)).score(X_new, y_new) for _ in range(10)])
    for n in SIZES
]
print(f"best rule {best:.4f}, limit of one neighbour {limit:.4f}, bound {bound:.4f}")
print("one neighbour:", *(f"{n}: {error:.4f}" for n, error in zip(SIZES, errors, strict=True)))

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.semilogx(SIZES, errors, "o-", color="#0072b2")
for level, name, colour in (
    (best, "best rule, e", "#009e73"),
    (limit, "E[2 p (1 - p)]", "#777777"),
    (bound, "2 e (1 - e)", "#d55e00"),
):
    ax.axhline(level, color=colour, lw=1)
    ax.annotate(name, (1.0, level), (4, -3), xycoords=("axes fraction", "data"),
                textcoords="offset points", color=colour, annotation_clip=False)  # fmt: skip
ax.set(xlabel="points fitted", ylabel="error of one neighbour", ylim=(0.14, None))
plt.show()
