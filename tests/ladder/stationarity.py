"""Exact stationarity: the transition matrix of a site update, built by forcing each outcome.

pi P = pi for every site, with no randomness at all.
"""

import itertools
from collections import Counter, defaultdict
from math import factorial, prod

import numpy as np

from ladder.cases import fixed_parameters
from ladder.checks import know_groups, parameters_of
from ladder.sampler import ALPHA, at_work, canonical, choices, pack, read, set_parameters, start
from reference.exact import all_partitions, all_truths, key, normalise
from reference.joint import log_p_labels_hcbcc, log_p_partition

SAME = 1e-12


def middles(probabilities):
    """A uniform number in the middle of each outcome's share."""
    return np.cumsum(probabilities) - np.asarray(probabilities) / 2


def assert_stationary(pi, moves):
    """``moves(state)`` yields (probability, next state)."""
    after = defaultdict(float)
    for state, p in pi.items():
        total = 0.0
        for move, following in moves(state):
            after[following] += p * move
            total += move
        assert abs(total - 1) < SAME
    assert after.keys() <= pi.keys()
    worst = max(abs(after[state] - p) for state, p in pi.items())
    assert worst < SAME, f"pi P differs from pi by {worst:.2g}"


def check_truth_is_stationary(sampler, case):
    """Every item's update leaves p(z | Y, q, ...) as it is, for every q."""
    data = case.problem.codes
    beta, eta = parameters_of(case)
    partitions = list(all_partitions(case.problem.active)) if case.has_groups else [None]
    truths = {key(case.problem, z): z for z in all_truths(case.problem)}

    def update(way, z, q, i, u):
        state = start(sampler, case, z, q, beta=beta, eta=eta)
        view, work = at_work(sampler, case, state)
        choose = choices(sampler, work, data)[way]
        sampler.truth("counts").move_to(choose(i, view, data, work, u), i, view, data, work)
        return key(case.problem, read(case, state)[0]), work.weights

    _, work = at_work(sampler, case, start(sampler, case, z_any(case), partitions[0]))
    ways = range(len(choices(sampler, work, data)))
    for q in partitions:
        pi = normalise({k: case.log_joint(z, q, ALPHA, beta, eta) for k, z in truths.items()})
        for way, i in itertools.product(ways, case.problem.free):

            def moves(k, way=way, q=q, i=i):
                _, probabilities = update(way, truths[k], q, i, 0.5)
                for p, u in zip(probabilities, middles(probabilities), strict=True):
                    yield p, update(way, truths[k], q, i, u)[0]

            assert_stationary(pi, moves)


def check_groups_are_stationary(sampler, case):
    """cBCC: every annotator's update leaves p(q | Y, z, alpha) as it is."""
    data, prior, model = case.problem.codes, pack(sampler, case), sampler.model
    partitions = {
        key(case.problem, z_any(case), q)[1]: q for q in all_partitions(case.problem.active)
    }

    def update(z, q, l, u):
        state = start(sampler, case, z, q)
        room = model.new_room(state, data)
        n_places = model.update_group(l, state, prior, room, u)
        moved = canonical(read(case, state)[1])
        return tuple(moved.values()), room.weights[:n_places]

    truths = list(all_truths(case.problem))[::5]
    for z in truths:
        pi = normalise({k: case.log_joint(z, q, ALPHA, None, None) for k, q in partitions.items()})
        for l in case.problem.active:

            def moves(k, z=z, l=l):
                _, probabilities = update(z, partitions[k], l, 0.5)
                for p, u in zip(probabilities, middles(probabilities), strict=True):
                    yield p, update(z, partitions[k], l, u)[0]

            assert_stationary(pi, moves)


def z_any(case):
    """Some truth."""
    return next(all_truths(case.problem))


ATOMS = {0: 0.3, 1: 0.7}  # a prior of cluster parameters that is discrete, so that states are few


def check_reuse_is_stationary(sampler, case):
    """hcBCC: every annotator's Reuse step leaves clusters, parameters and auxiliaries as they are.

    With cluster parameters from two atoms, a state is a partition, an atom per cluster, and the
    atoms of the auxiliaries in any order.
    """
    z = list(all_truths(case.problem))[-2]
    pi = normalise(reuse_log_weights(case, z))
    for l in case.problem.active:
        assert_stationary(pi, lambda state, l=l: reuse_moves(sampler, case, z, state, l))


def reuse_log_weights(case, z, alpha=ALPHA):
    beta, eta = fixed_parameters(case)
    h = case.prior.auxiliaries
    log_p = {}
    for q in all_partitions(case.problem.active):
        clusters = range(len(set(q.values())))
        for atoms in itertools.product(ATOMS, repeat=len(clusters)):
            chosen = list(atoms)
            labels = log_p_labels_hcbcc(case.problem, z, q, beta[chosen], eta[chosen])
            for spare in itertools.combinations_with_replacement(ATOMS, h):
                ways = factorial(h) / prod(factorial(n) for n in Counter(spare).values())
                atom_p = prod(ATOMS[a] for a in (*atoms, *spare))
                log_p[tuple(q.values()), atoms, spare] = (
                    labels + log_p_partition(q, alpha) + np.log(ways * atom_p)
                )
    return log_p


def reuse_moves(sampler, case, z, state, l):
    """Force every auxiliary to be displaced, every place to be chosen, every atom to be drawn."""
    groups, prior, h = sampler.groups, pack(sampler, case), case.prior.auxiliaries
    beta, eta = fixed_parameters(case)

    def update(u):
        now = reuse_state(sampler, case, z, state)
        room = sampler.model.new_room(now, case.problem.codes)
        know_groups(sampler, now, prior, room)
        refill, n_places = groups.update_group(l, now, prior, room, u)
        return now, refill, room.weights[:n_places]

    for displaced in (np.arange(h) + 0.5) / h:
        _, _, probabilities = update((displaced, 0.5))
        for p, u in zip(probabilities, middles(probabilities), strict=True):
            now, refill, _ = update((displaced, u))
            if refill < 0:
                yield p / h, read_reuse(case, now)
                continue
            for atom, atom_p in ATOMS.items():
                set_parameters(now, slice(refill, refill + 1), beta[[atom]], eta[[atom]])
                yield p * atom_p / h, read_reuse(case, now)


def reuse_state(sampler, case, z, state):
    groups, atoms, spare = state
    beta, eta = fixed_parameters(case)
    made = start(sampler, case, z, dict(zip(case.problem.active, groups, strict=True)))
    filled = list(atoms + spare)  # slots 0, 1, ... are the clusters, then the auxiliaries
    set_parameters(made, slice(len(filled)), beta[filled], eta[filled])
    return made


def read_reuse(case, state):
    """The state as a key, its clusters renumbered by first appearance."""
    beta, _ = fixed_parameters(case)
    q = read(case, state)[1]
    numbers = canonical(q)

    def atom(m):
        return int(np.argmin(np.abs(state.log_strength[m, 0] - np.log(beta[list(ATOMS), 0]))))

    atoms = {numbers[l]: atom(m) for l, m in q.items()}
    n_coteries, h = int(state.n_coteries[0]), case.prior.auxiliaries
    spare = sorted(atom(m) for m in state.slot[n_coteries : n_coteries + h])
    return tuple(numbers.values()), tuple(atoms[m] for m in sorted(atoms)), tuple(spare)
