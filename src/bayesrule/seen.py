"""Files as a fitted classifier sees them: its features among their columns, and its decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bayesrule import decide
from bayesrule.classifier import BayesClassifier
from bayesrule.holdings import Holding, Wanted, choose_columns, kind_of_type
from bayesrule.memberships import label_kind
from bayesrule.parts import BadFileError
from bayesrule.paths import format_of, known_suffix
from bayesrule.settling import log_densities
from bayesrule.tables import Table


def wanted_by(
    clf: Any,
    held: Holding,
    target: Any = None,
    weight: str | None = None,
    columns: Any = None,
    keep: Any = (),
    types: Any = None,
) -> Wanted:
    """What a classifier wants to see among the columns of the first file, and what is kept."""
    features = _feature_names(clf, columns)
    missing = [name for name in features or () if name not in held.schema.names]
    if missing:
        raise BadFileError(
            held.path, f"has no column {missing[0]!r}, a feature; it has {held.schema.names[:20]}"
        )
    also = held.schema.names if keep is None else list(keep)
    stated = {**_types_by(clf, held, target), **(types or {})}
    wanted = choose_columns(held, features, target, weight, stated, also)
    expected = getattr(clf, "n_features_in_", 1)
    if len(wanted.features) != expected:
        raise ValueError(
            f"The classifier was fitted without names to {expected} features, but there are "
            f"{len(wanted.features)} columns. Say which of them are its features: columns=[...]."
        )
    return wanted


def _types_by(clf: Any, held: Holding, target: Any) -> dict[str, str]:
    """Types of columns of a text file as the classifier knows them, whatever a few rows look like.

    Codes of a few cases may all look like numbers, and gaps may come first.
    """
    if not known_suffix(held.path) or format_of(held.path) != "csv":
        return {}
    types = {}
    for name, before in getattr(clf.density_, "holds", {}).items():
        place = held.schema.get_field_index(name)
        now = "" if place < 0 else kind_of_type(held.schema.field(place).type)
        if now and before in ("text", "numbers") and not (before == "numbers" and now == "bool"):
            types[name] = "string" if before == "text" else "double"
    labelled = isinstance(target, str) and target in held.schema.names
    if labelled and label_kind(clf.classes_) == "text":
        types[target] = "string"
    return types


def _feature_names(clf: BayesClassifier, columns: Any) -> list[str] | None:
    """Names of the features, where the classifier or the user knows them."""
    names = getattr(clf, "feature_names_in_", None)
    if names is not None:
        if columns is not None and list(columns) != names.tolist():
            raise ValueError(
                f"columns={list(columns)} are not the features of the fit, {names.tolist()}. "
                "Leave columns= out."
            )
        return list(names)
    if columns is None and clf._columns_in is not None:
        return [str(label) for label in clf._columns_in]
    return None if columns is None else list(columns)


def seen_by(clf: BayesClassifier, X: pa.Table) -> Any:
    """X as the classifier knows it: with names, or without."""
    if hasattr(clf, "feature_names_in_"):
        return X
    if not hasattr(clf, "n_features_in_"):
        return X.column(0).to_pylist()  # texts
    return np.column_stack([column.to_numpy() for column in X.itercolumns()])


def decided(clf: BayesClassifier, table: Table) -> tuple[np.ndarray, np.ndarray, int]:
    """Place of the decision about each row, posteriors, and how many rows no class supports."""
    rule = clf._ready().rule
    values = log_densities(clf.log_density_, table)
    best, lost = clf._best(values, rule.gain[None], clf._draws(table))
    return best, decide.posterior(values, rule.priors)[0], lost
