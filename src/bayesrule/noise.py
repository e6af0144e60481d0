"""Noise that data may come with, put in on purpose: wrong labels, shaken features, blown-up rows.

A noise of level zero changes nothing. At a higher level it changes all that it changes at a lower
one, in the same directions, when the seed is the same: curves over the level are then free of the
luck of the draw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import narwhals as nw
import numpy as np

from bayesrule.memberships import encode_labels, places
from bayesrule.tables import as_read

#: Keeps the draws of noise apart from those of other programs with the same seed.
OWN_STREAM = 0x6E6F697365


class Noise(ABC):
    """What is done to some rows at a level from zero on. Subclasses are final."""

    #: What the level is, for axes and tables.
    meaning: ClassVar[str]
    #: Levels that are tried where none are stated.
    usual: ClassVar[tuple[float, ...]]
    #: Where it is put in, if nothing is said: in the rows that are learned from, or the new ones.
    place: ClassVar[str]

    @abstractmethod
    def learn(self, X: Any, y: Any) -> Any:
        """What must be known of clean rows, of which the noisy ones need not be part."""

    @abstractmethod
    def disturb(
        self, X: Any, y: np.ndarray, level: float, rng: np.random.Generator, known: Any
    ) -> tuple[Any, np.ndarray]:
        """X and y with noise; neither is changed in place."""

    def __call__(
        self, X: Any, y: Any, level: float, *, random_state: int = 0, reference: Any = None
    ) -> tuple[Any, np.ndarray]:
        """Put noise into rows.

        Parameters
        ----------
        X : array or frame of shape (n, D)
        y : array of n labels
        level : float from 0 on
        random_state : int, default=0
        reference : pair (X, y), default=None
            Clean rows that units and centres are taken from; None is these rows.

        Returns
        -------
        X, y
            Copies.
        """
        y = np.asarray(y)
        if not 0.0 <= level < np.inf:
            raise ValueError(f"level={level!r}: expected a number from 0 on.")
        clean_X, clean_y = (X, y) if reference is None else reference
        known = self.learn(clean_X, np.asarray(clean_y))
        # Data that a user drew from the same seed must not be disturbed by their own draws.
        rng = np.random.default_rng([random_state, OWN_STREAM])
        return self.disturb(X, y, float(level), rng, known)


@dataclass(frozen=True)
class LabelNoise(Noise):
    """Labels that are wrong: a share of them becomes another class, each as likely.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import LabelNoise
    >>> X, y = np.zeros((10, 1)), np.repeat(["a", "b"], 5)
    >>> _, noisy = LabelNoise()(X, y, 0.2)
    >>> int((noisy != y).sum())
    2
    """

    meaning: ClassVar[str] = "share of wrong labels"
    usual: ClassVar[tuple[float, ...]] = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
    place: ClassVar[str] = "train"

    def learn(self, X: Any, y: Any) -> np.ndarray:
        """The classes there are."""
        return encode_labels(y)[0]

    def disturb(
        self, X: Any, y: np.ndarray, level: float, rng: np.random.Generator, known: Any
    ) -> tuple[Any, np.ndarray]:
        _check_share(self, level)
        order, steps = rng.permutation(len(y)), rng.integers(1, max(len(known), 2), len(y))
        chosen = order[: round(level * len(y))]
        if len(known) < 2:
            return X, y
        noisy = y.copy()
        # A class that clean rows do not have is no step on the way round.
        place = np.maximum(places(y[chosen], known), 0)
        noisy[chosen] = known[(place + steps[chosen]) % len(known)]
        return X, noisy


@dataclass(frozen=True)
class FeatureNoise(Noise):
    """Gaussian noise on every number, its standard deviation a share of the column's own.

    x_j <- x_j + N(0, (level * std_j)^2). Columns that hold no numbers stay as they are.

    References
    ----------
    Equation (13) of Chen, Gilet, Quost, Destercke: Robust discrete Bayesian classifier under
    covariate and label noise, SUM 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import FeatureNoise
    >>> X = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> noisy, _ = FeatureNoise()(X, np.zeros(10_000), 1.0)
    >>> round(float(noisy.std()), 1)
    1.4
    """

    meaning: ClassVar[str] = "noise of features, in standard deviations"
    usual: ClassVar[tuple[float, ...]] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    place: ClassVar[str] = "test"

    def learn(self, X: Any, y: Any) -> np.ndarray:
        """Standard deviations of the columns."""
        values, _ = _numbers(X)
        found: np.ndarray = np.nanstd(values, axis=0)
        return found

    def disturb(
        self, X: Any, y: np.ndarray, level: float, rng: np.random.Generator, known: Any
    ) -> tuple[Any, np.ndarray]:
        values, put_back = _numbers(X)
        drawn = rng.normal(size=values.shape)
        return (put_back(values + level * known * drawn) if level else X), y


@dataclass(frozen=True)
class ScaleNoise(Noise):
    """Rows blown up about the mean of their class: a share of them becomes m + factor (x - m).

    Parameters
    ----------
    factor : float
        How many times further away such a row lies.

    References
    ----------
    Houdouin, Jonckheere, Pascal: analyse discriminante robuste aux changements d'échelle (FEMDA),
    GRETSI 2023.

    Examples
    --------
    >>> from bayesrule import ScaleNoise
    >>> noisy, _ = ScaleNoise(10)([[-1.0], [1.0]], ["a", "a"], 1.0)
    >>> noisy.tolist()
    [[-10.0], [10.0]]
    """

    factor: float = 5.0

    meaning: ClassVar[str] = "share of rows blown up"
    usual: ClassVar[tuple[float, ...]] = (0.0, 0.12, 0.24, 0.36, 0.48, 0.6)
    place: ClassVar[str] = "train"

    def __post_init__(self) -> None:
        if not (isinstance(self.factor, Real) and np.isfinite(self.factor)):
            raise ValueError(f"ScaleNoise(factor={self.factor!r}): expected a finite number.")

    def learn(self, X: Any, y: Any) -> dict[Any, np.ndarray]:
        """Means of the classes."""
        values, _ = _numbers(X)
        classes, codes = encode_labels(y)
        return {
            label: np.nanmean(values[codes == k], axis=0)
            for k, label in enumerate(classes.tolist())
        }

    def disturb(
        self, X: Any, y: np.ndarray, level: float, rng: np.random.Generator, known: Any
    ) -> tuple[Any, np.ndarray]:
        _check_share(self, level)
        values, put_back = _numbers(X)
        chosen = rng.permutation(len(y))[: round(level * len(y))]
        if len(chosen) == 0:
            return X, y
        labels = y[chosen].tolist()
        # A row of a class without clean rows is its own centre.
        centres = np.array(
            [known.get(label, row) for label, row in zip(labels, values[chosen], strict=True)]
        )
        noisy = values.copy()
        noisy[chosen] = centres + float(self.factor) * (values[chosen] - centres)
        return put_back(noisy), y


NOISES: dict[str, Callable[[], Noise]] = {
    "labels": LabelNoise,
    "features": FeatureNoise,
    "scale": ScaleNoise,
}


def as_noise(noise: Any) -> Noise:
    """A noise by its name, or as it is."""
    if isinstance(noise, Noise):
        return noise
    if not isinstance(noise, str) or noise not in NOISES:
        raise ValueError(
            f"noise={noise!r} is not known; use one of {list(NOISES)}, or a noise such as "
            "ScaleNoise(factor=8)."
        )
    return NOISES[noise]()


def _check_share(noise: Noise, level: float) -> None:
    if level > 1.0:
        raise ValueError(f"level={level!r}: {type(noise).__name__} takes a share from 0 to 1.")


def _numbers(X: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """The numbers of X as one array, and how to put others in their place."""
    X = as_read(X)
    if not (hasattr(X, "columns") or hasattr(X, "column_names")):
        values = np.asarray(X)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(
                "X must be a frame, or a dense array of numbers with two dimensions, for noise to "
                f"be put in; got {type(X).__name__} of shape {values.shape} and dtype "
                f"{values.dtype}."
            )
        return values.astype(np.float64), lambda noisy: noisy
    frame = nw.from_native(X, eager_only=True)
    names = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    values = np.empty((len(frame), len(names)))
    for j, name in enumerate(names):
        values[:, j] = frame[name].to_numpy()

    def put_back(noisy: np.ndarray) -> Any:
        backend = nw.get_native_namespace(frame)
        columns = [
            nw.new_series(name, np.ascontiguousarray(column), backend=backend)
            for name, column in zip(names, noisy.T, strict=True)
        ]
        return frame.with_columns(*columns).to_native()

    return values, put_back
