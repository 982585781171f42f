"""Splits and merges of groups on a stage, every outcome forced; the checks are next door.

A stage is a model at a given truth, with given auxiliary variables: what is left are the groups.
"""

import itertools
from dataclasses import replace
from math import exp

import numpy as np
from scipy import stats

from ladder import cases
from ladder.checks import SAME
from ladder.consensus import cases as consensus
from ladder.consensus.stationarity import NEARLY, Forced
from ladder.sampler import canonical, pack, start
from ladder.stationarity import middles
from reference import consensus as reference
from reference.exact import all_partitions
from reference.joint import log_p_auxiliaries, log_p_parameters, log_p_partition
from reference.problem import TWO_CLASSES, Problem

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
HCBCC = cases.case("hcbcc", FOUR, cases.hierarchical(cases.MEAN_2, cases.RATES_2))
CONSENSUS = consensus.case(TWO_CLASSES, consensus.TWO, knowledge_points=2)
TRUTH = {0: 0, 1: 1, 2: 0, 3: 1}
ALPHAS = 0.9, 2.5  # splits and merges are both turned down now and then
NU = np.array([[0.7, 0.4], [0.55, 0.9], [0.3, 0.8], [0.5, 0.5], [0.65, 0.2]])
SPARE = 0.3, 0.6  # of beta and eta: whatever they are, the ratio is the same


