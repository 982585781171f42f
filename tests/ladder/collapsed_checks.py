"""The exact checks of the collapsed samplers: no randomness in what they compare.

They run on the package's own samplers, and on samplers with planted bugs, which they must catch.
"""

import itertools
from collections import Counter, defaultdict
from functools import partial
from math import factorial, prod
from unittest.mock import patch

import numpy as np
from scipy import stats

from ladder.collapsed import (
    ALPHA,
    all_states,
    canonical,
    forced,
    join,
    move_items,
    new_state,
    parameters,
    people_of,
    read,
    reuse,
    start,
    weighed,
)
from reference.exact import all_partitions, all_truths, key, normalise
from reference.joint import (
    log_augmented,
    log_p_concentration,
    log_p_labels_hcbcc,
    log_p_parameters,
    log_p_partition,
    log_p_truth,
)

SAME = 1e-10  # log weights are sums of a few dozen terms of order one
AS_GOOD_AS_NOTHING = 1e-13  # of a probability: sums of a few numbers, and the uniform's own digits


def assert_equal_up_to_a_constant(got, want):
    difference = np.asarray(got) - np.asarray(want)
    assert np.ptp(difference) < SAME, f"log weights {got} for a log joint {want}"


def ends(shares):
    """(outcome, its share, the least and the largest uniform number that must lead to it)."""
    above = np.cumsum(shares)
    for k in np.flatnonzero(shares):
        yield k, shares[k], above[k] - shares[k] + AS_GOOD_AS_NOTHING, above[k] - AS_GOOD_AS_NOTHING


def assert_stationary(pi, moves):
    """pi P = pi: ``moves(state)`` yields (probability, next state)."""
    after = defaultdict(float)
    for state, p in pi.items():
        for move, following in moves(state):
            after[following] += p * move
    assert after.keys() <= pi.keys()
    worst = max(abs(after[state] - p) for state, p in pi.items())
    assert worst < 1e-12, f"pi P differs from pi by {worst:.2g}"


def check_items(module, case, looked_up=True):
    """Every item, in every state: conditional = joint, each outcome forced, counts, pi P = pi."""
    problem = case.problem
    truths = {key(problem, z): z for z in all_truths(problem)}
    beta, eta = parameters(case)
    for q in list(all_partitions(problem.active)) if case.has_groups else [None]:
        log_p = {k: case.log_joint(z, q, ALPHA, beta, eta) for k, z in truths.items()}
        for i in problem.free:

            def moves(k, i=i, q=q, log_p=log_p):
                z = truths[k]
                ways = [z | {i: t} for t in range(problem.n_classes)]
                sums, _ = move_items(module, case, start(case, z, q), [i], forced(0.5), looked_up)
                want = [log_p[key(problem, way)] for way in ways]
                assert_equal_up_to_a_constant(np.log(sums[i]), want)
                assert abs(sums[i].sum() - 1) < 1e-12
                for t, share, *uniforms in ends(sums[i]):
                    for u in uniforms:
                        state = start(case, z, q)
                        _, said = move_items(module, case, state, [i], forced(u), looked_up)
                        assert read(case, state)[0] == ways[t]
                        assert_counts(case, state, said)
                    yield share, key(problem, ways[t])

            assert_stationary(normalise(log_p), moves)


def assert_counts(case, state, said=None):
    """The counts are a recount; ``said`` are those of cBCC's coteries."""
    model = "cbcc" if case.has_groups else "ibcc"
    wanted = new_state(model, case.problem.codes, state["truth"], state.get("group"))
    for name in ("truth", "cell_total", "said", "group"):
        np.testing.assert_array_equal(state.get(name), wanted.get(name))
    if case.model == "cbcc" and said is not None:
        for m, counts in enumerate(said[:, :-1]):
            members = wanted["said"][state["group"] == m]
            np.testing.assert_array_equal(counts, members.sum(axis=0))
        np.testing.assert_array_equal(said[:, -1], said[:, :-1].sum(axis=1))


