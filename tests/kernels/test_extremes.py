"""Weights where products and tables end: hundreds of labels, tiny and huge shapes."""

import itertools
from decimal import Decimal, localcontext
from functools import cache
from operator import mul

import numpy as np
import pytest

from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from ladder.cases import case
from ladder.checks import know_groups
from ladder.sampler import ALPHA, at_work, pack, read, real, start, weighed
from reference.joint import count, log_p_partition
from reference.problem import Problem

pytestmark = pytest.mark.exact
MEAN = np.array([[0.7, 0.2, 0.1], [0.15, 0.6, 0.25]])
TINY_MEAN = np.array([[1 - 1e-12, 1e-12, 1e-30], [1e-3, 1 - 1e-3, 1e-90]])
FAR_APART = np.array([[1.0, 1e-140, 1e-198], [1e-140, 1.0, 1e-198]])
SHAPES = {
    "ordinary": (MEAN, 3.0),
    "tiny": (TINY_MEAN, 1e-3),
    "huge": (MEAN, 1e40),
    "tiny in huge": (TINY_MEAN, 1e40),
}
Z, Q = {0: 0, 1: 1, 2: 1, 3: 0}, {l: l % 2 for l in range(5)}


def crowded():
    """Four items with 400 labels each, of five annotators who repeat themselves."""
    rng = np.random.default_rng(1)
    people = np.sort(rng.integers(5, size=(4, 400)), axis=1)
    answers = np.array([rng.choice(3, 400, p=MEAN[i % 2]) for i in range(4)])
    labels = tuple((i, int(people[i, k]), int(answers[i, k])) for i in range(4) for k in range(400))
    return Problem(4, 5, 2, 3, labels)


def one_label_each():
    """Two items with two labels each: nothing else is counted where a label is weighed."""
    return Problem(2, 4, 2, 3, ((0, 0, 1), (0, 1, 2), (1, 2, 0), (1, 3, 1)))


def extreme_case(model, problem, mean, strength):
    rates = {"class_weights": [1.2, 1e-30]}
    prior = {
        "ibcc": IBCCPrior(mean, strength, **rates),
        "cbcc": CBCCPrior(mean, strength, **rates, concentration=ALPHA),
        "hcbcc": HCBCCPrior(mean, strength, Gamma(4.0, 1.0), **rates, concentration=ALPHA),
    }[model]
    return case(model, problem, prior)


CASES = {
    f"{model}, {name}": extreme_case(model, crowded(), *shapes)
    for name, shapes in SHAPES.items()
    for model in ("ibcc", "cbcc", "hcbcc")
}
every_case = pytest.mark.parametrize("one", CASES.values(), ids=CASES)


def parameters(one):
    """hcBCC's clusters: one has the prior of the other models, the next ones are weaker."""
    if one.model != "hcbcc":
        return None, None
    n = one.problem.n_annotators + one.prior.auxiliaries
    beta = one.prior.mean_strength / np.arange(1, n + 1)[:, None]
    return beta, np.tile(one.prior.mean, (n, 1, 1))


def exact_log_labels(one, z, q):
    """log p(Y | z, q, beta, eta) to forty digits."""
    beta, eta = parameters(one)
    prior = one.prior
    total = Decimal(0)
    with localcontext() as context:
        context.prec = 40
        n = count(one.problem, z, lambda l: q[l] if one.model == "cbcc" else l)
        for o in {o for o, _, _ in n}:
            strength, mean = (
                (beta[q[o]], eta[q[o]]) if one.model == "hcbcc" else (prior.strength, prior.mean)
            )
            for t in range(2):
                x = [Decimal(float(strength[t])) * Decimal(float(m)) for m in mean[t]]
                counts = [n[o, t, c] for c in range(3)]
                total += sum(map(log_rising, x, counts)) - log_rising(sum(x), sum(counts))
    return total


@cache
def risings(x):
    """(x)_(n) for n up to the number of labels"""
    return list(itertools.accumulate((x + j for j in range(1600)), mul, initial=Decimal(1)))


@cache
def log_rising(x, n):
    return risings(x)[n].ln()


@every_case
def test_truth_weights_are_differences_of_the_joint(one):
    check_truth_weights(one, Z)


@pytest.mark.parametrize("model", ["ibcc", "cbcc", "hcbcc"])
def test_two_tiny_ratios_multiplied_are_no_zero(model, monkeypatch):
    # no prior may be so small, but what hcBCC draws from one can
    monkeypatch.setattr("coterie.priors.checks.LEAST", 1e-300)
    one = extreme_case(model, one_label_each(), FAR_APART, 1e99)  # 1e-140 times 1e-198
    check_truth_weights(one, {0: 0, 1: 1})


def check_truth_weights(one, truth):
    """The log weights of every item's classes, by every way to weigh them."""
    sampler, data = real(one), one.problem.codes
    seats = {l: l % 2 for l in range(one.problem.n_annotators)}
    beta, eta = parameters(one)
    state = start(sampler, one, truth, seats if one.has_groups else None, beta=beta, eta=eta)
    view, work = at_work(sampler, one, state)
    for i in truth:
        with np.errstate(over="ignore", invalid="ignore"):  # by which the kernel knows
            ways = list(weighed(sampler, i, view, data, work))
        want = []
        for t, weight in enumerate(one.prior.class_weights):
            others = sum(z == t for j, z in truth.items() if j != i)
            want.append(
                np.log(others + weight) + float(exact_log_labels(one, truth | {i: t}, seats))
            )
        for got in ways:
            np.testing.assert_allclose(np.diff(got), np.diff(want), 1e-9)


@pytest.mark.parametrize("short", [False, True], ids=["tables", "short tables"])
@pytest.mark.parametrize("one", [c for c in CASES.values() if c.has_groups], ids=lambda c: c.model)
def test_group_weights_are_differences_of_the_joint(one, short):
    sampler, prior = real(one), pack(real(one), one)
    groups, (beta, eta) = sampler.groups, parameters(one)
    if one.model == "cbcc" and short:
        tables = (table[..., :9].copy() for table in prior.tables)
        prior = prior._replace(tables=type(prior.tables)(*tables))
    for l in range(5):
        state = start(sampler, one, Z, Q, beta=beta, eta=eta)
        room = sampler.model.new_room(state, one.problem.codes)
        if one.model == "cbcc":
            groups.take_out_annotator(l, state, room.cells)
            got = room.weights[: groups.weigh_groups(state, prior, room)]
        else:
            if short:
                room = room._replace(
                    rising=room.rising[..., :9].copy(), rising_row=room.rising_row[..., :9].copy()
                )
            groups.take_out_annotator(l, state, prior, 0.5)
            with np.errstate(over="ignore", invalid="ignore"):
                know_groups(sampler, state, prior, room)
                n_places, in_logs = groups.weigh_groups(l, state, prior, room)
            got = room.weights[:n_places]
            assert in_logs
        want = []
        for place in range(len(got)):
            q = read(one, state)[1] | {l: int(state.slot[place])}
            new = one.model == "hcbcc" and place >= state.n_coteries[0]
            log_seat = log_p_partition(q, ALPHA) - np.log(one.prior.auxiliaries if new else 1)
            want.append(log_seat + float(exact_log_labels(one, Z, q)))
        np.testing.assert_allclose(np.diff(got), np.diff(want), rtol=1e-8, atol=1e-8)
