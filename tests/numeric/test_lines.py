"""What one chain writes shares no cache line with anything else."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

from coterie.numeric.lines import LARGE, LINES, on_own_lines
from ladder.cases import LARGER, name
from ladder.sampler import all_states, at_work, real, start


class Pair(NamedTuple):
    number: int
    array: np.ndarray


class Nested(NamedTuple):
    table: np.ndarray
    pair: Pair
    large: np.ndarray


def arrays_in(value):
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_in(part)]
    return [value] if isinstance(value, np.ndarray) else []


def lines_of(array):
    """The numbers of the cache lines that an array lies on."""
    first = array.ctypes.data
    return set(range(first // LINES, (first + array.nbytes - 1) // LINES + 1))


def assert_apart(arrays):
    for one, other in itertools.combinations([a for a in arrays if 0 < a.nbytes <= LARGE], 2):
        assert not lines_of(one) & lines_of(other)


def test_values_types_and_shapes_stay_and_large_arrays_are_not_copied():
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    large = np.zeros(LARGE + 1, np.int8)
    moved = on_own_lines(Nested(table, Pair(7, np.zeros((0, 2))), large))
    assert moved.pair.number == 7
    assert moved.large is large
    assert moved.table.flags.c_contiguous
    assert moved.table.flags.writeable
    np.testing.assert_array_equal(moved.table, table, strict=True)
    assert moved.pair.array.shape == (0, 2)


def test_a_line_is_shared_with_nobody():
    moved = [on_own_lines(Pair(n, np.zeros(n))) for n in range(1, 40)]
    assert_apart([pair.array for pair in moved])
    assert all(pair.array.ctypes.data % LINES == 0 for pair in moved)


@pytest.mark.parametrize("case", LARGER, ids=name)
def test_two_chains_of_a_model_are_apart(case):
    sampler = real(case)
    states = [start(sampler, case, *all_states(case)[0]) for _ in range(2)]
    works = [at_work(sampler, case, state)[1] for state in states]
    assert_apart(arrays_in((*states, *works)))
