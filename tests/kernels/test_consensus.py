"""Consensus: its people half in chains as they are shipped, and each of its draws.

The log joint written down, shapes of all draws, the exchange of classes forced, importance sampling
from the prior, Geweke, limits, and planted bugs.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import coterie
from coterie.data.codes import count_votes, cut
from coterie.inference.chain import BlockedChain
from coterie.inference.shards import Blocks, Sizes, counted_under
from coterie.kernels import consensus
from coterie.kernels.consensus import ConsensusPeople, class_weights, draw_given_reported
from coterie.kernels.regroup import Base
from coterie.kernels.space import Space, classes_alone
from coterie.priors import Beta, ConsensusPrior, Gamma, HCBCCPrior
from ladder.collapsed_evidence import CROWD
from ladder.halves import (
    DESIGN_EFFECT,
    OFTEN,
    WRONG_SEAT,
    Live,
    Means,
    Session,
    assert_agree,
    assert_visits,
    check_means,
    check_silent,
    columns,
    crowd_of,
    instead,
    keeps,
    mean_draw,
    parameters_stay,
    streams,
    without,
)  # fmt: skip
from ladder.marks import needs_compiler
from ladder.tolerances import assert_means, limit, standard_error
from reference import consensus as reference
from reference.consensus import Values, points
from reference.consensus_prior import Importance, dirichlet, draw_worlds, item_weights, weigh
from reference.exact import posterior_hcbcc
from reference.problem import THREE_CLASSES, TWO_CLASSES, TWO_REPEATED, Problem

slow = pytest.mark.slow
SETTINGS = {
    "knowledge": Beta(3.0, 2.0), "knowledge_points": 4, "mean_strength": 6.0,
    "strength": Gamma(8.0, 2.0), "concentration": Gamma(1.0, 1.0), "auxiliaries": 2,
}  # fmt: skip
TWO = ConsensusPrior(
    class_weights=[1.6, 0.9], guess_weights=[1.3, 0.8], guessing=(0.0, 0.4, 0.8),
    kind_weights=[2.0, 1.2, 0.7], hard_guess_weights=[0.9, 1.7], **SETTINGS,
)  # fmt: skip
TWO_OF_3 = replace(TWO, guess_weights=[1.3, 0.8, 1.1], hard_guess_weights=[0.9, 1.7, 0.6])
THREE = ConsensusPrior(
    class_weights=[1.6, 0.9, 1.2], guess_weights=[1.3, 0.8, 1.1, 0.6], guessing=(0.1, 0.6),
    kind_weights=[1.4, 0.8], hard_guess_weights=[0.9, 1.7, 0.6, 1.1], **SETTINGS,
)  # fmt: skip
NINE = replace(THREE, guessing=(0.0, 0.4, 0.8), kind_weights=[1.4, 0.8, 0.5])


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and its resolved prior."""

    problem: Problem
    prior: Any

    @cached_property
    def free(self):
        """Classes that no gold item has."""
        return np.setdiff1d(np.arange(self.problem.n_classes), list(self.problem.gold.values()))

    def people(self, matrices=True):
        return ConsensusPeople(self.prior, crowd_of(self.problem), self.free, matrices)

    def live(self, often=False, **settings):
        """A chain; splits and merges are proposed every other sweep, or often: eight in each."""
        one = self.people()
        one.work = OFTEN if often else one.work
        return Live(one, self.problem, tempered=True, **settings)


def case(problem, prior, **changes):
    prior = replace(prior, **changes).resolve(problem.n_classes, problem.n_answers)
    return Case(problem, prior)


TWO_CASE, THREE_CASE = case(TWO_CLASSES, TWO), case(THREE_CLASSES, THREE)
FREE_CASE = case(replace(THREE_CLASSES, gold={}), THREE)  # all classes may be exchanged
CASES = {
    "two": TWO_CASE, "repeated": case(TWO_REPEATED, TWO_OF_3), "three": THREE_CASE,
    "nine": case(THREE_CLASSES, NINE), "free": FREE_CASE,
}  # fmt: skip
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def values_of(live):
    """What the chain's state and items say, as the reference wants it."""
    state, problem, parts = live.state, live.problem, live.session.parts
    kinds, own = {}, []
    for i, part in enumerate(parts):
        if part.kind_total.any():
            kinds[i] = int(part.kind_total.argmax())
    left = [part.said.sum(axis=2).astype(int) for part in parts]
    for i, l, c in sorted(problem.labels):
        own.append(int(left[i][l, c] > 0))
        left[i][l, c] -= own[-1]
    return Values(
        z=live.cells, k=kinds, g=own, alpha=float(np.exp(state["log_concentration"][0])),
        q={l: int(m) for l, m in enumerate(state["group"]) if m >= 0},
        w=np.exp(state["log_guess"]), d=state["known"], beta=np.exp(state["log_strength"][:, 0]),
        eta=np.exp(state["log_mean"].swapaxes(1, 2)),
    )  # fmt: skip


