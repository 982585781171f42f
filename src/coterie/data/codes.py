"""Labels as integers, in rows by item and by annotator: what crosses into the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError

Array = NDArray[Any]
IntArray = NDArray[np.int32]


class Codes(NamedTuple):
    """The labels as integers, by item and by annotator: what crosses into the kernels.

    Labels of item ``i`` are ``item_annotator[item_start[i]:item_start[i + 1]]`` with the answers
    beside them in ``item_answer``, sorted by annotator, then answer (repeated labels of one
    annotator are neighbours); the other way round for annotators. Class ``t`` and answer ``t``
    are the same word for ``t < n_classes``; answers from ``n_classes`` on are never true.
    """

    item_start: NDArray[np.int64]  # (items + 1,)
    item_annotator: IntArray  # (labels,)
    item_answer: IntArray  # (labels,)
    annotator_start: NDArray[np.int64]  # (annotators + 1,)
    annotator_item: IntArray  # (labels,)
    annotator_answer: IntArray  # (labels,)
    gold: IntArray  # (items,)      the known class, or -1
    n_classes: int  # T, the possible truths
    n_answers: int  # C >= T, the possible answers


def encode(
    item: Array,
    annotator: Array,
    answer: Array,
    *,
    sizes: tuple[int, int, int, int],
    gold: Array | None = None,
) -> Codes:
    """Compress triples of integer codes into rows by item and by annotator.

    The order of the triples does not matter, repeated triples are kept.

    Parameters
    ----------
    item, annotator, answer
        One integer code per label, each array of shape (labels,).
    sizes
        The numbers of items, annotators, classes and answers.
    gold
        The known class of each item, -1 where unknown, shape (items,).

    Examples
    --------
    >>> codes = encode([1, 0, 1], [0, 0, 2], [1, 0, 1], sizes=(2, 3, 2, 2))
    >>> codes.item_start.tolist(), codes.item_annotator.tolist(), codes.item_answer.tolist()
    ([0, 1, 3], [0, 0, 2], [0, 1, 1])
    >>> codes.annotator_start.tolist(), codes.annotator_item.tolist()
    ([0, 2, 2, 3], [0, 1, 1])
    """
    n_items, n_annotators, n_classes, n_answers = sizes
    item, annotator, answer = (
        _checked(x, n) for x, n in ((item, n_items), (annotator, n_annotators), (answer, n_answers))
    )
    by_item = sorted_triples(item, annotator, answer, (n_items, n_annotators, n_answers))
    by_annotator = sorted_triples(annotator, item, answer, (n_annotators, n_items, n_answers))
    known = gold_codes(gold, n_items, n_classes)
    codes = Codes(*by_item, *by_annotator, known, n_classes, n_answers)
    for array in codes[:7]:
        array.setflags(write=False)
    return codes


def _checked(codes: Array, size: int) -> IntArray:
    codes = np.asarray(codes)
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise DataError(f"codes must lie in 0..{size - 1}, got {codes.min()}..{codes.max()}")
    return codes.astype(np.int32, copy=False)


def gold_codes(gold: Array | None, n_items: int, n_classes: int) -> IntArray:
    """Check known classes, one per item, -1 where unknown; None is all unknown."""
    if gold is None:
        return np.full(n_items, -1, np.int32)
    codes = np.array(gold, np.int32)
    if codes.shape != (n_items,):
        raise DataError(f"gold codes must be one per item, {n_items}, got shape {codes.shape}")
    _checked(codes[codes != -1], n_classes)
    return codes


def sorted_triples(
    row: IntArray, column: IntArray, answer: IntArray, sizes: tuple[int, int, int]
) -> tuple[NDArray[np.int64], IntArray, IntArray]:
    """Sort by (row, column, answer); give row starts, columns, answers."""
    row_bits, column_bits, answer_bits = (size.bit_length() for size in sizes)
    bits = row_bits + column_bits + answer_bits
    if bits > 63:
        order = np.lexsort((answer, column, row))
        start = np.searchsorted(row[order], np.arange(sizes[0] + 1))
        return start, column[order], answer[order]
    # One packed integer per label sorts many times faster than lexsort and needs no permutation.
    small: type[np.integer[Any]] = np.int32 if bits < 32 else np.int64
    key = np.empty(len(row), small)
    for block in _blocks(len(key)):
        part = key[block]
        np.left_shift(row[block], column_bits, out=part, dtype=small)
        part |= column[block]
        part <<= answer_bits
        part |= answer[block]
    key.sort()
    firsts = np.arange(sizes[0] + 1, dtype=small) << (column_bits + answer_bits)
    start = np.searchsorted(key, firsts)
    sorted_column = np.empty(len(key), np.int32)
    sorted_answer = np.empty(len(key), np.int32)
    for block in _blocks(len(key)):
        part = key[block]
        np.bitwise_and(part, (1 << answer_bits) - 1, out=sorted_answer[block], casting="unsafe")
        part >>= answer_bits
        np.bitwise_and(part, (1 << column_bits) - 1, out=sorted_column[block], casting="unsafe")
    return start, sorted_column, sorted_answer


def _blocks(size: int) -> Iterator[slice]:
    """Cut into blocks that stay in the processor's cache from one step to the next."""
    return (slice(first, first + 2**15) for first in range(0, size, 2**15))


def count_pairs(codes: Codes) -> int:
    """Count the distinct (item, annotator) pairs with a label."""
    if len(codes.item_answer) == 0:
        return 0
    new = np.empty(len(codes.item_answer), bool)
    np.not_equal(codes.item_annotator[1:], codes.item_annotator[:-1], out=new[1:])
    new[codes.item_start[:-1][np.diff(codes.item_start) > 0]] = True
    return int(np.count_nonzero(new))
