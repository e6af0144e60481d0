"""
Independent given the class is not independent
==============================================

Three classes, two features. On the left the features are independent within each class, so
contours of each class are upright ellipses; the mixture of the classes is anything but the product
of its margins. On the right one upright Gaussian: there both hold.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import recipes

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [4.0, 4.0], [7.0, 0.5]])
spread = np.array([[1.6, 0.7], [0.8, 1.2], [1.0, 1.0]])
y = np.repeat([0, 1, 2], 400)
X = rng.normal(centres[y], spread[y])

fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharex=True, sharey=True)
grid = np.stack(np.meshgrid(np.linspace(-5, 11, 160), np.linspace(-4, 8, 120)), axis=-1)
points = grid.reshape(-1, 2)
one = rng.normal([3.0, 1.5], [2.5, 1.5], X.shape)
for ax, rows, labels, title in (
    (axes[0], X, y, "p(x | class) is a product, p(x) is not"),
    (axes[1], one, np.zeros_like(y), "one class: both are products"),
):
    clf = recipes.gaussian_nb().fit(rows, labels)
    density = np.exp(clf.log_density(points))
    for k, colour in zip(range(density.shape[1]), ["#0072b2", "#d55e00", "#009e73"], strict=False):
        ax.contour(
            *grid.transpose(2, 0, 1), density[:, k].reshape(grid.shape[:2]), 5, colors=colour
        )
    ax.scatter(*rows.T, s=2, color="#bbbbbb", zorder=0)
    ax.set(title=title, xlabel="$x_1$")
axes[0].set(ylabel="$x_2$")

clf = recipes.gaussian_nb().fit(X, y)
apart = np.corrcoef(X.T)[0, 1]
within = np.mean([np.corrcoef(X[y == k].T)[0, 1] for k in range(3)])
print(f"correlation over all rows {apart:+.2f}, mean within the classes {within:+.2f}")
plt.show()
