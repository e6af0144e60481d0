"""A page about files is the page about their rows, whatever the size of files and chunks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesrule import BayesClassifier, Columns, report, report_files


def rows(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.03).astype(int)
    town = np.array(["A", "B"])[(y + rng.integers(0, 2, n)) % 2]
    frame = pd.DataFrame({"a": rng.normal(y, 1.0), "town": town, "b": rng.normal(-y, 1.0)})
    return frame.assign(case=np.arange(n), weight=rng.integers(0, 3, n), ill=y)


@pytest.fixture(scope="module")
def clf() -> BayesClassifier:
    learned = rows(1000)
    return BayesClassifier(Columns()).fit(learned[["a", "town", "b"]], learned["ill"])


def data(page: Any) -> dict[str, Any]:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page.html, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_page_of_a_file_is_the_page_of_its_rows(
    clf: BayesClassifier, ending: str, weight: str | None, tmp_path: Path, monkeypatch: Any
) -> None:
    frame = rows(5000)
    path = tmp_path / f"rows.{ending}"
    getattr(frame, f"to_{ending}")(path, index=False)
    X, y = frame[["a", "town", "b"]], frame["ill"]
    weights = None if weight is None else frame[weight]
    expected = report(clf, X, y, weights, sample=600, seed=3, include_features=True)
    for chunk in (100, 1 << 17):
        monkeypatch.setattr("bayesrule.holdings.CHUNK_ROWS", chunk)
        page = report_files(clf, path, "ill", weight, sample=600, seed=3, include_features=True)
        assert page.rows.tolist() == expected.rows.tolist()
        assert data(page) == data(expected)
    counts = np.bincount(y[page.rows])
    there = y if weights is None else y[weights > 0]
    assert counts[1] == there.sum()  # the rare class is kept whole
    assert counts.sum() == 600
    other = report_files(clf, path, "ill", weight, sample=600, seed=4)
    assert other.rows.tolist() != expected.rows.tolist()


def test_rows_of_many_parts_are_told_by_their_place_among_all(
    clf: BayesClassifier, tmp_path: Path, monkeypatch: Any
) -> None:
    frame = rows(3000)
    monkeypatch.setattr("bayesrule.holdings.PART_ROWS", 500)
    for i, part in enumerate(np.array_split(np.arange(3000), 2)):
        frame.iloc[part].to_parquet(tmp_path / f"{i}.parquet", index=False, row_group_size=250)
    pages = [
        report_files(clf, tmp_path, "ill", sample=300, include_features=True, executor=n)
        for n in (1, 3)
    ]
    assert pages[0].html == pages[1].html
    held = data(pages[0])["features"]
    shown = dict(zip(held["names"], held["values"], strict=True))
    assert shown["a"] == [f"{v:.6g}" for v in frame["a"][pages[0].rows]]
    # A fair draw: of 2,900 well cases about half are from the first half.
    well = pages[0].rows[frame["ill"][pages[0].rows].to_numpy() == 0]
    assert abs((well < 1500).mean() - 0.5) < 5 * 0.5 / len(well) ** 0.5


def test_what_no_page_can_show_is_refused(clf: BayesClassifier, tmp_path: Path) -> None:
    frame = rows(200)
    frame.loc[7, "ill"] = 2
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(ValueError, match="class 2, which is not among"):
        report_files(clf, tmp_path / "rows.csv", "ill")
    with pytest.raises(ValueError, match="sample=0"):
        report_files(clf, tmp_path / "rows.csv", "ill", sample=0)
    with pytest.raises(ValueError, match="confidence=2"):
        report_files(clf, tmp_path / "rows.csv", "ill", confidence=2)
