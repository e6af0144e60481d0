"""Five kinds of data, six densities: where each draws the line, and how often it is right."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesrule import recipes

SIDE = 3.6
MODELS = {
    "gaussian_nb": recipes.gaussian_nb(),
    "qda": recipes.qda(),
    "femda": recipes.femda(),
    "parzen": recipes.parzen("gain"),
    "quantized": recipes.quantized(max_cells=60),
    "spdbc_forest": recipes.spdbc_forest(),
}


def bells(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two ellipses, each with a tilt of its own."""
    y = np.arange(n) % 2
    tilt = np.array([[[1.0, 0.8], [0.0, 0.5]], [[1.0, -0.8], [0.0, 0.5]]])
    X = np.einsum("ni,nij->nj", rng.normal(size=(n, 2)), tilt[y])
    return X + np.array([[-0.7, -0.5], [0.7, 0.5]])[y], y


def moons(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two half circles, one in the other's arms."""
    y, angle = np.arange(n) % 2, rng.uniform(0, np.pi, n)
    X = np.c_[np.cos(angle) - 0.5, np.sin(angle) - 0.25] * np.where(y == 0, 1, -1)[:, None]
    return 1.7 * (X + rng.normal(0, 0.18, (n, 2))), y


def steps(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table of cells, as rules written by people make it."""
    X = rng.uniform(-SIDE, SIDE, (n, 2))
    y = ((X[:, 0] > -1) ^ (X[:, 1] > 1) ^ (X[:, 0] > 2)).astype(int)
    return X, y


def spoiled(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The ellipses; one row in eight of the first was measured wrongly."""
    X, y = bells(n, rng)
    far = (y == 0) & (rng.random(n) < 0.125)
    X[far] = rng.normal([3.0, -2.6], 0.25, (far.sum(), 2))
    return X, y


def mislabelled(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The moons; three labels in ten are wrong."""
    X, y = moons(n, rng)
    return X, np.where(rng.random(n) < 0.3, 1 - y, y)


DATA = {
    "bells": (bells, bells),
    "outliers": (spoiled, bells),
    "bent shapes": (moons, moons),
    "steps": (steps, steps),
    "wrong labels": (mislabelled, moons),
}
lines = np.linspace(-SIDE, SIDE, 61)
grid = np.stack(np.meshgrid(lines, lines), axis=-1).reshape(-1, 2)
size = (1.55 * len(DATA) + 1.0, 1.55 * len(MODELS) + 0.6)
fig, axes = plt.subplots(len(MODELS), len(DATA), figsize=size, layout="constrained")
for j, (kind, (learned, judged)) in enumerate(DATA.items()):
    X, y = learned(240, np.random.default_rng(1))
    X_new, y_new = judged(2000, np.random.default_rng(2))
    scores = []
    for i, (name, model) in enumerate(MODELS.items()):
        clf = model.fit(X, y)
        scores.append(clf.score(X_new, y_new))
        ax = axes[i, j]
        chance = clf.predict_proba(grid)[:, 1].reshape(61, 61)
        ax.contourf(lines, lines, chance, [-1, 0.5, 2], colors=["#b9d8ea", "#f5d3b8"])
        ax.scatter(*X.T, s=3, c=np.where(y == 0, "#0072b2", "#d55e00"), linewidths=0)
        ax.set(xticks=[], yticks=[], xlim=(-SIDE, SIDE), ylim=(-SIDE, SIDE), aspect="equal")
        ax.spines[:].set_visible(False)
        if j == 0:
            ax.set_ylabel(name, family="monospace", fontsize=10)
    axes[0, j].set_title(kind, fontsize=11, loc="center")
    for ax, score in zip(axes[:, j], scores, strict=True):
        near = max(scores) - score < 0.01
        ax.text(
            0.97, 0.04, f"{100 * score:.0f}", transform=ax.transAxes, ha="right", fontsize=9.5,
            weight="bold" if near else None, color="#222222" if near else "#666666",
            bbox={"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 1.2},
        )  # fmt: skip
