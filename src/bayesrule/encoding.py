"""Mixed columns as numbers between which distances make sense: a category is a column of its own.

The columns of one source of categories are zero, but for that of the row's category: the root of a
half, so that two different categories are at distance one. A category that was not there when the
profiles were learned is zero in all of them, at equal distance from each known one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from bayesrule.coded import read_categories
from bayesrule.frames import NOTHING, as_frame, check_held, held, kind_of
from bayesrule.memberships import places
from bayesrule.tables import Table, column_names, read_numbers

#: Half of a squared distance of one.
SIDE = np.sqrt(0.5)
#: Categories that one column may have: more are a sign that it holds names or texts.
MOST = 1000

#: From a column, its name and the estimator to codes and what they stand for.
ReadCodes = Callable[[Any, str, Any], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Encoding:
    """Which columns are categories, and of which values.

    Attributes
    ----------
    names : tuple of str
        The columns of X.
    holds : tuple of str
        What each held.
    categories : tuple of (ndarray or None)
        Sorted categories of each column; None for numbers.
    """

    names: tuple[str, ...]
    holds: tuple[str, ...]
    categories: tuple[np.ndarray | None, ...]

    @property
    def sources(self) -> np.ndarray:
        """Place of the column of X that each column of numbers comes from."""
        widths = [1 if labels is None else len(labels) for labels in self.categories]
        return np.repeat(np.arange(len(widths)), widths)

    @property
    def coordinates(self) -> str:
        """What the numbers of a row are, in words."""
        words = []
        for name, labels in zip(self.names, self.categories, strict=True):
            if labels is None:
                words.append(repr(name))
            else:
                shown = ", ".join(map(repr, labels[:5].tolist())) + (", ..." * (len(labels) > 5))
                told = f"{shown}; {SIDE:.4f} for its own, else 0"
                words.append(f"{len(labels)} for {name!r} ({told})")
        return "; ".join(words)

    @classmethod
    def of(cls, X: Any, estimator: Any, read_codes: ReadCodes, no_texts: str) -> Encoding:
        """Tell numbers from categories, and list the categories.

        ``no_texts`` says, of a column of texts, why it cannot be read and what to do instead.
        """
        frame, names = as_frame(X, estimator)
        holds: list[str] = []
        categories: list[np.ndarray | None] = []
        for j, name in enumerate(names):
            column = frame[:, j]
            kind = held(column)
            labels = None
            if kind == NOTHING:
                raise ValueError(
                    f"Input X contains NaN in all rows of column {name!r}: leave it out."
                )
            if kind != "numbers" or column.dtype in (nw.Categorical, nw.Enum):
                if kind != "numbers" and kind_of(column, name) == "texts":
                    raise ValueError(f"Column {name!r} of X holds texts, {no_texts}")
                codes, found = read_codes(nw.to_native(frame[:, [j]]), name, estimator)
                labels = np.sort(found[np.unique(codes[codes >= 0])])
            holds.append(kind)
            categories.append(labels)
        return cls(names, tuple(holds), tuple(categories))

    def columns_of(self, X: Any, estimator: Any) -> Iterator[tuple[str, np.ndarray | None, Any]]:
        """Name, categories and values of each column of an X like the one this was told of."""
        frame, names = as_frame(X, estimator)
        if len(names) != len(self.names):
            raise ValueError(
                f"X has {len(names)} features, but {type(estimator).__name__} is expecting "
                f"{len(self.names)} features as input."
            )
        if column_names(X) is not None and names != self.names and set(names) == set(self.names):
            raise ValueError(
                f"The columns of X are {list(names[:10])}, but were {list(self.names[:10])} when "
                "it was fitted. Put them in the same order."
            )
        for j, (name, before) in enumerate(zip(self.names, self.holds, strict=True)):
            check_held(frame[:, j], name, before)
            yield names[j], self.categories[j], nw.to_native(frame[:, [j]])

    def read(self, X: Any, estimator: Any) -> Table:
        """The rows as numbers."""
        names, blocks = [], []
        for name, labels, column in self.columns_of(X, estimator):
            names.append(name)
            if labels is None:
                numbers = read_numbers(column, accept_missing=False, estimator=estimator).numbers
                assert numbers is not None
                blocks.append(np.asarray(numbers, np.float64))
                continue
            codes, found = _codes_without_gaps(column, name, estimator)
            place = places(found, labels)[codes]
            dummies = np.zeros((len(codes), len(labels)))
            known = np.flatnonzero(place >= 0)
            dummies[known, place[known]] = SIDE
            blocks.append(dummies)
        return Table(np.hstack(blocks), names=tuple(names), layout=self)


def codes_of(column: Any, name: str, estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes of a column of categories, -1 for a gap, and what they stand for."""
    coded = read_categories(column, estimator).coded
    assert coded is not None
    assert coded.categories is not None
    return coded.codes[:, 0], coded.categories[0]


def _codes_without_gaps(column: Any, name: str, estimator: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same where gaps are refused."""
    codes, found = codes_of(column, name, estimator)
    gaps = int((codes < 0).sum())
    if gaps:
        raise ValueError(
            f"Input X contains NaN in column {name!r} ({gaps} rows), and profiles take no missing "
            "values. Give the gap a category of its own, or drop those rows."
        )
    return codes, found


def _encode(X: Any, estimator: Any) -> Encoding:
    """Tell numbers from categories, of which there may not be too many."""
    encoding = Encoding.of(
        X,
        estimator,
        _codes_without_gaps,
        "which have no distance. Turn them into numbers first (a vectoriser), or use Words for "
        "them in Columns.",
    )
    for name, labels in zip(encoding.names, encoding.categories, strict=True):
        if labels is not None and len(labels) > MOST:
            raise ValueError(
                f"Column {name!r} of X has {len(labels)} categories, more than {MOST}: it "
                "seems to name the rows. Leave it out, or group its values."
            )
    return encoding


def has_categories(X: Any) -> bool:
    """Whether any column is no column of numbers."""
    if column_names(X) is not None:
        schema = nw.from_native(X, eager_only=True).schema
        return any(
            dtype in (nw.String, nw.Categorical, nw.Enum)
            or (dtype == nw.Object and _has_text(nw.from_native(X)[:, j].to_numpy()))
            for j, dtype in enumerate(schema.values())
        )
    values = X if hasattr(X, "dtype") else np.asarray(X)
    return values.dtype.kind in "US" or (values.dtype.kind == "O" and _has_text(values))


def _has_text(values: Any) -> bool:
    return any(isinstance(value, str) for value in np.ravel(values).tolist())


def read_profiled(
    X: Any, estimator: Any, encoding: Encoding | None = None, *, fitted: bool = False
) -> Table:
    """Check X and read it as numbers; the table's layout tells how categories were written."""
    if not fitted and has_categories(X):
        encoding = _encode(X, estimator)
    if encoding is None:
        return read_numbers(X, accept_missing=False, estimator=estimator)
    return encoding.read(X, estimator)
