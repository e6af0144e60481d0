"""What Gaussian and Student laws compute, told as arithmetic.

A missing value is integrated out exactly. Where columns are correlated, its row and column of the
covariance become those of the identity and its deviation zero: distance and determinant are then
those of the columns that are there, so one factorisation serves every pattern of gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesrule.covariances import LOG_2PI
from bayesrule.elliptical import ThresholdElliptical
from bayesrule.elliptical_laws import EllipticalLaw
from bayesrule.exporting.arithmetic import (
    All,
    Call,
    CannotExportError,
    Choice,
    Expression,
    Lookup,
    Number,
    Shared,
)
from bayesrule.exporting.formulas import Scores, formulas, read
from bayesrule.exporting.rows import Row
from bayesrule.exporting.terms import (
    extreme,
    log,
    log1p,
    total,
)
from bayesrule.gaussian_laws import (
    BesideConstants,
    DiagonalGaussian,
    DiagonalStudent,
    FullGaussian,
    FullStudent,
    SphericalStudent,
    log_student_constant,
)
from bayesrule.kernels.elliptical import AT_LOCATION

#: Correlated columns beyond which a factorisation within an expression would be too long.
MOST_CORRELATED = 32


@formulas.register
def _diagonal(law: DiagonalGaussian, row: Row) -> Scores:
    log_norm = -0.5 * (LOG_2PI + np.log(law.variance))
    half_precision, constant = 0.5 / law.variance, log_norm.sum(axis=1)

    def score(k: int) -> Expression:
        terms = []
        for j, entry in enumerate(row.entries):
            apart = Shared(entry.value - float(law.mean[k, j]))
            # The constant holds the norms of all columns; what is missing takes its own away.
            square = apart * apart * float(half_precision[k, j])
            terms.append(entry.unless_missing(square, log_norm[k, j]))
        return float(constant[k]) - total(terms)

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


@formulas.register
def _diagonal_student(law: DiagonalStudent, row: Row) -> Scores:
    inverse, powers, log_norm = law._constants()

    def score(k: int) -> Expression:
        terms = []
        for j, entry in enumerate(row.entries):
            z = Shared((entry.value - float(law.location[k, j])) * float(inverse[k, j]))
            term = float(log_norm[k, j]) - float(powers[k, j]) * log1p(z * z)
            terms.append(entry.unless_missing(term))
        return total(terms)

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


@formulas.register
def _spherical_student(law: SphericalStudent, row: Row) -> Scores:
    precision, log_scale = law.scale**-2.0, np.log(law.scale)
    numbers = np.arange(len(row) + 1)
    count = Shared(total([entry.unless_missing(Number(1.0)) for entry in row.entries]))
    constants = np.stack([log_student_constant(law.dof, m) for m in numbers])  # (D + 1, K)
    halves = 0.5 * (law.dof + numbers[:, None])

    def score(k: int) -> Expression:
        squares, scales = [], []
        for j, entry in enumerate(row.entries):
            apart = Shared(entry.value - float(law.location[k, j]))
            squares.append(entry.unless_missing(apart * apart * float(precision[k, j])))
            scales.append(entry.unless_missing(Number(log_scale[k, j])))
        grown = log1p(Shared(total(squares)) / float(law.dof[k]))
        if row.complete:
            constant = float(constants[-1, k] - log_scale[k].sum())
            return constant - float(halves[-1, k]) * grown
        constant_of = Lookup(constants, count, k) - total(scales)
        return constant_of - Lookup(halves, count, k) * grown

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


@formulas.register
def _full(law: FullGaussian, row: Row) -> Scores:
    distances = _distances(law.mean, law.whitening, row, law.seen)
    last = len(law.whitening) - 1
    gaps = None if row.complete else _with_gaps(law.mean, law.covariance, row, law.seen)

    def score(k: int) -> Expression:
        complete = float(law.log_constant[min(k, last)]) - 0.5 * distances[k]
        if gaps is None:
            return complete
        distance, half_log_det = gaps[k]
        count = float(0.5 * LOG_2PI) * _present(row)
        return Choice(_all_there(row), complete, -0.5 * distance - half_log_det - count)

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


@formulas.register
def _full_student(law: FullStudent, row: Row) -> Scores:
    distances = _distances(law.location, law.whitening, row, law.seen)
    last, n_columns = len(law.whitening) - 1, len(row)
    gaps = None if row.complete else _with_gaps(law.location, law.scatter, row, law.seen)
    numbers = np.arange(n_columns + 1)
    constants = np.stack([log_student_constant(law.dof, m) for m in numbers])
    constants = constants - 0.5 * numbers[:, None] * np.log(law.stretch)
    halves = 0.5 * (law.dof + numbers[:, None])

    def score(k: int) -> Expression:
        spread = float(law.stretch[k] * law.dof[k])
        constant = float(constants[-1, k] - law.half_log_det[min(k, last)])
        complete = constant - float(halves[-1, k]) * log1p(distances[k] / spread)
        if gaps is None:
            return complete
        distance, half_log_det = gaps[k]
        count = _present(row)
        grown = log1p(Shared(distance) / spread)
        partial = Lookup(constants, count, k) - half_log_det - Lookup(halves, count, k) * grown
        return Choice(_all_there(row), complete, partial)

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


@read.register
def _threshold(prepared: ThresholdElliptical, law: EllipticalLaw, row: Row) -> Scores:
    return formulas(law, row.reading(gaps=True))


@formulas.register
def _elliptical(law: EllipticalLaw, row: Row) -> Scores:
    # Without the columns that never vary, which tell no class from another.
    row = row.narrow(law.varying)
    location = law.location[:, law.varying]
    scatter = law.scatter[:, law.varying[:, None], law.varying]
    assert law.factored is not None
    whitening, half_log_det = law.factored
    distances = _distances(location, whitening, row, law.seen)
    last, n_columns = len(whitening) - 1, len(row)
    gaps = None if row.complete else _with_gaps(location, scatter, row, law.seen)
    count = Number(float(n_columns)) if gaps is None else _present(row)

    def score(k: int) -> Expression:
        told = float(half_log_det[min(k, last)])
        complete = _elliptical_score(law, k, distances[k], told, Number(float(n_columns)))
        if gaps is None:
            return complete
        distance, half = gaps[k]
        partial = _elliptical_score(law, k, distance, half, count)
        return Choice(_all_there(row), complete, partial)

    return [score(k) if law.seen[k] else None for k in range(len(law.seen))]


def _elliptical_score(
    law: EllipticalLaw, k: int, distance: Expression, half_log_det: Any, count: Expression
) -> Expression:
    """A class's score from its squared distance, over some columns."""
    match law.rule:
        case "femda":
            # A row at the location of a class would be infinitely likely there.
            least = Number(float(AT_LOCATION * law.middle[k]))
            return -0.5 * count * log(extreme([Shared(distance), least], ">")) - half_log_det
        case "student":
            dof = float(law.dof[k])
            numbers = np.arange(law.location.shape[1] + 1)
            constants = log_student_constant(law.dof[k : k + 1], numbers)
            grown = log1p(Shared(distance / dof))
            constant = Lookup(constants[:, None], Shared(count))
            return constant - half_log_det - 0.5 * (count + dof) * grown
        case "gaussian":
            return -0.5 * distance - half_log_det - float(0.5 * LOG_2PI) * count
        case _:
            return -0.5 * distance - law.threshold * half_log_det


