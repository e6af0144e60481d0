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
from bayesrule.displays import WordCloudDisplay

X, y = datasets.load("sms_spam", return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = recipes.text_bayes().fit(X, y)


def gains(lost: float) -> dict:
    """What decisions are worth if losing a message costs as much as reading so many spams."""
    return {
        "ham": {"inbox": 0, "bin": -lost, "ask me": -0.5},
        "spam": {"inbox": -1, "bin": 0, "ask me": -0.5},
    }


for cost in (1, 10, 100, 1000):
    counts = evaluate(model.with_rule(gain=gains(cost)), X_new, y_new).to_frame() * len(y_new)
    print(
        f"a lost message costs {cost:4}: {counts.loc['ham', 'bin']:.0f} of "
        f"{counts.loc['ham'].sum():.0f} lost, {counts['ask me'].sum():3.0f} to look through, "
        f"{counts.loc['spam', 'inbox']:.0f} of {counts.loc['spam'].sum():.0f} spams read"
    )

# %%
# The evidence that a message is spam, and where each rule draws its lines: what is left of both
# goes to the inbox, what is right of both is thrown away. The dearer a loss, the further right.

ham, spam = model.classes_.tolist().index("ham"), model.classes_.tolist().index("spam")
heights = model.log_density(X_new) + np.log(model.priors_)
odds = np.clip(heights[:, spam] - heights[:, ham], -30, 30)
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
bins = np.linspace(-30, 30, 61)
for label, colour in (("ham", "#0072b2"), ("spam", "#d55e00")):
    ax.hist(odds[y_new == label], bins, color=colour, alpha=0.75, label=label)
ax.set(yscale="log", ylim=(0.7, 1500), xlim=(-30, 30), ylabel="messages")
for cost, high in ((1, 200), (100, 420), (1000, 900)):
    ends = [0.0, np.log(2 * cost - 1)]  # between them half a point is less than either loss
    ax.plot(ends, [high, high], color="#333333", lw=5, solid_capstyle="butt")
    ax.vlines(ends, 0.7, high, color="#333333", lw=0.8)
    ax.text(ends[1] + 0.6, high, f"a lost message costs {cost}", va="center", fontsize=9)
ax.set_xticks([-30, -20, -10, 0, 10, 20, 30], ["≤ −30", "−20", "−10", "0", "10", "20", "≥ 30"])
ax.set_xlabel('log odds of spam; thick: "ask me"')
ax.legend(loc="upper left")

# %%
# What the model goes by:

WordCloudDisplay.from_estimator(model)
plt.show()
