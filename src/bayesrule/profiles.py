"""What profiles are: groups of rows that are described together.

``fit(X)`` learns them and ``membership(X)`` tells how much each row belongs to each of them, shape
(n, T), rows summing to one. Cells of k-means, fuzzy groups, components of a mixture, leaves of a
tree and cells of a grid all are profiles; :class:`~bayesrule.Profiled` makes any of them a density.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from bayesrule.encoding import read_profiled
from bayesrule.kernels.blocks import block_rows, map_blocks
from bayesrule.memberships import Memberships, read_target
from bayesrule.partitions import Partition
from bayesrule.tables import Table, as_read


class Profiles(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Settings of profiles, usable alone as a scikit-learn transformer. Subclasses are final."""

    #: Whether a row belongs to one profile alone.
    hard: ClassVar[bool] = False

    partition_: Partition

    @property
    def needs_classes(self) -> bool:
        """Whether the profiles are learned from the classes of the rows too."""
        return False

    @property
    def fuzziness_comes_last(self) -> bool:
        """Whether profiles of another fuzziness have the same centres."""
        return False

    @abstractmethod
    def learn(self, table: Table, memberships: Memberships) -> Partition:
        """The profiles of some rows. Rows of no weight are absent."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn the profiles.

        Parameters
        ----------
        X : array or frame of shape (n, D)
        y : labels, default=None
            Only needed where the profiles are learned from the classes.
        sample_weight : array of n numbers, default=None
        """
        X = as_read(X)
        table = read_profiled(X, self)
        if self.needs_classes:
            if y is None:
                raise ValueError(
                    f"This {type(self).__name__} estimator requires y to be passed, but the target "
                    "y is None: its profiles are learned from the classes."
                )
            found = read_target(y)
            check_consistent_length(np.empty(len(table)), np.empty(len(found)))
        else:
            found = Memberships(np.zeros(1, int), np.zeros(len(table), np.int32))
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, np.empty(len(table)), dtype=np.float64, ensure_non_negative=True
            )
            there = np.flatnonzero(weights)
            if len(there) == 0:
                raise ValueError("All rows have sample_weight 0: there is nothing to learn from.")
            found = Memberships(found.classes, found.codes, found.degrees, weights).take(there)
            table = table.take(there)
        partition = self.learn(table, found)
        validate_data(self, X, skip_check_array=True)
        self._encoding = table.layout
        self.partition_ = partition
        return self

    def membership(self, X: Any) -> np.ndarray:
        """How much each row belongs to each profile, shape (n, T); rows sum to one."""
        check_is_fitted(self)
        X = as_read(X)
        table = read_profiled(X, self, self._encoding, fitted=True)
        validate_data(self, X, reset=False, skip_check_array=True)
        size = self.partition_.block_rows
        parts = map_blocks(
            lambda a, b: self.partition_.membership(table.block(a, b)),
            len(table),
            block_rows(table.n_columns) if size == 0 else size,
        )
        return np.concatenate(list(parts))

    def transform(self, X: Any) -> np.ndarray:
        """The same as ``membership``, for pipelines."""
        return self.membership(X)

    def predict(self, X: Any) -> np.ndarray:
        """The profile each row belongs to most."""
        places: np.ndarray = self.membership(X).argmax(axis=1)
        return places

    @property
    def _n_features_out(self) -> int:
        """What scikit-learn asks to name the columns of ``transform``."""
        return self.partition_.n_profiles

    def __sklearn_is_fitted__(self) -> bool:
        return "partition_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.needs_classes
        return tags
