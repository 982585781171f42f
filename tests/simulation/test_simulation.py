"""Simulated crowds are what was asked for."""

import numpy as np
import pandas as pd
import pytest

from coterie.errors import DataError
from coterie.metrics import informativeness
from coterie.simulation import Crowd, Group, simulate
from coterie.simulation.build import assign_by_item, assign_by_sparsity
from coterie.simulation.groups import KINDS, SCENARIOS, share_out

ALONE = [kind for kind in KINDS if kind != "copycat"]  # who need nobody to copy


def same(first: Crowd, second: Crowd) -> bool:
    return (
        first.annotations.to_frame().equals(second.annotations.to_frame())
        and first.truth.equals(second.truth)
        and first.groups.equals(second.groups)
        and np.array_equal(first.confusion, second.confusion)
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_every_named_crowd(scenario, classes):
    crowd = simulate(scenario, items=25, annotators=12, classes=classes, random_state=1)
    annotations = crowd.annotations
    extra = ["unsure"] if scenario == "unsure" else []
    assert annotations.extra_answers.tolist() == extra
    assert crowd.confusion.shape == (12, classes, classes + len(extra))
    np.testing.assert_allclose(crowd.confusion.sum(axis=2), 1, rtol=1e-12)
    assert set(crowd.groups) == set(SCENARIOS[scenario])
    assert annotations.gold == {}
    assert crowd.truth.index.tolist() == annotations.items.tolist()
    assert crowd.groups.index.tolist() == annotations.annotators.tolist()
    assert set(crowd.truth) <= set(annotations.classes)


def test_names_of_series_and_ids():
    crowd = simulate(items=10, annotators=10, classes=2, random_state=0)
    assert (crowd.truth.name, crowd.truth.index.name) == ("truth", "item")
    assert (crowd.groups.name, crowd.groups.index.name) == ("group", "annotator")
    assert crowd.annotations.items.tolist() == sorted(crowd.annotations.items)
    assert crowd.annotations.items[[0, -1]].tolist() == ["q01", "q10"]
    assert crowd.annotations.annotators[[0, -1]].tolist() == ["a01", "a10"]
    assert crowd.annotations.classes.tolist() == ["no", "yes"]


def test_mixed_has_an_adversary_and_somebody_of_every_kind():
    assert simulate("mixed").groups.value_counts().to_dict() == SCENARIOS["mixed"]


@pytest.mark.parametrize("classes", [3, 26, 27, 120])
def test_class_names_are_distinct_and_in_text_order(classes):
    names = simulate(items=2, classes=classes, random_state=0).annotations.classes.tolist()
    assert names == sorted(set(names))
    assert len(names) == classes


def test_given_names_keep_their_order_and_type():
    crowd = simulate(classes=[5, 3, 4], extra_answers=["skip"], random_state=0)
    assert crowd.annotations.classes.tolist() == [5, 3, 4]
    assert crowd.annotations.answers.tolist() == [5, 3, 4, "skip"]
    assert crowd.truth.isin([3, 4, 5]).all()


def test_same_seed_same_crowd():
    assert same(simulate(random_state=7), simulate(random_state=7))
    assert not same(simulate(random_state=7), simulate(random_state=8))
    rng = np.random.default_rng(7)
    assert same(simulate(random_state=rng), simulate(random_state=7))
    assert not same(simulate(random_state=rng), simulate(random_state=7))


@pytest.mark.parametrize("labels_per_item", [1, 4, 9])
def test_every_item_gets_the_labels_asked(labels_per_item):
    crowd = simulate(items=50, annotators=9, labels_per_item=labels_per_item, random_state=0)
    pairs = crowd.annotations.to_frame()[["item", "annotator"]]
    assert (crowd.annotations.labels_per_item == labels_per_item).all()
    assert not pairs.duplicated().any()


@pytest.mark.parametrize("sparsity", [0.0, 0.5, 0.825, 0.95])
def test_sparsity_as_asked(sparsity):
    crowd = simulate(items=80, annotators=20, sparsity=sparsity, random_state=0)
    assert crowd.annotations.sparsity == pytest.approx(sparsity, abs=0.5 / (80 * 20))
    assert (crowd.annotations.labels_per_item >= 1).all()
    assert not crowd.annotations.to_frame()[["item", "annotator"]].duplicated().any()


def test_each_set_of_annotators_is_equally_likely():
    n_items = 60_000
    _, annotator = assign_by_item(n_items, 5, 3, np.random.default_rng(0))
    sets = pd.Series(np.left_shift(1, annotator.reshape(-1, 3)).sum(axis=1)).value_counts()
    assert len(sets) == 10
    error = np.sqrt(n_items * 0.1 * 0.9)
    assert np.abs(sets - n_items / 10).max() < 4 * error


def test_erased_pairs_are_spread_evenly():
    n_items, n_annotators = 2_000, 8
    item, annotator = assign_by_sparsity(n_items, n_annotators, 0.7, np.random.default_rng(0))
    expected = 0.3 * n_items
    counts = np.bincount(annotator)
    assert np.abs(counts - expected).max() < 4 * np.sqrt(n_items * 0.3 * 0.7)
    assert np.bincount(item).min() >= 1


def test_class_balance():
    n_items = 20_000
    crowd = simulate("experts", items=n_items, class_balance=[6, 1, 3], random_state=0)
    share = crowd.truth.value_counts(normalize=True).loc[["a", "b", "c"]].to_numpy()
    wanted = np.array([0.6, 0.1, 0.3])
    assert (np.abs(share - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / n_items)).all()


def test_answers_follow_the_true_matrices():
    crowd = simulate("unsure", items=20_000, annotators=4, sparsity=0.0, random_state=0)
    frame = crowd.annotations.to_frame()
    true = crowd.truth.loc[frame["item"]].to_numpy()
    table = pd.crosstab([frame["annotator"], true], frame["label"])[crowd.annotations.answers]
    n = table.sum(axis=1).to_numpy()[:, None]
    expected = crowd.confusion.reshape(12, 4)
    error = np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(table.to_numpy() / n - expected) < 4.5 * error).all()  # 48 cells


