"""Log-densities against the same formulas at fifty digits, far tails and subnormals among the rows.

The reference takes the fitted numbers (means, scatters, shares, points) as they are and works out
the formula of the docstring with mpmath. The error is

    |found - true| / max(1, |true|),

relative where a log-density is large and absolute where it is near zero: there a relative error
means nothing, and an absolute one is the relative error of the density itself. It is at most 1e-12,
but for sums of kernels: their loops leave out less than 1e-7 of a sum and say so.
"""
# Longer than most files here: it is a list of formulas, each a few lines that stand alone.

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from densities import Listed, every_density

from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    Cells,
    Columns,
    Elliptical,
    Exponential,
    FuzzyProfiles,
    Gamma,
    GammaPrior,
    Gaussian,
    Histogram,
    Kernel,
    KMeansProfiles,
    LogNormal,
    MixtureProfiles,
    Multinomial,
    Neighbors,
    Poisson,
    Profiled,
    TreeProfiles,
    decide,
)
from bayesrule.notices import BayesRuleWarning
from bayesrule.settling import log_densities
from bayesrule.testing import Case, toy_rows

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp.clone()
mp.dps = 50
mpf = mp.mpf

#: Of one value's log-density; what a float's own rounding leaves is a few times 1e-16.
EXACT = 1e-12
#: Sums of kernels leave out less than 1e-7 of themselves.
SUMS = 2e-7
#: Squared distances that differ by less are equal but for rounding.
TIE = mpf(2e-10)
LARGEST = mpf(float(np.finfo(float).max))
LOG_2PI = mp.log(2 * mp.pi)

#: Of a fitted classifier and the place of a class, the log-density of a row.
Formula = Callable[[BayesClassifier, int], Callable[[Any], Any]]


@dataclass(frozen=True)
class Tried:
    """A density, rows to fit, a maker of rows to ask about, and its formula."""

    name: str
    density: Any
    formula: Formula
    rows: str = "real"
    gaps: bool = True
    tolerance: float = EXACT

    def __str__(self) -> str:
        return self.name


# ---------------------------------------------------------------------- rows

LABELS = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [40, 30, 20]))
EXTREME = np.array([0.0, 5e-324, 1e-310, 2.5e-308, 1e-160, 1e-16, 1.0, 1e16, 1e154, 1e200, 1.7e308])


