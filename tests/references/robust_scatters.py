"""Tyler's and Student's scatters by general optimisers of scipy, for comparison.

Nothing here iterates on weights: likelihoods are climbed by BFGS over the entries of a Cholesky
factor, and estimating equations are solved by Newton's method on finite differences. The values are
kept in ``robust_scatters.json``; run this script to make them anew:

    python tests/references/robust_scatters.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize, root
from scipy.special import gammaln

HERE = Path(__file__).parent


def rows(seed: int, n: int, m: int) -> np.ndarray:
    """Heavy-tailed, correlated rows with a few far outliers, rounded so that JSON keeps them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3.0, (n, 1)) * (rng.normal(size=(n, m)) @ rng.normal(size=(m, m)))
    X[: n // 20] += 30.0
    return np.round(X + np.arange(m), 6)


def unpack(values: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Location and Cholesky factor, its diagonal by logarithms."""
    factor = np.zeros((m, m))
    factor[np.tril_indices(m)] = values[m:]
    factor[np.diag_indices(m)] = np.exp(np.diag(factor))
    return values[:m], factor


def start(X: np.ndarray) -> np.ndarray:
    """Median and diagonal of median deviations."""
    m = X.shape[1]
    location = np.median(X, axis=0)
    factor = np.diag(np.log(np.median(np.abs(X - location), axis=0)))
    return np.concatenate([location, factor[np.tril_indices(m)]])


def squares(X: np.ndarray, location: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return (np.linalg.solve(factor, (X - location).T) ** 2).sum(axis=0)


def climbed(function, first: np.ndarray) -> np.ndarray:
    """A minimum, polished by Newton's method on the gradient."""
    found = minimize(function, first, method="BFGS", options={"gtol": 1e-9, "maxiter": 10_000}).x

    def gradient(x: np.ndarray) -> np.ndarray:
        steps = 1e-4 * np.maximum(np.abs(x), 1.0)
        out = np.empty(len(x))
        for j, h in enumerate(steps):
            at = np.zeros(len(x))
            at[j] = h
            # Five points: an error of the fourth order.
            near = function(x + at) - function(x - at)
            far = function(x + 2 * at) - function(x - 2 * at)
            out[j] = (8 * near - far) / (12 * h)
        return out

    return root(gradient, found, method="hybr", options={"xtol": 1e-13}).x


def student(X: np.ndarray, dof: float | None) -> dict:
    """Most likely Student; the degrees of freedom are fitted where they are None."""
    m = X.shape[1]

    def loss(values: np.ndarray) -> float:
        v = np.exp(values[-1]) if dof is None else dof
        location, factor = unpack(values[: m + m * (m + 1) // 2], m)
        constant = gammaln((v + m) / 2) - gammaln(v / 2) - m / 2 * np.log(v * np.pi)
        t = squares(X, location, factor)
        size = np.log(np.diag(factor)).sum()
        return float(np.mean((v + m) / 2 * np.log1p(t / v)) + size - constant)

    first = start(X) if dof is not None else np.append(start(X), np.log(4.0))
    found = climbed(loss, first)
    location, factor = unpack(found[: m + m * (m + 1) // 2], m)
    v = float(np.exp(found[-1])) if dof is None else dof
    return {"location": location.tolist(), "scatter": (factor @ factor.T).tolist(), "dof": v}


def tyler(X: np.ndarray) -> dict:
    """Tyler's scatter of trace m and the median that goes with it (Hettmansperger and Randles)."""
    n, m = X.shape

    def equations(values: np.ndarray) -> np.ndarray:
        location, factor = unpack(values, m)
        z = np.linalg.solve(factor, (X - location).T).T
        units = z / np.linalg.norm(z, axis=1, keepdims=True)
        shape = m / n * units.T @ units - np.eye(m)
        # Any size does: hold that of the factor.
        shape[0, 0] = np.log(np.diag(factor)).sum()
        return np.concatenate([units.mean(axis=0), shape[np.tril_indices(m)]])

    found = root(equations, start(X), method="hybr", options={"xtol": 1e-14, "maxfev": 100_000})
    location, factor = unpack(found.x, m)
    scatter = factor @ factor.T
    scatter *= m / np.trace(scatter)
    return {
        "location": location.tolist(),
        "scatter": scatter.tolist(),
        "residual": float(np.abs(equations(found.x)).max()),
    }


def main() -> None:
    cases = []
    # No row lies so near to the median of few rows that a floor under its distance would matter.
    for seed, n, m in ((4, 80, 2), (1, 150, 3), (2, 300, 5)):
        X = rows(seed, n, m)
        cases.append(
            {
                "rows": X.tolist(),
                "tyler": tyler(X),
                "student": [student(X, dof) for dof in (1.0, 4.0, None)],
            }
        )
        print(n, m, cases[-1]["tyler"]["residual"], [s["dof"] for s in cases[-1]["student"]])
    (HERE / "robust_scatters.json").write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    main()
