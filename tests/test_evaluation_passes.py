"""Figures of files are those of the same rows in memory, however they are cut."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayesrule import BayesClassifier, Columns, Words, evaluate, evaluate_files, with_action
from bayesrule.evaluation import Evaluation
from bayesrule.notices import AbsentClassWarning, NoSupportWarning
from bayesrule.parts import BadFileError
from bayesrule.reliability import DISTINCT, Predictions, reliability

FEATURES = ["far", "near", "town"]


def rows(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "far": rng.normal(y, 1.0),
            "case": np.arange(n),  # no feature
            "near": rng.normal(-y, 2.0),
            "town": np.array(["A", "B", "C"])[(y + rng.integers(0, 2, n)) % 3],
            "counts": rng.integers(0, 4, n),
            "class": np.array(["x", "y", "z"])[y],
        }
    )
    frame.loc[rng.random(n) < 0.1, "near"] = np.nan
    return frame


@pytest.fixture(scope="module")
def clf() -> BayesClassifier:
    learned = rows(500, seed=1)
    density = Columns()
    gain = with_action(None, "ask", 0.6)
    return BayesClassifier(density, gain=gain).fit(learned[FEATURES], learned["class"])


def written(frame: pd.DataFrame, folder: Path, form: str) -> Any:
    match form:
        case "small groups":
            frame.to_parquet(folder / "rows.parquet", index=False, row_group_size=100)
        case "several":
            for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
                frame.iloc[part].to_parquet(folder / f"{i}.parquet", index=False)
        case _:
            frame.to_csv(folder / "rows.csv", index=False)
    return folder


def assert_same(one: Evaluation, other: Evaluation) -> None:
    """Counts to the last bit, all else to rounding."""
    a, b = one.to_dict(), other.to_dict()
    assert a.keys() == b.keys()
    for name in ("n", "counts", "classes", "decisions", "priors", "gain", "confidence"):
        assert a[name] == b[name], name
    assert a["expected_gain"] == pytest.approx(b["expected_gain"], rel=1e-12)
    for name in ("interval", "confusion", "class_gains", "class_risks", "shares", "calibration"):
        _assert_near(a[name], b[name])
    for name in ("accuracy", "raw_accuracy", "raw_expected_gain", "brier", "log_loss"):
        assert a[name] == pytest.approx(b[name], rel=1e-12), name


def _assert_near(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name, value in one.items():
            _assert_near(value, other[name])
    else:
        np.testing.assert_allclose(
            np.array(one, float), np.array(other, float), rtol=1e-11, atol=1e-15
        )


@pytest.mark.parametrize("form", ["small groups", "several", "csv"])
@pytest.mark.parametrize("weight", [None, "counts"])
@pytest.mark.parametrize("priors", [None, "empirical", {"x": 0.2, "y": 0.5, "z": 0.3}])
def test_files_give_the_figures_of_memory(
    clf: BayesClassifier,
    form: str,
    weight: str | None,
    priors: Any,
    tmp_path: Path,
    monkeypatch: Any,
) -> None:
    frame = rows()
    # So that there are many chunks and parts.
    monkeypatch.setattr("bayesrule.holdings.CHUNK_ROWS", 300)
    monkeypatch.setattr("bayesrule.holdings.PART_ROWS", 700)
    paths = written(frame, tmp_path, form)
    weights = None if weight is None else frame[weight]
    expected = evaluate(clf, frame[FEATURES], frame["class"], weights, priors, confidence=0.9)
    for executor in (1, 3):
        found = evaluate_files(
            clf, paths, "class", weight, priors, confidence=0.9, executor=executor
        )
        assert_same(found, expected)


def test_other_gains_soft_labels_and_classes_never_fitted(
    clf: BayesClassifier, tmp_path: Path
) -> None:
    frame = rows(400)
    gain = {k: {d: float(k == d) - 0.3 for d in ("x", "y", "z", "ask", "more")} for k in "xyz"}
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = evaluate(clf, frame[FEATURES], frame["class"], gain=gain)
    assert_same(evaluate_files(clf, tmp_path / "rows.parquet", "class", gain=gain), expected)

    soft = np.full((400, 3), 0.05)
    soft[np.arange(400), np.searchsorted(["x", "y", "z"], frame["class"])] = 0.9
    frame[["x", "y", "z"]] = soft
    frame.drop(columns=["class"]).to_parquet(tmp_path / "soft.parquet")
    expected = evaluate(clf, frame[FEATURES], frame[["x", "y", "z"]])
    assert_same(evaluate_files(clf, tmp_path / "soft.parquet", ["x", "y", "z"]), expected)

    frame.loc[399, "class"] = "new"
    frame.to_parquet(tmp_path / "rows.parquet")
    gain = {k: {d: float(k == d) for d in ("x", "y", "z", "ask")} for k in ("x", "y", "z", "new")}
    with pytest.warns(AbsentClassWarning, match="new"):
        found = evaluate_files(clf, tmp_path / "rows.parquet", "class", gain=gain)
    with pytest.warns(AbsentClassWarning, match="new"):
        expected = evaluate(clf, frame[FEATURES], frame["class"], gain=gain)
    assert_same(found, expected)


def test_texts_and_rows_without_names(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a b", "b c", "c c d", "a a"] * 5, "class": [1, 0, 0, 1] * 5})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    clf = BayesClassifier(Words()).fit(frame["text"].tolist(), frame["class"])
    expected = evaluate(clf, frame["text"].tolist(), frame["class"])
    assert_same(evaluate_files(clf, tmp_path / "texts.csv", "class"), expected)
    numbers = rows(300)[["far", "counts", "class"]]
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    plain = BayesClassifier().fit(numbers[["far", "counts"]].to_numpy(), numbers["class"])
    expected = evaluate(plain, numbers[["far", "counts"]].to_numpy(), numbers["class"])
    assert_same(evaluate_files(plain, tmp_path / "numbers.csv", "class"), expected)


def test_columns_of_text_are_read_as_they_were_fitted(clf: BayesClassifier, tmp_path: Path) -> None:
    """A few rows may look like something else: codes like numbers, labels too."""
    frame = pd.DataFrame({"code": ["1", "2", "B"] * 30, "class": ["1", "2", "C"] * 30})
    fitted = BayesClassifier(Columns()).fit(frame[["code"]], frame["class"])
    few = frame[frame["code"] != "B"]
    few.to_csv(tmp_path / "few.csv", index=False)
    with pytest.warns(AbsentClassWarning):
        found = evaluate_files(fitted, tmp_path / "few.csv", "class")
    with pytest.warns(AbsentClassWarning):
        assert_same(found, evaluate(fitted, few[["code"]], few["class"]))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"target": "klass"}, ValueError, "no column 'klass'"),
        ({"confidence": 95}, ValueError, "confidence=95"),
        ({"gain": np.zeros((3, 3, 4))}, ValueError, "differ from row to row"),
        (
            {"gain": {"x": {"x": 1}, "y": {"x": 0}, "z": {"x": 0}}},
            ValueError,
            r"no price.* of 200 rows",
        ),
        ({"target": "town"}, ValueError, "asked for twice, or as feature and target"),
        ({"target": "case"}, ValueError, "among the known classes"),
        ({"weight": "worth"}, BadFileError, "weight 'worth' is negative, missing"),
    ],
)
def test_what_cannot_be_evaluated_is_told(
    clf: BayesClassifier, wrong: Any, error: Any, message: str, tmp_path: Path
) -> None:
    rows(200).assign(worth=-1.0).to_parquet(tmp_path / "rows.parquet")
    asked = {"target": "class", **wrong}
    with pytest.raises(error, match=message):
        evaluate_files(clf, tmp_path / "rows.parquet", **asked)


def test_features_that_are_missing_or_far_off_are_told(
    clf: BayesClassifier, tmp_path: Path
) -> None:
    frame = rows(50)
    frame.drop(columns=["near"]).to_parquet(tmp_path / "less.parquet")
    with pytest.raises(BadFileError, match=r"less\.parquet: has no column 'near', a feature"):
        evaluate_files(clf, tmp_path / "less.parquet", "class")
    frame["far"] = 1e300
    frame.to_csv(tmp_path / "far.csv", index=False)
    with pytest.warns(NoSupportWarning, match="50 of 50 rows"):
        evaluate_files(clf, tmp_path / "far.csv", "class")


# ---------------------------------------------------------------------- predictions that add up


@pytest.mark.parametrize("n", [100, 3 * DISTINCT])
def test_predictions_add_up_to_the_same_table(n: int) -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 0.7, n)
    happened, shares = rng.random(n) < p, rng.random(n) / n
    whole = reliability(p, happened, shares)
    cuts = np.sort(rng.integers(0, n, 5))
    parts = [
        Predictions.of(p[i:j], happened[i:j], shares[i:j])
        for i, j in zip([0, *cuts], [*cuts, n], strict=True)
    ]
    for order in (parts, parts[::-1]):
        total = order[0]
        for part in order[1:]:
            total = total + part
        table = total.table()
        for name in ("predicted", "observed", "weight"):
            np.testing.assert_allclose(getattr(table, name), getattr(whole, name), rtol=1e-10)
    # Whether told apart or in steps, nothing is lost, and ten bins share the weight alike.
    assert whole.weight.sum() == pytest.approx(1.0)
    assert whole.predicted @ whole.weight == pytest.approx(p @ shares / shares.sum(), rel=1e-12)
    assert len(whole.weight) == 10
    if n > DISTINCT:
        assert len(total.values) < DISTINCT
        edges = np.quantile(p, np.linspace(0, 1, 11))
        exact = [p[(p >= a) & (p <= b)].mean() for a, b in pairwise(edges)]
        np.testing.assert_allclose(whole.predicted, exact, rtol=0.05, atol=1e-6)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    """Four times the rows take hardly more memory; all of them at once would take 260 MB more."""
    rng = np.random.default_rng(0)
    n = 1 << 19
    y = rng.integers(0, 2, n)
    features = {f"x{j}": rng.normal(y, 1.0) for j in range(10)}
    table = pa.table({**features, "y": y})
    BayesClassifier().fit(table.drop_columns(["y"]).slice(0, 1000), y[:1000])
    peaks = []
    for times in (2, 8):
        path = tmp_path / f"{times}.parquet"
        with pq.ParquetWriter(path, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table, row_group_size=1 << 17)
        program = (
            "import json, resource, sys\n"
            "import pyarrow.parquet as pq\n"
            "from bayesrule import BayesClassifier, evaluate_files, report_files\n"
            "few = pq.ParquetFile(sys.argv[1]).read_row_group(0).slice(0, 1000)\n"
            "clf = BayesClassifier().fit(few.drop_columns(['y']), few['y'].to_numpy())\n"
            "n = evaluate_files(clf, sys.argv[1], 'y').n\n"
            "assert len(report_files(clf, sys.argv[1], 'y').rows) == 4000\n"
            "print(json.dumps([n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))\n"
        )
        said = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
        )
        seen, peak = json.loads(said.stdout)
        assert seen == times * n
        peaks.append(peak / 1024)
    assert peaks[1] - peaks[0] < 100, peaks
