"""Made-up classes of elliptical shape, whose rows may each have a law and a scale of their own.

    x  =  m_k + sqrt(tau) r S_k^(1/2) u        u uniform on the unit sphere

For the generalised Gaussian r^(2 beta) is a Gamma with shape m / (2 beta) and scale 2; for the
Student r^2 is a chi-squared with m degrees of freedom over a Gamma with shape and rate nu / 2. For
the Gaussian r^2 is a chi-squared, which is the generalised one of beta = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

FAMILIES = ("gaussian", "generalised_gaussian", "student")


@dataclass(frozen=True)
class EllipticalRows:
    """Made-up rows and what they were made from; ``X, y = rows`` unpacks the first two.

    Attributes
    ----------
    X : ndarray of shape (n, m)
    y : ndarray of int of shape (n,)
    means : ndarray of shape (K, m)
    covariances : ndarray of shape (K, m, m)
        The scatters S_k.
    contaminated : bool ndarray of shape (n,)
        Rows that were moved after they were made.
    """

    X: np.ndarray
    y: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    contaminated: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.X, self.y))


def make_elliptical(
    n_samples: int = 5000,
    n_features: int = 10,
    n_classes: int = 5,
    *,
    family: str | Mapping[str, float] = "student",
    shapes: str = "class",
    beta: float | tuple[float, float] = (0.25, 10.0),
    dof: float | tuple[float, float] = (1.0, 10.0),
    tau: float | tuple[float, float] = 1.0,
    means: Any = None,
    covariances: Any = None,
    contamination: float = 0.0,
    scale: float = 4.0,
    isotropic: bool = False,
    random_state: int = 0,
    world: int | None = None,
) -> EllipticalRows:
    """Classes of elliptical rows, as robust discriminants are tried on.

    Parameters
    ----------
    n_samples, n_features, n_classes : int
        Classes are equally likely. ``means`` and ``covariances`` override the last two.
    family : {"gaussian", "generalised_gaussian", "student"}, or dict {name: share}
        The law of the rows, or the share of each class's rows that each law makes.
    shapes : {"class", "point"}
        Whether beta and dof are drawn once for each class or anew for each row.
    beta, dof : number or (low, high)
        Shape of the generalised Gaussian and degrees of freedom of the Student, given or uniform.
    tau : number or (low, high)
        Scale of each row's squared distance, given or uniform.
    means : array of shape (K, m), default=None
        None draws them from the unit sphere.
    covariances : array of shape (K, m, m), default=None
        None draws orthogonal axes and variances uniform in [0.3, 1.7].
    contamination : float in [0, 1]
        Share of the rows that are moved away from the mean of their class, ``scale`` times as far.
    scale : float
        How many times as far.
    isotropic : bool
        Whether rows that are moved also take a direction that knows nothing of the scatter.
    random_state : int
        Seed of the rows.
    world : int, default=None
        Seed of what belongs to the classes: means, scatters and shapes that are drawn. None is
        ``random_state``; training and test rows of one world share it.

    References
    ----------
    Houdouin, Jonckheere, Pascal: FEMDA: une méthode de classification robuste et flexible, GRETSI
    2023, section 3.

    Examples
    --------
    >>> from bayesrule import datasets, recipes
    >>> train = datasets.make_elliptical(2000, contamination=0.25, world=0, random_state=1)
    >>> test = datasets.make_elliptical(2000, world=0, random_state=2)
    >>> scores = [rule.fit(*train).score(*test) for rule in (recipes.qda(), recipes.femda())]
    >>> scores[1] > scores[0] + 0.1
    True
    """
    shares = _shares(family)
    if shapes not in ("class", "point"):
        raise ValueError(f"shapes={shapes!r} is not known; use 'class' or 'point'.")
    for name, value in (("n_samples", n_samples), ("n_features", n_features)):
        if not isinstance(value, Integral) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number from 1 on.")
    if not isinstance(contamination, Real) or not 0.0 <= contamination <= 1.0:
        raise ValueError(f"contamination={contamination!r} must lie between 0 and 1.")
    drawn = np.random.default_rng((random_state if world is None else world, 1))
    means, covariances = _world(means, covariances, n_features, n_classes, drawn)
    n_classes, m = means.shape
    rng = np.random.default_rng((random_state, 2))
    y = rng.integers(n_classes, size=n_samples)
    which = rng.choice(len(FAMILIES), n_samples, p=shares)
    squares = np.empty(n_samples)
    per_class = {
        "beta": _drawn("beta", beta, n_classes, drawn),
        "dof": _drawn("dof", dof, n_classes, drawn),
    }
    for f, (law, name, bounds) in enumerate(
        ((_gaussian, "dof", dof), (_generalised, "beta", beta), (_student, "dof", dof))
    ):
        mine = np.flatnonzero(which == f)
        own = shapes == "point"
        shape = _drawn(name, bounds, len(mine), rng) if own else per_class[name][y[mine]]
        squares[mine] = law(m, shape, rng)
    squares *= _drawn("tau", tau, n_samples, rng)
    directions = _directions(n_samples, m, rng)
    factors = np.linalg.cholesky(covariances)
    apart = np.einsum("nij,nj->ni", factors[y], directions) * np.sqrt(squares)[:, None]
    moved = rng.random(n_samples) < contamination
    if isotropic:
        lengths = np.linalg.norm(apart, axis=1, keepdims=True)
        apart = np.where(moved[:, None], lengths * _directions(n_samples, m, rng), apart)
    apart[moved] *= scale
    return EllipticalRows(means[y] + apart, y, means, covariances, moved)


def _shares(family: Any) -> np.ndarray:
    """Share of each of the families."""
    if isinstance(family, str):
        family = {family: 1.0}
    unknown = [name for name in family if name not in FAMILIES]
    if unknown:
        raise ValueError(f"family={unknown[0]!r} is not known; use one of {', '.join(FAMILIES)}.")
    shares = np.array([float(family.get(name, 0.0)) for name in FAMILIES])
    if (shares < 0).any() or not shares.sum() > 0:
        raise ValueError(f"family={family!r} must hold shares that are not negative, nor all zero.")
    return shares / shares.sum()


def _drawn(name: str, given: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers above zero: given, or uniform between two bounds."""
    low, high = given if isinstance(given, (tuple, list)) else (given, given)
    if not 0.0 < low <= high:
        raise ValueError(f"{name}={given!r} must be a number above 0, or (low, high).")
    return rng.uniform(low, high, n)


