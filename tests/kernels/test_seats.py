"""Who sits with whom: everybody's move, every outcome forced, and in chains as they are shipped."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from coterie.kernels import collapsed, people
from coterie.kernels.consensus import ConsensusPeople
from coterie.kernels.people import SharedPeople, SimilarPeople
from kernels.test_consensus import TWO, case
from kernels.test_people import CBCC, HCBCC, MODELS, PAIRS, check_enumeration, check_joint
from ladder.cases import HCBCC_2
from ladder.collapsed import ALPHA, forced, parameters, plain
from ladder.collapsed_bugs import check_enumeration_briefly
from ladder.collapsed_checks import ATOMS, assert_stationary, ends
from ladder.halves import crowd_of, parameters_stay
from ladder.marks import needs_compiler
from reference import consensus as reference
from reference.exact import all_partitions, normalise
from reference.joint import log_p_labels_hcbcc, log_p_partition
from reference.problem import TWO_CLASSES
from reference.rows import Rows

exact, slow = pytest.mark.exact, pytest.mark.slow

# ---- Everybody's move, of which every outcome is forced ----
#
# A state is a partition and, where coteries have parameters, one of two atoms for each: the
# auxiliary ones are drawn anew in every sweep, so the move leaves the exact probabilities as they
# are.

HIERARCHICAL = replace(HCBCC, auxiliaries=2)
CONSENSUS = case(PAIRS, TWO)  # with two auxiliaries too
ATOM_BETA, ATOM_ETA = (array[:2] for array in parameters(replace(HCBCC_2, problem=PAIRS)))
ATOM_KNOWN, LOG_GUESS = np.array([0, 2]), np.log([0.3, 0.7])


class World:
    """A crowd at given classes of its items, and its people as the package has them."""

    def __init__(self, one, z):
        self.one, self.z = one, dict(enumerate(z))
        self.problem = TWO_CLASSES if isinstance(one, SharedPeople) else PAIRS
        self.own_atoms = isinstance(one, SimilarPeople)  # else members share a matrix
        self.beta = ATOM_BETA[:, :1] if isinstance(one, ConsensusPeople) else ATOM_BETA
        said = np.zeros((self.problem.n_annotators, 2, 2), np.int32)
        for i, l, c in self.problem.labels:
            said[l, c, self.z[i]] += 1
        self.counts = {"said": said, "guessed": np.zeros(2, np.int64)}

    def log_labels(self, q, atoms=()):
        """log p(labels), by who sits where, and the atom of every place."""
        if not self.own_atoms:
            case = MODELS["CBCC_2"]
            rows = Rows(self.problem, case.prior, case.space, "shared")
            return rows.cells([q[l] for l in sorted(q)]).log_joint(self.z)
        atoms = list(atoms)
        if isinstance(self.one, ConsensusPeople):
            beta, eta = self.beta[atoms, 0], ATOM_ETA[atoms]
            own = [1] * len(self.problem.labels)
            values = reference.Values(self.z, {}, own, q, ALPHA, None, None, beta, eta)
            return reference.log_p_labels(self.problem, CONSENSUS.prior, values)
        return log_p_labels_hcbcc(self.problem, self.z, q, self.beta[atoms], ATOM_ETA[atoms])

    def exact(self):
        """p(partition, atoms | labels)."""
        log_p = {}
        for q in all_partitions(self.problem.active):
            n = len(set(q.values())) if self.own_atoms else 0
            for atoms in itertools.product(ATOMS, repeat=n):
                log_p[tuple(q.values()), atoms] = (
                    self.log_labels(q, atoms)
                    + log_p_partition(q, ALPHA)
                    + sum(math.log(ATOMS[a]) for a in atoms)
                )
        return normalise(log_p)

    def ways(self, todo, q, slots, spare=(), used=0):
        """Every outcome: how probable it is, numbers at both of its ends, who is where at last.

        ``slots`` are the atoms of all places; those in ``spare`` are auxiliary.
        """
        if not todo:
            yield 1.0, (), (), q
            return
        l, others = todo[0], {k: m for k, m in q.items() if k != todo[0]}
        taken, h = set(others.values()), len(spare)
        lone = h > 0 and q[l] not in taken
        for k in range(h) if lone else [None]:
            first = [] if k is None else [(k + 0.5) / h]
            now = spare if k is None else (*spare[:k], q[l], *spare[k + 1 :])
            new = now if h else (min(set(range(len(q))) - taken),)
            places = sorted(taken | set(new))
            logs = [self.log_labels(others | {l: m}, slots) for m in places]
            seat = [list(others.values()).count(m) or ALPHA / len(new) for m in places]
            weight = np.exp(np.array(logs) - max(logs)) * seat
            for place, share, low, high in ends(weight / weight.sum()):
                m = places[place]
                opens = h > 0 and m in now
                then = tuple(used if x == m else x for x in now) if opens else now
                more = self.ways(todo[1:], others | {l: m}, slots, then, used + opens)
                for p, lows, highs, seats in more:
                    p *= share / (h if lone else 1)
                    yield p, (*first, low, *lows), (*first, high, *highs), seats

    def moved(self, groups, atoms, fresh, numbers):
        """The package's own move by these numbers, empty coteries having these atoms."""
        fresh = iter(fresh)

        def of_atoms(atoms):
            found = {"log_strength": np.log(self.beta), "known": ATOM_KNOWN}
            found["log_mean"] = np.log(ATOM_ETA).swapaxes(1, 2)
            return {name: found[name][atoms] for name in self.one.of_coteries}

        state = {"group": np.array(groups, np.int32), "log_concentration": np.log([ALPHA])}
        state |= self.counts | of_atoms(list(atoms)) | {"log_guess": LOG_GUESS}
        self.one.fresh = lambda _, n, __: of_atoms([next(fresh, 0) for _ in range(n)])
        self.one.draw_alpha, self.one.proposals = lambda *_: None, lambda *_: 0
        log_labels = self.one.move(state, 0, forced(*numbers))
        nearest = (np.abs(state["log_strength"][:, :1] - np.log(self.beta[:, 0])).argmin(axis=1)
                   if self.own_atoms else ())  # fmt: skip
        for name, want in of_atoms(nearest).items():
            np.testing.assert_array_equal(state[name], want)
        return *seen(state["group"].tolist(), nearest), log_labels


