"""Blocked samplers of all models but Consensus: their people half, in chains as they are shipped.

The log joint written down, enumeration of truths, kinds and partitions, Geweke, what is kept of a
draw, limits, and planted bugs.
"""

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, polygamma

from coterie.inference.chain import CELLS, BlockedChain
from coterie.kernels import kinds, people
from coterie.kernels.cells import Items
from coterie.kernels.people import OwnPeople, SharedPeople, SimilarPeople, weight_of
from coterie.kernels.space import Space, of_known_kind, with_kinds, with_subtypes
from coterie.priors import CBCCPrior, EasyHardPrior, EBCCPrior, IBCCPrior
from ladder import cases
from ladder.cases import MEAN_2, MEAN_2_OF_3, RATES_2
from ladder.collapsed_evidence import CROWD
from ladder.halves import (
    OFTEN,
    WRONG_SEAT,
    ItemByItem,
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
from ladder.tolerances import assert_means
from reference import cells as reference
from reference.confusion import confusion_moment
from reference.exact import (
    item_probabilities,
    predictive,
)
from reference.joint import (
    log_augmented,
)
from reference.problem import THREE_CLASSES, TWO_CLASSES, TWO_REPEATED, Problem
from reference.rows import Rows, parameters_of

slow = pytest.mark.slow


@dataclass(frozen=True)
class Model(Rows):
    """A model on a problem, and the package's people: from a crowd."""

    make: Any = None

    @property
    def has_cells(self):
        """Whether an item is in more than a class."""
        return len(self.space.class_of) > self.problem.n_classes

    def people(self):
        return self.make(crowd_of(self.problem))

    def live(self, often=False, collapsed=False, **settings):
        """A chain; splits and merges are proposed every other sweep, or often: eight in each."""
        one = self.people()
        for those in (one, getattr(one, "pairs", one)) if often else ():
            those.work = OFTEN
        if collapsed:
            model = CELLS if self.has_cells else COLLAPSED[self.rows]
            return ItemByItem(one, self.problem, model, **settings)
        return Live(one, self.problem, **settings)


COLLAPSED = {"own": "ibcc", "shared": "cbcc", "similar": "hcbcc"}
PEOPLE = {"own": OwnPeople.of, "shared": SharedPeople, "similar": SimilarPeople}


def paper(case):
    """A model of the paper, as tests/ladder/cases.py has it."""
    rows = {model: rows for rows, model in COLLAPSED.items()}[case.model]
    space = reference.classes_alone(case.prior.class_weights)
    return Model(case.problem, case.prior, space, rows, make=lambda c: PEOPLE[rows](case.prior, c))


def with_two_kinds(rows, problem, prior, known=()):
    """The same with two kinds, latent unless they are known."""
    weights, share = prior.class_weights, np.array([0.7, 0.7])
    space = reference.known_kinds(weights, 2) if known else reference.latent_kinds(weights, share)

    def make(crowd):
        cells = of_known_kind(weights, 2) if known else with_kinds(weights, share)
        pairs = PEOPLE[rows](prior, kinds.pairs_of(crowd, 2))
        codes = np.array(known, np.int32) if known else None
        return kinds.KindsPeople(crowd, cells, pairs, codes)

    return Model(problem, prior, space, rows, known, 2, make)


def ebcc(problem, n=2, **settings):
    prior = EBCCPrior(subtypes=n, subtype_weight=0.9, **settings)
    prior = prior.resolve(problem.n_classes, problem.n_answers)

    def make(crowd):
        space = with_subtypes(prior.class_weights, n, 0.9)
        return OwnPeople(crowd, space, weight_of(prior)[:, space.cell_class])

    return Model(problem, prior, reference.subtypes(prior.class_weights, n, 0.9), "own", make=make)


def easy_hard(problem, **settings):
    prior = EasyHardPrior(**settings).resolve(problem.n_classes, problem.n_answers)
    space = reference.latent_kinds(prior.class_weights, prior.kind_weights)
    return Model(
        problem, prior, space, "easy", make=lambda crowd: kinds.EasyHardPeople(prior, crowd)
    )


EASY_3 = [[0.9, 0.06, 0.04], [0.08, 0.85, 0.07]]
PAIRS = Problem(3, 2, 2, 2, ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0), (2, 1, 1)))
SILENT = replace(TWO_REPEATED, n_items=6, n_annotators=4, gold={3: 1, 5: 0})
KINDS_OF_SILENT = (0, 1, 0, 1, 1, 0)
IBCC_OF_3 = IBCCPrior(MEAN_2_OF_3, **RATES_2).resolve(2, 3)
CBCC = CBCCPrior(MEAN_2, **RATES_2, concentration=0.9).resolve(2, 2)
HCBCC = cases.hierarchical(MEAN_2, RATES_2).resolve(2, 2)
HARD = {"mean": MEAN_2_OF_3, "easy_mean": EASY_3, "easy_strength": [9.0, 6.0]}
MODELS = {
    **{
        name: paper(getattr(cases, name))
        for name in (
            "IBCC_2", "IBCC_3", "IBCC_REPEATED", "CBCC_2", "CBCC_3", "CBCC_FIXED", "HCBCC_2",
            "HCBCC_3", "HCBCC_ONE_AUXILIARY", "HCBCC_REPEATED",
        )
    },
    "EBCC": ebcc(SILENT, mean=MEAN_2_OF_3, **RATES_2),
    "EasyHard": easy_hard(SILENT, **HARD, kind_weights=[1.5, 0.8], **RATES_2),
    "latent kinds": with_two_kinds("own", SILENT, IBCC_OF_3),
    "known kinds": with_two_kinds("own", SILENT, IBCC_OF_3, KINDS_OF_SILENT),
    "cBCC, latent kinds": with_two_kinds("shared", PAIRS, CBCC),
    "hcBCC, latent kinds": with_two_kinds("similar", PAIRS, HCBCC),
    "cBCC, known kinds": with_two_kinds("shared", replace(PAIRS, gold={1: 1}), CBCC, (0, 1, 1)),
    "hcBCC, known kinds": with_two_kinds("similar", replace(PAIRS, gold={1: 1}), HCBCC, (0, 1, 1)),
}  # fmt: skip
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
CHAINS = {
    **{name: (model, {}) for name, model in MODELS.items()},
    **{f"{name}, item by item": (model, {"collapsed": True})
       for name, model in MODELS.items() if model.has_cells},
}  # fmt: skip
every_chain = pytest.mark.parametrize(("model", "how"), CHAINS.values(), ids=CHAINS)
QUICK = ["IBCC_REPEATED", "CBCC_2", "HCBCC_2", "EBCC", "EBCC, item by item",
         "EasyHard, item by item", "known kinds, item by item", "cBCC, latent kinds",
         "cBCC, latent kinds, item by item", "hcBCC, known kinds, item by item"]  # fmt: skip


