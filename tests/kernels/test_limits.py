"""Where models end: limits in which one is another, weak and strong priors, many classes."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from coterie.kernels import kinds, people
from coterie.kernels.space import of_known_kind, with_kinds, with_subtypes
from coterie.priors import CBCCPrior, Gamma, HCBCCPrior, IBCCPrior
from kernels.test_people import (
    MODELS,
    ON_THREE,
    PEOPLE,
    easy_hard,
    ebcc,
    paper,
    with_two_kinds,
)
from ladder import cases
from ladder.cases import MEAN_2, RATES_2
from ladder.halves import streams
from ladder.marks import needs_compiler
from reference.cells import log_dirichlet_multinomial
from reference.exact import all_partitions
from reference.problem import THREE_CLASSES, TWO_CLASSES, Problem

# ---- limits in which one model is another ----


def alike(one, other, n=40, **settings):
    """Two models take the same steps with the same numbers."""
    lives = [model.live(seed=5, **settings) for model in (one, other)]
    for _ in range(n):
        first, second = (live.sweep() for live in lives)
        assert lives[0].cells == lives[1].cells
        for name in second:
            np.testing.assert_allclose(first[name], second[name], rtol=1e-9)
        assert lives[0].seats() == lives[1].seats()
    kept = [live.people.keep(live.state, streams(1, 2, 3), True) for live in lives]
    for name in ("confusion", "confusion_mean", "class_balance"):
        np.testing.assert_allclose(kept[0][name], kept[1][name], rtol=1e-9)


@pytest.mark.exact
@pytest.mark.parametrize("name", ["IBCC_3", "CBCC_3", "HCBCC_3"])
@pytest.mark.parametrize("known", [False, True], ids=["latent", "known"])
def test_one_kind_is_the_model_without(name, known):
    plain = MODELS[name]
    weights, problem = plain.prior.class_weights, plain.problem

    def make(crowd):
        space = of_known_kind(weights, 1) if known else with_kinds(weights, np.ones(1))
        codes = np.zeros(problem.n_items, np.int32) if known else None
        return kinds.KindsPeople(crowd, space, plain.make(kinds.pairs_of(crowd, 1)), codes)

    alike(replace(plain, make=make), plain)


@pytest.mark.exact
def test_ebcc_with_one_subtype_is_ibcc():
    settings = {"mean": cases.MEAN_3, **cases.RATES_3}
    alike(ebcc(THREE_CLASSES, 1, **settings), MODELS["IBCC_3"])


def log_p(model, cells, q=None, alpha=0.6):
    """The package's log joint of a state made to order: members by pair, if there are coteries.

    In hcBCC all are of one coterie, which nobody leaves while they are weighed.
    """
    one, space = model.people(), model.people().space
    state = {"cell_total": np.bincount(list(cells.values()), minlength=len(space.cell_class))}
    problem = model.problem
    shape = problem.n_annotators, problem.n_answers, len(space.cell_class)
    state["said"] = np.zeros(shape, np.int32)
    for i, l, c in problem.labels:
        state["said"][l, c, cells[i]] += 1
    if q is not None:
        state |= {"group": np.array(q, np.int32), "log_concentration": np.log([alpha])}
    if model.rows == "shared":
        inner = one.inner(state) if model.n_kinds > 1 else state
        own = one.pairs if model.n_kinds > 1 else one
        log_labels = people.log_marginal(own.said_together(inner), own.weight)
    else:
        if model.rows == "similar":
            state |= {"log_concentration": np.array([-1e9]), "log_strength": np.log([[1.5, 4.0]])}
            state["log_mean"] = np.log([[[0.7, 0.2], [0.3, 0.8]]])
        log_labels = one.move(state, 0, np.random.default_rng(0))
        assert q is None or not state["group"].any()
    return one.trace(state, log_labels)["log_joint"]


def assert_one_apart(found):
    assert len(found) >= 8
    assert np.ptp(found) < 1e-8


ONLY = {kept: np.where(np.arange(2) == kept, 1.0, 1e-12) for kept in (0, 1)}


@pytest.mark.exact
@pytest.mark.parametrize("kept", [0, 1])
def test_a_point_mass_of_kinds_is_the_model_without(kept):
    """EasyHard is iBCC if all is hard, and cBCC with one coterie if all is easy; kinds fall away.

    With a weight of 1e-12 the other kind costs 27 nats an item; with all in one, it is the limit.
    """
    rates = RATES_2 | {"easy_strength": RATES_2["strength"]}
    one = easy_hard(TWO_CLASSES, mean=MEAN_2, easy_mean=MEAN_2, kind_weights=ONLY[kept], **rates)
    base = paper(cases.IBCC_2 if kept else cases.CBCC_FIXED)
    together = None if kept else [0, 0, 0]
    ibcc = paper(cases.IBCC_2)
    half = replace(one.prior, kind_weights=[1.0, 1.0])
    latent = with_two_kinds("own", TWO_CLASSES, ibcc.prior)
    apart, of_kinds = [], []
    for z in itertools.product(range(2), repeat=3):
        cells = {i: 2 * kept + t for i, t in enumerate(z)}
        apart.append(log_p(one, cells) - log_p(base, dict(enumerate(z)), together))
        of_kinds.append(log_p(latent, cells) - log_p(ibcc, dict(enumerate(z))))
    assert_one_apart(apart)
    assert_one_apart(of_kinds)
    assert half.kind_weights[0] == 1.0
    mixed = sum(p for (cells, _), p in one.exact.items() if {f // 2 for f in cells} != {kept})
    assert mixed < 1e-9


@pytest.mark.exact
@pytest.mark.parametrize("kept", [0, 1])
def test_a_point_mass_of_kinds_is_cbcc(kept):
    """Pairs of the kind without items sit anywhere: summed over, they leave no trace."""
    case = cases.CBCC_FIXED
    base, one = paper(case), with_two_kinds("shared", TWO_CLASSES, case.prior)
    found = []
    for z in itertools.product(range(2), repeat=3):
        by_people = {}
        for q in all_partitions(list(range(6))):
            numbers, group = {}, list(q.values())
            seats = tuple(numbers.setdefault(m, len(numbers)) for m in group[kept::2])
            value = log_p(one, {i: 2 * kept + t for i, t in enumerate(z)}, group)
            by_people.setdefault(seats, []).append(value)
        for seats, parts in by_people.items():
            found.append(np.logaddexp.reduce(parts) - log_p(base, dict(enumerate(z)), seats))
    assert len(found) == 8 * 5
    assert_one_apart(found)


@pytest.mark.exact
@pytest.mark.parametrize("kept", [0, 1])
def test_a_point_mass_of_kinds_is_hcbcc(kept):
    """Given one coterie of all; that pairs sit apart is asked of cBCC."""
    base = paper(cases.HCBCC_2)
    one, found = with_two_kinds("similar", TWO_CLASSES, base.prior), []
    for z in itertools.product(range(2), repeat=3):
        cells = {i: 2 * kept + t for i, t in enumerate(z)}
        found.append(log_p(one, cells, [0] * 6) - log_p(base, dict(enumerate(z)), [0] * 3))
    assert_one_apart(found)


@pytest.mark.exact
def test_class_weights_of_a_are_one_flat_dirichlet_over_cells():
    """EBCC: eps mu[t] = a for all t, with sub-types of a / S each."""
    a, n = 0.7, 3
    space, rng = with_subtypes(np.full(2, a), n, a), np.random.default_rng(2)
    for total in (np.zeros(6, int), *rng.integers(0, 4, (5, 6))):
        want = log_dirichlet_multinomial(total, [a / n] * 6)
        np.testing.assert_allclose(space.log_p(total), want, atol=1e-12)
        want = (total + a / n) / (total.sum() + 2 * a)
        np.testing.assert_allclose(space.shares(total), want, rtol=1e-12)


@pytest.mark.exact
def test_known_kinds_do_not_see_each_other():
    """What an item of one kind is, changes no odds of another's, in iBCC."""
    model = MODELS["known kinds"]
    odds = {}
    for state in model.cells().states():
        for i in (0, 1, 2):
            kind = model.known[i]
            alike = tuple(f for j, f in state.items() if j != i and model.known[j] == kind)
            other = {**state, i: 2 * kind}, {**state, i: 2 * kind + 1}
            ratio = log_p(model, other[0]) - log_p(model, other[1])
            np.testing.assert_allclose(odds.setdefault((i, alike), ratio), ratio, atol=1e-9)


