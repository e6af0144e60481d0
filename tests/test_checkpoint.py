"""A fit that was stopped goes on from where it was, and gives the bits of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bayesrule import BayesClassifier, FromClassifier, Gaussian, Minimax, Words
from bayesrule.checkpoint import CheckpointError
from bayesrule.density import same_state
from bayesrule.parts import BadFileError
from bayesrule.spread import LostExecutorError
from tests.test_stream import CASES, rows, small_parts, write, write_some  # noqa: F401


class Stops(Executor):
    """Breaks when it is handed the n-th piece of work; counts what it did."""

    def __init__(self, after: int = 10**9):
        self.after = after
        self.done = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.done >= self.after:
            future.set_exception(BrokenProcessPool("a worker was killed"))
        else:
            self.done += 1
            future.set_result(fn(*args, **kwargs))
        return future


def assert_same_bits(one: BayesClassifier, other: BayesClassifier) -> None:
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_array_equal(one.class_count_, other.class_count_)
    assert same_state(one.stats_, other.stats_)
    assert same_state(one.density_, other.density_)
    np.testing.assert_array_equal(one.priors_, other.priors_)
    assert one.files_ == other.files_


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["full", "diag", "categorical", "columns", "minimax", "words"])
def test_a_fit_goes_on_wherever_it_stopped(name: str, tmp_path: Path) -> None:
    if name == "minimax":
        frame, columns = rows(400).iloc[:-4], ["near", "visits"]
        clf = BayesClassifier(priors=Minimax())
    elif name == "words":
        frame, columns = rows(400).assign(town=lambda f: f["town"] + " tea " + f["class"]), ["town"]
        clf = BayesClassifier(Words())
    else:
        density, columns = CASES[name]
        frame, clf = rows(400), BayesClassifier(density)
    pattern = write_some(frame, tmp_path, ".parquet", 2)
    asked: dict[str, Any] = {"columns": columns, "sample": 300}
    counted = Stops()
    whole = clf.fit_files(pattern, "class", **asked, executor=counted)._copy()
    kept = tmp_path / "fit.checkpoint"
    for stop in range(counted.done):
        executor = Stops(stop)
        with pytest.raises(LostExecutorError, match="checkpoint="):
            clf.fit_files(pattern, "class", **asked, executor=executor, checkpoint=kept)
        rest = Stops()
        clf.fit_files(pattern, "class", **asked, executor=rest, checkpoint=kept)
        assert executor.done + rest.done == counted.done  # nothing was done twice
        assert_same_bits(clf, whole)
        assert sorted(os.listdir(tmp_path)) == ["part0.parquet", "part1.parquet"]
    for _ in range(counted.done - 1):  # one more part each time
        with pytest.raises(LostExecutorError):
            clf.fit_files(pattern, "class", **asked, executor=Stops(1), checkpoint=kept)
    last = Stops()
    clf.fit_files(pattern, "class", **asked, executor=last, checkpoint=kept)
    assert last.done == 1
    assert_same_bits(clf, whole)


@pytest.mark.usefixtures("small_parts")
def test_a_fit_goes_on_though_no_part_of_its_pass_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped when the whole sample was drawn, and before the first part was counted."""
    density, columns = CASES["columns"]
    pattern, kept = write_some(rows(400), tmp_path, ".parquet", 2), tmp_path / "fit.checkpoint"
    asked: dict[str, Any] = {"columns": columns, "sample": 300, "executor": 1}
    whole = BayesClassifier(density).fit_files(pattern, "class", **asked)

    def stop(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("bayesrule.checkpoint.Checkpoint.begin_counting", stop)
        with pytest.raises(KeyboardInterrupt):
            BayesClassifier(density).fit_files(pattern, "class", **asked, checkpoint=kept)
    clf = BayesClassifier(density).fit_files(pattern, "class", **asked, checkpoint=kept)
    assert_same_bits(clf, whole)


@pytest.mark.usefixtures("small_parts")
def test_a_bad_file_can_be_mended_and_the_fit_goes_on(tmp_path: Path) -> None:
    frame, kept = rows(), tmp_path / "fit.checkpoint"
    pattern = write_some(frame, tmp_path, ".parquet")
    asked: dict[str, Any] = {"columns": ["near"], "checkpoint": kept, "classes": ["x", "y", "z"]}
    last = frame.iloc[600:].copy()
    last.iloc[0, -1] = "last"
    write(last, tmp_path / "part2.parquet")
    with pytest.raises(BadFileError, match=r"part2\.parquet"):
        BayesClassifier().fit_files(pattern, "class", **asked)
    last.loc[last["class"] == "last", "class"] = "x"
    write(last, tmp_path / "part2.parquet")
    rest = Stops()
    clf = BayesClassifier().fit_files(pattern, "class", **asked, executor=rest)
    assert rest.done < clf.files_.n_parts
    assert_same_bits(clf, BayesClassifier().fit_files(pattern, "class", columns=["near"]))


def stopped(folder: Path, **asked: Any) -> tuple[str, Path]:
    """A checkpoint of three parts of a fit."""
    pattern, kept = write_some(rows(), folder, ".parquet", 4), folder / "fit.checkpoint"
    with pytest.raises(LostExecutorError):
        BayesClassifier().fit_files(
            pattern,
            "class",
            **{"columns": ["near", "visits"], **asked},
            executor=Stops(3),
            checkpoint=kept,
        )
    return pattern, kept


OTHER: dict[str, dict[str, Any]] = {
    "density": {"density": Gaussian("tied")},
    "columns": {"columns": ["near"]},
    "order": {"columns": ["visits", "near"]},
    "classes": {"classes": ["x", "y", "z", "last"]},
    "skip": {"on_bad_file": "skip"},
    "weight": {"weight": "visits", "columns": ["near"]},
}


@pytest.mark.parametrize("other", OTHER)
def test_another_fit_is_refused(other: str, tmp_path: Path) -> None:
    pattern, kept = stopped(tmp_path)
    before = kept.read_bytes()
    asked = {"columns": ["near", "visits"], **OTHER[other]}
    clf = BayesClassifier(asked.pop("density", None))
    with pytest.raises(CheckpointError, match=r"of another fit.*Delete it"):
        clf.fit_files(pattern, "class", **asked, checkpoint=kept)
    assert kept.read_bytes() == before
    assert not hasattr(clf, "classes_")


def test_files_that_changed_are_refused(tmp_path: Path) -> None:
    pattern, kept = stopped(tmp_path)
    time.sleep(0.01)
    write(rows(225, seed=1), tmp_path / "part0.parquet")
    with pytest.raises(CheckpointError, match="files that have changed"):
        BayesClassifier().fit_files(pattern, "class", columns=["near", "visits"], checkpoint=kept)
    write(rows(225), tmp_path / "part9.parquet")
    with pytest.raises(CheckpointError, match="files that have changed"):
        BayesClassifier().fit_files(pattern, "class", columns=["near", "visits"], checkpoint=kept)


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    pattern, kept = stopped(tmp_path)
    whole = kept.read_bytes()
    rng = np.random.default_rng(0)
    spoilt = [b"", b"PK", whole[: len(whole) // 2], b"no checkpoint" * 100]
    for place in rng.integers(0, len(whole), 60):
        spoilt.append(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
    refused = 0
    whole_fit = BayesClassifier().fit_files(pattern, "class", columns=["near", "visits"])
    for content in spoilt:
        kept.write_bytes(content)
        clf = BayesClassifier()
        try:
            clf.fit_files(pattern, "class", columns=["near", "visits"], checkpoint=kept)
        except CheckpointError:
            refused += 1
        else:  # a byte that says nothing, such as the date of a member
            assert_same_bits(clf, whole_fit)
    assert refused > 40


def test_what_no_file_can_keep_is_refused_before_any_work(tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    clf = BayesClassifier(FromClassifier(LogisticRegression()))
    with pytest.raises(TypeError, match="checkpoint= cannot keep"):
        clf.fit_files(
            pattern, "class", columns=["near"], checkpoint=tmp_path / "c", executor=Stops(0)
        )


@pytest.mark.slow
def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    """SIGKILL in mid-fit, again and again, until a run lives long enough."""
    pattern = write_some(rows(4000), tmp_path, ".parquet", 40)
    script = tmp_path / "fit.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            from bayesrule import BayesClassifier, passes, save
            from bayesrule.columns import Columns
            from bayesrule.drawing import Draw

            print("ready", flush=True)
            for work in (passes.Count, Draw):  # slowly, so that it can be hit
                plain = work.__call__
                work.__call__ = lambda *a, plain=plain: (time.sleep(0.02), plain(*a))[1]
            clf = BayesClassifier(Columns()).fit_files(
                {pattern!r}, "class", executor=1, checkpoint={str(tmp_path / "fit.checkpoint")!r}
            )
            save(clf, {str(tmp_path / "fit.bayes")!r})
            """
        )
    )
    hits = 0
    for attempt in range(20):
        run = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
        assert run.stdout is not None
        run.stdout.readline()
        try:
            run.wait(0.4 + 0.5 * attempt)
            break
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            hits += (tmp_path / "fit.checkpoint").exists()
    assert run.returncode == 0
    assert hits >= 2
    from bayesrule import Columns, load

    whole = BayesClassifier(Columns()).fit_files(pattern, "class")
    found = load(tmp_path / "fit.bayes")
    assert same_state(found.stats_, whole.stats_)
    assert same_state(found.density_, whole.density_)
    assert not (tmp_path / "fit.checkpoint").exists()


def test_a_checkpoint_is_none_of_the_files(tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    before = (tmp_path / "part0.parquet").read_bytes()
    with pytest.raises(ValueError, match="one of the files that are read"):
        BayesClassifier().fit_files(
            pattern, "class", columns=["near"], checkpoint=tmp_path / "part0.parquet"
        )
    assert (tmp_path / "part0.parquet").read_bytes() == before
