"""FEMDA, t-QDA, GQDA and QDA on made-up and real rows (GRETSI 2023), and what lies beside them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.model_selection import train_test_split

from bayesrule import BayesClassifier, Elliptical, datasets, recipes
from bayesrule.datasets.sources import folders
from bayesrule.displays import style
from reproduce.page import Page

TITLE = "FEMDA: a robust and flexible classification method (GRETSI 2023)"

RULES = {
    "QDA": recipes.qda(),
    "GQDA": recipes.gqda(),
    "t-QDA": recipes.t_qda(),
    "FEMDA": recipes.femda(),
}
GG, T = "generalised_gaussian", "student"
#: Rows of tables 1 and 2: GG - T, and whether shapes are the class's or each row's own.
SCENARIOS: dict[str, dict[str, Any]] = {
    "Gaussian (not in the paper)": {"family": "gaussian"},
    "1 - 0, per class": {"family": GG},
    "0 - 1, per class": {"family": T},
    "1 - 0, per point": {"family": GG, "shapes": "point"},
    "0 - 1, per point": {"family": T, "shapes": "point"},
    "½ - ½, per class": {"family": {GG: 0.5, T: 0.5}},
    "½ - ½, per point": {"family": {GG: 0.5, T: 0.5}, "shapes": "point"},
}
#: Table 1, differences added to the best: QDA, GQDA, t-QDA, FEMDA.
TABLE_1 = {
    "1 - 0, per class": (75.76, 75.80, 76.27, 76.25),
    "0 - 1, per class": (76.10, 76.05, 76.74, 76.58),
    "1 - 0, per point": (75.80, 75.81, 76.39, 76.29),
    "0 - 1, per point": (75.84, 75.81, 77.08, 76.87),
    "½ - ½, per class": (79.68, 79.72, 80.85, 80.46),
    "½ - ½, per point": (79.28, 79.72, 80.57, 80.59),
}
#: Table 2 likewise: t-QDA and FEMDA at 10 %, then at 25 %.
TABLE_2 = {
    (4, "1 - 0, per class"): (73.23, 73.04, 66.07, 66.44),
    (4, "0 - 1, per class"): (74.65, 74.29, 67.04, 67.19),
    (4, "1 - 0, per point"): (72.90, 72.98, 66.26, 66.48),
    (4, "0 - 1, per point"): (73.93, 73.69, 66.66, 66.70),
    (4, "½ - ½, per class"): (77.14, 76.53, 70.61, 70.40),
    (4, "½ - ½, per point"): (76.28, 75.87, 69.61, 69.74),
    (8, "1 - 0, per class"): (72.76, 72.87, 64.12, 64.79),
    (8, "0 - 1, per class"): (74.11, 73.82, 65.53, 65.98),
    (8, "1 - 0, per point"): (71.62, 71.93, 65.16, 65.49),
    (8, "0 - 1, per point"): (73.14, 73.22, 64.05, 64.29),
    (8, "½ - ½, per class"): (76.36, 75.92, 68.55, 68.69),
    (8, "½ - ½, per point"): (75.56, 75.19, 67.29, 67.61),
}
REAL = {
    "ionosphere": "Ionosphere",
    "ecoli": "Ecoli",
    "breast_cancer_wisconsin_original": "Breast cancer",
    "spambase": "Spambase",
}
TAU = (1.0, 10.0)


def parameters() -> dict[str, np.ndarray]:
    """The fixed means and scatters of the simulation where they are at hand; else drawn ones."""
    for folder in folders():
        path = folder / "femda_simulation_parameters.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            return {name: np.array(kept[name]) for name in ("means", "covariances")}
    rows = datasets.make_elliptical(1, 10, 5, world=0)
    return {"means": rows.means, "covariances": rows.covariances}


def made(n: int, seed: int, repeat: int, scenario: str, **more: Any) -> Any:
    """Rows of a scenario; training and test rows of one repeat share their shapes."""
    world = {"world": repeat, "tau": TAU, **parameters()}
    return datasets.make_elliptical(n, random_state=seed, **world, **SCENARIOS[scenario], **more)


def simulated(
    repeats: int, n_test: int, scenario: str, noise: Mapping[str, Any], test_noise: bool
) -> dict[str, np.ndarray]:
    """Accuracies in per cent, a number per repeat."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for repeat in range(repeats):
        train = made(5000, 2 * repeat + 1, repeat, scenario, **noise)
        clean_or_not = noise if test_noise else {}
        test = made(n_test, 2 * repeat + 2, repeat, scenario, **clean_or_not)
        for name, rule in RULES.items():
            found[name].append(100 * rule.fit(*train).score(*test))
    return {name: np.array(values) for name, values in found.items()}


