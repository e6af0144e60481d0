"""The command as people type it: what it prints, what it writes, what it says when it cannot."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris

from bayesrule import evaluate, export, load, recipes
from bayesrule.cli import asking, reading
from bayesrule.cli.main import COMMANDS, run

CANCER = load_breast_cancer()
GAIN = "ill:treat=20,ill:wait=-100,well:treat=-20,well:wait=0"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files to work on: half of the cases to learn from, half to judge with."""
    folder = tmp_path_factory.mktemp("cli")
    names = [str(name) for name in CANCER.feature_names[:6]]
    X, y = CANCER.data[:, :6], np.where(CANCER.target == 0, "ill", "well")
    rows = pa.table({**dict(zip(names, X.T, strict=True)), "state": y.tolist()})
    pq.write_table(rows.take(np.arange(0, len(y), 2)), folder / "train.parquet")
    pq.write_table(rows.take(np.arange(1, len(y), 2)), folder / "test.parquet")
    assert run(["fit", str(folder / "train.parquet"), *words("--target state"), "--model", "qda",
                "--gain", GAIN, "-o", str(folder / "rule.bayes")]) == 0  # fmt: skip
    return folder


def words(text: str) -> list[str]:
    return text.split()


def said(capsys) -> str:
    """The one line of complaint."""
    err = capsys.readouterr().err
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if ": note: " not in line]
    assert len(lines) == 1, err
    assert lines[0].startswith("bayesrule: error: ")
    return lines[0]


# ---------------------------------------------------------------------- a walk


def test_fit_evaluate_rule_inspect_agree_with_the_library(folder, capsys):
    train, test = (pq.read_table(folder / f"{part}.parquet") for part in ("train", "test"))
    own = recipes.qda(gain=asking.gain_of(GAIN))
    own.fit(train.drop_columns(["state"]), train["state"].to_pylist())
    kept = load(folder / "rule.bayes")
    X = test.drop_columns(["state"])
    assert np.array_equal(kept.predict_proba(X), own.predict_proba(X))
    capsys.readouterr()
    model, data = str(folder / "rule.bayes"), str(folder / "test.parquet")
    priors = "ill=.05,well=.95"
    assert run(["evaluate", model, data, *words("--target state --json --priors"), priors]) == 0
    told = json.loads(capsys.readouterr().out)
    figures = evaluate(own, X, test["state"].to_pylist(), priors={"ill": 0.05, "well": 0.95})
    assert told["expected_gain"] == figures.expected_gain
    assert told["counts"] == figures.counts.tolist()
    np.testing.assert_allclose(told["interval"], figures.interval, rtol=1e-12)
    new = str(folder / "new.bayes")
    assert run(["rule", model, "--gain", GAIN.replace("-100", "-1"), "--priors", priors, "-o", new,
                "--json"]) == 0  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert told["priors"] == [0.05, 0.95]
    assert load(new).gain_.tolist() == [[20, -1], [-20, 0]]
    assert run(["inspect", new]) == 0
    assert "gain of treat" in capsys.readouterr().out


