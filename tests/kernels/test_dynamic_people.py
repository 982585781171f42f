"""The people of DynamicIBCC: conditionals, sums over all truths, quadrature, Geweke, bugs."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit, logsumexp, roots_hermitenorm
from scipy.stats import norm

from coterie.data.codes import times_of
from coterie.kernels import dynamic
from coterie.posterior.drift import range_of
from coterie.priors import DynamicPrior
from ladder.halves import Live, assert_agree, columns, crowd_of, streams
from ladder.marks import rest_slow
from ladder.tolerances import assert_means, limit, standard_error
from reference.joint import log_p_truth
from reference.problem import Problem

TWO = DynamicPrior(
    mean=[[0.6, 0.4], [0.25, 0.75]], strength=[3.0, 2.0], class_weights=[1.2, 0.7],
    drift=(0.0, 0.3, 2.0), static_weight=0.4,
).resolve(2, 2)  # fmt: skip
THREE = DynamicPrior(
    mean=[[0.6, 0.25, 0.15], [0.2, 0.7, 0.1]], strength=[3.0, 2.0], class_weights=[1.2, 0.7],
    drift=(0.0, 0.3, 2.0), static_weight=0.4,
).resolve(2, 3)  # fmt: skip
ANSWERS = np.array([0, 0, 1, 1, 1])
LABELS = np.array([(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (2, 1), (3, 1)])
TIME = np.array([0.0, 2.0, 2.0, 5.0, 1.0, 1.0, 2.0])


class Crowd:
    """Labels, when they were given, and a chain as the package has it."""

    def __init__(self, prior, labels, answers, time, *, n_annotators=None, clock="labels", gold=()):
        self.prior, (self.item, self.annotator) = prior, np.asarray(labels).T
        self.answer, (n_classes, n_answers) = np.asarray(answers), np.shape(prior.mean)
        n, n_items = n_annotators or self.annotator.max() + 1, self.item.max() + 1
        times = times_of(self.item, self.annotator, self.answer, np.asarray(time, float), n)
        self.course = dynamic.course_of(times, clock, 1.0, 1)
        self.order = np.lexsort((self.answer, self.annotator, self.item))
        self.row = np.empty(len(self.item), int)
        self.row[self.order] = self.course.moment_of_label
        said = zip(self.item.tolist(), self.annotator.tolist(), self.answer.tolist(), strict=True)
        known = {i: int(t) for i, t in enumerate(gold) if t >= 0}
        self.problem = Problem(int(n_items), int(n), n_classes, n_answers, tuple(said), known)
        self.people = dynamic.DynamicPeople(prior, crowd_of(self.problem), self.course)

    def live(self, seed=1):
        return Live(self.people, self.problem, seed=seed)

    def counts(self, z):
        shape = len(self.course.step), self.problem.n_answers, self.problem.n_classes
        said = np.zeros(shape, np.int32)
        np.add.at(said, (self.row, self.answer, z[self.item]), 1)
        return {"said": said, "cell_total": np.bincount(z, minlength=self.problem.n_classes)}


def truth_of(live):
    """The class of every item; all are counted."""
    return np.array(list(live.cells.values()))


def one_annotator(prior=TWO, answers=ANSWERS, time=None, gold=()):
    """Somebody who labels items one after the other, or at these times."""
    labels = [(i, 0) for i in range(len(answers))]
    return Crowd(prior, labels, answers, range(len(answers)) if time is None else time, gold=gold)


def two_annotators(clock="time"):
    """Four items; two labels of each annotator are of one moment."""
    return Crowd(THREE, LABELS, np.zeros(7, int), TIME, clock=clock)


def rows_of(v):
    """Psi, shape (rows, classes, answers), from v, shape (rows, sticks, classes), written down."""
    n_rows, n_sticks, n_classes = v.shape
    psi = np.empty((n_rows, n_classes, n_sticks + 1))
    for r, t in np.ndindex(n_rows, n_classes):
        left = 1.0
        order = [t, *(c for c in range(n_sticks + 1) if c != t)]
        for j in range(n_sticks):
            psi[r, t, order[j]] = left * expit(v[r, j, t])
            left *= expit(-v[r, j, t])
        psi[r, t, order[-1]] = left
    return psi


# ---- the course of time, and sticks ----


def test_moments_share_a_state_where_times_are_equal_or_blocks_are_asked_for():
    who = np.array([0, 0, 0, 0, 1, 1])
    item = np.array([0, 1, 2, 3, 0, 1])
    times = times_of(item, who, item * 0, np.array([5.0, 1.0, 1.0, 2.0, 7.0, 8.0]), 2)
    course = dynamic.course_of(times, "labels", 1.0, 1)
    assert course.moment.tolist() == [0, 0, 1, 2, 3, 4]
    assert course.step.tolist() == [0, 2, 1, 0, 1]
    assert course.moment_of_label.tolist() == [2, 3, 0, 4, 0, 1]
    assert dynamic.course_of(times, "labels", 1.0, 2).moment_start.tolist() == [0, 2, 3]


def test_sticks_match_the_dirichlet():
    """Mean and variance of the logits of the sticks, by draws of the Dirichlet."""
    shape = np.array([1.8, 1.2, 0.9])
    mean, variance = dynamic.match_sticks(shape[:, None])
    p = np.random.default_rng(1).dirichlet(shape, 40_000)
    for j, broken in enumerate([p[:, 0], p[:, 1] / (p[:, 1] + p[:, 2])]):
        draws = logit(broken)
        assert abs(draws.mean() - mean[j, 0]) < 4.5 * draws.std() / 200
        square = (draws - draws.mean()) ** 2
        assert abs(square.mean() - variance[j, 0]) < 4.5 * square.std() / 200


def check_answers():
    order = dynamic.stick_order(3, 4)
    v = np.random.default_rng(0).normal(0, 3, (2, 3, 3))
    p = np.exp(dynamic.log_matrices(v, order))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(p.swapaxes(1, 2), rows_of(v), rtol=1e-12)


@pytest.mark.exact
def test_answers_sum_to_one_and_the_first_stick_is_being_right():
    check_answers()


@pytest.mark.exact
def test_the_prior_of_rows_is_in_the_order_of_the_sticks():
    people = two_annotators().people
    for t in range(2):
        order = [t, *(c for c in range(3) if c != t)]
        shape = np.array(THREE.strength)[t] * np.array(THREE.mean)[t][order]
        mean, variance = dynamic.match_sticks(shape[:, None])
        np.testing.assert_allclose(people.mean[:, t], mean[:, 0])
        np.testing.assert_allclose(people.variance[:, t], variance[:, 0])


@pytest.mark.exact
def test_logits_beyond_all_bounds_have_finite_matrices():
    v = np.array([-2_000.0, -40.0, 0.0, 40.0, 2_000.0])[:, None, None] * np.ones((1, 2, 3))
    log_p = dynamic.log_matrices(v, dynamic.stick_order(3, 3))
    assert np.isfinite(log_p).all()
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.exact
def test_labels_come_to_a_stick_unless_they_ended_before():
    said = np.random.default_rng(2).integers(0, 4, (5, 4, 3)).astype(np.int32)
    came, ended = dynamic.count_sticks(said, dynamic.stick_order(3, 4))
    for r, t in np.ndindex(5, 3):
        order = [t, *(c for c in range(4) if c != t)]
        for j in range(3):
            assert ended[r, j, t] == said[r, order[j], t]
            assert came[r, j, t] == sum(said[r, c, t] for c in order[j:])


# ---- Polya-Gamma numbers ----


def polya_gamma(n, count, c, seed=1):
    rng = np.random.default_rng(seed)
    return dynamic.draw_polya_gamma(np.full(n, count, np.int32), np.full(n, float(c)), rng)


def moments(c):
    """Mean and variance of PG(1, c)."""
    if c == 0:
        return 1 / 4, 1 / 24
    x = c / 2
    return math.tanh(x) / (2 * c), (math.sinh(c) - c) / (4 * c**3 * math.cosh(x) ** 2)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("c", [0.0, 0.3, -2.0, 2.4, 2.5, 3.3, 9.0, 40.0])
def test_mean_variance_and_laplace_transform(c, count):
    out = polya_gamma(40_000, count, c)
    mean, variance = (count * moment for moment in moments(c))
    assert abs(out.mean() - mean) < limit(3) * np.sqrt(variance / len(out))
    spread = (out - mean) ** 2
    assert abs(spread.mean() - variance) < limit(3) * spread.std() / np.sqrt(len(out))
    # E exp(-x t) = cosh(c / 2) / cosh(sqrt((c^2 / 2 + t) / 2)), to the power of the count
    t = 1 / mean
    want = (math.cosh(c / 2) / math.cosh(math.sqrt((c * c / 2 + t) / 2))) ** count
    got = np.exp(-out * t)
    assert abs(got.mean() - want) < limit(3) * got.std() / np.sqrt(len(out))


@pytest.mark.parametrize("c", [0.0, 1.5, 2.4, 2.5, 6.0])
def test_the_same_distribution_as_another_implementation(c):
    theirs = pytest.importorskip("polyagamma", reason="an oracle that not every machine has")
    other = theirs.random_polyagamma(1.0, c, size=20_000, random_state=np.random.default_rng(3))
    assert stats.ks_2samp(polya_gamma(20_000, 1, c, seed=2), other).pvalue > 1e-4


@pytest.mark.parametrize("c", [1e-300, 600.0, 3e3, 1e8])
def test_tilts_beyond_all_bounds(c):
    out = polya_gamma(2_000, 1, c)
    mean = 1 / 4 if c < 1 else 1 / (2 * c)
    assert abs(out.mean() - mean) < 5 * out.std() / np.sqrt(len(out))


@pytest.mark.exact
def test_omega_is_drawn_where_labels_are_and_nowhere_else():
    came = np.zeros((3, 2, 2), np.int32)
    came[1, 0, 1] = 2
    omega = dynamic.draw_omega(came, np.zeros((3, 2, 2)), np.random.default_rng(0))
    assert ((omega > 0) == (came > 0)).all()


# ---- walks: filter, drift, and draws, against dense Gaussians ----


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


def filtered(start, drift, seen):
    """Means, variances and evidence of one annotator's one walk."""
    step, omega, kappa = seen
    shape = (len(step), 1, 1)
    mean, variance, evidence = np.empty(shape), np.empty(shape), np.zeros((1, 1))
    dynamic.filter_walks(
        np.array([0, len(step)]), step, np.array([[drift]]), np.full((1, 1), start[0]),
        np.full((1, 1), start[1]), omega.reshape(shape), kappa.reshape(shape), mean, variance,
        evidence,
    )  # fmt: skip
    return mean, variance, evidence[0, 0]


