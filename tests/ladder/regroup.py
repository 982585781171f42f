"""Splits and merges of coteries that have parameters, on a stage; the checks are next door.

A stage is a model at a given truth: what is left are the groups, beta and eta (d summed).
"""

import itertools
from dataclasses import replace
from math import exp, lgamma, log

import numpy as np

from ladder import cases
from ladder.consensus import cases as consensus
from ladder.consensus.cases import set_slots
from ladder.sampler import canonical, set_parameters, start
from ladder.split_merge import FOUR, TRUTH
from reference import consensus as reference
from reference.exact import all_partitions
from reference.joint import log_p_parameters, log_p_partition
from reference.problem import TWO_CLASSES

HCBCC = cases.case("hcbcc", FOUR, cases.hierarchical(cases.MEAN_2, cases.RATES_2))
CONSENSUS = consensus.case(TWO_CLASSES, consensus.TWO, knowledge_points=2)
ALPHA = 0.9
SEED = 3  # of the values of Consensus


class Stage:
    """A model whose groups, beta and eta are free."""

    def __init__(self, sampler, case):
        self.sampler, self.case = sampler, case
        self.people = case.problem.active
        self.is_consensus = case.model == "consensus"
        self.move, self.pairs, self.density, self.fit, self.heaps, self.room = (
            sampler.module(f"gibbs.regroup.{name}").module
            for name in ("move", "pairs", "density", "fit", "heaps", "room")
        )
        self.w = consensus.some_values(case, SEED).w if self.is_consensus else None
        self.made = self.make_consensus() if self.is_consensus else self.make_hcbcc()
        state, _, _, _ = self.made
        self.n = state.said.swapaxes(1, 2).astype(int)

    def make_hcbcc(self):
        truth = {i: TRUTH[i] for i in self.case.problem.counted}
        state = start(self.sampler, self.case, truth, dict.fromkeys(self.people, 0), ALPHA)
        model = self.sampler.model.module
        prior = model.pack_prior(self.case.prior)
        room = model.new_room(state, self.case.problem.codes)
        return state, prior, room, prior.split

    def make_consensus(self):
        values = consensus.some_values(self.case, SEED)
        q = dict.fromkeys(self.people, 0)
        state = consensus.make_state(
            self.sampler, self.case, replace(values, q=q, alpha=ALPHA, g=[1] * len(values.g))
        )
        prior = consensus.packed(self.sampler, self.case)
        file = self.sampler.module("gibbs.consensus.state").module
        room = file.new_room(state, self.case.problem.codes, prior)
        self.sampler.module("gibbs.consensus.split").module.know_means(state, prior, room)
        return state, prior, room.crowd, room.means

    def at(self, groups, parameters):
        """The crowd with these groups and parameters of theirs, the prior, and room."""
        template, _, room, means = self.made
        state = type(template)._make(array.copy() for array in template)
        q = np.full(len(state.group), -1)
        q[list(self.people)] = groups
        n = max(groups) + 1
        state.group[:], state.size[:], state.n_coteries[0] = q, 0, n
        state.size[:n] = np.bincount(groups, minlength=n)
        state.slot[:] = np.arange(len(state.slot))
        for m, (beta, eta) in enumerate(parameters):
            if self.is_consensus:
                set_slots(state, state.known, *filled(state, m, beta, eta))
            else:
                set_parameters(state, slice(m, m + 1), beta[None], eta[None])
        kind = self.sampler.module("gibbs.regroup.state").module.Crowd
        crowd = kind._make(getattr(state, name) for name in kind._fields)
        return crowd, means, room.split

    def some_parameters(self, seed):
        """beta (T,) and eta (T, C) of a coterie, arbitrary."""
        rng = np.random.default_rng(seed)
        beta = np.full(2, rng.gamma(4.0)) if self.is_consensus else rng.gamma(4.0, size=2)
        return beta, rng.dirichlet([2.0, 2.0], 2)

    def log_group(self, people, beta, eta):
        """log p(beta, eta, what these people said), d summed."""
        prior = self.case.prior
        if self.is_consensus:
            logs = [
                reference.log_p_coterie(prior, j, self.w, beta[0], eta)
                for j in range(prior.knowledge_points)
            ]
            result = np.logaddexp.reduce(logs)
        else:
            result = log_p_parameters(prior, beta, eta)
        return result + sum(log_said(self.n[l], beta, eta) for l in people)

    def log_joint(self, groups, parameters):
        """log p(groups, parameters, labels)."""
        result = log_p_partition(dict(zip(self.people, groups, strict=True)), ALPHA)
        for m, (beta, eta) in enumerate(parameters):
            people = [l for l, k in zip(self.people, groups, strict=True) if k == m]
            result += self.log_group(people, beta, eta)
        return result

    def partitions(self):
        """Every grouping of the people, as a tuple of numbers."""
        return [tuple(canonical(q).values()) for q in all_partitions(self.people)]

    def write(self, place, parameters, room):
        """Write beta and eta where they are proposed."""
        beta, eta = parameters
        n = room.drawn.log_strength.shape[1]
        room.drawn.log_strength[place] = np.log(beta)[:n]
        room.drawn.log_mean[place] = np.log(eta).T


