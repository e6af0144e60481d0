"""Whatever happens while files are written, there is the old one or a whole new one.

A forked process does the work and is killed at a random moment, again and again; disks refuse at
each write; and a process without rights is refused by the system itself.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from bayesrule import BayesClassifier, Kernel, export, load, recipes, report, save
from bayesrule.columns import Columns
from bayesrule.density import same_state
from tests.test_answers import FullDisk
from tests.test_stream import rows, small_parts, write_some  # noqa: F401

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

NOBODY = 65534


def forked(work: Callable[[], None]) -> int:
    """Start a process that does some work; it ends with 0, or with 1 and a traceback."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(child: int, seconds: float = 120.0) -> int:
    """Wait for a process: its status, negative for the signal that ended it."""
    until = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"still running after {seconds} seconds")
        time.sleep(0.001)


def killed(work: Callable[[], None], after: float) -> bool:
    """Kill a process so long after it began to work; whether that came before its end."""
    reader, writer = os.pipe()

    def begun() -> None:
        os.write(writer, b"!")
        work()

    child = forked(begun)
    os.close(writer)
    assert os.read(reader, 1) == b"!"
    os.close(reader)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    status = ended(child)
    assert status in (0, -signal.SIGKILL)
    return status != 0


# ---------------------------------------------------------------------- what is written


@dataclass(frozen=True)
class Job:
    """Something that writes a file, and what tells a whole file from another.

    ``write(path, version)`` writes one of two versions; ``read(path)`` gives what is in the file.
    """

    suffix: str
    write: Callable[[Path, int], Any]
    read: Callable[[Path], Any]


def model(version: int, n: int = 3000) -> BayesClassifier:
    """A model of some hundred kilobytes."""
    rng = np.random.default_rng(version)
    y = rng.integers(0, 2, n)
    return BayesClassifier(Kernel(bandwidth=0.5)).fit(rng.normal(size=(n, 4)) + y[:, None], y)


def decided(given: Path) -> Callable[[Path, int], Any]:
    """Files of decisions, by one of two rules."""
    frame = rows(3000)
    write_some(frame, given, ".parquet")
    clf = BayesClassifier().fit(frame[["near", "far"]], frame["class"])
    rules = [clf.with_rule(priors="uniform"), clf.with_rule(priors=[0.2, 0.3, 0.4, 0.1])]
    pattern = str(given / "*.parquet")
    return lambda path, version: rules[version].predict_files(pattern, path, executor=1)


def read_folder(path: Path) -> Any:
    return [pyarrow.parquet.read_table(part).to_pydict() for part in sorted(path.glob("*.parquet"))]


def job(name: str, given: Path) -> Job:
    """Each thing that writes a file."""
    if name == "save":
        models = [model(0), model(1)]
        return Job(
            ".bayes", lambda path, v: save(models[v], path), lambda path: load(path).stats_.parts[1]
        )
    if name in ("predict_files", "predict_files-csv", "predict_files-folder"):
        write = decided(given)
        if name.endswith("csv"):
            return Job(".csv", write, Path.read_bytes)
        if name.endswith("folder"):
            return Job("", write, read_folder)
        return Job(".parquet", write, lambda path: pyarrow.parquet.read_table(path).to_pydict())
    frame = rows(1000)
    X, y = frame[["near", "far"]], frame["class"]
    clfs = [recipes.lda().fit(X, y), recipes.qda().fit(X, y)]
    if name == "report":
        pages = [report(clf, X, y, sample=300) for clf in clfs]
        return Job(".html", lambda path, v: pages[v].save(path), Path.read_text)
    return Job(".h", lambda path, v: export(clfs[v], path=path), Path.read_text)


JOBS = ["save", "predict_files", "predict_files-csv", "predict_files-folder", "report", "export"]


