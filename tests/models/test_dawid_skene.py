"""Dawid-Skene: the kernel against a dense reference, exact frequencies, and the estimator."""

from itertools import islice, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.data.codes import encode
from coterie.kernels.em import Parameters, estimate_from, maximise, sweep, zero_counts
from coterie.kernels.vote import count_votes, vote_shares
from reference import dawid_skene as reference

DATA = Path(__file__).parents[3] / "shared" / "data"
exact = pytest.mark.exact


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
        np.testing.assert_allclose(step.parameters.truth.sum(), 1, rtol=1e-12)
        np.testing.assert_allclose(step.parameters.said.sum(axis=1), 1, rtol=1e-12)


@exact
@given(tiny_data(), smoothings)
def test_every_iteration_agrees_with_the_reference(codes, smoothing):
    said, gold = reference.dense(codes), codes.gold
    parameters = vote_start(codes, smoothing)
    for step in islice(maximise(codes, parameters, smoothing), 6):
        tau, psi = parameters.truth, parameters.said.swapaxes(1, 2)
        probability, _ = reference.e_step(said, gold, tau, psi)
        objective = reference.log_posterior(said, gold, tau, psi, smoothing)
        tau, psi = reference.m_step(said, gold, step.probability, smoothing)
        np.testing.assert_allclose(step.objective, objective, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(step.probability, probability, atol=1e-12)
        np.testing.assert_allclose(step.parameters.truth, tau, atol=1e-12)
        np.testing.assert_allclose(step.parameters.said.swapaxes(1, 2), psi, atol=1e-12)
        parameters = Parameters(*(array.copy() for array in step.parameters))


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
    np.testing.assert_allclose(step.parameters.truth, truth.truth, rtol=0, atol=1e-14)
    np.testing.assert_allclose(step.parameters.said, truth.said, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("tau", "psi"), [TWO, EXTRA, THREE])
def test_the_truth_is_recovered_from_exact_frequencies(tau, psi):
    last = run(expected_frequencies(tau, psi), 20_000)
    np.testing.assert_allclose(last.parameters.truth, np.array(tau) / 5, rtol=0, atol=1e-10)
    recovered = last.parameters.said.swapaxes(1, 2)
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
    np.testing.assert_allclose(other.parameters.said[annotators], one.parameters.said, atol=1e-9)


@exact
def test_permuting_classes_permutes_the_result():
    item, annotator, answer = some_triples()
    classes = np.array([2, 0, 1])
    one = run(encode(item, annotator, answer, sizes=(40, 7, 3, 3)), 12)
    other = run(encode(item, annotator, classes[answer], sizes=(40, 7, 3, 3)), 12)
    np.testing.assert_allclose(other.probability[:, classes], one.probability, atol=1e-9)
    turned = other.parameters.said[:, classes][:, :, classes]
    np.testing.assert_allclose(turned, one.parameters.said, atol=1e-9)


@exact
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_who_has_no_labels_changes_nobody_else(smoothing):
    triples = some_triples()
    one = run(encode(*triples, sizes=(40, 7, 3, 3)), 12, smoothing)
    more = run(encode(*triples, sizes=(43, 9, 3, 3)), 12, smoothing)
    np.testing.assert_array_equal(more.probability[:40], one.probability)
    np.testing.assert_array_equal(more.parameters.said[:7], one.parameters.said)
    np.testing.assert_array_equal(more.parameters.truth, one.parameters.truth)
    np.testing.assert_array_equal(more.parameters.said[7:], 1 / 3)


@exact
def test_an_item_without_labels_gets_the_class_proportions():
    codes = encode(*some_triples(), sizes=(41, 7, 3, 3))
    parameters = vote_start(codes)
    (step,) = islice(maximise(codes, parameters), 1)
    np.testing.assert_allclose(step.probability[40], parameters.truth, rtol=1e-14)


@exact
def test_gold_is_clamped_and_counts():
    item, annotator, answer = some_triples()
    gold = np.full(41, -1)
    gold[[0, 3, 40]] = [2, 1, 0]  # the last without labels
    last = run(encode(item, annotator, answer, sizes=(41, 7, 3, 3), gold=gold), 12)
    np.testing.assert_array_equal(last.probability[[0, 3, 40]], np.eye(3)[[2, 1, 0]])
    np.testing.assert_allclose(last.parameters.truth, last.probability.mean(axis=0), rtol=1e-12)


@exact
def test_gold_against_everybody_turns_the_confusion_matrix():
    answer = np.tile([0, 1], 5)
    item, annotator = np.arange(10), np.zeros(10, int)
    codes = encode(item, annotator, answer, sizes=(10, 1, 2, 2), gold=1 - answer)
    last = run(codes, 3)
    np.testing.assert_array_equal(last.parameters.said[0], [[0, 1], [1, 0]])
    np.testing.assert_allclose(last.objective, 10 * np.log(0.5), rtol=1e-14)


@exact
def test_a_row_that_no_label_speaks_for_is_uniform():
    codes = encode([0, 0, 1], [0, 1, 1], [0, 0, 1], sizes=(2, 2, 2, 3))
    parameters = estimate_from(codes, np.eye(2))
    np.testing.assert_array_equal(parameters.said[0], [[1, 1 / 3], [0, 1 / 3], [0, 1 / 3]])
    np.testing.assert_array_equal(parameters.said[1], [[1, 0], [0, 1], [0, 0]])


@exact
def test_a_thousand_labels_of_one_item_do_not_underflow():
    # The first 500 speak for class 0 by a factor of 10**451, the other 690 against it by 10**450.
    annotator = np.arange(1190)
    answer = (annotator >= 500).astype(int)
    codes = encode(np.zeros(1190, int), annotator, answer, sizes=(1, 1190, 2, 2))
    said = np.empty((1190, 2, 2))
    said[:, 0] = [0.8, 0.1]
    said[:, 1] = [0.2, 0.9]
    parameters = Parameters(np.array([0.3, 0.7]), said)
    probability, counts = np.empty((1, 2)), zero_counts(codes)
    log_likelihood = sweep(codes, parameters, probability, counts)
    expected, expected_log_likelihood = reference.e_step(
        reference.dense(codes), codes.gold, parameters.truth, said.swapaxes(1, 2)
    )
    np.testing.assert_allclose(log_likelihood, expected_log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(probability, expected, rtol=1e-10)
    np.testing.assert_allclose(counts.truth, expected[0], rtol=1e-10)
    assert 0.7 < probability[0, 0] < 0.8


@exact
def test_an_item_that_no_class_explains_falls_back_to_the_class_proportions():
    codes = encode([0, 0, 1], [0, 1, 1], [0, 1, 1], sizes=(2, 2, 2, 2))
    parameters = Parameters(np.array([0.3, 0.7]), np.array([np.eye(2)] * 2))
    (step,) = islice(maximise(codes, parameters), 1)
    assert step.objective == -np.inf
    np.testing.assert_allclose(step.probability, [[0.3, 0.7], [0, 1]], rtol=1e-14)


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


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_iter": 0}, "n_iter must be at least 1, got 0"),
        ({"smoothing": -1.0}, "smoothing must not be negative"),
        ({"smoothing": np.nan}, "smoothing must not be negative"),
        ({"initial_error_strategy": "guess"}, "'assign', 'addition' or None, got 'guess'"),
        ({"initial_error_strategy": "assign"}, "got only the second"),
    ],
)
def test_wrong_parameters_are_said(params, message):
    with pytest.raises(coterie.DataError, match=message):
        coterie.DawidSkene(**params).fit(frame())