@pytest.mark.parametrize("classes", [2, 3, 8])
class TestKinds:
    """The stated properties of each kind, of its members and on average."""

    def matrices(self, kind, classes):
        crowd = simulate({kind: 1}, annotators=400, items=1, classes=classes, random_state=2)
        return crowd.confusion

    @pytest.mark.parametrize("kind", ALONE)
    def test_members_scatter_around_the_mean(self, kind, classes):
        matrices = self.matrices(kind, classes)
        mean = KINDS[kind].mean(classes, matrices.shape[2])
        np.testing.assert_allclose(mean.sum(axis=1), 1, rtol=1e-12)
        error = np.sqrt(mean * (1 - mean) / (KINDS[kind].strength + 1) / 400)
        assert (np.abs(matrices.mean(axis=0) - mean) < 4.5 * error).all()

    def test_experts_beat_novices(self, classes):
        expert, novice = (self.matrices(kind, classes) for kind in ("expert", "novice"))
        diagonal = np.arange(classes)
        assert expert[:, diagonal, diagonal].mean(axis=1).min() > 0.85
        assert 0.6 < novice[:, diagonal, diagonal].mean() < 0.8
        assert (informativeness(expert) > informativeness(novice).max()).all()

    def test_biased_lean_to_the_last_class_whatever_the_truth(self, classes):
        mean = self.matrices("biased", classes).mean(axis=0)
        assert (mean.argmax(axis=1) == classes - 1).all()
        assert (np.diag(mean)[:-1] > 0.4).all()

    def test_spammers_carry_no_information(self, classes):
        np.testing.assert_allclose(
            informativeness(self.matrices("spammer", classes)), 0, rtol=0, atol=1e-30
        )

    def test_adversaries_are_wrong_and_informative(self, classes):
        matrices = self.matrices("adversary", classes)
        diagonal = np.arange(classes)
        assert matrices[:, diagonal, diagonal].max() < 0.4
        assert informativeness(matrices).min() > 0.3

    def test_unsure_give_the_extra_answer(self, classes):
        assert self.matrices("unsure", classes)[:, :, classes].min() > 0.1


@pytest.mark.parametrize("kind", [kind for kind in ALONE if kind not in ("unsure", "spammer")])
def test_only_the_unsure_care_for_extra_answers(kind):
    crowd = simulate({kind: 1}, extra_answers=["skip", "?"], annotators=50, random_state=0)
    assert crowd.confusion[:, :, 3:].mean(axis=(0, 1)).max() < 0.1
    assert crowd.confusion[:, :, 3:].min() > 0


def test_groups_of_ones_own():
    first = Group("first", [[0.9, 0.1], [0.2, 0.8]], share=2)
    second = Group("second", [[0.3, 0.7], [0.3, 0.7]], strength=5, blind=True)
    crowd = simulate([first, second], annotators=6, classes=2, random_state=0)
    assert crowd.groups.tolist() == ["first"] * 4 + ["second"] * 2
    np.testing.assert_array_equal(crowd.confusion[:4], np.tile(first.mean, (4, 1, 1)))
    np.testing.assert_array_equal(crowd.confusion[4:, 0], crowd.confusion[4:, 1])
    assert not np.array_equal(crowd.confusion[4], crowd.confusion[5])


def test_an_impossible_answer_is_never_given():
    certain = Group("certain", [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], strength=4)
    crowd = simulate([certain], items=500, classes=2, extra_answers=["?"], random_state=0)
    frame = crowd.annotations.to_frame()
    said = frame["label"][(crowd.truth.loc[frame["item"]] == "no").to_numpy()]
    assert set(said) == {"no"}


