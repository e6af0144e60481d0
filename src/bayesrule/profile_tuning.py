"""The number of profiles that decides best, on rows left out in turn."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from bayesrule.density import Rule
from bayesrule.gain_tuning import judged, most_earning
from bayesrule.keys import folds_by_key, row_keys
from bayesrule.memberships import Memberships
from bayesrule.notices import BayesRuleWarning
from bayesrule.progress import progress
from bayesrule.tables import Table

if TYPE_CHECKING:
    from bayesrule.profiled import Profiled

#: Numbers of profiles that are tried.
CANDIDATES = (5, 10, 20, 40, 80, 160)
#: Parts that the rows are dealt into, each left out in turn.
FOLDS = 5
#: Rows that the number is chosen on at most.
MOST_ROWS = 20_000


def best_number(settings: Profiled, table: Table, memberships: Memberships, rule: Rule) -> int:
    """The number of profiles of the highest expected gain on rows left out in turn.

    Among those whose gains cannot be told apart it is the one under which the true classes are
    likeliest. Equal rows are left out together.
    """
    if len(table) > MOST_ROWS:
        chosen = np.sort(np.argpartition(row_keys(table, 1), MOST_ROWS)[:MOST_ROWS])
        table, memberships = table.take(chosen), memberships.take(chosen)
    fold = folds_by_key(row_keys(table, 0), memberships, FOLDS)
    distinct = len(np.unique(row_keys(table, 0)))
    able = [n for n in CANDIDATES if n <= max(CANDIDATES[0], distinct // 2)]
    if fold.max() < 1:
        return able[0]
    found = np.zeros((len(able), 3))
    with progress("choosing the number of profiles", len(able) * (fold.max() + 1)) as meter:
        for i, number in enumerate(able):
            profiles = clone(settings.profiles).set_params(n_profiles=number)
            sized = type(settings)(profiles, settings.reading)
            found[i] = _left_out(sized, table, memberships, rule, fold, meter)
    return able[most_earning(found)]


def _left_out(
    sized: Profiled,
    table: Table,
    memberships: Memberships,
    rule: Rule,
    fold: np.ndarray,
    meter: Any,
) -> tuple[float, float, float]:
    """Expected gain, its error and log-posterior of decisions on rows left out in turn."""
    n_classes = memberships.n_classes
    values: list[list[np.ndarray]] = [[] for _ in range(n_classes)]
    weights: list[list[np.ndarray]] = [[] for _ in range(n_classes)]
    for f in range(int(fold.max()) + 1):
        # Rows of no fold are the only ones of their class: it must not vanish from a part.
        kept, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        part, members, left = table.take(kept), memberships.take(kept), memberships.take(out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesRuleWarning)  # the chosen number says it again
            prepared = sized.prepare(part, members, rule)
        law = prepared.settle(prepared.tally(part, members))
        densities = law(table.take(out))
        rows, codes, share = left.entries()
        for k in range(n_classes):
            mine = codes == k
            values[k].append(densities[rows[mine]])
            weights[k].append(share[mine])
        meter.advance()
    totals = memberships.totals()
    return judged(
        [np.concatenate(part) for part in values],
        [np.concatenate(part) for part in weights],
        totals,
        rule,
    )
