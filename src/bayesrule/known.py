"""The closed list of types that a model file may hold, and what makes their values sound.

A new density joins by one line for each of its types. A type whose fields could contradict each
other brings a ``check``; a density brings a ``counted`` where counting one row, which tells what
its statistics look like, could take more memory than the file has bytes.
"""
# Longer than most files here: it is a list, an entry for each type.

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa

from bayesrule.cells import Cells, FittedCells
from bayesrule.centers import FuzzyProfiles, KMeansProfiles
from bayesrule.columns import Block, Columns, FittedColumns
from bayesrule.conjugate import MeanPrior, NormalInverseWishart
from bayesrule.density import Density, Rule, same_state
from bayesrule.discrete import Bernoulli, Categorical
from bayesrule.elliptical import Elliptical, ThresholdElliptical
from bayesrule.encoding import Encoding
from bayesrule.forest import ForestProfiles
from bayesrule.gains import NamedActions
from bayesrule.gaussian import Gaussian
from bayesrule.grids import CellProfiles, GridCells
from bayesrule.histogram import FittedHistogram, Histogram
from bayesrule.kernel import Kernel, TunedKernel
from bayesrule.learned import Learned
from bayesrule.memberships import Memberships
from bayesrule.metrics import Metric
from bayesrule.minimax import Minimax, MinimaxSolution
from bayesrule.mixtures import Components, MixtureProfiles
from bayesrule.multinomial import Multinomial
from bayesrule.neighbors import FittedNeighbors, Neighbors
from bayesrule.partitions import FuzzyCentres, Joined, NearestCentre
from bayesrule.pooling import FittedPooled, Pooled
from bayesrule.positive import Gamma, LogNormal
from bayesrule.priors import ShiftedSolution
from bayesrule.profiled import FittedProfiles, Profiled
from bayesrule.rates import Exponential, GammaPrior, Poisson
from bayesrule.smoothing import Smoothing
from bayesrule.soundness import (
    check_components,
    check_counts,
    check_encoding,
    check_fitted_cells,
    check_fitted_histogram,
    check_fitted_neighbors,
    check_fitted_pooled,
    check_fitted_profiles,
    check_fitted_whole,
    check_fuzzy_centres,
    check_grid_cells,
    check_joined,
    check_leaves,
    check_metric,
    check_minimax,
    check_minimax_solution,
    check_moments,
    check_nearest_centre,
    check_sample,
    check_several,
    check_shifted_solution,
    check_smoothing,
    check_stage,
    check_sums,
    check_threshold_elliptical,
    check_tuned_kernel,
    check_word_counts,
    require,
)
from bayesrule.stats import Counts, Moments, Sample, Several, Sums
from bayesrule.stopwatch import Stage
from bayesrule.tables import Table
from bayesrule.trees import Leaves, TreeProfiles
from bayesrule.whole import FittedWhole, Whole
from bayesrule.word_counts import WordCounts
from bayesrule.words import Words


def row_of_ones(learned: Learned, n_features: int) -> Any:
    """An X of one row that most densities of numbers can read."""
    require(n_features >= 1, "it has no features")
    return np.ones((1, n_features))


def counted_like_a_row(learned: Learned, row: Table) -> None:
    """The statistics must have the form that one row gives them."""
    fresh = learned.prepared.tally(row, Memberships(learned.classes[:1], np.zeros(1, np.int32)))
    require_form(learned.stats, fresh)


@dataclass(frozen=True)
class Known:
    """What is known of a type.

    Parameters
    ----------
    type : type
        Its constructor's parameters are its fields.
    check : function of a value, or None
        Raises ValueError where the value contradicts itself.
    counted : function of (Learned, Table of one row)
        For densities: raises ValueError where the statistics are not such as the prepared density
        counts, above all where a compiled loop would believe a shape without looking.
    row : function of (Learned, number of features)
        For densities: an X of one row that the model can read.
    """

    type: Callable[..., Any]
    check: Callable[[Any], None] | None = None
    counted: Callable[[Learned, Table], None] = counted_like_a_row
    row: Callable[[Learned, int], Any] = row_of_ones


