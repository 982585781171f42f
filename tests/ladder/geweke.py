"""Geweke's joint test: prior-then-data draws against a chain that alternates sweeps and new data.

Both have the same joint distribution if the sampler leaves the posterior alone for every data set.
The chain keeps its live state; only the answers change.
"""

import numpy as np

from coterie.data.codes import encode
from coterie.kernels.record import new_tally, new_trace
from coterie.kernels.truth.counts import count_answers
from coterie.numeric.partitions import draw_crp
from coterie.priors import Gamma
from ladder.cases import Case
from ladder.montecarlo import limit, standard_error
from ladder.sampler import pack, run_block
from reference.problem import Problem

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

    def __init__(self, case: Case, rng):
        self.case, self.rng = case, rng
        labels = np.array(case.problem.labels)
        self.item, self.annotator = labels[:, 0], labels[:, 1]
        self.by_item = np.lexsort((self.annotator, self.item))
        self.by_annotator = np.lexsort((self.item, self.annotator))

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
        beta, eta = zip(*(self.draw_parameters() for _ in range(q.max() + 1)), strict=True)
        return z, q, alpha, np.array(beta), np.array(eta)

    def draw_parameters(self):
        prior, rng = self.case.prior, self.rng
        weights = prior.mean_strength[:, None] * prior.mean
        beta = rng.gamma(prior.strength.shape, 1 / prior.strength.rate)
        return beta, np.array([rng.dirichlet(w) for w in weights])

    def draw_answers(self, z, q, beta, eta):
        """Give one answer a label from p(Y | z, ...), the matrices drawn anew."""
        prior, rng = self.case.prior, self.rng
        n = self.case.problem.n_annotators
        if self.case.model == "hcbcc":
            shapes, owner = (beta[:, :, None] * eta)[q], np.arange(n)
        else:
            owner = np.arange(n) if q is None else q
            shapes = np.broadcast_to(
                prior.strength[:, None] * prior.mean, (owner.max() + 1, *prior.mean.shape)
            )
        gammas = rng.standard_gamma(shapes)
        below = np.cumsum(gammas, axis=-1)[owner[self.annotator], z[self.item]]
        return (rng.random(len(self.item))[:, None] * below[:, -1:] > below).sum(axis=1)

    def statistics(self, z, q, alpha, beta, eta, answers):
        """Give the quantities that are compared."""
        totals = np.bincount(z, minlength=self.case.problem.n_classes)
        right = answers == z[self.item]
        result = {f"class {t}": n for t, n in enumerate(totals[1:], 1)}
        result |= {"class 0 squared": totals[0] ** 2, "right": right.sum()}
        result["first right"] = right[self.annotator == 0].sum() ** 2
        if q is not None:
            result |= {"concentration": alpha, "log concentration": np.log(alpha)}
            result |= {"clusters": len(set(q)), "together": q[0] == q[1]}
            result["together and right"] = (q[0] == q[1]) * right.sum()
            result["last alone"] = (q == q[-1]).sum() == 1
        if beta is not None:
            result["strength"] = beta[q[0], 0]
            result["mean"] = eta[q[0], 1, 1]
            result["strength of the last, right"] = beta[q[-1], 1] * right.sum()
        return result


def simulate_prior(case, n_draws, seed):
    """Independent draws from the joint."""
    world = World(case, np.random.default_rng(seed))
    rows = []
    for _ in range(n_draws):
        drawn = world.draw_state()
        rows.append(world.statistics(*drawn, world.draw_answers(*drawn[:2], *drawn[3:])))
    return columns(rows)


def simulate_chain(sampler, case, n_draws, seed):
    """The same joint by alternating one sweep and new answers."""
    rng = np.random.default_rng(seed)
    world, prior = World(case, rng), pack(sampler, case)
    z, q, alpha, beta, eta = world.draw_state()
    answers = world.draw_answers(z, q, beta, eta)
    problem = case.problem
    sizes = (problem.n_items, problem.n_annotators, problem.n_classes, problem.n_answers)
    data = encode(world.item, world.annotator, answers, sizes=sizes)
    state = sampler.model.initial_state(data, prior, z, q, rng)
    model, tally, rows = sampler.model, new_tally(data), []
    scratch = model.new_scratch(state, data, prior)
    for _ in range(n_draws):
        run_block(model, state, data, prior, rng, tally, new_trace(1, data.n_classes), scratch)
        z, q, alpha, beta, eta = live(case, state)
        answers = world.draw_answers(z, q, beta, eta)
        replace_answers(data, answers, world)
        recount(case, state, data)
        rows.append(world.statistics(z, q, alpha, beta, eta, answers))
    return columns(rows)


def live(case, state):
    if not case.has_groups:
        return state.truth, None, None, None, None
    alpha = np.exp(state.log_concentration[0])
    if case.model == "cbcc":
        return state.truth, state.group, alpha, None, None
    eta = np.exp(state.log_mean.swapaxes(1, 2))
    return state.truth, state.group, alpha, state.strength, eta


def replace_answers(data, answers, world):
    """Write new answers into the codes, which stay read-only for everybody else."""
    for array, order in (
        (data.item_answer, world.by_item),
        (data.annotator_answer, world.by_annotator),
    ):
        array.setflags(write=True)
        array[:] = answers[order]
        array.setflags(write=False)


def recount(case, state, data):
    matrix = state.group if case.model == "cbcc" else np.arange(case.problem.n_annotators)
    said, said_total = count_answers(state.truth, matrix, len(state.said), data)
    state.said[:], state.said_total[:] = said, said_total
    if case.model == "cbcc":
        everybody = np.arange(case.problem.n_annotators)
        state.own[:], _ = count_answers(state.truth, everybody, len(everybody), data)


def columns(rows):
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


def check_geweke(sampler, case, n_draws=10_000, seed=1):
    """The two ways to draw from the joint agree in every mean."""
    prior = simulate_prior(case, n_draws, seed)
    chain = simulate_chain(sampler, case, n_draws, seed + 1)
    for name, draws in prior.items():
        error = np.hypot(np.std(draws) / np.sqrt(n_draws), standard_error(chain[name]))
        off = abs(draws.mean() - chain[name].mean())
        assert off <= limit(len(prior)) * error, (
            f"{name}: {chain[name].mean():.4f} in the chain, {draws.mean():.4f} under the prior, "
            f"{off / error:.1f} standard errors"
        )
