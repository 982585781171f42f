"""What a report says, against the tables it says it from."""

import base64
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import coterie
from builders import posteriors, reported
from builders.pagetree import parse
from coterie import metrics
from coterie.abilities import Abilities
from coterie.report import gather, render
from coterie.report.chains import POINTS, thin
from coterie.report.items import unpack
from coterie.report.people import HALF, LEVELS, THIRD, own_roles, picture, room_of
from coterie.report.verdict import kinds_of
from coterie.roles import Pattern, Role, Roles


@pytest.fixture(scope="module")
def posterior():
    return reported.crowd(unlabelled=1, gold=2, extra=("unsure",))


@pytest.fixture(scope="module")
def facts(posterior):
    return gather(posterior)


def test_coteries_are_those_of_the_table(posterior, facts):
    table = posterior.coteries()
    cards = facts.coteries["cards"]
    assert facts.coteries["n"] == len(table) == len(cards)
    for column in table.columns:
        assert [card[column] for card in cards] == table[column].tolist()
    for card in cards:
        matrix = posterior.confusion(coterie=card["coterie"]).to_numpy()
        np.testing.assert_allclose(card["matrix"], matrix, rtol=1e-12)
    people = posterior.annotators().dropna(subset="coterie")
    for card in cards:
        members = people.loc[people["coterie"] == card["coterie"], "annotator"]
        assert set(card["members"]) == set(members)
        assert card["more_members"] == 0
    counts = posterior.n_coteries
    assert facts.coteries["mean"] == counts.mean()
    shares = dict(facts.coteries["numbers"])
    assert shares == {int(n): float((counts == n).mean()) for n in np.unique(counts)}


def test_annotators_are_those_of_the_table(posterior, facts):
    table = posterior.annotators().set_index("annotator")
    rows = facts.annotators["rows"]
    assert sorted(row["annotator"] for row in rows) == sorted(table.index)
    for row in rows:
        for column in ("n_labels", "accuracy", "accuracy_low", "accuracy_high", "informativeness"):
            assert row[column] == table.loc[row["annotator"], column]
    idle = rows[-1]  # the most labels come first
    assert idle["n_labels"] == 0
    assert idle["coterie"] is None
    numbers = [row["n_labels"] for row in rows]
    assert numbers == sorted(numbers, reverse=True)
    assert unpack(facts.block)["matrices"] == facts.annotators["matrices"]
    parts = facts.annotators["matrices"]
    frame = posterior.annotations.to_frame().merge(posterior.labels(), on="item")
    for k, row in enumerate(rows):
        who = row["annotator"]
        for part, quantile in (("mean", None), ("low", 0.025), ("high", 0.975)):
            exact = 100 * posterior.confusion(who, quantile=quantile).to_numpy()
            np.testing.assert_array_equal(parts[part][k], np.rint(exact).astype(int).ravel())
        mine = frame[frame["annotator"] == who]
        counted = [
            ((mine["label_y"] == t) & (mine["label_x"] == c)).sum()
            for t in posterior.annotations.classes
            for c in posterior.annotations.answers
        ]
        assert parts["count"][k] == counted


def test_items_come_most_uncertain_first_with_who_said_what(posterior, facts):
    labels = posterior.labels().set_index("item")
    frame = posterior.annotations.to_frame()
    rows = facts.items["rows"]
    known = set(posterior.annotations.gold)
    assert {row["item"] for row in rows} == set(labels.index) - known
    assert facts.items["n_known"] == len(known) == 2
    certainty = [row["probability"] for row in rows]
    assert certainty == sorted(certainty)
    for row in rows:
        assert (row["label"], row["probability"]) == tuple(
            labels.loc[row["item"], ["label", "probability"]]
        )
        second = posterior.probabilities().loc[row["item"]].drop(row["label"])
        assert row["runner_up"] == second.idxmax()
        assert row["runner_up_probability"] == second.max()
        said = {(who, said["answer"]) for said in row["said"] for who in said["who"]}
        mine = frame[frame["item"] == row["item"]]
        assert said == set(zip(mine["annotator"], mine["label"], strict=True))
        assert row["n_labels"] == len(mine) == sum(said["n"] for said in row["said"])


def test_bands_count_every_labelled_item_once(posterior, facts):
    probability = posterior.labels()["probability"]
    bands = facts.items["bands"]
    assert sum(band["items"] for band in bands) == len(probability)
    for band in bands:
        top = 2.0 if band["high"] is None else band["high"]
        assert band["items"] == ((probability >= band["low"]) & (probability < top)).sum()
    assert facts.items["n_certain"] == (probability >= 0.95).sum()
    assert facts.items["expected_right"] == pytest.approx(probability.mean(), rel=1e-12)


