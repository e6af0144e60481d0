"""Do two answers agree? Each check returns what is wrong in words, empty if nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: Largest difference of two probabilities that counts as rounding.
PROBABILITY_TOLERANCE = 1e-9

#: Largest difference of two optima of linear programmes: solvers promise no more.
OPTIMUM_TOLERANCE = 1e-7


def probabilities_differ(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Probabilities agree to ``PROBABILITY_TOLERANCE``."""
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    apart = float(np.abs(ours - theirs).max())
    return "" if apart <= PROBABILITY_TOLERANCE else f"probabilities differ by up to {apart:.2g}"


def fits_differ(probe: Any) -> Callable[[Any, Any], str]:
    """Two fitted models give the rows of ``probe`` the same probabilities."""
    return lambda ours, theirs: probabilities_differ(
        ours.predict_proba(probe), theirs.predict_proba(probe)
    )


def decisions_differ(X: Any, model: Any) -> Callable[[np.ndarray, np.ndarray], str]:
    """Decisions are equal, or the peer's ``model`` holds both for equally probable."""

    def differ(ours: np.ndarray, theirs: np.ndarray) -> str:
        if ours.shape != theirs.shape:
            return f"shapes {ours.shape} and {theirs.shape}"
        rows = np.flatnonzero(ours != theirs)
        if not rows.size:
            return ""
        probability = model.predict_proba(X.iloc[rows] if hasattr(X, "iloc") else X[rows])
        place = np.arange(len(rows))
        pair = [
            probability[place, np.searchsorted(model.classes_, d[rows])] for d in (ours, theirs)
        ]
        wrong = int((np.abs(pair[0] - pair[1]) > PROBABILITY_TOLERANCE).sum())
        return f"{wrong} of {len(ours)} decisions differ and are no ties" if wrong else ""

    return differ
