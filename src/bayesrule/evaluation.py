"""How good decisions are where they will be used: figures under stated priors, with an interval.

    P(true = k, decision = d)   =   prior[k] * (share of the rows of class k decided d)
    expected gain               =   sum over k, d of   gain[k, d] * P(true = k, decision = d)

The class shares of a test set are an accident of how it was collected. So the rows only tell how
each class is decided; how common the classes are is stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesrule.gains import decision_classes
from bayesrule.intervals import mean_limits, mixture_limits
from bayesrule.memberships import places
from bayesrule.reliability import Believed, Reliability
from bayesrule.scoring import expected_gain_score, expected_gain_scorer
from bayesrule.stats import spread_rows
from bayesrule.summary import plain_values, summary, text_names
from bayesrule.valuation import Valuation, read_truth, value_classifier

__all__ = ["Evaluation", "evaluate", "expected_gain_score", "expected_gain_scorer"]

#: Figures that are numbers, labels or arrays of them.
PLAIN = (
    *("n", "expected_gain", "interval", "confidence", "accuracy", "raw_expected_gain"),
    *("raw_accuracy", "brier", "log_loss", "classes", "decisions", "priors", "gain"),
    *("confusion", "counts", "class_gains", "class_risks"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Figures of decisions under stated priors.

    Attributes
    ----------
    expected_gain : float
    interval : tuple of two floats
        Confidence limits of the expected gain; see :func:`evaluate` for what they condition on.
    confidence : float
    accuracy : float
        P(decision is the true class); NaN where no decision is a class.
    confusion : ndarray of shape (K, A)
        P(true class, decision); it sums to one.
    counts : ndarray of shape (K, A)
        The raw confusion: weight of the rows of each class that were given each decision.
    raw_expected_gain : float
        Expected gain if the priors were the class shares of the rows.
    class_gains : ndarray of shape (K,)
        Mean gain given each class; NaN for a class without rows.
    class_risks : ndarray of shape (K,)
        Mean regret given each class: what its best decision gains more. The same risks that
        ``Minimax(on="regret")`` makes equal, of these rows instead of under the model.
    shares : dict {decision: float}
        How often each decision is made, under the stated priors.
    calibration : dict {class: Reliability}
        Reliability of the posteriors; empty where the classifier has no ``predict_proba``.
    brier, log_loss : float
        Scores of the posteriors under the stated priors; NaN where there are none.
    classes : ndarray of shape (K,)
    decisions : ndarray of shape (A,)
        All decisions that the gain prices, made or not.
    priors : ndarray of shape (K,)
    gain : ndarray of shape (K, A)
        Where gains differ from row to row, their mean over the rows of each class.
    n : int
        Rows that counted.
    """

    expected_gain: float
    interval: tuple[float, float]
    confidence: float
    accuracy: float
    confusion: np.ndarray
    counts: np.ndarray
    raw_expected_gain: float
    class_gains: np.ndarray
    class_risks: np.ndarray
    shares: dict[Any, float]
    calibration: dict[Any, Reliability]
    brier: float
    log_loss: float
    classes: np.ndarray
    decisions: np.ndarray
    priors: np.ndarray
    gain: np.ndarray
    n: int

    @property
    def raw_confusion(self) -> np.ndarray:
        """P(true class, decision) if the priors were the class shares of the rows."""
        return self.counts / self.counts.sum()

    @property
    def raw_accuracy(self) -> float:
        """Share of the rows whose decision is the true class; NaN where no decision is a class."""
        return accuracy_of(self.raw_confusion, self.decisions, self.classes)

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain Python values, ready for JSON: NaN is None, names in keys are text.

        Rows of matrices are in the order of ``classes``, columns in that of ``decisions``.
        """
        plain: dict[str, Any] = {name: plain_values(getattr(self, name)) for name in PLAIN}
        plain["shares"] = dict(
            zip(text_names(self.decisions), map(plain_values, self.shares.values()), strict=True)
        )
        plain["calibration"] = {
            name: {part: plain_values(values) for part, values in vars(table).items()}
            for name, table in zip(
                text_names(self.classes), self.calibration.values(), strict=bool(self.calibration)
            )
        }
        return plain

    def to_frame(self) -> Any:
        """The joint confusion as a pandas DataFrame, with named rows and columns."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "Evaluation.to_frame needs pandas: install it (pip install pandas), or use "
                ".confusion, .classes and .decisions."
            ) from None
        return pd.DataFrame(
            self.confusion,
            index=pd.Index(self.classes, name="true"),
            columns=pd.Index(self.decisions, name="decision"),
        )

    def __str__(self) -> str:
        return summary(self)

    __repr__ = __str__


