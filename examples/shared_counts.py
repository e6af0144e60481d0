"""
Hospitals that share counts, not patients
=========================================

Five hospitals, each of them small, may not send patients' records to each other. They can send what
a model keeps of them: how many, their means and their spreads, which add up to the model that all
records in one place would give. What such files give away is in the right half of the picture.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from bayesrule import evaluate, recipes

GAIN = {"malignant": {"malignant": 20, "benign": -100}, "benign": {"malignant": -20, "benign": 0}}
SIZES = [15, 20, 30, 45, 60]  # patients of each hospital; the other 399 judge the models

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.filter(like="mean")
y = y.map({0: "malignant", 1: "benign"}).to_numpy()
rng, gains = np.random.default_rng(0), []
for _ in range(20):
    order = rng.permutation(len(X))
    *hospitals, judges = np.split(order, np.cumsum(SIZES))
    sites = [recipes.lda(gain=GAIN).fit(X.iloc[rows], y[rows]) for rows in hospitals]
    together = sites[0]
    for site in sites[1:]:
        together = together.merge(site)  # all that it is given are the other sites' statistics
    models = [*sites, together]
    gains.append([evaluate(m, X.iloc[judges], y[judges]).expected_gain for m in models])
    every = np.concatenate(hospitals)
    one_place = recipes.lda(gain=GAIN).fit(X.iloc[every], y[every])
    assert (together.predict(X) == one_place.predict(X)).all()
gains = np.array(gains)
print("gain of a case, alone:", gains[:, :-1].mean(0).round(2).tolist())
print(f"together: {gains[:, -1].mean():.2f}, as if all records were in one place")

# %%
# A file of counts holds no record, but two of them may. Whoever has this week's and last week's can
# subtract them, and what is left are the sums over the patients who came in between. Of one patient
# alone, that is the whole record; of several it is their mean. So let enough patients come before
# the next file is sent, and send none of a class that few have.


def sums(model):
    """Sums of the columns over all patients."""
    return model.class_count_ @ model.log_density_.mean


new, guesses = [1, 2, 3, 5, 10, 20, 50], []
for n in new:
    errors = []
    for _ in range(50):
        rows = rng.permutation(len(X))[: 100 + n]
        before = recipes.lda().fit(X.iloc[rows[:100]], y[rows[:100]])
        after = before.merge(recipes.lda().partial_fit(X.iloc[rows[100:]], y[rows[100:]]))
        guess = (sums(after) - sums(before)) / n
        errors.append((((guess - X.iloc[rows[100:]]) / X.std()) ** 2).to_numpy().mean())
    guesses.append(np.sqrt(np.mean(errors)))

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(SIZES, gains[:, :-1].mean(0), "o", color="#0072b2")
left.axhline(gains[:, -1].mean(), color="#d55e00")
left.text(SIZES[0], gains[:, -1].mean() - 0.4, "all five together", color="#d55e00", va="top")
left.text(SIZES[2] + 1, gains[:, 2].mean(), "each alone", color="#0072b2", va="top")
left.set(xscale="log", xticks=SIZES, xticklabels=SIZES, xlabel="patients of a hospital")
left.set(title="what sharing earns", ylabel="expected gain of a case")
right.plot(new, guesses, "o-", color="#0072b2")
right.set(xscale="log", xticks=new, xticklabels=new, ylim=(-0.05, 1.1))
right.set(title="what two files give away", xlabel="patients who came in between")
right.set(ylabel="error of a guessed record (std. dev.)")
right.text(1.15, 0.0, "who comes alone\nis read off exactly", va="center")
for axes in (left, right):
    axes.minorticks_off()
plt.show()
