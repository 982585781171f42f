"""The verdict: what cannot be checked, whom it accuses, and whom a vote must not accuse."""

import warnings

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import posteriors, reported
from builders.pagetree import parse
from coterie.report import gather, render
from coterie.report.scores import judge
from coterie.report.verdict import blind_accuracy, caveat_of, kinds_by_limits

MODELS = [coterie.DawidSkene, coterie.MajorityVote]


def verdict(posterior, **options):
    (box,) = parse(render(posterior, **options)).with_class("verdict")
    return [sentence.text for sentence in box.all("p")]


def coin_flips(items=60, second=0, annotators=3, gold=0):
    """One answer an item, at random; the first ``second`` items have two."""
    rng = np.random.default_rng(0)
    rows = [
        (f"q{i:03}", f"w{(i + k) % annotators}", "ab"[rng.integers(2)])
        for i in range(items)
        for k in range(1 + (i < second))
    ]
    known = {f"q{i:03}": "a" for i in range(gold)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", coterie.DataWarning)  # that nothing can be compared
        return coterie.read(rows, gold=known or None)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("options", [{}, {"second": 1}, {"annotators": 1}])
def test_one_label_an_item_is_never_an_all_clear(model, options):
    posterior = model().fit(coin_flips(**options)).posterior_
    first, *others = verdict(posterior)
    assert first.startswith("Nothing here can be checked")
    assert "Ask " in first
    assert len(others) == 1
    assert "certain" not in others[0]
    assert "expected right" not in parse(render(posterior)).with_class("figures")[0].words
    scored = verdict(posterior, truth={"q030": "a"})
    assert scored[2].startswith("Against the truth of 1 item, ")


@pytest.mark.parametrize("model", MODELS)
def test_few_second_labels_are_said_first(model):
    said = verdict(model().fit(coin_flips(second=12)).posterior_)
    assert said[0].startswith("Little here can be checked: on 48 items (80\N{NO-BREAK SPACE}%)")
    assert "Nothing stands out" not in " ".join(said)
    assert said[1].startswith("60 items have a label")


def test_a_second_or_a_known_label_is_a_check():
    assert caveat_of(coin_flips(second=30)) is None
    assert caveat_of(coin_flips(gold=30)) is None
    assert not caveat_of(coin_flips(gold=12)).nothing
    assert caveat_of(reported.crowd().annotations) is None


def voted(posterior):
    return verdict(posteriors.point(posterior, "MajorityVote"))


def test_a_vote_accuses_nobody():
    posterior = reported.crowd(items=200, labels_per_item=8)
    weighed = verdict(posteriors.point(posterior))[2]
    assert "answer without regard" in weighed
    assert "annotators (w" in weighed
    said = voted(posterior)[2]
    assert "cannot tell good annotators from bad: DawidSkene can" in said
    assert "w00" not in said
    assert "regard" not in said


def people(accuracy, n_labels):
    return pd.DataFrame(
        {
            "annotator": [f"w{l}" for l in range(len(accuracy))],
            "n_labels": n_labels,
            "accuracy": accuracy,
            "informativeness": 0.5,
        }
    )


def test_without_roles_those_far_below_blind_answers_are_against():
    table = people([0.07, 0.07, 0.3, 0.02, 0.0], [30, 19, 30, 30, 200])
    blind = np.array([0.5, 0.5, 0.5, 0.1, 0.1])
    # enough labels; too few labels; above half; 30 labels could miss a tenth by chance; 200 not
    assert kinds_by_limits(table, blind) == [
        "against", "unknown", "unknown", "unknown", "against",
    ]  # fmt: skip


def test_blind_answers_are_the_shuffled_ones():
    posterior = reported.crowd(extra=("unsure",))
    rng = np.random.default_rng(0)
    l, n = 3, 200_000
    matrix, balance = posterior.confusion_mean[l], posterior.class_balance
    truth = rng.choice(3, n, p=balance)
    answer = (rng.random((n, 1)) > matrix[truth].cumsum(axis=1)).sum(axis=1)
    right = (rng.permutation(answer) == truth).mean()
    exact = blind_accuracy(posterior)[l]
    assert abs(right - exact) < 4 * np.sqrt(exact * (1 - exact) / n)


def test_dawid_skene_names_the_adversaries():
    crowd = coterie.simulate("mixed", items=300, annotators=60, random_state=1)
    posterior = coterie.DawidSkene().fit(crowd.annotations).posterior_
    said = verdict(posterior)[2]
    assert "2 annotators (a60 and a59; " in said
    assert "tend to answer against the truth" in said


def test_nobody_who_says_one_thing_is_against_the_truth():
    rows = [(f"q{i}", f"w{l}", "b" if i < 10 else "a") for i in range(100) for l in range(4)]
    rows += [(f"q{i}", "rare", "b") for i in range(100)]  # right on 10 % of the items
    posterior = coterie.DawidSkene().fit(rows).posterior_
    said = verdict(posterior)[2]
    assert said.startswith("Annotator rare (20\N{NO-BREAK SPACE}% of the labels) answers without")
    assert "against the truth" not in said


@pytest.mark.parametrize(
    ("confidence", "accuracy", "n", "word"),
    [
        (0.99, 0.889, 108, "overconfident"),
        (0.99, 0.98, 108, "about right"),
        (1.0, 0.9, 5, None),
        (0.7, 0.9, 108, "too modest"),
        (0.7, 1.0, 1, None),
        (0.7, 0.75, 30, None),
        (0.9, 0.905, 100_000, "about right"),
    ],
)
def test_calibration_is_judged_in_both_directions_by_its_error(confidence, accuracy, n, word):
    assert judge(confidence, accuracy, n) == word


def test_an_overconfident_model_is_told_so():
    posterior = reported.crowd(items=400)
    answer = dict.fromkeys(posterior.annotations.items, "c0")
    expected = gather(posterior, truth=answer)
    assert expected.truth["judged"] == "overconfident"
    assert "that the model expects of them" in verdict(posterior, truth=answer)[1]
    right = posterior.labels().set_index("item")["label"]
    modest = gather(posterior, truth=right)
    assert modest.truth["judged"] == "too modest"
    assert "expects of them" not in verdict(posterior, truth=right)[1]


def test_known_labels_are_no_certainty():
    rows = [(item, who, "ab"[item % 2]) for item in range(6) for who in ("ann", "bob", "cat")]
    known = {item: "ab"[item % 2] for item in range(6)}
    posterior = coterie.DawidSkene().fit(coterie.read(rows, gold=known)).posterior_
    assert verdict(posterior)[1] == ("Every label is known: gold was given for 6 items of 6.")
    some = coterie.DawidSkene().fit(coterie.read(rows, gold={0: "a", 1: "b"})).posterior_
    assert ", 2 of them known) are at least" in verdict(some)[1]
