"""The exact checks: no randomness in what they compare. Each takes a sampler and a case.

They run on the package's samplers, and on samplers with planted bugs, which they must catch.
"""

import numpy as np

from coterie.kernels.record import new_tally, new_trace
from ladder.cases import fixed_parameters
from ladder.sampler import (
    ALPHA,
    all_states,
    at_work,
    canonical,
    pack,
    read,
    run_block,
    start,
    weighed,
)
from reference.joint import log_p_labels_hcbcc, log_p_partition

SAME = 1e-10  # log weights are sums of a few dozen terms of order one


def parameters_of(case):
    """Cluster parameters for the states that are made, if the model has any."""
    return fixed_parameters(case) if case.model == "hcbcc" else (None, None)


def assert_equal_up_to_a_constant(got, want):
    difference = np.asarray(got) - np.asarray(want)
    assert np.ptp(difference) < SAME, f"log weights {got} for a log joint {want}"


def check_truth_weights(sampler, case):
    """Conditional = joint: an item's log weights are differences of the log joint."""
    data = case.problem.codes
    beta, eta = parameters_of(case)
    for z, q in all_states(case):
        state = start(sampler, case, z, q, beta=beta, eta=eta)
        view, work = at_work(sampler, case, state)
        for i in case.problem.free:
            want = [case.log_joint(z | {i: t}, q, ALPHA, beta, eta) for t in range(data.n_classes)]
            for got in weighed(sampler, i, view, data, work):
                assert_equal_up_to_a_constant(got, want)
            # And in logs, which other shapes would need.
            logs = [log_weight(sampler, i, t, view, data, work) for t in range(data.n_classes)]
            assert_equal_up_to_a_constant(logs, want)


def log_weight(sampler, i, t, view, data, work):
    """The log weight of class t for item i, whose labels are noted, by the way of the logs."""
    own = bool(view.truth[i] == t)
    start = np.log(view.class_total[t] - own + view.class_weight[t])
    return start + sampler.truth("logs").log_ratios(i, np.uintp(t), own, view, data, work)


def check_group_weights(sampler, case):
    """Conditional = joint: an annotator's log weights are differences of the log joint."""
    beta, eta = parameters_of(case)
    for z, q in all_states(case):
        for l in case.problem.active:
            state = start(sampler, case, z, q, beta=beta, eta=eta)
            got = weigh_group(sampler, case, state, l)
            n_coteries = int(state.n_coteries[0])
            want = []
            for place in range(len(got)):
                seated = read(case, state)[1] | {l: int(state.slot[place])}
                if case.model == "cbcc":
                    want.append(case.log_joint(z, seated, ALPHA, None, None))
                else:
                    _, _, _, beta_now, eta_now = read(case, state)
                    log_p = log_p_labels_hcbcc(case.problem, z, seated, beta_now, eta_now)
                    log_p += log_p_partition(seated, ALPHA)
                    new = np.log(case.prior.auxiliaries) if place >= n_coteries else 0.0
                    want.append(log_p - new)
            assert_equal_up_to_a_constant(got, want)


def weigh_group(sampler, case, state, l):
    """Take l out and give the log weights of the places they may go to."""
    groups, prior = sampler.groups, pack(sampler, case)
    room = sampler.model.new_room(state, case.problem.codes)
    if case.model == "cbcc":
        groups.take_out_annotator(l, state, room.cells)
        return room.weights[: groups.weigh_groups(state, prior, room)]
    groups.take_out_annotator(l, state, prior, 0.5)
    know_groups(sampler, state, prior, room)
    n_places, in_logs = groups.weigh_groups(l, state, prior, room)
    assert not in_logs
    log_weights = np.log(room.weights[:n_places])
    # The same in logs, which longer counts or other shapes would need.
    logs = [groups.weigh_in_logs(m, state, room) for m in state.slot[:n_places]]
    log_seats = log_weights - np.log(room.product[:n_places])
    assert_equal_up_to_a_constant(logs + log_seats, log_weights)
    return log_weights


def know_groups(sampler, state, prior, room):
    """Tabulate for every group and auxiliary."""
    for m in state.slot[: state.n_coteries[0] + prior.auxiliaries]:
        sampler.groups.know_group(int(m), state, room)


def check_bookkeeping(sampler, case):
    """After every sweep the counts are a recount, and the trace tells the truth."""
    problem, prior = case.problem, pack(sampler, case)
    z, q = all_states(case)[-1]
    state = start(sampler, case, z, q)
    rng = np.random.default_rng(3)
    tally = new_tally(problem.codes)
    for sweep in range(40):
        trace = new_trace(1, problem.n_classes)
        run_block(sampler.model, state, problem.codes, prior, rng, tally, trace)
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
    own = np.zeros((problem.n_annotators, problem.n_answers, problem.n_classes))
    for i, l, c in problem.labels:
        said[q[l] if case.model == "cbcc" else l, c, z[i]] += 1
        own[l, c, z[i]] += 1
    np.testing.assert_array_equal(state.said, said)
    np.testing.assert_array_equal(state.said_total, said.sum(axis=1))
    if case.model == "cbcc":
        np.testing.assert_array_equal(state.own, own)


