"""What minimax priors buy: class risks of rules for several priors, side by side.

    R_k       =   expected loss of a rule given class k
    V(prior)  =   smallest expected loss of any rule under a prior  =  min over rules of prior @ R

A rule that is best for one prior loses prior @ R under another, a straight line above V; the
minimax rule's line touches V at its maximum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesrule import decide
from bayesrule.classifier import BayesClassifier
from bayesrule.gains import regret
from bayesrule.kernels.minimax import best_response
from bayesrule.memberships import places, read_target
from bayesrule.minimax import Minimax
from bayesrule.priors import given_priors
from bayesrule.settling import atoms_of
from bayesrule.summary import aligned, plain_values, text_names


@dataclass(frozen=True)
class PricedPriors:
    """One rule of a comparison.

    Attributes
    ----------
    name : str
    priors : ndarray of shape (K,)
        What the rule is best for.
    value : float
        Its expected loss under those priors, by the model: V(priors).
    model_risks : ndarray of shape (K,)
        Expected loss given each class, by the model.
    risks : ndarray of shape (K,)
        Mean loss on the rows of each class; NaN for a class without rows.
    """

    name: str
    priors: np.ndarray
    value: float
    model_risks: np.ndarray
    risks: np.ndarray

    @property
    def worst(self) -> float:
        """The largest mean loss of a class."""
        return float(np.nanmax(self.risks))


@dataclass(frozen=True, repr=False)
class PriorComparison:
    """Class risks of rules for several priors, by the model and as observed.

    Attributes
    ----------
    rules : tuple of PricedPriors
    classes : ndarray of shape (K,)
    shares : ndarray of shape (K,)
        Class shares that the model was trained on.
    n : int
        Rows that the observed risks are means over.
    """

    rules: tuple[PricedPriors, ...]
    classes: np.ndarray
    shares: np.ndarray
    n: int

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain Python values, ready for JSON."""
        rules = [
            {name: plain_values(value) for name, value in vars(rule).items()} for rule in self.rules
        ]
        plain = {name: plain_values(getattr(self, name)) for name in ("classes", "shares", "n")}
        return {**plain, "rules": rules}

    def to_frame(self) -> Any:
        """A row for each rule and class, as a pandas DataFrame."""
        import pandas as pd

        rows = [
            (rule.name, label, rule.priors[k], rule.model_risks[k], rule.risks[k])
            for rule in self.rules
            for k, label in enumerate(self.classes.tolist())
        ]
        return pd.DataFrame(rows, columns=["rule", "class", "prior", "model_risk", "risk"])

    def __str__(self) -> str:
        names = text_names(self.classes)
        header = ["rule", *(f"prior {n}" for n in names), *(f"risk {n}" for n in names), "worst"]
        table = [header]
        for rule in self.rules:
            cells = [f"{p:.3f}" for p in rule.priors]
            for model, seen in zip(rule.model_risks, rule.risks, strict=True):
                cells.append(f"{seen:.3f} ({model:.3f})")
            table.append([rule.name, *cells, f"{rule.worst:.3f}"])
        title = f"Class risks on {self.n:,} rows (by the model in brackets)"
        return "\n".join([title, *aligned(table)])

    __repr__ = __str__


