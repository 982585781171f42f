"""Where a chain of an earlier run ended, and how its state is taken over as labels have joined.

A new chain starts from the classes and the groups that the old one ended with. What a kernel has
beside these it copies here; counts are counted anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.shapes import Shapes

Array = NDArray[Any]
LongArray = NDArray[np.int64]


class Ended(NamedTuple):
    """The state at the end, and where things of now have their place in it; -1 for what is new."""

    state: Mapping[str, Array]  # by the kernel's own names
    items: LongArray  # (items,)
    annotators: LongArray  # (annotators,)
    labels: LongArray  # (labels,)   in the order of the items


def carry_nothing(state: Any, ended: Ended, data: Codes) -> None:
    """Take over nothing more: classes are all that the kernel samples."""


def carry_groups(state: Any, ended: Ended, data: Codes) -> None:
    """Take over alpha: groups have no parameters."""
    state.log_concentration[:] = ended.state["log_concentration"]


def carry_parameters(state: Any, ended: Ended, data: Codes) -> None:
    """Take over alpha and the parameters of the groups."""
    carry_groups(state, ended, data)
    now, then = matched_groups(state.group, ended)
    for name in Shapes._fields:
        getattr(state, name)[now] = ended.state[name][then]


def matched_groups(group: Array, ended: Ended) -> tuple[LongArray, LongArray]:
    """Give the groups that old annotators are in: their numbers now, and then.

    Examples
    --------
    >>> old = {"group": np.array([7, 7, 4])}
    >>> place = np.array([2, 0, -1, 1])
    >>> ended = Ended(old, place, place, place)
    >>> [found.tolist() for found in matched_groups(np.array([0, 1, 1, 1]), ended)]
    [[0, 1], [4, 7]]
    """
    was = np.where(ended.annotators >= 0, ended.state["group"][ended.annotators], -1)
    old = (was >= 0) & (group >= 0)
    now, first = np.unique(group[old], return_index=True)
    return now.astype(np.int64), was[old][first].astype(np.int64)


def taken_over(then: Array, place: LongArray, otherwise: Array) -> Array:
    """Give what each had then, by its place; what is new, or had none, has what is given.

    Examples
    --------
    >>> taken_over(np.array([5, -1]), np.array([0, 1, -1]), np.array([8, 8, 9])).tolist()
    [5, 8, 9]
    """
    had = np.where(place >= 0, then[place], -1) if len(then) else np.full(len(place), -1)
    return np.where(had >= 0, had, otherwise).astype(otherwise.dtype)