def evaluate(
    clf: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    priors: Any = None,
    gain: Any = None,
    *,
    decisions: Any = None,
    confidence: float = 0.95,
) -> Evaluation:
    """Evaluate the decisions of a fitted classifier on rows it was not fitted on.

    Parameters
    ----------
    clf : fitted BayesClassifier or any scikit-learn classifier, alone or in a pipeline
        Its decisions are taken as they are; ``priors`` and ``gain`` only say what they are valued
        at. (``clf.with_rule(...)`` decides otherwise.)
    X : array or frame of shape (n, D)
    y : array of n labels, or an (n, K) frame of soft labels
    sample_weight : array of n numbers, default=None
    priors : None, "empirical", "uniform", array of shape (K,) or dict {class: p}
        Chances of the classes where the decisions will be made. None is the classifier's own
        ``priors_``, and the class shares of ``y`` ("empirical") for a classifier without any.
    gain : None, array of shape (K, A) or (n, K, A), DataFrame, or dict {true: {decision: gain}}
        None is the classifier's own ``gain_``, and 1 if right for a classifier without any. Named
        gains are lined up by name and may price further decisions. The columns of an array are the
        classes, then the decisions that are none, in the order of ``decisions_``; those of gains
        per row are ``decisions_``.
    decisions : array of n decisions, default=None
        Decisions already made, such as ``clf.predict(X, gain=G)`` with the gains of each row; None
        is ``clf.predict(X)``.
    confidence : float, default=0.95
        Level of the interval.

    Returns
    -------
    Evaluation

    Notes
    -----
    The interval takes priors, gains and classifier as given and the rows of each class as a random
    sample of that class: it tells how well these rows determine the expected gain of this fitted
    model, not how another training set would have done. Weighted rows count by their effective
    number. It keeps its level where a class has few rows or no errors; see
    :mod:`bayesrule.intervals`.

    A class that has a prior but no rows is left out, with a warning, and the other priors are
    scaled up.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, evaluate
    >>> X, y = [[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]], ["well"] * 3 + ["ill"] * 3
    >>> gain = {"ill": {"treat": 5, "wait": -20}, "well": {"treat": -1, "wait": 0}}
    >>> clf = BayesClassifier(gain=gain).fit(X, y)
    >>> figures = evaluate(clf, X, y, priors={"ill": 0.1, "well": 0.9})
    >>> figures.expected_gain, figures.shares
    (0.5, {'treat': 0.1, 'wait': 0.9})
    """
    check_confidence(confidence)
    check_is_fitted(clf)
    truth = read_truth(y, sample_weight, clf.classes_)
    if decisions is None:
        decisions = clf.predict(X)
    judged = value_classifier(clf, truth, decisions, priors, gain)
    if not hasattr(clf, "predict_proba"):
        return figures_of(judged, None, confidence)
    where = places(clf.classes_, judged.classes)
    posteriors = spread_rows(clf.predict_proba(X).T, where, len(judged.classes)).T
    shares = judged.entry_shares()
    counted = shares > 0
    believed = Believed.of(posteriors[judged.rows[counted]], judged.codes[counted], shares[counted])
    return figures_of(judged, believed, confidence)


def check_confidence(confidence: float) -> None:
    """Refuse a level that is none."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, for example 0.95.")


def figures_of(judged: Valuation, believed: Believed | None, confidence: float) -> Evaluation:
    """All figures of decisions that were valued, and of posteriors where there are any."""
    totals = judged.counts.sum(axis=1)
    rates = judged.counts / np.where(totals > 0, totals, 1.0)[:, None]
    confusion = judged.priors[:, None] * rates
    calibration = {}
    if believed is not None:
        tables = (predictions.table() for predictions in believed.classes)
        calibration = dict(zip(judged.classes.tolist(), tables, strict=True))
    seen = totals > 0
    return Evaluation(
        expected_gain=judged.expected_gain,
        interval=gain_interval(judged, confidence),
        confidence=confidence,
        accuracy=accuracy_of(confusion, judged.decisions, judged.classes),
        confusion=confusion,
        counts=judged.counts,
        raw_expected_gain=float(totals[seen] @ judged.class_gains[seen] / totals.sum()),
        class_gains=judged.class_gains,
        class_risks=judged.class_risks,
        shares=dict(zip(judged.decisions.tolist(), confusion.sum(axis=0).tolist(), strict=True)),
        calibration=calibration,
        brier=float("nan") if believed is None else believed.brier,
        log_loss=float("nan") if believed is None else believed.log_loss,
        classes=judged.classes,
        decisions=judged.decisions,
        priors=judged.priors,
        gain=judged.gain,
        n=judged.n_rows,
    )


def accuracy_of(confusion: np.ndarray, decisions: np.ndarray, classes: np.ndarray) -> float:
    """Mass where the decision is the true class; NaN where no decision is a class."""
    where = decision_classes(decisions, classes)
    right = np.flatnonzero(where >= 0)
    return float(confusion[where[right], right].sum()) if len(right) else float("nan")


def gain_interval(judged: Valuation, confidence: float) -> tuple[float, float]:
    """Confidence limits of the expected gain, stratified by class."""
    there = np.flatnonzero(judged.priors > 0)
    limits = np.empty((len(there), 2))
    for place, k in enumerate(there):
        mine = judged.codes == k
        worst, best = judged.limits[k]
        squares = None if judged.squares is None else float(judged.squares[k])
        limits[place] = mean_limits(
            judged.gained[mine], judged.weights[mine], worst, best, confidence, squares
        )
    return mixture_limits(judged.priors[there], judged.class_gains[there], limits)
