"""The laws every density obeys, for the tests of this package and of anyone who writes a density.

``check_density(MyDensity())`` runs all of them and raises an ``AssertionError`` that names the law.
A law is a function of a :class:`Case`; adding one is a function and a line in :data:`LAWS`.
"""
# Longer than most files here: it is a list of laws, each a few lines that stand alone.

from __future__ import annotations

import importlib
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from sklearn.base import clone
from sklearn.utils import get_tags

from bayesrule.cases import (
    Case,
    assert_close,
    assert_same_bits,
    assert_valid,
    relative,
    require_that,
    settled_relative,
    toy_rows,
)
from bayesrule.classifier import BayesClassifier
from bayesrule.density import Density
from bayesrule.hard_data import HARD
from bayesrule.notices import BayesRuleWarning
from bayesrule.settling import log_densities


def check_density(
    density: Density,
    *,
    X: Any = None,
    y: Any = None,
    tolerance: float = 1e-9,
    equivariant: Sequence[str] = ("shift", "scale"),
    support: Any = None,
    storable: bool = True,
    smooth: bool = True,
    laws: Sequence[Callable[[Case], None]] | None = None,
) -> None:
    """Check that a density obeys the laws all densities share.

    Parameters
    ----------
    density : Density
        An unfitted density with its settings; it is not touched.
    X, y : rows and labels, default=None
        Data to try it on, where real numbers in three columns and three classes will not do.
        Give integer labels 0, 1, ..., with at least ten rows of each.
    tolerance : float
        How far answers may be apart that must be equal up to rounding. Raise it for what is
        fitted by an iteration that stops early.
    equivariant : sequence of "shift" and "scale"
        Which changes of all columns together leave the posteriors as they are.
    support : rows, default=None
        All values a row can take, for a density of finitely many; a density that claims to be
        normalised must sum to one over them. None integrates over one and two columns of X.
    storable : bool
        Whether ``bayesrule.save`` takes it; where not, it must refuse and leave no file.
    smooth : bool
        Whether the density is free of jumps, near which sums over a grid are inexact.
    laws : sequence of functions, default=None
        Laws to check; None is all of :data:`LAWS`.

    Examples
    --------
    >>> from bayesrule import Gaussian
    >>> from bayesrule.testing import check_density
    >>> check_density(Gaussian("tied"))
    """
    if X is None:
        X, y = toy_rows()
    changes = tuple(equivariant)
    case = Case(density, X, np.asarray(y), tolerance, changes, support, storable, smooth)
    for law in LAWS if laws is None else laws:
        with warnings.catch_warnings():
            # Few rows and singular scatters are what some of the laws are about.
            warnings.simplefilter("ignore", BayesRuleWarning)
            try:
                law(case)
            except Exception as error:
                summary = (law.__doc__ or "").split("\n")[0]
                error.add_note(f"The law {law.__name__} failed for {density}: {summary}")
                raise


# ---------------------------------------------------------------------- laws of adding up


def parts_add_up(case: Case) -> None:
    """Counting parts and adding them, in any order and grouping, is counting all rows."""
    prepared, table, memberships = case.counted()
    whole = settled_relative(prepared, prepared.tally(table, memberships), table)
    a, b, c, d = (prepared.tally(table.take(p), memberships.take(p)) for p in case.parts())
    for what, stats in {
        "left to right": ((a + b) + c) + d,
        "right to left": d + (c + (b + a)),
        "in pairs": (c + a) + (d + b),
    }.items():
        assert_close(
            settled_relative(prepared, stats, table), whole, case.tolerance, f"parts added {what}"
        )


def models_merge(case: Case) -> None:
    """Merging models of the parts is fitting all rows, and touches neither part."""
    if not case.learns_nothing:
        return
    whole = case.fit().log_density(case.X)
    # The parts were fitted on the classes they happen to have.
    a, b, c, d = (case.fit(*case.rows(places)) for places in case.parts())
    before = pickle.dumps((a, d))
    for merged in (a.merge(b).merge(c).merge(d), d.merge(c.merge(b.merge(a)))):
        assert_close(merged.log_density(case.X), whole, case.tolerance, "merged models")
        assert_close(
            merged.class_count_, np.unique(case.y, return_counts=True)[1], 0.0, "class_count_"
        )
    require_that(pickle.dumps((a, d)) == before, "merge changed one of its parts")


