"""
Spam, when a lost message costs a hundred times a read one
==========================================================

Five thousand text messages. Reading a spam costs a second; losing a message from a friend may cost
the friend. The model stays the same, the rule does not; a third decision, "ask me", keeps what is
doubtful in a folder that someone looks through.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from bayesrule import datasets, evaluate, recipes
from bayesrule.displays.words import WordCloudDisplay

X, y = datasets.load("sms_spam", return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = recipes.text_bayes().fit(X, y)


def gains(lost: float) -> dict:
    """What decisions are worth if losing a message costs as much as reading so many spams."""
    return {
        "ham": {"inbox": 0, "bin": -lost, "ask me": -0.5},
        "spam": {"inbox": -1, "bin": 0, "ask me": -0.5},
    }


COSTS = [1, 3, 10, 30, 100, 1000]
shares = np.zeros((len(COSTS), 3))
for i, cost in enumerate(COSTS):
    rule = model.with_rule(gain=gains(cost))
    table = evaluate(rule, X_new, y_new).to_frame()
    counts = (table * len(y_new)).round().astype(int)
    spam = table.loc["spam"] / table.loc["spam"].sum()
    shares[i] = [spam.get(name, 0.0) for name in ("bin", "ask me", "inbox")]
    print(
        f"a lost message costs {cost:4}: {counts.loc['ham', 'bin']} of {counts.loc['ham'].sum()} "
        f"lost, {counts['ask me'].sum():3} to look through, {spam['inbox']:.1%} of the spam read"
    )

# %%
# Where the spam goes, as losing a message becomes dearer:

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
left = np.zeros(len(COSTS))
for share, name, colour in zip(
    shares.T, ("bin", "ask me", "inbox"), ("#0072b2", "#b0b0b0", "#d55e00"), strict=True
):
    ax.barh(range(len(COSTS)), 100 * share, left=left, color=colour, label=name)
    left += 100 * share
ax.set_yticks(range(len(COSTS)), [str(cost) for cost in COSTS])
ax.set(xlabel="% of the spam", ylabel="cost of a lost message", xlim=(0, 100))
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

# %%
# What the model goes by:

WordCloudDisplay.from_estimator(model)
plt.show()
