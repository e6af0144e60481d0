"""Discrete Bayes rules over quantised cells: the paper of Panda and Garg, and what is possible.

The paper's data are not public. A world like theirs is drawn instead: five features in [0, 1] with
five decimals, a hidden table of 6 levels each, equally many rows of both classes, stated priors .4
and .6, the gain matrix [[1, -1], [-2, 3]]. Its best rule is known exactly.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesrule import BayesClassifier, Cells, FromClassifier, datasets, save
from bayesrule.boundaries import entropy, levels_by_entropy
from bayesrule.datasets.worlds import World
from bayesrule.displays import CellBoundariesDisplay, MemoryGainDisplay
from reproduce.page import Page

TITLE = "Quantised cells: discrete Bayes rules under a memory limit"
LEVELS = (6,) * 5
MISALLOCATED = (3, 4, 6, 9, 12)
PRINTED = np.array([[0.4699, 0.0311], [0.0043, 0.4947]])


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def fitted(world: World, X: Any, y: Any, **settings: Any) -> tuple[BayesClassifier, float]:
    clf = BayesClassifier(Cells(**settings), priors=world.priors, gain=world.gain)
    return timed(lambda: clf.fit(X, y))


def confusion(clf: BayesClassifier, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Shares of all rows by true class and decision, as the paper prints them."""
    counts = np.zeros((2, 2))
    np.add.at(counts, (y, clf.predict(X)), 1.0)
    return counts / len(y)


def gains_of(joint: np.ndarray, world: World) -> tuple[float, float, float]:
    """Gain under the stated priors, gain as the paper adds it up, and accuracy."""
    rates = joint / joint.sum(axis=1, keepdims=True)
    stated = float((world.priors[:, None] * rates * world.gain).sum())
    return stated, float((joint * world.gain).sum()), float(np.trace(joint))


def count_once(world: World, cuts: Sequence[np.ndarray], X: Any, y: Any, half: int) -> float:
    """One evaluation of the paper's way: quantise and count all rows, learn, judge."""
    levels = [np.searchsorted(b, x, side="right") for b, x in zip(cuts, X.T, strict=True)]
    shape = [len(b) + 1 for b in cuts]
    cells, n_cells = np.ravel_multi_index(levels, shape), int(np.prod(shape))
    tables = [
        np.array([np.bincount(c[t == k], minlength=n_cells) for k in (0, 1)], float)
        for c, t in ((cells[:half], y[:half]), (cells[half:], y[half:]))
    ]
    learn, judge = (t / t.sum(axis=1, keepdims=True) * world.priors[:, None] for t in tables)
    return float((judge.T * world.gain.T[(learn.T @ world.gain).argmax(axis=1)]).sum())


# ---------------------------------------------------------------------- the parts


def by_hand(page: Page) -> None:
    """A table of three cells that is checked with pen and paper."""
    page.heading("A table checked by hand")
    page.text(
        """
        p(d | 0) = .5 .3 .2 and p(d | 1) = .1 .2 .7 with the priors .4 and .6 make the joint masses
        .20 .12 .08 and .06 .12 .42. Deciding 0 gains .20 - 2 x .06 = .08, -.12, -.76 in the three
        cells, deciding 1 gains -.20 + 3 x .06 = -.02, .24, 1.18. So the decisions are 0, 1, 1, and
        the expected gain is .08 + .24 + 1.18 = 1.50. In the second cell both classes are equally
        likely, and deciding 1 gains more.
        """
    )
    X, y = np.array([[0.0], [1.0], [2.0]] * 2), np.repeat([0, 1], 3)
    cells = Cells(boundaries=[[0.5, 1.5]])
    clf = BayesClassifier(cells, priors=[0.4, 0.6], gain=[[1, -1], [-2, 3]])
    clf.fit(X, y, [5, 3, 2, 1, 2, 7])
    joint = clf.log_density_.shares * clf.priors_
    decided = clf.predict(X[:3])
    gain = float((joint * clf.gain_.T[decided]).sum())
    rows = [[f"cell {i}", *joint[i].tolist(), int(decided[i])] for i in range(3)]
    page.table(("", "mass of 0", "mass of 1", "decision"), rows)
    page.text(f"Expected gain {gain:.2f}.")


