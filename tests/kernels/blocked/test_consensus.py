"""Consensus with items that may lie anywhere, on the ladder: exact, importance sampling, Geweke."""

from dataclasses import replace

import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.data.keys import key_of
from coterie.data.shards import Shard
from coterie.inference.engine import Order, Sizes
from coterie.inference.holder import Holder
from coterie.kernels.gibbs.blocked import consensus as driver
from coterie.kernels.record import new_trace
from coterie.numeric.keyed import Stream
from kernels.consensus.test_montecarlo import CROWD
from ladder.caught import assert_caught, controls
from ladder.consensus import checks
from ladder.consensus.blocked import (
    NINE_CASE,
    blocked,
    check_block,
    check_conditional,
    check_items,
    planted_blocked,
)
from ladder.consensus.cases import (
    CASES,
    REPEATED_CASE,
    THREE,
    THREE_CASE,
    TWO_CASE,
    case,
    file,
    make_state,
    packed,
    some_values,
)
from ladder.consensus.geweke import check_geweke
from ladder.consensus.montecarlo import check_posterior
from ladder.marks import needs_compiler
from ladder.sampler import run_block

ALL = {**CASES, "nine": NINE_CASE}
every_case = pytest.mark.parametrize("case", ALL.values(), ids=ALL)


@pytest.mark.exact
@every_case
def test_weights_are_differences_of_the_joint(case):
    check_items(blocked(), case)


@pytest.mark.exact
@every_case
def test_items_are_drawn_from_their_conditional(case):
    check_conditional(blocked(), case)


@pytest.mark.exact
@every_case
def test_counts_are_a_recount_and_the_trace_is_the_joint(case, tmp_path):
    checks.check_bookkeeping(planted_blocked(case, tmp_path), case)


@pytest.mark.exact
@pytest.mark.slow  # nobody else needs them compiled
@every_case
def test_counts_and_trace_of_compiled_sweeps(case):
    checks.check_bookkeeping(blocked(), case)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [TWO_CASE, REPEATED_CASE, THREE_CASE, NINE_CASE],
    ids=["two", "repeated", "three", "nine"],
)
def test_averages_are_those_of_the_posterior(case):
    check_posterior(blocked(), case)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("prior", [THREE, NINE_CASE.prior], ids=["two kinds", "three kinds"])
def test_prior_and_chain_agree(prior):
    check_geweke(blocked(), case(CROWD, prior))


def run(sampler, case, n_sweeps):
    state = make_state(sampler, case, some_values(case, 1))
    tally, trace = checks.new_tally_of(case), new_trace(n_sweeps, case.problem.n_classes)
    rng, prior = np.random.default_rng(4), packed(sampler, case)
    run_block(file(sampler, "model"), state, case.problem.codes, prior, rng, tally, trace)
    return state, tally, trace


@pytest.mark.slow
@pytest.mark.parametrize("case", [TWO_CASE, NINE_CASE], ids=["two", "nine"])
def test_compiled_and_plain_python_do_the_same(case, tmp_path):
    """The exact checks call pieces as Python; this says that the kernels are those pieces."""
    both = run(blocked(), case, 20), run(planted_blocked(case, tmp_path), case, 20)
    for mine, theirs in zip(*both, strict=True):
        for name, array in mine._asdict().items():
            np.testing.assert_allclose(array, getattr(theirs, name), rtol=1e-8, err_msg=name)


def check_posterior_briefly(sampler, case):
    check_posterior(sampler, case, n_worlds=100_000, n_blocks=300, block=5)


