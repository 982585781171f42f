"""DynamicIBCC's updates, exactly: conditionals, stationarity, Geweke, and what "changed" means."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logsumexp, roots_jacobi
from scipy.stats import norm

from coterie.data.codes import encode
from coterie.data.times import times_of
from coterie.kernels.gibbs.dynamic import model
from coterie.kernels.gibbs.dynamic.course import course_of
from coterie.kernels.gibbs.dynamic.walks import choose_drift, draw_walks
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.numeric.random_walk import filter_walk, sample_walk
from coterie.posterior.drift import range_of
from coterie.priors import DynamicPrior
from ladder.geweke import columns, replace_answers
from ladder.marks import needs_compiler
from ladder.montecarlo import limit, standard_error
from ladder.stationarity import assert_stationary
from reference.exact import normalise

PRIOR = DynamicPrior(
    mean=[[0.6, 0.25, 0.15], [0.2, 0.7, 0.1]], strength=[3.0, 2.0], class_weights=[1.2, 0.7],
    drift=(0.0, 0.3, 2.0), static_weight=0.4,
).resolve(2, 3)  # fmt: skip
LABELS = np.array([(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1)])
TIME = np.array([0.0, 2.0, 2.0, 5.0, 1.0, 1.0, 2.0])


class World:
    """Two annotators and four items; two labels of each annotator are of one moment."""

    def __init__(self, rng, clock="time"):
        self.rng, (self.item, self.annotator) = rng, LABELS.T
        self.by_item = np.lexsort((self.annotator, self.item))
        self.by_annotator = np.lexsort((self.item, self.annotator))
        answers = np.zeros(len(LABELS), int)
        times = times_of(self.item, self.annotator, answers, TIME, 2)
        self.prior = model.pack_prior(PRIOR, course_of(times, clock, 1.0, 1))
        self.moment = np.empty(len(LABELS), int)
        self.moment[self.by_item] = self.prior.course.moment_of_label

    def codes(self, answers, gold=None):
        return encode(self.item, self.annotator, answers, sizes=(4, 2, 2, 3), gold=gold)

    def draw_state(self):
        """Give z, q and v from the prior."""
        rng, course, sticks = self.rng, self.prior.course, self.prior.sticks
        z = rng.choice(2, 4, p=rng.dirichlet(PRIOR.class_weights))
        q = rng.choice(3, 2, p=np.exp(self.prior.log_drift))
        v = np.empty((len(course.step), 2, 2))
        for l in range(2):
            for s in range(course.moment_start[l], course.moment_start[l + 1]):
                first = s == course.moment_start[l]
                mean = sticks.mean if first else v[s - 1]
                variance = sticks.variance if first else PRIOR.drift[q[l]] * course.step[s]
                v[s] = mean + np.sqrt(variance) * rng.standard_normal((2, 2))
        return z, q, v

    def draw_answers(self, z, v):
        p = rows_of(v, self.prior.sticks)[self.moment, z[self.item]]
        return (self.rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)


def rows_of(v, sticks):
    """Psi at every moment, shape (moments, classes, answers), from v written down."""
    broken = expit(v)
    left = np.cumprod(1 - broken, axis=-1)
    parts = np.concatenate([broken, np.ones_like(broken[..., :1])], axis=-1)
    parts[..., 1:] *= left
    return np.take_along_axis(parts, np.broadcast_to(sticks.place, parts.shape), axis=-1)


def dense(start, drift, step):
    """Mean and covariance of a walk before anything is seen."""
    done = np.cumsum(step * (np.arange(len(step)) > 0))
    return np.full(len(step), start[0]), start[1] + drift * np.minimum.outer(done, done)


def walk_case(seed, n=6):
    rng = np.random.default_rng(seed)
    seen = rng.random(n) < 0.7
    step = rng.integers(1, 4, n).astype(float)
    return step, rng.gamma(1.0, 0.5, n) * seen, rng.normal(0, 0.5, n) * seen


def log_evidence(start, drift, seen):
    """log of E exp(kappa v - omega v^2 / 2), by one dense Gaussian."""
    step, omega, kappa = seen
    mean, cover = dense(start, drift, step)
    both = np.eye(len(step)) + cover * omega
    after = np.linalg.solve(both, mean + cover @ kappa)
    _, log_det = np.linalg.slogdet(both)
    straight = kappa @ mean - omega @ mean**2 / 2
    residual = kappa - omega * mean
    return straight + residual @ np.linalg.solve(both, cover @ residual) / 2 - log_det / 2, after


@pytest.mark.exact
@pytest.mark.parametrize("drift", [0.0, 0.4, 3.0])
def test_the_filter_s_evidence_is_that_of_one_dense_gaussian(drift):
    for seed in range(5):
        seen = walk_case(seed)
        room = np.empty(6), np.empty(6)
        found = filter_walk((0.8, 1.7), drift, seen, room)
        want, after = log_evidence((0.8, 1.7), drift, seen)
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(room[0][-1], after[-1], rtol=1e-10)


class Told:
    """Standard normals that are told beforehand."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def standard_normal(self):
        return self.numbers.pop(0)


