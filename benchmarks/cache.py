"""Compiled code of the sources as they are: what is measured, or tested, is what is there."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def folder() -> Path:
    """A cache named by all sources; older ones are removed.

    numba's own bookkeeping does not see edits in other files that a kernel calls.
    """
    digest = hashlib.sha256()
    for name in ("src", "benchmarks"):
        for path in sorted((ROOT / name).rglob("*.py")):
            digest.update(path.read_bytes())
    found = ROOT / ".cache" / f"compiled-{digest.hexdigest()[:12]}"
    for other in found.parent.glob("compiled-*"):
        if other != found:
            shutil.rmtree(other, ignore_errors=True)
    return found
