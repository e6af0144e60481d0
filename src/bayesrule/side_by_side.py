"""Arrow tables of numbers as blocks of columns: each column copied once, or not at all.

By way of the general conversion columns would be copied four times, to float64.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

#: Numbers of an Arrow table, by the names of their types.
ARROW_NUMBERS = {
    "float",
    "double",
    *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)),
}
#: Bytes of the types that are read as they are.
WIDTHS = {"float": 4, "double": 8}


def is_table_of_numbers(X: Any) -> bool:
    """Whether X is an Arrow table of some rows whose columns are all numbers, each named once."""
    table = hasattr(X, "column_names") and hasattr(X, "itercolumns")
    return table and len(X) > 0 and _type_of_numbers(X.schema) is not None


@lru_cache(maxsize=256)
def _type_of_numbers(schema: Any) -> str | None:
    """The one type of all columns, "mixed" for several, None where any is no number.

    Parts of a file share a schema, and asking Arrow for types takes as long as much of the rest.
    """
    types = set(map(str, schema.types))
    if not types or not types <= ARROW_NUMBERS or len(set(schema.names)) < len(schema.names):
        return None
    return types.pop() if len(types) == 1 else "mixed"


def columns_of(X: Any) -> np.ndarray:
    """The columns (D, n) of an Arrow table of numbers; a gap becomes NaN."""
    import pyarrow as pa

    lying = _lying_in_order(X)
    if lying is not None:
        return lying
    # Arrow lends again what chunks before gave back; numpy's memory would come page by page from
    # the system, which takes longer than the copy.
    dtype = np.dtype(np.float32 if _type_of_numbers(X.schema) == "float" else np.float64)
    memory = pa.allocate_buffer(dtype.itemsize * len(X) * X.num_columns)
    columns = np.frombuffer(memory, dtype).reshape(-1, len(X))
    for column, chunks in zip(columns, X.itercolumns(), strict=True):
        start = 0
        for chunk in chunks.chunks:
            column[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return columns


def _lying_in_order(X: Any) -> np.ndarray | None:
    """The columns (D, n) where they follow one another in memory already."""
    width = WIDTHS.get(_type_of_numbers(X.schema) or "")
    if width is None:
        return None
    whole: Any = None
    begin = 0
    for j, column in enumerate(X.itercolumns()):
        if column.num_chunks != 1 or column.null_count:
            return None
        array = column.chunk(0)
        memory = array.buffers()[1]
        if j == 0:
            whole, begin = memory, width * array.offset
        place = memory.address + width * array.offset
        if place != whole.address + begin + j * width * len(X):
            return None
    if begin + width * len(X) * X.num_columns > whole.size:  # neighbours by chance
        return None
    numbers = np.frombuffer(whole, f"f{width}", X.num_columns * len(X), begin)
    return numbers.reshape(-1, len(X))


def laid_in_order(X: Any) -> Any:
    """An Arrow table of numbers with its columns one after the other in memory.

    What is cut out of it is then read without a copy. A table with gaps, or with numbers of several
    types, stays as it is.
    """
    import pyarrow as pa

    same = _type_of_numbers(X.schema) in WIDTHS
    if not same or any(column.null_count for column in X.itercolumns()):
        return X
    memory, dtype, n = pa.py_buffer(columns_of(X)), X.schema.types[0], len(X)
    arrays = [
        pa.Array.from_buffers(dtype, n, [None, memory], null_count=0, offset=j * n)
        for j in range(X.num_columns)
    ]
    return pa.table(arrays, schema=X.schema)
