"""Conditional = joint: what the pieces of the sampler weigh and draw from, against the reference.

Each check takes a sampler and a case; they run on the package's sampler and on planted bugs.
"""

import itertools
from dataclasses import replace
from math import log

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from coterie.kernels.record import Tally, new_trace
from ladder.checks import SAME, assert_equal_up_to_a_constant
from ladder.consensus.cases import (
    counts,
    file,
    given_drawn,
    make_state,
    packed,
    read_values,
    reuse,
    some_drawn,
    some_values,
)
from ladder.sampler import run_block
from reference import consensus as reference

SEEDS = range(3)


def labels_of(case, i):
    """The places of item i's labels, in the order of the items."""
    return [place for place, (j, _, _) in enumerate(sorted(case.problem.labels)) if j == i]


def check_items(sampler, case):
    """Kind and class of an item, g summed out: by products and in logs."""
    items, data = file(sampler, "items"), case.problem.codes
    n_classes = case.problem.n_classes
    for seed in SEEDS:
        state, drawn = make_state(sampler, case, some_values(case, seed)), some_drawn(case, seed)
        given = given_drawn(sampler, case, state, drawn)
        work = file(sampler, "state").new_work(state)
        for i in case.labelled:
            every = [(k, t) for k in range(case.n_kinds) for t in range(n_classes)]
            want = np.array(
                [reference.p_item(case.problem, case.prior, drawn, i, t, k) for k, t in every]
            )
            marginal = want.reshape(case.n_kinds, n_classes).sum(axis=0) / drawn.pi
            if i in case.problem.gold:
                want *= [t == case.problem.gold[i] for _, t in every]
            want /= want.sum()
            assert items.weigh_item(i, data, given, work)
            items.finish_weights(i, data, given, work)
            np.testing.assert_allclose(work.weights, want, atol=SAME)
            np.testing.assert_allclose(work.marginal, np.log(marginal), atol=SAME)
            items.weigh_in_logs(i, data, given, work)
            np.testing.assert_allclose(work.weights, want, atol=SAME)
            np.testing.assert_allclose(work.marginal, np.log(marginal), atol=SAME)


def check_sources(sampler, case):
    """Where each label came from, given the item's kind and class."""
    items, data = file(sampler, "items"), case.problem.codes
    state, drawn = make_state(sampler, case, some_values(case, 0)), some_drawn(case, 1)
    given = given_drawn(sampler, case, state, drawn)
    for i, k, t in itertools.product(
        case.labelled, range(case.n_kinds), range(case.problem.n_classes)
    ):
        places = labels_of(case, i)
        for place, label in enumerate(places):
            p = []
            for own in (0, 1):
                g = [1] * len(places)
                g[place] = own
                p.append(reference.p_item(case.problem, case.prior, drawn, i, t, k, g))
            got = items.share_own(label, t, k, data, given)
            np.testing.assert_allclose(got, p[1] / sum(p), atol=SAME)


def check_groups(sampler, case):
    """An annotator's log weights are differences of the log joint."""
    groups = reuse(sampler)
    model, prior = file(sampler, "model"), packed(sampler, case)
    for seed, l in itertools.product(SEEDS, case.problem.active):
        values = some_values(case, seed)
        state = make_state(sampler, case, values)
        crowd, room = model.crowd_of(state), model.new_room(state, case.problem.codes, prior)
        for m in range(len(state.slot)):
            groups.know_group(m, crowd, room.crowd)
        groups.take_out_annotator(l, crowd, prior, 0.5)
        n_places, in_logs = groups.weigh_groups(l, crowd, prior, room.crowd)
        got = room.crowd.weights[:n_places]
        want = []
        for place in range(n_places):
            seated = replace(values, q=values.q | {l: int(state.slot[place])})
            log_p = reference.log_p_labels(case.problem, case.prior, seated)
            log_p += reference.log_p_partition(seated.q, values.alpha)
            new = log(case.prior.auxiliaries) if place >= state.n_coteries[0] else 0.0
            want.append(log_p - new)
        assert_equal_up_to_a_constant(got if in_logs else np.log(got), want)