def table_1(page: Page, repeats: int, n_test: int) -> None:
    """Clean rows."""
    page.heading("Table 1: clean rows")
    page.text(
        f"Five classes in ten dimensions, 5,000 rows to learn from and {n_test:,} to decide on, "
        f"each row with a scale tau uniform in [1, 10]; means of {repeats} repeats, in per cent, "
        "beside the published figures (QDA, GQDA, t-QDA, FEMDA)."
    )
    rows = []
    for scenario in SCENARIOS:
        found = simulated(repeats, n_test, scenario, {}, False)
        ours = [f"{values.mean():.1f}" for values in found.values()]
        apart = found["FEMDA"] - found["t-QDA"]
        published = TABLE_1.get(scenario)
        rows.append(
            (
                scenario,
                *ours,
                f"{apart.mean():+.2f}",
                " ".join(f"{value:.1f}" for value in published) if published else "",
            )
        )
    page.table(("GG - T", *RULES, "FEMDA less t-QDA", "published"), rows)


def table_2(page: Page, repeats: int, n_test: int) -> None:
    """Rows moved away from their mean."""
    page.heading("Table 2: rows at four and eight times their distance")
    page.text(
        "What contaminated training rows cost on clean test rows, against clean ones; means of "
        f"{repeats} repeats. The published accuracies fall by up to twelve points, which no such "
        "cost explains."
    )
    clean = {scenario: simulated(repeats, n_test, scenario, {}, False) for scenario in SCENARIOS}
    rows = []
    for scale in (4, 8):
        for scenario in SCENARIOS:
            cells: list[Any] = [f"λ = {scale}, {scenario}"]
            for share in (0.1, 0.25):
                noise = {"contamination": share, "scale": float(scale)}
                moved = simulated(repeats, n_test, scenario, noise, False)
                lost = {m: float((moved[m] - clean[scenario][m]).mean()) for m in RULES}
                cells += [f"{lost[m]:+.2f}" for m in ("QDA", "t-QDA", "FEMDA")]
            rows.append(cells)
    costs = [f"{m}, {s} %" for s in (10, 25) for m in ("QDA", "t-QDA", "FEMDA")]
    page.table(("", *costs), rows)
    page.text(
        "Test rows contaminated as well: as stated, x ← μ + λ (x - μ), and with a direction that "
        "knows nothing of the class (isotropic). Accuracies of t-QDA / FEMDA."
    )
    rows = []
    for scale in (4, 8):
        for scenario in SCENARIOS:
            cells = [f"λ = {scale}, {scenario}"]
            for isotropic in (False, True):
                for share in (0.1, 0.25):
                    noise = {"contamination": share, "scale": float(scale), "isotropic": isotropic}
                    both = simulated(repeats, n_test, scenario, noise, True)
                    cells.append(f"{both['t-QDA'].mean():.1f} / {both['FEMDA'].mean():.1f}")
            published = TABLE_2.get((scale, scenario))
            for at in (0, 2):
                pair = published[at : at + 2] if published else ()
                cells.append(" / ".join(f"{value:.1f}" for value in pair))
            rows.append(cells)
    kinds = [f"{kind}, {s} %" for kind in ("stated", "isotropic", "published") for s in (10, 25)]
    page.table(("", *kinds), rows)


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Complete rows of a real set, classes by number."""
    data = datasets.load(name)
    X = np.asarray(data.X, float)
    whole = ~np.isnan(X).any(axis=1)
    return X[whole], np.unique(np.asarray(data.y)[whole], return_inverse=True)[1]


def real(
    name: str, rules: Mapping[str, Any], shares: list[float], splits: int
) -> dict[str, np.ndarray]:
    """Accuracies in per cent by rule, of shape (shares, splits)."""
    X, y = rows_of(name)
    found = {rule: np.empty((len(shares), splits)) for rule in rules}
    for split in range(splits):
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.3, random_state=split, stratify=y
        )
        means = np.array([X[train][y[train] == k].mean(axis=0) for k in range(y.max() + 1)])
        centre, draws = means[y[train]], np.random.default_rng(split).random(len(train))
        for s, share in enumerate(shares):
            far = (draws < share)[:, None]
            moved = np.where(far, centre + 5.0 * (X[train] - centre), X[train])
            for rule, clf in rules.items():
                found[rule][s, split] = 100 * clf.fit(moved, y[train]).score(X[test], y[test])
    return found


def figures(page: Page, splits: int, shares: list[float]) -> None:
    """Real sets, clean (figure 1) and with rows moved away from their class (figure 2)."""
    page.heading("Figures 1 and 2: real sets")
    page.text(
        f"Medians over {splits} splits into 70 % and 30 %, settings at their defaults; training "
        "rows are moved to five times their distance from the mean of their class with the chance "
        "in the header. RGQDA stands on the minimum covariance determinant. The published figure 1 "
        "shows GQDA ahead by about a point on Ionosphere, all close on Ecoli, FEMDA near 95 and "
        "ahead on Breast cancer; figure 2 shows FEMDA and t-QDA nearly level up to 60 %, RGQDA "
        "falling, and all three falling from 40 % on Ecoli."
    )
    rules = {
        "QDA": BayesClassifier(Elliptical("sample")),
        "GQDA": RULES["GQDA"],
        "RGQDA": recipes.rgqda(),
        "t-QDA": RULES["t-QDA"],
        "FEMDA": RULES["FEMDA"],
    }
    rows = []
    clean: dict[str, list[np.ndarray]] = {}
    figure, axes = plt.subplots(1, len(REAL), figsize=(12, 3.4), layout="constrained")
    for ax, (name, title) in zip(axes, REAL.items(), strict=True):
        few = max(3, splits // 10) if name == "spambase" else splits
        some = {k: v for k, v in rules.items() if name != "spambase" or k != "RGQDA"}
        found = real(name, some, shares, few)
        clean[title] = [found[rule][0] for rule in some]
        style.tidy(ax)
        for rule, values in found.items():
            i = list(rules).index(rule)
            middle = np.median(values, axis=1)
            rows.append((title, rule, *[f"{value:.1f}" for value in middle]))
            ax.plot(100 * np.array(shares), middle, color=style.hue(i), marker="o", markersize=3.5)
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("rows moved (%)")
    axes[0].set_ylabel("median accuracy (%)")
    lines = [plt.Line2D([], [], color=style.hue(i)) for i in range(len(rules))]
    figure.legend(lines, rules, loc="outside lower center", ncols=len(rules), frameon=False)
    page.table(("", "", *[f"{100 * share:.0f} %" for share in shares]), rows)
    boxes, axes = plt.subplots(1, len(REAL), figsize=(12, 3.2), layout="constrained")
    for ax, (title, values) in zip(axes, clean.items(), strict=True):
        style.tidy(ax)
        names = list(rules) if len(values) == len(rules) else [r for r in rules if r != "RGQDA"]
        drawn = ax.boxplot(values, tick_labels=names, patch_artist=True, widths=0.6)
        for patch, name in zip(drawn["boxes"], names, strict=True):
            patch.set_facecolor(style.tint(style.hue(list(rules).index(name)), 0.5))
        for line in drawn["medians"]:
            line.set_color(style.INK)
        ax.set_title(title, fontsize="medium")
        ax.tick_params(axis="x", labelrotation=40)
    axes[0].set_ylabel("accuracy (%)")
    page.picture(boxes, "Figure 1: accuracies on clean rows, a box over the splits for each rule")
    page.picture(figure, "Figure 2: median accuracy over the share of training rows moved away")
    plt.close("all")


def few_rows(page: Page, repeats: int) -> None:
    """Forty rows of fifty columns for each class."""
    page.heading("Few rows: 40 of each class in 50 dimensions")
    page.text(
        "Generalised Gaussians with a shape for each row, five classes, variances along random "
        "axes uniform in [0.01, 1]. No unregularised scatter exists."
    )
    found: dict[str, list[float]] = {}
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        axes = np.linalg.qr(rng.normal(size=(5, 50, 50)))[0]
        scatters = (axes * rng.uniform(0.01, 1.0, (5, 1, 50))) @ axes.transpose(0, 2, 1)
        settings = {"family": GG, "shapes": "point", "world": repeat, "covariances": 2 * scatters}
        train = datasets.make_elliptical(200, random_state=2 * repeat, **settings)
        test = datasets.make_elliptical(4000, random_state=2 * repeat + 1, **settings)
        for name, rule in {
            "maximum likelihood, repaired": recipes.qda(),
            "FEMDA": RULES["FEMDA"],
            "t-QDA": RULES["t-QDA"],
        }.items():
            found.setdefault(name, []).append(100 * rule.fit(*train).score(*test))
        found.setdefault("Ledoit and Wolf", []).append(ledoit_wolf(train, test))
    page.table(
        ("", "accuracy (%)"), [(name, f"{np.mean(found[name]):.1f}") for name in sorted(found)]
    )


def ledoit_wolf(train: Any, test: Any) -> float:
    """Quadratic discriminant over Ledoit and Wolf's covariances, in per cent."""
    scores = []
    for k in range(len(train.means)):
        found = LedoitWolf().fit(train.X[train.y == k])
        size = np.linalg.slogdet(found.covariance_)[1]
        scores.append(-0.5 * (found.mahalanobis(test.X) + size))
    return float(100 * np.mean(np.argmax(scores, axis=0) == test.y))


