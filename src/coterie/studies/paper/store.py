"""The folder of a reproduction: what was done, one line a job, never half a line.

``settings.json`` says what the folder is for; ``jobs/<kind>.jsonl`` holds the results as they
came. A kill at any moment loses at most the jobs that were running.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from coterie.errors import DataError
from coterie.files.atomic import text_writer, write_file
from coterie.studies.paper.code import this_code
from coterie.studies.paper.job import Job, Outcome
from coterie.studies.paper.settings import Settings

Line = dict[str, Any]

NUMBER = r"(?:-?\d[\d.eE+-]*|null)"
NUMBERS = re.compile(rf"\[\s+({NUMBER}(?:,\s+{NUMBER})*)\s+\]")
"""A list of numbers in indented JSON."""


class Store:
    """Results on disk.

    Parameters
    ----------
    folder
        Where; made if it is not there.
    settings
        What the folder is for. A folder that holds another run is an error.
    mix
        Go on also where results are of other code.
    """

    def __init__(self, folder: Path, settings: Settings, *, mix: bool = False) -> None:
        self.folder = folder
        self.code = this_code()
        self._claim(settings)
        self.lines: dict[str, Line] = {}
        for path in sorted((folder / "jobs").glob("*.jsonl")):
            for line in _whole_lines(path):
                self.lines.setdefault(line["job"], line)
        self._check_code(mix)

    def __contains__(self, job: Job) -> bool:
        return job.name in self.lines

    def add(self, outcome: Outcome) -> None:
        """Append a result."""
        line = {
            "job": outcome.job.name,
            "seed": outcome.seed,
            "seconds": round(outcome.seconds, 3),
            **self.code,
            "result": outcome.result,
        }
        self.lines[outcome.job.name] = line
        path = self.folder / "jobs" / f"{outcome.job.kind}.jsonl"
        path.parent.mkdir(exist_ok=True)
        text = json.dumps(line, separators=(",", ":")) + "\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(text)

    def results(self, jobs: Iterable[Job]) -> dict[str, Any]:
        """Give the results of these jobs that are done, by name, in the order of the jobs."""
        return {job.name: self.lines[job.name]["result"] for job in jobs if job in self}

    def seconds(self, jobs: Iterable[Job]) -> float:
        """Give the seconds that these jobs took, all together."""
        total = sum(float(self.lines[job.name]["seconds"]) for job in jobs if job in self)
        return round(total, 1)

    def codes(self, jobs: Iterable[Job]) -> list[str]:
        """Name the code that made the results of these jobs: one, unless code was mixed."""
        lines = [self.lines[job.name] for job in jobs if job in self]
        return sorted({f"{line['version']} {line['code']}" for line in lines})

    def write(self, name: str, content: dict[str, Any]) -> Path:
        """Write a JSON file, whole or not at all."""
        path = self.folder / name
        write_file(path, text_writer(as_json(content)))
        return path

    def _claim(self, settings: Settings) -> None:
        if self.folder.is_file():
            raise DataError(f"{self.folder} is a file, not a folder; choose another --out")
        path = self.folder / "settings.json"
        wanted = settings.record()
        if path.exists():
            found = json.loads(path.read_text("utf-8"))
            different = [key for key in wanted if found.get(key) != wanted[key]]
            if different:
                raise DataError(
                    f"{self.folder} holds a run with other settings ("
                    + ", ".join(f"{key}: {found.get(key)}" for key in different)
                    + "); choose another --out"
                )
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise DataError(f"{self.folder} holds other files; choose another --out")
        else:
            self.write("settings.json", wanted)

    def _check_code(self, mix: bool) -> None:
        others = {line["code"] for line in self.lines.values()} - {self.code["code"]}
        if others and not mix:
            raise DataError(
                f"{self.folder} holds results of other code ({', '.join(sorted(others))}; this is "
                f"{self.code['code']}); choose another --out, or pass --mix to keep them"
            )


def as_json(content: dict[str, Any]) -> str:
    """Write JSON that people can read and compare: one field a line, lists of numbers on one.

    Examples
    --------
    >>> print(as_json({"name": "x", "row": [1, 2.5, None]}), end="")
    {
     "name": "x",
     "row": [1, 2.5, null]
    }
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return NUMBERS.sub(lambda found: "[" + re.sub(r"\s+", " ", found[1]) + "]", text)


def _whole_lines(path: Path) -> Iterator[Line]:
    """Read the lines of a file; cut off a last one that a kill left unfinished."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)
    for line in content[:whole].splitlines():
        yield json.loads(line)
