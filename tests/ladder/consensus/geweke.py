"""Geweke's joint test of Consensus: the prior against a chain that alternates sweeps and new data.

The chain keeps its live state; where labels come from and what they say is drawn anew, given all
the rest. The class weights are a vector that stays as it is while the data change.
"""

import numpy as np

from coterie.data.codes import encode
from coterie.kernels.record import new_trace
from ladder.consensus.cases import file, packed
from ladder.consensus.checks import new_tally_of
from ladder.geweke import columns, replace_answers
from ladder.montecarlo import limit, standard_error
from ladder.sampler import run_block
from reference.consensus import points
from reference.consensus_prior import dirichlet, draw_worlds


class Crowd:
    """Who labels what."""

    def __init__(self, case):
        self.case = case
        labels = np.array(case.problem.labels)
        self.item, self.annotator = labels[:, 0], labels[:, 1]
        self.by_item = np.lexsort((self.annotator, self.item))
        self.by_annotator = np.lexsort((self.item, self.annotator))

    def draw_answers(self, z, k, psi, v, rng):
        """Where labels come from and what they say, for many worlds at once: (n, labels)."""
        worlds = np.arange(len(z))[:, None]
        lam = np.asarray(self.case.prior.guessing)[k[:, self.item]]
        own = rng.random(lam.shape) >= lam
        rows = np.where(
            own[:, :, None], psi[worlds, self.annotator, z[:, self.item]], v[:, None, :]
        )
        below = np.cumsum(rows, axis=2)
        answer = (rng.random(lam.shape)[:, :, None] * below[:, :, -1:] > below).sum(axis=2)
        return own, answer

    def statistics(self, values, own, answer):
        """The quantities that are compared, of one world."""
        right = answer == values["z"][self.item]
        q, kinds = values["q"], np.bincount(values["k"], minlength=self.case.n_kinds)
        totals = np.bincount(values["z"], minlength=self.case.problem.n_classes)
        return {
            **{f"class {t}": n for t, n in enumerate(totals[1:], 1)},
            "class 0 squared": totals[0] ** 2,
            "right": right.sum(),
            "first right": right[self.annotator == 0].sum() ** 2,
            "concentration": values["alpha"],
            "log concentration": np.log(values["alpha"]),
            "coteries": len(set(q.tolist())),
            "together": q[0] == q[1],
            "together and right": (q[0] == q[1]) * right.sum(),
            "last alone": (q == q[-1]).sum() == 1,
            "strength": values["beta"],
            "strength, right": values["beta"] * right.sum(),
            "mean": values["eta"][1, 1],
            "mean, right": values["eta"][1, 1] * right.sum(),
            "knowledge": values["d"],
            "knowledge, right": values["d"] * right.sum(),
            "guess": values["w"][0],
            "guess, answers": values["w"][0] * np.sum(answer == 0),
            "hard": kinds[1:].sum(),
            "hard squared": kinds[-1] ** 2,
            "guessed": np.sum(~own),
            "guessed an answer": np.sum(~own & (answer == 1)) ** 2,
            "hard and right": kinds[-1] * right.sum(),
        }


def simulate_prior(case, n, seed):
    """Independent draws from the joint."""
    rng, crowd, problem = np.random.default_rng(seed), Crowd(case), case.problem
    worlds = draw_worlds(case.prior, n, problem.n_annotators, problem.n_classes, rng)
    z = draw_each(worlds.pi, problem.n_items, rng)
    k = draw_each(worlds.rho, problem.n_items, rng)
    own, answer = crowd.draw_answers(z, k, worlds.psi, worlds.v, rng)
    where, _ = points(case.prior)
    rows = []
    for n in range(len(z)):
        values = {
            "z": z[n], "k": k[n], "q": worlds.q[n], "alpha": worlds.alpha[n], "w": worlds.w[n],
            "d": where[worlds.d[n, 0]], "beta": worlds.beta[n, 0], "eta": worlds.eta[n, 0],
        }  # fmt: skip
        rows.append(crowd.statistics(values, own[n], answer[n]))
    return columns(rows)


def draw_each(shares, size, rng):
    """``size`` draws from each row of shares."""
    below = np.cumsum(shares, axis=1)
    return (rng.random((len(shares), size))[:, :, None] > below[:, None, :-1]).sum(axis=2)


def simulate_chain(sampler, case, n, seed):
    """The same joint by alternating one sweep and new answers."""
    rng, crowd, problem = np.random.default_rng(seed), Crowd(case), case.problem
    model, prior = file(sampler, "model"), packed(sampler, case)
    sizes = (problem.n_items, problem.n_annotators, problem.n_classes, problem.n_answers)
    answers = rng.integers(0, problem.n_answers, len(crowd.item))
    data = encode(crowd.item, crowd.annotator, answers, sizes=sizes)
    z = rng.integers(0, problem.n_classes, problem.n_items).astype(np.int32)
    state = model.initial_state(data, prior, z, np.zeros(problem.n_annotators, np.int32), rng)
    tally, rows = new_tally_of(case), []
    scratch = model.new_scratch(state, data, prior)
    for sweep in range(n + n // 20):  # it starts anywhere
        run_block(model, state, data, prior, rng, tally, new_trace(1, data.n_classes), scratch)
        own, answer = redraw(case, crowd, state, data, rng)
        if sweep >= n // 20:
            rows.append(crowd.statistics(live(prior, state), own, answer))
    return columns(rows)


def live(prior, state):
    """The state as it is."""
    m = state.group[0]
    return {
        "z": state.truth,
        "k": state.kind,
        "q": state.group,
        "alpha": np.exp(state.log_concentration[0]),
        "w": state.guess,
        "d": prior.point[state.known[m]],
        "beta": state.strength[m, 0],
        "eta": np.exp(state.log_mean[m].T),
    }


def redraw(case, crowd, state, data, rng):
    """Draw matrices and guesses given the state, then sources and answers; count them."""
    shapes = state.weight[state.group].swapaxes(1, 2)
    psi = dirichlet(shapes, rng)[None]
    v = dirichlet(case.prior.hard_guess_weights, rng)[None]
    own, answer = crowd.draw_answers(state.truth[None], state.kind[None], psi, v, rng)
    own, answer = own[0], answer[0]
    replace_answers(data, answer, crowd)
    state.own[:] = own[crowd.by_item]
    z, k = state.truth[crowd.item], state.kind[crowd.item]
    state.said[:] = 0
    np.add.at(state.said, (crowd.annotator[own], answer[own], z[own]), 1)
    state.said_total[:] = state.said.sum(axis=1)
    state.guessed[:] = np.bincount(answer[~own], minlength=len(state.guessed))
    state.source[:] = 0
    np.add.at(state.source, (k, own.astype(int)), 1)
    return own, answer


def check_geweke(sampler, case, n=10_000, seed=1):
    """The two ways to draw from the joint agree in every mean."""
    prior, chain = simulate_prior(case, n, seed), simulate_chain(sampler, case, n, seed + 1)
    for name, draws in prior.items():
        error = np.hypot(np.std(draws) / np.sqrt(n), standard_error(chain[name]))
        off = abs(draws.mean() - chain[name].mean())
        assert off <= limit(len(prior)) * error, (
            f"{name}: {chain[name].mean():.4f} in the chain, {draws.mean():.4f} under the prior, "
            f"{off / error:.1f} standard errors"
        )
