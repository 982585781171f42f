"""Chains of Consensus against importance sampling from the prior, z and kinds summed exactly."""

import itertools

import numpy as np

from coterie.kernels.keep import Streams
from coterie.kernels.record import new_trace
from ladder.consensus.cases import DESIGN_EFFECT, file, make_state, packed, some_values
from ladder.consensus.checks import kinds_of, new_tally_of, tempered_of
from ladder.montecarlo import limit, standard_error
from ladder.sampler import one_draw, run_block
from reference.consensus import points
from reference.consensus_prior import Importance, draw_worlds, item_weights, weigh

CHUNK = 20_000  # worlds at once: their matrices stay small


def world_quantities(case, worlds):
    """The log weight of each world, and what a chain's averages should come to, per world."""
    problem = case.problem
    log_weight, items = weigh(problem, case.prior, worlds)
    found = {}
    for i in range(problem.n_items):
        if i not in problem.gold:
            raw = items[i].sum(axis=1) if i in items else worlds.pi
            tempered = temper(case, worlds, i) if i in items else worlds.pi
            for t in range(1, problem.n_classes):
                found["truth", i, t] = raw[:, t]
                found["tempered", i, t] = tempered[:, t]
        kinds = items[i].sum(axis=2) if i in items else worlds.rho
        for k in range(1, case.n_kinds):
            found["kind", i, k] = kinds[:, k]
    q = worlds.q[:, problem.active]
    found["coteries",] = np.array([len(set(row)) for row in q.tolist()])
    for a, b in itertools.combinations(range(q.shape[1]), 2):
        found["together", a, b] = q[:, a] == q[:, b]
    first = problem.active[0]
    found["concentration",] = worlds.alpha
    found["guess",] = worlds.w[:, 0]
    found["knowledge",] = points(case.prior)[0][worlds.d[:, first]]
    found["strength",] = worlds.beta[:, first]
    found["mean",] = worlds.eta[:, first, 1, 0]
    for l in range(problem.n_annotators):
        found["matrix", l] = worlds.psi[:, l, 0, 0]
        found["last", l] = worlds.psi[:, l, -1, -1]
    return log_weight, found


def temper(case, worlds, i):
    """pi mar^tau, normalised."""
    n_labels = sum(j == i for j, _, _ in case.problem.labels)
    marginal = item_weights(case.problem, case.prior, worlds, i).sum(axis=1) / worlds.pi
    weights = worlds.pi * marginal ** (1 / (1 + DESIGN_EFFECT * (n_labels - 1)))
    return weights / weights.sum(axis=1, keepdims=True)


def by_importance(case, n_worlds, seed):
    """The exact posterior's means, and their Monte Carlo errors."""
    rng, log_weights, columns = np.random.default_rng(seed), [], {}
    problem = case.problem
    for _ in range(n_worlds // CHUNK):
        worlds = draw_worlds(case.prior, CHUNK, problem.n_annotators, problem.n_classes, rng)
        log_weight, found = world_quantities(case, worlds)
        log_weights.append(log_weight)
        for name, values in found.items():
            columns.setdefault(name, []).append(np.asarray(values, np.float32))
    importance = Importance(np.concatenate(log_weights))
    assert importance.effective > 2_000, "too few worlds explain the labels"
    return {name: importance.mean(np.concatenate(parts)) for name, parts in columns.items()}


def by_chain(sampler, case, n_blocks, block, seed):
    """The same quantities of a chain, one number per block of sweeps."""
    model, prior, data = file(sampler, "model"), packed(sampler, case), case.problem.codes
    rng = np.random.default_rng(seed)
    state = make_state(sampler, case, some_values(case, 0))
    tally, trace = new_tally_of(case, 0.0), new_trace(100, data.n_classes)
    run_block(model, state, data, prior, rng, tally, trace)
    rows = []
    for _ in range(n_blocks):
        tally, trace = new_tally_of(case), new_trace(block, data.n_classes)
        run_block(model, state, data, prior, rng, tally, trace)
        rows.append(chain_quantities(model, case, prior, state, tally, trace))
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def chain_quantities(model, case, prior, state, tally, trace):
    problem, block = case.problem, len(trace.log_joint)
    found = {}
    for i in range(problem.n_items):
        if i not in problem.gold:
            for t in range(1, problem.n_classes):
                found["truth", i, t] = tally.probability[i, t] / block
                found["tempered", i, t] = tempered_of(case, tally)[i, t] / block
        for k in range(1, case.n_kinds):
            found["kind", i, k] = kinds_of(case, tally)[i, k] / block
    q = state.group[problem.active]
    found["coteries",] = trace.n_coteries.mean()
    for a, b in itertools.combinations(range(len(q)), 2):
        found["together", a, b] = q[a] == q[b]
    m = q[0]
    found["concentration",] = trace.concentration.mean()
    found["guess",] = state.guess[0]
    found["knowledge",] = prior.point[state.known[m]]
    found["strength",] = state.strength[m, 0]
    found["mean",] = np.exp(state.log_mean[m, 0, 1])
    sources = Streams(*map(np.random.default_rng, range(3)))
    matrices, *_ = one_draw(model, state, problem.codes, prior, sources)
    for l in range(problem.n_annotators):
        found["matrix", l], found["last", l] = matrices[l, 0, 0], matrices[l, -1, -1]
    return found


def check_posterior(sampler, case, n_worlds=200_000, n_blocks=1_500, block=20, seed=1):
    """A chain's averages are the posterior means, within four standard errors of both."""
    exact = by_importance(case, n_worlds, seed)
    chain = by_chain(sampler, case, n_blocks, block, seed)
    assert chain.keys() == exact.keys()
    for name, draws in chain.items():
        mean, error = exact[name]
        error = np.hypot(error, standard_error(draws))
        off = abs(np.mean(draws) - mean)
        assert off <= limit(len(chain)) * error, (
            f"{name}: {np.mean(draws):.4f} in the chain, {mean:.4f} by importance sampling, "
            f"{off / error:.1f} standard errors"
        )
