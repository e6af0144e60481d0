"""Profiles that are the leaves of a decision tree: cells cut where the classes part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from bayesrule.around import check_whole
from bayesrule.density import require_setting
from bayesrule.kernels import profiles as loops
from bayesrule.keys import distinct_ranks
from bayesrule.memberships import Memberships
from bayesrule.metrics import Metric, learn_metric
from bayesrule.partitions import HardPartition
from bayesrule.profiles import Profiles
from bayesrule.tables import Table

CRITERIA = ("gini", "entropy")


@dataclass(frozen=True)
class Leaves(HardPartition):
    """Leaves of a binary tree, told node by node; the root is the first.

    Attributes
    ----------
    feature : ndarray of shape (nodes,)
        Column that a node asks for; -1 at a leaf.
    threshold : ndarray of shape (nodes,)
        Rows of at most this value go on to ``below``, in the units of the metric.
    below, above : ndarray of shape (nodes,)
        Places of the two nodes that follow; at a leaf ``below`` is the place of its profile.
    metric : Metric
        A unit for each column.
    """

    feature: np.ndarray
    threshold: np.ndarray
    below: np.ndarray
    above: np.ndarray
    metric: Metric

    @property
    def n_profiles(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @property
    def n_columns(self) -> int:
        return len(self.metric.shift)

    def codes(self, table: Table) -> np.ndarray:
        values = self.metric(np.asarray(table.numbers, np.float64))
        out = np.empty(len(values), np.int32)
        loops.leaves_of_rows(values, self.feature, self.threshold, self.below, self.above, out)
        return out


class TreeProfiles(Profiles):
    """The leaves of a decision tree that is grown on the classes, best split first.

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of leaves at most. Inside :class:`Profiled`, "auto" chooses it by cross-validated
        gain.
    min_share : float from 0 to 0.5
        Least share of the rows' weight in a leaf.
    criterion : {"gini", "entropy"}
        What a split should lower most.
    random_state : int, default=0
        Which of equally good splits is taken.

    Attributes
    ----------
    partition_ : Leaves
        The tree, as arrays.

    Notes
    -----
    The leaves were cut where the classes of these very rows part, so what is counted in small ones
    is a little too good. ``min_share`` keeps them large.

    References
    ----------
    Gilet, Guyomard, Barbosa, Fillatre: Adjusting decision trees for uncertain class proportions,
    WUML at ECML/PKDD 2020.

    Examples
    --------
    >>> from bayesrule import BayesClassifier, Minimax, Profiled, TreeProfiles
    >>> X, y = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "a", "b", "b"]
    >>> TreeProfiles(2).fit(X, y).predict([[0.0], [10.0]])
    array([0, 1])
    """

    hard: ClassVar[bool] = True

    def __init__(
        self,
        n_profiles: Any = 20,
        min_share: float = 0.01,
        criterion: str = "gini",
        random_state: int = 0,
    ):
        self.n_profiles = n_profiles
        self.min_share = min_share
        self.criterion = criterion
        self.random_state = random_state

    @property
    def needs_classes(self) -> bool:
        return True

    def learn(self, table: Table, memberships: Memberships) -> Leaves:
        check_whole(self, n_profiles=1, random_state=0)
        require_setting(self, "min_share", between=(0.0, 0.5))
        require_setting(self, "criterion", *CRITERIA)
        # Trees keep their numbers in single precision, which holds no small differences far from
        # zero: columns are centred and scaled before.
        metric = learn_metric("standardised", table, memberships)
        values, codes, weights = self._canonical(table, memberships)
        if int(self.n_profiles) == 1:
            none = np.full(1, -1)
            return Leaves(none, np.zeros(1), np.zeros(1, np.int64), none, metric)
        model = DecisionTreeClassifier(
            criterion=self.criterion,
            max_leaf_nodes=int(self.n_profiles),
            min_weight_fraction_leaf=float(self.min_share),
            random_state=int(self.random_state),
        )
        tree = model.fit(metric(values), codes, sample_weight=weights).tree_
        leaf = tree.children_left < 0
        place = np.cumsum(leaf) - 1
        return Leaves(
            np.where(leaf, -1, tree.feature).astype(np.int64),
            np.where(leaf, 0.0, tree.threshold),
            np.where(leaf, place, tree.children_left).astype(np.int64),
            tree.children_right.astype(np.int64),
            metric,
        )

    def _canonical(
        self, table: Table, memberships: Memberships
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct rows of each class with their weights, in an order of their own.

        Equally good splits are told apart by sums whose last bits depend on the order of the rows.
        """
        numbers = np.asarray(table.numbers, np.float64)
        rows, codes, weights = memberships.entries()
        pair = distinct_ranks(numbers)[rows] * memberships.n_classes + codes
        _, first, place = np.unique(pair, return_index=True, return_inverse=True)
        return numbers[rows[first]], codes[first], np.bincount(place, weights)
