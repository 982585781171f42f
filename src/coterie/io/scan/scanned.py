"""Scan: labels in shards on disk, and what they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations, Vocabularies
from coterie.data.codes import Shard, encode
from coterie.data.provenance import Provenance
from coterie.data.table import Coded, in_order
from coterie.errors import DataError
from coterie.files.container import unpack_vocabulary
from coterie.io.scan.ids import VALUES, Ids, unpacked
from coterie.io.scan.shard_files import Layout, map_arrays, shard_path

Array = NDArray[Any]
LongArray = NDArray[np.int64]


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
    layouts
        What lies where in each of them.
    n_items, n_labels, n_gold
        How many there are.
    ids
        How the items' ids are kept in the shards.
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
    layouts: tuple[Layout, ...]
    n_items: int
    n_labels: int
    n_gold: int
    ids: int
    n_files: int = 1
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """One line on what was read and which columns were taken."""
        return self.provenance.sentence()

    def __len__(self) -> int:
        """Give the number of shards."""
        return len(self.layouts)

    def path(self, k: int) -> Path:
        """Give the file of the k-th shard."""
        return shard_path(self.folder, k)

    def _arrays(self, k: int) -> dict[str, Array]:
        if not 0 <= k < len(self):
            raise DataError(f"there is no shard {k}: they are numbered from 0 to {len(self) - 1}")
        return map_arrays(
            self.path(k), self.layouts[k], f"shard {k} of {self.provenance.source.name}"
        )

    def open(self, k: int) -> Shard:
        """Give the k-th shard, mapped from its file."""
        arrays = self._arrays(k)
        return Shard(*(arrays[name] for name in Shard._fields))

    def items(self, k: int) -> Array:
        """Give the ids of the k-th shard's items, in its order, shape (items,)."""
        values = unpack_vocabulary("items", None, self._arrays(k))
        if self.ids != VALUES:
            return values
        import pyarrow as pa

        return unpacked(Ids(VALUES, pa.array(values, pa.large_string())))

    def gather(self) -> Annotations:
        """Give all labels in memory, as :func:`coterie.read` would: there must be room for them."""
        shards = [self.open(k) for k in range(len(self))]
        ids = [self.items(k) for k in range(len(self))]
        values = np.concatenate(ids) if ids else np.zeros(0, object)
        items = in_order(Coded(np.arange(len(values)), values))
        label = np.concatenate([np.diff(shard.item_start) for shard in shards])
        item = np.repeat(items.codes, label)
        gold = np.empty(len(values), np.int32)
        gold[items.codes] = np.concatenate([shard.gold for shard in shards])
        codes = encode(
            item,
            np.concatenate([shard.item_annotator for shard in shards]),
            np.concatenate([shard.item_answer for shard in shards]),
            sizes=(self.n_items, self.n_annotators, self.n_classes, self.n_answers),
            gold=gold,
        )
        return Annotations(
            items.values,
            self.annotators,
            self.classes,
            self.extra_answers,
            codes,
            provenance=self.provenance,
        )

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
