"""Any scikit-learn clusterer as profiles: what it predicts for a row, hard or soft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from bayesrule.memberships import Memberships, places
from bayesrule.partitions import HardPartition, Partition, SoftPartition
from bayesrule.profiles import Profiles
from bayesrule.tables import Table


@dataclass(frozen=True)
class SoftClusters(SoftPartition):
    """Memberships that a fitted estimator gives by ``predict_proba``.

    Attributes
    ----------
    model : estimator
    n_groups : int
    """

    block_rows: ClassVar[int | None] = None

    model: Any
    n_groups: int

    @property
    def n_profiles(self) -> int:
        return self.n_groups

    @property
    def n_columns(self) -> None:
        return None

    def membership(self, table: Table) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.asarray(self.model.predict_proba(np.asarray(table.numbers, np.float64)))
        lost = np.isnan(found).any(axis=1).sum()
        if lost:
            raise ValueError(
                f"{type(self.model).__name__}.predict_proba gave NaN for {lost} of {len(found)} "
                "rows. Look for values of X that are too large for it, so that it overflows."
            )
        return found


@dataclass(frozen=True)
class HardClusters(HardPartition):
    """Clusters that a fitted estimator predicts; rows of any other label share the last profile.

    Attributes
    ----------
    model : estimator
    labels : ndarray
        Sorted labels of the rows that it was fitted on.
    """

    block_rows: ClassVar[int | None] = None

    model: Any
    labels: np.ndarray

    @property
    def n_profiles(self) -> int:
        return len(self.labels) + 1

    @property
    def n_columns(self) -> None:
        return None

    def codes(self, table: Table) -> np.ndarray:
        values = np.asarray(table.numbers, np.float64)
        found = places(np.asarray(self.model.predict(values)), self.labels)
        return np.where(found < 0, len(self.labels), found)


class ClustererProfiles(Profiles):
    """What a clusterer of scikit-learn predicts.

    Parameters
    ----------
    estimator : clusterer or mixture with ``predict_proba`` or ``predict``
        Cloned and fitted; a fitted one is kept as it is inside scikit-learn's ``FrozenEstimator``.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    @property
    def hard(self) -> bool:  # type: ignore[override]
        return not hasattr(self.estimator, "predict_proba")

    def learn(self, table: Table, memberships: Memberships) -> Partition:
        name = type(self.estimator).__name__
        if is_classifier(self.estimator) or is_regressor(self.estimator):
            raise TypeError(
                f"profiles={name}() predicts labels of its own target, which are no profiles. "
                "FromClassifier makes a density of a classifier."
            )
        rows, _, weights = memberships.entries()
        of_row = np.bincount(rows, weights, len(table))
        given = {}
        if not np.allclose(of_row, of_row[0], rtol=1e-9):
            given = {_weight_name(self.estimator): of_row}
        values = np.asarray(table.numbers, np.float64)
        model = clone(self.estimator).fit(values, None, **given)
        if hasattr(model, "predict_proba"):
            return SoftClusters(model, np.shape(model.predict_proba(values[:1]))[1])
        return HardClusters(model, np.unique(model.predict(values)))


def _weight_name(estimator: Any) -> str:
    """What an estimator's ``fit``, or that of a pipeline's last step, calls sample weights."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not has_fit_parameter(last, "sample_weight"):
        raise TypeError(
            f"{type(last).__name__} takes no sample_weight. Leave out the weights, repeat the "
            "rows, or use profiles that count them, such as KMeansProfiles or MixtureProfiles."
        )
    if last is estimator:
        return "sample_weight"
    return f"{estimator.steps[-1][0]}__sample_weight"


def as_profiles(profiles: Any) -> Profiles:
    """Profiles of ours as they are, and clusterers of others as profiles."""
    if hasattr(profiles, "learn") and not isinstance(profiles, type):
        return profiles
    usable = hasattr(profiles, "predict") or hasattr(profiles, "predict_proba")
    if isinstance(profiles, type) or not (usable and hasattr(profiles, "fit")):
        raise TypeError(
            "profiles must be profiles such as KMeansProfiles(), or a clusterer of scikit-learn "
            f"with predict or predict_proba, but are {profiles!r}."
        )
    return ClustererProfiles(profiles)
