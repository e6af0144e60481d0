"""What makes the values of a model file sound: checks of one value each, by its fields alone.

Each raises ValueError where the value contradicts itself.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from bayesrule.addresses import MOST_CELLS
from bayesrule.cells import FittedCells
from bayesrule.columns import FittedColumns
from bayesrule.elliptical import Elliptical, ThresholdElliptical
from bayesrule.encoding import Encoding
from bayesrule.grids import GridCells
from bayesrule.histogram import FittedHistogram
from bayesrule.kernel import Kernel, TunedKernel
from bayesrule.metrics import Metric
from bayesrule.minimax import Minimax, MinimaxSolution
from bayesrule.mixtures import Components
from bayesrule.neighbors import FittedNeighbors, Neighbors
from bayesrule.partitions import FuzzyCentres, Joined, NearestCentre, Partition
from bayesrule.pooling import FittedPooled
from bayesrule.priors import ShiftedSolution
from bayesrule.profiled import FittedProfiles
from bayesrule.smoothing import Smoothing
from bayesrule.stats import Counts, Moments, Sample, Several, Sums
from bayesrule.stopwatch import Stage
from bayesrule.trees import Leaves
from bayesrule.whole import FittedWhole
from bayesrule.word_counts import WordCounts


def require(good: Any, problem: str) -> None:
    """Raise ValueError unless all is good."""
    if not np.all(good):
        raise ValueError(problem)


def require_floats(array: Any, name: str, *shape: int | None, least: float = -np.inf) -> None:
    """An array must hold finite float64 in a shape; None stands for any length."""
    require(isinstance(array, np.ndarray) and array.dtype == np.float64, f"{name} is no float64")
    fits = len(shape) == array.ndim and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    require(fits, f"{name} has the shape {array.shape}, which does not fit")
    require(np.isfinite(array) & (array >= least), f"{name} has a value that cannot be")


def check_distribution(array: Any, name: str, *shape: int | None) -> None:
    """Probabilities must not be negative, and sum to one along the last axis."""
    require_floats(array, name, *shape, least=0.0)
    require(np.abs(array.sum(axis=-1) - 1.0) <= 1e-6, f"{name} does not sum to one")


def require_numbers(*values: Any) -> None:
    """Single numbers, of Python's or numpy's types."""
    numbers = [isinstance(value, (bool, int, float, np.number, np.bool_)) for value in values]
    require(numbers, "it has something else where a number is needed")


def check_sums(stats: Sums) -> None:
    for name, array, least in (("weight", stats.weight, 0.0), ("sums", stats.sums, -np.inf)):
        shape: tuple[None, ...] = (None,) * np.ndim(array)
        require_floats(array, f"Sums.{name}", *shape, least=least)
        require(len(shape) > 0, f"Sums.{name} is a single number")
    require(len(stats.weight) == len(stats.sums), "Sums has parts of different lengths")


def check_counts(stats: Counts) -> None:
    parts = stats.categories, stats.counts
    require([type(part) is tuple for part in parts], "Counts has parts that are no tuples")
    require(len(stats.categories) == len(stats.counts) > 0, "Counts has unequal numbers of columns")
    rows = {np.shape(counts)[:1] for counts in stats.counts}
    require(len(rows) == 1, "Counts has columns with different numbers of classes")
    for labels, counts in zip(*parts, strict=True):
        require(isinstance(labels, np.ndarray) and labels.ndim == 1, "Counts has no categories")
        require_floats(counts, "Counts.counts", None, len(labels), least=0.0)
        require(labels[:-1] < labels[1:], "Counts has categories that are not sorted")


def check_moments(stats: Moments) -> None:
    require_floats(stats.shift, "Moments.shift", None)
    require_floats(stats.mean, "Moments.mean", None, len(stats.shift))
    n_classes, n_columns = stats.mean.shape
    weight = (n_classes, n_columns) if np.ndim(stats.weight) == 2 else (n_classes,)
    require_floats(stats.weight, "Moments.weight", *weight, least=0.0)
    shapes = {
        "diagonal": (n_classes, n_columns),
        "full": (n_classes, n_columns, n_columns),
        "tied": (n_columns, n_columns),
    }
    require(stats.kind in shapes, f"Moments.kind is {stats.kind!r}")
    require_floats(stats.second, "Moments.second", *shapes[stats.kind])
    diagonal = stats.second
    if stats.kind != "diagonal":
        diagonal = np.diagonal(stats.second, axis1=-2, axis2=-1)
    require(diagonal >= 0, "Moments.second has a negative square")


def check_sample(stats: Sample) -> None:
    rows, codes = stats.rows, stats.codes
    require(isinstance(rows, np.ndarray) and rows.ndim == 2, "Sample.rows is no table")
    require(rows.dtype in (np.float64, np.float32), "Sample.rows holds no numbers")
    require(~np.isinf(rows), "Sample.rows has an infinite value")
    fits = isinstance(codes, np.ndarray) and codes.shape == (len(rows),) and codes.dtype.kind == "i"
    require(fits, "Sample.codes are not one class per row")
    require(codes >= 0, "Sample.codes has a negative class")
    require_floats(stats.weights, "Sample.weights", len(rows), least=0.0)


def check_tuned_kernel(tuned: TunedKernel) -> None:
    require(type(tuned.density) is Kernel, "its tuned bandwidth is of another density")
    require_numbers(tuned.factor)
    require(np.isfinite(tuned.factor) and tuned.factor > 0, "its bandwidth is no width")


def check_fitted_cells(fitted: FittedCells) -> None:
    cuts, gaps = fitted.boundaries_, fitted.gaps
    require(type(cuts) is tuple and len(cuts) > 0, "it has no boundaries of cells")
    for boundaries in cuts:
        require_floats(boundaries, "the boundaries of cells", None)
        require(boundaries[1:] > boundaries[:-1], "its boundaries do not increase")
    flags = type(gaps) is tuple and len(gaps) == len(cuts) and {type(g) for g in gaps} == {bool}
    require(flags, "it is not said which of its columns have missing values")
    require(fitted.n_cells_ < MOST_CELLS, "its boundaries make too many cells")
    coded = fitted.encoding
    require(coded is None or type(coded) is Encoding, "its categories have no encoding")
    require(coded is None or len(coded.names) == len(cuts), "its categories are of other columns")
    if fitted.smoothing is not None:
        require(type(fitted.smoothing) is Smoothing, "its smoothing is none")
        require(len(fitted.smoothing.low) == len(cuts), "its smoothing is of other columns")
    stages = [type(stage) is Stage for stage in fitted.history_]
    require(type(fitted.history_) is tuple and all(stages), "its history has no stages")


def check_smoothing(smoothing: Smoothing) -> None:
    require_numbers(smoothing.k, smoothing.seed)
    require(0 <= smoothing.k < np.inf, "its smoothing is no number of rows")
    require_floats(smoothing.low, "the ends of its ranges", None)
    require_floats(smoothing.high, "the ends of its ranges", len(smoothing.low))
    require(smoothing.low <= smoothing.high, "its ranges end before they begin")
    ordered = type(smoothing.ordered) is tuple and len(smoothing.ordered) == len(smoothing.low)
    require(ordered, "it is not said which of its columns are ordered")
    require(type(smoothing.even) is bool, "it is not said whether its volumes are equal")
    both = (smoothing.priors is None) == (smoothing.gain is None)
    require(both, "its smoothing has no rule")
    if smoothing.priors is not None:
        check_distribution(smoothing.priors, "the priors of its smoothing", None)
        require_floats(smoothing.gain, "the gain of its smoothing", len(smoothing.priors), None)


def check_stage(stage: Stage) -> None:
    require(type(stage.what) is str, "a stage has no name")
    require_numbers(stage.rows, stage.cells, stage.worth, stage.seconds, stage.tried)


def check_fitted_histogram(fitted: FittedHistogram) -> None:
    require(type(fitted.edges) is tuple and len(fitted.edges) > 0, "it has no edges of bins")
    for edges in fitted.edges:
        require_floats(edges, "the edges of bins", None)
        require(len(edges) > 1 and np.all(edges[1:] > edges[:-1]), "its edges do not increase")
    require(type(fitted.joint) is bool, "it is not said whether its bins are joint")
    cells = prod(fitted.n_bins)
    require(not fitted.joint or cells < MOST_CELLS, "its bins make too many cells")
    require_numbers(fitted.smoothing)
    require(0.0 <= fitted.smoothing < np.inf, "its smoothing is no weight")


def check_fitted_neighbors(fitted: FittedNeighbors) -> None:
    require(type(fitted.density) is Neighbors, "its neighbours are of another density")
    require(fitted.metric is None or type(fitted.metric) is Metric, "its metric is none")
    require_numbers(fitted.k)
    require(0.0 < fitted.k < np.inf, "it has no number of neighbours")


def check_word_counts(stats: WordCounts) -> None:
    words = stats.words
    listed = isinstance(words, np.ndarray) and words.dtype == object and words.ndim == 1
    require(listed and all(type(word) is str for word in words.tolist()), "its words are no texts")
    require(words[:-1] < words[1:], "its words are not sorted and distinct")
    require_floats(stats.weight, "WordCounts.weight", None, least=0.0)
    shape = len(stats.weight), len(words)
    require_floats(stats.counts, "WordCounts.counts", *shape, least=0.0)
    require_floats(stats.documents, "WordCounts.documents", len(words), least=0.0)
    require_numbers(stats.texts)
    require(0.0 <= stats.texts < np.inf, "WordCounts.texts is no number of texts")


def check_several(stats: Several) -> None:
    require(type(stats.parts) is tuple and len(stats.parts) > 0, "Several has no parts")


def check_minimax(priors: Minimax) -> None:
    require(priors.on in ("regret", "gain"), f"Minimax(on={priors.on!r}) is not known")
    require_numbers(priors.randomised, priors.tol, priors.max_cuts)


def check_minimax_solution(solution: MinimaxSolution) -> None:
    check_distribution(solution.priors, "the minimax priors", None)
    check_distribution(solution.mixture, "the minimax mixture", None)
    shape = len(solution.mixture), len(solution.priors)
    check_distribution(solution.mixture_priors, "the priors of the minimax mixture", *shape)
    for risks in (solution.class_risks, solution.randomised_class_risks):
        require_floats(risks, "the minimax risks", len(solution.priors))
    require_numbers(solution.value, solution.gap, solution.n_atoms, solution.n_cuts)


def check_shifted_solution(solution: ShiftedSolution) -> None:
    check_distribution(solution.priors, "the shifted priors", None)
    require_floats(solution.standard_error, "their standard error", len(solution.priors))
    require_numbers(solution.separation, solution.n_rows, solution.n_iterations)


def check_fitted_whole(fitted: FittedWhole) -> None:
    chosen = fitted.poisson
    fine = isinstance(chosen, np.ndarray) and chosen.ndim == 1 and chosen.dtype == np.bool_
    require(fine, "the laws of whole numbers are not told by flags")


def check_fitted_pooled(fitted: FittedPooled) -> None:
    require(type(fitted.columns) is FittedColumns, "its members have no columns")
    check_distribution(fitted.weights, "the weights of its members", None)


def check_metric(metric: Metric) -> None:
    require_floats(metric.shift, "Metric.shift", None)
    n_columns = len(metric.shift)
    shape = (n_columns,) if np.ndim(metric.matrix) == 1 else (n_columns, None)
    require_floats(metric.matrix, "Metric.matrix", *shape)


def check_nearest_centre(partition: NearestCentre | FuzzyCentres) -> None:
    require(type(partition.metric) is Metric, "its centres have no metric")
    width = partition.metric.matrix.shape[-1]
    require_floats(partition.columns, "the centres", width, None)
    require(partition.columns.shape[1] > 0, "it has no centres")


def check_fuzzy_centres(partition: FuzzyCentres) -> None:
    check_nearest_centre(partition)
    require_numbers(partition.fuzziness)
    require(1.0 < partition.fuzziness < np.inf, "its fuzziness is not above one")


def check_joined(partition: Joined) -> None:
    parts = partition.parts
    require(type(parts) is tuple and len(parts) > 0, "its partition has no parts")
    require([isinstance(part, Partition) for part in parts], "a part is no partition")
    require(len({part.n_columns for part in parts}) == 1, "its parts are of other columns")


def check_components(partition: Components) -> None:
    require(type(partition.metric) is Metric, "its components have no metric")
    check_distribution(partition.weights, "the weights of its components", None)
    n, width = len(partition.weights), partition.metric.matrix.shape[-1]
    require_floats(partition.means, "the means of its components", n, width)
    full = np.ndim(partition.whitening) == 3
    shape = (n, width, width) if full else (n, width)
    require_floats(partition.whitening, "the covariances of its components", *shape)
    lengths = partition.whitening
    if full:
        lengths = np.diagonal(lengths, axis1=1, axis2=2)
    require(lengths > 0, "a component has no covariance")


def check_leaves(partition: Leaves) -> None:
    require(type(partition.metric) is Metric, "its tree has no metric")
    require(partition.metric.matrix.ndim == 1, "the metric of its tree mixes columns")
    n, n_columns = len(partition.feature), len(partition.metric.shift)
    require_floats(partition.threshold, "the thresholds of its tree", n)
    nodes = partition.feature, partition.below, partition.above
    fine = [isinstance(a, np.ndarray) and a.shape == (n,) and a.dtype == np.int64 for a in nodes]
    require([*fine, n > 0], "its tree has nodes of another kind")
    leaf = partition.feature < 0
    require(partition.feature < n_columns, "its tree asks for a column that is not there")
    # Every node comes after the one it follows, so that each way ends.
    after = np.flatnonzero(~leaf)
    for following in (partition.below[after], partition.above[after]):
        require((following > after) & (following < n), "the nodes of its tree run in circles")
    order = np.sort(partition.below[leaf])
    require(np.array_equal(order, np.arange(leaf.sum())), "its tree has leaves of no profile")


def check_grid_cells(partition: GridCells) -> None:
    cuts = partition.boundaries
    require(type(cuts) is tuple and len(cuts) > 0, "its grid has no boundaries")
    for array in cuts:
        require_floats(array, "the boundaries of its grid", None)
        require(array[:-1] < array[1:], "the boundaries of its grid do not increase")
    require(partition.n_profiles < MOST_CELLS, "its grid has too many cells")


def check_encoding(encoding: Encoding) -> None:
    parts = encoding.names, encoding.holds, encoding.categories
    require([type(part) is tuple for part in parts], "its encoding has parts that are no tuples")
    require(len({len(part) for part in parts}) == 1, "its encoding has unequal parts")
    texts = [type(text) is str for text in (*encoding.names, *encoding.holds)]
    require(texts, "its encoding has names that are no text")
    for labels in encoding.categories:
        if labels is not None:
            fine = isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) > 0
            require(fine, "its encoding has no categories")
            require(labels[:-1] < labels[1:], "its encoding has categories that are not sorted")


def check_fitted_profiles(fitted: FittedProfiles) -> None:
    require(isinstance(fitted.partition, Partition), "it has no partition")
    coded = fitted.encoding
    require(coded is None or type(coded) is Encoding, "its categories have no encoding")
    if fitted.priors is not None:
        check_distribution(fitted.priors, "the priors of its profiles", None)


def check_threshold_elliptical(fitted: ThresholdElliptical) -> None:
    require(type(fitted.density) is Elliptical, "it has no elliptical density")
    fitted.density.check()
    require(fitted.density.uses_rule, "its density fits no threshold")
    check_distribution(fitted.priors, "ThresholdElliptical.priors", None)