def check_joint(case, n_sweeps=25):
    """What is noted is the log joint written down, and counts are a recount, after every sweep."""
    live = case.live(often=True)
    problem, compared = case.problem, 0
    for _ in range(n_sweeps):
        noted, values = live.sweep(), values_of(live)
        state = live.state
        own, guessed = reference.counts_of(problem, values.z, values.g)
        want = [own[l, t, c] for l, c, t in np.ndindex(state["said"].shape)]
        np.testing.assert_array_equal(state["said"].ravel(), want)
        assert state["guessed"].tolist() == [guessed[c] for c in range(problem.n_answers)]
        kinds = np.bincount(list(values.k.values()), minlength=len(case.prior.guessing))
        np.testing.assert_array_equal(state["kind_total"], kinds)
        source = np.zeros_like(state["source"])
        np.add.at(source, ([values.k[i] for i, _, _ in sorted(problem.labels)], values.g), 1)
        np.testing.assert_array_equal(state["source"], source)
        if values.eta.min() > 0:  # the reference has no logs
            compared += 1
            want = reference.log_joint(problem, case.prior, values)
            np.testing.assert_allclose(noted["log_joint"], want, atol=1e-9, rtol=1e-9)
            want = reference.log_p_labels(problem, case.prior, values)
            np.testing.assert_allclose(noted["log_likelihood"], want, atol=1e-9, rtol=1e-9)
        assert noted["n_coteries"] == len(set(values.q.values()))
        live.assert_counted()
    assert compared > n_sweeps / 2


@pytest.mark.exact
@every_case
def test_the_trace_is_the_log_joint_and_counts_are_a_recount(case):
    check_joint(case)


# ---- each draw: which shapes it has ----


def held(case, n_sweeps=7, seed=4):
    """A chain somewhere, and its values."""
    live = case.live(seed=seed)
    for _ in range(n_sweeps):
        live.sweep()
    return live, values_of(live)


def check_draws(case):
    """Matrices, balance, kinds and guesses of a sweep have the right shapes."""
    live, values = held(case)
    one, state, problem = live.people, live.state, case.problem
    own, guessed = reference.counts_of(problem, values.z, values.g)
    matrices = np.exp(one.draw_matrices(state, Means()))
    for l in problem.active:
        shapes = values.beta[values.q[l]] * values.eta[values.q[l]]
        shapes = shapes + [[own[l, t, c] for c in range(problem.n_answers)]
                           for t in range(problem.n_classes)]  # fmt: skip
        np.testing.assert_allclose(matrices[l].T, mean_draw(shapes), rtol=1e-12)
    kinds, hard = one.draw_guesses(state, Means())
    n_kinds = np.bincount(list(values.k.values()), minlength=len(kinds))
    np.testing.assert_allclose(kinds, mean_draw(n_kinds + case.prior.kind_weights), rtol=1e-12)
    n_hard = [guessed[c] for c in range(len(hard))] + case.prior.hard_guess_weights
    np.testing.assert_allclose(hard, mean_draw(n_hard), rtol=1e-12)
    n = np.bincount(list(values.z.values()), minlength=problem.n_classes)
    shares = np.exp(one.space.draw(state["cell_total"], Means()))
    np.testing.assert_allclose(shares, mean_draw(n + case.prior.class_weights), rtol=1e-12)


def check_parameters(case):
    """beta, d, w and eta have the densities of the augmented joint, given nu, S, U and K."""
    live, values = held(case)
    one, state, prior, rng = live.people, dict(live.state), case.prior, np.random.default_rng(1)
    tables = rng.integers(0, 5, state["log_mean"].shape)
    draws = np.minimum(rng.integers(0, 4, tables.shape), tables)  # U
    log_nu = np.log(rng.random((3, len(tables), case.problem.n_classes)))  # of three members
    where, shares = points(prior)
    weighed, asked, knew = [], [], None

    def draw_tables(said, group, weight, _):
        asked.append((said, weight))
        return tables if len(asked) == 1 else draws

    def binomial(n, p):
        nonlocal knew
        asked.append((n, p))
        knew = n // 2
        return knew

    def pick(logs, _):
        weighed.append(logs)
        return logs.argmax(axis=1)

    means = Means()
    means.binomial = binomial
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(consensus, "draw_tables", draw_tables)
        patch.setattr(
            consensus.people, "draw_log_rate", lambda _, rate, __: np.log(rate - log_nu.sum(axis=0))
        )
        patch.setattr(consensus, "pick", pick)
        one.draw_parameters(state, means)
    (said, weight), (of_tables, base_weight), (n, p) = asked
    assert said is live.state["said"]
    assert of_tables is tables
    np.testing.assert_allclose(
        weight.swapaxes(1, 2), values.beta[:, None, None] * values.eta, rtol=1e-12
    )
    a, b = float(prior.strength.shape), float(prior.strength.rate)
    for m in range(len(tables)):
        before = reference.base(where[values.d[m]], values.w, case.problem.n_classes)
        want = prior.mean_strength * before
        np.testing.assert_allclose(base_weight[m].T, want, rtol=1e-12)
        np.testing.assert_array_equal(n[m], draws[m].diagonal())
        np.testing.assert_allclose(p[m], where[values.d[m]] / before.diagonal(), rtol=1e-12)
        # Gamma(a + S, b - sum of log nu): its mean is what Means draws.
        beta = (a + tables[m].sum()) / (b - log_nu[:, m].sum())
        np.testing.assert_allclose(np.exp(state["log_strength"][m]), [beta], rtol=1e-12)
        known, guessed = knew[m].sum(), draws[m].sum() - knew[m].sum()
        want = np.log(shares) + known * np.log(where) + guessed * np.log(1 - where)
        np.testing.assert_allclose(weighed[0][m] - want, weighed[0][m][0] - want[0], atol=1e-10)
        assert state["known"][m] == want.argmax()
        now = reference.base(where[want.argmax()], np.exp(state["log_guess"]), len(before))
        shapes = prior.mean_strength * now + tables[m].T
        np.testing.assert_allclose(np.exp(state["log_mean"][m]).T, mean_draw(shapes), rtol=1e-12)
    shapes = prior.guess_weights + draws.sum(axis=(0, 2))
    shapes[: case.problem.n_classes] -= knew.sum(axis=0)
    np.testing.assert_allclose(np.exp(state["log_guess"]), mean_draw(shapes), rtol=1e-12)