def test_merging_halves_is_fitting_all(folder, tmp_path, capsys):
    rows = pq.read_table(folder / "train.parquet")
    parts = [rows.slice(0, 100), rows.slice(100)]
    paths = []
    for i, part in enumerate(parts):
        pq.write_table(part, tmp_path / f"{i}.parquet")
        paths.append(str(tmp_path / f"{i}.bayes"))
        data = str(tmp_path / f"{i}.parquet")
        assert run(["fit", data, *words("--target state --model gaussian_nb -o"), paths[-1]]) == 0
    whole = str(tmp_path / "sum.bayes")
    assert run(["merge", *paths, "-o", whole]) == 0
    X = rows.drop_columns(["state"])
    fitted = recipes.gaussian_nb().fit(X, rows["state"].to_pylist())
    np.testing.assert_allclose(load(whole).predict_proba(X), fitted.predict_proba(X), rtol=1e-9)
    assert run(["merge", paths[0], "-o", whole]) == 2
    assert "two model files" in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked",
    ["naive_bayes", "quantized", "qda --priors minimax", "knn", "dmc"],
)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_fit_in_parts_is_a_fit_in_memory(folder, tmp_path, asked, ending):
    rows = pq.read_table(folder / "train.parquet")
    data, out = tmp_path / f"rows.{ending}", tmp_path / "m.bayes"
    reading.write_rows(rows, data)
    assert run(["fit", str(data), *words("--target state --gain"), GAIN, "--model", *words(asked),
                "-o", str(out)]) == 0  # fmt: skip
    name, _, priors = asked.partition(" --priors ")
    whole = asking.model_of(
        name, [], gain=asking.gain_of(GAIN), priors=asking.priors_of(priors or None)
    )
    X = rows.drop_columns(["state"])
    whole.fit(X, rows["state"].to_pylist())
    np.testing.assert_allclose(load(out).priors_, whole.priors_, rtol=1e-9)
    np.testing.assert_allclose(load(out).predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_several_files_are_one(folder, tmp_path, capsys):
    rows = pq.read_table(folder / "train.parquet")
    (tmp_path / "parts").mkdir()
    for i in range(3):
        pq.write_table(rows.slice(i * 95, 95), tmp_path / "parts" / f"{i}.parquet")
    parts, out = str(tmp_path / "parts"), tmp_path / "m.bayes"
    given = ([f"{parts}/{i}.parquet" for i in range(3)], [parts], [f"{parts}/*.parquet"])
    X = rows.drop_columns(["state"])
    fitted = recipes.gaussian_nb().fit(X, rows["state"].to_pylist())
    for data in given:
        assert run(["fit", *data, *words("--target state --model gaussian_nb -o"), str(out)]) == 0
        told = "ill {:g}, well {:g}".format(*fitted.class_count_)
        assert told in capsys.readouterr().out
        np.testing.assert_allclose(load(out).predict_proba(X), fitted.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("fit {train} {test} --target stat", 2, "did you mean 'state'"),
        ("fit {train} {test} --target state --weight heavy", 2, "heavy"),
        ("fit {train} {train} --target state", 2, "train.parquet is named twice"),
        ("fit {train} {test}.gone --target state", 2, "test.parquet.gone"),
        ("fit {folder}/*.orc --target state", 2, "No file matches"),
        ("fit {train} {model} --target state", 2, "rule.bayes"),
        ("fit {train} {gaps} --target state", 1, "gaps.parquet"),
        ("fit {train} {test} --target state --model qda --set shrinkage=7", 1, "shrinkage"),
        ("fit {train} {test} --target state --gain sick:a=1,well:a=2", 1, "'ill'"),
    ],
)
def test_one_line_says_what_is_wrong_with_several_files(
    folder, tmp_path, tmp_path_factory, capsys, line, code, message
):
    rows = pq.read_table(folder / "test.parquet")
    gaps = tmp_path_factory.mktemp("gaps") / "gaps.parquet"
    labels = pa.array([None, *rows["state"].to_pylist()[1:]])
    pq.write_table(rows.drop_columns(["state"]).append_column("state", labels), gaps)
    places = {
        "train": folder / "train.parquet",
        "test": folder / "test.parquet",
        "model": folder / "rule.bayes",
        "folder": folder,
        "gaps": gaps,
    }
    assert run([*line.format(**places).split(" "), "-o", str(tmp_path / "out.bayes")]) == code
    assert message in said(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("fit {model} --target state", 2, "named like a model file, but data are expected"),
        ("evaluate {folder}/rules.bayes {test} --target state", 2, "Did you mean"),
        ("evaluate {model} {test} --target stat", 2, "did you mean 'state'"),
        ("evaluate {test} {test} --target state", 1, "no model file at all"),
        ("predict {model} {test} --keep stat -o {out}.csv", 2, "did you mean 'state'"),
        ("predict {model} {test} -o {out}.xlsx", 2, "let it end in .csv"),
        ("predict {model} {folder}/*.orc -o {out}.csv", 2, "No file matches"),
        ("rule {model} --priors minimax -o {out}.bayes", 1, "bayesrule fit --priors minimax"),
        ("report {model} {other} --target state -o {out}.html", 1, "a feature; it has"),
    ],
)
def test_one_line_says_what_is_wrong_with_what_a_model_is_given(
    folder, tmp_path, tmp_path_factory, capsys, line, code, message
):
    other = tmp_path_factory.mktemp("other") / "other.csv"
    other.write_text("a,state\n1,ill\n2,well\n")
    places = {"model": folder / "rule.bayes", "test": folder / "test.parquet", "folder": folder}
    filled = line.format(**places, other=other, out=tmp_path / "out")
    assert run(filled.split(" ")) == code
    assert message in said(capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_single_class_is_fitted_with_a_note(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("a,y\n1,x\n2,x\n3,x\n")
    assert (
        run(["fit", str(tmp_path / "rows.csv"), *words("--target y -o"), str(tmp_path / "m.bayes")])
        == 0
    )
    assert "note: All rows are of the class x" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_rows_may_be_piped_in(folder, tmp_path, ending):
    rows = pq.read_table(folder / "test.parquet").drop_columns(["state"])
    data = tmp_path / f"rows.{ending}"
    if ending == "csv.gz":
        data.write_bytes(gzip.compress(_csv_of(rows)))
    else:
        reading.write_rows(rows, data)
    line = [sys.executable, "-m", "bayesrule", "predict", str(folder / "rule.bayes")]
    asked = subprocess.run([*line, str(data)], capture_output=True, check=True)
    piped = subprocess.run([*line, "-"], input=data.read_bytes(), capture_output=True, check=True)
    assert piped.stdout == asked.stdout
    assert asked.stdout.count(b"\n") == len(rows) + 1


def _csv_of(rows) -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(rows, sink)
    return sink.getvalue().to_pybytes()


def test_compare_prints_a_table_and_draws_a_picture(folder, tmp_path, capsys):
    data, picture = str(folder / "train.parquet"), tmp_path / "picture.png"
    assert run(["compare", data, *words("--target state -m lda -m qda:shrinkage=0.1 --gain"), GAIN,
                "-o", str(picture)]) == 0  # fmt: skip
    assert "qda:shrinkage=0.1" in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert run(["compare", data, *words("--target state -m lda --json --gain"), GAIN]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["name"] == "lda"


def test_what_needs_all_rows_asks_for_a_sample_of_too_many(folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 10_000)
    data, best = str(folder / "train.parquet"), tmp_path / "best.bayes"
    compare = ["compare", data, *words("--target state -m lda -m qda")]
    tune = ["tune", data, *words("--target state --model qda --try shrinkage=0,0.1 -o"), str(best)]
    for line in (compare, tune):
        assert run(line) == 1
        assert "Add --sample" in said(capsys)
        assert run([*line, "--sample", "0"]) == 2
        assert "--sample 0" in said(capsys)
        assert run([*line, "--sample", "200"]) == 0
        told = capsys.readouterr().out
        assert "On 200 of 285 rows, drawn at random." in told
        assert run([*line, "--sample", "200"]) == 0
        again = capsys.readouterr().out
        if line is tune:  # seconds are printed by the other
            assert again == told
        assert run([*line, *words("--sample 200 --json")]) == 0
        assert json.loads(capsys.readouterr().out)["sample"].startswith("200 of 285 rows")
    assert load(best).class_count_.sum() == 285  # of all rows, the settings by the sample


def test_tune_tries_all_combinations_and_keeps_the_best(folder, tmp_path, capsys):
    data, best = str(folder / "train.parquet"), tmp_path / "best.bayes"
    assert run(["tune", data, *words("--target state --model qda --try shrinkage=0,0.1,auto"),
                "--gain", GAIN, "-o", str(best), "--json"]) == 0  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert [row["shrinkage"] for row in told["tried"]] != []
    assert {str(row["shrinkage"]) for row in told["tried"]} == {"0", "0.1", "auto"}
    gains = [row["expected_gain"] for row in told["tried"]]
    assert gains == sorted(gains, reverse=True)
    assert load(best).density.shrinkage == told["best"]["shrinkage"]


def test_datasets_lists_and_writes(tmp_path, capsys):
    assert run(["datasets", "--json"]) == 0
    assert "iris" in {row["name"] for row in json.loads(capsys.readouterr().out)}
    path = tmp_path / "iris.csv"
    assert run(["datasets", "iris", "-o", str(path)]) == 0
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 150
    assert float(rows[0]["sepal_length"]) == load_iris().data[0, 0]


# ---------------------------------------------------------------------- what is typed


@given(
    st.dictionaries(
        st.sampled_from(["ill", "well", "it's", "a b", "ü"]),
        st.dictionaries(
            st.sampled_from(["treat", "wait", "x=y", "ask"]),
            st.floats(allow_nan=False, allow_infinity=False),
            min_size=1,
        ),
        min_size=1,
    )
)
def test_a_typed_gain_is_read_as_it_was_meant(gain):
    entries = [(true, d, value) for true, row in gain.items() for d, value in row.items()]
    typed = ",".join(f"{true}:{d}={value!r}" for true, d, value in entries)
    assert asking.gain_of(typed) == gain
    assert asking.gain_of(json.dumps(gain)) == gain


def test_a_gain_may_be_a_file(tmp_path):
    gain = {"ill, very": {"treat": 5.0, "=wait": -20.0}, "well": {"treat": -1.0, "=wait": 0.0}}
    with open(tmp_path / "gain.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["true", "treat", "=wait"])
        writer.writerows([true, *row.values()] for true, row in gain.items())
    (tmp_path / "gain.json").write_text(json.dumps(gain))
    assert asking.gain_of(str(tmp_path / "gain.csv")) == gain
    assert asking.gain_of(str(tmp_path / "gain.json")) == gain


def test_labels_that_are_numbers_may_be_typed(tmp_path, capsys):
    path, model = tmp_path / "iris.parquet", tmp_path / "m.bayes"
    X, y = load_iris(return_X_y=True)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 2], "y": y}), path)
    gain = ",".join(f"{k}:{d}={float(k == d)}" for k in range(3) for d in range(3))
    line = words("--target y --model lda --priors 0=.2,1=.3,2=.5 -o")
    assert run(["fit", str(path), *line, str(model), "--gain", gain]) == 0
    clf = load(model)
    assert clf.priors_.tolist() == [0.2, 0.3, 0.5]
    assert clf.decisions_.tolist() == [0, 1, 2]


