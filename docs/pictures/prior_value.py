"""What the best rule loses for every share of malignant tumours, and what fixed rules lose."""

from __future__ import annotations

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesrule import BayesClassifier, FromClassifier, recipes
from bayesrule.displays import PriorValueDisplay

gain = {
    "malignant": {"treat": 20, "leave": -100, "refer": 15},
    "benign": {"treat": -20, "leave": 0, "refer": -3},
}
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
calibrated = FromClassifier(CalibratedClassifierCV(recipes.lda(), method="temperature", cv=5))
PriorValueDisplay.from_estimator(BayesClassifier(calibrated, gain=gain).fit(X, y), X)
