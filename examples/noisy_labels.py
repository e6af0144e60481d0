"""
When the labels are wrong
=========================

Labels come from people in a hurry. Here up to four in ten of the training labels of the tumours are
flipped at random, and the models are judged on clean ones. A forest of soft partitions gives each
row so many neighbours of its kind that single wrong labels drown; trees learn them by heart.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

from bayesrule import recipes, robustness_curve
from bayesrule.displays import RobustnessDisplay

X, y = load_breast_cancer(return_X_y=True)
models = {
    "forest of partitions": recipes.spdbc_forest(),
    "random forest": RandomForestClassifier(50, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=50, random_state=0),
}
curve = robustness_curve(models, X, y, noise="labels", levels=[0.0, 0.1, 0.2, 0.3, 0.4], cv=3)
for name, means in zip(models, curve.means, strict=True):
    print(f"{name:22}", *(f"{mean:.3f}" for mean in means))

RobustnessDisplay.from_curve(curve, confidence=None)
plt.show()