def check_fresh(case):
    """Empty coteries come from the prior under the present w."""
    live, values = held(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(consensus, "pick", lambda logs, _: np.arange(len(logs)) % 4)
        fresh = live.people.fresh(live.state, 4, Means())
    where, shares = points(case.prior)
    np.testing.assert_allclose(np.exp(live.people.log_share), shares, rtol=1e-12)
    for m in range(4):
        b = reference.base(where[m], values.w, case.problem.n_classes)
        want = mean_draw(case.prior.mean_strength * b)
        np.testing.assert_allclose(np.exp(fresh["log_mean"][m]).T, want, rtol=1e-12)
    strength = case.prior.strength
    want = np.full((4, 1), float(strength.shape) / float(strength.rate))
    np.testing.assert_allclose(np.exp(fresh["log_strength"]), want, rtol=1e-12)


@pytest.mark.exact
@every_case
@pytest.mark.parametrize("check", [check_draws, check_parameters, check_fresh])
def test_draws_have_the_shapes_of_the_joint(check, case):
    check(case)


TABLES = np.array([[[4, 2], [1, 6]], [[1, 0], [2, 3]]])  # of two coteries, S[m, c, t]


def check_base(n_draws=4_000):
    """At fixed tables, d and w have the posterior that quadrature gives, eta integrated out."""
    live, _ = held(TWO_CASE)
    one, state, rng = live.people, dict(live.state), np.random.default_rng(4)
    state["known"], draws = np.zeros(2, np.int32), []
    for _ in range(n_draws):
        one.draw_base(state, TABLES, rng)
        draws.append([np.exp(state["log_guess"][0]), *one.point[state["known"]]])
    w, d, d_2 = np.array(draws).T
    series = {"w": w, "w^2": w**2, "d": d, "other d": d_2, "w d": w * d, "d d": d * d_2}
    nodes, weights = np.polynomial.legendre.leggauss(300)
    w = (nodes + 1) / 2
    a, b = TWO_CASE.prior.guess_weights
    where, shares = points(TWO_CASE.prior)
    both = []
    for tables in TABLES:
        log_p = np.log(shares) + np.zeros((len(w), 1))
        for c, t in np.ndindex(2, 2):
            guess = (w if c == 0 else 1 - w)[:, None]
            x = TWO_CASE.prior.mean_strength * (where * (c == t) + (1 - where) * guess)
            log_p += gammaln(x + tables[c, t]) - gammaln(x)
        both.append(np.exp(log_p))
    density = weights * w ** (a - 1) * (1 - w) ** (b - 1) * both[0].sum(1) * both[1].sum(1)
    density /= density.sum()
    d, d_2 = (p @ where / p.sum(axis=1) for p in both)
    exact = {"w": w, "w^2": w**2, "d": d, "other d": d_2, "w d": w * d, "d d": d * d_2}
    assert_means(series, {name: density @ each for name, each in exact.items()})


def test_knowledge_and_guesses_have_the_posterior_of_quadrature():
    check_base()


# ---- the exchange of classes ----


def log_p_points(case, w, eta):
    """log p(d, eta | w) at every point."""
    shares = points(case.prior)[1]
    return np.array(
        [np.log(p) + reference.log_p_mean(case.prior, j, w, eta) for j, p in enumerate(shares)]
    )


def without_d(case, values):
    """The log joint with d of every coterie summed out."""
    total = reference.log_joint(case.problem, case.prior, values)
    for m in set(values.q.values()):
        log_p = log_p_points(case, values.w, values.eta[m])
        total += logsumexp(log_p) - log_p[values.d[m]]
    return total


def exchanged(values, a, b):
    """The values with two classes exchanged."""
    other, eta = {a: b, b: a}, values.eta.copy()
    eta[:, [a, b]] = values.eta[:, [b, a]]
    return replace(values, z={i: other.get(t, t) for i, t in values.z.items()}, eta=eta)


NEAR = 1e-5


def check_exchange(case):
    """Every pair: taken exactly as often as the joint says, d summed out; then d by p(d | eta)."""
    places = list(enumerate(case.free.tolist()))
    for seed in range(3):
        live, _ = held(case, seed=seed)
        rng, shape = np.random.default_rng(seed), live.state["log_mean"].swapaxes(1, 2).shape
        eta = rng.dirichlet(np.full(shape[2], 2.0), shape[:2])  # so that exchanges are taken
        live.state["log_mean"] = np.log(eta).swapaxes(1, 2)
        values = values_of(live)
        for (k, a), (j, b) in itertools.permutations(places, 2):
            pair = [(k + 0.5) / len(places), (j - (j > k) + 0.5) / (len(places) - 1)]
            after = exchanged(values, a, b)
            ratio = without_d(case, after) - without_d(case, values)
            assert ratio > -20
            log_p = np.array([log_p_points(case, after.w, eta) for eta in after.eta])
            below = np.cumsum(np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True)), axis=1)
            taken = [*pair, -np.expm1(min(ratio, 0.0) - NEAR)]
            for d in range(case.prior.knowledge_points):
                middle = (below[:, d] + (below[:, d - 1] if d else 0.0)) / 2
                state = forced(live, *taken, middle)
                check_exchanged(live, state, after, (a, b), d)
            if ratio < -NEAR:
                state = forced(live, *pair, -np.expm1(ratio + NEAR))
                check_exchanged(live, state, values)


