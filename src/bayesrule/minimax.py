"""Minimax priors: the least favourable class proportions, and the rules against them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator

from bayesrule.density import require_setting
from bayesrule.gains import as_labels, regret
from bayesrule.kernels.minimax import best_response
from bayesrule.notices import NotConvergedWarning


@dataclass(frozen=True)
class MinimaxSolution:
    """Minimax priors and what they guarantee, all under the fitted model.

    Attributes
    ----------
    priors : ndarray of shape (K,)
        The least favourable priors within the box.
    value : float
        Expected loss of the best rule under those priors: no prior in the box makes it larger.
    gap : float
        How far ``value`` can be from the exact maximum: rounding, or up to a millionth of the
        largest loss where the maximum has a prior at zero, which is kept just above it so that its
        class can still be decided for.
    class_risks : ndarray of shape (K,)
        Expected loss given each class, of the deterministic rule for ``priors``.
    randomised_class_risks : ndarray of shape (K,)
        The same for the randomised rule: equal wherever a prior is inside the simplex and the box.
    mixture : ndarray of shape (J,)
        Probabilities of the J rules that the randomised rule draws from.
    mixture_priors : ndarray of shape (J, K)
        The priors for which each of those rules is best.
    n_atoms : int
        Rows (or cells) that the risks are sums over.
    n_cuts : int
        Cutting planes it took.
    """

    priors: np.ndarray
    value: float
    gap: float
    class_risks: np.ndarray
    randomised_class_risks: np.ndarray
    mixture: np.ndarray
    mixture_priors: np.ndarray
    n_atoms: int
    n_cuts: int


class Minimax(BaseEstimator):
    """Priors that make the best rule's expected loss as large as it can be.

    V(prior) = min over rules of the expected loss is concave and piecewise linear; its maximum is
    found exactly by cutting planes. The rule for these priors is the one to use when the class
    proportions are unknown or may change.

    Parameters
    ----------
    box : None, array of shape (K, 2), or dict {class: (low, high)}
        Bounds on each class's prior; classes left out of a dict are free.
    on : {"regret", "gain"}
        What the loss is. The regret (what a decision gains less than the best one for the class)
        does not change when a constant is added to the gains of a class; the negative gain does.
    randomised : bool
        Whether decisions are drawn from the mixture of rules that equalises the class risks. The
        draw depends on the row's values and the classifier's ``random_state`` alone. The
        deterministic rule for the same priors may have unequal class risks.
    tol : float
        Largest gap to the exact maximum, relative to the largest loss.
    max_cuts : int
        Cutting planes after which the search stops with a warning.

    References
    ----------
    Gilet, Barbosa, Fillatre: Discrete box-constrained minimax classifier for uncertain and
    imbalanced class proportions, IEEE TPAMI 44(6), 2022.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Minimax
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 0, 1, 1]
    >>> clf = BayesClassifier(priors=Minimax()).fit(X, y)
    >>> bool(clf.prior_solution_.gap < 1e-8)
    True
    """

    def __init__(
        self,
        box: Any = None,
        on: str = "regret",
        randomised: bool = False,
        tol: float = 1e-9,
        max_cuts: int = 2000,
    ):
        self.box = box
        self.on = on
        self.randomised = randomised
        self.tol = tol
        self.max_cuts = max_cuts

    def bounds(self, classes: np.ndarray) -> np.ndarray:
        """Check the settings and return the box as (K, 2)."""
        require_setting(self, "on", "regret", "gain")
        require_setting(self, "randomised", True, False)
        require_setting(self, "tol", between=(0.0, np.inf))
        require_setting(self, "max_cuts", between=(1, np.inf))
        labels = classes.tolist()
        bounds = np.tile([0.0, 1.0], (len(labels), 1))
        pairs = self.box if isinstance(self.box, Mapping) else {}
        if self.box is not None and not isinstance(self.box, Mapping):
            if np.ndim(self.box) == 0 or len(self.box) != len(labels):
                raise ValueError(
                    f"box={self.box!r} must hold a (lowest, highest) prior for each of the "
                    f"{len(labels)} classes {labels}, or be a dict {{class: (lowest, highest)}}."
                )
            pairs = dict(zip(labels, self.box, strict=True))
        for label, pair in zip(as_labels(list(pairs), classes), pairs.values(), strict=True):
            if label not in labels:
                raise ValueError(f"box names unknown class {label!r}; the classes are {labels}.")
            try:
                low, high = (float(bound) for bound in pair)
            except (TypeError, ValueError):
                low, high = np.nan, np.nan
            if not 0.0 <= low <= high <= 1.0:
                raise ValueError(
                    f"box has {pair!r} for class {label!r}; expected (lowest, highest) prior with "
                    "0 <= lowest <= highest <= 1."
                )
            bounds[labels.index(label)] = low, high
        low, high = bounds.T
        if low.sum() > 1 + 1e-12 or high.sum() < 1 - 1e-12:
            raise ValueError(
                f"No priors fit the box {bounds.tolist()}: the lowest must sum to at most 1 (they "
                f"sum to {low.sum():.6g}) and the highest to at least 1 ({high.sum():.6g})."
            )
        return bounds

    def solve(self, atoms: np.ndarray, gain: np.ndarray, classes: np.ndarray) -> MinimaxSolution:
        """Maximise V over the box.

        ``atoms[i, k]`` is the probability of atom i under class k; columns sum to one.
        """
        bounds = self.bounds(classes)
        losses = regret(gain) if self.on == "regret" else -gain
        scale = float(np.abs(losses).max()) or 1.0
        # Nothing is known of a class without mass, so no prior is spent on it unless it must be.
        absent = ~atoms.any(axis=0) & (bounds[:, 0] == 0)
        if bounds[~absent, 1].sum() >= 1.0:
            bounds[absent, 1] = 0.0
        return self._cut(np.ascontiguousarray(atoms), losses / scale, scale, bounds)

    def _cut(
        self, atoms: np.ndarray, losses: np.ndarray, scale: float, bounds: np.ndarray
    ) -> MinimaxSolution:
        """Kelley's cutting planes, each also taken half-way to the best point so far.

        Every cut is the risk vector of the rule that is best for some priors; V is below all of
        them. The multipliers of the master problem mix those rules into the randomised one.
        """
        n_classes = len(bounds)
        slack = 1.0 - bounds[:, 0].sum()
        width = bounds[:, 1] - bounds[:, 0]
        best = bounds[:, 0] + (width * (slack / width.sum()) if width.sum() > 0 else 0.0)
        best_value = -np.inf
        queries: list[np.ndarray] = []
        cuts: list[np.ndarray] = []
        ask, upper, weights = [best], np.inf, np.ones(1)
        objective = np.append(np.zeros(n_classes), -1.0)
        simplex = np.append(np.ones(n_classes), 0.0)[None]
        limits = [*map(tuple, bounds), (None, None)]
        while True:
            n_before = len(cuts)
            for priors in (_lifted(priors, bounds) for priors in ask):
                risks = best_response(atoms, priors, losses)
                if not any(np.array_equal(risks, cut) for cut in cuts):
                    queries.append(priors)
                    cuts.append(risks)
                if priors @ risks > best_value:
                    best, best_value = priors, float(priors @ risks)
            if len(cuts) == n_before:
                break  # the rules at hand are all there are around the optimum
            master = linprog(
                objective,
                A_ub=np.column_stack([-np.array(cuts), np.ones(len(cuts))]),
                b_ub=np.zeros(len(cuts)),
                A_eq=simplex,
                b_eq=[1.0],
                bounds=limits,
                method="highs",
                # The default of 1e-7 could not certify the gap that is asked for.
                options={
                    "primal_feasibility_tolerance": 1e-10,
                    "dual_feasibility_tolerance": 1e-10,
                },
            )
            if master.status != 0:
                raise RuntimeError(f"The linear programme for minimax priors failed: {master}.")
            weights = np.maximum(-master.ineqlin.marginals, 0.0)
            upper = -master.fun
            if upper - best_value <= self.tol or len(cuts) >= self.max_cuts:
                break
            outer = np.clip(master.x[:n_classes], 0.0, 1.0) + 0.0  # no negative zeros
            outer /= outer.sum()
            ask = [outer, 0.5 * (outer + best)]
        if upper - best_value > self.tol and len(cuts) >= self.max_cuts:
            warnings.warn(
                f"Minimax priors stopped after {len(cuts)} cutting planes, "
                f"{scale * (upper - best_value):.3g} short of certainty; raise max_cuts or tol.",
                NotConvergedWarning,
                stacklevel=4,
            )
        used = np.flatnonzero(weights > 1e-12)
        mixture = weights[used] / weights[used].sum()
        return MinimaxSolution(
            priors=best,
            value=scale * best_value,
            gap=scale * max(upper - best_value, 0.0),
            class_risks=scale * best_response(atoms, best, losses),
            randomised_class_risks=scale * (mixture @ np.array(cuts)[used]),
            mixture=mixture,
            mixture_priors=np.array(queries)[used],
            n_atoms=len(atoms),
            n_cuts=len(cuts),
        )


#: Least prior of a class that may have one.
LEAST = 1e-6


def _lifted(priors: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Priors with none at zero, where the box allows it.

    A class that is easily told apart costs nothing, so the least favourable prior spends nothing on
    it. But a rule with that prior zero would never decide for the class, and lose it altogether;
    one part in a million brings it back, and changes the value by no more.
    """
    lifted = np.clip(priors, np.minimum(LEAST, bounds[:, 1]), None)
    above = lifted > LEAST
    room = lifted - np.maximum(bounds[:, 0], LEAST)
    spare = np.where(above, np.maximum(room, 0.0), 0.0)
    excess = lifted.sum() - 1.0
    if excess > spare.sum():
        return priors
    return lifted - spare * (excess / spare.sum()) if excess > 0 else lifted
