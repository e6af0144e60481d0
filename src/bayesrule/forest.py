"""A forest of partitions: many rough ones, each seen through some metric, share every row.

    f_k(x)   =   mean over partitions s of   sum over profiles t of s   u_t(x) * p_kt / p_t

so that under the class shares of the training rows the posterior is the mean of the posteriors of
the partitions. The borders of one partition are where the next has none, and no single metric is
safe: discriminant axes are lost under noisy labels, plain units under columns that tell nothing.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bayesrule.around import check_whole
from bayesrule.centers import FuzzyProfiles
from bayesrule.memberships import Memberships
from bayesrule.metrics import METRICS, SUPERVISED
from bayesrule.partitions import FuzzyCentres, Joined
from bayesrule.profiles import Profiles
from bayesrule.progress import progress
from bayesrule.tables import Table

#: Profiles of a partition for each root of a row: of n rows, each then has some root of n.
PER_ROOT = 1.5
#: Most profiles that are taken without being asked for.
MOST_BY_ROOT = 200


class ForestProfiles(Profiles):
    """Fuzzy profiles of several partitions together, each from its own start and metric.

    Parameters
    ----------
    n_partitions : int
        Number of partitions.
    n_profiles : int, "root", "auto" or list of ints
        Centres of each partition. "root" takes 1.5 times the root of the rows' weight, up to 200:
        more rows allow finer profiles, and the rows in each grow too. Inside :class:`Profiled`,
        "auto" or a list to choose from leaves it to cross-validated gain.
    fuzziness : float > 1, "auto" or list of floats
        As in :class:`FuzzyProfiles`.
    metrics : sequence of {"raw", "standardised", "within", "lda"}
        Metrics that the partitions take in turn. One that is named twice gets twice as many.
    per_class : bool
        Whether the centres are learned class by class.
    n_init, sample_rows, random_state
        As in :class:`FuzzyProfiles`.

    Attributes
    ----------
    partition_ : Joined
        The partitions.

    Notes
    -----
    Another way to combine partitions, the mean of log-posteriors, decides as well but is no mixture
    of densities: one partition that misses a class would silence all others.

    Examples
    --------
    >>> from bayesrule import ForestProfiles
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> forest = ForestProfiles(n_partitions=3, n_profiles=2).fit(X, y)
    >>> [part.n_profiles for part in forest.partition_.parts]
    [2, 2, 2]
    """

    def __init__(
        self,
        n_partitions: int = 20,
        n_profiles: Any = "root",
        fuzziness: Any = 1.3,
        metrics: Any = ("standardised", "within", "standardised", "lda"),
        per_class: bool = True,
        n_init: int = 1,
        sample_rows: Any = "auto",
        random_state: int = 0,
    ):
        self.n_partitions = n_partitions
        self.n_profiles = n_profiles
        self.fuzziness = fuzziness
        self.metrics = metrics
        self.per_class = per_class
        self.n_init = n_init
        self.sample_rows = sample_rows
        self.random_state = random_state

    @property
    def needs_classes(self) -> bool:
        named = self.metrics if isinstance(self.metrics, (list, tuple)) else ()
        return bool(self.per_class) or any(metric in SUPERVISED for metric in named)

    @property
    def fuzziness_comes_last(self) -> bool:
        return True

    def learn(self, table: Table, memberships: Memberships) -> Joined:
        number = self._number(memberships)
        settings = [
            FuzzyProfiles(
                number,
                self.fuzziness,
                "kmeans",
                metric,
                self.per_class,
                self.n_init,
                self.sample_rows,
                seed,
            )
            for metric, seed in self._plan()
        ]
        parts: list[FuzzyCentres] = []
        told: dict[type[Warning], Any] = {}
        with progress("forest of partitions", len(settings)) as meter:
            for profiles in settings:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    parts.append(profiles.learn(table, memberships))
                told.update({warning.category: warning for warning in caught})
                meter.advance()
        # Each partition would say the same.
        for warning in told.values():
            warnings.warn(f"In partitions of the forest: {warning.message}", warning.category, 4)
        return Joined(tuple(parts))

    def _number(self, memberships: Memberships) -> int:
        """Centres of each partition."""
        if isinstance(self.n_profiles, str) and self.n_profiles == "root":
            root = PER_ROOT * float(np.sqrt(memberships.totals().sum()))
            return max(min(round(root), MOST_BY_ROOT), 1)
        check_whole(self, n_profiles=1)
        return int(self.n_profiles)

    def _plan(self) -> list[tuple[str, int]]:
        """Metric and seed of each partition."""
        check_whole(self, n_partitions=1, random_state=0)
        listed = isinstance(self.metrics, (list, tuple)) and len(self.metrics) > 0
        if not listed or any(metric not in METRICS for metric in self.metrics):
            raise ValueError(
                f"ForestProfiles(metrics={self.metrics!r}): expected a list of metrics among "
                f"{METRICS}."
            )
        draw = np.random.RandomState(int(self.random_state))
        seeds = draw.randint(0, 2**31 - 1, int(self.n_partitions)).tolist()
        return [(self.metrics[i % len(self.metrics)], seed) for i, seed in enumerate(seeds)]
