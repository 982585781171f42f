"""Matrices given what is reported of items in shards: classes are drawn where the labels are.

What :func:`coterie.kernels.matrices.draw_given_reported` does with all labels in one place. An
item's class in a draw is chosen by a number of its own, counts are summed over shards, and rows of
matrices are drawn here.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.inference.blocked import Blocks
from coterie.inference.cores import cores
from coterie.inference.engine import sizes_of
from coterie.inference.holder import opened
from coterie.inference.work import HardWork
from coterie.kernels.gibbs.blocked.whole import WORDS
from coterie.kernels.keep import Streams
from coterie.kernels.matrices import Matrices, count_drawn, draw_given_counts
from coterie.numeric.keyed import Stream

FloatArray = NDArray[np.float64]
Counts = NDArray[np.int32]

COUNTED_BYTES = 2**19
"""Counts of so many draws are made in one pass over the labels: they should stay in the cache."""
MOST_AT_ONCE = 64


def drawing_in_shards(
    blocks: Blocks, n_jobs: int | None
) -> Callable[[Matrices, FloatArray, Codes, Streams], None]:
    """Give what turns kept shapes into matrices, as :class:`coterie.inference.Hooks` wants it."""
    return partial(draw_in_shards, blocks, cores() if n_jobs is None or n_jobs < 0 else n_jobs)


def draw_in_shards(
    blocks: Blocks,
    n_threads: int,
    matrices: Matrices,
    probability: FloatArray,
    data: Codes,
    streams: Streams,
) -> None:
    """Turn Dirichlet shapes beta eta into draws of matrices, in place, and write their mean.

    Parameters
    ----------
    blocks, n_threads
        The shards, and how many threads go through them.
    matrices, probability, data, streams
        As for :func:`coterie.kernels.matrices.draw_given_reported`; of the labels only everybody's
        number is looked at.
    """
    n_labels = np.diff(data.annotator_start)
    heard = n_labels > 0
    matrices.mean[heard] = 0.0
    _, _, n_annotators, n_classes, n_answers = matrices.draws.shape
    pooled = matrices.draws.reshape(-1, n_annotators, n_classes, n_answers)  # a view
    low, high = (int(streams.draws.random() * WORDS) for _ in range(2))
    stream, shapes = Stream(low, high, 0), np.zeros((n_classes, n_answers))
    bytes_each = 4 * n_annotators * n_classes * n_answers
    at_once = 2 * int(np.clip(COUNTED_BYTES // max(bytes_each, 1) // 2, 1, MOST_AT_ONCE // 2))
    for first in range(0, len(pooled), at_once):
        some = pooled[first : first + at_once]
        said = counted(blocks, n_threads, probability, stream, first, len(some))
        for draw, counts in zip(some, said, strict=True):
            draw_given_counts(draw, matrices.mean, counts, n_labels, streams, shapes)
    matrices.mean[heard] /= len(pooled)


def counted(
    blocks: Blocks, n_threads: int, probability: FloatArray, stream: Stream, first: int, n: int
) -> Counts:
    """Count labels by the classes of some draws, shape (draws, annotators, answers, classes)."""
    shards = blocks.shards
    work = HardWork(sizes_of(shards, blocks.n_kinds))
    shape = (n, shards.n_annotators, shards.n_answers, shards.n_classes)
    n_threads = max(1, min(n_threads, len(shards)))

    def some(thread: int) -> Counts:
        said = np.zeros(shape, np.int32)
        for k in range(thread, len(shards), n_threads):
            items = work.shown(opened(shards, k))
            reported = np.ascontiguousarray(probability[blocks.places[k]])
            count_drawn(items, reported, stream, first, said)
        return said

    with ThreadPoolExecutor(n_threads) as pool:
        said, *others = pool.map(some, range(n_threads))
    for more in others:
        said += more
    return said
