"""Commands that show what there is: demo, datasets, models, inspect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayesrule.cli.asking import Complaint, nearest
from bayesrule.cli.telling import Json, Output, print_json, say, table


def demo(folder: Path = Path("demo"), /) -> None:
    """Screen for breast cancer with unequal costs: tables on the screen, pictures in a folder.

    Parameters
    ----------
    folder
        Where the pictures and the model file go.
    """
    from bayesrule.demo import main

    main(folder)


def datasets(name: str | None = None, /, *, output: Output = None, json: Json = False) -> None:
    """List the real data sets, or write one as a file to try things on.

    Sets that are not on this machine are downloaded once, where there is a network.

    Parameters
    ----------
    name
        The set to write; without a name all are listed.
    output
        The file to write: .csv or .parquet.
    """
    from bayesrule import datasets as library
    from bayesrule.datasets.catalogue import CATALOGUE

    if name is None:
        if output is not None:
            raise Complaint("datasets -o needs the name of a set to write.")
        listed = [
            {
                "name": key,
                "rows": facts.rows,
                "features": len(facts.columns),
                "classes": len(facts.classes),
                "source": facts.source,
            }
            for key, facts in CATALOGUE.items()
        ]
        if json:
            print_json(listed)
        else:
            table(list(listed[0]), [list(row.values()) for row in listed])
        return
    if name not in CATALOGUE:
        raise Complaint(f"{name!r} is no data set of ours: {nearest(name, CATALOGUE)}")
    if output is None:
        raise Complaint(f"Say where to write it: bayesrule datasets {name} -o {name}.csv")
    from bayesrule.cli.reading import write_rows

    found = library.load(name, frame="pyarrow")
    rows = found.X.append_column("target", [found.y.tolist()])
    write_rows(rows, output)
    told = {"name": name, "rows": len(rows), "features": found.X.num_columns, "file": str(output)}
    if json:
        print_json(told)
    else:
        say(f"{output}: {len(rows):,} rows, {found.X.num_columns} features, the label in 'target'.")


def models(*, json: Json = False) -> None:
    """List the models by the names that --model takes.

    Each is a function of bayesrule.recipes, whose arguments --set may give.
    """
    from bayesrule import recipes
    from bayesrule.cli.asking import model_names

    told = {name: (getattr(recipes, name).__doc__ or "").split("\n")[0] for name in model_names()}
    if json:
        print_json([{"name": name, "what": what} for name, what in told.items()])
    else:
        table(["model", "what it is"], list(told.items()))


def inspect(model: Path, /, *, json: Json = False) -> None:
    """Tell what is in a model file: density, classes, rule, statistics. Runs no code from it.

    Parameters
    ----------
    model
        A .bayes file.
    """
    from bayesrule.cli.reading import load_model

    clf = load_model(model)
    told = describe(clf, model)
    if json:
        print_json(told)
        return
    say(f"{model}: {told['density']}")
    rows = f"{told['weight']:,.10g} rows by weight"
    say(f"{told['bytes']:,} bytes, {told['features']} features, {rows}")
    table(
        ["class", "rows", "prior", *(f"gain of {d}" for d in told["decisions"])],
        [
            [label, f"{count:,.10g}", f"{prior:.4g}", *(f"{g:g}" for g in gains)]
            for label, count, prior, gains in zip(
                told["classes"], told["class_count"], told["priors"], told["gain"], strict=True
            )
        ],
    )
    if told["columns"]:
        table(["column", "type", "density"], told["columns"])


def describe(clf: Any, path: Path) -> dict[str, Any]:
    """A fitted classifier in plain values."""
    from bayesrule.summary import plain_values

    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "density": repr(clf.density) if clf.density is not None else "Gaussian()",
        "features": getattr(clf, "n_features_in_", None),
        "feature_names": plain_values(getattr(clf, "feature_names_in_", None)),
        "classes": plain_values(clf.classes_),
        "class_count": plain_values(clf.class_count_),
        "weight": float(clf.class_count_.sum()),
        "priors": plain_values(clf.priors_),
        "stated_priors": repr(clf.priors),
        "decisions": plain_values(clf.decisions_),
        "gain": plain_values(clf.gain_),
        "columns": [list(row) for row in getattr(clf.density_, "columns_", [])],
    }
