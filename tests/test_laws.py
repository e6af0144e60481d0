"""Every density obeys every law, and every law catches a density that breaks it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from densities import DENSITIES, FIRST, Listed

from bayesrule import BayesClassifier, hard_data, recipes, testing
from bayesrule.density import Density, LogDensity
from bayesrule.gaussian import Gaussian
from bayesrule.hard_data import HARD
from bayesrule.memberships import Memberships
from bayesrule.stats import Moments
from bayesrule.tables import Table
from bayesrule.testing import LAWS, Case, check_density, toy_rows


def _laws_and_densities() -> Iterator[Any]:
    """Every law for every density; hard inputs by default for the first of each kind."""
    for law, listed in product(LAWS, DENSITIES):
        long = law in HARD and listed.name not in FIRST
        marks = [pytest.mark.slow] if long else []
        yield pytest.param(law, listed, id=f"{law.__name__}-{listed.name}", marks=marks)


@pytest.mark.parametrize(("law", "listed"), list(_laws_and_densities()))
def test_law(law: Callable[[Case], None], listed: Listed) -> None:
    check_density(listed.density, laws=[law], **listed.claims)


def _recipes() -> dict[str, BayesClassifier]:
    """Every recipe, as it is and otherwise."""
    named = {
        name: make
        for name, make in vars(recipes).items()
        if not name.startswith("_") and getattr(make, "__module__", "") == recipes.__name__
    }
    other: dict[str, dict[str, Any]] = {
        "lda": {"shrinkage": "auto"},
        "qda": {"shrinkage": 0.5},
        "femda": {"tied": True},
        "t_qda": {"dof": 3.0},
        "spdbc": {"n_profiles": 5, "fuzziness": 2.0},
        "dbc": {"n_profiles": 5},
        "quantized": {"max_cells": 50},
        "parzen": {"bandwidth": 1.5},
        "kernel_bayes": {"kernel": "laplace"},
        "knn": {"k": 3},
    }
    plain = {name: make() for name, make in named.items() if name != "text_bayes"}
    return plain | {f"{name}-other": named[name](**settings) for name, settings in other.items()}


@pytest.mark.slow
@pytest.mark.parametrize("law", HARD, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", _recipes())
def test_recipes_take_hard_data(name: str, law: Callable[[Case], None]) -> None:
    check_density(
        _recipes()[name].density or Gaussian(), laws=[law], equivariant=(), tolerance=1e-6
    )


# ---------------------------------------------------------------------- broken densities

Change = Callable[[np.ndarray, Table], np.ndarray]


@dataclass(frozen=True)
class Changed(LogDensity):
    """Log-densities of another density after a change."""

    inner: LogDensity
    change: Change

    def __call__(self, table: Table) -> np.ndarray:
        return self.change(self.inner(table), table)


class Broken(Density):
    """A diagonal Gaussian with one thing wrong: how it counts, settles or answers."""

    accept_missing = True

    def __init__(self, counting: Any = None, settling: Any = None, answering: Any = None):
        self.counting = counting
        self.settling = settling
        self.answering = answering

    def tally(self, table: Table, memberships: Memberships) -> Any:
        count = _tally if self.counting is None else self.counting
        return count(table, memberships)

    def settle(self, stats: Any) -> LogDensity:
        if self.settling is not None:
            stats = self.settling(stats)
        settled = Gaussian("diag").settle(stats)
        return settled if self.answering is None else Changed(settled, self.answering)


def _tally(table: Table, memberships: Memberships) -> Moments:
    stats = Gaussian("diag").tally(table, memberships)
    assert isinstance(stats, Moments)
    return stats


def _smoothed_tally(table: Table, memberships: Memberships) -> Moments:
    stats = _tally(table, memberships)
    return replace(stats, second=stats.second + 0.1 * stats.weight.max())


def _shared_tally(table: Table, memberships: Memberships) -> Moments:
    """Counts to a total of ten, however many rows there are."""
    stats = _tally(table, memberships)
    share = 10.0 / stats.weight.sum()
    return replace(stats, weight=stats.weight * share, second=stats.second * share)


def _unweighted_tally(table: Table, memberships: Memberships) -> Moments:
    return _tally(table, replace(memberships, weights=None))


def _doubtful_tally(table: Table, memberships: Memberships) -> Moments:
    """Believes soft labels only in part."""
    if memberships.degrees is not None:
        memberships = replace(memberships, degrees=0.9 * memberships.degrees + 0.1 / 3)
    return _tally(table, memberships)


def _power_sums_tally(table: Table, memberships: Memberships) -> Moments:
    """The sum of squares less the square of the sum, the way that loses all digits."""
    assert table.numbers is not None
    stats = _tally(table, memberships)
    rows, codes, weights = memberships.entries()
    values = table.numbers[rows].astype(np.float32)
    total = np.zeros((memberships.n_classes, table.n_columns), np.float32)
    squares = np.zeros_like(total)
    np.add.at(total, codes, weights[:, None].astype(np.float32) * values)
    np.add.at(squares, codes, weights[:, None].astype(np.float32) * values**2)
    second = np.maximum(squares - total**2 / np.maximum(stats.weight, 1), 0.1)
    return replace(stats, second=second.astype(float))


def _named_tally(table: Table, memberships: Memberships) -> Moments:
    """What the classes are called takes part."""
    stats = _tally(table, memberships)
    length = np.array([len(str(label)) for label in memberships.classes])
    return replace(stats, second=stats.second * (1 + 0.1 * length[:, None]))


def _greedy_tally(table: Table, memberships: Memberships) -> Moments:
    """Writes into the user's rows."""
    assert table.numbers is not None
    base = table.numbers if table.numbers.base is None else table.numbers.base
    base.setflags(write=True)
    table.numbers[0, 0] += 1.0
    return _tally(table, memberships)