def chunks_add_up(case: Case) -> None:
    """Fitting in chunks is fitting all rows, given what the first chunk prepared."""
    parts = case.parts()
    # The first chunk is a fair sample, as a density that learns from it may ask.
    first = np.sort(np.concatenate([part[::2] for part in parts]))
    rest = [np.setdiff1d(part, first) for part in parts]
    clf = BayesClassifier(clone(case.density))
    for places in [first, *rest]:
        clf.partial_fit(*case.rows(places))
    if case.learns_nothing:
        expected = case.fit().log_density(case.X)
    else:
        _, table, memberships = case.counted()
        prepared = clf.density_
        expected = log_densities(prepared.settle(prepared.tally(table, memberships)), table)
    assert_close(
        relative(clf.log_density(case.X)), relative(expected), case.tolerance, "fitted in chunks"
    )


def weights_repeat_rows(case: Case) -> None:
    """A weight of 3 is the row three times, a weight of 0 its absence, also in ``fit``."""
    weights = np.tile([1, 3, 0, 1, 2], len(case.y))[: len(case.y)]
    repeated = np.repeat(np.arange(len(case.y)), weights)
    prepared, table, memberships = case.counted()
    weighted = replace(memberships, weights=weights.astype(float))
    present = np.flatnonzero(weights)
    by_weight = prepared.tally(table.take(present), weighted.take(present))
    by_hand = prepared.tally(table.take(repeated), memberships.take(repeated))
    assert_close(
        settled_relative(prepared, by_weight, table),
        settled_relative(prepared, by_hand, table),
        case.tolerance,
        "weighted rows against repeated rows",
    )
    if case.learns_nothing:
        fitted = case.fit(sample_weight=weights)
        by_hand = case.fit(*case.rows(repeated))
        assert_close(
            fitted.predict_proba(case.X),
            by_hand.predict_proba(case.X),
            case.tolerance,
            "fit with weights against fit with repeated rows",
        )


def soft_labels_generalise(case: Case) -> None:
    """Soft labels of zeros and ones are hard labels."""
    one_hot = np.eye(int(case.y.max()) + 1)[case.y]
    try:
        soft = case.fit(y=one_hot)
    except TypeError as error:
        require_that(
            "sample_weight" in str(error), f"soft labels were refused without a reason: {error}"
        )
        return
    hard = case.fit()
    assert_close(
        soft.predict_proba(case.X), hard.predict_proba(case.X), case.tolerance, "soft labels"
    )


# ---------------------------------------------------------------------- laws of labels and rows


def classes_permute(case: Case) -> None:
    """Naming the classes in another order permutes the columns of the answer."""
    names = np.array([2, 0, 1, *range(3, int(case.y.max()) + 1)])
    plain, renamed = case.fit(), case.fit(y=names[case.y])
    assert_close(
        relative(renamed.log_density(case.X))[:, names],
        relative(plain.log_density(case.X)),
        case.tolerance,
        "classes in another order",
    )


def labels_are_names(case: Case) -> None:
    """Names in the same order change nothing, and decisions are given in their own dtype."""
    plain = case.fit()
    n_classes = int(case.y.max()) + 1
    for names in (
        np.array([f"class {k:03}" for k in range(n_classes)]),
        np.arange(n_classes) - 7.0,
    ):
        renamed = case.fit(y=names[case.y])
        assert_same_bits(renamed.log_density(case.X), plain.log_density(case.X), "labels renamed")
        decided = renamed.predict(case.X)
        assert_same_bits(decided, names[plain.predict(case.X)], "decisions renamed")
        require_that(
            decided.dtype == names.dtype, f"{names.dtype} labels came back as {decided.dtype}"
        )


