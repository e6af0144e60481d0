"""The same data and seed give the same bits: in every run, on any number of threads, in any chunks.

Many threads may share one model, and many processes one cache of compiled loops.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from densities import DENSITIES, Listed, every_density

import bayesrule
from bayesrule import (
    BayesClassifier,
    Bernoulli,
    Categorical,
    Cells,
    Columns,
    Gaussian,
    Histogram,
    Kernel,
    KMeansProfiles,
    Multinomial,
    Neighbors,
    Poisson,
    Profiled,
    recipes,
)
from bayesrule.density import same_state
from bayesrule.kernels import blocks
from bayesrule.memberships import read_target
from bayesrule.notices import BayesRuleWarning
from bayesrule.testing import toy_rows

assert bayesrule.__file__ is not None
SOURCE = Path(bayesrule.__file__).parents[1]
TESTS = Path(__file__).parent


def rows_of(listed: Listed, n: int = 0) -> tuple[Any, np.ndarray]:
    """The rows that a density is tried on; from them so many, with some noise where they allow."""
    X, y = listed.claims.get("X"), listed.claims.get("y")
    if X is None:
        X, y = toy_rows()
        if n:
            rng = np.random.default_rng(0)
            some = rng.integers(0, len(y), n)
            X, y = X[some] + 0.3 * rng.normal(size=(n, 3)), y[some]
    elif n:
        some = np.random.default_rng(0).integers(0, len(y), n)
        X = X.iloc[some] if hasattr(X, "iloc") else X[some]
        y = y[some]
    return X, y


def answers(clf: BayesClassifier, X: Any, y: np.ndarray) -> list[np.ndarray]:
    """What a classifier says after it was fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesRuleWarning)
        clf.fit(X, y)
        return [clf.predict(X), clf.predict_proba(X), clf.log_density(X)]


def named_recipes() -> Iterator[tuple[str, BayesClassifier]]:
    """Every recipe that takes rows of numbers."""
    for name, recipe in inspect.getmembers(recipes, inspect.isfunction):
        if recipe.__module__ == recipes.__name__ and name != "text_bayes":
            yield name, recipe()


def digests(step: int) -> dict[str, str]:
    """A hash of what every so many-th density and recipe says."""
    found = {}
    for listed in DENSITIES[::step]:
        found[listed.name] = digest(answers(BayesClassifier(listed.density), *rows_of(listed)))
    for name, clf in list(named_recipes())[::step]:
        found[f"recipe {name}"] = digest(answers(clf, *toy_rows()))
    return found


def digest(arrays: list[np.ndarray]) -> str:
    whole = hashlib.sha256()
    for array in arrays:
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def check_another_process(step: int) -> None:
    """With other seeds of hashes, other threads, and other objects in memory."""
    script = """
        import json, sys
        sys.path[:0] = [{tests!r}, {root!r}]
        import conftest, test_same_bits
        print(json.dumps(test_same_bits.digests({step})))
    """
    script = textwrap.dedent(script).format(tests=str(TESTS), root=str(TESTS.parent), step=step)
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE),
        "PYTHONHASHSEED": "12345",
        "BAYESRULE_NUM_THREADS": "4",
    }
    other = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    )
    mine = digests(step)
    printed, _ = other.communicate(timeout=300)
    assert other.returncode == 0
    assert json.loads(printed) == mine


def test_another_process_gives_the_same_bits() -> None:
    check_another_process(7)


@pytest.mark.slow
def test_another_process_gives_the_same_bits_of_everything() -> None:
    check_another_process(1)


