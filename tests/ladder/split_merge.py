"""Splits and merges of cBCC's groups on a stage, every outcome forced; the checks are next door.

A stage is the model at a given truth: what is left are the groups.
"""

import itertools
from math import exp

import numpy as np

from ladder import cases
from ladder.consensus.stationarity import NEARLY, Forced
from ladder.sampler import canonical, pack, start
from ladder.stationarity import middles
from reference.exact import all_partitions
from reference.problem import Problem

# Four annotators, so that two of a group may go in either order; the last item is known.
FOUR = Problem(
    n_items=4,
    n_annotators=5,
    n_classes=2,
    n_answers=2,
    labels=(
        *((0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 4, 1)),
        *((1, 0, 1), (1, 1, 1), (1, 4, 0)),
        *((2, 0, 0), (2, 1, 1), (2, 2, 0), (2, 4, 0)),
        *((3, 2, 1), (3, 4, 1)),
    ),
    gold={3: 1},
)
CBCC = cases.case(
    "cbcc", FOUR, cases.CBCCPrior(cases.MEAN_2, **cases.RATES_2, concentration=cases.ONE_ONE)
)
TRUTH = {0: 0, 1: 1, 2: 0, 3: 1}
ALPHAS = 0.9, 2.5  # splits and merges are both turned down now and then


class Stage:
    """cBCC whose groups alone are free; a state of it is the groups as a tuple."""

    def __init__(self, sampler, case, alpha=ALPHAS[0]):
        self.sampler, self.case, self.alpha = sampler, case, alpha
        self.people = case.problem.active
        self.truth = {i: TRUTH[i] for i in case.problem.counted}
        self.move, self.pairs, self.piles = (
            sampler.module(f"gibbs.{name}").module for name in ("split_merge", "pairs", "piles")
        )
        self.made = {}

    def make(self, at):
        """The kernels' state, prior, split room, and what proposes one split or merge."""
        model = self.sampler.model.module
        if at not in self.made:
            q = dict(zip(self.people, at, strict=True))
            state = start(self.sampler, self.case, self.truth, q, self.alpha)
            prior = pack(self.sampler, self.case)
            room = model.new_scratch(state, self.case.problem.codes, prior).split
            self.made[at] = state, prior, room
        template, prior, room = self.made[at]
        state = type(template)._make(array.copy() for array in template)
        room.said[:] = state.own
        return state, prior, room, lambda rng: model.split_and_merge(state, prior, room, rng)

    def choose(self, numbers, seats, prior, room):
        """Choose a pair by these numbers, the first of which says what it is for."""
        self.pairs.gather_groups(seats, room)
        splits = numbers[0] < self.move.SPLITS
        return self.pairs.choose_pair(splits, seats, prior.split, room, Forced(numbers[1:]))

    def read(self, state):
        """The state as a key."""
        return tuple(canonical({l: int(state.group[l]) for l in self.people}).values())

    def log_weights(self):
        """Log joint of every state."""
        return {
            tuple(q.values()): self.case.log_joint(self.truth, q, self.alpha, None, None)
            for q in all_partitions(self.people)
        }


def choices(stage, at):
    """Force every choice of a pair: (probability, uniform numbers), whether there is one or not."""
    state, prior, room, _ = stage.make(at)
    n, share = len(stage.people), stage.move.SPLITS
    stage.pairs.gather_groups(seating(stage, state), room)
    for number, i in enumerate(stage.people):
        a, start = int(state.group[i]), (number + 0.5) / n
        others = int(state.size[a]) - 1
        for j in range(max(others, 1)):
            more = [(j + 0.5) / others] if others else []
            yield share / n / max(others, 1), [share / 2, start, *more]
        for p, more in partners(stage, a, state, prior, room):
            yield (1 - share) / n * p, [(1 + share) / 2, start, *more]


