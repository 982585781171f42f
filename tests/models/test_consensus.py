"""Consensus, the estimator: what it reports, where its chains start, which of them it keeps."""

import numpy as np
import pytest

import coterie
from coterie.data.codes import encode
from coterie.errors import ConvergenceWarning
from coterie.inference.chain import make_chain
from coterie.inference.sample import session_of
from coterie.inference.verdicts import Evidence, Outcome, judge_by_vote, note_labels, settled_labels
from coterie.kernels.consensus import class_weights
from coterie.kernels.quick import tempered_skills
from coterie.kernels.vote import smoothed_vote

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.ConvergenceWarning")
QUICK = {"sweeps": 60, "burn_in": 20, "chains": 2, "random_state": 3, "progress": False}


@pytest.fixture(scope="module")
def annotations():
    """Some gold, an extra answer, an item that nobody labelled."""
    crowd = coterie.simulate(
        "mixed", items=30, annotators=8, classes=["a", "b", "c"], extra_answers=["unsure"],
        labels_per_item=4, random_state=1,
    )  # fmt: skip
    a = crowd.annotations
    item = np.repeat(np.arange(30), np.diff(a.codes.item_start))
    answer = a.codes.item_answer.copy()
    answer[::7] = 3
    gold = np.full(31, -1)
    gold[4] = 2
    codes = encode(item, a.codes.item_annotator, answer, sizes=(31, 8, 3, 4), gold=gold)
    items = np.append(a.items, "nobody")
    return coterie.Annotations(items, a.annotators, a.classes, a.extra_answers, codes)


def fitted(annotations, **params):
    return coterie.Consensus(**QUICK | params).fit(annotations).posterior_


def test_reported_is_the_tempered_mixed_with_the_smoothed_vote(annotations):
    mixed, tempered = fitted(annotations), fitted(annotations, vote_share=0.0)
    votes = annotations.votes
    smoothed = (votes + 1 / 3) / (votes.sum(axis=1, keepdims=True) + 1)
    want = 2 / 3 * tempered.item_probability + 1 / 3 * smoothed
    want[[4, 30]] = tempered.item_probability[[4, 30]]  # gold, and nothing said
    np.testing.assert_allclose(mixed.item_probability, want, rtol=1e-12)
    np.testing.assert_array_equal(mixed.item_probability[4], [0, 0, 1])
    np.testing.assert_allclose(mixed.item_probability[30], mixed.class_balance, atol=0.01)
    np.testing.assert_array_equal(mixed.raw_probability, tempered.raw_probability)
    np.testing.assert_array_equal(mixed.label_code, mixed.item_probability.argmax(axis=1))


def test_the_skill_model_of_the_quick_consensus_is_a_third_member(annotations):
    third, none = fitted(annotations, skill_share=1 / 3), fitted(annotations, vote_share=0.0)
    skills = tempered_skills(annotations.codes, annotations.votes)
    want = (none.item_probability + smoothed_vote(annotations.votes) + skills) / 3
    want[[4, 30]] = none.item_probability[[4, 30]]  # gold, and nothing said
    np.testing.assert_allclose(third.item_probability, want, rtol=1e-12)


def test_without_tempering_and_votes_the_models_own_are_reported(annotations):
    posterior = fitted(annotations, vote_share=0.0, design_effect=0.0)
    np.testing.assert_allclose(
        posterior.probabilities(), posterior.probabilities(raw=True), atol=1e-12
    )


def test_tempering_changes_no_draw(annotations):
    one, other = fitted(annotations), fitted(annotations, design_effect=0.5)
    np.testing.assert_array_equal(one.raw_probability, other.raw_probability)
    np.testing.assert_array_equal(one.draws.partition, other.draws.partition)
    assert one.item_probability.max() > other.item_probability[:4].max()


def test_matrices_follow_what_is_reported_and_change_no_move(annotations):
    one, other = fitted(annotations), fitted(annotations, matrices="raw")
    np.testing.assert_array_equal(one.item_probability, other.item_probability)
    np.testing.assert_array_equal(one.draws.partition, other.draws.partition)
    for posterior in (one, other):
        np.testing.assert_allclose(posterior.draws.confusion.sum(axis=-1), 1, rtol=1e-5)
        drawn = posterior.draws.confusion.mean(axis=(0, 1), dtype=float)
        error = posterior.draws.confusion.std(axis=(0, 1)) / 5  # twenty-five draws apart at least
        assert (np.abs(drawn - posterior.confusion_mean) < 4 * error + 1e-3).all()
    assert np.abs(one.confusion_mean - other.confusion_mean).max() > 0.02


