"""What a decision report holds, as plain values and base-64 text, within its budget of bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayesrule.displays.slices import Slices
from bayesrule.settling import over_blocks
from bayesrule.summary import text_names
from bayesrule.tables import Table

#: Bytes of a page that are not data: its style, its program, its words, and some to spare.
FRAME = 150_000
#: Characters of a name that a page shows.
LONGEST_NAME = 200
#: Characters of a label at most: it must be whole where gains and priors are copied.
LONGEST_LABEL = 500
#: Features whose pairs are mapped at most, and points along each side of a map.
MAPPED, POINTS = 8, 26
#: Terms of a case that are listed by name.
TERMS = 6
#: Nats below the top that a map still tells apart; beyond, a class has no chance to speak of.
DEPTH = 64.0


def shortened(name: Any) -> str:
    """A name no longer than what a page can show."""
    text = str(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def packed(array: np.ndarray, dtype: str) -> str:
    """Numbers in base 64, least significant byte first."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode()


@dataclass(frozen=True)
class Budget:
    """Bytes of a page, and what is left of them."""

    most: int

    def rows(self, document: dict[str, Any]) -> int:
        """Rows that may be held beside a document, if two thirds of what it leaves are theirs."""
        per_row = 4 / 3 * (8 * len(document["classes"]) + 8 + 8 + 1)
        return int(2 / 3 * self.left(document) / per_row)

    def left(self, document: dict[str, Any]) -> float:
        """Bytes that a document leaves."""
        return self.most - FRAME - len(as_json(document).encode())


