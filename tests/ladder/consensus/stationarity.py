"""Exact stationarity: pi P = pi, with the transitions built by forcing each outcome."""

import itertools
from collections import Counter
from dataclasses import replace
from math import exp, factorial, log, prod

import numpy as np

from ladder.consensus.cases import (
    file,
    given_drawn,
    make_state,
    packed,
    read_values,
    reuse,
    set_slots,
    some_drawn,
    some_values,
)
from ladder.consensus.checks import exchanged, free_classes, labels_of, new_tally_of
from ladder.sampler import canonical
from ladder.stationarity import assert_stationary, middles
from reference import consensus as reference
from reference.exact import all_partitions, normalise
from reference.joint import log_p_partition

ATOMS = {0: 0.3, 1: 0.7}  # parameters of coteries that are discrete, so that states are few
NEARLY = 1 - 1e-6  # on this side of where a proposal is taken, and on the other
NEVER = -1e300  # a uniform number that turns every exchange down


class Forced:
    """A generator whose uniform numbers are a list."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def random(self):
        assert self.numbers, "more numbers are drawn than the forced outcome needs"
        return self.numbers.pop(0)


def sources(case, k, n_labels):
    """Every g of an item's labels that is possible."""
    if case.prior.guessing[k] == 0:
        return [(1,) * n_labels]
    return list(itertools.product((0, 1), repeat=n_labels))


def check_items_are_stationary(sampler, case):
    """The step of one item leaves p(z, k, g | the rest) as it is, wherever it comes from."""
    drawn = some_drawn(case, 3)
    for i in case.labelled:
        n_labels = len(labels_of(case, i))
        p = {
            (k, t, g): reference.p_item(case.problem, case.prior, drawn, i, t, k, g)
            for k, t in itertools.product(range(case.n_kinds), range(case.problem.n_classes))
            for g in sources(case, k, n_labels)
            if case.problem.gold.get(i, t) == t
        }
        pi = {state: value / sum(p.values()) for state, value in p.items()}
        known = {}

        def moves(state, i=i, known=known):
            if state[:2] not in known:  # from every class and kind; g is overwritten unread
                known[state[:2]] = list(item_moves(sampler, case, drawn, i, state))
            return known[state[:2]]

        assert_stationary(pi, moves)


def item_moves(sampler, case, drawn, i, at):
    """Force every kind and class, and every source of every label."""
    items, model = file(sampler, "items"), file(sampler, "model")
    data, places = case.problem.codes, labels_of(case, i)
    values = some_values(case, 3)
    values.k[i], values.z[i] = at[0], at[1]
    state = make_state(sampler, case, values)
    given, found = given_drawn(sampler, case, state, drawn), model.found_of_items(state)
    items.choose_item(i, data, given, found.work, 0.5)
    weights, tally = found.work.weights.copy(), new_tally_of(case, 0.0)
    for place, u in enumerate(middles(weights)):
        if weights[place] == 0:
            continue
        k, t = divmod(place, case.problem.n_classes)
        shares = [items.share_own(label, t, k, data, given) for label in places]
        for g in sources(case, k, len(places)):
            p, numbers = weights[place], [u]
            for own, share in zip(g, shares, strict=True):
                p *= share if own else 1 - share
                if case.prior.guessing[k] > 0:
                    numbers.append(share / 2 if own else (1 + share) / 2)
            model.clear_counts(found.counts)
            rng = Forced(numbers)
            items.sweep_items((i, i + 1), data, given, found, tally, rng)
            assert not rng.numbers
            assert_counted(case, state, i, places)
            now = tuple(int(own) for own in state.own[places])
            yield p, (int(state.kind[i]), int(state.truth[i]), now)