def visible(folder: Path) -> list[str]:
    """Files that are not hidden, as unfinished ones are."""
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def check_kills(name: str, folder: Path, kills: int) -> int:
    """Kill a job at so many random moments: the file is one of the two versions, and whole."""
    given, out = folder / "given", folder / "out"
    given.mkdir()
    out.mkdir()
    work = job(name, given)
    path = out / f"file{work.suffix}"
    versions, took = [], []
    for version in (0, 1):
        one = folder / f"whole{version}{work.suffix}"
        start = time.perf_counter()
        work.write(one, version)
        took.append(time.perf_counter() - start)
        versions.append(work.read(one))
    assert not same(versions[0], versions[1])
    rng = np.random.default_rng(0)
    hits = 0
    there = -1
    for attempt in range(20 * kills):
        if name.endswith("folder") and there >= 0:  # it is made, never replaced
            for part in path.iterdir():
                part.unlink()
            path.rmdir()
            there = -1
        version = attempt % 2
        in_time = killed(lambda v=version: work.write(path, v), rng.uniform(0, 1.2 * min(took)))
        hits += in_time
        assert set(visible(out)) <= {path.name}
        if path.exists():
            found = work.read(path)
            now = next(v for v in (0, 1) if same(found, versions[v]))
            assert now in (there, version)
            there = now
        else:
            assert there == -1  # what was there has not gone
        assert in_time or there == version
        if hits >= kills:
            break
    for left in out.glob(".*"):  # what a killed process leaves is hidden, and may be swept away
        assert left.name.endswith(".part")
    return hits


def same(one: Any, other: Any) -> bool:
    return same_state(one, other) if hasattr(one, "rows") else one == other


@pytest.mark.parametrize("name", JOBS)
def test_a_kill_leaves_the_old_file_or_a_whole_new_one(name: str, tmp_path: Path) -> None:
    assert check_kills(name, tmp_path, 5) == 5


@pytest.mark.slow
@pytest.mark.parametrize("name", JOBS)
def test_three_hundred_kills(name: str, tmp_path: Path) -> None:
    hits = check_kills(name, tmp_path, 300)
    print(f"{name}: killed {hits} times before the end")
    assert hits == 300


# ---------------------------------------------------------------------- long fits


def how_far(checkpoint: Path) -> tuple[int, int]:
    """How much of a fit a checkpoint holds: (whether the sample is drawn, parts that are done)."""
    with zipfile.ZipFile(checkpoint) as archive:
        stand = json.loads(archive.read("model.json"))["stand"]
    fields = stand["Stand"]
    return int(fields["stage"] == "count"), int(fields["done"])


def check_killed_fits(folder: Path, kills: int) -> int:
    """Kill fits at random moments, let them go on, and compare the end with one that was not."""
    pattern, kept = write_some(rows(2000), folder, ".parquet", 4), folder / "fit.checkpoint"
    out = folder / "fit.pickle"

    def fit(checkpoint: Path | None) -> BayesClassifier:
        return BayesClassifier(Columns()).fit_files(
            pattern, "class", executor=1, sample=500, checkpoint=checkpoint
        )

    def work() -> None:
        clf = fit(kept)
        aside = folder / ".done"
        aside.write_bytes(pickle.dumps((clf.stats_, clf.density_, clf.priors_)))
        os.replace(aside, out)

    start = time.perf_counter()
    whole = fit(None)
    took = time.perf_counter() - start
    rng = np.random.default_rng(0)
    hits, finished, reached, empty = 0, 0, (0, 0), 0
    while hits < kills:
        # Long enough, now and then, that it comes to an end.
        in_time = killed(work, rng.uniform(0, 0.6 * took))
        hits += in_time
        if kept.exists():
            now = how_far(kept)
            assert now >= reached  # no part that was done is lost
            reached = now
        elif out.exists():
            stats, density, priors = pickle.loads(out.read_bytes())
            assert same_state(stats, whole.stats_)
            assert same_state(density, whole.density_)
            np.testing.assert_array_equal(priors, whole.priors_)
            out.unlink()
            finished, reached = finished + 1, (0, 0)
        else:
            # Killed before the first part was kept, or between the end and its being told.
            empty += 1
            reached = (0, 0)
    print(f"fit_files: killed {hits} times, {finished} fits came to an end, {empty} began anew")
    while not out.exists():
        assert ended(forked(work)) == 0
    assert same_state(pickle.loads(out.read_bytes())[0], whole.stats_)
    assert not kept.exists()
    return finished


@pytest.mark.usefixtures("small_parts")
def test_killed_fits_go_on(tmp_path: Path) -> None:
    check_killed_fits(tmp_path, 6)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_three_hundred_killed_fits_go_on(tmp_path: Path) -> None:
    assert check_killed_fits(tmp_path, 300) >= 3


