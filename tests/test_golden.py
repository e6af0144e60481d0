"""Model files of all versions so far are read and answer as they did."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest

from bayesrule.known import KNOWN
from bayesrule.store import load, save
from bayesrule.stored import STORED

FILES = list(golden.kept())


def types_in(content: Any) -> set[str]:
    """Names of the types that the JSON of a model file holds."""
    if isinstance(content, list):
        return set().union(*map(types_in, content))
    if not isinstance(content, dict):
        return set()
    inner = set().union(*map(types_in, content.values()))
    return inner | {tag for tag in content if tag in STORED}


def document_of(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        found: dict[str, Any] = json.loads(archive.read("model.json"))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_is_kept_answers_as_it_did(path: Path) -> None:
    told = json.loads(path.with_suffix(".json").read_text("utf-8"))
    clf = load(path)
    found = golden.answers(clf, golden.rows_of_json(told["rows"]))
    assert found["predict"] == told["predict"]
    for name in ("predict_proba", "log_density", "expected_gains"):
        # Other processors round otherwise, and iterations stop a little elsewhere.
        np.testing.assert_allclose(found[name], told[name], rtol=1e-7, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_is_kept_is_what_would_be_written(path: Path, tmp_path: Path) -> None:
    save(load(path), tmp_path / "again.bayes")
    before, after = document_of(path), document_of(tmp_path / "again.bayes")
    assert types_in(before["model"]) == types_in(after["model"])
    # What is read and written again loses nothing.
    clf, again = load(path), load(tmp_path / "again.bayes")
    rows = golden.rows_of_json(json.loads(path.with_suffix(".json").read_text("utf-8"))["rows"])
    assert golden.answers(clf, rows) == golden.answers(again, rows)


def test_there_is_a_file_for_each_type() -> None:
    found = set().union(*(types_in(document_of(path)["model"]) for path in FILES))
    missing = set(STORED) - found
    assert not missing, "run tests/golden.py after adding a model that has them to it"


def test_no_file_and_no_type_was_lost() -> None:
    assert {path.stem for path in FILES} >= set(golden.MADE)
    for path in FILES:
        # A type must keep its name, and is looked up in a list that is closed.
        assert types_in(document_of(path)["model"]) <= set(STORED)
        assert path.with_suffix(".json").exists()
    assert set(KNOWN) < set(STORED)


def test_files_are_made_once(tmp_path: Path) -> None:
    assert golden.make("bernoulli", tmp_path)
    before = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert not golden.make("bernoulli", tmp_path)
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == before
    (tmp_path / "bernoulli.bayes").unlink()
    assert not golden.make("bernoulli", tmp_path)  # answers without a model: something was lost


def test_files_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in golden.FOLDER.iterdir()}
    assert max(sizes.values()) < 20_000, sizes
