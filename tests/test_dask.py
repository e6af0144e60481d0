"""Many machines: Dask gives the bits that one thread gives, whatever dies on the way."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesrule import BayesClassifier, Columns, Gaussian, Minimax, spread
from bayesrule.density import same_state
from bayesrule.notices import NoWorkersWarning
from bayesrule.parts import BadFileError
from bayesrule.spread import LostExecutorError
from tests.test_stream import CASES, assert_same, rows, small_parts, write_some  # noqa: F401

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
NUMBERS = ["near", "visits"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers that are threads of this process: quick to start."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def assert_same_bits(one: BayesClassifier, other: BayesClassifier) -> None:
    np.testing.assert_array_equal(one.class_count_, other.class_count_)
    assert same_state(one.stats_, other.stats_)
    assert same_state(one.density_, other.density_)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["full", "categorical", "columns"])
def test_a_cluster_gives_the_same_bits(name: str, client: Any, tmp_path: Path) -> None:
    density, columns = CASES[name]
    asked = {"target": "class", "columns": columns, "sample": 200}
    pattern = write_some(rows(), tmp_path, ".parquet", 4)
    alone = BayesClassifier(density).fit_files(pattern, **asked, executor=1)
    clf = BayesClassifier(density).fit_files(pattern, **asked, executor=client)
    assert_same_bits(clf, alone)
    assert clf.files_ == alone.files_


def test_answers_by_a_cluster(client: Any, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    frame = rows()
    pattern = write_some(frame, tmp_path / "given", ".parquet", 4)
    clf = BayesClassifier().fit(frame[NUMBERS], frame["class"])
    for out in ("folder", "one.parquet"):
        clf.predict_files(pattern, tmp_path / out, executor=client)
        found = pd.read_parquet(tmp_path / out)
        assert found["decision"].tolist() == clf.predict(frame[NUMBERS]).tolist()


# ---------------------------------------------------------------------- collections


@pytest.mark.parametrize("name", ["full", "categorical", "columns"])
def test_frames_of_dask_give_what_memory_gives(name: str, client: Any) -> None:
    import dask.dataframe as dd

    density, columns = CASES[name]
    frame = rows()
    frame["w"] = np.arange(len(frame)) % 3 + 1.0
    given = dd.from_pandas(frame, npartitions=5, sort=False)
    given = given[given["near"] < 1e9]  # a graph, not data
    for weight in (None, "w"):
        whole = BayesClassifier(density).fit(
            frame[columns], frame["class"], None if weight is None else frame["w"]
        )
        fits = [
            BayesClassifier(density).fit_files(
                given, "class", weight=weight, columns=columns, executor=executor
            )
            for executor in (1, 2, client)
        ]
        for clf in fits:
            assert clf.feature_names_in_.tolist() == columns
            assert clf.files_.n_parts == 5
            assert_same(clf, whole, frame[columns], 1e-8)
            assert_same_bits(clf, fits[0])


def test_frames_may_have_empty_partitions_and_labels_beside_them(client: Any) -> None:
    import dask.dataframe as dd

    frame = rows()
    given = dd.from_pandas(frame, npartitions=6)
    few = given.map_partitions(lambda part: part[part.index >= 500])  # some are empty now
    clf = BayesClassifier().fit_files(few, "class", columns=NUMBERS)
    whole = BayesClassifier().fit(frame[NUMBERS].iloc[500:], frame["class"].iloc[500:])
    assert_same(clf, whole, frame[NUMBERS], 1e-10)
    clf = BayesClassifier().fit_files(given[NUMBERS], given["class"], executor=client)
    assert_same(clf, BayesClassifier().fit(frame[NUMBERS], frame["class"]), frame[NUMBERS], 1e-10)
    assert clf.feature_names_in_.tolist() == NUMBERS


def test_arrays_of_dask_give_what_memory_gives(client: Any) -> None:
    import dask.array as da

    frame = rows()
    X, y = frame[NUMBERS].to_numpy(), frame["class"].to_numpy()
    w = np.arange(len(X)) % 3 + 1.0
    blocks = da.from_array(X, chunks=(200, 1))
    labels, weights = da.from_array(y, chunks=300), da.from_array(w, chunks=200)
    whole = BayesClassifier(priors=Minimax()).fit(X, y, w)
    for executor in (1, 2, client):
        clf = BayesClassifier(priors=Minimax()).fit_files(
            blocks, labels, weight=weights, executor=executor
        )
        assert_same(clf, whole, X, 1e-6)  # the priors are solved to 1e-9
        assert clf.files_.n_rows == len(X)
    soft = np.eye(4)[np.unique(y, return_inverse=True)[1]] * 0.6 + 0.1
    clf = BayesClassifier().fit_files(blocks, da.from_array(soft, chunks=(200, 4)))
    whole = BayesClassifier().fit(X, soft)
    np.testing.assert_allclose(clf.class_count_, whole.class_count_, rtol=1e-12)
    np.testing.assert_allclose(clf.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_a_collection_can_be_computed_by_the_client_that_is_there(tmp_path: Path) -> None:
    import dask.dataframe as dd

    frame = rows()
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        given = dd.from_pandas(frame, npartitions=3).persist()
        clf = BayesClassifier().fit_files(given, "class", columns=NUMBERS)
        several = BayesClassifier().fit_files(given, "class", columns=NUMBERS, executor=2)
        assert cluster.scheduler.transition_counter > 10
    assert_same(clf, BayesClassifier().fit(frame[NUMBERS], frame["class"]), frame[NUMBERS], 1e-10)
    assert_same_bits(clf, several)


def test_wrong_collections() -> None:
    import dask.array as da
    import dask.dataframe as dd

    frame = dd.from_pandas(rows(), npartitions=3)
    X = da.zeros((30, 2), chunks=(10, 2))
    y = da.from_array(np.arange(30) % 2, chunks=10)
    clf = BayesClassifier()
    for arguments, options, message in (
        ((frame, "klass"), {}, "no column 'klass'"),
        ((X, "class"), {}, "has no names"),
        ((X, y), {"columns": ["a"]}, "X is an array"),
        ((X, y), {"weight": "w"}, "must be a Dask collection"),
        ((X, y), {"types": {}}, "types= is for CSV"),
        ((frame, "class"), {"on_bad_file": "skip"}, "on_bad_file="),
        ((frame[["near"]], frame["class"].repartition(npartitions=2)), {}, r"\[3, 2\] partitions"),
        ((X, da.zeros(20, chunks=10)), {}, r"partitions|rows"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            clf.fit_files(*arguments, **options)
        assert not hasattr(clf, "classes_")
    bad = dd.from_pandas(rows().assign(near=np.inf), npartitions=3)
    with pytest.raises(BadFileError, match=r"partition 0 of the Dask collection.*infinity"):
        clf.fit_files(bad, "class", columns=NUMBERS)
    for learn in (clf.fit, clf.partial_fit):
        with pytest.raises(TypeError, match="fit_files"):
            learn(X, y)


# ---------------------------------------------------------------------- what dies on the way


@pytest.mark.slow  # a cluster without a scheduler takes half a minute to close
@pytest.mark.usefixtures("small_parts")
def test_a_lost_scheduler_leaves_a_checkpoint(tmp_path: Path, monkeypatch: Any) -> None:
    pattern, kept = write_some(rows(2000), tmp_path, ".parquet", 4), tmp_path / "fit.checkpoint"
    asked: dict[str, Any] = {"target": "class", "columns": ["near", "town"], "sample": 300}
    check, seen = spread.RowsCounted.check, []

    def counted(self: Any, part: Any, found: Any) -> None:
        check(self, part, found)
        seen.append(part.id)
        if len(seen) == 25:  # in mid-fit
            cluster.sync(cluster.scheduler.close)

    with monkeypatch.context() as patch:
        patch.setattr(spread.RowsCounted, "check", counted)
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False, timeout=1) as client,
            pytest.raises(LostExecutorError, match="checkpoint="),
        ):
            BayesClassifier(Columns()).fit_files(pattern, **asked, executor=client, checkpoint=kept)
        done = len(seen)
        clf = BayesClassifier(Columns()).fit_files(pattern, **asked, checkpoint=kept)
        assert 0 < len(seen) - done < done  # it went on
    assert_same_bits(clf, BayesClassifier(Columns()).fit_files(pattern, **asked))


class Killer:
    """Kills a worker that is counting by SIGKILL, soon after so many results have arrived."""

    def __init__(self, cluster: Any, moments: list[int], choose: random.Random):
        self.cluster, self.moments, self.choose = cluster, sorted(moments), choose
        self.arrived = 0
        self.hits: list[tuple[int, int]] = []
        self._check = spread.RowsCounted.check

    def __call__(self, counted: Any, part: Any, found: Any) -> None:
        self._check(counted, part, found)
        self.arrived += 1
        if self.moments and self.arrived >= self.moments[0]:
            time.sleep(self.choose.random() * 0.005)
            if self.kill():  # else after the next result
                self.moments.pop(0)
                self.hits.append((counted.n_parts, counted.planned))

    def kill(self) -> bool:
        """Kill a worker that has work; one that is only starting would never be started again."""
        running = {
            nanny.worker_address: nanny.pid
            for nanny in self.cluster.workers.values()
            if nanny.status == distributed.Status.running
        }
        busy = [w.address for w in self.cluster.scheduler.workers.values() if w.processing]
        found = [running[address] for address in busy if running.get(address)]
        if not found:
            return False
        os.kill(self.choose.choice(found), signal.SIGKILL)
        return True


def killed_fits(n_runs: int, folder: Path, monkeypatch: Any, seed: int = 0) -> list[Any]:
    """Fits by two processes, some of which are killed; where in the fit each was hit."""
    choose = random.Random(seed)
    names = ["full", "diag", "categorical", "columns", "poisson"]
    pattern = write_some(rows(60_000), folder, ".parquet", 30)
    alone = {}
    for name in names:
        density, columns = CASES[name]
        alone[name] = BayesClassifier(density).fit_files(pattern, "class", columns=columns)
    hits = []
    with (
        # Dask's own cluster gives a worker up that is found dead for the second time after this.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        for run in range(n_runs):
            name = names[run % len(names)]
            density, columns = CASES[name]
            passes = 2 if name == "columns" else 1
            n_kills = choose.randint(1, 3)
            moments = [choose.randint(1, 30 * passes - 9) for _ in range(n_kills)]
            killer = Killer(cluster, moments, choose)
            with monkeypatch.context() as patch:
                patch.setattr(spread.RowsCounted, "check", lambda *a, k=killer: k(*a))
                clf = BayesClassifier(density).fit_files(
                    pattern, "class", columns=columns, executor=client
                )
            assert_same_bits(clf, alone[name])
            assert len(killer.hits) == n_kills
            assert all(0 < done < planned for done, planned in killer.hits)  # in mid-fit
            hits += killer.hits
            print(run, name, killer.hits, flush=True)
    return hits


@pytest.mark.slow
def test_a_hundred_fits_with_killed_workers(tmp_path: Path, monkeypatch: Any) -> None:
    hits = killed_fits(100, tmp_path, monkeypatch)
    assert 100 <= len(hits) <= 300


@pytest.mark.slow
def test_processes_of_a_cluster_agree_whatever_their_number(tmp_path: Path) -> None:
    pattern = write_some(rows(6000), tmp_path, ".parquet", 12)
    fits = []
    for n_workers in (1, 2, 4):
        with (
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            for density, columns in (CASES["full"], CASES["columns"], (Gaussian("diag"), NUMBERS)):
                clf = BayesClassifier(density).fit_files(
                    pattern, "class", columns=columns, executor=client
                )
                fits.append(clf)
    for first, second, third in zip(fits[:3], fits[3:6], fits[6:], strict=True):
        assert_same_bits(first, second)
        assert_same_bits(first, third)


class Waiting:
    """A future whose result does not come at once."""

    def __init__(self, *outcomes: Any):
        self.outcomes = list(outcomes)

    @property
    def status(self) -> str:
        failed = len(self.outcomes) == 1 and isinstance(self.outcomes[0], BaseException)
        return "error" if failed else "pending"

    def result(self, timeout: float | None = None) -> Any:
        outcome = self.outcomes[0]
        self.outcomes = self.outcomes[1:] or self.outcomes
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class Empty:
    """A client of a cluster without workers."""

    def nthreads(self) -> dict[str, int]:
        return {}


def test_a_cluster_without_workers_is_waited_for_aloud() -> None:
    late = Waiting(TimeoutError(), TimeoutError(), TimeoutError(), "found")
    with pytest.warns(NoWorkersWarning, match="no workers left") as caught:
        assert spread._from_dask(Empty(), "part", late) == "found"
    assert len(caught) == 1
    with pytest.raises(TimeoutError, match="of the work"):
        spread._from_dask(Empty(), "part", Waiting(TimeoutError("of the work")))


def test_a_part_that_kills_its_workers_is_named() -> None:
    killed = distributed.scheduler.KilledWorker("task", SimpleNamespace(address="tcp://1"), 4)
    with pytest.raises(LostExecutorError, match=r"part7\.parquet: every worker .* died"):
        spread._from_dask(Empty(), "part7.parquet", Waiting(killed))
