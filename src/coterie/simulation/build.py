"""The public function: people, items, who labels what, and what they say."""

from __future__ import annotations

import string
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations, Array
from coterie.data.codes import encode
from coterie.errors import DataError
from coterie.simulation.assignment import assign_by_item, assign_by_sparsity
from coterie.simulation.crowd import Crowd, FloatArray, People
from coterie.simulation.groups import Group, draw_members, needs_extra_answer
from coterie.simulation.people import Prior, draw_people

Scenario = str | Mapping[str, float] | Sequence[Group] | Prior


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
        the confusion matrices and the class balance are drawn.
        The names are ``"mixed"`` (experts, novices, biased annotators, spammers and an adversary),
        ``"experts"``, ``"novices"``, ``"biased"``, ``"spammers"``, ``"adversaries"``, and
        ``"unsure"`` (half of the crowd often gives an extra answer).
        The kinds are ``"expert"`` (right in 95 of 100), ``"novice"`` (70 of 100), ``"biased"``
        (says the last class half of the time whatever the truth), ``"spammer"`` (guesses),
        ``"adversary"`` (says the next class on purpose) and ``"unsure"``.
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
        ``confusion`` (annotators, classes, answers).

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
        extra_answers = ["unsure"] if needs_extra_answer(scenario) else []
    answers = _distinct([*class_names, *extra_answers])
    people = _draw(scenario, annotators, (len(class_names), len(answers)), rng)
    if class_balance is not None:
        people = people._replace(balance=_balance(class_balance, len(class_names)))
    truth = rng.choice(len(class_names), size=items, p=people.balance)
    item, annotator = _assign(items, annotators, labels_per_item, sparsity, rng)
    answer = _answer(people.confusion, annotator, truth[item], rng)
    codes = encode(
        item, annotator, answer, sizes=(items, annotators, len(class_names), len(answers))
    )
    annotations = Annotations(
        _ids("q", items),
        _ids("a", annotators),
        _objects(class_names),
        _objects(answers[len(class_names) :]),
        codes,
    )
    return Crowd(
        annotations,
        pd.Series(
            annotations.classes[truth], pd.Index(annotations.items, name="item"), name="truth"
        ),
        pd.Series(people.groups, pd.Index(annotations.annotators, name="annotator"), name="group"),
        people.confusion,
    )


def _draw(
    scenario: Scenario, n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator
) -> People:
    """Draw the annotators, from a prior or group by group."""
    if isinstance(scenario, Prior):
        return draw_people(scenario, n_annotators, sizes, rng)
    return draw_members(scenario, n_annotators, sizes, rng)


def _assign(
    n_items: int,
    n_annotators: int,
    labels_per_item: int | None,
    sparsity: float | None,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Decide who labels what."""
    if sparsity is None:
        if labels_per_item is None:
            labels_per_item = min(6, n_annotators)
        return assign_by_item(n_items, n_annotators, labels_per_item, rng)
    if labels_per_item is not None:
        raise DataError("labels_per_item and sparsity both say how many labels: pass one of them")
    return assign_by_sparsity(n_items, n_annotators, sparsity, rng)


def _answer(
    confusion: FloatArray,
    annotator: NDArray[np.int64],
    truth: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw each label's answer from its annotator's row of the truth, shape (labels,)."""
    below = np.cumsum(confusion, axis=2)
    u = rng.random(len(annotator))
    answer = np.zeros(len(annotator), np.int64)
    # A loop over answers: one column in memory at a time, not labels x answers.
    for c in range(confusion.shape[2] - 1):
        answer += u >= below[annotator, truth, c]
    return answer


def _class_names(classes: int | Sequence[Hashable]) -> list[Hashable]:
    if isinstance(classes, str):
        raise DataError(f"classes must be a number or a list of names, got {classes!r}")
    if not isinstance(classes, int | np.integer):
        names = list(classes)
    elif classes == 2:
        names = ["no", "yes"]
    elif classes <= len(string.ascii_lowercase):
        names = list(string.ascii_lowercase[: max(classes, 0)])
    else:
        names = _ids("c", int(classes)).tolist()
    if len(names) < 2:
        raise DataError(f"a crowd needs at least 2 classes, got {len(names)}")
    return names


def _distinct(answers: list[Hashable]) -> list[Hashable]:
    if len(set(answers)) < len(answers):
        raise DataError(f"classes and extra answers must have different names, got {answers}")
    return answers


def _balance(class_balance: Sequence[float], n_classes: int) -> FloatArray:
    balance = np.asarray(class_balance, np.float64)
    if balance.shape != (n_classes,):
        raise DataError(f"class_balance must be {n_classes} numbers, one per class, got {balance}")
    if not (balance >= 0).all() or not 0 < balance.sum() < np.inf:
        raise DataError(f"class_balance must be probabilities, got {balance.tolist()}")
    normalised: FloatArray = balance / balance.sum()
    return normalised


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise DataError(f"{name} must be at least 1, got {count}")


def _ids(letter: str, count: int) -> Array:
    """Count from 1, with zeros in front, so that sorting as text keeps the order."""
    width = len(str(count))
    return _objects([f"{letter}{number:0{width}d}" for number in range(1, count + 1)])


def _objects(names: Sequence[Hashable]) -> Array:
    array = np.empty(len(names), object)
    array[:] = names
    return array
