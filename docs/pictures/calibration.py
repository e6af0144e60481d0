"""How often tumours were malignant, over the chance that was predicted."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesrule import BayesClassifier, FromClassifier, evaluate, recipes

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
models = {
    "LDA": (recipes.lda(), "#d55e00", "s"),
    "LDA, calibrated": (
        BayesClassifier(
            FromClassifier(CalibratedClassifierCV(recipes.lda(), method="temperature", cv=5))
        ),
        "#0072b2",
        "o",
    ),
}
#: Chances are drawn by their log odds, as thresholds lie near 0; these ends stand for all beyond.
LOW, HIGH = 1e-3, 1 - 1e-3
TICKS = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
PERCENT = ["1", "10", "50", "90", "99"]


def odds(chance: np.ndarray) -> np.ndarray:
    """Log odds of a chance, within the ends."""
    inside = np.clip(chance, LOW, HIGH)
    return np.log(inside / (1 - inside))


fig, ax = plt.subplots(figsize=(5.4, 4.4), layout="constrained")
ends = odds(np.array([0.0, 1.0]))
ax.plot(ends, ends, color="#999999", lw=1, ls="--")
ax.annotate(
    "as predicted", (0.8, 0.8), (10, -14), textcoords="offset points", color="#777777", fontsize=9
)
for name, (model, colour, marker) in models.items():
    table = evaluate(model.fit(X, y), X_new, y_new).calibration["malignant"]
    ax.plot(odds(table.predicted), odds(table.observed), marker + "-", color=colour, label=name)
ax.set_xticks(odds(np.array(TICKS)), ["≤ 0.1 %", *PERCENT, "≥ 99.9 %"])
ax.set_yticks(odds(np.array(TICKS)), ["≤ 0.1 %", *PERCENT, "≥ 99.9 %"])
ax.set(xlabel="predicted chance of malignant", ylabel="share that was malignant")
ax.legend(loc="upper left")
