"""A density without classes: the alcohol of wines, by kernels and by a histogram."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from bayesrule import DensityEstimate, Histogram, Kernel

alcohol = load_wine(as_frame=True).data[["alcohol"]]
line = np.linspace(10.5, 15.5, 1000)
estimates = {
    "Histogram()": (Histogram(), {"color": "#bbbbbb", "lw": 1.2}),
    'Kernel(bandwidth="isj")': (Kernel(bandwidth="isj"), {"color": "#0072b2", "lw": 2}),
}
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for name, (density, look) in estimates.items():
    fitted = DensityEstimate(density).fit(alcohol.to_numpy())
    ax.plot(line, np.exp(fitted.score_samples(line[:, None])), label=name, **look)
inside = (line >= 13) & (line <= 14)
ax.fill_between(
    line[inside], np.exp(fitted.score_samples(line[inside, None])), color="#0072b2", alpha=0.15
)
share = fitted.integrate(13, 14)
ax.text(13.5, 0.12, f"{share:.0%}", ha="center", color="#0072b2", fontsize=12)
ax.plot(alcohol, np.full(len(alcohol), -0.015), "|", color="#555555", ms=7, alpha=0.5)
ax.set(xlabel="alcohol, %", ylabel="density", xlim=(10.5, 15.5), ylim=(-0.03, None))
ax.legend(loc="upper left")
