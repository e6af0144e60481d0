"""The types that skops is to trust where it reads models of this package."""

from __future__ import annotations

#: Module by module, in the order of the alphabet; a test holds it to what models are made of.
_TYPES = {
    "bump_sum": "BumpSum",
    "cells": "Cells FittedCells",
    "cells_law": "CellsLaw",
    "centers": "FuzzyProfiles KMeansProfiles",
    "classifier": "BayesClassifier",
    "clusterers": "HardClusters SoftClusters",
    "cmeans": "FuzzyCMeans",
    "columns": "Block Columns ColumnsLaw FittedColumns",
    "conjugate": "MeanPrior NormalInverseWishart",
    "density": "Rule",
    "density_estimate": "DensityEstimate",
    "discrete": "Bernoulli BernoulliLaw Categorical CategoricalLaw",
    "distinct": "Points",
    "elliptical": "Elliptical ThresholdElliptical",
    "elliptical_laws": "EllipticalLaw",
    "encoding": "Encoding",
    "foreign": "FittedClassifier FromClassifier PosteriorOverPriors",
    "forest": "ForestProfiles",
    "gains": "NamedActions",
    "gaussian": "Gaussian",
    "gaussian_laws": "BesideConstants DiagonalGaussian DiagonalStudent FullGaussian FullStudent "
    "SphericalStudent",
    "grids": "CellProfiles GridCells",
    "histogram": "FittedHistogram Histogram",
    "histogram_laws": "HistogramColumnsLaw HistogramLaw",
    "kernel": "Kernel KernelColumnsLaw KernelLaw TunedKernel",
    "learned": "Learned",
    "metrics": "Metric",
    "minimax": "Minimax MinimaxSolution",
    "mixtures": "Components MixtureProfiles",
    "multinomial": "CompoundLaw Multinomial MultinomialLaw",
    "nearest": "Finder",
    "neighborhood": "Neighborhood",
    "neighbors": "FittedNeighbors Neighbors",
    "neighbors_law": "NeighborsLaw",
    "partitions": "FuzzyCentres Joined NearestCentre",
    "pooling": "FittedPooled Pooled PooledLaw",
    "positive": "Gamma GammaLaw LogNormal LogNormalLaw",
    "priors": "Shifted ShiftedSolution",
    "profiled": "FittedProfiles Profiled ProfiledLaw",
    "rates": "Exponential ExponentialLaw GammaPrior LomaxLaw NegativeBinomialLaw Poisson "
    "PoissonLaw",
    "scatters": "StudentScatter TylerScatter",
    "settling": "Settled",
    "shapes": "Shape",
    "smoothing": "Smoothing",
    "stats": "Counts Moments Sample Several Sums",
    "stopwatch": "Stage",
    "texts": "Vocabulary",
    "thinning": "Thinned",
    "trees": "Leaves TreeProfiles",
    "whole": "FittedWhole SplitLaw Whole",
    "word_counts": "WordCounts",
    "words": "Words WordsLaw",
}


def trusted_types() -> list[str]:
    """Types of this package that a model may be made of, for the loaders of skops.

    A `.bayes` file needs no such list, and no other package. skops also keeps what that cannot
    hold: pipelines, and models of other packages in ``FromClassifier``. It asks its reader to name
    every type that it does not know. All types here hold settings and arrays; none runs code that
    a file brings. Types of other packages are not listed: look at what
    ``skops.io.get_untrusted_types`` finds beyond these.

    References
    ----------
    https://skops.readthedocs.io/en/stable/persistence.html

    Examples
    --------
    >>> import skops.io
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesrule import recipes, trusted_types
    >>> model = make_pipeline(StandardScaler(), recipes.qda())
    >>> X, y = [[1.0], [2.0], [3.0], [6.0], [7.0], [9.0]], ["well"] * 3 + ["ill"] * 3
    >>> kept = skops.io.dumps(model.fit(X, y))
    >>> skops.io.loads(kept, trusted=trusted_types()).predict([[2.5]]).tolist()
    ['well']
    """
    return [
        f"bayesrule.{module}.{name}" for module, names in _TYPES.items() for name in names.split()
    ]