def _world(
    means: Any, covariances: Any, m: int, n_classes: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Means and scatters, given or drawn."""
    given = covariances if means is None else means
    if given is not None:
        n_classes, m = np.shape(given)[:2]
    means = _directions(n_classes, m, rng) if means is None else np.asarray(means, np.float64)
    if covariances is None:
        axes = np.linalg.qr(rng.normal(size=(n_classes, m, m)))[0]
        variances = rng.uniform(0.3, 1.7, (n_classes, 1, m))
        covariances = (axes * variances) @ axes.transpose(0, 2, 1)
    covariances = np.asarray(covariances, np.float64)
    if covariances.shape != (*means.shape, m) or means.shape != (n_classes, m):
        raise ValueError(
            f"means of shape {means.shape} and covariances of shape {covariances.shape} do not go "
            "together: give (K, m) and (K, m, m)."
        )
    return means, covariances


def _directions(n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Points on the unit sphere."""
    vectors = rng.normal(size=(n, m))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _gaussian(m: int, shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Squared distances of Gaussian rows."""
    return rng.chisquare(m, len(shape))


def _generalised(m: int, beta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Squared distances of generalised Gaussian rows."""
    return np.asarray((2.0 * rng.gamma(m / (2.0 * beta))) ** (1.0 / beta))


def _student(m: int, dof: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Squared distances of Student rows."""
    return np.asarray(rng.chisquare(m, len(dof)) / (rng.gamma(dof / 2.0) / (dof / 2.0)))
