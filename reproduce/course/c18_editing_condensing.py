"""
Fewer points: editing and condensing
====================================

Editing (Wilson) drops the points that their neighbours outvote, and so cleans the border.
Condensing (Hart) then keeps only what the single nearest neighbour needs to get every remaining
point right. The course hopes that the border stays where it was; on the fitted points it does,
elsewhere it need not.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import BayesClassifier, Neighbors
from bayesrule.displays import DecisionRegionDisplay


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two crescents that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n // 2)
    angle = rng.uniform(0, np.pi, n) + np.pi * y
    centre = np.c_[np.where(y == 0, 0.0, 1.0), np.where(y == 0, 0.0, 0.4)]
    return centre + np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.25, (n, 2)), y


X, y = draw(600, 0)
X_new, y_new = draw(20_000, 1)
settings = {
    "all points": Neighbors(1),
    "edited": Neighbors(1, edited=True),
    "condensed": Neighbors(1, condensed=True),
    "edited, then condensed": Neighbors(1, edited=True, condensed=True),
}
fig, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained", sharex=True, sharey=True)
whole = BayesClassifier(Neighbors(1)).fit(X, y).predict(X_new)
for ax, (name, density) in zip(axes.ravel(), settings.items(), strict=True):
    clf = BayesClassifier(density).fit(X, y)
    kept = clf.log_density_.around.rows
    DecisionRegionDisplay.from_estimator(clf, X, ax=ax, legend=False)
    ax.scatter(*X.T, s=6, color="#777777", alpha=0.35, lw=0)
    colours = np.where(clf.predict(kept) == 0, "#0072b2", "#d55e00")
    ax.scatter(*kept.T, s=18, c=colours, edgecolors="white", linewidths=0.5)
    moved = np.mean(clf.predict(X_new) != whole)
    print(
        f"{name:24} {len(kept):3} points kept, {clf.score(X_new, y_new):.3f} of new points right, "
        f"{moved:.3f} decided otherwise than by all"
    )
    ax.set(title=f"{name}: {len(kept)} points", xlabel="", ylabel="")
plt.show()