# ---- the log joint, and exact posteriors ----


def check_joint(model, n_sweeps=25, **settings):
    """What is noted is the log joint written down, and counts are a recount, after every sweep."""
    live = model.live(**settings)
    for _ in range(n_sweeps):
        noted, cells = live.sweep(), live.cells
        live.assert_counted()
        want = model.log_joint(live.state, cells)
        np.testing.assert_allclose(noted["log_joint"], want, atol=1e-9, rtol=1e-9)
        labels = reference.log_labels(model.cells_of(live.state), cells)
        np.testing.assert_allclose(noted["log_likelihood"], labels, atol=1e-9, rtol=1e-9)
        truth = [model.space.class_of[f] for f in cells.values()]
        np.testing.assert_array_equal(
            noted["class_total"], np.bincount(truth, minlength=model.problem.n_classes)
        )
        sizes = np.bincount([model.space.kind_of[f] for f in cells.values()], minlength=2)
        if "kind_total" in noted:
            assert noted["kind_total"].tolist() == sorted(sizes.tolist(), reverse=True)
        if model.rows == "easy":
            assert noted["n_hard"] == sizes[1]
        if model.seated:  # pairs of an annotator and a kind count if they have labels now
            of_kind = (
                model.space.kind_of if model.n_kinds > 1 else np.zeros_like(model.space.kind_of)
            )
            spoken = [l * model.n_kinds + of_kind[cells[i]] for i, l, _ in model.problem.labels]
            assert noted["n_coteries"] == len(set(live.state["group"][spoken].tolist()))


@pytest.mark.exact
@every_chain
def test_the_trace_is_the_log_joint_and_counts_are_a_recount(model, how):
    check_joint(model, often=True, **how)


def check_conditionals(model, n_sweeps=12):
    """The item that a sweep moves last is moved by the log joint of all cells that it may be in."""
    live, n_cells = model.live(often=True, collapsed=True), len(model.space.class_of)
    items = live.chain.items
    for _ in range(n_sweeps):
        live.sweep()
        sums, rng = np.zeros((model.problem.n_items, n_cells)), np.random.default_rng(1)
        items.sweep(live.state, live.people, sums, rng)
        last, cells = items.free[-1], live.cells
        logs = np.full(n_cells, -np.inf)
        for f in np.flatnonzero(items.opened[last]):
            logs[f] = model.log_joint(live.state, {**cells, last: f})
        want = np.exp(logs - logs.max())
        np.testing.assert_allclose(sums[last], want / want.sum(), rtol=1e-9)
        live.assert_counted()
        items.free = np.roll(items.free, 1)


@pytest.mark.exact
@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.has_cells])
def test_items_are_moved_by_the_log_joint(name):
    check_conditionals(MODELS[name])


def check_enumeration(model, n=3_000, thin=2, seed=1, least=10, **settings):
    """Cells and partitions that a chain visits have the exact probabilities."""
    live, visited, log_joint, n_seats = model.live(seed=seed, **settings), [], [], []
    for sweep in range(100 + n * thin):
        noted = live.sweep()
        if sweep >= 100 and sweep % thin == 0:
            visited.append((tuple(live.cells.values()), live.seats()))
            log_joint.append(noted["log_joint"])
            n_seats.append(len(set(live.seats())))
    assert_visits(visited, model.exact, log_joint, n_seats, least=least)


