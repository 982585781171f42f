"""Draws, tally, bystanders, extremes: the rest of Consensus' ladder."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from coterie.data.codes import encode
from coterie.data.votes import count_votes
from coterie.kernels.gibbs.consensus import model
from coterie.kernels.gibbs.consensus.votes import class_weights
from coterie.kernels.keep import Streams
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import Beta, ConsensusPrior, Gamma
from ladder.consensus import draws
from ladder.consensus.cases import (
    CASES,
    FREE_CASE,
    THREE_CASE,
    TWO_CASE,
    Case,
    file,
    make_state,
    packed,
    real,
    some_values,
)
from ladder.consensus.checks import kinds_of, new_tally_of, tempered_of
from ladder.marks import needs_compiler
from ladder.sampler import one_draw, planted, run_block
from reference.problem import THREE_CLASSES

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@pytest.mark.exact
@every_case
@pytest.mark.parametrize(
    "check",
    [draws.check_given, draws.check_fresh, draws.check_tally],
    ids=lambda check: check.__name__,
)
def test_draws_and_tally(check, case):
    check(real(), case)


def test_knowledge_and_guesses_have_the_posterior_of_quadrature():
    draws.check_base(real(), TWO_CASE)


def run(sampler, case, n_sweeps, seed=4):
    state = make_state(sampler, case, some_values(case, 1))
    tally, trace = new_tally_of(case), new_trace(n_sweeps, case.problem.n_classes)
    rng = np.random.default_rng(seed)
    prior, model = packed(sampler, case), file(sampler, "model")
    run_block(model, state, case.problem.codes, prior, rng, tally, trace)
    return state, tally, trace


@pytest.mark.parametrize("case", [TWO_CASE, FREE_CASE], ids=["two", "free"])
def test_compiled_and_plain_python_do_the_same(case, tmp_path):
    """The exact checks call pieces as Python; this says that the kernels are those pieces."""
    for mine, theirs in zip(
        run(real(), case, 20), run(planted(case, tmp_path), case, 20), strict=True
    ):
        for name, array in mine._asdict().items():
            np.testing.assert_allclose(array, getattr(theirs, name), rtol=1e-8, err_msg=name)


# THREE_CLASSES without item 3 and annotator 2, who have no labels.
ITEM = {0: 0, 1: 1, 2: 2, 4: 3, 5: 4}
ANNOTATOR = {0: 0, 1: 1, 3: 2}
PACKED = replace(
    THREE_CLASSES,
    n_items=5,
    n_annotators=3,
    labels=tuple((ITEM[i], ANNOTATOR[l], c) for i, l, c in THREE_CLASSES.labels),
    gold={ITEM[i]: t for i, t in THREE_CLASSES.gold.items()},
)


def start(data, prior, seed=4):
    rng = np.random.default_rng(seed)
    n_annotators = len(data.annotator_start) - 1
    truth = np.zeros(len(data.gold), np.int32)
    state = model.initial_state(data, prior, truth, np.zeros(n_annotators, np.int32), rng)
    return state, rng


def sweep(case, n_sweeps, seed=4):
    prior, data = model.pack_prior(case.prior), case.problem.codes
    state, rng = start(data, prior, seed)
    tally, trace = new_tally_of(case), new_trace(n_sweeps, data.n_classes)
    run_block(model, state, data, prior, rng, tally, trace)
    return state, tally, trace


@pytest.mark.exact
def test_bystanders_change_nobodys_bits():
    n_sweeps = 20 if numba.config.DISABLE_JIT else 200
    with np.errstate(over="ignore"):  # log u / shape of a tiny shape is minus infinity, rightly
        state, tally, trace = sweep(THREE_CASE, n_sweeps)
        state_2, tally_2, trace_2 = sweep(Case(PACKED, THREE_CASE.prior), n_sweeps)
    np.testing.assert_array_equal(state.truth[list(ITEM)], state_2.truth)
    np.testing.assert_array_equal(state.kind[list(ITEM)], state_2.kind)
    np.testing.assert_array_equal(tally.probability[list(ITEM)], tally_2.probability)
    np.testing.assert_array_equal(tally.per_item[list(ITEM)], tally_2.per_item)
    np.testing.assert_array_equal(state.group[list(ANNOTATOR)], state_2.group)
    assert state.group[2] == state.truth[3] == -1
    for mine, theirs in zip(trace, trace_2, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.exact
def test_no_labels_at_all_give_the_prior():
    nothing = np.zeros(0, int)
    data = encode(nothing, nothing, nothing, sizes=(2, 3, 2, 3), gold=np.array([-1, 1]))
    prior = model.pack_prior(ConsensusPrior(class_weights=1.0).resolve(2, 3))
    state, rng = start(data, prior)
    case = Case(replace(THREE_CLASSES, n_items=2, n_classes=2), ConsensusPrior().resolve(2, 3))
    tally, trace = new_tally_of(case), new_trace(20, 2)
    run_block(model, state, data, prior, rng, tally, trace)
    # One item is known to be of class 1, and each class has a pseudo-count of one.
    np.testing.assert_allclose(tally.probability / 20, [[1 / 3, 2 / 3], [0, 1]])
    np.testing.assert_allclose(tempered_of(case, tally) / 20, [[1 / 3, 2 / 3], [0, 1]])
    np.testing.assert_allclose(
        kinds_of(case, tally) / 20, np.broadcast_to([0.5, 0.25, 0.25], (2, 3))
    )
    assert np.isfinite(trace.log_joint).all()
    assert (trace.n_coteries == 0).all()
    mean, draw, *_ = one_draw(model, state, data, prior, Streams(rng, rng, rng))
    want = 0.3 * state.guess + 0.7 * np.eye(2, 3)
    np.testing.assert_allclose(mean, np.broadcast_to(want, mean.shape), atol=0.01)  # d is on points
    np.testing.assert_allclose(draw.sum(axis=2), 1)


def crowd(n_items, n_annotators, n_classes, seed=1):
    """Everybody labels everything, right in two of three."""
    rng = np.random.default_rng(seed)
    item, annotator = (a.ravel() for a in np.indices((n_items, n_annotators)))
    truth = rng.integers(n_classes, size=n_items)
    right = rng.random(len(item)) < 2 / 3
    answer = np.where(right, truth[item], rng.integers(n_classes, size=len(item)))
    return encode(item, annotator, answer, sizes=(n_items, n_annotators, n_classes, n_classes))


@needs_compiler
@pytest.mark.parametrize(
    ("sizes", "changes"),
    [
        ((5, 900, 3), {}),  # products of so many probabilities are no numbers
        ((40, 8, 50), {}),  # shapes are tiny
        ((6, 5, 3), {"strength": Gamma(0.01, 0.01)}),
        ((6, 5, 3), {"guess_weights": 1e-3, "hard_guess_weights": 1e-3}),
        ((6, 5, 3), {"knowledge": Beta(0.01, 0.01), "mean_strength": 0.01}),
        ((6, 5, 3), {"guessing": (0.0,), "kind_weights": 1.0}),
        ((6, 5, 1), {}),
    ],
)
def test_extremes_give_finite_numbers(sizes, changes):
    data = crowd(*sizes)
    prior = ConsensusPrior(class_weights=1.0, **changes).resolve(sizes[2], sizes[2])
    packed_prior = model.pack_prior(prior, 0.05)
    state, rng = start(data, packed_prior)
    tally = new_tally(data, model.layout_of(data, packed_prior))
    trace = new_trace(200, sizes[2])
    run_block(model, state, data, packed_prior, rng, tally, trace)
    for sums in (tally.probability, *np.split(tally.per_item, [sizes[2]], axis=1)):
        np.testing.assert_allclose(sums.sum(axis=1), 200, rtol=1e-9)
    assert np.isfinite(trace.log_likelihood).all()
    mean, draw, *_ = one_draw(model, state, data, packed_prior, Streams(rng, rng, rng))
    np.testing.assert_allclose(draw.sum(axis=2), 1, atol=1e-9)
    assert np.isfinite(mean).all()


def test_class_weights_follow_the_votes():
    """Ties shared, gold for its class, extra answers and silence nowhere; 1 + 3 N f."""
    labels = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (2, 0, 2), (3, 0, 1), (3, 1, 2)]
    labels += [(5, 0, 0)]
    item, annotator, answer = np.array(labels).T
    gold = np.full(8, -1)
    gold[5], gold[6] = 1, 1  # voted for 0; without a label
    data = encode(item, annotator, answer, sizes=(8, 2, 2, 3), gold=gold)
    votes = count_votes(data)
    # Class 0: item 0, half of item 1; class 1: half of item 1, items 3, 5 and 6.
    won, n_items = np.array([1.5, 3.5]), 5
    f = (0.5 + won) / (1 + won.sum())
    np.testing.assert_allclose(
        class_weights(votes, data.gold, ConsensusPrior()), 1 + 3 * n_items * f
    )
    other = ConsensusPrior(class_base=2.0, class_pull=1.0, class_smoothing=1.0)
    f = (1 + won) / (2 + won.sum())
    np.testing.assert_allclose(class_weights(votes, data.gold, other), 2 + n_items * f)
