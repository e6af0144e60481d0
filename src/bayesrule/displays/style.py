"""What all displays share: one colour per decision, one marker per class, text as it is written."""

from __future__ import annotations

import colorsys
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesrule.gains import decision_classes

INK = "#333333"
QUIET = "#777777"
FAINT = "#d9d9d9"
#: For a number that only says that there is nothing.
NOTHING = "#9a9a9a"

#: Hues that stay apart for the colour-blind; the first six are those of Okabe and Ito.
HUES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#882255",
    "#999933",
    "#332288",
    "#8c6d46",
)
#: The first decision that is no class: grey, since it takes no side.
ASIDE = "#7f7f7f"
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">")


def pyplot() -> Any:
    """Import matplotlib's pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays draw with matplotlib, which cannot be imported here. "
            'Install it with: pip install "bayesrule[plots]"'
        ) from error
    return plt


def canvas(ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """The figure and axes to draw on: those that were given, or new ones."""
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    tidy(ax)
    return ax.figure, ax


def tidy(ax: Any, sides: Sequence[str] = ("left", "bottom")) -> None:
    """Keep the frame on the given sides only, and quiet."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
        spine.set_color(QUIET)
    ax.tick_params(color=QUIET, labelcolor=INK)


def hue(i: int) -> str:
    """The i-th hue: from the table, then by golden-angle steps round the colour circle."""
    if i < len(HUES):
        return HUES[i]
    beyond = i - len(HUES)
    lightness = (0.35, 0.5, 0.65)[beyond % 3]
    red, green, blue = colorsys.hls_to_rgb((beyond * 0.381966) % 1.0, lightness, 0.6)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def decision_colours(decisions: np.ndarray, classes: np.ndarray) -> list[str]:
    """A colour per decision: that of its class; grey and further hues where it is no class."""
    where = decision_classes(decisions, classes)
    taken = len(classes) if (where >= 0).any() else 0
    others = [hue(taken + i) for i in range(len(decisions))]
    if taken:
        others.insert(0, ASIDE)
    aside = iter(others)
    return [hue(k) if k >= 0 else next(aside) for k in where]


def class_colours(classes: np.ndarray, decisions: np.ndarray) -> list[str]:
    """A colour per class: that of the decision for it; further hues if none is a class."""
    some = (decision_classes(decisions, classes) >= 0).any()
    return [hue(k if some else len(decisions) + k) for k in range(len(classes))]


def class_keys(classes: np.ndarray, decisions: np.ndarray) -> list[tuple[Any, int, int]]:
    """What a legend names: label, place of the decision and of the class, -1 where it is not."""
    where = decision_classes(decisions, classes).tolist()
    keys = [(label, d, k) for d, (label, k) in enumerate(zip(decisions, where, strict=True))]
    return keys + [(label, -1, k) for k, label in enumerate(classes) if k not in where]


def legend_beside(ax: Any, handles: list[Any], labels: list[str], title: str) -> Any:
    """A legend to the right of the axes, smaller where it is long."""
    return ax.legend(
        handles,
        labels,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        frameon=False,
        alignment="left",
        borderaxespad=0.0,
        fontsize="medium" if len(labels) <= 8 else "small",
        title_fontsize="small",
        labelspacing=0.6,
    )


def number(value: float) -> str:
    """A number in a few digits, with a minus sign as wide as a plus."""
    return f"{value:.3g}".replace("-", "−")


def marker(k: int) -> str:
    """The marker of class k."""
    return MARKERS[k % len(MARKERS)]


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white; strength 1 leaves it as it is."""
    red, green, blue = (1.0 - strength * (1.0 - channel) for channel in channels(colour))
    return red, green, blue


def shade(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with black; strength 1 is black."""
    red, green, blue = ((1.0 - strength) * channel for channel in channels(colour))
    return red, green, blue


def channels(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of "#rrggbb", each from 0 to 1."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def luminance(colour: Sequence[float]) -> float:
    """Relative luminance of a colour, 0 for black and 1 for white, as the web's rules define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever has the higher contrast on a background: 4.5 at least."""
    ground = luminance(colour) + 0.05
    return "#000000" if ground / 0.05 >= 1.05 / ground else "#ffffff"


def written(label: Any, width: int = 24, lines: int = 2) -> str:
    """A label as text to draw: dollar signs start no formula, long ones are wrapped and cut."""
    text = " ".join(str(label).split())
    parts = textwrap.wrap(text, width, max_lines=lines, placeholder=" …", break_on_hyphens=False)
    return "\n".join(parts).replace("$", r"\$")


def quoted(label: Any, width: int = 40) -> str:
    """A label inside a sentence."""
    return f"“{written(label, width, 1)}”"


def spread(places: np.ndarray, sizes: np.ndarray, low: float, high: float) -> np.ndarray:
    """Centres near ``places``, moved apart until spans of the given sizes do not overlap.

    Spans that touch are moved as one block, which keeps each block as near as it can be.
    """
    order = np.argsort(places, kind="stable")
    blocks: list[list[Any]] = []  # [members, wanted start, length]
    for i in order:
        blocks.append([[i], places[i] - sizes[i] / 2, sizes[i]])
        while True:
            members, start, length = blocks[-1]
            blocks[-1][1] = start = max(low, min(start, high - length))
            if len(blocks) < 2 or blocks[-2][1] + blocks[-2][2] <= start:
                break
            before, first, earlier = blocks[-2]
            share = len(before) / (len(before) + len(members))
            wanted = share * first + (1 - share) * (start - earlier)
            blocks[-2:] = [[before + members, wanted, earlier + length]]
    centres = np.empty(len(places))
    for members, start, _ in blocks:
        for i in members:
            centres[i] = start + sizes[i] / 2
            start += sizes[i]
    return centres
