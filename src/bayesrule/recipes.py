"""Named compositions: functions that return a :class:`BayesClassifier`.

There is no class per method. A recipe's density is a parameter like any other, so a search can
tune ``density__shrinkage`` or try another density altogether.
"""
# Longer than most files here: it is a list of named functions, most of them documentation.

from __future__ import annotations

from typing import Any

from bayesrule.cells import Cells
from bayesrule.centers import FuzzyProfiles, KMeansProfiles
from bayesrule.classifier import BayesClassifier
from bayesrule.columns import Columns
from bayesrule.elliptical import Elliptical
from bayesrule.forest import ForestProfiles
from bayesrule.gaussian import Gaussian
from bayesrule.kernel import Kernel
from bayesrule.minimax import Minimax
from bayesrule.neighbors import Neighbors
from bayesrule.profiled import Profiled
from bayesrule.words import Words


def gaussian_nb(priors: Any = "empirical", gain: Any = None) -> BayesClassifier:
    """Gaussian naive Bayes: a variance per class and column.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> recipes.gaussian_nb().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[0.4]])
    array([0])
    """
    return BayesClassifier(Gaussian("diag"), priors, gain)


def lda(
    shrinkage: float | str | None = None, priors: Any = "empirical", gain: Any = None
) -> BayesClassifier:
    """Linear discriminant analysis: one covariance for all classes.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 6.0], [6.0, 5.0], [6.0, 6.0]]
    >>> recipes.lda().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 1.0]])
    array([0])
    """
    return BayesClassifier(Gaussian("tied", shrinkage), priors, gain)


def qda(
    shrinkage: float | str | None = None, priors: Any = "empirical", gain: Any = None
) -> BayesClassifier:
    """Quadratic discriminant analysis: a covariance per class.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 6.0], [6.0, 5.0], [6.0, 6.0]]
    >>> recipes.qda().fit(X, [0, 0, 0, 1, 1, 1]).predict([[2.0, 1.0]])
    array([0])
    """
    return BayesClassifier(Gaussian("full", shrinkage), priors, gain)


def femda(
    tied: bool = False,
    shrinkage: float | str | None = "auto",
    priors: Any = "empirical",
    gain: Any = None,
    **settings: Any,
) -> BayesClassifier:
    """Flexible EM-inspired discriminant analysis: classes whose rows may each have a scale.

    Neither Tyler's scatters nor the score, the logarithm of the distance, see how far out rows are.

    Parameters
    ----------
    tied, shrinkage
        As in :class:`bayesrule.Elliptical`.
    priors, gain
        As in :class:`BayesClassifier`.
    **settings
        Further settings of :class:`bayesrule.Elliptical`, such as ``location_weights``.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0, 1], [1, 0], [1, 1], [90, 91], [5, 6], [6, 5], [6, 6], [7, 7]]
    >>> recipes.femda(tied=True).fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).predict([[2, 1], [5, 5]])
    array([0, 1])
    """
    density = Elliptical("tyler", tied=tied, shrinkage=shrinkage, **settings)
    return BayesClassifier(density, priors, gain)


def t_qda(
    dof: float | str = "fitted",
    tied: bool = False,
    shrinkage: float | str | None = "auto",
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Discriminant analysis with a multivariate Student per class.

    Parameters
    ----------
    dof, tied, shrinkage
        As in :class:`bayesrule.Elliptical`.
    priors, gain
        As in :class:`BayesClassifier`.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0, 1], [1, 0], [1, 1], [90, 91], [5, 6], [6, 5], [6, 6], [7, 7]]
    >>> recipes.t_qda(2.0, tied=True).fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).predict([[2, 1], [5, 5]])
    array([0, 1])
    """
    return BayesClassifier(Elliptical("student", None, tied, shrinkage, dof), priors, gain)


def gqda(
    threshold: Any = "fitted",
    tied: bool = False,
    shrinkage: float | str | None = "auto",
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Generalised quadratic discriminant analysis: the log-determinants count c times.

    Parameters
    ----------
    threshold, tied, shrinkage
        As in :class:`bayesrule.Elliptical`; ``log_density_.threshold`` is the c that was found.
    priors, gain
        As in :class:`BayesClassifier`.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0, 1], [1, 0], [1, 1], [2, 2], [5, 9], [9, 5], [6, 6], [9, 9]]
    >>> clf = recipes.gqda().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> clf.predict([[2, 1], [5, 5]]), clf.log_density_.threshold
    (array([0, 1]), 1.0)
    """
    density = Elliptical("sample", "gqda", tied, shrinkage, threshold=threshold)
    return BayesClassifier(density, priors, gain)