def require_form(stats: Any, fresh: Any) -> None:
    """A statistic must have the form of another one, of other rows and of one class."""
    require(type(stats) is type(fresh), "its statistics are not those of its density")
    if type(stats) is Several:
        require(len(stats.parts) == len(fresh.parts), "its statistics have other parts")
        for part, fresh_part in zip(stats.parts, fresh.parts, strict=True):
            require_form(part, fresh_part)
        return
    if type(stats) is Counts:
        same = len(stats.categories) == len(fresh.categories)
        require(same, "its statistics are of another number of columns")
        return
    for field in fields(stats):
        one, other = getattr(stats, field.name), getattr(fresh, field.name)
        if isinstance(one, np.ndarray):
            same = one.shape[1:] == other.shape[1:] and one.dtype.kind == other.dtype.kind
        else:
            same = one == other
        require(same, "its statistics have another shape")


def require_settings(learned: Learned, row: Table) -> None:
    """Settings must be such as ``fit`` would take, where they are all that was prepared."""
    prepared: Any = learned.prepared
    if type(prepared) is type(learned.density):
        one_class = Memberships(learned.classes[:1], np.zeros(1, np.int32))
        for settings in (learned.density, prepared):
            settings.prepare(row, one_class, Rule(np.ones(1), np.ones((1, 1))))
    inner = getattr(prepared, "density", None)
    if inner is not None:  # settings that are still read after something was learned beside them
        require(same_state(inner, learned.density), "its settings are not those of its density")


def _counted_gaussian(learned: Learned, row: Table) -> None:
    """Told from the shapes alone: one row of full scatters takes the square of its columns."""
    prepared: Any = learned.prepared
    stats = learned.stats
    if prepared.covariance in ("diag", "spherical"):
        fits = type(stats) is Moments and stats.kind == "diagonal" and stats.weight.ndim == 2
        require(fits, "its statistics are not those of diagonal Gaussians")
    else:
        kinds = [type(part) for part in stats.parts] if type(stats) is Several else []
        require(kinds == [Moments, Sample], "its statistics are not those of full Gaussians")
        stats, incomplete = stats.parts
        fits = stats.kind == prepared.covariance and stats.weight.ndim == 1
        require(fits, f"its statistics are not those of {prepared.covariance} Gaussians")
        fits = incomplete.rows.shape[1] == row.n_columns and incomplete.rows.dtype == np.float64
        require(fits, "its rows with missing values have another shape")
    require(len(stats.shift) == row.n_columns, "its statistics are of another number of columns")


def _counted_flags(learned: Learned, row: Table) -> None:
    """No more rows with a flag than there are rows."""
    counted_like_a_row(learned, row)
    stats: Any = learned.stats
    fine = (stats.sums >= 0) & (stats.sums <= stats.weight * (1.0 + 1e-9))
    require(fine, "it has more flags than rows")


def _counted_amounts(learned: Learned, row: Table) -> None:
    """Sums of what is never negative."""
    counted_like_a_row(learned, row)
    require(learned.stats.sums >= 0, "its statistics have a negative sum")


def _counted_values(learned: Learned, row: Table) -> None:
    """Numbers of zero or more: of each column the weight of its values, their sum, and of zeros."""
    counted_like_a_row(learned, row)
    stats: Any = learned.stats
    sums = stats.parts[0] if type(stats) is Several else stats
    require(sums.sums >= 0, "its statistics have a negative sum")
    weight, zeros = sums.sums[:, 0], sums.sums[:, 2]
    require(zeros <= weight * (1.0 + 1e-9), "it has more zeros than rows")


