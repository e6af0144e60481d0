"""
Chances of classes are frequencies
==================================

With labels written as one-hot rows z, the likelihood of the chances is highest at the column means
of z. The course's five labels are 1, 1, 3, 2, 1; here they are given to the library as soft
labels.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import BayesClassifier

Z = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], float)
X = np.arange(5.0)[:, None]
clf = BayesClassifier().fit(X, Z)
print("column means of z:", Z.mean(axis=0), "  priors learned:", clf.priors_)

chance = np.linspace(0.005, 0.995, 199)
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for k, colour in enumerate(["#0072b2", "#d55e00", "#009e73"]):
    n = Z[:, k].sum()
    log_likelihood = n * np.log(chance) + (5 - n) * np.log(1 - chance)
    # Classes 2 and 3 have equal counts: one is drawn broken, so that both are seen.
    ax.plot(chance, np.exp(log_likelihood), color=colour, ls="-" if k < 2 else "--")
    ax.annotate(
        f"class {k + 1}: {n:.0f} of 5",
        (n / 5, np.exp(log_likelihood.max())),
        (0, 6 + 12 * (k == 2)),
        textcoords="offset points",
        color=colour,
        ha="center",
    )
ax.margins(y=0.25)
ax.set(xlabel="chance of the class", ylabel="likelihood", ylim=(0, None))
plt.show()
