"""Where exported rules could go wrong by a hair: ties, boundaries, refusals, a million rows."""

from __future__ import annotations

import json
import math
import sqlite3
import subprocess
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from c_programs import Rule, compiled
from exported import LEAVING, arrow_rows, fitted, more_rows, numbers_of, run_program
from hypothesis import given
from hypothesis import strategies as st
from sql_engines import decided

from bayesrule import (
    BayesClassifier,
    Bernoulli,
    CannotExportError,
    Categorical,
    CellProfiles,
    Cells,
    Columns,
    Gaussian,
    KMeansProfiles,
    Minimax,
    Poisson,
    Profiled,
    decide,
    export,
    recipes,
)
from bayesrule.exporting.changes import changes_of_two
from bayesrule.exporting.json_document import schema
from bayesrule.exporting.program import program_of
from bayesrule.exporting.sql_text import number

pytestmark = pytest.mark.filterwarnings("ignore")


def everywhere(clf, X, tmp_path, engine=None):
    """Decisions of every language for the rows of a frame, as text; None where one refuses."""
    program = program_of(clf)
    names = [str(label) for label in clf.decisions_.tolist()]

    def named(places):
        return [None if d is None or d < 0 else names[d] for d in places]

    cells = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    document = json.loads(export(clf, "json"))
    found = {
        "c": named(Rule(tmp_path / "c", export(clf, "c")).decide(numbers_of(clf, program, X))),
        "json": named([run_program(document, row) for row in cells]),
    }
    if engine is not None:
        table = f"cases {np.random.default_rng().integers(1 << 62)}"
        query = export(clf, "sql", table=table, keep=["row"])
        found["sql"] = decided(engine, query, table, arrow_rows(X)).tolist()
    return found


def beside(values):
    """Numbers and those right below and above them."""
    values = np.asarray(values, dtype=float)
    return np.concatenate([values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])


def test_boundaries_of_cells_are_exact_to_the_last_bit(tmp_path, engine):
    rng = np.random.default_rng(0)
    cuts = [sorted(rng.normal(size=5)), sorted(rng.lognormal(size=3) / 7), [1 / 3]]
    X = np.column_stack([rng.normal(size=4000), rng.lognormal(size=4000) / 7, rng.random(4000)])
    y = (X[:, 0] + X[:, 1] + rng.normal(size=4000) > 0.3).astype(int)
    density = Profiled(CellProfiles(boundaries=cuts))
    clf = BayesClassifier(density, gain=[[1, -1, 0.1], [-2, 3, 0.3]]).fit(X, y)
    rows = pd.DataFrame(
        [[a, b, c] for a in beside(cuts[0]) for b in beside(cuts[1]) for c in beside(cuts[2])],
        columns=["x0", "x1", "x2"],
    )
    expected = [str(d) for d in clf.predict(rows.to_numpy())]
    assert len(set(expected)) > 1
    for language, got in everywhere(clf, rows, tmp_path, engine).items():
        assert got == expected, language


def test_cells_of_categories_and_gaps_are_exact(tmp_path, engine):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 900)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(900) < 0.2 + 0.2 * y, np.nan, rng.normal(size=900) + y),
            "town": np.array(["A", "B", "C", "D"])[(y + rng.integers(0, 3, 900)) % 4],
            "dose": rng.normal(size=900) - y,
        }
    )
    clf = BayesClassifier(Cells(60), gain=[[1, -1, 0.4], [-2, 3, 0.6]]).fit(X, y)
    cuts = clf.density_.boundaries_
    assert any(clf.density_.gaps)
    assert sum(map(len, cuts)) > 3
    rows = pd.DataFrame(
        [
            [a, b, c]
            for a in [*beside(cuts[0]), np.nan, -9.0]
            for b in ["A", "B", "C", "D", "never seen", None]
            for c in [*beside(cuts[2]), np.nan, 9.0]
        ],
        columns=list(X),
    )
    expected = [str(d) for d in clf.predict(rows)]
    assert len(set(expected)) == 3
    for language, got in everywhere(clf, rows, tmp_path, engine).items():
        assert got == expected, language
    table = export(clf, "markdown").partition("## Decision table")[2]
    assert "missing" in table
    assert len(table.strip().splitlines()) == 2 + clf.density_.n_cells_