def test_hardness_is_the_probability_of_kinds_other_than_plain(annotations):
    posterior = fitted(annotations)
    kinds = posterior.item_table("kind")
    assert kinds.columns.tolist() == ["plain", "50% guessed", "90% guessed"]
    np.testing.assert_allclose(kinds.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(posterior.labels()["hardness"], 1 - kinds["plain"], atol=1e-12)


def test_class_weights_come_from_the_votes_unless_they_are_given(annotations):
    model = coterie.Consensus()
    resolved = model.resolve_prior(annotations)
    want = class_weights(annotations.votes, annotations.codes.gold, coterie.ConsensusPrior())
    np.testing.assert_array_equal(resolved.class_weights, want)
    given = coterie.Consensus(prior=coterie.ConsensusPrior(class_weights=[3, 1, 2]))
    np.testing.assert_array_equal(given.resolve_prior(annotations).class_weights, [3, 1, 2])


def test_shares_come_to_one_at_most(annotations):
    with pytest.raises(coterie.DataError, match="at most 1 together"):
        coterie.Consensus(skill_share=0.8).fit(annotations)


def test_chains_start_at_the_vote_in_one_coterie():
    labels = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1), (3, 0, 2), (3, 1, 2)]
    data = encode(*np.array(labels).T, sizes=(4, 3, 2, 3))
    names = [np.array(list(word), object) for word in ("qrst", "abc", "xy", "?")]
    model, seen = coterie.Consensus(), set()
    sampler = model._sampler(coterie.Annotations(*names, data))
    with session_of(sampler, model._options(sampler)) as session:
        for number in range(40):
            chain = make_chain(sampler, number % 4, np.random.SeedSequence(number), session)
            said, total = chain.state["said"], chain.state["cell_total"]
            assert chain.state["group"].tolist() == [0, 0, -1]
            assert said[0, 0, 0] >= 1
            tie, extra = int(said[1, 1, 1]), int(said[0, 2, 1])
            assert total.tolist() == [3 - tie - extra, tie + extra]  # nobody is heard of one item
            seen.add((tie, extra))
    assert seen == {(0, 0), (0, 1), (1, 0), (1, 1)}


def evidence(agreement, n_classes=2):
    agreement = np.repeat(np.array(agreement)[:, None], 50, axis=1)
    none = np.zeros(0, np.int64)
    return Evidence(np.zeros_like(agreement), agreement, None, n_classes, none, {}, none)


def test_chains_that_disagree_with_most_votes_are_left_out():
    verdict = judge_by_vote(evidence([0.9, 0.4, 0.6]))
    assert (verdict.kept, verdict.left_out) == ([0, 2], {1: "mirrored"})
    assert verdict.better[1].chain == 0


def test_with_more_classes_only_beside_a_chain_that_agrees_far_more():
    assert judge_by_vote(evidence([0.45, 0.4, 0.3], n_classes=5)).left_out == {}
    assert judge_by_vote(evidence([0.8, 0.3, 0.7], n_classes=5)).left_out == {1: "mirrored"}


def test_if_every_chain_falls_all_are_kept_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="every chain disagrees with the vote"):
        verdict = judge_by_vote(evidence([0.2, 0.4]))
    assert (verdict.kept, verdict.left_out) == ([0, 1], {})


def settled(labels, sweeps=200):
    labels = np.array(labels)
    places = np.arange(labels.shape[1])
    noted = note_labels(labels, places, sweeps)
    names = np.array([f"q{i}" for i in places], object)
    return settled_labels(Outcome(None, sweeps, 1, noted, names))


def test_settled_is_one_label_on_nearly_all_items():
    same = np.zeros((4, 40), int)
    assert settled(same).converged
    other = same.copy()
    other[2, :2] = 1
    assert settled(other).converged
    other[1, 2] = 1
    found = settled(other)
    assert not found.converged
    assert found.warning.numbers["one_label"] == 37 / 40
    says = "one label on 92.5 % of the items; they differ on 3 items: 'q0', 'q1' and 'q2'"
    assert says in str(found.warning)
    assert settled(np.zeros((4, 0), int)).converged


def test_many_items_on_which_chains_differ_are_named_in_part():
    labels = np.zeros((2, 40), int)
    labels[1, 3:23] = 1
    says = "20 items, among them 'q3', 'q4', 'q5', 'q6' and 'q7'"
    assert says in str(settled(labels).warning)


def test_too_few_sweeps_settle_nothing():
    found = settled(np.zeros((4, 40), int), sweeps=20)
    assert not found.converged
    assert "but 20 sweeps after burn-in are too few to show it" in str(found.warning)


def test_the_default_prior():
    told = coterie.ConsensusPrior(
        class_weights=None, class_base=1, class_pull=3, class_smoothing=0.5,
        knowledge=coterie.Beta(7, 3), knowledge_points=99, guess_weights=[1, 1, 1],
        mean_strength=30, strength=coterie.Gamma(200, 20), guessing=[0, 0.5, 0.9],
        kind_weights=[2, 1, 1], hard_guess_weights=[1, 1, 1], concentration=coterie.Gamma(1, 10),
        auxiliaries=10,
    ).resolve(2, 3)  # fmt: skip
    assert coterie.ConsensusPrior().resolve(2, 3) == told == told.resolve(2, 3)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("guessing", 0.5, "give one number per kind of items"),
        ("guessing", (0.0, 1.0), "numbers from 0 up to, not with, 1"),
        ("guessing", (0.5, 0.0), "put the plain kind, which has the least, first"),
        ("kind_weights", [1, 1], "or one per kind of items, shape \\(3,\\)"),
        ("guess_weights", [1, 1], "or one per answer, shape \\(3,\\)"),
        ("knowledge", 0.7, "must be a Beta, got 0.7"),
        ("strength", 10.0, "must be a Gamma, got 10.0"),
        ("knowledge_points", 0, "a whole number of at least 1"),
    ],
)
def test_a_wrong_prior_says_what_is_expected(field, value, says):
    with pytest.raises(coterie.DataError, match=says):
        coterie.ConsensusPrior(**{field: value}).resolve(2, 3)
