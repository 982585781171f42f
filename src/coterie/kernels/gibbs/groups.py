"""Groups of annotators under a CRP, in numbered slots: what cBCC and hcBCC share.

``slot`` is an ordering of the slot numbers: first the ``n_coteries`` that hold annotators, then (in
hcBCC) the auxiliaries, then the free ones. Opening and closing a group swaps two entries.
Annotators without labels have no group (-1) and are counted nowhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.draws import log_gamma_draws
from coterie.numeric.jit import int64, part, piece
from coterie.numeric.partitions import (
    canonical_groups,
    draw_log_concentration,
    log_crp,
    log_gamma_density,
)
from coterie.priors import Gamma

IntArray = NDArray[np.int32]

# As in the paper: alpha moves slowly, and an update costs next to nothing.
CONCENTRATION_UPDATES = 5


class Concentration(NamedTuple):
    """The prior of alpha: a fixed value, or Gamma(shape, rate)."""

    sampled: bool
    value: float
    shape: float
    rate: float


def pack_concentration(concentration: float | Gamma) -> Concentration:
    """Give a resolved prior of alpha as the kernels read it."""
    if isinstance(concentration, Gamma):
        shape, rate = np.asarray(concentration.shape), np.asarray(concentration.rate)
        return Concentration(True, math.nan, float(shape), float(rate))
    return Concentration(False, float(concentration), math.nan, math.nan)


def starting_concentration(prior: Concentration, rng: np.random.Generator) -> float:
    """Give the fixed log alpha, or draw it from its prior."""
    if not prior.sampled:
        return math.log(prior.value)
    return float(log_gamma_draws(np.array(prior.shape), rng)) - math.log(prior.rate)


def starting_groups(
    group: IntArray, data: Codes, n_auxiliaries: int = 0
) -> tuple[IntArray, IntArray, IntArray, NDArray[np.int64]]:
    """Seat the annotators who have labels: group, size, slot and n_coteries (1,).

    There are slots for as many groups as annotators, and for the auxiliaries: those without labels
    may open groups in a draw.
    """
    labelled = np.diff(data.annotator_start) > 0
    seats = canonical_groups(np.where(labelled, group, -1).astype(np.int32))
    n_slots = len(labelled) + n_auxiliaries
    size = np.bincount(seats[labelled], minlength=n_slots).astype(np.int32)
    n_coteries = np.array([np.count_nonzero(size)])
    return seats, size, np.arange(n_slots, dtype=np.int32), n_coteries


@piece
def swap(slot: IntArray, a: int, b: int) -> None:
    """Exchange two entries."""
    slot[a], slot[b] = slot[b], slot[a]


@piece
def close_group(m: int, slot: IntArray, n_coteries: NDArray[np.int64]) -> None:
    """Move slot m behind the groups."""
    n_coteries[0] -= 1
    place = 0
    while slot[place] != m:
        place += 1
    swap(slot, place, n_coteries[0])


@part
def update_concentration(
    log_concentration: NDArray[np.float64],
    size: IntArray,
    n_coteries: NDArray[np.int64],
    prior: Concentration,
    rng: np.random.Generator,
) -> None:
    """Draw log alpha given the sizes of the groups, in place, unless it is fixed."""
    if not prior.sampled:
        return
    people = int64(0)
    for m in range(len(size)):
        people += size[m]
    for _ in range(CONCENTRATION_UPDATES):
        log_concentration[0] = draw_log_concentration(
            log_concentration[0], (people, n_coteries[0]), (prior.shape, prior.rate), rng
        )


@piece
def log_partition(size: IntArray, log_concentration: float, prior: Concentration) -> float:
    """Give log p(q | alpha) p(alpha), the latter only if alpha is sampled."""
    result = log_crp(size, log_concentration)
    if prior.sampled:
        result += log_gamma_density(log_concentration, prior.shape, prior.rate)
    return result
