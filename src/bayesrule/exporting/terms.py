"""Expressions in common use: sums, logarithms, the largest of several, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from bayesrule.exporting.arithmetic import Call, Choice, Compared, Expression, Number, Shared, Sum


def total(terms: Sequence[Expression]) -> Expression:
    """A sum, from the first term to the last."""
    return terms[0] if len(terms) == 1 else Sum(tuple(terms) if terms else (Number(0.0),))


def log(of: Expression) -> Expression:
    """The natural logarithm of a number above zero."""
    return Call("log", (of,))


def log1p(of: Expression) -> Expression:
    """log(1 + z), also where z is small."""
    return Call("log1p", (of,))


def exp(of: Expression) -> Expression:
    """The exponential; zero far below zero, where some programs would raise an error."""
    of = Shared(of)
    return Choice(Compared("<", of, Number(-600.0)), Number(0.0), Call("exp", (of,)))


def power(of: Expression, exponent: float) -> Expression:
    """A number from 0 to 1 to a power above zero, likewise."""
    if exponent == 1.0:
        return of
    of = Shared(of)
    least = Number(float(np.exp(-600.0 / exponent)))
    raised = Call("power", (of, Number(exponent)))
    return Choice(Compared("<", of, least), Number(0.0), raised)


def _tournament(
    parts: Sequence[tuple[Expression, ...]],
    winner: Callable[[tuple[Expression, ...], tuple[Expression, ...]], tuple[Expression, ...]],
) -> tuple[Expression, ...]:
    """The best of several, told in pairs; the left one of a pair is the earlier one."""
    parts = list(parts)
    while len(parts) > 1:
        left_over = parts[len(parts) - len(parts) % 2 :]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [winner(left, right) for left, right in pairs] + left_over
    return parts[0]


def extreme(numbers: Sequence[Expression], sign: str) -> Expression:
    """The largest (">") or smallest ("<") of several numbers."""

    def winner(left: tuple[Expression, ...], right: tuple[Expression, ...]) -> Any:
        better = Compared(sign, right[0], left[0])
        return (Shared(Choice(better, right[0], left[0])),)

    return _tournament([(number,) for number in numbers], winner)[0]


def first_extreme(numbers: Sequence[Expression], sign: str) -> Expression:
    """The place of the first largest or smallest of several numbers."""

    def winner(left: tuple[Expression, ...], right: tuple[Expression, ...]) -> Any:
        better = Compared(sign, right[0], left[0])
        return (
            Shared(Choice(better, right[0], left[0])),
            Shared(Choice(better, right[1], left[1])),
        )

    shared = [(Shared(number), Number(float(t))) for t, number in enumerate(numbers)]
    return _tournament(shared, winner)[1]


def polynomial(x: Expression, coefficients: Sequence[float]) -> Expression:
    """The first coefficient and, by Horner's rule, powers of x times the others."""
    found: Expression = Number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        found = coefficient + x * found
    return found


def increasing(edges: np.ndarray) -> tuple[float, ...]:
    """Edges as plain numbers; they must increase."""
    plain = tuple(float(edge) for edge in edges)
    assert all(a < b for a, b in pairwise(plain))
    return plain
