"""The exact checks: no randomness in what they compare. Each takes a sampler and a case.

They run on the package's samplers, and on samplers with planted bugs, which they must catch.
"""

import numpy as np

from coterie.kernels.record import new_tally, new_trace
from reference.joint import log_p_labels_hcbcc, log_p_partition
from samplers.cases import fixed_parameters
from samplers.sampler import ALPHA, all_states, pack, read, start

SAME = 1e-10  # log weights are sums of a few dozen terms of order one


def parameters_of(case):
    """Cluster parameters for the states that are made, if the model has any."""
    return fixed_parameters(case) if case.model == "hcbcc" else (None, None)


def assert_equal_up_to_a_constant(got, want):
    difference = np.asarray(got) - np.asarray(want)
    assert np.ptp(difference) < SAME, f"log weights {got} for a log joint {want}"


def check_truth_weights(sampler, case):
    """Conditional = joint: an item's log weights are differences of the log joint."""
    data, prior = case.problem.codes, pack(sampler, case)
    beta, eta = parameters_of(case)
    for z, q in all_states(case):
        state = start(sampler, case, z, q, beta=beta, eta=eta)
        view = sampler.model.view_of(state, prior)
        work = sampler.truth.new_work(data, len(state.said))
        for i in case.problem.free:
            sampler.truth.take_out_item(i, view, data)
            sampler.truth.weigh_truth(i, view, data, work)
            sampler.truth.put_back_item(i, view, data)
            want = [case.log_joint(z | {i: t}, q, ALPHA, beta, eta) for t in range(data.n_classes)]
            assert_equal_up_to_a_constant(work.weights, want)


def check_group_weights(sampler, case):
    """Conditional = joint: an annotator's log weights are differences of the log joint."""
    beta, eta = parameters_of(case)
    for z, q in all_states(case):
        for l in case.problem.active:
            state = start(sampler, case, z, q, beta=beta, eta=eta)
            got = weigh_group(sampler, case, state, l)
            n_groups = int(state.n_groups[0])
            want = []
            for place in range(len(got)):
                seated = read(case, state)[1] | {l: int(state.slot[place])}
                if case.model == "cbcc":
                    want.append(case.log_joint(z, seated, ALPHA, None, None))
                else:
                    _, _, _, beta_now, eta_now = read(case, state)
                    log_p = log_p_labels_hcbcc(case.problem, z, seated, beta_now, eta_now)
                    log_p += log_p_partition(seated, ALPHA)
                    new = np.log(case.prior.auxiliaries) if place >= n_groups else 0.0
                    want.append(log_p - new)
            assert_equal_up_to_a_constant(got, want)


def weigh_group(sampler, case, state, l):
    """Take l out and give the log weights of the places they may go to."""
    model, data, prior = sampler.model, case.problem.codes, pack(sampler, case)
    room = model.new_room(state, data)
    if case.model == "cbcc":
        model.take_out_annotator(l, state, data, room.cells)
        return room.weights[: model.weigh_groups(state, prior, room)]
    model.take_out_annotator(l, state, prior, 0.5)
    return room.weights[: model.weigh_groups(l, state, prior, room.weights)]


def check_bookkeeping(sampler, case):
    """After every sweep the counts are a recount, and the trace tells the truth."""
    problem, prior = case.problem, pack(sampler, case)
    z, q = all_states(case)[-1]
    state = start(sampler, case, z, q)
    rng = np.random.default_rng(3)
    tally = new_tally(problem.codes)
    for sweep in range(40):
        trace = new_trace(1, problem.n_classes)
        sampler.model.run_block(state, problem.codes, prior, rng, tally, trace)
        assert_counts(case, state)
        if case.has_groups:
            assert_groups(case, state)
        assert_trace(case, state, trace)
        assert tally.sweeps[0] == sweep + 1
        np.testing.assert_allclose(tally.probability.sum(axis=1), sweep + 1, rtol=1e-12)


