"""Commands that make one model file of others: rule, merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayesrule.cli.asking import Complaint, gain_of, priors_of
from bayesrule.cli.telling import Gain, Json, Priors, print_json, say


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
    from bayesrule import load, save
    from bayesrule.cli.showing import describe

    if gain is None and priors is None:
        raise Complaint("rule needs --gain or --priors: what should change?")
    changed = {"gain": gain_of(gain), "priors": priors_of(priors)}
    clf = load(model).with_rule(**{k: v for k, v in changed.items() if v is not None})
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
    from bayesrule import load, save
    from bayesrule.cli.showing import describe

    if len(models) < 2:
        raise Complaint("merge needs two model files at least.")
    merged = load(models[0])
    for path in models[1:]:
        try:
            merged = merged.merge(load(path))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    save(merged, output)
    told = describe(merged, output)
    if json:
        print_json(told)
    else:
        say(f"{output}: {len(models)} models, {told['weight']:,.10g} rows by weight.")