def test_thresholds_and_categories_are_exact(tmp_path, engine):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 600)
    X = pd.DataFrame(
        {
            "above": rng.normal(size=600) + 0.3 * y,
            "code": (rng.integers(0, 3, 600) + y) % 4 / 10.0,
        }
    )
    density = Columns({"above": Bernoulli(threshold=0.1), "code": Categorical()})
    clf = BayesClassifier(density).fit(X, y)
    values = beside([0.0, 0.1, 0.2, 0.3])
    rows = pd.DataFrame([[a, c] for a in values for c in [*values, np.nan]], columns=list(X))
    expected = [str(d) for d in clf.predict(rows)]
    for language, got in everywhere(clf, rows, tmp_path, engine).items():
        assert got == expected, language


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_go_to_the_first_decision_everywhere(tmp_path, engine, n_classes):
    # Classes that look alike, and decisions worth the same.
    X = pd.DataFrame({"a": [0.0, 1.0] * (2 * n_classes), "b": ["u", "v", "v", "u"] * n_classes})
    y = np.repeat(np.arange(n_classes), 4)
    gain = np.hstack([np.eye(n_classes), np.full((n_classes, 1), 1.0 / n_classes)])
    for stated in (None, gain, gain[:, ::-1]):
        clf = BayesClassifier(Columns(), gain=stated).fit(X, y)
        rows = pd.DataFrame(
            {"a": [0.0, 1.0, np.nan, 0.0, np.nan], "b": ["u", "v", "u", None, None]}
        )
        expected = [str(d) for d in clf.predict(rows)]
        folder = tmp_path / str(np.shape(stated))
        for language, got in everywhere(clf, rows, folder, engine).items():
            assert got == expected, language


@pytest.mark.parametrize(
    ("density", "rows"),
    [
        (Gaussian("diag"), [[np.inf, 1.0], [1.0, -np.inf], [1.0, 1.0]]),
        (Gaussian("diag", missing="raise"), [[np.nan, 1.0], [1.0, 1.0]]),
        (Poisson(), [[-1.0, 1.0], [np.inf, 1.0], [np.nan, 1.0], [2.0, 0.0]]),
        (Bernoulli(threshold=None), [[0.5, 1.0], [1.0, 0.0], [np.nan, 1.0]]),
        (Profiled(KMeansProfiles(3)), [[np.nan, 1.0], [np.inf, 0.0], [0.0, 0.0]]),
    ],
)
def test_a_row_that_python_refuses_gets_no_decision(density, rows, tmp_path, engine):
    y = np.arange(60) % 2
    X = np.column_stack([y, (np.arange(60) // 2 + y) % 2]).astype(float)
    clf = BayesClassifier(density).fit(X, y)
    rows = pd.DataFrame(rows, columns=["x0", "x1"])
    expected = []
    for i in range(len(rows)):
        try:
            expected.append(str(clf.predict(rows.to_numpy()[[i]])[0]))
        except ValueError:
            expected.append(None)
    assert None in expected
    assert set(expected) != {None}
    for language, got in everywhere(clf, rows, tmp_path, engine).items():
        assert got == expected, language


@pytest.mark.parametrize("kind", ["diag", "full", "tied"])
def test_beside_the_boundary_of_a_gaussian_only_rounding_may_decide(kind, tmp_path):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 3)) + y[:, None]
    clf = BayesClassifier(Gaussian(kind), gain=[[1, -1], [-3, 2]]).fit(X, y)
    rule = Rule(tmp_path / "c", export(clf, "c"))
    low, high = X[y == 0][:200], X[y == 1][:200]
    changes = clf.predict(low) != clf.predict(high)
    low, high = low[changes], high[changes]
    way = high - low
    assert len(low) > 50
    before = clf.predict(low)
    for _ in range(80):
        middle = (low + high) / 2
        same = clf.predict(middle) == before
        low, high = np.where(same[:, None], middle, low), np.where(same[:, None], high, middle)
    assert np.abs(low - high).max() < 1e-14
    gains = clf.expected_gains(np.vstack([low, high]))
    assert np.abs(gains[:, 0] - gains[:, 1]).max() < 1e-13
    for rows in (low - 1e-12 * way, high + 1e-12 * way):
        assert np.array_equal(np.asarray(clf.decisions_)[rule.decide(rows)], clf.predict(rows))


def test_decisions_by_log_odds_change_where_pythons_do():
    rng = np.random.default_rng(3)
    for _ in range(20):
        gain = np.round(rng.normal(size=(2, rng.integers(1, 6))), 1)
        priors = np.array([0.5, 0.5])
        first, changes = changes_of_two((0, 1), priors, gain)
        clf_rows = np.array([at for at, _ in changes])
        points = np.sort(np.concatenate([beside(clf_rows), rng.normal(size=200) * 20, [-800, 800]]))
        rows = np.column_stack([np.zeros(len(points)), points])
        expected = decide.best_decisions(rows, np.ones(2), gain)[0]
        starts = np.searchsorted(clf_rows, points, side="right")
        got = np.array([first, *(d for _, d in changes)])[starts]
        assert np.array_equal(got, expected)


@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False))
def test_numbers_in_sql_are_read_to_the_last_bit(value):
    if value != 0 and not 1e-290 < abs(value) < 1e290:
        value = math.frexp(value)[0]
    read = sqlite3.connect(":memory:").execute(f"SELECT CAST({number(value)} AS REAL)").fetchone()
    assert Fraction(read[0]) == Fraction(value)


