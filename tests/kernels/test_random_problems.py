"""Chains against enumeration on problems nobody chose."""

import numpy as np
import pytest

from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from ladder.cases import case
from ladder.marks import needs_compiler, rest_slow
from ladder.montecarlo import Chain, assert_means
from ladder.sampler import real
from reference.exact import item_probabilities, predictive
from reference.problem import Problem


def random_problem(rng):
    """Two or three classes, perhaps an extra answer, repeated labels, gold, and gaps."""
    n_classes, n_items, n_annotators = rng.integers([2, 3, 3], [4, 6, 5]).tolist()
    n_answers = n_classes + int(rng.integers(2))
    times = rng.choice([0, 1, 1, 1, 2], (n_items, n_annotators))
    times[rng.integers(n_items)] = 0
    times[:, rng.integers(n_annotators)] = 0
    times[0, 0] = times[1, 1] = 1  # somebody says something
    item, annotator = np.nonzero(times)
    labels = np.repeat(np.column_stack([item, annotator]), times[item, annotator], axis=0)
    answers = rng.integers(n_answers, size=len(labels))
    gold = {int(rng.integers(n_items)): int(rng.integers(n_classes))} if rng.random() < 0.7 else {}
    triples = tuple((int(i), int(l), int(c)) for (i, l), c in zip(labels, answers, strict=True))
    return Problem(n_items, n_annotators, n_classes, n_answers, triples, gold)


def random_case(model, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    n = problem.n_classes
    mean = rng.dirichlet(np.full(problem.n_answers, 2.0), n) + 0.02
    mean /= mean.sum(axis=1, keepdims=True)
    strength, class_weights = rng.gamma(3.0, 1.0, n) + 0.2, rng.gamma(2.0, 0.5, n) + 0.1
    alpha = Gamma(*rng.uniform(0.8, 2.0, 2))
    spread = Gamma(rng.uniform(3, 9, n), rng.uniform(0.5, 2, n))
    prior = {
        "ibcc": IBCCPrior(mean, strength, class_weights),
        "cbcc": CBCCPrior(mean, strength, class_weights, alpha),
        "hcbcc": HCBCCPrior(mean, strength, spread, class_weights, alpha, seed % 4 + 1),
    }[model]
    return case(model, problem, prior)


@needs_compiler
@pytest.mark.parametrize("model", ["ibcc", "cbcc", "hcbcc"])
@pytest.mark.parametrize("seed", rest_slow(range(8), 0, 1, 2, 3))
def test_chain_agrees_with_enumeration(model, seed):
    one = random_case(model, seed)
    problem, posterior = one.problem, one.posterior()
    exact = item_probabilities(problem, posterior)
    unlabelled = np.setdiff1d(np.arange(problem.n_items), problem.counted)
    exact[unlabelled] = predictive(problem, posterior, one.prior.class_weights)
    chain = Chain(real(one), one, seed)
    batches = np.array([chain.sweep(100)[0].probability / 100 for _ in range(100)])
    sites = [(i, t) for i in range(problem.n_items) for t in range(1, problem.n_classes)]
    draws, means = {s: batches[:, *s] for s in sites}, {s: exact[s] for s in sites}
    if one.has_groups:
        draws["clusters"] = chain.sweep(20_000)[1].n_coteries
        means["clusters"] = sum(p * len(set(q)) for (_, q), p in posterior.items())
    assert_means(draws, means)
