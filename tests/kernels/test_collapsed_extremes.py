"""Weights where products and tables end: hundreds of labels, tiny and huge shapes."""

import itertools
from copy import copy
from decimal import Decimal, localcontext
from functools import cache
from operator import mul
from unittest.mock import patch

import numpy as np
import pytest

from coterie.kernels import collapsed
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from ladder.cases import HCBCC_2, case
from ladder.collapsed import (
    ALPHA,
    PEOPLE,
    PLAIN,
    forced,
    item_log_weights,
    join,
    move_items,
    people_of,
    reuse,
    start,
    weighed,
)
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
    "weak": (MEAN, 1e-100),
}
Z, Q = {0: 0, 1: 1, 2: 1, 3: 0}, {l: l % 2 for l in range(5)}
MODELS = "ibcc", "cbcc", "hcbcc"


def crowded():
    """Four items with 400 labels each, of five annotators who repeat themselves."""
    rng = np.random.default_rng(1)
    people = np.sort(rng.integers(5, size=(4, 400)), axis=1)
    answers = np.array([rng.choice(3, 400, p=MEAN[i % 2]) for i in range(4)])
    labels = tuple((i, int(people[i, k]), int(answers[i, k])) for i in range(4) for k in range(400))
    return Problem(4, 5, 2, 3, labels)


def extreme_case(model, problem, mean, strength, class_weights=(1.2, 1e-30)):
    prior = {
        "ibcc": IBCCPrior(mean, strength, class_weights),
        "cbcc": CBCCPrior(mean, strength, class_weights, ALPHA),
        "hcbcc": HCBCCPrior(mean, strength, Gamma(4.0, 1.0), class_weights, ALPHA),
    }[model]
    return case(model, problem, prior)


CASES = {
    f"{model}, {name}": extreme_case(model, crowded(), *shapes)
    for name, shapes in SHAPES.items()
    for model in MODELS
}


def begun(one, z, q):
    """The state, and hcBCC's parameters: one has the prior of the others, the next are weaker."""
    beta = eta = None
    if one.model == "hcbcc":
        n = one.problem.n_annotators + one.prior.auxiliaries + 1
        beta = one.prior.mean_strength / np.arange(1, n + 1)[:, None]
        eta = np.tile(one.prior.mean, (n, 1, 1))
    return start(one, z, q if one.has_groups else None, beta, eta), beta, eta


def exact_log_labels(one, z, q):
    """log p(Y | z, q, beta, eta) to forty digits."""
    _, beta, eta = begun(one, Z, Q) if one.problem.n_items == 4 else begun(one, z, q)
    total = Decimal(0)
    with localcontext() as context:
        context.prec = 40
        n = count(one.problem, z, lambda l: q[l] if one.model == "cbcc" else l)
        for o in {o for o, _, _ in n}:
            strength, mean = one.prior.strength, one.prior.mean
            if one.model == "hcbcc":
                strength, mean = beta[q[o]], eta[q[o]]
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


def check_item_weights(one, z, q):
    """The log weights of every item's classes, and the probabilities that sweeps compute."""
    for i in z:
        want = []
        for t, weight in enumerate(one.prior.class_weights):
            others = sum(other == t for j, other in z.items() if j != i)
            want.append(np.log(others + weight) + float(exact_log_labels(one, z | {i: t}, q)))
        got = item_log_weights(one, begun(one, z, q)[0], i)
        np.testing.assert_allclose(np.diff(got), np.diff(want), rtol=1e-9)
        share = np.exp(want - np.logaddexp.reduce(want))
        for looked_up in (True, False):
            with np.errstate(all="ignore"):
                state = begun(one, z, q)[0]
                sums, _ = move_items(collapsed, one, state, [i], forced(0.5), looked_up)
            np.testing.assert_allclose(sums[i], share, rtol=1e-8, atol=1e-190)


@pytest.mark.parametrize("one", CASES.values(), ids=CASES)
def test_item_weights_are_differences_of_the_joint(one):
    check_item_weights(one, Z, Q)


@pytest.mark.parametrize("model", MODELS)
def test_two_tiny_ratios_multiplied_are_no_zero(model, monkeypatch):
    # no prior may be so small, but what hcBCC draws from one can
    monkeypatch.setattr("coterie.priors.base.LEAST", 1e-300)
    problem = Problem(2, 4, 2, 3, ((0, 0, 1), (0, 1, 2), (1, 2, 0), (1, 3, 1)))
    one = extreme_case(model, problem, FAR_APART, 1e99)  # 1e-140 times 1e-198
    check_item_weights(one, {0: 0, 1: 1}, {l: l % 2 for l in range(4)})


