"""Panels of judges: what they are worth, who copies, position, whom to keep, what to trust."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.errors import DataError
from coterie.judges import effective_number, look_at, words
from coterie.judges.bias import column_table, copies, first_class, position_table
from coterie.judges.keep import Trial, keep
from coterie.judges.page import make_page
from coterie.judges.panel import gold_needed
from coterie.simulation import Group

EVEN = [[0.8, 0.2], [0.3, 0.7]]


def crowd_of(groups, seed=0, **sizes):
    sizes = {"items": 150, "annotators": 6, "labels_per_item": 6} | sizes
    return coterie.simulate(groups, classes=["no", "yes"], random_state=seed, **sizes)


def quick(crowd, **reading):
    return coterie.QuickConsensus().fit(coterie.read(crowd.annotations, **reading)).posterior_


def codes_of(crowd):
    return (crowd.truth == "yes").to_numpy().astype(np.int64)


def test_independent_judges_are_worth_their_number_and_copies_less():
    held, worth = 0, []
    for seed in range(20):
        crowd = crowd_of([Group("one", EVEN)], seed)
        found = effective_number(quick(crowd), codes_of(crowd))
        held += found.high == 6.0  # capped: the interval reaches independence
        worth.append(found.number)
    assert held / 20 >= 0.975 - 4 * np.sqrt(0.975 * 0.025 / 20)
    panel = [Group("model", EVEN, share=1), Group("copycat", EVEN, copies=1.0, share=5)]
    copied = crowd_of(panel)
    found = effective_number(quick(copied), codes_of(copied))
    assert found.number == pytest.approx(1.0, abs=0.05)
    assert found.number < min(worth)


def test_a_worth_that_labels_do_not_tell_is_said_as_a_range():
    good = crowd_of([Group("good", [[0.95, 0.05], [0.05, 0.95]])], items=300)
    (said, *_) = words.headline(look_at(quick(good)))
    assert said.startswith("6 judges are worth between ")
    assert " and 6.0 independent ones: the labels alone do not tell" in said
    (said, *_) = words.headline(look_at(quick(good), truth=good.truth))
    assert "On known items alone: " in said
    assert "between" not in said


def test_opposite_errors_do_not_make_up_for_copies():
    wrong = {"x": {0, 1, 2, 3}, "copy": {0, 1, 2, 3}, "y": {4, 5, 6, 7}, "z": {8, 9, 10, 11}}
    wrong |= {"w": {12, 13, 14, 15}, "v": {16, 17, 18, 19}}
    rows = [
        (i, who, "B" if i % 20 in own else "A") for i in range(40) for who, own in wrong.items()
    ]
    crowd = coterie.read(rows, gold=dict.fromkeys(range(40), "A"))
    panel = look_at(coterie.QuickConsensus().fit(crowd).posterior_)
    assert [sorted(group) for group in panel.copies] == [["copy", "x"]]
    assert panel.worth.low < panel.worth.number < panel.worth.high < 6 / (1 + 5 * 0.5 / 15)


def test_a_crowd_is_worth_less_than_its_labels_per_item():
    crowd = crowd_of("copycats", annotators=20, labels_per_item=5, items=200)
    found = effective_number(quick(crowd), codes_of(crowd))
    assert found.labels == 5
    assert 1 <= found.low <= found.number <= found.high <= 5


def test_copies_are_gathered_in_sets():
    pairs = pd.DataFrame(
        {"first": list("abxp"), "second": list("bcyq"), "low": [0.9, 0.6, 0.7, 0.4]}
    )
    assert copies(pairs) == [["a", "b", "c"], ["x", "y"]]


def both_orders(plain, swapped):
    rows = [(i, "gpt", c) for i, c in enumerate(plain)]
    return coterie.read(rows + [(i, "gpt / swapped", c) for i, c in enumerate(swapped)])


def test_a_judge_who_always_takes_the_first_is_all_position():
    table = position_table(both_orders("A" * 20, "B" * 20))
    assert table.iloc[0][["consistent", "bias", "explained"]].tolist() == [0.0, 1.0, 1.0]
    table = position_table(both_orders("B" * 20, "A" * 20))
    assert table.iloc[0]["bias"] == -1.0


def test_a_judge_who_follows_the_answers_is_not():
    table = position_table(both_orders("AB" * 10, "AB" * 10))
    assert table.iloc[0][["consistent", "high", "bias", "explained"]].tolist() == [
        1.0,
        1.0,
        0.0,
        0.0,
    ]
    assert position_table(both_orders("AB" * 4, "AB" * 4)).empty  # too few


def test_ties_are_no_side():
    said = coterie.read([(1, "x", "tie"), (1, "y", "model_2"), (2, "x", "model_1")])
    assert first_class(said) == "model_1"
    assert first_class(coterie.simulate(items=9, classes=4, random_state=0).annotations) is None


def test_a_column_that_decides_and_one_that_does_not():
    rng = np.random.default_rng(0)
    length = rng.normal(size=200)
    rows = [(i, "long", "A" if x > 0 else "B") for i, x in enumerate(length)]
    rows += [(i, "fair", "AB"[i % 2]) for i in range(200)]
    columns = pd.DataFrame({"longer": length, "same": 1.0})
    table = column_table(coterie.read(rows), columns).set_index("judge")
    assert table["column"].tolist() == ["longer", "longer"]
    assert table.loc["long", "explained"] > 0.5
    assert table.loc["fair", "low"] < 0 < table.loc["fair", "high"]


def test_the_cheapest_panel_that_agrees_is_found_by_trying_all():
    crowd = crowd_of(
        [Group("good", [[0.97, 0.03], [0.03, 0.97]], share=2), Group("bad", EVEN, share=4)]
    )
    posterior = quick(crowd)
    nobody = np.full(150, -1)
    found = keep(posterior, known=nobody, tolerance=0.06)
    assert found.found
    assert len(found.judges) == 1
    assert found.agreement >= 0.94
    prices = dict.fromkeys(posterior.annotations.annotators, 1) | dict.fromkeys(found.judges, 50)
    dear = keep(posterior, known=nobody, tolerance=0.06, prices=prices)
    assert set(dear.judges).isdisjoint(found.judges)
    trial = Trial(posterior, nobody, 0.06)
    assert trial.passes([posterior.annotations.annotators.tolist().index(j) for j in dear.judges])
    with pytest.raises(DataError, match="prices must have a number for every judge; 'a1' has None"):
        keep(posterior, known=nobody, prices={"a2": 1})


def test_of_many_judges_a_small_panel_is_found_step_by_step():
    crowd = crowd_of([Group("one", EVEN)], annotators=15, labels_per_item=15)
    found = keep(quick(crowd), known=codes_of(crowd), tolerance=0.1)
    assert found.found
    assert len(found.judges) < 12
    assert found.right >= found.right_whole - 0.1


def test_known_labels_that_decide_between_two_readings():
    two = pd.DataFrame({"item": range(4), "one": "a", "p": 0.99, "other": "b", "q": 0.99})
    assert gold_needed(two) == 1
    assert gold_needed(two.assign(p=0.6, q=0.6)) > 4


def test_the_panel_says_what_it_knows():
    crowd = crowd_of("copycats", items=80)
    plain = look_at(quick(crowd))
    assert plain.score is None
    assert plain.worth_known is None
    assert any("are worth" in sentence for sentence in words.headline(plain))
    known = look_at(quick(crowd), truth=crowd.truth, columns=pd.DataFrame(
        {"length": np.arange(80.0)}, index=crowd.truth.index
    ))  # fmt: skip
    assert known.score.items == 80
    said = " ".join(words.headline(known))
    assert "with a truth that the fit has not seen" in said
    said_of = crowd.annotations.to_frame()
    right = (said_of["label"] == said_of["item"].map(crowd.truth)).mean()
    assert known.judges["known_right"].mean() == pytest.approx(right)
    gold = look_at(quick(crowd, gold=crowd.truth))
    assert "Every item with labels is known" in " ".join(words.headline(gold))


def test_the_page_loads_nothing_and_escapes_names():
    rows = [(i, name, "AB"[(i + k) % 2]) for i in range(30) for k, name in enumerate(["<b>x", "y"])]
    rows += [(i, "y / swapped", "A") for i in range(30)]
    panel = look_at(coterie.QuickConsensus().fit(rows).posterior_)
    page = make_page(panel, "Our <judges>")
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page
    assert "http" not in page.split("</head>")[1]
    assert "Our &lt;judges&gt;" in page
