"""From the settings of cells to boundaries: checks, given and equal ones, and the search."""
# Longer than most files here: each way to find boundaries is a few lines beside the others.

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from bayesrule.boundaries import (
    checked_boundaries,
    entropy,
    equal_probability_boundaries,
    levels_by_entropy,
    uniform_boundaries,
)
from bayesrule.boundary_search import Rows, Score
from bayesrule.density import Density, Rule
from bayesrule.keys import row_keys
from bayesrule.memberships import Memberships
from bayesrule.notices import NotConvergedWarning
from bayesrule.perturbing import perturbed_boundaries
from bayesrule.progress import progress
from bayesrule.searching import SAMPLE, Plan, optimal_boundaries
from bayesrule.stopwatch import Stopwatch
from bayesrule.tables import Table
from bayesrule.zooming import Features

#: Rows that boundaries without a search are taken from at most.
ENOUGH_ROWS = 2_000_000
#: Rows that are looked at in one call.
BLOCK = 1 << 16
SEARCHES = ("optimized", "paper")
WITHOUT_SEARCH = ("equal", "uniform")


def learned_boundaries(
    density: Density, table: Table, memberships: Memberships, rule: Rule
) -> tuple[tuple[np.ndarray, ...], tuple[bool, ...], Stopwatch]:
    """Boundaries of each feature, which features have gaps, and how the search went."""
    settings: Any = density
    _check(settings)
    assert table.numbers is not None
    gaps = _gaps(table)
    fixed = _categories(table)
    n_features = table.n_columns
    least = prod((1 if f is None else len(f) + 1) + gap for f, gap in zip(fixed, gaps, strict=True))
    _check_limit(settings, least, memberships, fixed, gaps)
    watch = Stopwatch(settings.time_limit)
    if not isinstance(settings.boundaries, str):
        given = checked_boundaries(settings.boundaries, n_features)
        cuts = tuple(g if f is None else f for g, f in zip(given, fixed, strict=True))
        _refuse_too_many(cuts, gaps, settings.max_cells)
        return cuts, gaps, watch
    levels = _levels(settings, table, memberships, fixed, gaps, least)
    if settings.boundaries in WITHOUT_SEARCH:
        assert levels is not None
        return _without_search(settings, table, memberships, fixed, levels), gaps, watch
    features = Features(tuple(f is None for f in fixed), gaps)
    start = _start(settings, fixed, gaps)
    supply = Supply(table, memberships, _halves(settings, table, memberships))
    score = Score.of(settings.objective, supply.totals(), rule, supply.halves is not None)
    with progress("Searching boundaries") as meter, stopped_by_interrupt(watch):
        watch.meter = meter
        if settings.boundaries == "paper":
            assert levels is not None
            start = start or _without_search(settings, table, memberships, fixed, levels)
            rows, seed = supply.rows(), settings.random_state
            found = perturbed_boundaries(rows, start, features, score, watch, seed)
        else:
            plan = Plan(features, settings.max_cells, levels, start, fixed)
            sample = supply.sample(settings.random_state)
            found = optimal_boundaries(
                supply, sample, plan, score, score.of_sample(supply.planes_of(sample)), watch
            )
        watch.meter = None
    if watch.stopped:
        warnings.warn(
            f"The search for boundaries was stopped after {watch.seconds:.1f} s, and the best so "
            "far are kept. Cells(warm_start=clf.density_) goes on from them.",
            NotConvergedWarning,
            stacklevel=2,
        )
    return tuple(found), gaps, watch


# ---------------------------------------------------------------------- settings


