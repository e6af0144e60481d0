"""Names of others as text that steers nothing: no terminal, and no way of reading a line."""

from __future__ import annotations

#: Unprintable, but parts of writing: they join emoji and letters.
JOINERS = "\u200c\u200d"


def harmless(value: object) -> str:
    """A value as text in which whatever cannot be printed is written out, as Python does."""
    return "".join(c if c.isprintable() or c in JOINERS else repr(c)[1:-1] for c in str(value))
