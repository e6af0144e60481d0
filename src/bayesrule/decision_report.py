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
from bayesrule.drawing import keys_of, least
from bayesrule.evaluation import check_confidence
from bayesrule.memberships import Memberships
from bayesrule.page_data import Budget, case_terms, feature_texts, plane_maps, rows_data, rule_data
from bayesrule.page_text import write_page
from bayesrule.settling import log_densities
from bayesrule.tables import picked

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
    settings = Settings(title, sample, include_features, offer, confidence, seed)
    estimator = chosen_estimator(clf)
    rule = shown_rule(final_rule(estimator), settings)
    X = as_rule_sees(estimator, X)
    n_rows = len(rule._read(X, rule._learned.prepared))
    truth = memberships_in(rule.classes_, y, n_rows, sample_weight)
    places = np.arange(n_rows)
    cases = Cases(X, truth, places, keys_of(0, places, seed), n_rows)
    page = page_of(rule, cases, settings)
    if path is not None:
        page.save(path)
    return page


@dataclass(frozen=True)
class Settings:
    """What is asked of a page; see :func:`report`."""

    title: str | None
    sample: int
    include_features: bool
    offer: str | None
    confidence: float
    seed: int

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        sample = self.sample
        if isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 1:
            raise ValueError(f"sample={sample!r} must be a whole number of rows, at least 1.")


@dataclass(frozen=True)
class Cases:
    """Rows that a page may show.

    Attributes
    ----------
    X : array or frame of shape (n, D)
    truth : Memberships
        Of the classes of the rule, with weights.
    places : ndarray of shape (n,)
        Where each row is among all.
    keys : ndarray of shape (n,)
        Random numbers; of each class, the rows with the smallest are shown.
    total : int
        How many rows there are in all.
    """

    X: Any
    truth: Memberships
    places: np.ndarray
    keys: np.ndarray
    total: int


def shown_rule(rule: Any, settings: Settings) -> BayesClassifier:
    """The rule, if a page can show it."""
    if not isinstance(rule, BayesClassifier):
        raise TypeError(f"report needs a BayesClassifier, but got {type(rule).__name__}.")
    if not CLASSES[0] <= len(rule.classes_) <= CLASSES[1]:
        raise ValueError(
            f"The page shows rules of {CLASSES[0]} to {CLASSES[1]} classes; this has "
            f"{len(rule.classes_)}."
        )
    return rule


def page_of(rule: BayesClassifier, cases: Cases, settings: Settings) -> DecisionReport:
    """The page of some cases."""
    classes = rule.classes_
    budget = Budget(MOST_BYTES)
    settled = rule_data(rule, settings.offer, settings.confidence)
    size = min(settings.sample, budget.rows(settled.document))
    rows, codes, weights = cases.truth.entries()
    chosen = _drawn(codes, weights, cases.keys[rows], len(classes), size)
    rows, codes, weights = rows[chosen], codes[chosen], weights[chosen]
    X = picked(cases.X, rows)
    part = rule._read(X, rule._learned.prepared)
    values = log_densities(rule.log_density_, part)
    document: dict[str, Any] = {
        "title": settings.title or "Decision report",
        **settled.document,
        "colours": decision_colours(settled.names, classes),
        **rows_data(values, codes, weights, cases.places[rows], cases.total),
    }
    spend = budget.left(document)
    document["terms"] = case_terms(rule, part, spend * 0.35)
    document["maps"] = None
    slices = _slices(X, rule)
    if slices is not None:
        document["maps"] = plane_maps(rule, slices, codes, spend * 0.5)
    document["features"] = (
        feature_texts(X, budget.left(document)) if settings.include_features else None
    )
    return DecisionReport(write_page(document, rule, codes, weights, values), cases.places[rows])


def _slices(X: Any, rule: BayesClassifier) -> Slices | None:
    """X as a table whose columns can be moved; None where it has no columns."""
    try:
        return Slices(X, names=getattr(rule, "feature_names_in_", None))
    except (ValueError, TypeError):
        return None


def _drawn(
    codes: np.ndarray, weights: np.ndarray, keys: np.ndarray, n_classes: int, size: int
) -> np.ndarray:
    """Places of entries: all, or those of least keys in each class, rare classes kept whole.

    Nothing but the ``size`` least keys of each class matters, so that files can be read for them.
    """
    there = np.flatnonzero(weights > 0)
    if len(there) <= size:
        return there
    counts = np.minimum(np.bincount(codes[there], minlength=n_classes), size)
    order, left, quota = np.argsort(counts, kind="stable"), size, np.zeros(n_classes, int)
    for place, k in enumerate(order):
        quota[k] = min(counts[k], left // (n_classes - place))
        left -= quota[k]
    parts = [least(keys, there[codes[there] == k], quota[k]) for k in range(n_classes)]
    return np.sort(np.concatenate(parts))