def test_priors_may_be_minimax_or_those_of_new_rows(folder, tmp_path):
    train, out = str(folder / "train.parquet"), str(tmp_path / "m.bayes")
    fit = ["fit", train, "--target", "state", "-o", out, "--priors"]
    assert run([*fit, "minimax:ill=0.1..0.2"]) == 0
    assert 0.1 - 1e-6 <= load(out).priors_[0] <= 0.2 + 1e-6
    new = tmp_path / "new.parquet"
    pq.write_table(pq.read_table(folder / "test.parquet").drop_columns(["state"]), new)
    assert run([*fit, f"shifted:{new}"]) == 0
    assert load(out).priors_.sum() == pytest.approx(1.0)


# ---------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("fti", 2, "fit"),
        ("fit {train} --target stat", 2, "did you mean 'state'"),
        ("fit {train} --tarjet state", 2, "--target"),
        ("fit {train}.gone --target state", 2, "train.parquet.gone"),
        ("fit {train} --target state --model gda", 2, "qda"),
        ("fit {train} --target state --model qda --set shrinkag=1", 2, "did you mean 'shrinkage'"),
        ("fit {train} --target state --model qda --set shrinkage=7", 1, "shrinkage"),
        ("tune {train} --target state --model qda --try shrinkag=1", 2, "--try shrinkag is no"),
        ("tune {train} --target state --model qda --set a=1 --try shrinkage=0", 2, "--set a is no"),
        ("compare {train} --target state -m qda:shrinkag=1", 2, "--model qda: shrinkag is no"),
        ("fit {train} --target state --gain ill=5", 2, "true:decision"),
        ("fit {train} --target state --gain ill:treat=x", 2, "'x' is no number"),
        ("fit {train} --target state --gain no.csv", 2, "no.csv"),
        ("fit {train} --target state --gain sick:a=1,well:a=2", 1, "'ill'"),
        ("fit {train} --target state --priors uniforn", 2, "uniform"),
        ("fit {train} --target state --priors ill=2,well=3", 1, "sum to 1"),
        ("fit {train} --target state --priors minimax:ill=a", 2, "0.1..0.4"),
        ("fit {train} --target state --weight heavy", 2, "heavy"),
        ("evaluate {train} {train} --target state", 1, "cannot be loaded"),
        ("evaluate {model} {test} --target state --confidence 2", 1, "confidence"),
        ("evaluate {model} {test} --target state --priors minimax", 2, "fit --priors minimax"),
        ("evaluate {model} {test} --target state --priors ill=1", 1, "lacks 'well'"),
        ("rule {model} -o {out}", 2, "--gain or --priors"),
        ("rule {model} --gain {{ -o {out}", 2, "no JSON"),
        ("inspect {model}.gone", 2, "rule.bayes.gone"),
        ("tune {train} --target state --model qda --try shrinkage", 2, "lists nothing"),
        ("compare {train} --target state -m lda --folds 1", 1, "folds"),
        ("compare {train} --target state -m lda -m qda:shrinkage=7", 1, "model 'qda:shrinkage=7'"),
        ("datasets irish", 2, "iris"),
        ("export {model}", 2, "--to sql"),
        ("export {model} sql", 2, "'sql' is too much"),
        ("export {model} --to sgl", 2, "did you mean 'sql'"),
        ("export {model} -o {out}", 2, "markdown (.md)"),
        ("export {model} --to c --table x", 2, "--table"),
        ("export {model} --to c --name 1x", 1, "no name in C"),
    ],
)
def test_one_line_says_what_is_wrong(folder, tmp_path, capsys, line, code, message):
    places = {
        "train": folder / "train.parquet",
        "test": folder / "test.parquet",
        "model": folder / "rule.bayes",
        "out": tmp_path / "out.bayes",
    }
    assert run(line.format(**places).split(" ")) == code
    assert message in said(capsys)
    assert list(tmp_path.iterdir()) == []