# What crowd-kit 1.4.2 gives after 4 forced iterations (n_iter=4, tol=-1e9) on this crowd: the
# probability of a for q1 and q7, the prior of a, and how often w4 says a of an a and c of a c.
SAID = {"w1": "aabbccab", "w2": "aabcccba", "w3": "abbbacab", "w4": "cabbcbaa"}
CROWD = pd.DataFrame(
    [(f"q{i}", l, c) for l, answers in SAID.items() for i, c in enumerate(answers)],
    columns=["task", "worker", "label"],
)
HISTORY = pd.DataFrame(
    np.reshape([int(count) for count in "711281118613271226522362226433352325"], (12, 3)),
    index=pd.MultiIndex.from_product([list(SAID), list("abc")], names=["worker", "label"]),
    columns=list("abc"),
)
GOLD = pd.Series({"q0": "a", "q5": "b"})
ASSIGNED = [0.99994105, 0.57406859, 0.44675146, 0.7202018, 0.5]
ADDED = [0.99940806, 0.09296568, 0.38654673, 0.6766238, 0.5]
CROWD_KIT = {
    "plain": (None, None, None, [0.99976372, 0.15246814, 0.39402898, 0.68276445, 0.5]),
    "gold": (None, GOLD, None, [1.0, 0.99787516, 0.4997344, 0.74986713, 1.0]),
    "assign": ("assign", None, HISTORY / 10, ASSIGNED),
    "assign counts": ("assign", None, HISTORY, ASSIGNED),
    "addition": ("addition", None, HISTORY.loc[["w4"]], ADDED),
}


