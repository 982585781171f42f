"""Two verdicts: whether chains agree on the labels, and on who belongs with whom."""

from dataclasses import replace

import numpy as np
import pytest

import coterie
from coterie.cli.show import convergence
from coterie.inference.verdicts import note_coteries, note_labels, note_readings
from coterie.judges import look_at
from coterie.judges.words import reading_rows
from coterie.posterior import Draws
from coterie.posterior.verdicts import reading_names, verdicts_by_name
from coterie.report.chains import reading_facts


def drawn(partition):
    partition = np.asarray(partition, np.int32)
    chains, draws, people = partition.shape
    return Draws(
        confusion=np.full((chains, draws, people, 2, 2), 0.5, np.float32),
        class_balance=np.full((chains, draws, 2), 0.5),
        partition=partition,
        n_coteries=np.array([[len(set(draw)) for draw in chain] for chain in partition.tolist()]),
    )


def test_labels_are_settled_where_chains_say_the_same():
    labels = np.zeros((3, 100), np.int64)
    labels[1, :5] = 1
    noted = note_labels(labels, np.arange(100, 200), 50)
    assert noted["settled"]
    assert (noted["one_label"], noted["n_differ"]) == (0.95, 5)
    assert noted["differ"] == [100, 101, 102, 103, 104]
    labels[2, 50] = 1
    assert not note_labels(labels, np.arange(100), 50)["settled"]
    assert note_labels(labels[:, :0], np.arange(0), 50)["settled"]  # there is nothing to label


def test_chains_that_split_have_two_readings_of_which_the_surest_items_come_first():
    labels = np.zeros((4, 10), np.int64)
    labels[[1, 3], :3] = 1
    sure = {(0, 2): [0.6, 0.9, 0.8, *[0.9] * 7], (1, 3): [0.2, 0.3, 0.1, *[0.9] * 7]}

    def say(chains):
        p = np.array(sure[tuple(chains)])
        return np.stack([p, 1 - p], axis=1)

    found = note_readings(labels, np.arange(20, 30), say)
    assert found["chains"] == [[0, 2], [1, 3]]
    assert (found["n_differ"], found["items"]) == (3, [22, 21, 20])  # least sure 0.8, 0.7, 0.6
    assert found["labels"] == [[0, 0, 0], [1, 1, 1]]
    np.testing.assert_allclose(found["probability"], [[0.8, 0.9, 0.6], [0.9, 0.7, 0.8]])


def test_chains_that_know_too_little_have_no_readings():
    labels = np.zeros((2, 10), np.int64)
    labels[1, :4] = 1
    p = np.full((2, 10, 3), 0.25)
    p[0, :, 0], p[1, :, 0], p[1, :4, 1] = 0.4, 0.4, 0.45

    def say(chains):
        return p[chains[0]]

    assert note_readings(labels, np.arange(10), say) is None
    p[:, 2] = [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]]
    assert note_readings(labels, np.arange(10), say)["items"][0] == 2


def test_chains_that_all_differ_have_no_readings():
    labels = np.zeros((3, 10), np.int64)
    labels[1, :2], labels[2, 5:7] = 1, 1
    assert note_readings(labels, np.arange(10), None) is None


def test_coteries_are_settled_where_chains_group_alike():
    alike = drawn([[[0, 0, 1]] * 4, [[1, 1, 0]] * 4])
    everybody = np.ones(3, bool)
    noted = note_coteries(alike, everybody)
    assert noted == {"settled": True, "n_coteries": [2.0, 2.0], "pairs_apart": 0.0}
    other = drawn([[[0, 0, 1]] * 4, [[0, 0, 0]] * 4])
    noted = note_coteries(other, everybody)
    # Two of the three pairs are apart in one chain only.
    assert not noted["settled"]
    assert noted["pairs_apart"] == pytest.approx(2 / 3)
    assert noted["n_coteries"] == [2.0, 1.0]


def test_one_chain_settles_no_coteries():
    assert not note_coteries(drawn([[[0, 0, 1]] * 4]), np.ones(3, bool))["settled"]
    rows = [("q", "ann", "yes"), ("r", "bob", "no"), ("q", "bob", "yes")]
    model = coterie.Consensus(random_state=0, chains=1, progress=False)
    with pytest.warns(coterie.ConvergenceWarning):
        verdict = model.fit(rows).posterior_.verdicts.coteries
    assert not verdict.settled
    assert verdict.sentence.startswith("One chain cannot show whether the coteries are settled")