def _counted_rows(learned: Learned, row: Table) -> None:
    """Rows of the classes, with their weights."""
    counted_like_a_row(learned, row)
    sums, sample = learned.stats.parts
    require(sample.weights > 0, "it has rows without weight")
    require(sample.codes < len(sums.weight), "it has rows of other classes")
    weight = np.bincount(sample.codes, sample.weights, len(sums.weight))
    require(np.isclose(weight, sums.weight), "its rows are not those of its classes")


def _counted_neighbors(learned: Learned, row: Table) -> None:
    """Complete rows, which the metric that was learned can map."""
    learned.density.check(row.n_columns)
    _counted_rows(learned, row)
    rows = learned.stats.parts[1].rows
    require(~np.isnan(rows), "it has rows with missing values")
    metric = getattr(learned.prepared, "metric", None)
    if type(metric) is Metric:
        require(len(metric.shift) == row.n_columns, "its metric is of other columns")


def _counted_bumps(learned: Learned, row: Table) -> None:
    """Rows that bumps of these settings can be put on."""
    learned.density.check(row.n_columns)
    _counted_rows(learned, row)


def _counted_bins(learned: Learned, row: Table) -> None:
    """Weights of the bins there are."""
    fitted: Any = learned.prepared
    require(type(fitted) is FittedHistogram, "it has no bins")
    require(len(fitted.edges) == row.n_columns, "its bins are of another number of columns")
    counted_like_a_row(learned, row)
    if fitted.joint and not fitted.dense:
        cells = learned.stats.parts[1]
        addresses, counts = cells.categories[0], cells.counts[0]
        require(addresses.dtype == np.int64, "its cells have no addresses")
        fine = (addresses >= 0) & (addresses < prod(fitted.n_bins))
        require(fine, "it has cells that are not on its grid")
        require(len(counts) == len(learned.stats.parts[0].weight), "its cells are of other classes")
    else:
        require(learned.stats.sums >= 0, "its bins have a negative weight")


def _counted_words(learned: Learned, row: Table) -> None:
    """Only words that are counted by name are stored; no two rows need have the same ones."""
    require(type(learned.stats) is WordCounts, "its statistics are not those of words")


def _counted_whole(learned: Learned, row: Table) -> None:
    """Each column must have its law."""
    prepared: Any = learned.prepared
    require(len(prepared.poisson) == row.n_columns, "its laws are of another number of columns")
    counted_like_a_row(learned, row)


def _row_of_categories(learned: Learned, n_features: int) -> Any:
    """A category of each column that was seen."""
    stats = learned.stats
    require(type(stats) is Counts, "its statistics are not those of categories")
    require(len(stats.categories) == n_features, "its statistics are of other columns")
    return [[labels[0] if len(labels) else None for labels in stats.categories]]


def _row_of_profiles(learned: Learned, n_features: int) -> Any:
    """Numbers, and a category of each column that has some."""
    prepared: Any = learned.prepared
    require(type(prepared) is FittedProfiles, "it has no profiles")
    return _row_of_encoding(prepared.encoding, learned, n_features)


def _row_of_encoding(encoding: Encoding | None, learned: Learned, n_features: int) -> Any:
    """Numbers, and a category of each column that has some."""
    if encoding is None:
        return row_of_ones(learned, n_features)
    categories = encoding.categories
    require(len(categories) == n_features, "its categories are of another number of columns")
    return pa.table({f"x{j}": [0.0] if c is None else c[:1] for j, c in enumerate(categories)})


def _row_of_cells(learned: Learned, n_features: int) -> Any:
    """Numbers, and a category of each column that has some."""
    prepared: Any = learned.prepared
    require(type(prepared) is FittedCells, "it has no cells")
    return _row_of_encoding(prepared.encoding, learned, n_features)


def _counted_cells(learned: Learned, row: Table) -> None:
    """A weight of each cell in each class."""
    prepared: Any = learned.prepared
    n_columns = len(prepared.boundaries_)
    require(n_columns == row.n_columns, "its cells are of another number of columns")
    stats: Any = learned.stats
    require(type(stats) is Sums, "its statistics are not those of cells")
    shape = len(stats.weight), prepared.n_cells_
    require(stats.sums.shape == shape, "its statistics are of other cells")
    require(stats.sums >= 0, "its cells have a negative weight")


