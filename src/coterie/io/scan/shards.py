"""Parts -> shards: every part becomes a file; what is wrong with the whole is said at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.build import (
    Answers,
    Tally,
    code_words,
    look_over,
    never_declared,
    refused,
)
from coterie.data.provenance import Provenance
from coterie.data.table import Coded, Table, Unusable
from coterie.io.scan.blocks import never_whole
from coterie.io.scan.deal import Dealt
from coterie.io.scan.ids import FRACTION, TEXT, WHOLE, Ids, text_of, unpacked
from coterie.io.scan.parts import Known, Part, Repeats, Words, part_from
from coterie.io.scan.shard_files import Layout, write_arrays
from coterie.io.scan.spill import Piece
from coterie.io.scan.vocabulary import Growing

Array = NDArray[Any]


class Made(NamedTuple):
    """Shards, and what they are about."""

    words: Words
    provenance: Provenance
    layouts: list[Layout]
    labels_per_annotator: NDArray[np.int64]
    n_items: int
    n_gold: int
    ids: int  # their form


class Wanted(NamedTuple):
    """What every shard is made with."""

    words: Words
    duplicates: str  # what repeated labels mean
    table: Table  # what all files are called together
    gold: Known | Coded | None  # known labels from elsewhere, or the words of their column


class Written(NamedTuple):
    """A shard that lies in its file."""

    layout: Layout
    counts: NDArray[np.int64]  # (annotators,)   labels of each
    n_gold: int
    repeats: Repeats | None
    form: int  # of the items' ids
    n_items: int
    only: Array  # the item's id, if there is one alone
    found: Array | None  # (distinct items,)   of known labels from elsewhere: seen here


Make = Callable[[Wanted], Iterator[Written]]


def write_shard(pieces: Sequence[Piece], wanted: Wanted, path: Path) -> Written:
    """Make a shard of the pieces of a part, in the order of the rows, and write it."""
    part = part_from(pieces, wanted.words, wanted.duplicates, wanted.table, wanted.gold)
    n_items = len(part.shard.key)
    return Written(
        write_arrays(path, _arrays(part)),
        np.bincount(part.shard.item_annotator, minlength=len(wanted.words.annotators)),
        int(np.count_nonzero(part.shard.gold >= 0)),
        part.repeats,
        part.ids.form,
        n_items,
        unpacked(part.ids) if n_items == 1 else np.zeros(0, object),
        wanted.gold.found if isinstance(wanted.gold, Known) else None,
    )


def shards_from(
    dealt: Dealt,
    make: Make,
    declared: Mapping[str, Any],
    known: Known | str | None,
    provenance: Provenance,
) -> Made:
    """Make the shards.

    Parameters
    ----------
    dealt
        What was read.
    make
        Makes the shards, in order, of what was read.
    declared
        The classes and extra answers that were declared, None where they were not.
    known
        Known labels from elsewhere, or the name of their column.
    provenance
        What was read, and how.
    """
    table = Table(provenance.source, tuple(dealt.names), never_whole)
    words, tallies = _words(dealt, table, declared)
    gold: Known | Coded | None = None
    if isinstance(known, Known):  # what may go to others: the table's name, not its cells
        named = Table(known.table.source, known.table.columns, never_whole)
        gold = known._replace(table=named)
    if dealt.gold is not None:
        column = _settled(table, dealt.gold, 3)
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
    tallies = [Tally(items, np.ones(len(items), int)), *tallies]
    told = words.classes.tolist() if declared["classes"] else []
    look_over(table.name, tallies, n_items, told, words.extra_answers.tolist())
    return Made(
        words,
        _declared_in(provenance, declared, words),
        [one.layout for one in written],
        counts,
        n_items,
        sum(one.n_gold for one in written),
        next((one.form for one in reversed(written) if one.n_items), TEXT),
    )


def _words(dealt: Dealt, table: Table, declared: Mapping[str, Any]) -> tuple[Words, list[Tally]]:
    """Give the vocabularies as they would be had the whole been read at once."""
    people = _settled(table, dealt.annotators, 1, ordered=True)
    said = _settled(table, dealt.labels, 2)
    label_tally = dealt.labels.tally(said)
    answers = code_words(table.name, said.values, declared["classes"], declared["extra_answers"])
    if answers.codes.min() < 0:
        raise _outside(dealt, said, answers, label_tally)
    words = Words(
        people.values,
        answers.classes,
        answers.extra_answers,
        people.codes.astype(np.int32),
        answers.codes[said.codes].astype(np.int32),
        frozenset(dealt.forms),
    )
    return words, [dealt.annotators.tally(people), label_tally]


def _settled(table: Table, column: Growing, place: int, *, ordered: bool = False) -> Coded:
    try:
        return column.ordered() if ordered else column.settled()
    except Unusable as error:
        where = f"the column {table.column_name(place)} of {table.name} holds"
        raise error.where(where) from error


def _outside(dealt: Dealt, said: Coded, answers: Answers, tally: Tally) -> Exception:
    """Say which label was not declared: the first in the order of files and rows."""
    unknown = answers.codes < 0
    numbers = [k for k in range(len(said.codes)) if unknown[said.codes[k]]]
    first = min(numbers, key=lambda k: dealt.labels.first[k])
    rows, _ = dealt.rows(np.array([dealt.labels.first[first]]))
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


def _declared_in(provenance: Provenance, declared: Mapping[str, Any], words: Words) -> Provenance:
    told = {name: declared[name] is not None for name in ("classes", "extra_answers")}
    return replace(
        provenance,
        classes=tuple(words.classes.tolist()) if told["classes"] else None,
        extra_answers=tuple(words.extra_answers.tolist()) if told["extra_answers"] else None,
    )


def _arrays(part: Part) -> dict[str, Array]:
    return {**part.shard._asdict(), **_of_ids(part.ids)}


def _of_ids(ids: Ids) -> dict[str, Array]:
    """Give ids as arrays: as :func:`coterie.files.container.pack_vocabulary` lays them."""
    if ids.form in (WHOLE, FRACTION):
        return {"items": ids.cells.to_numpy(zero_copy_only=False)}
    length, content = text_of(ids.cells)
    return {"items.utf8": content, "items.length": length.astype(np.uint32)}
