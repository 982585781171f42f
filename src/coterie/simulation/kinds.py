"""Crowds whose answers depend on the kind of an item: easy and hard ones, fields of expertise."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.codes import Array
from coterie.simulation.copycats import draw_answers
from coterie.simulation.crowd import FloatArray, ItemKinds, People, Turn
from coterie.simulation.groups import draw_members, share_out

LongArray = NDArray[np.int64]

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


def answer_by_kind(
    kinds: ItemKinds, label: tuple[LongArray, LongArray], truth: LongArray, rng: np.random.Generator
) -> tuple[LongArray, LongArray]:
    """Draw the kind of every item, shape (items,), and every answer, shape (labels,)."""
    item, annotator = label
    kind = rng.choice(len(kinds.share), size=len(truth), p=kinds.share)
    answer = np.zeros(len(item), np.int64)
    for k, confusion in enumerate(kinds.confusion):
        of_kind = kind[item] == k
        who, what = annotator[of_kind], truth[item[of_kind]]
        answer[of_kind] = draw_answers(confusion, who, what, rng)
    return kind, answer


def kinds_by_name(kind: LongArray | None, people: People, items: Array) -> pd.Series | None:
    """Give a Series item -> kind; None where items have no kinds."""
    if kind is None or people.kinds is None:
        return None
    names = np.array(people.kinds.names, object)
    return pd.Series(names[kind], pd.Index(items, name="item"), name="kind")


def draw_drifting(n_annotators: int, sizes: tuple[int, int], rng: np.random.Generator) -> People:
    """Draw experts of whom half turn spammers midway through their labels."""
    steady, turned = share_out([1.0, 1.0], n_annotators).tolist()
    first = draw_members({"expert": 1.0}, n_annotators, sizes, rng)
    after = first.confusion.copy()
    if turned:
        after[steady:] = draw_members({"spammer": 1.0}, turned, sizes, rng).confusion
    names = ["steady"] * steady + ["turned"] * turned
    mean = (first.confusion + after) / 2
    return People(names, mean, first.balance, turn=Turn(first.confusion, after))


def answer_in_turn(
    turn: Turn, label: tuple[LongArray, LongArray], truth: LongArray, rng: np.random.Generator
) -> tuple[FloatArray, LongArray]:
    """Draw when every label is given, a step each in random order, and the answers."""
    item, annotator = label
    order = rng.permutation(len(item))
    by_person = order[np.argsort(annotator[order], kind="stable")]
    n = np.bincount(annotator, minlength=len(turn.before))
    start = np.concatenate([[0], np.cumsum(n)])
    time = np.empty(len(item))
    time[by_person] = np.arange(len(item)) - start[annotator[by_person]]
    late = time >= n[annotator] / 2
    before, after = (
        draw_answers(confusion, annotator, truth[item], rng)
        for confusion in (turn.before, turn.after)
    )
    return time, np.where(late, after, before)


SPECIAL = {"easy-hard": draw_easy_hard, "kinds": draw_fields, "drifting": draw_drifting}
"""Named crowds that are more than a mix of annotators."""
