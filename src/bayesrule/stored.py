"""What a model file holds of a classifier, and whether its parts agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesrule.density import Density, Rule, same_state
from bayesrule.gains import decision_classes
from bayesrule.known import KNOWN, Known, known_density, require_settings
from bayesrule.learned import Learned
from bayesrule.memberships import encode_labels
from bayesrule.minimax import MinimaxSolution
from bayesrule.priors import ShiftedSolution
from bayesrule.settling import Wanted
from bayesrule.soundness import check_distribution, require, require_floats
from bayesrule.tables import Table


@dataclass(frozen=True)
class Model:
    """All of a fitted classifier that a file holds.

    A density that is its own prepared density is there once: ``learned.prepared`` is None.
    """

    density: Any
    priors: Any
    gain: Any
    random_state: Any
    learned: Learned
    rule: Rule
    decisions: np.ndarray
    solution: Any
    randomised: bool
    n_features: int
    feature_names: np.ndarray | None
    columns: list[Any] | None = None


#: The types of a file, its top one among them.
STORED = {**KNOWN, "Model": Known(Model)}


def with_prepared(model: Model) -> Model:
    """The model with a density that is its own prepared density in both places."""
    learned = model.learned
    require(type(learned) is Learned, "it holds no statistics")
    if learned.prepared is not None:
        return model
    require(isinstance(learned.density, Density), "it has no density")
    return replace(model, learned=replace(learned, prepared=learned.density))


def check_model(model: Model) -> Table:
    """Raise where the parts of a model contradict each other; return a row it can be tried on."""
    learned, rule = model.learned, model.rule
    require(type(rule) is Rule, "it holds no rule")
    classes = learned.classes
    _check_labels(classes, "its classes")
    same = encode_labels(classes)[0]
    sorted_once = same.dtype == classes.dtype and np.array_equal(same, classes)
    require(sorted_once, "its classes are not sorted and distinct")
    n_classes = len(classes)
    require_floats(learned.class_count, "the class counts", n_classes, least=0.0)
    require(learned.class_count.sum() > 0, "its classes have no rows")
    require(type(learned.closed) is bool, "whether its classes are closed is not told")
    row = check_statistics(learned, model.n_features)
    check_distribution(rule.priors, "the priors", n_classes)
    require_floats(rule.gain, "the gain", n_classes, None)
    _check_labels(model.decisions, "its decisions")
    require(rule.gain.shape[1] == len(model.decisions), "its gain has other decisions")
    where = decision_classes(model.decisions, classes)
    kind = np.dtype(object) if (where < 0).any() else classes.dtype
    require(model.decisions.dtype == kind, "its decisions are of another dtype than its classes")
    require(len(set(model.decisions.tolist())) == len(where), "it has a decision twice")
    _check_solution(model)
    _check_settings(model)
    return row


def _check_labels(labels: Any, what: str) -> None:
    require(isinstance(labels, np.ndarray) and labels.ndim == 1, f"{what} are no list of labels")
    require(len(labels) > 0, f"{what} are none")
    if labels.dtype.kind == "O":
        require([label is not None for label in labels.tolist()], f"{what} have a gap")


def check_statistics(learned: Learned, n_features: int) -> Table:
    """Statistics must be of the density, the classes and the features of the model."""
    known = known_density(learned)
    row = learned.prepared.read(known.row(learned, n_features), None)
    require_settings(learned, row)
    known.counted(learned, row)
    n_classes = len(learned.classes)
    # Written for the classes that it already has, a statistic is what it was.
    again = learned.stats.spread(np.arange(n_classes), n_classes)
    require(same_state(again, learned.stats), "its statistics are of other classes")
    return row


def _check_solution(model: Model) -> None:
    """The solution, where there is one, must be that of the rule's priors."""
    solution = model.solution
    require(type(model.randomised) is bool, "whether its rule is randomised is not told")
    if model.randomised:
        require(type(solution) is MinimaxSolution, "its randomised rule has no mixture")
    if solution is not None:
        require(type(solution) in (MinimaxSolution, ShiftedSolution), "its priors have no solution")
        same = np.array_equal(solution.priors, model.rule.priors)
        require(same, "its rule has other priors than their solution")


def _check_settings(model: Model) -> None:
    """Settings must be such as ``fit`` would take for these classes."""
    require(model.density is None or isinstance(model.density, Density), "it has no density")
    seed = model.random_state
    require(isinstance(seed, (int, np.integer, type(None))), "its random_state is no whole number")
    wanted = Wanted(model.priors, model.gain, 0)
    wanted.before_counting(model.learned.class_count, model.learned.classes)
    names = model.feature_names
    if names is not None:
        require(isinstance(names, np.ndarray), "its feature names are no list")
        require(names.shape == (model.n_features,), "its features are not one for each name")
        require([isinstance(name, str) for name in names.tolist()], "a feature name is no text")
