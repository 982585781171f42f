"""Dawid-Skene: the kernel against a dense reference, exact frequencies, and the estimator."""

from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

import coterie
from coterie.data.codes import count_votes, encode
from coterie.inference import ascent
from coterie.kernels import expected
from coterie.kernels.expected import Weights, weigh
from coterie.kernels.vote import vote_shares
from kernels.test_expected import own_map
from ladder.marks import rest_slow
from reference import soft as reference

DATA = Path(__file__).parents[3] / "shared" / "data"
exact = pytest.mark.exact


class Parameters(NamedTuple):
    """Of items without kinds."""

    class_balance: np.ndarray  # (classes,)
    confusion: np.ndarray  # (annotators, answers, classes)


class Step(NamedTuple):
    """A round: what the E-step found, and the parameters of the M-step after it."""

    objective: float
    probability: np.ndarray
    parameters: Parameters
    scale: float


def estimate_from(codes, probability, smoothing=0.0):
    sums = ascent.in_memory(codes).count(probability, codes.n_classes)
    return estimated(sums, smoothing)


def estimated(sums, smoothing):
    balance, confusion = expected.estimate(sums, smoothing)
    return Parameters(balance[0], confusion)


def maximise(codes, parameters, smoothing=0.0):
    """The rounds of ``ascent.maximise``, spelled out."""
    items = ascent.in_memory(codes)
    start = expected.Parameters(parameters.class_balance[None], parameters.confusion)
    for step in ascent.maximise(items, start, smoothing):
        probability = weigh(items.part(0), step.weights)
        then = estimated(step.sums, smoothing)
        yield Step(step.objective, probability, then, step.sums.scale)


def vote_start(codes, smoothing=0.0):
    return estimate_from(codes, vote_shares(count_votes(codes), codes.gold), smoothing)


def run(codes, n_iter, smoothing=0.0):
    """The last of n_iter steps from the vote."""
    *_, last = islice(maximise(codes, vote_start(codes, smoothing), smoothing), n_iter)
    return last


@st.composite
def tiny_data(draw):
    """Repeated labels, gold, extra answers, items and annotators without labels: all of it."""
    n_items, n_annotators = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    n_answers = n_classes + draw(st.integers(0, 2))
    label = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_annotators - 1), st.integers(0, n_answers - 1)
    )
    labels = np.array(draw(st.lists(label, max_size=15)), np.int64).reshape(-1, 3)
    gold = draw(st.lists(st.integers(-1, n_classes - 1), min_size=n_items, max_size=n_items))
    return encode(*labels.T, sizes=(n_items, n_annotators, n_classes, n_answers), gold=gold)


def e_step(codes, tau, psi):
    """Class probabilities of the items, and the log likelihood; psi (annotators, T, C)."""
    with np.errstate(divide="ignore"):
        logs = np.log(tau), np.log(psi).reshape(-1, codes.n_answers)
    joint = reference.log_weights(codes, *logs, own_map(codes, len(tau)))
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), total.sum()


def m_step(codes, probability, smoothing):
    """Tau and psi; rows without any count are uniform."""
    row = own_map(codes, codes.n_classes)
    items, said = reference.counts(codes, probability, row, row.size)

    def shares(counts):
        total = counts.sum(axis=-1, keepdims=True)
        return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / counts.shape[-1])

    return shares(items + smoothing), shares(said.reshape(*row.shape, -1) + smoothing)


smoothings = st.sampled_from([0.0, 0.3])


