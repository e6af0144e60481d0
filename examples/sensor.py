"""
A sensor with 64 KB of memory
=============================

A satellite looks at a piece of land in four bands and has to say what grows there, on board. Eight
numbers of each of 6,435 places, six kinds of soil; the rule must fit into 64 KB beside the
program. A table of cells does, if its boundaries lie where they tell most.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import datasets, export, recipes

X, y = datasets.load("satimage", return_X_y=True, frame="pandas")
# Of the nine pixels of a place: the middle one, and the mean of the others, in each band.
bands = X.to_numpy(float).reshape(len(X), 9, 4)
X = np.c_[bands[:, 4], bands.mean(axis=1)]
X_new, y_new, X, y = X[4435:], y[4435:], X[:4435], y[:4435]

sizes = [16, 50, 150, 500, 1500, 5000]
settings = {
    "boundaries found exactly": ({}, "#0072b2"),
    "equal shares, levels by entropy": ({"boundaries": "equal"}, "#d55e00"),
}
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, (options, colour) in settings.items():
    accuracy = []
    for cells in sizes:
        clf = recipes.quantized(max_cells=cells, **options).fit(X, y)
        accuracy.append(clf.score(X_new, y_new))
        levels = " x ".join(map(str, clf.density_.levels_))
        print(f"{name}, at most {cells:4}: {accuracy[-1]:.3f} right, {levels} levels")
    ax.semilogx(sizes, accuracy, "o-", color=colour)
    ax.text(sizes[2], accuracy[2] - 0.02, name, color=colour, va="top")
level = recipes.lda("auto").fit(X, y).score(X_new, y_new)
ax.axhline(level, color="#999999", lw=1, ls="--")
ax.text(sizes[0], level + 0.015, "LDA, in floating point", color="#777777")
ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.set(xlabel="cells in the table, at most", ylabel="share of new places right", ylim=(0.2, 0.9))

# %%
# The table goes aboard as one C header, which decides without a library.

clf = recipes.quantized(max_cells=5000).fit(X, y)
header = export(clf, "c", name="soil")
print(f"the header has {len(header) / 1000:.0f} kB of text")
if shutil.which("cc"):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "soil.h").write_text(header, encoding="utf-8")
        main = '#include "soil.h"\nint decide(const double *x) { return soil_decide(x); }\n'
        (Path(folder) / "soil.c").write_text(main, encoding="utf-8")
        subprocess.run(["cc", "-Os", "-c", "soil.c", "-o", "soil.o"], cwd=folder, check=True)
        sizes_of = subprocess.run(["size", "soil.o"], cwd=folder, capture_output=True, text=True)
        found = re.findall(r"\d+", sizes_of.stdout)
        print(f"compiled: {sum(map(int, found[:3])):,} bytes, code and table")
plt.show()
