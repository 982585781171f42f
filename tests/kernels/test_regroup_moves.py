"""Splits and merges of coteries: every outcome forced, and chains against quadrature."""

import inspect
import itertools
import math
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from scipy.special import gammaln, roots_genlaguerre, roots_jacobi

from coterie.kernels import regroup
from ladder.regroup_moves import (
    ALPHA,
    EXTRA,
    MEAN,
    MODELS,
    PARTITIONS,
    PEOPLE,
    SAID,
    canonical,
    check_balance,
    check_density,
    check_drawn,
    check_fit,
    check_known,
    check_launch,
    check_shared,
    check_tiny,
)
from ladder.tolerances import assert_means
from reference.exact import normalise
from reference.joint import log_p_partition

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


# Whole chains.


def evidence(model, people):
    """p(d, what these people said), beta and eta integrated out, for every point d."""
    nodes = [roots_genlaguerre(48, shape - 1) for shape in model.shape]
    result = []
    for share, weight in zip(model.share, model.weight, strict=True):
        rows = []
        for t in range(2):
            x = nodes[t % len(nodes)][0] / model.rate[t % len(nodes)]
            node, p = roots_jacobi(48, *(weight[::-1, t] - 1))
            eta = np.array([(1 + node) / 2, (1 - node) / 2])[:, None]  # (C, 1, nodes)
            log_p, beta = 0.0, x[:, None]
            for n in SAID[people][:, :, t]:
                log_p = log_p + gammaln(beta) - gammaln(beta + n.sum())
                log_p = log_p + (gammaln(beta * eta + n[:, None, None]) - gammaln(beta * eta)).sum(
                    axis=0
                )
            rows.append(np.exp(log_p) @ (p / p.sum()))
        weights = [w / w.sum() for _, w in nodes]
        apart = math.prod(w @ row for w, row in zip(weights, rows, strict=False))
        result.append(share * (apart if len(nodes) > 1 else weights[0] @ (rows[0] * rows[1])))
    return np.array(result)


