"""Two, five and fifty classes: nothing underflows to a wrong number."""

import math

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.keep import Streams
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from ladder.cases import HCBCC_2
from ladder.marks import needs_compiler
from ladder.sampler import at_work, choices, one_draw, ours, real, run_block, start, weighed

MODELS = {"ibcc": IBCCPrior(), "cbcc": CBCCPrior(), "hcbcc": HCBCCPrior()}
# Shapes of 2e-4 per answer: log eta down to -2e5, far below what a float holds.
TINY = HCBCCPrior(mean_strength=0.01, strength=Gamma(0.5, 1.0))


def crowd(n_classes, n_items=60, n_annotators=8):
    """Annotators who are right seven times in ten; the last never labels."""
    rng = np.random.default_rng(1)
    z = rng.integers(n_classes, size=n_items)
    item, annotator = np.divmod(np.arange(n_items * (n_annotators - 1)), n_annotators - 1)
    noise = rng.integers(n_classes, size=len(item))
    answer = np.where(rng.random(len(item)) < 0.7, z[item], noise)
    sizes = (n_items, n_annotators, n_classes, n_classes)
    return encode(item, annotator, answer, sizes=sizes), z


@needs_compiler
@pytest.mark.parametrize("n_classes", [2, 5, 50])
@pytest.mark.parametrize(
    ("kind", "prior"), [*MODELS.items(), ("hcbcc", TINY)], ids=["ibcc", "cbcc", "hcbcc", "tiny"]
)
def test_every_number_stays_finite(kind, prior, n_classes):
    data, z = crowd(n_classes)
    model = ours(kind).model
    packed = model.pack_prior(prior.resolve(n_classes, n_classes))
    rng = np.random.default_rng(2)
    state = model.initial_state(data, packed, z, np.zeros(8, np.int32), rng)
    tally, trace = new_tally(data), new_trace(100, n_classes)
    run_block(model, state, data, packed, rng, tally, trace)
    for array in (*state, *trace, tally.probability):
        assert np.isfinite(array).all()
    np.testing.assert_allclose(tally.probability.sum(axis=1), 100, rtol=1e-9)
    accuracy = (tally.probability.argmax(axis=1) == z).mean()
    # Seven annotators who are right in 70 %: even the vote does better. Under a prior that says
    # nothing, a hundred sweeps stay near where they happen to go first.
    assert accuracy > (0.7 if prior is TINY else 0.85)
    mean, draw, balance, _ = one_draw(model, state, data, packed, Streams(rng, rng, rng))
    for rows in (mean, draw, balance):
        np.testing.assert_allclose(rows.sum(axis=-1), 1, rtol=1e-9)


@pytest.mark.exact
def test_underflowed_shapes_keep_their_logs():
    """Weights with eta of e^-2000, which is zero as a float, are still what the joint says."""
    sampler, case = real(HCBCC_2), HCBCC_2
    data = case.problem.codes
    z = {0: 0, 1: 1, 2: 0}
    state = start(sampler, case, z, {0: 0, 1: 1, 2: 2})
    state.log_mean[:] = np.log([0.5, 0.5])
    state.log_strength[:] = math.log(2.0)
    state.log_mean[1] = [[-2000.0], [0.0]]
    state.strength[:] = np.exp(state.log_strength)
    state.weight[:] = np.exp(state.log_mean + state.log_strength[:, None])
    assert state.weight[1, 0, 0] == 0
    view, work = at_work(sampler, case, state)
    *_, got = weighed(sampler, 2, view, data, work)  # annotators 1 and 2 call item 2 "0"
    # Annotator 1 has called item 0 "0" and item 1 "1", annotator 2 item 0 "1".
    n = np.array([1, 1]) + case.prior.class_weights  # item 2 is of class 0
    want = [
        math.log(n[0]) + math.log(1 / 3) + math.log(1 / 3),  # (1 + 0) / (1 + 2), (0 + 1) / (1 + 2)
        math.log(n[1]) + (math.log(2) - 2000) - math.log(3) + math.log(0.5),
    ]
    np.testing.assert_allclose(got, want, rtol=1e-12)
    for choose in choices(sampler, work, data):
        assert choose(2, view, data, work, 0.999) == 0
        assert work.weights[0] == 1