def _ridged(stats: Moments) -> Moments:
    return replace(stats, second=stats.second + 0.01 * stats.weight)


def _ordered(stats: Moments) -> Moments:
    factor = 1.0 + np.arange(len(stats.weight))[:, None] / 10
    return replace(stats, second=stats.second * factor)


def _borrowed(stats: Moments) -> Moments:
    """Empty classes look like the others."""
    empty = stats.weight == 0
    return replace(
        stats,
        weight=np.where(empty, 5.0, stats.weight),
        mean=np.where(empty, stats.mean[~empty.any(axis=1)].mean(axis=0), stats.mean),
        second=np.where(empty, stats.second.max(), stats.second),
    )


def _heavier(values: np.ndarray, table: Table) -> np.ndarray:
    return values + 0.01


def _centred_on_block(values: np.ndarray, table: Table) -> np.ndarray:
    assert table.numbers is not None
    return values + np.arange(values.shape[1]) * table.numbers[:, :1].mean()


def _by_thread(values: np.ndarray, table: Table) -> np.ndarray:
    pooled = threading.current_thread() is not threading.main_thread()
    return values * (1.0 + 1e-15 * pooled)


def _zero_for_missing(values: np.ndarray, table: Table) -> np.ndarray:
    """Halves the density wherever something is missing."""
    assert table.numbers is not None
    return values - np.log(2.0) * np.isnan(table.numbers).any(axis=1)[:, None]


def _nan_where_flat(values: np.ndarray, table: Table) -> np.ndarray:
    assert table.numbers is not None
    flat = (table.numbers == table.numbers[0]).all(axis=0).any()
    return values * np.nan if flat else values