def _check(settings: Any) -> None:
    """Refuse settings that mean nothing, before any work."""
    for name in ("max_cells", "random_state"):
        value, low = getattr(settings, name), 1 if name == "max_cells" else 0
        if not _whole(value) or value < low:
            raise ValueError(f"Cells({name}={value!r}) must be a whole number, {low} or more.")
    settings.require("volumes", "true", "equal")
    settings.require("objective", "brier", "gain")
    settings.require("rounding", "floor", "ceil")
    if isinstance(settings.boundaries, str):
        settings.require("boundaries", *SEARCHES, *WITHOUT_SEARCH)
    if isinstance(settings.levels, str) or np.ndim(settings.levels) == 0:
        settings.require("levels", None, "entropy")
    k = settings.smoothing
    if not (_whole(k) and k >= 0) and not (isinstance(k, str) and k == "auto"):
        raise ValueError(f"Cells(smoothing={k!r}) must be 0, a number of rows, or 'auto'.")
    limit = settings.time_limit
    if limit is not None and not (_number(limit) and limit > 0):
        raise ValueError(f"Cells(time_limit={limit!r}) must be a number of seconds, or None.")
    fine = settings.fine_levels
    if fine is not None and not (_whole(fine) and fine >= 1):
        raise ValueError(f"Cells(fine_levels={fine!r}) must be a number of levels, or None.")


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return _whole(value) or isinstance(value, (float, np.floating))


def _check_limit(
    settings: Any,
    least: int,
    memberships: Memberships,
    fixed: Sequence[np.ndarray | None],
    gaps: tuple[bool, ...],
) -> None:
    """The limit must leave a cell for each class, each category and each gap."""
    n_classes = int(np.count_nonzero(memberships.totals()))
    if settings.max_cells < n_classes:
        raise ValueError(
            f"Cells(max_cells={settings.max_cells}) is less than the {n_classes} classes: each "
            f"needs a cell in which it can be decided. Give {n_classes} or more."
        )
    if settings.max_cells < least:
        parts = [
            f"feature {j} {('' if f is None else f'{len(f) + 1} categories')}"
            f"{' and ' if f is not None and gap else ''}{'missing values' if gap else ''}"
            for j, (f, gap) in enumerate(zip(fixed, gaps, strict=True))
            if f is not None or gap
        ]
        raise ValueError(
            f"Cells(max_cells={settings.max_cells}) is too small: categories and missing values "
            f"are cells as they are ({'; '.join(parts[:5])}), which makes {least} cells at least. "
            f"Give max_cells={least} or more, group categories, or leave columns out."
        )


def _refuse_too_many(
    cuts: Sequence[np.ndarray], gaps: tuple[bool, ...], limit: int, what: str = "boundaries"
) -> None:
    n_cells = prod(len(c) + 1 + gap for c, gap in zip(cuts, gaps, strict=True))
    if n_cells > limit:
        raise ValueError(
            f"The given {what} make {n_cells} cells, more than max_cells={limit}. Give fewer, or "
            f"max_cells={n_cells}."
        )


def _start(
    settings: Any, fixed: Sequence[np.ndarray | None], gaps: tuple[bool, ...]
) -> tuple[np.ndarray, ...] | None:
    """The boundaries of an earlier search."""
    before = settings.warm_start
    if before is None:
        return None
    before = getattr(before, "boundaries_", before)
    given = checked_boundaries(before, len(fixed))
    cuts = tuple(g if f is None else f for g, f in zip(given, fixed, strict=True))
    _refuse_too_many(cuts, gaps, settings.max_cells, "boundaries of warm_start")
    return cuts


# ---------------------------------------------------------------------- features and levels


def _gaps(table: Table) -> tuple[bool, ...]:
    """Which features have missing values."""
    assert table.numbers is not None
    if not table.missing:
        return (False,) * table.n_columns
    found = np.zeros(table.n_columns, bool)
    for start in range(0, len(table), BLOCK):
        found |= np.isnan(table.numbers[start : start + BLOCK]).any(axis=0)
    return tuple(bool(gap) for gap in found)


def _categories(table: Table) -> tuple[np.ndarray | None, ...]:
    """Boundaries between the ranks of categories; None for numbers."""
    if table.layout is None:
        return (None,) * table.n_columns
    return tuple(
        None if labels is None else np.arange(max(len(labels), 1) - 1) + 0.5
        for labels in table.layout.categories
    )


