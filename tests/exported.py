"""Rules to export, rows to decide, and a reader of the JSON program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from densities import DENSITIES, Listed

from bayesrule import BayesClassifier
from bayesrule.testing import toy_rows

#: Kinds of densities that have no form outside of Python.
STAY = ("logistic", "boosting", "calibrated", "multinomial", "words", "neighbors", "kernel")
STAY_EXACTLY = ("histogram-joint", "profiled-mixture-sklearn")
#: Gains that make the best decision other than the most probable class, and allow a fourth.
GAIN = np.array([[1.0, -1.0, -2.0, 0.2], [-2.0, 3.0, -1.0, 0.2], [-3.0, -1.0, 2.0, 0.2]])


def stays(listed: Listed) -> bool:
    """Whether a density cannot leave Python."""
    own = any(kind in listed.name for kind in ("clusterer", "foreign"))
    return own or listed.name.startswith(STAY) or listed.name in STAY_EXACTLY


LEAVING = [listed for listed in DENSITIES if not stays(listed)]
STAYING = [listed for listed in DENSITIES if stays(listed)]
#: One of each kind of law, which the tests of every day are content with.
SOME = (
    "gaussian-full",
    "gaussian-full-predictive",
    "gaussian-tied",
    "gaussian-diag",
    "gaussian-diag-predictive",
    "gaussian-spherical-predictive",
    "gaussian-diag-raise",
    "categorical",
    "categorical-text",
    "bernoulli-strict",
    "columns",
    "columns-block",
    "poisson",
    "poisson-predictive",
    "exponential-predictive",
    "gamma",
    "log-normal",
    "elliptical-tyler",
    "elliptical-tyler-gqda-None",
    "elliptical-student",
    "cells",
    "cells-smooth",
    "cells-own",
    "profiled-kmeans",
    "profiled-fuzzy-within",
    "profiled-fuzzy-mixed",
    "profiled-mixture",
    "profiled-tree-mixed",
    "profiled-cells",
    "profiled-forest",
    "histogram",
)


def fitted(listed: Listed, n_classes: int = 3, gain: Any = GAIN) -> tuple[BayesClassifier, Any]:
    """A density of the list, fitted to its rows under unequal gains."""
    X, y = listed.claims.get("X"), listed.claims.get("y")
    if X is None:
        X, y = toy_rows()
    names = [f"x{j}" for j in range(np.shape(X)[1])]
    X = X if hasattr(X, "columns") else pd.DataFrame(X, columns=names)
    if n_classes == 2:
        keep = np.flatnonzero(y < 2)
        X, y = X.iloc[keep].reset_index(drop=True), y[keep]
        gain = GAIN[:2, [0, 1, 3]] if gain is GAIN else gain
    clf = BayesClassifier(listed.density, gain=gain)
    return clf.fit(X, y), X


def more_rows(X: pd.DataFrame, n: int, *, gaps: bool, seed: int = 0) -> pd.DataFrame:
    """Rows like those of X: seen ones again (ties), between them, far away, and with gaps."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name in X.columns:
        values = X[name].to_numpy()
        drawn = values[rng.integers(0, len(values), n)]
        if values.dtype.kind == "f":
            whole = (values == np.floor(values)).all()
            step = rng.integers(0, 3, n) if whole else rng.normal(0, np.std(values), n)
            moved = np.where(rng.random(n) < 0.5, drawn, drawn + step)
            far = rng.random(n) < 0.02
            moved = np.where(far, moved * rng.choice([10.0, 1e4], n), moved)
            drawn = np.abs(moved) if (values >= 0).all() else moved
            if set(np.unique(values)) <= {0.0, 1.0}:
                drawn = values[rng.integers(0, len(values), n)]
        elif values.dtype.kind in "iu":
            drawn = drawn + rng.integers(0, 3, n)
        elif values.dtype.kind in "OUS" or str(values.dtype) in ("str", "string"):
            drawn = np.where(rng.random(n) < 0.03, "never seen", drawn.astype(object))
        if gaps:
            missing = rng.random(n) < 0.1
            if values.dtype.kind in "fiu":
                drawn = np.where(missing, np.nan, drawn.astype(float))
            else:
                drawn = np.where(missing, None, drawn.astype(object))
        columns[name] = drawn
    found = pd.DataFrame(columns)
    for name in X.columns:
        if gaps and X[name].dtype.kind == "b":
            found[name] = found[name].astype("boolean")
    return found


def numbers_of(clf: Any, program: Any, X: pd.DataFrame) -> np.ndarray:
    """Rows as the C header wants them: categories of text by their places."""
    out = np.full((len(X), program.n_columns), np.nan)
    columns = {column.place: column for column in program.columns}
    for j, name in enumerate(X.columns):
        column = columns.get(j)
        if column is not None and column.form == "text":
            known = {label: float(c) for c, label in enumerate(column.labels)}
            cells = X[name].to_numpy(dtype=object)
            out[:, j] = [np.nan if pd.isna(v) else known.get(v, -1.0) for v in cells]
        else:
            out[:, j] = X[name].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    return out


def arrow_rows(X: pd.DataFrame) -> pa.Table:
    """Rows with their numbers, where a gap is NULL."""
    columns = {name: pa.array(X[name], from_pandas=True) for name in X.columns}
    return pa.table({"row": np.arange(len(X)), **columns})


# ---------------------------------------------------------------------- the JSON program


def run_program(program: dict[str, Any], row: list[Any]) -> int | None:
    """Decide one row as the documentation of the program says; None where it is refused."""
    values: dict[int, float | None] = {}
    for column in program["columns"]:
        value = row[column["place"]]
        if isinstance(value, float) and math.isnan(value):
            value = None
        if value is None:
            if not column["gaps"]:
                return None
        elif column["form"] == "text" or column["labels"]:
            labels = column["labels"]
            value = labels.index(value) if value in labels else -1
        elif (
            math.isinf(value)
            or (column["least"] is not None and value < column["least"])
            or (column["only"] and value not in column["only"])
        ):
            return None
        values[column["place"]] = value
    steps: dict[str, Any] = {}

    def test(t: Any) -> bool:
        ((kind, inner),) = t.items()
        if kind == "there":
            return values[inner] is not None
        if kind == "all":
            return all(test(part) for part in inner)
        left, right = map(of, inner)
        if left is None or right is None:
            return False
        return bool({"<": left < right, ">": left > right, "=": left == right}[kind])

    def of(e: Any) -> Any:
        if isinstance(e, str):
            return steps[e]
        if not isinstance(e, dict):
            return e
        if "column" in e and "table" not in e:
            return values[e["column"]]
        if "if" in e:
            return of(e["then"] if test(e["if"]) else e["else"])
        if "table" in e:
            place = of(e["place"])
            return None if place is None else program["tables"][e["table"]][int(place)][e["column"]]
        if "level" in e:
            x = of(e["level"])
            return None if x is None else sum(x >= edge for edge in e["edges"])
        ((kind, inner),) = e.items()
        parts = [of(part) for part in inner]
        if any(part is None for part in parts):
            return None
        match kind:
            case "+":
                found = parts[0]
                for part in parts[1:]:
                    found += part
                return found
            case "-":
                return parts[0] - parts[1]
            case "*":
                return parts[0] * parts[1]
            case "/":
                return parts[0] / parts[1]
            case "power":
                return parts[0] ** parts[1]
            case _:
                return getattr(math, kind)(parts[0])

    for step in program["steps"]:
        steps[step["name"]] = of(step["is"])
    return int(of(program["decision"]))