@pytest.mark.exact
@pytest.mark.parametrize("drift", [0.0, 0.4, 3.0])
def test_a_sampled_walk_has_the_mean_and_the_covariance_of_the_conditional(drift):
    """A draw is linear in its normals: with unit vectors for these, both come out exactly."""
    seen = walk_case(7)
    step, omega = seen[:2]
    room = np.empty(6), np.empty(6)
    filter_walk((0.8, 1.7), drift, seen, room)

    def draw(normals):
        out = np.empty(6)
        sample_walk(drift, step, room, Told(normals), out)
        return out

    mean = draw(np.zeros(6))
    linear = np.array([draw(unit) - mean for unit in np.eye(6)])
    _, after = log_evidence((0.8, 1.7), drift, seen)
    _, cover = dense((0.8, 1.7), drift, step)
    exact = cover @ np.linalg.inv(np.eye(6) + omega[:, None] * cover)
    np.testing.assert_allclose(mean, after, rtol=1e-10)
    np.testing.assert_allclose(linear.T @ linear, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.exact
@pytest.mark.parametrize("drift", [0.4, 3.0])
def test_time_reversed_has_the_same_evidence_when_the_first_state_may_be_anything(drift):
    """So z, of whose labels omega and kappa are made, has the same posterior."""
    wide, room = (0.0, 1e9), (np.empty(6), np.empty(6))
    differences = []
    for seed in range(4):
        step, omega, kappa = walk_case(seed)
        backwards = np.append(0.0, step[:0:-1])
        forth = filter_walk(wide, drift, (step, omega, kappa), room)
        back = filter_walk(wide, drift, (backwards, omega[::-1], kappa[::-1]), room)
        differences.append(forth - back)
    np.testing.assert_allclose(differences, 0, atol=1e-6)


@pytest.mark.exact
def test_the_drift_is_weighed_by_the_evidence_of_all_walks():
    world = World(np.random.default_rng(3))
    data, prior = world.codes(np.zeros(7, int)), world.prior
    state = model.initial_state(data, prior, np.zeros(4, np.int32), None, world.rng)
    room = model.new_scratch(state, data, prior)
    room.omega[:], room.kappa[:] = world.rng.gamma(1.0, 0.5, (2, *room.omega.shape))
    first, last = prior.course.moment_start[1:3]
    n, step, sticks = last - first, prior.course.step[first:last], prior.sticks
    want = prior.log_drift.copy()
    for g, drift in enumerate(PRIOR.drift):
        for t, j in itertools.product(range(2), range(2)):
            start = sticks.mean[t, j], sticks.variance[t, j]
            seen = step, room.omega[t, j, :n], room.kappa[t, j, :n]
            want[g] += log_evidence(start, drift, seen)[0]
    choose_drift(1, prior, room, world.rng)
    np.testing.assert_allclose(room.weights, np.exp(want - logsumexp(want)), rtol=1e-9)


@pytest.mark.exact
def test_walks_without_labels_of_a_class_are_drawn_from_the_prior():
    """omega and kappa of zero: the walk is the prior's, whatever the state was."""
    world = World(np.random.default_rng(4))
    data, prior = world.codes(np.zeros(7, int)), world.prior
    state = model.initial_state(data, prior, np.zeros(4, np.int32), None, world.rng)
    room = model.new_scratch(state, data, prior)
    state.v[:] = 99.0
    draw_walks(0, 0.0, state, prior, room, Told(np.zeros(100)))
    first, last = prior.course.moment_start[:2]
    np.testing.assert_allclose(state.v[first:last], [prior.sticks.mean] * (last - first))


@pytest.mark.exact
def test_the_update_of_classes_is_stationary():
    """pi P = pi over all truths, v held fixed: tau by Gauss's nodes, no randomness.

    tau ~ Dir(n + weights), then every item by its weights given tau.
    """
    world = World(np.random.default_rng(5))
    answers = np.array([0, 1, 2, 0, 1, 2, 1])
    gold = np.array([-1, 1, -1, -1])
    data, prior = world.codes(answers, gold), world.prior
    v = world.rng.standard_normal((len(prior.course.step), 2, 2))
    state = model.State(gold.astype(np.int32), np.zeros(2, np.int64), np.zeros(2, np.int32), v)
    psi, free = rows_of(v, prior.sticks), [0, 2, 3]

    def log_joint(z):
        n = np.bincount(z, minlength=2)
        labels = np.log(psi[world.moment, z[world.item], answers]).sum()
        weights = np.asarray(PRIOR.class_weights)
        return labels + sum(np.log(w + np.arange(k)).sum() for w, k in zip(weights, n, strict=True))

    def whole(key):
        z = gold.copy()
        z[free] = key
        return z

    keys = list(itertools.product(range(2), repeat=3))

    def moves(key):
        n = np.bincount(whole(key), minlength=2) + np.asarray(PRIOR.class_weights)
        nodes, shares = roots_jacobi(60, n[1] - 1, n[0] - 1)
        for node, share in zip((nodes + 1) / 2, shares / shares.sum(), strict=True):
            chance = np.empty((4, 2))
            for i in free:
                model.weigh_item(i, state, data, prior, np.array([node, 1 - node]), chance[i])
            for new in keys:
                yield share * np.prod([chance[i, t] for i, t in zip(free, new, strict=True)]), new

    assert_stationary(normalise({key: log_joint(whole(key)) for key in keys}), moves)


def statistics(world, z, q, v, answers):
    """What is compared; labels of three answers, so that the second stick is tried too."""
    right = answers == z[world.item]
    first, last = expit(v[0, 0, 0]), expit(v[world.prior.course.moment_start[1] - 1, 0, 0])
    return {
        "class 0": (z == 0).sum(),
        "class 0 squared": (z == 0).sum() ** 2,
        "right": right.sum(),
        "first right": right[world.annotator == 0].sum() ** 2,
        "third answer": (answers == 2).sum(),
        "static": (q == 0).sum(),
        "both static": (q == 0).all(),
        "static and right": (q == 0).sum() * right.sum(),
        "first": first,
        "last": last,
        "moved": (last - first) ** 2,
        "moved and right": (last - first) * right[3],
        "second stick": expit(v[-1, 1, 1]),
        "second stick and third answer": expit(v[-1, 1, 1]) * (answers == 2).sum(),
    }


def simulate_chain(world, n_draws):
    """Alternate one sweep and new answers; the live state is kept."""
    z, q, v = world.draw_state()
    data, prior, rng = world.codes(world.draw_answers(z, v)), world.prior, world.rng
    state = model.initial_state(data, prior, z.astype(np.int32), None, rng)
    state.drift[:], state.v[:] = q, v
    scratch, layout = model.new_scratch(state, data, prior), model.layout_of(data, prior)
    record = Record(new_tally(data, layout), new_trace(1, 2, layout), keep_nothing(data))
    times = np.lexsort((LABELS[:, 0], TIME, LABELS[:, 1]))
    for _ in range(n_draws):
        model.run_block(state, data, prior, Streams(rng, rng, rng), record, scratch)
        answers = world.draw_answers(state.truth, state.v)
        replace_answers(data, answers, world)
        prior.course.answer.setflags(write=True)
        prior.course.answer[:] = answers[times]
        yield statistics(world, state.truth, state.drift, state.v, answers)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("clock", ["time", "labels"])
def test_geweke(clock):
    n_draws = 5_000
    world = World(np.random.default_rng(1), clock)
    prior = []
    for _ in range(n_draws):
        z, q, v = world.draw_state()
        prior.append(statistics(world, z, q, v, world.draw_answers(z, v)))
    chain = columns(list(simulate_chain(World(np.random.default_rng(2), clock), n_draws)))
    for name, draws in columns(prior).items():
        error = np.hypot(np.std(draws) / np.sqrt(n_draws), standard_error(chain[name]))
        off = abs(draws.mean() - chain[name].mean())
        assert off <= limit(len(chain)) * error, f"{name}: {off / error:.1f} standard errors"


GRID = np.linspace(-9, 9, 241)


def draw_on_a_grid(prior, t, seen, drift, rng):
    """Log evidence, and a function that draws the walk of class t: forward, then backward."""
    mean, variance = prior.sticks.mean[t, 0], prior.sticks.variance[t, 0]
    step = norm.pdf(GRID[:, None], GRID, np.sqrt(drift)) if drift > 0 else np.eye(len(GRID))
    step /= step.sum(axis=0)
    now = norm.pdf(GRID, mean, np.sqrt(variance)) * (GRID[1] - GRID[0])
    alphas = []
    for s, right in enumerate(seen):
        now = now if s == 0 else step @ now
        now = now * (1.0 if right is None else expit(GRID if right else -GRID))
        alphas.append(now)

    def draw():
        place = rng.choice(len(GRID), p=now / now.sum())
        walk = [place]
        for alpha in alphas[-2::-1]:
            weights = alpha * step[walk[-1]]
            walk.append(rng.choice(len(GRID), p=weights / weights.sum()))
        return expit(GRID[walk[::-1]])

    return np.log(now.sum()), draw


@needs_compiler
def test_changed_has_the_probability_of_independent_draws_on_a_grid():
    """All gold: q by its exact weights, walks by forward-backward, tau by its Dirichlet."""
    z, answers = np.array([0, 1, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 0, 1])
    settings = DynamicPrior(0.65, 3.0, 1.3, drift=(0.0, 0.05, 0.6), static_weight=0.4)
    times = times_of(np.arange(6), np.zeros(6, int), answers, np.arange(6.0), 1)
    prior = model.pack_prior(settings.resolve(2, 2), course_of(times, "labels", 1.0, 1))
    data = encode(np.arange(6), np.zeros(6, int), answers, sizes=(6, 1, 2, 2), gold=z)
    rng = np.random.default_rng(6)
    state = model.initial_state(data, prior, z.astype(np.int32), None, rng)
    scratch, layout = model.new_scratch(state, data, prior), model.layout_of(data, prior)
    record = Record(new_tally(data, layout), new_trace(2, 2, layout), keep_nothing(data))
    balance, got = np.bincount(z) + prior.class_weight, []
    for _ in range(6_000):
        model.run_block(state, data, prior, Streams(rng, rng, rng), record, scratch)
        got.append(expit(state.v[:, :, 0]) @ rng.dirichlet(balance))
    seen = [[c == t if k == t else None for k, c in zip(z, answers, strict=True)] for t in (0, 1)]
    walks = [[draw_on_a_grid(prior, t, seen[t], q, rng) for t in (0, 1)] for q in prior.drift]
    log_q = prior.log_drift + [sum(walk[0] for walk in both) for both in walks]
    chosen = rng.choice(3, 6_000, p=np.exp(log_q - logsumexp(log_q)))
    want = [
        np.stack([draw() for _, draw in walks[g]], axis=1) @ rng.dirichlet(balance) for g in chosen
    ]
    first = np.array([0])
    one, other = (range_of(np.array(rows), first)[100:, 0] for rows in (want, got))
    for margin in (0.02, 0.1, 0.3):
        a, b = one > margin, other > margin
        error = np.hypot(np.std(a) / np.sqrt(len(a)), standard_error(b))
        assert abs(a.mean() - b.mean()) <= limit(3) * error
