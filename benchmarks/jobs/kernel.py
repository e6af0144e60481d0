"""Kernel densities: sums over all points, and bandwidths that are told from them."""

from __future__ import annotations

import math
from functools import partial
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

from bayesrule import DensityEstimate, Kernel
from benchmarks.contest import Contest
from benchmarks.jobs import job

#: Queries that ours answers; most peers get a part of them.
QUERIES = 10_000
#: Largest difference of two log-densities, where the density is not next to nothing.
LOG_TOLERANCE = 1e-5
#: Log-density below which peers may say what they like: several say minus infinity.
NEXT_TO_NOTHING = math.log(1e-30)


def round_cloud(n: int, n_columns: int, seed: int = 0) -> np.ndarray:
    """Points whose sample covariance is the identity: all peers' bandwidths then mean the same."""
    rows = np.random.default_rng(seed).normal(size=(n, n_columns))
    rows -= rows.mean(axis=0)
    return np.linalg.solve(np.linalg.cholesky(np.cov(rows.T).reshape(n_columns, -1)), rows.T).T


def log_densities_differ(ours: np.ndarray, theirs: np.ndarray) -> str:
    """Log-densities agree on the part that the peer answered; ours are finite all over."""
    if not np.isfinite(ours).all():
        return "some of ours are not finite"
    ours = ours[: len(theirs)]
    told = ours > NEXT_TO_NOTHING
    apart = float(np.abs(ours[told] - theirs[told]).max())
    return "" if apart <= LOG_TOLERANCE else f"log-densities differ by up to {apart:.2g}"


def answers(n_columns: int, n: int) -> Contest:
    """Log-densities of 10,000 queries among n points, Gaussian bumps of Scott's width."""
    points, queries = round_cloud(n, n_columns), round_cloud(QUERIES, n_columns, seed=1)
    queries[0] = 12.0  # far from all points
    width = n ** (-1.0 / (n_columns + 4))
    estimate = DensityEstimate(Kernel(bandwidth=width)).fit(points)
    part = queries[: QUERIES // 100]
    # As far as ours leaves out, too: by default it looks for two digits more.
    tree = KernelDensity(bandwidth=width, rtol=1e-6).fit(points)
    whole = gaussian_kde(points.T, bw_method=width)
    peers = {
        "KernelDensity": lambda: tree.score_samples(part),
        "gaussian_kde": lambda: whole.logpdf(part.T),
    }
    if find_spec("statsmodels"):
        from statsmodels.nonparametric.kernel_density import KDEMultivariate

        model = KDEMultivariate(points, "c" * n_columns, bw=np.full(n_columns, width))
        peers["statsmodels"] = lambda: np.log(model.pdf(part))
    parts = dict.fromkeys(peers, 100)
    return Contest(lambda: estimate.score_samples(queries), log_densities_differ, peers, parts)


for columns, goal in ((1, 4.0), (2, 6.0), (5, 6.0)):
    job(
        f"kernel density, m={columns}: 10,000 log-densities",
        sizes=(10_000, 100_000),
        goals={100_000: goal},
    )(partial(answers, columns))


def sums_by_hand(points: np.ndarray, queries: np.ndarray, width: float) -> np.ndarray:
    """Log-densities by numpy, one query after the other."""
    height = math.log(len(points) * width * math.sqrt(2.0 * math.pi))
    out = np.empty(len(queries))
    for i, x in enumerate(queries[:, 0]):
        terms = -0.5 * ((x - points[:, 0]) / width) ** 2
        out[i] = terms.max() + math.log(np.exp(terms - terms.max()).sum()) - height
    return out


def on_a_line(n: int) -> Contest:
    """Log-densities of n queries among n points of a line, fit and all."""
    points, queries = round_cloud(n, 1), round_cloud(n, 1, seed=1) * 1.5
    width = n**-0.2
    most = 100
    ours = DensityEstimate(Kernel(bandwidth=width))
    peers = {"numpy": lambda: sums_by_hand(points, queries[:most], width)}
    parts = {"numpy": max(n // most, 1)}
    if find_spec("KDEpy"):
        from KDEpy import FFTKDE

        def by_grid() -> np.ndarray:
            at, heights = FFTKDE(bw=width).fit(points[:, 0]).evaluate(1 << 14)
            with np.errstate(divide="ignore"):
                return np.log(np.interp(queries[:, 0], at, heights))

        peers["KDEpy, grid"] = by_grid

    def differ(mine: np.ndarray, theirs: np.ndarray) -> str:
        if len(theirs) < n:
            return log_densities_differ(mine, theirs)
        # A grid is asked where there are points, for four digits.
        apart = np.abs(np.exp(mine) - np.exp(theirs)).max()
        return "" if apart <= 1e-4 else f"densities differ by up to {apart:.2g}"

    return Contest(lambda: ours.fit(points).score_samples(queries), differ, peers, parts)


job(
    "kernel density, m=1: fit, then as many log-densities as points",
    sizes=(10_000, 1_000_000),
    goals={1_000_000: 1.0},
)(on_a_line)


@numba.njit(nogil=True)
def left_out_by_hand(values: np.ndarray, asked: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Mean log-density of some values by all others, for each width: the sum over all pairs."""
    out = np.zeros(widths.size)
    for w in range(widths.size):
        for i in asked:
            total = 0.0
            for j in range(values.size):
                apart = (values[i] - values[j]) / widths[w]
                total += math.exp(-0.5 * apart * apart) if j != i else 0.0
            out[w] += math.log(total / ((values.size - 1) * widths[w] * math.sqrt(2.0 * math.pi)))
    return out / asked.size


def left_out(n: int) -> Contest:
    """The bandwidth of highest left-out likelihood; the peer tries 30 on a part of the points."""
    points = round_cloud(n, 1)
    middle = np.flatnonzero(np.abs(points[:, 0]) < 2.5)
    most = 100
    asked = middle[:: max(len(middle) // most, 1)][:most]
    widths = 0.9 * n**-0.2 * np.geomspace(0.03, 3.0, 30)
    ours = DensityEstimate(Kernel(bandwidth="cv_likelihood"))

    def differ(fitted: Any, theirs: np.ndarray) -> str:
        # As good, on the points that the peer looked at, as their own best but for chance.
        mine = left_out_by_hand(points[:, 0], asked, fitted.bandwidth_)[0]
        behind = theirs.max() - mine
        return "" if behind <= 0.05 else f"its left-out likelihood is {behind:.2g} below the best"

    exact = partial(left_out_by_hand, points[:, 0], asked, widths)
    peers = {"exact sums, compiled": exact}
    return Contest(lambda: ours.fit(points), differ, peers, {"exact sums, compiled": n // most})


job(
    "left-out bandwidth, m=1, 30 candidates: fit",
    sizes=(10_000, 100_000),
    goals={100_000: 1000.0},
    tiny=1000,
)(left_out)