# ---------------------------------------------------------------------- threads


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 256 rows, so that a few thousand keep several threads busy."""
    kept: Any = blocks.block_rows.__kwdefaults__
    monkeypatch.setitem(kept, "bytes_per_block", 1)


def check_threads(clf: BayesClassifier, X: Any, y: np.ndarray, threads: tuple[int, ...]) -> None:
    found = []
    for n in threads:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BAYESRULE_NUM_THREADS", str(n))
            found.append(answers(clf, X, y))
    for one in found[1:]:
        for a, b in zip(one, found[0], strict=True):
            np.testing.assert_array_equal(a, b)


#: Rows for two threads, and for four: each has at least two blocks.
TWO, FOUR = 4 * 256 + 1, 8 * 256 + 1


#: One of each kind of learning before counting; the others are slow.
LEARNING = ("profiled-kmeans", "profiled-fuzzy", "profiled-mixture", "cells", "neighbors", "kernel")


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.usefixtures("small_blocks")
def test_two_threads_fit_and_answer_as_one(name: str) -> None:
    listed = next(one for one in DENSITIES if one.name == name)
    check_threads(BayesClassifier(listed.density), *rows_of(listed, TWO), (1, 2))


@pytest.mark.slow
@every_density()
@pytest.mark.usefixtures("small_blocks")
def test_four_threads_fit_and_answer_as_one(listed: Listed) -> None:
    check_threads(BayesClassifier(listed.density), *rows_of(listed, FOUR), (1, 2, 4))


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_recipes_on_four_threads_answer_as_on_one() -> None:
    X, y = rows_of(Listed("numbers", Gaussian(), {}), FOUR)
    for _, clf in named_recipes():
        check_threads(clf, X, y, (1, 2, 4))


# ---------------------------------------------------------------------- chunks

COUNTED = {
    "categorical": Categorical(),
    "bernoulli": Bernoulli(2.5),
    "multinomial": Multinomial(),
    "poisson": Poisson(),
    "histogram": Histogram(5),
    "histogram-joint": Histogram(4, joint=True),
    "cells": Cells(30),
    "kmeans": Profiled(KMeansProfiles(6)),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts_have_the_same_bits_in_any_chunks(name: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.poisson(3.0 + y[:, None], (500, 3)).astype(float)
    weights = rng.integers(0, 4, 500).astype(float)
    clf = BayesClassifier(COUNTED[name]).fit(X, y, weights)
    prepared = clf.density_
    table = prepared.read(X, clf)
    memberships = replace(read_target(y), weights=weights)
    whole = prepared.tally(table, memberships)
    for seed in range(20):
        cuts = np.sort(np.random.default_rng(seed).integers(1, 500, seed))
        parts = [part for part in np.split(np.arange(500), cuts) if len(part)]
        total = None
        for part in parts:
            more = prepared.tally(table.take(part), memberships.take(part))
            total = more if total is None else total + more
        assert same_state(total, whole)
        np.testing.assert_array_equal(prepared.settle(total)(table), prepared.settle(whole)(table))


# ---------------------------------------------------------------------- many threads on one model

SHARED = {
    "full": Gaussian("full"),
    "predictive": Gaussian("diag", estimate="predictive"),
    "columns": Columns(),
    "histogram": Histogram(6),
    "neighbors": Neighbors(5),
    "kernel": Kernel(bandwidth=0.5),
    "profiles": Profiled(KMeansProfiles(6)),
}


def check_shared(density: Any, n_threads: int, n_calls: int) -> None:
    """Threads that ask one unsettled model at once are told what one thread is told."""
    X, y = toy_rows()
    whole = BayesClassifier(density).fit(X, y)

    def fresh() -> tuple[BayesClassifier, BayesClassifier]:
        model = whole._copy()
        model.partial_fit(X[:30], y[:30])  # not settled: the first to ask will do it
        other = whole._copy()
        other.partial_fit(X[30:], y[30:])
        return model, other

    priors = [0.5, 0.2, 0.3]
    gain = np.array([[1.0, 0.0, -1.0, 0.4], [0.0, 2.0, 0.0, 0.4], [-3.0, 0.0, 1.0, 0.4]])

    def ask(model: BayesClassifier, other: BayesClassifier, call: int) -> np.ndarray:
        rows = X[call % 60 : call % 60 + 1 + call % 29]
        match call % 5:
            case 0:
                return model.predict_proba(rows)
            case 1:
                return model.predict(rows)
            case 2:
                return model.with_rule(priors=priors, gain=gain).predict(rows)
            case 3:
                return model.with_rule(priors="uniform").expected_gains(rows)
            case _:
                return model.merge(other).log_density(rows)

    lone = fresh()
    expected = [ask(*lone, call) for call in range(300)]  # all there are: 5, 60 and 29 repeat late
    shared = fresh()
    barrier = threading.Barrier(n_threads)
    wrong: list[Any] = []

    def work(thread: int) -> None:
        try:
            barrier.wait(60)
            for step in range(n_calls):
                call = (thread * 7 + step) % len(expected)
                found = ask(*shared, call)
                if not np.array_equal(found, expected[call]):
                    wrong.append(call)
        except BaseException as error:
            wrong.append(error)

    crowd = [threading.Thread(target=work, args=(t,)) for t in range(n_threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that threads meet everywhere
    try:
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


@pytest.mark.parametrize("name", SHARED)
def test_thirty_two_threads_share_a_model(name: str) -> None:
    check_shared(SHARED[name], 32, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED)
def test_thirty_two_threads_ask_a_thousand_times(name: str) -> None:
    check_shared(SHARED[name], 32, 1000)


# ---------------------------------------------------------------------- many processes on one cache

CROWD = """
    import os, sys, traceback
    import numba
    import numpy as np
    import scipy.special, sklearn.base

    numba.config.CACHE_DIR = {cache!r}

    def work():
        from bayesrule.kernels import decide, gaussian
        weights, total = np.array([[1.0, 3.0]]), np.empty(1)
        decide.normalise(weights, total)
        out = np.empty((1, 1))
        ones = np.ones((1, 1))
        gaussian.log_density_complete(ones, 0 * ones, ones, np.zeros(1), out)
        assert weights.tolist() == [[0.25, 0.75]] and total[0] == 4.0 and out[0, 0] == -1.0
        return [sum(loop.stats.cache_hits.values())
                for loop in (decide.normalise, gaussian.log_density_complete)]

    ready, go = os.pipe()
    children = []
    for _ in range({n}):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.close(go)
                os.read(ready, 1)  # until the parent closes its end: all at once
                work()
                status = 0
            except BaseException:
                traceback.print_exc()
            os._exit(status)
        children.append(child)
    os.close(go)
    failed = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert not any(failed), failed
    print(*work())