def seen(groups, atoms):
    """Groups numbered as they first appear, and their atoms."""
    numbers = {}
    groups = tuple(numbers.setdefault(m, len(numbers)) for m in groups)
    return groups, tuple(int(atoms[m]) for m in numbers) if len(atoms) else ()


def check_move(world):
    """pi P = pi for the move of everybody, and the package goes where P has it."""
    people, h = world.problem.active, world.one.auxiliaries if world.own_atoms else 0

    def moves(state):
        groups, atoms = state
        q, n = dict(zip(people, groups, strict=True)), len(atoms)
        for fresh in itertools.product(ATOMS, repeat=h + len(people)) if h else [()]:
            p_fresh, slots = math.prod(ATOMS[a] for a in fresh), (*atoms, *fresh)
            ways = world.ways(people, q, slots, tuple(range(n, n + h)), n + h)
            for p, *both, seats in ways:
                want = seen(list(seats.values()), slots)
                for numbers in both:
                    *found, log_labels = world.moved(groups, atoms, fresh, numbers)
                    assert tuple(found) == want
                if world.own_atoms:
                    assert abs(log_labels - world.log_labels(seats, slots)) < 1e-9
                yield p * p_fresh, want

    assert_stationary(world.exact(), moves)


def worlds():
    shared, similar = SharedPeople(CBCC, crowd_of(TWO_CLASSES)), crowd_of(PAIRS)
    return {
        "cBCC": World(shared, (0, 1, 0)),
        "hcBCC": World(SimilarPeople(HIERARCHICAL, similar), (0, 1, 1)),
        "Consensus": World(CONSENSUS.people(), (0, 1, 1)),
    }


@needs_compiler
@pytest.mark.parametrize("ahead", [1, 32], ids=["one ahead", "dozens ahead"])
@pytest.mark.parametrize("name", worlds())
def test_everybodys_move_is_stationary(name, ahead, monkeypatch):
    monkeypatch.setattr(people, "DOZENS", ahead)
    check_move(worlds()[name])


def crowded(seed, n=12):
    """Many who open coteries: what they said (people, C + 1, T), and who sits where."""
    rng = np.random.default_rng(seed)
    said = collapsed.with_total(rng.integers(0, 4, (n, 3, 2)).astype(np.int32))
    return said, rng.integers(0, 4, n).astype(np.int32), np.random.default_rng(seed)