def _counted_profiles(learned: Learned, row: Table) -> None:
    """A weight of each profile in each class."""
    prepared: Any = learned.prepared
    columns = prepared.partition.n_columns
    require(columns == row.n_columns, "its profiles are of another number of columns")
    stats: Any = learned.stats
    require(type(stats) is Sums, "its statistics are not those of profiles")
    shape = len(stats.weight), prepared.partition.n_profiles
    require(stats.sums.shape == shape, "its statistics are of other profiles")
    require(stats.sums >= 0, "its statistics have a negative weight")


def _row_of_text(learned: Learned, n_features: int) -> Any:
    """A text."""
    return [["a"]]


def _parts_of_columns(learned: Learned) -> list[tuple[Block, Learned]]:
    """The blocks of mixed columns, each with what was learned of it."""
    prepared, stats = learned.prepared, learned.stats
    require(type(prepared) is FittedColumns and type(stats) is Several, "it has no columns")
    assert isinstance(prepared, FittedColumns)
    tuples = [type(part) is tuple for part in (prepared.blocks, prepared.prepared, stats.parts)]
    require(tuples, "its blocks of columns are no tuples")
    return [
        (block, replace(learned, density=block.density, prepared=part, stats=part_stats))
        for block, part, part_stats in zip(
            prepared.blocks, prepared.prepared, stats.parts, strict=True
        )
    ]


def _row_of_columns(learned: Learned, n_features: int) -> Any:
    """A row of each block, side by side."""
    row: list[Any] = [0.0] * n_features
    for block, part in _parts_of_columns(learned):
        places = block.columns
        fine = [type(j) is int and 0 <= j < n_features for j in places]
        require(fine and len(block.names) == len(places) > 0, "it has blocks of other columns")
        known = known_density(part)
        values = np.asarray(known.row(part, len(places)), dtype=object)
        for j, value in zip(places, values[0], strict=True):
            row[j] = value
    return pa.table({f"x{j}": [value] for j, value in enumerate(row)})


def _columns_of_pool(learned: Learned) -> Learned:
    """The members of a pool as blocks of columns."""
    prepared, stats = learned.prepared, learned.stats
    require(type(prepared) is FittedPooled and type(stats) is Several, "it has no members")
    assert isinstance(prepared, FittedPooled)
    require(type(stats.parts) is tuple and len(stats.parts) == 2, "its members counted nothing")
    return replace(learned, prepared=prepared.columns, stats=stats.parts[1])


def _row_of_pool(learned: Learned, n_features: int) -> Any:
    """A row that suits all members."""
    return _row_of_columns(_columns_of_pool(learned), n_features)


def _counted_pool(learned: Learned, row: Table) -> None:
    """Weights of the classes beside what each member counts."""
    columns = _columns_of_pool(learned)
    sums = learned.stats.parts[0]
    require(type(sums) is Sums, "its members vote under no shares")
    require(len(sums.weight) == len(learned.classes), "its shares are of other classes")
    n_members = len(columns.prepared.prepared)  # type: ignore[attr-defined]
    weights: Any = learned.prepared.weights  # type: ignore[attr-defined]
    require(len(weights) == n_members, "its weights are of other members")
    _counted_columns(columns, row)


def _counted_columns(learned: Learned, row: Table) -> None:
    """Each block must hold what its own density counts."""
    for (_, part), part_row in zip(_parts_of_columns(learned), row.parts, strict=True):
        require_settings(part, part_row)
        known_density(part).counted(part, part_row)


def known_density(learned: Learned) -> Known:
    """What is known of the type of a density."""
    density = learned.density
    require(isinstance(density, Density), "it has no density")
    return KNOWN[type(density).__name__]


