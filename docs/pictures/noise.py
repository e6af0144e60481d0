"""Three models under wrong labels and under noise of the features, by what they earn."""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from bayesrule import expected_gain_scorer, recipes, robustness_curve
from bayesrule.displays import RobustnessDisplay

gain = {
    "malignant": {"treat": 20, "leave": -100, "refer": 15},
    "benign": {"treat": -20, "leave": 0, "refer": -3},
}
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
models = {
    "LDA": recipes.lda(gain=gain),
    "naive Bayes": recipes.gaussian_nb(gain=gain),
    "forest of partitions": recipes.spdbc_forest(gain=gain),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for ax, noise, levels in zip(
    axes, ("labels", "features"), ([0, 0.15, 0.3], [0, 0.25, 0.5, 0.75]), strict=True
):
    curve = robustness_curve(
        models, X, y, noise=noise, levels=levels, cv=3, scoring=expected_gain_scorer()
    )
    RobustnessDisplay.from_curve(curve, ax=ax, confidence=None, legend=ax is axes[1])
axes[0].set_ylabel("expected gain of a case")
axes[1].set_ylabel("")
axes[0].set_ylim(auto=True)