class Stage:
    """A model whose groups alone are free; a state of it is (groups, d of each group)."""

    def __init__(self, sampler, case, alpha=ALPHAS[0]):
        self.sampler, self.case, self.alpha = sampler, case, alpha
        self.people = case.problem.active
        self.truth = {i: TRUTH[i] for i in case.problem.counted}
        self.has_known = case.model == "consensus"
        self.move, self.pairs, self.piles = (
            sampler.module(f"gibbs.{name}").module for name in ("split_merge", "pairs", "piles")
        )
        self.made = {}
        self.n = np.zeros((case.problem.n_annotators, 2, 2), int)
        for i, l, c in case.problem.labels:
            self.n[l, self.truth[i], c] += 1
        self.s = (self.n + 1) // 2  # tables that are possible
        self.decay = np.where(self.n.sum(axis=2) > 0, -np.log(NU[: len(self.n)]), 0.0)

    def make(self, at):
        """The kernels' state, prior, split room, and what proposes one split or merge."""
        if at not in self.made:
            q = dict(zip(self.people, at[0], strict=True))
            make = self.make_consensus if self.has_known else self.make_papers
            self.made[at] = make(q, at[1])
        template, prior, room, run = self.made[at]
        state = type(template)._make(array.copy() for array in template)
        split = room.crowd if self.has_known else room
        split = split if self.case.model == "cbcc" else split.split
        return state, prior, split, lambda rng: run(state, prior, room, rng)

    def make_papers(self, q, _):
        state = start(self.sampler, self.case, self.truth, q, self.alpha)
        model, data = self.sampler.model.module, self.case.problem.codes
        prior = pack(self.sampler, self.case)
        if self.case.model == "cbcc":
            room = model.new_scratch(state, data, prior).split
            return state, prior, room, model.split_and_merge
        room = model.new_room(state, data)
        self.fill(room)
        return state, prior, room, self.sampler.part("members").module.split_and_merge

    def make_consensus(self, q, d):
        values = consensus.some_values(self.case, 3)
        d = np.array([*d, *np.zeros(len(values.d) - len(d), int)])
        state = consensus.make_state(
            self.sampler, self.case, replace(values, q=q, d=d, alpha=self.alpha)
        )
        prior, model = consensus.packed(self.sampler, self.case), self.file("model")
        room = model.new_room(state, self.case.problem.codes, prior)
        self.fill(room.crowd)
        self.file("split").sum_decays(room)
        return state, prior, room, self.file("split").split_and_merge

    def choose(self, numbers, seats, prior, room):
        """Choose a pair by these numbers, the first of which says what it is for."""
        self.pairs.gather_groups(seats, room)
        splits = numbers[0] < self.move.SPLITS
        return self.pairs.choose_pair(splits, seats, prior.split, room, Forced(numbers[1:]))

    def file(self, name):
        """A file of Consensus."""
        return consensus.file(self.sampler, name)

    def fill(self, room):
        """Write nu and s of everybody."""
        room.split.said.counts[:] = self.s.swapaxes(1, 2)
        room.decay[:] = self.decay

    def read(self, state):
        """The state as a key."""
        q = {l: int(state.group[l]) for l in self.people}
        numbers = canonical(q)
        d = {numbers[l]: int(state.known[m]) for l, m in q.items()} if self.has_known else {}
        return tuple(numbers.values()), tuple(d[m] for m in sorted(d))

    def log_weights(self):
        """Log joint of every state."""
        log_p = {}
        for q in all_partitions(self.people):
            groups = [[l for l in q if q[l] == m] for m in range(len(set(q.values())))]
            n_points = self.case.prior.knowledge_points if self.has_known else 0
            every = itertools.product(range(n_points), repeat=len(groups)) if n_points else [()]
            for d in every:
                log_p[tuple(q.values()), d] = log_p_partition(q, self.alpha) + self.log_labels(
                    q, groups, d
                )
        return log_p

    def log_labels(self, q, groups, d):
        if self.case.model == "cbcc":
            log_joint = self.case.log_joint(self.truth, q, self.alpha, None, None)
            return log_joint - log_p_partition(q, self.alpha)
        points = d if self.has_known else [None] * len(groups)
        return sum(self.log_group(people, j) for people, j in zip(groups, points, strict=True))

    def log_group(self, people, j):
        """log p(labels, nu, s of a group, and d), beta and eta integrated out.

        It is the joint with any beta and eta, divided by what these are drawn from.
        """
        s, decay, found = self.s[people], self.decay[people], []
        for spare in SPARE:
            eta = np.array([[spare, 1 - spare], [0.5, 0.5]])
            if self.has_known:
                beta = np.full(2, 3 * spare)
                log_p = self.log_consensus(j, beta[0], eta, s, decay)
            else:
                beta = np.array([spare, 4 * spare])
                log_p = self.log_hcbcc(beta, eta, s, decay)
            for l in people:
                log_p += log_p_auxiliaries(self.n[l], beta, eta, NU[l], self.s[l])
            found.append(log_p)
        assert np.ptp(found) < SAME
        return found[0]

    def log_hcbcc(self, beta, eta, s, decay):
        prior, S = self.case.prior, s.sum(axis=0)
        log_p = log_p_parameters(prior, beta, eta)
        shape = prior.strength.shape + S.sum(axis=1)
        rate = prior.strength.rate + decay.sum(axis=0)
        log_p -= stats.gamma.logpdf(beta, shape, scale=1 / rate).sum()
        base = prior.mean_strength[:, None] * prior.mean
        return log_p - sum(stats.dirichlet.logpdf(eta[t], base[t] + S[t]) for t in range(len(S)))

    def log_consensus(self, j, beta, eta, s, decay):
        prior, S = self.case.prior, s.sum(axis=0)
        w = consensus.some_values(self.case, 3).w
        log_p = reference.log_p_coterie(prior, j, w, beta, eta)
        shape, rate = prior.strength.shape + S.sum(), prior.strength.rate + decay.sum()
        log_p -= stats.gamma.logpdf(beta, shape, scale=1 / rate)
        d = reference.points(prior)[0][j]
        base = prior.mean_strength * reference.base(d, w, len(S))
        return log_p - sum(stats.dirichlet.logpdf(eta[t], base[t] + S[t]) for t in range(len(S)))


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
    """Take it or not, in as many steps as there are, with every d of the groups that are new."""
    chances, known = weighed(stage, at, numbers)
    for taken in chances:
        if taken < 1:
            yield p * (1 - taken), after(stage, at, [*numbers, (1 - taken) * NEARLY])
        if taken == 0:
            return
        p, numbers = p * taken, [*numbers, 1 - taken * NEARLY]
    for chosen in itertools.product(*[range(len(one)) for one in known]):
        share = np.prod([one[j] for one, j in zip(known, chosen, strict=True)])
        more = [middles(one)[j] for one, j in zip(known, chosen, strict=True)]
        yield p * share, after(stage, at, [*numbers, *more])


def weighed(stage, at, numbers):
    """The chances that a proposal is taken, step by step, and those of d of the groups it makes."""
    state, prior, room, _ = stage.make(at)
    module, alpha = stage.move, state.log_concentration[0]
    log_ratio = module.propose(seating(stage, state), alpha, prior.split, room, Forced(numbers))
    chances, known = [min(1.0, exp(log_ratio))], []
    if stage.has_known and log_ratio > -np.inf:
        splits = state.group[room.pair[0]] == state.group[room.pair[1]]
        split, (_, _, whole, _) = stage.file("split"), stage.made[at]
        correction = split.log_correction(state, prior, whole)
        chances.append(min(1.0, exp(correction if splits else -correction)))
        for k in (0, 1) if splits else (2,):
            split.weigh_known(k, state, prior, whole)
            known.append(np.exp(whole.points) / np.exp(whole.points).sum())
    return chances, known


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
    if stage.case.model == "cbcc":
        said = np.zeros_like(state.said)
        np.add.at(said, groups, state.own[stage.people])
        np.testing.assert_array_equal(state.said, said)
        np.testing.assert_array_equal(state.said_total, said.sum(axis=1))
