"""How profiles are looked for: in which rows, by which metric, and class by class or not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from bayesrule.cmeans import best_centres
from bayesrule.keys import distinct_ranks, merged_rows, row_keys
from bayesrule.kmeans import kmeans
from bayesrule.memberships import Memberships
from bayesrule.metrics import METRICS, Metric, learn_metric
from bayesrule.notices import FewRowsWarning, LearnedOnSampleWarning
from bayesrule.tables import Table

#: Rows per profile that centres are learned from: more move them by less than their own error.
ROWS_PER_PROFILE = 100
#: As many rows are always used: they cost nothing.
FEW_ROWS = 20_000


@dataclass(frozen=True)
class Around:
    """Settings of the search.

    Attributes
    ----------
    n_profiles : int
    metric : str
    per_class : bool
    n_init : int
    sample_rows : int, None or "auto"
    random_state : int
    fuzziness : float or None
        m of the centres of fuzzy c-means; None for those of k-means.
    """

    n_profiles: int
    metric: str
    per_class: bool
    n_init: int
    sample_rows: Any
    random_state: int
    fuzziness: float | None = None

    def find(self, table: Table, memberships: Memberships) -> tuple[np.ndarray, Metric]:
        """The centres (D, T) as the metric sees them, and the metric."""
        metric, groups = self.groups(table, memberships)
        centres = np.vstack([self._centres(*group) for group in groups])
        return np.ascontiguousarray(centres.T), metric

    def groups(
        self, table: Table, memberships: Memberships
    ) -> tuple[Metric, list[tuple[np.ndarray, np.ndarray, int]]]:
        """The metric, and the groups of rows that profiles are looked for in.

        A group is all rows, or those of a class: distinct rows as the metric sees them, their
        weights, and how many profiles they get, which are no more than the rows.
        """
        table, memberships = self._sampled(table, memberships)
        metric = learn_metric(self.metric, table, memberships)
        values = np.ascontiguousarray(metric(np.asarray(table.numbers, np.float64)))
        rows, codes, weights = memberships.entries()
        ranks = distinct_ranks(np.asarray(table.numbers))
        shares = np.array([self.n_profiles])
        chosen = [(np.arange(len(values)), np.bincount(rows, weights, len(values)))]
        if self.per_class:
            shares = _dealt(self.n_profiles, memberships.totals())
            there = np.flatnonzero(shares)
            shares = shares[there]
            chosen = [(rows[codes == k], weights[codes == k]) for k in there]
        merged = [merged_rows(values[i], w, ranks[i]) for i, w in chosen]
        groups = [(v, w, min(len(v), int(n))) for (v, w), n in zip(merged, shares, strict=True)]
        found = sum(n for _, _, n in groups)
        if found < shares.sum():
            where = " (in each class)" if self.per_class else ""
            warnings.warn(
                f"n_profiles={self.n_profiles} is more than the distinct rows{where}: "
                f"{found} profiles are used.",
                FewRowsWarning,
                stacklevel=5,
            )
        return metric, groups

    def _sampled(self, table: Table, memberships: Memberships) -> tuple[Table, Memberships]:
        """The rows that centres are learned from, chosen by their values and not by their order."""
        most = self.sample_rows
        if most == "auto":
            most = max(FEW_ROWS, ROWS_PER_PROFILE * self.n_profiles)
        if most is None or len(table) <= most:
            return table, memberships
        chosen = np.sort(np.argpartition(row_keys(table, self.random_state), most)[:most])
        warnings.warn(
            f"The {self.n_profiles} profiles were learned from {most} of {len(table)} rows; all "
            "rows are counted. sample_rows=None learns them from all.",
            LearnedOnSampleWarning,
            stacklevel=6,
        )
        return table.take(chosen), memberships.take(chosen)

    def _centres(self, values: np.ndarray, weights: np.ndarray, n_centres: int) -> np.ndarray:
        """Centres of distinct rows; the rows themselves where there are no more than wanted."""
        if len(values) <= n_centres:
            return values
        if self.fuzziness is not None:
            return best_centres(
                values, weights, n_centres, self.fuzziness, self.n_init, self.random_state
            ).centres
        return kmeans(values, weights, n_centres, self.n_init, self.random_state).centres


def _dealt(n_profiles: int, totals: np.ndarray) -> np.ndarray:
    """Profiles dealt out to the classes in equal numbers, the first ones in order of weight."""
    there = np.flatnonzero(totals > 0)
    order = there[np.argsort(-totals[there], kind="stable")]
    shares = np.zeros(len(totals), int)
    shares[order] = n_profiles // len(order)
    shares[order[: n_profiles % len(order)]] += 1
    shares[order] = np.maximum(shares[order], 1)
    return shares


def check_around(profiles: Any) -> None:
    """Refuse settings that profiles cannot be looked for with."""
    name = type(profiles).__name__
    check_whole(profiles, n_profiles=1, n_init=1, random_state=0)
    if not isinstance(profiles.metric, str) or profiles.metric not in METRICS:
        raise ValueError(f"{name}(metric={profiles.metric!r}) is not known; use one of {METRICS}.")
    rows = profiles.sample_rows
    whole = isinstance(rows, Integral) and not isinstance(rows, bool) and int(rows) >= 1
    if not (rows is None or whole or (isinstance(rows, str) and rows == "auto")):
        raise ValueError(f"{name}(sample_rows={rows!r}): expected a whole number, None or 'auto'.")
    if not isinstance(profiles.per_class, (bool, np.bool_)):
        raise ValueError(f"{name}(per_class={profiles.per_class!r}): expected True or False.")


def check_whole(profiles: Any, **least: int) -> None:
    """Refuse settings that are no whole numbers from their least ones on."""
    for setting, low in least.items():
        value = getattr(profiles, setting)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or int(value) < low:
            hint = ""
            if setting == "n_profiles":
                hint = ", or 'auto' inside Profiled, which chooses it by cross-validated gain"
            raise ValueError(
                f"{type(profiles).__name__}({setting}={value!r}): expected a whole number from "
                f"{low} on{hint}."
            )