@pytest.mark.parametrize("short", [False, True], ids=["tables", "short tables"])
@pytest.mark.parametrize(
    "one", [one for one in CASES.values() if one.has_groups], ids=lambda c: c.model
)
def test_weights_of_people_are_differences_of_the_joint(one, short):
    cut = copy(people_of(one))
    if short and one.model == "cbcc":
        cut.rising = cut.rising[..., :9]
    for l in range(5):
        state, beta, eta = begun(one, Z, Q)

        def step(module, l=l, state=state, beta=beta, eta=eta):
            if one.model == "cbcc":
                return join(module, one, state, [l], forced(0.5))
            return reuse(module, one, state, [l], forced(0.5), beta, eta)

        with (
            patch.object(PLAIN, "LONGEST", 8 if short else 64),
            patch.dict(PEOPLE, {id(one): (one, cut)}),
            np.errstate(all="ignore"),
        ):
            got = weighed(PLAIN, step)
        places, want = np.flatnonzero(got > -np.inf), []
        for m in places:
            seated = Q | {l: int(m)}
            new = one.model == "hcbcc" and m > 1
            log_seat = log_p_partition(seated, ALPHA) - np.log(one.prior.auxiliaries if new else 1)
            want.append(log_seat + float(exact_log_labels(one, Z, seated)))
        assert len(places) == (3 if one.model == "cbcc" else 2 + one.prior.auxiliaries)
        np.testing.assert_allclose(np.diff(got[places]), np.diff(want), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["zeros first", "ones first"])
@pytest.mark.parametrize("n_classes", [2, 50])
@pytest.mark.parametrize("model", MODELS)
def test_four_hundred_labels_that_contradict_each_other(model, n_classes, order):
    """Half say 0, half say 1, all as able: what is left is the class balance, in either order."""
    n, gold = 400, [0, 1] * 10
    said = [(0, l, order[l >= n // 2]) for l in range(n)]
    said += [(i, l, t) for i, t in enumerate(gold, 1) for l in range(n)]
    known = dict(enumerate(gold, 1))
    problem = Problem(len(gold) + 1, n, n_classes, n_classes, tuple(said), known)
    weights = [1.5, 0.5] + [0.8] * (n_classes - 2)
    one = extreme_case(model, problem, 0.7, 3.0, weights)
    for t in range(2):
        state = start(one, known | {0: t}, dict.fromkeys(range(n), 0) if one.has_groups else None)
        if model == "hcbcc":  # a coterie that knows no class from another
            mean = np.eye(n_classes) * 0.4 + 0.6 / n_classes
            state |= {"log_strength": np.full((1, n_classes), 1.0), "log_mean": np.log(mean)[None]}
        sums, _ = move_items(collapsed, one, state, [0], forced(0.5))
        np.testing.assert_allclose(sums[0, 0] / sums[0, 1], 11.5 / 10.5, rtol=1e-9)
        if model != "cbcc":  # whose coterie may call items of a class unseen the one or the other
            np.testing.assert_allclose(sums[0, 2:], 0, atol=1e-100)


def test_underflowed_shapes_keep_their_logs():
    """Weights with eta of e^-2000, which is zero as a float, are still what the joint says."""
    z, q = {0: 0, 1: 1, 2: 0}, {0: 0, 1: 1, 2: 2}
    state = start(HCBCC_2, z, q)
    state["log_mean"][:], state["log_strength"][:] = np.log(0.5), np.log(2.0)
    state["log_mean"][1] = [[-2000.0], [0.0]]
    # Annotators 1 and 2 call item 2 "0"; annotator 1 has called item 0 "0" and item 1 "1",
    # annotator 2 item 0 "1".
    n = np.array([1, 1]) + HCBCC_2.prior.class_weights
    want = [
        np.log(n[0]) + np.log(1 / 3) + np.log(1 / 3),  # (1 + 0) / (1 + 2), (0 + 1) / (1 + 2)
        np.log(n[1]) + (np.log(2) - 2000) - np.log(3) + np.log(0.5),
    ]
    got = item_log_weights(HCBCC_2, state, 2)
    np.testing.assert_allclose(np.diff(got), np.diff(want), rtol=1e-12)
    for looked_up in (True, False):
        sums, _ = move_items(collapsed, HCBCC_2, state, [2], forced(0.999), looked_up)
        assert sums[2].tolist() == [1, 0]
        assert state["truth"][2] == 0
