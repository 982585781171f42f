"""DynamicIBCC against forward-backward on a grid, and sums over all truths."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import norm

from coterie.data.codes import encode
from coterie.data.times import times_of
from coterie.kernels.gibbs.dynamic import model
from coterie.kernels.gibbs.dynamic.course import course_of, sticks_of
from coterie.kernels.gibbs.dynamic.walks import log_answer
from coterie.kernels.keep import Record, Streams, keep_nothing
from coterie.kernels.record import new_tally, new_trace
from coterie.priors import DynamicPrior
from ladder.cases import IBCC_2
from ladder.marks import needs_compiler
from ladder.montecarlo import assert_means
from ladder.sampler import planted

GRID = np.linspace(-12, 12, 481)
PRIOR = DynamicPrior(
    mean=[[0.6, 0.4], [0.25, 0.75]], strength=[3.0, 2.0], class_weights=[1.2, 0.7],
    drift=(0.0, 0.3, 2.0), static_weight=0.4,
).resolve(2, 2)  # fmt: skip
ITEMS, ANSWERS = [0, 1, 2, 3, 4], [0, 0, 1, 1, 1]


def setting(gold, prior=PRIOR, answers=ANSWERS):
    """One annotator who labels five items one after the other."""
    n = len(answers)
    item, who = np.arange(n), np.zeros(n, int)
    data = encode(item, who, answers, sizes=(n, 1, 2, 2), gold=gold)
    times = times_of(item, who, np.array(answers), np.arange(n, dtype=float), 1)
    return data, model.pack_prior(prior, course_of(times, "labels", 1.0, 1))


def evidence(prior, t, right, drift):
    """log p of whether the labels of class t were right, None where it was another class."""
    sticks = sticks_of(np.asarray(prior.mean), np.asarray(prior.strength))
    width = GRID[1] - GRID[0]
    first = norm.pdf(GRID, sticks.mean[t, 0], np.sqrt(sticks.variance[t, 0])) * width
    step = np.eye(len(GRID))
    if drift > 0:
        step = norm.pdf(GRID[:, None], GRID, np.sqrt(drift))
        step /= step.sum(axis=0)
    forward, seen = first, []
    for s, one in enumerate(right):
        forward = forward if s == 0 else step @ forward
        chance = np.ones(len(GRID)) if one is None else expit(GRID if one else -GRID)
        seen.append(chance)
        forward = forward * chance
    backward, means = np.ones(len(GRID)), []
    alphas, now = [], first
    for s, chance in enumerate(seen):
        now = (now if s == 0 else step @ now) * chance
        alphas.append(now)
    for s in range(len(seen) - 1, -1, -1):
        both = alphas[s] * backward
        means.append((both / both.sum()) @ expit(GRID))
        backward = step.T @ (backward * seen[s])
    return np.log(forward.sum()), np.array(means[::-1])


def exact(prior, gold, answers=ANSWERS):
    """P(class 1) of every item, P(static), and the accuracy in class 0 at every label."""
    weights, classes, static, curve = [], [], [], []
    free = [range(2) if g < 0 else [g] for g in gold]
    for z in itertools.product(*free):
        n = np.bincount(z, minlength=2)
        a = np.asarray(prior.class_weights)
        log_z = sum(np.log(a[t] + np.arange(n[t])).sum() for t in range(2))
        for g, drift in enumerate(prior.drift):
            others = (1 - prior.static_weight) / max(len(prior.drift) - 1, 1)
            log_q = np.log(prior.static_weight if g == 0 else others)
            both = [
                evidence(
                    prior, t, [c == t if k == t else None for k, c in zip(z, answers, strict=True)],
                    drift,
                )
                for t in range(2)
            ]  # fmt: skip
            weights.append(log_z + log_q + both[0][0] + both[1][0])
            classes.append(z)
            static.append(g == 0)
            curve.append(both[0][1])
    p = np.exp(weights - logsumexp(weights))
    return p @ np.array(classes), p @ np.array(static), p @ np.array(curve)


def run(data, prior, n_draws=6_000, seed=1):
    """Draws of z, of whether nobody drifts, and of the accuracy in class 0."""
    rng = np.random.default_rng(seed)
    state = model.initial_state(data, prior, np.zeros(len(data.gold), np.int32), None, rng)
    scratch, layout = model.new_scratch(state, data, prior), model.layout_of(data, prior)
    tally, trace = new_tally(data, layout), new_trace(2, 2, layout)
    record, rows = Record(tally, trace, keep_nothing(data)), []
    for _ in range(n_draws):
        model.run_block(state, data, prior, Streams(rng, rng, rng), record, scratch)
        rows.append([*state.truth, state.drift[0] == 0, *expit(state.v[:, 0, 0])])
    return np.array(rows, float)[100:]


def compare(gold, prior=PRIOR):
    data, packed = setting(gold, prior)
    classes, static, curve = exact(prior, gold)
    rows = run(data, packed)
    want = [*classes, static, *curve]
    names = [k for k in range(rows.shape[1]) if 0 < want[k] < 1]
    assert_means({k: rows[:, k] for k in names}, {k: want[k] for k in names})


@needs_compiler
def test_known_classes_against_forward_backward_on_a_grid():
    compare([0, 0, 0, 0, 0])
    compare([0, 1, 0, 1, 0])


@needs_compiler
def test_unknown_classes_against_the_sum_over_all_truths():
    compare([0, -1, 0, -1, 0])


@needs_compiler
def test_a_grid_of_zero_is_the_static_logistic_normal_model():
    still = DynamicPrior(PRIOR.mean, PRIOR.strength, PRIOR.class_weights, drift=(0.0,))
    compare([0, -1, 0, -1, 0], still.resolve(2, 2))


def test_one_label_says_nothing_of_drift():
    """One label an annotator: whatever the drift, the evidence is the same."""
    same = [evidence(PRIOR, 0, [True], drift)[0] for drift in PRIOR.drift]
    np.testing.assert_allclose(same, same[0], rtol=1e-12)


@needs_compiler
def test_one_label_an_annotator_leaves_the_drift_at_its_prior():
    data = encode([0, 1, 2], [0, 1, 2], [0, 1, 1], sizes=(3, 3, 2, 2), gold=[0, 0, 1])
    times = times_of(np.arange(3), np.arange(3), np.array([0, 1, 1]), np.zeros(3), 3)
    rows = run(data, model.pack_prior(PRIOR, course_of(times, "labels", 1.0, 1)), 3_000)
    assert_means({"static": rows[:, 3]}, {"static": 0.4})


def test_answers_sum_to_one_and_the_first_stick_is_being_right():
    rng = np.random.default_rng(0)
    sticks = sticks_of(rng.dirichlet([1, 2, 3, 1], 3), np.array([2.0, 3.0, 4.0]))
    v = rng.normal(0, 3, (2, 3, 3))
    for t in range(3):
        p = [np.exp(log_answer(t, c, 1, v, sticks.place)) for c in range(4)]
        np.testing.assert_allclose(sum(p), 1, rtol=1e-12)
        np.testing.assert_allclose(p[t], expit(v[1, t, 0]), rtol=1e-12)
        later = [c for c in range(4) if c != t]
        np.testing.assert_allclose(p[later[0]], expit(-v[1, t, 0]) * expit(v[1, t, 1]), rtol=1e-12)


def test_sticks_match_the_dirichlet():
    """Mean and variance of the logit of the first stick, by draws of the Dirichlet."""
    shape = np.array([1.8, 1.2, 0.9])
    sticks = sticks_of((shape / shape.sum())[None], np.array([shape.sum()]))
    rng = np.random.default_rng(1)
    p = rng.dirichlet(shape, 40_000)
    logit = np.log(p[:, 0]) - np.log1p(-p[:, 0])
    assert abs(logit.mean() - sticks.mean[0, 0]) < 4.5 * logit.std() / 200
    square = (logit - logit.mean()) ** 2
    assert abs(square.mean() - sticks.variance[0, 0]) < 4.5 * square.std() / 200


def test_moments_share_a_state_where_times_are_equal_or_blocks_are_asked_for():
    who = np.array([0, 0, 0, 0, 1, 1])
    item = np.array([0, 1, 2, 3, 0, 1])
    times = times_of(item, who, item * 0, np.array([5.0, 1.0, 1.0, 2.0, 7.0, 8.0]), 2)
    course = course_of(times, "labels", 1.0, 1)
    assert course.moment.tolist() == [0, 0, 1, 2, 3, 4]
    assert course.step.tolist() == [0, 2, 1, 0, 1]
    assert course.moment_of_label.tolist() == [2, 3, 0, 4, 0, 1]
    assert course_of(times, "labels", 1.0, 2).moment_start.tolist() == [0, 2, 3]


SIGN = ("0.5 if j == place[t, c] else -0.5", "-0.5 if j == place[t, c] else 0.5")
ORDER = ("[t, *(c for c in range(n_answers) if c != t)]", "list(range(n_answers))")


@pytest.mark.parametrize(
    ("file", "edit"), [("walks", SIGN), ("course", ORDER)], ids=["kap sign", "stick order"]
)
def test_planted_bug_is_caught(file, edit, tmp_path, monkeypatch):
    """The sign of kappa by the grid, the order of sticks by the rows that it makes."""
    edits = [(f"kernels/gibbs/dynamic/{file}.py", *edit)]
    package = planted(IBCC_2, tmp_path, edits).package
    here = globals()
    for name, module in (("model", "model"), ("course_of", "course"), ("sticks_of", "course")):
        found = import_module(f"{package}.kernels.gibbs.dynamic.{module}")
        monkeypatch.setitem(here, name, found if name == module else getattr(found, name))
    check = stick_check if file == "course" else walk_check
    with pytest.raises(AssertionError):
        check()


def stick_check():
    test_answers_sum_to_one_and_the_first_stick_is_being_right()


def walk_check():
    data, packed = setting([0] * 5)
    curve = exact(PRIOR, [0] * 5)[2]
    rows = run(data, packed, 300)[:, 6:]
    assert_means(dict(enumerate(rows.T)), dict(enumerate(curve)))
