"""Not too often: lines of progress where a bar cannot be."""

from __future__ import annotations

import time
from collections.abc import Callable

LINE_SECONDS = 10.0
"""In a pipe, a line of progress at most this often."""


class Pulse:
    """Says every ten seconds that ten seconds are over.

    Parameters
    ----------
    clock
        Gives the time in seconds.

    Examples
    --------
    >>> times = iter([0, 3, 11, 12, 21])
    >>> pulse = Pulse(lambda: next(times))
    >>> [pulse.due() for _ in range(4)]
    [False, True, False, True]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Count from now on: what came before was not the work."""
        self.start = self.last = self._clock()

    def due(self) -> bool:
        """Tell whether the last line was long enough ago; if so, this is one."""
        now = self._clock()
        if now - self.last < LINE_SECONDS:
            return False
        self.last = now
        return True
