"""Shapes of kernels: heights, volumes, spreads, distribution functions and draws.

A kernel K is stated by its profile, which falls with the distance u from the centre, and by its
end. The density of one bump at distance u of width one is ``profile(u) / volume``: over D columns
a product kernel has the volume of the line to the power D, a radial one that of

    S_D * integral of r^(D - 1) profile(r) dr,     S_D the surface of the unit sphere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, gammaln

from bayesrule.kernels import below, bumps


@dataclass(frozen=True)
class Shape:
    """One kernel.

    Attributes
    ----------
    name : str
    code : int
        What compiled loops know it by.
    reach : float
        Distance at which it ends; infinite where it never does.
    profile : function of an array of distances
    """

    name: str
    code: int
    reach: float
    profile: Callable[[np.ndarray], np.ndarray]

    def __getstate__(self) -> dict[str, str]:
        return {"name": self.name}  # no function: skops keeps none, pickle none without a name

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(SHAPES[state["name"]].__dict__)

    @property
    def falls_linearly(self) -> bool:
        """Whether far out the logarithm falls with the distance, not with its square."""
        return self.code in (bumps.LAPLACE, bumps.LOGISTIC)

    def radial(self, power: int, n_columns: int) -> float:
        """Integral of r^(D - 1) profile(r)^power over all radii."""
        return _radial(self.name, power, n_columns)

    def log_volume(self, n_columns: int, product: bool) -> float:
        """Logarithm of the integral of the profile over all space."""
        if product or n_columns == 1:
            return n_columns * math.log(2.0 * self.radial(1, 1))
        return _log_sphere(n_columns) + math.log(self.radial(1, n_columns))

    def variance(self, n_columns: int, product: bool) -> float:
        """Variance of one column of a bump of width one."""
        d = 1 if product else n_columns
        return _radial(self.name, 1, d + 2) / self.radial(1, d) / d

    def log_roughness(self, n_columns: int, product: bool) -> float:
        """Logarithm of the integral of the squared density of a bump."""
        d = 1 if product else n_columns
        one = math.log(self.radial(2, d)) - 2.0 * math.log(self.radial(1, d)) - _log_sphere(d)
        return one * (n_columns if product else 1)

    def width_beside_gaussian(self, n_columns: int, product: bool) -> float:
        """How many times as wide as a Gaussian it must be to smooth as much.

        The ratio of canonical bandwidths (R(K) / var(K)^2)^(1 / (D + 4)) of Marron and Nolan:
        about 2.2 for a parabola that ends at 1, 3.5 for a square of full width 1.
        """
        gauss = SHAPES["gaussian"]
        apart = self.log_roughness(n_columns, product) - gauss.log_roughness(n_columns, product)
        apart -= 2.0 * math.log(self.variance(n_columns, product))
        return math.exp(apart / (n_columns + 4))

    def distribution(self, places: np.ndarray) -> np.ndarray:
        """Share of a bump of width one on a line that lies below each place (n,)."""
        out = np.empty(len(places))
        below.below_places(self.code, np.ascontiguousarray(places, np.float64), out)
        return out

    def draw(self, n: int, n_columns: int, product: bool, rng: np.random.Generator) -> np.ndarray:
        """Draws from one bump of width one about zero, shape (n, D)."""
        if self.name == "gaussian":
            return rng.standard_normal((n, n_columns))
        if product or n_columns == 1:
            signs = rng.choice([-1.0, 1.0], (n, n_columns))
            return signs * self._radii(n * n_columns, 1, rng).reshape(n, n_columns)
        directions = rng.standard_normal((n, n_columns))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * self._radii(n, n_columns, rng)[:, None]

    def _radii(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of the radius, whose density is r^(d - 1) profile(r)."""
        parabolas = {"epanechnikov": 1, "biweight": 2, "triweight": 3}
        if self.name == "square":
            return 0.5 * rng.random(n) ** (1.0 / d)
        if self.name == "triangle":
            return rng.beta(d, 2.0, n)
        if self.name in parabolas:
            return np.sqrt(rng.beta(0.5 * d, parabolas[self.name] + 1.0, n))
        if self.name == "laplace":
            return rng.gamma(d, 1.0, n)
        # Thinned: a law that lies above, from which it is easy to draw.
        kept = np.empty(0)
        while len(kept) < n:
            if self.name == "logistic":
                radii = rng.gamma(d, 1.0, 4 * n)
                share = expit(radii) ** 2
            else:
                radii = np.sqrt(rng.beta(0.5 * d, 2.0, 8 * n + 64))
                # Cosine and tricube lie below 1.05 times the parabola with the same end.
                share = self.profile(radii) / (1.05 * (1.0 - radii**2))
            kept = np.concatenate([kept, radii[rng.random(len(radii)) < share]])
        return kept[:n]


def _log_sphere(n_columns: int) -> float:
    """Logarithm of the surface of the unit sphere in D columns: 2, 2 pi, 4 pi, ..."""
    half = 0.5 * n_columns
    return math.log(2.0) + half * math.log(math.pi) - float(gammaln(half))


def log_ball(n_columns: int) -> float:
    """Logarithm of the volume of the unit ball in D columns: 2, pi, 4/3 pi, ..."""
    return _log_sphere(n_columns) - math.log(n_columns)


@cache
def _radial(name: str, power: int, n_columns: int) -> float:
    shape = SHAPES[name]
    if name == "gaussian":
        half = 0.5 * n_columns
        return math.exp(float(gammaln(half)) - math.log(2.0) - half * math.log(0.5 * power))

    def integrand(r: float) -> float:
        return r ** (n_columns - 1) * float(shape.profile(np.asarray(r))) ** power

    end = shape.reach if math.isfinite(shape.reach) else (60.0 + 8.0 * n_columns) / power
    points = None if math.isfinite(shape.reach) else [n_columns / power, 4.0 * n_columns / power]
    found, _ = quad(integrand, 0.0, end, limit=400, points=points, epsabs=0.0, epsrel=1e-12)
    return float(found)


def _parabola(u: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - u * u, 0.0)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("gaussian", bumps.GAUSSIAN, math.inf, lambda u: np.exp(-0.5 * u * u)),
        Shape("laplace", bumps.LAPLACE, math.inf, lambda u: np.exp(-u)),
        Shape("logistic", bumps.LOGISTIC, math.inf, lambda u: np.exp(-u) / (1.0 + np.exp(-u)) ** 2),
        Shape("square", bumps.SQUARE, 0.5, lambda u: (np.abs(u) <= 0.5).astype(float)),
        Shape("triangle", bumps.TRIANGLE, 1.0, lambda u: np.maximum(1.0 - np.abs(u), 0.0)),
        Shape("epanechnikov", bumps.EPANECHNIKOV, 1.0, _parabola),
        Shape("biweight", bumps.BIWEIGHT, 1.0, lambda u: _parabola(u) ** 2),
        Shape("triweight", bumps.TRIWEIGHT, 1.0, lambda u: _parabola(u) ** 3),
        Shape("tricube", bumps.TRICUBE, 1.0, lambda u: np.maximum(1.0 - np.abs(u) ** 3, 0.0) ** 3),
        Shape(
            "cosine",
            bumps.COSINE,
            1.0,
            lambda u: np.where(np.abs(u) < 1.0, np.cos(0.5 * np.pi * np.minimum(u, 1.0)), 0.0),
        ),
    )
}


def find_shape(name: str) -> Shape:
    """The shape of a name that was checked before; Bartlett's is that of Epanechnikov."""
    return SHAPES["epanechnikov" if name == "bartlett" else name]
