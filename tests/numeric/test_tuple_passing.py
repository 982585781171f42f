"""Tuples of arrays that go from function to function in few numbers are the same tuples."""

from typing import NamedTuple

import numpy as np
import pytest

from coterie.kernels.keep import Streams
from coterie.kernels.record import Tally
from coterie.numeric import jit

pytestmark = pytest.mark.skipif(not jit.COMPILES, reason="nothing is compiled")


class Foreign(NamedTuple):
    weight: float
    probability: np.ndarray
    sweeps: np.ndarray
    per_item: np.ndarray


@jit.part
def look_at(array, seen):
    """All that numba knows of an array."""
    seen[0], seen[1], seen[6] = array.size, array.itemsize, array[1, 2]
    seen[2], seen[3] = array.shape
    seen[4], seen[5] = array.strides


@jit.part
def look(tuple_, seen):
    look_at(tuple_.probability, seen[0])
    look_at(tuple_.per_item, seen[1])
    seen[2, 0] = tuple_.weight
    seen[2, 1] = tuple_.sweeps[-1]


@jit.kernel
def run(tuple_, seen):
    look(tuple_, seen)
    tuple_.probability[:] += 1
    tuple_.sweeps[0] = tuple_.sweeps.sum()


ARRAYS = {
    "side by side": np.arange(12.0).reshape(3, 4),
    "of small cells": np.arange(12, dtype=np.int8).reshape(3, 4),
    "the other way": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "every other": np.arange(48.0).reshape(6, 8)[::2, ::2],
    "one row more": np.arange(9.0).reshape(3, 3),
}


@pytest.mark.parametrize("kind", [Tally, Foreign])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_all_there_again(kind, name):
    array, other = ARRAYS[name], np.arange(21, dtype=np.int32).reshape(3, 7)
    given = kind(0.5, array.copy(order="K") if name != "every other" else array, np.ones(3), other)
    seen, values = np.zeros((3, 7)), given.probability.copy()
    run(given, seen)
    for place, one in enumerate((values, other)):
        strides = (given.probability, other)[place].strides
        assert seen[place].tolist() == [one.size, one.itemsize, *one.shape, *strides, one[1, 2]]
    assert seen[2, :2].tolist() == [0.5, 1.0]
    assert (given.probability == values + 1).all()
    assert given.sweeps.tolist() == [3, 1, 1]


def test_nobody_keeps_what_was_handed_over():
    import sys

    @jit.part
    def draw(streams, out):
        out[0] = streams.moves.random() + streams.spare.random()

    @jit.kernel
    def draw_once(streams, tally, out):
        draw(streams, out)
        tally.sweeps[0] += out[0]

    streams = Streams(*(np.random.default_rng(seed) for seed in range(3)))
    tally = Tally(1.0, np.zeros((2, 2)), np.zeros(1), np.zeros((2, 0)))
    counted = [*streams, tally.probability, tally.sweeps, tally.per_item]
    draw_once(streams, tally, np.zeros(1))
    before = [sys.getrefcount(one) for one in counted]
    for _ in range(5):
        draw_once(streams, tally, np.zeros(1))
    assert [sys.getrefcount(one) for one in counted] == before
    moves, spare = np.random.default_rng(0), np.random.default_rng(2)
    assert tally.sweeps[0] == sum(moves.random() + spare.random() for _ in range(6))