def check_filter():
    for seed, drift in itertools.product(range(5), (0.0, 0.4, 3.0)):
        seen = walk_case(seed)
        mean, _, found = filtered((0.8, 1.7), drift, seen)
        want, after = log_evidence((0.8, 1.7), drift, seen)
        np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(mean[-1, 0, 0], after[-1], rtol=1e-10)


@pytest.mark.exact
def test_the_filter_s_evidence_is_that_of_one_dense_gaussian():
    check_filter()


def check_walks():
    """A draw is linear in its normals: with unit vectors for these, both come out exactly."""
    for drift in (0.0, 0.4, 3.0):
        seen = walk_case(7)
        step, omega = seen[:2]
        mean_in, variance, _ = filtered((0.8, 1.7), drift, seen)

        def draw(normals, step=step, drift=drift, known=(mean_in, variance)):
            out = normals.reshape(6, 1, 1).copy()
            dynamic.sample_walks(np.array([0, 6]), step, np.array([drift]), *known, out)
            return out[:, 0, 0]

        mean = draw(np.zeros(6))
        linear = np.array([draw(unit) - mean for unit in np.eye(6)])
        _, after = log_evidence((0.8, 1.7), drift, seen)
        _, cover = dense((0.8, 1.7), drift, step)
        exact = cover @ np.linalg.inv(np.eye(6) + omega[:, None] * cover)
        np.testing.assert_allclose(mean, after, rtol=1e-10)
        np.testing.assert_allclose(linear.T @ linear, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.exact
def test_a_sampled_walk_has_the_mean_and_the_covariance_of_the_conditional():
    check_walks()


@pytest.mark.exact
@pytest.mark.parametrize("drift", [0.4, 3.0])
def test_time_reversed_has_the_same_evidence_when_the_first_state_may_be_anything(drift):
    """So z, of whose labels omega and kappa are made, has the same posterior."""
    wide, differences = (0.0, 1e9), []
    for seed in range(4):
        step, omega, kappa = walk_case(seed)
        backwards = np.append(0.0, step[:0:-1])
        forth = filtered(wide, drift, (step, omega, kappa))[2]
        back = filtered(wide, drift, (backwards, omega[::-1], kappa[::-1]))[2]
        differences.append(forth - back)
    np.testing.assert_allclose(differences, 0, atol=1e-6)


@pytest.mark.exact
def test_all_walks_at_once_are_each_walk_alone():
    """Three annotators, the second without moments; every stick and class."""
    rng, first = np.random.default_rng(8), np.array([0, 4, 4, 9])
    step, shape, q = rng.gamma(1.0, 1.0, 9), (9, 2, 3), np.array([0.3, 9.0, 1.1])
    start = rng.normal(size=(2, 3)), rng.gamma(1.0, 1.0, (2, 3))
    omega = rng.gamma(1.0, 1.0, shape) * (rng.random(shape) < 0.5)
    kappa = rng.normal(size=shape) * (omega > 0)
    mean, variance, evidence = np.empty(shape), np.empty(shape), np.zeros((3, 2))
    both = np.stack([2 * q, q], axis=1)
    dynamic.filter_walks(first, step, both, *start, omega, kappa, mean, variance, evidence)
    walk = rng.standard_normal(shape)
    normal = walk.copy()
    dynamic.sample_walks(first, step, q, mean, variance, walk)
    want = np.zeros((3, 2))
    for l, j, t in np.ndindex(3, 2, 3):
        part = slice(first[l], first[l + 1])
        here = start[0][j, t], start[1][j, t]
        seen = step[part], omega[part, j, t], kappa[part, j, t]
        m, p, gain = filtered(here, q[l], seen)
        want[l] += filtered(here, 2 * q[l], seen)[2], gain
        np.testing.assert_array_equal(mean[part, j, t], m[:, 0, 0])
        np.testing.assert_array_equal(variance[part, j, t], p[:, 0, 0])
        alone = normal[part, j, t].reshape(-1, 1, 1).copy()
        n = np.array([0, len(alone)])
        dynamic.sample_walks(n, step[part], q[l : l + 1], m, p, alone)
        np.testing.assert_array_equal(walk[part, j, t], alone[:, 0, 0])
    np.testing.assert_allclose(evidence, want, rtol=1e-12)
    assert (evidence[1] == 0).all()


def check_drift():
    crowd = two_annotators()
    people, course, rng = crowd.people, crowd.course, np.random.default_rng(3)
    shape = (len(course.step), 2, 2)
    omega, kappa = rng.gamma(1.0, 0.5, (2, *shape))
    want = np.log([[0.4, 0.3, 0.3]] * 2)
    for l, (g, drift), j, t in itertools.product(range(2), enumerate(THREE.drift), *[range(2)] * 2):
        part = slice(course.moment_start[l], course.moment_start[l + 1])
        seen = course.step[part], omega[part, j, t], kappa[part, j, t]
        want[l, g] += log_evidence((people.mean[j, t], people.variance[j, t]), drift, seen)[0]
    found = people.weigh_drifts(omega, kappa)
    np.testing.assert_allclose(found, want, rtol=1e-9)
    p = np.exp(want - logsumexp(want, axis=1, keepdims=True))
    drawn = np.array([people.draw_drift(omega, kappa, rng) for _ in range(4_000)])
    for l, g in itertools.product(range(2), range(3)):
        error = np.sqrt(p[l, g] * (1 - p[l, g]) / len(drawn))
        assert abs((drawn[:, l] == g).mean() - p[l, g]) < limit(6) * error


@pytest.mark.exact
def test_the_drift_is_weighed_by_the_evidence_of_all_walks():
    check_drift()


@pytest.mark.exact
def test_walks_without_labels_of_a_class_are_drawn_from_the_prior():
    """omega and kappa of zero: the walk is the prior's, and without drift all moments are one."""
    crowd = two_annotators()
    people, nothing = crowd.people, np.zeros((len(crowd.course.step), 2, 2))
    rng = np.random.default_rng(4)
    draws = np.array(
        [people.draw_walk(np.array([0, 2], np.int32), nothing, nothing, rng) for _ in range(4_000)]
    )
    first = crowd.course.moment_start
    still, moving = draws[:, first[0] : first[1]], draws[:, first[1] : first[2]]
    assert (still == still[:, :1]).all()
    elapsed = np.cumsum(crowd.course.step[first[1] : first[2]])
    want = people.variance + 2.0 * elapsed[:, None, None]
    for found, variance in ((still, people.variance + np.zeros_like(want[:1])), (moving, want)):
        error = np.sqrt(variance / len(draws))
        assert (np.abs(found.mean(axis=0) - people.mean) < limit(40) * error).all()
        ratio = found.var(axis=0) / variance
        assert (np.abs(ratio - 1) < limit(40) * np.sqrt(2 / len(draws))).all()


# ---- whole chains: forward-backward on a grid, and sums over all truths ----

GRID = np.linspace(-12, 12, 481)


@cache
def move(variance):
    """Transition matrix of a step on the grid."""
    if variance == 0:
        return np.eye(len(GRID))
    step = norm.pdf(GRID[:, None], GRID, np.sqrt(variance))
    return step / step.sum(axis=0)


def see(crowd, z, t):
    """Probability, on the grid, of what the only annotator says of class t at every moment."""
    seen = np.ones((len(crowd.course.step), len(GRID)))
    for k in np.flatnonzero(z[crowd.item] == t):
        seen[crowd.row[k]] *= expit(GRID if crowd.answer[k] == t else -GRID)
    return seen


def forward(crowd, t, seen, drift):
    """Weights of the states given what is seen so far; their last sum is the evidence."""
    shape = np.asarray(crowd.prior.strength)[t] * np.asarray(crowd.prior.mean)[t][[t, 1 - t]]
    mean, variance = dynamic.match_sticks(shape[:, None])
    now = norm.pdf(GRID, mean[0, 0], np.sqrt(variance[0, 0])) * (GRID[1] - GRID[0])
    alphas = []
    for s, chance in enumerate(seen):
        now = (move(drift * crowd.course.step[s]) @ now if s else now) * chance
        alphas.append(now)
    return alphas


def evidence(crowd, t, seen, drift):
    """log p of what is seen of class t, and the mean accuracies given it."""
    alphas = forward(crowd, t, seen, drift)
    backward, means = np.ones(len(GRID)), []
    for s in range(len(seen) - 1, -1, -1):
        both = alphas[s] * backward
        means.append((both / both.sum()) @ expit(GRID))
        backward = move(drift * crowd.course.step[s]).T @ (backward * seen[s])
    return np.log(alphas[-1].sum()), np.array(means[::-1])


def exact(crowd):
    """P(class 1) of every item, P(static), and the accuracy in class 0 at every moment."""
    prior, gold, weights, values = crowd.prior, crowd.problem.gold, [], []
    log_q = log_weights(prior)
    free = [[gold[i]] if i in gold else range(2) for i in range(crowd.problem.n_items)]
    for z in itertools.product(*free):
        seen = [see(crowd, np.array(z), t) for t in range(2)]
        log_z = log_p_truth(dict(enumerate(z)), prior.class_weights)
        for g, drift in enumerate(prior.drift):
            both = [evidence(crowd, t, seen[t], drift) for t in range(2)]
            weights.append(log_z + log_q[g] + both[0][0] + both[1][0])
            values.append([*z, g == 0, *both[0][1]])
    return np.exp(weights - logsumexp(weights)) @ np.array(values, float)


def log_weights(prior):
    """log p of every drift."""
    n, still = len(prior.drift), prior.static_weight
    return np.log([still, *[(1 - still) / max(n - 1, 1)] * (n - 1)])


def run(crowd, n_draws=6_000):
    """Draws of z, of whether the first does not drift, and of the accuracy in class 0."""
    live, rows = crowd.live(), []
    for _ in range(n_draws):
        live.sweep()
        state = live.state
        rows.append([*truth_of(live), state["drift"][0] == 0, *expit(state["walk"][:, 0, 0])])
    return np.array(rows, float)[100:]


def compare(crowd, n_draws=6_000):
    want, rows = exact(crowd), run(crowd, n_draws)
    names = [k for k in range(rows.shape[1]) if 0 < want[k] < 1]
    assert_means({k: rows[:, k] for k in names}, {k: want[k] for k in names})


@pytest.mark.parametrize("gold", [[0, 0, 0, 0, 0], [0, 1, 0, 1, 0]])
def test_known_classes_against_forward_backward_on_a_grid(gold):
    compare(one_annotator(gold=gold))


def test_unknown_classes_against_the_sum_over_all_truths():
    compare(one_annotator(gold=[0, -1, 0, -1, 0]))


def check_shared_moments():
    compare(one_annotator(time=[0, 0, 0, 1, 1], gold=[0, 0, -1, 0, 0]))


def test_labels_of_one_moment_against_the_sum_over_all_truths():
    check_shared_moments()


def test_a_grid_of_zero_is_the_static_logistic_normal_model():
    still = DynamicPrior(TWO.mean, TWO.strength, TWO.class_weights, drift=(0.0,))
    compare(one_annotator(still.resolve(2, 2), gold=[0, -1, 0, -1, 0]))


def test_one_label_says_nothing_of_drift():
    """One label an annotator: whatever the drift, the evidence is the same."""
    crowd = one_annotator(answers=[0])
    seen = see(crowd, np.array([0]), 0)
    same = [evidence(crowd, 0, seen, drift)[0] for drift in TWO.drift]
    np.testing.assert_allclose(same, same[0], rtol=1e-12)
    found = crowd.people.weigh_drifts(np.full((1, 1, 2), 0.2), np.full((1, 1, 2), 0.5))[0]
    np.testing.assert_allclose(found - log_weights(TWO), found[0] - log_weights(TWO)[0])


def test_one_label_an_annotator_leaves_the_drift_at_its_prior():
    crowd = Crowd(TWO, [(0, 0), (1, 1), (2, 2)], [0, 1, 1], np.zeros(3), gold=[0, 0, 1])
    rows = run(crowd, 3_000)
    assert_means({"static": rows[:, 3]}, {"static": 0.4})


# ---- Geweke ----


def draw_prior(crowd, rng):
    """Give z, q and v from the prior."""
    course, people = crowd.course, crowd.people
    z = rng.choice(2, 4, p=rng.dirichlet(THREE.class_weights))
    q = rng.choice(3, 2, p=[0.4, 0.3, 0.3])
    v = np.empty((len(course.step), 2, 2))
    for l in range(2):
        for r in range(course.moment_start[l], course.moment_start[l + 1]):
            first = r == course.moment_start[l]
            mean = people.mean if first else v[r - 1]
            variance = people.variance if first else THREE.drift[q[l]] * course.step[r]
            v[r] = mean + np.sqrt(variance) * rng.standard_normal((2, 2))
    return z, q, v


def draw_answers(crowd, z, v, rng):
    p = rows_of(v)[crowd.row, z[crowd.item]]
    return (rng.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)


def statistics(crowd, z, q, v, answers):
    """What is compared; labels of three answers, so that the second stick is tried too."""
    right = answers == z[crowd.item]
    first, last = expit(v[0, 0, 0]), expit(v[crowd.course.moment_start[1] - 1, 0, 0])
    return {
        "class 0": (z == 0).sum(),
        "class 0 squared": (z == 0).sum() ** 2,
        "right": right.sum(),
        "first right": right[crowd.annotator == 0].sum() ** 2,
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


def simulate_prior(crowd, n_draws, rng):
    for _ in range(n_draws):
        z, q, v = draw_prior(crowd, rng)
        yield statistics(crowd, z, q, v, draw_answers(crowd, z, v, rng))


def simulate_chain(crowd, n_draws, rng):
    """Alternate one sweep and new answers; the live state is kept."""
    live = crowd.live(seed=7)
    for sweep in range(n_draws + n_draws // 20):  # it starts anywhere
        live.sweep()
        z, state = truth_of(live), live.state
        crowd.answer = draw_answers(crowd, z, state["walk"], rng)
        live.session.answer(crowd.answer[crowd.order])
        state["said"] = crowd.counts(z)["said"]
        if sweep >= n_draws // 20:
            yield statistics(crowd, z, state["drift"], state["walk"], crowd.answer)


def check_geweke(clock="time", n_draws=5_000):
    prior = columns(simulate_prior(two_annotators(clock), n_draws, np.random.default_rng(1)))
    chain = columns(simulate_chain(two_annotators(clock), n_draws, np.random.default_rng(2)))
    assert_agree(prior, chain)


@pytest.mark.parametrize("clock", rest_slow(["time", "labels"], 0))
def test_geweke(clock):
    check_geweke(clock)


# ---- what "changed" means ----


def draw_on_a_grid(crowd, alphas, drift, rng):
    """Draw the accuracies of a walk backwards, given the weights forward."""
    ladder = np.cumsum(alphas[-1])
    place = [np.searchsorted(ladder, rng.random() * ladder[-1])]
    for s in range(len(alphas) - 2, -1, -1):
        ladder = np.cumsum(alphas[s] * move(drift * crowd.course.step[s + 1])[place[-1]])
        place.append(np.searchsorted(ladder, rng.random() * ladder[-1]))
    return expit(GRID[place[::-1]])


def test_changed_has_the_probability_of_independent_draws_on_a_grid():
    """All gold: q by its exact weights, walks by forward-backward, tau by its Dirichlet."""
    z, answers = np.array([0, 1, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 0, 1])
    prior = DynamicPrior(0.65, 3.0, 1.3, drift=(0.0, 0.05, 0.6), static_weight=0.4).resolve(2, 2)
    crowd, rng = one_annotator(prior, answers, gold=z), np.random.default_rng(6)
    live, got, sources = crowd.live(), [], streams(1, 2, 3)
    for _ in range(6_000):
        live.sweep()
        got.append(crowd.people.keep(live.state, sources, True)["accuracy_at"])
    alphas = [[forward(crowd, t, see(crowd, z, t), q) for t in (0, 1)] for q in prior.drift]
    log_q = log_weights(prior) + [sum(np.log(one[-1].sum()) for one in both) for both in alphas]
    balance, want = np.bincount(z) + np.asarray(prior.class_weights), []
    for g in rng.choice(3, 6_000, p=np.exp(log_q - logsumexp(log_q))):
        walks = [draw_on_a_grid(crowd, alphas[g][t], prior.drift[g], rng) for t in (0, 1)]
        want.append(rng.dirichlet(balance) @ walks)
    first = np.array([0])
    one, other = (range_of(np.array(rows), first)[100:, 0] for rows in (want, got))
    for margin in (0.02, 0.1, 0.3):
        a, b = one > margin, other > margin
        error = np.hypot(np.std(a) / np.sqrt(len(a)), standard_error(b))
        assert abs(a.mean() - b.mean()) <= limit(3) * error


# ---- what is noted and kept ----


def swept(crowd, z, seed=7):
    """A state after one draw of the people."""
    rng = np.random.default_rng(seed)
    state = crowd.counts(z) | crowd.people.start(np.zeros(0, np.int32), rng)
    crowd.people.draw(state, rng)
    return state


SOME = [0, 1, 2, 0, 1, 2, 1]  # answers


@pytest.mark.exact
def test_the_trace_is_the_log_joint_written_down():
    crowd = Crowd(THREE, LABELS, SOME, TIME, n_annotators=3, clock="time", gold=[-1, 1, -1, -1])
    live = crowd.live()
    for _ in range(5):
        found = live.sweep()
        state, z = live.state, truth_of(live)
        psi, told = rows_of(state["walk"]), zip(crowd.row, crowd.item, crowd.answer, strict=True)
        labels = sum(np.log(psi[r, z[i], c]) for r, i, c in told)
        log_z = log_p_truth(dict(enumerate(z)), THREE.class_weights)
        log_q = np.log([0.4, 0.3, 0.3])[state["drift"][:2]].sum()
        np.testing.assert_allclose(found["log_likelihood"], labels, rtol=1e-12)
        np.testing.assert_allclose(found["log_joint"], labels + log_z + log_q, rtol=1e-12)
        assert found["n_static"] == (state["drift"][:2] == 0).sum()
        for name, counted in crowd.counts(z).items():
            np.testing.assert_array_equal(state[name], counted)


@pytest.mark.exact
def test_kept_matrices_are_means_over_labels_and_accuracies_of_every_moment():
    """The first annotator's middle moment has two labels of four."""
    crowd, sources = two_annotators(), streams(1, 2, 3)
    state = swept(crowd, np.array([0, 1, 1, 0]))
    kept, psi = crowd.people.keep(state, sources, True), rows_of(state["walk"])
    want = [(psi[0] + 2 * psi[1] + psi[2]) / 4, (2 * psi[3] + psi[4]) / 3]
    for name in ("confusion", "confusion_mean"):
        np.testing.assert_allclose(kept[name], want, rtol=1e-12)
    right = np.stack([psi[:, 0, 0], psi[:, 1, 1]], axis=1)
    np.testing.assert_allclose(kept["accuracy_at"], (right * kept["class_balance"]).sum(axis=1))
    assert kept["static"].tolist() == (state["drift"] == 0).astype(float).tolist()
    kept = [crowd.people.keep(state, sources, True) for _ in range(4_000)]
    shape, balance = np.asarray(THREE.class_weights) + 2, [one["class_balance"][0] for one in kept]
    assert_means({"balance": np.array(balance)}, {"balance": shape[0] / shape.sum()})


def test_who_has_no_labels_gets_a_matrix_from_the_prior():
    crowd, sources = Crowd(THREE, LABELS, SOME, TIME, n_annotators=3), streams(1, 2, 3)
    state, people = swept(crowd, np.array([0, 1, 1, 0])), crowd.people
    draws = np.array([people.keep(state, sources, True)["confusion"][2] for _ in range(4_000)])
    x, w = roots_hermitenorm(60)
    s = expit(people.mean + np.sqrt(people.variance) * x[:, None, None])  # (nodes, sticks, T)
    s = np.tensordot(w / w.sum(), s, 1)  # E s(v): sticks of a row are independent
    for t, (a, b) in enumerate([(1, 2), (0, 2)]):
        want = {t: s[0, t], a: (1 - s[0, t]) * s[1, t], b: (1 - s[0, t]) * (1 - s[1, t])}
        assert_means({c: draws[:, t, c] for c in want}, want)


@pytest.mark.exact
def test_who_has_no_labels_changes_nobodys_bits():
    """Annotator 1 of four has none, nor has the last; the others are those of the other crowd."""
    lives = [
        Crowd(THREE, LABELS, SOME, TIME, clock="time").live(),
        Crowd(THREE, LABELS * [1, 2], SOME, TIME, n_annotators=4, clock="time").live(),
    ]
    sources = [streams(1, 2, spare) for spare in (3, 4)]
    for _ in range(5):
        kept = [
            live.sweep() | live.people.keep(live.state, some, True) | {"z": truth_of(live)}
            for live, some in zip(lives, sources, strict=True)
        ]
        for name, value in kept[0].items():
            theirs = kept[1][name]
            if name in ("static", "confusion", "confusion_mean"):
                theirs = theirs[[0, 2]]
            np.testing.assert_array_equal(value, theirs)
    assert kept[1]["static"].tolist()[1::2] == [1, 1]


@pytest.mark.exact
def test_nobody_at_all_is_allowed():
    course = dynamic.course_of(times_of(*[np.zeros(0, int)] * 3, np.zeros(0), 2), "labels", 1.0, 1)
    problem = Problem(1, 2, 2, 3, (), {0: 0})
    people = dynamic.DynamicPeople(THREE, crowd_of(problem), course)
    live = Live(people, problem)
    assert np.isfinite(live.sweep()["log_joint"])
    kept = people.keep(live.state, streams(1, 2, 3), True)
    np.testing.assert_allclose(kept["confusion"].sum(axis=2), 1)


@pytest.mark.exact
def test_a_state_that_cannot_be_is_refused():
    crowd = two_annotators()
    state = swept(crowd, np.array([0, 1, 1, 0]))
    crowd.people.check(state)
    with pytest.raises(ValueError, match="drift is out of range"):
        crowd.people.check(state | {"drift": np.array([0, 3], np.int32)})
    with pytest.raises(ValueError, match="walk is not finite"):
        crowd.people.check(state | {"walk": state["walk"] * np.nan})


# ---- planted bugs: another function in the place of one; each is caught by a check above ----


def kappa_sign(real):
    def count_sticks(said, order):
        came, ended = real(said, order)
        return came, came - ended

    return count_sticks


def sticks_by_answer(real):
    return lambda n_classes, n_answers: np.tile(np.arange(n_answers)[:, None], n_classes)


def half_the_omega(real):
    return lambda came, walk, rng: real(came, walk, rng) / 2


def omega_once_a_row(real):
    return lambda came, walk, rng: real(np.minimum(came, 1), walk, rng)


def drifts_alike(real):
    return lambda people, omega, kappa: real(people, omega, kappa) - people.log_drift


def step_of_the_moment_before(real):
    return lambda first, step, *rest: real(first, np.roll(step, 1), *rest)


def nothing_seen_at_first(real):
    def filter_walks(first, step, q, mean, variance, omega, kappa, *rest):
        omega, kappa = omega.copy(), kappa.copy()
        omega[first[:-1]] = kappa[first[:-1]] = 0
        real(first, step, q, mean, variance, omega, kappa, *rest)

    return filter_walks


def walks_to_the_mean(real):
    def sample_walks(first, step, q, mean, variance, normal):
        normal *= 0.9
        real(first, step, q, mean, variance, normal)

    return sample_walks


def check_known_classes():
    compare(one_annotator(gold=[0] * 5), n_draws=2_000)


BUGS = [
    ("count_sticks", kappa_sign, check_known_classes),
    ("stick_order", sticks_by_answer, check_answers),
    ("draw_omega", half_the_omega, check_known_classes),
    ("draw_omega", omega_once_a_row, check_shared_moments),
    ("DynamicPeople.weigh_drifts", drifts_alike, check_drift),
    ("DynamicPeople.weigh_drifts", drifts_alike, check_geweke),
    ("sample_walks", step_of_the_moment_before, check_walks),
    ("sample_walks", walks_to_the_mean, check_walks),
    ("filter_walks", nothing_seen_at_first, check_filter),
]


@pytest.mark.parametrize(
    ("name", "bug", "check"), BUGS, ids=[f"{b.__name__}-{c.__name__}" for _, b, c in BUGS]
)
def test_planted_bug_is_caught(name, bug, check, monkeypatch):
    owner = dynamic.DynamicPeople if "." in name else dynamic
    name = name.split(".")[-1]
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    with pytest.raises(AssertionError):
        check()