def forced(live, *numbers):
    """Propose once by these numbers; of a second proposal, where there is one, nothing is told."""
    state, means = dict(live.state), Means(*numbers)
    if live.problem.n_classes == 2:
        live.people.exchange_classes(state, means)
    else:
        means.uniforms += [0.0, 0.0]
        with pytest.raises(AssertionError, match="more numbers"):
            live.people.exchange_classes(state, means)
    assert not means.uniforms
    return state


def check_exchanged(live, state, want, pair=(), d=None):
    """Counts, eta and d are those of the exchange, or as they were."""
    other = dict(zip(pair, pair[::-1], strict=True))
    order = [other.get(t, t) for t in range(live.problem.n_classes)]
    np.testing.assert_array_equal(state["said"], live.state["said"][:, :, order])
    np.testing.assert_array_equal(state["cell_total"], live.state["cell_total"][order])
    np.testing.assert_allclose(np.exp(state["log_mean"]).swapaxes(1, 2), want.eta, rtol=1e-12)
    np.testing.assert_array_equal(state["known"], want.d if d is None else np.full_like(want.d, d))


@pytest.mark.exact
@pytest.mark.parametrize("case", [TWO_CASE, FREE_CASE], ids=["two", "free"])
def test_exchanges_are_taken_as_often_as_the_joint_says(case):
    check_exchange(case)


def check_gold_stays(case):
    live, values = held(case)
    live.people.exchange_classes(live.state, Means())  # asks for no number at all
    check_exchanged(live, live.state, values)
    names = np.arange(6), np.arange(4), np.array(["a", "b", "c"]), np.array(["x"])
    data = coterie.Annotations(*names, case.problem.codes)
    told = coterie.Consensus().people(case.prior, crowd_of(case.problem), data)
    assert told.free_class.tolist() == case.free.tolist() == [0]


@pytest.mark.exact
def test_classes_that_gold_has_are_not_exchanged():
    check_gold_stays(THREE_CASE)


# ---- whole chains: enumeration in a limit, importance sampling, Geweke ----


@needs_compiler
def test_with_a_base_that_is_known_and_no_guesses_it_is_hcbcc_with_known_strengths():
    """Truths and partitions have hcBCC's exact probabilities, exchanges, splits, merges and all."""
    w = np.array([0.3, 0.7])
    prior = replace(
        TWO, guess_weights=w * 1e9, knowledge_points=1, guessing=(0.0,), kind_weights=1.0,
        strength=Gamma(4e8, 1e8),
    )  # fmt: skip
    mean = 0.5 * np.eye(2) + 0.5 * w
    hcbcc = HCBCCPrior(
        mean=mean, mean_strength=6.0, strength=Gamma(4e8, 1e8), class_weights=[1.6, 0.9],
        concentration=Gamma(1.0, 1.0),
    ).resolve(2, 2)  # fmt: skip
    exact = posterior_hcbcc(TWO_CLASSES, hcbcc)
    live, visited, log_joint, n_seats = case(TWO_CLASSES, prior).live(often=True), [], [], []
    for sweep in range(3_100):
        noted = live.sweep()
        if sweep >= 100:
            visited.append((tuple(live.cells.values()), live.seats()))
            log_joint.append(noted["log_joint"])
            n_seats.append(len(set(live.seats())))
    assert_visits(visited, exact, log_joint, n_seats)


CHUNK = 20_000  # worlds at once: their matrices stay small


def temper(case, worlds, i):
    """pi mar^tau, normalised."""
    n_labels = sum(j == i for j, _, _ in case.problem.labels)
    marginal = item_weights(case.problem, case.prior, worlds, i).sum(axis=1) / worlds.pi
    weights = worlds.pi * marginal ** (1 / (1 + DESIGN_EFFECT * (n_labels - 1)))
    return weights / weights.sum(axis=1, keepdims=True)


