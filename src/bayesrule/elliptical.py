"""Elliptical densities: two choices, how a scatter is estimated and how distance becomes a score.

    log f_k(x)  =  -1/2 [ h(t) + c log det S_k ],      t = (x - m_k)' S_k^-1 (x - m_k)

The statistic is the rows themselves: robust estimates weigh each row anew in every sweep.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.stats import chi2

from bayesrule.decide import log_of
from bayesrule.degrees import LEAST, MOST
from bayesrule.density import Density, LogDensity, Rule, check_memory
from bayesrule.distinct import gathered
from bayesrule.elliptical_laws import EllipticalLaw
from bayesrule.estimates import Estimates, Wanted, estimate
from bayesrule.memberships import Memberships
from bayesrule.notices import (
    FarRowsWarning,
    FewRowsWarning,
    KeptTuningWarning,
    NotConvergedWarning,
    SingularScatterWarning,
)
from bayesrule.stats import Sample, Several
from bayesrule.tables import Table, read_numbers
from bayesrule.thresholds import best_threshold

#: The rule that goes with each scatter, where none is named.
OWN_RULE = {
    "sample": "gaussian",
    "student": "student",
    "tyler": "femda",
    "huber": "gaussian",
    "mcd": "gaussian",
}


class Elliptical(Density):
    """Classes of elliptical shape: QDA, t-QDA, GQDA, RGQDA and FEMDA.

    Parameters
    ----------
    scatter : {"tyler", "student", "sample", "huber", "mcd"}
        How location and scatter are estimated. With t the squared distance of a row and m columns,
        rows weigh m / t in Tyler's, (dof + m) / (dof + t) in Student's and min(1, cut / t) in
        Huber's scatter, and all the same in the sample covariance; the minimum covariance
        determinant keeps the densest half of the rows. Tyler's is blind to how far out a row is.
        No scatter by weights bears a share of 1 / (m + 1) of rows that lie together far out
        (Maronna 1976), and Huber's less, 1 / cut: a fifth in two columns, a tenth in five. "mcd"
        bears nearly half. Of rows far out in all directions, each of them bears many more.
    rule : None, "gaussian", "student", "femda" or "gqda"
        How the distance becomes a score: h(t) = t; the logarithm of a Student; m log t; or t with
        the log-determinants multiplied by a threshold c that is fitted. None takes the one that
        goes with the scatter.
    tied : bool
        One scatter for all classes, and with it one number of degrees of freedom.
    shrinkage : "auto", None or float in [0, 1]
        Share of each scatter that is replaced by the diagonal of the variances within the classes,
        made as large as the scatter. "auto" chooses it by Chen, Wiesel and Hero's formula for a
        class with fewer rows than ten times the columns, and where no scatter exists: too few
        rows, or too many of them in a subspace; all scatters but Tyler's then take rows to be known
        up to a tenth of a standard deviation only. Elsewhere it is zero, and estimates follow
        any affine map of the columns. None repairs only what does not exist.
    dof : "fitted", "shared" or number
        Degrees of freedom of Students: fitted for each class, one for all classes, or given.
    location_weights : {"1/sqrt(t)", "1/t"}
        How rows weigh in Tyler's location. FEMDA's paper has 1/t, which is infinite at every row,
        so that the location may end up on one: t is floored, at a hundredth of its median or, among
        fewer rows, at five times the median over their number. Weights of 1/sqrt(t) need less: the
        median times the square of three over the number of rows.
    threshold : "fitted", number, or (low, high)
        GQDA's c: the one under which most training rows are decided rightly, classes weighing as
        the priors say; given; or the best between two bounds. Where several are as good, the one
        nearest to 1, which is QDA. A bound of 1 is not sensible in general: over its own or a
        robust scatter, a Student class that is wider than another asks for a c above 1; over the
        covariance, which its tails inflate, mostly for one below.
    max_iter : int
        Sweeps over the rows at most.
    tol : float
        Settled is a scatter that a sweep changes by less than this share.

    Notes
    -----
    Rows to be decided on may have missing values: margins of elliptical laws are elliptical. Of
    rows to learn from, Student's scatter completes those by EM, and the others leave them out, with
    a warning. Tyler's
    scatter has no size; it is reported with the trace m, and for rules that see the size it is made
    so large that half of the rows are as near as half of a Gaussian's.

    Of equal rows, robust scatters count no more than a share of 1 / (4 m) of a class: densities
    have no points that hold more, and scatters would shrink into them.

    References
    ----------
    Houdouin, Jonckheere, Pascal: FEMDA: une méthode de classification robuste et flexible, GRETSI
    2023. Tyler: A distribution-free M-estimator of multivariate scatter, 1987. Hettmansperger,
    Randles: A practical affine equivariant multivariate median, 2002. Andrews, McNicholas, Subedi:
    Model-based classification via mixtures of multivariate t-distributions, 2011. Bose, Pal,
    SahaRay, Nayak: Generalized quadratic discriminant analysis, 2015. Chen, Wiesel, Hero: Robust
    shrinkage estimation of high-dimensional covariance matrices, 2011. Maronna: Robust M-estimators
    of multivariate location and scatter, 1976.

    Examples
    --------
    One row far out does not move the decisions:

    >>> import numpy as np
    >>> from bayesrule import BayesClassifier, Elliptical
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(4.0, 1.0, (40, 2))])
    >>> X[0] = 1000.0
    >>> clf = BayesClassifier(Elliptical("tyler")).fit(X, np.repeat(["low", "high"], 40))
    >>> clf.predict([[0.5, 0.5], [3.5, 3.5]]).tolist()
    ['low', 'high']
    >>> bool(clf.log_density_.row_weights[0] < 1e-3)
    True
    """

    accept_missing: ClassVar[bool] = True

    def __init__(
        self,
        scatter: str = "tyler",
        rule: str | None = None,
        tied: bool = False,
        shrinkage: float | str | None = "auto",
        dof: float | str = "fitted",
        location_weights: str = "1/sqrt(t)",
        threshold: Any = "fitted",
        max_iter: int = 200,
        tol: float = 1e-8,
    ):
        self.scatter = scatter
        self.rule = rule
        self.tied = tied
        self.shrinkage = shrinkage
        self.dof = dof
        self.location_weights = location_weights
        self.threshold = threshold
        self.max_iter = max_iter
        self.tol = tol

    @property
    def chosen_rule(self) -> str:
        """The rule, named or not."""
        return OWN_RULE.get(self.scatter, "") if self.rule is None else self.rule

    @property
    def normalised(self) -> bool:  # type: ignore[override]
        """Whether the rule is the logarithm of a density."""
        return self.chosen_rule in ("gaussian", "student")

    @property
    def uses_rule(self) -> bool:  # type: ignore[override]
        """Whether a threshold is fitted for the decisions."""
        return self.chosen_rule == "gqda" and not isinstance(self.threshold, (int, float))

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Only the priors that a threshold is searched under are known before counting."""
        return self.uses_rule

    def prepare(
        self, table: Table, memberships: Memberships, rule: Rule
    ) -> Elliptical | ThresholdElliptical:
        """Check the settings; keep the priors where a threshold is to be searched under them."""
        self.check()
        scatters = 1 if self.tied else memberships.n_classes
        check_memory(
            16 * scatters * table.n_columns**2,
            f"{scatters} full scatters of {table.n_columns} features",
            "Use tied=True, or fewer features.",
        )
        if self.uses_rule:
            return ThresholdElliptical(self, np.asarray(rule.priors, np.float64))
        return self

    def check(self) -> None:
        """Refuse settings that cannot be."""
        self.require("scatter", *OWN_RULE)
        self.require("rule", None, "gaussian", "student", "femda", "gqda")
        self.require("tied", True, False)
        self.require("shrinkage", None, "auto", between=(0.0, 1.0))
        self.require("dof", "fitted", "shared", between=(LEAST, MOST))
        self.require("location_weights", "1/sqrt(t)", "1/t")
        self.require("max_iter", between=(1, 1_000_000))
        self.require("tol", between=(1e-14, 0.1))
        if self.chosen_rule == "student" and self.scatter != "student":
            raise ValueError(
                f"Elliptical(scatter={self.scatter!r}, rule='student') has no degrees of freedom: "
                "they are told with scatter='student'."
            )
        _bounds(self.threshold)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return gathered(table, memberships)

    def settle(self, stats: Several) -> LogDensity:
        """Locations and scatters, and the score that they give."""
        return self.settled(stats, None)

    def settled(self, stats: Several, priors: np.ndarray | None) -> EllipticalLaw:
        """The same with the priors that a threshold is searched under."""
        sums, sample = stats.parts
        n_classes = len(sums.weight)
        if self.scatter != "student":
            sample = _complete(sample)
        law, estimates = self._shape(sample, n_classes)
        self._warn(estimates)
        if self.chosen_rule != "gqda":
            return law
        low, high = _bounds(self.threshold)
        if low == high:
            return replace(law, threshold=low)
        if priors is None or len(priors) != n_classes:
            if priors is not None:
                warnings.warn(
                    f"The priors were stated for {len(priors)} classes, but {n_classes} have been "
                    "seen since: the threshold is searched under the class shares. List all "
                    "classes at the first partial_fit, or fit again.",
                    KeptTuningWarning,
                    stacklevel=3,
                )
            priors = sums.weight / max(float(sums.weight.sum()), 1.0)
        complete = ~np.isnan(sample.rows).any(axis=1)
        scores = law.halved(Table(sample.rows[complete]))
        codes = sample.codes[complete]
        masses = (priors / np.where(sums.weight > 0, sums.weight, 1.0))[codes]
        masses = masses * sample.weights[complete]
        best = best_threshold(scores, law.half_log_det, log_of(priors), codes, masses, (low, high))
        return replace(law, threshold=best)

    def _shape(self, sample: Sample, n_classes: int) -> tuple[EllipticalLaw, Estimates]:
        """Locations and scatters of the columns that vary."""
        rows = sample.rows
        n_columns = rows.shape[1]
        low = np.fmin.reduce(rows, axis=0)  # gaps are passed over
        varying = np.flatnonzero(low < np.fmax.reduce(rows, axis=0))
        if len(varying) == 0:
            varying = np.arange(n_columns)
        wanted = Wanted(
            self.scatter,
            self.tied,
            self.shrinkage,
            self.dof,
            self.location_weights == "1/t",
            int(self.max_iter),
            float(self.tol),
        )
        some = sample
        if len(varying) < n_columns:
            some = Sample(np.ascontiguousarray(rows[:, varying]), sample.codes, sample.weights)
        found = estimate(some, n_classes, wanted)
        scatter, middle = _sized(found, self.chosen_rule, self.scatter, len(varying))
        location = np.tile(np.asarray(low, np.float64), (n_classes, 1))
        location[:, varying] = found.location
        full = np.zeros((len(scatter), n_columns, n_columns))
        full[:, varying[:, None], varying] = scatter
        law = EllipticalLaw(
            self.chosen_rule,
            location,
            full,
            found.dof,
            1.0,
            found.shrinkage,
            found.iterations,
            found.row_weights,
            middle,
            found.seen,
            varying,
        )
        return law.ready(), found

    def _warn(self, found: Estimates) -> None:
        """Say once what rests on a doubtful step."""
        if found.lone.any():
            warnings.warn(
                f"The rows of {_name(found.lone)} are all the same: they tell nothing of the "
                "spread, which is borrowed from all classes. Give them more rows.",
                FewRowsWarning,
                stacklevel=4,
            )
        if found.repaired.any():
            warnings.warn(
                f"The scatter of {_name(found.repaired)} does not exist (fewer rows than columns, "
                "or too many of them in a subspace: constant, dependent or mostly equal columns) "
                "and was regularised. Add rows, drop such columns, or set tied=True.",
                SingularScatterWarning,
                stacklevel=4,
            )
        if found.moved.any():
            warnings.warn(
                f"Location and scatter of {_name(found.moved)} followed rows far out: of rows that "
                f"lie there together, scatter={self.scatter!r} bears less than a share of 1 / "
                "(columns + 1). Look at them, or use scatter='mcd', which bears nearly half.",
                FarRowsWarning,
                stacklevel=4,
            )
        if found.unsettled.any():
            warnings.warn(
                f"Location and scatter of {_name(found.unsettled)} had not settled after "
                f"{self.max_iter} sweeps. Raise max_iter or tol, or set shrinkage='auto'.",
                NotConvergedWarning,
                stacklevel=4,
            )


