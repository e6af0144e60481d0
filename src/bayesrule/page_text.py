"""The page of a decision report: its parts put together, and its figures as text.

What stands here is what a reader without JavaScript sees; the program of the page replaces it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from bayesrule import decide
from bayesrule.evaluation import accuracy_of, gain_interval
from bayesrule.exporting.changes import changes_of_two
from bayesrule.memberships import Memberships
from bayesrule.page_data import as_json, shortened
from bayesrule.summary import text_names
from bayesrule.valuation import Valuation, value

#: The program of the page, in the order in which its parts need each other.
PROGRAM = ("numbers", "rule", "state", "writing", "controls", "drawing", "page")


def write_page(
    document: dict[str, Any], rule: Any, codes: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> str:
    """The whole page.

    Its policy lets in the style and the program it came with, told by their hashes, and nothing
    else: no address, no frame, no form.
    """
    folder = files("bayesrule") / "page"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in PROGRAM]
    program = "\n(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"
    style = (folder / "page.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src '{_hash(program)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    filled = {
        "policy": escape(policy),
        "title": escape(_printable(document["title"])),
        "style": style,
        "static": static_figures(rule, codes, weights, values, document["confidence"]),
        "data": as_json(document),
        "program": program,
    }
    page = (folder / "page.html").read_text(encoding="utf-8")
    pieces = page.split("@@")  # text, name, text, name, ...: what is filled in is not read again
    for place in range(1, len(pieces), 2):
        pieces[place] = filled[pieces[place]]
    return "".join(pieces)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _printable(text: Any) -> str:
    """A name as text that can be written as UTF-8 and holds no controls."""
    return _without_controls(shortened(text))


def _without_controls(text: str) -> str:
    return "".join(c if c.isprintable() or c in " \n\u200c\u200d" else "\ufffd" for c in text)


def static_figures(
    rule: Any, codes: np.ndarray, weights: np.ndarray, values: np.ndarray, confidence: float
) -> str:
    """The figures of the fitted rule as HTML."""
    judged = judge_rows(rule, codes, weights, values)
    totals = judged.counts.sum(axis=1)
    confusion = judged.priors[:, None] * judged.counts / np.where(totals > 0, totals, 1.0)[:, None]
    decisions, classes = text_names(judged.decisions), text_names(judged.classes)
    accuracy = accuracy_of(confusion, judged.decisions, judged.classes)
    sentence = _sentence(rule, judged, codes, weights, values, confidence)
    if not np.isnan(accuracy):
        sentence += f" {_percent(accuracy)} of the decisions name the true class."
    per_class = [
        [
            name,
            _percent(judged.priors[k]),
            f"{totals[k]:.6g}",
            _number(judged.class_gains[k]),
            _number(judged.class_risks[k]),
        ]
        for k, name in enumerate(classes)
    ]
    return "".join(
        [
            f'<h1 class="sentence">{escape(_without_controls(sentence))}</h1>',
            _table(
                "Of 1,000 cases like these",
                ["truly", *(f"decided {d}" for d in decisions)],
                [
                    [name, *(_of_thousand(p) for p in row)]
                    for name, row in zip(classes, confusion, strict=True)
                ],
            ),
            _bars("Share of each decision", decisions, confusion.sum(axis=0)),
            _table("Classes", ["class", "prior", "rows", "mean gain", "mean regret"], per_class),
            _table(
                "What each decision is worth",
                ["truly", *decisions],
                [
                    [name, *(f"{g:g}" for g in row)]
                    for name, row in zip(classes, judged.gain, strict=True)
                ],
            ),
        ]
    )


def _sentence(
    rule: Any,
    judged: Valuation,
    codes: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
    confidence: float,
) -> str:
    """The rule in words, what it earns, and how much more than what would be simpler."""
    low, high = gain_interval(judged, confidence)
    constants, gain = judged.priors @ judged.gain, judged.expected_gain
    best, half = int(constants.argmax()), (high - low) / 2

    def more(apart: float) -> str:
        side = "more" if apart >= 0 else "less"
        return f"{_number(abs(apart), half)} {side} than"

    text = (
        f"{_in_words(judged)}. It earns {_number(gain, half)} per case ({100 * confidence:g} % "
        f"interval {_number(low, half)} to {_number(high, half)}): {more(gain - constants[best])} "
        f"always deciding {shortened(text_names(judged.decisions)[best])}"
    )
    probable = _gain_of_most_probable(rule, codes, weights, values)
    if probable is not None:
        text += f", and {more(gain - probable)} deciding for the most probable class"
    return text + "."


def _in_words(judged: Valuation) -> str:
    """With two classes, the chances between which each decision is made."""
    names = [shortened(name) for name in text_names(judged.decisions)]
    classes = [shortened(name) for name in text_names(judged.classes)]
    if len(classes) != 2 or not (judged.priors > 0).all():
        return "Decide for the highest expected gain"
    k = int(judged.priors[1] <= judged.priors[0])  # the rarer class, as that is what one looks for
    first, changes = changes_of_two((1 - k, k), judged.priors, judged.gain)
    if not changes:
        return f"Always decide {names[int(first)]}"
    ends = [_percent(1.0 / (1.0 + np.exp(-at))) for at, _ in changes]
    made = [names[int(decision)] for _, decision in changes]
    text = f"Decide {names[int(first)]} while the chance of {classes[k]} is below {ends[0]}"
    text += "".join(f", {d} up to {end}" for d, end in zip(made[:-1], ends[1:], strict=True))
    return f"{text}{', and' if len(made) > 1 else ' and'} {made[-1]} above"


def _gain_of_most_probable(
    rule: Any, codes: np.ndarray, weights: np.ndarray, values: np.ndarray
) -> float | None:
    """Expected gain of deciding for the most probable class; None where a class is no decision."""
    decided = rule._ready().decided_class.tolist()
    n_classes = len(rule.classes_)
    if not all(k in decided for k in range(n_classes)):
        return None
    column = np.array([decided.index(k) for k in range(n_classes)])
    probable = decide.posterior(values, rule.priors_)[0].argmax(axis=1)
    gains = rule.gain_[codes, column[probable]]
    totals = np.bincount(codes, weights, n_classes)
    if (totals[rule.priors_ > 0] == 0).any():
        return None
    means = np.bincount(codes, weights * gains, n_classes) / np.where(totals > 0, totals, 1.0)
    return float(rule.priors_ @ means)


def judge_rows(
    rule: Any, codes: np.ndarray, weights: np.ndarray, log_density: np.ndarray
) -> Valuation:
    """What the fitted rule's decisions on some rows are worth."""
    chosen, _ = decide.best_decisions(log_density, rule.priors_, rule.gain_)
    truth = Memberships(rule.classes_, codes, None, weights)
    made = rule.decisions_[chosen]
    return value(
        truth, made, rule.gain_[None], rule.decisions_, rule.priors_, possible=rule.decisions_
    )


