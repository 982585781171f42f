"""Splits and merges of coteries: models to run them in, every outcome, checks, bugs to plant."""

import contextlib
import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats
from scipy.special import expit, gammaln, logsumexp

from coterie.kernels import regroup
from ladder.tolerances import FALSE_ALARM
from reference.exact import all_partitions, normalise
from reference.joint import log_p_partition

ALPHA, SAME, NEAR, EDGE = 0.9, 1e-12, 1e-9, 1e-7
SLACK = 0.5  # of the screen here, so that many of these small cases are screened
PEOPLE = [0, 1, 3, 4]  # annotator 2 has no seat, whatever they said
PARTITIONS = [tuple(q.values()) for q in all_partitions(list(range(4)))]
SAID = np.array(
    [[[4, 1], [1, 3]], [[3, 0], [0, 2]], [[9, 9], [9, 9]], [[1, 2], [3, 0]], [[2, 1], [1, 0]]]
)
LONG = np.array(
    [[[0, 3], [63, 64]], [[65, 100], [250, 1]], [[9, 9], [9, 9]], [[700, 7], [0, 40]],
     [[5, 35], [9, 0]]]
)  # fmt: skip
MEAN = np.array([[0.6, 0.25], [0.4, 0.75]])


@dataclass(frozen=True)
class Model:
    """Coteries with parameters: eta[t] ~ Dir(weight[d, :, t]), d with these shares."""

    base: Any
    shape: Any  # (T,), or (1,): one beta for all classes
    rate: Any
    weight: Any  # (points, C, T)
    share: Any
    said: Any = None

    @property
    def knows(self):
        return len(self.share) > 1

    def log_prior(self, log_beta, log_eta):
        """log p(log beta, log eta), d summed; log eta is as a density in its first answers."""
        beta, eta = np.exp(log_beta), np.exp(log_eta)
        log_p = (stats.gamma.logpdf(beta, self.shape, scale=1 / self.rate) + log_beta).sum()
        points = [
            math.log(share) + sum(map(stats.dirichlet.logpdf, eta.T, weight.T))
            for share, weight in zip(self.share, self.weight, strict=True)
        ]
        return log_p + logsumexp(points) + log_eta.sum()

    def log_group(self, people, log_beta, log_eta):
        """log p(log beta, log eta, what these people said)."""
        return self.log_prior(log_beta, log_eta) + sum(
            log_said(self.said[l], np.exp(log_beta)[[t % len(log_beta) for t in (0, 1)]],
                     np.exp(log_eta))
            for l in people
        )  # fmt: skip

    def parameters(self, seed):
        rng = np.random.default_rng(seed)
        log_beta = np.log(rng.gamma(6.0, 0.5, len(self.shape)))
        return log_beta, np.log(rng.dirichlet([2.0] * self.weight.shape[1], 2).T)

    def state(self, groups, parameters):
        """The state of a chain; a coterie's numbers are wrong where no step may look."""
        state = {
            "group": np.full(5, -1, np.int32), "said": self.said.astype(np.int32),
            "log_concentration": np.log([ALPHA]),
            "log_strength": np.array([one[0] for one in parameters]),
            "log_mean": np.array([one[1] for one in parameters]),
        }  # fmt: skip
        state["group"][PEOPLE] = groups
        return state | ({"known": np.zeros(len(parameters), int)} if self.knows else {})


def log_said(n, beta, eta):
    """log p(counts n (C, T) of one annotator), their matrix integrated out."""
    log_p = (gammaln(beta * eta + n) - gammaln(beta * eta)).sum()
    return log_p + (gammaln(beta) - gammaln(beta + n.sum(axis=0))).sum()


