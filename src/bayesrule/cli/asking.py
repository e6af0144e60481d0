"""What people type: gains, priors and settings as words, turned into what the library takes."""

from __future__ import annotations

import csv
import difflib
import inspect
import json
import os
from collections.abc import Iterable
from typing import Any

from bayesrule.plain_text import harmless


class Complaint(Exception):
    """Something that was typed makes no sense."""


def one_line(error: object) -> str:
    """A message on one line."""
    return harmless(" ".join(str(error).split()) or type(error).__name__)


def model_names() -> list[str]:
    """Models by the names people know them by: the recipes."""
    from bayesrule import recipes

    return [
        name
        for name, value in vars(recipes).items()
        if getattr(value, "__module__", "") == recipes.__name__ and not name.startswith("_")
    ]


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    listed = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return f"did you mean {close[0]!r}?" if close else f"there are: {listed}"


def gain_of(text: str | None) -> Any:
    """A gain that was typed, or is in a file.

    ``true:decision=number,...``, JSON (a nested dict, or a list of rows), or the name of a .json
    or .csv file; a CSV has the decisions in its header and the true classes in its first column.
    """
    if text is None:
        return None
    given = _json_or_file(text, "--gain")
    if given is not None:
        return given
    gain: dict[str, dict[str, float]] = {}
    for name, value in _pairs(text, "--gain", "true:decision=number"):
        true, sign, decision = name.partition(":")
        if not sign or not true or not decision:
            raise Complaint(
                f"--gain has {name!r}, which is no true:decision pair. Type it as "
                "ill:treat=5,ill:wait=-20,..., or name a .csv or .json file."
            )
        row = gain.setdefault(true.strip(), {})
        if decision.strip() in row:
            raise Complaint(f"--gain has {name!r} twice.")
        row[decision.strip()] = value
    return gain


def priors_of(text: str | None) -> Any:
    """Priors that were typed, or are in a file: a word, class=number,..., JSON, or a .json file."""
    if text is None or text in ("empirical", "uniform"):
        return text
    word, sign, box = text.partition(":")
    if word == "minimax":
        from bayesrule import Minimax

        return Minimax(_box(box) if sign else None)
    if word == "shifted" and sign:
        from bayesrule import Shifted
        from bayesrule.cli.reading import read_rows

        return Shifted(read_rows(box))
    given = _json_or_file(text, "--priors")
    if given is not None:
        return given
    if "=" not in text:
        raise Complaint(
            f"--priors={text!r} is not known: {nearest(text, ['empirical', 'uniform', 'minimax'])} "
            "Or type class=chance,class=chance, shifted:FILE for the priors of new rows, or "
            "minimax:class=lowest..highest."
        )
    return dict(_pairs(text, "--priors", "class=number"))


def numeric_priors_of(text: str | None) -> Any:
    """Priors for valuing decisions already made: those that a rule would have to be made for, not.

    A rule is solved for the least favourable priors, and for those of new rows, when it is made.
    """
    if text is not None and text.partition(":")[0] in ("minimax", "shifted"):
        raise Complaint(
            f"--priors {text} is solved when a rule is made: bayesrule fit --priors {text} makes "
            "one, which evaluate then judges at the priors it found. To judge this one, type "
            "class=chance,class=chance, uniform or empirical."
        )
    return priors_of(text)


def _box(text: str) -> dict[str, tuple[float, float]]:
    """Bounds on priors, class=lowest..highest,..."""
    box = {}
    for name, bounds in _split(text, "--priors minimax", "class=lowest..highest"):
        low, _, high = bounds.partition("..")
        try:
            box[name] = float(low), float(high)
        except ValueError:
            raise Complaint(
                f"--priors minimax:{name}={bounds} has no bounds; type class=0.1..0.4."
            ) from None
    return box


