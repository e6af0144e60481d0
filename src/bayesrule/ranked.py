"""Mixed columns as numbers between which boundaries can be drawn: a category is told by its rank.

Missing values, and categories that were not there when the ranks were learned, are NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule.encoding import Encoding, codes_of, has_categories
from bayesrule.memberships import places
from bayesrule.tables import Table, read_numbers


def read_ranked(
    X: Any, estimator: Any, encoding: Encoding | None = None, *, fitted: bool = False
) -> Table:
    """Check X and read it as numbers; the table's layout tells which columns were categories."""
    if not fitted and has_categories(X):
        advice = "which are no cells. Leave it out, or use Words for it in Columns."
        encoding = Encoding.of(X, estimator, codes_of, advice)
    if encoding is None:
        return read_numbers(X, accept_missing=True, estimator=estimator)
    names, columns = [], []
    for name, labels, column in encoding.columns_of(X, estimator):
        names.append(name)
        if labels is None:
            block = read_numbers(column, accept_missing=True, estimator=estimator).numbers
            assert block is not None
            columns.append(block[:, 0])
            continue
        codes, found = codes_of(column, name, estimator)
        ranks = np.append(places(found, labels), -1).astype(np.float64)
        columns.append(np.where(ranks >= 0, ranks, np.nan)[codes])
    numbers = np.array(columns, np.float64)
    missing = bool(np.isnan(numbers).any())
    return Table(numbers.T, missing=missing, names=tuple(names), layout=encoding)
