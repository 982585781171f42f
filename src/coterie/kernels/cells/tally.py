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
        weight = tally.weight * probability[f]
        if gold < 0:
            tally.probability[i, space.class_of[f]] += weight
        if space.column[f] >= 0:
            tally.per_item[i, space.column[f]] += weight
    if gold >= 0:
        tally.probability[i, gold] += tally.weight
