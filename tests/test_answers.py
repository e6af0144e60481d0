"""Answers in files are those of memory, in the order of the rows, whole or not at all."""

from __future__ import annotations

import errno
import gzip
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from bayesrule import BayesClassifier, Columns, Gaussian, Minimax, Words, with_action
from bayesrule.notices import NoSupportWarning
from bayesrule.parts import BadFileError
from tests.test_stream import BAD, rows, small_parts, write, write_some  # noqa: F401

NUMBERS = ["near", "visits"]


def fitted(density: Any = None, columns: list[str] = NUMBERS, **settings: Any) -> BayesClassifier:
    frame = rows()
    return BayesClassifier(density, **settings).fit(frame[columns], frame["class"])


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder for the files that are read."""
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


def read_back(path: Path) -> pd.DataFrame:
    """What a file holds, by programs that are not ours."""
    name = path.name
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pandas()
    if name.endswith(".arrow"):
        return pyarrow.feather.read_table(path).to_pandas()
    return pd.read_csv(path, sep="\t" if ".tsv" in name else ",")


def assert_answers(clf: BayesClassifier, frame: pd.DataFrame, X: Any, found: pd.DataFrame) -> None:
    """The file holds the kept columns and what the classifier says in memory."""
    kept = found[frame.columns]
    pd.testing.assert_frame_equal(kept, frame.reset_index(drop=True), check_dtype=False)
    answers = found.drop(columns=frame.columns)
    names = ["decision"]
    names += [f"probability_{c}" for c in clf.classes_] + [f"gain_{d}" for d in clf.decisions_]
    assert list(answers) == names
    assert [str(d) for d in answers["decision"]] == [str(d) for d in clf.predict(X)]
    values = answers.iloc[:, 1:].to_numpy()
    expected = np.hstack([clf.predict_proba(X), clf.expected_gains(X)])
    np.testing.assert_array_equal(values, expected)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv", ".csv.gz"])
@pytest.mark.parametrize("out", ["out.parquet", "out.arrow", "out.csv", "out.csv.gz", "out.tsv"])
@pytest.mark.parametrize("executor", [1, 3])
def test_answers_are_those_of_memory(
    suffix: str, out: str, executor: int, given: Path, tmp_path: Path
) -> None:
    frame = rows()
    clf = fitted(Columns(), ["near", "visits", "town"])
    done = clf.predict_files(write_some(frame, given, suffix), tmp_path / out, executor=executor)
    assert (done.n_rows, done.n_files, done.skipped) == (len(frame), 3, ())
    assert_answers(clf, frame, frame[["near", "visits", "town"]], read_back(tmp_path / out))


@pytest.mark.usefixtures("small_parts")
def test_a_folder_gets_a_file_for_each_part(given: Path, tmp_path: Path) -> None:
    frame = rows()
    pattern = write_some(frame, given, ".parquet")
    clf = fitted()
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        for executor in (2, processes):
            out = tmp_path / f"answers{executor}"[:20]
            done = clf.predict_files(pattern, out, executor=executor)
            assert done.n_parts == len(list(out.iterdir())) > 3
            found = pd.concat([read_back(file) for file in sorted(out.iterdir())])
            assert_answers(clf, frame, frame[NUMBERS], found.reset_index(drop=True))
        one = tmp_path / "one.parquet"
        clf.predict_files(pattern, one, executor=processes)
        assert_answers(clf, frame, frame[NUMBERS], read_back(one))
    with pytest.raises(FileExistsError, match="is there already"):
        clf.predict_files(pattern, out)


def test_decisions_of_every_kind(given: Path, tmp_path: Path) -> None:
    frame = rows()
    X, pattern = frame[NUMBERS], write_some(frame, given, ".parquet")
    refer = with_action(np.eye(4), "refer", 0.7)
    numbered = BayesClassifier(gain=refer).fit(
        X, frame["class"].map({"last": 1, "x": 2, "y": 3, "z": 4})
    )
    randomised = fitted(priors=Minimax(randomised=True))
    for i, clf in enumerate((fitted(gain=refer), numbered, randomised)):
        out = tmp_path / f"out{i}.parquet"
        clf.predict_files(pattern, out, keep=["town"])
        assert_answers(clf, frame[["town"]], X, read_back(out))


def test_what_to_write_can_be_chosen(given: Path, tmp_path: Path) -> None:
    pattern, out = write_some(rows(), given, ".csv"), tmp_path / "out.csv"
    fitted().predict_files(pattern, out, keep=[], posteriors=False, gains=False)
    assert list(read_back(out)) == ["decision"]
    fitted().predict_files(pattern, out, keep=["town", "near"], gains=False)
    assert list(read_back(out))[:3] == ["town", "near", "decision"]


def test_classifiers_without_names_and_of_texts(given: Path, tmp_path: Path) -> None:
    frame = rows()
    pattern = write_some(frame[NUMBERS], given, ".parquet")
    clf = BayesClassifier().fit(frame[NUMBERS].to_numpy(), frame["class"])
    clf.predict_files(pattern, tmp_path / "out.parquet")
    X = frame[NUMBERS].to_numpy()
    assert_answers(clf, frame[NUMBERS], X, read_back(tmp_path / "out.parquet"))
    write(frame, tmp_path / "more.parquet")
    with pytest.raises(ValueError, match=r"2 features, but there are 5.*columns=\[\.\.\.\]"):
        clf.predict_files(tmp_path / "more.parquet", tmp_path / "out.parquet")
    clf.predict_files(tmp_path / "more.parquet", tmp_path / "out.parquet", columns=NUMBERS)
    assert_answers(clf, frame, X, read_back(tmp_path / "out.parquet"))

    texts = pd.DataFrame({"text": ["tea and milk", "bread", "milk, bread"]})
    write(texts, tmp_path / "texts.csv")
    clf = BayesClassifier(Words()).fit(texts["text"].tolist(), [0, 1, 1])
    clf.predict_files(tmp_path / "texts.csv", tmp_path / "out.csv", gains=False, posteriors=False)
    decided = read_back(tmp_path / "out.csv")
    assert decided["decision"].tolist() == clf.predict(texts["text"].tolist()).tolist()


def test_kept_columns_of_several_types_are_one(tmp_path: Path) -> None:
    frame = rows()[NUMBERS]
    for i, ids in enumerate((np.arange(900), np.arange(900) + 0.5)):
        pq.write_table(
            pa.Table.from_pandas(
                frame.assign(id=ids, ward=pd.Categorical(["A", f"B{i}", "C"] * 300))
            ),
            tmp_path / f"part{i}.parquet",
        )
    fitted().predict_files(
        tmp_path / "part*.parquet", tmp_path / "out.parquet", keep=["id", "ward"]
    )
    found = read_back(tmp_path / "out.parquet")
    assert found["id"].tolist() == [*range(900), *(np.arange(900) + 0.5)]
    assert found["ward"].tolist() == ["A", "B0", "C"] * 300 + ["A", "B1", "C"] * 300


def test_addresses(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    frame = rows()
    clf, store = fitted(), fsspec.filesystem("memory")
    write(frame, tmp_path / "rows.parquet")
    store.pipe("/in/rows.parquet", (tmp_path / "rows.parquet").read_bytes())
    for out in ("memory://answers/out.parquet", f"file://{tmp_path}/out.parquet"):
        clf.predict_files("memory://in/rows.parquet", out)
    assert store.ls("/answers", detail=False) == ["/answers/out.parquet"]
    assert store.cat("/answers/out.parquet") == (tmp_path / "out.parquet").read_bytes()
    assert_answers(clf, frame, frame[NUMBERS], read_back(tmp_path / "out.parquet"))
    write(frame.assign(near=np.inf), tmp_path / "bad.parquet")
    for out in ("memory://answers/x.parquet", f"file://{tmp_path}/out.parquet"):
        with pytest.raises(BadFileError, match="infinity"):
            clf.predict_files(tmp_path / "bad.parquet", out)
    assert sorted(os.listdir(tmp_path)) == ["bad.parquet", "out.parquet", "rows.parquet"]
    assert store.ls("/answers", detail=False) == ["/answers/out.parquet"]


def test_rows_without_support_are_counted_once(tmp_path: Path) -> None:
    clf = fitted(Gaussian("diag"))
    write(rows(3).assign(near=[1.0, 1e200, -1e200]), tmp_path / "rows.csv")
    with pytest.warns(NoSupportWarning, match="2 of 3 rows") as caught:
        clf.predict_files(tmp_path / "rows.csv", tmp_path / "out.csv")
    assert len(caught) == 1


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keep": ["no"]}, "no column 'no'"),
        ({"keep": ["near", "near"]}, "'near' is asked for twice"),
        ({"columns": ["visits", "near"]}, "not the features of the fit"),
        ({"on_bad_file": "ignore"}, "on_bad_file='ignore'"),
        ({"out": "part1.parquet"}, "one of the files that are read"),
        ({"out": "nowhere/out.parquet"}, "There is no folder"),
    ],
)
def test_wrong_questions(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    before = sorted(os.listdir(tmp_path))
    out = tmp_path / wrong.get("out", "out.parquet")
    with pytest.raises((ValueError, OSError), match=message):
        fitted().predict_files(pattern, out, **{k: v for k, v in wrong.items() if k != "out"})
    assert sorted(os.listdir(tmp_path)) == before


def test_answers_beside_answers(tmp_path: Path) -> None:
    clf = fitted()
    write(rows(), tmp_path / "rows.csv")
    clf.predict_files(tmp_path / "rows.csv", tmp_path / "once.csv")
    with pytest.raises(ValueError, match=r"'decision' is the name of a column.*keep="):
        clf.predict_files(tmp_path / "once.csv", tmp_path / "twice.csv")
    clf.predict_files(tmp_path / "once.csv", tmp_path / "twice.csv", keep=["town"])
    assert (tmp_path / "once.csv").read_bytes() != (tmp_path / "twice.csv").read_bytes()


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out"])
@pytest.mark.parametrize("bad", sorted(set(BAD) - {"other label", "no label"}))
def test_bad_files_leave_nothing_behind(bad: str, out: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".csv" and bad in ("cut short", "scratched"):
        pytest.skip("a CSV file that is cut at a line is a CSV file")
    spoil, message = BAD[bad]
    frame, clf = rows(), fitted()
    write_some(frame, tmp_path, suffix)
    files = [tmp_path / f"part{i}{suffix}" for i in range(3)]
    spoil(files[1])
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(BadFileError, match=message or "part1") as caught:
        clf.predict_files(files, tmp_path / out)
    assert str(files[1]) in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before

    done = clf.predict_files(files, tmp_path / out, on_bad_file="skip")
    (skipped,) = done.skipped
    assert skipped.path == str(files[1])
    parts = np.array_split(np.arange(len(frame)), 3)
    kept = frame.iloc[np.concatenate([parts[0], parts[2]])]
    assert done.n_rows == len(kept)
    written = sorted((tmp_path / out).iterdir()) if out == "out" else [tmp_path / out]
    found = pd.concat([read_back(file) for file in written], ignore_index=True)
    assert_answers(clf, kept, kept[NUMBERS], found)


def test_nothing_but_bad_rows(tmp_path: Path) -> None:
    write(rows().assign(near=np.inf), tmp_path / "rows.parquet")
    for out in ("out.csv", "out"):
        with pytest.raises(BadFileError, match=r"rows\.parquet.*none of the files"):
            fitted().predict_files(tmp_path / "rows.parquet", tmp_path / out, on_bad_file="skip")
    assert os.listdir(tmp_path) == ["rows.parquet"]


class FullDisk:
    """A file system on which the n-th write fails, whoever writes, and every one after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int = errno.ENOSPC):
        self.left = 10**9
        self.number = number
        self.writes = 0
        monkeypatch.setattr("builtins.open", self.open_with(open))
        for name in ("fsync", "replace"):
            monkeypatch.setattr(f"os.{name}", self.counted(getattr(os, name)))

    def spend(self) -> None:
        self.writes += 1
        self.left -= 1
        if self.left < 0:
            raise OSError(self.number, os.strerror(self.number))

    def counted(self, function: Any) -> Any:
        def call(*args: Any) -> Any:
            self.spend()
            return function(*args)

        return call

    def open_with(self, plain: Any) -> Any:
        def opened(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            file = plain(path, mode, *args, **kwargs)
            return _Counted(file, self) if mode == "xb" else file

        return opened


class _Counted:
    """A file whose writes are counted."""

    def __init__(self, file: Any, disk: FullDisk):
        self._file, self._disk = file, disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Counted:
        return self

    def __exit__(self, *raised: Any) -> None:
        self._file.close()

    def write(self, data: Any) -> Any:
        self._disk.spend()
        return self._file.write(data)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("out", ["out.parquet", "out.csv", "out.csv.gz", "out.arrow", "out"])
def test_a_full_disk_at_any_write(
    out: str, given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clf, pattern = fitted(), write_some(rows(300), given, ".parquet")
    target = tmp_path / out
    if out != "out":
        target.write_bytes(b"as it was")
    before = sorted(os.listdir(tmp_path))
    with monkeypatch.context() as patch:
        disk = FullDisk(patch)
        clf.predict_files(pattern, tmp_path / f"whole-{out}", keep=[], executor=1)
        needed = disk.writes
        assert needed >= 3
        for n in range(needed):
            disk.left = n
            with pytest.raises(OSError, match="No space left") as caught:
                clf.predict_files(pattern, target, keep=[], executor=1)
            assert out.partition(".")[0] in str(caught.value)  # it names the file
            assert sorted(set(os.listdir(tmp_path)) - {f"whole-{out}"}) == before
            if out != "out":
                assert target.read_bytes() == b"as it was"
        disk.left = needed
        clf.predict_files(pattern, target, keep=[], executor=1)
    if out.endswith(".gz"):
        assert len(gzip.decompress(target.read_bytes()).splitlines()) == 301


def test_a_file_that_may_not_grow(given: Path, tmp_path: Path) -> None:
    """The system itself refuses to write more than so many bytes."""
    resource = pytest.importorskip("resource")
    clf, pattern = fitted(Gaussian("diag")), write_some(rows(), given, ".parquet")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for n_bytes in (0, 1, 1000, 20_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
        try:
            for out in ("out.csv", "out.parquet", "out"):
                with pytest.raises(OSError, match=f"{tmp_path}/out") as caught:
                    clf.predict_files(pattern, tmp_path / out)
                assert caught.value.errno == errno.EFBIG
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert os.listdir(tmp_path) == ["given"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    write(rows(), tmp_path / "rows.parquet")
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(PermissionError, match="closed"):
        fitted().predict_files(tmp_path / "rows.parquet", tmp_path / "closed" / "out.csv")