def test_numbers_in_sql_are_read_alike_by_every_program(engine):
    rng = np.random.default_rng(4)
    values = [*rng.normal(size=40), *(10.0 ** rng.uniform(-200, 200, 40)), 0.1, 1 / 3, 1e-15]
    query = " UNION ALL ".join(
        f"SELECT {i} AS n, CAST({number(v)} AS DOUBLE PRECISION) AS v" for i, v in enumerate(values)
    )
    for i, value in engine.run(query):
        assert float(value) == values[int(i)]


def test_the_header_is_sound_under_sanitizers(tmp_path):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 300)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=300) + y,
            "n": rng.poisson(1.0 + y),
            "t": np.array(["p", "q", "r"])[(y + rng.integers(0, 2, 300)) % 3],
        }
    )
    clf = BayesClassifier(Columns()).fit(X, y)
    main = """
#include <stddef.h>
#include <stdio.h>
#include "rule.h"
int main(void)
{
    const char *words[5];
    const double numbers[6] = {0.0, -1.5, 1e300, 3.0, 0.0, 7.0};
    double chances[BAYESRULE_CLASSES];
    int i, j, k, sum = 0;
    words[0] = "p"; words[1] = "r"; words[2] = ""; words[3] = "zzz"; words[4] = NULL;
    for (i = 0; i < 7; i++)
        for (j = 0; j < 7; j++)
            for (k = 0; k < 5; k++) {
                double x[BAYESRULE_FEATURES];
                x[0] = i < 6 ? numbers[i] : (double)NAN;
                x[1] = j < 6 ? numbers[j] : (double)INFINITY;
                x[2] = bayesrule_category_2(words[k]);
                sum += bayesrule_decide(x) + bayesrule_chances(x, chances);
            }
    for (i = -1; i < 9; i++)
        sum += bayesrule_decision(i) != NULL && bayesrule_class(i) != NULL;
    printf("%d %s\\n", sum, bayesrule_feature(2));
    return 0;
}
"""
    header = export(clf, "c")
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
    program = compiled(tmp_path, header, source=main, flags=flags)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert done.stdout.endswith(" t\n")


def test_a_class_without_values_in_a_column_borrows_as_in_python(tmp_path):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 3, 400)
    X = pd.DataFrame({"a": rng.normal(size=400) + y, "b": rng.normal(size=400) - y})
    X.loc[y == 1, "b"] = np.nan
    density = Columns({"a": Gaussian("diag"), "b": Gaussian("diag")})
    clf = BayesClassifier(density, gain=[[1, -1, 0], [-2, 3, 0], [0, 0, 1]]).fit(X, y)
    rows = pd.DataFrame({"a": rng.normal(size=3000) * 3, "b": rng.normal(size=3000) * 3})
    rows.loc[rng.random(3000) < 0.2, "b"] = np.nan
    rule = Rule(tmp_path / "c", export(clf, "c"))
    assert np.array_equal(rule.decide(rows.to_numpy()), clf.predict(rows))


