"""A result that takes little room: fewer draws of matrices, in half precision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.posterior.draws import DrawnArray, Draws

if TYPE_CHECKING:
    from coterie.posterior.posterior import Posterior

MOST = 500
"""Draws, of all chains together, whose matrices are kept."""
LEAST = 100
"""So many are kept however large the crowd is."""
BYTES = 16 * 2**20
"""Room for matrices that is not exceeded by more than ``LEAST`` draws."""


def compact(posterior: Posterior) -> Posterior:
    """Give the same result with less to keep; see :meth:`coterie.Posterior.compact`."""
    if posterior.draws is None:
        return posterior
    return replace(posterior, draws=fewer_draws(posterior.draws))


def fewer_draws(draws: Draws) -> Draws:
    """Keep every so many of the draws that have matrices, and matrices in half precision.

    Matrices go with every so many of the partitions: draws at the end that would break this are
    cut from both.
    """
    chains, n = draws.confusion.shape[:2]
    each = most_draws(int(np.prod(draws.confusion.shape[2:]))) // max(chains, 1)
    step = -(-n // max(each, 1)) if n else 1
    kept, per_matrix = n // step, 1
    if draws.partition is not None and n:
        per_matrix = draws.partition.shape[1] // n
    some = slice(step - 1, kept * step, step)
    seats = slice(0, kept * step * per_matrix if n % step else None)
    return replace(
        draws,
        confusion=draws.confusion[:, some].astype(np.float16).astype(np.float32),
        class_balance=draws.class_balance[:, some],
        partition=None if draws.partition is None else draws.partition[:, seats],
        n_coteries=None if draws.n_coteries is None else draws.n_coteries[:, seats],
        extra={
            name: DrawnArray(one.dims, one.values[:, some]) for name, one in draws.extra.items()
        },
    )


def most_draws(cells: int) -> int:
    """Give how many draws are kept of matrices that have so many cells together.

    Examples
    --------
    >>> most_draws(825 * 16), most_draws(825 * 64), most_draws(10**6)
    (500, 158, 100)
    """
    return int(np.clip(BYTES // (2 * max(cells, 1)), LEAST, MOST))
