"""Names that mean something to SQL, C, JSON or Markdown stay names in what is exported."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from c_programs import compiled
from exported import run_program
from hostile import NAMES
from sql_engines import SQLite, decided

from bayesrule import BayesClassifier, CannotExportError, Categorical, Columns, export, load, save
from bayesrule.cli.main import run
from bayesrule.exporting.c_header import literal
from bayesrule.exporting.program import program_of

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = 60


@pytest.fixture(scope="module")
def hostile():
    """A rule of hostile columns, 300 hostile categories and 300 hostile decisions; its rows."""
    rng = np.random.default_rng(0)
    y = np.array(NAMES[:2])[np.arange(ROWS * 5) % 2]
    first = y == NAMES[0]
    flags = (rng.random((len(y), 59)) < 0.48 + 0.04 * first[:, None]).astype(float)
    X = pd.DataFrame(flags, columns=NAMES[1:60])
    X.insert(0, NAMES[0], np.array(NAMES, dtype=object)[np.arange(len(y)) % 300])
    # A gain for each of 300 decisions, every one of them the best for some chance.
    place = np.linspace(0.0, np.pi / 2, 300)
    gain = {
        NAMES[0]: dict(zip(NAMES, np.sin(place), strict=True)),
        NAMES[1]: dict(zip(NAMES, np.cos(place), strict=True)),
    }
    density = Columns({NAMES[0]: Categorical()}, counts=Categorical())
    return BayesClassifier(density, gain=gain).fit(X, y), X


def test_sql_takes_300_hostile_names_for_names(hostile, engine):
    clf, X = hostile
    table = f"{NAMES[10]} 300"

    engine.load("canary", pa.table({"secret": ["a", "b", "c"]}))
    rows = pa.table({"row": np.arange(len(X)), **{n: pa.array(X[n]) for n in X.columns}})
    query = export(clf, "sql", table=table, keep=["row"])
    found = decided(engine, query, table, rows)
    expected = clf.predict(X).tolist()
    assert len(set(expected)) > 30
    assert found.tolist() == expected
    assert int(engine.run("SELECT COUNT(*) FROM canary")[0][0]) == 3
    named = export(clf, "sql", table=table, keep=list(NAMES[:5]), decision=NAMES[7])
    assert sorted(row[-1] for row in engine.run(named)) == sorted(expected)


def test_the_query_reads_no_table_but_its_own(hostile):
    clf, X = hostile
    engine = SQLite()

    engine.load("canary", pa.table({"secret": ["a"]}))
    rows = pa.table({"row": np.arange(len(X)), **{n: pa.array(X[n]) for n in X.columns}})
    engine.load("cases", rows)
    touched: set[str] = set()

    def watch(action, first, second, *_):
        touched.add(f"{first}" if action == sqlite3.SQLITE_READ else "")
        known = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
        return sqlite3.SQLITE_OK if action in known else sqlite3.SQLITE_DENY

    engine.connection.set_authorizer(watch)
    engine.run(export(clf, "sql", keep=["row"]))
    real = {name for name in touched if name and not name.startswith("rule_")}
    assert real == {"cases"}


def test_every_name_alone_makes_a_table_a_column_and_a_label(engine):

    X, y = pd.DataFrame({"a": ["u", "v"] * 4}), ["p", "q"] * 4
    for i, name in enumerate(NAMES[:30]):  # one of each kind
        renamed = X.rename(columns={"a": name}).replace({"u": NAMES[i + 60]})
        clf = BayesClassifier(Columns()).fit(renamed, [NAMES[i + 30] if v == "p" else v for v in y])
        rows = pa.table({"row": np.arange(8), name: pa.array(renamed[name])})
        query = export(clf, "sql", table=name + "!", keep=["row"])
        assert decided(engine, query, name + "!", rows).tolist() == clf.predict(renamed).tolist()


def test_c_holds_300_hostile_names_and_gives_them_back(hostile, tmp_path):
    clf, X = hostile
    header = export(clf, "c")
    assert header.isascii()
    for line in header.splitlines():
        assert "??" not in line
    main = """
