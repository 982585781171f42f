"""From draws to the role that they support, and its probability."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from coterie.roles import Kind, Pattern, Role, roles_of, rule
from coterie.roles import role as support

DOCS = Path(__file__).parents[2] / "docs" / "roles.md"
ABC = ["a", "b", "c"]
EVEN = np.full(3, 1 / 3)

EXPERT = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
GOOD = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
NOVICE = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
SPAMMER = np.full((3, 3), 1 / 3)
SAYS_A, SAYS_B = (np.tile(row, (3, 1)) for row in ([0.8, 0.1, 0.1], [0.1, 0.8, 0.1]))
SWAP = EXPERT[[1, 0, 2]]
A_FOR_B = np.array([[0.3, 0.65, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
B_FOR_A = A_FOR_B[[1, 0, 2]][:, [1, 0, 2]]
WEAK_A = np.array([[0.4, 0.3, 0.3], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
BIASED = 0.5 * EXPERT + 0.5 * np.eye(3)[[2, 2, 2]]
CYCLE = EXPERT[[1, 2, 0]]
TOO_FEW = "too few labels to say"


def roles_of_mix(*parts):
    """The role of one annotator whose draws are these matrices, each so many times."""
    draws = np.concatenate([np.tile(matrix, (times, 1, 1)) for matrix, times in parts])
    found = roles_of(draws[:, None], np.tile(EVEN, (len(draws), 1)), ABC, ABC)
    return found.words[0], found.probability[0]


@pytest.mark.parametrize(
    ("parts", "role", "probability"),
    [
        ([(EXPERT, 10)], "expert", 1.0),
        ([(EXPERT, 8), (NOVICE, 2)], "expert", 0.8),
        ([(EXPERT, 79), (NOVICE, 21)], "good or novice", 1.0),  # surely one of the two
        ([(EXPERT, 60), (NOVICE, 34), (SPAMMER, 6)], TOO_FEW, None),
        ([(NOVICE, 55), (SPAMMER, 40), (CYCLE, 5)], "novice or spammer", 0.95),
        ([(SPAMMER, 6), (CYCLE, 4)], "spammer or adversary", 1.0),
        ([(EXPERT, 5), (CYCLE, 5)], TOO_FEW, None),  # no neighbours
        ([(EXPERT, 5), (GOOD, 4), (NOVICE, 1)], "good", 0.9),  # an expert is good too
        ([(SAYS_A, 5), (SAYS_B, 5)], "spammer", 1.0),
        ([(SAYS_A, 5), (SPAMMER, 4), (EXPERT, 1)], "spammer", 0.9),
        ([(SAYS_A, 9), (SPAMMER, 1)], "mostly says a", 0.9),
        ([(SWAP, 5), (B_FOR_A, 4), (EXPERT, 1)], "confuses a with b", 0.9),  # whichever way
        ([(B_FOR_A, 9), (EXPERT, 1)], "confuses b with a", 0.9),
        ([(A_FOR_B, 4), (WEAK_A, 3), (GOOD, 3)], "good or novice", 1.0),
        ([(BIASED, 5), (NOVICE, 5)], "novice", 1.0),  # a biased annotator is a novice too
        ([(CYCLE, 9), (SPAMMER, 1)], "adversary", 0.9),
        ([(EXPERT, 1), (SPAMMER, 1), (CYCLE, 1)], TOO_FEW, None),
    ],
)
def test_the_most_specific_supported_role_is_given(parts, role, probability):
    found, share = roles_of_mix(*parts)
    assert found == role
    if probability is None:
        assert np.isnan(share)
    else:
        np.testing.assert_allclose(share, probability)


def dirichlet_draws(counts, n_draws, rng, prior=1.0):
    shape = np.asarray(counts, float) + prior
    draws = rng.gamma(shape, size=(n_draws, *shape.shape))
    return draws / draws.sum(axis=-1, keepdims=True)


def test_few_counts_support_no_role_and_many_do():
    rng = np.random.default_rng(0)
    counts = np.array([EXPERT, SAYS_B, SWAP, CYCLE, BIASED])
    balance = rng.dirichlet(np.full(3, 200), size=2_000)
    for n_labels, roles in (
        (1, [TOO_FEW] * 5),
        (
            200,
            ["expert", "mostly says b", "confuses a with b", "adversary", "biased towards c"],
        ),
    ):
        draws = dirichlet_draws(counts * n_labels, 2_000, rng)
        assert roles_of(draws, balance, ABC, ABC).words == roles


def test_a_row_that_only_the_prior_knows_makes_nobody_weak():
    """Two hundred labels on a and b, none on the rare class c, whose row is prior alone."""
    rng = np.random.default_rng(1)
    counts = np.array([[95, 3, 2], [3, 95, 2], [0, 0, 0]])
    balance = rng.dirichlet([490, 490, 20], size=2_000)
    draws = dirichlet_draws(counts[None], 2_000, rng, prior=0.3)
    assert (draws[:, 0, 2, 2] < rule.WEAK).mean() > 0.5  # each draw on its own would say so
    assert roles_of(draws, balance, ABC, ABC).words == ["expert"]


def test_who_has_no_labels_has_no_role():
    draws = np.tile(EXPERT, (5, 3, 1, 1))
    roles = roles_of(draws, np.tile(EVEN, (5, 1)), ABC, ABC, labelled=np.array([4, 0, 1]))
    assert roles.words == ["expert", TOO_FEW, "expert"]
    np.testing.assert_array_equal(roles.probability, [1, np.nan, 1])


def test_the_order_of_draws_and_the_size_of_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    counts = rng.permutation(np.array([EXPERT, NOVICE, SAYS_A, SPAMMER, WEAK_A, GOOD, SWAP]) * 30)
    draws, balance = dirichlet_draws(counts, 300, rng), rng.dirichlet([50, 50, 50], size=300)
    whole = roles_of(draws, balance, ABC, ABC)
    order = rng.permutation(300)
    shuffled = roles_of(draws[order], balance[order], ABC, ABC)
    monkeypatch.setattr(support, "CHUNK", 2 * 300 * 9)  # two annotators at a time, then one
    chunks = roles_of(draws, balance, ABC, ABC)
    for other in (shuffled, chunks):
        assert other.role == whole.role
        np.testing.assert_array_equal(other.probability, whole.probability)
    assert len(set(whole.role)) > 3


def test_single_precision_and_any_labels_will_do():
    draws = np.tile(SAYS_B, (4, 1, 1, 1)).astype(np.float32)
    roles = roles_of(draws, np.tile(EVEN, (4, 1)), np.array([1, 2, 3]), np.array([1, 2, 3]))
    assert roles.words == ["mostly says 2"]


def test_nobody_and_nothing():
    empty = roles_of(np.empty((5, 0, 3, 3)), np.tile(EVEN, (5, 1)), ABC, ABC)
    assert len(empty.role) == len(empty.probability) == 0
    assert roles_of(np.empty((0, 1, 3, 3)), np.empty((0, 3)), ABC, ABC).words == [TOO_FEW]


def test_the_docs_have_every_threshold_as_it_is():
    written = re.findall(r"([0-9]+\.?[0-9]*)\s+\(`([A-Z_]+)`\)", DOCS.read_text("utf-8"))
    constants = {
        key: value for key, value in vars(rule).items() if key.isupper() and type(value) is float
    }
    constants |= {"SUPPORT": support.SUPPORT, "BETWEEN": support.BETWEEN}
    assert {key for _, key in written} == constants.keys()
    assert [(key, float(number)) for number, key in written] == [
        (key, constants[key]) for _, key in written
    ]


def test_thresholds_that_are_said_to_belong_together_do():
    for accuracy, skill in (
        (rule.EXPERT_ACCURACY, rule.EXPERT_SKILL),
        (rule.GOOD_ACCURACY, rule.GOOD_SKILL),
    ):
        np.testing.assert_allclose(2 * accuracy - 1, skill)  # two equally frequent classes
    np.testing.assert_allclose(rule.INFORMATIVE, rule.GOOD_SKILL**2)


def one_role(matrix, shift):
    draws = np.tile(matrix, (400, 1, 1, 1))
    return roles_of(draws, np.full((400, 2), 0.5), ["a", "b"], ["a", "b"], shift=shift)


@pytest.mark.parametrize(
    ("right", "alone", "shared"),
    [
        (0.97, "expert", "expert"),
        (0.8, "good", "good or novice"),  # three in four if the shift is -0.29
        (0.7, "novice", "too little gold to say"),
        (0.58, "spammer", "too little gold to say"),
        (0.5, "spammer", "too little gold to say"),  # 0.4 and 0.6 are one deviation away
        (0.05, "adversary", "adversary"),
    ],
)
def test_a_role_must_hold_under_mistakes_that_all_share(right, alone, shared):
    matrix = np.array([[right, 1 - right], [1 - right, right]])
    assert one_role(matrix, 0.0).words == [alone]
    found = one_role(matrix, 0.4)
    assert found.words == [shared]
    assert np.isnan(found.probability[0]) == (shared == "too little gold to say")


def test_the_share_under_a_common_shift_is_that_of_a_normal_number():
    found = one_role(np.array([[0.8, 0.2], [0.2, 0.8]]), 0.4)
    to_novice = (logit(0.75) - logit(0.8)) / 0.4
    assert norm.sf(to_novice) < 0.8  # not surely good
    always = one_role(np.array([[0.05, 0.95], [0.05, 0.95]]), 0.4)
    assert always.words == ["always says b"]
    shifts = norm.ppf(np.linspace(0.0005, 0.9995, 1000)) * 0.4
    skill = expit(logit(0.05) + shifts) + expit(logit(0.95) + shifts) - 1
    assert always.probability[0] == pytest.approx((np.abs(skill) < 0.2).mean(), abs=0.01)
    assert found.probability[0] > 0.99


def test_a_role_is_data_and_its_text_is_what_tables_show():
    draws = np.stack([SAYS_A, BIASED, SWAP, WEAK_A])[None].repeat(4, axis=0)
    labels = np.array([1, 2, 3])
    found = roles_of(draws, np.tile(EVEN, (4, 1)), labels, labels)
    assert found.role == (
        Role(Pattern.MOSTLY, (1,)),
        Role(Pattern.BIASED, (3,)),
        Role(Pattern.CONFUSES, (1, 2)),
        Role(Pattern.WEAK, (1,)),
    )
    assert found.words == ["mostly says 1", "biased towards 3", "confuses 1 with 2", "weak on 1"]


def test_labels_that_look_like_words_of_the_rule_change_no_kind():
    role = Role(Pattern.ALWAYS, ("{0} expert",))
    assert (str(role), role.kind) == ("always says {0} expert", Kind.NOISE)


def test_every_pattern_has_a_kind():
    kinds = {pattern.name: pattern.kind.value for pattern in Pattern}
    assert kinds == {
        "EXPERT": "good", "GOOD": "good", "NOVICE": "weak", "SPAMMER": "noise",
        "ADVERSARY": "against", "ALWAYS": "noise", "MOSTLY": "noise", "BIASED": "weak",
        "WEAK": "weak",
        "CONFUSES": "weak", "TOO_FEW": "unknown", "UNCLEAR": "unknown",
    }  # fmt: skip
    either = Role(Pattern.GOOD, or_else=Pattern.NOVICE)
    assert (str(either), either.kind) == ("good or novice", Kind.GOOD)


def test_the_shift_is_everybodys_own_and_none_where_gold_shows_all():
    matrix = np.array([[0.62, 0.38], [0.38, 0.62]])
    draws, balance = np.tile(matrix, (400, 2, 1, 1)), np.full((400, 2), 0.5)
    plain = roles_of(draws, balance, ["a", "b"], ["a", "b"]).words
    both = roles_of(draws, balance, ["a", "b"], ["a", "b"], shift=np.array([0.4, 0.0])).words
    assert both[0] == "too little gold to say"
    assert both[1] == plain[1] != both[0]