def assert_counted(case, state, i, places):
    """Only this item is counted, as it now is."""
    t, k, n_own = state.truth[i], state.kind[i], state.own[places].sum()
    assert state.class_total.tolist() == [int(t == a) for a in range(case.problem.n_classes)]
    assert state.kind_total.tolist() == [int(k == a) for a in range(case.n_kinds)]
    assert state.said.sum() == state.said[..., t].sum() == state.source[k, 1] == n_own
    assert state.guessed.sum() == state.source[k, 0] == len(places) - n_own
    assert state.source.sum() == len(places)


def check_reuse_is_stationary(sampler, case):
    """Every annotator's move leaves coteries, parameters and auxiliaries as they are.

    With the parameters of coteries from two atoms, a state is a partition, an atom per coterie, and
    the atoms of the auxiliaries in any order.
    """
    values = some_values(case, 5)
    pi = normalise(reuse_log_weights(case, values))
    for l in case.problem.active:
        assert_stationary(pi, lambda state, l=l: reuse_moves(sampler, case, values, state, l))


def reuse_log_weights(case, values):
    h, log_p = case.prior.auxiliaries, {}
    for q in all_partitions(case.problem.active):
        coteries = range(len(set(q.values())))
        for atoms in itertools.product(ATOMS, repeat=len(coteries)):
            chosen = list(atoms)
            now = replace(values, q=q, beta=values.beta[chosen], eta=values.eta[chosen])
            labels = reference.log_p_labels(case.problem, case.prior, now)
            for spare in itertools.combinations_with_replacement(ATOMS, h):
                ways = factorial(h) / prod(factorial(n) for n in Counter(spare).values())
                atom_p = prod(ATOMS[a] for a in (*atoms, *spare))
                log_p[tuple(q.values()), atoms, spare] = (
                    labels + log_p_partition(q, values.alpha) + log(ways * atom_p)
                )
    return log_p


def reuse_moves(sampler, case, values, at, l):
    """Force every auxiliary to be displaced, every place to be chosen, every atom to be drawn."""
    groups, model, prior = reuse(sampler), file(sampler, "model"), packed(sampler, case)
    h, template = case.prior.auxiliaries, reuse_state(sampler, case, values, at)
    room = model.new_room(template, case.problem.codes, prior)
    for m in range(len(template.slot)):
        groups.know_group(m, model.crowd_of(template), room.crowd)

    def update(u):
        state = copied(template)
        refill, n_places = groups.update_group(l, model.crowd_of(state), prior, room.crowd, u)
        return state, refill, room.crowd.weights[:n_places].copy()

    for displaced in (np.arange(h) + 0.5) / h:
        _, _, probabilities = update((displaced, 0.5))
        for p, u in zip(probabilities, middles(probabilities), strict=True):
            state, refill, _ = update((displaced, u))
            if refill < 0:
                yield p / h, read_reuse(case, values, state)
                continue
            for atom, atom_p in ATOMS.items():
                one = [atom]
                set_slots(state, values.d[one], values.beta[one], values.eta[one], refill)
                yield p * atom_p / h, read_reuse(case, values, state)


def copied(state):
    """The same state in arrays of its own."""
    return type(state)._make(array.copy() for array in state)


def reuse_state(sampler, case, values, at):
    groups, atoms, spare = at
    q = dict(zip(case.problem.active, groups, strict=True))
    # Slots 0, 1, ... are the coteries, then the auxiliaries; free ones have anything.
    filled = (list(atoms + spare) + [0] * len(values.beta))[: len(values.beta)]
    now = replace(values, q=q, d=values.d[filled], beta=values.beta[filled], eta=values.eta[filled])
    return make_state(sampler, case, now)


def read_reuse(case, values, state):
    """The state as a key, its coteries renumbered by first appearance."""
    q = {l: int(state.group[l]) for l in case.problem.active}
    numbers = canonical(q)

    def atom(m):
        return int(np.argmin(np.abs(state.log_strength[m, 0] - np.log(values.beta[list(ATOMS)]))))

    atoms = {numbers[l]: atom(m) for l, m in q.items()}
    n, h = int(state.n_coteries[0]), case.prior.auxiliaries
    spare = sorted(atom(m) for m in state.slot[n : n + h])
    return tuple(numbers.values()), tuple(atoms[m] for m in sorted(atoms)), tuple(spare)


