"""coterie.scan: files larger than memory -> labels in shards on disk.

This process makes the pass over the files, or the workers of a cluster do: each reads one file at a
time and deals its rows into a pile, with numbers of its own for annotators and labels. What they
saw is put together in the order of the files, which gives everybody and every label the number that
one pass over all files would have given. Then every shard is made of its pieces of all piles, in
order. So the shards are the same, whoever works. Piles and shards lie in a folder that all see;
whoever does a task again, for another who died, writes files of new names, and only those that were
told of are taken.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import math
import pickle
import shutil
import time
import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from coterie.data.build import DUPLICATES
from coterie.data.columns import ROLES, Asked, find_long, gold_like, place_of
from coterie.data.gold import items_and_labels, not_labelled
from coterie.data.provenance import Form, Gold, Provenance, Source
from coterie.data.table import Table
from coterie.errors import Argument, DataError, MissingExtraError
from coterie.files.paths import naming
from coterie.io.read import column_or_file, is_path
from coterie.io.reading import Scanning, takes
from coterie.io.scan.scanned import Scan, workplace
from coterie.io.scan.shards import (
    Dealer,
    Known,
    Wanted,
    Written,
    shard_one,
    shard_path,
    shards_from,
)
from coterie.io.scan.sources import Found, Where, find_all
from coterie.io.scan.spill import Dealt, deal_one, nothing_dealt, opened
from coterie.io.tables import Reader
from coterie.words.values import written
from coterie.words.visible import text_of

SHARD_LABELS = 1_000_000
"""Labels in a shard, about: 10 MB in memory while it is looked at."""
PACKED = 5
"""How many times larger a .gz is when it is unpacked, about."""
log = logging.getLogger("coterie")

Work = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]


@runtime_checkable
class Workers(Protocol):
    """An engine whose workers take any work: whoever dies, another does it again."""

    def map(self, work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Call ``work`` with each of these arguments; give what it returns, in their order."""

    def close(self) -> None:
        """Let the workers go."""


