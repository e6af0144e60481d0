"""Commands that use model files: predict, rule, merge, export."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayesrule.cli.asking import Complaint, gain_of, nearest, priors_of
from bayesrule.cli.reading import check_columns, files_of, load_model
from bayesrule.cli.telling import Data, Gain, Json, Output, Priors, print_json, say


def predict(
    model: Path,
    data: Data,
    /,
    *,
    output: Output = None,
    keep: Annotated[list[str] | None, Parameter(name="--keep", negative="")] = None,
    only: Annotated[bool, Parameter(name="--only-decisions", negative="")] = False,
    json: Json = False,
) -> None:
    """Decide the rows of files of any size.

        bayesrule predict rule.bayes cases.parquet -o decided.csv --keep case_id

    Writes the decision, the chance of each class and the expected gain of each decision beside the
    columns to keep, in the order of the rows.

    Parameters
    ----------
    model
        A .bayes file.
    data
        Parquet, Feather or CSV files, folders of them or patterns, with the columns of the fit;
        others may be there too. A dash reads what is piped in.
    output
        A .parquet, .arrow, .csv or .csv.gz file, or a new folder for a Parquet file per part.
        Without it, CSV is printed.
    keep
        A column to write beside the answers; may be repeated. Without it all are kept.
    only
        Write the decision without chances and expected gains.
    """
    clf = load_model(model)
    files = files_of(data)
    check_columns(files[0], (("--keep", name) for name in keep or ()))
    settings = {"posteriors": not only, "gains": not only}
    if output is not None:
        _check_ending(output)
        done = clf.predict_files(files, output, keep, **settings)
        told = {"file": str(output), "rows": done.n_rows, "files": done.n_files}
        if json:
            print_json(told)
        else:
            say(f"{output}: {done.n_rows:,} rows decided.")
        return
    if json:
        raise Complaint("predict --json tells what was written: say where with -o FILE.")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "decided.csv"
        clf.predict_files(files, whole, keep, **settings)
        with open(whole, encoding="utf-8", newline="") as file:
            shutil.copyfileobj(file, sys.stdout)


def _check_ending(output: Path) -> None:
    """A complaint about a file of a kind that is not written; what has no ending is a folder."""
    from bayesrule.paths import known_suffix

    ending = output.suffix.removeprefix(".")
    if ending.isalpha() and not known_suffix(str(output)) and not output.is_dir():
        raise Complaint(
            f"--output {str(output)!r} is of no kind that is written: let it end in .csv, .csv.gz, "
            ".parquet or .arrow, or name a folder."
        )


def rule(
    model: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    gain: Gain = None,
    priors: Priors = None,
    json: Json = False,
) -> None:
    """Give a model new costs or new chances, without the data.

    Parameters
    ----------
    model
        A .bayes file.
    output
        The model file under the new rule.
    """
    from bayesrule import save
    from bayesrule.cli.showing import describe
    from bayesrule.settling import NEEDS_ROWS

    if gain is None and priors is None:
        raise Complaint("rule needs --gain or --priors: what should change?")
    changed = {"gain": gain_of(gain), "priors": priors_of(priors)}
    clf = load_model(model)
    try:
        clf = clf.with_rule(**{k: v for k, v in changed.items() if v is not None})
    except ValueError as error:
        if str(error) != NEEDS_ROWS:
            raise
        raise ValueError(
            f"{model}: minimax priors of such a model are solved over rows, which no model file "
            "holds. Use bayesrule fit --priors minimax."
        ) from None
    save(clf, output)
    told = describe(clf, output)
    if json:
        print_json(told)
    else:
        shown = ", ".join(
            f"{k} {p:.4g}" for k, p in zip(told["classes"], told["priors"], strict=True)
        )
        say(f"{output}: decides among {', '.join(map(str, told['decisions']))}; priors {shown}.")


def merge(
    models: list[Path],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    json: Json = False,
) -> None:
    """Add models that were fitted to different rows, as if one had seen all of them.

    Hospitals may share such counts where they may not share rows. The rule is the first model's.

    Parameters
    ----------
    models
        Two or more .bayes files.
    output
        The model file of the sum.
    """
    from bayesrule import save
    from bayesrule.cli.showing import describe

    if len(models) < 2:
        raise Complaint("merge needs two model files at least.")
    merged = load_model(models[0])
    for path in models[1:]:
        try:
            merged = merged.merge(load_model(path))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    save(merged, output)
    told = describe(merged, output)
    if json:
        print_json(told)
    else:
        say(f"{output}: {len(models)} models, {told['weight']:,.10g} rows by weight.")


def export(
    model: Path,
    /,
    *,
    form: Annotated[str | None, Parameter(name="--to")] = None,
    output: Output = None,
    table: str | None = None,
    schema: str | None = None,
    keep: Annotated[list[str] | None, Parameter(name="--keep", negative="")] = None,
    booleans: Annotated[list[str] | None, Parameter(name="--boolean", negative="")] = None,
    name: str | None = None,
    title: str | None = None,
    gaps: bool = True,
    json: Json = False,
) -> None:
    """Write a rule as SQL, C, ONNX, JSON or a decision table that decides as it does here.

        bayesrule export rule.bayes -o rule.sql --table patients --keep patient_id

    Parameters
    ----------
    model
        A .bayes file.
    form
        sql, c, json, markdown or onnx; without it the ending of the output tells: .sql, .h, .json,
        .md or .onnx.
    output
        The file. Without it the text is printed.
    table
        SQL: the table or view that holds the rows.
    schema
        SQL: where the table is.
    keep
        SQL: a column to show beside the decision; may be repeated. Without it, those of the fit.
    booleans
        SQL: a column that is BOOLEAN in the table, though the model reads it as numbers.
    name
        C: what the names of its functions begin with.
    title
        Markdown: its title.
    gaps
        Decide rows with missing values too, where the density can.
    """
    from bayesrule.exporting.front import FORMS, form_of, settings_of
    from bayesrule.exporting.front import export as write

    if form is not None and form not in FORMS:
        raise Complaint(f"--to {form!r} is not known: {nearest(form, FORMS)}")
    if form is None and output is None:
        raise Complaint(f"Say what to write: --to {' or '.join(FORMS)}, or -o with such an ending.")
    stated = {
        "table": table,
        "schema": schema,
        "keep": keep,
        "booleans": booleans,
        "name": name,
        "title": title,
    }
    settings = {key: value for key, value in stated.items() if value is not None}
    try:
        chosen = form_of(form, output)
    except ValueError as error:
        raise Complaint(str(error)) from None
    for key in settings:
        if key not in settings_of(chosen):
            option = {"booleans": "boolean"}.get(key, key)
            raise Complaint(f"--{option} says nothing to {chosen}, which takes no such setting.")
    written = write(load_model(model), chosen, output, gaps=gaps, **settings)
    if output is None:
        if isinstance(written, bytes):
            raise Complaint(f"{chosen} is no text to print: say where with -o FILE.")
        if json:
            raise Complaint("export --json tells what was written: say where with -o FILE.")
        sys.stdout.write(written)
        return
    told = {"file": str(output), "form": chosen, "bytes": output.stat().st_size}
    if json:
        print_json(told)
    else:
        say(f"{output}: {chosen}, {told['bytes']:,} bytes.")