def with_extra(said, n_answers):
    """More answers, which are no classes."""
    return np.append(said, said[:, : n_answers - 2] // 2 + 1, axis=1)


def hcbcc(mean=MEAN):
    shape, rate, weight = np.array([5.0, 8.0]), np.array([1.0, 2.0]), mean * [3.0, 2.0]
    base = regroup.Base.of(shape, rate, weight)
    return Model(base, shape, rate, weight[None], np.ones(1), with_extra(SAID, len(mean)))


def consensus():
    d, share, w = np.array([0.3, 0.8]), np.array([0.35, 0.65]), np.array([0.3, 0.7])
    weight = [4 * (one * np.eye(2) + (1 - one) * w[:, None]) for one in d]
    shape, rate = np.array([6.0]), np.array([1.5])
    base = regroup.Base.learnt(shape, rate, 4.0, d, np.log(share), np.log(w), 2)
    return Model(base, shape, rate, np.array(weight), share, SAID)


MODELS = {"hcbcc": hcbcc(), "consensus": consensus()}
EXTRA = hcbcc(np.array([[0.5, 0.2], [0.3, 0.7], [0.2, 0.1]]))


class Forced:
    """A generator whose uniform numbers are given; it can draw nothing else."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def random(self, size=None):
        if size is None:
            return self.numbers.pop(0)
        return np.array([self.numbers.pop(0) for _ in range(np.prod(size))]).reshape(size)


@contextlib.contextmanager
def spied(*names):
    """What these functions of the module are given and give, one after the other."""
    seen = defaultdict(list)
    with contextlib.ExitStack() as stack:
        for name in names:
            own = getattr(regroup, name)

            def spy(*args, own=own, name=name):
                seen[name].append((args, own(*args)))
                return seen[name][-1][1]

            stack.enter_context(mock.patch.object(regroup, name, spy))
        yield seen


@dataclass(frozen=True)
class Choice:
    """An outcome of a proposal: how probable it is, and the numbers at both of its ends."""

    log_p: float
    low: list[float]
    high: list[float]
    splits: bool
    i: int
    j: int
    leaves: tuple[int, ...]  # who is with j when there are two, j among them

    def then(self, p, low, high, **more):
        """A further choice, whose number is between these."""
        ends = [*self.low, low + EDGE * (high - low)], [*self.high, high - EDGE * (high - low)]
        return replace(self, log_p=self.log_p + math.log(p), low=ends[0], high=ends[1], **more)

    def one_of(self, things, name):
        for k, thing in enumerate(things):
            yield self.then(
                1 / len(things), k / len(things), (k + 1) / len(things), **{name: thing}
            )


def choices(groups, typical, weight):
    """Every outcome, as the module's docstring has it."""
    group = np.array(groups)
    size = np.bincount(group)
    split = 1.0 if len(size) == 1 else 0.0 if size.max() == 1 else 0.5
    start = Choice(0.0, [], [], True, -1, -1, ())
    for splits, low, high in ((True, 0.0, split), (False, split, 1.0)):
        if low == high:
            continue
        for at_a in start.then(high - low, low, high, splits=splits).one_of(
            np.flatnonzero(size > splits), "leaves"
        ):
            a = at_a.leaves
            for at_i in at_a.one_of(np.flatnonzero(group == a), "i"):
                if splits:
                    others = [l for l in np.flatnonzero(group == a) if l != at_i.i]
                    for at_j in at_i.one_of(others, "j"):
                        yield from sides(at_j, others, typical, weight)
                else:
                    p = shares(a, group, typical, weight)
                    for b, (low, high) in enumerate(itertools.pairwise([0, *np.cumsum(p)])):
                        if b != a:
                            members = np.flatnonzero(group == b)
                            at_b = at_i.then(p[b], low, high, leaves=tuple(members))
                            yield from at_b.one_of(members, "j")


def shares(a, group, typical, weight):
    """Whom coterie a is merged with: mostly by how well they explain a typical member."""
    sums = np.array([typical[group == m].sum(axis=0) for m in range(group.max() + 1)])
    size, matrix = np.bincount(group), sums + weight
    log_p = (sums[a] / size[a] * np.log(matrix / matrix.sum(axis=1, keepdims=True))).sum((1, 2))
    other = np.arange(len(size)) != a
    alike, size = np.exp(log_p - log_p[other].max()) * other, size * other
    return 0.9 * alike / alike.sum() + 0.1 * size / size.sum()


def sides(at_j, others, typical, weight):
    """Where the others go; a launch knows who they are, not where."""
    rest = [l for l in others if l != at_j.j]
    p = expit(regroup.launch(typical[[at_j.i, at_j.j, *rest]], weight))
    for leaves in itertools.product((False, True), repeat=len(rest)):
        at = at_j
        for one, leave in zip(p, leaves, strict=True):
            at = at.then(one, 0, one) if leave else at.then(1 - one, one, 1)
        yield replace(at, leaves=(at_j.j, *(l for l, x in zip(rest, leaves, strict=True) if x)))


def moved(groups, choice):
    """The groups after it, numbered as they first appear."""
    after = list(groups)
    for l in choice.leaves:
        after[l] = 9 if choice.splits else groups[choice.i]
    return canonical(after)


def canonical(groups):
    numbers = {}
    return tuple(numbers.setdefault(int(m), len(numbers)) for m in groups)


def way_back(groups, choice, typical, weight):
    """The one outcome that undoes it."""
    after, found = moved(groups, choice), []
    for back in choices(after, typical, weight):
        if (back.splits, back.i, back.j) == (not choice.splits, choice.i, choice.j):
            found += [back] * (moved(after, back) == canonical(groups))
    assert len(found) == 1
    return found[0]


# The checks, of cBCC first.


def check_shared(_, alpha=ALPHA, weight=MEAN * [3.0, 2.0]):
    """pi P = pi over all partitions, and every outcome is exactly as probable as P has it."""
    said = SAID[PEOPLE].astype(float)
    log_pi = {groups: log_shared(groups, said, weight, alpha) for groups in PARTITIONS}
    pi, after = normalise(log_pi), defaultdict(float)
    for groups, p in pi.items():
        total = 0.0
        for choice in choices(groups, said, weight):
            to, chance = moved(groups, choice), math.exp(choice.log_p)
            back = way_back(groups, choice, said, weight)
            log_ratio = log_pi[to] - log_pi[groups] + back.log_p - choice.log_p
            taken = min(1.0, math.exp(log_ratio))
            for numbers, u, where in (
                (choice.low, 1 - taken * (1 - NEAR), to), (choice.high, 1 - NEAR, to),
                (choice.high, 1 - taken * (1 + NEAR), groups),
            ):  # fmt: skip
                if u >= 0:
                    assert shared(groups, [*numbers, u], weight, alpha) == where
            after[to] += p * chance * taken
            after[groups] += p * chance * (1 - taken)
            total += chance
        assert abs(total - 1) < SAME
    assert max(abs(after[groups] - p) for groups, p in pi.items()) < SAME


def log_shared(groups, said, weight, alpha=ALPHA):
    """The log joint of cBCC."""
    log_p = log_p_partition(dict(enumerate(groups)), alpha)
    for m in set(groups):
        n = said[np.equal(groups, m)].sum(axis=0)
        log_p += log_said(n, weight.sum(axis=0), weight / weight.sum(axis=0))
    return log_p


def shared(groups, numbers, weight, alpha):
    state = MODELS["hcbcc"].state(groups, [])
    before, rng = {name: array.copy() for name, array in state.items()}, Forced(numbers)
    state["log_concentration"][:] = math.log(alpha)
    regroup.regroup_shared(state, weight, rng, 1)
    assert not rng.numbers
    np.testing.assert_array_equal(state["said"], before["said"])
    assert state["group"][2] == -1
    seats = state["group"][PEOPLE]
    assert set(seats.tolist()) == set(range(seats.max() + 1))
    return canonical(seats)


# Where coteries have parameters.


def check_density(model):
    """Conditional = joint: prior and labels of each side, also where counts are long."""
    for said, leaves in itertools.product((SAID, LONG, SAID * 0), ([0, 1, 0, 1], [1, 1, 0, 1])):
        said, leaves = with_extra(said, model.weight.shape[1]), np.array(leaves, bool)
        one = replace(model, said=said)
        people = [np.array(PEOPLE)[~leaves], np.array(PEOPLE)[leaves], PEOPLE]
        log_beta, log_eta = map(np.array, zip(*map(model.parameters, range(3)), strict=True))
        labels = np.append(said, said.sum(axis=1, keepdims=True), axis=1)[PEOPLE]
        with np.errstate(divide="ignore", invalid="ignore"):
            over = regroup.count_over(labels, leaves)
            got = regroup.log_said(labels, leaves, over, regroup.with_strength(log_beta, log_eta))
        got = got + model.base.log_prior(log_beta, log_eta)
        want = [one.log_group(*who) for who in zip(people, log_beta, log_eta, strict=True)]
        np.testing.assert_allclose(got, want, rtol=1e-10)


def fit_of(model):
    """Everybody's fit, with who is on which side."""
    said = model.said
    labels = np.append(said, said.sum(axis=1, keepdims=True), axis=1)[PEOPLE]
    leaves = np.array([False, True, False, True])
    log_mean = regroup.log_matrix(
        regroup.on_sides(leaves, said[PEOPLE]) + model.base.mean_weight(model.base.log_share)
    )
    return regroup.fit_sides(regroup.count_over(labels, leaves), log_mean, model.base)


def log_drawn(fit, k, log_beta, log_eta):
    """The log density of what is drawn for side k: Student's t, and scaled Dirichlets."""
    scale = fit.strength_precision[k] ** -0.5
    log_p = stats.t.logpdf(log_beta, 5, fit.log_strength[k], scale).sum()
    for t in range(2):
        p = fit.mean_precision[k, :, t]
        r = p * np.exp(log_eta[:, t] - fit.log_mean[k, :, t])
        log_p += stats.dirichlet.logpdf(r / r.sum(), p) + np.log(r / r.sum()).sum()
    return log_p


def check_drawn(model):
    """Its density; and that every number, through its distribution, is uniform."""
    fit, rng, uniform = fit_of(model), np.random.default_rng(5), []
    log_beta, log_eta = map(np.array, zip(*map(model.parameters, range(3)), strict=True))
    want = [log_drawn(fit, k, log_beta[k], log_eta[k]) for k in range(3)]
    np.testing.assert_allclose(regroup.log_drawn(log_beta, log_eta, fit), want, rtol=1e-10)
    for _ in range(600):
        log_beta, log_eta = regroup.draw(fit, rng)
        np.testing.assert_allclose(np.exp(log_eta).sum(axis=1), 1, rtol=1e-9)
        r = fit.mean_precision * np.exp(log_eta - fit.log_mean)
        p = fit.mean_precision[:, 0], fit.mean_precision[:, 1:].sum(axis=1)
        scale = fit.strength_precision**-0.5
        numbers = stats.t.cdf(log_beta, 5, fit.log_strength, scale)
        uniform.append([*numbers.ravel(), *stats.beta.cdf(r[:, 0] / r.sum(axis=1), *p).ravel()])
    for numbers in np.transpose(uniform):
        assert stats.kstest(numbers, "uniform").pvalue > FALSE_ALARM


def check_tiny(model):
    """Where a shape is tiny, and log eta as low as a number can be, no other term is lost."""
    shape, p = 1e-18, 2e-18
    weight = model.weight[0].copy()
    weight[0, 1] = shape
    base = regroup.Base.of(model.shape, model.rate, weight)
    fit = regroup.Fit(*(np.array([one[2]] * 3) for one in vars(fit_of(model)).values()))
    fit.mean_precision[:, 0, 1] = p
    log_beta, log_eta = (np.array([one] * 3) for one in model.parameters(3))
    log_eta[:, 0, 1] = -200.0, -1e18, -3e18
    rest = base.log_prior(log_beta, log_eta) - regroup.log_drawn(log_beta, log_eta, fit)
    rest -= (shape - p) * log_eta[:, 0, 1]
    np.testing.assert_allclose(rest, rest[0], rtol=0, atol=NEAR)


def check_fit(model):
    """The fit is at the top of the density of log beta and log eta, as wide as it is there.

    Nearly so where counts are long: of those further labels are looked at in blocks.
    """
    for said, near in ((SAID * 5, 0.02), (LONG * 3, 0.1)):
        fit_is_at_the_top(replace(model, said=said), near)


def fit_is_at_the_top(model, near):
    tied = len(model.shape) == 1
    with mock.patch.object(regroup, "STEPS", 50), mock.patch.object(regroup, "ENOUGH", 1e-7):
        fit = fit_of(model)
    top = np.array([*fit.log_strength[2], *(fit.log_mean[2, 0] - fit.log_mean[2, 1])])

    def log_density(x):
        odds = x[len(model.shape) :]
        log_eta = -np.log1p(np.exp(np.array([-odds, odds])))
        return model.log_group(PEOPLE, x[: len(model.shape)], log_eta)

    step = 1e-3
    for k, e in enumerate(step * np.eye(len(top))):
        low, mid, high = (log_density(top + sign * e) for sign in (-1, 0, 1))
        slope, curve = (high - low) / (2 * step), (2 * mid - high - low) / step**2
        assert abs(slope) < near * curve**0.5
        t = k - len(model.shape)
        if t < 0:  # eta, moving along, makes it wider
            assert 0.3 < fit.strength_precision[2, k] / curve < 1 + near
        elif not tied:  # there d moves with eta
            eta = np.exp(fit.log_mean[2, :, t])
            want = (fit.mean_precision[2, :, t] * eta[::-1] ** 2).sum()
            assert abs(curve / want - 1) < near


def check_balance(model, every=7):
    """There and back: accepted as probably as the joint, the choices and the draws have it.

    What is drawn is forced; the density that it is drawn from is known.
    """
    screened = 0
    for (number, groups), more in itertools.product(enumerate(PARTITIONS), (1, 4)):
        model = replace(model, said=with_extra(SAID, model.weight.shape[1]) * more)
        parameters = [model.parameters(100 * number + m) for m in range(max(groups) + 1)]
        typical, weight = proposes_with(model)
        for choice in list(choices(groups, typical, weight))[number % every :: every]:
            new = [model.parameters(7_000 + number + k) for k in range(3)]
            screened += there_and_back(model, groups, parameters, choice, new, typical, weight)
    assert screened > 20


def proposes_with(model):
    """n labels of a row are n (1 + beta) / (n + beta)."""
    said, beta = model.said[PEOPLE], model.shape / model.rate
    typical = said * ((1 + beta) / (said.sum(axis=1, keepdims=True) + beta))
    return typical, np.tensordot(model.share, model.weight, 1)


def there_and_back(model, groups, parameters, choice, new, typical, weight):
    to, back = moved(groups, choice), way_back(groups, choice, typical, weight)
    state, fit = stepped(model, groups, parameters, choice, new, 1 - 1e-15, 1 - 1e-15)
    assert canonical(state["group"][PEOPLE]) == to
    order = [int(state["group"][PEOPLE][to.index(m)]) for m in range(max(to) + 1)]
    made = [(state["log_strength"][m], state["log_mean"][m]) for m in order]
    assert len(made) == len(state["log_strength"]) == len(state["log_mean"])
    old, drawn = [groups[choice.i], groups[choice.j]], [to[choice.i], to[choice.j]]
    apart, whole = (drawn, old[0]) if choice.splits else (old, drawn[0])
    two, one = (made, parameters) if choice.splits else (parameters, made)
    log_q = [log_drawn(fit, k, *two[m]) for k, m in enumerate(apart)]
    log_q = sum(log_q) - log_drawn(fit, 2, *one[whole])
    want = log_joint(model, to, made) - log_joint(model, groups, parameters)
    want += back.log_p - choice.log_p + (-log_q if choice.splits else log_q)
    ratio = log_shared(to, typical, weight) - log_shared(groups, typical, weight)
    ratio += back.log_p - choice.log_p
    screen = math.copysign(max(abs(ratio) / 2 - SLACK, 0), ratio)
    seen = [two[apart[0]], two[apart[1]], one[whole]]
    assert_accepted(model, groups, parameters, choice, new, want, screen)
    assert_accepted(model, to, made, back, seen, -want, -screen)
    return screen != 0


def assert_accepted(model, groups, parameters, choice, drawn, log_ratio, screen):
    """The screen by cBCC's ratio, then what is left: each at both sides of where it ends."""
    first, second = (min(1.0, math.exp(x)) for x in (screen, log_ratio - screen))
    for u, v, goes in (
        (1 - first * (1 - EDGE), 1 - second * (1 - EDGE), True),
        (1 - first * (1 + EDGE), 0.5, False),
        (1 - first * (1 - EDGE), 1 - second * (1 + EDGE), False),
    ):
        if min(u, v) >= 0:
            state, _ = stepped(model, groups, parameters, choice, drawn, u, v)
            same = canonical(state["group"][PEOPLE]) == canonical(groups)
            assert same != goes, f"{u}, {v}: {log_ratio}"


def log_joint(model, groups, parameters):
    log_p = log_p_partition(dict(enumerate(groups)), ALPHA)
    for m, own in enumerate(parameters):
        log_p += model.log_group([l for l, k in zip(PEOPLE, groups, strict=True) if k == m], *own)
    return log_p


def stepped(model, groups, parameters, choice, drawn, u, v):
    """A step by these numbers, which draws this for its sides; and the fit of these."""
    state, rng = model.state(groups, parameters), Forced([*choice.low, u, v, 0.5, 0.5, 0.5])
    sides = [np.array(one) for one in zip(*drawn, strict=True)]
    forced = mock.patch.multiple(regroup, draw=mock.Mock(return_value=sides), SLACK=SLACK)
    with spied("fit_sides") as seen, forced:
        regroup.regroup_own(state, model.base, rng, 1)
    return state, seen["fit_sides"][0][1] if seen["fit_sides"] else None


def check_known(model, number=3):
    """Whoever has new parameters knows as probably as these say; others as before."""
    groups, drawn = PARTITIONS[number], [model.parameters(k) for k in range(3)]
    drawn[1] = drawn[1][0], np.log([[0.95, 0.03], [0.05, 0.97]])
    parameters = [model.parameters(10 + m) for m in range(max(groups) + 1)]
    typical, weight = proposes_with(model)
    for choice in list(choices(groups, typical, weight))[::5]:
        state, _ = stepped(model, groups, parameters, choice, drawn, 1 - 1e-15, 1 - 1e-15)
        for known, log_eta in zip(state["known"], state["log_mean"], strict=True):
            log_p = [
                math.log(share) + sum(map(stats.dirichlet.logpdf, np.exp(log_eta).T, one.T))
                for share, one in zip(model.share, model.weight, strict=True)
            ]
            old = any(np.array_equal(log_eta, one) for _, one in parameters)
            assert known == (0 if old else int(log_p[1] > log_p[0]))  # by a number of a half


def check_launch(_):
    """A launch goes to where soft sides explain each other, whatever the order of the others."""
    typical, weight = SAID[[0, 1, 4, 3, 2]].astype(float), MEAN * 3
    with mock.patch.object(regroup, "ROUNDS", 500):
        odds = regroup.launch(typical, weight)
    leaves = np.array([0, 1, *expit(odds)])
    log_mean = [
        np.log((n := np.tensordot(side, typical, 1) + weight) / n.sum(axis=0))
        for side in (1 - leaves, leaves)
    ]
    want = (typical[2:] * (log_mean[1] - log_mean[0])).sum(axis=(1, 2))
    want += math.log(leaves.sum() / (1 - leaves).sum())
    np.testing.assert_allclose(odds, want, rtol=1e-9)
    other = regroup.launch(typical[[0, 1, 3, 4, 2]], weight)
    np.testing.assert_allclose(other[[2, 0, 1]], regroup.launch(typical, weight), rtol=1e-9)
