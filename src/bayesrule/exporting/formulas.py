"""What laws compute, told as arithmetic: one short function for each kind of law.

``formulas(law, row)`` gives an expression of the log-density of each class, up to a term common to
the classes; None for a class without a density. ``read(prepared, law, row)`` is its counterpart
for what was learned before counting: which numbers the law sees of a row of X. A kind of law that
is not registered here cannot leave Python, and says so.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from bayesrule.columns import ColumnsLaw, FittedColumns
from bayesrule.density import Density, LogDensity
from bayesrule.discrete import Bernoulli, BernoulliLaw, CategoricalLaw
from bayesrule.exporting.arithmetic import (
    IMPOSSIBLE,
    NOTHING,
    CannotExportError,
    Choice,
    Compared,
    Expression,
    Level,
    Lookup,
    Number,
    Shared,
)
from bayesrule.exporting.rows import Row
from bayesrule.exporting.terms import (
    exp,
    extreme,
    increasing,
    log,
    log1p,
    polynomial,
    total,
)
from bayesrule.histogram import FittedHistogram
from bayesrule.histogram_laws import HistogramColumnsLaw
from bayesrule.kernels.rates import LARGE, gamma_constants, stirling_remainder
from bayesrule.lending import LentLaw
from bayesrule.nonnegative import Nonnegative
from bayesrule.positive import GammaLaw, LogNormalLaw
from bayesrule.rates import ExponentialLaw, LomaxLaw, NegativeBinomialLaw, PoissonLaw
from bayesrule.whole import FittedWhole, SplitLaw

#: The log-density of each class; None for a class that has none.
Scores = list[Expression | None]


@singledispatch
def formulas(law: Any, row: Row) -> Scores:
    """Log-density of each class, up to a term common to the classes."""
    raise CannotExportError(
        f"A density of the kind {type(law).__name__} has no form outside of Python: its answer "
        "rests on rows or programs that cannot be written down as arithmetic. Fit a model of "
        "another kind, such as recipes.naive_bayes(), recipes.qda() or recipes.dbc()."
    )


@singledispatch
def read(prepared: Any, law: LogDensity, row: Row) -> Scores:
    """Log-density of each class, of a row as X has it."""
    return formulas(law, row)


@read.register
def _density(prepared: Density, law: LogDensity, row: Row) -> Scores:
    return formulas(law, row.reading(gaps=prepared.accept_missing))


@read.register
def _nonnegative(prepared: Nonnegative, law: LogDensity, row: Row) -> Scores:
    return formulas(law, row.reading(gaps=True, least=0.0))


@read.register
def _zero_or_one(prepared: Bernoulli, law: LogDensity, row: Row) -> Scores:
    only = (0.0, 1.0) if prepared.threshold is None else ()
    return formulas(law, row.reading(gaps=True, only=only))


# ---------------------------------------------------------------------- laws side by side


def added(parts: list[Scores]) -> Scores:
    """The sum of the log-densities of independent parts."""
    found: Scores = []
    for terms in zip(*parts, strict=True):
        known = [term for term in terms if term is not None]
        found.append(total(known) if len(known) == len(terms) else None)
    return found


@read.register
def _columns(prepared: FittedColumns, law: ColumnsLaw, row: Row) -> Scores:
    parts = []
    for block, inner, part in zip(prepared.blocks, prepared.prepared, law.laws, strict=True):
        mine = row.narrow(block.columns)
        if block.kind == "flags":
            mine = mine.reading(form="flag")
        parts.append(read(inner, part, mine))
    return added(parts)


@read.register
def _whole(prepared: FittedWhole, law: SplitLaw, row: Row) -> Scores:
    row = row.reading(gaps=True)
    entries = list(row.entries)
    for j in np.flatnonzero(prepared.poisson):
        entries[j] = row.narrow([int(j)]).reading(gaps=True, least=0.0).entries[0]
    return formulas(law, Row(tuple(entries)))


@formulas.register
def _split(law: SplitLaw, row: Row) -> Scores:
    pairs = zip(law.laws, law.columns, strict=True)
    return added([formulas(part, row.narrow(columns)) for part, columns in pairs])


@formulas.register
def _lent(law: LentLaw, row: Row) -> Scores:
    """The classes that have no value here do as the others do on average."""
    scores = formulas(law.law, row)
    lenders = [Shared(score) for score in scores if score is not None]
    if law.law.factors and len(row) > 1:
        raise CannotExportError(
            "A class has no value at all in a block of several columns, and borrows each column "
            "from the other classes on its own. Give these columns a density each in Columns, or "
            "leave them out."
        )
    borrowed: Expression = Number(0.0)
    if lenders:
        top = Shared(extreme(lenders, ">"))
        mean = total([exp(score - top) for score in lenders]) / float(len(lenders))
        possible = Compared(">", top, Number(IMPOSSIBLE))
        borrowed = Shared(Choice(possible, top + log(mean), Number(NOTHING)))
    return [
        borrowed if borrows else score for score, borrows in zip(scores, law.borrowers, strict=True)
    ]


# ---------------------------------------------------------------------- categories and flags


@formulas.register
def _categorical(law: CategoricalLaw, row: Row) -> Scores:
    row = row.categories(law.categories)
    terms: list[list[Expression]] = [[] for _ in law.seen]
    for entry, known, unseen in zip(row.entries, law.log_probability, law.log_unseen, strict=True):
        # An unseen category, -1, is the first row.
        table = np.maximum(np.vstack([unseen, known.T]), NOTHING)
        place = Shared(entry.value + 1.0)
        for k, mine in enumerate(terms):
            mine.append(entry.unless_missing(Lookup(table, place, k)))
    return _of_seen(terms, law.seen)


@formulas.register
def _bernoulli(law: BernoulliLaw, row: Row) -> Scores:
    def term(k: int, j: int) -> Expression:
        entry = row.entries[j]
        above = Compared(">", entry.value, Number(law.threshold))
        return entry.unless_missing(
            Choice(above, Number(law.log_one[k, j]), Number(law.log_zero[k, j]))
        )

    return _by_column(term, law.seen, row)


# ---------------------------------------------------------------------- counts and positive numbers


def _of_seen(terms: list[list[Expression]], seen: np.ndarray) -> Scores:
    """Sums of the terms of the classes that have a density."""
    return [total(mine) if known else None for mine, known in zip(terms, seen, strict=True)]


def _by_column(term: Any, seen: np.ndarray, row: Row) -> Scores:
    """Sums over the columns of a term of class k and column j."""
    every = range(len(row))
    return [total([term(k, j) for j in every]) if seen[k] else None for k in range(len(seen))]


@formulas.register
def _poisson(law: PoissonLaw, row: Row) -> Scores:
    def term(k: int, j: int) -> Expression:
        # Without log x!, which is common to the classes.
        entry, rate = row.entries[j], float(law.rate[k, j])
        if rate == 0.0:
            some = Compared(">", entry.value, Number(0.0))
            return entry.unless_missing(Choice(some, Number(NOTHING), Number(0.0)))
        return entry.unless_missing(entry.value * float(np.log(rate)) - rate)

    return _by_column(term, law.seen, row)


@formulas.register
def _negative_binomial(law: NegativeBinomialLaw, row: Row) -> Scores:
    def term(k: int, j: int) -> Expression:
        entry, shape, rate = row.entries[j], float(law.shape[k, j]), float(law.rate[k, j])
        count, both = entry.value, Shared(shape + entry.value)
        none = -shape * np.log1p(1.0 / rate)
        if shape < LARGE:
            # Gamma(z) = Gamma(z + 16) / (z (z + 1) ... (z + 15)), and Stirling's series beyond.
            less: Expression = both
            for step in range(1, 16):
                less = less * (both + float(step))
            more = Shared(both + LARGE)
            rise = (more - 0.5) * log(more) - more + _remainder(more) - log(less)
            base = 0.5 * np.log(2.0 * np.pi) - _log_gamma(shape)
            slope = -np.log1p(rate)
        else:
            rise = (both - 0.5) * log1p(count / shape) + _remainder(both)
            base = -stirling_remainder(shape)
            slope = np.log(shape / (1.0 + rate)) - 1.0
        return entry.unless_missing(Number(none + base) + count * float(slope) + rise)

    return _by_column(term, law.seen, row)


def _remainder(z: Expression) -> Expression:
    """Stirling's remainder of log gamma, for z of at least 16."""
    r = Shared(1.0 / (z * z))
    return polynomial(r, [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188]) / z


