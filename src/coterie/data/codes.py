"""Labels as integers, whole or in shards: what crosses into the kernels.

Given everybody's matrix the items are independent, so that a sweep is a map over shards and a sum
of counts. Items are dealt to shards by a key of 64 bits, each shard a range of keys, and random
numbers are drawn by it: neither depends on how many items there are, in which order they came, or
who holds them. Equal ids have equal keys, in every process, on every machine, in every version:
text by its UTF-8 bytes, whole numbers by their value whatever their type (7 and 7.0 are one id),
other numbers by their bits, anything else by how it is written. Text and numbers differ: '7' is not
7. Two of a billion ids share a key with a chance of three in a hundred: they stay two items, in the
order of their ids, and only draw alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError
from coterie.words.visible import text_of

if TYPE_CHECKING:
    from coterie.data.annotations import Annotations

Array = NDArray[Any]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]

AT_ONCE = 2**20
"""Labels in a part, about: items stay whole."""

IDS_AT_ONCE = 2**14
TEXT, WHOLE, FRACTION, OTHER = (np.uint64(number) for number in (1, 2, 3, 4))
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WIDEST = 2**63


class Codes(NamedTuple):
    """The labels as integers, by item and by annotator.

    Labels of item ``i`` are ``item_annotator[item_start[i]:item_start[i + 1]]`` with the answers
    beside them in ``item_answer``, sorted by annotator, then answer (repeated labels of one
    annotator are neighbours); the other way round for annotators. Class ``t`` and answer ``t``
    are the same word for ``t < n_classes``; answers from ``n_classes`` on are never true.
    """

    item_start: LongArray  # (items + 1,)
    item_annotator: IntArray  # (labels,)
    item_answer: IntArray  # (labels,)
    annotator_start: LongArray  # (annotators + 1,)
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
    """Compress triples of integer codes, one per label, into rows by item and by annotator.

    The order of the triples does not matter, repeated triples are kept. ``sizes`` are the numbers
    of items, annotators, classes and answers; ``gold`` is as for :func:`gold_codes`.
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
) -> tuple[LongArray, IntArray, IntArray]:
    """Sort by (row, column, answer); give row starts, columns, answers."""
    row_bits, column_bits, answer_bits = (size.bit_length() for size in sizes)
    bits = row_bits + column_bits + answer_bits
    if bits > 63:
        order = np.lexsort((answer, column, row))
        start = np.searchsorted(row[order], np.arange(sizes[0] + 1))
        return start, column[order], answer[order]
    # One packed integer per label sorts many times faster than lexsort and needs no permutation;
    # blocks stay in the processor's cache from one step to the next.
    small: type[np.integer[Any]] = np.int32 if bits < 32 else np.int64
    blocks = [slice(first, first + 2**15) for first in range(0, len(row), 2**15)]
    key = np.empty(len(row), small)
    for block in blocks:
        part = key[block]
        np.left_shift(row[block], column_bits, out=part, dtype=small)
        part |= column[block]
        part <<= answer_bits
        part |= answer[block]
    key.sort()
    firsts = np.arange(sizes[0] + 1, dtype=small) << (column_bits + answer_bits)
    start = np.searchsorted(key, firsts)
    sorted_column, sorted_answer = np.empty(len(key), np.int32), np.empty(len(key), np.int32)
    for block in blocks:
        part = key[block]
        np.bitwise_and(part, (1 << answer_bits) - 1, out=sorted_answer[block], casting="unsafe")
        part >>= answer_bits
        np.bitwise_and(part, (1 << column_bits) - 1, out=sorted_column[block], casting="unsafe")
    return start, sorted_column, sorted_answer


def count_pairs(codes: Codes) -> int:
    """Count the distinct (item, annotator) pairs with a label."""
    if len(codes.item_answer) == 0:
        return 0
    new = np.empty(len(codes.item_answer), bool)
    np.not_equal(codes.item_annotator[1:], codes.item_annotator[:-1], out=new[1:])
    new[codes.item_start[:-1][np.diff(codes.item_start) > 0]] = True
    return int(np.count_nonzero(new))


class Part(NamedTuple):
    """Some items with all their labels."""

    items: slice
    labels: slice
    item: LongArray  # (labels,)   of each label, counted from the part's first


def parts_of(data: Codes) -> Iterator[Part]:
    """Cut the labels into parts of whole items: what is made on the way stays small beside them."""
    start = data.item_start
    # The first item at or after every so many labels.
    firsts = np.searchsorted(start, np.arange(0, int(start[-1]), AT_ONCE)).tolist()
    for first, last in itertools.pairwise([0, *firsts[1:], len(start) - 1]):
        own = start[first : last + 1]
        item = np.repeat(np.arange(last - first), np.diff(own))
        yield Part(slice(first, last), slice(int(own[0]), int(own[-1])), item)


