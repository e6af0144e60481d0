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

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(PRICES, gains[1:].mean(axis=1), "o-", color="#0072b2")
left.axhline(alone, color="#777777", ls="--", lw=1)
left.text(0.5, alone, "nobody to ask", color="#777777", va="bottom")
left.set(title="what the option earns", xlabel="price of the specialist")
left.set(ylabel="expected gain of a case", ylim=(alone - 0.3, None))
for shown, colour, marker, words, place in (
    (referred, "#7f7f7f", "o", "patients referred", (4.2, 11.5)),
    (missed, "#d55e00", "s", "cancers missed", (8.3, 2.2)),
):
    right.plot(PRICES, 100 * shown[1:].mean(axis=1), marker + "-", color=colour)
    right.text(*place, words, color=colour)
right.axhline(100 * missed[0].mean(), color="#d55e00", ls="--", lw=1)
right.text(0.5, 100 * missed[0].mean(), "missed, nobody to ask", color="#d55e00", va="bottom")
right.set(title="who is asked, and who is missed", xlabel="price of the specialist")
right.set(ylabel="%", ylim=(0, None))
plt.show()
