"""Exported rules decide as Python does, whatever they are written in."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from c_programs import Rule
from exported import LEAVING, SOME, STAYING, arrow_rows, fitted, more_rows, numbers_of, run_program
from sql_engines import decided

from bayesrule import BayesClassifier, CannotExportError, Poisson, export
from bayesrule.exporting.program import program_of
from bayesrule.testing import toy_rows

pytestmark = pytest.mark.filterwarnings("ignore")


def model(listed, n_classes):
    """A case; all but one of each kind of law are for long runs."""
    some = listed.name in SOME and n_classes == 2 + SOME.index(listed.name) % 2
    marks = () if some else (pytest.mark.slow,)
    return pytest.param(listed, n_classes, id=f"{listed.name}-{n_classes}", marks=marks)


MODELS = [model(listed, n_classes) for listed in LEAVING for n_classes in (2, 3)]


def ready(listed, n_classes, n):
    """A fitted rule, rows to decide on, and the places of Python's decisions."""
    clf, X = fitted(listed, n_classes)
    program = program_of(clf)
    rows = more_rows(X, n, gaps=any(column.gaps for column in program.columns))
    if not all(column.gaps for column in program.columns):
        for column in program.columns:
            if not column.gaps and rows.iloc[:, column.place].isna().any():
                rows.iloc[:, column.place] = more_rows(X, n, gaps=False).iloc[:, column.place]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = clf.predict(rows)
    places = {label: d for d, label in enumerate(clf.decisions_.tolist())}
    return clf, program, rows, np.array([places[label] for label in labels.tolist()])


@pytest.mark.parametrize(("listed", "n_classes"), MODELS)
def test_the_c_header_decides_as_python_does(listed, n_classes, tmp_path):
    clf, program, rows, expected = ready(listed, n_classes, 5000)
    rule = Rule(tmp_path, export(clf, "c"))
    numbers = numbers_of(clf, program, rows)
    found = rule.decide(numbers)
    assert np.array_equal(found, expected), np.flatnonzero(found != expected)[:5]
    chances = rule.chances(numbers, len(clf.classes_))
    np.testing.assert_allclose(chances, clf.predict_proba(rows), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("listed", "n_classes"), MODELS)
def test_sql_decides_as_python_does(listed, n_classes, engine):
    clf, _, rows, expected = ready(listed, n_classes, 400)
    table = f"{listed.name} {n_classes}"
    query = export(clf, "sql", table=table, keep=["row"], booleans=["member"])
    found = decided(engine, query, table, arrow_rows(rows))
    assert found.tolist() == [str(clf.decisions_[d]) for d in expected]


def onnx_answers(clf, program, rows, dtype):
    """Decisions, labels and chances that onnxruntime finds."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    graph = export(clf, "onnx", dtype=dtype)
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    feed = {"X": numbers_of(clf, program, rows).astype(dtype)}
    for column in program.columns:
        if column.form == "text":
            cells = rows.iloc[:, column.place]
            feed[f"text_{column.place}"] = np.where(cells.isna(), "", cells)[:, None].astype(object)
    return session.run(None, feed)


@pytest.mark.parametrize(("listed", "n_classes"), MODELS)
def test_onnxruntime_decides_as_python_does(listed, n_classes):
    clf, program, rows, expected = ready(listed, n_classes, 3000)
    decisions, labels, chances = onnx_answers(clf, program, rows, "float64")
    assert np.array_equal(decisions, expected)
    assert [str(label) for label in labels] == [str(clf.decisions_[d]) for d in expected]
    np.testing.assert_allclose(chances, clf.predict_proba(rows), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", ["gaussian-full", "gaussian-diag", "columns", "profiled-kmeans"])
def test_in_float32_onnx_differs_only_beside_a_boundary(name):
    listed = next(one for one in LEAVING if one.name == name)
    clf, program, rows, expected = ready(listed, 3, 20_000)
    decisions, _, chances = onnx_answers(clf, program, rows, "float32")
    assert np.abs(chances - clf.predict_proba(rows)).max() < 1e-4
    differ = np.flatnonzero(decisions != expected)
    assert len(differ) <= 5
    gains = np.sort(clf.expected_gains(rows)[differ], axis=1)
    assert (gains[:, -1] - gains[:, -2] < 1e-4).all()


def test_onnx_refuses_rows_that_python_refuses():
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, y = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
    clf = BayesClassifier(Poisson(), gain=[[1, -1, 0.1], [-2, 3, 0.1]]).fit(X, y)
    rows = pd.DataFrame([[np.inf, 1.0], [-1.0, 2.0], [np.nan, np.nan], [3.0, 2.0]])
    decisions, labels, chances = onnx_answers(clf, program_of(clf), rows, "float64")
    expected = clf.predict(rows.to_numpy()[2:])
    assert decisions[:2].tolist() == [-1, -1]
    assert labels.tolist() == ["", "", *map(str, expected)]
    assert np.isnan(chances).all(axis=1).tolist() == [True, True, False, False]


@pytest.mark.parametrize(("listed", "n_classes"), MODELS)
def test_the_json_program_decides_as_python_does(listed, n_classes):
    clf, _, rows, expected = ready(listed, n_classes, 60)
    program = json.loads(export(clf, "json"))
    cells = rows.astype(object).where(rows.notna(), None).to_numpy().tolist()
    found = [run_program(program, row) for row in cells]
    assert found == expected.tolist()


def test_the_list_of_some_models_names_models():
    assert set(SOME) <= {listed.name for listed in LEAVING}


KINDS_THAT_STAY = [
    listed
    for listed in STAYING
    if listed.name in ("logistic", "multinomial", "words", "neighbors", "kernel", "histogram-joint")
]


@pytest.mark.parametrize("listed", KINDS_THAT_STAY, ids=lambda listed: listed.name)
def test_what_cannot_leave_says_so_before_anything_is_written(listed, tmp_path):
    X, y = listed.claims.get("X"), listed.claims.get("y")
    if X is None:
        X, y = toy_rows()
    clf = BayesClassifier(listed.density).fit(X, y)
    with pytest.raises(CannotExportError):
        export(clf, path=tmp_path / "rule.sql")
    assert list(tmp_path.iterdir()) == []