def seated(people, room, seed, log_alpha):
    """Seat so many people by a call of the loop, and in so much room before there is more."""
    said, group, rng = crowded(seed)
    draw, size, done, log_p = np.random.default_rng(9), np.full(40, -1), 0, 0.0
    log_eta = np.log(draw.dirichlet([1, 1, 1], (40, 2))).swapaxes(1, 2)
    logs = collapsed.with_strength(draw.normal(1, 1, (40, 2)), log_eta)
    size[:6] = np.bincount(group, minlength=6)
    spare, used = np.array([4, 5]), 6
    while done < len(said):
        some = np.arange(min(done + people, len(said)))
        done, used, more = collapsed.reuse_loop(
            done, some, said, logs[:room], group, size[:room], spare, used, log_alpha, rng
        )
        log_p, room = log_p + more, max(room, used + 1)
    return group, size, spare, used, rng.random(), log_p


@exact
@pytest.mark.parametrize("log_alpha", [-1.0, 3.0])
@pytest.mark.parametrize(("people", "room"), [(1, 40), (5, 40), (12, 7)])
def test_people_who_are_seated_together_are_seated_one_after_the_other(people, room, log_alpha):
    """What the loop notes of coteries while people move is what it would see afresh."""
    for seed in range(5):
        *one, log_p = seated(12, 40, seed, log_alpha)
        *other, same = seated(people, room, seed, log_alpha)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(same, log_p, rtol=1e-12)


@exact
@pytest.mark.parametrize("log_alpha", [-1.0, 3.0])
def test_members_who_join_together_join_one_after_the_other(log_alpha):
    weight = np.array([[1.0, 0.6], [0.3, 2.0], [0.4, 0.8]])
    logs, rising = np.log(collapsed.with_total(weight))[None], collapsed.log_risings(weight)
    for seed in range(5):
        found = []
        for each in (12, 1):
            own, group, rng = crowded(seed)
            people, said, size = collapsed.members_of(own, group)
            for first in range(0, 12, each):
                some = people[first : first + each]
                collapsed.join_loop(some, own, said, group, size, logs, rising, log_alpha, rng)
            found.append((group, said, size, rng.random()))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


@slow
def test_parameters_that_run_out_within_a_sweep_are_drawn_anew():
    module = plain()
    module.AHEAD = 1
    check_enumeration_briefly(module, HCBCC_2)


# ---- Chains that move one item after the other, with splits and merges of coteries between ----

SEATED = ["CBCC_2", "HCBCC_2", "CBCC_3", "HCBCC_3", "CBCC_FIXED", "HCBCC_REPEATED"]


@exact
@pytest.mark.parametrize("name", SEATED)
def test_item_by_item_the_trace_is_the_log_joint_and_counts_are_a_recount(name):
    check_joint(MODELS[name], collapsed=True, often=True)


@needs_compiler
@pytest.mark.parametrize("name", SEATED[:2])
def test_item_by_item_visited_states_have_the_exact_probabilities(name):
    check_enumeration(MODELS[name], collapsed=True, often=True)


@needs_compiler
@slow
@pytest.mark.parametrize("name", SEATED)
def test_item_by_item_visited_states_have_the_exact_probabilities_in_long_chains(name):
    check_enumeration(MODELS[name], n=10_000, seed=2, collapsed=True, often=True)


# ---- Planted bugs: another function in the place of one ----


def all_together(regroup):
    def bug(one, state, n, rng):
        state["group"] = np.zeros_like(state["group"])

    return bug


def told(name, change):
    """Whoever moves is told otherwise of something: a part of the state, or what people have."""

    def plant(seat_people):
        def bug(one, state, rng):
            own = vars(one) if name in vars(one) else state
            before, own[name] = own[name], change(own[name])
            log_labels, own[name] = seat_people(one, state, rng), before
            return log_labels

        return bug

    return plant


HALVED = told("log_concentration", lambda x: x - math.log(2))
BUGS = [
    (SharedPeople, "seat_people", HALVED, "cBCC"),
    (SharedPeople, "seat_people", told("rising", np.zeros_like), "cBCC"),
    (SimilarPeople, "seat_people", HALVED, "hcBCC"),
    (SimilarPeople, "seat_people", told("said", np.zeros_like), "hcBCC"),
    (SimilarPeople, "seat_people", told("auxiliaries", lambda h: h - 1), "Consensus"),
    (SimilarPeople, "seat_people", parameters_stay, "Consensus"),
    (SharedPeople, "regroup", all_together, "a chain"),
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize(("owner", "name", "bug", "world"), BUGS)
def test_planted_bug_is_caught(owner, name, bug, world, monkeypatch):
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    check, one = check_move, worlds().get(world)
    if world == "a chain":
        check, one = partial(check_enumeration, collapsed=True, often=True), MODELS["CBCC_2"]
    with pytest.raises(AssertionError):
        check(one)
