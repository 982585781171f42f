"""Simulation-based calibration of Consensus as a whole, with its start and warm-up.

The class weights are a vector that the prior fixes: with weights from the votes there is no joint.
CI runs 1,000 replicates as a slow test; 2,000 were run once by hand and passed. What so many can
notice, ``test_sbc`` says.
"""

import warnings

import numpy as np
import pytest

import coterie
from coterie.data.codes import encode
from coterie.errors import CoterieWarning
from ladder.sbc import DRAWS, SETTINGS, THIN, assert_uniform, rank, unjudged
from reference.consensus_prior import draw_worlds

N_ITEMS, N_ANNOTATORS, PER_ITEM = 8, 5, 3
PRIOR = coterie.ConsensusPrior(
    class_weights=[1.6, 0.9],
    knowledge=coterie.Beta(3.0, 2.0),
    knowledge_points=4,
    guess_weights=[1.3, 0.8, 1.1],
    mean_strength=6.0,
    strength=coterie.Gamma(8.0, 2.0),
    guessing=(0.0, 0.4, 0.8),
    kind_weights=[2.0, 1.2, 0.7],
    hard_guess_weights=[0.9, 1.7, 0.6],
    concentration=coterie.Gamma(1.0, 1.0),
    auxiliaries=2,
)
NAMES = np.array(["a", "b", "unsure"], object)


def simulate(prior, rng):
    """A crowd from the prior: annotations and what is true of it."""
    world = draw_worlds(prior.resolve(2, 3), 1, N_ANNOTATORS, 2, rng)
    z, k = (rng.choice(len(p[0]), N_ITEMS, p=p[0]) for p in (world.pi, world.rho))
    item = np.repeat(np.arange(N_ITEMS), PER_ITEM)
    annotator = np.concatenate([rng.permutation(N_ANNOTATORS)[:PER_ITEM] for _ in range(N_ITEMS)])
    own = rng.random(len(item)) >= np.asarray(prior.guessing)[k[item]]
    rows = np.where(own[:, None], world.psi[0, annotator, z[item]], world.v[0])
    answer = (rng.random(len(item))[:, None] > np.cumsum(rows, axis=1)[:, :-1]).sum(axis=1)
    codes = encode(item, annotator, answer, sizes=(N_ITEMS, N_ANNOTATORS, 2, 3))
    ids = [np.array([f"{letter}{n}" for n in range(size)], object) for letter, size in
           (("q", N_ITEMS), ("w", N_ANNOTATORS))]  # fmt: skip
    q = world.q[0]
    return coterie.Annotations(*ids, NAMES[:2], NAMES[2:], codes), {
        "class total": np.sum(z == 0),
        "a matrix": world.psi[0, 0, 0, 0],
        "balance": world.pi[0, 0],
        "concentration": world.alpha[0],
        **{name: value[0] for name, value in of_partitions(q[None], annotator).items()},
    }


def of_partitions(q, annotator):
    """Of those who have labels: numbers and pairs."""
    q = q[:, np.unique(annotator)]
    return {
        "coteries": np.array([len(set(row)) for row in q.tolist()]),
        "pairs": (q[:, :, None] == q[:, None]).sum(axis=(1, 2)),
        "first two": (q[:, 0] == q[:, 1]).astype(int),
    }


def drawn(posterior):
    draws, annotator = posterior.draws, posterior.annotations.codes.item_annotator
    every = slice(THIN - 1, None, THIN)
    return {
        "class total": draws.trace["class_total"][0, every, 0],
        "a matrix": draws.confusion[0, :, 0, 0, 0],
        "balance": draws.class_balance[0, :, 0],
        "concentration": draws.trace["concentration"][0, every],
        **of_partitions(draws.partition[0], annotator),
    }


def check(replicates):
    prior, found = PRIOR, {}
    for number in range(replicates):
        rng = np.random.default_rng(number)
        annotations, true = simulate(prior, rng)
        model = coterie.Consensus(
            prior=prior, matrices="raw", random_state=number, progress=False, **SETTINGS
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoterieWarning)  # one chain may disagree with the vote
            got = drawn(unjudged(model).fit(annotations).posterior_)
        for name, value in true.items():
            assert len(got[name]) == DRAWS
            found.setdefault(name, []).append(rank(value, got[name], rng))
    assert_uniform(found, "Consensus")


def test_ranks_are_uniform():
    check(80)


@pytest.mark.slow
def test_ranks_are_uniform_in_many_replicates():
    check(1_000)
