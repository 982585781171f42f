"""Which row of a pool a label is drawn from: rows that annotators or cells share.

A label of annotator l on an item in cell f is drawn from row ``row[l, f]`` of a pool. The engine
wants rows laid out (annotator, answer, cell): shared rows are copied there before a pass, and what
was counted is gathered after it, in whole numbers, so that the order does not matter.

A pool is an array (rows, answers, 1), the layout of an engine with one cell. Rows that nobody
shares, a row for each annotator and cell, need none of this: they lie as the engine wants them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

RowMap = NDArray[np.int32]  # (annotators, cells)


def spread_rows(pool: NDArray[Any], row: RowMap, out: NDArray[Any]) -> None:
    """Copy the rows of a pool, (rows, answers, 1), to everybody who draws from them.

    Examples
    --------
    >>> out = np.zeros((2, 2, 2))
    >>> pool = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])[:, :, None]
    >>> spread_rows(pool, np.array([[0, 1], [0, 2]], np.int32), out)
    >>> out[1].tolist()  # rows: answer, columns: cell
    [[0.9, 0.2], [0.1, 0.8]]
    """
    out[:] = pool[row, :, 0].swapaxes(1, 2)


def gather_rows(said: NDArray[Any], row: RowMap, n_rows: int) -> NDArray[Any]:
    """Add what everybody said, (annotators, answers, cells), up by rows: (rows, answers, 1).

    Examples
    --------
    >>> said = np.arange(8).reshape(2, 2, 2)
    >>> gather_rows(said, np.array([[0, 1], [0, 2]], np.int32), 3)[:, :, 0].tolist()
    [[4, 8], [1, 3], [5, 7]]
    """
    pool = np.zeros((n_rows, said.shape[1], 1), said.dtype)
    np.add.at(pool[:, :, 0], row, said.swapaxes(1, 2))
    return pool
