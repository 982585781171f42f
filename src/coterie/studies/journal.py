"""What is done, on disk: one line per job, never half a line, so that a run can go on.

A kill at any moment loses at most the jobs that were running. A line says which code made it: the
version, and a checksum of the files that compute.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from coterie.files.paths import naming
from coterie.version import __version__

COMPUTES = (
    *("data", "datasets", "diagnostics.py", "inference", "kernels", "metrics", "models", "numeric"),
    *("partition", "posterior", "priors", "roles", "simulation"),
)


class Journal:
    """The lines of a file, of JSON, by the names of the jobs; half a last one is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        content = path.read_bytes() if path.exists() else b""
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
        for line in content[:whole].splitlines():
            with suppress(ValueError):  # damaged: its job is done again
                found = json.loads(line)
                if isinstance(found, dict) and isinstance(found.get("job"), str):
                    self.lines.setdefault(found["job"], found)

    def __contains__(self, name: str) -> bool:
        return name in self.lines

    def add(self, line: dict[str, Any]) -> None:
        """Append a line, whole or not at all; its ``job`` is the name."""
        written = f"{json.dumps(line, separators=(',', ':'))}\n".encode()
        with naming(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                before = file.tell()
                try:
                    if file.write(written) < len(written):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    file.truncate(before)
                    raise
        self.lines[line["job"]] = line


def this_code(more: Sequence[str | Path] = (), root: Path | None = None) -> dict[str, str]:
    """Give the version, and a checksum of everything that can change a number.

    Pages, pictures and the command line are left out, so that they can be improved after a long
    run. ``more`` are files and folders of a study of its own, in the package (``root``) or
    elsewhere. It needs no version control, and is the same wherever the package lies.
    """
    root = Path(str(files("coterie"))) if root is None else root
    named = {}
    for place in (root / name for name in (*COMPUTES, *more)):
        for path in place.rglob("*.py") if place.is_dir() else [place]:
            inside = path.is_relative_to(root)
            named[path.relative_to(root).as_posix() if inside else path.name] = path
    digest = hashlib.sha256()
    for name, path in sorted(named.items()):
        # Line ends are not the code's: a checkout on Windows has others.
        content = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return {"version": __version__, "code": digest.hexdigest()[:12]}
