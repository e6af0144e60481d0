"""Noise that is put in on purpose: how much, where, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayesrule import FeatureNoise, LabelNoise, ScaleNoise

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4000, 3)) * np.array([1.0, 10.0, 0.1]) + 5.0
Y = RNG.choice(["a", "b", "c"], 4000, p=[0.5, 0.3, 0.2])


def test_labels_change_by_the_stated_share_to_every_other_class_alike():
    before = Y.copy()
    same, noisy = LabelNoise()(X, Y, 0.2, random_state=1)
    assert same is X
    np.testing.assert_array_equal(Y, before)
    assert (noisy != Y).sum() == 800
    for label in "abc":
        went = pd.Series(noisy[(label == Y) & (noisy != Y)]).value_counts(normalize=True)
        assert went.min() == pytest.approx(0.5, abs=0.08)
    np.testing.assert_array_equal(noisy, LabelNoise()(X, Y, 0.2, random_state=1)[1])
    assert (noisy != LabelNoise()(X, Y, 0.2, random_state=2)[1]).any()


@pytest.mark.parametrize("noise", [LabelNoise(), FeatureNoise(), ScaleNoise(3)])
def test_more_noise_adds_to_less(noise):
    (less_X, less_y), (more_X, more_y) = noise(X, Y, 0.1), noise(X, Y, 0.3)
    changed = less_y != Y
    np.testing.assert_array_equal(more_y[changed], less_y[changed])
    moved = (less_X != X).any(axis=1)
    if isinstance(noise, FeatureNoise):
        np.testing.assert_allclose(more_X - X, 3.0 * (less_X - X), atol=1e-10)
    else:
        np.testing.assert_array_equal(more_X[moved], less_X[moved])
    zero_X, zero_y = noise(X, Y, 0.0)
    np.testing.assert_array_equal(zero_X, X)
    np.testing.assert_array_equal(zero_y, Y)


def test_features_are_shaken_in_units_of_their_own_spread():
    noisy, same = FeatureNoise()(X, Y, 0.5)
    np.testing.assert_array_equal(same, Y)
    np.testing.assert_allclose((noisy - X).std(axis=0), 0.5 * X.std(axis=0), rtol=0.05)
    np.testing.assert_allclose((noisy - X).mean(axis=0) / X.std(axis=0), 0.0, atol=0.03)
    wide, _ = FeatureNoise()(X[:50], Y[:50], 0.5, reference=(10 * X, Y))
    narrow, _ = FeatureNoise()(X[:50], Y[:50], 0.5, reference=(X, Y))
    np.testing.assert_allclose(wide - X[:50], 10 * (narrow - X[:50]), atol=1e-9)


def test_noise_is_independent_of_data_drawn_from_the_same_seed():
    drawn = np.random.default_rng(0).normal(size=(5000, 2))
    noisy, _ = FeatureNoise()(drawn, np.zeros(5000), 1.0, random_state=0)
    assert abs(np.corrcoef((noisy - drawn)[:, 0], drawn[:, 0])[0, 1]) < 0.05


def test_rows_are_blown_up_about_the_mean_of_their_class():
    noisy, _ = ScaleNoise(4)(X, Y, 0.25)
    moved = (noisy != X).any(axis=1)
    assert moved.sum() == 1000
    for label in "abc":
        mine = moved & (label == Y)
        centre = X[label == Y].mean(axis=0)
        np.testing.assert_allclose(noisy[mine] - centre, 4 * (X[mine] - centre), rtol=1e-9)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_frames_stay_frames_and_words_stay_words(make):
    data = {"size": X[:6, 0], "town": list("uvwuvw"), "count": np.arange(6)}
    frame = make(data)
    for noise in (FeatureNoise(), ScaleNoise()):
        noisy, _ = noise(frame, Y[:6], 1.0)
        assert type(noisy) is type(frame)
        back = pd.DataFrame({name: np.asarray(noisy[name]) for name in data})
        assert back["town"].tolist() == list("uvwuvw")
        assert (back["size"].to_numpy() != X[:6, 0]).all()
    assert np.asarray(frame["count"]).tolist() == list(range(6))


def test_rows_of_a_frame_keep_their_order_whatever_its_index():
    frame = pd.DataFrame({"a": X[:5, 0], "b": X[:5, 1]}, index=[9, 3, 7, 1, 5])
    noisy, _ = ScaleNoise(2.0)(frame, Y[:5], 1.0, reference=(X[:, :2], Y))
    plain, _ = ScaleNoise(2.0)(frame.to_numpy(), Y[:5], 1.0, reference=(X[:, :2], Y))
    np.testing.assert_array_equal(noisy.to_numpy(), plain)
    assert noisy.index.tolist() == [9, 3, 7, 1, 5]


def test_what_cannot_be_is_refused():
    for noise, level, message in (
        (LabelNoise(), -0.1, "from 0 on"),
        (LabelNoise(), 1.5, "share from 0 to 1"),
        (ScaleNoise(), 2.0, "share from 0 to 1"),
        (FeatureNoise(), np.nan, "from 0 on"),
    ):
        with pytest.raises(ValueError, match=message):
            noise(X, Y, level)
    with pytest.raises(ValueError, match="dense array of numbers"):
        FeatureNoise()(np.array([["a"]]), ["x"], 0.1)
    _, alone = LabelNoise()(X[:4], np.zeros(4), 0.5)
    assert (alone == 0).all()


@pytest.mark.parametrize("factor", [np.nan, np.inf, "8", None])
def test_factors_are_finite_numbers(factor):
    with pytest.raises(ValueError, match="expected a finite number"):
        ScaleNoise(factor)