def test_class_balance_and_agreement(posterior, facts):
    rows = facts.balance["rows"]
    counts = posterior.labels()["label"].value_counts()
    assert {row["class"]: row["items"] for row in rows} == counts.to_dict()
    np.testing.assert_array_equal([row["proportion"] for row in rows], posterior.class_balance)
    pooled = posterior.draws.class_balance.reshape(-1, 3)
    np.testing.assert_array_equal(
        [(row["low"], row["high"]) for row in rows], np.quantile(pooled, (0.025, 0.975), axis=0).T
    )
    alpha = metrics.krippendorff_alpha(posterior.annotations)
    low, high = metrics.krippendorff_interval(posterior.annotations, random_state=0)
    assert facts.agreement["alpha"] == alpha
    assert (facts.agreement["low"], facts.agreement["high"]) == (low, high)


def test_convergence_holds_the_diagnostics(posterior, facts):
    found, table = facts.convergence, posterior.diagnostics().set_index("quantity")
    assert [row["quantity"] for row in found.quantities] == table.index.tolist()
    assert [row["name"] for row in found.quantities if not row["watched"]] == ["Log likelihood"]
    for row in found.quantities:
        mine = table.loc[row["quantity"]]
        assert row["ess_bulk"] == mine["ess_bulk"]
        assert row["r_hat"] is None if np.isnan(mine["r_hat"]) else row["r_hat"] == mine["r_hat"]
    watched = table.drop("log_likelihood")
    assert (found.r_hat, found.ess) == (watched["r_hat"].max(), watched["ess_bulk"].min())
    assert [trace["name"] for trace in found.traces] == ["Number of coteries", "Log joint"]


def test_a_long_trace_keeps_its_extremes_where_they_are():
    chain = np.random.default_rng(0).normal(size=10_000)
    shown = thin(chain)
    assert len(shown) == POINTS
    for find in (np.argmin, np.argmax):
        assert shown[find(shown)] == chain[find(chain)]
        assert find(shown) / len(shown) == pytest.approx(find(chain) / len(chain), abs=0.01)


def trust(posterior):
    """What the page says first, and under Convergence."""
    tree = parse(render(posterior))
    boxes = [*tree.with_class("warning"), *tree.with_class("trust")]
    return [" ".join(box.text.split()) for box in boxes]


@pytest.mark.parametrize(("draws", "words"), [(60, "the slowest"), (800, "at least")])
def test_effective_draws_are_those_that_decide(draws, words):
    posterior = reported.crowd(draws=draws)
    watched = posterior.diagnostics().set_index("quantity").drop("log_likelihood")
    said = trust(posterior)[-1]
    assert f"{watched['ess_bulk'].min():,.0f} effective draws (400 are enough)" in said
    assert words in said


def test_trust_follows_the_posterior():
    calm = reported.crowd(draws=800, chains=4)
    (said,) = trust(calm)
    assert said.startswith("Labels settled")
    assert "The traces, which decide nothing here: the largest R-hat is" in said
    early = trust(replace(calm, run={**calm.run, "stopped": "interrupted"}))[-1]
    assert early.endswith("The run was interrupted: this is what the draws so far say.")
    first, under = trust(reported.crowd(draws=20))
    assert first.startswith("Careful. Labels not settled")
    assert under.startswith("Labels not settled")
    without = replace(calm, run={**calm.run, "left_out": {"2": "mirrored"}, "chains": 5})
    first, under = trust(without)
    gone = "1 of 5 chains ended in another mode and is left out: chain 2 (mirrored)."
    assert first == f"{gone} See Convergence."
    assert gone in under
    assert [k for k, _ in gather(without).convergence.traces[0]["chains"]] == [1, 3, 4, 5]


@pytest.mark.parametrize("model", ["DawidSkene", "MajorityVote"])
def test_point_estimates_have_no_intervals_coteries_or_traces(posterior, model):
    facts = gather(posteriors.point(posterior, model))
    assert facts.coteries is facts.cooccurrence is None
    assert [*facts.convergence.traces, *facts.convergence.quantities] == []
    assert not facts.annotators["has_interval"]
    assert "accuracy_low" not in facts.annotators["rows"][0]
    assert "point estimates, without intervals" in trust(posteriors.point(posterior, model))[0]