"""


def cold_start(n_processes: int) -> None:
    """So many processes compile into one empty cache at once; a later one finds it whole."""
    with tempfile.TemporaryDirectory() as cache:
        script = textwrap.dedent(CROWD).format(cache=cache, n=n_processes)
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1", "1"]  # from the cache


def test_eight_processes_start_on_one_empty_cache() -> None:
    cold_start(8)


@pytest.mark.slow
def test_fifty_cold_starts_of_eight_processes() -> None:
    for _ in range(50):
        cold_start(8)


# ---------------------------------------------------------------------- a package that is closed

AS_NOBODY = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    # Python itself may lie where only root can read; writing is what is forbidden.
    "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search",
)  # fmt: skip

ASK = """
    import os
    import numpy as np
    from bayesrule.kernels import decide
    import bayesrule
    assert bayesrule.__file__.startswith({package!r})
    try:
        open(os.path.join({package!r}, "new"), "w")
        raise SystemExit("the package can be written to")
    except PermissionError:
        pass
    weights, total = np.array([[1.0, 3.0]]), np.empty(1)
    decide.normalise(weights, total)
    print(*weights[0], sum(decide.normalise.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("home", [True, False], ids=["with a home", "without"])
def test_a_read_only_package_compiles_into_the_home_or_not_at_all(home: bool) -> None:
    if os.name != "posix" or os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to become somebody else, and setpriv")
    if subprocess.run([*AS_NOBODY, "true"], capture_output=True, check=False).returncode:
        pytest.skip("setpriv may not change who it is here")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        package, user = Path(folder, "bayesrule"), Path(folder, "home")
        shutil.copytree(SOURCE / "bayesrule", package, ignore=shutil.ignore_patterns("__pycache__"))
        user.mkdir()
        if home:
            os.chown(user, 65534, 65534)
        kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR",)}
        printed = []
        for _ in range(2):
            done = subprocess.run(
                [*AS_NOBODY, sys.executable, "-c", textwrap.dedent(ASK).format(package=folder)],
                capture_output=True,
                text=True,
                timeout=300,
                cwd=folder,
                env={**kept, "PYTHONPATH": folder, "HOME": str(user), "XDG_CACHE_HOME": str(user)},
                check=False,
            )
            assert done.returncode == 0, done.stderr
            printed.append(done.stdout.split())
        assert printed == [["0.25", "0.75", "0"], ["0.25", "0.75", "1" if home else "0"]]
        assert bool(list(user.rglob("*.nbi"))) == home
        assert not list(package.rglob("*.nbi"))