def partners(stage, a, state, prior, room):
    """Every choice of another to merge with group a, if there is any."""
    n_groups, seats = int(state.n_coteries[0]), seating(stage, state)
    if n_groups < 2:
        yield 1.0, []
        return
    own = stage.pairs.place_of(a, seats)
    stage.pairs.weigh_partners(stage.piles.GROUPS + a, -1, own, seats, prior.split, room)
    found = room.weights[:n_groups].copy()
    for k in np.flatnonzero(found):
        size = int(state.size[state.slot[k]])
        for j in range(size):
            yield found[k] / size, [middles(found)[k], (j + 0.5) / size]


def orders(n):
    """Uniform numbers for every way to shuffle n, all with the same probability."""
    return itertools.product(
        *[[(a + 0.5) / (k + 1) for a in range(k + 1)] for k in range(n)[:0:-1]]
    )


def shares(module, base, room, sides):
    """The chance of side 0 for each of the others in turn, when those before went so."""
    found, before = [], 0.0
    n = int(room.n_others[0])
    for k in range(len(sides)):
        room.n_others[0] = k + 1
        room.side[room.others[: k + 1]] = [*sides[:k], 0]
        found.append(exp(module.allocate(False, base, room, Forced([])) - before))
        room.side[room.others[k]] = sides[k]
        before = module.allocate(False, base, room, Forced([]))
    room.n_others[0] = n
    return found


def moves(stage, at):
    """Force every pair, order, side and outcome: (probability, next state)."""
    module = stage.move
    for chance, choice in choices(stage, at):
        state, prior, room, _ = stage.make(at)
        seats = seating(stage, state)
        if stage.choose(choice, seats, prior, room) == -np.inf:
            yield from outcomes(stage, at, chance, choice)
            continue
        module.gather_others(seats, room)
        others = list(orders(int(room.n_others[0])))
        splits = choice[0] < module.SPLITS
        for order in others:
            ways = itertools.product((0, 1), repeat=int(room.n_others[0])) if splits else [()]
            module.gather_others(seats, room)
            module.shuffle(room.others, int(room.n_others[0]), Forced(order))
            for sides in ways:
                p, numbers = chance / len(others), [*choice, *order]
                stays = shares(module, prior.split, room, sides)
                for side, share in zip(sides, stays, strict=True):
                    p *= 1 - share if side else share
                    numbers.append(share * NEARLY if side == 0 else 1 - (1 - share) * NEARLY)
                yield from outcomes(stage, at, p, numbers)


def seating(stage, state):
    return stage.piles.Seating(state.group, state.size, state.slot, state.n_coteries)


def outcomes(stage, at, p, numbers):
    """Take it or not."""
    state, prior, room, _ = stage.make(at)
    log_ratio = stage.move.propose(
        seating(stage, state), state.log_concentration[0], prior.split, room, Forced(numbers)
    )
    taken = min(1.0, exp(log_ratio))
    if taken < 1:
        yield p * (1 - taken), after(stage, at, [*numbers, (1 - taken) * NEARLY])
    if taken > 0:
        yield p * taken, after(stage, at, [*numbers, 1 - taken * NEARLY])


def after(stage, at, numbers):
    """Where the model's own step leads by these numbers."""
    state, _, room, run = stage.make(at)
    room.proposals[0] = 1
    rng = Forced(numbers)
    run(rng)
    assert not rng.numbers
    assert_seated(stage, state)
    return stage.read(state)


def assert_seated(stage, state):
    """Sizes, slots and counts are those of the groups."""
    groups = state.group[stage.people]
    np.testing.assert_array_equal(state.size, np.bincount(groups, minlength=len(state.size)))
    np.testing.assert_array_equal(np.sort(state.slot), np.arange(len(state.slot)))
    np.testing.assert_array_equal(np.sort(state.slot[: state.n_coteries[0]]), np.unique(groups))
    said = np.zeros_like(state.said)
    np.add.at(said, groups, state.own[stage.people])
    np.testing.assert_array_equal(state.said, said)
    np.testing.assert_array_equal(state.said_total, said.sum(axis=1))