def blocks_agree(case: Case) -> None:
    """Deciding on blocks of rows is deciding on all of them."""
    clf = case.fit()
    whole, decided = clf.predict_proba(case.X), clf.predict(case.X)
    for start, stop in ((0, 1), (1, 8), (8, 40), (40, len(case.y))):
        X, _ = case.rows(np.arange(start, stop))
        assert_close(
            clf.predict_proba(X), whole[start:stop], 1e-10, f"posteriors {start} to {stop}"
        )
        assert_same_bits(
            clf.predict(X), decided[start:stop], f"decisions on rows {start} to {stop}"
        )


def threads_agree(case: Case) -> None:
    """Any number of threads gives the same bits, in counting and in deciding."""
    prepared, table, memberships = case.counted()
    # Four of the largest blocks, the least that a pool is used for.
    many = np.resize(np.arange(len(case.y)), 3 * 65_536 + 1)
    table, memberships = table.take(many), memberships.take(many)
    answers: list[Any] = []
    for threads in ("1", "4"):
        with _environment(BAYESRULE_NUM_THREADS=threads):
            log_density = prepared.settle(prepared.tally(table, memberships))
            answers.append(log_densities(log_density, table))
    assert_same_bits(answers[0], answers[1], "one thread against four")


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def inputs_stay(case: Case) -> None:
    """Neither data nor settings are changed by fitting and deciding."""
    X, y, weights = deepcopy(case.X), case.y.copy(), np.ones(len(case.y))
    settings = repr(case.density)
    if case.numeric:
        X.setflags(write=False)
    y.setflags(write=False)
    weights.setflags(write=False)
    clf = BayesClassifier(case.density).fit(X, y, weights)
    clf.predict(X)
    if case.numeric:
        assert_same_bits(X, case.X, "X")
    require_that(repr(case.density) == settings, "fitting changed the settings of the density")
    again = BayesClassifier(clone(case.density)).fit(X, y, weights)
    assert_same_bits(again.log_density(X), clf.log_density(X), "fitted twice")


# ---------------------------------------------------------------------- laws of probability


def posteriors_follow_bayes(case: Case) -> None:
    """Posteriors are priors times densities, normalised, under any priors."""
    clf = case.fit()
    log_density = clf.log_density(case.X)
    rng = np.random.default_rng(0)
    for priors in (clf.priors_, rng.dirichlet(np.ones(len(clf.classes_)))):
        joint = priors * np.exp(log_density - log_density.max(axis=1, keepdims=True))
        other = clf.with_rule(priors=priors)
        expected = joint / joint.sum(axis=1, keepdims=True)
        assert_close(assert_valid(other, case.X, "posteriors"), expected, 1e-9, "Bayes' rule")
        assert_close(np.exp(other.predict_log_proba(case.X)), expected, 1e-9, "predict_log_proba")


def mass_is_one(case: Case) -> None:
    """A density that claims to be normalised integrates, or sums, to one; others make no claim."""
    if not case.density.normalised:
        require_that(
            not hasattr(case.fit(), "log_marginal"), "log p(x) of a density not normalised"
        )
        return
    if case.support is not None:
        clf = case.fit()
        assert_close(
            np.exp(clf.log_density(case.support)).sum(axis=0), 1.0, 1e-9, "sum over the support"
        )
        return
    if not case.numeric:
        return
    for n_columns, n_points, tolerance in ((1, 100_001, 1e-5), (2, 801, 1e-3)):
        # The midpoint rule errs by half a step for each jump.
        tolerance = tolerance if case.smooth else 10.0 * tolerance
        X = case.X[:, :n_columns]
        clf = case.fit(X)
        grid, volume = _grid(X, n_points, case.positive)
        mass = np.exp(clf.log_density(grid)).T @ volume
        assert_close(mass, 1.0, tolerance, f"integral over {n_columns} columns")
        assert_close(
            np.exp(clf.log_marginal(grid)) @ volume, 1.0, tolerance, "integral of log_marginal"
        )