def filled(state, m, beta, eta):
    """beta and eta of all slots of Consensus, those of slot m these."""
    strength, mean = state.strength[:, 0].copy(), np.exp(state.log_mean.swapaxes(1, 2))
    strength[m], mean[m] = beta[0], eta
    return strength, mean


def log_said(n, beta, eta):
    """log p(counts n (T, C) of one annotator), their matrix integrated out."""
    result = 0.0
    for t, c in np.ndindex(*n.shape):
        result += lgamma(beta[t] * eta[t, c] + n[t, c]) - lgamma(beta[t] * eta[t, c])
    return result + sum(lgamma(b) - lgamma(b + k) for b, k in zip(beta, n.sum(axis=1), strict=True))


class Numbers:
    """A generator whose uniform numbers are given; it can draw nothing else."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


def choices(stage, splits, crowd, room):
    """Every choice of i and j: (probability, uniform numbers, pair)."""
    n = int(crowd.n_coteries[0])
    for place in range(n):
        a = crowd.slot[place]
        members = [l for l in stage.people if crowd.group[l] == a]
        for number, i in enumerate(members):
            first = [(place + 0.5) / n, (number + 0.5) / len(members)]
            p = 1 / n / len(members)
            if splits:
                others = [l for l in members if l != i]
                for k, j in enumerate(others):
                    yield p / len(others), [*first, (k + 0.5) / len(others)], (i, j)
            else:
                yield from partners(stage, place, p, first, i, crowd, room)


def partners(stage, own, p, first, i, crowd, room):
    """Every choice of j in another coterie."""
    n = int(crowd.n_coteries[0])
    if n < 2:
        return
    stage.heaps.heap_coterie(int(crowd.slot[own]), 0, crowd, room)
    stage.pairs.weigh_partners(own, False, crowd, room)
    shares = room.weights[:n].copy()
    for k in np.flatnonzero(shares):
        members = [l for l in stage.people if crowd.group[l] == crowd.slot[k]]
        middle = shares[:k].sum() + shares[k] / 2
        for number, j in enumerate(members):
            numbers = [*first, middle, (number + 0.5) / len(members)]
            yield p * shares[k] / len(members), numbers, (i, j)


def expected_shares(stage, own, groups, parameters, crowd):
    """The probability of every coterie to be merged with that in place ``own``, by the joint."""
    people = [l for l, m in zip(stage.people, groups, strict=True) if m == own]
    log_p = np.full(len(parameters), -np.inf)
    for m, (beta, eta) in enumerate(parameters):
        if m != own:
            log_p[m] = 0.5 * sum(log_said(stage.n[l], beta, eta) for l in people)
    alike = np.exp(log_p - log_p.max())
    sizes = np.array([groups.count(m) * (m != own) for m in range(len(parameters))])
    return 0.5 * alike / alike.sum() + 0.5 * sizes / sizes.sum()


def every_state(stage, least=1):
    """Every partition into at least so many groups, with some parameters."""
    for number, groups in enumerate(stage.partitions()):
        if max(groups) + 1 >= least:
            parameters = [stage.some_parameters(100 * number + m) for m in range(max(groups) + 1)]
            yield groups, parameters


def every_side(n):
    return itertools.product((0, 1), repeat=n)


def odds_of(stage, l, sizes, fits):
    """The odds that annotator l stays, by two fits."""
    n_strengths, weights = fits.log_strength.shape[1], []
    for k in range(2):
        beta = np.exp(fits.log_strength[k])[[t % n_strengths for t in range(2)]]
        weights.append(log(sizes[k]) + log_said(stage.n[l], beta, np.exp(fits.log_mean[k]).T))
    return exp(weights[0] - weights[1])
