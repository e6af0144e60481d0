"""Blocks of columns, each read by the density that it is for."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw

from bayesrule.frames import NOTHING, held
from bayesrule.side_by_side import laid_in_order
from bayesrule.tables import Table

if TYPE_CHECKING:
    from bayesrule.columns import Block


def place_of(name: Any, names: tuple[str, ...]) -> int:
    """Place of a column called by its name or number."""
    number = isinstance(name, Integral) and not isinstance(name, bool)
    if (number or isinstance(name, str)) and str(name) in names:
        return names.index(str(name))
    if number and -len(names) <= name < len(names):
        return int(name) % len(names)
    raise ValueError(f"columns names {name!r}, which X does not have; it has {list(names)}.")


def read_blocks(
    frame: Any, names: tuple[str, ...], blocks: tuple[Block, ...], readers: Any, estimator: Any
) -> Table:
    """Read each block of columns, of a general frame or an Arrow table, for its density."""
    parts, whole = [], nw.to_native(frame, pass_through=True)
    arrow = whole is frame
    if arrow and sum(len(block.columns) for block in blocks) > len(names):
        whole = laid_in_order(whole)  # once for all who read them
    for block, reader in zip(blocks, readers, strict=True):
        if block.columns == tuple(range(len(names))):
            columns = whole
        elif arrow:
            columns = whole.select(list(block.columns))
        else:
            columns = nw.to_native(frame[:, list(block.columns)])
        try:
            parts.append(reader.read(columns, estimator))
        except (TypeError, ValueError) as error:
            _explain(error, block, nw.from_native(columns))
            raise
    return Table(
        parts=tuple(parts), names=names, layout=blocks, missing=any(p.missing for p in parts)
    )


def _explain(error: Exception, block: Block, columns: Any) -> None:
    """Name the column that made a density fail, where a column holds something else than numbers.

    Which columns a density can read, only the density knows; its message often names none.
    """
    for j, name in enumerate(block.names):
        kind = held(columns[:, j])
        if kind not in ("numbers", NOTHING):
            raise ValueError(
                f"Column {name!r} of X holds {kind}, which {block.density!r} could not read: "
                f"{str(error).rstrip('.')}. Convert it, or choose another density for it."
            ) from error