def test_names_that_would_steer_a_terminal_are_shown_harmless(tmp_path, capsys):
    name = "\x1b[31mred\x07\nnext"
    rows = pa.table({name: [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", name, name]})
    pq.write_table(rows, tmp_path / "d.parquet")
    data, model = str(tmp_path / "d.parquet"), str(tmp_path / "m.bayes")
    assert run(["fit", data, "--target", "y", "-o", model]) == 0
    assert run(["inspect", model]) == 0
    assert run(["fit", data, "--target", "z"]) == 2
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "\x1b" not in text
        assert "\x07" not in text


# ---------------------------------------------------------------------- as a program


def program(*argv: str, **options) -> subprocess.CompletedProcess:
    return python("-m", "bayesrule", *argv, **options)


def python(*argv: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, *argv]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **options
    )


def test_help_is_quick_because_it_loads_nothing_heavy():
    told = python(
        "-c",
        "import sys; from bayesrule.cli.main import run\n"
        "run(['--help']), run(['fit', '--help'])\n"
        "print(*{m.split('.')[0] for m in sys.modules}, file=sys.stderr)",
    )
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "polars", "pyarrow", "matplotlib"}
    assert not heavy & set(told.stderr.split())
    for command in COMMANDS:
        assert command.__name__ in told.stdout


def test_it_runs_as_a_module_and_says_its_version(tmp_path):
    assert program("--version").stdout.strip()
    told = program("fit", "nothing.csv", "--target", "y", cwd=tmp_path)
    assert told.returncode == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{sys.executable} -m bayesrule datasets --json | head -1"
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in told.stderr
    assert "Exception" not in told.stderr


@pytest.mark.parametrize(
    "line", ["fit --model list", "fit x.csv --target y --model=list", "tune --model list", "models"]
)
def test_every_model_may_be_listed(capsys, line):
    assert run(words(line)) == 0
    told = capsys.readouterr().out
    assert {row.split()[0] for row in told.splitlines()[1:]} == set(asking.model_names())
    assert run([*words(line), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in told] == asking.model_names()
    assert all(row["what"] for row in told)


def test_the_folder_of_an_output_must_exist(folder, tmp_path, capsys):
    out = tmp_path / "no" / "m.bayes"
    assert run(["fit", str(folder / "train.parquet"), "--target", "state", "-o", str(out)]) == 1
    assert "no folder" in said(capsys)
    assert not Path(out).exists()


def test_report_writes_a_page_under_the_stated_rule(folder, tmp_path, capsys):
    model, data = str(folder / "rule.bayes"), str(folder / "test.parquet")
    page = tmp_path / "page.html"
    assert run(["report", model, data, *words("--target state --sample 50 --json -o"), str(page),
                "--gain", GAIN.replace("-100", "-7")]) == 0  # fmt: skip
    told = json.loads(capsys.readouterr().out)
    assert told == {"file": str(page), "bytes": page.stat().st_size, "rows": 50}
    assert "[20.0,-7.0,16.6]" not in page.read_text()  # no class is a decision: none on offer
    assert "[20.0,-7.0]" in page.read_text()
    assert run(["report", model, data, *words("--target state -o page.txt")]) == 2
    assert "end in .html" in said(capsys)


def test_predict_streams_decisions_into_any_format_and_prints_csv(folder, tmp_path, capsys):
    model, data = str(folder / "rule.bayes"), str(folder / "test.parquet")
    rows = pq.read_table(data)
    X, expected = rows.drop_columns(["state"]), load(model).predict(rows.drop_columns(["state"]))
    for name in ("out.csv", "out.parquet"):
        out = str(tmp_path / name)
        assert run(["predict", model, data, "-o", out, *words("--keep state --json")]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told == {"file": out, "rows": len(rows), "files": 1}
    done = pq.read_table(tmp_path / "out.parquet")
    assert done["decision"].to_pylist() == expected.tolist()
    assert done["state"].equals(rows["state"])
    np.testing.assert_allclose(
        done["gain_treat"].to_numpy(), load(model).expected_gains(X)[:, 0], rtol=1e-12
    )
    capsys.readouterr()
    assert run(["predict", model, data, *words("--keep state --only-decisions")]) == 0
    printed = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["decision"] for row in printed] == expected.tolist()
    assert set(printed[0]) == {"state", "decision"}
    assert run(["predict", model, str(folder / "tets.parquet")]) == 2
    assert "Did you mean" in said(capsys)


def test_export_writes_what_the_library_writes(folder, tmp_path, capsys):
    model = str(folder / "rule.bayes")
    query = tmp_path / "rule.sql"
    keep = words("--table cases --keep state --json -o")
    assert run(["export", model, *keep, str(query)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"file": str(query), "form": "sql", "bytes": query.stat().st_size}
    expected = export(load(model), "sql", table="cases", keep=["state"])
    assert query.read_text() == expected
    assert run(["export", model, *words("--to markdown --no-gaps --title Who")]) == 0
    assert capsys.readouterr().out == export(load(model), "markdown", gaps=False, title="Who")
