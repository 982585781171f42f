"""The kinds of annotators, the named crowds they make up, and people drawn from a prior."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from coterie.errors import Argument, DataError
from coterie.priors import CBCCPrior, ConsensusPrior, Gamma, HCBCCPrior, IBCCPrior
from coterie.simulation.crowd import (
    FloatArray,
    HardItems,
    IntArray,
    ItemKinds,
    People,
    draw_dirichlet,
    draw_log_dirichlet,
)
from coterie.words.values import did_you_mean
from coterie.words.visible import quoted

Prior = IBCCPrior | CBCCPrior | HCBCCPrior | ConsensusPrior


@dataclass(frozen=True, eq=False)
class Group:
    """Annotators who behave alike: Psi[l, t] ~ Dir(strength * mean[t]).

    Parameters
    ----------
    name
        What the group is called.
    mean
        The group's mean confusion matrix, shape (classes, answers); the rows are the true classes.
    strength
        How alike the members are; by default all have the very same matrix.
    share
        The group's size, relative to the other groups' shares.
    blind
        Whether the answers do not depend on the truth: one row is drawn and used for every class.
    copies
        How often, from 0 to 1, the members say what another annotator says: all of a group copy the
        same one, who is drawn among those who copy nobody.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> careful = Group("careful", [[0.9, 0.1], [0.1, 0.9]], strength=50, share=3)
    >>> hasty = Group("hasty", [[0.6, 0.4], [0.3, 0.7]])
    >>> crowd = simulate([careful, hasty], annotators=8, classes=["no", "yes"], random_state=1)
    >>> crowd.groups.value_counts().to_dict()
    {'careful': 6, 'hasty': 2}
    """

    name: str
    mean: ArrayLike
    strength: float = math.inf
    share: float = 1.0
    blind: bool = False
    copies: float = 0.0

    def draw(self, n_members: int, rng: np.random.Generator) -> FloatArray:
        """Draw the members' matrices, shape (members, classes, answers)."""
        mean = np.asarray(self.mean, np.float64)
        if self.blind:
            mean = mean[:1]
        matrices = np.broadcast_to(mean, (n_members, *mean.shape))
        if math.isfinite(self.strength):
            matrices = draw_dirichlet(self.strength * matrices, rng)
        return np.broadcast_to(matrices, (n_members, *np.shape(self.mean))).copy()


class Kind(NamedTuple):
    """How a named kind of annotator behaves, whatever the number of classes."""

    mean: Callable[[int, int], FloatArray]  # classes, answers -> (classes, answers)
    strength: float
    blind: bool = False
    copies: float = 0.0


def _truthful(accuracy: float) -> Callable[[int, int], FloatArray]:
    """Say the truth this often, and every other answer equally seldom."""

    def mean(n_classes: int, n_answers: int) -> FloatArray:
        matrix = np.full((n_classes, n_answers), (1 - accuracy) / (n_answers - 1))
        np.fill_diagonal(matrix, accuracy)
        return matrix

    return mean


def _biased(n_classes: int, n_answers: int) -> FloatArray:
    """Say the last class half of the time whatever the truth, else be right in nine of ten."""
    matrix = 0.5 * _truthful(0.9)(n_classes, n_answers)
    matrix[:, n_classes - 1] += 0.5
    return matrix


def _guess(n_classes: int, n_answers: int) -> FloatArray:
    """Say anything, whatever the truth."""
    return np.full((n_classes, n_answers), 1 / n_answers)


def _adversary(n_classes: int, n_answers: int) -> FloatArray:
    """Know the truth in nine of ten, and say the next class."""
    matrix = np.full((n_classes, n_answers), 0.1 / (n_answers - 1))
    t = np.arange(n_classes)
    matrix[t, (t + 1) % n_classes] = 0.9
    return matrix


def _unsure(n_classes: int, n_answers: int) -> FloatArray:
    """Give an extra answer in four of ten, else be right in nine of ten."""
    n_extra = n_answers - n_classes
    if n_extra == 0:
        raise DataError(
            "'unsure' annotators need an extra answer",
            remedy=["pass ", Argument("extra_answers", ["unsure"])],
        )
    matrix = np.full((n_classes, n_answers), 0.4 / n_extra)
    matrix[:, :n_classes] = 0.6 * _truthful(0.9)(n_classes, n_classes)
    return matrix


