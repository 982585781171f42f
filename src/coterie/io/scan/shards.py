"""Parts -> shards: every part becomes a file; what is wrong with the whole is said at the end.

A shard is a file of pyarrow (IPC), mapped into memory where it is read: a sweep reads only what it
touches.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.build import (
    Answers,
    Tally,
    code_words,
    count_same,
    look_over,
    mark_repeated,
    never_declared,
    refused,
)
from coterie.data.codes import Codes, Shard, sorted_triples
from coterie.data.columns import Triples
from coterie.data.gold import gold_of_rows
from coterie.data.provenance import Gold, Provenance
from coterie.data.table import Coded, Table, Unusable, look_up
from coterie.errors import DataError
from coterie.files.paths import naming, reason_of
from coterie.io.scan.spill import (
    NUMBERS,
    Dealt,
    Growing,
    Piece,
    array_in,
    batch_of,
    by_key,
    column_in,
    merged,
    pieces_at,
    unpacked,
)
from coterie.io.tables import never_whole

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


class Wanted(NamedTuple):
    """What every shard is made with."""

    words: Words
    duplicates: str  # what repeated labels mean
    table: Table  # what all files are called together
    gold: Known | Coded | None  # known labels from elsewhere, or the words of their column


class Repeats(NamedTuple):
    """Repeated labels of a part."""

    place: LongArray  # (labels, 2)   block and row
    same: int  # how many say what the first said
    item: Any  # of the first of them
    annotator: Any


class Written(NamedTuple):
    """A shard that lies in its file."""

    size: int  # bytes
    counts: LongArray  # (annotators,)   labels of each
    n_gold: int
    repeats: Repeats | None
    n_items: int
    only: Array  # the item's id, if there is one alone
    found: Array | None  # (distinct items,)   of known labels from elsewhere: seen here


class Made(NamedTuple):
    """Shards, and what they are about."""

    words: Words
    provenance: Provenance
    sizes: list[int]
    labels_per_annotator: LongArray
    n_items: int
    n_gold: int


class Dealer(NamedTuple):
    """A pile, and what its numbers are among those of all files."""

    path: Path
    start: list[list[int]]  # of each part: where its pieces begin
    before: int  # blocks of the files before
    numbers: list[IntArray]  # of annotators, answers, and known labels if there are any

    def pieces(self, part: int) -> Iterator[Piece]:
        """Give the pieces of a part, numbered as all files are."""
        for piece in pieces_at(self.path, self.start[part]):
            columns = zip(NUMBERS, self.numbers, strict=False)
            own = {name: number[getattr(piece, name)] for name, number in columns}
            yield piece._replace(block=piece.block + self.before, **own)


def shard_path(folder: Path, k: int) -> Path:
    """Give the file of the k-th shard.

    Examples
    --------
    >>> shard_path(Path("labels"), 7).name
    'shard-00007.shard'
    """
    return folder / f"shard-{k:05d}.shard"


def opened_shard(path: Path, what: str, size: int) -> Any:
    """Map a shard, of so many bytes; one that is not whole is a DataError, which says ``what``."""
    import pyarrow as pa

    try:
        if path.stat().st_size != size:
            raise ValueError("it is not what was written")
        return pa.ipc.open_file(pa.memory_map(str(path))).get_batch(0)
    except (OSError, ValueError) as error:  # those of pyarrow are among them
        raise DataError(
            f"{what}, {path}, cannot be read: {reason_of(error)}", remedy="scan the labels again"
        ) from error


def shard_in(batch: Any) -> Shard:
    """Give the arrays of a shard."""
    return Shard(*(array_in(batch, name) for name in Shard._fields))


def items_in(batch: Any) -> Array:
    """Give the ids of a shard's items, in its order."""
    return unpacked(column_in(batch, "ids"))


def shard_one(plan: Any, k: int) -> tuple[Path, Written]:
    """Make one shard of all piles; the plan is a file where others work."""
    if isinstance(plan, Path):
        with naming(plan, "read"):
            plan = pickle.loads(plan.read_bytes())
    dealers, wanted = plan
    path = dealers[0].path.with_name(f"{uuid.uuid4().hex}.shard")
    return path, _write([piece for dealer in dealers for piece in dealer.pieces(k)], wanted, path)


