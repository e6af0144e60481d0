"""
Screening, with a specialist to ask
===================================

Tumours are to be treated, left alone, or referred. What is the option to refer worth, and to how
many patients? It depends on what the specialist costs, and the rule can tell.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

from bayesrule import evaluate, recipes, with_action

GAIN = {
    "malignant": {"malignant": 20, "benign": -100},
    "benign": {"malignant": -20, "benign": 0},
}
PRICES = np.array([0.5, 1, 2, 3, 4, 6, 8, 10, 14])

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"}).to_numpy()


def with_specialist(price: float) -> dict:
    """The ill lose a little time too; both pay."""
    return with_action(GAIN, "refer", {"malignant": 20 - 2 - price, "benign": -price})


# One fit for each fold. All the rules below share it: costs are not part of what is learned.
gains = np.zeros((len(PRICES) + 1, 5))
referred, missed = np.zeros(gains.shape), np.zeros(gains.shape)
folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
for fold, (train, test) in enumerate(folds):
    model = recipes.lda().fit(X.iloc[train], y[train])
    for i, gain in enumerate([GAIN, *map(with_specialist, PRICES)]):
        result = evaluate(model.with_rule(gain=gain), X.iloc[test], y[test])
        gains[i, fold] = result.expected_gain
        referred[i, fold] = result.shares.get("refer", 0.0)
        table = result.to_frame()
        missed[i, fold] = table.loc["malignant", "benign"] / table.loc["malignant"].sum()

alone = gains[0].mean()
print(f"without a specialist: {alone:.2f} a case, {missed[0].mean():.1%} of the cancers missed")
for i, price in enumerate(PRICES, start=1):
    print(
        f"a specialist at {price:4}: {gains[i].mean():.2f} a case, {referred[i].mean():5.1%} are "
        f"referred, {missed[i].mean():.1%} of the cancers missed"
    )

# %%
# The price at which the two lines meet is the most that the option is worth.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(PRICES, gains[1:].mean(axis=1), "o-", color="#0072b2")
left.axhline(alone, color="#777777", ls="--", lw=1)
left.annotate("nobody to ask", (PRICES[-1], alone), (0, -14), textcoords="offset points",
              color="#777777", ha="right")  # fmt: skip
left.set(xlabel="price of the specialist", ylabel="expected gain of a case")
right.plot(PRICES, 100 * referred[1:].mean(axis=1), "o-", color="#7f7f7f", label="referred")
right.plot(PRICES, 100 * missed[1:].mean(axis=1), "s-", color="#d55e00", label="cancers missed")
right.set(xlabel="price of the specialist", ylabel="%", ylim=(0, None))
right.legend(frameon=False)
plt.show()
