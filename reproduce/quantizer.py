"""Discrete Bayes rules over quantised cells: the paper of Panda and Garg, and what is possible.

    python reproduce/quantizer.py            a tenth of the rows and fewer worlds, in minutes
    python reproduce/quantizer.py --full     10,000,000 rows, as in the paper
    python reproduce/quantizer.py --parts worlds smooth

The paper's data are not public. A world like theirs is drawn instead: five features in [0, 1] with
five decimals, a hidden table of 6 levels each, equally many rows of both classes, stated priors .4
and .6, the gain matrix [[1, -1], [-2, 3]]. Its best rule is known exactly.

The paper differs from what is printed here, or from itself, in these points:

- Equation (11) corrects the entropy by the number of empty bins. Miller's correction goes by the
  bins that are *not* empty, and so does this.
- The printed confusion matrix has row sums .501 and .499, the shares of the rows, and 1.9144 is its
  sum with the gains. Under the priors the paper states, the same rule earns 2.1245. Gains are given
  here under the stated priors, and "as printed" beside them.
- k = jN / (20 M) gives the printed 21, 42, 63, 84 for the cells that are used, 6^5 = 7776, and a
  third of the rows, not for the limit of 10,000.
- Smoothing lowers the gain in a world like this, as it does in the paper: neighbouring cells of a
  random table have nothing in common.
- The search took the authors 73 hours, every move counting all rows anew. The same moves are made
  here by increments; the time of the paper's way is the number of moves times one full count.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesrule import BayesClassifier, Cells, FromClassifier, datasets, save
from bayesrule.boundaries import entropy, levels_by_entropy
from bayesrule.datasets.worlds import World

LEVELS = (6,) * 5
MISALLOCATED = (3, 4, 6, 9, 12)
PRINTED = np.array([[0.4699, 0.0311], [0.0043, 0.4947]])


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


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


def by_hand(full: bool) -> None:
    """A table of three cells that is checked with pen and paper."""
    heading("A table checked by hand")
    # p(d | 0) = .5 .3 .2 and p(d | 1) = .1 .2 .7. With priors .4 and .6 the joint masses are
    # .20 .12 .08 and .06 .12 .42; deciding 0 gains .20 - 2 x .06 = .08, -.12, -.76 in the cells,
    # deciding 1 gains -.20 + 3 x .06 = -.02, .24, 1.18. So: 0, 1, 1, and .08 + .24 + 1.18 = 1.50.
    X, y = np.array([[0.0], [1.0], [2.0]] * 2), np.repeat([0, 1], 3)
    weights = [5, 3, 2, 1, 2, 7]
    clf = BayesClassifier(
        Cells(boundaries=[[0.5, 1.5]]), priors=[0.4, 0.6], gain=[[1, -1], [-2, 3]]
    ).fit(X, y, weights)
    joint = clf.log_density_.shares * clf.priors_
    decided = clf.predict(X[:3])
    gain = float((joint * clf.gain_.T[decided]).sum())
    print("  joint masses      ", joint.T.round(2).tolist())
    print(f"  decisions {decided.tolist()}, expected gain {gain:.2f}; by hand [0, 1, 1] and 1.50")
    print("  In the second cell both classes are equally likely, and deciding 1 gains more.")
    assert decided.tolist() == [0, 1, 1]
    assert abs(gain - 1.5) < 1e-12
    rates = PRINTED / PRINTED.sum(axis=1, keepdims=True)
    stated = ((np.array([0.4, 0.6])[:, None] * rates) * [[1, -1], [-2, 3]]).sum()
    raw = (PRINTED * [[1, -1], [-2, 3]]).sum()
    print(f"  The paper's own confusion: {raw:.4f} as printed, {stated:.4f} under its priors.")


def paper(full: bool) -> None:
    """The experiment from the entropies to the test rows."""
    n = 10_000_000 if full else 1_000_000
    heading(f"The paper's experiment on a world like theirs: {n:,} rows")
    world = datasets.make_cells(n, LEVELS, seed=1, decimals=5)
    order = np.random.default_rng(1234).permutation(n)
    train, validation, test = np.array_split(order, 3)
    fine = len(train) // 10
    bits = [entropy(np.bincount((x[train] * fine).astype(int))) for x in world.X.T]
    levels = levels_by_entropy(bits, 10_000)
    up = levels_by_entropy(bits, 10_000, rounding="ceil")
    print(f"  entropies {np.round(bits, 3).tolist()} bits")
    print(f"  levels {list(levels)}; rounded up {list(up)}, {np.prod(up):,} cells")
    both = np.concatenate([train, validation])
    X, y = world.X[both], world.y[both]
    rows = {"validation": np.arange(len(train), len(both)), "levels": list(levels)}
    rules = {
        "equal shares": fitted(world, X, y, boundaries="equal", levels=list(levels)),
        "paper's search": fitted(world, X, y, boundaries="paper", random_state=1237, **rows),
        "exact search": fitted(world, X, y),
        "true boundaries": fitted(world, X, y, boundaries=world.boundaries),
    }
    print("\n  boundaries")
    for name in ("equal shares", "true boundaries", "paper's search", "exact search"):
        print(f"    {name}")
        for cuts in rules[name][0].density_.boundaries_:
            print("      " + "".join(f"{cut:9.4f}" for cut in cuts))
    print(f"\n  on the test rows; best possible gain {world.optimal_gain:.4f}")
    print(f"    {'':<18}{'gain':>9}{'of best':>9}{'as printed':>12}{'accuracy':>10}{'seconds':>9}")
    for name, (clf, seconds) in rules.items():
        joint = confusion(clf, world.X[test], world.y[test])
        stated, raw, right = gains_of(joint, world)
        share = world.gain_of(clf) / world.optimal_gain
        print(f"    {name:<18}{stated:9.4f}{share:9.5f}{raw:12.4f}{right:10.4f}{seconds:9.1f}")
        if name == "exact search":
            best = joint
    print("    confusion of the exact search " + str(best.round(4).tolist()))
    print("    the paper's                   " + str(PRINTED.tolist()))
    searched = rules["paper's search"][0].density_
    tried = searched.history_[-1].tried
    checks = sum(stage.what == "check" for stage in searched.history_)
    once = timed(lambda: count_once(world, searched.boundaries_, X, y, len(train)))[1]
    ours = rules["exact search"][1]
    print(f"\n  the paper's search tried {tried:,} moves in {checks} checks (the paper: 14 checks)")
    print(f"  one full count takes {once:.2f} s: its way takes {tried * once / 60:.1f} minutes,")
    print(f"  {tried * once / ours:,.0f} times the exact search ({ours / once:.1f} full counts)")
    print("\n  Table I, on the validation rows by the training rows")
    print(f"    {'k':>4}{'gain':>10}{'as printed':>12}{'accuracy':>10}      printed in the paper")
    printed = {0: "1.9149  96.47", 21: "1.6857  84.97", 42: "1.6332  82.38", 63: "1.5899  80.25"}
    printed[84] = "1.5693  79.29"
    cuts = rules["exact search"][0].density_.boundaries_
    for j, known in enumerate(printed.values()):
        k = int(j * len(train) / (20 * 7776))
        clf, _ = fitted(world, world.X[train], world.y[train], boundaries=cuts, smoothing=k)
        found = gains_of(confusion(clf, world.X[validation], world.y[validation]), world)
        print("    {:>4}{:10.4f}{:12.4f}{:10.4f}      ".format(k, *found) + known)


def worlds(full: bool) -> None:
    """Shares of the best possible gain, over many worlds."""
    heading("Share of the best possible gain, over random worlds")
    print(
        f"  {'world':<18}{'rows':>11}{'seed':>5}{'equal':>9}{'paper':>9}{'found':>9}{'true':>9}"
        f"{'seconds':>9}{'counts':>8}{'times paper':>13}  levels found"
    )
    plan = [(100_000, 10), (1_000_000, 5 if full else 1), (10_000_000, 1 if full else 0)]
    for levels in (LEVELS, MISALLOCATED):
        for n, seeds in plan:
            found = []
            for seed in range(seeds if levels == LEVELS or n == 1_000_000 else 0):
                found.append(_one_world(levels, n, seed, full))
            if len(found) > 1:
                least = min(found)
                print(f"  {'':<18}{n:>11,} least of {len(found)} {least:30.5f}", flush=True)


def _one_world(levels: tuple[int, ...], n: int, seed: int, full: bool) -> float:
    """One line of the table."""
    world = datasets.make_cells(n, levels, seed)
    X, y = world.X, world.y

    def share(**settings: Any) -> float:
        return world.gain_of(fitted(world, X, y, **settings)[0]) / world.optimal_gain

    if seed == 0:
        fitted(world, X[:1000], y[:1000])  # compiled loops are loaded
    clf, seconds = fitted(world, X, y)
    once = timed(lambda: count_once(world, clf.density_.boundaries_, X, y, n // 2))[1]
    others = [share(boundaries="equal", levels=list(LEVELS)), float("nan")]
    times = float("nan")
    if n <= 100_000 or (full and seed == 0):
        searched, _ = fitted(world, X, y, boundaries="paper", levels=list(LEVELS))
        others[1] = world.gain_of(searched) / world.optimal_gain
        times = searched.density_.history_[-1].tried * once / seconds
    found = world.gain_of(clf) / world.optimal_gain
    true = share(boundaries=world.boundaries)
    name = "x".join(map(str, levels))
    print(
        f"  {name:<18}{n:>11,}{seed:>5}{others[0]:9.4f}{others[1]:9.4f}{found:9.5f}{true:9.5f}"
        f"{seconds:9.2f}{seconds / once:8.1f}{times:13,.0f}  {list(clf.density_.levels_)}",
        flush=True,
    )
    return found


def smooth(full: bool) -> None:
    """Smooth worlds, beside histogram gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    heading("Smooth worlds, beside histogram gradient boosting")
    n = 1_000_000 if full else 200_000
    print(f"  {n:,} rows, share of the best possible gain and bytes of the model")
    print(f"  {'waves':<16}{'seed':>5}{'cells':>9}{'bytes':>8}{'seconds':>9}", end="")
    print(f"{'same size':>11}{'bytes':>8}{'default':>10}{'bytes':>9}{'seconds':>9}  levels")
    for waves in ((1, 2, 3), (1, 1, 2, 2, 3)):
        for seed in range(3 if full else 2):
            world = datasets.make_cells(n, waves, seed, smooth=True)
            clf, seconds = fitted(world, world.X, world.y)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "cells.bayes")
                save(clf, path)
                size = os.path.getsize(path)
            line = f"  {waves!s:<16}{seed:>5}{world.gain_of(clf) / world.optimal_gain:9.5f}"
            line += f"{size:8,}{seconds:9.2f}"
            trees = [{"max_iter": max(1, size // (61 * _node_bytes()))}, {}]
            for settings in trees:
                boosting = HistGradientBoostingClassifier(random_state=0, **settings)
                peer = BayesClassifier(
                    FromClassifier(boosting), priors=world.priors, gain=world.gain
                )
                rows = world.X, world.y
                seconds = timed(lambda peer=peer, rows=rows: peer.fit(*rows))[1]
                gain, _ = world.estimated_gain(peer, 400_000)
                inner = peer.log_density_.estimator
                n_bytes = sum(t.nodes.nbytes for step in inner._predictors for t in step)
                line += f"{gain / world.optimal_gain:11.5f}{n_bytes:9,}"
            print(f"{line}{seconds:9.2f}  {list(clf.density_.levels_)}", flush=True)


def _node_bytes() -> int:
    """Bytes of one node of a boosted tree."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    tiny = HistGradientBoostingClassifier(max_iter=1).fit([[0.0], [1.0]] * 30, [0, 1] * 30)
    return int(tiny._predictors[0][0].nodes.itemsize)


PARTS = {"by_hand": by_hand, "paper": paper, "worlds": worlds, "smooth": smooth}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0],
        epilog="Parts: " + "; ".join(f"{name}: {part.__doc__}" for name, part in PARTS.items()),
    )
    parser.add_argument("--full", action="store_true", help="all rows and all worlds")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    options = parser.parse_args(arguments)
    for name in options.parts:
        PARTS[name](options.full)
    return 0


if __name__ == "__main__":
    sys.exit(main())