def rgqda(
    scatter: str = "mcd",
    threshold: Any = "fitted",
    tied: bool = False,
    shrinkage: float | str | None = "auto",
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Robust generalised quadratic discriminant analysis: GQDA over a robust scatter.

    Parameters
    ----------
    scatter, threshold, tied, shrinkage
        As in :class:`bayesrule.Elliptical`.
    priors, gain
        As in :class:`BayesClassifier`.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X = [[0, 1], [1, 0], [1, 1], [90, 91], [5, 9], [9, 5], [6, 6], [9, 9]]
    >>> recipes.rgqda("huber").fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).predict([[2, 1], [7, 7]])
    array([0, 1])
    """
    density = Elliptical(scatter, "gqda", tied, shrinkage, threshold=threshold)
    return BayesClassifier(density, priors, gain)


def naive_bayes(
    columns: Any = None, priors: Any = "empirical", gain: Any = None, **by_type: Any
) -> BayesClassifier:
    """Naive Bayes for tables of mixed columns: a density for each column by its type.

    Parameters
    ----------
    columns : dict {column or tuple of columns: Density}, default=None
        Densities of your choice; the other columns get theirs by type.
    priors, gain
        As in :class:`BayesClassifier`.
    **by_type
        ``numbers``, ``counts``, ``flags``, ``categories`` or ``texts``: what columns of a type get.

    Notes
    -----
    Numbers that are clearly no bells are told better by ``numbers=Histogram("doane")``, which also
    adds up over files, and, where they are few, by :func:`kernel_bayes`. Over fifteen real sets
    (``reproduce/kernels.py``) histograms were three points more often right than bells, and much
    less sure of what was wrong; but small sets of bells lost by them, up to four points.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesrule import recipes
    >>> X = pd.DataFrame({"age": [30.5, 41.0, 65.2, 70.1], "town": ["A", "B", "B", None]})
    >>> recipes.naive_bayes().fit(X, ["no", "no", "yes", "yes"]).predict(X[:1])
    array(['no'], dtype='<U3')
    """
    return BayesClassifier(Columns(columns, **by_type), priors, gain)


def text_bayes(
    alpha: float = 1.0,
    ngram_range: tuple[int, int] = (1, 2),
    binary: bool = True,
    min_df: float = 1,
    vectorizer: Any = None,
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Naive Bayes on texts: single words and pairs, each counted once per text.

    ``top_words`` tells what it goes by, and ``displays.WordCloudDisplay`` shows it.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> texts = ["win cash now!", "free cash prize!", "see you at lunch", "are you home now?"]
    >>> clf = recipes.text_bayes().fit(texts, ["spam", "spam", "ham", "ham"])
    >>> clf.predict(["cash prize inside", "you home?"]).tolist()
    ['spam', 'ham']
    """
    density = Words(alpha, ngram_range, binary, min_df, vectorizer=vectorizer)
    return BayesClassifier(density, priors, gain)


def dbc(
    n_profiles: Any = 20, metric: str = "raw", priors: Any = "empirical", gain: Any = None
) -> BayesClassifier:
    """The discrete Bayesian classifier: class shares in the cells of k-means.

    Its probabilistic form, PDBC, is ``decision_proba``.

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of cells; "auto" or a list is chosen from by cross-validated gain.
    metric : {"raw", "standardised", "within", "lda"}
        As in :class:`KMeansProfiles`; "raw" is the paper's.
    priors, gain
        As in :class:`BayesClassifier`.

    References
    ----------
    Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under covariate and label
    noise, SUM 2024.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X, y = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]], ["low"] * 3 + ["high"] * 3
    >>> recipes.dbc(2).fit(X, y).predict([[1.0], [4.0]]).tolist()
    ['low', 'high']
    """
    return BayesClassifier(Profiled(KMeansProfiles(n_profiles, metric)), priors, gain)