def count_votes(codes: Codes) -> IntArray:
    """Count the labels of each class of each item, shape (items, classes).

    Extra answers are no vote for any class; an annotator's repeated labels are as many votes.
    """
    votes = np.zeros((len(codes.gold), codes.n_classes), np.int32)
    for items, labels, item in parts_of(codes):
        answer = codes.item_answer[labels]
        vote = answer < codes.n_classes
        place = item[vote] * codes.n_classes + answer[vote]
        counted = np.bincount(place, minlength=votes[items].size)
        votes[items] = counted.reshape(-1, codes.n_classes)
    return votes


class Times(NamedTuple):
    """The labels sorted by annotator, time, item and answer; equal times are one moment."""

    annotator_start: LongArray  # (annotators + 1,)
    item: IntArray  # (labels,)
    answer: IntArray  # (labels,)
    time: FloatArray  # (labels,)   numbers as given, or seconds since 1970


def times_of(
    item: Array, annotator: Array, answer: Array, time: FloatArray, n_annotators: int
) -> Times:
    """Sort labels, shape (labels,) each, by annotator and time."""
    order = np.lexsort((answer, item, time, annotator))
    start = np.concatenate([[0], np.cumsum(np.bincount(annotator, minlength=n_annotators))])
    found = Times(start, item[order].astype(np.int32), answer[order].astype(np.int32), time[order])
    for array in found:
        array.setflags(write=False)
    return found


def annotator_of(times: Times) -> LongArray:
    """Give the annotator of each label, shape (labels,)."""
    n = np.diff(times.annotator_start)
    return np.repeat(np.arange(len(n)), n)


def item_order(times: Times) -> LongArray:
    """Give where each label of the codes, which are sorted by item, is among the times."""
    return np.lexsort((times.answer, annotator_of(times), times.item))


class Shard(NamedTuple):
    """Some items with all their labels, by key; the labels lie as in :class:`Codes`."""

    key: Keys  # (items,)          of the item's id
    item_start: LongArray  # (items + 1,)
    item_annotator: IntArray  # (labels,)
    item_answer: IntArray  # (labels,)
    gold: IntArray  # (items,)          the known class, or -1


@runtime_checkable
class Shards(Protocol):
    """Labels in shards. It can be pickled; a copy elsewhere opens the same shards.

    Shards are ranges of keys, in order: all keys of a shard are at most those of the next. A shard
    may be empty.
    """

    @property
    def n_items(self) -> int:
        """Number of items, those without labels included."""

    @property
    def n_labels(self) -> int:
        """Number of labels, repeated ones included."""

    @property
    def n_annotators(self) -> int:
        """Number of annotators, those without labels included."""

    @property
    def n_classes(self) -> int:
        """Number of possible truths, T."""

    @property
    def n_answers(self) -> int:
        """Number of possible answers, C."""

    @property
    def labels_per_annotator(self) -> LongArray:
        """Number of labels of each annotator, shape (annotators,)."""

    def __len__(self) -> int:
        """Give the number of shards."""

    def open(self, k: int) -> Shard:
        """Give the k-th shard; its arrays may be maps of a file, and are read only."""


@dataclass(frozen=True, eq=False)
class CutAnnotations:
    """Annotations in memory as :class:`Shards`: made by :func:`cut`."""

    codes: Codes
    key: Keys  # (items,)    in the order of the codes
    order: LongArray  # (items,)    items by key
    bound: LongArray  # (shards + 1,)   where shards begin among them
    n_items: int
    n_labels: int
    n_annotators: int
    n_classes: int
    n_answers: int
    labels_per_annotator: LongArray

    def __len__(self) -> int:
        return len(self.bound) - 1

    def items_of(self, k: int) -> LongArray:
        """Give the item codes of the k-th shard, in its order."""
        return self.order[self.bound[k] : self.bound[k + 1]]

    def open(self, k: int) -> Shard:
        """Give the k-th shard, gathered from the codes."""
        codes, items = self.codes, self.items_of(k)
        n_labels = np.diff(codes.item_start)[items]
        start = np.concatenate([[0], np.cumsum(n_labels)]).astype(np.int64)
        label = np.repeat(codes.item_start[items] - start[:-1], n_labels)
        label += np.arange(len(label))
        said = codes.item_annotator[label], codes.item_answer[label]
        return Shard(self.key[items], start, *said, codes.gold[items])


