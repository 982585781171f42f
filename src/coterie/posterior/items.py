"""Numbers that a model gives to every item beside the probabilities of its classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ItemNumbers:
    """Some numbers per item, such as how probable each kind of item is.

    Parameters
    ----------
    columns
        What the numbers are.
    values
        Shape (items, columns).
    """

    columns: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def is_single(self) -> bool:
        """Whether there is one number per item: it is then a column of the labels too."""
        return len(self.columns) == 1