def check_swap_is_stationary(sampler, case):
    """The exchange of classes leaves the posterior of truths, eta and d as it is.

    Its states: every order that exchanges can bring the classes into, and every d of two coteries.
    """
    values = some_values(case, 6)
    seats = {l: min(place, 1) for place, l in enumerate(case.problem.active)}
    values = replace(values, q=seats)
    orders = orbit(values, free_classes(case))
    log_p = {}
    for order in orders:
        for d in itertools.product(range(case.prior.knowledge_points), repeat=2):
            now = with_known(orders[order], d)
            log_p[order, d] = reference.log_joint(case.problem, case.prior, now)
    pi = normalise(log_p)
    assert_stationary(pi, lambda state: swap_moves(sampler, case, orders, state))


def with_known(values, d):
    """The values with d of the first two coteries."""
    return replace(values, d=np.append(d, values.d[2:]))


def orbit(values, free):
    """The values with the free classes in every order that exchanges can bring them into."""
    found = {tuple(range(values.eta.shape[1])): values}
    while True:
        more = dict(found)
        for order, now in found.items():
            for a, b in itertools.combinations(free, 2):
                other = {a: b, b: a}
                more[tuple(other.get(t, t) for t in order)] = exchanged(now, a, b)
        if len(more) == len(found):
            return found
        found = more


def swap_moves(sampler, case, orders, at):
    """Force every pair to be proposed, to be taken or not, and every d to be drawn."""
    swap, model, prior = file(sampler, "swap"), file(sampler, "model"), packed(sampler, case)
    values, free = with_known(orders[at[0]], at[1]), free_classes(case)
    n, template = len(free), make_state(sampler, case, values)
    room = model.new_room(template, case.problem.codes, prior)

    def after(numbers):
        """Where one proposal leads; a second one, where there is one, is turned down."""
        state = copied(template)
        rng = Forced(numbers + ([0.0, 0.0, NEVER] if len(state.class_total) > 2 else []))
        swap.sweep_classes(state, prior, room, rng)
        assert not rng.numbers
        return read_order(case, state, orders)

    for a, b in itertools.permutations(free, 2):
        taken, shares = weighed(swap, copied(template), prior, room, (a, b))
        pair = [(free.index(a) + 0.5) / n]
        pair.append(([t for t in free if t != a].index(b) + 0.5) / (n - 1))
        proposed = 1 / (n * (n - 1))
        if taken < 1:
            yield proposed * (1 - taken), after([*pair, (1 - taken) * NEARLY])
        for d in itertools.product(range(len(prior.point)), repeat=2):
            p = proposed * taken * shares[0][d[0]] * shares[1][d[1]]
            numbers = [middles(shares[m])[d[m]] for m in range(2)]
            yield p, after([*pair, 1 - taken * NEARLY, *numbers])


def weighed(swap, state, prior, room, pair):
    """The chance that an exchange is taken, and those of d of two coteries afterwards."""
    swap.know_norm(state, prior, room)
    taken = min(1.0, exp(swap.log_ratio(*pair, state, prior, room)))
    swap.exchange(*pair, state)
    shares = []
    for m in range(2):
        swap.redraw_known(m, state, prior, room, 0.5)
        shares.append(room.points.copy())
    return taken, shares


def read_order(case, state, orders):
    """Which order of the classes the state has, and d of both coteries."""
    values = read_values(case, state)
    (order,) = [
        order
        for order, want in orders.items()
        if want.z == values.z and np.allclose(want.eta[:2], values.eta[:2], rtol=1e-9)
    ]
    return order, tuple(int(j) for j in state.known[:2])
