"""What each measurement of one tumour says."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from bayesrule import recipes
from bayesrule.displays import ContributionDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
ContributionDisplay.from_estimator(recipes.naive_bayes().fit(X, y), X_new[:1])
