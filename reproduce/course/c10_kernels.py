"""
Kernels, and the estimate as a convolution
==========================================

Every kernel integrates to one. What a kernel estimate expects to find is not the density but its
convolution with the kernel: the mean of many estimates lies on that curve, not on the truth.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from bayesrule import DensityEstimate, Kernel

NAMES = ("square", "triangle", "biweight", "epanechnikov", "gaussian")
u = np.linspace(-2.5, 2.5, 2501)[:, None]
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name in NAMES:
    bump = DensityEstimate(Kernel(name, bandwidth=1.0)).fit([[0.0]])
    left.plot(u, np.exp(bump.score_samples(u)), label=name)
    print(f"{name:13} integrates to {float(bump.integrate(-40.0, 40.0)):.6f}")
left.set(title="one point at 0, h = 1", xlabel="u", ylabel="K(u)")
left.legend(frameon=False, fontsize=8)

# A mixture of two Gaussians; convolved with a Gaussian of width h it stays one, a little wider.
H, N, REPEATS = 0.5, 60, 200
rng = np.random.default_rng(0)
grid = np.linspace(-4, 4, 401)[:, None]


def mixture(x: np.ndarray, extra: float = 0.0) -> np.ndarray:
    """Density of the truth, or of its convolution."""
    spread = np.sqrt(0.4**2 + extra**2)
    return 0.5 * norm.pdf(x, -1, spread) + 0.5 * norm.pdf(x, 1, spread)


estimates = []
for _ in range(REPEATS):
    points = rng.normal(rng.choice([-1.0, 1.0], N), 0.4)[:, None]
    law = DensityEstimate(Kernel("gaussian", bandwidth=H)).fit(points)
    estimates.append(np.exp(law.score_samples(grid)))
for one in estimates[:12]:
    right.plot(grid, one, color="#cccccc", lw=0.6)
right.plot(grid, mixture(grid), "k:", label="truth")
right.plot(grid, mixture(grid, H), color="#d55e00", label="truth * kernel")
right.plot(grid, np.mean(estimates, axis=0), "--", color="#0072b2", label=f"mean of {REPEATS}")
right.set(title=f"h = {H}", xlabel="x")
right.legend(frameon=False, fontsize=8)
far = np.abs(np.mean(estimates, axis=0) - mixture(grid, H)[:, 0]).max()
print(f"mean of {REPEATS} estimates against the convolution: {far:.4f} at most")
plt.show()