def paper(page: Page, n: int) -> None:
    """The experiment from the entropies to the test rows."""
    page.heading(f"The paper's experiment on a world like theirs: {n:,} rows")
    world = datasets.make_cells(n, LEVELS, seed=1, decimals=5)
    order = np.random.default_rng(1234).permutation(n)
    train, validation, test = np.array_split(order, 3)
    fine = len(train) // 10
    bits = [entropy(np.bincount((x[train] * fine).astype(int))) for x in world.X.T]
    levels = levels_by_entropy(bits, 10_000)
    up = levels_by_entropy(bits, 10_000, rounding="ceil")
    page.text(
        f"Entropies {', '.join(f'{b:.3f}' for b in bits)} bits make levels {list(levels)} (rounded "
        f"up they would be {list(up)}, {np.prod(up):,} cells)."
    )
    both = np.concatenate([train, validation])
    X, y = world.X[both], world.y[both]
    rows = {"validation": np.arange(len(train), len(both)), "levels": list(levels)}
    rules = {
        "equal shares": fitted(world, X, y, boundaries="equal", levels=list(levels)),
        "the paper's search": fitted(world, X, y, boundaries="paper", random_state=1237, **rows),
        "exact search": fitted(world, X, y),
        "true boundaries": fitted(world, X, y, boundaries=world.boundaries),
    }
    lines = []
    for name in ("equal shares", "the paper's search", "exact search", "true boundaries"):
        for j, cuts in enumerate(rules[name][0].density_.boundaries_):
            lines.append([name if j == 0 else "", *(f"{cut:.4f}" for cut in cuts)])
    width = max(map(len, lines))
    page.table(
        ["boundaries", *(str(i) for i in range(1, width))],
        [line + [""] * (width - len(line)) for line in lines],
    )
    lines = []
    for name, (clf, seconds) in rules.items():
        joint = confusion(clf, world.X[test], world.y[test])
        found = (f"{value:.4f}" for value in gains_of(joint, world))
        share = world.gain_of(clf) / world.optimal_gain
        lines.append([name, *found, f"{share:.5f}", f"{seconds:.1f}"])
        if name == "exact search":
            best = joint
    page.text(f"On the test rows (the best possible gain is {world.optimal_gain:.4f}):")
    page.table(("", "gain", "as printed", "accuracy", "share of the best", "seconds"), lines)
    page.text(
        f"Confusion of the exact search {best.round(4).tolist()}; the paper printed "
        f"{PRINTED.tolist()}."
    )
    searched = rules["the paper's search"][0].density_
    tried = searched.history_[-1].tried
    checks = sum(stage.what == "check" for stage in searched.history_)
    once = timed(lambda: count_once(world, searched.boundaries_, X, y, len(train)))[1]
    ours = rules["exact search"][1]
    page.text(
        f"The paper's search tried {tried:,} moves in {checks} checks (the authors needed 14). One "
        f"count of all rows takes {once:.2f} s, so that moves by full counts take "
        f"{tried * once / 60:.1f} minutes: {tried * once / ours:,.0f} times the exact search, "
        f"which takes as long as {ours / once:.1f} full counts. The authors needed 73 hours."
    )
    page.text("Table I: k-smoothing, on the validation rows by the training rows.")
    printed = {0: (1.9149, 96.47), 21: (1.6857, 84.97), 42: (1.6332, 82.38)}
    printed |= {63: (1.5899, 80.25), 84: (1.5693, 79.29)}
    cuts, lines = rules["exact search"][0].density_.boundaries_, []
    for j, (gain, right) in enumerate(printed.values()):
        k = int(j * len(train) / (20 * 7776))
        clf, _ = fitted(world, world.X[train], world.y[train], boundaries=cuts, smoothing=k)
        joint = confusion(clf, world.X[validation], world.y[validation])
        found = [f"{value:.4f}" for value in gains_of(joint, world)]
        lines.append([str(k), *found, f"{gain:.4f}", f"{right / 100:.4f}"])
    header = ("k", "gain", "as printed", "accuracy", "paper's gain", "paper's accuracy")
    page.table(header, lines)
    some = slice(0, 200_000)
    shown = rules["exact search"][0]
    display = CellBoundariesDisplay.from_estimator(shown, X[some], y[some])
    page.picture(display.figure_, "Boundaries found, on the histograms of both classes")
    density = BayesClassifier(Cells(), priors=world.priors, gain=world.gain)
    halves = X[some], y[some], world.X[test][some], world.y[test][some]
    limits = [4**i for i in range(1, 7)] + [10_000]
    buys = MemoryGainDisplay.from_estimator(
        density, *halves, limits=limits, best=world.optimal_gain
    )
    page.picture(buys.figure_, "Expected gain against the memory limit, 200,000 rows")


def worlds(page: Page, full: bool) -> None:
    """Shares of the best possible gain, over many worlds."""
    page.heading("Share of the best possible gain, over random worlds")
    plan = [
        (LEVELS, 100_000, 10),
        (LEVELS, 1_000_000, 5 if full else 1),
        (LEVELS, 10_000_000, 1 if full else 0),
        (MISALLOCATED, 1_000_000, 5 if full else 1),
    ]
    lines = [
        _one_world(levels, n, seed, n <= 100_000 or (full and seed == 0))
        for levels, n, seeds in plan
        for seed in range(seeds)
    ]
    header = ("hidden levels", "rows", "seed", "equal", "paper's search", "found", "true")
    page.table((*header, "seconds", "full counts", "times the paper's way", "levels"), lines)
    page.text(
        """
        "Equal" and "the paper's search" have 6 levels each. "True" counts the same rows between the
        true boundaries: what is missing there is the price of estimating the table. Seconds are
        those of the whole fit; a full count is one evaluation as the paper does it, in arrays.
        """
    )


