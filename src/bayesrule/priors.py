"""Priors: counted, uniform, given, or found in new data (shifted)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import null_space
from sklearn.base import BaseEstimator

from bayesrule.density import require_setting
from bayesrule.gains import as_labels, name_key, renumbered
from bayesrule.kernels.minimax import expected_shares
from bayesrule.notices import NotConvergedWarning, PriorsWarning


def given_priors(priors: Any, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Priors that need no rows: "empirical", "uniform", an array, or {class: p}; checked."""
    labels = classes.tolist()
    if isinstance(priors, str):
        if priors == "empirical":
            return counts / counts.sum()
        if priors == "uniform":
            return np.full(len(labels), 1.0 / len(labels))
        raise ValueError(
            f"priors={priors!r} is not known. Use 'empirical', 'uniform', an array of {len(labels)}"
            " probabilities, a dict {class: probability}, Minimax(...) or Shifted(X_new)."
        )
    if hasattr(priors, "index") and hasattr(priors, "to_dict"):
        priors = priors.to_dict()  # a pandas Series names its classes in its index
    if isinstance(priors, Mapping):
        priors = dict(zip(as_labels(list(priors), classes), priors.values(), strict=True))
        known = {name_key(label) for label in labels}
        unknown = [c for c in priors if name_key(c) not in known]
        lacking = [c for c in labels if c not in priors]
        if unknown or lacking:
            problem = f"names unknown class {unknown[0]!r}" if unknown else f"lacks {lacking[0]!r}"
            # A class can only be unknown for want of rows; one that is lacking was forgotten.
            advice = " Give partial_fit classes= if its first chunk lacks some." if unknown else ""
            raise ValueError(
                f"priors {problem}; it needs one entry for each class of {labels}."
                f"{advice}{renumbered(classes)}"
            )
        priors = [priors[c] for c in labels]
    try:
        values = np.array(priors, dtype=float)
    except (TypeError, ValueError):
        # Those that are solved for are estimators, told by what all of them have.
        advice = (
            " They are solved when a rule is made: use the priors_ of BayesClassifier(priors=...) "
            "or of with_rule(priors=..., X=X), which are numbers."
            if hasattr(priors, "get_params")
            else f" Give one probability for each of the classes {labels}."
        )
        raise ValueError(f"priors must be numbers, but are {priors!r}.{advice}") from None
    if priors is None or values.shape != (len(labels),):
        told = "is None" if priors is None else f"has shape {values.shape}"
        raise ValueError(
            f"priors {told}; expected 'empirical', 'uniform', or one probability for each of the "
            f"{len(labels)} classes {labels}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"priors must be finite and not negative, but are {values.tolist()}.")
    if abs(values.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"priors must sum to 1, but {values.tolist()} sum to {values.sum():.6g}. "
            "Divide them by their sum if they are relative frequencies."
        )
    return values / values.sum()


@dataclass(frozen=True)
class ShiftedSolution:
    """Priors found in unlabelled rows.

    Attributes
    ----------
    priors : ndarray of shape (K,)
    standard_error : ndarray of shape (K,)
        From the observed information, given the densities: it does not know their own errors.
    separation : float
        0 where some classes cannot be told apart in the rows, 1 where all are certain.
    n_rows : int
    n_iterations : int
    """

    priors: np.ndarray
    standard_error: np.ndarray
    separation: float
    n_rows: int
    n_iterations: int


class Shifted(BaseEstimator):
    """Priors of new, unlabelled rows: the mixture of the class densities that fits them best.

    Parameters
    ----------
    X_new : array or frame of shape (n, D)
        Rows from where the rule will be used.
    tol : float
        The EM ends when no prior moves by more.
    max_iter : int

    References
    ----------
    Saerens, Latinne, Decaestecker: Adjusting the outputs of a classifier to new a priori
    probabilities, Neural Computation 14(1), 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Shifted
    >>> rng = np.random.default_rng(0)
    >>> X, y = np.r_[rng.normal(0, 1, (500, 1)), rng.normal(4, 1, (500, 1))], np.repeat([0, 1], 500)
    >>> new = np.r_[rng.normal(0, 1, (900, 1)), rng.normal(4, 1, (100, 1))]
    >>> clf = BayesClassifier(priors=Shifted(new)).fit(X, y)
    >>> clf.priors_.round(1)
    array([0.9, 0.1])
    """

    def __init__(self, X_new: Any = None, tol: float = 1e-10, max_iter: int = 10_000):
        self.X_new = X_new
        self.tol = tol
        self.max_iter = max_iter

    def check(self) -> None:
        """Refuse settings that cannot be solved with."""
        if self.X_new is None:
            raise ValueError("Shifted() has no rows: give the new ones, Shifted(X_new).")
        require_setting(self, "tol", between=(0.0, np.inf))
        require_setting(self, "max_iter", between=(1, np.inf))

    def solve(
        self, log_density: np.ndarray, start: np.ndarray, classes: np.ndarray
    ) -> ShiftedSolution:
        """Maximise the likelihood of the rows over the priors.

        A class whose starting prior is zero was never seen, has no density, and stays out.
        """
        top = log_density.max(axis=1)
        log_density = log_density[np.isfinite(top)]
        if len(log_density) == 0:
            raise ValueError(
                "No row of X_new has a positive density under any class, so it tells nothing of "
                "the priors. Check that X_new holds the same features in the same units."
            )
        likelihood = np.exp(log_density - top[np.isfinite(top)][:, None])
        seen = start > 0
        priors = np.where(seen, 0.5 * start + 0.5 / seen.sum(), 0.0)
        priors /= priors.sum()
        # Rows that only an unseen class supports say nothing about the others.
        likelihood = np.ascontiguousarray(likelihood[likelihood @ priors > 0])
        iterations, moved = 0, np.inf
        while moved > self.tol and iterations < self.max_iter:
            iterations += 1
            after = expected_shares(likelihood, priors)
            moved = np.abs(after - priors).max()
            priors = after / after.sum()
        if moved > self.tol:
            warnings.warn(
                f"The EM for shifted priors had not converged after {self.max_iter} iterations "
                f"(last change {moved:.3g}); raise max_iter or tol.",
                NotConvergedWarning,
                stacklevel=4,
            )
        error, separation = _certainty(likelihood, priors, seen)
        if separation < 0.05 or error.max() > 0.1:
            worst = classes.tolist()[int(np.argmax(error))]
            warnings.warn(
                "The new rows hardly tell the classes apart, so their priors are uncertain: "
                f"standard error {error.max():.2g} for class {worst!r}, separation "
                f"{separation:.2g} of 1. More rows, better features or stated priors would help.",
                PriorsWarning,
                stacklevel=4,
            )
        return ShiftedSolution(priors, error, separation, len(likelihood), iterations)


def _certainty(
    likelihood: np.ndarray, priors: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, float]:
    """Standard errors of mixture proportions and how well the rows separate the classes.

    The information of one row is g g' with g_k = f_k / sum_j prior_j f_j, on the plane where priors
    sum to one. Scaled by the priors it is the identity where every class is certain, and has a
    zero eigenvalue where two classes have one density. It is taken as if one more row of each class
    had been found: at a prior of zero the information says nothing of how large it might be.
    """
    n_rows = len(likelihood)
    error = np.zeros(len(priors))
    inside = np.flatnonzero(seen)
    if len(inside) < 2:
        return error, 1.0
    pulled = (n_rows * priors[inside] + 1.0) / (n_rows + len(inside))
    scores = likelihood[:, inside] / (likelihood[:, inside] @ pulled)[:, None]
    information = scores.T @ scores / n_rows
    root = np.sqrt(pulled)
    separation = float(np.linalg.eigvalsh(root[:, None] * information * root)[0])
    plane = null_space(np.ones((1, len(inside))))
    reduced = plane.T @ information @ plane
    variance = plane @ np.linalg.pinv(reduced, hermitian=True) @ plane.T / n_rows
    # A direction without information has no finite error: the prior could be anything.
    blind = np.linalg.eigvalsh(reduced)[0] < 1e-12
    error[inside] = 0.5 if blind else np.sqrt(np.maximum(np.diag(variance), 0.0))
    return error, max(separation, 0.0)
