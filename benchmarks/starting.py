"""What starting costs: importing the package, and the first call of each density.

The first call of a loop compiles it; later processes read it from numba's cache. Each density is
fitted and asked in a fresh process on an empty cache, then in another one on the cache that the
first left behind; what the same calls take the second time within a process is subtracted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.figures import Figure

#: Seconds that importing may add, and that a first call may take.
MOST_IMPORT, MOST_FIRST = 0.15, 5.0
ROUNDS = 5
WHY_LONG = (
    "Its largest loop calls several others, and the compiler infers the types of all, inlines them "
    "and optimises the whole once more."
)


def numbers(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Three columns of overlapping classes."""
    return rng.normal(size=(len(y), 3)) + y[:, None]


def counts(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Counts that grow with the class."""
    return rng.poisson(1.0 + y[:, None], (len(y), 3)).astype(float)


def lengths(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Positive numbers."""
    return rng.gamma(2.0 + y[:, None], size=(len(y), 3))


def codes(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Categories by number."""
    return rng.integers(0, 2 + y[:, None], (len(y), 3))


def flags(rng: np.random.Generator, y: np.ndarray) -> Any:
    """Zeros and ones."""
    return (rng.random((len(y), 3)) < 0.2 + 0.2 * y[:, None]).astype(float)


def mixed(rng: np.random.Generator, y: np.ndarray) -> Any:
    """A frame of a number, a count, a flag and a category."""
    import pandas as pd

    return pd.DataFrame(
        {
            "size": rng.normal(y),
            "visits": rng.poisson(1 + y),
            "member": rng.random(len(y)) < 0.5,
            "town": np.array(list("abcd"))[rng.integers(0, 2, len(y)) + y],
        }
    )


def texts(rng: np.random.Generator, y: np.ndarray) -> Any:
    """A few words a row."""
    words = np.array(["tea", "milk", "bread", "jam", "salt"])
    return [" ".join(rng.choice(words[k : k + 3], 5)) for k in y]


#: How each density is written, and the rows that suit it.
STARTERS: dict[str, Callable[[np.random.Generator, np.ndarray], Any]] = {
    'Gaussian("full")': numbers,
    'Gaussian("tied")': numbers,
    'Gaussian("diag")': numbers,
    'Elliptical("tyler")': numbers,
    'Elliptical("student")': numbers,
    "Categorical()": codes,
    "Bernoulli()": flags,
    "Poisson()": counts,
    "Exponential()": lengths,
    "Gamma()": lengths,
    "LogNormal()": lengths,
    "Multinomial()": counts,
    "Words()": texts,
    "Columns()": mixed,
    "Histogram()": numbers,
    "Histogram(5, joint=True)": numbers,
    "Kernel()": numbers,
    'Kernel(bandwidth="cv_likelihood")': numbers,
    "Neighbors()": numbers,
    "Neighbors(1, edited=True, condensed=True)": numbers,
    "Cells(40)": numbers,
    "Cells(40, smoothing=3)": numbers,
    "Profiled(KMeansProfiles(6))": numbers,
    "Profiled(FuzzyProfiles(6))": numbers,
    'Profiled(FuzzyProfiles(6, centers="fcm"))': numbers,
    "Profiled(MixtureProfiles(4))": numbers,
    "Profiled(TreeProfiles(8))": numbers,
    "Profiled(ForestProfiles(3, 8))": numbers,
    "Profiled(CellProfiles(40))": numbers,
}


def first_call(written: str) -> float:
    """Processor seconds that fit, predict and predict_proba take more at first than later."""
    import bayesrule

    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [40, 30, 20]))
    X = STARTERS[written](rng, y)
    names = {name: getattr(bayesrule, name) for name in bayesrule.__all__}
    clf = bayesrule.BayesClassifier(eval(written, names))
    seconds = []
    for _ in range(2):
        start = time.process_time()
        clf.fit(X, y)
        clf.predict(X)
        clf.predict_proba(X)
        seconds.append(time.process_time() - start)
    return seconds[0] - seconds[1]


def in_a_process(arguments: list[str], **environment: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONWARNINGS": "ignore", **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def on_an_empty_cache(written: str) -> tuple[float, float]:
    """First calls with nothing compiled before, and with everything."""
    arguments = ["-m", "benchmarks.starting", "--measure", written]
    with tempfile.TemporaryDirectory() as folder:
        empty, full = (
            json.loads(in_a_process(arguments, NUMBA_CACHE_DIR=folder)) for _ in range(2)
        )
    return empty, full


def importing() -> list[Figure]:
    """Seconds that the package adds to importing scikit-learn and numba."""
    before = "import time, sklearn, numba\nstart = time.process_time()\n"
    after = "\nprint(time.process_time() - start)"
    figures = []
    for what in ("import bayesrule", "from bayesrule import BayesClassifier, Gaussian"):
        seconds = [float(in_a_process(["-c", before + what + after])) for _ in range(ROUNDS)]
        words = f"`{what}`, after scikit-learn and numba"
        milliseconds = 1e3 * np.array(seconds)
        figures.append(Figure.of(words, milliseconds, "ms", goal=1e3 * MOST_IMPORT, most=True))
    return figures


def figures(at_once: int = 1) -> list[Figure]:
    """All of it; ``at_once`` processes compile side by side."""
    found = importing()
    with ThreadPoolExecutor(at_once) as pool:
        for written, (empty, full) in zip(
            STARTERS, pool.map(on_an_empty_cache, STARTERS), strict=True
        ):
            found += [
                Figure.of(f"`{written}`", [empty], "s", goal=MOST_FIRST, most=True, why=WHY_LONG),
                Figure.of(f"`{written}`, compiled before", [full], "s"),
            ]
    return found


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starting", description=__doc__)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--at-once", type=int, default=1, help="processes side by side")
    options = parser.parse_args()
    if options.measure:
        print(first_call(options.measure))
        return
    for figure in figures(options.at_once):
        print(f"{figure.what}: {figure.median:.3g} {figure.unit} {figure.goal_in_words}")


if __name__ == "__main__":
    main()
