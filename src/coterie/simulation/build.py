"""The public function: people, items, who labels what, and what they say."""

from __future__ import annotations

import string
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd

from coterie.arguments import checked
from coterie.data.annotations import Annotations
from coterie.data.codes import Array, encode, times_of
from coterie.errors import Argument, DataError, unfit
from coterie.simulation.crowd import (
    Crowd,
    FloatArray,
    IntArray,
    answer_by_kind,
    answer_in_turn,
    copy_answers,
    draw_answers,
)
from coterie.simulation.groups import SCENARIOS, SPECIAL, Group, Prior, draw_members, draw_people

MOST = {
    "items": 20_000_000,
    "annotators": 20_000_000,
    "classes": 100_000,
    "labels": 500_000_000,
    "pairs": 500_000_000,
    "matrices": 200_000_000,
}
"""What fits in the memory of a large machine; pairs are of items and annotators."""
SIZES = ("items", "annotators", "classes")
"""Those that are arguments."""
Scenario = str | Mapping[str, float] | Sequence[Group] | Prior


@checked
def simulate(
    scenario: Scenario = "mixed",
    *,
    items: int = 300,
    annotators: int = 30,
    classes: int | Sequence[Hashable] = 3,
    labels_per_item: int | None = None,
    sparsity: float | None = None,
    class_balance: Sequence[float] | None = None,
    extra_answers: Sequence[Hashable] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Crowd:
    """Make a synthetic crowd whose truth and groups are known.

    Parameters
    ----------
    scenario
        Who is in the crowd: a name, a mix of kinds (``{"expert": 3, "spammer": 1}``), a sequence of
        :class:`Group`, or a prior (``CBCCPrior(concentration=1.0)``) from which the coteries,
        the confusion matrices and the class balance are drawn; of ``ConsensusPrior()`` also which
        items are hard, and answered by guesses.
        The names are ``"mixed"`` (experts, novices, biased annotators, spammers and an adversary),
        ``"experts"``, ``"novices"``, ``"biased"``, ``"spammers"``, ``"adversaries"``,
        ``"unsure"`` (half of the crowd often gives an extra answer), ``"copycats"`` (four of
        ten mostly repeat what one of the others says), ``"easy-hard"`` (everybody is right on easy
        items; two of five are hard, and only some can tell) and ``"kinds"`` (half of the crowd are
        experts of one kind of items and novices in the other) and ``"drifting"`` (half of the
        experts turn spammers midway; ``annotations.times`` says when labels were given).
        The kinds are ``"expert"`` (right in 95 of 100), ``"novice"`` (70 of 100), ``"biased"``
        (says the last class half of the time whatever the truth), ``"spammer"`` (guesses),
        ``"adversary"`` (says the next class on purpose), ``"unsure"`` and ``"copycat"`` (says in 80
        of 100 what another annotator says of the item, or would say; else answers as a novice).
    items, annotators
        How many.
    classes
        The number of classes, or their names.
    labels_per_item
        How many different annotators label each item; by default 6, or all if there are fewer.
    sparsity
        Instead of `labels_per_item`: the share of (item, annotator) pairs without a label, erased
        at random so that every item keeps at least one.
    class_balance
        The classes' probabilities (made to sum to one); by default all are equal,
        or drawn from the prior.
    extra_answers
        Names of answers that are never true; by default ``["unsure"]`` if somebody is unsure, else
        none.
    random_state
        A seed, or a generator. The same seed gives the same crowd.

    Returns
    -------
    Crowd
        ``annotations``, ``truth`` (Series item -> label), ``groups`` (Series annotator -> group),
        ``confusion`` (annotators, classes, answers), ``copied`` (Series annotator -> source),
        ``kinds`` (Series item -> kind).

    Examples
    --------
    >>> crowd = simulate("experts", items=4, annotators=3, classes=["cat", "dog"], random_state=0)
    >>> crowd.annotations
    <Annotations: 4 items x 3 annotators, 12 labels, 2 classes, 0.0 % missing>
    >>> crowd.truth.to_dict()
    {'q1': 'cat', 'q2': 'dog', 'q3': 'dog', 'q4': 'cat'}
    >>> crowd.groups.to_dict()
    {'a1': 'expert', 'a2': 'expert', 'a3': 'expert'}
    """
    _check_counts(items=items, annotators=annotators)
    rng = np.random.default_rng(random_state)
    class_names = _class_names(classes)
    if extra_answers is None:
        mix = SCENARIOS.get(scenario) if isinstance(scenario, str) else scenario
        extra_answers = ["unsure"] if isinstance(mix, Mapping) and "unsure" in mix else []
    answers = [*class_names, *extra_answers]
    if len(set(answers)) < len(answers):
        raise DataError(
            f"classes and extra answers must have different names, got {answers}",
            argument="extra_answers",
        )
    _check_counts(matrices=annotators * len(class_names) * len(answers))
    sizes = len(class_names), len(answers)
    if isinstance(scenario, Prior):
        people = draw_people(scenario, annotators, sizes, rng)
    elif isinstance(scenario, str) and scenario in SPECIAL:
        people = SPECIAL[scenario](annotators, sizes, rng)
    else:
        people = draw_members(scenario, annotators, sizes, rng)
    if class_balance is not None:
        people = people._replace(balance=_balance(class_balance, len(class_names)))
    truth = rng.choice(len(class_names), size=items, p=people.balance)
    item, annotator = _assign(items, annotators, labels_per_item, sparsity, rng)
    kind, time = None, None
    if people.kinds is not None:
        kind, answer = answer_by_kind(people.kinds, (item, annotator), truth, rng)
    elif people.turn is not None:
        time, answer = answer_in_turn(people, (item, annotator), truth, rng)
    else:
        answer = draw_answers(people.confusion, annotator, truth[item], rng)
    if people.hard is not None:
        of_kind = rng.choice(len(people.hard.share), size=items, p=people.hard.share)[item]
        guessed = rng.random(len(answer)) < people.hard.guessing[of_kind]
        guess = rng.choice(len(people.hard.guess), size=len(answer), p=people.hard.guess)
        answer = np.where(guessed, guess, answer)
    if people.copies is not None:
        answer = copy_answers((item, annotator, answer), truth, people, rng)
    codes = encode(item, annotator, answer, sizes=(items, annotators, *sizes))
    annotations = Annotations(
        _ids("q", items),
        _ids("a", annotators),
        _objects(class_names),
        _objects(answers[len(class_names) :]),
        codes,
        times=None if time is None else times_of(item, annotator, answer, time, annotators),
    )
    by_item = pd.Index(annotations.items, name="item")
    by_annotator = pd.Index(annotations.annotators, name="annotator")
    copied, kinds, confusion = None, None, people.confusion
    if people.copies is not None:
        source, share = people.copies
        named = pd.Series(annotations.annotators[source], by_annotator, name="copied")
        copied, weight = named.where(source >= 0), share[:, None, None]
        confusion = weight * confusion[source] + (1 - weight) * confusion
    if kind is not None and people.kinds is not None:
        kinds = pd.Series(np.array(people.kinds.names, object)[kind], by_item, name="kind")
    return Crowd(
        annotations,
        pd.Series(annotations.classes[truth], by_item, name="truth"),
        pd.Series(people.groups, by_annotator, name="group"),
        confusion,
        copied,
        kinds,
    )


def _assign(
    n_items: int,
    n_annotators: int,
    labels_per_item: int | None,
    sparsity: float | None,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Decide who labels what."""
    if sparsity is None:
        if labels_per_item is None:
            labels_per_item = min(6, n_annotators)
        _check_counts(labels=n_items * max(labels_per_item, 1))
        return assign_by_item(n_items, n_annotators, labels_per_item, rng)
    if labels_per_item is not None:
        raise DataError(
            [
                *(Argument("labels_per_item"), " and ", Argument("sparsity")),
                " both say how many labels: pass one of them",
            ]
        )
    _check_counts(pairs=n_items * n_annotators)
    return assign_by_sparsity(n_items, n_annotators, sparsity, rng)


def _class_names(classes: int | Sequence[Hashable]) -> list[Hashable]:
    if isinstance(classes, str):
        argument = Argument("classes", of="simulate")
        raise unfit(argument, "a number or a list of names", classes)
    if isinstance(classes, int | np.integer) and classes > 0:
        _check_counts(classes=int(classes))
    if not isinstance(classes, int | np.integer):
        names = list(classes)
    elif classes == 2:
        names = ["no", "yes"]
    elif classes <= len(string.ascii_lowercase):
        names = list(string.ascii_lowercase[: max(classes, 0)])
    else:
        names = _ids("c", int(classes)).tolist()
    if len(names) < 2:
        raise DataError(f"a crowd needs at least 2 classes, got {len(names)}", argument="classes")
    return names


def _balance(class_balance: Sequence[float], n_classes: int) -> FloatArray:
    balance = np.asarray(list(class_balance), np.float64)
    argument = Argument("class_balance", of="simulate")
    if balance.shape != (n_classes,):
        raise DataError([argument, f" must be {n_classes} numbers, one per class, got {balance}"])
    if not (balance >= 0).all() or not 0 < balance.sum() < np.inf:
        raise unfit(argument, "probabilities", balance.tolist())
    normalised: FloatArray = balance / balance.sum()
    return normalised


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        what = Argument(name, of="simulate") if name in SIZES else name
        if count < 1:
            raise DataError([what, f" must be at least 1, got {count}"])
        if count > MOST[name]:
            most = f" must be at most {MOST[name]:,}, got {count:,}: it would not fit in memory"
            raise DataError([what, most])


def _ids(letter: str, count: int) -> Array:
    """Count from 1, with zeros in front, so that sorting as text keeps the order."""
    width = len(str(count))
    return _objects([f"{letter}{number:0{width}d}" for number in range(1, count + 1)])


def _objects(names: Sequence[Hashable]) -> Array:
    array = np.empty(len(names), object)
    array[:] = names
    return array


def assign_by_item(
    n_items: int, n_annotators: int, labels_per_item: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Give every item this many different annotators, each set equally likely."""
    if not 1 <= labels_per_item <= n_annotators:
        raise DataError(
            [
                Argument("labels_per_item", of="simulate"),
                f" must be between 1 and the number of annotators, {n_annotators}, got "
                f"{labels_per_item}",
            ]
        )
    # Floyd's subset sampling, all items at once: its cost does not grow with the annotators.
    chosen = np.empty((n_items, labels_per_item), np.int64)
    for k in range(labels_per_item):
        newest = n_annotators - labels_per_item + k
        draw = rng.integers(newest + 1, size=n_items)
        taken = (chosen[:, :k] == draw[:, None]).any(axis=1)
        chosen[:, k] = np.where(taken, newest, draw)
    return np.repeat(np.arange(n_items), labels_per_item), chosen.ravel()


def assign_by_sparsity(
    n_items: int, n_annotators: int, sparsity: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Erase this share of all pairs at random, so that every item keeps at least one."""
    is_share = 0 <= sparsity < 1
    n_labels = round((1 - sparsity) * n_items * n_annotators) if is_share else 0
    if n_labels < n_items:
        raise DataError(
            [
                Argument("sparsity", of="simulate"),
                f" must be between 0 and {1 - 1 / n_annotators:.4g}, so that every item of "
                f"{n_annotators} annotators keeps one, got {sparsity}",
            ]
        )
    kept = np.arange(n_items) * n_annotators + rng.integers(n_annotators, size=n_items)
    others = np.delete(np.arange(n_items * n_annotators), kept)
    pairs = np.append(kept, rng.choice(others, n_labels - n_items, replace=False))
    return pairs // n_annotators, pairs % n_annotators
