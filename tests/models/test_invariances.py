"""What must not matter does not: the order of rows, of items, of annotators, of classes.

Orders of rows and silent annotators change no bit of a whole fit. Permuting items, annotators or
classes (with the prior) permutes every conditional probability that the samplers draw from.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.data.codes import encode
from coterie.kernels.collapsed import log_marginal
from coterie.models import MODELS
from ladder.cases import Case
from ladder.collapsed import ALPHA, item_log_weights, new_state
from reference.problem import Problem

N_ITEMS, N_ANNOTATORS, N_CLASSES, N_ANSWERS = 5, 4, 3, 4
SIZES = (N_ITEMS, N_ANNOTATORS, N_CLASSES, N_ANSWERS)
MEAN = np.array([[0.5, 0.2, 0.2, 0.1], [0.15, 0.55, 0.1, 0.2], [0.2, 0.1, 0.65, 0.05]])
RATE, WEIGHTS = np.array([3.0, 2.0, 4.0]), np.array([1.2, 0.7, 0.9])

labels = st.lists(
    st.tuples(
        st.integers(0, N_ITEMS - 1), st.integers(0, N_ANNOTATORS - 1), st.integers(0, N_ANSWERS - 1)
    ),
    min_size=1,
    max_size=25,
)
truths = st.lists(st.integers(0, N_CLASSES - 1), min_size=N_ITEMS, max_size=N_ITEMS)
groups = st.lists(st.integers(0, 2), min_size=N_ANNOTATORS, max_size=N_ANNOTATORS)
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=25)
ALONE = sorted(name for name, kind in MODELS.items() if not kind.needs)
"""Those that need nothing but labels."""


def priors(classes):
    """The three priors with their classes in this order; the extra answer stays last."""
    answers = [*classes, N_ANSWERS - 1]
    shared = {"mean": MEAN[classes][:, answers], "class_weights": WEIGHTS[classes]}
    rate = RATE[classes]
    return {
        "ibcc": coterie.IBCCPrior(**shared, strength=rate),
        "cbcc": coterie.CBCCPrior(**shared, strength=rate, concentration=0.7),
        "hcbcc": coterie.HCBCCPrior(
            **shared, mean_strength=rate, strength=coterie.Gamma(rate + 2, rate), concentration=0.7
        ),
    }


def conditionals(name, triples, z, q, prior, beta, eta):
    """Give log p(class | rest) of every labelled item, (N, T), and log p(labels | rest)."""
    problem = Problem(N_ITEMS, N_ANNOTATORS, N_CLASSES, N_ANSWERS, tuple(triples))
    case = Case(name, problem, prior.resolve(N_CLASSES, N_ANSWERS))
    heard = np.isin(np.arange(N_ANNOTATORS), problem.active)
    used = np.unique(np.array(q)[heard])  # coteries are numbered without gaps
    q = np.where(heard, np.searchsorted(used, q), 0)

    def state():
        return new_state(name, problem.codes, np.array(z), q, ALPHA, beta[used], eta[used])

    logs = np.zeros((N_ITEMS, N_CLASSES))
    for i in np.flatnonzero(np.diff(problem.codes.item_start)):
        logs[i] = item_log_weights(case, state(), i)
    said = state()["said"]
    if name == "hcbcc":
        weight = (beta[:, :, None] * eta).swapaxes(1, 2)[used][q]
    else:
        weight = (np.asarray(case.prior.strength)[:, None] * case.prior.mean).T
    if name == "cbcc":
        said = np.stack([said[q == m].sum(axis=0) for m in range(3)])
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True), log_marginal(said, weight)


def compare(name, triples, z, q, seed, item, annotator, classes):
    """A problem and its permuted twin (new position of everything): the same conditionals."""
    rng = np.random.default_rng(seed)
    beta = rng.gamma(4.0, 1.0, (3, N_CLASSES))
    eta = rng.dirichlet(np.full(N_ANSWERS, 2.0), (3, N_CLASSES))
    answer = np.append(classes, N_ANSWERS - 1)  # new code of an answer
    back = np.argsort(classes)  # old code at a new place
    logs, log_p = conditionals(name, triples, z, q, priors([0, 1, 2])[name], beta, eta)
    turned_triples = [(item[i], annotator[l], answer[c]) for i, l, c in triples]
    turned_z, turned_q = np.zeros(N_ITEMS, int), np.zeros(N_ANNOTATORS, int)
    turned_z[item] = classes[z]
    turned_q[annotator] = q
    turned_eta = eta[:, back][:, :, [*back, N_ANSWERS - 1]]
    turned, turned_log_p = conditionals(
        name, turned_triples, turned_z, turned_q, priors(back)[name], beta[:, back], turned_eta
    )
    np.testing.assert_allclose(turned[item][:, classes], logs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(turned_log_p, log_p, rtol=1e-9)


@pytest.mark.parametrize("name", ["ibcc", "cbcc", "hcbcc"])
@quick
@given(labels, truths, groups, seeds)
def test_permuting_items_annotators_and_classes_permutes_the_conditionals(
    name, triples, z, q, seed
):
    rng = np.random.default_rng(seed)
    orders = (rng.permutation(n) for n in SIZES[:3])
    compare(name, triples, z, q, seed, *orders)


def fit(name, triples, n_silent=0):
    rows = [(f"q{i}", f"w{l}", "abcd"[c]) for i, l, c in triples]
    frame = coterie.read(rows, classes=["a", "b", "c"], extra_answers=["d"], duplicates="keep")
    if n_silent:
        frame = with_silent_annotators(frame, n_silent)
    model = MODELS[name]()
    wanted = {"sweeps": 30, "burn_in": 10, "chains": 2, "random_state": 3}
    known = model.get_params()
    model.set_params(**{key: value for key, value in wanted.items() if key in known})
    return model.fit(frame).posterior_


def with_silent_annotators(annotations, n_silent):
    """The same labels, with annotators at both ends of the list who said nothing."""
    codes = annotations.codes
    moved = encode(
        annotations.item_of_label, codes.item_annotator + 1, codes.item_answer,
        sizes=(annotations.n_items, annotations.n_annotators + 1 + n_silent, 3, 4),
    )  # fmt: skip
    names = ["silent", *annotations.annotators, *(f"silent{k}" for k in range(n_silent))]
    return coterie.Annotations(
        annotations.items, np.array(names, object), annotations.classes,
        annotations.extra_answers, moved,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=8)
@given(labels, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(name, triples, random):
    first = fit(name, triples)
    shuffled = list(triples)
    random.shuffle(shuffled)
    second = fit(name, shuffled)
    np.testing.assert_array_equal(first.item_probability, second.item_probability)
    np.testing.assert_array_equal(first.confusion_mean, second.confusion_mean)


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=8)
@given(labels, st.integers(1, 3))
def test_annotators_without_labels_change_no_bit(name, triples, n_silent):
    first = fit(name, triples)
    second = fit(name, triples, n_silent)
    np.testing.assert_array_equal(first.item_probability, second.item_probability)
    heard = slice(1, 1 + first.annotations.n_annotators)
    np.testing.assert_array_equal(first.confusion_mean, second.confusion_mean[heard])
    if first.draws is not None:
        np.testing.assert_array_equal(first.draws.confusion, second.draws.confusion[:, :, heard])
        np.testing.assert_array_equal(first.draws.class_balance, second.draws.class_balance)
    if first.draws is not None and first.draws.partition is not None:
        np.testing.assert_array_equal(first.n_coteries, second.n_coteries)
