"""DBC, SPDBC and a forest of profiles under wrong labels and shaken features (SUM 2024).

The paper does not say how folds are dealt or k-means is started; plain shuffled folds and a single
start come nearest to the figures that are known of it, which stand beside ours. T and m are the
paper's for each set, and beside that are chosen inside each training part: ten deals of ten folds
there and five of five outside are some five minutes of one core for all sets together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesrule import RobustnessCurve, datasets, recipes, robustness_curve
from bayesrule.displays import RobustnessDisplay
from reproduce.page import Page

TITLE = "Robust discrete Bayesian classifiers (SUM 2024), and a forest of them"

#: Profiles and fuzziness of the paper's experiment on each set.
SETTINGS = {
    "iris": (15, 1.3),
    "breast_cancer_wdbc": (15, 1.5),
    "pima_diabetes": (20, 1.3),
    "heart_cleveland": (20, 1.3),
    "raisin": (20, 1.3),
    "zoo": (18, 1.1),
    "glass": (18, 1.1),
    "dermatology": (18, 1.3),
}
#: Sets that nothing was chosen on.
OTHERS = ("wine", "ionosphere", "satimage", "spambase", "abalone_5class")

#: Accuracy hard and soft that an independent program found: clean, labels .25, features .5.
KNOWN = {
    "iris": ((0.962, 0.967), (0.931, 0.951), (0.830, 0.830)),
    "breast_cancer_wdbc": ((0.905, 0.906), (0.894, 0.899), (0.846, 0.844)),
    "pima_diabetes": ((0.720, 0.726), (0.700, 0.709), (0.707, 0.709)),
    "heart_cleveland": ((0.634, 0.656), (0.596, 0.610), (0.615, 0.630)),
    "raisin": ((0.817, 0.817), (0.802, 0.805), (0.782, 0.782)),
    "zoo": ((0.940, 0.939), (0.858, 0.884), (0.883, 0.882)),
    "glass": ((0.599, 0.613), (0.586, 0.594), (0.536, 0.543)),
    "dermatology": ((0.605, 0.630), (0.600, 0.627), (0.573, 0.600)),
}
#: What the forest should reach on the mean over the eight sets.
GOALS = (0.868, 0.835, 0.826)
ONE_START = {"density__profiles__n_init": 1}
CONDITIONS = ("clean", "labels .25", "features .5")
NAMES = {"breast_cancer_wdbc": "breast cancer", "pima_diabetes": "diabetes"}
NAMES |= {"heart_cleveland": "heart", "abalone_5class": "abalone"}
MEAN = "**mean**"


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Complete rows of a set as numbers; categories as columns of zeros and ones."""
    data = datasets.load(name, frame="pandas")
    whole = ~data.X.isna().any(axis=1)
    X = pd.get_dummies(data.X[whole], dtype=float).to_numpy(float)
    return np.ascontiguousarray(X), data.y[whole.to_numpy()]


