"""Chains of the collapsed samplers against exact values: every tolerance is a Monte Carlo error.

With Geweke's joint test: prior-then-data draws against a chain that alternates sweeps and new data.
"""

from collections import Counter

import numpy as np

from coterie.data.codes import encode
from coterie.numeric.dirichlet import draw_crp
from coterie.priors import Gamma
from ladder.collapsed import all_states, canonical, new_state, people_of, read, start
from ladder.collapsed_checks import sweep
from ladder.tolerances import (
    assert_counts_fit,
    assert_means,
    effective_size,
    limit,
    standard_error,
)
from reference.exact import item_probabilities, key, predictive
from reference.joint import stirling
from reference.problem import Problem


class Chain:
    """A chain on a small problem."""

    def __init__(self, module, case, seed):
        self.module, self.case, self.rng = module, case, np.random.default_rng(seed)
        self.state = start(case, *all_states(case)[0])
        self.sweep(100)

    def sweep(self, n):
        """Make n sweeps; give what was noted, and the mean conditional probabilities."""
        sums = np.zeros((self.case.problem.n_items, self.case.problem.n_classes))
        return sweep(self.module, self.case, self.state, n, self.rng, sums), sums / n

    def visit(self, n_draws, thin):
        """Give the states after every ``thin`` sweeps, and the series that say how they mix."""
        visited, n_coteries, log_joint = [], [], []
        for _ in range(n_draws):
            noted = self.sweep(thin)[0]
            z, q, *_ = read(self.case, self.state)
            visited.append(key(self.case.problem, z, q and canonical(q)))
            n_coteries.append(noted["n_coteries"][-1] if q else 0)
            log_joint.append(noted["log_joint"][-1])
        return visited, n_coteries, log_joint


def check_enumeration(module, case, n_draws=10_000, thin=2, seed=1):
    """The states that a chain visits, thinned to independence, have the exact probabilities."""
    posterior = case.posterior()
    visited, *series = Chain(module, case, seed).visit(n_draws, thin)
    series.append([np.log(posterior[state]) for state in visited])
    kept = visited[:: max(int(np.ceil(n_draws / effective_size(one))) for one in series)]
    expected = {state: p * len(kept) for state, p in posterior.items()}
    assert sum(n >= 8 for n in expected.values()) >= min(10, len(posterior)), "run longer"
    assert_counts_fit(Counter(kept), expected)


def assert_item_probabilities(chain, case, batches, size):
    """Means of conditionals, of free, known and unlabelled items, are the exact probabilities."""
    problem, posterior = case.problem, case.posterior()
    exact = item_probabilities(problem, posterior)
    unlabelled = np.setdiff1d(np.arange(problem.n_items), problem.counted)
    exact[unlabelled] = predictive(problem, posterior, case.prior.class_weights)
    means = np.array([chain.sweep(size)[1] for _ in range(batches)])
    for i in problem.gold:
        np.testing.assert_array_equal(means[:, i], np.broadcast_to(exact[i], means[:, i].shape))
    sites = [(i, t) for i in range(problem.n_items) for t in range(1, problem.n_classes)]
    assert_means({s: means[:, *s] for s in sites}, {s: exact[s] for s in sites})


def check_tables(module, case, n_draws=3_000):
    """Tables of a coterie's members have the probabilities that Stirling numbers say."""
    counts = np.array([[[4, 1], [2, 2_000]], [[3, 0], [0, 90]], [[1, 2], [0, 0]]], np.int32)
    weight, rng = np.array([[[1.2, 0.8], [0.35, 2.5]]]), np.random.default_rng(1)
    tables = np.zeros((n_draws, 1, 2, 2), np.int64)
    for draw in tables:
        module.tables_loop(counts, np.zeros(3, np.int32), weight, draw, rng)
    for c, t in np.ndindex(2, 2):
        p = np.ones(1)
        for n in counts[:, c, t]:
            p = np.convolve(p, antoniak(int(n), weight[0, c, t]))
        drawn = dict(Counter(tables[:, 0, c, t].tolist()))
        assert_counts_fit(drawn, dict(enumerate(p * n_draws)))
    module.tables_loop(counts, np.zeros(3, np.int32), 0 * weight, draw := 0 * tables[0], rng)
    np.testing.assert_array_equal(draw[0], (counts > 0).sum(axis=0))  # the limit: one each


def antoniak(n, x):
    """p(s) of Antoniak(n, x), s = 0..n: by Stirling numbers if there are few, or label by label."""
    if n < 8:
        p = np.array([stirling(n, s) * x**s for s in range(n + 1)])
        return p / p.sum()
    p = np.ones(1)
    for j in range(n):
        p = np.convolve(p, [j / (x + j), x / (x + j)])
    return p


# ---- Geweke ----