def _one_world(levels: tuple[int, ...], n: int, seed: int, with_paper: bool) -> list[Any]:
    """One line of the table."""
    world = datasets.make_cells(n, levels, seed)
    X, y = world.X, world.y

    def share(**settings: Any) -> float:
        return world.gain_of(fitted(world, X, y, **settings)[0]) / world.optimal_gain

    fitted(world, X[:1000], y[:1000])  # compiled loops are loaded
    clf, seconds = fitted(world, X, y)
    once = timed(lambda: count_once(world, clf.density_.boundaries_, X, y, n // 2))[1]
    equal = share(boundaries="equal", levels=list(LEVELS))
    single, times = "", ""
    if with_paper:
        searched, _ = fitted(world, X, y, boundaries="paper", levels=list(LEVELS))
        single = f"{world.gain_of(searched) / world.optimal_gain:.4f}"
        times = f"{searched.density_.history_[-1].tried * once / seconds:,.0f}"
    found = world.gain_of(clf) / world.optimal_gain
    true = share(boundaries=world.boundaries)
    told = [f"{equal:.4f}", single, f"{found:.5f}", f"{true:.5f}", f"{seconds:.2f}"]
    line = [str(list(levels)), f"{n:,}", str(seed), *told, f"{seconds / once:.1f}", times]
    print("   ", *line, flush=True)
    return [*line, str(list(clf.density_.levels_))]


def smooth(page: Page, full: bool) -> None:
    """Smooth worlds, beside histogram gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    n = 1_000_000 if full else 200_000
    page.heading(f"Smooth worlds, beside histogram gradient boosting: {n:,} rows")
    tiny = HistGradientBoostingClassifier(max_iter=1).fit([[0.0], [1.0]] * 30, [0, 1] * 30)
    tree = 61 * tiny._predictors[0][0].nodes.itemsize  # bytes of one of 31 leaves
    lines = []
    for waves in ((1, 2, 3), (1, 1, 2, 2, 3)):
        for seed in range(3 if full else 1):
            world = datasets.make_cells(n, waves, seed, smooth=True)
            clf, seconds = fitted(world, world.X, world.y)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "cells.bayes")
                save(clf, path)
                size = os.path.getsize(path)
            line = [str(waves), str(seed), str(list(clf.density_.levels_))]
            line += [f"{world.gain_of(clf) / world.optimal_gain:.5f}", f"{size:,}"]
            for settings in ({"max_iter": max(1, size // tree)}, {}):
                boosting = HistGradientBoostingClassifier(random_state=0, **settings)
                peer = BayesClassifier(FromClassifier(boosting), world.priors, world.gain)
                peer.fit(world.X, world.y)
                gain, _ = world.estimated_gain(peer, 400_000)
                predictors = peer.log_density_.model._predictors
                n_bytes = sum(t.nodes.nbytes for step in predictors for t in step)
                line += [f"{gain / world.optimal_gain:.5f}", f"{n_bytes:,}"]
            print("   ", *line, f"{seconds:.1f} s", flush=True)
            lines.append(line)
    page.table(
        (
            *("half waves", "seed", "levels", "cells", "bytes"),
            *("boosting of that size", "bytes", "boosting by default", "bytes"),
        ),
        lines,
    )


def differences(page: Page) -> None:
    """Where the paper and this differ, or the paper and itself."""
    page.heading("What differs from the paper, and why")
    rates = PRINTED / PRINTED.sum(axis=1, keepdims=True)
    gain = np.array([[1.0, -1.0], [-2.0, 3.0]])
    stated = float((np.array([0.4, 0.6])[:, None] * rates * gain).sum())
    page.text(
        f"""
        - Equation (11) corrects the entropy by the number of empty bins. Miller's correction goes
          by the bins that are not empty, and so does this.
        - The printed confusion matrix has row sums .501 and .499, the shares of the rows; 1.9144 is
          its sum with the gains ({float((PRINTED * gain).sum()):.4f} from the printed digits).
          Under the priors that the paper states, the same rule earns {stated:.4f}. Gains are given
          here under the stated priors, and "as printed" beside them.
        - k = jN / (20 M) gives the printed 21, 42, 63, 84 for the cells that are used, 6^5 = 7776,
          and a third of the rows, not for the limit of 10,000.
        - Smoothing lowers the gain, as it does in the paper: neighbouring cells of a random table
          have nothing in common.
        - An empty cell is decided by the priors. The paper does not say what it does there.
        - The paper's search is made by increments here. The moves are the same; their time by full
          counts is the number of moves times the time of one.
        """
    )


def fill(page: Page, full: bool) -> None:
    """Write the page."""
    by_hand(page)
    paper(page, 10_000_000 if full else 600_000)
    worlds(page, full)
    smooth(page, full)
    differences(page)
