"""Problems small enough to enumerate."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from coterie.data.codes import Codes, encode


@dataclass(frozen=True)
class Problem:
    """Who said what about which item, as triples (item, annotator, answer)."""

    n_items: int
    n_annotators: int
    n_classes: int
    n_answers: int
    labels: tuple[tuple[int, int, int], ...]
    gold: dict[int, int] = field(default_factory=dict)

    @cached_property
    def codes(self) -> Codes:
        item, annotator, answer = np.array(self.labels, int).reshape(-1, 3).T
        gold = np.full(self.n_items, -1)
        gold[list(self.gold)] = list(self.gold.values())
        sizes = (self.n_items, self.n_annotators, self.n_classes, self.n_answers)
        return encode(item, annotator, answer, sizes=sizes, gold=gold)

    @property
    def counted(self) -> list[int]:
        """Items that are part of the model: labelled, or known."""
        return sorted({i for i, _, _ in self.labels} | self.gold.keys())

    @property
    def free(self) -> list[int]:
        """Items whose truth is unknown."""
        return [i for i in self.counted if i not in self.gold]

    @property
    def active(self) -> list[int]:
        """Annotators that are part of the model: those with labels."""
        return sorted({l for _, l, _ in self.labels})


TWO_CLASSES = Problem(
    n_items=3,
    n_annotators=3,
    n_classes=2,
    n_answers=2,
    labels=((0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1), (1, 1, 1), (2, 1, 0), (2, 2, 0)),
)

# Three classes and an answer that is never true; a known item with labels, a known item and an
# item without any, an annotator without any, and annotators who repeat themselves.
THREE_CLASSES = Problem(
    n_items=6,
    n_annotators=4,
    n_classes=3,
    n_answers=4,
    labels=(
        *((0, 0, 0), (0, 0, 0), (0, 1, 0), (0, 3, 3)),
        *((1, 0, 2), (1, 1, 1), (1, 1, 2), (1, 1, 1)),
        *((2, 1, 2), (2, 3, 2)),
        *((4, 0, 1), (4, 3, 1)),
    ),
    gold={4: 1, 5: 2},
)

# Two classes, for which the samplers have a way of their own, and repeated labels in every place:
# first and second, second and third, at the end of an odd number. A third answer, a known item.
TWO_REPEATED = Problem(
    n_items=4,
    n_annotators=3,
    n_classes=2,
    n_answers=3,
    labels=(
        *((0, 0, 0), (0, 0, 1)),
        *((1, 0, 1), (1, 1, 1), (1, 1, 0)),
        *((2, 0, 0), (2, 1, 2), (2, 1, 2), (2, 2, 1)),
        *((3, 2, 1),),
    ),
    gold={3: 1},
)
