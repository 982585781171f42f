"""The folder of a reproduction: what it is for, and what was done.

``settings.json`` says what the folder is for; ``jobs/<kind>.jsonl`` holds the results as they
came.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coterie.errors import DataError
from coterie.files.atomic import text_writer, write_file
from coterie.files.json_text import as_json
from coterie.studies.code import this_code
from coterie.studies.job import Job, Outcome
from coterie.studies.journal import Journal, Line
from coterie.studies.paper.job import seed_of
from coterie.studies.paper.settings import Settings

COMPUTES = tuple(
    f"studies/paper/{name}.py" for name in ("crowds", "job", "theory", "thinning", "work")
)
"""The files of this study that can change a number."""


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
        self.folder, self.settings = folder, settings
        self.code = this_code(COMPUTES)
        self._claim()
        self.journal = Journal(folder / "jobs")
        self._check_code(mix)

    def __contains__(self, job: Job) -> bool:
        return job.name in self.journal

    def add(self, job: Job, outcome: Outcome) -> None:
        """Append the result of a job."""
        line = {
            "job": job.name,
            "seed": seed_of(self.settings.seed, job.name),
            "seconds": round(outcome.seconds, 3),
            **self.code,
            "result": outcome.result,
        }
        self.journal.add(job.kind, line)

    def _done(self, jobs: Iterable[Job]) -> list[Line]:
        return [self.journal.lines[job.name] for job in jobs if job in self]

    def results(self, jobs: Iterable[Job]) -> dict[str, Any]:
        """Give the results of these jobs that are done, by name, in the order of the jobs."""
        return {line["job"]: line["result"] for line in self._done(jobs)}

    def seconds(self, jobs: Iterable[Job]) -> float:
        """Give the seconds that these jobs took, all together."""
        return round(sum(float(line["seconds"]) for line in self._done(jobs)), 1)

    def codes(self, jobs: Iterable[Job]) -> list[str]:
        """Name the code that made the results of these jobs: one, unless code was mixed."""
        return sorted({f"{line['version']} {line['code']}" for line in self._done(jobs)})

    def write(self, name: str, content: dict[str, Any]) -> Path:
        """Write a JSON file, whole or not at all."""
        path = self.folder / name
        write_file(path, text_writer(as_json(content)))
        return path

    def _claim(self) -> None:
        if self.folder.is_file():
            raise DataError(f"{self.folder} is a file, not a folder; choose another --out")
        path = self.folder / "settings.json"
        wanted = self.settings.record()
        if path.exists():
            found = self._found(path)
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

    @staticmethod
    def _found(path: Path) -> dict[str, Any]:
        try:
            found = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise DataError(f"{path} is damaged; choose another --out")
        return found

    def _check_code(self, mix: bool) -> None:
        others = {line["code"] for line in self.journal.lines.values()} - {self.code["code"]}
        if others and not mix:
            raise DataError(
                f"{self.folder} holds results of other code ({', '.join(sorted(others))}; this is "
                f"{self.code['code']}); choose another --out, or pass --mix to keep them"
            )
