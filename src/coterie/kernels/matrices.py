"""Matrices given reported probabilities: nothing that is said of people feeds back into labels.

A model's own matrices are those under which its own probabilities are right. Where reported are
others, because annotators share mistakes, matrices follow them: in every draw

    z[i] ~ the reported probabilities,   Psi[l, t] ~ Dir(beta eta[m, t] + n[l, t]),

with beta and eta of the annotator's coterie in that draw, and n counting labels by that z.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.gibbs.blocked.hard import HardItems
from coterie.kernels.keep import Streams
from coterie.numeric.choice import pick
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import kernel, part, piece
from coterie.numeric.keyed import Stream, uniforms

FloatArray = NDArray[np.float64]
Counts = NDArray[np.int32]


class Matrices(NamedTuple):
    """Draws of everybody's matrix, and the mean."""

    draws: NDArray[Any]  # (chains, draws, annotators, classes, answers)
    mean: FloatArray  # (annotators, classes, answers)


class Room(NamedTuple):
    """Room for one draw."""

    truth: NDArray[np.int64]  # (items,)
    shapes: FloatArray  # (classes, answers)


def draw_given_reported(
    matrices: Matrices, probability: FloatArray, data: Codes, streams: Streams
) -> None:
    """Turn Dirichlet shapes beta eta into draws of matrices, in place, and write their mean.

    The mean is that of the draws' conditional means. Annotators without labels have a stream of
    their own, and keep their mean, which is the chain's.

    Parameters
    ----------
    matrices
        The shapes, of which draws become, and the mean.
    probability
        Reported probabilities, shape (items, classes).
    data
        The labels.
    streams
        Sources of randomness, not in use otherwise any more.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> data = encode([0, 1, 2], [0, 0, 0], [0, 0, 1], sizes=(3, 1, 2, 2))
    >>> matrices = Matrices(np.full((1, 1, 1, 2, 2), 1e9), np.zeros((1, 2, 2)))
    >>> streams = Streams(*(np.random.default_rng(k) for k in range(3)))
    >>> draw_given_reported(matrices, np.array([[0.9, 0.1]] * 3), data, streams)
    >>> matrices.draws.round(2).tolist()  # so large shapes are not moved by three labels
    [[[[[0.5, 0.5], [0.5, 0.5]]]]]
    """
    _, _, n_annotators, n_classes, n_answers = matrices.draws.shape
    heard = np.diff(data.annotator_start) > 0
    matrices.mean[heard] = 0.0
    room = Room(np.zeros(len(data.gold), np.int64), np.zeros((n_classes, n_answers)))
    pooled = matrices.draws.reshape(-1, n_annotators, n_classes, n_answers)  # a view
    draw_all(pooled, matrices.mean, np.ascontiguousarray(probability), data, streams, room)
    matrices.mean[heard] /= len(pooled)


@kernel
def draw_all(
    draws: NDArray[Any],
    mean: FloatArray,
    probability: FloatArray,
    data: Codes,
    streams: Streams,
    room: Room,
) -> None:
    """Do the work of :func:`draw_given_reported`; means are added up."""
    for d in range(len(draws)):
        for i in range(len(room.truth)):
            if data.item_start[i] < data.item_start[i + 1]:  # the others change nobody's bits
                room.truth[i] = pick(probability[i], streams.draws.random())
        for l in range(draws.shape[1]):
            if data.annotator_start[l] < data.annotator_start[l + 1]:
                copy_shapes(draws[d, l], room.shapes)
                count_labels(l, data, room)
                add_mean_of(room.shapes, mean[l])
                draw_rows(room.shapes, streams.draws, draws[d, l])
            else:
                copy_shapes(draws[d, l], room.shapes)
                draw_rows(room.shapes, streams.spare, draws[d, l])


@piece
def count_item(i: int, t: int, items: HardItems, said: Counts) -> None:
    """Count the labels of item i under class t."""
    for label in range(np.uintp(items.item_start[i]), np.uintp(items.item_start[i + 1])):
        l, c = np.uintp(items.item_annotator[label]), np.uintp(items.item_answer[label])
        said[l, c, np.uintp(t)] += 1


@kernel
def count_drawn(
    items: HardItems, probability: FloatArray, stream: Stream, first: int, said: Counts
) -> None:
    """Draw every item's class for some draws, with its own numbers, and count labels by it.

    Parameters
    ----------
    items, probability
        Some items, and the reported probabilities of theirs, shape (items, classes).
    stream, first
        The numbers, and that of the first draw, which is even.
    said
        Counts of each draw, shape (draws, annotators, answers, classes): they are added to.
    """
    for i in range(len(items.gold)):
        if items.item_start[i] < items.item_start[i + 1]:
            for d in range(0, len(said), 2):
                u, v = uniforms(stream, items.key[i], (first + d) // 2)
                count_item(i, pick(probability[i], u), items, said[d])
                if d + 1 < len(said):
                    count_item(i, pick(probability[i], v), items, said[d + 1])


@kernel
def draw_given_counts(
    draws: NDArray[Any], mean: FloatArray, said: Counts, n_labels: NDArray[np.int64],
    streams: Streams, shapes: FloatArray,
) -> None:  # fmt: skip
    """Turn the shapes of one draw into matrices, given its counts (annotators, answers, classes).

    Means are added up; annotators without labels have a stream of their own, and no mean.
    """
    for l in range(len(draws)):
        copy_shapes(draws[l], shapes)
        if n_labels[l] > 0:
            for t in range(shapes.shape[0]):
                for c in range(shapes.shape[1]):
                    shapes[t, c] += said[l, c, t]
            add_mean_of(shapes, mean[l])
            draw_rows(shapes, streams.draws, draws[l])
        else:
            draw_rows(shapes, streams.spare, draws[l])


@part
def copy_shapes(shapes: NDArray[Any], out: FloatArray) -> None:
    """Copy the shapes of one matrix, in double precision."""
    for t in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[t, c] = shapes[t, c]


@part
def count_labels(l: int, data: Codes, room: Room) -> None:
    """Add the annotator's labels, by the classes drawn, to the shapes."""
    for label in range(data.annotator_start[l], data.annotator_start[l + 1]):
        t = room.truth[data.annotator_item[label]]
        room.shapes[t, data.annotator_answer[label]] += 1.0


@part
def add_mean_of(shapes: FloatArray, mean: FloatArray) -> None:
    """Add the mean of Dirichlet rows."""
    n_classes, n_answers = shapes.shape
    for t in range(n_classes):
        total = 0.0
        for c in range(n_answers):
            total += shapes[t, c]
        for c in range(n_answers):
            mean[t, c] += shapes[t, c] / total


@part
def draw_rows(shapes: FloatArray, rng: np.random.Generator, out: NDArray[Any]) -> None:
    """Draw Dirichlet rows; the shapes are used up."""
    for t in range(len(shapes)):
        draw_dirichlet(shapes[t], rng)
        for c in range(shapes.shape[1]):
            out[t, c] = shapes[t, c]
