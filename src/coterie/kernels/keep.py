"""What a block of sweeps keeps: a draw after every so many sweeps, written by the kernel itself.

A call into a kernel takes about as long as several sweeps of a small crowd. Blocks therefore hold
many draws, and the kernel writes each of them when it is due.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie.data.codes import Codes
from coterie.kernels.layout import PLAIN, Layout
from coterie.kernels.record import Tally, Trace
from coterie.kernels.vote import ClearVotes
from coterie.numeric.draws import draw_dirichlet
from coterie.numeric.jit import part, piece

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


class Streams(NamedTuple):
    """A chain's sources of randomness.

    What is kept never changes where the chain goes: the draws of matrices have a stream of their
    own. Annotators without labels have one too, so that they change nobody's bits.
    """

    moves: np.random.Generator
    draws: np.random.Generator
    spare: np.random.Generator


class Keep(NamedTuple):
    """Room for the draws of a whole run, filled from the front."""

    every: int  # sweeps per draw; 0 keeps nothing: burn-in
    matrices_every: int  # draws per draw whose matrices are kept
    used: LongArray  # (3,)   sweeps counted, draws and matrices written
    n_coteries: LongArray  # (draws,)
    vote_agreement: FloatArray  # (draws,)   share of the clear votes that are the truth
    partition: IntArray  # (draws, annotators)
    confusion_sum: FloatArray  # (annotators, classes, answers)   means given each draw, summed
    confusion: NDArray[Any]  # (matrices, annotators, classes, answers)
    class_balance: FloatArray  # (matrices, classes)
    per_draw: FloatArray  # (matrices, columns)   what the kernel's layout says
    vote: ClearVotes
    row: FloatArray  # (answers,)   room for one row of a matrix


class Record(NamedTuple):
    """All that a block of sweeps writes to."""

    tally: Tally
    trace: Trace
    keep: Keep


def new_keep(
    data: Codes,
    vote: ClearVotes,
    *,
    draws: int,
    every: int,
    matrices_every: int = 1,
    layout: Layout = PLAIN,
) -> Keep:
    """Make room for so many draws; the system gives memory only to what is written."""
    n_annotators, matrices = len(data.annotator_start) - 1, draws // matrices_every
    matrix = (n_annotators, data.n_classes, data.n_answers)
    return Keep(
        every=every,
        matrices_every=matrices_every,
        used=np.zeros(3, np.int64),
        n_coteries=np.zeros(draws, np.int64),
        vote_agreement=np.full(draws, np.nan),  # until the kernel has looked
        partition=np.zeros((draws, n_annotators), np.int32),
        confusion_sum=np.zeros(matrix),
        confusion=np.zeros((matrices, *matrix), np.float32),
        class_balance=np.zeros((matrices, data.n_classes)),
        per_draw=np.zeros((matrices, layout.n_draw_columns)),
        vote=vote,
        row=np.zeros(data.n_answers),
    )


def keep_nothing(data: Codes) -> Keep:
    """Give a record without draws, for sweeps alone."""
    nobody = np.zeros(0, np.int32)
    return new_keep(data, ClearVotes(nobody, nobody), draws=0, every=0)


@piece
def draw_is_due(keep: Keep) -> bool:
    """Count a sweep, and say whether the state after it is kept as a draw."""
    if keep.every == 0:
        return False
    keep.used[0] += 1
    return bool(keep.used[0] % keep.every == 0)


@piece
def matrices_are_due(keep: Keep) -> bool:
    """Say whether the draw that is being written has matrices."""
    return bool((keep.used[1] + 1) % keep.matrices_every == 0)


@piece
def finish_draw(keep: Keep) -> None:
    """Count the draw that has been written."""
    keep.used[2] += matrices_are_due(keep)
    keep.used[1] += 1


@part
def keep_state(n_coteries: int, truth: IntArray, keep: Keep) -> None:
    """Write what every model keeps of its state: the number of coteries, how far z is the vote."""
    draw, vote = keep.used[1], keep.vote
    agree = 0
    for k in range(len(vote.item)):
        agree += truth[vote.item[k]] == vote.winner[k]
    keep.n_coteries[draw] = n_coteries
    keep.vote_agreement[draw] = agree / len(vote.item) if len(vote.item) > 0 else 1.0


@part
def keep_class_balance(
    class_total: LongArray, class_weight: FloatArray, rng: np.random.Generator, keep: Keep
) -> None:
    """Draw the class balance given the state, tau ~ Dir(n + eps mu), and keep it."""
    balance = keep.class_balance[keep.used[2]]
    for t in range(len(class_total)):
        balance[t] = class_total[t] + class_weight[t]
    draw_dirichlet(balance, rng)