def as_json(document: Any) -> str:
    """JSON that may stand inside an HTML script element: no < and no line separator is left."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    # Half a surrogate pair is no text; a page with one in it could not be written.
    return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text)


@dataclass(frozen=True)
class RuleData:
    """A rule as plain values, and the names of its decisions with the offered one."""

    document: dict[str, Any]
    names: np.ndarray


def rule_data(rule: Any, offer: str | None, confidence: float) -> RuleData:
    """The fitted rule, with an extra action on offer, switched off, where it has none."""
    gain, names = rule.gain_, rule.decisions_.astype(object)
    decided = rule._ready().decided_class
    offered = offer is not None and (decided >= 0).all() and offer not in text_names(rule.classes_)
    if offered:
        # Better than any mistake and worse than being right: a fifth of the way to the worst.
        price = 0.2 * np.max(gain.max(axis=1) - gain.min(axis=1))
        gain = np.column_stack([gain, gain.max(axis=1) - price])
        names = np.append(names, np.array([offer], dtype=object))
        decided = np.append(decided, -1)
    notes = []
    if rule._ready().randomised:
        notes.append(
            "The fitted rule draws its decisions at random; this page shows the rule for the same "
            "priors that does not."
        )
    shown = [shortened(name) for name in text_names(names)]
    return RuleData(
        {
            "model": type(rule._density()).__name__,
            "classes": [shortened(name) for name in text_names(rule.classes_)],
            "decisions": shown,
            "classKeys": [_key(label) for label in rule.classes_.tolist()],
            "decisionKeys": [_key(label) for label in names.tolist()],
            "decided": decided.tolist(),
            "gain": gain.tolist(),
            "priors": rule.priors_.tolist(),
            "trained": rule._learned.shares.tolist(),
            "enabled": [not (offered and d == len(names) - 1) for d in range(len(names))],
            "confidence": confidence,
            "quantile": float(-ndtri(0.5 * (1.0 - confidence))),
            "notes": notes,
        },
        names,
    )


def _key(label: Any) -> dict[str, str]:
    """A label as a key of JSON and as Python writes it."""
    if len(str(label)) > LONGEST_LABEL:
        raise ValueError(
            f"The name {str(label)[:40]!r}... has {len(str(label))} characters, but a page takes "
            f"names of at most {LONGEST_LABEL}. Give the class or decision a shorter one."
        )
    return {"json": str(label), "python": repr(label)}


def rows_data(
    values: np.ndarray, codes: np.ndarray, weights: np.ndarray, rows: np.ndarray, n_all: int
) -> dict[str, Any]:
    """Log-densities, labels and places of the rows."""
    return {
        "rows": len(codes),
        "total": n_all,
        "logDensity": packed(values, "<f8"),
        "labels": packed(codes, "u1"),
        "places": packed(rows, "<f8"),
        "weights": None if (weights == 1).all() else packed(weights, "<f8"),
    }


def case_terms(rule: Any, table: Table, room: float) -> dict[str, Any] | None:
    """Of each row, the features that tell its classes apart best, where the density factors.

    The log-density of a feature under each class, less its mean over the classes: priors enter in
    the page. Only as many rows have them as there is room for.
    """
    log_density = rule.log_density_
    if not log_density.factors:
        return None
    names = rule.contribution_names_
    n_classes, n_top = len(rule.classes_), min(TERMS, len(names))
    per_row = 4 / 3 * n_top * (4 * n_classes + 2)
    told = min(len(table), int((room - 4 * sum(len(name) for name in names)) / per_row))
    if told < 1 or len(names) > 65_535:
        return None
    index = np.empty((told, n_top), np.uint16)
    terms = np.empty((told, n_top, n_classes), np.float32)

    def work(start: int, stop: int) -> tuple[int, np.ndarray]:
        return start, log_density.terms(head.block(start, stop))

    head = table.block(0, told)
    for start, found in over_blocks(work, log_density, head):
        found = np.clip(np.nan_to_num(found, nan=0.0), -1e30, 1e30)  # (block, K, F)
        found = found - found.mean(axis=1, keepdims=True)
        spread = found.max(axis=1) - found.min(axis=1)
        top = np.argsort(-spread, axis=1, kind="stable")[:, :n_top]
        index[start : start + len(top)] = top
        picked = np.take_along_axis(found, top[:, None, :], axis=2)
        terms[start : start + len(top)] = picked.transpose(0, 2, 1)
    used, places = np.unique(index, return_inverse=True)
    return {
        "rows": told,
        "top": n_top,
        "names": [shortened(names[j]) for j in used],
        "index": packed(places.reshape(-1), "<u2"),
        "values": packed(terms.reshape(-1), "<f4"),
    }


def plane_maps(rule: Any, slices: Slices, codes: np.ndarray, room: float) -> dict[str, Any] | None:
    """Log-densities over the planes of the features that tell the classes apart best.

    Features that do not move are held at their medians, or at their commonest values.
    """
    ranked = _ranked(slices, codes)
    n_classes = len(rule.classes_)
    per_map = 4 / 3 * 2 * POINTS**2 * (n_classes + 1) + 200
    n_mapped = max((m for m in range(2, MAPPED + 1) if m * (m - 1) / 2 * per_map < room), default=0)
    features = sorted(ranked[:n_mapped])
    if len(features) < 2:
        return None
    normalised = hasattr(rule, "log_marginal")
    spans = {j: slices.span(j) for j in features}
    maps = []
    for a, b in combinations(features, 2):
        u, v = (np.linspace(*spans[j], POINTS) for j in (a, b))
        grid = slices.rows({a: np.repeat(u, POINTS), b: np.tile(v, POINTS)})
        try:
            values = rule.log_density(grid)
        except (ValueError, TypeError):  # counts, say, which take no values between whole numbers
            return None
        top = values.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        level = top - top.max() if normalised else np.zeros_like(top)
        depth = np.hstack([values - top, level])
        steps = np.round(np.clip(-np.nan_to_num(depth, nan=0.0), 0.0, DEPTH) / DEPTH * 65_535)
        maps.append(
            {
                "features": [features.index(a), features.index(b)],
                "values": packed(steps, "<u2"),
            }
        )
    return {
        "names": [shortened(slices.labels[j]) for j in features],
        "spans": [list(map(float, spans[j])) for j in features],
        "points": POINTS,
        "depth": DEPTH,
        "normalised": normalised,
        "others": len(slices.labels) - 2,
        "maps": maps,
    }


def _ranked(slices: Slices, codes: np.ndarray) -> list[int]:
    """Numeric features, those whose class means differ most for their spread first."""
    scores: dict[int, float] = {}
    for j in range(len(slices.labels)):
        try:
            values = slices.column(j)
        except (ValueError, TypeError):
            continue
        there = np.isfinite(values)
        if there.sum() < 2 or len(np.unique(values[there])) < 3:
            continue
        x, k = values[there], codes[there]
        x = (x - np.median(x)) / (np.std(x) or 1.0)
        totals = np.bincount(k)
        means = np.bincount(k, x) / np.maximum(totals, 1)
        between = float(totals @ (means - x.mean()) ** 2)
        within = float(((x - means[k]) ** 2).sum())
        scores[j] = between / (within or 1.0)
    return sorted(scores, key=lambda j: -scores[j])


def feature_texts(X: Any, room: float) -> dict[str, Any] | None:
    """Features as text, as many columns as there is room for."""
    names: Sequence[Any]
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        names = list(frame.columns)
        columns = [frame[name].to_list() for name in names]
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            names, columns = ["text"], [array.tolist()]
        else:
            names, columns = range(array.shape[1]), [column.tolist() for column in array.T]
    kept: dict[str, Any] = {"names": [], "values": []}
    for name, column in zip(names, columns, strict=True):
        texts = [_cell(value) for value in column]
        room -= len(as_json([shortened(name), texts]).encode())
        if room < 0:
            break
        kept["names"].append(shortened(name))
        kept["values"].append(texts)
    return kept if kept["names"] else None


def _cell(value: Any) -> str:
    """A value as text: numbers to six digits, nothing for a missing one."""
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else shortened(value)