def _text(value: Any) -> str:
    return escape(_printable(value))


def _table(caption: str, header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """A table whose first column names its rows."""
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in header)
    body = "".join(
        f'<tr><th scope="row">{_text(name)}</th>'
        + "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    return (
        f'<div class="scroll"><table><caption>{_text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _bars(caption: str, names: Sequence[str], shares: np.ndarray) -> str:
    """Shares as bars, one above the other."""
    rows = "".join(
        f'<tr><th scope="row">{_text(name)}</th><td>{_text(_percent(share))}</td><td>'
        f'<svg width="200" height="14" aria-hidden="true"><rect width="{200 * share:.1f}" '
        'height="14" rx="2" fill="currentColor"/></svg></td></tr>'
        for name, share in zip(names, shares, strict=True)
    )
    return f"<table><caption>{_text(caption)}</caption><tbody>{rows}</tbody></table>"


def _number(value: float, half: float = 0.0) -> str:
    """Three significant digits, and no more than an interval of some half width allows."""
    if not np.isfinite(value):
        return "–"
    digits = 2 - int(np.floor(np.log10(abs(value)))) if value else 2
    if half > 0:
        digits = min(digits, 1 - int(np.floor(np.log10(half))))
    shown = f"{round(value, digits):,.{max(0, min(digits, 12))}f}"
    minus = "\N{MINUS SIGN}" if any(c in "123456789" for c in shown) else ""
    return shown.replace("-", minus)


def _percent(share: float) -> str:
    """A share in per cent, never quite none or all of it."""
    if share < 0.001:
        return "<0.1 %"
    return ">99.9 %" if share > 0.999 else f"{100 * share:.3g} %"


def _of_thousand(share: float) -> str:
    cases = round(1000 * share)
    return f"{cases}" if cases or not share else "<1"