def training_rows(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three columns, whose units differ by orders of magnitude."""
    rng = np.random.default_rng(1)
    if kind in ("real", "near"):
        X, y = toy_rows()
        return X * [1.0, 1e-3, 1e4] + [0.0, 0.3, 1e9], y
    if kind == "line":  # as many points as sums on a line are expanded for
        y = rng.integers(0, 2, 3000)
        return rng.normal(1e6 + y, 1.0 + y)[:, None], y
    mean = np.array([[1.0, 4.0, 2.0], [2.0, 1.0, 2.5], [6.0, 3.0, 0.6]])[LABELS]
    if kind == "positive":
        return rng.gamma(2.0, mean) * [1.0, 1e-3, 1e4], LABELS
    if kind == "flags":
        return (rng.random((90, 3)) < mean / 7).astype(float), LABELS
    scale = [1.0, 20.0, 1e4 if kind == "counts" else 300.0]
    return rng.poisson(mean * scale).astype(float), LABELS


def asked_rows(tried: Tried, n: int) -> np.ndarray:
    """Rows near the classes, far out, and of the smallest and the largest numbers there are."""
    rng = np.random.default_rng(2)
    X, _ = training_rows(tried.rows)
    asked = X[rng.integers(0, len(X), n)]
    if tried.rows == "line":
        return asked + 3.0 * X.std() * rng.standard_cauchy(asked.shape)
    if tried.rows == "flags":
        asked = rng.integers(0, 2, asked.shape).astype(float)
    elif tried.rows in ("counts", "baskets"):
        # In the middle of the law, in its tails, and as many as a float can count.
        most = 5 if tried.rows == "baskets" else 15
        far = np.floor(10.0 ** rng.uniform(0, most, asked.shape))
        asked = np.where(rng.random(asked.shape) < 0.2, far, asked)
        asked = np.where(rng.random(asked.shape) < 0.5, rng.poisson(asked.clip(max=1e6)), asked)
        asked = np.where(rng.random(asked.shape) < 0.1, 0.0, asked)
    else:
        spread = X.std(axis=0)
        asked = asked + rng.normal(size=asked.shape) * spread
        far = spread * rng.standard_cauchy(asked.shape) * 10.0 ** rng.uniform(-8, 8, asked.shape)
        asked = np.where(rng.random(asked.shape) < 0.2, asked + far, asked)
        if tried.rows != "near":
            extreme = rng.choice(EXTREME, asked.shape) * rng.choice([-1.0, 1.0], asked.shape)
            asked = np.where(rng.random(asked.shape) < 0.1, extreme, asked)
        exact = rng.random(n) < 0.1
        asked[exact] = X[rng.integers(0, len(X), exact.sum())]
        if tried.rows == "positive":
            asked = np.abs(asked)
    if tried.gaps:
        asked[rng.random(asked.shape) < 0.05] = np.nan
    return asked


def numbers(row: Any) -> list[tuple[int, Any]]:
    """Columns that are there, with their exact values."""
    return [(j, mpf(float(x))) for j, x in enumerate(row) if not np.isnan(x)]


# ---------------------------------------------------------------------- formulas


def log_normal(x: Any, mean: Any, variance: Any) -> Any:
    return -(LOG_2PI + mp.log(variance) + (x - mean) ** 2 / variance) / 2


def log_student(square: Any, dof: Any, n: int, half_log_det: Any) -> Any:
    """From a squared distance over n columns."""
    constant = mp.loggamma((dof + n) / 2) - mp.loggamma(dof / 2) - n * mp.log(dof * mp.pi) / 2
    return constant - half_log_det - (dof + n) / 2 * mp.log1p(square / dof)


class Quadratic:
    """(x - m)' S^-1 (x - m) and half log det S over the columns that are there."""

    def __init__(self, mean: np.ndarray, scatter: np.ndarray):
        self.mean, self.scatter = [mpf(float(m)) for m in mean], scatter
        self.known: dict[tuple[int, ...], Any] = {}

    def inverse_of(self, columns: tuple[int, ...]) -> tuple[Any, Any]:
        """The inverse of a margin, and half its log-determinant."""
        if columns not in self.known:
            part = mp.matrix([[mpf(float(self.scatter[i, j])) for j in columns] for i in columns])
            half = mp.log(mp.det(part)) / 2 if columns else mpf(0)
            self.known[columns] = (part**-1).tolist() if columns else [], half
        return self.known[columns]

    def __call__(self, row: Any) -> tuple[Any, int, Any]:
        there = numbers(row)
        columns = tuple(j for j, _ in there)
        inverse, half = self.inverse_of(columns)
        apart = [x - self.mean[j] for j, x in there]
        square = mp.fsum(
            a * b * inverse[i][j] for i, a in enumerate(apart) for j, b in enumerate(apart)
        )
        return square, len(columns), half


def diagonal_gaussian(clf: Any, k: int) -> Any:
    law = clf.log_density_
    mean, variance = law.mean[k].astype(object) * mpf(1), law.variance[k].astype(object) * mpf(1)
    return lambda row: mp.fsum(log_normal(x, mean[j], variance[j]) for j, x in numbers(row))


def full_gaussian(clf: Any, k: int) -> Any:
    law = clf.log_density_
    quadratic = Quadratic(law.mean[k], law.covariance[min(k, len(law.covariance) - 1)])

    def value(row: Any) -> Any:
        square, n, half = quadratic(row)
        return -(square + n * LOG_2PI) / 2 - half

    return value


def diagonal_student(clf: Any, k: int) -> Any:
    law = clf.log_density_
    location, scale, dof = (
        [mpf(float(v)) for v in values[k]] for values in (law.location, law.scale, law.dof)
    )
    return lambda row: mp.fsum(
        log_student(((x - location[j]) / scale[j]) ** 2, dof[j], 1, mp.log(scale[j]))
        for j, x in numbers(row)
    )


def spherical_student(clf: Any, k: int) -> Any:
    law = clf.log_density_
    location, scale = ([mpf(float(v)) for v in values[k]] for values in (law.location, law.scale))

    def value(row: Any) -> Any:
        there = numbers(row)
        square = mp.fsum(((x - location[j]) / scale[j]) ** 2 for j, x in there)
        half = mp.fsum(mp.log(scale[j]) for j, _ in there)
        return log_student(square, mpf(float(law.dof[k])), len(there), half)

    return value


def full_student(clf: Any, k: int) -> Any:
    law = clf.log_density_
    quadratic = Quadratic(law.location[k], law.scatter[min(k, len(law.scatter) - 1)])
    stretch, dof = mpf(float(law.stretch[k])), mpf(float(law.dof[k]))

    def value(row: Any) -> Any:
        square, n, half = quadratic(row)
        return log_student(square / stretch, dof, n, half + n * mp.log(stretch) / 2)

    return value


def elliptical(clf: Any, k: int) -> Any:
    law = clf.log_density_
    quadratic = Quadratic(law.location[k], law.scatter[min(k, len(law.scatter) - 1)])
    at_location = mpf(1e-10) * mpf(float(law.middle[k]))

    def value(row: Any) -> Any:
        square, n, half = quadratic(row)
        match law.rule:
            case "femda":
                return -n * mp.log(max(square, at_location)) / 2 - half
            case "student":
                return log_student(square, mpf(float(law.dof[k])), n, half)
            case "gaussian":
                return -(square + n * LOG_2PI) / 2 - half
            case _:
                return -square / 2 - mpf(float(law.threshold)) * half

    return value


def by_column(of_column: Callable[[Any, int, int], Callable[[Any], Any]]) -> Formula:
    """The sum over columns of a formula of (law, k, j)."""

    def formula(clf: Any, k: int) -> Any:
        columns = [of_column(clf.log_density_, k, j) for j in range(3)]
        return lambda row: mp.fsum(columns[j](x) for j, x in numbers(row))

    return formula


def poisson(law: Any, k: int, j: int) -> Any:
    rate = mpf(float(law.rate[k, j]))
    return lambda x: x * mp.log(rate) - rate - mp.loggamma(x + 1)


def negative_binomial(law: Any, k: int, j: int) -> Any:
    shape, rate = mpf(float(law.shape[k, j])), mpf(float(law.rate[k, j]))
    return lambda x: (
        mp.loggamma(shape + x)
        - mp.loggamma(shape)
        - mp.loggamma(x + 1)
        - shape * mp.log1p(1 / rate)
        - x * mp.log1p(rate)
    )


def exponential(law: Any, k: int, j: int) -> Any:
    rate = mpf(float(law.rate[k, j]))
    return lambda x: mp.log(rate) - rate * x


def lomax(law: Any, k: int, j: int) -> Any:
    shape, scale = mpf(float(law.shape[k, j])), mpf(float(law.scale[k, j]))
    return lambda x: mp.log(shape / scale) - (shape + 1) * mp.log1p(x / scale)


def with_zeros(of_value: Callable[[Any], Any], law: Any, k: int, j: int) -> Any:
    log_zero, log_positive = mpf(float(law.log_zero[k, j])), mpf(float(law.log_positive[k, j]))
    return lambda x: log_zero if x == 0 else of_value(x) + log_positive


def gamma(law: Any, k: int, j: int) -> Any:
    a, mean = mpf(float(law.shape[k, j])), mpf(float(law.mean[k, j]))
    constant = a * mp.log(a / mean) - mp.loggamma(a)
    return with_zeros(lambda x: constant + (a - 1) * mp.log(x) - a * x / mean, law, k, j)


def of_logarithms(law: Any, k: int, j: int) -> Any:
    inner = law.of_logs
    if hasattr(inner, "variance"):
        mean, variance = mpf(float(inner.mean[k, j])), mpf(float(inner.variance[k, j]))
        return with_zeros(lambda x: log_normal(mp.log(x), mean, variance) - mp.log(x), law, k, j)
    location, scale, dof = (mpf(float(v[k, j])) for v in (inner.location, inner.scale, inner.dof))
    return with_zeros(
        lambda x: (
            log_student(((mp.log(x) - location) / scale) ** 2, dof, 1, mp.log(scale)) - mp.log(x)
        ),
        law,
        k,
        j,
    )


def histogram_bin(edges: np.ndarray, x: Any) -> tuple[int, Any]:
    """Bin of a value, and the density of a bin of mass one there."""
    edges = [mpf(float(e)) for e in edges]
    level = sum(x >= e for e in edges)
    reach = edges[-1] - edges[0]
    if level == 0:
        return level, reach / (reach + edges[0] - x) ** 2
    if level == len(edges):
        return level, reach / (reach + x - edges[-1]) ** 2
    return level, 1 / (edges[level] - edges[level - 1])


def histogram_columns(clf: Any, k: int) -> Any:
    law, stats = clf.log_density_, clf.stats_

    def value(row: Any) -> Any:
        total = mpf(0)
        for j, x in numbers(row):
            edges = law.edges[j]
            level, density = histogram_bin(edges, x)
            start = sum(len(e) + 1 for e in law.edges[:j])
            counts = [mpf(float(c)) for c in stats.sums[k, start : start + len(edges) + 1]]
            mass = mpf(1) / 4
            if 0 < level < len(edges):
                width = mpf(float(edges[level])) - mpf(float(edges[level - 1]))
                mass = width / (mpf(float(edges[-1])) - mpf(float(edges[0]))) / 2
            smoothing = mpf(float(clf.density.smoothing))
            share = (counts[level] + smoothing * mass) / (mp.fsum(counts) + smoothing)
            total += mp.log(share * density)
        return total

    return value


def histogram_joint(clf: Any, k: int) -> Any:
    law = clf.log_density_
    from bayesrule.addresses import levels_at

    levels = levels_at(law.addresses, law.shape)
    smoothing, whole = mpf(float(law.smoothing)), mpf(float(law.counts[k].sum()))

    def value(row: Any) -> Any:
        counted, thin, mine = mpf(1), smoothing, np.ones(len(levels), bool)
        for j, x in numbers(row):
            edges = law.edges[j]
            level, density = histogram_bin(edges, x)
            mass = mpf(1) / 4
            if 0 < level < len(edges):
                width = mpf(float(edges[level])) - mpf(float(edges[level - 1]))
                mass = width / (mpf(float(edges[-1])) - mpf(float(edges[0]))) / 2
            mine &= levels[:, j] == level
            counted, thin = counted * density, thin * density * mass
        held = mpf(float(law.counts[k][mine].sum()))
        return mp.log((held * counted + thin) / (whole + smoothing))

    return value


PROFILES = {
    "gaussian": lambda u: mp.exp(-u * u / 2),
    "laplace": lambda u: mp.exp(-u),
    "logistic": lambda u: mp.exp(-u) / (1 + mp.exp(-u)) ** 2,
    "square": lambda u: mpf(u <= 0.5),
    "triangle": lambda u: max(1 - u, mpf(0)),
    "epanechnikov": lambda u: max(1 - u * u, mpf(0)),
    "biweight": lambda u: max(1 - u * u, mpf(0)) ** 2,
    "triweight": lambda u: max(1 - u * u, mpf(0)) ** 3,
    "tricube": lambda u: max(1 - u**3, mpf(0)) ** 3,
    "cosine": lambda u: mp.cos(mp.pi * u / 2) if u < 1 else mpf(0),
}


def bump_sum(bumps: Any) -> Callable[[Any], Any]:
    """A product of bumps, or a radial one, at every point."""
    name, product = bumps.shape.name, bumps.product
    profile = PROFILES[name]
    end = mpf(bumps.shape.reach) if np.isfinite(bumps.shape.reach) else mp.inf
    points = [[mpf(float(v)) for v in point] for point in bumps.points.rows]
    weights = [mpf(float(w)) for w in bumps.points.weights]
    n = len(points[0])
    if bumps.width.ndim == 1:
        width = [mpf(float(w)) for w in bumps.width]
        quadratic = Quadratic(np.zeros(n), np.diag(bumps.width))  # not used for products
    else:
        quadratic = Quadratic(np.zeros(n), bumps.width)

    def volume(m: int) -> Any:
        if product or m == 1:
            return (2 * mp.quad(profile, [0, end])) ** m
        sphere = 2 * mp.pi ** (mpf(m) / 2) / mp.gamma(mpf(m) / 2)
        return sphere * mp.quad(lambda r: r ** (m - 1) * profile(r), [0, end])

    volumes = {m: volume(m) for m in range(1, n + 1)}

    def value(row: Any) -> Any:
        there = numbers(row)
        if not there:
            return mpf(0)
        total = mpf(0)
        if bumps.width.ndim == 1:
            log_width = mp.fsum(mp.log(width[j]) for j, _ in there)
            for point, weight in zip(points, weights, strict=True):
                apart = [abs(x - point[j]) / width[j] for j, x in there]
                if product:
                    total += weight * mp.fprod(profile(u) for u in apart)
                else:
                    total += weight * profile(mp.sqrt(mp.fdot(apart, apart)))
        else:
            inverse, log_width = quadratic.inverse_of(tuple(range(n)))
            for point, weight in zip(points, weights, strict=True):
                apart = [x - point[j] for j, x in there]
                square = mp.fsum(
                    a * b * inverse[i][j] for i, a in enumerate(apart) for j, b in enumerate(apart)
                )
                total += weight * profile(mp.sqrt(square))
        if total == 0:
            return -mp.inf
        return mp.log(total / volumes[len(there)] / mp.fsum(weights)) - log_width

    return value


def kernel(clf: Any, k: int) -> Any:
    return bump_sum(clf.log_density_.bumps[k])


def kernel_columns(clf: Any, k: int) -> Any:
    columns = [
        bump_sum(of_column) for of_column in [column[k] for column in clf.log_density_.columns]
    ]
    return lambda row: mp.fsum(columns[j](row[[j]]) for j, _ in numbers(row))


def categorical(clf: Any, k: int) -> Any:
    alpha, stats = mpf(clf.density.alpha), clf.stats_

    def value(row: Any) -> Any:
        total = mpf(0)
        for j, x in numbers(row):
            pairs = zip(stats.categories[j], stats.counts[j][k], strict=True)
            counts = {float(c): mpf(float(n)) for c, n in pairs}
            share = counts.get(float(x), mpf(0)) + alpha
            total += mp.log(share / (mp.fsum(counts.values()) + alpha * len(counts)))
        return total

    return value


def bernoulli(clf: Any, k: int) -> Any:
    alpha, stats = mpf(clf.density.alpha), clf.stats_

    def value(row: Any) -> Any:
        total = mpf(0)
        for j, x in numbers(row):
            whole, ones = mpf(float(stats.weight[k, j])), mpf(float(stats.sums[k, j]))
            share = (ones if x > 0 else whole - ones) + alpha
            total += mp.log(share / (whole + 2 * alpha))
        return total

    return value


def multinomial(clf: Any, k: int) -> Any:
    pseudo = [mpf(float(c)) + mpf(float(clf.density.alpha)) for c in clf.stats_.sums[k]]
    shares = [mp.log(a / mp.fsum(pseudo)) for a in pseudo]
    return lambda row: mp.fsum(x * shares[j] for j, x in numbers(row))


def compound(clf: Any, k: int) -> Any:
    pseudo = [mpf(float(c)) + mpf(float(clf.density.alpha)) for c in clf.stats_.sums[k]]
    whole = mp.fsum(pseudo)

    def value(row: Any) -> Any:
        counts = numbers(row)
        length = mp.fsum(x for _, x in counts)
        rise = mp.fsum(mp.loggamma(pseudo[j] + x) - mp.loggamma(pseudo[j]) for j, x in counts)
        return rise - mp.loggamma(whole + length) + mp.loggamma(whole)

    return value


def neighbors(clf: Any, k: int) -> Any:
    """Votes of the rows within the distance of the last neighbour, found by sorting them all."""
    wanted, (X, y) = clf.density.k, training_rows("near")
    rows = [[mpf(float(v)) for v in row] for row in X]
    n = int((y == k).sum())

    def value(row: Any) -> Any:
        x = [v for _, v in numbers(row)]
        apart = sorted(
            (mp.fsum((a - b) ** 2 for a, b in zip(x, other, strict=True)), label)
            for other, label in zip(rows, y, strict=True)
        )
        last = apart[wanted - 1][0]
        # Rows as far away as the last neighbour, up to rounding, share what it leaves.
        inside = [label == k for square, label in apart if square < last * (1 - TIE)]
        tied = [label == k for square, label in apart if abs(square - last) <= last * TIE]
        votes = sum(inside) + mpf(sum(tied)) * (wanted - len(inside)) / len(tied)
        return mp.log(votes / n) if votes else -mp.inf

    return value


def cells(clf: Any, k: int) -> Any:
    """The share of a class in the cell of a row."""
    boundaries, counts = clf.density_.boundaries_, clf.stats_.sums
    shape = [len(b) + 1 for b in boundaries]
    whole = mpf(float(counts[k].sum()))

    def value(row: Any) -> Any:
        place = tuple(sum(x >= mpf(float(b)) for b in boundaries[j]) for j, x in numbers(row))
        cell = np.ravel_multi_index(place, shape)
        if not counts[:, cell].any():
            return mpf(0)
        share = mpf(float(counts[k, cell])) / whole
        return mp.log(share) if share else -mp.inf

    return value


def profiled(memberships: Callable[[Any, Any], list[Any]]) -> Formula:
    """log sum_t p_kt / p_t u_t(x), the memberships u_t by hand."""

    def formula(clf: Any, k: int) -> Any:
        stats, law = clf.stats_, clf.log_density_
        weight = [mpf(float(w)) for w in stats.weight]
        sums = [[mpf(float(s)) for s in row] for row in stats.sums]
        table = [[s / w for s in row] for row, w in zip(sums, weight, strict=True)]
        whole = [mp.fsum(row[t] for row in sums) / mp.fsum(weight) for t in range(len(sums[0]))]
        ratio = [table[k][t] / whole[t] if whole[t] else mpf(1) for t in range(len(whole))]

        def value(row: Any) -> Any:
            shares = memberships(law.partition, [x for _, x in numbers(row)])
            total = mp.fdot(ratio, shares)
            return mp.log(total) if total > 0 else -mp.inf

        return value

    return formula


def mapped(metric: Any, x: list[Any]) -> list[Any]:
    """A row as a metric sees it."""
    apart = [v - mpf(float(s)) for v, s in zip(x, metric.shift, strict=True)]
    matrix = np.asarray(metric.matrix)
    if matrix.ndim == 1:
        return [v * mpf(float(m)) for v, m in zip(apart, matrix, strict=True)]
    return [mp.fdot(apart, [mpf(float(m)) for m in column]) for column in matrix.T]


def squares(partition: Any, x: list[Any]) -> list[Any]:
    x = mapped(partition.metric, x)
    return [
        mp.fsum((v - mpf(float(c))) ** 2 for v, c in zip(x, centre, strict=True))
        for centre in partition.columns.T
    ]


def fuzzy(partition: Any, x: list[Any]) -> list[Any]:
    apart = squares(partition, x)
    least = min(apart)
    if least == 0:
        return [mpf(a == 0) / sum(b == 0 for b in apart) for a in apart]
    power = 1 / (mpf(float(partition.fuzziness)) - 1)
    near = [(least / a) ** power for a in apart]
    return [v / mp.fsum(near) for v in near]


def nearest(partition: Any, x: list[Any]) -> list[Any]:
    apart = squares(partition, x)
    return [mpf(t == apart.index(min(apart))) for t in range(len(apart))]


def mixture(partition: Any, x: list[Any]) -> list[Any]:
    x = mapped(partition.metric, x)
    logs = []
    for weight, mean, white in zip(
        partition.weights, partition.means, partition.whitening, strict=True
    ):
        apart = [v - mpf(float(m)) for v, m in zip(x, mean, strict=True)]
        if white.ndim == 1:
            apart = [v * mpf(float(w)) for v, w in zip(apart, white, strict=True)]
            lengths = white
        else:
            apart = [mp.fdot(apart, [mpf(float(w)) for w in column]) for column in white.T]
            lengths = np.diag(white)
        log_volume = mp.fsum(mp.log(abs(mpf(float(v)))) for v in lengths)
        logs.append(mp.log(mpf(float(weight))) + log_volume - mp.fdot(apart, apart) / 2)
    joint = [mp.exp(v - max(logs)) for v in logs]
    return [v / mp.fsum(joint) for v in joint]


def in_blocks(*formulas: Formula) -> Formula:
    """A sum over single columns, each with a law of its own."""

    def formula(clf: Any, k: int) -> Any:
        terms = []
        for j, of_block in enumerate(formulas):
            law, block = clf.log_density_.laws[j], clf.density_.blocks[j]
            part = type("Part", (), {})()
            part.log_density_, part.stats_ = law, clf.stats_.parts[j]
            part.density, part.density_ = block.density, clf.density_.prepared[j]
            terms.append(of_block(part, k))
        return lambda row: mp.fsum(term(row[[j]]) for j, term in enumerate(terms))

    return formula


HALF = GammaPrior(0.5, 0.25)
TRIED = [
    Tried("gaussian-diag", Gaussian("diag"), diagonal_gaussian),
    Tried("gaussian-spherical", Gaussian("spherical"), diagonal_gaussian),
    Tried("gaussian-full", Gaussian("full"), full_gaussian),
    Tried("gaussian-tied", Gaussian("tied"), full_gaussian),
    Tried("gaussian-tied-near", Gaussian("tied"), full_gaussian, "near", gaps=False),
    Tried("gaussian-map", Gaussian("full", estimate="map"), full_gaussian),
    Tried("student-diag", Gaussian("diag", estimate="predictive"), diagonal_student),
    Tried("student-spherical", Gaussian("spherical", estimate="predictive"), spherical_student),
    Tried("student-full", Gaussian("full", estimate="predictive"), full_student),
    Tried("student-tied", Gaussian("tied", estimate="predictive"), full_student),
    Tried("femda", Elliptical("tyler"), elliptical),
    Tried("femda-tied", Elliptical("tyler", tied=True), elliptical),
    Tried("t-qda", Elliptical("student"), elliptical),
    Tried("gqda", Elliptical("huber", rule="gqda"), elliptical),
    Tried("elliptical-sample", Elliptical("sample"), elliptical),
    Tried("poisson", Poisson(), by_column(poisson), "counts"),
    Tried(
        "poisson-predictive", Poisson(HALF, "predictive"), by_column(negative_binomial), "counts"
    ),
    Tried("exponential", Exponential(), by_column(exponential), "positive"),
    Tried("exponential-predictive", Exponential(HALF, "predictive"), by_column(lomax), "positive"),
    Tried("gamma", Gamma(), by_column(gamma), "positive"),
    Tried("log-normal", LogNormal(), by_column(of_logarithms), "positive"),
    Tried("log-normal-predictive", LogNormal("predictive"), by_column(of_logarithms), "positive"),
    Tried("histogram", Histogram(), histogram_columns),
    Tried("histogram-blocks", Histogram("blocks", smoothing=0.5), histogram_columns),
    Tried("histogram-joint", Histogram(4, joint=True), histogram_joint),
    Tried("categorical", Categorical(0.5), categorical, "flags"),
    Tried("bernoulli", Bernoulli(), bernoulli, "flags"),
    Tried("multinomial", Multinomial(0.1), multinomial, "baskets", gaps=False),
    Tried("compound", Multinomial(0.3, "predictive"), compound, "baskets", gaps=False),
    Tried("neighbors", Neighbors(5), neighbors, "near", gaps=False),
    Tried("cells", Cells(30), cells, "near", gaps=False),
    Tried("kmeans", Profiled(KMeansProfiles(6)), profiled(nearest), "near", gaps=False),
    Tried("fuzzy", Profiled(FuzzyProfiles(6, 1.3)), profiled(fuzzy), "near", gaps=False),
    Tried("mixture", Profiled(MixtureProfiles(4)), profiled(mixture), "near", gaps=False),
    Tried(
        "columns",
        Columns({0: Gaussian("diag"), 1: Histogram(5), 2: Gaussian("diag", estimate="predictive")}),
        in_blocks(diagonal_gaussian, histogram_columns, diagonal_student),
    ),
    *(Tried(f"kernel-{name}", Kernel(name), kernel, "real", tolerance=SUMS) for name in PROFILES),
    *(
        Tried(
            f"kernel-radial-{name}",
            Kernel(name, product=False),
            kernel,
            "real",
            gaps=False,
            tolerance=SUMS,
        )
        for name in PROFILES
    ),
    Tried("kernel-columns", Kernel(joint=False), kernel_columns, "real", tolerance=SUMS),
    Tried("kernel-line", Kernel(), kernel, "line", gaps=False, tolerance=SUMS),
]


def errors(tried: Tried, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that were asked about, and the error of each class's log-density."""
    X, y = training_rows(tried.rows)
    asked = asked_rows(tried, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        clf = BayesClassifier(tried.density).fit(X, y)
    found = clf.log_density(asked)
    formulas = [tried.formula(clf, k) for k in range(found.shape[1])]
    wrong = np.empty(found.shape)
    for i, row in enumerate(asked):
        for k, formula in enumerate(formulas):
            wrong[i, k] = error(found[i, k], formula(row))
    return asked, wrong


def error(found: float, true: Any) -> float:
    """Relative where the truth is large, absolute near zero.

    Of what no float can hold, infinity is right; it will do from -1e307 on, where a square may
    overflow before it is halved.
    """
    if not np.isfinite(found):
        return 0.0 if found == -np.inf and true < -1e307 else np.inf
    if abs(true) > LARGEST:
        return 0.0 if true * found > 0 and abs(found) > 0.999999 * float(LARGEST) else np.inf
    return float(abs(mpf(float(found)) - true) / max(1, abs(true)))


@pytest.mark.parametrize("tried", TRIED, ids=str)
def test_log_densities_are_those_of_fifty_digits(tried: Tried) -> None:
    n = 100 if tried.tolerance == EXACT else 10
    asked, wrong = errors(tried, 3 if tried.rows == "line" else n)
    i, k = np.unravel_index(np.argmax(wrong), wrong.shape)
    assert wrong[i, k] <= tried.tolerance, f"class {k} at {asked[i]}"


@pytest.mark.slow
@pytest.mark.parametrize("tried", TRIED, ids=str)
def test_ten_thousand_log_densities_are_those_of_fifty_digits(tried: Tried) -> None:
    asked, wrong = errors(tried, int(os.environ.get("BAYESRULE_TEST_POINTS", "10000")))
    i, k = np.unravel_index(np.argmax(wrong), wrong.shape)
    print(f"{tried}: {len(asked)} rows, largest error {wrong[i, k]:.1e} at {asked[i]}")
    assert wrong[i, k] <= tried.tolerance, f"class {k} at {asked[i]}"


# ---------------------------------------------------------------------- posteriors


def extreme_log_densities(n: int, n_classes: int, seed: int) -> np.ndarray:
    """Log-densities of all sizes from -1e300 to 0, some of them equal or minus infinity."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 300, (n, 1))
    spread = 10.0 ** rng.uniform(-3, 4, (n, 1))
    near = -size - spread * rng.random((n, n_classes))
    apart = -(10.0 ** rng.uniform(-300, 300, (n, n_classes)))
    values = np.where(rng.random((n, 1)) < 0.5, near, apart)
    values[rng.random(values.shape) < 0.1] = -np.inf
    values[rng.random(values.shape) < 0.1] = 0.0
    return np.maximum(values, -1e300, where=np.isfinite(values), out=values)


@pytest.mark.parametrize("n_classes", [2, 3, 17, 200])
def test_posteriors_sum_to_one_wherever_log_densities_lie(n_classes: int) -> None:
    values = extreme_log_densities(2000, n_classes, seed=n_classes)
    priors = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.5))
    priors[0] = 0.0
    priors /= priors.sum()
    values[:50, 1:] = -np.inf  # no class with a prior supports these
    posterior, log_marginal, lost = decide.posterior(values, priors)
    supported = (np.isfinite(values) & (priors > 0)).any(axis=1)
    assert lost == (~supported).sum() >= 50
    assert np.abs(posterior.sum(axis=1) - 1.0).max() <= 1e-12
    assert (posterior >= 0).all()
    np.testing.assert_allclose(posterior[~supported], np.tile(priors, (lost, 1)), rtol=1e-14)
    log_priors = [mp.log(mpf(float(p))) if p else -mp.inf for p in priors]
    for i in np.flatnonzero(supported)[:: 100 if n_classes < 100 else 500]:
        joint = [
            mpf(float(v)) + p if np.isfinite(v) and p > -mp.inf else -mp.inf
            for v, p in zip(values[i], log_priors, strict=True)
        ]
        top = max(joint)
        weights = [mp.exp(v - top) if v > -mp.inf else mpf(0) for v in joint]
        whole = mp.fsum(weights)
        true = np.array([float(w / whole) for w in weights])
        # The sum of a log-density and a log-prior is rounded to a float before the exponential.
        rounding = 4e-16 * max(1.0, float(-top)) if float(-top) < 1e15 else 1.0
        np.testing.assert_allclose(posterior[i], true, atol=max(1e-12, rounding))
        assert error(log_marginal[i], top + mp.log(whole)) <= EXACT


def test_decisions_are_those_of_the_posteriors_wherever_log_densities_lie() -> None:
    values = extreme_log_densities(4000, 4, seed=0)
    priors = np.array([0.1, 0.0, 0.6, 0.3])
    posterior, _, _ = decide.posterior(values, priors)
    rng = np.random.default_rng(1)
    for gain in (np.eye(4), rng.normal(size=(4, 6))):
        best, _ = decide.best_decisions(values, priors, gain)
        np.testing.assert_array_equal(best, decide.expected_gains(posterior, gain).argmax(axis=1))


# ---------------------------------------------------------------------- units and places


def dyadic_rows() -> tuple[np.ndarray, np.ndarray]:
    """Rows that a shift by a thousand million leaves exactly as far apart as they were."""
    X, y = toy_rows()
    return np.round(X * 2.0**20) / 2.0**20, y


def decisions(density: Any, change: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What is decided about rows and places between them, all changed alike."""
    X, y = dyadic_rows()
    middle = np.round((X + np.roll(X, 1, axis=0)) * 2.0**19) / 2.0**20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        clf = BayesClassifier(density).fit(change(X), y)
        return clf.predict(change(np.vstack([X, middle])))


@every_density()
def test_other_units_and_places_change_no_decision(listed: Listed) -> None:
    claims = listed.claims.get("equivariant", ("shift", "scale"))
    if "X" in listed.claims or not claims:
        pytest.skip("it makes no such claim on real numbers")
    plain = decisions(listed.density, lambda X: X)
    changes: dict[str, Callable[[np.ndarray], np.ndarray]] = {}
    if "scale" in claims:
        changes |= {f"times {factor}": partial(np.multiply, factor) for factor in (1e-12, 1e12)}
    if "shift" in claims:
        changes["plus 1e9"] = partial(np.add, 1e9)
    for what, change in changes.items():
        found = decisions(listed.density, change)
        np.testing.assert_array_equal(found, plain, err_msg=what)


def moved(X: np.ndarray, times: np.ndarray, plus: np.ndarray) -> np.ndarray:
    return X * times + plus


#: Densities that treat every column in its own unit.
BY_COLUMN = [
    Gaussian("diag"),
    Gaussian("full"),
    Gaussian("tied"),
    Gaussian("full", shrinkage="auto"),
    Gaussian("diag", estimate="predictive"),
    Gaussian("full", estimate="predictive"),
    Elliptical("tyler"),
    Elliptical("student"),
    Elliptical("mcd"),
    Histogram(),
    Histogram("doane", joint=True),
    Cells(40),
    Kernel(),
    Kernel("cosine", "isj", joint=False),
    Neighbors(5, "standardised"),
    Profiled(KMeansProfiles(6, "standardised")),
    Profiled(TreeProfiles(8)),
]


@pytest.mark.parametrize("density", BY_COLUMN, ids=repr)
def test_the_unit_and_the_place_of_one_column_change_no_decision(density: Any) -> None:
    plain = decisions(density, lambda X: X)
    for factor, shift in ((1e-12, 0.0), (1e12, 0.0), (1.0, 1e9)):
        for j in range(3):

            def change(
                X: np.ndarray, j: int = j, a: float = factor, b: float = shift
            ) -> np.ndarray:
                changed = X.copy()
                changed[:, j] = a * X[:, j] + b
                return changed

            found = decisions(density, change)
            np.testing.assert_array_equal(found, plain, err_msg=f"{factor} x{j} + {shift}")


# ---------------------------------------------------------------------- weights


def check_weights(listed: Listed, n_sets: int) -> None:
    """Random whole weights, zeros and large ones among them, count like repeated rows."""
    case = case_of(listed)
    prepared, table, memberships = case.counted()
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        weights = rng.integers(0, 4, len(case.y)) * rng.choice([1, 1, 1, 7], len(case.y))
        repeated, there = np.repeat(np.arange(len(case.y)), weights), np.flatnonzero(weights)
        weighted = replace(memberships, weights=weights.astype(float))
        settled = [
            prepared.settle(prepared.tally(table.take(rows), members.take(rows)))
            for rows, members in ((there, weighted), (repeated, memberships))
        ]
        by_weight, by_hand = (
            decide.posterior(log_densities(law, table), np.full(3, 1 / 3))[0] for law in settled
        )
        np.testing.assert_allclose(
            by_weight, by_hand, rtol=case.tolerance, atol=case.tolerance, err_msg=f"set {seed}"
        )


def case_of(listed: Listed) -> Case:
    """A density with the data it is tried on."""
    claims = dict(listed.claims)
    if "X" not in claims:
        claims["X"], claims["y"] = toy_rows()
    return Case(listed.density, **claims)


@every_density()
@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
def test_random_weights_repeat_rows(listed: Listed) -> None:
    check_weights(listed, 3)


@pytest.mark.slow
@every_density()
@pytest.mark.filterwarnings("ignore::bayesrule.notices.BayesRuleWarning")
def test_two_hundred_random_weights_repeat_rows(listed: Listed) -> None:
    check_weights(listed, 200)
