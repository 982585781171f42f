"""Items of known kinds: everybody has rows, and every kind class proportions, of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.soft.engine import is_counted
from coterie.kernels.soft.items import Start, Whole
from coterie.kernels.soft.parts import Sums, Weights

FloatArray = NDArray[np.float64]


def split_by_kind(codes: Codes, kind: NDArray[np.int32], n_kinds: int) -> Codes:
    """Give the labels as those of pairs: annotator l is l K + k for items of kind k.

    By item only, which is what the soft engine reads; the pairs' own order is left out.

    Examples
    --------
    >>> from coterie.data.codes import encode
    >>> codes = encode([0, 0, 1], [0, 1, 1], [0, 1, 1], sizes=(2, 2, 2, 2))
    >>> split_by_kind(codes, np.array([0, 1], np.int32), 2).item_annotator
    array([0, 2, 3], dtype=int32)
    """
    of_label = np.repeat(kind, np.diff(codes.item_start))
    n_pairs = (len(codes.annotator_start) - 1) * n_kinds
    return codes._replace(
        item_annotator=(codes.item_annotator * n_kinds + of_label).astype(np.int32),
        annotator_start=np.zeros(n_pairs + 1, codes.annotator_start.dtype),
    )


class OfKinds(Whole):
    """All items in one place, each of a known kind: the prior's rows and total cells are kinds'.

    Parameters
    ----------
    codes
        The labels.
    kind
        The kind of each item, shape (items,).
    n_kinds
        How many there are.
    """

    def __init__(self, codes: Codes, kind: NDArray[np.int32], n_kinds: int) -> None:
        super().__init__(split_by_kind(codes, kind, n_kinds))
        self.kind, self.n_kinds = kind, n_kinds

    def count(self, start: Start, n_cells: int) -> Sums:
        """Sum what is expected under given probabilities."""
        return self._by_kind(super().count(start, n_cells))

    def sweep(self, weights: Weights) -> Sums:
        """Weigh all items, with a prior of shape (kinds, cells), and sum what is expected."""
        return self._by_kind(super().sweep(weights._replace(prior=weights.prior[self.kind])))

    def _by_kind(self, sums: Sums) -> Sums:
        """Give the totals of cells kind by kind, shape (kinds, cells), in the same fixed point."""
        counted = is_counted(self.codes)
        total = np.zeros((self.n_kinds, self.probability.shape[1]), np.int64)
        share = (self.probability[counted] * sums.scale + 0.5).astype(np.int64)
        np.add.at(total, self.kind[counted], share)
        return sums._replace(cell_total=total)
