"""JSON within limits: what would nest too deeply or make too many objects is never parsed."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from bayesrule.archive import MAX_DOCUMENT

#: Objects and lists within one another at most.
MAX_DEPTH = 100

#: Items of all lists and objects of a document at most; long lists are arrays.
MAX_ITEMS = 1_000_000

#: Digits of a number at most: any 64-bit number has fewer.
MAX_DIGITS = 40

LARGEST_INTEGER = 2**64 - 1

# Text is one token, so that brackets in it do not count.
TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)


def write_document(content: dict[str, Any]) -> bytes:
    """JSON text within the limits that reading sets."""
    text = json.dumps(content, indent=1, allow_nan=False).encode("ascii") + b"\n"
    if len(text) > MAX_DOCUMENT:
        raise ValueError(f"The model needs {len(text)} bytes of JSON; the limit is {MAX_DOCUMENT}.")
    _check_size(text)
    return text


def parse_document(text: bytes) -> Any:
    """JSON, read strictly: bounded in depth and size, no key twice, no infinity, no NaN."""
    _check_size(text)
    return json.loads(
        text.decode("utf-8"),
        object_pairs_hook=_without_duplicates,
        parse_int=_integer,
        parse_float=_finite,
        parse_constant=_finite,
    )


def _check_size(text: bytes) -> None:
    """Refuse, before it is parsed, what would nest too deeply or make too many objects."""
    brackets = text.count(b"[") + text.count(b"{")
    if text.count(b",") > MAX_ITEMS or brackets > MAX_ITEMS:
        raise ValueError(f"its JSON has more than {MAX_ITEMS} items")
    depth = 0
    for token in TOKENS.finditer(text):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            raise ValueError(f"its JSON is nested more than {MAX_DEPTH} deep")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"its JSON has an object with a key twice, of {shown(list(found))}")
    return found


def _short_number(digits: str) -> str:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"its JSON has a number of {len(digits)} digits")
    return digits


def _integer(digits: str) -> int:
    value = int(_short_number(digits))
    if abs(value) > LARGEST_INTEGER:
        raise ValueError(f"its JSON has the number {digits}")
    return value


def _finite(digits: str) -> float:
    value = float(_short_number(digits))
    if not math.isfinite(value):
        raise ValueError(f"its JSON has the number {digits}")
    return value


def shown(value: Any) -> str:
    """A value in a message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
