"""Uniform numbers that are looked up, not drawn in turn: by seed, chain, sweep, item and place.

Philox 4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, 2011) turns a counter of 128 bits into
128 bits that look random, under a key of 64. The key is of the run and its chain; the counter is
the sweep, the place among the draws of the item, and the item's own key. So an item's numbers are
the same whoever draws them, in whatever order, and none is ever used twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.numeric.jit import piece

ROUNDS = 10
MASK, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
FIRST, SECOND = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
GOLDEN, ROOT = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
DROPPED, UNIT = np.uint64(11), 2.0**-53


class Stream(NamedTuple):
    """The numbers of one sweep of one chain."""

    low: int  # of the chain's key, 32 bits each
    high: int
    sweep: int


def stream_of(seed: np.random.SeedSequence, sweep: int = 0) -> Stream:
    """Give the numbers of a chain, which are of the seed and of nothing that was drawn from it.

    Examples
    --------
    >>> stream_of(np.random.SeedSequence(1), sweep=7)
    Stream(low=1835504127, high=1731038949, sweep=7)
    """
    low, high = seed.generate_state(2, np.uint32).tolist()
    return Stream(low, high, sweep)


@piece
def philox(
    counter: tuple[np.uint64, np.uint64, np.uint64, np.uint64], low: np.uint64, high: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Scramble a counter of four words of 32 bits.

    Examples
    --------
    >>> nothing = np.uint64(0)
    >>> [hex(word) for word in philox((nothing,) * 4, nothing, nothing)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    a, b, c, d = counter
    for _ in range(ROUNDS):
        first, second = a * FIRST, c * SECOND
        a, b = (second >> HALF) ^ b ^ low, second & MASK
        c, d = (first >> HALF) ^ d ^ high, first & MASK
        low, high = (low + GOLDEN) & MASK, (high + ROOT) & MASK
    return a, b, c, d


@piece
def uniforms(stream: Stream, key: np.uint64, place: int) -> tuple[float, float]:
    """Give two uniform numbers in [0, 1): the item's, by its key, at an even place and the next.

    Examples
    --------
    >>> first, second = uniforms(Stream(1, 2, 3), np.uint64(4), 0)
    >>> 0 <= first < 1, 0 <= second < 1, uniforms(Stream(1, 2, 3), np.uint64(4), 0)[0] == first
    (True, True, True)
    """
    item = np.uint64(key)
    counter = (np.uint64(stream.sweep), np.uint64(place), item & MASK, item >> HALF)
    a, b, c, d = philox(counter, np.uint64(stream.low), np.uint64(stream.high))
    first, second = ((a << HALF) | b) >> DROPPED, ((c << HALF) | d) >> DROPPED
    return float(first) * UNIT, float(second) * UNIT