#include <stdio.h>
#include "rule.h"
int main(void)
{
    int i;
    for (i = 0; i < BAYESRULE_DECISIONS; i++)
        fwrite(bayesrule_decision(i), 1, strlen(bayesrule_decision(i)) + 1, stdout);
    for (i = 0; i < BAYESRULE_FEATURES; i++)
        fwrite(bayesrule_feature(i), 1, strlen(bayesrule_feature(i)) + 1, stdout);
    for (i = 0; i < BAYESRULE_DECISIONS; i++)
        printf("%d ", (int)bayesrule_category_0(bayesrule_decision(i)));
    return 0;
}
"""
    program = compiled(tmp_path, header, source=main)
    out = subprocess.run([str(program)], capture_output=True, check=True).stdout
    *names, codes = out.split(b"\0")
    assert [name.decode() for name in names] == [*clf.decisions_.tolist(), *X.columns]
    labels = program_of(clf).columns[0].labels
    assert [labels[int(c)] for c in codes.split()] == clf.decisions_.tolist()


def test_json_holds_hostile_names_as_they_are(hostile):
    clf, X = hostile
    text = export(clf, "json")
    assert text.isascii()
    document = json.loads(text)
    assert document["decisions"] == clf.decisions_.tolist()
    assert [column["name"] for column in document["columns"]] == list(X.columns)
    expected = clf.predict(X.head(20)).tolist()
    found = [
        document["decisions"][run_program(document, row)] for row in X.head(20).values.tolist()
    ]
    assert found == expected


class Shown(HTMLParser):
    """Tags of a page, and the texts of the cells of its tables."""

    def __init__(self):
        super().__init__()
        self.tags, self.cells = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def test_markdown_shows_hostile_names_and_obeys_none(hostile):
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    clf, _ = hostile
    page = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
    text = export(clf, "markdown", title=NAMES[3])
    shown = Shown()
    shown.feed(page.render(text))
    assert shown.tags <= {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td"}
    for name in ("semi;colon,comma", "=1+0", "a''b", "%s %d %n"):
        assert any(name in cell for cell in shown.cells), name
    assert "\u202e" not in text


def test_names_that_no_language_can_hold_are_refused():
    X, y = pd.DataFrame({"a\0b": ["u", "v"] * 4}), ["p", "q"] * 4
    clf = BayesClassifier(Columns()).fit(X, y)
    for form in ("sql", "c"):
        with pytest.raises(CannotExportError, match="zero"):
            export(clf, form)
    assert json.loads(export(clf, "json"))["columns"][0]["name"] == "a\0b"
    with pytest.raises(CannotExportError, match="Unicode"):
        literal("\ud800")


def test_the_command_carries_hostile_names_through_files(hostile, tmp_path, capsys):
    clf, X = hostile

    model, data = tmp_path / "rule.bayes", tmp_path / "rows.parquet"
    save(clf, model)
    assert load(model).decisions_.tolist() == clf.decisions_.tolist()
    rows = pa.table({"row": np.arange(len(X)), **{n: pa.array(X[n]) for n in X.columns}})
    pq.write_table(rows, data)
    out = tmp_path / "out.csv"
    decided_by = [
        "predict",
        str(model),
        str(data),
        "-o",
        str(out),
        "--keep",
        "row",
        "--keep",
        NAMES[0],
    ]
    assert run([*decided_by, "--only-decisions"]) == 0
    with open(out, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["decision"] for row in table] == clf.predict(X).tolist()
    assert [row[NAMES[0]] for row in table] == X[NAMES[0]].tolist()
    capsys.readouterr()
    for form, ending in (("sql", "sql"), ("markdown", "md")):
        path = tmp_path / f"rule.{ending}"
        assert run(["export", str(model), "-o", str(path)]) == 0
        assert path.read_bytes().decode() == export(clf, form)
    assert run(["inspect", str(model)]) == 0
    printed = capsys.readouterr().out
    assert not any(c in printed for c in "\u202e\x1b\r\u2028")