KINDS = {
    "expert": Kind(_truthful(0.95), 100),
    "novice": Kind(_truthful(0.7), 40),
    "biased": Kind(_biased, 40),
    "spammer": Kind(_guess, 20, blind=True),
    "adversary": Kind(_adversary, 40),
    "unsure": Kind(_unsure, 40),
    "copycat": Kind(_truthful(0.7), 40, copies=0.8),
}

SCENARIOS: dict[str, dict[str, float]] = {
    "mixed": {"expert": 8, "novice": 11, "biased": 4, "spammer": 6, "adversary": 1},
    "experts": {"expert": 1},
    "novices": {"novice": 1},
    "biased": {"biased": 1},
    "spammers": {"spammer": 1},
    "adversaries": {"adversary": 1},
    "unsure": {"expert": 1, "novice": 1, "unsure": 2},
    "copycats": {"novice": 6, "copycat": 4},
}


NAMES = (*SCENARIOS, "easy-hard", "kinds", "drifting")
"""All named crowds; the last are more than a mix of annotators."""


def draw_members(
    scenario: str | Mapping[str, float] | Sequence[Group],
    n_annotators: int,
    sizes: tuple[int, int],
    rng: np.random.Generator,
) -> People:
    """Draw the annotators of a crowd group by group; its classes are equally likely."""
    n_classes, n_answers = sizes
    groups = find_groups(scenario, n_classes, n_answers)
    members = share_out([group.share for group in groups], n_annotators).tolist()
    both = list(zip(groups, members, strict=True))
    people = People(
        [group.name for group, size in both for _ in range(size)],
        np.concatenate([group.draw(size, rng) for group, size in both]),
        np.full(n_classes, 1 / n_classes),
    )
    copies = np.repeat([group.copies for group in groups], members)
    if not copies.any():
        return people
    (models,) = np.nonzero(copies == 0)
    if not len(models):
        raise DataError(
            "somebody must copy nobody",
            argument="scenario",
            remedy="add a group with copies=0, such as 'novice'",
        )
    drawn = np.repeat(rng.choice(models, size=len(members)), members)
    return people._replace(copies=(np.where(copies > 0, drawn, -1), copies))


def find_groups(
    scenario: str | Mapping[str, float] | Sequence[Group], n_classes: int, n_answers: int
) -> list[Group]:
    """Spell out a named crowd, or a mix of named kinds; check groups that came spelt out."""
    if isinstance(scenario, str):
        if scenario not in SCENARIOS:
            near = did_you_mean(scenario, NAMES)
            raise DataError(
                f"there is no crowd {scenario!r}{near}",
                argument="scenario",
                remedy=f"choose one of {list(NAMES)}",
            )
        scenario = SCENARIOS[scenario]
    if isinstance(scenario, Mapping) and scenario:
        groups: list[Any] = []
        for name, share in scenario.items():
            if name not in KINDS:
                raise DataError(
                    f"there is no kind of annotator {name!r}",
                    argument="scenario",
                    remedy=f"choose among {list(KINDS)}",
                )
            mean, strength, blind, copies = KINDS[name]
            made = mean(n_classes, n_answers)
            groups.append(Group(name, made, strength, share, blind, copies))
        return groups
    given: Any = scenario
    if not isinstance(given, Iterable) or isinstance(given, np.ndarray):
        raise DataError(
            f"a crowd is a name, a mix of kinds or a list of groups, not {quoted(given)}",
            argument="scenario",
        )
    groups = list(given)
    if not groups:
        raise DataError("a crowd needs at least one group, got none", argument="scenario")
    for group in groups:
        if not isinstance(group, Group):
            raise DataError(
                f"a crowd is a list of groups, and {quoted(group)} is none", argument="scenario"
            )
        _check(group, n_classes, n_answers)
    return groups