@needs_compiler
@pytest.mark.parametrize("name", QUICK)
def test_visited_states_have_the_exact_probabilities(name):
    model, how = CHAINS[name]
    check_enumeration(model, **how)


@needs_compiler
@slow
@every_chain
def test_visited_states_have_the_exact_probabilities_in_long_chains(model, how):
    check_enumeration(model, n=10_000, seed=2, often=True, **how)


@needs_compiler
@slow
@pytest.mark.parametrize("collapsed", [False, True], ids=["blocked", "item by item"])
@pytest.mark.parametrize("name", ["IBCC_3", "CBCC_3", "HCBCC_3"])
def test_averages_and_matrices_have_the_exact_moments(name, collapsed):
    """Averaged conditionals of items; means, draws and squared draws of matrices; class balance.

    The annotator without labels is the predictive, and so is the item.
    """
    case, model = getattr(cases, name), MODELS[name]
    problem, posterior = case.problem, case.posterior()
    live, sources, rows = model.live(True, collapsed, burn_in=0), streams(0, 1, 2), []
    before = np.zeros((problem.n_items, problem.n_classes))
    for _ in range(6_000):
        for _ in range(2):
            live.sweep()
        kept, sums = live.people.keep(live.state, sources, True), live.sums().copy()
        rows.append([kept["confusion_mean"], kept["confusion"], kept["class_balance"],
                     (sums - before) / 2])  # fmt: skip
        before = sums
    mean, drawn, balance, items = (np.array(some) for some in zip(*rows, strict=True))
    first, second = confusion_moment(case, 1), confusion_moment(case, 2)
    sites = list(np.ndindex(first.shape))
    for chains, exact in ((mean, first), (drawn, first), (drawn**2, second)):
        assert_means({s: chains[:, *s] for s in sites}, {s: exact[s] for s in sites})
    next_one = predictive(problem, posterior, case.prior.class_weights)
    assert_means(dict(enumerate(balance.T)), dict(enumerate(next_one)))
    want = item_probabilities(problem, posterior)
    want[np.setdiff1d(np.arange(problem.n_items), problem.counted)] = next_one
    sites = [(i, t) for i in range(problem.n_items) for t in range(1, problem.n_classes)]
    assert_means({s: items[:, *s] for s in sites}, {s: want[s] for s in sites})


# ---- Geweke ----


def statistics(model, cells, state, answers):
    """What is compared: classes, kinds, who is right, coteries and their parameters."""
    labels, space = sorted(model.problem.labels), model.space
    truth = np.array([space.class_of[cells[i]] for i, _, _ in labels])
    kind = np.array([space.kind_of[cells[i]] for i, _, _ in labels])
    right, first = answers == truth, np.array([l == 0 for _, l, _ in labels])
    totals = np.bincount([space.class_of[f] for f in cells.values()], minlength=3)
    n_kind = sum(space.kind_of[f] == 0 for f in cells.values())
    found = {
        "class 0": totals[0], "class 0 squared": totals[0] ** 2, "class 1": totals[1],
        "right": right.sum(), "first right": right[first].sum() ** 2,
        "answer 1 in class 0": ((answers == 1) & (truth == 0)).sum(),
    }  # fmt: skip
    if max(space.kind_of):
        found |= {
            "kind 0": n_kind, "kind 0 squared": n_kind**2, "class 0 and kind 0": n_kind * totals[0],
            "right in kind 0": right[kind == 0].sum(),
        }  # fmt: skip
    if model.seated:
        q, log_alpha = state["group"], state["log_concentration"][0]
        found |= {
            "concentration": np.exp(log_alpha), "log concentration": log_alpha,
            "coteries": q.max() + 1, "together": q[0] == q[1],
            "together and right": (q[0] == q[1]) * right.sum(),
            "last alone": (q == q[-1]).sum() == 1,
        }  # fmt: skip
    if model.rows == "similar":
        beta, eta = parameters_of(state)
        found |= {
            "strength": beta[q[0], 0], "mean": eta[q[0], 1, 1],
            "mean and right": eta[q[0], 1, 1] * right[first].sum(),
            "strength of the last, right": beta[q[-1], 1] * right.sum(),
        }  # fmt: skip
    return found


