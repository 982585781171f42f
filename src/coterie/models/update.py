"""New labels join old ones, and chains go on from where they ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data import annotations_from, table_from, with_gold
from coterie.data.annotations import Annotations
from coterie.kernels.people import People
from coterie.numeric import State
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
    """Say whether the chains give one label on nearly all items."""
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
    last: Sequence[Mapping[str, Array]], old: Annotations, new: Annotations, people: People,
    rows: LongArray,
) -> Callable[[int, State], State]:  # fmt: skip
    """Give what starts chains where those of an earlier run ended.

    An old annotator keeps their coterie, a coterie its parameters, and of what everybody has said
    the counts; new annotators join the largest coterie, new items and labels are drawn first of
    all. Chains that move one item after the other keep also the classes of old items, if these
    were known then.

    Parameters
    ----------
    last
        The last state of every chain.
    old, new
        The annotations then and now.
    people
        Of the model, for the annotations now.
    rows
        The place of each row of the counts among those then, -1 if it is new.
    """
    items = pd.Index(old.items).get_indexer(pd.Index(new.items))
    place = pd.Index(old.annotators).get_indexer(pd.Index(new.annotators))
    gold = new.codes.gold

    def start(number: int, state: State) -> State:
        then = last[number % len(last)]
        if "truth" in state and "truth" in then:
            had = taken_over(then["truth"], items, np.full(len(items), -1))
            truth = np.where((had >= 0) & (state["truth"] >= 0), had, state["truth"])
            state["truth"] = np.where(gold >= 0, gold, truth).astype(np.int32)
        elif "truth" not in state:
            kept = taken_over(then["said"], rows, np.zeros((len(rows), *then["said"].shape[1:])))
            extra = state["said"].shape[1] - kept.shape[1]  # further answers
            state["said"] = np.pad(kept, ((0, 0), (0, extra), (0, 0))).astype(np.int32)
        if "walk" in state:
            state["walk"] = taken_over(then["walk"], rows, state["walk"])
        if "group" in state:
            # Of pairs of annotators and kinds there are several for each.
            each = len(state["group"]) // max(len(place), 1)
            pairs = (np.repeat(place, each) * each + np.tile(np.arange(each), len(place))).clip(-1)
            group, source = carried_groups(then["group"], pairs, state["group"] >= 0)
            state["group"] = group
            state |= {name: then[name][source] for name in people.of_coteries}
        own = {"truth", "class_total", "said", "walk", "group", *people.of_coteries}
        for name in state.keys() & then.keys() - own:
            if then[name].shape == state[name].shape:
                state[name] = np.array(then[name])
        return state

    return start


def taken_over(then: Array, place: LongArray, fresh: Array) -> Array:
    """Give what was there then, by place; fresh where it is new.

    Examples
    --------
    >>> taken_over(np.array([7, 8, 9]), np.array([2, -1, 0]), np.zeros(3, int))
    array([9, 0, 7])
    """
    result = np.array(fresh)
    result[place >= 0] = then[place[place >= 0]]
    return result


def carried_groups(
    then: Array, place: LongArray, seated: NDArray[np.bool_]
) -> tuple[IntArray, LongArray]:
    """Give everybody's coterie, numbered from 0, and which each of them was.

    Those who are new join the largest; nobody is seated who has no labels.

    Examples
    --------
    >>> everybody = np.ones(4, bool)
    >>> carried_groups(np.array([7, 7, 4]), np.array([2, 0, -1, 1]), everybody)
    (array([0, 1, 1, 1], dtype=int32), array([4, 7]))
    """
    had = taken_over(then, place, np.full(len(place), -1))
    sat = had[(had >= 0) & seated]
    largest = int(np.bincount(sat).argmax()) if len(sat) else 0
    group = np.where(had >= 0, had, largest)[seated]
    source, which = np.unique(group, return_inverse=True)
    found = np.full(len(place), -1, np.int32)
    found[seated] = which
    return found, source
