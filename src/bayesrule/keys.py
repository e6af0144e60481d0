"""A number for each row that depends on the row's values only, never on its place.

Splits by such keys keep equal rows together, and random choices by them do not depend on the order
or the chunking of the rows.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse

from bayesrule.memberships import Memberships
from bayesrule.tables import Table, column_names


def row_keys(table: Table, seed: int) -> np.ndarray:
    """A number in [0, 1) for each row of a table."""
    keys = _stir_table(np.full(len(table), seed % 2**64, np.uint64), table)
    shares: np.ndarray = (keys >> np.uint64(11)) * 2.0**-53
    return shares


def distinct_ranks(values: np.ndarray) -> np.ndarray:
    """Rank of each row of numbers among the distinct rows, in lexicographic order."""
    order = np.lexsort(values.T[::-1])
    differs = (values[order[1:]] != values[order[:-1]]).any(axis=1)
    rank = np.empty(len(values), np.int64)
    rank[order] = np.concatenate([[0], np.cumsum(differs)])
    return rank


def merged_rows(
    values: np.ndarray, weights: np.ndarray, ranks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Equal rows as one of their weight, in the order of their ranks.

    What starts at random from them takes a weight for a repetition, and does not see the order in
    which the rows came.
    """
    _, first, place = np.unique(ranks, return_index=True, return_inverse=True)
    return values[first], np.bincount(place, weights)


def folds_by_key(keys: np.ndarray, memberships: Memberships, n_folds: int) -> np.ndarray:
    """A fold for each row, dealt out within its class; -1 where a class has one distinct row.

    Equal keys, which equal rows have, are in one fold.
    """
    _, distinct = np.unique(keys, return_inverse=True)
    if memberships.codes is None:
        return distinct % n_folds if distinct.max() > 0 else distinct - 1
    folds = np.full(len(keys), -1)
    for k in np.unique(memberships.codes):
        mine = np.flatnonzero(memberships.codes == k)
        values, rank = np.unique(distinct[mine], return_inverse=True)
        if len(values) > 1:
            folds[mine] = rank % n_folds
    return folds


def mixed(keys: np.ndarray) -> np.ndarray:
    """Spread every bit of 64-bit keys over all bits (two multiply-and-shift rounds)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


def _stir_table(keys: np.ndarray, table: Table) -> np.ndarray:
    """Keys with all values of each row stirred in."""
    for part in table.parts:
        keys = _stir_table(keys, part)
    if table.numbers is not None:
        for column in table.numbers.T:
            keys = _stir(keys, column)
    if table.coded is not None:
        for j, codes in enumerate(table.coded.codes.T):
            if table.coded.categories is None:
                keys = _stir(keys, codes)
            else:
                # Codes differ from chunk to chunk; what they stand for does not.
                labels = _hashed([*table.coded.categories[j].tolist(), None])
                keys = mixed(keys ^ labels[codes])
    if table.counts is not None:
        keys = _stir_sparse(keys, table.counts)
    if table.raw is not None:
        keys = _stir_raw(keys, table.raw)
    return keys


def _stir(keys: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Keys with a column stirred in: numbers by value, anything else by how it is written."""
    column = np.asarray(column)
    if column.dtype.kind in "biuf":
        # Adding zero makes -0.0 and 0.0, which are equal, one.
        bits = np.ascontiguousarray(column, np.float64) + 0.0
        return mixed(keys ^ bits.view(np.uint64))
    distinct = {repr(value): None for value in column.tolist()}
    place = {text: i for i, text in enumerate(distinct)}
    hashes = _hashed(list(distinct))
    return mixed(keys ^ hashes[[place[repr(value)] for value in column.tolist()]])


def _hashed(labels: list[Any]) -> np.ndarray:
    """64 bits for each label, the same in every process."""
    digests = (blake2b(repr(label).encode(), digest_size=8).digest() for label in labels)
    return np.array([int.from_bytes(d, "little") for d in digests], np.uint64)


def _stir_sparse(keys: np.ndarray, counts: Any) -> np.ndarray:
    """Keys with the non-zero entries stirred in, in whatever order they are stored."""
    entries = scipy.sparse.coo_array(counts)
    entries.sum_duplicates()
    some = entries.data != 0
    bits = np.asarray(entries.data[some], np.float64).view(np.uint64)
    stirred = mixed(bits ^ mixed(entries.col[some].astype(np.uint64) + np.uint64(1)))
    sums = np.zeros(len(keys), np.uint64)
    np.add.at(sums, entries.row[some], stirred)
    return mixed(keys ^ sums)


def _stir_raw(keys: np.ndarray, raw: Any) -> np.ndarray:
    """Keys of rows in the user's own form."""
    if scipy.sparse.issparse(raw):
        return _stir_sparse(keys, raw)
    names = column_names(raw)
    if names is not None:
        frame = nw.from_native(raw)
        columns = [frame[:, j].to_numpy() for j in range(len(names))]
    else:
        values = np.asarray(raw)
        columns = [values] if values.ndim == 1 else list(values.reshape(len(values), -1).T)
    for column in columns:
        keys = _stir(keys, column)
    return keys