def of_worlds(case, worlds):
    """The log weight of each world, and what a chain's averages should come to, per world."""
    problem, found = case.problem, {}
    log_weight, items = weigh(problem, case.prior, worlds)
    for i in range(problem.n_items):
        for t in range(1, problem.n_classes) if i not in problem.gold else ():
            tempered = temper(case, worlds, i) if i in items else worlds.pi
            found["truth", i, t] = items[i].sum(axis=1)[:, t] if i in items else worlds.pi[:, t]
            found["tempered", i, t] = tempered[:, t]
        for k in range(1, len(case.prior.guessing)):
            found["kind", i, k] = items[i].sum(axis=2)[:, k] if i in items else worlds.rho[:, k]
    q, first = worlds.q[:, problem.active], problem.active[0]
    found["coteries",] = np.array([len(set(row)) for row in q.tolist()])
    for a, b in itertools.combinations(range(q.shape[1]), 2):
        found["together", a, b] = q[:, a] == q[:, b]
    found |= {
        ("concentration",): worlds.alpha, ("guess",): worlds.w[:, 0],
        ("knowledge",): points(case.prior)[0][worlds.d[:, first]],
        ("strength",): worlds.beta[:, first], ("mean",): worlds.eta[:, first, 1, 0],
    }  # fmt: skip
    for l in range(problem.n_annotators):
        found["matrix", l] = worlds.psi[:, l, 0, 0]
        found["last", l] = worlds.psi[:, l, -1, -1]
    return log_weight, found


