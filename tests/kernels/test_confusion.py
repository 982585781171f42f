"""Confusion matrices and class balance given the state, against exact posterior moments."""

import numba
import numpy as np
import pytest
from scipy import stats

from coterie.kernels.gibbs.confusion import add_mean, draw_matrix
from coterie.kernels.keep import Streams
from coterie.kernels.shapes import Shapes, shapes_of
from ladder.cases import CBCC_3, HCBCC_3, LARGER, name
from ladder.montecarlo import FALSE_ALARM, Chain, assert_means
from ladder.sampler import one_draw, real, set_parameters, start
from reference.confusion import confusion_moment
from reference.exact import predictive

needs_jit = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="long chains need the compiled kernels"
)
IDLE = 2  # the annotator of THREE_CLASSES who has no labels


def streams(*seeds):
    """Generators for the moves, the draws and the draws of those without labels."""
    return Streams(*map(np.random.default_rng, seeds))


@needs_jit
@pytest.mark.slow
@pytest.mark.parametrize("case", LARGER, ids=name)
def test_matrices_have_the_exact_moments(case):
    """Means, draws and squared draws; the annotator without labels is the predictive."""
    data, sampler = case.problem.codes, real(case)
    chain, sources = Chain(sampler, case, 5), streams(0, 1, 2)
    shape = (case.problem.n_annotators, data.n_classes, data.n_answers)
    means, draws, balances = (np.zeros((6_000, *size)) for size in (shape, shape, shape[1:2]))
    for k in range(len(draws)):
        chain.sweep(2)
        kept = one_draw(sampler.model, chain.state, data, chain.prior, sources, chain.scratch)
        means[k], draws[k], balances[k], _ = kept
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
    said = np.array([[0, 3], [2, 0], [0, 0]], np.int32)
    shapes, rng, row = shapes_of(mean, strength), np.random.default_rng(3), np.zeros(3)
    draws = np.zeros((4_000, 2, 3))
    for draw in draws:
        draw_matrix(said, shapes, 0, rng, row, draw)
    np.testing.assert_allclose(draws.sum(axis=2), 1, rtol=1e-12)
    for t in range(2):
        weights, p = strength[t] * mean[t] + said[:, t], draws[:, t]
        for c, weight in enumerate(weights):
            law = stats.beta(weight, weights.sum() - weight)
            assert stats.kstest(p[:, c], law.cdf).pvalue > FALSE_ALARM
        # With the sum fixed, two components determine the law: their product pins the dependence.
        exact = weights[0] * weights[1] / (weights.sum() * (weights.sum() + 1))
        assert_means({t: p[:, 0] * p[:, 1]}, {t: exact})


@pytest.mark.exact
def test_rows_of_underflowed_shapes_are_one_answer_drawn_from_the_mean():
    log_mean = np.log([[[0.2], [0.3], [0.5]]])
    shapes = Shapes(np.zeros((1, 3, 1)), np.zeros((1, 1)), log_mean, np.full((1, 1), -1e4))
    n, rng, row = 3_000, np.random.default_rng(4), np.zeros(3)
    nothing, draws = np.zeros((3, 1), np.int32), np.zeros((n, 1, 3))
    for draw in draws:
        draw_matrix(nothing, shapes, 0, rng, row, draw)
    assert set(draws.ravel()) == {0.0, 1.0}
    wanted = n * np.array([0.2, 0.3, 0.5])
    assert stats.chisquare(draws.sum(axis=(0, 1)), wanted).pvalue > FALSE_ALARM
    mean = np.zeros((1, 3))
    add_mean(nothing, shapes, 0, 1.0, mean)
    np.testing.assert_allclose(mean, [[0.2, 0.3, 0.5]])


@pytest.mark.exact
@pytest.mark.parametrize("case", [CBCC_3, HCBCC_3], ids=name)
def test_members_share_a_draw_in_cbcc_only(case):
    z = {0: 0, 1: 2, 2: 1, 4: 1, 5: 2}
    sampler = real(case)
    state = start(sampler, case, z, {0: 0, 1: 0, 3: 1})
    prior = sampler.model.pack_prior(case.prior)
    _, out, *_ = one_draw(sampler.model, state, case.problem.codes, prior, streams(1, 2, 3))
    assert np.array_equal(out[0], out[1]) == (case.model == "cbcc")
    assert not np.array_equal(out[0], out[3])


@pytest.mark.exact
@pytest.mark.parametrize("case", [CBCC_3, HCBCC_3], ids=name)
def test_an_annotator_without_labels_has_the_matrix_of_the_coterie_that_the_draw_seats_them_in(
    case,
):
    sampler, data = real(case), case.problem.codes
    state = start(sampler, case, {0: 0, 1: 2, 2: 1, 4: 1, 5: 2}, {0: 0, 1: 0, 3: 1}, alpha=2.0)
    prior, sources = sampler.model.pack_prior(case.prior), streams(0, 1, 2)
    if case.model == "hcbcc":  # a strength so large that members hardly differ
        eta = np.array([np.eye(3, 4), np.eye(3, 4)[[1, 2, 0]]]) * 0.97 + 0.0075
        set_parameters(state, slice(2), np.full((2, 3), 1e9), eta)
    opened = 0
    for _ in range(200):
        _, matrix, _, partition = one_draw(sampler.model, state, data, prior, sources)
        same = [np.abs(matrix[IDLE] - matrix[l]).max() < 1e-3 for l in range(4)]
        joined = [partition[IDLE] == partition[l] for l in range(4)]
        assert same == joined
        opened += sum(joined) == 1
    assert 0 < opened < 200


@pytest.mark.exact
@pytest.mark.parametrize("case", LARGER, ids=name)
def test_annotators_without_labels_draw_from_the_spare_generator_only(case):
    sampler = real(case)
    state = start(sampler, case, {0: 0, 1: 2, 2: 1, 4: 1, 5: 2}, {0: 0, 1: 0, 3: 1})
    prior = sampler.model.pack_prior(case.prior)
    kept = [
        one_draw(sampler.model, state, case.problem.codes, prior, streams(0, 1, 100 + seed))
        for seed in range(2)
    ]
    outs = np.array([draw for _, draw, *_ in kept])
    others = [l for l in range(4) if l != IDLE]
    np.testing.assert_array_equal(outs[0, others], outs[1, others])
    if case.model != "cbcc":  # there a newcomer may join a cluster, and then shares its draw
        assert not np.array_equal(outs[0, IDLE], outs[1, IDLE])
