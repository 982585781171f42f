"""Parts -> shards: every part becomes a file; what is wrong with the whole is said at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.answers import Answers, code_words, never_declared
from coterie.data.encoding import Coded, Mixed
from coterie.data.provenance import Provenance
from coterie.data.repeated import refused
from coterie.data.table import mixed
from coterie.data.warn import Tally, look_over, warn_of_unsaid
from coterie.io.scan.deal import Dealt
from coterie.io.scan.growing import Growing
from coterie.io.scan.ids import FRACTION, WHOLE, Ids, packed, unpacked
from coterie.io.scan.parts import Known, Part, Repeats, Words, part_from
from coterie.io.scan.shard_files import Layout, write_arrays
from coterie.io.scan.spill import Spill
from coterie.words.visible import quoted

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


def shards_from(
    dealt: Dealt,
    spill: Spill,
    folder: Path,
    declared: Mapping[str, Any],
    duplicates: str,
    known: Known | str | None,
    provenance: Provenance,
) -> Made:
    """Make the shards.

    Parameters
    ----------
    dealt, spill
        What was read.
    folder
        Where the shards go.
    declared
        The classes and extra answers that were declared, None where they were not.
    duplicates
        What repeated labels mean.
    known
        Known labels from elsewhere, or the name of their column.
    provenance
        What was read, and how.
    """
    words, tallies = _words(dealt, declared)
    gold: Known | Coded | None = known if isinstance(known, Known) else None
    if dealt.gold is not None:
        column = _settled(dealt, dealt.gold, 3)
        gold = Coded(np.append(column.codes, -1), column.values)
    layouts, repeats, ids = [], [], packed(np.zeros(0, object))
    counts = np.zeros(len(words.annotators), np.int64)
    n_items = n_gold = 0
    for k in range(spill.n_parts):
        part = part_from(list(spill.pieces(k)), words, duplicates, dealt.table, gold)
        spill.remove(k)
        layouts.append(write_arrays(folder / f"shard-{k:05d}.coterie", _arrays(part)))
        counts += np.bincount(part.shard.item_annotator, minlength=len(counts))
        n_items += len(part.shard.key)
        n_gold += int(np.count_nonzero(part.shard.gold >= 0))
        repeats += [] if part.repeats is None else [part.repeats]
        ids = part.ids if len(part.shard.key) else ids
    if repeats:
        raise _refused(dealt, repeats)
    only = unpacked(ids) if n_items == 1 else np.zeros(0, object)
    _look_over(dealt, [Tally(only, np.ones(len(only), int)), *tallies], n_items, words, declared)
    provenance = _declared_in(provenance, declared, words)
    return Made(words, provenance, layouts, counts, n_items, n_gold, ids.form)


def _words(dealt: Dealt, declared: Mapping[str, Any]) -> tuple[Words, list[Tally]]:
    """Give the vocabularies as they would be had the whole been read at once."""
    people, said = (
        _settled(dealt, dealt.annotators, 1, ordered=True),
        _settled(dealt, dealt.labels, 2),
    )
    label_tally = dealt.labels.tally(said)
    answers = code_words(
        dealt.table.name, said.values, declared["classes"], declared["extra_answers"]
    )
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


def _settled(dealt: Dealt, column: Growing, place: int, *, ordered: bool = False) -> Coded:
    try:
        return column.ordered() if ordered else column.settled()
    except Mixed as error:
        where = f"the column {quoted(dealt.names[place])} of {dealt.table.name} holds"
        raise mixed(where, error) from error


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


def _look_over(
    dealt: Dealt, tallies: list[Tally], n_items: int, words: Words, declared: Mapping[str, Any]
) -> None:
    extra = words.extra_answers.tolist()
    told = {*(words.classes.tolist() if declared["classes"] else ()), *extra}
    look_over(dealt.table, tallies, n_items, told)
    warn_of_unsaid(dealt.table, tallies[2], extra)


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
    """Give ids as arrays: as :func:`coterie.files.vocabulary.pack_vocabulary` lays them."""
    if ids.form in (WHOLE, FRACTION):
        return {"items": ids.cells.to_numpy(zero_copy_only=False)}
    if not len(ids.cells):
        return {"items.utf8": np.zeros(0, np.uint8), "items.length": np.zeros(0, np.uint32)}
    _, offsets, text = ids.cells.buffers()
    start = np.frombuffer(offsets, np.int64)[ids.cells.offset :][: len(ids.cells) + 1]
    content = np.zeros(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)
    return {
        "items.utf8": content[start[0] : start[-1]],
        "items.length": np.diff(start).astype(np.uint32),
    }
