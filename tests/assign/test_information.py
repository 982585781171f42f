"""Expected information: against exact refits, and the choice against its slow twin."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.assign import next_labels
from coterie.assign.belief import belief_of, inform_all
from coterie.assign.greedy import Problem, choose
from ladder.marks import rest_slow
from reference.greedy import choose_slowly
from reference.problem import Problem as Tiny
from reference.refits import posterior_of, refitted_information, sampled_posterior_of

SIZES = [(8, 3, 2, 2), (5, 4, 2, 3), (5, 3, 3, 3)]


def tiny(n_items, n_annotators, n_classes, n_answers):
    """Everybody has labelled all items but some, with mistakes."""
    rng = np.random.default_rng(0)
    labels = tuple(
        (i, l, int(rng.integers(n_answers)) if rng.random() < 0.3 else i % n_classes)
        for i in range(n_items)
        for l in range(n_annotators)
        if (i + l) % n_annotators
    )
    return Tiny(n_items, n_annotators, n_classes, n_answers, labels)


def both(size, strength):
    """Information of every missing label: by exact refits, and as it is expected."""
    problem = tiny(*size)
    weights = [1.2, 0.7, 0.9][: size[2]]
    prior = coterie.IBCCPrior(strength=strength, class_weights=weights).resolve(*size[2:])
    belief = belief_of(posterior_of(problem, prior))
    found = inform_all(belief.items, np.ones(size[0]), belief.matrix[:-1])
    pairs = [(i, l) for i in range(size[0]) for l in range(size[1]) if (i + l) % size[1] == 0]
    refitted = [refitted_information(problem, prior, i, l) for i, l in pairs]
    return np.array(refitted), np.array([found[0, i, l] for i, l in pairs])


@pytest.mark.parametrize("size", SIZES)
def test_it_is_that_of_an_exact_refit_where_matrices_are_known(size):
    refitted, expected = both(size, 1e7)
    np.testing.assert_allclose(expected, refitted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_it_is_close_and_in_the_same_order_where_matrices_are_learnt(size):
    refitted, expected = both(size, 3.0)
    # What is left out is that the matrix depends on the item's own class: little, and less with
    # more items than these.
    np.testing.assert_allclose(expected, refitted, rtol=0, atol=0.02)
    assert (np.diff(expected[np.argsort(refitted)]) > -1e-3).all()


def asked_for(posterior):
    """What next_labels says of every missing pair, one question at a time."""
    a, found = posterior.annotations, {}
    for name in a.annotators:
        tasks = next_labels(
            posterior, 99, annotators=[name], most_per_item=1, most_per_annotator=99
        )
        for row in tasks.itertuples():
            pair = (a.items.tolist().index(row.item), a.annotators.tolist().index(name))
            found[pair] = row.information
    return found


def skewed(rng, n_classes, n_answers, strength):
    """A prior that is symmetric in nothing."""
    mean = rng.dirichlet(np.full(n_answers, 0.8), n_classes) + 0.05
    mean[np.arange(n_classes), np.arange(n_classes)] += 0.7
    return coterie.IBCCPrior(
        mean=mean / mean.sum(axis=1, keepdims=True),
        strength=strength * rng.uniform(0.5, 2, n_classes),
        class_weights=rng.uniform(0.3, 2, n_classes),
    ).resolve(n_classes, n_answers)


def random_problem(size, seed):
    """Labels that are noise, the worst there is; and the pairs that have none."""
    rng = np.random.default_rng(seed)
    labels = tuple(
        (i, l, int(rng.integers(size[3])))
        for i in range(size[0])
        for l in range(size[1])
        if rng.random() < 0.6 or l == i % size[1]
    )
    missing = {(i, l) for i in range(size[0]) for l in range(size[1])}
    return Tiny(*size, labels), missing - {(i, l) for i, l, _ in labels}


RANDOM_SIZES = [(6, 3, 2, 2), (4, 4, 2, 4), (4, 3, 3, 3), (4, 3, 3, 4)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", RANDOM_SIZES)
def test_what_is_asked_for_tells_as_much_as_an_exact_refit(size, seed):
    problem, missing = random_problem(size, seed)
    for strength, tolerance in ((1e7, 1e-5), (20.0, 0.015)):
        prior = skewed(np.random.default_rng(seed + 10), *size[2:], strength)
        found = asked_for(posterior_of(problem, prior))
        assert found.keys() <= missing
        for pair in missing:
            refitted = refitted_information(problem, prior, *pair)
            assert abs(found.get(pair, 0.0) - refitted) < tolerance


def information_of(posterior, draws):
    """Information of every pair by next_labels, with these of its draws."""
    some = replace(
        posterior.draws,
        confusion=posterior.draws.confusion[:, draws],
        class_balance=posterior.draws.class_balance[:, draws],
    )
    return asked_for(replace(posterior, draws=some))


@pytest.mark.parametrize("seed", rest_slow(range(4), 0))
@pytest.mark.parametrize("size", RANDOM_SIZES)
def test_draws_tell_how_matrices_depend_on_the_class_of_the_item(size, seed):
    """Within Monte Carlo error of exact refits, however few labels matrices rest on."""
    problem, missing = random_problem(size, seed)
    prior = skewed(np.random.default_rng(seed + 10), *size[2:], 3.0)
    posterior = sampled_posterior_of(problem, prior, 2000, np.random.default_rng(seed))
    whole = information_of(posterior, slice(None))
    tenths = [information_of(posterior, slice(k, None, 10)) for k in range(10)]
    for pair in missing:
        part = [found.get(pair, 0.0) for found in tenths]
        error = np.std(part, ddof=1) / np.sqrt(10)
        refitted = refitted_information(problem, prior, *pair)
        assert abs(whole.get(pair, 0.0) - refitted) < 4 * error + 2e-3  # few draws overstate


def problem_of(rng, n_items=4, n_people=4, n_classes=2, n_answers=2, **changes):
    labels = [sorted(rng.choice(n_people, size=rng.integers(0, 3), replace=False))
              for _ in range(n_items)]  # fmt: skip
    start = np.cumsum([0, *map(len, labels)])
    given = {
        "items": rng.dirichlet(np.ones(n_classes), n_items),
        "n_labels": np.diff(start),
        "ease": rng.uniform(0.5, 1, n_items),
        "overlap": 0.2,
        "matrix": rng.dirichlet(np.ones(n_answers), (n_people, n_classes)),
        "cost": rng.uniform(1, 3, n_people),
        "place": np.arange(n_people),
        "item_start": start,
        "item_annotator": np.concatenate([[], *labels]).astype(np.int32),
        "group_start": np.array([0, n_people]),
        "member": np.arange(n_people),
        "most_per_item": 2**40,
        "budget": 1e9,
    }
    return Problem(**{**given, **changes})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3)])
def test_the_choice_is_that_of_the_slow_twin(seed, shape):
    problem = problem_of(np.random.default_rng(seed), n_classes=shape[0], n_answers=shape[1])
    if seed % 2:  # everybody has a matrix for every item
        shape = (16, *problem.matrix.shape[1:])
        problem = problem._replace(
            matrix=np.random.default_rng(9).dirichlet(np.ones(shape[2]), shape[:2])
        )
    n_picks, left = 6, np.array([2, 9, 9, 1])
    found = choose(problem, n_picks, left, True)
    slow = choose_slowly(problem, left, n_picks)
    assert [(x, y) for x, y, _, _ in slow] == list(
        zip(found.item.tolist(), found.person.tolist(), strict=True)
    )
    np.testing.assert_allclose(found.information, [row[2] for row in slow], atol=1e-12)
    np.testing.assert_allclose(found.gain, [row[3] for row in slow], atol=1e-12)


def test_looking_at_groups_finds_nearly_as_much_as_looking_at_everybody():
    rng = np.random.default_rng(0)
    skill = np.repeat([0.9, 0.6, 0.5], 40)
    matrix = np.array([[[s, 1 - s], [1 - s, s]] for s in skill])
    changes = {
        "matrix": matrix,
        "group_start": np.array([0, 40, 80, 120]),
        "member": np.arange(120),
        "place": np.arange(120),
        "cost": np.ones(120),
    }
    problem = problem_of(rng, n_items=60, n_people=120, **changes)
    found = []
    for everybody in (True, False):
        picks = choose(problem, 150, np.full(120, 2), everybody)
        assert len(picks.item) == 150
        found.append(picks.information.sum())
    assert found[1] >= 0.95 * found[0]


@pytest.fixture(scope="module")
def posterior():
    crowd = coterie.simulate("mixed", items=40, annotators=8, labels_per_item=3, random_state=0)
    return coterie.QuickConsensus().fit(crowd.annotations).posterior_


def test_no_pair_is_asked_for_twice(posterior):
    frame = posterior.annotations.to_frame()
    given = set(zip(frame["item"], frame["annotator"], strict=True))
    tasks = next_labels(posterior, 500)
    asked = list(zip(tasks["item"], tasks["annotator"], strict=True))
    assert len(asked) == len(set(asked)) == 40 * 8 - 120
    assert not given & set(asked)


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_a_coterie_is_asked_only_where_one_of_it_has_no_label():
    model = coterie.Consensus(random_state=0, progress=False, n_jobs=1)
    crowd = coterie.simulate("mixed", items=12, annotators=6, random_state=0)
    assert crowd.annotations.n_labels == 12 * 6
    posterior = model.fit(crowd.annotations).posterior_
    assert len(next_labels(posterior, 9, annotators="coteries")) == 0
    frame = crowd.annotations.to_frame()
    rest = model.fit(frame.drop(index=frame.index[0])).posterior_
    tasks = next_labels(rest, 9, annotators="coteries")
    assert tasks["item"].tolist() == [frame["item"][0]]


def test_caps_costs_and_the_choice_of_items_hold(posterior):
    costs = {name: 1.0 + k for k, name in enumerate(posterior.annotations.annotators)}
    tasks = next_labels(
        posterior, 30, cost=costs, most_per_item=2, most_per_annotator=5,
        among=posterior.annotations.items[:12],
    )  # fmt: skip
    assert tasks["cost"].sum() <= 30
    assert tasks["item"].value_counts().max() <= 2
    assert tasks["annotator"].value_counts().max() <= 5
    assert set(tasks["item"]) <= set(posterior.annotations.items[:12])
    assert (tasks["cost"] == tasks["annotator"].map(costs)).all()


def test_somebody_new_is_expected_to_answer_as_newcomers_do(posterior):
    tasks = next_labels(posterior, 3, annotators=["somebody new"])
    assert set(tasks["annotator"]) == {"somebody new"}
    best = next_labels(posterior, 3)
    assert 0 < tasks["information"].sum() < best["information"].sum()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"budget": 0}, "A budget of 0"),
        ({"budget": 5, "annotators": []}, "Nobody is available"),
        ({"budget": 5, "among": []}, "No items are named"),
        ({"budget": 0.5}, "There is nothing to ask"),
    ],
)
def test_where_nothing_can_be_asked_a_sentence_says_why(posterior, given, words):
    tasks = next_labels(posterior, **given)
    assert len(tasks) == 0
    assert tasks.columns.tolist()[:2] == ["item", "annotator"]
    assert tasks.attrs["sentence"].startswith(words)


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
def test_one_annotator_has_nothing_left_to_say():
    rows = [(f"q{i}", "ann", "ab"[i % 2]) for i in range(6)]
    tasks = next_labels(coterie.QuickConsensus().fit(rows).posterior_, 5)
    assert len(tasks) == 0
    assert "somebody new can still be asked" in tasks.attrs["sentence"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"budget": -1}, "budget must be"),
        ({"budget": 1, "annotators": "ann"}, "neither a list of names"),
        ({"budget": 1, "cost": {"a1": 2}}, "no cost is given for"),
        ({"budget": 1, "cost": -2}, "the cost of a label must be"),
        ({"budget": 1, "among": ["q01x"]}, "no item 'q01x'"),
        ({"budget": 1, "among": "q01"}, "must be a list or None"),
        ({"budget": 1, "most_per_item": 0.5}, "must be a whole number"),
    ],
)
def test_what_cannot_be_is_refused(posterior, given, words):
    with pytest.raises(coterie.DataError, match=words):
        next_labels(posterior, **given)


def test_likeliest_matrices_are_not_plugged_in():
    """Somebody with two labels, both right, does not settle an item alone."""
    rows = [(f"q{i}", who, "ab"[i % 2]) for i in range(2) for who in ("ann", "bob", "cat")]
    rows += [("q2", "bob", "a"), ("q2", "cat", "b")]
    posterior = coterie.DawidSkene(smoothing=0.0).fit(rows).posterior_
    belief, counted = belief_of(posterior), posterior.annotations.labels_per_annotator
    assert belief.matrix.min() > 0.01
    np.testing.assert_allclose(belief.matrix.sum(axis=2), 1)
    assert (counted > 0).all()
    (task,) = next_labels(posterior, 1, annotators=["ann"]).itertuples()
    assert 0 < task.information < 0.5


def test_votes_decide_nothing():
    rows = [("q1", "ann", "a"), ("q2", "bob", "b")]
    with pytest.raises(coterie.CoterieError, match="counts votes"):
        next_labels(coterie.MajorityVote().fit(rows).posterior_, 1)
