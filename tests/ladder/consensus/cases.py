"""Small problems with asymmetric priors for Consensus, and states of its sampler made to order."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.priors import Beta, ConsensusPrior, Gamma
from ladder.sampler import Sampler
from reference.consensus import Drawn, Values
from reference.problem import THREE_CLASSES, TWO_CLASSES, TWO_REPEATED, Problem

DESIGN_EFFECT = 0.05
SETTINGS = {
    "knowledge": Beta(3.0, 2.0),
    "knowledge_points": 4,
    "mean_strength": 6.0,
    "strength": Gamma(8.0, 2.0),
    "concentration": Gamma(1.0, 1.0),
    "auxiliaries": 2,
}
TWO = ConsensusPrior(
    class_weights=[1.6, 0.9],
    guess_weights=[1.3, 0.8],
    guessing=(0.0, 0.4, 0.8),
    kind_weights=[2.0, 1.2, 0.7],
    hard_guess_weights=[0.9, 1.7],
    **SETTINGS,
)
TWO_OF_THREE = replace(TWO, guess_weights=[1.3, 0.8, 1.1], hard_guess_weights=[0.9, 1.7, 0.6])
THREE = ConsensusPrior(
    class_weights=[1.6, 0.9, 1.2],
    guess_weights=[1.3, 0.8, 1.1, 0.6],
    guessing=(0.1, 0.6),
    kind_weights=[1.4, 0.8],
    hard_guess_weights=[0.9, 1.7, 0.6, 1.1],
    **SETTINGS,
)


@dataclass(frozen=True)
class Case:
    """A problem and its resolved prior."""

    problem: Problem
    prior: Any
    model: str = "consensus"

    @property
    def labelled(self):
        """Items that have labels: those with a kind."""
        return sorted({i for i, _, _ in self.problem.labels})

    @property
    def n_kinds(self):
        return len(self.prior.guessing)


def case(problem, prior, **changes):
    prior = replace(prior, **changes).resolve(problem.n_classes, problem.n_answers)
    return Case(problem, prior)


TWO_CASE = case(TWO_CLASSES, TWO)
REPEATED_CASE = case(TWO_REPEATED, TWO_OF_THREE)
THREE_CASE = case(THREE_CLASSES, THREE)
# No gold in the way: all three classes may be exchanged.
FREE_CASE = case(replace(THREE_CLASSES, gold={}), THREE)
CASES = {"two": TWO_CASE, "repeated": REPEATED_CASE, "three": THREE_CASE, "free": FREE_CASE}


def real():
    """The sampler that the package ships."""
    return Sampler("coterie", "consensus")


def file(sampler, name):
    """A file of the sampler's folder; its pieces, called from here, run as Python."""
    return sampler.module(f"gibbs.consensus.{name}").module


def reuse(sampler):
    """Where annotators move."""
    return sampler.module("gibbs.hcbcc.reuse").module


def packed(sampler, a_case):
    """The prior as the kernels read it."""
    return file(sampler, "model").pack_prior(a_case.prior, DESIGN_EFFECT)


def some_partition(people, rng):
    """A partition, any."""
    q, numbers = {}, {}
    for l in people:
        q[l] = numbers.setdefault(int(rng.integers(len(people))), len(numbers))
    return q


def some_values(a_case, seed):
    """Arbitrary values of everything that is sampled, possible under the prior."""
    rng = np.random.default_rng(seed)
    problem, prior = a_case.problem, a_case.prior
    z = {i: int(rng.integers(problem.n_classes)) for i in problem.free} | problem.gold
    k = {i: int(rng.integers(a_case.n_kinds)) for i in a_case.labelled}
    g = [int(prior.guessing[k[i]] == 0 or rng.random() < 0.6) for i, _, _ in sorted(problem.labels)]
    q = some_partition(problem.active, rng)
    return Values(z, k, g, q, **some_parameters(a_case, rng))


def some_parameters(a_case, rng):
    """Arbitrary parameters, of as many coteries as there may be, and auxiliaries."""
    problem, prior = a_case.problem, a_case.prior
    n = len(problem.active) + prior.auxiliaries
    return {
        "alpha": 0.8,
        "w": rng.dirichlet(np.full(problem.n_answers, 3.0)),
        "d": rng.integers(prior.knowledge_points, size=n),
        "beta": rng.gamma(4.0, 1.0, n),
        "eta": rng.dirichlet(np.full(problem.n_answers, 2.0), (n, problem.n_classes)),
    }