def test_a_stopped_iteration_is_not_trusted(posterior):
    stopped = replace(posteriors.point(posterior), converged=False, run={"iterations": 3})
    assert trust(stopped)[0].startswith("Careful. Labels not settled: the iteration still moves")
    assert "3 iterations" in trust(stopped)[0]


def test_a_sampler_without_coteries_keeps_intervals_and_traces(posterior):
    facts = gather(posteriors.ungrouped(posterior))
    assert facts.coteries is facts.cooccurrence is None
    assert facts.annotators["has_interval"]
    assert not facts.annotators["has_coterie"]
    assert [trace["name"] for trace in facts.convergence.traces] == ["Log joint"]


def test_truth_is_scored_as_the_metrics_do(posterior):
    rng = np.random.default_rng(1)
    truth = pd.Series(
        rng.choice(posterior.annotations.classes, 30), posterior.annotations.items[:30]
    )
    facts = gather(posterior, truth=truth).truth
    truth = truth.drop([item for item in posterior.annotations.gold if item in truth.index])
    assert facts["n"] == len(truth) == 28  # two were given to the model as known
    assert facts["n_gold"] == 2
    p = posterior.probabilities()
    assert facts["accuracy"] == metrics.accuracy(p, truth)
    assert facts["log_loss"] == metrics.log_loss(p, truth, floor=1e-4)
    assert facts["brier_score"] == metrics.brier_score(p, truth)
    assert facts["calibration_error"] == metrics.expected_calibration_error(p, truth)
    assert [row["items"] for row in facts["bins"]] == [28]  # 20 items in a bin at least
    for row in facts["bins"]:
        assert row["low"] <= row["accuracy"] <= row["high"]
        assert row["from"] <= row["confidence"] <= row["to"]
    assert facts["mean_confidence"] == pytest.approx(p.max(axis=1)[truth.index].mean())
    vote = coterie.MajorityVote().fit(posterior.annotations).predict_proba()
    assert facts["vote_accuracy"] == metrics.accuracy(vote, truth)  # as the terminal shows it
    confusion = metrics.confusion(p, truth).to_numpy().astype(int).astype(str)
    assert facts["confusion"]["counts"] == confusion.tolist()


def test_cooccurrence_is_ordered_by_coterie(posterior, facts):
    together = facts.cooccurrence
    table = posterior.annotators().set_index("annotator")
    coteries = table.loc[together["names"], "coterie"].tolist()
    assert coteries == sorted(coteries)
    exact = posterior.cooccurrence(together["names"]).to_numpy()
    assert together["image"] == picture(exact)
    for k, group in enumerate(together["groups"]):
        mine = slice(group["start"], group["start"] + group["size"])
        block = exact[mine, mine]
        pairs = block[~np.eye(len(block), dtype=bool)]
        if len(pairs):
            assert together["blocks"][k][k] == pytest.approx(pairs.mean(), rel=1e-9)
        else:
            assert together["blocks"][k][k] is None


def test_the_picture_is_a_png_of_the_shares():
    share = np.array([[0.0, 0.5, 1.0], [0.25, 0.75, 1.0]])
    content = base64.b64decode(picture(share).partition(",")[2])
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    start = content.index(b"IDAT")
    size = int.from_bytes(content[start - 4 : start], "big")
    pixels = zlib.decompress(content[start + 4 : start + 4 + size])
    rows = np.frombuffer(pixels, np.uint8).reshape(2, 4)
    np.testing.assert_array_equal(rows[:, 1:], np.rint(share * LEVELS))


def test_many_classes_are_cut_to_the_commonest():
    posterior = reported.crowd(items=60, classes=20, extra=tuple("uvwxyz"))
    facts = gather(posterior)
    axes = facts.axes
    assert len(axes.rows) == 12
    assert axes.left_out == 8
    assert axes.columns[:12] == axes.rows
    assert axes.columns[-1] == "other"
    for card in facts.coteries["cards"]:
        np.testing.assert_allclose(np.sum(card["matrix"], axis=1), 1, rtol=1e-6)


def test_many_annotators_and_items_are_cut(monkeypatch):
    monkeypatch.setattr("coterie.report.people.MOST_ANNOTATORS", 5)
    monkeypatch.setattr("coterie.report.items.MOST_ITEMS", 7)
    monkeypatch.setattr("coterie.report.people.MOST_PIXELS", 5)
    posterior = reported.crowd()
    facts = gather(posterior)
    assert len(facts.annotators["rows"]) == len(facts.annotators["matrices"]["mean"]) == 5
    assert facts.annotators["left_out"] == 7
    most = posterior.annotators()["n_labels"].nlargest(5).tolist()
    assert [row["n_labels"] for row in facts.annotators["rows"]] == most
    assert (len(facts.items["rows"]), facts.items["left_out"]) == (7, 33)
    least = posterior.labels()["probability"].nsmallest(7).tolist()
    assert [row["probability"] for row in facts.items["rows"]] == least
    assert (facts.cooccurrence["n"], facts.cooccurrence["left_out"]) == (5, 7)