def check_join(module, case):
    """cBCC: every annotator, in every state; as above, for p(q | Y, z, alpha)."""
    problem = case.problem
    partitions = {tuple(q.values()): q for q in all_partitions(problem.active)}
    for z in all_truths(problem):
        log_p = {k: case.log_joint(z, q, ALPHA, None, None) for k, q in partitions.items()}
        for l in problem.active:

            def moves(k, z=z, l=l, log_p=log_p):
                q = partitions[k]
                got = weighed(module, lambda m: join(m, case, start(case, z, q), [l], forced(0.5)))
                others = {m for other, m in q.items() if other != l}
                places = sorted({*others, min(set(range(len(q))) - others)})
                seated = [tuple(canonical(q | {l: m}).values()) for m in places]
                assert (got > -np.inf).nonzero()[0].tolist() == places
                assert_equal_up_to_a_constant(got[places], [log_p[s] for s in seated])
                shares = np.exp(got - np.logaddexp.reduce(got))
                for m, share, *uniforms in ends(shares):
                    for u in uniforms:
                        state = start(case, z, q)
                        said, size = join(module, case, state, [l], forced(u))
                        assert state["group"][l] == m
                        assert_counts(case, state, said)
                        group = state["group"][problem.active]
                        np.testing.assert_array_equal(np.bincount(group, minlength=len(size)), size)
                    yield share, seated[places.index(m)]

            assert_stationary(normalise(log_p), moves)


def check_reuse_weights(module, case):
    """hcBCC: the log weights of every annotator's places, in every state, and log p(labels)."""
    beta, eta = parameters(case)
    for z, q in all_states(case):
        for l in case.problem.active:
            rng = forced(0.01, 0.5)  # the first auxiliary is the one to be displaced
            state = start(case, z, q)
            got = weighed(
                module,
                partial(reuse, case=case, state=state, people=[l], rng=rng, beta=beta, eta=eta),
            )
            others, n = {m for other, m in q.items() if other != l}, len(set(q.values()))
            displaced = set() if q[l] in others else {n}
            places = sorted({*range(n + case.prior.auxiliaries)} - displaced)
            assert np.flatnonzero(got > -np.inf).tolist() == places
            want = []
            for m in places:
                log_p = log_p_labels_hcbcc(case.problem, z, q | {l: m}, beta, eta)
                log_p += log_p_partition(q | {l: m}, ALPHA)
                want.append(log_p - (0 if m in others else np.log(case.prior.auxiliaries)))
            assert_equal_up_to_a_constant(got[places], want)
    z, q = all_states(case)[0]
    state, rng = start(case, z, q), np.random.default_rng(1)
    _, log_p = reuse(module, case, state, case.problem.active, rng, beta, eta)
    want = log_p_labels_hcbcc(case.problem, z, read(case, state)[1], beta, eta)
    assert abs(log_p - want) < SAME


ATOMS = {0: 0.3, 1: 0.7}  # a prior of coteries' parameters that is discrete, so that states are few


def check_reuse_is_stationary(module, case):
    """hcBCC: every annotator's Reuse step leaves coteries, parameters and auxiliaries as they are.

    With parameters from two atoms, a state is a partition, an atom per coterie, and the atoms of
    the auxiliaries in any order. All auxiliaries are displaced, all places chosen, all atoms drawn.
    """
    z, h = list(all_truths(case.problem))[-2], case.prior.auxiliaries
    beta, eta = (array[list(ATOMS)] for array in parameters(case))

    def moves(state, l):
        groups, atoms, spares = state
        q = dict(zip(case.problem.active, groups, strict=True))

        def update(module, fresh, *uniforms):
            slots = [*atoms, *spares, fresh]
            now = start(case, z, q, beta[slots], eta[slots])
            rng = forced(*uniforms)
            spare, _ = reuse(module, case, now, [l], rng, beta[slots], eta[slots])
            seated = read(case, now)[1]
            atoms_now = tuple(slots[m] for m in dict.fromkeys(seated.values()))
            return (
                tuple(canonical(seated).values()),
                atoms_now,
                tuple(sorted(slots[k] for k in spare)),
            )

        lone = groups.count(q[l]) == 1
        for displaced in range(h) if lone else [None]:
            uniform = [] if displaced is None else [(displaced + 0.5) / h]
            got = weighed(module, lambda m, uniform=uniform: update(m, 0, *uniform, 0.5))
            for _, share, *uniforms in ends(np.exp(got - np.logaddexp.reduce(got))):
                for atom, p in ATOMS.items():
                    low, high = (update(module, atom, *uniform, u) for u in uniforms)
                    assert low == high
                    yield share * p / (h if lone else 1), low

    log_p = {}
    for q in all_partitions(case.problem.active):
        for atoms in itertools.product(ATOMS, repeat=len(set(q.values()))):
            labels = log_p_labels_hcbcc(case.problem, z, q, beta[list(atoms)], eta[list(atoms)])
            for spares in itertools.combinations_with_replacement(ATOMS, h):
                ways = factorial(h) / prod(map(factorial, Counter(spares).values()))
                log_atoms = np.log(ways * prod(ATOMS[atom] for atom in (*atoms, *spares)))
                state = tuple(q.values()), atoms, spares
                log_p[state] = labels + log_p_partition(q, ALPHA) + log_atoms
    for l in case.problem.active:
        assert_stationary(normalise(log_p), lambda state, l=l: moves(state, l))


