"""Commands that judge: evaluate, compare, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayesrule.cli.asking import Complaint, gain_of, model_of, numeric_priors_of, priors_of
from bayesrule.cli.telling import (
    Data,
    Gain,
    Json,
    Output,
    Priors,
    Sample,
    Seed,
    Target,
    Weight,
    print_json,
    say,
)


def evaluate(
    model: Path,
    data: Data,
    /,
    *,
    target: Target,
    gain: Gain = None,
    priors: Priors = None,
    weight: Weight = None,
    confidence: float = 0.95,
    json: Json = False,
) -> None:
    """Judge a rule on rows it was not fitted on: expected gain with an interval, confusion, risks.

    Files of any size are read in parts. `--gain` and `--priors` say what its decisions are valued
    at; `bayesrule rule` makes it decide otherwise.

    Parameters
    ----------
    model
        A .bayes file.
    data
        Parquet, Feather or CSV files, folders of them or patterns, with the columns of the fit and
        the true class.
    confidence
        Level of the interval.
    """
    stated_priors, stated_gain = numeric_priors_of(priors), gain_of(gain)
    from bayesrule import evaluate_files
    from bayesrule.cli.reading import labelled_files, load_model

    clf = load_model(model)
    figures = evaluate_files(
        clf,
        labelled_files(data, target, weight),
        target,
        weight,
        priors=stated_priors,
        gain=stated_gain,
        confidence=confidence,
    )
    if json:
        print_json(figures.to_dict())
    else:
        say(str(figures))


def compare(
    data: Data,
    /,
    *,
    target: Target,
    models: Annotated[list[str] | None, Parameter(name=["--model", "-m"], negative="")] = None,
    gain: Gain = None,
    priors: Priors = None,
    weight: Weight = None,
    folds: int = 5,
    repeats: int = 1,
    sample: Sample = None,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare models by cross-validated expected gain, in a table and a picture.

    Parameters
    ----------
    data
        Parquet, Feather or CSV files, folders of them or patterns. Their rows must fit into memory,
        or be sampled.
    models
        Names of models to compare; may be repeated. A name may carry settings, as in
        qda:shrinkage=auto.
    folds
        Folds of the cross-validation.
    repeats
        How often to deal the folds anew.
    output
        A picture of the intervals: .png, .svg or .pdf.
    """
    from bayesrule import compare as library
    from bayesrule.cli.reading import read_labelled

    stated_gain, stated_priors = gain_of(gain), priors_of(priors)
    X, y, weights, told = read_labelled(data, target, weight, sample, seed)
    found = {}
    for word in models or ["naive_bayes"]:
        name, _, settings = word.partition(":")
        found[word] = model_of(
            name,
            settings.split(",") if settings else [],
            gain=stated_gain,
            priors=stated_priors,
            option=f"--model {name}:",
        ).set_params(random_state=seed)
    result = library(
        found,
        X,
        y,
        gain=stated_gain,
        priors=stated_priors if isinstance(stated_priors, dict | list | str) else None,
        sample_weight=weights,
        cv=folds,
        repeats=repeats,
        random_state=seed,
    )
    if output is not None:
        draw(result, output)
    if json:
        print_json({**result.to_dict(), **({"sample": told} if told else {})})
    else:
        say("\n".join([str(result), *([f"On {told}."] if told else [])]))


def report(
    model: Path,
    data: Data,
    /,
    *,
    target: Target,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("report.html"),
    gain: Gain = None,
    priors: Priors = None,
    weight: Weight = None,
    title: str | None = None,
    sample: int = 4000,
    include_features: Annotated[bool, Parameter(negative="")] = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write one HTML page on which anyone can see a rule at work and try other gains and priors.

    It needs no network and no Python. It holds log-densities and labels of a sample of the rows,
    which may be in files of any size.

    Parameters
    ----------
    model
        A .bayes file.
    data
        Parquet, Feather or CSV files, folders of them or patterns, with the columns of the fit and
        the true class; best rows that it was not fitted on.
    output
        The page.
    title
        Its title; the name of the model file unless stated.
    sample
        Rows that the page holds at most.
    include_features
        Put the features of the rows into the page too, for looking cases up.
    """
    from bayesrule import report_files
    from bayesrule.cli.reading import labelled_files, load_model
    from bayesrule.report_passes import some_rows

    if output.suffix.lower() not in (".html", ".htm"):
        raise Complaint(f"--output {str(output)!r} is no page: let it end in .html.")
    stated = {"gain": gain_of(gain), "priors": priors_of(priors)}
    changed = {name: value for name, value in stated.items() if value is not None}
    clf = load_model(model)
    files = labelled_files(data, target, weight)
    if changed:
        solved_over = some_rows(clf, files, target, weight, seed) if priors else None
        clf = clf.with_rule(**changed, X=solved_over)
    page = report_files(
        clf,
        files,
        target,
        weight,
        path=output,
        title=title or model.stem,
        sample=sample,
        include_features=include_features,
        seed=seed,
    )
    told = {"file": str(output), "bytes": len(page.html.encode()), "rows": len(page.rows)}
    if json:
        print_json(told)
    else:
        say(f"{output}: {told['rows']:,} rows, {told['bytes']:,} bytes. Open it in a browser.")


def draw(result: Any, path: Path) -> None:
    """Write the picture of a comparison, without a screen."""
    import matplotlib as mpl

    from bayesrule.aside import write_aside
    from bayesrule.displays import ComparisonDisplay

    mpl.use("Agg")
    kind = path.suffix.lstrip(".").lower()
    figure = ComparisonDisplay.from_comparison(result).figure_
    if kind not in figure.canvas.get_supported_filetypes():
        raise Complaint(f"--output {str(path)!r} is no picture: let it end in .png, .svg or .pdf.")
    write_aside(path, lambda file: figure.savefig(file, format=kind, dpi=150))
