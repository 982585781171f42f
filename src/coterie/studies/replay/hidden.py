"""The labels of a dense data set, of which only some are known: revealed as they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coterie.data.annotations import Annotations
from coterie.data.codes import encode

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Hidden:
    """Every label there is, and which of them are known.

    Parameters
    ----------
    annotations
        All of it; its words stay the same whatever is known.
    item, annotator, answer
        Codes of each label, shape (labels,).
    known
        Which labels have been revealed, shape (labels,).
    """

    annotations: Annotations
    item: IntArray
    annotator: IntArray
    answer: IntArray
    known: NDArray[np.bool_]

    @property
    def waiting(self) -> IntArray:
        """Places of the labels that can still be asked for."""
        return np.flatnonzero(~self.known)

    def revealed(self, places: IntArray) -> Hidden:
        """Give the same with these labels known too."""
        known = self.known.copy()
        known[places] = True
        return replace(self, known=known)

    def seen(self) -> Annotations:
        """Give the annotations as far as they are known: all items and annotators, some labels."""
        a, known = self.annotations, self.known
        sizes = (a.n_items, a.n_annotators, a.n_classes, a.n_answers)
        triples = (self.item[known], self.annotator[known], self.answer[known])
        return replace(a, codes=encode(*triples, sizes=sizes, gold=a.codes.gold), times=None)

    def n_known(self) -> IntArray:
        """Count the known labels of each item."""
        n_items = self.annotations.n_items
        return np.bincount(self.item[self.known], minlength=n_items).astype(np.int64)


def hide(annotations: Annotations, start: int, rng: np.random.Generator) -> Hidden:
    """Hide all labels but so many of each item, which are drawn at random."""
    codes = annotations.codes
    item = annotations.item_of_label.astype(np.int64)
    order = np.lexsort((rng.random(len(item)), item))
    place = np.empty(len(item), np.int64)
    place[order] = np.arange(len(item)) - codes.item_start[item[order]]
    return Hidden(
        annotations,
        item,
        codes.item_annotator.astype(np.int64),
        codes.item_answer.astype(np.int64),
        place < start,
    )