def test_the_verdict_is_three_sentences_with_the_numbers(posterior, facts):
    box = parse(render(posterior)).with_class("verdict")[0]
    how_many, how_sure, stands_out = (sentence.text for sentence in box.all("p"))
    assert how_many == "40 items have a label, from 200 answers by 12 annotators, 5 per item."
    certain = facts.items["n_certain"]
    assert how_sure.startswith(f"{certain} of the labels (")
    wrong = round(40 * (1 - facts.items["expected_right"]))
    assert f"about {wrong} of the 40 are wrong" in how_sure
    assert stands_out.endswith(".")


def test_troubles_go_by_role_then_by_the_coteries_role():
    own = [Pattern.EXPERT, Pattern.TOO_FEW, Pattern.TOO_FEW, Pattern.ADVERSARY]
    shared = (Role(Pattern.GOOD), Role(Pattern.ALWAYS, ("no",)))
    result = SimpleNamespace(
        abilities=Abilities(coteries=True, uncertainty=True),
        roles=lambda: Roles(tuple(map(Role, own)), np.ones(4)),
        coterie_roles=lambda: Roles(shared, np.ones(2)),
        partition=lambda: SimpleNamespace(group=np.array([0, 1, -1, 1])),
    )
    assert kinds_of(result, pd.DataFrame()) == ["good", "noise", "unknown", "against"]


def test_members_unlike_their_coterie_are_named_by_role():
    own = [Role(Pattern.ALWAYS, ("no",)), Role(Pattern.EXPERT), Role(Pattern.TOO_FEW)]
    result = SimpleNamespace(
        roles=lambda: Roles((own[0], own[0], own[1], own[2], own[1]), np.ones(5)),
        coterie_roles=lambda: Roles((Role(Pattern.UNCLEAR), Role(Pattern.GOOD)), np.ones(2)),
        partition=lambda: SimpleNamespace(group=np.array([0, 0, 0, 0, 1])),
    )
    assert own_roles(result, 0) == ["2 always says no", "1 expert"]
    assert own_roles(result, 1) == []


def test_kinds_of_cards_and_rows_are_those_of_the_roles(posterior, facts):
    own, shared = posterior.roles().role, posterior.coterie_roles().role
    assert list(map(str, own)) == posterior.annotators()["role"].tolist()
    assert list(map(str, shared)) == posterior.coteries()["role"].tolist()
    assert [card["kind"] for card in facts.coteries["cards"]] == [role.kind for role in shared]
    kinds = dict(zip(posterior.annotations.annotators, own, strict=True))
    for row in facts.annotators["rows"]:
        assert row["kind"] == kinds[row["annotator"]].kind


def test_nothing_to_agree_on_leaves_agreement_out():
    rows = [("q1", "ann", "yes"), ("q2", "bob", "no")]
    assert gather(coterie.MajorityVote().fit(rows).posterior_).agreement is None


def test_known_items_alone_score_nothing(posterior):
    gold = pd.Series(posterior.annotations.gold)
    assert gather(posterior, truth=gold).truth is None


def test_layouts_have_room_for_all_columns():
    for n in range(1, 17):
        for word in ("c", "a name of some length"):
            names = [word] * n
            room = room_of(names, names)
            inside = {"third": THIRD, "half": HALF, "full": 1_000}[room.card]
            assert 80 + 36 * n <= inside
            assert room.upright is (word != "c")  # turned only where that saves room


def test_an_r_hat_that_is_too_large_does_not_look_fine(monkeypatch):
    posterior = reported.crowd(draws=800)
    table = posterior.diagnostics().assign(r_hat=1.0102)
    monkeypatch.setattr(coterie.Posterior, "diagnostics", lambda _: table)
    assert "the largest R-hat is 1.01020 (1.01 or less is fine)" in trust(posterior)[-1]


def test_tiny_coteries_are_rows_of_a_table():
    facts = gather(reported.crowd(items=60, annotators=40, groups=30, labels_per_item=8)).coteries
    assert len(facts["cards"]) <= 9
    assert all(card["size"] >= 3 for card in facts["cards"][3:])
    assert len(facts["cards"]) + len(facts["others"]) + facts["left_out"] == facts["n"]