@takes(Scanning)
def scan(source: Where | Sequence[Where], asked: Scanning) -> Scan:
    """Open labels that are larger than memory: what ``fit`` then takes shard by shard.

    The files are read once, a block of rows at a time. Annotators and labels are kept in memory,
    items are not: rows are dealt to shards by a hash of the item's id, so that all labels of an
    item lie in one shard. Shards are files that are mapped where they are looked at. The result of
    a fit is, to the last bit, that of :func:`coterie.read` and the same fit in memory.

    Parameters
    ----------
    source
        A pattern (``"labels/*.parquet"``), a folder, a file, an address that fsspec knows
        (``"s3://bucket/labels/"``, where fsspec is installed), or a list of such: CSV, TSV, JSONL
        (``.gz`` too) and Parquet, one row per label. Folders called ``name=value`` are columns, as
        text. Needs pyarrow, the extra ``parquet``.
    item, annotator, label
        The names of the columns, where they are not the usual ones; the same in all files.
    gold, classes, extra_answers, duplicates
        As for :func:`coterie.read`. First and last are by files in their order, and by rows.
    shard_labels
        Labels in a shard, about; by default a million.
    folder
        Where to keep the shards; a later scan of the same files, unchanged, takes them from there.
        By default they lie where temporary files do, until the scan is forgotten.
    engine
        Who reads: this process (None, ``"threads"``), or the workers of a Dask cluster, each some
        of the files: ``"dask"``, a ``distributed.Client`` or the address of a scheduler, as for
        ``fit``. They must see the files and the folder. The shards are the same.

    Raises
    ------
    DataError
        As :func:`coterie.read` does; the sentence names the file and the row.

    Examples
    --------
    >>> import coterie
    >>> crowd = coterie.simulate("mixed", items=200, annotators=9, random_state=0)
    >>> frame = crowd.annotations.to_frame()
    >>> frame[:600].to_parquet("labels-1.parquet")
    >>> frame[600:].to_parquet("labels-2.parquet")
    >>> labels = coterie.scan("labels-*.parquet", shard_labels=500)
    >>> labels
    <Scan: 200 items x 9 annotators, 1,200 labels, 3 classes, 3 shards>
    >>> coterie.DawidSkene().fit(labels).posterior_.annotators().shape
    (9, 4)
    """
    shard_labels = SHARD_LABELS if asked.shard_labels is None else asked.shard_labels
    _check(asked.duplicates, shard_labels, asked.annotator)
    found = find_all(source)
    readers = [opened(one) for one in found]
    first = readers[0].table
    names, places = _columns(readers, Asked(asked.item, asked.annotator, asked.label))
    name = _called(source, found)
    known = _known(first, asked.gold)
    if isinstance(known, str):
        names.append(known)
    declared = {word: _listed(getattr(asked, word)) for word in ("classes", "extra_answers")}
    provenance = _provenance(name, source, first, names, places, known, asked.duplicates)
    told = [names, declared, asked.duplicates, shard_labels]
    with workplace(asked.folder, _stamp([one.stamp for one in found], told, known)) as place:
        if (before := place.scanned(provenance)) is not None:
            return before
        n_parts = _n_parts(found, readers, shard_labels)
        with _hands(asked.engine) as work, _spilling(place.place / "spill") as spill:
            start = time.perf_counter()
            calls = ((one, names, spill, n_parts) for one in found)
            dealt, dealers = _dealt(work or _alone, calls, readers, names)
            if not dealt.blocks:
                raise DataError(
                    f"{name} has no rows, only the columns {written(first.columns)}; expected one"
                    " row per label"
                )
            read = time.perf_counter()

            def make(wanted: Wanted) -> Iterator[Written]:
                plan: Any = dealers, wanted
                if work is not None:  # what others are told lies in a file
                    plan = spill / "plan"
                    with naming(plan):
                        plan.write_bytes(pickle.dumps((dealers, wanted)))
                made = (work or _alone)(shard_one, ((plan, k) for k in range(n_parts)))
                for k, (path, one) in enumerate(made):
                    with naming(path):
                        path.rename(shard_path(place.place, k))
                    yield one

            made = shards_from(dealt, make, declared, known, provenance)
            seconds = {"reading": read - start, "shards": time.perf_counter() - read}
        if isinstance(known, Known) and not known.found.all():
            raise not_labelled(known.table, known.item.values[~known.found].tolist())
        scanned = place.publish(made, len(found), seconds)
    log.info("%s", scanned.origin)
    return scanned