def check_chain(model, n_draws):
    """Partitions, and how many people's coteries know, by splits and merges alone."""
    log_p, knows = {}, {}
    for groups in PARTITIONS:
        members = [np.flatnonzero(np.equal(groups, m)) for m in range(max(groups) + 1)]
        each = [evidence(model, np.array(PEOPLE)[who]) for who in members]
        log_p[groups] = log_p_partition(dict(enumerate(groups)), ALPHA)
        log_p[groups] += sum(math.log(one.sum()) for one in each)
        share = [one[-1] / one.sum() for one in each]
        knows[groups] = np.dot(share, list(map(len, members))) / 4
    exact, rng = normalise(log_p), np.random.default_rng(4)
    state = model.state((0, 0, 0, 0), [model.parameters(1)])
    visited, known = [], []
    for _ in range(n_draws):
        regroup.regroup_own(state, model.base, rng, 1)
        seats = state["group"][PEOPLE]
        visited.append(canonical(seats))
        known.append(state["known"][seats].mean() if model.knows else 1.0)
    kept = slice(n_draws // 50, None)
    draws = {g: np.array([v == g for v in visited[kept]], float) for g in exact}
    rare = [g for g, p in exact.items() if p < 50 / n_draws or draws[g].sum() == 0]
    draws = {g: one for g, one in draws.items() if g not in rare}
    assert len(draws) > 5
    wanted = {g: exact[g] for g in draws}
    draws["knows"], wanted["knows"] = np.array(known[kept]), sum(exact[g] * knows[g] for g in exact)
    assert_means(draws, wanted)


CHECKS = [check_density, check_drawn, check_tiny, check_fit, check_balance, check_launch]


@pytest.mark.exact
@every_model
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_exactly(check, model):
    check(model)


@pytest.mark.exact
@pytest.mark.parametrize("check", [check_density, check_drawn, check_balance])
def test_exactly_with_extra_answers(check):
    check(EXTRA)


@pytest.mark.exact
def test_splits_and_merges_of_shared_matrices_are_stationary():
    for alpha in (0.9, 2.5):
        check_shared(None, alpha)


@pytest.mark.exact
def test_what_coteries_know_follows_their_parameters():
    check_known(MODELS["consensus"])


@every_model
def test_partitions_are_visited_as_often_as_they_are_probable(model):
    check_chain(model, 3_000)


@pytest.mark.slow
@every_model
def test_partitions_are_visited_as_often_as_they_are_probable_for_long(model):
    check_chain(model, 100_000)


@pytest.mark.exact
def test_what_is_no_number_is_never_accepted():
    model = MODELS["hcbcc"]
    state = model.state((0, 0, 1, 1), [model.parameters(1)] * 2)
    state["log_mean"][:] = np.nan
    regroup.regroup_own(state, model.base, np.random.default_rng(1), 50)
    assert canonical(state["group"][PEOPLE]) == (0, 0, 1, 1)


@pytest.mark.exact
def test_nobody_and_one_alone_and_people_without_labels_are_left_or_moved_in_peace():
    for model, groups in itertools.product(MODELS.values(), ((-1, -1), (0, -1), (0, 0))):
        state = model.state((0, 0, 0, 0), [model.parameters(1)])
        state["group"][:], state["said"][:] = (*groups, -1, -1, -1), 0
        for step, prior in ((regroup.regroup_own, model.base), (regroup.regroup_shared, MEAN)):
            step(state, prior, np.random.default_rng(2), 20)
            assert (state["group"] < 0).tolist() == [g < 0 for g in (*groups, -1, -1, -1)]


@pytest.mark.exact
def test_proposals_are_a_share_of_the_work_and_never_many():
    for work, cost in ((10, 7), (1_000, 7), (3, 1_000), (35, 7)):
        n = [regroup.proposals(sweep, work, cost) for sweep in range(10_000)]
        assert 0 <= min(n) <= max(n) <= regroup.MOST
        assert all(cost * done <= work * (k + 1) for k, done in enumerate(np.cumsum(n)))
        assert sum(n) >= 10_000 * min(work, cost) // (10 * cost)
    small, large = (regroup.work_of_a_proposal(people, 4) for people in (10, 1_000))
    assert 0 < small < large


# Tests of the tests: other functions in place of these.


def given(name, **change):
    """A function that is given other arguments."""
    own = getattr(regroup, name)

    def bug(*args):
        named = dict(zip(inspect.signature(own).parameters, args, strict=True))
        return own(**{n: change.get(n, lambda x: x)(x) for n, x in named.items()})

    return {name: bug}


def giving(name, change):
    """A function that gives something else: of what it gives, and what it was given."""
    own = getattr(regroup, name)
    return {name: lambda *args: change(own(*args), *args)}


def ratio(change):
    """The ratio of cBCC has this beside it, for a split; or the other way round for a merge."""

    def bug(way, state, seated, typical, weight, rng):
        more = change(way, typical, weight)
        return replace(way, log_ratio=way.log_ratio + (more if way.splits else -more))

    return giving("propose", bug)


def log_so(way, typical, weight):
    odds = regroup.launch(typical[way.members], weight)
    return -np.logaddexp(0, np.where(way.leaves[2:], -odds, odds)).sum()


def log_sizes(way, *_):
    return gammaln(len(way.leaves)) - gammaln(np.bincount(way.leaves)).sum()


def log_partner(way, typical, weight):
    (a, b), apart = way.pair, way.apart
    return -math.log(regroup.partners(a, apart, typical, weight)[b])


OWN, LEARNT = MODELS.values()
BUGS = {
    "CRP factor forgotten": (check_shared, OWN, ratio(lambda *_: -math.log(ALPHA))),
    "sizes forgotten": (
        check_shared, OWN, ratio(log_sizes)
    ),
    "where they go forgotten": (check_shared, OWN, ratio(log_so)),
    "merge weighed as a split": (
        check_shared, OWN,
        giving("propose", lambda way, *_: replace(way, log_ratio=abs(way.log_ratio))),
    ),
    "choice forgotten": (check_shared, OWN, giving("log_choices", lambda *_: 0.0)),
    "partner's probability not said": (check_shared, OWN, ratio(log_partner)),
    "i among those who may leave": (
        check_shared, OWN, ratio(lambda way, *_: math.log(len(way.leaves) / (len(way.leaves) - 1)))
    ),
    "as many coteries on the way back": (
        check_shared, OWN, ratio(lambda way, *_: math.log(1 + 1 / (way.apart.max() + 1)))
    ),
    "prior's weight forgotten": (check_shared, OWN, given("log_together", weight=np.ones_like)),
    "partners alike whatever was said": (
        check_shared, OWN, given("partners", typical=np.ones_like)
    ),
    "emptied coterie kept": (
        check_shared, OWN, given("seat", way=lambda way: replace(way, splits=True))
    ),
    "sides exchanged": (check_launch, OWN, giving("launch", lambda odds, *_: -odds)),
    "density of what is drawn forgotten": (
        check_balance, OWN, giving("log_drawn", lambda log_p, *_: 0 * log_p)
    ),
    "parameters of the other side": (
        check_balance, OWN, given("replaced", sides=lambda x: x[[1, 0, 2]])
    ),
    "emptied coterie's parameters kept": (
        check_balance, OWN,
        giving("replaced", lambda x, *args: x if args[2].splits else np.append(x, x[:1], axis=0)),
    ),
    "labels of the other side": (
        check_balance, LEARNT, given("weigh", way=lambda way: replace(way, leaves=~way.leaves))
    ),
    "screen taken for the whole": (
        check_balance, LEARNT, giving("weigh", lambda found, way, *_: (way.log_weight, found[1]))
    ),
    "totals forgotten": (
        check_density, OWN, given("log_said", over=lambda x: x * [[[[1.0]], [[1.0]], [[0.0]]]][0])
    ),
    "one label too few": (
        check_density, OWN, given("count_over", labels=lambda n: np.maximum(n - 1, 0))
    ),
    "long counts cut": (check_density, OWN, given("log_said", labels=lambda n: np.minimum(n, 64))),
    "density of beta, not of its log": (
        check_drawn, OWN,
        giving("log_drawn", lambda log_p, log_beta, *_: log_p - log_beta.sum(axis=1)),
    ),
    "precision for a scale": (
        check_drawn, LEARNT,
        given("draw", fit=lambda fit: replace(fit, strength_precision=fit.strength_precision**2)),
    ),
    "rates forgotten": (
        check_drawn, OWN, given("draw", fit=lambda fit: replace(fit, log_mean=0 * fit.log_mean))
    ),
    "both densities of eta, not of its log": (
        check_tiny, OWN,
        giving("log_drawn", lambda log_p, _, log_eta, __: log_p - 1e-3 * log_eta.sum(axis=(1, 2))),
    ),
    "fit not at the top": (
        check_fit, OWN, given("fit_sides", over=lambda x: x * [[[[1.0]], [[1.0]], [[0.9]]]][0])
    ),
    "spread forgotten": (
        check_fit, OWN,
        giving("fit_sides", lambda fit, *_: replace(fit, mean_precision=1.5 * fit.mean_precision)),
    ),
    "what is known stays": (check_known, LEARNT, giving("pick", lambda d, *_: 0 * d)),
    "what is known forgotten": (check_known, LEARNT, giving("pick", lambda d, *_: 1 - d)),
}  # fmt: skip


@pytest.mark.exact
@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug):
    check, model, functions = BUGS[bug]
    with mock.patch.multiple(regroup, **functions), pytest.raises(AssertionError):
        check(model)