def check_strength(sampler, case):
    """beta is drawn from its density given nu and S."""
    parameters, prior = file(sampler, "parameters"), packed(sampler, case)
    state = make_state(sampler, case, some_values(case, 0))
    room = file(sampler, "model").new_room(state, case.problem.codes, prior)
    rng = np.random.default_rng(1)
    sums = room.crowd.sums
    sums.tables[:] = rng.integers(0, 5, sums.tables.shape)
    log_nu = np.log(rng.random((3, sums.tables.shape[1])))  # three members
    sums.decay[:] = -log_nu[0]
    sums.log_decay[:] = np.log(-log_nu[1:].sum(axis=0))
    shape, log_rate = parameters.strength_posterior(sums, prior)
    betas = np.array([0.4, 2.0, 7.0])
    a, b = float(case.prior.strength.shape), float(case.prior.strength.rate)
    want = stats.gamma.logpdf(betas, a, scale=1 / b)
    want += (betas - 1) * log_nu.sum() + sums.tables.sum() * np.log(betas)
    assert_equal_up_to_a_constant(stats.gamma.logpdf(betas, shape, scale=np.exp(-log_rate)), want)


def check_means(sampler, case):
    """eta is drawn from its density given S, d and w."""
    parameters, base = file(sampler, "parameters"), file(sampler, "base")
    prior, values = packed(sampler, case), some_values(case, 2)
    state = make_state(sampler, case, values)
    tables = np.random.default_rng(1).integers(0, 4, state.weight.shape)
    for m, t in itertools.product(range(len(values.d)), range(case.problem.n_classes)):
        b = reference.base(prior.point[values.d[m]], values.w, case.problem.n_classes)[t]
        want = case.prior.mean_strength * b
        for c in range(case.problem.n_answers):
            got = parameters.mean_posterior(m, c, t, tables, m, state, prior)
            np.testing.assert_allclose(got, want[c] + tables[m, c, t], rtol=1e-12)
            log_weight = base.log_base_weight(m, c, t, state, prior)
            np.testing.assert_allclose(log_weight, log(want[c]), rtol=1e-12, atol=1e-12)


def check_knowledge(sampler, case):
    """d is drawn from its weights given how often the coterie knew and guessed."""
    base, prior = file(sampler, "base"), packed(sampler, case)
    values = some_values(case, 1)
    state = make_state(sampler, case, values)
    room = file(sampler, "model").new_room(state, case.problem.codes, prior)
    where, shares = reference.points(case.prior)
    np.testing.assert_allclose(prior.point_share, shares, rtol=1e-12)
    base.weigh_points(5, 3, prior, room)
    assert_equal_up_to_a_constant(
        room.points, np.log(shares) + 5 * np.log(where) + 3 * np.log(1 - where)
    )
    b = reference.base(where[values.d[0]], values.w, case.problem.n_classes)
    for t in range(case.problem.n_classes):
        want = where[values.d[0]] / b[t, t]
        np.testing.assert_allclose(base.share_known(0, t, state, prior), want, rtol=1e-12)


def log_joint_without_d(case, values):
    """The log joint with d of every coterie summed out."""
    total = reference.log_joint(case.problem, case.prior, values)
    _, shares = reference.points(case.prior)
    for m in set(values.q.values()):
        total -= reference.log_p_mean(case.prior, values.d[m], values.w, values.eta[m])
        total -= log(shares[values.d[m]])
        total += logsumexp(log_p_points(case, values.w, values.eta[m]))
    return total


def log_p_points(case, w, eta):
    """log p(d, eta | w) at every point."""
    _, shares = reference.points(case.prior)
    return np.array(
        [log(share) + reference.log_p_mean(case.prior, j, w, eta) for j, share in enumerate(shares)]
    )


def exchanged(values, a, b):
    """The values with two classes exchanged."""
    other = {a: b, b: a}
    eta = values.eta.copy()
    eta[:, [a, b]] = values.eta[:, [b, a]]
    return replace(values, z={i: other.get(t, t) for i, t in values.z.items()}, eta=eta)


def free_classes(case):
    """Those that no gold item has."""
    known = set(case.problem.gold.values())
    return [t for t in range(case.problem.n_classes) if t not in known]


def check_swap(sampler, case):
    """The ratio of an exchange of classes is a difference of the log joint, d summed out."""
    swap, prior = file(sampler, "swap"), packed(sampler, case)
    for seed in SEEDS:
        values = some_values(case, seed)
        state = make_state(sampler, case, values)
        room = file(sampler, "model").new_room(state, case.problem.codes, prior)
        swap.know_norm(state, prior, room)
        assert room.free_class.tolist() == free_classes(case)
        for a, b in itertools.combinations(free_classes(case), 2):
            got = swap.log_ratio(a, b, state, prior, room)
            want = log_joint_without_d(case, exchanged(values, a, b))
            want -= log_joint_without_d(case, values)
            np.testing.assert_allclose(got, want, atol=SAME)


