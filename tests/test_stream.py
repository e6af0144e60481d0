"""Files give what the same rows give in memory, whoever reads them; bad files are named."""

from __future__ import annotations

import gzip
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression

from bayesrule import (
    BayesClassifier,
    Categorical,
    Columns,
    FromClassifier,
    Gaussian,
    Minimax,
    Multinomial,
    Poisson,
    Words,
    save,
)
from bayesrule.checkpoint import Checkpoint
from bayesrule.density import same_state
from bayesrule.drawing import Draw
from bayesrule.notices import MixedColumnWarning
from bayesrule.parts import BadFileError
from bayesrule.passes import Meter, _draw
from bayesrule.spread import LostRowsError
from bayesrule.stream import source_of_files
from bayesrule.testing import toy_rows


def rows(n: int = 900, seed: int = 0) -> pd.DataFrame:
    """Rows whose last ones show a class and a category that no other has."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "far": 1e7 + rng.normal(y, 1.0),
            "near": rng.normal(-y, 2.0),
            "visits": rng.poisson(1.0 + y).astype(float),
            "town": np.array(["A", "B", "C"])[(y + rng.integers(0, 2, n)) % 3],
            "class": np.array(["x", "y", "z"])[y],
        }
    )
    frame.loc[n - 4 :, "class"] = "last"
    frame.loc[n - 2 :, "town"] = "nowhere else"
    return frame


def write(frame: pd.DataFrame, path: Path) -> None:
    """One file, of the kind its name tells."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(table, path, row_group_size=70)
    elif name.endswith(".feather"):
        pyarrow.feather.write_feather(table, path, chunksize=70)
    elif name.endswith(".arrow"):
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table, max_chunksize=70)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")


