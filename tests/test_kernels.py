"""Compiled loops against numpy, blocks of rows on any number of threads, and the decorator."""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from bayesrule.kernels import blocks, compiler
from bayesrule.kernels import gaussian as loops
from bayesrule.kernels.blocks import block_rows, map_blocks, thread_count
from bayesrule.kernels.checks import zero_if_finite
from bayesrule.kernels.decide import expected_gains, normalise, relative_to_top
from bayesrule.kernels.minimax import best_response, expected_shares

# ---------------------------------------------------------------------- blocks


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@given(n_rows=st.integers(0, 100), size=st.one_of(st.none(), st.integers(1, 40)))
def test_blocks_cover_all_rows_in_order(threads, n_rows, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAYESRULE_NUM_THREADS", threads)
        spans = list(map_blocks(lambda start, stop: (start, stop), n_rows, size))
    rows = [i for start, stop in spans for i in range(start, stop)]
    assert rows == list(range(n_rows))
    # The cut depends on the rows alone.
    width = n_rows if size is None else size
    assert spans == [(s, min(s + width, n_rows)) for s in range(0, n_rows, max(1, width))]


def test_blocks_run_on_as_many_threads_as_asked(monkeypatch):
    for threads in (1, 3):
        monkeypatch.setenv("BAYESRULE_NUM_THREADS", str(threads))
        meet = threading.Barrier(threads, timeout=20)

        def work(start, stop, meet=meet):
            meet.wait()
            return threading.get_ident()

        seen = set(map_blocks(work, 12, 1))
        assert len(seen) == threads
    assert seen.isdisjoint({threading.get_ident()})


def test_threads_are_started_by_default_where_they_are_worth_it(monkeypatch):
    monkeypatch.delenv("BAYESRULE_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    now = [0.0]
    monkeypatch.setattr(blocks.time, "perf_counter", lambda: now[0])
    mine = threading.get_ident()
    for seconds, elsewhere in ((1e-4, False), (1.0, True)):

        def work(start, stop, seconds=seconds):
            now[0] += seconds
            return start, threading.get_ident()

        found = list(map_blocks(work, 10, 1))
        assert [start for start, _ in found] == list(range(10))
        assert found[0][1] == mine
        assert all((ident != mine) == elsewhere for _, ident in found[1:])


def test_an_error_in_a_block_comes_out(monkeypatch):
    monkeypatch.setenv("BAYESRULE_NUM_THREADS", "3")

    def work(start, stop):
        if start == 70:
            raise ZeroDivisionError("in block 7")
        return start

    with pytest.raises(ZeroDivisionError, match="block 7"):
        list(map_blocks(work, 200, 10))


def test_blocks_fit_the_cache_and_no_fewer_than_256_rows():
    assert block_rows(1) == 1 << 16
    assert block_rows(0) == 1 << 16
    assert block_rows(64) * 64 * 8 == blocks.BLOCK_BYTES
    assert block_rows(10**6) == 256
    assert block_rows(64, bytes_per_block=2 * blocks.BLOCK_BYTES) == 2 * block_rows(64)


def test_thread_count_listens_to_the_environment(monkeypatch):
    monkeypatch.setenv("BAYESRULE_NUM_THREADS", "3")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert thread_count() == 3
    for nonsense in ("", "0", "many", "-2"):
        monkeypatch.setenv("BAYESRULE_NUM_THREADS", nonsense)
        assert thread_count() == 5
    monkeypatch.delenv("BAYESRULE_NUM_THREADS")
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() >= 1


# ---------------------------------------------------------------------- the decorator


def test_a_loop_compiles_where_no_cache_can_be_written(monkeypatch):
    real, asked = numba.njit, []

    def njit(cache, **options):
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(compiler.numba, "njit", njit)

    @compiler.compiled
    def half(x):
        return x / 2.0

    @compiler.compiled(reassociate=True)
    def third(x):
        return x / 3.0

    assert half(3.0) == 1.5
    assert third(3.0) == 1.0
    assert asked == [True, False, True, False]


def test_a_division_by_zero_is_infinite_in_loops():
    @compiler.compiled
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


def test_arrays_that_may_not_be_written_to_are_no_other_kind(tmp_path):
    @compiler.compiled
    def total(matrix, by):
        found = 0.0
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                found += matrix[i, j] * by[j]
        return found

    rng = np.random.default_rng(0)
    matrix, by = rng.normal(size=(5, 3)), rng.normal(size=3)
    expected = float((matrix @ by).sum())
    np.save(tmp_path / "matrix.npy", matrix)
    locked = by.copy()
    locked.flags.writeable = False
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    for first in (mapped, matrix, matrix.view()):
        for second in (locked, by):
            assert total(first, second) == pytest.approx(expected, rel=1e-12)
    assert not locked.flags.writeable
    assert not mapped.flags.writeable
    assert len(total.signatures) == 1
    # Other layouts and types are other kinds, locked or not.
    columns = np.asfortranarray(matrix)
    columns.flags.writeable = False
    assert total(columns, locked) == pytest.approx(expected, rel=1e-12)
    assert total(np.asfortranarray(matrix), by) == pytest.approx(expected, rel=1e-12)
    assert total(np.zeros((0, 3)), locked[:0]) == 0.0
    assert len(total.signatures) == 2


# ---------------------------------------------------------------------- loops against numpy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite_values_are_told_from_others(dtype):
    values = np.linspace(-1e30, 1e30, 1001).astype(dtype)
    assert zero_if_finite(values) == 0.0
    assert zero_if_finite(np.full(99, np.finfo(dtype).max)) == 0.0
    for bad in (np.nan, np.inf, -np.inf):
        for place in (0, 500, 1000):
            other = values.copy()
            other[place] = bad
            assert np.isnan(zero_if_finite(other))
    both = values.copy()
    both[:2] = np.inf, -np.inf
    assert np.isnan(zero_if_finite(both))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_about_the_first_row_give_moments(missing, dtype):
    rng = np.random.default_rng(0)
    X = (100 + rng.normal(size=(200, 4))).astype(dtype)
    if missing:
        X[rng.random(X.shape) < 0.3] = np.nan
    codes, weights = rng.integers(0, 3, 200).astype(np.int32), rng.gamma(1.0, size=200)
    loop = loops.sums_about_first_seen if missing else loops.sums_about_first
    weight, first, total, squares = loop(X, np.arange(200), codes, weights, 4)
    for k in range(4):
        for j in range(4):
            mine = (codes == k) & ~np.isnan(X[:, j])
            w, x = weights[mine], X[mine, j].astype(float)
            got = weight[k, j] if missing else weight[k]
            assert got == pytest.approx(w.sum(), rel=1e-12)
            if len(x):
                assert first[k, j] == x[0]
                assert total[k, j] == pytest.approx(w @ (x - x[0]), rel=1e-9, abs=1e-9)
                assert squares[k, j] == pytest.approx(w @ (x - x[0]) ** 2, rel=1e-9)


def test_log_densities_of_diagonal_gaussians():
    rng = np.random.default_rng(0)
    X, mean = rng.normal(size=(50, 5)), rng.normal(size=(3, 5))
    variance = rng.gamma(2.0, size=(3, 5))
    terms = norm(mean, np.sqrt(variance)).logpdf(X[:, None, :])
    log_norm = -0.5 * np.log(2 * np.pi * variance)
    out = np.empty((50, 3))
    loops.log_density_complete(X, mean, 0.5 / variance, log_norm.sum(axis=1), out)
    np.testing.assert_allclose(out, terms.sum(axis=2), rtol=1e-12)
    gone = rng.random(X.shape) < 0.3
    loops.log_density_marginal(np.where(gone, np.nan, X), mean, 0.5 / variance, log_norm, out)
    expected = np.where(gone[:, None, :], 0.0, terms).sum(axis=2)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_steps_from_log_density_to_gains():
    rng = np.random.default_rng(0)
    log_density, priors = 50 * rng.normal(size=(40, 3)), np.array([0.5, 0.0, 0.5])
    relative, top = np.empty((40, 3)), np.empty(40)
    with np.errstate(divide="ignore"):
        log_priors = np.log(priors)
    assert relative_to_top(log_density, priors, log_priors, relative, top) == 0
    joint = log_density + log_priors
    np.testing.assert_array_equal(top, joint.max(axis=1))
    np.testing.assert_array_equal(relative, joint - top[:, None])
    weights, total = np.exp(relative), np.empty(40)
    expected = weights / weights.sum(axis=1, keepdims=True)
    normalise(weights, total)
    np.testing.assert_allclose(weights, expected, rtol=1e-14)
    gains = rng.normal(size=(1, 3, 4))
    out = np.empty((40, 4))
    expected_gains(weights, gains, out)
    np.testing.assert_allclose(out, weights @ gains[0], rtol=1e-12, atol=1e-12)


def test_best_response_is_the_least_loss_at_each_atom():
    rng = np.random.default_rng(0)
    atoms = rng.dirichlet(np.ones(30), size=3).T
    loss, priors = rng.normal(size=(3, 4)), np.array([0.2, 0.3, 0.5])
    best = np.einsum("k,ik,kd->id", priors, atoms, loss).argmin(axis=1)
    expected = np.einsum("ik,ki->k", atoms, loss[:, best])
    np.testing.assert_allclose(best_response(atoms, priors, loss), expected, rtol=1e-12)


def test_expected_shares_are_the_mean_posterior():
    rng = np.random.default_rng(0)
    likelihood, priors = rng.gamma(1.0, size=(30, 3)), np.array([0.2, 0.3, 0.5])
    posterior = likelihood * priors
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        expected_shares(likelihood, priors), posterior.mean(axis=0), rtol=1e-12
    )