# Four annotators, five items, three classes and an answer that is never true; two who repeat.
CROWD = Problem(
    n_items=5,
    n_annotators=4,
    n_classes=3,
    n_answers=4,
    labels=(
        *((i, l, 0) for i in range(5) for l in range(4) if (i + 2 * l) % 5 < 3),
        *((0, 0, 0), (2, 1, 0)),
    ),
)


class World:
    """Who labels what, and draws of everything else from the prior."""

    def __init__(self, case, rng):
        self.case, self.rng = case, rng
        self.item, self.annotator, _ = np.array(case.problem.labels).T

    def draw_state(self):
        """Give z, q, alpha, beta, eta from the prior; what a model lacks is None."""
        prior, problem, rng = self.case.prior, self.case.problem, self.rng
        z = rng.choice(problem.n_classes, problem.n_items, p=rng.dirichlet(prior.class_weights))
        if not self.case.has_groups:
            return z, None, None, None, None
        alpha = prior.concentration
        if isinstance(alpha, Gamma):
            alpha = rng.gamma(alpha.shape, 1 / alpha.rate)
        q = draw_crp(problem.n_annotators, alpha, rng)
        if self.case.model == "cbcc":
            return z, q, alpha, None, None
        m, weights = q.max() + 1, prior.mean_strength[:, None] * prior.mean
        beta = rng.gamma(prior.strength.shape, 1 / prior.strength.rate, (m, problem.n_classes))
        eta = np.array([[rng.dirichlet(w) for w in weights] for _ in range(m)])
        return z, q, alpha, beta, eta

    def draw_answers(self, z, q, beta, eta):
        """Give one answer a label from p(Y | z, ...), the matrices drawn anew."""
        prior, owner = self.case.prior, np.arange(self.case.problem.n_annotators)
        if self.case.model == "hcbcc":
            shapes = (beta[:, :, None] * eta)[q]
        else:
            shapes = np.array([prior.strength[:, None] * prior.mean] * len(owner))
            owner = owner if q is None else q
        below = np.cumsum(self.rng.standard_gamma(shapes), axis=-1)
        below = below[owner[self.annotator], z[self.item]]
        return (self.rng.random(len(self.item))[:, None] * below[:, -1:] > below).sum(axis=1)

    def statistics(self, z, q, alpha, beta, eta, answers):
        """Give the quantities that are compared."""
        totals = np.bincount(z, minlength=self.case.problem.n_classes)
        right = answers == z[self.item]
        result = {f"class {t}": n for t, n in enumerate(totals[1:], 1)}
        result |= {"class 0 squared": totals[0] ** 2, "right": right.sum()}
        result["first right"] = right[self.annotator == 0].sum() ** 2
        if q is not None:
            result |= {"concentration": alpha, "log concentration": np.log(alpha)}
            result |= {"coteries": len(set(q)), "together": q[0] == q[1]}
            result["together and right"] = (q[0] == q[1]) * right.sum()
            result["last alone"] = (q == q[-1]).sum() == 1
        if beta is not None:
            result["strength"] = beta[q[0], 0]
            result["mean"] = eta[q[0], 1, 1]
            result["strength of the last, right"] = beta[q[-1], 1] * right.sum()
        return result


def simulate(module, case, n_draws, seed, keep_state):
    """Draws from the joint: independent, or by one sweep and new answers after the other."""
    world = World(case, np.random.default_rng(seed))
    people, problem = people_of(case), case.problem
    sizes = problem.n_items, problem.n_annotators, problem.n_classes, problem.n_answers
    drawn = world.draw_state()
    rows = []
    for _ in range(n_draws):
        answers = world.draw_answers(*drawn[:2], *drawn[3:])
        rows.append(world.statistics(*drawn, answers))
        if keep_state:
            data = encode(world.item, world.annotator, answers, sizes=sizes)
            z, q, alpha, beta, eta = drawn
            state = new_state(case.model, data, z, q, alpha, beta, eta)
            module.sweep(case.model, state, data, people, 1, world.rng, None)
            z, q, *others = read(case, state)
            drawn = np.array(list(z.values())), q and np.array(list(q.values())), *others
        else:
            drawn = world.draw_state()
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def check_geweke(module, case, n_draws=10_000, seed=1):
    """The two ways to draw from the joint agree in every mean."""
    prior, chain = (simulate(module, case, n_draws, seed + k, bool(k)) for k in range(2))
    for name, draws in prior.items():
        error = np.hypot(np.std(draws) / np.sqrt(n_draws), standard_error(chain[name]))
        off = abs(draws.mean() - chain[name].mean())
        assert off <= limit(len(prior)) * error, (
            f"{name}: {chain[name].mean():.4f} in the chain, {draws.mean():.4f} under the prior, "
            f"{off / error:.1f} standard errors"
        )