@dataclass(frozen=True)
class ThresholdElliptical:
    """Elliptical classes with the priors that GQDA's threshold is searched under.

    Attributes
    ----------
    density : Elliptical
    priors : ndarray of shape (K,)
    """

    density: Elliptical
    priors: np.ndarray

    def read(self, X: Any, estimator: Any) -> Table:
        """Numbers."""
        return read_numbers(X, accept_missing=True, estimator=estimator)

    def tally(self, table: Table, memberships: Memberships) -> Several:
        """The rows."""
        return self.density.tally(table, memberships)

    def settle(self, stats: Several) -> LogDensity:
        """Locations, scatters and the threshold."""
        return self.density.settled(stats, self.priors)


def _complete(sample: Sample) -> Sample:
    """Rows without gaps."""
    gaps = np.isnan(sample.rows).any(axis=1)
    if not gaps.any():
        return sample
    if gaps.all():
        raise ValueError(
            "Every row of X has a missing value (NaN), and this scatter learns from complete rows "
            "only: impute them, or use scatter='student', which completes them by EM."
        )
    warnings.warn(
        f"{int(gaps.sum())} of {len(gaps)} rows have missing values; this scatter learns from "
        "complete rows only. Impute them, or use scatter='student', which completes them by EM.",
        FewRowsWarning,
        stacklevel=4,
    )
    return Sample(sample.rows[~gaps], sample.codes[~gaps], sample.weights[~gaps])