def write_some(frame: pd.DataFrame, folder: Path, suffix: str, n_files: int = 3) -> str:
    """The rows in several files; a pattern that names them."""
    for i, rows_of_file in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        write(frame.iloc[rows_of_file], folder / f"part{i}{suffix}")
    return str(folder / f"*{suffix}")


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and chunks so small that a few hundred rows make many."""
    monkeypatch.setattr("bayesrule.holdings.PART_ROWS", 100)
    monkeypatch.setattr("bayesrule.holdings.CHUNK_ROWS", 32)
    monkeypatch.setattr("bayesrule.holdings.CHUNK_BYTES", 1)  # 256 rows


def assert_same(one: BayesClassifier, other: BayesClassifier, X: Any, tolerance: float) -> None:
    """Equal classes and counts, and densities up to rounding."""
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_array_equal(one.class_count_, other.class_count_)
    np.testing.assert_allclose(
        one.predict_log_proba(X), other.predict_log_proba(X), rtol=tolerance, atol=tolerance
    )


# ---------------------------------------------------------------------- the same as in memory

CASES: dict[str, tuple[Any, list[str]]] = {
    "full": (Gaussian(), ["far", "near"]),
    "tied": (Gaussian("tied"), ["far", "near"]),
    "diag": (Gaussian("diag"), ["far", "near"]),
    "poisson": (Poisson(), ["visits"]),
    "multinomial": (Multinomial(), ["visits"]),
    "categorical": (Categorical(), ["town", "visits"]),
    "columns": (Columns(), ["far", "near", "visits", "town"]),
}


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".csv", ".csv.gz", ".tsv"])
@pytest.mark.parametrize("name", CASES)
def test_files_give_what_memory_gives(name: str, suffix: str, tmp_path: Path) -> None:
    density, columns = CASES[name]
    frame = rows()
    pattern = write_some(frame, tmp_path, suffix)
    clf = BayesClassifier(density).fit_files(pattern, target="class", columns=columns)
    whole = BayesClassifier(density).fit(frame[columns], frame["class"])
    assert clf.classes_.tolist() == ["last", "x", "y", "z"]
    assert clf.feature_names_in_.tolist() == columns
    # One density in 1e7 has digits to 1e-9 of its deviations.
    assert_same(clf, whole, frame[columns], 1e-12 if "far" not in columns else 1e-8)
    if name in ("poisson", "multinomial", "categorical"):
        assert same_state(clf.stats_, whole.stats_)
    assert clf.files_.n_rows == len(frame)
    assert clf.files_.n_files == 3
    assert clf.files_.skipped == ()
    drew = f"drew {len(frame)} of {len(frame)} rows to prepare with"
    counted = f"counted {len(frame)} rows"
    assert clf.files_.passes == ((drew, counted) if name == "columns" else (counted,))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("covariance", ["full", "tied", "diag"])
def test_moments_agree_to_twelve_digits(covariance: str, tmp_path: Path) -> None:
    frame = rows(3000)
    frame["far"] -= 1e7 - 30
    columns = ["far", "near"]
    pattern = write_some(frame, tmp_path, ".parquet", 5)
    clf = BayesClassifier(Gaussian(covariance)).fit_files(pattern, "class", columns=columns)
    whole = BayesClassifier(Gaussian(covariance)).fit(frame[columns], frame["class"])
    one, other = (m.stats_ if covariance == "diag" else m.stats_.parts[0] for m in (clf, whole))
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_allclose(
        one.mean + one.shift, other.mean + other.shift, rtol=1e-12, atol=1e-14
    )
    scale = np.abs(other.second).max()
    np.testing.assert_allclose(one.second, other.second, rtol=1e-12, atol=1e-13 * scale)


def test_weights_soft_labels_and_texts(tmp_path: Path) -> None:
    frame = rows()[["near", "visits", "class"]]
    frame["w"] = np.arange(len(frame)) % 4
    pattern = write_some(frame, tmp_path, ".parquet")
    clf = BayesClassifier().fit_files(pattern, "class", weight="w", columns=["near", "visits"])
    whole = BayesClassifier().fit(frame[["near", "visits"]], frame["class"], frame["w"])
    assert_same(clf, whole, frame[["near", "visits"]], 1e-10)

    soft = pd.get_dummies(frame["class"]).astype(float) * 0.7 + 0.3 / 4
    both = pd.concat([frame[["near", "visits"]], soft], axis=1)
    (tmp_path / "soft").mkdir()
    pattern = write_some(both, tmp_path / "soft", ".csv")
    clf = BayesClassifier().fit_files(pattern, target=list(soft.columns))
    whole = BayesClassifier().fit(frame[["near", "visits"]], soft)
    np.testing.assert_allclose(clf.class_count_, whole.class_count_, rtol=1e-12)
    np.testing.assert_allclose(
        clf.predict_proba(frame[["near", "visits"]]),
        whole.predict_proba(frame[["near", "visits"]]),
        atol=1e-10,
    )

    texts = pd.DataFrame(
        {"text": ["tea and milk", "bread", "milk, bread", None], "y": [0, 1, 1, 0]}
    )
    (tmp_path / "texts").mkdir()
    pattern = write_some(texts, tmp_path / "texts", ".csv", 2)
    clf = BayesClassifier(Words()).fit_files(pattern, "y")
    whole = BayesClassifier(Words()).fit(texts[["text"]], texts["y"])
    assert_same(clf, whole, texts[["text"]], 1e-12)


def test_a_model_of_another_package_is_trained_on_the_sample(tmp_path: Path) -> None:
    frame = rows()[["near", "visits", "class"]]
    pattern = write_some(frame, tmp_path, ".parquet")
    model = FromClassifier(LogisticRegression())
    clf = BayesClassifier(model).fit_files(pattern, "class")
    whole = BayesClassifier(model).fit(pa.Table.from_pandas(frame.iloc[:, :2]), frame["class"])
    assert_same(clf, whole, pa.Table.from_pandas(frame.iloc[:, :2]), 1e-9)


def test_minimax_priors_are_solved_over_drawn_rows(tmp_path: Path) -> None:
    frame = rows().iloc[:-4][["near", "visits", "class"]]
    pattern = write_some(frame, tmp_path, ".parquet")
    clf = BayesClassifier(priors=Minimax()).fit_files(pattern, "class")
    whole = BayesClassifier(priors=Minimax()).fit(frame.iloc[:, :2], frame["class"])
    np.testing.assert_allclose(clf.priors_, whole.priors_, atol=1e-6)
    assert clf.files_.passes[0] == f"drew {len(frame)} of {len(frame)} rows for the priors"


def test_priors_may_name_classes_that_the_first_file_lacks(tmp_path: Path) -> None:
    frame = rows().sort_values("class")
    pattern = write_some(frame, tmp_path, ".parquet")
    priors = {"x": 0.1, "y": 0.2, "z": 0.3, "last": 0.4}
    for density in (Columns(), None):
        columns = ["near", "visits"]
        clf = BayesClassifier(density, priors=priors).fit_files(pattern, "class", columns=columns)
        assert clf.priors_.tolist() == [0.4, 0.1, 0.2, 0.3]


# ---------------------------------------------------------------------- whoever does it


class Late(Executor):
    """Results come in any order: each task waits a random while in a thread of its own."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            time.sleep(random.Random(len(args)).random() * 0.01 + random.random() * 0.01)
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        Thread(target=run).start()
        return future