def cut(annotations: Annotations, n: int) -> CutAnnotations:
    """Cut annotations into ``n`` shards by ranges of keys, each with about as many labels.

    Items of one key, which no one has seen yet, lie in one shard, in the order of their ids.
    """
    if n < 1:
        raise DataError(f"labels are cut into at least one shard, got {n}")
    codes, key = annotations.codes, key_of(annotations.items)
    order = np.argsort(key, kind="stable")  # items are sorted: equal keys stay in their order
    cost = np.concatenate([[0], np.cumsum(np.diff(codes.item_start)[order] + 1)])  # items cost too
    bound = np.searchsorted(cost, cost[-1] * np.arange(1, n) / n)
    in_order = key[order]
    bound = np.searchsorted(in_order, in_order[np.minimum(bound, len(key) - 1)] if len(key) else [])
    return CutAnnotations(
        codes, key, order, np.concatenate([[0], bound, [len(key)]]).astype(np.int64),
        annotations.n_items, annotations.n_labels, annotations.n_annotators, codes.n_classes,
        codes.n_answers, annotations.labels_per_annotator,
    )  # fmt: skip


def codes_of(shard: Shard, n_classes: int, n_answers: int) -> Codes:
    """See a shard as codes, by item only; annotators have no labels there."""
    none = np.zeros(0, np.int32)
    by_item = shard.item_start, shard.item_annotator, shard.item_answer
    return Codes(*by_item, np.zeros(1, np.int64), none, none, shard.gold, n_classes, n_answers)


def key_of(ids: Array | Iterable[Any]) -> Keys:
    """Give the key of every id, shape (ids,): of an array of numbers or objects, or any list."""
    cells = ids if isinstance(ids, np.ndarray) else list(ids)
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return _keys_of_numbers(cells)
    out = np.empty(len(cells), np.uint64)
    for first in range(0, len(cells), IDS_AT_ONCE):  # what is made on the way stays small
        some = list(cells[first : first + IDS_AT_ONCE])
        text = all(type(cell) is str for cell in some)
        out[first : first + IDS_AT_ONCE] = (
            _keys_of_texts(some, TEXT) if text else [_key_of_one(cell) for cell in some]
        )
    return out


def _key_of_one(cell: Any) -> Any:
    if isinstance(cell, str):
        return _keys_of_texts([str(cell)], TEXT)[0]
    kind = type(cell).__name__.rstrip("_")  # numpy's booleans are called bool_ before 2.0
    if isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool):
        cell = cell.item() if isinstance(cell, np.generic) else cell
        if -WIDEST <= cell < WIDEST and cell == int(cell):
            return _keys_of_numbers(np.array([int(cell)], np.int64))[0]
        with suppress(OverflowError):
            if float(cell) == cell or cell != cell:
                return _keys_of_numbers(np.array([float(cell)]))[0]
        kind = "int"  # too wide for either
    return _keys_of_texts([f"{kind} {text_of(cell)}"], OTHER)[0]


def _keys_of_numbers(numbers: Array) -> Keys:
    if numbers.dtype.kind == "i":
        return _mix(_mix(numbers.astype(np.int64).view(np.uint64) ^ GOLDEN) + WHOLE)
    if numbers.dtype.kind == "u" and numbers.dtype.itemsize < 8:
        return _keys_of_numbers(numbers.astype(np.int64))
    if numbers.dtype.kind == "u":
        return np.array([_key_of_one(cell) for cell in numbers.tolist()], np.uint64)
    doubles = numbers.astype(np.float64)
    whole = (doubles >= -WIDEST) & (doubles < WIDEST) & (doubles == np.trunc(doubles))
    out: Keys = _mix(_mix(doubles.view(np.uint64) ^ GOLDEN) + FRACTION)
    out[whole] = _keys_of_numbers(doubles[whole].astype(np.int64))
    return out


def _keys_of_texts(texts: list[str], kind: np.uint64) -> Keys:
    """Mix in eight bytes at a time, then the length, which tells what was filled up."""
    cells = [text.encode("utf-8", "surrogatepass") for text in texts]
    length = np.fromiter(map(len, cells), np.int64, len(cells))
    out = np.empty(len(cells), np.uint64)
    order = np.argsort(length, kind="stable")  # so that one long id widens few others
    for some in np.array_split(order, max(1, len(cells) // 1024)) if cells else []:
        n_words = (length[some] + 7) // 8
        width = max(1, int(n_words.max()))
        words = np.array([cells[k] for k in some], f"S{8 * width}").view("<u8").reshape(-1, width)
        key = np.full(len(some), kind, np.uint64)
        for k in range(width):
            key = np.where(k < n_words, _mix(key ^ words[:, k]) + GOLDEN, key)
        out[some] = _mix(key ^ length[some].view(np.uint64))
    return out


def _mix(words: Keys) -> Keys:
    """Scatter 64 bits so that each of them moves all: the finish of splitmix64, one to one."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
