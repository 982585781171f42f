"""Times measured in turns, so that a busy machine is fair to all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

BLOCK = 0.05
"""Seconds that a block of sweeps should last: calling a kernel takes up to half a millisecond."""
LEAST = 4
"""Blocks of each, at least."""

clock = time.process_time
"""The time this process was running: what it waits for a core is not the sampler's. Fits have a
thread of their own for chains."""


def seconds_of(run: Callable[[int], object], n: int) -> float:
    start = clock()
    run(n)
    return clock() - start


def block_length(run: Callable[[int], object], block: float = BLOCK) -> int:
    """The number of sweeps that last about a block; they are run, which compiles, too."""
    run(1)
    n = 1
    while (taken := seconds_of(run, n)) < block / 2:
        n = max(2 * n, int(0.75 * n * block / max(taken, 1e-6)))
    return n


def in_turns(
    runs: Sequence[Callable[[int], object]], seconds: float = 3.0, block: float = BLOCK
) -> list[float]:
    """The seconds per sweep of each: the lower quartile of many blocks, run ABAB.

    What else the machine does only adds to a time; the very shortest block would be one in which
    a chain happened to have few clusters.
    """
    lengths = [block_length(run, block) for run in runs]
    taken: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds
    while len(taken[0]) < LEAST or time.perf_counter() < end:
        for run, n, times in zip(runs, lengths, taken, strict=True):
            times.append(seconds_of(run, n) / n)
    return [sorted(times)[len(times) // 4] for times in taken]
