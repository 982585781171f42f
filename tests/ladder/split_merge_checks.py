"""Splits and merges of groups: the checks, on the stages of split_merge.py."""

import itertools
from functools import partial
from math import exp

import numpy as np

from ladder.checks import SAME
from ladder.consensus.stationarity import Forced
from ladder.sampler import canonical
from ladder.split_merge import ALPHAS, Stage, choices, moves, orders, seating, shares
from ladder.stationarity import assert_stationary
from reference.exact import normalise


def check_split_is_stationary(sampler, case):
    """A proposal leaves the groups as they are distributed, given the truth."""
    for alpha in ALPHAS:
        stage = Stage(sampler, case, alpha)
        assert_stationary(normalise(stage.log_weights()), partial(moves, stage))


def check_split_ratio(sampler, case):
    """Conditional = joint: two sides against both together are a difference of the log joint."""
    stage = Stage(sampler, case)
    module = stage.move
    log_p = stage.log_weights()
    for at in log_p:
        for i, j in itertools.permutations(range(len(stage.people)), 2):
            if at[i] == at[j]:
                continue
            state, prior, room, _ = stage.make(at)
            room.pair[:] = stage.people[i], stage.people[j]
            module.gather_others(seating(stage, state), room)
            module.allocate(False, prior.split, room, Forced([]))
            got = module.log_split(np.log(stage.alpha), prior.split, room)
            merged = [at[i] if m == at[j] else m for m in at]
            merged = tuple(canonical(dict(enumerate(merged))).values())
            want = log_p[at] - log_p[merged]
            assert abs(got - want) < SAME, f"{got} for a difference of {want}"


def check_sides(sampler, case):
    """Conditional = joint: the others go to a side as probably as the sides are with them there."""
    stage = Stage(sampler, case)
    module = stage.move
    for at in stage.log_weights():
        for pair in itertools.permutations(stage.people, 2):
            state, prior, room, _ = stage.make(at)
            room.pair[:] = pair
            module.gather_others(seating(stage, state), room)
            n = int(room.n_others[0])
            for sides in itertools.product((0, 1), repeat=n):
                found = shares(module, prior.split, room, sides)
                for k in range(n):
                    odds = log_sides(stage, prior, room, [*sides[:k], 0])
                    odds -= log_sides(stage, prior, room, [*sides[:k], 1])
                    assert abs(found[k] - 1 / (1 + exp(-odds))) < SAME
                room.n_others[0] = n


def log_sides(stage, prior, room, sides):
    """Log of how probable the two sides are when the first of the others are so."""
    room.n_others[0] = len(sides)
    room.side[room.others[: len(sides)]] = sides
    stage.move.allocate(False, prior.split, room, Forced([]))
    return sum(stage.piles.log_together(k, prior.split, room) for k in (0, 1))


def check_pairs(sampler, case):
    """Every pair is chosen in one way, with the probability that is said, and by who is alike."""
    stage = Stage(sampler, case)
    for at in stage.log_weights():
        assert_gathered(stage, at)
        found, total = [], 0.0
        for p, numbers in choices(stage, at):
            state, prior, room, _ = stage.make(at)
            log_p = stage.choose(numbers, seating(stage, state), prior, room)
            total += p
            if log_p > -np.inf:
                assert abs(exp(log_p) - 2 * len(stage.people) * p) < SAME
                found.append(tuple(room.pair.tolist()))
                i, j = state.group[room.pair]
                assert (i == j) == (numbers[0] < stage.move.SPLITS)
        assert abs(total - 1) < SAME
        assert sorted(found) == sorted(itertools.permutations(stage.people, 2))


def assert_gathered(stage, at):
    """Groups are summed, whatever was summed before."""
    state, _, room, _ = stage.make(at)
    for _ in range(2):
        stage.pairs.gather_groups(seating(stage, state), room)
    for m in set(state.group[stage.people]):
        members, pile = np.flatnonzero(state.group == m), stage.piles.GROUPS + m
        counts = room.said[members].sum(axis=0)
        np.testing.assert_array_equal(room.sides.counts[pile], counts)
        np.testing.assert_array_equal(room.sides.total[pile], counts.sum(axis=0))
        assert room.sides.size[pile] == len(members)


def check_orders(sampler, case):
    """Every order is as probable as every other."""
    module = Stage(sampler, case).move
    shuffled = []
    for order in orders(4):
        others = np.arange(6, dtype=np.int32)
        module.shuffle(others, 4, Forced(order))
        shuffled.append(tuple(others.tolist()))
    assert sorted(shuffled) == [(*order, 4, 5) for order in itertools.permutations(range(4))]