@pytest.mark.parametrize("name", ["full", "diag", "categorical", "columns"])
def test_everybody_gets_the_same_bits(name: str, tmp_path: Path) -> None:
    density, columns = CASES[name]
    pattern = write_some(rows(), tmp_path, ".parquet", 7)

    def stats(executor: Any) -> Any:
        clf = BayesClassifier(density).fit_files(
            pattern, "class", columns=columns, executor=executor, sample=50
        )
        return clf.stats_, clf.class_count_, clf.density_

    alone = stats(1)
    assert same_state(stats(None), alone)
    assert same_state(stats(4), alone)
    with Late() as late:
        assert same_state(stats(late), alone)
    with ThreadPoolExecutor(3) as threads:
        assert same_state(stats(threads), alone)
    if name == "columns":
        with ProcessPoolExecutor(2, get_context("spawn")) as processes:
            assert same_state(stats(processes), alone)


class Faulty(Executor):
    """Gives the result of the first part twice."""

    first: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        found = fn(*args, **kwargs)
        self.first = found if self.first is None else self.first
        future.set_result(self.first)
        return future


class Forgetful(Executor):
    """Loses a row of every part."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        from dataclasses import replace

        future: Future[Any] = Future()
        found = fn(*args, **kwargs)
        future.set_result(replace(found, n_rows=found.n_rows + 1))
        return future


@pytest.mark.parametrize("executor", [Faulty(), Forgetful()], ids=["twice", "row lost"])
def test_every_part_comes_once_with_all_its_rows(executor: Executor, tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    clf = BayesClassifier()
    with pytest.raises(LostRowsError):
        clf.fit_files(pattern, "class", columns=["near", "visits"], executor=executor)
    assert not hasattr(clf, "classes_")


@pytest.mark.parametrize("executor", [0, -1, 1.5, True, "dask", object()])
def test_what_is_no_executor_is_refused(executor: Any, tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    with pytest.raises(TypeError, match="executor="):
        BayesClassifier().fit_files(pattern, "class", columns=["near"], executor=executor)


def test_a_sample_is_fair_and_the_same_for_everybody(tmp_path: Path) -> None:
    n = 30_000
    frame = pd.DataFrame({"place": np.arange(n, dtype=float), "class": np.arange(n) * 3 // n})
    for suffix in (".parquet", ".csv"):
        source = source_of_files(write_some(frame, tmp_path, suffix, 4), "class")
        draw = Draw(source.read, 3000, source.share_of(3000), None, False)
        unkept = Checkpoint(None, Gaussian(), source, 1, ())
        drawn = [_draw(draw, source, executor, Meter(QUIET), unkept) for executor in (1, 3)]
        places = drawn[0].rows()[0][0]["place"].to_numpy()
        np.testing.assert_array_equal(places, drawn[1].rows()[0][0]["place"].to_numpy())
        assert len(places) == 3000
        assert (np.diff(places) > 0).all()  # in order, none twice
        # Ten equal stretches of 300 each, with a standard deviation of 16.
        counts = np.bincount((places * 10 // n).astype(int))
        assert np.abs(counts - 300).max() < 5 * 16
        assert drawn[0].rows()[1].totals().tolist() == [n / 3] * 3


class QUIET:
    """A bar that shows nothing."""

    @staticmethod
    def advance(amount: float, note: str = "") -> None:
        return None


# ---------------------------------------------------------------------- finding files


def test_patterns_folders_lists_and_addresses(tmp_path: Path) -> None:
    frame = rows()
    pattern = write_some(frame, tmp_path, ".parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("half")
    (tmp_path / "notes.md").write_text("no data")
    files = sorted(tmp_path.glob("p*.parquet"))
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for file in files:
        store.pipe(f"/rows/{file.name}", file.read_bytes())
    whole = BayesClassifier().fit(frame[["near", "visits"]], frame["class"])
    for paths in (pattern, tmp_path, str(tmp_path), files, "memory://rows/*.parquet"):
        clf = BayesClassifier().fit_files(paths, "class", columns=["near", "visits"])
        assert_same(clf, whole, frame[["near", "visits"]], 1e-10)
    with pytest.raises(ValueError, match="named twice"):
        BayesClassifier().fit_files([files[0], pattern], "class")
    with pytest.raises(FileNotFoundError, match=r"No file matches.*none\*"):
        BayesClassifier().fit_files(str(tmp_path / "none*.parquet"), "class")
    with pytest.raises(ValueError, match="paths is empty"):
        BayesClassifier().fit_files([], "class")


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    for wrong, message in (
        ({"target": "klass"}, "no column 'klass'; the first file has"),
        ({"target": "class", "columns": ["near", "no"]}, "no column 'no'"),
        (
            {"target": "class", "columns": ["near", "class"]},
            "'class' is asked for twice",
        ),
        ({"target": "class", "weight": "town"}, "weight='town' holds .*string"),
        ({"target": "class", "columns": []}, "No column is left"),
        ({"target": "class", "on_bad_file": "ignore"}, "on_bad_file='ignore'"),
        ({"target": "class", "columns": ["town"], "sample": 0}, "sample=0"),
    ):
        density = Columns() if "sample" in wrong else None
        with pytest.raises(ValueError, match=message):
            BayesClassifier(density).fit_files(pattern, **wrong)


def test_types_of_csv_columns_can_be_stated(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    n = 200_000  # numbers for longer than the first rows that are looked at
    path.write_text("code,class\n" + "1,a\n2,b\n" * n + "1x,a\n")
    with pytest.raises(BadFileError, match=r"codes\.csv: column 'code', row #400002, holds '1x', "):
        BayesClassifier(Categorical()).fit_files(path, "class", types={"code": "float64"})
    clf = BayesClassifier(Categorical()).fit_files(path, "class", types={"code": "string"})
    assert clf.stats_.categories[0].tolist() == ["1", "1x", "2"]
    assert clf.class_count_.tolist() == [n + 1, n]
    with pytest.warns(MixedColumnWarning, match=r"'1x'.*is read as text"):
        same = BayesClassifier(Categorical()).fit_files(path, "class")
    assert same.stats_.categories[0].tolist() == ["1", "1x", "2"]


#: Values of a column, and what they make of it wherever the last of them stands.
COLUMNS_OF_TEXT = {
    "numbers": (["1", "2", ""], "2.5", "numbers"),
    "whole": (["3", "0"], "7", "counts"),
    "text": (["1", "2"], "2b", "categories"),
    "flags": (["0", "1"], "true", "flags"),
    "no flags": (["true", "false"], "7", "categories"),
    "dates": (["2020-01-01", "NA"], "2021-05-05", "categories"),
    "no dates": (["2020-01-01"], "soon", "categories"),
    "gaps first": ([""], "4.5", "numbers"),
    "gaps and text": (["", "NA"], "text", "categories"),
    "gaps and flags": (["null"], "false", "flags"),
    "huge": (["1"], "123456789012345678901234567890", "counts"),
    "zip codes": (["00501"], "0051A", "categories"),
}


@pytest.mark.filterwarnings("ignore::bayesrule.notices.MixedColumnWarning")
def test_columns_of_text_are_typed_alike_however_far_down_the_value_that_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [
        [values[i % len(values)] for values, _, _ in COLUMNS_OF_TEXT.values()] for i in range(40)
    ]
    cells += [[last for _, last, _ in COLUMNS_OF_TEXT.values()]] * 2
    lines = [",".join([*row, "ab"[i % 2]]) for i, row in enumerate(cells)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join([*COLUMNS_OF_TEXT, "class"]), *lines]) + "\n")
    kept = []
    for at_once in (1 << 20, 256):  # bytes that are looked at for the types
        monkeypatch.setattr("bayesrule.holdings.CSV_BLOCK", at_once)
        clf = BayesClassifier(Columns()).fit_files(path, "class")
        kinds = {name: kind for name, kind, _ in clf.density_.columns_}
        assert kinds == {name: kind for name, (_, _, kind) in COLUMNS_OF_TEXT.items()}
        save(clf, tmp_path / "model.bayes")
        kept.append((tmp_path / "model.bayes").read_bytes())
    assert kept[0] == kept[1]


# ---------------------------------------------------------------------- bad files


def _other_schema(path: Path) -> None:
    write(rows(90).rename(columns={"near": "elsewhere"}), path)


def _other_type(path: Path) -> None:
    write(rows(90).assign(near="text"), path)


def _no_bytes(path: Path) -> None:
    path.write_bytes(b"")


def _no_rows(path: Path) -> None:
    write(rows(90).iloc[:0], path)


def _cut_short(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _scratched(path: Path) -> None:
    """Bytes in the middle of the rows, which the description of the file does not show."""
    whole = bytearray(path.read_bytes())
    meta = pq.read_metadata(path)
    column = meta.row_group(0).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    whole[start : start + 40] = b"\xff" * 40
    path.write_bytes(bytes(whole))


def _other_label(path: Path) -> None:
    write(rows(90).assign(**{"class": "stranger"}), path)


def _no_label(path: Path) -> None:
    frame = rows(90)
    frame.loc[5, "class"] = None
    write(frame, path)


def _infinite(path: Path) -> None:
    write(rows(90).iloc[:86].assign(near=np.inf), path)


def _gone(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BAD = {
    "other schema": (_other_schema, "no column 'near'"),
    "other type": (_other_type, "'near' holds text"),
    "empty": (_no_bytes, "empty"),
    "no rows": (_no_rows, "no rows"),
    "cut short": (_cut_short, ""),
    "scratched": (_scratched, ""),
    "other label": (_other_label, "stranger"),
    "no label": (_no_label, "missing in 1 of"),
    "infinite": (_infinite, "infinity"),
    "gone": (_gone, "No such file"),
}


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("bad", BAD)
def test_bad_files_are_named_or_skipped(bad: str, suffix: str, tmp_path: Path) -> None:
    spoil, message = BAD[bad]
    if suffix == ".csv" and bad in ("cut short", "scratched"):
        pytest.skip("a CSV file that is cut at a line is a CSV file")
    frame = rows()
    frame = frame[frame["class"] != "last"]
    write_some(frame, tmp_path, suffix)
    files = [tmp_path / f"part{i}{suffix}" for i in range(3)]
    spoil(files[1])
    asked = {"columns": ["near", "visits"], "classes": ["x", "y", "z"]}
    for density in (None, Columns()):
        clf = BayesClassifier(density)
        with pytest.raises(BadFileError, match=message or "part1") as caught:
            clf.fit_files(files, "class", **asked)
        assert str(files[1]) in str(caught.value)
        assert not hasattr(clf, "classes_")

        clf.fit_files(files, "class", **asked, on_bad_file="skip")
        (skipped,) = clf.files_.skipped
        assert skipped.path == str(files[1])
        assert message in skipped.problem
        assert clf.files_.n_files == 2
        parts = np.array_split(np.arange(len(frame)), 3)
        kept = frame.iloc[np.concatenate([parts[0], parts[2]])]
        whole = BayesClassifier(density).fit(kept[["near", "visits"]], kept["class"])
        assert clf.class_count_.tolist() == whole.class_count_.tolist()


def test_nothing_but_bad_files(tmp_path: Path) -> None:
    for i in range(2):
        (tmp_path / f"{i}.parquet").write_bytes(b"no parquet")
    with pytest.raises(BadFileError, match=r"0\.parquet.*none of 2 files"):
        BayesClassifier().fit_files(tmp_path, "class", on_bad_file="skip")
    (tmp_path / "rows.xlsx").write_bytes(b"?")
    with pytest.raises(BadFileError, match=r"rows\.xlsx.*no known format"):
        BayesClassifier().fit_files(tmp_path / "rows.xlsx", "class")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    pattern = write_some(rows(), tmp_path, ".parquet")
    (tmp_path / "part1.parquet").chmod(0)
    with pytest.raises(BadFileError, match=r"part1\.parquet.*[Pp]ermission"):
        BayesClassifier().fit_files(pattern, "class")


def test_a_damaged_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    whole = gzip.compress(rows().to_csv(index=False).encode())
    path.write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(BadFileError, match=r"rows\.csv\.gz"):
        BayesClassifier().fit_files(path, "class", columns=["near"])


def test_a_failed_fit_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    X, y = toy_rows()
    clf = BayesClassifier().fit(X, y)
    before = clf.predict_proba(X)
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(BadFileError):
        clf.fit_files(tmp_path, "class")
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_the_index_of_a_frame_is_no_feature(tmp_path: Path) -> None:
    frame = rows().sample(frac=1.0, random_state=0)
    for k, written in enumerate([frame, frame.rename_axis("case"), frame.reset_index(drop=True)]):
        path = tmp_path / f"{k}.parquet"
        written.to_parquet(path)
        clf = BayesClassifier(Columns()).fit_files(path, "class")
        assert clf.feature_names_in_.tolist() == ["far", "near", "visits", "town"]
    asked = BayesClassifier().fit_files(tmp_path / "1.parquet", "class", columns=["case", "near"])
    assert asked.feature_names_in_.tolist() == ["case", "near"]


@pytest.mark.parametrize("where", [0, 100, 3999], ids=["first", "early", "last"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_values_of_several_lines(
    where: int, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever block of bytes a value with a line break falls into, each row counts once."""
    n = 4000
    frame = pd.DataFrame({"x": np.arange(n, dtype=float), "class": "a", "note": "plain"})
    frame["class"] = np.where(np.arange(n) % 3 == 0, "a", "b")
    frame.loc[where, "note"] = 'it said "no"\n7,' * 40  # its lines look like rows
    write(frame, tmp_path / f"rows{suffix}")
    for block in (1 << 11, 1 << 13, 1 << 22):
        monkeypatch.setattr("bayesrule.holdings.CSV_BLOCK", block)
        clf = BayesClassifier(Columns({"note": "drop"})).fit_files(
            tmp_path / f"rows{suffix}", "class"
        )
        whole = BayesClassifier(Columns({"note": "drop"})).fit(frame[["x", "note"]], frame["class"])
        assert_same(clf, whole, frame[["x", "note"]], 1e-9)
        assert clf.files_.n_rows == n


