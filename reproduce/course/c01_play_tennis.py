"""
Play tennis: naive Bayes by hand
================================

Fourteen days, four features, and one new day: sunny, cool, humid and windy. The course finds a
chance of 0.795 that nobody plays. It also meets an overcast day, of which no class "no" was seen:
without smoothing that single zero wipes out all other evidence.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd

from bayesrule import BayesClassifier, Categorical
from bayesrule.displays import ContributionDisplay

DAYS = """sunny hot high weak no, sunny hot high strong no, overcast hot high weak yes,
rain mild high weak yes, rain cool normal weak yes, rain cool normal strong no,
overcast cool normal strong yes, sunny mild high weak no, sunny cool normal weak yes,
rain mild normal weak yes, sunny mild normal strong yes, overcast mild high strong yes,
overcast hot normal weak yes, rain mild high strong no"""
NAMES = ["outlook", "temperature", "humidity", "wind", "play"]
days = pd.DataFrame([day.split() for day in DAYS.split(",")], columns=NAMES)
X, y = days[NAMES[:4]], days["play"]

plain = BayesClassifier(Categorical(alpha=0)).fit(X, y)
smoothed = BayesClassifier(Categorical(alpha=1)).fit(X, y)

new = pd.DataFrame([["sunny", "cool", "high", "strong"]], columns=NAMES[:4])
overcast = pd.DataFrame([["overcast", "cool", "high", "strong"]], columns=NAMES[:4])
print(f"P(no | sunny, cool, high, strong) = {plain.predict_proba(new)[0, 0]:.3f}   course: 0.795")
print(f"  with Laplace smoothing            {smoothed.predict_proba(new)[0, 0]:.3f}")
print(f"P(no | overcast, ...)             = {plain.predict_proba(overcast)[0, 0]:.3f}   course: 0")
print(f"  with Laplace smoothing            {smoothed.predict_proba(overcast)[0, 0]:.3f}")

# %%
# What each feature contributes to the decision, as a weight of evidence:

ContributionDisplay.from_estimator(smoothed, new)
plt.show()
