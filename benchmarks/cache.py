"""Compiled code of the sources as they are: what is measured, or tested, is what is there."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]


def folder() -> Path:
    """A cache named by all sources; older ones are removed.

    numba's own bookkeeping does not see edits in other files that a kernel calls.
    """
    digest = hashlib.sha256()
    for path in compiled_sources():
        digest.update(path.read_bytes())
    found = ROOT / ".cache" / f"compiled-{digest.hexdigest()[:12]}"
    for other in found.parent.glob("compiled-*"):
        if other != found:
            shutil.rmtree(other, ignore_errors=True)
    return found


def compiled_sources() -> list[Path]:
    """Every file of a folder that holds compiled code: constants and named tuples lie there too."""
    folders = {
        path.parent
        for name in ("src", "benchmarks")
        for path in (ROOT / name).rglob("*.py")
        if re.search(r"^@(kernel|part|piece)$", path.read_text("utf-8"), re.MULTILINE)
    }
    types = {ROOT / "src/coterie/data/codes.py"}  # what crosses into the kernels
    return sorted(types | {path for folder in folders for path in folder.glob("*.py")})
