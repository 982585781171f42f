"""Where shards lie: a temporary folder that goes with the scan, or one that is kept and reused."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from coterie.data.provenance import Provenance
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
from coterie.io.scan.parts import Known
from coterie.io.scan.scanned import Scan
from coterie.io.scan.shard_files import Layout
from coterie.io.scan.shards import Made

FORMAT = Format("coterie scan", 1)
RECORD = "scan.coterie"
"""Lies in a folder whose shards are whole: it is written last."""
MARK = "unfinished.scan"
"""Lies in a folder while shards are made: what a killed process left may be removed."""
WORDS = ("annotators", "classes", "extra_answers")
SIZES = ("n_items", "n_labels", "n_gold", "ids", "n_files")
"""What of a scan is written down, beside its words and people."""


class Stamp(NamedTuple):
    """What shards were made of: the files as they were, and what was asked."""

    files: Sequence[tuple[Any, ...]]
    told: Sequence[Any]
    known: Known | None

    def text(self) -> str:
        """Give one line that differs if anything does."""
        parts = [repr(list(self.files)), repr(self.told)]
        if self.known is not None:
            item, label = self.known.item, self.known.label
            parts += [repr(one.values.tolist()) + repr(one.codes.tolist()) for one in (item, label)]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class Workplace:
    """A folder to make shards in; on failure nothing of it stays."""

    def __init__(self, folder: str | PathLike[str] | None, stamp: Stamp) -> None:
        self.kept = folder is not None
        self.stamp = stamp.text()
        self._whole = False
        if folder is None:
            with naming(tempfile.gettempdir()):
                self.place = Path(tempfile.mkdtemp(prefix="coterie-scan-"))
        else:
            with naming(folder):
                self.place = Path(folder).expanduser().absolute()
                self.place.mkdir(parents=True, exist_ok=True)
        self._held = folder_held(self.place)

    def __enter__(self) -> Self:
        self._held.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self._whole and not self.kept:
                shutil.rmtree(self.place, ignore_errors=True)
            elif not self._whole and self._is_ours():
                self._clear()
        finally:
            self._held.__exit__(kind, error, trace)

    def scanned(self, provenance: Provenance) -> Scan | None:
        """Give the scan that lies here, if it is of the same files; else make the place free."""
        if not self.kept:
            return None
        record = self.place / RECORD
        if record.exists():
            found = self._read(record, provenance)
            if found is not None:
                self._whole = True
                return found
        elif not self._is_ours() and any(self.place.iterdir()):
            raise DataError(
                f"{self.place} holds files that are no shards; choose another folder, or empty it"
            )
        self._clear()
        with naming(self.place):
            (self.place / MARK).write_text("", encoding="utf-8")
        return None

    def _is_ours(self) -> bool:
        return (self.place / MARK).exists() or (self.place / RECORD).exists()

    def _clear(self) -> None:
        """Remove what an earlier scan, or an unfinished one, left; the mark last."""
        with naming(self.place):
            (self.place / RECORD).unlink(missing_ok=True)
            shutil.rmtree(self.place / "spill", ignore_errors=True)
            for path in self.place.glob("shard-*"):
                path.unlink()
            (self.place / MARK).unlink(missing_ok=True)

    def publish(self, made: Made, n_files: int, seconds: dict[str, float]) -> Scan:
        """Write down what was made; a temporary folder goes when the scan is forgotten."""
        shutil.rmtree(self.place / "spill", ignore_errors=True)
        scan = Scan(
            annotators=made.words.annotators,
            classes=made.words.classes,
            extra_answers=made.words.extra_answers,
            provenance=made.provenance,
            labels_per_annotator=made.labels_per_annotator,
            folder=self.place,
            layouts=tuple(made.layouts),
            n_items=made.n_items,
            n_labels=int(made.labels_per_annotator.sum()),
            n_gold=made.n_gold,
            ids=made.ids,
            n_files=n_files,
            seconds=seconds,
        )
        if self.kept:
            write_file(self.place / RECORD, _writer(scan, self.stamp))
            (self.place / MARK).unlink(missing_ok=True)
        else:
            weakref.finalize(scan, shutil.rmtree, self.place, ignore_errors=True)
        self._whole = True
        return scan

    def _read(self, record: Path, provenance: Provenance) -> Scan | None:
        """Read what was written down; None if it is of other files, or shards are gone."""
        content = read_container(record, FORMAT)
        header, arrays = content.header, content.arrays
        if header["stamp"] != self.stamp:
            return None
        layouts = tuple(
            Layout({name: tuple(where) for name, where in arrays.items()}, size)
            for arrays, size in header["layouts"]
        )
        people, classes, extra = (unpack_vocabulary(x, header[x], arrays) for x in WORDS)
        told, sizes = header["declared"], header["sizes"]
        scan = Scan(
            annotators=people,
            classes=classes,
            extra_answers=extra,
            provenance=replace(
                provenance,
                classes=tuple(classes.tolist()) if told["classes"] else None,
                extra_answers=tuple(extra.tolist()) if told["extra_answers"] else None,
            ),
            labels_per_annotator=arrays["labels_per_annotator"],
            folder=self.place,
            layouts=layouts,
            seconds={"reading": 0.0, "shards": 0.0},
            **{name: sizes[name] for name in SIZES},
        )
        paths = [scan.path(k) for k in range(len(layouts))]
        same = (
            p.exists() and p.stat().st_size == x.size for p, x in zip(paths, layouts, strict=True)
        )
        return scan if all(same) else None


def _writer(scan: Scan, stamp: str) -> Any:
    arrays: Arrays = {"labels_per_annotator": scan.labels_per_annotator}
    header: dict[str, Any] = {
        "stamp": stamp,
        "layouts": [[layout.arrays, layout.size] for layout in scan.layouts],
        "sizes": {name: getattr(scan, name) for name in SIZES},
        "declared": {name: getattr(scan.provenance, name) is not None for name in WORDS[1:]},
    }
    header |= {name: pack_vocabulary(name, getattr(scan, name), arrays) for name in WORDS}
    return container_writer(FORMAT, json.loads(json.dumps(header)), arrays)