@pytest.mark.parametrize("n_columns", [14, pytest.param(30, marks=pytest.mark.slow)])
def test_gaps_in_many_correlated_columns_are_integrated_out(n_columns, tmp_path):
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 3000)
    X = rng.normal(size=(3000, n_columns)) @ rng.normal(size=(n_columns, n_columns)) + y[:, None]
    clf = BayesClassifier(Gaussian("full"), gain=[[1, -1], [-2, 3]]).fit(X, y)
    rows = np.where(rng.random(X.shape) < 0.1, np.nan, X)[:1000]
    rows[:200] = X[:200]
    rule = Rule(tmp_path / "c", export(clf, "c"))
    assert np.array_equal(rule.decide(rows), clf.predict(rows))


def test_rules_that_draw_their_decisions_and_large_ones_are_refused(tmp_path):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 1)) + y[:, None]
    clf = BayesClassifier(Gaussian("diag"), priors=Minimax(randomised=True)).fit(X, y)
    if clf._ready().randomised:
        with pytest.raises(CannotExportError, match="at random"):
            export(clf, "c")
    wide = rng.normal(size=(400, 40)) + y.repeat(2)[:, None]
    full = BayesClassifier(Gaussian("full")).fit(wide, y.repeat(2))
    with pytest.raises(CannotExportError, match="gaps=False"):
        export(full, path=tmp_path / "rule.h")
    text = export(full, path=tmp_path / "rule.h", gaps=False)
    assert (tmp_path / "rule.h").read_text() == text
    with pytest.raises(CannotExportError, match="databases take"):
        export(clf.with_rule(priors=[0.5, 0.5]), path=tmp_path / "rule.sql", keep=["row"] * 1600)
    assert not (tmp_path / "rule.sql").exists()
    with pytest.raises(ValueError, match="pdf"):
        export(full, path=tmp_path / "rule.pdf")
    with pytest.raises(TypeError, match="tabel"):
        export(full, "sql", tabel="x", gaps=False)
    with pytest.raises(TypeError, match="BayesClassifier"):
        export("model", "sql")


def test_the_schema_of_the_program_is_a_schema_and_programs_fit_it():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    known = schema()
    jsonschema.Draft202012Validator.check_schema(known)
    X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    for clf in (recipes.naive_bayes(), recipes.qda(shrinkage=0.5), recipes.dbc(n_profiles=2)):
        jsonschema.validate(json.loads(export(clf.fit(X, y), "json")), known)


# ---------------------------------------------------------------------- a million rows

MILLION = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("listed", LEAVING, ids=lambda listed: listed.name)
def test_a_million_rows_are_decided_as_in_python_by_c(listed, tmp_path):
    clf, X = fitted(listed)
    program = program_of(clf)
    rows = more_rows(X, MILLION, gaps=all(column.gaps for column in program.columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = clf.predict(rows)
    places = {label: d for d, label in enumerate(clf.decisions_.tolist())}
    expected = np.array([places[label] for label in expected.tolist()])
    found = Rule(tmp_path / "c", export(clf, "c")).decide(numbers_of(clf, program, rows))
    assert np.array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "listed",
    [one for one in LEAVING if one.name in ("gaussian-full", "columns", "profiled-cells")],
    ids=lambda listed: listed.name,
)
def test_a_million_rows_are_decided_as_in_python_by_databases(listed, engine):
    clf, X = fitted(listed)
    program = program_of(clf)
    rows = more_rows(X, MILLION, gaps=all(column.gaps for column in program.columns))
    expected = [str(label) for label in clf.predict(rows).tolist()]
    table = f"{listed.name} million"
    query = export(clf, "sql", table=table, keep=["row"])
    assert decided(engine, query, table, arrow_rows(rows)).tolist() == expected