def check_one_uniform_a_site(module, case):
    """A sweep gives every free item and every annotator with labels uniforms of their own."""
    problem, (z, q) = case.problem, all_states(case)[0]
    state, rng, twin = start(case, z, q), np.random.default_rng(5), np.random.default_rng(5)
    move_items(module, case, state, problem.free, rng)
    twin.random(len(problem.free))
    if case.model == "cbcc":
        join(module, case, state, problem.active, rng)
        twin.random(len(problem.active))
    if case.model == "hcbcc":  # nobody is left alone, so that none is displaced
        state["log_concentration"][0] = -1e9
        reuse(module, case, state, problem.active, rng, *parameters(case))
        twin.random(len(problem.active))
    assert rng.bit_generator.state == twin.bit_generator.state


def sweep(module, case, state, n, rng, sums=None):
    return module.sweep(case.model, state, case.problem.codes, people_of(case), n, rng, sums)


def check_sweeps(module, case):
    """After every sweep the counts are a recount, and what is noted is what the reference says."""
    problem, prior, rng = case.problem, case.prior, np.random.default_rng(3)
    state = start(case, *all_states(case)[-1])
    sums = np.zeros((problem.n_items, problem.n_classes))
    for done in range(1, 41):
        noted = {name: array[0] for name, array in sweep(module, case, state, 1, rng, sums).items()}
        z, q, alpha, beta, eta = read(case, state)
        assert {i: z[i] for i in problem.gold} == problem.gold
        assert_counts(case, state)
        np.testing.assert_allclose(sums.sum(axis=1), done, rtol=1e-12)
        joint = case.log_joint(z, q, alpha, beta, eta)
        np.testing.assert_allclose(noted["log_joint"], joint, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(noted["class_total"], state["cell_total"])
        others = log_p_truth(z, prior.class_weights)
        if case.has_groups:
            assert set(q.values()) == set(range(noted["n_coteries"]))
            np.testing.assert_allclose(noted["concentration"], alpha, rtol=1e-12)
            others += log_p_partition(q, alpha) + log_p_concentration(alpha, prior.concentration)
        if case.model == "hcbcc":
            assert len(beta) == len(eta) == noted["n_coteries"]
            np.testing.assert_allclose(eta.sum(axis=2), 1, rtol=1e-12)
            others += sum(map(log_p_parameters, [prior] * len(beta), beta, eta))
        likelihood = noted["log_likelihood"]
        np.testing.assert_allclose(likelihood, joint - others, rtol=1e-9, atol=1e-9)


def check_cut(module, case, n=24):
    """However a run is cut into calls, states, sums and what is noted are the same to the bit."""
    runs = []
    for blocks in ([n], [1] * n, [n // 3, n - n // 3]):
        state, rng = start(case, *all_states(case)[-1]), np.random.default_rng(3)
        sums = np.zeros((case.problem.n_items, case.problem.n_classes))
        noted = [sweep(module, case, state, block, rng, sums) for block in blocks]
        series = {name: np.concatenate([one[name] for one in noted]) for name in noted[0]}
        runs.append(state | series | {"sums": sums, "next": rng.random()})
    assert_same_runs(*runs)


def assert_same_runs(run, *others, rtol=0.0):
    for other in others:
        assert run.keys() == other.keys()
        for name, array in run.items():
            np.testing.assert_allclose(array, other[name], rtol=rtol, atol=rtol, err_msg=name)


# Members of one coterie, their n[c] of one class; the last has no labels of that class.
MEMBERS = ((3, 1), (2, 2), (1, 0), (0, 0))
TABLES = ((2, 1), (1, 2), (1, 0), (0, 0))
BETA, ETA = (2.0, 3.5), ((0.35, 0.65), (0.8, 0.2))  # of the coterie before


def check_augmented_joint(module, case):
    """beta and eta are drawn with the shapes and rates that the augmented joint asks for.

    The Gamma numbers are handed in, and the shapes that are asked for are noted.
    """
    people, members = people_of(case), [n for n in MEMBERS if sum(n)]
    counts = np.zeros((len(MEMBERS), 2, 2), np.int32)
    counts[:, :, 0] = MEMBERS
    logs = module.with_strength(np.log([BETA]), np.log([ETA]).swapaxes(1, 2))
    asked, given = [], 0.3 + 0.1 * np.arange(40)

    def log_gamma(shape, rng):
        asked.append(shape)
        return given[len(asked) - 1]

    def open_tables(said, group, weight, tables, rng):
        np.testing.assert_array_equal(said[:, :-1], counts)
        np.testing.assert_allclose(weight[0], np.multiply(BETA, np.transpose(ETA)), rtol=1e-12)
        tables[0, :, 0] += np.sum(TABLES, axis=0)

    log_mean, base = np.zeros((1, 2, 2)), people.mean_weight
    with patch.multiple(module, log_gamma=log_gamma, open_tables=open_tables):
        module.draw_parameters(
            0, module.with_total(counts), np.zeros(len(MEMBERS), np.int32), base, people.shape,
            people.rate, logs, log_mean, None,
        )  # fmt: skip
    # -log nu is -log of a Beta(beta + 1, n - 1) number, and all the rest a Gamma(members) number.
    shapes = [x for n in members if sum(n) > 1 for x in (sum(n) - 1, BETA[0] + 1)]
    shapes += [len(members)]
    np.testing.assert_allclose(asked[: len(shapes)], shapes, rtol=1e-12)
    decay = np.sum(
        np.log1p(np.exp(given[0 : len(shapes) - 1 : 2] - given[1 : len(shapes) - 1 : 2]))
    )
    decay += np.exp(given[len(shapes) - 1]) / BETA[0]
    nus = [np.exp(-decay / len(members)) if sum(n) else 1.0 for n in MEMBERS]
    first = len(shapes)
    eta_shapes, beta_shape = asked[first : first + 2], asked[first + 2]
    rate = np.exp(given[first + 2] - logs[0, 2, 0])
    betas, etas = [0.4, 2.0, 7.0], [(0.1, 0.9), (0.5, 0.5), (0.8, 0.2)]
    assert_equal_up_to_a_constant(
        stats.gamma.logpdf(betas, beta_shape, scale=1 / rate),
        [log_augmented(MEMBERS, case.prior, 0, beta, ETA[0], nus, TABLES) for beta in betas],
    )
    assert_equal_up_to_a_constant(
        [stats.dirichlet.logpdf(eta, eta_shapes) for eta in etas],
        [log_augmented(MEMBERS, case.prior, 0, 2.0, eta, nus, TABLES) for eta in etas],
    )
    drawn = np.exp(given[first : first + 2])
    np.testing.assert_allclose(np.exp(log_mean[0, :, 0]), drawn / drawn.sum(), rtol=1e-12)
    # And of the class without labels, from the prior.
    np.testing.assert_allclose(asked[first + 3 :], [*base[:, 1], people.shape[1]], rtol=1e-12)
    np.testing.assert_allclose(given[first + 5] - logs[0, 2, 1], np.log(people.rate[1]), rtol=1e-12)
    np.testing.assert_allclose(logs[:, :2], log_mean + logs[:, 2:], rtol=1e-12)
