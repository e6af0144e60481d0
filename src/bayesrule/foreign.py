"""Any scikit-learn classifier as a density: costs, abstention and new priors for every model.

A classifier knows P(k | x) under the priors it was trained with. Dividing those out leaves
log P(k | x) - log trained_prior[k], the log-density of class k up to a term common to the row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesrule.decide import log_of
from bayesrule.density import Density, LogDensity, Rule
from bayesrule.memberships import Memberships, places
from bayesrule.notices import PriorsWarning
from bayesrule.priors import given_priors
from bayesrule.stats import Sums
from bayesrule.tables import Table, read_raw

#: A mean posterior further than this from the priors that are divided out draws a warning.
FAR = 0.1

#: Rows that the mean posterior is taken over at most.
CHECKED_ROWS = 10_000


class FromClassifier(Density):
    """The density behind a probabilistic classifier.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Refitted by ``fit``. A fitted one is kept as it is inside scikit-learn's
        ``FrozenEstimator``. Wrap it in ``CalibratedClassifierCV`` where its probabilities are
        rough, or where it has none.
    trained_priors : None, array of shape (K,) or dict {class: p}
        Priors to divide out. None counts the training weights: sample weights times the
        estimator's ``class_weight``. Give them for a frozen estimator that was trained on other
        class proportions than the rows of ``fit`` have.

    Notes
    -----
    ``partial_fit`` trains the estimator on its first chunk and only counts classes after that.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bayesrule import BayesClassifier, FromClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FromClassifier(LogisticRegression(class_weight="balanced", max_iter=1000))
    >>> BayesClassifier(model, priors=[0.8, 0.1, 0.1]).fit(X, y).predict(X[:2]).tolist()
    [0, 0]
    """

    normalised: ClassVar[bool] = False

    def __init__(self, estimator: Any, trained_priors: Any = None):
        self.estimator = estimator
        self.trained_priors = trained_priors

    @property
    def memorises(self) -> bool:  # type: ignore[override]
        """A refitted model of any kind may look better on its own rows."""
        return not isinstance(self.estimator, FrozenEstimator)

    def read(self, X: Any, estimator: Any) -> Table:
        """X goes to the estimator untouched: it checks what it needs."""
        return read_raw(X)

    def describe_input(self, tags: Any) -> Any:
        """The inner estimator decides what it takes."""
        if not hasattr(self.estimator, "__sklearn_tags__"):
            return tags  # ``fit`` says what is wrong with it
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.no_validation = inner.no_validation
        tags.non_deterministic = inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags

    def prepare(self, table: Table, memberships: Memberships, rule: Rule) -> FittedClassifier:
        """Fit the estimator and work out which priors its posteriors contain."""
        if not (hasattr(self.estimator, "fit") and is_classifier(self.estimator)):
            raise TypeError(f"FromClassifier needs a classifier, but got {self.estimator!r}.")
        model = self.estimator
        if isinstance(model, FrozenEstimator):
            check_is_fitted(model)
        else:
            model = _fit(clone(model), table, memberships)
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"{type(self.estimator).__name__} has no predict_proba, which FromClassifier "
                "needs. Wrap it: FromClassifier(CalibratedClassifierCV(...))."
            )
        known = model.classes_
        strangers = places(memberships.classes[memberships.totals() > 0], known) < 0
        if strangers.any():
            raise ValueError(
                f"y has classes {memberships.classes.tolist()}, but the estimator was trained on "
                f"{known.tolist()} only. Train it on all classes."
            )
        if self.trained_priors is not None:
            trained = given_priors(self.trained_priors, np.ones(len(known)), known)
        else:
            trained = _counted_priors(model, table, memberships)
        unknown = memberships.classes[places(memberships.classes, known[trained > 0]) < 0]
        unknown = unknown[places(unknown, known) >= 0]
        if len(unknown):
            raise ValueError(
                f"The prior that the estimator was trained with is not known for class "
                f"{unknown.tolist()[0]!r}: it has no rows here, or trained_priors gives it none. "
                "State a positive one in trained_priors=."
            )
        return FittedClassifier(model, trained)


def _fit(model: Any, table: Table, memberships: Memberships) -> Any:
    """Fit with sample weights only where there are some: not every estimator takes them."""
    rows, codes, weights = memberships.entries()
    labels = memberships.classes[codes]
    whole = memberships.degrees is None
    X = table.raw if whole else table.take(rows).raw
    if whole and memberships.weights is None:
        return model.fit(X, labels)
    name = "sample_weight"
    taker = model
    if isinstance(model, Pipeline) and not get_config()["enable_metadata_routing"]:
        step, taker = model.steps[-1]
        name = f"{step}__sample_weight"
    elif hasattr(model, "refit") and hasattr(model, "estimator"):
        taker = model.estimator  # a search hands its weights on
    if not isinstance(model, Pipeline) and not has_fit_parameter(taker, "sample_weight"):
        raise TypeError(
            f"{type(taker).__name__} takes no sample_weight, so it can be fitted neither with "
            "weights nor with soft labels. Use an estimator whose fit has sample_weight."
        )
    return model.fit(X, labels, **{name: weights})


def _innermost(model: Any) -> Any:
    """The fitted estimator whose posteriors these are, where others only pass them on."""
    while True:
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif isinstance(model, (FixedThresholdClassifier, TunedThresholdClassifierCV)):
            model = model.estimator_
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model


def _stated_priors(model: Any) -> np.ndarray | None:
    """Priors that a generative model says it uses, which need not be those of its rows."""
    if hasattr(model, "class_log_prior_"):
        return np.exp(model.class_log_prior_)
    for name in ("priors_", "class_prior_"):
        if getattr(model, name, None) is not None:
            return np.asarray(getattr(model, name), dtype=np.float64)
    return None


def _warn_of_inner_weights(model: Any) -> None:
    """An ensemble may pass class weights on in ways that cannot be told from outside.

    A calibrator is fitted without class weights, so what it wraps no longer counts.
    """
    if isinstance(model, CalibratedClassifierCV) or not hasattr(model, "get_params"):
        return
    endings = ("__class_weight", "__priors", "__class_prior")
    inner = [
        name
        for name, value in model.get_params(deep=True).items()
        if name.endswith(endings)
        and isinstance(value, (str, dict, list, tuple, np.ndarray))
        and not (isinstance(value, str) and value == "empirical")
    ]
    if inner:
        warnings.warn(
            f"{type(model).__name__} holds {inner[0]}, so its posteriors may contain other priors "
            "than the class shares that are divided out. State trained_priors=.",
            PriorsWarning,
            stacklevel=2,
        )


def _counted_priors(model: Any, table: Table, memberships: Memberships) -> np.ndarray:
    """Class shares that the training weights add up to, in the order of the model's classes.

    Estimators differ in whether "balanced" balances rows or weights. The posteriors tell: their
    mean over rows with the training shares is near those shares.
    """
    known = model.classes_
    inner = _innermost(model)
    stated = _stated_priors(inner)
    if stated is not None:
        return stated / stated.sum()
    _warn_of_inner_weights(inner)
    rows, codes, weights = memberships.entries()
    column = places(memberships.classes, known)[codes]
    total = np.bincount(column, weights, len(known))
    setting = getattr(inner, "class_weight", None)
    if setting is None:
        candidates = [total]
    elif isinstance(setting, str):
        counts = np.bincount(column[weights > 0], minlength=len(known))
        candidates = [np.sign(total), np.divide(total, counts, where=counts > 0, out=0.0 * total)]
    else:
        candidates = [total * [setting.get(label, 1.0) for label in known.tolist()]]
    candidates = [shares / shares.sum() for shares in candidates]
    means = _mean_posteriors(model, table, rows, column, weights)
    apart = [np.abs(shares @ means - shares).max() for shares in candidates]
    best = int(np.argmin(apart))
    if apart[best] > FAR:
        warnings.warn(
            f"The mean posterior of {type(model).__name__} on the training rows, "
            f"{np.round(candidates[best] @ means, 3).tolist()}, is far from the class shares that "
            f"are divided out, {np.round(candidates[best], 3).tolist()} (classes "
            f"{known.tolist()}). Calibrate the estimator, or state trained_priors=.",
            PriorsWarning,
            stacklevel=2,
        )
    return candidates[best]


def _mean_posteriors(
    model: Any, table: Table, rows: np.ndarray, column: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Mean posterior given each class, a row per class, over a sample of the training rows."""
    step = -(-len(rows) // CHECKED_ROWS)
    rows, column, weights = rows[::step], column[::step], weights[::step]
    posterior = _posterior(model, table.take(rows).raw)
    sums = np.zeros((posterior.shape[1], posterior.shape[1]))
    np.add.at(sums, column, weights[:, None] * posterior)
    shares = sums.sum(axis=1, keepdims=True)
    # A class that the sample missed is taken to be found, so that it does not move the mean.
    return np.where(shares > 0, sums / np.where(shares > 0, shares, 1.0), np.eye(len(sums)))


def _posterior(model: Any, X: Any) -> np.ndarray:
    """Posteriors, one column per class of the model."""
    posterior = np.asarray(model.predict_proba(X), dtype=np.float64)
    n_classes = len(model.classes_)
    lost = np.isnan(posterior).any(axis=1).sum()
    if lost:
        raise ValueError(
            f"{type(model).__name__}.predict_proba gave NaN for {lost} of {len(posterior)} rows. "
            "Look for values of X that are too large for it, so that it overflows."
        )
    if posterior.shape[1] == n_classes:
        return posterior
    if n_classes == 1:  # some estimators still give two columns
        return np.ones((len(posterior), 1))
    raise ValueError(
        f"{type(model).__name__}.predict_proba gave {posterior.shape[1]} columns for {n_classes} "
        "classes; FromClassifier needs one column per class."
    )


@dataclass(frozen=True)
class FittedClassifier:
    """A fitted classifier and the priors that its posteriors contain.

    Attributes
    ----------
    model : classifier
    trained_priors : ndarray of shape (C,)
        In the order of ``model.classes_``.
    """

    model: Any
    trained_priors: np.ndarray

    def read(self, X: Any, estimator: Any) -> Table:
        """X goes to the model untouched."""
        return read_raw(X)

    def tally(self, table: Table, memberships: Memberships) -> Sums:
        """Class weights, and which column of the posterior belongs to which class."""
        column = memberships.classes[:, None] == self.model.classes_
        return Sums(memberships.totals(), column.astype(float))

    def settle(self, stats: Sums) -> LogDensity:
        """The posterior over the priors it was trained with."""
        return PosteriorOverPriors(self.model, log_of(self.trained_priors), stats.sums > 0)


@dataclass(frozen=True)
class PosteriorOverPriors(LogDensity):
    """log P(k | x) - log trained_prior[k] of a classifier."""

    block_rows: ClassVar[int | None] = None

    model: Any
    log_trained: np.ndarray
    column: np.ndarray

    def __call__(self, table: Table) -> np.ndarray:
        posterior = _posterior(self.model, table.raw)
        # A class without training rows has posterior and prior zero, and no density.
        ratio = log_of(posterior) - np.where(np.isfinite(self.log_trained), self.log_trained, 0.0)
        out = np.full((len(ratio), len(self.column)), -np.inf)
        k, c = np.nonzero(self.column)
        out[:, k] = ratio[:, c]
        return out
