"""How far posteriors can be believed: reliability tables, Brier score and log loss.

Every row counts its share under the stated priors, so the figures are those of the place where the
rule will be used, whatever the class shares of the rows at hand. All of them come from sums over
the rows, so that rows may come in parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Bins of a reliability table at most.
BINS = 10
#: Different predictions of a class that are kept apart.
DISTINCT = 1 << 14
#: Where there are more, those that agree in so fine a step of their log odds count as one,
STEP = 1 / 128
#: and chances that are nearer to zero or one than this are as good as that.
CERTAIN = 1e-12


@dataclass(frozen=True, eq=False)
class Reliability:
    """What was predicted for a class, and how often it came true; one entry per bin.

    The bins have about equal weight, so that a rare class gets as many as a common one. Rows with
    one and the same prediction are never parted; where more than 16,384 predictions differ, nor
    are those whose odds differ by less than one part in 128.

    Attributes
    ----------
    predicted : ndarray
        Mean posterior of the class.
    observed : ndarray
        Frequency of the class.
    weight : ndarray
        Share of the rows under the stated priors; sums to one.
    """

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class Predictions:
    """What was predicted for one class, prediction by prediction; rows add up.

    Attributes
    ----------
    values : ndarray of shape (m,)
        Different predictions, sorted: chances, or steps of log odds.
    sums : ndarray of shape (3, m)
        For each: weight, weight times prediction, and weight of the rows of the class.
    coarse : bool
        Whether they are steps.
    """

    values: np.ndarray
    sums: np.ndarray
    coarse: bool = False

    @classmethod
    def of(cls, posterior: np.ndarray, happened: np.ndarray, shares: np.ndarray) -> Predictions:
        """Those of some rows."""
        # Rounding must not part what is one prediction, say a chance of one and of one less a bit.
        values = np.round(posterior, 12)
        return _gathered(values, np.stack([shares, shares * posterior, shares * happened]), False)

    def __add__(self, other: Predictions) -> Predictions:
        coarse = self.coarse or other.coarse
        one, two = (p.coarser() if coarse else p for p in (self, other))
        return _gathered(
            np.concatenate([one.values, two.values]), np.hstack([one.sums, two.sums]), coarse
        )

    def coarser(self) -> Predictions:
        """The same in steps of log odds."""
        if self.coarse:
            return self
        chance = np.clip(self.values, CERTAIN, 1.0 - CERTAIN)
        return _gathered(np.rint((np.log(chance) - np.log1p(-chance)) / STEP), self.sums, True)

    def table(self) -> Reliability:
        """Bins of about equal weight."""
        weight, predicted, observed = self.sums
        middle = np.cumsum(weight) - 0.5 * weight
        bins = np.minimum((BINS * middle / weight.sum()).astype(int), BINS - 1)
        total = np.bincount(bins, weight)
        used = total > 0
        return Reliability(
            predicted=np.bincount(bins, predicted)[used] / total[used],
            observed=np.bincount(bins, observed)[used] / total[used],
            weight=total[used] / total.sum(),
        )


def _gathered(values: np.ndarray, sums: np.ndarray, coarse: bool) -> Predictions:
    """Equal values as one, and in steps where too many differ."""
    distinct, where = np.unique(values, return_inverse=True)
    added = np.stack([np.bincount(where, row, len(distinct)) for row in sums])
    found = Predictions(distinct, added, coarse)
    return found.coarser() if len(distinct) > DISTINCT else found


def reliability(posterior: np.ndarray, happened: np.ndarray, shares: np.ndarray) -> Reliability:
    """Reliability of the posteriors of one class.

    Examples
    --------
    >>> import numpy as np
    >>> table = reliability(np.array([0.2, 0.2, 0.9]), np.array([0, 1, 1]), np.full(3, 1 / 3))
    >>> table.predicted, table.observed
    (array([0.2, 0.9]), array([0.5, 1. ]))
    """
    return Predictions.of(posterior, happened, shares).table()


@dataclass(frozen=True, eq=False)
class Believed:
    """How far the posteriors of all classes can be believed; rows add up.

    Attributes
    ----------
    classes : tuple of Predictions
    brier, log_loss : float
    """

    classes: tuple[Predictions, ...]
    brier: float
    log_loss: float

    @classmethod
    def of(cls, posteriors: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> Believed:
        """That of some entries: their posteriors (n, K), class and share."""
        return cls(
            tuple(
                Predictions.of(posteriors[:, k], codes == k, shares)
                for k in range(posteriors.shape[1])
            ),
            brier_score(posteriors, codes, shares),
            log_loss(posteriors, codes, shares),
        )

    def __add__(self, other: Believed) -> Believed:
        return Believed(
            tuple(a + b for a, b in zip(self.classes, other.classes, strict=True)),
            self.brier + other.brier,
            self.log_loss + other.log_loss,
        )


def brier_score(posteriors: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> float:
    """Squared distance between posterior and truth, summed over shares, halved for two classes.

    As in scikit-learn: for two classes it is the squared error of one posterior, for more the sum
    of the squared errors of all.
    """
    truth = np.zeros_like(posteriors)
    truth[np.arange(len(codes)), codes] = 1.0
    distance = float(shares @ ((posteriors - truth) ** 2).sum(axis=1))
    return distance / 2.0 if posteriors.shape[1] == 2 else distance


def log_loss(posteriors: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> float:
    """Sum of -log P(true class | x) over shares; posteriors are the machine precision at least."""
    smallest = np.finfo(posteriors.dtype).eps
    of_truth = posteriors[np.arange(len(codes)), codes]
    return float(-(shares @ np.log(np.clip(of_truth, smallest, 1.0 - smallest))))
