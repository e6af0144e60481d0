"""
Digits through any classifier, safe whatever the mix
====================================================

A logistic regression reads digits from a poor scanner; wrapped as a density it takes costs and
priors like any other. Two confusions are dear, a 1 that is read as 7 and a 3 as 8. Nobody knows
which digits the next sender writes most, so one rule is made for the worst mix there could be. It
is a soft one: where the worst mix leaves several rules equally good, it draws between them, so that
no digit is worse off than it must be.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import BayesClassifier, FromClassifier, Minimax, evaluate, loss

X, y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(0, 6.0, X.shape)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

costs = 1.0 - np.eye(10)
costs[1, 7] = costs[3, 8] = 5.0
gain = loss(costs)
reader = FromClassifier(make_pipeline(StandardScaler(), LogisticRegression(C=0.01)))
counted = BayesClassifier(reader, gain=gain).fit(X, y)
rules = {
    "most probable digit": counted.with_rule(gain=None),
    "by cost": counted,
    # The risks that the worst mix is found from are those of rows left out of the fit.
    "by cost, for the worst mix": BayesClassifier(reader, Minimax(randomised=True), gain).fit(X, y),
}

fig, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
for i, (name, rule) in enumerate(rules.items()):
    result = evaluate(rule, X_new, y_new, gain=gain)
    risks = result.class_risks
    colour = ("#c4c4c4", "#56b4e9", "#0072b2")[i]
    ax.bar(np.arange(10) + 0.27 * (i - 1), risks, 0.25, label=name, color=colour)
    ax.axhline(risks.max(), color=colour, lw=1.2, ls=":", zorder=0)
    print(
        f"{name:26} costs {-result.expected_gain:.3f} a digit in this mix, and at most "
        f"{risks.max():.3f} in any"
    )
for digit in range(10):  # what the scanner sees, below each
    small = ax.inset_axes((digit - 0.4, -0.22, 0.8, 0.16), transform=ax.transData)
    small.imshow(X_new[y_new == digit][1].reshape(8, 8), cmap="gray_r", vmin=-8, vmax=22)
    small.set_axis_off()
ax.set(
    xlim=(-0.6, 9.6), ylim=(-0.24, None), xlabel="digit, and how it comes", ylabel="expected cost"
)
ax.set(xticks=range(10), yticks=np.arange(0.0, 0.9, 0.2))
ax.spines["bottom"].set_visible(False)
ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)

# %%
# The worst mix leans on the digits whose errors are dear, and on their doubles:

safe = rules["by cost, for the worst mix"]
print(*(f"{k}: {p:.2f}" for k, p in zip(safe.classes_, safe.priors_, strict=True)), sep="   ")
plt.show()