def _log_gamma(shape: float) -> float:
    """The logarithm of gamma."""
    from scipy.special import gammaln

    return float(gammaln(shape))


@formulas.register
def _exponential(law: ExponentialLaw, row: Row) -> Scores:
    def term(k: int, j: int) -> Expression:
        entry, rate = row.entries[j], float(law.rate[k, j])
        return entry.unless_missing(float(np.log(rate)) - rate * entry.value)

    return _by_column(term, law.seen, row)


@formulas.register
def _lomax(law: LomaxLaw, row: Row) -> Scores:
    def term(k: int, j: int) -> Expression:
        entry, shape, scale = row.entries[j], float(law.shape[k, j]), float(law.scale[k, j])
        peak = float(np.log(shape) - np.log(scale))
        return entry.unless_missing(peak - (shape + 1.0) * log1p(entry.value / scale))

    return _by_column(term, law.seen, row)


@formulas.register
def _gamma(law: GammaLaw, row: Row) -> Scores:
    logs = [entry.logarithm() for entry in row.entries]

    def term(k: int, j: int) -> Expression:
        # Without - log x, which is common to the classes.
        entry, shape, mean = row.entries[j], law.shape[k, j], float(law.mean[k, j])
        constant = gamma_constants(law.shape[k : k + 1, j].copy())[0] + law.log_positive[k, j]
        bracket = (logs[j].value - float(np.log(mean))) - (entry.value - mean) / mean
        zero = Compared("=", entry.value, Number(0.0))
        positive = float(constant) + float(shape) * bracket
        return entry.unless_missing(Choice(zero, Number(law.log_zero[k, j]), positive))

    return _by_column(term, law.seen, row)


