"""Whether the answers can be checked against each other at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.data.annotations import Annotations
from coterie.words.numbers import count, percent

THIN = 1.5
"""Labels an item, on average, below which most labels are one person's word."""

HARDLY = 0.05
"""Share of the items with a second label, or known, below which nothing can be checked."""


class Caveat(NamedTuple):
    """What to say before anything else, and whether anything more is worth saying."""

    sentence: str
    nothing: bool  # nothing can be checked: certainties and accuracies mean nothing


def caveat_of(a: Annotations) -> Caveat | None:
    """Say that the answers cannot be compared, or hardly; None where they can.

    Known labels check those who answered them, as a second answer does.

    Examples
    --------
    >>> import coterie
    >>> caveat_of(coterie.read([("q1", "ann", "yes"), ("q2", "bob", "no")])).nothing
    True
    >>> rows = [("q1", "ann", "yes"), ("q1", "bob", "no"), ("q2", "ann", "no")]
    >>> caveat_of(coterie.read(rows)) is None
    True
    """
    labelled = a.labels_per_item > 0
    n = int(labelled.sum())
    if not n:
        return None
    known = a.codes.gold[labelled] >= 0
    again = (a.labels_per_item[labelled] > 1) & (np.count_nonzero(a.labels_per_annotator) > 1)
    share = float((again | known).mean())
    if share < HARDLY:
        return Caveat(_nothing(a, int(again.sum()), n), nothing=True)
    if a.n_labels / n < THIN and share < 0.5:
        one = count(n - int((again | known).sum()), "item")
        sentence = (
            f"Little here can be checked: on {one} ({percent(1 - share)}) the label is one "
            "person's word, and how certain it looks says little. Ask for a second label first."
        )
        return Caveat(sentence, nothing=False)
    return None


def _nothing(a: Annotations, again: int, n: int) -> str:
    """Say why nothing can be checked, and what would help."""
    if np.count_nonzero(a.labels_per_annotator) == 1:
        why = "all answers are from one annotator, who can be compared with nobody"
        ask = "Ask a second person to label at least some of the items."
    else:
        some = f"{again:,} of {count(n, 'item')} have" if again else "no item has"
        why = f"{some} a second label, so nobody can be compared with anybody"
        ask = "Ask for a second label on at least some of the items."
    return f"Nothing here can be checked: {why}, and certainty means nothing. {ask}"
