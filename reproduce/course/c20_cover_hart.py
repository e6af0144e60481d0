"""
Cover and Hart: at most twice the best error
============================================

With ever more points, the error of the single nearest neighbour tends to E[2 p (1 - p)], p the
chance of the likelier class: at least the error of the best rule, e, and at most 2 e (1 - e). Two
Gaussians of which everything is known show all four; on the right they stand at several distances.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import recipes

rng = np.random.default_rng(0)
SIZES = [10, 30, 100, 300, 1000, 3000, 10_000]


def draw(n: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of spread one, so far apart."""
    y = rng.integers(0, 2, n)
    return rng.normal(apart * y, 1.0, n)[:, None], y


def error(n: int, apart: float, X_new: np.ndarray, y_new: np.ndarray) -> float:
    """Error of one neighbour among n points."""
    return 1 - recipes.nearest_neighbor().fit(*draw(n, apart)).score(X_new, y_new)


def limit(apart: float) -> float:
    """E[2 p (1 - p)], summed over a fine line."""
    x = np.linspace(-9, 9 + apart, 20_001)
    one, two = norm.pdf(x), norm.pdf(x, apart)
    return float((one * two / (one + two)).sum() * (x[1] - x[0]))


best = norm.cdf(-1.0)
bound = 2 * best * (1 - best)
new = draw(40_000, 2.0)
errors = [np.mean([error(n, 2.0, *new) for _ in range(10)]) for n in SIZES]
print(f"best rule {best:.4f}, limit of one neighbour {limit(2.0):.4f}, bound {bound:.4f}")
print("one neighbour:", *(f"{n}: {error:.4f}" for n, error in zip(SIZES, errors, strict=True)))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.semilogx(SIZES, errors, "o-", color="#0072b2")
for level, name, colour in (
    (best, "best rule, e", "#009e73"),
    (limit(2.0), "E[2 p (1 - p)]", "#777777"),
    (bound, "2 e (1 - e)", "#d55e00"),
):
    left.axhline(level, color=colour, lw=1)
    left.text(10, level - 0.002, name, color=colour, va="top")
left.set(xlabel="points fitted", ylabel="error of one neighbour", ylim=(0.14, None))
e = np.linspace(0, 0.5, 101)
right.fill_between(e, e, 2 * e * (1 - e), color="#dddddd")
right.plot(e, 2 * e * (1 - e), color="#d55e00")
right.plot(e, e, color="#009e73")
distances = np.array([0.25, 0.75, 1.25, 2.0, 2.75])
right.plot(norm.cdf(-e * 12), [limit(24 * v) for v in e], color="#777777", lw=1)
found = [error(3000, d, *draw(20_000, d)) for d in distances]
right.plot(norm.cdf(-distances / 2), found, "o", color="#0072b2")
right.text(0.2, 0.37, "at most 2 e (1 - e)", color="#d55e00", ha="right")
right.text(0.3, 0.26, "at least e", color="#009e73")
right.set(xlabel="error of the best rule, e", xlim=(0, 0.5), ylim=(0, 0.52))
plt.show()
