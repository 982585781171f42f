"""The exact checks of Consensus' items with random numbers of their own, wherever they lie."""

import itertools
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np

from coterie.kernels.record import new_trace
from ladder.checks import SAME
from ladder.consensus.cases import (
    THREE,
    Case,
    case,
    given_drawn,
    make_state,
    packed,
    some_drawn,
    some_values,
)
from ladder.consensus.checks import assert_recount, labels_of, new_tally_of
from ladder.consensus.stationarity import assert_counted, sources
from ladder.sampler import Sampler, planted, run_block
from ladder.stationarity import middles
from reference import consensus as reference
from reference.problem import THREE_CLASSES

# Three classes and three kinds have a way of their own.
NINE = replace(THREE, guessing=(0.0, 0.4, 0.8), kind_weights=[1.4, 0.8, 0.5])
NINE_CASE = case(THREE_CLASSES, NINE)


@dataclass(frozen=True)
class Blocked(Sampler):
    """The sampler whose items may lie anywhere; all else is that of Consensus."""

    def module(self, name):
        return super().module(
            "gibbs.blocked.consensus" if name == "gibbs.consensus.model" else name
        )


def blocked():
    """The sampler that the package ships."""
    return Blocked("coterie", "blocked.consensus")


def planted_blocked(a_case, folder, edits=()):
    """The same from a copy of its source with these edits."""
    return Blocked(planted(a_case, folder, edits).package, "blocked.consensus")


def hard(sampler):
    """The file of the items; its pieces, called from here, run as Python."""
    return sampler.module("gibbs.blocked.hard").module


def driver(sampler):
    return sampler.module("gibbs.blocked.consensus").module


def shown(sampler, a_case: Case, state, drawn):
    """Room to sweep in, and arbitrary pi, rho, v, Psi as the items read them."""
    prior = packed(sampler, a_case)
    scratch = driver(sampler).new_scratch(state, a_case.problem.codes, prior)
    given = given_drawn(Sampler(sampler.package, "consensus"), a_case, state, drawn)
    return scratch.whole._replace(given=scratch.whole.given._replace(drawn=given.drawn))


def check_items(sampler, a_case):
    """Conditional = joint: kind and class of an item, by products and in logs, g summed out."""
    items, n_classes = hard(sampler), a_case.problem.n_classes
    every = list(itertools.product(range(a_case.n_kinds), range(n_classes)))
    for seed in range(3):
        state = make_state(sampler, a_case, some_values(a_case, seed))
        drawn = some_drawn(a_case, seed)
        whole = shown(sampler, a_case, state, drawn)
        work = whole.marks.work
        for i in a_case.labelled:
            want = np.array(
                [reference.p_item(a_case.problem, a_case.prior, drawn, i, t, k) for k, t in every]
            )
            without_pi = want / np.tile(drawn.pi, a_case.n_kinds)
            if i in a_case.problem.gold:
                want *= [t == a_case.problem.gold[i] for _, t in every]
            assert items.weigh_hard(i, whole.items, whole.given, work)
            np.testing.assert_allclose(work.weights, without_pi, rtol=1e-12)
            chosen = int(np.argmax(want))
            before = want[:chosen].sum() / want.sum()
            u = before + want[chosen] / want.sum() / 2
            for tallied in (True, False):
                assert items.choose_hard(i, whole.items, whole.given, work, u, tallied) == chosen
                np.testing.assert_allclose(work.weights, want / want.sum(), atol=SAME)


def check_block(sampler, a_case):
    """Sweeps of one block leave the counts of the last, and nothing of those before."""
    problem, prior = a_case.problem, packed(sampler, a_case)
    state = make_state(sampler, a_case, some_values(a_case, 1))
    rng, trace = np.random.default_rng(3), new_trace(3, problem.n_classes)
    run_block(driver(sampler), state, problem.codes, prior, rng, new_tally_of(a_case), trace)
    assert_recount(a_case, state)


def check_conditional(sampler, a_case):
    """An item's class, kind and sources come out with p(z, k, g | the rest), exactly.

    Every outcome is forced by the numbers that it needs. They do not depend on where the chain is,
    so that the step leaves the posterior as it is.
    """
    drawn = some_drawn(a_case, 3)
    for i in a_case.labelled:
        n_labels = len(labels_of(a_case, i))
        p = {
            (k, t, g): reference.p_item(a_case.problem, a_case.prior, drawn, i, t, k, g)
            for k, t in itertools.product(range(a_case.n_kinds), range(a_case.problem.n_classes))
            for g in sources(a_case, k, n_labels)
            if a_case.problem.gold.get(i, t) == t
        }
        total, found = sum(p.values()), {}
        for outcome in p:
            chance, now = forced(sampler, a_case, drawn, i, outcome)
            found[now] = found.get(now, 0.0) + chance
        assert found.keys() == p.keys()
        for outcome, chance in found.items():
            np.testing.assert_allclose(chance, p[outcome] / total, atol=SAME)


def forced(sampler, a_case, drawn, i, outcome):
    """Sweep all items, item i with the numbers of an outcome; its chance, and where i went."""
    items, state = hard(sampler), make_state(sampler, a_case, some_values(a_case, 4))
    whole = shown(sampler, a_case, state, drawn)
    k, t, g = outcome
    work, labels = whole.marks.work, labels_of(a_case, i)
    items.choose_hard(i, whole.items, whole.given, work, 0.5, False)
    place = k * a_case.problem.n_classes + t
    chance, numbers = work.weights[place], {0: middles(work.weights)[place]}
    for n, (label, own) in enumerate(zip(labels, g, strict=True)):
        share = items.share_own(label, t, k, whole.items, whole.given)
        chance *= share if own else 1 - share
        numbers[n + 2] = share / 2 if own else (1 + share) / 2
    alone = only(whole.items, i)
    calls = []

    def uniforms(stream, key, place):
        assert key == i
        calls.append(place)
        return numbers[2 * place], numbers.get(2 * place + 1, 2.0)

    totals = whole.totals
    driver(sampler).clear_totals(totals)
    with mock.patch.object(items, "uniforms", uniforms):
        tally = new_tally_of(a_case, 0.0)
        items.sweep_hard(alone, whole.given, None, totals, whole.marks, tally)
    assert len(calls) == len(set(calls)), "numbers are used twice"
    driver(sampler).take(state, totals)
    assert_counted(a_case, state, i, labels)
    return chance, (int(state.kind[i]), int(state.truth[i]), tuple(map(int, state.own[labels])))


def only(items, i):
    """The same items, of which all but one have no labels and are not known."""
    start = items.item_start
    return items._replace(
        item_start=np.where(np.arange(len(start)) <= i, start[i], start[i + 1]),
        gold=np.where(np.arange(len(items.gold)) == i, items.gold, -1).astype(np.int32),
    )