def peers() -> dict[str, Any]:
    """Other classifiers at their usual settings; those that need units get standard ones."""
    return {
        "random forest": RandomForestClassifier(random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
        "Gaussian naive Bayes": make_pipeline(StandardScaler(), GaussianNB()),
    }


def of_paper(name: str) -> dict[str, Any]:
    """The paper's two classifiers with its settings for a set."""
    n_profiles, fuzziness = SETTINGS[name]
    models = {
        "hard (DBC)": recipes.dbc(n_profiles),
        "soft (SPDBC)": recipes.spdbc(n_profiles, fuzziness),
    }
    return {name: model.set_params(**ONE_START) for name, model in models.items()}


def tuned(repeats: int) -> dict[str, Any]:
    """Number of profiles and fuzziness by ten folds, dealt so often, inside the training part."""
    numbers, inner = [10, 15, 20, 30], {"density__folds": 10, "density__repeats": repeats}
    models = {
        "hard": recipes.dbc(numbers),
        "soft": recipes.spdbc(numbers, [1.1, 1.3, 1.5]),
    }
    return {name: model.set_params(**ONE_START, **inner) for name, model in models.items()}


def dealt(
    page: Page, part: str, models: Any, name: str, repeats: int, folds: Any = KFold, **noise: Any
) -> RobustnessCurve:
    """Scores on five shuffled folds, dealt so often; each deal has noise of its own."""
    X, y = rows_of(name)
    found = []
    for deal in range(repeats):
        cv = folds(5, shuffle=True, random_state=deal)
        found.append(
            page.stored(
                f"{part}-{name}-{deal}",
                lambda cv=cv, deal=deal: robustness_curve(
                    models, X, y, cv=cv, random_state=deal, **noise
                ),
            )
        )
    return replace(found[0], scores=np.concatenate([one.scores for one in found], axis=2))


def curves(page: Page, models: Any, name: str, repeats: int) -> dict[str, RobustnessCurve]:
    """Scores under noise of labels and of features, at all of the paper's levels."""
    return {
        noise: dealt(page, f"paper-{noise}", models, name, repeats, noise=noise)
        for noise in ("labels", "features")
    }


def at_ends(
    page: Page, part: str, models: Any, name: str, repeats: int, folds: Any = KFold
) -> RobustnessCurve:
    """Scores without noise and at the highest level of each; a model is fitted twice in a fold."""
    levels = [(0.0, 0.0), (0.0, 0.5), (0.25, 0.0)]
    noises = ["labels", "features"]
    return dealt(page, part, models, name, repeats, folds, noise=noises, levels=levels)


def ends(found: Any) -> np.ndarray:
    """Accuracy of each model: clean, labels .25, features .5, shape (M, 3)."""
    if isinstance(found, RobustnessCurve):
        return found.means[:, [0, 2, 1]]
    labels, features = found["labels"].means, found["features"].means
    return np.column_stack([labels[:, 0], labels[:, -1], features[:, -1]])


def measured(page: Page, measure: Callable[[str], Any], names: Sequence[str]) -> dict[str, Any]:
    """What is found on each set that is at hand; which are not is said."""
    found, missing = {}, []
    for name in names:
        try:
            found[name] = measure(name)
        except FileNotFoundError as absent:
            missing.append((name, absent))
    if not found and missing:
        raise missing[0][1]
    for name, absent in missing:
        page.text(f"{NAMES.get(name, name)} was left out: {absent}")
    return found


def beside_known(page: Page, found: Mapping[str, Any]) -> None:
    """Hard and soft accuracies beside those that are known."""
    ours = {name: ends(of).T for name, of in found.items()}
    theirs = {name: np.array(KNOWN[name]) for name in found}
    apart = np.abs(np.array([ours[name] - theirs[name] for name in found]))
    ours[MEAN] = np.mean([*ours.values()], axis=0)
    theirs[MEAN] = np.mean([*theirs.values()], axis=0)
    rows = [
        [NAMES.get(name, name)]
        + [
            f"{hard:.3f}/{soft:.3f} ({known_hard:.3f}/{known_soft:.3f})"
            for (hard, soft), (known_hard, known_soft) in zip(mine, theirs[name], strict=True)
        ]
        for name, mine in ours.items()
    ]
    page.table(["hard/soft (known)", *CONDITIONS], rows)
    most, mean = apart.max(), apart.mean()
    page.text(f"Distance to the known figures: {most:.3f} at most, {mean:.3f} on the mean.")


def soft_ahead(page: Page, found: Mapping[str, Mapping[str, RobustnessCurve]]) -> None:
    """By how much soft memberships are ahead of hard ones, at each level."""
    page.text("By how much soft is ahead of hard, as a mean over the sets, at each level of noise.")
    rows = []
    for noise in ("labels", "features"):
        ahead = np.mean([of[noise].means[1] - of[noise].means[0] for of in found.values()], axis=0)
        rows.append([noise, *(f"{value:+.4f}" for value in ahead)])
    page.table(["", *(f"level {i}" for i in range(6))], rows)


def side_by_side(page: Page, found: Mapping[str, RobustnessCurve]) -> None:
    """Every model on every set, and the means."""
    names = next(iter(found.values())).names
    figures = np.array([ends(of) for of in found.values()])
    rows = [
        [
            model,
            *("/".join(f"{v:.3f}" for v in of_set[m]) for of_set in figures),
            "/".join(f"{v:.4f}" for v in figures[:, m].mean(axis=0)),
        ]
        for m, model in enumerate(names)
    ]
    page.table(["/".join(CONDITIONS), *(NAMES.get(n, n) for n in found), MEAN], rows)


def draw(page: Page, found: Mapping[str, Mapping[str, RobustnessCurve]]) -> None:
    """The paper's figures 4 and 5: a row of two panels for each set, four sets to a figure."""
    names = list(found)
    for number, start in enumerate(range(0, len(names), 4), start=4):
        some = names[start : start + 4]
        size = (9.0, 2.5 * len(some) + 0.4)
        figure, axes = plt.subplots(
            len(some), 2, figsize=size, squeeze=False, sharex="col", layout="constrained"
        )
        for i, (row, name) in enumerate(zip(axes, some, strict=True)):
            for ax, noise in zip(row, ("labels", "features"), strict=True):
                display = RobustnessDisplay.from_curve(
                    found[name][noise], ax=ax, confidence=None, legend=False
                )
                if i < len(some) - 1:
                    ax.set_xlabel("")
                ax.tick_params(labelbottom=True)
            row[0].set_title(NAMES.get(name, name), loc="left", fontsize="medium", weight="bold")
            row[1].set_ylabel("")
            low = min(ax.get_ylim()[0] for ax in row)
            high = max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set_ylim(low, high)
        figure.legend(
            display.handles_,
            list(found[some[0]]["labels"].names),
            loc="outside upper center",
            ncols=4,
            frameon=False,
        )
        sets = ", ".join(NAMES.get(name, name) for name in some)
        page.picture(
            figure,
            f"Figure {number}: accuracy of hard and soft profiles over the share of wrong labels "
            f"and over the noise of features, on {sets}",
        )
        plt.close(figure)


def experiment(page: Page, repeats: int, sets: Sequence[str]) -> None:
    """Hard and soft profiles with the paper's settings."""
    page.heading("The paper's experiment")
    page.text(
        f"Accuracy, hard/soft, the mean of {repeats} x 5 plain shuffled folds; nothing is scaled. "
        "A quarter of the training labels is wrong, or Gaussian noise of half a standard deviation "
        "is on the test features. T and m are the paper's for each set. In brackets: what an "
        "independent program found with the same settings, in folds of its own."
    )
    found = measured(page, lambda name: curves(page, of_paper(name), name, repeats), sets)
    beside_known(page, found)
    soft_ahead(page, found)
    draw(page, found)


def otherwise(page: Page, repeats: int, sets: Sequence[str]) -> None:
    """Other folds and other starts of k-means, which the paper does not tell."""
    page.text(
        "How folds were dealt, how often k-means was started and from which seed is not known. Two "
        f"of the smaller sets, hard/soft above or below the known figures, by {repeats} x 5 folds "
        "with noise drawn anew:"
    )
    protocols = [(KFold, "plain", 1, seed) for seed in range(3)]
    protocols += [(KFold, "plain", 10, 0)]
    protocols += [(StratifiedKFold, "stratified", starts, 0) for starts in (1, 10)]
    rows = []
    for folds, dealt_so, starts, seed in protocols:
        settings = {"n_init": starts, "random_state": seed}
        row = [f"{dealt_so} folds, " + (f"1 start, seed {seed}" if starts == 1 else "10 starts")]
        for name in sets:
            models = {
                key: model.set_params(**{f"density__profiles__{k}": v for k, v in settings.items()})
                for key, model in of_paper(name).items()
            }
            part = f"{dealt_so}-{starts}-{seed}"
            found = ends(at_ends(page, part, models, name, repeats, folds)).T
            row += [f"{h:+.3f}/{s:+.3f}" for h, s in found - np.array(KNOWN[name])]
        rows.append(row)
    page.table(["", *(f"{name} {at}" for name in sets for at in CONDITIONS)], rows)


def chosen(page: Page, inner: int, repeats: int, sets: Sequence[str]) -> None:
    """T and m by cross-validation instead of by the paper."""
    page.heading("T and m chosen inside the training part")
    page.text(
        f"T of 10, 15, 20, 30 and, for soft profiles, m of 1.1, 1.3, 1.5, by {inner} x 10 folds "
        f"inside each training part, wrong labels and all; {repeats} x 5 folds outside, the same "
        "as above. The known figures are those of the paper's T and m. The choice is the "
        "library's own, `recipes.spdbc(n_profiles=[10, ...], fuzziness=[1.1, ...])`: the share of "
        "right decisions on left-out rows, and among settings that it cannot tell apart the "
        "likeliest true classes."
    )
    models, part = tuned(inner), f"chosen-{inner}"
    found = measured(page, lambda name: at_ends(page, part, models, name, repeats), sets)
    beside_known(page, found)
    ahead = np.mean([ends(of)[1] - ends(of)[0] for of in found.values()], axis=0)
    told = ", ".join(f"{x:+.4f} ({c})" for x, c in zip(ahead, CONDITIONS, strict=True))
    paper = {name: curves(page, of_paper(name), name, repeats) for name in found}
    means = np.mean([ends(of).T for of in paper.values()], axis=0)
    theirs = ", ".join(
        f"{h:.3f}/{x:.3f} ({c})" for (h, x), c in zip(means, CONDITIONS, strict=True)
    )
    page.text(
        f"Soft is ahead of hard on the mean by {told}. On the same folds the mean with the paper's "
        f"T and m is {theirs}."
    )


def forests(page: Page, repeats: int, few: int, sets: Sequence[str], others: Sequence[str]) -> None:
    """The forest alone, beside others, and on sets without a part in its design."""
    forest = {"forest of partitions": recipes.spdbc_forest()}
    goals = "/".join(f"{goal:g}" for goal in GOALS)
    page.heading("The forest of partitions")
    page.text(
        "`recipes.spdbc_forest()` as it comes, the same for all sets. No fold tuned anything, but "
        "its settings were found by trials on these eight sets, so that its figures on them are "
        f"a little flattering. {repeats} x 5 folds; the mean should reach {goals}."
    )
    side_by_side(
        page, measured(page, lambda name: at_ends(page, "forest", forest, name, repeats), sets)
    )
    both = {**forest, **peers()}
    page.text(f"Beside others at their usual settings, on the same {few} x 5 folds:")
    side_by_side(page, measured(page, lambda name: at_ends(page, "beside", both, name, few), sets))
    page.heading("Sets without a part in the design")
    page.text(f"The same models, {few} x 5 folds, sets on which nothing was chosen:")
    side_by_side(
        page, measured(page, lambda name: at_ends(page, "beside", both, name, few), others)
    )


def fill(page: Page, full: bool) -> None:
    """Write the page."""
    sets = [*SETTINGS]
    experiment(page, 20 if full else 2, sets)
    otherwise(page, 20 if full else 2, ["zoo", "glass"])
    chosen(page, 10 if full else 1, 5 if full else 1, sets)
    # In short: one deal, and the two small ones of the other sets.
    repeats, few, others = (20, 2, OTHERS) if full else (1, 1, OTHERS[:2])
    forests(page, repeats, few, sets, others)
    page.heading("What follows from this, and what does not")
    page.text(
        """
        What follows: soft profiles are ahead of hard ones on the mean at every level of both
        noises, by about a point. With plain shuffled folds and one start of k-means the full run is
        within .015 of the known figures but for one of 48, glass without noise, .016 higher (hard);
        the means over the sets are within .003. A single start hangs on its seed, which is one for
        all folds: from two others that figure is .008 and .011 higher, and so within .015 too.
        Stratified folds, or ten starts, put zoo and glass up to .027 above the known figures, which
        fit plain folds and a single start.

        What was chosen where: T and m of the first part are the paper's, which does not say how
        they were found. The second part chooses them inside each training part, by ten deals of ten
        folds; of the folds outside there are five deals instead of twenty. Chosen so, hard and soft
        are ahead of the paper's settings on the mean in all three conditions, most of it on
        dermatology and glass, which want more profiles than the paper's 18; under noise of features
        breast cancer loses some two points by it, since left-out rows without that noise cannot
        warn of it. The forest's settings were found by trials on the eight sets, once for all of
        them; other models are as they come and were not tuned. Twenty deals of folds judge the
        paper's models and the forest alone, two deals all that stands beside other models, so that
        the forest's figures differ between the tables.

        On the eight sets the forest reaches its three goals and leads under both noises. It does
        not lead on clean rows, where random forest is .006 ahead on the same folds, most of it on
        glass. On the sets that had no part in its design it leads under noise of features, by .002
        on nearest neighbours, and with wrong labels, by .004 on random forest; two deals of folds
        do not tell either from nothing. On clean rows random forest is .027 ahead there, gradient
        boosting .019 and logistic regression .001.
        """
    )
