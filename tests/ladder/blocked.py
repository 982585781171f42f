"""The exact checks of what items are given and how they are drawn from it."""

from dataclasses import replace

import numpy as np

from coterie.kernels.gibbs.blocked.whole import new_whole
from coterie.kernels.record import new_tally, new_trace
from ladder.checks import SAME, assert_counts, assert_equal_up_to_a_constant
from ladder.sampler import Sampler, all_states, pack, planted, run_block, start
from reference.given import all_states_given, log_joint_given


def blocked(case):
    """The blocked sampler that the package ships."""
    return Sampler("coterie", f"blocked.{case.model}")


def planted_blocked(case, folder, edits=()):
    """The same from a copy of its source with these edits."""
    return replace(planted(case, folder, edits), name=f"blocked.{case.model}")


def items_of(sampler):
    return sampler.module("gibbs.blocked.items")


def given_by_hand(case, whole, seed):
    """Arbitrary matrices and balance, written to what the items are given."""
    rng, problem = np.random.default_rng(seed), case.problem
    balance = rng.dirichlet(np.ones(problem.n_classes))
    matrix = rng.dirichlet(np.ones(problem.n_answers), (problem.n_annotators, problem.n_classes))
    given = whole.given
    given.balance[:], given.log_balance[:] = balance, np.log(balance)
    given.chance[:] = matrix.swapaxes(1, 2)
    given.log_chance[:] = np.log(matrix.swapaxes(1, 2))
    return balance, matrix


def check_weights(sampler, case):
    """Conditional = joint: an item's log weights are differences of the log joint."""
    items, problem = items_of(sampler), case.problem
    whole = new_whole(np.full(problem.n_items, -1, np.int32), problem.codes)
    balance, matrix = given_by_hand(case, whole, 1)
    weights = np.zeros(problem.n_classes)
    for z in all_states_given(problem):
        for i in problem.free:
            want = [
                log_joint_given(problem, {**z, i: t}, balance, matrix)
                for t in range(problem.n_classes)
            ]
            items.weigh_item(i, whole.items, whole.read, weights)
            assert_equal_up_to_a_constant(np.log(weights), want)
            items.weigh_many(i, whole.items, whole.read, weights)
            assert_equal_up_to_a_constant(np.log(weights), want)
            items.weigh_in_logs(i, whole.items, whole.read, weights)
            assert_equal_up_to_a_constant(np.log(weights), want)


def check_stationary(sampler, case):
    """From every z, the truths that are drawn have p(z | tau, Psi, Y): pi P = pi, exactly.

    All outcomes of every item are forced; they do not depend on where the chain is, so that the
    probability of a next state is the product over items.
    """
    items, problem = items_of(sampler), case.problem
    for seed in range(3):
        whole = new_whole(np.full(problem.n_items, -1, np.int32), problem.codes)
        balance, matrix = given_by_hand(case, whole, seed)
        move = {}
        weights = np.zeros(problem.n_classes)
        for i in problem.free:
            items.choose_item(i, whole.items, whole.read, weights, 0.5)
            shares = weights.copy()
            middles = np.cumsum(shares) - shares / 2
            for t, u in enumerate(middles):
                assert items.choose_item(i, whole.items, whole.read, weights, u) == t
                move[i, t] = shares[t]
        states = list(all_states_given(problem))
        logs = np.array([log_joint_given(problem, z, balance, matrix) for z in states])
        pi = np.exp(logs - np.logaddexp.reduce(logs))
        after = [np.prod([move[i, z[i]] for i in problem.free]) for z in states]
        np.testing.assert_allclose(after, pi, rtol=0, atol=SAME)


def check_given(sampler, case, n_draws=4_000):
    """Matrices and balance that are drawn have the means that counts and shapes say."""
    problem, prior = case.problem, pack(sampler, case)
    z, q = all_states(case)[len(all_states(case)) // 2]
    state = start(sampler, case, z, q)
    scratch = sampler.model.new_scratch(state, problem.codes, prior)
    rng = np.random.default_rng(5)
    given = scratch.whole.given
    balances, first = [], []
    l = problem.active[0]
    for _ in range(n_draws):
        sampler.model.begin(state, problem.codes, prior, given, scratch, rng)
        balances.append(given.balance.copy())
        first.append(given.chance[l].copy())
        np.testing.assert_allclose(given.chance[problem.active].sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(
            np.exp(given.log_chance[problem.active]),
            given.chance[problem.active],
            rtol=1e-12,
            atol=1e-300,  # where floats lose their digits
        )
    weight = np.asarray(case.prior.class_weights) + state.class_total
    assert_mean(balances, weight / weight.sum())
    if case.model == "cbcc":
        for one in problem.active:
            for other in problem.active:
                same = state.group[one] == state.group[other]
                assert np.array_equal(given.chance[one], given.chance[other]) == same
    if case.model != "hcbcc":  # whose beta and eta move with every draw
        m = state.group[l] if case.model == "cbcc" else l
        shapes = prior.shapes.weight[0] + state.said[m]
        assert_mean(first, shapes / shapes.sum(axis=0))


def check_block(sampler, case):
    """Sweeps of one block leave the counts of the last, and nothing of those before."""
    problem, prior = case.problem, pack(sampler, case)
    state = start(sampler, case, *all_states(case)[-1])
    rng, trace = np.random.default_rng(3), new_trace(3, problem.n_classes)
    run_block(sampler.model, state, problem.codes, prior, rng, new_tally(problem.codes), trace)
    assert_counts(case, state)


def assert_mean(draws, exact):
    draws = np.array(draws)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - exact) <= 5 * error + 1e-12).all()
