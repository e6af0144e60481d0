"""What users set: one of a few values, or a number in a range, checked in one place."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def require_setting(
    owner: Any, name: str, *allowed: Any, between: tuple[float, float] | None = None
) -> None:
    """Refuse a setting of ``owner`` that is neither one of ``allowed`` nor a number in a range."""
    value = getattr(owner, name)
    flag = isinstance(value, (bool, np.bool_))
    plain = isinstance(value, (str, numbers.Number, type(None), np.bool_))
    good = plain and any(value == a and flag == isinstance(a, bool) for a in allowed)
    if isinstance(value, numbers.Real) and not flag and between is not None:
        good = good or between[0] <= float(value) <= between[1]
    if not good:
        known = [repr(a) for a in allowed]
        if between is not None:
            known.append(f"a number from {between[0]:g} to {between[1]:g}")
        raise ValueError(
            f"{type(owner).__name__}({name}={value!r}) is not known; use {' or '.join(known)}."
        )
