"""The settings of profiles that decide best, on rows left out in turn.

In a part of the rows the same profiles serve all values of fuzziness, so that what takes longest,
to find the centres, is done once for each number of profiles.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import product
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
    from bayesrule.profiles import Profiles

#: What "auto" tries. Of equally good values the first is taken.
CANDIDATES: dict[str, tuple[float, ...]] = {
    "n_profiles": (5, 10, 20, 40, 80, 160),
    "fuzziness": (1.3, 1.1, 1.6, 2.0),
}
#: Rows that settings are chosen on at most.
MOST_ROWS = 20_000

#: Settings to learn profiles by, and values of fuzziness that what they learn is taken at.
Learner = tuple[Any, tuple[float, ...]]


def asked_settings(profiles: Any) -> dict[str, tuple[Any, ...]]:
    """What is to be tried of each setting of the profiles that is to be chosen."""
    asked = {}
    for name, usual in CANDIDATES.items():
        value = getattr(profiles, name, None)
        if isinstance(value, str) and value == "auto":
            asked[name] = usual
        elif isinstance(value, (list, tuple, np.ndarray)):
            asked[name] = tuple(np.asarray(value).ravel().tolist())
            if not asked[name]:
                raise ValueError(
                    f"{type(profiles).__name__}({name}={value!r}): the list of values to choose "
                    "from is empty."
                )
    return asked


def best_settings(
    settings: Profiled, profiles: Profiles, table: Table, memberships: Memberships, rule: Rule
) -> dict[str, Any]:
    """The settings of the highest expected gain on rows left out in turn.

    Among those whose gains cannot be told apart they are those under which the true classes are
    likeliest. Equal rows are left out together.
    """
    if len(table) > MOST_ROWS:
        chosen = np.sort(np.argpartition(row_keys(table, 1), MOST_ROWS)[:MOST_ROWS])
        table, memberships = table.take(chosen), memberships.take(chosen)
    asked = asked_settings(profiles)
    if asked.get("n_profiles") is CANDIDATES["n_profiles"]:
        distinct = len(np.unique(row_keys(table, 0)))
        numbers = asked["n_profiles"]
        asked["n_profiles"] = tuple(n for n in numbers if n <= max(numbers[0], distinct // 2))
    plan = _plan(profiles, asked)
    trials = [dict(zip(asked, values, strict=True)) for values in product(*asked.values())]
    n_folds, repeats = int(settings.folds), int(settings.repeats)
    found = np.zeros((len(trials), 3))
    with progress("choosing the profiles", repeats * n_folds * len(trials)) as meter:
        for repeat in range(repeats):
            fold = folds_by_key(row_keys(table, repeat), memberships, n_folds)
            if fold.max() < 1:
                return trials[0]
            densities = np.empty((len(trials), len(table), memberships.n_classes))
            for f in range(int(fold.max()) + 1):
                # Rows of no fold are the only ones of their class: it must not vanish from a part.
                kept, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
                part, members = table.take(kept), memberships.take(kept)
                left = table.take(out)
                for at, law in enumerate(_laws(settings, plan, part, members, rule)):
                    densities[at, out] = law(left)
                    meter.advance()
            judgements = _judged(densities, np.flatnonzero(fold >= 0), memberships, rule)
            found += np.array(list(judgements)) / repeats
    return trials[most_earning(found)]


def _plan(profiles: Profiles, asked: Mapping[str, tuple[Any, ...]]) -> list[Learner]:
    """What learns the profiles of the trials, in their order."""
    values = asked.get("fuzziness", ())
    later = values if profiles.fuzziness_comes_last else ()
    first = {
        name: tried[:1] if name == "fuzziness" and later else tried for name, tried in asked.items()
    }
    return [
        (clone(profiles).set_params(**dict(zip(first, tried, strict=True))), later)
        for tried in product(*first.values())
    ]


def _laws(
    settings: Profiled, plan: list[Learner], table: Table, memberships: Memberships, rule: Rule
) -> Iterator[Any]:
    """The law of each trial, learned from some rows."""
    for profiles, later in plan:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesRuleWarning)  # the chosen ones say it again
            learned: Any = profiles.learn(table, memberships)
        for partition in [learned.at_fuzziness(m) for m in later] or [learned]:
            prepared = settings.around(partition, table, memberships, rule)
            yield prepared.settle(prepared.tally(table, memberships))


def _judged(
    densities: np.ndarray, there: np.ndarray, memberships: Memberships, rule: Rule
) -> Iterator[tuple[float, float, float]]:
    """Expected gain, its error and log-posterior of each trial's decisions on left-out rows."""
    rows, codes, weights = memberships.take(there).entries()
    of_class = [np.flatnonzero(codes == k) for k in range(memberships.n_classes)]
    shares = [weights[mine] for mine in of_class]
    for of_trial in densities:
        values = [of_trial[there[rows[mine]]] for mine in of_class]
        yield judged(values, shares, memberships.totals(), rule)
