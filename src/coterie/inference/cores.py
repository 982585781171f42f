"""How many cores there are for us: not all that the machine has may be ours."""

from __future__ import annotations

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux tells a container how much time it gets per period."""


def cores() -> int:
    """Count the cores that this process may use: those of its affinity, up to its CPU quota."""
    known = hasattr(os, "sched_getaffinity")  # not on macOS or Windows
    ours = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return max(1, min(ours, cpu_quota()))


def cpu_quota(file: Path = QUOTA) -> int:
    """Give the cores' worth of time that a container grants, rounded up; many if it has no limit.

    Examples
    --------
    >>> cpu_quota(Path("no/such/file")) > 1_000_000
    True
    """
    try:
        quota, period = file.read_text("ascii").split()
        return math.ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no container, another system, or "max"
        return 2**31
