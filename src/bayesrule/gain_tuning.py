"""The bandwidth that decides best: rows are left out in turn and decided on by the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesrule import decide
from bayesrule.bandwidths import LEAST, MOST, asked_points
from bayesrule.density import Rule
from bayesrule.distinct import Points
from bayesrule.progress import progress

if TYPE_CHECKING:
    from bayesrule.kernel import Kernel

#: Multiples of Silverman's rule that are tried.
STEPS = 17


#: Standard errors within which gains count as equal: those of few rows say no more.
EQUAL = 0.5
#: Log-posterior below which a row counts no further.
WORST = -30.0


def best_for_rule(settings: Kernel, points: list[Points], rule: Rule) -> float:
    """The multiple of Silverman's rule, for all classes, of the highest expected gain.

    The gain of a multiple is that of its decisions on rows left out in turn, each class weighted
    by its prior. Among multiples whose gains few rows cannot tell apart, the one that gives the
    true classes the highest log-posteriors is taken.
    """
    multiples = np.geomspace(MOST, LEAST, STEPS)  # the widest first: it wins ties
    found = np.zeros((STEPS, 3))
    with progress("choosing the bandwidth", STEPS) as meter:
        for m, multiple in enumerate(multiples):
            found[m] = left_out_gain(settings, points, rule, float(multiple))
            meter.advance()
    return float(multiples[most_earning(found)])


def most_earning(found: np.ndarray) -> int:
    """The setting of highest gain, by (gain, its error, log-posterior) of each.

    Among those whose gains cannot be told apart it is that of the highest log-posterior, and the
    first of equal ones.
    """
    gain, error, score = found.T
    best = int(np.argmax(gain))
    equal = gain >= gain[best] - EQUAL * error[best]
    return int(np.argmax(np.where(equal, score, -np.inf)))


def left_out_gain(
    settings: Kernel, points: list[Points], rule: Rule, factor: float
) -> tuple[float, float, float]:
    """Of deciding on each row by the others: expected gain, its error, expected log-posterior."""
    n_columns = points[0].rows.shape[1]
    blocks: list[Any] = [slice(None)] if settings.joint else [[j] for j in range(n_columns)]
    asked = [asked_points(some, n_columns) for some in points]
    values = [np.zeros((len(places), len(points))) for places in asked]
    for columns in blocks:
        known = [_known(some, columns) for some in points]
        column = None if settings.joint else columns[0]
        for j, bumps in enumerate(settings.bumps([of for of, _ in known], factor, column)):
            for k, places in enumerate(asked):
                if not len(points[j].rows):
                    values[k][:, j] = -np.inf
                elif bumps is not None:
                    rows = points[k].rows[places][:, columns]
                    there = np.flatnonzero(~np.isnan(rows).any(axis=1))
                    values[k][there, j] += (
                        bumps.left_out(known[k][1][places[there]])
                        if j == k
                        else bumps.log_density(rows[there])
                    )
    weights = [some.weights[places] for some, places in zip(points, asked, strict=True)]
    return judged(values, weights, np.array([some.total for some in points]), rule)


def judged(
    values: list[np.ndarray], weights: list[np.ndarray], totals: np.ndarray, rule: Rule
) -> tuple[float, float, float]:
    """Expected gain, its error, and expected log-posterior of left-out rows of every class.

    ``values[k]`` are log-densities (m_k, K) of rows of class k, ``weights[k]`` theirs, and
    ``totals[k]`` the weight of all rows of the class that they stand for.
    """
    gain, variance, score = 0.0, 0.0, 0.0
    for k, total in enumerate(totals):
        prior = rule.priors[k]
        if not len(values[k]) or prior == 0:
            continue
        best, _ = decide.best_decisions(values[k], rule.priors, rule.gain[None])
        posterior, _, _ = decide.posterior(values[k], rule.priors)
        shares = weights[k] / weights[k].sum()
        earned = rule.gain[k, best]
        mean = float(shares @ earned)
        gain += prior * mean
        variance += prior**2 * float(shares @ (earned - mean) ** 2) / total
        logs = decide.log_of(posterior[:, k])
        score += prior * float(shares @ np.maximum(logs, WORST))
    return gain, float(np.sqrt(variance)), score


def _known(points: Points, columns: Any) -> tuple[Points, np.ndarray]:
    """The rows without gaps in some columns, sorted, and the place of each row among them.

    Equal values of different rows stay apart: a row is left out, not all that share a value.
    """
    rows = points.rows[:, columns]
    there = np.flatnonzero(~np.isnan(rows).any(axis=1))
    there = there[np.lexsort(rows[there].T[::-1])]
    place = np.full(len(rows), -1)
    place[there] = np.arange(len(there))
    return Points(rows[there], points.weights[there]), place
