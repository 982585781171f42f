"""What is done, on disk: one line per job, never half a line, so that a run can go on.

A kill at any moment loses at most the jobs that were running.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from coterie.files.paths import naming

Line = dict[str, Any]


class Journal:
    """The lines of a folder, by the names of the jobs.

    Parameters
    ----------
    folder
        Where the lines are, ``<kind>.jsonl``; made with the first of them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: dict[str, Line] = {}
        for path in sorted(folder.glob("*.jsonl")):
            for line in _whole_lines(path):
                self.lines.setdefault(line["job"], line)

    def __contains__(self, name: str) -> bool:
        return name in self.lines

    def add(self, kind: str, line: Line) -> None:
        """Append a line, whole or not at all; its ``job`` is the name."""
        path = self.folder / f"{kind}.jsonl"
        written = f"{json.dumps(line, separators=(',', ':'))}\n".encode()
        with naming(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as file:
                before = file.tell()
                try:
                    if file.write(written) < len(written):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    file.truncate(before)
                    raise
        self.lines[line["job"]] = line


def _whole_lines(path: Path) -> Iterator[Line]:
    """Read the lines of a file; cut off a last one that a kill left unfinished."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)
    for line in content[:whole].splitlines():
        with suppress(ValueError):  # damaged: its job is done again
            found = json.loads(line)
            if isinstance(found, dict) and isinstance(found.get("job"), str):
                yield found
