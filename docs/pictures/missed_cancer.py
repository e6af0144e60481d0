"""What the rule of the tutorial earns as a missed cancer grows dearer."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesrule import recipes
from bayesrule.demo import gain_matrix
from bayesrule.displays import GainCurveDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
clf = recipes.lda(gain=gain_matrix()).fit(X, y)
GainCurveDisplay.from_estimator(
    clf, X_new, y_new, entry=("malignant", "benign"), values=range(-300, 1, 5)
)