class Forgetful(Broken):
    """Answers otherwise once it was pickled."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.settling = _ridged


class Claiming(Broken):
    """Refuses missing values while its tags say that it takes them."""

    def read(self, X: Any, estimator: Any) -> Table:
        return Gaussian(missing="raise").read(X, estimator)


class Secretive(Broken):
    """Names no column where it refuses a missing value."""

    accept_missing = False

    def read(self, X: Any, estimator: Any) -> Table:
        if np.isnan(np.asarray(X, float)).any():
            raise ValueError("Input X contains NaN, as one would.")
        return super().read(X, estimator)


class Lax(Broken):
    """Reads whatever it is given, and says nothing of what it cannot read."""

    def read(self, X: Any, estimator: Any) -> Table:
        values = np.asarray(getattr(X, "to_numpy", lambda: X)(), float)
        if values.ndim != 2 or (hasattr(self, "width_") and values.shape[1] != self.width_):
            raise ValueError("this is not the sort of thing")
        self.width_ = values.shape[1]
        small = getattr(getattr(X, "dtype", None), "itemsize", 8) < 2
        return Table(values**3 if small or hasattr(X, "columns") else values)


def _shy_of_weights(table: Table, memberships: Memberships) -> Moments:
    if memberships.weights is not None and memberships.weights.max() > 1e12:
        raise ValueError("I would rather not do this one.")
    return _tally(table, memberships)


def _nan_where_far(values: np.ndarray, table: Table) -> np.ndarray:
    assert table.numbers is not None
    return values * np.where(np.abs(table.numbers).max() > 1e90, np.nan, 1.0)


def _nan_where_missing(values: np.ndarray, table: Table) -> np.ndarray:
    assert table.numbers is not None
    return values * np.where(np.isnan(table.numbers[-1]).any(), np.nan, 1.0)


def _nan_where_wide(values: np.ndarray, table: Table) -> np.ndarray:
    return values * (np.nan if table.n_columns > 9 else 1.0)


def _absolute(stats: Moments) -> Moments:
    """Variances in the user's units squared have a floor."""
    return replace(stats, second=np.maximum(stats.second, 1e-30 * stats.weight))


class Modest(Broken):
    """Makes no claim to be normalised, so log p(x) must be hidden."""

    normalised = False


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        (testing.parts_add_up, Broken(counting=_smoothed_tally)),
        (testing.parts_add_up, Broken(counting=_shared_tally)),
        (testing.models_merge, Broken(counting=_shared_tally)),
        (testing.chunks_add_up, Broken(counting=_shared_tally)),
        (testing.weights_repeat_rows, Broken(counting=_unweighted_tally)),
        (testing.soft_labels_generalise, Broken(counting=_doubtful_tally)),
        (testing.classes_permute, Broken(settling=_ordered)),
        (testing.labels_are_names, Broken(counting=_named_tally)),
        (testing.blocks_agree, Broken(answering=_centred_on_block)),
        (testing.threads_agree, Broken(answering=_by_thread)),
        (testing.inputs_stay, Broken(counting=_greedy_tally)),
        (testing.mass_is_one, Broken(answering=_heavier)),
        (testing.shifts_do_no_harm, Broken(counting=_power_sums_tally)),
        (testing.scales_do_no_harm, Broken(settling=_ridged)),
        (testing.pickles_are_equal, Forgetful()),
        (testing.hard_data_are_answered, Broken(answering=_nan_where_flat)),
        (testing.empty_classes_stay_empty, Broken(settling=_borrowed)),
        (hard_data.nothing_is_refused, Lax()),
        (hard_data.infinities_are_refused, Lax()),
        (hard_data.gaps_are_taken_or_refused_anywhere, Broken(answering=_nan_where_missing)),
        (hard_data.weights_are_checked, Broken(counting=_shy_of_weights)),
        (hard_data.columns_are_told_by_name, Lax()),
        (hard_data.containers_agree, Lax()),
        (hard_data.numbers_of_any_type_agree, Lax()),
        (hard_data.extremes_are_right_or_refused, Broken(settling=_absolute)),
        (hard_data.far_rows_are_answered, Broken(answering=_nan_where_far)),
        (hard_data.shapes_are_answered, Broken(answering=_nan_where_wide)),
        (testing.missing_values_are_integrated, Broken(answering=_zero_for_missing)),
        (testing.missing_values_are_integrated, Claiming()),
        (testing.missing_values_are_integrated, Secretive()),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_law_catches_what_breaks_it(law: Callable[[Case], None], broken: Density) -> None:
    X, y = toy_rows()
    with pytest.raises((AssertionError, ValueError)) as caught:
        check_density(broken, X=X, y=y, laws=[law])
    assert any(law.__name__ in note for note in caught.value.__notes__)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_lets_a_right_density_pass(law: Callable[[Case], None]) -> None:
    check_density(Broken(), laws=[law], storable=False)
    check_density(Modest(), laws=[law], storable=False)
