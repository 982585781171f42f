"""Annotations: who said what about which item, as vocabularies and integer codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

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
        One integer code a label, each array of shape (labels,).
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
    by_item = _sorted_triples(item, annotator, answer, (n_items, n_annotators, n_answers))
    by_annotator = _sorted_triples(annotator, item, answer, (n_annotators, n_items, n_answers))
    known = _gold_codes(gold, n_items, n_classes)
    codes = Codes(*by_item, *by_annotator, known, n_classes, n_answers)
    for array in codes[:7]:
        array.setflags(write=False)
    return codes


def _checked(codes: Array, size: int) -> IntArray:
    codes = np.asarray(codes)
    if codes.size and (codes.min() < 0 or codes.max() >= size):
        raise DataError(f"codes must lie in 0..{size - 1}, got {codes.min()}..{codes.max()}")
    return codes.astype(np.int32, copy=False)


def _gold_codes(gold: Array | None, n_items: int, n_classes: int) -> IntArray:
    if gold is None:
        return np.full(n_items, -1, np.int32)
    codes = np.array(gold, np.int32)
    if codes.shape != (n_items,):
        raise DataError(f"gold codes must be one an item, {n_items}, got shape {codes.shape}")
    _checked(codes[codes != -1], n_classes)
    return codes


def _sorted_triples(
    row: IntArray, column: IntArray, answer: IntArray, sizes: tuple[int, int, int]
) -> tuple[NDArray[np.int64], IntArray, IntArray]:
    """Sort by (row, column, answer); give row starts, columns, answers."""
    row_bits, column_bits, answer_bits = (size.bit_length() for size in sizes)
    bits = row_bits + column_bits + answer_bits
    if bits > 63:
        order = np.lexsort((answer, column, row))
        start = np.searchsorted(row[order], np.arange(sizes[0] + 1))
        return start, column[order], answer[order]
    # One packed integer a label sorts many times faster than lexsort and needs no permutation.
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


@dataclass(frozen=True, eq=False, repr=False)
class Annotations:
    """Who said what about which item. Immutable; made by :func:`coterie.read`.

    Items and annotators keep the ids the user gave, in sorted order (numeric if all are
    numbers), so that the order of the input's rows changes nothing.

    Parameters
    ----------
    items, annotators
        The ids, in the order of the codes.
    classes
        The possible truths.
    extra_answers
        What may be said and is never true ("unsure").
    codes
        The labels as integers.
    columns
        The columns they were read from: item, annotator, label; for the wide form, item and then
        one column an annotator; empty if there were none.
    origin
        One line on where they were read from and which columns were taken; may be empty.

    Examples
    --------
    >>> import coterie
    >>> annotations = coterie.read([("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")])
    >>> annotations
    <Annotations: 2 items x 2 annotators, 3 labels, 2 classes, 25.0 % missing>
    >>> annotations.classes.tolist()
    ['no', 'yes']
    """

    items: Array
    annotators: Array
    classes: Array
    extra_answers: Array
    codes: Codes
    columns: tuple[Hashable, ...] = ()
    origin: str = ""

    def __post_init__(self) -> None:
        words = (self.items, self.annotators, self.classes, self.extra_answers)
        for array in (*words, *self.codes[:7]):
            array.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy through the constructor, so that copies are immutable too."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_items(self) -> int:
        """Number of items, those without labels included."""
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        """Number of annotators, those without labels included."""
        return len(self.annotators)

    @property
    def n_labels(self) -> int:
        """Number of labels, repeated ones included."""
        return len(self.codes.item_answer)

    @property
    def n_classes(self) -> int:
        """Number of possible truths, T."""
        return len(self.classes)

    @property
    def n_answers(self) -> int:
        """Number of possible answers, C: the classes and the extra answers."""
        return self.n_classes + len(self.extra_answers)

    @property
    def answers(self) -> Array:
        """The possible answers: the classes, then the extra answers."""
        return (
            np.concatenate([self.classes, self.extra_answers])
            if len(self.extra_answers)
            else self.classes
        )

    @property
    def labels_per_item(self) -> NDArray[np.int64]:
        """Number of labels of each item, shape (items,)."""
        return np.diff(self.codes.item_start)

    @property
    def labels_per_annotator(self) -> NDArray[np.int64]:
        """Number of labels of each annotator, shape (annotators,)."""
        return np.diff(self.codes.annotator_start)

    @property
    def item_of_label(self) -> IntArray:
        """The item code of each label in item order, shape (labels,)."""
        return np.repeat(np.arange(self.n_items, dtype=np.int32), self.labels_per_item)

    @property
    def sparsity(self) -> float:
        """Share of the (item, annotator) pairs without a label."""
        pairs = self.n_items * self.n_annotators
        return 1 - count_pairs(self.codes) / pairs if pairs else 0.0

    @property
    def n_repeated(self) -> int:
        """Number of labels beyond an annotator's first of an item (``duplicates="keep"``)."""
        return self.n_labels - count_pairs(self.codes)

    @property
    def nbytes(self) -> int:
        """Bytes held by the codes (not by the ids themselves)."""
        return sum(array.nbytes for array in self.codes[:7])

    @property
    def gold(self) -> dict[Hashable, Hashable]:
        """The known labels, item -> class: clamped in every fit."""
        (known,) = np.nonzero(self.codes.gold >= 0)
        classes = self.classes[self.codes.gold[known]]
        return dict(zip(self.items[known].tolist(), classes.tolist(), strict=True))

    def with_gold_codes(self, gold: Array) -> Annotations:
        """Give the same annotations with these known classes, -1 where unknown, shape (items,)."""
        codes = _gold_codes(gold, self.n_items, self.n_classes)
        codes.setflags(write=False)
        return replace(self, codes=self.codes._replace(gold=codes))

    def to_frame(self) -> pd.DataFrame:
        """One row a label: item, annotator, label, sorted by item, then annotator."""
        import pandas as pd

        return pd.DataFrame(
            {
                "item": self.items[self.item_of_label],
                "annotator": self.annotators[self.codes.item_annotator],
                "label": self.answers[self.codes.item_answer],
            }
        )

    def __repr__(self) -> str:
        return f"<Annotations: {self.describe()}>"

    def describe(self) -> str:
        """Say in one line how large and how full the data are."""
        parts = [
            f"{_count(self.n_items, 'item')} x {_count(self.n_annotators, 'annotator')}",
            _count(self.n_labels, "label"),
            _count(self.n_classes, "class", "classes"),
        ]
        if len(self.extra_answers):
            parts.append(_count(len(self.extra_answers), "extra answer"))
        parts.append(f"{100 * self.sparsity:.1f} % missing")
        n_gold = int(np.count_nonzero(self.codes.gold >= 0))
        if n_gold:
            parts.append(f"{n_gold:,} gold")
        return ", ".join(parts)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