def compare_priors(
    clf: BayesClassifier,
    X: Any,
    y: Any,
    *,
    box: Any = None,
    rules: Mapping[str, Any] | None = None,
    on: str = "regret",
) -> PriorComparison:
    """Class risks of the rules that a fitted density gives under several priors.

    Parameters
    ----------
    clf : fitted BayesClassifier
        Only its density and gain matter here. It is not touched.
    X : array or frame of shape (n, D)
        Rows to observe risks on, best such as were not fitted. Where counts alone do not give the
        model's risks, they are taken over these rows too.
    y : array of n labels
    box : None, array of shape (K, 2), or dict {class: (low, high)}
        Bounds of the priors, as in :class:`Minimax`; adds the rules that defend within it.
    rules : dict {name: priors}, default=None
        Priors as in :class:`BayesClassifier`. None compares the training shares with minimax
        priors, and with the randomised rule for them, free and in the box.
    on : {"regret", "gain"}
        What the loss is, as in :class:`Minimax`.

    Returns
    -------
    PriorComparison

    Examples
    --------
    >>> import numpy as np
    >>> from bayesrule import compare_priors, recipes
    >>> X, y = np.arange(20.0)[:, None] % 10, np.repeat([0, 1], [14, 6])
    >>> X[y == 1] += 3.5
    >>> found = compare_priors(recipes.dbc(4).fit(X, y), X, y)
    >>> [rule.name for rule in found.rules]
    ['Bayes', 'minimax', 'minimax, randomised']
    >>> bool(np.ptp(found.rules[2].model_risks) < 1e-6)
    True
    """
    chosen = dict(rules or _usual_rules(box, on))
    if rules is not None and box is not None:
        raise ValueError("box= is for the usual rules; state it in rules=, as Minimax(box=...).")
    atoms, losses, gain = model_atoms(clf, X, on)
    learned = clf._learned
    classes = learned.classes
    found = read_target(y)
    if found.codes is None:
        raise ValueError("compare_priors needs one label per row in y, not soft labels.")
    codes = places(found.classes, classes)[found.codes]
    if (codes < 0).any():
        stranger = found.classes.tolist()[int(found.codes[int(np.argmax(codes < 0))])]
        raise ValueError(f"y has class {stranger!r}, but the model knows {classes.tolist()}.")
    densities = clf.log_density(X)
    if len(densities) != len(codes):
        raise ValueError(f"X has {len(densities)} rows, but y has {len(codes)}.")
    counts = np.bincount(codes, minlength=len(classes))

    def observed(priors: np.ndarray) -> np.ndarray:
        decided, _ = decide.best_decisions(densities, priors, gain)
        lost = np.bincount(codes, losses[codes, decided], len(classes))
        return np.where(counts > 0, lost / np.maximum(counts, 1), np.nan)

    priced = []
    for name, rule in chosen.items():
        if isinstance(rule, Minimax):
            solution = rule.solve(atoms, gain, classes)
            priors, model = solution.priors, solution.class_risks
            seen = observed(priors)
            if rule.randomised:
                model = solution.randomised_class_risks
                seen = solution.mixture @ np.array(list(map(observed, solution.mixture_priors)))
        else:
            priors = given_priors(rule, learned.class_count, classes)
            model, seen = best_response(atoms, priors, losses), observed(priors)
        value = float(priors @ best_response(atoms, priors, losses))
        priced.append(PricedPriors(name, priors, value, model, seen))
    return PriorComparison(tuple(priced), classes, learned.shares, len(codes))


def model_atoms(clf: BayesClassifier, X: Any, on: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of atoms (n, K) by the model, and losses and gains (K, A) of a classifier."""
    if on not in ("regret", "gain"):
        raise ValueError(f"on={on!r} is not known; use 'regret' or 'gain'.")
    settled, learned = clf._ready(), clf._learned
    rows = None if X is None else (clf._read(X, learned.prepared), None)
    atoms = atoms_of(settled.log_density, rows, learned.shares, clf.random_state)
    gain = settled.rule.gain
    return np.ascontiguousarray(atoms), regret(gain) if on == "regret" else -gain, gain


def _usual_rules(box: Any, on: str) -> dict[str, Any]:
    """The training shares, and what defends against others."""
    rules: dict[str, Any] = {
        "Bayes": "empirical",
        "minimax": Minimax(on=on),
        "minimax, randomised": Minimax(on=on, randomised=True),
    }
    if box is not None:
        rules["minimax in the box"] = Minimax(box, on=on)
        rules["in the box, randomised"] = Minimax(box, on=on, randomised=True)
    return rules