@exact
@given(tiny_data(), smoothings)
def test_the_objective_never_falls(codes, smoothing):
    start = vote_start(codes, smoothing)
    before = -np.inf
    for step in islice(maximise(codes, start, smoothing), 25):
        assert np.isfinite(step.objective)
        assert step.objective >= before - 1e-12 * (1 + abs(before))
        before = step.objective
        np.testing.assert_allclose(step.probability.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(step.parameters.class_balance.sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(step.parameters.confusion.sum(axis=1), 1, rtol=1e-12)


@exact
@given(tiny_data(), smoothings)
def test_every_iteration_agrees_with_the_reference(codes, smoothing):
    parameters = vote_start(codes, smoothing)
    for step in islice(maximise(codes, parameters, smoothing), 6):
        tau, psi = parameters.class_balance, parameters.confusion.swapaxes(1, 2)
        probability, objective = e_step(codes, tau, psi)
        if smoothing:  # Dirichlet(1 + smoothing) priors, up to a constant
            objective += smoothing * (np.log(tau).sum() + np.log(psi).sum())
        # counted are whole numbers of 1 / scale: what is less than half of one counts for nothing
        counted = np.floor(step.probability * step.scale + 0.5) / step.scale
        tau, psi = m_step(codes, counted, smoothing)
        np.testing.assert_allclose(step.objective, objective, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(step.probability, probability, atol=1e-12)
        np.testing.assert_allclose(step.parameters.class_balance, tau, atol=1e-12)
        np.testing.assert_allclose(step.parameters.confusion.swapaxes(1, 2), psi, atol=1e-12)
        parameters = step.parameters


# The last item has no labels.
SOME = encode([0, 0, 0, 1, 1, 2], [0, 1, 2, 0, 1, 2], [1, 1, 0, 0, 0, 1], sizes=(4, 3, 2, 2))
BUGS = {
    "estimate": lambda real: lambda sums, smoothing: real(sums, smoothing / 2),
    "log_prior": lambda real: lambda parameters, smoothing: 0.0,
    "is_counted": lambda real: lambda codes: real(codes) | True,
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bug_is_caught(name, monkeypatch):
    monkeypatch.setattr(expected, name, BUGS[name](getattr(expected, name)))
    with pytest.raises(AssertionError):
        test_every_iteration_agrees_with_the_reference.hypothesis.inner_test(SOME, 0.3)


# Three annotators and true parameters in fifths: 5 * 5**3 items hold each pattern of answers
# exactly as often as the model expects. The third answer of the second table is never true.
TWO = ([3, 2], [[[4, 1], [1, 4]], [[3, 2], [1, 4]], [[4, 1], [2, 3]]])
EXTRA = ([2, 3], [[[3, 1, 1], [1, 4, 0]], [[3, 2, 0], [0, 3, 2]], [[4, 1, 0], [1, 2, 2]]])
THREE = (
    [1, 2, 2],
    [
        [[3, 1, 1], [1, 3, 1], [1, 1, 3]],
        [[3, 1, 1], [1, 2, 2], [1, 1, 3]],
        [[2, 2, 1], [1, 3, 1], [1, 1, 3]],
    ],
)


def expected_frequencies(tau, psi):
    """All patterns of answers, each as often as the model expects; tau and psi in fifths."""
    n_annotators, n_classes, n_answers = np.shape(psi)
    patterns = []
    for answers in product(range(n_answers), repeat=n_annotators):
        weight = sum(
            tau[t] * np.prod([psi[l][t][c] for l, c in enumerate(answers)])
            for t in range(n_classes)
        )
        patterns += [answers] * int(weight)
    item, annotator = np.indices((len(patterns), n_annotators))
    sizes = (len(patterns), n_annotators, n_classes, n_answers)
    return encode(item.ravel(), annotator.ravel(), np.ravel(patterns), sizes=sizes)


@exact
@pytest.mark.parametrize(("tau", "psi"), [TWO, EXTRA, THREE])
def test_the_truth_is_a_fixed_point_of_exact_frequencies(tau, psi):
    codes = expected_frequencies(tau, psi)
    assert len(codes.gold) == 625
    truth = Parameters(np.array(tau) / 5, np.ascontiguousarray(np.swapaxes(psi, 1, 2)) / 5)
    (step,) = islice(maximise(codes, truth), 1)
    np.testing.assert_allclose(
        step.parameters.class_balance, truth.class_balance, rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(step.parameters.confusion, truth.confusion, rtol=0, atol=1e-14)


@pytest.mark.parametrize("case", rest_slow([TWO, EXTRA, THREE], 1))
def test_the_truth_is_recovered_from_exact_frequencies(case):
    tau, psi = case
    last = run(expected_frequencies(tau, psi), 20_000)
    np.testing.assert_allclose(last.parameters.class_balance, np.array(tau) / 5, rtol=0, atol=1e-10)
    recovered = last.parameters.confusion.swapaxes(1, 2)
    np.testing.assert_allclose(recovered, np.array(psi) / 5, rtol=0, atol=1e-10)


def some_triples(seed=4, n_items=40, n_annotators=7, n_classes=3, n_labels=200):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    item, annotator = rng.integers(0, n_items, n_labels), rng.integers(0, n_annotators, n_labels)
    wrong = rng.random(n_labels) < 0.1 + 0.1 * annotator
    answer = np.where(wrong, rng.integers(0, n_classes, n_labels), truth[item])
    return item, annotator, answer


@exact
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_permuting_items_and_annotators_permutes_the_result(smoothing):
    item, annotator, answer = some_triples()
    rng = np.random.default_rng(5)
    items, annotators, rows = rng.permutation(40), rng.permutation(7), rng.permutation(200)
    sizes = (40, 7, 3, 3)
    one = run(encode(item, annotator, answer, sizes=sizes), 12, smoothing)
    moved = encode(items[item[rows]], annotators[annotator[rows]], answer[rows], sizes=sizes)
    other = run(moved, 12, smoothing)
    np.testing.assert_allclose(other.objective, one.objective, rtol=1e-12)
    np.testing.assert_allclose(other.probability[items], one.probability, atol=1e-9)
    np.testing.assert_allclose(
        other.parameters.confusion[annotators], one.parameters.confusion, atol=1e-9
    )


@exact
def test_permuting_classes_permutes_the_result():
    item, annotator, answer = some_triples()
    classes = np.array([2, 0, 1])
    one = run(encode(item, annotator, answer, sizes=(40, 7, 3, 3)), 12)
    other = run(encode(item, annotator, classes[answer], sizes=(40, 7, 3, 3)), 12)
    np.testing.assert_allclose(other.probability[:, classes], one.probability, atol=1e-9)
    turned = other.parameters.confusion[:, classes][:, :, classes]
    np.testing.assert_allclose(turned, one.parameters.confusion, atol=1e-9)


@exact
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_who_has_no_labels_changes_nobody_else(smoothing):
    triples = some_triples()
    one = run(encode(*triples, sizes=(40, 7, 3, 3)), 12, smoothing)
    more = run(encode(*triples, sizes=(43, 9, 3, 3)), 12, smoothing)
    np.testing.assert_array_equal(more.probability[:40], one.probability)
    np.testing.assert_array_equal(more.parameters.confusion[:7], one.parameters.confusion)
    np.testing.assert_array_equal(more.parameters.class_balance, one.parameters.class_balance)
    np.testing.assert_array_equal(more.parameters.confusion[7:], 1 / 3)


@exact
def test_an_item_without_labels_gets_the_class_proportions():
    codes = encode(*some_triples(), sizes=(41, 7, 3, 3))
    parameters = vote_start(codes)
    (step,) = islice(maximise(codes, parameters), 1)
    np.testing.assert_allclose(step.probability[40], parameters.class_balance, rtol=1e-14)


@exact
def test_gold_is_clamped_and_counts():
    item, annotator, answer = some_triples()
    gold = np.full(41, -1)
    gold[[0, 3, 40]] = [2, 1, 0]  # the last without labels
    last = run(encode(item, annotator, answer, sizes=(41, 7, 3, 3), gold=gold), 12)
    np.testing.assert_array_equal(last.probability[[0, 3, 40]], np.eye(3)[[2, 1, 0]])
    np.testing.assert_allclose(
        last.parameters.class_balance, last.probability.mean(axis=0), rtol=1e-12
    )


@exact
def test_gold_against_everybody_turns_the_confusion_matrix():
    answer = np.tile([0, 1], 5)
    item, annotator = np.arange(10), np.zeros(10, int)
    codes = encode(item, annotator, answer, sizes=(10, 1, 2, 2), gold=1 - answer)
    last = run(codes, 3)
    np.testing.assert_array_equal(last.parameters.confusion[0], [[0, 1], [1, 0]])
    np.testing.assert_allclose(last.objective, 10 * np.log(0.5), rtol=1e-14)


@exact
def test_a_row_that_no_label_speaks_for_is_uniform():
    codes = encode([0, 0, 1], [0, 1, 1], [0, 0, 1], sizes=(2, 2, 2, 3))
    parameters = estimate_from(codes, np.eye(2))
    np.testing.assert_array_equal(parameters.confusion[0], [[1, 1 / 3], [0, 1 / 3], [0, 1 / 3]])
    np.testing.assert_array_equal(parameters.confusion[1], [[1, 0], [0, 1], [0, 0]])


@exact
def test_a_thousand_labels_of_one_item_do_not_underflow():
    # The first 500 speak for class 0 by a factor of 10**451, the other 690 against it by 10**450.
    annotator = np.arange(1190)
    answer = (annotator >= 500).astype(int)
    codes = encode(np.zeros(1190, int), annotator, answer, sizes=(1, 1190, 2, 2))
    said = np.empty((1190, 2, 2))
    said[:, 0] = [0.8, 0.1]
    said[:, 1] = [0.2, 0.9]
    balance, items = np.array([0.3, 0.7]), ascent.in_memory(codes)
    weights = Weights(balance[None], said, 1)
    probability, sums = weigh(items.part(0), weights), items.sweep(weights)
    wanted, log_likelihood = e_step(codes, balance, said.swapaxes(1, 2))
    np.testing.assert_allclose(sums.log_likelihood, log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(probability, wanted, rtol=1e-10)
    np.testing.assert_allclose(sums.cells[0], wanted[0], rtol=1e-10)
    assert 0.7 < probability[0, 0] < 0.8


def frame(seed=4):
    item, annotator, answer = some_triples(seed)
    data = pd.DataFrame({"task": item, "worker": annotator, "label": answer})
    return data.drop_duplicates(["task", "worker"], ignore_index=True)


def test_it_stops_when_the_log_likelihood_stands():
    data = frame()
    model = coterie.DawidSkene(tol=1e-6).fit(data)
    history = np.array(model.loss_history_)
    assert model.converged_
    assert model.n_iter_ == len(history)
    assert 0 <= history[-1] - history[-2] <= 1e-6
    assert (np.diff(history)[:-1] > 1e-6).all()
    codes = model.posterior_.annotations.codes
    step = run(codes, model.n_iter_)
    np.testing.assert_allclose(history[-1] * len(data), step.objective, rtol=1e-13)
    np.testing.assert_array_equal(model.predict_proba(), step.probability)


@pytest.mark.parametrize(("smoothing", "what"), [(0.0, "likelihood"), (0.1, "posterior")])
def test_it_warns_with_numbers_when_it_has_not_converged(smoothing, what):
    model = coterie.DawidSkene(n_iter=3, smoothing=smoothing)
    with pytest.warns(coterie.ConvergenceWarning, match=f"3 iterations the log {what}") as caught:
        model.fit(frame())
    assert not model.converged_
    assert not model.posterior_.converged
    numbers = caught[0].message.numbers
    assert numbers["n_iter"] == model.n_iter_ == 3
    assert numbers["rise"] == model.loss_history_[2] - model.loss_history_[1] > numbers["tol"]
    assert caught[0].filename == __file__


def test_smoothing_pulls_the_matrices_to_uniform():
    data = frame()
    plain, smooth, flat = (coterie.DawidSkene(smoothing=s).fit(data) for s in (0.0, 1.0, 1e6))
    far = [np.abs(m.posterior_.confusion_mean - 1 / 3).max() for m in (plain, smooth, flat)]
    assert far[0] > far[1] > far[2]
    np.testing.assert_allclose(flat.priors_, 1 / 3, atol=1e-4)


def test_extra_answers_have_their_own_column():
    rows = [(i, l, "01"[i % 2]) for i in range(20) for l in "abc"]
    rows += [(i, "d", ["0", "unsure"][i % 2]) for i in range(20)]
    model = coterie.DawidSkene().fit(coterie.read(rows, extra_answers=["unsure"]))
    matrix = model.posterior_.confusion(annotator="d")
    assert matrix.columns.tolist() == ["0", "1", "unsure"]
    np.testing.assert_allclose(matrix, [[1, 0, 0], [0, 0, 1]], atol=1e-9)
    np.testing.assert_array_equal(model.errors_.loc["d"], matrix.T)


def test_initial_errors_are_told_with_what_to_do_with_them():
    with pytest.raises(coterie.DataError, match="got only the second"):
        coterie.DawidSkene(initial_error_strategy="assign").fit(frame())
