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
        "static": static_figures(rule, codes, weights, values),
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
    """Text that can be written as UTF-8 and holds no controls."""
    return "".join(
        c if c.isprintable() or c in " \n\u200c\u200d" else "\ufffd" for c in shortened(text)
    )


def static_figures(rule: Any, codes: np.ndarray, weights: np.ndarray, values: np.ndarray) -> str:
    """The figures of the fitted rule as HTML."""
    judged = judge_rows(rule, codes, weights, values)
    totals = judged.counts.sum(axis=1)
    confusion = judged.priors[:, None] * judged.counts / np.where(totals > 0, totals, 1.0)[:, None]
    low, high = gain_interval(judged, 0.95)
    constants = judged.priors @ judged.gain
    best = int(constants.argmax())
    decisions, classes = text_names(judged.decisions), text_names(judged.classes)
    gain = judged.expected_gain
    accuracy = accuracy_of(confusion, judged.decisions, judged.classes)
    sentence = (
        f"Deciding for the highest expected gain earns {_number(gain)} per case (95 % interval "
        f"{_number(low)} to {_number(high)}), {_number(gain - constants[best])} more than always "
        f"deciding {decisions[best]}."
    )
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
            f'<h1 class="sentence">{_text(sentence)}</h1>',
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
        f'<tr><th scope="row">{_text(name)}</th><td>{_percent(share)}</td><td>'
        f'<svg width="200" height="14" aria-hidden="true"><rect width="{200 * share:.1f}" '
        'height="14" rx="2" fill="currentColor"/></svg></td></tr>'
        for name, share in zip(names, shares, strict=True)
    )
    return f"<table><caption>{_text(caption)}</caption><tbody>{rows}</tbody></table>"


def _number(value: float) -> str:
    """Three significant digits."""
    if not np.isfinite(value):
        return "–"
    digits = 2 - int(np.floor(np.log10(abs(value)))) if value else 2
    return f"{round(value, digits):,.{max(0, min(digits, 12))}f}"


def _percent(share: float) -> str:
    """A share in per cent, never quite none or all of it."""
    if share < 0.001:
        return "<0.1 %"
    return ">99.9 %" if share > 0.999 else f"{100 * share:.3g} %"


def _of_thousand(share: float) -> str:
    cases = round(1000 * share)
    return f"{cases}" if cases or not share else "<1"