def _name(flags: np.ndarray) -> str:
    """Classes by their places."""
    which = np.flatnonzero(flags)
    more = ", ..." if len(which) > 5 else ""
    listed = ", ".join(str(k) for k in which[:5])
    return f"class{'es' if len(which) > 1 else ''} {listed}{more} (in classes_ order)"


def _bounds(threshold: Any) -> tuple[float, float]:
    """Between which a threshold is searched; twice the same where it is given."""
    if isinstance(threshold, str) and threshold == "fitted":
        return 0.0, np.inf
    pair = threshold if isinstance(threshold, (tuple, list)) else (threshold, threshold)
    numbers = [isinstance(c, Real) and not isinstance(c, (bool, np.bool_)) for c in pair]
    if len(pair) == 2 and all(numbers):
        low, high = float(pair[0]), float(pair[1])
        if 0.0 <= low <= high and low < np.inf:
            return low, high
    raise ValueError(
        f"Elliptical(threshold={threshold!r}) is not known; use 'fitted', a number from 0 on, or "
        "two bounds (low, high)."
    )


def _sized(found: Estimates, rule: str, scatter: str, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Scatters of the size the rule needs, and the medians of the squared distances by them."""
    told = np.where(found.seen, found.middle, np.nan)
    if rule in ("gaussian", "gqda") and scatter in ("tyler", "student"):
        if len(found.scatter) == 1:
            told = np.full(len(told), np.nanmedian(told) if found.seen.any() else 1.0)
        size = told / chi2.ppf(0.5, m)
    elif scatter == "tyler":
        trace = np.einsum("kjj->k", found.scatter)
        size = np.broadcast_to(m / trace, told.shape)
    else:
        return found.scatter, found.middle
    size = np.where(found.seen & (size > 0), size, 1.0)
    by = size[: len(found.scatter)] if len(found.scatter) > 1 else size[found.seen][:1]
    by = by if len(by) else np.ones(1)
    return found.scatter * by[:, None, None], found.middle / size
