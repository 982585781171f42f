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

from coterie.assign.greedy import worth
from coterie.numeric.jit import kernel, part

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
    n_labels: IntArray  # (items,)
    ease: FloatArray  # (items,)
    overlap: float


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
    shapes = before.shapes.copy()
    room = np.zeros(items.shape[1])
    plain = before.overlap == 0 and bool((before.ease == 1).all())
    for _ in range(ROUNDS if plain else 0):
        _count(said, before, items, shapes)
        _judge(said, before, shapes, items, room)
    _count(said, before, items, shapes)
    return shapes


@kernel
def _count(said: Said, before: Before, items: FloatArray, shapes: FloatArray) -> None:
    """Write the shapes that follow from belief."""
    shapes[:] = before.shapes
    for i in range(len(items)):
        for label in range(said.start[i], said.start[i + 1]):
            l, c = said.person[label], said.answer[label]
            if l < 0:
                continue
            for t in range(items.shape[1]):
                then = 0.0 if said.new[label] else before.items[i, t]
                shapes[l, t, c] += items[i, t] - then


@part
def share_without(t: int, c: int, own: float, shapes: FloatArray) -> float:
    """Give how often c is answered to t, without a label that counts so much there."""
    total = 0.0
    for y in range(shapes.shape[1]):
        total += shapes[t, y]
    return float(max(shapes[t, c] - own, SMALLEST) / max(total - own, SMALLEST))


@kernel
def _judge(
    said: Said, before: Before, shapes: FloatArray, items: FloatArray, room: FloatArray
) -> None:
    """Write the belief that follows from the shapes; ``room`` holds one number per class."""
    n_classes = items.shape[1]
    for i in range(len(items)):
        belief = before.items[i].copy()
        n_new = 0
        for label in range(said.start[i], said.start[i + 1]):
            l, c = said.person[label], said.answer[label]
            if l < 0:
                continue
            total = 0.0
            for t in range(n_classes):
                room[t] = share_without(t, c, items[i, t], shapes[l])
                if not said.new[label]:
                    room[t] /= share_without(t, c, before.items[i, t], before.shapes[l])
                total += belief[t] * room[t]
            n = before.n_labels[i] + n_new if said.new[label] else max(before.n_labels[i] - 1, 0)
            value = worth(n, before.ease[i], before.overlap)
            n_new += 1 if said.new[label] else 0
            for t in range(n_classes):
                belief[t] *= value * room[t] / total + 1.0 - value
        items[i] = belief
