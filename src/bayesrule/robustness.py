"""How models bear noise: their scores on left-out rows as wrong labels or shaken features grow.

All models see the same folds and the same noise, and a higher level of noise changes what a lower
one has changed already, so that models and levels differ by nothing but themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_consistent_length

from bayesrule.memberships import encode_labels
from bayesrule.noise import Noise, as_noise
from bayesrule.progress import progress
from bayesrule.summary import aligned
from bayesrule.tables import as_read

PLACES = ("train", "test", "both")


@dataclass(frozen=True, repr=False)
class RobustnessCurve:
    """Scores of some models at growing levels of noise, on the same folds.

    Attributes
    ----------
    names : tuple of str
        The models.
    levels : ndarray of shape (L, N)
        Level of each of the N noises at each of the L points.
    scores : ndarray of shape (M, L, R, F)
        Score of each model, at each level, in each repeat and fold.
    meanings : tuple of str
        What the levels of each noise are.
    places : tuple of str
        Where each noise was put in.
    shares : float
        Test rows for each row that was learned from.
    scoring : str
        What the score is.
    """

    names: tuple[str, ...]
    levels: np.ndarray
    scores: np.ndarray
    meanings: tuple[str, ...]
    places: tuple[str, ...]
    shares: float
    scoring: str

    @property
    def means(self) -> np.ndarray:
        """Mean score of each model at each level, shape (M, L)."""
        found: np.ndarray = self.scores.mean(axis=(2, 3))
        return found

    def intervals(self, confidence: float = 0.95) -> np.ndarray:
        """Lower and upper limits of the means, shape (M, L, 2)."""
        _check_confidence(confidence)
        error, freedom = self._error(self.scores)
        reach = student.ppf(0.5 + 0.5 * confidence, freedom) * error
        return np.stack([self.means - reach, self.means + reach], axis=2)

    def paired(self, reference: str | None = None, confidence: float = 0.95) -> Any:
        """How far each model is ahead of one of them, fold by fold, as a pandas DataFrame.

        Parameters
        ----------
        reference : str, default=None
            The model that the others are compared with; None is the first.
        confidence : float, default=0.95

        Returns
        -------
        DataFrame
            For each model and level: ``ahead``, its limits ``low`` and ``high``, and the
            ``p_value`` of a difference of zero, by the corrected t-test for repeated folds.

        References
        ----------
        Nadeau, Bengio: Inference for the generalization error, Machine Learning 52, 2003.
        """
        import pandas as pd

        _check_confidence(confidence)
        first = self.names[0] if reference is None else reference
        if first not in self.names:
            raise ValueError(f"reference={reference!r} is none of the models {list(self.names)}.")
        ahead = self.scores - self.scores[self.names.index(first)]
        error, freedom = self._error(ahead)
        mean = ahead.mean(axis=(2, 3))
        # Nothing is known of the spread of a single fold, and so nothing of its chance.
        statistic = np.divide(mean, error, out=np.full_like(mean, np.inf), where=error != 0)
        p = np.where((error == 0) & (mean == 0), 1.0, 2.0 * student.sf(np.abs(statistic), freedom))
        reach = student.ppf(0.5 + 0.5 * confidence, freedom) * error
        rows = [
            (name, *level, mean[m, i], mean[m, i] - reach[m, i], mean[m, i] + reach[m, i], p[m, i])
            for m, name in enumerate(self.names)
            for i, level in enumerate(self.levels)
            if name != first
        ]
        columns = ["model", *self._titles(), "ahead", "low", "high", "p_value"]
        return pd.DataFrame(rows, columns=columns)

    def _error(self, values: np.ndarray) -> tuple[np.ndarray, int]:
        """Standard errors of means over folds, which share most of what they learn from."""
        folds = values.reshape(*values.shape[:2], -1)
        n = folds.shape[2]
        if n < 2:
            return np.full(folds.shape[:2], np.nan), 1
        return np.sqrt((1.0 / n + self.shares) * folds.var(axis=2, ddof=1)), n - 1

    def _titles(self) -> list[str]:
        return [
            f"{meaning} ({place})"
            for meaning, place in zip(self.meanings, self.places, strict=True)
        ]

    def to_frame(self) -> Any:
        """Every score, one row each, as a pandas DataFrame."""
        import pandas as pd

        rows = [
            (self.names[m], *self.levels[i], r, f, score)
            for (m, i, r, f), score in np.ndenumerate(self.scores)
        ]
        return pd.DataFrame(rows, columns=["model", *self._titles(), "repeat", "fold", "score"])

    def __str__(self) -> str:
        shown = [" + ".join(f"{value:g}" for value in level) for level in self.levels]
        table = [["model", *shown]]
        table += [
            [name, *(f"{mean:.4f}" for mean in means)]
            for name, means in zip(self.names, self.means, strict=True)
        ]
        repeats, folds = self.scores.shape[2:]
        title = f"{self.scoring} by {' + '.join(self._titles())}; {repeats} x {folds} folds"
        return "\n".join([title, *aligned(table)])

    __repr__ = __str__


def robustness_curve(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    noise: Any = "labels",
    where: Any = None,
    levels: Any = None,
    cv: Any = 5,
    repeats: int = 1,
    scoring: Any = None,
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> RobustnessCurve:
    """Score classifiers on left-out rows under growing noise.

    Parameters
    ----------
    estimators : dict {name: classifier}, or one classifier
        Ours or scikit-learn's. They are cloned, never fitted themselves.
    X : array or frame of shape (n, D)
    y : array of n labels
    noise : "labels", "features", "scale", a noise such as ``ScaleNoise(8)``, or a list of these
        Of several, all are put in at once.
    where : "train", "test", "both", or a list with one for each noise, default=None
        Which rows become noisy. None puts wrong labels and blown-up rows into those that are
        learned from, and shaken features into the new ones, as the papers do.
    levels : sequence of numbers, or of tuples with one number for each noise, default=None
        None takes the noises' usual ones, all rising together.
    cv : int or splitter, default=5
        A number of folds is stratified and shuffled.
    repeats : int, default=1
        How often the folds are dealt anew.
    scoring : str, callable or None, default=None
        As scikit-learn's; None is the estimators' own ``score``, the share of right decisions.
    random_state : int, default=0
    n_jobs : int, default=1
        Processes; -1 takes all cores. The scores do not depend on it.

    Returns
    -------
    RobustnessCurve

    Notes
    -----
    Units and class means that a noise needs come from the clean rows that are learned from. A model
    is fitted anew for each level only where the rows that it learns from are noisy.

    References
    ----------
    The experiment of Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under
    covariate and label noise, SUM 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesrule import recipes, robustness_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"hard": recipes.dbc(15), "soft": recipes.spdbc(15)}
    >>> curve = robustness_curve(models, X, y, noise="labels", levels=[0, 0.25])
    >>> curve.means.shape, bool((curve.means[1] > 0.9).all())
    ((2, 2), True)
    """
    models = estimators if isinstance(estimators, Mapping) else {"model": estimators}
    if not models or not all(hasattr(model, "fit") for model in models.values()):
        raise ValueError(f"estimators={estimators!r} must be a classifier, or a dict of them.")
    for name, value in (("repeats", repeats), ("random_state", random_state)):
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or int(value) < (name == "repeats"):
            raise ValueError(
                f"{name}={value!r}: expected a whole number from 0 on, repeats from 1."
            )
    noises = tuple(map(as_noise, noise if isinstance(noise, (list, tuple)) else [noise]))
    if not noises:
        raise ValueError("noise=[] names no noise; use 'labels', 'features' or 'scale'.")
    places = _read_places(where, noises)
    points = _read_levels(levels, noises)
    X, y = as_read(X), np.asarray(y)
    check_consistent_length(X, y)
    encode_labels(y)  # refuses labels that are missing or of several kinds
    if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            f"scoring={scoring!r}: expected one score, as a name such as 'f1_macro', a callable, "
            "or None for the share of right decisions. Draw a curve for each of several."
        )
    scorer = check_scoring(next(iter(models.values())), scoring=scoring)
    if not isinstance(cv, Integral) or isinstance(cv, bool):
        cv = check_cv(cv, y, classifier=True)  # once: splits that are iterated over end
    deals = [list(_folds(cv, int(random_state) + r, X, y)) for r in range(int(repeats))]
    n_folds = len(deals[0])
    if any(len(splits) != n_folds for splits in deals):
        raise ValueError("cv deals different numbers of folds in different repeats.")
    jobs = [
        (m, r, f) for r in range(len(deals)) for f in range(n_folds) for m in range(len(models))
    ]
    plan = [Noisy(n, place, i) for i, (n, place) in enumerate(zip(noises, places, strict=True))]
    scores = np.empty((len(models), len(points), len(deals), n_folds))
    chosen = list(models.values())
    work = (
        delayed(_scores_of_fold)(
            chosen[m], X, y, *deals[r][f], plan, points, scorer, [int(random_state), r, f]
        )
        for m, r, f in jobs
    )
    with progress("robustness", len(jobs)) as meter:
        results = Parallel(n_jobs=n_jobs, return_as="generator")(work)
        for (m, r, f), found in zip(jobs, results, strict=True):
            scores[m, :, r, f] = found
            meter.advance(note=list(models)[m])
    train, test = deals[0][0]
    return RobustnessCurve(
        tuple(map(str, models)),
        points,
        scores,
        tuple(noise.meaning for noise in noises),
        places,
        len(test) / len(train),
        "accuracy" if scoring is None else getattr(scoring, "__name__", str(scoring)),
    )


@dataclass(frozen=True)
class Noisy:
    """One of the noises, and where it is put in."""

    noise: Noise
    place: str
    number: int

    def on(self, part: str) -> bool:
        """Whether it changes the rows of a part."""
        return self.place in (part, "both")


def _scores_of_fold(
    model: Any,
    X: Any,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    plan: list[Noisy],
    points: np.ndarray,
    scorer: Any,
    seeds: list[int],
) -> list[float]:
    """Score of one model at each level, learned from one part and asked about another."""
    clean = _safe_indexing(X, train), y[train]
    fresh = _safe_indexing(X, test), y[test]
    known = [noisy.noise.learn(*clean) for noisy in plan]

    def disturbed(rows: tuple[Any, np.ndarray], part: str, levels: np.ndarray) -> Any:
        for noisy, facts, level in zip(plan, known, levels, strict=True):
            if noisy.on(part):
                rng = np.random.default_rng([*seeds, noisy.number, part == "test"])
                rows = noisy.noise.disturb(*rows, float(level), rng, facts)
        return rows

    scores, fitted, before = [], None, None
    for levels in points:
        asked = [level for noisy, level in zip(plan, levels, strict=True) if noisy.on("train")]
        if fitted is None or asked != before:
            fitted, before = clone(model).fit(*disturbed(clean, "train", levels)), asked
        scores.append(float(scorer(fitted, *disturbed(fresh, "test", levels))))
    return scores


def _folds(cv: Any, seed: int, X: Any, y: np.ndarray) -> Any:
    """Stratified folds dealt with a seed, or those of the user's own splitter."""
    if isinstance(cv, Integral):
        return StratifiedKFold(int(cv), shuffle=True, random_state=seed).split(y, y)
    return cv.split(X, y)


