"""The rule that gives one matrix one role: by known matrices, at its thresholds, by a slow twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.metrics import informativeness
from coterie.roles import roles_of, rule

LABELS = "abcdefgh"


def role_of(matrix, balance=None, extra=()):
    """The role of one matrix that is known exactly."""
    matrix = np.array(matrix, float)
    classes = list(LABELS[: len(matrix)])
    balance = np.full(len(matrix), 1 / len(matrix)) if balance is None else np.array(balance)
    found = roles_of(matrix[None, None], balance[None], classes, [*classes, *extra])
    assert found.probability.tolist() == [1]
    return found.words[0]


def truthful(accuracy, n_classes):
    matrix = np.full((n_classes, n_classes), (1 - accuracy) / (n_classes - 1))
    np.fill_diagonal(matrix, accuracy)
    return matrix


def with_rows(accuracy, n_classes, **rows):
    """Right this often, but for these rows."""
    matrix = truthful(accuracy, n_classes)
    for label, row in rows.items():
        matrix[LABELS.index(label)] = row
    return matrix


def shifted(share, n_classes):
    return np.roll(truthful(share, n_classes), 1, axis=1)


TWO = {
    "expert": truthful(0.9, 2),
    "good": truthful(0.8, 2),
    "novice": truthful(0.65, 2),
    "spammer": [[0.5, 0.5], [0.5, 0.5]],
    "mostly says b": [[0.2, 0.8], [0.2, 0.8]],
    "always says b": [[0.05, 0.95], [0.05, 0.95]],
    "biased towards b": [[0.6, 0.4], [0.05, 0.95]],
    "adversary": truthful(0.3, 2),
}
THREE = {
    "expert": truthful(0.9, 3),
    "good": truthful(0.8, 3),
    "novice": truthful(0.7, 3),
    "spammer": [[0.2, 0.5, 0.3]] * 3,
    "mostly says b": [[0.1, 0.8, 0.1]] * 3,
    "biased towards c": [[0.45, 0.03, 0.52], [0.03, 0.45, 0.52], [0.03, 0.02, 0.95]],
    "weak on b": with_rows(0.9, 3, b=[0.3, 0.4, 0.3]),
    "confuses b with a": with_rows(0.9, 3, b=[0.6, 0.35, 0.05]),
    "confuses a with b": with_rows(0.9, 3, a=[0.1, 0.85, 0.05], b=[0.85, 0.1, 0.05]),
    "confuses a with c": with_rows(0.9, 3, a=[0.5, 0, 0.5], c=[0.5, 0, 0.5]),
    "adversary": shifted(0.9, 3),
}
FIVE = {
    "expert": truthful(0.9, 5),
    "good": truthful(0.8, 5),
    "novice": truthful(0.5, 5),
    "spammer": [[0.3, 0.1, 0.1, 0.2, 0.3]] * 5,
    "mostly says e": [[0.05, 0.05, 0.05, 0.05, 0.8]] * 5,
    "biased towards e": 0.5 * truthful(0.9, 5) + 0.5 * np.eye(5)[[4] * 5],
    "weak on d": with_rows(0.97, 5, d=[0.3, 0.2, 0.1, 0.3, 0.1]),
    "confuses e with a": with_rows(0.9, 5, e=[0.5, 0.05, 0, 0, 0.45]),
    "confuses b with d": truthful(0.9, 5)[[0, 3, 2, 1, 4]],
    "adversary": shifted(0.9, 5),
}
UNSURE = {
    "expert": [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05]],
    "spammer": [[0.4, 0.3, 0.3]] * 2,
    "mostly says unsure": [[0.1, 0.1, 0.8]] * 2,
    "biased towards unsure": [[0.55, 0.05, 0.4], [0.05, 0.55, 0.4]],
    "biased towards a": [[0.95, 0, 0.05], [0.5, 0.45, 0.05]],
    "weak on b": [[0.95, 0.05, 0], [0.05, 0.35, 0.6]],
    "adversary": [[0.1, 0.8, 0.1], [0.8, 0.1, 0.1]],
}


@pytest.mark.parametrize(
    ("role", "matrix", "extra"),
    [
        *((role, matrix, ()) for known in (TWO, THREE, FIVE) for role, matrix in known.items()),
        *((role, matrix, ["unsure"]) for role, matrix in UNSURE.items()),
    ],
)
def test_known_matrices(role, matrix, extra):
    assert role_of(matrix, extra=extra) == role


def test_swapped_classes_are_confused_and_all_moved_are_an_adversary():
    swap = truthful(0.9, 4)[[1, 0, 2, 3]]
    assert role_of(swap) == "confuses a with b"
    assert role_of(shifted(0.9, 4)) == "adversary"
    assert role_of(truthful(0.9, 4)[[1, 0, 3, 2]]) == "adversary"  # nothing is left that is right


def test_the_worse_of_two_confused_classes_is_named():
    both = with_rows(0.98, 6, a=[0.56, 0.44, 0, 0, 0, 0], c=[0, 0, 0.54, 0.46, 0, 0])
    assert role_of(both) == "confuses c with d"


STEP = 1e-6


@pytest.mark.parametrize(
    ("make", "threshold", "below", "above"),
    [
        (lambda x: truthful(x, 2), rule.EXPERT_ACCURACY, "good", "expert"),
        (lambda x: truthful((x + 1) / 2, 2), rule.EXPERT_SKILL, "good", "expert"),
        (lambda x: truthful(x, 4), rule.EXPERT_ACCURACY, "good", "expert"),
        (lambda x: truthful(x, 2), rule.GOOD_ACCURACY, "novice", "good"),
        (lambda x: truthful((x + 1) / 2, 2), rule.GOOD_SKILL, "novice", "good"),
        (lambda x: truthful((x + 1) / 2, 2), rule.NO_SKILL, "spammer", "novice"),
        (lambda x: truthful((x + 1) / 2, 2), -rule.NO_SKILL, "adversary", "spammer"),
        (lambda x: shifted(0.1 + 0.9 * np.sqrt(x), 10), rule.INFORMATIVE, "spammer", "adversary"),
        (lambda x: [[1 - x, x], [1 - x, x]], rule.ALWAYS, "spammer", "mostly says b"),
        (lambda x: [[1 - x, x]] * 2, rule.NEARLY_ALWAYS, "mostly says b", "always says b"),
        (lambda x: [[1 - x, x], [0.02, 0.98]], rule.BIASED, "good", "biased towards b"),
        (lambda x: [[0.6, 0.4], [0.4 - x, 0.6 + x]], rule.BIASED_GAP, "novice", "biased towards b"),
        (
            lambda x: with_rows(0.98, 3, a=[0.38, 0.6, 0.02], c=[0.02, x, 0.98 - x]),
            rule.BIASED_REST,
            "confuses a with b",
            "biased towards b",
        ),
        (
            lambda x: with_rows(0.95, 3, a=[0.6 - x / 2, x, 0.4 - x / 2]),
            rule.CONFUSED,
            "weak on a",
            "confuses a with b",
        ),
        (
            lambda x: with_rows(0.95, 3, a=[x, (1 - x) / 2, (1 - x) / 2]),
            rule.WEAK,
            "weak on a",
            "good",
        ),
        (
            lambda x: with_rows(x, 3, a=[0.4, 0.3, 0.3]),
            rule.ELSEWHERE,
            "novice",
            "weak on a",
        ),
    ],
)
def test_a_step_over_a_threshold_changes_the_role(make, threshold, below, above):
    assert role_of(make(threshold - STEP)) == below
    assert role_of(make(threshold + STEP)) == above


def test_a_rare_class_makes_no_role():
    weak = with_rows(0.95, 3, c=[0.35, 0.35, 0.3])
    share = rule.RARE / 3
    for balance, role in ((share + STEP, "weak on c"), (share - STEP, "expert")):
        assert role_of(weak, [0.6, 0.4 - balance, balance]) == role


def test_of_two_classes_neither_is_rare():
    # Always right on 99 of 100 items, by never looking: no expert.
    assert role_of([[1, 0], [0.99, 0.01]], [0.99, 0.01]) == "always says a"
    assert role_of([[0.95, 0.05], [0.05, 0.95]], [0.99, 0.01]) == "expert"
    assert role_of([[0.95, 0.05], [0.7, 0.3]], [0.99, 0.01]) == "biased towards a"


# The slow twin: the sentences of docs/roles.md, one after the other.


def common_classes(balance):
    n = len(balance)
    return {t for t in range(n) if balance[t] >= rule.RARE / n} | set(np.argsort(-balance)[:2])


def slow_level(psi, balance):
    said = balance @ psi
    perfect = 1 - (balance**2).sum()
    accuracy = balance @ np.diag(psi)
    skill = (accuracy - balance @ said[: len(balance)]) / perfect
    information = (balance @ (psi - said) ** 2).sum() / perfect
    if abs(skill) < rule.NO_SKILL and information < rule.INFORMATIVE:
        return "spammer"
    if skill < rule.NO_SKILL:
        return "adversary"
    if accuracy >= rule.EXPERT_ACCURACY and skill >= rule.EXPERT_SKILL:
        return "expert"
    return "good" if accuracy >= rule.GOOD_ACCURACY and skill >= rule.GOOD_SKILL else "novice"


def slow_role(psi, balance, names):
    """Go through the roles by rank; the first whose sentence holds is the one."""
    classes, common, level = range(len(psi)), common_classes(balance), slow_level(psi, balance)

    def others_hold(*left_out, share):
        rest = sorted(common - set(left_out))
        right = psi[rest, rest]
        good = len(rest) and (balance[rest] @ right) / balance[rest].sum() >= share
        return good and (right >= rule.WEAK).all()

    swaps = [
        (-(psi[x, y] + psi[y, x]), f"confuses {names[x]} with {names[y]}")
        for x in common
        for y in common
        if x < y and min(psi[x, y], psi[y, x]) >= rule.CONFUSED and others_hold(x, y, share=0)
    ]
    if swaps:
        return min(swaps)[1]
    if level == "adversary":
        return level
    if level == "spammer":
        said = balance @ psi
        often = "always" if said.max() >= rule.NEARLY_ALWAYS else "mostly"
        return f"{often} says {names[said.argmax()]}" if said.max() >= rule.ALWAYS else level

    def wrongly(c, without=()):
        rest = sorted(common - {c} - set(without))
        return balance[rest] @ psi[rest, c] / balance[rest].sum() if rest else 1.0

    rate = np.array([wrongly(c) for c in range(psi.shape[1])])
    c = int(rate.argmax())
    gap = rate[c] - np.delete(rate, c).max()
    worst = max(common - {c}, key=lambda t: psi[t, c])
    biased = rate[c] >= rule.BIASED and gap >= rule.BIASED_GAP
    if biased and wrongly(c, [worst]) >= rule.BIASED_REST:
        return f"biased towards {names[c]}"
    for x in sorted(common, key=lambda x: psi[x, x]):
        taken = [y for y in classes if y != x and psi[x, y] >= rule.CONFUSED]
        if taken and len(common) > 2 and others_hold(x, share=rule.ELSEWHERE):
            return f"confuses {names[x]} with {names[max(taken, key=lambda y: psi[x, y])]}"
        if psi[x, x] < rule.WEAK and others_hold(x, share=rule.ELSEWHERE):
            return f"weak on {names[x]}"
    return level


def centre(n_classes, n_answers, rng):
    """The truth, two classes swapped, a permutation, one answer, or the truth but for a row."""
    eye = np.eye(n_answers)
    kind = rng.integers(5)
    said = np.arange(n_classes)
    if kind == 1:
        said[[0, -1]] = said[[-1, 0]]
    elif kind == 2:
        said = rng.permutation(n_classes)
    elif kind == 3:
        said[:] = rng.integers(n_answers)
    elif kind == 4:
        said[rng.integers(n_classes)] = rng.integers(n_answers)
    return eye[said]


@st.composite
def matrices(draw):
    """Matrices of all sorts, shape (40, classes, answers), and a class balance."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes = draw(st.integers(2, 6))
    n_answers = n_classes + draw(st.integers(0, 2))
    centres = np.stack([centre(n_classes, n_answers, rng) for _ in range(40)])
    noise = rng.dirichlet(np.ones(n_answers), size=(40, n_classes))
    weight = rng.random((40, 1, 1))
    balance = rng.dirichlet(np.full(n_classes, draw(st.sampled_from([0.5, 2, 50]))))
    return weight * noise + (1 - weight) * centres, balance