def _axis(values: np.ndarray, n_points: int, positive: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points over the whole line, dense where the values are, and the length of line of each.

    Quantiles of a Cauchy law reach into heavy tails; the midpoint rule takes jumps in its stride.
    Over positive numbers they are exponentiated, so that they also reach into a peak at zero.
    """
    centre, scale = (np.log(values), 1.0) if positive else (values, values.std())
    angle = np.pi * ((np.arange(n_points) + 0.5) / n_points - 0.5)
    points = centre.mean() + scale * np.tan(angle)
    length = scale * np.pi / n_points / np.cos(angle) ** 2
    if positive:
        points = np.exp(np.clip(points, -300.0, 300.0))
        length = length * points
    return points, length


def _grid(X: np.ndarray, n_points: int, positive: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points of the space of X and the volume of each."""
    axes = [_axis(column, n_points, positive) for column in X.T]
    points = np.meshgrid(*(points for points, _ in axes), indexing="ij")
    volume = np.prod(np.meshgrid(*(lengths for _, lengths in axes), indexing="ij"), axis=0)
    return np.column_stack([axis.ravel() for axis in points]), volume.ravel()


def shifts_do_no_harm(case: Case) -> None:
    """A shift of all columns by a million leaves the posteriors as they are."""
    if "shift" not in case.equivariant:
        return
    # The shifted numbers themselves are rounded to 1e-10; a smooth answer moves by little more.
    plain = case.fit().predict_proba(case.X)
    shifted = case.fit(case.X + 1e6).predict_proba(case.X + 1e6)
    assert_close(shifted, plain, max(1e-7, case.tolerance), "shifted by 1e6")


def scales_do_no_harm(case: Case) -> None:
    """A change of the unit of all columns by a million leaves the posteriors as they are."""
    if "scale" not in case.equivariant:
        return
    plain = case.fit().predict_proba(case.X)
    for scale in (1e6, 1e-6):
        scaled = case.fit(case.X * scale).predict_proba(case.X * scale)
        assert_close(scaled, plain, max(1e-9, case.tolerance), f"scaled by {scale:g}")


# ---------------------------------------------------------------------- laws of keeping


def pickles_are_equal(case: Case) -> None:
    """A pickled model answers with the same bits, and can be fitted on."""
    clf = case.fit()
    copy = pickle.loads(pickle.dumps(clf))
    assert_same_bits(copy.predict_proba(case.X), clf.predict_proba(case.X), "pickled")
    assert_same_bits(copy.predict(case.X), clf.predict(case.X), "pickled")
    for model in (clf, copy):
        model.partial_fit(*case.rows(np.arange(10)))
    assert_same_bits(
        copy.predict_proba(case.X), clf.predict_proba(case.X), "pickled, then fitted on"
    )


def files_are_equal(case: Case) -> None:
    """A stored model answers with the same bits; what cannot be stored leaves no file."""
    store = importlib.import_module("bayesrule.store")
    clf = case.fit()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayes"
        if not case.storable:
            try:
                store.save(clf, path)
            except (TypeError, ValueError):
                require_that(not list(Path(folder).iterdir()), "a refused model left a file")
                return
            raise AssertionError("a model that cannot be stored was stored")
        store.save(clf, path)
        copy = store.load(path)
    assert_same_bits(copy.predict_proba(case.X), clf.predict_proba(case.X), "stored")
    for model in (clf, copy):
        model.partial_fit(*case.rows(np.arange(10)))
    assert_same_bits(
        copy.predict_proba(case.X), clf.predict_proba(case.X), "stored, then fitted on"
    )


# ---------------------------------------------------------------------- hard data


def hard_data_are_answered(case: Case) -> None:
    """One class, one row, few rows, equal rows: a right answer, or an error that says why."""
    n = len(case.y)
    one_class, lone = np.zeros(n, int), np.zeros(n, int)
    lone[0] = 1
    single = _try(case, "one class", case.X, one_class)
    if single is not None:
        assert_close(single.predict_proba(case.X), 1.0, 0.0, "one class has all the probability")
    _try(case, "one row", *case.rows([0]))
    _try(case, "one row in each class", *case.rows(np.unique(case.y, return_index=True)[1]))
    _try(case, "a class of one row", case.X, lone)
    _try(case, "the same row everywhere", case.rows(np.zeros(n, int))[0], case.y)
    if case.numeric:
        constant = np.column_stack([case.X, np.full(n, 0.1)])
        _try(case, "a constant column", constant, case.y)
        _try(case, "two equal columns", np.column_stack([case.X, case.X[:, 0]]), case.y)


def _try(case: Case, what: str, X: Any, y: np.ndarray) -> BayesClassifier | None:
    """Fit and decide; None where fitting was refused with a message."""
    try:
        clf = case.fit(X, y)
    except ValueError as error:
        require_that(len(str(error)) > 20, f"{what}: the error says too little: {error}")
        return None
    assert_valid(clf, X, what)
    return clf


def empty_classes_stay_empty(case: Case) -> None:
    """A class that was announced and never seen is never decided, and changes no other."""
    last = int(case.y.max())
    clf = BayesClassifier(clone(case.density)).partial_fit(
        case.X, case.y, classes=[-1, *range(last + 1), last + 1]
    )
    assert_close(
        assert_valid(clf, case.X, "an empty class"),
        np.pad(case.fit().predict_proba(case.X), ((0, 0), (1, 1))),
        case.tolerance,
        "an empty class",
    )
    uniform = clf.with_rule(priors="uniform")
    assert_close(uniform.predict_proba(case.X)[:, [0, -1]], 0.0, 0.0, "an empty class with a prior")


def missing_values_are_integrated(case: Case) -> None:
    """A missing value is integrated over, or refused by an error that names its column."""
    if not case.numeric:
        return
    gaps = case.X.copy()
    gaps[3, 1] = np.nan
    clf = case.fit(_named(case.X))
    accepted = get_tags(clf).input_tags.allow_nan
    answers: list[Any] = []
    for use in (clf.predict_proba, case.fit):
        try:
            answers.append(use(_named(gaps)))
        except ValueError as error:
            # A density that leaves reading X to others lets them say it in their words.
            named = "column_1" in str(error) or clf.density_.read(case.X, clf).raw is not None
            require_that("NaN" in str(error), f"the error does not speak of NaN: {error}")
            require_that(named, f"the error names no column: {error}")
            require_that(not accepted or answers, f"a missing value was refused: {error}")
    require_that(
        accepted or not answers, "a missing value was accepted though the tags say it is not"
    )
    if not accepted:
        return
    assert_valid(clf, _named(np.full_like(case.X, np.nan)), "all values missing")
    if len(answers) == 2:
        assert_valid(answers[1], _named(gaps), "fitted with a missing value")
    if case.density.normalised:
        plane = case.fit(case.X[:, :2])
        if case.support is None:
            points, lengths = _axis(case.X[:, 1], 20_001, case.positive)
        else:
            points = np.unique(np.asarray(case.support)[:, 1])
            lengths = np.ones(len(points))
        for x in case.X[:3, 0]:
            filled = np.column_stack([np.full(len(points), x), points])
            expected = np.exp(plane.log_density(filled)).T @ lengths
            got = np.exp(plane.log_density(np.array([[x, np.nan]])))[0]
            tolerance = 1e-6 if case.smooth else 1e-3
            assert_close(got, expected, tolerance, "a missing value against the integral over it")


def _named(X: np.ndarray) -> Any:
    """The array as a table whose columns are named by their places."""
    return pyarrow.table({f"column_{j}": column for j, column in enumerate(X.T)})


#: All laws; a new one is a function above and a name here.
LAWS: tuple[Callable[[Case], None], ...] = (
    parts_add_up,
    models_merge,
    chunks_add_up,
    weights_repeat_rows,
    soft_labels_generalise,
    classes_permute,
    labels_are_names,
    blocks_agree,
    threads_agree,
    inputs_stay,
    posteriors_follow_bayes,
    mass_is_one,
    shifts_do_no_harm,
    scales_do_no_harm,
    pickles_are_equal,
    files_are_equal,
    hard_data_are_answered,
    empty_classes_stay_empty,
    missing_values_are_integrated,
    *HARD,
)
