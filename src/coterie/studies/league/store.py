"""The fits of a league that are done, on disk: a run that was stopped goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any

import pandas as pd

from coterie.files.values import from_json, to_json
from coterie.metrics import Score
from coterie.metrics.scorer import TABLES
from coterie.models.base import Estimator
from coterie.studies.code import this_code
from coterie.studies.job import Job, Outcome
from coterie.studies.journal import Journal
from coterie.studies.league.fit import Fitted
from coterie.studies.league.sources import Source

COMPUTES = ("io", "studies/league/fit.py")
"""The files that can change a number of the league, beside those of every study."""


class Store:
    """Outcomes on disk: those of fits that ended well, or that had nothing to be scored against.

    An outcome is found again by all that it depends on: the files' bytes, the model with its
    settings, and the code. What another run left in the folder is passed over.

    Parameters
    ----------
    folder
        Where; made with the first outcome.
    """

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder)
        self.code = this_code(COMPUTES)

    def find(self, jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Give the outcomes that are there, by the names of the jobs."""
        if not self.journal.lines:
            return {}
        lines = {job.name: self.journal.lines.get(self._key(job)) for job in jobs}
        return {name: _outcome(line) for name, line in lines.items() if line is not None}

    def add(self, job: Job, outcome: Outcome) -> None:
        """Keep an outcome, unless it failed: that is tried again."""
        if outcome.status == "ok":
            self.journal.add(job.kind, {"job": self._key(job), **_line(outcome)})

    def remove(self) -> None:
        """Forget everything: the league is written."""
        rmtree(self.journal.folder, ignore_errors=True)

    def _key(self, job: Job) -> str:
        source: Source = job.told["source"]
        model: Estimator = job.told["model"]
        told = {
            "duplicates": job.told["duplicates"],
            "files": [
                None if path is None else _digest(path) for path in (source.labels, source.truth)
            ],
            "model": [type(model).__module__, type(model).__qualname__],
            "settings": to_json(model.get_params(), or_text=True),
            **self.code,
        }
        digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
        return f"{job.name} {digest.hexdigest()[:16]}"


def _digest(path: Path) -> str:
    """Give a checksum of a file; of one that cannot be read, the fit will say so."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _line(outcome: Outcome) -> dict[str, Any]:
    fitted: Fitted | None = outcome.result
    found = None if fitted is None else {**fitted._asdict(), "score": _score_values(fitted.score)}
    return to_json(  # type: ignore[no-any-return]
        {**outcome._asdict(), "result": found, "notes": list(outcome.notes)}, or_text=True
    )


def _outcome(line: Mapping[str, Any]) -> Outcome:
    found = from_json({name: line[name] for name in Outcome._fields})
    result = found["result"]
    if result is not None:
        result = Fitted(**{**result, "score": _score(result["score"])})
    return Outcome(**{**found, "result": result, "notes": tuple(found["notes"])})


def _score_values(score: Score) -> dict[str, Any]:
    """Give a score as numbers and arrays."""
    return {**score.numbers(), **{name: _table_values(getattr(score, name)) for name in TABLES}}


def _score(values: Mapping[str, Any]) -> Score:
    tables: dict[str, Any] = {name: _table(values[name]) for name in TABLES}
    tables |= {name: tables[name].iloc[:, 0] for name in ("right", "confidence")}
    return Score(**{**values, **tables})


def _table_values(table: pd.DataFrame | pd.Series) -> dict[str, Any]:
    frame = table.to_frame() if isinstance(table, pd.Series) else table
    return {
        "index": [frame.index.name, frame.index.tolist()],
        "columns": [frame.columns.name, frame.columns.tolist()],
        "values": [frame.iloc[:, k].to_numpy() for k in range(frame.shape[1])],
    }


def _table(values: Mapping[str, Any]) -> pd.DataFrame:
    (of_rows, rows), (of_columns, columns) = values["index"], values["columns"]
    frame = pd.DataFrame(dict(enumerate(values["values"])), index=pd.Index(rows, name=of_rows))
    return frame.set_axis(pd.Index(columns, name=of_columns), axis=1)
