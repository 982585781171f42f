"""A crowd: what it said, and what only a simulation knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations

FloatArray = NDArray[np.float64]


class HardItems(NamedTuple):
    """Items that are answered by guesses, whoever answers and whatever is true."""

    share: FloatArray  # (kinds,)     of the items, sums to one
    guessing: FloatArray  # (kinds,)     share of guesses on items of each kind
    guess: FloatArray  # (answers,)   what a guess is, sums to one


class Copycats(NamedTuple):
    """Who copies whom, and how often."""

    source: NDArray[np.int64]  # (annotators,)   the one who is copied, -1 for nobody
    share: FloatArray  # (annotators,)   of the answers


class ItemKinds(NamedTuple):
    """Kinds of items, each answered by other matrices."""

    names: tuple[str, ...]
    share: FloatArray  # (kinds,)   of the items, sums to one
    confusion: FloatArray  # (kinds, annotators, classes, answers)


class Turn(NamedTuple):
    """Matrices before and after the middle of everybody's labels."""

    before: FloatArray  # (annotators, classes, answers)
    after: FloatArray


class People(NamedTuple):
    """The annotators of a crowd, and the classes its items are drawn from."""

    groups: list[str] | list[int]  # one name or number per annotator
    confusion: FloatArray  # (annotators, classes, answers), rows sum to one
    balance: FloatArray  # (classes,), sums to one
    hard: HardItems | None = None  # None: no item is hard
    copycats: Copycats | None = None  # None: nobody copies
    kinds: ItemKinds | None = None  # None: all items are answered alike
    turn: Turn | None = None  # None: nobody changes


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """Annotations whose truth is known. Made by :func:`coterie.simulate`.

    Parameters
    ----------
    annotations
        Who said what about which item; no gold labels.
    truth
        Series item -> label.
    groups
        Series annotator -> group: a name in the named crowds, a number in prior draws.
    confusion
        Every annotator's true matrix, shape (annotators, classes, answers): the rows are the true
        classes and sum to one.
    copied
        Series annotator -> the annotator whose answers are copied; missing for who copies nobody.
    kinds
        Series item -> kind, in crowds whose items have kinds.

    Examples
    --------
    >>> from coterie.simulation import simulate
    >>> simulate("mixed", random_state=0)
    <Crowd: 300 items x 30 annotators, 1,800 labels, 3 classes, 80.0 % missing;
    groups: novice 11, expert 8, spammer 6, biased 4, adversary 1>
    """

    annotations: Annotations
    truth: pd.Series
    groups: pd.Series
    confusion: FloatArray
    copied: pd.Series | None = None
    kinds: pd.Series | None = None

    def __post_init__(self) -> None:
        self.confusion.setflags(write=False)

    def __repr__(self) -> str:
        sizes = self.groups.value_counts()
        if len(sizes) <= 8 and isinstance(sizes.index[0], str):
            groups = "groups: " + ", ".join(f"{name} {size}" for name, size in sizes.items())
        else:  # numbers say nothing
            groups = f"{len(sizes)} group{'s' if len(sizes) > 1 else ''}"
        return f"<Crowd: {self.annotations.describe()}; {groups}>"
