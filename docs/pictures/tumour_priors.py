"""What three rules earn where cancer is rare, and where it is not."""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesrule import BayesClassifier, FromClassifier, Minimax, evaluate, recipes

gain = {
    "malignant": {"treat": 20, "leave": -100, "refer": 15},
    "benign": {"treat": -20, "leave": 0, "refer": -3},
}
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
lda = CalibratedClassifierCV(recipes.lda("auto"), method="temperature", cv=5)
clinic = BayesClassifier(FromClassifier(lda), gain=gain).fit(X, y)
rules = {
    "screening, 1 %": (clinic.with_rule(priors={"malignant": 0.01, "benign": 0.99}), "#0072b2"),
    "minimax": (clinic.with_rule(priors=Minimax(), X=X, y=y), "#d55e00"),
    "1 to 10 %": (
        clinic.with_rule(priors=Minimax(box={"malignant": (0.01, 0.10)}), X=X, y=y),
        "#009e73",
    ),
}


def earns(rule, share: float) -> float:
    """Expected gain where a share of the tumours is malignant."""
    priors = {"malignant": share, "benign": 1 - share}
    return evaluate(rule, X_new, y_new, priors=priors).expected_gain


fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, (rule, colour) in rules.items():
    # For a rule that stays as it is, the gain is linear in the share.
    ends = [earns(rule, 0.0), earns(rule, 0.4)]
    ax.plot([0, 40], ends, color=colour)
    ax.annotate(
        name, (40, ends[1]), (5, 0), textcoords="offset points", color=colour, fontsize=9,
        va="center", annotation_clip=False,
    )  # fmt: skip
ax.set(xlabel="tumours that are malignant, %", ylabel="expected gain of a case", xlim=(0, 40))
ax.spines[["top", "right"]].set_visible(False)