def _alone(work: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    return (work(*call) for call in calls)


@contextmanager
def _hands(engine: Any) -> Iterator[Work | None]:
    """Give what has work done by others; None for this process."""
    workers = None
    if engine is not None:
        port = importlib.import_module("coterie.inference.shards")  # a way up, by name
        workers = port.connect(engine)
    if isinstance(workers, Workers):
        with closing(workers):
            yield workers.map
    else:
        yield None


@contextmanager
def _spilling(folder: Path) -> Iterator[Path]:
    """Give a folder for piles; workers who are still at it find it gone, whatever happens."""
    with naming(folder):
        folder.mkdir()
    try:
        yield folder
    finally:
        away = folder.with_name(f"spill-{uuid.uuid4().hex}")
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def _dealt(
    work: Work,
    calls: Iterable[tuple[Any, ...]],
    readers: Sequence[Reader],
    names: Sequence[Hashable],
) -> tuple[Dealt, list[Dealer]]:
    """Have all files read, and put together what was seen of them, in their order."""
    dealt, dealers = nothing_dealt(names), []
    for reader, seen in zip(readers, work(deal_one, calls), strict=True):
        before = len(dealt.blocks)
        columns = zip(dealt.columns, seen.dealt.columns, strict=True)
        numbers = [mine.merge(own, before) for mine, own in columns]
        dealers.append(Dealer(seen.path, seen.start, before, numbers))
        dealt.forms |= seen.dealt.forms
        dealt.blocks += [(reader.table, rows) for rows in seen.before]
    return dealt, dealers


def _stamp(files: Sequence[Any], told: Sequence[Any], known: Known | str | None) -> str:
    """Say what shards are made of: the files as they are, and what is asked."""
    parts = [repr(files), repr(told)]
    if isinstance(known, Known):
        for one in (known.item, known.label):
            parts.append(repr(one.values.tolist()) + repr(one.codes.tolist()))
    return "\n".join(parts)


def _check(duplicates: str, shard_labels: Any, annotator: Any) -> None:
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("scanning files", "pyarrow", "parquet")
    if text_of(duplicates) not in DUPLICATES:
        raise DataError(
            [Argument("duplicates", duplicates), f" is not one of {written(DUPLICATES)}"]
        )
    whole = isinstance(shard_labels, int) and not isinstance(shard_labels, bool)
    if not whole or shard_labels < 1:
        raise DataError(
            [Argument("shard_labels", shard_labels), " is no number of labels, at least 1"]
        )
    if annotator is not None and not isinstance(annotator, str):
        raise DataError(
            [Argument("annotator"), " lists columns, and a scan reads one row per label"],
            remedy="name the column of the annotators, or use coterie.read",
        )


def _columns(readers: Sequence[Reader], asked: Asked) -> tuple[list[Hashable], list[int]]:
    """Find the three columns in the first file; all others must have them."""
    table = readers[0].table
    columns = find_long(table, asked)
    if columns is None or columns.label is None:
        raise DataError(
            f"{table.name} has no columns named like annotator and label, and a scan reads one row "
            f"per label; its columns are {written(table.columns)}",
            remedy=[
                *("pass ", Argument("item"), ", ", Argument("annotator"), " and "),
                *(Argument("label"), ", or use coterie.read for one row per item"),
            ],
        )
    places = [columns.item, *columns.annotators, columns.label]
    names = [table.columns[place] for place in places]
    for reader in readers[1:]:
        for name, role in zip(names, ROLES, strict=True):
            place_of(reader.table, name, role)
    return names, places


def _called(source: Any, found: Sequence[Found]) -> str:
    """Name all files in a sentence."""
    if isinstance(source, (str, PathLike)) and len(found) > 1:
        return str(source)
    more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return found[0].file.name + more


def _known(table: Table, gold: Any) -> Known | str | None:
    """Give known labels: a column of the files by its name, or those from elsewhere."""
    if gold is None:
        return None
    if is_path(gold):
        gold = column_or_file(table, gold)
        if isinstance(gold, str):
            return gold
    table, item, label = items_and_labels(gold, "gold")
    return Known(table, item, label, np.zeros(len(item.values), bool))


def _provenance(
    name: str,
    source: Any,
    table: Table,
    names: Sequence[Hashable],
    places: Sequence[int],
    known: Known | str | None,
    duplicates: str,
) -> Provenance:
    path = str(source) if isinstance(source, (str, PathLike)) else ", ".join(map(str, source))
    gold = Gold(column=known) if isinstance(known, str) else None
    gold = Gold(source=known.table.source) if isinstance(known, Known) else gold
    unread = [table.columns[place] for place in gold_like(table) if place not in places]
    return Provenance(
        Source(name, table.source.format, path, table.source.note),
        Form.LONG,
        names[0],
        (names[1],),
        names[2],
        gold,
        duplicates,
        unread=tuple(unread),
    )


def _listed(values: Iterable[Hashable] | None) -> Any:
    """Give declared words as a list that can be looked at twice; what is none is refused later."""
    one = values is None or isinstance(values, (str, set, frozenset))
    return values if one or not isinstance(values, Iterable) else list(values)


def _n_parts(found: Sequence[Found], readers: Sequence[Reader], shard_labels: int) -> int:
    """Give how many shards there will be, from the number of rows as far as files say it."""
    rows = 0.0
    for one, reader in zip(found, readers, strict=True):
        if reader.rows is not None:
            rows += reader.rows
            continue
        head = one.file.head()
        size = (one.size or len(head)) * (PACKED if one.file.compressed else 1)
        rows += max(size / max(len(head), 1), 1) * (head.count(b"\n") + 1)
    return max(1, math.ceil(rows / shard_labels))