@pytest.mark.filterwarnings("ignore::coterie.ConvergenceWarning")
@pytest.mark.parametrize("case", CROWD_KIT)
def test_iterations_are_crowd_kit_s(case):
    strategy, *given, expected = CROWD_KIT[case]
    model = coterie.DawidSkene(4, -1e9, strategy)
    probas = model.fit_predict_proba(CROWD, *given)
    found = [
        probas.loc["q1", "a"],
        probas.loc["q7", "a"],
        model.priors_["a"],
        model.errors_.loc[("w4", "a"), "a"],
        model.errors_.loc[("w4", "c"), "c"],
    ]
    # It rounds to 1e-8 here, and clips at 1e-10.
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-9)
    pd.testing.assert_series_equal(model.fit_predict(CROWD, *given), model.labels_)


def test_an_assigned_zero_is_not_for_ever():
    perfect = HISTORY * 0 + np.tile(np.eye(3), (4, 1))
    model = coterie.DawidSkene(initial_error_strategy="assign").fit(CROWD, initial_error=perfect)
    assert np.isfinite(model.loss_history_).all()
    assert (np.diff(model.loss_history_) >= -1e-12).all()
    assert model.errors_.loc[("w4", "c"), "a"] > 0.1  # q0


@pytest.mark.parametrize(
    ("strategy", "initial_error", "message"),
    [
        (None, HISTORY, "got only the first"),
        ("addition", HISTORY.droplevel(0), "must be unique pairs"),
        ("addition", pd.concat([HISTORY, HISTORY]), "must be unique pairs"),
        ("addition", HISTORY.rename(columns={"c": "x"}), "columns .* among .*, got 'x'"),
        ("addition", HISTORY.rename(index={"c": "x"}, level=1), "given labels .*, got 'x'"),
        ("addition", -HISTORY, "not negative"),
        ("addition", HISTORY / 0, "finite"),
        ("assign", HISTORY.loc[["w1", "w2"]], "lacks 2 annotators, for example 'w3'"),
        ("assign", HISTORY / 20, "must sum to one"),
    ],
)
def test_a_wrong_initial_error_is_said(strategy, initial_error, message):
    model = coterie.DawidSkene(initial_error_strategy=strategy)
    with pytest.raises(coterie.DataError, match=message):
        model.fit(CROWD, initial_error=initial_error)


def test_history_of_strangers_is_left_out():
    strangers = pd.concat([HISTORY, HISTORY.rename(index={"w1": "w9"}, level=0).loc[["w9"]]])
    one, other = (
        coterie.DawidSkene(initial_error_strategy="assign").fit(CROWD, initial_error=frame)
        for frame in (HISTORY, strangers)
    )
    pd.testing.assert_frame_equal(one.errors_, other.errors_)


# Items right after 200 iterations of crowd-kit with its stopping rule put out of action.
FORCED = {"bluebird": 97, "weather_amt": 251, "zencrowd_us": 1678}


@pytest.mark.parametrize("name", FORCED)
def test_real_data_agree_with_crowd_kit_run_on(name):
    if not DATA.exists():
        pytest.skip("the real data sets are not here")
    labels, truth = (pd.read_csv(DATA / name / f"{x}.csv", dtype=str) for x in ("labels", "truth"))
    model = coterie.DawidSkene(duplicates="keep").fit(labels[["item", "annotator", "label"]])
    truth = truth.set_index("item")["label"]
    assert model.converged_
    assert (model.predict()[truth.index] == truth).sum() == FORCED[name]
