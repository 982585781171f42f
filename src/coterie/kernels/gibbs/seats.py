"""A seat for everybody: in a draw, annotators without labels are seated as newcomers.

One more annotator joins a coterie with probability proportional to its size, and opens one with
probability proportional to the concentration. They are seated once per draw, those who open a
coterie in slots that are free: the partition and the matrices that are kept follow from one seat.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Seats(NamedTuple):
    """Where everybody sits, and room to work in."""

    seat: IntArray  # (annotators,)   a slot
    people: IntArray  # (annotators,)   in the order in which they sat down
    noted: IntArray  # (slots,)   a number by slot; each function that uses it begins afresh
    newcomer: FloatArray  # (classes, answers)   the mean matrix of an annotator without labels


def new_seats(n_slots: int, data: Codes) -> Seats:
    """Give room to seat everybody."""
    n_annotators = len(data.annotator_start) - 1
    return Seats(
        seat=np.zeros(n_annotators, np.int32),
        people=np.zeros(n_annotators, np.int32),
        noted=np.zeros(n_slots, np.int32),
        newcomer=np.zeros((data.n_classes, data.n_answers)),
    )


@part
def seat_everybody(
    group: IntArray, free: IntArray, log_concentration: float, spare: np.random.Generator,
    seats: Seats,
) -> int:  # fmt: skip
    """Seat everybody: those with labels in their group, the others one after the other.

    Newcomers who open coteries take the ``free`` slots from the first on; how many is returned.

    Examples
    --------
    >>> group, free = np.array([2, -1, 2, 0], np.int32), np.array([1], np.int32)
    >>> seats = Seats(*np.zeros((2, 4), np.int32), np.zeros(3, np.int32), np.zeros((2, 2)))
    >>> seat_everybody(group, free, -20.0, np.random.default_rng(1), seats), seats.seat.tolist()
    (0, [2, 2, 2, 0])
    >>> seat_everybody(group, free, 20.0, np.random.default_rng(1), seats), seats.seat.tolist()
    (1, [2, 1, 2, 0])
    """
    n_people, n_opened, concentration = 0, 0, math.exp(log_concentration)
    for l in range(len(group)):
        seats.seat[l] = group[l]
        if group[l] >= 0:
            seats.people[n_people] = l
            n_people += 1
    if n_people == len(group):
        return 0
    for l in range(len(group)):
        if group[l] < 0:
            # Sitting with a random person is joining a coterie in proportion to its size.
            place = spare.random() * (n_people + concentration)
            if place < n_people:
                seats.seat[l] = seats.seat[seats.people[int(place)]]
            else:
                seats.seat[l] = free[n_opened]
                n_opened += 1
            seats.people[n_people] = l
            n_people += 1
    return n_opened


@part
def write_partition(seats: Seats, out: IntArray) -> None:
    """Write the partition in canonical form: seats numbered by first appearance, out (L,).

    Examples
    --------
    >>> out, nothing = np.zeros(3, np.int32), np.zeros((2, 2))
    >>> write_partition(Seats(np.array([4, 1, 4]), out, np.zeros(5, np.int32), nothing), out)
    >>> out
    array([0, 1, 0], dtype=int32)
    """
    forget(seats)
    n_coteries = 0
    for l in range(len(out)):
        m = seats.seat[l]
        if seats.noted[m] < 0:
            seats.noted[m] = n_coteries
            n_coteries += 1
        out[l] = seats.noted[m]


@piece
def forget(seats: Seats) -> None:
    """Note nothing about any slot."""
    for m in range(len(seats.noted)):
        seats.noted[m] = -1


@piece
def count_people(group: IntArray) -> int:
    """Count the annotators who have labels."""
    n_people = 0
    for l in range(len(group)):
        n_people += group[l] >= 0
    return int(n_people)


@piece
def share_of_new(n_people: int, log_concentration: float) -> float:
    """Give the chance that one more annotator opens a coterie, alpha / (L + alpha).

    Examples
    --------
    >>> share_of_new(3, 0.0)
    0.25
    """
    concentration = math.exp(log_concentration)
    return concentration / (n_people + concentration)


@piece
def add_newcomers(group: IntArray, n_kinds: int, newcomer: FloatArray, out: FloatArray) -> None:
    """Add the mean matrix of a newcomer to that of everybody without labels, out (L, T, C).

    With kinds everybody has as many places in ``group``, side by side: all of them or none.
    """
    n_classes, n_answers = newcomer.shape
    for l in range(len(out)):
        if group[l * n_kinds] < 0:
            for t in range(n_classes):
                for c in range(n_answers):
                    out[l, t, c] += newcomer[t, c]
