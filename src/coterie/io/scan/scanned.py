"""Scan: labels in shards on disk; and the folder that they lie in, temporary or kept and reused."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations, Vocabularies
from coterie.data.codes import Shard, encode
from coterie.data.provenance import Provenance
from coterie.data.table import Coded, in_order
from coterie.errors import DataError
from coterie.files.atomic import folder_held, write_file
from coterie.files.container import (
    Arrays,
    Format,
    container_writer,
    pack_vocabulary,
    read_container,
    unpack_vocabulary,
)
from coterie.files.paths import naming
from coterie.io.scan.shards import Made, items_in, opened_shard, shard_in, shard_path

Array = NDArray[Any]
LongArray = NDArray[np.int64]

FORMAT = Format("coterie scan", 2)
RECORD = "scan.coterie"
"""Lies in a folder whose shards are whole: it is written last."""
MARK = "unfinished.scan"
"""Lies in a folder while shards are made: what a killed process left may be removed."""
WORDS = ("annotators", "classes", "extra_answers")
SIZES = ("n_items", "n_labels", "n_gold", "n_files", "sizes")
"""What of a scan is written down, beside its words and people."""


@dataclass(frozen=True, eq=False, repr=False)
class Scan(Vocabularies):
    """Labels in shards on disk: made by :func:`coterie.scan`, taken by ``fit``.

    It is what :class:`coterie.data.codes.Shards` describes, with the words behind the codes. Only
    the shards that are looked at are in memory.

    Parameters
    ----------
    annotators, classes, extra_answers
        The words behind the codes, as in :class:`coterie.Annotations`.
    provenance
        What was read, and how.
    labels_per_annotator
        Number of labels of each annotator, shape (annotators,).
    folder
        Where the shards lie.
    sizes
        How many bytes each of them has.
    n_items, n_labels, n_gold
        How many there are.
    n_files
        Number of files that were read.
    seconds
        What reading and bringing together took; both zero for shards that were there already.
    """

    annotators: Array
    classes: Array
    extra_answers: Array
    provenance: Provenance
    labels_per_annotator: LongArray
    folder: Path
    sizes: tuple[int, ...]
    n_items: int
    n_labels: int
    n_gold: int
    n_files: int = 1
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """One line on what was read and which columns were taken."""
        return self.provenance.sentence()

    def __len__(self) -> int:
        """Give the number of shards."""
        return len(self.sizes)

    def path(self, k: int) -> Path:
        """Give the file of the k-th shard."""
        return shard_path(self.folder, k)

    def _batch(self, k: int) -> Any:
        if not 0 <= k < len(self):
            raise DataError(f"there is no shard {k}: they are numbered from 0 to {len(self) - 1}")
        what = f"shard {k} of {self.provenance.source.name}"
        return opened_shard(self.path(k), what, self.sizes[k])

    def open(self, k: int) -> Shard:
        """Give the k-th shard, mapped from its file."""
        return shard_in(self._batch(k))

    def items(self, k: int) -> Array:
        """Give the ids of the k-th shard's items, in its order, shape (items,)."""
        return items_in(self._batch(k))

    def gather(self) -> Annotations:
        """Give all labels in memory, as :func:`coterie.read` would: there must be room for them."""
        shards = [self.open(k) for k in range(len(self))]
        ids = [ids for ids in map(self.items, range(len(self))) if len(ids)]
        values = np.concatenate(ids) if ids else np.zeros(0, object)
        items = in_order(Coded(np.arange(len(values)), values))
        label = np.concatenate([np.diff(shard.item_start) for shard in shards])
        gold = np.empty(len(values), np.int32)
        gold[items.codes] = np.concatenate([shard.gold for shard in shards])
        codes = encode(
            np.repeat(items.codes, label),
            np.concatenate([shard.item_annotator for shard in shards]),
            np.concatenate([shard.item_answer for shard in shards]),
            sizes=(self.n_items, self.n_annotators, self.n_classes, self.n_answers),
            gold=gold,
        )
        words = (self.annotators, self.classes, self.extra_answers)
        return Annotations(items.values, *words, codes, provenance=self.provenance)

    def describe(self) -> str:
        """Say in one line how large the data are."""
        parts = [
            f"{self.n_items:,} items x {self.n_annotators:,} annotators",
            f"{self.n_labels:,} labels",
            f"{self.n_classes:,} classes",
        ]
        parts += [f"{len(self.extra_answers)} extra answers"] if len(self.extra_answers) else []
        parts += [f"{self.n_gold:,} gold"] if self.n_gold else []
        return ", ".join([*parts, f"{len(self):,} {'shard' if len(self) == 1 else 'shards'}"])

    def __repr__(self) -> str:
        return f"<Scan: {self.describe()}>"