@pytest.mark.parametrize("name", ["full", "columns"])
@pytest.mark.parametrize("where", [0, 1])
def test_a_file_of_weight_zero_counts_as_absent(name: str, where: int, tmp_path: Path) -> None:
    density, columns = CASES[name]
    frame = rows()
    frame["w"] = 2.0
    frame.loc[np.array_split(frame.index, 3)[where], "w"] = 0.0
    pattern = write_some(frame, tmp_path, ".parquet")
    clf = BayesClassifier(density).fit_files(pattern, "class", weight="w", columns=columns)
    kept = frame[frame["w"] > 0]
    whole = BayesClassifier(density).fit(kept[columns], kept["class"], kept["w"])
    assert_same(clf, whole, frame[columns], 1e-8)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("where", [0, 1])
def test_bad_weights_are_named(wrong: float, where: int, tmp_path: Path) -> None:
    frame = rows().assign(w=1.0)
    frame.loc[np.array_split(frame.index, 3)[where][5], "w"] = wrong
    pattern = write_some(frame, tmp_path, ".parquet")
    for density in (None, Columns()):
        with pytest.raises(
            BadFileError, match=rf"part{where}\.parquet.*'w' is negative.* 1 of 300"
        ):
            BayesClassifier(density).fit_files(pattern, "class", weight="w", columns=["near"])


NO_TEXT = {
    "utf-16": ("a,b,class\n1,2,x\n".encode("utf-16"), "UTF-16 text. Convert it"),
    "latin1 header": (
        "größe,b,class\n1,2,x\n".encode("latin1"),
        "its header holds bytes that",
    ),
    "latin1 cell": (
        "a,b,class\n1,Köln,x\n".encode("latin1"),
        "column 'b'.* no UTF-8 text. Convert",
    ),
    "archive": (b"PK\x03\x04" + bytes(100), "a zip archive, as model files"),
    "parquet": (b"PAR1" + bytes(100), "a Parquet file: let its name end"),
    "semicolons": (b"a;b;class\n1;2;x\n", "one column, 'a;b;class'. Values must have commas"),
}


@pytest.mark.parametrize("what", NO_TEXT)
def test_a_file_that_is_no_text_is_named(what: str, tmp_path: Path) -> None:
    content, message = NO_TEXT[what]
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(BadFileError, match=rf"rows\.csv: .*{message}"):
        BayesClassifier(Columns()).fit_files(tmp_path / "rows.csv", "class")