def test_a_fit_says_both_and_names_the_items_that_would_decide():
    rows = [(f"q{i:02}", f"w{l}", "ab"[(i + l) % 2]) for i in range(12) for l in range(4)]
    model = coterie.Consensus(random_state=0, sweeps=40, burn_in=10, progress=False)
    with pytest.warns(coterie.ConvergenceWarning):
        posterior = model.fit(rows).posterior_
    verdict = posterior.verdicts.labels
    assert not verdict.settled
    assert not posterior.converged
    assert verdict.sentence.startswith("Labels not settled: 4 chains give one label on ")
    noted = posterior.run["verdicts"]["labels"]
    two = posterior.readings()
    assert (two is None) == ("readings" not in noted)
    first = posterior.annotations.items[noted["differ"][0]] if two is None else two["item"][0]
    assert repr(str(first)) in verdict.sentence
    assert posterior.verdicts.coteries is not None


def test_a_count_is_settled_and_has_no_coteries():
    verdicts = coterie.MajorityVote().fit([("q", "ann", "yes"), ("r", "bob", "no")])
    verdicts = verdicts.posterior_.verdicts
    assert verdicts.labels.settled
    assert verdicts.coteries is None


def test_the_record_of_a_run_names_items_and_labels():
    rows = [(f"q{i}", f"w{l}", "no" if i < 2 else "yes") for i in range(4) for l in range(3)]
    posterior = coterie.MajorityVote().fit(rows).posterior_
    two = {"chains": [[1], [2]], "items": [3, 1], "labels": [[0, 1], [1, 0]], "n_differ": 2}
    noted = {"settled": False, "chains": 2, "one_label": 0.5, "n_differ": 2, "differ": [1, 3]}
    posterior = replace(posterior, run={"verdicts": {"labels": {**noted, "readings": two}}})
    record = verdicts_by_name(posterior)
    assert record["labels"]["differ"] == ["q1", "q3"]
    assert record["labels"]["readings"]["items"] == ["q3", "q1"]
    assert record["labels"]["readings"]["labels"] == [["no", "yes"], ["yes", "no"]]
    assert not record["labels"]["settled"]
    assert record["coteries"] is None


def test_an_iteration_that_still_moves_is_not_settled():
    rows = [(f"q{i}", f"w{l}", "ab"[(i * l + i // 2) % 2]) for i in range(9) for l in range(5)]
    rested = coterie.QuickConsensus().fit(rows).posterior_.verdicts.labels
    assert rested.settled
    assert rested.sentence.startswith("Labels settled: the iteration has come to rest after ")
    with pytest.warns(coterie.ConvergenceWarning):
        moved = coterie.QuickConsensus(n_iter=1, tol=1e-12).fit(rows).posterior_.verdicts.labels
    assert not moved.settled
    assert moved.sentence.startswith("Labels not settled: the iteration still moves after 2 ")


def test_two_readings_have_one_name_each_wherever_they_are_shown(capsys):
    rows = [(f"q{i}", f"w{l}", "no" if i < 2 else "yes") for i in range(4) for l in range(3)]
    posterior = coterie.EBCC(random_state=0).fit(rows).posterior_
    assert reading_names(posterior) == []
    two = {"chains": [[3, 18], [8]], "items": [3, 1], "labels": [[0, 1], [1, 0]], "n_differ": 2}
    two["probability"] = [[0.9, 0.8], [0.7, 0.6]]
    noted = {"settled": False, "chains": 3, "starts": 41, "one_label": 0.5, "n_differ": 2}
    noted |= {"differ": [1, 3], "readings": two}
    ended = {"stopped": "", "chains": 4, "sweeps": 9, "left_out": [], "verdicts": {"labels": noted}}
    posterior = replace(posterior, run=ended, method="gibbs")
    names = ["starts 3 and 18", "start 8"]
    assert reading_names(posterior) == names
    (one, other), table = names, posterior.readings()
    assert table.columns.tolist() == [
        "item", one, f"probability in {one}", other, f"probability in {other}",
    ]  # fmt: skip
    assert reading_facts(posterior)["heads"] == names
    assert reading_rows(look_at(posterior)).header == ["item", *names]
    convergence(posterior)
    (heads,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("item"))
    assert heads.split() == ["item", *one.split(), "probability", *other.split(), "probability"]