@pytest.mark.parametrize("total", [1, 2, 3, 10, 31, 1000])
def test_shares_add_up_and_nobody_is_left_out(total):
    sizes = share_out([8, 11, 0.04], total)
    assert sizes.sum() == total
    assert sizes.min() >= (total >= 3)
    quota = np.array([8, 11, 0.04]) / 19.04 * total
    assert np.abs(sizes - quota).max() <= 1


@pytest.mark.parametrize(
    ("scenario", "options", "sentence"),
    [
        (
            "mixture",
            {},
            r"no crowd 'mixture' \(did you mean 'mixed'\?\); choose one of \['mixed', .*'copycats'",
        ),
        ({"expert": 1, "robot": 1}, {}, r"no kind of annotator 'robot'; .*'spammer'"),
        ({"expert": -1}, {}, "shares of groups must be positive"),
        ([], {}, "at least one group"),
        ([Group("g", [[0.5, 0.5]])], {}, r"'g' must have shape \(3, 3\)"),
        ([Group("g", [[0.5, 0.6], [0.5, 0.5]])], {"classes": 2}, "must be probabilities"),
        ([Group("g", np.eye(2), strength=0)], {"classes": 2}, "strength of group 'g'"),
        ([Group("g", np.eye(2), blind=True)], {"classes": 2}, "'g' is blind"),
        ("unsure", {"extra_answers": []}, "need an extra answer"),
        ("mixed", {"classes": 1}, "at least 2 classes, got 1"),
        ("mixed", {"classes": "ab"}, "must be a whole number or a list"),
        ("mixed", {"classes": ["x", "x"]}, "different names"),
        ("mixed", {"extra_answers": ["a"]}, "different names"),
        ("mixed", {"items": 0}, r"simulate\(items=\.\.\.\) must be at least 1, got 0"),
        ("mixed", {"annotators": 0}, r"simulate\(annotators=\.\.\.\) must be at least 1, got 0"),
        ("mixed", {"labels_per_item": 31}, "between 1 and the number of annotators, 30, got 31"),
        ("mixed", {"labels_per_item": 0}, "got 0"),
        ("mixed", {"labels_per_item": 3, "sparsity": 0.5}, "pass one of them"),
        ("mixed", {"sparsity": 0.99}, r"between 0 and 0.9667, .* got 0.99"),
        ("mixed", {"sparsity": -0.1}, "got -0.1"),
        ("mixed", {"class_balance": [1, 2]}, "3 numbers, one per class"),
        ("mixed", {"class_balance": [1, -2, 3]}, "must be probabilities"),
    ],
)
def test_errors_say_what_to_do(scenario, options, sentence):
    with pytest.raises(DataError, match=sentence):
        simulate(scenario, **options)


def test_repr_is_one_line():
    text = repr(simulate({"expert": 1}, items=4, annotators=3, random_state=0))
    assert text == (
        "<Crowd: 4 items x 3 annotators, 12 labels, 3 classes, 0.0 % missing; groups: expert 3>"
    )


def test_many_groups_are_only_counted():
    groups = [Group(f"g{number}", np.eye(2)) for number in range(9)]
    assert repr(simulate(groups, classes=2)).endswith("missing; 9 groups>")


def test_a_crowd_cannot_be_changed():
    crowd = simulate(random_state=0)
    with pytest.raises(AttributeError):
        crowd.truth = None
    with pytest.raises(ValueError, match="read-only"):
        crowd.confusion[0, 0, 0] = 1


def test_easy_items_are_answered_alike_and_hard_ones_are_not():
    crowd = simulate("easy-hard", items=4_000, annotators=10, labels_per_item=10, random_state=1)
    said = crowd.annotations.to_frame()
    right = said["label"] == said["item"].map(crowd.truth)
    by = right.groupby([said["item"].map(crowd.kinds), said["annotator"]]).mean().unstack()
    assert (by.loc["easy"] - 0.97).abs().max() < 4 * (0.97 * 0.03 / 2_300) ** 0.5
    assert np.ptp(by.loc["hard"]) > 0.5
    share = (crowd.kinds == "hard").mean()
    assert abs(share - 0.4) < 4 * (0.24 / 4_000) ** 0.5
    frequency = right.groupby(said["annotator"]).mean()
    matrix = np.einsum("ltt->lt", crowd.confusion).mean(axis=1)
    assert np.abs(frequency - matrix).max() < 4 * 0.5 / 4_000**0.5


def test_experts_of_one_kind_are_novices_in_the_other():
    crowd = simulate("kinds", items=4_000, annotators=8, labels_per_item=8, random_state=2)
    assert crowd.groups.value_counts().to_dict() == {"expert of a": 4, "expert of b": 4}
    said = crowd.annotations.to_frame()
    right = said["label"] == said["item"].map(crowd.truth)
    own = said["annotator"].map(crowd.groups).str[-1] == said["item"].map(crowd.kinds)
    assert right[own].mean() > 0.9
    assert right[~own].mean() < 0.8
    assert simulate("mixed", random_state=0).kinds is None
