"""Four cells have an update of their own: bit by bit it takes the steps of that for any number."""

import numba
import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.kernels.gibbs import easyhard, ebcc
from coterie.kernels.gibbs.kinds import ibcc
from coterie.kernels.gibbs.kinds.shared import Kinds
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import EasyHardPrior, EBCCPrior, IBCCPrior

MODELS = {
    "two kinds": (ibcc, IBCCPrior(), (Kinds(2, np.zeros(0, np.int32), 1.0),)),
    "two sub-types": (ebcc, EBCCPrior(subtypes=2), ()),
    "easy and hard": (easyhard, EasyHardPrior(), ()),
}
chains = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="chains need compiled kernels")


def sweep(name, data, only_four):
    """State, tally and trace after thirty sweeps."""
    module, prior, more = MODELS[name]
    packed = module.pack_prior(prior.resolve(data.n_classes, data.n_answers), *more)
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, len(data.gold)).astype(np.int32)
    state = module.initial_state(data, packed, truth, None, rng)
    scratch = module.new_scratch(state, data, packed)
    assert scratch.work.only_four
    scratch = scratch._replace(work=scratch.work._replace(only_four=only_four))
    layout = module.layout_of(data, packed)
    record = Record(new_tally(data, layout), new_trace(30, 2, layout), keep_nothing(data))
    module.run_block(state, data, packed, Streams(rng, rng, rng), record, scratch)
    return [*state, record.tally.probability, record.tally.per_item, record.trace.log_joint]


@chains
@pytest.mark.parametrize("name", MODELS)
def test_the_same_steps_as_for_any_number(name):
    """Also beside items with a known class, with repeated labels, and with none."""
    rng = np.random.default_rng(3)
    truth, item = rng.integers(0, 2, 60), rng.integers(0, 58, 500)
    answer = np.where(rng.random(500) < 0.7, truth[item], rng.integers(0, 2, 500))
    gold = np.where(np.arange(60) < 6, truth, -1)
    data = encode(item, rng.integers(0, 9, 500), answer, sizes=(60, 9, 2, 2), gold=gold)
    wide, four = (sweep(name, data, only_four) for only_four in (False, True))
    for one, other in zip(wide, four, strict=True):
        np.testing.assert_array_equal(one, other)
