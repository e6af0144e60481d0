"""A decision rule as one HTML page that anyone can open, question and print, without a network.

The page holds log-densities of a sample of rows, one per class. Priors and gains enter after them,
so the page can work out every figure of :func:`bayesrule.evaluate` anew for whatever priors and
gains its reader tries: the density need not travel, nor the rows.
"""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.aside import write_aside
from bayesrule.classifier import BayesClassifier
from bayesrule.displays.slices import Slices
from bayesrule.displays.sources import as_rule_sees, chosen_estimator, final_rule, memberships_in
from bayesrule.displays.style import decision_colours
from bayesrule.page_data import Budget, case_terms, feature_texts, plane_maps, rows_data, rule_data
from bayesrule.page_text import write_page
from bayesrule.settling import log_densities

#: Bytes of a page at most.
MOST_BYTES = 1_000_000
#: Classes that a page can show.
CLASSES = (2, 20)


@dataclass(frozen=True, repr=False)
class DecisionReport:
    """A page, as :func:`report` makes it.

    Attributes
    ----------
    html : str
        The whole page.
    rows : ndarray
        Places in X of the rows that its figures are of.
    """

    html: str
    rows: np.ndarray

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which appears when it is whole."""
        write_aside(path, lambda file: file.write(self.html.encode()))

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:60rem;border:0"></iframe>'

    def __repr__(self) -> str:
        return (
            f"DecisionReport of {len(self.rows)} rows, {len(self.html) // 1000} kB: "
            "save it with .save('report.html')"
        )


def report(
    clf: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    sample: int = 4000,
    include_features: bool = False,
    offer: str | None = "refer",
    confidence: float = 0.95,
    seed: int = 0,
) -> DecisionReport:
    """Make a page that shows a rule at work and lets its reader change gains, priors and actions.

    Expected gain with its interval, confusion, shares of the decisions, where they flip,
    calibration, class risks, minimax priors, decision regions over two features, and single cases:
    all are worked out anew in the reader's browser, to the same numbers as :func:`evaluate`.

    Parameters
    ----------
    clf : fitted BayesClassifier, or a pipeline or search that ends in one
        Of 2 to 20 classes.
    X : array or frame of shape (n, D)
        Rows it was not fitted on.
    y : array of n labels, or an (n, K) frame of soft labels
    sample_weight : array of n numbers, default=None
    path : str or path, default=None
        Where to write the page.
    title : str, default=None
        Its title.
    sample : int, default=4000
        Rows that the page holds at most. Classes get equal parts as far as they have rows, which
        biases nothing: figures weigh each class with its prior. A page never exceeds 1 MB, so
        that many classes may allow fewer rows.
    include_features : bool, default=False
        Whether the page holds the features of its rows too, for looking cases up. Without it,
        it holds log-densities, labels and places of rows, and of the features their ranges.
    offer : str or None, default="refer"
        Name of an extra action that the reader may switch on where the rule has none.
    confidence : float, default=0.95
        Level of the intervals.
    seed : int, default=0
        Seed of the sample.

    Returns
    -------
    DecisionReport

    Examples
    --------
    >>> from bayesrule import BayesClassifier, report
    >>> X, y = [[1.0], [2.0], [3.0], [6.0], [7.0], [8.0]], ["well"] * 3 + ["ill"] * 3
    >>> gain = {"ill": {"treat": 5, "wait": -20}, "well": {"treat": -1, "wait": 0}}
    >>> page = report(BayesClassifier(gain=gain).fit(X, y), X, y, title="Who is treated")
    >>> page.html[:15], len(page.rows)
    ('<!doctype html>', 6)
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, for example 0.95.")
    if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 1:
        raise ValueError(f"sample={sample!r} must be a whole number of rows, at least 1.")
    estimator = chosen_estimator(clf)
    rule = final_rule(estimator)
    if not isinstance(rule, BayesClassifier):
        raise TypeError(f"report needs a BayesClassifier, but got {type(rule).__name__}.")
    classes = rule.classes_
    if not CLASSES[0] <= len(classes) <= CLASSES[1]:
        raise ValueError(
            f"The page shows rules of {CLASSES[0]} to {CLASSES[1]} classes; this has "
            f"{len(classes)}."
        )
    X = as_rule_sees(estimator, X)
    table = rule._read(X, rule._learned.prepared)
    truth = memberships_in(classes, y, len(table), sample_weight)
    entries = truth.entries()
    budget = Budget(MOST_BYTES)
    settled = rule_data(rule, offer, confidence)
    most = budget.rows(settled.document)
    chosen = _drawn(entries[1], entries[2], len(classes), min(sample, most), seed)
    rows, codes, weights = entries[0][chosen], entries[1][chosen], entries[2][chosen]
    part = table.take(rows)
    values = log_densities(rule.log_density_, part)
    colours = decision_colours(settled.names, classes)
    document: dict[str, Any] = {
        "title": title or "Decision report",
        **settled.document,
        "colours": colours,
        **rows_data(values, codes, weights, rows, len(np.unique(entries[0]))),
    }
    spend = budget.left(document)
    document["terms"] = case_terms(rule, part, spend * 0.35)
    document["maps"] = None
    slices = _slices(X, rule)
    if slices is not None:
        document["maps"] = plane_maps(rule, slices, rows, codes, spend * 0.5)
    document["features"] = (
        feature_texts(X, rows, budget.left(document)) if include_features else None
    )
    page = DecisionReport(write_page(document, rule, codes, weights, values), rows)
    if path is not None:
        page.save(path)
    return page


def _slices(X: Any, rule: BayesClassifier) -> Slices | None:
    """X as a table whose columns can be moved; None where it has no columns."""
    try:
        return Slices(X, names=getattr(rule, "feature_names_in_", None))
    except (ValueError, TypeError):
        return None


def _drawn(
    codes: np.ndarray, weights: np.ndarray, n_classes: int, size: int, seed: int
) -> np.ndarray:
    """Places of entries: all, or at random within each class, rare classes kept whole."""
    there = np.flatnonzero(weights > 0)
    if len(there) <= size:
        return there
    counts = np.bincount(codes[there], minlength=n_classes)
    order, left, quota = np.argsort(counts, kind="stable"), size, np.zeros(n_classes, int)
    for place, k in enumerate(order):
        quota[k] = min(counts[k], left // (n_classes - place))
        left -= quota[k]
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(there[codes[there] == k], quota[k], replace=False) for k in range(n_classes)
    ]
    return np.sort(np.concatenate(parts))
