"""The items half of a sweep, array in and array out, against brute force."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from coterie.kernels import items
from ladder.items import (
    FALSE_ALARM,
    KINDS,
    PLAIN,
    WORLDS,
    as_python,
    assert_frequent,
    changed,
    check_chances,
    check_counts,
    check_draws,
    check_probabilities,
    check_underflow,
    check_unlike,
    contradicting,
    exchanged,
    loop_with,
    masked_stream,
    planted,
    python,
    sources,
    world,
)  # fmt: skip

NONE = np.zeros(0, np.int32)
every_world = pytest.mark.parametrize("one", WORLDS.values(), ids=WORLDS)


@pytest.mark.exact
@every_world
@pytest.mark.parametrize(
    "check", [check_probabilities, check_counts, check_draws], ids=lambda check: check.__name__
)
def test_exactly(check, one):
    check(items.sweep_of, one)


@pytest.mark.parametrize("one", [PLAIN, WORLDS["sub-types"], KINDS, WORLDS["guesses alone"]])
def test_cells_and_sources_are_drawn_as_often_as_they_are_probable(one):
    check_chances(items.sweep_of, one)


@pytest.mark.parametrize("one", [PLAIN, KINDS], ids=["plain", "kinds"])
def test_two_items_two_sweeps_and_two_chains_are_uncorrelated(one):
    check_unlike(items.sweep_of, one, n=20_000)


TWO_WAYS = {
    f"{n}, {'backwards' if order < 0 else 'forwards'}, {name}": contradicting(n, order, **what)
    for n, order in itertools.product((2, 3, 50), (1, -1))
    for name, what in {
        "plain": {}, "hard": {"lam": (0.0, 0.5, 0.9)}, "gold": {"gold": True},
        "one kind": {"lam": (0.0,)},
    }.items()
}  # fmt: skip


@pytest.mark.exact
@pytest.mark.parametrize("one", TWO_WAYS.values(), ids=TWO_WAYS)
def test_labels_that_contradict_each_other_do_not_underflow(one):
    assert one.log_labels(0, 0, 0) < -800  # no product of floats
    check_underflow(items.sweep_of, one)


@pytest.mark.exact
@pytest.mark.parametrize("lam", [None, (0.0,), (0.0, 0.5, 0.9)], ids=["plain", "one", "three"])
def test_where_a_chance_is_no_float_its_logarithm_decides(lam):
    """A label has probability e^-2000 under one class and e^-1990 under the other, or zero."""
    one = replace(world(2, 2, lam).only([0]), labels=[[(0, 0)]], gold=np.array([-1]))
    one = replace(one, chance=np.array([[[0.0, 0.0], [1.0, 1.0]]]), weight=np.full((1, 2), 0.5))
    if lam:
        one = replace(one, hard=(0.0, 1.0))
    for logs, want in (((-2000.0, -1990.0), 1 / (1 + math.exp(10))), ((-math.inf,) * 2, 0.5)):
        log_chance = np.array([[logs, (0.0, 0.0)]])
        got = one.run(log_chance=log_chance)["sums"][0]
        np.testing.assert_allclose(got[:2], [want, 1 - want], rtol=1e-9)
        if lam:
            np.testing.assert_allclose(got[2:4], [want, 1 - want], rtol=1e-9)


@pytest.mark.exact
def test_a_share_of_kinds_that_is_zero_has_no_items():
    one = replace(contradicting(2, 1, (0.0, 0.5, 0.9)), kinds=(0.5, 0.5, 0.0))
    without = replace(one, kinds=one.kinds[:2], lam=one.lam[:2])
    got = one.run()["sums"][0]
    np.testing.assert_allclose(np.delete(got, 6), without.run()["sums"][0], rtol=1e-12)
    assert got[6] == 0


def test_an_item_of_a_hundred_thousand_labels():
    rng, n = np.random.default_rng(0), 100_000
    one = world(2, 2, (0.0, 0.5, 0.9), n_people=1_000)
    people = np.sort(np.where(rng.random(n) < 0.9, 0, rng.integers(1, 1_000, n)))
    labels = list(zip(people.tolist(), (rng.random(n) < 0.6).astype(int).tolist(), strict=True))
    one.chance[0] = [[0.45, 0.4], [0.55, 0.6]]
    one = replace(one.only([0]), labels=[labels], gold=np.array([-1]), row=np.array([0]))
    found = one.run()
    np.testing.assert_allclose(found["sums"][0], one.wanted(0), rtol=1e-6, atol=1e-12)
    assert found["said"].sum() + found["guessed"].sum() == found["source"].sum() == n


@pytest.mark.exact
@every_world
def test_forms_agree_to_the_bit_and_so_does_python(one):
    want = one.run()
    for name, got in one.run(items.sweep_of(0, 0, one.guesses)).items():
        np.testing.assert_array_equal(got, want[name])
    with planted():
        for name, got in one.run(as_python(*one.form)).items():
            np.testing.assert_allclose(got, want[name], rtol=1e-13)


@pytest.mark.exact
@pytest.mark.parametrize("one", [PLAIN, WORLDS["five"]], ids=["three", "five"])
def test_one_kind_that_never_guesses_is_no_kind(one):
    want, got = one.run(), replace(one, guesses=True, hard=np.ones(one.chance.shape[1])).run()
    spoken = [i for i, labels in enumerate(one.labels) if labels]
    np.testing.assert_array_equal(got["said"], want["said"])
    np.testing.assert_array_equal(got["cell_total"], want["cell_total"])
    np.testing.assert_array_equal(got["truth"][spoken], want["truth"][spoken])
    np.testing.assert_array_equal(got["sums"][spoken, : one.n_cells], want["sums"][spoken])
    assert got["kind_total"].tolist() == [len(spoken)]
    assert got["source"].tolist() == [[0, sum(map(len, one.labels))]]


@pytest.mark.exact
@every_world
@pytest.mark.parametrize("n_shards", [1, 2, 7])
def test_shards_and_order_change_no_bit(one, n_shards):
    order = np.random.default_rng(n_shards).permutation(len(one.gold))
    parts = [one.only(which).run() for which in np.array_split(order, n_shards)]
    want = one.run()
    for name in list(want)[:6]:
        np.testing.assert_array_equal(sum(part[name] for part in parts), want[name])
    for name in ("truth", "sums"):
        np.testing.assert_array_equal(
            np.concatenate([part[name] for part in parts]), want[name][order]
        )


@pytest.mark.exact
def test_sums_are_added_to_and_may_be_left_out():
    for one in (PLAIN, KINDS):
        want, found = one.run(), {}

        def twice(*args, found=found, one=one):
            """Sweep with sums, and then without sums or truth."""
            items.sweep_of(*one.form)(*args)
            found["sums"], empty = args[-1].copy(), args[-1][:0]
            for counts in args[-8:-2]:
                counts[...] = 0
            items.sweep_of(*one.form)(*args[:-2], NONE, empty)
            items.sweep_of(*one.form)(*args[:-8], *map(np.zeros_like, args[-8:]))
            items.sweep_of(*one.form)(*args[:-8], *map(np.zeros_like, args[-8:-1]), args[-1])

        again = one.run(twice)
        np.testing.assert_array_equal(found["sums"], want["sums"])
        np.testing.assert_array_equal(again["sums"], 2 * want["sums"])
        for name in list(want)[:6]:
            np.testing.assert_array_equal(again[name], want[name])


# Random numbers. The first three answers are the lines "philox4x32 10" of tests/kat_vectors of the
# authors' Random123. All six came out alike of randomgen 2.3.0, an implementation of others, where
# the other three, of any numbers, are from.
ANSWERS = {
    "zeros": ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    "ones": ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    "pi": (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
    "any": (
        [0xABB8E5A8, 0xCE14ABEE, 0x05CC99F5, 0xCED53525],
        [0x7806ADC0, 0x83EC603F],
        "6a4a45ef ff771ae4 237349b9 6e3980a4",
    ),
    "any other": (
        [0xA1570476, 0x492A477C, 0xFAC210ED, 0x0DCE670A],
        [0x4726028F, 0x62247685],
        "5d564f27 89903737 0deb6747 3412673f",
    ),
    "one more": (
        [0x923923C4, 0x6891B332, 0x218D35CE, 0x0B9727B5],
        [0x00428AB4, 0x0C7B62A5],
        "3cce4616 9376305a 75654687 52ad639b",
    ),
}


@pytest.mark.exact
@pytest.mark.parametrize("name", ANSWERS)
def test_the_published_answers(name):
    (sweep, place, low, high), key, answer = ANSWERS[name]
    PLAIN.run()  # from now on they are compiled
    stream = np.array([*key, sweep], np.uint64)
    words = [int(word, 16) for word in answer.split()]
    want = [((words[n] << 32 | words[n + 1]) >> 11) / 2**53 for n in (0, 2)]
    for uniforms in (items.uniforms, python("uniforms")):
        assert list(uniforms(stream, np.uint64(high << 32 | low), place)) == want


def test_numbers_are_uniform_and_unlike_in_every_coordinate():
    keys, columns = np.arange(20_000, dtype=np.uint64), []
    for stream, place in itertools.product(((1, 2, 0), (1, 2, 1), (1, 3, 0), (2, 2, 0)), (0, 1)):
        columns.extend(python("uniforms")(np.array(stream, np.uint64), keys, place))
    for column in columns:
        assert stats.kstest(column, "uniform").pvalue > FALSE_ALARM
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 5 / np.sqrt(len(keys))
    between = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(between).max() < 5.5 / np.sqrt(len(keys))


# Where items start, and classes drawn from probabilities.


def start(one, noise=0.0, ties=False, stream=(5, 6, 0)):
    _, n_answers, n_cells = one.chance.shape
    said, cell_total = np.zeros(one.chance.shape, np.int32), np.zeros(n_cells, np.int64)
    n_kinds = len(one.lam) if one.guesses else 0
    kind_total, source = np.zeros(n_kinds, np.int64), np.zeros((n_kinds, 2), np.int64)
    row = np.asarray(one.row, np.int32)
    n_classes = int(max(one.cell_class)) + 1
    cell_class = np.asarray(one.cell_class, np.int64)
    items.start_items(
        *one.arrays(), row, n_answers, n_classes, cell_class, one.weight, noise, ties,
        np.array(stream, np.uint64), said.reshape(-1), cell_total, kind_total, source,
    )  # fmt: skip
    return said, cell_total, kind_total, source


VOTES = [[(0, 1), (1, 1), (2, 0)], [(0, 0), (1, 0), (2, 2)], [(0, 2), (1, 1), (2, 2)]]
SPOKEN = replace(
    KINDS, labels=[*VOTES, [(0, 3)], [(0, 0), (1, 2)], [(0, 0)], [], []],
    gold=np.array([-1, -1, -1, -1, -1, 2, 1, -1]), row=np.array([0, 0, 0, 0, 0, 3, 2, 0]),
    winner=np.zeros(8),
)  # fmt: skip


@pytest.mark.exact
def test_items_start_at_the_vote_or_where_they_are_known():
    """The fourth has only an answer that is no class, the fifth a tie, the last nothing."""
    said, cell_total, kind_total, source = start(SPOKEN)
    truth = [1, 0, 2, 0, 0, 2]
    want = np.zeros_like(said)
    for t, labels in zip(truth, SPOKEN.labels, strict=False):
        for l, c in labels:
            want[l, c, t] += 1
    np.testing.assert_array_equal(said, want)
    assert cell_total.tolist() == [3, 2, 2]  # the silent one is of class 1
    assert kind_total.tolist() == [6, 0, 0]
    assert source.tolist() == [[0, want.sum()], [0, 0], [0, 0]]
    plain = start(replace(SPOKEN, guesses=False))
    np.testing.assert_array_equal(plain[0], said)


@pytest.mark.exact
def test_ties_and_noise_are_by_chance_and_know_nothing_of_each_other():
    n = 2_000
    tie, clear = SPOKEN.only([4] * n), SPOKEN.only([0] * n)
    keys = np.arange(n, dtype=np.uint64)
    assert start(replace(tie, key=keys))[1].tolist() == [n, 0, 0]
    for noise in (0.0, 0.5):
        assert_frequent(start(replace(tie, key=keys), noise, True)[1][[0, 2]], np.full(2, 0.5))
    assert start(replace(clear, key=keys))[1].tolist() == [0, n, 0]
    seen = start(replace(clear, key=keys), noise=0.6)[1][:2]
    assert_frequent(seen, np.array([0.2, 0.8]))


@pytest.mark.exact
def test_a_class_starts_in_its_cells_by_their_weights():
    one, n = WORLDS["known kinds"], 2_000
    keys = np.arange(n, dtype=np.uint64)
    many = replace(one.only([0] * n), gold=np.full(n, -1), key=keys)
    class_of = np.argmax(np.bincount([c for _, c in one.labels[0]], minlength=3))
    for row in (0, one.row[1]):
        total = start(replace(many, row=np.full(n, row)))[1]
        p = np.where(one.cell_class == class_of, one.weight[row], 0.0)
        assert (total[p == 0] == 0).all()
        assert_frequent(total[p > 0], p[p > 0] / p.sum())


@pytest.mark.exact
def test_classes_are_drawn_from_their_probabilities():
    rng = np.random.default_rng(2)
    one, n_draws = replace(PLAIN, key=None), 5
    probability = rng.dirichlet(np.ones(3), len(one.labels))
    probability[0] = [0, 1, 0]

    def count(world, p, first, n):
        said = np.zeros((n, PLAIN.chance.shape[0] * PLAIN.chance.shape[1], 3), np.int32)
        stream = np.array([1, 2, 3], np.uint64)
        items.count_drawn(*world.arrays(), p, stream, first, said)
        return said

    all_at_once, want = count(one, probability, 0, n_draws), np.zeros((n_draws, 16, 3), int)
    for i, d in itertools.product(range(len(one.labels)), range(n_draws)):
        both = python("uniforms")(np.array([1, 2, 3], np.uint64), np.uint64(i), d // 2)
        t = np.searchsorted(np.cumsum(probability[i])[:-1], both[d % 2], side="right")
        for l, c in one.labels[i]:
            want[d, l * 4 + c, t] += 1
    np.testing.assert_array_equal(all_at_once, want)
    parts = [count(one, probability, first, n) for first, n in ((0, 2), (2, 2), (4, 1))]
    np.testing.assert_array_equal(np.concatenate(parts), want)
    halves = (range(0, 14, 2), range(1, 14, 2))
    split = [count(one.only(half), probability[list(half)], 0, n_draws) for half in halves]
    np.testing.assert_array_equal(sum(split), want)


# Tests of the tests: bugs in the helpers, which then are Python, or in what the loop is given.


HARD, TWICE = WORLDS["hard, two"], contradicting(2, 1, (0.0, 0.5, 0.9))
BUGS = {
    "last label skipped": (check_probabilities, KINDS, changed("weigh_kinds", n=lambda n: n - 1)),
    "guesses not scaled": (
        check_probabilities, HARD, changed("weigh_kinds", guess=lambda v: 2 * v)
    ),
    "guess of another answer": (check_probabilities, HARD, changed("weigh_kinds", guess=np.flip)),
    "shares of kinds forgotten": (
        check_probabilities, KINDS, changed("weigh_kinds", kinds=np.ones_like)
    ),
    "classes mixed up": (check_probabilities, HARD, exchanged()),
    "not tempered": (check_probabilities, KINDS, loop_with(design_effect=lambda _: 0.0)),
    "tempered by n": (
        check_probabilities, KINDS,
        loop_with(design_effect=lambda x: x["design_effect"] / (1 - x["design_effect"])),
    ),
    "prior forgotten in logs": (
        check_underflow, contradicting(2, 1), changed("weigh_in_logs", log_weight=np.zeros_like)
    ),
    "shares of kinds forgotten in logs": (
        check_underflow, TWICE, changed("weigh_in_logs", kinds=np.ones_like)
    ),
    "not tempered in logs": (check_underflow, TWICE, changed("weigh_in_logs", tau=lambda _: 1.0)),
    "sources share the number of the class": (check_draws, HARD, sources(first_place=0)),
    "two labels share a number": (check_draws, HARD, sources(every=1)),
    "sources the wrong way round": (check_draws, HARD, sources(turned=True)),
    "kind of the next": (check_draws, KINDS, changed("count_sources", lam=lambda x: x / 2)),
    "guesses not counted": (check_counts, KINDS, sources(counts_guesses=False)),
    "one number for all items": (check_unlike, PLAIN, changed("uniforms", key=lambda _: 0)),
    "the same numbers in every sweep": (check_unlike, PLAIN, masked_stream(1, 1, 0)),
    "the same numbers in all chains": (check_unlike, PLAIN, masked_stream(0, 0, 1)),
    "class weights forgotten": (
        check_probabilities, PLAIN, loop_with(weight=lambda x: (x["weight"] > 0) + 0.0)
    ),
    "matrices turned": (
        check_probabilities, PLAIN,
        loop_with(chance=lambda x: np.flip(x["chance"].reshape(-1, 3), axis=1).ravel()),
    ),
    "gold forgotten": (check_probabilities, PLAIN, loop_with(row=lambda x: 0 * x["row"])),
    "known kinds forgotten": (
        check_probabilities, WORLDS["known kinds"],
        loop_with(row=lambda x: np.minimum(x["row"], 3)),
    ),
    "silent gold forgotten": (
        check_counts, KINDS,
        loop_with(row=lambda x: np.where(np.diff(x["start"]) > 0, x["row"], np.int32(0))),
    ),
    "the vote's winner is no sub-type": (
        check_counts, WORLDS["sub-types"],
        loop_with(cell_class=lambda x: np.arange(len(x["cell_class"]))),
    ),
    "no extra answers": (
        check_counts, KINDS, loop_with(n_answers=lambda x: len(x["cell_class"]))
    ),
}  # fmt: skip


@pytest.mark.exact
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug):
    check, one, what = BUGS[bug]
    if callable(what):
        with pytest.raises(AssertionError):
            check(what, one)
        return
    with planted(**what), pytest.raises(AssertionError):
        check(as_python, one)
    with planted():
        check(as_python, one)