def _write(pieces: Sequence[Piece], wanted: Wanted, path: Path) -> Written:
    """Bring the labels of a part's items together: items by key, repeated labels settled."""
    import pyarrow as pa

    words, known = wanted.words, wanted.gold
    ids, first, rows = _together(pieces, words)
    n_items = len(ids)
    kept, repeats = _kept(rows, wanted.duplicates, ids, words)
    labels: list[Array] = [rows.item.astype(np.int32), rows.annotator, rows.answer]
    item, annotator, answer = labels if kept is None else [part[kept] for part in labels]
    n_answers = len(words.classes) + len(words.extra_answers)
    sizes = (n_items, len(words.annotators), n_answers)
    by_item = sorted_triples(item, annotator, answer, sizes)
    gold = np.full(n_items, -1, np.int32)
    if known is not None:
        gold = _gold(wanted.table, unpacked(ids), words, rows, known)
    shard = Shard(first, *by_item, gold)
    batch = batch_of(shard._asdict() | {"ids": ids})
    with naming(path), path.open("wb") as file, pa.ipc.new_file(file, batch.schema) as to:
        to.write_batch(batch)
    return Written(
        path.stat().st_size,
        np.bincount(shard.item_annotator, minlength=len(words.annotators)),
        int(np.count_nonzero(gold >= 0)),
        repeats,
        n_items,
        unpacked(ids) if n_items == 1 else np.zeros(0, object),
        known.found if isinstance(known, Known) else None,
    )


def _together(pieces: Sequence[Piece], words: Words) -> tuple[Any, Array, Piece]:
    """Give the ids of all items by key, their keys, and all rows, by final codes."""
    place, ids = merged([piece.ids for piece in pieces], words.forms)
    columns = [list(column) for column in zip(*pieces, strict=True)] or [[] for _ in Piece._fields]
    start = np.cumsum([0, *map(len, columns[1])])
    key = np.empty(len(ids), np.uint64)
    key[place] = np.concatenate([np.zeros(0, np.uint64), *columns[1]])
    order = by_key(ids, key)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    item = [rank[place[item + before]] for item, before in zip(columns[2], start, strict=False)]
    none = np.zeros(0, np.int32)
    joined = [np.concatenate([none, *column]) for column in (item, *columns[3:])]
    rows = Piece(None, key, *joined)
    annotator, answer = words.annotator[rows.annotator], words.answer[rows.answer]
    return ids.take(order), key[order], rows._replace(annotator=annotator, answer=answer)


def _kept(
    rows: Piece, duplicates: str, ids: Any, words: Words
) -> tuple[Array | None, Repeats | None]:
    """Mark which labels to keep, None for all; tell the others, if they are an error."""
    if duplicates == "keep" or not len(rows.item):
        return None, None
    none, item = np.zeros(0, object), rows.item.astype(np.int32)
    annotator = Coded(rows.annotator, words.annotators)
    triples = Triples(Coded(item, none), annotator, Coded(rows.answer, none), None, item)
    repeated = mark_repeated(triples, "last" if duplicates == "last" else "first")
    if not repeated.any():
        return None, None
    if duplicates != "error":
        return ~repeated, None
    (again,) = np.nonzero(repeated)
    place = np.stack([rows.block[again], rows.row[again]], axis=1)
    earliest = again[np.lexsort(place.T[::-1])[0]]
    about = unpacked(ids.take([rows.item[earliest]])).tolist()[0]
    who = words.annotators[rows.annotator[earliest]]
    return None, Repeats(place, count_same(triples, again), about, who)


def _gold(table: Table, items: Array, words: Words, rows: Piece, known: Known | Coded) -> IntArray:
    """Give the known class of every item."""
    none, n_classes = np.zeros(0, np.int32), len(words.classes)
    codes = Codes(
        item_start=np.zeros(len(items) + 1, np.int64),
        item_annotator=none,
        item_answer=none,
        annotator_start=np.zeros(len(words.annotators) + 1, np.int64),
        annotator_item=none,
        annotator_answer=none,
        gold=np.full(len(items), -1, np.int32),
        n_classes=n_classes,
        n_answers=n_classes + len(words.extra_answers),
    )
    shard = Annotations(items, words.annotators, words.classes, words.extra_answers, codes)
    if not isinstance(known, Known):
        column = Coded(known.codes[rows.gold], known.values)  # its last code is -1, for missing
        return gold_of_rows(table, shard, rows.item, column, Gold()).codes.gold
    place = look_up(known.item.values, items)
    known.found[place >= 0] = True
    item = place[known.item.codes]
    here = item >= 0
    label = Coded(known.label.codes[here], known.label.values)
    source = Gold(source=known.table.source)
    return gold_of_rows(known.table, shard, item[here], label, source).codes.gold


