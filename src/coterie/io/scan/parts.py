"""A part of the labels -> a shard: items by key, repeated labels settled, known classes beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.build import count_same, mark_repeated
from coterie.data.codes import Codes, Shard, sorted_triples
from coterie.data.columns import Triples
from coterie.data.gold import gold_of_rows
from coterie.data.provenance import Gold
from coterie.data.table import Coded, Table, look_up
from coterie.io.scan.ids import Ids, by_key, merged, unpacked
from coterie.io.scan.spill import Piece, Rows

Array = NDArray[Any]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Words(NamedTuple):
    """The vocabularies, and the final code of every number for the time being."""

    annotators: Array
    classes: Array
    extra_answers: Array
    annotator: IntArray  # (numbers,)
    answer: IntArray  # (numbers,)
    forms: frozenset[int]  # of the items' ids


class Known(NamedTuple):
    """Known labels from elsewhere than a column of the files."""

    table: Table
    item: Coded
    label: Coded
    found: NDArray[np.bool_]  # (distinct items,)   seen in some part

    @classmethod
    def of(cls, table: Table, item: Coded, label: Coded) -> Known:
        """Make known labels, of which nothing has been seen yet."""
        return cls(table, item, label, np.zeros(len(item.values), bool))


class Repeats(NamedTuple):
    """Repeated labels of a part."""

    place: LongArray  # (labels, 2)   block and row
    same: int  # how many say what the first said
    item: Any  # of the first of them
    annotator: Any


@dataclass
class Part:
    """What becomes of a part."""

    shard: Shard
    ids: Ids  # of the shard's items, in its order
    repeats: Repeats | None


def part_from(
    pieces: Sequence[Piece],
    words: Words,
    duplicates: str,
    table: Table,
    known: Known | Coded | None,
) -> Part:
    """Bring the labels of a part's items together.

    Parameters
    ----------
    pieces
        What every block left, in order.
    words
        The vocabularies.
    duplicates
        What repeated labels mean; for ``"error"`` they are told, and nothing is left out.
    table
        What the files are called together.
    known
        Known labels from elsewhere, or the words of the column that holds them.
    """
    first = np.cumsum([0, *(len(piece.key) for piece in pieces)])
    place, ids = merged([piece.ids for piece in pieces], words.forms)
    key = np.empty(len(ids.cells), np.uint64)
    key[place] = np.concatenate([np.zeros(0, np.uint64), *(piece.key for piece in pieces)])
    order = by_key(ids, key)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ids = Ids(ids.form, ids.cells.take(order))
    rows = _together([piece.rows for piece in pieces], first, rank[place] if len(place) else place)
    coded = rows._replace(
        annotator=words.annotator[rows.annotator], answer=words.answer[rows.answer]
    )
    triples = _triples(coded, len(order), words)
    kept, repeats = _kept(triples, coded, duplicates, ids, words)
    labels = [triples.item.codes, coded.annotator, coded.answer]
    item, annotator, answer = labels if kept is None else [part[kept] for part in labels]
    n_answers = len(words.classes) + len(words.extra_answers)
    sizes = (len(order), len(words.annotators), n_answers)
    by_item = sorted_triples(item, annotator, answer, sizes)
    gold = np.full(len(order), -1, np.int32)
    if known is not None:
        gold = _gold(table, ids, words, rows, known)
    return Part(Shard(key[order], *by_item, gold), ids, repeats)


def _together(pieces: list[Rows], first: LongArray, rank: LongArray) -> Rows:
    """Put the rows of all blocks below each other, items by their ranks."""
    if not pieces:
        none = np.zeros(0, np.int32)
        return Rows(none.astype(np.int64), none, none, none, none.astype(np.int64), none)
    items = [rank[piece.item + start] for piece, start in zip(pieces, first, strict=False)]
    columns = list(zip(*pieces, strict=True))
    return Rows(np.concatenate(items), *(np.concatenate(column) for column in columns[1:]))


def _triples(rows: Rows, n_items: int, words: Words) -> Triples:
    item = rows.item.astype(np.int32)
    none = np.zeros(0, object)
    return Triples(
        Coded(item, none),
        Coded(rows.annotator, words.annotators),
        Coded(rows.answer, none),
        None,
        item,
    )


def _kept(
    triples: Triples, rows: Rows, duplicates: str, ids: Ids, words: Words
) -> tuple[Array | None, Repeats | None]:
    """Mark which labels to keep, None for all; tell the others, if they are an error."""
    if duplicates == "keep" or not len(rows.item):
        return None, None
    repeated = mark_repeated(triples, "last" if duplicates == "last" else "first")
    if not repeated.any():
        return None, None
    if duplicates != "error":
        return ~repeated, None
    (again,) = np.nonzero(repeated)
    place = np.stack([rows.block[again], rows.row[again]], axis=1)
    earliest = again[np.lexsort(place.T[::-1])[0]]
    item = unpacked(Ids(ids.form, ids.cells.take([rows.item[earliest]])))
    annotator = words.annotators[rows.annotator[earliest]]
    return None, Repeats(place, count_same(triples, again), item.tolist()[0], annotator)


def _gold(table: Table, ids: Ids, words: Words, rows: Rows, known: Known | Coded) -> IntArray:
    """Give the known class of every item."""
    shard = _annotations(unpacked(ids), words)
    if isinstance(known, Known):
        place = look_up(known.item.values, shard.items)
        known.found[place >= 0] = True
        item = place[known.item.codes]
        here = item >= 0
        label = Coded(known.label.codes[here], known.label.values)
        told = gold_of_rows(known.table, shard, item[here], label, Gold(source=known.table.source))
    else:
        column = Coded(known.codes[rows.gold], known.values)  # its last code is -1, for missing
        told = gold_of_rows(table, shard, rows.item, column, Gold())
    return told.codes.gold


def _annotations(items: Array, words: Words) -> Annotations:
    """Give items without labels: what known classes are checked against."""
    none = np.zeros(0, np.int32)
    item_start, people = np.zeros(len(items) + 1, np.int64), len(words.annotators)
    n_classes = len(words.classes)
    codes = Codes(
        item_start=item_start,
        item_annotator=none,
        item_answer=none,
        annotator_start=np.zeros(people + 1, np.int64),
        annotator_item=none,
        annotator_answer=none,
        gold=np.full(len(items), -1, np.int32),
        n_classes=n_classes,
        n_answers=n_classes + len(words.extra_answers),
    )
    return Annotations(items, words.annotators, words.classes, words.extra_answers, codes)
