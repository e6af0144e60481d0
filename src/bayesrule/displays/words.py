"""What tells classes of texts apart, as a cloud of words: size is evidence, colour is the class.

Words are placed from the heaviest to the lightest, each at the free place nearest to the middle of
its class. Free places are found exactly, on a grid, so no word covers another and nothing is left
to chance. Letters are drawn as outlines, so the picture is the same at any size.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule.displays import style
from bayesrule.displays.sources import chosen_estimator, final_rule
from bayesrule.word_evidence import word_evidence

#: Cells of the grid from top to bottom.
ROWS = 240

#: Share of the canvas that words may cover at first; it is lowered until all find a place.
COVERED = 0.85

#: Room beside and above a word, in shares of its size: words of a run stand closer than runs.
GAP = np.array([0.42, 0.14])

#: Longest word that is written out, in characters.
LONGEST = 30


@dataclass(eq=False, repr=False)
class WordCloudDisplay:
    """The words that speak most for each class.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    words : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Weight of evidence of each word, positive. The area of a word goes by it.
    word_classes : ndarray of shape (n,)
        Place of the class that each word speaks for among ``classes``.
    classes : ndarray of shape (K,)
    decisions : ndarray of shape (A,), default=None
        Decisions of the rule, so that a class has the colour that it has in other displays.

    Attributes
    ----------
    boxes_ : ndarray of shape (n, 4)
        Left, bottom, right and top of each word that was drawn; NaN for one that found no place.
    ax_, figure_ : matplotlib Axes and Figure
    """

    words: np.ndarray
    weights: np.ndarray
    word_classes: np.ndarray
    classes: np.ndarray
    decisions: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        n_words: int = 80,
        signs: bool = False,
        column: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> WordCloudDisplay:
        """Find the words that speak most for each class and draw them.

        The weight of a word is the evidence that it gives, on the average, in a text of the class:
        how often it comes there, times its log-likelihood ratio against the other classes.

        Parameters
        ----------
        estimator : fitted BayesClassifier over ``Words`` or ``Multinomial``, or a pipeline or
            search that ends in one
        n_words : int
            Words in all; each class gives as many.
        signs : bool
            Whether punctuation is shown, and runs of words with punctuation in them.
        column : name, default=None
            The text column, where there are several.
        ax : matplotlib Axes, default=None
        **kwargs
            Passed to :meth:`plot`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from bayesrule import recipes
        >>> from bayesrule.displays import WordCloudDisplay
        >>> texts = ["win cash", "free cash prize", "see you at lunch", "are you home"]
        >>> clf = recipes.text_bayes().fit(texts, ["spam", "spam", "ham", "ham"])
        >>> display = WordCloudDisplay.from_estimator(clf, n_words=6)
        >>> display.words[0], str(display.classes[display.word_classes[0]])
        ('you', 'ham')
        """
        estimator = chosen_estimator(estimator)
        rule = final_rule(estimator)
        evidence = word_evidence(estimator, column)
        weight = evidence.weight
        if not signs:
            weight = np.where([_is_worded(word) for word in evidence.words], weight, 0.0)
        # A word may speak for several classes against the rest; it is shown for the first of them.
        speaks_for = weight.argmax(axis=0)
        each = max(1, n_words // len(evidence.classes))
        places, codes = [], []
        for k in range(len(evidence.classes)):
            mine = np.flatnonzero((speaks_for == k) & (weight[k] > 0))
            chosen = mine[np.argsort(-weight[k, mine], kind="stable")[:each]]
            places.append(chosen)
            codes.append(np.full(len(chosen), k))
        place, code = np.concatenate(places), np.concatenate(codes)
        order = np.argsort(-weight[code, place], kind="stable")
        place, code = place[order], code[order]
        return cls(
            words=evidence.words[place],
            weights=weight[code, place],
            word_classes=code,
            classes=evidence.classes,
            decisions=rule.decisions_,
        ).plot(ax, **kwargs)

    def plot(
        self, ax: Any = None, *, font: Any = None, legend: bool = True, **kwargs: Any
    ) -> WordCloudDisplay:
        """Draw the words.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Its shape is the shape of the cloud.
        font : matplotlib FontProperties, default=None
            None is the font of the settings, bold. Scripts that it lacks need another.
        legend : bool
        **kwargs
            Passed to ``PathPatch``, which draws the outlines of the letters.
        """
        from matplotlib.font_manager import FontProperties
        from matplotlib.patches import PathPatch
        from matplotlib.transforms import Affine2D

        self.figure_, self.ax_ = style.canvas(ax, (8.4, 4.8))
        style.tidy(self.ax_, ())
        self.ax_.set(xticks=[], yticks=[], aspect="equal")
        weights = np.asarray(self.weights, dtype=float)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ValueError("Weights of words must be positive numbers: their size goes by them.")
        outlines = [_outline(word, font or FontProperties(weight="bold")) for word in self.words]
        extent = self.ax_.get_window_extent()
        columns = round(ROWS * float(np.clip(extent.width / max(extent.height, 1), 0.5, 4)))
        heights = np.sqrt(weights / weights.max()) if len(weights) else weights
        boxes = [_boxes(outline) for outline in outlines]
        corners, size = _arrange(boxes, heights, np.asarray(self.word_classes), columns)
        decisions = self.classes if self.decisions is None else self.decisions
        colours = style.class_colours(self.classes, decisions)
        if len(set(colours)) < len(colours):  # decisions are no classes, and have the colours
            colours = [style.hue(k) for k in range(len(self.classes))]
        self.boxes_ = np.full((len(self.words), 4), np.nan)
        for i, (outline, corner) in enumerate(zip(outlines, corners, strict=True)):
            if np.isnan(corner).any():
                continue
            moved = Affine2D().scale(size * heights[i]).translate(*corner).transform_path(outline)
            # The heavier, the darker.
            colour = style.shade(colours[self.word_classes[i]], 0.3 * heights[i])
            look = {"facecolor": colour, "linewidth": 0.0}
            self.ax_.add_patch(PathPatch(moved, **{**look, **kwargs}))
            self.boxes_[i] = moved.get_extents().extents
        self._frame(columns)
        if legend:
            self._add_legend(colours)
        return self

    def _frame(self, columns: int) -> None:
        """Show what was drawn, and a little room around it."""
        low, high = np.zeros(2), np.array([float(columns), float(ROWS)])
        if not np.isnan(self.boxes_).all():
            low = np.nanmin(self.boxes_[:, :2], axis=0)
            high = np.nanmax(self.boxes_[:, 2:], axis=0)
        room = 0.01 * columns
        self.ax_.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))

    def _add_legend(self, colours: list[str]) -> None:
        """Which colour speaks for which class."""
        from matplotlib.lines import Line2D

        shown = np.unique(self.word_classes)
        handles = [
            Line2D([], [], marker="o", markersize=8, color=colours[k], linestyle="none")
            for k in shown
        ]
        self.ax_.legend(
            handles,
            [style.written(self.classes[k]) for k in shown],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.02),
            ncols=min(len(shown), 6),
            frameon=False,
            handletextpad=0.2,
        )


def _is_worded(word: Any) -> bool:
    """Whether every part of a run of words has a letter, a number or a symbol such as £."""
    return all(
        any(unicodedata.category(sign)[0] in "LNS" for sign in part) for part in str(word).split()
    )


def _outline(word: Any, font: Any) -> Any:
    """The outlines of a word's letters, of size one, starting at the origin."""
    from matplotlib.textpath import TextPath

    text = " ".join(str(word).split())
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    # A dollar sign after a backslash starts no formula.
    return TextPath((0, 0), text.replace("$", r"\$") or " ", size=1, prop=font)


