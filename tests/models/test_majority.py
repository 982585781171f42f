"""Majority vote: votes, ties in all three modes, gold, extra answers, and what is scored."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.data.codes import count_votes, encode
from coterie.kernels.vote import elect, vote_shares
from coterie.models.majority import score_vote

exact = pytest.mark.exact

# Votes for a, b, c: a clear winner, a tie of two (one lost), a tie of three, a tie of b and c.
VOTES = {"q1": "aab", "q2": "aabbc", "q3": "abc", "q4": "bc"}
ROWS = [(i, f"w{l}", c) for i, answers in VOTES.items() for l, c in enumerate(answers)]


@exact
def test_votes_count_repeats_and_leave_extra_answers_out():
    item, annotator = [0, 0, 0, 0, 1, 3], [0, 0, 1, 2, 0, 1]
    codes = encode(item, annotator, [1, 1, 0, 2, 2, 0], sizes=(4, 3, 2, 3))
    np.testing.assert_array_equal(count_votes(codes), [[1, 2], [0, 0], [0, 0], [1, 0]])


@exact
def test_shares_of_gold_and_of_items_without_votes():
    votes = np.array([[1, 3], [0, 0], [0, 0], [2, 0]])
    shares = vote_shares(votes, np.array([-1, 1, -1, -1]))
    pooled = [(0.25 + 0 + 1) / 3, (0.75 + 1 + 0) / 3]
    np.testing.assert_allclose(shares, [[0.25, 0.75], [0, 1], pooled, [1, 0]], rtol=1e-15)


@exact
def test_shares_are_even_where_nobody_voted():
    np.testing.assert_array_equal(vote_shares(np.zeros((2, 4), int), np.full(2, -1)), 0.25)


@exact
def test_the_shift_chooses_among_the_tied_and_only_them():
    votes = np.array([[2, 1, 2, 2]] * 6)
    winner, n_tied = elect(votes, np.array([0, 0.33, 0.34, 0.66, 0.67, 1 - 2**-53]))
    assert winner.tolist() == [0, 0, 2, 2, 3, 3]
    assert n_tied.tolist() == [3] * 6


@pytest.mark.parametrize("ties", ["lowest", "split"])
def test_ties_go_to_the_lowest_class(ties):
    model = coterie.MajorityVote(ties=ties).fit(ROWS)
    assert model.predict().to_dict() == {"q1": "a", "q2": "a", "q3": "a", "q4": "b"}
    assert model.n_ties_ == 3


@pytest.mark.parametrize("ties", ["lowest", "random"])
def test_probabilities_are_the_vote_shares(ties):
    model = coterie.MajorityVote(probabilities="shares", ties=ties, random_state=1).fit(ROWS)
    expected = [[2 / 3, 1 / 3, 0], [0.4, 0.4, 0.2], [1 / 3, 1 / 3, 1 / 3], [0, 0.5, 0.5]]
    np.testing.assert_allclose(model.predict_proba(), expected, rtol=1e-15)
    np.testing.assert_allclose(model.priors_, np.mean(expected, axis=0), rtol=1e-14)


def test_split_shares_a_tied_item_among_those_that_tie():
    model = coterie.MajorityVote(probabilities="shares", ties="split").fit(ROWS)
    expected = [[2 / 3, 1 / 3, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0.5, 0.5]]
    np.testing.assert_allclose(model.predict_proba(), expected, rtol=1e-15)


def test_reported_is_what_the_votes_are_worth_and_crowd_kit_gets_the_shares():
    rows = [(f"q{i}", f"w{l}", "a") for i in range(5) for l in range(3)]
    rows += [("q5", "w0", "a"), ("q5", "w1", "a"), ("q5", "w2", "b")]
    model = coterie.MajorityVote().fit(rows)
    shares = model.posterior_.probabilities(raw=True)
    np.testing.assert_allclose(shares.loc["q5"], [2 / 3, 1 / 3])
    pd.testing.assert_frame_equal(model.probas_, shares.rename_axis(index="task"))
    # Agreement g = 16/18, s = 2g - 1, weight log((1 + sqrt s) / (1 - sqrt s)), one vote ahead.
    s = 2 * 16 / 18 - 1
    odds = np.log((1 + s**0.5) / (1 - s**0.5)) / (1 + 1.25 * s * 2)
    np.testing.assert_allclose(model.predict_proba().loc["q5", "a"], 1 / (1 + np.exp(-odds)))
    assert model.posterior_.abilities.probabilities
    plain = coterie.MajorityVote(probabilities="shares").fit(rows)
    assert not plain.posterior_.abilities.probabilities


def test_random_ties_are_uniform_among_the_tied_and_follow_the_seed():
    n = 3_000
    rows = [(i, l, c) for i in range(n) for l, c in enumerate("aabbc")]
    model = coterie.MajorityVote(ties="random", random_state=0).fit(rows)
    labels = model.predict()
    assert model.n_ties_ == n
    assert set(labels) == {"a", "b"}
    # 4 standard errors of a fair coin
    assert abs((labels == "a").mean() - 0.5) < 4 * np.sqrt(0.25 / n)
    again = coterie.MajorityVote(ties="random", random_state=0).fit(rows).predict()
    other = coterie.MajorityVote(ties="random", random_state=1).fit(rows).predict()
    pd.testing.assert_series_equal(again, labels)
    assert (other != labels).any()


def test_gold_is_certain_and_no_tie():
    model = coterie.MajorityVote().fit(ROWS, true_labels={"q4": "c", "q1": "b"})
    assert model.predict().to_dict() == {"q1": "b", "q2": "a", "q3": "a", "q4": "c"}
    np.testing.assert_array_equal(model.predict_proba().loc[["q1", "q4"]], np.eye(3)[1:])
    assert model.n_ties_ == 2


def test_an_item_with_extra_answers_only_gets_the_class_proportions_and_is_no_tie():
    rows = [*ROWS, ("q5", "w0", "unsure"), ("q5", "w1", "unsure")]
    model = coterie.MajorityVote(probabilities="shares")
    model.fit(coterie.read(rows, extra_answers=["unsure"]))
    probabilities = model.predict_proba()
    np.testing.assert_allclose(probabilities.loc["q5"], probabilities.iloc[:4].mean(), rtol=1e-14)
    assert model.n_ties_ == 3
    matrix = model.posterior_.confusion(annotator="w0")
    np.testing.assert_allclose(matrix.sum(axis=1), 1, rtol=1e-14)
    assert matrix["unsure"].gt(0).all()
    even = coterie.read(
        [("q1", "w0", "a"), ("q2", "w0", "b"), *rows[-2:]], extra_answers=["unsure"]
    )
    assert coterie.MajorityVote().fit(even).n_ties_ == 0


def test_confusion_sets_answers_against_the_vote():
    # w2 says b, b, c where the vote shares are (2/3, 1/3, 0), (.4, .4, .2), (1/3, 1/3, 1/3).
    matrix = coterie.MajorityVote().fit(ROWS).posterior_.confusion(annotator="w2")
    said_b = np.array([2 / 3 + 0.4, 1 / 3 + 0.4, 0.2])
    said_c = np.full(3, 1 / 3)
    np.testing.assert_allclose(matrix["b"], said_b / (said_b + said_c), rtol=1e-14)
    np.testing.assert_allclose(matrix["c"], said_c / (said_b + said_c), rtol=1e-14)


def test_the_vote_is_scored_with_all_labels_that_were_let_in():
    rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    assert score_vote(coterie.read(rows), {"q1": "yes", "q2": "no"}).accuracy == 0.75
