"""All labels judged anew: as answers come in, people are known better, and so are old labels.

Belief p0[i] at the start rests on old labels judged by the matrices then. With shapes A of the
matrices (a row's sum is the labels that it rests on), an old label c of item i by l moves belief by
the ratio of A[l,t,c] / A[l,t] now to what it was then, a new one by A[l,t,c] / A[l,t]; of both the
item's own part is taken out, so that no label bears witness to itself. Shapes follow belief: old
labels add p[i] - p0[i], new ones p[i]. That is repeated a few times.

Only where labels count in full: of models that count them as overlapping, belief cannot be taken
apart into its labels, and stays as the answers left it; shapes follow it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDS = 3
"""Times that belief and shapes follow each other."""
SMALLEST = 1e-6
"""No shape is thought less than this."""


class Said(NamedTuple):
    """Labels by item, the old ones of each first."""

    start: IntArray  # (items + 1,)
    person: IntArray  # (labels,)   their place, or -1 of those who are not asked
    answer: IntArray  # (labels,)
    new: NDArray[np.bool_]  # (labels,)


class Before(NamedTuple):
    """What was believed at the start."""

    items: FloatArray  # (items, classes)
    shapes: FloatArray  # (people, classes, answers)
    in_full: bool  # is how labels count


def rejudge(said: Said, before: Before, items: FloatArray) -> FloatArray:
    """Move belief to where all labels put it, in place; give the shapes of the matrices then.

    Parameters
    ----------
    said
        All labels.
    before
        What was believed at the start.
    items
        Belief as the new answers left it one by one, shape (items, classes).
    """
    asked = said.person >= 0
    item = np.repeat(np.arange(len(items)), np.diff(said.start))[asked]
    pair, new = (said.person[asked], said.answer[asked]), said.new[asked, None]
    then = before.items[item]
    old = np.where(new, 0.0, np.log(share_without(before.shapes, pair, then)))
    shapes = before.shapes.copy()

    def count() -> None:
        shapes[:] = before.shapes
        np.add.at(shapes.swapaxes(1, 2), pair, items[item] - np.where(new, 0.0, then))

    for _ in range(ROUNDS if before.in_full else 0):
        count()
        logs = np.log(before.items, out=np.full(items.shape, -np.inf), where=before.items > 0)
        np.add.at(logs, item, np.log(share_without(shapes, pair, items[item])) - old)
        items[:] = np.exp(logs - logs.max(axis=1, keepdims=True))
        items /= items.sum(axis=1, keepdims=True)
    count()
    return shapes


def share_without(
    shapes: FloatArray, pair: tuple[IntArray, IntArray], own: FloatArray
) -> FloatArray:
    """Give how often each class is answered so, without the labels themselves.

    Parameters
    ----------
    shapes, pair
        Of the matrices; and who said what.
    own
        How much each label counts in each class, shape (labels, classes).
    """
    said, total = shapes.swapaxes(1, 2)[pair], shapes.sum(axis=2)[pair[0]]
    return np.asarray(np.maximum(said - own, SMALLEST) / np.maximum(total - own, SMALLEST))