# ---- weak and strong priors, many classes ----

EXTREMES = {
    "vague": (1e-100, Gamma(1e-2, 1.0), Gamma(1e-100, 1e-100)),
    "sure": (1e100, Gamma(1e100, 1.0), Gamma(1e100, 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ON_THREE])
@pytest.mark.parametrize("extreme", EXTREMES)
def test_weak_and_strong_priors_give_finite_numbers(name, extreme):
    strength, gamma, alpha = EXTREMES[extreme]
    model, every = ON_THREE[name](THREE_CLASSES), np.full(3, strength)
    changes = {"strength": every, "class_weights": every}
    if isinstance(model.prior, HCBCCPrior):
        changes |= {"strength": gamma, "mean_strength": every}
    if model.seated:
        changes["concentration"] = alpha
    prior = replace(model.prior, **changes).resolve(3, 4)
    if model.rows == "own" and model.n_kinds == 1 and len(model.space.class_of) > 3:
        model = ebcc(THREE_CLASSES, mean=prior.mean, strength=strength, class_weights=every)
    elif model.rows == "easy":
        own = {"strength": strength, "class_weights": every}
        model = easy_hard(THREE_CLASSES, **own, easy_strength=strength)
    elif model.n_kinds > 1:
        model = with_two_kinds(model.rows, THREE_CLASSES, prior)
    else:
        model = replace(model, prior=prior, make=lambda crowd: PEOPLE[model.rows](prior, crowd))
    live = model.live(burn_in=0, often=True)
    noted = [live.sweep() for _ in range(40)]
    assert np.isfinite([one["log_joint"] for one in noted]).all()
    np.testing.assert_allclose(live.sums().sum(axis=1), 40, rtol=1e-9)
    kept = live.people.keep(live.state, streams(1, 2, 3), True)
    np.testing.assert_allclose(kept["confusion"].sum(axis=2), 1, atol=1e-9)
    np.testing.assert_allclose(kept["confusion_mean"].sum(axis=2), 1, atol=1e-9)


def crowded(n_classes, n_items=60, n_annotators=8):
    """Annotators who are right seven times in ten; the last never labels. Some classes are rare."""
    rng = np.random.default_rng(1)
    truth, labels = rng.integers(n_classes, size=n_items), []
    for i, l in itertools.product(range(n_items), range(n_annotators - 1)):
        labels.append((i, l, int(truth[i] if rng.random() < 0.7 else rng.integers(n_classes))))
    sizes = n_items, n_annotators, n_classes, n_classes
    return Problem(*sizes, tuple(labels), {0: int(truth[0])}), truth


# Shapes of 2e-4 per answer: log eta down to -2e5, far below what a float holds.
TINY = HCBCCPrior(mean_strength=0.01, strength=Gamma(0.5, 1.0))
OF_PAPER = {"own": IBCCPrior(), "shared": CBCCPrior(), "similar": HCBCCPrior(), "tiny": TINY}


@needs_compiler
@pytest.mark.parametrize("n_classes", [2, 5, 50])
@pytest.mark.parametrize("name", [*OF_PAPER, "EBCC", "EasyHard", "kinds"])
def test_many_classes_give_finite_numbers(name, n_classes):
    problem, truth = crowded(n_classes)
    prior = OF_PAPER.get(name, OF_PAPER["similar"]).resolve(n_classes, n_classes)
    rows = "similar" if name == "tiny" else name
    if name in OF_PAPER:
        one = replace(MODELS["IBCC_3"], problem=problem, prior=prior, rows=rows)
        model = replace(one, make=lambda crowd: PEOPLE[rows](prior, crowd))
    else:
        model = with_two_kinds("similar", problem, prior) if name == "kinds" else (
            {"EBCC": ebcc, "EasyHard": easy_hard}[name](problem)
        )  # fmt: skip
    live, n = model.live(burn_in=0, often=True), 30
    noted = [live.sweep() for _ in range(n)]
    for of_sweep in ("log_joint", "log_likelihood"):
        assert np.isfinite([one[of_sweep] for one in noted]).all()
    np.testing.assert_allclose(live.sums().sum(axis=1), n, rtol=1e-9)
    kept = live.people.keep(live.state, streams(1, 2, 3), True)
    for rows_of in ("confusion", "confusion_mean", "class_balance"):
        np.testing.assert_allclose(kept[rows_of].sum(axis=-1), 1, atol=1e-9)
    if name in ("own", "shared", "similar"):  # even the vote does better
        assert (live.sums().argmax(axis=1) == truth).mean() > 0.85
