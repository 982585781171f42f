"""New labels join old ones, and chains go on from where they ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data import with_gold
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.inference import Hooks, Start
from coterie.io import read

Array = NDArray[Any]
IntArray = NDArray[np.int32]
Starter = Callable[[int, Codes, IntArray, np.random.Generator], Start]


def joined(
    old: Annotations, more: Annotations, duplicates: str, true_labels: Any = None
) -> Annotations:
    """Give old labels and new ones together: items and annotators of both, classes of the old.

    What is known of items stays known, of old ones and new ones; ``true_labels`` may be of both.

    Examples
    --------
    >>> old = read([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")])
    >>> more = read([("q2", "bob", "no"), ("q3", "cat", "yes")], classes=["no", "yes"])
    >>> joined(old, more, "error")
    <Annotations: 3 items x 3 annotators, 5 labels, 2 classes, 44.4 % missing>
    """
    frames = [one.to_frame() for one in (old, more)]
    whole = read(
        pd.concat(frames, ignore_index=True),
        classes=old.classes.tolist(),
        extra_answers=old.extra_answers.tolist() or None,
        duplicates=duplicates,
    )
    gold = {**old.gold, **more.gold}
    if true_labels is not None:
        gold |= with_gold(whole, true_labels).gold
    return with_gold(whole, gold) if gold else whole


def going_on(
    hooks: Hooks, last: Sequence[Mapping[str, Array]], old: Annotations, new: Annotations
) -> Hooks:
    """Give the same hooks, but chains start where those of an earlier run ended.

    An old item starts with the class that it had, an old annotator in its cluster; new ones start
    as the model has it, new annotators in the largest cluster.

    Parameters
    ----------
    hooks
        The model's own.
    last
        The last state of every chain: ``truth`` and, of models with clusters, ``group``.
    old, new
        The annotations then and now.
    """
    items = pd.Index(old.items).get_indexer(pd.Index(new.items))
    people = pd.Index(old.annotators).get_indexer(pd.Index(new.annotators))

    def start(number: int, data: Codes, votes: IntArray, rng: np.random.Generator) -> Start:
        state = last[number % len(last)]
        fresh = hooks.start(number, data, votes, rng)
        truth = carried(state["truth"], items, fresh.truth)
        truth = np.where(data.gold >= 0, data.gold, truth).astype(np.int32)
        if "group" not in state:
            return fresh._replace(truth=truth)
        return Start(truth, carried_groups(state["group"], people, data))

    return replace(hooks, start=start)


def carried(then: Array, place: Array, fresh: IntArray) -> IntArray:
    """Give what each had then, by its place among the old ones; what is new, or had none, fresh."""
    had = np.where(place >= 0, then[place], -1)
    return np.where(had >= 0, had, fresh).astype(np.int32)


def carried_groups(then: Array, place: Array, data: Codes) -> IntArray:
    """Give the clusters then, numbered from 0; those who are new join the largest."""
    labelled = np.diff(data.annotator_start) > 0
    had = np.where(place >= 0, then[place], -1)
    seated = had[(had >= 0) & labelled]
    largest = int(np.bincount(seated).argmax()) if len(seated) else 0
    group = np.where(labelled, np.where(had >= 0, had, largest), -1)
    used = np.unique(group[group >= 0])
    return np.where(group >= 0, np.searchsorted(used, group), -1).astype(np.int32)
