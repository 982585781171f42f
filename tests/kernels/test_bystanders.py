"""Who and what has no labels changes nobody else's bits; nothing at all is allowed too."""

from dataclasses import replace

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.keep import Streams
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, HCBCCPrior, IBCCPrior
from ladder.cases import LARGER, name
from ladder.sampler import one_draw, ours, real, run_block
from reference.problem import THREE_CLASSES

pytestmark = pytest.mark.exact
MODELS = {"ibcc": IBCCPrior(), "cbcc": CBCCPrior(), "hcbcc": HCBCCPrior()}

# THREE_CLASSES without item 3 and annotator 2, who have no labels.
ITEM = {0: 0, 1: 1, 2: 2, 4: 3, 5: 4}
ANNOTATOR = {0: 0, 1: 1, 3: 2}
PACKED = replace(
    THREE_CLASSES,
    n_items=5,
    n_annotators=3,
    labels=tuple((ITEM[i], ANNOTATOR[l], c) for i, l, c in THREE_CLASSES.labels),
    gold={ITEM[i]: t for i, t in THREE_CLASSES.gold.items()},
)


def run(model, prior, problem, n_sweeps=200):
    """Run from the same start with the same seed; give state, tally and trace."""
    rng = np.random.default_rng(4)
    data, packed = problem.codes, model.pack_prior(prior)
    zeros = np.zeros(problem.n_items, np.int32), np.zeros(problem.n_annotators, np.int32)
    state = model.initial_state(data, packed, *zeros, rng)
    tally, trace = new_tally(data), new_trace(n_sweeps, data.n_classes)
    run_block(model, state, data, packed, rng, tally, trace)
    return state, tally, trace


@pytest.mark.parametrize("case", LARGER, ids=name)
def test_bystanders_change_nobodys_bits(case):
    model = real(case).model
    state, tally, trace = run(model, case.prior, THREE_CLASSES)
    state_2, tally_2, trace_2 = run(model, case.prior, PACKED)
    np.testing.assert_array_equal(state.truth[list(ITEM)], state_2.truth)
    np.testing.assert_array_equal(tally.probability[list(ITEM)], tally_2.probability)
    for mine, theirs in zip(trace, trace_2, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    if case.has_groups:
        np.testing.assert_array_equal(state.group[list(ANNOTATOR)], state_2.group)
        assert state.group[2] == -1
    assert state.truth[3] == -1


@pytest.mark.parametrize("kind", MODELS)
def test_no_labels_at_all_give_the_prior(kind):
    model = ours(kind).model
    nothing = np.zeros(0, int)
    data = encode(nothing, nothing, nothing, sizes=(2, 3, 2, 3), gold=np.array([-1, 1]))
    prior = MODELS[kind].resolve(2, 3)
    packed = model.pack_prior(prior)
    rng = np.random.default_rng(1)
    start = np.zeros(2, np.int32), np.zeros(3, np.int32)
    state = model.initial_state(data, packed, *start, rng)
    tally, trace = new_tally(data), new_trace(20, 2)
    run_block(model, state, data, packed, rng, tally, trace)
    # One item is known to be of class 1, and each class has a pseudo-count of one.
    np.testing.assert_allclose(tally.probability / tally.sweeps, [[1 / 3, 2 / 3], [0, 1]])
    assert np.isfinite(trace.log_joint).all()
    assert (trace.n_coteries == 0).all()
    mean, draw, *_ = one_draw(model, state, data, packed, Streams(rng, rng, rng))
    np.testing.assert_allclose(mean, np.broadcast_to(prior.mean, mean.shape))
    np.testing.assert_allclose(draw.sum(axis=2), 1)