def assert_counts(case, state):
    problem = case.problem
    z, q, *_ = read(case, state)
    assert {i: z[i] for i in problem.gold} == problem.gold
    uncounted = np.setdiff1d(np.arange(problem.n_items), problem.counted)
    assert (state.truth[uncounted] == -1).all()
    totals = np.bincount(list(z.values()), minlength=problem.n_classes)
    np.testing.assert_array_equal(state.class_total, totals)
    said = np.zeros_like(state.said)
    for i, l, c in problem.labels:
        said[q[l] if case.model == "cbcc" else l, z[i], c] += 1
    np.testing.assert_array_equal(state.said, said)
    np.testing.assert_array_equal(state.said_total, said.sum(axis=2))


def assert_groups(case, state):
    problem = case.problem
    idle = np.setdiff1d(np.arange(problem.n_annotators), problem.active)
    assert (state.group[idle] == -1).all()
    groups = state.group[problem.active]
    np.testing.assert_array_equal(state.size, np.bincount(groups, minlength=len(state.size)))
    np.testing.assert_array_equal(np.sort(state.slot), np.arange(len(state.slot)))
    n_groups = state.n_groups[0]
    np.testing.assert_array_equal(np.sort(state.slot[:n_groups]), np.unique(groups))
    if case.model == "hcbcc":
        used = state.slot[: n_groups + case.prior.auxiliaries]
        log_weight = state.log_strength[used][..., None] + state.log_mean[used]
        np.testing.assert_allclose(state.weight[used], np.exp(log_weight), rtol=1e-12)
        np.testing.assert_allclose(state.weight.sum(2)[used], state.strength[used], rtol=1e-12)


def assert_trace(case, state, trace):
    z, q, alpha, beta, eta = read(case, state)
    want = case.log_joint(z, q, alpha, beta, eta)
    np.testing.assert_allclose(trace.log_joint, want, atol=1e-9, rtol=1e-9)
    np.testing.assert_array_equal(trace.class_total[0], state.class_total)
    if case.has_groups:
        assert trace.n_groups[0] == len(set(q.values()))
        np.testing.assert_allclose(trace.concentration, alpha, rtol=1e-12)


def check_put_back_undoes_take_out(sampler, case):
    """Items taken out in one order and put back in another leave the counts as they were."""
    data, prior = case.problem.codes, pack(sampler, case)
    beta, eta = parameters_of(case)
    for z, q in all_states(case)[::7]:
        state = start(sampler, case, z, q, beta=beta, eta=eta)
        view = sampler.model.view_of(state, prior)
        for i in case.problem.free:
            sampler.truth.take_out_item(i, view, data)
        assert state.said.sum() == sum(i in case.problem.gold for i, _, _ in case.problem.labels)
        for i in case.problem.free[1:] + case.problem.free[:1]:
            sampler.truth.put_back_item(i, view, data)
        assert_counts(case, state)


def check_one_uniform_a_site(sampler, case):
    """A sweep gives every free item and every annotator with labels uniforms of their own."""
    data, prior, model = case.problem.codes, pack(sampler, case), sampler.model
    z, q = all_states(case)[0]
    beta, eta = parameters_of(case)
    state = start(sampler, case, z, q, beta=beta, eta=eta)
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    work = sampler.truth.new_work(data, len(state.said))
    view = model.view_of(state, prior)
    sampler.truth.sweep_truth(view, data, work, rng, new_tally(data))
    twin.random(len(case.problem.free))
    assert rng.bit_generator.state == twin.bit_generator.state
    if case.model == "cbcc":
        model.sweep_groups(state, data, prior, model.new_room(state, data), rng)
        twin.random(len(case.problem.active))
    if case.model == "hcbcc":
        # Two each: one chooses the auxiliary to displace. Nobody opens a group, so none is drawn.
        state.log_concentration[0] = -1e9
        model.sweep_groups(state, prior, model.new_room(state, data), rng)
        twin.random(2 * len(case.problem.active))
    assert rng.bit_generator.state == twin.bit_generator.state