def shards_from(
    dealt: Dealt,
    make: Callable[[Wanted], Iterator[Written]],
    declared: Mapping[str, Any],
    known: Known | str | None,
    provenance: Provenance,
) -> Made:
    """Make the shards, in order, of what was read; classes and answers are None if not declared."""
    table = Table(provenance.source, tuple(dealt.names), never_whole)
    words, tallies = _words(dealt, table, declared)
    gold: Known | Coded | None = None
    if isinstance(known, Known):  # what may go to others: the table's name, not its cells
        gold = known._replace(table=Table(known.table.source, known.table.columns, never_whole))
    elif known is not None:
        column = _settled(table, dealt.columns[2], 3)
        gold = Coded(np.append(column.codes, -1), column.values)
    written, counts = [], np.zeros(len(words.annotators), np.int64)
    for one in make(Wanted(words, provenance.duplicates, table, gold)):
        counts += one.counts
        if isinstance(gold, Known):
            gold.found[one.found] = True
        written.append(one._replace(counts=counts, found=None))  # as large as the crowd
    if repeats := [one.repeats for one in written if one.repeats is not None]:
        raise _refused(dealt, repeats)
    n_items = sum(one.n_items for one in written)
    only = [one.only for one in written if len(one.only)] if n_items == 1 else []
    items = np.concatenate([np.zeros(0, object), *only])
    told = {name: values is not None for name, values in declared.items()}
    tallies = [Tally(items, np.ones(len(items), int)), *tallies]
    declared_classes = words.classes.tolist() if declared["classes"] else []
    look_over(table.name, tallies, n_items, declared_classes, words.extra_answers.tolist())
    return Made(
        words,
        replace(
            provenance,
            classes=tuple(words.classes.tolist()) if told["classes"] else None,
            extra_answers=tuple(words.extra_answers.tolist()) if told["extra_answers"] else None,
        ),
        [one.size for one in written],
        counts,
        n_items,
        sum(one.n_gold for one in written),
    )


def _words(dealt: Dealt, table: Table, declared: Mapping[str, Any]) -> tuple[Words, list[Tally]]:
    """Give the vocabularies as they would be had the whole been read at once."""
    annotators, labels = dealt.columns[:2]
    people = _settled(table, annotators, 1, ordered=True)
    said = _settled(table, labels, 2)
    tally = labels.tally(said)
    answers = code_words(table.name, said.values, declared["classes"], declared["extra_answers"])
    if answers.codes.min() < 0:
        raise _outside(dealt, said, answers, tally)
    words = Words(
        people.values,
        answers.classes,
        answers.extra_answers,
        people.codes.astype(np.int32),
        answers.codes[said.codes].astype(np.int32),
        frozenset(dealt.forms),
    )
    return words, [annotators.tally(people), tally]


def _settled(table: Table, column: Growing, place: int, *, ordered: bool = False) -> Coded:
    try:
        return column.settled(ordered=ordered)
    except Unusable as error:
        where = f"the column {table.column_name(place)} of {table.name} holds"
        raise error.where(where) from error


def _outside(dealt: Dealt, said: Coded, answers: Answers, tally: Tally) -> Exception:
    """Say which label was not declared: the first in the order of files and rows."""
    unknown, places = answers.codes < 0, dealt.columns[1].first
    numbers = [k for k in range(len(said.codes)) if unknown[said.codes[k]]]
    first = min(numbers, key=lambda k: places[k])
    rows, _ = dealt.rows(np.array([places[first]]))
    value = said.values.tolist()[said.codes[first]]
    return never_declared(value, rows, int(tally.counts[unknown].sum()) - 1, answers)


def _refused(dealt: Dealt, repeats: Sequence[Repeats]) -> Exception:
    """Refuse repeated labels, the first in the order of files and rows."""
    place = np.concatenate([one.place for one in repeats])
    place = place[np.lexsort(place.T[::-1])]
    rows, n_rows = dealt.rows(place)
    first = min(repeats, key=lambda one: tuple(one.place[np.lexsort(one.place.T[::-1])[0]]))
    same = sum(one.same for one in repeats)
    return refused(rows, n_rows, len(place), same, (first.item, first.annotator))