def names_of(psi):
    n_classes, n_answers = psi.shape[-2:]
    classes = list(LABELS[:n_classes])
    return classes, [*classes, *(f"extra {c}" for c in range(n_answers - n_classes))]


@given(matrices())
def test_the_rule_is_what_its_slow_twin_says(drawn):
    psi, balance = drawn
    classes, answers = names_of(psi)
    roles = roles_of(psi[None], balance[None], classes, answers).words
    assert roles == [slow_role(matrix, balance, answers) for matrix in psi]


@given(matrices())
def test_every_draw_has_exactly_one_role_and_level(drawn):
    psi, balance = drawn
    role, level = rule.count_roles(psi[None], np.tile(balance, (len(psi), 1)))
    assert role.sum() == level.sum() == len(psi)
    assert (role[0, : rule.N_LEVELS] <= level[0]).all()  # who has no pattern has its level's role


@given(matrices(), st.randoms())
def test_relabelling_the_classes_permutes_the_words(drawn, random):
    psi, balance = drawn
    n_classes = psi.shape[1]
    classes, answers = names_of(psi)
    order = random.sample(range(n_classes), n_classes)
    columns = [*order, *range(n_classes, len(answers))]
    turned = psi[:, order][:, :, columns]
    new_classes, new_answers = [classes[t] for t in order], [answers[c] for c in columns]
    before = roles_of(psi[None], balance[None], classes, answers).words
    after = roles_of(turned[None], balance[order][None], new_classes, new_answers).words
    for one, other in zip(before, after, strict=True):
        if one != other:  # a swap is named in the order of the classes
            assert one.startswith("confuses")
            assert sorted(one.split()) == sorted(other.split())


@given(matrices())
def test_information_is_the_public_measure_if_classes_are_equally_frequent(drawn):
    psi, _ = drawn
    last, balance = np.moveaxis(psi, 0, -1), np.full((psi.shape[1], len(psi)), 1 / psi.shape[1])
    measures = rule.measure(last, balance, np.einsum("tn,tcn->cn", balance, last))
    np.testing.assert_allclose(measures.information, informativeness(psi))
    assert (measures.skill**2 <= measures.information + 1e-12).all()


def test_all_roles_were_met():
    """The matrices of these tests hold every kind of role, or the comparisons above say little."""
    rng = np.random.default_rng(0)
    met = set()
    for _ in range(300):
        psi = np.stack([centre(4, 5, rng) for _ in range(20)])
        weight = rng.random((20, 1, 1))
        psi = weight * rng.dirichlet(np.ones(5), size=(20, 4)) + (1 - weight) * psi
        roles = [role_of(matrix, extra=["unsure"]) for matrix in psi]
        met |= {" ".join(role.split()[:2]) for role in roles}
    assert met == {
        "expert", "good", "novice", "spammer", "adversary",
        "always says", "mostly says", "biased towards", "weak on",
        *(f"confuses {label}" for label in "abcd"),
    }  # fmt: skip