class Workplace:
    """A folder to make shards in: made of files and settings as the stamp says."""

    def __init__(self, folder: str | PathLike[str] | None, stamp: str) -> None:
        self.kept, self.whole = folder is not None, False
        self.stamp = hashlib.sha256(stamp.encode("utf-8", "surrogatepass")).hexdigest()
        if folder is None:
            with naming(tempfile.gettempdir()):
                self.place = Path(tempfile.mkdtemp(prefix="coterie-scan-"))
        else:
            with naming(folder):
                self.place = Path(folder).expanduser().absolute()
                self.place.mkdir(parents=True, exist_ok=True)

    def scanned(self, provenance: Provenance) -> Scan | None:
        """Give the scan that lies here, if it is of the same files; else make the place free."""
        if not self.kept:
            return None
        record = self.place / RECORD
        if record.exists():
            found = self._read(record, provenance)
            if found is not None:
                self.whole = True
                return found
        elif not self.is_ours() and any(self.place.iterdir()):
            raise DataError(
                f"{self.place} holds files that are no shards; choose another folder, or empty it"
            )
        self.clear()
        with naming(self.place):
            (self.place / MARK).write_text("", encoding="utf-8")
        return None

    def is_ours(self) -> bool:
        """Tell whether what lies here is a scan, or an unfinished one."""
        return (self.place / MARK).exists() or (self.place / RECORD).exists()

    def clear(self) -> None:
        """Remove what an earlier scan, or an unfinished one, left; the mark last."""
        with naming(self.place):
            (self.place / RECORD).unlink(missing_ok=True)
            shutil.rmtree(self.place / "spill", ignore_errors=True)
            for path in self.place.glob("shard-*"):
                path.unlink()
            (self.place / MARK).unlink(missing_ok=True)

    def publish(self, made: Made, n_files: int, seconds: dict[str, float]) -> Scan:
        """Write down what was made; a temporary folder goes when the scan is forgotten."""
        scan = Scan(
            annotators=made.words.annotators,
            classes=made.words.classes,
            extra_answers=made.words.extra_answers,
            provenance=made.provenance,
            labels_per_annotator=made.labels_per_annotator,
            folder=self.place,
            sizes=tuple(made.sizes),
            n_items=made.n_items,
            n_labels=int(made.labels_per_annotator.sum()),
            n_gold=made.n_gold,
            n_files=n_files,
            seconds=seconds,
        )
        if self.kept:
            write_file(self.place / RECORD, self._writer(scan))
            (self.place / MARK).unlink(missing_ok=True)
        else:
            weakref.finalize(scan, shutil.rmtree, self.place, ignore_errors=True)
        self.whole = True
        return scan

    def _writer(self, scan: Scan) -> Any:
        arrays: Arrays = {"labels_per_annotator": scan.labels_per_annotator}
        header: dict[str, Any] = {
            "stamp": self.stamp,
            "sizes": {name: getattr(scan, name) for name in SIZES},
            "declared": {name: getattr(scan.provenance, name) is not None for name in WORDS[1:]},
        }
        header |= {name: pack_vocabulary(name, getattr(scan, name), arrays) for name in WORDS}
        return container_writer(FORMAT, json.loads(json.dumps(header)), arrays)

    def _read(self, record: Path, provenance: Provenance) -> Scan | None:
        """Read what was written down; None if it is of other files, or shards are gone."""
        content = read_container(record, FORMAT)
        header, arrays = content.header, content.arrays
        if header["stamp"] != self.stamp:
            return None
        words: dict[str, Any] = {
            name: unpack_vocabulary(name, header[name], arrays) for name in WORDS
        }
        told, sizes = header["declared"], header["sizes"]
        said = {name: words[name] for name in WORDS[1:] if told[name]}
        own: dict[str, Any] = {name: tuple(values.tolist()) for name, values in said.items()}
        scan = Scan(
            **words,
            provenance=replace(provenance, **own),
            labels_per_annotator=arrays["labels_per_annotator"],
            folder=self.place,
            seconds={"reading": 0.0, "shards": 0.0},
            **{**sizes, "sizes": tuple(sizes["sizes"])},
        )
        paths = ((scan.path(k), size) for k, size in enumerate(scan.sizes))
        same = all(path.exists() and path.stat().st_size == size for path, size in paths)
        return scan if same else None


@contextmanager
def workplace(folder: str | PathLike[str] | None, stamp: str) -> Iterator[Workplace]:
    """Give a folder to make shards in; on failure nothing of it stays."""
    made = Workplace(folder, stamp)
    with folder_held(made.place):
        try:
            yield made
        finally:
            if not made.whole and not made.kept:
                shutil.rmtree(made.place, ignore_errors=True)
            elif not made.whole and made.is_ours():
                made.clear()
