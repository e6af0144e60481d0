"""One model, two ways to decide: by the most probable class, and by the highest gain.

Learned from half of the rows; drawn and judged are the others.
``docs/images/regions.png``, which the README shows, is this picture.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from bayesrule import evaluate, recipes
from bayesrule.demo import gain_matrix

FILL = {"malignant": "#f5d3b8", "benign": "#b9d8ea", "refer": "#dcdcdc"}
NAMES = {
    "treat": (0.112, 58, "#8a4210"),
    "leave": (0.0275, 66, "#00507d"),
    "refer": (0.056, 66, "#444444"),
}

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X[["mean concave points", "worst perimeter"]], y.map({0: "malignant", 1: "benign"})
gain = gain_matrix()
by_gain = recipes.qda(gain=gain).fit(X[::2], y[::2])
X, y = X[1::2], y[1::2]
rules = {
    "by the most probable class": by_gain.with_rule(gain=None),
    "by the highest expected gain": by_gain,
}
ends = np.array([[-0.005, 0.13], [48.0, 172.0]])
across, up = (np.linspace(*end, 400) for end in ends)
grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", sharey=True)
for ax, (name, rule) in zip(axes, rules.items(), strict=True):
    decided = rule.predict(pd.DataFrame(grid, columns=X.columns)).reshape(400, 400)
    for decision, colour in FILL.items():
        inside = (decided == decision).astype(float)
        if inside.any():
            ax.contourf(across, up, inside, [0.5, 2.0], colors=[colour])
            ax.contour(across, up, inside, [0.5], colors=["#666666"], linewidths=0.8)
    for label, colour, marker in (("benign", "#0072b2", "o"), ("malignant", "#d55e00", "^")):
        rows = X[y == label].to_numpy()
        ax.scatter(*rows.T, s=16, c=colour, marker=marker, edgecolors="white", linewidths=0.4)
    for text, (right, high, ink) in NAMES.items():
        if text != "refer" or rule is by_gain:
            ax.text(right, high, text, color=ink, fontsize=11, weight="bold", ha="center")
    missed = (y == "malignant") & (rule.predict(X) == "benign")
    ax.scatter(
        *X[missed].to_numpy().T, s=90, facecolors="none", edgecolors="#b00020", linewidths=1.6
    )
    found = evaluate(rule, X, y, gain=gain)
    ax.set_title(
        f"{name}\n{found.expected_gain:+.1f} a case, {missed.sum()} cancers missed",
        fontsize=11, loc="left",
    )  # fmt: skip
    ax.set(xlim=ends[0], ylim=ends[1], xlabel="concave points of the tumour")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("worst perimeter")