def spdbc(
    n_profiles: Any = 20,
    fuzziness: Any = 1.3,
    metric: str = "raw",
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """The soft probabilistic discrete Bayesian classifier: fuzzy memberships in k-means' cells.

    Parameters
    ----------
    n_profiles : int, "auto" or list of ints
        Number of profiles; "auto" or a list is chosen from by cross-validated gain.
    fuzziness : float > 1, "auto" or list of floats
        How soft the memberships are; chosen likewise.
    metric, priors, gain
        As in :func:`dbc`.

    References
    ----------
    Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under covariate and label
    noise, SUM 2024.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X, y = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]], ["low"] * 3 + ["high"] * 3
    >>> recipes.spdbc(2, 2).fit(X, y).predict_proba([[2.7], [0.2]]).round(2)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    profiles = FuzzyProfiles(n_profiles, fuzziness, "kmeans", metric)
    return BayesClassifier(Profiled(profiles), priors, gain)


def spdbc_forest(
    n_partitions: int = 20,
    n_profiles: Any = "root",
    fuzziness: Any = 1.3,
    priors: Any = "empirical",
    gain: Any = None,
    **settings: Any,
) -> BayesClassifier:
    """A seeded forest of soft partitions: the mean of many SPDBC posteriors, each its own metric.

    It is more accurate than one partition, and keeps more of that under noisy labels and features.

    Parameters
    ----------
    n_partitions : int
        Number of partitions.
    n_profiles : int, "root", "auto" or list of ints
        Profiles of each; "root" lets them grow with the root of the number of rows, "auto" or a
        list is chosen from by cross-validated gain.
    fuzziness : float > 1, "auto" or list of floats
        How soft the memberships are; chosen likewise.
    priors, gain
        As in :func:`dbc`.
    **settings
        Further settings of :class:`ForestProfiles`: ``metrics``, ``per_class``, ``random_state``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from bayesrule import recipes
    >>> X, y = load_wine(return_X_y=True)
    >>> for clf in (recipes.spdbc(), recipes.spdbc_forest()):
    ...     print(cross_val_score(clf, X, y).mean().round(2))
    0.68
    0.99
    """
    profiles = ForestProfiles(n_partitions, n_profiles, fuzziness, **settings)
    return BayesClassifier(Profiled(profiles), priors, gain)


def dmc(
    box: Any = None,
    n_profiles: Any = 20,
    fuzziness: Any = None,
    metric: str = "raw",
    randomised: bool = False,
    gain: Any = None,
) -> BayesClassifier:
    """The discrete minimax classifier: the rule for the least favourable priors.

    Parameters
    ----------
    box : None, array of shape (K, 2), or dict {class: (low, high)}
        Bounds of the priors, as in :class:`Minimax`.
    n_profiles : int, "auto" or list of ints
        Number of profiles, as in :func:`spdbc`.
    fuzziness : float > 1, "auto" or list of floats, default=None
        How soft the memberships are; None is hard.
    metric
        As in :func:`dbc`.
    randomised : bool
        Whether decisions are drawn so that the class risks are equal wherever a prior is inside the
        simplex and the box; the deterministic rule for the same priors may have unequal ones.
    gain
        As in :class:`BayesClassifier`.

    References
    ----------
    Gilet, Barbosa, Fillatre: Discrete box-constrained minimax classifier for uncertain and
    imbalanced class proportions, IEEE TPAMI 44(6), 2022.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X, y = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], [0, 0, 0, 0, 1, 1]
    >>> clf = recipes.dmc(n_profiles=2, randomised=True).fit(X, y)
    >>> clf.prior_solution_.randomised_class_risks
    array([0.2, 0.2])
    """
    profiles = (
        KMeansProfiles(n_profiles, metric)
        if fuzziness is None
        else FuzzyProfiles(n_profiles, fuzziness, "kmeans", metric)
    )
    return BayesClassifier(Profiled(profiles), Minimax(box, randomised=randomised), gain)


def quantized(
    max_cells: int = 10_000,
    levels: Any = None,
    boundaries: Any = "optimized",
    smoothing: Any = 0,
    priors: Any = "empirical",
    gain: Any = None,
    **settings: Any,
) -> BayesClassifier:
    """A decision table of at most so many cells, its boundaries placed exactly.

    Parameters
    ----------
    max_cells, levels, boundaries, smoothing
        As in :class:`bayesrule.Cells`.
    priors, gain
        As in :class:`BayesClassifier`.
    **settings
        Further settings of the cells: ``objective``, ``validation``, ``time_limit``, ...

    References
    ----------
    Panda, Garg: Discrete Bayes Decision Rule Machine Learning Project.

    Examples
    --------
    >>> from bayesrule import datasets, recipes
    >>> world = datasets.make_cells(5000, (2, 3), seed=1)
    >>> clf = recipes.quantized(20, priors=world.priors, gain=world.gain).fit(world.X, world.y)
    >>> clf.density_.levels_, round(world.gain_of(clf) / world.optimal_gain, 2)
    ((2, 3), 1.0)
    """
    density = Cells(max_cells, levels, boundaries, smoothing, **settings)
    return BayesClassifier(density, priors, gain)


def parzen(
    bandwidth: Any = "cv_likelihood",
    kernel: str = "gaussian",
    priors: Any = "empirical",
    gain: Any = None,
    **settings: Any,
) -> BayesClassifier:
    """A kernel density per class over all columns together.

    Parameters
    ----------
    bandwidth, kernel
        As in :class:`bayesrule.Kernel`.
    priors, gain
        As in :class:`BayesClassifier`.
    **settings
        Further settings of the kernel density: ``product``, ``adaptive``, ``shared``.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X, y = [[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]], ["low"] * 3 + ["high"] * 3
    >>> recipes.parzen(bandwidth=1.0).fit(X, y).predict([[2.5], [6.5]]).tolist()
    ['low', 'high']
    """
    return BayesClassifier(Kernel(kernel, bandwidth, **settings), priors, gain)


def kernel_bayes(
    columns: Any = None,
    bandwidth: Any = "silverman",
    kernel: str = "gaussian",
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """Naive Bayes with a kernel density for each numeric column, for tables of mixed columns.

    Parameters
    ----------
    columns : dict {column or tuple of columns: Density}, default=None
        Densities of your choice; other numbers get kernels, other columns what
        :func:`naive_bayes` gives them.
    bandwidth, kernel
        As in :class:`bayesrule.Kernel`.
    priors, gain
        As in :class:`BayesClassifier`.

    References
    ----------
    John, Langley: Estimating continuous distributions in Bayesian classifiers, UAI 1995.

    Examples
    --------
    Two humps that one bell would miss:

    >>> from bayesrule import recipes
    >>> X, y = [[0.1], [0.3], [9.8], [9.9], [5.1], [5.3]], ["edge"] * 4 + ["middle"] * 2
    >>> recipes.kernel_bayes().fit(X, y).predict([[0.2], [5.2]]).tolist()
    ['edge', 'middle']
    """
    density = Kernel(kernel, bandwidth, joint=False)
    by_type = {"numbers": density, "counts": Kernel(kernel, bandwidth, joint=False)}
    return BayesClassifier(Columns(columns, **by_type), priors, gain)


def knn(
    k: Any = "cv",
    metric: Any = "standardised",
    weights: Any = "uniform",
    priors: Any = "empirical",
    gain: Any = None,
    **settings: Any,
) -> BayesClassifier:
    """The k nearest neighbours, k chosen by the gain of the decisions on rows left out in turn.

    Parameters
    ----------
    k, metric, weights
        As in :class:`bayesrule.Neighbors`.
    priors, gain
        As in :class:`BayesClassifier`. They enter by Bayes' rule: P(k | x) ∝ prior_k k_k / n_k.
    **settings
        Further settings of the neighbours: ``feature_weights``, ``edited``, ``condensed``,
        ``smoothing``.

    Examples
    --------
    >>> from bayesrule import recipes
    >>> X, y = [[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]], ["low"] * 3 + ["high"] * 3
    >>> recipes.knn(k=3).fit(X, y).predict([[2.5], [6.5]]).tolist()
    ['low', 'high']
    """
    return BayesClassifier(Neighbors(k, metric, weights, **settings), priors, gain)


def nearest_neighbor(
    metric: Any = "standardised",
    edited: bool = False,
    condensed: bool = False,
    priors: Any = "empirical",
    gain: Any = None,
) -> BayesClassifier:
    """The class of the nearest row, of all of them or of those that thinning keeps.

    Parameters
    ----------
    metric, edited, condensed
        As in :class:`bayesrule.Neighbors`.
    priors, gain
        As in :class:`BayesClassifier`.

    Examples
    --------
    Two of the rows decide as all ten do:

    >>> import numpy as np
    >>> from bayesrule import recipes
    >>> X, y = np.arange(10.0)[:, None], np.repeat([0, 1], 5)
    >>> clf = recipes.nearest_neighbor(condensed=True).fit(X, y)
    >>> clf.log_density_.thinning.kept, clf.score(X, y)
    (2, 1.0)
    """
    return BayesClassifier(Neighbors(1, metric, edited=edited, condensed=condensed), priors, gain)