def _check(group: Group, n_classes: int, n_answers: int) -> None:
    mean = np.asarray(group.mean, np.float64)
    if mean.shape != (n_classes, n_answers):
        raise DataError(
            f"the mean of group {group.name!r} must have shape ({n_classes}, {n_answers}), true "
            f"classes by answers, got {mean.shape}",
            remedy=["pass ", Argument("classes"), " and ", Argument("extra_answers"), " to match"],
        )
    if not (mean >= 0).all() or not np.allclose(mean.sum(axis=1), 1):
        raise DataError(f"the rows of the mean of group {group.name!r} must be probabilities")
    if not group.strength > 0:
        raise DataError(f"the strength of group {group.name!r} must be positive")
    if not 0 <= group.copies <= 1:
        raise DataError(f"group {group.name!r} must copy between 0 and 1, got {group.copies}")
    if group.blind and not np.allclose(mean, mean[0]):
        raise DataError(f"group {group.name!r} is blind, so the rows of its mean must be equal")


def share_out(shares: Sequence[float], total: int) -> IntArray:
    """Split a total in proportion to the shares, by largest remainders, nobody left empty."""
    try:
        weight = np.asarray(shares, np.float64)
    except (TypeError, ValueError, ArithmeticError):
        weight = np.full(1, np.nan)
    if not (weight > 0).all() or not np.isfinite(weight).all():
        raise DataError(f"the shares of groups must be positive, got {quoted(list(shares))}")
    size = np.full(len(weight), int(total >= len(weight)))
    quota = np.maximum(weight / weight.sum() * total - size, 0)
    left = total - size.sum()
    if quota.sum() > 0:
        quota *= left / quota.sum()
    size += np.floor(quota).astype(np.int64)
    order = np.argsort(np.floor(quota) - quota, kind="stable")
    size[order[: total - size.sum()]] += 1
    return size


EASY = 0.97
"""How often everybody is right on easy items."""
HARD_SHARE = 0.4
HARD_CROWD = {"expert": 3.0, "novice": 5.0, "spammer": 2.0}
"""Who is who on hard items."""


def draw_easy_hard(n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator) -> People:
    """Draw people who all answer easy items alike, and hard ones each in a way of their own."""
    people = draw_members(HARD_CROWD, n_annotators, sizes, rng)
    n_classes, n_answers = sizes
    matrix = np.full((n_classes, n_answers), (1 - EASY) / (n_answers - 1))
    np.fill_diagonal(matrix, EASY)
    easy = np.broadcast_to(matrix, people.confusion.shape)
    share = np.array([1 - HARD_SHARE, HARD_SHARE])
    return _with_kinds(people, ("easy", "hard"), share, np.stack([easy, people.confusion]))


def draw_fields(n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator) -> People:
    """Draw people of whom half are experts of one kind of items and novices in the other."""
    members = share_out([1.0, 1.0], n_annotators).tolist()
    names = [f"expert of {kind}" for kind, n in zip("ab", members, strict=True) for _ in range(n)]
    drawn = [draw_members({kind: 1.0}, n_annotators, sizes, rng) for kind in ("expert", "novice")]
    expert, novice = (people.confusion for people in drawn)
    of_a = np.arange(n_annotators) < members[0]
    confusion = np.stack(
        [np.where((of_a == (kind == "a"))[:, None, None], expert, novice) for kind in "ab"]
    )
    people = People(names, confusion.mean(axis=0), drawn[0].balance)
    return _with_kinds(people, ("a", "b"), np.array([0.5, 0.5]), confusion)


def _with_kinds(
    people: People, names: tuple[str, ...], share: FloatArray, confusion: FloatArray
) -> People:
    """Give the same people, whose matrix is the mean over kinds of items."""
    mean = np.einsum("k,kltc->ltc", share, confusion)
    return people._replace(confusion=mean, kinds=ItemKinds(names, share, confusion))


def draw_drifting(n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator) -> People:
    """Draw experts of whom half turn spammers midway through their labels."""
    steady, turned = share_out([1.0, 1.0], n_annotators).tolist()
    first = draw_members({"expert": 1.0}, n_annotators, sizes, rng)
    after = first.confusion.copy()
    if turned:
        after[steady:] = draw_members({"spammer": 1.0}, turned, sizes, rng).confusion
    names = ["steady"] * steady + ["turned"] * turned
    mean = (first.confusion + after) / 2
    return People(names, mean, first.balance, turn=(first.confusion, after))


SPECIAL = {"easy-hard": draw_easy_hard, "kinds": draw_fields, "drifting": draw_drifting}
"""Named crowds that are more than a mix of annotators."""


