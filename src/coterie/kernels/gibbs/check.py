"""Do the counts of a chain's state follow from its classes and groups? Asked of what is restored.

The kernels find their way by these counts and never look whether they are right. What a model's
state has is known to its kernels: each has a ``check_state``, made of the pieces here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes

Array = NDArray[Any]


def require_match(name: str, found: Array, expected: Array) -> None:
    """Raise ValueError unless a part of the state is what its other parts add up to."""
    if not np.array_equal(found, expected):
        raise ValueError(f"{name} does not follow from the state")


def check_classes(state: Any, data: Codes) -> None:
    """Check how many items are of each class."""
    found = np.bincount(state.truth[state.truth >= 0], minlength=data.n_classes)
    require_match("class_total", state.class_total, found)


def count_said(truth: Array, data: Codes, own: Array | slice = slice(None)) -> Array:
    """Count labels by annotator, answer and class, shape (annotators, answers, classes).

    Parameters
    ----------
    truth
        The classes of the items.
    data
        The labels.
    own
        Which labels count, in the order of the items; by default all.
    """
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    said = np.zeros((len(data.annotator_start) - 1, data.n_answers, data.n_classes), np.int64)
    np.add.at(said, (data.item_annotator[own], data.item_answer[own], truth[item[own]]), 1)
    return said


def check_said(state: Any, said: Array) -> None:
    """Check who said what, and the sums of it."""
    require_match("said", state.said, said)
    require_match("said_total", state.said_total, said.sum(axis=1))


def check_labels(said: Array, data: Codes, *, guesses: bool = False) -> None:
    """Check counts by annotator, where items are elsewhere: they are everybody's labels.

    Parameters
    ----------
    said
        Shape (annotators, answers, classes).
    data
        How many labels everybody has.
    guesses
        Some labels may be guesses, which are counted elsewhere.
    """
    n_labels, counted = np.diff(data.annotator_start), said.sum(axis=(1, 2), dtype=np.int64)
    fewer = not guesses and (counted < n_labels).any()
    if fewer or (said < 0).any() or (counted > n_labels).any():
        raise ValueError("said does not follow from the labels")


def check_groups(state: Any) -> None:
    """Check sizes and slots of the groups, and alpha."""
    n_slots = len(state.size)
    size = np.bincount(state.group[state.group >= 0], minlength=n_slots)
    n_coteries = int(np.count_nonzero(size))
    if not (np.array_equal(state.size, size) and state.n_coteries[0] == n_coteries):
        raise ValueError("size or n_coteries does not follow from the state")
    if sorted(state.slot.tolist()) != list(range(n_slots)):
        raise ValueError("slot is no order of the slots")
    if (size[state.slot[:n_coteries]] == 0).any():
        raise ValueError("slot does not begin with the groups")
    if not state.log_concentration[0] < np.inf:
        raise ValueError("log_concentration is infinite")


def check_shared(state: Any, own: Array) -> None:
    """Check groups whose members share a matrix: counts by annotator, and by group."""
    require_match("own", state.own, own)
    check_groups(state)
    grouped, seated = np.zeros(state.said.shape, np.int64), state.group >= 0
    np.add.at(grouped, state.group[seated], own[seated])
    check_said(state, grouped)


def check_parameters(state: Any, auxiliaries: int) -> None:
    """Check the parameters of the groups in use, and of the auxiliary ones."""
    used = state.slot[: state.n_coteries[0] + auxiliaries]
    for name, array in (("weight", state.weight), ("strength", state.strength)):
        if not ((array[used] >= 0) & (array[used] < np.inf)).all():
            raise ValueError(f"{name} is out of range")