def collapses(page: Page, draws: int) -> None:
    """Locations by weights of 1 / t that end on a row."""
    page.heading("The location of equation (2)")
    page.text(
        "Weights of 1 / t are infinite at every row, so the equation of the location is solved "
        "at each of them. Shares of Gaussian draws in which one row makes more than half of the "
        "location, from the mean as the start: as the equation stands, with t floored as the "
        "option '1/t' does, and by 1 / sqrt(t), the default."
    )
    rows = []
    for m, n in ((2, 30), (4, 40), (10, 30)):
        ended = np.zeros(3)
        for draw in range(draws):
            X = np.random.default_rng((m, n, draw)).normal(size=(n, m))
            ended[0] += raw_equation_ends_on_a_row(X)
            for i, weights in enumerate(("1/t", "1/sqrt(t)")):
                density = Elliptical("tyler", location_weights=weights, shrinkage=None)
                law: Any = BayesClassifier(density).fit(X, np.zeros(n)).log_density_
                t = squared(X, law.location[0], law.scatter[0])
                v = 1.0 / np.maximum(t, 1e-12 * np.median(t)) ** (1.0 if i == 0 else 0.5)
                ended[1 + i] += v.max() > 0.5 * v.sum()
        rows.append((f"m = {m}, n = {n}", *[f"{100 * e / draws:.0f} %" for e in ended]))
    page.table(("", "1/t as it stands", "1/t, floored", "1/sqrt(t)"), rows)


