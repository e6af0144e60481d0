"""Commands that learn: fit, tune."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from bayesrule.cli.asking import Complaint, gain_of, model_of, priors_of, setting_of
from bayesrule.cli.telling import (
    Gain,
    Json,
    Output,
    Priors,
    Seed,
    Settings,
    Target,
    Weight,
    print_json,
    say,
    table,
)
from bayesrule.plain_text import harmless


def fit(
    data: Annotated[list[str], Parameter(negative="")],
    /,
    *,
    target: Target,
    model: str = "naive_bayes",
    gain: Gain = None,
    priors: Priors = None,
    settings: Settings = None,
    weight: Weight = None,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Learn a decision rule from files of any size and write it as a model file.

        bayesrule fit cases.csv --target outcome -o rule.bayes
            --gain ill:treat=5,ill:wait=-20,well:treat=-1,well:wait=0

    Several files, or a large one, are read in parts; memory grows with their rows only for models
    that keep rows, such as knn. What a model must know before it counts, such as the types of
    columns, comes from a sample of the rows.

    Parameters
    ----------
    data
        Parquet, Feather or CSV files, folders of them, or patterns such as "data/*.parquet".
    model
        naive_bayes suits any table; `bayesrule models` names the others.
    output
        The model file, by custom *.bayes. Without it, nothing is kept but what is printed.
    """
    from bayesrule import save
    from bayesrule.cli.showing import describe

    clf = model_of(model, settings or [], gain=gain_of(gain), priors=priors_of(priors))
    clf.set_params(random_state=seed)
    learn(clf, data, target, weight)
    if output is None:
        say("Fitted, but kept nowhere: add -o rule.bayes to keep it.")
        return
    save(clf, output)
    told = describe(clf, output)
    if json:
        print_json(told)
        return
    counts = ", ".join(
        f"{harmless(label)} {count:,.10g}"
        for label, count in zip(told["classes"], told["class_count"], strict=True)
    )
    say(f"{output}: {model} of {told['features']} features, fitted to {counts}.")


def learn(clf: Any, data: list[str], target: str, weight: str | None) -> None:
    """Fit to rows that are read whole, where they are few, or in parts."""
    from bayesrule.cli.reading import check_columns, files_of, is_whole, read_labelled

    files = files_of(data)
    if is_whole(files):
        clf.fit(*read_labelled(files[0], target, weight))
        return
    from bayesrule.holdings import look_into

    check_columns(look_into(files[0]).schema.names, files[0], target, weight)
    clf.fit_files(files, target, weight)


def tune(
    data: Path,
    /,
    *,
    target: Target,
    grid: Annotated[list[str], Parameter(name="--try", negative="")],
    model: str = "naive_bayes",
    gain: Gain = None,
    priors: Priors = None,
    settings: Settings = None,
    weight: Weight = None,
    folds: int = 5,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Choose settings by cross-validated expected gain.

        bayesrule tune cases.csv --target outcome --model qda --try shrinkage=0,0.1,auto

    Parameters
    ----------
    grid
        A setting and the values to try, name=value,value,...; may be repeated, for all
        combinations.
    folds
        Folds of the cross-validation.
    output
        A model file for the best settings, fitted to all rows.
    """
    import numpy as np
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    from bayesrule import expected_gain_scorer, save
    from bayesrule.cli.reading import read_labelled

    stated_gain, stated_priors = gain_of(gain), priors_of(priors)
    values = {}
    for item in grid:
        name, sign, listed = item.partition("=")
        if not sign or not listed:
            raise Complaint(f"--try {item!r} lists nothing; type name=value,value.")
        values[name] = [setting_of(text) for text in listed.split(",")]
    tried = [f"{name}={listed[0]}" for name, listed in values.items()]
    clf = model_of(model, [*(settings or []), *tried], gain=stated_gain, priors=stated_priors)
    clf.set_params(random_state=seed)
    known = clf.get_params()
    X, y, weights = read_labelled(data, target, weight)
    search = GridSearchCV(
        clf,
        {k if k in known else f"density__{k}": v for k, v in values.items()},
        scoring=expected_gain_scorer(stated_gain),
        cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
        error_score="raise",
    )
    search.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    found = search.cv_results_
    order = np.argsort(-found["mean_test_score"], kind="stable")
    rows = [
        {
            **{k.removeprefix("density__"): v for k, v in found["params"][i].items()},
            "expected_gain": float(found["mean_test_score"][i]),
            "std_over_folds": float(found["std_test_score"][i]),
        }
        for i in order
    ]
    if output is not None:
        save(search.best_estimator_, output)
    if json:
        print_json(
            {"tried": rows, "best": rows[0], "file": None if output is None else str(output)}
        )
        return
    table(
        list(rows[0]),
        [[f"{v:.5g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows],
    )
    if output is not None:
        say(f"{output}: the best of them, fitted to all rows.")