def _read_places(where: Any, noises: tuple[Noise, ...]) -> tuple[str, ...]:
    """Where each noise is put in."""
    listed = where if isinstance(where, (list, tuple)) else [where] * len(noises)
    if len(listed) != len(noises) or any(place not in (None, *PLACES) for place in listed):
        raise ValueError(
            f"where={where!r} is not known; use one of {PLACES}, or a list with one for each of "
            f"the {len(noises)} noises."
        )
    return tuple(
        noise.place if place is None else place for place, noise in zip(listed, noises, strict=True)
    )


def _read_levels(levels: Any, noises: tuple[Noise, ...]) -> np.ndarray:
    """Level of each noise at each point."""
    if levels is None:
        return np.column_stack([noise.usual for noise in noises])
    message = (
        f"levels={levels!r}: expected a list of numbers from 0 on, or of tuples with one number "
        f"for each of the {len(noises)} noises."
    )
    if not isinstance(levels, (Sequence, np.ndarray)) or isinstance(levels, str) or not len(levels):
        raise ValueError(message)
    rows = [[v] * len(noises) if isinstance(v, Real) else list(v) for v in levels]
    if any(len(row) != len(noises) for row in rows):
        raise ValueError(message)
    points = np.array(rows, dtype=np.float64)
    if not (np.isfinite(points).all() and (points >= 0).all()):
        raise ValueError(message)
    return points


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, for example 0.95.")
