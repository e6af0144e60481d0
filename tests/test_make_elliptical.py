"""Made-up elliptical rows against the laws they are said to follow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayesrule import datasets

M, S = np.array([[1.0, -1.0, 0.5]]), np.array([[[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.7]]])


def squares(rows):
    apart = rows.X - rows.means[rows.y]
    return np.einsum("ni,nij,nj->n", apart, np.linalg.inv(rows.covariances)[rows.y], apart)


def made(n=20_000, **settings):
    return datasets.make_elliptical(n, means=M, covariances=S, **settings)


@pytest.mark.parametrize(
    ("settings", "law"),
    [
        ({"family": "gaussian"}, stats.chi2(3)),
        ({"family": "generalised_gaussian", "beta": 1.0}, stats.chi2(3)),
        ({"family": "student", "dof": 4.0}, stats.f(3, 4, scale=3)),
        ({"family": "gaussian", "tau": 5.0}, stats.chi2(3, scale=5.0)),
    ],
)
def test_squared_distances_follow_their_law(settings, law):
    assert stats.kstest(squares(made(**settings)), law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("beta", [0.25, 3.0])
def test_generalised_gaussian_has_gamma_powers(beta):
    # The second argument of the paper's Gamma is a scale.
    powers = squares(made(family="generalised_gaussian", beta=beta)) ** beta
    assert stats.kstest(powers, stats.gamma(3 / (2 * beta), scale=2.0).cdf).pvalue > 1e-3


def test_directions_are_uniform_until_they_are_moved():
    factor = np.linalg.cholesky(S[0])

    def directions(**settings):
        rows = made(family="student", dof=3.0, **settings)
        z = np.linalg.solve(factor, (rows.X - M[0]).T).T
        return rows, z / np.linalg.norm(z, axis=1, keepdims=True)

    _, units = directions(contamination=0.3, scale=9.0)
    np.testing.assert_allclose(units.T @ units / len(units), np.eye(3) / 3, atol=0.01)
    rows, _ = directions(contamination=1.0, isotropic=True)
    apart = rows.X - M[0]
    units = apart / np.linalg.norm(apart, axis=1, keepdims=True)
    np.testing.assert_allclose(units.T @ units / len(units), np.eye(3) / 3, atol=0.01)


def test_contamination_moves_some_rows_and_leaves_the_others():
    clean, moved = made(), made(contamination=0.25, scale=8.0)
    far = moved.contaminated
    assert far.mean() == pytest.approx(0.25, abs=0.02)
    np.testing.assert_array_equal(moved.X[~far], clean.X[~far])
    np.testing.assert_allclose(moved.X[far] - M[0], 8.0 * (clean.X[far] - M[0]))


def test_shapes_of_classes_belong_to_the_world():
    one, two = (
        datasets.make_elliptical(50_000, 3, 2, family="student", world=1, random_state=seed)
        for seed in (0, 1)
    )
    np.testing.assert_array_equal(one.means, two.means)
    np.testing.assert_array_equal(one.covariances, two.covariances)
    assert not np.array_equal(one.X, two.X)
    for k in (0, 1):
        same = stats.ks_2samp(squares(one)[one.y == k], squares(two)[two.y == k])
        assert same.pvalue > 1e-3
    apart = stats.ks_2samp(squares(one)[one.y == 0], squares(one)[one.y == 1])
    assert apart.pvalue < 1e-6
    X, y = one
    assert X.shape == (50_000, 3)
    assert set(y) == {0, 1}


def test_families_are_mixed_by_their_shares():
    mix = made(50_000, family={"gaussian": 0.6, "student": 0.4}, dof=1.0)
    t = squares(mix)
    expected = 0.6 * stats.chi2(3).sf(40.0) + 0.4 * stats.f(3, 1, scale=3).sf(40.0)
    assert np.mean(t > 40.0) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "cauchy"}, "family='cauchy'"),
        ({"shapes": "row"}, "shapes='row'"),
        ({"beta": (3.0, 1.0)}, "beta="),
        ({"contamination": 1.5}, "contamination=1.5"),
        ({"n_samples": 0}, "n_samples=0"),
        ({"means": M, "covariances": S[:, :2, :2]}, "do not go together"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        datasets.make_elliptical(**settings)