def make_state(sampler, a_case, values):
    """The sampler's state with these values; coterie m of the values is slot m."""
    problem, prior = a_case.problem, packed(sampler, a_case)
    truth = np.zeros(problem.n_items, np.int32)
    truth[list(values.z)] = list(values.z.values())
    group = np.zeros(problem.n_annotators, np.int32)
    group[list(values.q)] = list(values.q.values())
    rng = np.random.default_rng(0)
    state = file(sampler, "model").initial_state(problem.codes, prior, truth, group, rng)
    if isinstance(a_case.prior.concentration, Gamma):
        state.log_concentration[0] = np.log(values.alpha)
    state.log_guess[:], state.guess[:] = np.log(values.w), values.w
    set_slots(state, values.d, values.beta, values.eta)
    for i, k in values.k.items():
        state.kind[i] = k
    state.own[:] = values.g
    recount(a_case, state)
    return state


def set_slots(state, d, beta, eta, first=0):
    """Give the slots from ``first`` on these parameters."""
    n = min(len(beta), len(state.slot) - first)
    some = slice(first, first + n)
    state.known[some] = d[:n]
    state.log_strength[some] = np.log(beta[:n])[:, None]
    state.strength[some] = np.asarray(beta[:n])[:, None]
    state.log_mean[some] = np.log(eta[:n]).swapaxes(1, 2)
    state.weight[some] = np.exp(state.log_strength[some][:, None] + state.log_mean[some])


def counts(a_case, state):
    """What should be counted."""
    problem = a_case.problem
    said = np.zeros_like(state.said)
    source, guessed = np.zeros_like(state.source), np.zeros_like(state.guessed)
    for (i, l, c), own in zip(sorted(problem.labels), state.own, strict=True):
        source[state.kind[i], own] += 1
        if own:
            said[l, c, state.truth[i]] += 1
        else:
            guessed[c] += 1
    return {
        "class_total": np.bincount(state.truth[state.truth >= 0], minlength=problem.n_classes),
        "kind_total": np.bincount(state.kind[a_case.labelled], minlength=a_case.n_kinds),
        "said": said,
        "said_total": said.sum(axis=1),
        "source": source,
        "guessed": guessed,
    }


def recount(a_case, state):
    """Count afresh."""
    for name, array in counts(a_case, state).items():
        getattr(state, name)[:] = array


def read_values(a_case, state):
    """What the state says, as the reference wants it."""
    problem = a_case.problem
    return Values(
        z={i: int(state.truth[i]) for i in problem.counted},
        k={i: int(state.kind[i]) for i in a_case.labelled},
        g=[int(own) for own in state.own],
        q={l: int(state.group[l]) for l in problem.active},
        alpha=float(np.exp(state.log_concentration[0])),
        w=np.exp(state.log_guess),
        d=state.known.copy(),
        beta=np.exp(state.log_strength[:, 0]),
        eta=np.exp(state.log_mean.swapaxes(1, 2)),
    )


def some_drawn(a_case, seed):
    """Arbitrary pi, rho, v and Psi."""
    rng = np.random.default_rng(seed)
    problem = a_case.problem
    answers = np.full(problem.n_answers, 2.0)
    return Drawn(
        pi=rng.dirichlet(np.full(problem.n_classes, 3.0)),
        rho=rng.dirichlet(np.full(a_case.n_kinds, 3.0)),
        v=rng.dirichlet(answers),
        psi=rng.dirichlet(answers, (problem.n_annotators, problem.n_classes)),
    )


def given_drawn(sampler, a_case, state, drawn):
    """The same as the kernels read it."""
    given = file(sampler, "model").given_to_items(state, packed(sampler, a_case))
    pairs = {
        "balance": drawn.pi,
        "kinds": drawn.rho,
        "hard": drawn.v,
        "chance": drawn.psi.swapaxes(1, 2),
    }
    for name, values in pairs.items():
        getattr(given.drawn, name)[:] = values
        getattr(given.drawn, f"log_{name}")[:] = np.log(values)
    return given
