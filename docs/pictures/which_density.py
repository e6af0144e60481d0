"""Questions about the data, and the recipes to try."""

from __future__ import annotations

import matplotlib.pyplot as plt

ROWS = [
    ("Columns of different kinds, gaps, categories?", "naive_bayes", "#0072b2"),
    ("Texts?", "text_bayes", "#0072b2"),
    ("Numbers that go together, bell-shaped?", "lda · qda", "#009e73"),
    ("… with outliers, or heavy tails?", "femda · t_qda", "#009e73"),
    ("… with fewer rows than columns?", 'qda("auto") · predictive Gaussian', "#009e73"),
    ("Shapes that no ellipse fits, few columns?", "kernel_bayes · knn", "#d55e00"),
    ("Millions of rows, or a few kilobytes for the model?", "quantized", "#a0447a"),
    ("Labels that are often wrong?", "spdbc_forest · spdbc", "#882255"),
    ("A model you already trust?", "FromClassifier(yours)", "#555555"),
]
THEN = [
    ("Chances of the classes differ where it will be used?", "priors={...} · Shifted(new rows)"),
    ("Nobody knows the chances?", "Minimax()"),
    ("Somebody could take a closer look, at a price?", "with_action(gain, ...)"),
]

fig, ax = plt.subplots(figsize=(9, 5.6), layout="constrained")
ax.axis("off")
y = 0.0
for question, answer, colour in ROWS:
    ax.text(0.0, y, question, va="center", fontsize=11)
    ax.annotate("", (0.585, y), (0.545, y), arrowprops={"arrowstyle": "-|>", "color": colour})
    ax.text(0.6, y, answer, va="center", fontsize=11, color=colour, family="monospace")
    y -= 1.0
ax.plot([0, 1], [y + 0.35, y + 0.35], color="#cccccc", lw=1)
ax.text(0.0, y - 0.15, "and then, with any of them:", va="center", fontsize=10, color="#777777")
y -= 1.0
for question, answer in THEN:
    ax.text(0.0, y, question, va="center", fontsize=11)
    ax.annotate("", (0.585, y), (0.545, y), arrowprops={"arrowstyle": "-|>", "color": "#777777"})
    ax.text(0.6, y, answer, va="center", fontsize=11, color="#333333", family="monospace")
    y -= 1.0
ax.set(xlim=(0, 1.02), ylim=(y + 0.4, 0.6))