#: Every type a model file may hold, by the name it has there. Names are never used again for
#: something else: old files must keep their meaning.
KNOWN: dict[str, Known] = {
    "Bernoulli": Known(Bernoulli, counted=_counted_flags),
    "Categorical": Known(Categorical, row=_row_of_categories),
    "Block": Known(Block),
    "Cells": Known(Cells, counted=_counted_cells, row=_row_of_cells),
    "Columns": Known(Columns, counted=_counted_columns, row=_row_of_columns),
    "Elliptical": Known(Elliptical, counted=_counted_rows),
    "Exponential": Known(Exponential, counted=_counted_values),
    "FittedCells": Known(FittedCells, check_fitted_cells),
    "FittedPooled": Known(FittedPooled, check_fitted_pooled),
    "Pooled": Known(Pooled, counted=_counted_pool, row=_row_of_pool),
    "FittedColumns": Known(FittedColumns),
    "FittedWhole": Known(FittedWhole, check_fitted_whole),
    "Encoding": Known(Encoding, check_encoding),
    "FittedNeighbors": Known(FittedNeighbors, check_fitted_neighbors),
    "CellProfiles": Known(CellProfiles),
    "Components": Known(Components, check_components),
    "ForestProfiles": Known(ForestProfiles),
    "GridCells": Known(GridCells, check_grid_cells),
    "Leaves": Known(Leaves, check_leaves),
    "MixtureProfiles": Known(MixtureProfiles),
    "TreeProfiles": Known(TreeProfiles),
    "FittedProfiles": Known(FittedProfiles, check_fitted_profiles),
    "FuzzyCentres": Known(FuzzyCentres, check_fuzzy_centres),
    "FuzzyProfiles": Known(FuzzyProfiles),
    "Joined": Known(Joined, check_joined),
    "KMeansProfiles": Known(KMeansProfiles),
    "Metric": Known(Metric, check_metric),
    "NearestCentre": Known(NearestCentre, check_nearest_centre),
    "Profiled": Known(Profiled, counted=_counted_profiles, row=_row_of_profiles),
    "Gamma": Known(Gamma, counted=_counted_values),
    "FittedHistogram": Known(FittedHistogram, check_fitted_histogram),
    "GammaPrior": Known(GammaPrior),
    "Gaussian": Known(Gaussian, counted=_counted_gaussian),
    "Histogram": Known(Histogram, counted=_counted_bins),
    "Kernel": Known(Kernel, counted=_counted_bumps),
    "LogNormal": Known(LogNormal, counted=_counted_values),
    "MeanPrior": Known(MeanPrior),
    "Neighbors": Known(Neighbors, counted=_counted_neighbors),
    "NormalInverseWishart": Known(NormalInverseWishart),
    "Multinomial": Known(Multinomial, counted=_counted_amounts),
    "Poisson": Known(Poisson, counted=_counted_values),
    "ThresholdElliptical": Known(ThresholdElliptical, check_threshold_elliptical),
    "TunedKernel": Known(TunedKernel, check_tuned_kernel),
    "Whole": Known(Whole, counted=_counted_whole),
    "Words": Known(Words, counted=_counted_words, row=_row_of_text),
    "Minimax": Known(Minimax, check_minimax),
    "MinimaxSolution": Known(MinimaxSolution, check_minimax_solution),
    "ShiftedSolution": Known(ShiftedSolution, check_shifted_solution),
    "NamedActions": Known(NamedActions),
    "Learned": Known(Learned),
    "Rule": Known(Rule),
    "Sums": Known(Sums, check_sums),
    "Counts": Known(Counts, check_counts),
    "Moments": Known(Moments, check_moments),
    "Sample": Known(Sample, check_sample),
    "WordCounts": Known(WordCounts, check_word_counts),
    "Several": Known(Several, check_several),
    "Smoothing": Known(Smoothing, check_smoothing),
    "Stage": Known(Stage, check_stage),
}
