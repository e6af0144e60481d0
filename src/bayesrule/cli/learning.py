"""Commands that learn: fit, tune."""

from __future__ import annotations

from typing import Annotated
from warnings import warn

from cyclopts import Parameter

from bayesrule.cli.asking import Complaint, gain_of, model_of, priors_of, setting_of
from bayesrule.cli.telling import (
    Data,
    Gain,
    Json,
    Output,
    Priors,
    Sample,
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
    data: Data,
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

    Rows are read in parts; memory grows with them only for models that keep rows, such as knn. What
    a model must know before it counts, such as the types of columns, comes from a sample of them.

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
    from bayesrule.cli.reading import labelled_files
    from bayesrule.cli.showing import describe
    from bayesrule.notices import FewRowsWarning

    clf = model_of(model, settings or [], gain=gain_of(gain), priors=priors_of(priors))
    clf.set_params(random_state=seed)
    clf.fit_files(labelled_files(data, target, weight), target, weight)
    if len(clf.classes_) == 1:
        alone = f"All rows are of the class {clf.classes_[0]!s}: there is nothing to tell apart."
        warn(alone, FewRowsWarning, stacklevel=1)
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


def tune(
    data: Data,
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
    sample: Sample = None,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Choose settings by cross-validated expected gain.

        bayesrule tune cases.csv --target outcome --model qda --try shrinkage=0,0.1,auto

    Parameters
    ----------
    data
        Parquet, Feather or CSV files, folders of them or patterns. Their rows must fit into memory,
        or be sampled.
    grid
        A setting and the values to try, name=value,value,...; may be repeated, for all
        combinations.
    folds
        Folds of the cross-validation.
    output
        A model file for the best settings, fitted to all rows, whether or not they were tried on a
        sample.
    """
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    from bayesrule import expected_gain_scorer, save
    from bayesrule.cli.reading import files_of, read_labelled

    stated_gain, stated_priors = gain_of(gain), priors_of(priors)
    values = {}
    for item in grid:
        name, sign, listed = item.partition("=")
        if not sign or not listed:
            raise Complaint(f"--try {item!r} lists nothing; type name=value,value.")
        values[name] = [setting_of(text) for text in listed.split(",")]
    tried = [f"{name}={listed[0]}" for name, listed in values.items()]
    fixed = settings or []
    model_of(model, fixed)  # whatever is wrong below is then wrong with what is tried
    clf = model_of(model, [*fixed, *tried], gain=stated_gain, priors=stated_priors, option="--try")
    clf.set_params(random_state=seed)
    known = clf.get_params()
    X, y, weights, told = read_labelled(data, target, weight, sample, seed)
    search = GridSearchCV(
        clf,
        {k if k in known else f"density__{k}": v for k, v in values.items()},
        scoring=expected_gain_scorer(stated_gain),
        cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
        error_score="raise",
        refit=output is not None and sample is None,
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
    if output is not None and sample is None:
        save(search.best_estimator_, output)
    elif output is not None:
        best = clone(clf).set_params(**search.best_params_)
        save(best.fit_files(files_of(data), target, weight), output)
    if json:
        kept = None if output is None else str(output)
        sampled = {"sample": told} if told else {}
        print_json({"tried": rows, "best": rows[0], "file": kept, **sampled})
        return
    table(
        list(rows[0]),
        [[f"{v:.5g}" if isinstance(v, float) else str(v) for v in row.values()] for row in rows],
    )
    if told:
        say(f"On {told}.")
    if output is not None:
        say(f"{output}: the best of them, fitted to all rows.")