def raw_equation_ends_on_a_row(X: np.ndarray) -> bool:
    """Whether the plain iteration of equation (2) ends with one row holding the location."""
    n, m = X.shape
    location, scatter = X.mean(axis=0), np.cov(X.T)
    for _ in range(300):
        w = 1.0 / np.maximum(squared(X, location, scatter), 1e-300)
        if w.max() > 0.999 * w.sum():
            return True
        location = w @ X / w.sum()
        apart = X - location
        scatter = m / n * (apart.T * w) @ apart
        scatter *= m / np.trace(scatter)
        if not np.linalg.cond(scatter) < 1e12:
            return True
    return bool(w.max() > 0.5 * w.sum())


def squared(X: np.ndarray, location: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """Squared distances."""
    apart = X - location
    return np.asarray(np.einsum("ij,ij->i", apart @ np.linalg.inv(scatter), apart))


def speed(page: Page, rounds: int) -> None:
    """The claim that FEMDA is faster than t-QDA."""
    page.heading("Speed: FEMDA beside t-QDA")
    rows = []
    for scenario in ("Gaussian (not in the paper)", "0 - 1, per class", "½ - ½, per point"):
        train = made(5000, 1, 0, scenario)
        seconds: dict[str, list[float]] = {"FEMDA": [], "t-QDA": []}
        for _ in range(rounds):
            for name, taken in seconds.items():
                since = time.perf_counter()
                RULES[name].fit(*train)
                taken.append(time.perf_counter() - since)
        sweeps = [int(np.median(RULES[name].log_density_.iterations)) for name in seconds]
        ratio = float(np.median(np.array(seconds["t-QDA"]) / np.array(seconds["FEMDA"])))
        rows.append((scenario, *map(str, sweeps), f"{ratio:.1f}"))
    page.table(("", "sweeps of FEMDA", "sweeps of t-QDA", "time of t-QDA / FEMDA"), rows)


def fill(page: Page, full: bool) -> None:
    """Write the page."""
    repeats, n_test = (20, 20_000) if full else (3, 5000)
    table_1(page, repeats, n_test)
    table_2(page, 5 if full else 1, n_test)
    shares = [0.0, 0.2, 0.4, 0.6] if full else [0.0, 0.3, 0.6]
    try:
        figures(page, 100 if full else 10, shares)
    except FileNotFoundError as missing:
        page.text(f"Real sets were left out: {missing}")
    few_rows(page, 20 if full else 3)
    collapses(page, 200 if full else 20)
    speed(page, 15 if full else 5)
    page.heading("What follows from the paper's text, and what does not")
    page.text(
        """
        What follows: t-QDA and FEMDA are level wherever shapes are drawn for each point, FEMDA is
        nearly blind to a change of scale of training rows, and it is faster than t-QDA. t-QDA is
        ahead of FEMDA where classes differ in their tails, which it alone makes use of; that lead
        is what contamination takes from it. (With degrees of freedom shared by the classes,
        `t_qda("shared")`, it has no such lead to lose among Students.)

        What does not: the rows "1 - 0" of table 1 match plain Gaussian rows with scales, and no
        generalised Gaussian with the stated range of beta, under which per-point shapes put QDA
        near 22 % rather than half a point behind. Student rows put it ten to twenty-five points
        behind, not one. Moved training rows cost FEMDA, and t-QDA where shapes are each point's
        own, next to nothing on clean test rows, so the falls of table 2 can come only from moved
        test rows. The stated noise, which keeps each row's direction, takes one to three points
        from them, noise of isotropic direction takes more than was published. GQDA's column keeps
        the better of two rules by accuracy on the test rows; ours is told from training rows alone,
        and its lead on Ionosphere (figure 1) is not there. The ridge that the real sets need is not
        in the paper's text at all; without one, the scatters of most of their classes do not exist.
        """
    )