# ---------------------------------------------------------------------- disks that refuse


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", ["save", "report", "export"])
def test_a_disk_that_fails_at_any_write(
    name: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, out = tmp_path / "given", tmp_path / "out"
    given.mkdir()
    out.mkdir()
    work = job(name, given)
    path = out / f"file{work.suffix}"
    path.write_bytes(b"as it was")
    with monkeypatch.context() as patch:
        disk = FullDisk(patch, number)
        work.write(tmp_path / f"whole{work.suffix}", 0)
        needed = disk.writes
        assert needed >= 3  # a write, its way to the disk, its name
        for n in range(needed):
            disk.left = n
            with pytest.raises(OSError, match=os.strerror(number)) as caught:
                work.write(path, 0)
            assert caught.value.errno == number
            assert str(path) in str(caught.value)
            assert path.read_bytes() == b"as it was"
            assert os.listdir(out) == [path.name]
        disk.left = needed
        work.write(path, 0)
    assert same(work.read(path), work.read(tmp_path / f"whole{work.suffix}"))


@pytest.mark.usefixtures("small_parts")
def test_a_fit_goes_on_after_its_disk_was_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern, kept = write_some(rows(600), tmp_path, ".parquet"), tmp_path / "fit.checkpoint"
    asked: dict[str, Any] = {"columns": ["near", "visits"], "executor": 1}
    whole = BayesClassifier().fit_files(pattern, "class", **asked)
    with monkeypatch.context() as patch:
        disk = FullDisk(patch)
        BayesClassifier().fit_files(pattern, "class", **asked, checkpoint=kept)
        needed = disk.writes
        assert needed >= 3
        for n in range(needed):
            disk.left = n
            clf = BayesClassifier()
            with pytest.raises(OSError, match="No space left") as caught:
                clf.fit_files(pattern, "class", **asked, checkpoint=kept)
            assert str(kept) in str(caught.value)
            assert not hasattr(clf, "classes_")
            assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
            disk.left = 10**9
            clf.fit_files(pattern, "class", **asked, checkpoint=kept)
            assert same_state(clf.stats_, whole.stats_)
            assert not kept.exists()


# ---------------------------------------------------------------------- without rights


def as_nobody(work: Callable[[], None]) -> None:
    """Do some work in a process that may not do what root may."""
    if os.getuid() != 0:
        work()  # whoever runs the tests is not root, and that is enough
        return

    def dropped() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        work()

    assert ended(forked(dropped)) == 0


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everyone may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(dir="/tmp" if os.path.isdir("/tmp") else None) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.parametrize("name", JOBS)
def test_a_folder_one_may_not_write_to_is_named(name: str, public: Path) -> None:
    given, closed = public / "given", public / "closed"
    given.mkdir()
    closed.mkdir()
    work = job(name, given)
    path = closed / f"file{work.suffix}"
    work.write(public / f"whole{work.suffix}", 0)  # what is imported late may be closed, too
    if not name.endswith("folder"):
        path.write_bytes(b"as it was")
    closed.chmod(0o555)
    before = visible(closed)

    def refused() -> None:
        with pytest.raises(PermissionError) as caught:
            work.write(path, 0)
        assert str(path) in str(caught.value)

    try:
        as_nobody(refused)
        assert sorted(os.listdir(closed)) == before
        assert name.endswith("folder") or path.read_bytes() == b"as it was"
    finally:
        closed.chmod(0o755)


def test_files_one_may_not_read_are_named(public: Path) -> None:
    pattern = write_some(rows(), public, ".parquet")
    save(model(0, 50), public / "model.bayes")
    (public / "part1.parquet").chmod(0o000)
    (public / "model.bayes").chmod(0o000)

    def refused() -> None:
        clf = BayesClassifier()
        with pytest.raises((PermissionError, ValueError), match=r"part1\.parquet"):
            clf.fit_files(pattern, "class", columns=["near"])
        assert not hasattr(clf, "classes_")
        with pytest.raises(PermissionError, match=r"model\.bayes"):
            load(public / "model.bayes")

    as_nobody(refused)


def test_a_checkpoint_that_may_not_be_written_stops_the_fit_at_once(public: Path) -> None:
    pattern, closed = write_some(rows(), public, ".parquet"), public / "closed"
    closed.mkdir()
    # What is imported late may be closed, too.
    BayesClassifier().fit_files(
        pattern, "class", columns=["near"], checkpoint=public / "fit.checkpoint"
    )
    closed.chmod(0o555)

    def refused() -> None:
        with pytest.raises(PermissionError, match=r"fit\.checkpoint"):
            BayesClassifier().fit_files(
                pattern, "class", columns=["near"], checkpoint=closed / "fit.checkpoint"
            )

    try:
        as_nobody(refused)
    finally:
        closed.chmod(0o755)
