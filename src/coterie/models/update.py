"""New labels join old ones, and chains go on from where they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data import annotations_from, table_from, with_gold
from coterie.data.annotations import Annotations
from coterie.data.codes import Codes
from coterie.inference import Hooks, Start
from coterie.kernels.gibbs.ended import Ended, taken_over
from coterie.posterior import Posterior
from coterie.posterior.verdicts import ONE_LABEL

Array = NDArray[Any]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


def is_nothing(more: Any) -> bool:
    """Say whether no labels are given: an empty list or frame; a file without any is a mistake.

    Examples
    --------
    >>> is_nothing([]), is_nothing(""), is_nothing([("q1", "ann", "yes")])
    (True, False, False)
    """
    return isinstance(more, list | tuple | pd.DataFrame) and len(more) == 0


def joined(
    old: Annotations, more: Annotations | None, duplicates: str, true_labels: Any = None
) -> Annotations:
    """Give old labels and new ones together: items and annotators of both, classes of the old.

    What is known of items stays known, of old ones and new ones; ``true_labels`` may be of both.
    Times are kept where all labels have them.

    Examples
    --------
    >>> from coterie.io import read
    >>> old = read([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")])
    >>> more = read([("q2", "bob", "no"), ("q3", "cat", "yes")], classes=["no", "yes"])
    >>> joined(old, more, "error")
    <Annotations: 3 items x 3 annotators, 5 labels, 2 classes, 44.4 % missing>
    """
    parts = [one for one in (old, more) if one is not None]
    both = table_from(pd.concat([one.to_frame() for one in parts], ignore_index=True))
    named = replace(both.source, name="the earlier labels with the new ones")
    whole = annotations_from(
        replace(both, source=named, counted="in this order; the first is row 0"),
        classes=old.classes.tolist(),
        extra_answers=old.extra_answers.tolist() or None,
        duplicates=duplicates,
        time="time" if all(one.times is not None for one in parts) else None,
    )
    gold = {item: label for one in parts for item, label in one.gold.items()}
    if true_labels is not None:
        gold |= with_gold(whole, true_labels).gold
    return with_gold(whole, gold) if gold else whole


def news(old: Annotations, new: Annotations) -> float:
    """Give how many labels are new, or of items that have become known, for each old one.

    Examples
    --------
    >>> from coterie.io import read
    >>> old = read([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")])
    >>> more = read([("q2", "bob", "no"), ("q3", "cat", "yes")], classes=["no", "yes"])
    >>> round(news(old, joined(old, more, "error")), 3)
    0.667
    """
    known = set(new.gold) - set(old.gold)
    moved = old.labels_per_item[pd.Index(old.items).isin(list(known))].sum()
    return float((new.n_labels - old.n_labels + moved) / max(old.n_labels, 1))


def agree_on_labels(posterior: Posterior) -> bool:
    """Say whether the chains give one label on nearly all items; older files do not say."""
    noted = posterior.run.get("verdicts", {}).get("labels", {})
    return float(noted.get("one_label", 1.0)) >= ONE_LABEL


def run_of_rounds(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the facts of a run that took several rounds: all before the last one was burn-in.

    Examples
    --------
    >>> runs = [{"sweeps": 100, "burn_in": 40, "chains": 4}, {"sweeps": 90, "burn_in": 30}]
    >>> run_of_rounds(runs)
    {'sweeps': 190, 'burn_in': 130, 'rounds': 2}
    """
    before = sum(int(run["sweeps"]) for run in runs[:-1])
    last = dict(runs[-1])
    last["sweeps"], last["burn_in"] = last["sweeps"] + before, last["burn_in"] + before
    return {**last, "rounds": len(runs)}


def going_on(
    hooks: Hooks, last: Sequence[Mapping[str, Array]], old: Annotations, new: Annotations
) -> Hooks:
    """Give the same hooks, but chains start where those of an earlier run ended.

    An old item starts with the class that it had, an old annotator in its coterie; new ones start
    as the model has it, new annotators in the largest coterie. The rest of the state follows where
    the model says how.

    Parameters
    ----------
    hooks
        The model's own.
    last
        The last state of every chain: ``truth`` and, of models with coteries, ``group``.
    old, new
        The annotations then and now.
    """
    items = pd.Index(old.items).get_indexer(pd.Index(new.items))
    people = pd.Index(old.annotators).get_indexer(pd.Index(new.annotators))
    labels = places_of_labels(old.codes, new.codes, items, people)

    def start(number: int, data: Codes, votes: IntArray, rng: np.random.Generator) -> Start:
        ended = Ended(last[number % len(last)], items, people, labels)
        state, fresh = ended.state, hooks.start(number, data, votes, rng)
        truth = taken_over(state["truth"], items, fresh.truth)
        truth = np.where(data.gold >= 0, data.gold, truth).astype(np.int32)
        if "group" not in state:
            return Start(truth, fresh.group, ended)
        if len(state["group"]) != old.n_annotators:  # of annotators and kinds
            return Start(truth, fresh.group)
        return Start(truth, carried_groups(state["group"], people, data), ended)

    return replace(hooks, start=start)


def places_of_labels(old: Codes, new: Codes, items: LongArray, people: LongArray) -> LongArray:
    """Give the place of each label among the old ones, -1 if it is new, in the order of the items.

    Repeated labels that are alike keep their order.

    Parameters
    ----------
    old, new
        The labels then and now.
    items, people
        Places of items and annotators among the old ones.
    """
    then = _label_keys(old, np.arange(len(old.gold)), np.arange(len(old.annotator_start) - 1))
    now = _label_keys(new, items, people)
    return np.asarray(then.get_indexer(now), np.int64)


def _label_keys(codes: Codes, items: LongArray, people: LongArray) -> pd.MultiIndex:
    """Give item, annotator, answer and turn of each label, in the codes of the old ones."""
    item = np.repeat(items, np.diff(codes.item_start))
    keys = pd.DataFrame({"i": item, "l": people[codes.item_annotator], "c": codes.item_answer})
    return pd.MultiIndex.from_frame(keys.assign(turn=keys.groupby(["i", "l", "c"]).cumcount()))


def carried_groups(then: Array, place: Array, data: Codes) -> IntArray:
    """Give the coteries then, numbered from 0; those who are new join the largest."""
    labelled = np.diff(data.annotator_start) > 0
    had = taken_over(then, place, np.full(len(place), -1, np.int64))
    seated = had[(had >= 0) & labelled]
    largest = int(np.bincount(seated).argmax()) if len(seated) else 0
    group = np.where(labelled, np.where(had >= 0, had, largest), -1)
    used = np.unique(group[group >= 0])
    return np.where(group >= 0, np.searchsorted(used, group), -1).astype(np.int32)