@formulas.register
def _log_normal(law: LogNormalLaw, row: Row) -> Scores:
    # Without the sum of - log x, which is common to the classes.
    of_logs = formulas(law.of_logs, Row(tuple(entry.logarithm() for entry in row.entries)))

    def term(k: int, j: int) -> Expression:
        entry = row.entries[j]
        positive = Compared(">", entry.value, Number(0.0))
        shares = Number(law.log_positive[k, j]), Number(law.log_zero[k, j])
        return entry.unless_missing(Choice(positive, *shares))

    if not law.log_zero.any():
        return [score if known else None for score, known in zip(of_logs, law.seen, strict=True)]
    return added([of_logs, _by_column(term, law.seen, row)])


# ---------------------------------------------------------------------- histograms


@read.register
def _histogram(prepared: FittedHistogram, law: LogDensity, row: Row) -> Scores:
    return formulas(law, row.reading(gaps=True))


@formulas.register
def _histogram_columns(law: HistogramColumnsLaw, row: Row) -> Scores:
    # Without the shape of the tails, which is common to the classes.
    terms: list[list[Expression]] = [[] for _ in law.seen]
    for entry, edges, heights in zip(row.entries, law.edges, law.log_heights, strict=True):
        table = np.maximum(heights, NOTHING)
        place = Shared(Level(entry.value, increasing(edges)))
        for k, mine in enumerate(terms):
            mine.append(entry.unless_missing(Lookup(table, place, k)))
    return _of_seen(terms, law.seen)