def _levels(
    settings: Any,
    table: Table,
    memberships: Memberships,
    fixed: Sequence[np.ndarray | None],
    gaps: tuple[bool, ...],
    least: int,
) -> tuple[int, ...] | None:
    """Numbers of levels, those for missing values aside; None lets the search tell."""
    if settings.levels is not None and not isinstance(settings.levels, str):
        given = list(settings.levels)
        whole = all(_whole(n) and n >= 1 for n in given)
        if len(given) != len(fixed) or not whole:
            raise ValueError(
                f"Cells(levels={settings.levels!r}) must be {len(fixed)} whole numbers from 1 up, "
                "one for each feature."
            )
        levels = tuple(
            int(n) if f is None else len(f) + 1 for n, f in zip(given, fixed, strict=True)
        )
        n_cells = prod(n + gap for n, gap in zip(levels, gaps, strict=True))
        if n_cells > settings.max_cells:
            raise ValueError(
                f"Cells(levels={settings.levels!r}) makes {n_cells} cells, more than "
                f"max_cells={settings.max_cells}."
            )
        return levels
    if settings.levels is None and settings.boundaries == "optimized":
        return None
    free = [j for j, f in enumerate(fixed) if f is None]
    rows, weights = _some_rows(settings, table, memberships)
    bits = [_entropy(rows[:, j], weights, settings.fine_levels) for j in free]
    taken = prod(len(f) + 1 + gap for f, gap in zip(fixed, gaps, strict=True) if f is not None)
    found = levels_by_entropy(bits, settings.max_cells / taken, rounding=settings.rounding)
    levels_of = dict(zip(free, found, strict=True))
    every = [levels_of.get(j, 0) or len(f) + 1 for j, f in enumerate(fixed)]  # type: ignore[arg-type]
    if settings.rounding == "floor":
        # Levels of missing values may need some of the room.
        while prod(n + gap for n, gap in zip(every, gaps, strict=True)) > settings.max_cells:
            every[max(free, key=lambda j: every[j])] -= 1
    return tuple(every)