def simulate_chain(model, n, rng, **settings):
    """Alternate a sweep and new answers; the live state is kept."""
    live = model.live(seed=int(rng.integers(2**31)), **settings)
    problem, codes = model.problem, model.problem.codes
    item = np.repeat(np.arange(problem.n_items), np.diff(codes.item_start))
    assert not problem.gold
    for sweep in range(n + n // 20):  # it starts anywhere
        live.sweep()
        cells = live.cells
        answers = model.draw_answers(cells, live.state, rng)
        live.session.answer(answers)
        said = live.state["said"] = np.zeros_like(live.state["said"])
        np.add.at(said, (codes.item_annotator, answers, [cells[i] for i in item]), 1)
        if sweep >= n // 20:
            yield statistics(model, cells, live.state, answers)


def check_geweke(model, n=2_500, seed=1, **settings):
    """Prior-then-data against a chain that alternates a sweep and new data."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n):
        cells, state = model.draw_prior(rng)
        rows.append(statistics(model, cells, state, model.draw_answers(cells, state, rng)))
    assert_agree(columns(rows), columns(simulate_chain(model, n, rng, **settings)))


def of_crowd(name):
    """A model of the paper with three classes, on the crowd of Geweke's test."""
    return paper(replace(getattr(cases, name), problem=CROWD))


GEWEKE = {
    "iBCC": of_crowd("IBCC_3"),
    "cBCC": of_crowd("CBCC_3"),
    "hcBCC": of_crowd("HCBCC_3"),
    "EBCC": ebcc(TWO_CLASSES, mean=MEAN_2, **RATES_2),
    "EasyHard": easy_hard(
        TWO_CLASSES, mean=MEAN_2, kind_weights=[1.5, 0.8], easy_strength=8.0, **RATES_2
    ),
    "latent kinds": with_two_kinds("own", TWO_CLASSES, IBCCPrior(MEAN_2, **RATES_2).resolve(2, 2)),
    "cBCC, latent kinds": with_two_kinds("shared", PAIRS, CBCC),
    "hcBCC, latent kinds": with_two_kinds("similar", PAIRS, HCBCC),
    "hcBCC, known kinds": with_two_kinds("similar", PAIRS, HCBCC, (0, 1, 1)),
}


@needs_compiler
@pytest.mark.parametrize(
    ("name", "collapsed"), [("iBCC", False), ("hcBCC", False), ("EBCC", True), ("EasyHard", True)]
)
def test_prior_and_chain_agree(name, collapsed):
    check_geweke(GEWEKE[name], collapsed=collapsed)


@needs_compiler
@slow
@pytest.mark.parametrize("collapsed", [False, True], ids=["blocked", "item by item"])
@pytest.mark.parametrize("model", GEWEKE.values(), ids=GEWEKE)
def test_prior_and_chain_agree_for_long(model, collapsed):
    if collapsed and not model.has_cells:
        pytest.skip("asked in test_collapsed.py")
    check_geweke(model, n=10_000, seed=3, often=model.n_kinds > 1, collapsed=collapsed)


# ---- the draws of one sweep: which shapes they have ----


def said_by_row(model, known, cells):
    """Labels of every row of the reference."""
    n = np.zeros(known.shapes.shape)
    np.add.at(
        n, tuple(np.array([(known.row[l, cells[i]], c) for i, l, c in model.problem.labels]).T), 1
    )
    return n


def check_matrices(model):
    """Dirichlets have the shapes of the reference's rows and their counts; a row is drawn once."""
    live = model.live(seed=4)
    live.sweep()
    for _ in range(50 if "group" in live.state else 4):
        if len(set(live.seats())) < 2:  # who sits where matters
            live.sweep()
    assert len(set(live.seats())) > 1 or "group" not in live.state
    one, state = live.people, dict(live.state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimilarPeople, "draw_parameters", lambda *_: None)
        chance = np.exp(one.draw(state, Means()))
        drawn = one.draw(state, np.random.default_rng(1))
    known = model.cells_of(state)
    want = mean_draw(known.shapes + said_by_row(model, known, live.cells))
    for l, f in itertools.product(model.problem.active, range(len(model.space.class_of))):
        np.testing.assert_allclose(chance[l, :, f], want[known.row[l, f]], rtol=1e-12)
        for k in model.problem.active:
            same = np.array_equal(drawn[l, :, f], drawn[k, :, f])
            assert same == (known.row[l, f] == known.row[k, f])


@pytest.mark.exact
@every_model
def test_matrices_of_a_sweep_are_drawn_from_their_counts(model):
    check_matrices(model)


def check_shares(model):
    live = model.live()
    live.sweep()
    n, space = live.cells, model.space
    logs, want = live.people.space.draw(live.state["cell_total"], Means()), 0.0
    expected = np.ones(len(logs))
    for option, weight in zip(space.choices, space.weights, strict=True):
        drawn, mean = {}, {}
        for block in {b for b, _ in weight}:
            some = [o for o in weight if o[0] == block]
            shapes = [weight[o] + sum(option[f] == o for f in n.values()) for o in some]
            drawn |= dict(zip(some, np.log(mean_draw(shapes)), strict=True))
            mean |= dict(zip(some, np.array(shapes) / sum(shapes), strict=True))
        want = want + np.array([drawn[o] for o in option])
        expected *= [mean[o] for o in option]
    np.testing.assert_allclose(logs, want, atol=1e-12)
    np.testing.assert_allclose(live.people.space.shares(live.state["cell_total"]), expected)


@pytest.mark.exact
@every_model
def test_shares_of_cells_are_drawn_from_their_counts(model):
    check_shares(model)


# Members of one coterie, their n[t, c]; the last has no labels of class 0, nobody of class 1.
MEMBERS = (((3, 1), (0, 0)), ((2, 2), (0, 0)), ((1, 0), (0, 0)), ((0, 0), (0, 0)))
TABLES = (((2, 1), (0, 0)), ((1, 2), (0, 0)), ((1, 0), (0, 0)), ((0, 0), (0, 0)))
NU = (0.7, 0.4, 0.55, 0.5)


def one_coterie(members, log_strength):
    """A state in which all are of one coterie."""
    said = np.array(members, np.int32).swapaxes(1, 2)
    state = {"group": np.zeros(len(said), np.int32), "said": said}
    log_mean = np.log(np.full((1, *said.shape[1:]), 0.5))
    return state | {"log_strength": np.full((1, said.shape[2]), log_strength), "log_mean": log_mean}


def check_parameters(people_of=SimilarPeople):
    """beta and eta have the densities of the augmented joint, given nu and s."""
    case = cases.HCBCC_2
    one, state = people_of(case.prior, crowd_of(TWO_CLASSES)), one_coterie(MEMBERS, 0.3)
    decay = np.array([sum(-math.log(x) for x, n in zip(NU, MEMBERS, strict=True) if sum(n[0])), 0])
    rate = np.asarray(case.prior.strength.rate) + decay
    with pytest.MonkeyPatch.context() as patch:
        sums = np.sum(TABLES, axis=0).T[None]
        patch.setattr(people, "draw_tables", lambda *_: sums)
        patch.setattr(people, "draw_log_rate", lambda *_: np.log(rate)[None])
        one.draw_parameters(state, Means())
    shape = np.exp(state["log_strength"][0]) * rate
    eta = np.exp(state["log_mean"][0])
    for t in range(2):
        n, s = [m[t] for m in MEMBERS], [m[t] for m in TABLES]
        betas = [0.4, 2.0, 7.0]
        want = [log_augmented(n, case.prior, t, beta, (0.35, 0.65), NU, s) for beta in betas]
        got = stats.gamma.logpdf(betas, shape[t], scale=1 / rate[t])
        np.testing.assert_allclose(got - got[0], np.array(want) - want[0], rtol=1e-9)
        shapes = case.prior.mean_strength[t] * case.prior.mean[t] + np.sum(s, axis=0)
        np.testing.assert_allclose(eta[:, t], mean_draw(shapes), rtol=1e-12)
        etas = [(0.1, 0.9), (0.5, 0.5), (0.8, 0.2)]
        want = [log_augmented(n, case.prior, t, 2.0, one, NU, s) for one in etas]
        got = np.array([stats.dirichlet.logpdf(one, shapes) for one in etas])
        np.testing.assert_allclose(got - got[0], np.array(want) - want[0], rtol=1e-9)


@pytest.mark.exact
def test_parameters_have_the_densities_of_the_augmented_joint():
    check_parameters()


def check_log_rate(n_draws=4_000):
    """b - sum of log nu: nu[l, t] ~ Beta(beta, n[l, t]) where n > 0, by its law and two moments."""
    rng, rate = np.random.default_rng(5), np.array([0.3, 1.1])
    alone, beta = one_coterie((((3, 1), (0, 0)),), math.log(1.7)), 1.7
    draws = np.array([people.draw_log_rate(alone, rate, rng)[0] for _ in range(n_draws)])
    np.testing.assert_allclose(draws[:, 1], math.log(rate[1]))  # nobody said anything
    nu = np.exp(rate[0] - np.exp(draws[:, 0]))
    assert stats.kstest(nu, stats.beta(beta, 4).cdf).pvalue > 1e-4
    some = one_coterie((((5, 2), (1, 0)), ((1, 0), (0, 3)), ((0, 0), (2, 2))), math.log(beta))
    draws = np.array([people.draw_log_rate(some, rate, rng)[0] for _ in range(n_draws)])
    decay = np.exp(draws) - rate
    for t, n in enumerate(([7, 1], [1, 3, 4])):
        mean = sum(digamma(beta + k) - digamma(beta) for k in n)
        variance = sum(polygamma(1, beta) - polygamma(1, beta + k) for k in n)
        spread = (decay[:, t] - mean) ** 2
        assert_means({0: decay[:, t], 1: spread}, {0: mean, 1: variance})
    tied, seeds = some | {"log_strength": some["log_strength"][:, :1]}, range(2)
    of_any = [people.draw_log_rate(one, rate * 0, np.random.default_rng(k)) for k in seeds
              for one in (some, tied)]  # fmt: skip
    np.testing.assert_array_equal(of_any[::2], of_any[1::2])  # one strength for all classes
    tiny = people.draw_log_rate(one_coterie(MEMBERS, -1_000.0), rate, rng)[0]
    assert np.isfinite(tiny).all()
    assert abs(tiny[0] - 1_000) < 20  # nu is U^(1 / beta)


@pytest.mark.exact
def test_the_rate_of_a_strength_is_that_of_fresh_nu():
    check_log_rate()


@pytest.mark.exact
def test_fresh_coteries_are_drawn_from_the_prior():
    case = cases.HCBCC_3
    fresh = SimilarPeople(case.prior, crowd_of(case.problem)).fresh({}, 2, Means())
    strength, weight = case.prior.strength, case.prior.mean_strength[:, None] * case.prior.mean
    want = [np.divide(strength.shape, strength.rate)] * 2
    np.testing.assert_allclose(np.exp(fresh["log_strength"]), want, rtol=1e-12)
    for eta in fresh["log_mean"]:
        np.testing.assert_allclose(np.exp(eta).T, mean_draw(weight), rtol=1e-12)


# ---- what is kept of a draw ----


def check_kept(model):
    """Means are those of many drawn matrices, and the reference's given the state."""
    live = model.live(seed=6)
    for _ in range(20):
        live.sweep()
    kept, mean = check_means(live), live.people.keep(live.state, streams(0, 1, 2), False)
    mean = mean["confusion_mean"]
    if model.n_kinds == 1 and model.rows != "easy" and len(model.space.class_of) == mean.shape[1]:
        known = model.cells_of(live.state)
        shapes = known.shapes + said_by_row(model, known, live.cells)
        for l, t in itertools.product(model.problem.active, range(mean.shape[1])):
            want = shapes[known.row[l, t]] / shapes[known.row[l, t]].sum()
            np.testing.assert_allclose(mean[l, t], want, rtol=1e-9)
    if model.seated and model.n_kinds == 1:
        check_newcomers(model, live.state, kept)


def check_newcomers(model, state, kept):
    """Who has no labels joins a coterie in proportion to its size, or opens one; in cBCC shares."""
    group, problem = state["group"], model.problem
    others = np.setdiff1d(np.arange(problem.n_annotators), problem.active)
    size, alpha = np.bincount(group[group >= 0]), float(np.exp(state["log_concentration"][0]))
    for l in others:
        joined = [one["partition"][problem.active] == one["partition"][l] for one in kept]
        first = [group[problem.active] == m for m in range(len(size))]
        want = [*(size / (size.sum() + alpha)), alpha / (size.sum() + alpha)]
        seen = [sum((one == row).all() for one in joined) for row in first]
        seen.append(sum(not one.any() for one in joined))
        error = np.sqrt(len(kept) * np.multiply(want, np.subtract(1, want)))
        assert (np.abs(np.array(seen) - len(kept) * np.array(want)) < 4.5 * error + 1e-9).all()
        for one in kept[:50] if model.rows == "shared" else ():
            same = [np.array_equal(one["confusion"][l], one["confusion"][k]) for k in range(l + 1)]
            assert same == [one["partition"][l] == one["partition"][k] for k in range(l + 1)]


QUICKLY = "IBCC_3", "CBCC_3", "HCBCC_3", "EBCC", "EasyHard"


@pytest.mark.parametrize(
    "model",
    [pytest.param(MODELS[n], id=n) for n in QUICKLY]
    + [pytest.param(MODELS[n], id=n, marks=slow) for n in MODELS if "kinds" in n],
)
def test_means_are_those_of_drawn_matrices(model):
    check_kept(model)


def check_newcomer_s_matrix():
    """Where members hardly differ, a newcomer has the matrix of the coterie that they join."""
    model, (newcomer, *others) = MODELS["HCBCC_3"], (2, 0, 1, 3)
    live = model.live()
    live.sweep()
    eta = np.array([np.eye(3, 4), np.eye(3, 4)[[1, 2, 0]]]).swapaxes(1, 2) * 0.97 + 0.0075
    state = {**live.state, "group": np.array([0, 0, -1, 1]), "log_concentration": np.log([2.0])}
    state |= {"log_strength": np.full((2, 3), math.log(1e9)), "log_mean": np.log(eta)}
    opened = 0
    for k in range(200):
        kept = live.people.keep(state, streams(0, 1, k), True)
        matrix, partition = kept["confusion"], kept["partition"]
        same = [np.abs(matrix[newcomer] - matrix[l]).max() < 1e-3 for l in others]
        assert same == [partition[newcomer] == partition[l] for l in others]
        opened += not any(same)
    assert 0 < opened < 200


@pytest.mark.exact
def test_a_newcomer_has_the_matrix_of_the_coterie_that_the_draw_seats_them_in():
    check_newcomer_s_matrix()


def test_rows_are_dirichlet():
    """By the law of each entry, and a product that pins their dependence."""
    state = {"said": np.array([[[0, 2], [3, 0], [1, 0]]] * 3_000, np.int32)}
    weight = np.array([[0.5, 1.0], [3.0, 0.4], [1.5, 0.6]])
    crowd = crowd_of(TWO_CLASSES)._replace(n_labels=np.ones(3_000, int))
    one = OwnPeople(crowd, MODELS["IBCC_2"].people().space, weight)
    for drawn in (one.matrices(state, None, streams(1, 2, 3)),
                  np.exp(one.draw(state, np.random.default_rng(4)))):  # fmt: skip
        for t in range(2):
            shapes, p = weight[:, t] + state["said"][0, :, t], drawn[:, :, t]
            for c, x in enumerate(shapes):
                law = stats.beta(x, shapes.sum() - x)
                assert stats.kstest(p[:, c], law.cdf).pvalue > 1e-4
            exact = shapes[0] * shapes[1] / (shapes.sum() * (shapes.sum() + 1))
            assert_means({t: p[:, 0] * p[:, 1]}, {t: exact})


@pytest.mark.exact
def test_rows_of_underflowed_shapes_are_one_answer_drawn_from_the_mean():
    n, mean = 3_000, np.array([0.2, 0.3, 0.5])
    said, logs = np.zeros((n, 3, 1), np.int32), np.log(mean)[:, None] + np.full((n, 3, 1), -1e4)
    drawn = people.own_matrices(said, np.exp(logs), logs, np.arange(n) % 2 == 0, streams(1, 2, 3))
    assert set(drawn.ravel()) == {0.0, 1.0}
    assert stats.chisquare(drawn.sum(axis=(0, 2)), n * mean).pvalue > 1e-4
    np.testing.assert_allclose(people.mean_of(said, np.exp(logs), logs)[0, :, 0], mean)


# ---- bystanders, and nobody at all ----

SETTINGS_3 = {"mean": cases.MEAN_3, **cases.RATES_3}
ON_THREE = {
    **{name: lambda problem, name=name: replace(MODELS[name], problem=problem)
       for name in ("IBCC_3", "CBCC_3", "HCBCC_3")},
    "EBCC": lambda problem: ebcc(problem, **SETTINGS_3),
    "EasyHard": lambda problem: easy_hard(problem, **SETTINGS_3),
    **{f"{rows}, kinds": lambda problem, rows=rows, case=case: with_two_kinds(
        rows, problem, case.prior)
       for rows, case in zip(PEOPLE, cases.LARGER, strict=True)},
}  # fmt: skip


@pytest.mark.exact
@pytest.mark.parametrize("make", ON_THREE.values(), ids=ON_THREE)
def test_the_silent_change_nobodys_bits(make):
    check_silent(make)
    if make(THREE_CLASSES).has_cells:
        check_silent(make, collapsed=True)


@pytest.mark.exact
@pytest.mark.parametrize("make", ON_THREE.values(), ids=ON_THREE)
@pytest.mark.parametrize("collapsed", [False, True], ids=["blocked", "item by item"])
def test_no_labels_at_all_give_the_prior(make, collapsed):
    model = make(replace(THREE_CLASSES, labels=(), gold={0: 1}))
    live = model.live(burn_in=0, collapsed=collapsed and model.has_cells)
    noted = [live.sweep() for _ in range(20)]
    assert np.isfinite([one["log_joint"] for one in noted]).all()
    assert [one.get("n_coteries", 0) for one in noted] == [0] * 20
    weight = np.add(model.prior.class_weights, [0, 1, 0])
    shares = live.sums() @ np.eye(3)[model.space.class_of] / 20
    np.testing.assert_allclose(shares[1:], [weight / weight.sum()] * 5)
    kept = live.people.keep(live.state, streams(1, 2, 3), True)
    mean = model.prior.mean
    if model.rows != "easy":
        np.testing.assert_allclose(kept["confusion_mean"], [mean] * 4, rtol=1e-12)
    np.testing.assert_allclose(kept["confusion"].sum(axis=2), 1)


# ---- planted bugs: another function in the place of one; each is caught by a check above ----


def check_briefly(model, **settings):
    check_enumeration(model, n=2_000, thin=1, least=4, **settings)


def check_pairs():
    check_conditionals(GEWEKE["EasyHard"])


def check_joint_by_item(model):
    check_joint(model, collapsed=True)


def columns_with(**changes):
    """People say where labels are from, but for something."""

    def plant(columns):
        def bug(one, state):
            found = columns(one, state)
            return found._replace(
                **{name: to(getattr(found, name)) for name, to in changes.items()}
            )

        return bug

    return plant


def blocks_alone(sweep):
    def bug(items, *args):
        items.whole = items.whole * 0 + 1e9  # as if every step had one block
        return sweep(items, *args)

    return bug


def all_open(start):
    def bug(items, *args):
        items.opened[:] = True
        return start(items, *args)

    return bug


def no_weights(order):
    """What items are given, but for their prior."""
    if order.given is None:
        return order
    weight = (order.given.weight > 0) + 0.0
    with np.errstate(divide="ignore"):
        return order._replace(given=order.given._replace(weight=weight, log_weight=np.log(weight)))


def counts_are_not_forgotten(sweep):
    def bug(session, order):
        totals = sweep(session, order)
        totals.said[:] += getattr(session, "before", 0)
        session.before = totals.said.copy()
        return totals

    return bug


def nested_factor_forgotten(log_p):
    return lambda space, total: log_p(replace(space, steps=space.steps[:1]), total)


def first_alone(said_together):
    def bug(one, state):
        said = said_together(one, state)
        said[state["group"][0]] = state["said"][0]
        return said

    return bug


def said(change):
    return instead(state=lambda state: {**state, "said": change(state["said"])})


def everybody_draws(draw):
    def bug(one, state, rng):
        shapes = one.said_together(state)[state["group"]] + one.weight
        return people.log_dirichlet(shapes, rng, axis=1)

    return bug


def tables_forgotten(draw_parameters):
    def bug(one, state, rng):
        draw_parameters(one, state, rng)
        state["log_mean"] = people.log_dirichlet(one.mean_weight[None], rng, axis=1)

    return bug


NOTHING = instead(cell_total=lambda total: total * 0)
TRANSPOSED = instead(prior=lambda prior: replace(prior, mean=np.asarray(prior.mean).T))
WRONG_SEATS = instead(seats=lambda seats: seats._replace(seat=np.minimum(seats.seat, 0)))
BUGS = [
    (Session, "sweep", instead(order=no_weights), check_briefly, "IBCC_2"),
    (Session, "sweep", counts_are_not_forgotten, check_joint, "IBCC_2"),
    (BlockedChain, "_stream", instead(sweep=lambda _: 0), check_briefly, "CBCC_2"),
    (Space, "draw", NOTHING, check_shares, "EBCC"),
    (Space, "shares", NOTHING, check_shares, "EBCC"),
    (Space, "log_p", nested_factor_forgotten, check_joint, "EBCC"),
    (Space, "row_of", instead(gold=lambda gold: gold * 0 - 1), check_joint, "IBCC_3"),
    (Space, "row_of", instead(kind=lambda kind: 1 - kind), check_joint, "known kinds"),
    (people, "weight_of", TRANSPOSED, check_joint, "CBCC_2"),
    (OwnPeople, "draw", without("said"), check_matrices, "IBCC_3"),
    (OwnPeople, "means", without("said"), check_kept, "IBCC_3"),
    (SimilarPeople, "means", without("said"), check_kept, "HCBCC_3"),
    (SharedPeople, "said_together", first_alone, check_matrices, "CBCC_2"),
    (SharedPeople, "draw", everybody_draws, check_matrices, "CBCC_2"),
    (people, "draw_log_rate", said(lambda n: np.maximum(n - 1, 0)), check_log_rate, ""),
    (people, "draw_log_rate", said(lambda n: np.maximum(n, 1)), check_log_rate, ""),
    (SimilarPeople, "draw_parameters", keeps("log_strength"), check_parameters, ""),
    (SimilarPeople, "draw_parameters", tables_forgotten, check_parameters, ""),
    (SimilarPeople, "draw_matrices", WRONG_SEAT, check_matrices, "HCBCC_2"),
    (SimilarPeople, "seat_people", parameters_stay, check_joint, "HCBCC_2"),
    (people.SeatedPeople, "draw_alpha", keeps("log_concentration"), check_briefly, "CBCC_2"),
    (people, "draw_crp", instead(concentration=lambda _: math.exp(50.0)), check_kept, "CBCC_3"),
    (SimilarPeople, "matrices", WRONG_SEATS, check_newcomer_s_matrix, ""),
    (OwnPeople, "columns", columns_with(base=lambda base: base[::-1]), check_conditionals, "EBCC"),
    (SharedPeople, "columns", columns_with(shared=lambda _: False), check_conditionals,
     "cBCC, latent kinds"),
    (kinds.EasyHardPeople, "columns", columns_with(shared=lambda _: False), check_pairs, ""),
    (kinds.KindsPeople, "columns", columns_with(place=lambda place: place[::-1]),
     check_conditionals, "cBCC, latent kinds"),
    (SimilarPeople, "columns", columns_with(logs=lambda logs: logs[::-1]), check_conditionals,
     "hcBCC, latent kinds"),
    (Items, "sweep", blocks_alone, check_conditionals, "EBCC"),
    (Items, "start", all_open, check_joint_by_item, "known kinds"),
    (kinds.KindsPeople, "from_pairs", instead(array=lambda a: a[::-1]), check_matrices,
     "latent kinds"),
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize(("owner", "name", "bug", "check", "model"), BUGS)
def test_planted_bug_is_caught(owner, name, bug, check, model, monkeypatch):
    monkeypatch.setattr(owner, name, bug(getattr(owner, name)))
    with pytest.raises(AssertionError):
        check(*[MODELS[model]] if model else ())


@needs_compiler
@pytest.mark.parametrize("name", ["IBCC_2", "CBCC_2"])
def test_without_a_bug_brief_chains_pass(name):
    check_briefly(MODELS[name])