def _pairs(text: str, option: str, form: str) -> list[tuple[str, float]]:
    """name=number,name=number"""
    found = []
    for name, value in _split(text, option, form):
        try:
            found.append((name, float(value)))
        except ValueError:
            raise Complaint(f"{option} has {name}={value}, where {value!r} is no number.") from None
    return found


def _split(text: str, option: str, form: str) -> list[tuple[str, str]]:
    """name=text,name=text; a comma within double quotes belongs to the name."""
    found = []
    for item in next(csv.reader([text], skipinitialspace=True), []):
        name, sign, value = item.rpartition("=")
        if not sign or not name.strip():
            raise Complaint(f"{option} has {item!r}; expected {form}, with commas between them.")
        found.append((name.strip(), value.strip()))
    return found


def _json_or_file(text: str, option: str) -> Any:
    """What JSON or a file holds; None where the text is neither."""
    if text.lstrip()[:1] in ("{", "["):
        return _parsed(text, option)
    ending = os.path.splitext(text)[1].lower()
    if ending not in (".json", ".csv"):
        return None
    if not os.path.isfile(text):
        raise Complaint(f"{option} names the file {text!r}, which does not exist.")
    with open(text, encoding="utf-8-sig", newline="") as file:
        if ending == ".json":
            return _parsed(file.read(), f"{option} {text}")
        rows = [row for row in csv.reader(file) if row]
    return _named_rows(rows, f"{option} {text}")


def _parsed(text: str, where: str) -> Any:
    """JSON as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Complaint(f"{where} is no JSON: {error}") from None


def _named_rows(rows: list[list[str]], where: str) -> dict[str, dict[str, float]]:
    """A table with the decisions in its header and the true classes in its first column."""
    if len(rows) < 2 or len(rows[0]) < 2:
        raise Complaint(
            f"{where} needs a header with the decisions and a row per true class, such as "
            "'true,treat,wait' and 'ill,5,-20'."
        )
    decisions = rows[0][1:]
    table: dict[str, dict[str, float]] = {}
    for true, *cells in rows[1:]:
        if len(cells) != len(decisions):
            raise Complaint(
                f"{where} has {len(cells)} gains for {true!r}, but {len(decisions)} decisions."
            )
        if true in table:
            raise Complaint(f"{where} has two rows for {true!r}.")
        try:
            table[true] = dict(zip(decisions, map(float, cells), strict=True))
        except ValueError as error:
            raise Complaint(f"{where}, row {true!r}: {error}") from None
    return table


def model_of(
    name: str,
    settings: Iterable[str],
    *,
    gain: Any = None,
    priors: Any = None,
    option: str = "--set",
) -> Any:
    """The recipe of a name, with settings (as they were typed after an option), gain and priors."""
    known_names = model_names()
    if name not in known_names:
        raise Complaint(f"--model {name!r} is not known: {nearest(name, known_names)}")
    from bayesrule import recipes

    recipe = getattr(recipes, name)
    own = inspect.signature(recipe).parameters
    given: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    for item in settings:
        key, sign, text = item.partition("=")
        if not sign or not key:
            raise Complaint(f"{option} {item!r} is no setting; type name=value.")
        (given if key in own else inner)[key] = setting_of(text)
    stated = {"gain": gain, "priors": priors}
    rule = {key: value for key, value in stated.items() if value is not None and key in own}
    clf = recipe(**{**given, **rule})
    known = clf.get_params()
    for key in inner:
        if key not in known and f"density__{key}" not in known:
            settable = [k for k in own if k not in stated] + [
                k.removeprefix("density__") for k in known if k.startswith("density__")
            ]
            raise Complaint(
                f"{option} {key} is no setting of {name}: {nearest(key, dict.fromkeys(settable))}"
            )
    return clf.set_params(
        **{key if key in known else f"density__{key}": value for key, value in inner.items()}
    )


def setting_of(text: str) -> Any:
    """A value as JSON says it (numbers, true, null, lists, dicts), else as it is typed."""
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
