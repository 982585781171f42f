"""Confusion matrices and class balance given the state, against exact posterior moments."""

import numba
import numpy as np
import pytest
from scipy import stats

from coterie.kernels.gibbs.confusion import draw_matrices, mean_matrices
from coterie.kernels.shapes import Shapes, shapes_of
from ladder.cases import CBCC_3, HCBCC_3, LARGER, name
from ladder.montecarlo import FALSE_ALARM, Chain, assert_means
from ladder.sampler import real, start
from reference.confusion import confusion_moment
from reference.exact import predictive

needs_jit = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)
IDLE = 2  # the annotator of THREE_CLASSES who has no labels


@needs_jit
@pytest.mark.parametrize("case", LARGER, ids=name)
def test_matrices_have_the_exact_moments(case):
    """Means, draws and squared draws; the annotator without labels is the predictive."""
    data, model = case.problem.codes, real(case).model
    chain = Chain(real(case), case, 5)
    rng, spare = np.random.default_rng(1), np.random.default_rng(2)
    shape = (case.problem.n_annotators, data.n_classes, data.n_answers)
    means, draws, balances = (np.zeros((6_000, *size)) for size in (shape, shape, shape[1:2]))
    for mean, draw, balance in zip(means, draws, balances, strict=True):
        chain.sweep(2)
        model.mean_confusion(chain.state, data, chain.prior, mean)
        model.draw_confusion(chain.state, data, chain.prior, rng, spare, draw)
        model.draw_class_balance(chain.state, chain.prior, rng, balance)
    np.testing.assert_allclose(draws.sum(axis=-1), 1, rtol=1e-12)
    np.testing.assert_allclose(means.sum(axis=-1), 1, rtol=1e-12)
    first, second = confusion_moment(case, 1), confusion_moment(case, 2)
    sites = list(np.ndindex(shape))
    for chains, exact in ((means, first), (draws, first), (draws**2, second)):
        assert_means({s: chains[:, *s] for s in sites}, {s: exact[s] for s in sites})
    exact = predictive(case.problem, case.posterior(), case.prior.class_weights)
    assert_means(dict(enumerate(balances.T)), dict(enumerate(exact)))


@pytest.mark.exact
def test_rows_are_dirichlet():
    mean, strength = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]), np.array([5.0, 2.0])
    said = np.array([[[0, 3], [2, 0], [0, 0]]], np.int32)
    n = 4_000
    counts, base = np.repeat(said, n, axis=0), np.zeros(n, int)
    draws = draw_matrices(counts, shapes_of(mean, strength), base, np.random.default_rng(3))
    np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=1e-12)
    for t in range(2):
        shapes, p = strength[t] * mean[t] + said[0, :, t], draws[:, t]
        for c, shape in enumerate(shapes):
            law = stats.beta(shape, shapes.sum() - shape)
            assert stats.kstest(p[:, c], law.cdf).pvalue > FALSE_ALARM
        # With the sum fixed, two components determine the law: their product pins the dependence.
        exact = shapes[0] * shapes[1] / (shapes.sum() * (shapes.sum() + 1))
        assert_means({t: p[:, 0] * p[:, 1]}, {t: exact})


@pytest.mark.exact
def test_rows_of_underflowed_shapes_are_one_answer_drawn_from_the_mean():
    log_mean = np.log([[[0.2], [0.3], [0.5]]])
    shapes = Shapes(np.zeros((1, 3, 1)), np.zeros((1, 1)), log_mean, np.full((1, 1), -1e4))
    n = 3_000
    nothing, base = np.zeros((n, 3, 1), np.int32), np.zeros(n, int)
    draws = draw_matrices(nothing, shapes, base, np.random.default_rng(4))
    assert set(draws.ravel()) == {0.0, 1.0}
    expected = n * np.array([0.2, 0.3, 0.5])
    assert stats.chisquare(draws.sum(axis=(0, 1)), expected).pvalue > FALSE_ALARM
    np.testing.assert_allclose(mean_matrices(nothing[:1], shapes, base[:1]), [[[0.2, 0.3, 0.5]]])


@pytest.mark.exact
@pytest.mark.parametrize("case", [CBCC_3, HCBCC_3], ids=name)
def test_members_share_a_draw_in_cbcc_only(case):
    z = {0: 0, 1: 2, 2: 1, 4: 1, 5: 2}
    sampler = real(case)
    state = start(sampler, case, z, {0: 0, 1: 0, 3: 1})
    rng = np.random.default_rng(1)
    out = np.zeros((4, 3, 4))
    prior = sampler.model.pack_prior(case.prior)
    sampler.model.draw_confusion(state, case.problem.codes, prior, rng, rng, out)
    assert np.array_equal(out[0], out[1]) == (case.model == "cbcc")
    assert not np.array_equal(out[0], out[3])


@pytest.mark.exact
@pytest.mark.parametrize("case", LARGER, ids=name)
def test_annotators_without_labels_draw_from_the_spare_generator_only(case):
    sampler = real(case)
    state = start(sampler, case, {0: 0, 1: 2, 2: 1, 4: 1, 5: 2}, {0: 0, 1: 0, 3: 1})
    prior = sampler.model.pack_prior(case.prior)
    outs = np.zeros((2, 4, 3, 4))
    for seed, out in enumerate(outs):
        rng, spare = np.random.default_rng(1), np.random.default_rng(100 + seed)
        sampler.model.draw_confusion(state, case.problem.codes, prior, rng, spare, out)
    others = [l for l in range(4) if l != IDLE]
    np.testing.assert_array_equal(outs[0, others], outs[1, others])
    if case.model != "cbcc":  # there a newcomer may join a cluster, and then shares its draw
        assert not np.array_equal(outs[0, IDLE], outs[1, IDLE])
