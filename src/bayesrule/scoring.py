"""Expected gain as a metric and as a scorer, for searches and cross-validation."""

from __future__ import annotations

from typing import Any

from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted

from bayesrule.memberships import encode_labels, read_target
from bayesrule.pricing import (
    array_dimensions,
    deciding_estimator,
    one_if_right,
    own_rule,
    price,
)
from bayesrule.valuation import listed, read_truth, value, value_classifier


def expected_gain_score(
    y_true: Any,
    decisions: Any,
    *,
    gain: Any = None,
    priors: Any = None,
    sample_weight: Any = None,
    classes: Any = None,
) -> float:
    """Expected gain of decisions: sum over classes of prior times the class's mean gain.

    Parameters
    ----------
    y_true : array of n labels, or an (n, K) frame of soft labels
    decisions : array of n decisions
    gain : None, array of shape (K, A) or (n, K, A), DataFrame, or dict {true: {decision: gain}}
        None is 1 for the right class and 0 for any other decision. The columns of an array are the
        classes, then extra actions; decisions that are no classes need a gain that names them.
    priors : None, "uniform", array of shape (K,) or dict, default=None
        Chances of the classes where the decisions will be made; None is the class shares of
        ``y_true``. The prior of a class without rows goes to the others, with a warning.
    sample_weight : array of n numbers, default=None
    classes : array of K labels, default=None
        What the rows of an array ``gain`` and the entries of ``priors`` stand for; None is the
        labels in ``y_true``.

    Returns
    -------
    float

    Examples
    --------
    >>> from bayesrule import expected_gain_score
    >>> y = ["ill", "ill", "well", "well"]
    >>> decisions = ["treat", "wait", "wait", "wait"]
    >>> gain = {"ill": {"treat": 5, "wait": -20}, "well": {"treat": -1, "wait": 0}}
    >>> expected_gain_score(y, decisions, gain=gain)
    -3.75
    >>> expected_gain_score(y, decisions, gain=gain, priors={"ill": 0.1, "well": 0.9})
    -0.75
    """
    known = read_target(y_true).classes if classes is None else encode_labels(classes)[0]
    truth = read_truth(y_true, sample_weight, known)
    made = listed(decisions)
    if gain is None:
        gain = one_if_right(truth.classes, made)
    gains, names = price(gain, truth.classes, truth.classes, len(truth))
    return value(truth, made, gains, names, priors, names).expected_gain


class _ExpectedGainScorer(_BaseScorer):
    """Scorer that knows the rule of the estimator it scores."""

    def __init__(self, gain: Any, priors: Any):
        given = {"gain": gain, "priors": priors}
        stated = {name: setting for name, setting in given.items() if setting is not None}
        super().__init__(expected_gain_score, 1, stated, "predict")

    def _score(
        self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any
    ) -> float:
        settings = {**self._kwargs, **kwargs}
        gain = settings.get("gain")
        check_is_fitted(estimator)
        truth = read_truth(y_true, settings.get("sample_weight"), estimator.classes_)
        if array_dimensions(gain) == 3:
            decided = _decide_with(estimator, X, gain)
        else:
            decided = method_caller(estimator, "predict", X, pos_label=None)
        judged = value_classifier(estimator, truth, decided, settings.get("priors"), gain)
        return judged.expected_gain

    def __repr__(self) -> str:
        stated = ", ".join(f"{name}={setting!r}" for name, setting in self._kwargs.items())
        return f"expected_gain_scorer({stated})"


def _decide_with(estimator: Any, X: Any, gain: Any) -> Any:
    """Decisions that know the gains of their rows, where the estimator's ``predict`` takes them."""
    estimator = deciding_estimator(estimator)
    rule = own_rule(estimator)
    if rule is None:
        takes = bool(get_routing_for_object(estimator).consumes("predict", ["gain"]))
    else:
        takes = get_routing_for_object(rule).predict.requests.get("gain") is not False
    return estimator.predict(X, gain=gain) if takes else estimator.predict(X)


def expected_gain_scorer(gain: Any = None, priors: Any = None) -> Any:
    """Make a scorer: the expected gain of an estimator's decisions.

    Parameters
    ----------
    gain : None, array of shape (K, A), DataFrame, or dict {true: {decision: gain}}
        None is the estimator's own; for an estimator without one, 1 if right.
    priors : None, "empirical", "uniform", array of shape (K,) or dict
        None is the estimator's own; for an estimator without any, the class shares of the scored
        rows.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``, for ``scoring=`` anywhere in scikit-learn.
        Through metadata routing it also takes gains that differ from row to row, as ``gain`` of
        shape (n, K, A); a :class:`BayesClassifier` then decides with them too. In a pipeline, its
        ``set_predict_request(gain=True)`` lets them through.

    Notes
    -----
    Gains and priors that name their classes also suit folds that lack a rare class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from bayesrule import BayesClassifier, expected_gain_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = expected_gain_scorer(gain=[[1, 0, 0], [0, 1, 0], [0, -5, 1]])
    >>> cross_val_score(BayesClassifier(), X, y, scoring=scorer).round(2)
    array([1.  , 1.  , 0.97, 0.77, 1.  ])
    """
    return _ExpectedGainScorer(gain, priors)
