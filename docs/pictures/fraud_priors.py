"""What three rules earn as frauds become more common."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bayesrule import Exponential, LogNormal, Minimax, evaluate, recipes


def orders(n: int, share: float, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Made-up orders, some of them fraud."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < share
    table = {
        "amount": rng.lognormal(np.where(fraud, 4.8, 3.9), 0.7).round(2),
        "account_days": rng.exponential(np.where(fraud, 40, 400)).round(1) + 1,
        "same_address": rng.random(n) < np.where(fraud, 0.35, 0.92),
    }
    return pd.DataFrame(table), np.where(fraud, "fraud", "honest")


gain = {"honest": {"approve": 8, "decline": -4}, "fraud": {"approve": -120, "decline": 0}}
X, y = orders(4000, 0.05, seed=0)
X_new, y_new = orders(40_000, 0.05, seed=1)
laws = {"amount": LogNormal(), "account_days": Exponential()}
clf = recipes.naive_bayes(laws, gain=gain).fit(X, y)
rules = {
    "counted, 5 %": (clf, "#0072b2"),
    "minimax": (clf.with_rule(priors=Minimax(), X=X, y=y), "#d55e00"),
    "1 to 8 %": (
        clf.with_rule(priors=Minimax(box={"fraud": (0.01, 0.08)}), X=X, y=y),
        "#009e73",
    ),
}
shares = np.linspace(0.0, 0.3, 31)
best = [
    evaluate(
        clf.with_rule(priors={"fraud": p, "honest": 1 - p}),
        X_new,
        y_new,
        priors={"fraud": p, "honest": 1 - p},
    ).expected_gain
    for p in shares
]
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(100 * shares, best, color="#999999", lw=1, ls="--")
ax.annotate(
    "knows the share", (100 * shares[-1], best[-1]), (4, 7), textcoords="offset points",
    color="#777777", fontsize=9, annotation_clip=False,
)  # fmt: skip
for name, (rule, colour) in rules.items():
    ends = [
        evaluate(rule, X_new, y_new, priors={"fraud": p, "honest": 1 - p}).expected_gain
        for p in shares[[0, -1]]
    ]
    ax.plot([0, 30], ends, color=colour)  # for a fixed rule the gain is linear in the share
    ax.annotate(
        name, (30, ends[1]), (4, -3), textcoords="offset points", color=colour, fontsize=9,
        annotation_clip=False,
    )  # fmt: skip
ax.set(xlabel="orders that are fraud, %", ylabel="expected gain of an order", xlim=(0, 30))
ax.spines[["top", "right"]].set_visible(False)
