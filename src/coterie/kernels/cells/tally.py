"""What a sweep over cells leaves behind about an item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.kernels.cells.space import Space
from coterie.kernels.record import Tally
from coterie.numeric.jit import piece


@piece
def tally_cells(
    i: int, probability: NDArray[np.float64], gold: int, space: Space, tally: Tally
) -> None:
    """Add the probabilities of item i's cells: to its classes, and to the columns of its kinds.

    A known class is certain to the last bit, whatever its cells add up to.
    """
    for f in range(len(probability)):
        tally_cell(i, f, tally.weight * probability[f], gold < 0, space, tally)
    if gold >= 0:
        tally.probability[i, gold] += tally.weight


@piece
def tally_cell(i: int, f: int, weight: float, to_class: bool, space: Space, tally: Tally) -> None:
    """Add what cell f of item i weighs: to its class, if that is open, and to its column."""
    t, column = np.uintp(space.class_of[f]), space.column[f]
    if to_class:
        tally.probability[i, t] += weight
    if column >= 0:
        tally.per_item[i, np.uintp(column)] += weight