def _boxes(outline: Any) -> np.ndarray:
    """Left, bottom, right and top of what a word takes up: each letter, and a band through all.

    Short letters leave room above them for a smaller word; the band keeps others from standing
    between two letters.
    """
    polygons = outline.to_polygons()
    if not polygons:
        return np.zeros((0, 4))
    boxes = np.array([[*p.min(axis=0), *p.max(axis=0)] for p in polygons])
    left, right = boxes[:, 0].min(), boxes[:, 2].max()
    low, high = np.median(boxes[:, 1]), np.median(boxes[:, 3])
    return np.vstack([boxes, [left, low, right, high]])


def _middles(codes: np.ndarray, areas: np.ndarray, columns: int) -> np.ndarray:
    """Where the words of each class gather: two side by side, more of them round an ellipse."""
    middle = np.array([columns / 2, ROWS / 2])
    shown, rank = np.unique(codes, return_inverse=True)
    if len(shown) < 2:
        return np.tile(middle, (len(codes), 1))
    if len(shown) == 2:  # each has a part of the width that goes by its area
        share = areas[rank == 0].sum() / areas.sum()
        return np.array([[columns * share / 2, middle[1]], [columns * (1 + share) / 2, middle[1]]])[
            rank
        ]
    angle = np.pi - 2 * np.pi * np.arange(len(shown)) / len(shown)
    away = np.column_stack([np.cos(angle), np.sin(angle)]) * middle * 0.5
    around: np.ndarray = middle + away[rank]
    return around