def draw_people(
    prior: Prior, n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator
) -> People:
    """Draw coteries, confusion matrices and class proportions, in this order, from the prior.

    Of iBCC every annotator is a group; of Consensus some items are hard, and class weights that
    wait for votes are its ``class_base``. ``sizes`` are the numbers of classes and of answers.
    """
    if isinstance(prior, ConsensusPrior) and prior.class_weights is None:
        prior = replace(prior, class_weights=prior.class_base)
    prior = prior.resolve(*sizes)
    if isinstance(prior, IBCCPrior):
        group = np.arange(n_annotators)
    else:
        concentration = prior.concentration
        if isinstance(concentration, Gamma):
            shape, rate = np.asarray(concentration.shape), np.asarray(concentration.rate)
            concentration = float(rng.gamma(shape, 1 / rate))
        group = _draw_crp(n_annotators, concentration, rng)
    if isinstance(prior, ConsensusPrior):
        return _draw_consensus(prior, group, rng)
    if isinstance(prior, HCBCCPrior):
        confusion = _draw_around_coteries(prior, group, rng)
    else:
        shape = np.asarray(prior.strength)[:, None] * np.asarray(prior.mean)  # (T, C)
        matrices = draw_dirichlet(np.broadcast_to(shape, (group.max() + 1, *sizes)), rng)
        confusion = matrices[group]
    balance = draw_dirichlet(prior.class_weights, rng)
    return People(group.tolist(), confusion, balance)


def _draw_crp(n_annotators: int, concentration: float, rng: np.random.Generator) -> IntArray:
    """Seat annotators one by one; coteries are numbered as they appear, shape (annotators,)."""
    group = np.zeros(n_annotators, np.int64)
    n_coteries = 1
    for l in range(1, n_annotators):
        # Sit with an earlier annotator, each equally likely, or alone with weight alpha.
        seat = rng.random() * (l + concentration)
        if seat < l:
            group[l] = group[int(seat)]
        else:
            group[l] = n_coteries
            n_coteries += 1
    return group


def _draw_around_coteries(
    prior: HCBCCPrior, group: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Draw Psi[l, t] ~ Dir(beta[m, t] * eta[m, t]), shape (annotators, classes, answers)."""
    mean = np.asarray(prior.mean)  # (T, C)
    n_coteries = group.max() + 1
    shape, rate = np.asarray(prior.strength.shape), np.asarray(prior.strength.rate)  # (T,)
    strength = rng.gamma(shape, 1 / rate, size=(n_coteries, len(mean)))
    centre_shape = np.asarray(prior.mean_strength)[:, None] * mean
    log_centre = draw_log_dirichlet(np.broadcast_to(centre_shape, (n_coteries, *mean.shape)), rng)
    return draw_dirichlet((strength[:, :, None] * np.exp(log_centre))[group], rng)


def _draw_consensus(prior: ConsensusPrior, group: IntArray, rng: np.random.Generator) -> People:
    """Draw around b[m, t, c] = d[m] 1[c = t] + (1 - d[m]) w[c], and what hard items are."""
    weights, n_coteries = np.asarray(prior.class_weights), group.max() + 1
    guess = draw_dirichlet(prior.guess_weights, rng)
    n_classes, n_answers = len(weights), len(guess)
    point = (np.arange(prior.knowledge_points) + 0.5) / prior.knowledge_points
    density = point ** (prior.knowledge.a - 1) * (1 - point) ** (prior.knowledge.b - 1)
    known = rng.choice(point, n_coteries, p=density / density.sum())[:, None, None]
    base = known * np.eye(n_classes, n_answers) + (1 - known) * guess  # (coteries, T, C)
    shape, rate = np.asarray(prior.strength.shape), np.asarray(prior.strength.rate)
    strength = rng.gamma(shape, 1 / rate, n_coteries)[:, None, None]
    centre = np.exp(draw_log_dirichlet(prior.mean_strength * base, rng))
    confusion = draw_dirichlet((strength * centre)[group], rng)
    balance = draw_dirichlet(weights, rng)
    hard = HardItems(
        draw_dirichlet(prior.kind_weights, rng),
        np.asarray(prior.guessing),
        draw_dirichlet(prior.hard_guess_weights, rng),
    )
    return People(group.tolist(), confusion, balance, hard)
