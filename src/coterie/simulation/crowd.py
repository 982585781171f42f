"""A crowd: what it said, and what only a simulation knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coterie.data.annotations import Annotations

FloatArray = NDArray[np.float64]


class People(NamedTuple):
    """The annotators of a crowd, and the classes its items are drawn from."""

    groups: list[str] | list[int]  # one name or number per annotator
    confusion: FloatArray  # (annotators, classes, answers), rows sum to one
    balance: FloatArray  # (classes,), sums to one


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

    def __post_init__(self) -> None:
        self.confusion.setflags(write=False)

    def __repr__(self) -> str:
        sizes = self.groups.value_counts()
        if len(sizes) <= 8 and isinstance(sizes.index[0], str):
            groups = "groups: " + ", ".join(f"{name} {size}" for name, size in sizes.items())
        else:  # numbers say nothing
            groups = f"{len(sizes)} group{'s' if len(sizes) > 1 else ''}"
        return f"<Crowd: {self.annotations.describe()}; {groups}>"