@formulas.register
def _beside_constants(law: BesideConstants, row: Row) -> Scores:
    # Without the constant columns, which tell no class from another.
    return formulas(law.law, row.narrow(law.varying))


def _present(row: Row) -> Expression:
    """How many columns have a value."""
    return Shared(total([entry.unless_missing(Number(1.0)) for entry in row.entries]))


def _all_there(row: Row) -> All:
    """Whether every column has a value."""
    return All(tuple(entry.there for entry in row.entries if entry.there is not None))


def _distances(
    mean: np.ndarray, whitening: np.ndarray, row: Row, seen: np.ndarray
) -> list[Expression]:
    """Squared length of (x - m) @ W for each class, of a row without gaps."""
    if len(whitening) == 1:
        centre = mean.mean(axis=0)
        white, centres = _whitened(row, centre, whitening[0]), (mean - centre) @ whitening[0]
        return [
            _squares([white[e] - float(centres[k, e]) for e in range(len(white))])
            for k in range(len(mean))
        ]
    return [
        _squares(_whitened(row, mean[k], whitening[k])) if seen[k] else Number(0.0)
        for k in range(len(mean))
    ]


def _whitened(row: Row, centre: np.ndarray, whitening: np.ndarray) -> list[Expression]:
    """(x - m) @ W; the columns of W that are zero are left out."""
    apart = [Shared(entry.value - float(m)) for entry, m in zip(row.entries, centre, strict=True)]
    return [
        Shared(total([apart[j] * float(column[j]) for j in np.flatnonzero(column)]))
        for column in whitening.T
    ]


def _squares(parts: list[Expression]) -> Expression:
    shared = [Shared(part) for part in parts]
    return total([part * part for part in shared])


def _with_gaps(
    mean: np.ndarray, covariance: np.ndarray, row: Row, seen: np.ndarray
) -> list[tuple[Expression, Expression]]:
    """Squared distance and half the log-determinant of the columns that are there, per class."""
    if len(row) > MOST_CORRELATED:
        raise CannotExportError(
            f"Rows with gaps in {len(row)} correlated columns would need too long an expression; "
            f"at most {MOST_CORRELATED} can be written down. Set gaps=False to refuse such rows, "
            "or fit Gaussian('diag')."
        )
    there = [entry.unless_missing(Number(1.0)) for entry in row.entries]
    shared = [Shared(part) for part in there]
    factored: dict[int, tuple[list[list[Expression]], Expression, np.ndarray]] = {}
    found: list[tuple[Expression, Expression]] = []
    for k in range(len(mean)):
        if not seen[k]:
            found.append((Number(0.0), Number(0.0)))
            continue
        which = min(k, len(covariance) - 1)
        if which not in factored:
            factored[which] = _cholesky(covariance[which], shared)
        factor, half_log_det, scale = factored[which]
        solved: list[Expression] = []
        for i, entry in enumerate(row.entries):
            apart = entry.unless_missing((entry.value - float(mean[k, i])) / float(scale[i]))
            for j in range(i):
                apart = apart - factor[i][j] * solved[j]
            solved.append(Shared(apart / factor[i][i]))
        found.append((_squares(solved), half_log_det))
    return found


def _cholesky(
    covariance: np.ndarray, there: list[Shared]
) -> tuple[list[list[Expression]], Expression, np.ndarray]:
    """Factor of the correlations of the columns that are there, identity elsewhere."""
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    n = len(scale)
    factor: list[list[Expression]] = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i):
            value: Expression = float(correlation[i, j]) * there[i] * there[j]
            for e in range(j):
                value = value - factor[i][e] * factor[j][e]
            factor[i].append(Shared(value / factor[j][j]))
        square: Expression = Number(1.0)
        for e in range(i):
            square = square - factor[i][e] * factor[i][e]
        factor[i].append(Shared(Call("sqrt", (square,))))
    logs = [log(factor[i][i]) + float(np.log(scale[i])) * there[i] for i in range(n)]
    return factor, Shared(total(logs)), scale
