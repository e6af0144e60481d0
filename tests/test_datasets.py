"""Real data sets: what was found is the set it claims to be, wherever it came from."""

from __future__ import annotations

import gzip
import io
import math
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayesrule import datasets
from bayesrule.datasets import loading, sources
from bayesrule.datasets.catalogue import CATALOGUE
from bayesrule.datasets.facts import Facts

SHIPPED = ["iris", "wine", "breast_cancer_wdbc"]
DOWNLOADABLE = [name for name, facts in CATALOGUE.items() if facts.openml is not None]
UNOBTAINABLE = [
    name
    for name, facts in CATALOGUE.items()
    if facts.openml is None and facts.shipped is None and facts.derived is None
]


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Leave no folder with data and no network, only an empty current folder."""
    here = tmp_path / "project" / "work"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv("BAYESRULE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "_checkout", lambda: None)

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise URLError("no network in the tests")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    monkeypatch.setattr("sklearn.datasets._openml.time", SimpleNamespace(sleep=lambda pause: None))
    return here


@pytest.fixture
def here(nowhere: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the variable at the folder of real sets, and away from everything else."""
    monkeypatch.setenv("BAYESRULE_DATA", str(data_dir))
    return data_dir


@pytest.fixture
def own_folder(nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the variable at an empty folder that a test may fill."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("BAYESRULE_DATA", str(folder))
    return folder


def csv_path(folder: Path, name: str) -> Path:
    """Return where the folder has the set; skip where it has not."""
    for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
        if path.is_file():
            return path
    pytest.skip(f"{folder} has no {name}.csv")


def read_with_pandas(path: Path) -> pd.DataFrame:
    """Read a CSV by another program: only empty cells are missing, the label is text."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"target": str})


def readme_table(folder: Path) -> dict[str, dict[str, Any]]:
    """Read rows, features, class counts and missing cells from the README beside the files."""
    readme = folder / "README.md"
    if not readme.is_file():
        pytest.skip(f"{folder} has no README.md to compare with")
    table = {}
    row = re.compile(r"^\| `(\w+)\.csv(?:\.gz)?` \| (\d+) x (\d+) \| ([^|]+) \| ([^|]+) \|", re.M)
    for name, rows, features, classes, missing in row.findall(readme.read_text()):
        counts = dict(re.findall(r"([<>]?=?\w+) (\d+)(?:,|$)", classes.split(":", 1)[-1].strip()))
        table[name] = {
            "rows": int(rows),
            "features": int(features),
            "counts": {label: int(n) for label, n in counts.items()},
            "missing": {k: int(n) for k, n in re.findall(r"(\w+) (\d+)", missing)},
        }
    return table


# --- From a folder ------------------------------------------------------------------------------


def test_readme_and_catalogue_list_the_same_sets(data_dir: Path) -> None:
    assert set(readme_table(data_dir)) == set(datasets.names())


@pytest.mark.parametrize("name", datasets.names())
def test_counts_are_those_of_the_readme(name: str, here: Path) -> None:
    csv_path(here, name)
    known = readme_table(here)[name]
    data = datasets.load(name)
    assert data.X.shape == (known["rows"], known["features"])
    assert data.y.shape == (known["rows"],)
    labels, counts = np.unique(data.y, return_counts=True)
    assert data.classes == tuple(labels.tolist())
    if name == "abalone":  # the README names the classes in words
        assert labels.tolist() == [*range(1, 28), 29]
        assert [counts[8], counts[9], counts[7]] == [689, 634, 568]
    else:
        assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == known["counts"]
    missing = data.X.isna().sum()
    assert missing[missing > 0].to_dict() == known["missing"]


@pytest.mark.parametrize("name", datasets.names())
def test_cells_are_those_another_reader_finds(name: str, here: Path) -> None:
    path = csv_path(here, name)
    data = datasets.load(name)
    theirs = read_with_pandas(path)
    assert data.source == f"the file {path}"
    assert data.y.astype(str).tolist() == theirs.pop("target").tolist()
    pd.testing.assert_frame_equal(data.X, theirs)


def test_labels_are_text_except_ring_counts(here: Path) -> None:
    csv_path(here, "zoo")
    csv_path(here, "abalone")
    assert datasets.load("zoo").y.dtype.kind == "U"
    assert datasets.load("abalone").y.dtype == np.int64


def test_ring_counts_are_grouped_where_only_they_are_there(
    data_dir: Path, own_folder: Path
) -> None:
    shutil.copy(csv_path(data_dir, "abalone"), own_folder)
    theirs = read_with_pandas(csv_path(data_dir, "abalone_5class"))
    data = datasets.load("abalone_5class")
    assert data.y.tolist() == theirs.pop("target").tolist()
    pd.testing.assert_frame_equal(data.X, theirs)


def test_a_checkout_finds_the_folder_beside_it(
    data_dir: Path, nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared" / "data"
    shared.mkdir(parents=True)
    shutil.copy(csv_path(data_dir, "raisin"), shared)
    monkeypatch.undo()
    monkeypatch.delenv("BAYESRULE_DATA", raising=False)
    monkeypatch.chdir(nowhere)
    package = tmp_path / "checkout" / "src" / "bayesrule" / "datasets" / "sources.py"
    monkeypatch.setattr(sources, "__file__", str(package))
    with pytest.raises(FileNotFoundError):  # a package in a folder src is not yet a checkout
        datasets.load("raisin")
    package.parents[3].mkdir()
    (package.parents[3] / "pyproject.toml").touch()
    assert Path(datasets.load("raisin").source.removeprefix("the file ")).samefile(
        shared / "raisin.csv"
    )


def test_the_folder_beside_the_current_one_is_searched(data_dir: Path, nowhere: Path) -> None:
    shared = nowhere.parent / "shared" / "data"
    shared.mkdir(parents=True)
    shutil.copy(csv_path(data_dir, "raisin"), shared)
    assert len(datasets.load("raisin").y) == 900


def test_a_variable_that_names_no_folder_is_an_error(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAYESRULE_DATA", str(nowhere / "absent"))
    with pytest.raises(NotADirectoryError, match=r"BAYESRULE_DATA.*absent"):
        datasets.load("iris")


# --- Text stays text ----------------------------------------------------------------------------


def test_texts_that_look_like_something_else_stay(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["NA", "null", "nan", "true", "1", 'He said "no, never"', "two\nlines", "", None, " x "]
    labels = ["a", "b"] * 5
    quoted = ["" if text is None else '"' + text.replace('"', '""') + '"' for text in texts]
    rows = [
        f"{text},{k},{label}" for k, (text, label) in enumerate(zip(quoted, labels, strict=True))
    ]
    (own_folder / "tiny.csv").write_text("\n".join(["text,number,target", *rows]) + "\n")
    # Class a has 4 texts of 2 + 3 + 1 + 9 characters and a gap, class b has 5 texts of
    # 4 + 4 + 19 + 0 + 3 characters; the numbers are 0, 1, ..., 9 in turn.
    checksum = 1 * (15 + 4) + 2 * (30 + 5) + 2 * (0 + 2 + 4 + 6 + 8) + 4 * (1 + 3 + 5 + 7 + 9)
    facts = Facts(
        source="made up",
        licence="none",
        columns=("text", "number"),
        counts={"a": 5, "b": 5},
        checksum=checksum,
        text=("text",),
        missing={"text": 1},
    )
    monkeypatch.setitem(CATALOGUE, "tiny", facts)
    data = datasets.load("tiny", frame="pyarrow")
    assert data.X["text"].to_pylist() == texts
    assert data.X["number"].to_pylist() == list(range(10))
    assert data.y.tolist() == labels


def test_whole_numbers_with_a_gap_are_not_made_integers(here: Path) -> None:
    csv_path(here, "breast_cancer_wisconsin_original")
    table = datasets.load("breast_cancer_wisconsin_original", frame="pyarrow").X
    assert table.schema.field("bare_nuclei").type == pa.float64()
    assert table.schema.field("mitoses").type == pa.int64()


# --- Damaged files ------------------------------------------------------------------------------


def damage(lines: list[str], kind: str) -> list[str]:
    """Do one kind of harm to the lines of zoo.csv."""
    header, first, *rest = lines
    harmed = {
        "row lost": [header, *rest],
        "label misspelt": [header, first.replace("mammal", "mamal"), *rest],
        "label lost": [header, first.removesuffix("mammal"), *rest],
        "cell lost": [header, first[1:], *rest],
        "cell nan": [header, "nan" + first[1:], *rest],
        "cell changed": [header, "0" + first[1:], *rest],
        "cell is text": [header, "yes" + first[1:], *rest],
        "column renamed": [header.replace("hair", "fur"), first, *rest],
        "columns swapped": [header.replace("hair,feathers", "feathers,hair"), first, *rest],
        "no target": [header.replace("target", "type"), first, *rest],
        "empty": [],
    }
    return harmed[kind]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("row lost", r"100 rows instead of 101; class 'mammal' has 40 rows instead of 41"),
        ("label misspelt", r"class 'mamal' has 1 rows instead of 0"),
        ("label lost", r"class None has 1 rows instead of 0"),
        ("cell lost", r"column 'hair' has 1 missing cells instead of 0"),
        ("cell nan", r"column 'hair' has 1 missing cells instead of 0"),
        ("cell changed", r"some values are not \(checksum"),
        ("cell is text", r"cannot be read.*yes"),
        ("column renamed", r"missing columns 'hair'; unexpected columns 'fur'"),
        ("columns swapped", r"some values are not \(checksum"),
        ("no target", r"needs one column 'target'"),
        ("empty", r"cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_by_name(
    kind: str, said: str, data_dir: Path, own_folder: Path
) -> None:
    lines = csv_path(data_dir, "zoo").read_text().splitlines()
    path = own_folder / "zoo.csv"
    path.write_text("\n".join(damage(lines, kind)))
    with pytest.raises(ValueError, match=said) as caught:
        datasets.load("zoo")
    assert str(path) in str(caught.value)


def test_a_truncated_archive_is_refused(data_dir: Path, own_folder: Path) -> None:
    content = csv_path(data_dir, "adult").read_bytes()
    (own_folder / "adult.csv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"adult\.csv\.gz"):
        datasets.load("adult")


def test_text_that_is_not_utf8_is_refused(own_folder: Path) -> None:
    (own_folder / "sms_spam.csv").write_bytes(b"text,target\ncaf\xe9,ham\n")
    with pytest.raises(ValueError, match=r"sms_spam\.csv"):
        datasets.load("sms_spam")


# --- From scikit-learn --------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sets_need_neither_folder_nor_network(name: str, nowhere: Path) -> None:
    data = datasets.load(name)
    assert data.source.startswith("scikit-learn")
    assert data.X.shape == (CATALOGUE[name].rows, len(CATALOGUE[name].columns))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_sets_equal_the_files(name: str, data_dir: Path, nowhere: Path) -> None:
    data = datasets.load(name)
    theirs = read_with_pandas(csv_path(data_dir, name))
    assert data.y.tolist() == theirs.pop("target").tolist()
    pd.testing.assert_frame_equal(data.X, theirs)


# --- From OpenML --------------------------------------------------------------------------------


def serve_recorded_zoo(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer requests with what OpenML once sent for its set 62; list the addresses asked for."""
    recorded = resources.files("sklearn.datasets.tests.data.openml").joinpath("id_62")
    if not recorded.is_dir():
        pytest.skip("this scikit-learn comes without its recorded answers of OpenML")
    asked: list[str] = []

    class Stream(io.BytesIO):
        def info(self) -> dict[str, str]:
            return {}

    def answer(request: Any, *args: Any, **kwargs: Any) -> Stream:
        url = request.full_url
        asked.append(url)
        part = "-dl-" if "download" in url else "-jdf-" if "features" in url else "-jd-"
        (file,) = [file for file in recorded.iterdir() if part in file.name]
        return Stream(gzip.decompress(file.read_bytes()))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", answer)
    return asked


def as_openml_sends(name: str, theirs: pd.DataFrame) -> SimpleNamespace:
    """Write a set as OpenML's copy: own names, own labels, coded categories, another row order."""
    theirs = theirs.sample(frac=1, random_state=0)
    rename = {
        "pima_diabetes": {"no_diabetes": "tested_negative", "diabetes": "tested_positive"},
        "glass": {
            "building_windows_float": "'build wind float'",
            "building_windows_non_float": "'build wind non-float'",
            "vehicle_windows_float": "'vehic wind float'",
        },
        "dermatology": {
            "psoriasis": "1",
            "seborrheic_dermatitis": "2",
            "lichen_planus": "3",
            "pityriasis_rosea": "4",
            "chronic_dermatitis": "5",
            "pityriasis_rubra_pilaris": "6",
        },
        "ionosphere": {"good": "g", "bad": "b"},
        "spambase": {"nonspam": "0", "spam": "1"},
        "mushroom": {"edible": "e", "poisonous": "p"},
    }.get(name, {})
    target = theirs.pop("target").map(lambda label: rename.get(label, label)).to_numpy(object)
    truth = {"zoo": {"0": "false", "1": "true"}}.get(name, {})
    nominal = {
        "dermatology": [column for column in theirs if column != "age"],
        "zoo": [column for column in theirs if column != "legs"],
    }.get(name, [column for column in theirs if not pd.api.types.is_numeric_dtype(theirs[column])])
    columns, categories = [], {}
    for position, column in enumerate(theirs):
        if column not in nominal:
            columns.append(theirs[column].to_numpy(float))
            continue
        texts = theirs[column].map(lambda cell: truth.get(str(cell), str(cell)), na_action="ignore")
        levels = sorted(texts.dropna().unique(), reverse=True)
        categories[f"V{position}"] = levels
        columns.append(texts.map({level: k for k, level in enumerate(levels)}).to_numpy(float))
    return SimpleNamespace(
        data=np.column_stack(columns),
        target=target,
        feature_names=[f"V{position}" for position in range(len(columns))],
        categories=categories,
    )


def as_bag(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the rows in an order that depends on nothing but the rows."""
    return frame.sort_values(list(frame.columns), ignore_index=True)


def test_a_recorded_download_gives_the_set_and_is_kept(
    data_dir: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = serve_recorded_zoo(monkeypatch)
    first = datasets.load("zoo")
    assert first.source == "OpenML data set 62"
    assert asked
    asked.clear()
    datasets.load("zoo")
    assert asked == []
    theirs = read_with_pandas(csv_path(data_dir, "zoo"))
    assert first.y.tolist() == theirs.pop("target").tolist()
    pd.testing.assert_frame_equal(first.X, theirs)


@pytest.mark.parametrize("name", DOWNLOADABLE)
def test_openml_spelling_becomes_ours(
    name: str, data_dir: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = read_with_pandas(csv_path(data_dir, name))
    bunch = as_openml_sends(name, theirs.copy())
    monkeypatch.setattr(sources, "fetch", lambda data_id: bunch)
    data = datasets.load(name)
    ours = data.X.assign(target=data.y.astype(str))
    pd.testing.assert_frame_equal(as_bag(ours), as_bag(theirs), check_dtype=False)
    assert data.X.dtypes.equals(theirs.drop(columns="target").dtypes)


def test_ring_counts_may_be_downloaded_to_be_grouped(
    data_dir: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = read_with_pandas(csv_path(data_dir, "abalone"))
    bunch = as_openml_sends("abalone", theirs)
    bunch.target = bunch.target.astype(float)  # some copies hold the label as a number
    monkeypatch.setattr(sources, "fetch", lambda data_id: bunch)
    assert datasets.load("abalone_5class").X.shape == (4177, 8)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("row lost", r"213 rows instead of 214; class 'headlamps' has 28 rows instead of 29"),
        ("column lost", r"8 features instead of 9"),
        ("columns swapped", r"checksum"),
        ("labels moved", r"checksum"),
        ("rescaled", r"checksum"),
        ("gap", r"column 'refractive_index' has 1 missing cells instead of 0"),
        ("other labels", r"class 'H' has 29 rows instead of 0; class 'headlamps' has 0 rows"),
        ("no labels", r"class 'headlamps' has 0 rows instead of 29"),
        ("texts", r"texts in column 'refractive_index', where numbers were expected: 'low'"),
    ],
)
def test_a_download_that_is_something_else_is_refused(
    kind: str, said: str, data_dir: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bunch = as_openml_sends("glass", read_with_pandas(csv_path(data_dir, "glass")))
    lamps = np.flatnonzero(bunch.target == "headlamps")
    if kind == "row lost":
        bunch.data = np.delete(bunch.data, lamps[0], axis=0)
        bunch.target = np.delete(bunch.target, lamps[0])
    elif kind == "column lost":
        bunch.data = bunch.data[:, 1:]
        bunch.feature_names = bunch.feature_names[1:]
    elif kind == "columns swapped":
        bunch.data = bunch.data[:, [1, 0, *range(2, 9)]]
    elif kind == "labels moved":
        bunch.target = np.roll(bunch.target, 1)
    elif kind == "rescaled":
        bunch.data = (bunch.data - bunch.data.mean(axis=0)) / bunch.data.std(axis=0)
    elif kind == "gap":
        bunch.data[0, 0] = math.nan
    elif kind == "other labels":
        bunch.target[lamps] = "H"
    elif kind == "no labels":
        bunch.target = None
    elif kind == "texts":
        bunch.data[:, 0] = 0
        bunch.categories = {"V0": ["low"]}
    monkeypatch.setattr(sources, "fetch", lambda data_id: bunch)
    with pytest.raises(ValueError, match=said) as caught:
        datasets.load("glass")
    assert "OpenML data set 41" in str(caught.value)


@pytest.mark.filterwarnings("ignore:A network error occurred")
@pytest.mark.parametrize("name", DOWNLOADABLE)
def test_offline_and_absent_says_what_to_do(name: str, nowhere: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no network in the tests") as caught:
        datasets.load(name)
    for said in (f"{name}.csv", "BAYESRULE_DATA", f"{CATALOGUE[name].rows} rows"):
        assert said in str(caught.value)


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_a_derived_set_names_what_it_is_made_of(nowhere: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'abalone_5class'.*'abalone'.*abalone\.csv"):
        datasets.load("abalone_5class")


@pytest.mark.parametrize("name", UNOBTAINABLE)
def test_what_nobody_offers_is_not_asked_for(
    name: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "fetch", lambda data_id: pytest.fail("asked OpenML in vain"))
    with pytest.raises(FileNotFoundError, match=r"cannot be downloaded: .*BAYESRULE_DATA"):
        datasets.load(name)


@pytest.mark.parametrize("name", [*DOWNLOADABLE, "abalone_5class"])
def test_downloads_can_be_forbidden(
    name: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "fetch", lambda data_id: pytest.fail("asked OpenML"))
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        datasets.load(name, download_if_missing=False)


# --- What is handed out -------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
def test_kinds_of_frame_hold_the_same(frame: Any, here: Path) -> None:
    csv_path(here, "adult")
    X = datasets.load("adult", frame=frame).X
    assert type(X).__module__.split(".")[0] == frame
    native = X.to_arrow() if frame == "polars" else X
    native = native.to_pandas() if frame != "pandas" else native
    pd.testing.assert_frame_equal(native, datasets.load("adult").X)


def test_without_pandas_the_table_is_arrows(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda name: None)
    assert isinstance(datasets.load("iris").X, pa.Table)
    with pytest.raises(ImportError, match="needs pandas, which is not installed"):
        datasets.load("iris", frame="pandas")


def test_the_pair_is_that_of_the_data_set(nowhere: Path) -> None:
    data = datasets.load("wine")
    X, y = datasets.load("wine", return_X_y=True)
    pd.testing.assert_frame_equal(X, data.X)
    assert y.tolist() == data.y.tolist()


def test_a_data_set_describes_itself(nowhere: Path) -> None:
    data = datasets.load("iris")
    assert data.classes == ("setosa", "versicolor", "virginica")
    assert data.description == "Iris (Fisher 1936), scikit-learn's values; CC BY 4.0 (UCI)"
    assert repr(data) == (
        "Dataset('iris': 150 rows, 4 features, 3 classes, from scikit-learn's load_iris)"
    )
    with pytest.raises(AttributeError):
        data.y = data.y[::-1]  # type: ignore[misc]


@pytest.mark.parametrize("name", datasets.names())
def test_every_set_has_one_line_on_source_and_licence(name: str) -> None:
    facts = CATALOGUE[name]
    assert facts.source
    assert "CC BY 4.0" in facts.licence or "unclear" in facts.licence
    assert "\n" not in facts.source + facts.licence
    assert {*facts.text, *facts.missing} <= set(facts.columns)


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("irsi", "iris"),
        ("breast-cancer", "breast_cancer_wdbc"),
        ("Pima", "pima_diabetes"),
        ("spam base", "spambase"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"Did you mean '{nearest}'") as caught:
        datasets.load(wrong)
    for name in datasets.names():
        assert name in str(caught.value)


@pytest.mark.parametrize("wrong", ["", "qqqq", 3])
def test_a_name_near_to_nothing_lists_all(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"no data set of ours\. There are: iris"):
        datasets.load(wrong)


def test_an_unknown_frame_is_an_error_before_anything_is_read(nowhere: Path) -> None:
    with pytest.raises(ValueError, match="frame must be one of 'pandas', 'polars', 'pyarrow'"):
        datasets.load("adult", frame="numpy")  # type: ignore[call-overload]


def test_the_import_is_light() -> None:
    code = (
        "import sys, bayesrule.datasets;"
        "print({'sklearn', 'pandas', 'polars', 'pyarrow'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
