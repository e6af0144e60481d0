"""GQDA's threshold against trying all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2, f

from bayesrule import BayesClassifier, Elliptical
from bayesrule.thresholds import best_threshold


def share_right(c, scores, sizes, log_priors, codes, masses):
    decided = (scores + log_priors - c * sizes).argmax(axis=1)
    return masses[decided == codes].sum()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("bounds", [(0.0, np.inf), (0.0, 1.0), (0.3, 4.0)])
def test_threshold_is_as_good_as_any(n_classes, bounds):
    rng = np.random.default_rng(n_classes)
    for _ in range(20):
        n = 40
        scores = -rng.chisquare(3, (n, n_classes)) / 2
        sizes = rng.normal(size=n_classes)
        log_priors = np.log(rng.dirichlet(np.ones(n_classes)))
        codes, masses = rng.integers(n_classes, size=n), rng.random(n)
        given = scores, sizes, log_priors, codes, masses
        found = best_threshold(*given, bounds)
        assert bounds[0] <= found <= bounds[1]
        # All values of c where some two classes draw level, and one between each two of them.
        values = scores + log_priors
        ends = np.concatenate(
            [
                (values[:, j] - values[:, i]) / (sizes[j] - sizes[i])
                for i in range(n_classes)
                for j in range(i)
            ]
        )
        ends = np.unique(np.clip(ends, bounds[0], min(bounds[1], 1e6)))
        ends = np.unique(np.concatenate([[bounds[0]], ends, [min(bounds[1], 2e6)]]))
        between = (ends[1:] + ends[:-1]) / 2
        best = max(share_right(c, *given) for c in between)
        assert share_right(found, *given) == pytest.approx(best)
        if share_right(1.0, *given) >= best - 1e-12 and bounds[0] <= 1.0 <= bounds[1]:
            assert found == 1.0


def test_threshold_of_classes_of_one_size_is_one():
    scores = -np.random.default_rng(0).random((20, 2))
    codes = np.arange(20) % 2
    log_priors = np.log([0.5, 0.5])
    assert best_threshold(scores, np.array([2.0, 2.0]), log_priors, codes, np.ones(20)) == 1.0


def test_a_class_that_is_never_decided_does_not_count():
    scores = np.array([[-1.0, 0.0], [-2.0, 0.0]])
    with np.errstate(divide="ignore"):
        log_priors = np.log([1.0, 0.0])
    given = scores, np.array([0.0, 1.0]), log_priors, np.array([0, 1]), np.ones(2)
    assert best_threshold(*given) == 1.0


def student_classes(n, m, dof, seed):
    """Two Student classes about one centre, the second four times as wide."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, m)) * np.sqrt(dof / rng.chisquare(dof, (n, 1)))
    return X * np.where(y == 1, 4.0, 1.0)[:, None], y


def test_student_classes_ask_for_a_threshold_above_one():
    """A Student falls more slowly than exp(-t / 2), so that wide classes begin farther out.

    Where one scatter is 16 times the other, both Students are equally likely at one distance, which
    a quadratic rule reaches with c = (t_1 - t_2) / (log det S_2 - log det S_1) there.
    """
    m, dof = 10, 5.0

    def apart(t):
        far = 16.0
        return (dof + m) / 2 * np.log((1 + t / dof) / (1 + t / far / dof)) - m / 2 * np.log(far)

    t = brentq(apart, 1.0, 1e6)
    exact = (t - t / 16.0) / (m * np.log(16.0))
    assert exact == pytest.approx(1.5, abs=0.01)
    X, y = student_classes(40_000, m, dof, 0)
    clf = BayesClassifier(Elliptical("student", "gqda", dof=dof)).fit(X, y)
    # The scatter is sized by the median, so that c is less by the ratio of the medians.
    size = m * f.ppf(0.5, m, dof) / chi2.ppf(0.5, m)
    assert clf.log_density_.threshold == pytest.approx(exact / size, rel=0.05)
    assert clf.log_density_.threshold > 1.2
    bounded = BayesClassifier(Elliptical("student", "gqda", dof=dof, threshold=(0.0, 1.0)))
    X_new, y_new = student_classes(100_000, m, dof, 1)
    assert clf.score(X_new, y_new) > bounded.fit(X, y).score(X_new, y_new)


@pytest.mark.parametrize("priors", ["empirical", [0.2, 0.3, 0.5]])
def test_no_given_threshold_decides_more_training_rows_rightly_under_the_priors(priors):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 40, 20]))
    X = rng.standard_t(3.0, (120, 3)) * np.array([1.0, 2.0, 4.0])[y][:, None] + y[:, None]
    fitted = BayesClassifier(Elliptical("sample", "gqda"), priors=priors).fit(X, y)
    share = np.bincount(y) / 120 if isinstance(priors, str) else np.array(priors)
    masses = share[y] / np.bincount(y)[y]

    def right(clf):
        return masses[clf.predict(X) == y].sum()

    given = np.concatenate([np.linspace(0.0, 3.0, 301), [5.0, 10.0, 100.0]])
    best = max(
        right(BayesClassifier(Elliptical("sample", "gqda", threshold=c), priors=priors).fit(X, y))
        for c in given
    )
    assert right(fitted) >= best - 1e-12


def test_a_bound_at_one_binds_for_students_over_their_own_scatter_only():
    """c over the scatter, and over the covariance, of two Students, one wider than the other."""
    for m, dof, wider in ((2, 3.0, 4.0), (4, 5.0, 2.0), (10, 10.0, 4.0), (10, 3.0, 16.0)):

        def apart(t, m=m, dof=dof, wider=wider):
            ratio = np.log1p(t / dof) - np.log1p(t / wider / dof)
            return (dof + m) / 2 * ratio - m / 2 * np.log(wider)

        t = brentq(apart, 1e-6, 1e9)
        over_scatter = (t - t / wider) / (m * np.log(wider))
        assert over_scatter > 1.0
        over_covariance = over_scatter * (dof - 2.0) / dof
        assert over_covariance < 1.0
