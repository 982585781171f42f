"""Contributions and payments, stopping, and what to do about people."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.assign import actions, contributions, stop
from coterie.assign.actions import Case, decide
from coterie.assign.contributions import share_out
from coterie.assign.draws import wrong_quantile
from coterie.roles import Pattern, Role


@pytest.fixture(scope="module")
def crowd():
    return coterie.simulate("mixed", items=150, annotators=15, labels_per_item=4, random_state=0)


@pytest.fixture(scope="module")
def posterior(crowd):
    return coterie.QuickConsensus().fit(crowd.annotations).posterior_


@pytest.fixture(scope="module")
def sampled(crowd):
    model = coterie.Consensus(random_state=0, progress=False, n_jobs=1)
    return model.fit(crowd.annotations).posterior_


def refitted_bits(frame, posterior):
    """What belief about the items loses without each annotator, everything fitted again."""
    p, found = posterior.probabilities(), {}
    for name in posterior.annotations.annotators:
        rest = coterie.QuickConsensus().fit(frame[frame["annotator"] != name]).posterior_
        q = rest.probabilities().reindex_like(p)
        assert q.notna().all().all()
        found[name] = float((p * np.log2(p / q)).to_numpy().sum())
    return pd.Series(found)


def test_bits_agree_with_real_refits(crowd, posterior):
    table = contributions(posterior).set_index("annotator")
    refitted = refitted_bits(crowd.annotations.to_frame(), posterior)
    assert table["bits"].corr(refitted, method="spearman") > 0.9
    assert 0.75 < table["bits"].sum() / refitted.sum() < 1.25
    assert (table["bits"] >= 0).all()


def test_payments_add_up_and_are_never_negative(posterior):
    for pay in (0, 0.07, 100, 1234.56):
        table = contributions(posterior, pay=pay)
        for column in ("payment", "equal_payment"):
            assert round(table[column].sum() * 100) == round(pay * 100)
            assert (table[column] >= 0).all()
            cents = table[column] * 100
            np.testing.assert_allclose(cents, cents.round(), atol=1e-6)


def test_payments_do_not_depend_on_names(crowd):
    frame = crowd.annotations.to_frame()
    before = contributions(coterie.QuickConsensus().fit(frame).posterior_, pay=500)
    order = np.random.default_rng(0).permutation(15)
    new = dict(zip(before["annotator"], (f"w{k:02d}" for k in order), strict=True))
    renamed = frame.assign(annotator=frame["annotator"].map(new))
    after = contributions(coterie.QuickConsensus().fit(renamed).posterior_, pay=500)
    paid = after.set_index("annotator")["payment"]
    assert paid[before["annotator"].map(new)].tolist() == before["payment"].tolist()


def test_payments_do_not_depend_on_how_labels_lie_in_files(crowd, tmp_path):
    frame = crowd.annotations.to_frame()
    frame.to_csv(tmp_path / "whole.csv", index=False)
    halves = tmp_path / "halves"
    halves.mkdir()
    shuffled = frame.sample(frac=1, random_state=0)
    for k in range(2):
        shuffled.iloc[k::2].to_csv(halves / f"{k}.csv", index=False)
    parts = pd.concat([pd.read_csv(path) for path in sorted(halves.glob("*.csv"))])
    paid = [
        contributions(coterie.QuickConsensus().fit(data).posterior_, pay=500)["payment"].tolist()
        for data in (coterie.read(tmp_path / "whole.csv"), parts)
    ]
    assert paid[0] == paid[1]


def test_shares_of_nothing_are_equal():
    assert share_out(1, np.zeros(4)).tolist() == [0.25] * 4
    with pytest.raises(coterie.DataError, match="pay must be"):
        share_out(-1, np.ones(2))


def test_the_share_of_wrong_labels_has_the_quantiles_of_draws():
    p = np.random.default_rng(0).uniform(0.6, 1, 300)
    rng, draws = np.random.default_rng(1), 20_000
    shift = rng.normal(0, 0.4, draws)
    right = 1 / (1 + (1 / p - 1) * np.exp(-shift[:, None]))
    wrong = (rng.random(right.shape) > right).mean(axis=1)
    found = wrong_quantile(p, 0.95, 0.4)
    below = (wrong <= found).mean()
    assert abs(below - 0.95) < 4 * np.sqrt(0.05 * 0.95 / draws) + 0.01  # shares are of 300 items


def test_decisions_about_items(posterior):
    found = stop(posterior, target=0.9)
    table = found.items
    settled = table["decision"] == "settled"
    assert (table.loc[settled, "probability"] >= 0.9).all()
    assert (table.loc[~settled, "probability"] < 0.9).all()
    asked = table["decision"] == "ask"
    assert asked.any()
    assert (table.loc[asked, "gain_per_label"] > found.price).all()
    assert (table.loc[~asked & ~settled, "gain_per_label"] <= found.price).all()
    assert "with 95 % probability" in str(found).replace("\N{NO-BREAK SPACE}", " ")
    assert "unless most annotators make the same mistake" in str(found)
    assert "unless" not in str(stop(posterior, shared_mistakes=0))
    assert found.expected_wrong < found.at_most_wrong
    free = stop(posterior, cost_of_error=1, cost_of_label=0).items  # rounding is no gain
    assert (free.loc[free["decision"] == "ask", "gain_per_label"] > 1e-9).all()


def test_labels_that_cost_more_are_asked_for_less(posterior):
    counts = [
        stop(posterior, cost_of_error=10, cost_of_label=cost, cost_of_expert=2).counts
        for cost in (0.01, 1, 100)
    ]
    asked = [n["ask"] for n in counts]
    assert asked[0] > asked[1] > asked[2] == 0
    assert counts[2]["expert"] > 0


@pytest.mark.filterwarnings("ignore::coterie.errors.DataWarning")
def test_all_items_settled_is_a_sentence():
    rows = [(f"q{i}", "ann", "ab"[i % 2]) for i in range(4)]
    gold = {f"q{i}": "ab"[i % 2] for i in range(4)}
    posterior = coterie.QuickConsensus().fit(rows, gold).posterior_
    found = stop(posterior)
    assert found.sentence.startswith("All items are settled")
    assert found.at_most_wrong < 1e-6


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"target": 1.5}, "target must be"),
        ({"cost_of_label": -1}, "cost_of_label must be"),
        ({"shared_mistakes": -1}, "shared_mistakes must be"),
    ],
)
def test_what_cannot_be_is_refused(posterior, given, words):
    with pytest.raises(coterie.DataError, match=words):
        stop(posterior, **given)


def test_actions_follow_roles(sampled):
    table = actions(sampled, cost=0.1)
    assert len(table) == 15
    assert table.loc[table["role"] == "expert", "action"].isin(["reward"]).all()
    unknown = table["role"] == "too few labels to say"
    assert (table.loc[unknown, "action"] == "wait").all()
    np.testing.assert_allclose(table["saves_money"], table["saves"] * 0.1)
    assert (table["why"] != "").all()


def test_nothing_is_decided_with_too_few_labels():
    action, saves, why = decide(Case(Role(Pattern.SPAMMER), 9, 0.0, 0.5, 0.5, None))
    assert (action, saves) == ("wait", 0.0)
    assert "too few" in why


@pytest.mark.filterwarnings("ignore::coterie.errors.CoterieWarning")
def test_nothing_is_decided_about_those_who_can_be_compared_with_nobody():
    rows = [(f"q{i}", "ann", "ab"[i % 2]) for i in range(30)]
    model = coterie.Consensus(random_state=0, progress=False, n_jobs=1)
    (row,) = actions(model.fit(rows).posterior_).itertuples()
    assert row.action == "wait"
    assert "somebody else" in row.why
    known = {f"q{i}": "ab"[i % 2] for i in range(30)}
    (row,) = actions(model.fit(rows, known).posterior_).itertuples()
    assert row.action != "wait"


def test_an_adversary_stays_informative_and_the_words_say_so():
    action, _, why = decide(Case(Role(Pattern.ADVERSARY), 100, 0.6, 0.5, 0.7, ("a", "b")))
    assert action == "watch"
    assert "informative" in why


@pytest.mark.parametrize(
    ("pattern", "about", "action"),
    [
        (Pattern.EXPERT, (), "reward"),
        (Pattern.GOOD, (), "keep"),
        (Pattern.CONFUSES, ("a", "b"), "train"),
        (Pattern.NOVICE, (), "train"),
        (Pattern.ALWAYS, ("a",), "stop assigning"),
        (Pattern.UNCLEAR, (), "watch"),
    ],
)
def test_every_pattern_has_an_action(pattern, about, action):
    assert decide(Case(Role(pattern, about), 100, 0.2, 0.5, 0.4, ("a", "b")))[0] == action


def test_point_estimates_have_no_roles(posterior):
    with pytest.raises(coterie.CoterieError, match="without roles"):
        actions(posterior)
