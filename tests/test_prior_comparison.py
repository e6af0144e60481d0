"""Rules for several priors side by side: risks by counting, and V above none of its rules."""

from __future__ import annotations

import numpy as np
import pytest

from bayesrule import BayesClassifier, Minimax, compare_priors, loss, recipes
from bayesrule.prior_comparison import model_atoms


def rows(seed: int = 0, n: int = 600, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    centres = np.array([[0, 0], [1.5, 0.5], [0.5, 2.0]])
    return rng.normal(size=(n, 2)) + centres[y], y


LOSSES = np.array([[0.0, 2.0, 5.0], [1.0, 0.0, 1.0], [9.0, 3.0, 0.0]])


def test_risks_are_what_counting_gives():
    X, y = rows()
    new, truth = rows(1)
    clf = recipes.dbc(8, gain=loss(LOSSES)).fit(X, y)
    found = compare_priors(clf, new, truth)
    bayes, minimax, randomised = found.rules
    decided = clf.predict(new)
    expected = [LOSSES[k, decided[truth == k]].mean() for k in range(3)]
    np.testing.assert_allclose(bayes.risks, expected)
    # By the model: the shares of each class in the profiles, which are counts of training rows.
    decided = clf.predict(X)
    np.testing.assert_allclose(
        bayes.model_risks, [LOSSES[k, decided[y == k]].mean() for k in range(3)]
    )
    np.testing.assert_allclose(bayes.priors, np.bincount(y) / len(y))
    other = clf.with_rule(priors=minimax.priors)
    decided = other.predict(new)
    np.testing.assert_allclose(
        minimax.risks, [LOSSES[k, decided[truth == k]].mean() for k in range(3)]
    )
    assert minimax.value == pytest.approx(minimax.priors @ minimax.model_risks)
    assert minimax.value >= bayes.value
    inside = randomised.priors > 1e-5
    assert np.ptp(randomised.model_risks[inside]) < 1e-6
    assert randomised.model_risks.max() <= minimax.model_risks.max() + 1e-9


def test_boxes_lie_between_bayes_and_minimax():
    X, y = rows()
    clf = recipes.spdbc(8, 1.5, gain=loss(LOSSES)).fit(X, y)
    found = compare_priors(clf, X, y, box={0: (0.0, 0.25)})
    named = {rule.name: rule for rule in found.rules}
    assert named["minimax in the box"].priors[0] <= 0.25 + 1e-9
    assert named["Bayes"].value <= named["minimax in the box"].value + 1e-9
    assert named["minimax in the box"].value <= named["minimax"].value + 1e-9
    assert named["in the box, randomised"].worst >= 0
    text = str(found)
    assert "in the box, randomised" in text
    assert found.to_frame().shape == (15, 5)
    assert found.to_dict()["rules"][0]["name"] == "Bayes"


def test_any_density_and_any_rules_can_be_compared():
    X, y = rows()
    clf = BayesClassifier().fit(X, y)
    rules = {"even": "uniform", "own": [0.2, 0.2, 0.6], "box": Minimax(box={2: (0, 0.1)})}
    found = compare_priors(clf, X, y, rules=rules)
    assert [rule.name for rule in found.rules] == list(rules)
    for rule in found.rules[:2]:
        decided = clf.with_rule(priors=rule.priors).predict(X)
        np.testing.assert_allclose(rule.risks, [np.mean(decided[y == k] != k) for k in range(3)])
    # Under the training shares the model's atoms are its posteriors on the rows.
    atoms, losses, _ = model_atoms(clf, X, "regret")
    posterior = clf.predict_proba(X)
    np.testing.assert_allclose(atoms, posterior / posterior.sum(axis=0))
    np.testing.assert_array_equal(losses, 1 - np.eye(3))


def test_a_class_without_rows_has_no_observed_risk():
    X, y = rows()
    clf = recipes.dbc(6).fit(X, y)
    found = compare_priors(clf, X[y < 2], y[y < 2])
    assert np.isnan(found.rules[0].risks[2])
    assert np.isfinite(found.rules[0].worst)


def test_what_cannot_be_is_refused():
    X, y = rows()
    clf = recipes.dbc(6).fit(X, y)
    with pytest.raises(ValueError, match="the model knows"):
        compare_priors(clf, X, y + 7)
    with pytest.raises(ValueError, match="X has 5 rows"):
        compare_priors(clf, X[:5], y)
    with pytest.raises(ValueError, match="box= is for the usual rules"):
        compare_priors(clf, X, y, rules={"even": "uniform"}, box={0: (0, 1)})
    with pytest.raises(ValueError, match="No priors fit the box"):
        compare_priors(clf, X, y, box={0: (0.7, 1), 1: (0.7, 1)})
    with pytest.raises(ValueError, match="on='pain'"):
        compare_priors(clf, X, y, on="pain")