def assert_groups(case, state):
    problem = case.problem
    idle = np.setdiff1d(np.arange(problem.n_annotators), problem.active)
    assert (state.group[idle] == -1).all()
    groups = state.group[problem.active]
    np.testing.assert_array_equal(state.size, np.bincount(groups, minlength=len(state.size)))
    np.testing.assert_array_equal(np.sort(state.slot), np.arange(len(state.slot)))
    n_coteries = state.n_coteries[0]
    np.testing.assert_array_equal(np.sort(state.slot[:n_coteries]), np.unique(groups))
    if case.model == "hcbcc":
        used = state.slot[: n_coteries + case.prior.auxiliaries]
        log_weight = state.log_strength[used][:, None] + state.log_mean[used]
        np.testing.assert_allclose(state.weight[used], np.exp(log_weight), rtol=1e-12)
        np.testing.assert_allclose(state.weight.sum(1)[used], state.strength[used], rtol=1e-12)


def assert_trace(case, state, trace):
    z, q, alpha, beta, eta = read(case, state)
    want = case.log_joint(z, q, alpha, beta, eta)
    np.testing.assert_allclose(trace.log_joint, want, atol=1e-9, rtol=1e-9)
    np.testing.assert_array_equal(trace.class_total[0], state.class_total)
    if case.has_groups:
        assert trace.n_coteries[0] == len(set(q.values()))
        np.testing.assert_allclose(trace.concentration, alpha, rtol=1e-12)


def check_moving_back_undoes_moving(sampler, case):
    """Items moved in one order and back in another leave everything as it was."""
    data = case.problem.codes
    beta, eta = parameters_of(case)
    for z, q in all_states(case)[::7]:
        state = start(sampler, case, z, q, beta=beta, eta=eta)
        view, work = at_work(sampler, case, state)
        before = [array.copy() for array in (work.above, work.below, work.ratio)]
        free = case.problem.free
        for i in free:
            move(sampler, i, (z[i] + 1) % data.n_classes, view, data, work)
            assert_counts(case, state)
            _, fresh = at_work(sampler, case, state)
            np.testing.assert_array_equal(work.above, fresh.above)
            np.testing.assert_array_equal(work.below, fresh.below)
            np.testing.assert_array_equal(work.ratio, fresh.ratio)
        for i in free[1:] + free[:1]:
            move(sampler, i, z[i], view, data, work)
        assert_counts(case, state)
        for array, as_before in zip((work.above, work.below, work.ratio), before, strict=True):
            np.testing.assert_array_equal(array, as_before)


def move(sampler, i, t, view, data, work):
    """Count item i under class t."""
    sampler.truth("counts").move_item(i, t, view, data, work)


def check_put_back_undoes_take_out(sampler, case):
    """Annotators taken out in one order and put back in another leave the groups as they were."""
    data, prior, model = case.problem.codes, pack(sampler, case), sampler.groups
    for z, q in all_states(case)[::7]:
        state = start(sampler, case, z, q)
        rooms = {l: sampler.model.new_room(state, data) for l in case.problem.active}
        sizes = np.sort(state.size)
        for l, room in rooms.items():
            if case.model == "cbcc":
                model.take_out_annotator(l, state, room.cells)
            else:
                model.take_out_annotator(l, state, prior, 0.5)
        assert state.n_coteries[0] == state.size.sum() == 0
        if case.model == "cbcc":
            assert not state.said.any()
        place = {}  # where a group is now, in the order in which its members come back
        for l in case.problem.active[1:] + case.problem.active[:1]:
            at = place.setdefault(q[l], len(place))
            extra = (rooms[l].cells,) if case.model == "cbcc" else (prior,)
            model.put_back_annotator(l, at, state, *extra)
        assert_counts(case, state)
        np.testing.assert_array_equal(np.sort(state.size), sizes)
        together = {l: int(state.group[l]) for l in case.problem.active}
        assert canonical(together) == canonical(q)


def check_one_uniform_a_site(sampler, case):
    """A sweep gives every free item and every annotator with labels uniforms of their own."""
    data, prior, model = case.problem.codes, pack(sampler, case), sampler.model
    z, q = all_states(case)[0]
    beta, eta = parameters_of(case)
    state = start(sampler, case, z, q, beta=beta, eta=eta)
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    view, work = at_work(sampler, case, state)
    sweep = getattr(sampler.truth("sweep"), "sweep_shared" if case.model == "cbcc" else "sweep_own")
    sweep(view, data, work, rng, new_tally(data))
    twin.random(len(case.problem.free))
    assert rng.bit_generator.state == twin.bit_generator.state
    if case.model == "cbcc":
        model.sweep_groups(state, prior, model.new_room(state, data), rng)
        twin.random(len(case.problem.active))
    if case.model == "hcbcc":
        # Two each: one chooses the auxiliary to displace. Nobody opens a group, so none is drawn.
        state.log_concentration[0] = -1e9
        model.sweep_groups(state, prior, model.new_room(state, data), rng)
        twin.random(2 * len(case.problem.active))
    assert rng.bit_generator.state == twin.bit_generator.state