def _areas(boxes: list[np.ndarray], heights: np.ndarray) -> np.ndarray:
    """Area of each word with the room around it, at a size of one."""
    sides = [np.ptp(b.reshape(-1, 2, 2), axis=(0, 1)) + GAP if len(b) else 0 * GAP for b in boxes]
    areas: np.ndarray = heights**2 * np.array([float(np.prod(side)) for side in sides])
    return areas


def _arrange(
    boxes: list[np.ndarray], heights: np.ndarray, codes: np.ndarray, columns: int
) -> tuple[np.ndarray, float]:
    """Origin of each word, and the size of the largest: the first size at which all find a place.

    A word that cannot be placed even when all are small is left out (NaN).
    """
    areas = _areas(boxes, heights)
    taken = areas.sum()
    size = min(np.sqrt(COVERED * columns * ROWS / taken), 0.5 * ROWS) if taken > 0 else 1.0
    middles = _middles(codes, areas, columns)
    for _ in range(40):
        corners = _place(boxes, size * heights, middles, columns)
        if not np.isnan(corners).any():
            break
        size *= 0.94
    return corners, size


def _place(
    boxes: list[np.ndarray], sizes: np.ndarray, middles: np.ndarray, columns: int
) -> np.ndarray:
    """Origins of words of the given sizes, heaviest first; NaN for one without a free place."""
    occupied = np.zeros((ROWS, columns), bool)
    y, x = np.mgrid[:ROWS, :columns]
    corners = np.full((len(boxes), 2), np.nan)
    for i in np.argsort(-sizes, kind="stable"):
        if len(boxes[i]) == 0:
            continue
        box = sizes[i] * (boxes[i] + np.concatenate([-0.5 * GAP, 0.5 * GAP]))
        cells = np.column_stack([np.floor(box[:, :2]), np.ceil(box[:, 2:])]).astype(int)
        low = cells[:, :2].min(axis=0)
        width, height = cells[:, 2:].max(axis=0) - low
        cells -= np.tile(low, 2)
        free = _free(occupied, cells, width, height)
        if not free.any():
            continue
        # Wider than high, as the canvas is.
        far = (x + width / 2 - middles[i, 0]) ** 2 / columns**2
        far = far + (y + height / 2 - middles[i, 1]) ** 2 / ROWS**2
        # The middle of the whole pulls a little too, so that no gap is left between the classes.
        far = far + 0.2 * ((x + width / 2) / columns - 0.5) ** 2
        far = far + 0.2 * ((y + height / 2) / ROWS - 0.5) ** 2
        nearest = np.where(free, far[: free.shape[0], : free.shape[1]], np.inf).argmin()
        row, column = np.unravel_index(nearest, free.shape)
        for left, bottom, right, top in cells:
            occupied[row + bottom : row + top, column + left : column + right] = True
        corners[i] = np.array([column, row]) - low
    return corners


def _free(occupied: np.ndarray, cells: np.ndarray, width: int, height: int) -> np.ndarray:
    """Whether a word fits with its lower left cell at each cell of the grid."""
    rows, columns = occupied.shape
    if width > columns or height > rows:
        return np.zeros((1, 1), bool)
    total = np.zeros((rows + 1, columns + 1), np.int32)
    total[1:, 1:] = occupied.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)
    shape = rows - height + 1, columns - width + 1
    covered = np.zeros(shape, np.int32)

    def corner(row: int, column: int) -> np.ndarray:
        return total[row : row + shape[0], column : column + shape[1]]

    for left, bottom, right, top in cells:
        covered += corner(top, right) - corner(bottom, right)
        covered -= corner(top, left) - corner(bottom, left)
    return covered == 0
