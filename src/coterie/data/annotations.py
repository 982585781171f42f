"""Annotations: who said what about which item, as vocabularies and integer codes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import (
    Array,
    Codes,
    IntArray,
    Times,
    count_pairs,
    count_votes,
    gold_codes,
    item_order,
)  # fmt: skip
from coterie.data.frames import table
from coterie.data.provenance import Format, Gold, Provenance, Source
from coterie.words.names import as_html
from coterie.words.numbers import count

if TYPE_CHECKING:
    import pandas as pd


class Vocabularies:
    """What labels in memory and labels in shards share: who answers, and what can be said."""

    annotators: Array
    classes: Array
    extra_answers: Array

    @property
    def n_annotators(self) -> int:
        """Number of annotators, those without labels included."""
        return len(self.annotators)

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
        some = len(self.extra_answers)
        return np.concatenate([self.classes, self.extra_answers]) if some else self.classes


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Vocabularies):
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
        one column per annotator; empty if there were none.
    origin
        One line on where they were read from and which columns were taken; may be empty.
    provenance
        What they were read from, and how; ``columns`` and ``origin`` are then made from it.
    times
        When every label was given, where that was read.

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
    provenance: Provenance | None = None
    times: Times | None = None

    def __post_init__(self) -> None:
        if self.provenance is not None:  # so that the three cannot disagree
            object.__setattr__(self, "columns", self.provenance.columns)
            object.__setattr__(self, "origin", self.provenance.sentence())
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
    def n_labels(self) -> int:
        """Number of labels, repeated ones included."""
        return len(self.codes.item_answer)

    @property
    def labels_per_item(self) -> NDArray[np.int64]:
        """Number of labels of each item, shape (items,)."""
        return np.diff(self.codes.item_start)

    @property
    def labels_per_annotator(self) -> NDArray[np.int64]:
        """Number of labels of each annotator, shape (annotators,)."""
        return np.diff(self.codes.annotator_start)

    @cached_property
    def votes(self) -> IntArray:
        """Labels of each class of each item, shape (items, classes); counted once."""
        votes = count_votes(self.codes)
        votes.setflags(write=False)
        return votes

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

    def with_gold_codes(self, gold: Array, origin: Gold | None = None) -> Annotations:
        """Give the same annotations with other known classes, one per item, -1 where unknown."""
        codes = gold_codes(gold, self.n_items, self.n_classes)
        codes.setflags(write=False)
        known = self.codes._replace(gold=codes)
        origin = origin or Gold(source=Source("known classes", Format.CODES))
        found = self.provenance and replace(self.provenance, gold=origin)
        return replace(self, codes=known, provenance=found)

    @table
    def to_frame(self) -> pd.DataFrame:
        """One row per label: item, annotator, label, time if known; by item, then annotator."""
        import pandas as pd

        times = self.times
        return pd.DataFrame(
            {
                "item": self.items[self.item_of_label],
                "annotator": self.annotators[self.codes.item_annotator],
                "label": self.answers[self.codes.item_answer],
                **({} if times is None else {"time": times.time[item_order(times)]}),
            }
        )

    def __repr__(self) -> str:
        return f"<Annotations: {self.describe()}>"

    def _repr_html_(self) -> str:
        return as_html(repr(self), [self.to_frame()])

    def describe(self) -> str:
        """Say in one line how large and how full the data are."""
        parts = [
            f"{count(self.n_items, 'item')} x {count(self.n_annotators, 'annotator')}",
            count(self.n_labels, "label"),
            count(self.n_classes, "class", "classes"),
        ]
        if len(self.extra_answers):
            parts.append(count(len(self.extra_answers), "extra answer"))
        parts.append(f"{100 * self.sparsity:.1f} % missing")
        n_gold = int(np.count_nonzero(self.codes.gold >= 0))
        if n_gold:
            parts.append(f"{n_gold:,} gold")
        return ", ".join(parts)
