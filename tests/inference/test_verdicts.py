"""Two verdicts: whether chains agree on the labels, and on who belongs with whom."""

import numpy as np
import pytest

import coterie
from coterie.inference.verdicts import note_coteries, note_labels
from coterie.posterior import Draws


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
    noted = note_labels(labels, np.arange(100, 200))
    assert noted["settled"]
    assert noted["differ"] == [100, 101, 102, 103, 104]
    labels[2, 50] = 1
    assert not note_labels(labels, np.arange(100))["settled"]


def test_nothing_to_label_is_settled():
    assert note_labels(np.zeros((2, 0), np.int64), np.zeros(0, np.int64))["settled"]


def test_coteries_are_settled_where_chains_group_alike():
    alike = drawn([[[0, 0, 1]] * 4, [[1, 1, 0]] * 4])
    everybody = np.ones(3, bool)
    noted = note_coteries(alike, everybody)
    assert noted == {"settled": True, "n_coteries": [2.0, 2.0], "pairs_apart": 0.0}
    other = drawn([[[0, 0, 1]] * 4, [[0, 0, 0]] * 4])
    noted = note_coteries(other, everybody)
    # Four of the nine pairs, a person with themselves counted, are apart in one chain only.
    assert not noted["settled"]
    assert noted["pairs_apart"] == pytest.approx(4 / 9)
    assert noted["n_coteries"] == [2.0, 1.0]


def test_a_fit_says_both_and_names_the_items_that_would_decide():
    rows = [(f"q{i:02}", f"w{l}", "ab"[(i + l) % 2]) for i in range(12) for l in range(4)]
    model = coterie.Consensus(random_state=0, sweeps=40, burn_in=10, progress=False)
    with pytest.warns(coterie.ConvergenceWarning):
        posterior = model.fit(rows).posterior_
    verdict = posterior.verdicts.labels
    assert not verdict.settled
    assert not posterior.converged
    assert verdict.sentence.startswith("Labels not settled: 4 chains give one label on ")
    first = posterior.annotations.items[posterior.run["verdicts"]["labels"]["differ"][0]]
    assert repr(str(first)) in verdict.sentence
    assert posterior.verdicts.coteries is not None


def test_a_count_is_settled_and_has_no_coteries():
    verdicts = coterie.MajorityVote().fit([("q", "ann", "yes"), ("r", "bob", "no")])
    verdicts = verdicts.posterior_.verdicts
    assert verdicts.labels.settled
    assert verdicts.coteries is None