def check_exchange(sampler, case):
    """After an exchange the counts are a recount, and d follows eta."""
    swap, prior = file(sampler, "swap"), packed(sampler, case)
    values = some_values(case, 4)
    state = make_state(sampler, case, values)
    room = file(sampler, "model").new_room(state, case.problem.codes, prior)
    a, b = room.free_class[:2]
    swap.exchange(a, b, state)
    want = exchanged(values, a, b)
    assert_recount(case, state)
    got = read_values(case, state)
    assert got.z == want.z
    used = state.slot[: state.n_coteries[0]]
    np.testing.assert_allclose(got.eta[used], want.eta[used], rtol=1e-12)
    log_weight = state.log_strength[used][:, None] + state.log_mean[used]
    np.testing.assert_allclose(state.weight[used], np.exp(log_weight), rtol=1e-12)
    swap.know_norm(state, prior, room)
    for m in used:
        swap.redraw_known(m, state, prior, room, 0.5)
        log_p = log_p_points(case, got.w, got.eta[m])
        np.testing.assert_allclose(room.points, np.exp(log_p - logsumexp(log_p)), atol=SAME)


def new_tally_of(case, weight=1.0):
    """An empty tally."""
    n, n_classes = case.problem.n_items, case.problem.n_classes
    return Tally(
        weight, np.zeros((n, n_classes)), np.zeros(1), np.zeros((n, n_classes + case.n_kinds))
    )


def tempered_of(case, tally):
    """What is tallied of tempered probabilities, shape (items, classes)."""
    return tally.per_item[:, : case.problem.n_classes]


def kinds_of(case, tally):
    """What is tallied of the kinds, shape (items, kinds)."""
    return tally.per_item[:, case.problem.n_classes :]


def check_bookkeeping(sampler, case, n_sweeps=25):
    """After every sweep the counts are a recount, and the trace is the reference's log joint."""
    problem, prior, model = case.problem, packed(sampler, case), file(sampler, "model")
    state = make_state(sampler, case, some_values(case, 1))
    rng, tally, compared = np.random.default_rng(3), new_tally_of(case), 0
    for sweep in range(n_sweeps):
        trace = new_trace(1, problem.n_classes)
        run_block(model, state, problem.codes, prior, rng, tally, trace)
        assert_recount(case, state)
        assert_groups(case, state)
        values = read_values(case, state)
        assert {i: values.z[i] for i in problem.gold} == problem.gold
        if all(values.eta[m].min() > 0 for m in values.q.values()):  # the reference has no logs
            compared += 1
            want = reference.log_joint(problem, case.prior, values)
            np.testing.assert_allclose(trace.log_joint, want, atol=1e-9, rtol=1e-9)
            labels = reference.log_p_labels(problem, case.prior, values)
            np.testing.assert_allclose(trace.log_likelihood, labels, atol=1e-9, rtol=1e-9)
        assert trace.n_coteries[0] == len(set(values.q.values()))
        assert tally.sweeps[0] == sweep + 1
        for sums in (tally.probability, tempered_of(case, tally), kinds_of(case, tally)):
            np.testing.assert_allclose(sums.sum(axis=1), sweep + 1, rtol=1e-12)
    assert compared > n_sweeps / 2


def assert_recount(case, state):
    for name, want in counts(case, state).items():
        np.testing.assert_array_equal(getattr(state, name), want, err_msg=name)
    nobody = np.setdiff1d(np.arange(case.problem.n_items), case.problem.counted)
    assert (state.truth[nobody] == -1).all()
    unlabelled = np.setdiff1d(np.arange(case.problem.n_items), case.labelled)
    assert (state.kind[unlabelled] == -1).all()


def assert_groups(case, state):
    problem = case.problem
    idle = np.setdiff1d(np.arange(problem.n_annotators), problem.active)
    assert (state.group[idle] == -1).all()
    seats = state.group[problem.active]
    np.testing.assert_array_equal(state.size, np.bincount(seats, minlength=len(state.size)))
    np.testing.assert_array_equal(np.sort(state.slot), np.arange(len(state.slot)))
    used = state.slot[: state.n_coteries[0]]
    np.testing.assert_array_equal(np.sort(used), np.unique(seats))
    log_weight = state.log_strength[used][:, None] + state.log_mean[used]
    np.testing.assert_allclose(state.weight[used], np.exp(log_weight), rtol=1e-12)
    np.testing.assert_allclose(state.weight.sum(1)[used], state.strength[used], rtol=1e-12)
    assert (state.strength[used] == state.strength[used][:, :1]).all()
