"""Mixed columns as numbers between which boundaries can be drawn: a category is told by its rank.

Missing values, and categories that were not there when the ranks were learned, are NaN.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from bayesrule.coded import read_categories
from bayesrule.encoding import Encoding, has_categories
from bayesrule.frames import NOTHING, as_frame, check_held, held, kind_of
from bayesrule.memberships import places
from bayesrule.tables import Table, column_names, read_numbers


def read_ranked(
    X: Any, estimator: Any, encoding: Encoding | None = None, *, fitted: bool = False
) -> Table:
    """Check X and read it as numbers; the table's layout tells which columns were categories."""
    if not fitted and has_categories(X):
        encoding = _ranks_of(X, estimator)
    if encoding is None:
        return read_numbers(X, accept_missing=True, estimator=estimator)
    frame, names = as_frame(X, estimator)
    if len(names) != len(encoding.names):
        raise ValueError(
            f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
            f"{len(encoding.names)} features as input."
        )
    if (
        column_names(X) is not None
        and names != encoding.names
        and set(names) == set(encoding.names)
    ):
        raise ValueError(
            f"The columns of X are {list(names[:10])}, but were {list(encoding.names[:10])} when "
            "it was fitted. Put them in the same order."
        )
    numbers = np.empty((len(names), len(frame)))
    for j, (name, before, labels) in enumerate(
        zip(encoding.names, encoding.holds, encoding.categories, strict=True)
    ):
        check_held(frame[:, j], name, before)
        column = nw.to_native(frame[:, [j]])
        if labels is None:
            block = read_numbers(column, accept_missing=True, estimator=estimator).numbers
            assert block is not None
            numbers[j] = block[:, 0]
            continue
        codes, found = _coded(column, estimator)
        ranks = np.append(places(found, labels), -1).astype(np.float64)
        numbers[j] = np.where(ranks >= 0, ranks, np.nan)[codes]
    missing = bool(np.isnan(numbers).any())
    return Table(numbers.T, missing=missing, names=names, layout=encoding)


def _ranks_of(X: Any, estimator: Any) -> Encoding:
    """Tell numbers from categories, and list the categories."""
    frame, names = as_frame(X, estimator)
    holds: list[str] = []
    categories: list[np.ndarray | None] = []
    for j, name in enumerate(names):
        column = frame[:, j]
        kind = held(column)
        labels = None
        if kind == NOTHING:
            raise ValueError(f"Input X contains NaN in all rows of column {name!r}: leave it out.")
        if kind != "numbers" or column.dtype in (nw.Categorical, nw.Enum):
            if kind != "numbers" and kind_of(column, name) == "texts":
                raise ValueError(
                    f"Column {name!r} of X holds texts, which are no cells. Leave it out, or use "
                    "Words for it in Columns."
                )
            codes, found = _coded(nw.to_native(frame[:, [j]]), estimator)
            labels = np.sort(found[np.unique(codes[codes >= 0])])
        holds.append(kind)
        categories.append(labels)
    return Encoding(names, tuple(holds), tuple(categories))


def _coded(column: Any, estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes of a column of categories, -1 for a gap, and what they stand for."""
    coded = read_categories(column, estimator).coded
    assert coded is not None
    assert coded.categories is not None
    return coded.codes[:, 0], coded.categories[0]