@cache
def by_importance(case, n_worlds):
    """The exact posterior's means, and their Monte Carlo errors."""
    rng, log_weights, parts = np.random.default_rng(1), [], {}
    for _ in range(n_worlds // CHUNK):
        sizes = CHUNK, case.problem.n_annotators, case.problem.n_classes
        log_weight, found = of_worlds(case, draw_worlds(case.prior, *sizes, rng))
        log_weights.append(log_weight)
        for name, values in found.items():
            parts.setdefault(name, []).append(np.asarray(values, np.float32))
    importance = Importance(np.concatenate(log_weights))
    if importance.effective < 1_000:
        raise RuntimeError("too few worlds explain the labels")
    return {name: importance.mean(np.concatenate(values)) for name, values in parts.items()}


def by_chain(case, n_blocks, block):
    """The same quantities of a chain, once per block of sweeps."""
    live, problem, sources, before = case.live(burn_in=100), case.problem, streams(0, 1, 2), 0.0
    n_classes, where = problem.n_classes, live.people.point
    for _ in range(100):
        live.sweep()
    for _ in range(n_blocks):
        noted = [live.sweep() for _ in range(block)]
        now = live.sums().copy()
        sums, before, found = (now - before) / block, now, {}
        for i in range(problem.n_items):
            for t in range(1, n_classes) if i not in problem.gold else ():
                found["truth", i, t], found["tempered", i, t] = sums[i, t], sums[i, n_classes + t]
            for k in range(1, len(case.prior.guessing)):
                found["kind", i, k] = sums[i, 2 * n_classes + k]
        state, q = live.state, live.state["group"][problem.active]
        for name in ("n_coteries", "concentration"):
            found[name.removeprefix("n_"),] = np.mean([one[name] for one in noted])
        for a, b in itertools.combinations(range(len(q)), 2):
            found["together", a, b] = q[a] == q[b]
        found["guess",] = np.exp(state["log_guess"][0])
        found["knowledge",] = where[state["known"][q[0]]]
        found["strength",] = np.exp(state["log_strength"][q[0], 0])
        found["mean",] = np.exp(state["log_mean"][q[0], 0, 1])
        drawn = live.people.keep(state, sources, True)["confusion"]
        for l in range(problem.n_annotators):
            found["matrix", l], found["last", l] = drawn[l, 0, 0], drawn[l, -1, -1]
        yield found


def check_posterior(case, n_worlds=200_000, n_blocks=1_500, block=10):
    """A chain's averages are the posterior means, within four standard errors of both."""
    exact, chain = by_importance(case, n_worlds), columns(by_chain(case, n_blocks, block))
    assert chain.keys() == exact.keys()
    for name, draws in chain.items():
        mean, error = exact[name]
        error, off = np.hypot(error, standard_error(draws)), abs(np.mean(draws) - mean)
        assert off <= limit(len(chain)) * error, (
            f"{name}: {np.mean(draws):.4f} in the chain, {mean:.4f} by importance sampling, "
            f"{off / error:.1f} standard errors"
        )


def check_briefly(case):
    check_posterior(case, n_worlds=100_000, n_blocks=400, block=4)


@needs_compiler
def test_averages_are_about_those_of_the_posterior():
    check_briefly(TWO_CASE)


@needs_compiler
@slow
@pytest.mark.parametrize("name", ["two", "repeated", "three", "nine"])
def test_averages_are_those_of_the_posterior(name):
    check_posterior(CASES[name])


def draw_answers(case, z, k, psi, v, rng):
    """Where labels come from and what they say, of many worlds: (n, labels), as items have them."""
    item, annotator = np.array([(i, l) for i, l, _ in sorted(case.problem.labels)]).T
    worlds = np.arange(len(z))[:, None]
    lam = np.asarray(case.prior.guessing)[k[:, item]]
    own = rng.random(lam.shape) >= lam
    rows = np.where(own[:, :, None], psi[worlds, annotator, z[:, item]], v[:, None, :])
    below = np.cumsum(rows, axis=2)
    return own, (rng.random(lam.shape)[:, :, None] * below[:, :, -1:] > below).sum(axis=2)


def statistics(case, one, own, answer):
    """The quantities that are compared, of one world."""
    item, annotator = np.array([(i, l) for i, l, _ in sorted(case.problem.labels)]).T
    z, k, q = one["z"], one["k"], one["q"]
    right, totals = answer == z[item], np.bincount(z, minlength=case.problem.n_classes)
    kinds, together = np.bincount(k, minlength=len(case.prior.guessing)), q[0] == q[1]
    return {
        **{f"class {t}": n for t, n in enumerate(totals[1:], 1)},
        "class 0 squared": totals[0] ** 2, "right": right.sum(),
        "first right": right[annotator == 0].sum() ** 2,
        "concentration": one["alpha"], "log concentration": np.log(one["alpha"]),
        "coteries": len(set(q.tolist())), "together": together,
        "together and right": together * right.sum(), "last alone": (q == q[-1]).sum() == 1,
        "strength": one["beta"], "strength, right": one["beta"] * right.sum(),
        "mean": one["eta"][1, 1], "mean, right": one["eta"][1, 1] * right.sum(),
        "knowledge": one["d"], "knowledge, right": one["d"] * right.sum(),
        "guess": one["w"][0], "guess, answers": one["w"][0] * np.sum(answer == 0),
        "hard": kinds[1:].sum(), "hard squared": kinds[-1] ** 2, "guessed": np.sum(~own),
        "guessed an answer": np.sum(~own & (answer == 1)) ** 2,
        "hard and right": kinds[-1] * right.sum(),
    }  # fmt: skip


def simulate_prior(case, n, rng):
    """Independent draws from the joint."""
    problem, where = case.problem, points(case.prior)[0]
    worlds = draw_worlds(case.prior, n, problem.n_annotators, problem.n_classes, rng)
    z, k = (
        (rng.random((n, problem.n_items, 1)) > np.cumsum(p, axis=1)[:, None, :-1]).sum(axis=2)
        for p in (worlds.pi, worlds.rho)
    )
    own, answer = draw_answers(case, z, k, worlds.psi, worlds.v, rng)
    for m in range(n):
        one = {
            "z": z[m], "k": k[m], "q": worlds.q[m], "alpha": worlds.alpha[m], "w": worlds.w[m],
            "d": where[worlds.d[m, 0]], "beta": worlds.beta[m, 0], "eta": worlds.eta[m, 0],
        }  # fmt: skip
        yield statistics(case, one, own[m], answer[m])


def simulate_chain(case, n, rng, **settings):
    """The same joint by alternating one sweep and new answers; the live state is kept."""
    live = case.live(seed=int(rng.integers(2**31)), **settings)
    item, annotator = np.array([(i, l) for i, l, _ in sorted(case.problem.labels)]).T
    for sweep in range(n + n // 20):  # it starts anywhere
        live.sweep()
        state, now = live.state, values_of(live)
        z, k = (np.array([now_of[i] for i in range(len(now_of))]) for now_of in (now.z, now.k))
        q = state["group"]
        psi = dirichlet(now.beta[q][:, None, None] * now.eta[q], rng)[None]
        v = dirichlet(case.prior.hard_guess_weights, rng)[None]
        own, answer = (x[0] for x in draw_answers(case, z[None], k[None], psi, v, rng))
        live.session.answer(answer)
        for name in ("said", "guessed", "source"):
            state[name] = np.zeros_like(state[name])
        np.add.at(state["said"], (annotator[own], answer[own], z[item[own]]), 1)
        np.add.at(state["guessed"], answer[~own], 1)
        np.add.at(state["source"], (k[item], own.astype(int)), 1)
        if sweep >= n // 20:
            one = {
                "z": z, "k": k, "q": q, "alpha": now.alpha, "w": now.w, "beta": now.beta[q[0]],
                "d": live.people.point[now.d[q[0]]], "eta": now.eta[q[0]],
            }  # fmt: skip
            yield statistics(case, one, own, answer)


def check_geweke(case, n=2_500, seed=1, **settings):
    """The two ways to draw from the joint agree in every mean."""
    rng = np.random.default_rng(seed)
    prior = columns(simulate_prior(case, n, rng))
    assert_agree(prior, columns(simulate_chain(case, n, rng, **settings)))


@needs_compiler
def test_prior_and_chain_agree():
    check_geweke(case(CROWD, NINE))


@needs_compiler
@slow
@pytest.mark.parametrize("prior", [THREE, NINE], ids=["two kinds", "three kinds"])
def test_prior_and_chain_agree_for_long(prior):
    check_geweke(case(CROWD, prior), n=10_000, seed=2, often=True)


# ---- what is kept and reported ----


def check_kept(case):
    """Means are those of many drawn matrices; shapes are kept instead where others are reported."""
    live, values = held(case)
    mean = check_means(live)[0]["confusion_mean"]
    own, _ = reference.counts_of(case.problem, values.z, values.g)
    reported = case.people(matrices=False).keep(live.state, streams(0, 1, 2), True)["confusion"]
    for l in case.problem.active:
        shapes = values.beta[values.q[l]] * values.eta[values.q[l]]
        np.testing.assert_allclose(reported[l], shapes, rtol=1e-12)
        said = [[own[l, t, c] for c in range(len(row))] for t, row in enumerate(shapes)]
        want = (shapes + said) / (shapes + said).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(mean[l], want, rtol=1e-9)


@pytest.mark.parametrize("case", [TWO_CASE, THREE_CASE], ids=["two", "three"])
def test_means_are_those_of_drawn_matrices(case):
    check_kept(case)


LABELS = ((0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 0, 1), (2, 1, 0))
P = np.array([[0.9, 0.1], [0.3, 0.7], [0.55, 0.45], [0.5, 0.5], [0.9, 0.1]])
SHAPES = np.random.default_rng(0).gamma(2.0, 1.0, (5, 2, 3))


def reported(n_draws, n_items=4, n_annotators=4, shapes=SHAPES):
    """Matrices given the reported probabilities P, by the package's own pass over the labels."""
    problem = Problem(n_items, n_annotators, 2, 3, LABELS)
    names = np.arange(n_items), np.arange(n_annotators), np.arange(2), np.array([2])
    shards = cut(coterie.Annotations(*names, problem.codes), 2)
    blocks = Blocks(shards, [shards.items_of(k) for k in range(2)])
    sizes = Sizes(n_annotators, 2, 3, classes_alone(np.ones(2)), np.zeros(1))
    counted = counted_under(blocks, sizes, P[:n_items], (1, 2), 1)
    draws = np.repeat(shapes[None, :n_annotators], n_draws, axis=0)
    mean = np.full(draws.shape[1:], -1.0)
    heard = crowd_of(problem).heard
    draw_given_reported(draws, mean, heard, counted, streams(0, 1, 2))
    return draws, mean


def test_reported_matrices_are_those_of_the_sum_over_all_classes():
    moments, n = np.zeros((2, 4, 2, 3)), 20_000
    for z in itertools.product(range(2), repeat=4):
        shapes = SHAPES[:4].copy()
        for i, l, c in LABELS:
            shapes[l, z[i], c] += 1
        total, weight = shapes.sum(axis=2, keepdims=True), np.prod(P[np.arange(4), z])
        both = shapes / total, shapes * (shapes + 1) / (total * (total + 1))
        moments += weight * np.stack(both)
    draws, mean = reported(n)
    for power, want in enumerate(moments, 1):
        error = (draws**power).std(axis=0) / n**0.5
        assert (np.abs((draws**power).mean(axis=0) - want) < 4.5 * error).all()
    np.testing.assert_allclose(mean[:3], moments[0, :3], atol=4.5 / n**0.5)
    assert (mean[3] == -1).all()  # of those without labels it is the chain's


def test_reported_matrices_of_others_stay_beside_those_without_labels():
    for one, other in zip(reported(10), reported(10, 5, 5), strict=True):
        np.testing.assert_array_equal(one[..., :3, :, :], other[..., :3, :, :])
    for least in (1e-30, 1e-4):
        draws, _ = reported(10, shapes=np.full(SHAPES.shape, least))
        np.testing.assert_allclose(draws.sum(axis=-1), 1)


@pytest.mark.exact
def test_the_silent_change_nobodys_bits():
    check_silent(lambda problem: replace(THREE_CASE, problem=problem))


@pytest.mark.exact
def test_no_labels_at_all_give_the_prior():
    problem = Problem(2, 3, 2, 3, (), {1: 1})
    live = case(problem, ConsensusPrior(class_weights=1.0)).live(burn_in=0)
    noted = [live.sweep() for _ in range(20)]
    # One item is known to be of class 1, and each class has a pseudo-count of one.
    classes, kinds = [[1 / 3, 2 / 3], [0, 1]], [[0.5, 0.25, 0.25]] * 2
    np.testing.assert_allclose(live.sums() / 20, np.hstack([classes, classes, kinds]))
    assert np.isfinite([one["log_joint"] for one in noted]).all()
    assert [one["n_coteries"] for one in noted] == [0] * 20
    kept = live.people.keep(live.state, streams(1, 2, 3), True)
    want = 0.3 * np.exp(live.state["log_guess"]) + 0.7 * np.eye(2, 3)
    np.testing.assert_allclose(kept["confusion_mean"], [want] * 3, atol=0.01)  # d is on points
    np.testing.assert_allclose(kept["confusion"].sum(axis=2), 1)


@needs_compiler
@pytest.mark.parametrize(
    ("sizes", "changes"),
    [
        ((5, 900, 3), {}),  # products of so many probabilities are no numbers
        ((40, 8, 50), {}),  # shapes are tiny
        ((6, 5, 3), {"strength": Gamma(0.01, 0.01)}),
        ((6, 5, 3), {"strength": Gamma(1e100, 1.0)}),
        ((6, 5, 3), {"guess_weights": 1e-3, "hard_guess_weights": 1e-3}),
        ((6, 5, 3), {"guess_weights": 1e-100, "hard_guess_weights": 1e-100}),
        ((6, 5, 3), {"knowledge": Beta(0.01, 0.01), "mean_strength": 0.01}),
        ((6, 5, 3), {"mean_strength": 1e-100}),
        ((6, 5, 3), {"mean_strength": 1e100}),
        ((6, 5, 3), {"guessing": (0.0,), "kind_weights": 1.0}),
        ((6, 5, 1), {}),
    ],
)
def test_extremes_give_finite_numbers(sizes, changes):
    """Everybody labels everything, right in two of three."""
    n_items, n_annotators, n_classes = sizes
    rng = np.random.default_rng(1)
    truth = rng.integers(n_classes, size=n_items)
    answer = np.where(
        rng.random((n_items, n_annotators)) < 2 / 3, truth[:, None],
        rng.integers(n_classes, size=(n_items, n_annotators)),
    )  # fmt: skip
    labels = tuple((int(i), int(l), int(answer[i, l])) for i, l in np.ndindex(answer.shape))
    problem = Problem(n_items, n_annotators, n_classes, n_classes, labels)
    n_sweeps = 60 if n_annotators < 900 else 10
    live = case(problem, ConsensusPrior(class_weights=1.0, **changes)).live(burn_in=0)
    noted = [live.sweep() for _ in range(n_sweeps)]
    for sums in np.split(live.sums(), [n_classes, 2 * n_classes], axis=1):
        np.testing.assert_allclose(sums.sum(axis=1), n_sweeps, rtol=1e-9)
    assert np.isfinite([[one["log_joint"], one["log_likelihood"]] for one in noted]).all()
    kept = live.people.keep(live.state, streams(1, 2, 3), True)
    np.testing.assert_allclose(kept["confusion"].sum(axis=2), 1, atol=1e-9)
    assert np.isfinite(kept["confusion_mean"]).all()


def test_class_weights_follow_the_votes():
    """Ties shared, gold for its class, extra answers and silence nowhere; 1 + 3 N f."""
    labels = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (2, 0, 2), (3, 0, 1), (3, 1, 2)]
    data = Problem(8, 2, 2, 3, (*labels, (5, 0, 0)), {5: 1, 6: 1}).codes  # 5 voted for 0, 6 silent
    # Class 0: item 0, half of item 1; class 1: half of item 1, items 3, 5 and 6.
    won, n_items = np.array([1.5, 3.5]), 5
    for prior, base, pull, smooth in (
        (ConsensusPrior(), 1, 3, 0.5),
        (ConsensusPrior(class_base=2.0, class_pull=1.0, class_smoothing=1.0), 2, 1, 1),
    ):
        f = (smooth + won) / (2 * smooth + won.sum())
        got = class_weights(count_votes(data), data.gold, prior)
        np.testing.assert_allclose(got, base + pull * n_items * f)


# ---- planted bugs: another function in the place of one; each is caught by a check above ----


def class_weights_forgotten(exchange_classes):
    def bug(one, state, rng):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(consensus, "gammaln", np.zeros_like)
            exchange_classes(one, state, rng)

    return bug


def of_one_point(log_points):
    def bug(base, log_mean):
        logs = log_points(base, log_mean)
        return np.where(np.arange(logs.shape[1]) == 1, logs, -np.inf)

    return bug


def guesses_twice(sweep):
    def bug(session, order):
        totals = sweep(session, order)
        return totals._replace(guessed=totals.guessed * 2)

    return bug


def tables_for_draws(draw_base):
    def bug(one, state, tables, rng):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(consensus, "draw_tables", lambda tables, *_: tables)
            draw_base(one, state, tables, rng)

    return bug


def all_are_free(start):
    def bug(one, prior, crowd, free_class, own_matrices):
        start(one, prior, crowd, np.arange(crowd.n_classes), own_matrices)

    return bug


def known_as_guessed(pick):
    """What a coterie knew counts as guessed too."""
    return lambda logs, rng: pick(logs + logs[:, ::-1], rng)


C = ConsensusPeople
TURNED = instead(state=lambda state: {**state, "log_guess": state["log_guess"][::-1]})
BUGS = [
    (C, "draw_parameters", keeps("log_strength"), check_parameters),
    (C, "draw_parameters", keeps("log_mean"), check_parameters),
    (C, "draw_base", keeps("log_guess"), check_parameters),
    (C, "draw_base", keeps("known"), check_parameters),
    (C, "draw_base", instead(tables=lambda tables: tables[:, :, ::-1]), check_parameters),
    (C, "draw_base", tables_for_draws, check_base),
    (C, "log_base", TURNED, check_fresh),
    (C, "fresh", TURNED, check_fresh),
    (C, "draw_matrices", without("said"), check_draws),
    (C, "draw_matrices", WRONG_SEAT, check_draws),
    (C, "draw_guesses", without("kind_total"), check_draws),
    (C, "draw_guesses", without("guessed"), check_draws),
    (C, "exchange_classes", class_weights_forgotten, check_exchange),
    (Base, "log_points", of_one_point, check_exchange),
    (C, "exchange_classes", keeps("known"), check_exchange),
    (C, "exchange_classes", keeps("said"), check_exchange),
    (C, "exchange_classes", keeps("cell_total"), check_exchange),
    (C, "exchange_classes", keeps("log_mean"), check_exchange),
    (C, "__init__", all_are_free, check_gold_stays),
    (consensus, "pick", known_as_guessed, check_base),
    (Session, "sweep", guesses_twice, check_joint),
    (C, "log_rest", without("source"), check_joint),
    (C, "seat_people", parameters_stay, check_joint),
    (BlockedChain, "_stream", instead(sweep=lambda _: 0), check_briefly),
    (Space, "draw", instead(cell_total=lambda total: total * 0), check_draws),
    (C, "means", without("said"), check_kept),
]


@needs_compiler
@pytest.mark.parametrize(("owner", "name", "bug", "check"), BUGS)
def test_planted_bug_is_caught(owner, name, bug, check, monkeypatch):
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    where = [TWO_CASE if check in (check_exchange, check_briefly) else FREE_CASE]
    where = [THREE_CASE] if check is check_gold_stays else where
    with pytest.raises(AssertionError):
        check(*([] if check is check_base else where))