HARD, DRIVER, STATE = (
    "kernels/gibbs/blocked/hard.py",
    "kernels/gibbs/blocked/consensus.py",
    "kernels/gibbs/consensus/state.py",
)
BUGS = {
    "shares of kinds forgotten": (
        NINE_CASE, check_items, [(HARD, "    a = b = c = drawn.kinds[0]", "    a = b = c = 1.0")],
    ),
    "guesses not scaled": (
        NINE_CASE, check_items, [(HARD, "h *= (1 - r) * y + r * v", "h *= (1 - r) * y + v")],
    ),
    "classes mixed up": (
        TWO_CASE, check_items,
        [(HARD, "weights[4], weights[5] = a, b, c, d, e, f",
          "weights[4], weights[5] = a, b, c, d, f, e")],
    ),
    "guess of the wrong answer": (
        TWO_CASE, check_items,
        [(HARD, "        v = drawn.hard[answer]\n        a *= (1 - p) * x + p * v\n"
          "        b *= (1 - p) * y + p * v\n        c *= (1 - q) * x",
          "        v = drawn.hard[0]\n        a *= (1 - p) * x + p * v\n"
          "        b *= (1 - p) * y + p * v\n        c *= (1 - q) * x")],
    ),
    "sources drawn the wrong way round": (
        TWO_CASE, check_conditional,
        [(HARD, "own = (u if place % 2 == 0 else v) < share",
          "own = (u if place % 2 == 0 else v) >= share")],
    ),
    "sources share the number of the class": (
        TWO_CASE, check_conditional, [(HARD, "1 + place // 2)", "place // 2)")],
    ),
    "two labels share a number": (
        TWO_CASE, check_conditional,
        [(HARD, "own = (u if place % 2 == 0 else v) < share", "own = u < share")],
    ),
    "kind of the next": (
        REPEATED_CASE, check_conditional,
        [(HARD, "            share = share_own(label, t, k, items, given)",
          "            share = share_own(label, t, 2, items, given)")],
    ),
    "class balance forgotten": (
        TWO_CASE, check_items,
        [(HARD, "        share = balance[t] if gold", "        share = 1.0 if gold")],
    ),
    "gold forgotten": (
        THREE_CASE, check_items,
        [(HARD, "balance[t] if gold < 0 or gold == t else 0.0", "balance[t]")],
    ),
    "guesses counted in matrices": (
        TWO_CASE, check_conditional, [(HARD, "    if own == 1:\n", "    if own >= 0:\n")],
    ),
    "silent gold forgotten": (
        THREE_CASE, checks.check_bookkeeping,
        [(HARD, "totals.class_total[items.gold[i]] += 1", "pass")],
    ),
    "counts are not forgotten": (
        TWO_CASE, check_block,
        [("kernels/gibbs/blocked/given.py", "    totals.source[:] = 0\n", "")],
    ),
    "guesses not taken": (
        TWO_CASE, checks.check_bookkeeping,
        [(DRIVER, "state.guessed[c] = totals.guessed[c]", "pass")],
    ),
    "kinds not taken": (
        TWO_CASE, checks.check_bookkeeping,
        [(DRIVER, "state.kind_total[k] = totals.kind_total[k]", "pass")],
    ),
    "one number for all items": (
        TWO_CASE, check_conditional,
        [(HARD, "        u, _ = uniforms(stream, items.key[i], 0)\n        place",
          "        u, _ = uniforms(stream, items.key[0], 0)\n        place")],
    ),
    "the same numbers in every sweep": (
        TWO_CASE, check_posterior_briefly,
        [("kernels/gibbs/blocked/whole.py",
          "Stream(int(rng.random() * WORDS), int(rng.random() * WORDS), 0)", "Stream(1, 2, 0)")],
    ),
    "exchanges of classes that gold has": (
        THREE_CASE, checks.check_swap,
        [(STATE, "np.setdiff1d(np.arange(data.n_classes), data.gold)",
          "np.arange(data.n_classes)")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug, tmp_path):
    assert_caught(BUGS[bug], planted_blocked, tmp_path)


@pytest.mark.parametrize(("case", "check"), controls(BUGS))
def test_without_a_bug_the_check_passes(case, check, tmp_path):
    check(planted_blocked(case, tmp_path), case)


def test_the_driver_is_told_which_classes_gold_has():
    """Of items that are elsewhere: exchanges move rows of counts, and no known truth."""
    prior = packed(blocked(), THREE_CASE)
    none = np.zeros(0, int)
    data = encode(none, none, none, sizes=(0, 4, 3, 4))
    rng = np.random.default_rng(1)
    start = np.zeros(0, np.int32), np.zeros(4, np.int32)
    state = driver.initial_state(data, prior, *start, rng)
    scratch = driver.new_scratch(state, data, prior)
    assert scratch.plain.room.free_class.tolist() == [0, 1, 2]
    told = driver.knowing(scratch, THREE_CASE.problem.codes)
    assert told.plain.room.free_class.tolist() == checks.free_classes(THREE_CASE) == [0]


def holder_of(labels, gold, sizes):
    """Items by key, with (item, annotator, answer) labels."""
    n = len(gold)
    counts = np.bincount([i for i, _, _ in labels], minlength=n)
    _, annotator, answer = np.array(sorted(labels), np.int32).T
    start = np.concatenate([[0], np.cumsum(counts)])
    return Holder(
        sizes,
        {0: Shard(key_of(range(n)), start, annotator, answer, np.array(gold, np.int32))},
    )


def test_items_start_at_the_vote_and_ties_by_chance():
    n = 2_000
    labels = [(i, 0, 0) for i in range(n)] + [(i, 1, 2) for i in range(n)]  # a tie of 0 and 2
    labels += [(n, 0, 1), (n, 1, 1), (n, 1, 0), (n + 1, 0, 3), (n + 2, 0, 0)]
    gold = [-1] * (n + 2) + [2, 1, -1]  # known against its vote, known and silent, silent
    totals = holder_of(labels, gold, Sizes(2, 3, 4, 3)).sweep(Order(0, Stream(5, 6, 0), None))
    assert totals.class_total.sum() == n + 4
    assert totals.class_total[1] in (2, 3)  # an item with an extra answer alone starts anywhere
    assert abs(totals.class_total[0] - n / 2) < 4 * np.sqrt(n / 4)
    assert totals.kind_total.tolist() == [n + 3, 0, 0]
    assert totals.source.tolist() == [[0, len(labels)], [0, 0], [0, 0]]
    assert totals.said.sum() == len(labels)
    assert totals.said[0, 0, 2] >= 1
    assert totals.guessed.tolist() == [0, 0, 0, 0]


def test_an_item_of_a_hundred_thousand_labels_is_weighed_in_logs():
    n, rng = 100_000, np.random.default_rng(0)
    annotator = np.where(rng.random(n) < 0.9, 0, rng.integers(1, 1_000, n))
    labels = list(zip([0] * n, annotator.tolist(), (rng.random(n) < 0.6).astype(int), strict=True))
    holder = holder_of(labels, [-1], Sizes(1_000, 2, 2, 3))
    prior = packed(blocked(), replace(TWO_CASE))
    none = np.zeros(0, int)
    data = encode(none, none, none, sizes=(0, 1_000, 2, 2))
    start = np.zeros(0, np.int32), np.zeros(1_000, np.int32)
    state = driver.initial_state(data, prior, *start, rng)
    given = driver.new_scratch(state, data, prior).whole.given
    drawn = given.drawn
    for name, size in {"balance": 2, "kinds": 3, "hard": 2}.items():
        getattr(drawn, name)[:] = rng.dirichlet(np.full(size, 5.0))
    drawn.chance[:] = rng.dirichlet(np.full(2, 5.0), (1_000, 2)).swapaxes(1, 2)
    drawn.chance[0] = [[0.45, 0.4], [0.55, 0.6]]
    for name in ("balance", "kinds", "hard", "chance"):
        getattr(drawn, f"log_{name}")[:] = np.log(getattr(drawn, name))
    totals = holder.sweep(Order(0, Stream(1, 2, 3), given, tallied=0))
    assert totals.said.sum() + totals.guessed.sum() == totals.source.sum() == n
    shard = sorted(labels)
    l, c = np.array([x[1] for x in shard]), np.array([x[2] for x in shard])
    logs = (
        np.array(
            [
                np.log((1 - lam) * drawn.chance[l, c] + lam * drawn.hard[c][:, None]).sum(axis=0)
                for lam in prior.guessing
            ]
        )
        + np.log(drawn.kinds)[:, None]
    )
    joint = logs + np.log(drawn.balance)
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=None))
    tempered = np.logaddexp.reduce(logs, axis=0) / (1 + 0.05 * (n - 1)) + np.log(drawn.balance)
    tempered = np.exp(tempered - np.logaddexp.reduce(tempered))
    want = np.concatenate([p.sum(axis=0), tempered, p.sum(axis=1)])
    np.testing.assert_allclose(holder.sums(0, 0)[0], want, rtol=1e-6, atol=1e-12)