def _entropy(values: np.ndarray, weights: np.ndarray, fine_levels: int | None) -> float:
    """Entropy of a feature after a fine quantisation into even levels."""
    there = ~np.isnan(values)
    known, mass = values[there].astype(np.float64), weights[there]
    if not len(known):
        return 0.0
    n_fine = max(1, len(values) // 10) if fine_levels is None else int(fine_levels)
    low, high = known.min(), known.max()
    width = (high - low) / n_fine
    if not width > 0:
        return 0.0
    place = np.minimum(((known - low) / width).astype(np.int64), n_fine - 1)
    return entropy(np.bincount(place, mass, n_fine))


def _some_rows(
    settings: Any, table: Table, memberships: Memberships
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and their weights: all, or as many as tell enough."""
    places = np.arange(len(table))
    if len(table) > ENOUGH_ROWS:
        rng = np.random.default_rng(settings.random_state)
        places = np.sort(rng.choice(len(table), ENOUGH_ROWS, replace=False))
    part = memberships if len(places) == len(table) else memberships.take(places)
    rows, _, weights = part.entries()
    mass = np.bincount(rows, weights, len(places))
    assert table.numbers is not None
    return table.numbers[places], mass


def _without_search(
    settings: Any,
    table: Table,
    memberships: Memberships,
    fixed: Sequence[np.ndarray | None],
    levels: tuple[int, ...],
) -> tuple[np.ndarray, ...]:
    """Boundaries of equal shares, or of equal widths."""
    rows, weights = _some_rows(settings, table, memberships)
    found = []
    for j, (given, n) in enumerate(zip(fixed, levels, strict=True)):
        values = rows[:, j].astype(np.float64)
        if given is not None:
            found.append(given)
        elif settings.boundaries != "uniform":
            found.append(equal_probability_boundaries(values, n, weights))
        elif np.isnan(values).all():
            found.append(np.empty(0))
        else:
            found.append(uniform_boundaries(np.nanmin(values), np.nanmax(values), n))
    return tuple(found)


# ---------------------------------------------------------------------- rows


@dataclass(frozen=True)
class Supply:
    """The rows of a fit, block by block, with the plane of each: its class, and its half."""

    table: Table
    memberships: Memberships
    halves: np.ndarray | None

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_planes(self) -> int:
        return self.memberships.n_classes * (1 if self.halves is None else 2)

    def block(self, start: int, stop: int) -> tuple[np.ndarray, ...]:
        """Values, and the row, plane and weight of each membership."""
        values = self.table.block(start, stop).numbers
        assert values is not None
        rows, codes, weights = self.memberships.entries(start, stop)
        if self.halves is not None:
            codes = codes + self.memberships.n_classes * self.halves[start:stop][rows]
        return values, rows, codes.astype(np.int32, copy=False), weights

    def totals(self) -> np.ndarray:
        """Weight of each plane."""
        if self.halves is None:
            return self.memberships.totals()
        rows, codes, weights = self.memberships.entries()
        planes = codes + self.memberships.n_classes * self.halves[rows]
        return np.bincount(planes, weights, self.n_planes)

    def planes_of(self, rows: Rows) -> np.ndarray:
        """Weight of each plane in some rows."""
        return np.bincount(rows.planes, rows.weights, self.n_planes)

    def sample(self, seed: int) -> Rows:
        """Some of the rows, or all."""
        if len(self) <= SAMPLE:
            return self.rows()
        rng = np.random.default_rng(seed)
        places = np.sort(rng.choice(len(self), SAMPLE, replace=False))
        halves = None if self.halves is None else self.halves[places]
        return Supply(self.table.take(places), self.memberships.take(places), halves).rows()

    def rows(self) -> Rows:
        """All rows at once, one for each membership."""
        values, rows, planes, weights = self.block(0, len(self))
        if len(rows) != len(values) or (np.diff(rows) != 1).any():
            values = values[rows]
        return Rows(values, planes, weights)


def _halves(settings: Any, table: Table, memberships: Memberships) -> np.ndarray | None:
    """Which part each row is in; None where each row is judged by all others."""
    given = settings.validation
    if given is None and settings.boundaries != "paper":
        return None
    given = 0.5 if given is None else given
    if _number(given):
        if not 0 < given < 1:
            raise ValueError(f"Cells(validation={given!r}) must be a share between 0 and 1.")
        halves = np.empty(len(table), np.int32)
        # Equal rows stay together, or one part would know the other.
        for start in range(0, len(table), BLOCK):
            keys = row_keys(table.block(start, start + BLOCK), settings.random_state)
            halves[start : start + BLOCK] = keys < given
        return halves
    places = np.asarray(given)
    if places.dtype == bool and places.shape == (len(table),):
        halves = places.astype(np.int32)
    elif places.ndim == 1 and places.dtype.kind in "iu" and len(places):
        if places.min() < 0 or places.max() >= len(table):
            raise ValueError(
                f"Cells(validation=...) names row {places.max()}, but there are {len(table)} rows "
                "with a weight above zero."
            )
        halves = np.zeros(len(table), np.int32)
        halves[places] = 1
    else:
        raise ValueError(
            "Cells(validation=...) must be None, a share of the rows, the places of some rows, or "
            f"a mask of {len(table)} booleans."
        )
    rows, codes, weights = memberships.entries()
    planes = codes + memberships.n_classes * halves[rows]
    totals = np.bincount(planes, weights, 2 * memberships.n_classes).reshape(2, -1)
    absent = (totals == 0).any(axis=0) & (totals > 0).any(axis=0)
    if absent.any():
        raise ValueError(
            f"The class {memberships.classes[absent].tolist()[0]!r} is only in one of the two "
            "parts that validation= makes of the rows. Give rows of every class to both."
        )
    return halves


@contextmanager
def stopped_by_interrupt(watch: Stopwatch) -> Iterator[None]:
    """Let the first Ctrl-C end the search with what it found; a second one interrupts."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(number: int, frame: Any) -> None:
        watch.stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
