"""
One neighbour: Voronoi cells
============================

With k = 1 every point owns the places nearer to it than to any other, and the regions of the
classes are unions of such cells.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import Voronoi, voronoi_plot_2d

from bayesrule import recipes
from bayesrule.displays import DecisionRegionDisplay

rng = np.random.default_rng(3)
y = np.repeat([0, 1], 15)
X = rng.normal(np.array([[0.0, 0.0], [2.0, 1.0]])[y], 0.9)

clf = recipes.nearest_neighbor().fit(X, y)
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
DecisionRegionDisplay.from_estimator(clf, X, y, ax=ax, grid_resolution=500)
limits = ax.get_xlim(), ax.get_ylim()
voronoi_plot_2d(
    Voronoi(X), ax=ax, show_points=False, show_vertices=False, line_colors="#333333", line_alpha=0.5
)
ax.set(xlim=limits[0], ylim=limits[1], xlabel="", ylabel="")
print(f"fitted points that are right: {clf.score(X, y):.0%}")
plt.show()
